//! Hierarchy, animation, materials, cameras, lights and choices, with files built here.

use super::builder::*;
use super::{Alpha, ColorSpace, GltfOptions, LightShape, Projection, TextureRef, load_model};
use crate::scene::{
    NONE, Texels, Wrap,
    rig::{Interpolation, Local, Property, Trs},
};
use glam::{Affine2, Affine3, Quat, Vec2, Vec3};
use image::ImageFormat;
use serde_json::{Value, json};

fn with_nodes(nodes: Value, roots: Value) -> Builder {
    let mut b = Builder::new();
    b.json["nodes"] = nodes;
    b.json["scenes"] = json!([{"nodes": roots}]);
    b
}

#[test]
fn parents_come_before_children_and_other_nodes_are_left_out() {
    let b = with_nodes(
        json!([{"name": "leaf"}, {}, {"children": [4, 0]}, {}, {"children": [3]}]),
        json!([2]),
    );
    let rig = b.load().rig;
    let named: Vec<_> = rig
        .nodes
        .iter()
        .map(|n| (n.name.as_str(), n.parent))
        .collect();
    assert_eq!(
        named,
        [("node 2", NONE), ("node 4", 0), ("leaf", 0), ("node 3", 1)]
    );
}

#[test]
fn cycles_and_second_parents_are_refused_by_place() {
    for (nodes, roots, expected) in [
        (
            json!([{"children": [1]}, {"children": [0]}]),
            json!([0]),
            "/nodes/0: the node is its own ancestor",
        ),
        (
            json!([{"children": [0]}]),
            json!([]),
            "/nodes/0: the node is its own ancestor",
        ),
        (
            json!([{}, {"children": [2]}, {"children": [3]}, {"children": [2]}]),
            json!([0]),
            "/nodes/3/children/0: node 2 is a child of node 1 already",
        ),
        (
            json!([{"children": [1]}, {"children": [2]}, {"children": [1]}]),
            json!([0]),
            "/nodes/2/children/0: node 1 is a child of node 0 already",
        ),
        (
            json!([{"children": [1, 1]}, {}]),
            json!([0]),
            "/nodes/0/children/1: node 1 is a child of node 0 already",
        ),
        (
            json!([{"children": [7]}]),
            json!([0]),
            "/nodes/0/children/0: there is no node 7",
        ),
        (
            json!([{"children": [1]}, {}]),
            json!([1, 0]),
            "/nodes/0/children/0: node 1 is in the scene twice",
        ),
        (
            json!([{}]),
            json!([0, 0]),
            "/scenes/0/nodes: node 0 is listed twice",
        ),
        (
            json!([{}]),
            json!([3]),
            "/scenes/0/nodes/0: there is no node 3",
        ),
    ] {
        let error = with_nodes(nodes, roots).error();
        assert!(error.starts_with(expected), "{error}");
    }
    // Below a cycle, but not on it.
    let error = with_nodes(
        json!([{}, {"children": [2, 3]}, {"children": [1]}, {}]),
        json!([0]),
    )
    .error();
    assert!(
        error.starts_with("/nodes/1:") || error.starts_with("/nodes/2:"),
        "{error}"
    );
}

#[test]
fn a_hundred_thousand_nodes_may_be_one_chain_or_one_row() {
    const N: usize = 100_000;
    let chain: Vec<Value> = (1..=N)
        .map(|i| {
            if i < N {
                json!({"children": [i]})
            } else {
                json!({})
            }
        })
        .collect();
    let rig = with_nodes(json!(chain), json!([0])).load().rig;
    assert_eq!(
        (rig.nodes.len(), rig.nodes[N - 1].parent),
        (N, N as u32 - 2)
    );
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
    assert_eq!(
        model.warnings,
        ["/nodes/2/rotation: the rotation has no direction and is ignored"]
    );
    let b = with_nodes(json!([{"translation": [1e39, 0, 0]}]), json!([0]));
    assert_eq!(b.error(), "/nodes/0/translation: numbers must be finite");
}

#[test]
fn scenes_are_chosen_by_name_or_index() {
    let mut b = with_nodes(json!([{}, {}, {}]), json!([0]));
    b.add("scenes", json!({"name": "attic", "nodes": [1, 2]}));
    let choose = |name: &str| GltfOptions {
        scene: Some(name.to_owned()),
        ..GltfOptions::default()
    };
    assert_eq!(b.load().scenes, ["scene 0", "attic"]);
    for name in ["attic", "1"] {
        let model = b.load_with(&choose(name));
        assert_eq!((model.scene, model.rig.nodes.len()), (1, 2));
    }
    let error = b.error_with(&choose("atic"));
    assert_eq!(
        error,
        "/scenes: there is no scene `atic`: did you mean `attic`?"
    );
    b.json["scene"] = json!(5);
    assert!(b.error().starts_with("/scene: there is no scene 5"));
    let mut b = with_nodes(json!([{"children": [1]}, {}]), json!([]));
    b.json
        .as_object_mut()
        .expect("an object")
        .retain(|k, _| !k.starts_with("scene"));
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
    let parts: Vec<_> = model
        .parts
        .iter()
        .map(|p| (p.node, p.mesh, p.placements.len()))
        .collect();
    assert_eq!(parts, [(0, 0, 1), (0, 1, 1), (1, 0, 1), (1, 1, 1)]);
}

#[test]
fn gpu_instances_become_placements() {
    let mut b = Builder::triangle();
    let translations = b.floats(&[[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]]);
    let rotations = b.accessor(I16, "VEC4", &[[0i16, 0, 0, 32767], [32767, 0, 0, 0]]);
    b.json["accessors"][rotations]["normalized"] = json!(true);
    let attributes = json!({"TRANSLATION": translations, "ROTATION": rotations});
    b.json["nodes"][0]["extensions"] =
        json!({"EXT_mesh_gpu_instancing": {"attributes": attributes}});
    let turned =
        Affine3::from_rotation_translation(Quat::from_xyzw(1.0, 0.0, 0.0, 0.0), Vec3::X * 2.0);
    assert_eq!(
        b.load().parts[0].placements,
        [Affine3::from_translation(Vec3::X), turned]
    );
    let scales = b.floats(&[[1.0; 3]; 3]);
    b.json["nodes"][0]["extensions"]["EXT_mesh_gpu_instancing"]["attributes"]["SCALE"] =
        json!(scales);
    assert!(
        b.error()
            .ends_with("all attributes need the same number of instances")
    );
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
    let eye = &model.cameras[1];
    assert_eq!(
        (model.cameras[0].name.as_str(), model.cameras[0].node),
        ("front", 1)
    );
    assert_eq!((eye.name.as_str(), eye.node), ("eye", 2));
    assert!(matches!(
        eye.projection,
        Projection::Perspective {
            fov_y: 0.5,
            far: None,
            ..
        }
    ));
    assert!(matches!(
        model.cameras[0].projection,
        Projection::Orthographic {
            half_width: 2.0,
            far: 9.0,
            ..
        }
    ));
    let light = &model.lights[0];
    assert_eq!(
        (light.node, light.intensity, light.range),
        (2, 7.0, Some(3.0))
    );
    let outer = std::f32::consts::FRAC_PI_4;
    assert_eq!(light.shape, LightShape::Spot { inner: 0.1, outer });
    b.json["cameras"][0]["perspective"]["yfov"] = json!(0);
    assert!(
        b.error()
            .starts_with("/cameras/0: these numbers make no picture")
    );
    b.json["cameras"] = json!([]);
    assert!(
        b.error()
            .starts_with("/nodes/1/camera: there is no camera 1")
    );
    b.json["nodes"] = json!([{"extensions": {"KHR_lights_punctual": {"light": 4}}}, {}, {}]);
    assert!(b.error().contains("there is no light 4"));
    b.json["extensions"]["KHR_lights_punctual"]["lights"][0]["type"] = json!("laser");
    assert!(
        b.error()
            .starts_with("/extensions/KHR_lights_punctual: unknown variant")
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
    b.animation(
        json!({"node": 0, "path": "translation"}),
        times,
        vectors,
        "STEP",
    );
    b.animation(
        json!({"node": 0, "path": "rotation"}),
        times,
        turns,
        "CUBICSPLINE",
    );
    b.animation(
        json!({"node": 0, "path": "weights"}),
        times,
        weights,
        "LINEAR",
    );
    b.json["animations"][0]["name"] = json!("Run");
    let clips = b.load().rig.clips;
    assert_eq!(
        (clips[0].name.as_str(), clips[1].name.as_str()),
        ("Run", "animation 1")
    );
    assert_eq!(clips[0].duration, 2.0);
    let step = &clips[0].channels[0];
    assert_eq!(
        (step.property, step.interpolation),
        (Property::Translation, Interpolation::Step)
    );
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
    b.add("nodes", json!({"name": "not in the scene"}));
    b.add(
        "nodes",
        json!({"matrix": [1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1]}),
    );
    b.json["scenes"][0]["nodes"] = json!([0, 2]);
    b.json["extensionsUsed"] = json!(["KHR_animation_pointer"]);
    let pointer = |p: &str| json!({"path": "pointer", "extensions": {"KHR_animation_pointer": {"pointer": p}}});
    for target in [
        json!({"node": 1, "path": "scale"}),
        json!({"node": 2, "path": "scale"}),
        json!({"node": 0, "path": "weights"}),
        json!({"node": 0, "path": "colour"}),
        pointer("/materials/0/emissiveFactor"),
        pointer("/nodes/0/scale"),
    ] {
        b.animation(target, times, vectors, "LINEAR");
    }
    let model = b.load();
    let kept: Vec<_> = model.rig.clips.iter().map(|c| c.channels.len()).collect();
    assert_eq!(kept, [0, 0, 0, 0, 0, 1]);
    let places: Vec<_> = model.warnings.iter().map(|w| &w[..14]).collect();
    assert_eq!(
        places,
        [
            "/animations/1/",
            "/animations/2/",
            "/animations/3/",
            "/animations/4/"
        ]
    );
    b.json["animations"][0]["channels"][0]["target"]["node"] = json!(9);
    assert!(
        b.error()
            .starts_with("/animations/0/channels/0/target/node: there is no node 9")
    );
}

#[test]
fn keys_that_do_not_fit_are_refused_and_those_out_of_order_dropped() {
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
        assert!(
            b.error().starts_with("/animations/0/samplers/0: "),
            "{}",
            b.error()
        );
    }
    let model = clip(
        &[[0.0], [2.0], [2.0], [1.0], [3.0]],
        &[[0.0; 3], [1.0; 3], [2.0; 3], [3.0; 3], [4.0; 3]],
    )
    .load();
    let channel = &model.rig.clips[0].channels[0];
    assert_eq!(channel.times, [0.0, 2.0, 3.0]);
    assert_eq!(channel.values, [[0.0; 3], [1.0; 3], [4.0; 3]].concat());
    assert!(model.warnings[0].contains("times do not rise"));
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
    b.add(
        "skins",
        json!({"joints": [1], "inverseBindMatrices": matrices}),
    );
    let model = b.load();
    let names: Vec<_> = model.rig.nodes.iter().map(|n| n.name.as_str()).collect();
    assert_eq!(names, ["node 0", "root", "joint"]);
    assert_eq!(model.rig.skins[0].joints, [2]);
    assert_eq!(
        model.rig.skins[0].joint_from_mesh,
        [Affine3::from_translation(Vec3::X)]
    );
    assert_eq!(
        model.parts.len(),
        1,
        "what is not in the scene is not rendered"
    );
    assert!(model.warnings[0].contains("not in the scene"));
    b.json["skins"][0]["joints"] = json!([1, 2]);
    assert!(
        b.error()
            .starts_with("/skins/0/inverseBindMatrices: 1 matrices for 2 joints")
    );
}

fn material(b: &mut Builder, json: Value) -> super::PbrMaterial {
    b.json["materials"] = json!([json]);
    b.load().materials.swap_remove(0)
}

#[test]
fn materials_default_to_what_the_specification_says() {
    let m = material(&mut Builder::new(), json!({}));
    let expected = super::PbrMaterial {
        name: "material 0".to_owned(),
        ..Default::default()
    };
    assert_eq!(m, expected);
    assert_eq!((m.metallic, m.roughness, m.ior), (1.0, 1.0, 1.5));
}

#[test]
fn the_core_of_a_material_is_read() {
    let mut b = Builder::new();
    let texture = b.texture(&png(2, 1, [9, 9, 9]));
    let m = material(
        &mut b,
        json!({"name": "paint", "doubleSided": true, "alphaMode": "MASK", "alphaCutoff": 0.25,
        "emissiveFactor": [0, 0.5, 1], "emissiveTexture": {"index": texture},
        "occlusionTexture": {"index": texture, "strength": 0.5, "texCoord": 1},
        "normalTexture": {"index": texture, "scale": -2},
        "pbrMetallicRoughness": {"baseColorFactor": [0.1, 0.2, 0.3, 0.4], "metallicFactor": 0.5,
            "roughnessFactor": 0.75, "baseColorTexture": {"index": texture, "extensions":
                {"KHR_texture_transform": {"offset": [0.5, 0], "texCoord": 1}}},
            "metallicRoughnessTexture": {"index": texture}},
        "extensions": {"KHR_materials_emissive_strength": {"emissiveStrength": 4}, "KHR_materials_unlit": {}}}),
    );
    assert_eq!(
        (m.base_color, m.metallic, m.roughness),
        ([0.1, 0.2, 0.3, 0.4], 0.5, 0.75)
    );
    assert_eq!(
        (m.alpha, m.double_sided, m.unlit),
        (Alpha::Mask(0.25), true, true)
    );
    assert_eq!(m.emissive, [0.0, 2.0, 4.0]);
    let moved = Affine2::from_translation(Vec2::new(0.5, 0.0));
    let reference = |texture, uv_set, transform| {
        Some(TextureRef {
            texture,
            uv_set,
            transform,
        })
    };
    assert_eq!(m.base_color_texture, reference(0, 1, moved));
    assert_eq!(
        m.metallic_roughness_texture,
        reference(1, 0, Affine2::IDENTITY)
    );
    assert_eq!(
        (m.normal_texture, m.normal_scale),
        (reference(1, 0, Affine2::IDENTITY), -2.0)
    );
    assert_eq!(
        (m.occlusion_texture, m.occlusion_strength),
        (reference(1, 1, Affine2::IDENTITY), 0.5)
    );
    assert_eq!(m.emissive_texture, reference(0, 0, Affine2::IDENTITY));
    let textures = b.load().textures;
    assert_eq!(textures.len(), 2, "one for each colour space");
    assert_eq!(
        (textures[0].space, textures[1].space),
        (ColorSpace::Srgb, ColorSpace::Linear)
    );
}

#[test]
fn every_material_extension_is_read() {
    let mut b = Builder::new();
    let t = json!({"index": b.texture(&png(1, 1, [0; 3])), "scale": 0.5});
    let m = material(
        &mut b,
        json!({"extensions": {
        "KHR_materials_ior": {"ior": 1.33}, "KHR_materials_dispersion": {"dispersion": 0.1},
        "KHR_materials_specular": {"specularFactor": 0.5, "specularTexture": t, "specularColorFactor": [2, 1, 0], "specularColorTexture": t},
        "KHR_materials_transmission": {"transmissionFactor": 0.9, "transmissionTexture": t},
        "KHR_materials_diffuse_transmission": {"diffuseTransmissionFactor": 0.3, "diffuseTransmissionTexture": t, "diffuseTransmissionColorFactor": [1, 0, 0], "diffuseTransmissionColorTexture": t},
        "KHR_materials_volume": {"thicknessFactor": 2, "thicknessTexture": t, "attenuationDistance": 3, "attenuationColor": [0, 1, 0]},
        "KHR_materials_clearcoat": {"clearcoatFactor": 0.8, "clearcoatTexture": t, "clearcoatRoughnessFactor": 0.1, "clearcoatRoughnessTexture": t, "clearcoatNormalTexture": t},
        "KHR_materials_sheen": {"sheenColorFactor": [0.1, 0.2, 0.3], "sheenColorTexture": t, "sheenRoughnessFactor": 0.4, "sheenRoughnessTexture": t},
        "KHR_materials_iridescence": {"iridescenceFactor": 1, "iridescenceTexture": t, "iridescenceIor": 1.8, "iridescenceThicknessMinimum": 50, "iridescenceThicknessMaximum": 500, "iridescenceThicknessTexture": t},
        "KHR_materials_anisotropy": {"anisotropyStrength": 0.6, "anisotropyRotation": 1.5, "anisotropyTexture": t}}}),
    );
    assert_eq!((m.ior, m.dispersion), (1.33, 0.1));
    let specular = m.specular.expect("specular");
    assert_eq!((specular.factor, specular.color), (0.5, [2.0, 1.0, 0.0]));
    assert_eq!(m.transmission.expect("transmission").factor, 0.9);
    assert_eq!(
        m.diffuse_transmission.expect("diffuse transmission").color,
        [1.0, 0.0, 0.0]
    );
    let volume = m.volume.expect("volume");
    assert_eq!((volume.thickness, volume.attenuation_distance), (2.0, 3.0));
    let coat = m.clearcoat.expect("clearcoat");
    assert_eq!(
        (coat.factor, coat.roughness, coat.normal_scale),
        (0.8, 0.1, 0.5)
    );
    assert_eq!(m.sheen.expect("sheen").roughness, 0.4);
    let iridescence = m.iridescence.expect("iridescence");
    assert_eq!(
        (iridescence.thickness_min, iridescence.thickness_max),
        (50.0, 500.0)
    );
    let anisotropy = m.anisotropy.expect("anisotropy");
    assert_eq!((anisotropy.strength, anisotropy.rotation), (0.6, 1.5));
    assert!(anisotropy.texture.is_some() && coat.normal_texture.is_some());
    let empty =
        json!({"extensions": {"KHR_materials_volume": {}, "KHR_materials_iridescence": {}}});
    let m = material(&mut Builder::new(), empty);
    assert_eq!(
        m.volume.expect("volume").attenuation_distance,
        f32::INFINITY
    );
    assert_eq!(m.iridescence.expect("iridescence").ior, 1.3);
}

#[test]
fn numbers_out_of_range_are_clamped_and_wrong_types_refused() {
    let mut b = Builder::new();
    b.json["materials"] = json!([{"pbrMetallicRoughness": {"metallicFactor": 7}}]);
    let model = b.load();
    assert_eq!(model.materials[0].metallic, 1.0);
    assert_eq!(
        model.warnings,
        ["/materials/0/pbrMetallicRoughness/metallicFactor: 7 is out of range; 1 is used"]
    );
    for (json, expected) in [
        (
            json!({"extensions": {"KHR_materials_sheen": {"sheenRoughnessFactor": "much"}}}),
            "/materials/0/extensions/KHR_materials_sheen: invalid type",
        ),
        (
            json!({"extensions": {"KHR_materials_clearcoat": {"clearcoatTexture": {"index": 3}}}}),
            "/materials/0/extensions/KHR_materials_clearcoat: there is no texture 3",
        ),
        (
            json!({"extensions": {"KHR_materials_ior": {"ior": 1e39}}}),
            "/materials/0/extensions/KHR_materials_ior/ior: the number must be finite",
        ),
        (
            json!({"alphaMode": "GHOST"}),
            "/materials/0/alphaMode: unknown",
        ),
        (
            json!({"doubleSided": 1}),
            "/materials/0/doubleSided: invalid type",
        ),
        (
            json!({"normalTexture": {}}),
            "/materials/0/normalTexture: missing field `index`",
        ),
    ] {
        b.json["materials"] = json!([json]);
        assert!(b.error().starts_with(expected), "{}", b.error());
    }
}

#[test]
fn variants_change_materials_when_chosen() {
    let mut b = Builder::triangle();
    b.json["extensions"] =
        json!({"KHR_materials_variants": {"variants": [{"name": "red"}, {"name": "blue"}]}});
    b.json["materials"] = json!([{}, {}, {}]);
    b.primitive()["material"] = json!(0);
    b.primitive()["extensions"] = json!({"KHR_materials_variants": {"mappings": [
        {"material": 2, "variants": [1]}, {"material": 1, "variants": [0]}]}});
    let choose = |name: &str| GltfOptions {
        variant: Some(name.to_owned()),
        ..GltfOptions::default()
    };
    let model = b.load();
    assert_eq!((model.variants.len(), model.meshes[0].material), (2, 0));
    assert_eq!(model.meshes[0].variants, [(1, 2), (0, 1)]);
    assert_eq!(b.load_with(&choose("blue")).meshes[0].material, 2);
    let error = b.error_with(&choose("blu"));
    assert!(
        error.ends_with("there is no variant `blu`: did you mean `blue`?"),
        "{error}"
    );
    b.primitive()["extensions"]["KHR_materials_variants"]["mappings"][0]["material"] = json!(3);
    assert!(
        b.error()
            .ends_with("there is no variant 1 or no material 3")
    );
}

#[test]
fn textures_are_shared_by_picture_sampling_and_colour_space() {
    let mut b = Builder::new();
    let first = b.texture(&png(3, 2, [10, 20, 30]));
    b.add(
        "samplers",
        json!({"wrapS": 33071, "wrapT": 33648, "magFilter": 9728}),
    );
    let clamped = b.add("textures", json!({"source": 0, "sampler": 0}));
    let again = b.add("textures", json!({"source": 0}));
    let base = |t: usize| json!({"pbrMetallicRoughness": {"baseColorTexture": {"index": t}}});
    b.json["materials"] = json!([base(first), base(clamped), base(again)]);
    let model = b.load();
    let used: Vec<_> = model
        .materials
        .iter()
        .map(|m| m.base_color_texture.map(|t| t.texture))
        .collect();
    assert_eq!(used, [Some(0), Some(1), Some(0)]);
    let t = &model.textures[1];
    assert_eq!(
        (t.wrap_s, t.wrap_t, t.nearest),
        (Wrap::Clamp, Wrap::Mirror, true)
    );
    assert_eq!((t.width, t.height, t.texels.len()), (3, 2, 6));
    assert_eq!(model.textures[0].texels, [[10, 20, 30, 255]; 6]);
    assert!(model.warnings[0].starts_with("/textures/1: wrapping differs"));
    let texture = model.textures[0].clone().into_texture();
    assert_eq!(texture.texels, Texels::Srgb8(vec![[10, 20, 30, 255]; 6]));
}

#[test]
fn jpeg_and_webp_are_told_by_content() {
    for format in [ImageFormat::Jpeg, ImageFormat::WebP, ImageFormat::Png] {
        let mut b = Builder::new();
        let texture = b.texture(&encoded(8, 8, [200, 200, 200], format));
        b.json["materials"] = json!([{"emissiveTexture": {"index": texture}}]);
        let t = &b.load().textures[0];
        assert!(
            t.texels[0][..3].iter().all(|x| x.abs_diff(200) < 4),
            "{format:?}"
        );
    }
}

#[test]
fn ktx2_is_refused_unless_there_is_another_picture() {
    let mut b = Builder::new();
    b.json["extensionsUsed"] = json!(["KHR_texture_basisu", "EXT_texture_webp"]);
    let view = b.view(b"\xabKTX 20\xbb\r\n\x1a\n");
    let ktx = b.add(
        "images",
        json!({"bufferView": view, "mimeType": "image/ktx2"}),
    );
    let texture = b.add(
        "textures",
        json!({"extensions": {"KHR_texture_basisu": {"source": ktx}}}),
    );
    b.json["materials"] = json!([{"emissiveTexture": {"index": texture}}]);
    assert!(
        b.error()
            .starts_with("/images/0: KTX2 pictures are not supported: convert it to PNG")
    );
    let other = b.texture(&png(1, 1, [1, 2, 3]));
    b.json["textures"][texture]["source"] = json!(b.json["textures"][other]["source"]);
    assert_eq!(b.load().textures[0].texels, [[1, 2, 3, 255]]);
    b.json["textures"][texture] = json!({"extensions": {"EXT_texture_webp": {"source": 1}}});
    assert_eq!(b.load().textures[0].texels, [[1, 2, 3, 255]]);
    b.json["textures"][texture] = json!({});
    let model = b.load();
    assert_eq!(model.materials[0].emissive_texture, None);
    b.json["extensionsRequired"] = json!(["KHR_texture_basisu"]);
    assert!(b.error().contains("convert the textures from KTX2"));
}

#[test]
fn damaged_and_oversized_pictures_are_refused_by_place() {
    let mut b = Builder::new();
    let mut picture = png(64, 64, [1, 2, 3]);
    picture.truncate(60);
    let texture = b.texture(&picture);
    b.json["materials"] = json!([{"emissiveTexture": {"index": texture}}]);
    assert!(b.error().starts_with("/images/0: the picture is damaged"));
    let mut b = Builder::new();
    let texture = b.texture(&png(2000, 2000, [1, 2, 3]));
    b.json["materials"] = json!([{"emissiveTexture": {"index": texture}}]);
    let options = GltfOptions {
        memory_limit: Some(20 << 20),
        ..GltfOptions::default()
    };
    let error = b.error_with(&options);
    assert!(
        error.starts_with("/images/0: the picture needs 50 MiB"),
        "{error}"
    );
}

#[test]
fn buffers_and_pictures_are_read_from_the_files_folder_only() {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(dir.path().join("model")).expect("a folder");
    let mut b = Builder::triangle();
    b.json["buffers"] = json!([{"byteLength": b.bin.len(), "uri": "my%20data.bin"}]);
    b.json["images"] = json!([{"uri": "../colour.png"}]);
    b.json["textures"] = json!([{"source": 0}]);
    b.json["materials"] = json!([{"emissiveTexture": {"index": 0}}]);
    let path = dir.path().join("model/a.gltf");
    std::fs::write(&path, b.json.to_string()).expect("writes");
    let error = |options: &GltfOptions| match load_model(&path, options) {
        Ok(_) => panic!("loading should have failed"),
        Err(e) => e.to_string(),
    };
    let strict = GltfOptions::default();
    assert!(error(&strict).ends_with(
        "a.gltf: /buffers/0/uri: `my%20data.bin`: no such file: put it beside the model"
    ));
    std::fs::write(dir.path().join("model/my data.bin"), &b.bin).expect("writes");
    std::fs::write(dir.path().join("colour.png"), png(1, 1, [5; 3])).expect("writes");
    assert!(error(&strict).contains("/images/0/uri: `../colour.png` leads out"));
    let open = GltfOptions {
        allow_dirs: vec![dir.path().to_owned()],
        ..GltfOptions::default()
    };
    let model = load_model(&path, &open).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(model.textures[0].name, "../colour.png");
    assert_eq!(model.meshes[0].mesh.triangles.len(), 1);
}

#[test]
fn an_error_is_one_line_however_odd_the_names() {
    let mut b = Builder::new();
    b.json["extensionsRequired"] = json!(["A\nB\u{1b}[2J"]);
    assert_eq!(b.error().lines().count(), 1);
    assert!(!b.error().contains('\u{1b}'));
}
