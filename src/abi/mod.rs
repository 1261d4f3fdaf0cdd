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
        pub(super) const LAYOUTS: &[Layout] = &[$(Layout {
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
    /// The same where assemblies place assemblies: all levels of all trees on the way.
    pub const NESTED_STACK: u32 = 160;
    /// Most panes that a path goes through after its last bounce.
    pub const PANES_BEYOND_BOUNCES: u32 = 16;
    /// Most assemblies within each other.
    pub const MOST_NESTED: u32 = 12;
    /// Most rays of one CPU thread that take turns.
    pub const MAX_INTERLEAVED: u32 = 8;
    /// "No such index".
    pub const NO_INDEX: u32 = 0xffff_ffff;

    pub const SHAPE_TRIANGLES: u32 = 0;
    pub const SHAPE_SPHERE: u32 = 1;
    /// Triangles in a [`SharedPack`] per leaf, only in trees of nodes with 16 children.
    pub const SHAPE_SHARED_TRIANGLES: u32 = 2;
    /// Not a mesh, but instances.
    pub const SHAPE_ASSEMBLY: u32 = 3;

    /// Walks enter the mesh of an instance at once, as there are no assemblies.
    pub const DETOUR_NONE: u32 = 0;
    /// Instances may be assemblies.
    pub const DETOUR_NESTED: u32 = 1;
    /// The launch is to end: walks end at the next instance, and their results are not used.
    pub const DETOUR_ENDS: u32 = 2;

    /// Table of an emitter that is an assembly.
    pub const EMITTER_IS_ASSEMBLY: u32 = 0xffff_fffe;

    /// Flags of an instance that moves, or whose mesh changes shape, while the shutter is open, and of one that places an assembly.
    pub const INSTANCE_MOVES: u32 = 1;
    pub const INSTANCE_IS_ASSEMBLY: u32 = 2;

    /// Flags of a mesh whose vertices have normals (else triangles are flat), and of those whose attributes have each of the three.
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
    /// Cameras see nothing, or nothing but shadows.
    pub const SURFACE_HOLDOUT: u32 = 32;
    pub const SURFACE_SHADOW_CATCHER: u32 = 64;
    /// Back faces emit nothing.
    pub const SURFACE_ONE_SIDED: u32 = 128;
    /// Back faces are not there.
    pub const SURFACE_CULLED: u32 = 256;
    /// Light from behind passes.
    pub const SURFACE_PASSES_LIGHT: u32 = 512;

    /// Materials are not opaque everywhere.
    pub const CUTOUT_HOLES: u32 = 1;
    /// Back faces of materials are not there.
    pub const CUTOUT_BACKS: u32 = 2;
    /// Light passes materials from behind.
    pub const CUTOUT_LIGHT: u32 = 4;

    pub const TEXELS_SRGB8: u32 = 0;
    pub const TEXELS_FLOAT: u32 = 1;
    pub const TEXELS_LINEAR8: u32 = 2;

    pub const WRAP_REPEAT: u32 = 0;
    pub const WRAP_CLAMP: u32 = 1;
    pub const WRAP_MIRROR: u32 = 2;

    pub const LIGHT_POINT: u32 = 0;
    pub const LIGHT_SUN: u32 = 1;
    pub const LIGHT_SPOT: u32 = 2;
    /// Instances that emit light, as the Whitted integrator knows them.
    pub const LIGHT_SPHERE: u32 = 3;
    pub const LIGHT_DISC: u32 = 4;

    pub const ENVIRONMENT_GRADIENT: u32 = 0;
    pub const ENVIRONMENT_IMAGE: u32 = 1;

    /// Dimension of the sampler that rays draw their time from.
    pub const DIMENSION_TIME: u32 = 0x1_0001;
    /// Dimension of the sampler that rays draw their place on the lens from.
    pub const DIMENSION_LENS: u32 = 0x1_0000;

    pub const CAMERA_PERSPECTIVE: u32 = 0;
    pub const CAMERA_ORTHOGRAPHIC: u32 = 1;
    pub const CAMERA_EQUIRECTANGULAR: u32 = 2;
    /// A perspective camera whose right, up and forward need not be at right angles.
    pub const CAMERA_SKEWED: u32 = 3;

    pub const INTEGRATOR_WHITTED: u32 = 0;
    pub const INTEGRATOR_AO: u32 = 1;
    pub const INTEGRATOR_NORMAL: u32 = 2;
    pub const INTEGRATOR_DEPTH: u32 = 3;
    pub const INTEGRATOR_ALBEDO: u32 = 4;
    pub const INTEGRATOR_INSTANCE: u32 = 5;
    pub const INTEGRATOR_STEPS: u32 = 6;
    pub const INTEGRATOR_PATH: u32 = 7;
    /// Number of integrators, which are numbered from 0.
    pub const INTEGRATOR_UV: u32 = 8;
    pub const INTEGRATOR_MATERIAL: u32 = 9;
    pub const INTEGRATOR_WIREFRAME: u32 = 10;
    pub const INTEGRATOR_COUNT: u32 = 11;

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
    /// A Gaussian of all samples nearby, other pixels' too.
    pub const FILTER_SHARED: u32 = 4;
    /// Intervals of such a table.
    pub const FILTER_STEPS: u32 = 1024;
    /// Floats per pixel of a frame that is denoised with its neighbours, the pixels of a tile in which that happens, and how far from
    /// a pixel others are averaged.
    pub const DENOISE_RECORD: u32 = 16;
    pub const DENOISE_TILE_WIDTH: u32 = 64;
    pub const DENOISE_TILE_HEIGHT: u32 = 64;
    pub const DENOISE_RADIUS: u32 = 3;
    /// Pixels of a tile on GPUs, each a thread's own.
    pub const DENOISE_BLOCK_WIDTH: u32 = 32;
    pub const DENOISE_BLOCK_HEIGHT: u32 = 16;
    /// Names that a matte keeps of a pixel.
    pub const MATTE_RANKS: u32 = 6;
    /// Words of the exact sums of a pixel: three numbers of 96 bits, and the sum of weights.
    pub const EXACT_SUM_WORDS: u32 = 10;

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

mod launch;
mod scene;
mod trees;

pub use launch::*;
pub use scene::*;
pub use trees::*;

/// The layout of every struct, after those of the structs in it.
pub fn layouts() -> impl Iterator<Item = &'static Layout> {
    [trees::LAYOUTS, scene::LAYOUTS, launch::LAYOUTS].into_iter().flatten()
}
