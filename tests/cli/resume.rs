//! Runs that were killed or lost their folder: what is left is whole, and the next run completes it.

use crate::common::{ENDLESS, Place, Run, wait_until};
use std::fs;

#[test]
fn a_killed_run_leaves_whole_frames_and_the_next_completes_them() {
    let place = Place::new(ENDLESS);
    let mut child = place.start_endless(&["--size", "200x100"]);
    child.kill().unwrap();
    child.wait().unwrap();

    let existing = place.frames("out");
    let last = (existing.len() + 3).to_string();
    let frames = format!("1-{last}");
    let common = [
        "render",
        "scene.ron",
        "--size",
        "200x100",
        "--frames",
        &frames,
    ];
    fs::write(
        place.path(&format!("out/.{last:0>4}.png.abc123.part")),
        "left over",
    )
    .unwrap();
    let run = place.ok(&[&common[..], &["-o", "out/", "--skip-existing"]].concat());
    let skipped = format!("{} frame", existing.len());
    assert!(run.stderr.contains(&skipped), "{}", run.stderr);

    place.ok(&[&common[..], &["-o", "reference/"]].concat());
    assert_eq!(place.frames("out"), place.frames("reference"));
    place.assert_no_parts("out");
}

#[test]
fn a_torn_file_is_rendered_again() {
    let place = Place::new(2);
    place.ok(&["render", "scene.ron", "-o", "out/"]);
    let whole = fs::read(place.path("out/0002.png")).unwrap();
    fs::write(place.path("out/0002.png"), &whole[..whole.len() / 2]).unwrap();
    place.ok(&["render", "scene.ron", "-o", "out/", "--skip-existing"]);
    assert_eq!(fs::read(place.path("out/0002.png")).unwrap(), whole);
}

#[test]
fn a_folder_that_vanishes_ends_the_run_with_one_error() {
    let place = Place::new(ENDLESS);
    let child = place.start_endless(&[]);
    fs::rename(place.path("out"), place.path("kept")).unwrap();
    let run = Run::from(child.wait_with_output().unwrap());
    assert_eq!(run.code, 1);
    run.assert_one_error("its folder is missing (deleted or renamed while rendering?)");
    assert!(
        !place.path("out").exists(),
        "the folder must not be made again"
    );
    assert!(!place.frames("kept").is_empty());
}

#[test]
fn two_runs_into_one_folder_do_not_tear_each_others_frames() {
    let place = Place::new(ENDLESS);
    let mut first = place.start_endless(&[]);
    let second = place.run(&["render", "scene.ron", "-o", "out/", "--frames", "1-20"]);
    assert_eq!(second.code, 0, "{}", second.stderr);
    wait_until("frame 20", || place.path("out/0020.png").exists());
    assert!(first.try_wait().unwrap().is_none());
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(place.frames("out").len() >= 20);
}
