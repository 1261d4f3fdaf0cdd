//! The `materials` section as it is written. Shorthands first; [`Pbr`] has everything.
//!
//! Pictures of colours are sRGB, those of data (roughness, normals) linear. All of a material's textures are read at the mesh's
//! first texture coordinates and wrap alike.

use super::super::Wrap;
use super::{Color, Finite, values::one};
use serde::Deserialize;

/// An entry of `materials: { "name": .. }`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "materials")]
pub enum MaterialDesc {
    Diffuse(Diffuse),
    Mirror(Mirror),
    Emissive(Emissive),
    Metal(Metal),
    Glossy(Glossy),
    Glass(Glass),
    Pbr(Box<Pbr>),
}

/// `Diffuse(color: "#c8b090", texture: "bricks.png", wrap: repeat)`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Diffuse {
    /// Albedo. Default 0.8 grey, or white under a texture.
    pub color: Option<Color>,
    /// Multiplies the colour.
    pub texture: Option<String>,
    /// Outside UV 0..1: `repeat` (default), `clamp` or `mirror`.
    pub wrap: Wrap,
}

/// `Mirror(tint: (0.95, 0.95, 0.95))`: a perfect mirror, or a rough one.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mirror {
    pub tint: Color,
    /// 0 (perfect, the default) to 1.
    pub roughness: Finite,
    pub texture: Option<String>,
    pub wrap: Wrap,
}

impl Default for Mirror {
    fn default() -> Self {
        Self {
            tint: Color::new(0.95, 0.95, 0.95),
            roughness: Finite(0.0),
            texture: None,
            wrap: Wrap::Repeat,
        }
    }
}

/// `Emissive(radiance: (4, 3, 2))`: glows, and reflects nothing unless it has a colour.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Emissive {
    pub radiance: Color,
    /// Albedo. Default black.
    #[serde(default)]
    pub color: Option<Color>,
    /// Multiplies the radiance.
    #[serde(default)]
    pub texture: Option<String>,
    #[serde(default)]
    pub wrap: Wrap,
}

/// `Metal(color: (1, 0.77, 0.34), roughness: 0.3)`
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Metal {
    /// Reflectance at normal incidence, at most 1. Default (0.91, 0.92, 0.92), aluminium.
    pub color: Color,
    /// 0 to 1. Default 0.3.
    pub roughness: Finite,
    /// 0 to 1: how much longer highlights are across the brushing than along it. Default 0.
    pub anisotropy: Finite,
    /// Of the brushing, in degrees from growing u towards growing v. Default 0.
    pub rotation: Finite,
    /// Multiplies the colour.
    pub texture: Option<String>,
    /// A normal map: x in red along growing u, y in green along growing v.
    pub normal_texture: Option<String>,
    pub wrap: Wrap,
}

impl Default for Metal {
    fn default() -> Self {
        Self {
            color: Color::new(0.91, 0.92, 0.92),
            roughness: Finite(0.3),
            anisotropy: Finite(0.0),
            rotation: Finite(0.0),
            texture: None,
            normal_texture: None,
            wrap: Wrap::Repeat,
        }
    }
}

/// `Glossy(color: "#b02020", roughness: 0.2)`: a diffuse body under a dielectric surface, such as plastic or paint.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Glossy {
    /// Of the body, at most 1. Default 0.8 grey, or white under a texture.
    pub color: Option<Color>,
    /// Of the surface, 0 to 1. Default 0.3.
    pub roughness: Finite,
    /// Of the surface, 1 to 10. Default 1.5.
    pub ior: Finite,
    /// Weight of a clear coat on top, 0 to 1. Default 0.
    pub clearcoat: Finite,
    /// 0 to 1. Default 0.
    pub clearcoat_roughness: Finite,
    /// Multiplies the colour.
    pub texture: Option<String>,
    /// A normal map, as in [`Metal`].
    pub normal_texture: Option<String>,
    pub wrap: Wrap,
}

impl Default for Glossy {
    fn default() -> Self {
        Self {
            color: None,
            roughness: Finite(0.3),
            ior: Finite(1.5),
            clearcoat: Finite(0.0),
            clearcoat_roughness: Finite(0.0),
            texture: None,
            normal_texture: None,
            wrap: Wrap::Repeat,
        }
    }
}

/// `Glass(ior: 1.5, attenuation: ("#c0ffe0", 2))`: a clear body, or a thin pane.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Glass {
    /// Tints what passes the surface, at most 1. Default white.
    pub color: Color,
    /// 1 to 10. Default 1.5.
    pub ior: Finite,
    /// Of the surface, 0 (clear, the default) to 1.
    pub roughness: Finite,
    /// Absorption coefficient of the body, per scene unit. Default 0.
    pub absorption: Option<Color>,
    /// Instead of `absorption`: the colour, at most 1, that white light has after a distance above 0.
    pub attenuation: Option<(Color, Finite)>,
    /// 20 / Abbe number, 0 to 10. Default 0: all colours are bent alike.
    pub dispersion: Finite,
    /// A pane without volume: bends and absorbs nothing. Default false.
    pub thin: bool,
}

impl Default for Glass {
    fn default() -> Self {
        Self {
            color: Color::new(1.0, 1.0, 1.0),
            ior: Finite(1.5),
            roughness: Finite(0.0),
            absorption: None,
            attenuation: None,
            dispersion: Finite(0.0),
            thin: false,
        }
    }
}

/// `alpha:` of a [`Pbr`]: what opacity does.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename = "alpha", rename_all = "snake_case")]
pub enum AlphaDesc {
    /// Nothing.
    #[default]
    Opaque,
    /// `mask(0.5)`: what is below the number, 0 to 1, is invisible, all else opaque.
    Mask(Finite),
    /// As opaque as it says.
    Blend,
}

/// `Pbr(color: .., metallic: 0, roughness: 0.4, ..)`: the layered material of glTF 2.0 with its extensions, which define what the
/// fields mean. Defaults leave each layer out.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pbr {
    /// Base colour, at most 1. Default 0.8 grey, or white under a texture.
    pub color: Option<Color>,
    /// Multiplies the colour; its alpha multiplies the opacity.
    pub texture: Option<String>,
    /// 0 to 1. Default 0, or 1 under a texture.
    pub metallic: Option<Finite>,
    /// 0 to 1. Default 0.5, or 1 under a texture.
    pub roughness: Option<Finite>,
    /// Roughness in green, metallic in blue; multiplies both.
    pub metallic_roughness_texture: Option<String>,
    /// A normal map: x in red along growing u, y in green along growing v.
    pub normal_texture: Option<String>,
    /// Multiplies x and y of the normal map, -10 to 10. Default 1.
    pub normal_scale: Finite,
    /// Radiance. Default black, or white under a texture.
    pub emission: Option<Color>,
    /// Multiplies the emission.
    pub emission_texture: Option<String>,
    /// 0 to 1. Default 1.
    pub opacity: Finite,
    /// `opaque` (default), `mask(0.5)` or `blend`.
    pub alpha: AlphaDesc,
    /// Whether both sides are meant to be seen. Default true.
    pub double_sided: bool,
    /// 1 to 10. Default 1.5.
    pub ior: Finite,
    /// 20 / Abbe number, 0 to 10. Default 0.
    pub dispersion: Finite,
    /// Weight of the dielectric reflection, 0 to 1. Default 1.
    pub specular: Finite,
    /// Its colour at normal incidence. Default white.
    pub specular_color: Color,
    /// Share of the body that light passes straight, 0 to 1. Default 0.
    pub transmission: Finite,
    /// A wall without volume: bends and absorbs nothing. Default true, unless the body absorbs.
    pub thin: Option<bool>,
    /// As in [`Glass`].
    pub absorption: Option<Color>,
    /// As in [`Glass`].
    pub attenuation: Option<(Color, Finite)>,
    /// Share of the body that light passes scattered, 0 to 1. Default 0.
    pub diffuse_transmission: Finite,
    /// Of that light, at most 1. Default white.
    pub diffuse_transmission_color: Color,
    /// Weight of a clear coat, 0 to 1. Default 0.
    pub clearcoat: Finite,
    /// 0 to 1. Default 0.
    pub clearcoat_roughness: Finite,
    /// A normal map of the clear coat alone.
    pub clearcoat_normal_texture: Option<String>,
    /// As `normal_scale`.
    pub clearcoat_normal_scale: Finite,
    /// Of fibres on the surface, at most 1. Default black: none.
    pub sheen_color: Color,
    /// 0 to 1. Default 0.
    pub sheen_roughness: Finite,
    /// Weight of a thin film, 0 to 1. Default 0.
    pub iridescence: Finite,
    /// Of the film, 1 to 10. Default 1.3.
    pub iridescence_ior: Finite,
    /// Of the film in nanometres, 0 to 100000. Default 400.
    pub iridescence_thickness: Finite,
    /// 0 to 1: how much longer highlights are across the brushing than along it. Default 0.
    pub anisotropy: Finite,
    /// Of the brushing, in degrees from growing u towards growing v. Default 0.
    pub anisotropy_rotation: Finite,
    /// Of all textures: `repeat` (default), `clamp` or `mirror`.
    pub wrap: Wrap,
}

impl Default for Pbr {
    fn default() -> Self {
        let (none, white) = (Finite(0.0), Color::new(1.0, 1.0, 1.0));
        Self {
            color: None,
            texture: None,
            metallic: None,
            roughness: None,
            metallic_roughness_texture: None,
            normal_texture: None,
            normal_scale: one(),
            emission: None,
            emission_texture: None,
            opacity: one(),
            alpha: AlphaDesc::Opaque,
            double_sided: true,
            ior: Finite(1.5),
            dispersion: none,
            specular: one(),
            specular_color: white,
            transmission: none,
            thin: None,
            absorption: None,
            attenuation: None,
            diffuse_transmission: none,
            diffuse_transmission_color: white,
            clearcoat: none,
            clearcoat_roughness: none,
            clearcoat_normal_texture: None,
            clearcoat_normal_scale: one(),
            sheen_color: Color::new(0.0, 0.0, 0.0),
            sheen_roughness: none,
            iridescence: none,
            iridescence_ior: Finite(1.3),
            iridescence_thickness: Finite(400.0),
            anisotropy: none,
            anisotropy_rotation: none,
            wrap: Wrap::Repeat,
        }
    }
}
