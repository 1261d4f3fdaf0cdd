//! Materials, lights and skeletons of whole stages: of a few lines, and real ones in the folder in `THRONG_DATA`, compared with OpenUSD's.

use super::{inline::Layers, numbers::scenes};
use serde_json::Value;
use throng_usd::{Content, LightKind, NONE, Source, Stage, StageOptions};

/// Number of different names of the materials that visible shapes and subsets show, as `ComputeBoundMaterial` of OpenUSD 26.11 gives them.
/// `expected.jsonl` has the number of prims, of which each instance has its own.
const MATERIALS: [(&str, usize); 15] = [
    // From documents of MaterialX, which this build of OpenUSD cannot read.
    ("OpenChessSet/chess_set.usda", 15),
    ("intent-vfx/scenes/teapotScene.usd", 1),
    ("intent-vfx/scenes/simpleAssetScene.usd", 1),
    ("Vehicles/USD_Mini_Car_Kit/assets/vehicles/vehicleVariants.usda", 6),
    ("SubdivisionSurfaces/Creases_SpinningPyramids.usda", 1),
    ("blender/scatter_blender5.0.1_387.usdc", 4),
    ("arnold-usd/test_0185/scene.usd", 1),
    ("arnold-usd/test_0215/test.usda", 1),
    ("arnold-usd/test_0218/test.usda", 1),
    ("arnold-usd/test_1427.3/test.usd", 1),
    ("openusd-instancing/testUsdImagingGLInstancing/instance.usda", 4),
    ("openusd-instancing/testUsdImagingGLInstancing/instancedCubes.usda", 1),
    ("openusd-instancing/testUsdImagingGLInstancing/nestedInstance.usda", 4),
    ("openusd-instancing/testUsdImagingGLPointInstancer/pi_ni_material.usda", 1),
    ("openusd-instancing/testUsdImagingGLPointInstancer/pi_ni_material2.usda", 1),
];

#[test]
fn stages_have_the_lights_and_materials_of_openusd() {
    let Some(folder) = scenes() else { return };
    let lines = std::fs::read_to_string(folder.join("expected.jsonl")).unwrap();
    for line in lines.lines() {
        let wanted: Value = serde_json::from_str(line).unwrap();
        let file = wanted["file"].as_str().unwrap();
        let options = StageOptions { allow: vec![folder.clone()], ..StageOptions::default() };
        let stage = throng_usd::read(&folder.join(file), &options).unwrap();
        let lights: u64 = wanted["lights"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
        assert_eq!(stage.lights.len() as u64, lights, "{file}");
        if let Some((_, materials)) = MATERIALS.iter().find(|(known, _)| *known == file) {
            assert_eq!(stage.materials.len(), *materials, "{file}");
        }
        let shown = |content: &Content| match content {
            Content::Shape { materials, .. } => materials.iter().any(|material| *material != NONE),
            _ => false,
        };
        let mut items = stage.groups.iter().flat_map(|group| &group.items);
        let is_document = |layer: &std::path::PathBuf| layer.extension().is_some_and(|extension| extension == "mtlx");
        let has_materials = wanted["materials"] != 0 || stage.layers.iter().any(is_document);
        assert_eq!(items.any(|item| shown(&item.content)), has_materials, "{file}");
        assert!(stage.warnings.iter().all(|line| !line.contains("/__Prototype_")), "{:#?}", stage.warnings);
    }
}

/// Reads a stage of a few lines, with empty pictures beside it.
fn read(text: &str, pictures: &[&str]) -> Stage {
    let layers = Layers::new(&[("stage.usda", text)]);
    pictures.iter().for_each(|name| std::fs::write(layers.path(name), b"").unwrap());
    layers.read("stage.usda", &StageOptions::default()).unwrap()
}

/// A material whose colour reads a picture.
fn textured(name: &str, picture: &str) -> String {
    format!(
        r#"
def Material "{name}" {{
    token outputs:surface.connect = </{name}/Surface.outputs:surface>
    def Shader "Surface" {{
        uniform token info:id = "UsdPreviewSurface"
        color3f inputs:diffuseColor.connect = </{name}/Texture.outputs:rgb>
    }}
    def Shader "Texture" {{
        uniform token info:id = "UsdUVTexture"
        asset inputs:file = @{picture}@
    }}
}}
"#
    )
}

#[test]
fn a_stage_has_only_the_materials_and_pictures_that_are_shown() {
    let (hidden, shown) = (textured("Hidden", "a.png"), textured("Shown", "b.png"));
    let scene = r#"
def Xform "World" {
    rel material:binding = </Hidden>
    def Cube "Cube" { rel material:binding = </Shown> }
}
def DomeLight "Sky" { asset inputs:texture:file = @c.png@ }
"#;
    let stage = read(&format!("{hidden}{shown}{scene}"), &["a.png", "b.png", "c.png"]);
    let names: Vec<_> = stage.pictures.iter().filter_map(|picture| picture.path.file_name()?.to_str()).collect();
    assert_eq!(names, ["b.png", "c.png"]);
    let [material] = &stage.materials[..] else { panic!("{:?}", stage.materials) };
    let Some(Source::Picture(read)) = &material.surface.diffuse_color.source else { panic!("{material:?}") };
    assert_eq!((material.name.as_str(), read.picture), ("/Shown", 0));
    assert_eq!(stage.lights[0].kind, LightKind::Dome { picture: 1, pole_is_z: false });
}

#[test]
fn a_skinned_mesh_has_the_place_of_its_skeleton() {
    let scene = r#"
def SkelRoot "Root" {
    def Skeleton "Skel" {
        double3 xformOp:translate = (5, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        uniform token[] joints = ["A"]
        uniform matrix4d[] bindTransforms = [((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1))]
    }
    def Mesh "Mesh" {
        double3 xformOp:translate = (0, 7, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        rel skel:skeleton = </Root/Skel>
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 2]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
        int[] primvars:skel:jointIndices = [0] (interpolation = "constant")
        float[] primvars:skel:jointWeights = [1] (interpolation = "constant")
    }
}
"#;
    let stage = read(scene, &[]);
    assert_eq!(stage.warnings, Vec::<String>::new());
    let [item] = &stage.groups[0].items[..] else { panic!("{:?}", stage.groups) };
    let Content::Shape { skeleton, .. } = &item.content else { panic!("{item:?}") };
    assert_eq!((*skeleton, stage.skeletons[0].name.as_str()), (0, "/Root/Skel"));
    assert_eq!(item.group_from_item.first().translation, glam::DVec3::new(5.0, 0.0, 0.0));
}

#[test]
fn a_light_of_geometry_has_the_name_of_its_shape() {
    let scene = r#"
def GeometryLight "Light" { rel geometry = </World/Lamp> }
def Xform "World" { def Sphere "Lamp" {} }
"#;
    let stage = read(scene, &[]);
    assert_eq!((stage.lights[0].name.as_str(), &stage.lights[0].kind), ("/World/Lamp", &LightKind::Geometry));
    assert_eq!(stage.groups[0].items[0].name, "/World/Lamp");
}
