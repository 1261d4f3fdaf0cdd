//! For tests: files whose contents are arbitrary and whose checksum is correct, and trees that no builder makes.

use super::{CHECKSUM_SIZE, Header, checksum::checksum};
use crate::{Blas, BlasShape, blas::BuiltTree};
use std::{mem::offset_of, ops::Range, time::Duration};
use throng_base::math::Aabb;

/// Places in a valid file: the header after the sizes of the sections, and the four sections.
pub fn parts(file: &[u8]) -> [Range<usize>; 5] {
    let header: Header = bytemuck::pod_read_unaligned(&file[..size_of::<Header>()]);
    let ([nodes, leaves, starts, blocks], _) = header.places().expect("the file is valid");
    [offset_of!(Header, bounds)..size_of::<Header>(), nodes, leaves, starts, blocks]
}

/// Writes the checksum of changed contents.
pub fn seal(file: &mut [u8]) {
    let end = file.len() - CHECKSUM_SIZE;
    let sum = checksum(&file[..end]).to_le_bytes();
    file[end..].copy_from_slice(&sum);
}

/// A tree of any shape, valid or not.
pub fn tree_of(shape: BlasShape, bounds: Aabb) -> Blas {
    Blas::of_tree(BuiltTree { shape, bounds, sah_cost: 1.0 }, None, Duration::ZERO)
}
