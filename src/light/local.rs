//! The light tree of a frame over all lights within the scene, and a cache of it for frames in which nothing moves.

use super::{EmitterTables, Emitters, LightLeaf, LightTree, ShownShape, build_light_tree, punctual};
use crate::{
    abi::{EmitterRecord, LightNode, LightRecord, LocalLights, NO_INDEX},
    accel::Tlas,
};
use glam::Vec3;
use rayon::prelude::*;
use std::{
    ptr::null,
    sync::{
        Arc, Weak,
        atomic::{AtomicU32, Ordering},
    },
};

/// A light tree with everything that `Params::local_lights` points to.
pub struct LocalTree {
    pub nodes: Vec<LightNode>,
    pub emitters: Vec<EmitterRecord>,
    /// Index of the emitter of each instance record, or `NO_INDEX`; empty if no instance emits light.
    pub emitter_of: Vec<u32>,
    pub tables: Arc<EmitterTables>,
    root: LightNode,
}

impl LocalTree {
    /// Builds the tree over the emissive instances of a frame, given by their records, and over the point and spot lights; none if there
    /// are none of either. `shapes` are the meshes that deform.
    pub fn new(emitters: &Emitters, lights: &[LightRecord], tlas: &Tlas, shapes: &[ShownShape<'_>]) -> Option<Self> {
        let (mut leaves, tables) = if emitters.is_empty() { Default::default() } else { emitters.leaves(tlas, shapes) };
        let records = &tlas.records;
        // Records are in the order of the TLAS, which differs from device to device; the tree must not.
        leaves.par_sort_unstable_by_key(|leaf| records[leaf.record as usize].instance);
        let instances = leaves.len();
        leaves.extend((0..).zip(lights).filter_map(|(record, light)| {
            Some(LightLeaf { bounds: punctual::bounds(light)?, record, table: NO_INDEX })
        }));
        if leaves.is_empty() {
            return None;
        }
        let LightTree { leaves, trails, nodes, root } = build_light_tree(leaves);
        let emitter_of = if instances > 0 { emitters_of_records(&leaves, records.len()) } else { Vec::new() };
        let emitters = leaves.par_iter().zip(&trails).map(|(leaf, &trail)| EmitterRecord {
            record: leaf.record,
            table: leaf.table,
            trail,
            reserved: 0,
        });
        Some(Self { nodes, emitters: emitters.collect(), emitter_of, tables, root })
    }

    /// Launch parameters without addresses.
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

    /// Launch parameters for this machine's processor, with addresses in the tree.
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

/// Launch parameters for scenes without lights within.
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

fn emitters_of_records(leaves: &[LightLeaf], records: usize) -> Vec<u32> {
    let places = (0..records).into_par_iter().with_min_len(1 << 14);
    let all: Vec<AtomicU32> = places.map(|_| AtomicU32::new(NO_INDEX)).collect();
    let instances = leaves.par_iter().enumerate().with_min_len(1 << 12);
    let instances = instances.filter(|(_, leaf)| leaf.table != NO_INDEX);
    instances.for_each(|(index, leaf)| {
        all[leaf.record as usize].store(index as u32, Ordering::Relaxed);
    });
    all.into_iter().map(AtomicU32::into_inner).collect()
}

/// The tree of the last frame, kept for the next one if nothing moves and no light changes.
#[derive(Default)]
pub struct LightCache {
    tlas: Weak<Tlas>,
    emitters: Weak<Emitters>,
    lights: Vec<LightRecord>,
    tree: Option<Arc<LocalTree>>,
}

impl LightCache {
    /// The tree for a frame with `tlas`, see [`LocalTree::new`]; the last one if it is of the same.
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
