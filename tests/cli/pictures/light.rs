//! Environments of models and scenes, and the flags that select and rotate them.

use crate::common::{Place, decode};
use image::{Rgb, Rgb32FImage, RgbImage};
use std::fs;

/// Looks along -Z, past a small triangle below.
const VIEW: [&str; 12] =
    ["--eye", "0,9,0", "--target", "0,9,-1", "--size", "8x8", "--tone-map", "none", "--samples", "4", "--dither", "0"];

fn place() -> Place {
    let place = Place::new(1);
    fs::write(place.path("model.obj"), "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\n").unwrap();
    // Red from -X over -Z to +X; blue in the other half.
    let halves = RgbImage::from_fn(64, 32, |x, _| if x < 32 { Rgb([255, 0, 0]) } else { Rgb([0, 0, 255]) });
    halves.save(place.path("halves.png")).unwrap();
    place
}

/// The colour at the centre of the picture.
fn seen(place: &Place, scene: &str, flags: &[&str]) -> [u8; 3] {
    place.ok(&[&["render", scene, "-f", "1", "-o", "seen.png"], &VIEW[..], flags].concat());
    let pixels = decode(&place.path("seen.png"));
    let middle = 3 * (4 * 8 + 4);
    [pixels[middle], pixels[middle + 1], pixels[middle + 2]]
}

const RED: [u8; 3] = [255, 0, 0];
const BLUE: [u8; 3] = [0, 0, 255];

#[test]
fn a_picture_around_a_model_or_a_scene_is_turned() {
    let place = place();
    for scene in ["model.obj", "scene.ron"] {
        let with = |flags: &[&str]| seen(&place, scene, &[&["--environment", "halves.png"], flags].concat());
        assert_eq!(with(&[]), RED, "{scene}");
        assert_eq!(with(&["--environment-rotation", "180"]), BLUE, "{scene}");
        assert_eq!(with(&["--set", "environment.rotation=180"]), BLUE, "{scene}");
        assert_eq!(with(&["--set", "environment.intensity=0"]), [0; 3], "{scene}");
    }
}

#[test]
fn the_light_of_a_scene_is_replaced_by_a_flag() {
    let place = place();
    for scene in ["model.obj", "scene.ron"] {
        assert_eq!(seen(&place, scene, &["--environment", "red"]), RED, "{scene}");
        assert_eq!(seen(&place, scene, &["--environment", "0,0,1"]), BLUE, "{scene}");
        let [r, _, b] = seen(&place, scene, &["--environment", "sky"]);
        assert!(b > r, "{scene}");
    }
    place.fails(&["check", "scene.ron", "--environment", "none.hdr"], 1, "none.hdr: the picture of --environment");
    // Error positions still refer to the scene file.
    let wrong = fs::read_to_string(place.path("scene.ron")).unwrap().replace("samples: 1", "samples: 0");
    fs::write(place.path("wrong.ron"), wrong).unwrap();
    place.fails(&["check", "wrong.ron", "--environment", "red"], 1, "wrong.ron:2:39: samples is 0");
}

#[test]
fn panoramas_may_be_open_exr() {
    let place = place();
    let halves = Rgb32FImage::from_fn(64, 32, |x, _| Rgb(if x < 32 { [0.0, 0.0, 1.0] } else { [1.0, 0.0, 0.0] }));
    image::DynamicImage::from(halves).save(place.path("halves.exr")).unwrap();
    for scene in ["model.obj", "scene.ron"] {
        let flags = ["--environment", "halves.exr"];
        assert_eq!(seen(&place, scene, &flags), BLUE, "{scene}");
        assert_eq!(seen(&place, scene, &[&flags[..], &["--environment-rotation", "-180"]].concat()), RED, "{scene}");
    }
}

/// Number of pixels without the environment's red.
fn covered(place: &Place, scene: &str, flags: &[&str]) -> usize {
    let common =
        ["-f", "1", "-o", "a.png", "--size", "64x36", "--environment", "red", "--tone-map", "none", "--dither", "0"];
    place.ok(&[&["render", scene], &common[..], flags].concat());
    decode(&place.path("a.png")).as_chunks::<3>().0.iter().filter(|pixel| **pixel != RED).count()
}

#[test]
fn zoom_enlarges_what_scenes_show_and_models_that_a_given_eye_sees() {
    let place = place();
    let eye = ["--eye", "1,9,1", "--no-ground"];
    for (scene, flags) in [("scene.ron", &[][..]), ("scene.ron", &["--orthographic"]), ("model.obj", &eye)] {
        let at = |zoom| covered(&place, scene, &[flags, &["--zoom", zoom]].concat());
        assert_eq!(at("1"), covered(&place, scene, flags), "{scene}");
        assert!(
            at("2") > 2 * at("1") && at("0.5") < at("1"),
            "{scene} {flags:?}: {} {} {}",
            at("0.5"),
            at("1"),
            at("2")
        );
    }
    let around = ["render", "scene.ron", "--projection", "equirectangular", "--zoom", "2"];
    place.fails(&around, 2, "--zoom: an equirectangular camera");
}
