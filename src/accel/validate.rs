//! Proves a tree right after it was built; debug builds run it on every tree.

#![cfg_attr(
    not(any(debug_assertions, test)),
    expect(dead_code, reason = "release builds trust their trees")
)]

use super::{
    Surface, Tlas, TlasInput,
    node::{NodeLayout, Tree, Wide, each_width},
    pack::{Pack, Packs, each_kind},
};
use crate::{
    abi::{EMPTY_CHILD, LEAF, NO_INDEX},
    math::Aabb,
};
use glam::Vec3;

/// What is wrong with a tree.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum TreeError {
    #[error("node {node}, slot {slot}: the child's box is not inside its parent's")]
    ChildOutside { node: usize, slot: usize },
    #[error("node {node}, slot {slot}: child {child} does not come after its parent")]
    Order {
        node: usize,
        slot: usize,
        child: u32,
    },
    #[error("node {node}, slot {slot}: the box is not a number")]
    NotANumber { node: usize, slot: usize },
    #[error("leaf {leaf} does not exist")]
    NoSuchLeaf { leaf: u32 },
    #[error("unit {unit} is referred to {times} times")]
    Unit { unit: usize, times: u32 },
    #[error("node {node}: its masks of leaves and of units contradict each other")]
    Masks { node: usize },
    #[error("primitive {prim} is referred to {times} times")]
    Count { prim: usize, times: u32 },
    #[error("the tree has {found} levels, not {claimed}")]
    Depth { found: u32, claimed: u32 },
}

/// Each triangle exactly once, children inside parents, boxes around their triangles.
pub fn validate_blas(tree: &Tree, packs: &Packs, surface: &Surface<'_>) -> Result<(), TreeError> {
    each_kind!(packs, packs => validate_packs(tree, packs, surface))
}

fn validate_packs<P: Pack>(
    tree: &Tree,
    packs: &[P],
    surface: &Surface<'_>,
) -> Result<(), TreeError> {
    let mut seen = vec![0u32; surface.triangles.len()];
    validate(tree, packs.len(), |leaf, bounds| {
        let pack = &packs[leaf];
        let mut follows = true;
        for (lane, &prim) in pack.prims().iter().enumerate() {
            if prim != NO_INDEX {
                seen[prim as usize] += 1;
                let corners = pack.corners(lane);
                follows &= corners == surface.corners(prim as usize)
                    && bounds.contains(&Aabb::of_points(corners.map(Vec3::from)));
            }
        }
        follows
    })?;
    each_once(&seen)
}

/// Each instance exactly once, children inside parents, boxes around their instances.
pub fn validate_tlas(tlas: &Tlas, input: TlasInput<'_>) -> Result<(), TreeError> {
    if tlas.tree.layout == NodeLayout::Compressed8 {
        return super::validate_compressed::validate_tlas(tlas, input);
    }
    let positions = input.positions();
    let mut seen = vec![0u32; input.instances.len()];
    validate(&tlas.tree, tlas.records.len(), |leaf, bounds| {
        let i = tlas.records[leaf].instance as usize;
        seen[i] += 1;
        input
            .bounds(positions[i], &tlas.sweep)
            .is_none_or(|b| bounds.contains(&b))
    })?;
    each_once(&seen)
}

fn each_once(seen: &[u32]) -> Result<(), TreeError> {
    match seen.iter().position(|&times| times != 1) {
        Some(prim) => Err(TreeError::Count {
            prim,
            times: seen[prim],
        }),
        None => Ok(()),
    }
}

fn validate(
    tree: &Tree,
    leaves: usize,
    mut leaf_inside: impl FnMut(usize, &Aabb) -> bool,
) -> Result<(), TreeError> {
    if tree.root == EMPTY_CHILD {
        return Ok(());
    }
    let mut found = 0;
    let mut visit_leaf = |leaf: u32, bounds: &Aabb, node: usize, slot: usize| {
        let leaf = leaf & !LEAF;
        if leaf as usize >= leaves {
            return Err(TreeError::NoSuchLeaf { leaf });
        }
        if leaf_inside(leaf as usize, bounds) {
            Ok(())
        } else {
            Err(TreeError::ChildOutside { node, slot })
        }
    };
    if tree.root & LEAF != 0 {
        visit_leaf(tree.root, &tree.bounds, 0, 0)?;
    } else {
        each_width!(&tree.nodes, nodes => found = validate_nodes(nodes, &tree.bounds, &mut visit_leaf)?);
    }
    if found == tree.depth {
        Ok(())
    } else {
        Err(TreeError::Depth {
            found,
            claimed: tree.depth,
        })
    }
}

/// Returns the number of levels.
fn validate_nodes<const N: usize>(
    nodes: &[Wide<N>],
    root_bounds: &Aabb,
    visit_leaf: &mut impl FnMut(u32, &Aabb, usize, usize) -> Result<(), TreeError>,
) -> Result<u32, TreeError> {
    let mut levels = vec![0u32; nodes.len()];
    let mut bounds = vec![*root_bounds; nodes.len()];
    levels[0] = 1;
    for (node, wide) in nodes.iter().enumerate() {
        for slot in (0..N).filter(|&s| wide.children[s] != EMPTY_CHILD) {
            let (child, child_bounds) = (wide.children[slot], wide.bounds(slot));
            if child_bounds.is_empty() {
                return Err(TreeError::NotANumber { node, slot });
            }
            if !bounds[node].contains(&child_bounds) {
                return Err(TreeError::ChildOutside { node, slot });
            }
            if child & LEAF != 0 {
                visit_leaf(child, &child_bounds, node, slot)?;
                continue;
            }
            if child as usize <= node || child as usize >= nodes.len() {
                return Err(TreeError::Order { node, slot, child });
            }
            levels[child as usize] = levels[node] + 1;
            bounds[child as usize] = child_bounds;
        }
    }
    Ok(levels.into_iter().max().unwrap_or(0))
}
