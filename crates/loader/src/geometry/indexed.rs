//! Meshes with one index per vertex for all attributes, as in PLY and STL files: smoothing of faces, and conversion to a scene's mesh.

use super::{
    normals::{Fans, face_normal, unit},
    polygons::{self, is_finite},
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
use std::{borrow::Cow, ops::Range, path::Path};
use throng_scene::{
    Material, NONE, TriangleMesh, Wrap,
    desc::{Subdivision, SubdivisionScheme},
};

/// Maximum number of copies of a vertex that are searched for one with an equal normal. Beyond it, another copy is cheaper than the search.
const MOST_SEARCHED: usize = 64;

/// Number of faces whose corner normals are computed at a time. The normals of all corners take three times the memory of the triangles.
const TOGETHER: usize = 1 << 16;

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

/// The faces that are drawn: their corners, and their colours if faces have colours.
#[derive(Debug, Default)]
struct Faces<'a> {
    /// All triangles of the file, if each has an area.
    corners: Cow<'a, [[u32; 3]]>,
    colors: Vec<[f32; 4]>,
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
        let (faces, mut warnings) = (self.faces(), Vec::new());
        if faces.corners.is_empty() {
            return Err(meshes::nothing_to_draw(path, self.first_not_finite, left_out));
        }
        if let (Some(first), 1..) = (self.first_not_finite, left_out) {
            let message = format!("this vertex is not finite: {left_out} faces with such vertices are left out");
            warnings.push(first.error(path, &message).to_string());
        }
        let dropped = self.triangles.len() - faces.corners.len();
        if dropped > 0 {
            let message = format!("{}: {dropped} triangles without area are left out", path.display());
            warnings.push(message);
        }
        let lost = self.lost_normals(&faces);
        if lost > 0 {
            let message = format!(
                "{}: {lost} corners have normals without a direction, and get one of their faces",
                path.display()
            );
            warnings.push(message);
        }
        let mesh = self.mesh(&faces, options.smooth_angle);
        self.warnings.append(&mut warnings);
        Ok(Box::new(ParsedIndexed { file: self, mesh, cage: None }))
    }

    /// Refines the polygons.
    fn subdivided(
        mut self,
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
        let cage = Cage::new(self.positions.clone(), polygons, attributes);
        let (mesh, cage) = cages::of_file(path, cage, subdivision)?;
        (self.positions, self.triangles) = (Vec::new(), Vec::new());
        Ok(Box::new(ParsedIndexed { file: self, mesh, cage }))
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

    /// The triangles that have an area.
    fn faces(&self) -> Faces<'_> {
        let has_area = |t: &[u32; 3]| face_normal(t.map(|v| self.positions[v as usize])) != DVec3::ZERO;
        let are_colored = !self.face_colors.is_empty() && self.colors.is_empty();
        if !are_colored && self.triangles.par_iter().all(has_area) {
            return Faces { corners: Cow::Borrowed(&self.triangles), colors: Vec::new() };
        }
        if !are_colored {
            let corners = self.triangles.par_iter().copied().filter(has_area).collect();
            return Faces { corners: Cow::Owned(corners), colors: Vec::new() };
        }
        let colored = self.triangles.par_iter().copied().zip(self.face_colors.par_iter().copied());
        let (corners, colors): (Vec<_>, Vec<_>) = colored.filter(|(corners, _)| has_area(corners)).unzip();
        Faces { corners: Cow::Owned(corners), colors }
    }

    fn lost_normals(&self, faces: &Faces) -> usize {
        let normal = |v: u32| self.normals.get(v as usize);
        let corners = faces.corners.as_flattened().par_iter();
        corners.filter(|&&v| normal(v).is_some_and(|&n| unit(n).is_none())).count()
    }

    fn mesh(&self, faces: &Faces, smooth_angle: f32) -> TriangleMesh {
        let triangles = &faces.corners[..];
        let own: Vec<Option<[f32; 3]>> = self.normals.par_iter().map(|&n| unit(n)).collect();
        let given = |v: u32| own.get(v as usize).copied().flatten();
        let complete = triangles.as_flattened().par_iter().all(|&v| given(v).is_some());
        let fans = (!complete).then(|| Fans::new(&self.positions, triangles));
        // The margin keeps exactly coplanar faces smooth at 0 degrees despite rounding.
        let limit = f64::from(smooth_angle).cos() - 1e-9;
        let corner = |t: usize, v: u32| match (given(v), &fans) {
            (Some(normal), _) => normal,
            (None, Some(fans)) => fans.corner_normal(t as u32, v, limit),
            (None, None) => [0.0, 1.0, 0.0],
        };
        let mut out = Copies::of(self);
        out.mesh.triangles.reserve_exact(triangles.len());
        for (some, first) in triangles.chunks(TOGETHER).zip((0..).step_by(TOGETHER)) {
            let numbered = some.par_iter().enumerate();
            let normals: Vec<_> = numbered.map(|(t, corners)| corners.map(|v| corner(first + t, v))).collect();
            for (face, (corners, normals)) in (first..).zip(some.iter().zip(normals)) {
                let color = faces.colors.get(face).copied();
                let corners = std::array::from_fn(|i| out.vertex(corners[i], normals[i], color));
                out.mesh.triangles.push(corners);
            }
        }
        out.mesh
    }
}

/// A mesh with one copy of each vertex for each of its normals, and for each of its faces' colours.
struct Copies<'a> {
    file: &'a Indexed,
    mesh: TriangleMesh,
    /// The latest copy of each vertex of the file, or [`NONE`].
    latest: Vec<u32>,
    /// The previous copy of each copy, or [`NONE`].
    before: Vec<u32>,
}

impl<'a> Copies<'a> {
    fn of(file: &'a Indexed) -> Self {
        let latest = vec![NONE; file.positions.len()];
        Self { file, mesh: TriangleMesh::default(), latest, before: Vec::new() }
    }

    /// Index of the copy of the file's vertex `v` with this normal, and with this colour if faces have colours.
    fn vertex(&mut self, v: u32, normal: [f32; 3], color: Option<[f32; 4]>) -> u32 {
        let (at, mesh) = (v as usize, &mut self.mesh);
        let mut copy = self.latest[at];
        for _ in 0..MOST_SEARCHED {
            match mesh.normals.get(copy as usize) {
                Some(n) if *n == normal && color.is_none_or(|color| mesh.colors[copy as usize] == color) => {
                    return copy;
                }
                Some(_) => copy = self.before[copy as usize],
                None => break,
            }
        }
        mesh.positions.push(self.file.positions[at]);
        mesh.normals.push(normal);
        mesh.uvs.extend(self.file.uvs.get(at));
        mesh.colors.extend(color.as_ref().or(self.file.colors.get(at)));
        self.before.push(self.latest[at]);
        self.latest[at] = self.before.len() as u32 - 1;
        self.latest[at]
    }
}

/// A file and the mesh created from it.
struct ParsedIndexed {
    file: Indexed,
    mesh: TriangleMesh,
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
        let Self { file, mesh, cage } = *self;
        let row = replacement.unwrap_or_else(|| {
            if mesh.colors.is_empty() {
                table.add("default", Material::default())
            } else {
                table.add("vertex colours", Material { color: Vec3::ONE, ..Material::default() })
            }
        });
        let source = MeshSource::of_triangles(name, mesh, vec![row], file.positions, file.triangles);
        Ok((MeshSource { cage, ..source }, file.warnings))
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
        let file = fold();
        let [sharp, soft] = [60f32, 100.0].map(|angle| file.mesh(&file.faces(), angle.to_radians()));
        assert_eq!((sharp.positions.len(), soft.positions.len()), (6, 4));
        assert_eq!(sharp.normals[0], [0.0, 1.0, 0.0]);
        assert_eq!((sharp.colors.len(), sharp.colors[5]), (6, [0.3; 4]));
    }

    #[test]
    fn normals_of_the_file_are_kept_and_missing_ones_made() {
        let mut file = fold();
        file.normals = vec![[0.0, 0.0, 2.0]; 4];
        let mesh = file.mesh(&file.faces(), 1.0);
        assert_eq!((mesh.positions.len(), mesh.normals[3]), (4, [0.0, 0.0, 1.0]));
        file.normals[3] = [f32::NAN; 3];
        let mesh = file.mesh(&file.faces(), 1.0);
        assert_eq!((mesh.normals[0], mesh.normals[3]), ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0]));
    }

    #[test]
    fn faces_with_colours_part_their_vertices() {
        let mut file = fold();
        file.face_colors = vec![[0.5, 0.0, 0.0, 1.0], [0.0, 0.5, 0.0, 1.0]];
        let soft = file.mesh(&file.faces(), 2.0);
        assert_eq!((soft.positions.len(), soft.colors[1]), (4, [0.1; 4]), "colours of positions count more");
        file.colors.clear();
        let soft = file.mesh(&file.faces(), 2.0);
        assert_eq!((soft.positions.len(), &soft.triangles[..]), (6, &[[0, 1, 2], [3, 4, 5]][..]));
        assert_eq!([soft.colors[2], soft.colors[3]], [file.face_colors[0], file.face_colors[1]]);
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
                &MeshOptions { smooth_angle: 1.0, subdivision: None, scheme: Default::default() },
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
                &MeshOptions { smooth_angle: 1.0, subdivision: None, scheme: Default::default() },
            )
            .err()
            .unwrap();
        let told =
            "a.ply: at byte 90: no face can be drawn: 1 have vertices that are not finite; export the mesh again";
        assert_eq!(e.to_string(), told);
    }

    #[test]
    fn many_normals_at_one_vertex_need_no_long_search() {
        let file = Indexed { positions: vec![[0.0; 3]], ..Indexed::default() };
        let mut copies = Copies::of(&file);
        let count = 3 * MOST_SEARCHED as u32;
        let made: Vec<u32> = (0..count).map(|i| copies.vertex(0, [i as f32, 0.0, 0.0], None)).collect();
        assert!(made.iter().copied().eq(0..count));
        assert_eq!(copies.vertex(0, [count as f32 - 1.0, 0.0, 0.0], None), count - 1);
        assert_eq!(copies.vertex(0, [0.0; 3], None), count);
    }
}
