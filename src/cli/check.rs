//! `throng check`: whether a scene can be rendered, without rendering it.

use super::{Exit, args::SceneArgs, console};
use crate::{
    scene::Scene,
    settings::{FrameOptions, LookOptions},
};
use serde::Serialize;
use std::fmt;

const JSON_HELP: &str = "\
With --json, standard output has one document with the keys
  scene      the file
  ok         whether it can be rendered
  errors     what prevents that, one text each
  warnings   what was repaired or ignored, one text each
  meshes, instances, materials, textures, frames   counts; 0 when the file cannot be loaded";

/// Validate a scene without rendering it
#[derive(clap::Args)]
#[command(after_long_help = JSON_HELP)]
pub struct CheckArgs {
    #[command(flatten)]
    scene: SceneArgs,
    /// Print one JSON document on standard output
    #[arg(long)]
    json: bool,
}

#[derive(Default, Serialize)]
struct CheckReport {
    scene: String,
    ok: bool,
    errors: Vec<String>,
    warnings: Vec<String>,
    meshes: usize,
    instances: usize,
    materials: usize,
    textures: usize,
    frames: u32,
}

impl CheckArgs {
    pub fn run(self) -> anyhow::Result<Exit> {
        let mut report = CheckReport {
            scene: self.scene.path.display().to_string(),
            ..CheckReport::default()
        };
        let checked = self.scene.load().and_then(|scene| {
            report.describe(&scene);
            check_settings(&scene)
        });
        let error = checked.err();
        report.ok = error.is_none();
        report.errors.extend(error.as_ref().map(console::one_line));
        if self.json || report.ok {
            console::report(&report, self.json)?;
        }
        error.map_or(Ok(Exit::Done), Err)
    }
}

fn check_settings(scene: &Scene) -> anyhow::Result<()> {
    LookOptions::default().resolve(&scene.settings)?;
    FrameOptions::default().resolve(scene)?;
    Ok(())
}

impl CheckReport {
    fn describe(&mut self, scene: &Scene) {
        self.warnings.clone_from(&scene.warnings);
        self.meshes = scene.meshes.len();
        self.instances = scene.instances.len();
        self.materials = scene.materials.len();
        self.textures = scene.textures.len();
        self.frames = scene.settings.frames;
    }
}

impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for warning in &self.warnings {
            writeln!(f, "warning: {warning}")?;
        }
        write!(
            f,
            "{}: ok (meshes: {}, instances: {}, materials: {}, textures: {}, frames: {})",
            self.scene, self.meshes, self.instances, self.materials, self.textures, self.frames
        )
    }
}
