//! Files of `--labels`: maps, COCO annotations, cameras and points; and how runs share them.

mod cameras;
mod coco;
mod maps;
mod runs;

use crate::common::{Place, Run};
use serde_json::Value;
use std::{env, fs, process::Command};

const SIZE: (usize, usize) = (96, 54);

/// Two spheres of radius 1 before a floor; the left one moves to the right by 0.5 a frame.
const SCENE: &str = r#"(
    render: (size: (96, 54), samples: 1, integrator: whitted, frames: 4, fps: 1),
    environment: Gradient(zenith: (0.3, 0.5, 1.0), horizon: (1.0, 1.0, 1.0), nadir: (0.2, 0.2, 0.2)),
    materials: { "red": Diffuse(color: (0.8, 0.2, 0.2)), "blue": Diffuse(color: (0.2, 0.2, 0.8)) },
    meshes: { "ball": Sphere, "floor": Quad() },
    motions: { "slide": (parts: [Keyframes(keys: [(time: 0, translate: (0, 0, 0)), (time: 3, translate: (1.5, 0, 0))])]) },
    instances: [
        Single(of: "ball", translate: (-2, 1, 0), material: "red", motion: "slide"),
        Single(of: "ball", translate: (2, 1, -3), material: "blue"),
        Single(of: "floor", scale: 40, material: "blue"),
    ],
    camera: LookAt(eye: (0, 3, 9), target: (0, 1, 0), fov: 40),
)"#;

fn place() -> Place {
    let place = Place::new(1);
    fs::write(place.path("scene.ron"), SCENE).unwrap();
    place
}

fn render(place: &Place, flags: &[&str]) -> Run {
    place.ok(&[&["render", "scene.ron", "--device", "cpu", "-o", "out/####.png"], flags].concat())
}

fn json(place: &Place, name: &str) -> Value {
    serde_json::from_slice(&fs::read(place.path(name)).unwrap()).unwrap()
}

/// The shape and the values of an NPY file, each as four bytes.
fn npy(place: &Place, name: &str) -> (String, Vec<[u8; 4]>) {
    let bytes = fs::read(place.path(name)).unwrap();
    assert_eq!(bytes[..8], *b"\x93NUMPY\x01\0");
    let end = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    assert_eq!(end % 64, 0);
    let header = String::from_utf8(bytes[10..end].to_vec()).unwrap();
    (header.trim_end().to_owned(), bytes[end..].as_chunks::<4>().0.to_vec())
}

fn floats(place: &Place, name: &str) -> Vec<f32> {
    npy(place, name).1.into_iter().map(f32::from_le_bytes).collect()
}

fn numbers(place: &Place, name: &str) -> Vec<i32> {
    npy(place, name).1.into_iter().map(i32::from_le_bytes).collect()
}

/// The camera of a frame: keys of the frame before those of all.
fn camera(transforms: &Value, frame: usize) -> impl Fn(&str) -> f64 {
    let (own, all) = (transforms["frames"][frame].clone(), transforms.clone());
    move |key| own.get(key).or(all.get(key)).unwrap().as_f64().unwrap()
}

/// The world position that each pixel shows by its depth, and its distance from the eye.
fn points(place: &Place, frame: usize, depth: &[f32]) -> Vec<Option<([f64; 3], f64)>> {
    let transforms = json(place, "out/transforms.json");
    let key = camera(&transforms, frame);
    let matrix = transforms["frames"][frame]["transform_matrix"].clone();
    let entry = |row: usize, column: usize| matrix[row][column].as_f64().unwrap();
    let point = |(pixel, &depth): (usize, &f32)| {
        let depth = f64::from(depth);
        let (column, row) = ((pixel % SIZE.0) as f64 + 0.5, (pixel / SIZE.0) as f64 + 0.5);
        let own = [(column - key("cx")) / key("fl_x"), (key("cy") - row) / key("fl_y"), -1.0].map(|v| v * depth);
        let axis = |r: usize| (0..3).map(|c| entry(r, c) * own[c]).sum::<f64>() + entry(r, 3);
        let distance = own.iter().map(|v| v * v).sum::<f64>().sqrt();
        depth.is_finite().then(|| ([0, 1, 2].map(axis), distance))
    };
    depth.iter().enumerate().map(point).collect()
}

/// Runs a script in the place, if there is a Python with `module`.
fn run_script(place: &Place, module: &str, script: &str) {
    let python = env::var("PYTHON").unwrap_or("python3".into());
    let imported = Command::new(&python).args(["-c", &format!("import {module}")]).output();
    if !imported.is_ok_and(|run| run.status.success()) {
        println!("skipped: there is no {python} with {module}");
        return;
    }
    let run = Command::new(&python).args(["-c", script]).current_dir(place.path("")).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}
