//! Machines that run out of something: one clear line, exit 1, finished frames kept.
#![cfg(target_os = "linux")]

use crate::{
    common::{Place, Run},
    process,
};

fn shell(place: &Place, wrapper: &[&str], script: &str) -> Run {
    let mut command = process::command(wrapper[0]);
    command.args(&wrapper[1..]).args(["-c", script]).current_dir(place.path("."));
    command.env("THRONG", env!("CARGO_BIN_EXE_throng")).env_remove("RUST_BACKTRACE");
    Run::of(&mut command)
}

#[test]
fn a_picture_larger_than_the_memory_is_refused() {
    let place = Place::new(1);
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap();
    let kilobytes: u64 = memory.split_whitespace().nth(1).unwrap().parse().unwrap();
    if kilobytes > 100_000_000 {
        eprintln!("skipped: this machine has room for the largest picture");
        return;
    }
    let args = ["render", "scene.ron", "--size", "65535x65535"];
    let run = place.fails(&args, 1, "a picture of 65535x65535 pixels needs about 137.4 GB of memory");
    assert!(run.stderr.contains("choose a smaller --size"), "{}", run.stderr);
}

#[test]
fn running_out_of_memory_is_one_line_and_exit_code_1() {
    let place = Place::new(1);
    let script = "ulimit -v 600000; exec \"$THRONG\" render scene.ron --size 10000x8000 --threads 1 --device cpu";
    let run = shell(&place, &["bash"], script);
    assert_eq!(run.code, 1, "{}", run.stderr);
    run.assert_one_error("memory");
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
}

#[test]
fn a_full_disk_is_one_line_and_keeps_finished_frames() {
    let place = Place::new(200);
    // A user namespace may mount a small disk of its own.
    let namespace = ["unshare", "--user", "--map-root-user", "--mount", "sh"];
    let mount = "mkdir out kept && mount -t tmpfs -o size=64k tmpfs out";
    let has_unshare = shell(&place, &["sh"], "command -v unshare").code == 0;
    if !has_unshare || shell(&Place::new(1), &namespace, mount).code != 0 {
        eprintln!("skipped: this machine does not allow user namespaces");
        return;
    }
    let script =
        format!("{mount} && timeout 100 \"$THRONG\" render scene.ron -o out/; code=$?; cp -a out/. kept/; exit $code");
    let run = shell(&place, &namespace, &script);
    assert_eq!(run.code, 1, "{}", run.stderr);
    run.assert_one_error("the disk is full; free some space and continue with --skip-existing");
    assert!(!place.frames("kept").is_empty());
    place.assert_no_parts("kept");
}
