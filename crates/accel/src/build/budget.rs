//! Estimates of the memory for building a BLAS, made before the build starts.

use crate::{NodeLayout, Quality, build::collapse::Effort};

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

/// Maximum number of bytes allocated per box by the build of a tree in parts, in addition to the working memory of the largest part: the boxes of
/// unfinished parts, the nodes of finished ones, and leaves. Triangles in random order need slightly less, and those of a closed surface less than
/// half, since they fill leaves.
fn bytes_per_divided_box(layout: NodeLayout) -> u64 {
    if layout == NodeLayout::Compressed8 { 115 } else { 135 }
}

/// Bytes for a support map.
const BYTES_BESIDE: u64 = 1 << 20;

/// Estimated bytes for building a tree over `boxes` boxes, including the tree. There is one box per triangle and, for high quality, one per
/// additional part ([`most_boxes`](crate::most_boxes)).
pub fn build_bytes(boxes: usize, layout: NodeLayout, quality: Quality) -> u64 {
    tree_bytes(boxes, layout, quality.into(), bytes_per_box(layout, quality))
}

/// [`build_bytes`] of [`Blas::of_surface_in_parts`](crate::Blas::of_surface_in_parts).
#[doc(hidden)]
pub fn build_bytes_in_parts(boxes: usize, layout: NodeLayout, most_at_once: usize) -> u64 {
    let effort = Effort { quality: Quality::High, most_at_once };
    tree_bytes(boxes, layout, effort, bytes_per_box(layout, Quality::High))
}

/// [`build_bytes`] of a tree over this number of segments of curves. Their points are not included.
pub fn curve_build_bytes(segments: usize, layout: NodeLayout, quality: Quality) -> u64 {
    tree_bytes(segments, layout, quality.into(), bytes_per_segment(layout, quality))
}

/// `at_once`: bytes per box of a build that is not divided.
fn tree_bytes(boxes: usize, layout: NodeLayout, effort: Effort, at_once: u64) -> u64 {
    let in_parts = effort.divides(boxes).then(|| {
        let all = boxes as u64 * bytes_per_divided_box(layout);
        all + effort.part() as u64 * at_once
    });
    BYTES_BESIDE + in_parts.unwrap_or(boxes as u64 * at_once)
}
