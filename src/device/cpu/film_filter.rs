//! The denoiser of films on the CPU: kernels that work in tiles, on a frame and its neighbours.

use super::{Launch, chosen_kernels};
use crate::{
    abi::{DENOISE_RECORD, DENOISE_TILE_HEIGHT, DENOISE_TILE_WIDTH, DenoiseFrame, DenoiseParams, Params},
    device::DeviceError,
};
use bytemuck::Zeroable;
use std::ptr::null;

/// How much of the noise in what was gathered is taken for a difference between pixels.
const STRENGTH: f32 = 0.35;
/// Differences of albedo and of normals that cost a weight of 1/e.
const ALBEDO_WIDTH: f32 = 0.05;
const NORMAL_WIDTH: f32 = 0.1;
/// Added to albedos, so that what is black divides by something.
const ALBEDO_FLOOR: f32 = 0.03;
/// Planes of values between the two kernels.
const PLANES: usize = 12;

/// Kernels that take the noise out of a frame with the help of its neighbours.
pub struct FilmFilter(&'static super::KernelTable);

impl FilmFilter {
    /// # Errors
    /// When `THRONG_CPU` asks for kernels that are not there.
    pub fn new() -> Result<Self, DeviceError> {
        chosen_kernels().map(Self)
    }

    /// The radiance of the frame in the middle of `window`, an odd number of frames with [`DENOISE_RECORD`] floats for each of
    /// `width` x `height` pixels. Frames that are not there are none. A `strength` of 1 is the usual one.
    ///
    /// # Errors
    /// When the frame in the middle is missing or a frame has another size.
    pub fn filter(
        &self,
        window: &[Option<&[f32]>],
        (width, height): (u32, u32),
        strength: f32,
    ) -> Result<Vec<f32>, DeviceError> {
        let pixels = width as usize * height as usize;
        let reach = window.len() / 2;
        let fits = |frame: &Option<&[f32]>| frame.is_none_or(|values| values.len() == DENOISE_RECORD as usize * pixels);
        if window.len() != 2 * reach + 1 || window[reach].is_none() || !window.iter().all(fits) || pixels == 0 {
            return Err(DeviceError::Failed("a window of frames lacks its middle or has frames of other sizes".into()));
        }
        let record = |frame: &Option<&[f32]>| DenoiseFrame { records: frame.map_or(null(), <[f32]>::as_ptr) };
        let frames: Vec<DenoiseFrame> = window.iter().map(record).collect();
        let mut gathered = vec![0f32; PLANES * pixels];
        let mut radiance = vec![0f32; 3 * pixels];
        let denoise = DenoiseParams {
            frames: frames.as_ptr(),
            gathered: gathered.as_mut_ptr(),
            radiance: radiance.as_mut_ptr(),
            width,
            height,
            reach: reach as u32,
            strength: STRENGTH * strength,
            albedo_width: ALBEDO_WIDTH,
            normal_width: NORMAL_WIDTH,
            albedo_floor: ALBEDO_FLOOR,
            reserved: 0,
        };
        let launch = Launch::of(Params { denoise: &raw const denoise, ..Zeroable::zeroed() });
        let tiles = width.div_ceil(DENOISE_TILE_WIDTH) * height.div_ceil(DENOISE_TILE_HEIGHT);
        // SAFETY: frames and planes are of that size, and each tile has pixels of its own.
        unsafe {
            launch.run(self.0.denoise_gather, tiles, 1, &|| false);
            launch.run(self.0.denoise_average, tiles, 1, &|| false);
        }
        Ok(radiance)
    }
}
