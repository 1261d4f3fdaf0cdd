//! Child boxes in cells of a node's grid, rounded outwards.
//!
//! The kernel converts the bytes to floats and places them with two roundings of up to 2⁻⁸ cells each. Each plane therefore keeps a distance of at
//! least [`MARGIN`] cells, twice the sum of both, from the box that it bounds. Boxes are first widened by [`SLACK`], so that the kernel only has to
//! account for rounding at the ray's origin.

use glam::{Mat4, Vec4};
use throng_abi::CompressedNode;

/// Minimum distance in cells between a plane and the unrounded box.
pub const MARGIN: f64 = 1.0 / 64.0;
/// Target distance in cells: twice [`MARGIN`], so that rounding errors of 2⁻¹⁴ cells in this file are harmless.
const AIM: f32 = 1.0 / 32.0;
/// Maximum number of cells that the union of all boxes covers: 255, minus [`AIM`] on both sides and the rounding of the origin (3/16).
const CELLS: f32 = 254.75;
/// Maximum distance of hits from their box, relative to the box's greatest absolute coordinate: twelve half-ulps, 1.5 times `kBoxSlack` in
/// `intersect.h`.
pub const SLACK: f32 = 12.0 * HALF_ULP;
const HALF_ULP: f32 = 0.5 * f32::EPSILON;
/// Minimum cell size relative to the coordinates. Floats of this magnitude have steps of at most 1/8 cell.
const RELATIVE_CELL: f32 = 1.0 / (1 << 20) as f32;
/// Minimum cell size of a box at the origin: 2⁻¹⁰⁰. Its reciprocal and its products with distances do not overflow.
const LEAST_CELL: f32 = f32::from_bits((127 - 100) << 23);

/// A node's grid, and the planes of its children in grid cells, in the order of the boxes.
pub struct Quantized {
    pub origin: [f32; 3],
    /// Cell size: a float whose lower half is zero.
    pub scale: [f32; 3],
    /// As in `CompressedNode`. Lanes without a child have inverted boxes, as in [`Wide`](crate::Wide).
    pub planes: [[u8; 8]; 6],
}

impl Quantized {
    /// Stores the grid, whose lanes are in the order of the slots, in `node`.
    pub fn store(&self, node: &mut CompressedNode) {
        node.origin = self.origin;
        node.scale_xy = [self.scale[0], self.scale[1]].map(|scale| (scale.to_bits() >> 16) as u16);
        node.scale_z = self.scale[2];
        node.planes = self.planes;
    }
}

/// Quantises the boxes of a node, which are in the layout of [`Wide::planes`](crate::Wide::planes).
pub fn quantize(boxes: &[[f32; 8]; 6]) -> Quantized {
    let boxes: [Lanes; 6] = std::array::from_fn(|plane| Lanes::of(&boxes[plane]));
    let reach = boxes[1..].iter().fold(boxes[0].map(Vec4::abs), |reach, p| reach.zip(p.map(Vec4::abs), Vec4::max));
    // Includes the rounding of the widened planes. Lanes without a child have infinite boxes, which are not widened.
    let slack = reach.map(|reach| {
        let finite = reach.cmplt(Vec4::INFINITY);
        Vec4::select(finite, reach * (SLACK + HALF_ULP), Vec4::ZERO)
    });
    let mut to = Quantized { origin: [0.0; 3], scale: [0.0; 3], planes: [[0; 8]; 6] };
    let lower = [0, 1, 2].map(|axis| boxes[axis].zip(slack, |plane, slack| plane - slack));
    let upper = [3, 4, 5].map(|axis| boxes[axis].zip(slack, |plane, slack| plane + slack));
    let (min, max) = (Lanes::least(&lower), Lanes::greatest(&upper));
    for axis in 0..3 {
        let grid = Grid::around(min[axis], max[axis]);
        to.origin[axis] = grid.origin;
        to.scale[axis] = grid.cell;
        to.planes[axis] = grid.round(lower[axis], -0.5 - AIM);
        to.planes[axis + 3] = grid.round(upper[axis], 0.5 + AIM);
    }
    to
}

/// One float for each of eight children.
#[derive(Clone, Copy)]
struct Lanes([Vec4; 2]);

impl Lanes {
    #[inline(always)]
    fn of(numbers: &[f32; 8]) -> Self {
        let [a, b, c, d, e, f, g, h] = *numbers;
        Self([Vec4::new(a, b, c, d), Vec4::new(e, f, g, h)])
    }

    /// The minimum along each axis.
    #[inline(always)]
    fn least(axes: &[Self; 3]) -> Vec4 {
        let [x, y, z] = axes.each_ref().map(|lanes| lanes.0[0].min(lanes.0[1]));
        let [a, b, c, d] = columns(x, y, z);
        a.min(b).min(c.min(d))
    }

    /// The maximum along each axis.
    #[inline(always)]
    fn greatest(axes: &[Self; 3]) -> Vec4 {
        let [x, y, z] = axes.each_ref().map(|lanes| lanes.0[0].max(lanes.0[1]));
        let [a, b, c, d] = columns(x, y, z);
        a.max(b).max(c.max(d))
    }

    #[inline(always)]
    fn map(self, change: impl Fn(Vec4) -> Vec4) -> Self {
        Self([change(self.0[0]), change(self.0[1])])
    }

    #[inline(always)]
    fn zip(self, other: Self, join: impl Fn(Vec4, Vec4) -> Vec4) -> Self {
        Self([join(self.0[0], other.0[0]), join(self.0[1], other.0[1])])
    }

    /// The lowest byte of each lane's bits.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn low_bytes(self) -> [u8; 8] {
        use std::arch::x86_64::{
            _mm_and_si128, _mm_castps_si128, _mm_cvtsi128_si64, _mm_packs_epi32, _mm_packus_epi16, _mm_set1_epi32,
        };
        // SAFETY: SSE2 is part of x86-64, and these operations only use registers.
        unsafe {
            let byte = _mm_set1_epi32(0xff);
            let low = |half: Vec4| _mm_and_si128(_mm_castps_si128(half.into()), byte);
            let words = _mm_packs_epi32(low(self.0[0]), low(self.0[1]));
            _mm_cvtsi128_si64(_mm_packus_epi16(words, words)).to_le_bytes()
        }
    }

    /// The lowest byte of each lane's bits.
    #[cfg(not(target_arch = "x86_64"))]
    fn low_bytes(self) -> [u8; 8] {
        let [a, b] = self.0.map(|half| half.to_array());
        std::array::from_fn(|lane| [a, b][lane / 4][lane % 4].to_bits() as u8)
    }
}

/// Vectors from rows of their x, y and z.
#[inline(always)]
fn columns(x: Vec4, y: Vec4, z: Vec4) -> [Vec4; 4] {
    let transposed = Mat4::from_cols(x, y, z, z).transpose();
    [transposed.x_axis, transposed.y_axis, transposed.z_axis, transposed.w_axis]
}

/// One axis of the grid.
struct Grid {
    origin: f32,
    cell: f32,
}

impl Grid {
    fn around(min: f32, max: f32) -> Self {
        // The box is empty if all children of the node are hidden.
        let (min, max) = if min <= max { (min, max) } else { (0.0, 0.0) };
        let greater = |a: f32, b: f32| if a > b { a } else { b };
        let reach = greater(min.abs(), max.abs());
        let least = greater((max - min) * (1.0 / CELLS), reach * RELATIVE_CELL);
        let least = greater(least, LEAST_CELL);
        // Rounded up to eight significant bits, the precision of nodes. Coordinates are below 2^100, so this cannot overflow.
        let cell = f32::from_bits((least.to_bits() + 0xffff) & !0xffff);
        Self { origin: (min - AIM * cell).next_down(), cell }
    }

    /// Converts coordinates to cells, adds `shift` and rounds to nearest. An outward shift by more than a half rounds outwards.
    #[inline(always)]
    fn round(&self, plane: Lanes, shift: f32) -> [u8; 8] {
        /// After adding this, the lowest bits of a float hold its integer part.
        const INTEGERS: f32 = (1 << 23) as f32;
        let (origin, cells) = (Vec4::splat(self.origin), Vec4::splat(1.0 / self.cell));
        let position = plane.map(|x| {
            let position = (x - origin) * cells + Vec4::splat(shift);
            position.max(Vec4::ZERO).min(Vec4::splat(255.0)) + Vec4::splat(INTEGERS)
        });
        position.low_bytes()
    }
}
