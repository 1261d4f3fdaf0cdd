//! The camera that a scene gets when it has none: around everything or in front of it, slightly from above.

use super::ron::instances::{instance_world, node_worlds};
use crate::{
    anim::{self, Deformed, Moment},
    math::Aabb,
    scene::{Camera, CameraPath, Instance, NONE, Projection, Scene, Shape},
};
use glam::{Affine3, Vec3};
use rayon::prelude::*;

/// Vertical field of view.
const FOV_DEGREES: f32 = 40.0;
/// Elevation of the camera above the horizon.
const ELEVATION_DEGREES: f32 = 18.0;
/// Where the camera of a turntable starts: 0 is +Z of the target, 90 is +X.
const START_DEGREES: f32 = 30.0;
/// Most vertices of moving instances that are measured, over all poses together.
const MOST_POINTS: usize = 1 << 26;
/// Most vertices of all instances in all poses; where there are more, the boxes of the meshes are measured instead.
const MOST_VERTICES: usize = 1 << 29;
/// Aspect ratio of the narrowest picture that everything fits into.
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

/// World bounds of all vertices over all frames; instances that move are sampled in up to 64 poses.
pub fn swept_bounds(scene: &Scene) -> Aabb {
    let measure = |positions: &[[f32; 3]], world: &Affine3| {
        let points = positions.iter().map(|p| world.transform_point3(Vec3::from(*p)));
        Aabb::of_points(points.filter(|p| p.is_finite()))
    };
    over_poses(scene, measure, |a: Aabb, b| a.union(b), Aabb::EMPTY)
}

/// Greatest distance of a vertex from the vertical axis through `center`, over the same poses.
pub fn swept_radius(scene: &Scene, center: Vec3) -> f32 {
    let measure = |positions: &[[f32; 3]], world: &Affine3| {
        let point = |p: &[f32; 3]| world.transform_point3(Vec3::from(*p)) - center;
        let distances = positions.iter().map(|p| point(p).with_y(0.0).length());
        distances.filter(|d| d.is_finite()).fold(0.0, f32::max)
    };
    over_poses(scene, measure, f32::max, 0.0)
}

/// Joins `measure` of the vertices of all instances, in parallel; instances that move are measured once per pose.
fn over_poses<T: Copy + Send + Sync>(
    scene: &Scene,
    measure: impl Fn(&[[f32; 3]], &Affine3) -> T + Sync,
    join: impl Fn(T, T) -> T + Sync,
    nothing: T,
) -> T {
    let mut deforming = vec![None; scene.meshes.len()];
    for (index, mesh) in scene.deforming.iter().enumerate() {
        deforming[mesh.mesh as usize] = Some(index);
    }
    let moves = |i: &Instance| i.node != NONE || i.motion != NONE || deforming[i.mesh as usize].is_some();
    let (mut moment, mut worlds) = (Moment::default(), Vec::new());
    let mut shapes = vec![Deformed::default(); scene.deforming.len()];
    let mut all = nothing;
    let times = pose_times(scene, moves);
    let boxed = vertices(scene, moves, times.len()) > MOST_VERTICES;
    for (round, time) in times.into_iter().enumerate() {
        moment.move_to(&scene.actors, time);
        anim::world_transforms(scene, &moment, &mut worlds);
        for (deforming, out) in scene.deforming.iter().zip(&mut shapes) {
            anim::shape_at(scene, deforming, &moment, out);
        }
        let shape = |mesh: u32| {
            let shape = deforming[mesh as usize].map(|index| &shapes[index]);
            positions(scene, mesh, shape)
        };
        let boxes: Vec<[[f32; 3]; 8]> = match boxed {
            true => {
                let meshes = (0..scene.meshes.len() as u32).into_par_iter();
                meshes.map(|mesh| corners(shape(mesh))).collect()
            }
            false => Vec::new(),
        };
        let pairs = scene.instances.par_iter().zip(&worlds);
        let posed = pairs.filter(|(i, _)| round == 0 || moves(i)).map(|(i, world)| match boxes.get(i.mesh as usize) {
            Some(corners) => measure(corners, world),
            None => measure(shape(i.mesh), world),
        });
        all = join(all, posed.reduce(|| nothing, &join));
    }
    all
}

/// Number of vertices to measure when instances that move have `poses` poses.
fn vertices(scene: &Scene, moves: impl Fn(&Instance) -> bool, poses: usize) -> usize {
    let of = |i: &Instance| {
        let poses = if moves(i) { poses } else { 1 };
        positions(scene, i.mesh, None).len().saturating_mul(poses)
    };
    let all = scene.instances.iter().map(of);
    all.fold(0, usize::saturating_add)
}

/// The corners of the box around `positions`; infinite where there are none.
fn corners(positions: &[[f32; 3]]) -> [[f32; 3]; 8] {
    let points = positions.iter().map(|p| Vec3::from(*p));
    let bounds = Aabb::of_points(points.filter(|p| p.is_finite()));
    bounds.corners().map(|corner| corner.to_array())
}

/// The times of up to 64 frames, spread over the animation; fewer for large scenes.
fn pose_times(scene: &Scene, moves: impl Fn(&Instance) -> bool) -> Vec<f32> {
    let vertices = |i: &Instance| positions(scene, i.mesh, None).len();
    let moving = scene.instances.iter().filter(|i| moves(i)).map(vertices);
    let budget = match moving.fold(0, usize::saturating_add) {
        0 => 1,
        moving => (MOST_POINTS / moving).clamp(16, 64),
    };
    let frames = scene.settings.frames.max(1) as usize;
    let poses = budget.min(frames);
    let frame = |pose: usize| 1 + (pose * frames / poses) as u32;
    (0..poses).map(|pose| scene.time_of(frame(pose))).collect()
}

/// Vertices of a mesh, or the corners of the box around a sphere.
fn positions<'a>(scene: &'a Scene, mesh: u32, shape: Option<&'a Deformed>) -> &'a [[f32; 3]] {
    match (shape, &scene.meshes[mesh as usize].shape) {
        (Some(deformed), _) => &deformed.positions,
        (None, Shape::Triangles(triangles)) => &triangles.positions,
        (None, Shape::Sphere) => &CUBE,
    }
}

const CUBE: [[f32; 3]; 8] = [
    [-1.0, -1.0, -1.0],
    [1.0, -1.0, -1.0],
    [-1.0, 1.0, -1.0],
    [1.0, 1.0, -1.0],
    [-1.0, -1.0, 1.0],
    [1.0, -1.0, 1.0],
    [-1.0, 1.0, 1.0],
    [1.0, 1.0, 1.0],
];

/// One turn around `bounds`, which stay inside of any picture at least as wide as 4:3.
pub fn turntable(bounds: &Aabb) -> Camera {
    turntable_of_radius(bounds, bounds.extent().with_y(0.0).length() * 0.5, None)
}

/// The same, around something that is nowhere farther than `radius` from the vertical axis through its centre, as if it filled a
/// cylinder. `fov_y` is the vertical field of view in radians; None for the usual one.
pub fn turntable_of_radius(bounds: &Aabb, radius: f32, fov_y: Option<f32>) -> Camera {
    let half_height = bounds.extent().y * 0.5;
    let rim = (0..64).flat_map(|i| {
        let (z, x) = (i as f32 / 64.0 * std::f32::consts::TAU).sin_cos();
        [-half_height, half_height].map(|y| Vec3::new(x * radius, y, z * radius))
    });
    let needed = needed_distance(fov_y.unwrap_or(FOV_DEGREES.to_radians()));
    let view = View::of(bounds, rim.map(needed).fold(0.0, f32::max), fov_y);
    view.camera(CameraPath::Orbit {
        target: view.target,
        radius: view.distance * ELEVATION_DEGREES.to_radians().cos(),
        height: view.distance * ELEVATION_DEGREES.to_radians().sin(),
        start: START_DEGREES.to_radians(),
        turns: 1.0,
    })
}

/// A still camera in the direction where a turntable starts, as near as the vertices allow.
pub fn still(scene: &Scene, bounds: &Aabb, fov_y: Option<f32>) -> Camera {
    let (sin, cos) = START_DEGREES.to_radians().sin_cos();
    let center = bounds.center();
    let needed = needed_distance(fov_y.unwrap_or(FOV_DEGREES.to_radians()));
    let measure = |positions: &[[f32; 3]], world: &Affine3| {
        let distances = positions.iter().map(|p| {
            let p = world.transform_point3(Vec3::from(*p)) - center;
            needed(Vec3::new(sin * p.x + cos * p.z, p.y, cos * p.x - sin * p.z))
        });
        distances.filter(|d| d.is_finite()).fold(0.0, f32::max)
    };
    let view = View::of(bounds, over_poses(scene, measure, f32::max, 0.0), fov_y);
    let (up, around) = ELEVATION_DEGREES.to_radians().sin_cos();
    let towards = Vec3::new(sin * around, up, cos * around);
    view.camera(CameraPath::Still { eye: view.target + view.distance * towards, target: view.target })
}

/// A camera position slightly above the horizon.
struct View {
    target: Vec3,
    distance: f32,
    fov_y: f32,
}

impl View {
    /// `needed`: the least distance from the middle of `bounds`.
    fn of(bounds: &Aabb, needed: f32, fov_y: Option<f32>) -> Self {
        let fov_y = fov_y.unwrap_or(FOV_DEGREES.to_radians());
        let (target, distance) = if bounds.diagonal() < 1e-12 {
            let target = match bounds.is_empty() {
                true => Vec3::ZERO,
                false => bounds.center(),
            };
            (target, 4.0)
        } else {
            (bounds.center(), MARGIN * needed)
        };
        Self { target, distance: distance.clamp(f32::MIN_POSITIVE, f32::MAX / 16.0), fov_y }
    }

    fn camera(&self, path: CameraPath) -> Camera {
        Camera { path, up: Vec3::Y, projection: Projection::Perspective { fov_y: self.fov_y }, ..Camera::default() }
    }
}

/// Returns how far from its target the camera has to be for a point to be in the picture. The point is relative to the target, with
/// x horizontally towards the camera, y up and z across.
fn needed_distance(fov_y: f32) -> impl Fn(Vec3) -> f32 {
    let (sin, cos) = ELEVATION_DEGREES.to_radians().sin_cos();
    let slope = (fov_y * 0.5).tan();
    move |p| {
        let towards_camera = p.x * cos + p.y * sin;
        let up = (p.y * cos - p.x * sin).abs();
        towards_camera + (up / slope).max(p.z.abs() / (slope * ASPECT))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Mesh, TriangleMesh};

    #[test]
    fn every_corner_stays_in_the_picture_and_the_picture_is_filled() {
        let bounds = Aabb { min: Vec3::new(-1.0, 2.0, 0.0), max: Vec3::new(3.0, 4.0, 1.0) };
        let camera = turntable(&bounds);
        let CameraPath::Orbit { target, radius, height, .. } = camera.path else { panic!("{camera:?}") };
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
                let slope = forward.dot(p) * (FOV_DEGREES.to_radians() * 0.5).tan();
                greatest = greatest.max((up.dot(p) / slope).abs());
                greatest = greatest.max((right.dot(p) / slope / ASPECT).abs());
            }
        }
        assert!(greatest < 1.0 && greatest > 0.85, "{greatest}");
    }

    #[test]
    fn boxes_stand_for_what_has_too_many_vertices() {
        let positions: Vec<[f32; 3]> =
            (0..100_000).map(|i| [1.0, 2.0, 4.0].map(|side| side * (i % 2) as f32)).collect();
        let shape = Shape::Triangles(TriangleMesh { positions, ..TriangleMesh::default() });
        let instance = |i: u32| Instance {
            local: Affine3::from_translation(Vec3::new(i as f32, 0.0, 0.0)),
            node: NONE,
            mesh: 0,
            slot_base: 0,
            motion: NONE,
        };
        let scene = Scene {
            meshes: vec![Mesh { name: String::new(), shape, slot_count: 1 }],
            instances: (0..6000).map(instance).collect(),
            ..Scene::default()
        };
        let bounds = swept_bounds(&scene);
        assert_eq!(bounds.min, Vec3::ZERO);
        assert_eq!(bounds.max, Vec3::new(6000.0, 2.0, 4.0));
    }

    #[test]
    fn an_empty_or_flat_scene_has_a_camera_too() {
        for bounds in [Aabb::EMPTY, Aabb { min: Vec3::ONE, max: Vec3::ONE }] {
            let CameraPath::Orbit { radius, .. } = turntable(&bounds).path else { panic!() };
            assert!(radius > 0.0 && radius.is_finite());
        }
    }
}
