//! Models without a scene file: animations, views, environments, and flags that apply to some file types only.

use super::mast::mast;
use crate::common::{Place, decode};
use serde_json::Value;
use std::fs;

const TETRAHEDRON: &str = "v 0 0 0\nv 1 0 0\nv 0 0 1\nv 0 1 0\nf 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n";
/// A fixed view of the mast, so that comparisons do not depend on automatic framing.
const VIEW: [&str; 5] = ["--no-ground", "--eye", "1,2,6", "--target", "0,1,0"];

fn place() -> Place {
    let place = Place::new(4);
    fs::write(place.path("mast.gltf"), mast()).unwrap();
    fs::write(place.path("model.obj"), TETRAHEDRON).unwrap();
    place
}

/// The pixels of one frame.
fn picture(place: &Place, scene: &str, frame: &str, flags: &[&str]) -> Vec<u8> {
    let common = ["render", scene, "-f", frame, "-o", "a.png"];
    let small = ["--size", "64x48", "--samples", "2"];
    place.ok(&[&common[..], &small, flags].concat());
    decode(&place.path("a.png"))
}

fn frames(place: &Place, flags: &[&str]) -> u64 {
    let json = place.ok(&[&["info", "mast.gltf", "--json"][..], flags].concat());
    json.json()["frames"].as_u64().unwrap()
}

#[test]
fn a_clip_plays_once_round() {
    let place = place();
    assert_eq!(frames(&place, &["--animation", "Bend"]), 24);
    assert_eq!(frames(&place, &["--animation", "1"]), 48);
    assert_eq!(frames(&place, &["--animation", "Bend,Slide"]), 48);
    assert_eq!(frames(&place, &["--animation", "all", "--animation-speed", "-2"]), 24);
    assert_eq!(frames(&place, &["--animation", "Bend", "--no-loop"]), 25);
    assert_eq!(frames(&place, &["--animation", "Bend", "--camera", "turntable"]), 72);
    assert_eq!(frames(&place, &["--camera", "Front"]), 1);
    assert_eq!(frames(&place, &[]), 72);
    let bend = ["--animation", "Bend"];
    let at = |frame| picture(&place, "mast.gltf", frame, &[&bend[..], &VIEW].concat());
    assert!(at("1") != at("13"));
}

#[test]
fn a_moving_frame_is_the_model_posed_at_its_time() {
    let place = place();
    for clip in ["Bend", "Slide", "Bend,Slide"] {
        let with = |flags: &[&str]| {
            let flags = [&["--animation", clip][..], flags, &VIEW].concat();
            picture(&place, "mast.gltf", "1", &flags)
        };
        let posed = with(&["--animation-speed", "0", "--animation-offset", "0.5"]);
        assert!(posed == with(&["--time", "0.5"]), "{clip}");
        assert!(posed == with(&["--animation-offset", "0.5"]), "{clip}");
        assert!(posed == with(&["--time", "0.25", "--animation-speed", "2"]), "{clip}");
        assert!(posed != with(&[]), "{clip}");
    }
}

#[test]
fn what_shrinks_to_nothing_is_not_seen() {
    let place = place();
    let at = |offset: &str, speed: &str| {
        let clip = ["--animation", "Vanish", "--no-loop", "--animation-offset", offset];
        let flags = [&clip[..], &["--animation-speed", speed], &VIEW].concat();
        picture(&place, "mast.gltf", "1", &flags)
    };
    let gone = at("1", "1");
    assert!(gone == at("1", "0") && gone == at("5", "1"));
    assert!(gone != at("0.5", "1"));
}

#[test]
fn threads_and_policies_make_no_difference_to_the_pixels() {
    let place = place();
    let all = |folder: &str, flags: &[&str]| {
        let output = format!("{folder}/");
        let common = ["render", "mast.gltf", "--animation", "all", "-f", "1-48:6", "-o", &output];
        let small = ["--size", "64x48", "--samples", "2"];
        place.ok(&[&common[..], &small, flags].concat());
        place.frames(folder)
    };
    let plain = all("plain", &[]);
    assert_eq!(plain.len(), 8);
    for (folder, flags) in [
        ("one", &["--threads", "1"][..]),
        ("refit", &["--refit", "refit"]),
        ("rebuild", &["--refit", "rebuild"]),
        ("auto", &["--refit", "auto"]),
    ] {
        assert!(plain == all(folder, flags), "{folder}");
    }
}

#[test]
fn a_policy_is_what_the_trees_follow_by() {
    let place = place();
    let counts = |policy: &str| {
        let run = place.ok(&[
            "render",
            "mast.gltf",
            "--animation",
            "Bend",
            "--refit",
            policy,
            "-f",
            "1-4",
            "--size",
            "8x8",
            "--progress",
            "json",
            "-o",
            "out/",
        ]);
        let last: Value = serde_json::from_str(run.stdout.lines().last().unwrap()).unwrap();
        [&last["refits"], &last["rebuilds"]].map(|n| n.as_u64().unwrap())
    };
    // The TLAS is also built for each frame. The first frame has the pose in which its exposure was measured.
    assert_eq!(counts("refit"), [3, 3]);
    assert_eq!(counts("rebuild"), [0, 6]);
}

#[test]
fn each_animation_has_files_of_its_own_where_names_have_a_place() {
    let place = place();
    let render = ["render", "mast.gltf", "--size", "16x9", "--samples", "1"];
    let with = |flags: &[&str]| place.ok(&[&render[..], flags].concat());
    let run = with(&["--animation", "all", "-o", "videos/{animation}.webp"]);
    assert_eq!(place.names("videos"), ["Bend.webp", "Slide.webp", "Vanish.webp"]);
    assert!(run.stderr.contains("animation 2 of 3: Slide\n"), "{}", run.stderr);
    assert!(
        run.stderr.contains("\n96 frames in ") && run.stderr.ends_with("; see videos/{animation}.webp\n"),
        "{}",
        run.stderr
    );
    let stills = ["--animation", "0,Vanish", "-f", "5", "-o", "stills/{animation}_##.png"];
    with(&stills);
    assert_eq!(place.names("stills"), ["Bend_05.png", "Vanish_05.png"]);
    let again = with(&[&stills[..], &["--skip-existing"]].concat()).stderr;
    assert!(again.ends_with("nothing rendered: 2 frames existed already in stills/{animation}_##.png\n"), "{again}");
    with(&["--animation", "Bend", "-f", "5", "-o", "alone.png"]);
    assert!(decode(&place.path("alone.png")) == decode(&place.path("stills/Bend_05.png")));
    for (flags, text) in [
        (&["-o", "{animation}.png"][..], "requires --animation all, or the names of animations"),
        (&["--animation", "all", "-o", "{animation}.webp", "--video", "a.gif"], "try `{animation}_a.gif`"),
    ] {
        place.fails(&[&render[..], flags].concat(), 2, text);
    }
    place.fails(&["farm", "slurm", "mast.gltf", "--animation", "all", "-o", "{animation}/#.png"], 2, "one animation");
}

#[test]
fn a_sheet_of_all_animations_has_a_row_for_each() {
    let place = place();
    let render = ["render", "mast.gltf", "--size", "64x36", "--samples", "1", "--animation", "all"];
    let told = place.ok(&[&render[..], &["--sheet", "sheet.png", "--sheet-frames", "4"]].concat()).stderr;
    // The result and each note are reported once, not for each row.
    assert!(told.contains("\n12 frames in ") && told.ends_with("; see sheet.png\n"), "{told}");
    assert_eq!(
        ["; see ", " frames in ", "one of its cameras"].map(|text| told.matches(text).count()),
        [1; 3],
        "{told}"
    );
    let sheet = image::open(place.path("sheet.png")).unwrap().into_rgb8();
    // A strip above each row holds its name, which is brighter than the strip.
    let row = 16 + 36 + 8;
    assert_eq!(sheet.dimensions(), (8 + 4 * (64 + 8), 8 + 3 * row));
    let length = |index: u32| {
        let is_inked = |x: &u32| (0..16).any(|y| sheet.get_pixel(*x, 8 + index * row + y).0[0] > 100);
        (8..288).rev().find(is_inked).map(|x| (x - 8) as usize / 7 + 1)
    };
    assert_eq!([0, 1, 2].map(length), ["Bend", "Slide", "Vanish"].map(|name| Some(name.len())));
    place.assert_no_parts(".");
    place.ok(&[&render[..], &["--sheet", "{animation}.png", "--sheet-frames", "2"]].concat());
    assert!(["Bend.png", "Slide.png", "Vanish.png"].iter().all(|name| place.path(name).exists()));
    // Without --size, frames are not rendered larger than the sheet shows them.
    let drafts = ["render", "mast.gltf", "--preset", "draft", "--animation", "all", "--progress", "json"];
    let run = place.ok(&[&drafts[..], &["--sheet", "own.png", "--sheet-frames", "100"]].concat());
    let started: serde_json::Value = serde_json::from_str(run.stdout.lines().next().unwrap()).unwrap();
    assert_eq!((&started["width"], &started["height"]), (&30.into(), &17.into()));
}

#[test]
fn animations_that_move_the_same_things_are_told_of() {
    let place = place();
    let text = String::from_utf8(mast()).unwrap();
    let mut document: Value = serde_json::from_str(&text).unwrap();
    let again = document["animations"][0].clone();
    document["animations"].as_array_mut().unwrap().push(again);
    fs::write(place.path("twice.gltf"), document.to_string()).unwrap();
    let warned = |model: &str, animation: &str| {
        let run = place.ok(&["render", model, "--animation", animation, "-f", "1", "--size", "8x8", "-o", "a.png"]);
        run.stderr.contains("the animations Bend and Bend move the same node")
    };
    assert!(warned("twice.gltf", "all") && !warned("twice.gltf", "0") && !warned("mast.gltf", "all"));
    // Frames of several animations need distinct names.
    place.ok(&["render", "twice.gltf", "--animation", "all", "--size", "8x8", "-f", "1", "-o", "c/{animation}.png"]);
    assert_eq!(place.names("c"), ["Bend.png", "Bend_2.png", "Slide.png", "Vanish.png"]);
}

#[test]
fn a_blueprint_is_one_command() {
    let place = place();
    let blueprint = ["--integrator", "wireframe", "--wireframe-color", "white", "--background", "#1b4f8f"];
    let flags = [&blueprint[..], &["--dither", "0", "--wireframe=3"]].concat();
    let pixels = picture(&place, "model.obj", "1", &flags);
    let (pixels, _) = pixels.as_chunks::<3>();
    assert_eq!(pixels[0], [0x1b, 0x4f, 0x8f], "the paper");
    assert!(pixels.contains(&[255; 3]), "lines");
    // Surfaces have a shade of the paper's blue.
    assert!(pixels.iter().all(|[r, g, b]| r <= g && g <= b));
    let plain = picture(&place, "model.obj", "1", &["--wireframe=2", "--dither", "0"]);
    let red = picture(&place, "model.obj", "1", &["--wireframe=2", "--wireframe-color", "red", "--dither", "0"]);
    let differing = plain.as_chunks::<3>().0.iter().zip(red.as_chunks::<3>().0).filter(|(a, b)| a != b);
    assert!(differing.clone().count() > 20 && differing.into_iter().all(|(a, b)| b[0] > a[0] && a[1..] == b[1..]));
}

#[test]
fn what_a_file_offers_is_a_note() {
    let place = place();
    let render = ["render", "mast.gltf", "-f", "1", "--size", "8x8", "-o", "a.png"];
    let run = place.ok(&render);
    let note = "throng: note: shown at rest; --animation NAME plays one of its animations: Bend (1.00 s), Slide (2.00 s), Vanish (1.00 s)";
    assert!(run.stderr.contains(note), "{}", run.stderr);
    assert!(run.stderr.contains("one of its cameras: Front"), "{}", run.stderr);
    assert!(!run.stderr.contains("warning"), "{}", run.stderr);
    assert_eq!(place.ok(&[&render[..], &["-q"]].concat()).stderr, "");
    let chosen = ["--animation", "Bend", "--camera", "Front"];
    let run = place.ok(&[&render[..], &chosen].concat());
    assert!(!run.stderr.contains("note"), "{}", run.stderr);
}

#[test]
fn unknown_names_are_errors_that_tell_the_known_ones() {
    let place = place();
    for (flag, name, text) in [
        (
            "--animation",
            "bent",
            "mast.gltf: there is no animation `bent`: did you mean `Bend`? the animations are Bend, Slide, Vanish",
        ),
        ("--animation", "3", "there is no animation `3`: the animations are Bend, Slide, Vanish"),
        ("--camera", "Back", "there is no camera `Back`: the cameras are Front"),
        ("--variant", "red", "there is no variant `red`"),
        ("--scene", "3", "scene"),
    ] {
        place.fails(&["check", "mast.gltf", flag, name], 1, text);
    }
}

#[test]
fn flags_that_do_not_fit_the_file_are_wrong_usage() {
    let place = place();
    for (scene, flags, text) in [
        ("scene.ron", &["--variant", "red"][..], "--variant: only glTF and USD files have variants"),
        ("scene.ron", &["--animation", "Bend"], "--animation: only .gltf and .glb"),
        ("scene.ron", &["--no-ground"], "--no-ground: this is of models"),
        ("scene.ron", &["--environment", "studio"], "--environment: scene files have no studio: write sky"),
        (
            "scene.ron",
            &["--environment-rotation", "90"],
            "--environment-rotation: the environment of this scene is no picture",
        ),
        ("scene.ron", &["--camera", "still"], "--camera NAME chooses one of its cameras"),
        ("scene.ron", &["--up", "z"], "+Y is up in it"),
        ("scene.ron", &["--fps", "30"], "write --set render.fps=N"),
        ("scene.ron", &["--preset", "draft"], "write --samples N"),
        ("model.obj", &["--set", "environment.elevation=5"], "add --environment sky or the name of a picture"),
        ("model.obj", &["--environment", "white", "--set", "environment.elevation=5"], "--set environment.elevation"),
        ("model.obj", &["--up", "w"], "write an axis like z or -y"),
        ("model.obj", &["--up", "0,0,0"], "write an axis like z or -y"),
        ("model.obj", &["--margin", "0.5"], "write a number from 0 to 0.45"),
        ("model.obj", &["--fps", "0"], "write a number from 0.1 to 1000"),
        ("model.obj", &["--camera", "Front"], "--camera: only .ron scenes, glTF and USD files have cameras"),
        ("model.obj", &["--scene", "0"], "--scene: only glTF and USD"),
        ("model.obj", &["--target", "0,0,0"], "--eye"),
        ("model.obj", &["--eye", "1,2"], "write three numbers like 1,2.5,-3"),
        ("model.obj", &["--eye", "1,nan,2"], "write three numbers"),
        ("model.obj", &["--eye", "1,1,1", "--target", "1,1,1"], "the camera looks at itself"),
        ("model.obj", &["--eye", "0,9,0", "--target", "0,0,0"], "--up: the camera looks along it"),
        ("model.obj", &["--fov", "180"], "below 180 degrees"),
        ("model.obj", &["--time", "inf"], "write a number"),
        ("model.obj", &["--environment", "stduio"], "is no environment"),
        ("mast.gltf", &["--animation-speed", "2"], "--animation"),
        ("mast.gltf", &["--camera", "Front", "--eye", "1,1,1"], "--camera"),
        ("mast.gltf", &["--refit", "never"], "--refit"),
    ] {
        place.fails(&[&["render", scene][..], flags].concat(), 2, text);
    }
    let missing = ["check", "model.obj", "--environment", "beach.hdr"];
    place.fails(&missing, 1, "beach.hdr: the picture of --environment does not exist");
}

#[test]
fn a_turntable_is_as_long_and_as_smooth_as_one_likes() {
    let place = place();
    assert_eq!(frames(&place, &["--duration", "2", "--fps", "10"]), 20);
    assert_eq!(frames(&place, &["--fps", "10"]), 30);
    assert_eq!(frames(&place, &["--animation", "Bend", "--fps", "48"]), 48);
    assert_eq!(frames(&place, &["--animation", "Bend", "--duration", "0.5"]), 12);
    let at = |frame, flags: &[&str]| picture(&place, "model.obj", frame, flags);
    let still = ["--turns", "0", "--lock-seed"];
    assert!(at("19", &still) == at("1", &still));
    assert!(at("19", &["--turns", "-1"]) != at("19", &[]));
}

#[test]
fn a_model_is_turned_upright_and_framed_as_one_likes() {
    let place = place();
    for model in ["model.obj", "mast.gltf"] {
        let with = |flags: &[&str]| picture(&place, model, "1", flags);
        let plain = with(&[]);
        assert!(plain == with(&["--up", "y"]) && plain == with(&["--rotate", "0,0,0"]), "{model}");
        assert!(plain != with(&["--up", "z"]), "{model}");
        assert!(plain != with(&["--zoom", "0.5"]) && plain != with(&["--margin", "0.3"]), "{model}");
    }
}

#[test]
fn a_plain_file_name_means_one_picture() {
    let place = place();
    place.ok(&["render", "model.obj", "-o", "still.png", "--size", "8x4", "--samples", "1"]);
    assert!(place.path("still.png").is_file());
}

#[test]
fn a_single_picture_is_framed_for_its_view() {
    let place = place();
    let render = |flags: &[&str]| {
        let common = ["render", "model.obj", "--size", "64x48", "--samples", "2"];
        place.ok(&[&common[..], flags].concat());
        decode(&place.path("a.png"))
    };
    let still = render(&["-o", "a.png"]);
    assert!(still == render(&["-o", "a.png", "-f", "1"]));
    assert!(still == render(&["-o", "a.png", "--camera", "still"]));
    let turning = render(&["-o", "a.png", "--camera", "turntable"]);
    assert!(still != turning);
    assert!(turning == render(&["-o", "a.png", "--turns", "1"]));
    place.ok(&[
        "render",
        "model.obj",
        "--size",
        "64x48",
        "--samples",
        "2",
        "-f",
        "1",
        "-o",
        "####.png",
        "--denoise-frames",
        "0",
    ]);
    assert!(turning == decode(&place.path("0001.png")));
}

#[test]
fn a_later_start_moves_scenes_and_lets_turntables_begin_where_they_do() {
    let place = place();
    let obj = |frame, flags: &[&str]| picture(&place, "model.obj", frame, flags);
    assert!(obj("1", &[]) == obj("1", &["--time", "1.7"]));
    assert!(obj("5", &[]) == obj("5", &["--time", "-3"]));
    let ron = |flags: &[&str]| picture(&place, "scene.ron", "1", flags);
    assert!(ron(&["--time", "0.25"]) == ron(&["--set", "render.start=0.25"]));
    assert!(ron(&["--time", "0.25", "--set", "render.start=3"]) == ron(&["--time", "0.25"]));
}

#[test]
fn views_replace_the_cameras_of_scenes_and_models() {
    let place = place();
    for scene in ["scene.ron", "model.obj", "mast.gltf"] {
        let with = |flags: &[&str]| picture(&place, scene, "1", flags);
        let own = with(&["--eye", "2,3,-4"]);
        assert!(own != with(&[]), "{scene}");
        assert!(own != with(&["--eye", "2,3,-4", "--fov", "20"]), "{scene}");
        assert!(own != with(&["--eye", "2,3,-4", "--up", "1,0,0"]), "{scene}");
        assert!(own != with(&["--eye", "2,3,-4", "--target=-3,0,0"]), "{scene}");
    }
    let same = ["--set", "camera=LookAt(eye: (2, 3, -4), target: (0, 0, 1), fov: 20)"];
    let view = ["--eye", "2,3,-4", "--target", "0,0,1", "--fov", "20"];
    assert!(picture(&place, "scene.ron", "1", &same) == picture(&place, "scene.ron", "1", &view));
}

#[test]
fn surroundings_are_chosen() {
    let place = place();
    let with = |flags: &[&str]| picture(&place, "model.obj", "1", flags);
    let plain = with(&[]);
    assert!(plain == with(&["--environment", "studio"]));
    let sky = with(&["--environment", "sky"]);
    assert!(sky != plain);
    let bare = with(&["--environment", "#000000", "--no-ground", "--tone-map", "none"]);
    assert_eq!(bare[..3], [0; 3]);
    let white = ["--environment", "1,1,1", "--no-ground", "--tone-map", "none"];
    assert_eq!(with(&white)[..3], [255; 3]);
    image::RgbImage::from_pixel(8, 4, image::Rgb([255, 0, 0])).save(place.path("red.png")).unwrap();
    let red = with(&["--environment", "red.png", "--no-ground", "--tone-map", "none"]);
    assert_eq!(red[..3], [255, 0, 0]);
}
