//! Destinations of output: links, pipes and devices remain, and no needed file is overwritten.
#![cfg(unix)]

use crate::{
    common::{Place, Run, decode, write_rays},
    process::{self, make_pipe},
};
use std::{
    ffi::OsStr,
    fs,
    os::unix::{
        ffi::OsStrExt,
        fs::{FileTypeExt, symlink},
    },
    path::Path,
    thread,
};

/// Command lines that write one file, whose name is appended.
const WRITERS: [&[&str]; 6] = [
    &["render", "scene.ron", "-f", "1", "-o"],
    &["render", "scene.ron", "--video"],
    &["render", "scene.ron", "--sheet"],
    &["trace", "scene.ron", "two.ray", "--hits"],
    &["trace", "scene.ron", "two.ray", "--report"],
    &["diff", "a.png", "b.png", "--limit", "1", "--map"],
];

/// A file name that the command accepts.
fn name_for(writer: &[&str]) -> &'static str {
    match writer.last() {
        Some(&"--report") => "link.json",
        Some(&"--video") => "link.webp",
        _ => "link.png",
    }
}

fn place() -> Place {
    let place = Place::new(3);
    write_rays(&place);
    place.ok(&["render", "scene.ron", "-f", "1", "-o", "a.png"]);
    place.ok(&["render", "scene.ron", "-f", "3", "-o", "b.png"]);
    place
}

#[test]
fn links_and_devices_stay_what_they_are() {
    let place = place();
    for writer in WRITERS {
        let name = name_for(writer);
        let link = place.path(name);
        for (target, is_device) in [("target", false), ("/dev/null", true)] {
            symlink(target, &link).unwrap();
            place.ok(&[writer, &[name]].concat());
            assert_eq!(fs::read_link(&link).unwrap(), Path::new(target), "{writer:?}");
            fs::remove_file(&link).unwrap();
            assert_eq!(place.path("target").exists(), !is_device, "{writer:?}");
            let _ = fs::remove_file(place.path("target"));
        }
        let null = fs::metadata("/dev/null").unwrap();
        assert!(null.file_type().is_char_device());
    }
    let before: Vec<String> = place.names(".");
    place.ok(&["render", "scene.ron", "-o", "/dev/null"]);
    assert!(!Path::new("/dev/null.png").exists());
    assert_eq!(place.names("."), before);
}

#[test]
fn a_pipe_gets_one_picture_after_the_other() {
    let place = Place::new(2);
    place.ok(&["render", "scene.ron", "-o", "out/"]);
    for name in ["pipe", "pipe.png"] {
        let pipe = place.path(name);
        make_pipe(&pipe);
        let reader = thread::spawn(move || fs::read(pipe).unwrap());
        let run = place.ok(&["render", "scene.ron", "-o", name]);
        assert!(run.stderr.contains(&format!("see {name}")), "{}", run.stderr);
        let frames = ["out/0001.png", "out/0002.png"].map(|name| fs::read(place.path(name)).unwrap());
        assert!(reader.join().unwrap() == frames.concat());
        let kept = fs::metadata(place.path(name)).unwrap();
        assert!(kept.file_type().is_fifo());
    }
}

#[test]
fn a_pipe_in_place_of_a_frame_or_a_film_keeps_nobody_waiting() {
    let place = Place::new(2);
    make_pipe(&place.path("frame.png"));
    let args = ["render", "scene.ron", "-f", "1", "-o", "frame.png", "--skip-existing"];
    place.fails(&args, 2, "--skip-existing requires files of frames");
    for (name, target) in [("a.png.film", "/dev/zero"), ("b.png.film", "frame.png")] {
        symlink(target, place.path(name)).unwrap();
        let frame = name.trim_end_matches(".film");
        let args = ["render", "scene.ron", "-f", "1", "-o", frame, "--checkpoint"];
        place.fails(&args, 1, "this is not a regular file");
    }
    for input in ["check", "info", "render"] {
        symlink("frame.png", place.path("pipe.ron")).unwrap();
        place.fails(&[input, "pipe.ron"], 1, "pipe.ron: this is not a regular file");
        fs::remove_file(place.path("pipe.ron")).unwrap();
    }
    place.fails(&["diff", "frame.png", "frame.png"], 1, "not a regular file");
    place.fails(&["trace", "scene.ron", "frame.png"], 1, "not a regular file");
}

#[test]
fn files_that_would_be_written_twice_or_over_inputs_are_refused_before_the_work() {
    let place = place();
    fs::create_dir(place.path("out")).unwrap();
    symlink("out", place.path("same")).unwrap();
    fs::copy(place.path("a.png"), place.path("out/texture.png")).unwrap();
    let textured = fs::read_to_string(place.path("scene.ron"))
        .unwrap()
        .replace("Diffuse(color: (0.8, 0.2, 0.2))", r#"Diffuse(texture: "out/texture.png")"#);
    fs::write(place.path("textured.ron"), textured).unwrap();
    let texture = fs::read(place.path("out/texture.png")).unwrap();
    let render = |more: &[&str], text: &str| {
        let run = place.fails(&[&["render", "textured.ron"], more].concat(), 1, text);
        assert!(!run.stderr.contains("frames/s"), "{}", run.stderr);
    };
    render(&["-o", "out/####.png", "--sheet", "same/0002.png"], "it is also frame 2");
    render(&["--video", "out/f.webp", "--sheet", "out/f.webp"], "it is also the video");
    render(&["-o", "out/texture.png", "-f", "1"], "it is also what was read as");
    render(&["-o", "same/texture.png", "-f", "1"], "out/texture.png");
    assert_eq!(fs::read(place.path("out/texture.png")).unwrap(), texture);
    assert_eq!(place.names("out"), ["texture.png"]);

    let rays = fs::read(place.path("two.ray")).unwrap();
    let trace = ["trace", "scene.ron", "two.ray", "--hits"];
    place.fails(&[&trace[..], &["./two.ray"]].concat(), 1, "what was read as two.ray");
    let both = [&trace[..], &["r.json", "--report", "r.json"]].concat();
    place.fails(&both, 1, "it is also the file of --hits");
    assert_eq!(fs::read(place.path("two.ray")).unwrap(), rays);
    let diff = ["diff", "a.png", "b.png", "--map", "a.png"];
    place.fails(&diff, 1, "what was read as a.png");
}

#[test]
fn names_need_not_be_utf8() {
    let place = Place::new(2);
    let name = |bytes: &'static [u8]| OsStr::from_bytes(bytes);
    let run = |args: &[&OsStr]| {
        let mut command = place.command(&["render", "scene.ron", "--progress", "json"]);
        let run = Run::of(command.args(args));
        assert_eq!(run.code, 0, "{}", run.stderr);
        run
    };
    let flag = OsStr::new;
    let made = run(&[
        flag("-o"),
        name(b"\xff_##.png"),
        flag("--video"),
        name(b"\xfe.webp"),
        flag("--sheet"),
        name(b"\xfd.png"),
        flag("--cache"),
        name(b"\xfc"),
    ]);
    assert_eq!(made.stdout.matches(r#""event":"frame""#).count(), 2, "{}", made.stdout);
    for bytes in [&b"\xff_01.png"[..], b"\xff_02.png", b"\xfd.png"] {
        decode(&place.path(".").join(OsStr::from_bytes(bytes)));
    }
    assert!(place.path(".").join(name(b"\xfe.webp")).exists());
    assert!(place.path(".").join(name(b"\xfc")).is_dir());
    write_rays(&place);
    let mut command = place.command(&["trace", "scene.ron", "two.ray", "--report"]);
    let run = Run::of(command.arg(name(b"\xfb.json")));
    assert_eq!(run.code, 0, "{}", run.stderr);
}

#[test]
fn what_flags_contradict_is_known_before_the_first_frame() {
    let place = Place::new(2);
    for (args, text) in [
        (&["--color-depth", "16", "--video", "a.webp"][..], "videos and contact sheets have 8 bits"),
        (&["--size", "20000x16", "-o", "a_#.webp"], ".webp pictures have at most 16384"),
        (&["--size", "20000x16", "--video", "a.webp"], ".webp pictures have at most 16384"),
        (&["--size", "300x30000", "--sheet", "a.webp"], "too large for .webp"),
        (&["--mismatched", "keep"], "--skip-existing"),
    ] {
        let run = place.fails(&[&["render", "scene.ron"], args].concat(), 2, text);
        assert!(!run.stderr.contains("frames/s"), "{}", run.stderr);
    }
    place.ok(&["render", "scene.ron", "--color-depth", "16", "-o", "out/", "--video", "a.webp"]);
    assert_eq!(place.names("."), ["a.webp", "out", "scene.ron"]);
}

#[test]
fn limits_of_stack_and_file_size_are_errors_or_no_matter() {
    let place = Place::new(1);
    let limited = |limit: &str, more: &str| {
        let program = env!("CARGO_BIN_EXE_throng");
        let line = format!("ulimit {limit}; exec {program} render scene.ron {more}");
        let mut shell = process::command("bash");
        Run::of(shell.args(["-c", &line]).current_dir(place.path(".")))
    };
    let small_stack = limited("-s 64", "-o a.png");
    assert_eq!(small_stack.code, 0, "{}", small_stack.stderr);
    for output in ["-o b.png", "--video b.webp", "-o c.png --checkpoint"] {
        let run = limited("-f 1", &format!("--size 640x360 {output}"));
        assert_eq!(run.code, 1, "{}", run.stderr);
        run.assert_one_error("larger than files may be here");
    }
    assert_eq!(place.names("."), ["a.png", "scene.ron"]);
}

#[test]
fn no_name_leaves_the_folder_that_was_asked_for() {
    let place = Place::new(1);
    std::fs::write(place.path("...obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    std::fs::write(place.path("photo.png"), "my photo").unwrap();
    std::fs::copy(place.path("scene.ron"), place.path("...ron")).unwrap();
    let small = ["--size", "16x9", "--samples", "1", "-q"];
    place.ok(&[&["render", "...obj", "-f", "1", "-o", "out/{model}/photo.png"], &small[..]].concat());
    assert_eq!(std::fs::read(place.path("photo.png")).unwrap(), b"my photo");
    assert_eq!(place.names("out"), ["__"]);
    place.ok(&[&["render", "...ron", "-f", "1"], &small[..]].concat());
    assert_eq!(place.names("frames"), ["__"]);
    assert_eq!(place.names("frames/__"), ["0001.png"]);
    place.ok(&[&["render", "...ron", "-o", "videos/{scene}/a.webp"], &small[..]].concat());
    assert_eq!(place.names("videos"), ["__"]);
    place.ok(&["bench", "...ron", "--repeat", "1", "--dump", "dump"]);
    assert!(place.names("dump").contains(&"__.scn".to_owned()), "{:?}", place.names("dump"));
    assert!(place.names(".").iter().all(|name| {
        ["...obj", "...ron", "dump", "frames", "out", "photo.png", "scene.ron", "videos"].contains(&&**name)
    }));
}

#[test]
fn a_name_may_be_as_long_as_the_file_system_allows() {
    let place = Place::new(2);
    let name = "a".repeat(245) + "####.png";
    place.ok(&["render", "scene.ron", "-o", &name]);
    place.ok(&["render", "scene.ron", "-o", &name, "--skip-existing"]);
    assert_eq!(place.frames(".").len(), 2);
    place.ok(&["render", "scene.ron", "-o", &("b".repeat(251) + ".gif")]);
    place.fails(&["render", "scene.ron", "-f", "1", "-o", &("c".repeat(252) + ".png")], 1, "the name is too long");
    place.assert_no_parts(".");
}

#[cfg(unix)]
#[test]
fn a_list_of_files_does_not_change_their_names() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new(1);
    let name = std::ffi::OsStr::from_bytes(b"\xff.ron");
    std::fs::copy(place.path("scene.ron"), place.path(".").join(name)).unwrap();
    let mut command = place.command(&["info", "--files"]);
    let run = crate::common::Run::of(command.arg(name));
    assert_eq!(run.code, 1, "{}", run.stdout);
    run.assert_one_error("is not UTF-8");
    assert!(run.stderr.contains("\\377.ron"), "{}", run.stderr);
}
