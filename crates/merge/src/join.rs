//! The films of one picture, and their sums.

use crate::{
    MergeError,
    coverage::{self, Piece},
    sinks::Sink,
};
use rayon::prelude::*;
use std::{io, ops::Range};
use throng_device::{Accumulation, Developer, FrameSettings, Region, layer_words};
use throng_output::{CheckpointError, FilmFile, FilmHeader, FilmPicture, Texts};
use throng_picture::pixels::PixelType;
use throng_render::sampling;

/// Rows of a band: the block height of OpenEXR files.
const BAND: usize = 16;

/// Reason why writing a file stopped.
pub enum Failure {
    Io(io::Error),
    Film(CheckpointError),
}

/// The films of one picture, and the properties of the result.
pub struct Join {
    pub films: Vec<FilmFile>,
    /// The header of the joined film.
    pub header: FilmHeader,
    /// The settings of the result.
    pub settings: FrameSettings,
    pub developer: Developer,
}

impl Join {
    /// Checks that the films add up to a picture with pixels of type `pixels`, or to a film if it is None.
    pub fn new(films: Vec<FilmFile>, pixels: Option<PixelType>) -> Result<Self, MergeError> {
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
    pub fn write<S: Sink>(&self, mut sink: S) -> Result<(), Failure> {
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
    pub fn band_settings(&self, rows: &Range<usize>) -> FrameSettings {
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
