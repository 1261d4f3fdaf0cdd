//! The film: how samples are filtered into a pixel, and how its colour is balanced before it is displayed.

mod filter;
mod white;

pub use filter::{FILTER_TABLES, SampledFilter};
pub use white::white_balance;

use crate::scene::PixelFilter;

/// Settings of the film, the same for all frames of a run.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
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
