//! Tests of damaged files: no panic, no more memory than allowed, and one line per error.

use super::builder::*;
use crate::gltf::{GltfOptions, load_model_bytes};
use proptest::prelude::*;
use serde_json::json;
use throng_testing::same_cases;

/// A file with all supported features.
fn everything() -> Builder {
    let mut b = Builder::triangle();
    let normals = b.floats(&[[0.0, 0.0, 1.0]; 3]);
    let uvs = b.accessor(U16, "VEC2", &[[0u16, 0], [65535, 0], [0, 65535]]);
    b.json["accessors"][uvs]["normalized"] = json!(true);
    let joints = b.accessor(U8, "VEC4", &[[0u8; 4]; 3]);
    let weights = b.floats(&[[1.0, 0.0, 0.0, 0.0]; 3]);
    let indices = b.accessor(U16, "SCALAR", &[0u16, 1, 2]);
    let times = b.floats(&[[0.0], [1.0]]);
    let values = b.floats(&[[0.0; 3], [1.0; 3]]);
    let sparse_at = b.view(&[1]);
    let sparse =
        json!({"count": 1, "indices": {"bufferView": sparse_at, "componentType": U8}, "values": {"bufferView": 1}});
    let offsets = b.add("accessors", json!({"componentType": F32, "type": "VEC3", "count": 3, "sparse": sparse}));
    let texture = b.texture(&png(4, 4, [1, 2, 3]));
    b.json["materials"] = json!([{"normalTexture": {"index": texture, "extensions": {"KHR_texture_transform": {"rotation": 1}}},
        "extensions": {"KHR_materials_clearcoat": {"clearcoatFactor": 0.5}}}]);
    *b.primitive() = json!({"attributes": {"POSITION": 0, "NORMAL": normals, "TEXCOORD_0": uvs, "JOINTS_0": joints,
        "WEIGHTS_0": weights}, "indices": indices, "material": 0, "targets": [{"POSITION": offsets}], "mode": 4});
    b.json["nodes"] = json!([{"mesh": 0, "skin": 0, "children": [1], "weights": [0.5]},
        {"camera": 0, "rotation": [0, 0, 0, 1], "extensions": {"KHR_lights_punctual": {"light": 0}}},
        {"mesh": 0, "extensions": {"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": values}}}}]);
    b.json["scenes"] = json!([{"nodes": [0, 2]}]);
    b.json["skins"] = json!([{"joints": [1]}]);
    b.json["cameras"] = json!([{"type": "perspective", "perspective": {"yfov": 1, "znear": 1}}]);
    b.json["extensions"] = json!({"KHR_lights_punctual": {"lights": [{"type": "spot", "spot": {}}]}});
    b.animation(json!({"node": 1, "path": "translation"}), times, values, "LINEAR");
    let data = meshopt::encode_vertex_buffer(&[[0.0f32, 0.0, 1.0]; 3]).expect("encodes");
    let view = b.view(&data);
    let (offset, length) = (b.json["bufferViews"][view]["byteOffset"].clone(), data.len());
    b.json["bufferViews"][1]["extensions"] = json!({"EXT_meshopt_compression": {"buffer": 0, "byteOffset": offset,
        "byteLength": length, "byteStride": 12, "count": 3, "mode": "ATTRIBUTES"}});
    b
}

/// Loads a file with a limit of 64 MiB, which is far more than these files need.
fn load(bytes: &[u8]) -> Result<(), String> {
    let options = GltfOptions { memory_limit: Some(64 << 20), ..GltfOptions::default() };
    load_model_bytes(bytes, None, &options).map(|_| ()).map_err(|e| e.to_string())
}

/// Replaces the `nth` number of a JSON text.
fn replace_number(text: &str, nth: usize, by: &str) -> String {
    let is_digit = |c: char| c.is_ascii_digit();
    let starts: Vec<usize> =
        text.char_indices().filter(|&(i, c)| is_digit(c) && !text[..i].ends_with(is_digit)).map(|(i, _)| i).collect();
    let at = starts[nth % starts.len()];
    let rest = text[at..].trim_start_matches(|c: char| c.is_ascii_digit());
    format!("{}{by}{rest}", &text[..at])
}

const NUMBERS: [&str; 14] = [
    "-1",
    "0",
    "1",
    "2",
    "3",
    "7",
    "255",
    "65535",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "1e39",
    "0.5",
    "null",
];

#[test]
fn the_file_with_everything_is_sound() {
    let model = everything().load();
    assert!(model.warnings.is_empty(), "{:?}", model.warnings);
    assert_eq!((model.parts.len(), model.parts[1].placements.len()), (2, 2));
}

proptest! {
    #![proptest_config(same_cases(2000))]

    #[test]
    fn flipped_bytes_end_in_a_model_or_one_line(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut bytes = everything().glb();
        for (at, value) in flips {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Err(e) = load(&bytes) {
            prop_assert_eq!(e.lines().count(), 1);
        }
    }

    #[test]
    fn replaced_numbers_end_in_a_model_or_one_line(edits in prop::collection::vec((any::<usize>(), 0..NUMBERS.len()), 1..4), binary in any::<bool>()) {
        let mut b = everything();
        let mut text = b.json.to_string();
        for (nth, by) in edits {
            text = replace_number(&text, nth, NUMBERS[by]);
        }
        // A number that was joined with its neighbour may be invalid JSON.
        let Ok(json) = serde_json::from_str(&text) else { return Ok(()) };
        b.json = json;
        if let Err(e) = load(&if binary { b.glb() } else { b.gltf() }) {
            prop_assert_eq!(e.lines().count(), 1);
        }
    }
}

proptest! {
    #![proptest_config(same_cases(300))]

    #[test]
    fn truncated_files_end_in_one_line(at in any::<prop::sample::Index>(), binary in any::<bool>()) {
        let b = everything();
        let whole = if binary { b.glb() } else { b.gltf() };
        let e = load(&whole[..at.index(whole.len() - 1)]).err().unwrap_or_default();
        prop_assert_eq!(e.lines().count(), 1);
    }
}
