//! The light tree of a frame over all lights inside the scene, and a cache of it for static frames.

use super::{
    EmitterTables, Emitters, LightLeaf, LightTree, ShownShape, build_light_tree,
    emitters::{PosedEmitters, over_shutter},
    punctual,
};
use glam::Vec3;
use rayon::prelude::*;
use std::{
    ops::Range,
    ptr::null,
    sync::{Arc, Weak},
};
use throng_abi::{
    EMITTER_IS_ASSEMBLY, EmitterRecord, INSTANCE_IS_ASSEMBLY, LEAF, LightNode, LightRecord, LocalLights, NO_INDEX,
};
use throng_accel::Tlas;

/// A light tree with all arrays to which `Params::local_lights` refers.
pub struct LocalTree {
    pub nodes: Vec<LightNode>,
    pub emitters: Vec<EmitterRecord>,
    /// Index of the emitter of each instance record, or `NO_INDEX`; empty if no instance emits light.
    pub emitter_of: Vec<u32>,
    pub tables: Arc<EmitterTables>,
    root: LightNode,
}

impl LocalTree {
    /// Builds the tree over the emissive instances of a frame, given by their records, and over the point and spot lights; none without
    /// either. An assembly is an emitter that has its own tree. `shapes` are the deforming meshes.
    pub fn new(emitters: &Emitters, lights: &[LightRecord], tlas: &Tlas, shapes: &[ShownShape<'_>]) -> Option<Self> {
        let posed = emitters.posed(shapes);
        let mut levels: Vec<Option<LightTree>> = Vec::new();
        let ranges = tlas.level_records();
        levels.resize_with(ranges.len(), || None);
        for (level, range) in ranges.into_iter().enumerate().rev() {
            let mut leaves = if emitters.is_empty() { Vec::new() } else { leaves(&posed, tlas, range, &levels) };
            // Records are in the order of the TLAS, which differs between devices. The tree must not depend on it.
            leaves.par_sort_unstable_by_key(|leaf| match &tlas.nested {
                Some(nested) => nested.indices[leaf.record as usize],
                None => tlas.record(leaf.record as usize).instance,
            });
            if level == 0 {
                leaves.extend((0..).zip(lights).filter_map(|(record, light)| {
                    Some(LightLeaf { bounds: punctual::bounds(light, tlas.origin)?, record, table: NO_INDEX })
                }));
            }
            levels[level] = (!leaves.is_empty()).then(|| build_light_tree(leaves));
        }
        let root = levels.first()?.as_ref()?.root;
        let joined = Joined::new(levels, tlas);
        let shines = joined.emitters.iter().any(|emitter| emitter.table != NO_INDEX);
        let emitter_of = if shines { emitters_of_records(&joined.emitters, tlas.record_count()) } else { Vec::new() };
        Some(Self { nodes: joined.nodes, emitters: joined.emitters, emitter_of, tables: posed.tables, root })
    }

    /// Launch parameters without pointers.
    pub fn params(&self) -> LocalLights {
        LocalLights {
            root: self.root.child,
            count: self.emitters.len() as u32,
            center: self.root.center,
            power: self.root.power,
            radius_squared: Vec3::from(self.root.extent).length_squared(),
            ..no_local_lights()
        }
    }

    /// Launch parameters for the CPU, with pointers into the tree.
    pub fn params_here(&self) -> LocalLights {
        LocalLights {
            nodes: self.nodes.as_ptr(),
            emitters: self.emitters.as_ptr(),
            emitter_of: match &self.emitter_of[..] {
                [] => null(),
                list => list.as_ptr(),
            },
            tables: self.tables.tables.as_ptr(),
            triangles: self.tables.triangles.as_ptr(),
            ..self.params()
        }
    }
}

/// Launch parameters for scenes without lights inside them.
pub fn no_local_lights() -> LocalLights {
    LocalLights {
        nodes: null(),
        emitters: null(),
        emitter_of: null(),
        tables: null(),
        triangles: null(),
        root: NO_INDEX,
        count: 0,
        center: [0.0; 3],
        power: 0.0,
        radius_squared: 0.0,
        reserved: 0,
    }
}

/// The leaves of the emissive instances of a level. `levels` must contain the trees of the assemblies that the level places.
fn leaves(posed: &PosedEmitters<'_>, tlas: &Tlas, range: Range<usize>, levels: &[Option<LightTree>]) -> Vec<LightLeaf> {
    let leaf = |index: usize| {
        let assembly = tlas.records.get(index).filter(|record| record.flags & INSTANCE_IS_ASSEMBLY != 0);
        let Some(record) = assembly else { return posed.leaf(index as u32, tlas) };
        let inner = levels[record.slot_base as usize].as_ref().filter(|_| record.mask != 0)?;
        let bounds = over_shutter(record, &tlas.shutter, |transform| inner.placed(transform))?;
        Some(LightLeaf { bounds, record: index as u32, table: EMITTER_IS_ASSEMBLY })
    };
    range.into_par_iter().with_min_len(1024).filter_map(leaf).collect()
}

/// The concatenated trees of all levels.
#[derive(Default)]
struct Joined {
    nodes: Vec<LightNode>,
    emitters: Vec<EmitterRecord>,
}

impl Joined {
    fn new(levels: Vec<Option<LightTree>>, tlas: &Tlas) -> Self {
        let mut next = (0, 0);
        let starts = levels.iter().map(|tree| {
            let own = next;
            if let Some(tree) = tree {
                next = (own.0 + tree.nodes.len() as u32 / 2, own.1 + tree.leaves.len() as u32);
            }
            own
        });
        let starts: Vec<(u32, u32)> = starts.collect();
        let moved =
            |child: u32, level: usize| child + if child & LEAF != 0 { starts[level].1 } else { starts[level].0 };
        let root = |(level, tree): (usize, &Option<LightTree>)| tree.as_ref().map_or(0, |t| moved(t.root.child, level));
        let roots: Vec<u32> = levels.iter().enumerate().map(root).collect();
        let emitter = |(leaf, &trail): (&LightLeaf, &u32)| {
            let root = match leaf.table {
                EMITTER_IS_ASSEMBLY => roots[tlas.records[leaf.record as usize].slot_base as usize],
                _ => 0,
            };
            EmitterRecord { record: leaf.record, table: leaf.table, trail, root }
        };
        let mut joined = Self::default();
        for (level, tree) in levels.into_iter().enumerate() {
            let Some(LightTree { leaves, trails, mut nodes, .. }) = tree else { continue };
            joined.emitters.par_extend(leaves.par_iter().zip(&trails).map(emitter));
            if starts[level] == (0, 0) {
                joined.nodes = nodes;
                continue;
            }
            nodes.iter_mut().for_each(|node| node.child = moved(node.child, level));
            joined.nodes.append(&mut nodes);
        }
        joined
    }
}

fn emitters_of_records(emitters: &[EmitterRecord], records: usize) -> Vec<u32> {
    let mut all = vec![NO_INDEX; records];
    for (index, emitter) in emitters.iter().enumerate().filter(|(_, emitter)| emitter.table != NO_INDEX) {
        all[emitter.record as usize] = index as u32;
    }
    all
}

/// The tree of the last frame, which is reused if nothing moves and no light changes.
#[derive(Default)]
pub struct LightCache {
    tlas: Weak<Tlas>,
    emitters: Weak<Emitters>,
    lights: Vec<LightRecord>,
    tree: Option<Arc<LocalTree>>,
}

impl LightCache {
    /// The tree for a frame with `tlas`, see [`LocalTree::new`]. Returns the last tree if its inputs have not changed.
    pub fn tree(
        &mut self,
        tlas: &Arc<Tlas>,
        emitters: &Arc<Emitters>,
        lights: &[LightRecord],
        shapes: &[ShownShape<'_>],
    ) -> Option<Arc<LocalTree>> {
        let same = self.tlas.as_ptr() == Arc::as_ptr(tlas)
            && self.tlas.strong_count() > 0
            && self.emitters.as_ptr() == Arc::as_ptr(emitters)
            && bytes_of(&self.lights) == bytes_of(lights);
        if !same {
            self.tree = LocalTree::new(emitters, lights, tlas, shapes).map(Arc::new);
            (self.tlas, self.emitters) = (Arc::downgrade(tlas), Arc::downgrade(emitters));
            self.lights = lights.to_vec();
        }
        self.tree.clone()
    }
}

fn bytes_of(lights: &[LightRecord]) -> &[u8] {
    bytemuck::cast_slice(lights)
}
