//! White balance: adapts colours so that light of a given colour temperature becomes white.

use glam::{Mat3, Vec2, Vec3};
use throng_scene::ranges::KELVIN;

/// Matrix from linear Rec.709 to XYZ, column-major.
const XYZ_FROM_RGB: Mat3 = Mat3::from_cols_array(&[
    0.412_390_8,
    0.212_639,
    0.019_330_82,
    0.357_584_33,
    0.715_168_7,
    0.119_194_78,
    0.180_480_8,
    0.072_192_32,
    0.950_532_15,
]);
/// Matrix from XYZ to Bradford's cone responses, column-major.
const CONES_FROM_XYZ: Mat3 =
    Mat3::from_cols_array(&[0.8951, -0.7502, 0.0389, 0.2664, 1.7135, -0.0685, -0.1614, 0.0367, 1.0296]);
/// Chromaticity of the display's white point, D65, and its correlated colour temperature.
const WHITE: Vec2 = Vec2::new(0.312_727, 0.329_023);
const WHITE_KELVIN: f32 = 6504.0;

/// Row-major matrix for linear Rec.709 that makes light of `kelvin` white: von Kries adaptation in Bradford's cone space. `kelvin` is
/// clamped to the supported range.
///
/// The light has the distance of D65 from the Planckian locus, so about 6500 K has no effect. This matches Blender's white balance with its
/// default tint.
pub fn white_balance(kelvin: f32) -> [f32; 9] {
    let cones = |xy: Vec2| CONES_FROM_XYZ * Vec3::new(xy.x / xy.y, 1.0, (1.0 - xy.x - xy.y) / xy.y);
    let scale = cones(WHITE) / cones(daylike(kelvin.clamp(*KELVIN.start(), *KELVIN.end())));
    let adapted = CONES_FROM_XYZ.inverse() * Mat3::from_diagonal(scale) * CONES_FROM_XYZ;
    let matrix = XYZ_FROM_RGB.inverse() * adapted * XYZ_FROM_RGB;
    matrix.transpose().to_cols_array()
}

/// Chromaticity of light of `kelvin` at the distance of D65 from the Planckian locus.
fn daylike(kelvin: f32) -> Vec2 {
    let white = uv_of(WHITE);
    let (along, across) = frame(WHITE_KELVIN);
    let offset = white - uv_of(planck(WHITE_KELVIN));
    let (here_along, here_across) = frame(kelvin);
    let moved = here_along * offset.dot(along) + here_across * offset.dot(across);
    xy_of(uv_of(planck(kelvin)) + moved)
}

/// Unit vectors along and across the Planckian locus in the CIE 1960 diagram.
fn frame(kelvin: f32) -> (Vec2, Vec2) {
    let step = 0.01 * kelvin;
    let along = uv_of(planck(kelvin + step)) - uv_of(planck(kelvin - step));
    let along = along.normalize_or(Vec2::X);
    (along, along.perp())
}

/// Chromaticity of a black body (Kim et al. 2002).
fn planck(kelvin: f32) -> Vec2 {
    let t = 1e3 / kelvin;
    let cubic = |a: f32, b: f32, c: f32, d: f32, x: f32| ((a * x + b) * x + c) * x + d;
    let x = if kelvin < 4000.0 {
        cubic(-0.266_123_9, -0.234_358_9, 0.877_695_6, 0.179_91, t)
    } else {
        cubic(-3.025_847, 2.107_037_9, 0.222_634_7, 0.240_39, t)
    };
    let y = match kelvin {
        k if k < 2222.0 => cubic(-1.106_381_4, -1.348_110_2, 2.185_558_3, -0.202_196_83, x),
        k if k < 4000.0 => cubic(-0.954_947_6, -1.374_185_9, 2.091_37, -0.167_488_67, x),
        _ => cubic(3.081_758, -5.873_387, 3.751_129_9, -0.370_014_83, x),
    };
    Vec2::new(x, y)
}

fn uv_of(xy: Vec2) -> Vec2 {
    Vec2::new(4.0 * xy.x, 6.0 * xy.y) / (12.0 * xy.y - 2.0 * xy.x + 3.0)
}

fn xy_of(uv: Vec2) -> Vec2 {
    Vec2::new(3.0 * uv.x, 2.0 * uv.y) / (2.0 * uv.x - 8.0 * uv.y + 4.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn balanced(kelvin: f32, color: Vec3) -> Vec3 {
        Mat3::from_cols_array(&white_balance(kelvin)).transpose() * color
    }

    #[test]
    fn daylight_is_white_already() {
        let color = Vec3::new(0.2, 0.5, 0.9);
        assert!((balanced(6504.0, color) - color).abs().max_element() < 2e-3);
    }

    #[test]
    fn light_of_lamps_becomes_white() {
        // CIE illuminant A, 2856 K, in linear Rec.709. It lies on the Planckian locus, so it has less green than the light that becomes
        // white.
        let lamp = XYZ_FROM_RGB.inverse() * Vec3::new(1.098_5, 1.0, 0.355_85);
        let white = balanced(2856.0, lamp);
        assert!(white.max_element() / white.min_element() < 1.25, "{white}");
        assert!(lamp.max_element() / lamp.min_element() > 4.0);
    }

    #[test]
    fn low_temperatures_cool_and_high_ones_warm() {
        let (cold, warm) = (balanced(3000.0, Vec3::ONE), balanced(12_000.0, Vec3::ONE));
        assert!(cold.z > 1.5 * cold.x && warm.x > 1.2 * warm.z, "{cold} {warm}");
    }
}
