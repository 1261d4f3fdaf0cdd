//! Scenes in which so many instances move that a GPU builds their tree.

use crate::common::{Random, ball, is_same, mesh, on_each_device, rays, scene, settings, sphere};
use glam::{Affine3, EulerRot, Quat, Vec3};
use std::sync::Arc;
use throng::scene::{
    Camera, CameraPath, Ease, Ends, Instance, Integrator, Key, Material, Motion, MotionPart, Phase, Scene, Shutter,
    Track,
    rig::{Appearance, ShownBy},
};
use throng_abi::Hit;
use throng_device::{Delivery, Device, FrameSettings, RayKind};
use throng_render::{PoseSettings, Poser};

/// 20,000 things that spin or bob, of which some glow and some come and go, among as many as `still` that rest.
fn lively(seed: u32, still: usize) -> Scene {
    let mut random = Random::new(seed);
    let (positions, triangles) = ball(1);
    let placements: Vec<(u32, Affine3)> = (0..20_000 + still)
        .map(|index| {
            let turn = Quat::from_euler(EulerRot::XYZ, random.range(0.0, 7.0), random.range(0.0, 7.0), 0.0);
            let size = Vec3::new(0.3, random.range(0.1, 0.4), random.range(0.1, 0.4));
            let place = random.cube() * if index % 50 == 0 { 60.0 } else { 9.0 };
            (index as u32 % 2, Affine3::from_scale_rotation_translation(size, turn, place))
        })
        .collect();
    let mut scene = scene(vec![sphere(), mesh(positions, triangles)], &placements);
    let motion = |part| Motion { parts: vec![part], phase: Phase::Random { seed, spread: 1.0 } };
    scene.motions = vec![
        motion(MotionPart::Spin { axis: Vec3::new(0.6, 0.8, 0.0), period: 1.3 }),
        motion(MotionPart::Bob { offset: Vec3::new(0.5, 2.0, 0.0), period: 0.7 }),
    ];
    scene.instances[..20_000].iter_mut().zip(0..).for_each(|(instance, id)| instance.motion = id % 2);
    // One of them has no volume.
    scene.instances[8].local = Affine3::from_scale(Vec3::ZERO);
    scene.materials.push(Material { color: Vec3::ZERO, emission: Vec3::splat(3.0), ..Default::default() });
    scene.material_slots.push(1);
    let glow = |instance: &mut Instance| instance.slot_base = 1;
    scene.instances.iter_mut().step_by(1001).for_each(glow);
    let switched = |time, value| Key { time, value, ease: Ease::Step };
    scene.switches = vec![Track { keys: vec![switched(0.0, false), switched(0.5, true)], ends: Ends::Hold }];
    scene.appearances = (0..200).map(|i| Appearance { instance: 100 * i, by: ShownBy::Switch(0) }).collect();
    let path = CameraPath::Still { eye: Vec3::new(0.0, 1.0, 24.0), target: Vec3::ZERO };
    scene.camera = Camera { path, ..Camera::default() };
    scene
}

/// Two posers of a scene: one leaves trees to the device, and one builds them.
fn posers(scene: &Arc<Scene>, device: &dyn Device, settings: &FrameSettings) -> [Poser; 2] {
    [device.builds_tlases(), false].map(|leaves_tlases| {
        let mut poser = Poser::new(scene.clone(), device.node_layout());
        poser.configure(PoseSettings { leaves_tlases, ..PoseSettings::of_fast(settings) });
        poser
    })
}

#[test]
fn hits_are_those_in_trees_that_the_host_builds() {
    let rays = rays(&mut Random::new(2), 4000, 20.0, 9.0);
    for scene in [lively(0, 0), lively(1, 25_000)].map(Arc::new) {
        on_each_device(|device| {
            if !device.builds_tlases() {
                return;
            }
            device.load(scene.clone()).unwrap();
            let mut posers = posers(&scene, device, &settings(8, 8, Integrator::Path));
            for number in [1, 2, 30, 3] {
                let [left, built] = posers.each_mut().map(|poser| {
                    let frame = poser.pose(number).frame;
                    let mut hits = vec![Hit::default(); rays.len()];
                    device.trace(&frame, RayKind::Closest, &rays, &mut hits, 1).unwrap();
                    (hits, frame.tlas.unbuilt.is_some())
                });
                assert_eq!((left.1, built.1), (true, false));
                assert!(left.0.iter().filter(|hit| hit.t > 0.0).count() > 1000);
                for ((ray, a), b) in rays.iter().zip(&left.0).zip(&built.0) {
                    assert!(is_same(a, b), "{number} {ray:?}: {a:?}, not {b:?}");
                }
            }
        });
    }
}

#[test]
fn pictures_are_those_of_trees_that_the_host_builds() {
    for (scene, shutter) in [(lively(3, 0), None), (lively(4, 22_000), Shutter::centred(0.5).ok())] {
        let scene = Arc::new(scene);
        let settings = FrameSettings { samples: 2, shutter, ..settings(64, 48, Integrator::Path) };
        on_each_device(|device| {
            if !device.builds_tlases() {
                return;
            }
            device.load(scene.clone()).unwrap();
            let mut posers = posers(&scene, device, &settings);
            // Several frames are under way, and a tree that is built here comes between two that are not.
            for number in [3, 20, 21] {
                let [left, built] = [0, 1].map(|poser| {
                    for number in [number, number + 1] {
                        let frame = posers[poser].pose(number).frame;
                        assert_eq!(frame.tlas.unbuilt.is_some(), poser == 0);
                        device.submit(frame, &settings, Delivery::default()).unwrap();
                    }
                    [(); 2].map(|()| device.collect(&|| false).unwrap())
                });
                for (left, built) in left.iter().zip(&built) {
                    assert!(left.pixels == built.pixels, "frame {number}");
                }
            }
        });
    }
}
