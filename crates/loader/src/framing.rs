//! The camera of a scene that has none: around everything or in front of it, slightly from above.
//!
//! The distance of a turntable is exact. The model's distance from the axis is measured in bands of its height, over all poses. Four maxima
//! over the points then give the closest eye for which all rims are inside the picture's margins, without a search.

use glam::{Affine3, Vec3};
use rayon::prelude::*;
use throng_base::math::Aabb;
use throng_scene::anim::{self, Deformed, Moment};
use throng_scene::{Camera, CameraPath, Instance, Mesh, NONE, Projection, Scene, Shape};

/// Vertical field of view.
const FOV_DEGREES: f32 = 40.0;
/// Elevation of the camera above the horizon.
const ELEVATION_DEGREES: f32 = 18.0;
/// Azimuth at which the camera of a turntable starts, in degrees: 0 is +Z of the target, 90 is +X.
const START_DEGREES: f32 = 30.0;
/// Maximum number of vertices of moving instances that are measured, over all poses.
const MOST_POINTS: usize = 1 << 26;
/// Maximum number of vertices of all instances in all poses. Above it, the bounding boxes of the meshes are measured instead.
const MOST_VERTICES: usize = 1 << 29;
/// Maximum number of points of a mesh of curves that are measured.
const MOST_OF_CURVES: usize = 1 << 16;
/// Number of bands of a model's height in which its distance from the turntable's axis is measured.
const BANDS: usize = 64;

/// The part of the picture that a model fills.
#[derive(Clone, Copy, Debug)]
pub struct Framing {
    /// Vertical field of view in radians.
    pub fov_y: f32,
    /// Aspect ratio of the picture: width divided by height.
    pub aspect: f32,
    /// Empty space on each side, relative to the picture's smaller side.
    pub margin: f32,
    /// Factor by which the model is enlarged beyond that.
    pub zoom: f32,
}

impl Default for Framing {
    fn default() -> Self {
        Self { fov_y: FOV_DEGREES.to_radians(), aspect: 16.0 / 9.0, margin: 0.14, zoom: 1.0 }
    }
}

/// World-space bounds of all vertices over all frames. Moving instances are sampled in up to 64 poses. Assemblies are measured by the
/// corners of their bounds at rest.
pub fn swept_bounds(scene: &Scene) -> Aabb {
    bounds_without(scene, None)
}

/// As [`swept_bounds`], without the ground plane of a standalone model.
pub fn subject_bounds(scene: &Scene) -> Aabb {
    bounds_without(scene, scene.stage)
}

/// The largest distance from `center` of a vertex of what [`subject_bounds`] measures; below 0 if there is none.
pub fn subject_reach(scene: &Scene, center: Vec3) -> f32 {
    let measure = |positions: &[[f32; 3]], world: &Affine3| {
        let points = positions.iter().map(|p| world.transform_point3(Vec3::from(*p)));
        points.filter(|p| p.is_finite()).map(|p| p.distance(center)).fold(f32::NEG_INFINITY, f32::max)
    };
    over_poses(scene, scene.stage, measure, f32::max, f32::NEG_INFINITY)
}

fn bounds_without(scene: &Scene, left_out: Option<u32>) -> Aabb {
    let measure = |positions: &[[f32; 3]], world: &Affine3| {
        let points = positions.iter().map(|p| world.transform_point3(Vec3::from(*p)));
        Aabb::of_points(points.filter(|p| p.is_finite()))
    };
    over_poses(scene, left_out, measure, |a: Aabb, b| a.union(b), Aabb::EMPTY)
}

/// Combines `measure` of the vertices of all instances but one, in parallel. Moving instances are measured once per pose.
fn over_poses<T: Copy + Send + Sync>(
    scene: &Scene,
    left_out: Option<u32>,
    measure: impl Fn(&[[f32; 3]], &Affine3) -> T + Sync,
    join: impl Fn(T, T) -> T + Sync,
    nothing: T,
) -> T {
    let mut deforming = vec![None; scene.meshes.len()];
    for (index, mesh) in scene.deforming.iter().enumerate() {
        deforming[mesh.mesh as usize] = Some(index);
    }
    let deforms = |mesh: u32| deforming.get(mesh as usize).copied().flatten();
    let placed = scene.placement_tables.affected(scene.instances.len());
    let moves =
        |index: usize, i: &Instance| placed[index] || i.node != NONE || i.motion != NONE || deforms(i.mesh).is_some();
    let assemblies: Vec<[[f32; 3]; 8]> = if scene.assemblies.is_empty() {
        Vec::new()
    } else {
        let boxes = scene.boxes_at_rest();
        boxes[scene.meshes.len()..].iter().map(|bounds| bounds.corners().map(|corner| corner.to_array())).collect()
    };
    let curves: Vec<Vec<[f32; 3]>> = scene.meshes.iter().map(points_of_curves).collect();
    let (mut moment, mut worlds) = (Moment::default(), Vec::new());
    let mut shapes = vec![Deformed::default(); scene.deforming.len()];
    let mut all = nothing;
    let times = pose_times(scene, moves);
    let boxed = vertices(scene, moves, times.len()) > MOST_VERTICES;
    for (round, time) in times.into_iter().enumerate() {
        moment.move_to(scene, time);
        anim::world_transforms(scene, &moment, &mut worlds);
        for (deforming, out) in scene.deforming.iter().zip(&mut shapes) {
            anim::shape_at(scene, deforming, &moment, out);
        }
        let shape = |mesh: u32| {
            let assembly = (mesh as usize).checked_sub(scene.meshes.len()).and_then(|index| assemblies.get(index));
            let shape = deforms(mesh).map(|index| &shapes[index]);
            match (assembly, shape, curves.get(mesh as usize)) {
                (Some(corners), ..) => &corners[..],
                (None, None, Some(points)) if !points.is_empty() => points,
                _ => positions(scene, mesh, shape),
            }
        };
        let boxes: Vec<[[f32; 3]; 8]> = if boxed {
            let meshes = (0..scene.meshes.len() as u32).into_par_iter();
            meshes.map(|mesh| corners(shape(mesh))).collect()
        } else {
            Vec::new()
        };
        let pairs = scene.instances[scene.world()].par_iter().zip(&worlds).enumerate();
        let counts = |(index, (i, _)): &(usize, (&Instance, &Affine3))| {
            left_out != Some(*index as u32) && (round == 0 || moves(*index, i))
        };
        let posed = pairs.filter(counts).map(|(_, (i, world))| match boxes.get(i.mesh as usize) {
            Some(corners) => measure(corners, world),
            None => measure(shape(i.mesh), world),
        });
        all = join(all, posed.reduce(|| nothing, &join));
    }
    all
}

/// Number of vertices to measure if moving instances have `poses` poses.
fn vertices(scene: &Scene, moves: impl Fn(usize, &Instance) -> bool, poses: usize) -> usize {
    let of = |(index, i): (usize, &Instance)| {
        let poses = if moves(index, i) { poses } else { 1 };
        positions(scene, i.mesh, None).len().saturating_mul(poses)
    };
    let all = scene.instances[scene.world()].iter().enumerate().map(of);
    all.fold(0, usize::saturating_add)
}

/// The corners of the box around `positions`; infinite if there are none.
fn corners(positions: &[[f32; 3]]) -> [[f32; 3]; 8] {
    let points = positions.iter().map(|p| Vec3::from(*p));
    let bounds = Aabb::of_points(points.filter(|p| p.is_finite()));
    bounds.corners().map(|corner| corner.to_array())
}

/// The times of up to 64 frames, spread over the animation; fewer for large scenes.
fn pose_times(scene: &Scene, moves: impl Fn(usize, &Instance) -> bool) -> Vec<f64> {
    let vertices = |(_, i): (usize, &Instance)| positions(scene, i.mesh, None).len();
    let moving = scene.instances[scene.world()].iter().enumerate().filter(|(index, i)| moves(*index, i)).map(vertices);
    let budget = match moving.fold(0, usize::saturating_add) {
        0 => 1,
        moving => (MOST_POINTS / moving).clamp(16, 64),
    };
    let frames = scene.settings.frames.max(1) as usize;
    let poses = budget.min(frames);
    let frame = |pose: usize| scene.settings.frame_at((pose * frames / poses) as u32);
    (0..poses).map(|pose| scene.time_of(frame(pose))).collect()
}

/// Vertices of a mesh, or the corners of a box around the unit sphere; nothing for curves.
fn positions<'a>(scene: &'a Scene, mesh: u32, shape: Option<&'a Deformed>) -> &'a [[f32; 3]] {
    match (shape, scene.meshes.get(mesh as usize).map(|mesh| &mesh.shape)) {
        (Some(deformed), _) => &deformed.positions,
        (None, Some(Shape::Triangles(triangles))) => &triangles.positions,
        (None, Some(Shape::Curves(_))) => &[],
        (None, Some(Shape::Sphere) | None) => &CUBE,
    }
}

/// Points that represent a mesh of curves; none for other shapes.
fn points_of_curves(mesh: &Mesh) -> Vec<[f32; 3]> {
    let Shape::Curves(curves) = &mesh.shape else { return Vec::new() };
    let step = curves.points.len().div_ceil(MOST_OF_CURVES).max(1);
    curves.points.iter().step_by(step).map(|point| point.position).collect()
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

/// A camera that makes one turn around `bounds`.
pub fn turntable(bounds: &Aabb) -> Camera {
    let mut reach = [f32::NEG_INFINITY; BANDS];
    let radius = bounds.extent().with_y(0.0).length() * 0.5;
    (reach[0], reach[BANDS - 1]) = (radius, radius);
    orbit(bounds, &reach, &Framing::default(), 1.0)
}

/// A camera that makes `turns` turns around everything that the scene shows over its frames. `bounds` are the bounds of that.
pub fn swept_turntable(scene: &Scene, bounds: &Aabb, framing: &Framing, turns: f32) -> Camera {
    let (center, height) = (bounds.center(), bounds.extent().y);
    let measure = |positions: &[[f32; 3]], world: &Affine3| {
        let mut reach = [f32::NEG_INFINITY; BANDS];
        for p in positions.iter().map(|p| world.transform_point3(Vec3::from(*p))).filter(|p| p.is_finite()) {
            let band = (p.y - bounds.min.y) / height.max(f32::MIN_POSITIVE) * BANDS as f32;
            let widest = &mut reach[(band as usize).min(BANDS - 1)];
            *widest = widest.max((p - center).with_y(0.0).length());
        }
        reach
    };
    let join = |a: [f32; BANDS], b: [f32; BANDS]| std::array::from_fn(|i| a[i].max(b[i]));
    let reach = over_poses(scene, None, measure, join, [f32::NEG_INFINITY; BANDS]);
    orbit(bounds, &reach, framing, turns)
}

/// A turntable around a solid of revolution. `reach` is its radius in each band of its height.
fn orbit(bounds: &Aabb, reach: &[f32; BANDS], framing: &Framing, turns: f32) -> Camera {
    let window = Window::new(0.0, framing);
    let half_height = bounds.extent().y * 0.5;
    let rims = (0..).zip(reach).filter(|(_, radius)| **radius >= 0.0).flat_map(|(band, &radius)| {
        [band, band + 1].map(|edge| (half_height * (2.0 * edge as f32 / BANDS as f32 - 1.0), radius))
    });
    let points = rims.flat_map(|(y, radius)| {
        (0..64).map(move |i| {
            let (x, z) = (i as f32 / 64.0 * std::f32::consts::TAU).sin_cos();
            Vec3::new(x * radius, y, z * radius)
        })
    });
    let fit = points.map(|p| window.support(p)).fold(Support::NONE, Support::join);
    let (sin, cos) = ELEVATION_DEGREES.to_radians().sin_cos();
    let (_, up, distance) = window.eye(bounds, &fit, framing);
    // The offset of the eye above the picture's centre is applied along the axis.
    let above = up / cos;
    let distance = (distance - above * sin).max(f32::MIN_POSITIVE);
    let path = CameraPath::Orbit {
        target: bounds_center(bounds) + above * Vec3::Y,
        radius: distance * cos,
        height: distance * sin,
        start: START_DEGREES.to_radians(),
        turns,
    };
    camera(path, framing)
}

/// A still camera at the starting direction of a turntable, as close as the vertices allow.
pub fn still(scene: &Scene, bounds: &Aabb, framing: &Framing) -> Camera {
    let window = Window::new(START_DEGREES.to_radians(), framing);
    let center = bounds.center();
    let measure = |positions: &[[f32; 3]], world: &Affine3| {
        let points = positions.iter().map(|p| world.transform_point3(Vec3::from(*p)) - center);
        points.filter(|p| p.is_finite()).map(|p| window.support(p)).fold(Support::NONE, Support::join)
    };
    let fit = over_poses(scene, None, measure, Support::join, Support::NONE);
    let (right, up, distance) = window.eye(bounds, &fit, framing);
    let target = bounds_center(bounds) + right * window.right + up * window.up;
    camera(CameraPath::Still { eye: target + distance * window.towards, target }, framing)
}

/// Eye and target of a camera that looks from `towards`, with the up vector `up`, as close as possible with all `points` in the picture.
pub fn fitted(points: &[Vec3], (towards, up): (Vec3, Vec3), framing: &Framing) -> (Vec3, Vec3) {
    let right = up.cross(towards).normalize_or(Vec3::X);
    let window = Window::facing(right, towards, framing);
    let bounds = Aabb::of_points(points.iter().copied());
    let center = bounds_center(&bounds);
    let fit = points.iter().map(|&p| window.support(p - center)).fold(Support::NONE, Support::join);
    let (right, up, distance) = window.eye(&bounds, &fit, framing);
    let target = center + right * window.right + up * window.up;
    (target + distance * towards, target)
}

/// The least radius of an orbit, about the axis `up` through the centre of `points`, from which all points are in the picture. The camera is
/// `height` above the centre and looks at it.
pub fn fitting_radius(points: &[Vec3], up: Vec3, height: f32, framing: &Framing) -> f32 {
    let center = bounds_center(&Aabb::of_points(points.iter().copied()));
    let rims = points.iter().map(|&point| {
        let y = up.dot(point - center);
        (y, (point - center - y * up).length())
    });
    let turned = rims.flat_map(|(y, radius)| {
        // Half a revolution, as both sides of a picture are alike.
        (0..=32).map(move |i| {
            let (sin, cos) = (i as f32 / 32.0 * std::f32::consts::PI).sin_cos();
            Vec3::new(radius * sin, y, radius * cos)
        })
    });
    let turned = Vec::from_iter(turned);
    let fits = |radius: f32| {
        let towards = Vec3::new(0.0, height, radius);
        let (distance, towards) = (towards.length(), towards.normalize_or(Vec3::Z));
        let window = Window::facing(Vec3::X, towards, framing);
        let Support(reach) = turned.iter().map(|&point| window.support(point)).fold(Support::NONE, Support::join);
        let [x, y] = window.slope.map(|slope| slope * distance);
        reach.iter().zip([x, x, y, y]).all(|(reach, room)| *reach <= room)
    };
    let size = turned.iter().map(|point| point.length()).fold(f32::MIN_POSITIVE, f32::max);
    let (mut near, mut far) = (0.0, size);
    for _ in 0..32 {
        if fits(far) {
            break;
        }
        (near, far) = (far, 2.0 * far);
    }
    for _ in 0..24 {
        let middle = 0.5 * (near + far);
        *(if fits(middle) { &mut far } else { &mut near }) = middle;
    }
    far
}

fn camera(path: CameraPath, framing: &Framing) -> Camera {
    Camera { path, up: Vec3::Y, projection: Projection::Perspective { fov_y: framing.fov_y }, ..Camera::default() }
}

fn bounds_center(bounds: &Aabb) -> Vec3 {
    if bounds.is_empty() { Vec3::ZERO } else { bounds.center() }
}

/// The part of a picture to be filled, as seen from slightly above.
struct Window {
    right: Vec3,
    up: Vec3,
    /// Unit vector towards the camera.
    towards: Vec3,
    /// Half the width and height at distance 1.
    slope: [f32; 2],
}

/// Half the width and height, at distance 1, of the part of a picture to be filled.
fn slope(framing: &Framing) -> [f32; 2] {
    let half_height = (0.5 * framing.fov_y).tan();
    let half_width = half_height * framing.aspect;
    let margin = 2.0 * framing.margin * half_height.min(half_width);
    [half_width - margin, half_height - margin]
}

/// Distances of points beyond planes through the origin parallel to the sides of a window's view: right, left, up and down.
#[derive(Clone, Copy)]
struct Support([f32; 4]);

impl Support {
    const NONE: Self = Self([f32::NEG_INFINITY; 4]);

    fn join(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i].max(other.0[i])))
    }
}

impl Window {
    /// The window seen from azimuth `start` in radians; 0 is +Z.
    fn new(start: f32, framing: &Framing) -> Self {
        let (sin, cos) = start.sin_cos();
        let (rise, around) = ELEVATION_DEGREES.to_radians().sin_cos();
        Self {
            right: Vec3::new(cos, 0.0, -sin),
            up: Vec3::new(-sin * rise, around, -cos * rise),
            towards: Vec3::new(sin * around, rise, cos * around),
            slope: slope(framing),
        }
    }

    /// The window seen from the direction `towards`, with `right` to the right.
    fn facing(right: Vec3, towards: Vec3, framing: &Framing) -> Self {
        Self { right, up: towards.cross(right), towards, slope: slope(framing) }
    }

    fn support(&self, p: Vec3) -> Support {
        let (u, v, towards) = (self.right.dot(p), self.up.dot(p), self.towards.dot(p));
        let [x, y] = self.slope.map(|slope| slope * towards);
        Support([u + x, x - u, v + y, y - v])
    }

    /// The closest position of the eye for which points with this support are inside the window, as offsets to the right, up, and towards
    /// the camera.
    fn eye(&self, bounds: &Aabb, fit: &Support, framing: &Framing) -> (f32, f32, f32) {
        let Support([right, left, up, down]) = *fit;
        if !(bounds.diagonal() >= 1e-12 && right.is_finite()) {
            return (0.0, 0.0, 4.0);
        }
        let [x, y] = self.slope;
        let distance = (0.5 * (right + left) / x).max(0.5 * (up + down) / y) / framing.zoom;
        (0.5 * (right - left), 0.5 * (up - down), distance.clamp(f32::MIN_POSITIVE, f32::MAX / 16.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_scene::{Mesh, TriangleMesh};

    #[test]
    fn every_corner_stays_in_the_picture_and_the_picture_is_filled() {
        let bounds = Aabb { min: Vec3::new(-1.0, 2.0, 0.0), max: Vec3::new(3.0, 4.0, 1.0) };
        let camera = turntable(&bounds);
        let CameraPath::Orbit { target, radius, height, .. } = camera.path else { panic!("{camera:?}") };
        assert_eq!(target.with_y(0.0), bounds.center().with_y(0.0));
        let (mut highest, mut lowest) = (0f32, 0f32);
        for step in 0..90 {
            let (z, x) = (step as f32 * 0.0698).sin_cos();
            let eye = target + Vec3::new(x * radius, height, z * radius);
            let forward = (target - eye).normalize();
            let right = forward.cross(Vec3::Y).normalize();
            let up = right.cross(forward);
            for corner in bounds.corners() {
                let p = corner - eye;
                let slope = forward.dot(p) * (FOV_DEGREES.to_radians() * 0.5).tan();
                highest = highest.max(up.dot(p) / slope);
                lowest = lowest.max(-up.dot(p) / slope);
                assert!((right.dot(p) / slope).abs() < 16.0 / 9.0 - 0.27);
            }
        }
        // Both margins are 14 %.
        assert!((highest - 0.72).abs() < 0.02 && (lowest - 0.72).abs() < 0.02, "{highest} {lowest}");
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

    #[test]
    fn an_orbit_fits_what_is_tall_as_well_as_what_is_long() {
        let framing = Framing { margin: 0.1, ..Framing::default() };
        for (size, height) in [(Vec3::new(1.0, 8.0, 1.0), 2.0), (Vec3::new(9.0, 1.0, 4.0), 3.0)] {
            let bounds = Aabb { min: Vec3::splat(5.0), max: Vec3::splat(5.0) + size };
            let points = bounds.corners();
            let radius = fitting_radius(&points, Vec3::Y, height, &framing);
            let mut fullest = 0f32;
            for step in 0..90 {
                let (z, x) = (step as f32 * 0.0698).sin_cos();
                let towards = Vec3::new(x * radius, height, z * radius);
                let (right, forward) = (Vec3::Y.cross(towards).normalize(), -towards.normalize());
                for corner in points {
                    let p = corner - bounds.center() - towards;
                    let [x, y] = slope(&framing).map(|slope| slope * forward.dot(p));
                    let seen = (right.dot(p) / x).abs().max((right.cross(forward).dot(p) / y).abs());
                    fullest = fullest.max(seen);
                }
            }
            assert!((fullest - 1.0).abs() < 0.01, "{size}: {fullest}");
        }
    }
}
