//! Files with all frames: videos encoded by ffmpeg, and animated pictures.

mod apng;
mod ffmpeg;
mod gif;
mod stored;
mod webp;
mod yuv;

use super::{FileFormat, InOrder, OutputError, Pattern, PatternError};
use std::{ffi::OsStr, path::PathBuf};
use throng_scene::FrameRate;

/// Video format, selected by the extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VideoFormat {
    Mp4,
    /// Supports alpha, which is stored as ProRes 4444.
    Mov,
    WebM,
    Mkv,
    /// 256 colours per frame.
    Gif,
    /// Lossless, as is [`Self::WebP`].
    Apng,
    WebP,
}

impl VideoFormat {
    /// The format of an extension in any case; none if it is unknown. Extensions of still pictures select the animated format.
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

    /// The greatest width and height of frames, in pixels, that the format itself can store.
    pub fn longest_side(self) -> u32 {
        match self {
            Self::WebP => FileFormat::WebP.longest_side(),
            Self::Gif => u16::MAX.into(),
            Self::Mp4 | Self::Mov | Self::WebM | Self::Mkv | Self::Apng => i32::MAX as u32,
        }
    }

    /// Whether the format supports alpha.
    pub fn has_alpha(self) -> bool {
        match self {
            Self::Mov | Self::WebM | Self::Apng | Self::WebP => true,
            Self::Mp4 | Self::Mkv | Self::Gif => false,
        }
    }

    /// The extension of new files, in lower case and without a dot.
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
    ///
    /// # Errors
    /// If the name is empty, or has an invalid placeholder, a placeholder for the frame number, or an unknown extension.
    pub fn parse_video(text: impl AsRef<OsStr>) -> Result<Self, PatternError> {
        let usual = VideoFormat::Mp4;
        Self::parse_known(text, usual, VideoFormat::from_extension, "mp4")?.without_frame()
    }

    /// Path of the file for a scene with this name.
    pub fn path(&self, scene: &str) -> PathBuf {
        self.path_for(0, scene)
    }
}

/// Settings of a video that must be known before its first frame.
#[derive(Clone, Debug)]
pub struct VideoSettings {
    pub width: u32,
    pub height: u32,
    /// Whether frames have alpha.
    pub transparent: bool,
    /// Frames per second.
    pub rate: FrameRate,
    /// Total number of frames.
    pub frames: usize,
    /// Quality from 1 to 100; only for videos encoded by ffmpeg.
    pub quality: u8,
    /// ffmpeg's name of the encoder; none for the first candidate that works.
    pub codec: Option<String>,
    /// Title and comment.
    pub texts: [String; 2],
}

/// Opens the video at `path`. It appears under that name when it is finished.
///
/// # Errors
/// If the file cannot be created, or if ffmpeg is missing or has no working encoder.
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

/// Duration of frame `index`, in units of 1/`per_second` seconds. Rounding errors do not accumulate.
fn duration(index: usize, rate: FrameRate, per_second: f64) -> u32 {
    let (numerator, denominator) = rate.parts();
    let frame = per_second * f64::from(denominator) / f64::from(numerator);
    let end = |index: usize| (index as f64 * frame).round() as u64;
    u32::try_from(end(index + 1) - end(index)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
