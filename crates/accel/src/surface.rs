//! Surfaces of triangles and strands of segments, from which trees are built, and boxes in SIMD registers.

use crate::{buffer::prefetch, refit::plan::Primitives};
use glam::{Mat4, Vec3, Vec4, Vec4Swizzles};
use throng_abi::CurvePoint;
use throng_base::math::Aabb;
use throng_scene::{Curves, TriangleMesh};

/// Factor by which boxes of segments exceed their radius, which covers the rounding of the segment test.
const WIDENED: f32 = 1.001;

/// Triangles and the positions of their corners, in object space. The shapes of a moving mesh share the triangles and differ in positions.
#[derive(Clone, Copy, Debug)]
pub struct Surface<'a> {
    pub positions: &'a [[f32; 3]],
    /// Indices into `positions`.
    pub triangles: &'a [[u32; 3]],
}

impl<'a> From<&'a TriangleMesh> for Surface<'a> {
    fn from(mesh: &'a TriangleMesh) -> Self {
        Self { positions: &mesh.positions, triangles: &mesh.triangles }
    }
}

/// Curves and the points at their current positions, in object space. The shapes of curves that deform share the strands and differ in points.
#[derive(Clone, Copy, Debug)]
pub struct Strands<'a> {
    /// The points, of which there are as many as in `curves`.
    pub points: &'a [CurvePoint],
    /// The strands, and their profile.
    pub curves: &'a Curves,
}

impl<'a> From<&'a Curves> for Strands<'a> {
    fn from(curves: &'a Curves) -> Self {
        Self { points: &curves.points, curves }
    }
}

impl Strands<'_> {
    /// The box of a segment.
    #[inline]
    pub(super) fn bounds(&self, segment: u32) -> SimdBox {
        let first = segment as usize;
        let around = |point: &CurvePoint| {
            let (center, radius) = (Vec4::from((Vec3::from(point.position), 0.0)), Vec4::splat(WIDENED * point.radius));
            SimdBox { min: center - radius, max: center + radius }
        };
        around(&self.points[first]).union(around(&self.points[first + 1]))
    }
}

/// A mesh in one shape.
#[derive(Clone, Copy, Debug)]
pub enum Geometry<'a> {
    Triangles(Surface<'a>),
    Curves(Strands<'a>),
}

impl<'a> Geometry<'a> {
    pub(super) fn surface(&self) -> Option<Surface<'a>> {
        match self {
            Self::Triangles(surface) => Some(*surface),
            Self::Curves(_) => None,
        }
    }

    pub(super) fn strands(&self) -> Option<Strands<'a>> {
        match self {
            Self::Triangles(_) => None,
            Self::Curves(strands) => Some(*strands),
        }
    }
}

impl<'a> From<&'a TriangleMesh> for Geometry<'a> {
    fn from(mesh: &'a TriangleMesh) -> Self {
        Self::Triangles(mesh.into())
    }
}

impl Primitives for Surface<'_> {
    fn prefetch_indices(&self, triangle: u32) {
        prefetch(self.triangles, triangle as usize);
    }

    fn prefetch_vertices(&self, triangle: u32) {
        for vertex in self.triangles[triangle as usize] {
            self.prefetch_vertex(vertex);
        }
    }

    fn prefetch_vertex(&self, vertex: u32) {
        prefetch(self.positions, vertex as usize);
    }
}

impl Primitives for Strands<'_> {
    /// The number of a segment is the index of its first point.
    fn prefetch_indices(&self, _: u32) {}

    fn prefetch_vertices(&self, segment: u32) {
        self.prefetch_vertex(segment);
    }

    fn prefetch_vertex(&self, vertex: u32) {
        prefetch(self.points, vertex as usize);
    }
}

impl Surface<'_> {
    /// The corners of a triangle.
    #[inline]
    pub fn corners(&self, triangle: usize) -> [[f32; 3]; 3] {
        self.triangles[triangle].map(|vertex| self.positions[vertex as usize])
    }

    /// The box of a triangle.
    #[inline]
    pub fn bounds(&self, triangle: usize) -> Aabb {
        Aabb::of_points(self.corners(triangle).map(Vec3::from))
    }

    /// The corners of a triangle. Fourth components are meaningless.
    #[inline]
    pub(super) fn vectors(&self, triangle: u32) -> [Vec4; 3] {
        let [a, b, c] = self.triangles[triangle as usize];
        [self.vector(a), self.vector(b), self.vector(c)]
    }

    /// A vertex. The fourth component is meaningless.
    #[inline]
    pub(super) fn vector(&self, vertex: u32) -> Vec4 {
        let first = 3 * vertex as usize;
        let rest = self.positions.as_flattened().get(first..);
        // Loads whole registers; only the last position has no float after it.
        match rest.and_then(|rest| rest.first_chunk::<4>()) {
            Some(&four) => Vec4::from_array(four),
            None => {
                let [x, y, z] = self.positions[vertex as usize];
                Vec4::new(x, y, z, 0.0)
            }
        }
    }
}

/// A box in two registers. Fourth components are meaningless.
#[derive(Clone, Copy, Debug)]
pub struct SimdBox {
    pub min: Vec4,
    pub max: Vec4,
}

impl SimdBox {
    pub const EMPTY: Self = Self { min: Vec4::INFINITY, max: Vec4::NEG_INFINITY };

    #[inline]
    #[must_use]
    pub fn with_points(self, points: &[Vec4]) -> Self {
        points.iter().fold(self, |all, &p| Self { min: all.min.min(p), max: all.max.max(p) })
    }

    #[inline]
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }

    /// Half the surface area of a non-empty box.
    #[inline]
    pub fn half_area(self) -> f32 {
        let e = self.max - self.min;
        e.x * e.y + e.y * e.z + e.z * e.x
    }

    pub fn to_aabb(self) -> Aabb {
        Aabb { min: self.min.xyz(), max: self.max.xyz() }
    }
}

/// Rows of x, y and z of `N` boxes, lower planes first, in the layout of [`Wide`](crate::Wide).
#[inline]
pub fn planes<const N: usize>(boxes: &[SimdBox; N]) -> [[f32; N]; 6] {
    let mut planes = [[0.0; N]; 6];
    for (first, four) in (0..).step_by(4).zip(boxes.as_chunks::<4>().0) {
        let [a, b, c, d] = four;
        let lower = rows([a.min, b.min, c.min, d.min]);
        let upper = rows([a.max, b.max, c.max, d.max]);
        for (plane, row) in planes.iter_mut().zip(lower.into_iter().chain(upper)) {
            plane[first..first + 4].copy_from_slice(&row.to_array());
        }
    }
    planes
}

/// The x, y and z rows of four vectors.
#[inline]
pub fn rows(vectors: [Vec4; 4]) -> [Vec4; 3] {
    let [a, b, c, d] = vectors;
    let transposed = Mat4::from_cols(a, b, c, d).transpose();
    [transposed.x_axis, transposed.y_axis, transposed.z_axis]
}

/// Sum of half the surface areas of `N` boxes; inverted boxes count as 0.
#[inline]
pub fn half_areas<const N: usize>(planes: &[[f32; N]; 6]) -> f32 {
    let four = |plane: usize, first: usize| Vec4::from_slice(&planes[plane][first..first + 4]);
    let mut areas = Vec4::ZERO;
    for first in (0..N).step_by(4) {
        let extent = |axis| (four(axis + 3, first) - four(axis, first)).max(Vec4::ZERO);
        let (x, y, z) = (extent(0), extent(1), extent(2));
        areas += x * y + y * z + z * x;
    }
    areas.element_sum()
}
