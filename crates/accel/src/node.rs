//! The wide nodes of trees, in the widths that devices use.

use crate::Buffer;
use glam::Vec3;
use throng_abi::{EMPTY_CHILD, LEAF};
use throng_base::math::Aabb;

/// A node of `N` children, as wide as the device's SIMD registers: 4, 8 or 16.
///
/// `planes` holds min x, y, z and max x, y, z of every child's box; empty slots have inverted boxes. A child reference is a node index, [`LEAF`] plus
/// a leaf index, or [`EMPTY_CHILD`]. Children come after their parents in the array. Each C++ kernel variant is compiled for one width.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
pub struct Wide<const N: usize> {
    pub planes: [[f32; N]; 6],
    pub children: [u32; N],
}

// SAFETY: the fields are floats and integers, which may be all zeros.
unsafe impl<const N: usize> bytemuck::Zeroable for Wide<N> {}
// SAFETY: the fields are floats and integers, for which any bits are valid, and the rest is padding. It is not `Pod`, because padding must
// not be read.
unsafe impl<const N: usize> bytemuck::AnyBitPattern for Wide<N> {}

/// The node layout that a device uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeLayout {
    /// 4 uncompressed boxes per node, 128 bytes (SSE, NEON).
    Wide4,
    /// 8 boxes, 256 bytes (AVX2).
    Wide8,
    /// 16 boxes, 448 bytes (AVX-512).
    Wide16,
    /// 8 quantised boxes in 80 bytes ([`CompressedNode`](throng_abi::CompressedNode)), built from a tree of [`Wide8`](Self::Wide8) nodes with one
    /// primitive per leaf (GPUs).
    Compressed8,
}

impl NodeLayout {
    /// All layouts.
    pub const ALL: [Self; 4] = [Self::Wide4, Self::Wide8, Self::Wide16, Self::Compressed8];
}

/// The nodes of one tree, parents before children. The root's own box is not stored in a node.
#[derive(Clone)]
pub enum NodeArray {
    Wide4(Buffer<Wide<4>>),
    Wide8(Buffer<Wide<8>>),
    Wide16(Buffer<Wide<16>>),
}

/// Runs `$body` with `$nodes` bound to the buffer of the array's width.
macro_rules! each_width {
    ($array:expr, $nodes:ident => $body:expr) => {
        match $array {
            $crate::node::NodeArray::Wide4($nodes) => $body,
            $crate::node::NodeArray::Wide8($nodes) => $body,
            $crate::node::NodeArray::Wide16($nodes) => $body,
        }
    };
}
pub(super) use each_width;

impl NodeArray {
    pub fn new(layout: NodeLayout) -> Self {
        match layout {
            NodeLayout::Wide4 => Self::Wide4(Buffer::new()),
            NodeLayout::Wide8 | NodeLayout::Compressed8 => Self::Wide8(Buffer::new()),
            NodeLayout::Wide16 => Self::Wide16(Buffer::new()),
        }
    }

    /// Address of the first node, for the kernels.
    pub fn address(&self) -> *const () {
        each_width!(self, n => n.as_ptr().cast())
    }

    pub fn count(&self) -> usize {
        each_width!(self, n => n.len())
    }

    pub fn bytes(&self) -> usize {
        each_width!(self, n => n.bytes())
    }

    /// Children per node.
    pub fn width(&self) -> usize {
        match self {
            Self::Wide4(_) => 4,
            Self::Wide8(_) => 8,
            Self::Wide16(_) => 16,
        }
    }
}

/// A finished tree over primitives; its owner defines the meaning of leaf references.
#[derive(Clone)]
pub struct Tree {
    pub layout: NodeLayout,
    pub nodes: NodeArray,
    /// Reference to the root: node 0, a single leaf, or [`EMPTY_CHILD`] for an empty tree.
    pub root: u32,
    /// Number of node levels on the longest path; 0 if the root is a leaf.
    pub depth: u32,
    pub bounds: Aabb,
}

impl Tree {
    pub fn new(layout: NodeLayout) -> Self {
        Self { layout, nodes: NodeArray::new(layout), root: EMPTY_CHILD, depth: 0, bounds: Aabb::EMPTY }
    }

    /// Numbers all leaves in order. Returns what the reference of each leaf was, without [`LEAF`].
    pub(crate) fn number_leaves(&mut self) -> Vec<u32> {
        let mut leaves = Vec::new();
        let mut renumber = |child: &mut u32| {
            if *child & LEAF != 0 && *child != EMPTY_CHILD {
                let leaf = *child & !LEAF;
                *child = LEAF | leaves.len() as u32;
                leaves.push(leaf);
            }
        };
        renumber(&mut self.root);
        each_width!(&mut self.nodes, nodes => nodes.iter_mut().flat_map(|n| &mut n.children).for_each(renumber));
        leaves
    }

    /// Maximum number of traversal stack entries: on each level, all children except the one that is entered. In a compressed tree, one entry
    /// represents all of them.
    pub fn stack_entries(&self) -> usize {
        match self.layout {
            NodeLayout::Compressed8 => self.depth as usize,
            _ => self.depth as usize * (self.nodes.width() - 1) + 1,
        }
    }

    /// Expected cost of a ray through the bounds, by the surface area heuristic: one unit per visited node, `leaf_cost` per leaf. A tree without
    /// nodes or without area costs `leaf_cost`.
    pub fn sah_cost(&self, leaf_cost: f32) -> f32 {
        let root_area = self.bounds.half_area();
        if self.root & LEAF != 0 || root_area <= 0.0 {
            return leaf_cost;
        }
        let children: f64 = each_width!(&self.nodes, nodes => nodes.iter().flat_map(|n| n.occupied()).map(|(slot_box, child)| {
            let cost = if child & LEAF != 0 { leaf_cost } else { 1.0 };
            f64::from(slot_box.half_area() * cost)
        }).sum());
        1.0 + (children / f64::from(root_area)) as f32
    }
}

impl<const N: usize> Wide<N> {
    /// A node with no children.
    pub const EMPTY: Self = Self {
        planes: {
            let mut planes = [[f32::INFINITY; N]; 6];
            planes[3] = [f32::NEG_INFINITY; N];
            planes[4] = [f32::NEG_INFINITY; N];
            planes[5] = [f32::NEG_INFINITY; N];
            planes
        },
        children: [EMPTY_CHILD; N],
    };

    pub fn bounds(&self, slot: usize) -> Aabb {
        let p = &self.planes;
        Aabb { min: Vec3::new(p[0][slot], p[1][slot], p[2][slot]), max: Vec3::new(p[3][slot], p[4][slot], p[5][slot]) }
    }

    pub fn set(&mut self, slot: usize, bounds: &Aabb, child: u32) {
        for axis in 0..3 {
            self.planes[axis][slot] = bounds.min[axis];
            self.planes[axis + 3][slot] = bounds.max[axis];
        }
        self.children[slot] = child;
    }

    /// Removes the child in `slot`.
    pub fn clear(&mut self, slot: usize) {
        self.set(slot, &Aabb::EMPTY, EMPTY_CHILD);
    }

    /// Box and reference of each child.
    pub fn occupied(&self) -> impl Iterator<Item = (Aabb, u32)> + '_ {
        (0..N).filter(|&i| self.children[i] != EMPTY_CHILD).map(|i| (self.bounds(i), self.children[i]))
    }

    /// The box around all children.
    pub fn union(&self) -> Aabb {
        self.occupied().fold(Aabb::EMPTY, |b, (child, _)| b.union(child))
    }
}
