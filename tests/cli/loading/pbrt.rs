//! pbrt scenes as input. What the reader makes of them is tested in `crates/pbrt`, and their conversion in `crates/loader`.

use crate::common::{Place, decode};
use std::fs;

/// A lit object that is placed twice, by a file that is included.
fn place() -> Place {
    let place = Place::new(1);
    let write = |name: &str, text: &str| fs::write(place.path(name), text).unwrap();
    write(
        "main.pbrt",
        "Film \"image\" \"integer xresolution\" 64 \"integer yresolution\" 32 Integrator \"path\" \"integer maxdepth\" 3\n\
         LookAt 0 0 5 0 0 0 0 1 0 Camera \"perspective\" \"float fov\" 40 WorldBegin\n\
         LightSource \"infinite\" \"color L\" [ 0.5 0.5 0.5 ]\n\
         ObjectBegin \"ball\" Material \"matte\" \"color Kd\" [ 1 0 0 ] Shape \"sphere\" \"float radius\" 0.5 ObjectEnd\n\
         Include \"two.pbrt\" Shpe \"sphere\" WorldEnd\n",
    );
    write("two.pbrt", "ObjectInstance \"ball\" Translate 1.5 0 0 ObjectInstance \"ball\"\n");
    place
}

#[test]
fn a_scene_is_described_with_its_instances_and_warnings() {
    let info = place().ok(&["info", "main.pbrt", "--json"]).json();
    assert_eq!((&info["instances"], info["meshes"].as_array().unwrap().len()), (&2.into(), 1));
    let pbrt = &info["pbrt"];
    assert_eq!((&pbrt["copies"], &pbrt["groups"], pbrt["files"].as_array().unwrap().len()), (&3.into(), &2.into(), 2));
    assert!(info["warnings"][0].as_str().unwrap().contains("did you mean `Shape`?"), "{info}");
}

#[test]
fn the_picture_has_the_size_of_the_film_and_the_hand_of_the_file() {
    let place = place();
    place.ok(&["render", "main.pbrt", "--samples", "4", "--denoise", "off", "-o", "a.png"]);
    let picture = decode(&place.path("a.png"));
    assert_eq!(picture.len() % (64 * 32), 0);
    let channels = picture.len() / (64 * 32);
    let red = |x: usize, y: usize| {
        let at = (y * 64 + x) * channels;
        picture[at] / 2 > picture[at + 1]
    };
    // Looking along -Z, +X is on the left in a left-handed space.
    assert!(red(32, 16) && red(20, 16) && !red(44, 16));
}

/// The mean of each channel of the picture of a scene.
fn mean(text: &str) -> [f32; 3] {
    let place = Place::new(1);
    fs::write(place.path("main.pbrt"), text).unwrap();
    place.ok(&["render", "main.pbrt", "--samples", "256", "--denoise", "off", "-o", "a.exr"]);
    let picture = image::open(place.path("a.exr")).unwrap().into_rgb32f();
    let count = picture.pixels().len() as f32;
    picture.pixels().fold([0.0; 3], |sum, pixel| std::array::from_fn(|c| sum[c] + pixel.0[c] / count))
}

#[track_caller]
fn assert_near(mean: [f32; 3], expected: f32) {
    assert!(mean.iter().all(|x| (x / expected - 1.0).abs() < 0.01), "{mean:?}, expected {expected}");
}

#[test]
fn a_closed_room_has_as_much_light_as_the_depth_allows() {
    // Each surface that scatters adds half of the light before it.
    for (depth, expected) in [("", 1.96875), ("\"integer maxdepth\" 1", 1.5), ("\"integer maxdepth\" 3", 1.875)] {
        assert_near(
            mean(&format!(
                "Film \"rgb\" \"integer xresolution\" 16 \"integer yresolution\" 16 Camera \"perspective\" Integrator \"path\" {depth}
                WorldBegin Material \"diffuse\" \"rgb reflectance\" [ 0.5 0.5 0.5 ] AreaLightSource \"diffuse\" \"rgb L\" [ 1 1 1 ]
                ReverseOrientation Shape \"sphere\" \"float radius\" 10"
            )),
            expected,
        );
    }
}

/// A picture of the middle of a floor with a reflectance of 0.5, below whatever is given.
fn floor(below: &str) -> [f32; 3] {
    mean(&format!(
        "Film \"rgb\" \"integer xresolution\" 8 \"integer yresolution\" 8 Integrator \"path\" \"integer maxdepth\" 1
        LookAt 0 0.5 0 0 0 0 0 0 1 Camera \"orthographic\" \"float screenwindow\" [ -0.01 0.01 -0.01 0.01 ]
        WorldBegin Material \"diffuse\" \"rgb reflectance\" [ 0.5 0.5 0.5 ]
        Shape \"trianglemesh\" \"point3 P\" [ -9 0 -9 9 0 -9 9 0 9 -9 0 9 ] \"integer indices\" [ 0 1 2 0 2 3 ] {below}"
    ))
}

#[test]
fn lights_are_as_bright_as_they_say() {
    let square =
        "Shape \"trianglemesh\" \"point3 P\" [ -1 1 -1 1 1 -1 1 1 1 -1 1 1 ] \"integer indices\" [ 0 1 2 0 2 3 ]";
    // The form factor of a square of 2x2 at a distance of 1 is 0.554.
    let form = 4.0 / std::f32::consts::TAU * 2f32.sqrt() * 0.5f32.sqrt().atan();
    let of_square = |more: &str, expected: f32| {
        assert_near(floor(&format!("AreaLightSource \"diffuse\" \"rgb L\" [ 3 3 3 ] {more} {square}")), expected);
    };
    of_square("", 0.5 * 3.0 * form);
    of_square("\"float scale\" 2", 0.5 * 6.0 * form);
    of_square("\"bool twosided\" true ReverseOrientation", 0.5 * 3.0 * form);
    // A power of 12 is spread over an area of 4, and multiplies the colour.
    of_square("\"float power\" 12", 0.5 * 3.0 * (12.0 / (4.0 * std::f32::consts::PI)) * form);
    assert_eq!(
        floor(&format!("AreaLightSource \"diffuse\" \"rgb L\" [ 3 3 3 ] ReverseOrientation {square}")),
        [0.0; 3]
    );
    let over_pi = |x: f32| 0.5 * x / std::f32::consts::PI;
    assert_near(floor("LightSource \"point\" \"point3 from\" [ 0 2 0 ] \"rgb I\" [ 8 8 8 ]"), over_pi(2.0));
    assert_near(floor("LightSource \"distant\" \"point3 from\" [ 0 1 0 ] \"point3 to\" [ 0 0 0 ]"), over_pi(1.0));
    assert_near(floor("LightSource \"infinite\" \"rgb L\" [ 2 2 2 ]"), 1.0);
    assert_near(floor("LightSource \"infinite\" \"float illuminance\" 2"), over_pi(2.0));
}

#[test]
fn patterns_go_on_beyond_the_unit_square() {
    let place = Place::new(1);
    fs::write(
        place.path("main.pbrt"),
        "Film \"rgb\" \"integer xresolution\" 64 \"integer yresolution\" 64 Scale -1 1 1 LookAt 0 0 4 0 0 0 0 1 0
        Camera \"orthographic\" WorldBegin LightSource \"infinite\"
        Texture \"c\" \"spectrum\" \"checkerboard\" \"rgb tex1\" [ 1 0 0 ] \"rgb tex2\" [ 0 0 1 ] \"float udelta\" 1
        Material \"diffuse\" \"texture reflectance\" \"c\"
        Shape \"trianglemesh\" \"point3 P\" [ -1 -1 0 1 -1 0 1 1 0 -1 1 0 ] \"point2 uv\" [ 0 0 4 0 4 4 0 4 ] \"integer indices\" [ 0 1 2 0 2 3 ]",
    )
    .unwrap();
    place.ok(&["render", "main.pbrt", "--samples", "4", "--denoise", "off", "-o", "a.png"]);
    let picture = decode(&place.path("a.png"));
    for (column, row) in (0..4).flat_map(|column| (0..4).map(move |row| (column, row))) {
        // Rows are counted from below.
        let at = ((63 - 16 * row - 8) * 64 + 16 * column + 8) * 3;
        let is_red = picture[at] > picture[at + 2];
        assert_eq!(is_red, (column + row) % 2 == 1, "{column} {row}");
    }
}

#[test]
fn faults_are_one_line_with_their_place() {
    let place = place();
    fs::write(place.path("two.pbrt"), "ObjectInstance \"ball\"\nTranslate 1 x 0").unwrap();
    place.fails(&["check", "main.pbrt"], 1, "two.pbrt:2:1: `Translate` needs 3 numbers");
    place.fails(&["check", "main.pbrt", "--strict"], 1, "two.pbrt:2:1");
}
