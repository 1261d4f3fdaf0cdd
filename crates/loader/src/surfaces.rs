//! Surfaces whose triangles are made at the end of a load: subdivision surfaces, whose levels depend on the camera, and their displacement.

use crate::{
    cages::{self, Cages, MeshCage},
    displacement::{self, Displacements, MeshDisplacement},
    meshes::MeshSource,
};
use throng_scene::Scene;

/// The unfinished surfaces of a scene.
#[derive(Default)]
pub struct Surfaces {
    cages: Cages,
    displacements: Displacements,
}

impl Surfaces {
    /// Takes what is unfinished of the mesh with this index.
    pub fn take(&mut self, mesh: u32, source: &mut MeshSource) {
        self.add(mesh, source.cage.take(), source.displacement.take());
    }

    /// Adds what is unfinished of the mesh with this index.
    pub fn add(&mut self, mesh: u32, cage: Option<Box<MeshCage>>, displacement: Option<Box<MeshDisplacement>>) {
        self.cages.extend(cage.map(|cage| (mesh, *cage)));
        self.displacements.extend(displacement.map(|displacement| (mesh, *displacement)));
    }

    /// Refines and displaces the meshes. `size` is the size of the pictures, if it differs from the scene's.
    ///
    /// # Errors
    /// If memory does not suffice for the chosen levels. The text is a sentence.
    pub fn finish(self, scene: &mut Scene, size: Option<(u32, u32)>) -> Result<(), String> {
        cages::refine(scene, self.cages, size)?;
        displacement::apply(scene, self.displacements);
        Ok(())
    }
}
