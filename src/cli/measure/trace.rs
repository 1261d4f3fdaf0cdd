//! `throng trace`: traces a file of rays against a scene.

use crate::cli::{
    Exit,
    args::{DeviceArgs, SceneArgs, TreeArgs, warn_of_trees},
    console,
    render::compare,
};
use clap::builder::{OsStringValueParser, TypedValueParser};
use std::{path::PathBuf, sync::Arc};
use throng_base::{files::remember_input, flags};
use throng_device::RayKind;
use throng_output::{Planned, prepare_distinct};
use throng_render::measure::{ReportPath, TraceOptions, compare_traces, trace_file};

const JSON_HELP: &str = "\
With --json, standard output has one document with at least the keys
  device         name of the device
  threads        CPU threads
  kind           closest or any
  rays, hits     their numbers
  mrays_per_s    million rays per second, the median of --repeat; also _min, _max and _mad (the median
                 absolute deviation)
  blas_build_ms  time to build the structures of all meshes, or to read them from --cache
  tlas_build_ms  time to build the structure over the instances
  bytes          memory of both structures
A .json file of --report has these keys and
  version        throng's version
  scene_file     the scene's path
  processor      name of the processor
  passes         number of timed passes
  work           means per ray: tlas_nodes visited, instances entered, blas_nodes visited, packs and triangles tested,
                 with each ray traced separately; missing for devices that do not count
  trees          {tlas {instances, depth, sah_cost, overlap}, blas [{mesh, instances, primitives, depth, sah_cost, overlap,
                 bytes}], bytes {blas_nodes, blas_leaves, blas_builds, tlas_nodes, instance_records}}: sah_cost is the
                 expected number of nodes and leaves that a ray through the bounds hits (surface area heuristic), overlap
                 the end-point overlap of Aila, Karras and Laine (2013) with the weights of sah_cost, null for compressed trees
With --compare, the document has two lists instead:
  devices        the document above for each device
  differences    per device but the first: device, rays, differing, share (of rays, from 0 to 1), agrees, first
                 (index of a ray that differs), and numbers of rays that differ in hit_or_miss, in distance (by more
                 than a thousandth and 1e-5 of the scene's diagonal) and in target (primitive or instance)";

/// Trace a file of rays against a scene and measure the speed
#[derive(clap::Args)]
#[command(after_long_help = JSON_HELP)]
pub struct TraceArgs {
    #[command(flatten)]
    scene: SceneArgs,
    /// File of rays
    #[arg(value_name = "RAYS", help_heading = None)]
    rays: PathBuf,
    /// Type of ray query
    #[arg(long, help_heading = "Report", value_name = "KIND", value_parser = flags::choice::<RayKind>(), default_value = "closest")]
    kind: RayKind,
    /// Write the hits to this file
    #[arg(long, help_heading = "Report", value_name = "FILE")]
    hits: Option<PathBuf>,
    /// Write a report to this file, .md or .json: the measurements, and figures that explain them (nodes, instances and triangles per ray;
    /// cost, overlap and memory of the trees)
    #[arg(long, help_heading = "Report", value_name = "FILE", value_parser = OsStringValueParser::new().try_map(ReportPath::parse), conflicts_with = "compare")]
    report: Option<ReportPath>,
    /// Number of measurements; the median is reported
    #[arg(long, help_heading = "Report", value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repeat: u32,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    trees: TreeArgs,
    /// Trace on every device of --device and compare the hits with the first device's; fail if more than 1 % of the rays differ. --hits
    /// receives the first device's hits
    #[arg(long, help_heading = "Device")]
    compare: bool,
    /// Print one JSON document on standard output
    #[arg(long, help_heading = "Report")]
    json: bool,
}

impl TraceArgs {
    pub fn run(self) -> anyhow::Result<Exit> {
        let trees = self.trees.open()?;
        let options = TraceOptions {
            rays: self.rays,
            kind: self.kind,
            hits: self.hits,
            repeat: self.repeat,
            explain: self.report.is_some(),
            trees: trees.clone(),
        };
        remember_input(&options.rays);
        let hits = options.hits.iter().map(|path| Planned::new(path, "the file of --hits"));
        let report = self.report.iter().map(|to| Planned::new(&to.path, "the report"));
        let planned = hits.chain(report).collect();
        if self.compare {
            let mut devices = compare::open(&self.device, console::note)?;
            let scene = Arc::new(self.scene.load()?);
            prepare_distinct(planned)?;
            let report = compare_traces(&scene, &mut devices, &options)?;
            warn_of_trees(&trees, console::note);
            console::report(&report, self.json)?;
            return compare::rays(&compare::names(&devices)[0], &report.differences);
        }
        let mut device = self.device.open(false, console::note)?;
        let scene = Arc::new(self.scene.load()?);
        prepare_distinct(planned)?;
        let measured = trace_file(&scene, device.as_mut(), &options)?;
        warn_of_trees(&trees, console::note);
        if let Some(to) = &self.report {
            measured.write(to, self.scene.path.display().to_string(), self.repeat)?;
        }
        console::report(&measured.report, self.json)?;
        Ok(Exit::Done)
    }
}
