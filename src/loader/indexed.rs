//! Meshes whose vertices have all of their attributes at one index, as PLY and STL files have them: smooth shading where faces meet
//! softly, and what the scene makes of the file.

use super::{
    LoadError, budget, files,
    materials::Materials,
    meshes::{MeshOptions, MeshSource, ParsedMesh},
    normals::{Fans, face_normal},
};
use crate::scene::{Material, NONE, TriangleMesh, Wrap};
use glam::{DVec3, Vec3};
use rayon::prelude::*;
use std::path::Path;

/// Copies of a vertex that are searched for one with the same normal; beyond them a further copy costs less than the search.
const MOST_SEARCHED: usize = 64;

/// The content of a file. All indices are valid; positions, texture coordinates and colours are finite.
#[derive(Debug, Default)]
pub struct Indexed {
    pub positions: Vec<[f32; 3]>,
    pub triangles: Vec<[u32; 3]>,
    /// One per position, or empty. Those that have no direction count as missing.
    pub normals: Vec<[f32; 3]>,
    /// One per position, or empty.
    pub uvs: Vec<[f32; 2]>,
    /// Linear colour and alpha of each position, or empty.
    pub colors: Vec<[f32; 4]>,
    pub warnings: Vec<String>,
}

impl Indexed {
    /// Makes a mesh of the file at `path`; corners without normals are smoothed.
    ///
    /// # Errors
    /// When no triangle has an area, or there is too little memory.
    pub fn finish(mut self, path: &Path, options: &MeshOptions) -> Result<Box<dyn ParsedMesh>, LoadError> {
        files::reserve(path, "its mesh", budget::of_mesh(self.positions.len(), self.triangles.len()))?;
        let has_area = |t: &[u32; 3]| face_normal(t.map(|v| self.positions[v as usize])) != DVec3::ZERO;
        let kept: Vec<[u32; 3]> = self.triangles.par_iter().copied().filter(has_area).collect();
        if kept.is_empty() {
            return Err(LoadError::file(path, "there are no faces with an area in it: export a mesh with faces"));
        }
        let dropped = self.triangles.len() - kept.len();
        if dropped > 0 {
            let message = format!("{}: {dropped} triangles without area are left out", path.display());
            self.warnings.push(message);
        }
        let mesh = self.mesh(&kept, options.smooth_angle);
        Ok(Box::new(ParsedIndexed { file: self, mesh }))
    }

    fn mesh(&self, triangles: &[[u32; 3]], smooth_angle: f32) -> TriangleMesh {
        let own: Vec<Option<[f32; 3]>> = self.normals.par_iter().map(|&n| unit(n)).collect();
        let given = |v: u32| own.get(v as usize).copied().flatten();
        let complete = triangles.as_flattened().par_iter().all(|&v| given(v).is_some());
        let fans = (!complete).then(|| Fans::new(&self.positions, triangles));
        // Faces that are exactly coplanar stay together at 0 degrees in spite of rounding.
        let limit = f64::from(smooth_angle).cos() - 1e-9;
        let corner = |t: usize, v: u32| match (given(v), &fans) {
            (Some(normal), _) => normal,
            (None, Some(fans)) => fans.corner_normal(t as u32, v, limit),
            (None, None) => [0.0, 1.0, 0.0],
        };
        let numbered = triangles.par_iter().enumerate();
        let normals: Vec<[[f32; 3]; 3]> = numbered.map(|(t, corners)| corners.map(|v| corner(t, v))).collect();
        let mut out = Copies::of(self);
        for (corners, normals) in triangles.iter().zip(normals) {
            let corners = std::array::from_fn(|i| out.vertex(corners[i], normals[i]));
            out.mesh.triangles.push(corners);
        }
        out.mesh
    }
}

fn unit(n: [f32; 3]) -> Option<[f32; 3]> {
    let n = DVec3::from(n.map(f64::from)).try_normalize()?;
    Some(Vec3::to_array(&n.as_vec3()))
}

/// A mesh in which a vertex is there once for each of its normals.
struct Copies<'a> {
    file: &'a Indexed,
    mesh: TriangleMesh,
    /// The latest copy of each vertex of the file, or [`NONE`].
    latest: Vec<u32>,
    /// The copy before each, or [`NONE`].
    before: Vec<u32>,
}

impl<'a> Copies<'a> {
    fn of(file: &'a Indexed) -> Self {
        let latest = vec![NONE; file.positions.len()];
        Self { file, mesh: TriangleMesh::default(), latest, before: Vec::new() }
    }

    /// Index of vertex `v` of the file with this normal.
    fn vertex(&mut self, v: u32, normal: [f32; 3]) -> u32 {
        let (at, mesh) = (v as usize, &mut self.mesh);
        let mut copy = self.latest[at];
        for _ in 0..MOST_SEARCHED {
            match mesh.normals.get(copy as usize) {
                Some(n) if *n == normal => return copy,
                Some(_) => copy = self.before[copy as usize],
                None => break,
            }
        }
        mesh.positions.push(self.file.positions[at]);
        mesh.normals.push(normal);
        mesh.uvs.extend(self.file.uvs.get(at));
        mesh.colors.extend(self.file.colors.get(at));
        self.before.push(self.latest[at]);
        self.latest[at] = self.before.len() as u32 - 1;
        self.latest[at]
    }
}

/// A file and the mesh that was made of it.
struct ParsedIndexed {
    file: Indexed,
    mesh: TriangleMesh,
}

impl ParsedMesh for ParsedIndexed {
    fn bytes(&self) -> u64 {
        budget::of_mesh(self.mesh.positions.len(), self.mesh.triangles.len())
    }

    /// Vertices with colours get a white material, which shows them as they are.
    fn into_source(
        self: Box<Self>,
        name: &str,
        replacement: Option<u32>,
        _wrap: Wrap,
        table: &mut Materials,
    ) -> Result<(MeshSource, Vec<String>), LoadError> {
        let Self { file, mesh } = *self;
        let row = replacement.unwrap_or_else(|| match mesh.colors.is_empty() {
            true => table.add("default", Material::default()),
            false => table.add("vertex colours", Material { color: Vec3::ONE, ..Material::default() }),
        });
        let source = MeshSource::of_triangles(name, mesh, vec![row], file.positions, file.triangles);
        Ok((source, file.warnings))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two triangles that share an edge and fold along it by 90 degrees.
    fn fold() -> Indexed {
        Indexed {
            positions: vec![[0., 0., 0.], [0., 0., 1.], [1., 0., 0.], [0., 1., 0.]],
            triangles: vec![[0, 1, 2], [1, 0, 3]],
            colors: vec![[0.0, 0.0, 0.0, 1.0], [0.1; 4], [0.2; 4], [0.3; 4]],
            ..Indexed::default()
        }
    }

    #[test]
    fn a_sharp_edge_has_its_vertices_twice_and_a_soft_one_once() {
        let file = fold();
        let [sharp, soft] = [60f32, 100.0].map(|angle| file.mesh(&file.triangles, angle.to_radians()));
        assert_eq!((sharp.positions.len(), soft.positions.len()), (6, 4));
        assert_eq!(sharp.normals[0], [0.0, 1.0, 0.0]);
        assert_eq!((sharp.colors.len(), sharp.colors[5]), (6, [0.3; 4]));
    }

    #[test]
    fn normals_of_the_file_are_kept_and_missing_ones_made() {
        let mut file = fold();
        file.normals = vec![[0.0, 0.0, 2.0]; 4];
        let mesh = file.mesh(&file.triangles, 1.0);
        assert_eq!((mesh.positions.len(), mesh.normals[3]), (4, [0.0, 0.0, 1.0]));
        file.normals[3] = [f32::NAN; 3];
        let mesh = file.mesh(&file.triangles, 1.0);
        assert_eq!((mesh.normals[0], mesh.normals[3]), ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0]));
    }

    #[test]
    fn many_normals_at_one_vertex_need_no_long_search() {
        let file = Indexed { positions: vec![[0.0; 3]], ..Indexed::default() };
        let mut copies = Copies::of(&file);
        let count = 3 * MOST_SEARCHED as u32;
        let made: Vec<u32> = (0..count).map(|i| copies.vertex(0, [i as f32, 0.0, 0.0])).collect();
        assert!(made.iter().copied().eq(0..count));
        assert_eq!(copies.vertex(0, [count as f32 - 1.0, 0.0, 0.0]), count - 1);
        assert_eq!(copies.vertex(0, [0.0; 3]), count);
    }
}
