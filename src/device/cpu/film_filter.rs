//! The denoiser of films on the CPU: kernels that work in tiles, on a frame and its neighbours.

use super::{Kernel, Launch, chosen_kernels};
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
pub const ALBEDO_FLOOR: f32 = 0.03;
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
    pub fn filter(&self, window: &[Option<&[f32]>], size: (u32, u32), strength: f32) -> Result<Vec<f32>, DeviceError> {
        let mut gathered = self.gathered(window, size)?;
        let mut radiance = vec![0f32; 3 * gathered.len() / PLANES];
        let denoise = DenoiseParams {
            gathered: gathered.as_mut_ptr(),
            radiance: radiance.as_mut_ptr(),
            strength: STRENGTH * strength,
            ..params(size)
        };
        // SAFETY: planes are of that size, and each tile has pixels of its own.
        unsafe { run(self.0.denoise_average, &denoise) };
        Ok(radiance)
    }

    /// The same without averaging pixels nearby.
    ///
    /// # Errors
    /// As [`Self::filter`].
    pub fn gather(&self, window: &[Option<&[f32]>], size: (u32, u32)) -> Result<Vec<f32>, DeviceError> {
        let gathered = self.gathered(window, size)?;
        let plane = gathered.len() / PLANES;
        let value =
            |pixel: usize, c: usize| gathered[c * plane + pixel] * (gathered[(6 + c) * plane + pixel] + ALBEDO_FLOOR);
        Ok((0..plane).flat_map(|pixel| [0, 1, 2].map(|c| value(pixel, c))).collect())
    }

    fn gathered(&self, window: &[Option<&[f32]>], size: (u32, u32)) -> Result<Vec<f32>, DeviceError> {
        let pixels = size.0 as usize * size.1 as usize;
        let reach = window.len() / 2;
        let fits = |frame: &Option<&[f32]>| frame.is_none_or(|values| values.len() == DENOISE_RECORD as usize * pixels);
        if window.len() != 2 * reach + 1 || window[reach].is_none() || !window.iter().all(fits) || pixels == 0 {
            return Err(DeviceError::Failed("a window of frames lacks its middle or has frames of other sizes".into()));
        }
        let record = |frame: &Option<&[f32]>| DenoiseFrame { records: frame.map_or(null(), <[f32]>::as_ptr) };
        let frames: Vec<DenoiseFrame> = window.iter().map(record).collect();
        let mut gathered = vec![0f32; PLANES * pixels];
        let denoise = DenoiseParams {
            frames: frames.as_ptr(),
            gathered: gathered.as_mut_ptr(),
            reach: reach as u32,
            ..params(size)
        };
        // SAFETY: frames and planes are of that size, and each tile has pixels of its own.
        unsafe { run(self.0.denoise_gather, &denoise) };
        Ok(gathered)
    }
}

fn params((width, height): (u32, u32)) -> DenoiseParams {
    DenoiseParams {
        width,
        height,
        albedo_width: ALBEDO_WIDTH,
        normal_width: NORMAL_WIDTH,
        albedo_floor: ALBEDO_FLOOR,
        ..Zeroable::zeroed()
    }
}

/// Runs a kernel on all tiles.
///
/// # Safety
/// The pointers that the kernel takes lead to memory for pictures of that size.
unsafe fn run(kernel: Kernel, denoise: &DenoiseParams) {
    let launch = Launch::of(Params { denoise, ..Zeroable::zeroed() });
    let tiles = denoise.width.div_ceil(DENOISE_TILE_WIDTH) * denoise.height.div_ceil(DENOISE_TILE_HEIGHT);
    // SAFETY: as this function's.
    unsafe { launch.run(kernel, tiles, 1, &|| false) };
}
