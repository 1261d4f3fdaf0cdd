//! The top level: a tree over the instances of one frame, rebuilt from scratch for every frame.

use crate::{
    Blas, BlasShape, Buffer, Quality,
    buffer::prefetch,
    build::{
        BuildMemory, BuildOptions, BuildPrim, build,
        collapse::{LeafRoom, MOST_LEVELS, build_collapsed},
        group::{group, is_worth_it, surface_of_groups},
        split::SplitMethod,
    },
    compressed::{slots::Arrangement, tlas::compress_tlas},
    nested::Nested,
    node::{NodeArray, NodeLayout, Tree},
    shutter,
    still::StillTree,
    validate::{TreeError, validate_tlas},
};
use glam::{Affine3, DAffine3, DMat3, Vec3};
use rayon::prelude::*;
use std::{
    collections::HashMap,
    mem::MaybeUninit,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};
use throng_abi::{INSTANCE_IS_ASSEMBLY, INSTANCE_MOVES, InstanceKind, InstanceRecord, Unit};
use throng_base::math::{Aabb, rows_from_affine, stays_in_range};
use throng_scene::Instance;
use throng_scene::{ShutterKeys, ShutterSpan};

/// Maximum number of instances of a high-quality tree for which every split is evaluated. For more instances this takes longer, and rays are no
/// faster than with collapsed binned splits.
const MOST_REFINED: usize = 1 << 17;
/// Maximum growth of the groups' surface for them to be used. Beyond it, a tree over groups would be worse than one without.
const MOST_GROWTH: f64 = 1.25;
/// Number of records per task.
const RECORD_CHUNK: usize = 2048;
/// Number of records ahead for which the sources are prefetched.
const PREFETCH_DISTANCE: usize = 24;

/// The tree over a frame's instances, and their records in tree order. Kernels follow its references unchecked, so only builders create them.
pub struct Tlas {
    pub tree: Tree,
    pub records: Buffer<InstanceRecord>,
    /// The compressed form of `tree` for [`NodeLayout::Compressed8`]; otherwise empty.
    pub units: Buffer<Unit>,
    /// Motion keys of instances, to which records refer. Must be set before the tree is built.
    pub shutter: ShutterKeys,
    /// Set if the scene has assemblies.
    pub nested: Option<Nested>,
    /// The trees over instances that stand still, if it is joined from several.
    pub still: Vec<Arc<StillTree>>,
    /// The other instances, if a device builds the tree. There are then neither nodes nor records nor units.
    pub unbuilt: Option<Unbuilt>,
    /// World-space point to which all positions are relative; the world's origin in scenes without assemblies.
    pub origin: Vec3,
    pub build_time: Duration,
}

/// Instances of a TLAS that a device builds, in the order of their records.
#[derive(Default)]
pub struct Unbuilt {
    pub world_from_object: Vec<Affine3>,
    pub kinds: Arc<Vec<InstanceKind>>,
}

/// Builds TLASes, with working memory that is kept from frame to frame.
#[derive(Default)]
pub struct TlasBuilder {
    prims: Buffer<BuildPrim>,
    /// Data for the record of each instance besides its transform, stored compactly because it is read in leaf order.
    kinds: Buffer<InstanceKind>,
    arrangements: Buffer<Arrangement>,
    memory: BuildMemory,
}

/// Input of a TLAS: instance `i` has the transform `world_from_object[i]`, and mesh `m` has the tree `blas[m]`. Trees of assemblies follow the trees
/// of meshes.
#[derive(Clone, Copy)]
pub struct TlasInput<'a> {
    pub instances: &'a [Instance],
    /// For each instance, its unique number in the scene, of which not all need occur; empty if instance `i` has the number `i`. With assemblies,
    /// numbers must ascend in each level.
    pub ids: &'a [u32],
    /// For each instance, the mesh that it shows; empty if all show their own mesh.
    pub meshes: &'a [u32],
    /// Groups of neighbouring instances; requires the instances in the groups' order.
    pub groups: Option<&'a InstanceGroups>,
    pub world_from_object: &'a [Affine3],
    pub blas: &'a [Arc<Blas>],
    /// Whether boxes of instances are exact and all splits are evaluated. Otherwise the build takes a fifth less time, but boxes of rotated meshes
    /// are larger.
    pub careful: bool,
}

/// An order of instances, and groups in it. Instances that are close at one time usually stay close, so trees over groups are built without testing
/// all instances for every split.
pub struct InstanceGroups {
    /// For each position, the index of the instance in the input that was grouped.
    order: Vec<u32>,
    /// End of each group.
    ends: Vec<u32>,
    /// The value of [`surface_of_groups`] when the groups were made.
    surface: f64,
}

impl InstanceGroups {
    /// Whether this number of instances is enough for groups in trees of `layout`.
    pub fn are_worth_it(instances: usize, layout: NodeLayout) -> bool {
        is_worth_it(instances, NodeArray::new(layout).width())
    }

    /// For each position, the index of the instance in the input that was grouped.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// The ends of the groups; empty if the groups have spread too far.
    fn ends_if_fit(&self, prims: &[BuildPrim]) -> &[u32] {
        if surface_of_groups(prims, &self.ends) <= self.surface * MOST_GROWTH { &self.ends } else { &[] }
    }
}

impl TlasInput<'_> {
    fn id(&self, instance: usize) -> u32 {
        self.ids.get(instance).map_or(instance as u32, |id| *id)
    }

    fn mesh(&self, instance: usize) -> u32 {
        let own = self.instances[instance].mesh;
        self.meshes.get(instance).map_or(own, |mesh| *mesh)
    }

    fn kind(&self, instance: usize) -> InstanceKind {
        let slot_base = self.instances[instance].slot_base;
        InstanceKind { instance: self.id(instance), mesh: self.mesh(instance), slot_base }
    }

    /// The data of each instance that do not depend on its transform.
    pub fn kinds(&self) -> Vec<InstanceKind> {
        (0..self.instances.len()).into_par_iter().with_min_len(RECORD_CHUNK).map(|i| self.kind(i)).collect()
    }

    /// For each number, the position of its instance in the input.
    pub(super) fn positions(&self) -> HashMap<u32, usize> {
        (0..self.instances.len()).map(|position| (self.id(position), position)).collect()
    }

    /// The box of an instance over the whole shutter interval. `None` if its motion leaves the range of floats, so that the instance must be hidden.
    pub(super) fn bounds(&self, instance: usize, shutter: &ShutterKeys) -> Option<Aabb> {
        let blas = &self.blas[self.mesh(instance) as usize];
        let reach = blas.bounds.reach();
        let placed = |transform: &Affine3| {
            stays_in_range(transform, reach).then(|| blas.instance_bounds(transform, self.careful))
        };
        let still = placed(&self.world_from_object[instance])?;
        match shutter.span(instance) {
            span if span.segments == 0 => Some(still),
            span => Some(still.union(shutter::bounds(shutter, span, reach, placed)?)),
        }
    }
}

impl Tlas {
    pub fn new(layout: NodeLayout) -> Self {
        Self {
            tree: Tree::new(layout),
            records: Buffer::new(),
            units: Buffer::new(),
            shutter: ShutterKeys::default(),
            nested: None,
            still: Vec::new(),
            unbuilt: None,
            origin: Vec3::ZERO,
            build_time: Duration::ZERO,
        }
    }

    /// Leaves the build over instances of these kinds, joined with the trees `still`, at most two, to a device. The instances' transforms are exchanged with
    /// those of the last such build. The shutter keys must already be set.
    pub fn leave(
        &mut self,
        still: &[Arc<StillTree>],
        kinds: Arc<Vec<InstanceKind>>,
        world_from_object: &mut Vec<Affine3>,
    ) {
        let mut unbuilt = self.unbuilt.take().unwrap_or_default();
        unbuilt.kinds = kinds;
        std::mem::swap(&mut unbuilt.world_from_object, world_from_object);
        // The root is unit 0.
        let tree = Tree { root: 0, ..Tree::new(self.tree.layout) };
        let (shutter, origin) = (std::mem::take(&mut self.shutter), self.origin);
        let still = still.to_vec();
        *self = Self { tree, shutter, origin, still, unbuilt: Some(unbuilt), ..Self::new(self.tree.layout) };
    }

    /// Checks that each instance of `input`, from which this TLAS was built, has exactly one leaf if it is visible, that children are inside their
    /// parents, and that boxes enclose their instances.
    ///
    /// # Errors
    /// The first contradiction that is found.
    pub fn check(&self, input: TlasInput<'_>) -> Result<(), TreeError> {
        validate_tlas(self, input)
    }

    /// The box around all instances.
    pub fn bounds(&self) -> Aabb {
        self.tree.bounds
    }

    /// Number of records, also of instances whose tree a device builds.
    pub fn record_count(&self) -> usize {
        match &self.unbuilt {
            Some(unbuilt) => self.first_unbuilt() + unbuilt.kinds.len(),
            None => self.records.len(),
        }
    }

    /// Index of the first record that a device makes.
    fn first_unbuilt(&self) -> usize {
        self.still.last().map_or(0, |last| last.end().records)
    }

    /// The mesh and the first material slot of record `index`.
    pub fn kind(&self, index: usize) -> (u32, u32) {
        match (&self.unbuilt, self.records.get(index)) {
            (None, Some(record)) => (record.mesh, record.slot_base),
            (Some(unbuilt), _) if index >= self.first_unbuilt() => {
                let kind = &unbuilt.kinds[index - self.first_unbuilt()];
                (kind.mesh, kind.slot_base)
            }
            _ => {
                let record = self.record(index);
                (record.mesh, record.slot_base)
            }
        }
    }

    /// Record `index`, which a device may still have to make.
    pub fn record(&self, index: usize) -> InstanceRecord {
        let Some(unbuilt) = &self.unbuilt else { return self.records[index] };
        let first = self.first_unbuilt();
        if index >= first {
            let (kind, transform) = (&unbuilt.kinds[index - first], &unbuilt.world_from_object[index - first]);
            let mut made = record(kind, transform, stays_in_range(transform, Vec3::ZERO));
            move_record(&mut made, self.shutter.span(index - first), false);
            return made;
        }
        let after = self.still.partition_point(|tree| tree.end().records <= index);
        let records = self.still[after].contents().1;
        records[index + records.len() - self.still[after].end().records]
    }

    /// Bytes of nodes, units, records and keys.
    pub fn bytes(&self) -> usize {
        let keys = size_of_val(&self.shutter.spans[..]) + size_of_val(&self.shutter.keys[..]);
        let nested = self.nested.as_ref().map_or(0, |nested| nested.bytes());
        self.tree.nodes.bytes() + self.units.bytes() + self.records.bytes() + keys + nested
    }
}

impl TlasBuilder {
    /// Replaces the contents of `tlas`, except for its shutter keys, which must already be set. Reuses its memory. A level remains for a common root of
    /// several trees. Deterministic, parallel, linear in
    /// memory.
    ///
    /// [`Quality::High`] is for trees that serve many frames. They become as good as a BLAS of that quality, at seven times the cost. Above
    /// [`MOST_REFINED`] instances, they become as good as a BLAS of balanced quality, at three times the cost.
    pub fn build(&mut self, input: TlasInput<'_>, quality: Quality, tlas: &mut Tlas) {
        let start = Instant::now();
        tlas.still.clear();
        tlas.unbuilt = None;
        self.collect_bounds(input, &tlas.shutter);
        if !(quality == Quality::High && self.build_refined(&mut tlas.tree)) {
            self.build_fast(input, &mut tlas.tree);
        }
        let some_hidden = self.write_records(input, &tlas.shutter, &mut tlas.records);
        if tlas.tree.layout == NodeLayout::Compressed8 {
            compress_tlas(tlas, input.blas, some_hidden, &mut self.arrangements);
        }
        tlas.build_time = start.elapsed();
        #[cfg(debug_assertions)]
        tlas.check(input).expect("a fresh TLAS is valid");
    }

    fn build_refined(&mut self, tree: &mut Tree) -> bool {
        let quality = if self.prims.len() <= MOST_REFINED { Quality::High } else { Quality::Balanced };
        build_collapsed(&mut self.prims, LeafRoom::Prims(1), quality, tree) && tree.depth < MOST_LEVELS
    }

    /// Groups the instances of `input` by their current positions, for trees of `layout`.
    pub fn group(&mut self, input: TlasInput<'_>, layout: NodeLayout) -> InstanceGroups {
        self.collect_bounds(input, &ShutterKeys::default());
        let ends = group(&mut self.prims, NodeArray::new(layout).width());
        InstanceGroups {
            order: self.prims.iter().map(|prim| prim.id).collect(),
            surface: surface_of_groups(&self.prims, &ends),
            ends,
        }
    }

    fn build_fast(&mut self, input: TlasInput<'_>, tree: &mut Tree) {
        let options =
            BuildOptions { leaf_size: 1, method: if input.careful { SplitMethod::Binned } else { SplitMethod::Hasty } };
        let ends = input.groups.map_or(&[][..], |groups| groups.ends_if_fit(&self.prims));
        build(&mut self.prims, ends, options, &self.memory, tree);
        // The depths of splits between groups and inside them are each limited, but their sum is not.
        if !ends.is_empty() && tree.depth >= MOST_LEVELS {
            build(&mut self.prims, &[], options, &self.memory, tree);
        }
    }

    fn collect_bounds(&mut self, input: TlasInput<'_>, shutter: &ShutterKeys) {
        let prim = |i: usize| {
            // A hidden instance has a record and a place in the tree, but no extent.
            let bounds = input.bounds(i, shutter).unwrap_or(Aabb { min: Vec3::ZERO, max: Vec3::ZERO });
            BuildPrim::new(&bounds, i as u32)
        };
        let kind = |i: usize| input.kind(i);
        let (all_prims, all_kinds) = (&mut self.prims, &mut self.kinds);
        let count = input.instances.len();
        let fill = |prims: &mut [MaybeUninit<BuildPrim>], kinds: &mut [MaybeUninit<InstanceKind>]| {
            let pairs = prims.par_iter_mut().zip(kinds).with_min_len(512);
            pairs.enumerate().for_each(|(i, (to_prim, to_kind))| {
                to_prim.write(prim(i));
                to_kind.write(kind(i));
            });
        };
        // SAFETY: every element of both buffers is written.
        unsafe { all_prims.refill(count, |prims| all_kinds.refill(count, |kinds| fill(prims, kinds))) };
    }

    /// Writes the records, and returns whether any instance is hidden.
    fn write_records(&self, input: TlasInput<'_>, shutter: &ShutterKeys, records: &mut Buffer<InstanceRecord>) -> bool {
        let prims = &self.prims;
        let some_deform = input.blas.iter().any(|blas| blas.segments() > 0);
        let some_nested = input.blas.iter().any(|blas| matches!(blas.shape, BlasShape::Assembly(_)));
        let some_hidden = AtomicBool::new(false);
        let fill = |first: usize, chunk: &mut [MaybeUninit<InstanceRecord>]| {
            for (offset, to) in chunk.iter_mut().enumerate() {
                let i = prims[first + offset].id as usize;
                // Leaf order may access these arrays randomly; without prefetching, waiting for memory would take most of the time.
                if let Some(ahead) = prims.get(first + offset + PREFETCH_DISTANCE) {
                    prefetch(&self.kinds, ahead.id as usize);
                    prefetch(input.world_from_object, ahead.id as usize);
                }
                // See `collect_bounds`: a box always has some extent, except the box of a hidden instance.
                let visible = prims[first + offset].min != prims[first + offset].max;
                let transform = &input.world_from_object[i];
                let kind = &self.kinds[i];
                let record = to.write(record(kind, transform, visible));
                let deforms = some_deform && input.blas[kind.mesh as usize].segments() > 0;
                move_record(record, shutter.span(i), deforms);
                if some_nested && let BlasShape::Assembly(tree) = &input.blas[kind.mesh as usize].shape {
                    record.flags |= INSTANCE_IS_ASSEMBLY;
                    record.slot_base = tree.number + 1;
                }
                if record.mask == 0 {
                    some_hidden.store(true, Ordering::Relaxed);
                }
            }
        };
        // SAFETY: the chunks cover all elements, and each is written.
        unsafe {
            records.refill(prims.len(), |records| {
                let chunks = records.par_chunks_mut(RECORD_CHUNK).enumerate();
                chunks.for_each(|(index, chunk)| fill(index * RECORD_CHUNK, chunk));
            });
        }
        some_hidden.into_inner()
    }
}

fn record(kind: &InstanceKind, world_from_object: &Affine3, visible: bool) -> InstanceRecord {
    let object_from_world = inverse(world_from_object);
    let visible = visible && object_from_world.is_finite();
    InstanceRecord {
        object_from_world: rows_from_affine(&object_from_world),
        blas: kind.mesh,
        mask: if visible { u32::MAX } else { 0 },
        instance: kind.instance,
        flags: 0,
        world_from_object: rows_from_affine(world_from_object),
        slot_base: kind.slot_base,
        mesh: kind.mesh,
        first_key: 0,
        segments: 0,
    }
}

/// Sets the motion of an instance over the shutter interval.
fn move_record(record: &mut InstanceRecord, span: ShutterSpan, deforms: bool) {
    record.flags = if deforms || span.segments > 0 { INSTANCE_MOVES } else { 0 };
    record.first_key = span.first;
    record.segments = span.segments;
}

/// Inverts in double precision. With an extreme scale, the single-precision determinant under- or overflows, and an imprecise inverse causes gaps
/// between the surface that a ray hits and the computed position of the hit.
fn inverse(transform: &Affine3) -> Affine3 {
    let m = &transform.matrix3;
    let matrix = DMat3::from_cols(m.x_axis.as_dvec3(), m.y_axis.as_dvec3(), m.z_axis.as_dvec3());
    let wide = DAffine3::from_mat3_translation(matrix, transform.translation.as_dvec3()).inverse();
    let w = &wide.matrix3;
    Affine3::from_cols(w.x_axis.as_vec3(), w.y_axis.as_vec3(), w.z_axis.as_vec3(), wide.translation.as_vec3())
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_base::math::hash_unit;
    use throng_scene::{Mesh, NONE, Shape};

    /// Builds trees over spheres at `after`, without groups and with groups computed at `before`.
    fn trees(before: impl Fn(u32) -> Vec3, after: impl Fn(u32) -> Vec3) -> [Tlas; 2] {
        let count = 100_000;
        let sphere = Mesh { name: "sphere".into(), shape: Shape::Sphere, slot_count: 1 };
        let layout = NodeLayout::Compressed8;
        let blas = [Arc::new(Blas::build(&sphere, layout, Quality::High))];
        let instance = Instance { local: Affine3::IDENTITY, node: NONE, mesh: 0, slot_base: 0, motion: NONE };
        let instances = vec![instance; count as usize];
        let transforms = |places: &dyn Fn(u32) -> Vec3, order: &[u32]| -> Vec<Affine3> {
            let places = order.iter().map(|&id| places(id));
            places.map(Affine3::from_translation).collect()
        };
        let all: Vec<u32> = (0..count).collect();
        let mut builder = TlasBuilder::default();
        let input = |world_from_object, ids, groups| TlasInput {
            instances: &instances,
            ids,
            meshes: &[],
            groups,
            world_from_object,
            blas: &blas,
            careful: true,
        };
        let start = transforms(&before, &all);
        let groups = builder.group(input(&start, &[], None), layout);
        let moved = transforms(&after, groups.order());
        [None, Some(&groups)].map(|groups_or_none| {
            let mut tlas = Tlas::new(layout);
            let input = input(&moved, groups.order(), groups_or_none);
            builder.build(input, Quality::Fast, &mut tlas);
            tlas.check(input).unwrap();
            tlas
        })
    }

    fn place(seed: u32, index: u32) -> Vec3 {
        Vec3::from([0, 1, 2].map(|axis| 500.0 * hash_unit(3 * seed + axis, index)))
    }

    #[test]
    fn groups_serve_while_neighbours_stay_together() {
        let [without, with] = trees(|i| place(0, i), |i| place(0, i) + place(1, i) * 0.002);
        assert_ne!(without.units.len(), with.units.len());
        let (grouped, free) = (with.tree.sah_cost(1.0), without.tree.sah_cost(1.0));
        assert!(grouped < 1.03 * free, "{grouped}, {free} without groups");
    }

    #[test]
    fn groups_that_have_spread_are_given_up() {
        let [without, with] = trees(|i| place(0, i), |i| place(1, i));
        let words = |tlas: &Tlas| tlas.units.iter().flat_map(|unit| unit.words).collect::<Vec<u32>>();
        assert!(words(&without) == words(&with));
    }
}
