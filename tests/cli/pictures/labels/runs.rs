//! Labels of several runs, and runs without labels.

use super::{json, place, render};
use crate::common::Place;
use std::fs;

#[test]
fn interrupted_and_divided_runs_end_with_the_files_of_one_run() {
    let labels = ["--labels", "coco,transforms,depth,instance"];
    let (whole, parts) = (place(), place());
    render(&whole, &labels);
    render(&parts, &[&labels[..], &["--frames", "3-4"]].concat());
    let images = |place: &Place| json(place, "out/coco.json")["images"].as_array().unwrap().len();
    assert_eq!(images(&parts), 2);
    render(&parts, &[&labels[..], &["--frames", "1-2"]].concat());
    let same =
        |name: &str| assert_eq!(fs::read(whole.path(name)).unwrap(), fs::read(parts.path(name)).unwrap(), "{name}");
    let all = ["out/coco.json", "out/transforms.json", "out/instance.json", "out/0004.coco.json", "out/0002.depth.npy"];
    all.into_iter().for_each(same);
    // A frame without one of its labels is not finished, and files for all frames are made again in any case.
    fs::remove_file(parts.path("out/0002.depth.npy")).unwrap();
    fs::remove_file(parts.path("out/coco.json")).unwrap();
    let run = render(&parts, &[&labels[..], &["--skip-existing", "--progress", "json"]].concat());
    assert!(run.stdout.contains(r#""skipped":3"#), "{}", run.stdout);
    all.into_iter().for_each(same);
    fs::remove_file(parts.path("out/transforms.json")).unwrap();
    render(&parts, &[&labels[..], &["--skip-existing"]].concat());
    all.into_iter().for_each(same);
    parts.assert_no_parts("out");
}

#[test]
fn runs_that_share_a_folder_write_all_annotations() {
    let (whole, shared) = (place(), place());
    let labels = ["--labels", "coco,transforms", "--frames", "1-4"];
    render(&whole, &labels);
    let args = ["render", "scene.ron", "--device", "cpu", "-o", "out/####.png", "--skip-existing"];
    let start = |_| shared.command(&[&args[..], &labels].concat()).spawn().unwrap();
    let runs: Vec<_> = (0..2).map(start).collect();
    runs.into_iter().for_each(|mut run| assert!(run.wait().unwrap().success()));
    for name in ["out/coco.json", "out/transforms.json"] {
        assert_eq!(fs::read(whole.path(name)).unwrap(), fs::read(shared.path(name)).unwrap(), "{name}");
    }
}

#[test]
fn labels_leave_pictures_as_they_are() {
    let place = place();
    for flags in
        [&["--shutter", "0.5"][..], &["--noise", "0.05", "--samples", "8"], &["--denoise", "--integrator", "path"]]
    {
        let render_to = |folder: &str, labels: &[&str]| {
            let output = format!("{folder}/####.png");
            let args = ["render", "scene.ron", "--device", "cpu", "--frames", "1-2", "-o", &output];
            place.ok(&[&args[..], flags, labels].concat());
        };
        render_to("with", &["--labels", "depth,flow,instance,normal"]);
        render_to("without", &[]);
        let (mut with, without) = (place.frames("with"), place.frames("without"));
        with.retain(|name, _| name.len() == "0001.png".len());
        assert_eq!(with, without, "{flags:?}");
        fs::remove_dir_all(place.path("with")).unwrap();
    }
}

#[test]
fn labels_that_cannot_be_written_end_with_one_error() {
    let place = place();
    let fails = |flags: &[&str], code: i32, text: &str| {
        drop(place.fails(&[&["render", "scene.ron"], flags].concat(), code, text));
    };
    fails(&["--labels", "masks"], 2, "unknown label `masks`");
    fails(&["--labels", "depth:flo"], 2, "write depth:npy, depth:exr or depth:png");
    fails(&["--labels", "depth", "--video", "a.gif"], 2, "add -o frames/####.png");
    fails(&["--labels", "depth", "-o", "-"], 2, "add -o frames/####.png");
    let parallel = ["--projection", "orthographic", "--eye", "0,0,9", "--labels", "transforms", "-o", "a.png"];
    fails(&parallel, 2, "frame 1 is orthographic");
    render(&place, &["--frames", "1", "--labels", "transforms"]);
    let overwriting = ["--cameras", "out/transforms.json", "--labels", "transforms", "-o", "out/####.png"];
    fails(&overwriting, 1, "it is also what was read as out/transforms.json");
}
