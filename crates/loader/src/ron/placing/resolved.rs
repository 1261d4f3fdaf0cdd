//! Resolved placements: what is placed where, with names replaced by indices.

use super::{
    patterns::{Pattern, TablePattern},
    random,
};
use crate::{meshes::MeshSource, model::SharedMesh};
use glam::Affine3;
use std::sync::Arc;
use throng_scene::{NONE, Track, TriangleMesh, desc::Choose};

/// Dimension of the random numbers for choosing among targets by weight.
const MIX: u32 = 10;

/// The mesh or list that a placement places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// Index into the file's meshes.
    Mesh(usize),
    /// Index into [`Resolved::lists`].
    List(usize),
}

/// A resolved placement. A placement that chooses among several targets by weight has one item per target.
#[derive(Clone)]
pub struct Item {
    /// Number of the placement in its list.
    pub entry: usize,
    pub target: Target,
    /// Transform from the placement's space to its parent's.
    pub whole: Affine3,
    pub pattern: Arc<Pattern>,
    /// The copies and their transforms, if they differ from the pattern's.
    pub chosen: Option<Vec<ChosenCopy>>,
    /// Material rows to choose from. If empty, the surroundings or the mesh determine the material.
    pub materials: Vec<u32>,
    pub choose: Choose,
    /// Index into the file's motions, or [`NONE`].
    pub motion: u32,
    /// Whether the motion keeps a gap between each copy and the previous one.
    pub keeps_gaps: bool,
    /// Index of the group whose first copy is the parent.
    pub parent: Option<usize>,
    /// Visibility over time; none if always visible.
    pub visible: Option<Track<bool>>,
    /// Whether copies of a list are kept as an assembly; none to decide by the memory saved.
    pub nest: Option<bool>,
}

/// Number of a copy in its pattern, and the transform from its space to the parent's.
pub type ChosenCopy = (u32, Affine3);

/// A model that is a group. Its meshes follow the file's meshes.
pub struct ModelGroup {
    pub(super) name: String,
    /// The meshes, until they are numbered.
    pub sources: Vec<MeshSource>,
    pub first_mesh: usize,
    contents: GroupContents,
}

/// What a model that is a group places.
enum GroupContents {
    /// The transforms of the copies of each mesh.
    Copies(Vec<Vec<Affine3>>),
    /// Lists whose targets are the model's meshes and lists, with their names. The first one is the model.
    Lists { lists: Vec<Vec<Item>>, names: Vec<String> },
}

impl ModelGroup {
    pub fn new(name: &str, meshes: Vec<SharedMesh>) -> Self {
        let (sources, places) = meshes.into_iter().map(|mesh| (mesh.source, mesh.places)).unzip();
        Self { name: name.to_owned(), sources, first_mesh: 0, contents: GroupContents::Copies(places) }
    }

    /// A group with lists of its own.
    pub fn of_lists(name: &str, sources: Vec<MeshSource>, lists: Vec<Vec<Item>>, names: Vec<String>) -> Self {
        let contents = GroupContents::Lists { lists, names };
        Self { name: name.to_owned(), sources, first_mesh: 0, contents }
    }

    /// The triangles and transform of each copy of its meshes. Empty after the meshes were taken, and for a model with lists of its own.
    pub fn copies(&self) -> impl Iterator<Item = (&TriangleMesh, Affine3)> {
        let places = match &self.contents {
            GroupContents::Copies(places) => &places[..],
            GroupContents::Lists { .. } => &[],
        };
        let meshes = self.sources.iter().zip(places);
        let triangles = meshes.filter_map(|(source, places)| Some((source.mesh.triangles()?, places)));
        triangles.flat_map(|(mesh, places)| places.iter().map(move |&place| (mesh, place)))
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Names of its lists below the one that is the model.
    pub(super) fn inner_names(&self) -> &[String] {
        match &self.contents {
            GroupContents::Copies(_) => &[],
            GroupContents::Lists { names, .. } => names.get(1..).unwrap_or_default(),
        }
    }

    /// The list that is the model, then its other lists, which get numbers from `first_inner` on.
    pub(super) fn lists(&self, own: usize, first_inner: usize) -> Vec<Vec<Item>> {
        let places = match &self.contents {
            GroupContents::Lists { lists, .. } => {
                let mut lists = lists.clone();
                for item in lists.iter_mut().flatten() {
                    item.target = match item.target {
                        Target::Mesh(mesh) => Target::Mesh(self.first_mesh + mesh),
                        Target::List(0) => Target::List(own),
                        Target::List(list) => Target::List(first_inner + list - 1),
                    };
                }
                return lists;
            }
            GroupContents::Copies(places) => places,
        };
        let item = |(number, places): (usize, &Vec<Affine3>)| Item {
            entry: 0,
            target: Target::Mesh(self.first_mesh + number),
            whole: Affine3::IDENTITY,
            pattern: Arc::new(Pattern::Single),
            chosen: Some((0..).zip(places.iter().copied()).collect()),
            materials: Vec::new(),
            choose: Choose::default(),
            motion: NONE,
            keeps_gaps: false,
            parent: None,
            visible: None,
            nest: None,
        };
        vec![places.iter().enumerate().map(item).collect()]
    }
}

/// All lists of placements: first the named groups in file order, then models that are groups, then their inner lists,
/// then lists written in place.
pub struct Resolved {
    pub lists: Vec<Vec<Item>>,
    /// Names of the groups and models among them.
    pub names: Vec<String>,
    pub top: Vec<Item>,
}

impl Item {
    /// Material row of copy `index`, or [`NONE`].
    pub fn material(&self, index: u32) -> u32 {
        let n = self.materials.len() as u32;
        let chosen = match (n, self.choose) {
            (0, _) => return NONE,
            (_, Choose::Cycle) => index % n,
            (_, Choose::Random(seed)) => ((super::random::unit(seed, 9, index) * n as f32) as u32).min(n - 1),
        };
        self.materials[chosen as usize]
    }

    /// The table that moves the copies, if there is one.
    pub fn table(&self) -> Option<&TablePattern> {
        match &*self.pattern {
            Pattern::Table(table) => Some(table),
            _ => None,
        }
    }

    /// Whether a motion or a table moves the copies.
    pub fn moves(&self) -> bool {
        self.motion != NONE || self.table().is_some()
    }

    /// Number of copies.
    pub fn count(&self) -> u64 {
        self.chosen.as_ref().map_or_else(|| self.pattern.count(), |chosen| chosen.len() as u64)
    }

    /// Number of copy `index` in the pattern, and its transform to the placement's parent.
    pub fn copy(&self, index: u32) -> ChosenCopy {
        match (&self.chosen, &*self.pattern) {
            (Some(chosen), _) => chosen[index as usize],
            (None, Pattern::Single) => (index, self.whole),
            (None, pattern) => (index, self.whole * pattern.copy(index)),
        }
    }

    /// One item per target, each with its share of the copies by weight.
    pub(super) fn shared(self, targets: &[(Target, f32)], seed: u32) -> Vec<Self> {
        if targets.len() == 1 {
            return vec![self];
        }
        let total: f32 = targets.iter().map(|t| t.1).sum();
        let mut shares = vec![Vec::new(); targets.len()];
        for copy in (0..self.count() as u32).map(|i| self.copy(i)) {
            let mut left = random::unit(seed, MIX, copy.0) * total;
            let chosen = targets.iter().position(|(_, weight)| {
                left -= weight;
                left < 0.0
            });
            shares[chosen.unwrap_or(targets.len() - 1)].push(copy);
        }
        let item = |(share, (target, _)): (Vec<ChosenCopy>, &(Target, f32))| Self {
            target: *target,
            pattern: self.pattern.clone(),
            chosen: Some(share),
            materials: self.materials.clone(),
            visible: self.visible.clone(),
            ..self
        };
        shares.into_iter().zip(targets).map(item).collect()
    }
}
