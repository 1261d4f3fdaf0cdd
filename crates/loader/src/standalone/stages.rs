//! What USD stages and pbrt scenes have in common: objects in groups, and light and views of their own.

use super::{Stage, settings};
use crate::{
    LoadError, LoadOptions,
    materials::{Materials, Slots},
    ron::{
        file::Source,
        placing::{Placing, resolved::Resolved},
    },
    surfaces::Surfaces,
    usd::Contents,
};
use std::path::Path;
use throng_scene::{Environment, Metering, Scene, desc::SceneFile};

/// A scene with its objects.
pub struct Placed {
    pub scene: Scene,
    pub surfaces: Surfaces,
    pub slots: Slots,
    /// Warnings from the conversion, without the file's name.
    pub warnings: Vec<String>,
}

/// Places the objects of a file. `why_empty` is the message if there are none, and receives the warnings.
///
/// # Errors
/// If nothing is visible, or if the objects are too many.
pub fn place(
    path: &Path,
    options: &LoadOptions,
    contents: Contents,
    why_empty: impl FnOnce(&[String]) -> String,
) -> Result<Placed, LoadError> {
    let Contents { sources, mut lists, names, warnings } = contents;
    let top = std::mem::take(&mut lists[0]);
    if top.is_empty() {
        return Err(LoadError::file(path, why_empty(&warnings)));
    }
    let mut scene = Scene { settings: settings(options), ..Scene::default() };
    let (source, no_file) = (Source { path: path.into(), ..Source::default() }, SceneFile::default());
    let placing = Placing::of_lists(&source, &no_file, sources, &Resolved { lists, names, top });
    let placed = placing.and_then(|placing| placing.add_to(&mut scene));
    let surfaces = placed.map_err(|error| LoadError::file(path, error.message()))?;
    let slots = Slots::of(std::mem::take(&mut scene.material_slots));
    Ok(Placed { scene, surfaces, slots, warnings })
}

impl Stage<'_> {
    /// As [`Self::set`]. A file with light has no other light, unless the user chooses one. If it also has the view that is shown
    /// (`has_view`), its light is as bright as it says.
    ///
    /// # Errors
    /// As [`Self::set`].
    pub fn set_own(
        self,
        scene: &mut Scene,
        (table, slots): (Materials, Slots),
        has_view: bool,
    ) -> Result<(), LoadError> {
        let is_set = self.options.overrides.iter().any(|(key, _)| key.starts_with("environment"));
        let is_chosen = is_set || self.options.model.environment.is_some() || self.environment.is_some();
        let is_lit = self.is_lit;
        self.set(scene, table, slots)?;
        if is_lit && !is_chosen {
            scene.environment = Environment::default();
        }
        if is_lit && has_view {
            scene.settings.metering = Metering::Off;
        }
        Ok(())
    }
}
