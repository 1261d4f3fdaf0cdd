//! Signals: the run stops and reports how to continue, and continuing works.
#![cfg(unix)]

use crate::{
    common::{ENDLESS, Place, Run},
    process::{self, Process, wait_until},
};
use std::os::unix::process::CommandExt;

fn interrupt(process: Process, signal: libc::c_int) -> Run {
    process.send(signal);
    process.finish().into()
}

/// The command line after `resume with: `.
fn resume_line(stderr: &str) -> &str {
    let (_, line) = stderr.split_once("resume with: ").unwrap_or_else(|| panic!("{stderr}"));
    line.lines().next().unwrap()
}

#[test]
fn interrupts_exit_with_75_and_leave_whole_frames() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        let place = Place::new(ENDLESS);
        let run = interrupt(place.start_endless(&[]), signal);
        assert_eq!(run.code, 75, "{}", run.stderr);
        let frames = place.frames("out").len();
        let text = format!("stopped after {frames} of {ENDLESS} frames; resume with: ");
        assert!(run.stderr.contains(&text), "{}", run.stderr);
        assert!(!run.stderr.contains("error"), "{}", run.stderr);
        place.assert_no_parts("out");
    }
}

#[test]
fn the_resume_line_goes_on_where_the_run_stopped() {
    let place = Place::new(ENDLESS);
    std::fs::rename(place.path("scene.ron"), place.path("it's a scene.ron")).unwrap();
    let mut command = place.command(&["render", "it's a scene.ron", "-o", "out/{scene} ####.png"]);
    let process = Process::start(&mut command);
    wait_until("the first frame", || !place.frames("out").is_empty());
    let run = interrupt(process, libc::SIGINT);
    let before = place.frames("out");

    let line = resume_line(&run.stderr);
    assert!(line.ends_with("--skip-existing"), "{line}");
    let mut shell = process::command("bash");
    shell.args(["-c", &format!("exec {line}")]).current_dir(place.path("."));
    let process = Process::start(&mut shell);
    wait_until("another frame", || place.frames("out").len() > before.len());
    let run = interrupt(process, libc::SIGINT);
    assert_eq!(run.code, 75, "{}", run.stderr);

    let after = place.frames("out");
    assert!(after.len() > before.len());
    let text = format!("stopped after {} of {ENDLESS} frames", after.len());
    assert!(run.stderr.contains(&text), "{}", run.stderr);
    for (name, pixels) in &before {
        assert_eq!(after[name], *pixels);
    }
}

#[test]
fn a_stopped_run_tells_programs_how_to_resume() {
    let place = Place::new(ENDLESS);
    let process = place.start_endless(&["--progress", "json", "--frames", "1-90000"]);
    let run = interrupt(process, libc::SIGTERM);
    assert_eq!(run.code, 75);
    let last = run.stdout.lines().last().unwrap();
    let event: serde_json::Value = serde_json::from_str(last).unwrap();
    assert_eq!(event["event"], "stopped");
    assert_eq!(event["frames"], place.frames("out").len());
    assert!(event["resume"].as_str().unwrap().ends_with("--skip-existing"));
}

#[test]
fn a_quiet_run_is_stopped_quietly() {
    let place = Place::new(ENDLESS);
    let run = interrupt(place.start_endless(&["-q"]), libc::SIGINT);
    assert_eq!((run.code, run.stderr.as_str()), (75, ""));
}

#[test]
fn two_interrupts_end_the_run_without_torn_frames() {
    let place = Place::new(ENDLESS);
    let process = place.start_endless(&[]);
    process.send(libc::SIGINT);
    let run = interrupt(process, libc::SIGTERM);
    assert_eq!(run.code, 75, "{}", run.stderr);
    assert!(!place.frames("out").is_empty());
}

#[test]
fn signals_that_the_parent_ignores_stay_ignored() {
    let place = Place::new(40);
    let mut command = place.command(&["render", "scene.ron", "-o", "out/", "-q"]);
    // SAFETY: `signal` is allowed between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGHUP, libc::SIG_IGN);
            Ok(())
        })
    };
    let process = Process::start(&mut command);
    wait_until("the first frame", || !place.frames("out").is_empty());
    assert_eq!(interrupt(process, libc::SIGHUP).code, 0);
    assert_eq!(place.frames("out").len(), 40);
}

#[cfg(target_os = "linux")]
#[test]
fn a_second_signal_ends_a_run_that_waits_for_a_pipe_and_a_look_does_not() {
    let place = Place::new(1);
    process::make_pipe(&place.path("pipe.png"));
    let process = Process::start(&mut place.command(&["render", "scene.ron", "-o", "pipe.png"]));
    process.wait_for_handler(libc::SIGUSR1);
    process.send(libc::SIGUSR1);
    process.wait_for_handler(libc::SIGHUP);
    // Two pending signals of one kind may be delivered as one.
    process.send(libc::SIGTERM);
    assert_eq!(interrupt(process, libc::SIGINT).code, 75);
}

/// Starts to render a billion coincident spheres, most of which each ray hits, and waits until the render has begun.
fn start_endless_walk(place: &Place, more: &[&str]) -> Process {
    let scene = r#"(
    render: (size: (64, 36), samples: 4),
    environment: Constant(radiance: (1, 1, 1)),
    meshes: { "ball": Sphere },
    groups: {
        "row": [Grid(of: "ball", count: (1000, 1, 1), spacing: (0.00001, 1, 1))],
        "layer": [Grid(of: "row", count: (1, 1, 1000), spacing: (1, 1, 0.00001), nest: true)],
    },
    instances: [Grid(of: "layer", count: (1, 1000, 1), spacing: (1, 0.00001, 1), nest: true)],
    camera: LookAt(eye: (0, 0, 3), target: (0, 0, 0)),
)"#;
    std::fs::write(place.path("heavy.ron"), scene).unwrap();
    let args = ["render", "heavy.ron", "-f", "1", "--device", "cpu", "--progress", "json"];
    let mut process = Process::start(&mut place.command(&[&args[..], more].concat()));
    process.wait_for_handler(libc::SIGHUP);
    std::thread::sleep(std::time::Duration::from_secs(3));
    assert!(process.has_ended().is_none());
    process
}

#[test]
fn a_first_interrupt_ends_rays_that_take_forever() {
    for more in [
        &["-o", "a.png"][..],
        &["-o", "a.png", "--checkpoint"],
        &["-o", "a.exr", "--layers", "depth", "--samples", "1"],
    ] {
        let place = Place::new(1);
        let process = start_endless_walk(&place, more);
        let run = interrupt(process, libc::SIGINT);
        assert_eq!(run.code, 75, "{}", run.stderr);
        let last: serde_json::Value = serde_json::from_str(run.stdout.lines().last().unwrap()).unwrap();
        // Otherwise the process was ended because its rays were still traced (`cut_short`).
        assert_eq!(last["event"], "stopped");
        assert_eq!(place.names("."), ["heavy.ron", "scene.ron"]);
    }
}

#[test]
fn a_video_that_was_stopped_is_not_named_as_if_it_existed() {
    let place = Place::new(ENDLESS);
    let process = Process::start(&mut place.command(&["render", "scene.ron", "-o", "video.webp"]));
    // A file with this name also exists for a moment before work begins, but empty.
    let is_begun = |entry: std::fs::DirEntry| {
        let is_video = entry.file_name().to_string_lossy().starts_with(".video.webp");
        is_video && entry.metadata().is_ok_and(|file| file.len() > 0)
    };
    wait_until("the first frame", || {
        std::fs::read_dir(place.path(".")).unwrap().any(|entry| entry.is_ok_and(is_begun))
    });
    let run = interrupt(process, libc::SIGINT);
    assert_eq!(run.code, 75, "{}", run.stderr);
    assert!(run.stderr.contains("start again with: ") && !run.stderr.contains("; see "), "{}", run.stderr);
    assert!(!place.path("video.webp").exists());
}
