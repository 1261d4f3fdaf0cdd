//! Points on meshes: vertices as listed in the file, or samples on the surface.

use crate::{
    geometry::normals::{Fans, face_normal},
    meshes::MeshSource,
    ron::placing::random,
};
use glam::{Affine3, DVec3, Vec3};
use rayon::prelude::*;
use throng_scene::{NONE, Shape, TriangleMesh};

/// A point and its unit normal, in the mesh's object space.
pub type SurfacePoint = (Vec3, Vec3);

/// A point of a mesh, and its position in a triangle.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    pub point: Vec3,
    /// Unit length.
    pub normal: Vec3,
    /// Index of its triangle; [`NONE`] for a vertex or a sphere.
    pub triangle: u32,
    /// Barycentric weights of the triangle's corners.
    pub weights: [f32; 3],
}

impl Site {
    fn without_triangle((point, normal): SurfacePoint) -> Self {
        Self { point, normal, triangle: NONE, weights: [0.0; 3] }
    }
}

impl Site {
    /// The value that an attribute of the mesh's vertices has here. None without the attribute or a triangle.
    pub fn interpolated<const N: usize>(&self, mesh: &TriangleMesh, values: &[[f32; N]]) -> Option<[f32; N]> {
        if values.is_empty() || self.triangle == NONE {
            return None;
        }
        let corners = mesh.triangles[self.triangle as usize].map(|v| values[v as usize]);
        Some(std::array::from_fn(|i| (0..3).map(|k| self.weights[k] * corners[k][i]).sum()))
    }
}

/// Every `every`-th position of the mesh in file order. Normals are averaged over the adjacent faces.
pub fn vertices(mesh: &MeshSource, every: u32) -> Vec<Site> {
    let (points, triangles) = mesh.points();
    let normals = Fans::new(points, triangles).position_normals(points.len());
    let points = points.iter().zip(&normals).step_by(every.max(1) as usize);
    points.map(|(&p, &n)| Site::without_triangle((p.into(), n.into()))).collect()
}

/// The surface of a mesh, prepared for sampling.
pub struct Surface<'a> {
    shape: &'a Shape,
    /// Cumulative areas of the triangles; empty for a sphere.
    areas: Vec<f64>,
    area: f64,
}

impl<'a> Surface<'a> {
    /// The surface in object space.
    pub fn new(mesh: &'a MeshSource) -> Self {
        Self::transformed(mesh, |p| p)
    }

    /// The surface in the space after `transform`. A sphere is sampled as if it were not deformed.
    pub fn placed(mesh: &'a MeshSource, transform: &Affine3) -> Self {
        match &mesh.mesh.shape {
            // Thomsen's formula for the surface of an ellipsoid, with an error of about one percent.
            Shape::Sphere => {
                let m = transform.matrix3;
                let [a, b, c] = [m.x_axis, m.y_axis, m.z_axis].map(|axis| f64::from(axis.length()).powf(1.6075));
                let mean = ((a * b + a * c + b * c) / 3.0).powf(1.0 / 1.6075);
                Self { shape: &mesh.mesh.shape, areas: Vec::new(), area: 2.0 * std::f64::consts::TAU * mean }
            }
            _ => Self::transformed(mesh, |p| transform.transform_point3(p)),
        }
    }

    fn transformed(mesh: &'a MeshSource, transform: impl Fn(Vec3) -> Vec3) -> Self {
        let shape = &mesh.mesh.shape;
        let areas = match shape {
            Shape::Sphere | Shape::Curves(_) => Vec::new(),
            Shape::Triangles(triangles) => cumulative_areas(triangles, transform),
        };
        Self { shape, area: areas.last().copied().unwrap_or(2.0 * std::f64::consts::TAU), areas }
    }

    /// Area in squared units of the surface's space.
    pub fn area(&self) -> f64 {
        self.area
    }

    /// A sample that is uniform over the area if `u` is uniform in [0, 1)³. Similar values of `u.x` give triangles that are close in the
    /// mesh's order.
    pub fn sample(&self, u: [f64; 3]) -> Site {
        let [x, y, z] = u;
        match self.shape {
            Shape::Sphere | Shape::Curves(_) => {
                let direction = random::direction(x as f32, y as f32);
                Site::without_triangle((direction, direction))
            }
            Shape::Triangles(mesh) => sample(mesh, &self.areas, x, [y as f32, z as f32]),
        }
    }
}

/// Every `every`-th of `count` points distributed uniformly over the area, with its number.
pub fn on_surface(surface: &Surface, count: u32, seed: u32, every: u32) -> Vec<(u32, Site)> {
    let indices = (0..count).into_par_iter().step_by(every.max(1) as usize);
    indices.map(|i| (i, surface.sample(random::unit3(seed, 0, i).to_array().map(f64::from)))).collect()
}

fn cumulative_areas(mesh: &TriangleMesh, transform: impl Fn(Vec3) -> Vec3) -> Vec<f64> {
    let area = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| transform(mesh.positions[v as usize].into()).as_dvec3());
        DVec3::cross(b - a, c - a).length() * 0.5
    };
    let mut sum = 0.0;
    mesh.triangles
        .iter()
        .map(|t| {
            sum += area(t);
            sum
        })
        .collect()
}

fn sample(mesh: &TriangleMesh, areas: &[f64], share: f64, u: [f32; 2]) -> Site {
    let total = areas.last().copied().unwrap_or(0.0);
    let wanted = share * total;
    let index = areas.partition_point(|&a| a <= wanted).min(areas.len().saturating_sub(1));
    let corners = mesh.triangles[index].map(|v| mesh.positions[v as usize]);
    let [a, b, c] = corners.map(Vec3::from);
    // Square root warping, which is uniform over the triangle (Turk 1990).
    let s = u[0].sqrt();
    let weights = [1.0 - s, s * (1.0 - u[1]), s * u[1]];
    let point = a * weights[0] + b * weights[1] + c * weights[2];
    Site { point, normal: face_normal(corners).as_vec3(), triangle: index as u32, weights }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::shapes::cuboid;

    fn cube() -> MeshSource {
        MeshSource::of_shape("box", cuboid(Vec3::ONE, 1.0), 0)
    }

    #[test]
    fn surface_points_are_uniform_over_the_area() {
        let cube = cube();
        let points = on_surface(&Surface::new(&cube), 60_000, 3, 1);
        for axis in [Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Z] {
            let share = points.iter().filter(|(_, s)| s.normal.dot(axis) > 0.5).count();
            assert!((9_600..10_400).contains(&share), "{axis}: {share}");
        }
        assert!(points.iter().all(|(_, s)| (s.point.dot(s.normal) - 0.5).abs() < 1e-6));
    }

    #[test]
    fn vertices_keep_their_order_and_point_outwards() {
        let all = vertices(&cube(), 1);
        assert!(all.iter().all(|s| s.point.normalize().distance(s.normal) < 1e-5));
        let third: Vec<Vec3> = vertices(&cube(), 3).iter().map(|s| s.point).collect();
        assert_eq!(third, [all[0].point, all[3].point, all[6].point]);
    }

    #[test]
    fn points_on_a_sphere_are_on_it() {
        let sphere = MeshSource::sphere("ball", 0);
        let points = on_surface(&Surface::new(&sphere), 100, 0, 1);
        assert!(points.iter().all(|(_, s)| s.point == s.normal && (s.point.length() - 1.0).abs() < 1e-5));
    }

    #[test]
    fn areas_are_those_of_the_placed_surface() {
        let stretched = Affine3::from_scale(Vec3::new(2.0, 1.0, 3.0));
        assert!((Surface::placed(&cube(), &stretched).area() - 22.0).abs() < 1e-5);
        let ball = MeshSource::sphere("ball", 0);
        let doubled = Affine3::from_scale(Vec3::splat(2.0));
        assert!((Surface::placed(&ball, &doubled).area() / (16.0 * std::f64::consts::PI) - 1.0).abs() < 1e-6);
    }
}
