//! Forged files of trees: with a correct checksum but arbitrary contents, they are either rejected, or rays, pictures and refits complete with the
//! tree.

use glam::{Affine3, EulerRot, Quat, Vec3};
use std::{io::Write, sync::Arc};
use throng_abi::{CompressedNode, Hit, LEAF, NO_INDEX, PatchRow, Ray, Unit};
use throng_accel::{
    Blas, BlasShape, Buffer, NodeArray, NodeLayout, Packs, Quality, Surface, Tlas, TlasBuilder, TlasInput, Tree,
    TreeKey, Wide, blas_overlap, forging,
};
use throng_base::math::{Aabb, hash_u32, hash_unit};
use throng_device::{CpuDevice, Delivery, Device, Frame, FrameSettings, RayKind, fake};
use throng_scene::{
    Alpha, Instance, Integrator, Material, Mesh, NONE, Scene, Shape, Texels, Texture, TextureMap, TriangleMesh, Wrap,
    anim::{Moment, camera_at},
    rig::RefitPolicy,
};

/// Number of files per layout.
const CASES: u32 = 2000;

/// Words that are likely to cause harm: references, and floats at the limits of their range and beyond.
const WORDS: [u32; 16] = [
    0,
    1,
    2,
    64,
    LEAF,
    LEAF | 1,
    LEAF | 1000,
    NO_INDEX,
    NO_INDEX - 1,
    0x7fff_ffff,
    f32::INFINITY.to_bits(),
    f32::NEG_INFINITY.to_bits(),
    f32::NAN.to_bits(),
    f32::MAX.to_bits(),
    f32::MIN.to_bits(),
    1e-40f32.to_bits(),
];

/// A hilly sheet with `cells` cells along each side.
fn sheet(cells: u32) -> TriangleMesh {
    let (positions, triangles) = throng_testing::sheet(cells, |i| 9.0 * hash_unit(1, i));
    TriangleMesh { positions, triangles, ..TriangleMesh::default() }
}

fn bytes_of(blas: &Blas, key: TreeKey) -> Vec<u8> {
    let mut bytes = Vec::new();
    blas.write_to(key, &mut bytes).unwrap();
    bytes
}

fn read(bytes: &[u8], key: TreeKey, layout: NodeLayout, triangles: usize) -> Option<Blas> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    Blas::read_from(&file, key, layout, triangles)
}

/// The file of a small tree.
struct Sample {
    bytes: Vec<u8>,
    key: TreeKey,
    triangles: usize,
}

impl Sample {
    fn new(layout: NodeLayout) -> Self {
        let mesh = sheet(8);
        let surface = Surface::from(&mesh);
        let key = TreeKey::new(&surface, layout, Quality::High);
        Self {
            bytes: bytes_of(&Blas::of_surface(surface, layout, Quality::High), key),
            key,
            triangles: mesh.triangles.len(),
        }
    }
}

/// Pseudorandom numbers, identical in every run.
struct Random(u32);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 += 1;
        hash_u32(self.0) as usize % count
    }

    fn unit(&mut self) -> f32 {
        self.below(1 << 20) as f32 / (1 << 20) as f32
    }
}

/// Makes one to three changes in the header or in one of the sections, and updates the checksum.
fn forge(sample: &Sample, random: &mut Random) -> Vec<u8> {
    let mut bytes = sample.bytes.clone();
    let part = forging::parts(&bytes)[random.below(5)].clone();
    for _ in 0..=random.below(3) {
        let place = part.start + random.below(part.len());
        match random.below(3) {
            0 => bytes[place] ^= 1 << random.below(8),
            1 => bytes[place] = random.below(256) as u8,
            _ => {
                let word = WORDS[random.below(WORDS.len())].to_le_bytes();
                bytes[place / 4 * 4..][..4].copy_from_slice(&word);
            }
        }
    }
    forging::seal(&mut bytes);
    bytes
}

/// A scene with a mesh in a few places, and a texture that lets half of the rays pass.
fn scene(mut mesh: TriangleMesh) -> Scene {
    mesh.uvs = mesh.positions.iter().map(|p| [0.1 * p[0], 0.2 * p[2]]).collect();
    let places = [
        Affine3::IDENTITY,
        Affine3::from_rotation_translation(Quat::from_euler(EulerRot::XYZ, 0.3, 1.0, 2.0), Vec3::new(3.0, -2.0, 1.0)),
        Affine3::from_scale(Vec3::new(2.0, -0.5, 1.0)),
    ];
    let instance = |local| Instance { local, node: NONE, mesh: 0, slot_base: 0, motion: NONE };
    Scene {
        meshes: vec![Mesh { name: "sheet".into(), shape: Shape::Triangles(mesh), slot_count: 1 }],
        instances: places.map(instance).into(),
        materials: vec![Material { color_map: 0, alpha: Alpha::Blend, ..Material::default() }],
        material_slots: vec![0],
        maps: vec![TextureMap::plain(0)],
        textures: vec![Texture {
            name: "checks".into(),
            width: 2,
            height: 2,
            texels: Texels::Linear8(vec![[255; 4], [9; 4], [100; 4], [200; 4]]),
            wrap: [Wrap::Repeat, Wrap::Mirror],
            nearest: false,
            filtered: true,
        }],
        ..Scene::default()
    }
}

fn frame(scene: &Arc<Scene>, blas: Blas, layout: NodeLayout, (quality, careful): (Quality, bool)) -> Frame {
    let blas = Arc::new(vec![Arc::new(blas)]);
    let places: Vec<Affine3> = scene.instances.iter().map(|i| i.local).collect();
    let input = TlasInput {
        instances: &scene.instances,
        ids: &[],
        meshes: &[],
        groups: None,
        world_from_object: &places,
        blas: &blas,
        careful,
    };
    let mut tlas = Tlas::new(layout);
    TlasBuilder::default().build(input, quality, &mut tlas);
    Frame {
        scene: scene.clone(),
        camera: camera_at(scene, &Moment::default()),
        tlas: Arc::new(tlas),
        blas,
        ..fake::frame(1)
    }
}

/// Rays from around the mesh towards it; the first sixteen are coherent.
fn rays(random: &mut Random) -> Vec<Ray> {
    let ray = |i| {
        let mut cube = || Vec3::from_array([(); 3].map(|()| 2.0 * random.unit() - 1.0));
        let (from, to) = match i {
            0..16 => (Vec3::new(20.0, 30.0, 25.0) + cube(), 5.0 * Vec3::ONE + cube()),
            _ => (30.0 * cube(), 5.0 * Vec3::ONE + 5.0 * cube()),
        };
        Ray { origin: from.into(), t_min: 0.0, direction: (to - from).into(), t_max: f32::INFINITY }
    };
    (0..48).map(ray).collect()
}

/// Traces rays of all kinds through a frame, singly, in packets and interleaved, and renders a picture of it.
fn survive(devices: &mut [CpuDevice], frame: &Frame, rays: &[Ray]) {
    let settings = FrameSettings { width: 8, height: 8, bounces: 2, integrator: Integrator::Path, ..fake::settings() };
    let mut hits = vec![Hit::default(); rays.len()];
    for device in devices {
        for kind in [RayKind::Closest, RayKind::Any] {
            device.trace(frame, kind, rays, &mut hits, 1).unwrap();
        }
        device.count_work(frame, RayKind::Closest, rays).unwrap();
        device.submit(frame.clone(), &settings, Delivery::default()).unwrap();
        device.collect(&|| false).unwrap();
    }
}

/// Uses all forged files that are accepted, and returns their number.
fn survivors(layout: NodeLayout, variant: &str) -> u32 {
    let (sample, mesh) = (Sample::new(layout), sheet(8));
    let mut moved = mesh.clone();
    moved.positions.iter_mut().for_each(|p| p[1] *= 0.5);
    let scene = Arc::new(scene(mesh));
    let device = || CpuDevice::with_variant(variant).unwrap();
    let mut devices = [device(), device().with_cached_tlas(0)];
    for device in &mut devices {
        device.load(scene.clone()).unwrap();
    }
    let mut random = Random(layout as u32 * 1_000_000);
    let mut read_files = 0;
    for case in 0..CASES {
        let bytes = forge(&sample, &mut random);
        let Some(mut blas) = read(&bytes, sample.key, layout, sample.triangles) else {
            continue;
        };
        read_files += 1;
        let kind = [(Quality::Fast, true), (Quality::High, true), (Quality::Fast, false)][case as usize % 3];
        let rays = rays(&mut random);
        survive(&mut devices, &frame(&scene, blas.clone(), layout, kind), &rays);
        if case % 100 == 0 {
            blas_overlap(&blas);
        }
        blas.follow((&moved).into(), RefitPolicy::Auto);
        survive(&mut devices, &frame(&scene, blas, layout, kind), &rays);
    }
    read_files
}

/// Kernel variants that this processor supports, and their node layouts.
fn variants() -> impl Iterator<Item = (NodeLayout, &'static str)> {
    let known = CpuDevice::variants();
    let pairs = [
        (NodeLayout::Wide4, "baseline"),
        (NodeLayout::Wide8, "avx2"),
        (NodeLayout::Wide16, "avx512"),
        (NodeLayout::Compressed8, "compressed"),
    ];
    pairs.into_iter().filter(move |(_, name)| known.contains(name))
}

#[test]
fn a_forged_tree_is_refused_or_rays_get_through() {
    for (layout, variant) in variants() {
        let read = survivors(layout, variant);
        assert!((CASES / 4..CASES).contains(&read), "{layout:?}: {read}");
    }
}

/// Nodes whose first child is the next node and whose other children are leaves, all in one place. Traversal stacks get as full as possible.
fn ladder<const N: usize>(levels: u32) -> (Buffer<Wide<N>>, u32) {
    let everything = Aabb { min: Vec3::splat(-100.0), max: Vec3::splat(100.0) };
    let mut leaves = 0;
    let node = |level| {
        let mut node = Wide::EMPTY;
        for slot in 0..N {
            let child = match slot {
                0 if level + 1 < levels => level + 1,
                _ => LEAF | leaves,
            };
            leaves += child >> 31;
            node.set(slot, &everything, child);
        }
        node
    };
    let nodes: Vec<Wide<N>> = (0..levels).map(node).collect();
    (Buffer::copied(&nodes), leaves)
}

/// The compressed counterpart of `ladder`: nodes and patches of triangles of `surface`, repeated as needed.
fn compressed_ladder(levels: u32, surface: &Surface<'_>) -> (Buffer<Unit>, Buffer<PatchRow>) {
    let (mut nodes, mut rows) = (Vec::new(), Vec::new());
    for level in 0..levels {
        let units = u8::from(level + 1 < levels);
        let triangles = (0..(!units).count_ones()).map(|i| (8 * level + i) as usize % surface.triangles.len());
        // Vertices A, B, C and C again, which no other leaf has.
        let word = |leaf: u32| u32::from_le_bytes([0, 1, 2, 2].map(|vertex| (3 * leaf + vertex) as u8));
        rows.extend([7, 3].map(|leaf| bytemuck::cast::<[u32; 4], PatchRow>([0, 1, 2, 3].map(|i| word(leaf - i)))));
        nodes.push(CompressedNode {
            origin: [-100.0; 3],
            scale_xy: [(1f32.to_bits() >> 16) as u16; 2],
            scale_z: 1.0,
            unit_base: level + u32::from(units),
            leaf_base: rows.len() as u32,
            units,
            leaves: !units,
            planes: [[0; 8], [0; 8], [0; 8], [200; 8], [200; 8], [200; 8]],
            ..CompressedNode::default()
        });
        let positions = triangles.clone().flat_map(|triangle| surface.corners(triangle));
        let prims = triangles.map(|triangle| triangle as u32).chain(std::iter::repeat(0));
        rows.extend(positions.zip(prims).map(|(position, prim)| PatchRow { position, prim }));
    }
    (Buffer::copied(bytemuck::cast_slice(&nodes)), Buffer::copied(&rows))
}

/// A tree of `levels` levels over the leaves of `like`, the tree of `surface`, repeated as needed.
fn deep(like: &Blas, surface: &Surface<'_>, layout: NodeLayout, levels: u32) -> Blas {
    let again = |count: u32, from: usize| (0..count as usize).map(move |i| i % from);
    let shape = match &like.shape {
        BlasShape::Triangles { packs, .. } => {
            let (nodes, leaves) = match layout {
                NodeLayout::Wide4 => (NodeArray::Wide4(ladder(levels).0), ladder::<4>(levels).1),
                NodeLayout::Wide8 => (NodeArray::Wide8(ladder(levels).0), ladder::<8>(levels).1),
                _ => (NodeArray::Wide16(ladder(levels).0), ladder::<16>(levels).1),
            };
            let packs = match packs {
                Packs::Eight(packs) => {
                    let packs: Vec<_> = again(leaves, packs.len()).map(|i| packs[i]).collect();
                    Packs::Eight(Buffer::copied(&packs))
                }
                Packs::Shared(packs) => {
                    let packs: Vec<_> = again(leaves, packs.len()).map(|i| packs[i]).collect();
                    Packs::Shared(Buffer::copied(&packs))
                }
            };
            let tree = Tree { layout, nodes, root: 0, depth: levels, bounds: like.bounds };
            BlasShape::Triangles { tree, packs }
        }
        BlasShape::Compressed { .. } => {
            let (units, patches) = compressed_ladder(levels, surface);
            BlasShape::Compressed { depth: levels, units, patches }
        }
        _ => unreachable!("it is a mesh"),
    };
    forging::tree_of(shape, like.bounds)
}

#[test]
fn rays_get_through_trees_as_deep_as_may_be() {
    // Enough triangles for a file to have as many leaves as the ladder.
    let mesh = sheet(32);
    for (layout, variant) in variants() {
        let most = match layout {
            NodeLayout::Compressed8 => 32,
            _ => 128,
        };
        let key = TreeKey::new(&(&mesh).into(), layout, Quality::High);
        let like = Blas::of_surface((&mesh).into(), layout, Quality::High);
        let stored = |levels| {
            let bytes = bytes_of(&deep(&like, &(&mesh).into(), layout, levels), key);
            read(&bytes, key, layout, mesh.triangles.len())
        };
        assert!(stored(most + 1).is_none(), "{layout:?}");
        let scene = Arc::new(scene(mesh.clone()));
        let device = || CpuDevice::with_variant(variant).unwrap();
        let mut devices = [device(), device().with_cached_tlas(0)];
        for device in &mut devices {
            device.load(scene.clone()).unwrap();
        }
        let frame = frame(&scene, stored(most).unwrap(), layout, (Quality::Fast, true));
        survive(&mut devices, &frame, &rays(&mut Random(9)));
    }
}
