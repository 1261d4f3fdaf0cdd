//! Frames in which most instances stand still: trees over instances that stand still are built once. In each frame, the tree over the others is built
//! and joined to them under a common root.

use crate::{
    Buffer, NodeArray, NodeLayout, Tlas,
    compressed::{compress::root_of, walk::walk_units},
    node::{Tree, Wide, each_width},
};
use glam::Vec3;
use std::sync::Arc;
use throng_abi::{CompressedNode, EMPTY_CHILD, InstanceRecord, InstanceUnit, LEAF, PartRoot, TreeBox, Unit};
use throng_base::math::Aabb;

/// Maximum number of trees over instances that stand still in a TLAS.
const MOST_STILL: usize = 2;
/// Number of units before all others: the common root, and the root of each part.
const ROOT_UNITS: usize = 1 + MOST_STILL + 1;

/// The tree over instances that stand still, with its references as they are in the TLASes that are joined to it. Any number of TLASes may be.
pub struct StillTree {
    root: Root,
    /// Nodes of trees that are not compressed.
    nodes: NodeArray,
    /// Units but the root.
    units: Buffer<Unit>,
    records: Buffer<InstanceRecord>,
    end: Place,
}

/// The root of a part of a TLAS.
#[derive(Clone, Copy)]
struct Root {
    bounds: Aabb,
    /// Reference to it from the common root.
    child: u32,
    /// Its unit, in compressed trees.
    unit: Unit,
    depth: u32,
}

/// A place in the arrays of a TLAS, as numbers of elements before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    nodes: usize,
    /// Number of units.
    pub units: usize,
    /// Number of records.
    pub records: usize,
}

impl Place {
    /// Behind the common root and the roots of all parts.
    pub const FIRST: Self = Self { nodes: 1, units: ROOT_UNITS, records: 0 };

    fn child(self, child: u32) -> u32 {
        match child {
            EMPTY_CHILD => EMPTY_CHILD,
            leaf if leaf & LEAF != 0 => LEAF | ((leaf & !LEAF) + self.records as u32),
            node => node + self.nodes as u32,
        }
    }
}

impl StillTree {
    /// Takes the parts of a TLAS whose instances have no motion keys and are in no assembly, to place them behind `others`.
    pub fn new(tlas: &Tlas, others: &[Arc<Self>]) -> Self {
        let place = end_of(others);
        let (root, units) = part(tlas, place);
        let mut nodes = NodeArray::new(tlas.tree.layout);
        if tlas.tree.layout != NodeLayout::Compressed8 {
            extend_nodes(&mut nodes, 0, &tlas.tree.nodes, place);
        }
        let units = Buffer::copied(&units);
        let end = Place {
            nodes: place.nodes + nodes.count(),
            units: place.units + units.len(),
            records: place.records + tlas.records.len(),
        };
        Self { root, nodes, units, records: Buffer::copied(&tlas.records), end }
    }

    /// Where its part of a TLAS ends. What is between [`Place::FIRST`] and there is equal in all TLASes with this tree.
    pub fn end(&self) -> Place {
        self.end
    }

    /// The root, for devices that join trees.
    pub fn root(&self) -> PartRoot {
        let Aabb { min, max } = self.root.bounds;
        PartRoot { bounds: TreeBox { min: min.into(), max: max.into() }, unit: self.root.unit.words }
    }

    /// Its units and records, which end at [`Self::end`].
    pub fn contents(&self) -> (&[Unit], &[InstanceRecord]) {
        (&self.units, &self.records)
    }
}

/// The place behind still trees.
fn end_of(still: &[Arc<StillTree>]) -> Place {
    still.last().map_or(Place::FIRST, |last| last.end)
}

/// Number of trees at the start of both lists.
fn common_trees(a: &[Arc<StillTree>], b: &[Arc<StillTree>]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| Arc::ptr_eq(a, b)).count()
}

/// The root of a TLAS that becomes a part at `place` of another one, and its other units.
fn part(tlas: &Tlas, place: Place) -> (Root, Vec<Unit>) {
    let Tree { bounds, root, depth, layout, .. } = tlas.tree;
    let mut units = tlas.units.to_vec();
    // Units but the root follow it, and it is elsewhere.
    let node = |node: &mut CompressedNode| node.unit_base += place.units as u32 - 1;
    walk_units(&mut units, node, |unit: &mut InstanceUnit| unit.record += place.records as u32);
    let unit = units.first().copied().unwrap_or_default();
    units.drain(..units.len().min(1));
    // In compressed trees, the root of an empty part is a node without children.
    let depth = depth.max((layout == NodeLayout::Compressed8).into());
    (Root { bounds, child: place.child(root), unit, depth }, units)
}

impl Tlas {
    /// Replaces this TLAS by the trees `still`, at most two, and by `moving`, a TLAS of the same layout without assemblies. What it has of `still` already
    /// is kept. The shutter keys are exchanged with `moving`.
    pub fn join(&mut self, still: &[Arc<StillTree>], moving: &mut Tlas) {
        let is_compressed = moving.tree.layout == NodeLayout::Compressed8;
        let kept = common_trees(&self.still, still);
        if kept == 0 {
            self.units.resize(if is_compressed { ROOT_UNITS } else { 0 }, Unit::default());
            self.tree = Tree::new(moving.tree.layout);
            each_width!(&mut self.tree.nodes, nodes => nodes.resize(1, Wide::EMPTY));
        }
        let mut place = end_of(&still[..kept]);
        for tree in &still[kept..] {
            self.records.extend_from(place.records, &tree.records, |record| *record);
            if is_compressed {
                self.units.extend_from(place.units, &tree.units, |unit| *unit);
            } else {
                extend_nodes(&mut self.tree.nodes, place.nodes, &tree.nodes, Place { nodes: 0, units: 0, records: 0 });
            }
            place = tree.end;
        }
        let (root, units) = part(moving, place);
        self.records.extend_from(place.records, &moving.records, |record| *record);
        if is_compressed {
            self.units.extend_from(place.units, &units, |unit| *unit);
        } else {
            extend_nodes(&mut self.tree.nodes, place.nodes, &moving.tree.nodes, place);
        }
        self.place_roots(still.iter().map(|tree| tree.root).chain([root]).collect(), is_compressed);
        std::mem::swap(&mut self.shutter, &mut moving.shutter);
        (self.origin, self.nested, self.unbuilt) = (moving.origin, None, None);
        self.still = still.to_vec();
    }

    fn place_roots(&mut self, mut parts: Vec<Root>, is_compressed: bool) {
        let bounds = parts.iter().fold(Aabb::EMPTY, |all, part| all.union(part.bounds));
        let bounds = if bounds.is_empty() { Aabb { min: Vec3::ZERO, max: Vec3::ZERO } } else { bounds };
        let depth = 1 + parts.iter().map(|part| part.depth).max().unwrap_or(0);
        (self.tree.root, self.tree.depth, self.tree.bounds) = (0, depth, bounds);
        if is_compressed {
            // All of the root units are in use, if only by nodes without children.
            let nothing = Root { bounds: Aabb::EMPTY, child: EMPTY_CHILD, unit: Unit::default(), depth: 1 };
            parts.resize(ROOT_UNITS - 1, nothing);
            let corner = Aabb { min: bounds.min, max: bounds.min };
            let mut node = Wide::<8>::EMPTY;
            for (slot, part) in parts.iter().enumerate() {
                node.set(slot, if part.bounds.is_empty() { &corner } else { &part.bounds }, slot as u32);
            }
            let (root, order) = root_of(&node);
            self.units[0] = root;
            for (to, part) in self.units[1..].iter_mut().zip(order) {
                *to = parts[part as usize].unit;
            }
        } else {
            each_width!(&mut self.tree.nodes, nodes => {
                nodes[0] = Wide::EMPTY;
                for (slot, part) in parts.iter().enumerate().filter(|(_, part)| part.child != EMPTY_CHILD) {
                    nodes[0].set(slot, &part.bounds, part.child);
                }
            });
        }
    }
}

/// Replaces all but the first `kept` nodes by nodes of a part at `place`.
fn extend_nodes(to: &mut NodeArray, kept: usize, nodes: &NodeArray, place: Place) {
    match (to, nodes) {
        (NodeArray::Wide4(to), NodeArray::Wide4(nodes)) => to.extend_from(kept, nodes, |node| placed(node, place)),
        (NodeArray::Wide8(to), NodeArray::Wide8(nodes)) => to.extend_from(kept, nodes, |node| placed(node, place)),
        (NodeArray::Wide16(to), NodeArray::Wide16(nodes)) => to.extend_from(kept, nodes, |node| placed(node, place)),
        _ => unreachable!("the trees of a device have one layout"),
    }
}

fn placed<const N: usize>(node: &Wide<N>, place: Place) -> Wide<N> {
    Wide { planes: node.planes, children: node.children.map(|child| place.child(child)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Blas, Quality, TlasBuilder, TlasInput};
    use glam::Affine3;
    use std::{ops::Range, slice};
    use throng_base::math::hash_unit;
    use throng_scene::{Instance, Mesh, NONE, Shape, TriangleMesh};

    /// A sphere and a triangle.
    fn meshes(layout: NodeLayout) -> Vec<Arc<Blas>> {
        let triangle = TriangleMesh {
            positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            triangles: vec![[0, 1, 2]],
            ..TriangleMesh::default()
        };
        let shapes = [Shape::Sphere, Shape::Triangles(triangle)];
        let mesh = |shape| Mesh { name: String::new(), shape, slot_count: 1 };
        shapes.map(|shape| Arc::new(Blas::build(&mesh(shape), layout, Quality::High))).to_vec()
    }

    /// Where an instance is at a time; every ninth one cannot be shown.
    fn place(id: u32, time: u32) -> Affine3 {
        let at = Vec3::from([0, 1, 2].map(|axis| 50.0 * hash_unit(3 * time + axis, id)));
        Affine3::from_scale(Vec3::splat(if id % 9 == 4 { f32::INFINITY } else { 1.0 })) * Affine3::from_translation(at)
    }

    struct Parts {
        instances: Vec<Instance>,
        transforms: Vec<Affine3>,
        ids: Vec<u32>,
    }

    impl Parts {
        fn new(ids: impl Iterator<Item = u32>, time: impl Fn(u32) -> u32) -> Self {
            let ids: Vec<u32> = ids.collect();
            let instance = |&id: &u32| Instance {
                local: Affine3::IDENTITY,
                node: NONE,
                mesh: id % 2,
                slot_base: id,
                motion: NONE,
            };
            let transforms = ids.iter().map(|&id| place(id, time(id))).collect();
            Self { instances: ids.iter().map(instance).collect(), transforms, ids }
        }

        fn input<'a>(&'a self, blas: &'a [Arc<Blas>]) -> TlasInput<'a> {
            TlasInput {
                instances: &self.instances,
                ids: &self.ids,
                meshes: &[],
                groups: None,
                world_from_object: &self.transforms,
                blas,
                careful: true,
            }
        }

        fn build(&self, blas: &[Arc<Blas>], layout: NodeLayout, quality: Quality) -> Tlas {
            let mut tlas = Tlas::new(layout);
            TlasBuilder::default().build(self.input(blas), quality, &mut tlas);
            tlas
        }
    }

    #[test]
    fn joined_trees_hold_each_instance_once_in_every_frame() {
        for layout in NodeLayout::ALL {
            let blas = meshes(layout);
            let tree = |ids: Range<u32>, others: &[Arc<StillTree>]| {
                let tlas = Parts::new(ids, |_| 0).build(&blas, layout, Quality::High);
                Arc::new(StillTree::new(&tlas, others))
            };
            // The last of these parts consist of one visible instance, of a hidden one, and of none.
            for always in [0..600, 600..601, 4..5, 0..0] {
                let base = tree(always.clone(), &[]);
                let [some, others] = [700..750, 760..761].map(|ids| (ids.clone(), tree(ids, slice::from_ref(&base))));
                let mut joined = Tlas::new(layout);
                for (time, resting, moving) in [
                    (1, None, 1000..1300),
                    (2, None, 1000..1001),
                    (3, Some(&some), 1003..1004),
                    (4, Some(&some), 1000..1000),
                    (5, Some(&others), 1000..1700),
                    (6, None, 1000..1100),
                ] {
                    let mut own = Parts::new(moving.clone(), |_| time).build(&blas, layout, Quality::Fast);
                    let trees = [&base].into_iter().chain(resting.map(|(_, tree)| tree)).cloned();
                    joined.join(&trees.collect::<Vec<_>>(), &mut own);
                    let ids = always.clone().chain(resting.into_iter().flat_map(|(ids, _)| ids.clone())).chain(moving);
                    let whole = Parts::new(ids, |id| if id < 1000 { 0 } else { time });
                    joined.check(whole.input(&blas)).unwrap();
                    assert_eq!(joined.records.len(), whole.ids.len());
                }
            }
        }
    }
}
