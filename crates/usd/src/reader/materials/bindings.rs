//! Which material a prim shows: bindings on the prim and above it, of prims and of collections (UsdShadeMaterialBindingAPI).

use crate::reader::{prototypes::prototype_root, values::Values};
use openusd::{
    sdf::{self, Value},
    tf::Token,
    usd::{CollectionAPI, MembershipQuery, Prim},
};
use std::collections::HashMap;

/// Beginning of the names of all bindings.
pub const PREFIX: &str = "material:binding";

/// What is bound to a prim and its descendants. Small, and equal for prims whose descendants show the same materials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bound {
    /// Bindings above the outermost level with collections.
    direct: Purposes<Option<Binding>>,
    /// The innermost level of [`Levels`]: its number, counted from 1. 0 while no collection was bound.
    level: u32,
    /// The instance that the prim is in, if collections are bound above it: the number of a path in [`Levels`], counted from 1.
    place: u32,
}

impl Bound {
    /// Whether the material of a prim depends on its path, because a collection is bound above.
    pub fn depends_on_path(&self) -> bool {
        self.level != 0
    }
}

/// One for each purpose: `full`, all purposes, and `preview`, in the order of preference.
pub type Purposes<T> = [T; 3];

/// A material that is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Binding {
    /// Index of the material.
    pub material: u32,
    /// Whether bindings below have no effect.
    pub stronger: bool,
}

/// Bindings of one prim.
#[derive(Default)]
pub struct Bindings {
    /// Bindings of the prim itself.
    pub direct: Purposes<Option<Binding>>,
    /// Bindings of collections, in order.
    pub collections: Purposes<Vec<(u32, Binding)>>,
}

/// Prims with bound collections. Whether these contain a prim depends on its path, so they are kept for all prims below.
#[derive(Default)]
pub struct Levels {
    levels: Vec<Level>,
    numbers: HashMap<Level, u32>,
    places: Vec<sdf::Path>,
    place_numbers: HashMap<sdf::Path, u32>,
    queries: Vec<MembershipQuery>,
    query_numbers: HashMap<sdf::Path, u32>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Level {
    /// The next level above, counted from 1.
    above: u32,
    direct: Purposes<Option<Binding>>,
    collections: Purposes<Vec<(u32, Binding)>>,
}

impl Levels {
    /// Adds the bindings of a prim to what is bound above it.
    pub fn add(&mut self, above: Bound, Bindings { direct, collections }: Bindings) -> Bound {
        if above.level == 0 && collections.iter().all(Vec::is_empty) {
            let mut bound = above;
            apply(&mut bound.direct, &direct);
            return bound;
        }
        let level = Level { above: above.level, direct, collections };
        let next = self.levels.len() as u32 + 1;
        let number = *self.numbers.entry(level.clone()).or_insert(next);
        if number == next {
            self.levels.push(level);
        }
        Bound { level: number, ..above }
    }

    /// What is bound in the instance at the prim: independent of its path if no collection tells its descendants apart.
    pub fn enter(&mut self, prim: &Prim, bound: Bound) -> Bound {
        let place = self.place(prim.path(), &bound);
        if let Some(child) = self.uniform_below(&place, &bound) {
            return Bound { direct: self.resolve(&child, &bound), level: 0, place: 0 };
        }
        let next = self.places.len() as u32 + 1;
        let number = *self.place_numbers.entry(place.clone()).or_insert(next);
        if number == next {
            self.places.push(place);
        }
        Bound { place: number, ..bound }
    }

    /// Index of the material that the prim shows.
    pub fn material(&self, prim: &Prim, bound: &Bound) -> Option<u32> {
        let resolved = match bound.level {
            0 => bound.direct,
            _ => self.resolve(&self.place(prim.path(), bound), bound),
        };
        resolved.into_iter().flatten().next().map(|binding| binding.material)
    }

    /// Number of the collection at the path.
    pub fn collection(&mut self, values: &Values, path: &sdf::Path) -> Option<u32> {
        if let Some(&number) = self.query_numbers.get(path) {
            return Some(number);
        }
        let (prim, name) = path.split_property()?;
        let name = name.strip_prefix("collection:")?.to_owned();
        let collection = CollectionAPI::from_prim_unchecked(values.prim(&prim)?, Token::from(name));
        let query = collection.compute_membership_query().ok()?;
        let number = self.queries.len() as u32;
        self.queries.push(query);
        self.query_numbers.insert(path.clone(), number);
        Some(number)
    }

    /// The bindings that are in effect at a path.
    fn resolve(&self, path: &sdf::Path, bound: &Bound) -> Purposes<Option<Binding>> {
        let mut resolved = bound.direct;
        for level in self.chain(bound).iter().rev() {
            let contains =
                |query: u32| self.queries.get(query as usize).is_some_and(|query| query.is_path_included(path));
            // A collection is stronger than the binding of the same prim.
            let candidates = std::array::from_fn(|purpose| {
                let of_collection = level.collections[purpose].iter().find(|(query, _)| contains(*query));
                of_collection.map(|(_, binding)| *binding).or(level.direct[purpose])
            });
            apply(&mut resolved, &candidates);
        }
        resolved
    }

    /// Levels from the innermost to the outermost.
    fn chain(&self, bound: &Bound) -> Vec<&Level> {
        let mut chain = Vec::new();
        let mut number = bound.level;
        while let Some(level) = number.checked_sub(1).and_then(|index| self.levels.get(index as usize)) {
            chain.push(level);
            number = level.above;
        }
        chain
    }

    /// The path of a prim in the stage, also if it is in the prototype of an instance.
    fn place(&self, path: &sdf::Path, bound: &Bound) -> sdf::Path {
        let instance = bound.place.checked_sub(1).and_then(|index| self.places.get(index as usize));
        let mapped = instance.and_then(|instance| path.replace_prefix(&prototype_root(path)?, instance));
        mapped.unwrap_or_else(|| path.clone())
    }

    /// A path below `place` that stands for all of them, if no collection distinguishes them.
    fn uniform_below(&self, place: &sdf::Path, bound: &Bound) -> Option<sdf::Path> {
        let queries = self.chain(bound).into_iter().flat_map(|level| level.collections.iter().flatten());
        let mut queries = queries.filter_map(|(query, _)| self.queries.get(*query as usize));
        let uniform = queries.all(|query| {
            query.expression_evaluator().is_none()
                && !query.rule_map().keys().any(|path| path != place && path.has_prefix(place))
        });
        if uniform { place.append_path("anything").ok() } else { None }
    }
}

/// Replaces bindings, except by those below a stronger one.
fn apply(state: &mut Purposes<Option<Binding>>, candidates: &Purposes<Option<Binding>>) {
    for (state, candidate) in state.iter_mut().zip(candidates) {
        if candidate.is_some() && !state.is_some_and(|state| state.stronger) {
            *state = *candidate;
        }
    }
}

/// Reads the bindings of a prim. `material` gives the index of the material at a path.
pub fn read(
    values: &Values,
    prim: &Prim,
    levels: &mut Levels,
    mut material: impl FnMut(&sdf::Path) -> Option<u32>,
) -> Bindings {
    let mut bindings = Bindings::default();
    // Of several collections that contain a prim, the first one counts, in the order that USD gives properties.
    let mut names = values.names(prim);
    names.sort_by_cached_key(|name| dictionary_key(name.as_str()));
    for name in names {
        let Some(rest) = name.as_str().strip_prefix(PREFIX) else { continue };
        let (collection, purpose) = match rest.split(':').collect::<Vec<_>>()[..] {
            [""] => (false, ""),
            ["", "collection", _] => (true, ""),
            ["", "collection", purpose, _] => (true, purpose),
            ["", purpose] => (false, purpose),
            _ => continue,
        };
        let Some(purpose) = ["full", "", "preview"].iter().position(|known| *known == purpose) else { continue };
        let targets = values.targets(prim, name.as_str());
        let stronger = is_stronger(prim, &name);
        let mut bind = |path: &sdf::Path| material(path).map(|material| Binding { material, stronger });
        match &targets[..] {
            [target] if !collection => bindings.direct[purpose] = bind(target),
            [first, second] if collection => {
                let (members, target) = if first.is_property_path() { (first, second) } else { (second, first) };
                if let (Some(query), Some(binding)) = (levels.collection(values, members), bind(target)) {
                    bindings.collections[purpose].push((query, binding));
                }
            }
            [] => {}
            _ => values.warn(format!("{}.{name}: has a wrong number of targets; it is left out", prim.path())),
        }
    }
    bindings
}

/// Whether the binding has the metadata `bindMaterialAs = "strongerThanDescendants"`.
fn is_stronger(prim: &Prim, name: &Token) -> bool {
    let value = prim.relationship(name.clone()).get_metadata::<Value>("bindMaterialAs").ok().flatten();
    value.as_ref().and_then(super::wire::text).as_deref() == Some("strongerThanDescendants")
}

/// Sorts names as a dictionary does: letters without regard to case, and digits by their number.
fn dictionary_key(name: &str) -> (String, String) {
    let mut key = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits > 0 {
            key.push_str(&format!("{:0>20}", &rest[..digits]));
            rest = &rest[digits..];
        } else {
            key.extend(first.to_lowercase());
            rest = &rest[first.len_utf8()..];
        }
    }
    (key, name.to_owned())
}
