//! Launches: parameters, paths and queues, AOVs, blocks of OpenEXR files.

use super::*;

border! {
    /// The state of one CPU thread (or GPU lane): its traversal stack, that of packets of rays (CPUs only), and its counters.
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

    /// The part of a path that the path integrator keeps besides: where it was scattered last.
    #[repr(C, align(16))]
    #[derive(Default, bytemuck::Zeroable, bytemuck::Pod)]
    pub struct ScatterState {
        /// Shading normal; zero where light was gathered from all around.
        pub normal: [f32; 3],
        /// Pdf of the path's direction, per solid angle.
        pub pdf: f32,
        /// Material of the volume that the path is in, or `NO_INDEX`.
        pub medium: u32,
        /// Bounces so far, as in the kernels' `Path`.
        pub depth: u32,
        /// Distance that the path has come since then, straight through panes.
        pub passed: f32,
        pub reserved: u32,
    }

    /// Light that a path gains if a shadow ray is free, and if it is blocked.
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
        /// Only for the path integrator.
        pub scatters: *mut ScatterState,
        pub shadow_rays: *mut Ray,
        pub shadow_lights: *mut ShadowLight,
        /// Index of the shadow ray of the same path before this, or `NO_INDEX`; only for the path integrator.
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

    /// Parameters of the kernels that make the blocks of an OpenEXR file on the GPU.
    #[repr(C)]
    pub struct ExrParams {
        /// In the order of the file.
        pub channels: *const ExrChannel,
        /// Room for the compressed bytes of each piece.
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
    #[derive(bytemuck::Zeroable)]
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
        /// Variance of alpha as far as it comes from shadows on shadow catchers.
        pub alpha_variance: *mut f32,
        /// Four floats per pixel: standard deviations of the radiance that shadows take, RGB, and of the alpha that they give. Null where no
        /// variance is asked for.
        pub shade_noise: *mut f32,
        /// What covers pixels, if samples are shared and a layer has it: nine times four floats per pixel, laid out like the film's shares
        /// (`kernels/film/share.h`). `gather_cover` makes alpha and shadows of them.
        pub cover: *mut f32,
        /// Exact sums that the AOVs are made of, `sum_words` words per pixel; null unless they are asked for.
        pub sums: *mut u32,
        /// `join_aovs`: the sums to add, laid out alike.
        pub other_sums: *const u32,
        /// Ids of the names of all instances, or in a scene with assemblies their names (`film/names.h`); and ids of those of all rows of the
        /// material table.
        pub instance_names: *const u32,
        pub material_names: *const u32,
        pub before: OtherFrame,
        pub after: OtherFrame,
        /// The frame's own time, where rays have times of their own; else without transforms.
        pub now: OtherFrame,
        pub sum_words: u64,
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
        /// The instance that a standalone model stands on, which most views leave out; or NO_INDEX.
        pub stage: u32,
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
        /// A sum of `CUTOUT_*`: what some of the materials have. Not 0: traversal has to ask materials.
        pub has_cutouts: u32,
        /// 1 if shading differs enough among materials for entries of a wave to be sorted by it.
        pub sorts_shading: u32,
        /// 1 if some materials may be panes, which let light pass straight through.
        pub has_panes: u32,
        pub reserved: u32,
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
        /// The world and each assembly; null in scenes without assemblies, as are the next three.
        pub levels: *const NestLevel,
        /// For each instance of the scene, the number in its level of what it places, and its record.
        pub numbers: *const u32,
        pub records_of: *const u32,
        /// The instance of the scene that each record is of.
        pub indices: *const u32,
        /// Whether meshes share numbers.
        pub shares_numbers: u32,
        /// How walks on a CPU enter instances, one of `DETOUR_*`. It may change while kernels run.
        pub detour: u32,
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
        pub fog: FogRecord,
        /// The place in the world to which all positions are relative, except those of lights in tables; 0 for frames in the world's own space.
        pub origin: [f32; 3],
        /// Distance below which a hit may lie behind a ray's origin by rounding alone, in scenes with levels and primitives that are
        /// large beside others (`scene::Far::reach`); otherwise 0.
        pub near: f32,
    }

    /// The settings that samples of a picture depend on.
    #[repr(C)]
    #[derive(bytemuck::Zeroable)]
    pub struct PictureParams {
        pub camera: CameraRecord,
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
        /// One of `FILTER_*`.
        pub filter: u32,
        /// Start of the filter's table within those of all.
        pub filter_table: u32,
        /// Reach in pixels; of a Gaussian, relative to 1.5.
        pub filter_scale: f32,
        /// 1 if some samples count negatively.
        pub filter_signed: u32,
        /// A single sample is clamped to this radiance, so that glints of the sun do not turn into fireflies. Infinite where the film is kept.
        pub radiance_clamp: f32,
        /// Radiance that the path integrator clamps the light of each lamp to after a bounce.
        pub indirect_clamp: f32,
        /// Share of the unoccluded sky that reaches points whose sky ray is blocked: stands for light
        /// that arrives after further bounces.
        pub ambient_fill: f32,
        /// 1 if camera rays that leave the scene bring no light.
        pub transparent: u32,
        /// Angular radius of the discs that stars are drawn as.
        pub star_radius: f32,
        /// Width of the edges of triangles in pixels, and whether they are drawn.
        pub edge_width: f32,
        pub draws_edges: u32,
    }

    /// The settings that turn a film into pixels.
    #[repr(C)]
    #[derive(bytemuck::Zeroable)]
    pub struct DisplayParams {
        /// Radiance multiplier, 2^stops.
        pub exposure: f32,
        pub tone_map: u32,
        /// One of `PIXELS_*`.
        pub pixel_type: u32,
        /// How far rounding to bytes is spread, in steps.
        pub dither: f32,
        /// 1 if colours are balanced by `white`, a matrix in rows.
        pub has_white: u32,
        pub white: [f32; 9],
    }

    /// Where a picture goes, and which of its samples a launch adds.
    #[repr(C)]
    #[derive(bytemuck::Zeroable)]
    pub struct FilmParams {
        /// Sums of radiance and the number of samples: the bits of four floats per pixel or, if sums are exact, `EXACT_SUM_WORDS`. Behind
        /// those of all pixels, if samples are shared, nine times as many (`kernels/film/share.h`).
        pub sums: *mut u32,
        /// Sums of the samples with odd numbers, laid out like the film; null unless noise is measured.
        pub half_sums: *mut u32,
        /// `join_sums`: the exact sums to add.
        pub other_sums: *const u32,
        /// `measure_tile`: noise of every tile.
        pub tile_errors: *mut f32,
        /// The tiles that are sampled; null for all of the picture.
        pub tiles: *const u32,
        /// `resolve_pixel`: RGB out, of `pixel_type`.
        pub pixels: *mut u8,
        /// `gather_aovs`: where AOVs go.
        pub aovs: *const FrameAovs,
        /// `resolve_pixel`: alpha of pixels, by which display colours are divided; null if they are opaque.
        pub alpha: *const f32,
        /// `resolve_pixel`: radiance that is taken from pixels for the shadows on what is behind shadow catchers; null if there is none.
        pub shadow: *const f32,
        /// `resolve_pixel`: shares of pixels that edges cover, which are drawn in black; null if none are drawn.
        pub wireframe: *const f32,
        /// Size in pixels.
        pub width: u32,
        pub height: u32,
        /// Size of the whole picture, and the film's place in it.
        pub picture_width: u32,
        pub picture_height: u32,
        pub left: u32,
        pub top: u32,
        pub sample_begin: u32,
        pub sample_end: u32,
        /// 1 if sums are exact.
        pub exact: u32,
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

    /// A frame in the window of the denoiser of films.
    #[repr(C)]
    pub struct DenoiseFrame {
        /// `DENOISE_RECORD` floats per pixel: radiance, its variance, albedo and normal, three each, and motion to the frame before and
        /// to the next, in pixels to the right and downwards. The first four of all pixels come first, then the next four, and so on. Null
        /// where there is no such frame.
        pub records: *const f32,
        /// A weight for each tile of 8x8 pixels, by how many samples these have. Null where all weights are 1, as on GPUs.
        pub weights: *const f32,
        /// Two planes of a transparent picture: alpha and its variance. Null where pictures are opaque, as on GPUs.
        pub alpha: *const f32,
    }

    /// A frame's layers, and the records that the denoiser of films makes of them.
    #[repr(C)]
    #[derive(bytemuck::Zeroable)]
    pub struct DenoiseLayers {
        /// Three floats per pixel, as the next three.
        pub radiance: *const f32,
        pub variance: *const f32,
        pub albedo: *const f32,
        pub normal: *const f32,
        /// Four floats per pixel: to the frame before and from the next, in pixels to the right and upwards.
        pub motion: *const f32,
        /// A float per pixel of a transparent picture. Null where pictures are opaque, as on GPUs.
        pub alpha: *const f32,
        /// Two floats per pixel between the steps: the share of its light that a pixel keeps, and the share that pixels around it get.
        pub outliers: *mut f32,
        /// As in `DenoiseFrame`, out.
        pub records: *mut f32,
        pub width: u32,
        pub height: u32,
    }

    /// Parameters of the denoiser of films.
    #[repr(C)]
    #[derive(bytemuck::Zeroable)]
    pub struct DenoiseParams {
        pub layers: DenoiseLayers,
        /// 2 * `reach` + 1 frames, with the one that is denoised in the middle.
        pub frames: *const DenoiseFrame,
        /// Thirteen planes between the steps: radiance divided by albedo, its variance, albedo and normal, and a pixel's own share in these.
        pub gathered: *mut f32,
        /// Six planes between the second step and a third, wider one: averaged radiance divided by albedo, and the variance to compare it by.
        /// Null without a third step.
        pub spread: *mut f32,
        /// Denoised radiance out, RGB per pixel.
        pub radiance: *mut f32,
        /// Two planes out: standard deviation of a pixel that is denoised, and of one that is not, over colours.
        pub errors: *mut f32,
        /// Three planes: alpha of the gathered frame and its variance, which the second step reads, and averaged alpha out. A third step reads
        /// that, and writes to the first plane. Null where pictures are opaque, as on GPUs.
        pub alpha: *mut f32,
        pub width: u32,
        pub height: u32,
        pub reach: u32,
        /// How much of the noise is taken for differences between pixels.
        pub strength: f32,
        /// Differences of albedo and of normals that cost a weight of 1/e.
        pub albedo_width: f32,
        pub normal_width: f32,
        /// Added to albedos that radiance is divided by.
        pub albedo_floor: f32,
        /// How much more noise is in means of pixels nearby than if theirs had nothing in common.
        pub correlation: f32,
        /// Whether motion to the next frame is known besides that to the one before.
        pub returns: u32,
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
        pub display: DisplayParams,
        pub film: FilmParams,
        pub query: QueryParams,
        /// `denoise_*`.
        pub denoise: *const DenoiseParams,
    }
}
