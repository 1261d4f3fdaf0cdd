//! The file that `--report` writes: measurements, the machine, and statistics that explain the measurements. Formats are Markdown and JSON.

use super::{BenchReport, MeasureError, Spread, TraceReport, TreeStatistics, processor::processor, trees::TreeBytes};
use std::{
    fmt::{self, Write as _},
    path::PathBuf,
};
use throng_output::write_atomically;

/// Maximum number of meshes in a Markdown table. JSON lists all meshes.
const LISTED_MESHES: usize = 16;

/// Path and format of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportPath {
    pub path: PathBuf,
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Markdown,
    Json,
}

#[derive(Debug, thiserror::Error)]
#[error("`{0}` ends in neither .md nor .json, the formats of reports")]
pub struct ReportPathError(String);

impl ReportPath {
    /// Parses a path. Its extension, `.md` or `.json`, selects the format.
    ///
    /// # Errors
    /// If the path has another extension.
    pub fn parse(path: impl Into<PathBuf>) -> Result<Self, ReportPathError> {
        let path = path.into();
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        let format = match extension.to_str() {
            Some("md") => Format::Markdown,
            Some("json") => Format::Json,
            _ => return Err(ReportPathError(path.display().to_string())),
        };
        Ok(Self { path, format })
    }
}

/// A report, with statistics of the trees if they were requested.
pub struct Measured<R> {
    pub report: R,
    pub trees: Option<TreeStatistics>,
}

/// The report with additional keys. Serialised, this is the JSON document.
#[derive(serde::Serialize)]
struct Document<'a, R> {
    version: &'static str,
    scene_file: String,
    processor: String,
    /// Number of timed passes, which follow one warm-up pass.
    passes: u32,
    #[serde(flatten)]
    report: &'a R,
    trees: Option<&'a TreeStatistics>,
}

impl<R: Tables + serde::Serialize> Measured<R> {
    /// Writes the report atomically. `scene_file` is the measured scene, `passes` the number of timed passes.
    ///
    /// # Errors
    ///
    /// If the file cannot be written. Its former contents then remain.
    pub fn write(&self, to: &ReportPath, scene_file: String, passes: u32) -> Result<(), MeasureError> {
        let document = Document {
            version: env!("CARGO_PKG_VERSION"),
            scene_file,
            processor: processor(),
            passes,
            report: &self.report,
            trees: self.trees.as_ref(),
        };
        write_atomically(&to.path, |out| match to.format {
            Format::Markdown => out.write_all(document.markdown().as_bytes()),
            Format::Json => {
                serde_json::to_writer_pretty(&mut *out, &document)?;
                writeln!(out)
            }
        })?;
        Ok(())
    }
}

/// A report that can be written as tables.
pub trait Tables {
    fn command(&self) -> &'static str;
    fn device(&self) -> &str;
    /// Name and report of each kind of rays that was traced.
    fn rays(&self) -> Vec<(&'static str, &TraceReport)>;
    /// Names and times of builds, in milliseconds.
    fn builds(&self) -> Vec<(&'static str, Spread)>;
}

impl Tables for TraceReport {
    fn command(&self) -> &'static str {
        "trace"
    }

    fn device(&self) -> &str {
        &self.device
    }

    fn rays(&self) -> Vec<(&'static str, &TraceReport)> {
        vec![("of the file", self)]
    }

    fn builds(&self) -> Vec<(&'static str, Spread)> {
        let once = |time| Spread::of(vec![time]);
        vec![("all BLASes, built or read", once(self.blas_build_ms)), ("TLAS, with boxes", once(self.tlas_build_ms))]
    }
}

impl Tables for BenchReport {
    fn command(&self) -> &'static str {
        "bench"
    }

    fn device(&self) -> &str {
        &self.device
    }

    fn rays(&self) -> Vec<(&'static str, &TraceReport)> {
        let secondary = [("bounce", &self.bounce), ("shadow", &self.shadow)];
        let secondary = secondary.into_iter();
        let traced = secondary.filter_map(|(name, report)| Some((name, report.as_ref()?)));
        [("primary", &self.primary)].into_iter().chain(traced).collect()
    }

    fn builds(&self) -> Vec<(&'static str, Spread)> {
        vec![
            ("all BLASes, fast", self.builds.blas_fast_ms),
            ("all BLASes, balanced", self.builds.blas_balanced_ms),
            ("all BLASes, high quality", self.builds.blas_high_ms),
            ("TLAS, with boxes", self.builds.tlas_ms),
        ]
    }
}

impl<R: Tables> Document<'_, R> {
    fn markdown(&self) -> String {
        let mut out = String::new();
        self.write_markdown(&mut out).expect("a string takes whatever is written to it");
        out
    }

    fn write_markdown(&self, out: &mut String) -> fmt::Result {
        let report = self.report;
        let command = report.command();
        writeln!(out, "# throng {command} {}\n", self.scene_file)?;
        writeln!(out, "- throng {}", self.version)?;
        writeln!(out, "- {}", report.device())?;
        writeln!(out, "- {}", self.processor)?;
        writeln!(out, "- {} timed passes", self.passes)?;
        write_rays(out, &report.rays())?;
        write_builds(out, &report.builds())?;
        match self.trees {
            Some(trees) => write_trees(out, trees),
            None => Ok(()),
        }
    }
}

/// Writes a heading and the header of a table. The first column is text, the others are numbers.
fn write_head(out: &mut String, heading: &str, columns: &[&str]) -> fmt::Result {
    writeln!(out, "\n## {heading}\n\n| {} |", columns.join(" | "))?;
    writeln!(out, "|---|{}", "---:|".repeat(columns.len() - 1))
}

fn write_rays(out: &mut String, rays: &[(&str, &TraceReport)]) -> fmt::Result {
    let columns = ["rays", "count", "hit", "median", "min", "max", "MAD"];
    write_head(out, "Mrays/s", &columns)?;
    for (name, r) in rays {
        let rates = [r.mrays_per_s, r.mrays_per_s_min, r.mrays_per_s_max, r.mrays_per_s_mad];
        let rates = rates.map(|rate| format!("{rate:.3}")).join(" | ");
        writeln!(out, "| {name} | {} | {} | {rates} |", r.rays, r.hits)?;
    }
    let counted = rays.iter().filter_map(|(name, r)| Some((name, r.work?)));
    let counted: Vec<_> = counted.collect();
    if counted.is_empty() {
        return Ok(());
    }
    let columns = ["rays", "TLAS nodes", "instances", "BLAS nodes", "packs", "triangles"];
    write_head(out, "Visited and tested per ray", &columns)?;
    for (name, w) in counted {
        let counts = [w.tlas_nodes, w.instances, w.blas_nodes, w.packs, w.triangles];
        let counts = counts.map(|count| format!("{count:.2}")).join(" | ");
        writeln!(out, "| {name} | {counts} |")?;
    }
    Ok(())
}

fn write_builds(out: &mut String, builds: &[(&str, Spread)]) -> fmt::Result {
    write_head(out, "Builds, ms", &["build", "median", "min", "max", "MAD"])?;
    builds.iter().try_for_each(|(name, s)| {
        let times = [s.median, s.min, s.max, s.mad].map(|time| format!("{time:.3}"));
        writeln!(out, "| {name} | {} |", times.join(" | "))
    })
}

fn write_trees(out: &mut String, trees: &TreeStatistics) -> fmt::Result {
    let columns = ["tree", "instances", "primitives", "levels", "SAH cost", "end-point overlap"];
    write_head(out, "Trees", &columns)?;
    let tlas = &trees.tlas;
    writeln!(out, "| TLAS | {} | | {} | {:.2} | {:.2} |", tlas.instances, tlas.depth, tlas.sah_cost, tlas.overlap)?;
    for blas in trees.blas.iter().take(LISTED_MESHES) {
        let overlap = blas.overlap.map(|overlap| format!("{overlap:.2}"));
        writeln!(
            out,
            "| {} | {} | {} | {} | {:.2} | {} |",
            cell(&blas.mesh),
            blas.instances,
            blas.primitives,
            blas.depth,
            blas.sah_cost,
            overlap.unwrap_or_default()
        )?;
    }
    if let Some(more @ 1..) = trees.blas.len().checked_sub(LISTED_MESHES) {
        writeln!(out, "\n{more} meshes more.")?;
    }
    write_bytes(out, &trees.bytes)
}

fn write_bytes(out: &mut String, bytes: &TreeBytes) -> fmt::Result {
    write_head(out, "Memory", &["kind", "bytes"])?;
    let kinds = [
        ("BLAS nodes", bytes.blas_nodes),
        ("BLAS leaves", bytes.blas_leaves),
        ("for builds and boxes", bytes.blas_builds),
        ("TLAS nodes", bytes.tlas_nodes),
        ("instance records", bytes.instance_records),
    ];
    kinds.iter().try_for_each(|(kind, bytes)| writeln!(out, "| {kind} | {bytes} |"))
}

/// A name from a file, without characters that would end a table cell.
fn cell(name: &str) -> String {
    name.replace(['|', '\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_says_what_a_report_is_written_as() {
        let format = |text: &str| ReportPath::parse(text).map(|to| to.format).ok();
        assert_eq!(format("a/b.md"), Some(Format::Markdown));
        assert_eq!(format("B.JSON"), Some(Format::Json));
        for other in ["report", "report.txt", ".md", "md"] {
            assert_eq!(format(other), None, "{other}");
        }
        let error = ReportPath::parse("a.txt").unwrap_err().to_string();
        assert!(error.contains(".md") && error.contains(".json"), "{error}");
    }

    #[test]
    fn names_do_not_break_tables() {
        assert_eq!(cell("a|b\nc"), "a b c");
    }
}
