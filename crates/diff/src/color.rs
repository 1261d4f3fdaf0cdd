//! Colour spaces of ꟻLIP: linear Rec.709, the opponent colour space that is filtered, and L*a*b*, in which distances are measured.

use glam::{Mat3, Vec3};

/// Matrix from linear Rec.709 to CIE XYZ, stored by columns.
const XYZ_FROM_RGB: Mat3 = Mat3::from_cols(
    Vec3::new(10_135_552.0 / 24_577_794.0, 2_613_072.0 / 12_288_897.0, 1_425_312.0 / 73_733_382.0),
    Vec3::new(8_788_810.0 / 24_577_794.0, 8_788_810.0 / 12_288_897.0, 8_788_810.0 / 73_733_382.0),
    Vec3::new(4_435_075.0 / 24_577_794.0, 887_015.0 / 12_288_897.0, 70_074_185.0 / 73_733_382.0),
);

/// CIE XYZ of a linear Rec.709 colour, relative to the XYZ of white.
fn relative_xyz(rgb: Vec3) -> Vec3 {
    XYZ_FROM_RGB * rgb / (XYZ_FROM_RGB * Vec3::ONE)
}

/// Converts linear Rec.709 to lightness, red - green and blue - yellow. All three are linear; contrast sensitivities are measured in this
/// space.
pub fn opponent(rgb: Vec3) -> Vec3 {
    let p = relative_xyz(rgb);
    Vec3::new(116.0 * p.y - 16.0, 500.0 * (p.x - p.y), 200.0 * (p.y - p.z))
}

/// Inverse of [`opponent`].
pub fn rgb_of_opponent(color: Vec3) -> Vec3 {
    let y = (color.x + 16.0) / 116.0;
    let p = Vec3::new(y + color.y / 500.0, y, y - color.z / 200.0);
    XYZ_FROM_RGB.inverse() * (p * (XYZ_FROM_RGB * Vec3::ONE))
}

/// L*a*b* of a linear Rec.709 colour. Dark colours have a* and b* scaled down (Hunt effect).
pub fn hunt_lab(rgb: Vec3) -> Vec3 {
    const DELTA: f32 = 6.0 / 29.0;
    let curve = |v: f32| match v {
        v if v > DELTA * DELTA * DELTA => v.cbrt(),
        v => v / (3.0 * DELTA * DELTA) + 4.0 / 29.0,
    };
    let p = relative_xyz(rgb);
    let f = Vec3::new(curve(p.x), curve(p.y), curve(p.z));
    let lightness = 116.0 * f.y - 16.0;
    let hunt = 0.01 * lightness;
    Vec3::new(lightness, hunt * 500.0 * (f.x - f.y), hunt * 200.0 * (f.y - f.z))
}

/// HyAB distance of two L*a*b* colours: the difference in lightness plus the Euclidean distance in a* and b* (Abasi, Tehran and Fairchild
/// 2020).
pub fn distance(a: Vec3, b: Vec3) -> f32 {
    let d = a - b;
    d.x.abs() + d.y.hypot(d.z)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_is_neutral_and_opponent_colours_lead_back() {
        assert!(hunt_lab(Vec3::ONE).abs_diff_eq(Vec3::new(100.0, 0.0, 0.0), 1e-3));
        assert!(opponent(Vec3::ONE).abs_diff_eq(Vec3::new(100.0, 0.0, 0.0), 1e-3));
        let color = Vec3::new(0.2, 0.7, 0.1);
        assert!(rgb_of_opponent(opponent(color)).abs_diff_eq(color, 1e-5));
    }
}
