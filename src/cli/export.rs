//! `throng export`: writes a scene as a USD stage.

use super::{
    Exit, UsageError,
    args::SceneArgs,
    console::{self, plural},
};
use serde::Serialize;
use std::{collections::BTreeMap, ops::RangeInclusive, path::PathBuf, sync::Arc};
use throng_device::{self as device, DeviceChoice, start_threads};
use throng_export::{self as export, Counts, ExportOptions, Exported};
use throng_output::{Planned, prepare_distinct};
use throng_picture::pixels::PixelType;
use throng_render::{Outputs, exposures};
use throng_scene::{Metering, Scene};
use throng_settings::{FrameList, PictureOptions};

const HELP: &str = "\
Instances become point instancers and native instances, groups are kept once, cameras have a sample for each frame, and
materials are written as UsdPreviewSurface, as OpenPBR and with all that throng has. Pictures are in a folder beside the
file, or in the package for .usdz. Warnings name what USD lacks. docs/usd.md has the details.

Examples:
  throng export scene.ron -o scene.usdc                  # binary: the fastest and smallest
  throng export scene.ron -o scene.usda -f 1             # text, of the first frame
  throng export model.glb -o model.usdz                  # one file, with its stage, light and turntable";

/// Write a scene as a USD file, for other programs
#[derive(clap::Args)]
#[command(after_long_help = HELP)]
pub struct ExportArgs {
    #[command(flatten)]
    scene: SceneArgs,
    /// File to write: .usdc or .usd (binary), .usda (text) or .usdz (a package with all pictures)
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: PathBuf,
    /// Frames to sample, such as 1 or 1-24, without gaps [default: all]
    #[arg(short, long, value_name = "LIST", help_heading = "Output")]
    frames: Option<FrameList>,
    /// Print a JSON object
    #[arg(long, help_heading = "Report")]
    json: bool,
    /// Print nothing but errors
    #[arg(short, long, conflicts_with = "json", help_heading = "Report")]
    quiet: bool,
}

/// What was written, for programs.
#[derive(Serialize)]
struct Report<'a> {
    files: Vec<String>,
    warnings: &'a [String],
    shapes: usize,
    materials: usize,
    textures: usize,
    groups: usize,
    point_instancers: usize,
    point_instances: usize,
    native_instances: usize,
}

impl ExportArgs {
    pub fn run(mut self) -> anyhow::Result<Exit> {
        export::check(&self.output)?;
        // As when the first frame is rendered.
        let is_single = |frames: &FrameList| frames.resolve(1..=1).is_ok();
        self.scene.load.model.stage.single = self.frames.as_ref().is_some_and(is_single);
        start_threads(0)?;
        let scene = Arc::new(self.scene.load()?);
        let frames = frames(self.frames.as_ref(), &scene)?;
        prepare_distinct(vec![Planned { path: self.output.clone(), what: "--output".into() }])?;
        if !self.quiet {
            console::warnings(&scene.warnings);
            console::notes(&scene.notes);
        }
        let exposures = self.exposures(&scene, frames.clone())?;
        let options = ExportOptions { frames: Some(frames), exposures };
        let exported = export::export(Arc::unwrap_or_clone(scene), &self.output, &options)?;
        self.report(&exported)?;
        Ok(Exit::Done)
    }

    /// The exposures of the frames' pictures, if they are measured: other programs do not measure, and the stage has other surroundings.
    fn exposures(&self, scene: &Arc<Scene>, frames: RangeInclusive<u32>) -> anyhow::Result<BTreeMap<u32, f32>> {
        if matches!(scene.settings.metering, Metering::Off | Metering::Keyed) {
            return Ok(BTreeMap::new());
        }
        let options = PictureOptions { load: self.scene.load.clone(), ..PictureOptions::default() };
        let wanted = (frames.collect(), Outputs::default());
        let job = options.job(scene.clone(), PixelType::U8, wanted, false)?;
        let mut device = device::open(&DeviceChoice::Cpu, 0)?.device;
        Ok(exposures(&job, device.as_mut())?)
    }

    fn report(&self, exported: &Exported) -> anyhow::Result<()> {
        if self.quiet {
            return Ok(());
        }
        console::warnings(&exported.warnings);
        let Counts { shapes, materials, textures, groups, instancers, copies, instances } = exported.counts;
        if self.json {
            let files = exported.files.iter().map(|file| file.display().to_string()).collect();
            let warnings = &exported.warnings[..];
            let (point_instancers, point_instances, native_instances) = (instancers, copies, instances);
            let report = Report {
                files,
                warnings,
                shapes,
                materials,
                textures,
                groups,
                point_instancers,
                point_instances,
                native_instances,
            };
            return console::print(&serde_json::to_string_pretty(&report)?);
        }
        console::print(&format!(
            "{}: {}, {}, {}, {}, {} in {}, {}",
            self.output.display(),
            plural(shapes, "shape"),
            plural(materials, "material"),
            plural(textures, "picture"),
            plural(groups, "group"),
            plural(copies, "point instance"),
            plural(instancers, "instancer"),
            plural(instances, "native instance"),
        ))
    }
}

/// The frames that a list names in a scene, all of them without a list.
fn frames(list: Option<&FrameList>, scene: &Scene) -> anyhow::Result<RangeInclusive<u32>> {
    let all = scene.settings.frame_numbers();
    let Some(list) = list else { return Ok(all) };
    let mut numbers = list.resolve(all)?;
    numbers.sort_unstable();
    match numbers[..] {
        [first, .., last] if numbers.windows(2).all(|pair| pair[1] == pair[0] + 1) => Ok(first..=last),
        [only] => Ok(only..=only),
        _ => Err(UsageError("--frames: a stage has consecutive frames: write one range like 1-24".to_owned()).into()),
    }
}
