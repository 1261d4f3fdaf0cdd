//! Paths of cameras: the scene's, and the path through a viewer's waypoints. Both are computed by the code for splines in scene files.

use super::{aspect_of, check};
use crate::{Answer, Track, View, Waypoint};
use glam::Vec3;
use throng_loader as loader;
use throng_scene::anim::{CameraPose, Moment, camera_at, camera_pose};
use throng_scene::{
    self as scene, Above, Aperture, Camera, CameraKey, CameraPath, Ease, Focus, Iris, Lens, Parametrisation,
    Projection, Scene, sensor_height,
};

/// Number of points in a drawn path.
const MOST_POINTS: u32 = 512;
/// Maximum number of waypoints in a path.
const MOST_KEYS: usize = 10_000;

/// A viewer's path, as the camera that a `Spline` in a scene file would give.
#[derive(Clone, Debug)]
pub struct Flight {
    camera: Camera,
}

impl Flight {
    /// The flight through `keys` in `scene`; None with fewer than two keys. `pace` is a pace as in scene files, for example `constant` or
    /// `smooth`; None to follow the keys' times.
    ///
    /// # Errors
    /// If there are too many keys, if times do not increase, if a key is no valid view, or if the flight leaves the ground that it keeps
    /// above.
    pub fn new(scene: &Scene, keys: &[Waypoint], pace: Option<&str>) -> Result<Option<Self>, String> {
        if keys.len() > MOST_KEYS {
            return Err(format!("a path has at most {MOST_KEYS} waypoints"));
        }
        for (i, key) in keys.iter().enumerate() {
            check(&as_view(key, &scene.camera)).map_err(|error| format!("waypoint {}: {error}", i + 1))?;
            if !key.time.is_finite() || i > 0 && key.time <= keys[i - 1].time {
                return Err(format!("waypoint {}: the times of waypoints must increase", i + 1));
            }
        }
        if keys.len() < 2 {
            return Ok(None);
        }
        let own = &scene.camera;
        let path = camera_keys(keys);
        let mut path = through(path, own).map_err(|Vec3 { x, z, .. }| {
            format!("the flight leaves the ground that it keeps above at x = {x}, z = {z}")
        })?;
        path.rolls = track(keys, Some(own.roll), |key| key.roll.map(f32::to_radians));
        path.pace = pace.map(|name| loader::pace_of(name, &path)).transpose()?;
        let mut made = Camera {
            path: CameraPath::Spline(path),
            up: own.up,
            roll: own.roll,
            projection: own.projection,
            shift: own.shift,
            lens: own.lens.clone(),
            ..Camera::default()
        };
        let span = match own.projection {
            Projection::Perspective { fov_y } => Some(fov_y),
            Projection::Orthographic { height } => Some(height),
            Projection::Equirectangular => None,
        };
        let given = |key: &Waypoint| match own.projection {
            Projection::Perspective { .. } => key.fov.map(f32::to_radians),
            _ => key.fov,
        };
        made.tracks.span = track(keys, span, given);
        let f_stops = keys.iter().find_map(|key| key.f_stop);
        let radii = keys.iter().find_map(|key| key.radius);
        if made.lens.is_none() {
            let aperture = match (f_stops, radii) {
                (Some(number), _) => Some(Aperture::FStop { number, sensor: sensor_height(aspect_of(scene)) }),
                (None, radius) => radius.map(Aperture::Radius),
            };
            made.lens = aperture.map(|aperture| Lens { aperture, focus: Focus::Target, iris: Iris::default() });
        }
        if let Some(lens) = &made.lens {
            let aperture = |key: &Waypoint| match lens.aperture {
                Aperture::FStop { .. } => key.f_stop,
                Aperture::Radius(_) => key.radius,
            };
            made.tracks.aperture = track(keys, Some(lens.aperture.value()), aperture);
            made.tracks.focus = track(keys, Some(lens.focus.clone()), |key| key.focus.map(Focus::Distance));
        }
        Ok(Some(Self { camera: made }))
    }

    /// Time of the last waypoint, in seconds.
    pub fn end(&self) -> f64 {
        match &self.camera.path {
            CameraPath::Spline(flight) => flight.span().1,
            _ => 0.0,
        }
    }

    pub fn pose(&self, scene: &Scene, time: f64) -> CameraPose {
        camera_pose(scene, &self.camera, &Moment::of(scene, time))
    }

    /// Points along the path of the eye.
    pub fn points(&self, scene: &Scene) -> Vec<[f32; 3]> {
        let CameraPath::Spline(flight) = &self.camera.path else {
            return Vec::new();
        };
        let (first, last) = flight.span();
        let time = |i: u32| first + (last - first) * f64::from(i) / f64::from(MOST_POINTS - 1);
        (0..MOST_POINTS).map(|i| self.pose(scene, time(i)).eye.into()).collect()
    }
}

/// The flight through world-space keys, as it would be after saving it in the file of this camera: with its ground clearance,
/// parametrisation and banking.
///
/// # Errors
/// The first position outside the ground.
fn through(keys: Vec<CameraKey>, own: &Camera) -> Result<scene::Flight, Vec3> {
    let mut path = match above(own) {
        Some(above) => scene::Flight::above_ground(&keys, parametrisation_of(own), &above)?,
        None => scene::Flight::new(keys, parametrisation_of(own)),
    };
    if let CameraPath::Spline(own) = &own.path {
        path.bank = own.bank;
    }
    Ok(path)
}

/// The ground clearance of a flight that replaces the camera's own. All of its keys have targets.
fn above(own: &Camera) -> Option<Above> {
    match &own.path {
        CameraPath::Spline(flight) => Some(Above { targets: true, ..flight.above()?.clone() }),
        _ => None,
    }
}

/// Waypoints in the form of the scene file: with a ground clearance, heights are relative to the ground.
pub fn file_keys(scene: &Scene, keys: &[Waypoint]) -> Vec<Waypoint> {
    let Some(above) = above(&scene.camera).filter(|_| keys.len() > 1) else {
        return keys.to_vec();
    };
    let path = scene::Flight::above_ground(&camera_keys(keys), parametrisation_of(&scene.camera), &above);
    // A flight outside the ground cannot be saved; the loader reports this.
    let Ok(path) = path else { return keys.to_vec() };
    let relative = |(key, own): (&Waypoint, &CameraKey)| Waypoint {
        eye: own.eye.into(),
        target: own.target.into(),
        ..key.clone()
    };
    keys.iter().zip(path.keys()).map(relative).collect()
}

fn camera_keys(keys: &[Waypoint]) -> Vec<CameraKey> {
    let key = |k: &Waypoint| CameraKey { time: k.time, eye: k.eye.into(), target: k.target.into() };
    keys.iter().map(key).collect()
}

/// The parametrisation that a flight has after saving it in the file of this camera.
fn parametrisation_of(own: &Camera) -> Parametrisation {
    match &own.path {
        CameraPath::Spline(flight) => flight.parametrisation(),
        _ => Parametrisation::default(),
    }
}

/// The values of all keys, if any key has a value; the others get the camera's value.
fn track<T: Clone>(keys: &[Waypoint], own: Option<T>, given: impl Fn(&Waypoint) -> Option<T>) -> Vec<(f64, T)> {
    let Some(own) = own.filter(|_| keys.iter().any(|key| given(key).is_some())) else {
        return Vec::new();
    };
    keys.iter().map(|key| (key.time, given(key).unwrap_or_else(|| own.clone()))).collect()
}

fn as_view(key: &Waypoint, own: &Camera) -> View {
    View {
        eye: key.eye,
        target: key.target,
        up: own.up.into(),
        fov: key.fov.filter(|_| matches!(own.projection, Projection::Perspective { .. })),
        focus: key.focus,
        f_stop: key.f_stop,
        radius: key.radius,
        ..View::default()
    }
}

/// The path of the scene's own camera, with the keys and the pace of its spline.
pub fn own_path(scene: &Scene) -> Answer {
    let frames = scene.settings.frames.max(1);
    let count = frames.min(MOST_POINTS);
    let index = |i: u32| (u64::from(i) * u64::from(frames - 1) / u64::from((count - 1).max(1))) as u32;
    let pose = |i: u32| camera_at(scene, &Moment::of(scene, scene.time_of(scene.settings.frame_at(index(i)))));
    let mut points: Vec<[f32; 3]> = (0..count).map(|i| pose(i).eye.into()).collect();
    points.dedup();
    let (keys, pace) = match &scene.camera.path {
        CameraPath::Spline(flight) => (
            flight.keys().iter().map(|key| waypoint(&scene.camera, flight, key)).collect(),
            flight.pace.as_ref().and_then(|pace| written(pace.ease)),
        ),
        _ => (Vec::new(), None),
    };
    Answer::Path { of: Track::Scene, points, keys, pace }
}

/// A pace in the notation of scene files.
fn written(ease: Ease) -> Option<String> {
    match ease {
        Ease::Linear => Some("constant".to_owned()),
        Ease::Smooth => Some("smooth".to_owned()),
        Ease::Bezier([x1, y1, x2, y2]) => Some(format!("bezier({x1}, {y1}, {x2}, {y2})")),
        Ease::Step | Ease::CatmullRom => None,
    }
}

/// A key of a camera as a world-space waypoint for viewers.
fn waypoint(camera: &Camera, flight: &scene::Flight, key: &CameraKey) -> Waypoint {
    let [of_eye, of_target] = flight.lift_at(key.time);
    let key = &CameraKey { eye: key.eye + Vec3::Y * of_eye, target: key.target + Vec3::Y * of_target, ..*key };
    let at = |track: &[(f64, f32)]| track.iter().find(|(time, _)| *time == key.time).map(|(_, value)| *value);
    let span = at(&camera.tracks.span);
    let aperture = at(&camera.tracks.aperture);
    let focus = camera.tracks.focus.iter().find(|(time, _)| *time == key.time);
    let is_f_stop = matches!(camera.lens.as_ref().map(|lens| lens.aperture), Some(Aperture::FStop { .. }));
    Waypoint {
        eye: key.eye.into(),
        target: key.target.into(),
        time: key.time,
        roll: at(&flight.rolls).map(f32::to_degrees),
        fov: match camera.projection {
            Projection::Perspective { .. } => span.map(f32::to_degrees),
            _ => span,
        },
        focus: focus.and_then(|(_, focus)| match focus {
            Focus::Distance(distance) => Some(*distance),
            Focus::Point(point) => Some(point.distance(key.eye)),
            Focus::Target | Focus::On(_) => None,
        }),
        f_stop: aperture.filter(|_| is_f_stop),
        radius: aperture.filter(|_| !is_f_stop),
    }
}
