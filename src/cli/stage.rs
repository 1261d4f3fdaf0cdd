//! The contents of a USD stage for `throng info`, as a document and as text.

use super::console::plural;
use serde::Serialize;
use std::{collections::BTreeMap, fmt, path::PathBuf};
use throng_usd::{Stage, UpAxis};

/// Number of layers, cameras and files that the text lists.
const SHORT_LIST: usize = 20;

/// A stage's contents.
#[derive(Serialize)]
pub struct StageInfo {
    layers: Vec<PathBuf>,
    up_axis: &'static str,
    meters_per_unit: f64,
    time_codes: Option<(f64, f64)>,
    time_codes_per_second: f64,
    prims: u64,
    native_instances: u64,
    prototypes: u64,
    point_instances: u64,
    shapes: usize,
    cameras: Vec<String>,
    lights: Vec<String>,
    left_out: BTreeMap<String, u64>,
    unresolved: Vec<String>,
}

impl StageInfo {
    /// Describes a stage.
    pub fn new(stage: &Stage) -> Self {
        let census = &stage.census;
        Self {
            layers: stage.layers.clone(),
            up_axis: match stage.up {
                UpAxis::Y => "Y",
                UpAxis::Z => "Z",
            },
            meters_per_unit: stage.meters_per_unit,
            time_codes: stage.times.range,
            time_codes_per_second: stage.times.per_second,
            prims: census.prims,
            native_instances: census.native_instances,
            prototypes: census.prototypes,
            point_instances: census.point_instances,
            shapes: stage.shapes.len(),
            cameras: stage.cameras.iter().map(|camera| camera.name.clone()).collect(),
            lights: stage.lights.iter().map(|light| light.name.clone()).collect(),
            left_out: census.left_out.clone(),
            unresolved: census.unresolved.clone(),
        }
    }
}

impl fmt::Display for StageInfo {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(f, "stage")?;
        let layers = self.layers.len();
        writeln!(f, "  {} in {}", plural(self.prims as usize, "prim"), plural(layers, "layer"))?;
        let units = self.meters_per_unit;
        write!(f, "  {} up, a unit is {units} m, {} time codes per second", self.up_axis, self.time_codes_per_second)?;
        match self.time_codes {
            Some((first, last)) => writeln!(f, ", {first} to {last}")?,
            None => writeln!(f)?,
        }
        writeln!(
            f,
            "  {} of {}, {}, {}",
            plural(self.native_instances as usize, "native instance"),
            plural(self.prototypes as usize, "prototype"),
            plural(self.point_instances as usize, "point instance"),
            plural(self.shapes, "shape")
        )?;
        for (what, names) in [("cameras", &self.cameras), ("lights", &self.lights), ("missing files", &self.unresolved)]
        {
            if names.is_empty() {
                continue;
            }
            let more = match names.len().saturating_sub(SHORT_LIST) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let shown: Vec<&str> = names.iter().map(String::as_str).take(SHORT_LIST).collect();
            writeln!(f, "  {what}: {}{more}", shown.join(", "))?;
        }
        for (kind, count) in &self.left_out {
            writeln!(f, "  not drawn: {count} {kind}")?;
        }
        Ok(())
    }
}
