//! The numbers of instances, meshes and materials in maps, and their names.
//!
//! Instances are numbered in the scene's order, with all copies of nested groups expanded, as in `Hit::instance`.

use serde::Serialize;
use std::{io::Write, path::Path};
use throng_output::{MapKind, OutputError, write_atomically};
use throng_picture::aov::paths;
use throng_scene::{Instance, NONE, Numbers, Scene};

/// Greatest count of objects whose numbers fit into a PNG file with 16 bits, in which 0 stands for nothing.
pub const MOST_IN_PNG: u64 = 65_535;
/// Greatest count of objects that are numbered: their names take a gigabyte.
pub const MOST_NUMBERS: u64 = 1 << 24;

/// Tables of all instances by number.
pub struct Objects {
    /// The index of each in [`Scene::instances`], and its mesh.
    indices: Vec<u32>,
    meshes: Vec<u32>,
    numbers: Numbers,
}

impl Objects {
    /// The tables of `scene`. Takes time and memory for all copies of nested groups.
    pub fn new(scene: &Scene) -> Self {
        let mut indices = Vec::new();
        visit(scene, |_, index| indices.push(index as u32));
        let meshes = indices.iter().map(|&index| scene.instances[index as usize].mesh).collect();
        Self { indices, meshes, numbers: scene.numbers() }
    }

    /// The index of an instance in [`Scene::instances`].
    pub fn index_of(&self, instance: u32) -> Option<u32> {
        self.indices.get(instance as usize).copied()
    }

    /// The numbers of the scene's instances.
    pub fn numbers(&self) -> &Numbers {
        &self.numbers
    }

    /// The mesh of an instance; [`NONE`] for [`NONE`].
    pub fn mesh_of(&self, instance: u32) -> u32 {
        self.meshes.get(instance as usize).copied().unwrap_or(NONE)
    }
}

/// Number of objects that the map of `kind` may show.
pub fn count(scene: &Scene, kind: MapKind) -> u64 {
    match kind {
        MapKind::Instance => scene.leaf_count(),
        MapKind::Mesh => scene.meshes.len() as u64,
        MapKind::Material => scene.materials.len() as u64,
        _ => 0,
    }
}

/// Calls `visit` with the name and the index in [`Scene::instances`] of each instance of a mesh, by number. Names of instances in nested groups
/// are paths.
pub fn visit(scene: &Scene, mut visit: impl FnMut(&str, usize)) {
    paths::visit_ways(scene, |name, way| visit(name, way.last().map_or(0, |&index| index as usize)));
}

/// An entry of `instance.json`.
#[derive(Serialize)]
struct NamedInstance<'a> {
    id: usize,
    name: &'a str,
    mesh: &'a str,
    materials: Vec<String>,
}

/// An entry of `mesh.json` or `material.json`.
#[derive(Serialize)]
struct Named<'a> {
    id: usize,
    name: &'a str,
}

/// Writes the names of all objects of a map: a JSON list with an object for each number.
///
/// # Errors
/// If the file cannot be written.
pub fn write_names(path: &Path, scene: &Scene, kind: MapKind) -> Result<(), OutputError> {
    write_atomically(path, |file| {
        let mut list = List { file, count: 0, failed: None };
        match kind {
            MapKind::Instance => visit(scene, |name, index| {
                let instance = &scene.instances[index];
                let mesh = scene.meshes.get(instance.mesh as usize).map_or("", |mesh| &mesh.name);
                let entry = NamedInstance { id: list.count, name, mesh, materials: materials(scene, instance) };
                list.add(&entry);
            }),
            MapKind::Mesh => {
                scene.meshes.iter().for_each(|mesh| list.add(&Named { id: list.count, name: &mesh.name }));
            }
            _ => scene.visit_material_names(|name| list.add(&Named { id: list.count, name })),
        }
        list.end()
    })
}

/// Names of the materials of an instance, by slot.
fn materials(scene: &Scene, instance: &Instance) -> Vec<String> {
    let slots = scene.meshes.get(instance.mesh as usize).map_or(0, |mesh| mesh.slot_count as usize);
    let first = instance.slot_base as usize;
    let rows = scene.material_slots.get(first..first + slots).unwrap_or_default();
    rows.iter().map(|&row| scene.material_name(row as usize)).collect()
}

/// A JSON list under construction, with an entry per line.
struct List<'a> {
    file: &'a mut dyn Write,
    count: usize,
    failed: Option<std::io::Error>,
}

impl List<'_> {
    /// Adds an entry, unless the list has failed.
    fn add(&mut self, entry: &impl Serialize) {
        if self.failed.is_some() {
            return;
        }
        let start = if self.count == 0 { "[\n" } else { ",\n" };
        let written = self.file.write_all(start.as_bytes());
        let written = written.and_then(|()| Ok(serde_json::to_writer(&mut *self.file, entry)?));
        self.failed = written.err();
        self.count += 1;
    }

    fn end(self) -> std::io::Result<()> {
        match self.failed {
            Some(error) => Err(error),
            None => self.file.write_all(if self.count == 0 { b"[]\n" } else { b"\n]\n" }),
        }
    }
}
