//! Films of parts of a picture, joined to the picture or to a film of all of them.
//!
//! Sums are exact, so the result is the same bits in whatever order and groups films are joined, and the same as of one run that takes all
//! samples. Films are read and the file is written a band of rows at a time: memory does not grow with the picture's height, nor with the number
//! of films.

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

/// Rows of a band: those that OpenEXR files compress together.
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

/// What to do about a part that cannot be joined.
fn explain(error: &CheckpointError) -> String {
    match error {
        CheckpointError::Damaged { path } => {
            format!("the film {} is damaged: delete it and render that part again", path.display())
        }
        other => other.to_string(),
    }
}

impl MergeError {
    /// Whether the command line is wrong, rather than a film.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Format(_) | Self::Depth { .. })
    }
}

/// What was made.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Merged {
    pub width: u32,
    pub height: u32,
    /// The samples of each pixel, as people count them.
    pub samples: String,
    pub films: usize,
}

/// Joins films into the file `output`: a picture if it is a `.png` or `.exr`, for which all samples have to be there, or another `.film`.
///
/// # Errors
/// If `output` is one of the films, whatever its name; if the films are of different pictures, or samples are missing or there twice; when one cannot be read or the file cannot be written.
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

/// Why a file was not written to its end.
enum Failure {
    Io(io::Error),
    Film(CheckpointError),
}

/// Films of one picture, and what becomes of them.
struct Join {
    films: Vec<FilmFile>,
    /// The header of a film of all of them.
    header: FilmHeader,
    /// The settings of what is made, with the sums of layers if there are any.
    settings: FrameSettings,
    developer: Developer,
}

impl Join {
    /// Checks that the films make up a picture whose pixels have this type or, if there is none, a film.
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
        let settings = FrameSettings { layer_sums: has_layers, ..picture.settings.clone() };
        let mut header = FilmHeader { picture, has_layers, finished: true, ..first.header.clone() };
        header.of.settings = format!("{:?}", sampling(&settings));
        if let [one] = &samples[..] {
            (header.state.first, header.state.samples) = (one.start, one.end);
        }
        header.samples = samples;
        Ok(Self { films, header, settings, developer: Developer::new()? })
    }

    /// Joins all bands and writes them in order, a few at a time on all threads.
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

    /// The settings of a picture of some rows alone, counted from the first that is made.
    fn band_settings(&self, rows: &Range<usize>) -> FrameSettings {
        let of = self.header.region();
        let region = Region { y: of.y + rows.start as u32, height: rows.len() as u32, ..of };
        FrameSettings { region: Some(region), ..self.settings.clone() }
    }

    /// The sums of some rows of all films.
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

/// Checks that a film is of the same picture as the first one, and that it can be joined.
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

/// The smallest rectangle around both.
fn around(a: &Region, b: &Region) -> Region {
    let (x, y) = (a.x.min(b.x), a.y.min(b.y));
    Region { x, y, width: a.right().max(b.right()) - x, height: a.bottom().max(b.bottom()) - y }
}

/// The same picture with another region and, if they are given, pixels of another type, as its metadata tell, too.
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

/// The text of a value in metadata. Numbers and names always have one.
fn json(value: impl serde::Serialize) -> String {
    serde_json::to_string(&value).unwrap_or_default()
}
