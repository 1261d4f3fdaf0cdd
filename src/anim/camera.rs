//! The camera at a time.

use super::catmull_rom;
use crate::scene::{CameraPath, Scene};
use glam::{Quat, Vec3};
use std::f32::consts::TAU;

/// A pinhole camera in world space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraPose {
    pub eye: Vec3,
    /// The point in the middle of the picture.
    pub target: Vec3,
    /// Unit vector that points up in the picture; need not be orthogonal to the view.
    pub up: Vec3,
    /// Vertical field of view in radians.
    pub fov_y: f32,
}

impl CameraPose {
    /// Unit vectors forward, right and up in the picture. Where the camera looks along `up`, some right is chosen.
    pub fn basis(&self) -> (Vec3, Vec3, Vec3) {
        let forward = (self.target - self.eye).normalize_or(Vec3::NEG_Z);
        let right = forward
            .cross(self.up)
            .try_normalize()
            .unwrap_or_else(|| forward.any_orthonormal_vector());
        (forward, right, right.cross(forward))
    }
}

/// Where `scene`'s camera is `time` seconds after the first frame.
///
/// An orbit returns to its start one frame after the last, so that a looped film turns evenly.
pub fn camera_at(scene: &Scene, time: f32) -> CameraPose {
    let camera = &scene.camera;
    let (eye, target) = match &camera.path {
        CameraPath::Still { eye, target } => (*eye, *target),
        CameraPath::Orbit {
            target,
            radius,
            height,
            start,
            turns,
        } => {
            let loop_seconds = scene.settings.frames as f32 / scene.settings.fps;
            let angle = start + TAU * (turns * time / loop_seconds);
            (
                target + on_circle(camera.up, *radius, *height, angle),
                *target,
            )
        }
        CameraPath::Spline { keys } => {
            let at = |f: fn(&crate::scene::CameraKey) -> Vec3| {
                let points: Vec<_> = keys.iter().map(|k| (k.time, f(k))).collect();
                catmull_rom(&points, time)
            };
            (at(|k| k.eye), at(|k| k.target))
        }
    };
    CameraPose {
        eye,
        target,
        up: camera.up,
        fov_y: camera.fov_y,
    }
}

/// Around the axis `up`; for Y up, angle 0 is +Z and a quarter turn +X.
fn on_circle(up: Vec3, radius: f32, height: f32, angle: f32) -> Vec3 {
    let (s, c) = angle.sin_cos();
    Quat::from_rotation_arc(Vec3::Y, up) * Vec3::new(s * radius, height, c * radius)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Camera;

    fn orbiting(up: Vec3) -> Scene {
        let path = CameraPath::Orbit {
            target: Vec3::ONE,
            radius: 2.0,
            height: 0.5,
            start: 0.0,
            turns: 1.0,
        };
        let mut scene = Scene {
            camera: Camera {
                path,
                up,
                ..Camera::default()
            },
            ..Scene::default()
        };
        scene.settings.frames = 4;
        scene.settings.fps = 2.0;
        scene
    }

    #[test]
    fn an_orbit_goes_from_z_to_x_and_closes_after_the_last_frame() {
        let scene = orbiting(Vec3::Y);
        let eyes = [0.0, 0.5, 2.0].map(|t| camera_at(&scene, t).eye);
        assert!(eyes[0].distance(Vec3::new(1.0, 1.5, 3.0)) < 1e-5);
        assert!(eyes[1].distance(Vec3::new(3.0, 1.5, 1.0)) < 1e-5);
        assert!(eyes[2].distance(eyes[0]) < 1e-5);
    }

    #[test]
    fn an_orbit_stays_around_its_axis() {
        let scene = orbiting(Vec3::Z);
        for t in [0.0, 0.3, 1.1] {
            assert!((camera_at(&scene, t).eye.z - 1.5).abs() < 1e-5);
        }
    }
}
