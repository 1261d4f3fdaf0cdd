//! The animation denoiser on the CPU: kernels that process a frame and its neighbours in tiles.

use super::{
    kernels::{Kernel, KernelTable},
    launch::Launch,
    variants::chosen_kernels,
};
use crate::{
    DeviceError, TileGrid,
    denoise_filter::{
        Filtered, GATHERED, HostFrame, OUTLIERS, SPREAD, check_window, gathered_radiance, is_alone, other_size, params,
        record_floats,
    },
};
use bytemuck::Zeroable;
use std::ptr::{null, null_mut};
use throng_abi::{DENOISE_TILE_HEIGHT, DENOISE_TILE_WIDTH, DenoiseFrame, DenoiseLayers, DenoiseParams, Params};

/// Pixels per batch when records are created.
const RECORD_BATCH: u32 = 1024;

/// Kernels that denoise a frame with its neighbours.
pub struct DenoiseFilter(&'static KernelTable);

/// Radiance and AOVs of a frame, row by row from the top.
#[derive(Clone, Copy)]
pub struct FrameLayers<'a> {
    /// Linear RGB, premultiplied by alpha.
    pub radiance: &'a [f32],
    /// Variance of `radiance`.
    pub variance: &'a [f32],
    pub albedo: &'a [f32],
    pub normal: &'a [f32],
    /// As in [`throng_picture::aov::Aov::Motion`].
    pub motion: &'a [f32],
    /// Alpha of transparent pictures, one float per pixel; empty for opaque ones.
    pub alpha: &'a [f32],
    /// Variance of `alpha`; empty if it is unknown.
    pub alpha_variance: &'a [f32],
    /// Whether neighbouring pixels share samples ([`throng_scene::PixelFilter::Shared`]).
    pub shared: bool,
}

impl DenoiseFilter {
    /// Selects the kernels for this processor.
    ///
    /// # Errors
    /// If the environment variable `THRONG_CPU` selects kernels that this program does not have.
    pub fn new() -> Result<Self, DeviceError> {
        chosen_kernels().map(Self)
    }

    /// Creates the records of a frame from its layers; None if a layer's size differs from `width` x `height` pixels.
    pub fn record(&self, (width, height): (u32, u32), layers: &FrameLayers) -> Option<Vec<f32>> {
        let pixels = u32::try_from(u64::from(width) * u64::from(height)).ok().filter(|&pixels| pixels > 0)?;
        let FrameLayers { radiance, variance, albedo, normal, motion, alpha, .. } = *layers;
        let of_three = [radiance, variance, albedo, normal].iter().all(|layer| layer.len() == 3 * pixels as usize);
        if !of_three || motion.len() != 4 * pixels as usize || ![0, pixels as usize].contains(&alpha.len()) {
            return None;
        }
        let mut records = vec![0f32; record_floats(pixels as usize)];
        let mut outliers = vec![0f32; OUTLIERS * pixels as usize];
        let layers = DenoiseLayers {
            radiance: radiance.as_ptr(),
            variance: variance.as_ptr(),
            albedo: albedo.as_ptr(),
            normal: normal.as_ptr(),
            motion: motion.as_ptr(),
            alpha: address(alpha),
            outliers: outliers.as_mut_ptr(),
            records: records.as_mut_ptr(),
            width,
            height,
        };
        let denoise = DenoiseParams { layers, ..Zeroable::zeroed() };
        // SAFETY: layers, outliers and records have this size, and each pixel writes only its own outliers and records.
        unsafe {
            run(self.0.denoise_outliers, &denoise, (pixels, RECORD_BATCH));
            run(self.0.denoise_record, &denoise, (pixels, RECORD_BATCH));
        }
        Some(records)
    }

    /// Denoises the frame in the middle of `window`, an odd number of frames of the given size. Entries of missing frames are None; the
    /// others are weighted by their sample counts. The default `strength` is 1.
    ///
    /// # Errors
    /// If the middle frame is missing, or if a frame has another size.
    pub fn filter(
        &self,
        window: &[Option<HostFrame>],
        size: (u32, u32),
        strength: f32,
    ) -> Result<Filtered, DeviceError> {
        let (mut gathered, mut alpha) = self.gathered(window, size)?;
        let pixels = gathered.len() / GATHERED;
        let (mut radiance, mut errors) = (vec![0f32; 3 * pixels], vec![0f32; 2 * pixels]);
        let frames = addresses(window);
        let mut spread = vec![0f32; if is_alone(window) { SPREAD * pixels } else { 0 }];
        let denoise = DenoiseParams {
            frames: frames.as_ptr(),
            gathered: gathered.as_mut_ptr(),
            spread: address_mut(&mut spread),
            radiance: radiance.as_mut_ptr(),
            errors: errors.as_mut_ptr(),
            alpha: address_mut(&mut alpha),
            ..params(size, window, strength, is_shared(window))
        };
        // SAFETY: the planes have this size, and each tile writes only its own pixels.
        unsafe {
            run(self.0.denoise_average, &denoise, (tiles(size), 1));
            if !spread.is_empty() {
                run(self.0.denoise_spread, &denoise, (tiles(size), 1));
            }
        }
        // The third step writes alpha to the first plane.
        let plane = if spread.is_empty() { 2 } else { 0 };
        let averaged = alpha.chunks(pixels).nth(plane).map_or_else(Vec::new, <[f32]>::to_vec);
        // Uncovered pixels have no colour, and therefore no error.
        for (index, error) in errors.iter_mut().enumerate() {
            if averaged.get(index % pixels).is_some_and(|&alpha| alpha <= 0.0) {
                *error = 0.0;
            }
        }
        Ok(Filtered { alpha: averaged, ..Filtered::new(&radiance, &errors) })
    }

    /// As [`Self::filter`], without averaging nearby pixels.
    ///
    /// # Errors
    /// As [`Self::filter`].
    pub fn gather(&self, window: &[Option<HostFrame>], size: (u32, u32)) -> Result<Filtered, DeviceError> {
        let (gathered, mut alpha) = self.gathered(window, size)?;
        alpha.truncate(gathered.len() / GATHERED);
        Ok(Filtered { radiance: gathered_radiance(&gathered, &alpha), alpha, ..Filtered::default() })
    }

    /// The gathered planes. For transparent pictures also planes of alpha, of its variance, and space for the averaged alpha.
    fn gathered(&self, window: &[Option<HostFrame>], size: (u32, u32)) -> Result<(Vec<f32>, Vec<f32>), DeviceError> {
        let pixels = check_window(window, size)?;
        let weights = TileGrid::of(size).count() as usize;
        let middle = window.get(window.len() / 2).copied().flatten();
        let covered = middle.map_or(0, |frame| frame.alpha.len());
        if ![0, 2 * pixels].contains(&covered) {
            return Err(other_size());
        }
        let fits = |frame: &HostFrame| {
            frame.records.len() == record_floats(pixels)
                && [0, weights].contains(&frame.weights.len())
                && frame.alpha.len() == covered
        };
        if !window.iter().flatten().all(fits) {
            return Err(other_size());
        }
        let frames = addresses(window);
        let (mut gathered, mut alpha) = (vec![0f32; GATHERED * pixels], vec![0f32; 3 * covered / 2]);
        let denoise = DenoiseParams {
            frames: frames.as_ptr(),
            gathered: gathered.as_mut_ptr(),
            alpha: address_mut(&mut alpha),
            ..params(size, window, 1.0, is_shared(window))
        };
        // SAFETY: frames and planes have this size, and each tile writes only its own pixels.
        unsafe { run(self.0.denoise_gather, &denoise, (tiles(size), 1)) };
        Ok((gathered, alpha))
    }
}

/// Whether pixels of the middle frame share samples.
fn is_shared(window: &[Option<HostFrame>]) -> bool {
    window.get(window.len() / 2).copied().flatten().is_some_and(|frame| frame.shared)
}

/// Pointer to the values; null if there are none.
fn address(values: &[f32]) -> *const f32 {
    if values.is_empty() { null() } else { values.as_ptr() }
}

fn address_mut(values: &mut [f32]) -> *mut f32 {
    if values.is_empty() { null_mut() } else { values.as_mut_ptr() }
}

/// Pointers to the frames of a window.
fn addresses(window: &[Option<HostFrame>]) -> Vec<DenoiseFrame> {
    let none = HostFrame { records: &[], weights: &[], shared: false, alpha: &[] };
    let address_of = |frame: &Option<HostFrame>| {
        let frame = frame.unwrap_or(none);
        DenoiseFrame { records: address(frame.records), weights: address(frame.weights), alpha: address(frame.alpha) }
    };
    window.iter().map(address_of).collect()
}

/// Number of tiles of a picture.
fn tiles((width, height): (u32, u32)) -> u32 {
    width.div_ceil(DENOISE_TILE_WIDTH) * height.div_ceil(DENOISE_TILE_HEIGHT)
}

/// Runs a kernel on `items` items, in batches.
///
/// # Safety
/// The pointers in `denoise` must be valid for a picture of its size.
unsafe fn run(kernel: Kernel, denoise: &DenoiseParams, (items, batch): (u32, u32)) {
    let launch = Launch::of(Params { denoise, ..Zeroable::zeroed() });
    // SAFETY: the caller guarantees the same.
    unsafe { launch.run(kernel, items, batch, &|| false) };
}
