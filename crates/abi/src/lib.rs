//! Every struct that Rust and the kernels share, declared once.
//!
//! `build.rs` includes this file and writes the C++ counterpart (`abi.h`) with an assertion for each size and offset. A test compares the offsets
//! again through each compiled kernel. Fields are plain `f32`, `u32`, `u64`, arrays and pointers. There are no glam types, because their alignment
//! depends on features. Matrices are 3×4, row-major.
//!
//! This module sits below `accel`, which fills nodes and records, and `device`, which passes them to kernels.

/// One field of a shared struct, for the generated header and the layout test.
pub struct Field {
    pub name: &'static str,
    pub rust_type: &'static str,
    pub offset: usize,
}

/// One shared struct.
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
    /// Bit of a child reference to a leaf: a triangle pack in a BLAS, an instance record in a TLAS.
    pub const LEAF: u32 = 0x8000_0000;
    /// An empty child slot. Its box is inverted, so no ray enters it.
    pub const EMPTY_CHILD: u32 = 0xffff_ffff;
    /// Triangles per [`TrianglePack`].
    pub const PACK_SIZE: u32 = 8;
    /// Maximum number of triangles per [`SharedPack`], and of its vertices.
    pub const SHARED_PACK_SIZE: u32 = 16;
    /// Traversal stack entries for compressed trees: levels of the TLAS plus levels of the deepest BLAS.
    pub const COMPRESSED_STACK: u32 = 64;
    /// Traversal stack entries if assemblies contain assemblies: all levels of all trees on the longest path.
    pub const NESTED_STACK: u32 = 160;
    /// Maximum number of levels of a TLAS that a GPU builds, without a common root above it, and number of rounds of merging that run on all of the GPU.
    pub const TLAS_LEVELS: u32 = 31;
    pub const TLAS_ROUNDS: u32 = 64;
    /// Maximum number of trees below the common root of a TLAS.
    pub const TLAS_PARTS: u32 = 3;
    /// Number of cells along an edge of a face of the cube map that holds the extreme vertices of a mesh, and of all cells.
    pub const SUPPORT_EDGE: u32 = 16;
    pub const SUPPORT_CELLS: u32 = 1536;
    /// Maximum number of panes that a path passes after its last bounce.
    pub const PANES_BEYOND_BOUNCES: u32 = 16;
    /// Maximum nesting depth of assemblies.
    pub const MOST_NESTED: u32 = 12;
    /// Maximum number of interleaved rays per CPU thread.
    pub const MAX_INTERLEAVED: u32 = 8;
    /// Marks a missing index.
    pub const NO_INDEX: u32 = 0xffff_ffff;

    pub const SHAPE_TRIANGLES: u32 = 0;
    pub const SHAPE_SPHERE: u32 = 1;
    /// Leaves are [`SharedPack`]s; only in trees of nodes with 16 children.
    pub const SHAPE_SHARED_TRIANGLES: u32 = 2;
    /// An assembly of instances instead of a mesh.
    pub const SHAPE_ASSEMBLY: u32 = 3;
    /// Round segments, and ribbons that face the ray.
    pub const SHAPE_CURVES: u32 = 4;
    pub const SHAPE_RIBBONS: u32 = 5;

    /// Traversal enters an instance's mesh directly, because there are no assemblies.
    pub const DETOUR_NONE: u32 = 0;
    /// Instances may be assemblies.
    pub const DETOUR_NESTED: u32 = 1;
    /// The launch must end: traversals stop at the next instance, and their results are discarded.
    pub const DETOUR_ENDS: u32 = 2;

    /// Value of [`EmitterRecord::table`] for an assembly.
    pub const EMITTER_IS_ASSEMBLY: u32 = 0xffff_fffe;

    /// Flags of an instance: its transform or its mesh moves while the shutter is open, and it places an assembly.
    pub const INSTANCE_MOVES: u32 = 1;
    pub const INSTANCE_IS_ASSEMBLY: u32 = 2;

    /// Flags of a mesh: vertices have normals (otherwise triangles are flat), and the optional attributes that its records contain.
    pub const MESH_SMOOTH: u32 = 1;
    pub const MESH_TANGENTS: u32 = 2;
    pub const MESH_COLORS: u32 = 4;
    pub const MESH_UV1: u32 = 8;

    pub const MATERIAL_DIFFUSE: u32 = 0;
    pub const MATERIAL_MIRROR: u32 = 1;
    pub const MATERIAL_LAYERED: u32 = 2;
    pub const MATERIAL_HAIR: u32 = 3;

    /// The Whitted integrator treats the surface as a mirror.
    pub const SURFACE_POLISHED: u32 = 1;
    pub const SURFACE_UNLIT: u32 = 2;
    pub const SURFACE_DOUBLE_SIDED: u32 = 4;
    pub const SURFACE_MASK: u32 = 8;
    pub const SURFACE_BLEND: u32 = 16;
    /// Invisible to cameras, or visible to cameras by its shadows only.
    pub const SURFACE_HOLDOUT: u32 = 32;
    pub const SURFACE_SHADOW_CATCHER: u32 = 64;
    /// Back faces emit no light.
    pub const SURFACE_ONE_SIDED: u32 = 128;
    /// Back faces are invisible to all rays.
    pub const SURFACE_CULLED: u32 = 256;
    /// Light that arrives from behind passes through.
    pub const SURFACE_PASSES_LIGHT: u32 = 512;
    /// Some property of the material has a map.
    pub const SURFACE_MAPPED: u32 = 1024;

    /// Some material is not opaque everywhere.
    pub const CUTOUT_HOLES: u32 = 1;
    /// Some material has no back faces.
    pub const CUTOUT_BACKS: u32 = 2;
    /// Some material lets light pass from behind.
    pub const CUTOUT_LIGHT: u32 = 4;

    pub const TEXELS_RGBA8: u32 = 0;
    pub const TEXELS_FLOAT: u32 = 1;
    /// One byte, for three equal channels. The first of the compact formats.
    pub const TEXELS_GREY8: u32 = 2;
    pub const TEXELS_BC1: u32 = 3;
    /// Transparent texels are opaque black.
    pub const TEXELS_BC1_OPAQUE: u32 = 4;
    pub const TEXELS_BC3: u32 = 5;
    /// Three channels are equal.
    pub const TEXELS_BC4: u32 = 6;
    /// Blue makes normals of unit length of red and green.
    pub const TEXELS_BC5: u32 = 7;
    pub const TEXELS_BC7: u32 = 8;

    /// Magnified without interpolation.
    pub const TEXTURE_NEAREST: u32 = 1;
    /// Texels are normals. The alpha of smaller levels is then the standard deviation of their slopes.
    pub const TEXTURE_NORMALS: u32 = 2;
    /// Colours with eight bits are in sRGB.
    pub const TEXTURE_SRGB: u32 = 4;

    pub const WRAP_REPEAT: u32 = 0;
    pub const WRAP_CLAMP: u32 = 1;
    pub const WRAP_MIRROR: u32 = 2;

    pub const LIGHT_POINT: u32 = 0;
    pub const LIGHT_SUN: u32 = 1;
    pub const LIGHT_SPOT: u32 = 2;
    /// Emissive instances, as lights of the Whitted integrator.
    pub const LIGHT_SPHERE: u32 = 3;
    pub const LIGHT_DISC: u32 = 4;

    pub const ENVIRONMENT_GRADIENT: u32 = 0;
    pub const ENVIRONMENT_IMAGE: u32 = 1;

    /// Sampler dimension of a ray's time.
    pub const DIMENSION_TIME: u32 = 0x1_0001;
    /// Sampler dimension of a ray's position on the lens.
    pub const DIMENSION_LENS: u32 = 0x1_0000;

    pub const CAMERA_PERSPECTIVE: u32 = 0;
    pub const CAMERA_ORTHOGRAPHIC: u32 = 1;
    pub const CAMERA_EQUIRECTANGULAR: u32 = 2;
    /// A perspective camera whose right, up and forward vectors need not be orthogonal.
    pub const CAMERA_SKEWED: u32 = 3;
    /// A lens with OpenCV's rational distortion, and one with the distortion of Kannala and Brandt.
    pub const CAMERA_RATIONAL: u32 = 4;
    pub const CAMERA_FISHEYE: u32 = 5;

    pub const INTEGRATOR_WHITTED: u32 = 0;
    pub const INTEGRATOR_AO: u32 = 1;
    pub const INTEGRATOR_NORMAL: u32 = 2;
    pub const INTEGRATOR_DEPTH: u32 = 3;
    pub const INTEGRATOR_ALBEDO: u32 = 4;
    pub const INTEGRATOR_INSTANCE: u32 = 5;
    pub const INTEGRATOR_STEPS: u32 = 6;
    pub const INTEGRATOR_PATH: u32 = 7;
    pub const INTEGRATOR_UV: u32 = 8;
    pub const INTEGRATOR_MATERIAL: u32 = 9;
    pub const INTEGRATOR_WIREFRAME: u32 = 10;
    /// Number of integrators, which are numbered from 0.
    pub const INTEGRATOR_COUNT: u32 = 11;

    pub const TONE_NONE: u32 = 0;
    pub const TONE_ACES: u32 = 1;
    /// The film already holds display values (debugging views); neither exposure nor the sRGB curve is applied.
    pub const TONE_DISPLAY: u32 = 2;
    pub const TONE_AGX: u32 = 3;
    pub const TONE_PBR_NEUTRAL: u32 = 4;

    pub const FILTER_GAUSSIAN: u32 = 0;
    pub const FILTER_BOX: u32 = 1;
    pub const FILTER_TENT: u32 = 2;
    /// A filter that is sampled from a table.
    pub const FILTER_TABLE: u32 = 3;
    /// A Gaussian over all nearby samples, including samples of other pixels.
    pub const FILTER_SHARED: u32 = 4;
    /// Number of intervals in a filter table.
    pub const FILTER_STEPS: u32 = 1024;
    /// Floats per pixel of a frame for the denoiser, size in pixels of its tiles, and radius in pixels of the averaging window.
    pub const DENOISE_RECORD: u32 = 16;
    pub const DENOISE_TILE_WIDTH: u32 = 64;
    pub const DENOISE_TILE_HEIGHT: u32 = 64;
    pub const DENOISE_RADIUS: u32 = 3;
    /// Size of a denoising tile on GPUs, with one thread per pixel.
    pub const DENOISE_BLOCK_WIDTH: u32 = 32;
    pub const DENOISE_BLOCK_HEIGHT: u32 = 16;
    /// Number of names that a matte stores per pixel.
    pub const MATTE_RANKS: u32 = 6;
    /// Words of a pixel's exact sum: three 96-bit integers, and the sum of weights.
    pub const EXACT_SUM_WORDS: u32 = 10;

    /// Types of finished pixels. Floats are the film's values, without exposure and tone curve.
    pub const PIXELS_U8: u32 = 0;
    pub const PIXELS_U16: u32 = 1;
    pub const PIXELS_F32: u32 = 2;

    /// Types of a channel in a file: half float, float, and float that is never infinite.
    pub const CHANNEL_HALF: u32 = 0;
    pub const CHANNEL_FLOAT: u32 = 1;
    pub const CHANNEL_DEPTH: u32 = 2;
    /// Bytes that are compressed together, and the maximum size after compression.
    pub const EXR_PIECE: u32 = 16384;
    pub const EXR_PIECE_ROOM: u32 = 16416;
}

mod denoise;
mod launch;
mod scene;
mod tlas;
mod trees;
mod upload;

pub use denoise::*;
pub use launch::*;
pub use scene::*;
pub use tlas::*;
pub use trees::*;
pub use upload::Upload;

/// The layouts of all structs. Each comes after the structs that it contains.
pub fn layouts() -> impl Iterator<Item = &'static Layout> {
    [trees::LAYOUTS, tlas::LAYOUTS, scene::LAYOUTS, denoise::LAYOUTS, launch::LAYOUTS].into_iter().flatten()
}
