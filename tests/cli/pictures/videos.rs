//! Outputs other than PNG sequences: other picture formats, standard output, videos, contact sheets and comparisons.

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
fn a_video_has_the_frames_that_files_have_in_their_order() {
    let place = Place::new(5);
    place.ok(&["render", "scene.ron", "-o", "out/"]);
    place.ok(&["render", "scene.ron", "--frames", "1-5:2,2", "--video", "f.webp"]);
    let frames: Vec<Vec<u8>> = place.frames("out").into_values().collect();
    let expected = [0, 2, 4, 1].map(|i| frames[i].clone());
    assert!(video(&place.path("f.webp")) == expected);
    assert_eq!(place.names("."), ["f.webp", "out", "scene.ron"]);
}

#[test]
fn a_video_reads_the_frames_that_exist() {
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
    place.fails(
        &["render", "scene.ron", "-o", "-", "--progress", "json"],
        2,
        "standard output cannot carry both pictures",
    );
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
        (&["-o", "####.exr", "--video", "f.gif"][..], "need display colours"),
        (&["-o", "f.gif", "--skip-existing"], "requires files of frames"),
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
fn sequences_are_compared_frame_by_frame() {
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

/// Bars of emission in four colours, with the display values (255, 0, 0), (0, 255, 0), (0, 0, 255) and (188, 124, 63).
const BARS: &str = r#"(
    render: (size: (65, 37), samples: 1, integrator: path, filter: box, tone_map: none, frames: 3, fps: "24000/1001"),
    environment: Constant(radiance: (0, 0, 0)),
    materials: {"r": Emissive(radiance: (1, 0, 0)), "g": Emissive(radiance: (0, 1, 0)), "b": Emissive(radiance: (0, 0, 1)),
        "y": Emissive(radiance: (0.5, 0.2, 0.05))},
    meshes: {"q": Quad()},
    instances: [Single(of: "q", rotate: (90, 0, 0), translate: (-1.5, 0, 0), material: "r"),
        Single(of: "q", rotate: (90, 0, 0), translate: (-0.5, 0, 0), material: "g"),
        Single(of: "q", rotate: (90, 0, 0), translate: (0.5, 0, 0), material: "b"),
        Single(of: "q", rotate: (90, 0, 0), translate: (1.5, 0, 0), material: "y")],
    camera: LookAt(eye: (0, 0, 5), target: (0, 0, 0), projection: orthographic(height: 2.25)),
)"#;

/// Properties of a video's stream by ffprobe, and four of its pixels by ffmpeg.
fn probe(place: &Place, name: &str) -> (serde_json::Value, Vec<[u8; 3]>) {
    let fields =
        "stream=codec_tag_string,color_range,color_space,color_transfer,color_primaries,r_frame_rate,width,height";
    let told = std::process::Command::new("ffprobe")
        .args(["-v", "error", "-select_streams", "v", "-show_entries", fields, "-of", "json"])
        .arg(place.path(name))
        .output()
        .unwrap();
    let told: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap();
    let frame = std::process::Command::new("ffmpeg")
        .args(["-v", "error", "-i"])
        .arg(place.path(name))
        .args(["-frames:v", "1", "-pix_fmt", "rgb24", "-f", "rawvideo", "-"])
        .output()
        .unwrap();
    let stream = told["streams"][0].clone();
    let (width, height) = (stream["width"].as_u64().unwrap() as usize, stream["height"].as_u64().unwrap() as usize);
    let pixel = |bar: usize| {
        let at = 3 * (height / 2 * width + (2 * bar + 1) * width / 8);
        frame.stdout[at..at + 3].try_into().unwrap()
    };
    (stream, [0, 1, 2, 3].map(pixel).to_vec())
}

#[test]
fn videos_say_how_their_colours_are_stored() {
    let missing = ["ffmpeg", "ffprobe"]
        .iter()
        .any(|program| std::process::Command::new(program).arg("-version").output().is_err());
    if missing {
        println!("skipped: there is no ffmpeg");
        return;
    }
    let place = Place::new(1);
    fs::write(place.path("bars.ron"), BARS).unwrap();
    let encoders = std::process::Command::new("ffmpeg").args(["-v", "error", "-encoders"]).output().unwrap();
    let encoders = String::from_utf8_lossy(&encoders.stdout).into_owned();
    let bt709 = ("bt709", "tv");
    for (name, codec, more, (matrix, range)) in [
        ("a.mov", "prores_ks", &["--transparent"][..], bt709),
        ("a.webm", "libvpx-vp9", &["--transparent"], bt709),
        ("b.mov", "prores_ks", &[], bt709),
        ("a.mp4", "libx264", &[], bt709),
        ("c.mov", "libx264", &[], bt709),
        ("b.mp4", "libx265", &[], bt709),
        ("a.mkv", "ffv1", &[], ("gbr", "pc")),
        ("b.webm", "libvpx-vp9", &[], bt709),
        ("c.webm", "libvpx", &[], ("smpte170m", "tv")),
        ("d.mov", "mjpeg", &[], ("bt470bg", "pc")),
    ] {
        if !encoders.contains(&format!(" {codec} ")) {
            println!("skipped: ffmpeg has no {codec}");
            continue;
        }
        place.ok(&[&["render", "bars.ron", "--dither", "0", "--video", name, "--video-codec", codec], more].concat());
        let (stream, pixels) = probe(&place, name);
        let told = |key: &str| stream[key].as_str().unwrap_or("none");
        assert_eq!((told("color_space"), told("color_range")), (matrix, range), "{name}");
        assert_eq!((told("color_primaries"), told("color_transfer")), ("bt709", "bt709"), "{name}");
        assert_eq!(told("r_frame_rate"), "24000/1001", "{name}");
        if codec == "libx265" {
            assert_eq!(told("codec_tag_string"), "hvc1");
        }
        if [".mov", ".mp4"].iter().any(|ending| name.ends_with(ending)) {
            let file = fs::read(place.path(name)).unwrap();
            let colr = file.windows(4).position(|bytes| bytes == b"colr").unwrap_or_else(|| panic!("{name}: no colr"));
            assert_eq!(file[colr + 8..colr + 12], [0, 1, 0, 1], "{name}");
        }
        // Codecs without chroma subsampling reproduce colours more exactly.
        let most = if more.is_empty() && ["prores_ks", "ffv1", "mjpeg"].contains(&codec) { 2 } else { 10 };
        let close = |a: [u8; 3], b: [u8; 3]| a.iter().zip(b).all(|(a, b)| a.abs_diff(b) <= most);
        for (found, shown) in pixels.into_iter().zip([[255, 0, 0], [0, 255, 0], [0, 0, 255], [188, 124, 63]]) {
            assert!(close(found, shown), "{name}: {found:?}, not {shown:?}");
        }
    }
}
