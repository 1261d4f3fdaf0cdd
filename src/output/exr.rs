//! OpenEXR frames: 32-bit float RGB of linear radiance, and the check that a file is a whole one.

use super::write_atomically;
use crate::output::OutputError;
use image::{ExtendedColorType, ImageEncoder, ImageError, codecs::openexr::OpenExrEncoder};
use std::{
    fs::File,
    io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom},
    path::Path,
};

/// What every OpenEXR file begins with.
const MAGIC: [u8; 4] = [0x76, 0x2f, 0x31, 0x01];

/// In the version: the picture is stored in tiles.
const TILED: u32 = 0x200;

/// Writes `rgb`, three floats in native byte order per pixel, row-major from the top, so that `path` only ever shows a
/// whole picture. The folder of `path` must exist.
pub fn write_exr(path: &Path, width: u32, height: u32, rgb: &[u8]) -> Result<(), OutputError> {
    OutputError::check_pixels(path, width, height, 12, rgb)?;
    // The encoder goes back to fill in where the rows are.
    let mut file = Cursor::new(Vec::new());
    let encoded =
        OpenExrEncoder::new(&mut file).write_image(rgb, width, height, ExtendedColorType::Rgb32F);
    let failed = |error| OutputError::File {
        path: path.to_owned(),
        error,
    };
    encoded.map_err(|error| match error {
        ImageError::IoError(error) => failed(error),
        other => failed(io::Error::other(other)),
    })?;
    write_atomically(path, |writer| writer.write_all(file.get_ref()))
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn floats_survive_the_round_trip() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.exr");
        let rgb: Vec<f32> = (0..50 * 37 * 3).map(|i| i as f32 * 0.37 - 20.0).collect();
        write_exr(&path, 50, 37, bytemuck::cast_slice(&rgb)).unwrap();
        let read = image::open(&path).unwrap().into_rgb32f();
        assert_eq!(read.dimensions(), (50, 37));
        assert_eq!(read.into_raw(), rgb);
    }

    #[test]
    fn only_a_whole_file_counts_as_complete() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.exr");
        assert!(!is_complete_exr(&path));
        write_exr(&path, 70, 80, &[0; 70 * 80 * 12]).unwrap();
        assert!(is_complete_exr(&path));
        let whole = fs::read(&path).unwrap();
        for len in [0, 7, 100, whole.len() / 2, whole.len() - 1] {
            fs::write(&path, &whole[..len]).unwrap();
            assert!(!is_complete_exr(&path), "{len} bytes");
        }
        fs::write(&path, vec![0; whole.len()]).unwrap();
        assert!(!is_complete_exr(&path));
    }
}
