//! Tests of scenes from small glTF files.

use super::gltf::{Choices, scene_of};
use crate::{
    LoadOptions,
    gltf::tests::{builder::*, environment::colored, pointers::blinking},
    options::{CameraChoice, EnvironmentChoice},
};
use glam::{Affine3, Vec3};
use serde_json::json;
use std::path::Path;
use throng_scene::anim::{
    Deformed, Moment, camera_at, camera_pose, posed_tables, shape, shown_instances, world_transforms,
};
use throng_scene::{
    Anchor, CameraPath, Environment, Light, MaterialKind, Metering, NONE, Projection, Scene, Shape,
    rig::{Appearance, RigNodeRef, ShownBy},
};

fn load(builder: &Builder, options: &LoadOptions) -> Result<Option<Scene>, String> {
    let model = builder.load();
    let choices = Choices::new(&model, options)?;
    scene_of(Path::new("a.glb"), model, &choices, options).map_err(|e| e.to_string())
}

fn scene_with(builder: &Builder, options: &LoadOptions) -> Scene {
    let scene = load(builder, options).unwrap_or_else(|e| panic!("{e}"));
    scene.expect("there is something to see")
}

fn scene(builder: &Builder) -> Scene {
    scene_with(builder, &LoadOptions::default())
}

fn playing(name: &str) -> LoadOptions {
    let mut options = LoadOptions::default();
    options.model.animation.clips = vec![name.to_owned()];
    options
}

fn positions(scene: &Scene, mesh: usize) -> &[[f32; 3]] {
    match &scene.meshes[mesh].shape {
        Shape::Triangles(triangles) => &triangles.positions,
        _ => &[],
    }
}

#[test]
fn nodes_that_share_a_mesh_are_instances_of_it_on_a_ground() {
    let mut b = Builder::triangle();
    b.json["nodes"] = json!([
        {"mesh": 0, "translation": [0, 3, 0], "children": [1]},
        {"mesh": 0, "scale": [2, 2, 2]},
    ]);
    let scene = scene(&b);
    assert_eq!((scene.meshes.len(), scene.instances.len()), (2, 3));
    assert_eq!(scene.meshes[1].name, "ground");
    let corner = |i: usize| scene.instances[i].local.transform_point3(Vec3::X);
    assert_eq!(corner(0), Vec3::new(1.0, 3.0, 0.0));
    assert_eq!(corner(1), Vec3::new(2.0, 3.0, 0.0));
    assert!(scene.warnings.is_empty(), "{:?}", scene.warnings);
}

#[test]
fn base_colours_and_emission_become_materials() {
    let mut b = Builder::triangle();
    let texture = b.texture(&png(2, 2, [10, 20, 30]));
    b.add(
        "materials",
        json!({
            "emissiveFactor": [0.5, 0, 0],
            "pbrMetallicRoughness": {"baseColorFactor": [0.25, 0.5, 1, 1], "baseColorTexture": {"index": texture}},
        }),
    );
    let coordinates = b.floats(&[[0.0, 0.0], [1.0, 0.0], [0.0, 0.25]]);
    b.primitive()["material"] = json!(0);
    b.primitive()["attributes"]["TEXCOORD_0"] = json!(coordinates);
    let scene = scene(&b);
    let row = scene.material_slots[scene.instances[0].slot_base as usize];
    let material = scene.materials[row as usize];
    assert_eq!(material.kind, MaterialKind::Layered);
    assert_eq!(material.color, Vec3::new(0.25, 0.5, 1.0));
    assert_eq!(material.emission, Vec3::new(0.5, 0.0, 0.0));
    let map = scene.maps[material.color_map as usize];
    assert_eq!((map.texture, scene.textures.len()), (0, 1));
    let Shape::Triangles(triangles) = &scene.meshes[0].shape else { panic!("a mesh of triangles") };
    // Here, v increases from the bottom; in the file, from the top.
    assert_eq!(triangles.uvs, [[0.0, 1.0], [1.0, 1.0], [0.0, 0.75]]);
}

#[test]
fn unlit_surfaces_shine_and_others_have_layers() {
    for (material, kind, emission) in [
        (json!({"extensions": {"KHR_materials_unlit": {}}}), MaterialKind::Diffuse, Vec3::ONE),
        (
            json!({"pbrMetallicRoughness": {"metallicFactor": 1, "roughnessFactor": 0}}),
            MaterialKind::Layered,
            Vec3::ZERO,
        ),
    ] {
        let mut b = Builder::triangle();
        b.json["extensionsUsed"] = json!(["KHR_materials_unlit"]);
        b.add("materials", material);
        b.primitive()["material"] = json!(0);
        let scene = scene(&b);
        let row = scene.material_slots[scene.instances[0].slot_base as usize];
        let material = scene.materials[row as usize];
        assert_eq!((material.kind, material.emission), (kind, emission));
    }
}

#[test]
fn morph_weights_at_rest_shape_the_mesh() {
    let mut b = Builder::triangle();
    let offsets = b.floats(&[[0.0, 0.0, 4.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]);
    b.primitive()["targets"] = json!([{"POSITION": offsets}]);
    b.json["meshes"][0]["weights"] = json!([0.5]);
    assert_eq!(positions(&scene(&b), 0)[0], [0.0, 0.0, 2.0]);
}

#[test]
fn a_skinned_mesh_stands_where_its_joint_does() {
    let mut b = Builder::triangle();
    let joints = b.accessor(U8, "VEC4", &[[0u8, 0, 0, 0]; 3]);
    let weights = b.floats(&[[1.0, 0.0, 0.0, 0.0]; 3]);
    b.primitive()["attributes"]["JOINTS_0"] = json!(joints);
    b.primitive()["attributes"]["WEIGHTS_0"] = json!(weights);
    b.json["nodes"] = json!([
        {"mesh": 0, "skin": 0, "translation": [9, 9, 9]},
        {"translation": [0, 0, 5]},
    ]);
    b.json["scenes"][0]["nodes"] = json!([0, 1]);
    b.add("skins", json!({"joints": [1]}));
    let scene = scene(&b);
    assert_eq!(positions(&scene, 0)[1], [1.0, 0.0, 5.0]);
    assert_eq!(scene.instances[0].local, Affine3::IDENTITY);
}

#[test]
fn an_empty_file_is_nothing() {
    assert!(load(&Builder::new(), &LoadOptions::default()).unwrap().is_none());
}

/// Two nodes with one triangle, the second below the first, and a separate node. `Rise` lifts the first by 4 within two seconds.
fn rising() -> Builder {
    let mut b = Builder::triangle();
    b.json["nodes"] = json!([
        {"mesh": 0, "children": [1]},
        {"mesh": 0, "translation": [0, 0, 3]},
        {"mesh": 0, "translation": [5, 0, 0]},
    ]);
    b.json["scenes"][0]["nodes"] = json!([0, 2]);
    let times = b.floats(&[[0.0], [2.0]]);
    let places = b.floats(&[[0.0, 0.0, 0.0], [0.0, 4.0, 0.0]]);
    let target = json!({"node": 0, "path": "translation"});
    b.animation(target, times, places, "LINEAR");
    b.json["animations"][0]["name"] = json!("Rise");
    b
}

#[test]
fn nodes_that_a_clip_moves_share_their_mesh_and_the_rest_stands_still() {
    let scene = scene_with(&rising(), &playing("Rise"));
    assert_eq!((scene.meshes.len(), scene.actors.len()), (2, 1));
    let nodes: Vec<u32> = scene.instances.iter().map(|i| i.node).collect();
    // The model has its nodes level by level.
    assert_eq!(nodes, [0, NONE, 1, NONE]);
    let mut worlds = Vec::new();
    world_transforms(&scene, &Moment::of(&scene, 1.0), &mut worlds);
    let places: Vec<Vec3> = worlds.iter().map(|w| w.translation).collect();
    let expected = [[0.0, 2.0, 0.0], [5.0, 0.0, 0.0], [0.0, 2.0, 3.0]].map(Vec3::from);
    assert_eq!(places[..3], expected);
}

#[test]
fn a_clip_is_shown_once_round_from_one_place_and_all_of_it_is_in_the_picture() {
    let scene = scene_with(&rising(), &playing("0"));
    assert_eq!(scene.settings.frames, 48);
    let pose = camera_at(&scene, &Moment::of(&scene, 0.0));
    assert_eq!(pose, camera_at(&scene, &Moment::of(&scene, 1.9)));
    let (forward, right, up) = pose.basis();
    let slope = match pose.projection {
        Projection::Perspective { fov_y } => (fov_y * 0.5).tan(),
        other => panic!("{other:?}"),
    };
    let corners = [
        [0.0, 0.0, 0.0],
        [0.0, 4.9, 0.0],
        [0.0, 0.0, 3.0],
        [1.0, 3.9, 3.0],
        [0.0, 4.9, 3.0],
        [6.0, 0.0, 0.0],
        [5.0, 1.0, 0.0],
    ];
    for corner in corners {
        let p = Vec3::from(corner) - pose.eye;
        let edge = forward.dot(p) * slope;
        assert!(up.dot(p).abs() < edge && right.dot(p).abs() < edge * 4.0 / 3.0);
    }
}

#[test]
fn at_rest_a_note_names_the_clips_and_a_turntable_turns() {
    let scene = scene(&rising());
    assert!(scene.actors.is_empty() && scene.nodes.is_empty());
    assert_eq!(scene.notes, ["shown at rest; --animation NAME plays one of its animations: Rise (2.00 s)"]);
    assert_eq!(scene.settings.frames, 72);
    assert!(scene.warnings.is_empty(), "{:?}", scene.warnings);
}

#[test]
fn a_turntable_around_a_clip_takes_whole_rounds_and_counts_from_its_first_frame() {
    let mut options = playing("Rise");
    options.model.camera = Some(CameraChoice::Turntable);
    options.start = Some(0.5);
    let turning = scene_with(&rising(), &options);
    assert_eq!(turning.settings.frames, 96);
    let at_rest = scene(&rising());
    let CameraPath::Orbit { start, .. } = turning.camera.path else { panic!("{:?}", turning.camera) };
    assert!(matches!(at_rest.camera.path, CameraPath::Orbit { start: s, .. } if s == start));
    let first = camera_at(&turning, &Moment::of(&turning, turning.time_of(1)));
    let angle = (first.eye - first.target).x.atan2((first.eye - first.target).z);
    assert!((angle - start).abs() < 1e-4, "{angle}");
}

#[test]
fn the_number_of_frames_of_a_clip_is_known_before_its_scene_is_loaded() {
    let bull = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/bull.glb"));
    let all = || playing("all");
    let (mut turning, mut frozen, mut once, mut timed) = (all(), all(), all(), all());
    turning.model.camera = Some(CameraChoice::Turntable);
    frozen.model.animation.speed = 0.0;
    once.model.animation.once = true;
    timed.model.stage.duration = Some(0.5);
    for options in [all(), turning, frozen, once, timed] {
        for single in super::gltf::singles(bull, &options).unwrap_or_else(|e| panic!("{e}")) {
            let mut own = options.clone();
            own.model.animation.clips = vec![single.choice];
            let scene = super::gltf::load(bull, &own, |_| ()).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(single.frames, scene.settings.frames, "{}", single.label);
        }
    }
}

#[test]
fn a_frozen_clip_is_a_pose_at_rest() {
    let mut options = playing("Rise");
    options.model.animation.speed = 0.0;
    options.model.animation.offset = Some(0.5);
    let scene = scene_with(&rising(), &options);
    assert!(scene.actors.is_empty());
    assert_eq!(scene.instances[0].local.translation, Vec3::Y);
    assert_eq!(scene.settings.frames, 72);
}

#[test]
fn weights_and_joints_that_a_clip_drives_deform_meshes_of_their_own() {
    let mut b = rising();
    let offsets = b.floats(&[[0.0, 0.0, 4.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]);
    b.primitive()["targets"] = json!([{"POSITION": offsets}]);
    let times = b.floats(&[[0.0], [2.0]]);
    let weights = b.floats(&[[0.0], [1.0]]);
    let target = json!({"node": 2, "path": "weights"});
    b.animation(target, times, weights, "LINEAR");
    b.json["animations"][1]["name"] = json!("Swell");
    let scene = scene_with(&b, &playing("Swell"));
    // The two static parts share a mesh, the other has its own, and the ground is last.
    assert_eq!((scene.meshes.len(), scene.deforming.len()), (3, 1));
    let deforming = &scene.deforming[0];
    assert_eq!(deforming.mesh, scene.instances[1].mesh);
    let piece = &deforming.pieces[0];
    assert_eq!((piece.node, piece.placed, piece.vertex_count), (1, false, 3));
    // At the last frame it extends to almost 4 towards +Z, beyond the 3 of the static parts; the ground takes this into account.
    let ground = scene.instances[3].local.translation;
    assert!((1.9..2.0).contains(&ground.z), "{ground}");
}

#[test]
fn cameras_of_the_file_are_chosen_by_name_and_follow_their_node() {
    let mut b = rising();
    b.add("cameras", json!({"type": "perspective", "name": "Eye", "perspective": {"yfov": 0.5, "znear": 0.1}}));
    b.add(
        "cameras",
        json!({"type": "orthographic", "name": "Plan",
        "orthographic": {"xmag": 3, "ymag": 2, "znear": 0.1, "zfar": 9}}),
    );
    b.json["nodes"][1]["camera"] = json!(0);
    b.json["nodes"][2]["camera"] = json!(1);
    let with = |camera: &str| {
        let mut options = playing("Rise");
        options.model.camera = Some(CameraChoice::Of(camera.to_owned()));
        load(&b, &options)
    };
    let eye = with("Eye").unwrap().unwrap();
    let pose = camera_at(&eye, &Moment::of(&eye, 1.0));
    assert_eq!(pose.eye, Vec3::new(0.0, 2.0, 3.0));
    assert_eq!(pose.basis().0, Vec3::NEG_Z);
    assert_eq!(pose.projection, Projection::Perspective { fov_y: 0.5 });
    assert_eq!(eye.settings.frames, 48);
    let plan = with("1").unwrap().unwrap();
    let pose = camera_at(&plan, &Moment::of(&plan, 1.0));
    assert_eq!(pose.eye, Vec3::new(5.0, 0.0, 0.0));
    assert_eq!(pose.projection, Projection::Orthographic { height: 4.0 });
    let [(_, own), (_, other)] = &eye.viewpoints[..] else { panic!("{:?}", eye.viewpoints) };
    let moment = Moment::of(&eye, 1.0);
    assert_eq!(camera_pose(&eye, own, &moment), camera_at(&eye, &moment));
    assert_eq!(camera_pose(&eye, other, &moment), pose);
    let error = with("Eyes").unwrap_err();
    assert_eq!(error, "there is no camera `Eyes`: did you mean `Eye`? the cameras are Eye, Plan");
}

#[test]
fn lights_of_the_file_shine_where_they_stand_in_place_of_the_sun() {
    let mut b = rising();
    b.json["extensionsUsed"] = json!(["KHR_lights_punctual"]);
    b.json["extensions"]["KHR_lights_punctual"] = json!({"lights": [
        {"type": "directional", "intensity": 3.0},
        {"type": "point", "color": [1, 0.5, 0], "intensity": 8.0},
        {"type": "spot", "name": "Beam"},
    ]});
    for (node, light) in [(2, 0), (1, 1), (0, 2)] {
        b.json["nodes"][node]["extensions"]["KHR_lights_punctual"] = json!({"light": light});
    }
    let lit = scene_with(&b, &playing("Rise"));
    let sun = Light::Sun { direction: Vec3::Z, irradiance: Vec3::splat(3.0), angular_radius: 0.0 };
    let lamp = Light::Point { position: Vec3::new(0.0, 0.0, 3.0), intensity: Vec3::new(8.0, 4.0, 0.0), range: None };
    let beam = Light::Spot {
        position: Vec3::ZERO,
        direction: Vec3::NEG_Z,
        intensity: Vec3::ONE,
        inner: 0.0,
        outer: std::f32::consts::FRAC_PI_4,
        radius: 0.0,
        range: None,
    };
    for light in [sun, lamp, beam] {
        assert!(lit.lights.contains(&light), "{light:?}");
    }
    assert_eq!(lit.lights.len(), 3);
    assert!(matches!(lit.environment, Environment::Constant { radiance } if radiance.x < 0.1));
    assert_eq!(lit.warnings, Vec::<String>::new());
    let later = posed_tables(&lit, &Moment::of(&lit, 1.0)).expect("a light moves");
    let moved = |light: &Light| matches!(light, Light::Point { position, .. } if *position == Vec3::new(0.0, 2.0, 3.0));
    assert!(later.lights.iter().any(moved), "{:?}", later.lights);
    let mut options = playing("Rise");
    options.model.environment = Some(EnvironmentChoice::Sky);
    assert_eq!(scene_with(&b, &options).lights.len(), 4);
}

#[test]
fn a_studios_horizon_is_as_bright_as_its_ground() {
    let mut options = LoadOptions::default();
    options.model.environment = Some(EnvironmentChoice::Studio);
    let scene = scene_with(&rising(), &options);
    let Environment::Gradient { zenith, horizon, .. } = scene.environment else { panic!("{:?}", scene.environment) };
    let direct = scene.lights.iter().map(|light| match light {
        Light::Sun { direction, irradiance, .. } => *irradiance * direction.y,
        other => panic!("{other:?} in a studio"),
    });
    let rings = (0..1000).map(|i| {
        let y = (i as f32 + 0.5) / 1000.0;
        horizon.lerp(zenith, y) * (std::f32::consts::TAU * y / 1000.0)
    });
    let irradiance: Vec3 = direct.chain(rings).sum();
    let ground = scene.meshes.last().and_then(|mesh| mesh.triangles()).and_then(|mesh| mesh.colors.last()).unwrap();
    let ground = irradiance * Vec3::from_slice(ground) / std::f32::consts::PI;
    assert!(ground.distance(horizon) < 1e-3, "{ground} {horizon}");
}

#[test]
fn the_ground_can_be_left_out() {
    let mut options = LoadOptions::default();
    options.model.no_ground = true;
    let scene = scene_with(&rising(), &options);
    assert_eq!((scene.meshes.len(), scene.instances.len()), (1, 3));
}

/// All vertices of moving parts, at the time of a frame.
fn moving_vertices(scene: &Scene, frame: u32) -> Vec<Vec3> {
    let moment = Moment::of(scene, scene.time_of(frame));
    let (mut vertices, mut out) = (Vec::new(), Deformed::default());
    for deforming in &scene.deforming {
        let Shape::Triangles(mesh) = &scene.meshes[deforming.mesh as usize].shape else {
            continue;
        };
        let actor = &scene.actors[deforming.actor as usize];
        let pose = moment.actor(deforming.actor).unwrap();
        shape(mesh, deforming, &actor.rig, pose, &mut out);
        let instance = scene.instances.iter().find(|i| i.mesh == deforming.mesh);
        let local = instance.unwrap().local;
        let points = out.positions.iter().map(|p| Vec3::from(*p));
        vertices.extend(points.map(|p| local.transform_point3(p)));
    }
    vertices
}

/// Uses the files of the folder in `THRONG_DATA`.
#[test]
fn real_models_stay_in_the_picture_and_above_the_ground_in_all_frames() {
    let data = std::env::var_os("THRONG_DATA").unwrap_or_default();
    for (file, clip) in [
        ("Fox.glb", "Survey"),
        ("Fox.glb", "Walk"),
        ("Fox.glb", "Run"),
        ("MorphStressTest.gltf", "TheWave"),
        ("SimpleSkin/SimpleSkin.gltf", "0"),
    ] {
        let path = Path::new(&data).join("assets/gltf").join(file);
        if !path.is_file() {
            println!("skipped: THRONG_DATA does not name a folder with assets/gltf/{file}");
            continue;
        }
        let scene = super::gltf::load(&path, &playing(clip), |_| ()).unwrap_or_else(|e| panic!("{e}"));
        let pose = camera_at(&scene, &Moment::of(&scene, 0.0));
        let (forward, right, up) = pose.basis();
        let ground = scene.instances.last().unwrap().local.translation.y;
        let (mut widest, mut lowest) = (0f32, f32::INFINITY);
        for frame in 1..=scene.settings.frames {
            for vertex in moving_vertices(&scene, frame) {
                let p = vertex - pose.eye;
                let edge = forward.dot(p) * 20f32.to_radians().tan();
                let share = (up.dot(p) / edge).abs().max((right.dot(p) / edge / (4.0 / 3.0)).abs());
                widest = widest.max(share);
                lowest = lowest.min(vertex.y);
            }
        }
        assert!((0.6..1.0).contains(&widest), "{file} {clip}: {widest}");
        assert!(lowest > ground, "{file} {clip}: {lowest} {ground}");
    }
}

#[test]
fn nodes_are_subjects_whether_they_carry_something_or_not() {
    let mut b = Builder::triangle();
    b.json["nodes"] = json!([
        {"mesh": 0, "name": "flag", "translation": [0, 3, 0], "children": [1]},
        {"name": "tip", "translation": [0, 1, 0]},
    ]);
    let subject = |name: &str| {
        let mut options = LoadOptions::default();
        options.view.lens.focus_on = Some(name.to_owned());
        let scene = scene_with(&b, &options);
        let anchors = scene.subjects.first().map(|s| s.anchors.clone());
        (anchors.unwrap_or_default(), scene)
    };
    let middle = Vec3::new(0.5, 0.5, 0.0);
    let carried = Anchor::Instance { instance: 0, point: middle };
    assert_eq!(subject("flag").0, [carried]);
    let (tip, scene) = subject("tip");
    assert_eq!(tip, [Anchor::Node { node: 0 }]);
    assert_eq!(scene.nodes[0].local.translation, Vec3::new(0.0, 4.0, 0.0));
    assert!(subject("top").0.is_empty());
}

#[test]
fn the_light_around_a_file_is_its_environment_unless_the_user_names_another() {
    let b = colored(Builder::triangle(), json!({}));
    let own = scene(&b);
    assert!(matches!(&own.environment, Environment::Image { pixels, rotation: 0.0, .. } if pixels.width == 32));
    assert!(own.settings.metering == Metering::Full && own.catches_shadows() && own.lights.is_empty());
    let mut options = LoadOptions::default();
    options.model.environment = Some(EnvironmentChoice::Studio);
    let other = scene_with(&b, &options);
    assert!(matches!(other.environment, Environment::Gradient { .. }) && other.stage.is_some());
    assert!(options.gltf().skip_environment);
}

#[test]
fn instances_appear_with_their_nodes_while_a_clip_plays() {
    let mut b = blinking("STEP");
    b.json["extensions"]["KHR_lights_punctual"] = json!({"lights": [{"type": "point", "intensity": 5}]});
    b.json["nodes"][1]["extensions"]["KHR_lights_punctual"] = json!({"light": 0});
    let scene = scene_with(&b, &playing("animation 0"));
    let node = RigNodeRef { actor: 0, node: 1 };
    assert_eq!(scene.appearances, [Appearance { instance: 0, by: ShownBy::Node(node) }]);
    assert!(scene.is_animated() && scene.settings.frames == 24);
    for (time, shown) in [(0.0, true), (0.49, true), (0.5, false), (0.99, false), (1.0, true)] {
        let moment = Moment::of(&scene, time);
        let ground_alone = Some(vec![1]);
        assert_eq!(shown_instances(&scene, &moment), if shown { None } else { ground_alone }, "at {time}");
        let tables = posed_tables(&scene, &moment).expect("tables");
        let expected = Vec3::splat(if shown { 5.0 } else { 0.0 });
        assert!(matches!(tables.lights[0], Light::Point { intensity, .. } if intensity == expected), "at {time}");
    }
    assert!(load(&b, &LoadOptions::default()).is_ok_and(|scene| scene.is_none()), "hidden at rest");
}
