//! Instances and groups: many copies become a point instancer, few become native instances, and assemblies become classes.

mod instancer;
mod parts;
mod poses;

use crate::{Counts, convert::WORLD, materials::Materials, shapes::Shapes, times::Times};
use glam::Affine3;
use parts::Parts;
use poses::Poses;
use std::{collections::HashMap, ops::Range};
use throng_base::math::Aabb;
use throng_scene::{Placed, Scene};
use throng_usd::{LayerValue, Prim, names::Names};

/// Number of copies from which on they are a point instancer.
const MANY: usize = 8;
/// Name of the scope of groups.
const GROUPS: &str = "Groups";

/// Converts the instances of a scene.
pub struct Placing<'a> {
    scene: &'a Scene,
    times: &'a Times,
    poses: Poses,
    /// Bounds of each mesh, then of each assembly.
    boxes: Vec<Aabb>,
    /// Names of the assemblies' classes.
    names: Vec<String>,
    pub shapes: Shapes<'a>,
    pub materials: Materials<'a>,
    pub counts: Counts,
    /// Path of the ground of a standalone model.
    pub ground: Option<String>,
}

/// What an instance shows: a mesh with the first of its material slots, or an assembly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Prototype {
    /// As [`throng_scene::Instance::mesh`].
    mesh: u32,
    slot_base: u32,
}

/// Instances of a level with a common stem of their names that change alike.
struct Members<'n> {
    stem: &'n str,
    /// Whether some have changing transforms, meshes or visibilities.
    changes: bool,
    instances: Vec<u32>,
}

impl<'a> Placing<'a> {
    pub fn new(scene: &'a Scene, times: &'a Times, shapes: Shapes<'a>, materials: Materials<'a>) -> Self {
        let mut names = Names::default();
        Self {
            scene,
            times,
            poses: Poses::new(scene, times),
            boxes: scene.boxes_at_rest(),
            names: scene.assemblies.iter().map(|assembly| names.unique(&assembly.name)).collect(),
            shapes,
            materials,
            counts: Counts::default(),
            ground: None,
        }
    }

    /// The prims of the world.
    pub fn world(&mut self) -> Vec<Prim> {
        let mut names = Names::default();
        for taken in ["Cameras", "Lights", "Materials", "Shapes", GROUPS] {
            names.unique(taken);
        }
        self.level(self.scene.world(), WORLD, names)
    }

    /// The classes of all assemblies.
    pub fn groups(&mut self) -> Prim {
        let mut classes = Vec::new();
        for (index, assembly) in self.scene.assemblies.iter().enumerate() {
            let path = self.group_path(index);
            let children = self.level(assembly.range(), &path, Names::default());
            classes.push(Prim { children, ..Prim::class(self.names[index].clone(), "Xform") });
        }
        Prim { children: classes, ..Prim::class(GROUPS, "Scope") }
    }

    fn group_path(&self, assembly: usize) -> String {
        format!("{WORLD}/{GROUPS}/{}", self.names[assembly])
    }

    fn level(&mut self, level: Range<usize>, path: &str, mut names: Names) -> Vec<Prim> {
        let mut prims = Vec::new();
        for members in self.members(level) {
            let (copies, singles) = self.divide(&members);
            if !copies.is_empty() {
                let name = names.unique(members.stem);
                let path = format!("{path}/{name}");
                prims.push(self.instancer(name, &path, &copies));
            }
            for instance in singles {
                self.single(instance, members.stem, &mut names, &mut prims);
            }
        }
        prims
    }

    /// The visible instances of a level, in order of their first members.
    fn members(&self, level: Range<usize>) -> Vec<Members<'a>> {
        let mut all: Vec<Members> = Vec::new();
        let mut known: HashMap<(&str, bool), usize> = HashMap::new();
        let scene = self.scene;
        for index in level.map(|index| index as u32).filter(|index| self.poses.is_ever_shown(*index)) {
            let (stem, _) = scene.name_parts(index as usize);
            let changes = self.poses.changes(index);
            let slot = *known.entry((stem, changes)).or_insert_with(|| {
                all.push(Members { stem, changes, instances: Vec::new() });
                all.len() - 1
            });
            all[slot].instances.push(index);
        }
        all
    }

    /// The parts of the copies for a point instancer, and the instances that are none: few ones, and those with sheared transforms.
    fn divide(&self, members: &Members) -> (Vec<(u32, Vec<Parts>)>, Vec<u32>) {
        let shows_several = members.changes && members.instances.iter().any(|&index| self.poses.shows_several(index));
        let (mut copies, mut singles) = (Vec::new(), Vec::new());
        for &index in &members.instances {
            match self.poses.places(index).iter().map(Parts::of).collect::<Option<Vec<_>>>() {
                Some(parts) => copies.push((index, parts)),
                None => singles.push(index),
            }
        }
        if copies.len() < MANY && !shows_several {
            singles.extend(copies.drain(..).map(|(index, _)| index));
            singles.sort_unstable();
        }
        (copies, singles)
    }

    /// An instance of a prototype, without a place.
    fn instance(&mut self, name: String, prototype: Prototype) -> Prim {
        let path = match self.placed(prototype) {
            Placed::Assembly(assembly) => self.group_path(assembly),
            Placed::Mesh(mesh) => {
                let slots = self.scene.meshes[mesh].slot_count as usize;
                let rows = self.scene.material_slots.get(prototype.slot_base as usize..).unwrap_or_default();
                let rows: Vec<u32> = rows.iter().take(slots).copied().collect();
                self.shapes.path(mesh as u32, &rows, &mut self.materials)
            }
        };
        Prim::instance_of(name, path)
    }

    fn placed(&self, prototype: Prototype) -> Placed {
        let meshes = self.scene.meshes.len();
        match (prototype.mesh as usize).checked_sub(meshes) {
            Some(assembly) => Placed::Assembly(assembly),
            None => Placed::Mesh(prototype.mesh as usize),
        }
    }

    /// What an instance shows in each sample.
    fn prototypes(&self, index: u32) -> Vec<Prototype> {
        let slot_base = self.scene.instances[index as usize].slot_base;
        self.poses.meshes(index).iter().map(|&mesh| Prototype { mesh, slot_base }).collect()
    }

    /// Native instances: one for each mesh that the instance shows.
    fn single(&mut self, index: u32, stem: &str, names: &mut Names, prims: &mut Vec<Prim>) {
        let shown = self.prototypes(index);
        let mut all = shown.clone();
        all.sort_by_key(|prototype| prototype.mesh);
        all.dedup();
        for prototype in all {
            let mut prim = self.instance(names.unique(stem), prototype);
            let codes = self.times.of_objects();
            let places = self.poses.places(index);
            let place = |at: usize| LayerValue::matrix(places.get(at).unwrap_or(&places[0]));
            let over_time = codes.iter().enumerate().map(|(at, sample)| (sample.code, place(at))).collect();
            if places.iter().any(|place| *place != Affine3::IDENTITY) {
                prim.set_over_time("xformOp:transform", "matrix4d", over_time);
                let order = LayerValue::Tokens(vec!["xformOp:transform".to_owned()]);
                prim.set_uniform("xformOpOrder", "token[]", order);
            }
            let is_shown =
                |at: usize| self.poses.is_shown(index, at) && *shown.get(at).unwrap_or(&shown[0]) == prototype;
            if (0..codes.len()).any(|at| !is_shown(at)) {
                let token = |at: usize| LayerValue::token(if is_shown(at) { "inherited" } else { "invisible" });
                let over_time = codes.iter().enumerate().map(|(at, sample)| (sample.code, token(at))).collect();
                prim.set_over_time("visibility", "token", over_time);
            }
            if self.scene.stage == Some(index) {
                self.ground = Some(format!("{WORLD}/{}", prim.name));
            }
            self.counts.instances += 1;
            prims.push(prim);
        }
    }
}
