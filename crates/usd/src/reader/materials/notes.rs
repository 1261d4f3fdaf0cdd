//! What networks have that a material cannot show: counted by type, with one warning each.

use super::network::Node;
use crate::reader::values::Values;
use openusd::{sdf, usd::Prim};
use std::collections::{BTreeMap, HashSet};

/// Counts of what was replaced, with the first place of each.
#[derive(Default)]
pub struct Notes {
    counts: BTreeMap<(Note, String), Count>,
    /// Shaders that were counted. Several inputs may read the same one.
    seen: HashSet<(Note, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Note {
    Unbound,
    Empty,
    Surface,
    Shader,
    Primvar,
    Animated,
    Circle,
    Space,
    LeftOut,
}

struct Count {
    first: String,
    count: u64,
}

impl Notes {
    /// A prim that is bound to something else than a material.
    pub fn unbound(&mut self, prim: &Prim, target: &sdf::Path) {
        let count = self.add(Note::Unbound, "", prim.path().as_str());
        if let Some(count) = count.filter(|count| count.count == 1) {
            count.first = format!("{} is bound to {target}", prim.path());
        }
    }

    /// A material without a surface shader.
    pub fn empty(&mut self, prim: &Prim) {
        self.add(Note::Empty, "", prim.path().as_str());
    }

    /// A surface shader without an entry in the table.
    pub fn surface(&mut self, node: &Node) {
        self.add(Note::Surface, &node.id, &node.label());
    }

    /// A shader without an entry in the table, or one that combines more than a material can show.
    pub fn unknown(&mut self, node: &Node) {
        self.add(Note::Shader, &node.id, &node.label());
    }

    /// A reader of a primvar that materials cannot read.
    pub fn primvar(&mut self, node: &Node, name: &str) {
        self.add(Note::Primvar, name, &node.label());
    }

    /// A network without an end.
    pub fn cycle(&mut self, node: &Node) {
        self.add(Note::Circle, "", &node.label());
    }

    /// A colour space that is not known.
    pub fn space(&mut self, path: &str, name: &str) {
        self.add(Note::Space, name, path);
    }

    /// A part of a surface that is left out.
    pub fn left_out(&mut self, node: &Node, part: &str) {
        self.add(Note::LeftOut, part, &node.label());
    }

    /// Counts an attribute that changes over time.
    pub fn check_animation(&mut self, values: &Values, prim: &Prim, name: &str) {
        if values.sample_times(prim, name).len() > 1 {
            self.add(Note::Animated, "", &format!("{}.{name}", prim.path()));
        }
    }

    /// Adds a line for each kind to the warnings.
    pub fn report(&self, values: &Values) {
        for ((note, what), Count { first, count }) in &self.counts {
            let others = match count {
                1 => String::new(),
                2 => " (and 1 other)".to_owned(),
                _ => format!(" (and {} others)", count - 1),
            };
            let line = match note {
                Note::Unbound => "that is no material; the binding is left out".to_owned(),
                Note::Empty => "the material has no surface shader; a grey one is used".to_owned(),
                Note::Surface if what.is_empty() => {
                    "the surface shader has no type; similar inputs are used".to_owned()
                }
                Note::Surface => format!("surface shader {what} is not supported; similar inputs are used"),
                Note::Shader if what.is_empty() => "the shader has no type; one of its inputs is used".to_owned(),
                Note::Shader => format!("shader {what} is not supported in full; one of its inputs is used"),
                Note::Primvar => format!("materials cannot read primvar `{what}`; its fallback is used"),
                Note::Animated => "inputs of materials cannot change over time; the first value is used".to_owned(),
                Note::Circle => "the network has a circle or is too large; a default is used".to_owned(),
                Note::Space => format!("colour space {what} is unknown; its values are taken as linear"),
                Note::LeftOut => format!("{what} is left out"),
            };
            values.warn(format!("{first}{others}: {line}"));
        }
    }

    /// Counts a place once. Returns the count if it was not counted before.
    fn add(&mut self, note: Note, what: &str, path: &str) -> Option<&mut Count> {
        // The same node may lack several parts, so the part belongs to the key.
        if !self.seen.insert((note, format!("{what} {path}"))) {
            return None;
        }
        let key = (note, what.to_owned());
        let count = self.counts.entry(key).or_insert_with(|| Count { first: path.to_owned(), count: 0 });
        count.count += 1;
        Some(count)
    }
}
