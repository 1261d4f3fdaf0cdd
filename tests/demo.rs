//! Assets of the repository: the demo scenes load and match the README, and the dragon is a valid mesh.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
};
use throng::{
    loader::load,
    scene::{CameraPath, MaterialKind, Scene, Shape},
};
use throng_scene::anim::{Moment, camera_at, shown_meshes, world_transforms};

fn demo(file: &str) -> Scene {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes").join(file);
    let scene = load(&path).unwrap_or_else(|error| panic!("{error}"));
    assert!(scene.warnings.is_empty(), "{:?}", scene.warnings);
    scene
}

/// Number of instances whose first slot is a mirror.
fn mirrors(scene: &Scene) -> usize {
    let material = |slot: u32| &scene.materials[scene.material_slots[slot as usize] as usize];
    let kinds = scene.instances.iter().map(|i| material(i.slot_base).kind);
    kinds.filter(|kind| *kind == MaterialKind::Mirror).count()
}

#[test]
fn the_dragon_of_dragons_is_half_mirrors_and_moves_in_every_frame() {
    let scene = demo("dragon_of_dragons.ron");
    assert!(scene.instances.len() >= 10_000);
    let share = mirrors(&scene) as f64 / scene.instances.len() as f64;
    assert!((0.48..0.52).contains(&share), "{share} are mirrors");
    let CameraPath::Spline(flight) = &scene.camera.path else { panic!("the camera flies along a spline") };
    assert!(flight.keys().len() >= 12);

    let (mut before, mut after) = (Vec::new(), Vec::new());
    for frame in 1..scene.settings.frames {
        let moment = |frame| Moment::of(&scene, scene.time_of(frame));
        let (now, next) = (moment(frame), moment(frame + 1));
        world_transforms(&scene, &now, &mut before);
        world_transforms(&scene, &next, &mut after);
        assert_ne!(before, after, "nothing moves after frame {frame}");
        let (from, to) = (camera_at(&scene, &now), camera_at(&scene, &next));
        assert!(from.eye.distance(to.eye) < 4.0, "the camera jumps after frame {frame}");
    }
}

#[test]
fn the_million_is_a_million() {
    assert!(demo("million.ron").instances.len() >= 1_000_000);
}

#[test]
#[cfg(feature = "usd")]
fn the_thousand_cranes_fly_over_nested_trees() {
    let scene = demo("thousand_cranes/thousand_cranes.usda");
    assert!(scene.leaf_count() > 280_000_000 && scene.instances.len() < 1_000_000, "{}", scene.instances.len());
    assert_eq!((scene.settings.frame_numbers(), scene.viewpoints.len()), (1..=120, 1));
    let at = |frame| {
        let mut worlds = Vec::new();
        world_transforms(&scene, &Moment::of(&scene, scene.time_of(frame)), &mut worlds);
        worlds
    };
    assert_ne!(at(1), at(60));
}

#[test]
fn all_of_the_animated_million_move() {
    let scene = demo("../tests/gpu/million_animated.ron");
    let (mut before, mut after) = (Vec::new(), Vec::new());
    world_transforms(&scene, &Moment::of(&scene, 0.0), &mut before);
    world_transforms(&scene, &Moment::of(&scene, 1.0 / scene.settings.fps), &mut after);
    let moved = before.iter().zip(&after).filter(|(a, b)| a != b).count();
    assert!(moved >= 1_000_000, "{moved} move");
}

/// The mesh that each instance shows in a frame.
fn shown(scene: &Scene, frame: u32) -> Vec<u32> {
    let (moment, mut shown) = (Moment::of(scene, scene.time_of(frame)), Vec::new());
    shown_meshes(scene, &scene.instances, &[], &moment, &mut shown);
    shown
}

#[test]
fn the_flapping_dragons_beat_their_wings_in_a_wave() {
    let scene = demo("dragon_of_flapping_dragons.ron");
    let (before, after) = (shown(&scene, 1), shown(&scene, 4));
    let dragons = scene.instances.iter().filter(|i| scene.palettes.iter().any(|p| p.first_mesh == i.mesh));
    let moved = before.iter().zip(&after).filter(|(a, b)| a != b).count();
    assert!(dragons.count() >= 10_000 && moved >= 10_000, "{moved} move");
    let poses: HashSet<u32> = before.into_iter().collect();
    assert!(poses.len() >= 64, "{} poses are in the picture", poses.len());
}

#[test]
fn the_herd_is_as_fast_as_its_hooves() {
    let scene = demo("stampede.ron");
    let (mut before, mut after) = (Vec::new(), Vec::new());
    world_transforms(&scene, &Moment::of(&scene, 1.0), &mut before);
    world_transforms(&scene, &Moment::of(&scene, 2.0), &mut after);
    let palette = scene.palettes[0];
    let bulls = (0..before.len()).filter(|&i| scene.instances[i].mesh == palette.first_mesh);
    // 3.84 metres per stride, as in `tools/make_animals`.
    let speed = 3.84 / palette.poses.duration;
    let moves = bulls.map(|i| after[i].translation.x - before[i].translation.x);
    let moves: Vec<f32> = moves.collect();
    assert!(moves.len() >= 10_000, "{} bulls", moves.len());
    assert!(moves.iter().all(|x| (x - speed).abs() < 0.01 * speed), "{speed} m/s");
}

#[test]
fn the_hall_has_deep_mirrors_and_the_spheres_are_analytic() {
    let hall = demo("mirror_hall.ron");
    assert!(hall.settings.bounces >= 16 && mirrors(&hall) >= 2);
    let spheres = demo("spheres.ron");
    let analytic = |mesh: u32| matches!(spheres.meshes[mesh as usize].shape, Shape::Sphere);
    let count = spheres.instances.iter().filter(|i| analytic(i.mesh)).count();
    assert!(count >= 2000 && mirrors(&spheres) > 100, "{count} spheres");
}

#[test]
fn the_dragon_is_closed_and_consistently_wound() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/dragon.obj");
    let scene = load(&path).unwrap_or_else(|error| panic!("{error}"));
    let Shape::Triangles(mesh) = &scene.meshes[0].shape else { panic!("a mesh of triangles") };
    assert!((15_000..=30_000).contains(&mesh.triangles.len()), "{} triangles", mesh.triangles.len());
    assert_eq!(mesh.normals.len(), mesh.positions.len());
    assert_eq!(mesh.uvs.len(), mesh.positions.len());

    // Merges vertices that are split at texture seams.
    let mut index = HashMap::new();
    let welded: Vec<usize> = (mesh.positions.iter())
        .map(|p| {
            let next = index.len();
            *index.entry(p.map(f32::to_bits)).or_insert(next)
        })
        .collect();
    assert!(index.len() >= 10_000, "{} points", index.len());
    let mut edges: HashMap<(usize, usize), u32> = HashMap::new();
    for t in &mesh.triangles {
        for k in 0..3 {
            let (a, b) = (welded[t[k] as usize], welded[t[(k + 1) % 3] as usize]);
            assert_ne!(a, b, "a triangle without area");
            *edges.entry((a, b)).or_default() += 1;
        }
    }
    for (&(a, b), &count) in &edges {
        assert_eq!((count, edges.get(&(b, a))), (1, Some(&1)), "edge {a} {b} is not shared by two triangles");
    }
}
