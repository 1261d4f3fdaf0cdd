//! The camera's lens at a time: aperture and focus.

use super::{CameraPose, Moment, anchors::middle};
use crate::{Camera, Focus, Iris, Projection, Scene, catmull_rom};

/// A lens at a time, in the form needed for tracing rays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PosedLens {
    /// Radius of the aperture in scene units; positive.
    pub radius: f32,
    /// Focus distance along the camera's axis in scene units; positive. For panoramas, the distance in every direction.
    pub focus: f32,
    pub iris: Iris,
}

/// The lens of a camera of `scene` with the given `pose`. None for a pinhole camera, and if numbers overflow.
pub fn lens_at(scene: &Scene, camera: &Camera, moment: &Moment, pose: &CameraPose) -> Option<PosedLens> {
    let lens = camera.lens.as_ref()?;
    let tracks = &camera.tracks;
    let aperture = match within_keys(&tracks.aperture, moment.time()) {
        Some(value) => lens.aperture.with_value(value),
        None => lens.aperture,
    };
    let radius = aperture.radius(pose.projection);
    let distance = |focus: &Focus| distance_of(scene, moment, pose, focus);
    let keys: Vec<_> = tracks.focus.iter().map(|(t, f)| (*t, distance(f))).collect();
    let focus = within_keys(&keys, moment.time()).unwrap_or_else(|| distance(&lens.focus));
    // The focus distance must not be zero.
    let focus = focus.max(1e-3 * radius);
    let valid = radius > 0.0 && radius.is_finite() && focus.is_finite();
    valid.then_some(PosedLens { radius, focus, iris: lens.iris })
}

/// The spline's value at `time`, clamped to the range of the keys, because a spline may overshoot. None without keys.
pub fn within_keys(keys: &[(f64, f32)], time: f64) -> Option<f32> {
    let (first, rest) = keys.split_first()?;
    let ends = |(low, high): (f32, f32), key: &(f64, f32)| (low.min(key.1), high.max(key.1));
    let (low, high) = rest.iter().fold((first.1, first.1), ends);
    Some(catmull_rom(keys, time).max(low).min(high))
}

fn distance_of(scene: &Scene, moment: &Moment, pose: &CameraPose, focus: &Focus) -> f32 {
    let point = match focus {
        Focus::Distance(distance) => return *distance,
        Focus::Point(point) => *point - moment.origin(),
        Focus::Target => pose.target,
        Focus::On(anchors) => middle(scene, moment, anchors),
    };
    let to = point - pose.eye;
    match pose.projection {
        Projection::Equirectangular => to.length(),
        _ => to.dot(pose.basis().0).abs(),
    }
}
