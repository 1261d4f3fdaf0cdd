//! Groups of primitives that lie close together, each with its own subtree. They are made once and reused while the primitives move.
//!
//! The passes over all boxes for the top levels are half of a build and run poorly in parallel; groups avoid them. One task builds a group
//! within its core's cache.

use crate::accel::{
    build::BuildPrim,
    build::split::{SetBounds, SplitMethod, split_with_bounds},
};
use rayon::prelude::*;

/// Most primitives of a group, which one task builds. It is a power of the number of children, so that nodes are as full as in a
/// tree without groups. With 256 or 1024 instead, trees of eight children cost up to 8 % more.
fn largest_group(children: usize) -> usize {
    if children == 8 { 512 } else { 4096 }
}

/// A primitive with more than this share of the surface around everything is a group of its own.
const HUGE: f32 = 1.0 / 256.0;
/// Most primitives that are groups of their own; if more are that large, none is.
const MOST_HUGE: usize = 64;
/// Fewer groups than this are not worth the trouble, and the few nodes above them would be badly filled.
const LEAST_GROUPS: usize = 128;

/// Whether that many primitives are enough for groups in trees whose nodes have that many `children`.
pub fn is_worth_it(prims: usize, children: usize) -> bool {
    prims >= LEAST_GROUPS * largest_group(children)
}

/// Reorders `prims` into groups, found by binned cuts, for trees whose nodes have that many `children`. Returns where each group
/// ends; there are none if the primitives are so few that there would be fewer than [`LEAST_GROUPS`].
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

/// Moves huge primitives, such as the ground that all the others stand on, to the end, and returns how many there are. Every ray
/// would enter a box around one of those and its neighbours.
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

/// The sum of the groups' half surfaces, each times its number of primitives: a measure of the cost of tests of their boxes.
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
    // One after the other, so that the sum does not depend on the number of threads.
    surfaces.iter().sum()
}
