//! Rays, hits and the trees between them.

use super::*;

border! {
    // Rays of frames with motion carry their time within the shutter in place of `t_min` (kernels' `Time`, geom/motion.h), and begin at 0.
    /// A ray in world space; also the record of `.ray` files. Its points are `origin + t * direction` for every `t` from `t_min` to `t_max`,
    /// so `t` is in lengths of the direction.
    #[repr(C, align(16))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct Ray {
        /// Point in scene units.
        pub origin: [f32; 3],
        /// Not negative.
        pub t_min: f32,
        /// Vector of any length from 1e-15 to 1e15.
        pub direction: [f32; 3],
        /// Infinity for a ray without an end.
        pub t_max: f32,
    }

    /// The result of a ray. `t` is negative for a miss.
    #[repr(C, align(8))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct Hit {
        pub t: f32,
        /// Barycentric weights of the triangle's second and third vertex.
        pub u: f32,
        pub v: f32,
        /// Triangle index within the mesh.
        pub prim: u32,
        /// Index of the instance in the scene. With assemblies, the number that it has if all of them are copied to their places, or from
        /// 2^32 such instances on, the number that it shares with those about it in its assembly.
        pub instance: u32,
        /// Index of the instance's record in this frame's TLAS.
        pub record: u32,
    }

    /// Up to eight triangles of a BLAS leaf; unused lanes repeat the first triangle with `prim` = `NO_INDEX`.
    #[repr(C, align(64))]
    #[derive(bytemuck::Zeroable, bytemuck::Pod)]
    pub struct TrianglePack {
        /// `[vertex][axis][lane]`, object space.
        pub vertices: [[[f32; 8]; 3]; 3],
        pub prim: [u32; 8],
    }

    /// Up to sixteen triangles of a BLAS leaf that have no more than sixteen vertices among them; unused lanes repeat the first triangle
    /// with `prim` = `NO_INDEX`.
    #[repr(C, align(64))]
    #[derive(bytemuck::Zeroable, bytemuck::Pod)]
    pub struct SharedPack {
        /// `[axis][vertex]`, object space.
        pub vertices: [[f32; 16]; 3],
        /// `[corner][lane]`: which of the vertices each triangle has.
        pub corners: [[u8; 16]; 3],
        pub prim: [u32; 16],
        pub reserved: [u32; 4],
    }

    /// A node of eight children in 80 bytes (Ylitie, Karras and Laine 2017, "Efficient Incoherent Ray Traversal on GPUs
    /// Through Compressed Wide BVHs"), one kind of [`Unit`].
    ///
    /// Children sit in slots by the octant of the node that they lie in, so that slots visited in the order
    /// `slot ^ octant of the ray` come roughly front to back. Child boxes are widened by what hits may be off, counted in
    /// cells of a grid, and rounded outwards by at least 2⁻⁶ cells, which the kernel's arithmetic relies on.
    #[repr(C, align(16))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct CompressedNode {
        /// Lower corner of the grid.
        pub origin: [f32; 3],
        /// Size of a cell along x and y: the upper halves of floats whose lower ones are zero.
        pub scale_xy: [u16; 2],
        /// Index of the first child unit. Relative to the tree's own units; devices add where the tree starts.
        pub unit_base: u32,
        /// Index of the node's first triangle in a BLAS (relative, too).
        pub leaf_base: u32,
        /// Bit `s`: the child in slot `s` is a unit. Such children are contiguous, in order of their slots.
        pub units: u8,
        /// Bit `s`: the unit in slot `s` is an instance.
        pub instances: u8,
        /// Bit `s`: the child in slot `s` is a triangle. They are contiguous, too.
        pub triangles: u8,
        pub reserved: u8,
        pub scale_z: f32,
        /// Min x, y, z and max x, y, z of every slot's box, in cells.
        pub planes: [[u8; 8]; 6],
    }

    /// An instance as traversal meets it, the other kind of [`Unit`]. Hidden instances have none.
    #[repr(C, align(16))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct InstanceUnit {
        /// As of [`InstanceRecord`].
        pub object_from_world: [f32; 12],
        /// Unit of the BLAS's root, counted over the BLASes of all meshes one after the other; `NO_INDEX` for spheres.
        pub root: u32,
        /// As of [`InstanceRecord`].
        pub instance: u32,
        /// Index of the instance's record.
        pub record: u32,
        /// As of [`InstanceRecord`]; 0 if the instance stands still.
        pub segments: u32,
        pub first_key: u32,
        /// As of [`MeshKeys`]: of the instance's mesh, whose first key's triangles are those of its tree.
        pub mesh_segments: u32,
        pub mesh_leaves: u32,
        /// Of an assembly, the greatest absolute coordinate of what is in it, which is not 0; 0 for a mesh.
        pub reach: f32,
    }

    /// An element of a compressed tree: a [`CompressedNode`] or an [`InstanceUnit`]. Unit 0 is the root node.
    #[repr(C, align(16))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct Unit {
        pub words: [u32; 20],
    }

    /// One coordinate of a triangle's three vertices, in object space.
    #[repr(C, align(16))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct TriangleRow {
        pub corners: [f32; 3],
        pub prim: u32,
    }

    /// A triangle of a compressed BLAS: the x, y and z row. The triangle test permutes axes; rows make that an address.
    #[repr(C, align(16))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct TriangleRecord {
        pub rows: [TriangleRow; 3],
    }

    /// One instance, in TLAS order. The first cache line is all that traversal touches.
    #[repr(C, align(64))]
    #[derive(bytemuck::Zeroable, bytemuck::Pod)]
    pub struct InstanceRecord {
        /// In scenes with assemblies, the last column is that of `world_from_object`: rays are taken in relative to it, with more digits.
        pub object_from_world: [f32; 12],
        pub blas: u32,
        /// 0 hides the instance from all rays; other values show it to all.
        pub mask: u32,
        /// Index of the instance in the scene. With assemblies, the number in its level of what it places, or of the first of that.
        pub instance: u32,
        /// A sum of `INSTANCE_*`.
        pub flags: u32,
        /// At the time that the frame is named by.
        pub world_from_object: [f32; 12],
        /// First material slot: an index into the frame's slot table. Of an assembly, the number of a [`NestLevel`].
        pub slot_base: u32,
        pub mesh: u32,
        /// First of the instance's [`InstanceKey`]s, of which there is one more than segments; no segments: it stands still.
        pub first_key: u32,
        pub segments: u32,
    }

    /// Where an instance is at one of the even steps in which the shutter's time is cut. In between, matrices are interpolated
    /// linearly, so that every point moves along a straight line.
    #[repr(C, align(16))]
    #[derive(Default, PartialEq, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct InstanceKey {
        pub world_from_object: [f32; 12],
    }

    /// How a mesh changes shape while the shutter is open: its vertices, and the leaves of its tree, are there once per key, one
    /// key after the other. In between, vertices are interpolated linearly.
    #[repr(C, align(16))]
    #[derive(Default, PartialEq, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct MeshKeys {
        /// Even steps, one less than keys; 0 for a mesh that keeps its shape.
        pub segments: u32,
        /// Vertices of one key.
        pub vertices: u32,
        /// Packs of one key or, of compressed trees, triangles.
        pub leaves: u32,
        pub reserved: u32,
    }

    /// Where a mesh's tree is.
    #[repr(C, align(64))]
    pub struct BlasRecord {
        pub nodes: *const WideNode,
        /// [`SharedPack`]s if `shape` says so.
        pub packs: *const TrianglePack,
        /// Greatest absolute coordinate of the tree's bounds, for the error bound of the node test.
        pub magnitude: f32,
        /// About the width of a leaf, or 0.
        pub leaf_width: f32,
        pub root: u32,
        /// One of `SHAPE_*`, or `SHAPE_ASSEMBLY`: a tree whose leaves are instances.
        pub shape: u32,
        /// First record of an assembly.
        pub first_record: u32,
        pub reserved: u32,
    }

    /// The instances of the world, or of an assembly.
    #[repr(C, align(16))]
    #[derive(Default, PartialEq, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct NestLevel {
        /// Index of the first instance in the scene.
        pub first: u32,
        pub count: u32,
        /// Numbers that each of the instances takes, if it is the same in all but perhaps the last; else 0.
        pub even: u32,
        /// Index of the level's first record.
        pub first_record: u32,
    }

    /// An inner node or leaf still to be visited, and where the ray enters it. Read as one little-endian number, the distance
    /// counts most.
    #[repr(C)]
    pub struct StackEntry {
        pub reference: u32,
        pub t: f32,
    }

    /// Counts of the nodes and primitives that the walk of one ray visited and tested.
    #[repr(C)]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct RayWork {
        pub tlas_nodes: u32,
        pub blas_nodes: u32,
        /// Instances entered; an analytic sphere is tested then.
        pub instances: u32,
        /// Leaves of BLASes: packs, or triangles in compressed trees.
        pub packs: u32,
        /// Triangles in these.
        pub triangles: u32,
    }

    /// A deferred child of a walk of several rays over float nodes.
    #[repr(C)]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct PacketEntry {
        /// None of the rays enters earlier.
        pub t: f32,
        pub reference: u32,
        /// Bit `i`: ray `i` enters.
        pub rays: u32,
    }
}

/// Stands for `accel::Wide<N>` of the kernel variant's own width where a pointer crosses the border; `build.rs` writes its
/// C++ twin.
pub enum WideNode {}
