//! Checkpoints and partial pictures: an interrupted render continues, and its result equals an uninterrupted one.
#![cfg(unix)]

use crate::{
    common::{Place, Run},
    process::{Process, wait_until},
};
use std::fs;

/// More samples than any machine renders during a test.
const ENDLESS_SAMPLES: &str = "1000000";

fn film(place: &Place, name: &str) -> Vec<u8> {
    fs::read(place.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

#[test]
fn more_samples_go_on_from_those_that_are_there() {
    let place = Place::new(2);
    let render = |folder: &str, samples: &str| {
        let out = format!("{folder}/");
        let args = ["render", "scene.ron", "-o", &out, "--samples", samples];
        place.ok(&[&args[..], &["--checkpoint"]].concat())
    };
    for samples in ["3", "20"] {
        render("pieces", samples);
    }
    render("once", "20");
    for name in ["0001.png", "0002.png"] {
        let (a, b) = (format!("pieces/{name}"), format!("once/{name}"));
        assert_eq!(film(&place, &a), film(&place, &b));
        let (a, b) = (format!("{a}.film"), format!("{b}.film"));
        assert!(film(&place, &a) == film(&place, &b), "{name}");
    }
    // A film with more samples is kept.
    let shown = || image::open(place.path("once/0001.png")).unwrap();
    let before = shown();
    render("once", "5");
    assert_eq!(shown(), before);
}

#[test]
fn an_interrupted_frame_is_kept_and_gone_on_with() {
    let place = Place::new(1);
    let args = ["render", "scene.ron", "-o", "out/", "--checkpoint", "--samples"];
    let mut command = place.command(&[&args[..], &[ENDLESS_SAMPLES, "--write-partial", "0.1"]].concat());
    let process = Process::start(&mut command);
    wait_until("a partial picture", || place.path("out/0001.partial.png").exists());
    process.send(libc::SIGINT);
    let run = Run::from(process.finish());
    assert_eq!(run.code, 75, "{}", run.stderr);
    assert!(!place.path("out/0001.png").exists());
    let kept = film(&place, "out/0001.png.film");

    // The interrupted run already has enough samples for this run.
    place.ok(&[&args[..], &["1"]].concat());
    assert!(place.path("out/0001.png").exists());
    assert!(!place.path("out/0001.partial.png").exists());
    assert!(film(&place, "out/0001.png.film") == kept);
    place.assert_no_parts("out");
}

#[test]
fn a_signal_shows_the_picture_as_it_stands() {
    let place = Place::new(1);
    let args = ["render", "scene.ron", "-o", "out/", "--device", "cpu", "--write-partial", "1000000"];
    let mut command = place.command(&[&args[..], &["--samples", ENDLESS_SAMPLES, "--size", "320x180"]].concat());
    let mut process = Process::start(&mut command);
    wait_until("the folder", || place.path("out").exists());
    wait_until("a partial picture", || {
        assert!(process.has_ended().is_none(), "ended early");
        process.send(libc::SIGUSR1);
        std::thread::sleep(std::time::Duration::from_millis(20));
        place.path("out/0001.partial.png").exists()
    });
    process.send(libc::SIGINT);
    assert_eq!(process.finish().status.code(), Some(75));
}

#[test]
fn checkpoints_of_something_else_are_refused_with_a_way_out() {
    let place = Place::new(1);
    let args = ["render", "scene.ron", "-o", "a.png", "--checkpoint"];
    place.ok(&args);
    let other = |more: &[&str], text: &str| {
        place.fails(&[&args[..], more].concat(), 1, text);
    };
    other(&["--seed", "7"], "it was made with other settings; delete it to start over");
    other(&["--set", "materials.red.color=(0, 1, 0)"], "it is of another scene");
    let mut bytes = film(&place, "a.png.film");
    bytes[99] ^= 1;
    fs::write(place.path("a.png.film"), bytes).unwrap();
    other(&[], "is damaged; delete it to start over");
}
