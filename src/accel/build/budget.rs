//! Estimates of the memory that the build of a BLAS takes, made before it begins.

use crate::accel::{NodeLayout, Quality};

/// Most bytes per box that are allocated while a tree is built, including the tree and not the surface: a little more than triangles
/// in random order take. A build takes more than that only where cuts leave hardly any triangle a neighbour in its leaf.
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

/// Bytes for a support map.
const BYTES_BESIDE: u64 = 1 << 20;

/// Bytes that the build of a tree over `boxes` boxes takes, including the tree. There is one box per triangle, and those of parts for
/// high quality ([`most_boxes`](crate::accel::most_boxes)).
pub fn build_bytes(boxes: usize, layout: NodeLayout, quality: Quality) -> u64 {
    BYTES_BESIDE + boxes as u64 * bytes_per_box(layout, quality)
}
