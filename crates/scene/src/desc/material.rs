//! The `materials` section of the scene file: simple materials first, then [`Pbr`], which has every property.

use super::super::{Lobes, Wrap};
use super::{Color, Finite, values::one};
use serde::Deserialize;

/// An entry of the `materials` section, by its name.
///
/// Textures are picture files: PNG, JPEG, WebP, GIF (first frame), TGA, BMP, TIFF, OpenEXR, HDR, DDS or KTX 2. Colour textures are read as
/// sRGB, unless they are floats. Data textures, such as roughness and normals, are read as linear. All textures of a material use the
/// mesh's first set of texture coordinates and one `wrap` mode.
#[allow(missing_docs, reason = "the kinds are described by their types")]
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
    Hair(Hair),
    MaterialX(MaterialXFile),
    /// `Holdout()`: cuts a hole into the picture, through which the background is visible. For light, it is a matt surface.
    Holdout(Diffuse),
    /// `ShadowCatcher()`: shows cameras only the shadows on it, for pictures with alpha. For light, it is a matt surface.
    ShadowCatcher(Diffuse),
}

/// `Diffuse(color: "#c8b090")`: a matt surface.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Diffuse {
    /// Albedo. Default 0.8 grey, or white under a texture.
    pub color: Option<Color>,
    /// A picture that multiplies the colour. Default: none.
    pub texture: Option<String>,
    /// Texture wrap mode outside of UV 0 to 1: `repeat` (default), `clamp` or `mirror`.
    pub wrap: Wrap,
}

/// `Mirror(tint: (0.95, 0.95, 0.95))`: a perfect mirror, or a rough one.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mirror {
    /// Colour of the reflection, at most 1. Default (0.95, 0.95, 0.95).
    pub tint: Color,
    /// Roughness, from 0 (a perfect mirror, the default) to 1.
    pub roughness: Finite,
    /// A picture that multiplies the tint. Default: none.
    pub texture: Option<String>,
    /// Texture wrap mode outside of UV 0 to 1. Default `repeat`.
    pub wrap: Wrap,
}

impl Default for Mirror {
    fn default() -> Self {
        Self { tint: Color::new(0.95, 0.95, 0.95), roughness: Finite(0.0), texture: None, wrap: Wrap::Repeat }
    }
}

/// `Emissive(radiance: (4, 3, 2))`: a surface that emits light. It reflects none unless it has a colour.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Emissive {
    /// Radiance emitted in all directions.
    pub radiance: Color,
    /// Albedo, at most 1. Default black.
    #[serde(default)]
    pub color: Option<Color>,
    /// A picture that multiplies the radiance. Default: none.
    #[serde(default)]
    pub texture: Option<String>,
    /// Texture wrap mode outside of UV 0 to 1. Default `repeat`.
    #[serde(default)]
    pub wrap: Wrap,
}

/// `Metal(color: (1, 0.77, 0.34), roughness: 0.3)`: a metal, optionally brushed.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Metal {
    /// Reflectance at normal incidence, at most 1. Default (0.91, 0.92, 0.92), aluminium.
    pub color: Color,
    /// Roughness, 0 to 1. Default 0.3.
    pub roughness: Finite,
    /// Anisotropy, 0 to 1: how much highlights are stretched in one direction, as on brushed metal. Default 0.
    pub anisotropy: Finite,
    /// Direction in which highlights are stretched, in degrees from increasing u towards increasing v. Default 0.
    pub rotation: Finite,
    /// A picture that multiplies the colour. Default: none.
    pub texture: Option<String>,
    /// A normal map: x in red along increasing u, y in green along increasing v. Default: none.
    pub normal_texture: Option<String>,
    /// Texture wrap mode outside of UV 0 to 1. Default `repeat`.
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
    /// Colour of the body, at most 1. Default 0.8 grey, or white under a texture.
    pub color: Option<Color>,
    /// Roughness of the surface, 0 to 1. Default 0.3.
    pub roughness: Finite,
    /// Refractive index of the surface, 1 to 10. Default 1.5.
    pub ior: Finite,
    /// Weight of a clear coat on top, 0 to 1. Default 0.
    pub clearcoat: Finite,
    /// Roughness of the clear coat, 0 to 1. Default 0.
    pub clearcoat_roughness: Finite,
    /// A picture that multiplies the colour. Default: none.
    pub texture: Option<String>,
    /// A normal map, as in [`Metal`]. Default: none.
    pub normal_texture: Option<String>,
    /// Texture wrap mode outside of UV 0 to 1. Default `repeat`.
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
    /// Tint of the light that passes through the surface, at most 1. Default white.
    pub color: Color,
    /// Refractive index, 1 to 10. Default 1.5.
    pub ior: Finite,
    /// Roughness of the surface, from 0 (clear, the default) to 1.
    pub roughness: Finite,
    /// Absorption coefficient of the body, per scene unit. Default 0.
    pub absorption: Option<Color>,
    /// Instead of `absorption`: a colour, at most 1, and a distance in the body, above 0. White light has this colour after this distance.
    pub attenuation: Option<(Color, Finite)>,
    /// Colour, at most 1, of a deep layer of the body, for milky materials. Light that passes straight through is attenuated as above, but
    /// part of the lost light is scattered. Default: black, the body is clear.
    pub scatter: Option<Color>,
    /// Mean cosine of the scattering angle in the body, -0.99 (backwards) to 0.99 (forwards). Default 0: equal in all directions.
    pub scatter_anisotropy: Finite,
    /// Dispersion: 20 / Abbe number, 0 to 10. Default 0: all colours are refracted equally.
    pub dispersion: Finite,
    /// Whether this is a pane without volume, which neither refracts nor absorbs light. Default false.
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
            scatter: None,
            scatter_anisotropy: Finite(0.0),
            dispersion: Finite(0.0),
            thin: false,
        }
    }
}

/// `alpha: mask(0.5)`: use of the opacity of a [`Pbr`].
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename = "alpha", rename_all = "snake_case")]
pub enum AlphaDesc {
    /// Opacity is ignored.
    #[default]
    Opaque,
    /// `mask(0.5)`: invisible if the opacity is below this threshold, 0 to 1; otherwise fully opaque.
    Mask(Finite),
    /// Transparent according to the opacity.
    Blend,
}

/// `Pbr(color: "#1f4f9f", metallic: 0.6, roughness: 0.4, clearcoat: 1)`: the layered material of glTF 2.0 and its KHR_materials extensions,
/// whose specifications define the fields. By default, all optional layers are off.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pbr {
    /// Base colour, at most 1. Default 0.8 grey, or white under a texture.
    pub color: Option<Color>,
    /// A picture that multiplies the colour; its alpha multiplies the opacity. Default: none.
    pub texture: Option<String>,
    /// Metalness, 0 to 1. Default 0, or 1 with a `metallic_roughness_texture`.
    pub metallic: Option<Finite>,
    /// Roughness, 0 to 1. Default 0.5, or 1 with a `metallic_roughness_texture`.
    pub roughness: Option<Finite>,
    /// A picture that multiplies `roughness` by its green channel and `metallic` by its blue channel. Default: none.
    pub metallic_roughness_texture: Option<String>,
    /// A normal map: x in red along increasing u, y in green along increasing v. Default: none.
    pub normal_texture: Option<String>,
    /// Factor on x and y of the normal map, -10 to 10. Default 1.
    pub normal_scale: Finite,
    /// Emitted radiance. Default black, or white under a texture.
    pub emission: Option<Color>,
    /// A picture that multiplies the emission. Default: none.
    pub emission_texture: Option<String>,
    /// Opacity, 0 to 1. `alpha` sets its use. Default 1.
    pub opacity: Finite,
    /// Use of the opacity: `opaque` (default), `mask(0.5)` or `blend`.
    pub alpha: AlphaDesc,
    /// Whether back faces of meshes are visible. If false, cameras and mirrors see through back faces, and light from behind passes.
    /// Transmissive materials always have both sides. Default true.
    pub double_sided: bool,
    /// Refractive index, 1 to 10. Default 1.5.
    pub ior: Finite,
    /// Dispersion: 20 / Abbe number, 0 to 10. Default 0.
    pub dispersion: Finite,
    /// Weight of the dielectric reflection, 0 to 1. Default 1.
    pub specular: Finite,
    /// Tint of the dielectric reflection at normal incidence. Default white.
    pub specular_color: Color,
    /// Share of the light entering the body that passes through without being scattered, 0 to 1. Default 0.
    pub transmission: Finite,
    /// Whether this is a thin wall without volume, which neither refracts nor absorbs light. Default true, unless the body absorbs.
    pub thin: Option<bool>,
    /// As in [`Glass`].
    pub absorption: Option<Color>,
    /// As in [`Glass`].
    pub attenuation: Option<(Color, Finite)>,
    /// As in [`Glass`].
    pub scatter: Option<Color>,
    /// As in [`Glass`].
    pub scatter_anisotropy: Finite,
    /// Share of the diffusely scattered light that leaves on the opposite side, 0 to 1, for leaves, grass and paper. Default 0.
    pub diffuse_transmission: Finite,
    /// Colour of the light that leaves on the opposite side, at most 1. Default white.
    pub diffuse_transmission_color: Color,
    /// Weight of a clear coat, 0 to 1. Default 0.
    pub clearcoat: Finite,
    /// Roughness of the clear coat, 0 to 1. Default 0.
    pub clearcoat_roughness: Finite,
    /// A normal map for the clear coat only. Default: none.
    pub clearcoat_normal_texture: Option<String>,
    /// Factor on x and y of the clear coat's normal map, -10 to 10. Default 1.
    pub clearcoat_normal_scale: Finite,
    /// Colour of the sheen, a reflection by surface fibres, at most 1. Default black: no sheen.
    pub sheen_color: Color,
    /// Roughness of the sheen, 0 to 1. Default 0.
    pub sheen_roughness: Finite,
    /// Weight of the iridescence of a thin film, 0 to 1. Default 0.
    pub iridescence: Finite,
    /// Refractive index of the thin film, 1 to 10. Default 1.3.
    pub iridescence_ior: Finite,
    /// Thickness of the thin film in nanometres, 0 to 100000. Default 400.
    pub iridescence_thickness: Finite,
    /// Anisotropy, 0 to 1: how much highlights are stretched in one direction, as on brushed metal. Default 0.
    pub anisotropy: Finite,
    /// Direction in which highlights are stretched, in degrees from increasing u towards increasing v. Default 0.
    pub anisotropy_rotation: Finite,
    /// Wrap mode of all textures outside of UV 0 to 1: `repeat` (default), `clamp` or `mirror`.
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
            scatter: None,
            scatter_anisotropy: Finite(0.0),
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

/// `Hair(melanin: 0.6, redness: 0.3)`: hair and fur, for curves. Fibres shine, and light passes through them.
///
/// The colour is that of melanin, as in real hair, or a `color`, or an `absorption`. Most fields mean the same as in Blender's principled
/// hair, model Chiang. Each point of a mesh is lit as if it were a fibre along increasing u.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Hair {
    /// Amount of pigment: 0 is white, 0.2 blond, 0.6 brown and 1 black hair. Default 0.6.
    pub melanin: Option<Finite>,
    /// Share of red pigment (pheomelanin) in the melanin, 0 to 1. Default 0.3.
    pub redness: Option<Finite>,
    /// Instead of `melanin`: the colour of dense hair, at most 1.
    pub color: Option<Color>,
    /// Instead of `melanin`: absorption coefficient in the fibres, per radius of a fibre.
    pub absorption: Option<Color>,
    /// Colour of a dye, at most 1, that multiplies the colour of dense hair. Default white: none.
    pub tint: Color,
    /// A picture that multiplies the colour of dense hair. Default: none.
    pub texture: Option<String>,
    /// Roughness along the fibres, which widens highlights, 0 to 1. Default 0.3.
    pub roughness: Finite,
    /// Roughness around the fibres, 0 to 1. Higher values let less light through, so that hair looks more solid. Default 0.3.
    pub azimuthal_roughness: Finite,
    /// Angle by which the scales of the fibres stand out, in degrees, -45 to 45. It moves the white highlight towards the roots, and the
    /// coloured one towards the tips. Default 2.
    pub tilt: Finite,
    /// Refractive index of the fibres, 1 to 3. Default 1.55.
    pub ior: Finite,
    /// Share by which the white highlight is less rough than the rest, 0 to 1, for glossy fur. Default 0.
    pub coat: Finite,
    /// Texture wrap mode outside of UV 0 to 1. Default `repeat`.
    pub wrap: Wrap,
}

impl Default for Hair {
    fn default() -> Self {
        Self {
            melanin: None,
            redness: None,
            color: None,
            absorption: None,
            tint: Color::new(1.0, 1.0, 1.0),
            texture: None,
            roughness: Finite(0.3),
            azimuthal_roughness: Finite(0.3),
            tilt: Finite(2.0),
            ior: Finite(1.55),
            coat: Finite(0.0),
            wrap: Wrap::Repeat,
        }
    }
}

/// `MaterialX(file: "wood.mtlx", material: "Oak")`: a material of a [MaterialX](../materialx.md) document.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "MaterialX", deny_unknown_fields)]
pub struct MaterialXFile {
    /// The document. It, its includes and its pictures must be in the document's folder or below, or in a folder of `--allow-dir`.
    pub file: String,
    /// Name of the material. Default: the only one of the document.
    #[serde(default)]
    pub material: Option<String>,
}

/// Range of weights and roughnesses.
#[doc(hidden)]
pub const UNIT: (f32, f32) = (0.0, 1.0);
#[doc(hidden)]
pub const IOR: (f32, f32) = (1.0, 10.0);
#[doc(hidden)]
pub const DISPERSION: (f32, f32) = (0.0, 10.0);
#[doc(hidden)]
pub const DEGREES: (f32, f32) = (-3600.0, 3600.0);
#[doc(hidden)]
pub const NORMAL_SCALE: (f32, f32) = (-10.0, 10.0);

/// A field of a [`Pbr`]: its name, value, range, and destination.
#[doc(hidden)]
pub type Number = (&'static str, Finite, (f32, f32), fn(&mut Lobes) -> &mut f32);

/// A colour field of a [`Pbr`]: its name, value (at most 1), and destination.
#[doc(hidden)]
pub type ColorField = (&'static str, Color, fn(&mut Lobes) -> &mut [f32; 3]);

impl Pbr {
    /// The numbers that lobes take unchanged.
    #[rustfmt::skip]
    #[doc(hidden)]
    pub fn numbers(&self) -> [Number; 15] {
        [
            ("normal_scale", self.normal_scale, NORMAL_SCALE, |l| &mut l.normal_scale),
            ("ior", self.ior, IOR, |l| &mut l.ior),
            ("dispersion", self.dispersion, DISPERSION, |l| &mut l.dispersion),
            ("specular", self.specular, UNIT, |l| &mut l.specular),
            ("transmission", self.transmission, UNIT, |l| &mut l.transmission),
            ("diffuse_transmission", self.diffuse_transmission, UNIT, |l| &mut l.diffuse_transmission),
            ("anisotropy", self.anisotropy, UNIT, |l| &mut l.anisotropy),
            ("anisotropy_rotation", self.anisotropy_rotation, DEGREES, |l| &mut l.anisotropy_rotation),
            ("clearcoat", self.clearcoat, UNIT, |l| &mut l.clearcoat),
            ("clearcoat_roughness", self.clearcoat_roughness, UNIT, |l| &mut l.clearcoat_roughness),
            ("clearcoat_normal_scale", self.clearcoat_normal_scale, NORMAL_SCALE, |l| &mut l.clearcoat_normal_scale),
            ("sheen_roughness", self.sheen_roughness, UNIT, |l| &mut l.sheen_roughness),
            ("iridescence", self.iridescence, UNIT, |l| &mut l.iridescence),
            ("iridescence_ior", self.iridescence_ior, IOR, |l| &mut l.iridescence_ior),
            ("iridescence_thickness", self.iridescence_thickness, (0.0, 1e5), |l| &mut l.iridescence_thickness[1]),
        ]
    }

    /// The colours, at most 1, that lobes take unchanged.
    #[rustfmt::skip]
    #[doc(hidden)]
    pub fn colors(&self) -> [ColorField; 2] {
        [
            ("diffuse_transmission_color", self.diffuse_transmission_color, |l| &mut l.diffuse_transmission_color),
            ("sheen_color", self.sheen_color, |l| &mut l.sheen_color),
        ]
    }
}
