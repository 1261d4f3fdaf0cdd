//! Materials and textures.

use super::Medium;
use std::path::PathBuf;

/// A number, or a texture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// The same everywhere.
    Constant(f32),
    /// Index into [`Scene::textures`], whose red channel it is.
    Texture(u32),
}

/// A colour, or a texture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Color {
    /// The same everywhere.
    Constant([f32; 3]),
    /// Index into [`Scene::textures`].
    Texture(u32),
}

/// A texture.
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    /// Its name.
    pub name: String,
    /// Its values.
    pub kind: TextureKind,
}

/// Values of a texture. Single numbers are grey colours. Textures precede those that refer to them.
#[derive(Clone, Debug, PartialEq)]
pub enum TextureKind {
    /// The same everywhere.
    Constant([f32; 3]),
    /// The product of both.
    Scale([Color; 2]),
    /// Interpolates from the first to the second by `amount`.
    Mix {
        /// The values at 0 and at 1.
        values: [Color; 2],
        /// The share of the second.
        amount: Color,
    },
    /// A picture.
    Picture(Picture),
    /// Squares of two colours.
    Checkerboard {
        /// The colours; the first is at the origin.
        values: [Color; 2],
        /// Texture coordinates.
        uv: Mapping,
    },
    /// Colours at the corners of the unit square, and linear values between them.
    Bilinear {
        /// At (0, 0), (0, 1), (1, 0) and (1, 1).
        corners: [Color; 4],
        /// Texture coordinates.
        uv: Mapping,
    },
    /// Texture coordinates, without their whole parts, in red and green.
    Coordinates(Mapping),
    /// Dots in some of the unit squares.
    Dots {
        /// Colour of dots.
        inside: Color,
        /// Colour around dots.
        outside: Color,
        /// Texture coordinates.
        uv: Mapping,
    },
}

/// A picture as a texture.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Its file.
    pub file: PathBuf,
    /// Whether its 8-bit values are linear, rather than sRGB.
    pub linear: bool,
    /// What is outside of it.
    pub wrap: Wrap,
    /// Multiplies its values.
    pub scale: f32,
    /// Whether its values are subtracted from 1.
    pub invert: bool,
    /// Texture coordinates, with v from the lower end of the picture.
    pub uv: Mapping,
}

/// What is outside of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrap {
    /// The picture again.
    Repeat,
    /// The texels at its border.
    Clamp,
    /// Black.
    Black,
}

/// `texture_uv = scale · uv + offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mapping {
    /// Factors.
    pub scale: [f32; 2],
    /// Summands.
    pub offset: [f32; 2],
}

/// A material.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// Its name, or its type and the place of its directive.
    pub name: String,
    /// How it reflects light.
    pub kind: MaterialKind,
    /// Picture of normals in tangent space.
    pub normal_map: Option<PathBuf>,
}

/// Kinds of materials.
#[derive(Clone, Debug, PartialEq)]
pub enum MaterialKind {
    /// A base with layers.
    Layered(Box<Layered>),
    /// Hair (Chiang et al. 2016).
    Hair(Hair),
    /// Two materials.
    Mix {
        /// Indices into [`Scene::materials`].
        materials: [u32; 2],
        /// Share of the second.
        amount: Number,
    },
    /// A border between media, which is not visible itself.
    Interface,
}

/// A material of a base, which is diffuse, metal or glass, and of layers above it.
#[derive(Clone, Debug, PartialEq)]
pub struct Layered {
    /// Diffuse reflectance, colour of the metal, or tint of light that passes.
    pub color: Color,
    /// Share of metal, from 0 to 1.
    pub metallic: f32,
    /// Weight of the dielectric reflection, from 0 to 1.
    pub specular: f32,
    /// Tint of that reflection.
    pub specular_color: Color,
    /// Roughness of reflections and of light that passes.
    pub roughness: Roughness,
    /// Index of refraction.
    pub eta: f32,
    /// Share of light that passes instead of being reflected diffusely, from 0 to 1.
    pub transmission: f32,
    /// Whether light that passes is not bent, as in a thin wall.
    pub thin: bool,
    /// Share of diffuse light that passes, from 0 to 1, and its colour.
    pub diffuse_transmission: Option<(f32, Color)>,
    /// Opacity.
    pub opacity: Number,
    /// Weight and GGX's alpha of a clear coat.
    pub coat: Option<[f32; 2]>,
    /// Colour of sheen.
    pub sheen: [f32; 3],
    /// What is behind the surface, in place of the shape's own medium.
    pub volume: Option<Medium>,
}

impl Default for Layered {
    fn default() -> Self {
        Self {
            color: Color::Constant([0.5; 3]),
            metallic: 0.0,
            specular: 0.0,
            specular_color: Color::Constant([1.0; 3]),
            roughness: Roughness::smooth(),
            eta: 1.5,
            transmission: 0.0,
            thin: false,
            diffuse_transmission: None,
            opacity: Number::Constant(1.0),
            coat: None,
            sheen: [0.0; 3],
            volume: None,
        }
    }
}

/// Roughness along u and v.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Roughness {
    /// Values along u and v.
    pub values: [Number; 2],
    /// How they become GGX's alpha.
    pub remap: Remap,
}

impl Roughness {
    /// No roughness.
    pub fn smooth() -> Self {
        Self { values: [Number::Constant(0.0); 2], remap: Remap::None }
    }
}

/// How roughness becomes GGX's alpha.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remap {
    /// It is alpha.
    None,
    /// Alpha is its square root (version 4).
    SquareRoot,
    /// Alpha is a polynomial of its logarithm (version 3).
    Logarithm,
}

impl Remap {
    /// GGX's alpha.
    pub fn alpha(self, roughness: f32) -> f32 {
        match self {
            Self::None => roughness,
            Self::SquareRoot => roughness.max(0.0).sqrt(),
            Self::Logarithm => {
                let x = roughness.max(1e-3).ln();
                1.62142 + x * (0.819_955 + x * (0.1734 + x * (0.017_120_1 + x * 0.000_640_711)))
            }
        }
    }
}

/// Hair.
#[derive(Clone, Debug, PartialEq)]
pub struct Hair {
    /// Colour of dense hair, or absorption per unit of the fibre's radius.
    pub pigment: Pigment,
    /// Roughness along the fibre (beta_m).
    pub longitudinal: f32,
    /// Roughness around the fibre (beta_n).
    pub azimuthal: f32,
    /// Tilt of the scales in degrees.
    pub tilt: f32,
    /// Index of refraction.
    pub eta: f32,
}

/// What colours hair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pigment {
    /// Colour of dense hair.
    Color(Color),
    /// Absorption coefficient (`sigma_a`).
    Absorption([f32; 3]),
}
