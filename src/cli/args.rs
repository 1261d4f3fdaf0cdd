//! Arguments shared by several subcommands.

use super::shipped;
use anyhow::Context;
use clap::builder::{PathBufValueParser, TypedValueParser};
use std::{env, path::PathBuf};
use throng_accel::Quality;
use throng_base::flags;
use throng_device::{self as device, Device, DeviceList, Opened};
use throng_loader::{self as loader, Inspected, LoadOptions};
use throng_render::{CacheError, TreeCache, TreeSource};
use throng_scene::Scene;
use throng_settings::SettingsError;

#[derive(clap::Args)]
pub struct SceneArgs {
    /// Scene file (.ron), model (.gltf, .glb, .usd*, .pbrt, .obj, .ply, .stl) or raw scene (.scn)
    #[arg(value_name = "SCENE", value_parser = PathBufValueParser::new().map(shipped::found))]
    pub path: PathBuf,
    #[command(flatten)]
    pub load: LoadOptions,
}

impl SceneArgs {
    pub fn load(&self) -> anyhow::Result<Scene> {
        Ok(loader::load_with(&self.path, &self.load)?)
    }

    /// Loads the scene. Passes the contents of a glTF, USD or pbrt file to `inspect`.
    pub fn load_inspected(&self, inspect: impl FnOnce(Inspected)) -> anyhow::Result<Scene> {
        Ok(loader::load_inspected(&self.path, &self.load, inspect)?)
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
