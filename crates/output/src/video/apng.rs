//! Animated PNG files (PNG specification, third edition). Frames are lossless. Each is encoded as a separate picture, and this module joins
//! them.

use super::{VideoSettings, duration};
use crate::{InOrder, Metadata, OutputError, PartialFile, Sink, png::encode};
use std::{
    io::{self, BufWriter, ErrorKind, Write},
    path::{Path, PathBuf},
};

const SIGNATURE: usize = 8;
/// Units of duration per second.
const PER_SECOND: u16 = 10_000;

pub fn open(path: PathBuf, settings: &VideoSettings) -> Result<InOrder, OutputError> {
    let opened = Animation::create(&path, settings);
    let animation = opened.map_err(|error| OutputError::File { path: path.clone(), error })?;
    Ok(InOrder::new(path, Box::new(encode), Box::new(animation)))
}

struct Animation {
    file: PartialFile,
    settings: VideoSettings,
    frames: usize,
    /// Sequence number of the next chunk that requires one.
    sequence: u32,
}

impl Animation {
    fn create(path: &Path, settings: &VideoSettings) -> io::Result<Self> {
        Ok(Self { file: PartialFile::create(path)?, settings: settings.clone(), frames: 0, sequence: 0 })
    }

    fn next_number(&mut self) -> [u8; 4] {
        let number = self.sequence;
        self.sequence += 1;
        number.to_be_bytes()
    }

    /// Returns everything before the pixels of the first picture, with a chunk that marks the file as an animation.
    fn start(&self, picture: &[u8]) -> Vec<u8> {
        let mut start = picture[..SIGNATURE].to_vec();
        let chunks = Chunks(&picture[SIGNATURE..]);
        for chunk in chunks.take_while(|chunk| chunk.name != *b"IDAT") {
            append_chunk(&mut start, chunk.name, &[chunk.data]);
            if chunk.name == *b"IHDR" {
                // Zero: the animation repeats forever.
                let count = (self.settings.frames as u32).to_be_bytes();
                append_chunk(&mut start, *b"acTL", &[&count, &[0; 4]]);
            }
        }
        start
    }

    /// Returns the chunk with a frame's position and duration.
    fn control(&mut self) -> Vec<u8> {
        let settings = &self.settings;
        let (shown, per_second) = match settings.rate.parts() {
            // The exact fraction, if both numbers fit.
            (frames, seconds) if frames.max(seconds) <= u16::MAX.into() => (seconds, frames as u16),
            _ => (duration(self.frames, settings.rate, PER_SECOND.into()), PER_SECOND),
        };
        let shown = u16::try_from(shown).unwrap_or(u16::MAX).to_be_bytes();
        let (width, height) = (settings.width.to_be_bytes(), settings.height.to_be_bytes());
        let number = self.next_number();
        let mut control = Vec::new();
        // The frame is at the top left corner and stays until the next one replaces it.
        let parts: [&[u8]; 7] = [&number, &width, &height, &[0; 8], &shown, &per_second.to_be_bytes(), &[0, 0]];
        append_chunk(&mut control, *b"fcTL", &parts);
        control
    }
}

struct Chunk<'a> {
    name: [u8; 4],
    data: &'a [u8],
}

/// The chunks of a file that this program has encoded.
struct Chunks<'a>(&'a [u8]);

impl<'a> Iterator for Chunks<'a> {
    type Item = Chunk<'a>;

    fn next(&mut self) -> Option<Chunk<'a>> {
        let (length, rest) = self.0.split_first_chunk()?;
        let (&name, rest) = rest.split_first_chunk()?;
        let (data, rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
        self.0 = rest.get(4..)?;
        Some(Chunk { name, data })
    }
}

/// Appends a chunk: length, name, data, checksum.
fn append_chunk(out: &mut Vec<u8>, name: [u8; 4], parts: &[&[u8]]) {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    out.extend((length as u32).to_be_bytes());
    let start = out.len();
    out.extend(name);
    parts.iter().for_each(|part| out.extend_from_slice(part));
    let checksum = crc32fast::hash(&out[start..]);
    out.extend(checksum.to_be_bytes());
}

impl Sink for Animation {
    fn add(&mut self, picture: Vec<u8>, _: &Metadata) -> io::Result<()> {
        let Some(body) = picture.get(SIGNATURE..) else {
            return Err(ErrorKind::InvalidData.into());
        };
        let mut out = match self.frames {
            0 => self.start(&picture),
            _ => Vec::new(),
        };
        out.extend(self.control());
        for chunk in Chunks(body).filter(|chunk| chunk.name == *b"IDAT") {
            match self.frames {
                0 => append_chunk(&mut out, chunk.name, &[chunk.data]),
                _ => append_chunk(&mut out, *b"fdAT", &[&self.next_number(), chunk.data]),
            }
        }
        self.frames += 1;
        BufWriter::new(self.file.file()).write_all(&out)
    }

    fn finish(&mut self) -> io::Result<()> {
        let mut end = Vec::new();
        append_chunk(&mut end, *b"IEND", &[]);
        self.file.file().write_all(&end)?;
        self.file.persist()
    }
}
