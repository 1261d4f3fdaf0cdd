//! The copies of a mesh or group that placements create, at rest, before expansion.

use super::resolved::{Item, Target};
use glam::Affine3;
use std::collections::HashMap;

/// Maximum number of collected copies.
pub const MOST_PLACED: usize = 4_000_000;

/// A mesh of the file, and the transform from its space to the list's.
pub type Placed = (usize, Affine3);

/// Finds the meshes that are, or are part of, copies of a target. Lists that contain themselves are visited once; a later check reports
/// them.
pub struct Search<'a> {
    lists: &'a [Vec<Item>],
    wanted: Target,
    /// For each visited list, whether it contains the target.
    known: HashMap<usize, bool>,
    open: Vec<usize>,
    found: Vec<Placed>,
}

impl<'a> Search<'a> {
    /// The meshes of all copies of `wanted` in a list of placements. None if there are more than [`MOST_PLACED`].
    pub fn run(lists: &'a [Vec<Item>], items: &[Item], wanted: Target) -> Option<Vec<Placed>> {
        let mut search = Self { lists, wanted, known: HashMap::new(), open: Vec::new(), found: Vec::new() };
        items.iter().all(|item| search.item(item, Affine3::IDENTITY, false)).then_some(search.found)
    }

    /// Adds everything that an item places. `inside` states whether it is in a copy of the target. Returns false if there are too many
    /// meshes.
    fn item(&mut self, item: &Item, outer: Affine3, inside: bool) -> bool {
        let inside = inside || item.target == self.wanted;
        if !inside && !self.has(item.target) {
            return true;
        }
        (0..item.count() as u32).all(|copy| {
            let transform = outer * item.copy(copy).1;
            match item.target {
                Target::Mesh(mesh) => self.add(mesh, transform),
                Target::List(list) => self.list(list, transform, inside),
            }
        })
    }

    fn add(&mut self, mesh: usize, transform: Affine3) -> bool {
        self.found.push((mesh, transform));
        self.found.len() <= MOST_PLACED
    }

    fn list(&mut self, list: usize, outer: Affine3, inside: bool) -> bool {
        if self.open.contains(&list) {
            return true;
        }
        self.open.push(list);
        let lists = self.lists;
        let fits = lists[list].iter().all(|item| self.item(item, outer, inside));
        self.open.pop();
        fits
    }

    /// Whether a target contains the wanted one.
    fn has(&mut self, target: Target) -> bool {
        let Target::List(list) = target else {
            return false;
        };
        if let Some(&known) = self.known.get(&list) {
            return known;
        }
        self.known.insert(list, false);
        let lists = self.lists;
        let has = lists[list].iter().any(|item| item.target == self.wanted || self.has(item.target));
        self.known.insert(list, has);
        has
    }
}
