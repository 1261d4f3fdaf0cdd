//! Rows of placement tables: their layout in bytes, the transforms that they contain, and the interpolation between two of them.

use crate::desc::QuaternionOrder;
use glam::{Affine3, DQuat, DVec3, Mat3, Quat, Vec3};
use throng_base::math::{LARGEST_COORDINATE, thicken};

/// Maximum number of values in a row.
pub const MOST_VALUES: usize = 16;
/// Length of a quaternion below which its direction is undefined.
const SHORTEST: f64 = 1e-6;
/// Cosine between two columns of a matrix above which the matrix shears.
const SHEARED: f32 = 1e-4;

/// The values of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowLayout {
    /// A matrix of 4 columns, row after row.
    Matrix {
        /// 3, or 4 with the row (0, 0, 0, 1) at the end.
        rows: u32,
    },
    /// A position x y z, a quaternion and a scale.
    Parts {
        /// Order of the quaternion's values.
        order: QuaternionOrder,
        /// Number of values of the scale: 0, 1 for all axes, or 3.
        scales: u32,
    },
}

/// A row as bytes: its layout, and the type of its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowFormat {
    /// The values of a row.
    pub layout: RowLayout,
    /// Whether numbers have 8 bytes instead of 4.
    pub is_double: bool,
    /// Whether the most significant byte of a number comes first.
    pub is_big_endian: bool,
}

impl RowFormat {
    /// Number of values in a row.
    pub fn values(&self) -> usize {
        match self.layout {
            RowLayout::Matrix { rows } => 4 * rows as usize,
            RowLayout::Parts { scales, .. } => 7 + scales as usize,
        }
    }

    /// Bytes of a number.
    pub fn number(&self) -> usize {
        if self.is_double { 8 } else { 4 }
    }

    /// Bytes of a row.
    pub fn bytes(&self) -> usize {
        self.values() * self.number()
    }

    /// The transform in a row. None if the object is not there: a number is not finite or too large, the quaternion is zero, or the matrix
    /// has no inverse.
    pub fn pose(&self, row: &[u8]) -> Option<RowPose> {
        let values = self.read(row)?;
        let pose = match self.layout {
            RowLayout::Matrix { .. } => RowPose::of_matrix(&values),
            RowLayout::Parts { order, scales } => RowPose::of_parts(&values, order, scales)?,
        };
        pose.is_usable().then_some(pose)
    }

    /// The numbers of a row, followed by zeros. None if one is not finite.
    pub fn read(&self, row: &[u8]) -> Option<[f64; MOST_VALUES]> {
        let mut values = [0.0; MOST_VALUES];
        for (value, bytes) in values.iter_mut().zip(row.chunks_exact(self.number())) {
            *value = self.decode(bytes);
        }
        values.iter().all(|value| value.is_finite()).then_some(values)
    }

    fn decode(&self, bytes: &[u8]) -> f64 {
        let mut own = [0; 8];
        let own = &mut own[..bytes.len()];
        own.copy_from_slice(bytes);
        if self.is_big_endian {
            own.reverse();
        }
        match *own {
            [a, b, c, d] => f32::from_le_bytes([a, b, c, d]).into(),
            [a, b, c, d, e, f, g, h] => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
            _ => f64::NAN,
        }
    }
}

/// The transform of a row. Positions have double precision, so that a placement can move distant coordinates close to the origin without loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowPose {
    linear: Linear,
    translation: DVec3,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Linear {
    Parts { rotation: Quat, scale: Vec3 },
    Matrix(Mat3),
}

impl RowPose {
    fn of_matrix(values: &[f64; MOST_VALUES]) -> Self {
        let column = |c: usize| DVec3::new(values[c], values[4 + c], values[8 + c]);
        let [x, y, z] = [0, 1, 2].map(|c| column(c).as_vec3());
        Self { linear: Linear::Matrix(Mat3::from_cols(x, y, z)), translation: column(3) }
    }

    fn of_parts(values: &[f64; MOST_VALUES], order: QuaternionOrder, scales: u32) -> Option<Self> {
        let [px, py, pz, a, b, c, d, sx, sy, sz, ..] = *values;
        let quaternion = match order {
            QuaternionOrder::Xyzw => DQuat::from_xyzw(a, b, c, d),
            QuaternionOrder::Wxyz => DQuat::from_xyzw(b, c, d, a),
        };
        let length = quaternion.length();
        let scale = match scales {
            0 => Vec3::ONE,
            1 => Vec3::splat(sx as f32),
            _ => DVec3::new(sx, sy, sz).as_vec3(),
        };
        let rotation = (length > SHORTEST && length.is_finite()).then(|| (quaternion / length).as_quat())?;
        Some(Self { linear: Linear::Parts { rotation, scale }, translation: DVec3::new(px, py, pz) })
    }

    fn is_usable(&self) -> bool {
        let is_regular = match self.linear {
            Linear::Parts { scale, .. } => scale.is_finite() && scale != Vec3::ZERO,
            Linear::Matrix(matrix) => matrix.determinant().is_normal(),
        };
        is_regular && self.translation.abs().max_element() <= f64::from(LARGEST_COORDINATE)
    }

    /// The pose at `share` of the time from `a` to `b`: positions and scales are interpolated linearly, rotations by the shortest path at
    /// constant speed. Matrices that shear are interpolated number by number.
    pub fn between(a: &Self, b: &Self, share: f64) -> Self {
        let t = share as f32;
        let linear = match (a.linear.parts(), b.linear.parts()) {
            _ if a.linear == b.linear => a.linear,
            (Some((from, thin)), Some((to, thick))) => {
                Linear::Parts { rotation: from.slerp(to, t), scale: thin.lerp(thick, t) }
            }
            _ => Linear::Matrix(a.linear.matrix() * (1.0 - t) + b.linear.matrix() * t),
        };
        Self { linear, translation: a.translation.lerp(b.translation, share) }
    }

    /// `around · pose · each`. None if the result is not finite.
    pub fn placed(&self, around: &Affine3, each: &Affine3) -> Option<Affine3> {
        let matrix = self.linear.matrix();
        let own = if *around == Affine3::IDENTITY {
            Affine3 { matrix3: matrix, translation: self.translation.as_vec3() }
        } else {
            let translation = around.matrix3.as_dmat3() * self.translation + around.translation.as_dvec3();
            Affine3 { matrix3: around.matrix3 * matrix, translation: translation.as_vec3() }
        };
        Some(own * *each).filter(Affine3::is_finite)
    }
}

impl Linear {
    fn matrix(&self) -> Mat3 {
        match *self {
            Self::Parts { rotation, scale } => {
                Affine3::from_scale_rotation_translation(thicken(scale), rotation, Vec3::ZERO).matrix3
            }
            Self::Matrix(matrix) => matrix,
        }
    }

    /// Rotation and scale. None for a matrix that shears.
    fn parts(&self) -> Option<(Quat, Vec3)> {
        let matrix = match *self {
            Self::Parts { rotation, scale } => return Some((rotation, scale)),
            Self::Matrix(matrix) => matrix,
        };
        let axes = [matrix.x_axis, matrix.y_axis, matrix.z_axis];
        let [x, y, z] = axes.map(Vec3::normalize_or_zero);
        if x.dot(y).abs().max(y.dot(z).abs()).max(z.dot(x).abs()) > SHEARED {
            return None;
        }
        // A mirror image is a rotation with one negative scale.
        let mirror = if matrix.determinant() < 0.0 { -1.0 } else { 1.0 };
        let scale = Vec3::from(axes.map(Vec3::length)) * Vec3::new(mirror, 1.0, 1.0);
        Some((Quat::from_mat3(&Mat3::from_cols(x * mirror, y, z)), scale))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f32::consts::FRAC_PI_2;

    const PARTS: RowLayout = RowLayout::Parts { order: QuaternionOrder::Xyzw, scales: 0 };

    fn format(layout: RowLayout) -> RowFormat {
        RowFormat { layout, is_double: true, is_big_endian: false }
    }

    fn bytes(values: &[f64]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    fn affine(pose: &RowPose) -> Affine3 {
        pose.placed(&Affine3::IDENTITY, &Affine3::IDENTITY).unwrap()
    }

    fn matrix_of(transform: &Affine3) -> Vec<f64> {
        let m = transform.matrix3;
        let row = |r: usize| [m.x_axis[r], m.y_axis[r], m.z_axis[r], transform.translation[r]];
        [0, 1, 2].into_iter().flat_map(row).map(f64::from).collect()
    }

    #[test]
    fn every_layout_and_type_of_numbers_holds_the_same_transform() {
        let rotation = Quat::from_rotation_y(0.5);
        let expected = Affine3::from_scale_rotation_translation(Vec3::splat(2.0), rotation, Vec3::new(1.0, -2.0, 3.0));
        let [x, y, z, w] = rotation.to_array().map(f64::from);
        let matrix = matrix_of(&expected);
        let square = [&matrix[..], &[0.0, 0.0, 0.0, 1.0]].concat();
        let parts = |order, scales| RowLayout::Parts { order, scales };
        let rows = [
            (RowLayout::Matrix { rows: 3 }, matrix),
            (RowLayout::Matrix { rows: 4 }, square),
            (parts(QuaternionOrder::Xyzw, 1), vec![1.0, -2.0, 3.0, x, y, z, w, 2.0]),
            (parts(QuaternionOrder::Wxyz, 3), vec![1.0, -2.0, 3.0, w, x, y, z, 2.0, 2.0, 2.0]),
        ];
        for (layout, values) in rows {
            for (is_double, is_big_endian) in [(false, false), (false, true), (true, false), (true, true)] {
                let format = RowFormat { layout, is_double, is_big_endian };
                let encode = |value: &f64| {
                    let mut own =
                        if is_double { value.to_le_bytes().to_vec() } else { (*value as f32).to_le_bytes().to_vec() };
                    if is_big_endian {
                        own.reverse();
                    }
                    own
                };
                let row: Vec<u8> = values.iter().flat_map(encode).collect();
                assert_eq!(row.len(), format.bytes());
                let found = affine(&format.pose(&row).unwrap());
                assert!(found.abs_diff_eq(expected, 1e-6), "{format:?}: {found}");
            }
        }
    }

    #[test]
    fn rows_that_are_not_there_have_no_pose() {
        let pose = |values: &[f64]| format(PARTS).pose(&bytes(values));
        assert!(pose(&[1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 2.0]).is_some(), "quaternions are normalised");
        assert_eq!(pose(&[f64::NAN, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0]), None);
        assert_eq!(pose(&[1.0, f64::INFINITY, 3.0, 0.0, 0.0, 0.0, 1.0]), None);
        assert_eq!(pose(&[1e20, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0]), None);
        assert_eq!(pose(&[0.0; 7]), None);
        assert_eq!(format(RowLayout::Matrix { rows: 3 }).pose(&bytes(&[0.0; 12])), None);
    }

    #[test]
    fn rotations_are_interpolated_at_constant_speed_and_matrices_alike() {
        let [from, to] = [0.0, FRAC_PI_2].map(|angle| {
            Affine3::from_scale_rotation_translation(
                Vec3::new(-1.0, 2.0, 3.0),
                Quat::from_rotation_z(angle),
                Vec3::X * angle,
            )
        });
        let middle = Affine3::from_scale_rotation_translation(
            Vec3::new(-1.0, 2.0, 3.0),
            Quat::from_rotation_z(FRAC_PI_2 / 3.0),
            Vec3::X * FRAC_PI_2 / 3.0,
        );
        let format = format(RowLayout::Matrix { rows: 3 });
        let [a, b] = [from, to].map(|transform| format.pose(&bytes(&matrix_of(&transform))).unwrap());
        let found = affine(&RowPose::between(&a, &b, 1.0 / 3.0));
        assert!(found.abs_diff_eq(middle, 1e-5), "{found}");
    }

    #[test]
    fn matrices_that_shear_are_interpolated_number_by_number() {
        let mut sheared = Affine3::IDENTITY;
        sheared.matrix3.y_axis.x = 1.0;
        let format = format(RowLayout::Matrix { rows: 3 });
        let [a, b] = [Affine3::IDENTITY, sheared].map(|transform| format.pose(&bytes(&matrix_of(&transform))).unwrap());
        assert_eq!(affine(&RowPose::between(&a, &b, 0.5)).matrix3.y_axis, Vec3::new(0.5, 1.0, 0.0));
        assert_eq!(affine(&RowPose::between(&a, &b, 1.0)), sheared);
    }

    #[test]
    fn distant_positions_keep_their_digits_if_the_placement_moves_them_close() {
        let pose = format(PARTS).pose(&bytes(&[4_000_000.125, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])).unwrap();
        let around = Affine3::from_translation(Vec3::X * -4_000_000.0);
        let placed = pose.placed(&around, &Affine3::IDENTITY).unwrap();
        assert_eq!(placed.translation, Vec3::X * 0.125);
    }
}
