//! Kernel launches: parameters, paths and queues, AOVs, blocks of OpenEXR files.

use super::*;

border! {
    /// The state of one CPU thread (or GPU lane): its traversal stacks for single rays and for packets of rays (CPUs only), and its counters.
    #[repr(C)]
    pub struct Thread {
        /// `stacks` stacks of `stack_entries` entries each, concatenated.
        pub stack: *mut StackEntry,
        pub packet_stack: *mut PacketEntry,
        pub stack_entries: u32,
        /// Number of rays that can be interleaved, at least 1; more than 1 for a large TLAS. CPUs only.
        pub stacks: u32,
        pub primary_rays: u64,
        pub bounce_rays: u64,
        pub shadow_rays: u64,
    }

    /// The state of a path in the wavefront schedule between two of its rays.
    #[repr(C, align(16))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct PathState {
        pub throughput: [f32; 3],
        /// Index of the path's first shadow ray; they are contiguous in the queue. For the path integrator, index of the last one, or `NO_INDEX`;
        /// they are chained.
        pub first_shadow: u32,
        pub radiance: [f32; 3],
        /// The cone around the path's next ray (`kernels/geom/footprint.h`), and the number of its shadow rays in the lowest three bits.
        pub cone_and_shadows: u32,
    }

    /// Additional state of a path for the path integrator, from its last scattering event.
    #[repr(C, align(16))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct ScatterState {
        /// Shading normal; zero where light was gathered from all around.
        pub normal: [f32; 3],
        /// Pdf of the path's direction, per solid angle.
        pub pdf: f32,
        /// Index of the material of the volume that the path is in, or `NO_INDEX`.
        pub medium: u32,
        /// Number of bounces so far, as in the kernels' `Path`.
        pub depth: u32,
        /// Distance from the last scattering event, straight through panes.
        pub passed: f32,
        pub reserved: u32,
    }

    /// Radiance that a path gains if a shadow ray is unoccluded, and if it is blocked.
    #[repr(C)]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct ShadowLight {
        pub open: [f32; 3],
        pub blocked: [f32; 3],
    }

    /// Length of a queue, and the number of its entries that tracing warps have fetched.
    #[repr(C)]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct QueueState {
        pub length: u32,
        pub fetched: u32,
    }

    /// Numbers of rays traced, by kind.
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
        /// Index of each ray's path.
        pub owners: [*mut u32; 2],
        /// One hit per ray of the current wave.
        pub hits: *mut Hit,
        pub paths: *mut PathState,
        /// For the path integrator only.
        pub scatters: *mut ScatterState,
        pub shadow_rays: *mut Ray,
        pub shadow_lights: *mut ShadowLight,
        /// Index of the path's previous shadow ray, or `NO_INDEX`; for the path integrator only.
        pub shadow_previous: *mut u32,
        /// 1 for each shadow ray that was blocked, otherwise 0.
        pub shadow_blocked: *mut u32,
        /// State of the shadow rays' queue, then one state per wave.
        pub queues: *mut QueueState,
        pub tally: *mut RayTally,
        /// The paths are all combinations of samples `sample_begin..sample_end` and the items that start at `first_item`.
        pub first_item: u32,
        pub path_count: u32,
        pub wave: u32,
        pub reserved: u32,
    }

    /// A channel of an OpenEXR file.
    #[repr(C)]
    pub struct ExrChannel {
        /// Address of the first pixel's value; consecutive pixels are `stride` floats apart.
        pub values: *const f32,
        pub stride: u32,
        pub kind: u32,
        /// Offset of the channel in a row, in bytes.
        pub begin: u32,
        pub reserved: u32,
    }

    /// A part of a block that is compressed on its own.
    #[repr(C)]
    #[derive(Default)]
    pub struct ExrPiece {
        /// Size in bytes after compression, and offset in the block's compressed bytes.
        pub size: u32,
        pub begin: u32,
        /// Adler-32 of the piece alone: both sums, without the initial 1.
        pub sums: [u32; 2],
    }

    /// A block: rows that are compressed together.
    #[repr(C)]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct ExrBlock {
        /// Offset in bytes from the first block, and size in bytes of the data after the block's two-number header.
        pub offset: u64,
        pub size: u32,
        /// Adler-32 of the uncompressed data.
        pub checksum: u32,
    }

    /// Parameters of the kernels that compress the blocks of an OpenEXR file on the GPU.
    #[repr(C)]
    pub struct ExrParams {
        /// Channels in the order of the file.
        pub channels: *const ExrChannel,
        /// Memory for the compressed bytes of each piece.
        pub room: *mut u8,
        pub pieces: *mut ExrPiece,
        /// One entry per block, and one more whose offset is the end of the last block.
        pub blocks: *mut ExrBlock,
        /// Output: all blocks, concatenated.
        pub out: *mut u8,
        pub channel_count: u32,
        pub width: u32,
        pub height: u32,
        /// Rows per block, and bytes per row.
        pub block_rows: u32,
        pub row_bytes: u32,
        pub pieces_per_block: u32,
        pub block_count: u32,
        pub reserved: u32,
    }

    /// The scene at the time of another frame.
    #[repr(C)]
    #[derive(bytemuck::Zeroable)]
    pub struct OtherFrame {
        pub camera: CameraRecord,
        pub reserved: [u32; 2],
        /// `world_from_object` of the instances in `places`; null if only the camera moves.
        pub transforms: *const f32,
        /// For each instance of the scene, the index of its transform, or `NO_INDEX` if it never moves; null if all have one.
        pub places: *const u32,
        /// For each instance, the index of the mesh that it shows; null if these never change.
        pub shown: *const u32,
        pub meshes: *const MeshRecord,
    }

    /// Addresses of a frame's AOVs, null for AOVs that are not requested, and the data that kernels need for them. Pixels are row-major, the top row
    /// first.
    #[repr(C)]
    #[derive(bytemuck::Zeroable)]
    pub struct FrameAovs {
        pub albedo: *mut f32,
        pub normal: *mut f32,
        pub depth: *mut f32,
        pub position: *mut f32,
        pub motion: *mut f32,
        pub variance: *mut f32,
        pub instance: *mut f32,
        pub material: *mut f32,
        pub alpha: *mut f32,
        pub shadow: *mut f32,
        pub wireframe: *mut f32,
        /// The part of alpha's variance that comes from shadows on shadow catchers.
        pub alpha_variance: *mut f32,
        /// Four floats per pixel: standard deviations of the radiance that shadows remove (RGB), and of the alpha that they add. Null if no variance
        /// is requested.
        pub shade_noise: *mut f32,
        /// Shared coverage, if samples are shared and a layer needs it: nine times four floats per pixel, in the layout of the film's shares
        /// (`kernels/film/share.h`). `gather_cover` computes alpha and shadows from it.
        pub cover: *mut f32,
        /// Exact sums for the AOVs, `sum_words` words per pixel; null unless requested.
        pub sums: *mut u32,
        /// Input of `join_aovs`: the sums to add, in the layout of `sums`.
        pub other_sums: *const u32,
        /// IDs of the names of all instances; in a scene with assemblies, a table of names (`film/names.h`). Then IDs of the names of all rows of the
        /// material table. Null if AOVs store numbers in place of IDs.
        pub instance_names: *const u32,
        pub material_names: *const u32,
        pub before: OtherFrame,
        pub after: OtherFrame,
        /// The frame's own time, if rays have times; otherwise without transforms.
        pub now: OtherFrame,
        pub sum_words: u64,
        /// Distance from the picture's edges, in pixels, within which shadows on shadow catchers fade; 0 for none.
        pub shade_margin: f32,
        pub reserved: u32,
    }

    /// Tables of a scene that all of its frames share.
    #[repr(C)]
    #[derive(bytemuck::Zeroable)]
    pub struct SceneParams {
        pub material_slots: *const u32,
        pub textures: *const TextureRecord,
        /// Linear values of the 256 sRGB-encoded bytes.
        pub srgb_table: *const f32,
        /// Tables of all filters that are importance-sampled from a table. Each has `FILTER_STEPS` + 1 entries, at equal steps of the filter's
        /// volume: the distance from the pixel's centre, relative to the filter's radius.
        pub filter_tables: *const f32,
        /// Rows and cells of the environment image's sampling table.
        pub sky_rows: *const SkyCell,
        pub sky_cells: *const SkyCell,
        pub environment: EnvironmentRecord,
        /// Index of the instance on which a standalone model stands, which most debugging views omit; or `NO_INDEX`.
        pub stage: u32,
    }

    /// Meshes, materials and lights: the scene's, or the frame's own if they change.
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
        /// Luminance of the total irradiance of all suns.
        pub sun_irradiance: f32,
        /// A sum of `CUTOUT_*` over all materials. If it is not 0, traversal must evaluate materials.
        pub has_cutouts: u32,
        /// 1 if shading costs differ enough among materials for a wave's entries to be sorted by class.
        pub sorts_shading: u32,
        /// 1 if some materials may be panes, which let light pass straight through.
        pub has_panes: u32,
        /// 1 if there are textures with mip maps, which are filtered.
        pub has_mips: u32,
    }

    /// The trees of a frame. Only the layout that the kernel variant traverses is set; the other one's pointers are null.
    #[repr(C)]
    #[derive(bytemuck::Zeroable)]
    pub struct TreeParams {
        pub tlas_nodes: *const WideNode,
        pub blas: *const BlasRecord,
        /// Compressed trees: the TLAS's units, then units and leaves of all BLASes, concatenated. Leaves are rows of patches, or numbers of segments.
        pub tlas_units: *const Unit,
        pub blas_units: *const Unit,
        pub leaves: *const PatchRow,
        pub instances: *const InstanceRecord,
        /// The world and each assembly; null in scenes without assemblies, like the next three pointers.
        pub levels: *const NestLevel,
        /// For each instance of the scene, the first number that it takes in its level, and the index of its record.
        pub numbers: *const u32,
        pub records_of: *const u32,
        /// For each record, the index of its instance in the scene.
        pub indices: *const u32,
        /// 1 if consecutive meshes of a level share numbers, because there are too many for unique ones.
        pub shares_numbers: u32,
        /// The mode in which traversal on a CPU enters instances, one of `DETOUR_*`. It may change while kernels run.
        pub detour: u32,
    }

    /// Motion keys over the shutter interval; null if the scene has none.
    #[repr(C)]
    #[derive(bytemuck::Zeroable)]
    pub struct KeyParams {
        /// Camera poses at `camera_segments` + 1 even steps over the shutter interval; null and 0 if the camera stands still.
        pub cameras: *const CameraRecord,
        pub instances: *const InstanceKey,
        /// Keys of each mesh; null if no mesh deforms while the shutter is open.
        pub meshes: *const MeshKeys,
        pub camera_segments: u32,
    }

    /// Values of a frame that do not depend on the device.
    #[repr(C)]
    #[derive(bytemuck::Zeroable)]
    pub struct FrameParams {
        /// 1 if rays have a time: `t_min` then stores the fraction of the shutter interval, and all rays start at distance 0.
        pub moves: u32,
        pub tlas_root: u32,
        /// Greatest absolute coordinate of the bounds; for uncompressed trees.
        pub tlas_magnitude: f32,
        /// Group of units at which traversals of compressed trees begin: the root, or the only instance.
        pub start_base: u32,
        pub start_mask: u32,
        /// Minimum number of lanes with a leaf at which a traversal round tests leaves right after its first node.
        pub leaf_lanes: u32,
        /// Minimum number of lanes with a leaf at which a round tests leaves at its end, unless all lanes have one.
        pub late_leaf_lanes: u32,
        /// Minimum number of idle lanes at which a warp with an empty queue splits the traversals of its busy lanes.
        pub split_lanes: u32,
        /// Bounds of the TLAS, widened like the boxes of compressed nodes.
        pub bounds_min: [f32; 3],
        pub bounds_max: [f32; 3],
        /// Maximum length of ambient-occlusion rays, and the distance that the depth view shows as black.
        pub ao_distance: f32,
        pub depth_range: f32,
        pub fog: FogRecord,
        /// World-space point to which all positions are relative, except for lights in tables; 0 for frames in world space.
        pub origin: [f32; 3],
        /// Distance below which a hit may lie behind a ray's origin because of rounding. Nonzero only in scenes with levels and with primitives that
        /// are much larger than others (`scene::Far::reach`).
        pub near: f32,
    }

    /// What differs between the pictures of a batch, which are on one film.
    #[repr(C, align(16))]
    #[derive(bytemuck::Zeroable, bytemuck::Pod)]
    pub struct ViewRecord {
        pub camera: CameraRecord,
        pub seed: u32,
        pub reserved: u32,
    }

    /// The picture settings that affect samples.
    #[repr(C)]
    #[derive(bytemuck::Zeroable)]
    pub struct PictureParams {
        /// Cameras and seeds of the pictures of a batch, which replace `camera` and `seed`; null for a single picture. The pictures are on one film,
        /// one below the other. The film is as wide as a picture and begins at its top left.
        pub views: *const ViewRecord,
        pub camera: CameraRecord,
        pub bounces: u32,
        pub seed: u32,
        /// Number of bits of a sample number.
        pub sample_bits: u32,
        pub integrator: u32,
        /// Octants to exchange in the order in which any-hit traversals visit a node's children: 0 for near ones first, 7 for far ones first.
        pub any_order: u32,
        /// 1 if textures are averaged over the footprints of rays.
        pub filter_textures: u32,
        /// 1 if light that microfacets scatter more than once is omitted.
        pub single_scatter: u32,
        pub viewer_layering: u32,
        /// One of `FILTER_*`.
        pub filter: u32,
        /// Index of the filter's table among all tables.
        pub filter_table: u32,
        /// Filter radius in pixels; for a Gaussian, relative to 1.5.
        pub filter_scale: f32,
        /// 1 if the filter has negative weights.
        pub filter_signed: u32,
        /// Upper limit of a single sample's radiance, which prevents fireflies from the sun's glints. Infinite if the film is kept.
        pub radiance_clamp: f32,
        /// Upper limit of the radiance of one light contribution after the first bounce; path integrator only.
        pub indirect_clamp: f32,
        /// Fraction of the unoccluded sky's light that points receive if their sky ray is blocked. It approximates light that arrives after further
        /// bounces.
        pub ambient_fill: f32,
        /// 1 if camera rays that leave the scene return no light.
        pub transparent: u32,
        /// Angular radius of the discs that represent stars.
        pub star_radius: f32,
        /// Width of drawn triangle edges in pixels, and 1 if they are drawn.
        pub edge_width: f32,
        pub draws_edges: u32,
    }

    /// The settings that convert a film to pixels.
    #[repr(C)]
    #[derive(bytemuck::Zeroable)]
    pub struct DisplayParams {
        /// Radiance multiplier, 2^stops.
        pub exposure: f32,
        pub tone_map: u32,
        /// One of `PIXELS_*`.
        pub pixel_type: u32,
        /// Dither amplitude in 8-bit steps.
        pub dither: f32,
        /// 1 if colours are multiplied by `white`, a row-major 3×3 matrix.
        pub has_white: u32,
        pub white: [f32; 9],
    }

    /// The film of a picture, and the samples that a launch adds.
    #[repr(C)]
    #[derive(bytemuck::Zeroable)]
    pub struct FilmParams {
        /// Sums of radiance and the number of samples: the bits of four floats per pixel or, if sums are exact, `EXACT_SUM_WORDS` words. If samples
        /// are shared, nine times as many words for shares follow (`kernels/film/share.h`).
        pub sums: *mut u32,
        /// Sums of the odd-numbered samples, in the layout of `sums`; null unless noise is measured.
        pub half_sums: *mut u32,
        /// Input of `join_sums`: the exact sums to add.
        pub other_sums: *const u32,
        /// Output of `measure_tile`: the noise of every tile.
        pub tile_errors: *mut f32,
        /// Numbers of the tiles that are sampled; null for the whole picture.
        pub tiles: *const u32,
        /// Output of `resolve_pixel`: RGB of type `pixel_type`.
        pub pixels: *mut u8,
        /// Output of `gather_aovs`.
        pub aovs: *const FrameAovs,
        /// Input of `resolve_pixel`: alpha of each pixel, by which display colours are divided; null for opaque pictures.
        pub alpha: *const f32,
        /// Input of `resolve_pixel`: radiance to subtract for shadows on the background behind shadow catchers; null if there is none.
        pub shadow: *const f32,
        /// Input of `resolve_pixel`: the fraction of each pixel that is covered by edges, which are drawn in black; null if none are drawn.
        pub wireframe: *const f32,
        /// Size of the film in pixels.
        pub width: u32,
        pub height: u32,
        /// Size of the whole picture in pixels, and position of the film in it.
        pub picture_width: u32,
        pub picture_height: u32,
        pub left: u32,
        pub top: u32,
        pub sample_begin: u32,
        pub sample_end: u32,
        /// 1 if sums are exact.
        pub exact: u32,
    }

    /// Rays that are traced without a picture.
    #[repr(C)]
    #[derive(bytemuck::Zeroable)]
    pub struct QueryParams {
        pub rays: *const Ray,
        /// Output of `trace_*`.
        pub hits: *mut Hit,
        /// Output of `count_*`: the work of each ray.
        pub work: *mut RayWork,
    }

    /// Launch parameters of every kernel, in parts by the code that fills them. Parts that a kernel does not read are zero.
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
        pub display: DisplayParams,
        pub film: FilmParams,
        pub query: QueryParams,
        /// For `denoise_*` kernels.
        pub denoise: *const DenoiseParams,
    }
}
