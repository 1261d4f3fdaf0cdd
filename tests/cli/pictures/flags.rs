//! The effect of each flag on the picture.

use crate::{
    common::{Place, Run, decode},
    runs::devices::has_gpu,
};

/// The pixels of frame 1, rendered with `flags`.
fn picture(place: &Place, flags: &[&str]) -> Vec<u8> {
    place.ok(&[&["render", "scene.ron", "-f", "1", "-o", "a.png"], flags].concat());
    decode(&place.path("a.png"))
}

fn brightness(pixels: &[u8]) -> u64 {
    pixels.iter().copied().map(u64::from).sum()
}

#[test]
fn a_range_with_a_step_and_a_single_frame_make_these_files() {
    let place = Place::new(60);
    let size = ["--size", "4x4"];
    place.ok(&[&["render", "scene.ron", "-o", "out/", "--frames", "1-48:2,60"][..], &size].concat());
    let numbers = (1..=48).step_by(2).chain([60]);
    let expected: Vec<String> = numbers.map(|n| format!("{n:04}.png")).collect();
    assert_eq!(place.names("out"), expected);
}

#[test]
fn the_same_seed_gives_the_same_noise_and_another_seed_another() {
    let place = Place::new(1);
    let seed = |seed| picture(&place, &["--seed", seed]);
    assert!(seed("7") == seed("7"));
    assert!(seed("7") != seed("8"));
    assert!(seed("0") == picture(&place, &[]), "0 is the default");
    assert!(seed("4294967295") != seed("0"));
}

#[test]
fn exposure_brightens_and_darkens() {
    let place = Place::new(1);
    let at = |stops| brightness(&picture(&place, &["--exposure", stops]));
    assert!(at("-2") < at("0") && at("0") < at("1"));
    assert_eq!(at("-64"), 0);
}

#[test]
fn without_tone_mapping_bright_light_clips() {
    let place = Place::new(1);
    let white = |curve| {
        let pixels = picture(&place, &["--tone-map", curve, "--exposure", "1"]);
        pixels.chunks(3).filter(|p| *p == [255; 3]).count()
    };
    assert!(white("none") > 100);
    assert!(white("none") > white("aces"));
}

#[test]
fn bounces_fill_mirrors_and_samples_smooth_the_noise() {
    let place = Place::new(1);
    let mirrors = ["--set", "materials.red=Mirror()"];
    let bounces = |n| picture(&place, &[&mirrors[..], &["--bounces", n]].concat());
    assert!(bounces("0") != bounces("1"));
    assert!(bounces("1") != bounces("8"));
    assert!(bounces("8") == picture(&place, &mirrors), "8 is the default");
    assert!(picture(&place, &["--samples", "1"]) != picture(&place, &["--samples", "4"]));
}

#[test]
fn integrators_make_different_pictures() {
    let place = Place::new(1);
    let names = ["path", "whitted", "ao", "normal", "depth", "albedo", "instance", "steps"];
    let pictures = names.map(|name| picture(&place, &["--integrator", name]));
    for (i, a) in pictures.iter().enumerate() {
        assert!(pictures[..i].iter().all(|b| a != b), "{}", names[i]);
    }
}

/// Rendering works in tiles of 8x8 pixels. These sizes have incomplete tiles at both edges.
#[test]
fn pictures_of_any_size_are_whole_for_any_number_of_threads() {
    let place = Place::new(1);
    for (width, height) in [(1, 1), (7, 3), (8, 8), (65, 9), (9, 65), (1, 100), (131, 67)] {
        let size = format!("{width}x{height}");
        let with = |threads| picture(&place, &["--size", &size, "--samples", "2", "--threads", threads]);
        let one = with("1");
        assert_eq!(one.len(), width * height * 3);
        assert!(one == with("3"), "{size}");
        assert!(one.chunks(3).all(|pixel| *pixel != [0; 3]), "{size} has unwritten pixels");
    }
}

#[test]
fn zero_threads_and_the_automatic_device_are_the_default() {
    let place = Place::new(1);
    let plain = picture(&place, &[]);
    assert!(plain == picture(&place, &["--threads", "0", "--device", "auto"]));
    if has_gpu(&place) {
        eprintln!("skipped: the comparison with the CPU, as there is a GPU");
    } else {
        assert!(plain == picture(&place, &["--device=cpu"]));
    }
}

#[test]
fn the_scenes_own_settings_hold_until_a_flag_overrides_them() {
    let place = Place::new(1);
    let own = ["--set", "render.size=(20, 10)"];
    assert_eq!(picture(&place, &own).len(), 20 * 10 * 3);
    assert_eq!(picture(&place, &[&own[..], &["--size", "5x4"]].concat()).len(), 5 * 4 * 3);
}

#[test]
fn an_unknown_cpu_variant_is_refused_and_the_known_ones_named() {
    let place = Place::new(1);
    for subcommand in ["render", "info", "bench"] {
        let mut command = place.command(&[subcommand, "scene.ron", "--device=cpu"]);
        let run = Run::of(command.env("THRONG_CPU", "abacus"));
        assert_eq!(run.code, 1);
        run.assert_one_error("there is no CPU variant `abacus`: this processor and build have compressed, baseline");
    }
}

#[test]
fn later_values_of_set_win_and_add_up() {
    let place = Place::new(1);
    let run = place.ok(&[
        "check",
        "scene.ron",
        "--json",
        "--set",
        "render.frames=5",
        "--set",
        "render.frames=7",
        "--set",
        "instances.0.count=(2, 1, 2)",
    ]);
    let json = run.json();
    assert_eq!((&json["frames"], &json["instances"]), (&7.into(), &4.into()));
}
