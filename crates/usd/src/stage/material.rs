//! Materials: the inputs of UsdPreviewSurface, with the pictures that they read.

use glam::Affine2;
use std::{path::PathBuf, sync::Arc};

/// A material of the stage.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// Path of the prim.
    pub name: String,
    /// Its surface.
    pub surface: Surface,
}

/// The inputs of UsdPreviewSurface. Colours are linear, with the primaries of Rec. 709.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    /// Albedo.
    pub diffuse_color: Input<[f32; 3]>,
    /// Emitted radiance.
    pub emissive_color: Input<[f32; 3]>,
    /// Reflectance at normal incidence, instead of `metallic`, if the specular workflow is used.
    pub specular_color: Option<Input<[f32; 3]>>,
    /// Metalness.
    pub metallic: Input<f32>,
    /// Roughness; its square is the α of GGX.
    pub roughness: Input<f32>,
    /// Weight of the clear coat.
    pub clearcoat: Input<f32>,
    /// Roughness of the clear coat.
    pub clearcoat_roughness: Input<f32>,
    /// Opacity.
    pub opacity: Input<f32>,
    /// Opacities below it are invisible and all others opaque. 0 for a transparent material.
    pub opacity_threshold: f32,
    /// Whether transparent parts still reflect as glass does (`opacityMode = transparent`), and not vanish (`presence`).
    pub keeps_reflections: bool,
    /// Index of refraction.
    pub ior: f32,
    /// Normal in tangent space.
    pub normal: Option<Read>,
    /// Weight of light that passes, for surfaces other than UsdPreviewSurface.
    pub transmission: Input<f32>,
}

impl Default for Surface {
    fn default() -> Self {
        Self {
            diffuse_color: Input::of([0.18; 3]),
            emissive_color: Input::of([0.0; 3]),
            specular_color: None,
            metallic: Input::of(0.0),
            roughness: Input::of(0.5),
            clearcoat: Input::of(0.0),
            clearcoat_roughness: Input::of(0.01),
            opacity: Input::of(1.0),
            opacity_threshold: 0.0,
            keeps_reflections: true,
            ior: 1.5,
            normal: None,
            transmission: Input::of(0.0),
        }
    }
}

/// A value, or where to read it.
#[derive(Clone, Debug, PartialEq)]
pub struct Input<T> {
    /// The value if nothing is read.
    pub value: T,
    /// What is read instead.
    pub source: Option<Source>,
}

impl<T> Input<T> {
    /// A value that is the same everywhere.
    pub fn of(value: T) -> Self {
        Self { value, source: None }
    }
}

/// Where an input is read.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A picture.
    Picture(Read),
    /// The mesh's `displayColor` or `displayOpacity`.
    DisplayPrimvar,
}

/// How an input reads a picture: `channels of (texel · scale + bias)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// Index into [`super::Stage::pictures`].
    pub picture: u32,
    /// The channel that a single value reads, 0 to 3; colours read the first three.
    pub channel: u8,
    /// Factors of red, green, blue and alpha.
    pub scale: [f32; 4],
    /// Summands.
    pub bias: [f32; 4],
    /// Texel where the picture does not exist.
    pub fallback: [f32; 4],
    /// Name of the primvar with texture coordinates; empty for the first set.
    pub uvs: String,
    /// `picture_uv = transform · mesh_uv`, with v upwards.
    pub transform: Affine2,
    /// Wrap modes along u and along v.
    pub wrap: [WrapMode; 2],
    /// Encoding of red, green and blue.
    pub space: TexelSpace,
}

/// Wrap modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WrapMode {
    /// `black`: nothing outside of the picture.
    Black,
    /// `clamp`.
    Clamp,
    /// `repeat`, and the default of throng for `useMetadata`.
    #[default]
    Repeat,
    /// `mirror`.
    Mirror,
}

/// Encodings of texels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TexelSpace {
    /// sRGB for pictures of eight bits with three or more channels, otherwise linear (`auto`).
    #[default]
    Auto,
    /// Linear (`raw`).
    Raw,
    /// sRGB.
    Srgb,
}

/// A file that the stage names.
#[derive(Clone, Debug, PartialEq)]
pub struct Asset {
    /// Its path. With `<UDIM>` for pictures in tiles.
    pub path: PathBuf,
    /// Its content, if it is in a package (.usdz).
    pub bytes: Option<Arc<[u8]>>,
    /// Tiles with their numbers (1001 …) and files, if the path has `<UDIM>`.
    pub tiles: Vec<(u32, PathBuf)>,
}
