//! `throng render`: the files it writes and the messages it prints.

use crate::{
    common::{Place, decode},
    process::Process,
};
use serde_json::Value;

#[test]
fn all_frames_go_to_a_folder_named_after_the_scene() {
    let place = Place::new(3);
    let run = place.ok(&["render", "scene.ron"]);
    assert_eq!(place.names("frames/scene"), ["0001.png", "0002.png", "0003.png"]);
    assert!(run.stderr.contains("3 frames in "), "{}", run.stderr);
    for text in [" frames/s", " Mrays/s", "see frames/scene/####.png"] {
        assert!(run.stderr.contains(text), "{}", run.stderr);
    }
    assert!(!run.stderr.contains("refit"), "{}", run.stderr);
    let verbose = place.ok(&["render", "scene.ron", "-v"]).stderr;
    assert!(verbose.contains("0 refits, 3 tree rebuilds; see "), "{verbose}");
    assert_eq!(run.stdout, "");
}

#[test]
fn patterns_name_the_files() {
    let place = Place::new(2);
    let render = |pattern: &str| place.ok(&["render", "-o", pattern, "scene.ron"]);
    render("a/b/");
    assert_eq!(place.names("a/b"), ["0001.png", "0002.png"]);
    render("a");
    assert_eq!(place.names("a"), ["0001.png", "0002.png", "b"]);
    render("c/x_##.png");
    assert_eq!(place.names("c"), ["x_01.png", "x_02.png"]);
    render("d/{scene}-{frame}");
    assert_eq!(place.names("d"), ["scene-1.png", "scene-2.png"]);
    render("e/{frame:03}/{scene}.PNG");
    assert_eq!(place.names("e/002"), ["scene.PNG"]);
}

#[test]
fn one_frame_needs_no_number() {
    let place = Place::new(3);
    let run = place.ok(&["render", "scene.ron", "--frames", "2", "--output", "still"]);
    assert!(place.path("still.png").exists());
    assert!(run.stderr.contains("see still.png"), "{}", run.stderr);
}

#[test]
fn frames_can_be_listed() {
    let place = Place::new(12);
    place.ok(&["render", "scene.ron", "-f", "1-6:2,12,10-", "-o", "out/#"]);
    let names = ["1.png", "10.png", "11.png", "12.png", "3.png", "5.png"];
    assert_eq!(place.names("out"), names);
}

#[test]
fn a_subset_of_the_frames_has_the_pixels_of_the_full_run() {
    let place = Place::new(4);
    place.ok(&["render", "scene.ron", "-o", "all/"]);
    place.ok(&["render", "scene.ron", "-o", "some/", "--frames", "4,2"]);
    let (all, some) = (place.frames("all"), place.frames("some"));
    assert_eq!(some.len(), 2);
    for (name, pixels) in &some {
        assert_eq!(all[name], *pixels, "{name}");
    }
    assert_ne!(all["0001.png"], all["0002.png"], "the spheres should have turned or the noise changed");
}

#[test]
fn the_number_of_threads_does_not_change_the_pixels() {
    let place = Place::new(3);
    for threads in ["1", "2", "5"] {
        let output = format!("t{threads}/");
        place.ok(&["render", "scene.ron", "-o", &output, "--threads", threads]);
    }
    assert_eq!(place.frames("t1"), place.frames("t2"));
    assert_eq!(place.frames("t1"), place.frames("t5"));
}

#[test]
fn the_look_can_be_set_in_any_order_of_flags() {
    let place = Place::new(1);
    #[rustfmt::skip]
    place.ok(&[
        "render", "--bounces", "2", "--exposure", "-1.5", "--device", "cpu", "--seed=7", "-o", "a.png",
        "--tone-map", "none", "scene.ron", "--integrator", "normal", "--size", "10x7", "--samples", "2",
        "--threads", "1", "--progress", "none", "-v",
    ]);
    let picture = image::open(place.path("a.png")).unwrap();
    assert_eq!((picture.width(), picture.height()), (10, 7));
}

#[test]
fn every_integrator_and_tone_map_is_accepted() {
    let place = Place::new(1);
    for name in ["path", "whitted", "ao", "normal", "depth", "albedo", "instance", "steps"] {
        place.ok(&["render", "scene.ron", "-o", "a.png", "--integrator", name]);
    }
    for name in ["none", "aces"] {
        place.ok(&["render", "scene.ron", "-o", "a.png", "--tone-map", name]);
    }
}

#[test]
fn set_replaces_a_value_of_the_scene() {
    let place = Place::new(5);
    place.ok(&["render", "scene.ron", "-o", "out/", "--set", "render.frames=2"]);
    assert_eq!(place.names("out"), ["0001.png", "0002.png"]);
}

#[test]
fn existing_frames_are_overwritten_or_skipped() {
    let place = Place::new(2);
    place.ok(&["render", "scene.ron", "-o", "out/", "--size", "8x8"]);
    place.ok(&["render", "scene.ron", "-o", "out/", "--size", "9x9", "--skip-existing", "--mismatched", "keep"]);
    assert_eq!(decode(&place.path("out/0001.png")).len(), 8 * 8 * 3);
    place.ok(&["render", "scene.ron", "-o", "out/", "--size", "9x9"]);
    assert_eq!(decode(&place.path("out/0001.png")).len(), 9 * 9 * 3);
}

#[test]
fn a_run_with_nothing_left_to_do_says_so() {
    let place = Place::new(2);
    place.ok(&["render", "scene.ron"]);
    let run = place.ok(&["render", "scene.ron", "--skip-existing"]);
    let text = "nothing rendered: 2 frames existed already in frames/scene/####.png";
    assert!(run.stderr.contains(text), "{}", run.stderr);
}

#[test]
fn quiet_is_silent() {
    let place = Place::new(2);
    for flag in ["-q", "--quiet"] {
        let run = place.ok(&["render", "scene.ron", flag]);
        assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
    }
}

#[test]
fn verbose_tells_the_times_of_each_frame() {
    let place = Place::new(2);
    let run = place.ok(&["render", "scene.ron", "-v"]);
    for text in ["frame 1: pose ", "frame 2: pose ", "trace ", "write ", "busy: pose "] {
        assert!(run.stderr.contains(text), "{}", run.stderr);
    }
    let more = place.ok(&["render", "scene.ron", "-vv", "--device=cpu"]);
    let more = more.stderr;
    for text in ["device: cpu", "settings: ", "rays: ", " primary", " shadow"] {
        assert!(more.contains(text), "{more}");
    }
}

#[test]
fn json_progress_is_one_object_per_line() {
    let place = Place::new(3);
    place.ok(&["render", "scene.ron", "-o", "out/", "-f", "2"]);
    let args = ["render", "scene.ron", "-o", "out/", "--progress", "json", "--skip-existing", "--device=cpu"];
    let run = place.ok(&args);
    assert_eq!(run.stderr, "");
    let events: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = events.iter().map(|e| e["event"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["started", "frame", "frame", "done"]);
    let [started, first, second, done] = &events[..] else { unreachable!() };
    assert_eq!((&started["frames"], &started["skipped"]), (&3.into(), &1.into()));
    assert_eq!((&started["width"], &started["height"]), (&64.into(), &36.into()));
    assert!(started["device"].as_str().unwrap().starts_with("cpu"));
    assert_eq!((&first["frame"], &first["done"]), (&1.into(), &2.into()));
    assert_eq!((&second["frame"], &second["done"]), (&3.into(), &3.into()));
    assert_eq!(second["path"], "out/0003.png");
    for key in ["pose_ms", "trace_ms", "write_ms", "refits", "rebuilds"] {
        assert!(first[key].is_number(), "{key}: {first}");
    }
    assert!(first["rays"]["primary"].is_number());
    assert_eq!((&done["frames"], &done["skipped"]), (&2.into(), &1.into()));
    assert_eq!(done["output"], "out/####.png");
    for key in ["seconds", "frames_per_s", "rays", "mrays_per_s", "refits", "rebuilds"] {
        assert!(done[key].is_number(), "{key}: {done}");
    }
    for key in ["pose", "device", "write", "writers"] {
        assert!(done["busy"][key].is_number(), "{key}: {done}");
    }
}

#[test]
fn no_bar_is_drawn_without_a_terminal() {
    let place = Place::new(2);
    for mode in ["auto", "bar", "none"] {
        let run = place.ok(&["render", "scene.ron", "--device=cpu", "--progress", mode]);
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
        assert!(!run.stderr.contains('\x1b'));
    }
}

#[test]
fn a_reader_of_the_progress_that_goes_away_does_not_stop_the_rendering() {
    let place = Place::new(4);
    let mut command = place.command(&["render", "scene.ron", "-o", "out/", "--progress", "json"]);
    let (_, closed) = std::io::pipe().unwrap();
    let output = Process::start_with_stdout(&mut command, closed).finish();
    assert!(output.status.success());
    assert_eq!(place.frames("out").len(), 4);
}
