//! Displacement of meshes by heights over their texture coordinates. Heights of vertices do not depend on time, so pictures are read once.

mod map;
mod picture;
#[cfg(test)]
mod tests;

pub use map::{HeightMap, wrap};
pub use picture::{Channels, HeightPicture};

use crate::meshes::MeshSource;
use glam::Vec2;
use rayon::prelude::*;
use std::{collections::HashMap, sync::Arc};
use throng_scene::{
    Scene, Shape, TriangleMesh, anim,
    rig::{DeformingMesh, Displacement},
};

/// Meshes that a note names at most.
const MOST_NAMES: usize = 8;

/// The heights of a mesh.
#[derive(Clone, Debug)]
pub struct MeshDisplacement {
    /// The heights of the faces of each slot; none where faces stay. The last one is for all further slots.
    pub maps: Vec<Option<Arc<HeightMap>>>,
    /// Whether the mesh gets smooth normals if it has none, because it is fine enough.
    pub smooth: bool,
}

/// The displacements of a scene, with the indices of their meshes.
pub type Displacements = Vec<(u32, MeshDisplacement)>;

/// A mesh that was displaced: its name, its lowest and its highest displacement.
pub type Displaced = (String, [f32; 2]);

impl MeshDisplacement {
    /// The same heights for all faces.
    pub fn of(map: HeightMap) -> Self {
        Self { maps: vec![Some(Arc::new(map))], smooth: false }
    }

    /// The displacement of a mesh that is not displaced yet. The mesh gets room for normals if it needs any.
    fn on(&self, mesh: &mut TriangleMesh) -> Displacement {
        let displacement = Displacement::new(mesh, self.heights(mesh));
        if self.smooth && mesh.normals.is_empty() {
            mesh.normals = vec![[0.0, 1.0, 0.0]; mesh.positions.len()];
        }
        displacement
    }

    /// The height of each vertex. A vertex between faces with several slots gets the mean of their heights.
    fn heights(&self, mesh: &TriangleMesh) -> Vec<f32> {
        let at = |map: &Option<Arc<HeightMap>>, vertex: usize| {
            let uv = |uvs: &[[f32; 2]]| uvs.get(vertex).copied().map_or(Vec2::ZERO, Vec2::from);
            map.as_ref().map_or(0.0, |map| map.at(if map.uv_set == 0 { uv(&mesh.uvs) } else { uv(&mesh.uvs1) }))
        };
        let Some(last) = self.maps.last() else { return vec![0.0; mesh.positions.len()] };
        if self.maps.len() == 1 || mesh.slots.is_empty() {
            let first = &self.maps[0];
            return (0..mesh.positions.len()).into_par_iter().map(|vertex| at(first, vertex)).collect();
        }
        let pairs = mesh.triangles.iter().zip(&mesh.slots).flat_map(|(corners, &slot)| corners.map(|v| (v, slot)));
        let mut pairs: Vec<(u32, u32)> = pairs.collect();
        pairs.par_sort_unstable();
        pairs.dedup();
        let of_pair = |&(vertex, slot): &(u32, u32)| at(self.maps.get(slot as usize).unwrap_or(last), vertex as usize);
        let values: Vec<f32> = pairs.par_iter().map(of_pair).collect();
        let (mut heights, mut counts) = (vec![0.0; mesh.positions.len()], vec![0.0_f32; mesh.positions.len()]);
        for (&(vertex, _), value) in pairs.iter().zip(values) {
            heights[vertex as usize] += value;
            counts[vertex as usize] += 1.0;
        }
        heights.iter_mut().zip(counts).for_each(|(height, count)| *height /= count.max(1.0));
        heights
    }
}

/// Displaces a mesh at once, so that what is scattered on it follows. None if it has no vertices.
pub fn displace(source: &mut MeshSource, displacement: &MeshDisplacement) -> Option<Displaced> {
    let Shape::Triangles(mesh) = &mut source.mesh.shape else { return None };
    let by = displacement.on(mesh);
    anim::displace(&by, mesh);
    (source.points, source.point_triangles) = (Vec::new(), Vec::new());
    Some((source.mesh.name.clone(), by.range()))
}

/// Displaces the meshes of a scene. Deforming ones are displaced in each frame.
pub fn apply(scene: &mut Scene, displacements: Displacements) {
    let mut displaced = Vec::new();
    let mut deforming: HashMap<u32, &mut DeformingMesh> =
        scene.deforming.iter_mut().map(|deforming| (deforming.mesh, deforming)).collect();
    for (number, displacement) in displacements {
        let Some(whole) = scene.meshes.get_mut(number as usize) else { continue };
        let Shape::Triangles(mesh) = &mut whole.shape else { continue };
        let by = displacement.on(mesh);
        displaced.push((whole.name.clone(), by.range()));
        match deforming.get_mut(&number) {
            Some(deforming) => deforming.displacement = Some(Arc::new(by)),
            None => anim::displace(&by, mesh),
        }
    }
    scene.notes.extend(note(&displaced));
}

/// A line about displaced meshes. None without any.
pub fn note(displaced: &[Displaced]) -> Option<String> {
    let one = |(name, [low, high]): &Displaced| match low == high {
        true => format!("{name} by {low}"),
        false => format!("{name} by {low} to {high}"),
    };
    let names: Vec<String> = displaced.iter().take(MOST_NAMES).map(one).collect();
    let others = match displaced.len().saturating_sub(MOST_NAMES) {
        0 => String::new(),
        count => format!(", and {count} others"),
    };
    (!names.is_empty()).then(|| format!("displaced meshes: {}{others}", names.join(", ")))
}
