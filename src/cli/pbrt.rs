//! The contents of a pbrt scene for `throng info`, as a document and as text.

use super::console::plural;
use serde::Serialize;
use std::{collections::BTreeMap, fmt, path::PathBuf};
use throng_pbrt::Scene;

/// A scene's contents.
#[derive(Serialize)]
pub struct PbrtInfo {
    files: Vec<PathBuf>,
    groups: usize,
    copies: u64,
    shapes: usize,
    materials: usize,
    textures: usize,
    media: usize,
    lights: Vec<String>,
    emissive_shapes: usize,
    left_out: BTreeMap<String, u64>,
}

impl PbrtInfo {
    /// Describes a scene.
    pub fn new(scene: &Scene) -> Self {
        let copies = scene.groups.iter().flat_map(|group| &group.copies);
        let items = scene.groups.iter().flat_map(|group| &group.items);
        Self {
            files: scene.files.clone(),
            groups: scene.groups.len().saturating_sub(1),
            copies: copies.map(|copies| (copies.places.len() + copies.moving.len()) as u64).sum(),
            shapes: scene.shapes.len(),
            materials: scene.materials.len(),
            textures: scene.textures.len(),
            media: scene.media.len(),
            lights: scene.lights.iter().map(|light| light.name.clone()).collect(),
            emissive_shapes: items.filter(|item| (item.emission as usize) < scene.emissions.len()).count(),
            left_out: scene.left_out.clone(),
        }
    }
}

impl fmt::Display for PbrtInfo {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(f, "pbrt scene")?;
        let (files, shapes) = (plural(self.files.len(), "file"), plural(self.shapes, "shape"));
        let copies = if self.copies == 1 { "copy" } else { "copies" };
        writeln!(f, "  {files}, {shapes}, {} {copies} of {}", self.copies, plural(self.groups, "object"))?;
        let lights = plural(self.lights.len() + self.emissive_shapes, "light");
        writeln!(f, "  {}, {}, {lights}", plural(self.materials, "material"), plural(self.textures, "texture"))?;
        for (name, count) in &self.left_out {
            writeln!(f, "  without effect: {count} {name}")?;
        }
        Ok(())
    }
}
