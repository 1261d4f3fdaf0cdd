//! Names of instances and materials: the file's names, with numbers to distinguish equal names.

use crate::{NONE, Scene};
use std::fmt::Write as _;

/// A name shortened to 256 characters, because a million instances may share it.
#[doc(hidden)]
pub fn cut(name: &str) -> &str {
    const LONGEST: usize = 256;
    let end = name.char_indices().nth(LONGEST).map(|(end, _)| end);
    end.and_then(|end| name.get(..end)).unwrap_or(name)
}

/// Names of a scene's instances and materials. A million instances share few stems, so each instance stores only an index and a number.
#[derive(Clone, Debug, Default)]
pub struct Names {
    stems: Vec<String>,
    instances: Vec<InstanceName>,
    /// Name of each row of the material table. Empty for unnamed materials.
    pub materials: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
struct InstanceName {
    stem: u32,
    /// Number that distinguishes instances with this stem, or [`NONE`].
    number: u32,
}

impl Names {
    /// Adds a stem for [`Self::push`] and returns its index.
    #[doc(hidden)]
    pub fn add_stem(&mut self, stem: String) -> u32 {
        self.stems.push(stem);
        self.stems.len() as u32 - 1
    }

    /// Names the next instance. `number` distinguishes instances with this stem; [`NONE`] means no number.
    #[doc(hidden)]
    pub fn push(&mut self, stem: u32, number: u32) {
        self.instances.push(InstanceName { stem, number });
    }

    /// Names an instance that is inserted at `index`.
    pub(super) fn insert(&mut self, index: usize, stem: u32, number: u32) {
        if index <= self.instances.len() {
            self.instances.insert(index, InstanceName { stem, number });
        }
    }

    /// Names all instances by their stems. Instances with a common stem are numbered from 0.
    pub fn numbered(stems: Vec<String>, of: &[u32]) -> Self {
        let mut counts = vec![0u32; stems.len()];
        of.iter().for_each(|&stem| counts[stem as usize] += 1);
        let mut next = vec![0; stems.len()];
        let name = |&stem: &u32| {
            let number = &mut next[stem as usize];
            *number += 1;
            InstanceName {
                stem,
                number: match counts[stem as usize] {
                    1 => NONE,
                    _ => *number - 1,
                },
            }
        };
        Self { instances: of.iter().map(name).collect(), stems, materials: Vec::new() }
    }

    fn parts(&self, instance: usize) -> Option<(&str, u32)> {
        let name = self.instances.get(instance)?;
        Some((self.stems.get(name.stem as usize).map_or("", |stem| stem), name.number))
    }
}

impl Scene {
    /// Calls `visit` with the name of every instance of the world, in order. Unnamed instances have the name of their mesh.
    pub fn visit_instance_names(&self, mut visit: impl FnMut(&str)) {
        let mut name = String::new();
        for index in self.world() {
            name.clear();
            self.write_instance_name(index, &mut name);
            visit(&name);
        }
    }

    /// The name of one instance.
    pub fn instance_name(&self, index: usize) -> String {
        let mut name = String::new();
        self.write_instance_name(index, &mut name);
        name
    }

    #[doc(hidden)]
    pub fn write_instance_name(&self, index: usize, name: &mut String) {
        let (stem, number) = self.name_parts(index);
        name.push_str(stem);
        if number != NONE {
            let _ = write!(name, ".{number}");
        }
    }

    /// The stem of an instance's name, and its number or [`NONE`].
    #[doc(hidden)]
    pub fn name_parts(&self, index: usize) -> (&str, u32) {
        self.names.parts(index).unwrap_or_else(|| {
            let mesh = self.instances.get(index).and_then(|instance| self.meshes.get(instance.mesh as usize));
            (mesh.map_or("mesh", |mesh| &mesh.name), index as u32)
        })
    }

    /// The name of a row of the material table.
    pub fn material_name(&self, row: usize) -> String {
        let name = self.names.materials.get(row).filter(|name| !name.is_empty());
        name.map_or_else(|| format!("material.{row}"), String::clone)
    }

    /// Calls `visit` with the name of every material, in order.
    pub fn visit_material_names(&self, mut visit: impl FnMut(&str)) {
        for index in 0..self.materials.len() {
            visit(&self.material_name(index));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Instance, Material};
    use glam::Affine3;

    #[test]
    fn long_names_are_cut_between_characters() {
        let long = "é".repeat(1000);
        assert_eq!(cut(&long).chars().count(), 256);
        assert_eq!((cut("short"), cut("")), ("short", ""));
    }

    #[test]
    fn what_shares_a_stem_is_numbered() {
        let instance = Instance { local: Affine3::IDENTITY, node: NONE, mesh: 0, slot_base: 0, motion: NONE };
        let mut scene = Scene {
            instances: vec![instance; 3],
            materials: vec![Material::default(); 2],
            names: Names::numbered(vec!["tree".into(), "house".into()], &[0, 1, 0]),
            ..Scene::default()
        };
        scene.names.materials = vec!["bark".into(), String::new()];
        let mut names = Vec::new();
        scene.visit_instance_names(|name| names.push(name.to_owned()));
        scene.visit_material_names(|name| names.push(name.to_owned()));
        assert_eq!(names, ["tree.0", "house", "tree.1", "bark", "material.1"]);
        scene.names = Names::default();
        let mut names = Vec::new();
        scene.visit_instance_names(|name| names.push(name.to_owned()));
        assert_eq!(names, ["mesh.0", "mesh.1", "mesh.2"]);
    }
}
