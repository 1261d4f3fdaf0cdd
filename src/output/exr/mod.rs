//! OpenEXR frames: linear radiance and layers as channels of one part (OpenEXR File Layout, version 2), without loss.
//!
//! An encoder of our own: a frame with all layers has hundreds of megabytes, and general ones take seconds for it.

mod channels;
mod complete;
mod cryptomatte;
mod header;
mod rle;
mod rows;

pub use complete::is_complete_exr;

use super::{EncodeError, Encoding, ExrCompression, Picture, deflate};
use channels::Channel;
use rows::RowPacker;
use std::{
    panic::resume_unwind,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

impl ExrCompression {
    /// The number that files have for it.
    fn code(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Rle => 1,
            Self::Zips => 2,
            Self::Zip => 3,
        }
    }

    /// Rows that are compressed together.
    fn rows(self) -> usize {
        match self {
            Self::Zip => 16,
            _ => 1,
        }
    }
}

/// The beauty as `R`, `G`, `B`, and each layer as channels behind its name: `albedo.R`, `depth.Z`, `CryptoObject00.r`. Colours
/// are half floats unless 32 bits are asked for; layers that are not colours are always floats.
pub fn encode(picture: &Picture, encoding: &Encoding) -> Result<Vec<u8>, EncodeError> {
    let channels = channels::of(picture, encoding.depth)?;
    let blocks = encode_blocks(picture, &channels, encoding);
    let mut file = header::write(picture, &channels, encoding.compression);
    let table = 8 * blocks.len();
    file.reserve_exact(table + blocks.iter().map(Vec::len).sum::<usize>());
    let mut offset = (file.len() + table) as u64;
    for block in &blocks {
        file.extend(offset.to_le_bytes());
        offset += block.len() as u64;
    }
    blocks
        .iter()
        .for_each(|block| file.extend_from_slice(block));
    Ok(file)
}

/// In the order of the rows, made by as many threads as `encoding` says.
fn encode_blocks(picture: &Picture, channels: &[Channel], encoding: &Encoding) -> Vec<Vec<u8>> {
    let count = (picture.height as usize).div_ceil(encoding.compression.rows());
    let next = AtomicUsize::new(0);
    let work = || {
        let mut packer = RowPacker::default();
        let mut made = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return made;
            }
            made.push((
                index,
                encode_block(picture, channels, encoding.compression, index, &mut packer),
            ));
        }
    };
    let mut blocks = vec![Vec::new(); count];
    let helpers = encoding.threads.clamp(1, count) - 1;
    thread::scope(|scope| {
        let started: Vec<_> = (0..helpers).map(|_| scope.spawn(work)).collect();
        let mut made = work();
        for helper in started {
            made.extend(helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        for (index, block) in made {
            blocks[index] = block;
        }
    });
    blocks
}

/// The first row's number, the size of what follows, and the rows: as they are where compression does not make them smaller.
fn encode_block(
    picture: &Picture,
    channels: &[Channel],
    compression: ExrCompression,
    index: usize,
    packer: &mut RowPacker,
) -> Vec<u8> {
    let first = index * compression.rows();
    let rows = first..(first + compression.rows()).min(picture.height as usize);
    let width = picture.width as usize;
    let mut block = (first as u32).to_le_bytes().to_vec();
    block.extend([0; 4]);
    let body = block.len();
    if compression != ExrCompression::None {
        let predicted = packer.predict(channels, width, rows.clone());
        match compression {
            ExrCompression::Rle => rle::compress(predicted, &mut block),
            _ => deflate::compress(predicted, &mut block),
        }
    }
    let plain: usize = rows.len() * width * channels::pixel_bytes(channels);
    if compression == ExrCompression::None || block.len() - body >= plain {
        block.truncate(body);
        rows::append_plain(channels, width, rows, &mut block);
    }
    let size = (block.len() - body) as u32;
    block[body - 4..body].copy_from_slice(&size.to_le_bytes());
    block
}

#[cfg(test)]
mod tests;
