//! Tests of hierarchy, skins, animation, cameras, lights and scenes.

use super::builder::*;
use crate::gltf::{GltfOptions, LightShape, Projection};
use glam::{Affine3, Quat, Vec3};
use serde_json::{Value, json};
use throng_scene::{
    NONE,
    rig::{Interpolation, Local, Property, Trs},
};

fn with_nodes(nodes: Value, roots: Value) -> Builder {
    let mut b = Builder::new();
    b.json["nodes"] = nodes;
    b.json["scenes"] = json!([{"nodes": roots}]);
    b
}

#[test]
fn parents_come_before_children_and_other_nodes_are_left_out() {
    let b = with_nodes(json!([{"name": "leaf"}, {}, {"children": [4, 0]}, {}, {"children": [3]}]), json!([2]));
    let rig = b.load().rig;
    let named: Vec<_> = rig.nodes.iter().map(|n| (n.name.as_str(), n.parent)).collect();
    assert_eq!(named, [("node 2", NONE), ("node 4", 0), ("leaf", 0), ("node 3", 1)]);
}

#[test]
fn cycles_and_second_parents_are_refused_by_place() {
    for (nodes, roots, expected) in [
        (json!([{"children": [1]}, {"children": [0]}]), json!([0]), "/nodes/0: the node is its own ancestor"),
        (
            json!([{"children": [1]}, {"children": [2]}, {"children": [1]}]),
            json!([0]),
            "/nodes/2/children/0: node 1 is a child of node 0 already",
        ),
        (json!([{"children": [1, 1]}, {}]), json!([0]), "/nodes/0/children/1: node 1 is a child of node 0 already"),
        (json!([{"children": [1]}, {}]), json!([1, 0]), "/nodes/0/children/0: node 1 is in the scene twice"),
    ] {
        let error = with_nodes(nodes, roots).error();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn faults_of_nodes_beyond_the_scene_and_nodes_that_are_not_there_are_warned_of() {
    for (nodes, roots, shown, expected) in [
        (json!([{"children": [0]}]), json!([]), 0, "/nodes/0: the node is its own ancestor, but not in the scene"),
        (
            json!([{}, {"children": [2]}, {"children": [3]}, {"children": [2]}]),
            json!([0]),
            1,
            "/nodes/3/children/0: node 2 is a child of node 1 already; they are not both in the scene",
        ),
        (
            json!([{"children": [1]}, {}, {"children": [1]}]),
            json!([0]),
            2,
            "/nodes/2/children/0: node 1 is a child of node 0",
        ),
        (
            json!([{"children": [7, 1]}, {}]),
            json!([0]),
            2,
            "/nodes/0/children/0: there is no node 7: the file has 2; it is",
        ),
        (json!([{}]), json!([0, 0]), 1, "/scenes/0/nodes: node 0 is listed twice and shown once"),
        (json!([{}]), json!([3, 0]), 1, "/scenes/0/nodes/0: there is no node 3: the file has 1; it is left out"),
    ] {
        let b = with_nodes(nodes, roots);
        assert_eq!(b.warned(expected).rig.nodes.len(), shown, "{expected}");
        let turned = GltfOptions { rotation: Quat::from_rotation_x(1.0), ..GltfOptions::default() };
        assert_eq!(b.load_with(&turned).rig.nodes.len(), shown + 1, "{expected}");
    }
    // Below a cycle, but not on it.
    let model = with_nodes(json!([{}, {"children": [2, 3]}, {"children": [1]}, {}]), json!([0])).load();
    let told = &model.warnings[0];
    assert!(told.starts_with("/nodes/1:") || told.starts_with("/nodes/2:"), "{told}");
}

#[test]
fn a_hundred_thousand_nodes_may_be_one_chain_or_one_row() {
    const N: usize = 100_000;
    let chain: Vec<Value> = (1..=N).map(|i| if i < N { json!({"children": [i]}) } else { json!({}) }).collect();
    let rig = with_nodes(json!(chain), json!([0])).load().rig;
    assert_eq!((rig.nodes.len(), rig.nodes[N - 1].parent), (N, N as u32 - 2));
    let mut row = vec![json!({"children": (1..N).collect::<Vec<_>>()})];
    row.resize(N, json!({}));
    let rig = with_nodes(json!(row), json!([0])).load().rig;
    assert_eq!((rig.nodes.len(), rig.nodes[N - 1].parent), (N, 0));
}

#[test]
fn transforms_are_parts_or_matrices() {
    let b = with_nodes(
        json!([{"translation": [1, 2, 3], "rotation": [0, 0, 2, 0], "scale": [2, 2, 2]},
            {"matrix": [2,0,0,0, 0,2,0,0, 0,0,2,0, 1,2,3,1]}, {"rotation": [0, 0, 0, 0]}]),
        json!([0, 1, 2]),
    );
    let model = b.load();
    let parts = Trs {
        translation: Vec3::new(1.0, 2.0, 3.0),
        rotation: Quat::from_xyzw(0.0, 0.0, 1.0, 0.0),
        scale: Vec3::splat(2.0),
    };
    assert_eq!(model.rig.nodes[0].local, Local::Parts(parts));
    let matrix = Affine3::from_translation(parts.translation) * Affine3::from_scale(parts.scale);
    assert_eq!(model.rig.nodes[1].local, Local::Matrix(matrix));
    assert_eq!(model.warnings, ["/nodes/2/rotation: the rotation has no direction and is ignored"]);
    let b = with_nodes(json!([{"translation": [1e39, 0, 0]}]), json!([0]));
    assert_eq!(b.error(), "/nodes/0/translation: numbers must be finite");
}

#[test]
fn scenes_are_chosen_by_name_or_index() {
    let mut b = with_nodes(json!([{}, {}, {}]), json!([0]));
    b.add("scenes", json!({"name": "attic", "nodes": [1, 2]}));
    let choose = |name: &str| GltfOptions { scene: Some(name.to_owned()), ..GltfOptions::default() };
    assert_eq!(b.load().scenes, ["scene 0", "attic"]);
    for name in ["attic", "1"] {
        let model = b.load_with(&choose(name));
        assert_eq!((model.scene, model.rig.nodes.len()), (1, 2));
    }
    let error = b.error_with(&choose("atic"));
    assert_eq!(error, "/scenes: there is no scene `atic`: did you mean `attic`?");
    b.json["scene"] = json!(5);
    assert_eq!(b.warned("/scene: there is no scene 5: the file has 2; the first one is shown").scene, 0);
    let mut b = with_nodes(json!([{"children": [1]}, {}]), json!([]));
    b.json.as_object_mut().expect("an object").retain(|k, _| !k.starts_with("scene"));
    let model = b.load();
    assert_eq!((model.scene, model.rig.nodes.len()), (NONE, 2));
}

#[test]
fn shared_meshes_are_read_once_and_named() {
    let mut b = Builder::triangle();
    let primitive = b.primitive().clone();
    b.json["meshes"][0] = json!({"name": "leaf", "primitives": [primitive, primitive]});
    b.json["nodes"] = json!([{"mesh": 0, "children": [1]}, {"mesh": 0}]);
    let model = b.load();
    let names: Vec<_> = model.meshes.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["leaf part 0", "leaf part 1"]);
    let parts: Vec<_> = model.parts.iter().map(|p| (p.node, p.mesh, p.placements.len())).collect();
    assert_eq!(parts, [(0, 0, 1), (0, 1, 1), (1, 0, 1), (1, 1, 1)]);
}

#[test]
fn gpu_instances_become_placements() {
    let mut b = Builder::triangle();
    let translations = b.floats(&[[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]]);
    let rotations = b.accessor(I16, "VEC4", &[[0i16, 0, 0, 32767], [32767, 0, 0, 0]]);
    b.json["accessors"][rotations]["normalized"] = json!(true);
    let attributes = json!({"TRANSLATION": translations, "ROTATION": rotations});
    b.json["nodes"][0]["extensions"] = json!({"EXT_mesh_gpu_instancing": {"attributes": attributes}});
    let turned = Affine3::from_rotation_translation(Quat::from_xyzw(1.0, 0.0, 0.0, 0.0), Vec3::X * 2.0);
    assert_eq!(b.load().parts[0].placements, [Affine3::from_translation(Vec3::X), turned]);
    let scales = b.floats(&[[1.0; 3]; 3]);
    b.json["nodes"][0]["extensions"]["EXT_mesh_gpu_instancing"]["attributes"]["SCALE"] = json!(scales);
    assert!(b.error().ends_with("all attributes need the same number of instances"));
}

#[test]
fn instances_that_only_others_read_about_stand_where_the_node_is() {
    let mut b = Builder::triangle();
    let ids = b.accessor(U16, "SCALAR", &[1u16, 2, 3]);
    let attributes = json!({"_ID": ids, "_GONE": 99});
    b.json["nodes"][0]["extensions"] = json!({"EXT_mesh_gpu_instancing": {"attributes": attributes}});
    assert_eq!(b.load().parts[0].placements, [Affine3::IDENTITY; 3]);
    let place = "/nodes/0/extensions/EXT_mesh_gpu_instancing/attributes";
    b.json["nodes"][0]["extensions"]["EXT_mesh_gpu_instancing"]["attributes"] = json!({});
    assert_eq!(
        b.warned(&format!("{place}: there are no instances; the mesh is shown once")).parts[0].placements.len(),
        1
    );
    let translations = b.floats(&[[1.0, 0.0, 0.0], [f32::NAN, 0.0, 0.0]]);
    b.json["nodes"][0]["extensions"]["EXT_mesh_gpu_instancing"]["attributes"] = json!({"TRANSLATION": translations});
    let model = b.warned(&format!("{place}: 1 instances are not finite and left out"));
    assert_eq!(model.parts[0].placements, [Affine3::from_translation(Vec3::X)]);
}

#[test]
fn cameras_and_lights_stand_at_their_nodes() {
    let mut b = with_nodes(
        json!([{"children": [1, 2]}, {"camera": 1, "name": "front"},
            {"camera": 0, "extensions": {"KHR_lights_punctual": {"light": 0}}}]),
        json!([0]),
    );
    b.json["cameras"] = json!([
        {"type": "perspective", "perspective": {"yfov": 0.5, "znear": 0.1}, "name": "eye"},
        {"type": "orthographic", "orthographic": {"xmag": 2, "ymag": 1, "znear": 0, "zfar": 9}}]);
    let lights = json!([{"type": "spot", "color": [1, 0.5, 0], "intensity": 7, "range": 3,
        "spot": {"innerConeAngle": 0.1}}, {"type": "point"}]);
    b.json["extensions"] = json!({"KHR_lights_punctual": {"lights": lights}});
    let model = b.load();
    // In the order of the file's cameras, not of the nodes.
    let (eye, front) = (&model.cameras[0], &model.cameras[1]);
    assert_eq!((front.name.as_str(), front.node), ("front", 1));
    assert_eq!((eye.name.as_str(), eye.node), ("eye", 2));
    assert!(matches!(eye.projection, Projection::Perspective { fov_y: 0.5, far: None, .. }));
    assert!(matches!(front.projection, Projection::Orthographic { half_width: 2.0, far: 9.0, .. }));
    let light = &model.lights[0];
    assert_eq!((light.node, light.intensity, light.range), (2, 7.0, Some(3.0)));
    let outer = std::f32::consts::FRAC_PI_4;
    assert_eq!(light.shape, LightShape::Spot { inner: 0.1, outer });
    b.json["cameras"] = json!([]);
    assert!(b.warned("/nodes/1/camera: there is no camera 1").cameras.is_empty());
    b.json["nodes"] = json!([{"extensions": {"KHR_lights_punctual": {"light": 4}}}, {}, {}]);
    let place = "/nodes/0/extensions/KHR_lights_punctual/light";
    assert!(
        b.warned(&format!("{place}: there is no light 4: the file has 2; the light is left out")).lights.is_empty()
    );
}

/// The projection of a file with this camera, which must cause the warning `expected`.
fn with_camera(camera: Value, expected: &str) -> Option<Projection> {
    let mut b = Builder::triangle();
    b.json["nodes"][0]["camera"] = json!(0);
    b.json["cameras"] = json!([camera]);
    let model = if expected.is_empty() { b.load() } else { b.warned(&format!("/cameras/0{expected}")) };
    assert_eq!(model.warnings.len(), usize::from(!expected.is_empty()), "{:?}", model.warnings);
    model.cameras.first().map(|camera| camera.projection)
}

#[test]
fn cameras_out_of_range_are_mended_or_left_out() {
    let eye = |yfov: Value| json!({"type": "perspective", "perspective": {"yfov": yfov, "znear": 1, "zfar": 0.5}});
    let fov = |yfov: Value, expected: &str| match with_camera(eye(yfov), expected) {
        Some(Projection::Perspective { fov_y, .. }) => fov_y,
        other => panic!("{other:?}"),
    };
    assert_eq!(fov(json!(1), ""), 1.0, "clipping planes do not matter");
    assert_eq!(fov(json!(0), "/perspective/yfov: 0 is out of range; 0.001 is used"), 0.001);
    assert!((3.1..std::f32::consts::PI).contains(&fov(json!(7), "/perspective/yfov: 7 is out of range; ")));
    let parallel = json!({"type": "orthographic", "orthographic": {"xmag": 2, "ymag": 0, "znear": 0, "zfar": 9}});
    let projection = with_camera(parallel, "/orthographic/ymag: 0 is out of range; 1 is used");
    assert!(matches!(projection, Some(Projection::Orthographic { half_width: 2.0, half_height: 1.0, .. })));
    let fisheye = json!({"type": "fisheye"});
    assert_eq!(
        with_camera(fisheye, ": the camera is neither perspective nor orthographic; the camera is left out"),
        None
    );
}

/// The light of a file with this light, which must cause the warning `expected`.
fn with_light(light: Value, expected: &str) -> Option<crate::gltf::ModelLight> {
    let mut b = Builder::triangle();
    b.json["nodes"][0]["extensions"] = json!({"KHR_lights_punctual": {"light": 0}});
    b.json["extensions"] = json!({"KHR_lights_punctual": {"lights": [light]}});
    let mut model = b.warned(&format!("/extensions/KHR_lights_punctual/lights/0/{expected}"));
    assert_eq!(model.warnings.len(), 1, "{:?}", model.warnings);
    model.lights.pop()
}

#[test]
fn lights_out_of_range_are_mended_or_left_out() {
    use std::f32::consts::{FRAC_PI_2, FRAC_PI_4};
    let shape =
        |spot: Value, expected: &str| with_light(json!({"type": "spot", "spot": spot}), expected).map(|l| l.shape);
    let sharp =
        shape(json!({"innerConeAngle": 0.5, "outerConeAngle": 0.5}), "spot/innerConeAngle: 0.5 is out of range; ");
    let Some(LightShape::Spot { inner, outer }) = sharp else { panic!("{sharp:?}") };
    assert!(outer == 0.5 && inner < 0.5 && inner > 0.4999, "{inner}");
    let wide = shape(json!({"outerConeAngle": 2}), "spot/outerConeAngle: 2 is out of range; ");
    assert_eq!(wide, Some(LightShape::Spot { inner: 0.0, outer: FRAC_PI_2 }));
    let negative = shape(json!({"innerConeAngle": -1}), "spot/innerConeAngle: -1 is out of range; 0 is used");
    assert_eq!(negative, Some(LightShape::Spot { inner: 0.0, outer: FRAC_PI_4 }));
    let eater = with_light(json!({"type": "point", "intensity": -5}), "intensity: -5 is out of range; 0 is used");
    assert_eq!(eater.map(|l| l.intensity), Some(0.0));
    let tinted = with_light(json!({"type": "point", "color": [1, -1, 0]}), "color: -1 is out of range; 0 is used");
    assert_eq!(tinted.map(|l| l.color), Some([1.0, 0.0, 0.0]));
    let endless = with_light(json!({"type": "point", "range": -3}), "range: -3 is out of range; the light has no end");
    assert_eq!(endless.map(|l| l.range), Some(None));
    let odd = with_light(json!({"type": "point", "intensity": "bright"}), "intensity: invalid type");
    assert_eq!(odd.map(|l| l.intensity), Some(1.0));
    assert_eq!(
        with_light(json!({"type": "laser"}), "type: there is no type `laser` of lights; the light is left out"),
        None
    );
}

#[test]
fn clips_have_channels_of_every_kind() {
    let mut b = Builder::triangle();
    let offsets = b.floats(&[[0.0, 0.0, 1.0]; 3]);
    b.primitive()["targets"] = json!([{"POSITION": offsets}, {"POSITION": offsets}]);
    let times = b.floats(&[[0.5], [2.0]]);
    let vectors = b.floats(&[[1.0, 2.0, 3.0]; 2]);
    let turns = b.floats(&[[0.0, 0.0, 0.0, 2.0]; 6]);
    let weights = b.accessor(U8, "SCALAR", &[0u8, 255, 255, 0]);
    b.json["accessors"][weights]["normalized"] = json!(true);
    b.animation(json!({"node": 0, "path": "translation"}), times, vectors, "STEP");
    b.animation(json!({"node": 0, "path": "rotation"}), times, turns, "CUBICSPLINE");
    b.animation(json!({"node": 0, "path": "weights"}), times, weights, "LINEAR");
    b.json["animations"][0]["name"] = json!("Run");
    let clips = b.load().rig.clips;
    assert_eq!((clips[0].name.as_str(), clips[1].name.as_str()), ("Run", "animation 1"));
    assert_eq!(clips[0].duration, 2.0);
    let step = &clips[0].channels[0];
    assert_eq!((step.property, step.interpolation), (Property::Translation, Interpolation::Step));
    assert_eq!(step.times, [0.5, 2.0]);
    let spline = &clips[1].channels[0];
    assert_eq!(spline.values.len(), 24);
    assert_eq!(spline.values[3], 2.0, "tangents are not normalised");
    assert_eq!(spline.values[4..8], [0.0, 0.0, 0.0, 1.0]);
    assert_eq!(clips[2].channels[0].values, [0.0, 1.0, 1.0, 0.0]);
}

#[test]
fn channels_that_drive_nothing_are_dropped() {
    let mut b = Builder::triangle();
    let (times, vectors) = (b.floats(&[[0.0]]), b.floats(&[[0.0; 3]]));
    b.add("materials", json!({}));
    b.add("nodes", json!({"name": "not in the scene"}));
    b.add("nodes", json!({"matrix": [1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1]}));
    b.json["scenes"][0]["nodes"] = json!([0, 2]);
    b.json["extensionsUsed"] = json!(["KHR_animation_pointer"]);
    let pointer = |p: &str| json!({"path": "pointer", "extensions": {"KHR_animation_pointer": {"pointer": p}}});
    for target in [
        json!({"node": 1, "path": "scale"}),
        json!({"node": 2, "path": "scale"}),
        json!({"node": 0, "path": "weights"}),
        json!({"node": 0, "path": "colour"}),
        pointer("/materials/0/doubleSided"),
        pointer("/nodes/0/scale"),
    ] {
        b.animation(target, times, vectors, "LINEAR");
    }
    let model = b.load();
    let kept: Vec<_> = model.rig.clips.iter().map(|c| c.channels.len()).collect();
    assert_eq!(kept, [0, 0, 0, 0, 0, 1]);
    let places: Vec<_> = model.warnings.iter().map(|w| &w[..14]).collect();
    assert_eq!(places, ["/animations/1/", "/animations/2/", "/animations/3/", "/animations/4/"]);
    let told = &model.warnings[3];
    assert!(told.contains("`/materials/0/doubleSided` is nothing that can be animated"), "{told}");
    b.json["animations"][0]["channels"][0]["target"]["node"] = json!(9);
    b.warned("/animations/0/channels/0/target/node: there is no node 9: the file has 3; the animation `animation 0` is left out");
}

#[test]
fn keys_that_do_not_fit_leave_out_their_clip_and_those_out_of_order_are_dropped() {
    let clip = |times: &[[f32; 1]], values: &[[f32; 3]]| {
        let mut b = Builder::triangle();
        let (input, output) = (b.floats(times), b.floats(values));
        b.animation(json!({"node": 0, "path": "scale"}), input, output, "LINEAR");
        b
    };
    let refused = [
        clip(&[], &[]),
        clip(&[[0.0]], &[[1.0; 3]; 2]),
        clip(&[[f32::NAN]], &[[1.0; 3]]),
        clip(&[[-1.0]], &[[1.0; 3]]),
        clip(&[[0.0]], &[[f32::INFINITY; 3]]),
    ];
    for b in refused {
        let clip = b.warned("/animations/0/samplers/0: ").rig.clips.remove(0);
        assert!(clip.channels.is_empty() && clip.name == "animation 0");
        assert!(clip.fault.is_some_and(|fault| fault.starts_with("/animations/0/samplers/0: ")));
    }
    let mut odd = clip(&[[0.0], [1.0]], &[[0.0; 3], [1.0; 3]]);
    odd.json["animations"][0]["samplers"][0]["interpolation"] = json!("BOUNCE");
    let model = odd.warned("/animations/0/samplers/0/interpolation: unknown interpolation; LINEAR is taken");
    assert_eq!(model.rig.clips[0].channels[0].interpolation, Interpolation::Linear);
    odd.json["animations"][0]["samplers"][0]["output"] = json!("none");
    let model = odd.warned("/animations/0/samplers/0/output: invalid type");
    assert!(
        model.rig.clips[0].playable().is_err_and(|e| e.starts_with("the animation `animation 0` cannot be played: "))
    );
    let model = clip(&[[0.0], [2.0], [2.0], [1.0], [3.0]], &[[0.0; 3], [1.0; 3], [2.0; 3], [3.0; 3], [4.0; 3]]).load();
    let channel = &model.rig.clips[0].channels[0];
    assert_eq!(channel.times, [0.0, 2.0, 3.0]);
    assert_eq!(channel.values, [[0.0; 3], [1.0; 3], [4.0; 3]].concat());
    assert!(model.warnings[0].contains("times do not increase"));
}

#[test]
fn joints_outside_of_the_scene_are_taken_with_their_ancestors() {
    let mut b = Builder::triangle();
    let joints = b.accessor(U8, "VEC4", &[[0u8; 4]; 3]);
    let weights = b.floats(&[[1.0, 0.0, 0.0, 0.0]; 3]);
    let matrices = b.floats(&[glam::Mat4::from_translation(Vec3::X).to_cols_array()]);
    b.primitive()["attributes"]["JOINTS_0"] = json!(joints);
    b.primitive()["attributes"]["WEIGHTS_0"] = json!(weights);
    b.json["nodes"][0]["skin"] = json!(0);
    b.add("nodes", json!({"name": "joint", "mesh": 0}));
    b.add("nodes", json!({"name": "root", "children": [1]}));
    b.add("skins", json!({"joints": [1], "inverseBindMatrices": matrices}));
    let model = b.load();
    let names: Vec<_> = model.rig.nodes.iter().map(|n| n.name.as_str()).collect();
    assert_eq!(names, ["node 0", "root", "joint"]);
    assert_eq!(model.rig.skins[0].joints, [2]);
    assert_eq!(model.rig.skins[0].joint_from_mesh, [Affine3::from_translation(Vec3::X)]);
    assert_eq!(model.parts.len(), 1, "what is not in the scene is not rendered");
    assert!(model.warnings[0].contains("not in the scene"));
    b.json["skins"][0]["joints"] = json!([1, 2]);
    assert!(b.error().starts_with("/skins/0/inverseBindMatrices: 1 matrices for 2 joints"));
}

#[test]
fn hidden_nodes_hide_meshes_and_lights_below_them_but_no_cameras() {
    let mut b = Builder::triangle();
    b.json["extensionsRequired"] = json!(["KHR_node_visibility"]);
    b.json["extensions"] = json!({"KHR_lights_punctual": {"lights": [{"type": "point"}]}});
    b.json["cameras"] = json!([{"type": "perspective", "perspective": {"yfov": 1, "znear": 0.1}}]);
    let light = json!({"light": 0});
    let visible = |visible: bool| json!({"KHR_node_visibility": {"visible": visible}, "KHR_lights_punctual": light});
    b.json["nodes"] = json!([
        {"mesh": 0, "children": [1], "extensions": visible(false)},
        {"mesh": 0, "camera": 0, "extensions": visible(true)},
        {"mesh": 0, "extensions": {"KHR_node_visibility": {}, "KHR_lights_punctual": light}},
    ]);
    b.json["scenes"][0]["nodes"] = json!([0, 2]);
    let model = b.load();
    let nodes = |index: u32| model.rig.nodes[index as usize].name.as_str();
    assert_eq!(model.parts.iter().map(|part| nodes(part.node)).collect::<Vec<_>>(), ["node 2"]);
    assert_eq!(model.lights.iter().map(|light| nodes(light.node)).collect::<Vec<_>>(), ["node 2"]);
    assert_eq!(model.cameras.len(), 1);
    b.json["nodes"][0]["extensions"]["KHR_node_visibility"]["visible"] = json!("no");
    assert_eq!(b.warned("/nodes/0/extensions/KHR_node_visibility: ").parts.len(), 3);
}
