//! The film: how samples are filtered into a pixel, and how its colour is balanced before it is displayed.

mod filter;
mod white;

pub use filter::{FILTER_TABLES, SampledFilter};
use white::white_balance;

use crate::{
    abi::DisplayParams,
    scene::{PixelFilter, RenderDefaults},
};

/// Settings of the film, the same for all frames of a run.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize)]
pub struct FilmSettings {
    pub filter: PixelFilter,
    /// Width of the filter in pixels, from one end to the other; none: its usual width.
    pub filter_width: Option<f32>,
    /// Colour temperature in kelvin of the light that is displayed white; none: colours stay as they are.
    pub white_balance: Option<f32>,
    /// Steps of 8 bits over which rounding is spread, at most 2; 0 rounds to the nearest. Pixels of other types are never dithered.
    pub dither: f32,
}

impl Default for FilmSettings {
    /// The settings that pictures have by default, but without dither.
    fn default() -> Self {
        Self { filter: PixelFilter::default(), filter_width: None, white_balance: None, dither: 0.0 }
    }
}

impl From<&RenderDefaults> for FilmSettings {
    /// The settings that a scene asks for.
    fn from(scene: &RenderDefaults) -> Self {
        Self { filter: scene.filter, filter_width: scene.filter_width, white_balance: scene.white_balance, dither: 1.0 }
    }
}

impl FilmSettings {
    /// The settings that samples depend on, the others as they are by default.
    pub fn sampling(&self) -> Self {
        Self { filter: self.filter, filter_width: self.filter_width, ..Self::default() }
    }

    /// Parameters that turn the film into pixels of type `pixel_type` (`PIXELS_*`) by the curve `tone_map` (`TONE_*`), `exposure` stops
    /// brighter.
    pub fn display_params(&self, exposure: f32, tone_map: u32, pixel_type: u32) -> DisplayParams {
        DisplayParams {
            exposure: exposure.exp2(),
            tone_map,
            pixel_type,
            dither: self.dither,
            has_white: self.white_balance.is_some().into(),
            white: self.white_balance.map(white_balance).unwrap_or_default(),
        }
    }
}
