//! The denoiser of films, as far as devices have it in common.

use super::DeviceError;
use bytemuck::Zeroable;
use rayon::prelude::*;
use std::{any::Any, borrow::Cow};
use throng_abi::{DENOISE_RECORD, DenoiseParams};
use throng_picture::aov::AovSet;

/// How much of the noise in what was gathered is taken for a difference between pixels.
const STRENGTH: f32 = 0.55;
/// Differences of albedo and of normals that cost a weight of 1/e.
const ALBEDO_WIDTH: f32 = 0.06;
const NORMAL_WIDTH: f32 = 0.12;
/// Added to albedos, so that what is black divides by something.
pub const ALBEDO_FLOOR: f32 = 0.03;
/// How much more noise means of 3x3 pixels keep whose samples are shared than if they had none in common (measured: 2 to 4 are alike).
const CORRELATION: f32 = 3.0;
/// Planes of outliers, from which records are made.
pub const OUTLIERS: usize = 2;
/// Planes of values between the two steps.
pub const GATHERED: usize = 13;
/// Planes between the second and the third, which frames without others have.
pub const SPREAD: usize = 6;

/// How frames are wanted that are denoised with their neighbours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilmWanted {
    /// Number of frames that are in use at the same time.
    pub frames: usize,
    /// AOVs that are wanted besides.
    pub aovs: AovSet,
}

/// A frame as the denoiser of films reads it, in the memory of a device.
pub trait DeviceFilm: Any + Send + Sync {
    /// The same in the host's memory: [`DENOISE_RECORD`] floats per pixel.
    ///
    /// # Errors
    /// When the device fails.
    fn read(&self) -> Result<Vec<f32>, DeviceError>;

    /// The radiance of this frame, which is the one in the middle of `window`; as [`FilmFilter::filter`](super::FilmFilter::filter), or
    /// [`FilmFilter::gather`](super::FilmFilter::gather) without a strength, and to the same bits.
    ///
    /// # Errors
    /// When a frame has another size, or the device fails.
    fn filter(&self, window: &[Option<FilmRecords<'_>>], strength: Option<f32>) -> Result<Filtered, DeviceError>;
}

/// A frame as the denoiser of films reads it.
#[derive(Clone, Copy)]
pub enum FilmRecords<'a> {
    Host(&'a [f32]),
    Device(&'a dyn DeviceFilm),
}

/// A frame in the host's memory.
#[derive(Clone, Copy)]
pub struct HostFilm<'a> {
    /// [`DENOISE_RECORD`] floats per pixel.
    pub records: &'a [f32],
    /// Numbers of samples of all tiles ([`TileGrid`](super::TileGrid)), in a unit in which those of frames without such a list are 1; empty
    /// where all pixels have so many.
    pub weights: &'a [f32],
    /// Whether pixels have samples in common with those around them.
    pub shared: bool,
    /// Two planes of a transparent picture: alpha and its variance; empty for opaque ones.
    pub alpha: &'a [f32],
}

impl<'a> FilmRecords<'a> {
    /// The frame in the host's memory.
    ///
    /// # Errors
    /// When the device fails that has it.
    pub fn on_host(self) -> Result<Cow<'a, [f32]>, DeviceError> {
        match self {
            Self::Host(records) => Ok(Cow::from(records)),
            Self::Device(film) => Ok(Cow::from(film.read()?)),
        }
    }
}

/// A frame that was denoised.
#[derive(Debug, Default)]
pub struct Filtered {
    /// Linear RGB.
    pub radiance: Vec<f32>,
    /// Of transparent pictures, whose radiance is multiplied by it; else empty.
    pub alpha: Vec<f32>,
    /// Expected error of each pixel, over colours, and what it was before; empty where pixels nearby were not averaged.
    pub errors: [Vec<f32>; 2],
}

impl Filtered {
    /// Splits errors, whose planes come one after the other.
    pub fn new(radiance: &[f32], errors: &[f32]) -> Self {
        // New memory takes longer than what is copied, unless it is met by many threads.
        let copy = |values: &[f32]| values.par_iter().copied().collect();
        let (left, before) = errors.split_at(errors.len() / 2);
        Self { radiance: copy(radiance), alpha: Vec::new(), errors: [left, before].map(copy) }
    }
}

/// Number of pixels of a frame of this size, if `window` is an odd number of frames with one in the middle.
pub fn check_window<T>(window: &[Option<T>], (width, height): (u32, u32)) -> Result<usize, DeviceError> {
    let pixels = width as usize * height as usize;
    match window.get(window.len() / 2) {
        Some(Some(_)) if window.len() % 2 == 1 && pixels > 0 => Ok(pixels),
        _ => Err(DeviceError::Failed("a window of frames lacks its middle".into())),
    }
}

/// Whether a window's frame has no others beside it, and is averaged over more pixels instead.
pub fn is_alone<T>(window: &[Option<T>]) -> bool {
    window.iter().flatten().count() == 1
}

/// The error of a window whose frames differ in size.
pub fn other_size() -> DeviceError {
    DeviceError::Failed("a window has frames of other sizes".into())
}

/// Parameters without addresses. A `strength` of 1 is the usual one, and `shared` is as in [`HostFilm`].
pub fn params<T>((width, height): (u32, u32), window: &[Option<T>], strength: f32, shared: bool) -> DenoiseParams {
    let reach = window.len() / 2;
    DenoiseParams {
        width,
        height,
        reach: reach as u32,
        // Pictures that are shown as they come do not know where anything will be in the next.
        returns: u32::from(window[reach + 1..].iter().any(Option::is_some)),
        strength: STRENGTH * strength,
        albedo_width: ALBEDO_WIDTH,
        normal_width: NORMAL_WIDTH,
        albedo_floor: ALBEDO_FLOOR,
        correlation: if shared { CORRELATION } else { 1.0 },
        ..Zeroable::zeroed()
    }
}

/// Floats of the records of so many pixels.
pub const fn record_floats(pixels: usize) -> usize {
    DENOISE_RECORD as usize * pixels
}

/// The radiance in what was gathered, with the alpha of transparent pictures.
pub fn gathered_radiance(gathered: &[f32], alpha: &[f32]) -> Vec<f32> {
    let plane = gathered.len() / GATHERED;
    let covered = |pixel: usize| alpha.get(pixel).copied().unwrap_or(1.0);
    let value = |pixel: usize, c: usize| {
        gathered[c * plane + pixel] * (gathered[(6 + c) * plane + pixel] + ALBEDO_FLOOR) * covered(pixel)
    };
    (0..plane).flat_map(|pixel| [0, 1, 2].map(|c| value(pixel, c))).collect()
}
