//! The argument of `--output`: a file for each frame, standard output or a pipe, or a video.

use super::{
    Encoding, FileFormat, InOrder, Metadata, Pattern, PatternError, Sink, VideoFormat, VideoName, atomic::open_node,
};
use crate::files::is_special;
use std::{
    ffi::OsStr,
    fmt,
    io::{self, Write},
    path::{Path, PathBuf},
};

/// The destination of frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Files of their own.
    Files(Pattern),
    /// One picture after the other.
    Stream(Stream, FileFormat),
    /// One video of all frames.
    Video(VideoName),
    /// A film, which holds the samples of a picture.
    Film(PathBuf),
}

/// A stream that takes pictures one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    /// A pipe or a device, which exists.
    Node(PathBuf),
}

impl Destination {
    /// Parses a destination. `-` is standard output, for PNG files or, as `-.jpg`, for others. Names of pipes and devices stand for these,
    /// extensions of videos for a video, and `.film` for the samples of a picture. Everything else names files of frames, see [`Pattern::parse`].
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

    /// Checks that all of several scenes have a place: a file or a video for each.
    pub(crate) fn check_scene_count(&self, scenes: usize) -> Result<(), PatternError> {
        match self {
            Self::Files(files) => files.check_scene_count(scenes),
            Self::Video(video) => video.check_scene_count(scenes),
            Self::Stream(stream, _) if scenes > 1 => Err(PatternError::OneStream(stream.to_string())),
            Self::Film(path) if scenes > 1 => Err(PatternError::OneFilm(path.display().to_string())),
            Self::Stream(..) | Self::Film(_) => Ok(()),
        }
    }

    /// Whether there is a place for the name of the animation.
    pub(crate) fn has_animation(&self) -> bool {
        match self {
            Self::Files(files) => files.has_animation(),
            Self::Video(video) => video.has_animation(),
            Self::Stream(..) | Self::Film(_) => false,
        }
    }

    /// The destination for an animation called `name`, one of `count`.
    ///
    /// # Errors
    /// As [`Pattern::for_animation`].
    pub(crate) fn for_animation(&self, name: &str, count: usize) -> Result<Self, PatternError> {
        Ok(match self {
            Self::Files(files) => Self::Files(files.for_animation(name, count)?),
            Self::Video(video) => Self::Video(video.for_animation(name, count)?),
            Self::Stream(..) | Self::Film(_) => self.clone(),
        })
    }

    /// The file of a frame, or the video, of a scene; none for streams.
    pub(crate) fn first_file(&self, scene: &str) -> Option<PathBuf> {
        match self {
            Self::Files(files) => Some(files.path_for(1, scene)),
            Self::Video(video) => Some(video.path(scene)),
            Self::Film(path) => Some(path.clone()),
            Self::Stream(..) => None,
        }
    }

    /// Adapts the destination to the number of frames: a WebP file without a place for their numbers becomes an animation of all.
    pub(crate) fn for_frames(self, frames: usize) -> Result<Self, PatternError> {
        match self {
            Self::Files(files) if files.check_frame_count(frames).is_err() => match files.format() {
                FileFormat::WebP => Ok(Self::Video(files.with_format(VideoFormat::WebP))),
                _ => files.check_frame_count(frames).map(|()| Self::Files(files)),
            },
            other => Ok(other),
        }
    }
}

/// Writes the text from which an equal destination can be parsed, if it is UTF-8.
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

/// Writes a description for people.
impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Stdout => f.write_str("standard output"),
            Self::Node(path) => path.display().fmt(f),
        }
    }
}

impl Stream {
    /// Opens the stream for pictures in the order of frames. A pipe is opened only for the first of them.
    pub(crate) fn open(&self, format: FileFormat, encoding: Encoding) -> InOrder {
        let prepare = move |picture: &super::Picture| format.encode(picture, &encoding);
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
        let pixels = super::super::Pixels::U8(vec![0; 3].into());
        let picture = super::super::picture::testing::picture((1, 1), pixels, &metadata);
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
