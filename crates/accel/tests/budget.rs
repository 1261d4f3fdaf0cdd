//! Tree builds stay within their memory estimates. The global allocator counts allocations, so this is a separate test program.

use std::sync::{Arc, Mutex};
use throng_accel::{Blas, NodeLayout, Quality, build_bytes, build_bytes_in_parts, curve_build_bytes, most_boxes};
use throng_base::{math::hash_unit, sync::lock};
use throng_scene::{CurvePoint, Curves, Mesh, Shape, TriangleMesh};
use throng_testing::memory::{self, Counting};

#[global_allocator]
static COUNTING: Counting = Counting;

/// A hilly grid of `cells` cells per side.
fn sheet(cells: u32) -> TriangleMesh {
    let row = cells + 1;
    let point = |i: u32| [(i % row) as f32, 3.0 * hash_unit(1, i), (i / row) as f32];
    let cell = |i: u32| {
        let a = i / cells * row + i % cells;
        [[a, a + 1, a + row], [a + row, a + 1, a + row + 1]]
    };
    TriangleMesh {
        positions: (0..row * row).map(point).collect(),
        triangles: (0..cells * cells).flat_map(cell).collect(),
        ..TriangleMesh::default()
    }
}

/// Unconnected triangles in a cube.
fn soup(count: u32) -> TriangleMesh {
    let corner = |i: u32| [0, 1, 2].map(|axis| 100.0 * hash_unit(5 + axis, i / 3) + hash_unit(axis, i));
    TriangleMesh {
        positions: (0..3 * count).map(corner).collect(),
        triangles: (0..count).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect(),
        ..TriangleMesh::default()
    }
}

/// Needles in all directions, which builders split into as many parts as they may.
fn needles(count: u32) -> TriangleMesh {
    let corner = |i: u32| {
        let thickness = if i % 3 == 2 { 1e-4 } else { 1.0 };
        [0, 1, 2].map(|axis| {
            let from = 100.0 * hash_unit(5 + axis, i / 3);
            let away = if i.is_multiple_of(3) { 0.0 } else { 40.0 * thickness };
            from + away * (hash_unit(axis, i) - 0.5)
        })
    };
    TriangleMesh {
        positions: (0..3 * count).map(corner).collect(),
        triangles: (0..count).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect(),
        ..TriangleMesh::default()
    }
}

/// Strands of eight segments that wind through a cube.
fn strands(count: u32) -> Mesh {
    let point = |i: u32| {
        let position =
            [0, 1, 2].map(|axis| 100.0 * hash_unit(5 + axis, i / 9) + (i % 9) as f32 * hash_unit(axis, i / 9));
        CurvePoint { position, radius: 0.1 }
    };
    let (points, strands) = ((0..9 * count).map(point).collect(), (0..count).map(|strand| 9 * strand).collect());
    let curves = Curves { points, strands, ..Curves::default() };
    Mesh { name: "strands".into(), shape: Shape::Curves(Arc::new(curves)), slot_count: 1 }
}

/// Bytes that are allocated at the peak of a build, including the tree.
fn peak(build: impl FnOnce() -> Blas) -> u64 {
    memory::peak(build).1 as u64
}

/// The counter is shared, so tests take turns.
static TURN: Mutex<()> = Mutex::new(());

#[test]
fn builds_take_no_more_memory_than_they_say_and_not_much_less() {
    let _turn = lock(&TURN);
    let mut wrong = Vec::new();
    for (name, mesh) in [("sheet", sheet(280)), ("soup", soup(150_000)), ("needles", needles(100_000))] {
        for (layout, quality) in NodeLayout::ALL.iter().flat_map(|l| Quality::ALL.map(|q| (*l, q))) {
            let took = peak(|| Blas::of_surface((&mesh).into(), layout, quality));
            let boxes = match quality {
                Quality::High => most_boxes(&(&mesh).into()),
                _ => mesh.triangles.len(),
            };
            let said = build_bytes(boxes, layout, quality);
            if took > said || took < said / 2 {
                wrong.push(format!("{name}, {layout:?}, {quality:?}: {took} of {said}"));
            }
        }
    }
    let hair = strands(20_000);
    for (layout, quality) in NodeLayout::ALL.iter().flat_map(|l| Quality::ALL.map(|q| (*l, q))) {
        let took = peak(|| Blas::build(&hair, layout, quality));
        let said = curve_build_bytes(hair.prim_count(), layout, quality);
        if took > said || took < said / 2 {
            wrong.push(format!("strands, {layout:?}, {quality:?}: {took} of {said}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// With parts of at most 12,500 boxes, the working memory of one is a small share.
#[test]
fn builds_in_parts_take_the_memory_of_the_tree_and_of_one_part() {
    let _turn = lock(&TURN);
    let mut wrong = Vec::new();
    let most_at_once = 50_000;
    for (name, mesh) in [("sheet", sheet(440)), ("soup", soup(400_000)), ("needles", needles(200_000))] {
        for layout in NodeLayout::ALL {
            let boxes = most_boxes(&(&mesh).into());
            let took = peak(|| Blas::of_surface_in_parts((&mesh).into(), layout, most_at_once));
            let (said, before) =
                (build_bytes_in_parts(boxes, layout, most_at_once), build_bytes(boxes, layout, Quality::High));
            if took > said || took < said / 4 || said > before / 3 * 2 {
                wrong.push(format!("{name}, {layout:?}: {took} of {said}, instead of {before} at once"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
