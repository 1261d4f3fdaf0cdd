//! The argument of `--output`: files of frames, standard output or a pipe, a video, or a film.

use super::{Pattern, PatternError, atomic::open_node};
use crate::{Encoding, FileFormat, InOrder, Metadata, Picture, Sink, VideoFormat, VideoName};
use std::{
    ffi::OsStr,
    fmt,
    io::{self, Write},
    path::{Path, PathBuf},
};
use throng_base::files::is_special;

/// The destination of frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// One file per frame.
    Files(Pattern),
    /// A stream of pictures, one after the other.
    Stream(Stream, FileFormat),
    /// One video with all frames.
    Video(VideoName),
    /// A film file, which stores the samples of one picture.
    Film(PathBuf),
}

/// A stream that receives pictures one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    /// An existing pipe or device.
    Node(PathBuf),
}

impl Destination {
    /// Parses a destination:
    ///
    /// - `-` is standard output with PNG files, `-.jpg` standard output with another format.
    /// - An existing pipe or device is a stream, in the format of its extension or else PNG.
    /// - The extension of a video format gives a video.
    /// - The extension `.film` gives a film with the samples of a picture.
    /// - Everything else is a pattern for files of frames, see [`Pattern::parse`].
    ///
    /// # Errors
    /// If the pattern is invalid.
    pub fn parse(text: impl AsRef<OsStr>) -> Result<Self, PatternError> {
        let text = text.as_ref();
        let path = Path::new(text);
        let stdout = match text.to_str() {
            Some("-") => Some(FileFormat::Png),
            Some(name) => name.strip_prefix("-.").and_then(FileFormat::from_extension),
            None => None,
        };
        if let Some(format) = stdout {
            return Ok(Self::Stream(Stream::Stdout, format));
        }
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        let still = FileFormat::from_extension(&extension);
        if extension.eq_ignore_ascii_case("film") {
            return Ok(Self::Film(path.to_owned()));
        }
        match VideoFormat::from_extension(&extension) {
            Some(_) if still.is_none() => VideoName::parse_video(text).map(Self::Video),
            _ if is_special(path) => {
                let stream = Stream::Node(path.to_owned());
                Ok(Self::Stream(stream, still.unwrap_or(FileFormat::Png)))
            }
            _ => Pattern::parse(text).map(Self::Files),
        }
    }

    /// Checks that several scenes do not share one file, video, stream or film.
    #[doc(hidden)]
    pub fn check_scene_count(&self, scenes: usize) -> Result<(), PatternError> {
        match self {
            Self::Files(files) => files.check_scene_count(scenes),
            Self::Video(video) => video.check_scene_count(scenes),
            Self::Stream(stream, _) if scenes > 1 => Err(PatternError::OneStream(stream.to_string())),
            Self::Film(path) if scenes > 1 => Err(PatternError::OneFilm(path.display().to_string())),
            Self::Stream(..) | Self::Film(_) => Ok(()),
        }
    }

    /// Whether the name contains the placeholder `{animation}`.
    #[doc(hidden)]
    pub fn has_animation(&self) -> bool {
        match self {
            Self::Files(files) => files.has_animation(),
            Self::Video(video) => video.has_animation(),
            Self::Stream(..) | Self::Film(_) => false,
        }
    }

    /// The destination for the animation `name`, which is one of `count`.
    ///
    /// # Errors
    /// As [`Pattern::for_animation`].
    #[doc(hidden)]
    pub fn for_animation(&self, name: &str, count: usize) -> Result<Self, PatternError> {
        Ok(match self {
            Self::Files(files) => Self::Files(files.for_animation(name, count)?),
            Self::Video(video) => Self::Video(video.for_animation(name, count)?),
            Self::Stream(..) | Self::Film(_) => self.clone(),
        })
    }

    /// Path of a scene's first frame, video or film; none for streams.
    #[doc(hidden)]
    pub fn first_file(&self, scene: &str) -> Option<PathBuf> {
        match self {
            Self::Files(files) => Some(files.path_for(1, scene)),
            Self::Video(video) => Some(video.path(scene)),
            Self::Film(path) => Some(path.clone()),
            Self::Stream(..) => None,
        }
    }

    /// Adapts the destination to the number of frames: a WebP file without a placeholder for the frame number becomes an animation of all
    /// frames.
    ///
    /// # Errors
    /// If there are several frames and the pattern for other formats has no placeholder for the frame number.
    #[doc(hidden)]
    pub fn for_frames(self, frames: usize) -> Result<Self, PatternError> {
        match self {
            Self::Files(files) if files.check_frame_count(frames).is_err() => match files.format() {
                FileFormat::WebP => Ok(Self::Video(files.with_format(VideoFormat::WebP))),
                _ => files.check_frame_count(frames).map(|()| Self::Files(files)),
            },
            other => Ok(other),
        }
    }
}

/// Writes the text from which an equal destination can be parsed, provided that it is UTF-8.
impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Files(files) => files.fmt(f),
            Self::Stream(Stream::Stdout, format) => write!(f, "-.{}", format.extension()),
            Self::Stream(Stream::Node(path), _) => path.display().fmt(f),
            Self::Video(video) => video.fmt(f),
            Self::Film(path) => path.display().fmt(f),
        }
    }
}

/// Writes a description for messages.
impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Stdout => f.write_str("standard output"),
            Self::Node(path) => path.display().fmt(f),
        }
    }
}

impl Stream {
    /// Opens the stream for pictures in frame order. A pipe is opened when the first picture is written.
    #[doc(hidden)]
    pub fn open(&self, format: FileFormat, encoding: Encoding) -> InOrder {
        let prepare = move |picture: &Picture| format.encode(picture, &encoding);
        let sink = Writer { stream: self.clone(), to: None };
        let path = self.to_string().into();
        InOrder::new(path, Box::new(prepare), Box::new(sink))
    }
}

struct Writer {
    stream: Stream,
    /// None before the first picture.
    to: Option<Box<dyn Write + Send>>,
}

impl Sink for Writer {
    fn add(&mut self, picture: Vec<u8>, _: &Metadata) -> io::Result<()> {
        let to = match &mut self.to {
            Some(to) => to,
            none => none.insert(match &self.stream {
                Stream::Stdout => Box::new(io::stdout()),
                Stream::Node(path) => Box::new(open_node(path)?),
            }),
        };
        to.write_all(&picture)?;
        to.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Destination {
        Destination::parse(text).unwrap()
    }

    #[test]
    fn a_dash_is_standard_output() {
        let stdout = |format| Destination::Stream(Stream::Stdout, format);
        assert_eq!(parse("-"), stdout(FileFormat::Png));
        assert_eq!(parse("-.JPG"), stdout(FileFormat::Jpeg));
        assert_eq!(parse("-.exr"), stdout(FileFormat::Exr));
        assert!(matches!(parse("-a.png"), Destination::Files(_)));
    }

    #[cfg(unix)]
    #[test]
    fn devices_take_pictures_one_after_the_other() {
        let null = Stream::Node("/dev/null".into());
        let expected = Destination::Stream(null, FileFormat::Png);
        assert_eq!(parse("/dev/null"), expected);
        assert_eq!(parse("/dev/null").for_frames(5), Ok(expected));
        let sink = Stream::Node("/dev/full".into()).open(FileFormat::Png, Encoding::default());
        let metadata = Metadata::default();
        let pixels = crate::Pixels::U8(vec![0; 3].into());
        let picture = crate::picture::testing::picture((1, 1), pixels, &metadata);
        let error = sink.add(0, &picture).unwrap_err().to_string();
        assert!(error.contains("/dev/full: the disk is full"), "{error}");
    }

    #[test]
    fn extensions_of_videos_make_videos() {
        for name in ["a.mp4", "{scene}.WebM", "x/y.mkv", "a.gif", "a.apng"] {
            let video = parse(name);
            assert!(matches!(video, Destination::Video(_)), "{video:?}");
            assert_eq!(parse(&video.to_string()), video);
        }
        let error = Destination::parse("####.mp4").unwrap_err().to_string();
        assert!(error.contains("one file"), "{error}");
    }

    #[test]
    fn a_webp_file_without_number_shows_all_frames() {
        let still = parse("a.webp");
        assert_eq!(still.clone().for_frames(1), Ok(still.clone()));
        assert!(matches!(still.for_frames(2), Ok(Destination::Video(_))));
        let numbered = parse("a_##.webp");
        assert_eq!(numbered.clone().for_frames(2), Ok(numbered));
        assert!(parse("a.png").for_frames(2).is_err());
    }
}
