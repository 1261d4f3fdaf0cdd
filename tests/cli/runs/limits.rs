//! Exhausted resources: one clear line, exit code 1, and finished frames are kept.
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
    let run = place.fails(&args, 1, "a picture of 65535x65535 pixels needs about 128 GiB of memory");
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
    // A user namespace may mount its own small disk.
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

/// Runs a script whose folder `small` is a disk of this size. None if mounting is not allowed.
fn on_a_small_disk(place: &Place, size: &str, script: &str) -> Option<Run> {
    let namespace = ["unshare", "--user", "--map-root-user", "--mount", "sh"];
    let mount = format!("mkdir small && mount -t tmpfs -o size={size} tmpfs small");
    let has_unshare = shell(place, &["sh"], "command -v unshare").code == 0;
    if !has_unshare || shell(&Place::new(1), &namespace, &mount).code != 0 {
        eprintln!("skipped: this machine does not allow user namespaces");
        return None;
    }
    Some(shell(place, &namespace, &format!("{mount} && {script}")))
}

#[test]
fn what_does_not_fit_on_the_disk_leaves_no_file() {
    let place = Place::new(1);
    let script = "dd if=/dev/zero of=small/fill bs=4k count=2 status=none
        \"$THRONG\" new small/t --template city; echo code $?; ls -A small
        rm small/fill; dd if=/dev/zero of=small/fill bs=4k count=1 status=none
        \"$THRONG\" man -o small; echo code $?; ls -A small; wc -c small/*.1 | head -1
        rm -r small/*; \"$THRONG\" new small/t --template turntable; echo code $?; ls -A small";
    let Some(run) = on_a_small_disk(&place, "8k", script) else { return };
    assert_eq!(run.stderr.matches("the disk is full; free some space\n").count(), 2, "{}", run.stderr);
    assert!(!run.stderr.contains("--skip-existing"), "{}", run.stderr);
    let (new, rest) = run.stdout.split_once("code 1\nfill\n").unwrap_or_else(|| panic!("{}", run.stdout));
    assert_eq!(new, "", "nothing is said to be written");
    assert!(rest.starts_with("code 1\nfill\n") && !rest.contains(" 0 small"), "{}", run.stdout);
    assert!(rest.ends_with("small/t.ron\ncode 0\nt.ron\n"), "{}", run.stdout);
}

#[test]
fn a_film_that_does_not_fit_on_the_disk_is_told_without_advice_for_frames() {
    let place = Place::new(1);
    place.ok(&["render", "scene.ron", "-f", "1", "--samples", "2", "-o", "part.film"]);
    let script = "\"$THRONG\" merge part.film -o small/x.film; echo code $?; ls -A small";
    let Some(run) = on_a_small_disk(&place, "4k", script) else { return };
    run.assert_one_error("cannot write small/x.film: the disk is full; free some space\n");
    assert_eq!(run.stdout, "code 1\n");
}

#[test]
fn a_senseless_number_of_threads_in_the_environment_is_named() {
    let place = Place::new(1);
    for value in ["999999", "-1", "many", "99999999999999999999"] {
        for args in
            [&["render", "scene.ron", "-f", "1"][..], &["check", "scene.ron"], &["info", "scene.ron", "--files"]]
        {
            let run = Run::of(place.command(args).env("RAYON_NUM_THREADS", value));
            assert_eq!(run.code, 1, "{value} {args:?}: {}", run.stderr);
            run.assert_one_error("RAYON_NUM_THREADS");
            assert!(run.stderr.contains(value), "{}", run.stderr);
        }
    }
    for value in ["0", "", "3"] {
        let run = Run::of(place.command(&["check", "scene.ron"]).env("RAYON_NUM_THREADS", value));
        assert_eq!(run.code, 0, "{value}: {}", run.stderr);
    }
    // The command line takes precedence.
    let run =
        Run::of(place.command(&["render", "scene.ron", "-f", "1", "--threads", "2"]).env("RAYON_NUM_THREADS", "x"));
    assert_eq!(run.code, 0, "{}", run.stderr);
}
