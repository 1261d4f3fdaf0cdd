//! Trees of curves. Leaves refer to points of the scene, because each point belongs to two segments and copies would double the memory.

use crate::{
    Blas, BlasShape, Buffer, Quality, Tree,
    blas::{BuiltTree, SMALLEST_SHARE},
    build::{
        BuildMemory, BuildOptions, BuildPrim, build,
        collapse::{LeafRoom, build_collapsed},
        curve::Runs,
        split::SplitMethod,
    },
    compressed::blas::compressed_tree,
    nested::outline,
    node::NodeLayout,
    support::SupportMap,
};
use rayon::prelude::*;
use std::{mem::MaybeUninit, sync::Arc, time::Instant};
use throng_abi::{PACK_SIZE, SHAPE_CURVES, SHAPE_RIBBONS, SegmentPack};
use throng_scene::{CurveProfile, Curves};

/// Factor by which boxes of segments exceed their radius, which covers the rounding of the segment test.
const WIDENED: f32 = 1.001;

/// The number of the shape of these curves for kernels.
pub fn shape_of(profile: CurveProfile) -> u32 {
    match profile {
        CurveProfile::Round => SHAPE_CURVES,
        CurveProfile::Ribbon => SHAPE_RIBBONS,
    }
}

/// Builds the tree of curves. Deterministic, parallel.
pub fn build_curves(curves: &Arc<Curves>, layout: NodeLayout, quality: Quality) -> Blas {
    let start = Instant::now();
    let outlined = |tree: &Tree| (quality == Quality::High).then(|| SupportMap::new(&outline(tree)));
    let (support, built) = if layout == NodeLayout::Compressed8 {
        let (tree, units, segments) = compressed_tree(build_prims(curves), quality, |segment| segment);
        let shape = BlasShape::CompressedCurves { depth: tree.depth, units, segments, profile: curves.profile };
        (outlined(&tree), BuiltTree { shape, bounds: tree.bounds, sah_cost: tree.sah_cost(1.0) })
    } else {
        let mut tree = Tree::new(layout);
        let packs =
            if quality == Quality::Fast { pack_runs(curves, &mut tree) } else { pack_sets(curves, quality, &mut tree) };
        let (bounds, sah_cost) = (tree.bounds, tree.sah_cost(1.0));
        let support = outlined(&tree);
        (support, BuiltTree { shape: BlasShape::Curves { tree, packs, curves: curves.clone() }, bounds, sah_cost })
    };
    Blas::of_tree(built, support, start.elapsed())
}

fn build_prim(curves: &Curves, segment: u32) -> BuildPrim {
    BuildPrim::new(&curves.segment_bounds(segment, WIDENED), segment)
}

fn build_prims(curves: &Curves) -> Vec<BuildPrim> {
    let segments: Vec<u32> = curves.segments().collect();
    let prims = segments.par_iter().with_min_len(SMALLEST_SHARE);
    prims.map(|&segment| build_prim(curves, segment)).collect()
}

/// Builds a tree over packs of segments that are consecutive on a space-filling curve. Boxes of segments are never stored, because there may be a
/// hundred million.
fn pack_runs(curves: &Curves, tree: &mut Tree) -> Buffer<SegmentPack> {
    let segments: Vec<u32> = curves.segments().collect();
    let prim = |index: usize| build_prim(curves, segments[index]);
    let runs = Runs::new(segments.len(), prim, PACK_SIZE as usize);
    let mut boxes = runs.bounds(prim);
    build_binned(&mut boxes, 1, tree);
    pack_leaves(tree, |leaf| {
        let run = runs.prims(boxes[leaf].id as usize);
        run.iter().map(|&index| segments[index as usize])
    })
}

/// Builds a tree whose leaves are chosen by the surface area heuristic.
fn pack_sets(curves: &Curves, quality: Quality, tree: &mut Tree) -> Buffer<SegmentPack> {
    let leaf_size = PACK_SIZE as usize;
    let mut prims = build_prims(curves);
    if !build_collapsed(&mut prims, LeafRoom::Prims(leaf_size), quality, tree) {
        build_binned(&mut prims, leaf_size, tree);
    }
    pack_leaves(tree, |leaf| {
        let count = prims[leaf].leaf_count as usize;
        prims[leaf..leaf + count].iter().map(|prim| prim.id)
    })
}

fn build_binned(prims: &mut [BuildPrim], leaf_size: usize, tree: &mut Tree) {
    let options = BuildOptions { leaf_size, method: SplitMethod::Binned };
    build(prims, &[], options, &BuildMemory::default(), tree);
}

/// Collects the segments of each leaf, as listed by `segments_of`, in a pack, and points the leaf at the pack.
fn pack_leaves<T: Iterator<Item = u32>>(
    tree: &mut Tree,
    segments_of: impl Fn(usize) -> T + Sync,
) -> Buffer<SegmentPack> {
    let leaves = tree.number_leaves();
    let mut packs = Buffer::new();
    let fill = |packs: &mut [MaybeUninit<SegmentPack>]| {
        let pairs = packs.par_iter_mut().zip(&leaves);
        pairs.with_min_len(SMALLEST_SHARE / 8).for_each(|(to, &leaf)| {
            let mut segments = segments_of(leaf as usize);
            let first = segments.next().unwrap_or_default();
            let mut prim = [first; PACK_SIZE as usize];
            prim[1..].iter_mut().zip(segments).for_each(|(to, from)| *to = from);
            to.write(SegmentPack { prim });
        });
    };
    // SAFETY: there is one pack per leaf, and each is written.
    unsafe { packs.refill(leaves.len(), fill) };
    packs
}
