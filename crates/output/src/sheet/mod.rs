//! Contact sheets: a selection of frames side by side in one picture, with their numbers and the names of rows.

mod canvas;
mod font;
mod rows;

use super::{
    Backdrop, EncodeError, Encoding, FileFormat, InOrder, Manifests, Metadata, OutputError, PartialFile, Pattern,
    PatternError, Picture, Pixels, Sink, in_order::Prepare,
};
use canvas::Canvas;
use font::Font;
pub use rows::{SheetRow, SheetRows};
use std::{
    collections::HashSet,
    ffi::OsStr,
    io::{self, Write},
    path::{Path, PathBuf},
};
use throng_base::math::{linear_from_srgb, srgb_from_linear};
use throng_picture::pixels::PixelType;

/// Maximum width of a sheet in pixels. Frames are scaled down to fit.
const WIDEST: u32 = 3840;
/// Pixels between frames and around them.
const GAP: u32 = 8;
const BACKGROUND: u8 = 24;
/// Grey of row names.
const NAME: u8 = 200;
/// Greys of frame numbers and of their background.
const NUMBER: (u8, u8) = (255, 0);
/// Ratio of the sheet's width to the height of a row name, so that names remain legible when a wide sheet is scaled to a screen.
const WIDTH_PER_NAME: u32 = 60;
/// Ratio of a frame's height to the height of its number.
const HEIGHT_PER_NUMBER: u32 = 6;

/// The layout of frames on a sheet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SheetLayout {
    /// Numbers of the frames in their order on the sheet, row by row.
    pub frames: Vec<u32>,
    pub columns: u32,
    pub rows: u32,
    /// Index of the row in which the first frame is placed.
    pub first_row: u32,
    /// Size of one frame on the sheet, in pixels.
    pub tile: (u32, u32),
    /// Font of the names above the rows. None: rows have no names.
    name_font: Option<Font>,
}

impl SheetLayout {
    /// Lays out `count` of `frames`, selected by [`choose`], for pictures of the given size.
    pub fn new(frames: &[u32], count: usize, width: u32, height: u32) -> Self {
        let chosen = choose(frames, count);
        // The numbers of columns and rows are nearly equal, so that the sheet has about the aspect ratio of a frame.
        let columns = (chosen.len() as f64).sqrt().ceil().max(1.0) as u32;
        let rows = (chosen.len() as u32).div_ceil(columns);
        Self { frames: chosen, columns, rows, first_row: 0, tile: tile(columns, width, height), name_font: None }
    }

    /// Lays out `columns` of `frames` as one of several rows, with a strip for the row's name above it. Other rows have their own frames.
    pub fn in_row(frames: &[u32], columns: usize, (width, height): (u32, u32), (first_row, rows): (u32, u32)) -> Self {
        let (chosen, columns) = (choose(frames, columns), columns.max(1) as u32);
        let tile = tile(columns, width, height);
        let name_font = Some(Font::at_most(start_of(columns, tile.0) / WIDTH_PER_NAME));
        Self { frames: chosen, columns, rows, first_row, tile, name_font }
    }

    /// Size of the whole sheet, in pixels.
    pub fn size(&self) -> (u32, u32) {
        (start_of(self.columns, self.tile.0), self.top(self.rows))
    }

    /// Top of the row with this index, in pixels: of its name, if it has one.
    fn top(&self, row: u32) -> u32 {
        start_of(row, self.name_height() + self.tile.1)
    }

    /// Height of the strip above each row, in pixels.
    fn name_height(&self) -> u32 {
        self.name_font.map_or(0, Font::height)
    }

    fn place(&self, frame: u32) -> Option<(u32, u32)> {
        let index = self.frames.iter().position(|&other| other == frame)? as u32;
        let row = self.first_row + index / self.columns;
        Some((start_of(index % self.columns, self.tile.0), self.top(row) + self.name_height()))
    }
}

/// Position of the item with this index, in pixels. Items have the given length, and gaps between them and before the first one.
fn start_of(index: u32, length: u32) -> u32 {
    GAP + index * (length + GAP)
}

/// Size in pixels of one of `columns` frames side by side.
fn tile(columns: u32, width: u32, height: u32) -> (u32, u32) {
    let widest = (WIDEST.saturating_sub(GAP * (columns + 1)) / columns).max(1);
    let tile_width = width.min(widest);
    let tile_height = (u64::from(height) * u64::from(tile_width)).div_ceil(width.max(1).into());
    (tile_width, (tile_height as u32).max(1))
}

/// Selects `count` of `frames` at even distances, including the first and the last.
pub fn choose(frames: &[u32], count: usize) -> Vec<u32> {
    let count = count.clamp(1, frames.len().max(1));
    let gaps = count.saturating_sub(1).max(1);
    let at = |index: usize| (index * frames.len().saturating_sub(1) + gaps / 2) / gaps;
    (0..count).filter_map(|index| frames.get(at(index)).copied()).collect()
}

/// Opens the sheet at `path`. The format must support 8-bit pixels.
///
/// # Errors
/// If the file cannot be created.
pub fn open_sheet(
    path: PathBuf,
    format: FileFormat,
    layout: SheetLayout,
    encoding: Encoding,
) -> Result<InOrder, OutputError> {
    let failed = |error| OutputError::File { path: path.clone(), error };
    let sheet = Sheet::create(&path, format, layout.size(), encoding).map_err(failed)?;
    let prepare = preparation(&layout);
    Ok(InOrder::new(path, prepare, Box::new(WholeSheet { sheet, layout })))
}

/// Scales the frames of a layout down; other frames become empty.
fn preparation(layout: &SheetLayout) -> Prepare {
    let wanted: HashSet<u32> = layout.frames.iter().copied().collect();
    let tile = layout.tile;
    Box::new(
        move |picture: &Picture| {
            if wanted.contains(&picture.metadata.frame) { shrink(picture, tile) } else { Ok(Vec::new()) }
        },
    )
}

/// The picture of a sheet, and its file.
struct Sheet {
    part: PartialFile,
    format: FileFormat,
    encoding: Encoding,
    size: (u32, u32),
    canvas: Canvas,
    /// Metadata of the last frame on the sheet.
    metadata: Metadata,
}

impl Sheet {
    fn create(path: &Path, format: FileFormat, size: (u32, u32), encoding: Encoding) -> io::Result<Self> {
        let canvas = Canvas::new(size.0, size.1, BACKGROUND);
        Ok(Self { part: PartialFile::create(path)?, format, encoding, size, canvas, metadata: Metadata::default() })
    }

    fn add(&mut self, tile: &[u8], layout: &SheetLayout, metadata: &Metadata) {
        if let Some(place) = layout.place(metadata.frame)
            && !tile.is_empty()
        {
            self.canvas.paste(tile, layout.tile, place);
            let font = Font::at_most(layout.tile.1 / HEIGHT_PER_NUMBER);
            self.canvas.write(&metadata.frame.to_string(), font, NUMBER, place);
            self.metadata = metadata.clone();
        }
    }

    /// Writes the name of a layout's first row above it.
    fn write_name(&mut self, name: &str, layout: &SheetLayout) {
        if let Some(font) = layout.name_font {
            let name = font.fit(name, self.size.0.saturating_sub(2 * GAP));
            self.canvas.write(&name, font, (NAME, BACKGROUND), (GAP, layout.top(layout.first_row)));
        }
    }

    /// Encodes the sheet and writes the file.
    fn write(&mut self) -> io::Result<()> {
        let (width, height) = self.size;
        let picture = Picture {
            width,
            height,
            pixels: Pixels::from_bytes(PixelType::U8, self.canvas.pixels()),
            aovs: &[],
            transparent: false,
            blocks: None,
            display: None,
            manifests: &Manifests::default(),
            metadata: &self.metadata,
        };
        let file = self.format.encode(&picture, &self.encoding).map_err(io::Error::other)?;
        self.part.file().write_all(&file)?;
        self.part.persist()
    }
}

/// A sheet with the frames of one run.
struct WholeSheet {
    sheet: Sheet,
    layout: SheetLayout,
}

impl Sink for WholeSheet {
    fn add(&mut self, tile: Vec<u8>, metadata: &Metadata) -> io::Result<()> {
        self.sheet.add(&tile, &self.layout, metadata);
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.sheet.write()
    }
}

/// Scales a picture down to `size`, over the colour of the sheet if it is transparent. Each pixel is the mean, in linear light, of the
/// pixels that it covers. This keeps the brightness of small details.
fn shrink(picture: &Picture, size: (u32, u32)) -> Result<Vec<u8>, EncodeError> {
    let mut rgb = picture.pixels.bytes()?;
    if let Some(alpha) = picture.alpha() {
        let mut over = Pixels::U8(rgb);
        Backdrop::of_color([linear_from_srgb(f32::from(BACKGROUND) / 255.0); 3]).lay_under(&mut over, alpha);
        rgb = over.bytes()?.into_owned().into();
    }
    if (picture.width, picture.height) == size {
        return Ok(rgb.into_owned());
    }
    let linear: Vec<f32> = (0..=255u8).map(|value| linear_from_srgb(f32::from(value) / 255.0)).collect();
    let pixels: Vec<[f32; 3]> = rgb.as_chunks::<3>().0.iter().map(|p| p.map(|v| linear[usize::from(v)])).collect();
    let (width, height) = (picture.width as usize, picture.height as usize);
    let (columns, rows) = (size.0 as usize, size.1 as usize);
    let mut small = Vec::with_capacity(columns * rows * 3);
    for row in 0..rows {
        for column in 0..columns {
            let (top, bottom) = span(row, rows, height);
            let (left, right) = span(column, columns, width);
            let mut sum = [0f32; 3];
            for y in top..bottom {
                for pixel in &pixels[y * width + left..y * width + right] {
                    sum.iter_mut().zip(pixel).for_each(|(sum, value)| *sum += value);
                }
            }
            let count = ((bottom - top) * (right - left)) as f32;
            small.extend(sum.map(|sum| (srgb_from_linear(sum / count) * 255.0 + 0.5) as u8));
        }
    }
    Ok(small)
}

/// Range of the `of` pixels that pixel `index` of `count` covers; at least one pixel.
fn span(index: usize, count: usize, of: usize) -> (usize, usize) {
    let start = (index * of / count).min(of - 1);
    (start, ((index + 1) * of / count).clamp(start + 1, of))
}

/// Parses the argument of `--sheet`: the name of one picture.
///
/// # Errors
/// As [`Pattern::parse`]; also if the name has a placeholder for the frame number.
pub fn parse_sheet(text: impl AsRef<OsStr>) -> Result<Pattern, PatternError> {
    Pattern::parse(text)?.without_frame()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::testing::{metadata, picture};

    #[test]
    fn frames_are_chosen_at_even_distances() {
        let all: Vec<u32> = (1..=100).collect();
        assert_eq!(choose(&all, 4), [1, 34, 67, 100]);
        assert_eq!(choose(&all, 1), [1]);
        assert_eq!(choose(&[5, 7], 9), [5, 7]);
        assert!(choose(&[], 3).is_empty());
        let mut twice = choose(&all, 37);
        twice.dedup();
        assert_eq!(twice.len(), 37);
    }

    #[test]
    fn sheets_are_as_square_as_they_can_be_and_not_too_wide() {
        let all: Vec<u32> = (1..=100).collect();
        let layout = SheetLayout::new(&all, 12, 1920, 1080);
        assert_eq!((layout.columns, layout.frames.len()), (4, 12));
        assert!(layout.size().0 <= WIDEST && layout.size().0 > WIDEST - 8);
        let small = SheetLayout::new(&all, 2, 64, 36);
        assert_eq!((small.tile, small.columns), ((64, 36), 2));
        assert_eq!(small.size(), (64 * 2 + 3 * GAP, 36 + 2 * GAP));
    }

    #[test]
    fn names_of_rows_are_above_them_and_as_large_as_the_sheet_allows() {
        let strip = |columns, tile| SheetLayout::in_row(&[1], columns, tile, (1, 3)).name_height();
        assert_eq!([strip(4, (64, 36)), strip(3, (500, 281)), strip(8, (1280, 720))], [16, 24, 32]);
        let layout = SheetLayout::in_row(&[1, 2, 3], 2, (64, 36), (1, 3));
        assert_eq!(layout.size(), (2 * 64 + 3 * GAP, 3 * (16 + 36) + 4 * GAP));
        assert_eq!(layout.top(1), 2 * GAP + 16 + 36);
        assert_eq!(layout.place(3), Some((64 + 2 * GAP, layout.top(1) + 16)));
    }

    #[test]
    fn shrinking_keeps_the_light() {
        let rgb = [[0u8; 3], [255; 3]].concat().repeat(8);
        let metadata = metadata();
        let picture = picture((4, 4), Pixels::U8(rgb.into()), &metadata);
        assert_eq!(shrink(&picture, (2, 2)).unwrap(), [188; 12]);
    }

    #[test]
    fn a_sheet_shows_the_frames_that_were_chosen() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sheet.png");
        let layout = SheetLayout::new(&[1, 2, 3], 2, 40, 30);
        let sheet = open_sheet(path.clone(), FileFormat::Png, layout, Encoding::default()).unwrap();
        for (position, value) in [10u8, 20, 30].into_iter().enumerate() {
            let metadata = Metadata { frame: position as u32 + 1, ..metadata() };
            let pixels = Pixels::U8(vec![value; 40 * 30 * 3].into());
            sheet.add(position, &picture((40, 30), pixels, &metadata)).unwrap();
        }
        assert!(!path.exists());
        sheet.finish().unwrap();
        let read = image::open(&path).unwrap().into_rgb8();
        assert_eq!(read.dimensions(), (2 * 40 + 3 * GAP, 30 + 2 * GAP));
        assert_eq!(read.get_pixel(GAP + 39, GAP + 29).0, [10; 3]);
        assert_eq!(read.get_pixel(2 * GAP + 40 + 39, GAP + 29).0, [30; 3]);
        assert_eq!(read.get_pixel(0, 0).0, [BACKGROUND; 3]);
    }
}
