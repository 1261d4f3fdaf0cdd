//! Materials: one model for all surface shaders, with the pictures that its inputs read.

use super::Computed;
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

/// The materials of a MaterialX document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Library {
    /// The materials in the order of the document. Their names are those of the document.
    pub materials: Vec<Material>,
    /// Pictures that they read, each once.
    pub pictures: Vec<Asset>,
    /// What was replaced or left out: one line each.
    pub warnings: Vec<String>,
}

/// A surface: the inputs of UsdPreviewSurface, and the layers that other shaders have beyond them. Colours are linear, with the primaries of
/// Rec. 709. The layers are those of glTF's extensions, whose specifications define them.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    /// Albedo of the body, and reflectance of metals at normal incidence.
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
    /// Normal of the clear coat in tangent space, as [`Self::normal`].
    pub clearcoat_normal: Option<Source>,
    /// Opacity.
    pub opacity: Input<f32>,
    /// Opacities below it are invisible and all others opaque. 0 for a transparent material.
    pub opacity_threshold: f32,
    /// Whether transparent parts still reflect as glass does (`opacityMode = transparent`), and not vanish (`presence`).
    pub keeps_reflections: bool,
    /// Index of refraction.
    pub ior: f32,
    /// Weight of the reflection of dielectrics.
    pub specular: Input<f32>,
    /// Tint of the reflection of dielectrics at normal incidence.
    pub specular_tint: Input<[f32; 3]>,
    /// How much highlights are stretched, and in which direction: radians from increasing u towards increasing v.
    pub anisotropy: (f32, f32),
    /// Normal in tangent space, x and y along increasing u and v; its components are `2 · texel - 1` of usual maps.
    pub normal: Option<Source>,
    /// Weight of light that passes without being scattered.
    pub transmission: Input<f32>,
    /// What is behind the surface. `None` for a thin wall, which neither refracts light nor absorbs it.
    pub volume: Option<Volume>,
    /// 20 / Abbe number; 0 if all colours are refracted equally.
    pub dispersion: f32,
    /// Share of the scattered light that leaves on the opposite side.
    pub diffuse_transmission: Input<f32>,
    /// Colour of this light.
    pub diffuse_transmission_color: Input<[f32; 3]>,
    /// Colour of the reflection by fibres; black without them.
    pub sheen_color: Input<[f32; 3]>,
    /// Roughness of this reflection.
    pub sheen_roughness: Input<f32>,
    /// A film whose interference colours the reflection.
    pub film: Film,
    /// Distance by which the surface is moved along its normals, in units of the mesh.
    pub displacement: Input<f32>,
    /// All of a material of throng, which replaces everything else.
    pub own: Option<Box<OwnSurface>>,
}

/// Properties of a material of throng, as they are in the file. The names are those of the scene's materials.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OwnSurface {
    /// Properties that are texts.
    pub texts: Vec<(String, String)>,
    /// Properties that are numbers. A single number stands in all components.
    pub numbers: Vec<(String, [f32; 4])>,
    /// Properties that read pictures, whose scale and bias do not count.
    pub maps: Vec<(String, Source)>,
}

impl OwnSurface {
    /// What names of the material's attributes begin with. They are no shader, because checkers do not know it.
    pub const PREFIX: &str = "throng:";
    /// The attribute that all of them have.
    pub const KIND: &str = "throng:kind";
}

/// A clear or cloudy body.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Volume {
    /// Fraction of light that is absorbed or scattered, per unit of the stage.
    pub extinction: [f32; 3],
    /// Fraction of the extinction that is scattering.
    pub albedo: [f32; 3],
    /// Mean cosine of the scattering angle.
    pub anisotropy: f32,
}

/// A thin film.
#[derive(Clone, Debug, PartialEq)]
pub struct Film {
    /// Its weight.
    pub weight: Input<f32>,
    /// Its thickness in nanometres.
    pub thickness: f32,
    /// Its index of refraction.
    pub ior: f32,
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
            clearcoat_normal: None,
            opacity: Input::of(1.0),
            opacity_threshold: 0.0,
            keeps_reflections: true,
            ior: 1.5,
            specular: Input::of(1.0),
            specular_tint: Input::of([1.0; 3]),
            anisotropy: (0.0, 0.0),
            normal: None,
            transmission: Input::of(0.0),
            volume: None,
            dispersion: 0.0,
            diffuse_transmission: Input::of(0.0),
            diffuse_transmission_color: Input::of([1.0; 3]),
            sheen_color: Input::of([0.0; 3]),
            sheen_roughness: Input::of(0.0),
            film: Film { weight: Input::of(0.0), thickness: 400.0, ior: 1.3 },
            displacement: Input::of(0.0),
            own: None,
        }
    }
}

impl Surface {
    /// The inputs that are colours.
    pub fn colors(&self) -> impl Iterator<Item = &Input<[f32; 3]>> {
        let Self { diffuse_color, emissive_color, specular_tint, diffuse_transmission_color, sheen_color, .. } = self;
        let all = [diffuse_color, emissive_color, specular_tint, diffuse_transmission_color, sheen_color];
        all.into_iter().chain(&self.specular_color)
    }

    /// The inputs that are numbers.
    pub fn numbers(&self) -> impl Iterator<Item = &Input<f32>> {
        let Self { metallic, roughness, clearcoat, clearcoat_roughness, opacity, .. } = self;
        let Self { specular, transmission, diffuse_transmission, sheen_roughness, film, displacement, .. } = self;
        let first = [metallic, roughness, clearcoat, clearcoat_roughness, opacity, displacement];
        first.into_iter().chain([specular, transmission, diffuse_transmission, sheen_roughness, &film.weight])
    }

    /// The sources of all inputs.
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        let colors = self.colors().filter_map(|input| input.source.as_ref());
        let numbers = self.numbers().filter_map(|input| input.source.as_ref());
        let own = self.own.iter().flat_map(|own| own.maps.iter().map(|(_, source)| source));
        colors.chain(numbers).chain(&self.normal).chain(&self.clearcoat_normal).chain(own)
    }

    /// Whether the surface is moved anywhere.
    pub fn is_displaced(&self) -> bool {
        self.displacement.source.is_some() || self.displacement.value != 0.0
    }

    /// Calls `change` with each picture that is read.
    pub fn for_each_read(&mut self, change: &mut dyn FnMut(&mut Read)) {
        let Self { diffuse_color, emissive_color, specular_tint, diffuse_transmission_color, sheen_color, .. } = self;
        let colors = [diffuse_color, emissive_color, specular_tint, diffuse_transmission_color, sheen_color];
        let colors = colors.into_iter().chain(&mut self.specular_color);
        let Self { metallic, roughness, clearcoat, clearcoat_roughness, opacity, .. } = self;
        let Self { specular, transmission, diffuse_transmission, sheen_roughness, film, displacement, .. } = self;
        let first = [metallic, roughness, clearcoat, clearcoat_roughness, opacity, displacement];
        let rest = [specular, transmission, diffuse_transmission, sheen_roughness, &mut film.weight];
        let numbers = first.into_iter().chain(rest).filter_map(|input| input.source.as_mut());
        let sources = colors.filter_map(|input| input.source.as_mut()).chain(numbers);
        let own = self.own.iter_mut().flat_map(|own| own.maps.iter_mut().map(|(_, source)| source));
        let normals = self.normal.iter_mut().chain(&mut self.clearcoat_normal);
        sources.chain(normals).chain(own).for_each(|s| s.for_each_read(change));
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
    /// The mesh's `displayColor` or `displayOpacity`, times a colour. Numbers ignore the colour.
    Display(Box<Input<[f32; 3]>>),
    /// A value that is computed from pictures. Numbers are its first component.
    Computed(Box<Computed>),
}

impl Source {
    /// The mesh's own colour or opacity.
    pub fn display() -> Self {
        Self::Display(Box::new(Input::of([1.0; 3])))
    }

    /// All pictures that are read.
    pub fn reads(&self) -> Vec<&Read> {
        match self {
            Self::Picture(read) => vec![read],
            Self::Computed(computed) => computed.reads(),
            Self::Display(factor) => factor.source.as_ref().map_or_else(Vec::new, Self::reads),
        }
    }

    /// Calls `change` with each picture that is read.
    fn for_each_read(&mut self, change: &mut dyn FnMut(&mut Read)) {
        match self {
            Self::Picture(read) => change(read),
            Self::Computed(computed) => computed.for_each_read(change),
            Self::Display(factor) => factor.source.iter_mut().for_each(|source| source.for_each_read(change)),
        }
    }
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
