//! How light becomes a picture: pixel filters and tone curves, by the names that scene files and the command line use.

use crate::choice::choice;

choice! {
    /// How a pixel gathers the light around it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum PixelFilter = Gaussian {
        /// All of the pixel alike: sharp, and jagged where edges move.
        Box = "box",
        /// Falls off evenly to the middle of the next pixels.
        Tent = "tent",
        /// A bell cut off at 3 sigma.
        Gaussian = "gaussian",
        /// A bell that ends smoothly, a little sharper than the Gaussian; Cycles' usual one.
        BlackmanHarris = "blackman_harris",
        /// Mitchell and Netravali's cubic with B = C = 1/3: sharpens edges by counting what lies beyond them negatively. Below 16
        /// samples per pixel without that.
        Mitchell = "mitchell",
        /// The Gaussian of all samples near a pixel, not of its own alone: less noise, but coarser grain. The other one in parts of
        /// pictures, and with noise targets without a denoiser.
        Shared = "shared",
    }
}

impl PixelFilter {
    /// Default width of the filter from one end to the other, in pixels.
    pub(crate) fn width(self) -> f32 {
        match self {
            Self::Box => 1.0,
            Self::Tent => 2.0,
            Self::Gaussian | Self::Shared | Self::BlackmanHarris => 3.0,
            Self::Mitchell => 4.0,
        }
    }
}

choice! {
    /// How radiance is mapped to the colours of a display.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ToneMap {
        /// Clip at 1.
        None = "none",
        /// ACES filmic (Stephen Hill's fit of RRT and ODT).
        Aces = "aces",
        /// AgX, as in Blender: bright colours go to white and keep their hue.
        Agx = "agx",
        /// Khronos PBR Neutral: colours stay as materials have them, but for the brightest.
        PbrNeutral = "pbr_neutral",
    }
}
