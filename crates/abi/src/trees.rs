//! Rays, hits and acceleration trees.

use super::*;

border! {
    // In frames with motion, rays store their time in the shutter interval in place of `t_min` (kernels' `Time`, geom/motion.h), and start at
    // distance 0.
    /// A ray in world space, and the record of `.ray` files. Its points are `origin + t * direction` for `t` from `t_min` to `t_max`, so `t` is in
    /// units of the direction's length.
    #[repr(C, align(16))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct Ray {
        /// Start point in scene units.
        pub origin: [f32; 3],
        /// Must not be negative.
        pub t_min: f32,
        /// Vector of any length from 1e-15 to 1e15.
        pub direction: [f32; 3],
        /// Infinity for an unbounded ray.
        pub t_max: f32,
    }

    /// The result of tracing a ray. `t` is negative for a miss.
    #[repr(C, align(8))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct Hit {
        pub t: f32,
        /// Barycentric weights of the triangle's second and third vertex.
        pub u: f32,
        pub v: f32,
        /// Index of the triangle in the mesh.
        pub prim: u32,
        /// Index of the instance in the scene. With assemblies, the number of the hit mesh after expanding all assemblies into copies. If there are
        /// 2^32 copies or more, consecutive meshes of a level share a number.
        pub instance: u32,
        /// Index of the instance's record in the frame's TLAS.
        pub record: u32,
    }

    /// Up to eight triangles of a BLAS leaf. Unused lanes repeat the first triangle with `prim` = `NO_INDEX`.
    #[repr(C, align(64))]
    #[derive(bytemuck::Zeroable, bytemuck::Pod)]
    pub struct TrianglePack {
        /// `[vertex][axis][lane]`, object space.
        pub vertices: [[[f32; 8]; 3]; 3],
        pub prim: [u32; 8],
    }

    /// Up to sixteen triangles of a BLAS leaf with at most sixteen distinct vertices. Unused lanes repeat the first triangle with `prim` =
    /// `NO_INDEX`.
    #[repr(C, align(64))]
    #[derive(bytemuck::Zeroable, bytemuck::Pod)]
    pub struct SharedPack {
        /// `[axis][vertex]`, object space.
        pub vertices: [[f32; 16]; 3],
        /// `[corner][lane]`: index of the vertex.
        pub corners: [[u8; 16]; 3],
        pub prim: [u32; 16],
        pub reserved: [u32; 4],
    }

    /// A point of a curve and the radius of the curve there, in object space.
    #[repr(C, align(16))]
    #[derive(Default, PartialEq, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct CurvePoint {
        pub position: [f32; 3],
        pub radius: f32,
    }

    /// Up to eight segments of a leaf of curves. A segment's number is the index of its first point. Unused lanes repeat the first segment.
    #[repr(C, align(32))]
    #[derive(bytemuck::Zeroable, bytemuck::Pod)]
    pub struct SegmentPack {
        pub prim: [u32; 8],
    }

    /// A node with eight children in 80 bytes (Ylitie, Karras and Laine 2017, "Efficient Incoherent Ray Traversal on GPUs Through Compressed Wide
    /// BVHs"), one kind of [`Unit`].
    ///
    /// Children are assigned to slots by the octant of the node in which they lie, so that the order `slot ^ octant of the ray` is roughly front to
    /// back. Child boxes are widened by the error bound of hits, stored in cells of a grid, and rounded outwards by at least 2⁻⁶ cells, on which the
    /// kernel's arithmetic relies.
    #[repr(C, align(16))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct CompressedNode {
        /// Lower corner of the grid.
        pub origin: [f32; 3],
        /// Cell size along x and y: the upper halves of floats whose lower halves are zero.
        pub scale_xy: [u16; 2],
        /// Index of the first child unit, relative to the tree's own units. Devices add the tree's offset.
        pub unit_base: u32,
        /// In a BLAS of triangles, index of the first vertex of the node's patch, relative to the tree's own rows. In a tree of curves, index of its
        /// first segment.
        pub leaf_base: u32,
        /// Bit `s`: the child in slot `s` is a unit. These children are contiguous, in order of their slots.
        pub units: u8,
        /// Bit `s`: the unit in slot `s` is an instance.
        pub instances: u8,
        /// Bit `s`: the child in slot `s` is a leaf. These children are contiguous as well.
        pub leaves: u8,
        /// Bit `s`: the leaf in slot `s` has two triangles.
        pub pairs: u8,
        pub scale_z: f32,
        /// Min x, y, z and max x, y, z of every slot's box, in cells.
        pub planes: [[u8; 8]; 6],
    }

    /// The instance data that traversal reads, the other kind of [`Unit`]. Hidden instances have none.
    #[repr(C, align(16))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct InstanceUnit {
        /// As in [`InstanceRecord`].
        pub object_from_world: [f32; 12],
        /// Index of the BLAS's root among the units of all BLASes; `NO_INDEX` for spheres.
        pub root: u32,
        /// As in [`InstanceRecord`].
        pub instance: u32,
        /// Index of the instance's record.
        pub record: u32,
        /// As in [`InstanceRecord`]; 0 if the instance stands still.
        pub segments: u32,
        pub first_key: u32,
        /// As in [`MeshKeys`] of the instance's mesh. The tree contains the triangles of the first key.
        pub mesh_segments: u32,
        /// For curves, the index of the mesh.
        pub mesh_leaves: u32,
        /// For an assembly, the greatest absolute coordinate of its content, which is not 0; 0 for a mesh of triangles. For curves,
        /// minus the number of their shape.
        pub reach: f32,
    }

    /// An element of a compressed tree: a [`CompressedNode`] or an [`InstanceUnit`]. Unit 0 is the root node.
    #[repr(C, align(16))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct Unit {
        pub words: [u32; 20],
    }

    /// A row of a patch. A patch has the leaves below one node of a compressed BLAS, and each of their vertices once. Its first rows have four
    /// words each, one per leaf, in descending order. The others have the vertices. Both meet at the node's `leaf_base`: the word of leaf `i` is
    /// `i` + 1 words before it.
    ///
    /// A leaf has one triangle or two with a common edge, whose vertices are A, B and C, and D, C and B. Its word has the places of A, B and C in the lowest
    /// three bytes, and that of D in the next five bits; D is C if there is one triangle. The last three bits tell which corner of the first triangle
    /// is A, and which one of the second is D: 0 and 0, 0 and 1, 0 and 2, 1 and 1, 1 and 2, or 2 and 2.
    #[repr(C, align(16))]
    #[derive(Default, PartialEq, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct PatchRow {
        /// A vertex in object space, or zeros if there are fewer vertices than triangles.
        pub position: [f32; 3],
        /// In row `i` of the vertices, the index of triangle `i` in the mesh. The first triangles of all leaves precede the second ones.
        pub prim: u32,
    }

    /// One instance, in TLAS order. Traversal only reads the first cache line.
    #[repr(C, align(64))]
    #[derive(bytemuck::Zeroable, bytemuck::Pod)]
    pub struct InstanceRecord {
        /// In scenes with assemblies, the last column is copied from `world_from_object`. Rays are transformed relative to it, which loses fewer
        /// digits.
        pub object_from_world: [f32; 12],
        pub blas: u32,
        /// 0 hides the instance from all rays; any other value makes it visible to all.
        pub mask: u32,
        /// Index of the instance in the scene. With assemblies, the first number that it takes in its level.
        pub instance: u32,
        /// A sum of `INSTANCE_*`.
        pub flags: u32,
        /// Transform at the frame's time.
        pub world_from_object: [f32; 12],
        /// First material slot: an index into the frame's slot table. For an assembly, the index of a [`NestLevel`].
        pub slot_base: u32,
        pub mesh: u32,
        /// Index of the instance's first [`InstanceKey`]. It has `segments` + 1 keys, or none if `segments` is 0 and it stands still.
        pub first_key: u32,
        pub segments: u32,
    }

    /// Transform of an instance at one of the even steps of the shutter interval. Between keys, matrices are interpolated linearly, so that every
    /// point moves along a straight line.
    #[repr(C, align(16))]
    #[derive(Default, PartialEq, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct InstanceKey {
        pub world_from_object: [f32; 12],
    }

    /// Deformation of a mesh while the shutter is open. Its vertices and the leaves of its tree are stored once per key, one key after another. Leaves of
    /// curves hold no positions, and are stored once. Between keys, vertices are interpolated linearly.
    #[repr(C, align(16))]
    #[derive(Default, PartialEq, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct MeshKeys {
        /// Number of even steps, one less than the number of keys; 0 for a mesh that does not deform.
        pub segments: u32,
        /// Number of vertices per key.
        pub vertices: u32,
        /// Number of packs per key or, in compressed trees, of rows per key; 0 for curves.
        pub leaves: u32,
        pub reserved: u32,
    }

    /// Addresses of a mesh's tree.
    #[repr(C, align(64))]
    pub struct BlasRecord {
        pub nodes: *const WideNode,
        /// [`SharedPack`]s if `shape` is `SHAPE_SHARED_TRIANGLES`, [`SegmentPack`]s for curves.
        pub packs: *const TrianglePack,
        /// The points of curves, of all keys, or null.
        pub points: *const CurvePoint,
        /// Greatest absolute coordinate of the tree's bounds, for the error bound of the node test.
        pub magnitude: f32,
        /// Approximate width of a leaf, or 0.
        pub leaf_width: f32,
        pub root: u32,
        /// One of `SHAPE_*`. The leaves of a `SHAPE_ASSEMBLY` tree are instances.
        pub shape: u32,
        /// Index of an assembly's first record.
        pub first_record: u32,
        pub reserved: u32,
    }

    /// The instances of the world or of an assembly.
    #[repr(C, align(16))]
    #[derive(Default, PartialEq, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct NestLevel {
        /// Index of the first instance in the scene.
        pub first: u32,
        pub count: u32,
        /// How many numbers each instance takes, if all but perhaps the last take equally many; otherwise 0.
        pub even: u32,
        /// Index of the level's first record.
        pub first_record: u32,
    }

    /// A node or leaf on a traversal stack, and the distance at which the ray enters it. Read as one little-endian integer, the distance is most
    /// significant.
    #[repr(C)]
    pub struct StackEntry {
        pub reference: u32,
        pub t: f32,
    }

    /// Numbers of nodes and primitives that the traversal of one ray visited and tested.
    #[repr(C)]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct RayWork {
        pub tlas_nodes: u32,
        pub blas_nodes: u32,
        /// Instances entered. Analytic spheres are tested on entry.
        pub instances: u32,
        /// Leaves of BLASes: packs, or triangles in compressed trees.
        pub packs: u32,
        /// Triangles in these leaves.
        pub triangles: u32,
    }

    /// A deferred child in a packet traversal of float nodes.
    #[repr(C)]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct PacketEntry {
        /// Lower bound of the distance at which any of the rays enters.
        pub t: f32,
        pub reference: u32,
        /// Bit `i`: ray `i` enters.
        pub rays: u32,
    }
}

/// Represents `accel::Wide<N>` of the kernel variant's width in pointers that Rust and C++ share. `build.rs` writes its C++ counterpart.
pub enum WideNode {}

impl Ray {
    /// A ray of infinite length. Both vectors are in world space. The length of the direction may be from 1e-15 to 1e15.
    pub fn new(origin: impl Into<[f32; 3]>, direction: impl Into<[f32; 3]>) -> Self {
        Self { origin: origin.into(), t_min: 0.0, direction: direction.into(), t_max: f32::INFINITY }
    }
}
