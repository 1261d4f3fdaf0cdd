//! The graphics state, and what has a name.

use super::*;
use crate::scene::Placement;
use std::rc::Rc;

/// Which of the two transforms directives change, as bits.
pub const START: u8 = 1;
pub const END: u8 = 2;
pub const BOTH: u8 = START | END;

/// The state that attribute blocks save.
#[derive(Clone)]
pub struct State {
    /// The current transforms.
    pub ctm: Placement,
    /// The transforms that directives change.
    pub active: u8,
    pub reversed: bool,
    /// Index of the material.
    pub material: u32,
    /// Index of the emission, or [`NONE`].
    pub emission: u32,
    /// Indices of the media inside and outside of shapes, or [`NONE`].
    pub inside: u32,
    pub outside: u32,
    /// Index of the colour space.
    pub space: usize,
    /// Defaults of parameters (`Attribute`), by the kind of directive.
    pub defaults: Rc<HashMap<String, Vec<Param>>>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            ctm: Placement::IDENTITY,
            active: BOTH,
            reversed: false,
            material: 0,
            emission: NONE,
            inside: NONE,
            outside: NONE,
            space: 0,
            defaults: Rc::default(),
        }
    }
}

impl State {
    /// Multiplies the active transforms from the right.
    pub fn apply(&mut self, by: &DAffine3) {
        self.change(|ctm| ctm * *by);
    }

    /// Changes the active transforms.
    pub fn change(&mut self, change: impl Fn(DAffine3) -> DAffine3) {
        if self.active & START != 0 {
            self.ctm.start = change(self.ctm.start);
        }
        if self.active & END != 0 {
            self.ctm.end = change(self.ctm.end);
        }
    }
}

/// Directives that save the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    Attribute,
    Transform,
    Object,
}

impl Block {
    pub fn begin(self) -> &'static str {
        match self {
            Self::Attribute => "AttributeBegin",
            Self::Transform => "TransformBegin",
            Self::Object => "ObjectBegin",
        }
    }

    pub fn end(self) -> &'static str {
        match self {
            Self::Attribute => "AttributeEnd",
            Self::Transform => "TransformEnd",
            Self::Object => "ObjectEnd",
        }
    }
}

/// What has a name, as indices into the scene's lists.
#[derive(Default)]
pub struct Named {
    pub objects: HashMap<String, u32>,
    pub materials: HashMap<String, u32>,
    /// Materials that were used before they were defined, with the files and places of their first use.
    undefined: HashMap<String, (PathBuf, LineColumn)>,
    /// Textures of numbers and of colours.
    pub numbers: HashMap<String, u32>,
    pub colors: HashMap<String, u32>,
    pub media: HashMap<String, u32>,
    pub spaces: HashMap<String, Placement>,
}

impl Named {
    /// The material of a name. One that is not defined yet gets its index.
    pub fn material(&mut self, name: &str, all: &mut Vec<Material>, place: (&[PathBuf], LineColumn)) -> u32 {
        if let Some(&known) = self.materials.get(name) {
            return known;
        }
        let index = all.len() as u32;
        all.push(Material { name: name.to_owned(), ..all[0].clone() });
        self.materials.insert(name.to_owned(), index);
        let (open, place) = place;
        self.undefined.insert(name.to_owned(), (open.last().cloned().unwrap_or_default(), place));
        index
    }

    /// Defines a material. One that was used already gets its definition; a second definition counts from here on (version 3).
    /// Returns its index.
    pub fn define_material(&mut self, name: &str, material: Material, all: &mut Vec<Material>) -> u32 {
        if let (Some(_), Some(&index)) = (self.undefined.remove(name), self.materials.get(name)) {
            all[index as usize] = material;
            return index;
        }
        let index = all.len() as u32;
        self.materials.insert(name.to_owned(), index);
        all.push(material);
        index
    }

    /// The materials that were used and never defined.
    pub fn missing_materials(&mut self) -> Vec<(String, (PathBuf, LineColumn))> {
        let mut missing: Vec<_> = self.undefined.drain().collect();
        missing.sort();
        missing
    }
}
