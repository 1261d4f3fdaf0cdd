//! `--compare`: all devices process the whole input and must agree.

use crate::common::{Place, write_rays};
use serde_json::Value;

const TWICE: [&str; 3] = ["--compare", "--device", "cpu,cpu"];

#[test]
fn a_device_agrees_with_itself_about_frames() {
    let place = Place::new(2);
    let run = place.ok(&[&["render", "scene.ron"], &TWICE[..]].concat());
    for text in ["frame 1: cpu", "frame 2: cpu", "frames: 2: 0.0000 % of pixels differ"] {
        assert!(run.stderr.contains(text), "{}", run.stderr);
    }
    assert_eq!(place.names("."), ["scene.ron"]);
}

#[test]
fn compared_frames_are_written_where_output_says() {
    let place = Place::new(2);
    place.ok(&[&["render", "scene.ron", "-q", "-o", "a/"], &TWICE[..]].concat());
    place.ok(&["render", "scene.ron", "-o", "b/", "--device", "cpu"]);
    assert_eq!(place.frames("a"), place.frames("b"));
    assert_eq!(place.names("a"), ["0001.png", "0002.png"]);
}

#[test]
fn compared_frames_are_those_of_the_integrator() {
    let place = Place::new(1);
    for more in [&["--integrator", "clay"][..], &["--integrator", "depth"], &["--shutter", "0.5"]] {
        let render = |output: &'static str, compare: &[&'static str]| {
            place.ok(&[&["render", "scene.ron", "-q", "-o", output], more, compare].concat());
        };
        render("a/", &TWICE);
        render("b/", &["--device", "cpu"]);
        assert_eq!(place.frames("a"), place.frames("b"), "{more:?}");
    }
}

#[test]
fn a_comparison_tells_programs_about_each_frame_and_all() {
    let place = Place::new(2);
    let run = place.ok(&[&["render", "scene.ron", "--progress", "json"], &TWICE[..]].concat());
    assert_eq!(run.stderr, "");
    let help = place.ok(&["render", "--help"]).stdout;
    let events: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = events.iter().map(|e| e["event"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["started", "difference", "difference", "compared"]);
    for event in &events[1..] {
        for key in ["differing", "max", "mean"] {
            assert_eq!(event[key], 0.0, "{event}");
        }
        for key in event.as_object().unwrap().keys() {
            assert!(help.contains(key), "the help of render lacks `{key}`");
        }
    }
    assert_eq!(events[2]["frame"], 2);
    assert_eq!((&events[3]["frames"], &events[3]["agrees"]), (&2.into(), &true.into()));
}

#[test]
fn a_device_agrees_with_itself_about_rays() {
    let place = Place::new(1);
    write_rays(&place);
    let args = [&["trace", "scene.ron", "two.ray", "--hits", "two.hit"], &TWICE[..]].concat();
    let run = place.ok(&args);
    assert!(run.stdout.contains("0 of 2 rays differ"), "{}", run.stdout);
    assert!(place.path("two.hit").exists());
    let help = place.ok(&["trace", "--help"]).stdout;
    for kind in ["closest", "any"] {
        let json = place.ok(&[&args[..], &["--json", "--kind", kind]].concat()).json();
        assert_eq!(json["devices"].as_array().unwrap().len(), 2);
        let difference = &json["differences"][0];
        assert_eq!((&difference["rays"], &difference["differing"]), (&2.into(), &0.into()));
        assert_eq!(difference["agrees"], true);
        for key in difference.as_object().unwrap().keys() {
            assert!(help.contains(key), "the help of trace lacks `{key}`");
        }
    }
}

#[test]
fn one_device_alone_cannot_be_compared() {
    let place = Place::new(1);
    write_rays(&place);
    let text = "--compare needs at least two devices";
    place.fails(&["render", "scene.ron", "--compare"], 2, text);
    place.fails(&["trace", "scene.ron", "two.ray", "--compare"], 2, text);
    let skipping = ["render", "scene.ron", "--compare", "--skip-existing"];
    place.fails(&skipping, 2, "cannot be used with");
}
