//! `throng merge`: joins films that hold parts of a picture.

use super::{
    Exit,
    console::{self, plural},
};
use std::path::PathBuf;
use throng_base::flags;
use throng_merge as merge;
use throng_output::{ColorDepth, Encoding, ExrCompression};
use throng_settings::parse_depth;

const HELP: &str = "\
throng render makes parts with -o PART.film and --sample-range or --region, on any machine and in any order. All parts must
have equal scene, frame, settings and seed. A picture requires each of its samples exactly once. The result does not depend
on the order or grouping in which parts are joined: it is bit-identical to one run with --checkpoint.

Examples:
  throng render scene.ron -f 1 --samples 64 --sample-range 1-32 -o a.film
  throng render scene.ron -f 1 --samples 64 --sample-range 33-64 -o b.film
  throng merge a.film b.film -o still.exr";

/// Join parts of a picture that are stored in films
#[derive(clap::Args)]
#[command(after_long_help = HELP)]
pub struct MergeArgs {
    /// Films with parts of one picture
    #[arg(value_name = "FILM", required = true)]
    films: Vec<PathBuf>,
    /// File to write: the picture as .png or .exr, or the joined samples as .film
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Bits per colour: 8 or 16 in .png; 16 (half floats) or 32 in .exr [default: 8, in .exr 16]
    #[arg(long, value_name = "BITS", value_parser = parse_depth)]
    color_depth: Option<ColorDepth>,
    /// Lossless compression of .exr files
    #[arg(long, value_name = "NAME", value_parser = flags::choice::<ExrCompression>())]
    exr_compression: Option<ExrCompression>,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
    /// Print nothing
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,
}

impl MergeArgs {
    pub fn run(self) -> anyhow::Result<Exit> {
        let usual = Encoding::default();
        let encoding = Encoding {
            depth: self.color_depth.unwrap_or(usual.depth),
            compression: self.exr_compression.unwrap_or(usual.compression),
            ..usual
        };
        let merged = merge::merge(&self.films, &self.output, &encoding)?;
        let text = if self.json {
            serde_json::to_string(&merged)?
        } else {
            format!(
                "{}: {}x{}, samples {}, of {}",
                self.output.display(),
                merged.width,
                merged.height,
                merged.samples,
                plural(merged.films, "film")
            )
        };
        if !self.quiet {
            console::print(&text)?;
        }
        Ok(Exit::Done)
    }
}
