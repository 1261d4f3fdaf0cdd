//! Films with parts of a picture, and joining them.

use crate::common::Place;
use std::fs;

const LAYERS: &str = "albedo,normal,depth,position,motion,variance,instance,material,alpha";

/// Renders a part of a picture with 20 samples to the file `name`.
fn part(place: &Place, name: &str, more: &[&str]) {
    let add = |flag: &str, value| if more.contains(&flag) { vec![] } else { vec![flag.to_owned(), value] };
    let usual = [add("--samples", "20".to_owned()), add("-f", "1".to_owned())].concat();
    let usual: Vec<&str> = usual.iter().map(String::as_str).collect();
    place.ok(&[&["render", "scene.ron", "-o", name][..], &usual, more].concat());
}

fn range(place: &Place, name: &str, samples: &str, more: &[&str]) {
    part(place, name, &[&["--sample-range", samples], more].concat());
}

fn merge(place: &Place, films: &[&str], name: &str) {
    place.ok(&[&["merge"][..], films, &["-o", name]].concat());
}

/// Asserts that two files are identical.
#[track_caller]
fn assert_same(place: &Place, a: &str, b: &str) {
    let read = |name: &str| fs::read(place.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(read(a) == read(b), "{a} and {b} differ");
}

#[track_caller]
fn assert_same_pixels(place: &Place, a: &str, b: &str) {
    let read = |name: &str| image::open(place.path(name)).unwrap();
    assert!(read(a) == read(b), "{a} and {b} differ");
}

#[test]
fn parts_are_the_same_picture_as_one_run_in_any_order_and_grouping() {
    let place = Place::new(2);
    for name in ["one.exr", "one.png"] {
        part(&place, name, &["--checkpoint"]);
    }
    for (name, samples) in [("a.film", "1-7"), ("b.film", "8"), ("c.film", "9-20")] {
        range(&place, name, samples, &[]);
    }
    for (films, name) in [
        (&["a.film", "b.film", "c.film"][..], "abc"),
        (&["c.film", "a.film", "b.film"], "cab"),
        (&["b.film", "c.film"], "bc"),
        (&["b.film", "a.film"], "ba"),
        (&["c.film", "a.film"], "ca"),
        (&["a.film", "bc.film"], "a_bc"),
        (&["c.film", "ba.film"], "c_ba"),
        (&["ca.film", "b.film"], "ca_b"),
    ] {
        merge(&place, films, &format!("{name}.film"));
        if films.len() == 2 && !name.contains('_') {
            continue;
        }
        assert_same(&place, &format!("{name}.film"), "abc.film");
        merge(&place, films, &format!("{name}.exr"));
        assert_same(&place, &format!("{name}.exr"), "one.exr");
        merge(&place, films, &format!("{name}.png"));
        assert_same_pixels(&place, &format!("{name}.png"), "one.png");
    }
    // A checkpoint is a film too.
    merge(&place, &["one.png.film"], "from_checkpoint.exr");
    assert_same(&place, "from_checkpoint.exr", "one.exr");
    place.assert_no_parts(".");
}

#[test]
fn layers_and_filters_with_negative_lobes_are_joined_to_the_bit() {
    let place = Place::new(2);
    for (folder, more) in [
        ("opaque", &["--layers", LAYERS][..]),
        ("clear", &["--layers", LAYERS, "--transparent", "--filter", "mitchell"]),
        ("edges", &["--wireframe", "--filter", "box"]),
        ("whitted", &["--integrator", "whitted", "--layers", "normal", "--shutter", "0.5"]),
    ] {
        let name = |name: &str| format!("{folder}/{name}");
        part(&place, &name("one.exr"), &[more, &["--checkpoint", "--color-depth", "32"]].concat());
        range(&place, &name("b.film"), "6-20", more);
        range(&place, &name("a.film"), "1-5", more);
        let films = [name("b.film"), name("a.film")];
        let films = films.each_ref().map(String::as_str);
        place.ok(&["merge", films[0], films[1], "-o", &name("all.exr"), "--color-depth", "32"]);
        assert_same(&place, &name("all.exr"), &name("one.exr"));
    }
}

#[test]
fn gaps_and_overlaps_are_told() {
    let place = Place::new(1);
    range(&place, "a.film", "1-8", &[]);
    range(&place, "b.film", "8-12", &[]);
    range(&place, "c.film", "13-20", &[]);
    place.fails(&["merge", "a.film", "c.film", "-o", "x.png"], 1, "no film has samples 9-12");
    place.fails(&["merge", "a.film", "b.film", "c.film", "-o", "x.exr"], 1, "a.film and b.film both have samples 8");
    place.fails(&["merge", "c.film", "c.film", "-o", "x.film"], 1, "c.film and c.film both have samples 13-20");
    part(&place, "left.film", &["--region", "0,0,30,36", "--sample-range", "1-8"]);
    part(&place, "right.film", &["--region", "30,0,34,36"]);
    let error = "no film has samples 9-20 of the region 0,0,30,36";
    place.fails(&["merge", "right.film", "left.film", "-o", "x.png"], 1, error);
    place.fails(&["merge", "right.film", "left.film", "-o", "x.film"], 1, error);
    place.fails(&["merge", "left.film", "a.film", "-o", "x.png"], 1, "both have samples 1-8 of the region 0,0,30,36");
    assert!(!place.path("x.png").exists() && !place.path("x.exr").exists() && !place.path("x.film").exists());
}

#[test]
fn films_of_other_pictures_are_refused_with_what_differs() {
    let place = Place::new(2);
    range(&place, "a.film", "1-10", &[]);
    let other = |more: &[&str], why: &str| {
        let _ = fs::remove_file(place.path("b.film"));
        range(&place, "b.film", "11-20", more);
        place.fails(&["merge", "a.film", "b.film", "-o", "x.png"], 1, why);
    };
    other(&["--seed", "7"], "its seed is 7 and not 0");
    other(&["--size", "32x18"], "its height is 18 and not 36");
    other(&["--samples", "30"], "its samples is 30 and not 20");
    other(&["-f", "2"], "its frame is 2 and not 1");
    other(&["--exposure", "1"], "its exposure is 1.0 and not 0.0");
    other(&["--set", "materials.red.color=(0, 1, 0)"], "it is of another scene");
    other(&["--layers", "depth"], "its aovs is [\"depth\"] and not []");
}

#[test]
fn damaged_films_and_other_files_are_refused() {
    let place = Place::new(1);
    range(&place, "a.film", "1-10", &[]);
    range(&place, "b.film", "11-20", &[]);
    let whole = fs::read(place.path("b.film")).unwrap();
    for at in [3, 200, whole.len() / 2, whole.len() - 1] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        fs::write(place.path("b.film"), bytes).unwrap();
        place.fails(&["merge", "a.film", "b.film", "-o", "x.exr"], 1, "b.film is damaged");
        fs::write(place.path("b.film"), &whole[..at]).unwrap();
        place.fails(&["merge", "a.film", "b.film", "-o", "x.exr"], 1, "b.film is damaged");
    }
    let run = place.fails(&["merge", "a.film", "scene.ron", "-o", "x.exr"], 1, "scene.ron is not a film");
    assert!(!run.stderr.contains("delete"), "{}", run.stderr);
    fs::write(place.path("empty.film"), "").unwrap();
    place.fails(
        &["merge", "empty.film", "-o", "x.exr"],
        1,
        "empty.film is damaged: delete it and render that part again",
    );
    place.fails(&["merge", "a.film", "none.film", "-o", "x.exr"], 1, "cannot read the film none.film");
    place.fails(&["merge", "a.film", "-o", "x.jpg"], 2, "films are joined into .png, .exr or .film files");
    place.fails(&["merge", "a.film", "-o", "x.png", "--color-depth", "32"], 2, ".png has 8 or 16");
    assert!(!place.path("x.exr").exists());
    place.assert_no_parts(".");
}

#[cfg(unix)]
#[test]
fn no_film_is_replaced_by_what_it_is_joined_to() {
    let place = Place::new(1);
    range(&place, "a.film", "1-10", &[]);
    range(&place, "b.film", "11-20", &[]);
    fs::create_dir(place.path("folder")).unwrap();
    fs::copy(place.path("a.film"), place.path("a.exr")).unwrap();
    fs::hard_link(place.path("a.film"), place.path("folder/hard.film")).unwrap();
    std::os::unix::fs::symlink("a.film", place.path("link.film")).unwrap();
    std::os::unix::fs::symlink("folder", place.path("same")).unwrap();
    let before = fs::read(place.path("a.film")).unwrap();
    for (first, output) in [
        ("a.film", "a.film"),
        ("a.film", "./a.film"),
        ("a.film", "folder/../a.film"),
        ("a.film", "folder/hard.film"),
        ("a.film", "same/hard.film"),
        ("a.film", "link.film"),
        ("link.film", "a.film"),
        ("a.exr", "a.exr"),
        ("a.film", "b.film"),
    ] {
        let error = format!("cannot write {output}: it is also what was read as");
        place.fails(&["merge", first, "b.film", "-o", output], 1, &error);
        for name in ["a.film", "a.exr", "folder/hard.film"] {
            assert!(fs::read(place.path(name)).unwrap() == before, "{name}");
        }
    }
    // A part that is continued does not count as an input of itself.
    range(&place, "a.film", "1-10", &[]);
    merge(&place, &["a.film", "b.film"], "new.film");
}

#[test]
fn regions_make_up_the_picture_without_seams() {
    let place = Place::new(1);
    let more = ["--layers", "depth,instance", "--filter", "blackman-harris"];
    part(&place, "one.exr", &[&more[..], &["--checkpoint"]].concat());
    part(&place, "a.film", &[&more[..], &["--region", "0,0,37,11"]].concat());
    part(&place, "b.film", &[&more[..], &["--region", "37,0,27,11"]].concat());
    part(&place, "c.film", &[&more[..], &["--region", "0,11,64,25", "--sample-range", "1-4"]].concat());
    part(&place, "d.film", &[&more[..], &["--region", "0,11,64,20", "--sample-range", "5-20"]].concat());
    part(&place, "e.film", &[&more[..], &["--region", "0,31,64,5", "--sample-range", "5-20"]].concat());
    merge(&place, &["e.film", "a.film", "d.film", "b.film", "c.film"], "all.exr");
    assert_same(&place, "all.exr", "one.exr");
    merge(&place, &["b.film", "a.film"], "top.film");
    merge(&place, &["e.film", "c.film", "d.film"], "bottom.film");
    merge(&place, &["bottom.film", "top.film"], "grouped.exr");
    assert_same(&place, "grouped.exr", "one.exr");
}

#[test]
fn a_region_of_a_picture_has_the_pixels_of_the_whole() {
    let place = Place::new(1);
    for name in ["one.png", "part.png"] {
        let region = if name == "part.png" { &["--region", "5,9,40,20"][..] } else { &[] };
        part(&place, name, region);
    }
    let whole = image::open(place.path("one.png")).unwrap();
    assert!(whole.crop_imm(5, 9, 40, 20) == image::open(place.path("part.png")).unwrap());
    let args = ["render", "scene.ron", "-o", "x.png", "--region"];
    place.fails(&[&args[..], &["60,0,5,5"]].concat(), 2, "reaches beyond the picture, which has 64x36");
    place.fails(&[&args[..], &["1,2,3"]].concat(), 2, "width and height like");
}

#[test]
fn devices_share_a_still() {
    let place = Place::new(1);
    for (name, more) in [
        ("plain.exr", &["--layers", "normal,variance,material"][..]),
        ("plain.png", &[]),
        ("calm.png", &["--noise", "0.05", "--samples", "64"]),
        ("kept.exr", &["--checkpoint", "--layers", "depth"]),
        ("part.film", &["--sample-range", "3-9", "--layers", "instance"]),
    ] {
        part(&place, &format!("one/{name}"), &[more, &["--device", "cpu"]].concat());
        part(&place, &format!("two/{name}"), &[more, &["--device", "cpu,cpu"]].concat());
        assert_same(&place, &format!("one/{name}"), &format!("two/{name}"));
    }
}

#[test]
fn what_cannot_be_a_part_is_wrong_usage() {
    let place = Place::new(2);
    let wrong = |more: &[&str], text: &str| {
        place.fails(&[&["render", "scene.ron", "--samples", "8"], more].concat(), 2, text);
    };
    wrong(&["-f", "1", "-o", "a.png", "--sample-range", "1-4"], "choose an --output like a.film");
    wrong(&["-f", "1", "-o", "a.film", "--sample-range", "5-9"], "the picture has 8 samples, and 5-9 exceeds them");
    wrong(&["-f", "1", "-o", "a.film", "--sample-range", "4-3"], "like 1-32");
    wrong(&["-f", "1-2", "-o", "a.film"], "a film holds the samples of one picture");
    wrong(&["-f", "1", "-o", "a.film", "--noise", "0.1"], "--noise requires the whole picture");
    wrong(&["-f", "1", "-o", "a.film", "--background", "#000000"], "require finished pictures");
    assert_eq!(place.names("."), ["scene.ron"]);
}

#[cfg(unix)]
#[test]
fn an_interrupted_part_is_gone_on_with() {
    use crate::{common::Run, process::Process};
    let place = Place::new(1);
    let args =
        ["render", "scene.ron", "-f", "1", "--samples", "1000000", "--sample-range", "3-1000000", "-o", "a.film"];
    // A run that is stopped before its first sample writes nothing, so it is repeated.
    while !place.path("a.film").exists() {
        let process = Process::start(&mut place.command(&args));
        std::thread::sleep(std::time::Duration::from_millis(200));
        process.send(libc::SIGINT);
        let run = Run::from(process.finish());
        assert_eq!(run.code, 75, "{}", run.stderr);
        assert!(!run.stderr.contains("--skip-existing"), "{}", run.stderr);
    }
    place.fails(&["merge", "a.film", "-o", "x.png"], 1, "no film has samples 1-2, ");
    let other = [&args[..6], &["--sample-range", "4-1000000", "-o", "a.film"]].concat();
    place.fails(&other, 1, "it has samples 3-");
    // A part that exists already is not rendered again.
    range(&place, "b.film", "2-3", &[]);
    let before = fs::read(place.path("b.film")).unwrap();
    range(&place, "b.film", "2-3", &[]);
    assert!(fs::read(place.path("b.film")).unwrap() == before);
}
