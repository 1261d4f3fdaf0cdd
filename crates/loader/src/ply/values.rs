//! Reads the numbers after the header of a PLY file.

use super::{
    Fault,
    header::{Encoding, Header, Number},
};
use crate::{files, meshes::FileLocation, pieces::Pieces, text};
use std::io::Read;

/// The rest of a file.
pub struct Values<R> {
    file: Pieces<R>,
    encoding: Encoding,
    /// Number of bytes read so far.
    at: usize,
    /// Line number of `at` in a text file.
    line: usize,
}

impl<R: Read> Values<R> {
    /// The values after the header, which was read from `file`.
    pub fn new(file: Pieces<R>, header: &Header) -> Self {
        Self { file, encoding: header.encoding, at: header.bytes, line: header.lines + 1 }
    }

    /// Number of unread bytes.
    pub fn left(&self) -> usize {
        usize::try_from(self.file.left()).unwrap_or(usize::MAX)
    }

    /// Location of the value read last.
    pub fn place(&self) -> FileLocation {
        match self.encoding {
            Encoding::Ascii => FileLocation::Line(self.line),
            _ => FileLocation::Byte(self.at),
        }
    }

    /// An error at the value read last.
    pub fn fault(&self, message: impl Into<String>) -> Fault {
        Fault { place: self.place(), message: message.into() }
    }

    /// The next number, which a `f64` represents exactly.
    ///
    /// # Errors
    /// If the file ends, or if the next word is not a number.
    pub fn next(&mut self, number: Number) -> Result<f64, Fault> {
        if self.is_text() {
            return self.word();
        }
        let (size, is_big) = (number.size(), self.is_big());
        let Some(bytes) = self.ready(size)?.get(..size) else {
            return Err(self.too_short());
        };
        let value = number.value(bytes, is_big);
        self.advance(size);
        Ok(value)
    }

    /// Whether the file is binary with the highest byte of a number first.
    pub fn is_big(&self) -> bool {
        self.encoding == Encoding::BigEndian
    }

    /// Whether the file is text.
    pub fn is_text(&self) -> bool {
        self.encoding == Encoding::Ascii
    }

    /// The next `count` rows of `size` bytes each, or as many as are left in the file; none of a text file.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn rows(&mut self, count: usize, size: usize) -> Result<&[u8], Fault> {
        if self.is_text() {
            return Ok(&[]);
        }
        let bytes = self.ready(count * size)?;
        let whole = (bytes.len() / size).min(count) * size;
        Ok(&bytes[..whole])
    }

    /// Counts the next `bytes` of a binary file as read, which [`Self::rows`] has returned.
    pub fn advance(&mut self, bytes: usize) {
        self.file.advance(bytes);
        self.at += bytes;
    }

    /// The next number, as the length of a list with items of type `item`.
    ///
    /// # Errors
    /// As [`Values::next`]. Also if the rest of the file is too short for the list.
    pub fn length(&mut self, count: Number, item: Number) -> Result<usize, Fault> {
        let length = self.next(count)?;
        let least = if self.is_text() { 1 } else { item.size() };
        let most = (self.left() / least) as f64;
        if length < 0.0 || length.fract() != 0.0 || length > most {
            return Err(self.fault(format!("a list of {length} items does not fit into the rest of the file")));
        }
        Ok(length as usize)
    }

    /// Skips `count` numbers.
    ///
    /// # Errors
    /// If the file ends.
    pub fn skip(&mut self, count: usize, item: Number) -> Result<(), Fault> {
        if self.is_text() {
            return (0..count).try_for_each(|_| self.word().map(drop));
        }
        if count.checked_mul(item.size()).is_none_or(|bytes| bytes > self.left()) {
            return Err(self.too_short());
        }
        let mut missing = count * item.size();
        while missing > 0 {
            let some = self.ready(1)?.len().min(missing);
            if some == 0 {
                return Err(self.too_short());
            }
            self.advance(some);
            missing -= some;
        }
        Ok(())
    }

    fn ready(&mut self, wanted: usize) -> Result<&[u8], Fault> {
        let place = self.place();
        self.file.ready(wanted).map_err(|e| Fault { place, message: files::describe(&e) })
    }

    fn too_short(&self) -> Fault {
        self.fault("the file ends too early: it is cut short, or the counts in its header are wrong")
    }

    fn word(&mut self) -> Result<f64, Fault> {
        let place = self.place();
        let (word, lines) = self.file.word().map_err(|e| Fault { place, message: files::describe(&e) })?;
        if word.is_empty() {
            return Err(self.too_short());
        }
        self.line += lines;
        let word = String::from_utf8_lossy(word);
        let fault = || Fault::line(self.line, format!("`{word}` is not a number"));
        text::number(&word, f64::NAN).ok_or_else(fault)
    }
}
