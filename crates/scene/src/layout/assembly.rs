//! Assemblies: groups of instances that are stored once with their own tree, and placed any number of times.
//!
//! `Scene::instances` contains the instances of the world, then the instances of each assembly. The number of a hit is the index that its
//! instance would have if all assemblies were copied. If there are more than 2^32 meshes, consecutive meshes of a level share a number, and
//! the record distinguishes them.

use crate::{Instance, Mesh, Scene};
use std::{ops::Range, sync::Arc};

/// Maximum number of nested levels of assemblies.
pub const MOST_LEVELS: usize = throng_abi::MOST_NESTED as usize;

/// Maximum number of numbers in a world with assemblies; see [`Scene::numbers`].
pub const MOST_NUMBERS: u64 = u32::MAX as u64;

/// Numbers of all placed meshes in a scene with assemblies, as if all assemblies were copied to their places, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers {
    /// For each instance, the number of its mesh within the world or its assembly. For an instance of an assembly, the first number of its
    /// contents.
    pub of: Arc<[u32]>,
    /// Whether consecutive meshes of a level share a number, because there are too many meshes.
    pub shared: bool,
}

/// Instances that are placed together. Their space is the assembly's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembly {
    /// Name in the scene file.
    pub name: String,
    /// Range in [`Scene::instances`], after the instances of the world.
    pub instances: Range<u32>,
}

impl Assembly {
    /// The range of its instances, for indexing.
    #[inline]
    pub fn range(&self) -> Range<usize> {
        self.instances.start as usize..self.instances.end as usize
    }
}

/// The object that an instance places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// Index into [`Scene::meshes`].
    Mesh(usize),
    /// Index into [`Scene::assemblies`].
    Assembly(usize),
}

impl Scene {
    /// The mesh or assembly that an instance places.
    #[inline]
    pub fn placed_by(&self, instance: &Instance) -> Placed {
        let mesh = instance.mesh as usize;
        match mesh.checked_sub(self.meshes.len()) {
            Some(assembly) if assembly < self.assemblies.len() => Placed::Assembly(assembly),
            _ => Placed::Mesh(mesh),
        }
    }

    /// The range of instances in the world, without assemblies' contents.
    pub fn world(&self) -> Range<usize> {
        let starts = self.assemblies.iter().map(|assembly| assembly.range().start);
        0..starts.min().unwrap_or(self.instances.len())
    }

    /// The numbers of a scene with assemblies.
    pub fn numbers(&self) -> Numbers {
        let shared = self.leaf_count() > MOST_NUMBERS;
        let mut of = vec![0; self.instances.len()];
        self.number(shared, |index, number| of[index] = number as u32);
        Numbers { of: of.into(), shared }
    }

    /// Number of numbers that [`Self::numbers`] requires; at most [`MOST_NUMBERS`] are available.
    pub fn number_count(&self) -> u64 {
        self.number(self.leaf_count() > MOST_NUMBERS, |_, _| {})
    }

    /// Calls `set` with each instance and its number in its level. Returns the number of numbers in the world.
    fn number(&self, shared: bool, mut set: impl FnMut(usize, u64)) -> u64 {
        let mut counts = vec![1; self.meshes.len() + self.assemblies.len()];
        let mut level = |level: Range<usize>, counts: &[u64]| {
            let (mut next, mut after_mesh) = (0u64, false);
            for index in level {
                let placed = self.placed_by(&self.instances[index]);
                let is_mesh = matches!(placed, Placed::Mesh(_));
                if shared && is_mesh && after_mesh {
                    set(index, next - 1);
                } else {
                    set(index, next);
                    next = next.saturating_add(counts[self.instances[index].mesh as usize]);
                }
                after_mesh = is_mesh;
            }
            next
        };
        // An assembly precedes the assemblies that it places.
        for (index, assembly) in self.assemblies.iter().enumerate().rev() {
            counts[self.meshes.len() + index] = level(assembly.range(), &counts);
        }
        level(self.world(), &counts)
    }

    /// The number of meshes in the world, including all copies of assemblies.
    pub fn leaf_count(&self) -> u64 {
        self.in_world(&self.per_placed(|_| 1))
    }

    /// The value of each mesh, then of each assembly, which is the sum over its contents.
    #[doc(hidden)]
    pub fn per_placed(&self, of_mesh: impl Fn(usize) -> u64) -> Vec<u64> {
        let meshes = self.meshes.len();
        let mut values: Vec<u64> = (0..meshes).map(of_mesh).collect();
        values.resize(meshes + self.assemblies.len(), 0);
        // An assembly precedes the assemblies that it places.
        for (index, assembly) in self.assemblies.iter().enumerate().rev() {
            values[meshes + index] = sum(&self.instances[assembly.range()], &values);
        }
        values
    }

    /// The sum over all objects in the world of the values returned by [`Self::per_placed`].
    pub(crate) fn in_world(&self, values: &[u64]) -> u64 {
        sum(&self.instances[self.world()], values)
    }

    /// Number of copies of each mesh, then of each assembly, in the world, including all copies of assemblies.
    pub fn copies(&self) -> Vec<u64> {
        let meshes = self.meshes.len();
        let mut copies = vec![0u64; meshes + self.assemblies.len()];
        let add = |range: Range<usize>, times: u64, copies: &mut [u64]| {
            for instance in &self.instances[range] {
                let own = &mut copies[instance.mesh as usize];
                *own = own.saturating_add(times);
            }
        };
        add(self.world(), 1, &mut copies);
        for (index, assembly) in self.assemblies.iter().enumerate() {
            add(assembly.range(), copies[meshes + index], &mut copies);
        }
        copies
    }

    /// Adds a mesh, and returns its index.
    #[doc(hidden)]
    pub fn add_mesh(&mut self, mesh: Mesh) -> u32 {
        let index = self.meshes.len() as u32;
        self.meshes.push(mesh);
        if !self.assemblies.is_empty() {
            let placing = self.instances.iter_mut().filter(|instance| instance.mesh >= index);
            placing.for_each(|instance| instance.mesh += 1);
        }
        index
    }

    /// Adds an instance to the world.
    #[doc(hidden)]
    pub fn add_to_world(&mut self, instance: Instance, stem: u32, number: u32) {
        let index = self.world().end;
        self.instances.insert(index, instance);
        self.names.insert(index, stem, number);
        for assembly in &mut self.assemblies {
            assembly.instances = assembly.instances.start + 1..assembly.instances.end + 1;
        }
        for appearance in self.appearances.iter_mut().filter(|a| a.instance as usize >= index) {
            appearance.instance += 1;
        }
    }
}

fn sum(instances: &[Instance], values: &[u64]) -> u64 {
    let of = |instance: &Instance| values.get(instance.mesh as usize).copied().unwrap_or(0);
    instances.iter().map(of).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NONE, Shape};
    use glam::Affine3;

    /// Two meshes in the world, around three streets of two houses and a mesh each; a house has two meshes.
    fn scene() -> Scene {
        let sphere = Mesh { name: "sphere".into(), shape: Shape::Sphere, slot_count: 1 };
        let instance = |mesh| Instance { local: Affine3::IDENTITY, node: NONE, mesh, slot_base: 0, motion: NONE };
        let (mesh, street, house) = (0, 1, 2);
        let assembly = |name: &str, instances| Assembly { name: name.into(), instances };
        Scene {
            meshes: vec![sphere],
            instances: [mesh, street, street, street, mesh, house, mesh, house, mesh, mesh].map(instance).to_vec(),
            assemblies: vec![assembly("street", 5..8), assembly("house", 8..10)],
            ..Scene::default()
        }
    }

    #[test]
    fn meshes_are_numbered_as_if_assemblies_were_copied() {
        let scene = scene();
        let numbers = scene.numbers();
        assert_eq!((&numbers.of[..], numbers.shared), (&[0, 1, 6, 11, 16, 0, 2, 3, 0, 1][..], false));
        assert_eq!((scene.leaf_count(), scene.world()), (17, 0..5));
        assert_eq!(scene.copies(), [17, 3, 6]);
        assert_eq!(scene.number_count(), 17);
        for way in [&[0][..], &[4], &[2, 5, 8], &[2, 6], &[3, 7, 9]] {
            let number = way.iter().map(|&index| numbers.of[index as usize]).sum();
            assert_eq!(scene.way_to(number, way[way.len() - 1], &numbers), way);
        }
    }

    #[test]
    fn meshes_share_numbers_where_there_are_more_than_can_be_numbered() {
        let mut scene = scene();
        // Inserts a chain of assemblies before the scene's content; each has 2048 copies of the next one.
        let (first, place) = (scene.instances.len() as u32, |mesh| Instance { mesh, ..scene.instances[0] });
        let chain = (1..4u32).flat_map(|level| vec![place(if level < 3 { level + 3 } else { 0 }); 2048]);
        let mut instances: Vec<Instance> = scene.instances.iter().copied().chain(chain).collect();
        instances[1].mesh = 3;
        scene.assemblies.extend((0..3).map(|level| Assembly {
            name: "chain".into(),
            instances: first + 2048 * level..first + 2048 * (level + 1),
        }));
        scene.instances = instances;
        let numbers = scene.numbers();
        assert_eq!((scene.leaf_count(), scene.number_count()), ((1 << 33) + 12, (1 << 22) + 8));
        assert_eq!(numbers.of[..10], [0, 1, (1 << 22) + 1, (1 << 22) + 4, (1 << 22) + 7, 0, 1, 2, 0, 0]);
        assert!(numbers.shared);
        let last = first + 2 * 2048 + 77;
        for way in
            [&[0][..], &[4], &[2, 5, 8], &[2, 5, 9], &[2, 6], &[3, 7, 9], &[1, first + 3, first + 2048 + 5, last]]
        {
            let number = way.iter().map(|&index| numbers.of[index as usize]).sum();
            assert_eq!(scene.way_to(number, way[way.len() - 1], &numbers), way);
        }
    }

    #[test]
    fn what_is_added_to_the_world_comes_before_assemblies() {
        let mut scene = scene();
        let lamp = scene.instances[0];
        scene.add_to_world(lamp, NONE, NONE);
        assert_eq!((scene.world(), scene.leaf_count()), (0..6, 18));
        assert_eq!(scene.assemblies[1].instances, 9..11);
        assert_eq!(scene.way_to(17, 5, &scene.numbers()), [5]);
    }
}
