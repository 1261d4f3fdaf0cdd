//! Runs that were killed or lost their output folder: remaining files are complete, and the next run adds the missing ones.

use crate::{
    common::{ENDLESS, Place, Run},
    process::{Process, wait_until},
};
use std::fs;

#[test]
fn a_killed_run_leaves_whole_frames_and_the_next_completes_them() {
    let place = Place::new(ENDLESS);
    place.start_endless(&["--size", "200x100"]).kill();

    let existing = place.frames("out");
    let last = (existing.len() + 3).to_string();
    let frames = format!("1-{last}");
    let common = ["render", "scene.ron", "--size", "200x100", "--frames", &frames];
    fs::write(place.path(&format!("out/.{last:0>4}.png.abc123.part")), "left over").unwrap();
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

// Windows does not rename a folder in which a file is open.
#[cfg(unix)]
#[test]
fn a_folder_that_vanishes_ends_the_run_with_one_error() {
    let place = Place::new(ENDLESS);
    let process = place.start_endless(&[]);
    fs::rename(place.path("out"), place.path("kept")).unwrap();
    let run = Run::from(process.finish());
    assert_eq!(run.code, 1);
    run.assert_one_error("its folder is missing (deleted or renamed while rendering?)");
    assert!(!place.path("out").exists(), "the folder must not be made again");
    assert!(!place.frames("kept").is_empty());
}

#[test]
fn two_runs_into_one_folder_do_not_tear_each_others_frames() {
    let place = Place::new(ENDLESS);
    let mut first = place.start_endless(&[]);
    let second = place.run(&["render", "scene.ron", "-o", "out/", "--frames", "1-20"]);
    assert_eq!(second.code, 0, "{}", second.stderr);
    wait_until("frame 20", || place.path("out/0020.png").exists());
    assert!(first.has_ended().is_none());
    first.kill();
    assert!(place.frames("out").len() >= 20);
}

#[test]
fn frames_of_something_else_are_refused_rendered_or_kept() {
    let place = Place::new(2);
    for extension in ["png", "jpg", "webp", "exr"] {
        let output = format!("{extension}/####.{extension}");
        let args = ["render", "scene.ron", "-o", &output];
        place.ok(&args);
        fn again<'a>(args: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
            [args, &["--skip-existing"], more].concat()
        }
        let file = || fs::read(place.path(&format!("{extension}/0001.{extension}"))).unwrap();
        let before = file();
        place.ok(&again(&args, &[]));
        for (more, text) in [
            (&["--size", "32x18"][..], "has 64x36 pixels and not 32x18"),
            (&["--samples", "2"], "its samples is 1 and not 2"),
            (&["--set", "materials.red.color=(0, 1, 0)"], "it is of another scene"),
        ] {
            let run = place.fails(&again(&args, more), 1, text);
            assert!(run.stderr.contains("--mismatched"), "{}", run.stderr);
            place.ok(&again(&args, &[more, &["--mismatched", "keep"]].concat()));
            assert!(file() == before, "{extension} {more:?}");
        }
        place.ok(&again(&args, &["--size", "32x18", "--mismatched", "render"]));
        assert!(file() != before, "{extension}");
    }
    // Frames of different sizes cannot form a video.
    let video = ["--frames", "1", "--video", "f.webp", "--mismatched", "keep"];
    let args = [&["render", "scene.ron", "-o", "png/####.png", "--skip-existing"], &video[..]];
    place.fails(&args.concat(), 1, "has 32x18 pixels and the video 64x36");
    assert!(!place.path("f.webp").exists());
}

#[test]
fn resumed_videos_and_sheets_are_those_of_one_run() {
    let place = Place::new(6);
    let render = |folder: &str, extension: &str, more: &[&str]| {
        let names = ["####.", "video.apng", "video.webp", "sheet.png"];
        let [mut frames, apng, webp, sheet] = names.map(|name| format!("{folder}/{name}"));
        frames += extension;
        let videos = ["--video", if folder.ends_with('w') { &webp } else { &apng }];
        let args = ["render", "scene.ron", "-o", &frames, "--sheet", &sheet];
        place.ok(&[&args[..], &videos, more].concat())
    };
    for (extension, more) in [("png", &[][..]), ("png", &["--color-depth", "16"]), ("jpg", &[])] {
        for video in ["a", "w"] {
            let depth = more.len();
            let (once, pieces) =
                (format!("once_{extension}{depth}_{video}"), format!("pieces_{extension}{depth}_{video}"));
            render(&once, extension, more);
            let first = format!("{pieces}/####.{extension}");
            let args = ["render", "scene.ron", "-o", &first, "--frames", "2,3,5"];
            place.ok(&[&args[..], more].concat());
            let resumed = render(&pieces, extension, &[more, &["--skip-existing"]].concat());
            let again = resumed.stderr.contains("existing frames are rendered again");
            assert_eq!(again, extension == "jpg", "{}", resumed.stderr);
            assert_eq!(place.names(&once), place.names(&pieces));
            for name in place.names(&once) {
                let read = |folder: &str| fs::read(place.path(&format!("{folder}/{name}"))).unwrap();
                assert!(read(&once) == read(&pieces), "{once} {name}");
            }
        }
    }
}

#[test]
fn runs_that_share_a_folder_divide_its_frames() {
    let place = Place::new(60);
    let args = ["render", "scene.ron", "-o", "out/", "--skip-existing", "--progress", "json"];
    let args = [&args[..], &["--size", "200x100", "--threads", "1"]].concat();
    let start = |_| Process::start(&mut place.command(&args));
    let runs: Vec<Process> = (0..3).map(start).collect();
    let mut rendered = 0;
    for run in runs {
        let run = Run::from(run.finish());
        assert_eq!(run.code, 0, "{}", run.stderr);
        rendered += run.stdout.matches(r#""event":"frame""#).count();
    }
    assert_eq!(rendered, 60);
    assert_eq!(place.names("out").len(), 60, "{:?}", place.names("out"));
}
