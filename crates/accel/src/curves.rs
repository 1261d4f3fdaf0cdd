//! Trees of curves. Leaves refer to points of the scene, because each point belongs to two segments and copies would double the memory.

use crate::{
    Buffer, Quality, Tree,
    blas::{BlasShape, BuiltTree, SMALLEST_SHARE, pack_leaves, pack_runs},
    build::{
        BuildPrim,
        collapse::{LeafRoom, build_ordered},
    },
    compressed::{
        blas::{CompressedTree, compressed_tree},
        slots::Arrangement,
    },
    nested::outline,
    node::NodeLayout,
    refit::plan::{Leaf, NamedLeaf},
    support::SupportMap,
    surface::{SimdBox, Strands},
};
use rayon::prelude::*;
use throng_abi::{PACK_SIZE, SHAPE_CURVES, SHAPE_RIBBONS, SegmentPack};
use throng_base::math::Aabb;
use throng_scene::{CurveProfile, Curves};

/// The number of the shape of these curves for kernels.
pub fn shape_of(profile: CurveProfile) -> u32 {
    match profile {
        CurveProfile::Round => SHAPE_CURVES,
        CurveProfile::Ribbon => SHAPE_RIBBONS,
    }
}

/// Builds the tree of the segments of `curves`, whose boxes are `bounds`, and its support map if the quality is high. Deterministic, parallel.
pub fn curve_tree(
    curves: &Curves,
    bounds: impl Fn(u32) -> Aabb + Sync,
    layout: NodeLayout,
    quality: Quality,
) -> (BuiltTree, Option<SupportMap>) {
    let segments: Vec<u32> = curves.segments().collect();
    let prim = |index: usize| BuildPrim::new(&bounds(segments[index]), segments[index]);
    let prims = || -> Vec<BuildPrim> {
        let indices = (0..segments.len()).into_par_iter();
        indices.with_min_len(SMALLEST_SHARE).map(prim).collect()
    };
    let outlined = |tree: &Tree| (quality == Quality::High).then(|| SupportMap::new(&outline(tree)));
    let profile = curves.profile;
    if layout == NodeLayout::Compressed8 {
        let room = LeafRoom::Prims(1);
        let (tree, support) = compressed_tree(prims(), prims, room, quality.into(), place_segments, outlined);
        let CompressedTree { depth, bounds, sah_cost, units, leaves: segments } = tree;
        (
            BuiltTree { shape: BlasShape::CompressedCurves { depth, units, segments, profile }, bounds, sah_cost },
            support,
        )
    } else {
        let mut tree = Tree::new(layout);
        // Boxes of segments are not stored for fast trees, because there may be a hundred million.
        let packs = if quality == Quality::Fast {
            pack_runs(segments.len(), prim, &mut tree, |run| pack_of(run.iter().map(|&index| segments[index as usize])))
        } else {
            pack_sets(prims, quality, &mut tree)
        };
        let (bounds, sah_cost, support) = (tree.bounds, tree.sah_cost(1.0), outlined(&tree));
        (BuiltTree { shape: BlasShape::Curves { tree, packs, profile }, bounds, sah_cost }, support)
    }
}

/// Makes leaves of segments in the order of the nodes.
fn place_segments(segments: Vec<u32>, nodes: &mut [Arrangement]) -> impl FnOnce() -> Buffer<u32> + use<> {
    let mut first = 0;
    for node in nodes {
        node.leaf_base = first;
        first += node.primitives() as u32;
    }
    move || Buffer::copied(&segments)
}

/// Builds a tree whose leaves are chosen by the surface area heuristic.
fn pack_sets(prims: impl Fn() -> Vec<BuildPrim>, quality: Quality, tree: &mut Tree) -> Buffer<SegmentPack> {
    let leaf_size = PACK_SIZE as usize;
    let room = LeafRoom::Prims(leaf_size);
    let (order, _) = build_ordered(prims(), room, quality.into(), (false, leaf_size), tree, &prims);
    pack_leaves(tree, |leaf| pack_of(order.leaf(leaf)))
}

fn pack_of(mut segments: impl Iterator<Item = u32>) -> SegmentPack {
    let first = segments.next().unwrap_or_default();
    let mut prim = [first; PACK_SIZE as usize];
    prim[1..].iter_mut().zip(segments).for_each(|(to, from)| *to = from);
    SegmentPack { prim }
}

impl Leaf<Strands<'_>> for SegmentPack {
    const AHEAD: usize = 4;

    /// Unused lanes repeat the first segment.
    fn prefetched(&self) -> impl Iterator<Item = u32> {
        self.prim.into_iter()
    }

    fn fill_kept(&mut self, strands: &Strands<'_>, _: &[u32]) -> SimdBox {
        self.fill(strands)
    }
}

impl NamedLeaf<Strands<'_>> for SegmentPack {
    fn fill(&mut self, strands: &Strands<'_>) -> SimdBox {
        let boxes = self.prim.iter().map(|&segment| strands.bounds(segment));
        boxes.fold(SimdBox::EMPTY, SimdBox::union)
    }
}

/// The number of a segment, which is a leaf of compressed trees.
impl Leaf<Strands<'_>> for u32 {
    const AHEAD: usize = 8;

    fn prefetched(&self) -> impl Iterator<Item = u32> {
        std::iter::once(*self)
    }

    fn fill_kept(&mut self, strands: &Strands<'_>, _: &[u32]) -> SimdBox {
        strands.bounds(*self)
    }
}
