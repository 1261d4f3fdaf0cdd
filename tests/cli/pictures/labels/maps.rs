//! Maps with a value per pixel.

use super::{SCENE, SIZE, camera, floats, json, npy, numbers, place, points, render};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

#[test]
fn points_of_depths_lie_on_what_the_numbers_name() {
    let place = place();
    let labels = "depth,distance,normal,normal-camera,instance:npy,instance,material:npy,mesh:npy,transforms";
    render(&place, &["--frames", "1,3", "--labels", labels, "--shutter", "0.5"]);
    assert_eq!(npy(&place, "out/0001.depth.npy").0, "{'descr': '<f4', 'fortran_order': False, 'shape': (54, 96,), }");
    assert_eq!(
        npy(&place, "out/0001.normal.npy").0,
        "{'descr': '<f4', 'fortran_order': False, 'shape': (54, 96, 3,), }"
    );
    for (index, frame) in [1, 3].into_iter().enumerate() {
        let name = |kind: &str| format!("out/{frame:04}.{kind}.npy");
        let points = points(&place, index, &floats(&place, &name("depth")));
        let distances = floats(&place, &name("distance"));
        let instances = numbers(&place, &name("instance"));
        let normals = floats(&place, &name("normal"));
        // The first sphere has moved by half a unit in each frame.
        let centers = [[-2.0 + 0.5 * (frame - 1) as f64, 1.0, 0.0], [2.0, 1.0, -3.0]];
        let mut seen = BTreeMap::new();
        for (pixel, &instance) in instances.iter().enumerate() {
            *seen.entry(instance).or_insert(0) += 1;
            let Some((point, distance)) = points[pixel] else {
                assert_eq!((instance, distances[pixel]), (-1, f32::INFINITY));
                continue;
            };
            assert!((f64::from(distances[pixel]) / distance - 1.0).abs() < 1e-5);
            let normal = [0, 1, 2].map(|axis| f64::from(normals[3 * pixel + axis]));
            let off = match centers.get(instance as usize) {
                Some(center) => {
                    let from = [0, 1, 2].map(|axis| point[axis] - center[axis]);
                    let along = (0..3).map(|axis| from[axis] * normal[axis]).sum::<f64>();
                    assert!((along - 1.0).abs() < 1e-3, "{from:?} {normal:?}");
                    from.iter().map(|v| v * v).sum::<f64>().sqrt() - 1.0
                }
                None => point[1],
            };
            assert!(off.abs() < 1e-5 * distance, "pixel {pixel} of instance {instance} is {off} off");
        }
        assert!(seen.len() == 4 && seen.values().all(|&count| count > 30), "{seen:?}");
        let png = image::open(place.path(&format!("out/{frame:04}.instance.png"))).unwrap().into_luma16();
        assert!(png.into_raw().iter().map(|&value| i32::from(value) - 1).eq(instances.iter().copied()));
        let of = |kind: &str| numbers(&place, &name(kind));
        let (meshes, materials) = (of("mesh"), of("material"));
        let kinds: BTreeSet<_> = (0..instances.len()).map(|at| (instances[at], meshes[at], materials[at])).collect();
        assert_eq!(kinds.into_iter().collect::<Vec<_>>(), [(-1, -1, -1), (0, 0, 0), (1, 0, 1), (2, 1, 1)]);
    }
    let names = json(&place, "out/instance.json");
    assert_eq!(names[0], serde_json::json!({ "id": 0, "name": "ball.0", "mesh": "ball", "materials": ["red"] }));
    assert_eq!((&json(&place, "out/mesh.json")[1]["name"], names.as_array().unwrap().len()), (&"floor".into(), 3));
}

#[test]
fn normals_of_the_camera_face_it() {
    let place = place();
    render(&place, &["--frames", "1", "--labels", "normal-camera,instance:npy"]);
    let (normals, instances) = (floats(&place, "out/0001.normal-camera.npy"), numbers(&place, "out/0001.instance.npy"));
    for (normal, instance) in normals.as_chunks::<3>().0.iter().zip(instances) {
        let length = normal.iter().map(|v| v * v).sum::<f32>();
        assert_eq!(length > 0.99, instance >= 0);
        assert!(
            instance != 2 || normal[1] < -0.9 && normal[2] < 0.0,
            "the floor's normal {normal:?} points up, to the camera"
        );
    }
}

#[test]
fn flow_is_the_way_to_the_next_frame_in_every_format() {
    let place = place();
    render(&place, &["--frames", "2", "--labels", "flow,flow:flo,flow:kitti,instance:npy,depth,transforms"]);
    let flow = floats(&place, "out/0002.flow.npy");
    let flo = fs::read(place.path("out/0002.flow.flo")).unwrap();
    assert!(flo[12..].as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).eq(flow.iter().copied()));
    let kitti = image::open(place.path("out/0002.flow.png")).unwrap().into_rgb16().into_raw();
    let instances = numbers(&place, "out/0002.instance.npy");
    let depths = floats(&place, "out/0002.depth.npy");
    let focal = camera(&json(&place, "out/transforms.json"), 0)("fl_x");
    for (pixel, &[right, down]) in flow.as_chunks::<2>().0.iter().enumerate() {
        // Along the picture's rows, a movement keeps its depth.
        let expected = if instances[pixel] == 0 { 0.5 * focal / f64::from(depths[pixel]) } else { 0.0 };
        assert!((f64::from(right) - expected).abs() < 1e-3 && down.abs() < 1e-3, "{pixel}: {right} {down}");
        let coded = &kitti[3 * pixel..][..3];
        assert_eq!(coded[2], u16::from(instances[pixel] >= 0));
        let read = (f32::from(coded[0]) - 32_768.0) / 64.0;
        assert!(coded[2] == 0 || (read - right).abs() < 0.01);
    }
}

#[test]
fn depths_in_millimetres_and_open_exr_are_the_same() {
    let place = place();
    render(&place, &["--frames", "1", "--labels", "depth,depth:png,depth:exr"]);
    let depths = floats(&place, "out/0001.depth.npy");
    let png = image::open(place.path("out/0001.depth.png")).unwrap().into_luma16().into_raw();
    let exr = exr::prelude::read_first_flat_layer_from_file(place.path("out/0001.depth.exr")).unwrap();
    let exr = &exr.layer_data.channel_data.list[0];
    assert_eq!(exr.name.to_string(), "Z");
    assert!(exr.sample_data.values_as_f32().eq(depths.iter().copied()));
    for (depth, millimetres) in depths.into_iter().zip(png) {
        let expected = if depth < 65.5 { depth * 1000.0 } else { 0.0 };
        assert!((f32::from(millimetres) - expected).abs() <= 0.51, "{depth} {millimetres}");
    }
}

#[test]
fn regions_are_parts_of_whole_labels() {
    let place = place();
    render(&place, &["--frames", "1", "--labels", "distance,transforms"]);
    let (whole, all) = (floats(&place, "out/0001.distance.npy"), json(&place, "out/transforms.json"));
    render(&place, &["--frames", "1", "--labels", "distance,transforms", "--region", "10,20,30,16"]);
    let (part, own) = (floats(&place, "out/0001.distance.npy"), json(&place, "out/transforms.json"));
    let cut = |pixel: usize| whole[(20 + pixel / 30) * SIZE.0 + 10 + pixel % 30];
    assert!((0..30 * 16).map(cut).eq(part));
    let key = |of: &Value, key: &str| of[key].as_f64().unwrap();
    assert_eq!(
        (key(&own, "w"), key(&own, "cx"), key(&own, "cy")),
        (30.0, key(&all, "cx") - 10.0, key(&all, "cy") - 20.0)
    );
    assert_eq!(key(&own, "fl_x"), key(&all, "fl_x"));
}

#[test]
fn copies_in_nested_groups_are_numbered_one_by_one() {
    let place = place();
    let nested = SCENE.replace("motions:", r#"groups: { "pair": [Single(of: "ball", translate: (-1, 1, 0)), Single(of: "ball", translate: (1, 1, 0))] }, motions:"#);
    let nested = nested.replace(r#"Single(of: "floor""#, r#"Grid(of: "pair", nest: true, count: (3, 1, 1), spacing: (5, 0, 5), translate: (0, 0, 4)), Single(of: "floor""#);
    fs::write(place.path("scene.ron"), nested).unwrap();
    render(&place, &["--frames", "1", "--size", "96x54", "--labels", "depth,instance:npy,transforms"]);
    let names = json(&place, "out/instance.json");
    let names: Vec<&str> = names.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names[2..5], ["pair.0/ball.0", "pair.0/ball.1", "pair.1/ball.0"]);
    let points = points(&place, 0, &floats(&place, "out/0001.depth.npy"));
    let instances = numbers(&place, "out/0001.instance.npy");
    let mut seen = BTreeSet::new();
    for (&instance, point) in instances.iter().zip(points).filter(|(instance, _)| (2..8).contains(*instance)) {
        let (pair, ball) = ((instance - 2) / 2, (instance - 2) % 2);
        let center = [f64::from(5 * (pair - 1) + 2 * ball - 1), 1.0, 4.0];
        let (point, distance) = point.unwrap();
        let radius = (0..3).map(|axis| (point[axis] - center[axis]).powi(2)).sum::<f64>().sqrt();
        assert!((radius - 1.0).abs() < 1e-5 * distance, "{instance}: {point:?}");
        seen.insert(instance);
    }
    assert!(seen.len() >= 2, "{seen:?}");
}
