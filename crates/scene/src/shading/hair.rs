//! Colours of hair. A material of hair stores the colour of dense hair, from which kernels compute the absorption of its fibres.

use glam::Vec3;

/// Absorption coefficients per unit of concentration of the two kinds of melanin (as in Cycles).
const EUMELANIN: Vec3 = Vec3::new(0.506, 0.841, 1.653);
const PHEOMELANIN: Vec3 = Vec3::new(0.343, 0.733, 1.924);

/// Lower bound of one minus the amount of melanin, which keeps the concentration of black hair finite (as in Cycles).
const LEAST: f32 = 1e-4;

/// Absorption coefficients of hair, per radius of a fibre.
///
/// `melanin` is the amount of pigment from 0 (white) to 1 (black), spaced evenly for the eye, and `redness` the share of red pigment
/// (pheomelanin) in it. Both are in [0, 1], and mean the same as in Blender's principled hair.
pub fn melanin_absorption(melanin: f32, redness: f32) -> Vec3 {
    let concentration = -(1.0 - melanin).max(LEAST).ln();
    EUMELANIN.lerp(PHEOMELANIN, redness) * concentration
}

/// Colour of dense hair whose fibres absorb `absorption` per radius, for the azimuthal roughness of its [`crate::Lobes`].
///
/// The inverse of equation 9 of Chiang et al. 2016, "A Practical and Controllable Hair and Fur Model for Production Path Tracing".
pub fn hair_color(absorption: Vec3, azimuthal_roughness: f32) -> Vec3 {
    let r = azimuthal_roughness;
    let steepness = 5.969 + r * (-0.215 + r * (2.532 + r * (-10.73 + r * (5.574 + r * 0.245))));
    (-steepness * absorption.max(Vec3::ZERO).map(f32::sqrt)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn melanin_makes_hair_darker_and_red_melanin_redder() {
        assert_eq!(hair_color(melanin_absorption(0.0, 0.5), 0.3), Vec3::ONE);
        let color = |melanin, redness| hair_color(melanin_absorption(melanin, redness), 0.3);
        let [blond, brown, black] = [0.2, 0.6, 1.0].map(|melanin| color(melanin, 0.0));
        assert!(blond.cmpgt(brown).all() && brown.cmpgt(black).all() && black.max_element() < 1e-4);
        assert!(blond.x > blond.y && blond.y > blond.z);
        let (plain, red) = (color(0.4, 0.0), color(0.4, 1.0));
        assert!(red.x / red.z > 1.5 * plain.x / plain.z);
    }

    /// The values are those of Blender's nodes.
    #[test]
    fn the_usual_amount_of_melanin_has_cycles_absorption() {
        let found = melanin_absorption(0.8, 1.0);
        assert!(found.abs_diff_eq(Vec3::new(0.552, 1.1797, 3.0966), 1e-3), "{found}");
    }
}
