//! The "dragon of dragons", this renderer's first scene: its placement and its flight.

use super::*;
use glam::Mat3;
use std::path::Path;
use throng_scene::anim::{Moment, camera_at};

/// The scatter of the "dragon of dragons": a copy of a mesh at each of its own vertices.
fn dragon_of_dragons(model: &str) -> String {
    format!(
        "(meshes: {{\"dragon\": Obj(file: \"{model}\")}}, instances: [Scatter(of: \"dragon\", on: \"dragon\", \
         at: vertices, spread: 0.2, each: (rotate: (90, 0, 0), scale: 0.0025))])"
    )
}

fn assert_placed(scene: &Scene, obj: &str) {
    let rotation = Mat3::from_cols(Vec3::X, Vec3::Z, Vec3::NEG_Y);
    let vertices = obj.lines().filter_map(|l| l.strip_prefix("v "));
    let positions: Vec<Vec3> = vertices.map(vec3_of_words).collect();
    assert_eq!(scene.instances.len(), positions.len());
    for (instance, p) in scene.instances.iter().zip(positions) {
        let expected = Affine3::from_mat3_translation(rotation * 0.0025, p * 0.2);
        assert!(instance.local.abs_diff_eq(expected, 1e-5), "{:?} {expected:?}", instance.local);
    }
}

fn vec3_of_words(line: &str) -> Vec3 {
    let mut words = line.split_whitespace().map(|w| w.parse().unwrap_or(f32::NAN));
    Vec3::from(std::array::from_fn(|_| words.next().unwrap_or(f32::NAN)))
}

#[test]
fn the_dragon_of_dragons_is_placed_as_in_the_article() {
    let dir = folder();
    // Positions are out of order and split by normals, and one is unused.
    let obj = "v 9 9 9\nv 0 0 0\nv 1 0 0\nv 0 2 0\nvn 0 0 1\nvn 0 1 0\nf 3//1 4//1 2//1\nf 2//2 4//2 3//2\n";
    fs::write(dir.path().join("small.obj"), obj).expect("writes");
    let s = load(&scene_path(&dir, &dragon_of_dragons("small.obj"))).unwrap_or_else(|e| panic!("{e}"));
    assert_placed(&s, obj);
}

#[test]
fn the_real_dragon_has_its_numbers() {
    let model = std::env::var_os("THRONG_DATA").map(|d| Path::new(&d).join("assets/stanford_dragon.obj"));
    let Some(model) = model.filter(|m| m.is_file()) else {
        println!("skipped: THRONG_DATA does not name a folder with assets/stanford_dragon.obj");
        return;
    };
    let dir = folder();
    let path = scene_path(&dir, &dragon_of_dragons(model.to_str().unwrap_or_default()));
    let s = load(&path).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((s.instances.len(), s.meshes[0].prim_count()), (11_042, 19_332));
    assert_placed(&s, &fs::read_to_string(&model).unwrap_or_default());
}

/// Eye and target of the article's flight, 22 pairs.
const FLIGHT: &str = "
1.32 11.35 0.31 0.35 11.56 0.18 -0.92 11.35 2.92 -1.58 11.55 2.19 -5.51 13.43 4.96 -5.82 13.63 4.03
-10.90 13.48 4.53 -10.39 13.68 3.69 -13.15 15.33 2.21 -12.20 15.52 1.96 -12.44 15.33 -1.92 -11.92 15.51 -1.08
-8.17 15.48 -4.71 -7.32 15.38 -4.19 -0.19 13.22 -6.09 0.31 12.72 -5.38 8.44 8.37 -5.22 8.01 7.81 -4.52
14.31 4.71 -1.89 13.40 4.46 -1.56 11.81 4.97 6.36 11.19 4.65 5.64 10.57 4.58 5.19 9.85 4.39 4.52
7.33 4.66 2.14 6.61 4.59 1.45 6.01 4.77 0.68 5.28 4.70 0 3.00 4.48 -2.16 2.27 4.42 -2.85
-1.53 4.27 -5.49 -1.89 4.21 -4.56 -3.63 4.12 -3.77 -3.80 4.06 -2.78 -4.97 3.97 2.62 -5.38 3.98 3.53
-9.38 3.97 7.47 -8.92 3.98 6.59 -16.17 5.36 7.89 -15.37 5.37 7.29 -27.30 10.08 -1.143 -26.33 10.00 -0.89
-30.81 10.88 -13.78 -29.94 10.80 -13.30";

#[test]
fn the_flight_follows_the_closed_form() {
    let numbers: Vec<f32> = FLIGHT.split_whitespace().filter_map(|w| w.parse().ok()).collect();
    let keys: Vec<[Vec3; 2]> = numbers.chunks(6).map(|c| [Vec3::from_slice(c), Vec3::from_slice(&c[3..])]).collect();
    assert_eq!(keys.len(), 22);
    let text: String = keys.iter().map(|[e, t]| format!("(eye: {e:?}, target: {t:?}), ").replace("Vec3", "")).collect();
    let s = scene(&format!(
        "(render: (frames: 421, fps: 20), camera: Spline(parametrisation: uniform, keys: [{text}], fov: 50), {BALL})"
    ));
    for (segment, t) in [(1, 0.5), (3, 0.0), (5, 0.5), (8, 0.25), (19, 0.75)] {
        let pose = camera_at(&s, &Moment::of(&s, segment as f64 + f64::from(t)));
        for (side, found) in [pose.eye, pose.target].into_iter().enumerate() {
            let [p0, p1, p2, p3] = std::array::from_fn(|k| keys[segment + k - 1][side]);
            let c = 2.0 * p0 - 5.0 * p1 + 4.0 * p2 - p3;
            let d = 3.0 * (p1 - p2) + p3 - p0;
            let expected = 0.5 * (2.0 * p1 + (p2 - p0) * t + c * t * t + d * t * t * t);
            assert!(found.distance(expected) < 1e-3, "{segment} {t}: {found} {expected}");
        }
    }
}
