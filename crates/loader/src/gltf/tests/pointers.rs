//! Tests of tracks for animation pointers.

use super::builder::*;
use glam::{Vec2, Vec3};
use serde_json::{Value, json};
use throng_scene::{
    animated::{CameraValue, LightValue, MapUse, MaterialValue, PlaceValue, Target, TexturePlace},
    rig::{Interpolation, Property},
};

fn pointer(to: &str) -> Value {
    json!({"path": "pointer", "extensions": {"KHR_animation_pointer": {"pointer": to}}})
}

/// Two materials, the second with a texture; two lights, and a camera of each kind.
fn file() -> Builder {
    let mut b = Builder::triangle();
    let texture = b.texture(&png(1, 1, [9, 9, 9]));
    let place = json!({"KHR_texture_transform": {"offset": [0.25, 0.5], "rotation": 0.5}});
    b.add("materials", json!({}));
    b.add(
        "materials",
        json!({
            "emissiveFactor": [1, 0.5, 0],
            "pbrMetallicRoughness": {"baseColorTexture": {"index": texture, "extensions": place}},
            "extensions": {
                "KHR_materials_emissive_strength": {"emissiveStrength": 4.0},
                "KHR_materials_volume": {"attenuationDistance": 2.0, "attenuationColor": [1, 0.5, 1]},
            },
        }),
    );
    b.json["extensions"]["KHR_lights_punctual"] = json!({"lights": [{"type": "point"}, {"type": "spot"}]});
    let perspective = json!({"yfov": 0.5, "znear": 0.1});
    b.add("cameras", json!({"type": "perspective", "perspective": perspective}));
    let orthographic = json!({"xmag": 3, "ymag": 2, "znear": 0.1, "zfar": 9});
    b.add("cameras", json!({"type": "orthographic", "orthographic": orthographic}));
    b
}

/// Adds a clip with one key.
fn animated(b: &mut Builder, to: &str, width: usize) {
    let times = b.floats(&[[0.5]]);
    let values = match width {
        1 => b.floats(&[[1.0]]),
        2 => b.floats(&[[1.0; 2]]),
        3 => b.floats(&[[1.0; 3]]),
        _ => b.floats(&[[1.0; 4]]),
    };
    b.animation(pointer(to), times, values, "STEP");
}

fn base_color() -> MapUse {
    MapUse::at("pbrMetallicRoughness/baseColorTexture").expect("a use")
}

#[test]
fn pointers_name_factors_places_lights_and_cameras() {
    let (mut b, mut expected) = (file(), Vec::new());
    let of_first = |value| Target::Material { material: 0, value };
    for to in [
        "pbrMetallicRoughness/baseColorFactor",
        "alphaCutoff",
        "normalTexture/scale",
        "extensions/KHR_materials_ior/ior",
        "extensions/KHR_materials_sheen/sheenColorFactor",
    ] {
        let value = MaterialValue::at(to).expect("a value");
        expected.push((format!("/materials/0/{to}"), of_first(value)));
    }
    let place = "pbrMetallicRoughness/baseColorTexture/extensions/KHR_texture_transform";
    for (part, value) in
        [("offset", PlaceValue::Offset), ("rotation", PlaceValue::Rotation), ("scale", PlaceValue::Scale)]
    {
        let (material, map) = (1, base_color());
        let target = Target::Place { material, map, value };
        expected.push((format!("/materials/1/{place}/{part}"), target));
    }
    for (part, value) in [
        ("color", LightValue::Color),
        ("intensity", LightValue::Intensity),
        ("range", LightValue::Range),
        ("spot/innerConeAngle", LightValue::InnerConeAngle),
        ("spot/outerConeAngle", LightValue::OuterConeAngle),
    ] {
        let to = format!("/extensions/KHR_lights_punctual/lights/1/{part}");
        expected.push((to, Target::Light { light: 1, value }));
    }
    for (camera, part, value) in
        [(0, "perspective/yfov", CameraValue::FovY), (1, "orthographic/ymag", CameraValue::HalfHeight)]
    {
        let to = format!("/cameras/{camera}/{part}");
        expected.push((to, Target::Camera { camera, value }));
    }
    for (to, target) in &expected {
        animated(&mut b, to, target.components());
    }
    let model = b.load();
    assert!(model.warnings.is_empty(), "{:?}", model.warnings);
    for (clip, (to, target)) in model.rig.clips.iter().zip(&expected) {
        assert_eq!((clip.tracks.len(), clip.duration), (1, 0.5), "{to}");
        assert_eq!(clip.tracks[0].target, *target, "{to}");
        assert_eq!(clip.tracks[0].interpolation, Interpolation::Step);
        assert_eq!(clip.tracks[0].values.len(), target.components(), "{to}");
    }
}

#[test]
fn tracks_start_from_what_the_file_has() {
    let mut b = file();
    animated(&mut b, "/materials/0/emissiveFactor", 3);
    let place = "pbrMetallicRoughness/baseColorTexture/extensions/KHR_texture_transform";
    animated(&mut b, &format!("/materials/1/{place}/scale"), 2);
    let bases = b.load().animated_materials;
    assert_eq!([bases[0].material, bases[1].material], [0, 1]);
    assert_eq!((bases[0].emissive, bases[0].emissive_strength), (Vec3::ZERO, 1.0));
    assert_eq!(bases[0].attenuation_distance, f32::INFINITY);
    assert!(bases[0].places.is_empty());
    assert_eq!(bases[1].emissive, Vec3::new(1.0, 0.5, 0.0));
    assert_eq!(bases[1].emissive_strength, 4.0);
    assert_eq!(bases[1].attenuation_color, Vec3::new(1.0, 0.5, 1.0));
    assert_eq!(bases[1].attenuation_distance, 2.0);
    let place = TexturePlace { offset: Vec2::new(0.25, 0.5), rotation: 0.5, scale: Vec2::ONE };
    assert_eq!(bases[1].places, [(base_color(), place)]);
}

#[test]
fn what_cannot_be_animated_is_told_once_each_by_its_pointer() {
    let unknown = [
        "/materials/0/occlusionTexture/strength",
        "/materials/0/extensions/EXT_new/factor",
        "/materials/first/alphaCutoff",
        "/materials/0/occlusionTexture/extensions/KHR_texture_transform/offset",
        "/extensions/KHR_lights_punctual/lights/0/type",
        "/cameras/0/perspective/zfar",
        "/nodes/0/extensions/KHR_node_visibility/hidden",
        "materials/0/alphaCutoff",
    ];
    let mut b = file();
    unknown.iter().for_each(|to| animated(&mut b, to, 1));
    let model = b.load();
    assert_eq!(model.warnings.len(), unknown.len(), "{:?}", model.warnings);
    for (clip, to) in model.rig.clips.iter().zip(unknown) {
        assert!(clip.tracks.is_empty());
        let named = |w: &&String| w.contains(&format!("`{to}`"));
        assert_eq!(model.warnings.iter().filter(named).count(), 1, "{to}");
    }
}

#[test]
fn pointers_to_what_is_not_there_and_keys_that_do_not_fit_make_a_faulty_clip() {
    let told = |to: &str, width: usize| {
        let mut b = file();
        animated(&mut b, to, width);
        let clip = b.load().rig.clips.remove(0);
        assert!(clip.tracks.is_empty() && clip.playable().is_err());
        clip.fault.unwrap_or_default()
    };
    let target = "/animations/0/channels/0/target/extensions/KHR_animation_pointer/pointer";
    for (to, what) in [
        ("/materials/2/alphaCutoff", "material 2"),
        ("/cameras/7/perspective/yfov", "camera 7"),
        ("/extensions/KHR_lights_punctual/lights/2/intensity", "light 2"),
    ] {
        let error = told(to, 1);
        assert!(error.starts_with(target) && error.contains(what), "{error}");
    }
    let error = told("/materials/0/emissiveFactor", 4);
    assert!(error.contains("elements have 4 components"), "{error}");
}

#[test]
fn a_second_channel_of_a_pointer_is_ignored() {
    let mut b = file();
    animated(&mut b, "/materials/0/alphaCutoff", 1);
    let again = b.json["animations"][0]["channels"][0].clone();
    b.json["animations"][0]["channels"] = json!([again, again]);
    let model = b.load();
    assert_eq!(model.rig.clips[0].tracks.len(), 1);
    assert!(model.warnings[0].contains("an earlier channel drives the same property"));
}

/// A mesh below a hidden node, which a clip shows for half a second.
pub fn blinking(mode: &str) -> Builder {
    let mut b = Builder::triangle();
    let hidden = json!({"KHR_node_visibility": {"visible": false}});
    b.json["nodes"] = json!([{"children": [1], "extensions": hidden}, {"mesh": 0}]);
    let times = b.floats(&[[0.0], [0.5], [1.0]]);
    let values = b.accessor(U8, "SCALAR", &[1u8, 0, 0]);
    b.animation(pointer("/nodes/0/extensions/KHR_node_visibility/visible"), times, values, mode);
    b
}

#[test]
fn visibility_changes_in_steps() {
    for (mode, warnings) in [("STEP", 0), ("LINEAR", 1)] {
        let model = blinking(mode).load();
        let channel = &model.rig.clips[0].channels[0];
        assert_eq!((channel.node, channel.property), (0, Property::Visibility));
        assert_eq!((channel.interpolation, &channel.values[..]), (Interpolation::Step, &[1.0, 0.0, 0.0][..]));
        assert_eq!((model.rig.nodes[0].visible, model.rig.nodes[1].visible), (false, true));
        assert_eq!((model.parts.len(), model.warnings.len()), (1, warnings), "{:?}", model.warnings);
    }
}

#[test]
fn nodes_that_nothing_ever_shows_are_not_read() {
    let mut b = blinking("STEP");
    b.json["animations"] = json!([]);
    let model = b.load();
    assert!(model.parts.is_empty() && model.meshes.is_empty());
    let mut b = blinking("STEP");
    let target = &mut b.json["animations"][0]["channels"][0]["target"];
    *target = pointer("/nodes/7/extensions/KHR_node_visibility/visible");
    let place = "/animations/0/channels/0/target/extensions/KHR_animation_pointer/pointer";
    b.warned(&format!("{place}: there is no node 7: the file has 2; the animation `animation 0` is left out"));
}
