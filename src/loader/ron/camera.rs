//! The `camera` section, checked.

use super::{file::Source, lens, placements::direction, source::Place};
use crate::loader::LoadError;
use crate::scene::{
    Camera, CameraKey, CameraPath,
    desc::{CameraDesc, LookAt, Orbit, Point, Spline, SplineKey},
};
use glam::Vec3;

/// Converts the section but for the lens, which may focus on what is placed; the frames show `duration` seconds from the time `start` on.
///
/// # Errors
/// Views without a direction, fields of view outside (0, 180), keys that are too few or out of order.
pub fn convert(source: &Source, camera: &CameraDesc, (start, duration): (f32, f32)) -> Result<Camera, LoadError> {
    let place = Place::ROOT.key("camera");
    let up = match camera {
        CameraDesc::LookAt(LookAt { up, .. })
        | CameraDesc::Orbit(Orbit { up, .. })
        | CameraDesc::Spline(Spline { up, .. }) => *up,
    };
    let at = Checks { source, up: up.0 };
    let projection = lens::projection(source, camera, &place)?;
    let up = at.up(up, &place)?;
    let path = match camera {
        CameraDesc::LookAt(c) => at.look_at(c, &place)?,
        CameraDesc::Orbit(c) => at.orbit(c, &place)?,
        CameraDesc::Spline(c) => at.spline(c, (start, duration), &place)?,
    };
    Ok(Camera { path, up, projection, ..Camera::default() })
}

struct Checks<'a> {
    source: &'a Source,
    up: Vec3,
}

impl Checks<'_> {
    fn fail<T>(&self, place: &Place, message: &str) -> Result<T, LoadError> {
        Err(self.source.error(place, message))
    }

    fn up(&self, up: Point, place: &Place) -> Result<Vec3, LoadError> {
        direction(up.0, "`up`").map_err(|m| self.source.error(&place.key("up"), m))
    }

    fn view(&self, eye: Vec3, target: Vec3, place: &Place) -> Result<(), LoadError> {
        let forward = (target.as_dvec3() - eye.as_dvec3()).normalize_or_zero();
        if forward == glam::DVec3::ZERO {
            return self.fail(&place.key("target"), "the camera looks at itself: `eye` and `target` are the same");
        }
        if forward.cross(self.up.as_dvec3().normalize_or_zero()).length() < 1e-5 {
            return self.fail(&place.key("target"), "the camera looks along `up`: give another `up`, as (0, 0, 1)");
        }
        Ok(())
    }

    fn look_at(&self, c: &LookAt, place: &Place) -> Result<CameraPath, LoadError> {
        self.view(c.eye.0, c.target.0, place)?;
        Ok(CameraPath::Still { eye: c.eye.0, target: c.target.0 })
    }

    fn orbit(&self, c: &Orbit, place: &Place) -> Result<CameraPath, LoadError> {
        let (radius, height) = (c.radius.0, c.height.0);
        if radius <= 0.0 || radius < height.abs() * 1e-5 {
            return self.fail(&place.key("radius"), "the radius must be above 0, or the camera looks along `up`");
        }
        let start = c.start.0.to_radians();
        Ok(CameraPath::Orbit { target: c.target.0, radius, height, start, turns: c.turns.0 })
    }

    fn spline(&self, c: &Spline, shown: (f32, f32), place: &Place) -> Result<CameraPath, LoadError> {
        let place = place.key("keys");
        if c.keys.len() < 2 {
            return self.fail(&place, "a spline needs at least 2 keys: add keys or use LookAt");
        }
        for (i, key) in c.keys.iter().enumerate() {
            self.view(key.eye.0, key.target.0, &place.index(i))?;
        }
        let times = self.times(&c.keys, shown, &place)?;
        let keys = c.keys.iter().zip(times).map(|(k, time)| CameraKey { time, eye: k.eye.0, target: k.target.0 });
        Ok(CameraPath::Spline { keys: keys.collect() })
    }

    fn times(&self, keys: &[SplineKey], (start, duration): (f32, f32), place: &Place) -> Result<Vec<f32>, LoadError> {
        let with_time = keys.iter().filter(|k| k.time.is_some()).count();
        if with_time == 0 {
            let last = (keys.len() - 1) as f64;
            return Ok((0..keys.len())
                .map(|i| (f64::from(start) + f64::from(duration) * i as f64 / last) as f32)
                .collect());
        }
        let mut times: Vec<f32> = Vec::with_capacity(keys.len());
        for (i, key) in keys.iter().enumerate() {
            let Some(time) = key.time else {
                return self.fail(&place.index(i), "this key has no time: give all keys a time, or none");
            };
            if times.last().is_some_and(|&before| time.0 <= before) {
                return self.fail(&place.index(i).key("time"), "key times must increase: sort the keys");
            }
            times.push(time.0);
        }
        Ok(times)
    }
}
