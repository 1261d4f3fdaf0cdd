//! stub
use super::Flight;
use crate::{loader::LoadOptions, scene::Scene};
use std::path::{Path, PathBuf};
pub struct ModelChoices {
    pub flight: Option<Flight>,
    pub exposure: Option<f32>,
}
pub fn path_for(model: &Path) -> PathBuf {
    model.with_extension("ron")
}
pub fn scene_for(_model: &Path, _scene: &Scene, _options: &LoadOptions, _choices: &ModelChoices) -> String {
    String::new()
}
