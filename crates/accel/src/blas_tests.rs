//! Trees of triangles of every layout and quality, over inputs from ordinary to extreme.

use crate::{
    Blas, BlasShape, NodeLayout, Packs, Quality, Surface,
    build::collapse::MOST_LEVELS,
    compressed,
    pack::{Pack, each_kind},
    validate::validate_blas,
};
use proptest::prelude::*;
use throng_base::math::hash_unit;
use throng_scene::TriangleMesh;

/// The sizes of a [`soup`].
struct Cloud {
    center: f32,
    spread: [f32; 3],
    size: f32,
}

/// Triangles of about `size` around random points in a box of half extents `spread`; five triangles share each point.
fn soup(count: u32, seed: u32, Cloud { center, spread, size }: Cloud) -> TriangleMesh {
    let random = |i| hash_unit(seed, i) * 2.0 - 1.0;
    let corner = |i: u32| {
        let place = i / 3 - i / 3 % 5;
        [0, 1, 2].map(|axis| {
            let about = center + spread[axis as usize] * random(3 * place + axis);
            about + size * random(1_000_000 + 3 * i + axis)
        })
    };
    TriangleMesh {
        positions: (0..3 * count).map(corner).collect(),
        triangles: (0..count).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect(),
        ..TriangleMesh::default()
    }
}

fn validated(mesh: &TriangleMesh, layout: NodeLayout, quality: Quality) -> Blas {
    valid(Blas::of_surface(mesh.into(), layout, quality), mesh)
}

fn valid(blas: Blas, mesh: &TriangleMesh) -> Blas {
    let surface = Surface::from(mesh);
    match &blas.shape {
        BlasShape::Triangles { tree, packs } => validate_blas(tree, packs, &surface),
        BlasShape::Compressed { depth, units, patches } => {
            compressed::validate::validate_blas(units, patches, &surface, *depth)
        }
        _ => panic!("a mesh of triangles"),
    }
    .unwrap();
    blas
}

proptest! {
    #![proptest_config(throng_testing::same_cases(64))]

    #[test]
    fn boxes_enclose_every_triangle_and_nothing_is_lost(
        count in 0u32..700,
        seed in any::<u32>(),
        center in prop::sample::select(vec![0.0f32, 1.0, -1e6, 1e17]),
        spread in prop::array::uniform3(prop::sample::select(vec![0.0f32, 1e-35, 1.0, 1e15])),
        size in prop::sample::select(vec![0.0f32, 1e-20, 0.1, 1e12]),
        layout in prop::sample::select(NodeLayout::ALL.to_vec()),
        quality in prop::sample::select(Quality::ALL.to_vec()),
    ) {
        validated(&soup(count, seed, Cloud { center, spread, size }), layout, quality);
    }
}

proptest! {
    #![proptest_config(throng_testing::same_cases(64))]

    #[test]
    fn trees_in_parts_enclose_every_triangle_and_are_no_deeper_than_allowed(
        count in 100u32..2000,
        seed in any::<u32>(),
        spread in prop::array::uniform3(prop::sample::select(vec![0.0f32, 1e-35, 1.0, 1e15])),
        size in prop::sample::select(vec![0.0f32, 1e-20, 0.1, 1e12]),
        layout in prop::sample::select(NodeLayout::ALL.to_vec()),
        most_at_once in 4usize..200,
    ) {
        let mesh = soup(count, seed, Cloud { center: 0.0, spread, size });
        let blas = valid(Blas::of_surface_in_parts((&mesh).into(), layout, most_at_once), &mesh);
        prop_assert!(blas.depth() <= MOST_LEVELS);
    }
}

#[test]
fn trees_in_parts_cost_as_much_as_others_and_can_be_refitted() {
    for size in [0.01, 0.3] {
        let mesh = soup(60_000, 5, Cloud { center: 0.0, spread: [1.0; 3], size });
        for layout in NodeLayout::ALL {
            let in_parts = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| Blas::of_surface_in_parts((&mesh).into(), layout, 20_000))
            };
            let (at_once, mut parts) = (validated(&mesh, layout, Quality::High), in_parts(1));
            let (whole, divided) = (at_once.sah_cost(), parts.sah_cost());
            assert!(divided < 1.02 * whole, "{layout:?}: {divided} instead of {whole}");
            assert_eq!(in_parts(3).sah_cost(), divided);
            parts.refit((&mesh).into());
            valid(parts, &mesh);
        }
    }
}

/// The number of primitives exceeds the task size of building, sorting, measuring and partitioning.
#[test]
fn trees_do_not_depend_on_the_number_of_threads() {
    let mesh = soup(80_000, 5, Cloud { center: 0.0, spread: [1.0; 3], size: 0.01 });
    for (layout, quality) in [
        (NodeLayout::Wide16, Quality::Fast),
        (NodeLayout::Wide8, Quality::Balanced),
        (NodeLayout::Compressed8, Quality::Balanced),
    ] {
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let blas = pool.build().unwrap().install(|| {
                let blas = validated(&mesh, layout, quality);
                (blas.sah_cost(), blas.shape)
            });
            match blas {
                (cost, BlasShape::Triangles { packs, .. }) => {
                    let names = each_kind!(&packs, packs => {
                        packs.iter().flat_map(|pack| pack.prims().to_vec()).collect::<Vec<u32>>()
                    });
                    (cost, names)
                }
                (cost, BlasShape::Compressed { patches, .. }) => (cost, patches.iter().map(|row| row.prim).collect()),
                _ => panic!("a mesh of triangles"),
            }
        };
        assert!(with(1) == with(3), "{layout:?}, {quality:?}");
    }
}

#[test]
fn more_time_makes_better_trees() {
    let mesh = soup(20_000, 1, Cloud { center: 0.0, spread: [1.0; 3], size: 0.02 });
    for layout in NodeLayout::ALL {
        let costs = Quality::ALL.map(|quality| validated(&mesh, layout, quality).sah_cost());
        assert!(costs.is_sorted_by(|a, b| a > b), "{layout:?}: {costs:?} from fast to high");
    }
}

/// Squares of two triangles each. Neighbouring squares share corners unless `loose` is set.
fn squares(side: u32, loose: bool) -> TriangleMesh {
    let mut mesh = TriangleMesh::default();
    let point = |x: u32, z: u32| [x as f32, hash_unit(7, x * 1000 + z), z as f32];
    if !loose {
        let points = (0..=side).flat_map(|x| (0..=side).map(move |z| (x, z)));
        mesh.positions = points.map(|(x, z)| point(x, z)).collect();
    }
    for (x, z) in (0..side).flat_map(|x| (0..side).map(move |z| (x, z))) {
        let around = [(x, z), (x + 1, z), (x, z + 1), (x + 1, z + 1)];
        let [a, b, c, d] = around.map(|(x, z)| {
            if !loose {
                return x * (side + 1) + z;
            }
            mesh.positions.push(point(x, z));
            mesh.positions.len() as u32 - 1
        });
        mesh.triangles.extend([[a, b, c], [b, d, c]]);
    }
    mesh
}

#[test]
fn triangles_with_corners_in_common_share_them_where_sixteen_can_be_picked_from() {
    let of = |layout, quality, loose| {
        let blas = validated(&squares(60, loose), layout, quality);
        let (leaves, cost) = (blas.bytes_by_kind().leaves, blas.sah_cost());
        let BlasShape::Triangles { packs, .. } = blas.shape else {
            panic!("of packs");
        };
        assert_eq!(leaves, packs.count() * 320);
        (matches!(packs, Packs::Shared(_)), leaves, cost)
    };
    let (shared, bytes, cost) = of(NodeLayout::Wide16, Quality::High, false);
    let (elsewhere, most_bytes, most_cost) = of(NodeLayout::Wide16, Quality::High, true);
    assert!(shared && !elsewhere);
    assert!(bytes as f32 <= 0.8 * most_bytes as f32, "{bytes} of {most_bytes}");
    assert!(cost < most_cost, "{cost} of {most_cost}");
    assert!(!of(NodeLayout::Wide16, Quality::Balanced, false).0);
    assert!(!of(NodeLayout::Wide8, Quality::High, false).0);
}

#[test]
fn packs_that_share_corners_hold_no_more_of_them_than_they_have_room_for() {
    // Groups of three triangles share three corners that no other triangle uses, so sixteen triangles would need eighteen corners.
    let mut mesh = soup(3000, 11, Cloud { center: 0.0, spread: [1.0; 3], size: 0.05 });
    let corners = mesh.triangles.as_flattened_mut();
    for (i, corner) in corners.iter_mut().enumerate() {
        *corner = *corner / 9 * 3 + i as u32 % 3;
    }
    mesh.positions.truncate(3003);
    let blas = validated(&mesh, NodeLayout::Wide16, Quality::High);
    let BlasShape::Triangles { packs: Packs::Shared(packs), .. } = &blas.shape else {
        panic!("as many vertices as triangles");
    };
    let count = |pack: &throng_abi::SharedPack| pack.named().count();
    assert_eq!(packs.iter().map(count).sum::<usize>(), 3000);
    assert!(packs.iter().any(|pack| count(pack) > 8) && packs.iter().all(|pack| count(pack) < 16));
}
