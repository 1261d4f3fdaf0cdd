//! TLASes that a GPU builds.

use super::*;

border! {
    /// What the instances of a mesh have in common.
    #[repr(C)]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct MeshTree {
        /// The mesh's box in object space.
        pub min: [f32; 3],
        pub max: [f32; 3],
        /// As in [`InstanceUnit`].
        pub root: u32,
        pub mesh_segments: u32,
        pub mesh_leaves: u32,
        pub reach: f32,
        /// 1 if the mesh can be hit.
        pub solid: u32,
        /// Index of the mesh's first cell in `TlasBuild::cells`, or `NO_INDEX`, and number of its cells: 1 or `SUPPORT_CELLS`.
        pub support: u32,
        pub cells: u32,
        pub reserved: u32,
    }

    /// The data of an instance that do not depend on its transform, as in [`InstanceRecord`].
    #[repr(C)]
    #[derive(Default, PartialEq, Eq, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct InstanceKind {
        pub instance: u32,
        pub mesh: u32,
        pub slot_base: u32,
    }

    /// The motion keys of an instance, as in [`InstanceRecord`].
    #[repr(C)]
    #[derive(Default, PartialEq, Eq, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct KeyRange {
        pub first_key: u32,
        pub segments: u32,
    }

    /// A box in world space; empty if `min` is above `max`.
    #[repr(C, align(8))]
    #[derive(Default, PartialEq, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct TreeBox {
        pub min: [f32; 3],
        pub max: [f32; 3],
    }

    /// A tree below the common root of a TLAS.
    #[repr(C, align(8))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct PartRoot {
        pub bounds: TreeBox,
        pub unit: [u32; 20],
    }

    /// A node of the binary tree that becomes a unit.
    #[repr(C)]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct OpenNode {
        pub node: u32,
        /// Index of the unit.
        pub unit: u32,
    }

    /// Numbers that the steps of a build pass on. A build starts with zeros.
    #[repr(C)]
    #[derive(bytemuck::Zeroable, bytemuck::Pod)]
    pub struct TlasState {
        /// Centres of all boxes: greatest coordinates, and greatest complements of coordinates, as integers with the same order.
        pub high: [u32; 3],
        pub low: [u32; 3],
        /// Number of visible instances.
        pub visible: u32,
        /// Number of units after the root.
        pub units: u32,
        /// Number of clusters before each of `TLAS_ROUNDS` rounds of merging, and of inner nodes made before it.
        pub clusters: [u32; 64],
        pub made: [u32; 64],
        /// Number of nodes on each of `TLAS_LEVELS` levels of the finished tree, and below.
        pub open: [u32; 32],
        /// 1 if the tree had too many levels, and neighbours were merged instead.
        pub plain: u32,
        /// The inner node or leaf that is the root of the binary tree.
        pub root: u32,
    }

    /// Parameters of a build.
    #[repr(C)]
    #[derive(bytemuck::Zeroable)]
    pub struct TlasBuild {
        /// Columns of `world_from_object` of each instance, the translation last. May be where the units will be.
        pub transforms: *const f32,
        /// Null if the records have them from an earlier build.
        pub kinds: *const InstanceKind,
        /// Null if no instance has motion keys.
        pub ranges: *const KeyRange,
        pub keys: *const InstanceKey,
        pub meshes: *const MeshTree,
        /// Vertices that may be extreme in a direction, for tight boxes (`SupportMap` in crates/accel): the start of each cell's blocks, and blocks of four
        /// points, the x coordinates first.
        pub cells: *const u32,
        pub blocks: *const f32,
        /// Other trees below a common root. Null if there are none.
        pub others: *const PartRoot,
        /// Output: the record of each instance, and the TLAS.
        pub records: *mut InstanceRecord,
        pub units: *mut Unit,
        /// Boxes and children of the binary tree. Nodes below `count` are instances.
        pub boxes: *mut TreeBox,
        pub children: *mut u32,
        /// Instances and their places on a curve through space: input and output of a sorting pass.
        pub places: [*mut u64; 2],
        pub order: [*mut u32; 2],
        /// Numbers of equal digits in each tile.
        pub digits: *mut u32,
        /// The roots of trees that are not merged yet, before and after a round.
        pub clusters: [*mut u32; 2],
        /// The neighbour of each cluster that fits it best; then the unit of each instance.
        pub nearest: *mut u32,
        /// Numbers of kept clusters and of new nodes in each tile.
        pub sums: *mut u32,
        pub state: *mut TlasState,
        pub count: u32,
        /// Index of the first record, and of the first unit besides the root. The root is unit 0; with other trees, it is moved below the common root.
        pub first_record: u32,
        pub first_unit: u32,
        pub other_count: u32,
        /// Maximum number of levels, at most `TLAS_LEVELS`. A tree with more is replaced by one of neighbours along the curve.
        pub most_levels: u32,
        pub reserved: u32,
    }
}
