//! Subdivision surfaces as weights on the points of their cages.
//!
//! Rows of equal neighbourhoods have equal weights, so these are stored once: most faces of a cage of quads share one matrix.

use glam::Vec4;
use std::fmt;

/// Rows that are summed at once.
const LANES: usize = 4;

/// Rows of weighted sums of control values. A row has `W` sums: of the value, and for `W` = 3 of two tangents.
#[derive(Clone, Debug, Default)]
pub struct Stencils<const W: usize> {
    /// Matrices, each once.
    pub patterns: Vec<Pattern<W>>,
    /// Selections of rows, ascending, each once.
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
    width: u32,
    /// For each group of rows, for each control value, and for each sum: the weights of the rows. The last
    /// row is repeated to fill its group.
    weights: Vec<[Vec4; W]>,
}

/// Sums of a group of rows: for each sum, the components of its values, with one row in each lane.
pub type Group<const W: usize, const A: usize> = [[Vec4; A]; W];

/// Rows of a block that belong to one group.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    /// Index of the first result, relative to the block's. The others follow.
    pub first: usize,
    rows: &'a [u32],
}

impl Rows<'_> {
    /// The index of each result and its lane.
    #[inline]
    pub fn lanes(self) -> impl Iterator<Item = (usize, usize)> {
        (self.first..).zip(self.rows).map(|(index, &row)| (index, row as usize % LANES))
    }
}

impl<const W: usize> Pattern<W> {
    /// A matrix of rows of `width` weights.
    pub fn new(width: usize, rows: &[[f32; W]]) -> Self {
        let count = rows.len() / width.max(1);
        // Missing rows repeat the last one.
        let weight = |row: usize, control: usize, sum: usize| rows[row.min(count - 1) * width + control][sum];
        let lanes = |group: usize, control: usize, sum: usize| {
            Vec4::from_array(std::array::from_fn(|lane| weight(group * LANES + lane, control, sum)))
        };
        let groups = 0..count.div_ceil(LANES);
        let weights = groups
            .flat_map(|group| (0..width).map(move |control| (group, control)))
            .map(|(group, control)| std::array::from_fn(|sum| lanes(group, control, sum)))
            .collect();
        Self { width: width as u32, weights }
    }

    /// Number of control values.
    pub fn width(&self) -> usize {
        self.width as usize
    }

    /// The weights of a row.
    pub fn row(&self, row: usize) -> Vec<[f32; W]> {
        let group = self.weights.chunks(self.width().max(1)).nth(row / LANES).unwrap_or_default();
        group.iter().map(|weights| weights.map(|lanes| lanes.to_array()[row % LANES])).collect()
    }

    /// The sums of a group of rows.
    #[inline]
    fn sums<const A: usize>(&self, group: usize, values: &[[Vec4; A]]) -> Group<W, A> {
        let start = group * self.width();
        let weights = self.weights.get(start..start + self.width()).unwrap_or_default();
        let mut sums = [[Vec4::ZERO; A]; W];
        for (value, weights) in values.iter().zip(weights) {
            for (sum, &weight) in sums.iter_mut().zip(weights) {
                for (sum, &value) in sum.iter_mut().zip(value) {
                    *sum += value * weight;
                }
            }
        }
        sums
    }
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
    /// Passes the results of a block to `write`, by groups of rows. `values` are the control values with `A` components. `gathered` is memory
    /// that is reused.
    #[inline]
    pub fn evaluate<const A: usize>(
        &self,
        block: &Block,
        values: &[[f32; A]],
        gathered: &mut Vec<[Vec4; A]>,
        mut write: impl FnMut(Rows<'_>, &Group<W, A>),
    ) {
        let Some(pattern) = self.patterns.get(block.pattern as usize) else { return };
        let Some(rows) = self.selections.get(block.selection as usize) else { return };
        let controls = self.controls.get(block.controls as usize..).unwrap_or_default();
        let wide = |&index: &u32| values.get(index as usize).map_or([Vec4::ZERO; A], |value| value.map(Vec4::splat));
        gathered.clear();
        gathered.extend(controls.iter().take(pattern.width()).map(wide));
        let mut first = 0;
        for rows in rows.chunk_by(|a, b| a / LANES as u32 == b / LANES as u32) {
            let sums = pattern.sums(rows[0] as usize / LANES, gathered);
            write(Rows { first, rows }, &sums);
            first += rows.len();
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
    /// The tangent of the bind pose at each vertex, in the basis of the surface's own tangents, with the sign of the bitangent. Empty if the
    /// mesh has no tangents, see [`crate::anim::bind_tangents`].
    pub directions: Vec<[f32; 3]>,
}

impl fmt::Debug for SubdivisionSurface {
    /// The numbers of its parts and a checksum of its weights, instead of millions of weights.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.stencils.patterns.iter().flat_map(|pattern| pattern.weights.as_flattened());
        let bits = words.flat_map(|lanes| lanes.to_array()).map(|weight| u64::from(weight.to_bits()));
        let checksum = bits.fold(0_u64, |sum, bits| sum.rotate_left(5) ^ bits);
        f.debug_struct("SubdivisionSurface")
            .field("cage", &self.cage)
            .field("vertices", &self.stencils.len())
            .field("patterns", &self.stencils.patterns.len())
            .field("checksum", &checksum)
            .finish_non_exhaustive()
    }
}
