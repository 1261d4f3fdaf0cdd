//! Trees that are kept between runs.

use crate::common::{Place, Run};
use std::fs;

const SCENE: &str = r#"(
    render: (size: (64, 36), samples: 2, integrator: whitted, frames: 1),
    environment: Gradient(zenith: (0.3, 0.5, 1.0), horizon: (1.0, 1.0, 1.0), nadir: (0.2, 0.2, 0.2)),
    materials: { "red": Diffuse(color: (0.8, 0.2, 0.2)) },
    meshes: { "hills": Obj(file: "hills.obj"), "floor": Quad() },
    instances: [
        Single(of: "hills", material: "red"),
        Single(of: "floor", scale: 100, material: "red"),
    ],
    camera: LookAt(eye: (10, 14, 40), target: (10, 0, 10), fov: 40),
)"#;

/// A folder with a scene of a hilly mesh.
fn place() -> Place {
    let place = Place::new(1);
    let mut hills = String::new();
    for i in 0..21 * 21 {
        let height = (i * i % 17) as f32 * 0.2;
        hills += &format!("v {} {height} {}\n", i % 21, i / 21);
    }
    for i in (1..21 * 20).filter(|i| i % 21 != 0) {
        hills += &format!("f {} {} {} {}\n", i, i + 21, i + 22, i + 1);
    }
    fs::write(place.path("hills.obj"), hills).unwrap();
    fs::write(place.path("scene.ron"), SCENE).unwrap();
    place
}

fn render(place: &Place, output: &str) -> Run {
    place.ok(&["render", "scene.ron", "-v", "--cache", "trees", "-o", output])
}

/// The file of the only tree large enough to be cached.
fn only_tree(place: &Place) -> std::path::PathBuf {
    let names = place.names("trees");
    assert_eq!(names.len(), 1, "{names:?}");
    place.path("trees").join(&names[0])
}

#[test]
fn a_second_run_takes_its_trees_from_the_cache_and_shows_the_same() {
    let place = place();
    let first = render(&place, "1/");
    assert!(first.stderr.contains("trees: 0 of 1 from the cache"), "{}", first.stderr);
    let second = render(&place, "2/");
    assert!(second.stderr.contains("trees: 1 of 1 from the cache"), "{}", second.stderr);
    place.ok(&["render", "scene.ron", "-o", "3/"]);
    assert_eq!(place.frames("1"), place.frames("2"));
    assert_eq!(place.frames("1"), place.frames("3"));
}

#[test]
fn trees_of_every_quality_show_the_same_and_are_kept_apart() {
    let place = place();
    render(&place, "high/");
    for (kept, quality) in ["balanced", "fast"].into_iter().enumerate() {
        let quick = |output: &str| {
            let run = ["render", "scene.ron", "-v", "--cache", "trees", "--trees"];
            place.ok(&[&run[..], &[quality, "-o", output]].concat())
        };
        let first = quick(&format!("{quality}/"));
        let text = "trees: 0 of 1 from the cache";
        assert!(first.stderr.contains(text), "{}", first.stderr);
        assert_eq!(place.frames("high"), place.frames(quality));
        assert_eq!(place.names("trees").len(), kept + 2);
        let second = quick("again/");
        let text = "trees: 1 of 1 from the cache";
        assert!(second.stderr.contains(text), "{}", second.stderr);
    }
}

#[test]
fn a_damaged_tree_is_built_again_and_replaced() {
    let place = place();
    render(&place, "1/");
    let whole = fs::read(only_tree(&place)).unwrap();
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 1;
    fs::write(only_tree(&place), damaged).unwrap();
    let run = render(&place, "2/");
    assert!(run.stderr.contains("trees: 0 of 1 from the cache"), "{}", run.stderr);
    assert_eq!(place.frames("1"), place.frames("2"));
    assert!(fs::read(only_tree(&place)).unwrap() == whole);
}

#[test]
fn the_cache_may_be_named_by_the_environment_or_not_at_all() {
    let place = place();
    let info = |value: &str| {
        let mut command = place.command(&["info", "scene.ron", "--json"]);
        Run::of(command.env("THRONG_CACHE", value)).json()
    };
    assert!(info("")["cached_trees"].is_null());
    let counts = |read, built| serde_json::json!({ "read": read, "built": built });
    assert_eq!(info("trees")["cached_trees"], counts(0, 1));
    assert_eq!(info("trees")["cached_trees"], counts(1, 0));
    let text = place.ok(&["info", "scene.ron", "--cache", "trees"]).stdout;
    assert!(text.contains("trees        1 of 1 from the cache"), "{text}");
    only_tree(&place);
}

#[test]
fn a_folder_that_cannot_be_used_is_an_error() {
    let place = place();
    fs::write(place.path("file"), "").unwrap();
    let text = "cannot keep trees in file/trees: a part of the path is a file";
    for command in ["render", "info", "bench"] {
        place.fails(&[command, "scene.ron", "--cache", "file/trees"], 1, text);
    }
    assert_eq!(place.names("frames"), [""; 0]);
}
