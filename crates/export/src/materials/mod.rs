//! Materials in three forms: UsdPreviewSurface for every program, OpenPBR in a variant, and throng's own attributes, which have all of the
//! material.

mod network;
mod open_pbr;
mod own;
mod preview;

use crate::{ExportError, convert::WORLD, textures::Textures};
use network::Network;
use std::collections::{BTreeMap, HashSet};
use throng_scene::{Material, NONE, Scene};
use throng_usd::{Prim, VariantSet, names::Names};

/// Name of the scope of materials.
const MATERIALS: &str = "Materials";
/// Name of its set of variants, of the variant without OpenPBR, which is chosen, and of the one with it. Checkers without MaterialX take its
/// shaders for mistakes.
const SURFACES: [&str; 3] = ["surfaces", "preview", "openPbr"];

/// The materials that instances have used so far.
pub struct Materials<'a> {
    scene: &'a Scene,
    names: Names,
    /// Name of each row in use.
    used: BTreeMap<u32, String>,
    /// Rows of meshes whose vertices have colours.
    colored: HashSet<u32>,
}

impl<'a> Materials<'a> {
    /// No materials yet.
    pub fn new(scene: &'a Scene) -> Self {
        Self { scene, names: Names::default(), used: BTreeMap::new(), colored: HashSet::new() }
    }

    /// Path of the material in a row of the table.
    pub fn path(&mut self, row: u32) -> String {
        let names = &mut self.names;
        let name = self.used.entry(row).or_insert_with(|| names.unique(&self.scene.material_name(row as usize)));
        format!("{WORLD}/{MATERIALS}/{name}")
    }

    /// Remembers that vertices with the material have colours.
    pub fn color(&mut self, row: u32) {
        self.colored.insert(row);
    }

    /// The scope with all materials.
    ///
    /// # Errors
    /// If a picture cannot be encoded.
    pub fn finish(self, textures: &mut Textures, warnings: &mut Vec<String>) -> Result<Prim, ExportError> {
        let mut scope = Prim::new(MATERIALS, "Scope");
        let mut open = Vec::new();
        for (&row, name) in &self.used {
            let Some(material) = self.scene.materials.get(row as usize) else { continue };
            let path = format!("{WORLD}/{MATERIALS}/{name}");
            let is_colored = self.colored.contains(&row);
            let mut network = Network::new(self.scene, path.clone(), textures);
            preview::add(&mut network, material, is_colored)?;
            let own = own::attributes(&mut network, material)?;
            let mut plain = network.finish(Prim::new(name.clone(), "Material"));
            plain.attributes.extend(own);
            scope.children.push(plain);
            let mut network = Network::new(self.scene, path, textures);
            open_pbr::add(&mut network, material, is_colored)?;
            open.push(network.finish(Prim::over(name.clone())));
        }
        let [name, selected, other] = SURFACES.map(str::to_owned);
        let variants = vec![(selected.clone(), Vec::new()), (other, open)];
        scope.variants = Some(VariantSet { name, selected, variants });
        self.warn(warnings);
        Ok(scope)
    }

    /// Warns of what no shader of USD has, and throng reads back none the less.
    fn warn(&self, warnings: &mut Vec<String>) {
        let used = || self.used.keys().filter_map(|&row| self.scene.materials.get(row as usize));
        let has_nearest = |map: u32| {
            let map = self.scene.maps.get(map as usize);
            map.is_some_and(|map| self.scene.textures[map.texture as usize].nearest)
        };
        if used().any(|material| material.maps().into_iter().any(has_nearest)) {
            warnings.push("pictures that are magnified without interpolation are written as usual ones".to_owned());
        }
        let is_sheared = |map: u32| {
            let map = self.scene.maps.get(map as usize);
            map.is_some_and(|map| network::parts_of(map.transform).is_none())
        };
        if used().any(|material| maps_of(material).any(is_sheared)) {
            warnings.push("texture coordinates that are sheared are written without the shear".to_owned());
        }
    }
}

/// The maps that a material has.
fn maps_of(material: &Material) -> impl Iterator<Item = u32> {
    material.maps().into_iter().filter(|map| *map != NONE)
}
