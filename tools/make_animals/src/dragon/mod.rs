//! The dragon, in three versions: a statue, a flying one and a sleeping one.

mod body;
mod bones;
mod breath;
mod flight;
mod head;
mod limbs;
mod obj;
mod paint;
mod roar;
mod stance;
mod texcoords;
mod wing;

use crate::modelling::mesher::Mesh;
use crate::modelling::solid;
use crate::rigging::glb::{Animal, Life};
use crate::rigging::vertices::{Look, Skin, Vertices};
use crate::rigging::weights;
use body::Dragon;
use bones::Bones;
use glam::Vec3;
use rayon::prelude::*;
use std::io;
use std::path::Path;

/// Writes the statue.
pub fn write_statue(path: &Path) -> io::Result<()> {
    /// Grid cell of the first, fine mesh.
    const CELL: f32 = 0.035;
    /// Approximate number of vertices of the finished mesh.
    const VERTICES: f32 = 15_200.0;
    let dragon = Dragon::new(stance::standing());
    let mut mesh = solid::mesh(&dragon, CELL, VERTICES);
    let normals = solid::normals(&dragon, &mesh);
    let coords = texcoords::map(&dragon, &mesh);
    stand_at_origin(&mut mesh);
    obj::write(path, &mesh, &normals, &coords)
}

/// Writes the flying dragon, with its skeleton and clips.
pub fn write_flapping(path: &Path) -> io::Result<()> {
    const CELL: f32 = 0.08;
    const VERTICES: f32 = 3_000.0;
    let dragon = Dragon::new(stance::spread());
    let mesh = solid::mesh(&dragon, CELL, VERTICES);
    let bones = Bones::new(&dragon);
    let parts: Vec<u32> = mesh.points.par_iter().map(|&p| bones::part_at(&dragon, p)).collect();
    let influences = weights::weights(&mesh, &bones.skeleton, &|vertex| parts[vertex]);
    let vertices = Vertices::split(
        &Skin { mesh: &mesh, normals: &solid::normals(&dragon, &mesh), influences: &influences, targets: &[] },
        &looks(&dragon, &mesh),
    );
    let clips = [flight::fly(&bones), flight::glide(&bones), roar::roar(&bones)];
    let life = Life::Bones { skeleton: &bones.skeleton, clips: &clips };
    let animal = Animal { name: "dragon", vertices: &vertices, atlas: &paint::ATLAS, roughness: 0.6, life };
    std::fs::write(path, animal.to_glb())
}

/// Writes the sleeping dragon, with its morph targets.
pub fn write_breathing(path: &Path) -> io::Result<()> {
    const CELL: f32 = 0.06;
    const VERTICES: f32 = 4_600.0;
    let dragon = Dragon::new(stance::asleep());
    let mesh = solid::mesh(&dragon, CELL, VERTICES);
    let normals = solid::normals(&dragon, &mesh);
    let targets = breath::targets(&dragon, &mesh, &normals);
    let skin = Skin { mesh: &mesh, normals: &normals, influences: &[], targets: &targets };
    let vertices = Vertices::split(&skin, &looks(&dragon, &mesh));
    let life = Life::Targets { clips: &[breath::breathe()] };
    let animal = Animal { name: "dragon", vertices: &vertices, atlas: &paint::ATLAS, roughness: 0.6, life };
    std::fs::write(path, animal.to_glb())
}

fn looks(dragon: &Dragon, mesh: &Mesh) -> Vec<[Look; 3]> {
    let coords = texcoords::map(dragon, mesh);
    let tiling = coords.triangles.iter().map(|corners| corners.map(|corner| coords.coords[corner as usize]));
    let paint = paint::paint(dragon, mesh);
    let both = tiling.zip(paint);
    both.map(|(tiling, paint)| [0, 1, 2].map(|k| Look { tiling: tiling[k], paint: paint[k] })).collect()
}

/// Moves the mesh to stand on y = 0, centred on the origin.
fn stand_at_origin(mesh: &mut Mesh) {
    let points = || mesh.points.iter().copied();
    let low = points().fold(Vec3::INFINITY, Vec3::min);
    let high = points().fold(Vec3::NEG_INFINITY, Vec3::max);
    let middle = (low + high) * 0.5;
    let offset = Vec3::new(middle.x, low.y, middle.z);
    for point in &mut mesh.points {
        *point -= offset;
    }
}
