//! pbrt scenes as objects of a scene. `throng_pbrt` reads the files.
//!
//! Materials become [`throng_usd::Surface`]s, and cameras [`throng_usd::Camera`]s, so that pictures, networks of textures, lenses and motion
//! are converted as those of stages are.

mod camera;
mod contents;
mod lights;
mod materials;
mod mixes;
mod shapes;
mod solids;
#[cfg(test)]
mod tests;
mod textures;

pub use camera::{camera, fog, shutter};
pub use contents::Converter;
pub use lights::convert as lights;

use crate::{LoadError, files};
use glam::{DAffine3, DMat3, DVec3};
use std::path::Path;
use throng_pbrt::{PbrtError, Scene};

/// Frames per second of scenes, in whose time a second is a frame.
pub const RATE: f64 = 24.0;

/// Whether a file is a pbrt scene, by its name.
pub fn is_scene(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    name.ends_with(".pbrt") || name.ends_with(".pbrt.gz")
}

/// Reads a scene. Its files are recorded as files of throng's scene.
///
/// # Errors
/// As [`throng_pbrt::read`].
pub fn read(path: &Path) -> Result<Scene, LoadError> {
    if !files::exists(path) {
        return Err(LoadError::file(path, "no such file: check the path"));
    }
    throng_pbrt::read(path).map_err(|PbrtError { file, place, message }| match place {
        Some(at) => LoadError::place(&file, at, message),
        None => LoadError::file(&file, message),
    })
}

/// The transform from a file's world to a right-handed space with +Y up.
///
/// pbrt's spaces are left-handed unless a mirror precedes the camera, so that what would be left in the picture is right. Which way is up
/// follows from the camera. Files without a camera stay as they are.
pub fn upright(scene: &Scene) -> DAffine3 {
    let Some(camera) = &scene.camera else { return DAffine3::IDENTITY };
    let from_camera = camera.world_from_camera.start.matrix3;
    let mirrored = if from_camera.determinant() > 0.0 { DVec3::new(-1.0, 1.0, 1.0) } else { DVec3::ONE };
    let up = from_camera.y_axis.abs();
    let turned =
        if up.z > up.y && up.z > up.x { DMat3::from_cols(DVec3::X, DVec3::NEG_Z, DVec3::Y) } else { DMat3::IDENTITY };
    DAffine3::from_mat3(turned * DMat3::from_diagonal(mirrored))
}
