//! From a surface to a row of the material table.

use super::sources::{Part, is_unscaled};
use crate::{materials::Materials, packed::Encoding};
use glam::Vec3;
use std::path::Path;
use throng_scene::{Alpha, Lobes, Material, MaterialKind, NONE};
use throng_usd::{Asset, Input, Source, Surface};

/// Opacity up to which a smooth surface is shown as clear glass.
const CLEAR: f32 = 0.05;
/// Roughness below which a clear surface counts as smooth.
const SMOOTH: f32 = 0.3;
/// Extinction of a volume at most, per unit of the scene. Such a volume blocks all light anyway.
const MOST_EXTINCTION: f32 = 1e12;

/// Converts the surfaces of a stage or of a MaterialX document.
pub struct Convert<'a> {
    /// The pictures that surfaces refer to.
    pub pictures: &'a [Asset],
    /// The file that has the surfaces, for warnings.
    pub file: &'a Path,
    /// Length of a unit of volumes in the scene.
    pub scale: f32,
    pub table: &'a mut Materials,
    /// The set of a mesh's texture coordinates, 0 or 1, for the name of a primvar.
    pub uv_set: &'a dyn Fn(&str) -> u32,
    /// Colour of inputs that read the shape's, which multiplies those of its vertices.
    pub tint: Vec3,
    /// Opacity of an input that reads the shape's, if it is the same everywhere.
    pub fade: Option<f32>,
    /// Units of their coordinates after which patterns without pictures repeat. None: they are made over the mesh's unit square.
    pub period: Option<f32>,
}

impl Convert<'_> {
    /// The material that shows a surface.
    pub fn material(&mut self, surface: &Surface) -> Material {
        if let Some(own) = &surface.own {
            return self.own(own);
        }
        let (color, color_map) = self.base_color(surface);
        let (emission, emission_map) = self.color(&surface.emissive_color);
        let mut lobes = self.lobes(surface);
        let (is_textured, opacity) = match (&surface.opacity.source, self.fade) {
            (Some(Source::Display(_)), Some(fade)) => (false, fade),
            (Some(_), _) => (true, 1.0),
            (None, _) => (false, surface.opacity.value),
        };
        let opacity = opacity.clamp(0.0, 1.0);
        let is_clear = !is_textured
            && opacity <= CLEAR
            && surface.keeps_reflections
            && surface.opacity_threshold == 0.0
            && surface.roughness.source.is_none()
            && surface.roughness.value < SMOOTH;
        let alpha = match () {
            () if is_clear => Alpha::Opaque,
            () if surface.opacity_threshold > 0.0 => Alpha::Mask(surface.opacity_threshold),
            () if is_textured || opacity < 1.0 => Alpha::Blend,
            () => Alpha::Opaque,
        };
        // What is behind a surface is seen without a tint. Where it also reflects, its opacity is that of its diffuse part and its reflection.
        let (color, color_map) = if is_clear { (Vec3::ONE, NONE) } else { (color, color_map) };
        let opacity = match alpha {
            Alpha::Blend if !is_textured && surface.keeps_reflections => {
                let reflected = ((surface.ior - 1.0) / (surface.ior + 1.0)).powi(2);
                opacity + (1.0 - opacity) * reflected
            }
            _ => opacity,
        };
        if is_clear {
            (lobes.transmission, lobes.thin) = (1.0, 1);
        }
        Material {
            kind: MaterialKind::Layered,
            color,
            color_map,
            emission,
            emission_map,
            opacity: if is_textured || is_clear { 1.0 } else { opacity },
            alpha,
            lobes,
            ..Material::default()
        }
    }

    fn lobes(&mut self, surface: &Surface) -> Lobes {
        let mut lobes = Lobes { metallic: 0.0, ior: surface.ior.max(1.0), ..Lobes::default() };
        self.reflection(surface, &mut lobes);
        self.coats(surface, &mut lobes);
        self.transmission(surface, &mut lobes);
        lobes
    }

    /// The reflection of the base.
    fn reflection(&mut self, surface: &Surface, lobes: &mut Lobes) {
        (lobes.specular, lobes.specular_map) = self.number(&surface.specular, 3);
        let (tint, map) = self.color(&surface.specular_tint);
        (lobes.specular_color, lobes.specular_color_map) = (tint.max(Vec3::ZERO).to_array(), map);
        if let Some(specular) = &surface.specular_color {
            // A dielectric with an infinite index of refraction reflects exactly its tint at normal incidence.
            lobes.ior = 0.0;
            let (tint, map) = self.color(specular);
            (lobes.specular_color, lobes.specular_color_map) = (tint.min(Vec3::ONE).to_array(), map);
        }
        let metallic = if surface.specular_color.is_some() { &Input::of(0.0) } else { &surface.metallic };
        self.metal_and_roughness(metallic, &surface.roughness, lobes);
        (lobes.anisotropy, lobes.anisotropy_rotation) = (surface.anisotropy.0.clamp(0.0, 1.0), surface.anisotropy.1);
        lobes.normal_map = surface.normal.as_ref().map_or(NONE, |normal| self.normal_map(normal));
        let film = &surface.film;
        if is_used(&film.weight) {
            (lobes.iridescence, lobes.iridescence_map) = self.number(&film.weight, 0);
            lobes.iridescence_ior = film.ior.max(1.0);
            lobes.iridescence_thickness = [film.thickness.max(0.0); 2];
        }
    }

    /// The clear coat and the fibres.
    fn coats(&mut self, surface: &Surface, lobes: &mut Lobes) {
        if is_used(&surface.clearcoat) {
            (lobes.clearcoat, lobes.clearcoat_map) = self.number(&surface.clearcoat, 0);
            (lobes.clearcoat_roughness, lobes.clearcoat_roughness_map) = self.number(&surface.clearcoat_roughness, 1);
            lobes.clearcoat_normal_map = surface.clearcoat_normal.as_ref().map_or(NONE, |read| self.normal_map(read));
        }
        if surface.sheen_color.source.is_some() || surface.sheen_color.value != [0.0; 3] {
            let (color, map) = self.color(&surface.sheen_color);
            (lobes.sheen_color, lobes.sheen_color_map) = (color.clamp(Vec3::ZERO, Vec3::ONE).to_array(), map);
            (lobes.sheen_roughness, lobes.sheen_roughness_map) = self.number(&surface.sheen_roughness, 3);
        }
    }

    /// Light that passes the surface, and what is behind it.
    fn transmission(&mut self, surface: &Surface, lobes: &mut Lobes) {
        (lobes.transmission, lobes.transmission_map) = self.number(&surface.transmission, 0);
        if let Some(volume) = &surface.volume {
            lobes.thin = 0;
            lobes.extinction = volume.extinction.map(|x| (x / self.scale).clamp(0.0, MOST_EXTINCTION));
            lobes.scatter_albedo = volume.albedo.map(|x| x.clamp(0.0, 1.0));
            lobes.scatter_anisotropy = volume.anisotropy;
            lobes.dispersion = surface.dispersion.max(0.0);
        }
        if is_used(&surface.diffuse_transmission) {
            (lobes.diffuse_transmission, lobes.diffuse_transmission_map) =
                self.number(&surface.diffuse_transmission, 3);
            let (color, map) = self.color(&surface.diffuse_transmission_color);
            (lobes.diffuse_transmission_color, lobes.diffuse_transmission_color_map) =
                (color.clamp(Vec3::ZERO, Vec3::ONE).to_array(), map);
        }
    }

    /// The base colour with the opacity in the alpha of its map.
    fn base_color(&mut self, surface: &Surface) -> (Vec3, u32) {
        let opacity = match &surface.opacity.source {
            Some(source @ (Source::Picture(_) | Source::Computed(_))) => source,
            _ => return self.color(&surface.diffuse_color),
        };
        let color = match &surface.diffuse_color.source {
            Some(source @ (Source::Picture(_) | Source::Computed(_))) => source,
            other => {
                let parts = [Part::White, Part::White, Part::White, Part::Number(opacity)];
                let map = self.packed(parts, Encoding::Bytes);
                return (if other.is_some() { self.tint } else { surface.diffuse_color.value.into() }, map);
            }
        };
        // A picture whose own alpha is the opacity is read as it is.
        if let (Source::Picture(read), Source::Picture(alpha)) = (color, opacity) {
            let is_plain = |read| is_unscaled(read) && read.bias == [0.0; 4];
            if read.picture == alpha.picture && alpha.channel == 3 && is_plain(read) && is_plain(alpha) {
                let picture = self.picture(read, true);
                let texture = self.table.picture(picture);
                return (Vec3::ONE, self.map_of(read, texture));
            }
        }
        let [r, g, b] = [0, 1, 2].map(|channel| Part::Color(color, channel));
        (Vec3::ONE, self.packed([r, g, b, Part::Number(opacity)], Encoding::of_colors(color)))
    }

    /// The factor and the map of a colour.
    fn color(&mut self, input: &Input<[f32; 3]>) -> (Vec3, u32) {
        let source = match &input.source {
            None => return (input.value.into(), NONE),
            Some(Source::Display(factor)) => {
                let (color, map) = self.color(factor);
                return (self.tint * color, map);
            }
            Some(source) => source,
        };
        if let Source::Picture(read) = source {
            let [r, g, b, _] = read.scale;
            if read.bias[..3] == [0.0; 3] && r >= 0.0 && g >= 0.0 && b >= 0.0 {
                let picture = self.picture(read, true);
                let texture = self.table.picture(picture);
                return (Vec3::new(r, g, b), self.map_of(read, texture));
            }
        }
        let [r, g, b] = [0, 1, 2].map(|channel| Part::Color(source, channel));
        (Vec3::ONE, self.packed([r, g, b, Part::White], Encoding::of_colors(source)))
    }

    /// The factor and the map of a number that kernels read from `channel`.
    fn number(&mut self, input: &Input<f32>, channel: usize) -> (f32, u32) {
        let Some(part) = Part::number(input) else { return (input.value.clamp(0.0, 1.0), NONE) };
        let mut parts = [Part::White; 4];
        parts[channel] = part;
        (1.0, self.packed(parts, Encoding::Bytes))
    }

    /// Roughness in green and metalness in blue, as kernels read them.
    fn metal_and_roughness(&mut self, metallic: &Input<f32>, roughness: &Input<f32>, lobes: &mut Lobes) {
        let (metal, rough) = (Part::number(metallic), Part::number(roughness));
        let factor = |part: Option<Part>, value: f32| if part.is_some() { 1.0 } else { value.clamp(0.0, 1.0) };
        (lobes.metallic, lobes.roughness) = (factor(metal, metallic.value), factor(rough, roughness.value));
        if metal.is_some() || rough.is_some() {
            let [green, blue] = [rough, metal].map(|part| part.unwrap_or(Part::White));
            lobes.metallic_roughness_map = self.packed([Part::White, green, blue, Part::White], Encoding::Bytes);
        }
    }

    fn normal_map(&mut self, source: &Source) -> u32 {
        if let Source::Picture(read) = source {
            let usual = read.scale[..3] == [2.0; 3] && read.bias[..3] == [-1.0; 3];
            // Exporters leave the factors out, though they mean them.
            let missing = read.scale[..3] == [1.0; 3] && read.bias[..3] == [0.0; 3];
            if usual || missing {
                let picture = self.picture(read, false);
                let texture = self.table.picture(picture);
                return self.map_of(read, texture);
            }
        }
        let [x, y, z] = [0, 1, 2].map(|channel| Part::Slope(source, channel));
        self.packed([x, y, z, Part::White], Encoding::Bytes)
    }
}

/// Whether a weight has an effect.
fn is_used(weight: &Input<f32>) -> bool {
    weight.source.is_some() || weight.value > 0.0
}
