//! Quality and memory of a frame's trees.

use super::Posed;
use rayon::prelude::*;
use throng_accel::{Blas, blas_overlap, tlas_overlap};

/// Statistics of a frame's trees. Costs and overlaps are in nodes and leaves per ray.
#[derive(Clone, Debug, serde::Serialize)]
pub struct TreeStatistics {
    pub tlas: TlasStatistics,
    /// Statistics of each mesh that is shown by an instance.
    pub blas: Vec<BlasStatistics>,
    pub bytes: TreeBytes,
}

/// Statistics of the TLAS of a frame.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct TlasStatistics {
    pub instances: u64,
    /// Number of node levels on the longest path.
    pub depth: u32,
    /// Expected number of nodes and instances that a ray through the scene's bounds visits, by the surface area heuristic.
    pub sah_cost: f32,
    /// See [`tlas_overlap`].
    pub overlap: f32,
}

/// Statistics of the BLAS of a mesh.
#[derive(Clone, Debug, serde::Serialize)]
pub struct BlasStatistics {
    /// Name of the mesh.
    pub mesh: String,
    /// Number of instances that show the mesh.
    pub instances: u64,
    /// Number of triangles; 1 for a sphere.
    pub primitives: u64,
    /// Number of node levels on the longest path.
    pub depth: u32,
    /// Expected number of nodes and packs that a ray through the mesh's bounds visits, by the surface area heuristic.
    pub sah_cost: f32,
    /// See [`blas_overlap`]; none for compressed trees.
    pub overlap: Option<f32>,
    pub bytes: u64,
}

/// Memory of all trees, in bytes.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub struct TreeBytes {
    pub blas_nodes: u64,
    /// Packs of triangles.
    pub blas_leaves: u64,
    /// Data that are read only by builds, refits and the computation of instance boxes.
    pub blas_builds: u64,
    pub tlas_nodes: u64,
    /// Instance records, and the shutter keys of instances that move during the exposure.
    pub instance_records: u64,
}

pub(super) fn tree_statistics(posed: &Posed) -> TreeStatistics {
    let (frame, meshes) = (&posed.frame, &posed.shown.meshes);
    let mut shown = vec![0u64; meshes.len()];
    for record in &frame.tlas.records[..] {
        if let Some(shown) = shown.get_mut(record.mesh as usize) {
            *shown += 1;
        }
    }
    let used = (0..meshes.len()).into_par_iter().filter(|&m| shown[m] > 0);
    let blas = used.map(|mesh| {
        let tree = &frame.blas[mesh];
        BlasStatistics {
            mesh: meshes[mesh].name.clone(),
            instances: shown[mesh],
            primitives: meshes[mesh].prim_count() as u64,
            depth: tree.depth(),
            sah_cost: tree.sah_cost(),
            overlap: blas_overlap(tree),
            bytes: tree.bytes() as u64,
        }
    });
    TreeStatistics {
        tlas: TlasStatistics {
            instances: frame.tlas.records.len() as u64,
            depth: frame.tlas.tree.depth,
            sah_cost: frame.tlas.tree.sah_cost(1.0),
            overlap: tlas_overlap(&frame.tlas, meshes),
        },
        blas: blas.collect(),
        bytes: tree_bytes(posed),
    }
}

fn tree_bytes(posed: &Posed) -> TreeBytes {
    let tlas = &posed.frame.tlas;
    let tlas_nodes = tlas.tree.nodes.bytes() + tlas.units.bytes();
    let mut bytes = TreeBytes {
        tlas_nodes: tlas_nodes as u64,
        instance_records: (tlas.bytes() - tlas_nodes) as u64,
        ..TreeBytes::default()
    };
    for kinds in posed.frame.blas.iter().map(|blas| Blas::bytes_by_kind(blas)) {
        bytes.blas_nodes += kinds.nodes as u64;
        bytes.blas_leaves += kinds.leaves as u64;
        bytes.blas_builds += kinds.builds as u64;
    }
    bytes
}
