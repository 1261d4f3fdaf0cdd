//! Models a dragon and writes it as `dragon.obj`.
//!
//! ```text
//! cargo run --release --example make_dragon [folder]
//! ```
//!
//! The animal is described by a signed distance (`dragon`), meshed finely (`mesher`), remeshed to
//! evenly spread vertices (`remesh`) and mapped for a tiling texture (`texcoords`). The same
//! program writes the same bytes every time. The folder is `assets` unless it is given.

mod dragon;
mod head;
mod limbs;
mod mesher;
mod obj;
mod quadric;
mod remesh;
mod sdf;
mod spine;
mod texcoords;
mod wing;

use dragon::Dragon;
use glam::Vec3;
use mesher::Mesh;
use rayon::prelude::*;
use std::path::PathBuf;
use std::process::ExitCode;

/// Grid cell of the first, fine mesh.
const CELL: f32 = 0.035;
/// About how many vertices the finished mesh has.
const VERTICES: f32 = 15_200.0;

fn main() -> ExitCode {
    let folder = std::env::args_os().nth(1).map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/assets")),
        PathBuf::from,
    );
    let path = folder.join("dragon.obj");
    let dragon = Dragon::new();
    let fine = mesher::mesh(&|p| dragon.distance(p), dragon.bounds(), CELL);
    let mut mesh = remesh::remesh(&fine, &Skin(&dragon), VERTICES);
    let normals = normals(&dragon, &mesh);
    let coords = texcoords::map(&dragon, &mesh);
    stand_at_origin(&mut mesh);
    if let Err(error) = obj::write(&path, &mesh, &normals, &coords) {
        eprintln!("cannot write {}: {error}", path.display());
        return ExitCode::FAILURE;
    }
    println!(
        "{}: {} vertices, {} triangles",
        path.display(),
        mesh.points.len(),
        mesh.triangles.len()
    );
    ExitCode::SUCCESS
}

/// The dragon's skin, as the remesher wants to know it.
struct Skin<'a>(&'a Dragon);

impl remesh::Surface for Skin<'_> {
    fn shortest_edge(&self) -> f32 {
        dragon::SHORTEST_EDGE
    }

    fn edge_length(&self, p: Vec3) -> f32 {
        self.0.edge_length(p)
    }

    fn project(&self, p: Vec3) -> Vec3 {
        const NEWTON_STEPS: usize = 2;
        const STEP: f32 = 0.006;
        const LEAST_SLOPE: f32 = 0.5;
        (0..NEWTON_STEPS).fold(p, |p, _| {
            let slope = self.0.gradient(p, STEP);
            let slope2 = slope.length_squared().max(LEAST_SLOPE * LEAST_SLOPE);
            p - slope * (self.0.distance(p) / slope2)
        })
    }
}

/// Normals of the vertices: the direction of the distance field, which knows detail finer than
/// the mesh, averaged with that of the triangles, which keeps sharp rims and tips in order.
fn normals(dragon: &Dragon, mesh: &Mesh) -> Vec<Vec3> {
    const STEP: f32 = 0.02;
    let mut faces = vec![Vec3::ZERO; mesh.points.len()];
    for corners in &mesh.triangles {
        let points = corners.map(|corner| mesh.points[corner as usize]);
        let normal = (points[1] - points[0])
            .cross(points[2] - points[0])
            .normalize_or_zero();
        for i in 0..3 {
            let [here, next, last] = [0, 1, 2].map(|step| points[(i + step) % 3]);
            let angle = (next - here).angle_between(last - here);
            faces[corners[i] as usize] += normal * angle;
        }
    }
    mesh.points
        .par_iter()
        .zip(&faces)
        .map(|(&p, face)| {
            let face = face.normalize_or(Vec3::Y);
            let field = dragon.gradient(p, STEP).normalize_or(face);
            (field + face).normalize_or(face)
        })
        .collect()
}

/// Moves the mesh so that it stands on y = 0, centred over the origin.
fn stand_at_origin(mesh: &mut Mesh) {
    let low = mesh.points.iter().copied().fold(Vec3::INFINITY, Vec3::min);
    let high = mesh
        .points
        .iter()
        .copied()
        .fold(Vec3::NEG_INFINITY, Vec3::max);
    let middle = (low + high) * 0.5;
    let offset = Vec3::new(middle.x, low.y, middle.z);
    for point in &mut mesh.points {
        *point -= offset;
    }
}
