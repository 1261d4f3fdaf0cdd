//! Paths through assemblies to their contents, as lists of instances (ways) and as names like `beast/dragon.12/scale.7041`.

use crate::{NONE, Numbers, Placed, Scene};
use std::{cmp::Reverse, ops::Range};

/// A path that cannot be resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct LostPath<'a> {
    /// The resolved beginning of the path.
    pub way: Vec<u32>,
    /// The remaining part of the path, which names nothing.
    pub rest: &'a str,
}

/// An instance whose name matches the beginning of a path.
struct Step {
    index: u32,
    /// Length of the match in bytes.
    length: usize,
    /// Whether the path also contains the number of the instance, if it has one.
    is_exact: bool,
}

impl Scene {
    /// The instances that lead to a mesh, outermost first: indices into [`Self::instances`]. `number` is the number of the mesh, `instance`
    /// the last instance of the way, and `numbers` the numbers of this scene. In a scene without assemblies, the way is just the instance.
    pub fn way_to(&self, number: u32, instance: u32, numbers: &Numbers) -> Vec<u32> {
        let (mut level, mut rest, mut way) = (self.world(), number, Vec::new());
        while !level.is_empty() && !level.contains(&(instance as usize)) {
            let own = &numbers.of[level.clone()];
            let index = (level.start + own.partition_point(|&first| first <= rest).saturating_sub(1)) as u32;
            rest -= numbers.of[index as usize];
            way.push(index);
            level = self.level_in(index);
        }
        way.push(instance);
        way
    }

    /// The names along a way, like `beast/dragon.12/scale.7041`.
    pub fn name_of_way(&self, way: &[u32]) -> String {
        let names: Vec<String> = way.iter().map(|&index| self.instance_name(index as usize)).collect();
        names.join("/")
    }

    /// The way to the mesh or assembly with this path. A name without a number means the first copy. Takes time proportional to the number
    /// of instances.
    #[doc(hidden)]
    pub fn way_named<'a>(&self, path: &'a str) -> Result<Vec<u32>, LostPath<'a>> {
        let mut lost = LostPath { way: Vec::new(), rest: path };
        let mut way = Vec::new();
        if self.find_way(self.world(), path, &mut way, &mut lost) { Ok(way) } else { Err(lost) }
    }

    fn find_way<'a>(&self, level: Range<usize>, path: &'a str, way: &mut Vec<u32>, lost: &mut LostPath<'a>) -> bool {
        if way.len() > lost.way.len() {
            *lost = LostPath { way: way.clone(), rest: path };
        }
        self.steps(level, path).into_iter().any(|step| {
            way.push(step.index);
            let rest = path[step.length..].strip_prefix('/');
            let is_found = rest.is_none_or(|rest| self.find_way(self.level_in(step.index), rest, way, lost));
            if !is_found {
                way.pop();
            }
            is_found
        })
    }

    /// The instances of a level whose names match the beginning of a path, the best match first.
    fn steps(&self, level: Range<usize>, path: &str) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        for index in level {
            let Some((length, is_exact)) = self.begins_with(index, path) else { continue };
            let is_later = |first: &Step| !first.is_exact && first.length == length;
            if is_exact || !steps.iter().any(is_later) {
                steps.push(Step { index: index as u32, length, is_exact });
            }
        }
        steps.sort_by_key(|step| (!step.is_exact, Reverse(step.length)));
        steps
    }

    /// Length in bytes of the instance's name at the beginning of the path, and whether it includes the number.
    fn begins_with(&self, index: usize, path: &str) -> Option<(usize, bool)> {
        let (stem, number) = self.name_parts(index);
        let rest = path.strip_prefix(stem)?;
        if rest.is_empty() || rest.starts_with('/') {
            return Some((stem.len(), number == NONE));
        }
        let digits = rest.strip_prefix('.')?.split('/').next()?;
        let is_own =
            number != NONE && digits.parse() == Ok(number) && (digits == "0" || !digits.starts_with(['0', '+']));
        is_own.then(|| (stem.len() + 1 + digits.len(), true))
    }

    /// A way as numbers within each level. They stay valid when instances are added to the world.
    #[doc(hidden)]
    pub fn steps_of_way(&self, way: &[u32]) -> Vec<u32> {
        let outer = way.iter().map(|&index| self.level_in(index).start as u32);
        let starts = [self.world().start as u32].into_iter().chain(outer);
        way.iter().zip(starts).map(|(index, start)| index - start).collect()
    }

    /// The instances along a way of numbers within each level, as far as they exist.
    pub(crate) fn way_along(&self, steps: &[u32]) -> impl Iterator<Item = u32> {
        let mut level = self.world();
        steps.iter().map_while(move |&step| {
            let index = level.clone().nth(step as usize)? as u32;
            level = self.level_in(index);
            Some(index)
        })
    }

    /// The level within the assembly that an instance places. Empty for an instance of a mesh.
    fn level_in(&self, index: u32) -> Range<usize> {
        let placed = self.instances.get(index as usize).map(|instance| self.placed_by(instance));
        match placed {
            Some(Placed::Assembly(inner)) => self.assemblies[inner].range(),
            _ => 0..0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Assembly, Instance, Mesh, Names, Shape};
    use glam::Affine3;

    /// A street of two houses and a tree, placed twice, and a tree. Houses have two windows, and a group that is copied with one.
    fn scene() -> Scene {
        let sphere = Mesh { name: "sphere".into(), shape: Shape::Sphere, slot_count: 1 };
        let instance = |mesh| Instance { local: Affine3::IDENTITY, node: NONE, mesh, slot_base: 0, motion: NONE };
        let (mesh, street, house) = (0, 1, 2);
        let assembly = |name: &str, instances| Assembly { name: name.into(), instances };
        let stems = ["street", "tree", "house", "tree", "window", "loft/window"].map(String::from).to_vec();
        Scene {
            meshes: vec![sphere],
            instances: [street, street, mesh, house, house, mesh, mesh, mesh, mesh].map(instance).to_vec(),
            assemblies: vec![assembly("street", 3..6), assembly("house", 6..9)],
            names: Names::numbered(stems, &[0, 0, 1, 2, 2, 3, 4, 4, 5]),
            ..Scene::default()
        }
    }

    /// The ways to all meshes of a level.
    fn add_ways(scene: &Scene, level: Range<usize>, way: &mut Vec<u32>, ways: &mut Vec<Vec<u32>>) {
        for index in level.map(|index| index as u32) {
            way.push(index);
            match scene.level_in(index) {
                inner if inner.is_empty() => ways.push(way.clone()),
                inner => add_ways(scene, inner, way, ways),
            }
            way.pop();
        }
    }

    #[test]
    fn every_path_leads_to_what_it_is_the_name_of() {
        for scene in [scene(), Scene { names: Names::default(), ..scene() }] {
            let mut ways = Vec::new();
            add_ways(&scene, scene.world(), &mut Vec::new(), &mut ways);
            assert_eq!(ways.len() as u64, scene.leaf_count());
            for way in ways {
                let path = scene.name_of_way(&way);
                assert_eq!(scene.way_named(&path), Ok(way.clone()), "{path}");
                let steps = scene.steps_of_way(&way);
                assert!(scene.way_along(&steps).eq(way.iter().copied()), "{path}");
                // Lamps are added to the world after cameras have resolved the objects that they follow.
                let lamp = scene.instances[0];
                let world = scene.world().end as u32;
                let mut more = scene.clone();
                more.add_to_world(lamp, NONE, NONE);
                let moved = way.iter().map(|&index| index + u32::from(index >= world));
                assert!(more.way_along(&steps).eq(moved), "{path}");
            }
        }
        let paths = ["street.0/house.1/loft/window", "street.1/tree", "tree"];
        assert_eq!(paths.map(|path| scene().way_named(path)), [Ok(vec![0, 4, 8]), Ok(vec![1, 5]), Ok(vec![2])]);
    }

    #[test]
    fn paths_may_end_at_assemblies_and_lack_numbers() {
        let scene = scene();
        for (path, way) in [("street.1/house.0", &[1, 3][..]), ("street/house/window", &[0, 3, 6]), ("street", &[0])] {
            assert_eq!(scene.way_named(path).as_deref(), Ok(way), "{path}");
        }
    }

    #[test]
    fn lost_paths_tell_how_far_they_lead() {
        let scene = scene();
        for (path, way, rest) in [
            ("streets", &[][..], "streets"),
            ("street.2/house.0", &[], "street.2/house.0"),
            ("street.01", &[], "street.01"),
            ("street.1/house.0/door", &[1, 3], "door"),
            ("street.1/tree/leaf", &[1, 5], "leaf"),
            ("street.1/", &[1], ""),
        ] {
            assert_eq!(scene.way_named(path), Err(LostPath { way: way.to_vec(), rest }), "{path}");
        }
    }
}
