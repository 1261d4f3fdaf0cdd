//! The shaders of a network, and what is connected to their inputs.

use super::wire;
use crate::reader::{mtlx, values::Values};
use openusd::{sdf::Value, usd::Prim};
use std::rc::Rc;

/// Connections that are followed from one input, through interfaces of materials and node graphs. More of them are a cycle.
const MAX_LINKS: usize = 64;

/// A shader of a network.
#[derive(Clone)]
pub struct Node {
    /// Its prim.
    pub prim: Prim,
    /// Its type, such as `UsdPreviewSurface`; empty if it has none.
    pub id: String,
    values: Rc<Values>,
}

/// What feeds an input.
pub enum Feed {
    /// The attribute with this name has a value.
    Value(Prim, String, Value),
    /// An output of a shader, by its name without `outputs:`.
    Output(Node, String),
}

impl Node {
    /// The shader of the prim.
    pub fn new(values: &Rc<Values>, prim: Prim) -> Self {
        // Shaders that are not in a registry but in a file, as MDL's are, have the file's name.
        const NAMES: [&str; 4] =
            ["info:id", "info:mdl:sourceAsset:subIdentifier", "info:mdl:sourceAsset", "info:sourceAsset"];
        let text = |name: &&str| wire::text(&values.value(&prim, name, None)?);
        let id = NAMES.iter().filter_map(text).find(|id| !id.is_empty()).unwrap_or_default();
        Self { prim, id, values: values.clone() }
    }

    /// What feeds the input with this name (without `inputs:`).
    pub fn input(&self, name: &str) -> Option<Feed> {
        feed(&self.values, &self.prim, &format!("inputs:{name}"))
    }

    /// The value of an input that is not computed by a shader.
    fn value(&self, name: &str) -> Option<Value> {
        match self.input(name)? {
            Feed::Value(_, _, value) => Some(value),
            Feed::Output(..) => None,
        }
    }

    /// The numbers of an input that is not computed by a shader.
    pub fn numbers(&self, name: &str) -> Option<[f32; 4]> {
        wire::numbers(&self.value(name)?)
    }

    /// The text of an input that is not computed by a shader.
    pub fn text(&self, name: &str) -> Option<String> {
        wire::text(&self.value(name)?)
    }

    /// Path of the prim, with its place in a MaterialX document.
    pub fn label(&self) -> String {
        match self.values.value(&self.prim, mtlx::PLACE, None).and_then(|place| wire::text(&place)) {
            Some(place) => format!("{} ({place})", self.path()),
            None => self.path().to_owned(),
        }
    }

    /// Path of the prim.
    pub fn path(&self) -> &str {
        self.prim.path().as_str()
    }
}

/// What feeds an attribute: the shader output or the value at the end of its connections.
pub fn feed(values: &Rc<Values>, prim: &Prim, name: &str) -> Option<Feed> {
    let (mut prim, mut name) = (prim.clone(), name.to_owned());
    for _ in 0..MAX_LINKS {
        let Some((source, property)) = source(values, &prim, &name) else {
            let value = values.value(&prim, &name, None)?;
            return Some(Feed::Value(prim, name, value));
        };
        match property.strip_prefix("outputs:") {
            Some(output) if !is_container(values, &source) => {
                return Some(Feed::Output(Node::new(values, source), output.to_owned()));
            }
            _ => (prim, name) = (source, property),
        }
    }
    values.warn(format!("{}.{name}: its connections form a circle; a default is used", prim.path()));
    None
}

/// The first existing source that an attribute is connected to: a prim and the name of its property.
fn source(values: &Values, prim: &Prim, name: &str) -> Option<(Prim, String)> {
    values.connections(prim, name).into_iter().find_map(|target| {
        let (path, property) = target.split_property()?;
        Some((values.prim(&path)?, property.to_owned()))
    })
}

/// Whether the prim passes on what is connected to its outputs.
fn is_container(values: &Values, prim: &Prim) -> bool {
    matches!(values.type_name(prim).as_str(), "NodeGraph" | "Material")
}

/// The surface shaders of a material, with the render context of each output; empty for the universal one. That one comes first, then
/// MaterialX's.
pub fn surfaces(values: &Rc<Values>, material: &Prim) -> Vec<(String, Node)> {
    shaders(values, material, "surface")
}

/// The displacement shaders of a material, as [`surfaces`].
pub fn displacements(values: &Rc<Values>, material: &Prim) -> Vec<(String, Node)> {
    shaders(values, material, "displacement")
}

/// The shaders at the outputs of a material with this name, with their render contexts.
fn shaders(values: &Rc<Values>, material: &Prim, terminal: &str) -> Vec<(String, Node)> {
    let names = values.names(material);
    let mut shaders: Vec<(String, Node)> = names
        .iter()
        .filter_map(|name| {
            let context = name.as_str().strip_prefix("outputs:")?.strip_suffix(terminal)?;
            let context = if context.is_empty() { context } else { context.strip_suffix(':')? };
            match feed(values, material, name.as_str())? {
                Feed::Output(node, _) => Some((context.to_owned(), node)),
                Feed::Value(..) => None,
            }
        })
        .collect();
    shaders.sort_by_key(|(context, _)| match context.as_str() {
        "" => 0,
        "mtlx" => 1,
        _ => 2,
    });
    shaders
}
