//! Placements whose transforms are in a file have the pictures of the same transforms as keyframes.

use crate::common::{render_on_each, settings};
use std::{fmt::Write as _, fs};
use tempfile::TempDir;
use throng::{
    loader::load,
    scene::{Integrator, Scene, Shutter},
};
use throng_device::{FrameSettings, PixelType, Rendered};
use throng_picture::aov::{Aov, AovSet};

const SIDE: u32 = 48;
/// Time, x, and degrees about y, of two objects.
const KEYS: [[f32; 5]; 4] = [
    [0.0, -1.4, 0.0, 1.2, 0.0],
    [0.5, -0.8, 40.0, 1.1, -30.0],
    [1.0, -0.6, 60.0, 0.2, 20.0],
    [1.5, 0.4, 100.0, 0.0, 30.0],
];

/// A scene with these motions and placements, in its second frame.
fn scene(dir: &TempDir, motions: &str, placements: &str) -> Scene {
    let text = format!(
        r#"(
            render: (fps: 1.3, start: 0.55),
            environment: Gradient(zenith: (0.3, 0.5, 0.9), horizon: (0.8, 0.8, 0.8), nadir: (0.2, 0.2, 0.2)),
            materials: {{ "red": Diffuse(color: (0.8, 0.2, 0.1)) }},
            meshes: {{ "brick": Box(size: (1.2, 0.6, 0.4)), "floor": Quad() }},
            groups: {{ "pair": [Single(of: "brick"), Single(of: "brick", translate: (0, 0.6, 0), scale: 0.5)] }},
            motions: {{ {motions} }},
            instances: [Single(of: "floor", scale: 20, translate: (0, -1, 0)), {placements}],
            camera: LookAt(eye: (0, 1.5, 6), target: (0, 0, 0)),
        )"#
    );
    let path = dir.path().join("s.ron");
    fs::write(&path, text).unwrap();
    load(&path).unwrap_or_else(|error| panic!("{error}"))
}

fn table(dir: &TempDir, of: &str) -> Scene {
    let mut text = "time,id,x,y,z,yaw\n".to_owned();
    for [time, a, turn_a, b, turn_b] in KEYS {
        writeln!(text, "{time},a,{a},0,0,{turn_a}\n{time},b,{b},0.4,1,{turn_b}").unwrap();
    }
    fs::write(dir.path().join("tracks.csv"), text).unwrap();
    scene(dir, "", &format!(r#"Table(of: "{of}", file: "tracks.csv", material: "red")"#))
}

fn keyframes(dir: &TempDir, of: &str) -> Scene {
    let motion = |place: usize, y: f32, z: f32| {
        let key = |key: &[f32; 5]| {
            format!("(time: {}, translate: ({}, {y}, {z}), rotate: (0, {}, 0))", key[0], key[place], key[place + 1])
        };
        let keys = Vec::from_iter(KEYS.iter().map(key)).join(", ");
        format!(r#""{place}": (parts: [Keyframes(keys: [{keys}])])"#)
    };
    let motions = format!("{}, {}", motion(1, 0.0, 0.0), motion(3, 0.4, 1.0));
    let single = |motion: &str| format!(r#"Single(of: "{of}", motion: "{motion}", material: "red")"#);
    scene(dir, &motions, &format!("{}, {}", single("1"), single("3")))
}

fn pictures(scene: Scene, shutter: Option<Shutter>) -> Vec<Rendered> {
    let aovs = AovSet::from_iter([Aov::Depth, Aov::Motion]);
    let samples = if shutter.is_some() { 64 } else { 4 };
    let own = settings(SIDE, SIDE, Integrator::Path);
    render_on_each(scene, &FrameSettings { aovs, shutter, samples, pixels: PixelType::F32, ..own })
}

/// The mean difference of finite numbers.
fn difference(found: &[f32], expected: &[f32]) -> f32 {
    let pairs = found.iter().zip(expected).filter(|(a, b)| a.is_finite() && b.is_finite());
    let (count, sum) = pairs.fold((0.0, 0.0), |(count, sum), (a, b)| (count + 1.0, sum + (a - b).abs()));
    sum / count
}

#[test]
fn pictures_vectors_and_blur_are_those_of_keyframes() {
    let dir = tempfile::tempdir().unwrap();
    for of in ["brick", "pair"] {
        for shutter in [None, Some(Shutter::new(-0.1, 0.3).unwrap())] {
            let found = pictures(table(&dir, of), shutter);
            let expected = pictures(keyframes(&dir, of), shutter);
            for (found, expected) in found.iter().zip(&expected) {
                let floats = |rendered: &Rendered| -> Vec<f32> { bytemuck::pod_collect_to_vec(&rendered.pixels) };
                let worst = difference(&floats(found), &floats(expected));
                assert!(worst < 1e-3, "{of} {shutter:?}: {worst}");
                for (found, expected) in found.aovs.iter().zip(&expected.aovs) {
                    let worst = difference(&found.values, &expected.values);
                    assert!(worst < 1e-3, "{of} {shutter:?} {:?}: {worst}", found.aov);
                }
                let vectors = found.aovs.iter().find(|image| image.aov == Aov::Motion).unwrap();
                assert!(vectors.values.iter().any(|pixels| pixels.abs() > 1.0), "objects move");
            }
        }
    }
}
