use super::*;
use throng_base::math::Aabb;
use throng_device::{FrameSettings, fake::settings};
use throng_scene::{
    Instance, Integrator, Mesh, Motion, MotionPart, NONE, Phase, Shape, TriangleMesh, View, Views,
    rig::{
        Actor, Appearance, Channel, Clip, Interpolation, Local, Playback, Property, Rig, RigNode, RigNodeRef, ShownBy,
    },
};

/// A rotating tetrahedron that fills only a corner of its box.
fn turning() -> Arc<Scene> {
    let tetrahedron = TriangleMesh {
        positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        triangles: vec![[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]],
        ..TriangleMesh::default()
    };
    let spin = MotionPart::Spin { axis: Vec3::Y, period: 2.0 };
    Arc::new(Scene {
        meshes: vec![Mesh { name: "tetrahedron".into(), shape: Shape::Triangles(tetrahedron), slot_count: 1 }],
        instances: vec![Instance { local: Affine3::IDENTITY, node: NONE, mesh: 0, slot_base: 0, motion: 0 }],
        motions: vec![Motion { parts: vec![spin], phase: Phase::Same }],
        ..Scene::default()
    })
}

#[test]
fn few_paths_get_cheap_boxes_except_in_views_that_the_bounds_scale() {
    let bounds = |integrator, samples| -> Aabb {
        let mut poser = Poser::new(turning(), NodeLayout::Wide8);
        poser.configure(PoseSettings::of_fast(&FrameSettings { integrator, samples, ..settings() }));
        poser.sibling().pose(5).frame.tlas.bounds()
    };
    let exact = Poser::new(turning(), NodeLayout::Wide8).pose(5);
    let exact = exact.frame.tlas.bounds();
    assert!(bounds(Integrator::Whitted, 1).half_area() > 1.01 * exact.half_area());
    assert_eq!(bounds(Integrator::Whitted, 1000), exact);
    assert_eq!(bounds(Integrator::Ao, 1), exact);
    assert_eq!(bounds(Integrator::Depth, 1), exact);
}

#[test]
fn trees_over_many_moving_instances_are_left_to_devices() {
    let mut scene = Scene::clone(&turning());
    scene.instances = vec![scene.instances[0]; 20_000];
    let scene = Arc::new(scene);
    let is_left = |integrator, samples, leaves_tlases| {
        let mut poser = Poser::new(scene.clone(), NodeLayout::Compressed8);
        let settings = FrameSettings { integrator, samples, width: 100, height: 100, ..settings() };
        poser.configure(PoseSettings { leaves_tlases, ..PoseSettings::of_fast(&settings) });
        poser.pose(1).frame.tlas.unbuilt.is_some()
    };
    assert!(is_left(Integrator::Path, 199, true));
    assert!(!is_left(Integrator::Path, 201, true), "with many paths, better trees pay");
    assert!(!is_left(Integrator::Ao, 1, true), "the scene's bounds are needed here");
    assert!(!is_left(Integrator::Path, 199, false));
}

#[test]
fn frames_of_one_moment_in_succession_share_a_pose() {
    let scene = turning();
    let view = |eye: Vec3, time: f64| View {
        name: String::new(),
        eye,
        axes: glam::Mat3::IDENTITY,
        optics: None,
        distance: 1.0,
        time,
    };
    let views = [(1.0, 0.5), (2.0, 0.5), (3.0, 0.25), (4.0, 0.5)].map(|(z, time)| view(Vec3::Z * z, time));
    let settings = || PoseSettings { views: Views::new(views.to_vec()).map(Arc::new), ..PoseSettings::default() };
    let mut poser = Poser::new(scene, NodeLayout::Wide8);
    poser.configure(settings());
    let posed: Vec<Posed> = (1..=4).map(|number| poser.pose(number)).collect();
    let builds: Vec<u32> = posed.iter().map(|posed| posed.trees.tlas_builds).collect();
    assert_eq!(builds, [1, 0, 1, 1]);
    assert!(Arc::ptr_eq(&posed[0].frame.tlas, &posed[1].frame.tlas));
    let eyes: Vec<f32> = posed.iter().map(|posed| posed.frame.camera.eye.z).collect();
    assert_eq!((eyes, posed[1].frame.number), (vec![1.0, 2.0, 3.0, 4.0], 2));
    assert_eq!(posed[3].frame.tlas.bounds(), posed[0].frame.tlas.bounds());
    poser.configure(settings());
    assert_eq!(poser.pose(4).trees.tlas_builds, 1, "the kind of frames may have changed");
}

#[test]
fn what_is_hidden_is_not_in_the_tree_and_has_motion_all_the_same() {
    let visible = Channel {
        node: 0,
        property: Property::Visibility,
        interpolation: Interpolation::Step,
        times: vec![0.0, 0.5],
        values: vec![0.0, 1.0],
    };
    let clip = Clip { duration: 1.0, channels: vec![visible], ..Clip::default() };
    let local = Local::Matrix(Affine3::IDENTITY);
    let node = RigNode { name: String::new(), parent: NONE, local, weights: Vec::new(), visible: true };
    let mut scene = Scene::clone(&turning());
    scene.instances.push(Instance { local: Affine3::from_translation(100.0 * Vec3::X), ..scene.instances[0] });
    let rig = Arc::new(Rig { nodes: vec![node], clips: vec![clip], ..Rig::default() });
    scene.actors = vec![Actor { rig, playbacks: vec![Playback::default()] }];
    scene.appearances = vec![Appearance { instance: 1, by: ShownBy::Node(RigNodeRef { actor: 0, node: 0 }) }];
    let scene = Arc::new(scene);
    for layout in [NodeLayout::Wide8, NodeLayout::Compressed8] {
        let mut poser = Poser::new(scene.clone(), layout);
        let aovs = [Aov::Motion].into_iter().collect();
        poser.configure(PoseSettings { shutter: Shutter::centred(0.5).ok(), aovs, ..PoseSettings::default() });
        // The clip starts again with frame 25.
        for (number, shown) in [(1, 1), (12, 1), (13, 2), (24, 2), (25, 1)] {
            let frame = poser.pose(number).frame;
            assert_eq!(frame.tlas.records.len(), shown, "frame {number}");
            assert_eq!(frame.tlas.bounds().max.x > 50.0, shown == 2, "frame {number}");
            let others = frame.others.expect("poses beside this one");
            assert!(others.iter().all(|other| other.transforms.len() == 2));
        }
    }
}
