//! Arguments shared by several subcommands.

use super::{
    model_args::{ModelArgs, ViewArgs},
    shipped,
};
use anyhow::Context;
use clap::builder::{PathBufValueParser, TypedValueParser};
use std::{env, path::PathBuf};
use throng_accel::Quality;
use throng_device::{self as device, Device, DeviceList, Opened};
use throng_loader::{
    self as loader, LoadOptions,
    gltf::{GltfOptions, Model},
};
use throng_render::{CacheError, TreeCache, TreeSource};
use throng_scene::Scene;
use throng_settings::SettingsError;
use throng_settings::flags;

#[derive(clap::Args)]
pub struct SceneArgs {
    /// Scene file (.ron), model (.gltf, .glb, .obj, .ply, .stl) or raw scene (.scn)
    #[arg(value_name = "SCENE", value_parser = PathBufValueParser::new().map(shipped::found))]
    pub path: PathBuf,
    #[command(flatten)]
    load: LoadArgs,
}

/// Flags for loading a scene.
#[derive(clap::Args)]
pub struct LoadArgs {
    /// Override a value of the scene file, for example render.frames=12
    ///
    /// May be repeated. Models have render.*, environment.* and materials.NAME. The environment includes one set by --environment
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parse_pair)]
    pub overrides: Vec<(String, String)>,
    /// Fail if anything in a file would be replaced or left out, instead of printing a warning
    #[arg(long)]
    pub strict: bool,
    #[command(flatten)]
    view: ViewArgs,
    #[command(flatten)]
    model: ModelArgs,
}

impl SceneArgs {
    pub fn load(&self) -> anyhow::Result<Scene> {
        Ok(loader::load_with(&self.path, &self.load.options())?)
    }

    /// Loads the scene. If the file is glTF, passes the model to `inspect`.
    pub fn load_inspected(&self, inspect: impl FnOnce(&Model)) -> anyhow::Result<Scene> {
        Ok(loader::load_inspected(&self.path, &self.load.options(), inspect)?)
    }

    /// Whether loader warnings are errors.
    pub fn is_strict(&self) -> bool {
        self.load.strict
    }

    /// The user's options for a glTF file.
    pub fn gltf_options(&self) -> GltfOptions {
        self.load.model.options().gltf()
    }
}

impl LoadArgs {
    /// Whether a faster preset is available for a model's pictures.
    pub fn takes_draft(&self) -> bool {
        self.model.takes_draft()
    }

    /// Whether all animations of a model are requested.
    pub fn plays_all(&self) -> bool {
        self.model.plays_all()
    }

    pub fn options(&self) -> LoadOptions {
        let mut model = self.model.options();
        model.stage.up = self.view.model_up();
        LoadOptions {
            overrides: self.overrides.clone(),
            start: self.view.start(),
            view: self.view.options(),
            model,
            strict: self.strict,
        }
    }
}

fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().into(), value.trim().into())),
        _ => Err("write a key and a value like render.samples=4".into()),
    }
}

#[derive(clap::Args)]
#[command(next_help_heading = "Device")]
pub struct DeviceArgs {
    /// Rendering device: auto, cpu, cuda (all GPUs) or some GPUs like cuda:0,1
    #[arg(long, value_name = "DEVICE", default_value = "auto", hide_default_value = true)]
    device: DeviceList,
    /// CPU threads; 0 means one per core
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    threads: u16,
}

impl DeviceArgs {
    /// Opens the rendering device. Call it before loading a scene, because loading uses the threads that it starts. `tell` receives a line
    /// for the user if the device is slower than might be expected, or, with `verbose`, if a faster one might exist.
    pub fn open(&self, verbose: bool, tell: impl Fn(&str)) -> anyhow::Result<Box<dyn Device>> {
        let count = self.device.choices().len();
        if count == 1
            && let Some(device) = self.open_all(verbose, tell)?.pop()
        {
            return Ok(device);
        }
        Err(SettingsError::ManyDevices { count }.into())
    }

    /// Like [`Self::open`], but combines several devices into one that shares the work among them.
    pub fn open_together(&self, verbose: bool, tell: impl Fn(&str)) -> anyhow::Result<Box<dyn Device>> {
        let devices = self.open_all(verbose, tell)?;
        device::together(devices).context("cannot open the device")
    }

    /// Opens all devices of the list, in order.
    pub fn open_all(&self, verbose: bool, tell: impl Fn(&str)) -> anyhow::Result<Vec<Box<dyn Device>>> {
        let mut devices = Vec::new();
        for choice in self.device.choices() {
            let Opened { device, note } =
                device::open(choice, self.threads.into()).context("cannot open the device")?;
            if let Some(note) = note.filter(|note| verbose || note.is_surprising) {
                tell(&format!("throng: {}", note.text));
            }
            devices.push(device);
        }
        Ok(devices)
    }
}

/// Environment variable with the folder for trees, used without `--cache`.
const CACHE_VARIABLE: &str = "THRONG_CACHE";

#[derive(clap::Args)]
#[command(next_help_heading = "Device")]
pub struct TreeArgs {
    /// Build quality of mesh trees: fast gives huge meshes a quick first look, high gives the fastest rendering
    #[arg(long, value_name = "QUALITY", value_parser = flags::choice::<Quality>(), default_value = "high", hide_default_value = true)]
    trees: Quality,
    /// Cache folder for mesh trees, which are then built only once. It is created if necessary and may be deleted at any time [default: the
    /// environment variable THRONG_CACHE, otherwise no cache]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
}

impl TreeArgs {
    /// Creates the cache folder, if one is requested.
    pub fn open(&self) -> Result<TreeSource, CacheError> {
        let variable = || env::var_os(CACHE_VARIABLE).filter(|value| !value.is_empty());
        let folder = self.cache.clone().or_else(|| variable().map(Into::into));
        let cache = folder.map(|folder| TreeCache::open(&folder)).transpose()?;
        Ok(TreeSource::new(self.trees, cache))
    }
}

/// Warns if trees have a lower quality than requested, or could not be cached. Neither changes the result.
pub fn warn_of_trees(trees: &TreeSource, tell: impl Fn(&str)) {
    if let Some(lowered) = trees.lowered() {
        tell(&format!("throng: note: {lowered}"));
    }
    if let Some(failure) = trees.failure() {
        tell(&format!("throng: warning: {failure}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_split_at_the_first_equals_sign() {
        let pair = |k: &str, v: &str| Ok((k.to_owned(), v.to_owned()));
        assert_eq!(parse_pair("a.b=1"), pair("a.b", "1"));
        assert_eq!(parse_pair("a = (b=1)"), pair("a", "(b=1)"));
        assert_eq!(parse_pair("a="), pair("a", ""));
        assert!(parse_pair("a").is_err());
        assert!(parse_pair("=1").is_err());
    }
}
