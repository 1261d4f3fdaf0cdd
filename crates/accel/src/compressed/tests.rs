//! Compressed trees of both levels, over inputs from ordinary to extreme.

use crate::{
    Blas, BlasShape, NodeLayout, Quality, Tlas, TlasBuilder, TlasInput,
    compressed::validate::{decoded, validate_blas, validate_tlas},
    pool_offsets,
};
use glam::{Affine3, DVec3, Quat, Vec3};
use proptest::prelude::*;
use std::{
    f32::consts::{PI, TAU},
    sync::Arc,
};
use throng_abi::{COMPRESSED_STACK, CompressedNode, InstanceUnit, NO_INDEX};
use throng_base::math::hash_unit;
use throng_scene::{Instance, Mesh, NONE, Shape, TriangleMesh};

fn soup(count: u32, seed: u32, center: f32, spread: f32, size: f32) -> TriangleMesh {
    let random = |i| hash_unit(seed, i) * 2.0 - 1.0;
    let corner = |i: u32| {
        let around = |axis| center + spread * random(3 * (i / 3) + axis);
        [0, 1, 2].map(|axis| around(axis) + size * random(1_000_000 + 3 * i + axis))
    };
    TriangleMesh {
        positions: (0..3 * count).map(corner).collect(),
        triangles: (0..count).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect(),
        ..TriangleMesh::default()
    }
}

fn blas(triangles: TriangleMesh, quality: Quality) -> Arc<Blas> {
    let mesh = Mesh { name: "soup".into(), shape: Shape::Triangles(triangles), slot_count: 1 };
    Arc::new(Blas::build(&mesh, NodeLayout::Compressed8, quality))
}

fn sphere() -> Arc<Blas> {
    let mesh = Mesh { name: "sphere".into(), shape: Shape::Sphere, slot_count: 1 };
    Arc::new(Blas::build(&mesh, NodeLayout::Compressed8, Quality::High))
}

/// Numbers of units and rows of a tree, after validating it.
fn valid_sizes(blas: &Blas, mesh: &TriangleMesh) -> (usize, usize) {
    let BlasShape::Compressed { depth, units, patches } = &blas.shape else {
        panic!("a mesh of triangles has a compressed tree");
    };
    validate_blas(units, patches, &mesh.into(), *depth).unwrap();
    (units.len(), patches.len())
}

fn tlas(transforms: &[Affine3], meshes: &[u32], blas: &[Arc<Blas>]) -> Tlas {
    let instance = |&mesh: &u32| Instance { local: Affine3::IDENTITY, node: NONE, mesh, slot_base: 0, motion: NONE };
    let instances: Vec<_> = meshes.iter().map(instance).collect();
    let input = TlasInput {
        instances: &instances,
        ids: &[],
        meshes: &[],
        groups: None,
        world_from_object: transforms,
        blas,
        careful: true,
    };
    let build = |quality, careful| {
        let input = TlasInput { careful, ..input };
        let mut tlas = Tlas::new(NodeLayout::Compressed8);
        TlasBuilder::default().build(input, quality, &mut tlas);
        validate_tlas(&tlas, input).unwrap();
        tlas
    };
    build(Quality::Fast, false);
    let (fast, refined) = (build(Quality::Fast, true), build(Quality::High, true));
    assert!(refined.tree.sah_cost(1.0) <= fast.tree.sah_cost(1.0) * 1.001);
    fast
}

/// Scattered and rotated transforms; a few exceed the range of floats, so that their instances are hidden.
fn scattered(count: u32, seed: u32, spread: f32) -> Vec<Affine3> {
    let one = |i: u32| {
        let u = |k| hash_unit(seed, 8 * i + k) * 2.0 - 1.0;
        let turn = Quat::from_rotation_y(7.0 * u(0)) * Quat::from_rotation_x(7.0 * u(1));
        let far = if u(5) > 0.9 { 1e30 } else { 1.0 };
        Affine3::from_rotation_translation(turn, Vec3::new(u(2), u(3), u(4)) * spread * far)
    };
    (0..count).map(one).collect()
}

proptest! {
    #![proptest_config(throng_testing::same_cases(48))]

    #[test]
    fn planes_enclose_every_triangle_and_nothing_is_lost(
        count in 1u32..600,
        seed in any::<u32>(),
        center in prop::sample::select(vec![0.0f32, 1.0, -1e6, 1e17]),
        spread in prop::sample::select(vec![0.0f32, 1e-35, 1e-3, 1.0, 1e15]),
        size in prop::sample::select(vec![0.0f32, 1e-20, 0.1, 1e12]),
        quality in prop::sample::select(vec![Quality::Fast, Quality::High]),
    ) {
        let mesh = soup(count, seed, center, spread, size);
        let (_, rows) = valid_sizes(&blas(mesh.clone(), quality), &mesh);
        // Each triangle has three vertices of its own.
        prop_assert!(rows > 3 * count as usize);
    }

    #[test]
    fn planes_enclose_every_visible_instance(
        count in 1u32..1200,
        seed in any::<u32>(),
        spread in prop::sample::select(vec![0.0f32, 1e-3, 10.0, 1e15]),
    ) {
        let trees = [blas(soup(20, 1, 0.0, 1.0, 0.1), Quality::High), sphere(), blas(TriangleMesh::default(), Quality::Fast)];
        let meshes: Vec<u32> = (0..count).map(|i| i % 3).collect();
        tlas(&scattered(count, seed, spread), &meshes, &trees);
    }
}

#[test]
fn a_refit_keeps_sizes_and_encloses_what_moved() {
    for count in [1, 7, 9, 500] {
        let mut tree = Arc::into_inner(blas(soup(count, 3, 0.0, 1.0, 0.1), Quality::Fast)).unwrap();
        let sizes = valid_sizes(&tree, &soup(count, 3, 0.0, 1.0, 0.1));
        let moved = soup(count, 4, 2.0, 1.0, 0.3);
        tree.refit((&moved).into());
        assert_eq!(valid_sizes(&tree, &moved), sizes);
    }
}

#[test]
fn nothing_has_no_units_and_one_triangle_or_instance_has_a_root_node() {
    assert_eq!(valid_sizes(&blas(TriangleMesh::default(), Quality::High), &TriangleMesh::default()), (0, 0));
    let one = soup(1, 0, 0.0, 1.0, 0.1);
    let tree = blas(one.clone(), Quality::High);
    assert_eq!((valid_sizes(&tree, &one), tree.stack_entries()), ((1, 4), 1));
    assert_eq!(tlas(&[], &[], &[]).units.len(), 0);
    let single = tlas(&[Affine3::IDENTITY], &[0], &[tree]);
    assert_eq!((single.units.len(), single.tree.stack_entries()), (2, 1));
    let root: CompressedNode = bytemuck::cast(single.units[0]);
    assert_eq!((root.units, root.instances, root.unit_base), (1, 1, 1));
}

#[test]
fn instances_name_their_trees_in_the_pool_of_all_meshes() {
    let trees =
        [blas(soup(100, 1, 0.0, 1.0, 0.1), Quality::Fast), sphere(), blas(soup(9, 2, 0.0, 1.0, 0.1), Quality::Fast)];
    let offsets = pool_offsets(&trees);
    assert_eq!(offsets[0].units, 0);
    let rows = valid_sizes(&trees[0], &soup(100, 1, 0.0, 1.0, 0.1)).1;
    assert_eq!((offsets[1], offsets[2].leaves), (offsets[2], rows as u32));
    let tlas = tlas(&[Affine3::IDENTITY; 3], &[2, 1, 0], &trees);
    let mut roots: Vec<(u32, u32)> = tlas.units[1..]
        .iter()
        .map(|&u| {
            let unit: InstanceUnit = bytemuck::cast(u);
            (unit.instance, unit.root)
        })
        .collect();
    roots.sort_unstable();
    assert_eq!(roots, [(0, offsets[2].units), (1, NO_INDEX), (2, 0)]);
}

/// Triangles shrink with their distance, so that trees by surface area degenerate to lists.
#[test]
fn no_input_makes_a_tree_too_deep_for_the_stack() {
    let position = |i: u32| {
        let scale = 1.5f32.powi(60 - (i / 8) as i32);
        let side = |bit: u32| if i >> bit & 1 == 0 { scale } else { -scale };
        [side(0), side(1), side(2)]
    };
    let count = 8 * 200;
    let mut mesh = TriangleMesh::default();
    for i in 0..count {
        let [x, y, z] = position(i);
        mesh.positions.extend([[x, y, z], [x * 1.1, y, z], [x, y * 1.1, z * 1.1]]);
        mesh.triangles.push([3 * i, 3 * i + 1, 3 * i + 2]);
    }
    for quality in [Quality::Fast, Quality::High] {
        let tree = blas(mesh.clone(), quality);
        valid_sizes(&tree, &mesh);
        assert!(tree.stack_entries() <= COMPRESSED_STACK as usize / 2, "{} levels", tree.depth());
    }
}

/// Slots are visited from `octinv ^ 7` on. On average, the position along the ray should rise in this order.
#[test]
fn slots_come_roughly_front_to_back() {
    let tree = blas(soup(5000, 7, 0.0, 1.0, 0.01), Quality::High);
    let BlasShape::Compressed { units, .. } = &tree.shape else {
        panic!("a mesh of triangles has a compressed tree");
    };
    let (mut ordered, mut pairs) = (0, 0);
    for node in units.iter().map(|&u| bytemuck::cast::<_, CompressedNode>(u)) {
        let occupied: Vec<usize> = (0..8).filter(|&s| (node.units | node.leaves) >> s & 1 != 0).collect();
        let center = |slot| {
            let (min, max) = decoded(&node, slot);
            min + max
        };
        for (a, b) in occupied.iter().flat_map(|&a| occupied.iter().map(move |&b| (a, b))) {
            for octant in 0..8usize {
                let sign = |bit: usize| if octant & bit == 0 { 1.0 } else { -1.0 };
                let direction = DVec3::new(sign(4), sign(2), sign(1));
                if a ^ octant < b ^ octant {
                    pairs += 1;
                    ordered += u32::from(center(a).dot(direction) <= center(b).dot(direction));
                }
            }
        }
    }
    assert!(f64::from(ordered) > 0.7 * f64::from(pairs), "{ordered} of {pairs}");
}

/// A closed surface: a ball of rings, with `side` points around.
fn ball(side: u32) -> TriangleMesh {
    let point = |i: u32| {
        let (turn, height) = ((i % side) as f32 / side as f32 * TAU, (i / side) as f32 / (side - 1) as f32 * PI);
        let radius = 1.0 + 0.02 * hash_unit(1, i);
        [radius * height.sin() * turn.cos(), radius * height.cos(), radius * height.sin() * turn.sin()]
    };
    let cell = |i: u32| {
        let (here, next) = (i, i / side * side + (i + 1) % side);
        [[here, next, here + side], [here + side, next, next + side]]
    };
    TriangleMesh {
        positions: (0..side * side).map(point).collect(),
        triangles: (0..side * (side - 1)).flat_map(cell).collect(),
        ..TriangleMesh::default()
    }
}

#[test]
fn a_triangle_of_a_closed_mesh_takes_at_most_thirty_bytes() {
    let mesh = ball(80);
    let bytes = |quality| {
        let blas = blas(mesh.clone(), quality);
        valid_sizes(&blas, &mesh);
        let kinds = blas.bytes_by_kind();
        (kinds.nodes + kinds.leaves) as f64 / mesh.triangles.len() as f64
    };
    let (fast, high) = (bytes(Quality::Fast), bytes(Quality::High));
    assert!(fast < 40.0 && high < 30.0, "{fast}, {high}");
}

#[test]
fn common_vertices_follow_a_refit() {
    let (still, mut moved) = (ball(30), ball(30));
    for ([x, y, _], i) in moved.positions.iter_mut().zip(0..) {
        *x += hash_unit(9, i);
        *y *= 2.0;
    }
    for quality in Quality::ALL {
        let mut tree = Arc::into_inner(blas(still.clone(), quality)).unwrap();
        let sizes = valid_sizes(&tree, &still);
        tree.refit((&moved).into());
        assert_eq!(valid_sizes(&tree, &moved), sizes);
    }
}
