//! Expands placements into the scene's nodes and instances. Groups that never move produce no node. Nested groups are expanded once for all
//! of their copies.

use super::{
    nesting::{ItemPosition, Kept, Nesting, plan},
    patterns::TablePattern,
    resolved::{Item, Resolved, Target},
};
use crate::{
    LoadError,
    geometry::transform::is_invertible,
    materials::Slots,
    meshes::MeshSource,
    ron::{file::Source, motions, source::Place},
};
use glam::{Affine3, Vec3};
use rayon::prelude::*;
use std::{collections::HashMap, hash::Hash, ops::Range, sync::Arc};
use throng_scene::{
    Assembly, Bend, BendSides, Instance, Motion, NONE, Node, PlacedRun, PlacementTables, TableRun, Track, cut,
    desc::SceneFile,
    rest::{instance_world, node_worlds},
    rig::{Appearance, ShownBy},
};

/// Marks the mesh index of an instance of an assembly until the number of meshes is known. The other bits are the index of the assembly.
const ASSEMBLY: u32 = 1 << 31;

/// The nodes and instances into which the placements expand.
#[derive(Default)]
pub struct Unrolled {
    pub nodes: Vec<Node>,
    pub instances: Vec<Instance>,
    pub assemblies: Vec<Assembly>,
    pub stems: Stems,
    pub slots: Slots,
    /// The file's meshes in the order in which instances number them. A palette of poses takes one number per pose.
    pub meshes: Used<UsedMesh>,
    /// The motions in the order in which instances and nodes number them.
    pub motions: Used<UsedMotion>,
    /// For each named group, the instances of its first copy; empty if it is not placed.
    pub groups: Vec<Range<u32>>,
    pub group_names: Vec<String>,
    /// The instances created by each entry of the file.
    pub placed: Vec<PlacedRun>,
    /// Instances that are not always visible, in their order, and the switches that control them.
    pub appearances: Vec<Appearance>,
    pub switches: Vec<Track<bool>>,
    /// The tables that move instances and nodes.
    pub tables: PlacementTables,
}

/// A mesh of the file, and the motion of the file that bends it, or [`NONE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UsedMesh {
    pub mesh: u32,
    pub bent_by: u32,
}

/// The bend of each motion of the file, if it has one, and the directions in which the poses of a bent mesh go; all directions if unknown.
pub struct Bends {
    of: Vec<Option<Bend>>,
    sides: HashMap<UsedMesh, BendSides>,
}

impl Bends {
    /// The bends of these motions, which are all of the file's.
    pub fn of(motions: &[Motion]) -> Self {
        Self { of: motions.iter().map(|motion| motions::bend_of(motion).copied()).collect(), sides: HashMap::new() }
    }

    /// Whether the motion with this index bends meshes; false for [`NONE`].
    pub fn bends(&self, motion: u32) -> bool {
        self.of.get(motion as usize).is_some_and(Option::is_some)
    }

    /// The bend of a mesh; none if it does not bend.
    pub fn bend(&self, used: &UsedMesh) -> Option<Bend> {
        let bend = (*self.of.get(used.bent_by as usize)?)?;
        Some(Bend { sides: self.sides.get(used).copied().unwrap_or(BendSides::Around), ..bend })
    }

    /// Finds meshes with equal rotations in all instances. For these, poses in one direction suffice. Returns whether there are any.
    pub fn find_sides(&mut self, unrolled: &Unrolled) -> bool {
        let mut known: HashMap<u32, Option<Vec3>> = HashMap::new();
        let bent: HashMap<u32, UsedMesh> = unrolled
            .meshes
            .number
            .iter()
            .filter(|(used, _)| used.bent_by != NONE)
            .map(|(used, n)| (*n, *used))
            .collect();
        for instance in &unrolled.instances {
            let Some(bend) = bent.get(&instance.mesh).and_then(|used| self.bend(used)) else { continue };
            let own = bend.direction_in(&instance.local);
            let side = known.entry(instance.mesh).or_insert(Some(own));
            *side = side.filter(|side| side.distance(own) < ALIKE);
        }
        let alike = known.into_iter().filter_map(|(number, side)| Some((bent[&number], BendSides::One(side?))));
        self.sides.extend(alike);
        !self.sides.is_empty()
    }
}

/// Greatest difference of directions in meshes whose rotations count as equal.
const ALIKE: f32 = 1e-3;

/// A motion of the file, or [`NONE`], and the mesh whose palette of poses it plays or that it bends, or [`NONE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UsedMotion {
    pub motion: u32,
    pub mesh: u32,
    /// Number of the copy in its placement, for motions with gaps between copies; otherwise 0.
    pub copy: u32,
}

/// Stems of the names of instances: the groups around them and their mesh, for example `village/house`.
#[derive(Default)]
pub struct Stems {
    pub texts: Vec<String>,
    /// Index in `texts` of each instance's stem.
    pub of: Vec<u32>,
    /// Index of each stem of the level, by the stem around it ([`NONE`] at the top) and its group or mesh.
    known: HashMap<(u32, Target), u32>,
}

impl Stems {
    /// Starts another level, which has its own numbering.
    fn begin_level(&mut self) {
        self.known.clear();
    }

    fn stem(&mut self, outer: u32, target: Target, name: &str) -> u32 {
        *self.known.entry((outer, target)).or_insert_with(|| {
            let name = cut(name);
            let text = match self.texts.get(outer as usize) {
                Some(outer) => format!("{outer}/{name}"),
                None => name.to_owned(),
            };
            self.texts.push(cut(&text).to_owned());
            self.texts.len() as u32 - 1
        })
    }
}

/// Numbers items in the order of their first use.
pub struct Used<T> {
    number: HashMap<T, u32>,
    next: u32,
    pub order: Vec<T>,
}

impl<T> Default for Used<T> {
    fn default() -> Self {
        Self { number: HashMap::new(), next: 0, order: Vec::new() }
    }
}

impl<T: Copy + Eq + Hash> Used<T> {
    /// The first of `size` numbers for `thing`.
    fn number(&mut self, thing: T, size: u32) -> u32 {
        *self.number.entry(thing).or_insert_with(|| {
            self.order.push(thing);
            self.next += size;
            self.next - size
        })
    }
}

/// Expands `resolved`, after checking that the result is not too large.
///
/// # Errors
/// If a group contains itself or is nested too deeply, if there are too many instances, or if a transform has no inverse.
pub fn unroll(
    source: &Source,
    file: &SceneFile,
    resolved: &Resolved,
    (meshes, bends): (&[MeshSource], &Bends),
) -> Result<Unrolled, LoadError> {
    let top = Place::ROOT.key("instances");
    let nesting = plan(source, file, resolved, &top)?;
    let mut unroller = Unroller {
        resolved,
        meshes,
        bends,
        carriers: HashMap::new(),
        kept: Used::default(),
        out: Unrolled {
            groups: vec![0..0; resolved.names.len()],
            group_names: resolved.names.clone(),
            ..Unrolled::default()
        },
        nesting,
    };
    unroller.out.instances.reserve_exact(unroller.nesting.records as usize);
    for (number, item) in resolved.top.iter().enumerate() {
        let first = unroller.out.instances.len() as u32;
        let frame = Frame { node: NONE, local: Affine3::IDENTITY, material: NONE, stem: NONE };
        unroller.item(item, ItemPosition::top(number), frame);
        let instances = first..unroller.out.instances.len() as u32;
        unroller.out.placed.push(PlacedRun { instances, entry: item.entry as u32 });
    }
    unroller.assemblies();
    unroller.out.appearances.sort_by_key(|appearance| appearance.instance);
    match first_degenerate(&unroller.out) {
        None => Ok(unroller.out),
        Some(instance) => {
            let run = unroller.out.placed.iter().find(|run| run.instances.contains(&(instance as u32)));
            let place = run.map_or(top, |run| top.index(run.entry as usize));
            let message = "the transform has no inverse: scales are too small or too large";
            Err(source.error(&place, message))
        }
    }
}

fn first_degenerate(out: &Unrolled) -> Option<usize> {
    let worlds = node_worlds(&out.nodes);
    let degenerate = |i: &Instance| !is_invertible(&i.local) || !is_invertible(&instance_world(i, &worlds));
    out.instances.par_iter().position_first(degenerate)
}

/// The context in which a list is expanded: its node, transform, material and name.
#[derive(Clone, Copy)]
struct Frame {
    node: u32,
    local: Affine3,
    material: u32,
    /// Stem of the groups around it, or [`NONE`].
    stem: u32,
}

/// The movement of a list as a whole.
struct ListMotion {
    motion: u32,
    /// The row of a table that moves it, with the first of its instances.
    run: Option<TableRun>,
}

struct Unroller<'a> {
    resolved: &'a Resolved,
    meshes: &'a [MeshSource],
    bends: &'a Bends,
    /// For the first copy of each list, its node and the transform relative to that node.
    carriers: HashMap<usize, (u32, Affine3)>,
    nesting: Nesting,
    /// The lists that are kept as assemblies, in the order of their first use, with the material around them.
    kept: Used<Kept>,
    out: Unrolled,
}

impl<'a> Unroller<'a> {
    fn item(&mut self, item: &Item, place: ItemPosition, frame: Frame) {
        let start = self.out.instances.len() as u32;
        let table = item.table().map(|table| self.table(table));
        // Parents precede their children, so their first copy is known.
        let carrier = item.parent.and_then(|group| self.carriers.get(&group));
        let frame = carrier.map_or(frame, |&(node, local)| Frame { node, local, ..frame });
        for copy in 0..item.count() as u32 {
            let (number, transform) = item.copy(copy);
            let motion = self.motion(item, number);
            let own = item.material(number);
            let material = if own == NONE { frame.material } else { own };
            let run = item.table().zip(table).map(|(pattern, table)| TableRun {
                table,
                first: self.out.instances.len() as u32,
                stride: 1,
                row: number,
                rows: 1,
                around: frame.local * item.whole * pattern.upright,
                each: pattern.each,
            });
            let frame = Frame { local: frame.local * transform, material, ..frame };
            match item.target {
                Target::Mesh(mesh) => self.instance((mesh, item), frame, motion),
                Target::List(list) if self.nesting.keeps(place) => self.assembly(list, frame, motion),
                Target::List(list) => {
                    self.list(list, frame, ListMotion { motion, run });
                    continue;
                }
            }
            if let Some(run) = run {
                TableRun::push(&mut self.out.tables.instances, run);
                TableRun::push_block(&mut self.out.tables.shown, run);
            }
        }
        if let Some(visible) = &item.visible {
            let switch = self.out.switches.len() as u32;
            self.out.switches.push(visible.clone());
            let all = start..self.out.instances.len() as u32;
            let by = ShownBy::Switch(switch);
            self.out.appearances.extend(all.map(|instance| Appearance { instance, by }));
        }
    }

    fn motion(&mut self, item: &Item, copy: u32) -> u32 {
        let mesh = match item.target {
            Target::Mesh(mesh) if self.meshes[mesh].motion.poses().is_some() => mesh as u32,
            Target::Mesh(mesh) if self.bent_by(item) != NONE => mesh as u32,
            _ => NONE,
        };
        let motion = item.motion;
        if motion == NONE && mesh == NONE {
            NONE
        } else {
            let copy = if item.keeps_gaps { copy } else { 0 };
            self.out.motions.number(UsedMotion { motion, mesh, copy }, 1)
        }
    }

    /// The item's motion if it bends meshes; [`NONE`] otherwise.
    fn bent_by(&self, item: &Item) -> u32 {
        if self.bends.bends(item.motion) { item.motion } else { NONE }
    }

    fn instance(&mut self, (mesh, item): (usize, &Item), frame: Frame, motion: u32) {
        let used = UsedMesh { mesh: mesh as u32, bent_by: self.bent_by(item) };
        let size = self.bends.bend(&used).map_or(self.meshes[mesh].motion.mesh_count(), |bend| bend.pose_count());
        let number = self.out.meshes.number(used, size);
        let slot_base = self.out.slots.run(number, &self.meshes[mesh].materials, frame.material);
        let name = &self.meshes[mesh].mesh.name;
        let stem = self.out.stems.stem(frame.stem, Target::Mesh(mesh), name);
        self.out.stems.of.push(stem);
        self.out.instances.push(Instance { local: frame.local, node: frame.node, mesh: number, slot_base, motion });
    }

    /// The index of a table, whose copies are about to be placed.
    fn table(&mut self, pattern: &TablePattern) -> u32 {
        let all = &mut self.out.tables.all;
        let known = all.iter().position(|table| Arc::ptr_eq(table, &pattern.table));
        known.unwrap_or_else(|| {
            all.push(pattern.table.clone());
            all.len() - 1
        }) as u32
    }

    fn list(&mut self, list: usize, mut frame: Frame, ListMotion { motion, run }: ListMotion) {
        if motion != NONE || run.is_some() {
            if let Some(run) = run {
                TableRun::push(&mut self.out.tables.nodes, TableRun { first: self.out.nodes.len() as u32, ..run });
            }
            self.out.nodes.push(Node { local: frame.local, parent: frame.node, motion, follows: None });
            frame.node = self.out.nodes.len() as u32 - 1;
            frame.local = Affine3::IDENTITY;
        }
        self.carriers.entry(list).or_insert((frame.node, frame.local));
        // Lists written in place have no name.
        if let Some(name) = self.resolved.names.get(list) {
            let target = Target::List(list);
            frame.stem = self.out.stems.stem(frame.stem, target, name);
        }
        let first = self.out.instances.len() as u32;
        self.items(list, frame);
        let end = self.out.instances.len() as u32;
        if let Some(group) = self.out.groups.get_mut(list).filter(|g| g.start == g.end) {
            *group = first..end;
        }
        if let Some(run) = run.filter(|_| first < end) {
            TableRun::push_block(&mut self.out.tables.shown, TableRun { stride: end - first, ..run });
        }
    }

    fn items(&mut self, list: usize, frame: Frame) {
        let resolved = self.resolved;
        for (number, item) in resolved.lists[list].iter().enumerate() {
            self.item(item, ItemPosition { list, number }, frame);
        }
    }

    /// Places a list that [`Self::assemblies`] expands.
    fn assembly(&mut self, list: usize, frame: Frame, motion: u32) {
        let material = if self.nesting.takes_material(list) { frame.material } else { NONE };
        let mesh = ASSEMBLY | self.kept.number(Kept { list, material }, 1);
        let name = self.name(list);
        let stem = self.out.stems.stem(frame.stem, Target::List(list), name);
        self.out.stems.of.push(stem);
        self.out.instances.push(Instance { local: frame.local, node: frame.node, mesh, slot_base: 0, motion });
    }

    fn name(&self, list: usize) -> &'a str {
        self.resolved.names.get(list).map_or("group", String::as_str)
    }

    /// Expands all lists that are kept as assemblies, each in its own space. Assemblies are ordered before those that they place.
    fn assemblies(&mut self) {
        let (mut unrolled, mut places) = (Vec::new(), Vec::new());
        while let Some(&Kept { list, material }) = self.kept.order.get(unrolled.len()) {
            let first = self.out.instances.len();
            self.out.stems.begin_level();
            self.items(list, Frame { node: NONE, local: Affine3::IDENTITY, material, stem: NONE });
            let own = &self.out.instances[first..];
            places.push(own.iter().filter(|i| i.mesh & ASSEMBLY != 0).map(|i| (i.mesh & !ASSEMBLY) as usize).collect());
            let instances = first as u32..self.out.instances.len() as u32;
            unrolled.push(Assembly { name: self.name(list).to_owned(), instances });
        }
        let order = outermost_first(&places);
        let mut number = vec![0; order.len()];
        for (place, &assembly) in order.iter().enumerate() {
            number[assembly] = place as u32;
        }
        let meshes = self.out.meshes.next;
        for instance in self.out.instances.iter_mut().filter(|i| i.mesh & ASSEMBLY != 0) {
            instance.mesh = meshes + number[(instance.mesh & !ASSEMBLY) as usize];
        }
        self.out.assemblies = order.iter().map(|&assembly| unrolled[assembly].clone()).collect();
    }
}

/// An order in which every assembly comes before those that it places.
fn outermost_first(places: &[Vec<usize>]) -> Vec<usize> {
    fn visit(assembly: usize, places: &[Vec<usize>], seen: &mut [bool], order: &mut Vec<usize>) {
        if !std::mem::replace(&mut seen[assembly], true) {
            places[assembly].iter().for_each(|&inner| visit(inner, places, seen, order));
            order.push(assembly);
        }
    }
    let (mut seen, mut order) = (vec![false; places.len()], Vec::new());
    (0..places.len()).for_each(|assembly| visit(assembly, places, &mut seen, &mut order));
    order.reverse();
    order
}
