//! The `air:` section.

use super::values::{self, Color, Finite};
use serde::Deserialize;

/// The `air` section: the medium between the camera and the scene. If it is left out, air is clear. Only the integrator `path`, which is
/// the default, renders it. There is no fog inside of glass. In transparent pictures, fog adds light but no alpha.
#[allow(missing_docs, reason = "the kinds are described by their types")]
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "air")]
pub enum AirDesc {
    Fog(FogDesc),
}

/// `Fog(density: 0.02, height: 12)`: fog that becomes thinner with height. `Fog(density: 0.02, top: 6)` is a layer of uniform fog. With
/// neither `height` nor `top`, uniform fog is everywhere and blocks all light of the environment and of suns.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Fog", deny_unknown_fields)]
pub struct FogDesc {
    /// Share of light that is lost per scene unit in the densest fog: 1 / the distance at which a third (1/e) of the light is left. 0 to
    /// 1000000; 0 is clear air.
    pub density: Finite,
    /// Share of the lost light that is scattered instead of absorbed, 0 to 1 per colour. Default white.
    #[serde(default = "values::white")]
    pub color: Color,
    /// Mean cosine of the scattering angle, -0.99 to 0.99: above 0 scatters forwards, below 0 backwards. Real fog has 0.8 and more. Default
    /// 0: equal in all directions.
    #[serde(default)]
    pub anisotropy: Finite,
    /// Height over which density falls to a third (1/e) above `base`, 0.001 to 1000000. Default: none, the fog is uniform.
    #[serde(default)]
    pub height: Option<Finite>,
    /// Highest y at which fog with a `height` has its full density. Default 0.
    #[serde(default)]
    pub base: Option<Finite>,
    /// The y above which there is no fog. Default: none, fog has no upper limit.
    #[serde(default)]
    pub top: Option<Finite>,
}
