//! `throng export`: scenes as USD files, which give the same pictures when they are rendered.

use crate::common::{Place, decode};
#[cfg(feature = "usd")]
use std::path::Path;

/// Side in pixels of the blocks whose means are compared, where pictures have noise: rounded transforms move single samples.
#[cfg(feature = "usd")]
const BLOCK: usize = 8;

/// Scenes that have no feature that USD lacks, with a frame and samples. Others differ by noise: where many small lights or reflections make
/// paths chaotic, rounding changes all samples.
#[cfg(feature = "usd")]
const SCENES: [(&str, &str, &str); 5] = [
    ("cornell", "1", "16"),
    ("weekend", "1", "16"),
    ("mirror_hall", "30", "4"),
    ("studio", "1", "16"),
    ("stampede", "1", "4"),
];

#[cfg(feature = "usd")]
fn scene_path(name: &str) -> String {
    format!("{}/scenes/{name}.ron", env!("CARGO_MANIFEST_DIR"))
}

/// Greatest difference between the means of blocks of two pictures, in 1/255.
#[cfg(feature = "usd")]
fn block_difference(a: &Path, b: &Path, width: usize) -> f64 {
    let (a, b) = (decode(a), decode(b));
    assert_eq!(a.len(), b.len());
    let height = a.len() / 3 / width;
    let mean = |pixels: &[u8], x: usize, y: usize, channel: usize| {
        let rows = y..(y + BLOCK).min(height);
        let values =
            rows.flat_map(|row| (x..(x + BLOCK).min(width)).map(move |column| 3 * (row * width + column) + channel));
        let (sum, count) = values.fold((0.0, 0.0), |(sum, count), index| (sum + f64::from(pixels[index]), count + 1.0));
        sum / count
    };
    let mut greatest = 0.0_f64;
    for (x, y) in (0..height).step_by(BLOCK).flat_map(|y| (0..width).step_by(BLOCK).map(move |x| (x, y))) {
        for channel in 0..3 {
            greatest = greatest.max((mean(&a, x, y, channel) - mean(&b, x, y, channel)).abs());
        }
    }
    greatest
}

#[test]
#[cfg(feature = "usd")]
fn scenes_give_the_same_pictures_after_they_were_written_as_usd() {
    let place = Place::new(1);
    for (name, frame, samples) in SCENES {
        let scene = scene_path(name);
        let file = format!("{name}.usdc");
        place.ok(&["export", &scene, "-o", &file, "-f", frame, "--quiet"]);
        for (input, folder) in [(scene.as_str(), "own"), (&file, "usd")] {
            let output = format!("{folder}/{name}.png");
            let picture = ["--size", "96x54", "--samples", samples, "--denoise", "off"];
            place.ok(&[&["render", input, "-f", frame, "-o", &output, "-q"], &picture[..]].concat());
        }
        let [own, usd] = ["own", "usd"].map(|folder| place.path(&format!("{folder}/{name}.png")));
        let difference = block_difference(&own, &usd, 96);
        assert!(difference <= 1.0, "{name}: {difference}");
    }
}

#[test]
#[cfg(feature = "usd")]
fn a_model_is_written_with_its_stage_and_into_one_package() {
    let place = Place::new(1);
    let model = format!("{}/assets/dragon.obj", env!("CARGO_MANIFEST_DIR"));
    let run = place.ok(&["export", &model, "-o", "dragon.usdz", "-f", "1", "--json"]);
    let report = run.json();
    assert_eq!(report["files"].as_array().map(Vec::len), Some(1), "{report}");
    assert_eq!(report["shapes"], 2, "the model and its ground: {report}");
    for (input, output) in [(model.as_str(), "own.png"), ("dragon.usdz", "usd.png")] {
        place.ok(&["render", input, "-f", "1", "--size", "96x54", "--samples", "16", "-o", output, "-q"]);
    }
    let difference = block_difference(&place.path("own.png"), &place.path("usd.png"), 96);
    assert!(difference <= 1.0, "{difference}");
    place.assert_no_parts(".");
}

#[test]
fn bad_names_and_frames_are_errors_before_anything_is_written() {
    let place = Place::new(3);
    place.fails(&["export", "scene.ron", "-o", "scene.obj"], 1, "scene.obj: the name does not end in .usda");
    place.fails(&["export", "scene.ron"], 2, "--output");
    if cfg!(feature = "usd") {
        place.fails(&["export", "scene.ron", "-o", "a.usda", "-f", "9"], 2, "the scene has frames 1 to 3");
        place.fails(&["export", "scene.ron", "-o", "a.usda", "-f", "1,3"], 2, "write one range like 1-24");
        place.fails(&["export", "nothing.ron", "-o", "a.usda"], 1, "nothing.ron");
        place.fails(&["export", "scene.ron", "-o", "a.usda", "-f", "2-1"], 2, "write 1-2");
    } else {
        place.fails(&["export", "scene.ron", "-o", "a.usda"], 1, "cannot write USD");
    }
    assert!(!place.path("a.usda").exists());
}
