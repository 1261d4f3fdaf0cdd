//! The content of a document: nodes, node graphs and definitions of nodes, with the documents that it includes.

use super::{Fault, Include, values};
use roxmltree::{Node as XmlNode, ParsingOptions};
use std::collections::BTreeMap;

/// Documents that include one another, below one another.
const DEEPEST: usize = 32;
/// Documents that are included.
const MOST_FILES: usize = 1000;
/// Elements of a document.
const MOST_ELEMENTS: u32 = 1_000_000;

/// Everything that a document and its includes have.
#[derive(Default)]
pub struct Document {
    /// Nodes outside of graphs: materials, surface shaders and others.
    pub nodes: Vec<Node>,
    /// Node graphs.
    pub graphs: Vec<Graph>,
    /// Definitions of nodes.
    pub definitions: Vec<Definition>,
    /// Names of definitions, and of the graphs that implement them.
    pub implementations: BTreeMap<String, String>,
    /// Numbers of elements that are left out, by their kind, and the place of the first.
    pub left_out: BTreeMap<String, (u64, String)>,
}

/// A node.
#[derive(Clone)]
pub struct Node {
    pub name: String,
    /// Such as `image`.
    pub category: String,
    /// The type of its output, such as `color3`.
    pub kind: String,
    /// The definition that it names, if it does.
    pub definition: Option<String>,
    pub inputs: Vec<Input>,
    /// `file:line`.
    pub place: String,
}

/// A node graph.
pub struct Graph {
    pub name: String,
    /// The definition that it implements, if it does.
    pub definition: Option<String>,
    pub inputs: Vec<Input>,
    pub nodes: Vec<Node>,
    pub outputs: Vec<Input>,
}

/// A definition of nodes.
pub struct Definition {
    pub name: String,
    /// The category of its nodes.
    pub node: String,
    pub inputs: Vec<Input>,
}

/// An input of a node or graph, or an output of a graph.
#[derive(Clone)]
pub struct Input {
    pub name: String,
    /// Its type, such as `color3`.
    pub kind: String,
    /// Its value as USD writes it.
    pub value: Option<String>,
    /// The colour space of its value.
    pub space: Option<String>,
    pub from: From,
}

/// What feeds an input.
#[derive(Clone, PartialEq, Eq)]
pub enum From {
    /// Its value.
    Value,
    /// An output of a node beside it; `out` unless it has a name.
    Node(String, String),
    /// An output of a graph of the document.
    Graph(String, String),
    /// An input of the graph that it is in.
    Interface(String),
}

/// Reads a document.
///
/// # Errors
/// As [`super::layer`].
pub fn read(name: &str, content: &[u8], include: &mut Include) -> Result<Document, Fault> {
    let mut reader = Reader { document: Document::default(), root: name, stack: Vec::new(), files: 0, include };
    reader.file(name, content)?;
    Ok(reader.document)
}

struct Reader<'a, 'b> {
    document: Document,
    /// Name of the first document.
    root: &'a str,
    /// Names of the documents that are being read, each included by the one before.
    stack: Vec<String>,
    files: usize,
    include: &'a mut Include<'b>,
}

/// A document's text, for places in it.
struct Text<'a> {
    name: &'a str,
    /// Where the file is, relative to the first document; empty or with a slash at the end.
    folder: String,
    lines: Vec<usize>,
}

impl Text<'_> {
    fn place(&self, node: &XmlNode) -> (u32, u32) {
        let at = node.range().start;
        let line = self.lines.partition_point(|start| *start <= at);
        let column = at - self.lines.get(line.wrapping_sub(1)).copied().unwrap_or(0);
        (line as u32, column as u32 + 1)
    }

    fn fault(&self, node: &XmlNode, message: String) -> Fault {
        let (line, column) = self.place(node);
        Fault { file: self.name.to_owned(), line, column, message }
    }

    /// The file's own name and the line, for warnings.
    fn label(&self, node: &XmlNode) -> String {
        format!("{}:{}", own_name(self.name), self.place(node).0)
    }
}

/// The last part of a path, or of the path in a package.
fn own_name(name: &str) -> &str {
    name.trim_end_matches(']').rsplit(['/', '\\', '[']).next().unwrap_or(name)
}

/// The path of `name`'s folder relative to the folder of `root`; the whole one if it is elsewhere.
fn folder_beside(root: &str, name: &str) -> String {
    let folder = |name: &str| name[..name.len() - own_name(name).len() - usize::from(name.ends_with(']'))].to_owned();
    let (base, own) = (folder(root), folder(name));
    own.strip_prefix(&base).map_or_else(|| own.clone(), str::to_owned)
}

/// What elements inherit.
#[derive(Clone, Default)]
struct Scope {
    space: Option<String>,
    prefix: String,
}

impl Scope {
    fn enter(&self, node: &XmlNode) -> Self {
        Self {
            space: attribute(node, "colorspace").or_else(|| self.space.clone()),
            prefix: format!("{}{}", self.prefix, node.attribute("fileprefix").unwrap_or_default()),
        }
    }
}

/// An attribute that is not empty, without spaces around it.
fn attribute(node: &XmlNode, name: &str) -> Option<String> {
    node.attribute(name).map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

impl Reader<'_, '_> {
    fn file(&mut self, name: &str, content: &[u8]) -> Result<(), Fault> {
        let fault = |line, column, message| Err(Fault { file: name.to_owned(), line, column, message });
        let Ok(text) = std::str::from_utf8(content) else {
            return fault(1, 1, "the document is not UTF-8; save it as UTF-8".to_owned());
        };
        let options = ParsingOptions { nodes_limit: MOST_ELEMENTS, ..ParsingOptions::default() };
        let xml = match roxmltree::Document::parse_with_options(text, options) {
            Ok(xml) => xml,
            Err(error) => {
                let at = error.pos();
                return fault(at.row, at.col, format!("the XML is damaged: {}", cause(&error.to_string())));
            }
        };
        let starts = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let folder = folder_beside(self.root, name);
        let text = Text { name, folder, lines: std::iter::once(0).chain(starts).collect() };
        let root = xml.root_element();
        if root.tag_name().name() != "materialx" {
            return Err(text.fault(&root, "this is no MaterialX document, whose root is `materialx`".to_owned()));
        }
        self.stack.push(name.to_owned());
        let scope = Scope::default().enter(&root);
        for node in root.children().filter(XmlNode::is_element) {
            self.element(&text, &node, &scope)?;
        }
        self.stack.pop();
        Ok(())
    }

    fn element(&mut self, text: &Text, node: &XmlNode, scope: &Scope) -> Result<(), Fault> {
        let scope = scope.enter(node);
        match node.tag_name().name() {
            "include" => self.included(text, node)?,
            "nodegraph" => {
                let graph = graph(text, node, &scope)?;
                self.document.graphs.push(graph);
            }
            "nodedef" => {
                let inputs = inputs(text, node, &scope)?;
                let category = attribute(node, "node").unwrap_or_default();
                self.document.definitions.push(Definition { name: name(text, node)?, node: category, inputs });
            }
            "implementation" => {
                if let (Some(definition), Some(graph)) = (attribute(node, "nodedef"), attribute(node, "nodegraph")) {
                    self.document.implementations.insert(definition, graph);
                }
            }
            "material" => self.old_material(text, node, &scope)?,
            kind @ ("look" | "lookgroup" | "materialassign" | "variantset" | "propertyset") => {
                let first = || (0, text.label(node));
                self.document.left_out.entry(kind.to_owned()).or_insert_with(first).0 += 1;
            }
            "collection" | "geominfo" | "geompropdef" | "typedef" | "unitdef" | "unittypedef" | "targetdef"
            | "propset" | "output" | "attributedef" | "backdrop" | "token" => {}
            _ => {
                let node = self::node(text, node, &scope)?;
                self.document.nodes.push(node);
            }
        }
        Ok(())
    }

    fn included(&mut self, text: &Text, node: &XmlNode) -> Result<(), Fault> {
        let Some(path) = attribute(node, "href") else {
            return Err(text.fault(node, "the include names no file: write href=\"FILE.mtlx\"".to_owned()));
        };
        self.files += 1;
        if self.files > MOST_FILES || self.stack.len() >= DEEPEST {
            return Err(text.fault(node, "there are too many includes; join some of the documents".to_owned()));
        }
        // Definitions of the standard library are part of the reader.
        let is_library = path.split(['/', '\\']).any(|part| {
            ["libraries", "stdlib", "pbrlib", "bxdf", "lights"].contains(&part) || part.ends_with("_defs.mtlx")
        });
        match (self.include)(text.name, &path) {
            Err(error) => Err(text.fault(node, format!("{path} cannot be read: {error}"))),
            Ok(None) if is_library => Ok(()),
            Ok(None) => Err(text.fault(node, format!("the document includes {path}, which does not exist"))),
            Ok(Some((name, _))) if self.stack.contains(&name) => {
                Err(text.fault(node, format!("the document includes {path}, which includes it again")))
            }
            Ok(Some((name, content))) => self.file(&name, &content),
        }
    }

    /// A material before MaterialX 1.38: references to shaders, with inputs that are bound to them.
    fn old_material(&mut self, text: &Text, node: &XmlNode, scope: &Scope) -> Result<(), Fault> {
        let own = name(text, node)?;
        let mut material = Node {
            name: own.clone(),
            category: "surfacematerial".to_owned(),
            kind: "material".to_owned(),
            definition: None,
            inputs: Vec::new(),
            place: text.label(node),
        };
        for shader in node.children().filter(|child| child.tag_name().name() == "shaderref") {
            let scope = scope.enter(&shader);
            let category = attribute(&shader, "node").unwrap_or_default();
            let mut made = self::node(text, &shader, &scope)?;
            made.kind = attribute(&shader, "type").unwrap_or_else(|| "surfaceshader".to_owned());
            // Shaders of several materials may have the same name.
            made.name = format!("{own}__{}", made.name);
            let from = From::Node(made.name.clone(), "out".to_owned());
            let kind = made.kind.clone();
            material.inputs.push(Input { name: kind.clone(), kind, value: None, space: None, from });
            self.document.nodes.push(Node { category, ..made });
        }
        self.document.nodes.push(material);
        Ok(())
    }
}

fn name(text: &Text, node: &XmlNode) -> Result<String, Fault> {
    let found = attribute(node, "name");
    found.ok_or_else(|| text.fault(node, format!("<{}> has no name: add name=\"…\"", node.tag_name().name())))
}

fn node(text: &Text, node: &XmlNode, scope: &Scope) -> Result<Node, Fault> {
    Ok(Node {
        name: name(text, node)?,
        category: node.tag_name().name().to_owned(),
        kind: attribute(node, "type").unwrap_or_default(),
        definition: attribute(node, "nodedef"),
        inputs: inputs(text, node, scope)?,
        place: text.label(node),
    })
}

fn graph(text: &Text, node: &XmlNode, scope: &Scope) -> Result<Graph, Fault> {
    let (mut nodes, mut outputs) = (Vec::new(), Vec::new());
    for child in node.children().filter(XmlNode::is_element) {
        let scope = scope.enter(&child);
        match child.tag_name().name() {
            "input" | "parameter" | "token" | "backdrop" => {}
            "output" => outputs.push(input(text, &child, &scope, "")?),
            _ => nodes.push(self::node(text, &child, &scope)?),
        }
    }
    let definition = attribute(node, "nodedef");
    Ok(Graph { name: name(text, node)?, definition, inputs: inputs(text, node, scope)?, nodes, outputs })
}

/// All inputs of an element. `parameter` and the bindings are those of older versions.
fn inputs(text: &Text, node: &XmlNode, scope: &Scope) -> Result<Vec<Input>, Fault> {
    const NAMES: [&str; 4] = ["input", "parameter", "bindinput", "bindparam"];
    let of_colors = attribute(node, "type").unwrap_or_default();
    let all = node.children().filter(|child| NAMES.contains(&child.tag_name().name()));
    all.map(|child| input(text, &child, &scope.enter(&child), &of_colors)).collect()
}

/// An input. `result` is the type of the node's output: files of pictures have a colour space only if it is a colour.
fn input(text: &Text, node: &XmlNode, scope: &Scope, result: &str) -> Result<Input, Fault> {
    let name = name(text, node)?;
    let kind = attribute(node, "type").unwrap_or_default();
    let is_file = kind == "filename";
    let value = match node.attribute("value") {
        Some(value) if is_file => values::file(&text.folder, &scope.prefix, value.trim()),
        Some(value) => values::of(&kind, value)
            .map_err(|wanted| text.fault(node, format!("`{}` of {name} is no {kind}: write {wanted}", value.trim())))?,
        None => None,
    };
    let output = attribute(node, "output");
    let out = || output.clone().unwrap_or_else(|| "out".to_owned());
    let from = match () {
        () if node.has_attribute("interfacename") => {
            From::Interface(attribute(node, "interfacename").unwrap_or_default())
        }
        () if node.has_attribute("nodename") => From::Node(attribute(node, "nodename").unwrap_or_default(), out()),
        () if node.has_attribute("nodegraph") => From::Graph(attribute(node, "nodegraph").unwrap_or_default(), out()),
        () => From::Value,
    };
    let has_space = kind.starts_with("color") || is_file && (result.starts_with("color") || result == "multioutput");
    let space = scope.space.clone().filter(|_| has_space && value.is_some());
    Ok(Input { name, kind, value, space, from })
}

/// A message of the XML parser without its place.
fn cause(message: &str) -> &str {
    message.rsplit_once(" at ").filter(|(_, at)| at.contains(':')).map_or(message, |(cause, _)| cause)
}
