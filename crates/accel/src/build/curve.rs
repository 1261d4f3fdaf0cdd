//! Runs of primitives that are consecutive on a space-filling curve (Morton 1966; Lauterbach et al. 2009, "Fast BVH Construction on GPUs"). They
//! become leaves without evaluating any splits.

use crate::{
    build::{BuildPrim, split::SetBounds},
    surface::SimdBox,
};
use glam::Vec3;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use throng_base::math::morton_code;

/// Maximum number of bits per pass of the sort.
const MOST_DIGIT_BITS: u32 = 11;
/// Minimum number of keys per chunk, and maximum number of chunks; chunks are sorted in parallel.
const LEAST_CHUNK: usize = 1 << 13;
const MOST_CHUNKS: usize = 64;
/// Number of keys that one task cuts into runs. No run crosses the boundary between tasks.
const CUT_TOGETHER: usize = 1 << 12;
/// Number of cells along an axis, as a power of two, relative to the cells that a surface of equally many primitives passes through.
const MORE_BITS: u32 = 1;
/// Maximum number of cells along an axis, as a power of two.
const MOST_BITS: u32 = 21;

/// All primitives in curve order, cut into runs.
pub struct Runs {
    /// Indices of primitives.
    order: Vec<u32>,
    /// End of each run in `order`.
    ends: Vec<u32>,
}

impl Runs {
    /// Cuts `count` primitives into runs of at most `most`. `prim` returns a primitive by its index. Deterministic, parallel.
    pub fn new(count: usize, prim: impl Fn(usize) -> BuildPrim + Sync, most: usize) -> Self {
        let keys = sorted_keys(count, prim);
        let index_mask = (1u64 << index_bits(count)) - 1;
        let ends = (0..keys.len().div_ceil(CUT_TOGETHER))
            .into_par_iter()
            .flat_map_iter(|chunk| {
                let first = chunk * CUT_TOGETHER;
                let end = keys.len().min(first + CUT_TOGETHER);
                cut_runs(&keys[..end], first, index_mask, most)
            })
            .collect();
        let keys = keys.into_par_iter().with_min_len(LEAST_CHUNK);
        let order = keys.map(|key| (key & index_mask) as u32).collect();
        Self { order, ends }
    }

    /// The indices of the primitives in a run.
    pub fn prims(&self, run: usize) -> &[u32] {
        let begin = run.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.order[begin as usize..self.ends[run] as usize]
    }

    /// The boxes of the runs.
    pub fn bounds(&self, prim: impl Fn(usize) -> BuildPrim + Sync) -> Vec<BuildPrim> {
        let runs = (0..self.ends.len()).into_par_iter().with_min_len(512);
        let bounds = |run| {
            let own = self.prims(run).iter().map(|&index| {
                let (min, max) = prim(index as usize).vectors();
                SimdBox { min, max }
            });
            let all = own.fold(SimdBox::EMPTY, SimdBox::union);
            BuildPrim::new(&all.to_aabb(), run as u32)
        };
        runs.map(bounds).collect()
    }
}

/// Returns the ends of the runs in `keys`, starting at index `first`. `index_mask` selects the bits of a key that hold the index, not the cell.
fn cut_runs(keys: &[u64], first: usize, index_mask: u64, most: usize) -> Vec<u32> {
    let mut ends = Vec::with_capacity(2 * (keys.len() - first) / most + 1);
    let mut begin = first;
    while begin < keys.len() {
        let full = (begin + most).min(keys.len());
        // A run ends where the curve leaves the largest cell, even if the run then has few primitives.
        let left = |end: usize| match keys.get(end) {
            Some(key) => ((key ^ keys[end - 1]) & !index_mask).leading_zeros(),
            None => 0,
        };
        let ends_in = (begin + 1..=full).rev();
        begin = ends_in.min_by_key(|&end| left(end)).unwrap_or(full);
        ends.push(begin as u32);
    }
    ends
}

/// Number of bits for the indices of `count` primitives.
fn index_bits(count: usize) -> u32 {
    usize::BITS - count.saturating_sub(1).leading_zeros()
}

/// Returns the sorted keys of all primitives: cell in the upper bits, index in the lower bits.
fn sorted_keys(count: usize, prim: impl Fn(usize) -> BuildPrim + Sync) -> Vec<u64> {
    let index_bits = index_bits(count);
    let axis_bits = (index_bits.div_ceil(2) + MORE_BITS).min(MOST_BITS).min((u64::BITS - index_bits) / 3);
    let (offset, scale) = grid(&SetBounds::of_each(count, &prim), axis_bits);
    let key = |index: usize| {
        let (min, max) = prim(index).vectors();
        let most = Vec3::splat(((1u32 << axis_bits) - 1) as f32);
        let cell = (((min + max).truncate() - offset) * scale).min(most);
        morton_code(cell.as_uvec3()) << index_bits | index as u64
    };
    let indices = (0..count).into_par_iter().with_min_len(LEAST_CHUNK);
    let keys: Vec<AtomicU64> = indices.map(key).map(AtomicU64::new).collect();
    sort_upper_bits(keys, index_bits, 3 * axis_bits)
}

/// Offset and scale that map doubled centres to cubic cells: the minimum centre, and the number of cells per unit.
fn grid(set: &SetBounds, axis_bits: u32) -> (Vec3, f32) {
    let (min, max) = set.centers();
    let scale = (1u32 << axis_bits) as f32 / (max - min).max_element();
    // If the extent is zero or exceeds the range of floats, all primitives are in one cell.
    (min, if scale.is_finite() { scale } else { 0.0 })
}

/// Radix sort by `count` bits starting at bit `first`, least significant digit first. Keys that agree in these bits keep their order.
fn sort_upper_bits(keys: Vec<AtomicU64>, first: u32, count: u32) -> Vec<u64> {
    let (mut from, mut to) = (keys, Vec::new());
    let chunks = (from.len() / LEAST_CHUNK).clamp(1, MOST_CHUNKS);
    let chunk = from.len().div_ceil(chunks).max(1);
    // Uses the minimum number of passes, with the shortest digits for that number.
    let digit_bits = count.div_ceil(count.div_ceil(MOST_DIGIT_BITS).max(1));
    let digits = 1 << digit_bits;
    for shift in (first..first + count).step_by(digit_bits as usize) {
        let digit = |key: u64| (key >> shift) as usize & (digits - 1);
        let mut places: Vec<Vec<u32>> = from
            .par_chunks(chunk)
            .map(|chunk| {
                let mut counts = vec![0; digits];
                chunk.iter().for_each(|key| counts[digit(key.load(Relaxed))] += 1);
                counts
            })
            .collect();
        let mut next = 0;
        for number in 0..digits {
            for counts in &mut places {
                next += std::mem::replace(&mut counts[number], next);
            }
        }
        if to.is_empty() {
            to.resize_with(from.len(), AtomicU64::default);
        }
        let pairs = from.par_chunks(chunk).zip(&mut places);
        pairs.for_each(|(chunk, places)| {
            for key in chunk {
                let key = key.load(Relaxed);
                let place = &mut places[digit(key)];
                to[*place as usize].store(key, Relaxed);
                *place += 1;
            }
        });
        std::mem::swap(&mut from, &mut to);
    }
    from.into_iter().map(AtomicU64::into_inner).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_base::math::{Aabb, hash_unit};

    fn points(count: u32, at: impl Fn(u32) -> Vec3) -> Vec<BuildPrim> {
        let point = |i| BuildPrim::new(&Aabb::of_points([at(i)]), i);
        (0..count).map(point).collect()
    }

    fn runs(prims: &[BuildPrim]) -> Vec<Vec<u32>> {
        let runs = Runs::new(prims.len(), |index| prims[index], 8);
        (0..runs.ends.len()).map(|run| runs.prims(run).to_vec()).collect()
    }

    #[test]
    fn every_primitive_is_in_one_run_whatever_their_number() {
        for count in [0, 1, 8, 9, 1000, 70_000] {
            let random = |i: u32| Vec3::from([0, 1, 2].map(|axis| hash_unit(axis, i)));
            let runs = runs(&points(count, random));
            assert!(runs.iter().all(|run| (1..=8).contains(&run.len())));
            let mut all = runs.concat();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..count));
        }
    }

    #[test]
    fn runs_end_where_the_largest_cells_do() {
        // Two clusters of five, whose primitives alternate.
        let at = |i: u32| Vec3::new((i % 2) as f32 * 10.0, 0.01 * i as f32, 0.0);
        let runs = runs(&points(10, at));
        assert_eq!(runs, [[0, 2, 4, 6, 8], [1, 3, 5, 7, 9]]);
    }

    #[test]
    fn what_coincides_is_cut_into_full_runs_in_order() {
        let runs = runs(&points(100, |_| Vec3::ONE));
        assert!(runs.concat().into_iter().eq(0..100));
        assert!(runs[..12].iter().all(|run| run.len() == 8));
    }

    #[test]
    fn keys_of_many_digits_are_sorted_by_their_upper_bits_and_stay_in_order_otherwise() {
        let key = |i: u32| u64::from(hash_unit(1, i / 3).to_bits()) << 20 | u64::from(i);
        let keys = (0..50_000).map(key);
        let mut expected: Vec<u64> = keys.clone().collect();
        expected.sort_by_key(|key| key >> 20);
        assert!(sort_upper_bits(keys.map(AtomicU64::new).collect(), 20, 32) == expected);
    }
}
