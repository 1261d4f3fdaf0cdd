//! Transparent frames: file formats, backgrounds and grounds of models.

use crate::common::Place;
use image::{AnimationDecoder, DynamicImage, Rgba, RgbaImage};
use std::{fs, io::BufReader, path::Path};

const MIDDLE: (u32, u32) = (32, 18);
const CORNER: (u32, u32) = (0, 0);

fn rgba(place: &Place, name: &str) -> RgbaImage {
    let picture = image::open(place.path(name)).unwrap();
    assert!(picture.color().has_alpha(), "{name}");
    picture.into_rgba8()
}

fn pixel(picture: &RgbaImage, (x, y): (u32, u32)) -> Rgba<u8> {
    *picture.get_pixel(x, y)
}

#[test]
fn files_have_the_alpha_of_the_scene_and_its_colours_as_they_are() {
    let place = Place::new(1);
    place.ok(&["render", "scene.ron", "-o", "opaque.png", "--dither", "0"]);
    let opaque = image::open(place.path("opaque.png")).unwrap();
    assert!(!opaque.color().has_alpha());
    let opaque = opaque.into_rgba8();
    for name in ["a.png", "a.webp", "deep.png"] {
        let depth = if name == "deep.png" { "16" } else { "8" };
        place.ok(&["render", "scene.ron", "--transparent", "-o", name, "--dither", "0", "--color-depth", depth]);
        let picture = rgba(&place, name);
        assert_eq!(pixel(&picture, CORNER), Rgba([0; 4]), "{name}");
        assert_eq!(pixel(&picture, MIDDLE), pixel(&opaque, MIDDLE), "{name}");
    }
    place.ok(&["render", "scene.ron", "--transparent", "-o", "a.exr", "--samples", "16"]);
    let linear = image::open(place.path("a.exr")).unwrap();
    assert!(linear.color().has_alpha());
    let linear = linear.into_rgba32f();
    assert_eq!((linear.get_pixel(0, 0).0, linear.get_pixel(32, 18).0[3]), ([0.0; 4], 1.0));
    assert!(linear.pixels().any(|pixel| (0.1..0.9).contains(&pixel.0[3])));
}

#[test]
fn files_without_alpha_are_wrong_usage() {
    let place = Place::new(2);
    for args in
        [&["-o", "####.jpg"][..], &["-o", "f.mp4"], &["--video", "f.gif"], &["-o", "####.png", "--video", "f.mkv"]]
    {
        let text = "files have no transparency; .png, .webp, .apng, .exr, .npz, .mov and .webm files do";
        place.fails(&[&["render", "scene.ron", "--transparent"], args].concat(), 2, text);
    }
    place.fails(&["render", "scene.ron", "--transparent", "--background", "#fff000"], 2, "cannot be used with");
    place.fails(&["render", "scene.ron", "--background", "gray_"], 2, "a colour like white, #c8b090");
    place.fails(&["render", "scene.ron", "--background", "none.png"], 1, "none.png");
    place.fails(&["render", "scene.ron", "--shadow-catcher"], 2, "the material ShadowCatcher()");
    assert_eq!(place.names("."), ["scene.ron"]);
}

#[test]
fn a_layer_of_alpha_leaves_the_picture_opaque() {
    let place = Place::new(1);
    place.ok(&["render", "scene.ron", "-o", "a.exr", "--layers", "alpha"]);
    let file = fs::read(place.path("a.exr")).unwrap();
    assert!(file.windows(8).any(|name| name == b"alpha.A\0"));
    assert!(!image::open(place.path("a.exr")).unwrap().color().has_alpha());
}

#[test]
fn a_background_is_shown_as_it_is_and_lights_nothing() {
    let place = Place::new(1);
    place.ok(&["render", "scene.ron", "-o", "plain.png", "--dither", "0"]);
    let plain = image::open(place.path("plain.png")).unwrap().into_rgba8();
    let picture = RgbaImage::from_fn(64, 36, |x, y| Rgba([3 * x as u8, 5 * y as u8, 100, 255]));
    picture.save(place.path("behind.png")).unwrap();
    for (background, corner) in [
        ("#c8b090", Rgba([0xc8, 0xb0, 0x90, 255])),
        ("tomato", Rgba([255, 99, 71, 255])),
        ("behind.png", Rgba([0, 0, 100, 255])),
    ] {
        place.ok(&["render", "scene.ron", "--background", background, "-o", "a.png", "--dither", "0"]);
        let found = image::open(place.path("a.png")).unwrap();
        assert!(!found.color().has_alpha());
        let found = found.into_rgba8();
        assert_eq!((pixel(&found, CORNER), pixel(&found, MIDDLE)), (corner, pixel(&plain, MIDDLE)), "{background}");
    }
    place.ok(&["render", "scene.ron", "--background", "#ffffff", "-o", "a.exr"]);
    let linear = image::open(place.path("a.exr")).unwrap().into_rgb32f();
    assert_eq!(linear.get_pixel(0, 0).0, [1.0; 3]);
    place.ok(&["render", "scene.ron", "--background", "#ffffff", "-o", "a.jpg"]);
}

/// The frames of an animation file.
fn frames(path: &Path) -> Vec<RgbaImage> {
    let file = BufReader::new(fs::File::open(path).unwrap());
    let frames = match path.extension().unwrap().to_str().unwrap() {
        "webp" => image::codecs::webp::WebPDecoder::new(file).unwrap().into_frames().collect_frames(),
        _ => image::codecs::png::PngDecoder::new(file).unwrap().apng().unwrap().into_frames().collect_frames(),
    };
    frames.unwrap().into_iter().map(|frame| frame.into_buffer()).collect()
}

#[test]
fn animations_have_the_alpha_of_frames_that_exist_and_of_new_ones() {
    let place = Place::new(3);
    place.ok(&["render", "scene.ron", "--transparent", "-o", "out/", "-f", "2"]);
    for name in ["f.webp", "f.apng"] {
        place.ok(&["render", "scene.ron", "--transparent", "-o", "out/", "--skip-existing", "--video", name]);
        let files = ["out/0001.png", "out/0002.png", "out/0003.png"].map(|name| rgba(&place, name));
        let frames = frames(&place.path(name));
        assert_eq!(frames.len(), 3, "{name}");
        for (frame, file) in frames.iter().zip(&files) {
            assert_eq!((pixel(frame, CORNER)[3], pixel(frame, MIDDLE)), (0, pixel(file, MIDDLE)), "{name}");
        }
    }
    place.ok(&["render", "scene.ron", "--transparent", "--sheet", "s.png"]);
    let DynamicImage::ImageRgb8(sheet) = image::open(place.path("s.png")).unwrap() else {
        panic!("sheets are opaque");
    };
    assert_eq!(sheet.get_pixel(70, 9).0, sheet.get_pixel(0, 0).0);
}

#[test]
fn kept_samples_go_on_to_the_same_transparent_picture() {
    let place = Place::new(1);
    let render = |samples, name| {
        place.ok(&["render", "scene.ron", "--transparent", "--checkpoint", "-o", name, "--samples", samples]);
    };
    render("2", "a.png");
    render("8", "a.png");
    render("8", "b.png");
    assert!(rgba(&place, "a.png") == rgba(&place, "b.png"));
}

#[test]
fn models_that_are_cut_out_have_no_ground_or_one_of_shadows() {
    let place = Place::new(1);
    let cube = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n\
        f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 4 8 7 3\nf 1 5 8 4\nf 2 3 7 6\n";
    fs::write(place.path("cube.obj"), cube).unwrap();
    let render = |flags: &[&str]| {
        // From a direction in which the shadow is visible.
        let view = ["--eye", "2,4,-4", "--size", "64x64", "--samples", "16", "-o", "a.png"];
        place.ok(&[&["render", "cube.obj", "-f", "1", "--transparent"], &view[..], flags].concat());
        rgba(&place, "a.png")
    };
    let covered = |picture: &RgbaImage| picture.pixels().filter(|pixel| pixel[3] > 0).count();
    let (alone, caught) = (render(&[]), render(&["--shadow-catcher"]));
    assert!(covered(&alone) > 200 && covered(&alone) < 2000, "{}", covered(&alone));
    assert!(covered(&caught) > covered(&alone) + 100);
    // Shadows are black and partly transparent.
    let shadows = caught.pixels().zip(alone.pixels()).filter(|(caught, alone)| caught[3] > 60 && alone[3] == 0);
    let shadows: Vec<_> = shadows.map(|(caught, _)| *caught).collect();
    assert!(shadows.len() > 50, "{}", shadows.len());
    assert!(shadows.iter().all(|pixel| pixel.0[..3] == [0; 3]) && shadows.iter().any(|pixel| pixel[3] < 250));
}

#[test]
fn shadows_of_cut_out_models_fade_towards_the_edges() {
    let place = Place::new(1);
    fs::write(place.path("model.obj"), "v 0 0 0\nv 2 0 0\nv 0 2 0\nv 0 0 2\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
        .unwrap();
    let common = ["render", "model.obj", "-o", "a.png", "--size", "64x48", "--samples", "16", "--shadow-catcher"];
    let edges = |flags: &[&str]| {
        place.ok(&[&common[..], flags].concat());
        let picture = rgba(&place, "a.png");
        let (width, height) = picture.dimensions();
        let at_edge = |x: u32, y: u32| x == 0 || y == 0 || x + 1 == width || y + 1 == height;
        let shadow = picture.enumerate_pixels().filter(|(_, _, pixel)| pixel.0[..3] == [0; 3]);
        shadow.fold(
            [0, 0],
            |[edge, inside], (x, y, pixel)| {
                if at_edge(x, y) { [edge.max(pixel[3]), inside] } else { [edge, inside.max(pixel[3])] }
            },
        )
    };
    let [edge, inside] = edges(&["--transparent"]);
    assert!(edge < 3 && inside > 40, "{edge} {inside}");
    // A region shows the same shadow as the whole picture does there.
    let [edge, _] = edges(&["--transparent", "--region", "16,24,32,20"]);
    assert!(edge > 10, "{edge}");
}

#[test]
fn a_holdout_is_a_hole_in_what_is_behind_it() {
    let place = Place::new(1);
    let hole = ["--set", "materials.red=Holdout()"];
    place.ok(&[&["render", "scene.ron", "--transparent", "-o", "a.png"], &hole[..]].concat());
    assert!(rgba(&place, "a.png").pixels().all(|pixel| pixel.0 == [0; 4]));
}
