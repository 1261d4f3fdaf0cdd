//! Counts of prims that the walk does not reach.

use super::{values::Values, walk};
use crate::{Census, Content, Copies, Group, Sampled};
use openusd::{
    sdf,
    usd::{Prim, PrimPredicate},
};
use std::collections::{HashMap, HashSet};

/// Counts instances; remembers those of each prototype.
#[derive(Default)]
pub struct Counter {
    known: HashMap<sdf::Path, u64>,
    undefined: HashMap<sdf::Path, bool>,
}

impl Counter {
    /// Adds the prims below this one.
    pub fn add_below(&mut self, values: &Values, prim: &Prim, census: &mut Census) {
        let mut stack = prim.children().unwrap_or_default();
        while let Some(prim) = stack.pop() {
            if !is_counted(values, &prim) {
                continue;
            }
            census.prims += 1;
            match prim.prototype() {
                Ok(Some(prototype)) => census.native_instances += 1 + self.instances_in(values, &prototype),
                _ => stack.extend(prim.children().unwrap_or_default()),
            }
        }
    }

    /// Number of prototypes that were seen.
    pub fn prototypes(&self) -> u64 {
        self.known.len() as u64
    }

    /// Whether a prototype, or one in it, has prims that are only drawn as prototypes of point instancers.
    pub fn has_undefined(&mut self, values: &Values, prototype: &sdf::Path) -> bool {
        if let Some(&known) = self.undefined.get(prototype) {
            return known;
        }
        let matches = |prim: &Prim, undefined: bool| {
            values.stage().prim_matches(prim.path(), walk::predicate(undefined)).unwrap_or(false)
        };
        let mut seen = HashSet::from([prototype.clone()]);
        let mut stack = children_of(values, prototype);
        let mut found = false;
        while let Some(prim) = stack.pop().filter(|_| !found) {
            found = matches(&prim, true) && !matches(&prim, false);
            match prim.prototype() {
                Ok(Some(inner)) if seen.insert(inner.clone()) => stack.extend(children_of(values, &inner)),
                Ok(Some(_)) => {}
                _ => stack.extend(prim.children().unwrap_or_default()),
            }
        }
        self.undefined.insert(prototype.clone(), found);
        found
    }

    /// Number of native instances in a prototype, with those in inner prototypes counted once for each inner instance.
    pub fn instances_in(&mut self, values: &Values, prototype: &sdf::Path) -> u64 {
        let mut way = vec![(prototype.clone(), None)];
        while let Some((path, inner)) = way.last_mut() {
            if self.known.contains_key(path) {
                way.pop();
                continue;
            }
            let inner: &mut Vec<sdf::Path> = inner.get_or_insert_with(|| inner_prototypes(values, path));
            match inner.iter().find(|inner| !self.known.contains_key(*inner)).cloned() {
                // Composition refuses prototypes that contain themselves, so the way is short.
                Some(missing) => way.push((missing, None)),
                None => {
                    let count = inner.iter().map(|inner| 1 + self.known[inner]).sum();
                    self.known.insert(path.clone(), count);
                    way.pop();
                }
            }
        }
        self.known.get(prototype).copied().unwrap_or(0)
    }
}

/// Number of copies of all point instancers at the first time.
pub fn point_instances(groups: &[Group], first: Option<f64>) -> u64 {
    let mut placed = vec![0_u64; groups.len()];
    placed[0] = 1;
    let mut sum = 0_u64;
    for (index, group) in groups.iter().enumerate() {
        let times = placed[index];
        for item in &group.items {
            match &item.content {
                Content::Shape { .. } => {}
                Content::Group(group) => placed[*group as usize] = placed[*group as usize].saturating_add(times),
                Content::Copies(copies) => {
                    for of in present(copies, first) {
                        let group = &mut placed[copies.prototypes[of as usize] as usize];
                        *group = group.saturating_add(times);
                        sum = sum.saturating_add(times);
                    }
                }
            }
        }
    }
    sum
}

/// Prototypes of the copies that are there at a time.
fn present(copies: &Copies, time: Option<f64>) -> impl Iterator<Item = u32> {
    let places = match (&copies.places, time) {
        (Sampled::Moving(samples), Some(time)) => {
            let after = samples.partition_point(|(sample, _)| *sample <= time);
            &samples[after.saturating_sub(1)].1
        }
        (places, _) => places.first(),
    };
    copies.of.iter().zip(places).filter(|(_, place)| place.is_finite()).map(|(of, _)| *of)
}

fn is_counted(values: &Values, prim: &Prim) -> bool {
    values.stage().prim_matches(prim.path(), PrimPredicate::DEFAULT).unwrap_or(false)
}

fn children_of(values: &Values, path: &sdf::Path) -> Vec<Prim> {
    let prim = values.stage().prim(path.clone()).ok();
    prim.and_then(|prim| prim.children().ok()).unwrap_or_default()
}

/// The prototype of each instance in a prototype.
fn inner_prototypes(values: &Values, prototype: &sdf::Path) -> Vec<sdf::Path> {
    let mut stack = children_of(values, prototype);
    let mut found = Vec::new();
    while let Some(prim) = stack.pop() {
        if !is_counted(values, &prim) {
            continue;
        }
        match prim.prototype() {
            Ok(Some(inner)) => found.push(inner),
            _ => stack.extend(prim.children().unwrap_or_default()),
        }
    }
    found
}
