//! `throng info`, `check`, `trace` and `bench`: reports as text and as JSON.

use crate::{
    common::{Place, write_rays},
    process::Process,
};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Asserts that the help of the subcommand lists all top-level keys of a document.
fn assert_documented(place: &Place, subcommand: &str, json: &serde_json::Value) {
    let help = place.ok(&[subcommand, "--help"]).stdout;
    for key in json.as_object().unwrap().keys() {
        let name = key.strip_prefix("mrays_per_s").filter(|s| !s.is_empty()).unwrap_or(key);
        assert!(help.contains(name), "the help of {subcommand} lacks `{key}`");
    }
}

#[test]
fn info_tells_people_and_programs() {
    let place = Place::new(2);
    assert!(!place.ok(&["info", "scene.ron"]).stdout.is_empty());
    let run = place.ok(&["info", "--json", "scene.ron", "--device", "cpu"]);
    assert_eq!(run.stderr, "");
    let json = run.json();
    assert_documented(&place, "info", &json);
    assert_eq!((&json["instances"], &json["meshes"][0]["instances"]), (&9.into(), &9.into()));
    assert_eq!(json["size"], serde_json::json!([64, 36]));
}

#[test]
fn info_lists_the_files_of_a_scene() {
    let place = Place::new(1);
    fs::create_dir(place.path("models")).unwrap();
    fs::write(place.path("models/a.obj"), "mtllib a.mtl gone.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl m\nf 1 2 3\n")
        .unwrap();
    fs::write(place.path("models/a.mtl"), "newmtl m\nmap_Kd a.png\n").unwrap();
    fs::write(place.path("models/a.png"), png()).unwrap();
    let text = "(meshes: {\"a\": Obj(file: \"./models/../models/a.obj\")}, instances: [Single(of: \"a\")])";
    fs::write(place.path("files.ron"), text).unwrap();
    let files = place.ok(&["info", "files.ron", "--files"]).json();
    let list: Vec<(String, Option<u64>)> = files
        .as_array()
        .unwrap()
        .iter()
        .map(|file| (file["path"].as_str().unwrap().to_owned(), file["bytes"].as_u64()))
        .collect();
    let native = |name: &str| Path::new(name).components().collect::<PathBuf>();
    let file = |name: &str| {
        let path = throng_base::system::plain(place.path("").canonicalize().unwrap()).join(native(name));
        let bytes = fs::metadata(&path).ok().map(|found| found.len());
        (path.display().to_string(), bytes)
    };
    let names = ["files.ron", "models/a.mtl", "models/a.obj", "models/a.png"];
    assert_eq!(list, names.map(file));
    place.fails(&["info", "files.ron", "--files", "--json"], 2, "--json");
    place.fails(&["info", "nowhere.ron", "--files"], 1, "nowhere.ron");
}

/// A picture of one white pixel.
fn png() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 1, 1);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().unwrap().write_image_data(&[255; 3]).unwrap();
    bytes
}

#[test]
fn check_accepts_a_good_scene() {
    let place = Place::new(6);
    let run = place.ok(&["check", "scene.ron"]);
    assert!(run.stdout.contains("scene.ron: ok"), "{}", run.stdout);
    let json = place.ok(&["check", "scene.ron", "--json"]).json();
    assert_eq!((&json["ok"], &json["scene"]), (&true.into(), &"scene.ron".into()));
    assert_eq!((&json["instances"], &json["meshes"]), (&9.into(), &1.into()));
    assert_eq!(json["frames"], 6);
    assert_eq!(json["errors"].as_array().unwrap().len(), 0);
    assert!(json["warnings"].is_array());
    assert_eq!(place.names("."), ["scene.ron"]);
}

#[test]
fn check_reports_a_bad_scene_as_json_too() {
    let place = Place::new(1);
    let run = place.fails(&["check", "nowhere.ron", "--json"], 1, "nowhere.ron");
    let json = run.json();
    assert_eq!(json["ok"], false);
    let error = json["errors"][0].as_str().unwrap();
    assert!(error.contains("nowhere.ron"), "{error}");
    assert_eq!(place.fails(&["check", "nowhere.ron"], 1, "nowhere.ron").stdout, "");
}

#[test]
fn trace_reports_rays_and_writes_hits() {
    let place = Place::new(1);
    write_rays(&place);
    for kind in ["closest", "any"] {
        #[rustfmt::skip]
        let run = place.ok(&[
            "trace", "scene.ron", "two.ray", "--kind", kind, "--hits", "two.hit", "--repeat", "2",
            "--threads", "1", "--json",
        ]);
        let json = run.json();
        assert_documented(&place, "trace", &json);
        assert!(json["device"].is_string());
        assert_eq!((&json["threads"], &json["rays"]), (&1.into(), &2.into()));
        assert_eq!(json["hits"], 1, "{kind}");
        for key in ["mrays_per_s", "blas_build_ms", "tlas_build_ms", "bytes"] {
            assert!(json[key].is_number(), "{key}: {json}");
        }
        let hits = fs::read(place.path("two.hit")).unwrap();
        assert_eq!(&hits[..8], b"HIT1\0\0\0\0");
        assert_eq!(hits.len(), 16 + 2 * 12);
        let t = |at: usize| f32::from_le_bytes(hits[at..at + 4].try_into().unwrap());
        // The sphere at the centre has radius 1.
        let expected = if kind == "any" { 1.0 } else { 16.0 };
        assert!((t(16) - expected).abs() < 1e-4, "{}", t(16));
        assert!(t(28) < 0.0, "{}", t(28));
        fs::remove_file(place.path("two.hit")).unwrap();
    }
    assert!(!place.ok(&["trace", "scene.ron", "two.ray"]).stdout.is_empty());
    assert!(!place.path("two.hit").exists());
}

#[test]
fn trace_refuses_what_is_not_a_ray_file() {
    let place = Place::new(1);
    place.fails(&["trace", "scene.ron", "nowhere.ray"], 1, "nowhere.ray");
    place.fails(&["trace", "scene.ron", "scene.ron"], 1, "scene.ron");
    write_rays(&place);
    let whole = fs::read(place.path("two.ray")).unwrap();
    fs::write(place.path("cut.ray"), &whole[..whole.len() - 1]).unwrap();
    place.fails(&["trace", "scene.ron", "cut.ray"], 1, "cut.ray");
    fs::write(place.path("empty.ray"), "").unwrap();
    place.fails(&["trace", "scene.ron", "empty.ray"], 1, "empty.ray");
    for (at, number) in [(16, f32::NAN), (16 + 7 * 4, f32::NAN), (16 + 6 * 4, 0.0)] {
        let mut bytes = whole.clone();
        bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
        fs::write(place.path("bad.ray"), bytes).unwrap();
        let text =
            "bad.ray: ray 0 has a number that is not finite, or a direction that is not between 1e-15 and 1e15 long";
        place.fails(&["trace", "scene.ron", "bad.ray"], 1, text);
    }
    let mut bytes = whole.clone();
    bytes[28..32].copy_from_slice(&(-1.0f32).to_le_bytes());
    fs::write(place.path("bad.ray"), bytes).unwrap();
    let text = "bad.ray: ray 0 starts before its origin, at t_min = -1; make t_min 0";
    place.fails(&["trace", "scene.ron", "bad.ray"], 1, text);
    let mut promised = whole.clone();
    promised[8..16].copy_from_slice(&u64::MAX.to_le_bytes());
    fs::write(place.path("huge.ray"), promised).unwrap();
    place.fails(&["trace", "scene.ron", "huge.ray"], 1, "the header promises 18446744073709551615 rays");
}

#[test]
fn no_rays_are_no_hits() {
    let place = Place::new(1);
    fs::write(place.path("none.ray"), [&b"RAY1\0\0\0\0"[..], &[0; 8]].concat()).unwrap();
    let json = place.ok(&["trace", "scene.ron", "none.ray", "--json"]).json();
    assert_eq!((&json["rays"], &json["hits"]), (&0.into(), &0.into()));
    assert!(json["mrays_per_s"].is_number());
}

#[test]
fn results_that_cannot_be_written_are_an_error() {
    let place = Place::new(1);
    write_rays(&place);
    let to = |file| ["trace", "scene.ron", "two.ray", "--hits", file];
    place.fails(&to("two.ray/two.hit"), 1, "cannot create the folder two.ray");
    fs::create_dir(place.path("taken")).unwrap();
    place.fails(&to("taken"), 1, "taken: a folder has that name");
    let dump = ["bench", "scene.ron", "--repeat", "1", "--dump", "two.ray"];
    place.fails(&dump, 1, "cannot create the folder two.ray");
}

#[test]
fn a_scene_that_no_ray_meets_is_measured_without_bounces() {
    let place = Place::new(1);
    let away = "camera=LookAt(eye: (0, 90, 0), target: (0, 99, 1))";
    let args = ["bench", "scene.ron", "--repeat", "1", "--set", away];
    assert!(place.ok(&args).stdout.contains("nothing was hit"));
    let json = place.ok(&[&args[..], &["--json"]].concat()).json();
    assert!(json["bounce"].is_null() && json["shadow"].is_null(), "{json}");
}

#[test]
fn bench_measures_and_dumps() {
    let place = Place::new(1);
    let args = ["bench", "scene.ron", "--repeat", "1", "--threads", "1"];
    assert!(!place.ok(&args).stdout.is_empty());
    let run = place.ok(&[&args[..], &["--json", "--dump", "dump"]].concat());
    let json = run.json();
    assert_documented(&place, "bench", &json);
    for kind in ["primary", "bounce", "shadow"] {
        assert!(json[kind]["mrays_per_s"].as_f64().unwrap() > 0.0, "{kind}: {json}");
    }
    assert_eq!(json["render"].is_object(), json["device"].as_str().unwrap().starts_with("cuda"), "{json}");
    let names = place.names("dump");
    assert!(names.iter().any(|name| name.ends_with(".scn")), "{names:?}");
    assert_eq!(names.iter().any(|name| name.contains(".own_")), json["render"].is_object(), "{names:?}");
    assert!(names.iter().any(|name| name.ends_with(".primary.ray")), "{names:?}");
    assert!(names.iter().any(|name| name.ends_with(".primary.hit")), "{names:?}");
}

/// A report has the keys of `--json` and some more; the help lists all of them.
#[test]
fn reports_explain_the_speed_as_json() {
    let place = Place::new(1);
    write_rays(&place);
    #[rustfmt::skip]
    place.ok(&["trace", "scene.ron", "two.ray", "--device", "cpu", "--report", "new/trace.json"]);
    #[rustfmt::skip]
    place.ok(&["bench", "scene.ron", "--repeat", "2", "--device", "cpu", "--report", "bench.json"]);
    let read =
        |name: &str| -> serde_json::Value { serde_json::from_slice(&fs::read(place.path(name)).unwrap()).unwrap() };
    let (trace, bench) = (read("new/trace.json"), read("bench.json"));
    assert_documented(&place, "trace", &trace);
    assert_documented(&place, "bench", &bench);
    for report in [&trace, &bench] {
        assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(report["scene_file"], "scene.ron");
        assert_eq!(report["trees"]["tlas"]["instances"], 9);
        assert_eq!(report["trees"]["blas"].as_array().unwrap().len(), 1);
        assert!(report["trees"]["tlas"]["overlap"].is_number());
    }
    // One of the two rays hits a sphere, which has no triangles.
    assert_eq!(trace["work"]["triangles"], 0.0);
    assert!(trace["work"]["instances"].as_f64().unwrap() >= 0.5);
    assert!(bench["primary"]["work"]["tlas_nodes"].is_number());
    assert!(bench["builds"]["tlas_ms"]["mad"].is_number());
}

#[test]
fn reports_are_tables_in_markdown_and_nothing_else() {
    let place = Place::new(1);
    #[rustfmt::skip]
    place.ok(&["bench", "scene.ron", "--repeat", "1", "--device", "cpu", "--report", "bench.md"]);
    let text = fs::read_to_string(place.path("bench.md")).unwrap();
    for part in ["# throng bench scene.ron", "| primary |", "| TLAS |", "SAH"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let bench = ["bench", "scene.ron", "--repeat", "1"];
    let refused = [&bench[..], &["--report", "bench.txt"]].concat();
    place.fails(&refused, 2, "`bench.txt` ends in neither .md nor .json");
    fs::create_dir(place.path("taken.md")).unwrap();
    let taken = [&bench[..], &["--report", "taken.md"]].concat();
    place.fails(&taken, 1, "taken.md: a folder has that name");
}

#[test]
fn a_reader_that_closes_the_pipe_is_no_error() {
    let place = Place::new(1);
    for args in [&["info", "scene.ron", "--device", "cpu"][..], &["check", "scene.ron", "--json"], &["--help"]] {
        let (_, closed) = std::io::pipe().unwrap();
        let output = Process::start_with_stdout(&mut place.command(args), closed).finish();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
    }
}
