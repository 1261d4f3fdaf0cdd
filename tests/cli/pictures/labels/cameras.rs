//! Cameras and points, and files that have cameras without labels.

use super::{floats, json, place, render, run_script};
use std::fs;

#[test]
fn written_cameras_render_the_same_pictures() {
    let place = place();
    render(&place, &["--frames", "2", "--labels", "transforms,distance"]);
    fs::rename(place.path("out"), place.path("first")).unwrap();
    let cameras = ["--cameras", "first/transforms.json", "--frames", "1", "--labels", "distance,transforms"];
    render(&place, &cameras);
    let [first, second] = ["first/0002.distance.npy", "out/0001.distance.npy"].map(|name| floats(&place, name));
    let far = |(a, b): (&f32, &f32)| !(a == b || (a / b - 1.0).abs() < 1e-4);
    let differing = first.iter().zip(&second).filter(|&pair| far(pair)).count();
    assert!(differing < first.len() / 200, "{differing}");
}

#[test]
fn points_lie_on_surfaces_and_do_not_depend_on_what_exists() {
    let place = place();
    render(&place, &["--labels", "points,transforms"]);
    assert_eq!(json(&place, "out/transforms.json")["ply_file_path"], "points.ply");
    let file = fs::read(place.path("out/points.ply")).unwrap();
    let end = file.windows(11).position(|window| window == b"end_header\n").unwrap() + 11;
    let header = std::str::from_utf8(&file[..end]).unwrap();
    let count = (file.len() - end) / 27;
    assert!(header.contains(&format!("element vertex {count}\n")) && file.len() == end + 27 * count);
    assert!((5_000..=100_000).contains(&count), "{count}");
    for point in file[end..].chunks_exact(27) {
        let float = |at: usize| f32::from_le_bytes(point[4 * at..][..4].try_into().unwrap());
        let ([x, y, z], normal) = ([0, 1, 2].map(float), [3, 4, 5].map(float));
        assert!((normal.iter().map(|v| v * v).sum::<f32>() - 1.0).abs() < 1e-3);
        if y > 0.01 {
            // On one of the balls; the first may be anywhere on its way.
            let off = |x: f32, z: f32| (x * x + (y - 1.0) * (y - 1.0) + z * z).sqrt() - 1.0;
            let is_on = |off: f32| off.abs() < 1e-4;
            let first = (0..4).any(|frame| is_on(off(x + 2.0 - 0.5 * frame as f32, z)));
            assert!(first && point[24..] == [231, 124, 124] || is_on(off(x - 2.0, z + 3.0)), "{x} {y} {z} {point:?}");
        }
    }
    render(&place, &["--labels", "points", "--skip-existing"]);
    assert_eq!(fs::read(place.path("out/points.ply")).unwrap(), file);
    fs::remove_file(place.path("out/points.ply")).unwrap();
    fs::remove_file(place.path("out/0002.png")).unwrap();
    render(&place, &["--labels", "points", "--skip-existing"]);
    assert_eq!(fs::read(place.path("out/points.ply")).unwrap(), file);
}

#[test]
fn arrays_of_a_frame_are_those_of_its_other_files() {
    let place = place();
    let render_to = |output: &str, flags: &[&str]| {
        let args = [
            "render",
            "scene.ron",
            "--device",
            "cpu",
            "--frames",
            "1",
            "--integrator",
            "path",
            "--filter",
            "gaussian",
            "--transparent",
            "-o",
            output,
        ];
        place.ok(&[&args[..], flags].concat());
    };
    render_to("a.npz", &["--layers", "depth,normal,instance"]);
    render_to("a.png", &[]);
    render_to("a.exr", &["--color-depth", "32"]);
    let png = image::open(place.path("a.png")).unwrap().into_rgba8().into_raw();
    fs::write(place.path("srgb.raw"), png).unwrap();
    let exr = image::open(place.path("a.exr")).unwrap().into_rgba32f().into_raw();
    fs::write(place.path("linear.raw"), exr.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>()).unwrap();
    let script = r#"
import json
import numpy as np
a = np.load("a.npz")
assert np.array_equal(a["srgb"].ravel(), np.fromfile("srgb.raw", np.uint8)), "srgb"
assert np.array_equal(a["linear"].ravel(), np.fromfile("linear.raw", np.float32)), "linear"
assert a["srgb"].shape == a["linear"].shape == (54, 96, 4)
assert a["depth"].shape == (54, 96) and a["normal"].shape == (54, 96, 3) and a["instance"].shape == (54, 96, 6, 2)
focal = 27 / np.tan(np.radians(20))
assert np.allclose(a["K"], [[focal, 0, 48], [0, focal, 27], [0, 0, 1]], rtol=1e-6)
assert np.allclose(a["world_from_camera"][:3, 3], [0, 3, 9]) and a["world_from_camera"][2, 2] < 0
assert json.loads(a["metadata.json"])["texts"]["Frame"] == "1"
"#;
    run_script(&place, "numpy", script);
    fs::write(place.path("a.npz"), &fs::read(place.path("a.npz")).unwrap()[..900]).unwrap();
    render_to("a.npz", &["--layers", "depth,normal,instance", "--skip-existing"]);
    assert!(fs::metadata(place.path("a.npz")).unwrap().len() > 100_000);
}

#[test]
fn info_has_the_matrices_and_boxes_of_a_frame() {
    let place = place();
    let info =
        |flags: &[&str]| place.ok(&[&["info", "scene.ron", "--json", "--device", "cpu"][..], flags].concat()).json();
    assert!(info(&[]).get("frame").is_none());
    let frame = &info(&["-f", "3"])["frame"];
    assert_eq!((&frame["number"], &frame["seconds"], &frame["left_out"]), (&3.into(), &2.0.into(), &0.into()));
    let ball = &frame["instances"][0];
    assert_eq!((&ball["name"], &ball["mesh"], &ball["id"]), (&"ball.0".into(), &"ball".into(), &0.into()));
    assert_eq!(
        ball["world_from_object"],
        serde_json::json!([[1.0, 0.0, 0.0, -1.0], [0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]])
    );
    assert_eq!(ball["bounds"], serde_json::json!({ "min": [-2.0, 0.0, -1.0], "max": [0.0, 2.0, 1.0] }));
    assert_eq!(frame["world_from_camera"][1][3], 3.0);
    let first = &info(&["-f", "1", "--most", "2"])["frame"];
    assert_eq!((first["instances"].as_array().unwrap().len(), &first["left_out"]), (2, &1.into()));
    drop(place.fails(&["info", "scene.ron", "--json", "-f", "9", "--device", "cpu"], 2, "choose one of 1-4"));
}

#[test]
fn open_exr_files_have_the_matrices_of_the_camera() {
    let place = place();
    place.ok(&["render", "scene.ron", "--device", "cpu", "--frames", "1", "-o", "a.exr"]);
    let file = fs::read(place.path("a.exr")).unwrap();
    let matrix = |name: &str| -> Vec<f32> {
        let start = [name.as_bytes(), b"\0m44f\0\x40\0\0\0"].concat();
        let at = file.windows(start.len()).position(|window| window == start).unwrap() + start.len();
        file[at..at + 64].as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
    };
    // Row vectors: the point stands before the matrix.
    let mapped = |matrix: &[f32], point: [f32; 3]| {
        let [x, y, z] = point;
        [0, 1, 2, 3]
            .map(|column| x * matrix[column] + y * matrix[4 + column] + z * matrix[8 + column] + matrix[12 + column])
    };
    let [to_camera, to_ndc] = ["worldToCamera", "worldToNDC"].map(matrix);
    let eye = mapped(&to_camera, [0.0, 3.0, 9.0]);
    assert!(eye[..3].iter().all(|value| value.abs() < 1e-5), "{eye:?}");
    let target = mapped(&to_camera, [0.0, 1.0, 0.0]);
    assert!(target[0].abs() < 1e-5 && target[1].abs() < 1e-5 && (target[2] - 85f32.sqrt()).abs() < 1e-4, "{target:?}");
    let [x, y, _, w] = mapped(&to_ndc, [0.0, 1.0, 0.0]);
    assert!((x / w - 0.5).abs() < 1e-5 && (y / w - 0.5).abs() < 1e-5);
    let [x, _, _, w] = mapped(&to_ndc, [1.0, 1.0, 0.0]);
    assert!(x / w > 0.5);
    place.ok(&[
        "render",
        "scene.ron",
        "--device",
        "cpu",
        "--frames",
        "1",
        "--projection",
        "equirectangular",
        "-o",
        "b.exr",
    ]);
    let file = fs::read(place.path("b.exr")).unwrap();
    assert!(!file.windows(13).any(|window| window == b"worldToCamera"));
}
