//! `--set` for standalone models. The overrides are applied to a generated scene file with the sections that models support.

use super::{
    file::{self, Source},
    material, settings,
    source::Place,
    surroundings::environment::{self, Pictures},
};
use crate::{LoadError, LoadOptions, materials::Materials};
use std::collections::BTreeSet;
use throng_scene::{Environment, Light, Metering, RenderDefaults, desc::SceneFile};

/// Sections that models support.
const SECTIONS: [&str; 3] = ["render", "environment", "materials"];

/// The overridden values.
pub struct ModelSets {
    keys: Vec<String>,
    source: Source,
    file: SceneFile,
}

impl ModelSets {
    /// Applies the overrides of `options` to a model with these materials. Relative paths refer to the working folder.
    ///
    /// # Errors
    /// If models do not support a key, or if a value is invalid.
    pub fn read(options: &LoadOptions, materials: &[String]) -> Result<Option<Self>, LoadError> {
        let sets = &options.overrides;
        for (key, _) in sets {
            if !SECTIONS.contains(&key.split('.').next().unwrap_or_default()) {
                let message =
                    "of a model, render.*, environment.* and materials.NAME can be set: write a .ron scene for more";
                return Err(LoadError::set(key, message));
            }
        }
        let names: BTreeSet<&String> = materials.iter().collect();
        let materials: String = names.iter().map(|name| format!("{name:?}: Diffuse(), ")).collect();
        // Keys are evaluated at the time of the first frame.
        let start = options.start.unwrap_or_default();
        let environment = environment_text(options)?;
        let text = format!(
            "({environment}render: (start: {start:?}), materials: {{{materials}}}, meshes: {{}}, instances: [])"
        );
        let mut source = Source { text, ..Source::default() };
        let keys = sets.iter().map(|(key, _)| key.clone()).collect();
        Ok(file::set(&mut source, sets)?.map(|file| Self { keys, source, file }))
    }

    /// The settings of a model with the overrides; `model` has its own settings.
    ///
    /// # Errors
    /// If a number is out of range.
    pub fn settings(&self, model: RenderDefaults) -> Result<RenderDefaults, LoadError> {
        let render = &self.file.render;
        let usual = if self.keys.iter().any(|key| key == "render") {
            // A section that is set as a whole has the defaults of scene files.
            let RenderDefaults { clamp_indirect, denoises_asked, .. } = model;
            RenderDefaults { clamp_indirect, denoises_asked, ..RenderDefaults::default() }
        } else {
            // An explicit sample count turns off adaptive sampling, an explicit exposure turns off metering.
            let noise = model.noise.filter(|_| render.samples.is_none());
            let metering = if render.exposure.is_some() { Metering::Off } else { model.metering };
            RenderDefaults { noise, metering, ..model }
        };
        settings::convert(&self.source, render, usual).map_err(|error| self.fault("render", &error))
    }

    /// The overridden environment and its sun; None without an override.
    ///
    /// # Errors
    /// If a number is out of range, or if a picture is missing or damaged.
    pub fn environment(&self) -> Result<Option<(Environment, Vec<Light>)>, LoadError> {
        let convert = |_| environment::convert(&self.source, self.file.environment.as_ref(), &mut Pictures::default());
        let is_set = self.keys.iter().any(|key| is_within(key, "environment"));
        let set = self.file.environment.as_ref().filter(|_| is_set).map(convert).transpose();
        set.map_err(|error| self.fault("environment", &error))
    }

    /// Replaces the overridden materials.
    ///
    /// # Errors
    /// If a number is out of range, or if a texture is missing.
    pub fn replace(&self, table: &mut Materials) -> Result<(), LoadError> {
        let all = Place::ROOT.key("materials");
        for (name, desc) in &self.file.materials.0 {
            let section = format!("materials.{name}");
            if !self.keys.iter().any(|key| key == "materials" || is_within(key, &section)) {
                continue;
            }
            let replaced = material::convert(&self.source, desc, (table, &[]), &all.key(name));
            let replaced = replaced.map_err(|error| self.fault(&section, &error))?;
            for (row, own) in table.rows.iter_mut().zip(&table.names) {
                if own == name {
                    *row = replaced;
                }
            }
        }
        Ok(())
    }

    /// Attributes an error in `section` to the first key that overrides it.
    fn fault(&self, section: &str, error: &LoadError) -> LoadError {
        let key = self.keys.iter().find(|key| is_within(key, section));
        LoadError::set(key.map_or(section, |key| key), error.message())
    }
}

/// The environment of `--environment` as a field of a scene file, if `--set` changes it; otherwise an empty text.
///
/// # Errors
/// If `--set` changes an environment that no flag specifies, or that scene files do not support.
fn environment_text(options: &LoadOptions) -> Result<String, LoadError> {
    let sets = options.overrides.iter().map(|(key, _)| key.as_str());
    let first = sets.take_while(|key| *key != "environment").find(|key| is_within(key, "environment"));
    match (first, &options.model.environment) {
        (None, _) => Ok(String::new()),
        (Some(key), None) => Err(LoadError::set(
            key,
            "the default light of a model has no such values: add --environment sky or the name of a picture",
        )),
        (Some(key), Some(choice)) => {
            let text = choice.in_scene_file(0.0).map_err(|message| LoadError::set(key, message))?;
            Ok(format!("environment: {text}, "))
        }
    }
}

/// Whether a key is a section or a value in it. A common prefix of the names is not enough.
fn is_within(key: &str, section: &str) -> bool {
    key.strip_prefix(section).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_not_within_what_its_name_only_begins_like() {
        assert!(is_within("materials.red", "materials.red") && is_within("materials.red.color", "materials.red"));
        assert!(!is_within("materials.redwood", "materials.red"));
    }
}
