//! TLASes that GPUs build: memory and parameters of the kernels in `kernels/tlas`.

use bytemuck::Zeroable;
use std::sync::Arc;
use throng_abi::{KeyRange, MeshTree, PartRoot, TLAS_LEVELS, TlasBuild, TlasState, TreeBox};
use throng_accel::{Blas, Tlas, mesh_trees};

/// Instances per block of a sorting pass: `kSortTile` in the kernels.
pub const SORT_TILE: usize = 2048;
/// Clusters per block of a round of merging: `kBuildThreads` in the kernels.
pub const MERGE_TILE: usize = 256;
/// Number of values of a digit.
pub const DIGITS: usize = 256;
/// Floats per block of a support map.
const BLOCK: usize = 12;
/// Alignment of the parts of the working memory.
const ALIGNMENT: usize = 64;

/// The data of a build that are computed for each frame. The transforms and kinds are those of [`Unbuilt`](throng_accel::Unbuilt).
pub struct BuildInput {
    pub meshes: Vec<MeshTree>,
    /// The roots of the trees over instances that stand still.
    pub others: Vec<PartRoot>,
    /// Empty if no instance has motion keys.
    pub ranges: Vec<KeyRange>,
}

impl BuildInput {
    /// The input of a build of `tlas`, whose instances show the meshes of `blas`.
    pub fn new(tlas: &Tlas, blas: &[Arc<Blas>]) -> Self {
        let range = |span: &throng_scene::ShutterSpan| KeyRange { first_key: span.first, segments: span.segments };
        let spans = if tlas.shutter.is_empty() { &[][..] } else { &tlas.shutter.spans };
        Self {
            meshes: mesh_trees(blas),
            others: tlas.still.iter().map(|tree| tree.root()).collect(),
            ranges: spans.iter().map(range).collect(),
        }
    }
}

/// Maximum size in bytes of all support maps on a GPU. Meshes beyond it have larger boxes.
const MOST_SUPPORT: usize = 64 << 20;

/// The support maps of meshes, for tight boxes, in common arrays.
#[derive(Default)]
pub struct Supports {
    pub cells: Vec<u32>,
    pub blocks: Vec<f32>,
    /// For each mesh, its first cell and the number of its cells.
    places: Vec<Option<(u32, u32)>>,
}

impl Supports {
    pub fn new(blas: &[Arc<Blas>]) -> Self {
        let mut all = Self::default();
        for blas in blas {
            let size = |(cells, blocks): (&[u32], &[f32])| size_of_val(cells) + size_of_val(blocks);
            let (cells, blocks) = (&all.cells[..], &all.blocks[..]);
            let map = blas.support_parts().filter(|map| size((cells, blocks)) + size(*map) <= MOST_SUPPORT);
            let place = map.map(|(starts, blocks)| {
                let (first, before) = (all.cells.len() as u32, (all.blocks.len() / BLOCK) as u32);
                all.cells.extend(starts.iter().map(|start| start + before));
                all.blocks.extend_from_slice(blocks);
                (first, starts.len() as u32 - 1)
            });
            all.places.push(place);
        }
        all
    }

    /// Sets the maps of the meshes for which `new` was called.
    pub fn apply(&self, meshes: &mut [MeshTree]) {
        for (mesh, place) in meshes.iter_mut().zip(&self.places) {
            if let Some((support, cells)) = *place {
                (mesh.support, mesh.cells) = (support, cells);
            }
        }
    }
}

/// Parameters of a build of `tlas`, without addresses.
pub fn build_params(tlas: &Tlas) -> TlasBuild {
    let count = tlas.unbuilt.as_ref().map_or(0, |unbuilt| unbuilt.world_from_object.len());
    let (first_record, first_unit) = tlas.still.last().map_or((0, 1), |last| (last.end().records, last.end().units));
    TlasBuild {
        count: count as u32,
        first_record: first_record as u32,
        first_unit: first_unit as u32,
        other_count: tlas.still.len() as u32,
        most_levels: TLAS_LEVELS,
        ..Zeroable::zeroed()
    }
}

/// Upper bound of the number of units besides the root of a tree over `count` instances. Nodes with fewer than eight children have no inner ones among them, so that
/// there are at most 4/7 as many nodes as instances.
pub fn most_units(count: usize) -> usize {
    count + count * 4 / 7 + 1
}

/// Bytes of working memory for a tree over `count` instances.
pub fn scratch_bytes(count: usize) -> usize {
    parts(count).iter().map(|bytes| bytes.next_multiple_of(ALIGNMENT)).sum()
}

/// Sets the addresses of the working memory, which starts at `memory`. Its last part is the state, whose address and size are returned, too.
pub fn use_scratch(build: &mut TlasBuild, memory: *mut u8) -> (usize, usize) {
    let parts = parts(build.count as usize);
    let mut end = 0;
    let starts = parts.map(|bytes| {
        let start = end;
        end += bytes.next_multiple_of(ALIGNMENT);
        start
    });
    let at = |part: usize| memory.wrapping_add(starts[part]);
    build.boxes = at(0).cast();
    build.children = at(1).cast();
    build.places = [at(2).cast(), at(3).cast()];
    build.order = [at(4).cast(), at(5).cast()];
    build.clusters = [at(6).cast(), at(7).cast()];
    build.nearest = at(8).cast();
    build.digits = at(9).cast();
    build.sums = at(10).cast();
    build.state = at(11).cast();
    (starts[11], parts[11])
}

/// Sizes in bytes of the parts of the working memory.
fn parts(count: usize) -> [usize; 12] {
    let words = |count: usize| size_of::<u32>() * count;
    [
        2 * count * size_of::<TreeBox>(),
        words(2 * count),
        words(2 * count),
        words(2 * count),
        words(count),
        words(count),
        words(count),
        words(count),
        words(count),
        words(DIGITS * (count.div_ceil(SORT_TILE) + 1)),
        words(2 * count.div_ceil(MERGE_TILE)),
        size_of::<TlasState>(),
    ]
}

#[cfg(all(test, feature = "probe"))]
mod tests {
    use super::*;
    use glam::{Affine3, Vec3};
    use proptest::prelude::*;
    use throng_abi::{CompressedNode, InstanceKey, InstanceRecord, Unit};
    use throng_accel::{Buffer, NodeLayout, Place, Quality, StillTree, TlasBuilder, TlasInput};
    use throng_base::math::{hash_unit, rows_from_affine};
    use throng_scene::{Instance, Mesh, NONE, Shape, ShutterKeys, ShutterSpan, TriangleMesh};
    use throng_testing::same_cases;

    unsafe extern "C" {
        fn throng_probe_tlas_place(build: *const TlasBuild);
        fn throng_probe_tlas_build(build: *const TlasBuild) -> u32;
    }

    /// A sphere, a triangle, a ball of triangles, and a mesh without triangles.
    fn trees() -> Vec<Arc<Blas>> {
        let triangle = TriangleMesh {
            positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
            triangles: vec![[0, 1, 2]],
            ..TriangleMesh::default()
        };
        let point = |i: u32| Vec3::from([0, 1, 2].map(|axis| hash_unit(axis, i) - 0.5)).normalize_or_zero();
        let ball = TriangleMesh {
            positions: (0..300).map(|i| point(i).into()).collect(),
            triangles: (0..100).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect(),
            ..TriangleMesh::default()
        };
        let meshes = [triangle, ball, TriangleMesh::default()].map(Shape::Triangles);
        let shapes = [Shape::Sphere].into_iter().chain(meshes);
        let mesh = |shape| Mesh { name: String::new(), shape, slot_count: 1 };
        let blas = |shape| Arc::new(Blas::build(&mesh(shape), NodeLayout::Compressed8, Quality::High));
        shapes.map(blas).collect()
    }

    /// Instances at these places, numbered from `first`. Every ninth one cannot be shown.
    struct Things {
        instances: Vec<Instance>,
        transforms: Vec<Affine3>,
        ids: Vec<u32>,
    }

    impl Things {
        fn new(first: u32, places: &[Vec3], size: impl Fn(u32) -> f32) -> Self {
            let ids: Vec<u32> = (first..).take(places.len()).collect();
            let instance = |&id: &u32| Instance {
                local: Affine3::IDENTITY,
                node: NONE,
                mesh: id % 4,
                slot_base: id,
                motion: NONE,
            };
            let transform = |(&id, place): (&u32, &Vec3)| {
                let size = if id % 9 == 4 { f32::INFINITY } else { size(id) };
                let turn = Affine3::from_rotation_y(id as f32) * Affine3::from_rotation_x(0.3 * id as f32);
                Affine3::from_translation(*place) * Affine3::from_scale(Vec3::splat(size)) * turn
            };
            Self {
                instances: ids.iter().map(instance).collect(),
                transforms: ids.iter().zip(places).map(transform).collect(),
                ids,
            }
        }

        fn joined(&self, other: &Self) -> Self {
            Self {
                instances: [&self.instances[..], &other.instances].concat(),
                transforms: [&self.transforms[..], &other.transforms].concat(),
                ids: [&self.ids[..], &other.ids].concat(),
            }
        }

        fn input<'a>(&'a self, blas: &'a [Arc<Blas>]) -> TlasInput<'a> {
            TlasInput {
                instances: &self.instances,
                ids: &self.ids,
                meshes: &[],
                groups: None,
                world_from_object: &self.transforms,
                blas,
                careful: true,
            }
        }
    }

    /// Builds the tree that was left to devices, with the kernels. Returns whether it had too many levels, so that neighbours were merged.
    fn build(tlas: &mut Tlas, blas: &[Arc<Blas>], most_levels: u32) -> bool {
        let mut params = build_params(tlas);
        let mut input = BuildInput::new(tlas, blas);
        let supports = Supports::new(blas);
        supports.apply(&mut input.meshes);
        (params.cells, params.blocks) = (supports.cells.as_ptr(), supports.blocks.as_ptr());
        let unbuilt = tlas.unbuilt.take().unwrap();
        let count = params.count as usize;
        let mut scratch = vec![0u128; scratch_bytes(count).div_ceil(size_of::<u128>()) + ALIGNMENT];
        let memory = scratch.as_mut_ptr().cast::<u8>();
        use_scratch(&mut params, memory.wrapping_add(memory.align_offset(ALIGNMENT)));
        let mut records = vec![InstanceRecord::zeroed(); params.first_record as usize + count];
        let mut units = vec![Unit::default(); params.first_unit as usize + most_units(count)];
        let mut place = Place::FIRST;
        for tree in &tlas.still {
            let (own_units, own_records) = tree.contents();
            units[place.units..][..own_units.len()].copy_from_slice(own_units);
            records[place.records..][..own_records.len()].copy_from_slice(own_records);
            place = tree.end();
        }
        params.most_levels = most_levels;
        params.transforms = unbuilt.world_from_object.as_ptr().cast();
        params.kinds = unbuilt.kinds.as_ptr();
        if !input.ranges.is_empty() {
            (params.ranges, params.keys) = (input.ranges.as_ptr(), tlas.shutter.keys.as_ptr());
        }
        params.meshes = input.meshes.as_ptr();
        if !input.others.is_empty() {
            params.others = input.others.as_ptr();
        }
        (params.records, params.units) = (records.as_mut_ptr(), units.as_mut_ptr());
        // SAFETY: all arrays have the sizes that the parameters give, and the state is a part of the working memory.
        let (levels, state) = unsafe {
            throng_probe_tlas_place(&params);
            let places = std::slice::from_raw_parts(params.places[0], count);
            let order = std::slice::from_raw_parts_mut(params.order[0], count);
            (0..).zip(order.iter_mut()).for_each(|(i, to)| *to = i);
            order.sort_by_key(|&i| places[i as usize]);
            (throng_probe_tlas_build(&params), *params.state)
        };
        assert!(levels <= TLAS_LEVELS && state.units as usize <= most_units(count));
        units.truncate(params.first_unit as usize + state.units as usize);
        (tlas.records, tlas.units) = (Buffer::copied(&records), Buffer::copied(&units));
        tlas.tree.depth = depth(&units, 0);
        state.plain != 0
    }

    fn depth(units: &[Unit], index: usize) -> u32 {
        let node: CompressedNode = bytemuck::cast(units[index]);
        let children = (0..8).filter(|slot| node.units >> slot & 1 != 0).enumerate();
        let inner = children.filter(|(_, slot)| node.instances >> slot & 1 == 0);
        1 + inner.map(|(place, _)| depth(units, node.unit_base as usize + place)).max().unwrap_or(0)
    }

    /// Builds a tree over `moving` and over `still`, and checks it.
    fn check(moving: &Things, still: Option<&Things>, shutter: ShutterKeys, most_levels: u32) -> (Tlas, bool) {
        let blas = trees();
        let mut tlas = Tlas::new(NodeLayout::Compressed8);
        let still_tree = still.map(|still| {
            let mut own = Tlas::new(NodeLayout::Compressed8);
            TlasBuilder::default().build(still.input(&blas), Quality::High, &mut own);
            Arc::new(StillTree::new(&own, &[]))
        });
        tlas.shutter = shutter;
        let still_trees: Vec<_> = still_tree.into_iter().collect();
        let kinds = Arc::new(moving.input(&blas).kinds());
        tlas.leave(&still_trees, kinds, &mut moving.transforms.clone());
        let is_plain = build(&mut tlas, &blas, most_levels);
        match still {
            Some(still) => tlas.check(still.joined(moving).input(&blas)).unwrap(),
            None => tlas.check(moving.input(&blas)).unwrap(),
        }
        (tlas, is_plain)
    }

    fn scattered(count: u32, seed: u32) -> Vec<Vec3> {
        (0..count).map(|i| Vec3::from([0, 1, 2].map(|axis| 100.0 * hash_unit(3 * seed + axis, i)))).collect()
    }

    proptest! {
        #![proptest_config(same_cases(64))]
        #[test]
        fn each_visible_instance_has_one_leaf_inside_its_parents(
            count in 0_u32..400, seed in 0_u32..1000, still in 0_u32..80, levels in 2_u32..32,
        ) {
            // Some of them are at one place.
            let mut places = scattered(count, seed);
            places.iter_mut().step_by(3).for_each(|place| *place = Vec3::ONE);
            let moving = Things::new(1000, &places, |id| if id % 50 == 0 { 300.0 } else { 0.5 });
            check(&moving, None, ShutterKeys::default(), levels);
            let still = Things::new(0, &scattered(still, seed + 1), |_| 1.0);
            check(&moving, Some(&still), ShutterKeys::default(), levels);
        }
    }

    #[test]
    fn records_are_those_of_the_cpu_to_the_bit() {
        let moving = Things::new(7, &scattered(500, 3), |id| (id as f32).exp2().clamp(1e-30, 1e30));
        let blas = trees();
        let mut expected = Tlas::new(NodeLayout::Compressed8);
        TlasBuilder::default().build(moving.input(&blas), Quality::Fast, &mut expected);
        let mut expected = expected.records.to_vec();
        expected.sort_by_key(|record| record.instance);
        let (found, _) = check(&moving, None, ShutterKeys::default(), TLAS_LEVELS);
        assert!(bytemuck::cast_slice::<_, u8>(&found.records) == bytemuck::cast_slice::<_, u8>(&expected));
    }

    #[test]
    fn boxes_enclose_motion_keys() {
        let places = scattered(300, 5);
        let moving = Things::new(0, &places, |_| 1.0);
        let spans = (0..300).map(|i| ShutterSpan { first: i / 2 * 3, segments: if i % 2 == 0 { 2 } else { 0 } });
        let key = |i: u32| {
            let place = places[(i / 3 * 2) as usize] + Vec3::Y * (i % 3) as f32;
            InstanceKey { world_from_object: rows_from_affine(&Affine3::from_translation(place)) }
        };
        let shutter = ShutterKeys { spans: spans.collect(), keys: (0..450).map(key).collect() };
        let (tlas, _) = check(&moving, None, shutter, TLAS_LEVELS);
        assert_eq!(tlas.records.iter().map(|record| record.segments).sum::<u32>(), 300);
    }

    #[test]
    fn a_tree_with_too_many_levels_is_replaced() {
        // Each is as far from the ones before as these are from each other.
        let places: Vec<Vec3> = (0..110).map(|i| Vec3::X * (i as f32 - 55.0).exp2()).collect();
        let moving = Things::new(0, &places, |id| 0.1 * (id as f32 - 55.0).exp2());
        assert!(!check(&moving, None, ShutterKeys::default(), TLAS_LEVELS).1);
        assert!(check(&moving, None, ShutterKeys::default(), 3).1);
    }
}
