//! PNG frames: 8-bit RGB, and the check that a file is a whole one.

use super::{OutputError, write_atomically};
use image::{
    ExtendedColorType, ImageEncoder, ImageError,
    codecs::png::{CompressionType, FilterType, PngEncoder},
};
use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};

/// The chunk that ends every PNG file: no data, name, checksum.
const END_CHUNK: [u8; 12] = [0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xae, 0x42, 0x60, 0x82];

/// Writes `rgb`, 3 bytes per pixel in sRGB, row-major from the top, so that `path` only ever shows a whole picture.
/// The folder of `path` must exist ([`super::prepare`] makes it).
pub fn write_png(path: &Path, width: u32, height: u32, rgb: &[u8]) -> Result<(), OutputError> {
    OutputError::check_pixels(path, width, height, 3, rgb)?;
    write_atomically(path, |writer| encode(writer, width, height, rgb))
}

/// Measured on a 1920x1080 frame of `dragon_of_dragons` with 1 sample and with 16: 12 ms for 4.1 and 3.7 MB. The Paeth
/// filter takes a little longer for 4.3 and 3.7 MB, the adaptive one 15 to 19 ms for 4.2 and 3.7 MB. Real deflate
/// saves a tenth (level 1: 37 to 50 ms, 3.7 and 3.2 MB; the default: 300 ms, 3.5 and 3.2 MB), for the time of cores that
/// have trees to build.
fn encode(writer: &mut dyn Write, width: u32, height: u32, rgb: &[u8]) -> io::Result<()> {
    PngEncoder::new_with_quality(writer, CompressionType::Fast, FilterType::Sub)
        .write_image(rgb, width, height, ExtendedColorType::Rgb8)
        .map_err(|error| match error {
            ImageError::IoError(error) => error,
            other => io::Error::other(other),
        })
}

/// Whether `path` is a PNG file that was written to its end. Reads 12 bytes and trusts the rest, since frames are
/// renamed into place; this catches copies cut short and power failures.
pub fn is_complete_png(path: &Path) -> bool {
    let read_end = || -> io::Result<[u8; 12]> {
        let mut file = File::open(path)?;
        let mut end = [0; 12];
        file.seek(SeekFrom::End(-12))?;
        file.read_exact(&mut end)?;
        Ok(end)
    };
    read_end().is_ok_and(|end| end == END_CHUNK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn pixels_survive_the_round_trip() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.png");
        let rgb: Vec<u8> = (0..5 * 3 * 3).map(|i| (i * 37 % 256) as u8).collect();
        write_png(&path, 5, 3, &rgb).unwrap();
        let read = image::open(&path).unwrap().into_rgb8();
        assert_eq!(read.dimensions(), (5, 3));
        assert_eq!(read.into_raw(), rgb);
    }

    #[test]
    fn a_wrong_number_of_pixels_is_an_error_and_writes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.png");
        for (width, height, bytes) in [(2, 2, 11), (0, 5, 0), (u32::MAX, u32::MAX, 12)] {
            assert!(write_png(&path, width, height, &vec![0; bytes]).is_err());
        }
        assert!(!path.exists());
    }

    #[test]
    fn only_a_whole_file_counts_as_complete() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.png");
        assert!(!is_complete_png(&path));
        assert!(!is_complete_png(dir.path()));
        write_png(&path, 8, 8, &[7; 192]).unwrap();
        assert!(is_complete_png(&path));
        let whole = fs::read(&path).unwrap();
        for len in [0, 5, whole.len() - 1] {
            fs::write(&path, &whole[..len]).unwrap();
            assert!(!is_complete_png(&path), "{len} bytes");
        }
    }
}
