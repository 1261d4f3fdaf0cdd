//! Detects cameras that see nothing: they look past everything, are below the ground, or are inside an object.

use super::ground;
use glam::{Affine3, DVec3, Vec3};
use rayon::prelude::*;
use std::f64::consts::TAU;
use throng_base::math::Aabb;
use throng_scene::anim::{self, CameraPose, Moment};
use throng_scene::{Alpha, Mesh, Projection, Scene, Shape, TriangleMesh};

/// Factor by which a view is widened for the test, since pixel filters reach beyond the picture.
const WIDER: f32 = 1.05;
/// Greatest height of a flat ground, relative to its width.
const FLAT: f32 = 1e-3;
/// Greatest depth of objects sunk into a ground, relative to the height of all objects on it.
const SUNK: f32 = 0.05;
/// Greatest size of an object that a camera is inside of by mistake, relative to all other objects. A larger object may be a room.
const SOLID: f32 = 0.5;
/// Maximum number of instances around the camera that are tested, and of their triangles. With more, no warning is given.
const MOST_AROUND: usize = 64;
const MOST_TRIANGLES: usize = 1 << 22;
/// Maximum number of triangles that are tested for a hilly ground.
const MOST_IN_GROUND: usize = 1 << 28;
/// Number of frames that are tested for a ground if only the camera moves.
const GROUND_FRAMES: usize = 32;
/// Share of all directions that a surface has to cover to count as enclosing.
const CLOSED: f64 = 0.95;

/// A warning about the camera in some of `frames`, if there is a problem. `all` lists all frames of the run.
pub fn warning(scene: &Scene, aspect: f32, frames: &[u32], all: &[u32]) -> Option<String> {
    let boxes = scene.boxes_at_rest();
    let mut sees_nothing = !frames.is_empty();
    let mut still = None;
    for &frame in frames {
        let posed = Posed::new(scene, &boxes, frame);
        if let Some(place) = posed.hidden_by() {
            return Some(format!("in frame {frame} the camera is {place}"));
        }
        sees_nothing = sees_nothing && posed.sees_nothing(aspect);
        still = Some(posed).filter(|_| !scene.is_animated());
    }
    if let Some(posed) = still.filter(|_| frames.len() > 2)
        && let Some((frame, place)) = posed.flies_below(all)
    {
        return Some(format!("in frame {frame} the camera is {place}"));
    }
    let eye = |frame: u32| anim::camera_of_frame(scene, frame).eye;
    sees_nothing.then(|| match frames {
        [frame] => format!("nothing is in view in frame {frame}, where the camera is at {}", eye(*frame)),
        _ => {
            let frames: Vec<String> = frames.iter().map(u32::to_string).collect();
            format!("nothing is in view in the frames {}", frames.join(", "))
        }
    })
}

/// The scene, posed in a frame.
pub(super) struct Posed<'a> {
    scene: &'a Scene,
    camera: CameraPose,
    pub(super) world_from_object: Vec<Affine3>,
    /// Index of the mesh that each instance shows.
    shown: Vec<u32>,
    /// Bounds of each instance of the world. None for deforming meshes, whose bounds are unknown, and for hidden instances.
    pub(super) bounds: Vec<Option<Aabb>>,
}

impl<'a> Posed<'a> {
    fn new(scene: &'a Scene, boxes: &[Aabb], frame: u32) -> Self {
        let moment = Moment::of(scene, scene.time_of(frame));
        let (mut world_from_object, mut shown) = (Vec::new(), Vec::new());
        anim::world_transforms(scene, &moment, &mut world_from_object);
        anim::shown_meshes(scene, &scene.instances, &[], &moment, &mut shown);
        let mut boxes: Vec<Option<Aabb>> = boxes.iter().copied().map(Some).collect();
        for deforming in &scene.deforming {
            boxes[deforming.mesh as usize] = None;
        }
        let pairs = world_from_object[scene.world()].par_iter().zip(&shown);
        let bounds = pairs.map(|(world, &mesh)| Some(boxes.get(mesh as usize)?.as_ref()?.transformed(world)));
        let mut bounds: Vec<_> = bounds.collect();
        for instance in anim::hidden_instances(scene, &moment) {
            if let Some(bounds) = bounds.get_mut(instance as usize) {
                *bounds = None;
            }
        }
        Self { camera: anim::camera_at(scene, &moment), scene, world_from_object, shown, bounds }
    }

    fn sees_nothing(&self, aspect: f32) -> bool {
        let may_see = |bounds: &Option<Aabb>| bounds.is_none_or(|bounds| may_see(&self.camera, aspect, &bounds));
        !self.bounds.par_iter().any(may_see)
    }

    /// Describes the camera's position if a ground or an object hides everything else.
    fn hidden_by(&self) -> Option<String> {
        if let Some(ground) = self.ground_above() {
            let height = self.bounds[ground].map_or(0.0, |bounds| bounds.max.y);
            return self.below(ground, height, self.camera.eye);
        }
        if let Some(solid) = self.solid_around() {
            return Some(format!("inside of `{}`", self.mesh(solid)?.name));
        }
        self.below_hills(self.camera.eye, MOST_IN_GROUND)
    }

    /// Describes a camera below a ground, whose surface has the given `height` there.
    fn below(&self, ground: usize, height: f32, eye: Vec3) -> Option<String> {
        let name = &self.mesh(ground)?.name;
        Some(format!(
            "below the ground `{name}`, which is at y = {height:.3} there, and the camera at y = {:.3}",
            eye.y
        ))
    }

    fn below_hills(&self, eye: Vec3, most: usize) -> Option<String> {
        let found = ground::above(self, eye, most)?;
        self.below(found.instance, eye.y + found.height, eye)
    }

    /// The first of some frames in which the camera is below a ground, and a description. For scenes in which only the camera moves.
    fn flies_below(&self, frames: &[u32]) -> Option<(u32, String)> {
        let mut frames = frames.iter().step_by(frames.len().div_ceil(GROUND_FRAMES).max(1));
        frames.find_map(|&frame| {
            let camera = anim::camera_of_frame(self.scene, frame);
            Some((frame, self.below_hills(camera.eye, MOST_TRIANGLES)?))
        })
    }

    /// The mesh that an instance shows; none for an assembly.
    pub(super) fn mesh(&self, instance: usize) -> Option<&'a Mesh> {
        self.scene.meshes.get(self.shown[instance] as usize)
    }

    /// The ground that the camera is below: a flat opaque instance that extends under all other instances.
    fn ground_above(&self) -> Option<usize> {
        let all: Option<Vec<Aabb>> = self.bounds.iter().copied().collect();
        let all = all.filter(|all| all.len() > 1)?;
        let (ground, bounds) = all.iter().enumerate().min_by(|a, b| a.1.max.y.total_cmp(&b.1.max.y))?;
        let others = all.iter().enumerate().filter(|(index, _)| *index != ground);
        let others = others.fold(Aabb::EMPTY, |sum, (_, bounds)| sum.union(*bounds));
        let extent = bounds.extent();
        let reaches = |p: Vec3| bounds.contains_point(p.with_y(bounds.min.y));
        let eye = self.camera.eye;
        let is_ground = extent.y <= FLAT * extent.x.min(extent.z)
            && others.min.y >= bounds.max.y - SUNK * others.extent().y
            && reaches(others.min)
            && reaches(others.max);
        (is_ground && eye.y < bounds.min.y && reaches(eye) && self.is_opaque(ground)).then_some(ground)
    }

    /// A closed opaque instance that encloses the camera, but no other instance.
    fn solid_around(&self) -> Option<usize> {
        let eye = self.camera.eye;
        let contains = |bounds: &Option<Aabb>| bounds.is_some_and(|bounds| bounds.contains_point(eye));
        let is_mesh = |index: usize| (self.shown[index] as usize) < self.scene.meshes.len();
        let around = (0..self.bounds.len()).filter(|&index| is_mesh(index) && contains(&self.bounds[index]));
        let around: Vec<usize> = around.take(MOST_AROUND + 1).collect();
        let triangles = around.iter().map(|&index| self.scene.meshes[self.shown[index] as usize].prim_count());
        if around.len() > MOST_AROUND || triangles.sum::<usize>() > MOST_TRIANGLES {
            return None;
        }
        around.into_iter().find(|&index| self.is_opaque(index) && self.encloses(index, eye) && !self.is_room(index))
    }

    pub(super) fn is_opaque(&self, instance: usize) -> bool {
        let Some(mesh) = self.scene.meshes.get(self.shown[instance] as usize) else { return false };
        let slots = mesh.slot_count as usize;
        let first = self.scene.instances[instance].slot_base as usize;
        let rows = self.scene.material_slots.get(first..first + slots).unwrap_or_default();
        let is_opaque = |&row: &u32| {
            let material = self.scene.materials.get(row as usize);
            material.is_some_and(|m| {
                let passes = m.lobes.transmission + m.lobes.diffuse_transmission;
                m.alpha == Alpha::Opaque && passes == 0.0 && m.emission.max_element() <= 0.0
            })
        };
        !rows.is_empty() && rows.iter().all(is_opaque)
    }

    /// Whether the instance's surface surrounds `eye` and faces away from it.
    fn encloses(&self, instance: usize, eye: Vec3) -> bool {
        let eye = self.world_from_object[instance].inverse().transform_point3(eye);
        match &self.scene.meshes[self.shown[instance] as usize].shape {
            Shape::Sphere => eye.length() < 1.0,
            Shape::Curves(_) => false,
            Shape::Triangles(mesh) => winding_number(mesh, eye) > CLOSED,
        }
    }

    /// Whether the instance is large, or contains other instances.
    fn is_room(&self, instance: usize) -> bool {
        let Some(room) = self.bounds[instance] else { return true };
        let others = || self.bounds.iter().enumerate().filter(|(index, _)| *index != instance);
        let holds = |bounds: &Option<Aabb>| bounds.is_none_or(|bounds| room.contains(&bounds));
        let all = others().fold(Aabb::EMPTY, |sum, (_, bounds)| sum.union(bounds.unwrap_or(Aabb::EMPTY)));
        room.diagonal() > SOLID * all.diagonal() || others().any(|(_, bounds)| holds(bounds))
    }
}

/// Winding number of a surface around a point: 1 inside a closed surface, 0 outside (van Oosterom and Strackee 1983).
fn winding_number(mesh: &TriangleMesh, point: Vec3) -> f64 {
    let corner =
        |vertex: u32| mesh.positions.get(vertex as usize).map(|&p| Vec3::from(p).as_dvec3() - point.as_dvec3());
    let half_angle = |triangle: &[u32; 3]| {
        let (Some(a), Some(b), Some(c)) = (corner(triangle[0]), corner(triangle[1]), corner(triangle[2])) else {
            return 0.0;
        };
        let (x, y, z) = (a.length(), b.length(), c.length());
        let volume = DVec3::dot(a, b.cross(c));
        volume.atan2(x * y * z + a.dot(b) * z + b.dot(c) * x + c.dot(a) * y)
    };
    mesh.triangles.iter().map(half_angle).sum::<f64>() / TAU
}

/// Whether a box may be in view. True if uncertain.
fn may_see(camera: &CameraPose, aspect: f32, bounds: &Aabb) -> bool {
    let (forward, right, up) = camera.basis();
    let corners = bounds.corners().map(|corner| {
        let way = corner - camera.eye;
        Vec3::new(way.dot(right), way.dot(up), way.dot(forward))
    });
    let (radius, focus) = camera.lens.map_or((0.0, 1.0), |lens| (lens.radius, lens.focus));
    // Half the height of the view is `near + slope * z`.
    let (near, slope) = match camera.projection {
        Projection::Perspective { fov_y } => (0.0, (0.5 * fov_y).tan()),
        Projection::Orthographic { height } => (0.5 * height, 0.0),
        Projection::Equirectangular => return true,
    };
    if camera.skewed.is_some() || camera.intrinsics.is_some() {
        return true;
    }
    let blur = (radius, radius / focus);
    // Positions relative to the optical axis, which a shifted lens moves to the centre of the picture.
    let shift = camera.half_shift(aspect);
    let middle = |shift: f32, z: f32, aspect: f32| shift * (near + slope * z) * aspect;
    let beyond =
        |across: f32, z: f32, aspect: f32| across > WIDER * (near * aspect + blur.0 + (slope * aspect + blur.1) * z);
    let sides: [&dyn Fn(&Vec3) -> bool; 5] = [
        &|p| p.z < 0.0,
        &|p| beyond(p.x - middle(shift.x, p.z, aspect), p.z, aspect),
        &|p| beyond(middle(shift.x, p.z, aspect) - p.x, p.z, aspect),
        &|p| beyond(p.y - middle(shift.y, p.z, 1.0), p.z, 1.0),
        &|p| beyond(middle(shift.y, p.z, 1.0) - p.y, p.z, 1.0),
    ];
    !sides.iter().any(|is_beyond| corners.iter().all(is_beyond))
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec2;

    /// A cube from -1 to 1.
    fn cube() -> TriangleMesh {
        let positions = (0..8).map(|i| [0, 1, 2].map(|axis| if i >> axis & 1 == 0 { -1.0 } else { 1.0 }));
        let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]);
        TriangleMesh { positions: positions.collect(), triangles: triangles.collect(), ..TriangleMesh::default() }
    }

    #[test]
    fn closed_surfaces_wind_once_around_what_is_inside() {
        let mut cube = cube();
        for (point, number) in [(Vec3::new(0.3, -0.9, 0.1), 1.0), (Vec3::new(0.0, 1.2, 0.0), 0.0)] {
            assert!((winding_number(&cube, point) - number).abs() < 1e-9, "{point}");
        }
        cube.triangles.iter_mut().for_each(|triangle| triangle.swap(1, 2));
        assert!((winding_number(&cube, Vec3::ZERO) + 1.0).abs() < 1e-9, "seen from inside, as rooms are");
    }

    #[test]
    fn boxes_beside_and_behind_the_camera_are_not_in_view() {
        let mut camera = CameraPose {
            eye: Vec3::ZERO,
            target: Vec3::NEG_Z,
            up: Vec3::Y,
            skewed: None,
            projection: Projection::Perspective { fov_y: 60f32.to_radians() },
            shift: Vec2::ZERO,
            intrinsics: None,
            lens: None,
        };
        let at = |center: Vec3| Aabb { min: center - 0.5, max: center + 0.5 };
        let seen = |camera: &CameraPose, x, y, z| may_see(camera, 2.0, &at(Vec3::new(x, y, z)));
        assert!(seen(&camera, 0.0, 0.0, -5.0) && seen(&camera, 5.0, 0.0, -5.0) && seen(&camera, 0.0, 0.0, 0.0));
        assert!(!seen(&camera, 0.0, 0.0, 5.0) && !seen(&camera, 9.0, 0.0, -5.0) && !seen(&camera, 0.0, 5.0, -5.0));
        // With a shift of half a width, points on the axis are at the left edge.
        camera.shift = Vec2::new(0.5, 0.0);
        assert!(seen(&camera, 9.0, 0.0, -5.0) && !seen(&camera, -2.0, 0.0, -5.0));
        camera.shift = Vec2::ZERO;
        camera.projection = Projection::Orthographic { height: 4.0 };
        assert!(seen(&camera, 4.0, 2.0, -50.0) && !seen(&camera, 5.0, 0.0, -50.0) && !seen(&camera, 0.0, 3.0, -50.0));
        camera.projection = Projection::Equirectangular;
        assert!(seen(&camera, 0.0, 0.0, 5.0));
    }
}
