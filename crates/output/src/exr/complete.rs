//! Checks that a file is complete, and reads its metadata.

use super::header::MAGIC;
use crate::Texts;
use std::{
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom},
    path::Path,
};
use throng_base::files::open_regular;

/// Version flag of tiled pictures.
const TILED: u32 = 0x200;

/// Maximum number of bytes of an attribute that is read. All relevant attributes are shorter.
const LONGEST: u32 = 1 << 16;

/// Whether `path` is a complete single-part OpenEXR file: the last block in its offset table ends at the end of the file.
pub fn is_complete_exr(path: &Path) -> bool {
    let ends_there = || {
        let (file, length) = open_regular(path)?;
        let mut file = BufReader::new(file);
        let Some(header) = header(&mut file)? else {
            return Ok(false);
        };
        Ok::<_, io::Error>(blocks_end(&mut file, header.tiled)? == length)
    };
    ends_there().unwrap_or(false)
}

/// Reads the size of the picture, and its metadata; none if this is not an OpenEXR file.
pub fn read_origin(path: &Path) -> Option<((u32, u32), Texts)> {
    let (file, _) = open_regular(path).ok()?;
    let header = header(&mut BufReader::new(file)).ok()??;
    Some((header.size, header.texts))
}

/// The attributes of a file's header that are used here.
struct Header {
    /// Whether blocks are tiles. A tile starts with its position and level, a block of rows with the number of its first row.
    tiled: bool,
    size: (u32, u32),
    texts: Texts,
}

/// Reads the magic number, the version, and attributes up to an empty name (OpenEXR File Layout). None if this is not an OpenEXR file.
fn header(file: &mut (impl BufRead + Seek)) -> io::Result<Option<Header>> {
    if bytes(file)? != MAGIC {
        return Ok(None);
    }
    let mut header = Header { tiled: u32::from_le_bytes(bytes(file)?) & TILED != 0, size: (0, 0), texts: Texts::new() };
    loop {
        let name = text(file)?;
        if name.is_empty() {
            return Ok(Some(header));
        }
        text(file)?;
        let size = u32::from_le_bytes(bytes(file)?);
        if size > LONGEST {
            file.seek_relative(size.into())?;
            continue;
        }
        let mut value = vec![0; size as usize];
        file.read_exact(&mut value)?;
        header.take(&name, &value);
    }
}

impl Header {
    fn take(&mut self, name: &[u8], value: &[u8]) {
        let text = || String::from_utf8_lossy(value).into_owned();
        let number = || value.try_into().map(u32::from_le_bytes).unwrap_or_default();
        let seconds = || value.try_into().map(f64::from_le_bytes).unwrap_or_default();
        let (name, text) = match name {
            b"dataWindow" => return self.size = window_size(value),
            b"software" => ("Software", text()),
            b"sceneHash" => ("Scene hash", text()),
            b"settings" => ("Settings", text()),
            b"frame" => ("Frame", number().to_string()),
            b"seconds" => ("Seconds", seconds().to_string()),
            _ => return,
        };
        self.texts.insert(name.to_owned(), text);
    }
}

/// Size of a window, given its first and last column and row.
fn window_size(value: &[u8]) -> (u32, u32) {
    let numbers = value.as_chunks().0.iter().map(|&bytes| i32::from_le_bytes(bytes));
    let &[left, top, right, bottom] = &numbers.collect::<Vec<_>>()[..] else {
        return (0, 0);
    };
    (right.abs_diff(left).saturating_add(1), bottom.abs_diff(top).saturating_add(1))
}

/// Returns the end of the last block. Reads the offset table, and the block's header, which has its position and size.
fn blocks_end(file: &mut (impl BufRead + Seek), tiled: bool) -> io::Result<u64> {
    let place = if tiled { 16 } else { 4 };
    let (mut first, mut last) = (u64::MAX, 0);
    // The table ends where the first block starts.
    while file.stream_position()? < first {
        let offset = u64::from_le_bytes(bytes(file)?);
        (first, last) = (first.min(offset), last.max(offset));
    }
    file.seek(SeekFrom::Start(last.saturating_add(place)))?;
    let size = u32::from_le_bytes(bytes(file)?);
    Ok(last.saturating_add(place + 4 + u64::from(size)))
}

/// Reads a zero-terminated text of at most 255 bytes.
fn text(file: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    file.take(256).read_until(0, &mut text)?;
    match text.pop() {
        Some(0) => Ok(text),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

fn bytes<const N: usize>(file: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}
