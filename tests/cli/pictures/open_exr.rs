//! OpenEXR files: header attributes, and reading back written files.

use crate::common::{Place, decode};
use std::fs;

/// The value of an attribute of a file's header.
fn attribute(file: &[u8], name: &str, kind: &str) -> Vec<u8> {
    let key = format!("{name}\0{kind}\0");
    let at = file.windows(key.len()).position(|bytes| bytes == key.as_bytes());
    let rest = &file[at.unwrap_or_else(|| panic!("no {name}")) + key.len()..];
    let (length, rest) = rest.split_first_chunk::<4>().unwrap();
    rest[..u32::from_le_bytes(*length) as usize].to_vec()
}

fn numbers(bytes: &[u8]) -> Vec<i32> {
    bytes.as_chunks().0.iter().map(|&bytes| i32::from_le_bytes(bytes)).collect()
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
}

#[test]
fn headers_tell_colours_and_the_exact_rate() {
    let place = Place::new(2);
    for (fps, rate) in [("23.976", [24_000, 1001]), ("24000/1001", [24_000, 1001]), ("12.5", [25, 2]), ("30", [30, 1])]
    {
        place.ok(&["render", "scene.ron", "-f", "2", "-o", "a.exr", "--set", &format!("render.fps={fps}")]);
        let file = fs::read(place.path("a.exr")).unwrap();
        assert_eq!(numbers(&attribute(&file, "framesPerSecond", "rational")), rate, "{fps}");
        let seconds = f64::from_le_bytes(attribute(&file, "seconds", "double").try_into().unwrap());
        assert!((seconds - f64::from(rate[1]) / f64::from(rate[0])).abs() < 1e-8, "{fps}: {seconds}");
    }
    let file = fs::read(place.path("a.exr")).unwrap();
    let bt709 = [0.64, 0.33, 0.3, 0.6, 0.15, 0.06, 0.3127, 0.329];
    assert_eq!(floats(&attribute(&file, "chromaticities", "chromaticities")), bt709);
    for wrong in ["24/0", "0", "-24", "\"fast\""] {
        let run = place.run(&["render", "scene.ron", "--set", &format!("render.fps={wrong}")]);
        assert!(run.code != 0, "{wrong}");
        run.assert_one_error("fps");
    }
}

#[test]
fn regions_are_where_they_belong() {
    let place = Place::new(1);
    let layers = ["--layers", "albedo,normal,motion,variance", "--samples", "2"];
    let render = |more: &[&str]| place.ok(&[&["render", "scene.ron", "-f", "1"], &layers[..], more].concat());
    render(&["-o", "whole.exr"]);
    for compression in ["none", "rle", "zips", "zip"] {
        render(&["-o", "a.exr", "--region", "20,10,32,17", "--exr-compression", compression]);
        let file = fs::read(place.path("a.exr")).unwrap();
        assert_eq!(numbers(&attribute(&file, "dataWindow", "box2i")), [20, 10, 51, 26]);
        assert_eq!(numbers(&attribute(&file, "displayWindow", "box2i")), [0, 0, 63, 35]);
        // Another implementation places the region in the frame.
        let placed = image::open(place.path("a.exr")).unwrap().into_rgb32f();
        let whole = image::open(place.path("whole.exr")).unwrap().into_rgb32f();
        assert_eq!(placed.dimensions(), (64, 36));
        for (x, y, pixel) in placed.enumerate_pixels() {
            let is_inside = (20..52).contains(&x) && (10..27).contains(&y);
            assert_eq!(pixel.0, if is_inside { whole.get_pixel(x, y).0 } else { [0.0; 3] }, "{x} {y}");
        }
    }
    place.ok(&["diff", "a.exr", "a.exr"]);
    place.fails(&["diff", "a.exr", "whole.exr"], 1, "32x17");
    place.ok(&["denoise", "a.exr", "-o", "clean.exr"]);
    let clean = fs::read(place.path("clean.exr")).unwrap();
    assert_eq!(numbers(&attribute(&clean, "dataWindow", "box2i")), [20, 10, 51, 26]);
    let again = render(&["-o", "a.exr", "--region", "20,10,32,17", "--skip-existing"]);
    assert!(again.stderr.contains("existed already"), "{}", again.stderr);
    place.ok(&["render", "scene.ron", "-f", "1", "-o", "a.png", "--region", "20,10,32,17"]);
    assert_eq!(decode(&place.path("a.png")).len(), 3 * 32 * 17);
}

#[test]
fn merged_regions_are_whole_pictures() {
    let place = Place::new(1);
    let part = |name: &str, region: &str| place.ok(&["render", "scene.ron", "-f", "1", "-o", name, "--region", region]);
    part("a.film", "0,0,64,20");
    part("b.film", "0,20,64,16");
    place.ok(&["merge", "a.film", "b.film", "-o", "all.exr"]);
    let file = fs::read(place.path("all.exr")).unwrap();
    assert_eq!(numbers(&attribute(&file, "dataWindow", "box2i")), [0, 0, 63, 35]);
    place.ok(&["merge", "b.film", "-o", "c.film"]);
    place.ok(&["merge", "a.film", "c.film", "-o", "again.exr"]);
    assert!(fs::read(place.path("again.exr")).unwrap() == file);
}

#[test]
fn depth_is_far_where_nothing_is() {
    let place = Place::new(1);
    place.ok(&["render", "scene.ron", "-f", "1", "-o", "a.exr", "--layers", "depth", "--exr-compression", "none"]);
    let file = fs::read(place.path("a.exr")).unwrap();
    let far = 1e10f32.to_le_bytes();
    assert!(
        file.windows(4).any(|bytes| bytes == far) && !file.windows(4).any(|bytes| bytes == f32::INFINITY.to_le_bytes())
    );
    let help = place.ok(&["render", "--help"]).stdout;
    assert!(help.contains("1e10"), "{help}");
}

#[test]
fn a_rendered_picture_is_light_and_texture() {
    let place = Place::new(1);
    place.ok(&["render", "scene.ron", "-f", "1", "-o", "sky.exr", "--layers", "all", "--size", "32x16"]);
    let model = "(render: (size: (32, 18), samples: 4, integrator: path, tone_map: none), meshes: {\"q\": Quad()},
        environment: Image(file: \"sky.exr\"), materials: {\"m\": Diffuse(texture: \"sky.exr\")},
        instances: [Single(of: \"q\", material: \"m\")], camera: LookAt(eye: (0, 2, 3), target: (0, 0, 0)))";
    fs::write(place.path("lit.ron"), model).unwrap();
    place.ok(&["check", "lit.ron"]);
    place.ok(&["render", "lit.ron", "-f", "1", "-o", "lit.png"]);
    assert!(decode(&place.path("lit.png")).iter().any(|&value| value > 40));
    fs::write(place.path("sky.exr"), "not a picture").unwrap();
    place.fails(&["render", "lit.ron"], 1, "sky.exr");
}
