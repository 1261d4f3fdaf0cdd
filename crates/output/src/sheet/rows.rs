//! Contact sheets whose rows come from separate runs, for example one row per animation.

use super::{Sheet, SheetLayout, preparation};
use crate::{Encoding, FileFormat, InOrder, Metadata, OutputError, Sink};
use std::{
    fmt, io,
    path::PathBuf,
    sync::{Arc, Mutex},
};
use throng_base::sync::lock;

/// A sheet that receives its rows one after the other. [`SheetRows::finish`] writes it.
#[derive(Clone)]
pub struct SheetRows {
    count: u32,
    /// None before the first row.
    sheet: Arc<Mutex<Option<(PathBuf, Sheet)>>>,
}

/// One of the rows of a sheet.
#[derive(Clone, Debug)]
pub struct SheetRow {
    rows: SheetRows,
    index: u32,
    /// The name above the row.
    name: String,
}

impl SheetRows {
    /// A sheet with `count` rows.
    pub fn new(count: usize) -> Self {
        Self { count: count as u32, sheet: Arc::default() }
    }

    /// The row with this index, counted from 0. `name` is written above it.
    pub fn row(&self, index: usize, name: &str) -> SheetRow {
        SheetRow { rows: self.clone(), index: index as u32, name: name.to_owned() }
    }

    /// Writes the sheet if any of its rows was opened, and returns its path.
    ///
    /// # Errors
    /// If the sheet cannot be written.
    pub fn finish(&self) -> Result<Option<PathBuf>, OutputError> {
        let Some((path, mut sheet)) = lock(&self.sheet).take() else { return Ok(None) };
        match sheet.write() {
            Ok(()) => Ok(Some(path)),
            Err(error) => Err(OutputError::File { path, error }),
        }
    }
}

impl fmt::Debug for SheetRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SheetRows").field("count", &self.count).finish()
    }
}

impl SheetRow {
    /// The layout of the row: `columns` of `frames`, for pictures of this size.
    pub fn layout(&self, frames: &[u32], columns: usize, size: (u32, u32)) -> SheetLayout {
        SheetLayout::in_row(frames, columns, size, (self.index, self.rows.count))
    }

    /// Opens the row in the sheet at `path`, and writes its name. All rows must have equal paths, formats and encodings, and layouts of equal
    /// size.
    ///
    /// # Errors
    /// If the file of the sheet cannot be created.
    pub fn open(
        &self,
        path: PathBuf,
        format: FileFormat,
        layout: SheetLayout,
        encoding: Encoding,
    ) -> Result<InOrder, OutputError> {
        let mut sheet = lock(&self.rows.sheet);
        if sheet.is_none() {
            let created = Sheet::create(&path, format, layout.size(), encoding);
            let created = created.map_err(|error| OutputError::File { path: path.clone(), error })?;
            *sheet = Some((path.clone(), created));
        }
        if let Some((_, sheet)) = sheet.as_mut() {
            sheet.write_name(&self.name, &layout);
        }
        drop(sheet);
        let prepare = preparation(&layout);
        Ok(InOrder::new(path, prepare, Box::new(Row { rows: self.rows.clone(), layout })))
    }
}

/// The frames of one row.
struct Row {
    rows: SheetRows,
    layout: SheetLayout,
}

impl Sink for Row {
    fn add(&mut self, tile: Vec<u8>, metadata: &Metadata) -> io::Result<()> {
        if let Some((_, sheet)) = lock(&self.rows.sheet).as_mut() {
            sheet.add(&tile, &self.layout, metadata);
        }
        Ok(())
    }

    /// The sheet is written after its last row.
    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{BACKGROUND, GAP, NAME},
        *,
    };
    use crate::{
        Pixels,
        picture::testing::{metadata, picture},
    };

    #[test]
    fn rows_are_one_below_the_other_in_one_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sheet.png");
        let rows = SheetRows::new(2);
        let names = ["Walk", ""];
        for (index, frames) in [&[1, 2, 3][..], &[1]].into_iter().enumerate() {
            let row = rows.row(index, names[index]);
            let layout = row.layout(frames, 2, (40, 30));
            let sheet = row.open(path.clone(), FileFormat::Png, layout, Encoding::default()).unwrap();
            for (position, &frame) in frames.iter().enumerate() {
                let metadata = Metadata { frame, ..metadata() };
                let pixels = Pixels::U8(vec![100 * index as u8 + frame as u8; 40 * 30 * 3].into());
                sheet.add(position, &picture((40, 30), pixels, &metadata)).unwrap();
            }
            sheet.finish().unwrap();
            assert!(!path.exists());
        }
        assert_eq!(rows.finish().unwrap(), Some(path.clone()));
        assert_eq!(rows.finish().unwrap(), None);
        let read = image::open(&path).unwrap().into_rgb8();
        let row_height = 16 + 30 + GAP;
        assert_eq!(read.dimensions(), (2 * 40 + 3 * GAP, 2 * row_height + GAP));
        let at = |column: u32, row: u32| read.get_pixel((column + 1) * (40 + GAP) - 1, (row + 1) * row_height - 1).0[0];
        assert_eq!([at(0, 0), at(1, 0), at(0, 1)], [1, 3, 101]);
        // The name is in the strip above its row, and a row without a name leaves the strip empty.
        let brightest = |row: u32| {
            let strip = GAP + row * row_height..GAP + row * row_height + 16;
            strip.flat_map(|y| (0..read.width()).map(move |x| (x, y))).map(|(x, y)| read.get_pixel(x, y).0[0]).max()
        };
        assert!(brightest(0).is_some_and(|grey| grey > 100 && grey <= NAME), "{:?}", brightest(0));
        assert_eq!(brightest(1), Some(BACKGROUND));
    }
}
