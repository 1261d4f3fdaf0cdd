use super::{checksum::checksum, *};
use crate::{Quality, Surface, blas::BUILDER_VERSION};
use std::mem::offset_of;
use throng_abi::{CompressedNode, EMPTY_CHILD, LEAF, NO_INDEX, PatchRow, SharedPack};
use throng_base::math::hash_unit;
use throng_scene::TriangleMesh;

/// A hilly sheet with `cells` cells along each side.
pub(super) fn sheet(cells: u32) -> TriangleMesh {
    let (positions, triangles) = throng_testing::sheet(cells, |i| 9.0 * hash_unit(1, i));
    TriangleMesh { positions, triangles, ..TriangleMesh::default() }
}

pub(super) fn bytes_of(blas: &Blas, key: TreeKey) -> Vec<u8> {
    let mut bytes = Vec::new();
    blas.write_to(key, &mut bytes).unwrap();
    bytes
}

pub(super) fn read(bytes: &[u8], key: TreeKey, layout: NodeLayout, triangles: usize) -> Option<Blas> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    Blas::read_from(&file, key, layout, triangles)
}

/// The file of a small tree.
pub(super) struct Sample {
    pub(super) bytes: Vec<u8>,
    pub(super) key: TreeKey,
    layout: NodeLayout,
    pub(super) triangles: usize,
}

impl Sample {
    pub(super) fn new(layout: NodeLayout) -> Self {
        let mesh = sheet(8);
        let surface = Surface::from(&mesh);
        let key = TreeKey::new(&surface, layout, Quality::High);
        Self {
            bytes: bytes_of(&Blas::of_surface(surface, layout, Quality::High), key),
            key,
            layout,
            triangles: mesh.triangles.len(),
        }
    }

    fn is_read(&self) -> bool {
        read(&self.bytes, self.key, self.layout, self.triangles).is_some()
    }

    /// Whether the file is accepted with some bytes replaced and an updated checksum.
    fn is_read_with(&self, position: usize, replacement: &[u8]) -> bool {
        let mut bytes = self.bytes.clone();
        bytes[position..][..replacement.len()].copy_from_slice(replacement);
        let end = bytes.len() - CHECKSUM_SIZE;
        let sum = checksum(&bytes[..end]).to_le_bytes();
        bytes[end..].copy_from_slice(&sum);
        read(&bytes, self.key, self.layout, self.triangles).is_some()
    }

    pub(super) fn sections(&self) -> [Range<usize>; 4] {
        let header: Header = bytemuck::pod_read_unaligned(&self.bytes[..size_of::<Header>()]);
        header.places().unwrap().0
    }
}

#[test]
fn trees_are_read_as_they_were_built() {
    for mesh in [sheet(0), sheet(1), sheet(30)] {
        for (layout, quality) in NodeLayout::ALL.iter().flat_map(|l| Quality::ALL.map(|q| (*l, q))) {
            let surface = Surface::from(&mesh);
            let key = TreeKey::new(&surface, layout, quality);
            let built = Blas::of_surface(surface, layout, quality);
            let bytes = bytes_of(&built, key);
            let read = read(&bytes, key, layout, mesh.triangles.len()).unwrap();
            assert!(bytes == bytes_of(&read, key), "{layout:?}, {quality:?}");
            assert_eq!(read.bounds, built.bounds);
            assert_eq!((read.sah_cost(), read.cost_ratio()), (built.sah_cost(), 1.0));
            assert_eq!(read.stack_entries(), built.stack_entries());
        }
    }
}

#[test]
fn a_tree_from_a_file_can_follow_its_mesh() {
    let (before, mut after) = (sheet(20), sheet(20));
    after.positions.iter_mut().for_each(|p| p[1] *= 0.5);
    for layout in NodeLayout::ALL {
        let key = TreeKey::new(&(&before).into(), layout, Quality::High);
        let mut built = Blas::of_surface((&before).into(), layout, Quality::High);
        let bytes = bytes_of(&built, key);
        let mut from_file = read(&bytes, key, layout, before.triangles.len()).unwrap();
        let original = from_file.clone();
        built.refit((&after).into());
        from_file.refit((&after).into());
        assert!(bytes_of(&built, key) == bytes_of(&from_file, key), "{layout:?}");
        assert!(bytes_of(&original, key) == bytes, "{layout:?}: written to");
    }
}

#[test]
fn damage_at_any_place_is_found() {
    for layout in [NodeLayout::Wide4, NodeLayout::Compressed8] {
        let mut sample = Sample::new(layout);
        assert!(sample.is_read());
        let sections = sample.sections();
        let is_gap = |position: &usize| {
            let between = size_of::<Header>()..sections[3].end;
            between.contains(position) && !sections.iter().any(|s| s.contains(position))
        };
        let positions = (0..sample.bytes.len()).step_by(37);
        for position in positions.filter(|position| !is_gap(position)) {
            sample.bytes[position] ^= 1 << (position % 8);
            assert!(!sample.is_read(), "{layout:?}, byte {position}");
            sample.bytes[position] ^= 1 << (position % 8);
        }
    }
}

#[test]
fn a_file_that_is_too_short_or_too_long_is_not_read() {
    let mut sample = Sample::new(NodeLayout::Wide8);
    let whole = sample.bytes.clone();
    sample.bytes.push(0);
    assert!(!sample.is_read());
    for len in (0..whole.len()).step_by(499).chain([whole.len() - 1]) {
        sample.bytes = whole[..len].to_vec();
        assert!(!sample.is_read(), "{len} bytes of {}", whole.len());
    }
}

#[test]
fn what_a_tree_is_made_from_is_in_its_key() {
    let mesh = sheet(8);
    let key = |mesh: &TriangleMesh| TreeKey::new(&mesh.into(), NodeLayout::Wide8, Quality::High);
    let (mut moved, mut turned) = (mesh.clone(), mesh.clone());
    moved.positions[80][2] += 1.0;
    turned.triangles[127].rotate_left(1);
    let of = |builder, layout, quality| TreeKey::of_version(builder, &(&mesh).into(), layout, quality);
    let keys = [
        key(&mesh),
        key(&moved),
        key(&turned),
        of(BUILDER_VERSION, NodeLayout::Wide4, Quality::High),
        of(BUILDER_VERSION, NodeLayout::Wide8, Quality::Fast),
        of(BUILDER_VERSION + 1, NodeLayout::Wide8, Quality::High),
    ];
    for (i, key) in keys.iter().enumerate() {
        assert!(!keys[..i].contains(key), "key {i}");
    }
    assert_eq!(keys[0], key(&mesh.clone()));
}

#[test]
fn a_tree_of_another_builder_is_not_read() {
    let mesh = sheet(8);
    let surface = Surface::from(&mesh);
    let (layout, quality) = (NodeLayout::Wide8, Quality::High);
    let blas = Blas::of_surface(surface, layout, quality);
    let theirs = TreeKey::of_version(BUILDER_VERSION + 1, &surface, layout, quality);
    let ours = TreeKey::new(&surface, layout, quality);
    let bytes = bytes_of(&blas, theirs);
    assert!(read(&bytes, ours, layout, mesh.triangles.len()).is_none());
}

#[test]
fn references_to_nowhere_are_found_behind_a_right_checksum() {
    const CHILDREN: usize = 6 * 8 * 4;
    const PRIM: usize = 9 * 8 * 4;
    let sample = Sample::new(NodeLayout::Wide8);
    let [nodes, packs, starts, _] = sample.sections().map(|section| section.start);
    let reads = |position, value: u32| sample.is_read_with(position, &value.to_le_bytes());
    let same = |position: usize| {
        let bytes = sample.bytes[position..].first_chunk().unwrap();
        u32::from_le_bytes(*bytes)
    };
    assert!(reads(nodes + CHILDREN, same(nodes + CHILDREN)));
    let sibling = same(nodes + CHILDREN + 4);
    for child in [0, 1000, LEAF | 1000, EMPTY_CHILD, sibling] {
        assert!(!reads(nodes + CHILDREN, child), "child {child:#x}");
    }
    let slots = sample.sections()[0]
        .clone()
        .step_by(size_of::<crate::node::Wide<8>>())
        .flat_map(|node| (0..8).map(move |slot| node + 4 * slot));
    let mut empty = slots.filter(|slot| same(slot + CHILDREN) == EMPTY_CHILD);
    let empty = empty.next().expect("some node has room");
    assert!(!reads(empty, 0), "a box around nothing");
    assert!(!reads(packs + PRIM, 128));
    assert!(!reads(packs + PRIM, NO_INDEX), "a pack of nothing");
    assert!(!reads(starts + 4, u32::MAX));
    let (root, depth) = (offset_of!(Header, root), offset_of!(Header, depth));
    assert!(!reads(root, 1) && !reads(root, LEAF) && !reads(root, EMPTY_CHILD));
    assert!(!reads(depth, 1) && !reads(depth, 100));
}

#[test]
fn corners_outside_of_a_pack_are_found_behind_a_right_checksum() {
    let sample = Sample::new(NodeLayout::Wide16);
    let packs = sample.sections()[1].start;
    let (corners, prim) = (offset_of!(SharedPack, corners), offset_of!(SharedPack, prim));
    let kind = offset_of!(Header, leaves);
    assert!(sample.is_read_with(kind, &SHARED.to_le_bytes()));
    assert!(!sample.is_read_with(kind, &2u32.to_le_bytes()));
    assert!(sample.is_read_with(packs + corners + 47, &[15]));
    assert!(!sample.is_read_with(packs + corners + 47, &[16]));
    assert!(!sample.is_read_with(packs + prim, &128u32.to_le_bytes()));
    assert!(!sample.is_read_with(packs + prim, &NO_INDEX.to_le_bytes()));
}

#[test]
fn references_of_compressed_trees_to_nowhere_are_found_behind_a_right_checksum() {
    let sample = Sample::new(NodeLayout::Compressed8);
    let [units, rows, ..] = sample.sections().map(|section| section.start);
    let reads = |position, bytes: &[u8]| sample.is_read_with(position, bytes);
    let word = |position, value: u32| reads(position, &value.to_le_bytes());
    // The first node has child units. Nodes without units, like the last one, have leaves.
    let last = sample.sections()[0].end - size_of::<CompressedNode>();
    let (unit_base, leaf_base) = (offset_of!(CompressedNode, unit_base), offset_of!(CompressedNode, leaf_base));
    assert!(word(units + unit_base, 1));
    for base in [0, 2, u32::MAX] {
        assert!(!word(units + unit_base, base), "unit {base}");
        assert!(!word(last + leaf_base, base), "triangle {base}");
    }
    assert!(!reads(units + offset_of!(CompressedNode, instances), &[1]));
    let all_of_both = [0xff, 0, 0xff];
    assert!(!reads(units + offset_of!(CompressedNode, units), &all_of_both));
    assert!(!reads(units + offset_of!(CompressedNode, pairs), &[0xff]));
    // Words of leaves precede the vertices, which also have the indices of triangles.
    let base = *sample.bytes[last + leaf_base..].first_chunk().unwrap();
    let vertex = rows + size_of::<PatchRow>() * u32::from_le_bytes(base) as usize;
    // Vertices that the patch does not have, and a second triangle that the node does not mention.
    assert!(!word(vertex - 4, 0x1fff_ffff) && !word(vertex - 4, 0x0100_0000));
    assert!(!reads(vertex + offset_of!(PatchRow, prim), &128u32.to_le_bytes()));
    assert!(!reads(offset_of!(Header, depth), &1000u32.to_le_bytes()));
}

#[cfg(target_arch = "x86_64")]
/// A fan of triangles that all overlap, so that builders give up refining.
fn fan(triangles: u32) -> TriangleMesh {
    let rim = |i: u32| {
        let turn = i as f32 * 0.01;
        [50.0 + turn, (i % 3) as f32, 40.0 * hash_unit(2, i)]
    };
    TriangleMesh {
        positions: [[0.0; 3]].into_iter().chain((0..triangles + 1).map(rim)).collect(),
        triangles: (1..=triangles).map(|i| [0, i, i + 1]).collect(),
        ..TriangleMesh::default()
    }
}

/// Version of the builder, and hashes of its trees: of two meshes, per layout and quality.
#[cfg(target_arch = "x86_64")]
const RECORDED: (u32, [u64; 24]) = (
    13,
    [
        0xcfedea987a66a49c,
        0xfe5f23a1cf31784f,
        0x1e8f0dc1176b4344,
        0x92e5cd8bc765d91f,
        0x90915b810714b0c4,
        0xb4f277b245141cc7,
        0xd15fd80c3d7eb03a,
        0x5429f0afd17e1914,
        0xdf2e7c6d3504dd5b,
        0x617eba3254246ecd,
        0xb13549bffd63bffa,
        0x5051046b87a40b4a,
        0x215c1a44ee31df9f,
        0x225db05507227785,
        0x5866018371b1bff3,
        0x07c5da972194aa97,
        0x2cf94a85b7a98195,
        0xb8e84573a8712dcc,
        0xfdb888d636d4225b,
        0x88318e6806e6bde9,
        0x00c69ce85c83c059,
        0x8119131d108c5127,
        0x4287fbbb80b6bd21,
        0x8282c5ceb98f4e91,
    ],
);

/// Trees may differ on other processors, which do some additions in a different order.
#[cfg(target_arch = "x86_64")]
#[test]
fn what_builders_make_changes_only_with_their_version() {
    // Enough triangles for large parts to be divided among threads.
    let meshes = [sheet(130), fan(3000)];
    let pairs = NodeLayout::ALL.iter().flat_map(|l| Quality::ALL.map(|q| (*l, q)));
    let found: Vec<u64> = meshes
        .iter()
        .flat_map(|mesh| pairs.clone().map(move |pair| (mesh, pair)))
        .map(|(mesh, (layout, quality))| {
            let blas = Blas::of_surface(mesh.into(), layout, quality);
            // A fixed key, because a key that depends on the version would hide that everything else is unchanged.
            checksum(&bytes_of(&blas, TreeKey(0))) as u64
        })
        .collect();
    assert!(
        (BUILDER_VERSION, &found[..]) == (RECORDED.0, &RECORDED.1),
        "builders make other trees than those of version {}, so those in caches are stale: raise BUILDER_VERSION to {} \
         and record version and trees here: {found:#018x?}",
        RECORDED.0,
        RECORDED.0 + 1
    );
}
