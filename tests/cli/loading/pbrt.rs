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

#[test]
fn faults_are_one_line_with_their_place() {
    let place = place();
    fs::write(place.path("two.pbrt"), "ObjectInstance \"ball\"\nTranslate 1 x 0").unwrap();
    place.fails(&["check", "main.pbrt"], 1, "two.pbrt:2:1: `Translate` needs 3 numbers");
    place.fails(&["check", "main.pbrt", "--strict"], 1, "two.pbrt:2:1");
}
