//! Meshes with one index per vertex for all attributes, as in PLY and STL files: smoothing of faces, and conversion to a scene's mesh.

use super::{
    normals::{face_normal, unit},
    polygons::{self, is_finite},
    split::{self, OfFaces},
    subdivision::{self, Attribute, Cage, FaceVarying, Polygons, Spread},
};
use crate::{
    LoadError, budget,
    cages::{self, MeshCage},
    files,
    materials::Materials,
    meshes::{self, FileLocation, MeshOptions, MeshSource, ParsedMesh},
};
use glam::{DVec3, Vec3, Vec4};
use rayon::prelude::*;
use std::{ops::Range, path::Path};
use throng_scene::{
    Material, TriangleMesh, Wrap,
    desc::{Subdivision, SubdivisionScheme},
};

/// The content of a file. All indices are valid; texture coordinates and colours are finite.
#[derive(Debug, Default)]
pub struct Indexed {
    pub positions: Vec<[f32; 3]>,
    pub triangles: Vec<[u32; 3]>,
    /// Ranges of triangles that form the fan of one face with more than three corners.
    pub polygons: Vec<Range<u32>>,
    /// One per position, or empty. Normals without a direction count as missing.
    pub normals: Vec<[f32; 3]>,
    /// One per position, or empty.
    pub uvs: Vec<[f32; 2]>,
    /// Linear colour and alpha of each position, or empty.
    pub colors: Vec<[f32; 4]>,
    /// Linear colour and alpha of each triangle, or empty. Colours of positions take precedence.
    pub face_colors: Vec<[f32; 4]>,
    /// Location in the file of the first position that is not finite.
    pub first_not_finite: Option<FileLocation>,
    pub warnings: Vec<String>,
}

impl Indexed {
    /// Creates a mesh from the file at `path`. Corners without normals are smoothed. Faces with positions that are not finite are omitted.
    ///
    /// # Errors
    /// If no triangle has an area, or if memory does not suffice.
    pub fn finish(mut self, path: &Path, options: &MeshOptions) -> Result<Box<dyn ParsedMesh>, LoadError> {
        files::reserve(path, "its mesh", budget::of_mesh(self.positions.len(), self.triangles.len()))?;
        if let Some(subdivision) = options.subdivides() {
            return self.subdivided(path, (subdivision, options.scheme));
        }
        let left_out = self.mend();
        self.polygons = Vec::new();
        let all = self.triangles.len();
        let (points, point_triangles) = match options.points {
            true => (self.positions.clone(), self.triangles.clone()),
            false => (Vec::new(), Vec::new()),
        };
        self.drop_flat();
        if self.triangles.is_empty() {
            return Err(meshes::nothing_to_draw(path, self.first_not_finite, left_out));
        }
        if let (Some(first), 1..) = (self.first_not_finite, left_out) {
            let message = format!("this vertex is not finite: {left_out} faces with such vertices are left out");
            self.warnings.push(first.error(path, &message).to_string());
        }
        let dropped = all - self.triangles.len();
        if dropped > 0 {
            let message = format!("{}: {dropped} triangles without area are left out", path.display());
            self.warnings.push(message);
        }
        let lost = self.lost_normals();
        if lost > 0 {
            let message = format!(
                "{}: {lost} corners have normals without a direction, and get one of their faces",
                path.display()
            );
            self.warnings.push(message);
        }
        let warnings = std::mem::take(&mut self.warnings);
        let mesh = self.smooth(options.smooth_angle);
        Ok(Box::new(ParsedIndexed { mesh, points, point_triangles, warnings, cage: None }))
    }

    /// As [`Self::finish`] without smoothing: a mesh without normals is flat, and its vertices stay as they are in the file. Also returns
    /// warnings.
    ///
    /// # Errors
    /// As [`Self::finish`].
    pub fn unsmoothed(mut self, path: &Path) -> Result<(TriangleMesh, Vec<String>), LoadError> {
        files::reserve(path, "its mesh", budget::of_mesh(self.positions.len(), self.triangles.len()))?;
        let left_out = self.mend();
        self.drop_flat();
        if self.triangles.is_empty() {
            return Err(meshes::nothing_to_draw(path, self.first_not_finite, left_out));
        }
        let Self { positions, triangles, normals, uvs, colors, mut warnings, .. } = self;
        if left_out > 0 {
            warnings.push(format!("{}: {left_out} faces cannot be drawn and are left out", path.display()));
        }
        Ok((TriangleMesh { positions, triangles, normals, uvs, colors, ..TriangleMesh::default() }, warnings))
    }

    /// Refines the polygons.
    fn subdivided(
        self,
        path: &Path,
        (subdivision, scheme): (Subdivision, SubdivisionScheme),
    ) -> Result<Box<dyn ParsedMesh>, LoadError> {
        if let Some(first) = self.first_not_finite {
            let message = "this vertex is not finite, and its neighbours cannot be subdivided: export it again";
            return Err(first.error(path, message));
        }
        let faces = subdivision::Faces::for_scheme(scheme, &self.triangles, &self.polygons, |vertex: u32| vertex);
        let mut attributes = Vec::new();
        let mut add = |spread: Spread, values: Vec<Vec4>, face_varying: FaceVarying| {
            attributes.push(Attribute { spread, values, face_varying });
        };
        let corners = faces.corners.iter().map(|&vertex| vertex as usize);
        if !self.uvs.is_empty() {
            let uv = corners.clone().map(|vertex| Vec4::new(self.uvs[vertex][0], self.uvs[vertex][1], 0.0, 0.0));
            add(Spread::Uvs, uv.collect(), FaceVarying::None);
        }
        if !self.colors.is_empty() {
            add(Spread::Colors, corners.map(|vertex| Vec4::from(self.colors[vertex])).collect(), FaceVarying::None);
        } else if !self.face_colors.is_empty() {
            let of_face = |triangle: u32| self.face_colors.get(triangle as usize).copied().unwrap_or([1.0; 4]);
            let sizes = faces.triangles.iter().zip(&faces.sizes);
            let color =
                |(&triangle, &size): (&u32, &u32)| std::iter::repeat_n(Vec4::from(of_face(triangle)), size as usize);
            add(Spread::Colors, sizes.flat_map(color).collect(), FaceVarying::All);
        }
        let mut polygons = Polygons::of_faces(faces.sizes, faces.corners);
        polygons.scheme = scheme.into();
        let cage = Cage::new(self.positions, polygons, attributes);
        let (mesh, cage) = cages::of_file(path, cage, subdivision)?;
        let (points, point_triangles) = (Vec::new(), Vec::new());
        Ok(Box::new(ParsedIndexed { mesh, points, point_triangles, warnings: self.warnings, cage }))
    }

    /// Splits faces that are not valid fans, omits faces that cannot be drawn, and drops positions that are not finite. Returns the number
    /// of omitted faces.
    fn mend(&mut self) -> usize {
        if !self.face_colors.is_empty() {
            self.face_colors.resize(self.triangles.len(), [1.0; 4]);
        }
        let all_finite = self.first_not_finite.is_none();
        let position = |v: u32| self.positions[v as usize];
        let Some(mended) = polygons::mended(&self.triangles, &self.polygons, all_finite, position) else {
            return 0;
        };
        self.face_colors = mended.values(&self.face_colors);
        self.triangles = mended.triangles;
        if !all_finite {
            let kept: Vec<bool> = self.positions.iter().map(is_finite).collect();
            meshes::renumber(&kept, self.triangles.as_flattened_mut().iter_mut());
            meshes::retain(&mut self.positions, &kept);
            meshes::retain(&mut self.normals, &kept);
            meshes::retain(&mut self.uvs, &kept);
            meshes::retain(&mut self.colors, &kept);
        }
        mended.left_out
    }

    /// Drops triangles without area.
    fn drop_flat(&mut self) {
        let Self { positions, triangles, face_colors, .. } = self;
        let has_area = |t: &[u32; 3]| face_normal(t.map(|v| positions[v as usize])) != DVec3::ZERO;
        if !triangles.par_iter().all(has_area) {
            let kept: Vec<bool> = triangles.par_iter().map(has_area).collect();
            meshes::retain(triangles, &kept);
            meshes::retain(face_colors, &kept);
        }
    }

    fn lost_normals(&self) -> usize {
        let normal = |v: u32| self.normals.get(v as usize);
        let corners = self.triangles.as_flattened().par_iter();
        corners.filter(|&&v| normal(v).is_some_and(|&n| unit(n).is_none())).count()
    }

    fn smooth(self, smooth_angle: f32) -> TriangleMesh {
        let Self { positions, triangles, normals, uvs, colors, face_colors, .. } = self;
        let face_colors = if colors.is_empty() { face_colors } else { Vec::new() };
        let mesh = TriangleMesh { positions, triangles, normals, uvs, colors, ..TriangleMesh::default() };
        split::smooth(mesh, OfFaces { colors: &face_colors, normals: None }, smooth_angle)
    }
}

/// The mesh of a file.
struct ParsedIndexed {
    mesh: TriangleMesh,
    /// Positions of the file and triangles between them, if they are kept.
    points: Vec<[f32; 3]>,
    point_triangles: Vec<[u32; 3]>,
    warnings: Vec<String>,
    /// The cage of a subdivision surface whose level is chosen later.
    cage: Option<Box<MeshCage>>,
}

impl ParsedMesh for ParsedIndexed {
    fn bytes(&self) -> u64 {
        budget::of_mesh(self.mesh.positions.len(), self.mesh.triangles.len())
    }

    /// Vertices with colours get a white material, which shows them unchanged.
    fn into_source(
        self: Box<Self>,
        name: &str,
        replacement: Option<u32>,
        _wrap: Wrap,
        table: &mut Materials,
    ) -> Result<(MeshSource, Vec<String>), LoadError> {
        let Self { mesh, points, point_triangles, warnings, cage } = *self;
        let row = replacement.unwrap_or_else(|| {
            if mesh.colors.is_empty() {
                table.add("default", Material::default())
            } else {
                table.add("vertex colours", Material { color: Vec3::ONE, ..Material::default() })
            }
        });
        let source = MeshSource::of_triangles(name, mesh, vec![row], points, point_triangles);
        Ok((MeshSource { cage, ..source }, warnings))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two triangles that share an edge and are folded along it by 90 degrees.
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
        let [sharp, soft] = [60f32, 100.0].map(|angle| fold().smooth(angle.to_radians()));
        assert_eq!((sharp.positions.len(), soft.positions.len()), (6, 4));
        assert_eq!(sharp.normals[0], [0.0, 1.0, 0.0]);
        assert_eq!((sharp.colors.len(), sharp.colors[5]), (6, [0.3; 4]));
    }

    #[test]
    fn normals_of_the_file_are_kept_and_missing_ones_made() {
        let normals = vec![[0.0, 0.0, 2.0]; 4];
        let mesh = Indexed { normals: normals.clone(), ..fold() }.smooth(1.0);
        assert_eq!((mesh.positions.len(), mesh.normals[3]), (4, [0.0, 0.0, 1.0]));
        let mut file = Indexed { normals, ..fold() };
        file.normals[3] = [f32::NAN; 3];
        let mesh = file.smooth(1.0);
        assert_eq!((mesh.normals[0], mesh.normals[3]), ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0]));
    }

    #[test]
    fn faces_with_colours_part_their_vertices() {
        let face_colors = vec![[0.5, 0.0, 0.0, 1.0], [0.0, 0.5, 0.0, 1.0]];
        let soft = Indexed { face_colors: face_colors.clone(), ..fold() }.smooth(2.0);
        assert_eq!((soft.positions.len(), soft.colors[1]), (4, [0.1; 4]), "colours of positions count more");
        for normals in [Vec::new(), vec![[0.0, 1.0, 0.0]; 4]] {
            let file = Indexed { face_colors: face_colors.clone(), colors: Vec::new(), normals, ..fold() };
            let soft = file.smooth(2.0);
            assert_eq!((soft.positions.len(), &soft.triangles[..]), (6, &[[0, 1, 2], [3, 4, 5]][..]));
            assert_eq!([soft.colors[2], soft.colors[3]], [face_colors[0], face_colors[1]]);
        }
    }

    #[test]
    fn positions_that_are_not_finite_go_with_their_faces() {
        let mut file = fold();
        file.positions.insert(0, [f32::NAN; 3]);
        file.colors.insert(0, [9.0; 4]);
        file.triangles = vec![[1, 2, 3], [2, 1, 4], [0, 1, 2]];
        file.face_colors = vec![[0.0; 4]];
        file.first_not_finite = Some(FileLocation::Line(7));
        let parsed = file
            .finish(
                Path::new("a.ply"),
                &MeshOptions { smooth_angle: 1.0, subdivision: None, scheme: Default::default(), points: true },
            )
            .unwrap();
        let (source, warnings) = parsed.into_source("a", None, Wrap::Repeat, &mut Materials::default()).unwrap();
        assert_eq!(warnings, ["a.ply:7: this vertex is not finite: 1 faces with such vertices are left out"]);
        assert_eq!((source.points.len(), &source.point_triangles[..]), (4, &[[0, 1, 2], [1, 0, 3]][..]));
        let all = Indexed { triangles: vec![[0, 1, 1]], positions: vec![[f32::NAN; 3]; 2], ..Indexed::default() };
        let all = Indexed { first_not_finite: Some(FileLocation::Byte(90)), ..all };
        let e = all
            .finish(
                Path::new("a.ply"),
                &MeshOptions { smooth_angle: 1.0, subdivision: None, scheme: Default::default(), points: true },
            )
            .err()
            .unwrap();
        let told =
            "a.ply: at byte 90: no face can be drawn: 1 have vertices that are not finite; export the mesh again";
        assert_eq!(e.to_string(), told);
    }
}
