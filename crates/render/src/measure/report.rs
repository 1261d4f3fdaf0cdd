//! Results of measurements, as readable text and as JSON documents.

use super::{RenderReport, Spread};
use std::fmt;
use throng_base::memory::describe;
use throng_device::{RayKind, WorkCounts};

/// The result of `throng trace`.
#[derive(Clone, Debug, serde::Serialize)]
pub struct TraceReport {
    pub device: String,
    pub threads: usize,
    pub kind: RayKind,
    pub rays: u64,
    pub hits: u64,
    /// Median of the timed passes, in millions of rays per second.
    pub mrays_per_s: f64,
    /// Rates of the slowest and the fastest pass, in millions of rays per second.
    pub mrays_per_s_min: f64,
    pub mrays_per_s_max: f64,
    /// Median absolute deviation of the rates, in millions of rays per second.
    pub mrays_per_s_mad: f64,
    /// Time to build all BLASes, by default at high quality. With a cache of trees, the time to read them.
    pub blas_build_ms: f64,
    pub tlas_build_ms: f64,
    /// Memory of trees and instance records, in bytes.
    pub bytes: u64,
    /// Work per ray; none unless it was requested and the device can count it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work: Option<WorkPerRay>,
}

/// [`WorkCounts`] divided by the number of rays.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct WorkPerRay {
    pub tlas_nodes: f64,
    pub instances: f64,
    pub blas_nodes: f64,
    pub packs: f64,
    pub triangles: f64,
}

impl WorkPerRay {
    /// Divides the counts by the number of rays. None without rays.
    pub fn of(counts: &WorkCounts) -> Option<Self> {
        let share = |count: u64| count as f64 / counts.rays as f64;
        (counts.rays > 0).then(|| Self {
            tlas_nodes: share(counts.tlas_nodes),
            instances: share(counts.instances),
            blas_nodes: share(counts.blas_nodes),
            packs: share(counts.packs),
            triangles: share(counts.triangles),
        })
    }
}

/// Times of repeated builds, in milliseconds.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Builds {
    /// Times to build all BLASes one after the other, at each quality.
    pub blas_fast_ms: Spread,
    pub blas_balanced_ms: Spread,
    pub blas_high_ms: Spread,
    /// Time to build the TLAS, including the instances' boxes.
    pub tlas_ms: Spread,
}

impl fmt::Display for TraceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "device   {}", self.device)?;
        writeln!(f, "rays     {} ({} hit)", self.rays, self.hits)?;
        writeln!(
            f,
            "speed    {:.3} Mrays/s (median; {:.3} to {:.3})",
            self.mrays_per_s, self.mrays_per_s_min, self.mrays_per_s_max
        )?;
        writeln!(f, "builds   BLAS {:.2} ms, TLAS {:.2} ms", self.blas_build_ms, self.tlas_build_ms)?;
        write!(f, "memory   {} of trees and records", describe(self.bytes))
    }
}

/// The result of `throng bench`.
#[derive(Clone, Debug, serde::Serialize)]
pub struct BenchReport {
    pub scene: String,
    pub device: String,
    pub threads: usize,
    pub instances: u64,
    /// Number of primitives with all instances expanded.
    pub instanced_primitives: u64,
    /// Median times to build all BLASes one after the other, at each quality.
    pub blas_fast_ms: f64,
    pub blas_balanced_ms: f64,
    pub blas_high_ms: f64,
    /// Median time to build the TLAS, including the instances' boxes.
    pub tlas_ms: f64,
    /// Medians and spreads of the build times.
    pub builds: Builds,
    /// Memory of trees and instance records, in bytes.
    pub bytes: u64,
    /// Rays of the scene's camera. Bounce and shadow rays start at their hits: bounce rays are cosine-weighted, shadow rays go to a light
    /// outside the scene.
    pub primary: TraceReport,
    pub bounce: Option<TraceReport>,
    pub shadow: Option<TraceReport>,
    /// Rays of a frame, as the device renders it and as queries; none if the device does not time its stages.
    pub render: Option<RenderReport>,
    /// Number of sphere instances, which a dumped `.scn` file cannot store.
    pub not_dumped: usize,
}

impl fmt::Display for BenchReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "scene    {}: {} instances, {} primitives in all",
            self.scene, self.instances, self.instanced_primitives
        )?;
        writeln!(f, "device   {}", self.device)?;
        writeln!(
            f,
            "builds   BLAS {:.2} ms (fast), {:.2} ms (balanced), {:.2} ms (high quality); TLAS {:.2} ms",
            self.blas_fast_ms, self.blas_balanced_ms, self.blas_high_ms, self.tlas_ms
        )?;
        writeln!(f, "memory   {} of trees and records", describe(self.bytes))?;
        let mut line = |name: &str, report: Option<&TraceReport>| match report {
            Some(r) => writeln!(f, "{name:8} {:9.3} Mrays/s, {} rays, {} hit", r.mrays_per_s, r.rays, r.hits),
            None => writeln!(f, "{name:8} nothing was hit"),
        };
        line("primary", Some(&self.primary))?;
        line("bounce", self.bounce.as_ref())?;
        line("shadow", self.shadow.as_ref())?;
        if let Some(render) = &self.render {
            write!(f, "{render}")?;
        }
        match self.not_dumped {
            0 => Ok(()),
            n => writeln!(f, "note     the dumped scene lacks {n} spheres, which .scn files cannot hold"),
        }
    }
}
