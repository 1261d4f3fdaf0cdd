//! Refused requests, with their exit codes and messages.

use crate::{
    common::{Place, scene},
    process::Process,
};
use std::fs;

#[test]
fn usage_errors_exit_with_2() {
    let place = Place::new(2);
    for (args, text) in [
        (&["frobnicate"][..], "unrecognized subcommand 'frobnicate'"),
        (&["render"], "<SCENE>"),
        (&["render", "scene.ron", "--frobnicate"], "unexpected argument '--frobnicate'"),
        (&["info", "scene.ron", "more.ron"], "unexpected argument 'more.ron'"),
        (&["render", "scene.ron", "-q", "-v"], "cannot be used with"),
        (&["render", "scene.ron", "--integrator", "x"], "[possible values: path, whitted, ao, normal"),
        (&["render", "scene.ron", "--tone-map", "x"], "[possible values: none, aces, agx, pbr_neutral]"),
        (
            &["render", "scene.ron", "--filter", "x"],
            "[possible values: box, tent, gaussian, blackman_harris, mitchell, shared]",
        ),
        (&["render", "scene.ron", "--filter-width", "0"], "must be 0.1 to 16"),
        (&["render", "scene.ron", "--white-balance", "1000"], "must be 1667 to 25000"),
        (&["render", "scene.ron", "--dither", "3"], "must be 0 to 2"),
        (
            &["render", "scene.ron", "--layers", "albedo,colour"],
            "[possible values: albedo, normal, depth, position, motion, variance, instance, material, alpha, shadow, wireframe, error, alpha_variance, all]",
        ),
        (&["render", "scene.ron", "--progress", "x"], "[possible values: auto, bar, json, openjd, none]"),
        (&["render", "scene.ron", "--size", "10"], "write width and height like 1920x1080"),
        (&["render", "scene.ron", "--size", "0x9"], "must be 1 to 65536 pixels on each side"),
        (&["render", "scene.ron", "--size", "9x65537"], "must be 1 to 65536 pixels"),
        (&["render", "scene.ron", "--samples", "0"], "must be 1 to 1048576"),
        (&["render", "scene.ron", "--samples", "1048577"], "must be 1 to 1048576"),
        (&["render", "scene.ron", "--bounces", "1001"], "must be 0 to 1000"),
        (&["render", "scene.ron", "--exposure", "nan"], "must be -64 to 64"),
        (&["render", "scene.ron", "--seed", "-1"], "'-1'"),
        (&["render", "scene.ron", "--threads", "1025"], "1025 is not in 0..=1024"),
        (&["render", "scene.ron", "--set", "x"], "write a key and a value like"),
        (&["info"], "<SCENE>"),
        (&["info", "scene.ron", "--samples", "1"], "unexpected argument '--samples'"),
        (&["check", "scene.ron", "--threads", "1"], "unexpected argument '--threads'"),
        (&["trace", "scene.ron"], "<RAYS>"),
        (&["trace", "scene.ron", "r.ray", "--kind", "x"], "[possible values: closest, any]"),
        (&["trace", "scene.ron", "r.ray", "--repeat", "0"], "0 is not in 1..="),
        (&["bench", "scene.ron", "--repeat", "x"], "invalid value 'x'"),
    ] {
        let run = place.fails(args, 2, text);
        assert_eq!(run.stdout, "");
    }
    assert_eq!(place.names("."), ["scene.ron"], "nothing is written");
}

#[test]
fn words_of_other_programs_are_explained_with_the_flag() {
    let place = Place::new(1);
    for (words, tip) in [
        (&["--hdri", "a.hdr"][..], "write `--environment sky.hdr`"),
        (&["--resolution", "1920x1080"], "write `--size 1920x1080`"),
        (&["--res=64x64"], "write `--size 1920x1080`"),
        (&["--spp", "4"], "write `--samples 64`"),
        (&["--bg", "white"], "write `--background white`"),
        (&["--gpu"], "write `--device cuda`"),
        (&["--output-dir", "out"], "write `-o FOLDER/`"),
        (&["--start", "1", "--end", "4"], "write `--frames 1-24`"),
    ] {
        let run = place.fails(&[&["render", "scene.ron"], words].concat(), 2, tip);
        assert_eq!(run.stderr.matches("tip:").count(), 1, "{}", run.stderr);
    }
}

#[test]
fn a_scene_in_place_of_a_command_is_rendered() {
    let place = Place::new(1);
    place.ok(&["scene.ron", "-o", "a.png", "--size", "8x8"]);
    fs::create_dir(place.path("scenes")).unwrap();
    fs::copy(place.path("scene.ron"), place.path("scenes/b.ron")).unwrap();
    place.ok(&["scenes", "-o", "{scene}.png", "--size", "8x8"]);
    assert_eq!(place.names("."), ["a.png", "b.png", "scene.ron", "scenes"]);
    for missing in ["nowhere.ron", "nowhere"] {
        place.fails(&[missing], 2, "`throng render SCENE` renders a scene or a model");
    }
    place.fails(&["-o", "a.png", "scene.ron"], 2, "write `throng render -o a.png scene.ron`");
}

#[test]
fn bad_frame_lists_say_how_to_write_them() {
    let place = Place::new(12);
    for (list, text) in [
        ("1-x", "`1-x` is not a frame or a range; write frames like 1-48:2,60"),
        ("", "is not a frame or a range"),
        ("0", "frame 0 does not exist"),
        ("1-4:0", "the step must be at least 1"),
        ("4:2", "a step needs a range"),
        ("9-3", "`9-3` runs backwards; write 3-9"),
        ("13", "frame 13 does not exist: the scene has frames 1 to 12"),
        ("1-4000000000", "the scene has frames 1 to 12"),
    ] {
        place.fails(&["render", "scene.ron", "--frames", list], 2, text);
    }
}

#[test]
fn bad_output_patterns_show_the_fix() {
    let place = Place::new(2);
    for (pattern, text) in [
        ("still.png", "`still.png` has no place for the frame number; try `still_####.png`"),
        ("x/still", "try `x/still_####.png`"),
        ("a_##.tif", "`.tif` files cannot be written, only .png, .jpg, .webp, .exr and .npz"),
        ("{shot}.png", "unknown placeholder `{shot}`"),
        ("{frame.png", "`{` has no matching `}`"),
        ("frame}.png", "`}` has no matching `{`"),
        ("", "the output name is empty"),
    ] {
        place.fails(&["render", "scene.ron", "-f", "1-2", "-o", pattern], 2, text);
    }
    assert_eq!(place.names("."), ["scene.ron"]);
}

#[test]
fn no_arguments_show_the_help_and_exit_with_2() {
    let run = Place::new(1).run(&[]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("Usage: throng"), "{}", run.stderr);
}

#[test]
fn help_and_version_exit_with_0() {
    let place = Place::new(1);
    let help = place.ok(&["--help"]).stdout;
    for text in ["render", "info", "check", "trace", "bench", "75 stopped and resumable"] {
        assert!(help.contains(text), "{help}");
    }
    for subcommand in ["render", "info", "check", "trace", "bench"] {
        let help = place.ok(&[subcommand, "--help"]).stdout;
        assert!(help.contains("SCENE"), "{help}");
    }
    let version = place.ok(&["--version"]).stdout;
    assert_eq!(version.trim(), format!("throng {}", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_missing_scene_is_named() {
    let place = Place::new(1);
    fs::write(place.path("r.ray"), "").unwrap();
    for subcommand in ["render", "info", "check", "bench"] {
        place.fails(&[subcommand, "nowhere.ron"], 1, "nowhere.ron");
    }
    place.fails(&["trace", "nowhere.ron", "r.ray"], 1, "nowhere.ron");
}

#[test]
fn a_broken_scene_is_an_error_with_its_place() {
    let place = Place::new(1);
    let broken = scene(1).replace("samples: 1", "nonsense: 1");
    fs::write(place.path("broken.ron"), broken).unwrap();
    for subcommand in ["render", "info", "check", "bench"] {
        let run = place.fails(&[subcommand, "broken.ron"], 1, "nonsense");
        assert!(run.stderr.contains("broken.ron:2:"), "{}", run.stderr);
    }
}

#[test]
fn senseless_settings_in_the_scene_fail() {
    let place = Place::new(0);
    place.fails(&["render", "scene.ron"], 1, "frames");
    place.fails(&["check", "scene.ron"], 1, "frames");
}

#[test]
fn an_unknown_key_in_set_fails() {
    let place = Place::new(1);
    place.fails(&["render", "scene.ron", "--set", "render.bogus=1"], 2, "bogus");
}

#[test]
fn a_wrong_value_in_set_is_wrong_usage_and_the_same_in_the_file_is_not() {
    let place = Place::new(1);
    for (set, text) in [
        ("render.samples=0", "--set render.samples: scene.ron: samples is 0"),
        ("render.samples=abc", "--set render.samples"),
        ("camera.fov=500", "--set camera.fov: scene.ron: the field of view"),
        ("instances.9.scale=2", "--set instances.9.scale: there is no `9`"),
        ("camera.eye=(0, 0, 0)", "--set camera.eye: scene.ron"),
        ("instances.0.translate=(1e20, 0, 0)", "--set instances.0.translate: scene.ron: instance"),
        ("camera=keys([(0, LookAt(eye: (nan, 0, 0), target: (0, 0, 0)))])", "--set camera"),
    ] {
        for command in ["check", "info", "render"] {
            place.fails(&[command, "scene.ron", "--set", set], 2, text);
        }
    }
    let right = std::fs::read_to_string(place.path("scene.ron")).unwrap();
    std::fs::write(place.path("wrong.ron"), right.replace("samples: 1", "samples: 0")).unwrap();
    place.fails(&["check", "wrong.ron"], 1, "wrong.ron:2:39: samples is 0");
    place.fails(&["check", "wrong.ron", "--set", "camera.fov=50"], 1, "wrong.ron:2:39: samples is 0");
}

#[test]
fn what_flags_ask_for_in_vain_is_wrong_usage() {
    let place = Place::new(2);
    for (args, text) in [
        (&["--layers", "depth", "-o", "a.png"][..], "--layers requires an --output of .exr, .npz or .film files"),
        (&["--layers", "error", "-o", "a.exr"], "add --denoise frames"),
        (&["--filter", "shared", "--filter-width", "3"], "filter_width does not apply to the filter `shared`"),
        (&["--integrator", "depth", "--denoise"], "--integrator path or whitted"),
        (&["--checkpoint", "--denoise", "-o", "a/"], "use throng denoise"),
        (&["--compare", "--device", "cpu,cpu", "--denoise"], "neither --exposure auto nor --denoise"),
        (&["--compare", "--device", "cpu,cpu", "-o", "a.exr"], "--compare writes .png files"),
    ] {
        place.fails(&[&["render", "scene.ron"], args].concat(), 2, text);
    }
    place.fails(&["farm", "slurm", "scene.ron", "scene.ron", "-o", "{model}/#.png"], 2, "a job renders one scene");
    place.fails(&["farm", "slurm", "scene.ron", "-o", "a.film", "-f", "1"], 2, "choose an --output of frames");
    place.fails(&["diff", "a.png", "b.png", "--map", "c.exr"], 2, "the map has display colours");
    place.fails(&["diff", "a.png", "b.png", "--sequence"], 2, "write it like frames/####.png");
    place.fails(&["denoise", "a_##.exr", "-o", "a.mp4"], 2, "throng denoise writes pictures");
    assert_eq!(place.names("."), ["scene.ron"]);
}

#[test]
fn a_file_in_the_way_of_the_output_folder_fails_before_rendering() {
    let place = Place::new(1);
    fs::write(place.path("file"), "").unwrap();
    let args = ["render", "scene.ron", "-o", "file/x/####.png"];
    // Windows does not tell which part of the path is in the way.
    let reason = if cfg!(windows) { "a file has that name" } else { "a part of the path is a file, not a folder" };
    place.fails(&args, 1, reason);
}

#[test]
fn a_folder_in_the_way_of_a_frame_fails_before_rendering() {
    let place = Place::new(3);
    fs::create_dir_all(place.path("out/0003.png")).unwrap();
    let args = ["render", "scene.ron", "-o", "out/"];
    place.fails(&args, 1, "out/0003.png: a folder has that name");
    assert_eq!(place.names("out"), ["0003.png"]);
}

#[cfg(unix)]
#[test]
fn a_folder_without_write_permission_fails() {
    use std::os::unix::fs::PermissionsExt;
    // SAFETY: takes no arguments and cannot fail.
    if unsafe { libc::geteuid() } == 0 {
        eprintln!("skipped: root may write everywhere");
        return;
    }
    let place = Place::new(1);
    fs::create_dir(place.path("out")).unwrap();
    fs::set_permissions(place.path("out"), fs::Permissions::from_mode(0o555)).unwrap();
    place.fails(&["render", "scene.ron", "-o", "out/"], 1, "permission denied; choose a folder");
    place.fails(&["render", "scene.ron", "-o", "out/x/"], 1, "cannot create the folder out/x");
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_printed_fails() {
    let place = Place::new(1);
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = place.command(&["info", "scene.ron"]);
    let output = Process::start_with_stdout(&mut command, full).finish();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("throng: error: cannot write to standard output"), "{stderr}");
}
