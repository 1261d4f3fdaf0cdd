//! The files of an export.

use crate::{ExportError, format_of};
use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};
use throng_output::write_atomically;
use throng_usd::{Layer, LayerFormat, encode, names, package};

/// Where a stage is written.
pub struct Target {
    /// The stage.
    pub path: PathBuf,
    /// Its format.
    format: LayerFormat,
    /// Name of the folder of its pictures, in its own folder or in the package.
    pub folder: String,
    /// Whether all files are in a package.
    is_package: bool,
}

/// A picture of a stage.
pub struct PictureFile {
    /// Its name in the folder of pictures.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

impl Target {
    /// The stage with this path.
    ///
    /// # Errors
    /// If its extension is none of USD.
    pub fn of(path: &Path) -> Result<Self, ExportError> {
        let format = format_of(path).ok_or_else(|| ExportError::Name(path.into()))?;
        let is_package = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("usdz"));
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        // A package has no other files, and its names must be plain.
        let folder = if is_package { "textures".to_owned() } else { format!("{stem}_textures") };
        Ok(Self { path: path.into(), format, folder, is_package })
    }

    /// The path by which the layer refers to a picture.
    pub fn asset(&self, name: &str) -> String {
        format!("./{}/{name}", self.folder)
    }

    fn parent(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }
}

/// Writes the pictures and then the stage. Returns their paths, the stage first.
///
/// # Errors
/// If the layer cannot be encoded, or if a file cannot be written.
pub fn write(target: &Target, layer: &Layer, pictures: Vec<PictureFile>) -> Result<Vec<PathBuf>, ExportError> {
    let bytes = encode(&target.path, layer, target.format)?;
    if target.is_package {
        let stem = target.path.file_stem().unwrap_or_default().to_string_lossy();
        let root = (format!("{}.usdc", names::valid(&stem)), bytes);
        let rest = pictures.into_iter().map(|picture| (format!("{}/{}", target.folder, picture.name), picture.bytes));
        let files: Vec<(String, Vec<u8>)> = std::iter::once(root).chain(rest).collect();
        let whole = package(&target.path, &files)?;
        return finish(target, &whole, Vec::new());
    }
    let folder = target.parent().join(&target.folder);
    if !pictures.is_empty() {
        fs::create_dir_all(&folder).map_err(|cause| ExportError::Picture {
            path: folder.clone(),
            cause: format!("the folder cannot be created: {cause}"),
        })?;
    }
    let mut written = Vec::new();
    for picture in pictures {
        let path = folder.join(OsString::from(&picture.name));
        write_atomically(&path, |file| file.write_all(&picture.bytes))?;
        written.push(path);
    }
    finish(target, &bytes, written)
}

fn finish(target: &Target, bytes: &[u8], pictures: Vec<PathBuf>) -> Result<Vec<PathBuf>, ExportError> {
    write_atomically(&target.path, |file| file.write_all(bytes))?;
    Ok(std::iter::once(target.path.clone()).chain(pictures).collect())
}
