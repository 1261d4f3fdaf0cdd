//! Materials that are bound to geometry.
//!
//! [`bindings`] finds the material of a prim and [`surfaces`] reads its network: `network` follows connections, `textures`, `nodes` and
//! `coordinates` evaluate shaders to a [`wire::Wire`], `spaces` has colour spaces, and `notes` counts what is left out.

mod bindings;
mod coordinates;
mod network;
mod nodes;
mod notes;
mod own;
mod spaces;
mod surfaces;
mod textures;
mod wire;

#[cfg(test)]
mod tests;

pub use bindings::Bound;

use super::{
    pictures::Pictures,
    prototypes::{is_prototype_root, stage_path},
    values::Values,
};
use crate::{Material, NONE, OwnSurface, Surface};
use bindings::Levels;
use network::Node;
use notes::Notes;
use openusd::{sdf, usd::Prim};
use std::{collections::HashMap, rc::Rc};
use textures::Evaluator;

/// The materials of a stage.
pub struct Materials {
    levels: Levels,
    library: Library,
    /// Index in `used` of each material of the library, or [`NONE`].
    slots: Vec<u32>,
    used: Vec<Material>,
}

impl Materials {
    /// No materials yet.
    pub fn new(values: &Rc<Values>, pictures: &Pictures) -> Self {
        let library = Library {
            values: values.clone(),
            pictures: pictures.clone(),
            notes: Notes::default(),
            materials: Vec::new(),
            by_prim: HashMap::new(),
            by_name: HashMap::new(),
        };
        Self { levels: Levels::default(), library, slots: Vec::new(), used: Vec::new() }
    }

    /// What is bound to the prim, from its own binding and what is bound above it. The root of a prototype has the bindings of the instance.
    pub fn bind(&mut self, prim: &Prim, above: &Bound) -> Bound {
        let values = self.library.values.clone();
        if is_prototype_root(prim.path()) {
            return *above;
        }
        let mut bound = *above;
        if values.has_prefix(prim, bindings::PREFIX) {
            let library = &mut self.library;
            let read = bindings::read(&values, prim, &mut self.levels, |path| library.material(prim, path));
            bound = self.levels.add(bound, read);
        }
        let enters = bound.depends_on_path() && prim.is_instance().unwrap_or(false);
        if enters { self.levels.enter(prim, bound) } else { bound }
    }

    /// Index in [`crate::Stage::materials`] of the material that a shape or subset with this binding shows, or [`NONE`].
    pub fn bound(&mut self, prim: &Prim, bound: &Bound) -> u32 {
        let Some(material) = self.levels.material(prim, bound).map(|index| index as usize) else { return NONE };
        if self.slots.len() < self.library.materials.len() {
            self.slots.resize(self.library.materials.len(), NONE);
        }
        if self.slots[material] == NONE {
            self.slots[material] = self.used.len() as u32;
            self.used.push(self.library.materials[material].clone());
        }
        self.slots[material]
    }

    /// The material of a prim, whether or not it is bound.
    pub fn read(&mut self, prim: &Prim) -> Material {
        let name = prim.path().name().unwrap_or_default().to_owned();
        Material { name, surface: self.library.surface(prim) }
    }

    /// All materials that were asked for.
    pub fn finish(self) -> Vec<Material> {
        self.library.notes.report(&self.library.values);
        self.used
    }
}

/// Materials that were read, each once.
struct Library {
    values: Rc<Values>,
    pictures: Pictures,
    notes: Notes,
    materials: Vec<Material>,
    by_prim: HashMap<sdf::Path, Option<u32>>,
    by_name: HashMap<String, Vec<u32>>,
}

impl Library {
    /// Index of the material at a path, which the prim is bound to. `None` if there is none.
    fn material(&mut self, prim: &Prim, path: &sdf::Path) -> Option<u32> {
        if let Some(known) = self.by_prim.get(path) {
            return *known;
        }
        let is_material = |prim: &Prim| self.values.type_name(prim) == "Material" && prim.is_active().unwrap_or(false);
        let material = self.values.prim(path).filter(is_material);
        if material.is_none() {
            self.notes.unbound(prim, path);
        }
        let index = material.map(|material| self.read(&material));
        self.by_prim.insert(path.clone(), index);
        index
    }

    fn read(&mut self, prim: &Prim) -> u32 {
        let surface = self.surface(prim);
        let name = prim.path().name().unwrap_or_default().to_owned();
        let alike = self.by_name.entry(name).or_default();
        let same = alike.iter().find(|&&index| self.materials[index as usize].surface == surface);
        if let Some(&same) = same {
            return same;
        }
        let index = self.materials.len() as u32;
        alike.push(index);
        self.materials.push(Material { name: stage_path(&self.values, prim.path()), surface });
        index
    }

    fn surface(&mut self, prim: &Prim) -> Surface {
        if self.values.has(prim, OwnSurface::KIND) {
            let mut evaluator = Evaluator::new(&self.values, &self.pictures, &mut self.notes);
            let own = own::read(&self.values, prim, &mut evaluator);
            return Surface { own: Some(Box::new(own)), ..Surface::default() };
        }
        let surfaces = network::surfaces(&self.values, prim);
        let known = surfaces.iter().find(|(_, node)| surfaces::is_known(node));
        let Some((_, node)) = known.or_else(|| surfaces.first()) else {
            self.notes.empty(prim);
            return Surface::default();
        };
        let node: Node = node.clone();
        let mut evaluator = Evaluator::new(&self.values, &self.pictures, &mut self.notes);
        let mut surface = surfaces::surface(&node, &mut evaluator);
        let displacements = network::displacements(&self.values, prim);
        if let (Some((_, node)), false) = (displacements.first(), surface.is_displaced()) {
            surface.displacement = surfaces::displacement(node, &mut evaluator);
        }
        if surfaces::is_finite(&surface) { surface } else { Surface::default() }
    }
}
