//! `throng export`: writes a scene as a USD stage.

use super::{
    Exit, UsageError,
    args::SceneArgs,
    console::{self, plural},
};
use serde::Serialize;
use std::{ops::RangeInclusive, path::PathBuf};
use throng_device::start_threads;
use throng_export::{self as export, Counts, ExportOptions, Exported};
use throng_output::{Planned, prepare_distinct};

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
    /// Frames to sample, such as 1 or 1-24 [default: all]
    #[arg(short, long, value_name = "FIRST-LAST", value_parser = parse_frames, help_heading = "Output")]
    frames: Option<RangeInclusive<u32>>,
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
        // As when one frame is rendered.
        let is_single = |frames: &RangeInclusive<u32>| frames.start() == frames.end();
        self.scene.load.model.stage.single = self.frames.as_ref().is_some_and(is_single);
        start_threads(0)?;
        let scene = self.scene.load()?;
        let (first, last) = scene.settings.first_and_last();
        let is_outside = |frames: &RangeInclusive<u32>| *frames.start() < first || *frames.end() > last;
        if self.frames.as_ref().is_some_and(is_outside) {
            return Err(UsageError(format!("--frames: the scene has the frames {first}-{last}")).into());
        }
        prepare_distinct(vec![Planned { path: self.output.clone(), what: "--output".into() }])?;
        if !self.quiet {
            scene.warnings.iter().for_each(|line| console::note(&format!("throng: warning: {line}")));
            scene.notes.iter().for_each(|line| console::note(&format!("throng: note: {line}")));
        }
        let exported = export::export(scene, &self.output, &ExportOptions { frames: self.frames.clone() })?;
        self.report(&exported)?;
        Ok(Exit::Done)
    }

    fn report(&self, exported: &Exported) -> anyhow::Result<()> {
        if self.quiet {
            return Ok(());
        }
        exported.warnings.iter().for_each(|line| console::note(&format!("throng: warning: {line}")));
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

/// A frame, or the first and the last one.
fn parse_frames(text: &str) -> Result<RangeInclusive<u32>, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| text.trim().parse::<u32>().ok();
    let range = number(first).zip(number(last)).filter(|(first, last)| first <= last);
    range.map(|(first, last)| first..=last).ok_or_else(|| "write a frame like 1, or a range like 1-24".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_a_number_or_a_range() {
        assert_eq!((parse_frames("7"), parse_frames("2-9")), (Ok(7..=7), Ok(2..=9)));
        assert!(["", "x", "9-2", "1,3", "-1"].iter().all(|text| parse_frames(text).is_err()));
    }
}
