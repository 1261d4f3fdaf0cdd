//! Frames of models that scene files place.

use std::{fs, sync::Arc};
use throng_accel::NodeLayout;
use throng_render::Poser;
use throng_scene::{MotionPart, Scene, Shape, anim::Moment};
use throng_testing::gltf::walker;

/// Loads a scene file in the folder of `walker.glb`.
fn load(meshes: &str, rest: &str) -> Result<Scene, String> {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("walker.glb"), walker().glb()).expect("written");
    let text = format!("(render: (fps: 4, frames: 4), meshes: {{ {meshes} }}, {rest})");
    let path = dir.path().join("scene.ron");
    fs::write(&path, text).expect("written");
    throng_loader::load(&path).map_err(|error| error.to_string())
}

fn first_position(scene: &Scene, mesh: usize) -> [f32; 3] {
    match &scene.meshes[mesh].shape {
        Shape::Triangles(triangles) => triangles.positions[0],
        _ => panic!("a mesh of triangles"),
    }
}

#[test]
fn instances_choose_from_a_palette_of_poses() {
    let scene = load(
        r#""floor": Quad(), "w": Gltf(file: "walker.glb", clip: "Go", poses: 4)"#,
        r#"motions: { "go": (parts: [Clip()], phase: wave(direction: (1, 0, 0), length: 4)) },
           instances: [
               Grid(of: "w", count: (4, 1, 1), spacing: (1, 0, 0), motion: "go"),
               Single(of: "w"), Single(of: "floor"),
           ]"#,
    )
    .expect("loads");
    let starts: Vec<f32> = (0..4).map(|pose| first_position(&scene, pose)[0]).collect();
    assert_eq!(starts, [0.0, 1.0, 2.0, 3.0]);
    assert_eq!((scene.meshes.len(), scene.motions.len()), (5, 2));
    assert!(matches!(scene.motions[1].parts[..], [MotionPart::Clip { .. }]));
    assert!(scene.is_animated() && scene.deforming.is_empty());
    let mut shown = Vec::new();
    // Half a cycle later. The grid is at -1.5, -0.5, 0.5 and 1.5.
    let moment = Moment::of(&scene, scene.time_of(3));
    throng_scene::anim::shown_meshes(&scene, &scene.instances, &[], &moment, &mut shown);
    assert_eq!(shown[4..], [2, 4]);
    assert_eq!(shown[0..4].iter().collect::<std::collections::HashSet<_>>().len(), 4);
    let mut poser = Poser::new(Arc::new(scene), NodeLayout::Wide8);
    let tlas = poser.pose(3).frame.tlas;
    let mut recorded: Vec<(u32, u32)> = tlas.records.iter().map(|r| (r.instance, r.mesh)).collect();
    recorded.sort_unstable();
    let meshes: Vec<u32> = recorded.into_iter().map(|(_, mesh)| mesh).collect();
    assert_eq!(meshes, shown);
}

#[test]
fn a_model_that_is_alive_deforms_in_every_frame() {
    let scene = load(
        r#""w": Gltf(file: "walker.glb", clip: "0", alive: true, speed: 2, refit: refit)"#,
        r#"instances: [Single(of: "w")]"#,
    )
    .expect("loads");
    assert_eq!((scene.meshes.len(), scene.deforming.len()), (1, 1));
    for layout in [NodeLayout::Wide8, NodeLayout::Compressed8] {
        let mut poser = Poser::new(Arc::new(scene.clone()), layout);
        let frames: Vec<_> = [1, 2, 2].map(|n| poser.pose(n)).into();
        let starts = frames.iter().map(|posed| posed.frame.shapes[0].shape.positions[0][0]);
        assert_eq!(starts.collect::<Vec<_>>(), [0.0, 2.0, 2.0], "frames keep their shapes");
        let posed = &frames[1];
        assert_eq!((posed.trees.followed.refits, posed.trees.followed.rebuilds), (1, 0));
        assert_eq!(posed.frame.blas[0].bounds.max.x, 3.0);
        assert!(posed.frame.tlas.bounds().max.x >= 3.0);
    }
}

/// An array in NumPy's format.
fn npy(shape: &str, values: &[f32]) -> Vec<u8> {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n");
    let length = (header.len() as u16).to_le_bytes();
    [
        b"\x93NUMPY\x01\0",
        &length[..],
        header.as_bytes(),
        values.iter().map(|value| value.to_le_bytes()).collect::<Vec<_>>().as_flattened(),
    ]
    .concat()
}

#[test]
fn curves_of_a_cache_deform_in_every_frame() {
    let dir = tempfile::tempdir().expect("a folder");
    // Two strands of two points, which rise by 4 in a second and fall again.
    let strand = |x: f32, y: f32| [x, y, 0.0, x, y + 1.0, 0.0];
    let frame = |y: f32| [strand(0.0, y), strand(3.0, y)].concat();
    let points = [frame(0.0), frame(4.0), frame(0.0)].concat();
    fs::write(dir.path().join("a.npy"), npy("(3, 2, 2, 3)", &points)).expect("written");
    let text = r#"(render: (fps: 2, frames: 4), meshes: { "c": Curves(file: "a.npy", width: 0.5, fps: 1) },
        instances: [Single(of: "c")], camera: LookAt(eye: (0, 0, 9), target: (0, 0, 0)))"#;
    let path = dir.path().join("scene.ron");
    fs::write(&path, text).expect("written");
    let scene = Arc::new(throng_loader::load(&path).unwrap_or_else(|error| panic!("{error}")));
    assert_eq!((scene.meshes.len(), scene.deforming.len(), scene.is_animated()), (1, 1, true));
    for layout in [NodeLayout::Wide8, NodeLayout::Compressed8] {
        let mut poser = Poser::new(scene.clone(), layout);
        let frames: Vec<_> = [1, 2, 3, 5].map(|number| poser.pose(number)).into();
        let heights: Vec<f32> = frames.iter().map(|posed| posed.frame.blas[0].bounds.min.y.round()).collect();
        assert_eq!(heights, [0.0, 2.0, 4.0, 0.0]);
        assert_eq!(frames[1].frame.shapes[0].shape.positions[3], [3.0, 3.0, 0.0]);
        assert_eq!((frames[1].trees.followed.refits, frames[1].trees.followed.rebuilds), (1, 0));
        assert!(frames[2].frame.tlas.bounds().max.y >= 5.0);
    }
}

#[test]
fn a_model_of_a_size_moves_as_large_as_it_is() {
    let instances = r#"instances: [Single(of: "w")]"#;
    let positions = |entry: &str, mesh: usize| {
        let scene = load(&format!(r#""w": Gltf(file: "walker.glb", fit: 18{entry})"#), instances).expect("loads");
        let Shape::Triangles(mesh) = &scene.meshes[mesh].shape else { panic!("a mesh of triangles") };
        mesh.positions.clone()
    };
    // At rest, the model extends from -1 to 1 along X and from 0 to 9 along Z, so everything is doubled.
    assert_eq!(positions("", 0)[..3], [[0.0, 0.0, -9.0], [2.0, 0.0, -9.0], [0.0, 2.0, -9.0]]);
    assert_eq!(positions("", 0)[4], [-2.0, 0.0, 9.0]);
    let moved = positions(r#", clip: "Go", poses: 2"#, 1);
    assert_eq!(moved[..2], [[4.0, 0.0, -9.0], [6.0, 0.0, -9.0]]);
    let alive = r#""w": Gltf(file: "walker.glb", fit: 18, clip: "Go", alive: true)"#;
    let scene = load(alive, instances).expect("loads");
    let mut poser = Poser::new(Arc::new(scene), NodeLayout::Wide8);
    let posed = poser.pose(2);
    let shape = &posed.frame.shapes[0].shape;
    assert!(shape.positions[1][0] == 4.0 && shape.positions[4] == [-2.0, 0.0, 9.0], "{:?}", shape.positions);
    for size in ["0", "-1"] {
        let error = load(&format!(r#""w": Gltf(file: "walker.glb", fit: {size})"#), instances).expect_err("refused");
        assert!(error.contains("the size must be above 0"), "{error}");
    }
}
