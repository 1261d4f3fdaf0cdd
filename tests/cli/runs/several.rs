//! Several models in one run: each gets a picture or a video, even if others fail.

use crate::{
    common::{Place, Run, decode},
    process::{Process, wait_until},
};
use serde_json::Value;
use std::fs;

const SMALL: [&str; 5] = ["--size", "16x16", "--samples", "1", "--no-ground"];

/// A tetrahedron of this height.
fn model(height: f32) -> String {
    format!("v 0 0 0\nv 1 0 0\nv 0 0 1\nv 0 {height} 0\nf 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n")
}

/// A folder `models` with three good models, a broken one, and entries that are not models.
fn place() -> Place {
    let place = Place::new(1);
    fs::create_dir_all(place.path("models/folder.obj")).unwrap();
    for (name, height) in [("a", 1.0), ("b", 2.0), ("d", 3.0)] {
        fs::write(place.path(&format!("models/{name}.obj")), model(height)).unwrap();
    }
    for (name, text) in [("c.glb", "not glTF"), ("notes.txt", "none"), (".hidden.obj", "none")] {
        fs::write(place.path("models").join(name), text).unwrap();
    }
    place
}

fn render(more: &[&'static str]) -> Vec<&'static str> {
    [&["render"][..], more, &SMALL].concat()
}

/// The events printed by `--progress json`.
fn events(run: &Run) -> Vec<Value> {
    run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_folder_gets_a_picture_of_each_model_and_a_list_of_those_that_failed() {
    let place = place();
    let run = place.fails(&render(&["models", "-o", "thumbs/{model}.png"]), 1, "throng: error: models/c.glb: ");
    assert_eq!(place.names("thumbs"), ["a.png", "b.png", "d.png"]);
    assert!(run.stderr.contains("3 of 4 models rendered in "), "{}", run.stderr);
    assert!(run.stderr.ends_with("throng: 1 of 4 models failed: models/c.glb\n"), "{}", run.stderr);
    for name in ["a", "d"] {
        let file = format!("models/{name}.obj");
        place.ok(&[&["render", &file, "-o", "alone.png", "-q"][..], &SMALL].concat());
        assert!(decode(&place.path("alone.png")) == decode(&place.path(&format!("thumbs/{name}.png"))), "{name}");
    }
    let quiet = place.run(&render(&["models", "-o", "thumbs/{model}.png", "-q"]));
    assert_eq!((quiet.code, quiet.stderr.lines().count()), (1, 2), "{}", quiet.stderr);
}

#[test]
fn programs_are_told_of_each_model_and_of_all() {
    let place = place();
    let args = render(&["models/b.obj", "models/c.glb", "scene.ron", "-o", "{model}.png", "--progress", "json"]);
    let args: Vec<&str> = args.into_iter().filter(|arg| *arg != "--no-ground").collect();
    let run = place.run(&args);
    assert_eq!(run.code, 1, "{}", run.stderr);
    let events = events(&run);
    let names: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(names, ["started", "frame", "done", "started", "frame", "done", "models"]);
    assert_eq!((&events[0]["scene"], &events[3]["scene"]), (&"b".into(), &"scene".into()));
    let last = &events[6];
    assert_eq!((&last["models"], &last["rendered"], &last["existed"]), (&3.into(), &2.into(), &0.into()));
    assert_eq!(last["failed"][0]["file"], "models/c.glb");
    assert!(last["failed"][0]["error"].as_str().unwrap().contains("c.glb"));
    assert_eq!(last["resume"], Value::Null);
}

#[test]
fn each_model_gets_its_own_video_and_its_own_folder() {
    let place = place();
    let two = ["models/a.obj", "models/b.obj", "--duration", "0.1"];
    place.ok(&render(&[&two[..], &["-o", "{model}.webp"]].concat()));
    assert!(place.path("a.webp").exists() && place.path("b.webp").exists());
    place.ok(&render(&[&two[..], &["-f", "1-2"]].concat()));
    assert_eq!(place.names("frames"), ["a", "b"]);
    assert_eq!(place.frames("frames/b").len(), 2);
}

#[test]
fn pictures_that_exist_are_kept() {
    let place = place();
    let all = render(&["models/a.obj", "models/b.obj", "-o", "{model}.png", "--skip-existing", "--progress", "json"]);
    place.ok(&render(&["models/b.obj", "-o", "b.png"]));
    let last = events(&place.ok(&all)).pop().unwrap();
    assert_eq!((&last["rendered"], &last["existed"]), (&1.into(), &1.into()));
    let last = events(&place.ok(&all)).pop().unwrap();
    assert_eq!((&last["rendered"], &last["existed"]), (&0.into(), &2.into()));
}

#[test]
fn nothing_is_rendered_where_files_would_collide_or_have_no_name() {
    let place = place();
    fs::write(place.path("a.obj"), model(1.0)).unwrap();
    for (args, text) in [
        (&["models", "a.obj", "-o", "t/{model}.png"][..], "models/a.obj and a.obj would both become t/a.png: rename"),
        (&["models", "-o", "t/thumb.png"], "--output: `t/thumb.png` has no place for the name of the model"),
        (&["models", "-o", "t/thumb.png"], "try `t/{model}_thumb.png`"),
        (&["models", "-o", "t/video.mp4"], "try `t/{model}_video.mp4`"),
        (&["models", "-o", "t/{model}.png", "--video", "t/a.gif"], "--video: `t/a.gif` has no place"),
        (&["models", "-o", "-"], "standard output has one place"),
        (&["models", "--compare", "--device", "cpu,cpu"], "--compare takes a single scene"),
        (&["models", "-o", "t/{model}.jpg", "--transparent"], "no transparency"),
    ] {
        place.fails(&render(args), 2, text);
    }
    // A superfluous word is not taken as a second model.
    place.fails(&render(&["a.obj", "thumb", "-o", "t/thumb.png"]), 1, "thumb: No such file");
    fs::create_dir(place.path("empty")).unwrap();
    place.fails(&render(&["models", "empty", "-o", "t/{model}.png"]), 1, "empty: no scene or model is in this folder");
    assert!(place.names("t").is_empty());
}

#[cfg(unix)]
#[test]
fn an_interrupt_stops_all_and_the_resume_line_goes_on() {
    let place = place();
    let long = ["--size", "256x256", "--samples", "100000", "--noise", "0.00001"];
    let args = [&["render", "models/a.obj", "models/b.obj", "-o", "{model}.png"][..], &long].concat();
    let process = Process::start(&mut place.command(&[&args[..], &["--write-partial", "0.1"]].concat()));
    wait_until("a partial picture", || place.path("a.partial.png").exists());
    process.send(libc::SIGINT);
    let run: Run = process.finish().into();
    assert_eq!(run.code, 75, "{}", run.stderr);
    assert!(run.stderr.contains("0 of 2 models rendered"), "{}", run.stderr);
    assert!(run.stderr.trim_end().ends_with("--skip-existing"), "{}", run.stderr);
    assert!(!place.path("a.png").exists() && !place.path("b.png").exists());
}
