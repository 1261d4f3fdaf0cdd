//! Validation of trees right after they were built; debug builds validate every tree.

#![cfg_attr(not(any(debug_assertions, test)), expect(dead_code, reason = "release builds trust their trees"))]

use crate::{
    Surface, Tlas, TlasInput,
    node::{NodeLayout, Tree, Wide, each_width},
    pack::{Pack, Packs, each_kind},
};
use glam::{DVec3, Vec3};
use throng_abi::{EMPTY_CHILD, LEAF, NO_INDEX};
use throng_base::math::Aabb;

/// An error in a tree.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum TreeError {
    #[error("node {node}, slot {slot}: the child's box is not inside its parent's")]
    ChildOutside { node: usize, slot: usize },
    #[error("node {node}, slot {slot}: child {child} does not come after its parent")]
    Order { node: usize, slot: usize, child: u32 },
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
    #[error("some of triangle {prim} is in no leaf's box")]
    NotCovered { prim: usize },
    #[error("the tree has {found} levels, not {claimed}")]
    Depth { found: u32, claimed: u32 },
}

/// Checks that each triangle has at least one leaf, that children are inside their parents, and that boxes enclose their triangles, or parts that
/// together cover them.
pub fn validate_blas(tree: &Tree, packs: &Packs, surface: &Surface<'_>) -> Result<(), TreeError> {
    each_kind!(packs, packs => validate_packs(tree, packs, surface))
}

fn validate_packs<P: Pack>(tree: &Tree, packs: &[P], surface: &Surface<'_>) -> Result<(), TreeError> {
    let named = packs.iter().flat_map(|pack| pack.prims());
    let named = named.copied().filter(|&prim| prim != NO_INDEX);
    let mut coverage = Coverage::new(named, surface);
    validate(tree, packs.len(), |leaf, bounds| {
        let pack = &packs[leaf];
        let lanes = pack.prims().iter().enumerate();
        lanes.filter(|(_, prim)| **prim != NO_INDEX).all(|(lane, &prim)| {
            let follows = pack.corners(lane) == surface.corners(prim as usize);
            let whole = !coverage.is_in_parts(prim);
            coverage.add(prim, bounds);
            follows && (!whole || bounds.contains(&surface.bounds(prim as usize)))
        })
    })?;
    coverage.check()
}

/// Records the leaves of each triangle, to check that their boxes cover it.
pub struct Coverage<'a> {
    surface: &'a Surface<'a>,
    /// For each triangle, the number of its leaves, and the number of visited ones.
    leaves: Vec<u32>,
    met: Vec<u32>,
    /// Each leaf of a triangle with several leaves, with its box.
    parts: Vec<(u32, Aabb)>,
}

impl<'a> Coverage<'a> {
    /// `named`: the triangles of all leaves.
    pub fn new(named: impl Iterator<Item = u32>, surface: &'a Surface<'a>) -> Self {
        let mut leaves = vec![0; surface.triangles.len()];
        named.for_each(|prim| leaves[prim as usize] += 1);
        Self { surface, met: vec![0; leaves.len()], leaves, parts: Vec::new() }
    }

    /// Whether several leaves refer to a triangle.
    pub fn is_in_parts(&self, prim: u32) -> bool {
        self.leaves[prim as usize] > 1
    }

    /// Records a leaf inside `bounds` that refers to triangle `prim`.
    pub fn add(&mut self, prim: u32, bounds: &Aabb) {
        self.met[prim as usize] += 1;
        if self.is_in_parts(prim) {
            self.parts.push((prim, *bounds));
        }
    }

    /// Checks that each triangle has a leaf, and that all leaves were visited. For triangles with several leaves, checks that each sampled point is
    /// inside one of their boxes.
    pub fn check(mut self) -> Result<(), TreeError> {
        let mut pairs = self.met.iter().zip(&self.leaves);
        if let Some(prim) = pairs.position(|(met, leaves)| *met == 0 || met != leaves) {
            let times = self.met[prim];
            return Err(TreeError::Count { prim, times });
        }
        self.parts.sort_by_key(|(prim, _)| *prim);
        for parts in self.parts.chunk_by(|a, b| a.0 == b.0) {
            let prim = parts[0].0 as usize;
            // Rounding error of the points.
            let reach = self.surface.bounds(prim).reach().max_element();
            let slack = DVec3::splat(1e-12 * f64::from(reach));
            let holds = |(_, bounds): &(u32, Aabb), p: DVec3| {
                let (min, max) = (bounds.min.as_dvec3() - slack, bounds.max.as_dvec3() + slack);
                min.cmple(p).all() && max.cmpge(p).all()
            };
            let mut points = points_of(prim, self.surface);
            if !points.all(|p| parts.iter().any(|part| holds(part, p))) {
                return Err(TreeError::NotCovered { prim });
            }
        }
        Ok(())
    }
}

/// Points spread evenly over a triangle.
fn points_of(prim: usize, surface: &Surface<'_>) -> impl Iterator<Item = DVec3> {
    const STEPS: u32 = 12;
    let [a, b, c] = surface.corners(prim).map(|p| Vec3::from(p).as_dvec3());
    let pairs = (0..=STEPS).flat_map(|i| (0..=STEPS - i).map(move |j| (i, j)));
    pairs.map(move |(i, j)| {
        let (u, v) = (f64::from(i) / f64::from(STEPS), f64::from(j) / f64::from(STEPS));
        a + (b - a) * u + (c - a) * v
    })
}

/// Checks that each instance of the input has exactly one leaf, that children are inside their parents, and that boxes enclose their instances.
pub fn validate_tlas(tlas: &Tlas, input: TlasInput<'_>) -> Result<(), TreeError> {
    if tlas.tree.layout == NodeLayout::Compressed8 {
        return crate::compressed::validate::validate_tlas(tlas, input);
    }
    let positions = input.positions();
    let mut seen = vec![0u32; input.instances.len()];
    validate(&tlas.tree, tlas.records.len(), |leaf, bounds| {
        let position = positions.get(&tlas.records[leaf].instance).copied();
        position.is_some_and(|position| {
            seen[position] += 1;
            input.bounds(position, &tlas.shutter).is_none_or(|b| bounds.contains(&b))
        })
    })?;
    each_once(&seen)
}

fn each_once(seen: &[u32]) -> Result<(), TreeError> {
    match seen.iter().position(|&times| times != 1) {
        Some(prim) => Err(TreeError::Count { prim, times: seen[prim] }),
        None => Ok(()),
    }
}

fn validate(tree: &Tree, leaves: usize, mut leaf_inside: impl FnMut(usize, &Aabb) -> bool) -> Result<(), TreeError> {
    if tree.root == EMPTY_CHILD {
        return Ok(());
    }
    let mut found = 0;
    let mut visit_leaf = |leaf: u32, bounds: &Aabb, node: usize, slot: usize| {
        let leaf = leaf & !LEAF;
        if leaf as usize >= leaves {
            return Err(TreeError::NoSuchLeaf { leaf });
        }
        if leaf_inside(leaf as usize, bounds) { Ok(()) } else { Err(TreeError::ChildOutside { node, slot }) }
    };
    if tree.root & LEAF != 0 {
        visit_leaf(tree.root, &tree.bounds, 0, 0)?;
    } else {
        each_width!(&tree.nodes, nodes => found = validate_nodes(nodes, &tree.bounds, &mut visit_leaf)?);
    }
    if found == tree.depth { Ok(()) } else { Err(TreeError::Depth { found, claimed: tree.depth }) }
}

/// Checks all nodes and returns the number of levels.
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
