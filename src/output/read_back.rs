//! Frames that an earlier run has written, for outputs that need all of them.

use super::{Manifests, Metadata, OutputError, Picture, Pixels};
use std::path::Path;

/// Shows the picture in `file` to `use_it`.
pub fn read_back<T>(
    file: &Path,
    metadata: &Metadata,
    use_it: impl FnOnce(&Picture) -> T,
) -> Result<T, OutputError> {
    let read = image::open(file).map_err(|error| OutputError::ReadBack {
        path: file.to_owned(),
        error,
    })?;
    let rgb = read.into_rgb8();
    Ok(use_it(&Picture {
        width: rgb.width(),
        height: rgb.height(),
        pixels: Pixels::U8(rgb.as_raw().as_slice().into()),
        layers: &[],
        blocks: None,
        manifests: &Manifests::default(),
        metadata,
    }))
}
