//! What follows `--output`: a file for each frame, standard output, or a film.

use super::{
    Encoding, FileFormat, FilmFormat, FilmName, InOrder, Metadata, Pattern, PatternError, Sink,
};
use std::{
    fmt,
    io::{self, Write},
};

/// Where frames go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    Files(Pattern),
    /// One picture after the other.
    Stdout(FileFormat),
    Film(FilmName),
}

impl Destination {
    /// `-` is standard output, for PNG files or, as `-.jpg`, for others; extensions of films make a film; everything else names
    /// files of frames, see [`Pattern::parse`].
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        if text == "-" {
            return Ok(Self::Stdout(FileFormat::Png));
        }
        if let Some(format) = text.strip_prefix("-.").and_then(FileFormat::from_extension) {
            return Ok(Self::Stdout(format));
        }
        let extension = text.rsplit_once('.').map_or("", |(_, extension)| extension);
        let still = FileFormat::from_extension(extension).is_some();
        match FilmFormat::from_extension(extension) {
            Some(_) if !still => FilmName::parse_film(text).map(Self::Film),
            _ => Pattern::parse(text).map(Self::Files),
        }
    }

    /// The same for so many frames: a WebP file without a place for their numbers shows them all.
    pub fn for_frames(self, frames: usize) -> Result<Self, PatternError> {
        match self {
            Self::Files(files) if files.check_frame_count(frames).is_err() => {
                match files.format() {
                    FileFormat::WebP => Ok(Self::Film(files.with_format(FilmFormat::WebP))),
                    _ => files.check_frame_count(frames).map(|()| Self::Files(files)),
                }
            }
            other => Ok(other),
        }
    }
}

/// The text from which an equal destination can be parsed.
impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Files(files) => files.fmt(f),
            Self::Stdout(format) => write!(f, "-.{}", format.extension()),
            Self::Film(film) => film.fmt(f),
        }
    }
}

/// Standard output, to which pictures are written in the order of frames.
pub fn standard_output(format: FileFormat, encoding: Encoding) -> InOrder {
    let prepare = move |picture: &super::Picture| format.encode(picture, &encoding);
    InOrder::new(
        "standard output".into(),
        Box::new(prepare),
        Box::new(Stdout),
    )
}

struct Stdout;

impl Sink for Stdout {
    fn add(&mut self, picture: Vec<u8>, _: &Metadata) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(&picture)?;
        out.flush()
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
        assert_eq!(parse("-"), Destination::Stdout(FileFormat::Png));
        assert_eq!(parse("-.JPG"), Destination::Stdout(FileFormat::Jpeg));
        assert_eq!(parse("-.exr"), Destination::Stdout(FileFormat::Exr));
        assert!(matches!(parse("-a.png"), Destination::Files(_)));
    }

    #[test]
    fn extensions_of_films_make_films() {
        for name in ["a.mp4", "{scene}.WebM", "x/y.mkv", "a.gif", "a.apng"] {
            let film = parse(name);
            assert!(matches!(film, Destination::Film(_)), "{film:?}");
            assert_eq!(parse(&film.to_string()), film);
        }
        let error = Destination::parse("####.mp4").unwrap_err().to_string();
        assert!(error.contains("one name"), "{error}");
    }

    #[test]
    fn a_webp_file_without_number_shows_all_frames() {
        let still = parse("a.webp");
        assert_eq!(still.clone().for_frames(1), Ok(still.clone()));
        assert!(matches!(still.for_frames(2), Ok(Destination::Film(_))));
        let numbered = parse("a_##.webp");
        assert_eq!(numbered.clone().for_frames(2), Ok(numbered));
        assert!(parse("a.png").for_frames(2).is_err());
    }
}
