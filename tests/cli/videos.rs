//! What frames become besides PNG files: other pictures, standard output, videos, contact sheets, and comparing pictures.

use crate::{
    common::{Place, decode},
    process,
};
use image::AnimationDecoder;
use std::{fs, io::BufReader, path::Path};

/// The frames of an animated WebP file, as RGB.
fn video(path: &Path) -> Vec<Vec<u8>> {
    let file = BufReader::new(fs::File::open(path).unwrap());
    let decoder = image::codecs::webp::WebPDecoder::new(file).unwrap();
    let frames = decoder.into_frames().collect_frames().unwrap();
    let rgb = |frame: image::Frame| image::DynamicImage::from(frame.into_buffer()).into_rgb8().into_raw();
    frames.into_iter().map(rgb).collect()
}

#[test]
fn a_film_has_the_frames_that_files_have_in_their_order() {
    let place = Place::new(5);
    place.ok(&["render", "scene.ron", "-o", "out/"]);
    place.ok(&["render", "scene.ron", "--frames", "1-5:2,2", "--video", "f.webp"]);
    let frames: Vec<Vec<u8>> = place.frames("out").into_values().collect();
    let expected = [0, 2, 4, 1].map(|i| frames[i].clone());
    assert!(video(&place.path("f.webp")) == expected);
    assert_eq!(place.names("."), ["f.webp", "out", "scene.ron"]);
}

#[test]
fn a_film_reads_the_frames_that_exist() {
    let place = Place::new(4);
    place.ok(&["render", "scene.ron", "-o", "out/", "--frames", "2,4"]);
    let args = ["render", "scene.ron", "-o", "out/", "--skip-existing", "--video", "f.webp"];
    let run = place.ok(&args);
    assert!(run.stderr.contains("2 frames existed already"), "{}", run.stderr);
    let frames: Vec<Vec<u8>> = place.frames("out").into_values().collect();
    assert!(video(&place.path("f.webp")) == frames);
    fs::remove_file(place.path("f.webp")).unwrap();
    place.ok(&args);
    assert!(video(&place.path("f.webp")) == frames, "with all frames there already");
}

#[test]
fn standard_output_gets_pictures_and_nothing_else() {
    let place = Place::new(2);
    place.ok(&["render", "scene.ron", "-o", "out/"]);
    let output = process::output(&mut place.command(&["render", "scene.ron", "-o", "-"]));
    assert!(output.status.success());
    let files = ["out/0001.png", "out/0002.png"].map(|name| fs::read(place.path(name)).unwrap());
    assert!(output.stdout == files.concat());
    place.fails(&["render", "scene.ron", "-o", "-", "--progress", "json"], 2, "standard output has the pictures");
}

#[test]
fn a_sheet_alone_renders_only_what_is_on_it() {
    let place = Place::new(9);
    let run = place.ok(&["render", "scene.ron", "--sheet", "s.png", "--sheet-frames", "4"]);
    let reported = |line: &str| line.starts_with("4 frames in");
    assert!(run.stderr.lines().any(reported), "{}", run.stderr);
    let sheet = image::open(place.path("s.png")).unwrap();
    assert_eq!((sheet.width(), sheet.height()), (2 * 64 + 3 * 8, 2 * 36 + 3 * 8));
    assert_eq!(place.names("."), ["s.png", "scene.ron"]);
}

#[test]
fn other_formats_show_the_same_picture() {
    let place = Place::new(1);
    for name in ["a.png", "a.webp", "a.jpg", "a.exr"] {
        place.ok(&["render", "scene.ron", "-o", name]);
    }
    assert!(decode(&place.path("a.png")) == decode(&place.path("a.webp")));
    place.ok(&["diff", "a.png", "a.jpg", "--limit", "0.1"]);
    assert_eq!(image::open(place.path("a.exr")).unwrap().width(), 64);
}

#[test]
fn what_does_not_go_together_is_wrong_usage() {
    let place = Place::new(2);
    for (args, text) in [
        (&["-o", "####.exr", "--video", "f.gif"][..], "show display colours"),
        (&["-o", "f.gif", "--skip-existing"], "keeps files of frames"),
        (&["-o", "####.jpg", "--color-depth", "16"], "do not have that many bits"),
        (&["--video", "####.gif"], "a video holds all frames"),
        (&["--video", "f.avi"], "`.avi` files cannot be written"),
    ] {
        place.fails(&[&["render", "scene.ron"], args].concat(), 2, text);
    }
}

#[test]
fn videos_need_ffmpeg_and_say_so() {
    let place = Place::new(2);
    let mut command = place.command(&["render", "scene.ron", "-o", "f.mp4"]);
    let output = process::output(command.env("PATH", place.path("nowhere")));
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("there is no ffmpeg on the PATH"), "{text}");
    assert_eq!(place.names("."), ["scene.ron"]);
}

#[test]
fn diff_tells_by_its_exit_code_whether_pictures_are_alike() {
    let place = Place::new(2);
    place.ok(&["render", "scene.ron", "-o", "out/"]);
    let same = place.ok(&["diff", "out/0001.png", "out/0001.png"]);
    assert!(same.stdout.starts_with("FLIP: mean 0.000000"), "{}", same.stdout);
    let args = ["diff", "out/0001.png", "out/0002.png", "--map", "map.png", "--json"];
    let run = place.run(&args);
    assert_eq!((run.code, run.stderr.as_str()), (1, ""));
    let found = run.json();
    let mean = found["mean"].as_f64().unwrap();
    assert!(mean > 0.0 && mean < 1.0 && found["p99"].as_f64().unwrap() > mean, "{found}");
    assert_eq!(found["equal"], false);
    assert_eq!(decode(&place.path("map.png")).len(), 64 * 36 * 3);
    place.ok(&[&args[..], &["--limit", "0.9"]].concat());
    place.fails(&["diff", "out/0001.png", "scene.ron"], 1, "scene.ron: cannot be read");
    place.fails(&["diff", "out/0001.png", "none.png"], 1, "none.png: ");
}

#[test]
fn films_are_compared_frame_by_frame() {
    let place = Place::new(3);
    place.ok(&["render", "scene.ron", "-o", "a/"]);
    place.ok(&["render", "scene.ron", "-o", "b/", "--frames", "1,2", "--exposure", "1"]);
    std::fs::copy(place.path("b/0002.png"), place.path("b/0009.png")).unwrap();
    let same = place.ok(&["diff", "--sequence", "a/####.png", "a/####.png"]);
    assert!(same.stdout.starts_with("3 frames: FLIP: mean 0.000000"), "{}", same.stdout);
    assert!(same.stdout.ends_with("flicker 0.000000 over 2 pairs of frames\n"), "{}", same.stdout);
    let run = place.run(&["diff", "--sequence", "a/####.png", "b/####.png", "--json"]);
    let found = run.json();
    assert_eq!((run.code, &found["frames"], &found["equal"]), (1, &2.into(), &false.into()));
    assert_eq!((&found["only_a"], &found["only_b"]), (&[3].as_slice().into(), &[9].as_slice().into()));
    for key in ["mean", "p99", "flicker"] {
        assert!(found[key].as_f64().unwrap() > 0.0, "{key}: {found}");
    }
    let run = place.run(&["diff", "--sequence", "a/####.png", "b/####.png", "--limit", "0.9"]);
    let text = run.stdout;
    assert_eq!(run.code, 1, "frames are missing: {text}");
    assert!(text.contains("only in a/####.png: 3\nonly in b/####.png: 9"), "{text}");
    place.fails(&["diff", "--sequence", "a/####.png", "c/####.png"], 1, "c/####.png");
    place.fails(&["diff", "--sequence", "a/####.png", "a/#.jpg"], 1, "no frame is in both");
    place.fails(&["diff", "--sequence", "a/0001.png", "a/0001.png"], 2, "write it like frames/####.png");
}
