//! Estimates of the memory for building a BLAS, made before the build starts.

use crate::{NodeLayout, Quality};

/// Maximum number of bytes allocated per box during a build, including the tree but not the surface. It is slightly more than triangles in random
/// order need. A build can exceed it only if splits leave hardly any triangle a neighbour in its leaf.
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

/// [`bytes_per_box`] for segments of curves, whose leaves take 4 bytes or, in packs, 4 to 32 bytes.
fn bytes_per_segment(layout: NodeLayout, quality: Quality) -> u64 {
    match (layout, quality) {
        (NodeLayout::Compressed8, Quality::Fast) => 180,
        (NodeLayout::Compressed8, Quality::Balanced) => 450,
        (NodeLayout::Compressed8, Quality::High) => 570,
        (_, Quality::Fast) => 45,
        (_, Quality::Balanced) => 110,
        (_, Quality::High) => 470,
    }
}

/// Bytes for a support map.
const BYTES_BESIDE: u64 = 1 << 20;

/// Estimated bytes for building a tree over `boxes` boxes, including the tree. There is one box per triangle and, for high quality, one per
/// additional part ([`most_boxes`](crate::most_boxes)).
pub fn build_bytes(boxes: usize, layout: NodeLayout, quality: Quality) -> u64 {
    BYTES_BESIDE + boxes as u64 * bytes_per_box(layout, quality)
}

/// [`build_bytes`] of a tree over this number of segments of curves. Their points are not included.
pub fn curve_build_bytes(segments: usize, layout: NodeLayout, quality: Quality) -> u64 {
    BYTES_BESIDE + segments as u64 * bytes_per_segment(layout, quality)
}
