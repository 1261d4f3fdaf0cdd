//! Bands of a picture, which devices render independently.

use crate::{Accumulation, AccumulationState, FrameSettings, RayCounts, Region, Rendered, TILE};
use std::ops::Range;
use throng_picture::{aov::AovImage, pixels::Floats};

/// Bands per device: enough to keep all devices busy until the end. Bands consist of whole tiles.
const PER_DEVICE: u32 = 4;

/// Some rows of a film.
pub struct Band {
    pub first_row: u32,
    rows: u32,
    /// Columns of pixels, and columns of tiles.
    width: u32,
    tiles_x: u32,
}

/// Cuts a picture into bands for `devices` devices.
pub fn bands(settings: &FrameSettings, devices: usize) -> Vec<Band> {
    let (width, height) = settings.film_size();
    let tiles_y = height.div_ceil(TILE);
    let count = tiles_y.min(PER_DEVICE * devices as u32);
    let rows = tiles_y.div_ceil(count.max(1)) * TILE;
    let band = |first_row| Band { first_row, rows: rows.min(height - first_row), width, tiles_x: width.div_ceil(TILE) };
    (0..height).step_by(rows.max(1) as usize).map(band).collect()
}

impl Band {
    /// The settings for rendering the band on its own.
    pub fn settings(&self, settings: &FrameSettings) -> FrameSettings {
        let of = settings.region.unwrap_or(Region::of_picture((settings.width, settings.height)));
        let region = Region { y: of.y + self.first_row, height: self.rows, ..of };
        FrameSettings { region: Some(region), ..settings.clone() }
    }

    /// The band's part of a film.
    pub fn film_of(&self, film: &Accumulation, settings: &FrameSettings) -> Accumulation {
        let row = self.width as usize * Accumulation::sum_words(settings);
        let words = row * self.first_row as usize..row * (self.first_row + self.rows) as usize;
        let part = |sums: &[u32]| sums.get(words.clone()).unwrap_or_default().to_vec();
        let tiles = self.tiles();
        let own =
            |all: &Vec<u32>| all.iter().filter(|tile| tiles.contains(tile)).map(|tile| tile - tiles.start).collect();
        Accumulation {
            sums: part(&film.sums),
            odd: part(&film.odd),
            layers: Vec::new(),
            state: AccumulationState { tiles: film.state.tiles.as_ref().map(own), ..film.state.clone() },
        }
    }

    /// Numbers of the band's tiles in the whole film.
    fn tiles(&self) -> Range<u32> {
        let row = |y: u32| y.div_ceil(TILE) * self.tiles_x;
        row(self.first_row)..row(self.first_row + self.rows)
    }
}

/// Concatenates the films of all bands, which must be in order. Bands with little noise may have fewer samples than others.
pub fn joined_films(films: Vec<Accumulation>, bands: &[Band]) -> Accumulation {
    let mut all = Accumulation::default();
    for (film, band) in films.into_iter().zip(bands) {
        all.sums.extend(film.sums);
        all.odd.extend(film.odd);
        all.layers.extend(film.layers);
        all.state.first = film.state.first;
        all.state.samples = all.state.samples.max(film.state.samples);
        all.state.pass = all.state.pass.max(film.state.pass);
        if let Some(tiles) = film.state.tiles {
            let first = band.tiles().start;
            all.state.tiles.get_or_insert_default().extend(tiles.iter().map(|tile| tile + first));
        }
    }
    all
}

/// Concatenates the pictures of all bands, which must be in order. Times are the first band's.
pub fn joined_pictures(pictures: Vec<Rendered>) -> Rendered {
    let mut rays = RayCounts::default();
    pictures.iter().for_each(|picture| rays += picture.rays);
    let pixels: Vec<&[u8]> = pictures.iter().map(|picture| &picture.pixels[..]).collect();
    let pixels = pixels.concat().into();
    let first = pictures.first();
    let image = |(index, image): (usize, &AovImage)| {
        let values: Vec<&[f32]> =
            pictures.iter().filter_map(|picture| picture.aovs.get(index)).map(|image| &image.values[..]).collect();
        AovImage { aov: image.aov, values: Floats::from(values.concat()) }
    };
    let aovs = first.into_iter().flat_map(|first| first.aovs.iter().enumerate()).map(image).collect();
    let time = first.map(|first| first.time).unwrap_or_default();
    Rendered { pixels, aovs, blocks: None, records: None, kept: None, rays, time, stages: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::settings;

    #[test]
    fn bands_cover_all_rows_in_whole_tiles() {
        for (height, devices) in [(1, 2), (8, 2), (9, 2), (100, 3), (2160, 8)] {
            let settings = FrameSettings { height, ..settings() };
            let mut next = 0;
            for band in bands(&settings, devices) {
                assert_eq!((band.first_row, band.first_row % TILE), (next, 0));
                next += band.rows;
            }
            assert_eq!(next, height);
        }
    }
}
