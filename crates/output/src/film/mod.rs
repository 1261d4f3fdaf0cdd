//! Film files: the sums of a picture's samples, or of a part of its samples, with all settings needed to develop the picture.
//!
//! A file starts with a line that names its kind, the length of a JSON header (u32), the header, and a checksum (u64). The end offset of
//! each row (u64, from the start of the file) follows, then the rows (`packing`), each with a checksum. All numbers are little-endian.
//! Files are written atomically. Rows can be read in any order, with little memory.

mod packing;

pub use packing::Columns;

use super::{CheckpointError, CheckpointIdentity, Manifests, Metadata, OutputError, files::fill_atomically};
use packing::Checksum;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::{
    fs::File,
    io::{self, ErrorKind, Seek, SeekFrom, Write},
    ops::Range,
    path::{Path, PathBuf},
};
use throng_base::files::{open_regular, read_exact_at};
use throng_device::{Accumulation, AccumulationState, FrameSettings, Region, layer_columns};
use throng_picture::aov::AovSet;
use throng_scene::ranges::SIDE;

const MAGIC: &[u8] = b"throng film 2\n";
/// Film files of earlier versions.
const OLD_MAGIC: &[u8] = b"throng film 1\n";
/// Maximum number of bytes of the header. It is far more than the tiles of the largest picture need, or the names of a million instances.
const MAX_HEADER: usize = 256 << 20;
/// Number of rows that are packed at a time.
const ROWS_AT_ONCE: usize = 64;

/// All data of a film except its sums.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FilmHeader {
    pub of: CheckpointIdentity,
    pub picture: FilmPicture,
    pub state: AccumulationState,
    /// The samples that all pixels have, as ascending, non-adjacent ranges.
    pub samples: Vec<Range<u32>>,
    /// Whether the film has all samples that its run was to render.
    pub finished: bool,
    /// Whether the film has sums of layers.
    pub has_layers: bool,
}

/// The picture for which a film collects samples.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FilmPicture {
    /// The frame's own settings, with the pixel type of the picture's file.
    pub settings: FrameSettings,
    /// AOVs that are written to the picture's file. The settings may request more.
    pub aovs: AovSet,
    pub metadata: Metadata,
    pub manifests: Manifests,
}

impl FilmHeader {
    /// The region of the picture that the film covers.
    pub fn region(&self) -> Region {
        let settings = &self.picture.settings;
        settings.region.unwrap_or(Region::of_picture((settings.width, settings.height)))
    }

    /// The columns of the film's sums.
    pub fn columns(&self) -> Columns {
        let settings = &self.picture.settings;
        let sums = vec![3, 3, 3, 1];
        let odd = if Accumulation::has_odd(settings) { sums.clone() } else { Vec::new() };
        let layers = if self.has_layers { layer_columns(settings.aovs) } else { Vec::new() };
        Columns::new([sums, odd, layers])
    }
}

/// Writes a film row by row.
pub struct FilmWriter<'a> {
    file: &'a File,
    table: u64,
    ends: Vec<u64>,
    end: u64,
}

impl<'a> FilmWriter<'a> {
    pub fn new(mut file: &'a File, header: &FilmHeader) -> io::Result<Self> {
        let json = serde_json::to_vec(header)?;
        let length = u32::try_from(json.len()).map_err(|_| ErrorKind::FileTooLarge)?;
        let mut head = [MAGIC, &length.to_le_bytes(), &json].concat();
        let mut sum = Checksum::default();
        sum.add(&head);
        head.extend(sum.0.to_le_bytes());
        file.write_all(&head)?;
        let table = head.len() as u64;
        let rows = header.region().height;
        let end = table + 8 * u64::from(rows);
        file.seek(SeekFrom::Start(end))?;
        Ok(Self { file, table, ends: Vec::with_capacity(rows as usize), end })
    }

    /// Appends packed rows.
    pub fn add(&mut self, rows: &PackedRows) -> io::Result<()> {
        self.file.write_all(&rows.bytes)?;
        self.ends.extend(rows.ends.iter().map(|&end| self.end + end as u64));
        self.end += rows.bytes.len() as u64;
        Ok(())
    }

    /// Writes the offset table, after the last row.
    pub fn finish(mut self) -> io::Result<()> {
        let table: Vec<u8> = self.ends.iter().flat_map(|end| end.to_le_bytes()).collect();
        self.file.seek(SeekFrom::Start(self.table))?;
        self.file.write_all(&table)
    }
}

/// Rows as they are stored in files.
#[derive(Default)]
pub struct PackedRows {
    bytes: Vec<u8>,
    /// End of each row in `bytes`.
    ends: Vec<usize>,
}

impl PackedRows {
    /// Packs the rows `rows` of a film. The slices in `parts` start with row `rows.start`.
    pub fn new(columns: &Columns, rows: Range<usize>, width: usize, parts: [&[u32]; 3]) -> Self {
        let mut packed = Self::default();
        for row in rows.clone() {
            let local = row - rows.start..row - rows.start + 1;
            let part = |k: usize| &parts[k][columns.range(k, width, &local)];
            columns.pack(row as u32, [part(0), part(1), part(2)], width, &mut packed.bytes);
            packed.ends.push(packed.bytes.len());
        }
        packed
    }
}

/// Writes `film` to `path`.
///
/// # Errors
/// If the file cannot be written. An existing file is then unchanged.
pub fn write_film(path: &Path, header: &FilmHeader, film: &Accumulation) -> Result<(), OutputError> {
    let (columns, region) = (header.columns(), header.region());
    let (width, height) = (region.width as usize, region.height as usize);
    fill_atomically(path, |file| {
        let mut writer = FilmWriter::new(file, header)?;
        let pieces: Vec<Range<usize>> =
            (0..height).step_by(ROWS_AT_ONCE).map(|row| row..height.min(row + ROWS_AT_ONCE)).collect();
        for pieces in pieces.chunks(2 * rayon::current_num_threads()) {
            let pack = |rows: &Range<usize>| {
                let parts = [&film.sums[..], &film.odd, &film.layers];
                let part = |k: usize| &parts[k][columns.range(k, width, rows)];
                PackedRows::new(&columns, rows.clone(), width, [part(0), part(1), part(2)])
            };
            let packed: Vec<PackedRows> = pieces.par_iter().map(pack).collect();
            packed.iter().try_for_each(|rows| writer.add(rows))?;
        }
        writer.finish()
    })
}

/// Whether a file with this start was a film, even if some bytes are damaged or missing. Messages advise users to delete damaged films, so
/// nothing else must be called a film.
fn resembles_film(head: &[u8]) -> bool {
    const MOST_DAMAGED: usize = 2;
    head.iter().zip(MAGIC).filter(|(byte, expected)| byte != expected).count() <= MOST_DAMAGED
}

/// A film file, opened for reading.
pub struct FilmFile {
    pub path: PathBuf,
    pub header: FilmHeader,
    columns: Columns,
    file: File,
    /// Offset of each row, and the end of the last row.
    places: Vec<u64>,
}

impl FilmFile {
    /// Opens a film and checks everything except its rows.
    ///
    /// # Errors
    /// If the file cannot be read, is damaged, is not a film, or is a film of an earlier version.
    pub fn open(path: &Path) -> Result<Self, CheckpointError> {
        let failed = |error| CheckpointError::Read { path: path.to_owned(), error };
        let damaged = || CheckpointError::Damaged { path: path.to_owned() };
        let (file, length) = open_regular(path).map_err(failed)?;
        let mut head = [0; MAGIC.len() + 4];
        let begun = usize::try_from(length).map_or(head.len(), |length| length.min(head.len()));
        read_exact_at(&file, &mut head[..begun], 0).map_err(failed)?;
        if !resembles_film(&head[..begun]) {
            return Err(CheckpointError::NoFilm { path: path.to_owned() });
        }
        let size = match head.split_last_chunk::<4>() {
            Some((magic, size)) if magic == MAGIC => u32::from_le_bytes(*size) as usize,
            Some((magic, _)) if magic == OLD_MAGIC => {
                return Err(CheckpointError::Version { path: path.to_owned() });
            }
            _ => return Err(damaged()),
        };
        if size > MAX_HEADER || (head.len() + size + 8) as u64 > length {
            return Err(damaged());
        }
        let mut bytes = vec![0; head.len() + size + 8];
        read_exact_at(&file, &mut bytes, 0).map_err(failed)?;
        let (json, sum) = bytes.split_last_chunk::<8>().ok_or_else(damaged)?;
        let mut expected = Checksum::default();
        expected.add(json);
        if expected.0 != u64::from_le_bytes(*sum) {
            return Err(damaged());
        }
        let header: FilmHeader = serde_json::from_slice(&json[head.len()..]).map_err(|_| damaged())?;
        let settings = &header.picture.settings;
        let region = header.region();
        let is_sized = SIDE.contains(&settings.width) && SIDE.contains(&settings.height);
        if !settings.open_ended
            || !is_sized
            || region.width == 0
            || region.check((settings.width, settings.height)).is_err()
        {
            return Err(damaged());
        }
        let columns = header.columns();
        let table = bytes.len() as u64;
        let first = table + 8 * u64::from(region.height);
        if first > length {
            return Err(damaged());
        }
        let mut ends = vec![0; 8 * region.height as usize];
        read_exact_at(&file, &mut ends, table).map_err(failed)?;
        let ends = ends.as_chunks::<8>().0.iter().map(|end| u64::from_le_bytes(*end));
        let places: Vec<u64> = std::iter::once(first).chain(ends).collect();
        let most = columns.most_bytes(region.width as usize) as u64;
        let is_row = |pair: &[u64]| pair[1].checked_sub(pair[0]).is_some_and(|size| size <= most);
        if !places.windows(2).all(is_row) || places.last() != Some(&length) {
            return Err(damaged());
        }
        Ok(Self { path: path.to_owned(), header, columns, file, places })
    }

    /// Reads the rows `rows`, counted from the film's first row.
    ///
    /// # Errors
    /// If the rows cannot be read or are damaged.
    pub fn read(&self, rows: Range<usize>) -> Result<Accumulation, CheckpointError> {
        let mut read = Accumulation { state: self.header.state.clone(), ..Accumulation::default() };
        self.read_into(rows, &mut read)?;
        Ok(read)
    }

    /// Reads rows as [`Self::read`] does, into existing memory.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_into(&self, rows: Range<usize>, to: &mut Accumulation) -> Result<(), CheckpointError> {
        let width = self.header.region().width as usize;
        let start = self.places[rows.start];
        let mut bytes = vec![0; (self.places[rows.end] - start) as usize];
        let failed = |error| CheckpointError::Read { path: self.path.clone(), error };
        read_exact_at(&self.file, &mut bytes, start).map_err(failed)?;
        let [sums, odd, layers] = self.columns.words().map(|words| words * width);
        to.sums.resize(sums * rows.len(), 0);
        to.odd.resize(odd * rows.len(), 0);
        to.layers.resize(layers * rows.len(), 0);
        for (i, row) in rows.enumerate() {
            let place = |row: usize| (self.places[row] - start) as usize;
            let bytes = &bytes[place(row)..place(row + 1)];
            let parts = [
                &mut to.sums[i * sums..(i + 1) * sums],
                &mut to.odd[i * odd..(i + 1) * odd],
                &mut to.layers[i * layers..(i + 1) * layers],
            ];
            let read = self.columns.unpack(row as u32, bytes, width, parts);
            read.ok_or_else(|| CheckpointError::Damaged { path: self.path.clone() })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
