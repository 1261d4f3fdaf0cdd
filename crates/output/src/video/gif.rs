//! Animated GIF files (GIF89a). Each frame has its own palette of 256 colours.

use super::{VideoSettings, duration};
use crate::{EncodeError, InOrder, Metadata, OutputError, PartialFile, Picture, Sink};
use std::{
    io::{self, ErrorKind, Write},
    path::PathBuf,
};

/// Speed of the palette search, from 1 (best quality) to 30 (fastest).
const SPEED: i32 = 10;
/// Bytes of the signature and the screen descriptor.
const HEADER: usize = 13;
/// Position of the duration in a frame, after introducer, label, size and flags of its control block.
const DURATION: std::ops::Range<usize> = 4..6;
/// The application extension that makes browsers repeat the animation forever.
const FOREVER: &[u8] = b"\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0";
const TRAILER: u8 = 0x3b;

pub fn open(path: PathBuf, settings: &VideoSettings) -> Result<InOrder, OutputError> {
    let failed = |error| OutputError::File { path: path.clone(), error };
    let file = PartialFile::create(&path).map_err(failed)?;
    let animation = Animation { file, settings: settings.clone(), frames: 0 };
    Ok(InOrder::new(path, Box::new(encode), Box::new(animation)))
}

struct Animation {
    file: PartialFile,
    settings: VideoSettings,
    frames: usize,
}

/// Encodes a file with only this frame.
fn encode(picture: &Picture) -> Result<Vec<u8>, EncodeError> {
    let too_large = |_| EncodeError::TooLarge { format: "GIF", limit: u16::MAX.into() };
    let width = u16::try_from(picture.width).map_err(too_large)?;
    let height = u16::try_from(picture.height).map_err(too_large)?;
    let frame = gif::Frame::from_rgb_speed(width, height, &picture.pixels.bytes()?, SPEED);
    let mut file = Vec::new();
    let mut encoder = gif::Encoder::new(&mut file, width, height, &[]).map_err(EncodeError::encoder)?;
    encoder.write_frame(&frame).map_err(EncodeError::encoder)?;
    drop(encoder);
    Ok(file)
}

/// Splits a file with one frame into everything before the frame, and the frame with its control block.
fn split(file: &[u8]) -> Option<(&[u8], &[u8])> {
    let flags = *file.get(10)?;
    let table = match flags & 0x80 {
        0 => 0,
        _ => 3 << ((flags & 7) + 1),
    };
    let (header, rest) = file.split_at_checked(HEADER + table)?;
    Some((header, rest.strip_suffix(&[TRAILER])?))
}

impl Sink for Animation {
    fn add(&mut self, picture: Vec<u8>, _: &Metadata) -> io::Result<()> {
        let (header, frame) = split(&picture).ok_or(ErrorKind::InvalidData)?;
        if self.frames == 0 {
            self.file.file().write_all(header)?;
            self.file.file().write_all(FOREVER)?;
        }
        let mut frame = frame.to_vec();
        let shown = duration(self.frames, self.settings.rate, 100.0);
        let shown = u16::try_from(shown).unwrap_or(u16::MAX);
        let place = frame.get_mut(DURATION).ok_or(ErrorKind::InvalidData)?;
        place.copy_from_slice(&shown.to_le_bytes());
        self.frames += 1;
        self.file.file().write_all(&frame)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.file.file().write_all(&[TRAILER])?;
        self.file.persist()
    }
}
