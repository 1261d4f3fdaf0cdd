//! Files of cameras: what is read from each kind, and what their errors say.

use super::{apply, calibration::OwnOptics, cameras};
use crate::options::{ViewOptions, WorldUp};
use glam::{Mat3, Vec2, Vec3};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::{
    f32::consts::{FRAC_PI_2, FRAC_PI_4},
    fs,
    path::PathBuf,
};
use tempfile::TempDir;
use throng_scene::{Distortion, Intrinsics, Motion, Optics, Phase, Projection, Scene, View};

/// A temporary folder with files.
struct Place(TempDir);

impl Place {
    fn with(files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(dir.path().join(name), text).unwrap();
        }
        Self(dir)
    }

    fn options(&self, name: &str) -> ViewOptions {
        ViewOptions { cameras: Some(self.0.path().join(name)), ..ViewOptions::default() }
    }
}

/// A scene with the views of a file.
fn loaded_with(name: &str, text: &str, change: impl FnOnce(&mut ViewOptions)) -> Result<Scene, String> {
    let place = Place::with(&[(name, text)]);
    let (mut scene, mut options) = (Scene::default(), place.options(name));
    change(&mut options);
    match apply(&mut scene, &options, None) {
        Ok(()) => Ok(scene),
        Err(error) => Err(error.to_string().replace(&format!("{}/", place.0.path().display()), "")),
    }
}

fn views_of(name: &str, text: &str) -> Vec<View> {
    let scene = loaded_with(name, text, |_| ()).unwrap();
    scene.views.unwrap().list().to_vec()
}

#[track_caller]
fn assert_fails(name: &str, text: &str, told: &[&str]) {
    let error = loaded_with(name, text, |_| ()).map(|_| ()).unwrap_err();
    assert!(told.iter().all(|part| error.contains(part)) && !error.contains('\n'), "{error}\nwithout {told:?}");
}

fn calibrated(view: &View) -> Intrinsics {
    match view.optics {
        Some(Optics::Calibrated(intrinsics)) => intrinsics,
        other => panic!("{other:?}"),
    }
}

/// A camera at (1, 2, 3) that looks along +X of its world, with +Z up.
const MATRIX: &str = "[[0, 0, -1, 1], [-1, 0, 0, 2], [0, 1, 0, 3], [0, 0, 0, 1]]";

fn transforms() -> Value {
    let matrix: Value = serde_json::from_str(MATRIX).unwrap();
    json!({
        "camera_model": "OPENCV", "fl_x": 600, "fl_y": 500.0, "cx": 310, "cy": 250, "w": 640, "h": 480.0, "k1": -0.1, "p2": 0.001,
        "aabb_scale": 16, "ply_file_path": "sparse_pc.ply", "applied_transform": [[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0]],
        "frames": [
            { "file_path": "./images/a.png", "transform_matrix": matrix, "colmap_im_id": 1 },
            { "file_path": "./images/b.png", "transform_matrix": matrix, "fl_x": 700, "k1": 0, "p2": 0 },
        ],
    })
}

/// The text of the usual file after a change at a JSON pointer.
fn changed(pointer: &str, value: Value) -> String {
    let mut file = transforms();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match file.pointer_mut(parent).unwrap() {
        Value::Object(object) => drop(object.insert(key.to_owned(), value)),
        Value::Array(list) => list[key.parse::<usize>().unwrap()] = value,
        _ => panic!("{pointer}"),
    }
    file.to_string()
}

#[test]
fn transforms_have_lenses_for_all_frames_and_of_frames() {
    let scene = loaded_with("transforms.json", &transforms().to_string(), |_| ()).unwrap();
    assert_eq!((scene.settings.width, scene.settings.height, scene.settings.frames), (640, 480, 2));
    assert!(scene.notes.is_empty() && scene.warnings.is_empty() && scene.doubts.is_empty());
    let views = scene.views.unwrap();
    let [a, b] = views.list() else { panic!() };
    assert_eq!(
        (&*a.name, a.eye, a.axes.z_axis, a.axes.y_axis),
        ("./images/a.png", Vec3::new(1.0, 2.0, 3.0), Vec3::NEG_X, Vec3::Z)
    );
    let lens = calibrated(a);
    assert!(lens.focal.abs_diff_eq(Vec2::new(600.0 / 640.0, 500.0 / 480.0), 1e-6));
    assert!(lens.center.abs_diff_eq(Vec2::new(310.0 / 640.0, 250.0 / 480.0), 1e-6));
    assert_eq!(lens.distortion, Distortion::Rational { k: [-0.1, 0.0, 0.0, 0.0, 0.0, 0.0], p: [0.0, 0.001] });
    assert_eq!(calibrated(b).distortion, Distortion::None);
    assert!((calibrated(b).focal.x - 700.0 / 640.0).abs() < 1e-6);
}

#[test]
fn a_world_with_z_up_is_turned() {
    let scene =
        loaded_with("t.json", &transforms().to_string(), |options| options.cameras_up = Some(WorldUp::Z)).unwrap();
    let view = &scene.views.unwrap().list()[0].clone();
    assert_eq!((view.eye, view.axes.y_axis), (Vec3::new(1.0, 3.0, -2.0), Vec3::Y));
    assert_eq!(view.axes.z_axis, Vec3::NEG_X);
}

#[test]
fn an_angle_alone_is_a_horizontal_field_of_view() {
    let file =
        format!(r#"{{"camera_angle_x": 1.0, "frames": [{{"transform_matrix": {MATRIX}, "file_path": "r_0"}}]}}"#);
    let views = views_of("transforms_train.json", &file);
    let Some(Optics::Plain(Projection::Perspective { fov_y })) = views[0].optics else { panic!("{views:?}") };
    // Scenes have pictures of 16:9.
    assert!(((0.5 * fov_y).tan() * 16.0 / 9.0 - 0.5f32.tan()).abs() < 1e-6, "{fov_y}");
}

#[test]
fn fisheyes_and_panoramas_are_told_by_their_names() {
    let fisheye = changed("/camera_model", json!("OPENCV_FISHEYE")).replace("\"p2\":0.001", "\"k4\":0.001");
    let lens = calibrated(&views_of("t.json", &fisheye)[0]);
    assert_eq!(lens.distortion, Distortion::Fisheye { k: [-0.1, 0.0, 0.0, 0.001] });
    let ngp = changed("/is_fisheye", json!(true)).replace("\"p2\":0.001", "\"p2\":0");
    assert!(matches!(calibrated(&views_of("t.json", &ngp)[1]).distortion, Distortion::Fisheye { .. }));
    let panorama = changed("/camera_model", json!("EQUIRECTANGULAR"));
    assert_eq!(views_of("t.json", &panorama)[0].optics, Some(Optics::Plain(Projection::Equirectangular)));
}

#[test]
fn faults_of_transforms_are_told_with_the_frame() {
    let matrix = |at: &str, value| changed(&format!("/frames/1/transform_matrix/{at}"), value);
    let b = "t.json: frame 1 (`./images/b.png`): ";
    for (text, told) in [
        (matrix("0", json!([1, 2])), &[b, "has 4 rows of 2"][..]),
        (matrix("0/0", json!("x")), &[b, "rows of numbers"]),
        (matrix("0/0", json!(0.5)), &[b, "is no rotation"]),
        (matrix("0/2", json!(1)), &[b, "mirrors"]),
        (matrix("3/3", json!(2)), &[b, "last row"]),
        (changed("/frames/1/transform_matrix", json!(null)), &[b, "rows of numbers"]),
        (changed("/frames/1/fl_x", json!(-3)), &[b, "-3 pixels: write one above 0"]),
        (changed("/frames/1/w", json!(641)), &[b, "641x480", "640x480", "one size"]),
        (changed("/frames/1/h", json!(0)), &[b, "640x0", "1 to 65536"]),
        (changed("/frames/1/k4", json!(0.1)), &[b, "FULL_OPENCV"]),
        (changed("/frames/1/camera_model", json!("FISHEYE624")), &[b, "FISHEYE624", "EQUIRECTANGULAR"]),
        (changed("/frames/1/k1", json!(-0.9)), &[b, "folds over at", "640x480 pixels"]),
        (changed("/frames/1/time", json!(1)), &["frame 0 (`./images/a.png`): ", "no `time`, but others have"]),
        (changed("/frames/1", json!(7)), &["t.json: frame 1: it is no object"]),
        (changed("/frames", json!([])), &["t.json: there are no frames"]),
        (changed("/frames", json!({})), &["`frames` is no list"]),
        ("{}".to_owned(), &["no `frames`", "transforms.json"]),
        ("3".to_owned(), &["has no cameras"]),
        (transforms().to_string().replace("600", "NaN"), &["t.json:1:", "NaN, Infinity"]),
        (transforms().to_string()[..200].to_owned(), &["t.json:1:", "the file ends too early"]),
    ] {
        assert_fails("t.json", &text, told);
    }
    let no_lens = format!(r#"{{"frames": [{{"transform_matrix": {MATRIX}}}]}}"#);
    assert_fails("t.json", &no_lens, &["frame 0: it has no focal length", "camera_angle_x"]);
    let no_size = format!(r#"{{"fl_x": 3, "frames": [{{"transform_matrix": {MATRIX}}}]}}"#);
    assert_fails("t.json", &no_size, &["frame 0: it has numbers in pixels, but no size"]);
}

#[test]
fn unknown_keys_of_transforms_are_noted_once() {
    let scene = loaded_with("t.json", &changed("/frames/0/rolling", json!(1)), |_| ()).unwrap();
    assert!(
        scene.notes.len() == 1 && scene.notes[0].ends_with("not used; the unknown keys are rolling"),
        "{:?}",
        scene.notes
    );
}

#[test]
fn times_of_a_file_count_and_otherwise_those_of_an_animation_of_the_same_length() {
    let times = |text: &str, frames, moves: bool| {
        let place = Place::with(&[("t.json", text)]);
        let mut scene = Scene::default();
        (scene.settings.frames, scene.settings.start, scene.settings.fps) = (frames, 2.0, 4.0);
        if moves {
            scene.motions.push(Motion { parts: Vec::new(), phase: Phase::Same });
        }
        apply(&mut scene, &place.options("t.json"), None).unwrap();
        [1, 2, 9].map(|number| scene.time_of(number))
    };
    let untimed = transforms().to_string();
    assert_eq!(times(&untimed, 2, true), [2.0, 2.25, 2.25]);
    assert_eq!(times(&untimed, 3, true), [2.0; 3]);
    assert_eq!(times(&untimed, 2, false), [2.0; 3]);
    let mut timed = transforms();
    (timed["frames"][0]["time"], timed["frames"][1]["time"]) = (json!(0.5), json!(7));
    assert_eq!(times(&timed.to_string(), 2, true), [0.5, 7.0, 7.0]);
}

#[test]
fn another_aspect_ratio_is_doubted() {
    let place = Place::with(&[("t.json", &transforms().to_string())]);
    for (size, doubts) in [((320, 240), 0), ((1281, 960), 0), ((320, 320), 1)] {
        let mut scene = Scene::default();
        apply(&mut scene, &place.options("t.json"), Some(size)).unwrap();
        assert_eq!(scene.doubts.len(), doubts, "{:?}", scene.doubts);
        assert_eq!((scene.settings.width, scene.settings.height), (960, 540));
    }
}

#[test]
fn lists_have_matrices_objects_and_views_of_trellis() {
    let list = format!(
        r#"[{MATRIX}, [[1, 0, 0, 4], [0, 1, 0, 5], [0, 0, 1, 6]],
            {{"matrix": [[1, 0, 0, 4], [0, 1, 0, 5], [0, 0, 1, 6]], "convention": "opencv", "K": [[400, 0, 200], [0, 300, 100], [0, 0, 1]],
              "size": [400, 200], "name": "c"}},
            {{"yaw": {FRAC_PI_4}, "pitch": 0.5, "radius": 2, "fov": {FRAC_PI_2}}}]"#
    );
    let scene = loaded_with("list.json", &list, |options| options.fov = Some(30.0)).unwrap();
    assert_eq!((scene.settings.width, scene.settings.height), (400, 200));
    let views = scene.views.unwrap();
    let [first, second, third, around] = views.list() else { panic!() };
    assert_eq!((first.eye, first.optics), (Vec3::new(1.0, 2.0, 3.0), None));
    assert_eq!((second.axes, second.optics), (Mat3::IDENTITY, None));
    assert_eq!((third.axes, &*third.name), (Mat3::from_diagonal(Vec3::new(1.0, -1.0, -1.0)), "c"));
    assert_eq!((calibrated(third).focal, calibrated(third).center), (Vec2::new(1.0, 1.5), Vec2::splat(0.5)));
    let level = 2.0 * 0.5f32.cos();
    let eye = Vec3::new(FRAC_PI_4.cos() * level, 2.0 * 0.5f32.sin(), -FRAC_PI_4.sin() * level);
    assert!(around.eye.abs_diff_eq(eye, 1e-6), "{around:?}");
    let Some(Optics::Plain(Projection::Perspective { fov_y })) = around.optics else { panic!("{around:?}") };
    assert!(((0.5 * fov_y).tan() - 0.5).abs() < 1e-6, "{fov_y}");
    let turned = loaded_with("list.json", &list, |options| options.cameras_up = Some(WorldUp::Z)).unwrap();
    assert_eq!(turned.views.unwrap().list()[3].eye, around.eye);
}

#[test]
fn faults_of_lists_are_told_with_the_item() {
    let around = |values: &str| format!("[{MATRIX}, {{{values}}}]");
    let placed = |values: &str| around(&format!(r#""matrix": {MATRIX}, {values}"#));
    for (text, told) in [
        ("[]".to_owned(), "there are no items"),
        (format!("[{MATRIX}, [1, 2]]"), "item 1: it is no list of rows"),
        (format!("[{MATRIX}, \"x\"]"), "item 1: it is no camera"),
        (around(""), "item 1: `matrix` is missing"),
        (around(r#""yaw": 1, "pitch": 0, "radius": 2"#), "item 1: `fov` is missing"),
        (around(r#""yaw": 1, "pitch": 2, "radius": 2, "fov": 1"#), "item 1: `pitch` is 2"),
        (around(r#""yaw": 1, "pitch": 1, "radius": 0, "fov": 1"#), "item 1: `radius` is 0"),
        (around(r#""yaw": 1, "pitch": 1, "radius": 2, "fov": 4"#), "item 1: its field of view is 4"),
        (
            around(r#""yaw": 1, "pitsch": 1, "radius": 2, "fov": 4"#),
            "the key `pitsch` is unknown: did you mean `pitch`?",
        ),
        (
            placed(r#""name": "x", "K": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]"#),
            "item 1 (`x`): it has numbers in pixels, but no size",
        ),
        (placed(r#""size": [8, 8], "K": [[1, 1, 0], [0, 1, 0], [0, 0, 1]]"#), "`K` has a skew of 1"),
        (placed(r#""size": [8, 8], "K": [[1, 0], [0, 1]]"#), "`K` has 2 rows"),
        (placed(r#""size": [8, 8], "K": [[1, 0, 0], [0, 1, 0], [1, 0, 1]]"#), "`K` is no projection"),
        (placed(r#""size": 8"#), "`size` is no pair"),
        (placed(r#""convention": "blender""#), "there is no convention `blender`"),
        (placed(r#""time": 1e9"#), "`time` is 1000000000"),
        (placed(r#""name": 3"#), "`name` is no text"),
    ] {
        assert_fails("list.json", &text, &[told]);
    }
}

#[test]
fn flags_for_optics_that_all_cameras_have_are_refused() {
    let with = |change: fn(&mut ViewOptions)| {
        loaded_with("t.json", &transforms().to_string(), change).map(|_| ()).unwrap_err()
    };
    assert!(with(|options| options.fov = Some(40.0)).starts_with("--fov: "));
    assert!(with(|options| options.lens.shift = Some(Vec2::ONE)).starts_with("--shift: "));
    assert!(with(|options| options.eye = Some(Vec3::ONE)).starts_with("--eye: "));
    assert!(with(|options| options.views = "sphere:3".parse().ok()).starts_with("--views: "));
}

const CAMERAS: &str = "# Camera list\n1 SIMPLE_RADIAL 640 480 500 320 240 -0.1\n\n3 PINHOLE 640 480 500 400 320 240\n4 FOV 9 9 1 1 1 1 1\n";
/// A camera in front of the origin, which looks at it, and another that is turned by a right angle about its y axis.
const IMAGES: &str = "# Image list\n7 0.7071067811865476 0 0.7071067811865476 0 0 0 5 3 right side.png\n\n2 1 0 0 0 1 2 5 1 a.png\n10 20 -1 30 40 5\n";

fn colmap(cameras: &str, images: &str) -> Result<cameras::Cameras, String> {
    let place = Place::with(&[("cameras.txt", cameras), ("images.txt", images)]);
    let folder = place.0.path();
    cameras::read(folder).map_err(|error| error.to_string().replace(&format!("{}/", folder.display()), ""))
}

#[test]
fn images_of_colmap_come_in_the_order_of_their_numbers() {
    let cameras = colmap(CAMERAS, IMAGES).unwrap();
    assert_eq!(cameras.size, Some([640, 480]));
    let [first, second] = &cameras.list[..] else { panic!() };
    assert_eq!((first.number, &*first.name, second.number, &*second.name), (2, "a.png", 7, "right side.png"));
    assert_eq!(
        (first.pose.eye.as_vec3(), first.pose.axes.z_axis.as_vec3()),
        (Vec3::new(-1.0, -2.0, -5.0), Vec3::NEG_Z)
    );
    assert_eq!(first.pose.axes.y_axis.as_vec3(), Vec3::NEG_Y);
    // The origin is 5 units ahead of it.
    let back = second.pose.axes.z_axis;
    assert!((second.pose.eye - 5.0 * back).length() < 1e-9, "{:?}", second.pose);
    let OwnOptics::Given(Optics::Calibrated(lens)) = first.optics else { panic!("{:?}", first.optics) };
    assert!(lens.focal.abs_diff_eq(Vec2::new(500.0 / 640.0, 500.0 / 480.0), 1e-6));
    assert_eq!(lens.distortion, Distortion::Rational { k: [-0.1, 0.0, 0.0, 0.0, 0.0, 0.0], p: [0.0; 2] });
}

#[test]
fn colmaps_parameters_are_in_its_order() {
    for (line, expected) in [
        (
            "FULL_OPENCV 9 9 5 5 4 4 1 2 7 8 3 4 5 6",
            Distortion::Rational { k: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], p: [7.0, 8.0] },
        ),
        ("OPENCV 9 9 5 5 4 4 1 2 7 8", Distortion::Rational { k: [1.0, 2.0, 0.0, 0.0, 0.0, 0.0], p: [7.0, 8.0] }),
        ("RADIAL 9 9 5 4 4 1 2", Distortion::Rational { k: [1.0, 2.0, 0.0, 0.0, 0.0, 0.0], p: [0.0; 2] }),
        ("OPENCV_FISHEYE 9 9 5 5 4 4 1 2 3 4", Distortion::Fisheye { k: [1.0, 2.0, 3.0, 4.0] }),
        ("RADIAL_FISHEYE 9 9 5 4 4 1 2", Distortion::Fisheye { k: [1.0, 2.0, 0.0, 0.0] }),
        ("SIMPLE_RADIAL_FISHEYE 9 9 5 4 4 1", Distortion::Fisheye { k: [1.0, 0.0, 0.0, 0.0] }),
        ("SIMPLE_PINHOLE 9 9 5 4 4", Distortion::None),
    ] {
        let cameras = colmap(&format!("1 {line}\n"), "2 1 0 0 0 1 2 5 1 a.png\n").unwrap();
        let OwnOptics::Given(Optics::Calibrated(lens)) = cameras.list[0].optics else { panic!("{line}") };
        assert_eq!(lens.distortion, expected, "{line}");
    }
}

#[test]
fn faults_of_colmaps_files_are_told_with_the_line() {
    for (cameras, images, told) in [
        (CAMERAS, "2 1 0 0 0 1 2 5 4 a.png\n", "cameras.txt:5: the camera model FOV is not supported"),
        (CAMERAS, "2 1 0 0 0 1 2 5 9 a.png\n", "images.txt:1: there is no camera 9"),
        (CAMERAS, "2 1 0 0 0 1 2 5 1 a.png\n3 1 0 0 0 1 2 5 1 b.png\n", "images.txt:2: this line seems to be an image"),
        (CAMERAS, "2 1 0 0 0 1 2 5 1 a.png\n1 2\n", "images.txt:2: these are no points"),
        (CAMERAS, "2 1 0 0 0 1 2 5 1\n", "images.txt:1: this is no image"),
        (CAMERAS, "2 0 0 0 0 1 2 5 1 a.png\n", "images.txt:1: the quaternion 0 0 0 0"),
        (CAMERAS, "2 1 0 nan 0 1 2 5 1 a.png\n", "images.txt:1: `nan` is no finite number"),
        (CAMERAS, "2 1 0 0 0 1 2 5 1 a\n\n2 1 0 0 0 1 2 5 1 b\n", "images.txt:3: image 2 comes twice"),
        (CAMERAS, "# nothing\n", "there are no images"),
        ("1 PINHOLE 640 480 500 400 320\n", IMAGES, "cameras.txt:1: PINHOLE has the 4 parameters fx fy cx cy, not 3"),
        ("1 PINHOLE 640 480 -500 400 320 1\n", IMAGES, "cameras.txt:1: its focal length is -500 pixels"),
        ("1 PINHOLE 640 0.5 500 400 320 1\n", IMAGES, "cameras.txt:1: its picture has 640x0.5"),
        ("1 PINHOLE\n", IMAGES, "cameras.txt:1: this is no camera"),
        ("1 PINHOLE 6 4 5 5 3 2\n1 PINHOLE 6 4 5 5 3 2\n", IMAGES, "cameras.txt:2: camera 1 comes twice"),
        ("1 PINHOLE 6 4 5 5 3 2\n3 PINHOLE 6 5 5 5 3 2\n", IMAGES, "images.txt:2: its picture has 6x5 pixels"),
    ] {
        let error = colmap(cameras, images).map(|_| ()).unwrap_err();
        assert!(error.contains(told), "{error}\nwithout {told}");
    }
}

#[test]
fn folders_and_other_files_without_cameras_are_refused() {
    let place = Place::with(&[("a.obj", ""), ("images.bin", "")]);
    for (path, told) in [
        (place.0.path().to_owned(), "model_converter"),
        (place.0.path().join("a.obj"), "this is no file of cameras: use transforms.json"),
        (place.0.path().join("b.obj"), "no such file"),
        (place.0.path().join("b.json"), "no such file"),
        (place.0.path().join("images.txt"), "no such file"),
    ] {
        let error = cameras::read(&path).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
    let place = Place::with(&[("transforms.json", &transforms().to_string())]);
    assert_eq!(cameras::read(place.0.path()).unwrap().list.len(), 2);
}

fn filmed(scale: Value) -> String {
    json!({
        "asset": { "version": "2.0" },
        "scene": 0,
        "scenes": [{ "nodes": [0, 2] }],
        "nodes": [
            { "children": [1], "translation": [0, 3, 0] },
            { "camera": 1, "rotation": [0, std::f64::consts::FRAC_1_SQRT_2, 0, std::f64::consts::FRAC_1_SQRT_2], "scale": scale },
            { "camera": 0, "name": "Behind", "translation": [0, 0, -5] },
        ],
        "cameras": [
            { "type": "perspective", "perspective": { "yfov": 0.7, "znear": 0.1 } },
            { "type": "orthographic", "name": "Plan", "orthographic": { "xmag": 2, "ymag": 1.5, "znear": 0.1, "zfar": 9 } },
        ],
    })
    .to_string()
}

#[test]
fn cameras_of_gltf_files_are_views_at_rest() {
    let views = views_of("cameras.gltf", &filmed(json!([1, 2, 1])));
    let [behind, plan] = &views[..] else { panic!("{views:?}") };
    assert_eq!((&*behind.name, behind.eye, behind.axes), ("Behind", Vec3::new(0.0, 0.0, -5.0), Mat3::IDENTITY));
    assert_eq!(behind.optics, Some(Optics::Plain(Projection::Perspective { fov_y: 0.7 })));
    assert_eq!((&*plan.name, plan.eye), ("Plan", Vec3::new(0.0, 3.0, 0.0)));
    assert!(plan.axes.z_axis.abs_diff_eq(Vec3::X, 1e-6), "{plan:?}");
    assert_eq!(plan.optics, Some(Optics::Plain(Projection::Orthographic { height: 3.0 })));
}

#[test]
fn mirrored_and_missing_cameras_of_gltf_files_are_refused() {
    assert_fails("cameras.gltf", &filmed(json!([-1, 1, 1])), &["cameras.gltf: camera 1 (`Plan`): its node mirrors"]);
    let empty = r#"{"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{}]}"#;
    assert_fails("cameras.gltf", empty, &["there are no cameras in it"]);
}

proptest! {
    #![proptest_config(throng_testing::same_cases(256))]

    #[test]
    fn damaged_files_are_errors_and_no_panics(at in 0usize..2000, cut in 0usize..40, put in "[-0-9eE.\\[\\]{},:\"a-z]{0,12}", which in 0usize..5) {
        let list = format!(r#"[{MATRIX}, {{"matrix": {MATRIX}, "K": [[4, 0, 2], [0, 3, 1], [0, 0, 1]], "size": [4, 2], "time": 1}},
            {{"yaw": 1, "pitch": 0.5, "radius": 2, "fov": 1}}]"#);
        let (name, text) = match which {
            0 => ("t.json", transforms().to_string()),
            1 => ("list.json", list),
            2 => ("cameras.gltf", filmed(json!([1, 1, 1]))),
            3 => ("cameras.txt", CAMERAS.to_owned()),
            _ => ("images.txt", IMAGES.to_owned()),
        };
        let start = at % text.len();
        let end = (start + cut).min(text.len());
        let damaged = [&text[..start], &put, &text[end..]].concat();
        let place = Place::with(&[("cameras.txt", CAMERAS), ("images.txt", IMAGES), (name, &damaged)]);
        let read: Result<(), String> = apply(&mut Scene::default(), &place.options(name), None).map_err(|error| error.to_string());
        let path: PathBuf = place.0.path().to_owned();
        if let Err(error) = read {
            prop_assert!(!error.contains('\n') && error.contains(&*path.to_string_lossy()), "{}", error);
        }
    }
}
