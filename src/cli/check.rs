//! `throng check`: validates a scene without rendering it.

use super::{Exit, args::SceneArgs, console};
use serde::Serialize;
use std::fmt;
use throng_device::FrameSettings;
use throng_loader::{self as loader, LoadError, gltf};
use throng_render::sanity;
use throng_scene::Scene;
use throng_settings::{FrameOptions, RenderOptions};

const JSON_HELP: &str = "\
With --json, standard output has one document with the keys
  scene      the file
  ok         whether it can be rendered
  errors     reasons why not, one text each; for a glTF file all errors, with JSON pointers; with --strict, also anything
             that is replaced or left out
  warnings   anything that is replaced or left out, or would be missing in pictures, one text each
  meshes, instances, materials, textures, frames   counts; 0 when the file cannot be loaded";

/// Validate a scene without rendering it
#[derive(clap::Args)]
#[command(after_long_help = JSON_HELP)]
pub struct CheckArgs {
    #[command(flatten)]
    scene: SceneArgs,
    /// Print one JSON document on standard output
    #[arg(long, help_heading = "Report")]
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
        let mut report = CheckReport { scene: self.scene.path.display().to_string(), ..CheckReport::default() };
        let checked = self.scene.load().and_then(|scene| {
            report.describe(&scene);
            let (settings, frames) = check_settings(&scene)?;
            report.warnings.extend(sanity::warnings(&scene, &settings, &frames));
            Ok(())
        });
        report.ok = checked.is_ok();
        if let Err(error) = &checked {
            match error.downcast_ref() {
                Some(LoadError::Strict { warnings }) => report.errors.clone_from(warnings),
                _ if self.list_problems(error, &mut report) => {}
                _ => report.errors.push(console::one_line(error)),
            }
        }
        if self.json || report.ok {
            console::report(&report, self.json)?;
        }
        match checked {
            Err(error) if report.errors.len() < 2 => Err(error),
            Err(_) => {
                report.errors.iter().for_each(|line| console::error(line));
                Ok(Exit::Failed)
            }
            Ok(()) => Ok(Exit::Done),
        }
    }

    /// Lists all problems of a model whose loading ended at the first one. Returns false if it finds no error.
    fn list_problems(&self, error: &anyhow::Error, report: &mut CheckReport) -> bool {
        let in_file = matches!(error.downcast_ref(), Some(LoadError::File { .. }));
        if !in_file || !loader::is_gltf(&self.scene.path) {
            return false;
        }
        let Ok(found) = gltf::check_model(&self.scene.path, &self.scene.load.gltf()) else {
            return false;
        };
        report.errors = found.errors.iter().map(ToString::to_string).collect();
        match self.scene.load.strict {
            true if !report.errors.is_empty() => {
                let warnings = found.warnings.iter().map(|line| LoadError::file(&self.scene.path, line).to_string());
                report.errors.extend(warnings);
            }
            _ => report.warnings = found.warnings,
        }
        if !self.json {
            console::warnings(&report.warnings);
        }
        !report.errors.is_empty()
    }
}

/// The scene's settings, and all of its frames.
fn check_settings(scene: &Scene) -> anyhow::Result<(FrameSettings, Vec<u32>)> {
    let settings = RenderOptions::default().resolve(&scene.settings)?;
    let plan = FrameOptions::default().resolve(&scene.settings)?;
    Ok((settings, plan.asked))
}

impl CheckReport {
    fn describe(&mut self, scene: &Scene) {
        self.warnings = [&scene.warnings[..], &scene.doubts].concat();
        self.meshes = scene.meshes.len();
        self.instances = scene.leaf_count() as usize;
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
