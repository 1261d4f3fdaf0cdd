//! The pool of all compressed BLASes on its way to a device, piece by piece.

use super::pool::moved;
use rayon::prelude::*;
use std::sync::Arc;
use throng_abi::{PatchRow, Unit};
use throng_accel::{Blas, CompressedLeaves, pool_offsets};

/// Maximum number of elements of a pool that are copied at once on their way to a device.
const PIECE: usize = 1 << 20;

/// Sends the pool of all trees in pieces, without a copy of the whole. `units` and `rows` get a piece and the place of its first element, in order.
pub fn send_pool<E>(
    blas: &[Arc<Blas>],
    units: impl FnMut(usize, &[Unit]) -> Result<(), E>,
    rows: impl FnMut(usize, &[PatchRow]) -> Result<(), E>,
) -> Result<(), E> {
    let mut trees: Vec<_> = blas.iter().zip(pool_offsets(blas)).collect();
    trees.sort_by_key(|(_, offset)| (offset.units, offset.leaves));
    let (mut units, mut rows) = (Pieces::new(units), Pieces::new(rows));
    for (blas, offset) in trees {
        let Some((own, leaves)) = blas.shape.compressed() else { continue };
        let first_leaf = leaves.index_at(offset.leaves);
        own.chunks(PIECE).try_for_each(|piece| units.add(piece, |unit| moved(unit, offset.units, first_leaf)))?;
        match leaves {
            CompressedLeaves::Patches(own) => own.chunks(PIECE).try_for_each(|piece| rows.add(piece, |row| row))?,
            CompressedLeaves::Segments(_) => {
                let mut own = vec![PatchRow::default(); leaves.room()];
                leaves.write(&mut own);
                rows.add(&own, |row| row)?;
            }
        }
    }
    units.send()?;
    rows.send()
}

/// Elements that are collected until there are enough of them.
struct Pieces<T, S> {
    waiting: Vec<T>,
    /// Place of the first of them.
    first: usize,
    send: S,
}

impl<T: Copy + Send + Sync, E, S: FnMut(usize, &[T]) -> Result<(), E>> Pieces<T, S> {
    fn new(send: S) -> Self {
        Self { waiting: Vec::new(), first: 0, send }
    }

    fn add(&mut self, elements: &[T], change: impl Fn(T) -> T + Sync + Send) -> Result<(), E> {
        if self.waiting.len() + elements.len() > PIECE {
            self.send()?;
        }
        self.waiting.par_extend(elements.par_iter().with_min_len(4096).map(|&element| change(element)));
        Ok(())
    }

    fn send(&mut self) -> Result<(), E> {
        (self.send)(self.first, &self.waiting)?;
        self.first += self.waiting.len();
        self.waiting.clear();
        Ok(())
    }
}
