//! `throng new`: scene templates.

use crate::common::Place;

#[test]
fn every_template_is_written_and_renders_at_once() {
    let place = Place::new(1);
    for template in ["turntable", "flight", "crowd", "city", "night", "made-of"] {
        let written = place.ok(&["new", template, "--template", template]);
        let file = format!("{template}.ron");
        assert_eq!(written.stdout.trim(), file);
        let checked = place.ok(&["check", &file]);
        assert!(!checked.stderr.contains("warning"), "{template}: {}", checked.stderr);
        let picture = format!("{template}.png");
        place.ok(&["render", &file, "--size", "64x36", "--samples", "1", "--frames", "40", "-o", &picture]);
        assert!(place.path(&picture).exists(), "{template}");
    }
}

#[test]
fn no_file_is_replaced() {
    let place = Place::new(1);
    place.ok(&["new", "first"]);
    place.fails(&["new", "first.ron", "--template", "city"], 1, "first.ron: the file already exists");
    place.fails(&["new", "no/folder/scene"], 1, "no such folder");
    place.fails(&["new", "x", "--template", "town"], 2, "invalid value 'town'");
}

#[cfg(unix)]
#[test]
fn the_hint_works_when_it_is_pasted() {
    let place = Place::new(1);
    for name in ["-y", "a b", "it's"] {
        let hint = place.ok(&["new", "--", name]).stderr;
        let line = hint.lines().find_map(|line| line.strip_prefix("Or its first frame: throng ")).unwrap();
        let mut shell = crate::process::command("sh");
        shell.args(["-c", &format!("\"$THRONG\" {line} --size 8x8 --samples 1 -q")]).current_dir(place.path("."));
        let run = crate::common::Run::of(shell.env("THRONG", env!("CARGO_BIN_EXE_throng")));
        assert_eq!(run.code, 0, "{line}: {}", run.stderr);
    }
}
