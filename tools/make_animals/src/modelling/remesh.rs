//! Remeshing: distributes vertices over the surface according to a requested edge length.
//!
//! Edges are split, collapsed and flipped one at a time, and only if the mesh stays closed, manifold and unfolded. The order is fixed, so
//! the result is reproducible.

mod collapse;
mod edges;
mod edit_mesh;
mod relax;

use super::mesher::Mesh;
use edit_mesh::EditMesh;
use glam::Vec3;

/// Properties of the surface that the remesher needs.
pub trait Surface: Sync {
    /// A lower bound of `edge_length`.
    fn shortest_edge(&self) -> f32;
    /// Requested edge length at a point, up to a common factor.
    fn edge_length(&self, p: Vec3) -> f32;
    /// Projects a point near the surface onto it. If the surface has two sides there, the one facing along `facing` is used.
    fn project(&self, p: Vec3, facing: Vec3) -> Vec3;
}

/// Edges longer than this multiple of the requested length are split; edges shorter than the second multiple are collapsed.
const TOO_LONG: f32 = 1.4;
const TOO_SHORT: f32 = 0.74;
/// Triangle quality below which a triangle is always removed.
const SLIVER: f32 = 0.25;
/// Passes per round. After each round, requested lengths are evaluated again.
const POLISHING_PASSES_PER_ROUND: usize = 3;

/// Remeshes to about `vertices` vertices, with spacing in proportion to the edge lengths of `surface`.
pub fn remesh(mesh: &Mesh, surface: &dyn Surface, vertices: f32) -> Mesh {
    const THINNING_PASSES: usize = 12;
    const COARSENING_PASSES: usize = 8;
    const POLISHING_ROUNDS: usize = 3;
    const SETTLING_PASSES: usize = 3;
    const SLIVER_SWEEPS: usize = 6;
    let mut work = EditMesh::new(mesh, surface.shortest_edge());
    for _ in 0..THINNING_PASSES {
        work.coarsen();
    }
    work.measure(surface);
    work.scale = (work.expected_vertices() / vertices).sqrt();
    work.measure(surface);
    for _ in 0..COARSENING_PASSES {
        work.coarsen();
    }
    for _ in 0..POLISHING_ROUNDS {
        work.measure(surface);
        for _ in 0..POLISHING_PASSES_PER_ROUND {
            work.polish(surface);
        }
    }
    for _ in 0..SETTLING_PASSES {
        work.relax(surface);
        work.flip_all();
        for _ in 0..SLIVER_SWEEPS {
            work.drop_slivers();
        }
    }
    work.compact()
}

impl EditMesh {
    fn coarsen(&mut self) {
        self.collapse_short();
        self.flip_all();
    }

    fn polish(&mut self, surface: &dyn Surface) {
        self.relax(surface);
        self.flip_all();
        self.split_long(surface);
        self.collapse_short();
        self.flip_all();
    }
}
