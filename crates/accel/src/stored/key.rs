//! The key of a tree, a hash of the builder's version and input.

use super::checksum::checksum;
use crate::{NodeLayout, Quality, Surface, blas::BUILDER_VERSION};
use std::fmt;
use xxhash_rust::xxh3::xxh3_128;

/// A hash of everything that a tree depends on: positions, triangles, layout, quality, and the version of the builder. Its text form has 32
/// hexadecimal digits.
///
/// The hash is 128-bit XXH3, which does not collide by chance: among 10⁹ trees, the probability is below 10⁻²⁰. It does not withstand deliberate
/// attacks, but neither does a folder that attackers can write to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TreeKey(pub(super) u128);

impl TreeKey {
    /// Computes the key, in one or two milliseconds per million triangles.
    pub fn new(surface: &Surface<'_>, layout: NodeLayout, quality: Quality) -> Self {
        Self::of_version(BUILDER_VERSION, surface, layout, quality)
    }

    pub(super) fn of_version(builder: u32, surface: &Surface<'_>, layout: NodeLayout, quality: Quality) -> Self {
        // Explicit numbers, because the order of an enum's variants may change.
        let layout = match layout {
            NodeLayout::Wide4 => 4,
            NodeLayout::Wide8 => 8,
            NodeLayout::Wide16 => 16,
            NodeLayout::Compressed8 => 108,
        };
        let quality = match quality {
            Quality::Fast => 1,
            Quality::High => 2,
            Quality::Balanced => 3,
        };
        let parts = [
            builder.into(),
            layout,
            quality,
            surface.positions.len() as u128,
            checksum(bytemuck::cast_slice(surface.positions)),
            surface.triangles.len() as u128,
            checksum(bytemuck::cast_slice(surface.triangles)),
        ];
        Self(xxh3_128(&parts.map(u128::to_le_bytes).concat()))
    }
}

impl fmt::Display for TreeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}
