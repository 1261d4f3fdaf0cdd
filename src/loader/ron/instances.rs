//! Unrolls placements into the scene's nodes and instances. Groups that never move leave no node behind.

use super::{
    file::Source,
    placements::{Item, Resolved, Target, check_count},
    source::Place,
};
use crate::loader::{LoadError, materials::Slots, meshes::MeshSource, transform::is_invertible};
use crate::scene::{
    Instance, NONE, Node, PlacedRun, Track, cut,
    desc::SceneFile,
    rig::{Appearance, ShownBy},
};
use glam::Affine3;
use rayon::prelude::*;
use std::{collections::HashMap, hash::Hash, ops::Range};

/// Greatest depth to which groups may be nested.
const MAX_DEPTH: usize = 64;

/// The nodes and instances that the placements unroll to.
#[derive(Default)]
pub struct Unrolled {
    pub nodes: Vec<Node>,
    pub instances: Vec<Instance>,
    pub stems: Stems,
    pub slots: Slots,
    /// The file's meshes in the order in which instances number them; a palette of poses takes a number for each.
    pub meshes: Used<u32>,
    /// The motions in the order in which instances and nodes number them.
    pub motions: Used<UsedMotion>,
    /// The instances of the first copy of each named group; none of those that are not placed.
    pub groups: Vec<Range<u32>>,
    /// The instances that each entry of the file made.
    pub placed: Vec<PlacedRun>,
    /// Instances that are not always shown, in their order, and the switches that show them.
    pub appearances: Vec<Appearance>,
    pub switches: Vec<Track<bool>>,
}

/// A motion of the file, or [`NONE`], and the mesh whose palette of poses it plays, or [`NONE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UsedMotion {
    pub motion: u32,
    pub mesh: u32,
    /// Number of the copy in its placement, for motions that keep gaps between copies; else 0.
    pub copy: u32,
}

/// Stems of the names of instances: the groups that they are in and their mesh, like `village/house`.
#[derive(Default)]
pub struct Stems {
    pub texts: Vec<String>,
    /// Index of each instance's stem in `texts`.
    pub of: Vec<u32>,
    /// Index of each stem, by the stem of the surroundings ([`NONE`] at the top) and the group or mesh in them.
    known: HashMap<(u32, Target), u32>,
}

impl Stems {
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

/// Numbers things in the order of their first use.
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

/// Unrolls `resolved`, after making sure that the result is not too large.
///
/// # Errors
/// Groups that contain themselves or nest too deep, too many instances, transforms without an inverse.
pub fn unroll(
    source: &Source,
    file: &SceneFile,
    resolved: &Resolved,
    meshes: &[MeshSource],
) -> Result<Unrolled, LoadError> {
    let top = Place::ROOT.key("instances");
    let total = Totals::new(source, file, resolved).top(&top)?;
    let mut unroller = Unroller {
        resolved,
        meshes,
        groups: file.groups.names().collect(),
        carriers: HashMap::new(),
        out: Unrolled { groups: vec![0..0; file.groups.0.len()], ..Unrolled::default() },
    };
    unroller.out.instances.reserve_exact(total as usize);
    for item in &resolved.top {
        let first = unroller.out.instances.len() as u32;
        unroller.item(item, Frame { node: NONE, local: Affine3::IDENTITY, material: NONE, stem: NONE });
        let instances = first..unroller.out.instances.len() as u32;
        unroller.out.placed.push(PlacedRun { instances, entry: item.entry as u32 });
    }
    unroller.out.appearances.sort_by_key(|appearance| appearance.instance);
    match first_degenerate(&unroller.out) {
        None => Ok(unroller.out),
        Some(instance) => {
            let run = unroller.out.placed.iter().find(|run| run.instances.contains(&(instance as u32)));
            let place = run.map_or(top, |run| top.index(run.entry as usize));
            let message = "the transform has no inverse: scales are too small, too large or flat";
            Err(source.error(&place, message))
        }
    }
}

/// The static transform of every node, motions left out.
pub fn node_worlds(nodes: &[Node]) -> Vec<Affine3> {
    let mut worlds: Vec<Affine3> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let parent = worlds.get(node.parent as usize).copied().unwrap_or(Affine3::IDENTITY);
        worlds.push(parent * node.local);
    }
    worlds
}

/// World transform of an instance, motions left out.
pub fn instance_world(instance: &Instance, node_worlds: &[Affine3]) -> Affine3 {
    match node_worlds.get(instance.node as usize) {
        Some(node) => *node * instance.local,
        None => instance.local,
    }
}

fn first_degenerate(out: &Unrolled) -> Option<usize> {
    let worlds = node_worlds(&out.nodes);
    let degenerate = |i: &Instance| !is_invertible(&i.local) || !is_invertible(&instance_world(i, &worlds));
    out.instances.par_iter().position_first(degenerate)
}

/// The surroundings in which a list is unrolled: its node, transform, material and name.
#[derive(Clone, Copy)]
struct Frame {
    node: u32,
    local: Affine3,
    material: u32,
    /// Stem of the groups around, or [`NONE`].
    stem: u32,
}

struct Unroller<'a> {
    resolved: &'a Resolved,
    meshes: &'a [MeshSource],
    /// Names of the groups, which are the first lists.
    groups: Vec<&'a str>,
    /// The node and the transform in it of the first copy of each list.
    carriers: HashMap<usize, (u32, Affine3)>,
    out: Unrolled,
}

impl Unroller<'_> {
    fn item(&mut self, item: &Item, frame: Frame) {
        let start = self.out.instances.len() as u32;
        // Parents are placed above, so their first copy is known.
        let carrier = item.parent.and_then(|group| self.carriers.get(&group));
        let frame = carrier.map_or(frame, |&(node, local)| Frame { node, local, ..frame });
        for copy in 0..item.count() as u32 {
            let (number, transform) = item.copy(copy);
            let motion = self.motion(item, number);
            let own = item.material(number);
            let material = if own == NONE { frame.material } else { own };
            let frame = Frame { local: frame.local * transform, material, ..frame };
            match item.target {
                Target::Mesh(mesh) => self.instance(mesh, frame, motion),
                Target::List(list) => self.list(list, frame, motion),
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
            _ => NONE,
        };
        let motion = item.motion;
        match motion == NONE && mesh == NONE {
            true => NONE,
            false => {
                let copy = if item.keeps_gaps { copy } else { 0 };
                self.out.motions.number(UsedMotion { motion, mesh, copy }, 1)
            }
        }
    }

    fn instance(&mut self, mesh: usize, frame: Frame, motion: u32) {
        let size = self.meshes[mesh].motion.mesh_count();
        let number = self.out.meshes.number(mesh as u32, size);
        let slot_base = self.out.slots.run(number, &self.meshes[mesh].materials, frame.material);
        let name = &self.meshes[mesh].mesh.name;
        let stem = self.out.stems.stem(frame.stem, Target::Mesh(mesh), name);
        self.out.stems.of.push(stem);
        self.out.instances.push(Instance { local: frame.local, node: frame.node, mesh: number, slot_base, motion });
    }

    fn list(&mut self, list: usize, mut frame: Frame, motion: u32) {
        if motion != NONE {
            self.out.nodes.push(Node { local: frame.local, parent: frame.node, motion, follows: None });
            frame.node = self.out.nodes.len() as u32 - 1;
            frame.local = Affine3::IDENTITY;
        }
        self.carriers.entry(list).or_insert((frame.node, frame.local));
        // Lists that are written in place have no name.
        if let Some(name) = self.groups.get(list) {
            let target = Target::List(list);
            frame.stem = self.out.stems.stem(frame.stem, target, name);
        }
        let resolved = self.resolved;
        let first = self.out.instances.len() as u32;
        for item in &resolved.lists[list] {
            self.item(item, frame);
        }
        let end = self.out.instances.len() as u32;
        if let Some(group) = self.out.groups.get_mut(list).filter(|g| g.start == g.end) {
            *group = first..end;
        }
    }
}

/// Counts before anything is unrolled; each list once, however often it is used.
struct Totals<'a> {
    source: &'a Source,
    file: &'a SceneFile,
    resolved: &'a Resolved,
    /// The total of each list, once known.
    known: Vec<Option<Total>>,
    open: Vec<usize>,
}

/// The number of things that a list or a placement unrolls to.
#[derive(Clone, Copy, Default)]
struct Total {
    instances: u64,
    /// Groups with a motion of their own, which cost no less than instances.
    nodes: u64,
    /// How deep lists are nested.
    depth: usize,
}

impl Total {
    fn add(&mut self, other: Self) {
        self.instances = self.instances.saturating_add(other.instances);
        self.nodes = self.nodes.saturating_add(other.nodes);
        self.depth = self.depth.max(other.depth);
    }
}

impl<'a> Totals<'a> {
    fn new(source: &'a Source, file: &'a SceneFile, resolved: &'a Resolved) -> Self {
        Self { source, file, resolved, known: vec![None; resolved.lists.len()], open: Vec::new() }
    }

    fn top(mut self, place: &Place) -> Result<u64, LoadError> {
        for group in 0..self.file.groups.0.len() {
            self.list(group, place)?;
        }
        let mut total = Total::default();
        for item in &self.resolved.top {
            let place = place.index(item.entry);
            total.add(self.item(item, &place)?);
            let all = total.instances.saturating_add(total.nodes);
            check_count(all).map_err(|message| self.source.error(&place, message))?;
        }
        Ok(total.instances)
    }

    fn item(&mut self, item: &Item, place: &Place) -> Result<Total, LoadError> {
        let each = match item.target {
            Target::Mesh(_) => Total { instances: 1, ..Total::default() },
            Target::List(list) => {
                let inner = self.list(list, place)?;
                let own = u64::from(item.motion != NONE);
                Total { nodes: inner.nodes.saturating_add(own), ..inner }
            }
        };
        let copies = item.count();
        Ok(Total {
            instances: each.instances.saturating_mul(copies),
            nodes: each.nodes.saturating_mul(copies),
            depth: each.depth,
        })
    }

    fn list(&mut self, list: usize, place: &Place) -> Result<Total, LoadError> {
        if let Some(known) = self.known[list] {
            return Ok(known);
        }
        if let Some(start) = self.open.iter().position(|&l| l == list) {
            return Err(self.cycle(start, place));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(self.too_deep(place));
        }
        self.open.push(list);
        let mut total = Total::default();
        let resolved = self.resolved;
        for item in &resolved.lists[list] {
            total.add(self.item(item, place)?);
        }
        total.depth += 1;
        self.open.pop();
        if total.depth > MAX_DEPTH {
            return Err(self.too_deep(place));
        }
        self.known[list] = Some(total);
        Ok(total)
    }

    fn too_deep(&self, place: &Place) -> LoadError {
        self.source.error(place, format!("groups are nested more than {MAX_DEPTH} deep: flatten them"))
    }

    fn cycle(&self, start: usize, fallback: &Place) -> LoadError {
        let name = |l: &usize| self.file.groups.0.get(*l).map(|(n, _)| n.as_str());
        let mut names: Vec<&str> = self.open[start..].iter().filter_map(name).collect();
        let message = |names: &[&str]| format!("groups contain themselves: {}: break the circle", names.join(" → "));
        let groups = Place::ROOT.key("groups");
        match names.first().copied() {
            Some(first) => {
                names.push(first);
                self.source.error(&groups.key(first), message(&names))
            }
            None => self.source.error(fallback, message(&names)),
        }
    }
}
