//! The GLB container (glTF 2.0, chapter 4): a header, a JSON chunk and at most one binary chunk.

/// The chunks of a file. A .gltf file has only JSON and no binary chunk.
#[derive(Debug, PartialEq, Eq)]
pub struct Container<'a> {
    pub json: &'a [u8],
    pub bin: Option<&'a [u8]>,
}

const MAGIC: &[u8] = b"glTF";
const JSON: &[u8] = b"JSON";
const BIN: &[u8] = b"BIN\0";
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Detects the format by content, and finds the chunks. Chunks of unknown types are skipped, as 4.4.3 requires.
///
/// # Errors
/// If the file is cut short or has another version. The text is one sentence.
pub fn open(bytes: &[u8]) -> Result<Container<'_>, String> {
    if !bytes.starts_with(MAGIC) {
        return Ok(Container { json: text(bytes), bin: None });
    }
    let version = word(bytes, 4)?;
    if version != 2 {
        return Err(format!("version {version} of the GLB format is not supported: export it as glTF 2.0"));
    }
    let length = word(bytes, 8)? as usize;
    let body = bytes.get(12..length).ok_or_else(|| {
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
    while bin.is_none() && rest.iter().any(|&byte| byte != 0) {
        let (kind, data, after) = chunk(rest)?;
        bin = (kind == BIN).then_some(data);
        rest = after;
    }
    Ok(Container { json: text(json), bin })
}

/// The JSON text without a leading byte order mark and without trailing zeros, which some programs add as padding.
fn text(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let end = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    &bytes[..end]
}

type Chunk<'a> = (&'a [u8], &'a [u8], &'a [u8]);

/// The first chunk's type and data, and the bytes after it.
fn chunk(bytes: &[u8]) -> Result<Chunk<'_>, String> {
    let cut = || "a chunk is cut off: get the file again".to_owned();
    let length = word(bytes, 0)? as usize;
    let kind = bytes.get(4..8).ok_or_else(cut)?;
    let (data, after) = bytes.get(8..).and_then(|rest| rest.split_at_checked(length)).ok_or_else(cut)?;
    Ok((kind, data, after))
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

    #[test]
    fn a_bare_file_is_all_json_with_or_without_a_byte_order_mark() {
        for bytes in [&b"{}"[..], b"\xef\xbb\xbf{}"] {
            let c = open(bytes).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!((c.json, c.bin), (&b"{}"[..], None));
        }
    }

    #[test]
    fn a_json_chunk_may_have_a_byte_order_mark_and_be_padded_with_anything_blank() {
        for json in [&b"\xef\xbb\xbf{}\0\0\0"[..], b"{}\0\0", b"\xef\xbb\xbf{}", b"{} \0"] {
            let bytes = glb(&[(JSON, json), (BIN, b"345")]);
            let c = open(&bytes).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!((c.json.trim_ascii(), c.bin), (&b"{}"[..], Some(&b"345"[..])));
        }
        let mut bytes = glb(&[(JSON, b"{}")]);
        bytes.extend([0; 6]);
        let length = (bytes.len() as u32).to_le_bytes();
        bytes[8..12].copy_from_slice(&length);
        assert!(open(&bytes).is_ok_and(|c| c.json == b"{}" && c.bin.is_none()));
    }

    #[test]
    fn unknown_chunks_are_skipped() {
        let bytes = glb(&[(JSON, b"{} "), (b"XTRA", b"12"), (BIN, b"345")]);
        let c = open(&bytes).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((c.json, c.bin), (&b"{} "[..], Some(&b"345"[..])));
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
