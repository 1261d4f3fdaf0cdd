//! Exposure, denoising and other steps between samples and pixels.

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

/// The greatest value of each channel of an OpenEXR file.
fn brightest(place: &Place, name: &str) -> [f32; 3] {
    let picture = image::open(place.path(name)).unwrap().into_rgb32f();
    picture.pixels().fold([0.0; 3], |most, pixel| std::array::from_fn(|c| pixel.0[c].max(most[c])))
}

#[test]
fn radiance_in_files_and_kept_films_is_linear_whatever_the_exposure() {
    let place = Place::new(1);
    let lamp = "materials.red=Emissive(radiance: (1000, 500, 100))";
    let render = ["render", "scene.ron", "--set", lamp, "--filter", "box", "--samples", "4"];
    for integrator in ["whitted", "path"] {
        // Films of the other integrator cannot be continued.
        let _ = std::fs::remove_file(place.path("kept.exr.film"));
        for exposure in ["0", "6"] {
            let shown = ["--integrator", integrator, "--exposure", exposure];
            for (name, more) in
                [("half.exr", &[][..]), ("full.exr", &["--color-depth", "32"]), ("kept.exr", &["--checkpoint"])]
            {
                place.ok(&[&render[..], &shown, &["-o", name], more].concat());
                assert_eq!(brightest(&place, name), [1000.0, 500.0, 100.0], "{integrator} {exposure} {name}");
            }
        }
    }
    for (film, range) in [("a.film", "1-2"), ("b.film", "3-4")] {
        let part = ["-f", "1", "-o", film, "--sample-range", range, "--exposure", "3"];
        place.ok(&[&render[..], &part].concat());
    }
    place.ok(&["merge", "a.film", "b.film", "-o", "joined.exr"]);
    assert_eq!(brightest(&place, "joined.exr"), [1000.0, 500.0, 100.0]);
}
