//! Views as data: `--cameras` and `--views`.

use crate::common::Place;
use std::{collections::BTreeSet, fs, path::Path};

/// Two pictures from opposite sides, and one from above, of a model about the origin.
const TRANSFORMS: &str = r#"{
    "camera_angle_x": 0.7, "w": 32, "h": 32,
    "frames": [
        { "file_path": "front", "transform_matrix": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 6], [0, 0, 0, 1]] },
        { "file_path": "back", "transform_matrix": [[-1, 0, 0, 0], [0, 1, 0, 0], [0, 0, -1, -6], [0, 0, 0, 1]] },
        { "file_path": "above", "transform_matrix": [[1, 0, 0, 0], [0, 0, 1, 6], [0, -1, 0, 0], [0, 0, 0, 1]], "k1": -0.05 }
    ]
}"#;

fn place() -> Place {
    let place = Place::new(1);
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/link.obj"), place.path("link.obj")).unwrap();
    fs::write(place.path("transforms.json"), TRANSFORMS).unwrap();
    place
}

/// Renders three views, which must be three different pictures of 32x32 pixels.
#[track_caller]
fn assert_three_pictures(flags: &[&str]) {
    let place = place();
    let quick = ["render", "link.obj", "--device", "cpu", "--samples", "1", "--denoise", "off", "-o", "out/##.png"];
    place.ok(&[&quick[..], flags].concat());
    let frames = place.frames("out");
    assert_eq!(frames.keys().collect::<Vec<_>>(), ["01.png", "02.png", "03.png"]);
    assert!(frames.values().all(|pixels| pixels.len() == 32 * 32 * 3));
    assert_eq!(frames.values().collect::<BTreeSet<_>>().len(), 3);
    let info = place.ok(&[&["info", "link.obj", "--json", "--device", "cpu"][..], &flags[..2]].concat()).json();
    assert_eq!((&info["frames"], &info["camera"]), (&3.into(), &"3 views, one per frame".into()));
}

#[test]
fn cameras_of_a_file_are_frames_of_its_size() {
    assert_three_pictures(&["--cameras", "transforms.json"]);
}

#[test]
fn views_around_a_model_are_frames() {
    assert_three_pictures(&["--views", "sphere:3", "--size", "32x32"]);
}

#[test]
fn a_view_of_a_file_is_that_of_the_same_camera_in_flags() {
    let place = place();
    let render = |flags: &[&str]| {
        let rest =
            ["--device", "cpu", "--size", "32x32", "--samples", "1", "--denoise", "off", "--exposure", "0", "-f", "1"];
        place.ok(&[&["render", "scene.ron"], flags, &rest].concat());
    };
    let fov = 0.7f64.to_degrees().to_string();
    render(&["--cameras", "transforms.json", "-o", "file.png"]);
    render(&["--eye", "0,0,6", "--target", "0,0,0", "--fov", &fov, "-o", "flags.png"]);
    place.ok(&["diff", "file.png", "flags.png", "--limit", "0.001"]);
}

#[test]
fn wrong_files_and_flags_end_with_one_error() {
    let place = place();
    fs::write(place.path("cut.json"), &TRANSFORMS[..120]).unwrap();
    let fails = |flags: &[&str], code, text| drop(place.fails(&[&["render", "link.obj"], flags].concat(), code, text));
    fails(&["--cameras", "cut.json"], 1, "cut.json:4:57: the file ends too early");
    fails(&["--cameras", "none.json"], 1, "none.json: no such file");
    fails(&["--views", "cube:3"], 2, "sphere:150");
    fails(&["--views", "sphere:3", "--cameras", "transforms.json"], 2, "cannot be used with");
    fails(&["--views", "sphere:3", "--eye", "1,2,3"], 2, "cannot be used with");
    fails(&["--cameras", "transforms.json", "--fov", "40"], 2, "--fov: the cameras of --cameras have their own optics");
    fails(&["--cameras-up", "z"], 2, "--cameras");
}
