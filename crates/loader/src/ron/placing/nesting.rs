//! Counts the instances into which placements will expand, and decides which groups are kept as assemblies rather than copied.

use super::{
    placements::check_count,
    resolved::{Item, Resolved, Target},
};
use crate::{
    LoadError,
    ron::{file::Source, source::Place},
};
use std::collections::HashSet;
use throng_scene::{
    MOST_LEVELS,
    desc::{MotionDesc, PartDesc, PhaseDesc, SceneFile},
};

/// Maximum depth of nested groups.
const MAX_DEPTH: usize = 64;
/// Number of records that must be saved for a group to be kept as an assembly: 128 MB. Below that, the additional level costs every ray
/// more than it saves.
const WORTH_IT: u64 = 1 << 20;

/// The position of an item: its list (`usize::MAX` at the top), and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ItemPosition {
    pub list: usize,
    pub number: usize,
}

impl ItemPosition {
    /// The position of an item of `instances`.
    pub fn top(number: usize) -> Self {
        Self { list: usize::MAX, number }
    }

    /// The list that the item places, if it does not place a mesh.
    fn list_in(self, resolved: &Resolved) -> Option<usize> {
        let item = resolved.lists.get(self.list).unwrap_or(&resolved.top).get(self.number)?;
        match item.target {
            Target::List(list) => Some(list),
            Target::Mesh(_) => None,
        }
    }
}

/// A list that is kept as an assembly, with the material around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kept {
    pub list: usize,
    pub material: u32,
}

/// The items that place assemblies.
pub struct Nesting {
    kept: HashSet<ItemPosition>,
    totals: Vec<Total>,
    /// Number of instances in the world and in all assemblies.
    pub records: u64,
}

impl Nesting {
    /// Whether the list that an item places is kept as an assembly.
    pub fn keeps(&self, place: ItemPosition) -> bool {
        self.kept.contains(&place)
    }

    /// Whether an item in the list gets its material from the surroundings.
    pub fn takes_material(&self, list: usize) -> bool {
        self.totals[list].takes_material
    }
}

/// Counts the instances into which the file's placements will expand, each list once, and decides which lists are kept.
///
/// # Errors
/// If a group contains itself or is nested too deeply, or if there are too many instances.
pub fn plan(source: &Source, file: &SceneFile, resolved: &Resolved, top: &Place) -> Result<Nesting, LoadError> {
    let carriers = resolved.top.iter().filter_map(|item| item.parent).collect();
    let lists = resolved.lists.len();
    let totals =
        Totals { source, file, resolved, carriers, known: vec![None; lists], open: Vec::new(), kept: HashSet::new() };
    totals.top(top)
}

struct Totals<'a> {
    source: &'a Source,
    file: &'a SceneFile,
    resolved: &'a Resolved,
    /// Groups that are parents of placements. Only their first copy has this role.
    carriers: HashSet<usize>,
    /// The total of each list, once computed.
    known: Vec<Option<Total>>,
    open: Vec<usize>,
    kept: HashSet<ItemPosition>,
}

/// Counts for the expansion of a list or a placement.
#[derive(Clone, Copy, Default)]
struct Total {
    /// Instances of meshes and assemblies.
    instances: u64,
    /// Groups that have their own motion; each costs at least as much as an instance.
    nodes: u64,
    /// Depth of nested lists, and depth of assemblies.
    depth: usize,
    levels: usize,
    takes_material: bool,
    /// Whether copies would move differently, so that an assembly cannot represent them.
    differs: bool,
}

impl Total {
    fn add(&mut self, other: Self) {
        self.instances = self.instances.saturating_add(other.instances);
        self.nodes = self.nodes.saturating_add(other.nodes);
        self.depth = self.depth.max(other.depth);
        self.levels = self.levels.max(other.levels);
        self.takes_material |= other.takes_material;
        self.differs |= other.differs;
    }
}

impl Totals<'_> {
    fn top(mut self, place: &Place) -> Result<Nesting, LoadError> {
        for group in 0..self.file.groups.0.len() {
            self.list(group, place)?;
        }
        let resolved = self.resolved;
        let mut total = Total::default();
        for (number, item) in resolved.top.iter().enumerate() {
            let place = place.index(item.entry);
            total.add(self.item(item, ItemPosition::top(number), &place)?);
            let all = total.instances.saturating_add(total.nodes);
            self.source.check(&place, check_count(all))?;
            if total.levels > MOST_LEVELS {
                let message = format!("nested groups are more than {MOST_LEVELS} deep: write `nest: false` at some");
                return Err(self.source.error(&place, message));
            }
        }
        let kept_lists: HashSet<usize> = self.kept.iter().filter_map(|place| place.list_in(resolved)).collect();
        let inner = kept_lists.iter().filter_map(|&list| self.known[list]).map(|list| list.instances);
        let records = inner.fold(total.instances, u64::saturating_add);
        let totals = self.known.into_iter().map(Option::unwrap_or_default).collect();
        Ok(Nesting { kept: self.kept, totals, records })
    }

    fn item(&mut self, item: &Item, at: ItemPosition, place: &Place) -> Result<Total, LoadError> {
        let copies = item.count();
        let takes_material = item.materials.is_empty();
        let each = match item.target {
            Target::Mesh(_) => Total { instances: 1, takes_material, ..Total::default() },
            Target::List(list) => {
                let inner = self.list(list, place)?;
                if self.keeps(item, list, &inner, place)? {
                    let own = inner.instances.saturating_add(inner.nodes).max(1);
                    self.source.check(place, check_count(own))?;
                    self.kept.insert(at);
                    Total { instances: 1, nodes: 0, levels: inner.levels + 1, ..inner }
                } else {
                    let own = u64::from(item.moves());
                    Total { nodes: inner.nodes.saturating_add(own), ..inner }
                }
            }
        };
        Ok(Total {
            instances: each.instances.saturating_mul(copies),
            nodes: each.nodes.saturating_mul(copies),
            takes_material: each.takes_material && takes_material,
            differs: each.differs || self.differs(item),
            ..each
        })
    }

    /// Whether the copies of a list are kept as an assembly.
    fn keeps(&self, item: &Item, list: usize, inner: &Total, place: &Place) -> Result<bool, LoadError> {
        let carries = self.carriers.contains(&list) || item.parent.is_some();
        match item.nest {
            Some(true) if carries => {
                let message = "placements with a parent or children cannot be nested: remove `nest` or `parent`";
                Err(self.source.error(&place.key("nest"), message))
            }
            Some(nest) => Ok(nest),
            None => {
                let saved = inner.instances.saturating_add(inner.nodes).saturating_mul(item.count().saturating_sub(1));
                Ok(saved > WORTH_IT && !carries && !inner.differs)
            }
        }
    }

    /// Whether an item's motion depends on the number of its copy or on its position in the world.
    fn differs(&self, item: &Item) -> bool {
        self.file.motions.0.get(item.motion as usize).is_some_and(|(_, motion)| is_own(motion))
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
        for (number, item) in resolved.lists[list].iter().enumerate() {
            total.add(self.item(item, ItemPosition { list, number }, place)?);
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

/// Whether each copy with this motion moves differently, depending on its number or its position in the world.
fn is_own(motion: &MotionDesc) -> bool {
    let differs = |part: &PartDesc| match part {
        PartDesc::LookAt(_) => true,
        PartDesc::Clip(clip) => clip.speeds.0 != clip.speeds.1,
        _ => false,
    };
    !matches!(motion.phase, PhaseDesc::Same) || motion.parts.iter().any(differs)
}
