//! The camera that a scene gets when it has none: a turntable around everything, slightly from above.

use super::instances::{instance_world, node_worlds};
use crate::{
    math::Aabb,
    scene::{Camera, CameraPath, Scene},
};
use glam::Vec3;
use rayon::prelude::*;

/// Vertical field of view.
const FOV_DEGREES: f32 = 40.0;
/// How far above the horizon the camera is.
const ELEVATION_DEGREES: f32 = 18.0;
/// Width of the narrowest picture that everything fits into, in heights.
const ASPECT: f32 = 4.0 / 3.0;
/// Empty space around what is framed, as a factor of the distance.
const MARGIN: f32 = 1.06;

/// World bounds of all instances at rest.
pub fn world_bounds(scene: &Scene) -> Aabb {
    let boxes: Vec<Aabb> = scene.meshes.par_iter().map(|m| m.bounds()).collect();
    let worlds = node_worlds(&scene.nodes);
    scene
        .instances
        .par_iter()
        .map(|i| boxes[i.mesh as usize].transformed(&instance_world(i, &worlds)))
        .reduce(|| Aabb::EMPTY, |a, b| a.union(b))
}

/// One turn around `bounds`, which stay inside of any picture at least as wide as 4:3.
pub fn turntable(bounds: &Aabb) -> Camera {
    turntable_of_radius(bounds, bounds.extent().with_y(0.0).length() * 0.5)
}

/// The same, around something that is nowhere farther than `radius` from the vertical axis through its centre: to the
/// camera it sweeps a cylinder.
pub fn turntable_of_radius(bounds: &Aabb, radius: f32) -> Camera {
    let fov_y = FOV_DEGREES.to_radians();
    let (target, distance) = if bounds.diagonal() < 1e-12 {
        let target = if bounds.is_empty() {
            Vec3::ZERO
        } else {
            bounds.center()
        };
        (target, 4.0)
    } else {
        let half_height = bounds.extent().y * 0.5;
        (
            bounds.center(),
            MARGIN * cylinder_distance(radius, half_height, fov_y),
        )
    };
    let distance = distance.clamp(f32::MIN_POSITIVE, f32::MAX / 16.0);
    let (height, around) = ELEVATION_DEGREES.to_radians().sin_cos();
    let path = CameraPath::Orbit {
        target,
        radius: distance * around,
        height: distance * height,
        start: 30f32.to_radians(),
        turns: 1.0,
    };
    Camera {
        path,
        up: Vec3::Y,
        fov_y,
    }
}

/// From how far away a standing cylinder about the target fits into the picture.
fn cylinder_distance(radius: f32, half_height: f32, fov_y: f32) -> f32 {
    let (sin, cos) = ELEVATION_DEGREES.to_radians().sin_cos();
    let slope = (fov_y * 0.5).tan();
    let rim = (0..64).flat_map(|i| {
        let (z, x) = (i as f32 / 64.0 * std::f32::consts::TAU).sin_cos();
        [-half_height, half_height].map(|y| Vec3::new(x * radius, y, z * radius))
    });
    let needed = rim.map(|p| {
        let towards_camera = p.x * cos + p.y * sin;
        let up = (p.y * cos - p.x * sin).abs();
        towards_camera + (up / slope).max(p.z.abs() / (slope * ASPECT))
    });
    needed.fold(0.0, f32::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_corner_stays_in_the_picture_and_the_picture_is_filled() {
        let bounds = Aabb {
            min: Vec3::new(-1.0, 2.0, 0.0),
            max: Vec3::new(3.0, 4.0, 1.0),
        };
        let camera = turntable(&bounds);
        let CameraPath::Orbit {
            target,
            radius,
            height,
            ..
        } = camera.path
        else {
            panic!("{camera:?}")
        };
        assert_eq!(target, bounds.center());
        let mut greatest = 0f32;
        for step in 0..90 {
            let (z, x) = (step as f32 * 0.0698).sin_cos();
            let eye = target + Vec3::new(x * radius, height, z * radius);
            let forward = (target - eye).normalize();
            let right = forward.cross(Vec3::Y).normalize();
            let up = right.cross(forward);
            for corner in bounds.corners() {
                let p = corner - eye;
                let slope = forward.dot(p) * (camera.fov_y * 0.5).tan();
                greatest = greatest.max((up.dot(p) / slope).abs());
                greatest = greatest.max((right.dot(p) / slope / ASPECT).abs());
            }
        }
        assert!(greatest < 1.0 && greatest > 0.85, "{greatest}");
    }

    #[test]
    fn an_empty_or_flat_scene_has_a_camera_too() {
        for bounds in [
            Aabb::EMPTY,
            Aabb {
                min: Vec3::ONE,
                max: Vec3::ONE,
            },
        ] {
            let CameraPath::Orbit { radius, .. } = turntable(&bounds).path else {
                panic!()
            };
            assert!(radius > 0.0 && radius.is_finite());
        }
    }
}
