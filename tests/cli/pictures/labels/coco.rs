//! Boxes and masks of instances.

use super::{SIZE, json, numbers, place, render, run_script};
use serde_json::Value;
use std::collections::BTreeSet;

/// The pixels of COCO's compressed mask, in the order of columns.
fn unpacked(text: &str) -> Vec<bool> {
    let (mut counts, mut bytes): (Vec<i64>, _) = (Vec::new(), text.bytes());
    while bytes.len() > 0 {
        let (mut count, mut shift) = (0i64, 0);
        loop {
            let byte = i64::from(bytes.next().unwrap()) - 48;
            count |= (byte & 0x1f) << shift;
            shift += 5;
            if byte & 0x20 == 0 {
                count |= if byte & 0x10 != 0 { -1 << shift } else { 0 };
                break;
            }
        }
        if counts.len() > 2 {
            count += counts[counts.len() - 2];
        }
        counts.push(count);
    }
    counts.iter().enumerate().flat_map(|(index, &count)| vec![index % 2 == 1; count as usize]).collect()
}

#[test]
fn masks_are_the_pixels_of_their_instances() {
    let place = place();
    render(&place, &["--labels", "coco,instance:npy"]);
    let coco = json(&place, "out/coco.json");
    let names: Vec<_> = coco["categories"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["ball", "floor"]);
    assert_eq!(coco["images"].as_array().unwrap().len(), 4);
    let annotations = coco["annotations"].as_array().unwrap();
    assert_eq!(annotations.len(), 12);
    let ids: BTreeSet<u64> = annotations.iter().map(|it| it["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, (1..=12).collect());
    for annotation in annotations {
        let frame = annotation["image_id"].as_u64().unwrap();
        let instances = numbers(&place, &format!("out/{frame:04}.instance.npy"));
        let instance = annotation["instance_id"].as_i64().unwrap() as i32;
        let mask = mask(annotation, "segmentation");
        let column_major = |at: usize| instances[at % SIZE.1 * SIZE.0 + at / SIZE.1] == instance;
        let expected: Vec<bool> = (0..instances.len()).map(column_major).collect();
        assert_eq!(mask, expected);
        let (columns, rows): (BTreeSet<_>, BTreeSet<_>) =
            (0..mask.len()).filter(|&at| mask[at]).map(|at| (at / SIZE.1, at % SIZE.1)).unzip();
        let side = |of: &BTreeSet<usize>| (of.first().copied().unwrap(), of.len());
        let ((x, width), (y, height)) = (side(&columns), side(&rows));
        assert_eq!(annotation["bbox"], serde_json::json!([x, y, width, height]));
        assert_eq!(annotation["area"], mask.iter().filter(|&&inside| inside).count());
    }
}

/// The mask of an annotation.
fn mask(annotation: &Value, kind: &str) -> Vec<bool> {
    unpacked(annotation[kind]["counts"].as_str().unwrap())
}

/// Number of pixels in both masks divided by that in any of them.
fn overlap(a: &[bool], b: &[bool]) -> f64 {
    let count = |both: fn(bool, bool) -> bool| a.iter().zip(b).filter(|(a, b)| both(**a, **b)).count();
    count(|a, b| a && b) as f64 / count(|a, b| a || b) as f64
}

/// The right ball is seen whole, the left one is half outside of the picture at first, and a wall hides a part of a third.
#[test]
fn whole_boxes_and_masks_contain_what_is_hidden() {
    let place = place();
    let more = r#"
        Single(of: "ball", translate: (0, 1, -6), material: "red"),
        Single(of: "floor", translate: (0, 0, -4), rotate: (90, 0, 0), scale: 3, material: "blue"),
        Single(of: "floor", scale: 40"#;
    let scene = super::SCENE.replace("Single(of: \"floor\", scale: 40", more).replace("(-2, 1, 0)", "(-5.5, 1, 0)");
    std::fs::write(place.path("scene.ron"), scene).unwrap();
    render(&place, &["--frames", "1", "--labels", "coco"]);
    let coco = json(&place, "out/coco.json");
    let annotation = |instance: u64| {
        let all = coco["annotations"].as_array().unwrap();
        all.iter().find(|it| it["instance_id"] == instance).unwrap()
    };
    let of = |instance: u64, kind: &str| -> [f64; 4] {
        let own = annotation(instance)[kind].as_array().unwrap();
        let values: Vec<f64> = own.iter().map(|it| it.as_f64().unwrap()).collect();
        values.try_into().unwrap()
    };
    let masks = |instance: u64| ["segmentation", "segmentation_whole"].map(|kind| mask(annotation(instance), kind));
    let (visible, whole) = (of(1, "bbox"), of(1, "bbox_whole"));
    assert!(visible.iter().zip(whole).all(|(a, b)| (a - b).abs() < 1.01), "{visible:?} {whole:?}");
    let [visible, whole] = masks(1);
    assert!(overlap(&visible, &whole) > 0.99);
    assert_eq!(annotation(1)["area_whole"], whole.iter().filter(|&&inside| inside).count());
    let (visible, whole) = (of(0, "bbox"), of(0, "bbox_whole"));
    assert!(visible[0] == 0.0 && whole[0] < -2.0, "{visible:?} {whole:?}");
    assert!((whole[0] + whole[2] - visible[0] - visible[2]).abs() < 1.01, "{visible:?} {whole:?}");
    let [visible, whole] = masks(0);
    assert!(overlap(&visible, &whole) > 0.98);
    let (visible, whole) = (of(2, "bbox"), of(2, "bbox_whole"));
    assert!(whole[3] > visible[3] + 1.0 && whole[2] >= visible[2] - 1.01, "{visible:?} {whole:?}");
    let [visible, whole] = masks(2);
    assert!(visible.iter().zip(&whole).filter(|(visible, whole)| **visible && !**whole).count() <= 2);
    // A sphere fills pi / 4 of its box.
    let [_, _, width, height] = of(2, "bbox_whole");
    let area = annotation(2)["area_whole"].as_f64().unwrap() / (width * height);
    assert!((area - std::f64::consts::FRAC_PI_4).abs() < 0.05, "{area}");
    // The floor reaches behind the camera.
    assert!(annotation(4).get("bbox_whole").is_none() && annotation(4).get("segmentation_whole").is_none());
}

/// Masks of whole objects that nothing hides are the visible ones, also of strands, and in pictures of a lens that bends lines.
#[test]
fn whole_masks_follow_strands_and_lenses() {
    let place = place();
    let lines = "v -3 0 0\nv -2 3 0\nv -0.5 3.5 0\nl 1 2 3\n";
    std::fs::write(place.path("bow.obj"), lines).unwrap();
    let matrix = "[[1, 0, 0, 0], [0, 1, 0, 2], [0, 0, 1, 9], [0, 0, 0, 1]]";
    let lens = r#""camera_model": "OPENCV", "fl_x": 90, "fl_y": 90, "cx": 48, "cy": 27, "k1": 0.4, "k2": 0.2"#;
    let cameras =
        format!(r#"{{{lens}, "w": 96, "h": 54, "frames": [{{"file_path": "1.png", "transform_matrix": {matrix}}}]}}"#);
    std::fs::write(place.path("cameras.json"), cameras).unwrap();
    let scene = super::SCENE
        .replace("\"floor\": Quad()", "\"floor\": Quad(), \"bow\": Curves(file: \"bow.obj\", width: 0.8)")
        .replace(
            "Single(of: \"floor\", scale: 40",
            "Single(of: \"floor\", translate: (2.5, 3, -1), rotate: (90, 0, 0), scale: 2",
        )
        .replace(
            "Single(of: \"ball\", translate: (-2, 1, 0), material: \"red\", motion: \"slide\")",
            "Single(of: \"bow\")",
        )
        .replace("(2, 1, -3)", "(2, 0, 0)");
    std::fs::write(place.path("scene.ron"), scene).unwrap();
    render(&place, &["--cameras", "cameras.json", "--labels", "coco"]);
    let coco = json(&place, "out/coco.json");
    let annotations = coco["annotations"].as_array().unwrap();
    assert_eq!(annotations.len(), 3);
    for annotation in annotations {
        let [visible, whole] = ["segmentation", "segmentation_whole"].map(|kind| mask(annotation, kind));
        let overlap = overlap(&visible, &whole);
        assert!(annotation["area"].as_u64().unwrap() > 100 && overlap > 0.97, "{annotation} {overlap}");
    }
}

#[test]
fn pycocotools_reads_what_is_written() {
    let place = place();
    render(&place, &["--frames", "1-2", "--labels", "coco:materials,material:npy,instance:npy"]);
    let script = r#"
import numpy as np
from pycocotools.coco import COCO
coco = COCO("out/coco.json")
assert sorted(it["name"] for it in coco.loadCats(coco.getCatIds())) == ["blue", "default", "red"]
seen = 0
for annotation in coco.loadAnns(coco.getAnnIds()):
    name = coco.loadImgs([annotation["image_id"]])[0]["file_name"][:-4]
    instance, material = (np.load(f"out/{name}.{kind}.npy") for kind in ("instance", "material"))
    category = {"red": 0, "blue": 1}[coco.cats[annotation["category_id"]]["name"]]
    expected = (instance == annotation["instance_id"]) & (material == category)
    assert np.array_equal(coco.annToMask(annotation).astype(bool), expected) and expected.sum() == annotation["area"]
    seen += 1
assert seen == 6, seen
"#;
    run_script(&place, "pycocotools", script);
}
