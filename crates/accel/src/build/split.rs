//! Finds the best split of a set of primitives, by the surface area heuristic.

use crate::build::BuildPrim;
use bytemuck::Zeroable;
use glam::{Vec3, Vec4};
use rayon::prelude::*;
use throng_base::math::{Aabb, truncated};

/// The candidate positions of splits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitMethod {
    /// 16 bins on the longest axis of large sets, 8 on all three axes of small ones (Wald 2007).
    Binned,
    /// Binned near the root, halved below; for trees that few rays will traverse.
    Hasty,
    /// Half of the primitives on either side, which bounds the depth of trees over pathological sets.
    Halved,
}

/// Number of bins for large sets and for small sets. Small sets are by far the most frequent.
const BINS: usize = 16;
const FEW_BINS: usize = 8;
/// Minimum size of sets that are measured, binned and partitioned by all threads.
const PARALLEL: usize = 1 << 15;
/// Number of primitives per task in these sets.
const CHUNK: usize = 1 << 13;
/// Maximum size of binned sets for which all three axes are tried. In larger sets the longest axis is nearly always best.
const ALL_AXES: usize = 1 << 5;
/// Maximum size of sets that are sorted along the longest axis instead of binned, because setting up bins would cost more.
const SMALL: usize = 12;

/// The box of a set of primitives, and the box of their doubled centres.
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
        chunks.map(|c| c.iter().fold(Self::EMPTY, Self::with)).reduce(|| Self::EMPTY, Self::union)
    }

    /// Bounds of `count` primitives that are returned by their indices.
    pub fn of_each(count: usize, prim: impl Fn(usize) -> BuildPrim + Sync) -> Self {
        let indices = (0..count).into_par_iter().with_min_len(PARALLEL);
        indices.fold(|| Self::EMPTY, |set, index| set.with(&prim(index))).reduce(|| Self::EMPTY, Self::union)
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
        Aabb { min: self.min.truncate(), max: self.max.truncate() }
    }

    /// Whether centres differ, by a distance within the range of floats.
    pub fn is_divisible(&self) -> bool {
        let extent = self.center_extent().max_element();
        extent > 0.0 && extent < f32::INFINITY
    }

    /// The minimum and maximum of the doubled centres, per axis.
    pub fn centers(&self) -> (Vec3, Vec3) {
        (self.center_min.truncate(), self.center_max.truncate())
    }

    fn center_extent(&self) -> Vec3 {
        (self.center_max - self.center_min).truncate()
    }
}

/// Splits a set of at least two primitives. Returns the number of primitives in the left part, and the bounds of both parts.
pub fn split_with_bounds(
    prims: &mut [BuildPrim],
    set: &SetBounds,
    leaf_size: usize,
    method: SplitMethod,
) -> (usize, [SetBounds; 2]) {
    let bins = method == SplitMethod::Binned && prims.len() > SMALL && set.is_divisible();
    if bins {
        // The bounds follow from the bins.
        let cut = best_bin_cut(prims, set, leaf_size);
        let count = partition(prims, |p| cut.is_left(p));
        if count == cut.left_count as usize {
            return (count, cut.sets);
        }
    }
    let count = if bins { prims.len() / 2 } else { split(prims, set, leaf_size, method) };
    let (left, right) = prims.split_at(count);
    (count, [SetBounds::of(left), SetBounds::of(right)])
}

/// Reorders `prims`, which must have at least two elements, and returns the number in the left part: at least 1, at most all but 1.
///
/// `leaf_size` primitives are tested together, so the cost of a set counts whole leaves.
pub fn split(prims: &mut [BuildPrim], set: &SetBounds, leaf_size: usize, method: SplitMethod) -> usize {
    let extent = set.center_extent();
    if !set.is_divisible() {
        // All centres coincide (or their distance exceeds the range of floats), so all splits are equally good.
        return prims.len() / 2;
    }
    if method == SplitMethod::Halved {
        return halve(prims, extent.max_position());
    }
    if prims.len() <= SMALL {
        return sah_sweep(prims, extent.max_position(), leaf_size);
    }
    let cut = best_bin_cut(prims, set, leaf_size);
    partition(prims, |p| cut.is_left(p))
}

/// Moves the half of the primitives with the smaller centres to the front; ties are ordered by ID.
fn halve(prims: &mut [BuildPrim], axis: usize) -> usize {
    let half = prims.len() / 2;
    let center = |p: &BuildPrim| p.min[axis] + p.max[axis];
    prims.select_nth_unstable_by(half, |a, b| center(a).total_cmp(&center(b)).then(a.id.cmp(&b.id)));
    half
}

/// Bins along one axis.
#[derive(Clone, Copy)]
struct Binning {
    axis: usize,
    offset: f32,
    scale: f32,
}

impl Binning {
    #[inline]
    fn bin(&self, prim: &BuildPrim) -> usize {
        bin_index((prim.min[self.axis] + prim.max[self.axis] - self.offset) * self.scale)
    }
}

/// A split between two bins, with the number of primitives on its left and the bounds of both sides.
struct BinCut {
    binning: Binning,
    first_right: usize,
    left_count: u32,
    sets: [SetBounds; 2],
}

impl BinCut {
    fn new(binning: Binning, first_right: usize, bins: &[Bin]) -> Self {
        let side = |bins: &[Bin]| {
            let sets = bins.iter().map(|bin| bin.set);
            sets.fold(SetBounds::EMPTY, SetBounds::union)
        };
        let (left, right) = bins.split_at(first_right);
        Self {
            binning,
            first_right,
            left_count: left.iter().map(|bin| bin.count).sum(),
            sets: [side(left), side(right)],
        }
    }

    #[inline]
    fn is_left(&self, prim: &BuildPrim) -> bool {
        self.binning.bin(prim) < self.first_right
    }
}

#[inline]
fn bin_index(position: f32) -> usize {
    // The position is (centre - minimum centre) * (bins - ε) / extent, in [0, bins) up to rounding.
    (truncated(position) as usize).min(BINS - 1)
}

#[derive(Clone, Copy)]
struct Bin {
    set: SetBounds,
    count: u32,
}

const EMPTY_BIN: Bin = Bin { set: SetBounds::EMPTY, count: 0 };
type AxisBins = [Bin; BINS];

fn best_bin_cut(prims: &[BuildPrim], set: &SetBounds, leaf_size: usize) -> BinCut {
    let extent = set.center_extent();
    let longest = extent.max_position();
    let (axes, count) = if prims.len() > ALL_AXES { (longest..longest + 1, BINS) } else { (0..3, FEW_BINS) };
    let mut best: Option<(f32, BinCut)> = None;
    for axis in axes.filter(|&a| extent[a] > 0.0) {
        let binning = Binning { axis, offset: set.center_min[axis], scale: (count as f32 * 0.9999) / extent[axis] };
        if !binning.scale.is_finite() {
            continue;
        }
        let bins = bin_prims(prims, &binning);
        let (cost, first_right) = cheapest_boundary(&bins[..count], leaf_size);
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, BinCut::new(binning, first_right, &bins[..count])));
        }
    }
    // The extent is so small that its reciprocal overflows: all primitives fall into the first bin, and `partition` halves the set.
    let unfit = || {
        let binning = Binning { axis: longest, offset: 0.0, scale: 0.0 };
        BinCut::new(binning, 1, &[EMPTY_BIN])
    };
    best.map_or_else(unfit, |(_, cut)| cut)
}

fn bin_prims(prims: &[BuildPrim], binning: &Binning) -> AxisBins {
    if prims.len() < PARALLEL {
        return bin_serial(prims, binning);
    }
    let chunks = prims.par_chunks(CHUNK);
    chunks.map(|c| bin_serial(c, binning)).reduce(|| [EMPTY_BIN; BINS], merge_bins)
}

fn bin_serial(prims: &[BuildPrim], binning: &Binning) -> AxisBins {
    let mut bins = [EMPTY_BIN; BINS];
    for prim in prims {
        let bin = &mut bins[binning.bin(prim)];
        bin.set = bin.set.with(prim);
        bin.count += 1;
    }
    bins
}

fn merge_bins(mut a: AxisBins, b: AxisBins) -> AxisBins {
    for (a, b) in a.iter_mut().zip(&b) {
        a.set = a.set.union(b.set);
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

/// Returns the minimum cost over all boundaries with primitives on both sides, and the index of the bin to the right of that boundary.
fn cheapest_boundary(bins: &[Bin], leaf_size: usize) -> (f32, usize) {
    let mut right_cost = [f32::INFINITY; BINS];
    let (mut min, mut max, mut count) = (Vec4::INFINITY, Vec4::NEG_INFINITY, 0);
    for i in (1..bins.len()).rev() {
        min = min.min(bins[i].set.min);
        max = max.max(bins[i].set.max);
        count += bins[i].count as usize;
        if count > 0 {
            right_cost[i] = half_area(min, max) * leaves(count, leaf_size);
        }
    }
    let mut best = (f32::INFINITY, bins.len() / 2);
    let (mut min, mut max, mut count) = (Vec4::INFINITY, Vec4::NEG_INFINITY, 0);
    for i in 1..bins.len() {
        min = min.min(bins[i - 1].set.min);
        max = max.max(bins[i - 1].set.max);
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

/// Moves the primitives that `left` accepts to the front. Halves the set if all are on one side.
fn partition(prims: &mut [BuildPrim], left: impl Fn(&BuildPrim) -> bool + Sync) -> usize {
    let count = if prims.len() < PARALLEL { partition_serial(prims, left) } else { partition_parallel(prims, left) };
    if count == 0 || count == prims.len() { prims.len() / 2 } else { count }
}

/// Moves the primitives that `left` accepts to the front, and returns their number.
fn partition_serial(prims: &mut [BuildPrim], left: impl Fn(&BuildPrim) -> bool) -> usize {
    // Every primitive is swapped with the first one that is not known to be on the left. This makes more moves than necessary, but has no branches
    // that could be mispredicted.
    let mut count = 0;
    for i in 0..prims.len() {
        let is_left = left(&prims[i]);
        prims.swap(i, count);
        count += usize::from(is_left);
    }
    count
}

/// Parallel, in-place variant. It partitions chunks independently, then exchanges primitives that are on the wrong side. Neither the chunks
/// nor the resulting order depend on the number of threads.
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

/// Exchanges the elements of two lists of slices, which must have equal total lengths.
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
    pairs.into_par_iter().for_each(|(a, b)| a.swap_with_slice(b));
}

/// Sorts a few primitives along one axis, evaluates every split, and returns the number of primitives on the left of the cheapest one.
fn sah_sweep(prims: &mut [BuildPrim], axis: usize, leaf_size: usize) -> usize {
    sort_small(prims, axis);
    cheapest_cut(prims.len(), |i| prims[i].vectors(), leaf_size, &mut [0.0; SMALL]).1
}

/// Sorts up to [`SMALL`] primitives by their centres; ties keep their order. The position of each is found by counting its predecessors, which takes
/// many comparisons but no branches.
fn sort_small(prims: &mut [BuildPrim], axis: usize) {
    let mut centers = [f32::INFINITY; SMALL];
    let mut sorted = [BuildPrim::zeroed(); SMALL];
    let (centers_of_all, sorted_all) = (&mut centers[..prims.len()], &mut sorted[..prims.len()]);
    for (center, prim) in centers_of_all.iter_mut().zip(&*prims) {
        *center = prim.min[axis] + prim.max[axis];
    }
    for (i, prim) in prims.iter().enumerate() {
        let (own, mut place) = (centers[i], 0);
        for (j, &other) in centers.iter().enumerate() {
            place += usize::from((other < own) | ((other == own) & (j < i)));
        }
        sorted_all[place] = *prim;
    }
    prims.copy_from_slice(sorted_all);
}

/// Returns the minimum cost of splitting `n` ordered boxes, and the number of boxes on the left. `right_cost` must have room for `n` values.
pub fn cheapest_cut(
    n: usize,
    corners: impl Fn(usize) -> (Vec4, Vec4),
    leaf_size: usize,
    right_cost: &mut [f32],
) -> (f32, usize) {
    let (mut min, mut max) = (Vec4::INFINITY, Vec4::NEG_INFINITY);
    for i in (1..n).rev() {
        let (prim_min, prim_max) = corners(i);
        (min, max) = (min.min(prim_min), max.max(prim_max));
        right_cost[i] = half_area(min, max) * leaves(n - i, leaf_size);
    }
    let (mut min, mut max) = (Vec4::INFINITY, Vec4::NEG_INFINITY);
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

/// Converts a float to an integer with equal ordering.
pub fn sortable(x: f32) -> u32 {
    let bits = x.to_bits();
    bits ^ (((bits as i32 >> 31) as u32) | 0x8000_0000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_base::math::hash_unit;

    fn points(count: u32) -> Vec<BuildPrim> {
        let at = |i| Vec3::splat(hash_unit(5, i));
        let point = |i| BuildPrim::new(&Aabb::of_points([at(i)]), i);
        (0..count).map(point).collect()
    }

    #[test]
    fn large_sets_are_partitioned_as_small_ones_are() {
        for (count, share) in
            [(PARALLEL as u32, 0.5), (100_000, 0.0), (100_001, 0.001), (123_456, 0.4), (131_072, 0.999), (131_073, 1.0)]
        {
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
