//! Vertices of a file. A mesh point becomes several vertices if its triangles have different texture coordinates there.

use super::weights::Influences;
use crate::modelling::mesher::Mesh;
use glam::{Vec2, Vec3};
use std::collections::HashMap;

/// Texture coordinates of a triangle's corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Coordinates in a tiling texture.
    pub tiling: Vec2,
    /// Coordinates in the file's own atlas.
    pub paint: Vec2,
}

/// Vertex arrays of a file, with one entry per vertex, and the triangles.
#[derive(Default)]
pub struct Vertices {
    pub positions: Vec<Vec3>,
    pub normals: Vec<Vec3>,
    pub looks: Vec<Look>,
    /// Empty without a skin.
    pub influences: Vec<Influences>,
    pub targets: Vec<Target>,
    pub triangles: Vec<[u32; 3]>,
}

/// A morph target: offsets for a weight of 1.
#[derive(Clone, Default)]
pub struct Target {
    pub name: &'static str,
    pub positions: Vec<Vec3>,
    pub normals: Vec<Vec3>,
}

/// A mesh with the data of its points.
pub struct Skin<'a> {
    pub mesh: &'a Mesh,
    pub normals: &'a [Vec3],
    pub influences: &'a [Influences],
    pub targets: &'a [Target],
}

impl Vertices {
    /// Splits points whose triangles have different texture coordinates.
    pub fn split(skin: &Skin, looks: &[[Look; 3]]) -> Self {
        let mut numbers: HashMap<(u32, [u32; 4]), u32> = HashMap::new();
        let empty = |target: &Target| Target { name: target.name, ..Target::default() };
        let mut found = Self { targets: skin.targets.iter().map(empty).collect(), ..Self::default() };
        for (corners, looks) in skin.mesh.triangles.iter().zip(looks) {
            let triangle = [0, 1, 2].map(|k| {
                let (point, look) = (corners[k], looks[k]);
                let bits = [look.tiling.x, look.tiling.y, look.paint.x, look.paint.y].map(f32::to_bits);
                *numbers.entry((point, bits)).or_insert_with(|| found.push(skin, point as usize, look))
            });
            found.triangles.push(triangle);
        }
        found
    }

    fn push(&mut self, skin: &Skin, point: usize, look: Look) -> u32 {
        self.positions.push(skin.mesh.points[point]);
        self.normals.push(skin.normals[point]);
        self.influences.extend(skin.influences.get(point));
        self.looks.push(look);
        for (to, from) in self.targets.iter_mut().zip(skin.targets) {
            to.positions.push(from.positions[point]);
            to.normals.push(from.normals[point]);
        }
        self.positions.len() as u32 - 1
    }
}
