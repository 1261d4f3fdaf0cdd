//! All compressed BLASes concatenated for kernels; references count from the start of the pool.

use rayon::prelude::*;
use std::sync::Arc;
use throng_abi::{CompressedNode, PatchRow, Unit};
use throng_accel::{Blas, PoolOffset, pool_offsets};

/// Units and leaves of all meshes.
#[derive(Default)]
pub struct Pool {
    pub units: Vec<Unit>,
    pub leaves: Vec<PatchRow>,
}

impl Pool {
    /// Copies all trees into a pool. Meshes without a compressed tree take no space.
    pub fn new(blas: &[Arc<Blas>]) -> Self {
        let offsets = pool_offsets(blas);
        let (mut units, mut leaves) = pool_size(blas);
        let mut pool = Self { units: vec![Unit::default(); units], leaves: vec![PatchRow::default(); leaves] };
        for (blas, offset) in blas.iter().zip(offsets) {
            (units, leaves) = (offset.units as usize, offset.leaves as usize);
            write_tree(blas, offset, &mut pool.units[units..], &mut pool.leaves[leaves..]);
        }
        pool
    }
}

/// Total numbers of units and of rows, or other leaves in their space, in the trees of all meshes.
pub fn pool_size(blas: &[Arc<Blas>]) -> (usize, usize) {
    blas.iter().map(|blas| tree_size(blas)).fold((0, 0), |all, own| (all.0 + own.0, all.1 + own.1))
}

/// [`pool_size`] of one tree.
pub fn tree_size(blas: &Blas) -> (usize, usize) {
    blas.shape.compressed().map_or((0, 0), |(units, leaves)| (units.len(), leaves.room()))
}

/// Copies a tree to the start of `units` and `rows`, and adds `offset`, its position in the pool, to all references.
pub fn write_tree(blas: &Blas, offset: PoolOffset, units: &mut [Unit], rows: &mut [PatchRow]) {
    let Some((own, leaves)) = blas.shape.compressed() else {
        return;
    };
    let first_leaf = leaves.index_at(offset.leaves);
    let pairs = units.par_iter_mut().zip(own.par_iter());
    pairs.with_min_len(4096).for_each(|(to, &unit)| *to = moved(unit, offset.units, first_leaf));
    leaves.write(rows);
}

/// A node of a tree whose units and leaves begin at these indices.
pub fn moved(unit: Unit, first_unit: u32, first_leaf: u32) -> Unit {
    let node: CompressedNode = bytemuck::cast(unit);
    bytemuck::cast(CompressedNode {
        unit_base: node.unit_base + first_unit,
        leaf_base: node.leaf_base + first_leaf,
        ..node
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::pieces::send_pool;
    use throng_accel::{NodeLayout, Quality};
    use throng_scene::{CurvePoint, CurveProfile, Curves, Mesh, Shape, TriangleMesh};

    fn tree(shape: Shape) -> Arc<Blas> {
        let mesh = Mesh { name: "mesh".into(), shape, slot_count: 1 };
        Arc::new(Blas::build(&mesh, NodeLayout::Compressed8, Quality::Balanced))
    }

    #[test]
    fn segments_are_found_in_a_pool_with_triangles() {
        let positions = (0..30).map(|i| [i as f32, (i % 2) as f32, (i % 3) as f32]).collect();
        let triangles = (0..10).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
        let soup = || Shape::Triangles(TriangleMesh { positions, triangles, ..TriangleMesh::default() });
        let points = (0..40).map(|i| CurvePoint { position: [i as f32, 0.0, 0.0], radius: 0.1 }).collect();
        let strands = vec![0, 17];
        let curves = Curves { points, strands, profile: CurveProfile::Round, ..Curves::default() };
        let numbers: Vec<u32> = curves.segments().collect();
        let trees =
            [tree(soup()), tree(Shape::Curves(Arc::new(curves.clone()))), tree(Shape::Curves(Arc::new(curves)))];

        let pool = Pool::new(&trees);
        let offsets = pool_offsets(&trees);
        assert_eq!(
            offsets.iter().map(|offset| offset.leaves).collect::<Vec<_>>(),
            [20, 0, 10],
            "38 segments take the space of ten rows"
        );
        let segments: &[u32] = bytemuck::cast_slice(&pool.leaves);
        for (tree, offset) in trees.iter().zip(&offsets).skip(1) {
            let (count, _) = tree_size(tree);
            let units = &pool.units[offset.units as usize..][..count];
            let mut found: Vec<u32> = Vec::new();
            for node in units.iter().map(|&unit| bytemuck::cast::<Unit, CompressedNode>(unit)) {
                found.extend(&segments[node.leaf_base as usize..][..node.leaves.count_ones() as usize]);
            }
            found.sort_unstable();
            assert_eq!(found, numbers);
        }
        let (mut units, mut rows) = (Vec::new(), Vec::new());
        let sent = send_pool(
            &trees,
            |first, piece| {
                assert_eq!(first, units.len());
                units.extend_from_slice(piece);
                Ok::<(), ()>(())
            },
            |first, piece| {
                assert_eq!(first, rows.len());
                rows.extend_from_slice(piece);
                Ok(())
            },
        );
        let words = |units: &[Unit]| bytemuck::pod_collect_to_vec::<_, u32>(units);
        assert!(sent.is_ok() && words(&units) == words(&pool.units) && rows == pool.leaves);
    }
}
