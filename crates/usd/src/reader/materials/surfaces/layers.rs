//! Formulas of layers that several shaders share.

use super::Shader;
use crate::{
    Film, Input, Operation, Volume,
    reader::materials::{nodes::LUMINANCE, wire::Wire},
};

/// Index of refraction of throng's clear coat.
const COAT_IOR: f32 = 1.5;

/// Reflectance of a dielectric at normal incidence.
pub fn normal_reflectance(ior: f32) -> f32 {
    let ratio = (ior - 1.0) / (ior + 1.0);
    if ratio.is_finite() { ratio * ratio } else { 0.0 }
}

/// The index of refraction whose reflectance is that of `ior` times a weight.
pub fn weakened(ior: f32, weight: f32) -> f32 {
    if weight == 1.0 || ior <= 0.0 {
        return ior;
    }
    let root = (weight.max(0.0) * normal_reflectance(ior)).sqrt().min(0.99);
    let root = if ior < 1.0 { -root } else { root };
    (1.0 + root) / (1.0 - root)
}

/// The roughness as throng has it, and the anisotropy, of a surface whose GGX widths along and across its highlights are
/// `roughness² · along` and `roughness² · across`. The model of glTF gives an anisotropy the widths `α + (1 - α) · anisotropy²` and `α`.
pub fn brushed(roughness: Wire, along: f32, across: f32) -> (Wire, f32) {
    let factor = across.max(0.0).sqrt();
    let square = roughness.typical()[0].powi(2);
    let (wide, narrow) = ((square * along).min(1.0), (square * across).min(1.0));
    let anisotropy = if narrow < 1.0 { ((wide - narrow) / (1.0 - narrow)).max(0.0).sqrt() } else { 0.0 };
    (roughness.times([factor; 4]), anisotropy)
}

/// A volume in which white light has this colour after a distance, which scatters `scatter` of the light on this distance.
/// `None` without a distance: light only has the colour of its surface then.
pub fn volume(color: [f32; 3], depth: f32, scatter: [f32; 3], anisotropy: f32) -> Volume {
    if depth <= 0.0 || !depth.is_finite() {
        return Volume::default();
    }
    let extinction = color.map(|color| -color.clamp(1e-6, 1.0).ln() / depth);
    let scattering = scatter.map(|scatter| scatter.max(0.0) / depth);
    // Where more is scattered than lost, all colours are absorbed a little more, as OpenPBR says.
    let absorption: [f32; 3] = std::array::from_fn(|i| extinction[i] - scattering[i]);
    let least = absorption.iter().fold(0.0_f32, |least, value| least.min(*value));
    let extinction: [f32; 3] = std::array::from_fn(|i| absorption[i] - least + scattering[i]);
    let albedo = std::array::from_fn(|i| if extinction[i] > 0.0 { scattering[i] / extinction[i] } else { 0.0 });
    Volume { extinction, albedo, anisotropy: anisotropy.clamp(-0.99, 0.99) }
}

/// Names of a shader's inputs for its clear coat.
pub struct CoatNames {
    pub weight: &'static str,
    pub color: &'static str,
    pub ior: (&'static str, f32),
}

/// A clear coat.
pub struct Coat {
    /// Its weight.
    pub weight: Wire,
    /// The weight in throng's model, whose coat has an index of refraction of 1.5.
    pub shown: Input<f32>,
    /// The colour of what is below it.
    pub attenuation: Wire,
    /// Its index of refraction.
    pub ior: f32,
}

impl Shader<'_, '_> {
    /// The clear coat.
    pub fn coat(&mut self, names: &CoatNames) -> Coat {
        let weight = self.or(names.weight, 0.0);
        let color = self.or(names.color, 1.0);
        let ior = self.number(names.ior.0, names.ior.1);
        let shown = weight.clone().times([normal_reflectance(ior) / normal_reflectance(COAT_IOR); 4]).single();
        Coat { attenuation: self.mixed(Wire::number(1.0), color, weight.clone()), shown, weight, ior }
    }

    /// A film of this thickness in nanometres; 0 for none.
    pub fn film(weight: Input<f32>, thickness: f32, ior: f32) -> Film {
        let none = Film { weight: Input::of(0.0), thickness: 0.0, ior: ior.max(1.0) };
        if thickness > 0.0 { Film { weight, thickness: thickness.min(1e5), ..none } } else { none }
    }

    /// The brightness of an opacity in colours.
    pub fn opacity(&mut self, name: &str) -> Input<f32> {
        match self.or(name, 1.0) {
            wire @ (Wire::Picture(_) | Wire::Computed(_)) => {
                self.apply(Operation::Dot, vec![wire, Wire::Constant(LUMINANCE)]).single()
            }
            Wire::Constant([r, g, b, _]) if r != g || g != b => {
                Input::of(r * LUMINANCE[0] + g * LUMINANCE[1] + b * LUMINANCE[2])
            }
            single => single.single(),
        }
    }

    /// A colour that layers of metal and of glass share with the body: each where it has the weight.
    pub fn shared_color(&mut self, body: Wire, glass: (Wire, Wire), metal: (Wire, Wire)) -> Wire {
        let dielectric = self.mixed(body, glass.0, glass.1);
        self.mixed(dielectric, metal.0, metal.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anisotropy_keeps_the_widths_of_highlights() {
        let (roughness, anisotropy) = brushed(Wire::number(0.5), 1.2, 0.6);
        let alpha = roughness.typical()[0].powi(2);
        assert!((alpha - 0.15).abs() < 1e-6 && (alpha + (1.0 - alpha) * anisotropy.powi(2) - 0.3).abs() < 1e-6);
    }

    #[test]
    fn weaker_reflections_have_a_smaller_index_of_refraction() {
        assert!((weakened(1.5, 0.25) - 1.1 / 0.9).abs() < 1e-5);
        assert_eq!((weakened(1.5, 1.0), weakened(1.5, 0.0)), (1.5, 1.0));
    }

    #[test]
    fn volumes_absorb_at_least_nothing() {
        let clear = volume([0.5, 0.5, 1.0], 2.0, [0.0; 3], 0.0);
        assert!((clear.extinction[0] - 0.346_573_6).abs() < 1e-6 && clear.extinction[2] == 0.0);
        let milky = volume([1.0; 3], 2.0, [0.5, 0.25, 0.0], 0.0);
        assert_eq!(milky.extinction, [0.25; 3]);
        assert_eq!(milky.albedo, [1.0, 0.5, 0.0]);
        assert_eq!(volume([0.5; 3], 0.0, [0.0; 3], 0.0), Volume::default());
    }
}
