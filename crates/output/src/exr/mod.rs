//! OpenEXR frames: linear radiance and AOVs as channels of one part (OpenEXR File Layout, version 2), compressed without loss.
//!
//! This is a separate implementation because a frame with all AOVs has hundreds of megabytes, and general writers need seconds for it
//! (docs/own-code.md).

mod channels;
mod complete;
mod cryptomatte;
mod header;
mod rle;
mod rows;

pub use complete::{is_complete_exr, read_origin};

use super::{EncodeError, Encoding, ExrCompression, Picture};
use channels::Channel;
use flate2::{Compression, write::ZlibEncoder};
use rows::RowPacker;
use std::{
    fs::File,
    io::{self, Write as _},
    ops::Range,
    panic::resume_unwind,
    sync::{
        Condvar, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};
use throng_base::sync::{lock, unpoisoned};
use throng_picture::aov::{
    AovSet,
    channels::{FileBlocks, FileRows},
};

impl ExrCompression {
    /// Code of the compression method in files.
    fn code(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Rle => 1,
            Self::Zips => 2,
            Self::Zip => 3,
        }
    }

    /// Number of rows that are compressed together.
    pub fn rows(self) -> u32 {
        match self {
            Self::Zip => 16,
            _ => 1,
        }
    }
}

/// Encodes a picture as the bytes of a file. The picture becomes the channels `R`, `G`, `B`, with `A` if it is transparent. Each AOV
/// becomes channels with its name as prefix: `albedo.R`, `depth.Z`, `CryptoObject00.r`. Colours, normals and motion vectors are half floats
/// unless 32 bits are requested. Other AOVs need more precision and are always 32-bit floats.
///
/// # Errors
/// If pixels are not floats, or if the number of values of an AOV does not match the picture's size.
pub fn encode(picture: &Picture, encoding: &Encoding) -> Result<Vec<u8>, EncodeError> {
    let file = Mutex::default();
    ExrLayout::new(picture, encoding)?.write(encoding.threads, &file).map_err(EncodeError::encoder)?;
    Ok(unpoisoned(file.into_inner()))
}

/// Writes a file from blocks that the device has encoded.
pub fn write_blocks(
    picture: &Picture,
    blocks: &FileBlocks,
    compression: ExrCompression,
    file: &impl WriteAt,
) -> io::Result<()> {
    let places = blocks.rows.channels();
    let mut head = header::write(picture, blocks.rows.aovs, places.iter(), compression);
    let start = (head.len() + 8 * blocks.offsets.len()) as u64;
    for offset in &blocks.offsets {
        head.extend((start + offset).to_le_bytes());
    }
    file.write_at(0, &head)?;
    let [_, top] = picture.windows().origin;
    if top == 0 {
        return file.write_at(start, &blocks.bytes);
    }
    // Each block starts with the number of its first row. Devices count rows from the start of the region.
    let mut bytes = blocks.bytes.to_vec();
    for &offset in &blocks.offsets {
        let number = bytes.get_mut(offset as usize..).and_then(|block| block.first_chunk_mut::<4>());
        if let Some(number) = number {
            *number = i32::from_le_bytes(*number).wrapping_add(top).to_le_bytes();
        }
    }
    file.write_at(start, &bytes)
}

/// A picture to be encoded, divided into channels and blocks of rows.
pub struct ExrLayout<'a> {
    picture: &'a Picture<'a>,
    rows: FileRows,
    channels: Vec<Channel<'a>>,
    compression: ExrCompression,
    /// Number of blocks.
    count: usize,
}

/// State shared by the threads that encode blocks.
struct Blocks {
    /// Index of the first block that no thread has started.
    next: AtomicUsize,
    placed: Mutex<Placed>,
    /// Notified when a block has its offset.
    moved: Condvar,
}

struct Placed {
    /// Offset of each block in the file.
    offsets: Vec<u64>,
    /// End of the last of these blocks.
    end: u64,
    /// Set after an error: threads must not wait for offsets any more.
    failed: bool,
}

impl<'a> ExrLayout<'a> {
    pub fn new(picture: &'a Picture, encoding: &Encoding) -> Result<Self, EncodeError> {
        let aovs = picture.aovs.iter().map(|image| image.aov);
        let rows = encoding.exr_rows(aovs.collect(), picture.transparent);
        Ok(Self {
            picture,
            rows,
            channels: channels::of(picture, &rows)?,
            compression: encoding.compression,
            count: picture.height.div_ceil(rows.per_block) as usize,
        })
    }

    /// Writes the whole file on `threads` threads: first the blocks in row order, then everything before them.
    pub fn write(&self, threads: usize, file: &(impl WriteAt + Sync)) -> io::Result<()> {
        let places = self.channels.iter().map(|channel| &channel.place);
        let mut head = header::write(self.picture, self.rows.aovs, places, self.compression);
        let blocks = Blocks {
            next: AtomicUsize::new(0),
            placed: Mutex::new(Placed {
                offsets: Vec::with_capacity(self.count),
                end: (head.len() + 8 * self.count) as u64,
                failed: false,
            }),
            moved: Condvar::new(),
        };
        thread::scope(|scope| {
            let share = || self.share(&blocks, file);
            // Uses as many threads as can be started.
            let helpers: Vec<_> = (1..threads.min(self.count))
                .map_while(|_| thread::Builder::new().spawn_scoped(scope, share).ok())
                .collect();
            let own = share();
            let joined = helpers.into_iter().map(|helper| helper.join());
            joined.fold(own, |all, one| all.and(one.unwrap_or_else(|panic| resume_unwind(panic))))
        })?;
        for offset in &lock(&blocks.placed).offsets {
            head.extend(offset.to_le_bytes());
        }
        file.write_at(0, &head)
    }

    /// Encodes and writes blocks until none is left.
    fn share(&self, blocks: &Blocks, file: &impl WriteAt) -> io::Result<()> {
        let mut memory = Memory::take();
        let mut failing = Failing(Some(blocks));
        loop {
            let index = blocks.next.fetch_add(1, Ordering::Relaxed);
            if index >= self.count {
                break;
            }
            let per_block = self.rows.per_block as usize;
            let first = index * per_block;
            let rows = first..(first + per_block).min(self.picture.height as usize);
            let width = self.picture.width as usize;
            let [_, top] = self.picture.windows().origin;
            let number = top.wrapping_add(first as i32) as u32;
            make_block(&self.channels, width, (rows, number), self.compression, &mut memory);
            let Some(offset) = blocks.place(index, memory.block.len()) else {
                break;
            };
            file.write_at(offset, &memory.block)?;
        }
        failing.0 = None;
        memory.give_back();
        Ok(())
    }
}

/// A file whose bands of rows are encoded independently.
pub struct BandFile {
    head: Vec<u8>,
    /// Offset of each written block, and the end of the last one.
    offsets: Vec<u64>,
    end: u64,
}

impl BandFile {
    /// Starts the file of a picture with this size, metadata and `aovs`. Its pixels are added as bands.
    pub fn new(picture: &Picture, aovs: AovSet, encoding: &Encoding) -> Self {
        let rows = encoding.exr_rows(aovs, picture.transparent);
        let head = header::write(picture, aovs, rows.channels().iter(), encoding.compression);
        let count = u64::from(picture.height.div_ceil(rows.per_block));
        let end = head.len() as u64 + 8 * count;
        Self { head, offsets: Vec::new(), end }
    }

    /// Encodes the blocks of a band. `first` is the file row at which the band starts, which must be a multiple of the rows per block.
    pub fn blocks(band: &Picture, first: u32, encoding: &Encoding) -> Result<Vec<Vec<u8>>, EncodeError> {
        let aovs = band.aovs.iter().map(|image| image.aov);
        let rows = encoding.exr_rows(aovs.collect(), band.transparent);
        let channels = channels::of(band, &rows)?;
        let mut memory = Memory::take();
        let make = |start: u32| {
            let rows = start as usize..(start + rows.per_block).min(band.height) as usize;
            make_block(&channels, band.width as usize, (rows, first + start), encoding.compression, &mut memory);
            memory.block.clone()
        };
        let blocks = (0..band.height).step_by(rows.per_block as usize).map(make).collect();
        memory.give_back();
        Ok(blocks)
    }

    /// Writes the next blocks.
    pub fn add(&mut self, blocks: &[Vec<u8>], file: &impl WriteAt) -> io::Result<()> {
        for block in blocks {
            file.write_at(self.end, block)?;
            self.offsets.push(self.end);
            self.end += block.len() as u64;
        }
        Ok(())
    }

    /// Writes everything that comes before the blocks.
    pub fn finish(mut self, file: &impl WriteAt) -> io::Result<()> {
        self.head.extend(self.offsets.iter().flat_map(|offset| offset.to_le_bytes()));
        file.write_at(0, &self.head)
    }
}

/// Encodes a block of rows: the file row of its first row, its size, and the rows. Rows are stored without compression if compression does
/// not make them smaller.
fn make_block(
    channels: &[Channel],
    width: usize,
    (rows, number): (Range<usize>, u32),
    compression: ExrCompression,
    memory: &mut Memory,
) {
    let Memory { packer, block: out } = memory;
    out.clear();
    out.extend(number.to_le_bytes());
    out.extend([0; 4]);
    let body = out.len();
    match compression {
        ExrCompression::None => {}
        ExrCompression::Rle => rle::compress(packer.predict(channels, width, rows.clone()), out),
        ExrCompression::Zips | ExrCompression::Zip => deflate(packer.predict(channels, width, rows.clone()), out),
    }
    let plain = rows.len() * width * rows::bytes_of(channels);
    if compression == ExrCompression::None || out.len() - body >= plain {
        out.truncate(body);
        packer.append_plain(channels, width, rows, out);
    }
    let size = (out.len() - body) as u32;
    out[body - 4..body].copy_from_slice(&size.to_le_bytes());
}

/// Appends `data` as a zlib stream at the fastest level. The next level saves a twentieth of the size in more than twice the time.
fn deflate(data: &[u8], out: &mut Vec<u8>) {
    let mut encoder = ZlibEncoder::new(out, Compression::fast());
    // Writing to memory does not fail.
    let _ = encoder.write_all(data).and_then(|()| encoder.finish());
}

impl Blocks {
    /// Waits until all earlier blocks have their offsets, then returns the offset of this block, which has `length` bytes. None after an
    /// error in another block. The earlier blocks were started before this one and take about as long, so the wait is short.
    fn place(&self, index: usize, length: usize) -> Option<u64> {
        let waits = |placed: &mut Placed| placed.offsets.len() < index && !placed.failed;
        let mut placed = unpoisoned(self.moved.wait_while(lock(&self.placed), waits));
        if placed.failed {
            return None;
        }
        let offset = placed.end;
        placed.offsets.push(offset);
        placed.end += length as u64;
        drop(placed);
        self.moved.notify_all();
        Some(offset)
    }
}

/// A guard that ends the wait of other threads if it is dropped while armed, after an error or panic.
struct Failing<'a>(Option<&'a Blocks>);

impl Drop for Failing<'_> {
    fn drop(&mut self) {
        if let Some(blocks) = self.0 {
            lock(&blocks.placed).failed = true;
            blocks.moved.notify_all();
        }
    }
}

/// A file to which several threads write different parts.
pub trait WriteAt {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;
}

impl WriteAt for File {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        throng_base::system::write_all_at(self, bytes, offset)
    }
}

impl WriteAt for Mutex<Vec<u8>> {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut file = lock(self);
        let offset = offset as usize;
        if file.len() < offset + bytes.len() {
            file.resize(offset + bytes.len(), 0);
        }
        file[offset..offset + bytes.len()].copy_from_slice(bytes);
        Ok(())
    }
}

/// Buffers in which a thread encodes blocks. They are reused for other pictures: at many frames per second, allocation would take longer
/// than encoding.
#[derive(Default)]
struct Memory {
    packer: RowPacker,
    block: Vec<u8>,
}

/// Unused buffers, at most one per thread of rayon.
static SPARE: Mutex<Vec<Memory>> = Mutex::new(Vec::new());

impl Memory {
    fn take() -> Self {
        let mut spare = lock(&SPARE);
        spare.pop().unwrap_or_default()
    }

    fn give_back(self) {
        let mut spare = lock(&SPARE);
        if spare.len() < rayon::current_num_threads() {
            spare.push(self);
        }
    }
}

#[cfg(test)]
mod tests;
