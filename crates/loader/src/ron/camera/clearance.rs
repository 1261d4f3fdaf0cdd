//! Keeps the path of a camera outside a solid.

use glam::{DVec3, Vec3};
use rayon::prelude::*;
use throng_base::math::Aabb;
use throng_scene::{CameraKey, Flight, Parametrisation};

/// Number of samples between two keys. They become the keys of the new path.
const BETWEEN: usize = 16;
/// Clearance around the solid, relative to the diagonal of its bounds.
const SPACE: f64 = 0.02;
/// Half of the number of samples over which an offset is smoothed.
const SPREAD: usize = 8;

/// Moves the eye out of the solid formed by these triangles, away from the solid's centre, with smooth transitions. A path that stays
/// outside keeps its keys.
pub fn keep_out(keys: &mut Vec<CameraKey>, parametrisation: Parametrisation, triangles: &[[Vec3; 3]]) {
    let bounds = Aabb::of_points(triangles.as_flattened().iter().copied());
    if bounds.is_empty() {
        return;
    }
    // Slightly off the centre, so that rays miss the edges of symmetric meshes.
    let middle = bounds.center().as_dvec3() + bounds.extent().as_dvec3() * DVec3::new(1.1e-4, -1.7e-4, 2.3e-4);
    let space = SPACE * f64::from(bounds.diagonal());
    let time = |i: usize| {
        let (a, b) = (keys[i / BETWEEN].time, keys.get(i / BETWEEN + 1).map_or(0.0, |key| key.time));
        if i.is_multiple_of(BETWEEN) { a } else { a + (b - a) * (i % BETWEEN) as f64 / BETWEEN as f64 }
    };
    let flight = Flight::new(keys.clone(), parametrisation);
    let path = |i: usize| {
        let time = time(i);
        let (eye, target) = flight.at(time, Vec3::ZERO, Vec3::Y);
        CameraKey { time, eye, target }
    };
    let path: Vec<CameraKey> = (0..=BETWEEN * (keys.len() - 1)).map(path).collect();
    let cones: Vec<Cone> = triangles.iter().map(|triangle| Cone::around(middle, triangle)).collect();
    let way_out = |key: &CameraKey| {
        let from_middle = key.eye.as_dvec3() - middle;
        let distance = from_middle.length();
        let direction = from_middle / distance;
        let ahead = triangles.iter().zip(&cones).filter(|(_, cone)| cone.has(direction)).map(|(triangle, _)| triangle);
        let crossings = crossings(middle, direction, ahead);
        (outside(&crossings, distance, space) - distance) as f32
    };
    let ways: Vec<f32> = path.par_iter().map(way_out).collect();
    if ways.iter().all(|&way| way <= 0.0) {
        return;
    }
    let around = |i: usize| i.saturating_sub(SPREAD)..(i + SPREAD + 1).min(ways.len());
    let widest: Vec<f32> = (0..ways.len()).map(|i| ways[around(i)].iter().copied().fold(0.0, f32::max)).collect();
    let smooth = |i: usize| widest[around(i)].iter().sum::<f32>() / around(i).len() as f32;
    let moved = path.into_iter().enumerate().map(|(i, key)| {
        let outwards = (key.eye.as_dvec3() - middle).normalize_or(DVec3::Y).as_vec3();
        CameraKey { eye: key.eye + outwards * smooth(i), ..key }
    });
    *keys = moved.collect();
}

/// The least distance from `distance` upwards that is outside the solid with a clearance of `space`. `crossings` are the distances of its
/// surface.
fn outside(crossings: &[f64], distance: f64, space: f64) -> f64 {
    let beyond = crossings.partition_point(|&t| t <= distance);
    if (crossings.len() - beyond).is_multiple_of(2) {
        return distance;
    }
    // The ray leaves the solid at every other crossing. A gap that is too narrow counts as solid.
    let exits = crossings[beyond..].iter().step_by(2);
    let entries = crossings[beyond..].iter().skip(1).step_by(2).copied().chain([f64::INFINITY]);
    let exit = exits.zip(entries).find(|(exit, entry)| entry - **exit > 2.0 * space);
    exit.map_or(distance, |(exit, _)| exit + space)
}

/// A cone of directions that contains all directions from a point to a triangle. All rays have one origin, and most miss most triangles
/// clearly.
struct Cone {
    axis: DVec3,
    /// Least cosine of an angle to the axis.
    cos: f64,
}

impl Cone {
    fn around(point: DVec3, triangle: &[Vec3; 3]) -> Self {
        let to = triangle.map(|corner| (corner.as_dvec3() - point).normalize());
        let axis = (to[0] + to[1] + to[2]).normalize();
        let cos = to.map(|to| to.dot(axis)).into_iter().fold(1.0, f64::min);
        // A cone wider than 90 degrees is not convex, so it need not contain the inside of the triangle. Rounding errors are far below
        // 1e-9.
        let cos = if cos > 1e-3 && axis.is_finite() { cos - 1e-9 } else { -1.0 };
        Self { axis, cos }
    }

    /// Whether a ray in this direction may hit the triangle.
    fn has(&self, direction: DVec3) -> bool {
        direction.dot(self.axis) >= self.cos || self.cos == -1.0
    }
}

/// Distances at which a ray crosses triangles, ascending (Möller and Trumbore 1997).
fn crossings<'a>(origin: DVec3, direction: DVec3, triangles: impl Iterator<Item = &'a [Vec3; 3]>) -> Vec<f64> {
    let crossing = |triangle: &[Vec3; 3]| {
        let [a, b, c] = triangle.map(|p| p.as_dvec3());
        let (e1, e2) = (b - a, c - a);
        let p = direction.cross(e2);
        let det = e1.dot(p);
        let from = origin - a;
        let q = from.cross(e1);
        let (u, v, t) = (from.dot(p) / det, direction.dot(q) / det, e2.dot(q) / det);
        (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && t > 0.0).then_some(t)
    };
    let mut all: Vec<f64> = triangles.filter_map(crossing).collect();
    all.sort_unstable_by(f64::total_cmp);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cube with side 2, centred at the origin.
    fn cube() -> Vec<[Vec3; 3]> {
        let mut triangles = Vec::new();
        for axis in 0..3 {
            for side in [-1.0, 1.0] {
                let corner = |u: f32, v: f32| {
                    let mut p = [0.0; 3];
                    (p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3]) = (side, u, v);
                    Vec3::from(p)
                };
                let [a, b, c, d] = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
                triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
        triangles
    }

    fn flight(points: &[Vec3]) -> Vec<CameraKey> {
        (0..).zip(points).map(|(i, &eye)| CameraKey { time: f64::from(i), eye, target: Vec3::ZERO }).collect()
    }

    #[test]
    fn cones_leave_out_no_crossing() {
        let middle = DVec3::new(0.1, -0.9999, 0.2);
        let cube = cube();
        for i in 0..2000 {
            let angle = DVec3::new(f64::from(i) * 0.7, f64::from(i) * 1.3, f64::from(i) * 2.1);
            let direction = DVec3::new(angle.x.sin(), angle.y.sin(), angle.z.sin()).normalize_or(DVec3::X);
            let ahead = cube.iter().filter(|triangle| Cone::around(middle, triangle).has(direction));
            assert_eq!(crossings(middle, direction, ahead), crossings(middle, direction, cube.iter()), "{direction}");
        }
    }

    #[test]
    fn a_path_outside_keeps_its_keys() {
        let mut keys = flight(&[Vec3::new(-3.0, 2.0, 0.5), Vec3::new(0.0, 2.0, 0.5), Vec3::new(3.0, 2.0, 0.5)]);
        let before = keys.clone();
        keep_out(&mut keys, Parametrisation::default(), &cube());
        assert_eq!(keys, before);
    }

    #[test]
    fn a_path_through_the_solid_leads_around_it() {
        let mut keys = flight(&[Vec3::new(-3.0, 0.4, 0.3), Vec3::new(0.0, 0.5, 0.3), Vec3::new(3.0, 0.4, 0.3)]);
        keep_out(&mut keys, Parametrisation::default(), &cube());
        let flight = Flight::new(keys, Parametrisation::default());
        for i in 0..=200 {
            let eye = flight.at(f64::from(i) * 0.01, Vec3::ZERO, Vec3::Y).0;
            assert!(eye.abs().max_element() > 1.0, "{eye}");
        }
    }

    #[test]
    fn narrow_gaps_count_as_solid() {
        let crossings = [0.5, 2.0, 2.1, 3.0, 9.0, 9.5];
        assert_eq!(outside(&crossings, 2.5, 0.1), 3.1);
        assert_eq!(outside(&crossings, 0.2, 0.1), 0.2);
        assert_eq!(outside(&[2.0, 2.1, 3.0], 1.0, 0.1), 3.1);
    }
}
