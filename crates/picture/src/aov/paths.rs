//! Names of instances in assemblies. These are paths, see [`Scene::name_of_way`]; a scene may have billions of them.

use super::cryptomatte::TextHash;
use rayon::prelude::*;
use std::{collections::HashMap, ops::Range, sync::Mutex};
use throng_base::sync::{lock, unpoisoned};
use throng_scene::{NONE, Placed, Scene};

/// Number of instances that one task searches.
const RUN: usize = 1024;

/// Names of all instances, for `kernels/film/names.h`. Each instance has two words: the position of its name's stem and its number. The
/// stems follow, each after its length in bytes.
pub fn name_table(scene: &Scene) -> Vec<u32> {
    let mut table = vec![NONE; 2 * scene.instances.len()];
    let mut places: HashMap<&str, u32> = HashMap::new();
    for index in 0..scene.instances.len() {
        let (stem, number) = scene.name_parts(index);
        let place = *places.entry(stem).or_insert_with(|| {
            let place = table.len() as u32;
            table.push(stem.len() as u32);
            table.extend(stem.as_bytes().chunks(4).map(word));
            place
        });
        (table[2 * index], table[2 * index + 1]) = (place, number);
    }
    table
}

/// Packs up to four bytes into a word, the first byte in the lowest bits.
fn word(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte))
}

/// Calls `visit` with the path of every mesh instance in the world, in order, with all copies of assemblies.
pub fn visit(scene: &Scene, mut visit: impl FnMut(&str)) {
    visit_ways(scene, |path, _| visit(path));
}

/// Like [`visit`], also with the instances that lead to the mesh instance, itself the last.
pub fn visit_ways(scene: &Scene, mut visit: impl FnMut(&str, &[u32])) {
    visit_level(scene, scene.world(), (&mut String::new(), &mut Vec::new()), &mut visit);
}

fn visit_level(
    scene: &Scene,
    level: Range<usize>,
    (path, way): (&mut String, &mut Vec<u32>),
    visit: &mut dyn FnMut(&str, &[u32]),
) {
    let outer = path.len();
    for index in level {
        scene.write_instance_name(index, path);
        way.push(index as u32);
        match scene.placed_by(&scene.instances[index]) {
            Placed::Mesh(_) => visit(path, way),
            Placed::Assembly(inner) => {
                path.push('/');
                visit_level(scene, scene.assemblies[inner].range(), (path, way), visit);
            }
        }
        way.pop();
        path.truncate(outer);
    }
}

/// The ids in `ids` that belong to mesh instances in the world, with their paths. Takes about ten nanoseconds per mesh instance, with all
/// copies of assemblies.
pub fn named(scene: &Scene, ids: &[u32]) -> Vec<(u32, String)> {
    let search = Search { scene, ids, found: Mutex::default() };
    search.level(scene.world(), TextHash::default(), None);
    let mut found = unpoisoned(search.found.into_inner());
    found.sort_unstable_by(|(_, a), (_, b)| a.cmp(b));
    found.into_iter().map(|(id, way)| (id, scene.name_of_way(&way))).collect()
}

struct Search<'a> {
    scene: &'a Scene,
    ids: &'a [u32],
    found: Mutex<Vec<(u32, Vec<u32>)>>,
}

/// The instance whose assembly is being searched, and the instances around it.
struct Outer<'a> {
    index: usize,
    around: Option<&'a Self>,
}

impl Search<'_> {
    /// Searches one level. `hash` is the hash of the path that leads to it.
    fn level(&self, level: Range<usize>, hash: TextHash, outer: Option<&Outer>) {
        level.into_par_iter().with_min_len(RUN).for_each_init(String::new, |name, index| {
            name.clear();
            self.scene.write_instance_name(index, name);
            let mut hash = hash;
            hash.add(name);
            match self.scene.placed_by(&self.scene.instances[index]) {
                Placed::Mesh(_) if self.ids.contains(&hash.id()) => self.keep(hash.id(), index, outer),
                Placed::Mesh(_) => {}
                Placed::Assembly(inner) => {
                    hash.add("/");
                    let inner = self.scene.assemblies[inner].range();
                    self.level(inner, hash, Some(&Outer { index, around: outer }));
                }
            }
        });
    }

    fn keep(&self, id: u32, index: usize, outer: Option<&Outer>) {
        let around = std::iter::successors(outer, |outer| outer.around);
        let mut way: Vec<u32> = [index].into_iter().chain(around.map(|outer| outer.index)).map(|i| i as u32).collect();
        way.reverse();
        lock(&self.found).push((id, way));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aov::cryptomatte::id;
    use glam::Affine3;
    use throng_scene::{Assembly, Instance, Mesh, Names, Shape};

    /// An assembly row with `copies` spheres, placed `copies` times, and a sphere in the world.
    fn rows(copies: u32) -> Scene {
        let sphere = Mesh { name: "sphere".into(), shape: Shape::Sphere, slot_count: 1 };
        let instance = |mesh| Instance { local: Affine3::IDENTITY, node: NONE, mesh, slot_base: 0, motion: NONE };
        let count = copies as usize;
        let stems = ["Reihe", "sphäre", "sphere"].map(String::from).to_vec();
        Scene {
            meshes: vec![sphere],
            instances: [vec![instance(1); count], vec![instance(0)], vec![instance(0); count]].concat(),
            assemblies: vec![Assembly { name: "row".into(), instances: copies + 1..2 * copies + 1 }],
            names: Names::numbered(stems, &[vec![0; count], vec![2], vec![1; count]].concat()),
            ..Scene::default()
        }
    }

    #[test]
    fn all_paths_are_visited_in_order_and_found_by_their_ids() {
        let scene = rows(3);
        let mut paths = Vec::new();
        visit(&scene, |path| paths.push(path.to_owned()));
        let names = paths.iter().map(|path| scene.name_of_way(&scene.way_named(path).unwrap()));
        assert!(names.eq(paths.iter().cloned()), "{paths:?}");
        assert_eq!((paths.len(), &paths[5][..], &paths[9][..]), (10, "Reihe.1/sphäre.2", "sphere"));
        for path in paths {
            assert_eq!(named(&scene, &[id(&path), 7]), [(id(&path), path)]);
        }
    }

    #[test]
    fn one_of_millions_is_found() {
        let scene = rows(2000);
        let path = "Reihe.1234/sphäre.999";
        assert!(named(&scene, &[id(path)]).contains(&(id(path), path.to_owned())));
    }

    #[test]
    fn tables_have_each_stem_once() {
        let table = name_table(&rows(2));
        let stems = [10, 13, 16];
        let names = [[10, 0], [10, 1], [13, NONE], [16, 0], [16, 1]];
        assert_eq!(table[..10], names.as_flattened()[..]);
        assert_eq!(stems.map(|stem| table[stem]), [5, 6, 7]);
        assert_eq!(table[11].to_le_bytes(), *b"Reih");
        assert_eq!(table[12].to_le_bytes(), *b"e\0\0\0");
    }
}
