//! Tests of checks of faulty files. They report all errors, each once, and no consequences of other errors.

use super::builder::*;
use crate::gltf::{GltfOptions, Input, check};
use serde_json::json;

fn found(b: &Builder) -> Vec<String> {
    check(&Input::in_memory(&b.glb(), None), &GltfOptions::default()).0
}

/// The JSON pointers of the errors.
fn places(b: &Builder) -> Vec<String> {
    places_of(found(b))
}

fn places_of(lines: Vec<String>) -> Vec<String> {
    let lines = lines.into_iter();
    let place = |line: String| line.split(": ").next().map(str::to_owned);
    lines.filter_map(place).collect()
}

/// A file with an error in most of its parts.
fn faulty() -> Builder {
    let mut b = Builder::triangle();
    let short = b.floats(&[[0.0, 0.0, 1.0]; 2]);
    let times = b.floats(&[[0.0f32], [1.0]]);
    let values = b.floats(&[[0.0; 3], [1.0; 3]]);
    let texture = b.texture(b"no picture");
    b.primitive()["attributes"]["NORMAL"] = json!(short);
    b.primitive()["attributes"]["TANGENT"] = json!(99);
    b.json["nodes"] = json!([
        {"mesh": 0, "skin": 4, "camera": 0, "children": [1, 2, 3]},
        {"mesh": 7, "camera": 5},
        {"scale": [1, 1, 1], "translation": [1e39, 0, 0]},
        {"extensions": {"KHR_lights_punctual": {"light": 0}}},
    ]);
    b.json["cameras"] = json!([{"type": "perspective", "perspective": {"yfov": -1, "znear": 0.1}}]);
    b.json["materials"] = json!([
        {"extensions": {"KHR_materials_ior": {"ior": "glass"}}},
        {"emissiveTexture": {"index": texture}},
        {"emissiveTexture": {"index": 8}},
    ]);
    b.json["extensionsRequired"] = json!(["KHR_materials_ior", "ACME_a", "ACME_b"]);
    b.animation(json!({"node": 0, "path": "scale"}), times, times, "STEP");
    b.animation(json!({"node": 9, "path": "scale"}), times, values, "STEP");
    b
}

#[test]
fn a_check_goes_on_after_errors() {
    let b = faulty();
    assert_eq!(
        places(&b),
        ["/extensionsRequired/1", "/extensionsRequired/2", "/nodes/0/skin", "/nodes/1/mesh", "/nodes/2/translation"]
    );
    assert_eq!(
        places_of(check(&Input::in_memory(&b.glb(), None), &GltfOptions::default()).1),
        [
            "/accessors/2",
            "/animations/1/channels/0/target/node",
            "/cameras/0/perspective/yfov",
            "/images/0",
            "/materials/0/extensions/KHR_materials_ior/ior",
            "/materials/2/emissiveTexture",
            "/meshes/0/primitives/0/attributes/NORMAL",
            "/meshes/0/primitives/0/attributes/TANGENT",
            "/nodes/1/camera",
            "/nodes/3/extensions/KHR_lights_punctual/light",
        ]
    );
    assert!(found(&b).contains(&b.error()), "a load ends at one of them");
}

#[test]
fn what_follows_from_a_missing_buffer_is_not_told() {
    let mut b = Builder::triangle();
    b.json["buffers"] = json!([{"byteLength": 36, "uri": "gone.bin"}]);
    assert_eq!(places(&b), ["/buffers/0/uri"]);
    b.json["bufferViews"][0]["extensions"] = json!({"EXT_meshopt_compression": {"buffer": 0,
        "byteLength": 36, "byteStride": 12, "count": 3, "mode": "ATTRIBUTES"}});
    assert_eq!(places(&b), ["/buffers/0/uri"]);
}

#[test]
fn what_follows_from_a_damaged_view_is_not_told() {
    let mut b = Builder::triangle();
    b.json["bufferViews"][0]["extensions"] = json!({"EXT_meshopt_compression": {"buffer": 0,
        "byteLength": 36, "byteStride": 12, "count": 3, "mode": "ATTRIBUTES"}});
    let found = places(&b);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("/bufferViews/0"), "{found:?}");
}

#[test]
fn a_tangled_hierarchy_does_not_hide_other_errors() {
    let mut b = faulty();
    b.json["nodes"][1]["children"] = json!([0]);
    let found = places(&b);
    assert!(found.contains(&"/extensionsRequired/1".to_owned()), "{found:?}");
    assert!(found.iter().any(|p| p == "/nodes/0" || p == "/nodes/1"), "{found:?}");
}

#[test]
fn a_sound_file_has_no_errors_but_keeps_its_warnings() {
    let mut b = Builder::triangle();
    b.json["extensionsUsed"] = json!(["ACME_glow"]);
    let (errors, warnings) = check(&Input::in_memory(&b.glb(), None), &GltfOptions::default());
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(warnings, ["/extensionsUsed: `ACME_glow` is not supported and ignored"]);
    let cut = &b.glb()[..40];
    let (errors, _) = check(&Input::in_memory(cut, None), &GltfOptions::default());
    assert!(errors[0].contains("cut off"), "{errors:?}");
}
