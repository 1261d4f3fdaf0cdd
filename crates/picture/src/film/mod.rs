//! The film: how samples are filtered into a pixel, and how its colour is balanced for display.

mod filter;
mod white;

pub use filter::{FILTER_TABLES, SampledFilter};
use white::white_balance;

use throng_abi::DisplayParams;
use throng_scene::{PixelFilter, RenderDefaults};

/// Settings of the film, which all frames of a run share.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize)]
pub struct FilmSettings {
    pub filter: PixelFilter,
    /// Full width of the filter in pixels; none for the filter's default.
    pub filter_width: Option<f32>,
    /// Colour temperature, in kelvin, of the light that is displayed as white; none for no white balance.
    pub white_balance: Option<f32>,
    /// Dither amplitude in 8-bit steps, from 0 to 2; 0 turns it off. Only 8-bit pixels are dithered.
    pub dither: f32,
}

impl Default for FilmSettings {
    /// The default settings of pictures, without dither.
    fn default() -> Self {
        Self { filter: PixelFilter::default(), filter_width: None, white_balance: None, dither: 0.0 }
    }
}

impl From<&RenderDefaults> for FilmSettings {
    /// The settings of a scene, with a dither amplitude of 1.
    fn from(scene: &RenderDefaults) -> Self {
        Self { filter: scene.filter, filter_width: scene.filter_width, white_balance: scene.white_balance, dither: 1.0 }
    }
}

impl FilmSettings {
    /// The settings that affect samples; all others have their defaults.
    pub fn sampling(&self) -> Self {
        Self { filter: self.filter, filter_width: self.filter_width, ..Self::default() }
    }

    /// Parameters for developing the film into pixels of type `pixel_type` (`PIXELS_*`). `exposure` is in stops; `tone_map` is one of
    /// `TONE_*`.
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
