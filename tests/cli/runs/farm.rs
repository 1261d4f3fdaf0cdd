//! `throng farm`: jobs for render farm engines, and the behaviour that engines rely on.

use crate::{
    common::{ENDLESS, Place, Run},
    process::{self, Process, wait_until},
};
use std::{fs, process::Command};

const PROGRAM: &str = env!("CARGO_BIN_EXE_throng");

#[test]
fn a_job_has_the_flags_of_render() {
    let place = Place::new(24);
    let flags =
        ["-o", "out/####.png", "-f", "1-20:2,24", "--size", "32x18", "--bounces=2", "--set", "render.fps=12", "-vv"];
    for engine in ["openjd", "slurm"] {
        let job =
            place.ok(&[&["farm", engine, "scene.ron", "--chunk", "3", "--video", "a b.webp"][..], &flags].concat());
        for text in ["1-19:2,24", "--size=32x18", "--bounces=2", "--set=render.fps=12", "--verbose", "a b.webp"] {
            assert!(job.stdout.contains(text), "no {text} in {}", job.stdout);
        }
    }
    // Frames that are denoised after rendering must be rendered as in a run with --denoise.
    let shares = |more: &[&'static str]| {
        let job = place.ok(&[&["farm", "slurm", "scene.ron", "--samples", "4", "-o", "out/####.png"], more].concat());
        job.stdout.contains("--filter=shared")
    };
    assert!(shares(&["--denoise"]) && !shares(&[]) && !shares(&["--denoise", "--filter", "box"]));
    assert!(place.names(".").iter().all(|name| name == "scene.ron"), "nothing is rendered");
}

#[test]
fn what_cannot_be_a_job_is_refused() {
    let place = Place::new(4);
    place.fails(&["farm", "openjd", "scene.ron", "-o", "video.mp4"], 2, "add -o frames/####.png");
    place.fails(&["farm", "openjd", "none.ron"], 1, "none.ron");
    place.fails(&["farm", "slurm", "scene.ron", "-f", "1-9"], 2, "frame 9 does not exist");
    place.fails(&["farm", "slurm", "scene.ron", "--chunk", "0"], 2, "--chunk");
    place.fails(&["farm", "deadline", "scene.ron"], 2, "deadline");
}

#[test]
fn an_engine_is_told_the_progress_and_failures() {
    let place = Place::new(3);
    let run = place.ok(&["render", "scene.ron", "-o", "out/", "--progress", "openjd"]);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(lines.contains(&"openjd_progress: 100.0") && lines.contains(&"openjd_status: 3/3 frames"), "{lines:?}");
    assert!(lines.iter().all(|line| line.starts_with("openjd_")), "{lines:?}");
    let run = place.fails(&["render", "none.ron", "-o", "out/", "--progress", "openjd"], 1, "none.ron");
    assert!(run.stdout.starts_with("openjd_fail: ") && run.stdout.contains("none.ron"), "{}", run.stdout);
}

#[cfg(unix)]
#[test]
fn a_stopped_task_has_the_code_that_its_engine_knows() {
    let place = Place::new(ENDLESS);
    let process = place.start_endless(&["--stop-code", "99", "--grace", "1"]);
    process.send(libc::SIGTERM);
    let run: Run = process.finish().into();
    assert_eq!(run.code, 99, "{}", run.stderr);
    place.assert_no_parts("out");
}

/// Runs the job of `scene.ron` with the official Open Job Description command line.
fn openjd(place: &Place) -> Command {
    let mut command = process::command("openjd");
    let program = format!("Program={PROGRAM}");
    command.args(["run", "job.yaml", "--step", "Render", "-p", &program]).current_dir(place.path("."));
    command
}

/// Checks a job with the official Open Job Description command line. None if it is not installed.
fn is_taken(place: &Place) -> Option<Run> {
    let mut command = process::command("openjd");
    command.args(["check", "job.yaml"]).current_dir(place.path("."));
    if process::command("openjd").arg("--version").output().is_err() {
        println!("skipped: there is no openjd on the PATH (pip install openjd-cli)");
        return None;
    }
    Some(Run::of(&mut command))
}

#[cfg(unix)]
#[test]
fn engines_take_jobs_of_any_name() {
    let place = Place::new(2);
    let scene = fs::read(place.path("scene.ron")).unwrap();
    for name in [
        "{{x}}",
        "nl\nx",
        "del\u{7f}",
        "nel\u{85}x",
        "tab\t",
        "it's \"a\"",
        "ä😀\u{2028}",
        "b\\c",
        "#: &a",
        &"l".repeat(140),
    ] {
        let file = format!("{name}.ron");
        fs::write(place.path(&file), &scene).unwrap();
        let job = place.ok(&["farm", "openjd", &file, "-o", "out/####.png"]);
        fs::write(place.path("job.yaml"), &job.stdout).unwrap();
        let Some(run) = is_taken(&place) else { return };
        assert_eq!(run.code, 0, "{name:?}: {}{}\n{}", run.stdout, run.stderr, job.stdout);
    }
    place.fails(&["farm", "openjd", "scene.ron", "-o", "a/#.png", "--set", "render.fps={{1"], 2, "");
    place.fails(
        &["farm", "openjd", "scene.ron", "-o", &format!("{}/#.png", "a/".repeat(600))],
        1,
        "takes at most 1024",
    );
}

#[cfg(unix)]
#[test]
fn a_scene_elsewhere_is_given_by_the_command_that_is_printed() {
    let place = Place::new(2);
    let inside = place.ok(&["farm", "openjd", "scene.ron", "-o", "out/####.png"]);
    assert!(!inside.stderr.contains("openjd run"), "{}", inside.stderr);
    fs::create_dir(place.path("a job")).unwrap();
    let mut command = place.command(&["farm", "openjd", "../scene.ron", "-o", "out/####.png", "--sheet", "sheet.png"]);
    let run = Run::of(command.current_dir(place.path("a job")));
    let line = run.stderr.lines().find(|line| line.starts_with("openjd run job.yaml --step Join")).unwrap_or_default();
    assert!(line.contains("-p 'Scene=/") && !line.contains("OutputFolder"), "{}", run.stderr);
    if is_taken(&place).is_none() {
        return;
    }
    fs::write(place.path("a job/job.yaml"), run.stdout).unwrap();
    let mut bash = process::command("bash");
    bash.args(["-c", &format!("{line} -p 'Program={PROGRAM}'")]).current_dir(place.path("a job"));
    let run = Run::of(&mut bash);
    assert_eq!(run.code, 0, "{line}: {}{}", run.stdout, run.stderr);
    assert_eq!(place.names("a job/out"), ["0001.png", "0002.png"]);
    assert!(place.path("a job/sheet.png").exists());
}

#[test]
fn a_value_that_is_the_name_of_a_file_is_a_value() {
    let place = Place::new(2);
    fs::write(place.path("5"), "").unwrap();
    fs::write(place.path("sky"), "").unwrap();
    image::Rgb32FImage::new(4, 2).save(place.path("a.hdr")).unwrap();
    let job =
        place.ok(&["farm", "openjd", "scene.ron", "-o", "out/####.png", "--seed", "5", "--background", "a.hdr"]).stdout;
    assert!(job.contains("- \"--seed=5\"\n") && !job.contains("Seed1"), "{job}");
    assert!(job.contains("- \"--background={{Param.Background1}}\"\n") && job.contains("default: \"a.hdr\""), "{job}");
    fs::write(place.path("a.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    let job = place.ok(&["farm", "openjd", "a.obj", "-o", "out/####.png", "--environment", "sky"]).stdout;
    assert!(job.contains("- \"--environment=sky\"\n"), "{job}");
}

#[cfg(unix)]
#[test]
fn names_that_begin_like_flags_or_are_no_text_are_told_apart() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new(1);
    fs::rename(place.path("scene.ron"), place.path("-x.ron")).unwrap();
    let job = place.ok(&["farm", "slurm", "--device", "cpu", "-o=-out/####.png", "--", "-x.ron"]).stdout;
    fs::write(place.path("job.sh"), job.replace("--array", "--nothing")).unwrap();
    let mut bash = process::command("bash");
    bash.arg("job.sh").current_dir(place.path(".")).env("SLURM_JOB_ID", "1").env("SLURM_ARRAY_TASK_ID", "0");
    let folder = std::path::Path::new(PROGRAM).parent().unwrap();
    bash.env("PATH", format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default()));
    let run = Run::of(&mut bash);
    assert_eq!(run.code, 0, "{}{}", run.stderr, job);
    assert_eq!(place.names("-out"), ["0001.png"]);
    for engine in ["slurm", "openjd"] {
        let mut command = place.command(&["farm", engine, "-o"]);
        command.arg(std::ffi::OsStr::from_bytes(b"\xff/####.png")).args(["--", "-x.ron"]);
        let run = Run::of(&mut command);
        assert_eq!((run.code, &*run.stdout), (1, ""), "{engine}: {}", run.stderr);
        run.assert_one_error("is not UTF-8, and jobs are text");
    }
}

#[cfg(unix)]
#[test]
fn an_engine_makes_the_bits_of_one_run_though_it_is_killed() {
    if process::command("openjd").arg("--version").output().is_err() {
        println!("skipped: there is no openjd on the PATH (pip install openjd-cli)");
        return;
    }
    let place = Place::new(24);
    place.ok(&["render", "scene.ron", "-o", "whole/####.png"]);
    let job = place.ok(&["farm", "openjd", "scene.ron", "-o", "out/####.png", "--chunk", "5"]);
    fs::write(place.path("job.yaml"), job.stdout).unwrap();
    for frames in [3, 11] {
        let process = Process::start(&mut openjd(&place));
        wait_until("frames of the job", || place.names("out").len() >= frames);
        drop(process);
    }
    let run = Run::of(&mut openjd(&place));
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    // A task whose engine was killed may still be rendering its last frame.
    wait_until("the last frames", || place.names("out").iter().filter(|name| name.ends_with(".png")).count() == 24);
    assert_eq!(place.frames("whole"), place.frames("out"));
}

#[cfg(unix)]
#[test]
fn a_cluster_makes_the_bits_of_one_run_and_then_the_video() {
    if !process::command("sinfo").output().is_ok_and(|found| found.status.success()) {
        println!("skipped: there is no Slurm cluster (sinfo fails)");
        return;
    }
    let place = Place::new(24);
    place.ok(&["render", "scene.ron", "-o", "whole/####.png"]);
    let flags = ["-o", "out/####.png", "--chunk", "5", "--video", "video.webp", "--program", PROGRAM];
    let job = place.ok(&[&["farm", "slurm", "scene.ron"][..], &flags].concat());
    fs::write(place.path("job.sh"), job.stdout).unwrap();
    let submitted = Run::of(process::command("bash").arg("job.sh").current_dir(place.path(".")));
    assert_eq!(submitted.code, 0, "{}", submitted.stderr);
    wait_until("the video", || place.path("video.webp").exists());
    assert_eq!(place.frames("whole"), place.frames("out"));
}

#[test]
fn shells_and_man_know_the_flags() {
    let place = Place::new(1);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = place.ok(&["completions", shell]).stdout;
        assert!(script.contains("skip-existing") && script.contains("throng"), "{shell}");
    }
    place.fails(&["completions", "tcsh"], 2, "tcsh");
    assert!(place.ok(&["man"]).stdout.contains(".TH throng"));
    place.ok(&["man", "-o", "man/man1"]);
    let pages = place.names("man/man1");
    assert!(pages.contains(&"throng.1".to_owned()) && pages.contains(&"throng-render.1".to_owned()), "{pages:?}");
    let page = fs::read_to_string(place.path("man/man1/throng-render.1")).unwrap();
    assert!(page.contains("skip\\-existing"), "{page}");
    fs::write(place.path("file"), "").unwrap();
    place.fails(&["man", "-o", "file"], 1, "file");
}
