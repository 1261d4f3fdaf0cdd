//! The `lights` section.

use super::{Color, Finite, Point, values};
use serde::Deserialize;

/// An entry of the `lights` section, which is a list. [`Emissive`](super::Emissive) materials and the environment are also lights.
#[allow(missing_docs, reason = "the kinds are described by their types")]
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "lights")]
pub enum LightDesc {
    Point(PointLight),
    Sun(SunLight),
    Spot(SpotLight),
    Rectangle(RectangleLight),
    Disc(DiscLight),
}

impl LightDesc {
    /// The light's name. None for unnamed lights.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Point(PointLight { name, .. })
            | Self::Sun(SunLight { name, .. })
            | Self::Spot(SpotLight { name, .. })
            | Self::Rectangle(RectangleLight { name, .. })
            | Self::Disc(DiscLight { name, .. }) => name.as_deref(),
        }
    }
}

/// `Point(position: (0, 5, 0), intensity: (40, 40, 40), radius: 0.1)`: a light that emits equally in all directions.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointLight {
    /// Position of the point, or of the middle of a lamp with a `radius`.
    pub position: Point,
    /// Radiant intensity. The irradiance at a distance is intensity / distance².
    pub intensity: Color,
    /// Radius of the lamp, 0 to 1000000. At 0.000001 or more, it is a visible bright ball that casts soft shadows, with a radiance of
    /// intensity / (π radius²). Default 0: an invisible point.
    #[serde(default)]
    pub radius: Finite,
    /// Distance at which the light of an invisible point ends, 0.000001 to 1000000, as in glTF's KHR_lights_punctual. Default: no limit.
    #[serde(default)]
    pub range: Option<Finite>,
    /// Unique name of the light, used by mattes. Default: none.
    #[serde(default)]
    pub name: Option<String>,
}

/// `Sun(direction: (1, 2, 1), irradiance: (5, 5, 4.5))`: a light at infinite distance.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SunLight {
    /// Direction towards the light. Any length but 0.
    pub direction: Point,
    /// Irradiance on a surface that faces the light.
    pub irradiance: Color,
    /// Angular diameter in degrees, from 0 (hard shadows, the default) to 90.
    #[serde(default)]
    pub size: Finite,
    /// Unique name of the light, used by mattes. Default: none.
    #[serde(default)]
    pub name: Option<String>,
}

/// `Spot(position: (0, 5, 0), direction: (0, -1, 0), intensity: (40, 40, 40), angle: 60, blend: 0.2)`: a light that emits into a cone.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpotLight {
    /// The tip of the cone.
    pub position: Point,
    /// Direction of the emitted light. Any length but 0.
    pub direction: Point,
    /// Radiant intensity along the direction. The irradiance at a distance is intensity / distance².
    pub intensity: Color,
    /// Opening angle of the whole cone in degrees, 0.01 to 180. Default 45.
    #[serde(default = "values::forty_five")]
    pub angle: Finite,
    /// Share of the cone in which the light fades towards its edge, 0 (sharp) to 1. Default 0.15.
    #[serde(default = "values::slight_blend")]
    pub blend: Finite,
    /// Radius of the emitting disc, which is perpendicular to the direction, 0 to 1000000. A larger disc casts softer shadows. The disc is
    /// invisible. Default 0.
    #[serde(default)]
    pub radius: Finite,
    /// Distance at which the light ends, 0.000001 to 1000000, as in glTF's KHR_lights_punctual. Default: no limit.
    #[serde(default)]
    pub range: Option<Finite>,
    /// Unique name of the light, used by mattes. Default: none.
    #[serde(default)]
    pub name: Option<String>,
}

/// `Rectangle(position: (0, 3, 0), direction: (0, -1, 0), size: (2, 1), intensity: (20, 20, 20))`: a visible bright rectangle with a dark
/// back.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RectangleLight {
    /// Middle of the rectangle.
    pub position: Point,
    /// Direction of the emitted light. Any length but 0.
    pub direction: Point,
    /// Width and height, each 0.000001 to 1000000.
    pub size: (Finite, Finite),
    /// Radiant intensity along the direction, independent of the size. The irradiance at a large distance is intensity / distance². The
    /// radiance is intensity / area.
    pub intensity: Color,
    /// Direction of the height, projected onto the rectangle. Neither (0, 0, 0) nor parallel to `direction`. Default (0, 1, 0), or (0, 0,
    /// -1) if the light shines straight up or down.
    #[serde(default)]
    pub up: Option<Point>,
    /// Unique name of the light, used by mattes. Default: none.
    #[serde(default)]
    pub name: Option<String>,
}

/// `Disc(position: (0, 3, 0), direction: (0, -1, 0), radius: 0.5, intensity: (20, 20, 20))`: a visible bright disc with a dark back.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiscLight {
    /// Middle of the disc.
    pub position: Point,
    /// Direction of the emitted light. Any length but 0.
    pub direction: Point,
    /// Radius of the disc, 0.000001 to 1000000.
    pub radius: Finite,
    /// As in [`RectangleLight`].
    pub intensity: Color,
    /// Unique name of the light, used by mattes. Default: none.
    #[serde(default)]
    pub name: Option<String>,
}
