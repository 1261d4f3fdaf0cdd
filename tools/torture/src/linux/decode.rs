//! Checks that a file is complete, with independent readers where available.

use super::seal;
use exr::prelude::{FlatSamples, ReadChannels, ReadLayers};
use image::AnimationDecoder;
use std::{io::Cursor, path::Path};

/// Describes a fault of the file, if there is one.
pub fn fault(name: &Path, bytes: &[u8]) -> Option<String> {
    let extension = name.extension().and_then(|e| e.to_str()).unwrap_or_default();
    let read = match extension {
        "png" | "apng" => png(bytes),
        "jpg" => image::load_from_memory(bytes).map(drop).map_err(|e| e.to_string()),
        "webp" => webp(bytes),
        "gif" => gif(bytes),
        "exr" => exr(bytes),
        "mp4" => mp4(bytes),
        "hit" => counted(bytes, 12),
        "ray" => counted(bytes, 32),
        "film" => seal::film(bytes).map(drop).ok_or("a broken film".into()),
        "blas" => seal::is_sealed_tree(bytes).then_some(()).ok_or("a broken tree".into()),
        "json" => serde_json::from_slice::<serde_json::Value>(bytes).map(drop).map_err(|e| e.to_string()),
        "md" | "scn" => {
            if bytes.is_empty() {
                Err("empty".to_owned())
            } else {
                Ok(())
            }
        }
        _ => Ok(()),
    };
    read.err()
}

/// Reads all pictures and the end of the file.
fn png(bytes: &[u8]) -> Result<(), String> {
    let mut reader = png::Decoder::new(Cursor::new(bytes)).read_info().map_err(|e| e.to_string())?;
    let frames = reader.info().animation_control().map_or(1, |a| a.num_frames);
    let mut pixels = vec![0; reader.output_buffer_size().ok_or("too large")?];
    for _ in 0..frames {
        reader.next_frame(&mut pixels).map_err(|e| e.to_string())?;
    }
    reader.finish().map_err(|e| e.to_string())
}

fn webp(bytes: &[u8]) -> Result<(), String> {
    let decoder = image::codecs::webp::WebPDecoder::new(Cursor::new(bytes)).map_err(|e| e.to_string())?;
    if !decoder.has_animation() {
        return image::load_from_memory(bytes).map(drop).map_err(|e| e.to_string());
    }
    decoder.into_frames().try_for_each(|frame| frame.map(drop)).map_err(|e| e.to_string())
}

fn gif(bytes: &[u8]) -> Result<(), String> {
    let mut decoder = gif::DecodeOptions::new().read_info(Cursor::new(bytes)).map_err(|e| e.to_string())?;
    while decoder.read_next_frame().map_err(|e| e.to_string())?.is_some() {}
    match bytes.last() {
        Some(0x3b) => Ok(()),
        _ => Err("no end".to_owned()),
    }
}

fn exr(bytes: &[u8]) -> Result<(), String> {
    let reader = exr::prelude::read().no_deep_data().largest_resolution_level().all_channels().all_layers();
    let image: Result<exr::prelude::FlatImage, _> = reader.all_attributes().from_buffered(Cursor::new(bytes));
    let empty = |samples: &FlatSamples| samples.len() == 0;
    match image {
        Ok(image) if image.layer_data.iter().flat_map(|l| &l.channel_data.list).any(|c| empty(&c.sample_data)) => {
            Err("empty".to_owned())
        }
        Ok(_) => Ok(()),
        Err(e) => Err(e.to_string()),
    }
}

/// Checks the box sizes and that there is an index, which is written last.
fn mp4(mut bytes: &[u8]) -> Result<(), String> {
    let mut has_index = false;
    while !bytes.is_empty() {
        let (size, kind) = match bytes {
            [a, b, c, d, kind @ ..] => (u32::from_be_bytes([*a, *b, *c, *d]) as usize, kind.get(..4)),
            _ => return Err("cut short".to_owned()),
        };
        has_index |= kind == Some(b"moov");
        bytes = bytes.get(size.max(8)..).ok_or("cut short")?;
    }
    has_index.then_some(()).ok_or("no index".to_owned())
}

/// Checks a file of an eight-byte name, a count and that number of records.
fn counted(bytes: &[u8], record: usize) -> Result<(), String> {
    let count = bytes.get(8..16).and_then(|b| b.try_into().ok()).map(u64::from_le_bytes);
    match count {
        Some(count) if bytes.len() as u64 == 16 + count * record as u64 => Ok(()),
        _ => Err("cut short".to_owned()),
    }
}
