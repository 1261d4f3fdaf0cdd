//! Cameras of viewers: conversion from the messages of viewers to poses, and back.

use crate::View;
use glam::Vec3;
use throng_base::math::LARGEST_COORDINATE;
use throng_scene::anim::{CameraPose, Moment, lens_at};
use throng_scene::{Aperture, Camera, CameraPath, Focus, Iris, Lens, Projection, Scene, sensor_height};

/// Checks that a view can be rendered.
///
/// # Errors
/// A sentence about the first invalid value: coordinates, `up`, field of view, height, focus, f-number or radius.
pub fn check(view: &View) -> Result<(), String> {
    let [eye, target, up] = [view.eye, view.target, view.up].map(Vec3::from);
    let reach = eye.abs().max(target.abs()).max_element();
    if !(reach <= LARGEST_COORDINATE && up.is_finite()) {
        return Err(format!("coordinates must stay within {LARGEST_COORDINATE:e}"));
    }
    let forward = (target.as_dvec3() - eye.as_dvec3()).normalize_or_zero();
    if forward == glam::DVec3::ZERO {
        return Err("the camera looks at itself: `eye` and `target` are the same".to_owned());
    }
    if forward.cross(up.as_dvec3().normalize_or_zero()).length() < 1e-5 {
        return Err("the camera looks along `up`: give another one".to_owned());
    }
    let within = |name: &str, value: Option<f32>, low: f32, high: f32| match value {
        Some(value) if !(value > low && value < high) => Err(format!("`{name}` must be above {low} and below {high}")),
        _ => Ok(()),
    };
    within("fov", view.fov, 0.0, 180.0)?;
    within("height", view.height, 0.0, LARGEST_COORDINATE)?;
    within("focus", view.focus, 0.0, LARGEST_COORDINATE)?;
    within("f_stop", view.f_stop, 0.0, 1e6)?;
    match view.radius {
        Some(radius) if !(0.0..LARGEST_COORDINATE).contains(&radius) => Err("`radius` must not be negative".to_owned()),
        _ => Ok(()),
    }
}

/// The pose for a view that [`check`] accepts, at `time` in seconds. It replaces the scene's camera, as `--eye`, `--target` and related
/// flags do. `aspect` is the picture's width divided by its height.
pub fn pose(scene: &Scene, time: f64, view: &View, aspect: f32) -> CameraPose {
    let (own, _) = scene.camera_of(time);
    let camera = camera(own, view, aspect);
    let mut pose = CameraPose {
        eye: view.eye.into(),
        target: view.target.into(),
        up: camera.up,
        skewed: None,
        projection: camera.projection,
        shift: camera.shift,
        intrinsics: camera.intrinsics,
        lens: None,
    };
    if camera.lens.is_some() {
        pose.lens = lens_at(scene, &camera, &Moment::of(scene, time), &pose);
    }
    pose
}

/// A camera at the position of the view. Values that the view omits come from `own`.
fn camera(own: &Camera, view: &View, aspect: f32) -> Camera {
    let projection = match (own.projection, view.fov, view.height) {
        (_, _, Some(height)) => Projection::Orthographic { height },
        (_, Some(degrees), None) => Projection::Perspective { fov_y: degrees.to_radians() },
        (own, None, None) => own,
    };
    let aperture = match (view.radius, view.f_stop) {
        (Some(radius), _) => Some(Aperture::Radius(radius)),
        (None, Some(number)) => Some(Aperture::FStop { number, sensor: sensor(own, aspect) }),
        (None, None) => own.lens.as_ref().map(|lens| lens.aperture),
    };
    let own_lens = || {
        own.lens.clone().unwrap_or(Lens {
            aperture: Aperture::Radius(0.0),
            focus: Focus::Target,
            iris: Iris::default(),
        })
    };
    let lens = aperture.map(|aperture| {
        let lens = own_lens();
        Lens { aperture, focus: view.focus.map_or(lens.focus, Focus::Distance), iris: lens.iris }
    });
    let up = Vec3::from(view.up).as_dvec3().normalize_or_zero().as_vec3();
    let path = CameraPath::Still { eye: view.eye.into(), target: view.target.into() };
    Camera { path, up, projection, shift: own.shift, lens, ..Camera::default() }
}

/// Aspect ratio of a scene's pictures: width divided by height.
pub fn aspect_of(scene: &Scene) -> f32 {
    scene.settings.width as f32 / scene.settings.height as f32
}

/// Sensor height to which f-numbers refer.
fn sensor(own: &Camera, aspect: f32) -> f32 {
    match own.lens.as_ref().map(|lens| lens.aperture) {
        Some(Aperture::FStop { sensor, .. }) => sensor,
        _ => sensor_height(aspect),
    }
}

/// The view that describes a pose to viewers.
pub fn view(pose: &CameraPose) -> View {
    let (fov, height) = match pose.projection {
        Projection::Perspective { fov_y } => (Some(fov_y.to_degrees()), None),
        Projection::Orthographic { height } => (None, Some(height)),
        Projection::Equirectangular => (None, None),
    };
    View {
        eye: pose.eye.into(),
        target: pose.target.into(),
        up: pose.up.into(),
        fov,
        height,
        focus: pose.lens.map(|lens| lens.focus),
        f_stop: None,
        radius: pose.lens.map(|lens| lens.radius),
        key: 0,
    }
}

/// Name of the kind of a camera's aperture: `none`, `camera` or `thin`.
pub fn lens_kind(camera: &Camera) -> &'static str {
    match camera.lens.as_ref().map(|lens| lens.aperture) {
        None => "none",
        Some(Aperture::FStop { .. }) => "camera",
        Some(Aperture::Radius(_)) => "thin",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(eye: [f32; 3]) -> View {
        View { eye, target: [0.0; 3], up: [0.0, 2.0, 0.0], ..View::default() }
    }

    #[test]
    fn a_view_that_shows_nothing_is_refused() {
        assert_eq!(check(&from([0.0, 1.0, 3.0])), Ok(()));
        for wrong in [
            from([0.0; 3]),
            from([0.0, 5.0, 0.0]),
            from([f32::INFINITY, 0.0, 0.0]),
            View { fov: Some(180.0), ..from([1.0; 3]) },
            View { radius: Some(-1.0), ..from([1.0; 3]) },
            View { focus: Some(0.0), ..from([1.0; 3]) },
        ] {
            assert!(check(&wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn what_a_view_leaves_out_is_the_scenes() {
        let mut scene = Scene::default();
        scene.camera.projection = Projection::Perspective { fov_y: 0.5 };
        let pose = |view: &View| pose(&scene, 0.0, view, 16.0 / 9.0);
        let still = pose(&from([0.0, 0.0, 4.0]));
        assert_eq!((still.projection, still.lens, still.up), (scene.camera.projection, None, Vec3::Y));
        let lens = View { f_stop: Some(2.0), fov: Some(30.0), ..from([0.0, 0.0, 4.0]) };
        let focused = pose(&lens).lens.unwrap();
        assert_eq!(focused.focus, 4.0);
        assert!((focused.radius - 0.25 * 0.02025 / (15f32.to_radians().tan() * 2.0)).abs() < 1e-6);
        assert_eq!(pose(&View { radius: Some(0.0), ..lens }).lens, None);
        let told = view(&still);
        assert_eq!(pose(&View { fov: None, ..told }), still);
    }
}
