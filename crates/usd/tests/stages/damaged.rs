//! Damaged and hostile files: an error or a stage, but neither a panic nor an endless run.

use crate::{
    inline::{Layers, read},
    numbers,
};
use std::path::Path;
use throng_usd::StageOptions;

/// A sequence of numbers that is the same in each run (PCG).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}

/// Reads many variants of a file: shortened, with other bytes, and with parts that are repeated.
fn damage(content: &[u8], name: &str, variants: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let mut random = Random(7);
    for variant in 0..variants {
        let mut bytes = content.to_vec();
        match variant % 3 {
            0 => bytes.truncate(random.below(bytes.len())),
            1 => (0..=random.below(8)).for_each(|_| {
                let at = random.below(bytes.len());
                bytes[at] = random.below(256) as u8;
            }),
            _ => {
                let (from, to) = (random.below(bytes.len()), random.below(bytes.len()));
                let length = random.below(64).min(bytes.len() - from.max(to));
                bytes.copy_within(from..from + length, to);
            }
        }
        std::fs::write(&path, &bytes).unwrap();
        // Errors and stages are equally good; a panic would end the test, and a loop would never end it.
        let _ = throng_usd::read(&path, &StageOptions::default());
    }
}

fn damage_file(folder: &Path, name: &str, variants: usize) {
    let path = folder.join(name);
    damage(&std::fs::read(&path).unwrap(), path.file_name().unwrap().to_str().unwrap(), variants);
}

#[test]
fn damaged_text_ends_with_an_error_or_a_stage() {
    let text = "#usda 1.0
(upAxis = \"Z\"\nmetersPerUnit = 1\nstartTimeCode = 1\nendTimeCode = 5)
def Xform \"w\" (variants = { string v = \"a\" }\nprepend variantSets = \"v\") {
    double3 xformOp:translate.timeSamples = { 1: (0, 0, 0), 5: (1, 2, 3) }
    uniform token[] xformOpOrder = [\"xformOp:translate\"]
    def Mesh \"m\" { int[] faceVertexCounts = [3]\nint[] faceVertexIndices = [0, 1, 2]\npoint3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
        texCoord2f[] primvars:st = [(0, 0), (1, 0), (0, 1)] (interpolation = \"vertex\")
        rel material:binding = </w/mat> }
    def \"i\" (instanceable = true\nreferences = </w/m>) {}
    def PointInstancer \"p\" { rel prototypes = [</w/m>]\nint[] protoIndices = [0, 0]\npoint3f[] positions = [(1, 0, 0), (2, 0, 0)] }
    def Material \"mat\" { token outputs:surface.connect = </w/mat/s.outputs:surface>
        def Shader \"s\" { uniform token info:id = \"UsdPreviewSurface\"\ncolor3f inputs:diffuseColor = (1, 0, 0)\ntoken outputs:surface } }
    def Camera \"c\" { float focalLength = 35 }
    def SphereLight \"l\" { float inputs:intensity = 5 }
    variantSet \"v\" = { \"a\" { def Cube \"a\" {} } } }
";
    damage(text.as_bytes(), "a.usda", 600);
}

#[test]
fn damaged_binary_files_end_with_an_error_or_a_stage() {
    let Some(folder) = numbers::scenes() else { return };
    damage_file(&folder, "arnold-usd/test_0185/scene.usd", 60);
    damage_file(&folder, "arnold-usd/test_1427.3/test.usd", 200);
    damage_file(&folder, "openusd-instancing/testUsdImagingGLInheritedPurpose/InheritedPurposes.usd", 200);
    damage_file(&folder, "blender/scatter_blender5.0.1_387.usdc", 60);
}

#[test]
fn damaged_materialx_ends_with_an_error_or_materials() {
    damage(include_bytes!("../../../../tools/torture/samples/material.mtlx"), "a.mtlx", 600);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mtlx");
    let read = |text: &str| {
        std::fs::write(&path, text).unwrap();
        let stage = throng_usd::read(&path, &StageOptions::default());
        let materials = throng_usd::read_materials(&path, &[]);
        (stage.map(|stage| stage.census.prims), materials)
    };
    for depth in [1000, 200_000] {
        let (open, close) = ("<nodegraph name=\"a\">".repeat(depth), "</nodegraph>".repeat(depth));
        let _ = read(&format!("<materialx>{open}{close}</materialx>"));
    }
    let entities = "<!DOCTYPE a [<!ENTITY a \"aa\"><!ENTITY b \"&a;&a;\">]><materialx>&b;</materialx>";
    assert!(read(entities).1.is_err());
    // Nodes that contain twice the next kind.
    let mut nodes = String::from("<materialx>");
    for level in 0..60 {
        let inner = format!("<n{0} name=\"a\" type=\"float\" /><n{0} name=\"b\" type=\"float\" />", level + 1);
        nodes += &format!(
            "<nodedef name=\"D{level}\" node=\"n{level}\" /><nodegraph name=\"G{level}\" nodedef=\"D{level}\">{inner}\
             <output name=\"out\" type=\"float\" nodename=\"a\" /></nodegraph>"
        );
    }
    let prims = read(&(nodes + "<n0 name=\"x\" type=\"float\" /></materialx>")).0.unwrap();
    assert!(prims > 200 && prims < 20_000, "{prims}");
}

#[test]
fn deep_files_end_with_an_error_or_a_stage() {
    for depth in [100, 1000, 20_000, 200_000] {
        let text = "def \"a\" {\n".repeat(depth) + &"}\n".repeat(depth);
        let result = Layers::new(&[("a.usda", &text)]).read("a.usda", &StageOptions::default());
        assert_eq!(result.is_ok(), depth == 100);
    }
}

#[test]
fn layers_that_include_themselves_are_errors() {
    let cycles = [
        "(subLayers = [@./a.usda@])",
        "def \"a\" (references = @./a.usda@</a>) {}",
        "def \"a\" (references = </b>) {}\ndef \"b\" (references = </a>) {}",
        "def \"a\" { def \"b\" (references = </a>) {} }",
        "def \"a\" (inherits = </a>) {}",
    ];
    for text in cycles {
        let layers = Layers::new(&[("a.usda", text)]);
        let result = layers.read("a.usda", &StageOptions::default());
        assert!(result.is_err(), "{text}");
    }
}

#[test]
fn empty_and_foreign_files_are_errors() {
    for content in ["", "#usda", "hello", "PXR-USDC", "PK\u{3}\u{4}"] {
        for name in ["a.usd", "a.usda", "a.usdc", "a.usdz"] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(name);
            std::fs::write(&path, content).unwrap();
            assert!(throng_usd::read(&path, &StageOptions::default()).is_err(), "{name}: {content}");
        }
    }
    let gone = throng_usd::read(Path::new("/gone.usda"), &StageOptions::default()).unwrap_err();
    assert!(gone.message.starts_with("cannot be read: "), "{gone}");
    assert!(read("").groups[0].items.is_empty());
}
