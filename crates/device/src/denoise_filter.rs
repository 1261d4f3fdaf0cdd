//! Parts of the animation denoiser that all devices share.

use super::DeviceError;
use bytemuck::Zeroable;
use rayon::prelude::*;
use std::{any::Any, borrow::Cow};
use throng_abi::{DENOISE_RECORD, DenoiseParams};
use throng_picture::aov::AovSet;

/// Share of the noise in gathered values that is treated as a difference between pixels.
const STRENGTH: f32 = 0.55;
/// Differences of albedo and of normals at which the weight falls to 1/e.
const ALBEDO_WIDTH: f32 = 0.06;
const NORMAL_WIDTH: f32 = 0.12;
/// Added to albedos, so that division by a black albedo is defined.
pub const ALBEDO_FLOOR: f32 = 0.03;
/// Variance of a 3x3 mean with shared samples, relative to independent samples. Values from 2 to 4 gave similar results.
const CORRELATION: f32 = 3.0;
/// Number of planes of outliers, an intermediate result for records.
pub const OUTLIERS: usize = 2;
/// Number of planes between the first and the second step.
pub const GATHERED: usize = 13;
/// Number of planes between the second and the third step, which is only for frames without neighbours.
pub const SPREAD: usize = 6;

/// Requirements of a run whose frames are denoised with their neighbours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DenoiseWanted {
    /// Number of frames in use at the same time.
    pub frames: usize,
    /// AOVs that are needed in addition.
    pub aovs: AovSet,
}

/// Records of a frame for the animation denoiser, in a device's memory.
pub trait DeviceRecords: Any + Send + Sync {
    /// Copies the records to host memory: [`DENOISE_RECORD`] floats per pixel.
    ///
    /// # Errors
    /// If the device fails.
    fn read(&self) -> Result<Vec<f32>, DeviceError>;

    /// Denoises this frame, which is in the middle of `window`, like [`DenoiseFilter::filter`](super::DenoiseFilter::filter). Without a strength,
    /// like [`DenoiseFilter::gather`](super::DenoiseFilter::gather). The results are bitwise equal to the CPU's.
    ///
    /// # Errors
    /// If a frame has another size, or if the device fails.
    fn filter(&self, window: &[Option<FrameRecords<'_>>], strength: Option<f32>) -> Result<Filtered, DeviceError>;
}

/// Records of a frame for the animation denoiser.
#[derive(Clone, Copy)]
pub enum FrameRecords<'a> {
    Host(&'a [f32]),
    Device(&'a dyn DeviceRecords),
}

/// A frame in host memory.
#[derive(Clone, Copy)]
pub struct HostFrame<'a> {
    /// [`DENOISE_RECORD`] floats per pixel.
    pub records: &'a [f32],
    /// Sample count of each tile ([`TileGrid`](super::TileGrid)), relative to the frames without this list. Empty if all pixels have the
    /// same count.
    pub weights: &'a [f32],
    /// Whether neighbouring pixels share samples.
    pub shared: bool,
    /// Planes of alpha and its variance for transparent pictures; empty for opaque ones.
    pub alpha: &'a [f32],
}

impl<'a> FrameRecords<'a> {
    /// The records in host memory.
    ///
    /// # Errors
    /// If the device that has them fails.
    pub fn on_host(self) -> Result<Cow<'a, [f32]>, DeviceError> {
        match self {
            Self::Host(records) => Ok(Cow::from(records)),
            Self::Device(records) => Ok(Cow::from(records.read()?)),
        }
    }
}

/// A denoised frame.
#[derive(Debug, Default)]
pub struct Filtered {
    /// Linear RGB, premultiplied by alpha.
    pub radiance: Vec<f32>,
    /// Alpha of transparent pictures; empty for opaque ones.
    pub alpha: Vec<f32>,
    /// Expected error of each pixel, over the colours, after and before denoising. Empty if nearby pixels were not averaged.
    pub errors: [Vec<f32>; 2],
}

impl Filtered {
    /// Creates a frame. `errors` has both planes, one after the other.
    pub fn new(radiance: &[f32], errors: &[f32]) -> Self {
        // First access to new memory dominates the cost of the copy, so it is spread over threads.
        let copy = |values: &[f32]| values.par_iter().copied().collect();
        let (left, before) = errors.split_at(errors.len() / 2);
        Self { radiance: copy(radiance), alpha: Vec::new(), errors: [left, before].map(copy) }
    }
}

/// Number of pixels of a frame of this size, if `window` is an odd number of frames whose middle frame is present.
pub fn check_window<T>(window: &[Option<T>], (width, height): (u32, u32)) -> Result<usize, DeviceError> {
    let pixels = width as usize * height as usize;
    match window.get(window.len() / 2) {
        Some(Some(_)) if window.len() % 2 == 1 && pixels > 0 => Ok(pixels),
        _ => Err(DeviceError::Failed("a window of frames lacks its middle".into())),
    }
}

/// Whether the middle frame has no neighbours, so that it is averaged over more pixels.
pub fn is_alone<T>(window: &[Option<T>]) -> bool {
    window.iter().flatten().count() == 1
}

/// The error of a window whose frames differ in size.
pub fn other_size() -> DeviceError {
    DeviceError::Failed("a window has frames of other sizes".into())
}

/// Parameters, without pointers. The default `strength` is 1; `shared` is as in [`HostFrame`].
pub fn params<T>((width, height): (u32, u32), window: &[Option<T>], strength: f32, shared: bool) -> DenoiseParams {
    let reach = window.len() / 2;
    DenoiseParams {
        width,
        height,
        reach: reach as u32,
        // In live previews there are no later frames, so motion cannot be checked by following it back.
        returns: u32::from(window[reach + 1..].iter().any(Option::is_some)),
        strength: STRENGTH * strength,
        albedo_width: ALBEDO_WIDTH,
        normal_width: NORMAL_WIDTH,
        albedo_floor: ALBEDO_FLOOR,
        correlation: if shared { CORRELATION } else { 1.0 },
        ..Zeroable::zeroed()
    }
}

/// Number of floats in the records of a frame with this number of pixels.
pub const fn record_floats(pixels: usize) -> usize {
    DENOISE_RECORD as usize * pixels
}

/// The gathered radiance, multiplied by albedo and, in transparent pictures, by alpha.
pub fn gathered_radiance(gathered: &[f32], alpha: &[f32]) -> Vec<f32> {
    let plane = gathered.len() / GATHERED;
    let covered = |pixel: usize| alpha.get(pixel).copied().unwrap_or(1.0);
    let value = |pixel: usize, c: usize| {
        gathered[c * plane + pixel] * (gathered[(6 + c) * plane + pixel] + ALBEDO_FLOOR) * covered(pixel)
    };
    (0..plane).flat_map(|pixel| [0, 1, 2].map(|c| value(pixel, c))).collect()
}
