//! Tests of files inside other files.

use super::builder::*;
use crate::gltf::{GltfOptions, load_model};
use base64::Engine;
use serde_json::{Value, json};
use std::path::Path;
use throng_scene::{NONE, Texels};

/// A file with two nodes that place the file `name`.
fn host(name: &str) -> Value {
    json!({
        "asset": {"version": "2.1", "minVersion": "2.1"}, "scenes": [{"nodes": [0]}],
        "nodes": [{"name": "left", "externalAsset": 0, "children": [1]}, {"name": "right", "externalAsset": 0.0, "translation": [3, 0, 0]}],
        "files": [{"uri": name, "mimeType": "model/gltf+json"}], "externalAssets": [{"file": 0}],
    })
}

/// A triangle with a texture and a clip, on a node below another.
fn guest() -> Builder {
    let mut b = Builder::triangle();
    let texture = b.texture(&png(1, 1, [1, 2, 3]));
    b.json["materials"] = json!([{"emissiveTexture": {"index": texture}}]);
    b.primitive()["material"] = json!(0);
    b.json["nodes"] = json!([{"name": "root", "children": [1]}, {"name": "leaf", "mesh": 0}]);
    let (times, values) = (b.floats(&[[0.0]]), b.floats(&[[1.0; 3]]));
    b.animation(json!({"node": 1, "path": "scale"}), times, values, "STEP");
    b
}

fn write(folder: &Path, name: &str, file: &Value) {
    std::fs::create_dir_all(folder.join(name).parent().expect("a folder")).expect("a folder");
    std::fs::write(folder.join(name), file.to_string()).expect("writes");
}

fn error(path: &Path) -> String {
    load_model(path, &GltfOptions::default()).err().map(|e| e.to_string()).unwrap_or_default()
}

#[test]
fn a_file_is_read_once_and_hangs_from_every_node_that_names_it() {
    let dir = tempfile::tempdir().expect("a folder");
    write(dir.path(), "host.gltf", &host("parts/guest.glb"));
    std::fs::create_dir(dir.path().join("parts")).expect("a folder");
    std::fs::write(dir.path().join("parts/guest.glb"), guest().glb()).expect("writes");
    let model = load_model(&dir.path().join("host.gltf"), &GltfOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let nodes: Vec<(&str, u32)> = model.rig.nodes.iter().map(|node| (node.name.as_str(), node.parent)).collect();
    assert_eq!(nodes, [("left", NONE), ("right", 0), ("root", 0), ("leaf", 2), ("root", 1), ("leaf", 4)]);
    let parts: Vec<(u32, u32)> = model.parts.iter().map(|part| (part.node, part.mesh)).collect();
    assert_eq!(parts, [(3, 0), (5, 0)], "one mesh, twice");
    assert_eq!((model.meshes.len(), model.materials.len(), model.textures.len()), (1, 1, 1));
    assert_eq!(model.textures[0].texels, Texels::Srgb8(vec![[1, 2, 3, 255]]));
    assert_eq!(model.warnings, ["/files/0: the animations of a file within the file are left out"]);
    assert!(model.doubts[0].contains("draft of glTF 2.1"), "{:?}", model.doubts);
}

#[test]
fn a_file_in_a_buffer_or_a_data_uri_is_placed_as_well() {
    let mut b = guest();
    b.json["animations"] = json!([]);
    let bytes = b.glb();
    let mut outer = Builder::triangle();
    let view = outer.view(&bytes);
    outer.json["nodes"][0]["externalAsset"] = json!(1);
    let uri = format!("data:model/gltf-binary;base64,{}", base64::engine::general_purpose::STANDARD.encode(&bytes));
    outer.json["files"] =
        json!([{"bufferView": view, "mimeType": "model/gltf-binary"}, {"uri": uri, "mimeType": "model/gltf-binary"}]);
    outer.json["externalAssets"] = json!([{"file": 0}, {"file": 1}]);
    for asset in [0, 1] {
        outer.json["nodes"][0]["externalAsset"] = json!(asset);
        let model = outer.load();
        assert_eq!((model.parts.len(), model.meshes.len(), model.warnings.len()), (2, 2, 0), "{:?}", model.warnings);
        assert_eq!((model.meshes[0].material, model.meshes[1].material, model.mesh_count), (NONE, 0, 2));
    }
    outer.json["nodes"][0]["externalAsset"] = json!(7);
    assert_eq!(outer.error(), "/nodes/0/externalAsset: there is no external asset 7: the file has 2");
    outer.json["externalAssets"][1]["file"] = json!(9);
    outer.json["nodes"][0]["externalAsset"] = json!(1);
    assert_eq!(outer.error(), "/externalAssets/1/file: there is no file 9: the file has 2");
}

#[test]
fn files_that_contain_themselves_lie_outside_or_are_missing_are_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("model/host.gltf");
    write(dir.path(), "model/host.gltf", &host("other.gltf"));
    write(dir.path(), "model/other.gltf", &host("./host.gltf"));
    assert!(error(&path).contains("/files/0: the file contains itself"), "{}", error(&path));
    write(dir.path(), "model/host.gltf", &host("gone.gltf"));
    assert!(error(&path).contains("/files/0/uri: `gone.gltf`: no such file"), "{}", error(&path));
    write(dir.path(), "outside.gltf", &host("gone.gltf"));
    write(dir.path(), "model/host.gltf", &host("../outside.gltf"));
    assert!(error(&path).contains("leads out of the model's folder"), "{}", error(&path));
    for depth in 0..20 {
        write(dir.path(), &format!("model/{depth}.gltf"), &host(&format!("{}.gltf", depth + 1)));
    }
    let deep = error(&dir.path().join("model/0.gltf"));
    assert!(deep.contains("more than 16 deep"), "{deep}");
}

#[test]
fn files_that_multiply_exceed_the_memory_and_not_the_machine() {
    let dir = tempfile::tempdir().expect("a folder");
    for depth in 0..12 {
        let mut file = host(&format!("{}.gltf", depth + 1));
        file["scenes"][0]["nodes"] = json!((0..20).collect::<Vec<u32>>());
        file["nodes"] = json!(vec![json!({"externalAsset": 0}); 20]);
        write(dir.path(), &format!("{depth}.gltf"), &file);
    }
    let triangle: Value = serde_json::from_slice(&Builder::triangle().gltf()).expect("JSON");
    write(dir.path(), "12.gltf", &triangle);
    let lack = error(&dir.path().join("0.gltf"));
    assert!(lack.contains("of memory"), "{lack}");
}
