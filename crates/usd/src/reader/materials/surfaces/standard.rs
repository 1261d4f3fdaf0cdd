//! Autodesk's Standard Surface, of MaterialX and Arnold.

use super::{
    Shader,
    layers::{CoatNames, brushed, normal_reflectance, volume},
};
use crate::{Input, Operation, Surface, reader::materials::wire::Wire};
use std::f32::consts::TAU;

impl Shader<'_, '_> {
    pub fn standard(&mut self) -> Surface {
        let coat = self.coat(&CoatNames { weight: "coat", color: "coat_color", ior: ("coat_IOR", 1.5) });
        let transmission = self.or("transmission", 0.0);
        let metalness = self.or("metalness", 0.0);
        let thin = self.number("thin_walled", 0.0) != 0.0;
        let depth = self.number("transmission_depth", 0.0);
        let color = self.standard_color(&coat.weight, &transmission, &metalness, thin, depth);
        let specular_tint = self.or("specular_color", 1.0);
        let (roughness, anisotropy) = self.standard_roughness(&coat.weight);
        let scatter = self.or("transmission_scatter", 0.0).typical();
        let is_clear = transmission != Wire::number(0.0);
        let anisotropy_of_scatter = self.number("transmission_scatter_anisotropy", 0.0);
        let glass = if depth > 0.0 { self.constant_color("transmission_color", 1.0) } else { [1.0; 3] };
        let abbe = self.number("transmission_dispersion", 0.0);
        let film = (self.number("thin_film_thickness", 0.0), self.number("thin_film_IOR", 1.5));
        let fibres = self.standard_sheen(&metalness, &transmission);
        let surface = Surface {
            diffuse_color: self.product(color, coat.attenuation.clone()).color(),
            emissive_color: self.standard_emission(&coat.weight, coat.ior).color(),
            metallic: metalness.single(),
            roughness: roughness.single(),
            clearcoat: coat.shown,
            clearcoat_roughness: self.or("coat_roughness", 0.1).single(),
            clearcoat_normal: self.normal("coat_normal"),
            opacity: self.opacity("opacity"),
            keeps_reflections: false,
            ior: self.number("specular_IOR", 1.5),
            specular: self.or("specular", 1.0).single(),
            specular_tint: self.product(specular_tint, coat.attenuation).color(),
            anisotropy: (anisotropy, self.number("specular_rotation", 0.0) * TAU),
            normal: self.normal("normal"),
            transmission: transmission.single(),
            volume: (is_clear && !thin)
                .then(|| volume(glass, depth, [scatter[0], scatter[1], scatter[2]], anisotropy_of_scatter)),
            dispersion: if abbe > 0.0 { 20.0 / abbe } else { 0.0 },
            diffuse_transmission: if thin { self.or("subsurface", 0.0).single() } else { Input::of(0.0) },
            diffuse_transmission_color: self.or("subsurface_color", 1.0).color(),
            sheen_color: fibres.color(),
            sheen_roughness: self.or("sheen_roughness", 0.3).single(),
            film: Self::film(Input::of(1.0), film.0, film.1),
            ..Surface::default()
        };
        self.left_out(&[
            ("diffuse_roughness", "diffuse roughness"),
            ("transmission_extra_roughness", "extra roughness of transmission"),
            ("coat_anisotropy", "anisotropy of the coat"),
        ]);
        surface
    }

    /// The colour of the body, of glass and of metal, each where it has the weight.
    fn standard_color(&mut self, coat: &Wire, transmission: &Wire, metalness: &Wire, thin: bool, depth: f32) -> Wire {
        let (base, color) = (self.or("base", 1.0), self.or("base_color", 0.8));
        let subsurface = self.or("subsurface_color", 1.0);
        let affect = self.or("coat_affect_color", 0.0);
        let gamma = self.product(coat.clone(), affect);
        let gamma = self.apply(Operation::Add, vec![Wire::number(1.0), gamma]);
        let metal = self.product(color.clone(), base.clone());
        let body = self.apply(Operation::Power, vec![color, gamma.clone()]);
        let body = self.product(body, base);
        let body = if thin {
            body
        } else {
            // Light that is scattered below the surface leaves it where it came in.
            let below = self.apply(Operation::Power, vec![subsurface, gamma]);
            let weight = self.or("subsurface", 0.0);
            self.mixed(body, below, weight)
        };
        let glass = if depth > 0.0 && !thin { Wire::number(1.0) } else { self.or("transmission_color", 1.0) };
        self.shared_color(body, (glass, transmission.clone()), (metal, metalness.clone()))
    }

    fn standard_roughness(&mut self, coat: &Wire) -> (Wire, f32) {
        let roughness = self.or("specular_roughness", 0.2);
        let affect = self.or("coat_affect_roughness", 0.0);
        let affect = self.product(affect, coat.clone());
        let coat_roughness = self.or("coat_roughness", 0.1);
        let share = self.product(affect, coat_roughness);
        let roughness = self.mixed(roughness, Wire::number(1.0), share);
        let aspect = (1.0 - self.number("specular_anisotropy", 0.0).clamp(0.0, 0.98)).sqrt();
        if aspect < 1.0 { brushed(roughness, 1.0 / aspect, aspect) } else { (roughness, 0.0) }
    }

    /// Emission below the coat.
    fn standard_emission(&mut self, coat: &Wire, coat_ior: f32) -> Wire {
        let emission = self.weighted("emission", 0.0, "emission_color", 1.0);
        let passed = 1.0 - normal_reflectance(coat_ior);
        let tint = self.or("coat_color", 1.0).times([passed, passed, passed, 1.0]);
        let below = self.mixed(Wire::number(1.0), tint, coat.clone());
        self.product(emission, below)
    }

    /// The colour of fibres, which only the opaque body has.
    fn standard_sheen(&mut self, metalness: &Wire, transmission: &Wire) -> Wire {
        let mut color = self.weighted("sheen", 0.0, "sheen_color", 1.0);
        for hidden in [metalness, transmission] {
            let rest = self.apply(Operation::Subtract, vec![Wire::number(1.0), hidden.clone()]);
            color = self.product(color, rest);
        }
        color
    }
}
