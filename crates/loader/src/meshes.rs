//! Meshes before they are part of a scene, and the file formats that contain one mesh.

use super::{
    LoadError, cages::MeshCage, displacement::MeshDisplacement, geometry::shapes, materials::Materials,
    model::MeshMotion, obj::Obj, ply::Ply, stl::Stl,
};
use std::path::{Path, PathBuf};
use throng_scene::{
    Mesh, Shape, TriangleMesh, Wrap,
    desc::{Subdivision, SubdivisionScheme},
};

/// A mesh, the materials of its slots, and the points on which copies can be scattered.
pub struct MeshSource {
    pub mesh: Mesh,
    /// Material row of each slot.
    pub materials: Vec<u32>,
    /// Positions as in the file, before vertices are split. Empty if the mesh's own are used (see [`Self::points`]).
    pub points: Vec<[f32; 3]>,
    /// Triangles between `points`; empty if the mesh's own are used.
    pub point_triangles: Vec<[u32; 3]>,
    pub motion: MeshMotion,
    /// The cage of a subdivision surface that is not refined yet.
    pub cage: Option<Box<MeshCage>>,
    /// How the mesh is displaced after it was refined.
    pub displacement: Option<Box<MeshDisplacement>>,
}

impl MeshSource {
    /// The unit sphere.
    pub fn sphere(name: &str, material: u32) -> Self {
        Self::of_mesh(Mesh { name: name.to_owned(), shape: Shape::Sphere, slot_count: 1 }, vec![material])
    }

    /// A mesh on which nothing can be scattered, or whose vertices are its points.
    pub fn of_mesh(mesh: Mesh, materials: Vec<u32>) -> Self {
        Self {
            mesh,
            materials,
            points: Vec::new(),
            point_triangles: Vec::new(),
            motion: MeshMotion::Still,
            cage: None,
            displacement: None,
        }
    }

    /// A shape with one material. Its points are its vertices without repetitions.
    pub fn of_shape(name: &str, triangles: TriangleMesh, material: u32) -> Self {
        let (points, faces) = shapes::welded(&triangles);
        Self::of_triangles(name, triangles, vec![material], points, faces)
    }

    /// A shape with one material, whose points are its vertices.
    pub fn of_unsplit_shape(name: &str, triangles: TriangleMesh, material: u32) -> Self {
        Self::of_triangles(name, triangles, vec![material], Vec::new(), Vec::new())
    }

    /// A static triangle mesh.
    pub fn of_triangles(
        name: &str,
        triangles: TriangleMesh,
        materials: Vec<u32>,
        points: Vec<[f32; 3]>,
        point_triangles: Vec<[u32; 3]>,
    ) -> Self {
        let slot_count = materials.len() as u32;
        let mesh = Mesh { name: name.to_owned(), shape: Shape::Triangles(triangles), slot_count };
        Self { points, point_triangles, ..Self::of_mesh(mesh, materials) }
    }

    /// The points on which copies can be scattered, each once, and the triangles between them. Both are empty for a sphere.
    pub fn points(&self) -> (&[[f32; 3]], &[[u32; 3]]) {
        match self.mesh.triangles() {
            Some(mesh) if self.points.is_empty() => (&mesh.positions, &mesh.triangles),
            _ => (&self.points, &self.point_triangles),
        }
    }
}

/// A file format that contains one mesh.
pub trait MeshFormat: Sync {
    /// The extension of files, in lower case.
    fn extension(&self) -> &'static str;

    /// Whether files have polygons that share points, which can be subdivided.
    fn has_polygons(&self) -> bool;

    /// Reads a file. Files that it refers to must be in its own folder or in a folder of `allow`.
    ///
    /// # Errors
    /// If a file cannot be read, is malformed or is in none of these folders, or if nothing in it is visible.
    fn parse(&self, path: &Path, options: &MeshOptions, allow: &[PathBuf]) -> Result<Box<dyn ParsedMesh>, LoadError>;
}

/// A location in a file.
#[derive(Clone, Copy, Debug)]
pub enum FileLocation {
    /// Line, counted from 1.
    Line(usize),
    /// Byte, counted from 0.
    Byte(usize),
}

impl FileLocation {
    /// The error for this location of the file at `path`.
    pub fn error(self, path: &Path, message: &str) -> LoadError {
        match self {
            Self::Line(line) => LoadError::line(path, line, message),
            Self::Byte(byte) => LoadError::file(path, format!("at byte {byte}: {message}")),
        }
    }
}

/// The error of a file without a drawable face. `not_finite` of its faces have vertices that are not finite; `first` is the location of the
/// first such vertex.
pub fn nothing_to_draw(path: &Path, first: Option<FileLocation>, not_finite: usize) -> LoadError {
    let message =
        format!("no face can be drawn: {not_finite} have vertices that are not finite; export the mesh again");
    match first.filter(|_| not_finite > 0) {
        Some(place) => place.error(path, &message),
        None => LoadError::file(path, "there are no faces with an area in it: export a mesh with faces"),
    }
}

/// Removes the values that are not kept. Does nothing for an empty list.
pub fn retain<T>(values: &mut Vec<T>, kept: &[bool]) {
    let mut kept = kept.iter();
    values.retain(|_| kept.next() == Some(&true));
}

/// Renumbers indices of kept values for the list without the others.
pub fn renumber<'a>(kept: &[bool], indices: impl Iterator<Item = &'a mut u32>) {
    let numbers = kept.iter().scan(0, |next, &is_kept| {
        let number = *next;
        *next += u32::from(is_kept);
        Some(number)
    });
    let numbers: Vec<u32> = numbers.collect();
    indices.for_each(|index| *index = numbers[*index as usize]);
}

/// All mesh formats except glTF, whose files are models with several meshes.
pub const FORMATS: &[&dyn MeshFormat] = &[&Obj, &Ply, &Stl];

/// The extensions of all mesh formats, for messages: ".obj, .ply, .stl".
pub fn extensions() -> String {
    let extensions = FORMATS.iter().map(|format| format!(".{}", format.extension()));
    extensions.collect::<Vec<_>>().join(", ")
}

/// The format of an extension, which must be in lower case.
pub fn format_of(extension: &str) -> Option<&'static dyn MeshFormat> {
    let mut formats = FORMATS.iter().copied();
    formats.find(|format| format.extension() == extension)
}

/// Options for creating a mesh from a file.
pub struct MeshOptions {
    /// Greatest angle, in radians, at which adjacent faces without normals are shaded smoothly.
    pub smooth_angle: f32,
    /// How faces are subdivided to a smooth surface. None: not at all.
    pub subdivision: Option<Subdivision>,
    pub scheme: SubdivisionScheme,
    /// Whether the points of the file are kept, on which copies can be scattered.
    pub points: bool,
}

impl MeshOptions {
    /// How faces are subdivided, unless they stay as they are.
    pub fn subdivides(&self) -> Option<Subdivision> {
        self.subdivision.filter(|&subdivision| subdivision != Subdivision::Level(0))
    }
}

/// A parsed file whose materials are not in the tables yet.
pub trait ParsedMesh: Send {
    /// Bytes of memory of the mesh.
    fn bytes(&self) -> u64;

    /// Adds the used materials to `table`; `replacement` replaces all of them. `wrap` is the wrap mode of textures that do not specify one.
    /// Also returns warnings.
    ///
    /// # Errors
    /// If a texture of a used material does not exist.
    fn into_source(
        self: Box<Self>,
        name: &str,
        replacement: Option<u32>,
        wrap: Wrap,
        table: &mut Materials,
    ) -> Result<(MeshSource, Vec<String>), LoadError>;
}
