//! Animated WebP files (WebP Container Specification). Frames are lossless, and this module joins them.

use super::{VideoSettings, duration};
use crate::{InOrder, Metadata, OutputError, PartialFile, Sink, web::encode_webp_frame};
use std::{
    io::{self, BufWriter, ErrorKind, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

/// Bytes of the header of a file, and of each encoded picture: `RIFF`, its size, `WEBP`.
const HEADER: usize = 12;
/// Flag: the file contains an animation.
const ANIMATION: u8 = 1 << 1;
/// Flag: frames have alpha.
const ALPHA: u8 = 1 << 4;
/// Flag: a frame replaces the previous one instead of being blended with it.
const REPLACE: u8 = 1 << 1;

pub fn open(path: PathBuf, settings: &VideoSettings) -> Result<InOrder, OutputError> {
    let opened = Animation::create(&path, settings);
    let animation = opened.map_err(|error| OutputError::File { path: path.clone(), error })?;
    Ok(InOrder::new(path, Box::new(encode_webp_frame), Box::new(animation)))
}

struct Animation {
    file: PartialFile,
    settings: VideoSettings,
    frames: usize,
    /// Number of bytes written so far.
    size: u64,
}

impl Animation {
    fn create(path: &Path, settings: &VideoSettings) -> io::Result<Self> {
        let file = PartialFile::create(path)?;
        let mut start = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0".to_vec();
        start.extend([if settings.transparent { ANIMATION | ALPHA } else { ANIMATION }, 0, 0, 0]);
        start.extend(three_bytes(settings.width - 1));
        start.extend(three_bytes(settings.height - 1));
        // A black background, and endless repetition.
        start.extend(b"ANIM\x06\0\0\0\0\0\0\xff\0\0");
        file.file().write_all(&start)?;
        Ok(Self { file, settings: settings.clone(), frames: 0, size: start.len() as u64 })
    }
}

fn three_bytes(number: u32) -> [u8; 3] {
    let [a, b, c, _] = number.to_le_bytes();
    [a, b, c]
}

impl Sink for Animation {
    fn add(&mut self, picture: Vec<u8>, _: &Metadata) -> io::Result<()> {
        let data = picture.get(HEADER..).unwrap_or_default();
        let size = u32::try_from(16 + data.len()).map_err(|_| ErrorKind::FileTooLarge)?;
        let mut frame = b"ANMF".to_vec();
        frame.extend(size.to_le_bytes());
        // Position of the frame: the top left corner.
        frame.extend([0; 6]);
        frame.extend(three_bytes(self.settings.width - 1));
        frame.extend(three_bytes(self.settings.height - 1));
        frame.extend(three_bytes(duration(self.frames, self.settings.rate, 1000.0)));
        frame.push(REPLACE);
        let mut writer = BufWriter::new(self.file.file());
        writer.write_all(&frame)?;
        writer.write_all(data)?;
        writer.flush()?;
        self.size += (frame.len() + data.len()) as u64;
        self.frames += 1;
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        let size = u32::try_from(self.size - 8).map_err(|_| ErrorKind::FileTooLarge)?;
        let mut file = self.file.file();
        file.seek(SeekFrom::Start(4))?;
        file.write_all(&size.to_le_bytes())?;
        self.file.persist()
    }
}
