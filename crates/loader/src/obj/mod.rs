//! Wavefront OBJ. `scan` reads lists and triangles in file order, `mesh` converts them to a renderable mesh, and `materials` and `mtl` read
//! the materials of its MTL files.

mod cage;
mod colors;
mod lines;
mod lookup;
mod materials;
pub mod mesh;
mod mtl;
pub mod polylines;
mod scan;
#[cfg(test)]
mod tests;
mod texture;

use super::{
    LoadError, budget,
    cages::MeshCage,
    files,
    folders::Folders,
    geometry::{
        distinct::Distinct,
        normals::unit,
        polygons::{self, is_finite},
    },
    materials::Materials,
    meshes::{self, FileLocation, MeshFormat, MeshOptions, MeshSource, ParsedMesh},
};
use lookup::Lookup;
use materials::MtlMaterials;
use std::{
    ops::Range,
    path::{Path, PathBuf},
};
use throng_scene::{NONE, Wrap};

/// One corner of a face: indices into [`ObjData`]'s lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corner {
    /// Index of the first position with identical bits.
    pub v: u32,
    /// [`NONE`] if the whole file has no UVs; a zero UV if only this corner has none.
    pub vt: u32,
    /// [`NONE`] if the whole file has no normals; a zero normal if only this corner has none.
    pub vn: u32,
}

/// The content of an OBJ file. All indices are valid, and all used positions, texture coordinates and colours are finite.
#[derive(Debug, Default)]
pub struct ObjData {
    pub path: PathBuf,
    /// All `v` lines in file order, except positions that are not finite.
    pub positions: Vec<[f32; 3]>,
    /// Linear colour and alpha of each position, or empty.
    pub colors: Vec<[f32; 4]>,
    /// The file's UVs. If there are any, a zero follows at the end.
    pub uvs: Vec<[f32; 2]>,
    /// The file's normals. If there are any, a zero follows at the end.
    pub normals: Vec<[f32; 3]>,
    /// The triangles of the file's faces, in file order.
    pub triangles: Vec<[Corner; 3]>,
    /// Ranges of triangles that form the fan of a face with more than three corners.
    polygons: Vec<Range<u32>>,
    /// Index into `materials` of each triangle, or [`NONE`].
    pub triangle_materials: Vec<u32>,
    /// Names after `usemtl`, each once, in order of first use.
    pub materials: Vec<String>,
    /// Files after `mtllib`, as written, with their line numbers.
    pub libraries: Vec<(usize, String)>,
    /// Number of omitted elements: `p`, `l`, and faces with fewer than 3 corners.
    pub ignored: usize,
    /// Number of faces that were omitted because a corner is not finite.
    pub not_finite: usize,
    /// Lines of the first position and texture coordinate that are not finite, and of the first normal without a direction.
    first_faulty: [Option<usize>; 3],
    /// Warnings about omitted or replaced data.
    pub warnings: Vec<String>,
}

impl ObjData {
    /// Merges positions with identical bits and colours. If some corners have a UV or normal, the others get zeros.
    fn complete(&mut self) {
        let mut distinct = Distinct::with_capacity(self.positions.len());
        let known = |i: u32| {
            let [x, y, z] = self.positions[i as usize].map(f32::to_bits);
            let [r, g, b, a] = self.colors.get(i as usize).map_or([0; 4], |c| c.map(f32::to_bits));
            [x, y, z, r, g, b, a]
        };
        let first: Vec<u32> = (0..self.positions.len() as u32).map(|i| distinct.index(known(i), i, known)).collect();
        let counts = [self.uvs.len(), self.normals.len()];
        let zero_uv = zero_at_the_end(&mut self.uvs);
        let zero_normal = zero_at_the_end(&mut self.normals);
        for corner in self.triangles.as_flattened_mut() {
            corner.v = first[corner.v as usize];
            corner.vt = if (corner.vt as usize) < counts[0] { corner.vt } else { zero_uv };
            corner.vn = if (corner.vn as usize) < counts[1] { corner.vn } else { zero_normal };
        }
        self.replace_uvs(zero_uv);
        self.count_lost_normals();
        self.drop_positions();
    }

    /// Splits faces that are not valid fans, and omits faces that cannot be drawn.
    fn mend_faces(&mut self) {
        let polygons = std::mem::take(&mut self.polygons);
        let all_finite = self.first_faulty[0].is_none();
        let position = |c: Corner| self.positions[c.v as usize];
        let Some(mended) = polygons::mended(&self.triangles, &polygons, all_finite, position) else {
            return;
        };
        self.triangle_materials = mended.values(&self.triangle_materials);
        self.triangles = mended.triangles;
        self.not_finite = mended.left_out;
        let count = mended.left_out;
        self.warn(0, count, |count| {
            format!("this vertex is not finite: {count} faces with such vertices are left out")
        });
    }

    /// Replaces UVs that are not finite by zero.
    fn replace_uvs(&mut self, zero: u32) {
        let finite: Vec<bool> = match self.first_faulty[1] {
            Some(_) => self.uvs.iter().map(|uv| uv.iter().all(|x| x.is_finite())).collect(),
            None => return,
        };
        let corners = self.triangles.as_flattened_mut().iter_mut();
        let faulty = corners.filter(|c| !finite[c.vt as usize]).map(|c| c.vt = zero).count();
        self.warn(1, faulty, |n| format!("this texture coordinate is not finite: {n} corners with such ones get 0,0"));
    }

    fn count_lost_normals(&mut self) {
        if self.first_faulty[2].is_some() {
            let lost: Vec<bool> = self.normals.iter().map(|&n| unit(n).is_none()).collect();
            let corners = self.triangles.as_flattened().iter();
            // The last normal represents missing ones.
            let count = corners.filter(|c| c.vn as usize + 1 < lost.len() && lost[c.vn as usize]).count();
            self.warn(2, count, |n| {
                format!("this normal has no direction: {n} corners with such ones get one of their faces")
            });
        }
    }

    /// Drops positions that are not finite. They are no longer used by faces.
    fn drop_positions(&mut self) {
        if self.first_faulty[0].is_some() {
            let kept: Vec<bool> = self.positions.iter().map(is_finite).collect();
            let corners = self.triangles.as_flattened_mut().iter_mut();
            meshes::renumber(&kept, corners.map(|c| &mut c.v));
            meshes::retain(&mut self.positions, &kept);
            meshes::retain(&mut self.colors, &kept);
        }
    }

    /// Adds a warning about `count` uses of faulty entries of a list, with the line of the first one. Does nothing if `count` is 0.
    fn warn(&mut self, list: usize, count: usize, message: impl Fn(usize) -> String) {
        if let (Some(line), 1..) = (self.first_faulty[list], count) {
            let path = self.path.display();
            self.warnings.push(format!("{path}:{line}: {}", message(count)));
        }
    }
}

/// Adds a zero to the list and returns its index; [`NONE`] if the list is empty.
fn zero_at_the_end<const N: usize>(list: &mut Vec<[f32; N]>) -> u32 {
    if list.is_empty() {
        return NONE;
    }
    list.push([0.0; N]);
    list.len() as u32 - 1
}

/// The format of `.obj` files.
pub struct Obj;

impl MeshFormat for Obj {
    fn extension(&self) -> &'static str {
        "obj"
    }

    fn has_polygons(&self) -> bool {
        true
    }

    /// Missing MTL files or pictures only cause warnings.
    fn parse(&self, path: &Path, options: &MeshOptions, allow: &[PathBuf]) -> Result<Box<dyn ParsedMesh>, LoadError> {
        let file = files::pieces(path)?;
        let (mut points, mut point_triangles) = (Vec::new(), Vec::new());
        let (mut data, is_colored, built, cage) = match options.subdivides() {
            None => {
                let mut data = scan::scan(path, file)?;
                if options.points {
                    (points, point_triangles) = (data.positions.clone(), mesh::position_triangles(&data));
                }
                let is_colored = !data.colors.is_empty();
                let built = mesh::build(&mut data, options.smooth_angle);
                (data, is_colored, built, None)
            }
            Some(subdivision) => {
                let mut data = scan::scan_polygons(path, file)?;
                if let Some(line) = data.first_faulty[0] {
                    let message = "this vertex is not finite, and its neighbours cannot be subdivided: export it again";
                    return Err(LoadError::line(path, line, message));
                }
                data.complete();
                let (built, cage) = cage::subdivided(&mut data, (subdivision, options.scheme))?;
                let is_colored = !data.colors.is_empty();
                (data, is_colored, built, cage)
            }
        };
        if built.mesh.triangles.is_empty() {
            return Err(meshes::nothing_to_draw(path, data.first_faulty[0].map(FileLocation::Line), data.not_finite));
        }
        let mut warnings = std::mem::take(&mut data.warnings);
        let mut warn = |n: usize, what: &str| {
            if n > 0 {
                warnings.push(format!("{}: {n} {what}", path.display()));
            }
        };
        warn(data.ignored, "points, lines or faces with fewer than 3 corners are ignored");
        warn(built.dropped, "triangles without area are left out");
        let materials = MtlMaterials::read(&data, Lookup::new(Folders::of(path, allow)), &mut warnings);
        let names = data.materials;
        Ok(Box::new(ParsedObj { names, is_colored, points, point_triangles, built, cage, materials, warnings }))
    }
}

/// An OBJ file with its MTL files.
struct ParsedObj {
    /// Names after `usemtl`.
    names: Vec<String>,
    /// Whether vertices have colours.
    is_colored: bool,
    /// Positions of the file and triangles between them, if they are kept.
    points: Vec<[f32; 3]>,
    point_triangles: Vec<[u32; 3]>,
    built: mesh::ObjMesh,
    /// The cage of a subdivision surface whose level is chosen later.
    cage: Option<Box<MeshCage>>,
    materials: MtlMaterials,
    warnings: Vec<String>,
}

impl ParsedMesh for ParsedObj {
    fn bytes(&self) -> u64 {
        let mesh = &self.built.mesh;
        budget::of_mesh(mesh.positions.len(), mesh.triangles.len())
    }

    fn into_source(
        mut self: Box<Self>,
        name: &str,
        replacement: Option<u32>,
        wrap: Wrap,
        table: &mut Materials,
    ) -> Result<(MeshSource, Vec<String>), LoadError> {
        let mut rows = Vec::with_capacity(self.built.slot_materials.len());
        for &slot in &self.built.slot_materials {
            rows.push(match replacement {
                Some(row) => row,
                None => {
                    let material = self.names.get(slot as usize);
                    self.materials.enter(material, self.is_colored, wrap, table, &mut self.warnings)
                }
            });
        }
        let source = MeshSource::of_triangles(name, self.built.mesh, rows, self.points, self.point_triangles);
        Ok((MeshSource { cage: self.cage, ..source }, self.warnings))
    }
}
