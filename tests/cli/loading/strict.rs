//! Faults in parts of files that are not drawn or can be replaced: the rest is drawn with a warning; `--strict` makes it an error.

use crate::common::{Place, decode};
use serde_json::{Value, json};
use std::fs;

/// A square with a normal per corner.
fn square() -> Value {
    let corners = "AACAvwAAgL8AAAAAAACAPwAAgL8AAAAAAACAPwAAgD8AAAAAAACAvwAAgD8AAAAA";
    json!({
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "material": 0}]}],
        "materials": [{"pbrMetallicRoughness": {"baseColorFactor": [0.9, 0.4, 0.1, 1], "metallicFactor": 0}, "doubleSided": true}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5121, "count": 6, "type": "SCALAR"},
        ],
        "bufferViews": [{"buffer": 0, "byteLength": 48}, {"buffer": 1, "byteLength": 6}],
        "buffers": [
            {"byteLength": 48, "uri": format!("data:;base64,{corners}")},
            {"byteLength": 6, "uri": "data:;base64,AAECAAID"},
        ],
    })
}

/// The square with an additional vertex that no triangle uses.
fn with_vertex(vertex: [f32; 3]) -> Value {
    let corners = [[-1.0f32, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0], vertex];
    let bytes: Vec<u8> = corners.as_flattened().iter().flat_map(|x| x.to_le_bytes()).collect();
    let mut file = square();
    let uri: String = bytes.iter().map(|byte| format!("%{byte:02x}")).collect();
    file["buffers"][0] = json!({"byteLength": 60, "uri": format!("data:,{uri}")});
    file["bufferViews"][0]["byteLength"] = json!(60);
    file["accessors"][0]["count"] = json!(5);
    file
}

/// The file as .glb, with the bytes `before` and `after` around its JSON.
fn glb(file: &Value, before: &[u8], after: &[u8]) -> Vec<u8> {
    let json = [before, file.to_string().as_bytes(), after].concat();
    let mut bytes = b"glTF\x02\0\0\0".to_vec();
    bytes.extend((json.len() as u32 + 20).to_le_bytes());
    bytes.extend((json.len() as u32).to_le_bytes());
    bytes.extend(b"JSON");
    bytes.extend(json);
    bytes
}

const TINY: [&str; 8] = ["--size", "48x32", "--samples", "2", "--device", "cpu", "-f", "1"];

/// The picture of a file, and the warnings about it.
fn drawn(place: &Place, name: &str) -> (Vec<u8>, Vec<String>) {
    let run = place.ok(&[&["render", name, "-o", "picture.png"], &TINY[..]].concat());
    let lines = run.stderr.lines().filter_map(|line| line.strip_prefix("throng: warning: "));
    (decode(&place.path("picture.png")), lines.map(str::to_owned).collect())
}

/// Asserts that the file `name` looks like the square and has one warning, which is an error with `--strict`.
fn assert_warned(place: &Place, name: &str, warning: &str) {
    let (picture, warnings) = drawn(place, name);
    assert_eq!(warnings, [warning], "{name}");
    assert!(picture == drawn(place, "square.gltf").0, "{name} looks like the square");
    let expected = format!("{name}: {warning}");
    for command in ["render", "check", "info"] {
        place.fails(
            &[command, name, "--strict", "--device", "cpu"][..if command == "check" { 3 } else { 5 }],
            1,
            &expected,
        );
    }
    let run = place.ok(&["check", name, "--json"]);
    assert_eq!(run.json()["warnings"], json!([warning]));
    let run = place.run(&["check", name, "--strict", "--json"]);
    assert_eq!((run.code, &run.json()["ok"], &run.json()["errors"]), (1, &json!(false), &json!([expected])));
    let run = place.ok(&["info", name, "--json", "--device", "cpu"]);
    assert_eq!(run.json()["warnings"], json!([warning]));
}

fn place() -> Place {
    let place = Place::new(1);
    fs::write(place.path("square.gltf"), square().to_string()).unwrap();
    place
}

#[test]
fn files_that_are_only_written_oddly_look_like_others_without_a_word() {
    let place = place();
    let text = square().to_string();
    let floats =
        text.replace("\"count\":4", "\"count\":4.0").replace("\"mesh\":0", "\"mesh\":0.0").replace("5121", "5.121e3");
    assert_ne!(floats, text);
    let mut odd = square();
    odd["meshes"][0]["extras"] = json!(5);
    let mut instanced = square();
    instanced["nodes"][0]["extensions"] = json!({"EXT_mesh_gpu_instancing": {"attributes": {"_ID": 1}}});
    let files = [
        ("bom.glb", glb(&square(), b"\xef\xbb\xbf", b"")),
        ("padded.glb", glb(&square(), b"", b"\0\0\0")),
        ("floats.gltf", floats.into_bytes()),
        ("odd.gltf", odd.to_string().into_bytes()),
        ("instanced.gltf", instanced.to_string().into_bytes()),
        ("far.gltf", with_vertex([1e6, 0.0, 0.0]).to_string().into_bytes()),
        ("nowhere.gltf", with_vertex([f32::NAN; 3]).to_string().into_bytes()),
    ];
    let expected = drawn(&place, "square.gltf").0;
    for (name, bytes) in files {
        fs::write(place.path(name), bytes).unwrap();
        let (picture, warnings) = drawn(&place, name);
        assert_eq!(warnings, [""; 0], "{name}");
        assert!(picture == expected, "{name} looks like the square");
        place.ok(&["check", name, "--strict"]);
    }
}

#[test]
fn what_is_not_drawn_or_can_be_replaced_is_a_warning_and_an_error_with_strict() {
    let place = place();
    let texture = json!({"index": 0});
    let mut missing = square();
    missing["images"] = json!([{"uri": "gone.png"}]);
    missing["textures"] = json!([{"source": 0}]);
    missing["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"] = texture.clone();
    let mut unsupported = missing.clone();
    unsupported["images"] = json!([{"uri": "data:image/avif;base64,AAAAIGZ0eXBhdmlm", "mimeType": "image/avif"}]);
    unsupported["extensionsUsed"] = json!(["KHR_texture_transform"]);
    let mut mode = square();
    mode["materials"][0]["alphaMode"] = json!("GLOWING");
    let mut light = square();
    light["extensions"] = json!({"KHR_lights_punctual": {"lights": [{"type": "laser"}]}});
    light["nodes"][0]["extensions"] = json!({"KHR_lights_punctual": {"light": 0}});
    let mut normals = square();
    normals["meshes"][0]["primitives"][0]["attributes"]["NORMAL"] = json!(1);
    let mut clip = square();
    clip["animations"] = json!([{"name": "Broken", "samplers": [{"input": 0, "output": 0}],
        "channels": [{"sampler": 0, "target": {"node": 0, "path": "scale"}}]}]);
    let mut buffer = square();
    buffer["buffers"].as_array_mut().unwrap().push(json!({"byteLength": 4, "uri": "gone.bin"}));
    let mut required = square();
    required["extensionsRequired"] = json!(["KHR_materials_glow"]);
    let cases = [
        (missing, "/images/0/uri: `gone.png`: no such file: put it beside the model; its textures are left out"),
        (mode, "/materials/0/alphaMode: unknown mode; OPAQUE is taken"),
        (
            light,
            "/extensions/KHR_lights_punctual/lights/0/type: there is no type `laser` of lights; the light is left out",
        ),
        (
            normals,
            "/meshes/0/primitives/0/attributes/NORMAL: 6 elements for 4 vertices: export the file again; the attribute is left out",
        ),
        (clip, "/accessors/0: elements have 3 components, but 1 are needed here; the animation `Broken` is left out"),
        (buffer, "/buffers/2/uri: `gone.bin`: no such file: put it beside the model; nothing that is drawn needs it"),
        (required, "/extensionsRequired/0: `KHR_materials_glow` is required, but not supported and ignored"),
    ];
    for (file, warning) in cases {
        fs::write(place.path("odd.gltf"), file.to_string()).unwrap();
        assert_warned(&place, "odd.gltf", warning);
    }
    fs::write(place.path("odd.gltf"), unsupported.to_string()).unwrap();
    let (picture, warnings) = drawn(&place, "odd.gltf");
    assert!(warnings.len() == 1 && warnings[0].starts_with("/images/0: "), "{warnings:?}");
    assert!(picture == drawn(&place, "square.gltf").0);
}

#[test]
fn a_faulty_animation_is_an_error_only_if_it_is_asked_for() {
    let place = place();
    let mut file = square();
    let clip = |name: &str, input: usize| {
        json!({"name": name, "samplers": [{"input": input, "output": 3}],
            "channels": [{"sampler": 0, "target": {"node": 0, "path": "translation"}}]})
    };
    file["animations"] = json!([clip("Slide", 2), clip("Broken", 0)]);
    let zeros = |count: u32, kind: &str| json!({"componentType": 5126, "count": count, "type": kind});
    file["accessors"].as_array_mut().unwrap().extend([zeros(1, "SCALAR"), zeros(1, "VEC3")]);
    fs::write(place.path("clips.gltf"), file.to_string()).unwrap();
    for animation in ["Slide", "0", "all"] {
        place.ok(&["check", "clips.gltf", "--animation", animation]);
    }
    let told = "the animation `Broken` cannot be played: /accessors/0: elements have 3 components";
    for animation in ["Broken", "1", "Slide,Broken"] {
        place.fails(&["check", "clips.gltf", "--animation", animation], 1, told);
    }
    let scene = |clip: &str| {
        format!(r#"(meshes: {{"a": Gltf(file: "clips.gltf", clip: "{clip}")}}, instances: [Single(of: "a")])"#)
    };
    fs::write(place.path("s.ron"), scene("Broken")).unwrap();
    place.fails(&["check", "s.ron"], 1, told);
    fs::write(place.path("s.ron"), scene("Slide")).unwrap();
    let run = place.ok(&["check", "s.ron", "--json"]);
    let warning = run.json()["warnings"][0].as_str().unwrap().to_owned();
    assert!(warning.starts_with("clips.gltf: /accessors/0: "), "{warning}");
    place.fails(&["check", "s.ron", "--strict"], 1, "s.ron: clips.gltf: /accessors/0: ");
}

#[test]
fn strict_is_for_all_formats_and_lists_every_warning() {
    let place = place();
    fs::write(place.path("m.obj"), "mtllib gone.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    place.ok(&["check", "m.obj"]);
    place.fails(&["check", "m.obj", "--strict"], 1, "m.obj:1: the material file gone.mtl does not exist");
    let mut file = square();
    file["materials"][0]["alphaMode"] = json!("GLOWING");
    file["materials"][0]["pbrMetallicRoughness"]["metallicFactor"] = json!(7);
    fs::write(place.path("two.gltf"), file.to_string()).unwrap();
    let more = "two.gltf: /materials/0/alphaMode: unknown mode; OPAQUE is taken; `throng check --strict` lists 1 more";
    place.fails(&["info", "two.gltf", "--strict", "--device", "cpu"], 1, more);
    let run = place.run(&["check", "two.gltf", "--strict"]);
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert_eq!((run.code, lines.len()), (1, 2), "{}", run.stderr);
    assert!(lines[1].ends_with("metallicFactor: 7 is out of range; 1 is used"), "{}", run.stderr);
}

#[test]
fn doubts_about_a_file_are_no_errors() {
    let place = place();
    let mut file = square();
    file["extensions"] = json!({"KHR_lights_punctual": {"lights": [{"type": "point", "intensity": 54000}]}});
    file["nodes"][0]["extensions"] = json!({"KHR_lights_punctual": {"light": 0}});
    fs::write(place.path("bright.gltf"), file.to_string()).unwrap();
    let run = place.ok(&["check", "bright.gltf", "--strict"]);
    assert!(run.stdout.contains("has 54000 candela or lux"), "{}", run.stdout);
}
