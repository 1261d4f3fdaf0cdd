//! Prims and their properties.

use super::{AttributeType, LayerValue};

/// How a prim is defined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Specifier {
    /// A prim.
    #[default]
    Def,
    /// A prim that is only there to be referred to.
    Class,
    /// Opinions about a prim that a reference brings.
    Over,
}

/// A prim with everything below it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prim {
    /// Its name; see [`super::names`].
    pub name: String,
    /// How it is defined.
    pub specifier: Specifier,
    /// Its type, such as `Mesh`; empty for the type that a reference brings.
    pub type_name: &'static str,
    /// `kind`, such as `component`; empty for none.
    pub kind: &'static str,
    /// Whether it shares what it refers to with other instances.
    pub instanceable: bool,
    /// Path of the prim of this layer that it refers to; empty for none.
    pub reference: String,
    /// Applied schemas, such as `MaterialBindingAPI`.
    pub schemas: Vec<&'static str>,
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// Relationships by name, with the paths of their targets.
    pub relationships: Vec<(String, Vec<String>)>,
    /// The prims below it.
    pub children: Vec<Prim>,
    /// Its set of variants, if it has one.
    pub variants: Option<VariantSet>,
}

/// Opinions of which one is chosen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VariantSet {
    /// Its name.
    pub name: String,
    /// The name of the chosen variant.
    pub selected: String,
    /// The variants: their names, and opinions about children of the prim.
    pub variants: Vec<(String, Vec<Prim>)>,
}

impl Prim {
    /// A prim of this type.
    pub fn new(name: impl Into<String>, type_name: &'static str) -> Self {
        Self { name: name.into(), type_name, ..Self::default() }
    }

    /// A prim that is only there to be referred to.
    pub fn class(name: impl Into<String>, type_name: &'static str) -> Self {
        Self { specifier: Specifier::Class, ..Self::new(name, type_name) }
    }

    /// Opinions about the prim with this name.
    pub fn over(name: impl Into<String>) -> Self {
        Self { specifier: Specifier::Over, ..Self::new(name, "") }
    }

    /// An instance of the prim at a path.
    pub fn instance_of(name: impl Into<String>, path: impl Into<String>) -> Self {
        Self { reference: path.into(), instanceable: true, ..Self::new(name, "Xform") }
    }

    /// Adds an attribute with a value.
    pub fn set(&mut self, name: impl Into<String>, kind: AttributeType, value: LayerValue) -> &mut Attribute {
        self.add(Attribute { value: Some(value), ..Attribute::new(name, kind) })
    }

    /// Adds a uniform attribute: one that cannot change over time.
    pub fn set_uniform(&mut self, name: impl Into<String>, kind: AttributeType, value: LayerValue) -> &mut Attribute {
        self.add(Attribute { value: Some(value), is_uniform: true, ..Attribute::new(name, kind) })
    }

    /// Adds an attribute with one value, or with samples if there are several.
    pub fn set_over_time(&mut self, name: impl Into<String>, kind: AttributeType, mut values: Vec<(f64, LayerValue)>) {
        let first = values.first().map(|(_, first)| first.clone());
        let is_still = values.iter().all(|(_, value)| Some(value) == first.as_ref());
        if is_still {
            values.clear();
        }
        let value = first.filter(|_| is_still);
        self.add(Attribute { value, samples: values, ..Attribute::new(name, kind) });
    }

    /// Adds an attribute that is connected to the attribute at a path.
    pub fn connect(&mut self, name: impl Into<String>, kind: AttributeType, source: impl Into<String>) {
        self.add(Attribute { connection: source.into(), ..Attribute::new(name, kind) });
    }

    /// Adds an attribute without a value, as outputs of shaders are.
    pub fn declare(&mut self, name: impl Into<String>, kind: AttributeType) {
        self.add(Attribute::new(name, kind));
    }

    /// Adds a relationship with one target.
    pub fn relate(&mut self, name: impl Into<String>, target: impl Into<String>) {
        self.relationships.push((name.into(), vec![target.into()]));
    }

    /// Binds the material at a path.
    pub fn bind(&mut self, material: impl Into<String>) {
        self.schemas.push("MaterialBindingAPI");
        self.relate("material:binding", material);
    }

    fn add(&mut self, attribute: Attribute) -> &mut Attribute {
        self.attributes.push(attribute);
        let last = self.attributes.len() - 1;
        &mut self.attributes[last]
    }
}

/// An attribute of a prim.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// Its name with all namespaces.
    pub name: String,
    /// Its type.
    pub kind: AttributeType,
    /// Whether it cannot change over time.
    pub is_uniform: bool,
    /// Whether no schema has it.
    pub is_custom: bool,
    /// Its value at all times without samples.
    pub value: Option<LayerValue>,
    /// Values at increasing time codes.
    pub samples: Vec<(f64, LayerValue)>,
    /// Path of the attribute that it is connected to; empty for none.
    pub connection: String,
    /// `interpolation` of a primvar; empty for none.
    pub interpolation: &'static str,
    /// `colorSpace` of a colour or a picture; empty for none.
    pub color_space: &'static str,
}

impl Attribute {
    fn new(name: impl Into<String>, kind: AttributeType) -> Self {
        Self {
            name: name.into(),
            kind,
            is_uniform: false,
            is_custom: false,
            value: None,
            samples: Vec::new(),
            connection: String::new(),
            interpolation: "",
            color_space: "",
        }
    }
}
