//! A bull for herds, modelled after the aurochs: tall withers and long horns. Units are metres.

mod body;
mod bones;
mod gait;
mod legs;
mod paint;

use crate::modelling::solid;
use crate::rigging::glb::{Animal, Life};
use crate::rigging::vertices::{Look, Skin, Vertices};
use crate::rigging::weights;
use body::Bull;
use bones::Bones;
use glam::Vec2;
use rayon::prelude::*;
use std::io;
use std::path::Path;

/// Models the bull and writes it.
pub fn write(path: &Path) -> io::Result<()> {
    const CELL: f32 = 0.014;
    const VERTICES: f32 = 3_600.0;
    let bull = Bull::new();
    let mesh = solid::mesh(&bull, CELL, VERTICES);
    let bones = Bones::new(&bull);
    let parts: Vec<u32> = mesh.points.par_iter().map(|&p| bones::part_at(&bull, p)).collect();
    let influences = weights::weights(&mesh, &bones.skeleton, &|vertex| parts[vertex]);
    let paint = paint::paint(&bull, &mesh);
    let look = |paint: [Vec2; 3]| paint.map(|paint| Look { tiling: paint, paint });
    let looks: Vec<[Look; 3]> = paint.into_iter().map(look).collect();
    let normals = solid::normals(&bull, &mesh);
    let skin = Skin { mesh: &mesh, normals: &normals, influences: &influences, targets: &[] };
    let vertices = Vertices::split(&skin, &looks);
    let clips = [gait::GALLOP, gait::WALK].map(|gait| gait.clip(&bones));
    let life = Life::Bones { skeleton: &bones.skeleton, clips: &clips };
    let animal = Animal { name: "bull", vertices: &vertices, atlas: &paint::ATLAS, roughness: 0.8, life };
    std::fs::write(path, animal.to_glb())
}
