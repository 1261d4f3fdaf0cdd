//! Metadata in JPEG and WebP files: an Exif block (Exif 3.0, section 4), which contains a TIFF file. Its image description is a JSON object
//! of texts.

use super::picture::{Metadata, Texts};
use std::collections::BTreeMap;

/// Start of a little-endian TIFF file with its directory at byte 8.
const START: [u8; 8] = *b"II*\0\x08\0\0\0";
/// Start of a directory with one entry: the tag of image descriptions, and the type of texts.
const ENTRY: [u8; 6] = [1, 0, 0x0e, 0x01, 2, 0];
/// Offset of the text, which follows its length, its own offset, and the end of the directories.
const TEXT: usize = START.len() + ENTRY.len() + 12;

/// Creates the Exif block of a picture.
pub fn block(metadata: &Metadata) -> Vec<u8> {
    let texts: BTreeMap<_, _> = metadata.texts().into();
    // Texts always have a JSON form, so this never fails. The JSON has no zero byte.
    let mut text = serde_json::to_vec(&texts).unwrap_or_default();
    text.push(0);
    let mut block = [&START[..], &ENTRY].concat();
    block.extend((text.len() as u32).to_le_bytes());
    block.extend((TEXT as u32).to_le_bytes());
    block.extend([0; 4]);
    block.extend(text);
    block
}

/// Reads the texts of a block created by [`block`]; empty for other blocks.
pub fn texts(block: &[u8]) -> Texts {
    let text = block.get(TEXT..).and_then(|text| text.split(|&byte| byte == 0).next());
    let ours = block.starts_with(&START) && block[START.len()..].starts_with(&ENTRY);
    let read = |text| serde_json::from_slice(text).ok();
    text.filter(|_| ours).and_then(read).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::testing::metadata;

    #[test]
    fn texts_come_back_and_other_blocks_have_none() {
        let block = block(&metadata());
        let expected = metadata().texts().map(|(name, text)| (name.to_owned(), text));
        assert_eq!(texts(&block), Texts::from(expected));
        for length in [0, 7, 8, 13, TEXT, block.len() - 3] {
            assert!(texts(&block[..length]).is_empty(), "{length}");
        }
        assert!(texts(b"MM\0*\0\0\0\x08 and more that is no directory").is_empty());
    }
}
