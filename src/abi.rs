//! Every struct that crosses the border between Rust and the kernels, declared once.
//!
//! `build.rs` includes this file and writes the C++ twin (`abi.h`) with an assertion per size and offset; a test
//! compares the offsets again through each compiled kernel. Fields are plain `f32`, `u32`, `u64`, arrays and
//! pointers (no glam types, whose alignment depends on features). Matrices are 3×4, row-major.
//!
//! The module sits below `accel`, which fills nodes and records, and `device`, which hands them to kernels.

/// One field of a border struct, for the generated header and the layout test.
pub struct Field {
    pub name: &'static str,
    pub rust_type: &'static str,
    pub offset: usize,
}

/// One border struct.
pub struct Layout {
    pub name: &'static str,
    pub size: usize,
    pub align: usize,
    pub fields: &'static [Field],
}

macro_rules! border {
    ($($(#[$meta:meta])* pub struct $name:ident { $($(#[$field_meta:meta])* pub $field:ident: $ty:ty,)* })*) => {
        $($(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name { $($(#[$field_meta])* pub $field: $ty,)* })*

        /// The layout of every struct above, in order of declaration.
        pub const LAYOUTS: &[Layout] = &[$(Layout {
            name: stringify!($name),
            size: size_of::<$name>(),
            align: align_of::<$name>(),
            fields: &[$(Field {
                name: stringify!($field),
                rust_type: stringify!($ty),
                offset: std::mem::offset_of!($name, $field),
            },)*],
        },)*];
    };
}

macro_rules! constants {
    ($($(#[$meta:meta])* pub const $name:ident: u32 = $value:expr;)*) => {
        $($(#[$meta])* pub const $name: u32 = $value;)*

        /// Every constant above, for the generated header.
        pub const CONSTANTS: &[(&str, u32)] = &[$((stringify!($name), $name),)*];
    };
}

constants! {
    /// Set in a child reference that names a leaf: a triangle pack in a BLAS, an instance record in a TLAS.
    pub const LEAF: u32 = 0x8000_0000;
    /// A child slot without a child; its box is inverted, so no ray ever enters it.
    pub const EMPTY_CHILD: u32 = 0xffff_ffff;
    /// Triangles per [`TrianglePack`].
    pub const PACK_SIZE: u32 = 8;
    /// Triangles per [`SharedPack`], and its vertices.
    pub const SHARED_PACK_SIZE: u32 = 16;
    /// Entries of the traversal stack of walks over compressed trees: levels of the TLAS plus those of the deepest BLAS.
    pub const COMPRESSED_STACK: u32 = 64;
    /// Most rays of one CPU thread that take turns.
    pub const MAX_INTERLEAVED: u32 = 8;
    /// "No such index".
    pub const NO_INDEX: u32 = 0xffff_ffff;

    pub const SHAPE_TRIANGLES: u32 = 0;
    pub const SHAPE_SPHERE: u32 = 1;
    /// Triangles in a [`SharedPack`] per leaf, only in trees of nodes with 16 children.
    pub const SHAPE_SHARED_TRIANGLES: u32 = 2;

    /// What a mesh's vertices have: normals (else triangles are flat), and what their attributes hold.
    pub const MESH_SMOOTH: u32 = 1;
    pub const MESH_TANGENTS: u32 = 2;
    pub const MESH_COLORS: u32 = 4;
    pub const MESH_UV1: u32 = 8;

    pub const MATERIAL_DIFFUSE: u32 = 0;
    pub const MATERIAL_MIRROR: u32 = 1;
    pub const MATERIAL_LAYERED: u32 = 2;

    /// The Whitted integrator takes it for a mirror.
    pub const SURFACE_POLISHED: u32 = 1;
    pub const SURFACE_UNLIT: u32 = 2;
    pub const SURFACE_DOUBLE_SIDED: u32 = 4;
    pub const SURFACE_MASK: u32 = 8;
    pub const SURFACE_BLEND: u32 = 16;

    pub const TEXELS_SRGB8: u32 = 0;
    pub const TEXELS_FLOAT: u32 = 1;
    pub const TEXELS_LINEAR8: u32 = 2;

    pub const WRAP_REPEAT: u32 = 0;
    pub const WRAP_CLAMP: u32 = 1;
    pub const WRAP_MIRROR: u32 = 2;

    pub const LIGHT_POINT: u32 = 0;
    pub const LIGHT_SUN: u32 = 1;
    pub const LIGHT_SPOT: u32 = 2;

    pub const ENVIRONMENT_GRADIENT: u32 = 0;
    pub const ENVIRONMENT_IMAGE: u32 = 1;

    /// Dimension of the sampler that rays draw their time from.
    pub const DIMENSION_TIME: u32 = 0x1_0001;
    /// Dimension of the sampler that rays draw their place on the lens from.
    pub const DIMENSION_LENS: u32 = 0x1_0000;

    pub const CAMERA_PERSPECTIVE: u32 = 0;
    pub const CAMERA_ORTHOGRAPHIC: u32 = 1;
    pub const CAMERA_EQUIRECTANGULAR: u32 = 2;

    pub const INTEGRATOR_WHITTED: u32 = 0;
    pub const INTEGRATOR_AO: u32 = 1;
    pub const INTEGRATOR_NORMAL: u32 = 2;
    pub const INTEGRATOR_DEPTH: u32 = 3;
    pub const INTEGRATOR_ALBEDO: u32 = 4;
    pub const INTEGRATOR_INSTANCE: u32 = 5;
    pub const INTEGRATOR_STEPS: u32 = 6;
    pub const INTEGRATOR_PATH: u32 = 7;
    /// Number of integrators, which are numbered from 0.
    pub const INTEGRATOR_COUNT: u32 = 8;

    pub const TONE_NONE: u32 = 0;
    pub const TONE_ACES: u32 = 1;
    /// The film holds display values already (debugging views): neither exposure nor sRGB curve.
    pub const TONE_DISPLAY: u32 = 2;
    pub const TONE_AGX: u32 = 3;
    pub const TONE_PBR_NEUTRAL: u32 = 4;

    pub const FILTER_GAUSSIAN: u32 = 0;
    pub const FILTER_BOX: u32 = 1;
    pub const FILTER_TENT: u32 = 2;
    /// From a table.
    pub const FILTER_TABLE: u32 = 3;
    /// Intervals of such a table.
    pub const FILTER_STEPS: u32 = 1024;
    /// Names that a matte keeps of a pixel.
    pub const MATTE_RANKS: u32 = 6;

    /// Types of finished pixels; floats are what the film holds, without exposure and tone curve.
    pub const PIXELS_U8: u32 = 0;
    pub const PIXELS_U16: u32 = 1;
    pub const PIXELS_F32: u32 = 2;

    /// How files have the values of a channel: as half floats, as floats, and as floats that are never infinite.
    pub const CHANNEL_HALF: u32 = 0;
    pub const CHANNEL_FLOAT: u32 = 1;
    pub const CHANNEL_DEPTH: u32 = 2;
    /// Bytes that are compressed by themselves, and the room that they take then.
    pub const EXR_PIECE: u32 = 16384;
    pub const EXR_PIECE_ROOM: u32 = 16416;
}

border! {
    /// A ray in world space; also the record of `.ray` files. `t` is in units of the direction's length.
    ///
    /// Rays of frames with motion carry their time within the shutter in place of `t_min` (kernels' `Time`, geom/motion.h), and begin at 0.
    #[repr(C, align(16))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct Ray {
        pub origin: [f32; 3],
        pub t_min: f32,
        pub direction: [f32; 3],
        pub t_max: f32,
    }

    /// What a ray met. `t` is negative for a miss.
    #[repr(C, align(8))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct Hit {
        pub t: f32,
        /// Barycentric weights of the triangle's second and third vertex.
        pub u: f32,
        pub v: f32,
        /// Triangle index within the mesh.
        pub prim: u32,
        /// Index of the instance in the scene.
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
        pub object_from_world: [f32; 12],
        /// Unit of the BLAS's root, counted over the BLASes of all meshes one after the other; `NO_INDEX` for spheres.
        pub root: u32,
        /// Index of the instance in the scene.
        pub instance: u32,
        /// Index of the instance's record.
        pub record: u32,
        /// As of [`InstanceRecord`]; 0 if the instance stands still.
        pub segments: u32,
        pub first_key: u32,
        /// As of [`MeshKeys`]: of the instance's mesh, whose first key's triangles are those of its tree.
        pub mesh_segments: u32,
        pub mesh_leaves: u32,
        pub reserved: u32,
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
        pub object_from_world: [f32; 12],
        pub blas: u32,
        /// 0 hides the instance from all rays; other values show it to all.
        pub mask: u32,
        /// Index of the instance in the scene.
        pub instance: u32,
        /// 1 if the instance, or the shape of its mesh, moves while the shutter is open.
        pub moves: u32,
        /// At the time that the frame is named by.
        pub world_from_object: [f32; 12],
        /// First material slot: an index into the frame's slot table.
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
        pub shape: u32,
    }

    /// What shading needs of a vertex, side by side: two loads of 16 bytes. Attributes that a mesh lacks are zero.
    #[repr(C, align(16))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct VertexRecord {
        pub position: [f32; 3],
        pub u: f32,
        pub normal: [f32; 3],
        pub v: f32,
    }

    /// What only some meshes have of a vertex; kernels load each of the three on its own.
    #[repr(C, align(16))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct VertexAttributes {
        /// Unit tangent, and the sign of the bitangent.
        pub tangent: [f32; 4],
        /// Linear, with alpha.
        pub color: [f32; 4],
        /// The second set of texture coordinates.
        pub uv1: [f32; 2],
        pub reserved: [u32; 2],
    }

    /// A triangle's vertices and its material slot.
    #[repr(C, align(16))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct CornerRecord {
        pub vertices: [u32; 3],
        pub slot: u32,
    }

    /// A mesh's attributes for shading. Null pointers: a sphere.
    #[repr(C, align(16))]
    pub struct MeshRecord {
        pub vertices: *const VertexRecord,
        pub corners: *const CornerRecord,
        /// One per vertex, or null. Flags say which parts count; else there are no tangents, vertices are white, and the second
        /// set of texture coordinates is the first.
        pub attributes: *const VertexAttributes,
        /// One of `SHAPE_*`.
        pub shape: u32,
        /// Of `MESH_*`.
        pub flags: u32,
    }

    /// What every shader needs of a material.
    #[repr(C, align(16))]
    #[derive(bytemuck::Zeroable, bytemuck::Pod)]
    pub struct MaterialRecord {
        pub color: [f32; 3],
        pub color_map: u32,
        pub emission: [f32; 3],
        pub emission_map: u32,
        /// One of `MATERIAL_*`.
        pub kind: u32,
        /// Of `SURFACE_*`.
        pub flags: u32,
        /// Index of a [`LobesRecord`], if the kind has one.
        pub lobes: u32,
        pub opacity: f32,
        /// Of a mask.
        pub alpha_cutoff: f32,
        /// Mean luminance of what is emitted; 0 where that lights nothing.
        pub emission_weight: f32,
        pub reserved: [u32; 2],
    }

    /// The lobes of a material, as glTF's extensions name and define them; maps are indices of [`MapRecord`]s or [`NO_INDEX`].
    #[repr(C, align(16))]
    #[derive(PartialEq, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct LobesRecord {
        pub metallic: f32,
        /// Perceptual roughness: GGX's alpha is its square.
        pub roughness: f32,
        /// Roughness in green, metallic in blue.
        pub metallic_roughness_map: u32,
        pub normal_map: u32,
        /// Multiplies x and y of the normal map.
        pub normal_scale: f32,
        /// Refractive index of the dielectric base; 0 stands for infinity: everything is reflected.
        pub ior: f32,
        /// Weight of the dielectric reflection, which `specular_color` tints at normal incidence.
        pub specular: f32,
        /// Multiplies `specular` by its alpha.
        pub specular_map: u32,
        pub specular_color: [f32; 3],
        pub specular_color_map: u32,
        pub transmission: f32,
        /// Multiplies `transmission` by its red channel.
        pub transmission_map: u32,
        /// Dispersion: 20 / Abbe number.
        pub dispersion: f32,
        /// 1 for a thin wall, which does not refract light and encloses no volume; else 0.
        pub thin: u32,
        /// Absorption coefficient of the volume behind the surface, per scene unit.
        pub absorption: [f32; 3],
        pub diffuse_transmission: f32,
        pub diffuse_transmission_color: [f32; 3],
        /// Multiplies `diffuse_transmission` by its alpha.
        pub diffuse_transmission_map: u32,
        pub diffuse_transmission_color_map: u32,
        pub clearcoat: f32,
        /// Multiplies `clearcoat` by its red channel.
        pub clearcoat_map: u32,
        pub clearcoat_roughness: f32,
        /// Multiplies `clearcoat_roughness` by its green channel.
        pub clearcoat_roughness_map: u32,
        pub clearcoat_normal_map: u32,
        pub clearcoat_normal_scale: f32,
        pub sheen_roughness: f32,
        pub sheen_color: [f32; 3],
        pub sheen_color_map: u32,
        /// Multiplies `sheen_roughness` by its alpha.
        pub sheen_roughness_map: u32,
        pub iridescence: f32,
        /// Multiplies `iridescence` by its red channel.
        pub iridescence_map: u32,
        pub iridescence_ior: f32,
        /// Thickness of the film in nanometres where the map is 0 and where it is 1; without a map, the second applies.
        pub iridescence_thickness: [f32; 2],
        /// Interpolates between the two thicknesses by its green channel.
        pub iridescence_thickness_map: u32,
        pub anisotropy: f32,
        /// Direction in which highlights are stretched, in radians, counter-clockwise from the tangent.
        pub anisotropy_rotation: f32,
        /// Direction in red and green, strength in blue.
        pub anisotropy_map: u32,
        pub reserved: [u32; 2],
    }

    /// How a material reads a texture.
    #[repr(C, align(16))]
    #[derive(bytemuck::Zeroable, bytemuck::Pod)]
    pub struct MapRecord {
        /// Rows of a 2×3 matrix from the mesh's coordinates to the texture's.
        pub transform: [f32; 6],
        pub texture: u32,
        /// 0 or 1.
        pub uv_set: u32,
    }

    /// Texels are rows of RGBA, 8-bit (sRGB or linear) or 32-bit linear float, the top row first.
    #[repr(C, align(16))]
    pub struct TextureRecord {
        pub texels: *const u8,
        pub width: u32,
        pub height: u32,
        /// One of `TEXELS_*`.
        pub format: u32,
        /// `WRAP_*` along u and v.
        pub wrap: [u32; 2],
        /// 1 if magnified texels stay square.
        pub nearest: u32,
    }

    /// Suns come first in the table of lights.
    #[repr(C, align(16))]
    #[derive(bytemuck::Zeroable, bytemuck::Pod)]
    pub struct LightRecord {
        /// Position of a point or spot light; unit direction towards a sun.
        pub vector: [f32; 3],
        pub kind: u32,
        /// Radiant intensity of a point light, and of a spot light along its axis; irradiance of a sun.
        pub power: [f32; 3],
        /// One minus the cosine of a sun's angular radius.
        pub cap: f32,
        /// Unit vector that a spot light shines along.
        pub axis: [f32; 3],
        /// A spot's light falls off as the square of `cosine * cone_scale + cone_offset`, clamped to [0, 1].
        pub cone_scale: f32,
        pub cone_offset: f32,
        /// Probability of a sun, once a sun is to be sampled.
        pub probability: f32,
        pub reserved: [u32; 2],
    }

    /// A cell of the table that directions to an environment image are sampled from, or a row of it.
    #[repr(C, align(8))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct SkyCell {
        /// With which directions in the cell are sampled, per solid angle.
        pub pdf: f32,
        /// Lower half: the cell that is sampled instead where a random number reaches the threshold, a half-precision float
        /// in the upper half.
        pub alias: u32,
    }

    /// A node of the light tree. The two children of node pair `i` are nodes `2i` and `2i + 1`.
    #[repr(C, align(16))]
    #[derive(Default, PartialEq, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct LightNode {
        /// Of the bounds.
        pub center: [f32; 3],
        /// Estimated mean intensity, as luminance.
        pub power: f32,
        /// Half the size of the bounds.
        pub extent: [f32; 3],
        /// A pair of nodes, or `LEAF` and an index of an [`EmitterRecord`].
        pub child: u32,
    }

    /// A leaf of the light tree: an instance that shines, or a point or spot light.
    #[repr(C, align(16))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct EmitterRecord {
        /// Index of the instance's record, or of a [`LightRecord`].
        pub record: u32,
        /// Index of an [`EmitterTable`]; `NO_INDEX` for lights.
        pub table: u32,
        /// Which way leads here from the root: bit `d` is set where the second child is taken `d` levels below.
        pub trail: u32,
        pub reserved: u32,
    }

    /// What of a mesh shines, with the materials of some instances.
    #[repr(C, align(16))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct EmitterTable {
        /// First of its triangles in the table of these.
        pub first: u32,
        /// Number of triangles; 0 for a sphere.
        pub count: u32,
        /// Sum of the triangles' areas in object space, times the `emission_weight` of their materials.
        pub weight: f32,
        pub reserved: u32,
    }

    /// An entry of an alias table.
    #[repr(C, align(16))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct EmitterTriangle {
        pub threshold: f32,
        /// The triangle of the mesh below the threshold, and that from there on.
        pub prim: u32,
        pub alias: u32,
        pub reserved: u32,
    }

    /// What shines within the scene: instances, point and spot lights, in a tree.
    #[repr(C)]
    #[derive(bytemuck::Zeroable)]
    pub struct LocalLights {
        pub nodes: *const LightNode,
        pub emitters: *const EmitterRecord,
        /// For each instance record its emitter or `NO_INDEX`. Null if no instance shines.
        pub emitter_of: *const u32,
        pub tables: *const EmitterTable,
        pub triangles: *const EmitterTriangle,
        /// Where the tree begins, in the terms of [`LightNode::child`].
        pub root: u32,
        /// Number of emitters; 0 if there is no tree.
        pub count: u32,
        /// Of the root.
        pub center: [f32; 3],
        pub power: f32,
        pub radius_squared: f32,
        pub reserved: u32,
    }

    #[repr(C)]
    #[derive(bytemuck::Zeroable)]
    pub struct EnvironmentRecord {
        /// Gradient colours.
        pub zenith: [f32; 3],
        pub kind: u32,
        pub horizon: [f32; 3],
        /// Texture with the image, and one with its low-pass copy for diffuse light.
        pub image: u32,
        pub nadir: [f32; 3],
        pub diffuse_image: u32,
        /// Added to the azimuth, in turns.
        pub rotation: f32,
        /// Size of the table that directions to the image are sampled from.
        pub columns: u32,
        pub rows: u32,
        /// Luminance that arrives from all around.
        pub fluence: f32,
    }

    /// With x and y in [-1, 1] across the picture, a primary ray of a perspective camera has the direction
    /// `forward + x · right + y · up`; that of an orthographic one starts at `origin + x · right + y · up`. For an equirectangular
    /// one, the three are unit vectors, and x and y half turns about `up` and quarter turns towards it.
    #[repr(C)]
    #[derive(bytemuck::Zeroable, bytemuck::Pod)]
    pub struct CameraRecord {
        pub origin: [f32; 3],
        pub forward: [f32; 3],
        pub right: [f32; 3],
        pub up: [f32; 3],
        pub kind: u32,
        /// Distance along `forward` (equirectangular: of any direction) of what is sharp; 0 for a pinhole.
        pub focus: f32,
        /// From the middle of the lens to its edge.
        pub lens_right: [f32; 3],
        pub lens_up: [f32; 3],
        /// Corners of the aperture, or 0 for a round one; and how far they are turned from right to up, from 0 to 1 turns.
        pub blades: u32,
        pub blade_turn: f32,
    }

    /// An inner node or leaf still to be visited, and where the ray enters it. Read as one little-endian number, the distance
    /// counts most.
    #[repr(C)]
    pub struct StackEntry {
        pub reference: u32,
        pub t: f32,
    }

    /// What the walk of one ray visited and tested.
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

    /// What one CPU thread (or GPU lane) brings along: its traversal stack, that of packets of rays (CPUs only), and its counters.
    #[repr(C)]
    pub struct Thread {
        /// `stacks` of them, one after the other, of `stack_entries` each.
        pub stack: *mut StackEntry,
        pub packet_stack: *mut PacketEntry,
        pub stack_entries: u32,
        /// How many rays can take turns, at least 1; what asks for more is the size of the TLAS. CPUs only.
        pub stacks: u32,
        pub primary_rays: u64,
        pub bounce_rays: u64,
        pub shadow_rays: u64,
    }

    /// A path of the wavefront schedule between two of its rays.
    #[repr(C, align(16))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct PathState {
        pub throughput: [f32; 3],
        /// The path's shadow rays are contiguous in their queue. Of the path integrator, the last one: they are chained.
        pub first_shadow: u32,
        pub radiance: [f32; 3],
        pub shadow_count: u32,
    }

    /// What the path integrator keeps besides: where the path was scattered last.
    #[repr(C, align(16))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct ScatterState {
        /// Shading normal; zero where light was gathered from all around.
        pub normal: [f32; 3],
        /// Of the path's direction, per solid angle.
        pub pdf: f32,
        /// Material of the volume that the path is in, or `NO_INDEX`.
        pub medium: u32,
        pub reserved: [u32; 3],
    }

    /// What a path gains if a shadow ray is free, and if it is blocked.
    #[repr(C)]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct ShadowLight {
        pub open: [f32; 3],
        pub blocked: [f32; 3],
    }

    /// Length of a queue, and how much of it has been fetched by tracing warps.
    #[repr(C)]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct QueueState {
        pub length: u32,
        pub fetched: u32,
    }

    /// Rays of each kind that were cast.
    #[repr(C)]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct RayTally {
        pub primary: u64,
        pub bounce: u64,
        pub shadow: u64,
    }

    /// Queues of the wavefront schedule. Wave `w` reads rays from queue `w % 2` and fills the other one.
    #[repr(C)]
    pub struct Wavefront {
        pub rays: [*mut Ray; 2],
        /// Path of each ray.
        pub owners: [*mut u32; 2],
        /// One per ray of the current wave.
        pub hits: *mut Hit,
        pub paths: *mut PathState,
        /// Of the path integrator.
        pub scatters: *mut ScatterState,
        pub shadow_rays: *mut Ray,
        pub shadow_lights: *mut ShadowLight,
        /// Of the path integrator: the shadow ray of the same path before, or `NO_INDEX`.
        pub shadow_previous: *mut u32,
        /// Whether each shadow ray met something: 0 or 1.
        pub shadow_blocked: *mut u32,
        /// The shadow rays' queue, then one per wave.
        pub queues: *mut QueueState,
        pub tally: *mut RayTally,
        /// The paths are those of all samples `sample_begin..sample_end` of items from `first_item` on.
        pub first_item: u32,
        pub path_count: u32,
        pub wave: u32,
        pub reserved: u32,
    }

    /// A channel of a file.
    #[repr(C)]
    pub struct ExrChannel {
        /// The first pixel's value; from one pixel to the next, `stride` floats.
        pub values: *const f32,
        pub stride: u32,
        pub kind: u32,
        /// Bytes of a row that come before.
        pub begin: u32,
        pub reserved: u32,
    }

    /// Bytes of a block that are compressed by themselves.
    #[repr(C)]
    #[derive(Default)]
    pub struct ExrPiece {
        /// Compressed, and behind how many compressed bytes of the block.
        pub size: u32,
        pub begin: u32,
        /// Adler-32 of the piece alone, both sums without the 1.
        pub sums: [u32; 2],
    }

    /// Rows that are compressed together.
    #[repr(C)]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct ExrBlock {
        /// Where it begins, behind the first one's begin, and the size of what follows its two numbers.
        pub offset: u64,
        pub size: u32,
        /// Adler-32 of what is compressed.
        pub checksum: u32,
    }

    /// What makes the blocks of an OpenEXR file from a picture on the GPU.
    #[repr(C)]
    pub struct ExrParams {
        /// In the order of the file.
        pub channels: *const ExrChannel,
        /// Of each piece, compressed.
        pub room: *mut u8,
        pub pieces: *mut ExrPiece,
        /// One more than there are: where the last one ends.
        pub blocks: *mut ExrBlock,
        /// Where blocks go, one after the other.
        pub out: *mut u8,
        pub channel_count: u32,
        pub width: u32,
        pub height: u32,
        /// Rows of a block, and bytes of a row.
        pub block_rows: u32,
        pub row_bytes: u32,
        pub pieces_per_block: u32,
        pub block_count: u32,
        pub reserved: u32,
    }

    /// The scene at the time of a frame.
    #[repr(C)]
    pub struct OtherFrame {
        pub camera: CameraRecord,
        pub reserved: [u32; 4],
        /// World_from_object of every instance of the scene; null if nothing moves but the camera.
        pub transforms: *const f32,
        /// The mesh that every instance shows; null if that never changes.
        pub shown: *const u32,
        pub meshes: *const MeshRecord,
    }

    /// Where the AOVs of a frame go, each null unless it is asked for, and what they need besides. Pixels in rows from the top.
    #[repr(C)]
    pub struct FrameAovs {
        pub albedo: *mut f32,
        pub normal: *mut f32,
        pub depth: *mut f32,
        pub position: *mut f32,
        pub motion: *mut f32,
        pub variance: *mut f32,
        pub instance: *mut f32,
        pub material: *mut f32,
        /// Hashes of the names of all instances of the scene, and of all rows of the material table.
        pub instance_names: *const u32,
        pub material_names: *const u32,
        pub before: OtherFrame,
        pub after: OtherFrame,
        /// The frame's own time, where rays have times of their own; else without transforms.
        pub now: OtherFrame,
    }

    /// Tables of a scene, the same in all of its frames.
    #[repr(C)]
    #[derive(bytemuck::Zeroable)]
    pub struct SceneParams {
        pub material_slots: *const u32,
        pub textures: *const TextureRecord,
        /// 256 linear values of sRGB-encoded bytes.
        pub srgb_table: *const f32,
        /// Tables of all filters that are sampled by one: distance from the pixel's centre, relative to the filter's reach, at
        /// `FILTER_STEPS` + 1 even shares of its volume.
        pub filter_tables: *const f32,
        /// Rows and cells of the environment image's table.
        pub sky_rows: *const SkyCell,
        pub sky_cells: *const SkyCell,
        pub environment: EnvironmentRecord,
    }

    /// Meshes, materials and lights: the scene's, or a frame's own where they change.
    #[repr(C)]
    #[derive(bytemuck::Zeroable)]
    pub struct TableParams {
        pub meshes: *const MeshRecord,
        pub materials: *const MaterialRecord,
        pub lobes: *const LobesRecord,
        pub maps: *const MapRecord,
        pub lights: *const LightRecord,
        pub lobes_count: u32,
        pub light_count: u32,
        pub sun_count: u32,
        /// Luminance of all suns' irradiance.
        pub sun_irradiance: f32,
        /// 1 if some materials are not opaque everywhere.
        pub has_cutouts: u32,
        /// 1 if shading differs enough among materials for entries of a wave to be sorted by it.
        pub sorts_shading: u32,
    }

    /// The trees of a frame. Those of the two layouts are null where the kernel variant walks the other.
    #[repr(C)]
    #[derive(bytemuck::Zeroable)]
    pub struct TreeParams {
        pub tlas_nodes: *const WideNode,
        pub blas: *const BlasRecord,
        /// Compressed trees: the TLAS's units, and units and triangles of all BLASes one after the other.
        pub tlas_units: *const Unit,
        pub blas_units: *const Unit,
        pub triangles: *const TriangleRecord,
        pub instances: *const InstanceRecord,
    }

    /// Keys while the shutter is open; null where nothing has any.
    #[repr(C)]
    #[derive(bytemuck::Zeroable)]
    pub struct KeyParams {
        /// The camera at even steps of the shutter's time, one more than `camera_segments`; none of either if it stands still.
        pub cameras: *const CameraRecord,
        pub instances: *const InstanceKey,
        /// Keys of each mesh; null if all keep their shape while the shutter is open.
        pub meshes: *const MeshKeys,
        pub camera_segments: u32,
    }

    /// Values of a frame, which are the same on every device.
    #[repr(C)]
    #[derive(bytemuck::Zeroable)]
    pub struct FrameParams {
        /// 1 if rays have a time: in `t_min`, as the share of the shutter's time that has passed. They all start at 0 then.
        pub moves: u32,
        pub tlas_root: u32,
        /// Greatest absolute coordinate of the bounds, for trees that are not compressed.
        pub tlas_magnitude: f32,
        /// Group of units that walks over compressed trees begin with: the root, or the only instance.
        pub start_base: u32,
        pub start_mask: u32,
        /// Lanes with a triangle from which on a round of such a walk tests triangles after its first node, too.
        pub triangle_lanes: u32,
        /// Idle lanes from which on a warp that finds the queue empty splits the walks of its other lanes.
        pub split_lanes: u32,
        /// Bounds of the TLAS, widened like the boxes of compressed nodes.
        pub bounds_min: [f32; 3],
        pub bounds_max: [f32; 3],
        /// Reach of ambient-occlusion rays, and the distance that the depth view shows as black.
        pub ao_distance: f32,
        pub depth_range: f32,
    }

    /// The settings of a picture.
    #[repr(C)]
    #[derive(bytemuck::Zeroable)]
    pub struct PictureParams {
        pub camera: CameraRecord,
        pub width: u32,
        pub height: u32,
        pub bounces: u32,
        pub seed: u32,
        /// Bits that the number of a sample takes.
        pub sample_bits: u32,
        pub integrator: u32,
        /// Octants to exchange in the order in which walks for any hit visit a node's children: 0 for near ones first, 7 for
        /// far ones.
        pub any_order: u32,
        /// 1: light that microfacets scatter more than once is left out.
        pub single_scatter: u32,
        pub viewer_layering: u32,
        pub tone_map: u32,
        /// One of `PIXELS_*`.
        pub pixel_type: u32,
        /// One of `FILTER_*`.
        pub filter: u32,
        /// Start of the filter's table within those of all.
        pub filter_table: u32,
        /// Reach in pixels; of a Gaussian, relative to 1.5.
        pub filter_scale: f32,
        /// 1 if some samples count negatively.
        pub filter_signed: u32,
        /// How far rounding to bytes is spread, in steps.
        pub dither: f32,
        /// 1 if colours are balanced by `white`, a matrix in rows.
        pub has_white: u32,
        pub white: [f32; 9],
        /// Radiance multiplier, 2^stops.
        pub exposure: f32,
        /// A single sample is clamped to this radiance, so that glints of the sun do not turn into fireflies.
        pub radiance_clamp: f32,
        /// Radiance that the path integrator clamps the light of each lamp to after a bounce.
        pub indirect_clamp: f32,
        /// Share of the unoccluded sky that reaches points whose sky ray is blocked: stands for light
        /// that arrives after further bounces.
        pub ambient_fill: f32,
    }

    /// Where a picture goes, and which of its samples a launch adds.
    #[repr(C)]
    #[derive(bytemuck::Zeroable)]
    pub struct FilmParams {
        /// Sums of radiance, RGBA per pixel.
        pub sums: *mut f32,
        /// Sums of the samples with odd numbers, laid out like the film; null unless noise is measured.
        pub half_sums: *mut f32,
        /// `measure_tile`: noise of every tile.
        pub tile_errors: *mut f32,
        /// The tiles that are sampled; null for all of the picture.
        pub tiles: *const u32,
        /// `resolve_pixel`: RGB out, of `pixel_type`.
        pub pixels: *mut u8,
        /// `gather_aovs`: where AOVs go.
        pub aovs: *const FrameAovs,
        pub sample_begin: u32,
        pub sample_end: u32,
    }

    /// Rays that are traced by themselves.
    #[repr(C)]
    #[derive(bytemuck::Zeroable)]
    pub struct QueryParams {
        pub rays: *const Ray,
        /// `trace_*`: the hits out.
        pub hits: *mut Hit,
        /// `count_*`: the work of each ray out.
        pub work: *mut RayWork,
    }

    /// Launch parameters of every kernel, in parts by who fills them. Parts that a kernel does not read are zero.
    #[repr(C)]
    #[derive(bytemuck::Zeroable)]
    pub struct Params {
        pub scene: SceneParams,
        pub tables: TableParams,
        pub trees: TreeParams,
        pub keys: KeyParams,
        pub local_lights: LocalLights,
        pub frame: FrameParams,
        pub picture: PictureParams,
        pub film: FilmParams,
        pub query: QueryParams,
    }
}

impl Default for LobesRecord {
    /// A rough dielectric without any further layer.
    fn default() -> Self {
        Self {
            metallic: 0.0,
            roughness: 1.0,
            metallic_roughness_map: NO_INDEX,
            normal_map: NO_INDEX,
            normal_scale: 1.0,
            ior: 1.5,
            specular: 1.0,
            specular_map: NO_INDEX,
            specular_color: [1.0; 3],
            specular_color_map: NO_INDEX,
            transmission: 0.0,
            transmission_map: NO_INDEX,
            dispersion: 0.0,
            thin: 1,
            absorption: [0.0; 3],
            diffuse_transmission: 0.0,
            diffuse_transmission_color: [1.0; 3],
            diffuse_transmission_map: NO_INDEX,
            diffuse_transmission_color_map: NO_INDEX,
            clearcoat: 0.0,
            clearcoat_map: NO_INDEX,
            clearcoat_roughness: 0.0,
            clearcoat_roughness_map: NO_INDEX,
            clearcoat_normal_map: NO_INDEX,
            clearcoat_normal_scale: 1.0,
            sheen_roughness: 0.0,
            sheen_color: [0.0; 3],
            sheen_color_map: NO_INDEX,
            sheen_roughness_map: NO_INDEX,
            iridescence: 0.0,
            iridescence_map: NO_INDEX,
            iridescence_ior: 1.3,
            iridescence_thickness: [100.0, 400.0],
            iridescence_thickness_map: NO_INDEX,
            anisotropy: 0.0,
            anisotropy_rotation: 0.0,
            anisotropy_map: NO_INDEX,
            reserved: [0; 2],
        }
    }
}

/// Stands for `accel::Wide<N>` of the kernel variant's own width where a pointer crosses the border; `build.rs` writes its
/// C++ twin.
pub enum WideNode {}
