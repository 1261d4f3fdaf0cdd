//! Points on meshes: the vertices as the file lists them, or samples spread evenly over the surface.

use super::random;
use crate::loader::{
    meshes::MeshSource,
    normals::{Fans, face_normal},
};
use crate::scene::{Shape, TriangleMesh, desc::Surface};
use glam::{DVec3, Vec3};
use rayon::prelude::*;

/// A point and the unit normal there, in the mesh's object space.
pub type SurfacePoint = (Vec3, Vec3);

/// Every `every`-th position of the mesh in file order, with normals weighted over the faces there.
pub fn vertices(mesh: &MeshSource, every: u32) -> Vec<SurfacePoint> {
    let normals = Fans::new(&mesh.points, &mesh.point_triangles).position_normals(mesh.points.len());
    let points = mesh.points.iter().zip(&normals).step_by(every.max(1) as usize);
    points.map(|(&p, &n)| (p.into(), n.into())).collect()
}

/// Points spread uniformly over the area, every `every`-th of `surface.count`.
pub fn on_surface(mesh: &MeshSource, surface: Surface, every: u32) -> Vec<SurfacePoint> {
    let indices = (0..surface.count).into_par_iter().step_by(every.max(1) as usize);
    let u = |i| random::unit3(surface.seed, 0, i);
    match &mesh.mesh.shape {
        Shape::Sphere => indices.map(u).map(|u| random::direction(u.x, u.y)).map(|d| (d, d)).collect(),
        Shape::Triangles(triangles) => {
            let areas = cumulative_areas(triangles);
            indices.map(|i| sample(triangles, &areas, u(i))).collect()
        }
    }
}

/// Sum of the areas up to and including each triangle.
fn cumulative_areas(mesh: &TriangleMesh) -> Vec<f64> {
    let area = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| DVec3::from(mesh.positions[v as usize].map(f64::from)));
        (b - a).cross(c - a).length() * 0.5
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

fn sample(mesh: &TriangleMesh, areas: &[f64], u: Vec3) -> SurfacePoint {
    let total = areas.last().copied().unwrap_or(0.0);
    let wanted = f64::from(u.x) * total;
    let index = areas.partition_point(|&a| a <= wanted).min(areas.len().saturating_sub(1));
    let corners = mesh.triangles[index].map(|v| mesh.positions[v as usize]);
    let [a, b, c] = corners.map(Vec3::from);
    // Square root warping: uniform over the triangle (Turk 1990).
    let s = u.y.sqrt();
    let point = a * (1.0 - s) + b * (s * (1.0 - u.z)) + c * (s * u.z);
    (point, face_normal(corners).as_vec3())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surface_points_are_uniform_over_the_area() {
        let cuboid = MeshSource::cuboid("box", 1.0, 0);
        let points = on_surface(&cuboid, Surface { count: 60_000, seed: 3 }, 1);
        for axis in [Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Z] {
            let share = points.iter().filter(|(_, n)| n.dot(axis) > 0.5).count();
            assert!((9_600..10_400).contains(&share), "{axis}: {share}");
        }
        assert!(points.iter().all(|(p, n)| (p.dot(*n) - 0.5).abs() < 1e-6));
    }

    #[test]
    fn vertices_keep_their_order_and_point_outwards() {
        let cuboid = MeshSource::cuboid("box", 1.0, 0);
        let all = vertices(&cuboid, 1);
        assert!(all.iter().all(|(p, n)| p.normalize().distance(*n) < 1e-5));
        assert_eq!(vertices(&cuboid, 3), [all[0], all[3], all[6]]);
    }

    #[test]
    fn points_on_a_sphere_are_on_it() {
        let sphere = MeshSource::sphere("ball", 0);
        let points = on_surface(&sphere, Surface { count: 100, seed: 0 }, 1);
        assert!(points.iter().all(|(p, n)| p == n && (p.length() - 1.0).abs() < 1e-5));
    }
}
