//! Tests of compressed geometry: meshopt and Draco.

use super::builder::*;
use crate::gltf::ModelMesh;
use serde_json::{Value, json};

fn first(b: &Builder) -> ModelMesh {
    b.load().meshes.swap_remove(0)
}

/// Replaces the view of an accessor by compressed data.
fn compress(b: &mut Builder, accessor: usize, data: &[u8], more: Value) {
    let compressed = b.view(data);
    let source = b.json["bufferViews"][compressed].clone();
    let view = b.json["accessors"][accessor]["bufferView"].as_u64().unwrap_or(0) as usize;
    let length = b.json["bufferViews"][view]["byteLength"].clone();
    let mut extension = json!({"buffer": 0, "byteOffset": source["byteOffset"], "byteLength": source["byteLength"]});
    let object = extension.as_object_mut().expect("an object");
    object.extend(more.as_object().expect("an object").clone());
    // The fallback buffer has no data.
    b.json["bufferViews"][view] = json!({"buffer": 1, "byteOffset": 0, "byteLength": length,
        "extensions": {"EXT_meshopt_compression": extension}});
}

fn with_fallback(mut b: Builder) -> Builder {
    b.json["buffers"] = json!([{"byteLength": b.bin.len()}, {"byteLength": 1 << 20}]);
    b
}

#[test]
fn meshopt_attributes_and_triangles_are_decompressed() {
    let mut b = Builder::triangle();
    let positions = [[0.0f32, 0.0, 0.0], [3.0, 0.0, 0.0], [0.0, 3.0, 0.0]];
    let data = meshopt::encode_vertex_buffer(&positions).expect("encodes");
    compress(&mut b, 0, &data, json!({"byteStride": 12, "count": 3, "mode": "ATTRIBUTES"}));
    let indices = b.accessor(U16, "SCALAR", &[0u16; 3]);
    b.primitive()["indices"] = json!(indices);
    let data = meshopt::encode_index_buffer(&[0, 1, 2], 3).expect("encodes");
    compress(&mut b, indices, &data, json!({"byteStride": 2, "count": 3, "mode": "TRIANGLES"}));
    let mesh = first(&with_fallback(b.clone())).mesh;
    assert_eq!(mesh.positions, positions);
    assert_eq!(mesh.triangles, [[0, 1, 2]]);
    let data = meshopt::encode_index_sequence(&[2, 1, 0], 3).expect("encodes");
    compress(&mut b, indices, &data, json!({"byteStride": 2, "count": 3, "mode": "INDICES"}));
    assert_eq!(first(&with_fallback(b)).mesh.triangles, [[2, 1, 0]]);
}

#[test]
fn meshopt_filters_are_undone() {
    let mut b = Builder::triangle();
    let wanted = [[0.5f32, -2.0, 0.25], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let exponents = meshopt::encode_filter_exp(&wanted, 24, meshopt::EncodeExpMode::Separate);
    let data = meshopt::encode_vertex_buffer(&exponents).expect("encodes");
    let rule = json!({"byteStride": 12, "count": 3, "mode": "ATTRIBUTES", "filter": "EXPONENTIAL"});
    compress(&mut b, 0, &data, rule);
    let normals = b.accessor(I8, "VEC3", &[[0i8; 4]; 3]);
    b.json["accessors"][normals]["normalized"] = json!(true);
    b.primitive()["attributes"]["NORMAL"] = json!(normals);
    let octahedral = meshopt::encode_filter_oct::<i8>(&[[0.0, 0.0, 1.0, 0.0]; 3], 8);
    let data = meshopt::encode_vertex_buffer(&octahedral).expect("encodes");
    let rule = json!({"byteStride": 4, "count": 3, "mode": "ATTRIBUTES", "filter": "OCTAHEDRAL"});
    compress(&mut b, normals, &data, rule);
    let view = b.json["accessors"][normals]["bufferView"].as_u64().unwrap_or(0) as usize;
    b.json["bufferViews"][view]["byteStride"] = json!(4);
    let mesh = first(&with_fallback(b)).mesh;
    assert_eq!(mesh.positions, wanted);
    assert_eq!(mesh.normals, [[0.0, 0.0, 1.0]; 3]);
}

#[test]
fn meshopt_quaternions_animate_nodes() {
    let mut b = Builder::triangle();
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let input = b.floats(&[[0.0], [1.0]]);
    let output = b.accessor(I16, "VEC4", &[[0i16; 4]; 2]);
    b.json["accessors"][output]["normalized"] = json!(true);
    let quaternions = meshopt::encode_filter_quat(&[[half, 0.0, 0.0, half]; 2], 16);
    let data = meshopt::encode_vertex_buffer(&quaternions).expect("encodes");
    let rule = json!({"byteStride": 8, "count": 2, "mode": "ATTRIBUTES", "filter": "QUATERNION"});
    compress(&mut b, output, &data, rule);
    b.animation(json!({"node": 0, "path": "rotation"}), input, output, "LINEAR");
    let clip = &with_fallback(b).load().rig.clips[0];
    for (got, wanted) in clip.channels[0].values.iter().zip([half, 0.0, 0.0, half]) {
        assert!((got - wanted).abs() < 1e-4, "{got} {wanted}");
    }
}

#[test]
fn meshopt_data_that_breaks_the_rules_is_refused() {
    let data = meshopt::encode_vertex_buffer(&[[0.0f32; 3]; 3]).expect("encodes");
    for rule in [
        json!({"byteStride": 12, "count": 4, "mode": "ATTRIBUTES"}),
        json!({"byteStride": 0, "count": 3, "mode": "ATTRIBUTES"}),
        json!({"byteStride": 6, "count": 6, "mode": "ATTRIBUTES"}),
        json!({"byteStride": 12, "count": 3, "mode": "TRIANGLES"}),
        json!({"byteStride": 4, "count": 9, "mode": "TRIANGLES"}),
        json!({"byteStride": 4, "count": 9, "mode": "INDICES"}),
        json!({"byteStride": 12, "count": 3, "mode": "ATTRIBUTES", "filter": "QUATERNION"}),
        json!({"byteStride": 4, "count": 9, "mode": "INDICES", "filter": "EXPONENTIAL"}),
        json!({"byteStride": 12, "count": 3, "mode": "SOMETHING"}),
        json!({"byteStride": 1u64 << 60, "count": 1u64 << 60, "mode": "ATTRIBUTES"}),
    ] {
        let mut b = Builder::triangle();
        compress(&mut b, 0, &data, rule.clone());
        let error = with_fallback(b).error();
        assert!(error.starts_with("/bufferViews/0/extensions/EXT_meshopt"), "{rule}: {error}");
    }
}

#[test]
fn a_buffer_without_data_is_an_error_only_where_it_is_read() {
    let mut b = with_fallback(Builder::triangle());
    b.load();
    b.json["bufferViews"][0]["buffer"] = json!(1);
    assert!(b.error().starts_with("/bufferViews/0: buffer 1 has no data"));
}

#[test]
fn draco_data_is_decompressed() {
    let mut b = Builder::triangle();
    let view = b.view(DRACO_QUAD);
    let accessor =
        |kind: &str, component: u32, count: u32| json!({"componentType": component, "type": kind, "count": count});
    let positions = b.add("accessors", accessor("VEC3", F32, 4));
    let indices = b.add("accessors", accessor("SCALAR", U16, 6));
    *b.primitive() = json!({"attributes": {"POSITION": positions}, "indices": indices,
        "extensions": {"KHR_draco_mesh_compression": {"bufferView": view, "attributes": {"POSITION": 0}}}});
    b.json["extensionsRequired"] = json!(["KHR_draco_mesh_compression"]);
    let mesh = first(&b).mesh;
    assert_eq!((mesh.positions.len(), mesh.triangles.len()), (4, 2));
    let area: f32 = mesh.triangles.iter().map(|t| area(t.map(|v| mesh.positions[v as usize]))).sum();
    assert!((area - 1.0).abs() < 1e-3, "{area}");
    for length in 0..DRACO_QUAD.len() - 1 {
        b.json["bufferViews"][view]["byteLength"] = json!(length);
        let expected = "/meshes/0/primitives/0/extensions/KHR_draco_mesh_compression: ";
        assert!(b.error().starts_with(expected), "{}", b.error());
    }
}

fn area(corners: [[f32; 3]; 3]) -> f32 {
    let [a, b, c] = corners.map(glam::Vec3::from);
    (b - a).cross(c - a).z / 2.0
}

/// The unit square in the plane z = 0 as two triangles, with 11-bit positions, written by draco-core.
const DRACO_QUAD: &[u8] = &[
    68, 82, 65, 67, 79, 2, 2, 1, 1, 0, 0, 0, 4, 2, 0, 2, 0, 0, 1, 31, 255, 1, 17, 1, 255, 0, 0, 1, 0, 9, 3, 0, 0, 2, 1,
    1, 1, 0, 3, 3, 1, 48, 1, 16, 3, 0, 40, 130, 152, 0, 0, 0, 0, 0, 255, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 128, 63, 11,
];
