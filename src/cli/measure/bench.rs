//! `throng bench`: rays per second and build times of a scene.

use crate::cli::{
    Exit,
    args::{DeviceArgs, SceneArgs, TreeArgs, warn_of_trees},
    console,
};
use clap::builder::{OsStringValueParser, TypedValueParser};
use std::{path::PathBuf, sync::Arc};
use throng_output::{OutputError, Planned, prepare_distinct};
use throng_render::measure::{BENCH_FRAME, BENCH_SAMPLES, BenchOptions, ReportPath, bench, dump_paths};
use throng_scene::{Integrator, Shows};
use throng_settings::{RenderOptions, Size};

const JSON_HELP: &str = "\
With --json, standard output has one document with the keys
  scene, device, threads
  instances, instanced_primitives
  blas_fast_ms, blas_balanced_ms, blas_high_ms  builds of all meshes, at each quality
  tlas_ms                     build over the instances, including their boxes
  builds                      variation between passes of the builds: an object with the three keys, each an object with
                              median, min, max, mad (median absolute deviation)
  bytes                       memory of both structures
  primary, bounce, shadow     rays made for the bench, which other ray tracers can also trace: in the form of
                              `throng trace --json`; null if nothing was hit
  render                      the rays of a rendered frame: the middle frame, whitted or path, 1920x1080 with 4 samples and
                              the scene's bounces; frames are rendered one at a time, medians. An object with
                              width, height, samples, rays {primary, bounce, shadow};
                              primary_mrays_per_s, bounce_mrays_per_s, shadow_mrays_per_s;
                              primary_bare_mrays_per_s, bounce_bare_mrays_per_s, shadow_bare_mrays_per_s (the rays
                              of that frame, all of one kind in a standalone query, timed like `throng trace`);
                              primary_ratio, bounce_ratio, shadow_ratio (of the rates in the frame to these rates);
                              primary_ms, bounce_ms, shadow_ms, shade_ms, other_ms (time on the device by stage),
                              frame_ms; null for devices that do not time stages separately
  not_dumped                  spheres that a dumped .scn file cannot hold
A .json file of --report has these keys, a key work in primary, bounce and shadow, and the keys version, scene_file,
processor, passes and trees: see `throng trace --help`";

/// Measure primary, bounce and shadow rays and build times of a scene
#[derive(clap::Args)]
#[command(after_long_help = JSON_HELP)]
pub struct BenchArgs {
    #[command(flatten)]
    scene: SceneArgs,
    /// Write the scene, the rays and their hits to this folder. On a GPU, also the frame's own rays (NAME.own_KIND.ray)
    #[arg(long, help_heading = "Report", value_name = "DIR")]
    dump: Option<PathBuf>,
    /// Number of measurements; the median is reported
    #[arg(long, help_heading = "Report", value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repeat: u32,
    /// Write a report to this file, .md or .json: the measurements, and figures that explain them (nodes, instances and triangles per ray;
    /// cost, overlap and memory of the trees)
    #[arg(long, help_heading = "Report", value_name = "FILE", value_parser = OsStringValueParser::new().try_map(ReportPath::parse))]
    report: Option<ReportPath>,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    trees: TreeArgs,
    /// Print one JSON document on standard output
    #[arg(long, help_heading = "Report")]
    json: bool,
}

impl BenchArgs {
    pub fn run(self) -> anyhow::Result<Exit> {
        let trees = self.trees.open()?;
        let mut device = self.device.open(false, console::note)?;
        let scene = Arc::new(self.scene.load()?);
        self.prepare(&scene.name)?;
        let options = RenderOptions {
            size: Some(Size { width: BENCH_FRAME.0, height: BENCH_FRAME.1 }),
            samples: Some(BENCH_SAMPLES),
            integrator: match scene.settings.integrator.shows() {
                Shows::Radiance => None,
                Shows::Linear | Shows::Display => Some(Integrator::Whitted),
            },
            ..RenderOptions::default()
        };
        let options = BenchOptions {
            dump: self.dump,
            repeat: self.repeat,
            render: options.resolve(&scene.settings)?,
            explain: self.report.is_some(),
            trees: trees.clone(),
        };
        let measured = bench(&scene, device.as_mut(), &options)?;
        if let Some(to) = &self.report {
            measured.write(to, self.scene.path.display().to_string(), self.repeat)?;
        }
        warn_of_trees(&trees, console::note);
        console::report(&measured.report, self.json)?;
        Ok(Exit::Done)
    }

    fn prepare(&self, scene: &str) -> Result<(), OutputError> {
        let dumped = |folder: &PathBuf| dump_paths(folder, scene);
        let dumped = self.dump.iter().flat_map(dumped);
        let dumped = dumped.map(|path| Planned::new(path, "a file of --dump"));
        let report = self.report.iter();
        let report = report.map(|to| Planned::new(&to.path, "the report"));
        prepare_distinct(dumped.chain(report).collect())
    }
}
