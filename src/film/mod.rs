//! The film: how samples make up a pixel, and how its radiance is balanced before it is shown.

mod filter;
mod white;

pub use filter::{FILTER_TABLES, SampledFilter};
pub use white::white_balance;

use crate::scene::PixelFilter;

/// What of a frame's look is decided on the film, the same for all frames of a run.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct FilmSettings {
    pub filter: PixelFilter,
    /// Pixels from one end of the filter to the other; none: its usual width.
    pub filter_width: Option<f32>,
    /// Colour temperature in kelvin of the light that is shown white; none: colours stay as they are.
    pub white_balance: Option<f32>,
    /// Steps of 8 bits over which rounding is spread, at most 2; 0 rounds to the nearest. Other pixels are never dithered.
    pub dither: f32,
}

impl Default for FilmSettings {
    /// As pictures are shown, but without dither.
    fn default() -> Self {
        Self {
            filter: PixelFilter::default(),
            filter_width: None,
            white_balance: None,
            dither: 0.0,
        }
    }
}
