//! USD stages as objects of a scene. `throng_usd` reads the files.

mod cage;
pub mod cameras;
mod clock;
mod contents;
pub mod curves;
mod deform;
mod exposure;
pub mod lights;
mod materials;
mod mesh;
#[cfg(test)]
mod tests;

pub use clock::Clock;
pub use contents::{Contents, Converter, List, Placeable};
pub use exposure::ExposureKeys;
pub use materials::{Convert, PLAIN, warnings};

use crate::{LoadError, files};
use glam::{DAffine3, DMat3, DVec3};
use std::path::{Path, PathBuf};
use throng_base::files::record;
use throng_scene::desc::Purpose;
use throng_usd::{Library, Purposes, Stage, StageError, StageOptions, UpAxis, VariantChoice};

/// The extensions of USD files.
pub const EXTENSIONS: [&str; 4] = ["usd", "usda", "usdc", "usdz"];

/// Reads a stage. Its layers are recorded as files of the scene.
///
/// # Errors
/// As [`throng_usd::read`].
pub fn read(path: &Path, options: &StageOptions) -> Result<Stage, LoadError> {
    if !files::exists(path) {
        return Err(LoadError::file(path, "no such file: check the path"));
    }
    throng_usd::read(path, options).map_err(error)
}

/// Reads the materials of a MaterialX document. Records it as a file of the scene.
///
/// # Errors
/// As [`throng_usd::read_materials`].
pub fn read_materials(path: &Path, allow: &[PathBuf]) -> Result<Library, LoadError> {
    let library = throng_usd::read_materials(path, allow).map_err(error)?;
    record(path, path.metadata().ok().map(|metadata| metadata.len()));
    Ok(library)
}

fn error(StageError { file, place, message }: StageError) -> LoadError {
    match place {
        Some(at) => LoadError::place(&file, at, message),
        None => LoadError::file(&file, message),
    }
}

/// The choices in texts like `/Car{color=red}`.
///
/// # Errors
/// If a text is not of this form. The text is a sentence.
pub fn variants(texts: &[String]) -> Result<Vec<VariantChoice>, String> {
    let variant = |text: &String| {
        let parts = text.strip_suffix('}').and_then(|text| text.split_once('{'));
        let choice = parts.and_then(|(prim, choice)| Some((prim, choice.split_once('=')?)));
        let (prim, (set, variant)) =
            choice.ok_or_else(|| format!("`{text}` chooses nothing in a USD file: write /Prim{{set=variant}}"))?;
        let [prim, set, variant] = [prim, set, variant].map(|part| part.trim().to_owned());
        if !prim.starts_with('/') {
            return Err(format!("`{text}` names no prim of a USD file: write /Prim{{set=variant}}"));
        }
        Ok(VariantChoice { prim, set, variant })
    };
    texts.iter().map(variant).collect()
}

/// The purposes that are drawn; `render` if none is chosen.
pub fn purposes(chosen: &[Purpose]) -> Purposes {
    let has = |purpose: Purpose| chosen.contains(&purpose);
    Purposes {
        render: chosen.is_empty() || has(Purpose::Render),
        proxy: has(Purpose::Proxy),
        guide: has(Purpose::Guide),
    }
}

/// The transform from a stage's world to a space with +Y up and metres.
pub fn upright(stage: &Stage) -> DAffine3 {
    let turned = match stage.up {
        UpAxis::Y => DMat3::IDENTITY,
        UpAxis::Z => DMat3::from_cols(DVec3::X, DVec3::NEG_Z, DVec3::Y),
    };
    DAffine3::from_mat3(turned * stage.meters_per_unit)
}
