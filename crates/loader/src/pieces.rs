//! Reading a file from its beginning to its end, a piece at a time.

use crate::text;
use std::io::{self, Read};

/// Minimum number of bytes that are read at once.
const PIECE: usize = 1 << 18;

/// Number of bytes that are searched at once for the end of a word.
const LOOKED_AT: usize = 64;

/// The unread rest of a file.
pub struct Pieces<R> {
    source: R,
    /// Bytes that are not in `buffer` yet.
    ahead: u64,
    buffer: Vec<u8>,
    /// Index in `buffer` of the first unread byte.
    start: usize,
}

impl<'a> Pieces<&'a [u8]> {
    /// A reader of bytes in memory.
    pub fn of(bytes: &'a [u8]) -> Self {
        Self::new(bytes, bytes.len() as u64)
    }
}

impl<R: Read> Pieces<R> {
    /// Creates a reader of `length` bytes.
    pub fn new(source: R, length: u64) -> Self {
        Self { source, ahead: length, buffer: Vec::new(), start: 0 }
    }

    /// Number of unread bytes.
    pub fn left(&self) -> u64 {
        self.ahead + (self.buffer.len() - self.start) as u64
    }

    /// At least the next `wanted` bytes, or all that are left.
    ///
    /// # Errors
    /// If reading fails. A file that has become shorter only ends earlier.
    pub fn ready(&mut self, wanted: usize) -> io::Result<&[u8]> {
        if self.buffer.len() - self.start < wanted && self.ahead > 0 {
            self.read_on(wanted)?;
        }
        Ok(&self.buffer[self.start..])
    }

    /// Counts the next `count` bytes, which must be [`Self::ready`], as read.
    pub fn advance(&mut self, count: usize) {
        self.start += count;
    }

    /// Reads the next word between white space, which is empty at the end of the file, and counts the line ends before it.
    ///
    /// # Errors
    /// If reading fails.
    pub fn word(&mut self) -> io::Result<(&[u8], usize)> {
        let mut wanted = LOOKED_AT;
        loop {
            let rest = self.ready(wanted)?;
            let start = rest.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(rest.len());
            let length = rest[start..].iter().position(u8::is_ascii_whitespace);
            if length.is_some() || rest.len() < wanted {
                let (lines, length) = (text::line_ends(&rest[..start]), length.unwrap_or(rest.len() - start));
                self.advance(start + length);
                return Ok((&self.buffer[self.start - length..self.start], lines));
            }
            wanted = 2 * rest.len();
        }
    }

    /// Reads the next line, without its end.
    ///
    /// # Errors
    /// If reading fails.
    pub fn line(&mut self) -> io::Result<&[u8]> {
        let mut wanted = 4 * LOOKED_AT;
        loop {
            let rest = self.ready(wanted)?;
            let (line, after) = text::split_line(rest);
            let (length, read) = (line.len(), rest.len() - after.len());
            // After a CR, a LF may follow.
            if rest.len() < wanted || length + 1 < rest.len() {
                self.advance(read);
                return Ok(&self.buffer[self.start - read..][..length]);
            }
            wanted = 2 * rest.len();
        }
    }

    fn read_on(&mut self, wanted: usize) -> io::Result<()> {
        self.buffer.drain(..self.start);
        self.start = 0;
        let missing = (wanted - self.buffer.len()).max(PIECE).min(usize::try_from(self.ahead).unwrap_or(usize::MAX));
        self.buffer.reserve_exact(missing);
        let read = self.source.by_ref().take(missing as u64).read_to_end(&mut self.buffer)?;
        self.ahead = if read < missing { 0 } else { self.ahead - read as u64 };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_in_order_and_no_further_than_its_length() {
        let bytes: Vec<u8> = (0..3 * PIECE + 5).map(|i| (i % 251) as u8).collect();
        let mut pieces = Pieces::new(&bytes[..], bytes.len() as u64 - 1);
        let mut read = Vec::new();
        while pieces.left() > 0 {
            let some = pieces.ready(7).unwrap_or_else(|e| panic!("{e}"));
            let count = some.len().min(PIECE / 2 + 3);
            read.extend_from_slice(&some[..count]);
            pieces.advance(count);
        }
        assert!(read == bytes[..bytes.len() - 1]);
    }

    #[test]
    fn words_and_lines_are_counted_across_pieces() {
        let text = format!("\r\n{}\r\nb\rc{}\n", "a".repeat(PIECE - 3), " ".repeat(PIECE));
        let mut lines = Pieces::of(text.as_bytes());
        let ends = text.find('b').unwrap_or_default();
        assert_eq!([0, 1].map(|_| lines.line().map_or(0, <[u8]>::len)), [0, ends - 4]);
        assert_eq!(lines.line().ok(), Some(&b"b"[..]));
        let mut pieces = Pieces::of(text.as_bytes());
        let mut next = || pieces.word().map(|(word, lines)| (word.len(), lines)).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!([next(), next(), next(), next(), next()], [(PIECE - 3, 1), (1, 1), (1, 1), (0, 1), (0, 0)]);
    }

    #[test]
    fn a_file_that_has_become_shorter_ends() {
        let mut pieces = Pieces::new(&b"abc"[..], 1 << 40);
        assert_eq!(pieces.ready(7).ok(), Some(&b"abc"[..]));
        assert_eq!(pieces.left(), 3);
    }
}
