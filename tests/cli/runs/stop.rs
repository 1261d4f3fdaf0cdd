//! What a run promises on every system when it is stopped, and when a file cannot be replaced. `interrupt.rs` has what only Unix can do.

use crate::common::{ENDLESS, Place, Run};

#[test]
fn a_stopped_run_exits_with_75_and_leaves_whole_frames() {
    let place = Place::new(ENDLESS);
    let process = place.start_endless(&[]);
    process.interrupt();
    let run = Run::from(process.finish());
    assert_eq!(run.code, 75, "{}", run.stderr);
    let frames = place.frames("out").len();
    let text = format!("stopped after {frames} of {ENDLESS} frames; resume with: ");
    assert!(run.stderr.contains(&text) && !run.stderr.contains("error"), "{}", run.stderr);
    place.assert_no_parts("out");
}

/// A viewer may hold the last picture open in a way that forbids replacing it.
#[cfg(windows)]
#[test]
fn a_frame_that_a_viewer_holds_open_is_an_error() {
    use std::{fs, os::windows::fs::OpenOptionsExt};
    const FILE_SHARE_READ: u32 = 1;
    let place = Place::new(2);
    place.ok(&["render", "scene.ron", "-o", "out/"]);
    let old = fs::read(place.path("out/0002.png")).unwrap();
    let held = fs::OpenOptions::new().read(true).share_mode(FILE_SHARE_READ).open(place.path("out/0002.png")).unwrap();
    let again = ["render", "scene.ron", "-o", "out/", "--samples", "2"];
    place.fails(&again, 1, "0002.png: another program has the file open");
    assert_eq!(fs::read(place.path("out/0002.png")).unwrap(), old);
    place.assert_no_parts("out");
    drop(held);
    place.ok(&again);
    assert_ne!(fs::read(place.path("out/0002.png")).unwrap(), old);
}
