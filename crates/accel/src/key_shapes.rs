//! BLASes of meshes that deform while the shutter is open: one tree, whose boxes enclose the primitives over the whole interval. It has one set of
//! triangles per key. Leaves of curves are the same for all keys, because they refer to points.

use crate::{
    Blas, BlasShape, Buffer, NodeLayout,
    blas::{BuiltTree, build_triangles},
    build::BuildPrim,
    compressed::{blas::build_compressed, patch::vertices_of_rows},
    curves::curve_tree,
    pack::each_kind,
    refit::{
        plan::{Leaf, kept_vertices},
        policy::rebuild_quality,
    },
    surface::{Geometry, Surface},
};
use glam::Vec3;
use rayon::prelude::*;
use std::time::Instant;
use throng_abi::MeshKeys;
use throng_base::math::Aabb;

impl Blas {
    /// Builds the tree of a deforming mesh. `keys` are its shapes at even steps over the shutter interval, at least one, with identical triangles or
    /// strands. Between keys, vertices are interpolated linearly. The quality is [`rebuild_quality`]. Deterministic, parallel.
    pub fn of_keys(keys: &[Geometry<'_>], layout: NodeLayout) -> Self {
        let start = Instant::now();
        let surfaces: Vec<_> = keys.iter().filter_map(Geometry::surface).collect();
        let strands: Vec<_> = keys.iter().filter_map(Geometry::strands).collect();
        let (tree, vertices, leaves) = match (&surfaces[..], &strands[..]) {
            ([first, later @ ..], _) => {
                let (tree, leaves) = triangle_tree(first, later, layout);
                (tree, first.positions.len(), leaves)
            }
            (_, [first, ..]) => {
                let bounds = |segment| key_bounds(strands.iter().map(|strands| strands.bounds(segment).to_aabb()));
                let (tree, _) = curve_tree(first.curves, bounds, layout, rebuild_quality(layout));
                (tree, first.points.len(), 0)
            }
            _ => unreachable!("a mesh has a shape"),
        };
        let mut blas = Self::of_tree(tree, None, start.elapsed());
        let segments = keys.len() as u32 - 1;
        blas.set_keys(MeshKeys { segments, vertices: vertices as u32, leaves: leaves as u32, reserved: 0 });
        blas
    }
}

/// The box that encloses a primitive at all keys and between them.
fn key_bounds(boxes: impl Iterator<Item = Aabb>) -> Aabb {
    let all = boxes.fold(Aabb::EMPTY, Aabb::union);
    // Interpolation between keys rounds a coordinate twice.
    let slack = Vec3::splat(2.0 * f32::EPSILON * all.reach().max_element());
    Aabb { min: all.min - slack, max: all.max + slack }
}

/// Returns the tree and the number of its leaves per key.
fn triangle_tree<'a>(first: &Surface<'a>, later: &[Surface<'a>], layout: NodeLayout) -> (BuiltTree, usize) {
    let prims = (0..first.triangles.len()).into_par_iter().with_min_len(1024);
    let prims = prims.map(|triangle| {
        let all = key_bounds(std::iter::once(first).chain(later).map(|surface| surface.bounds(triangle)));
        BuildPrim::new(&all, triangle as u32)
    });
    let (prims, quality) = (prims.collect(), rebuild_quality(layout));
    let tree = match layout {
        NodeLayout::Compressed8 => build_compressed(prims, first, quality.into()),
        _ => build_triangles(prims, first, layout, quality.into()),
    };
    with_keys(tree, first, later)
}

/// Adds the leaves of the `later` keys to a tree. Returns the tree and the number of leaves per key.
fn with_keys<'a>(mut tree: BuiltTree, first: &Surface<'a>, later: &[Surface<'a>]) -> (BuiltTree, usize) {
    let leaves = match &mut tree.shape {
        BlasShape::Triangles { packs, .. } => {
            each_kind!(packs, packs => add_keys(packs, &kept_vertices(packs, first), later))
        }
        BlasShape::Compressed { units, patches, .. } => {
            let vertices = vertices_of_rows(bytemuck::cast_slice(units), patches, first);
            add_keys(patches, &vertices, later)
        }
        _ => 0,
    };
    (tree, leaves)
}

/// `vertices`: [`Leaf::KEPT`] vertices of each leaf.
fn add_keys<'a, L: Leaf<Surface<'a>> + Copy + Sync>(
    leaves: &mut Buffer<L>,
    vertices: &[u32],
    later: &[Surface<'a>],
) -> usize {
    let count = leaves.len();
    if count == 0 {
        return 0;
    }
    let mut all = Vec::with_capacity(count * (1 + later.len()));
    for _ in 0..=later.len() {
        all.extend_from_slice(leaves);
    }
    let own = all.par_chunks_mut(count).skip(1).zip(later);
    own.for_each(|(leaves, surface)| {
        let leaves = leaves.par_iter_mut().zip(vertices.par_chunks_exact(L::KEPT)).with_min_len(512);
        leaves.for_each(|(leaf, vertices)| {
            leaf.fill_kept(surface, vertices);
        });
    });
    *leaves = Buffer::copied(&all);
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_abi::CurvePoint;
    use throng_scene::Curves;

    const TRIANGLES: [[u32; 3]; 2] = [[0, 1, 2], [0, 2, 3]];

    fn shape(height: f32) -> Vec<[f32; 3]> {
        [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)].map(|(x, z)| [x, height * (1.0 + x), z]).into()
    }

    fn blas(heights: &[f32], layout: NodeLayout) -> Blas {
        let shapes: Vec<_> = heights.iter().map(|&height| shape(height)).collect();
        let surfaces = shapes.iter().map(|positions| Surface { positions, triangles: &TRIANGLES });
        let keys: Vec<_> = surfaces.map(Geometry::Triangles).collect();
        Blas::of_keys(&keys, layout)
    }

    #[test]
    fn a_tree_holds_its_triangles_at_all_keys() {
        for layout in [NodeLayout::Wide4, NodeLayout::Wide16, NodeLayout::Compressed8] {
            let blas = blas(&[0.0, 3.0, -1.0], layout);
            assert!(blas.bounds.min.y <= -2.0 && blas.bounds.max.y >= 6.0);
            let keys = blas.keys();
            assert_eq!((keys.segments, keys.vertices), (2, 4));
            match &blas.shape {
                BlasShape::Triangles { packs, .. } => assert_eq!(packs.count(), 3),
                // One row for words of leaves, and four vertices.
                BlasShape::Compressed { patches, .. } => assert_eq!(patches.len(), 3 * 5),
                _ => panic!("no sphere"),
            }
        }
    }

    #[test]
    fn a_tree_of_curves_holds_its_segments_at_all_keys() {
        let shape = |height: f32| {
            let point = |x: f32| CurvePoint { position: [x, height * (1.0 + x), 0.0], radius: 0.25 };
            Curves { points: [0.0, 1.0, 2.0].map(point).into(), strands: vec![0], ..Curves::default() }
        };
        let shapes = [0.0, 3.0, -1.0].map(shape);
        let keys: Vec<_> = shapes.iter().map(|curves| Geometry::Curves(curves.into())).collect();
        for layout in NodeLayout::ALL {
            let blas = Blas::of_keys(&keys, layout);
            assert!(blas.bounds.min.y <= -3.25 && blas.bounds.max.y >= 9.25);
            let keys = blas.keys();
            assert_eq!((keys.segments, keys.vertices, keys.leaves), (2, 3, 0));
        }
    }

    #[test]
    fn leaves_of_later_keys_have_the_shape_of_these() {
        let blas = blas(&[0.0, 5.0], NodeLayout::Compressed8);
        let BlasShape::Compressed { patches, .. } = &blas.shape else {
            panic!("compressed");
        };
        let (early, late) = patches.split_at(5);
        assert!(early[0] == late[0], "the words of leaves");
        for (early, late) in early[1..].iter().zip(&late[1..]) {
            let [x, _, z] = early.position;
            assert_eq!((early.prim, [x, 5.0 * (1.0 + x), z]), (late.prim, late.position));
        }
    }
}
