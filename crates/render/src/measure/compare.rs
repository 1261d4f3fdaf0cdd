//! Compares devices by rays: traces the same rays on each device, and compares the hits with the first device's.

use super::{MeasureError, TraceOptions, TraceReport, pose, time_rays};
use crate::{
    compare::LIMIT,
    ray_files::{read_rays, write_hits},
};
use glam::Vec3;
use std::{fmt, sync::Arc};
use throng_abi::{Hit, Ray};
use throng_device::{Device, RayKind};
use throng_scene::Scene;

/// Tolerance of distances, relative to the distance.
const RELATIVE: f32 = 1e-3;
/// Tolerance of distances, relative to the scene's diagonal. Both tolerances are added.
const ABSOLUTE: f32 = 1e-5;

/// The result of `throng trace --compare`.
#[derive(Clone, Debug, serde::Serialize)]
pub struct TraceComparison {
    pub devices: Vec<TraceReport>,
    /// Differences of each device after the first.
    pub differences: Vec<RayDifference>,
}

/// Differences between the hits of one device and the first device's. A ray is counted once, by the first of the three reasons.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct RayDifference {
    pub device: String,
    pub rays: u64,
    pub differing: u64,
    /// Share of rays that differ, from 0 to 1.
    pub share: f64,
    /// Rays that hit on one device and miss on the other.
    pub hit_or_miss: u64,
    /// Rays that hit on both, but whose distances differ by more than a thousandth of the distance plus 1e-5 of the scene's diagonal.
    pub distance: u64,
    /// Rays that hit at the same distance on both, but different primitives or instances.
    pub target: u64,
    /// Index of the first ray that differs; none if all agree.
    pub first: Option<usize>,
    pub agrees: bool,
}

impl fmt::Display for TraceComparison {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for report in &self.devices {
            writeln!(f, "{report}\n")?;
        }
        self.differences.iter().try_for_each(|difference| {
            let RayDifference { device, rays, differing, .. } = difference;
            let percent = 100.0 * difference.share;
            writeln!(f, "compared {device}: {differing} of {rays} rays differ ({percent:.4} %)")
        })
    }
}

/// Traces a file of rays on every device, as [`super::trace_file`] does on one device. Writes the hits of the first device.
///
/// # Errors
/// If the file of rays cannot be read, if a device fails, or if hits cannot be written. Errors of devices name the device.
pub fn compare_traces(
    scene: &Arc<Scene>,
    devices: &mut [Box<dyn Device>],
    options: &TraceOptions,
) -> Result<TraceComparison, MeasureError> {
    let rays = read_rays(&options.rays)?;
    let mut comparison = TraceComparison { devices: Vec::new(), differences: Vec::new() };
    let mut first: Option<Vec<Hit>> = None;
    for device in devices {
        let (report, hits, diagonal) = trace_on(scene, device.as_mut(), options, &rays)?;
        match &first {
            None => {
                if let Some(path) = &options.hits {
                    write_hits(path, &hits)?;
                }
                first = Some(hits);
            }
            Some(first) => {
                let mut found = difference(options.kind, &rays, first, &hits, diagonal);
                found.device.clone_from(&report.device);
                comparison.differences.push(found);
            }
        }
        comparison.devices.push(report);
    }
    Ok(comparison)
}

/// Traces rays on one device. Returns its report, the hits, and the diagonal of the scene's bounds.
fn trace_on(
    scene: &Arc<Scene>,
    device: &mut dyn Device,
    options: &TraceOptions,
    rays: &[Ray],
) -> Result<(TraceReport, Vec<Hit>, f32), MeasureError> {
    let name = device.describe();
    let posed = pose(scene, device, 1, &options.trees).map_err(|error| error.on(&name))?;
    let (report, hits) =
        time_rays(device, &posed, options.kind, rays, options.repeat).map_err(|error| error.on(&name))?;
    Ok((report, hits, posed.frame.tlas.bounds().diagonal()))
}

fn difference(kind: RayKind, rays: &[Ray], a: &[Hit], b: &[Hit], diagonal: f32) -> RayDifference {
    let mut found = RayDifference { rays: rays.len() as u64, ..RayDifference::default() };
    for (index, (ray, (a, b))) in rays.iter().zip(a.iter().zip(b)).enumerate() {
        let count = match (a.t >= 0.0, b.t >= 0.0) {
            (false, false) => continue,
            (true, true) if kind == RayKind::Any => continue,
            (true, true) if !is_near(ray, a.t, b.t, diagonal) => &mut found.distance,
            (true, true) if (a.instance, a.prim) == (b.instance, b.prim) => continue,
            (true, true) => &mut found.target,
            _ => &mut found.hit_or_miss,
        };
        *count += 1;
        found.first.get_or_insert(index);
    }
    found.differing = found.hit_or_miss + found.distance + found.target;
    found.share = found.differing as f64 / found.rays.max(1) as f64;
    found.agrees = found.share <= LIMIT;
    found
}

/// Whether two distances along a ray agree. Distances are in multiples of the direction's length; the diagonal is in world units.
fn is_near(ray: &Ray, a: f32, b: f32, diagonal: f32) -> bool {
    let length = Vec3::from(ray.direction).length();
    (a - b).abs() <= RELATIVE * a.abs() + ABSOLUTE * diagonal / length
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(t: f32, instance: u32, prim: u32) -> Hit {
        Hit { t, instance, prim, ..Hit::default() }
    }

    fn rays(count: usize) -> Vec<Ray> {
        let ray = Ray { origin: [0.0; 3], t_min: 0.0, direction: [0.0, 2.0, 0.0], t_max: 1e30 };
        vec![ray; count]
    }

    #[test]
    fn each_ray_counts_once_and_by_its_reason() {
        let a =
            [hit(-1.0, 0, 0), hit(100.0, 1, 2), hit(100.0, 1, 2), hit(-1.0, 0, 0), hit(100.0, 1, 2), hit(0.0, 1, 2)];
        let b =
            [hit(-1.0, 7, 7), hit(100.09, 1, 2), hit(101.0, 1, 3), hit(1.0, 0, 0), hit(100.0, 2, 2), hit(0.004, 1, 2)];
        let found = difference(RayKind::Closest, &rays(6), &a, &b, 1000.0);
        let counts = (found.hit_or_miss, found.distance, found.target);
        assert_eq!(counts, (1, 1, 1));
        assert_eq!((found.differing, found.first), (3, Some(2)));
        assert!(found.share == 0.5 && !found.agrees);
    }

    #[test]
    fn any_hit_is_as_good_as_another() {
        let (a, b) = ([hit(1.0, 1, 1); 2], [hit(1.0, 2, 3), hit(-1.0, 0, 0)]);
        let found = difference(RayKind::Any, &rays(2), &a, &b, 1.0);
        assert_eq!((found.hit_or_miss, found.differing), (1, 1));
    }
}
