//! Where to cut a set of primitives in two, by the surface area heuristic: binned for speed, swept for quality.

use super::build::BuildPrim;
use crate::math::Aabb;
use glam::{Vec3, Vec4};
use rayon::prelude::*;

/// Which positions are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitMethod {
    /// 16 bins on the longest axis of large sets, on all three axes of small ones (Wald 2007).
    Binned,
    /// Every position on every axis; binned only for sets too large to sort.
    Swept,
    /// Half of the primitives on either side: bounds the depth of trees over pathological sets.
    Halved,
}

const BINS: usize = 16;
/// Sets of at least this many primitives are measured, binned and partitioned by all threads,
const PARALLEL: usize = 1 << 15;
/// in chunks of this many.
const CHUNK: usize = 1 << 13;
/// Binned sets up to this size try all three axes; above, the longest axis is nearly always the right one.
const ALL_AXES: usize = 1 << 6;
/// Binned sets up to this size are sorted along the longest axis instead: setting up bins would cost more.
const SMALL: usize = 12;
/// Swept sets above this size are binned: the top levels of a tree gain nothing from more positions.
const LARGEST_SWEEP: usize = 1 << 15;

/// Box of the primitives and of their (doubled) centres.
#[derive(Clone, Copy)]
pub struct SetBounds {
    min: Vec4,
    max: Vec4,
    center_min: Vec4,
    center_max: Vec4,
}

impl SetBounds {
    pub const EMPTY: Self = Self {
        min: Vec4::INFINITY,
        max: Vec4::NEG_INFINITY,
        center_min: Vec4::INFINITY,
        center_max: Vec4::NEG_INFINITY,
    };

    pub fn of(prims: &[BuildPrim]) -> Self {
        if prims.len() < PARALLEL {
            return prims.iter().fold(Self::EMPTY, Self::with);
        }
        let chunks = prims.par_chunks(CHUNK);
        chunks
            .map(|c| c.iter().fold(Self::EMPTY, Self::with))
            .reduce(|| Self::EMPTY, Self::union)
    }

    #[inline]
    fn with(self, prim: &BuildPrim) -> Self {
        let (min, max) = prim.vectors();
        let center = min + max;
        Self {
            min: self.min.min(min),
            max: self.max.max(max),
            center_min: self.center_min.min(center),
            center_max: self.center_max.max(center),
        }
    }

    fn union(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            center_min: self.center_min.min(other.center_min),
            center_max: self.center_max.max(other.center_max),
        }
    }

    pub fn bounds(&self) -> Aabb {
        Aabb {
            min: self.min.truncate(),
            max: self.max.truncate(),
        }
    }

    fn center_extent(&self) -> Vec3 {
        (self.center_max - self.center_min).truncate()
    }
}

/// Reorders `prims` and returns how many come first: at least 1, at most all but 1.
///
/// `leaf_size` primitives are tested at once, so sets count in whole leaves. Needs at least two primitives.
pub fn split(
    prims: &mut [BuildPrim],
    set: &SetBounds,
    leaf_size: usize,
    method: SplitMethod,
) -> usize {
    let extent = set.center_extent();
    if !(extent.max_element() > 0.0 && extent.max_element() < f32::INFINITY) {
        // All centres coincide (or lie too far apart for floats): any cut is as good as another.
        return prims.len() / 2;
    }
    if method == SplitMethod::Halved {
        return halve(prims, extent.max_position());
    }
    if method == SplitMethod::Swept && prims.len() <= LARGEST_SWEEP {
        return sweep(prims, leaf_size);
    }
    if prims.len() <= SMALL {
        return sweep_small(prims, extent.max_position(), leaf_size);
    }
    let cut = best_bin_cut(prims, set, leaf_size);
    partition(prims, |p| cut.bin(p) < cut.first_right)
}

/// Half of the primitives by their centres; ties go by name.
fn halve(prims: &mut [BuildPrim], axis: usize) -> usize {
    let half = prims.len() / 2;
    let center = |p: &BuildPrim| p.min[axis] + p.max[axis];
    prims.select_nth_unstable_by(half, |a, b| {
        center(a).total_cmp(&center(b)).then(a.id.cmp(&b.id))
    });
    half
}

/// A cut between two bins of one axis.
struct BinCut {
    axis: usize,
    first_right: usize,
    offset: f32,
    scale: f32,
}

impl BinCut {
    #[inline]
    fn bin(&self, prim: &BuildPrim) -> usize {
        bin_index((prim.min[self.axis] + prim.max[self.axis] - self.offset) * self.scale)
    }
}

#[inline]
fn bin_index(position: f32) -> usize {
    // SAFETY: the position is (centre - least centre) * (BINS - ε) / extent: within [0, BINS) up to rounding, and finite
    // because `BuildPrim::new` keeps coordinates in range.
    (unsafe { position.to_int_unchecked::<i32>() } as usize).min(BINS - 1)
}

#[derive(Clone, Copy)]
struct Bin {
    min: Vec4,
    max: Vec4,
    count: u32,
}

const EMPTY_BIN: Bin = Bin {
    min: Vec4::INFINITY,
    max: Vec4::NEG_INFINITY,
    count: 0,
};
type AxisBins = [Bin; BINS];

fn best_bin_cut(prims: &[BuildPrim], set: &SetBounds, leaf_size: usize) -> BinCut {
    let extent = set.center_extent();
    let longest = extent.max_position();
    let axes = if prims.len() > ALL_AXES {
        longest..longest + 1
    } else {
        0..3
    };
    let mut best: Option<(f32, BinCut)> = None;
    for axis in axes.filter(|&a| extent[a] > 0.0) {
        let (offset, scale) = (set.center_min[axis], (BINS as f32 * 0.9999) / extent[axis]);
        if !scale.is_finite() {
            continue;
        }
        let cut = BinCut {
            axis,
            first_right: BINS / 2,
            offset,
            scale,
        };
        let (cost, first_right) = cheapest_boundary(&bin_prims(prims, &cut), leaf_size);
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, BinCut { first_right, ..cut }));
        }
    }
    // An extent so small that its reciprocal overflows: everything falls into the first bin, and `partition` halves.
    best.map_or(
        BinCut {
            axis: longest,
            first_right: 1,
            offset: 0.0,
            scale: 0.0,
        },
        |(_, cut)| cut,
    )
}

fn bin_prims(prims: &[BuildPrim], cut: &BinCut) -> AxisBins {
    if prims.len() < PARALLEL {
        return bin_serial(prims, cut);
    }
    let chunks = prims.par_chunks(CHUNK);
    chunks
        .map(|c| bin_serial(c, cut))
        .reduce(|| [EMPTY_BIN; BINS], merge_bins)
}

fn bin_serial(prims: &[BuildPrim], cut: &BinCut) -> AxisBins {
    let mut bins = [EMPTY_BIN; BINS];
    for prim in prims {
        let bin = &mut bins[cut.bin(prim)];
        let (min, max) = prim.vectors();
        bin.min = bin.min.min(min);
        bin.max = bin.max.max(max);
        bin.count += 1;
    }
    bins
}

fn merge_bins(mut a: AxisBins, b: AxisBins) -> AxisBins {
    for (a, b) in a.iter_mut().zip(&b) {
        a.min = a.min.min(b.min);
        a.max = a.max.max(b.max);
        a.count += b.count;
    }
    a
}

#[inline]
fn half_area(min: Vec4, max: Vec4) -> f32 {
    let e = max - min;
    e.x * e.y + e.y * e.z + e.z * e.x
}

#[inline]
fn leaves(count: usize, leaf_size: usize) -> f32 {
    count.div_ceil(leaf_size) as f32
}

/// Least cost over the boundaries that leave primitives on both sides, and the bin right of it.
fn cheapest_boundary(bins: &AxisBins, leaf_size: usize) -> (f32, usize) {
    let mut right_cost = [f32::INFINITY; BINS];
    let (mut min, mut max, mut count) = (EMPTY_BIN.min, EMPTY_BIN.max, 0);
    for i in (1..BINS).rev() {
        min = min.min(bins[i].min);
        max = max.max(bins[i].max);
        count += bins[i].count as usize;
        if count > 0 {
            right_cost[i] = half_area(min, max) * leaves(count, leaf_size);
        }
    }
    let mut best = (f32::INFINITY, BINS / 2);
    let (mut min, mut max, mut count) = (EMPTY_BIN.min, EMPTY_BIN.max, 0);
    for i in 1..BINS {
        min = min.min(bins[i - 1].min);
        max = max.max(bins[i - 1].max);
        count += bins[i - 1].count as usize;
        if count == 0 {
            continue;
        }
        let cost = half_area(min, max) * leaves(count, leaf_size) + right_cost[i];
        if cost < best.0 {
            best = (cost, i);
        }
    }
    best
}

/// Puts the primitives that `left` accepts first. Halves the set where all fall on one side.
fn partition(prims: &mut [BuildPrim], left: impl Fn(&BuildPrim) -> bool + Sync) -> usize {
    let count = if prims.len() < PARALLEL {
        partition_serial(prims, left)
    } else {
        partition_parallel(prims, left)
    };
    if count == 0 || count == prims.len() {
        prims.len() / 2
    } else {
        count
    }
}

/// Returns how many are accepted.
fn partition_serial(prims: &mut [BuildPrim], left: impl Fn(&BuildPrim) -> bool) -> usize {
    // Every primitive changes places with the first one that is not known to be left: more moves than needed, but no
    // branch that could be mispredicted.
    let mut count = 0;
    for i in 0..prims.len() {
        let is_left = left(&prims[i]);
        prims.swap(i, count);
        count += usize::from(is_left);
    }
    count
}

/// The same, in place: partitions chunks on their own, and then exchanges what lies on the wrong side of the whole set.
/// Chunks do not depend on the number of threads, and neither does the order that comes out.
fn partition_parallel(prims: &mut [BuildPrim], left: impl Fn(&BuildPrim) -> bool + Sync) -> usize {
    let chunks = prims.par_chunks_mut(CHUNK);
    let counts: Vec<usize> = chunks.map(|c| partition_serial(c, &left)).collect();
    let count: usize = counts.iter().sum();
    let (mut wrong_rights, mut wrong_lefts) = (Vec::new(), Vec::new());
    for (index, chunk) in prims.chunks_mut(CHUNK).enumerate() {
        let first = index * CHUNK;
        let (lefts, rights) = chunk.split_at_mut(counts[index]);
        let right_before = count.saturating_sub(first + lefts.len()).min(rights.len());
        let left_before = count.saturating_sub(first).min(lefts.len());
        wrong_rights.push(&mut rights[..right_before]);
        wrong_lefts.push(&mut lefts[left_before..]);
    }
    exchange(wrong_rights, wrong_lefts);
    count
}

/// Exchanges the elements of two lists of slices, which hold the same number in all.
fn exchange(a: Vec<&mut [BuildPrim]>, b: Vec<&mut [BuildPrim]>) {
    let mut pairs = Vec::with_capacity(a.len() + b.len());
    let mut others = b.into_iter();
    let mut other: &mut [BuildPrim] = &mut [];
    for mut slice in a {
        while !slice.is_empty() {
            while other.is_empty() {
                other = others.next().expect("both lists hold the same number");
            }
            let count = slice.len().min(other.len());
            let (from, slice_rest) = std::mem::take(&mut slice).split_at_mut(count);
            let (to, other_rest) = std::mem::take(&mut other).split_at_mut(count);
            pairs.push((from, to));
            (slice, other) = (slice_rest, other_rest);
        }
    }
    pairs
        .into_par_iter()
        .for_each(|(a, b)| a.swap_with_slice(b));
}

/// Tries every cut along one axis of a handful of primitives, in place.
fn sweep_small(prims: &mut [BuildPrim], axis: usize, leaf_size: usize) -> usize {
    prims.sort_by(|a, b| (a.min[axis] + a.max[axis]).total_cmp(&(b.min[axis] + b.max[axis])));
    cheapest_cut(
        prims.len(),
        |i| prims[i].vectors(),
        leaf_size,
        &mut [0.0; SMALL],
    )
    .1
}

/// Tries every cut along every axis.
fn sweep(prims: &mut [BuildPrim], leaf_size: usize) -> usize {
    let n = prims.len();
    let mut right_cost = vec![0f32; n];
    let mut best: Option<(f32, usize, Vec<u32>)> = None;
    for axis in 0..3 {
        let order = order_along(prims, axis);
        let (cost, cut) = cheapest_cut(
            n,
            |i| prims[order[i] as usize].vectors(),
            leaf_size,
            &mut right_cost,
        );
        if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
            best = Some((cost, cut, order));
        }
    }
    let Some((_, count, order)) = best else {
        return n / 2;
    };
    let sorted: Vec<BuildPrim> = order.iter().map(|&i| prims[i as usize]).collect();
    prims.copy_from_slice(&sorted);
    count
}

/// Least cost of cutting `n` ordered boxes in two, and how many come first. `right_cost` is room for `n` numbers.
fn cheapest_cut(
    n: usize,
    corners: impl Fn(usize) -> (Vec4, Vec4),
    leaf_size: usize,
    right_cost: &mut [f32],
) -> (f32, usize) {
    let (mut min, mut max) = (EMPTY_BIN.min, EMPTY_BIN.max);
    for i in (1..n).rev() {
        let (prim_min, prim_max) = corners(i);
        (min, max) = (min.min(prim_min), max.max(prim_max));
        right_cost[i] = half_area(min, max) * leaves(n - i, leaf_size);
    }
    let (mut min, mut max) = (EMPTY_BIN.min, EMPTY_BIN.max);
    let mut best = (f32::INFINITY, n / 2);
    for (i, right) in right_cost.iter().enumerate().take(n).skip(1) {
        let (prim_min, prim_max) = corners(i - 1);
        (min, max) = (min.min(prim_min), max.max(prim_max));
        let cost = half_area(min, max) * leaves(i, leaf_size) + right;
        if cost < best.0 {
            best = (cost, i);
        }
    }
    best
}

/// Indices of the primitives by centre; ties keep their order, so the result does not depend on the sort.
fn order_along(prims: &[BuildPrim], axis: usize) -> Vec<u32> {
    let mut keys: Vec<u64> = prims
        .iter()
        .enumerate()
        .map(|(i, p)| u64::from(sortable(p.min[axis] + p.max[axis])) << 32 | i as u64)
        .collect();
    keys.sort_unstable();
    keys.into_iter().map(|k| k as u32).collect()
}

/// An integer that orders as the float does.
fn sortable(x: f32) -> u32 {
    let bits = x.to_bits();
    bits ^ (((bits as i32 >> 31) as u32) | 0x8000_0000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::hash_unit;

    fn points(count: u32) -> Vec<BuildPrim> {
        let at = |i| Vec3::splat(hash_unit(5, i));
        let point = |i| BuildPrim::new(&Aabb::of_points([at(i)]), i);
        (0..count).map(point).collect()
    }

    #[test]
    fn large_sets_are_partitioned_as_small_ones_are() {
        for (count, share) in [
            (PARALLEL as u32, 0.5),
            (100_000, 0.0),
            (100_001, 0.001),
            (123_456, 0.4),
            (131_072, 0.999),
            (131_073, 1.0),
        ] {
            let mut prims = points(count);
            let accepted = |p: &BuildPrim| p.min[0] < share;
            let expected = prims.iter().filter(|p| accepted(p)).count();
            let found = partition_parallel(&mut prims, accepted);
            assert_eq!(found, expected);
            assert!(prims[..found].iter().all(accepted) && !prims[found..].iter().any(accepted));
            let mut ids: Vec<u32> = prims.iter().map(|p| p.id).collect();
            ids.sort_unstable();
            assert!(ids.into_iter().eq(0..count));
        }
    }
}
