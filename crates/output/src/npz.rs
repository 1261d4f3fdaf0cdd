//! Frames as arrays of numpy in one file: a ZIP archive of NPY files, which `numpy.load` opens (NPZ).
//!
//! Entries are stored without compression (PKWARE's APPNOTE 6.3.9, sections 4.3 to 4.5), so that arrays can be mapped. The first entry,
//! `metadata.json`, has the origin of the picture.

use crate::{
    EncodeError, Picture, Pixels, Texts,
    labels::{NpyArray, encode_npy},
    picture::{Calibration, with_alpha},
};
use crc32fast::hash;
use serde_json::json;
use std::{
    collections::BTreeMap,
    io::{Read, Seek, SeekFrom},
    path::Path,
};
use throng_base::files::open_regular;
use throng_picture::aov::AovImage;

/// Name of the first entry.
const METADATA: &str = "metadata.json";
/// Length of an entry's header without its name.
const LOCAL_HEADER: usize = 30;
/// Length of the record at the end of the archive.
const END_RECORD: usize = 22;
/// Signature of an entry's header.
const LOCAL: [u8; 4] = *b"PK\x03\x04";
/// Signature of an entry's line in the directory.
const CENTRAL: [u8; 4] = *b"PK\x01\x02";
/// Signature of the record at the end.
const END: [u8; 4] = *b"PK\x05\x06";
/// Version of the format that readers need, and the date 1980-01-01 at midnight: archives are reproducible.
const VERSION: [u8; 2] = 20u16.to_le_bytes();
const TIME_AND_DATE: [u8; 4] = [0, 0, 0x21, 0];

/// Encodes a picture. Arrays have rows from the top: `linear` (radiance, float32) or `srgb` (uint8 or uint16) with alpha as fourth channel if
/// the picture is transparent, both if `display` has the display colours of radiance; each AOV by its name (float32; mattes as pairs of a hash
/// and a share); `K` and `world_from_camera` of the camera, with `distortion` if there is any.
///
/// # Errors
/// If the file would be larger than 4 GiB.
pub fn encode(picture: &Picture) -> Result<Vec<u8>, EncodeError> {
    let mut archive = Archive::default();
    let (width, height) = (picture.width as usize, picture.height as usize);
    let metadata = json!({ "width": width, "height": height, "texts": BTreeMap::from(picture.metadata.texts()) });
    archive.add(METADATA, metadata.to_string().as_bytes())?;
    let alpha = picture.alpha();
    let colors = [height, width, if alpha.is_some() { 4 } else { 3 }];
    match &picture.pixels {
        Pixels::U8(rgb) => archive.array("srgb", &colors, NpyArray::U8(&bytes_with(rgb, alpha)))?,
        Pixels::U16(rgb) => {
            let all =
                alpha.map_or_else(|| rgb.to_vec(), |alpha| with_alpha(rgb, alpha, |a| (a * 65_535.0).round() as u16));
            archive.array("srgb", &colors, NpyArray::U16(&all))?;
        }
        Pixels::F32(rgb) => {
            let all = alpha.map_or_else(|| rgb.to_vec(), |alpha| with_alpha(rgb, alpha, |a| a));
            archive.array("linear", &colors, NpyArray::F32(&all))?;
        }
    }
    if let Some(display) = picture.display {
        archive.array("srgb", &colors, NpyArray::U8(&bytes_with(display, alpha)))?;
    }
    for AovImage { aov, values } in picture.aovs {
        let channels = aov.channels();
        let shape: &[usize] = match channels {
            1 => &[height, width],
            _ if aov.is_matte() => &[height, width, channels / 2, 2],
            _ => &[height, width, channels],
        };
        archive.array(aov.name(), shape, NpyArray::F32(values))?;
    }
    if let Some(calibration) = &picture.metadata.calibration {
        archive.camera(calibration)?;
    }
    archive.finish()
}

/// 8-bit colours, with alpha if there is one.
fn bytes_with(rgb: &[u8], alpha: Option<&[f32]>) -> Vec<u8> {
    alpha.map_or_else(|| rgb.to_vec(), |alpha| with_alpha(rgb, alpha, |a| (a * 255.0).round() as u8))
}

/// An archive under construction.
#[derive(Default)]
struct Archive {
    bytes: Vec<u8>,
    directory: Vec<u8>,
    count: u16,
}

impl Archive {
    fn camera(&mut self, calibration: &Calibration) -> Result<(), EncodeError> {
        self.array("world_from_camera", &[4, 4], NpyArray::F64(&calibration.world_from_camera))?;
        if let Some(k) = &calibration.k {
            self.array("K", &[3, 3], NpyArray::F64(k))?;
        }
        match &calibration.distortion[..] {
            [] => Ok(()),
            distortion => self.array("distortion", &[distortion.len()], NpyArray::F64(distortion)),
        }
    }

    fn array(&mut self, name: &str, shape: &[usize], array: NpyArray) -> Result<(), EncodeError> {
        self.add(&format!("{name}.npy"), &encode_npy(shape, array))
    }

    /// Adds an entry.
    fn add(&mut self, name: &str, content: &[u8]) -> Result<(), EncodeError> {
        let offset = short(self.bytes.len())?;
        let size = short(content.len())?;
        let mut shared = VERSION.to_vec();
        // No flags, and stored as it is.
        shared.extend([0; 4]);
        shared.extend(TIME_AND_DATE);
        shared.extend([hash(content), size, size].map(u32::to_le_bytes).as_flattened());
        shared.extend((name.len() as u16).to_le_bytes());
        shared.extend([0; 2]);
        self.bytes.extend(LOCAL);
        self.bytes.extend(&shared);
        self.bytes.extend(name.as_bytes());
        self.bytes.extend(content);
        self.directory.extend(CENTRAL);
        self.directory.extend(VERSION);
        self.directory.extend(shared);
        // No comment, the first disk, and no attributes.
        self.directory.extend([0; 10]);
        self.directory.extend(offset.to_le_bytes());
        self.directory.extend(name.as_bytes());
        self.count += 1;
        Ok(())
    }

    /// Ends the archive with its directory.
    fn finish(mut self) -> Result<Vec<u8>, EncodeError> {
        let (start, size) = (short(self.bytes.len())?, short(self.directory.len())?);
        self.bytes.extend(self.directory);
        self.bytes.extend(END);
        self.bytes.extend([0; 4]);
        self.bytes.extend([self.count; 2].map(u16::to_le_bytes).as_flattened());
        self.bytes.extend([size, start].map(u32::to_le_bytes).as_flattened());
        self.bytes.extend([0; 2]);
        Ok(self.bytes)
    }
}

/// A size or position in an archive.
fn short(size: usize) -> Result<u32, EncodeError> {
    let large =
        || EncodeError::Encoder("it would be larger than 4 GiB; choose a smaller --size or fewer --layers".to_owned());
    u32::try_from(size).map_err(|_| large())
}

/// Whether `path` is a complete archive: its directory ends where the file does.
pub fn is_complete_npz(path: &Path) -> bool {
    let end = || {
        let (mut file, length) = open_regular(path).ok()?;
        let mut end = [0; END_RECORD];
        file.seek(SeekFrom::Start(length.checked_sub(END_RECORD as u64)?)).ok()?;
        file.read_exact(&mut end).ok()?;
        let number = |at: usize| u64::from(u32::from_le_bytes([end[at], end[at + 1], end[at + 2], end[at + 3]]));
        Some(end.starts_with(&END) && number(12) + number(16) + END_RECORD as u64 == length)
    };
    end().unwrap_or(false)
}

/// Reads the size of the picture in an archive of this module, and its metadata. None for other archives.
pub fn read_origin(path: &Path) -> Option<((u32, u32), Texts)> {
    #[derive(serde::Deserialize)]
    struct Origin {
        width: u32,
        height: u32,
        texts: Texts,
    }
    let (mut file, length) = open_regular(path).ok()?;
    let mut header = [0; LOCAL_HEADER + METADATA.len()];
    file.read_exact(&mut header).ok()?;
    let size = u64::from(u32::from_le_bytes(header[18..22].try_into().ok()?));
    if !header.starts_with(&LOCAL) || !header.ends_with(METADATA.as_bytes()) || size > length {
        return None;
    }
    let mut text = Vec::new();
    file.take(size).read_to_end(&mut text).ok()?;
    let Origin { width, height, texts } = serde_json::from_slice(&text).ok()?;
    Some(((width, height), texts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::testing::{metadata, picture};

    #[test]
    fn the_directory_leads_to_every_entry() {
        let metadata = metadata();
        let file = encode(&picture((3, 2), Pixels::F32(vec![0.5; 18].into()), &metadata)).unwrap();
        let number = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
        let end = file.len() - END_RECORD;
        let mut at = number(end + 16);
        let mut names = Vec::new();
        while at < end {
            let (length, offset) = (file[at + 28] as usize, number(at + 42));
            let name = &file[at + 46..at + 46 + length];
            assert_eq!((&file[offset..offset + 4], &file[offset + 30..offset + 30 + length]), (&LOCAL[..], name));
            let content = &file[offset + 30 + length..][..number(at + 20)];
            assert_eq!(hash(content) as usize, number(at + 16));
            names.push(String::from_utf8(name.to_vec()).unwrap());
            at += 46 + length;
        }
        assert_eq!((at, &names[..]), (end, &["metadata.json".to_owned(), "linear.npy".to_owned()][..]));
    }

    #[test]
    fn cut_archives_are_not_complete() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.npz");
        let metadata = metadata();
        let file = encode(&picture((3, 2), Pixels::U8(vec![7; 18].into()), &metadata)).unwrap();
        for cut in [0, 10, 21, 100, file.len() - 1] {
            std::fs::write(&path, &file[..cut]).unwrap();
            assert!(!is_complete_npz(&path), "{cut}");
        }
        std::fs::write(&path, &file).unwrap();
        assert!(is_complete_npz(&path));
        assert_eq!(read_origin(&path).unwrap().0, (3, 2));
    }
}
