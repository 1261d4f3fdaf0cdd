//! `throng diff`: equal and different pictures.

use crate::common::Place;
use image::{Rgb, Rgb32FImage};

/// Writes a uniform picture, except for the pixels `odd`.
fn picture(place: &Place, name: &str, usual: f32, odd: &[(u32, u32, f32)]) {
    let mut image = Rgb32FImage::from_pixel(16, 9, Rgb([usual; 3]));
    odd.iter().for_each(|&(x, y, value)| image.put_pixel(x, y, Rgb([0.0, value, 0.0])));
    image.save(place.path(name)).unwrap();
}

#[test]
fn pixels_that_are_no_numbers_are_counted_and_never_equal_to_numbers() {
    let place = Place::new(1);
    picture(&place, "black.exr", 0.0, &[]);
    picture(&place, "nan.exr", f32::NAN, &[]);
    picture(&place, "odd.exr", 0.0, &[(3, 2, f32::NAN), (4, 2, f32::INFINITY)]);
    for (a, b) in [("black.exr", "nan.exr"), ("nan.exr", "black.exr")] {
        let run = place.run(&["diff", a, b]);
        assert_eq!(run.code, 1, "{}", run.stderr);
        assert!(run.stdout.contains("100.0000 % of pixels differ"), "{}", run.stdout);
        assert!(run.stdout.ends_with("\nNaN or infinite in nan.exr: 144 pixels\n"), "{}", run.stdout);
    }
    assert_eq!(place.run(&["diff", "-q", "black.exr", "nan.exr"]).code, 1);
    // Two of 144 pixels differ, but the picture is within the limit.
    let run = place.run(&["diff", "black.exr", "odd.exr", "--limit", "0.5", "--json"]);
    let found = run.json();
    assert_eq!((run.code, &found["equal"]), (1, &false.into()));
    assert_eq!((&found["broken"], &found["not_finite"]), (&2.into(), &[0, 2].as_slice().into()));
    assert_eq!((&found["max"], found["differing"].as_f64()), (&1.0.into(), Some(2.0 / 144.0)));
    let same = place.ok(&["diff", "odd.exr", "odd.exr"]).stdout;
    assert!(same.contains("0.0000 % of pixels differ") && same.contains("odd.exr: 2 pixels"), "{same}");
}

#[test]
fn a_sequence_that_lacks_a_frame_is_not_equal() {
    let place = Place::new(1);
    for sequence in ["a", "b"] {
        for frame in 1..=3 {
            picture(&place, &format!("{sequence}{frame}.exr"), 0.5, &[]);
        }
    }
    let compare = ["diff", "--sequence", "a#.exr", "b#.exr"];
    place.ok(&compare);
    std::fs::remove_file(place.path("b2.exr")).unwrap();
    for compare in [["diff", "--sequence", "a#.exr", "b#.exr"], ["diff", "--sequence", "b#.exr", "a#.exr"]] {
        for (more, told) in [(&[][..], true), (&["-q"], false), (&["--limit", "1"], true)] {
            let run = place.run(&[&compare[..], more].concat());
            assert_eq!(run.code, 1, "{more:?} {}", run.stderr);
            assert_eq!(run.stdout.contains("only in a#.exr: 2"), told, "{}", run.stdout);
        }
        assert_eq!(place.run(&[&compare[..], &["--json"]].concat()).json()["equal"], false);
    }
    picture(&place, "b2.exr", 0.5, &[(0, 0, f32::NAN)]);
    let run = place.run(&compare);
    assert_eq!(run.code, 1);
    assert!(run.stdout.ends_with("\nNaN or infinite in b#.exr: 1 pixel\n"), "{}", run.stdout);
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_cannot_be_told_is_an_error() {
    let place = Place::new(1);
    picture(&place, "a.exr", 0.0, &[]);
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = place.command(&["diff", "a.exr", "a.exr", "--json"]);
    let run: crate::common::Run = crate::process::Process::start_with_stdout(&mut command, full).finish().into();
    assert_eq!(run.code, 1);
    run.assert_one_error("cannot write to standard output");
}
