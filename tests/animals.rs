//! Animated models of `assets`: valid skins, looping clips, and feet that do not slide.

use glam::{Affine3A, Vec3};
use std::{collections::HashMap, path::PathBuf};
use throng::scene::NONE;
use throng_loader::gltf::{GltfOptions, Model, load_model};
use throng_scene::anim::{BindPose, Deformed, RigPose, deform};
use throng_scene::rig::Playback;

/// Clips of the bull and their speeds in metres per second, as in `tools/make_animals/src/bull/gait.rs`.
const GAITS: [(&str, f32); 2] = [("Gallop", 8.0), ("Walk", 1.0)];

fn path(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("assets").join(file)
}

fn model(file: &str) -> Model {
    let model = load_model(&path(file), &GltfOptions::default());
    let model = model.unwrap_or_else(|error| panic!("{error}"));
    assert!(model.warnings.is_empty(), "{:?}", model.warnings);
    assert_eq!((model.meshes.len(), model.parts.len()), (1, 1));
    model
}

fn clip(model: &Model, name: &str) -> u32 {
    let found = model.rig.clips.iter().position(|clip| clip.name == name);
    found.unwrap_or_else(|| panic!("there is a clip {name}")) as u32
}

/// Vertices at a fraction of a clip, or at rest; the root does not move.
fn posed(model: &Model, clip: u32, share: f32) -> Deformed {
    let playback = Playback { clip, looped: false, ..Playback::default() };
    let time = share * model.rig.clips.get(clip as usize).map_or(0.0, |clip| clip.duration);
    let (mut pose, mut joints, mut out) = (RigPose::default(), Vec::new(), Deformed::default());
    pose.evaluate(&model.rig, &[playback], time.into());
    let part = &model.parts[0];
    let mesh = &model.meshes[part.mesh as usize];
    pose.palette(&model.rig, part.skin, &mut joints);
    let bind = BindPose::new(&mesh.mesh, &[]);
    deform(bind, &mesh.deformers, &joints, pose.weights(part.node), &mut out);
    let stands = match part.skin {
        NONE => pose.world(part.node),
        _ => Affine3A::IDENTITY,
    };
    for position in &mut out.positions {
        *position = stands.transform_point3(Vec3::from(*position)).into();
    }
    out
}

#[test]
fn the_animals_are_small_light_and_closed() {
    let animals = [
        ("flapping_dragon.glb", 5_000..=12_000),
        ("breathing_dragon.glb", 5_000..=12_000),
        ("bull.glb", 3_000..=8_000),
    ];
    for (file, counts) in animals {
        let size = std::fs::metadata(path(file)).expect("the file is there").len();
        assert!(size < 1_000_000, "{file} has {size} bytes");
        let model = model(file);
        let mesh = &model.meshes[0].mesh;
        let count = mesh.triangles.len();
        assert!(counts.contains(&count), "{file} has {count} triangles");
        assert_eq!(mesh.normals.len(), mesh.positions.len());
        assert_eq!(mesh.uvs.len(), mesh.positions.len());
        assert_eq!(mesh.uvs1.len(), mesh.positions.len());
        assert_closed(file, &mesh.positions, &mesh.triangles);
    }
}

/// Checks that every edge occurs once in each direction. Coincident vertices count as one.
fn assert_closed(file: &str, positions: &[[f32; 3]], triangles: &[[u32; 3]]) {
    let mut edges: HashMap<_, i32> = HashMap::new();
    for corners in triangles {
        let bits = corners.map(|corner| positions[corner as usize].map(f32::to_bits));
        for k in 0..3 {
            let (a, b) = (bits[k], bits[(k + 1) % 3]);
            *edges.entry((a.min(b), a.max(b))).or_default() += if a < b { 1 } else { -1 };
        }
    }
    let open = edges.values().filter(|&&balance| balance != 0).count();
    assert_eq!(open, 0, "{file} has open edges");
}

#[test]
fn clips_end_where_they_begin() {
    let clips = [
        ("flapping_dragon.glb", &["Fly", "Glide", "Roar"][..]),
        ("breathing_dragon.glb", &["Breathe"]),
        ("bull.glb", &["Gallop", "Walk"]),
    ];
    for (file, names) in clips {
        let model = model(file);
        assert_eq!(model.rig.clips.len(), names.len(), "{file}");
        for name in names {
            let clip = clip(&model, name);
            let (first, middle, last) = (posed(&model, clip, 0.0), posed(&model, clip, 0.3), posed(&model, clip, 1.0));
            let far = |other: &Deformed| {
                let pairs = first.positions.iter().zip(&other.positions);
                pairs.map(|(a, b)| Vec3::from(*a).distance(Vec3::from(*b))).fold(0.0, f32::max)
            };
            assert!(far(&last) < 1e-4, "{name} of {file} jumps by {}", far(&last));
            assert!(far(&middle) > 0.01, "{name} of {file} stands still");
        }
    }
}

#[test]
fn skin_stretches_but_does_not_tear() {
    // The maximum occurs where a limb that is bent in the bind pose straightens.
    const MOST: f32 = 5.0;
    for file in ["flapping_dragon.glb", "bull.glb"] {
        let model = model(file);
        let triangles = &model.meshes[0].mesh.triangles;
        let rest = edges(triangles, &posed(&model, NONE, 0.0).positions);
        let least = rest.iter().copied().fold(0.0, f32::max) * 0.05;
        for clip in 0..model.rig.clips.len() as u32 {
            for step in 0..12 {
                let moved = edges(triangles, &posed(&model, clip, step as f32 / 12.0).positions);
                let stretch = moved.iter().zip(&rest).map(|(moved, rest)| moved / rest.max(least));
                let stretch = stretch.fold(0.0, f32::max);
                assert!(stretch < MOST, "{file}, clip {clip}, step {step}: {stretch}");
            }
        }
    }
}

/// Lengths of all triangle sides.
fn edges(triangles: &[[u32; 3]], positions: &[[f32; 3]]) -> Vec<f32> {
    let point = |corner: u32| Vec3::from(positions[corner as usize]);
    let sides = triangles.iter().flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]);
    sides.map(|(a, b)| point(a).distance(point(b))).collect()
}

/// Vertices of the bull's soles: front right and left, hind right and left. The bull faces +Z.
fn soles(model: &Model) -> [Vec<usize>; 4] {
    let rest = posed(model, NONE, 0.0).positions;
    let sole = |front: bool, right: bool| {
        let vertices = rest.iter().enumerate();
        let under = vertices.filter(|(_, [x, y, z])| *y < 0.004 && (*z > 0.0) == front && (*x < 0.0) == right);
        under.map(|(vertex, _)| vertex).collect()
    };
    [sole(true, true), sole(true, false), sole(false, true), sole(false, false)]
}

#[test]
fn feet_on_the_ground_do_not_slide_at_the_stated_speed() {
    const STEPS: usize = 96;
    let model = model("bull.glb");
    for (name, speed) in GAITS {
        let clip = clip(&model, name);
        let seconds = model.rig.clips[clip as usize].duration / STEPS as f32;
        let poses: Vec<_> = (0..=STEPS).map(|step| posed(&model, clip, step as f32 / STEPS as f32).positions).collect();
        for sole in soles(&model) {
            assert!(sole.len() >= 3);
            let held: usize =
                poses.windows(2).map(|pair| assert_held(&sole, &pair[0], &pair[1], speed * seconds)).sum();
            assert!(held >= STEPS / 10, "{name}: a foot is down for {held} moments");
        }
    }
}

/// Number of a sole's vertices that stay on the ground. Each must move back by `distance`, within a tenth.
fn assert_held(sole: &[usize], from: &[[f32; 3]], to: &[[f32; 3]], distance: f32) -> usize {
    const ON_GROUND: f32 = 0.002;
    let mut held = 0;
    for &vertex in sole {
        let ([_, from_y, from_z], [_, to_y, to_z]) = (from[vertex], to[vertex]);
        assert!(from_y > -0.01, "a foot is {from_y} under the ground");
        if from_y < ON_GROUND && to_y < ON_GROUND {
            let moved = from_z - to_z;
            let slides = (moved - distance).abs() > 0.1 * distance;
            assert!(!slides, "a foot moves by {moved} instead of {distance}");
            held += 1;
        }
    }
    held
}

#[test]
fn the_gallop_is_one_hind_front_front_and_flight() {
    const STEPS: usize = 96;
    let model = model("bull.glb");
    let gallop = clip(&model, "Gallop");
    let soles = soles(&model);
    let down: Vec<[bool; 4]> = (0..STEPS)
        .map(|step| {
            let pose = posed(&model, gallop, step as f32 / STEPS as f32).positions;
            [0, 1, 2, 3].map(|foot| soles[foot].iter().any(|&vertex| pose[vertex][1] < 0.005))
        })
        .collect();
    let lands = |foot: usize| {
        let landing = (0..STEPS).find(|&step| down[step][foot] && !down[(step + STEPS - 1) % STEPS][foot]);
        landing.expect("every foot lands") as f32 / STEPS as f32
    };
    let [front_right, front_left, hind_right, hind_left] = [0, 1, 2, 3].map(|foot| (lands(foot) + 0.05).fract());
    assert!(hind_right < hind_left && hind_left < front_right && front_right < front_left);
    let flying = down.iter().filter(|feet| !feet.contains(&true)).count();
    assert!(flying >= STEPS / 8, "all feet are off the ground for {flying} moments");
}

#[test]
fn breath_lifts_the_chest_and_nothing_that_lies_on_the_ground() {
    let model = model("breathing_dragon.glb");
    assert_eq!(model.meshes[0].deformers.targets.len(), 3);
    let breathe = clip(&model, "Breathe");
    let (out, full) = (posed(&model, breathe, 0.0), posed(&model, breathe, 0.46));
    let moved = out.positions.iter().zip(&full.positions);
    let mut most = 0.0f32;
    for (from, to) in moved {
        let offset = Vec3::from(*from).distance(Vec3::from(*to));
        assert!(from[1] > 0.01 || offset < 1e-3, "{from:?} moves by {offset}");
        most = most.max(offset);
    }
    assert!((0.1..0.5).contains(&most), "the skin moves by {most}");
}
