//! Transforms as the parts that point instancers have.

use glam::{Affine3, Quat, Vec3};

/// Greatest difference between a matrix and the product of its parts, in multiples of its largest number. Single precision has 6e-8.
const TOLERANCE: f32 = 2e-6;

/// Translation, rotation and scale of a copy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parts {
    pub translation: Vec3,
    pub rotation: Quat,
    pub scale: Vec3,
}

impl Parts {
    /// The parts of a transform. None if it shears, or if it has no volume.
    pub fn of(place: &Affine3) -> Option<Self> {
        // Quaternions of nearly orthogonal axes are rounded less in double precision.
        let place64 = glam::DAffine3 { matrix3: place.matrix3.as_dmat3(), translation: place.translation.as_dvec3() };
        if place64.matrix3.determinant() == 0.0 {
            return None;
        }
        let (scale, rotation, _) = place64.to_scale_rotation_translation();
        let parts = Self { translation: place.translation, rotation: rotation.as_quat(), scale: scale.as_vec3() };
        let parts = if place.matrix3 == glam::Mat3::from_diagonal(parts.diagonal(place)) {
            Self { rotation: Quat::IDENTITY, scale: parts.diagonal(place), ..parts }
        } else {
            parts
        };
        let again = Affine3::from_scale_rotation_translation(parts.scale, parts.rotation, parts.translation);
        let largest = place.matrix3.to_cols_array().iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
        again.matrix3.abs_diff_eq(place.matrix3, TOLERANCE * largest).then_some(parts)
    }

    fn diagonal(&self, place: &Affine3) -> Vec3 {
        let m = place.matrix3;
        Vec3::new(m.x_axis.x, m.y_axis.y, m.z_axis.z)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_make_the_transform_again_unless_it_shears() {
        let turned = Quat::from_euler(glam::EulerRot::XYZ, 0.3, 1.2, -2.0);
        for scale in [Vec3::ONE, Vec3::new(2.0, 0.1, 30.0), Vec3::new(-1.0, 1.0, 1.0), Vec3::new(1.0, -2.0, 3.0)] {
            let place = Affine3::from_scale_rotation_translation(scale, turned, Vec3::new(5.0, -1e4, 0.1));
            let parts = Parts::of(&place).unwrap_or_else(|| panic!("{scale}"));
            let again = Affine3::from_scale_rotation_translation(parts.scale, parts.rotation, parts.translation);
            assert!(again.abs_diff_eq(place, 1e-4), "{scale}");
            assert_eq!(parts.translation, place.translation);
        }
        let sheared = Affine3::from_scale(Vec3::new(1.0, 2.0, 1.0)) * Affine3::from_quat(turned);
        assert_eq!(Parts::of(&sheared), None);
        assert_eq!(Parts::of(&Affine3::from_scale(Vec3::new(1.0, 0.0, 1.0))), None);
        let plain = Parts::of(&Affine3::from_scale(Vec3::new(-3.0, 2.0, 1.0))).unwrap_or_else(|| panic!("none"));
        assert_eq!((plain.rotation, plain.scale), (Quat::IDENTITY, Vec3::new(-3.0, 2.0, 1.0)));
    }
}
