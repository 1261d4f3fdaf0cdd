//! Tests of models that scene files place.

use crate::{
    self as loader,
    gltf::{self, tests::builder::*},
    model,
};
use serde_json::json;
use std::fs;
use throng_scene::anim::Moment;
use throng_scene::{Scene, Shape};

/// Loads a scene file in the folder of `walker.glb`.
fn load(meshes: &str, rest: &str) -> Result<Scene, String> {
    load_with(&walker(), meshes, rest)
}

/// Loads a scene file in the folder of `walker.glb`, whose content is `model`.
fn load_with(model: &Builder, meshes: &str, rest: &str) -> Result<Scene, String> {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("walker.glb"), model.glb()).expect("written");
    let text = format!("(render: (fps: 4, frames: 4), meshes: {{ {meshes} }}, {rest})");
    let path = dir.path().join("scene.ron");
    fs::write(&path, text).expect("written");
    loader::load(&path).map_err(|error| error.to_string())
}

#[test]
fn a_model_at_rest_is_one_mesh_with_its_materials() {
    let scene = load(r#""w": Gltf(file: "walker.glb")"#, r#"instances: [Single(of: "w")]"#).expect("loads");
    assert_eq!((scene.meshes.len(), scene.actors.len()), (1, 0));
    let Shape::Triangles(mesh) = &scene.meshes[0].shape else { panic!("a mesh of triangles") };
    assert_eq!(mesh.positions.len(), 6);
    assert_eq!(mesh.positions[3], [0.0, 0.0, 9.0]);
    assert_eq!(mesh.triangles[1], [3, 5, 4], "a mirror image runs the other way round");
    assert_eq!(mesh.normals[0], [0.0, 0.0, 1.0], "the flat one's plane");
    assert_eq!((&mesh.slots[..], scene.material_slots.len()), (&[0, 1][..], 2));
    let second = scene.materials[scene.material_slots[1] as usize];
    assert_eq!(second.color, glam::Vec3::X);
}

#[test]
fn a_model_that_shares_its_meshes_is_a_group() {
    let scene = load(
        r#""w": Gltf(file: "walker.glb", shared: true, fit: 3)"#,
        r#"materials: { "red": Diffuse() },
           instances: [Single(of: "w"), Grid(of: "w", count: (5, 1, 1), spacing: (9, 0, 0), material: "red", nest: true)]"#,
    )
    .expect("loads");
    assert_eq!((scene.meshes.len(), scene.assemblies.len(), scene.leaf_count()), (2, 1, 12));
    assert_eq!((scene.instance_name(0), scene.assemblies[0].name.as_str()), ("w/mesh 0".to_owned(), "w"));
    let flat = load(r#""w": Gltf(file: "walker.glb", fit: 3)"#, r#"instances: [Single(of: "w")]"#).expect("loads");
    let bounds = scene.bounds_at_rest();
    let wanted = flat.bounds_at_rest();
    // The row of copies is longer by 36.
    assert!(bounds.min.abs_diff_eq(wanted.min - glam::Vec3::X * 18.0, 1e-5), "{bounds:?} {wanted:?}");
    assert!(bounds.max.abs_diff_eq(wanted.max + glam::Vec3::X * 18.0, 1e-5), "{bounds:?} {wanted:?}");
}

#[test]
fn ribbons_lie_on_models_that_are_groups() {
    let mut lying = walker();
    for node in 0..2 {
        lying.json["nodes"][node]["rotation"] = json!([-0.70710677, 0, 0, 0.70710677]);
    }
    let ribbon = r#""r": Ribbon(curve: "c", width: 0.1, on: "w")"#;
    let rest = r#"curves: { "c": CatmullRom(points: [(0.2, 7, -0.2), (0.5, 7, -0.2)]) }, instances: [Single(of: "r")]"#;
    let [shared, flat] = ["true", "false"].map(|shared| {
        let model = format!(r#""w": Gltf(file: "walker.glb", shared: {shared})"#);
        load_with(&lying, &format!("{model}, {ribbon}"), rest).expect("loads").bounds_at_rest()
    });
    assert!(shared.min.abs_diff_eq(flat.min, 1e-6) && shared.max.abs_diff_eq(flat.max, 1e-6), "{shared:?} {flat:?}");
    let ball = load(r#""b": Sphere, "r": Ribbon(curve: "c", width: 0.1, on: "b")"#, rest).expect_err("no triangles");
    assert!(ball.contains("a sphere has no triangles to lie on"), "{ball}");
}

#[test]
fn a_model_is_a_group_where_that_saves_memory() {
    let mut model = walker().load();
    let bytes = |model: &gltf::Model, wanted| model::shared_bytes(model, wanted).expect("it may be one");
    assert_eq!(bytes(&model, None), None);
    assert!(bytes(&model, Some(true)).is_some());
    model.parts[0].placements = vec![glam::Affine3::IDENTITY; 1_000_000];
    assert!(bytes(&model, None).is_some_and(|bytes| bytes < model::flat_bytes(&model)));
    assert_eq!(bytes(&model, Some(false)), None);
    model.meshes[0].deformers.targets.push(Default::default());
    assert_eq!(bytes(&model, None), None);
    let error = model::shared_bytes(&model, Some(true)).expect_err("it deforms");
    assert_eq!(error, "has skins or morph targets: remove `shared`");
    let clip = load(r#""w": Gltf(file: "walker.glb", clip: "Go", shared: true)"#, r#"instances: [Single(of: "w")]"#);
    assert!(clip.is_err_and(|error| error.contains("a model that moves is one mesh")));
}

#[test]
fn what_does_not_go_together_is_told() {
    let instance = r#"instances: [Single(of: "w")]"#;
    for (entry, told) in [
        (r#"file: "walker.glb", clip: "Gone""#, "there is no clip `Gone`"),
        (r#"file: "walker.glb", poses: 3"#, "name it with `clip`"),
        (r#"file: "walker.glb", alive: true"#, "name it with `clip`"),
        (r#"file: "walker.glb", clip: "Go", poses: 0"#, "must be 1 to 4096"),
        (r#"file: "walker.glb", clip: "Go", poses: 2, alive: true"#, "remove one"),
        (r#"file: "walker.glb", clip: "Go", speed: 2"#, "in a motion's Clip"),
        (r#"file: "walker.obj""#, "convert it to glTF"),
        (r#"file: "other.glb""#, "does not exist"),
        (r#"file: "walker.glb", scene: "7""#, "there is no scene `7`"),
    ] {
        let error = load(&format!(r#""w": Gltf({entry})"#), instance).expect_err("refused");
        assert!(error.contains(told), "{entry}: {error}");
    }
    let motions = r#"motions: { "go": (parts: [Clip()]) },"#;
    for (of, told) in [(r#""w""#, "no palette of poses"), (r#"[Single(of: "w")]"#, "not a group")] {
        let rest = format!(r#"{motions} instances: [Single(of: {of}, motion: "go")]"#);
        let error = load(r#""w": Gltf(file: "walker.glb")"#, &rest).expect_err("refused");
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn clips_change_materials_of_what_is_alive_and_not_of_palettes() {
    let instances = r#"instances: [Single(of: "w"), Single(of: "still")]"#;
    let still = r#""still": Gltf(file: "walker.glb")"#;
    let alive = format!(r#""w": Gltf(file: "walker.glb", clip: "Blush", alive: true), {still}"#);
    let scene = load(&alive, instances).expect("loads");
    assert!(scene.warnings.is_empty(), "{:?}", scene.warnings);
    let color = |scene: &Scene, instance: usize, frame: u32| {
        let moment = Moment::of(scene, scene.time_of(frame));
        let tables = throng_scene::anim::posed_tables(scene, &moment).expect("a material is animated");
        let slot = scene.instances[instance].slot_base as usize + 1;
        tables.materials[scene.material_slots[slot] as usize].color
    };
    let middle = glam::Vec3::new(0.5, 0.0, 0.5);
    assert_eq!([1, 3].map(|n| color(&scene, 0, n)), [glam::Vec3::X, middle]);
    assert_eq!([1, 3].map(|n| color(&scene, 1, n)), [glam::Vec3::X; 2]);
    let palette = format!(r#""w": Gltf(file: "walker.glb", clip: "Blush", poses: 2), {still}"#);
    let scene = load(&palette, instances).expect("loads");
    assert!(scene.animated.is_empty());
    assert!(scene.doubts[0].contains("the clip `Blush` also changes materials"));
}
