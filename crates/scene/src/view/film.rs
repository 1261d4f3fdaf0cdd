//! Pixel filters and tone curves, with their names in scene files and on the command line.

use throng_base::choice::choice;

choice! {
    /// Pixel filter: how samples are weighted around a pixel.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum PixelFilter = Gaussian {
        /// Uniform weight within the pixel: sharp, with jagged moving edges.
        Box = "box",
        /// Falls off linearly to the centres of the neighbouring pixels.
        Tent = "tent",
        /// A Gaussian, cut off at 3 sigma.
        Gaussian = "gaussian",
        /// A smooth bell curve, slightly sharper than the Gaussian; the default in Cycles.
        BlackmanHarris = "blackman_harris",
        /// The cubic of Mitchell and Netravali with B = C = 1/3: sharpens edges through negative weights, which are left out below 16
        /// samples per pixel.
        Mitchell = "mitchell",
        /// The Gaussian over all samples near a pixel, not only its own: less noise but coarser grain. Replaced by `gaussian` in parts of
        /// pictures, and with noise targets without a denoiser.
        Shared = "shared",
    }
}

impl PixelFilter {
    /// Default full width of the filter, in pixels.
    #[doc(hidden)]
    pub fn width(self) -> f32 {
        match self {
            Self::Box => 1.0,
            Self::Tent => 2.0,
            Self::Gaussian | Self::Shared | Self::BlackmanHarris => 3.0,
            Self::Mitchell => 4.0,
        }
    }
}

choice! {
    /// Tone mapping: how radiance becomes display colours.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum ToneMap {
        /// Clip at 1.
        None = "none",
        /// ACES filmic (Stephen Hill's fit of RRT and ODT).
        Aces = "aces",
        /// AgX, as in Blender: bright colours fade to white and keep their hue.
        Agx = "agx",
        /// Khronos PBR Neutral: keeps material colours, except the brightest.
        PbrNeutral = "pbr_neutral",
    }
}
