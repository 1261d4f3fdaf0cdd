//! Child boxes in cells of a node's grid, rounded outwards.
//!
//! The kernel makes floats of the bytes and places them with two roundings of up to 2⁻⁸ cells each: each plane therefore keeps a
//! distance of at least [`MARGIN`] cells, twice their sum, from what it bounds. The boxes themselves are first widened by [`SLACK`],
//! so that the kernel only has to know of the rounding at the ray's origin.

use crate::abi::CompressedNode;

/// Least distance between a plane and the box that it was rounded from, in cells.
pub const MARGIN: f64 = 1.0 / 64.0;
/// What is aimed at: twice that, so that rounding errors of 2⁻¹⁴ cells in this file do no harm.
const AIM: f32 = 1.0 / 32.0;
/// Most cells that the union of all boxes covers. To the 255 that there are, [`AIM`] on both sides and the rounding of the
/// origin (3/16) are missing.
const CELLS: f32 = 254.75;
/// How far outside of a box hits may lie, relative to the greatest absolute coordinate of the box: twelve half-ulps, half as much
/// again as `kBoxSlack` in `intersect.h`.
pub const SLACK: f32 = 12.0 * HALF_ULP;
const HALF_ULP: f32 = 0.5 * f32::EPSILON;
/// Least cell, relative to the coordinates: floats of that size then come in steps of at most 1/8 cell.
const RELATIVE_CELL: f32 = 1.0 / (1 << 20) as f32;
/// Least cell of a box at the origin: 2⁻¹⁰⁰, whose reciprocal and products with distances stay within floats.
const LEAST_CELL: f32 = f32::from_bits((127 - 100) << 23);

/// A node's grid and the planes of its children in it, children in the order of the boxes.
pub struct Quantized {
    pub origin: [f32; 3],
    /// Size of a cell: a float whose lower half is zero.
    pub scale: [f32; 3],
    /// As in `CompressedNode`. Lanes without a child get inverted boxes, as in [`Wide`](super::Wide).
    pub planes: [[u8; 8]; 6],
}

impl CompressedNode {
    /// Takes over a grid whose lanes are in the order of the slots.
    pub fn set_grid(&mut self, grid: &Quantized) {
        self.origin = grid.origin;
        self.scale_xy = [grid.scale[0], grid.scale[1]].map(|scale| (scale.to_bits() >> 16) as u16);
        self.scale_z = grid.scale[2];
        self.planes = grid.planes;
    }
}

/// Quantises the boxes of a node: `boxes` as in [`Wide::planes`](super::Wide::planes).
pub fn quantize(boxes: &[[f32; 8]; 6]) -> Quantized {
    let mut to = Quantized {
        origin: [0.0; 3],
        scale: [0.0; 3],
        planes: [[0; 8]; 6],
    };
    let mut slack = [0.0; 8];
    for plane in boxes {
        slack = std::array::from_fn(|lane| plane[lane].abs().max(slack[lane]));
    }
    // The widened planes are rounded, too. Lanes without a child have infinite boxes, which stay as they are.
    let widening = |reach: f32| {
        if reach < f32::INFINITY {
            (SLACK + HALF_ULP) * reach
        } else {
            0.0
        }
    };
    let slack = slack.map(widening);
    for axis in 0..3 {
        let lower = std::array::from_fn(|lane| boxes[axis][lane] - slack[lane]);
        let upper = std::array::from_fn(|lane| boxes[axis + 3][lane] + slack[lane]);
        let min = lower.iter().copied().fold(f32::INFINITY, f32::min);
        let max = upper.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let grid = Grid::around(min, max);
        to.origin[axis] = grid.origin;
        to.scale[axis] = grid.cell;
        to.planes[axis] = grid.round(&lower, -0.5 - AIM);
        to.planes[axis + 3] = grid.round(&upper, 0.5 + AIM);
    }
    to
}

/// One axis of the grid.
struct Grid {
    origin: f32,
    cell: f32,
}

impl Grid {
    fn around(min: f32, max: f32) -> Self {
        // A node whose children are all hidden.
        let (min, max) = if min <= max { (min, max) } else { (0.0, 0.0) };
        let reach = min.abs().max(max.abs());
        let least = ((max - min) * (1.0 / CELLS))
            .max(reach * RELATIVE_CELL)
            .max(LEAST_CELL);
        // Rounded up to eight significant bits, which is what nodes have room for. Coordinates are below 2^100, so this is far
        // from infinity.
        let cell = f32::from_bits((least.to_bits() + 0xffff) & !0xffff);
        Self {
            origin: (min - AIM * cell).next_down(),
            cell,
        }
    }

    /// Counts coordinates in cells and rounds to the nearest after adding `shift`: by more than a half, this rounds
    /// outwards. Branch free, so that lanes become SIMD lanes.
    fn round(&self, plane: &[f32; 8], shift: f32) -> [u8; 8] {
        /// Adding this leaves a float's integer part in its lowest bits.
        const INTEGERS: f32 = (1 << 23) as f32;
        let cells = 1.0 / self.cell;
        plane.map(|x| {
            let position = ((x - self.origin) * cells + shift).clamp(0.0, 255.0);
            (position + INTEGERS).to_bits() as u8
        })
    }
}
