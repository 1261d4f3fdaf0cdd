//! USD stages as input. What the reader makes of them is tested in `crates/usd`.

use crate::common::{Place, decode};
use serde_json::Value;
use std::fs;

/// Three layers: a stage with native instances, a point instancer that moves, a camera and a light; its asset with a variant; and a picture of
/// its materials.
#[cfg(feature = "usd")]
fn place() -> Place {
    let place = Place::new(1);
    let write = |name: &str, text: &str| fs::write(place.path(name), text).unwrap();
    write(
        "tree.usda",
        r#"#usda 1.0
(defaultPrim = "Tree")
def Xform "Tree" (
    variants = { string season = "summer" }
    prepend variantSets = "season"
)
{
    def Cylinder "trunk"
    {
        double radius = 0.1
        double height = 1
        uniform token axis = "Y"
    }
    def Sphere "crown" (prepend apiSchemas = ["MaterialBindingAPI"]) {
        double radius = 0.5
        double3 xformOp:translate = (0, 1, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        rel material:binding = </Tree/leaf>
    }
    def Material "leaf" {
        token outputs:surface.connect = </Tree/leaf/surface.outputs:surface>
        def Shader "surface" {
            uniform token info:id = "UsdPreviewSurface"
            float inputs:roughness = 0.9
            token outputs:surface
        }
    }
    variantSet "season" = {
        "summer" { over "leaf" { over "surface" {
            color3f inputs:diffuseColor = (0.1, 0.6, 0.1)
        } } }
        "autumn" { over "leaf" { over "surface" {
            color3f inputs:diffuseColor = (0.8, 0.2, 0.05)
        } } }
    }
}
"#,
    );
    write(
        "grove.usda",
        r#"#usda 1.0
(
    defaultPrim = "World"
    upAxis = "Z"
    metersPerUnit = 0.1
    startTimeCode = 101
    endTimeCode = 104
    timeCodesPerSecond = 12
)
def Xform "World"
{
    def Xform "a" (instanceable = true; prepend references = @tree.usda@) {
        quatf xformOp:orient = (0.70710678, 0.70710678, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:orient"]
    }
    def Xform "b" (instanceable = true; prepend references = @tree.usda@) {
        double3 xformOp:translate = (3, 0, 0)
        quatf xformOp:orient = (0.70710678, 0.70710678, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
    }
    def PointInstancer "stones" {
        rel prototypes = </World/stones/stone>
        int[] protoIndices = [0, 0, 0]
        point3f[] positions.timeSamples = {
            101: [(-2, 0, 0), (-3, 0, 0), (-4, 0, 0)],
            104: [(-2, 0, 2), (-3, 0, 2), (-4, 0, 2)],
        }
        def Sphere "stone"
        {
            double radius = 0.3
            color3f[] primvars:displayColor = [(0.5, 0.4, 0.9)]
        }
    }
    def Cube "helper"
    {
        uniform token purpose = "guide"
        double size = 9
    }
}
def Camera "front" {
    float focalLength = 35
    float horizontalAperture = 24
    float verticalAperture = 12
    double3 xformOp:translate = (0, -14, 1)
    double xformOp:rotateX = 90
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateX"]
}
def DistantLight "sun" {
    float inputs:intensity = 3
    bool inputs:normalize = true
    double xformOp:rotateX = 40
    uniform token[] xformOpOrder = ["xformOp:rotateX"]
}
"#,
    );
    place
}

#[cfg(feature = "usd")]
fn info(place: &Place, flags: &[&str]) -> Value {
    place.ok(&[&["info", "grove.usda", "--json"][..], flags].concat()).json()
}

#[cfg(feature = "usd")]
fn picture(place: &Place, frame: &str, flags: &[&str]) -> Vec<u8> {
    let common = ["render", "grove.usda", "-f", frame, "--size", "64x32", "--samples", "4", "-o", "a.png"];
    place.ok(&[&common[..], flags].concat());
    decode(&place.path("a.png"))
}

#[test]
#[cfg(feature = "usd")]
fn instances_are_kept_and_the_stage_is_described() {
    let info = info(&place(), &[]);
    let stage = &info["stage"];
    assert_eq!((&stage["native_instances"], &stage["prototypes"]), (&2.into(), &1.into()));
    assert_eq!((&stage["point_instances"], &stage["up_axis"]), (&3.into(), &"Z".into()));
    assert_eq!(stage["layers"].as_array().unwrap().len(), 2);
    // Two trees of two shapes, and three stones; every shape once.
    assert_eq!((&info["instances"], info["meshes"].as_array().unwrap().len()), (&7.into(), 3));
    // Metres, with Y up: from a stone at -4.3 tenths to the crown at 3.5.
    let bounds = |end: &str, axis: usize| info["bounds"][end][axis].as_f64().unwrap();
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-4, "{a} {b}");
    close(bounds("min", 0), -0.43);
    close(bounds("max", 0), 0.35);
    close(bounds("max", 1), 0.15);
}

#[test]
#[cfg(feature = "usd")]
fn frames_have_the_numbers_of_time_codes_and_move() {
    let place = place();
    let info = info(&place, &[]);
    assert_eq!((&info["frames"], &info["fps"]), (&4.into(), &12.0.into()));
    let [first, again, last] = ["101", "101", "104"].map(|frame| picture(&place, frame, &[]));
    assert!(first == again && first != last);
    place.fails(&["render", "grove.usda", "-f", "1", "-o", "a.png"], 2, "101");
    let text =
        fs::read_to_string(place.path("grove.usda")).unwrap().replace("startTimeCode = 101", "startTimeCode = -2");
    fs::write(place.path("early.usda"), text).unwrap();
    let early = place.ok(&["check", "early.usda", "--json"]).json();
    assert!(early["warnings"].to_string().contains("it begins at time code -2"), "{early}");
}

#[test]
#[cfg(feature = "usd")]
fn variants_and_purposes_change_what_is_shown() {
    let place = place();
    let green = picture(&place, "101", &[]);
    let red = picture(&place, "101", &["--variant", "/World/a{season=autumn}", "--variant", "/World/b{season=autumn}"]);
    assert!(green != red);
    assert!(green != picture(&place, "101", &["--purpose", "guide"]));
    let none = place.fails(&["check", "grove.usda", "--variant", "/World/a{season=winter}"], 1, "summer");
    none.assert_one_error("autumn");
    place.fails(&["check", "grove.usda", "--variant", "autumn"], 2, "/Prim{set=variant}");
    place.fails(&["check", "grove.usda", "--purpose", "preview"], 2, "proxy");
    place.fails(&["check", "grove.usda", "--camera", "back"], 1, "/front");
    place.ok(&["check", "grove.usda", "--scene", "/World/a"]);
    place.fails(&["check", "grove.usda", "--scene", "/World/c"], 1, "/World/c");
}

#[test]
#[cfg(feature = "usd")]
fn a_stage_is_a_group_of_a_scene_file() {
    let place = place();
    let text = r#"(
        render: (size: (64, 32), samples: 2, frames: 2, fps: 12),
        environment: Constant(radiance: (1, 1, 1)),
        meshes: { "grove": Usd(file: "grove.usda", prim: "/World", fit: 2), "floor": Quad() },
        instances: [Grid(of: "grove", count: (3, 1, 3), spacing: (3, 1, 3)), Single(of: "floor", scale: 20)],
    )"#;
    fs::write(place.path("many.ron"), text).unwrap();
    let info = place.ok(&["info", "many.ron", "--json"]).json();
    assert_eq!(info["instances"], 9 * 7 + 1);
    let frame = |frame: &str| {
        place.ok(&["render", "many.ron", "-f", frame, "-o", "a.png"]);
        decode(&place.path("a.png"))
    };
    assert!(frame("1") != frame("2"), "stones move");
    fs::write(place.path("many.ron"), text.replace("grove.usda", "none.usda")).unwrap();
    place.fails(&["check", "many.ron"], 1, "none.usda");
}

#[test]
#[cfg(feature = "usd")]
fn files_of_a_stage_are_listed_and_damage_has_a_line() {
    let place = place();
    let files = place.ok(&["info", "grove.usda", "--files"]).json();
    let files: Vec<String> = files.as_array().unwrap().iter().map(|file| file["path"].to_string()).collect();
    assert_eq!(files.len(), 2, "{files:?}");
    let text = fs::read_to_string(place.path("grove.usda")).unwrap();
    fs::write(place.path("bad.usda"), text.replace("def Camera", "def Camera )")).unwrap();
    let bad = place.fails(&["check", "bad.usda"], 1, "bad.usda:40:12");
    bad.assert_one_error("bad.usda");
    fs::write(place.path("gone.usda"), text.replace("@tree.usda@", "@bush.usda@")).unwrap();
    place.fails(&["check", "gone.usda"], 1, "bush.usda");
    place.fails(&["check", "nothing.usdz"], 1, "no such file");
}

/// A document whose colour is a product of two pictures, one of which is repeated; a stage that refers to it; and a scene with its material.
#[cfg(feature = "usd")]
fn painted(factor: &str) -> Place {
    let place = Place::new(1);
    let write = |name: &str, text: &str| fs::write(place.path(name), text).unwrap();
    write(
        "paint.mtlx",
        &r#"<?xml version="1.0"?>
<materialx version="1.39" colorspace="lin_rec709">
  <nodegraph name="G" fileprefix="tex/">
    <tiledimage name="dots" type="color3">
      <input name="file" type="filename" value="dots.png" colorspace="srgb_texture" />
      <input name="uvtiling" type="vector2" value="4, 4" />
    </tiledimage>
    <image name="shade" type="color3"><input name="file" type="filename" value="shade.png" colorspace="srgb_texture" /></image>
    <multiply name="both" type="color3"><input name="in1" type="color3" nodename="dots" /><input name="in2" type="color3" nodename="shade" /></multiply>
    <output name="out" type="color3" nodename="both" />
  </nodegraph>
  <open_pbr_surface name="S" type="surfaceshader">
    <input name="base_color" type="color3" nodegraph="G" output="out" />
    <input name="base_weight" type="float" value="FACTOR" />
    <input name="specular_weight" type="float" value="0" />
  </open_pbr_surface>
  <surfacematerial name="Paint" type="material"><input name="surfaceshader" type="surfaceshader" nodename="S" /></surfacematerial>
</materialx>"#
            .replace("FACTOR", factor),
    );
    write(
        "wall.usda",
        r#"#usda 1.0
(upAxis = "Y"; metersPerUnit = 1)
def Mesh "Wall" (prepend apiSchemas = ["MaterialBindingAPI"]) {
    int[] faceVertexCounts = [4]
    int[] faceVertexIndices = [0, 1, 2, 3]
    point3f[] points = [(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)]
    texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1), (0, 1)] (interpolation = "vertex")
    rel material:binding = </Looks/Paint>
}
def Scope "Looks" (references = @paint.mtlx@</MaterialX/Materials>) {}
def Camera "Eye" { double3 xformOp:translate = (0, 0, 5); uniform token[] xformOpOrder = ["xformOp:translate"] }
def DomeLight "Sky" {}
"#,
    );
    write(
        "wall.ron",
        r#"(
    environment: Constant(radiance: (1, 1, 1)),
    materials: { "m": MaterialX(file: "paint.mtlx", material: "Paint") },
    meshes: { "wall": Quad() },
    instances: [Single(of: "wall", material: "m")],
    camera: LookAt(eye: (0, 3, 0.01), target: (0, 0, 0)),
)"#,
    );
    fs::create_dir(place.path("tex")).unwrap();
    let picture = |name: &str, texel: fn(u32, u32) -> [u8; 3]| {
        let picture = image::RgbImage::from_fn(8, 8, |x, y| image::Rgb(texel(x, y)));
        picture.save(place.path(&format!("tex/{name}.png"))).unwrap();
    };
    picture("dots", |x, _| if x < 4 { [255, 64, 64] } else { [32, 32, 255] });
    picture("shade", |_, y| [255, 255 - 16 * y as u8, 128]);
    place
}

#[test]
#[cfg(feature = "usd")]
fn materials_of_documents_are_shown_in_stages_and_scenes() {
    let picture = |factor: &str, scene: &str| {
        let place = painted(factor);
        let told = place.ok(&["render", scene, "-f", "1", "--size", "48x48", "--samples", "4", "-o", "a.png"]).stderr;
        assert!(!told.contains("warning"), "{told}");
        decode(&place.path("a.png"))
    };
    for scene in ["wall.usda", "wall.ron"] {
        let bright = picture("1", scene);
        assert!(bright != picture("0.25", scene), "{scene}");
        // The picture repeats four times along its rows: some pixels are red and others blue.
        let row = &bright[..];
        let is = |first: usize, second: usize| move |p: &[u8]| i32::from(p[first]) > i32::from(p[second]) + 40;
        assert!(row.chunks(3).any(is(0, 2)) && row.chunks(3).any(is(2, 0)), "{scene}");
    }
}

#[test]
#[cfg(feature = "usd")]
fn faults_of_documents_name_their_line_or_the_materials() {
    let place = painted("1");
    let document = fs::read_to_string(place.path("paint.mtlx")).unwrap();
    let scene = fs::read_to_string(place.path("wall.ron")).unwrap();
    fs::write(place.path("paint.mtlx"), document.replace("\"4, 4\"", "\"4, x\"")).unwrap();
    for scene in ["wall.usda", "wall.ron"] {
        place.fails(&["check", scene], 1, "paint.mtlx:6:7").assert_one_error("`4, x` of uvtiling is no vector2");
    }
    fs::write(place.path("paint.mtlx"), &document).unwrap();
    fs::write(place.path("wall.ron"), scene.replace("\"Paint\"", "\"Print\"")).unwrap();
    place.fails(&["check", "wall.ron"], 1, "no material `Print`, but `Paint`");
    fs::write(place.path("wall.ron"), scene.replace("paint.mtlx", "none.mtlx")).unwrap();
    place.fails(&["check", "wall.ron"], 1, "none.mtlx is no MaterialX document that exists");
}

#[test]
#[cfg(not(feature = "usd"))]
fn a_build_without_usd_says_how_to_get_it() {
    let place = Place::new(1);
    fs::write(place.path("a.usda"), "#usda 1.0\n").unwrap();
    place.fails(&["check", "a.usda"], 1, "--features usd");
    let (_, _): (fn(&std::path::Path) -> Vec<u8>, Option<Value>) = (decode, None);
}
