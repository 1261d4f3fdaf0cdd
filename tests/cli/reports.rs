//! `throng info`, `check`, `trace` and `bench`: reports for people and programs.

use crate::common::Place;
use std::{
    fs,
    process::{Command, Stdio},
};

/// Two rays along -Z: the first meets the sphere in the middle of the grid, the second misses everything.
fn write_rays(place: &Place) {
    let mut bytes = b"RAY1\0\0\0\0".to_vec();
    bytes.extend(2u64.to_le_bytes());
    for y in [0.0f32, 100.0] {
        let ray = [0.0, y, 20.0, 0.0, 0.0, 0.0, -1.0, f32::INFINITY];
        bytes.extend(ray.iter().flat_map(|value| value.to_le_bytes()));
    }
    fs::write(place.path("two.ray"), bytes).unwrap();
}

#[test]
fn info_tells_people_and_programs() {
    let place = Place::new(2);
    assert!(!place.ok(&["info", "scene.ron"]).stdout.is_empty());
    let run = place.ok(&["info", "--json", "scene.ron", "--threads", "1"]);
    assert!(run.json().is_object());
    assert_eq!(run.stderr, "");
}

#[test]
fn check_accepts_a_good_scene() {
    let place = Place::new(6);
    let run = place.ok(&["check", "scene.ron"]);
    assert!(run.stdout.contains("scene.ron: ok"), "{}", run.stdout);
    let json = place.ok(&["check", "scene.ron", "--json"]).json();
    assert_eq!(
        (&json["ok"], &json["scene"]),
        (&true.into(), &"scene.ron".into())
    );
    assert_eq!(
        (&json["instances"], &json["meshes"]),
        (&9.into(), &1.into())
    );
    assert_eq!(json["frames"], 6);
    assert_eq!(json["errors"].as_array().unwrap().len(), 0);
    assert!(json["warnings"].is_array());
    assert_eq!(place.names("."), ["scene.ron"]);
}

#[test]
fn check_reports_a_bad_scene_as_json_too() {
    let place = Place::new(1);
    let run = place.fails(&["check", "nowhere.ron", "--json"], 1, "nowhere.ron");
    let json = run.json();
    assert_eq!(json["ok"], false);
    let error = json["errors"][0].as_str().unwrap();
    assert!(error.contains("nowhere.ron"), "{error}");
    assert_eq!(
        place
            .fails(&["check", "nowhere.ron"], 1, "nowhere.ron")
            .stdout,
        ""
    );
}

#[test]
fn trace_reports_rays_and_writes_hits() {
    let place = Place::new(1);
    write_rays(&place);
    for kind in ["closest", "any"] {
        #[rustfmt::skip]
        let run = place.ok(&[
            "trace", "scene.ron", "two.ray", "--kind", kind, "--hits", "two.hit", "--repeat", "2",
            "--threads", "1", "--json",
        ]);
        let json = run.json();
        assert!(json["device"].is_string());
        assert_eq!((&json["threads"], &json["rays"]), (&1.into(), &2.into()));
        assert_eq!(json["hits"], 1, "{kind}");
        for key in ["mrays_per_s", "blas_build_ms", "tlas_build_ms", "bytes"] {
            assert!(json[key].is_number(), "{key}: {json}");
        }
        let hits = fs::read(place.path("two.hit")).unwrap();
        assert_eq!(&hits[..8], b"HIT1\0\0\0\0");
        assert_eq!(hits.len(), 16 + 2 * 12);
        fs::remove_file(place.path("two.hit")).unwrap();
    }
    assert!(
        !place
            .ok(&["trace", "scene.ron", "two.ray"])
            .stdout
            .is_empty()
    );
    assert!(!place.path("two.hit").exists());
}

#[test]
fn trace_refuses_what_is_not_a_ray_file() {
    let place = Place::new(1);
    place.fails(&["trace", "scene.ron", "nowhere.ray"], 1, "nowhere.ray");
    place.fails(&["trace", "scene.ron", "scene.ron"], 1, "scene.ron");
    write_rays(&place);
    let whole = fs::read(place.path("two.ray")).unwrap();
    fs::write(place.path("cut.ray"), &whole[..whole.len() - 1]).unwrap();
    place.fails(&["trace", "scene.ron", "cut.ray"], 1, "cut.ray");
    fs::write(place.path("empty.ray"), "").unwrap();
    place.fails(&["trace", "scene.ron", "empty.ray"], 1, "empty.ray");
}

#[test]
fn bench_measures_and_dumps() {
    let place = Place::new(1);
    let args = ["bench", "scene.ron", "--repeat", "1", "--threads", "1"];
    assert!(!place.ok(&args).stdout.is_empty());
    let run = place.ok(&[&args[..], &["--json", "--dump", "dump"]].concat());
    assert!(run.json().is_object());
    let names = place.names("dump");
    assert!(names.iter().any(|name| name.ends_with(".scn")), "{names:?}");
    assert!(
        names.iter().any(|name| name.ends_with(".primary.ray")),
        "{names:?}"
    );
    assert!(
        names.iter().any(|name| name.ends_with(".primary.hit")),
        "{names:?}"
    );
}

#[test]
fn a_reader_that_closes_the_pipe_is_no_error() {
    let place = Place::new(1);
    for args in [
        &["info", "scene.ron"][..],
        &["check", "scene.ron", "--json"],
        &["--help"],
    ] {
        let mut command: Command = place.command(args);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
    }
}
