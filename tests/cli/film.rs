//! Exposure, denoising and what else is decided on the film.

use crate::{common::Place, process};

#[test]
fn automatic_exposure_is_the_same_whichever_frames_are_rendered() {
    let place = Place::new(6);
    let args = ["render", "scene.ron", "--exposure", "auto", "-o"];
    place.ok(&[&args[..], &["all/"]].concat());
    place.ok(&[&args[..], &["some/", "-f", "4-5"]].concat());
    let (all, some) = (place.frames("all"), place.frames("some"));
    assert_eq!(some.len(), 2);
    assert!(some.iter().all(|(name, pixels)| all[name] == *pixels));
}

#[test]
fn automatic_exposure_takes_stops_and_differs_from_a_fixed_one() {
    let place = Place::new(1);
    let mut pictures = Vec::new();
    for exposure in ["auto", "auto-2", "-5"] {
        place.ok(&["render", "scene.ron", "-o", "out/", "--exposure", exposure]);
        pictures.push(place.frames("out"));
    }
    let brightness = |index: usize| -> u64 {
        let bytes = pictures[index].values().flatten();
        bytes.map(|&byte| u64::from(byte)).sum()
    };
    assert!(brightness(0) > brightness(1) && brightness(1) > 0);
    assert_ne!(pictures[0], pictures[2]);
}

#[test]
fn what_cannot_be_denoised_fails_before_rendering() {
    let place = Place::new(1);
    let mut command = place.command(&["render", "scene.ron", "--denoise", "oidn", "-o", "out/"]);
    let output = process::output(command.env("OIDN_DIR", "nowhere"));
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("Open Image Denoise 2") && text.contains("OIDN_DIR"), "{text}");
    assert!(place.frames("out").is_empty());
    let args = ["render", "scene.ron", "--denoise", "--integrator", "depth"];
    place.fails(&args, 2, "--integrator path or whitted");
}

#[test]
fn devices_are_compared_without_what_follows_them() {
    let place = Place::new(1);
    let args = ["render", "scene.ron", "--compare", "--device", "cpu,cpu", "--exposure", "auto"];
    place.fails(&args, 2, "--compare");
}
