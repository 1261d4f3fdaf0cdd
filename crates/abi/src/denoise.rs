//! The animation denoiser: frames, their layers, and parameters.

use super::*;

border! {
    /// A frame in the window of the animation denoiser.
    #[repr(C)]
    pub struct DenoiseFrame {
        /// `DENOISE_RECORD` floats per pixel: radiance, its variance, albedo and normal (three floats each), then motion to the previous frame and to
        /// the next frame, in pixels, x right, y down. Floats are grouped by four: the first four of all pixels, then the next four, and so on. Null
        /// if there is no such frame.
        pub records: *const f32,
        /// One weight per 8×8 tile, which depends on the tile's sample count. Null if all weights are 1, as on GPUs.
        pub weights: *const f32,
        /// Two planes of a transparent picture: alpha and its variance. Null for opaque pictures, as on GPUs.
        pub alpha: *const f32,
    }

    /// Layers of a frame (input), and the records that the animation denoiser creates from them (output).
    #[repr(C)]
    #[derive(bytemuck::Zeroable)]
    pub struct DenoiseLayers {
        /// Three floats per pixel, like the next three fields.
        pub radiance: *const f32,
        pub variance: *const f32,
        pub albedo: *const f32,
        pub normal: *const f32,
        /// Motion vectors, four floats per pixel: offset to the previous frame, offset from the next frame; in pixels, x right, y up.
        pub motion: *const f32,
        /// Alpha of transparent pictures, one float per pixel. Null for opaque pictures, as on GPUs.
        pub alpha: *const f32,
        /// Intermediate result, two floats per pixel: the share of its light that the pixel keeps, and the share that each surrounding pixel
        /// receives per unit of likeness.
        pub outliers: *mut f32,
        /// Output: records as in `DenoiseFrame`.
        pub records: *mut f32,
        pub width: u32,
        pub height: u32,
    }

    /// Parameters of the animation denoiser.
    #[repr(C)]
    #[derive(bytemuck::Zeroable)]
    pub struct DenoiseParams {
        pub layers: DenoiseLayers,
        /// 2 * `reach` + 1 frames; the one in the middle is denoised.
        pub frames: *const DenoiseFrame,
        /// Thirteen planes between the steps: radiance divided by albedo, its variance, albedo and normal (three planes each), and the pixel's own
        /// weight in these.
        pub gathered: *mut f32,
        /// Six planes between the second step and an optional third, wider step: averaged radiance divided by albedo, and the variance for comparing
        /// it. Null without a third step.
        pub spread: *mut f32,
        /// Output: denoised radiance, RGB per pixel.
        pub radiance: *mut f32,
        /// Output, two planes: standard deviation of a denoised pixel and of a raw pixel, averaged over colours.
        pub errors: *mut f32,
        /// Three planes: alpha of the gathered frame and its variance (input of the second step), and averaged alpha (output). A third step reads the
        /// latter and writes to the first plane. Null for opaque pictures, as on GPUs.
        pub alpha: *mut f32,
        pub width: u32,
        pub height: u32,
        pub reach: u32,
        /// Filter strength: factor on the standard deviation of the noise when differences between pixels are compared with it.
        pub strength: f32,
        /// Differences of albedo and of normals that reduce a weight to 1/e.
        pub albedo_width: f32,
        pub normal_width: f32,
        /// Added to the albedo by which radiance is divided.
        pub albedo_floor: f32,
        /// Noise of a mean over nearby pixels, relative to the mean of independent pixels.
        pub correlation: f32,
        /// 1 if motion to the next frame is available in addition to motion to the previous one.
        pub returns: u32,
    }
}
