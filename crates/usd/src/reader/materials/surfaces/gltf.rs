//! The material of glTF, whose layers are those of throng's own model.

use super::{Shader, layers::volume};
use crate::{Surface, reader::materials::wire::Wire};

impl Shader<'_, '_> {
    pub fn gltf(&mut self) -> Surface {
        let alpha_mode = self.number("alpha_mode", 0.0) as i32;
        let opacity = if alpha_mode == 0 { Wire::number(1.0) } else { self.or("alpha", 1.0) };
        let is_thick = self.or("thickness", 0.0) != Wire::number(0.0);
        let distance = self.number("attenuation_distance", 0.0);
        let color = if is_thick { self.constant_color("attenuation_color", 1.0) } else { [1.0; 3] };
        let film = (self.number("iridescence_thickness", 100.0), self.number("iridescence_ior", 1.3));
        let film_weight = self.or("iridescence", 0.0).single();
        Surface {
            diffuse_color: self.or("base_color", 1.0).color(),
            emissive_color: self.weighted("emissive_strength", 1.0, "emissive", 0.0).color(),
            metallic: self.or("metallic", 1.0).single(),
            roughness: self.or("roughness", 1.0).single(),
            clearcoat: self.or("clearcoat", 0.0).single(),
            clearcoat_roughness: self.or("clearcoat_roughness", 0.0).single(),
            clearcoat_normal: self.normal("clearcoat_normal"),
            opacity: opacity.single(),
            opacity_threshold: if alpha_mode == 1 { self.number("alpha_cutoff", 0.5) } else { 0.0 },
            keeps_reflections: false,
            ior: self.number("ior", 1.5),
            specular: self.or("specular", 1.0).single(),
            specular_tint: self.or("specular_color", 1.0).color(),
            anisotropy: (self.number("anisotropy_strength", 0.0), self.number("anisotropy_rotation", 0.0)),
            normal: self.normal("normal"),
            transmission: self.or("transmission", 0.0).single(),
            volume: is_thick.then(|| volume(color, distance, [0.0; 3], 0.0)),
            dispersion: self.number("dispersion", 0.0),
            sheen_color: self.or("sheen_color", 0.0).color(),
            sheen_roughness: self.or("sheen_roughness", 0.0).single(),
            film: Self::film(film_weight, film.0, film.1),
            ..Surface::default()
        }
    }
}
