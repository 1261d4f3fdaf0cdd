//! Small mathematical tools: boxes, transforms, a hash for reproducible variation, the sRGB curve.

use glam::{Affine3, UVec3, Vec3};
use std::sync::OnceLock;

/// Thickness that a flat scale is given, and the scale below which it counts as flat; both relative to the largest scale.
const THICKNESS: f32 = 1e-4;
const FLAT: f32 = 1e-6;

/// A scale without zeros. Rays need the inverse of transforms, so a flat axis gets an invisibly small thickness. A scale that is zero along all axes
/// is unchanged.
#[inline]
pub fn thicken(scale: Vec3) -> Vec3 {
    let most = scale.abs().max_element();
    let thin = |s: f32| if s < 0.0 { -THICKNESS * most } else { THICKNESS * most };
    scale.map(|s| if s.abs() < FLAT * most { thin(s) } else { s })
}

/// [`thicken`] for a transform given as a matrix, one of whose axes may be zero. The other two span the surface.
pub fn thicken_matrix(mut transform: Affine3) -> Affine3 {
    let m = &mut transform.matrix3;
    let lengths = Vec3::new(m.x_axis.length(), m.y_axis.length(), m.z_axis.length());
    let thick = thicken(lengths);
    if lengths.x != thick.x {
        m.x_axis = m.y_axis.cross(m.z_axis).normalize_or_zero() * thick.x;
    } else if lengths.y != thick.y {
        m.y_axis = m.z_axis.cross(m.x_axis).normalize_or_zero() * thick.y;
    } else if lengths.z != thick.z {
        m.z_axis = m.x_axis.cross(m.y_axis).normalize_or_zero() * thick.z;
    }
    transform
}

/// An axis-aligned box. Empty when any `min` exceeds its `max`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    pub min: Vec3,
    pub max: Vec3,
}

impl Aabb {
    /// The box that contains nothing and is the identity of [`Aabb::union`].
    pub const EMPTY: Self = Self { min: Vec3::INFINITY, max: Vec3::NEG_INFINITY };

    /// The smallest box around `points`.
    #[inline]
    pub fn of_points(points: impl IntoIterator<Item = Vec3>) -> Self {
        points.into_iter().fold(Self::EMPTY, Self::with_point)
    }

    #[must_use]
    #[inline]
    pub fn with_point(self, p: Vec3) -> Self {
        Self { min: self.min.min(p), max: self.max.max(p) }
    }

    #[must_use]
    #[inline]
    pub fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// The intersection of both boxes; empty if they are disjoint.
    #[must_use]
    #[inline]
    pub fn intersection(self, other: Self) -> Self {
        Self { min: self.min.max(other.min), max: self.max.min(other.max) }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        !self.min.cmple(self.max).all()
    }

    #[inline]
    pub fn center(&self) -> Vec3 {
        self.min * 0.5 + self.max * 0.5
    }

    #[inline]
    pub fn extent(&self) -> Vec3 {
        self.max - self.min
    }

    /// Half the surface area, as used by the surface area heuristic; 0 for an empty box.
    #[inline]
    pub fn half_area(&self) -> f32 {
        let e = self.extent().max(Vec3::ZERO);
        e.x * e.y + e.y * e.z + e.z * e.x
    }

    /// Greatest absolute coordinate in the box, per axis; infinite for an empty box.
    #[inline]
    pub fn reach(&self) -> Vec3 {
        self.min.abs().max(self.max.abs())
    }

    /// Greatest absolute coordinate in the box, for bounds on rounding; 0 for an empty box.
    #[inline]
    pub fn magnitude(&self) -> f32 {
        if self.is_empty() { 0.0 } else { self.reach().max_element() }
    }

    /// Length of the diagonal; 0 for an empty box.
    #[inline]
    pub fn diagonal(&self) -> f32 {
        if self.is_empty() { 0.0 } else { self.extent().length() }
    }

    #[inline]
    pub fn contains(&self, other: &Self) -> bool {
        other.is_empty() || (self.min.cmple(other.min).all() && self.max.cmpge(other.max).all())
    }

    /// Whether a point is inside the box or on a face.
    #[inline]
    pub fn contains_point(&self, p: Vec3) -> bool {
        self.min.cmple(p).all() && self.max.cmpge(p).all()
    }

    /// The eight corners.
    #[inline]
    pub fn corners(&self) -> [Vec3; 8] {
        std::array::from_fn(|i| {
            Vec3::new(
                if i & 1 == 0 { self.min.x } else { self.max.x },
                if i & 2 == 0 { self.min.y } else { self.max.y },
                if i & 4 == 0 { self.min.z } else { self.max.z },
            )
        })
    }

    /// The bounding box of this box after `transform`, up to rounding.
    #[must_use]
    #[inline]
    pub fn transformed(&self, transform: &Affine3) -> Self {
        if self.is_empty() {
            return Self::EMPTY;
        }
        let center = transform.transform_point3(self.center());
        let reach = transformed_reach(transform, self.extent() * 0.5);
        Self { min: center - reach, max: center + reach }
    }
}

/// Maximum coordinate that can be traced. Products of a few greater ones would overflow.
pub const LARGEST_COORDINATE: f32 = 1e18;

/// Greatest absolute coordinates, per axis, after applying the linear part of `transform` to points with coordinates up to `reach`.
#[inline]
pub fn transformed_reach(transform: &Affine3, reach: Vec3) -> Vec3 {
    let m = &transform.matrix3;
    m.x_axis.abs() * reach.x + m.y_axis.abs() * reach.y + m.z_axis.abs() * reach.z
}

/// Whether `transform` keeps points with coordinates up to `reach` within [`LARGEST_COORDINATE`]; false for NaN.
#[inline]
pub fn stays_in_range(transform: &Affine3, reach: Vec3) -> bool {
    (transformed_reach(transform, reach) + transform.translation.abs()).cmple(Vec3::splat(LARGEST_COORDINATE)).all()
}

/// A well-mixed 32-bit hash (the finaliser "lowbias32" of Chris Wellons' hash prospector).
#[inline]
pub fn hash_u32(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x7feb_352d);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// A uniform number in [0, 1), a pure function of `seed` and `index`.
#[inline]
pub fn hash_unit(seed: u32, index: u32) -> f32 {
    let h = hash_u32(index ^ hash_u32(seed ^ 0x9e37_79b9));
    (h >> 8) as f32 * (1.0 / 16_777_216.0)
}

/// Position on Morton's space-filling curve of a cell, of whose coordinates the lower 21 bits count (Morton 1966).
pub fn morton_code(cell: UVec3) -> u64 {
    let [x, y, z] = cell.to_array().map(spread);
    x | y << 1 | z << 2
}

/// Inserts two zero bits between adjacent bits of the lower 21 bits.
fn spread(x: u32) -> u64 {
    let mut x = u64::from(x);
    x = (x | x << 32) & 0x001f_0000_0000_ffff;
    x = (x | x << 16) & 0x001f_0000_ff00_00ff;
    x = (x | x << 8) & 0x100f_00f0_0f00_f00f;
    x = (x | x << 4) & 0x10c3_0c30_c30c_30c3;
    (x | x << 2) & 0x1249_2492_4924_9249
}

/// A grid of cells over a box, which are numbered along Morton's curve: points with close numbers are close in space.
#[derive(Clone, Copy, Debug)]
pub struct MortonGrid {
    min: Vec3,
    scale: f32,
}

impl MortonGrid {
    /// A grid over all of `points`. Points that are not finite are in any cell.
    pub fn over(points: impl Iterator<Item = Vec3>) -> Self {
        let bounds = Aabb::of_points(points);
        let scale = ((1 << 21) - 1) as f32 / bounds.extent().max_element();
        Self { min: bounds.min, scale: if scale.is_finite() { scale } else { 0.0 } }
    }

    /// Number of the cell of a point.
    pub fn code(&self, point: Vec3) -> u64 {
        morton_code(((point - self.min) * self.scale).as_uvec3())
    }
}

/// The integer part of `x`, in a single instruction instead of the several of a cast. The result is arbitrary for NaN and for numbers outside of the
/// range of i32.
#[inline]
pub fn truncated(x: f32) -> i32 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_cvttss_si32, _mm_set_ss};
        // SAFETY: SSE is part of x86-64; inputs without an integer result return the minimum.
        unsafe { _mm_cvttss_si32(_mm_set_ss(x)) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        x as i32
    }
}

/// Decodes one sRGB channel (IEC 61966-2-1); input and output are in [0, 1].
#[inline]
pub fn linear_from_srgb(x: f32) -> f32 {
    if x <= 0.04045 { x / 12.92 } else { ((x + 0.055) / 1.055).powf(2.4) }
}

/// The linear values of all sRGB codes with eight bits.
pub fn linear_from_srgb8() -> &'static [f32; 256] {
    static TABLE: OnceLock<[f32; 256]> = OnceLock::new();
    TABLE.get_or_init(|| std::array::from_fn(|code| linear_from_srgb(code as f32 / 255.0)))
}

/// The sRGB transfer function: encodes a linear value in [0, 1].
#[inline]
pub fn srgb_from_linear(x: f32) -> f32 {
    if x <= 0.003_130_8 { 12.92 * x } else { 1.055 * x.powf(1.0 / 2.4) - 0.055 }
}

/// The row-major 3×4 matrix of a transform, in the layout of instance records and `.scn` files.
#[inline]
pub fn rows_from_affine(a: &Affine3) -> [f32; 12] {
    let (m, t) = (a.matrix3, a.translation);
    [
        m.x_axis.x, m.y_axis.x, m.z_axis.x, t.x, //
        m.x_axis.y, m.y_axis.y, m.z_axis.y, t.y, //
        m.x_axis.z, m.y_axis.z, m.z_axis.z, t.z,
    ]
}

/// Inverse of [`rows_from_affine`].
#[inline]
pub fn affine_from_rows(r: &[f32; 12]) -> Affine3 {
    Affine3::from_cols(
        Vec3::new(r[0], r[4], r[8]),
        Vec3::new(r[1], r[5], r[9]),
        Vec3::new(r[2], r[6], r[10]),
        Vec3::new(r[3], r[7], r[11]),
    )
}

#[cfg(test)]
mod flat_tests {
    use super::*;

    #[test]
    fn flat_scales_get_a_thickness_and_others_keep_their_bits() {
        assert_eq!(thicken(Vec3::new(2.0, 0.0, -1.0)), Vec3::new(2.0, 2e-4, -1.0));
        assert_eq!(thicken(Vec3::new(1.0, -1e-9, 1.0)), Vec3::new(1.0, -1e-4, 1.0));
        for scale in [Vec3::ZERO, Vec3::ONE, Vec3::new(1.0, 1e-5, 1.0)] {
            assert_eq!(thicken(scale), scale);
        }
    }

    #[test]
    fn a_matrix_without_one_axis_has_an_inverse_after_all() {
        let turn = glam::Mat3::from_rotation_x(0.7);
        for flat in [Vec3::new(0.0, 1.0, 1.0), Vec3::new(1.0, 0.0, 1.0), Vec3::new(1.0, 1.0, 0.0)] {
            let transform = Affine3::from_mat3(turn * glam::Mat3::from_diagonal(flat));
            let thick = thicken_matrix(transform).matrix3;
            let expected = turn * glam::Mat3::from_diagonal(flat.max(Vec3::splat(1e-4)));
            assert!(thick.abs_diff_eq(expected, 1e-6), "{flat}");
        }
        assert_eq!(thicken_matrix(Affine3::IDENTITY), Affine3::IDENTITY);
    }

    #[test]
    fn points_of_a_cell_follow_each_other_on_the_curve() {
        assert_eq!(morton_code(UVec3::new(0b101, 0b010, 0b111)), 0b101_110_101);
        let corners = [0.0, 0.9, 7.1, 8.0].map(Vec3::splat);
        let grid = MortonGrid::over(corners.into_iter());
        let codes = corners.map(|corner| grid.code(corner));
        assert!(codes.is_sorted() && codes[1] - codes[0] < codes[2] - codes[1], "{codes:?}");
        assert_eq!(MortonGrid::over([Vec3::ONE].into_iter()).code(Vec3::ONE), 0);
        grid.code(Vec3::NAN);
    }
}
