//! Subdivision surfaces as weights on the points of their cages.
//!
//! Rows of equal neighbourhoods have equal weights, so these are stored once: most faces of a cage of quads share one matrix.

use glam::Vec4;
use std::fmt;

/// Rows of weighted sums of control values. A row has `W` sums: of the value, and for `W` = 3 of two tangents.
#[derive(Clone, Debug, Default)]
pub struct Stencils<const W: usize> {
    /// Matrices, each once.
    pub patterns: Vec<Pattern<W>>,
    /// Selections of rows, each once.
    pub selections: Vec<Vec<u32>>,
    /// Blocks in the order of their results.
    pub blocks: Vec<Block>,
    /// Indices of control values, block by block.
    pub controls: Vec<u32>,
}

/// A matrix of weights.
#[derive(Clone, Debug, Default)]
pub struct Pattern<const W: usize> {
    /// Number of control values.
    pub width: u32,
    /// Rows of `width` weights.
    pub weights: Vec<[f32; W]>,
}

/// Results of one matrix: selected rows, applied to control values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Index into [`Stencils::patterns`].
    pub pattern: u32,
    /// Index into [`Stencils::selections`].
    pub selection: u32,
    /// Index into [`Stencils::controls`] of the first control value.
    pub controls: u32,
    /// Index of the first result.
    pub first: u32,
}

impl<const W: usize> Stencils<W> {
    /// Passes each result of a block to `write`, with its index. `gathered` is memory that is reused. `values` are the control values.
    #[inline]
    pub fn evaluate(
        &self,
        block: &Block,
        values: &[Vec4],
        gathered: &mut Vec<Vec4>,
        mut write: impl FnMut(u32, [Vec4; W]),
    ) {
        let Some(pattern) = self.patterns.get(block.pattern as usize) else { return };
        let Some(rows) = self.selections.get(block.selection as usize) else { return };
        let width = pattern.width as usize;
        let controls = self.controls.get(block.controls as usize..).unwrap_or_default();
        gathered.clear();
        gathered
            .extend(controls.iter().take(width).map(|&index| values.get(index as usize).copied().unwrap_or_default()));
        for (index, &row) in (block.first..).zip(rows) {
            let start = row as usize * width;
            let weights = pattern.weights.get(start..start + width).unwrap_or_default();
            let mut sums = [Vec4::ZERO; W];
            for (value, weights) in gathered.iter().zip(weights) {
                for (sum, &weight) in sums.iter_mut().zip(weights) {
                    *sum += *value * weight;
                }
            }
            write(index, sums);
        }
    }

    /// Number of results.
    pub fn len(&self) -> usize {
        self.blocks.last().map_or(0, |last| last.first as usize + self.count(last))
    }

    /// Whether there are no results.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of results of a block.
    pub fn count(&self, block: &Block) -> usize {
        self.selections.get(block.selection as usize).map_or(0, Vec::len)
    }
}

/// A mesh whose vertices follow the points of a cage.
#[derive(Clone, Default)]
pub struct SubdivisionSurface {
    /// Points of the cage at rest.
    pub cage: Vec<[f32; 3]>,
    /// Positions and tangents of all vertices. The cross product of the tangents points outwards.
    pub stencils: Stencils<3>,
    /// Vertices, each with another vertex at its position. Their own sums may differ in rounding, which would open gaps.
    pub copies: Vec<[u32; 2]>,
}

impl fmt::Debug for SubdivisionSurface {
    /// The numbers of its parts and a checksum of its weights, instead of millions of weights.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.stencils.patterns.iter().flat_map(|pattern| pattern.weights.as_flattened());
        let checksum = words.fold(0_u64, |sum, weight| sum.rotate_left(5) ^ u64::from(weight.to_bits()));
        f.debug_struct("SubdivisionSurface")
            .field("cage", &self.cage)
            .field("vertices", &self.stencils.len())
            .field("patterns", &self.stencils.patterns.len())
            .field("checksum", &checksum)
            .finish_non_exhaustive()
    }
}
