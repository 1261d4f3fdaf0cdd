//! Detects cameras below hilly ground, with vertical rays from the eye.

use super::view::Posed;
use glam::{Affine3, Vec2, Vec3, Vec3Swizzles};
use rayon::prelude::*;
use throng_base::math::Aabb;
use throng_scene::{Shape, TriangleMesh};

/// Maximum number of instances above or below the eye. With more instances, no warning is given.
const MOST_IN_COLUMN: usize = 4096;
/// Number of objects that are tested for standing on the ground.
const MOST_THINGS: usize = 16;
/// Greatest height of a floor, relative to its width. A floor with something below it may belong to an upper storey.
const FLOOR: f32 = 1e-2;
/// Greatest depth of a camera below a ground that counts as a mistake, relative to the ground's width.
const DEEP: f32 = 0.1;

/// A ground above the eye.
pub struct GroundAbove {
    pub instance: usize,
    /// Height of the ground above the eye.
    pub height: f32,
}

/// Intersection of the vertical line through the eye with a surface.
#[derive(Clone, Copy)]
struct Hit {
    instance: usize,
    /// Height above the eye; negative below it.
    height: f32,
    faces_up: bool,
}

/// The ground that `eye` is below. The first surface above the eye must be the underside of an opaque surface that faces up and on which
/// most objects stand. None if more than `most` triangles would have to be tested.
pub fn above(posed: &Posed, eye: Vec3, most: usize) -> Option<GroundAbove> {
    let is_in_column = |bounds: &Option<Aabb>| bounds.is_some_and(|b| b.contains_point(eye.with_y(b.min.y)));
    let column = (0..posed.bounds.len()).into_par_iter().filter(|&i| is_in_column(&posed.bounds[i]));
    let column: Vec<usize> = column.filter(|&i| posed.mesh(i).is_some()).collect();
    let triangles: usize = column.iter().filter_map(|&i| Some(posed.mesh(i)?.prim_count())).sum();
    if column.len() > MOST_IN_COLUMN || triangles > most {
        return None;
    }
    let column: Vec<usize> = column.into_iter().filter(|&i| posed.is_opaque(i)).collect();
    let hits: Vec<[Option<Hit>; 2]> = column.iter().map(|&instance| hits(posed, instance, eye)).collect();
    let nearest = |side: usize| {
        let hits = hits.iter().filter_map(|hits| hits[side]);
        hits.min_by(|a, b| a.height.abs().total_cmp(&b.height.abs()))
    };
    let (up, down) = (nearest(0)?, nearest(1));
    let is_ground = up.faces_up && is_ground(posed, up.instance, eye, down.map(|down| eye.y + down.height));
    is_ground.then_some(GroundAbove { instance: up.instance, height: up.height })
}

/// The nearest hits above and below the eye.
fn hits(posed: &Posed, instance: usize, eye: Vec3) -> [Option<Hit>; 2] {
    let Some(Shape::Triangles(mesh)) = posed.mesh(instance).map(|mesh| &mesh.shape) else { return [None; 2] };
    let line = Line::through(&posed.world_from_object[instance], eye);
    let hit = |triangle: &[u32; 3]| {
        let (height, faces_up) = line.meets(mesh, triangle)?;
        Some(Hit { instance, height, faces_up })
    };
    let nearer = |a: Option<Hit>, b: Option<Hit>| match (a, b) {
        (Some(a), Some(b)) => Some(if b.height.abs() < a.height.abs() { b } else { a }),
        (a, b) => a.or(b),
    };
    let part = |hit: Hit| if hit.height >= 0.0 { [Some(hit), None] } else { [None, Some(hit)] };
    let all = mesh.triangles.par_iter().with_min_len(1 << 14).filter_map(hit).map(part);
    all.reduce(|| [None; 2], |a, b| [nearer(a[0], b[0]), nearer(a[1], b[1])])
}

/// Whether an instance is the ground for most other objects, and the eye is within its height or not far below. `below` is the height of a
/// surface under the eye. If there is one, the ground must be hilly and most objects must be above it. If no objects are on it, it must
/// reach below that surface, as land reaches below the sea.
fn is_ground(posed: &Posed, instance: usize, eye: Vec3, below: Option<f32>) -> bool {
    let Some(ground) = posed.bounds[instance] else { return false };
    let extent = ground.extent();
    if eye.y < ground.min.y - DEEP * extent.x.max(extent.z)
        || below.is_some() && extent.y <= FLOOR * extent.x.min(extent.z)
    {
        return false;
    }
    // Larger objects, for example a sea, do not stand on the ground.
    let stands =
        |bounds: &Aabb| !(bounds.min.xz().cmple(ground.min.xz()) & bounds.max.xz().cmpge(ground.max.xz())).all();
    let others = (0..posed.bounds.len()).filter(|&other| other != instance);
    let others: Vec<Aabb> = others.filter_map(|other| posed.bounds[other]).filter(stands).collect();
    let step = others.len().div_ceil(MOST_THINGS).max(1);
    let things: Vec<&Aabb> = others.iter().step_by(step).collect();
    let is_within = |thing: &&&Aabb| ground.contains_point(thing.center().with_y(ground.min.y));
    let within: Vec<&Aabb> = things.iter().filter(is_within).copied().collect();
    if 2 * within.len() < things.len() {
        return false;
    }
    let Some(below) = below else { return true };
    if within.is_empty() {
        return ground.min.y < below - FLOOR * extent.y;
    }
    let Some(Shape::Triangles(mesh)) = posed.mesh(instance).map(|mesh| &mesh.shape) else { return false };
    let points: Vec<Vec2> = within.iter().map(|thing| thing.center().xz()).collect();
    let heights = heights(mesh, &posed.world_from_object[instance], &points);
    let is_above = |(thing, height): &(&&Aabb, f32)| thing.max.y > *height;
    2 * within.iter().zip(heights).filter(is_above).count() > within.len()
}

/// Greatest height of a placed mesh at each point; negative infinity beside the mesh.
fn heights(mesh: &TriangleMesh, world: &Affine3, points: &[Vec2]) -> Vec<f32> {
    let lines: Vec<Line> = points.iter().map(|p| Line::through(world, Vec3::new(p.x, 0.0, p.y))).collect();
    let none = || vec![f32::NEG_INFINITY; points.len()];
    let with = |mut found: Vec<f32>, triangle: &[u32; 3]| {
        for (found, line) in found.iter_mut().zip(&lines) {
            *found = line.meets(mesh, triangle).map_or(*found, |(height, _)| found.max(height));
        }
        found
    };
    let higher = |a: Vec<f32>, b: Vec<f32>| a.into_iter().zip(b).map(|(a, b)| a.max(b)).collect();
    mesh.triangles.par_iter().with_min_len(1 << 14).fold(none, with).reduce(none, higher)
}

/// A vertical world-space line in object space. Its parameter is the height above the origin, in world units.
struct Line {
    origin: Vec3,
    up: Vec3,
}

impl Line {
    fn through(world_from_object: &Affine3, point: Vec3) -> Self {
        let object_from_world = world_from_object.inverse();
        Self { origin: object_from_world.transform_point3(point), up: object_from_world.transform_vector3(Vec3::Y) }
    }

    /// Height at which the line meets a triangle, and whether the triangle faces up (Möller and Trumbore 1997).
    fn meets(&self, mesh: &TriangleMesh, triangle: &[u32; 3]) -> Option<(f32, bool)> {
        let corner = |vertex: u32| mesh.positions.get(vertex as usize).map(|&p| Vec3::from(p) - self.origin);
        let [Some(a), Some(b), Some(c)] = triangle.map(corner) else { return None };
        let (e1, e2) = (b - a, c - a);
        let p = self.up.cross(e2);
        let det = e1.dot(p);
        let q = a.cross(e1);
        let (u, v, height) = (-a.dot(p) / det, -self.up.dot(q) / det, -e2.dot(q) / det);
        // The determinant is negative if the line and the normal point to the same side.
        (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && height.is_finite()).then_some((height, det < 0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Quat;

    #[test]
    fn a_line_meets_triangles_at_their_height_and_tells_their_sides() {
        let positions = vec![[0.0, 0.0, 0.0], [0.0, 2.0, 4.0], [4.0, 0.0, 0.0]];
        let mesh = TriangleMesh { positions, triangles: vec![[0, 1, 2], [0, 2, 1]], ..TriangleMesh::default() };
        for world in [
            Affine3::from_translation(Vec3::Y * 7.0),
            Affine3::from_scale_rotation_translation(
                Vec3::new(-1.0, 1.0, 1.0),
                Quat::from_rotation_y(0.4),
                Vec3::Y * 7.0,
            ),
        ] {
            let inside = world.transform_point3(Vec3::new(1.0, 0.0, 1.0)).with_y(-3.0);
            let line = Line::through(&world, inside);
            let (height, up) = line.meets(&mesh, &mesh.triangles[0]).unwrap();
            assert!((height - 10.5).abs() < 1e-5 && up, "{height}");
            assert!(!line.meets(&mesh, &mesh.triangles[1]).unwrap().1);
            assert_eq!(heights(&mesh, &world, &[inside.xz(), inside.xz() + 9.0])[1], f32::NEG_INFINITY);
            assert!((heights(&mesh, &world, &[inside.xz()])[0] - 7.5).abs() < 1e-5);
        }
    }
}
