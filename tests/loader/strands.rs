//! Strands of files: entries `Curves` of scene files, and lines of glTF models.

use crate::{error, folder, scene, scene_path};
use std::fs;
use throng::{
    loader::{LoadOptions, load, load_with},
    scene::{CurveProfile, Curves, Scene, Shape},
};

fn curves(scene: &Scene, mesh: usize) -> &Curves {
    match &scene.meshes[mesh].shape {
        Shape::Curves(curves) => curves,
        _ => panic!("{} is no mesh of curves", scene.meshes[mesh].name),
    }
}

/// A scene with an entry `c` of meshes.
fn with(entry: &str) -> String {
    format!(
        "(meshes: {{ \"c\": {entry} }}, instances: [Single(of: \"c\")], camera: LookAt(eye: (0, 1, 5), target: (0, 0, 0)))"
    )
}

#[test]
fn lines_of_an_obj_file_get_their_width_and_size_from_the_scene() {
    let dir = folder();
    fs::write(dir.path().join("lines.obj"), "v 0 0 0\nv 0 0 2\nv 1 0 0\nl 1 2\nl 3 1\n").expect("written");
    let entry = r#"Curves(file: "lines.obj", width: 0.2, tip: 0.5, profile: ribbon, up: z, fit: 4)"#;
    let scene = load(&scene_path(&dir, &with(entry))).unwrap_or_else(|error| panic!("{error}"));
    let curves = curves(&scene, 0);
    assert_eq!((curves.profile, &curves.strands[..]), (CurveProfile::Ribbon, &[0, 2][..]));
    // The file is 2 high, and 4 is asked for.
    let points: Vec<([f32; 3], f32)> = curves.points.iter().map(|point| (point.position, point.radius)).collect();
    assert_eq!(points[..2], [([-1.0, 0.0, 0.0], 0.2), ([-1.0, 4.0, 0.0], 0.1)]);
}

#[test]
fn splines_through_points_are_flattened() {
    let dir = folder();
    fs::write(dir.path().join("bow.obj"), "v 0 0 0\nv 1 1 0\nv 2 0 0\nl 1 2 3\n").expect("written");
    let points = |basis: &str| {
        let entry = format!("Curves(file: \"bow.obj\", width: 0.01, basis: {basis})");
        let scene = load(&scene_path(&dir, &with(&entry))).unwrap_or_else(|error| panic!("{error}"));
        curves(&scene, 0).points.clone()
    };
    assert_eq!(points("linear").len(), 3);
    let bow = points("catmull_rom");
    assert!(bow.len() > 20 && bow.iter().any(|point| point.position == [1.0, 1.0, 0.0]));
    assert_eq!((bow[0].position, bow[bow.len() - 1].position), ([0.0; 3], [2.0, 0.0, 0.0]));
}

#[test]
fn fur_has_its_own_material_unless_a_placement_gives_another() {
    let text = |own: &str, placed: &str| {
        format!(
            r#"(materials: {{ "green": Diffuse(color: (0, 1, 0)), "red": Diffuse(color: (1, 0, 0)) }},
            meshes: {{ "box": Box(), "fur": Fur(on: "box", count: 3, length: 1, width: 0.1{own}) }},
            instances: [Single(of: "fur"{placed})], camera: LookAt(eye: (0, 1, 5), target: (0, 0, 0)))"#
        )
    };
    let material = |own: &str, placed: &str| {
        let scene = scene(&text(own, placed));
        let slot = scene.instances[0].slot_base as usize;
        scene.material_name(scene.material_slots[slot] as usize)
    };
    assert_eq!(material(r#", material: "green""#, ""), "green");
    assert_eq!(material(r#", material: "green""#, r#", material: "red""#), "red");
    assert_eq!(material("", ""), "default");
    let fault = error(&text(r#", material: "grene""#, ""));
    assert!(fault.contains("`grene`") && fault.contains("green"), "{fault}");
}

#[test]
fn faults_of_entries_name_the_field_and_the_fix() {
    let fault = |entry: &str| error(&with(entry));
    assert!(fault(r#"Curves(file: "no.npz")"#).contains("no.npz does not exist: check the path"));
    assert!(
        fault(r#"Curves(file: "tri.ply")"#)
            .contains("tri.ply has no curves that are known: write .npz, .npy, .hair, .obj")
    );
    assert!(fault(r#"Curves(file: "tri.obj", width: 1)"#).contains("there are no lines (`l`) in it"));
    assert!(fault(r#"Curves(file: "tri.obj", width: 0)"#).contains("there are no lines"));
}

/// A glTF file with one primitive of three points.
fn gltf(mode: u32) -> String {
    format!(
        r#"{{"asset": {{"version": "2.0"}}, "scene": 0, "scenes": [{{"nodes": [0]}}], "nodes": [{{"mesh": 0, "scale": [2, 2, 2]}}],
        "meshes": [{{"primitives": [{{"mode": {mode}, "attributes": {{"POSITION": 0}}}}]}}],
        "accessors": [{{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [2, 1, 0]}}],
        "bufferViews": [{{"buffer": 0, "byteLength": 36}}],
        "buffers": [{{"byteLength": 36, "uri": "data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAQAAAgD8AAAAA"}}]}}"#
    )
}

#[test]
fn lines_of_a_model_have_the_width_that_is_asked_for_or_one_in_proportion() {
    let dir = folder();
    for (mode, points) in [(2, 4), (3, 3)] {
        let path = dir.path().join("lines.gltf");
        fs::write(&path, gltf(mode)).expect("written");
        let mut options = LoadOptions::default();
        let scene = load_with(&path, &options).unwrap_or_else(|error| panic!("{error}"));
        let own = scene.meshes.iter().position(|mesh| matches!(mesh.shape, Shape::Curves(_))).expect("curves");
        assert_eq!(curves(&scene, own).points.len(), points);
        // The diagonal is 4.47, and the node doubles all lengths.
        assert_eq!(curves(&scene, own).points[0].radius, 0.25 * 0.0089);
        assert!(
            scene.notes.iter().any(|note| note.contains("its lines are drawn 0.0089 wide; --line-width")),
            "{:?}",
            scene.notes
        );
        options.model.line_width = Some(0.1);
        let scene = load_with(&path, &options).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((curves(&scene, own).points[0].radius, scene.notes.len()), (0.025, 0));
    }
    let scene = load(&scene_path(&dir, &with(r#"Gltf(file: "lines.gltf", line_width: 0.4, fit: 2)"#)));
    let scene = scene.unwrap_or_else(|error| panic!("{error}"));
    let mesh = scene.instances[0].mesh as usize;
    assert_eq!(curves(&scene, mesh).points[0].radius, 0.1);
}
