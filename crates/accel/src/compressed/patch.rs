//! Patches: the leaves below the nodes of a compressed tree, with vertices that triangles of a patch share.
//!
//! A leaf has one triangle, or two with a common edge. At most eight leaves below a node thus have at most 32 vertices, which five bits number.

use crate::{
    Buffer,
    blas::SMALLEST_SHARE,
    compressed::slots::{Arrangement, count_before, slots_of},
    pack::FewVertices,
    refit::plan::{Leaf, TreePart},
    surface::{SimdBox, Surface},
};
use rayon::prelude::*;
use std::ops::Range;
use throng_abi::{CompressedNode, NO_INDEX, PatchRow};

/// Number of leaves whose words fit into a row.
const WORDS_PER_ROW: usize = size_of::<PatchRow>() / size_of::<u32>();
/// Maximum number of vertices of a patch.
const MOST_VERTICES: usize = 32;

/// The corners that are A and D, in ascending order, for each value of the last three bits of a leaf's word.
const TURNS: [[usize; 2]; 6] = [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]];

/// The vertices A, B, C and D of two triangles (A, B, C) and (D, C, B), and the corners that are A and D.
#[derive(Clone, Copy)]
struct Quad {
    vertices: [u32; 4],
    turns: [usize; 2],
}

impl Quad {
    fn of_one([a, b, c]: [u32; 3]) -> Self {
        Self { vertices: [a, b, c, c], turns: [0, 0] }
    }

    /// Two triangles with a common edge that have the same side in front, and different third vertices or different sides.
    fn of_two(first: [u32; 3], second: [u32; 3]) -> Option<Self> {
        let turned = |corners: [u32; 3], by: usize| [0, 1, 2].map(|corner| corners[(corner + by) % 3]);
        (0..9).find_map(|turns| {
            let turns = [turns / 3, turns % 3];
            let ([a, b, c], [d, e, f]) = (turned(first, turns[0]), turned(second, turns[1]));
            ((e, f) == (c, b) && d != c).then_some(Self { vertices: [a, b, c, d], turns })
        })
    }

    /// Whether the second triangle must be the first one in the leaf's word.
    fn is_reversed(self) -> bool {
        self.turns[0] > self.turns[1]
    }

    /// The word of the leaf, for these places of the vertices. The quad must not be reversed.
    fn word(self, [a, b, c, d]: [usize; 4]) -> u32 {
        let turns = TURNS.iter().position(|&turns| turns == self.turns);
        (a | b << 8 | c << 16 | d << 24 | turns.unwrap_or_default() << 29) as u32
    }
}

/// Whether two triangles, given by their vertices, fit into a leaf.
pub fn are_pair(first: [u32; 3], second: [u32; 3]) -> bool {
    Quad::of_two(first, second).is_some()
}

/// The places of the vertices A, B, C and D.
fn places(word: u32) -> [usize; 4] {
    let [a, b, c, d] = word.to_le_bytes().map(usize::from);
    [a, b, c, d % MOST_VERTICES]
}

/// The corners of a leaf's triangles in the mesh, from values of the vertices A, B, C and D.
fn corners_of<T: Copy>(word: u32, [a, b, c, d]: [T; 4]) -> [[T; 3]; 2] {
    let turns = TURNS.get((word >> 29) as usize).copied().unwrap_or_default();
    let turned = |vertices: [T; 3], turn| [0, 1, 2].map(|corner| vertices[(corner + 3 - turn) % 3]);
    [turned([a, b, c], turns[0]), turned([d, c, b], turns[1])]
}

/// The word of a leaf of a patch whose vertices begin at row `first`.
fn word_at(rows: &[PatchRow], first: usize, leaf: usize) -> u32 {
    let words: [u32; WORDS_PER_ROW] = bytemuck::cast(rows[first - 1 - leaf / WORDS_PER_ROW]);
    words[WORDS_PER_ROW - 1 - leaf % WORDS_PER_ROW]
}

/// A triangle of a patch.
pub struct PatchTriangle {
    /// Index of the triangle's row among the vertices.
    pub row: usize,
    /// The rows of its corners among the vertices.
    pub corners: [usize; 3],
}

/// The one or two triangles of the leaf in a slot.
pub fn triangles_of_leaf(
    node: &CompressedNode,
    slot: usize,
    rows: &[PatchRow],
) -> impl Iterator<Item = PatchTriangle> + use<> {
    let before = |mask: u8| count_before(mask, slot) as usize;
    let (leaf, leaves) = (before(node.leaves), node.leaves.count_ones() as usize);
    let word = word_at(rows, node.leaf_base as usize, leaf);
    let [first, second] = corners_of(word, places(word));
    let second = PatchTriangle { row: leaves + before(node.pairs), corners: second };
    let second = (node.pairs >> slot & 1 != 0).then_some(second);
    [Some(PatchTriangle { row: leaf, corners: first }), second].into_iter().flatten()
}

/// The triangles of a node's patch.
pub fn triangles_of_node(node: &CompressedNode, rows: &[PatchRow]) -> impl Iterator<Item = PatchTriangle> {
    slots_of(node.leaves).flat_map(|slot| triangles_of_leaf(node, slot, rows))
}

/// Number of triangles of a node's patch.
pub fn triangle_count(node: &CompressedNode) -> usize {
    (node.leaves.count_ones() + node.pairs.count_ones()) as usize
}

/// The rows of a node's patch. `None` if some are not in `rows`, or if the node and the words do not agree on which leaves have two triangles.
pub fn rows_of(node: &CompressedNode, rows: &[PatchRow]) -> Option<Range<usize>> {
    let first = node.leaf_base as usize;
    let begin = first.checked_sub((node.leaves.count_ones() as usize).div_ceil(WORDS_PER_ROW))?;
    if first > rows.len() {
        return None;
    }
    let mut count = triangle_count(node);
    for (leaf, slot) in slots_of(node.leaves).enumerate() {
        let [a, b, c, d] = places(word_at(rows, first, leaf));
        if (c != d) != (node.pairs >> slot & 1 != 0) {
            return None;
        }
        count = count.max(1 + a.max(b).max(c).max(d));
    }
    (first + count <= rows.len()).then_some(begin..first + count)
}

/// The patches of a tree before their rows are written.
pub struct Patches {
    /// The triangles of all patches, leaf by leaf.
    triangles: Vec<u32>,
    /// The words of all leaves.
    words: Vec<u32>,
    sizes: Vec<Size>,
}

/// Size of a patch.
#[derive(Clone, Copy, Default)]
struct Size {
    leaves: u8,
    triangles: u8,
    vertices: u8,
}

impl Size {
    fn word_rows(self) -> usize {
        usize::from(self.leaves).div_ceil(WORDS_PER_ROW)
    }

    fn vertex_rows(self) -> usize {
        usize::from(self.triangles.max(self.vertices))
    }

    fn rows(self) -> usize {
        self.word_rows() + self.vertex_rows()
    }
}

impl Patches {
    /// Finds the common vertices of each node's triangles, which are given node by node and leaf by leaf, and sets the nodes' positions in the rows.
    pub fn new(mut triangles: Vec<u32>, nodes: &mut [Arrangement], surface: &Surface<'_>) -> Self {
        let mut words = vec![0; nodes.iter().map(|node| node.leaves.count_ones() as usize).sum()];
        let mut sizes = vec![Size::default(); nodes.len()];
        let mut jobs = Vec::with_capacity(nodes.len());
        let (mut own, mut rest) = (&mut triangles[..], &mut words[..]);
        for (node, size) in nodes.iter().zip(&mut sizes) {
            let (patch, others) = own.split_at_mut(node.primitives());
            let (to, tail) = rest.split_at_mut(node.leaves.count_ones() as usize);
            jobs.push((node, patch, to, size));
            (own, rest) = (others, tail);
        }
        let jobs = jobs.into_par_iter().with_min_len(SMALLEST_SHARE / 8);
        jobs.for_each(|(node, triangles, words, size)| *size = share_vertices(node, triangles, surface, words));
        let mut row = 0;
        for (node, size) in nodes.iter_mut().zip(&sizes) {
            node.leaf_base = (row + size.word_rows()) as u32;
            row += size.rows();
        }
        Self { triangles, words, sizes }
    }

    /// Writes the rows of all patches.
    pub fn write(self, surface: &Surface<'_>) -> Buffer<PatchRow> {
        let total = self.sizes.iter().map(|size| size.rows()).sum();
        let mut rows = Buffer::filled(total, PatchRow::default());
        let mut jobs = Vec::with_capacity(self.sizes.len());
        let (mut triangles, mut words, mut rest) = (&self.triangles[..], &self.words[..], &mut rows[..]);
        for &size in &self.sizes {
            let (patch, others) = triangles.split_at(size.triangles.into());
            let (own, tail) = words.split_at(size.leaves.into());
            let (to, others_to) = rest.split_at_mut(size.rows());
            jobs.push((size, patch, own, to));
            (triangles, words, rest) = (others, tail, others_to);
        }
        let jobs = jobs.into_par_iter().with_min_len(SMALLEST_SHARE / 8);
        jobs.for_each(|(size, triangles, words, rows)| write_patch(size, triangles, words, surface, rows));
        rows
    }
}

/// Writes the word of each leaf of a node, and puts the triangles of each leaf in order.
fn share_vertices(node: &Arrangement, mut triangles: &mut [u32], surface: &Surface<'_>, words: &mut [u32]) -> Size {
    let mut vertices = FewVertices::<MOST_VERTICES>::default();
    for (slot, word) in slots_of(node.leaves).zip(&mut *words) {
        let (own, rest) = triangles.split_at_mut(if node.pairs >> slot & 1 != 0 { 2 } else { 1 });
        triangles = rest;
        let corners = |own: &[u32], i: usize| surface.triangles[own[i] as usize];
        let mut quad = Quad::of_one(corners(own, 0));
        if own.len() == 2 {
            let pair = |own: &[u32]| Quad::of_two(corners(own, 0), corners(own, 1));
            quad = pair(own).expect("leaves of two triangles have a common edge");
            if quad.is_reversed() {
                own.reverse();
                quad = pair(own).expect("as before");
            }
        }
        let place = |vertex| vertices.place_of(vertex).expect("eight leaves have at most 32 vertices");
        *word = quad.word(quad.vertices.map(place));
    }
    Size { leaves: words.len() as u8, triangles: node.primitives() as u8, vertices: vertices.count() as u8 }
}

/// Writes the rows of a patch, which are zero.
fn write_patch(size: Size, triangles: &[u32], words: &[u32], surface: &Surface<'_>, rows: &mut [PatchRow]) {
    let (heads, vertices) = rows.split_at_mut(size.word_rows());
    let heads: &mut [u32] = bytemuck::cast_slice_mut(heads);
    let (mut own, mut second_row) = (triangles.iter().copied(), words.len());
    for (leaf, (to, &word)) in heads.iter_mut().rev().zip(words).enumerate() {
        *to = word;
        let (vertex, [first, second]) = (places(word), corners_of(word, places(word)));
        let mut put = |row: usize, corners: [usize; 3]| {
            let triangle = own.next().expect("a leaf has its triangles");
            vertices[row].prim = triangle;
            for (place, position) in corners.into_iter().zip(surface.corners(triangle as usize)) {
                vertices[place].position = position;
            }
        };
        put(leaf, first);
        if vertex[2] != vertex[3] {
            put(second_row, second);
            second_row += 1;
        }
    }
}

/// The vertex of each row; [`NO_INDEX`] for rows without one.
pub fn vertices_of_rows(nodes: &[CompressedNode], rows: &[PatchRow], surface: &Surface<'_>) -> Vec<u32> {
    let mut vertices = vec![NO_INDEX; rows.len()];
    for node in nodes {
        let first = node.leaf_base as usize;
        for triangle in triangles_of_node(node, rows) {
            let corners = surface.triangles[rows[first + triangle.row].prim as usize];
            for (place, vertex) in triangle.corners.into_iter().zip(corners) {
                vertices[first + place] = vertex;
            }
        }
    }
    vertices
}

/// A row of a vertex is the box of a point. Boxes of leaves follow from those of their vertices.
impl Leaf<Surface<'_>> for PatchRow {
    const AHEAD: usize = 16;
    const KEPT: usize = 1;

    fn fill_kept(&mut self, surface: &Surface<'_>, vertices: &[u32]) -> SimdBox {
        let &[vertex] = vertices else { return SimdBox::EMPTY };
        if vertex == NO_INDEX {
            return SimdBox::EMPTY;
        }
        // The triangle's index is written with the position as one register.
        let row = surface.vector(vertex).with_w(f32::from_bits(self.prim));
        *self = bytemuck::cast(row.to_array());
        SimdBox::EMPTY.with_points(&[row])
    }
}

/// The box of the leaf in a slot, from the rows of its patch.
pub fn leaf_box(
    part: &mut TreePart<'_, CompressedNode, PatchRow, Surface<'_>>,
    node: &CompressedNode,
    slot: usize,
) -> SimdBox {
    let (rows, start) = part.leaves();
    let near = CompressedNode { leaf_base: node.leaf_base - start, ..*node };
    let triangles = triangles_of_leaf(&near, slot, rows);
    triangles
        .flat_map(|triangle| triangle.corners)
        .fold(SimdBox::EMPTY, |all, place| all.union(part.leaf(node.leaf_base + place as u32)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangles_with_a_common_edge_and_side_are_a_pair_however_they_are_turned() {
        for turns in (0..9).map(|i| [i / 3, i % 3]) {
            let turned = |[a, b, c]: [u32; 3], by| [[a, b, c], [c, a, b], [b, c, a]][by];
            let (first, second) = (turned([7, 5, 6], turns[0]), turned([8, 6, 5], turns[1]));
            let quad = Quad::of_two(first, second).expect("the edge from 5 to 6");
            assert_eq!((quad.vertices, quad.turns), ([7, 5, 6, 8], turns));
            if !quad.is_reversed() {
                let word = quad.word([31, 0, 1, 17]);
                assert_eq!((places(word), corners_of(word, quad.vertices)), ([31, 0, 1, 17], [first, second]));
            }
        }
        assert!(are_pair([1, 2, 3], [3, 2, 1]), "both sides of one triangle");
    }

    #[test]
    fn other_triangles_are_not_a_pair() {
        assert!(!are_pair([7, 5, 6], [8, 5, 6]), "different sides");
        assert!(!are_pair([7, 5, 6], [8, 6, 9]), "one common vertex");
        assert!(!are_pair([7, 5, 6], [6, 6, 5]), "the fourth vertex would be the third");
    }
}
