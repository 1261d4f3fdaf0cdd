//! How much memory the build of a BLAS takes, known before it begins.

use crate::accel::{NodeLayout, Quality};

/// Bytes per box that are allocated at the most while a tree is built, it included, and the surface not: what triangles in no order
/// take, and a little more. Only where cuts leave hardly any triangle a neighbour in its leaf, a build may take more than that.
fn bytes_per_box(layout: NodeLayout, quality: Quality) -> u64 {
    match (layout, quality) {
        (NodeLayout::Compressed8, Quality::Fast) => 200,
        (NodeLayout::Compressed8, Quality::Balanced) => 500,
        (NodeLayout::Compressed8, Quality::High) => 620,
        (_, Quality::Fast) => 130,
        (_, Quality::Balanced) => 110,
        (_, Quality::High) => 470,
    }
}

/// Of a support map.
const BYTES_BESIDE: u64 = 1 << 20;

/// Bytes that the build of a tree takes, with what it makes, over so many boxes: one per triangle, and those of parts for high quality
/// ([`most_boxes`](crate::accel::most_boxes)).
pub fn build_bytes(boxes: usize, layout: NodeLayout, quality: Quality) -> u64 {
    BYTES_BESIDE + boxes as u64 * bytes_per_box(layout, quality)
}
