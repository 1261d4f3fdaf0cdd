//! Meshes on their way into a scene, and the formats of files that hold one.

use super::{LoadError, materials::Materials, model::MeshMotion, obj::Obj, ply::Ply, shapes, stl::Stl};
use crate::scene::{Mesh, Shape, TriangleMesh, Wrap};
use std::path::{Path, PathBuf};

/// A mesh, the materials of its slots, and the points that copies can be scattered on.
pub struct MeshSource {
    pub mesh: Mesh,
    /// Material row of each slot.
    pub materials: Vec<u32>,
    /// Positions as the file has them, unsplit, if they are not those of the mesh (see [`Self::points`]).
    pub points: Vec<[f32; 3]>,
    /// Triangles between `points`, if they are not those of the mesh.
    pub point_triangles: Vec<[u32; 3]>,
    pub motion: MeshMotion,
}

impl MeshSource {
    /// The unit sphere.
    pub fn sphere(name: &str, material: u32) -> Self {
        let mesh = Mesh { name: name.to_owned(), shape: Shape::Sphere, slot_count: 1 };
        Self {
            mesh,
            materials: vec![material],
            points: Vec::new(),
            point_triangles: Vec::new(),
            motion: MeshMotion::Still,
        }
    }

    /// A shape with one material. Its points are those of its vertices, each once.
    pub fn of_shape(name: &str, triangles: TriangleMesh, material: u32) -> Self {
        let (points, faces) = shapes::welded(&triangles);
        Self::of_triangles(name, triangles, vec![material], points, faces)
    }

    /// A shape with one material, whose points are its vertices.
    pub fn of_unsplit_shape(name: &str, triangles: TriangleMesh, material: u32) -> Self {
        Self::of_triangles(name, triangles, vec![material], Vec::new(), Vec::new())
    }

    /// A mesh of triangles at rest.
    pub fn of_triangles(
        name: &str,
        triangles: TriangleMesh,
        materials: Vec<u32>,
        points: Vec<[f32; 3]>,
        point_triangles: Vec<[u32; 3]>,
    ) -> Self {
        let slot_count = materials.len() as u32;
        let mesh = Mesh { name: name.to_owned(), shape: Shape::Triangles(triangles), slot_count };
        Self { mesh, materials, points, point_triangles, motion: MeshMotion::Still }
    }

    /// The points that copies can be scattered on, each once, and the triangles between them. A sphere has none.
    pub fn points(&self) -> (&[[f32; 3]], &[[u32; 3]]) {
        match self.mesh.triangles() {
            Some(mesh) if self.points.is_empty() => (&mesh.positions, &mesh.triangles),
            _ => (&self.points, &self.point_triangles),
        }
    }
}

/// A format of files that hold one mesh.
pub trait MeshFormat: Sync {
    /// The extension of its files, in lower case.
    fn extension(&self) -> &'static str;

    /// Reads a file. Files that it refers to may be in its own folder and in those of `allow`.
    ///
    /// # Errors
    /// When a file is malformed or out of these folders, or nothing in it can be seen.
    fn parse(&self, path: &Path, options: &MeshOptions, allow: &[PathBuf]) -> Result<Box<dyn ParsedMesh>, LoadError>;
}

/// A place in a file.
#[derive(Clone, Copy, Debug)]
pub enum FilePlace {
    /// From 1.
    Line(usize),
    /// From 0.
    Byte(usize),
}

impl FilePlace {
    /// What is wrong there in the file at `path`.
    pub fn error(self, path: &Path, message: &str) -> LoadError {
        match self {
            Self::Line(line) => LoadError::line(path, line, message),
            Self::Byte(byte) => LoadError::file(path, format!("at byte {byte}: {message}")),
        }
    }
}

/// The error of a file without a face that can be drawn; `not_finite` of its faces have vertices that are not finite, of which the first
/// one is at `first`.
pub fn nothing_to_draw(path: &Path, first: Option<FilePlace>, not_finite: usize) -> LoadError {
    let message =
        format!("no face can be drawn: {not_finite} have vertices that are not finite; export the mesh again");
    match first.filter(|_| not_finite > 0) {
        Some(place) => place.error(path, &message),
        None => LoadError::file(path, "there are no faces with an area in it: export a mesh with faces"),
    }
}

/// Leaves out the values that are not kept; a list without values stays so.
pub fn retain<T>(values: &mut Vec<T>, kept: &[bool]) {
    let mut kept = kept.iter();
    values.retain(|_| kept.next() == Some(&true));
}

/// Changes indices of kept values to what they are once the others are left out.
pub fn renumber<'a>(kept: &[bool], indices: impl Iterator<Item = &'a mut u32>) {
    let numbers = kept.iter().scan(0, |next, &is_kept| {
        let number = *next;
        *next += u32::from(is_kept);
        Some(number)
    });
    let numbers: Vec<u32> = numbers.collect();
    indices.for_each(|index| *index = numbers[*index as usize]);
}

/// All formats of meshes but glTF, whose files are models with several.
pub const FORMATS: &[&dyn MeshFormat] = &[&Obj, &Ply, &Stl];

/// The extensions of all formats of meshes, for people: ".obj, .ply, .stl".
pub fn extensions() -> String {
    let extensions = FORMATS.iter().map(|format| format!(".{}", format.extension()));
    extensions.collect::<Vec<_>>().join(", ")
}

/// The format of files with this extension, in lower case.
pub fn format_of(extension: &str) -> Option<&'static dyn MeshFormat> {
    let mut formats = FORMATS.iter().copied();
    formats.find(|format| format.extension() == extension)
}

/// How a mesh is made of a file.
pub struct MeshOptions {
    /// Greatest angle in radians between faces without normals that are shaded smoothly.
    pub smooth_angle: f32,
}

/// A file that was read and parsed, but is not yet in any table.
pub trait ParsedMesh: Send {
    /// Bytes of memory that the mesh takes.
    fn bytes(&self) -> u64;

    /// Enters the materials in use into `table`; `replacement` takes the place of all of them. `wrap` is for textures that do not say
    /// how they continue. Returns warnings, too.
    ///
    /// # Errors
    /// When a texture that a material in use names does not exist.
    fn into_source(
        self: Box<Self>,
        name: &str,
        replacement: Option<u32>,
        wrap: Wrap,
        table: &mut Materials,
    ) -> Result<(MeshSource, Vec<String>), LoadError>;
}
