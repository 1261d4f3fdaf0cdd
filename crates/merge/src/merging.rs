//! Joining films into a file.

use crate::{
    MergeError, coverage,
    join::{Failure, Join},
    sinks::{ExrSink, FilmSink, PngSink},
};
use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};
use throng_base::files::remember_input;
use throng_output::{ColorDepth, Encoding, FileFormat, FilmFile, Planned, fill_atomically, prepare_distinct};

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
