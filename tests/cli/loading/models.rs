//! `throng info` and `throng check` for models: contents of glTF files, and missing parts of meshes.

use crate::common::Place;
use serde_json::{Value, json};
use std::{fs, io::Cursor};

/// A .glb file under construction.
struct Model {
    json: Value,
    bin: Vec<u8>,
}

impl Model {
    /// A node with a triangle that uses the first material.
    fn new() -> Self {
        let mut model = Self {
            json: json!({
                "asset": {"version": "2.0"},
                "scenes": [{"name": "stage", "nodes": [0]}],
                "nodes": [{"name": "body", "mesh": 0}],
                "materials": [{"name": "paint", "alphaMode": "MASK", "doubleSided": true}],
                "accessors": [], "bufferViews": [],
            }),
            bin: Vec::new(),
        };
        let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let positions = model.floats("VEC3", corners.as_flattened());
        model.json["meshes"] = json!([{
            "name": "shape",
            "primitives": [{"attributes": {"POSITION": positions}, "material": 0}],
        }]);
        model
    }

    fn view(&mut self, bytes: &[u8]) -> usize {
        let view = json!({"buffer": 0, "byteOffset": self.bin.len(), "byteLength": bytes.len()});
        self.bin.extend(bytes);
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        push(&mut self.json["bufferViews"], view)
    }

    fn floats(&mut self, kind: &str, values: &[f32]) -> usize {
        let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        let view = self.view(&bytes);
        let width = match kind {
            "SCALAR" => 1,
            "VEC3" => 3,
            _ => 4,
        };
        let count = values.len() / width;
        let accessor = json!({"bufferView": view, "componentType": 5126, "type": kind, "count": count});
        push(&mut self.json["accessors"], accessor)
    }

    fn save(&self, place: &Place, name: &str) {
        let mut json = self.json.clone();
        json["buffers"] = json!([{"byteLength": self.bin.len()}]);
        let mut text = json.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let length = 28 + text.len() + self.bin.len();
        let mut bytes = b"glTF\x02\0\0\0".to_vec();
        bytes.extend((length as u32).to_le_bytes());
        for (kind, data) in [(b"JSON", &text), (b"BIN\0", &self.bin)] {
            bytes.extend((data.len() as u32).to_le_bytes());
            bytes.extend(kind);
            bytes.extend(data);
        }
        fs::write(place.path(name), bytes).unwrap();
    }
}

fn push(list: &mut Value, value: Value) -> usize {
    if list.is_null() {
        *list = json!([]);
    }
    let list = list.as_array_mut().unwrap();
    list.push(value);
    list.len() - 1
}

fn picture() -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image::RgbImage::new(4, 2).write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    bytes.into_inner()
}

/// A model with one of each kind of thing that `info` reports.
fn rich() -> Model {
    let mut m = Model::new();
    let view = m.view(&picture());
    m.json["images"] = json!([{"name": "wood", "bufferView": view, "mimeType": "image/png"}]);
    m.json["textures"] = json!([{"source": 0}]);
    m.json["materials"][0]["pbrMetallicRoughness"] = json!({"baseColorTexture": {"index": 0}});
    let times = m.floats("SCALAR", &[0.0, 1.5]);
    let moves = m.floats("VEC3", &[0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    m.json["animations"] = json!([{
        "name": "hop",
        "samplers": [{"input": times, "output": moves}],
        "channels": [{"sampler": 0, "target": {"node": 1, "path": "translation"}}],
    }]);
    m.json["nodes"] = json!([
        {"name": "body", "mesh": 0, "skin": 0, "children": [1, 2, 3]},
        {"name": "joint\u{1b}[2J"},
        {"name": "eye", "camera": 0},
        {"name": "lamp", "extensions": {"KHR_lights_punctual": {"light": 0}}},
    ]);
    m.json["skins"] = json!([{"name": "bones", "joints": [1]}]);
    let joints = m.view(&[0; 12]);
    let joints = push(
        &mut m.json["accessors"],
        json!({"bufferView": joints, "componentType": 5121, "type": "VEC4", "count": 3}),
    );
    let weights = m.floats("VEC4", &[1.0, 0.0, 0.0, 0.0].repeat(3));
    let primitive = &mut m.json["meshes"][0]["primitives"][0];
    primitive["attributes"]["JOINTS_0"] = json!(joints);
    primitive["attributes"]["WEIGHTS_0"] = json!(weights);
    m.json["cameras"] = json!([
        {"name": "front", "type": "perspective", "perspective": {"yfov": 1.0, "znear": 0.1}},
    ]);
    let light = json!({"name": "bulb", "type": "point", "intensity": 40});
    m.json["extensions"] = json!({
        "KHR_lights_punctual": {"lights": [light]},
        "KHR_materials_variants": {"variants": [{"name": "red"}]},
    });
    m.json["extensionsUsed"] = json!(["KHR_lights_punctual", "KHR_materials_variants", "ACME_glow"]);
    m
}

#[test]
fn info_tells_people_what_a_model_has() {
    let place = Place::new(1);
    rich().save(&place, "rich.glb");
    let text = place.ok(&["info", "rich.glb", "--device", "cpu"]).stdout;
    for line in [
        "  scene        stage",
        "    body  [mesh shape: 1 triangle; skin bones]",
        "      joint [2J",
        "      eye  [camera front]",
        "      lamp  [light bulb]",
        "  geometry     1 primitive of 1 mesh, 1 triangle, 3 vertices, 1 instance",
        "    bones: 1 joint",
        "    paint: base colour texture, alpha mask, double-sided",
        "    wood: 4x2, srgb, rgba8, 32 bytes",
        "    red",
        "    hop: 1.500 s, 1 channel, 2 keys",
        "    front: perspective, 57.3° from top to bottom",
        "    bulb: point, 40 cd, colour (1, 1, 1)",
        "    KHR_lights_punctual",
        "    ACME_glow: not supported",
    ] {
        assert!(text.lines().any(|l| l == line), "no `{line}` in:\n{text}");
    }
    assert!(text.contains("\n  memory       meshes ") && text.contains(" bytes, textures 32 bytes, trees "), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
}

#[test]
fn info_tells_programs_what_a_model_has() {
    let place = Place::new(1);
    rich().save(&place, "rich.glb");
    let args = ["info", "rich.glb", "--device", "cpu", "--json"];
    let model = place.ok(&args).json()["model"].take();
    assert_eq!(model["counts"]["joints"], 1);
    assert_eq!(model["nodes"][1]["parent"], 0);
    assert_eq!(model["nodes"][0]["meshes"], json!([0]));
    assert_eq!(model["meshes"][0]["joints_per_vertex"], 4);
    assert_eq!(model["textures"][0]["bytes"], 32);
    assert_eq!(model["textures"][0]["color_space"], "srgb");
    assert_eq!(model["clips"][0]["seconds"], 1.5);
    assert_eq!(model["cameras"][0]["kind"], "perspective");
    assert_eq!(model["lights"][0]["kind"], "point");
    assert_eq!(model["extensions_unsupported"], json!(["ACME_glow"]));
    assert!(model["memory"]["mesh_bytes"].as_u64() > Some(0));
    let help = place.ok(&["info", "--help"]).stdout;
    for key in model.as_object().unwrap().keys() {
        assert!(help.contains(key), "the help of info lacks `{key}`");
    }
    let json = place.ok(&["info", "scene.ron", "--json"]).json();
    assert!(json["model"].is_null(), "only models have it");
}

#[test]
fn long_trees_and_lists_are_shortened_unless_asked_for() {
    let place = Place::new(1);
    let mut m = Model::new();
    m.json["nodes"][0]["children"] = (1..100).collect();
    for i in 1..100 {
        push(&mut m.json["nodes"], json!({"name": format!("leaf {i}")}));
        push(&mut m.json["materials"], json!({"name": format!("paint {i}")}));
    }
    m.save(&place, "wide.glb");
    let text = |more: &[&str]| {
        let args = [&["info", "wide.glb", "--device", "cpu"], more].concat();
        place.ok(&args).stdout
    };
    let short = text(&[]);
    assert!(short.contains("      leaf 38\n      … 61 more\n"), "{short}");
    assert!(short.contains("    paint 18\n    … 81 more\n"), "{short}");
    let full = text(&["--full"]);
    assert!(full.contains("leaf 99\n") && full.contains("paint 99"));
    assert!(!full.contains(" more\n"), "{full}");
    let json = place.ok(&["info", "wide.glb", "--json"]).json();
    assert_eq!(json["model"]["nodes"].as_array().unwrap().len(), 100);
}

#[test]
fn check_lists_all_problems_of_a_model_with_their_places() {
    let place = Place::new(1);
    let mut m = Model::new();
    m.json["nodes"][0]["skin"] = json!(3);
    m.json["meshes"][0]["primitives"][0]["indices"] = json!(88);
    m.json["extensionsRequired"] = json!(["ACME_glow"]);
    m.json["extensionsUsed"] = json!(["ACME_glow"]);
    m.save(&place, "bad.glb");
    let expected = [
        "bad.glb: /extensionsRequired/0: the extension `ACME_glow` is required, but not supported: export the file without it",
        "bad.glb: /meshes/0/primitives/0/indices: there is no accessor 88: the file has ACCESSORS",
        "bad.glb: /nodes/0/skin: there is no skin 3: the file has 0",
    ];
    let count = m.json["accessors"].as_array().unwrap().len().to_string();
    let expected = expected.map(|line| line.replace("ACCESSORS", &count));
    let run = place.run(&["check", "bad.glb"]);
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    let warning = "throng: warning: /extensionsUsed: `ACME_glow` is not supported and ignored";
    let errors = expected.clone().map(|e| format!("throng: error: {e}"));
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(lines, [warning, &errors[0], &errors[1], &errors[2]]);
    let run = place.run(&["check", "bad.glb", "--json"]);
    assert_eq!((run.code, &run.json()["errors"]), (1, &json!(expected)));
    assert_eq!(run.json()["warnings"].as_array().unwrap().len(), 1);
    let run = place.run(&["check", "bad.glb", "--strict", "--json"]);
    let all: Vec<String> = expected
        .iter()
        .cloned()
        .chain(["bad.glb: /extensionsUsed: `ACME_glow` is not supported and ignored".to_owned()])
        .collect();
    assert_eq!((&run.json()["errors"], &run.json()["warnings"]), (&json!(all), &json!([])));
    m.json["nodes"][0] = json!({"mesh": 0});
    m.json["extensionsRequired"] = json!([]);
    m.save(&place, "bad.glb");
    place.fails(&["check", "bad.glb"], 1, &expected[1]);
    m.json["meshes"][0]["primitives"][0].as_object_mut().unwrap().remove("indices");
    m.save(&place, "bad.glb");
    let run = place.ok(&["check", "bad.glb"]);
    assert!(run.stdout.contains("bad.glb: ok"), "{}", run.stdout);
}

#[test]
fn a_model_with_nothing_to_see_is_described_before_the_error() {
    let place = Place::new(1);
    let mut m = Model::new();
    m.json["nodes"][0] = json!({"name": "empty"});
    m.save(&place, "empty.glb");
    let run = place.fails(&["info", "empty.glb"], 1, "nothing to see");
    assert!(run.stdout.contains("    empty\n"), "{}", run.stdout);
}

#[test]
fn what_a_mesh_lacks_is_told_once_with_its_place() {
    let place = Place::new(1);
    let write = |name: &str, text: &str| fs::write(place.path(name), text).unwrap();
    let corners = "v -1 -1 0\rv 1 -1 0\rv 1 1 0\rv -1 1 0\rv nan 0 0\r";
    write("m.obj", &format!("\u{feff}mtllib m.mtl\r{corners}usemtl m\rf 1/1/1 2/1/1 3/1/1\rf 1/1/1 3 4\rf 1 2 5\r"));
    write("m.mtl", "\u{feff}newmtl m\r\nmap_Kd -zz on gone.png\r\nd 0\r\n");
    let told = place.ok(&["check", "m.obj", "--json"]).json()["warnings"].take();
    let expected = [
        "m.obj:8: the face uses a texture coordinate that the file does not have: 4 corners get 0,0",
        "m.obj:8: the face uses a normal that the file does not have: 4 corners get one of their faces",
        "m.obj:6: this vertex is not finite: 1 faces with such vertices are left out",
        "m.mtl:2: the option -zz is not known and ignored",
        "m.mtl:2: the texture gone.png is left out: it does not exist: check the path",
        "m.mtl:3: the material `m` would be invisible, which is rarely meant: it is opaque",
    ];
    assert_eq!(told, json!(expected));
    write("m.obj", "v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    place.fails(&["check", "m.obj"], 1, "m.obj:1: no face can be drawn: 1 have vertices that are not finite");
}
