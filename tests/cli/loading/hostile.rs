//! Numbers near the limits of floats: every run must end with a picture or a one-line error.

use crate::{common::Place, process};
use std::fs;

/// Kernel variants. Unsupported ones are skipped.
const VARIANTS: [&str; 3] = ["baseline", "avx2", "avx512"];

fn scene(motion: &str, placement: &str, camera: &str) -> String {
    format!(
        r#"(
    render: (size: (16, 9), samples: 1, frames: 9),
    environment: Constant(radiance: (1, 1, 1)),
    meshes: {{ "box": Box(), "ball": Sphere }},
    motions: {{ "move": (parts: [{motion}]) }},
    instances: [{placement}, Single(of: "ball", translate: (3, 0, 0))],
    camera: {camera},
)"#
    )
}

fn renders_on_every_variant(place: &Place, file: &str) {
    for variant in VARIANTS {
        let args = ["render", file, "--device", "cpu", "--frames", "1,2,9"];
        let mut command = place.command(&[&args[..], &["-o", "out/"]].concat());
        let output = process::output(command.env("THRONG_CPU", variant));
        let stderr = String::from_utf8_lossy(&output.stderr);
        let code = output.status.code();
        assert!(code == Some(0) || stderr.contains("no CPU variant"), "{variant} on {file}: {code:?} {stderr}");
    }
}

#[test]
fn motions_that_leave_the_range_of_floats_hide_the_instance() {
    let still = "LookAt(eye: (0, 2, 9), target: (0, 0, 0))";
    let moved = |more: &str| format!(r#"Single(of: "box", motion: "move"{more})"#);
    let cases = [
        ("Keyframes(keys: [(time: 0), (time: 0.3, scale: (1, 1, 1e-39))])", moved("")),
        ("Keyframes(keys: [(time: 0), (time: 0.3, scale: (1e30, 1e30, 1e30))])", moved(", scale: 1e12")),
        ("Bob(offset: (3e38, 0, 0), period: 0.5)", moved(", translate: (1e18, 0, 0)")),
        ("Bob(offset: (0, 3e38, 3e38), period: 0.7)", moved(", scale: (1e-6, 1, 1)")),
    ];
    for (motion, placement) in cases {
        let place = Place::new(1);
        fs::write(place.path("wild.ron"), scene(motion, &placement, still)).unwrap();
        renders_on_every_variant(&place, "wild.ron");
    }
}

#[test]
fn models_and_placements_beyond_the_range_are_refused() {
    let place = Place::new(1);
    for size in ["3e38", "1e20"] {
        let model = format!("v 0 0 0\nv {size} 0 0\nv 0 {size} {size}\nf 1 2 3\n");
        fs::write(place.path("huge.obj"), model).unwrap();
        for command in ["render", "bench", "info", "check"] {
            place.fails(&[command, "huge.obj"], 1, "huge.obj: mesh `huge` has a vertex at");
        }
    }
    let far = scene(
        "Spin(axis: (0, 1, 0), period: 1)",
        r#"Single(of: "box", translate: (1e20, 0, 0))"#,
        "LookAt(eye: (0, 2, 9), target: (0, 0, 0))",
    );
    fs::write(place.path("far.ron"), far).unwrap();
    place.fails(&["render", "far.ron"], 1, "far.ron: instance 0 reaches out of range");
}

#[test]
fn large_models_within_the_range_are_rendered_and_measured() {
    let place = Place::new(1);
    for size in ["1e15", "1e-15"] {
        let model = format!("v 0 0 0\nv {size} 0 0\nv 0 {size} {size}\nf 1 2 3\n");
        fs::write(place.path("model.obj"), model).unwrap();
        place.ok(&["render", "model.obj", "--frames", "1", "--size", "16x9", "--samples", "1", "-o", "out/"]);
        place.ok(&["bench", "model.obj", "--repeat", "1"]);
    }
}

#[test]
fn a_camera_that_passes_through_the_vertical_is_measured_too() {
    let place = Place::new(1);
    let flight = "Spline(keys: [(eye: (0, 5, -5), target: (0, 0, 0)), (eye: (0, 5, 5), target: (0, 0, 0))])";
    let file = scene("Spin(axis: (0, 1, 0), period: 1)", r#"Single(of: "box", motion: "move")"#, flight);
    fs::write(place.path("over.ron"), file).unwrap();
    place.ok(&["bench", "over.ron", "--repeat", "1"]);
    renders_on_every_variant(&place, "over.ron");
}

#[test]
fn rays_along_an_axis_from_far_away_only_miss() {
    let place = Place::new(1);
    let mut bytes = b"RAY1\0\0\0\0".to_vec();
    bytes.extend(2u64.to_le_bytes());
    let rays = [
        [1e15f32, 1e15, 1e15, 0.0, 1e-14, 0.0, 0.0, f32::INFINITY],
        [1e38, -1e38, 1e38, 0.0, 0.0, -1e15, 0.0, f32::INFINITY],
    ];
    bytes.extend(rays.as_flattened().iter().flat_map(|x| x.to_le_bytes()));
    fs::write(place.path("far.ray"), bytes).unwrap();
    for variant in VARIANTS {
        let mut command = place.command(&["trace", "scene.ron", "far.ray", "--device", "cpu"]);
        let output = process::output(command.env("THRONG_CPU", variant));
        assert!(matches!(output.status.code(), Some(0 | 1)), "{variant}: {output:?}");
    }
}
