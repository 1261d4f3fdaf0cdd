//! The name of a tree, which depends on what it is built from and by which builder.

use super::checksum::checksum;
use crate::accel::{NodeLayout, Quality, Surface, blas::BUILDER_VERSION};
use std::fmt;
use xxhash_rust::xxh3::xxh3_128;

/// A hash of all that a tree depends on: positions, triangles, layout, quality, and the version of the builder. As text it is 32
/// hexadecimal digits.
///
/// XXH3 of 128 bits, which does not collide by chance: a thousand million trees have one chance in 10²⁰. It does not
/// withstand deliberate attacks, but neither does a folder that attackers can write to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TreeKey(pub(super) u128);

impl TreeKey {
    /// Computes the key, in a millisecond or two per million triangles.
    pub fn new(surface: &Surface<'_>, layout: NodeLayout, quality: Quality) -> Self {
        Self::of_version(BUILDER_VERSION, surface, layout, quality)
    }

    pub(super) fn of_version(builder: u32, surface: &Surface<'_>, layout: NodeLayout, quality: Quality) -> Self {
        // Explicit numbers, since the order of an enum's variants may change.
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
