//! Damage inside formats with checksums and sizes, which are corrected afterwards. Functions return None if the file is not a complete one.

use super::{bytes, text};
use crate::linux::{random::Random, seal};
use flate2::{Compression, read::ZlibDecoder, write::ZlibEncoder};
use std::io::{Read, Write};

pub fn glb(file: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let length = u32::from_le_bytes(*file.get(12..16)?.first_chunk()?) as usize;
    let (mut json, mut bin) = (file.get(20..20 + length)?.to_vec(), file.get(28 + length..)?.to_vec());
    match random.below(5) {
        0..=2 => json = text::mutated(&json, random)?,
        _ => bin = bytes::mutated(&bin, random),
    }
    Some(joined_glb(json, bin))
}

pub fn joined_glb(mut json: Vec<u8>, mut bin: Vec<u8>) -> Vec<u8> {
    json.resize(json.len().next_multiple_of(4), b' ');
    bin.resize(bin.len().next_multiple_of(4), 0);
    let mut file = b"glTF\x02\0\0\0".to_vec();
    file.extend((28 + json.len() as u32 + bin.len() as u32).to_le_bytes());
    for (kind, data) in [(b"JSON", &json), (b"BIN\0", &bin)] {
        file.extend((data.len() as u32).to_le_bytes());
        file.extend(kind);
        file.extend(data);
    }
    file
}

/// Damages chunks or pixels. Checksums are recomputed and pixels are compressed again.
pub fn png(file: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let (name, mut rest) = file.split_at_checked(8)?;
    let mut chunks = Vec::new();
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let (chunk, after) = after.split_at_checked((u32::from_be_bytes(*length) as usize).checked_add(4)?)?;
        chunks.push(chunk.to_vec());
        rest = after.get(4..)?;
    }
    let at = random.below(chunks.len());
    let (kind, data) = chunks.get(at)?.split_at_checked(4)?;
    match random.below(8) {
        0 => drop(chunks.remove(at)),
        1 => chunks.insert(random.below(chunks.len()), chunks[at].clone()),
        _ => {
            let data = if kind == b"IDAT" && random.once_in(2) {
                recompressed(data, random)?
            } else {
                bytes::mutated(data, random)
            };
            chunks[at] = [kind, &data].concat();
        }
    }
    let mut file = name.to_vec();
    for chunk in chunks {
        file.extend((chunk.len() as u32 - 4).to_be_bytes());
        file.extend(&chunk);
        file.extend(crc32fast::hash(&chunk).to_be_bytes());
    }
    Some(file)
}

fn recompressed(data: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let mut pixels = Vec::new();
    ZlibDecoder::new(data).read_to_end(&mut pixels).ok()?;
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&bytes::mutated(&pixels, random)).ok()?;
    encoder.finish().ok()
}

/// Damages a chunk and corrects all sizes.
pub fn webp(file: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let mut rest = file.get(12..)?;
    let mut chunks = Vec::new();
    while let Some((head, after)) = rest.split_first_chunk::<8>() {
        let size = u32::from_le_bytes(*head.last_chunk()?) as usize;
        let (data, after) = after.split_at_checked(size)?;
        chunks.push((*head.first_chunk::<4>()?, data.to_vec()));
        rest = after.get(size % 2..)?;
    }
    let at = random.below(chunks.len());
    let (kind, data) = chunks.get(at)?.clone();
    match random.below(10) {
        0 => drop(chunks.remove(at)),
        1 => chunks.insert(random.below(chunks.len()), (kind, data)),
        _ => chunks[at].1 = bytes::mutated(&data, random),
    }
    let mut body = b"WEBP".to_vec();
    for (kind, data) in chunks {
        body.extend(kind);
        body.extend((data.len() as u32).to_le_bytes());
        body.extend(&data);
        body.resize(body.len().next_multiple_of(2), 0);
    }
    Some([b"RIFF", &(body.len() as u32).to_le_bytes()[..], &body].concat())
}

/// Damages a file in a package and corrects all sizes, offsets and checksums.
pub fn usdz(file: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let mut members = members(file);
    let at = random.below(members.len());
    let (name, data) = members.get(at)?.clone();
    match random.below(10) {
        0 => drop(members.remove(at)),
        1 => members.insert(random.below(members.len()), (name, data)),
        _ => {
            let text = name.ends_with(b".usda").then(|| text::mutated(&data, random)).flatten();
            members[at].1 = text.unwrap_or_else(|| bytes::mutated(&data, random));
        }
    }
    Some(package(&members))
}

/// Names and contents of the files that an uncompressed ZIP archive begins with.
fn members(file: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut members = Vec::new();
    let mut rest = file;
    let mut member = || -> Option<(Vec<u8>, Vec<u8>)> {
        let head = rest.get(..LOCAL_HEAD).filter(|head| head.starts_with(b"PK\x03\x04"))?;
        let size = u32::from_le_bytes(*head[18..22].first_chunk()?) as usize;
        let [name, extra] = [26, 28].map(|at| usize::from(u16::from_le_bytes([head[at], head[at + 1]])));
        let (names, data) = rest[LOCAL_HEAD..].split_at_checked(name + extra)?;
        let (data, after) = data.split_at_checked(size)?;
        rest = after;
        Some((names[..name].to_vec(), data.to_vec()))
    };
    while let Some(found) = member() {
        members.push(found);
    }
    members
}

/// Length of the head of a file in a ZIP archive, without its name.
const LOCAL_HEAD: usize = 30;

/// An uncompressed ZIP archive whose files begin at multiples of 64 bytes, as packages of USD do.
fn package(members: &[(Vec<u8>, Vec<u8>)]) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, data) in members {
        let offset = file.len();
        let padding = (offset + LOCAL_HEAD + name.len()).next_multiple_of(64) - (offset + LOCAL_HEAD + name.len());
        // Version, flags, method, time and date; then checksum and sizes.
        let mut common = vec![20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0];
        for number in [crc32fast::hash(data), data.len() as u32, data.len() as u32] {
            common.extend(number.to_le_bytes());
        }
        common.extend((name.len() as u16).to_le_bytes());
        file.extend([b"PK\x03\x04", &common[..], &(padding as u16).to_le_bytes(), name].concat());
        file.resize(file.len() + padding, 0);
        file.extend(data);
        directory.extend([b"PK\x01\x02\x14\0", &common[..], &[0; 12], &(offset as u32).to_le_bytes(), name].concat());
    }
    let count = (members.len() as u16).to_le_bytes();
    let (start, length) = ((file.len() as u32).to_le_bytes(), (directory.len() as u32).to_le_bytes());
    file.extend(directory);
    file.extend([b"PK\x05\x06\0\0\0\0", &count[..], &count, &length, &start, &[0; 2]].concat());
    file
}

/// Damages a film. One in eight keeps the wrong checksum.
pub fn film(file: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let (header, mut rows) = seal::film(file)?;
    Some(match random.below(8) {
        0 => bytes::mutated(file, random),
        1..=4 => seal::sealed_film(&text::mutated(header, random)?, &rows),
        _ => {
            let at = random.below(rows.len());
            let row = bytes::mutated(rows.get(at)?, random);
            rows[at] = &row;
            seal::sealed_film(header, &rows)
        }
    })
}

/// Damages a tree. The key in its header stays, because trees with another key are not read.
pub fn tree(file: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    const KEY: std::ops::Range<usize> = 40..56;
    let key = file.get(KEY)?.to_vec();
    let mut file = bytes::mutated(file, random);
    if !random.once_in(8) {
        file.get_mut(KEY)?.copy_from_slice(&key);
        seal::seal_tree(&mut file);
    }
    Some(file)
}
