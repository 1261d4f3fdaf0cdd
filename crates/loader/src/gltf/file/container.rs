//! The GLB container (glTF 2.0, chapter 4): a header, a JSON chunk and at most one binary chunk.

use super::bytes::Bytes;
use crate::files;
use std::{borrow::Cow, io};

/// The chunks of a file. A .gltf file has only JSON and no binary chunk.
#[derive(Debug)]
pub struct Container<'a> {
    pub json: Cow<'a, [u8]>,
    pub bin: Option<Bytes<'a>>,
}

const MAGIC: &[u8] = b"glTF";
const JSON: &[u8] = b"JSON";
const BIN: &[u8] = b"BIN\0";
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Detects the format by content, and finds the chunks. Chunks of unknown types are skipped, as 4.4.3 requires.
///
/// # Errors
/// If the file cannot be read, is cut short or has another version. The text is one sentence.
pub fn open(bytes: Bytes<'_>) -> Result<Container<'_>, String> {
    let head = beginning(bytes, 12)?;
    if !head.starts_with(MAGIC) {
        return Ok(Container { json: text(read(bytes)?), bin: None });
    }
    let version = word(&head, 4)?;
    if version != 2 {
        return Err(format!("version {version} of the GLB format is not supported: export it as glTF 2.0"));
    }
    let length = u64::from(word(&head, 8)?);
    let body = bytes.part(12..length).ok_or_else(|| {
        format!(
            "the header says {length} bytes, but the file has {}: it is cut off, download or export it again",
            bytes.len()
        )
    })?;
    let (kind, json, mut rest) = chunk(body)?;
    if kind != JSON {
        return Err("the first chunk is not JSON: export the file again".to_owned());
    }
    let mut bin = None;
    // Some programs pad the last chunk with zeros that its length does not include.
    while bin.is_none() && !rest.are_zero().map_err(|e| files::describe(&e))? {
        let (kind, data, after) = chunk(rest)?;
        bin = (kind == BIN).then_some(data);
        rest = after;
    }
    Ok(Container { json: text(read(json)?), bin })
}

fn read(bytes: Bytes<'_>) -> Result<Cow<'_, [u8]>, String> {
    bytes.read().map_err(|e: io::Error| files::describe(&e))
}

/// The first `count` bytes, or all if there are fewer.
fn beginning(bytes: Bytes<'_>, count: u64) -> Result<Cow<'_, [u8]>, String> {
    read(bytes.part(0..count).unwrap_or(bytes))
}

/// The JSON text without a leading byte order mark and without trailing zeros, which some programs add as padding.
fn text(bytes: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    let start = if bytes[..end].starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    match bytes {
        Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[start..end]),
        Cow::Owned(mut bytes) => {
            bytes.truncate(end);
            bytes.drain(..start);
            Cow::Owned(bytes)
        }
    }
}

type Chunk<'a> = (Cow<'a, [u8]>, Bytes<'a>, Bytes<'a>);

/// The first chunk's type and data, and the bytes after it.
fn chunk(bytes: Bytes<'_>) -> Result<Chunk<'_>, String> {
    let cut = || "a chunk is cut off: get the file again".to_owned();
    let length = u64::from(word(&beginning(bytes, 4)?, 0)?);
    let kind = bytes.part(4..8).ok_or_else(cut)?;
    let data = bytes.part(8..8 + length).ok_or_else(cut)?;
    let after = bytes.part(8 + length..bytes.len()).ok_or_else(cut)?;
    Ok((read(kind)?, data, after))
}

fn word(bytes: &[u8], at: usize) -> Result<u32, String> {
    bytes
        .get(at..)
        .and_then(|rest| rest.first_chunk())
        .map(|b| u32::from_le_bytes(*b))
        .ok_or_else(|| "the file ends within a header: get it again".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn glb(chunks: &[(&[u8], &[u8])]) -> Vec<u8> {
        let mut body = Vec::new();
        for (kind, data) in chunks {
            body.extend((data.len() as u32).to_le_bytes());
            body.extend(*kind);
            body.extend(*data);
        }
        let mut bytes = b"glTF\x02\0\0\0".to_vec();
        bytes.extend((body.len() as u32 + 12).to_le_bytes());
        bytes.extend(body);
        bytes
    }

    /// JSON and binary chunk of a file, which are equal whether it is in memory or not.
    fn open(bytes: &[u8]) -> Result<(Vec<u8>, Option<Vec<u8>>), String> {
        let chunks = |bytes: Bytes| {
            let Container { json, bin } = super::open(bytes)?;
            Ok((json.into_owned(), bin.map(|bin| bin.read().expect("reads").into_owned())))
        };
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(bytes).expect("writes");
        let in_file = chunks(Bytes::File { file: &file, start: 0, length: bytes.len() as u64 });
        assert_eq!(in_file, chunks(Bytes::Memory(bytes)));
        in_file
    }

    #[test]
    fn a_bare_file_is_all_json_with_or_without_a_byte_order_mark() {
        for bytes in [&b"{}"[..], b"\xef\xbb\xbf{}"] {
            assert_eq!(open(bytes), Ok((b"{}".to_vec(), None)));
        }
    }

    #[test]
    fn a_json_chunk_may_have_a_byte_order_mark_and_be_padded_with_anything_blank() {
        for json in [&b"\xef\xbb\xbf{}\0\0\0"[..], b"{}\0\0", b"\xef\xbb\xbf{}", b"{} \0"] {
            let bytes = glb(&[(JSON, json), (BIN, b"345")]);
            let (json, bin) = open(&bytes).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!((json.trim_ascii(), bin), (&b"{}"[..], Some(b"345".to_vec())));
        }
        let mut bytes = glb(&[(JSON, b"{}")]);
        bytes.extend([0; 6]);
        let length = (bytes.len() as u32).to_le_bytes();
        bytes[8..12].copy_from_slice(&length);
        assert_eq!(open(&bytes), Ok((b"{}".to_vec(), None)));
    }

    #[test]
    fn unknown_chunks_are_skipped() {
        let bytes = glb(&[(JSON, b"{} "), (b"XTRA", b"12"), (BIN, b"345")]);
        assert_eq!(open(&bytes), Ok((b"{} ".to_vec(), Some(b"345".to_vec()))));
    }

    #[test]
    fn every_truncation_is_refused() {
        let whole = glb(&[(JSON, b"{}  "), (BIN, b"3456")]);
        for length in 4..whole.len() {
            assert!(open(&whole[..length]).is_err(), "{length}");
        }
    }

    #[test]
    fn other_versions_and_orders_are_refused() {
        let mut old = glb(&[(JSON, b"{}")]);
        old[4] = 1;
        assert!(open(&old).is_err_and(|e| e.contains("version 1")));
        assert!(open(&glb(&[(BIN, b"")])).is_err_and(|e| e.contains("not JSON")));
    }
}
