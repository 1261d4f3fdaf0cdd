//! Groups of neighbouring primitives, each with its own subtree. They are computed once and reused while the primitives move.
//!
//! The passes over all boxes for the top levels are half of a build and run poorly in parallel. Groups avoid these passes. One task builds a group
//! inside its core's cache.

use crate::build::{
    BuildPrim,
    split::{SetBounds, SplitMethod, split_with_bounds},
};
use rayon::prelude::*;

/// Maximum number of primitives in a group, which one task builds. It is a power of the number of children, so that nodes are as full as in a tree
/// without groups. With 256 or 1024 instead, trees of eight children cost up to 8 % more.
fn largest_group(children: usize) -> usize {
    if children == 8 { 512 } else { 4096 }
}

/// Fraction of the total surface area above which a primitive becomes a group of its own.
const HUGE: f32 = 1.0 / 256.0;
/// Maximum number of primitives with groups of their own; if more primitives are that large, none gets its own group.
const MOST_HUGE: usize = 64;
/// Minimum number of groups. Fewer groups save little, and the few nodes above them would be poorly filled.
const LEAST_GROUPS: usize = 128;

/// Whether `prims` primitives are enough for groups in trees whose nodes have `children` children.
pub fn is_worth_it(prims: usize, children: usize) -> bool {
    prims >= LEAST_GROUPS * largest_group(children)
}

/// Reorders `prims` into groups, found by binned splits, for trees whose nodes have `children` children. Returns the end of each group; empty if
/// there would be fewer than [`LEAST_GROUPS`] groups.
pub fn group(prims: &mut [BuildPrim], children: usize) -> Vec<u32> {
    if !is_worth_it(prims.len(), children) {
        return Vec::new();
    }
    let largest = largest_group(children);
    let alone = huge_last(prims);
    let (others, huge) = prims.split_at_mut(prims.len() - alone);
    let mut ends = group_sizes(others, SetBounds::of(others), largest);
    ends.extend(huge.iter().map(|_| 1));
    let mut end = 0;
    for size in &mut ends {
        end += *size;
        *size = end;
    }
    ends
}

/// Moves huge primitives, for example a ground plane, to the end, and returns their number. Every ray would enter a box around one of them and its
/// neighbours.
fn huge_last(prims: &mut [BuildPrim]) -> usize {
    let limit = SetBounds::of(prims).bounds().half_area() * HUGE;
    let area = |prim: &BuildPrim| SetBounds::of(&[*prim]).bounds().half_area();
    let count = prims.iter().filter(|prim| area(prim) > limit).count();
    if count > MOST_HUGE {
        return 0;
    }
    let mut end = prims.len();
    for i in (0..prims.len()).rev() {
        if area(&prims[i]) > limit {
            end -= 1;
            prims.swap(i, end);
        }
    }
    count
}

fn group_sizes(prims: &mut [BuildPrim], set: SetBounds, largest: usize) -> Vec<u32> {
    if prims.len() <= largest {
        return vec![prims.len() as u32];
    }
    let (count, [left_set, right_set]) = split_with_bounds(prims, &set, 1, SplitMethod::Binned);
    let (left, right) = prims.split_at_mut(count);
    let (mut sizes, more) =
        rayon::join(|| group_sizes(left, left_set, largest), || group_sizes(right, right_set, largest));
    sizes.extend(more);
    sizes
}

/// The sum over groups of half the surface area times the number of primitives: a measure of the cost of testing their boxes.
pub fn surface_of_groups(prims: &[BuildPrim], groups: &[u32]) -> f64 {
    let begins = [0].into_iter().chain(groups.iter().copied());
    let ranges: Vec<_> = begins.zip(groups).map(|(a, &b)| a as usize..b as usize).collect();
    let surfaces: Vec<f64> = ranges
        .into_par_iter()
        .map(|range| {
            let count = range.len() as f64;
            f64::from(SetBounds::of(&prims[range]).bounds().half_area()) * count
        })
        .collect();
    // Sequential, so that the sum does not depend on the number of threads.
    surfaces.iter().sum()
}
