//! Bytes of a buffer, in memory or still in their file. Large arrays are converted from a file in pieces and never held as a whole.

use std::{borrow::Cow, fs::File, io, ops::Range};
use throng_base::files::read_exact_at;

/// Number of bytes that are searched at once.
const SEARCHED: u64 = 1 << 16;

/// A range of bytes.
#[derive(Clone, Copy, Debug)]
pub enum Bytes<'a> {
    Memory(&'a [u8]),
    File { file: &'a File, start: u64, length: u64 },
}

impl<'a> Bytes<'a> {
    /// Number of bytes.
    pub fn len(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::File { length, .. } => *length,
        }
    }

    /// The bytes of a range; None if it exceeds these.
    pub fn part(&self, range: Range<u64>) -> Option<Self> {
        if range.start > range.end || range.end > self.len() {
            return None;
        }
        Some(match *self {
            Self::Memory(bytes) => Self::Memory(&bytes[range.start as usize..range.end as usize]),
            Self::File { file, start, .. } => {
                Self::File { file, start: start + range.start, length: range.end - range.start }
            }
        })
    }

    /// All bytes, in memory.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(&self) -> io::Result<Cow<'a, [u8]>> {
        match *self {
            Self::Memory(bytes) => Ok(Cow::Borrowed(bytes)),
            Self::File { file, start, length } => {
                let mut bytes = vec![0; usize::try_from(length).map_err(|_| io::ErrorKind::OutOfMemory)?];
                read_exact_at(file, &mut bytes, start)?;
                Ok(Cow::Owned(bytes))
            }
        }
    }

    /// Whether all bytes are 0.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn are_zero(&self) -> io::Result<bool> {
        for start in (0..self.len()).step_by(SEARCHED as usize) {
            if let Some(some) = self.part(start..self.len().min(start + SEARCHED))
                && some.read()?.iter().any(|&byte| byte != 0)
            {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The bytes of a whole buffer.
pub enum Buffer<'a> {
    /// Of the model's own file.
    Chunk(Bytes<'a>),
    Memory(Vec<u8>),
    File(File, u64),
}

impl Buffer<'_> {
    /// The bytes.
    pub fn bytes(&self) -> Bytes<'_> {
        match self {
            Self::Chunk(bytes) => *bytes,
            Self::Memory(bytes) => Bytes::Memory(bytes),
            Self::File(file, length) => Bytes::File { file, start: 0, length: *length },
        }
    }
}
