//! Places and directions of cameras.

use glam::{DMat3, DVec3};
use throng_base::math::LARGEST_COORDINATE;

/// Largest deviation from a rotation that counts as rounding.
const TOLERANCE: f64 = 1e-3;

/// Axes of a camera in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Convention {
    /// x to the right, y up, z back; also Blender's and glTF's.
    OpenGl,
    /// x to the right, y down, z ahead; also COLMAP's.
    OpenCv,
}

/// Position of a camera, and its axes: unit vectors to the right, up and back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    pub eye: DVec3,
    pub axes: DMat3,
}

impl Pose {
    /// The pose of a camera at `eye`. `axes` are its axes in the world, perhaps with one scale for all.
    ///
    /// # Errors
    /// If the axes are no rotation, or if numbers are not finite or out of range. The text is the end of a sentence about the matrix.
    pub fn new(eye: DVec3, axes: DMat3, convention: Convention) -> Result<Self, String> {
        if !eye.is_finite() || eye.abs().max_element() > f64::from(LARGEST_COORDINATE) {
            return Err(format!("has a position out of range: coordinates must stay within {LARGEST_COORDINATE:e}"));
        }
        let axes = rotation(axes)?;
        let axes = match convention {
            Convention::OpenGl => axes,
            Convention::OpenCv => DMat3::from_cols(axes.x_axis, -axes.y_axis, -axes.z_axis),
        };
        Ok(Self { eye, axes })
    }

    /// The pose of a matrix `world_from_camera`, of 3 or 4 rows.
    ///
    /// # Errors
    /// As [`Self::new`]. Also if the matrix has another shape.
    pub fn of_matrix(rows: &[Vec<f64>], convention: Convention) -> Result<Self, String> {
        if !matches!(rows.len(), 3 | 4) || rows.iter().any(|row| row.len() != 4) {
            let columns = rows.iter().map(Vec::len).find(|&columns| columns != 4).unwrap_or(4);
            return Err(format!("has {} rows of {columns} numbers: write 4 rows of 4 numbers, or 3 of 4", rows.len()));
        }
        let is_last =
            |row: &Vec<f64>| row.iter().zip([0.0, 0.0, 0.0, 1.0]).all(|(x, wanted)| (x - wanted).abs() < 1e-6);
        if !rows.get(3).is_none_or(is_last) {
            return Err(
                "has another last row than 0 0 0 1: write rows, not columns, and divide by the last number".to_owned()
            );
        }
        let column = |at: usize| DVec3::from_array(std::array::from_fn(|row| rows[row][at]));
        Self::new(column(3), DMat3::from_cols(column(0), column(1), column(2)), convention)
    }

    /// A camera with +Y up that looks at `target` from a distance. At a yaw of 0 it is at +X of the target, at 90 degrees at -Z. The yaw also says
    /// what is up in the picture straight above and below the target.
    pub fn around(target: DVec3, (yaw, pitch): (f64, f64), distance: f64) -> Self {
        let (sin, cos) = yaw.sin_cos();
        let (rise, level) = pitch.sin_cos();
        let back = DVec3::new(cos * level, rise, -sin * level);
        let right = DVec3::new(-sin, 0.0, -cos);
        Self { eye: target + distance * back, axes: DMat3::from_cols(right, back.cross(right), back) }
    }

    /// The pose in a world with +Y up, of one in a world with +Z up.
    pub fn upright(self) -> Self {
        let turned = |v: DVec3| DVec3::new(v.x, v.z, -v.y);
        let DMat3 { x_axis, y_axis, z_axis } = self.axes;
        Self { eye: turned(self.eye), axes: DMat3::from_cols(turned(x_axis), turned(y_axis), turned(z_axis)) }
    }
}

/// The rotation in `axes`, without their scale. The last axis keeps its direction.
fn rotation(axes: DMat3) -> Result<DMat3, String> {
    let largest = axes.to_cols_array().iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
    if !axes.is_finite() || largest == 0.0 {
        return Err("has no rotation: write finite numbers with axes of length 1".to_owned());
    }
    let axes = axes * (1.0 / largest);
    let volume = axes.determinant();
    if volume < -1e-9 {
        return Err("mirrors the picture, as its determinant is negative: negate one of its axes".to_owned());
    }
    let axes = axes * (1.0 / volume.max(1e-9).cbrt());
    let off = (axes.transpose() * axes - DMat3::IDENTITY).to_cols_array();
    let off = off.iter().fold(0.0, |off: f64, x| off.max(x.abs()));
    if off > TOLERANCE {
        return Err(format!(
            "is no rotation (off by {off:.2e}): make its axes orthogonal and of one length; shear and scales by axis do not fit a camera"
        ));
    }
    let back = axes.z_axis.normalize();
    let right = (axes.x_axis - back * back.dot(axes.x_axis)).normalize();
    Ok(DMat3::from_cols(right, back.cross(right), back))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::FRAC_PI_2;

    fn rows(text: &str) -> Vec<Vec<f64>> {
        text.split(';').map(|row| row.split_whitespace().map(|x| x.parse().unwrap()).collect()).collect()
    }

    #[test]
    fn a_matrix_may_have_three_rows_or_four_and_one_scale() {
        let plain = Pose::of_matrix(&rows("1 0 0 5; 0 0 -1 6; 0 1 0 7"), Convention::OpenGl).unwrap();
        assert_eq!(plain.eye, DVec3::new(5.0, 6.0, 7.0));
        assert_eq!(plain.axes.z_axis, DVec3::NEG_Y);
        let scaled = Pose::of_matrix(&rows("2 0 0 5; 0 0 -2 6; 0 2 0 7; 0 0 0 1"), Convention::OpenGl).unwrap();
        assert!(scaled.axes.abs_diff_eq(plain.axes, 1e-12), "{scaled:?}");
        let seen = Pose::of_matrix(&rows("1 0 0 0; 0 1 0 0; 0 0 1 0"), Convention::OpenCv).unwrap();
        assert_eq!(seen.axes, DMat3::from_diagonal(DVec3::new(1.0, -1.0, -1.0)));
    }

    #[test]
    fn what_is_no_rotation_is_refused() {
        for (wrong, told) in [
            ("1 0 0 0; 0 1 0 0", "has 2 rows of 4"),
            ("1 0 0; 0 1 0; 0 0 1", "has 3 rows of 3"),
            ("1 0 0 0; 0 1 0 0; 0 0 1 0; 0 0 0 2", "last row"),
            ("1 0 0 0; 0 1 0 0; 0 0 1 NaN", "position"),
            ("1 0 0 0; 0 1 0 0; 0 0 NaN 0", "no rotation"),
            ("0 0 0 0; 0 0 0 0; 0 0 0 0", "no rotation"),
            ("1 0 0 0; 0 1 0 0; 0 0 0 0", "no rotation"),
            ("1 0.01 0 0; 0 1 0 0; 0 0 1 0", "no rotation"),
            ("1 0 0 0; 0 1.01 0 0; 0 0 1 0", "no rotation"),
            ("1 0 0 0; 0 1 0 0; 0 0 -1 0", "mirrors"),
            ("1 0 0 1e30; 0 1 0 0; 0 0 1 0", "1e18"),
        ] {
            let error = Pose::of_matrix(&rows(wrong), Convention::OpenGl).unwrap_err();
            assert!(error.contains(told), "{wrong}: {error}");
        }
        assert!(Pose::of_matrix(&rows("1 0.0004 0 0; 0 1 0 0; 0 0 1 0"), Convention::OpenGl).is_ok());
    }

    #[test]
    fn a_camera_around_a_target_looks_at_it_from_everywhere() {
        for (yaw, pitch) in [(0.0, 0.0), (1.0, 0.5), (-2.0, FRAC_PI_2), (0.3, -FRAC_PI_2)] {
            let target = DVec3::new(1.0, 2.0, 3.0);
            let Pose { eye, axes } = Pose::around(target, (yaw, pitch), 4.0);
            assert!((eye - axes.z_axis * 4.0).abs_diff_eq(target, 1e-12));
            assert!((axes.transpose() * axes).abs_diff_eq(DMat3::IDENTITY, 1e-12) && axes.determinant() > 0.0);
            assert!(axes.y_axis.y > -1e-12 && axes.x_axis.y == 0.0, "{axes}");
        }
    }

    #[test]
    fn trellis_views_are_turned_from_blenders_world() {
        let (yaw, pitch, radius) = (0.7f64, 0.3f64, 2.0);
        let location = radius * DVec3::new(yaw.cos() * pitch.cos(), yaw.sin() * pitch.cos(), pitch.sin());
        let turned = Pose { eye: location, axes: DMat3::IDENTITY }.upright().eye;
        assert!(Pose::around(DVec3::ZERO, (yaw, pitch), radius).eye.abs_diff_eq(turned, 1e-12));
    }
}
