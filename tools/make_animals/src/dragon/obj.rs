//! Writing of Wavefront OBJ files with a fixed number of decimals.

use super::texcoords::TexCoords;
use crate::modelling::mesher::Mesh;
use glam::Vec3;
use std::io::{self, Write};
use std::path::Path;

/// Writes a mesh with one normal per vertex.
pub fn write(path: &Path, mesh: &Mesh, normals: &[Vec3], coords: &TexCoords) -> io::Result<()> {
    let mut text = Vec::new();
    writeln!(text, "# A dragon. Made by examples/make_animals.")?;
    writeln!(text, "o dragon")?;
    for p in &mesh.points {
        let [x, y, z] = p.to_array().map(Fixed::<4>);
        writeln!(text, "v {x} {y} {z}")?;
    }
    for uv in &coords.coords {
        let [u, v] = uv.to_array().map(Fixed::<4>);
        writeln!(text, "vt {u} {v}")?;
    }
    for n in normals {
        let [x, y, z] = n.to_array().map(Fixed::<3>);
        writeln!(text, "vn {x} {y} {z}")?;
    }
    writeln!(text, "s 1")?;
    for (corners, coords) in mesh.triangles.iter().zip(&coords.triangles) {
        write!(text, "f")?;
        for (corner, coord) in corners.iter().zip(coords) {
            write!(text, " {0}/{1}/{0}", corner + 1, coord + 1)?;
        }
        writeln!(text)?;
    }
    std::fs::write(path, text)
}

/// A number with a fixed count of decimals and no negative zero.
struct Fixed<const DECIMALS: usize>(f32);

impl<const DECIMALS: usize> std::fmt::Display for Fixed<DECIMALS> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let unit = 10f32.powi(DECIMALS as i32);
        let rounded = (self.0 * unit).round() / unit + 0.0;
        write!(f, "{rounded:.DECIMALS$}")
    }
}
