//! Damaged files, and files that declare more data than they hold: each must fail quickly with one line, even if the decoder panics.

use crate::common::Place;
use crate::process;
use serde_json::{Value, json};
use std::fs;

/// A WebP animation on which the decoder panics: the alpha plane's size differs from the picture's.
const PANICS: &[u8] = include_bytes!("files/damaged_animation.webp");

/// A scene with `picture` as a texture on a square.
fn textured(picture: &str) -> String {
    format!(
        r#"(
    materials: {{ "m": Diffuse(texture: "{picture}") }},
    meshes: {{ "a": Quad() }},
    instances: [ Single(of: "a", material: "m") ],
)"#
    )
}

#[test]
fn a_decoder_that_panics_is_an_error_of_the_file() {
    let place = Place::new(1);
    fs::write(place.path("odd.webp"), PANICS).unwrap();
    fs::write(place.path("odd.ron"), textured("odd.webp")).unwrap();
    let image = json!({"images": [{"uri": "odd.webp"}], "textures": [{"source": 0}],
        "materials": [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]});
    fs::write(place.path("odd.gltf"), gltf(image).to_string()).unwrap();
    for command in ["check", "info", "render"] {
        place.fails(&[command, "odd.ron"], 1, "odd.webp: the picture is damaged");
        place.fails(&[command, "odd.gltf", "--strict"], 1, "/images/0: the picture is damaged");
    }
    place.ok(&["check", "odd.gltf"]);
    place.fails(&["diff", "odd.webp", "odd.webp"], 1, "odd.webp: the picture is damaged");
}

#[test]
fn a_decoder_that_panics_is_quiet_with_backtraces_too() {
    let place = Place::new(1);
    fs::write(place.path("odd.webp"), PANICS).unwrap();
    fs::write(place.path("odd.ron"), textured("odd.webp")).unwrap();
    let mut command = place.command(&["check", "odd.ron"]);
    let output = process::output(command.env("RUST_BACKTRACE", "1"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert_eq!(output.status.code(), Some(1));
}

/// A glTF file of a triangle, merged with `more`.
fn gltf(more: Value) -> Value {
    let mut file = json!({
        "asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "buffers": [{"byteLength": 36, "uri": "data:;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA"}],
    });
    for (key, value) in more.as_object().unwrap() {
        file[key] = value.clone();
    }
    file
}

/// Accessors with three corners at the origin, and with `count` elements of zeros.
fn zeros(count: u64, kind: &str, component: u32) -> Value {
    json!([
        {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"},
        {"componentType": component, "count": count, "type": kind},
    ])
}

#[test]
fn counts_without_data_are_refused_at_once() {
    let place = Place::new(1);
    let positions = json!([{"primitives": [{"attributes": {"POSITION": 1}}]}]);
    let indices = json!([{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}]);
    let instancing = json!({"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": 1}}});
    let cases = [
        json!({"accessors": zeros(300_000_000, "VEC3", 5126), "meshes": positions}),
        json!({"accessors": zeros(900_000_000, "SCALAR", 5123), "meshes": indices}),
        json!({"accessors": zeros(2_000_000_000, "VEC3", 5126),
            "nodes": [{"mesh": 0, "extensions": instancing}]}),
    ];
    for case in cases {
        fs::write(place.path("odd.gltf"), gltf(case).to_string()).unwrap();
        for command in ["check", "info", "render"] {
            place.fails(&[command, "odd.gltf"], 1, "the limit for a file of this size is 512 MiB");
        }
    }
}

#[test]
fn data_that_is_used_again_and_again_is_refused_at_once() {
    let place = Place::new(1);
    let many = |value: Value, count: usize| Value::from(vec![value; count]);
    let primitive = json!({"attributes": {"POSITION": 0}});
    let nodes: Vec<u32> = (0..3000).collect();
    let crowd = json!({
        "scenes": [{"nodes": nodes}], "nodes": many(json!({"mesh": 0}), 3000),
        "meshes": [{"primitives": many(primitive.clone(), 3000)}],
    });
    let mut large = zeros(100_000, "VEC3", 5126);
    large.as_array_mut().unwrap().swap(0, 1);
    let shared = json!({"accessors": large, "meshes": [{"primitives": many(primitive, 3000)}]});
    let skinned = json!({
        "accessors": [
            {"componentType": 5126, "count": 3000, "type": "VEC3"},
            {"componentType": 5121, "count": 3000, "type": "VEC4"},
            {"componentType": 5126, "count": 3000, "type": "VEC4"},
        ],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2}}]}],
        "scenes": [{"nodes": nodes}], "nodes": many(json!({"mesh": 0, "skin": 0}), 3000),
        "skins": [{"joints": [0]}],
    });
    for case in [crowd, shared, skinned] {
        fs::write(place.path("odd.gltf"), gltf(case).to_string()).unwrap();
        place.fails(&["check", "odd.gltf"], 1, "correct its counts, or make it smaller");
    }
}

#[test]
fn a_model_with_a_thousand_copies_of_a_mesh_is_a_group_and_no_single_mesh() {
    let place = Place::new(1);
    let nodes: Vec<u32> = (0..3000).collect();
    let copies = json!({
        "accessors": [{"componentType": 5126, "count": 3000, "type": "VEC3"}],
        "scenes": [{"nodes": nodes}], "nodes": vec![json!({"mesh": 0}); 3000],
    });
    fs::write(place.path("crowd.gltf"), gltf(copies).to_string()).unwrap();
    place.ok(&["check", "crowd.gltf"]);
    for (shared, is_fine) in [("", true), (", shared: false", false)] {
        let scene = format!(r#"(meshes: {{"a": Gltf(file: "crowd.gltf"{shared})}}, instances: [Single(of: "a")])"#);
        fs::write(place.path("odd.ron"), scene).unwrap();
        if is_fine {
            place.ok(&["check", "odd.ron"])
        } else {
            place.fails(&["check", "odd.ron"], 1, "odd.ron:1:27: the meshes so far and this model as one mesh")
        };
    }
}

#[test]
fn a_file_that_is_named_a_thousand_times_is_not_read_as_often() {
    let place = Place::new(1);
    let model = "v 0 0 0\nv 1 0 0\nv 0 1 0\n".to_owned() + &"f 1 2 3\n".repeat(10_000);
    fs::write(place.path("m.obj"), model).unwrap();
    let meshes: Vec<String> = (0..1000).map(|i| format!("\"m{i}\": Obj(file: \"m.obj\")")).collect();
    let scene = format!("(meshes: {{{}}}, instances: [Single(of: \"m0\")])", meshes.join(",\n"));
    fs::write(place.path("odd.ron"), scene).unwrap();
    place.fails(&["check", "odd.ron"], 1, "the meshes so far and this one");
}

#[test]
fn all_commands_refuse_the_same_settings() {
    let place = Place::new(1);
    for (setting, text) in [
        ("frames: 4294967295", "odd.ron:1:19: frames is 4294967295; it must be 1 to 1000000"),
        ("bounces: 1001", "odd.ron:1:20: bounces is 1001; it must be 0 to 1000"),
        ("samples: 2000000", "samples is 2000000; it must be 1 to 1048576"),
    ] {
        let scene = format!(r#"(render: ({setting}), meshes: {{"a": Sphere}}, instances: [Single(of: "a")])"#);
        fs::write(place.path("odd.ron"), scene).unwrap();
        for command in ["render", "info", "check", "bench"] {
            place.fails(&[command, "odd.ron"], 1, text);
        }
    }
}
