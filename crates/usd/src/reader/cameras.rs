//! Cameras (UsdGeomCamera).

use super::{
    over_time::{at, over_time},
    values::Values,
};
use crate::{Camera, CameraLens, Sampled};
use glam::DAffine3;
use openusd::usd::Prim;

#[cfg(test)]
mod tests;

/// Attributes of the lens.
const LENS: [&str; 12] = [
    "horizontalAperture",
    "verticalAperture",
    "horizontalApertureOffset",
    "verticalApertureOffset",
    "focalLength",
    "fStop",
    "focusDistance",
    "exposure",
    "exposure:time",
    "exposure:fStop",
    "exposure:iso",
    "exposure:responsivity",
];

/// The camera of a prim of type `Camera`.
pub fn read(values: &Values, prim: &Prim, world: Sampled<DAffine3>) -> Option<Camera> {
    let projection = values.token(prim, "projection");
    let orthographic = match projection.as_deref() {
        None | Some("perspective") => false,
        Some("orthographic") => true,
        Some(other) => {
            values.warn(format!("{}: projection {other} is not supported; perspective is used", prim.path()));
            false
        }
    };
    Some(Camera {
        name: prim.path().to_string(),
        world_from_camera: world,
        lens: over_time(values, prim, &LENS, |time| lens(values, prim, time)),
        orthographic,
        shutter: [values.f64(prim, "shutter:open", 0.0), values.f64(prim, "shutter:close", 0.0)],
    })
}

fn lens(values: &Values, prim: &Prim, time: Option<f64>) -> CameraLens {
    let number = |name: &str, fallback: f32| at(values, prim, name, time, fallback);
    let positive = |name: &str, fallback: f32| match number(name, fallback) {
        value if value > 0.0 => value,
        _ => {
            values.warn(format!("{}.{name}: is not above 0; {fallback} is used", prim.path()));
            fallback
        }
    };
    CameraLens {
        aperture: [positive("horizontalAperture", 20.955), positive("verticalAperture", 15.2908)],
        offset: [number("horizontalApertureOffset", 0.0), number("verticalApertureOffset", 0.0)],
        focal_length: positive("focalLength", 50.0),
        f_stop: number("fStop", 0.0).max(0.0),
        focus_distance: number("focusDistance", 0.0).max(0.0),
        exposure: exposure(number),
    }
}

/// The exposure in stops, as `UsdGeomCamera::ComputeLinearExposureScale` computes its factor.
fn exposure(number: impl Fn(&str, f32) -> f32) -> f32 {
    let time = number("exposure:time", 1.0);
    let stop = number("exposure:fStop", 1.0);
    let speed = number("exposure:iso", 100.0) / 100.0;
    let factor = time * speed * number("exposure:responsivity", 1.0) / (stop * stop);
    let stops = number("exposure", 0.0) + factor.log2();
    // A closed shutter and other impossible settings count as none.
    if stops.is_finite() { stops } else { number("exposure", 0.0) }
}
