//! The test for transforms that a renderer can use.

use glam::{Affine3, DVec3};

/// Volume spanned by the columns, relative to the product of their lengths, below which a matrix is practically singular in `f32`.
const FLAT: f64 = 1e-7;

/// Whether the transform is finite and its inverse can be computed in `f32`.
pub fn is_invertible(a: &Affine3) -> bool {
    let m = a.matrix3;
    let [x, y, z] = [m.x_axis, m.y_axis, m.z_axis].map(|c| DVec3::from(c.to_array().map(f64::from)));
    let volume = x.dot(y.cross(z)).abs();
    let product = x.length() * y.length() * z.length();
    a.is_finite() && volume > FLAT * product && m.determinant().is_normal() && a.inverse().is_finite()
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{Mat3, Vec3};

    #[test]
    fn flat_thin_huge_and_broken_transforms_are_told_apart() {
        let scale = |x, y, z| is_invertible(&Affine3::from_scale(Vec3::new(x, y, z)));
        assert!(scale(1.0, 1e-6, 1.0) && scale(-1e6, 1e6, 1e6) && scale(1e-5, 1e-5, 1e-5));
        assert!(!scale(0.0, 1.0, 1.0) && !scale(1e30, 1e30, 1e30) && !scale(f32::NAN, 1.0, 1.0));
        let flat = Mat3::from_cols(Vec3::X, Vec3::Y, Vec3::X + Vec3::Y);
        assert!(!is_invertible(&Affine3::from_mat3(flat)));
    }
}
