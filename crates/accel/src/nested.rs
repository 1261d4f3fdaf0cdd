//! Trees of more than two levels: the trees of assemblies follow the world's tree in common arrays, so that kernels reach all records, units and keys
//! from one base address each.

use crate::{
    Blas, BlasShape, Buffer, Tlas, Tree,
    compressed::walk::walk_units,
    node::{Wide, each_width},
    support::SupportMap,
};
use glam::Vec3;
use rayon::prelude::*;
use std::{collections::VecDeque, ops::Range, sync::Arc};
use throng_abi::{EMPTY_CHILD, INSTANCE_IS_ASSEMBLY, InstanceRecord, InstanceUnit, LEAF, NO_INDEX, NestLevel, Unit};
use throng_base::math::Aabb;
use throng_scene::Numbers;

/// Approximate number of boxes whose corners represent the content of a tree when boxes of its instances are computed.
const OUTLINE: usize = 1024;

/// The tree of an assembly.
pub struct AssemblyTree {
    pub tlas: Tlas,
    /// Number of the assembly.
    pub number: u32,
    /// Stack entries and node levels that a ray needs below this tree.
    below: (usize, u32),
}

impl AssemblyTree {
    /// Builds the tree of an assembly. `outlined`: instances get tight boxes, which takes a few milliseconds.
    pub fn build(tlas: Tlas, number: u32, blas: &[Arc<Blas>], outlined: bool) -> Blas {
        let mut parts: Vec<u32> = tlas.records.iter().map(|record| record.mesh).collect();
        parts.sort_unstable();
        parts.dedup();
        let all = || parts.iter().map(|&part| &blas[part as usize]);
        let below = (
            all().map(|part| part.stack_entries()).max().unwrap_or(0),
            all().map(|part| part.depth()).max().unwrap_or(0),
        );
        let support = outlined.then(|| SupportMap::new(&outline(&tlas.tree)));
        let (bounds, build_time) = (tlas.bounds(), tlas.build_time);
        Blas::of_assembly(Self { tlas, number, below }, bounds, support, build_time)
    }

    /// Number of node levels on the longest path to a triangle.
    pub fn depth(&self) -> u32 {
        self.tlas.tree.depth + self.below.1
    }

    /// Stack entries that a ray needs for this tree and the trees below it.
    pub fn stack_entries(&self) -> usize {
        self.tlas.tree.stack_entries() + self.below.0
    }
}

/// Corners of boxes that enclose the content of a tree.
pub fn outline(tree: &Tree) -> Vec<Vec3> {
    let corners = |boxes: Vec<Aabb>| boxes.iter().flat_map(|bounds| bounds.corners()).collect();
    match tree.root {
        EMPTY_CHILD => vec![Vec3::ZERO],
        root if root & LEAF != 0 => corners(vec![tree.bounds]),
        _ => each_width!(&tree.nodes, nodes => corners(boxes_of(nodes))),
    }
}

/// About [`OUTLINE`] boxes of a tree, none of them an ancestor of another.
fn boxes_of<const N: usize>(nodes: &[Wide<N>]) -> Vec<Aabb> {
    let (mut open, mut boxes) = (VecDeque::from([0]), Vec::new());
    while let Some(node) = open.pop_front() {
        let wide = &nodes[node];
        for slot in (0..N).filter(|&slot| wide.children[slot] != EMPTY_CHILD) {
            let child = wide.children[slot];
            if child & LEAF == 0 && open.len() + boxes.len() < OUTLINE {
                open.push_back(child as usize);
            } else {
                boxes.push(wide.bounds(slot));
            }
        }
    }
    boxes
}

/// The levels of a scene with assemblies, and the numbers that identify paths through them.
pub struct Nested {
    /// The world, then each assembly.
    pub levels: Vec<NestLevel>,
    pub numbers: Numbers,
    /// For each instance of the scene, the index of its record, or `NO_INDEX` if it is hidden.
    pub records_of: Vec<u32>,
    /// For each record, the index of its instance in the scene.
    pub indices: Vec<u32>,
    /// Number of records of the world, which come first.
    world_records: usize,
}

impl Nested {
    /// Levels, numbers, records and indices, as bytes.
    pub fn parts(&self) -> [&[u8]; 4] {
        [
            bytemuck::cast_slice(&self.levels),
            bytemuck::cast_slice(&self.numbers.of),
            bytemuck::cast_slice(&self.records_of),
            bytemuck::cast_slice(&self.indices),
        ]
    }

    pub fn bytes(&self) -> usize {
        self.parts().iter().map(|part| part.len()).sum()
    }
}

impl Tlas {
    /// The records of the world.
    pub fn world_records(&self) -> &[InstanceRecord] {
        let all = self.nested.as_ref().map_or(self.records.len(), |nested| nested.world_records);
        &self.records[..all]
    }

    /// The record ranges of the world and of each assembly.
    pub fn level_records(&self) -> Vec<Range<usize>> {
        let inner = self.nested.iter().flat_map(|nested| &nested.levels[1..]).map(|level| level.first_record as usize);
        let ends = inner.clone().chain([self.record_count()]);
        [0].into_iter().chain(inner).zip(ends).map(|(start, end)| start..end).collect()
    }

    /// Appends the trees of assemblies to this one. `world` is the scene's range of instances in the world, and `levels` are the ranges of each
    /// assembly. The trees of assemblies are the last ones of `blas`. Indices of the scene in records are replaced by `numbers`.
    pub fn add_assemblies(
        &mut self,
        world: Range<usize>,
        levels: &[Range<usize>],
        numbers: &Numbers,
        blas: &[Arc<Blas>],
    ) {
        let trees = blas[blas.len() - levels.len()..].iter().map(|blas| match &blas.shape {
            BlasShape::Assembly(tree) => &tree.tlas,
            _ => unreachable!("assemblies have trees of assemblies"),
        });
        let trees: Vec<&Tlas> = trees.collect();
        let world_records = self.records.len();
        let starts = Starts::new(self, &trees);
        let mut records_of = vec![NO_INDEX; numbers.of.len()];
        let mut indices = Vec::with_capacity(numbers.of.len());
        let ranges = [&world].into_iter().chain(levels);
        let all = [&*self].into_iter().chain(trees.iter().copied());
        let mut nest_levels = Vec::with_capacity(1 + levels.len());
        for ((range, tree), start) in ranges.zip(all).zip(&starts.0) {
            let own = &numbers.of[range.clone()];
            for (record, at) in tree.records.iter().zip(start.records..) {
                records_of[record.instance as usize] = at;
                indices.push(record.instance);
            }
            // Numbers are even if all instances, except perhaps the last, contain as many meshes as the first one.
            let step = own.get(1).copied().unwrap_or(0);
            let even = own.iter().zip(0u32..).all(|(&number, i)| number == i.wrapping_mul(step));
            nest_levels.push(NestLevel {
                first: range.start as u32,
                count: range.len() as u32,
                even: if even { step } else { 0 },
                first_record: start.records,
            });
        }
        let records = |tree: &Tlas, start: &Start| {
            let moved = tree
                .records
                .iter()
                .map(|record| InstanceRecord { first_key: record.first_key + start.keys, ..placed(record, numbers) });
            moved.collect::<Vec<_>>()
        };
        let units = trees.iter().zip(&starts.0[1..]).map(|(tree, start)| moved_units(tree, numbers, start, &starts));
        let units = joined(&moved_units(self, numbers, &starts.0[0], &starts), units);
        self.records.par_iter_mut().for_each(|record| *record = placed(record, numbers));
        let records = joined(&self.records, trees.iter().zip(&starts.0[1..]).map(|(tree, start)| records(tree, start)));
        (self.records, self.units) = (records, units);
        trees.iter().for_each(|tree| self.shutter.keys.extend_from_slice(&tree.shutter.keys));
        self.nested =
            Some(Nested { levels: nest_levels, numbers: numbers.clone(), records_of, indices, world_records });
    }
}

/// Offsets of a tree's part in the common arrays.
#[derive(Clone, Copy, Default)]
struct Start {
    records: u32,
    units: u32,
    keys: u32,
}

/// The start of the world's part and of each assembly's.
struct Starts(Vec<Start>);

impl Starts {
    fn new(world: &Tlas, trees: &[&Tlas]) -> Self {
        let mut next = Start::default();
        let all = [world].into_iter().chain(trees.iter().copied());
        let start = |tree: &Tlas| {
            let own = next;
            next.records += tree.records.len() as u32;
            next.units += tree.units.len() as u32;
            next.keys += tree.shutter.keys.len() as u32;
            own
        };
        Self(all.map(start).collect())
    }
}

fn joined<T: Copy + Send + Sync>(world: &[T], parts: impl Iterator<Item = Vec<T>>) -> Buffer<T> {
    let parts: Vec<Vec<T>> = parts.collect();
    let parts: Vec<&[T]> = parts.iter().map(|part| &part[..]).collect();
    let mut all = Buffer::new();
    all.refill_joined(world, &parts, |element, _| element);
    all
}

/// The record for scenes with assemblies: with the translation of `world_from_object` in `object_from_world`, and a number instead of an index.
fn placed(record: &InstanceRecord, numbers: &Numbers) -> InstanceRecord {
    let mut placed = InstanceRecord { instance: numbers.of[record.instance as usize], ..*record };
    for last in [3, 7, 11] {
        placed.object_from_world[last] = record.world_from_object[last];
    }
    placed
}

/// The units of a compressed tree after moving to `start`. Instances of assemblies refer to the assemblies' trees, and instances match their future
/// records.
fn moved_units(tree: &Tlas, numbers: &Numbers, start: &Start, starts: &Starts) -> Vec<Unit> {
    let mut units = tree.units.to_vec();
    let instance = |unit: &mut InstanceUnit| {
        let record = placed(&tree.records[unit.record as usize], numbers);
        unit.object_from_world = record.object_from_world;
        unit.instance = record.instance;
        unit.record += start.records;
        unit.first_key += start.keys;
        if record.flags & INSTANCE_IS_ASSEMBLY != 0 {
            unit.root = starts.0[record.slot_base as usize].units;
        }
    };
    walk_units(&mut units, |node| node.unit_base += start.units, instance);
    units
}
