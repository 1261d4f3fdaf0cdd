//! Warnings about probably wrong pictures: `check` and `render` report them as text and JSON. Good scenes have none.

use crate::common::{Place, scene};
use std::{fs, path::Path};

const BLACK: &str = "environment=Constant(radiance: (0, 0, 0))";
const WHITTED: &str = "render.integrator=whitted";

/// A folder with the usual scene, without its integrator.
fn unnamed() -> Place {
    let place = Place::new(1);
    fs::write(place.path("scene.ron"), scene(1).replace("integrator: whitted, ", "")).unwrap();
    place
}

/// A folder with a scene of a floor with a block on it.
fn on_floor() -> Place {
    let place = Place::new(1);
    let text = r#"(
    render: (size: (64, 36), samples: 1),
    environment: Constant(radiance: (1, 1, 1)),
    materials: { "stone": Diffuse(color: (0.8, 0.2, 0.2)), "pane": Glass() },
    meshes: { "block": Box(), "floor": Quad() },
    instances: [
        Single(of: "floor", scale: 100, material: "stone"),
        Single(of: "block", translate: (0, 0.5, 0), material: "stone"),
        Single(of: "block", translate: (9, 0.5, 0), material: "stone"),
    ],
    camera: LookAt(eye: (0, 2, 9), target: (0, 0.5, 0)),
)"#;
    fs::write(place.path("scene.ron"), text).unwrap();
    place
}

/// The warnings of `check`, with a `--set` for each of `sets`.
fn warnings(place: &Place, sets: &[&str]) -> Vec<String> {
    let mut args = vec!["check", "scene.ron", "--json"];
    sets.iter().for_each(|set| args.extend(["--set", set]));
    let json = place.ok(&args).json();
    let warnings = json["warnings"].as_array().unwrap().iter();
    warnings.map(|warning| warning.as_str().unwrap().to_owned()).collect()
}

/// Asserts that there is one warning, which contains `text`.
#[track_caller]
fn assert_warned(place: &Place, sets: &[&str], text: &str) {
    let warnings = warnings(place, sets);
    assert!(warnings.len() == 1 && warnings[0].contains(text), "no `{text}`: {warnings:?}");
}

#[test]
fn a_target_that_passes_the_eye_is_told_where_the_camera_does_not_turn() {
    let place = on_floor();
    let flight = |rest: &str| {
        let keys = "[(eye: (2, 2, 9), target: (2, 2, -1)), (eye: (2, 2, 9), target: (2, 2, 18.9))]";
        format!("camera=Spline(keys: {keys}{rest})")
    };
    let length = ["render.frames=9", "render.fps=8"];
    assert_warned(
        &place,
        &[length[0], length[1], &flight(", parametrisation: uniform")],
        "between frames 5 and 6 the camera turns by 180 degrees",
    );
    assert_eq!(warnings(&place, &[length[0], length[1], &flight("")]), [""; 0]);
}

#[test]
fn darkness_is_told() {
    let place = unnamed();
    assert_warned(&place, &[BLACK], "there is no light");
    let lamp = "materials.red=Emissive(radiance: (1, 1, 1))";
    assert_warned(
        &place,
        &[BLACK, lamp, WHITTED],
        "all light comes from `red`, but whitted ignores light from emissive surfaces",
    );
    assert_eq!(warnings(&place, &[BLACK, lamp]), [""; 0], "paths find the lamp");
    assert_eq!(warnings(&place, &[BLACK, "render.integrator=normal"]), [""; 0], "needs no light");
}

#[test]
fn paths_are_the_default_and_whitted_tells_which_materials_it_does_not_know() {
    let place = unnamed();
    let glass = "materials.red=Glass()";
    let integrator = |sets: &[&str]| {
        let args = [&["info", "scene.ron", "--json", "--device", "cpu"][..], sets].concat();
        place.ok(&args).json()["integrator"].as_str().unwrap().to_owned()
    };
    assert_eq!(integrator(&[]), "path");
    assert_eq!(integrator(&["--set", glass, "--set", WHITTED]), "whitted");
    assert_eq!(warnings(&place, &[glass]), [""; 0]);
    assert_warned(
        &place,
        &[glass, WHITTED],
        "renders `red` as matt, and lets no light through `red`; use --integrator path",
    );
    let render = ["render", "scene.ron", "--set", glass, "--integrator", "whitted"];
    assert!(place.ok(&render).stderr.contains("throng: warning: whitted supports only matt surfaces and mirrors"));
}

#[test]
fn fog_is_told_where_it_shows_nothing() {
    let place = unnamed();
    let (low, endless, clear) = ("air=Fog(density: 0.1, height: 2)", "air=Fog(density: 0.1)", "air=Fog(density: 0)");
    assert_eq!(warnings(&place, &[low]), [""; 0]);
    assert_eq!(warnings(&place, &[clear, WHITTED]), [""; 0]);
    assert_warned(&place, &[low, WHITTED], "whitted shows no fog; use --integrator path");
    assert_warned(
        &place,
        &[endless],
        "uniform fog without an end blocks all light of the environment and of suns; give it a `height` or a `top`",
    );
}

#[test]
fn lamps_that_whitted_does_not_light_by_are_told_beside_other_lights() {
    let place = unnamed();
    let (dusk, day) = ("environment=SunSky(elevation: -8)", "environment=Constant(radiance: (1, 1, 1))");
    let [lamp, faint, glow] =
        ["(10, 8, 5)", "(1, 1, 1)", "(2, 1, 1)"].map(|it| format!("materials.red=Emissive(radiance: {it})"));
    for (sky, emissive) in [(dusk, &lamp), (dusk, &faint), (day, &lamp)] {
        assert_eq!(warnings(&place, &[sky, emissive]), [""; 0], "{sky} {emissive}");
        assert_warned(&place, &[sky, emissive, WHITTED], "whitted ignores light from emissive surfaces, such as `red`");
    }
    assert_eq!(warnings(&place, &[day, &glow, WHITTED]), [""; 0], "no lamp beside so much light");
    // Both integrators sample lights that have an extent.
    let ball = "lights=[Point(position: (0, 9, 0), intensity: (90, 90, 90), radius: 0.1)]";
    assert_eq!(warnings(&place, &[ball, WHITTED]), [""; 0]);
    let render = ["render", "scene.ron", "--set", dusk, "--set", &lamp, "--integrator", "whitted"];
    assert!(place.ok(&render).stderr.contains("throng: warning: whitted ignores light from emissive surfaces"));
}

#[test]
fn a_camera_that_sees_nothing_is_told() {
    let place = Place::new(1);
    let away = "camera=LookAt(eye: (0, 90, 0), target: (0, 99, 1))";
    assert_warned(&place, &[away], "nothing is in view in frame 1, where the camera is at [0, 90, 0]");
    assert_warned(&place, &[away, "render.frames=24"], "nothing is in view in the frames 1, 13, 24");
}

#[test]
fn a_camera_inside_of_something_is_told() {
    let place = unnamed();
    let inside = "camera=LookAt(eye: (0, 0.1, 0), target: (0, 0, 9))";
    assert_warned(&place, &[inside], "in frame 1 the camera is inside of `ball`");
    let glass = "materials.red=Glass()";
    assert_eq!(warnings(&place, &[inside, glass]), [""; 0], "glass can be looked through");
    let place = on_floor();
    let inside = "camera=LookAt(eye: (0.1, 0.6, 0), target: (0, 0.5, 9))";
    assert_warned(&place, &[inside], "in frame 1 the camera is inside of `block`");
}

#[test]
fn a_camera_below_the_ground_is_told() {
    let place = on_floor();
    assert_eq!(warnings(&place, &[]), [""; 0]);
    assert_warned(&place, &["camera=LookAt(eye: (0, -1, 9), target: (0, 0.5, 0))"], "below the ground `floor`");
}

/// Hills from y = 0 to 20 with trees on them, above a sea.
fn on_hills() -> Place {
    let place = Place::new(1);
    let text = r#"(
    render: (size: (64, 36), samples: 1, frames: 9),
    environment: Constant(radiance: (1, 1, 1)),
    materials: { "grass": Diffuse(color: (0.4, 0.5, 0.2)), "water": Diffuse(color: (0.1, 0.2, 0.3)) },
    meshes: { "land": Terrain(size: (100, 20, 100), cells: 64, noise: (seed: 3, scale: 60)), "tree": Cone(), "sea": Quad() },
    instances: [
        Single(of: "land", material: "grass"),
        Grid(of: "tree", count: (8, 1, 8), spacing: (9, 0, 9), scale: 2, drop: "land", material: "grass"),
        Single(of: "sea", scale: 900, translate: (0, 0.5, 0), material: "water"),
    ],
    camera: LookAt(eye: (10, 30, 40), target: (0, 10, 0)),
)"#;
    fs::write(place.path("scene.ron"), text).unwrap();
    place
}

#[test]
fn a_camera_below_hills_is_told_with_their_height_there() {
    let place = on_hills();
    assert_eq!(warnings(&place, &[]), [""; 0]);
    let no_sea = r#"instances=[Single(of: "land", material: "grass")]"#;
    let alone = "camera=LookAt(eye: (0, 3, 0), target: (0, 4, 9))";
    for sets in [&[alone][..], &[alone, no_sea]] {
        let warnings = warnings(&place, sets);
        let told = warnings.iter().find_map(|warning| {
            let (_, rest) = warning.split_once("in frame 1 the camera is below the ground `land`, which is at y = ")?;
            rest.split_once(" there, and the camera at y = 3.000")?.0.parse::<f32>().ok()
        });
        assert!(told.is_some_and(|height| (5.0..20.0).contains(&height)), "{warnings:?}");
    }
    // The camera is below the ground in only a few frames.
    let through = "camera=Spline(keys: [(eye: (0, 40, 0), target: (0, 0, 9)), (eye: (1, 3, 0), target: (0, 0, 9)), (eye: (2, 40, 0), \
                   target: (0, 0, 9)), (eye: (3, 40, 0), target: (0, 0, 9)), (eye: (4, 40, 0), target: (0, 0, 9))])";
    assert_warned(&place, &[through], "in frame 3 the camera is below the ground `land`");
    // A scene with a floor and a ceiling may be a house.
    let house = r#"instances=[Single(of: "sea", scale: 90, material: "water"), Single(of: "sea", scale: 90, translate: (0, 6, 0), material: "grass"), Single(of: "tree", translate: (0, 7, 0))]"#;
    assert_eq!(warnings(&place, &[alone, house]), [""; 0]);
}

#[test]
fn rooms_may_be_looked_at_from_inside() {
    let place = on_floor();
    // A hall with blocks in it, also one far larger than everything else.
    for scale in ["30", "1000"] {
        let hall = format!(
            r#"instances=[Single(of: "block", scale: {scale}, material: "stone"), Single(of: "block", translate: (3, 0, 0), material: "stone")]"#
        );
        assert_eq!(warnings(&place, &[&hall]), [""; 0], "{scale}");
    }
}

#[test]
fn pictures_of_a_single_colour_are_named() {
    let place = Place::new(1);
    let away = "camera=LookAt(eye: (0, 90, 0), target: (0, 99, 1))";
    let grey = "environment=Constant(radiance: (0.2, 0.2, 0.2))";
    for (args, name, text) in [
        (&["--set", BLACK][..], "black", "the picture is all black"),
        (&["--set", away, "--set", grey, "--exposure", "9"], "white", "the picture is all white"),
        (&["--set", away, "--set", grey], "one_color", "the picture is all one colour"),
    ] {
        let render = [&["render", "scene.ron"][..], args].concat();
        let stderr = place.ok(&render).stderr;
        assert!(stderr.contains(&format!("throng: warning: frame 1: {text}")), "{stderr}");
        let events = place.ok(&[&render[..], &["--progress", "json"]].concat());
        assert!(events.stdout.contains(&format!(r#""blank":"{name}""#)), "{}", events.stdout);
        assert!(!events.stderr.contains("warning"), "{}", events.stderr);
    }
    let quiet = ["render", "scene.ron", "--quiet", "--set", BLACK];
    assert_eq!(place.ok(&quiet).stderr, "");
    let views = ["render", "scene.ron", "--set", away, "--integrator", "ao"];
    assert!(!place.ok(&views).stderr.contains("the picture is"), "a view may be of one colour");
}

#[test]
fn programs_are_told_before_the_first_frame() {
    let place = Place::new(1);
    let run = place.ok(&["render", "scene.ron", "--progress", "json", "--set", BLACK]);
    let started: serde_json::Value = serde_json::from_str(run.stdout.lines().next().unwrap()).unwrap();
    assert!(started["warnings"][0].as_str().unwrap().starts_with("there is no light"), "{started}");
}

#[test]
fn good_scenes_have_no_warnings() {
    let scenes = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes");
    let place = Place::new(1);
    let entries = fs::read_dir(scenes).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.filter(|path| path.extension().is_some_and(|extension| extension == "ron"));
    let mut count = 0;
    for file in files {
        let json = place.ok(&["check", file.to_str().unwrap(), "--json"]).json();
        assert_eq!(json["warnings"], serde_json::json!([]), "{}", file.display());
        count += 1;
    }
    assert!(count > 5, "{count} scenes");
}

#[test]
fn few_warnings_are_shown_and_many_are_counted() {
    let place = Place::new(1);
    let model = |materials: usize| {
        let faces = (0..materials).map(|i| format!("usemtl lost{i}\nf 1 2 3\n"));
        let text = format!("mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\n{}", faces.collect::<String>());
        fs::write(place.path("m.mtl"), "newmtl kept\nKd 1 1 1\n").unwrap();
        fs::write(place.path("model.obj"), text).unwrap();
    };
    let shown = |more: &[&str]| {
        let render = ["render", "model.obj", "-f", "1", "--size", "64x36", "--samples", "1"];
        let stderr = place.ok(&[&render[..], more].concat()).stderr;
        (stderr.matches("throng: warning: ").count(), stderr.contains("throng: 2 more warnings; -v shows them all"))
    };
    model(5);
    assert_eq!(shown(&[]), (5, false));
    model(7);
    assert_eq!(shown(&[]), (5, true));
    assert_eq!(shown(&["-v"]), (7, false));
    assert_eq!(shown(&["-q"]), (0, false));
}
