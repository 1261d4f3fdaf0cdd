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

/// The beauty as `R`, `G`, `B`, and each layer as channels behind its name: `albedo.R`, `depth.Z`, `CryptoObject00.r`. Colours,
/// normals and motion are half floats unless 32 bits are asked for; other layers need more and are always floats.
pub fn encode(picture: &Picture, encoding: &Encoding) -> Result<Vec<u8>, EncodeError> {
    let channels = channels::of(picture, encoding.depth)?;
    let rows = encoding.compression.rows();
    let count = (picture.height as usize).div_ceil(rows);
    let mut file = header::write(picture, &channels, encoding.compression);
    let table = file.len();
    file.resize(table + 8 * count, 0);
    let work = Work {
        picture,
        channels: &channels,
        compression: encoding.compression,
        count,
        next: AtomicUsize::new(0),
    };
    let blocks = work.run(encoding.threads, &mut file);
    for (index, offset) in blocks.into_iter().enumerate() {
        let entry = table + 8 * index;
        file[entry..entry + 8].copy_from_slice(&(offset as u64).to_le_bytes());
    }
    Ok(file)
}

/// The blocks of a picture, which several threads make.
struct Work<'a> {
    picture: &'a Picture<'a>,
    channels: &'a [Channel<'a>],
    compression: ExrCompression,
    /// How many there are.
    count: usize,
    /// The first that nobody has begun.
    next: AtomicUsize,
}

/// Which blocks a thread has made, and where each begins in its memory; they have no gaps.
type Made = Vec<(usize, usize)>;

impl Work<'_> {
    /// Appends all blocks to `file` in the order of their rows, and returns where each of them begins.
    fn run(&self, threads: usize, file: &mut Vec<u8>) -> Vec<usize> {
        if threads <= 1 {
            return self
                .share(file)
                .into_iter()
                .map(|(_, start)| start)
                .collect();
        }
        let share = || {
            let mut memory = Vec::new();
            (self.share(&mut memory), memory)
        };
        let shares: Vec<(Made, Vec<u8>)> = thread::scope(|scope| {
            let helpers: Vec<_> = (1..threads.min(self.count))
                .map(|_| scope.spawn(share))
                .collect();
            let own = share();
            let others = helpers.into_iter();
            let others =
                others.map(|helper| helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
            others.chain([own]).collect()
        });
        let mut blocks: Vec<&[u8]> = vec![&[]; self.count];
        for (made, memory) in &shares {
            let ends = made
                .iter()
                .skip(1)
                .map(|&(_, start)| start)
                .chain([memory.len()]);
            for (&(index, start), end) in made.iter().zip(ends) {
                blocks[index] = &memory[start..end];
            }
        }
        let append = |block: &[u8]| {
            let start = file.len();
            file.extend_from_slice(block);
            start
        };
        blocks.into_iter().map(append).collect()
    }

    /// Makes blocks until there are no more.
    fn share(&self, memory: &mut Vec<u8>) -> Made {
        let mut packer = RowPacker::default();
        let mut made = Vec::new();
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            if index >= self.count {
                return made;
            }
            made.push((index, memory.len()));
            self.append_block(index, &mut packer, memory);
        }
    }

    /// The first row's number, the size of what follows, and the rows: as they are where compression does not make them smaller.
    fn append_block(&self, index: usize, packer: &mut RowPacker, out: &mut Vec<u8>) {
        let first = index * self.compression.rows();
        let rows = first..(first + self.compression.rows()).min(self.picture.height as usize);
        let width = self.picture.width as usize;
        out.extend((first as u32).to_le_bytes());
        out.extend([0; 4]);
        let body = out.len();
        match self.compression {
            ExrCompression::None => {}
            ExrCompression::Rle => {
                rle::compress(packer.predict(self.channels, width, rows.clone()), out)
            }
            _ => deflate::compress(packer.predict(self.channels, width, rows.clone()), out),
        }
        let plain = rows.len() * width * channels::pixel_bytes(self.channels);
        if self.compression == ExrCompression::None || out.len() - body >= plain {
            out.truncate(body);
            packer.append_plain(self.channels, width, rows, out);
        }
        let size = (out.len() - body) as u32;
        out[body - 4..body].copy_from_slice(&size.to_le_bytes());
    }
}

#[cfg(test)]
mod tests;
