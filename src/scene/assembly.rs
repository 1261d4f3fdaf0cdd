//! Instances of instances: groups that are kept once, as a tree of their own, however often they are placed.

use super::{Instance, Mesh, Scene};
use std::ops::Range;

/// Most levels of assemblies within each other.
pub const MOST_LEVELS: usize = crate::abi::MOST_NESTED as usize;

/// Instances that are placed together, in the space of whatever places them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembly {
    /// As the scene file has it.
    pub name: String,
    /// In [`Scene::instances`], behind those of the world.
    pub instances: Range<u32>,
}

impl Assembly {
    /// The range of its instances, to index with.
    pub fn range(&self) -> Range<usize> {
        self.instances.start as usize..self.instances.end as usize
    }
}

/// The thing that an instance places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// Index into [`Scene::meshes`].
    Mesh(usize),
    /// Index into [`Scene::assemblies`].
    Assembly(usize),
}

impl Scene {
    /// The mesh or assembly that an instance places.
    pub fn placed_by(&self, instance: &Instance) -> Placed {
        let mesh = instance.mesh as usize;
        match mesh.checked_sub(self.meshes.len()) {
            Some(assembly) if assembly < self.assemblies.len() => Placed::Assembly(assembly),
            _ => Placed::Mesh(mesh),
        }
    }

    /// The instances that are in the world and not in an assembly.
    pub fn world(&self) -> Range<usize> {
        let starts = self.assemblies.iter().map(|assembly| assembly.range().start);
        0..starts.min().unwrap_or(self.instances.len())
    }

    /// For each instance, the number of meshes that come before it in the world or in its assembly, as if all assemblies were copied
    /// to where they are placed. Empty in a scene without assemblies, where that is the instance's own index.
    pub fn leaf_numbers(&self) -> Vec<u32> {
        if self.assemblies.is_empty() {
            return Vec::new();
        }
        let leaves = self.per_placed(|_| 1);
        let mut numbers = vec![0; self.instances.len()];
        let levels = self.assemblies.iter().map(Assembly::range);
        for level in levels.chain([self.world()]) {
            let mut next = 0u64;
            for index in level {
                numbers[index] = next as u32;
                next += leaves[self.instances[index].mesh as usize];
            }
        }
        numbers
    }

    /// The number of meshes in the world, with those in all copies of assemblies.
    pub fn leaf_count(&self) -> u64 {
        self.in_world(&self.per_placed(|_| 1))
    }

    /// The value of each mesh, then of each assembly: the sum over what it places.
    pub(crate) fn per_placed(&self, of_mesh: impl Fn(usize) -> u64) -> Vec<u64> {
        let meshes = self.meshes.len();
        let mut values: Vec<u64> = (0..meshes).map(of_mesh).collect();
        values.resize(meshes + self.assemblies.len(), 0);
        // Assemblies come before those that they place.
        for (index, assembly) in self.assemblies.iter().enumerate().rev() {
            values[meshes + index] = sum(&self.instances[assembly.range()], &values);
        }
        values
    }

    /// The sum over what is placed in the world of values as [`Self::per_placed`] has them.
    pub(super) fn in_world(&self, values: &[u64]) -> u64 {
        sum(&self.instances[self.world()], values)
    }

    /// How often each mesh, then each assembly, is in the world, with all copies of assemblies.
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
    pub(crate) fn add_mesh(&mut self, mesh: Mesh) -> u32 {
        let index = self.meshes.len() as u32;
        self.meshes.push(mesh);
        if !self.assemblies.is_empty() {
            let placing = self.instances.iter_mut().filter(|instance| instance.mesh >= index);
            placing.for_each(|instance| instance.mesh += 1);
        }
        index
    }

    /// Adds an instance to the world.
    pub(crate) fn add_to_world(&mut self, instance: Instance, stem: u32, number: u32) {
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
    use crate::scene::{NONE, Shape};
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
        let numbers = scene.leaf_numbers();
        assert_eq!(numbers, [0, 1, 6, 11, 16, 0, 2, 3, 0, 1]);
        assert_eq!((scene.leaf_count(), scene.world()), (17, 0..5));
        assert_eq!(scene.copies(), [17, 3, 6]);
        assert_eq!(scene.way_to(0, &numbers), [0]);
        assert_eq!(scene.way_to(16, &numbers), [4]);
        assert_eq!(scene.way_to(6, &numbers), [2, 5, 8]);
        assert_eq!(scene.way_to(8, &numbers), [2, 6]);
        assert_eq!(scene.way_to(15, &numbers), [3, 7, 9]);
    }

    #[test]
    fn what_is_added_to_the_world_comes_before_assemblies() {
        let mut scene = scene();
        let lamp = scene.instances[0];
        scene.add_to_world(lamp, NONE, NONE);
        assert_eq!((scene.world(), scene.leaf_count()), (0..6, 18));
        assert_eq!(scene.assemblies[1].instances, 9..11);
        assert_eq!(scene.way_to(17, &scene.leaf_numbers()), [5]);
    }
}
