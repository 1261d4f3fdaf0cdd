//! The `air:` section.

use super::values::{self, Color, Finite};
use serde::Deserialize;

/// The `air` section: what is between the camera and what it sees. Air is clear when it is left out. Only the integrator `path` shows it,
/// which is the default. Inside of glass there is none. In transparent pictures, fog adds light but no alpha.
#[allow(missing_docs, reason = "the kinds are described by their types")]
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "air")]
pub enum AirDesc {
    Fog(FogDesc),
}

/// `Fog(density: 0.02, height: 12)`: fog that thins out with the height; `Fog(density: 0.02, top: 6)`: a layer of even fog. With neither
/// `height` nor `top`, even fog is everywhere and lets no light of the environment or of suns through.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Fog", deny_unknown_fields)]
pub struct FogDesc {
    /// Share of light that is lost per scene unit, where the fog is densest: one over the distance at which a third of what is behind it is
    /// still seen. 0 to 1000000; 0 is clear air.
    pub density: Finite,
    /// Share of the lost light that is scattered and not absorbed, 0 to 1 per colour. Default white.
    #[serde(default = "values::white")]
    pub color: Color,
    /// Whether light is scattered forwards (above 0) or backwards (below 0): the mean cosine of the angle, -0.99 to 0.99. Real fog has 0.8
    /// and more. Default 0: alike in all directions.
    #[serde(default)]
    pub anisotropy: Finite,
    /// Height over which density falls to a third (1/e) above `base`, 0.001 to 1000000. Default: none, the fog is even.
    #[serde(default)]
    pub height: Option<Finite>,
    /// The y up to which fog with a `height` has its full density. Default 0.
    #[serde(default)]
    pub base: Option<Finite>,
    /// The y above which there is no fog. Default: none, it has no end.
    #[serde(default)]
    pub top: Option<Finite>,
}
