//! Writers of the joined file, one per format, that work band by band.

use crate::join::Join;
use std::{
    fs::File,
    io::{self, BufWriter, Write},
    ops::Range,
};
use throng_device::{Accumulation, FrameSettings};
use throng_output::{
    BandFile, EncodeError, Encoding, FilmWriter, PackedRows, Picture, Pixels, StreamWriter, begin_png, png_rows,
};
use throng_picture::pixels::PixelType;

/// An output file that takes bands of rows in order. Several threads may encode bands concurrently.
pub trait Sink: Sync {
    type Encoded: Send;

    fn encode(&self, rows: &Range<usize>, film: &mut Accumulation) -> io::Result<Self::Encoded>;

    fn write(&mut self, band: Self::Encoded) -> io::Result<()>;

    fn finish(self) -> io::Result<()>;
}

fn failed(error: EncodeError) -> io::Error {
    io::Error::other(error)
}

impl Join {
    /// Develops a band and calls `with` with the resulting picture.
    fn picture_of<T>(
        &self,
        (rows, pixels): (&Range<usize>, PixelType),
        film: &mut Accumulation,
        with: impl FnOnce(&Picture) -> T,
    ) -> T {
        let settings = FrameSettings { pixels, ..self.band_settings(rows) };
        let (bytes, mut aovs) = self.developer.finish(&settings, film);
        let picture = &self.header.picture;
        aovs.retain(|image| picture.aovs.contains(image.aov));
        let (width, height) = settings.film_size();
        with(&Picture {
            width,
            height,
            pixels: Pixels::from_bytes(pixels, &bytes),
            aovs: &aovs,
            transparent: settings.transparent,
            blocks: None,
            display: None,
            manifests: &picture.manifests,
            metadata: &picture.metadata,
        })
    }

    /// The whole picture's properties, without pixels.
    fn outline(&self) -> Picture<'_> {
        let picture = &self.header.picture;
        let (width, height) = self.settings.film_size();
        Picture {
            width,
            height,
            pixels: Pixels::U8(Vec::new().into()),
            aovs: &[],
            transparent: self.settings.transparent,
            blocks: None,
            display: None,
            manifests: &picture.manifests,
            metadata: &picture.metadata,
        }
    }
}

pub struct PngSink<'a> {
    join: &'a Join,
    pixels: PixelType,
    file: StreamWriter<'static, BufWriter<File>>,
}

impl<'a> PngSink<'a> {
    pub fn new(join: &'a Join, file: &File, pixels: PixelType) -> io::Result<Self> {
        let file = begin_png(BufWriter::new(file.try_clone()?), &join.outline(), pixels).map_err(failed)?;
        Ok(Self { join, pixels, file })
    }
}

impl Sink for PngSink<'_> {
    type Encoded = Vec<u8>;

    fn encode(&self, rows: &Range<usize>, film: &mut Accumulation) -> io::Result<Vec<u8>> {
        self.join.picture_of((rows, self.pixels), film, png_rows).map_err(failed)
    }

    fn write(&mut self, rows: Vec<u8>) -> io::Result<()> {
        self.file.write_all(&rows)
    }

    fn finish(self) -> io::Result<()> {
        self.file.finish().map_err(io::Error::other)
    }
}

pub struct ExrSink<'a> {
    join: &'a Join,
    encoding: Encoding,
    to: &'a File,
    file: BandFile,
}

impl<'a> ExrSink<'a> {
    pub fn new(join: &'a Join, to: &'a File, encoding: Encoding) -> Self {
        let file = BandFile::new(&join.outline(), join.header.picture.aovs, &encoding);
        Self { join, encoding, to, file }
    }
}

impl Sink for ExrSink<'_> {
    type Encoded = Vec<Vec<u8>>;

    fn encode(&self, rows: &Range<usize>, film: &mut Accumulation) -> io::Result<Vec<Vec<u8>>> {
        let blocks = |band: &Picture| BandFile::blocks(band, rows.start as u32, &self.encoding);
        self.join.picture_of((rows, PixelType::F32), film, blocks).map_err(failed)
    }

    fn write(&mut self, blocks: Vec<Vec<u8>>) -> io::Result<()> {
        self.file.add(&blocks, self.to)
    }

    fn finish(self) -> io::Result<()> {
        self.file.finish(self.to)
    }
}

pub struct FilmSink<'a> {
    join: &'a Join,
    file: FilmWriter<'a>,
}

impl<'a> FilmSink<'a> {
    pub fn new(join: &'a Join, file: &'a File) -> io::Result<Self> {
        Ok(Self { join, file: FilmWriter::new(file, &join.header)? })
    }
}

impl Sink for FilmSink<'_> {
    type Encoded = PackedRows;

    fn encode(&self, rows: &Range<usize>, film: &mut Accumulation) -> io::Result<PackedRows> {
        let width = self.join.settings.film_size().0 as usize;
        let parts = [&film.sums[..], &film.odd, &film.layers];
        Ok(PackedRows::new(&self.join.header.columns(), rows.clone(), width, parts))
    }

    fn write(&mut self, rows: PackedRows) -> io::Result<()> {
        self.file.add(&rows)
    }

    fn finish(self) -> io::Result<()> {
        self.file.finish()
    }
}
