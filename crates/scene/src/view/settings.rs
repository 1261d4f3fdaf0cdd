//! Settings of a scene's pictures, which the user may override.

use crate::{FrameRate, Integrator, PixelFilter, Shutter, ToneMap};
use std::ops::RangeInclusive;

/// Settings from the scene file. The command line may override each.
#[derive(Clone, Debug, PartialEq)]
pub struct RenderDefaults {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Samples per pixel.
    pub samples: u32,
    /// Noise target: parts of the picture with less noise get no more samples. None: every part gets all samples.
    pub noise: Option<f32>,
    /// Maximum number of bounces after the first hit.
    pub bounces: u32,
    /// Seed of all noise.
    pub seed: u32,
    /// Number of frames of the whole animation.
    pub frames: u32,
    /// Number of the first frame. The others follow consecutively.
    pub first_frame: u32,
    /// Frames per second. Frame `n` shows time `start + (n - first_frame) / fps`, with the exact [rate](Self::rate) for this number.
    pub fps: f64,
    /// Time of the first frame in seconds.
    pub start: f64,
    /// Lighting method or diagnostic view.
    pub integrator: Integrator,
    /// Exposure in stops: radiance is multiplied by 2^exposure.
    pub exposure: f32,
    /// Whether [`Self::exposure`] is added to a metered exposure.
    pub metering: Metering,
    /// Whether light that rough surfaces scatter more than once is lost.
    pub single_scatter: bool,
    /// Maximum radiance that a light adds after the first bounce. None: no limit.
    pub clamp_indirect: Option<f32>,
    /// Tone mapping.
    pub tone_map: ToneMap,
    /// None without motion blur.
    pub shutter: Option<Shutter>,
    /// Pixel filter.
    pub filter: PixelFilter,
    /// Full width of the filter in pixels. None: the filter's default.
    pub filter_width: Option<f32>,
    /// Colour temperature of light that appears white, in kelvin. None leaves colours unchanged.
    pub white_balance: Option<f32>,
    /// Whether frames are denoised with the help of neighbouring frames.
    pub denoise: bool,
    /// Whether only requested frames help to denoise each other, so that no additional frames are traced.
    pub denoises_asked: bool,
}

impl Default for RenderDefaults {
    fn default() -> Self {
        Self {
            width: 960,
            height: 540,
            samples: 64,
            noise: None,
            bounces: 8,
            seed: 0,
            frames: 1,
            first_frame: 1,
            fps: 24.0,
            start: 0.0,
            integrator: Integrator::Path,
            exposure: 0.0,
            metering: Metering::Off,
            single_scatter: false,
            clamp_indirect: None,
            tone_map: ToneMap::Aces,
            shutter: None,
            filter: PixelFilter::default(),
            filter_width: None,
            white_balance: None,
            denoise: false,
            denoises_asked: false,
        }
    }
}

impl RenderDefaults {
    /// The exact frame rate.
    pub fn rate(&self) -> FrameRate {
        FrameRate::of(self.fps)
    }

    /// The numbers of all frames.
    pub fn frame_numbers(&self) -> RangeInclusive<u32> {
        self.first_frame..=self.first_frame.saturating_add(self.frames.saturating_sub(1))
    }

    /// The numbers of the first and the last frame.
    pub fn first_and_last(&self) -> (u32, u32) {
        self.frame_numbers().into_inner()
    }

    /// The frame number at this offset from the first frame, at most the last frame's.
    pub fn frame_at(&self, index: u32) -> u32 {
        self.first_frame.saturating_add(index.min(self.frames.saturating_sub(1)))
    }
}

/// Exposure metering.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub enum Metering {
    /// Off: the scene's exposure is used.
    #[default]
    Off,
    /// For light of a known brightness: brightens dark subjects and darkens bright ones, by one stop at most, with one value for all
    /// frames.
    Gentle,
    /// Metered once per second.
    Full,
    /// Set by keys of the scene file.
    Keyed,
}
