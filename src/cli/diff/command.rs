//! `throng diff`: perceived differences between two pictures or sequences.

use super::sequences;
use crate::cli::{
    Exit,
    console::{self, plural},
    demand,
};
use clap::builder::{OsStringValueParser, TypedValueParser};
use std::path::{Path, PathBuf};
use throng_base::files::serialize_lossy;
use throng_diff::{self as diff, Difference, DifferenceStats};
use throng_output::{Encoding, Manifests, Metadata, Pattern, Picture, Pixels, Planned, parse_sheet, prepare_distinct};

const HELP: &str = "\
The measure is FLIP (Andersson et al. 2020): from 0 (no visible difference when switching between the pictures) to 1. For
.exr and .hdr files, it is the maximum over all exposures (HDR-FLIP, 2021). The exit code is 0 if the mean is at most
--limit, and 1 if it is greater. A picture that cannot be read is an error with exit code 1 and a message on standard error.
A pixel that is NaN or infinite in only one picture has the difference 1, and the pictures are never equal.

With --sequence, mean and 99th percentile are taken over all frames that exist in both sequences. Sequences are not equal if
a frame is missing in one of them. Flicker compares the changes from each frame to the next: it is the mean absolute
difference between the changes in A and in B, over pixels and colours, as sRGB values from 0 to 1. Only frames with
consecutive numbers are compared.";

/// Compare two pictures or sequences
#[derive(clap::Args)]
#[command(after_long_help = HELP)]
pub struct DiffArgs {
    /// Reference picture: .png, .jpg, .webp, .exr or .hdr
    a: PathBuf,
    /// Picture to compare with the reference, with equal size
    b: PathBuf,
    /// Compare two sequences frame by frame: A and B are patterns of file names, such as 'out/####.png'
    #[arg(long, conflicts_with = "map")]
    sequence: bool,
    /// Write a map of the differences of all pixels: .png, .jpg or .webp
    #[arg(long, value_name = "FILE", value_parser = OsStringValueParser::new().try_map(parse_sheet))]
    map: Option<Pattern>,
    /// Greatest mean difference that counts as equal; the default, 0, requires identical pictures
    #[arg(long, value_name = "MEAN", default_value_t = 0.0, hide_default_value = true, value_parser = parse_limit)]
    limit: f64,
    /// Viewing resolution: pixels per degree of the visual field
    #[arg(long, value_name = "N", default_value_t = diff::PIXELS_PER_DEGREE, value_parser = parse_pixels)]
    pixels_per_degree: f32,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
    /// Print nothing
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,
}

fn parse_limit(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(limit) if (0.0..=1.0).contains(&limit) => Ok(limit),
        _ => Err("must be 0 to 1".into()),
    }
}

fn parse_pixels(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(pixels) if (1.0..=1000.0).contains(&pixels) => Ok(pixels),
        _ => Err("must be 1 to 1000".into()),
    }
}

#[derive(serde::Serialize)]
struct Report<'a> {
    #[serde(serialize_with = "serialize_lossy")]
    a: &'a Path,
    #[serde(serialize_with = "serialize_lossy")]
    b: &'a Path,
    width: usize,
    height: usize,
    #[serde(flatten)]
    stats: DifferenceStats,
}

/// A comparison, and whether it is within the limit.
#[derive(serde::Serialize)]
struct Judged<'a, T> {
    #[serde(flatten)]
    found: &'a T,
    limit: f64,
    equal: bool,
}

impl DiffArgs {
    pub fn run(self) -> anyhow::Result<Exit> {
        demand(
            self.map.as_ref().is_none_or(|map| !map.format().is_linear()),
            "--map: the map has display colours; choose a .png, .jpg or .webp file",
        )?;
        if self.sequence {
            return self.compare_sequences();
        }
        let (a, b) = (diff::read(&self.a)?, diff::read(&self.b)?);
        let found = diff::compare(&a, &b, self.pixels_per_degree)?;
        if let Some(map) = &self.map {
            write_map(map, &found)?;
        }
        let equal = found.stats.broken == 0 && self.is_equal(found.stats.mean, found.stats.differing);
        self.print(&found, equal)?;
        Ok(if equal { Exit::Done } else { Exit::Failed })
    }

    fn compare_sequences(&self) -> anyhow::Result<Exit> {
        let compared = sequences::compare(&self.a, &self.b, self.pixels_per_degree)?;
        let is_whole = compared.has_same_frames() && compared.stats.broken == 0;
        let equal = is_whole && self.is_equal(compared.stats.mean, compared.stats.differing);
        self.tell(&if self.json {
            serde_json::to_string(&Judged { found: &compared, limit: self.limit, equal })?
        } else {
            compared.text()
        })?;
        Ok(if equal { Exit::Done } else { Exit::Failed })
    }

    /// With a limit of 0, only identical pictures are equal, so invisible differences count.
    fn is_equal(&self, mean: f64, differing: f64) -> bool {
        match self.limit {
            0.0 => differing == 0.0,
            limit => mean <= limit,
        }
    }

    fn print(&self, found: &Difference, equal: bool) -> anyhow::Result<()> {
        let stats = found.stats;
        let text = if self.json {
            let report = Report { a: &self.a, b: &self.b, width: found.width, height: found.height, stats };
            serde_json::to_string(&Judged { found: &report, limit: self.limit, equal })?
        } else {
            let text = format!(
                "FLIP: mean {:.6}, 99th percentile {:.6}, max {:.6}; RMSE {:.6}; {:.4} % of pixels differ",
                stats.mean,
                stats.p99,
                stats.max,
                stats.rmse,
                100.0 * stats.differing
            );
            text + &told_not_finite([&self.a, &self.b], stats.not_finite)
        };
        self.tell(&text)
    }

    fn tell(&self, text: &str) -> anyhow::Result<()> {
        if self.quiet { Ok(()) } else { console::print(text) }
    }
}

/// Lines about pictures or sequences with pixels that are NaN or infinite.
pub fn told_not_finite(names: [&Path; 2], counts: [usize; 2]) -> String {
    let told = names.iter().zip(counts).filter(|(_, count)| *count > 0);
    told.map(|(name, count)| format!("\nNaN or infinite in {}: {}", name.display(), plural(count, "pixel"))).collect()
}

fn write_map(name: &Pattern, found: &Difference) -> anyhow::Result<()> {
    let path = name.path_for(0, "diff");
    prepare_distinct(vec![Planned::new(&path, "the map")])?;
    let picture = Picture {
        width: found.width as u32,
        height: found.height as u32,
        pixels: Pixels::U8(diff::draw_map(found).into()),
        aovs: &[],
        transparent: false,
        blocks: None,
        display: None,
        manifests: &Manifests::default(),
        metadata: &Metadata::default(),
    };
    name.format().write(&path, &picture, &Encoding::default())?;
    Ok(())
}
