//! Walks the prims of each group and makes items of them.
//!
//! Instances are not descended into: each prototype is walked once for each different [`Look`] that its instances have. Prims are kept on an
//! explicit stack, so deep files need no deep call stack.

use super::{
    census::Counter,
    groups::{Groups, Key, Task},
    inherit::{self, Above, Look},
    instancer,
    kinds::{self, Kind},
    lights,
    materials::Materials,
    pictures::Pictures,
    places::Inner,
    shapes::Shapes,
    skeleton::Skeletons,
    text::DEEPEST,
    transforms::{self, Place},
    values::Values,
};
use crate::{Census, Content, Copies, Item, NONE, Purposes, Sampled, StageError};
use openusd::{
    sdf,
    usd::{Prim, PrimPredicate, PrimStatus},
};
use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
    rc::Rc,
};

/// What a walk fills.
pub struct Walk {
    /// Reads values.
    pub values: Rc<Values>,
    /// Materials that are bound.
    pub materials: Materials,
    /// Skeletons that are followed.
    pub skeletons: Skeletons,
    /// Pictures of materials and lights.
    pub pictures: Pictures,
    /// Purposes that are drawn.
    pub purposes: Purposes,
    /// Shapes.
    pub shapes: Shapes,
    /// Groups.
    pub groups: Groups,
    /// Lights and cameras in each group.
    pub inner: HashMap<usize, Vec<Inner>>,
    /// Counts.
    pub census: Census,
    /// Number of prims of each type that are left out.
    pub left_out: BTreeMap<String, u64>,
    counter: Counter,
    /// States of prims above prototypes of point instancers.
    above: HashMap<(usize, sdf::Path), Rc<Look>>,
}

/// The group that is being walked.
struct Current {
    index: usize,
    key: Key,
    /// Length of the path in the file that the group's name replaces in names of items.
    prefix: usize,
    items: Vec<Item>,
}

impl Current {
    /// The path of a prim under the name of its group, as messages show it.
    fn name(&self, groups: &Groups, path: &sdf::Path) -> String {
        let path = path.as_str();
        if self.prefix == 0 { path.to_owned() } else { format!("{}{}", groups.name(self.index), &path[self.prefix..]) }
    }
}

impl Walk {
    /// A walk that has seen nothing.
    pub fn new(values: &Rc<Values>, pictures: &Pictures, purposes: Purposes) -> Self {
        Self {
            values: values.clone(),
            materials: Materials::new(values, pictures),
            skeletons: Skeletons::new(values),
            pictures: pictures.clone(),
            purposes,
            shapes: Shapes::default(),
            groups: Groups::default(),
            inner: HashMap::new(),
            census: Census::default(),
            left_out: BTreeMap::new(),
            counter: Counter::default(),
            above: HashMap::new(),
        }
    }

    /// Walks the stage from the prim, or all of it, and everything that it places.
    ///
    /// # Errors
    /// If prims are too deep below one another.
    pub fn run(&mut self, file: &Path, prim: Option<&Prim>) -> Result<(), StageError> {
        let root = prim.map_or_else(sdf::Path::abs_root, |prim| prim.path().clone());
        let look = Look { undefined: prim.is_some_and(|prim| !prim.is_defined().unwrap_or(true)), ..Look::default() };
        let key = Key { path: root, whole: prim.is_some(), look };
        self.groups.request(key, || "/".to_owned());
        while let Some(task) = self.groups.next() {
            self.group(file, task)?;
        }
        self.tell_left_out();
        self.census.prototypes = self.counter.prototypes();
        Ok(())
    }

    fn group(&mut self, file: &Path, Task { index, key }: Task) -> Result<(), StageError> {
        let prefix = if index == 0 { 0 } else { key.path.as_str().len() };
        let mut current = Current { index, prefix, items: Vec::new(), key };
        let path = current.key.path.clone();
        let Some(root) = self.prim(&path) else { return Ok(()) };
        let above = if index == 0 && current.key.whole {
            self.above_chosen(&current)
        } else {
            Above::root(current.key.look.clone())
        };
        let mut stack = Vec::new();
        if current.key.whole {
            stack.push((root, above, 0));
        } else {
            push_children(&mut stack, &root, &above, 0);
        }
        while let Some((prim, above, depth)) = stack.pop() {
            if depth > DEEPEST {
                let message = format!("{}: is more than {DEEPEST} prims deep", prim.path());
                return Err(StageError::new(file, message));
            }
            if let Some(here) = self.visit(&mut current, &prim, &above) {
                push_children(&mut stack, &prim, &here, depth);
            }
        }
        self.groups.fill(index, current.items);
        Ok(())
    }

    fn prim(&self, path: &sdf::Path) -> Option<Prim> {
        self.values.stage().prim(path.clone()).ok()
    }

    /// The state above a prim that the options choose.
    fn above_chosen(&mut self, current: &Current) -> Above {
        let start = Above::root(current.key.look.clone());
        current.key.path.parent().map_or(start.clone(), |parent| self.descend(start, None, &parent))
    }

    /// The state at the prim with this path, from the state at a prim above it.
    fn descend(&mut self, start: Above, from: Option<&sdf::Path>, to: &sdf::Path) -> Above {
        let mut way: Vec<sdf::Path> = to.ancestors_below_root().collect();
        way.sort_by_key(|path| path.as_str().len());
        let below = |path: &&sdf::Path| from.is_none_or(|from| *path != from && path.has_prefix(from));
        way.iter().filter(below).fold(start, |above, path| match self.prim(path) {
            Some(prim) => self.enter(&prim, &above),
            None => above,
        })
    }

    fn enter(&mut self, prim: &Prim, above: &Above) -> Above {
        let type_name = self.values.type_name(prim);
        inherit::enter(&self.values, &mut self.materials, &mut self.skeletons, prim, &type_name, above)
    }

    /// Makes items of a prim. Returns the state that its children inherit, unless they are not to be walked.
    fn visit(&mut self, current: &mut Current, prim: &Prim, above: &Above) -> Option<Above> {
        let stage = self.values.stage();
        if !stage.prim_matches(prim.path(), predicate(above.look.undefined)).unwrap_or(false) {
            return None;
        }
        self.census.prims += u64::from(current.index == 0);
        let type_name = self.values.type_name(prim);
        let here = inherit::enter(&self.values, &mut self.materials, &mut self.skeletons, prim, &type_name, above);
        self.content(current, prim, &type_name, &here);
        if let Ok(Some(prototype)) = prim.prototype() {
            self.instance(current, prim, prototype, &here);
            return None;
        }
        if Kind::of(&type_name) == Kind::PointInstancer {
            // Prototypes below an instancer are not drawn by themselves.
            if current.index == 0 {
                self.counter.add_below(&self.values, prim, &mut self.census);
            }
            return None;
        }
        Some(here)
    }

    /// The content of the prim itself.
    fn content(&mut self, current: &mut Current, prim: &Prim, type_name: &str, here: &Above) {
        let is_light = lights::is_light(&self.values, prim, type_name);
        let kind = Kind::of(type_name);
        if is_light || kind == Kind::Camera {
            self.place_inner(current, prim, here, is_light);
        }
        if !here.is_shown() || !here.look.purpose.is_drawn(&self.purposes) {
            return;
        }
        match kind {
            Kind::Shape => self.shape(current, prim, type_name, here),
            Kind::PointInstancer => self.copies(current, prim, here),
            Kind::Unsupported => *self.left_out.entry(type_name.to_owned()).or_default() += 1,
            Kind::Camera | Kind::Other => {}
        }
    }

    /// Remembers a light or a camera.
    fn place_inner(&mut self, current: &Current, prim: &Prim, here: &Above, is_light: bool) {
        if is_light && !here.is_shown() {
            return;
        }
        let name = current.name(&self.groups, prim.path());
        let Some(place) = self.sampled(&here.place, &name) else { return };
        let shown = here.shown.as_ref().clone();
        let inner = Inner { prim: prim.clone(), name, place, shown, is_light };
        self.inner.entry(current.index).or_default().push(inner);
    }

    fn sampled(&self, place: &Place, name: &str) -> Option<Sampled<glam::DAffine3>> {
        let sampled = place.sampled(&self.values);
        if sampled.is_none() {
            self.values.warn(format!("{name}: its transform is not finite; it is left out"));
        }
        sampled
    }

    fn push(&self, current: &mut Current, name: String, content: Content, place: &Place, shown: &Sampled<bool>) {
        if let Some(group_from_item) = self.sampled(place, &name) {
            current.items.push(Item { name, content, group_from_item, shown: shown.clone() });
        }
    }

    fn shape(&mut self, current: &mut Current, prim: &Prim, type_name: &str, here: &Above) {
        let name = current.name(&self.groups, prim.path());
        let Some(found) = self.shapes.get(&self.values, prim, type_name, &name, &here.look.skel) else { return };
        let mut materials = Vec::with_capacity(found.subsets.len() + 1);
        for path in &found.subsets {
            let Some(subset) = self.prim(path) else { continue };
            let bound = self.materials.bind(&subset, &here.look.bound);
            materials.push(self.materials.bound(&subset, &bound));
        }
        materials.push(self.materials.bound(prim, &here.look.bound));
        let shape = self.shapes.at(found.shape);
        let color = here.look.color().filter(|_| shape.colors.is_none());
        let opacity = here.look.opacity().filter(|_| shape.opacities.is_none());
        let skinned = matches!(&shape.kind, crate::ShapeKind::Mesh(mesh) if mesh.skin.is_some());
        let skeleton = if skinned { self.skeletons.pose(&here.look.skel) } else { NONE };
        let place = match self.skeletons.skeleton(&here.look.skel).filter(|_| skeleton != NONE) {
            Some(path) => self.place_in_group(current, &path).unwrap_or_else(|| {
                self.values.warn(format!("{name}: its skeleton {path} is in another instance; its place may be wrong"));
                here.place.clone()
            }),
            None => here.place.clone(),
        };
        let content = Content::Shape { shape: found.shape, materials, skeleton, color, opacity };
        self.push(current, name, content, &place, &here.shown);
    }

    /// The place of a prim in the group. `None` if it is not in it.
    fn place_in_group(&self, current: &Current, path: &sdf::Path) -> Option<Place> {
        let root = &current.key.path;
        let is_world = current.index == 0;
        if !is_world && !path.has_prefix(root) {
            return None;
        }
        let belongs = |path: &sdf::Path| is_world || (path.has_prefix(root) && (current.key.whole || path != root));
        let mut way: Vec<sdf::Path> = path.ancestors_below_root().filter(belongs).collect();
        way.sort_by_key(|path| path.as_str().len());
        Some(way.iter().filter_map(|path| self.prim(path)).fold(Place::default(), |place, prim| {
            let transforms = kinds::is_xformable(&self.values.type_name(&prim));
            if transforms { place.child(&transforms::read(&self.values, &prim)) } else { place }
        }))
    }

    /// A native instance.
    fn instance(&mut self, current: &mut Current, prim: &Prim, prototype: sdf::Path, here: &Above) {
        let inner = self.counter.instances_in(&self.values, &prototype);
        if current.index == 0 {
            self.census.native_instances += 1 + inner;
        }
        if !here.is_shown() {
            return;
        }
        let name = current.name(&self.groups, prim.path());
        let mut look = here.look.as_ref().clone();
        // Instances share a group, whether or not a point instancer places them, unless undefined prims make a difference.
        look.undefined &= self.counter.has_undefined(&self.values, &prototype);
        let key = Key { path: prototype, whole: false, look };
        let group = self.groups.request(key, || name.clone());
        self.push(current, name, Content::Group(group), &here.place, &here.shown);
    }

    /// A point instancer.
    fn copies(&mut self, current: &mut Current, prim: &Prim, here: &Above) {
        let name = current.name(&self.groups, prim.path());
        let targets = self.values.targets(prim, "prototypes");
        let prototypes: Vec<Option<u32>> =
            targets.iter().map(|target| self.prototype(current, target, &name)).collect();
        let scattered = instancer::read(&self.values, prim, targets.len());
        if scattered.of.is_empty() {
            return;
        }
        let copies = resolve(scattered.of, scattered.places, &prototypes);
        self.push(current, name, Content::Copies(copies), &here.place, &here.shown);
    }

    /// The group of a prototype of a point instancer.
    fn prototype(&mut self, current: &Current, target: &sdf::Path, instancer: &str) -> Option<u32> {
        let prim = self.prim(target).filter(|prim| prim.is_valid().unwrap_or(false));
        if prim.is_none() {
            self.values.warn(format!("{instancer}: its prototype {target} does not exist; its copies are left out"));
        }
        prim?;
        let parent = target.parent().unwrap_or_else(sdf::Path::abs_root);
        let look = self.look_at(current, &parent);
        let key = Key { path: target.clone(), whole: true, look: Look { undefined: true, ..look.as_ref().clone() } };
        let name = current.name_of(&self.groups, target);
        Some(self.groups.request(key, || name))
    }

    /// What prims below this one inherit.
    fn look_at(&mut self, current: &Current, path: &sdf::Path) -> Rc<Look> {
        let key = (current.index, path.clone());
        if let Some(known) = self.above.get(&key) {
            return known.clone();
        }
        let root = &current.key.path;
        let start = Above::root(current.key.look.clone());
        let here = if current.index != 0 && path.has_prefix(root) {
            let above_root = if current.key.whole { root.parent() } else { Some(root.clone()) };
            self.descend(start, above_root.as_ref(), path)
        } else {
            self.descend(Above::root(Look::default()), None, path)
        };
        self.above.insert(key, here.look.clone());
        here.look
    }

    fn tell_left_out(&mut self) {
        for (kind, count) in &self.left_out {
            let plural = if *count == 1 { "prim is" } else { "prims are" };
            self.values.warn(format!("{kind}: {count} {plural} left out, because throng does not draw this type"));
        }
        self.census.left_out = self.left_out.clone();
    }
}

impl Current {
    /// As [`Current::name`], for a path that need not be in the group.
    fn name_of(&self, groups: &Groups, path: &sdf::Path) -> String {
        if path.has_prefix(&self.key.path) { self.name(groups, path) } else { path.to_string() }
    }
}

/// Copies whose prototype exists.
fn resolve(of: Vec<u32>, places: Sampled<Vec<glam::Affine3>>, prototypes: &[Option<u32>]) -> Copies {
    // A prototype that is listed twice is one.
    let mut list: Vec<u32> = prototypes.iter().flatten().copied().collect();
    list.sort_unstable();
    list.dedup();
    let index = |group: u32| list.iter().position(|&known| known == group).map(|index| index as u32);
    let map: Vec<Option<u32>> = prototypes.iter().map(|group| group.and_then(index)).collect();
    if map.iter().all(Option::is_some) {
        let of = of.into_iter().filter_map(|prototype| map[prototype as usize]).collect();
        return Copies { prototypes: list, of, places };
    }
    let kept: Vec<usize> = (0..of.len()).filter(|&copy| map[of[copy] as usize].is_some()).collect();
    Copies {
        of: kept.iter().filter_map(|&copy| map[of[copy] as usize]).collect(),
        places: places.map(|places| kept.iter().map(|&copy| places[copy]).collect()),
        prototypes: list,
    }
}

/// Prims that are walked.
pub fn predicate(undefined: bool) -> PrimPredicate {
    if undefined {
        PrimPredicate::new(PrimStatus::ACTIVE.union(PrimStatus::LOADED), PrimStatus::ABSTRACT)
    } else {
        PrimPredicate::DEFAULT
    }
}

/// Puts the children of a prim on the stack, the first one on top.
fn push_children(stack: &mut Vec<(Prim, Above, usize)>, prim: &Prim, here: &Above, depth: usize) {
    let children = prim.children().unwrap_or_default();
    stack.extend(children.into_iter().rev().map(|child| (child, here.clone(), depth + 1)));
}
