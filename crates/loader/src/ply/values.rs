//! Reads the numbers after the header of a PLY file.

use super::{
    Fault,
    header::{Encoding, Header, Number},
};
use crate::{meshes::FileLocation, text};

/// The rest of a file.
pub struct Values<'a> {
    file: &'a [u8],
    encoding: Encoding,
    /// Number of bytes read so far.
    at: usize,
    /// Line number of `at` in a text file.
    line: usize,
}

impl<'a> Values<'a> {
    pub fn new(file: &'a [u8], header: &Header) -> Self {
        Self { file, encoding: header.encoding, at: header.bytes, line: header.lines + 1 }
    }

    /// Number of unread bytes.
    pub fn left(&self) -> usize {
        self.file.len() - self.at
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
        match self.encoding {
            Encoding::Ascii => self.word(),
            encoding => self.bytes(number, encoding == Encoding::BigEndian),
        }
    }

    /// The next number, as the length of a list with items of type `item`.
    ///
    /// # Errors
    /// As [`Values::next`]. Also if the rest of the file is too short for the list.
    pub fn length(&mut self, count: Number, item: Number) -> Result<usize, Fault> {
        let length = self.next(count)?;
        let least = if self.encoding == Encoding::Ascii { 1 } else { item.size() };
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
        if self.encoding == Encoding::Ascii {
            return (0..count).try_for_each(|_| self.word().map(drop));
        }
        match count.checked_mul(item.size()).filter(|&bytes| bytes <= self.left()) {
            Some(bytes) => self.at += bytes,
            None => return Err(self.too_short()),
        }
        Ok(())
    }

    fn too_short(&self) -> Fault {
        self.fault("the file ends too early: it is cut short, or the counts in its header are wrong")
    }

    fn bytes(&mut self, number: Number, big: bool) -> Result<f64, Fault> {
        let mut bytes = [0; 8];
        let size = number.size();
        let Some(taken) = self.file.get(self.at..self.at + size) else {
            return Err(self.too_short());
        };
        bytes[..size].copy_from_slice(taken);
        if big {
            bytes[..size].reverse();
        }
        self.at += size;
        let [a, b, c, d, ..] = bytes;
        Ok(match number {
            Number::I8 => i8::from_le_bytes([a]).into(),
            Number::U8 => a.into(),
            Number::I16 => i16::from_le_bytes([a, b]).into(),
            Number::U16 => u16::from_le_bytes([a, b]).into(),
            Number::I32 => i32::from_le_bytes([a, b, c, d]).into(),
            Number::U32 => u32::from_le_bytes([a, b, c, d]).into(),
            Number::F32 => f32::from_le_bytes([a, b, c, d]).into(),
            Number::F64 => f64::from_le_bytes(bytes),
        })
    }

    fn word(&mut self) -> Result<f64, Fault> {
        let rest = &self.file[self.at..];
        let start = rest.iter().position(|b| !b.is_ascii_whitespace()).ok_or_else(|| self.too_short())?;
        let end = rest[start..].iter().position(u8::is_ascii_whitespace).map_or(rest.len(), |n| start + n);
        self.line += text::line_ends(&rest[..start]);
        self.at += end;
        let word = String::from_utf8_lossy(&rest[start..end]);
        text::number(&word, f64::NAN).ok_or_else(|| self.fault(format!("`{word}` is not a number")))
    }
}
