//! Scenes in which most instances stand still, so that the tree of each frame is joined from two parts.

use crate::common::{Random, ball, is_same, mesh, on_each_device, rays, scene, settings, sphere};
use glam::{Affine3, EulerRot, Quat, Vec3};
use std::sync::Arc;
use throng::scene::{
    Assembly, Camera, CameraPath, Ease, Ends, Instance, Integrator, Key, Keyframe, Motion, MotionPart, NONE, Phase,
    Placements, Rotations, Scene, Shutter, Track,
    rig::{Appearance, ShownBy},
};
use throng_abi::Hit;
use throng_accel::NodeLayout;
use throng_device::{Delivery, FrameSettings, RayKind};
use throng_picture::aov::Aov;
use throng_render::{PoseSettings, Poser};

/// 600 things at rest and a hundred that spin, jump, or come and go among them.
fn mostly_still(seed: u32) -> Scene {
    let mut random = Random::new(seed);
    let (positions, triangles) = ball(2);
    let mut placements = Vec::new();
    for index in 0..700 {
        let turn = Quat::from_euler(EulerRot::XYZ, random.range(0.0, 7.0), random.range(0.0, 7.0), 0.0);
        let size = Vec3::splat(random.range(0.2, 0.7));
        placements.push((index % 2, Affine3::from_scale_rotation_translation(size, turn, random.cube() * 5.0)));
    }
    let mut scene = scene(vec![sphere(), mesh(positions, triangles)], &placements);
    let motion = |part| Motion { parts: vec![part], phase: Phase::Random { seed, spread: 1.0 } };
    scene.motions = vec![
        motion(MotionPart::Spin { axis: Vec3::new(0.6, 0.8, 0.0), period: 1.3 }),
        motion(MotionPart::Bob { offset: Vec3::new(0.5, 2.0, 0.0), period: 0.7 }),
    ];
    let switched = |time, value| Key { time, value, ease: Ease::Step };
    scene.switches = vec![Track { keys: vec![switched(0.0, false), switched(0.5, true)], ends: Ends::Hold }];
    let mut ids: Vec<u32> = (0..100).map(|_| (random.unit() * 700.0) as u32).collect();
    ids.sort_unstable();
    ids.dedup();
    for (place, &id) in ids.iter().enumerate() {
        match place % 3 {
            2 => scene.appearances.push(Appearance { instance: id, by: ShownBy::Switch(0) }),
            motion => scene.instances[id as usize].motion = motion as u32,
        }
    }
    let path = CameraPath::Still { eye: Vec3::new(0.0, 1.0, 14.0), target: Vec3::ZERO };
    scene.camera = Camera { path, ..Camera::default() };
    scene.settings.frames = 48;
    scene
}

/// Three times 600 things: some never move, the others in the first or the sixth second only. Twenty turn all the time.
fn now_and_then() -> Scene {
    let mut random = Random::new(3);
    let placements: Vec<(u32, Affine3)> = (0..1820)
        .map(|_| (0, Affine3::from_scale_rotation_translation(Vec3::splat(0.3), Quat::IDENTITY, random.cube() * 6.0)))
        .collect();
    let (positions, triangles) = ball(1);
    let mut scene = scene(vec![mesh(positions, triangles)], &placements);
    let key = |time, x: f32| {
        let rotation = Quat::from_rotation_y(x);
        let value = Keyframe { translation: Vec3::X * x, rotation, angles: Vec3::Y * x, scale: Vec3::ONE };
        Key { time, value, ease: Ease::Linear }
    };
    let motion = |part| Motion { parts: vec![part], phase: Phase::Same };
    let jump = |time| {
        let track = Track { keys: vec![key(time, 0.0), key(time + 1.0, 1.7), key(time + 60.0, 1.7)], ends: Ends::Hold };
        motion(MotionPart::Keyframes { track, rotations: Rotations::Slerp })
    };
    scene.motions = vec![jump(0.2), jump(5.1), motion(MotionPart::Spin { axis: Vec3::Y, period: 1.0 })];
    for (id, instance) in scene.instances.iter_mut().enumerate() {
        match id / 600 {
            0 => {}
            kind => instance.motion = kind as u32 - 1,
        }
    }
    scene.settings.frames = 240;
    scene
}

#[test]
fn what_rests_for_a_while_counts_as_still_meanwhile() {
    let scene = Arc::new(now_and_then());
    let rays = rays(&mut Random::new(4), 1000, 9.0, 6.0);
    on_each_device(|device| {
        device.load(scene.clone()).unwrap();
        let mut posers = posers(&scene, device.node_layout(), &settings(8, 8, Integrator::Path));
        // Frames 1 to 48 and 97 to 144 are the stretches in which some move, and the others have all but twenty at rest.
        for (number, resting) in
            [(1, 600), (30, 600), (48, 600), (49, 1200), (140, 600), (20, 600), (200, 1200), (210, 1200)]
        {
            let [divided, whole] = posers.each_mut().map(|poser| {
                let frame = poser.pose(number).frame;
                let mut hits = vec![Hit::default(); rays.len()];
                device.trace(&frame, RayKind::Closest, &rays, &mut hits, 1).unwrap();
                let still: Vec<usize> = frame.tlas.still.iter().map(|tree| tree.end().records).collect();
                (hits, still)
            });
            assert_eq!((divided.1, whole.1), (vec![600, 600 + resting], vec![]), "{number}");
            for ((ray, a), b) in rays.iter().zip(&divided.0).zip(&whole.0) {
                assert!(is_same(a, b), "{number} {ray:?}: {a:?}, not {b:?}");
            }
        }
    });
}

/// The scene with pairs of things, some of which turn, in place of every fifth one.
fn with_assemblies(mut scene: Scene) -> Scene {
    let pairs = scene.meshes.len() as u32;
    let first = scene.instances.len();
    scene.instances.iter_mut().step_by(5).for_each(|instance| instance.mesh = pairs);
    for x in [-0.3, 0.3] {
        let local = Affine3::from_scale_rotation_translation(Vec3::splat(0.4), Quat::IDENTITY, Vec3::X * x);
        scene.instances.push(Instance { local, node: NONE, mesh: 0, slot_base: 0, motion: NONE });
    }
    scene.assemblies = vec![Assembly { name: "pair".into(), instances: first as u32..first as u32 + 2 }];
    scene
}

/// Two posers of a scene: as usual, and one whose trees are built over all instances, since any might be placed anew.
fn posers(scene: &Arc<Scene>, layout: NodeLayout, settings: &FrameSettings) -> [Poser; 2] {
    [None, Some(Arc::new(Placements::default()))].map(|placed| {
        let mut poser = Poser::new(scene.clone(), layout);
        poser.configure(PoseSettings { placed, ..PoseSettings::of(settings) });
        poser
    })
}

#[test]
fn hits_are_those_in_one_tree_over_all_instances() {
    let rays = rays(&mut Random::new(9), 1000, 8.0, 5.0);
    for scene in [mostly_still(0), with_assemblies(mostly_still(1))].map(Arc::new) {
        on_each_device(|device| {
            device.load(scene.clone()).unwrap();
            let mut posers = posers(&scene, device.node_layout(), &settings(8, 8, Integrator::Path));
            // Frames backwards, too: the trees of earlier ones are used again.
            for number in [1, 30, 31, 2] {
                for kind in [RayKind::Closest, RayKind::Any] {
                    let [divided, whole] = posers.each_mut().map(|poser| {
                        let frame = poser.pose(number).frame;
                        let mut hits = vec![Hit::default(); rays.len()];
                        device.trace(&frame, kind, &rays, &mut hits, 1).unwrap();
                        hits
                    });
                    for ((ray, a), b) in rays.iter().zip(&divided).zip(&whole) {
                        let same = match kind {
                            RayKind::Any => (a.t < 0.0) == (b.t < 0.0),
                            RayKind::Closest => is_same(a, b),
                        };
                        assert!(same, "{}, frame {number}, {kind:?}, {ray:?}: {a:?}, not {b:?}", device.describe());
                    }
                }
            }
        });
    }
}

#[test]
fn pictures_with_and_without_motion_blur_are_those_of_one_tree() {
    let scenes = [mostly_still(5), with_assemblies(mostly_still(6))].map(Arc::new);
    for (scene, shutter) in scenes.iter().flat_map(|scene| [None, Shutter::centred(0.5).ok()].map(|it| (scene, it))) {
        let aovs = [Aov::Motion].into_iter().collect();
        let settings = FrameSettings { samples: 2, shutter, aovs, ..settings(48, 32, Integrator::Path) };
        on_each_device(|device| {
            device.load(scene.clone()).unwrap();
            let mut posers = posers(scene, device.node_layout(), &settings);
            for number in [3, 20] {
                let [divided, whole] = posers.each_mut().map(|poser| {
                    let frame = poser.pose(number).frame;
                    device.submit(frame, &settings, Delivery::default()).unwrap();
                    device.collect(&|| false).unwrap()
                });
                assert!(divided.pixels == whole.pixels, "{}, frame {number}", device.describe());
                assert!(divided.aovs[0].values == whole.aovs[0].values, "{}, frame {number}", device.describe());
                assert!(divided.aovs[0].values.iter().any(|&motion| motion != 0.0));
            }
        });
    }
}

#[test]
fn only_what_moves_is_built_again() {
    let scene = Arc::new(mostly_still(1));
    let mut poser = Poser::new(scene.clone(), NodeLayout::Wide8);
    let [first, second] = [1, 20].map(|number| poser.pose(number).frame);
    let stills = [&first, &second].map(|frame| frame.tlas.still[0].clone());
    assert!(Arc::ptr_eq(&stills[0], &stills[1]));
    assert!((600..700).contains(&stills[0].end().records) && first.tlas.records.len() < second.tlas.records.len());
    // Too many move for two trees to pay.
    let mut moving = mostly_still(1);
    moving.instances.iter_mut().for_each(|instance| instance.motion = 0);
    assert!(Poser::new(Arc::new(moving), NodeLayout::Wide8).pose(1).frame.tlas.still.is_empty());
}
