//! The groups of a stage, and their order.

use super::{inherit::Look, warnings::Warnings};
use crate::{Content, Group};
use openusd::sdf;
use std::collections::{HashMap, VecDeque};

/// What a group is made of. Equal keys have equal content.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// The prim at its root.
    pub path: sdf::Path,
    /// Whether the prim itself belongs to the group, with its transform, or only its children.
    pub whole: bool,
    /// What is inherited from above: above the prim if it belongs to the group, otherwise the prim's own state.
    pub look: Look,
}

/// A group that still has to be walked.
pub struct Task {
    /// Its index.
    pub index: usize,
    /// What it is made of.
    pub key: Key,
}

/// Groups and those that are not walked yet.
#[derive(Default)]
pub struct Groups {
    known: HashMap<Key, u32>,
    waiting: VecDeque<Task>,
    groups: Vec<Group>,
}

impl Groups {
    /// Index of the group. `name` is the path that it has in messages; the first one is kept.
    pub fn request(&mut self, key: Key, name: impl FnOnce() -> String) -> u32 {
        if let Some(&index) = self.known.get(&key) {
            return index;
        }
        let index = self.groups.len();
        self.groups.push(Group { name: name(), items: Vec::new() });
        self.known.insert(key.clone(), index as u32);
        self.waiting.push_back(Task { index, key });
        index as u32
    }

    /// The next group to walk.
    pub fn next(&mut self) -> Option<Task> {
        self.waiting.pop_front()
    }

    /// Name of a group.
    pub fn name(&self, index: usize) -> &str {
        &self.groups[index].name
    }

    /// Stores the items of a group.
    pub fn fill(&mut self, index: usize, items: Vec<crate::Item>) {
        self.groups[index].items = items;
    }

    /// All groups, so that each precedes those that it places, and the index that each had before. A group that contains itself is a mistake
    /// in the file and is left out there.
    pub fn finish(self, warnings: &Warnings) -> (Vec<Group>, Vec<usize>) {
        let mut groups = self.groups;
        let order = order(&mut groups, warnings);
        (arrange(groups, &order), order)
    }
}

/// Groups that an item places.
pub fn placed(content: &Content) -> &[u32] {
    match content {
        Content::Shape { .. } => &[],
        Content::Group(group) => std::slice::from_ref(group),
        Content::Copies(copies) => &copies.prototypes,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    New,
    Open,
    Done,
}

/// Indices of the groups that the first one reaches, each before those that it places. Removes items that place a group around them.
fn order(groups: &mut [Group], warnings: &Warnings) -> Vec<usize> {
    let mut marks = vec![Mark::New; groups.len()];
    let mut finished = Vec::with_capacity(groups.len());
    // Groups on the way from the first one, and the item that each is at.
    let mut way = vec![(0, 0)];
    marks[0] = Mark::Open;
    while let Some(top) = way.last_mut() {
        let (group, item) = *top;
        let Some(content) = groups[group].items.get(item).map(|item| &item.content) else {
            marks[group] = Mark::Done;
            finished.push(group);
            way.pop();
            continue;
        };
        let inner = placed(content);
        if inner.iter().any(|&inner| marks[inner as usize] == Mark::Open) {
            let removed = groups[group].items.remove(item);
            warnings.add(format!("{}: contains itself; it is left out there", removed.name));
            continue;
        }
        match inner.iter().find(|&&inner| marks[inner as usize] == Mark::New) {
            Some(&inner) => {
                marks[inner as usize] = Mark::Open;
                way.push((inner as usize, 0));
            }
            None => top.1 += 1,
        }
    }
    finished.reverse();
    finished
}

/// The groups in this order, with their indices adapted.
fn arrange(mut groups: Vec<Group>, order: &[usize]) -> Vec<Group> {
    let mut places = vec![0; groups.len()];
    order.iter().enumerate().for_each(|(place, &group)| places[group] = place as u32);
    let mut arranged: Vec<Group> = order.iter().map(|&group| std::mem::take(&mut groups[group])).collect();
    for item in arranged.iter_mut().flat_map(|group| &mut group.items) {
        match &mut item.content {
            Content::Shape { .. } => {}
            Content::Group(group) => *group = places[*group as usize],
            Content::Copies(copies) => {
                copies.prototypes.iter_mut().for_each(|group| *group = places[*group as usize]);
            }
        }
    }
    arranged
}

/// Removes items that place nothing, as prototypes of pure structure do, and then groups that no item places.
pub fn prune(mut groups: Vec<Group>) -> Vec<Group> {
    let mut empty = vec![false; groups.len()];
    for index in (0..groups.len()).rev() {
        groups[index].items.retain(|item| {
            let inner = placed(&item.content);
            matches!(item.content, Content::Shape { .. }) || inner.iter().any(|&inner| !empty[inner as usize])
        });
        empty[index] = groups[index].items.is_empty();
    }
    let mut used = vec![false; groups.len()];
    used[0] = true;
    for index in 0..groups.len() {
        if used[index] {
            let items = &groups[index].items;
            items.iter().flat_map(|item| placed(&item.content)).for_each(|&inner| used[inner as usize] = true);
        }
    }
    let order: Vec<usize> = (0..groups.len()).filter(|&index| used[index]).collect();
    arrange(groups, &order)
}
