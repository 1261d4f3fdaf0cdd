//! Joins the films of parts of a picture into the picture, or into one film.
//!
//! Sums are exact. The result therefore does not depend on the order and grouping of the films, and is bitwise equal to one run with all
//! samples. Films are read, and the output is written, one band of rows at a time, so memory use depends neither on the picture's height
//! nor on the number of films.

mod coverage;
mod sinks;

use coverage::Piece;
use rayon::prelude::*;
use sinks::{ExrSink, FilmSink, PngSink, Sink};
use std::{
    fs::File,
    io,
    ops::Range,
    path::{Path, PathBuf},
};
use throng_base::files::remember_input;
use throng_device::{Accumulation, Developer, DeviceError, FrameSettings, Region, layer_words};
use throng_output::{
    CheckpointError, ColorDepth, Encoding, FileFormat, FilmFile, FilmHeader, FilmPicture, OutputError, Planned, Texts,
    fill_atomically, prepare_distinct,
};
use throng_picture::pixels::PixelType;
use throng_render::sampling;

/// Rows of a band: the block height of OpenEXR files.
const BAND: usize = 16;

#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    #[error("--output: films are joined into .png, .exr or .film files, but {} is none of these", .0.display())]
    Format(PathBuf),
    #[error("--color-depth: .{extension} files do not have that many bits; .png has 8 or 16, .exr 16 or 32")]
    Depth { extension: &'static str },
    #[error("{} and {} belong to different pictures: in the second, {why}", .first.display(), .second.display())]
    Different { first: PathBuf, second: PathBuf, why: String },
    #[error(
        "{} was sampled by noise, which requires the whole picture; make parts with --samples instead of --noise",
        .0.display()
    )]
    Noise(PathBuf),
    #[error("{} was interrupted before it had its layers; run its command again to finish it", .0.display())]
    Unfinished(PathBuf),
    #[error(
        "{} has no sums of layers, as checkpoints of pictures do not; render the part into a file like a.film",
        .0.display()
    )]
    NoLayers(PathBuf),
    #[error("no film has samples {samples}{place}{more}")]
    Gap { samples: String, place: String, more: String },
    #[error("{first} and {second} both have samples {samples} of the region {region}")]
    Overlap { first: String, second: String, samples: String, region: Region },
    #[error("{}", explain(.0))]
    Film(#[from] CheckpointError),
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error(transparent)]
    Output(#[from] OutputError),
}

/// The message for a part that cannot be joined, with a remedy if there is one.
fn explain(error: &CheckpointError) -> String {
    match error {
        CheckpointError::Damaged { path } => {
            format!("the film {} is damaged: delete it and render that part again", path.display())
        }
        other => other.to_string(),
    }
}

impl MergeError {
    /// Whether the command line is at fault, and not a film.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Format(_) | Self::Depth { .. })
    }
}

/// A summary of the written file.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Merged {
    pub width: u32,
    pub height: u32,
    /// The samples of each pixel, counted from 1, such as "1-32, 40".
    pub samples: String,
    pub films: usize,
}

/// Joins films into the file `output`. A `.png` or `.exr` file needs all samples of the picture; a `.film` file may have only some of them.
///
/// # Errors
/// If `output` is one of the films under any name; if the films are of different pictures; if samples are missing or occur twice; if a film
/// cannot be read or `output` cannot be written.
pub fn merge(paths: &[PathBuf], output: &Path, encoding: &Encoding) -> Result<Merged, MergeError> {
    let extension = output.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let format = match FileFormat::from_extension(&extension) {
        Some(format @ (FileFormat::Png | FileFormat::Exr)) => Some(format),
        _ if extension == "film" => None,
        _ => return Err(MergeError::Format(output.to_owned())),
    };
    let pixels = format.map(|format| {
        let pixels = format.pixels(encoding.depth);
        pixels.ok_or(MergeError::Depth { extension: format.extension() })
    });
    if format.is_none() && encoding.depth != ColorDepth::Usual {
        return Err(MergeError::Depth { extension: "film" });
    }
    let pixels = pixels.transpose()?;
    let films: Vec<FilmFile> = paths.iter().map(|path| FilmFile::open(path)).collect::<Result<_, _>>()?;
    paths.iter().for_each(|path| remember_input(path));
    let join = Join::new(films, pixels)?;
    prepare_distinct(vec![Planned::new(output, "the merged file")])?;
    let size = join.settings.film_size();
    let merged = Merged {
        width: size.0,
        height: size.1,
        samples: coverage::text(&join.header.samples),
        films: join.films.len(),
    };
    let mut failed = None;
    let mut fill = |file: &File| {
        let written = match format {
            Some(FileFormat::Png) => join.write(PngSink::new(&join, file, pixels.unwrap_or_default())?),
            Some(_) => join.write(ExrSink::new(&join, file, *encoding)),
            None => join.write(FilmSink::new(&join, file)?),
        };
        match written {
            Ok(()) => Ok(()),
            Err(Failure::Io(error)) => Err(error),
            Err(Failure::Film(error)) => {
                failed = Some(error);
                Err(io::Error::other("a film cannot be read"))
            }
        }
    };
    let filled = fill_atomically(output, &mut fill);
    match failed {
        Some(error) => Err(error.into()),
        None => Ok(filled.map(|()| merged)?),
    }
}

/// Reason why writing a file stopped.
enum Failure {
    Io(io::Error),
    Film(CheckpointError),
}

/// The films of one picture, and the properties of the result.
struct Join {
    films: Vec<FilmFile>,
    /// The header of the joined film.
    header: FilmHeader,
    /// The settings of the result.
    settings: FrameSettings,
    developer: Developer,
}

impl Join {
    /// Checks that the films add up to a picture with pixels of type `pixels`, or to a film if it is None.
    fn new(films: Vec<FilmFile>, pixels: Option<PixelType>) -> Result<Self, MergeError> {
        let Some(first) = films.first() else {
            let samples = "of any picture".to_owned();
            return Err(MergeError::Gap { samples, place: String::new(), more: String::new() });
        };
        for film in &films {
            check(first, film)?;
        }
        let pieces: Vec<Piece> = films.iter().map(piece).collect();
        let picture = &first.header.picture;
        let size = (picture.settings.width, picture.settings.height);
        let whole = Region::of_picture(size);
        let (region, wanted) = match pixels {
            Some(_) => (whole, Some(std::iter::once(0..picture.settings.samples).collect())),
            None => (pieces.iter().fold(pieces[0].region, |all, piece| around(&all, &piece.region)), None),
        };
        let samples = coverage::check(&pieces, region, wanted)?;
        let region = (region != whole).then_some(region);
        let picture = with(picture, region, pixels);
        let has_layers = layer_words(picture.settings.aovs) > 0;
        let settings = picture.settings.clone();
        let mut header = FilmHeader { picture, has_layers, finished: true, ..first.header.clone() };
        header.of.settings = format!("{:?}", sampling(&settings));
        if let [one] = &samples[..] {
            (header.state.first, header.state.samples) = (one.start, one.end);
        }
        header.samples = samples;
        Ok(Self { films, header, settings, developer: Developer::new()? })
    }

    /// Joins all bands and writes them in order. A few bands at a time are processed in parallel.
    fn write<S: Sink>(&self, mut sink: S) -> Result<(), Failure> {
        let height = self.settings.film_size().1 as usize;
        let bands: Vec<Range<usize>> = (0..height).step_by(BAND).map(|row| row..height.min(row + BAND)).collect();
        for bands in bands.chunks(2 * rayon::current_num_threads()) {
            let make = |rows: &Range<usize>| {
                let mut film = self.band(rows).map_err(Failure::Film)?;
                sink.encode(rows, &mut film).map_err(Failure::Io)
            };
            let made: Vec<S::Encoded> = bands.par_iter().map(make).collect::<Result<_, _>>()?;
            made.into_iter().try_for_each(|band| sink.write(band)).map_err(Failure::Io)?;
        }
        sink.finish().map_err(Failure::Io)
    }

    /// The settings for some rows of the result, counted from its first row.
    fn band_settings(&self, rows: &Range<usize>) -> FrameSettings {
        let of = self.header.region();
        let region = Region { y: of.y + rows.start as u32, height: rows.len() as u32, ..of };
        FrameSettings { region: Some(region), ..self.settings.clone() }
    }

    /// The sums of some rows over all films.
    fn band(&self, rows: &Range<usize>) -> Result<Accumulation, CheckpointError> {
        let settings = self.band_settings(rows);
        let band = settings.region.unwrap_or(self.header.region());
        let mut film = Accumulation::for_joining(&settings);
        let mut own = Accumulation::default();
        for part in &self.films {
            let region = part.header.region();
            let (top, bottom) = (band.y.max(region.y), band.bottom().min(region.bottom()));
            if top >= bottom {
                continue;
            }
            part.read_into((top - region.y) as usize..(bottom - region.y) as usize, &mut own)?;
            let width = region.width as usize;
            for (index, row) in (top..bottom).enumerate() {
                let to = (row - band.y) as usize * band.width as usize + (region.x - band.x) as usize;
                self.developer.join(&settings, (&mut film, to), (&own, index * width), width);
            }
        }
        Ok(film)
    }
}

fn piece(film: &FilmFile) -> Piece {
    Piece { name: film.path.display().to_string(), region: film.header.region(), samples: film.header.samples.clone() }
}

/// Checks that a film belongs to the picture of the first film, and that it can be joined.
fn check(first: &FilmFile, film: &FilmFile) -> Result<(), MergeError> {
    let neutral = |film: &FilmFile| with(&film.header.picture, None, Some(PixelType::F32));
    let (of, own) = (neutral(first), neutral(film));
    let told: Texts = own.metadata.texts().into_iter().map(|(name, text)| (name.to_owned(), text)).collect();
    let measured = || (of != own).then(|| "its exposure or its layers differ".to_owned());
    if let Some(why) = of.metadata.difference(&told).or_else(measured) {
        let (first, second) = (first.path.clone(), film.path.clone());
        return Err(MergeError::Different { first, second, why });
    }
    let settings = &film.header.picture.settings;
    if settings.noise.is_some() {
        return Err(MergeError::Noise(film.path.clone()));
    }
    if layer_words(settings.aovs) > 0 && !film.header.has_layers {
        let path = film.path.clone();
        return Err(if film.header.finished { MergeError::NoLayers(path) } else { MergeError::Unfinished(path) });
    }
    Ok(())
}

/// The bounding rectangle of two regions.
fn around(a: &Region, b: &Region) -> Region {
    let (x, y) = (a.x.min(b.x), a.y.min(b.y));
    Region { x, y, width: a.right().max(b.right()) - x, height: a.bottom().max(b.bottom()) - y }
}

/// A copy of the picture with another region and, if given, another pixel type. The metadata text is updated to match.
fn with(picture: &FilmPicture, region: Option<Region>, pixels: Option<PixelType>) -> FilmPicture {
    let mut picture = picture.clone();
    let settings = &mut picture.settings;
    let text = &mut picture.metadata.settings;
    if let Some(own) = settings.region {
        *text = text.replacen(&format!("\"region\":{},", json(own)), "", 1);
    }
    if let Some(region) = region {
        let height = format!("\"height\":{},", settings.height);
        *text = text.replacen(&height, &format!("{height}\"region\":{},", json(region)), 1);
    }
    if let Some(pixels) = pixels {
        let [old, new] = [settings.pixels, pixels].map(|pixels| format!("\"pixels\":{}", json(pixels)));
        *text = text.replacen(&old, &new, 1);
        settings.pixels = pixels;
    }
    settings.region = region;
    picture.metadata.region = region.map(|region| (region, (settings.width, settings.height)));
    picture
}

/// A value as metadata has it, in JSON. Serialization cannot fail for numbers and names.
fn json(value: impl serde::Serialize) -> String {
    serde_json::to_string(&value).unwrap_or_default()
}
