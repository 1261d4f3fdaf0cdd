//! Numbers of real stages, compared with those of OpenUSD in `scenes/usd/expected.jsonl` of the folder in `THRONG_DATA`.

use crate::numbers;
use glam::DVec3;
use serde_json::Value;
use throng_usd::{Stage, StageOptions, UpAxis};

const VOLUME: &str = "expect.py counts a Volume, which throng leaves out, among the solids";
const DOUBLED: &str = "Blender writes all copies twice, and throng shows them once";

/// Numbers that differ, with the reason.
const DIFFERENT: &[(&str, &str, &str)] = &[
    ("blender/scatter_blender5.0.1_387.usdc", "meshes", DOUBLED),
    ("blender/scatter_blender5.0.1_387.usdc", "triangles", DOUBLED),
    ("blender/scatter_blender5.0.1_387.usdc", "faces", DOUBLED),
    ("openusd-instancing/testUsdImagingGLInstancing/instance.usda", "implicit", VOLUME),
    ("openusd-instancing/testUsdImagingGLInstancing/instance2.usda", "implicit", VOLUME),
    ("openusd-instancing/testUsdImagingGLInstancing/nestedInstance.usda", "implicit", VOLUME),
];

/// Boxes of stages with authored extents that are not those of their geometry. OpenUSD's boxes are made of these extents; here are the boxes
/// that it computes after they were removed.
const BOXES: &[(&str, [[f64; 3]; 2])] = &[
    ("testUsdImagingGLInstancing/instance.usda", [[-17.0, -3.860_07, -6.5], [4.25, 2.0, 10.5]]),
    ("testUsdImagingGLInstancing/instance2.usda", [[-15.0, -3.860_07, -6.5], [6.25, 2.0, 10.5]]),
    ("testUsdImagingGLInstancing/nestedInstance.usda", [[-17.0, -3.860_07, -6.5], [4.25, 2.0, 10.5]]),
    ("testUsdImagingGLPointInstancer/pi_basic.usda", [[-1.0, -1.0, -4.0], [5.0, 5.0, 2.0]]),
    ("testUsdImagingGLPointInstancer/pi_ni_material2.usda", [[-1.0; 3], [1.0; 3]]),
    ("testUsdImagingGLPointInstancer/pi_pi_varyingf.usda", [[-4.5, -1.0, -1.0], [12.0, 10.0, 6.0]]),
    ("testUsdImagingGLPointInstancer/pi_sibling_pi.usda", [[-2.0, -1.0, -2.0], [2.0, 1.0, 2.0]]),
    ("testUsdImagingGLPointInstancer/pi_sibling_prototype.usda", [[-2.0, -1.0, -4.0], [5.0, 5.0, 2.0]]),
];

#[test]
fn copies_that_blender_writes_twice_are_shown_once() {
    let Some(folder) = numbers::scenes() else { return };
    let file = folder.join("blender/scatter_blender5.0.1_387.usdc");
    let stage = throng_usd::read(&file, &StageOptions::default()).unwrap();
    // The hill, the three plants and their 387 copies.
    assert_eq!(numbers::numbers(&stage).meshes, 1 + 3 + 387);
    assert!(stage.warnings.iter().any(|warning| warning.contains("387 instances")), "{:?}", stage.warnings);
}

#[test]
fn stages_have_the_numbers_of_openusd() {
    let Some(folder) = numbers::scenes() else { return };
    let lines = std::fs::read_to_string(folder.join("expected.jsonl")).unwrap();
    let mut faults = Vec::new();
    for line in lines.lines() {
        let wanted: Value = serde_json::from_str(line).unwrap();
        let file = wanted["file"].as_str().unwrap();
        let start = std::time::Instant::now();
        let options = StageOptions { allow: vec![folder.clone()], ..StageOptions::default() };
        match throng_usd::read(&folder.join(file), &options) {
            Ok(stage) => faults.extend(compare(&stage, &wanted).into_iter().map(|fault| format!("{file}: {fault}"))),
            Err(error) => faults.push(format!("{file}: {error}")),
        }
        println!("{file}: {:?}", start.elapsed());
    }
    faults.retain(|fault| {
        let known = |(file, what, _): &&(&str, &str, &str)| fault.starts_with(&format!("{file}: {what} "));
        !DIFFERENT.iter().any(|different| known(&different))
    });
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

fn compare(stage: &Stage, wanted: &Value) -> Vec<String> {
    let found = numbers::numbers(stage);
    // The numbers are those of a build without MaterialX. OpenUSD counts its empty session layer.
    let is_document = |layer: &&std::path::PathBuf| layer.extension().is_some_and(|extension| extension == "mtlx");
    let layers = stage.layers.len() - stage.layers.iter().filter(is_document).count() + 1;
    let counts = [
        ("layers", layers as u64),
        ("native_instances", stage.census.native_instances),
        ("native_prototypes", stage.census.prototypes),
        ("pi_instances", stage.census.point_instances),
        ("meshes", found.meshes),
        ("triangles", found.triangles),
        ("faces", found.faces),
        ("points", found.points),
        ("implicit", found.solids),
    ];
    let mut faults: Vec<String> = counts
        .into_iter()
        .filter(|(name, found)| wanted[name].as_u64() != Some(*found))
        .map(|(name, found)| format!("{name} is {found}, not {}", wanted[name]))
        .collect();
    let mut check = |holds: bool, text: String| {
        if !holds {
            faults.push(text);
        }
    };
    // Prims with equal meshes share one here.
    let most = wanted["unique_meshes"].as_u64();
    check(most >= Some(found.unique_meshes), format!("unique_meshes is {}, above {most:?}", found.unique_meshes));
    let names: Vec<&str> = stage.cameras.iter().take(8).map(|camera| camera.name.as_str()).collect();
    check(wanted["cameras"] == serde_json::json!(names), format!("cameras are {names:?}, not {}", wanted["cameras"]));
    let up = if stage.up == UpAxis::Y { "Y" } else { "Z" };
    check(wanted["up_axis"] == up, format!("up_axis is {up}"));
    let meters = stage.meters_per_unit;
    check(
        wanted["meters_per_unit"] == meters,
        format!("meters_per_unit is {meters}, not {}", wanted["meters_per_unit"]),
    );
    let frames = stage.times.range.map(|(start, end)| [start, end, stage.times.per_second]);
    check(wanted["frames"] == serde_json::json!(frames), format!("frames are {frames:?}, not {}", wanted["frames"]));
    let file = wanted["file"].as_str().unwrap();
    let known = BOXES.iter().find(|(name, _)| file.ends_with(name)).map(|(_, corners)| *corners);
    let computed = wanted["world_box"].as_array().map(|corners| {
        std::array::from_fn(|corner| std::array::from_fn(|axis| corners[corner][axis].as_f64().unwrap()))
    });
    let bounds = known.or(computed).map(|corners: [[f64; 3]; 2]| corners.map(DVec3::from_array));
    let close = match (found.bounds, bounds) {
        (None, None) => true,
        (Some(corners), Some(wanted)) => {
            let size = (wanted[1] - wanted[0]).length();
            corners.iter().zip(wanted).all(|(corner, wanted)| (*corner - wanted).abs().max_element() <= 1e-3 * size)
        }
        _ => false,
    };
    check(close, format!("world_box is {:?}, not {bounds:?}", found.bounds));
    faults
}
