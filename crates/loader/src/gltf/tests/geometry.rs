//! Tests of accessors, primitives and deformation.

use super::builder::*;
use crate::gltf::{GltfOptions, ModelMesh};
use serde_json::{Value, json};
use throng_scene::NONE;

fn first(b: &Builder) -> ModelMesh {
    b.load().meshes.swap_remove(0)
}

/// A triangle whose positions are `values`, of any component type.
fn with_positions<T: bytemuck::NoUninit>(component: u32, normalized: bool, values: &[T]) -> Builder {
    let mut b = Builder::triangle();
    let positions = b.accessor(component, "VEC3", values);
    b.json["accessors"][positions]["normalized"] = json!(normalized);
    // As in exported files, vertices start at multiples of four bytes.
    let view = b.json["accessors"][positions]["bufferView"].as_u64().unwrap_or(0) as usize;
    b.json["bufferViews"][view]["byteStride"] = json!(size_of::<T>());
    b.primitive()["attributes"]["POSITION"] = json!(positions);
    b
}

#[test]
fn a_triangle_is_read_from_both_containers() {
    let b = Builder::triangle();
    for bytes in [b.glb(), b.gltf()] {
        let model =
            crate::gltf::load_model_bytes(&bytes, None, &GltfOptions::default()).unwrap_or_else(|e| panic!("{e}"));
        let mesh = &model.meshes[0].mesh;
        assert_eq!(mesh.positions, [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
        assert_eq!(mesh.triangles, [[0, 1, 2]]);
        assert!(mesh.normals.is_empty(), "flat shading");
        assert_eq!(model.meshes[0].material, NONE);
        assert!(model.warnings.is_empty());
    }
}

#[test]
fn quantized_positions_of_every_type_are_converted() {
    let last = |b: Builder| first(&b).mesh.positions[2];
    let (i8s, u8s) = ([[0i8; 4], [0; 4], [127, -128, -127, 9]], [[0u8; 4], [0; 4], [255, 51, 0, 9]]);
    let i16s = [[0i16; 4], [0; 4], [32767, -32768, 0, 9]];
    let u16s = [[0u16; 4], [0; 4], [65535, 13107, 0, 9]];
    assert_eq!(last(with_positions(I8, true, &i8s)), [1.0, -1.0, -1.0]);
    assert_eq!(last(with_positions(I8, false, &i8s)), [127.0, -128.0, -127.0]);
    assert_eq!(last(with_positions(U8, true, &u8s)), [1.0, 0.2, 0.0]);
    assert_eq!(last(with_positions(U8, false, &u8s)), [255.0, 51.0, 0.0]);
    assert_eq!(last(with_positions(I16, true, &i16s)), [1.0, -1.0, 0.0]);
    assert_eq!(last(with_positions(I16, false, &i16s)), [32767.0, -32768.0, 0.0]);
    assert_eq!(last(with_positions(U16, true, &u16s)), [1.0, 0.2, 0.0]);
    assert_eq!(last(with_positions(U16, false, &u16s)), [65535.0, 13107.0, 0.0]);
    assert!(with_positions(U32, false, &[[0u32; 3]; 3]).error().starts_with("/accessors/1: 32-bit"));
}

#[test]
fn interleaved_attributes_are_read_with_their_stride() {
    let mut b = Builder::triangle();
    let view = b.view(bytemuck::cast_slice(&[
        [0.0f32, 0.0, 0.0, 0.0, 0.0, 1.0],
        [2.0, 0.0, 0.0, 0.0, 0.0, 1.0],
        [0.0, 2.0, 0.0, 0.0, 0.0, 1.0],
    ]));
    b.json["bufferViews"][view]["byteStride"] = json!(24);
    let attribute = |offset: u32| json!({"bufferView": view, "byteOffset": offset, "componentType": F32, "type": "VEC3", "count": 3});
    let positions = b.add("accessors", attribute(0));
    let normals = b.add("accessors", attribute(12));
    b.primitive()["attributes"] = json!({"POSITION": positions, "NORMAL": normals});
    let mesh = first(&b).mesh;
    assert_eq!(mesh.positions[1], [2.0, 0.0, 0.0]);
    assert_eq!(mesh.normals, [[0.0, 0.0, 1.0]; 3]);
}

#[test]
fn sparse_values_replace_those_of_the_view_or_zeros() {
    let mut b = Builder::triangle();
    let indices = b.view(&[1, 2]);
    let values = b.view(bytemuck::cast_slice(&[[5.0f32, 0.0, 0.0], [0.0, 6.0, 0.0]]));
    let sparse = json!({"count": 2,
        "indices": {"bufferView": indices, "componentType": U8}, "values": {"bufferView": values}});
    b.json["accessors"][0]["sparse"] = sparse;
    assert_eq!(first(&b).mesh.positions, [[0.0; 3], [5.0, 0.0, 0.0], [0.0, 6.0, 0.0]]);
    b.json["accessors"][0].as_object_mut().expect("an object").remove("bufferView");
    assert_eq!(first(&b).mesh.positions, [[0.0; 3], [5.0, 0.0, 0.0], [0.0, 6.0, 0.0]]);
    b.json["accessors"][0]["sparse"]["count"] = json!(3);
    assert!(b.error().contains("/accessors/0: sparse indices: 3 elements exceed"));
    b.json["accessors"][0]["sparse"]["count"] = json!(2);
    b.json["accessors"][0]["count"] = json!(2);
    assert!(b.error().contains("must rise and stay below"));
}

#[test]
fn an_accessor_without_a_view_is_zeros_and_cannot_be_giant() {
    let mut b = Builder::triangle();
    let positions = b.json["accessors"][0].clone();
    let zeros = b.add("accessors", json!({"componentType": F32, "type": "VEC3", "count": 3}));
    b.primitive()["targets"] = json!([{"POSITION": zeros}]);
    assert_eq!(first(&b).deformers.targets[0].positions, [[0.0; 3]; 3]);
    let strict = GltfOptions { memory_limit: Some(1 << 30), ..GltfOptions::default() };
    for count in [1u64 << 30, 1 << 40, u64::MAX] {
        b.json["accessors"][zeros]["count"] = json!(count);
        let told = b.load_with(&strict).warnings.swap_remove(0);
        assert!(told.starts_with("/meshes/0/primitives/0/targets/0/POSITION: "), "{told}");
        b.json["accessors"][0] = b.json["accessors"][zeros].clone();
        assert!(!b.error_with(&strict).is_empty());
        b.json["accessors"][0] = positions.clone();
    }
}

/// Changes one value of the triangle's file and returns the error.
fn broken(pointer: &str, value: Value) -> String {
    let mut b = Builder::triangle();
    b.json["buffers"] = json!([{"byteLength": b.bin.len()}]);
    let indices = b.accessor(U8, "SCALAR", &[0u8, 1, 2]);
    b.json["buffers"][0]["byteLength"] = json!(b.bin.len());
    b.primitive()["indices"] = json!(indices);
    b.load();
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    b.json.pointer_mut(parent).expect("a place")[key] = value;
    b.error()
}

#[test]
fn whatever_exceeds_its_bounds_is_named_by_its_place() {
    for (pointer, value, expected) in [
        ("/accessors/0/count", json!(4), "/accessors/0: 4 elements exceed"),
        ("/accessors/0/byteOffset", json!(4), "/accessors/0: 3 elements exceed"),
        ("/accessors/0/byteOffset", json!(u64::MAX), "/accessors/0: 3 elements exceed"),
        ("/accessors/0/bufferView", json!(9), "/accessors/0/bufferView: there is no buffer view 9"),
        ("/accessors/0/type", json!("VEC2"), "/accessors/0: elements have 2 components"),
        ("/accessors/0/type", json!("MAT3"), "/accessors/0: 2x2 and 3x3"),
        ("/accessors/0/type", json!("VEC9"), "/accessors/0: unknown"),
        ("/accessors/0/componentType", json!(5130), "/accessors/0: unknown"),
        ("/bufferViews/0/byteStride", json!(8), "/accessors/0: a stride of 8 bytes"),
        ("/bufferViews/0/byteStride", json!(14), "/accessors/0: a stride of 14 bytes"),
        ("/bufferViews/0/byteStride", json!(u64::MAX), "/accessors/0: a stride of"),
        ("/bufferViews/0/byteLength", json!(4000), "/bufferViews/0: 4000 bytes from 0 exceed"),
        ("/bufferViews/0/byteOffset", json!(u64::MAX), "/bufferViews/0: 36 bytes from"),
        ("/bufferViews/0/buffer", json!(1), "/bufferViews/0: there is no buffer 1"),
        ("/buffers/0/byteLength", json!(4000), "/buffers/0/byteLength: 4000 bytes are declared"),
        ("/nodes/0/mesh", json!(1), "/nodes/0/mesh: there is no mesh 1"),
        ("/meshes/0/primitives/0/attributes/POSITION", json!(7), "/meshes/0/primitives/0: there is no accessor 7"),
        ("/meshes/0/primitives/0/indices", json!(0), "/accessors/0: "),
    ] {
        let error = broken(pointer, value);
        assert!(error.starts_with(expected), "{pointer}: {error}");
    }
}

#[test]
fn indices_of_every_type_are_read_and_checked() {
    let mut b = Builder::triangle();
    let all = [
        b.accessor(U8, "SCALAR", &[2u8, 1, 0]),
        b.accessor(U16, "SCALAR", &[2u16, 1, 0]),
        b.accessor(U32, "SCALAR", &[2u32, 1, 0]),
    ];
    for indices in all {
        b.primitive()["indices"] = json!(indices);
        assert_eq!(first(&b).mesh.triangles, [[2, 1, 0]]);
    }
    let beyond = b.accessor(U16, "SCALAR", &[0u16, 1, 3]);
    b.primitive()["indices"] = json!(beyond);
    assert!(b.error().starts_with("/meshes/0/primitives/0/indices: triangle [0, 1, 3]"));
    let floats = b.floats(&[[0.0], [1.0], [2.0]]);
    b.primitive()["indices"] = json!(floats);
    assert!(b.error().contains("unsigned integers are needed"));
}

#[test]
fn strips_fans_points_and_lines() {
    let mut b = Builder::triangle();
    let indices = b.accessor(U8, "SCALAR", &[0u8, 1, 2, 1]);
    b.primitive()["indices"] = json!(indices);
    b.primitive()["mode"] = json!(5);
    assert_eq!(first(&b).mesh.triangles, [[0, 1, 2]], "a stitch has no area");
    b.primitive()["mode"] = json!(6);
    assert_eq!(first(&b).mesh.triangles, [[1, 2, 0], [2, 1, 0]]);
    b.primitive()["mode"] = json!(0);
    let model = b.load();
    assert!(model.meshes.is_empty() && model.parts.is_empty());
    assert_eq!(model.warnings, ["/meshes/0/primitives/0: points are not rendered and skipped"]);
    for (mode, vertices, strands) in [(1, 4, 2), (2, 5, 1), (3, 4, 1)] {
        b.primitive()["mode"] = json!(mode);
        let lines = first(&b);
        assert_eq!((lines.mesh.positions.len(), lines.strands.len()), (vertices, strands));
        assert!(lines.mesh.triangles.is_empty());
    }
}

#[test]
fn triangles_with_positions_that_are_no_numbers_are_left_out() {
    for bad in [f32::NAN, f32::INFINITY, 1e30] {
        let positions = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, bad, 0.0], [1.0; 3], [2.0; 3]];
        let model =
            with_positions(F32, false, &positions).warned("/meshes/0/primitives/0/attributes/POSITION: 1 triangles");
        assert_eq!((&model.meshes[0].mesh.triangles[..], model.meshes[0].mesh.positions.len()), (&[[0, 1, 2]][..], 3));
        let nothing = with_positions(F32, false, &[[0.0, bad, 0.0], [0.0; 3], [0.0; 3]]);
        assert!(nothing.warned("/meshes/0/primitives/0: a primitive without triangles").meshes.is_empty());
    }
}

#[test]
fn vertices_that_no_triangle_has_are_left_out_with_all_that_they_have() {
    let mut b = Builder::triangle();
    let row = |from: f32| (0..5).map(|i| [from + i as f32, 0.0, 1.0]).collect::<Vec<[f32; 3]>>();
    let positions = b.floats(&[[f32::NAN; 3], [0.0; 3], [1e6, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
    let normals = b.floats(&row(0.0));
    let offsets = b.floats(&row(10.0));
    let joints = b.accessor(U8, "VEC4", &[[9u8, 9, 9, 9], [0; 4], [8; 4], [1, 0, 0, 0], [0; 4]]);
    let weights = b.floats(&[[1.0, 0.0, 0.0, 0.0]; 5]);
    let indices = b.accessor(U8, "SCALAR", &[3u8, 4, 1]);
    *b.primitive() = json!({"attributes": {"POSITION": positions, "NORMAL": normals, "JOINTS_0": joints,
        "WEIGHTS_0": weights}, "indices": indices, "targets": [{"POSITION": offsets}]});
    let model = b.load();
    assert!(model.warnings.is_empty(), "{:?}", model.warnings);
    let (mesh, deformers) = (&model.meshes[0].mesh, &model.meshes[0].deformers);
    assert_eq!(mesh.positions, [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
    assert_eq!(mesh.triangles, [[1, 2, 0]]);
    assert_eq!(mesh.normals.len(), 3);
    assert_eq!(deformers.targets[0].positions, [[11.0, 0.0, 1.0], [13.0, 0.0, 1.0], [14.0, 0.0, 1.0]]);
    assert_eq!(deformers.joints, [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn what_is_faulty_and_can_be_done_without_is_left_out_with_a_warning() {
    for (pointer, value, expected) in [
        (
            "attributes/NORMAL",
            json!(7),
            "attributes/NORMAL: there is no accessor 7: the file has 2; the attribute is left out",
        ),
        ("attributes/TANGENT", json!(0), "/accessors/0: elements have 3 components"),
        (
            "attributes/JOINTS_0",
            json!(9),
            "attributes/JOINTS_0: there is no accessor 9: the file has 2; no skin needs it",
        ),
        (
            "targets",
            json!([{"POSITION": 9}]),
            "targets/0/POSITION: there is no accessor 9: the file has 2; it moves nothing",
        ),
        ("material", json!(0), "material: there is no material 0: the file has 0; the default is taken"),
    ] {
        let mut b = Builder::triangle();
        b.floats(&[[0.0; 3]; 3]);
        match pointer.split_once('/') {
            Some((list, key)) => b.primitive()[list][key] = value,
            None => b.primitive()[pointer] = value,
        }
        let place = if expected.starts_with('/') { "" } else { "/meshes/0/primitives/0/" };
        let model = b.warned(&format!("{place}{expected}"));
        assert_eq!(model.parts.len(), 1, "{pointer}");
    }
    let mut b = Builder::triangle();
    b.primitive()["mode"] = json!(9);
    assert!(b.warned("/meshes/0/primitives/0: its mode is unknown and skipped").meshes.is_empty());
}

#[test]
fn buffers_and_views_matter_only_to_what_needs_them() {
    let mut b = Builder::triangle();
    b.json["buffers"] =
        json!([{"byteLength": 36}, {"byteLength": 4, "uri": "gone.bin"}, {"byteLength": 9, "uri": "data:,a"}]);
    let model = b.warned("/buffers/1/uri: ");
    assert!(model.warnings[0].ends_with("; nothing that is drawn needs it"), "{:?}", model.warnings);
    assert!(model.warnings[1].starts_with("/buffers/2/byteLength: 9 bytes are declared"), "{:?}", model.warnings);
    b.json["bufferViews"][0]["buffer"] = json!(1);
    assert!(b.error().starts_with("/buffers/1/uri: "), "{}", b.error());
}

#[test]
fn texture_coordinates_are_turned_over_and_colours_get_alpha() {
    let mut b = Builder::triangle();
    let uvs = b.accessor(U8, "VEC2", &[[0u8, 0], [255, 0], [0, 255]]);
    b.json["accessors"][uvs]["normalized"] = json!(true);
    let uvs1 = b.floats(&[[0.25, 0.25], [f32::NAN, 0.0], [0.0, 2.0]]);
    let colors = b.accessor(U16, "VEC3", &[[65535u16, 0, 0]; 3]);
    b.json["accessors"][colors]["normalized"] = json!(true);
    let attributes = &mut b.primitive()["attributes"];
    attributes["TEXCOORD_0"] = json!(uvs);
    attributes["TEXCOORD_1"] = json!(uvs1);
    attributes["COLOR_0"] = json!(colors);
    let mesh = first(&b).mesh;
    assert_eq!(mesh.uvs, [[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]]);
    assert_eq!(mesh.uvs1, [[0.25, 0.75], [0.0, 1.0], [0.0, -1.0]]);
    assert_eq!(mesh.colors, [[1.0, 0.0, 0.0, 1.0]; 3]);
}

#[test]
fn normals_become_unit_vectors_and_missing_ones_those_of_faces() {
    let mut b = Builder::triangle();
    let normals = b.floats(&[[0.0, 3.0, 0.0], [0.0; 3], [f32::NAN, 0.0, 0.0]]);
    b.primitive()["attributes"]["NORMAL"] = json!(normals);
    let model = b.load();
    let mesh = &model.meshes[0].mesh;
    assert_eq!(mesh.normals, [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]);
    assert!(model.warnings[0].contains("normals have no direction"));
}

#[test]
fn attributes_of_another_length_are_left_out() {
    let mut b = Builder::triangle();
    let normals = b.floats(&[[0.0, 0.0, 1.0]; 2]);
    b.primitive()["attributes"]["NORMAL"] = json!(normals);
    let expected = "/meshes/0/primitives/0/attributes/NORMAL: 2 elements for 3 vertices";
    assert!(b.warned(expected).meshes[0].mesh.normals.is_empty());
}

#[test]
fn tangents_are_made_where_a_normal_map_needs_them() {
    let mut b = Builder::triangle();
    let uvs = b.floats(&[[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]]);
    let normals = b.floats(&[[0.0, 0.0, 1.0]; 3]);
    b.primitive()["attributes"]["NORMAL"] = json!(normals);
    let texture = b.texture(&png(1, 1, [128, 128, 255]));
    b.add("materials", json!({"normalTexture": {"index": texture, "scale": 0.5}}));
    b.primitive()["material"] = json!(0);
    let model = b.load();
    assert!(model.warnings[0].contains("needs texture coordinates"), "{:?}", model.warnings);
    b.primitive()["attributes"]["TEXCOORD_0"] = json!(uvs);
    assert_eq!(first(&b).mesh.tangents, [[1.0, 0.0, 0.0, 1.0]; 3]);
    let without = b.load_with(&GltfOptions { skip_tangents: true, ..GltfOptions::default() });
    assert!(without.meshes[0].mesh.tangents.is_empty());
    let own = b.floats(&[[0.0, 2.0, 0.0, -1.0]; 3]);
    b.primitive()["attributes"]["TANGENT"] = json!(own);
    assert_eq!(first(&b).mesh.tangents, [[0.0, 1.0, 0.0, -1.0]; 3]);
    b.json["materials"] = json!([{}]);
    b.primitive()["attributes"].as_object_mut().expect("an object").remove("TANGENT");
    assert!(first(&b).mesh.tangents.is_empty());
}

#[test]
fn morph_targets_come_with_weights_of_node_or_mesh() {
    let mut b = Builder::triangle();
    let offsets = b.floats(&[[0.0, 0.0, 1.0]; 3]);
    b.primitive()["targets"] = json!([{"POSITION": offsets}, {"NORMAL": offsets, "TANGENT": offsets}]);
    assert_eq!(b.load().rig.nodes[0].weights, [0.0, 0.0]);
    b.json["meshes"][0]["weights"] = json!([0.25, 0.5]);
    assert_eq!(b.load().rig.nodes[0].weights, [0.25, 0.5]);
    b.json["nodes"][0]["weights"] = json!([1.0, 0.0]);
    let model = b.load();
    assert_eq!(model.rig.nodes[0].weights, [1.0, 0.0]);
    let targets = &model.meshes[0].deformers.targets;
    assert_eq!(targets[0].positions, [[0.0, 0.0, 1.0]; 3]);
    assert!(targets[0].normals.is_empty() && targets[1].positions.is_empty());
    assert_eq!(targets[1].tangents.len(), 3);
    b.json["nodes"][0]["weights"] = json!([1.0]);
    let model = b.warned("/nodes/0/weights: 2 morph targets need as many finite weights; 0 is taken");
    assert_eq!(model.rig.nodes[0].weights, [0.0, 0.0]);
}

/// A triangle with a skin of two joints; each vertex has weights in both sets.
fn skinned() -> Builder {
    let mut b = Builder::triangle();
    let joints = b.accessor(U8, "VEC4", &[[1u8, 0, 9, 9]; 3]);
    let weights = b.floats(&[[3.0, 0.0, 0.0, 0.0]; 3]);
    let joints1 = b.accessor(U16, "VEC4", &[[0u16, 1, 0, 0]; 3]);
    let weights1 = b.accessor(U8, "VEC4", &[[255u8, 0, 0, 0], [0; 4], [0; 4]]);
    b.json["accessors"][weights1]["normalized"] = json!(true);
    let a = &mut b.primitive()["attributes"];
    (a["JOINTS_0"], a["WEIGHTS_0"]) = (json!(joints), json!(weights));
    (a["JOINTS_1"], a["WEIGHTS_1"]) = (json!(joints1), json!(weights1));
    b.json["nodes"][0]["skin"] = json!(0);
    b.json["nodes"][0]["children"] = json!([1, 2]);
    b.add("nodes", json!({"name": "hip"}));
    b.add("nodes", json!({"translation": [0, 1, 0]}));
    b.add("skins", json!({"joints": [1, 2]}));
    b
}

#[test]
fn both_sets_of_joints_are_laid_side_by_side_with_weights_that_sum_to_one() {
    let model = skinned().load();
    let d = &model.meshes[0].deformers;
    assert_eq!(d.joints_per_vertex, 8);
    assert_eq!(d.joints[..8], [1, 0, 0, 0, 0, 0, 0, 0], "what has no weight names joint 0");
    assert_eq!(d.weights[..8], [0.75, 0.0, 0.0, 0.0, 0.25, 0.0, 0.0, 0.0]);
    assert_eq!(d.weights[8..16], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!((model.parts[0].skin, model.rig.skins[0].joints.len()), (0, 2));
}

#[test]
fn joints_beyond_the_skin_are_refused() {
    let mut b = skinned();
    b.json["skins"][0]["joints"] = json!([1]);
    assert!(b.error().starts_with("/nodes/0/skin: the mesh names joint 1, but its skin has 1"));
    b.json["skins"][0]["joints"] = json!([1, 7]);
    assert!(b.error().starts_with("/skins/0/joints/1: there is no node 7"));
    b.json["skins"][0]["joints"] = json!([]);
    assert!(b.error().starts_with("/skins/0: a skin needs"));
    b.json["nodes"][0]["skin"] = json!(3);
    assert!(b.error().starts_with("/nodes/0/skin: there is no skin 3"));
}

#[test]
fn a_skin_without_weights_in_the_mesh_is_ignored() {
    let mut b = skinned();
    let a = b.primitive()["attributes"].as_object_mut().expect("an object");
    a.retain(|key, _| key == "POSITION");
    let model = b.load();
    assert_eq!(model.parts[0].skin, NONE);
    assert!(model.warnings[0].contains("its skin is ignored"));
}
