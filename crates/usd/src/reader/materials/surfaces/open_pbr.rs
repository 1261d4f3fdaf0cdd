//! OpenPBR Surface (Academy Software Foundation, version 1.1).

use super::{
    Shader,
    layers::{Coat, CoatNames, brushed, normal_reflectance, volume, weakened},
};
use crate::{Input, Operation, Surface, reader::materials::wire::Wire};

impl Shader<'_, '_> {
    pub fn open_pbr(&mut self) -> Surface {
        let coat = self.coat(&CoatNames { weight: "coat_weight", color: "coat_color", ior: ("coat_ior", 1.6) });
        let base = self.open_pbr_base();
        let tint = self.or("specular_color", 1.0);
        let darkening = self.coat_darkening(&coat, &base);
        let (roughness, anisotropy) = self.open_pbr_roughness(&coat.weight);
        let specular = self.or("specular_weight", 1.0);
        let ior = self.open_pbr_ior(&coat, specular.constant().map_or(1.0, |weight| weight[0]));
        let color = self.product(base.color, darkening.clone());
        let tint = match darkening.constant() {
            Some(factor) => tint.times(factor),
            None => tint,
        };
        let emission = self.weighted("emission_luminance", 0.0, "emission_color", 1.0);
        let fuzz = self.weighted("fuzz_weight", 0.0, "fuzz_color", 1.0);
        let film = (self.number("thin_film_thickness", 0.5) * 1000.0, self.number("thin_film_ior", 1.4));
        let film_weight = self.or("thin_film_weight", 0.0).single();
        let volume = self.open_pbr_volume(base.thin, &base.transmission);
        let abbe = self.number("transmission_dispersion_abbe_number", 20.0);
        let dispersion = self.number("transmission_dispersion_scale", 0.0) * 20.0 / abbe.max(1.0);
        let surface = Surface {
            diffuse_color: self.product(color, coat.attenuation.clone()).color(),
            emissive_color: self.product(emission, coat.attenuation.clone()).color(),
            metallic: base.metalness.single(),
            roughness: roughness.single(),
            clearcoat: coat.shown,
            clearcoat_roughness: self.or("coat_roughness", 0.0).single(),
            clearcoat_normal: self.normal("geometry_coat_normal"),
            opacity: self.opacity("geometry_opacity"),
            keeps_reflections: false,
            ior,
            specular: if specular.constant().is_some() { Input::of(1.0) } else { specular.single() },
            specular_tint: self.product(tint, coat.attenuation).color(),
            anisotropy: (anisotropy, 0.0),
            normal: self.normal("geometry_normal"),
            transmission: base.transmission.single(),
            volume,
            dispersion,
            diffuse_transmission: base.passed.single(),
            diffuse_transmission_color: self.or("subsurface_color", 0.8).color(),
            sheen_color: fuzz.color(),
            sheen_roughness: self.or("fuzz_roughness", 0.5).single(),
            film: Self::film(film_weight, film.0, film.1),
            ..Surface::default()
        };
        self.left_out(&[
            ("base_diffuse_roughness", "diffuse roughness"),
            ("coat_roughness_anisotropy", "anisotropy of the coat"),
            ("geometry_tangent", "the tangent"),
        ]);
        surface
    }

    fn open_pbr_base(&mut self) -> Base {
        let metalness = self.or("base_metalness", 0.0);
        let transmission = self.or("transmission_weight", 0.0);
        let thin = self.number("geometry_thin_walled", 0.0) != 0.0;
        let (weight, color) = (self.or("base_weight", 1.0), self.or("base_color", 0.8));
        let (subsurface, below) = (self.or("subsurface_weight", 0.0), self.or("subsurface_color", 0.8));
        let specular = self.or("specular_weight", 1.0);
        let body = self.product(color.clone(), weight.clone());
        // The albedo that darkens below the coat.
        let dielectric = self.mixed(color.clone(), below.clone(), subsurface.clone());
        let metal = self.product(color, specular);
        let albedo = self.mixed(dielectric, metal.clone(), metalness.clone());
        let metal = self.product(metal, weight);
        let (body, passed) = match thin {
            false => (self.mixed(body, below, subsurface), Wire::number(0.0)),
            true => self.thin_subsurface(body, below, subsurface),
        };
        let depth = self.number("transmission_depth", 0.0);
        let glass = if depth > 0.0 && !thin { Wire::number(1.0) } else { self.or("transmission_color", 1.0) };
        let color = self.shared_color(body, (glass, transmission.clone()), (metal, metalness.clone()));
        Base { metalness, transmission, thin, color, albedo, passed }
    }

    /// The colour of a thin wall that reflects `(1 - g) / 2` of the light that is scattered in it and transmits `(1 + g) / 2`, and the share of
    /// light that passes.
    fn thin_subsurface(&mut self, body: Wire, below: Wire, weight: Wire) -> (Wire, Wire) {
        let g = self.number("subsurface_scatter_anisotropy", 0.0).clamp(-1.0, 1.0);
        let passed = weight.clone().times([(1.0 + g) / 2.0; 4]);
        let reflected = self.mixed(body, below.times([(1.0 - g) / 2.0; 4]), weight);
        let rest = self.apply(Operation::Subtract, vec![Wire::number(1.0), passed.clone()]);
        (self.apply(Operation::Divide, vec![reflected, rest]), passed)
    }

    /// The factor of what is below the coat, because the coat reflects a part of its light back: `(1 - K) / (1 - E · K)`.
    fn coat_darkening(&mut self, coat: &Coat, base: &Base) -> Wire {
        let darkening = self.or("coat_darkening", 1.0);
        let share = self.product(coat.weight.clone(), darkening);
        if share == Wire::number(0.0) {
            return Wire::number(1.0);
        }
        let kept = 1.0 - (1.0 - normal_reflectance(coat.ior)) / coat.ior.max(1.0).powi(2);
        let rest = base.albedo.clone().times([kept; 4]);
        let rest = self.apply(Operation::Subtract, vec![Wire::number(1.0), rest]);
        let factor = self.apply(Operation::Divide, vec![Wire::number(1.0 - kept), rest]);
        self.mixed(Wire::number(1.0), factor, share)
    }

    /// The roughness below a rough coat: the fourth root of `roughness⁴ + 2 · coat_roughness⁴`, at most 1.
    fn open_pbr_roughness(&mut self, coat: &Wire) -> (Wire, f32) {
        let roughness = self.or("specular_roughness", 0.3);
        let mut fourth = |wire: Wire| self.apply(Operation::Power, vec![wire, Wire::number(4.0)]);
        let own = fourth(roughness.clone());
        let above = self.or("coat_roughness", 0.0);
        let above = self.apply(Operation::Power, vec![above, Wire::number(4.0)]).times([2.0; 4]);
        let roughness = if *coat == Wire::number(0.0) || above == Wire::number(0.0) {
            roughness
        } else {
            let sum = self.apply(Operation::Add, vec![own, above]);
            let sum = self.apply(Operation::Min, vec![sum, Wire::number(1.0)]);
            let root = self.apply(Operation::Power, vec![sum, Wire::number(0.25)]);
            self.mixed(roughness, root, coat.clone())
        };
        let narrow = 1.0 - self.number("specular_roughness_anisotropy", 0.0).clamp(0.0, 1.0);
        if narrow == 1.0 {
            return (roughness, 0.0);
        }
        let along = (2.0 / (1.0 + narrow * narrow)).sqrt();
        brushed(roughness, along, narrow * along)
    }

    /// The index of refraction relative to the coat, for the weight of the reflection.
    fn open_pbr_ior(&mut self, coat: &Coat, weight: f32) -> f32 {
        let ior = self.number("specular_ior", 1.5);
        let ratio = if coat.ior > 0.0 { ior / coat.ior } else { ior };
        let below = if ratio > 1.0 || ratio <= 0.0 { ratio } else { 1.0 / ratio };
        let share = coat.weight.typical()[0].clamp(0.0, 1.0);
        weakened(ior + (below - ior) * share, weight)
    }

    fn open_pbr_volume(&mut self, thin: bool, transmission: &Wire) -> Option<crate::Volume> {
        if thin || *transmission == Wire::number(0.0) {
            return None;
        }
        let depth = self.number("transmission_depth", 0.0);
        let color = if depth > 0.0 { self.constant_color("transmission_color", 1.0) } else { [1.0; 3] };
        let scatter = self.constant_color("transmission_scatter", 0.0);
        Some(volume(color, depth, scatter, self.number("transmission_scatter_anisotropy", 0.0)))
    }
}

/// What is below the coat.
struct Base {
    metalness: Wire,
    transmission: Wire,
    thin: bool,
    /// The colour of its body, of glass and of metal, each where it has the weight.
    color: Wire,
    /// An estimate of its albedo.
    albedo: Wire,
    /// The share of scattered light that passes a thin wall.
    passed: Wire,
}
