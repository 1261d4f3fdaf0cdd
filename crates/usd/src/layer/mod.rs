//! A layer that is to be written, as plain data: prims with their attributes, relationships and children.
//!
//! Paths are absolute, such as `/World/Materials/brass`. Names are those of USD; [`names`] makes valid ones.

pub mod names;
mod prim;
mod value;

pub use prim::{Attribute, Prim, Specifier, VariantSet};
pub use value::{AttributeType, LayerValue};

/// A root layer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layer {
    /// Name of the root prim that other layers refer to.
    pub default_prim: String,
    /// What the layer is, for readers of the file.
    pub documentation: String,
    /// First and last time code.
    pub time_codes: Option<(f64, f64)>,
    /// Time codes per second.
    pub per_second: f64,
    /// Path of the prim with the settings of pictures (UsdRenderSettings); empty for none.
    pub render_settings: String,
    /// The root prims.
    pub prims: Vec<Prim>,
}

/// A format of layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerFormat {
    /// `.usda`.
    Text,
    /// `.usdc`.
    Binary,
}
