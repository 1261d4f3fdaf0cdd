//! Files with all frames: videos through ffmpeg, and animated pictures.

mod apng;
mod ffmpeg;
mod gif;
mod stored;
mod webp;
mod yuv;

use super::{FileFormat, InOrder, OutputError, Pattern, PatternError};
use crate::scene::FrameRate;
use std::{ffi::OsStr, path::PathBuf};

/// The kind of video that an extension stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VideoFormat {
    Mp4,
    /// With alpha, ProRes 4444.
    Mov,
    WebM,
    Mkv,
    /// 256 colours in each frame.
    Gif,
    /// Without loss, as is [`Self::WebP`].
    Apng,
    WebP,
}

impl VideoFormat {
    /// The format that an extension stands for, whatever its case. Still pictures' extensions stand for their animated kind.
    pub fn from_extension(extension: &str) -> Option<Self> {
        match extension.to_ascii_lowercase().as_str() {
            "mp4" | "m4v" => Some(Self::Mp4),
            "mov" => Some(Self::Mov),
            "webm" => Some(Self::WebM),
            "mkv" => Some(Self::Mkv),
            "gif" => Some(Self::Gif),
            "apng" | "png" => Some(Self::Apng),
            "webp" => Some(Self::WebP),
            _ => None,
        }
    }

    /// The greatest width and height of frames that the format itself has numbers for.
    pub fn longest_side(self) -> u32 {
        match self {
            Self::WebP => FileFormat::WebP.longest_side(),
            Self::Gif => u16::MAX.into(),
            Self::Mp4 | Self::Mov | Self::WebM | Self::Mkv | Self::Apng => i32::MAX as u32,
        }
    }

    /// Whether files can have alpha.
    pub fn has_alpha(self) -> bool {
        match self {
            Self::Mov | Self::WebM | Self::Apng | Self::WebP => true,
            Self::Mp4 | Self::Mkv | Self::Gif => false,
        }
    }

    /// The extension of new files.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Mp4 => "mp4",
            Self::Mov => "mov",
            Self::WebM => "webm",
            Self::Mkv => "mkv",
            Self::Gif => "gif",
            Self::Apng => "apng",
            Self::WebP => "webp",
        }
    }
}

/// The name of a video; `{scene}` stands for the scene's name.
pub type VideoName = Pattern<VideoFormat>;

impl VideoName {
    /// Parses the argument of `--video`.
    pub fn parse_video(text: impl AsRef<OsStr>) -> Result<Self, PatternError> {
        let usual = VideoFormat::Mp4;
        Self::parse_known(text, usual, VideoFormat::from_extension, "mp4")?.without_frame()
    }

    /// The file, for a scene of this name.
    pub fn path(&self, scene: &str) -> PathBuf {
        self.path_for(0, scene)
    }
}

/// Settings of a video that are needed before its first frame.
#[derive(Clone, Debug)]
pub struct VideoSettings {
    pub width: u32,
    pub height: u32,
    /// Whether frames have alpha.
    pub transparent: bool,
    /// Frames per second.
    pub rate: FrameRate,
    /// Number of frames that will come.
    pub frames: usize,
    /// Quality from 1 to 100; for videos.
    pub quality: u8,
    /// ffmpeg's name of the encoder; none for the best that works.
    pub codec: Option<String>,
    /// Title and comment.
    pub texts: [String; 2],
}

/// Opens the video at `path`. It appears under that name when it is finished.
pub fn open_video(path: PathBuf, format: VideoFormat, settings: &VideoSettings) -> Result<InOrder, OutputError> {
    match format {
        VideoFormat::Mp4 | VideoFormat::Mov | VideoFormat::WebM | VideoFormat::Mkv => {
            ffmpeg::open(path, format, settings)
        }
        VideoFormat::Gif => gif::open(path, settings),
        VideoFormat::Apng => apng::open(path, settings),
        VideoFormat::WebP => webp::open(path, settings),
    }
}

/// Time for which frame `index` is shown, in units of which `per_second` make a second. Rounding errors never add up.
fn duration(index: usize, rate: FrameRate, per_second: f64) -> u32 {
    let (numerator, denominator) = rate.parts();
    let frame = per_second * f64::from(denominator) / f64::from(numerator);
    let end = |index: usize| (index as f64 * frame).round() as u64;
    u32::try_from(end(index + 1) - end(index)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
