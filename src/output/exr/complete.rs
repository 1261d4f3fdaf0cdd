//! Whether a file is a whole one.

use super::header::MAGIC;
use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom},
    path::Path,
};

/// In the version: the picture is stored in tiles.
const TILED: u32 = 0x200;

/// Whether `path` is an OpenEXR file of one part that was written to its end: its table of blocks leads to the end of the file.
pub fn is_complete_exr(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| {
        let length = file.metadata().map_or(0, |data| data.len());
        blocks_end(BufReader::new(file)).is_ok_and(|end| end == Some(length))
    })
}

/// Where the last block ends (OpenEXR File Layout: magic, version, attributes up to an empty name, a table of offsets, blocks that
/// begin with where they lie in the picture and their size). None if this is no such file.
fn blocks_end(mut file: impl BufRead + Seek) -> io::Result<Option<u64>> {
    if bytes(&mut file)? != MAGIC {
        return Ok(None);
    }
    // Blocks of rows name the first of these; tiles their place and their level.
    let tiled = u32::from_le_bytes(bytes(&mut file)?) & TILED != 0;
    let place = if tiled { 16 } else { 4 };
    while !text(&mut file)?.is_empty() {
        text(&mut file)?;
        let size = u32::from_le_bytes(bytes(&mut file)?);
        file.seek_relative(size.into())?;
    }
    let (mut first, mut last) = (u64::MAX, 0);
    // The table ends where the first block begins.
    while file.stream_position()? < first {
        let offset = u64::from_le_bytes(bytes(&mut file)?);
        (first, last) = (first.min(offset), last.max(offset));
    }
    file.seek(SeekFrom::Start(last.saturating_add(place)))?;
    let size = u32::from_le_bytes(bytes(&mut file)?);
    Ok(Some(last.saturating_add(place + 4 + u64::from(size))))
}

/// Up to a zero byte; names have at most 255 bytes.
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
