//! How light becomes a picture: pixel filters and tone curves, by the names that scene files and the command line use.

/// How a pixel gathers the light around it.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    serde::Deserialize,
    serde::Serialize,
    clap::ValueEnum,
)]
#[serde(rename_all = "snake_case")]
pub enum PixelFilter {
    /// All of the pixel alike: sharp, and jagged where edges move.
    Box,
    /// Falls off evenly to the middle of the next pixels.
    Tent,
    /// A bell cut off at 3 sigma.
    #[default]
    Gaussian,
    /// A bell that ends smoothly, a little sharper than the Gaussian; Cycles' usual one.
    #[value(name = "blackman_harris", alias = "blackman-harris")]
    BlackmanHarris,
    /// Mitchell and Netravali's cubic with B = C = 1/3: sharpens edges by counting what lies beyond them negatively. Below 16
    /// samples per pixel without that.
    Mitchell,
}

impl PixelFilter {
    pub const ALL: [Self; 5] = [
        Self::Box,
        Self::Tent,
        Self::Gaussian,
        Self::BlackmanHarris,
        Self::Mitchell,
    ];

    /// Default width of the filter from one end to the other, in pixels.
    pub fn width(self) -> f32 {
        match self {
            Self::Box => 1.0,
            Self::Tent => 2.0,
            Self::Gaussian | Self::BlackmanHarris => 3.0,
            Self::Mitchell => 4.0,
        }
    }
}

/// How radiance is mapped to the colours of a display.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize, clap::ValueEnum,
)]
#[serde(rename_all = "snake_case")]
pub enum ToneMap {
    /// Clip at 1.
    None,
    /// ACES filmic (Stephen Hill's fit of RRT and ODT).
    Aces,
    /// AgX, as in Blender: bright colours go to white and keep their hue.
    Agx,
    /// Khronos PBR Neutral: colours stay as materials have them, but for the brightest.
    #[value(name = "pbr_neutral", alias = "pbr-neutral")]
    PbrNeutral,
}
