//! Materials as rows of the material table.

use super::{
    contents::{medium, shortened},
    mixes,
    textures::Textures,
};
use crate::{materials::Materials, usd::Convert};
use glam::Vec3;
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};
use throng_pbrt::{Hair, Layered, MaterialKind, Medium, Number, Pigment, Roughness, Scene};
use throng_scene::{Lobes, Material, MaterialKind as Kind, hair_color};
use throng_usd::{Input, Surface, Volume};

/// What the row of a shape depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    pub material: u32,
    /// Index of the emission, or `NONE` of `throng_pbrt`.
    pub emission: u32,
    /// Area over which the power of the emission is spread, if it is given.
    pub area: Option<f32>,
    /// Index of the medium inside.
    pub inside: u32,
    pub alpha: Number,
    /// Whether the shape is of curves.
    pub curved: bool,
}

/// Rows of a scene's materials, made when they are first used.
pub struct Rows<'a> {
    scene: &'a Scene,
    /// The main file, for messages.
    file: &'a Path,
    textures: Textures<'a>,
    known: HashMap<String, Option<u32>>,
    warnings: Vec<String>,
}

/// A material before it is a row.
pub enum Made {
    Surface(Box<Surface>),
    Hair(Hair),
    /// Nothing is visible.
    Nothing,
}

impl<'a> Rows<'a> {
    pub fn new(scene: &'a Scene, file: &'a Path) -> Self {
        Self { scene, file, textures: Textures::new(scene), known: HashMap::new(), warnings: Vec::new() }
    }

    /// What could not be shown, one line each.
    pub fn into_warnings(mut self) -> Vec<String> {
        let line = |file: &PathBuf| format!("the picture {} does not exist: grey takes its place", file.display());
        let missing = self.textures.missing.iter().map(line).collect();
        self.warnings.extend(shortened(missing, "pictures do not exist"));
        self.warnings.sort();
        self.warnings.dedup();
        self.warnings
    }

    /// The row of a material; None if nothing of it is visible.
    pub fn row(&mut self, table: &mut Materials, look: &Look) -> Option<u32> {
        let key = format!("{look:?}");
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let row = self.make(table, look);
        self.known.insert(key, row);
        row
    }

    fn make(&mut self, table: &mut Materials, look: &Look) -> Option<u32> {
        let name = self.scene.materials[look.material as usize].name.clone();
        let emission = self.emission(look);
        let mut surface = match self.material(look.material, 0) {
            Made::Hair(hair) if look.curved => return Some(table.add(&name, self.hair(&hair))),
            Made::Hair(hair) => {
                let color = Input::of(self.hair(&hair).color.to_array());
                Box::new(Surface { diffuse_color: color, ..plain() })
            }
            Made::Surface(surface) => surface,
            // A border between media that are the same.
            Made::Nothing if emission.is_none() => Box::new(self.border(look.inside)?),
            Made::Nothing => Box::new(Surface { diffuse_color: Input::of([0.0; 3]), ..plain() }),
        };
        if let (Some(volume), Some(inside)) = (&mut surface.volume, medium(self.scene, look.inside))
            && volume.extinction == [0.0; 3]
        {
            *volume = volume_of(&inside);
        }
        if look.alpha != Number::Constant(1.0) {
            let alpha = self.textures.number(&look.alpha);
            surface.opacity = match (&surface.opacity.source, &alpha.source) {
                (None, None) => Input::of(surface.opacity.value * alpha.value),
                _ => alpha,
            };
            surface.keeps_reflections = false;
        }
        let two_sided = self.scene.emissions.get(look.emission as usize).is_none_or(|own| own.two_sided);
        if let Some(emission) = emission {
            surface.emissive_color = emission;
        }
        let mut convert = Convert {
            pictures: &self.textures.pictures.all,
            file: self.file,
            scale: 1.0,
            table,
            uv_set: &|_| 0,
            tint: Vec3::ONE,
            fade: None,
            // Checkerboards repeat after two squares.
            period: Some(2.0),
        };
        let mut material = convert.material(&surface);
        material.one_sided = !two_sided;
        if is_plain(&surface) {
            material.kind = Kind::Diffuse;
            material.lobes = Lobes::default();
        }
        Some(table.add(&name, material))
    }

    fn emission(&mut self, look: &Look) -> Option<Input<[f32; 3]>> {
        let own = self.scene.emissions.get(look.emission as usize)?;
        // pbrt multiplies colours by the power, whatever their luminance.
        let factor = match (own.power, look.area) {
            (Some(power), Some(area)) if area > 0.0 => {
                let sides = if own.two_sided { 2.0 } else { 1.0 };
                power / (area * std::f32::consts::PI * sides)
            }
            _ => 1.0,
        };
        let radiance = own.radiance.map(|x| x * factor);
        let is_seen = radiance.iter().any(|x| *x > 0.0);
        let source = own.picture.as_ref().map(|file| self.textures.tinted(file, radiance));
        is_seen.then_some(Input { value: radiance, source })
    }

    /// A material without what its shape adds.
    pub fn material(&mut self, index: u32, depth: usize) -> Made {
        let material = &self.scene.materials[index as usize];
        match &material.kind {
            MaterialKind::Layered(layered) => {
                let mut surface = self.surface(layered);
                surface.normal = material.normal_map.as_ref().map(|file| self.textures.normal(file));
                Made::Surface(Box::new(surface))
            }
            MaterialKind::Hair(hair) => Made::Hair(hair.clone()),
            MaterialKind::Interface => Made::Nothing,
            MaterialKind::Mix { materials, amount } => {
                if depth > mixes::DEEPEST {
                    self.warnings.push(format!("mixes of materials are nested more than {} deep", mixes::DEEPEST));
                    return Made::Nothing;
                }
                let amount = self.textures.number(amount);
                let [a, b] = materials.map(|material| self.material(material, depth + 1));
                mixes::mixed(a, b, amount)
            }
        }
    }

    fn surface(&mut self, layered: &Layered) -> Surface {
        let textures = &mut self.textures;
        let (roughness, anisotropy) = roughness(textures, &layered.roughness);
        let (share, passed) = layered.diffuse_transmission.unwrap_or((0.0, layered.color));
        let is_glass = layered.transmission > 0.0 && !layered.thin;
        let [coat, coat_alpha] = layered.coat.unwrap_or_default();
        Surface {
            diffuse_color: textures.color(&layered.color),
            metallic: Input::of(layered.metallic),
            roughness,
            anisotropy,
            ior: layered.eta,
            specular: Input::of(layered.specular),
            specular_tint: textures.color(&layered.specular_color),
            transmission: Input::of(layered.transmission),
            volume: is_glass.then(|| layered.volume.as_ref().map_or_else(Volume::default, volume_of)),
            diffuse_transmission: Input::of(share),
            diffuse_transmission_color: textures.color(&passed),
            opacity: textures.number(&layered.opacity),
            keeps_reflections: false,
            clearcoat: Input::of(coat),
            clearcoat_roughness: Input::of(coat_alpha.max(0.0).sqrt()),
            sheen_color: Input::of(layered.sheen),
            sheen_roughness: Input::of(0.5),
            ..Surface::default()
        }
    }

    fn hair(&mut self, hair: &Hair) -> Material {
        let color = match &hair.pigment {
            Pigment::Absorption(absorption) => hair_color(Vec3::from(*absorption), hair.azimuthal),
            Pigment::Color(color) => {
                let input = self.textures.color(color);
                let value = if input.source.is_some() { [0.5; 3] } else { input.value };
                Vec3::from(value).clamp(Vec3::ZERO, Vec3::ONE)
            }
        };
        let lobes = Lobes {
            roughness: hair.longitudinal,
            azimuthal_roughness: hair.azimuthal,
            ior: hair.eta.max(1.0),
            cuticle_tilt: hair.tilt.to_radians(),
            ..Lobes::default()
        };
        Material { kind: Kind::Hair, color, lobes, ..Material::default() }
    }

    /// The border of a medium.
    fn border(&self, inside: u32) -> Option<Surface> {
        let volume = volume_of(&medium(self.scene, inside)?);
        Some(Surface {
            diffuse_color: Input::of([1.0; 3]),
            specular: Input::of(0.0),
            roughness: Input::of(0.0),
            ior: 1.0,
            transmission: Input::of(1.0),
            volume: Some(volume),
            ..Surface::default()
        })
    }
}

/// A surface that is diffuse alone.
pub fn plain() -> Surface {
    Surface { specular: Input::of(0.0), roughness: Input::of(1.0), keeps_reflections: false, ..Surface::default() }
}

/// Whether a surface is diffuse alone.
fn is_plain(surface: &Surface) -> bool {
    let is_zero = |input: &Input<f32>| input.source.is_none() && input.value == 0.0;
    let Surface { metallic, specular, transmission, clearcoat, diffuse_transmission, .. } = surface;
    [metallic, specular, transmission, clearcoat, diffuse_transmission].into_iter().all(is_zero)
        && surface.normal.is_none()
        && surface.sheen_color.value == [0.0; 3]
}

fn volume_of(medium: &Medium) -> Volume {
    let extinction = [0, 1, 2].map(|i| medium.absorption[i] + medium.scattering[i]);
    let albedo = [0, 1, 2].map(|i| if extinction[i] > 0.0 { medium.scattering[i] / extinction[i] } else { 0.0 });
    Volume { extinction, albedo, anisotropy: medium.anisotropy }
}

/// Roughness of both axes together, whose square is GGX's alpha, and how much and in which direction it differs.
fn roughness(textures: &mut Textures, own: &Roughness) -> (Input<f32>, (f32, f32)) {
    if let [Number::Constant(u), Number::Constant(v)] = own.values {
        let [u, v] = [u, v].map(|value| own.remap.alpha(value).clamp(0.0, 1.0));
        // Alpha along the direction is that of the other axis, interpolated to 1 by the square of the anisotropy.
        let (least, most) = (u.min(v), u.max(v));
        let anisotropy = if least < 1.0 { ((most - least) / (1.0 - least)).sqrt() } else { 0.0 };
        let direction = if u >= v { 0.0 } else { std::f32::consts::FRAC_PI_2 };
        return (Input::of(least.sqrt()), (anisotropy, direction));
    }
    let texture = own.values.iter().find(|value| matches!(value, Number::Texture(_))).unwrap_or(&own.values[0]);
    let input = textures.number(texture);
    let exponent = if own.remap == throng_pbrt::Remap::None { 0.5 } else { 0.25 };
    (Textures::power(input, exponent), (0.0, 0.0))
}
