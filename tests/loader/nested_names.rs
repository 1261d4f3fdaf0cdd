//! Paths to objects in assemblies: cameras and lenses that follow them, and messages about invalid paths.

use super::*;
use throng_scene::anim::{self, Moment};

/// Rows of pairs of boxes, and a ball. At every level, some move by 2 along -Z per second. The lamp is the last object in the world.
fn with_camera(camera: &str) -> String {
    format!(
        r#"(
        render: (frames: 3, fps: 1),
        lights: [Point(position: (0, 9, 0), intensity: (9, 9, 9), radius: 0.1)],
        motions: {{ "away": (parts: [Keyframes(keys: [(time: 0), (time: 2, translate: (0, 0, -4))])]) }},
        meshes: {{ "ball": Sphere, "box": Box() }},
        groups: {{
            "pair": [Single(of: "box", translate: (-1, 0, 0)), Single(of: "box", translate: (1, 0, 2), motion: "away")],
            "row": [
                Single(of: "pair", nest: true, motion: "away"),
                Single(of: "pair", nest: true, translate: (0, 0, -3), rotate: (0, 90, 0)),
            ],
        }},
        instances: [
            Single(of: "ball"),
            Single(of: "row", translate: (0, 0, -10), nest: true, motion: "away"),
            Single(of: "row", translate: (0, 0, -20), nest: true),
        ],
        camera: {camera},
    )"#
    )
}

fn poses(scene: &Scene) -> [anim::CameraPose; 3] {
    [0.0, 1.0, 2.0].map(|time| anim::camera_at(scene, &Moment::of(scene, time)))
}

#[track_caller]
fn assert_near<const N: usize>(found: [f32; N], expected: [f32; N], name: &str) {
    let near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-4);
    assert!(near, "{name}: {found:?} instead of {expected:?}");
}

#[test]
fn lenses_focus_on_paths_whatever_moves_along_them() {
    for (name, expected) in [
        ("row.1/pair.1/box.0", [27.0; 3]),
        ("row.1/pair.0/box.0", [25.0, 27.0, 29.0]),
        ("row.0/pair.0/box.1", [13.0, 19.0, 25.0]),
        // A box without a number is the first one. The centre of a pair is between its boxes at rest.
        ("row.0/pair/box", [15.0, 19.0, 23.0]),
        ("row.1/pair.0", [24.0, 26.0, 28.0]),
        ("row.0/pair.1", [18.0, 20.0, 22.0]),
    ] {
        let camera = format!(r#"LookAt(eye: (0, 0, 5), target: (0, 0, 1), lens: (f_stop: 2, focus: "{name}"))"#);
        let scene = scene(&with_camera(&camera));
        assert_near(poses(&scene).map(|pose| pose.lens.expect("a lens").focus), expected, name);
    }
    let flag = LoadOptions {
        view: throng::loader::options::ViewOptions {
            lens: throng::loader::options::LensOptions {
                f_stop: Some(2.0),
                focus_on: Some("row.0/pair.0/box.1".into()),
                ..Default::default()
            },
            ..Default::default()
        },
        ..LoadOptions::default()
    };
    let dir = folder();
    let text = with_camera("LookAt(eye: (0, 0, 5), target: (0, 0, 1))");
    let scene = load_with(&scene_path(&dir, &text), &flag).expect("loads");
    assert_near(poses(&scene).map(|pose| pose.lens.expect("a lens").focus), [13.0, 19.0, 25.0], "--focus-on");
}

#[test]
fn cameras_follow_paths_and_turn_with_them() {
    let camera =
        r#"LookAt(eye: On(of: "row.1/pair.1/box.1", offset: (1, 0, 4), turn: true), target: "row.0/pair.1/box.0")"#;
    let found = poses(&scene(&with_camera(camera)));
    // The pair is rotated by 90 degrees, so the box is 2 to its right and moves to the left: -Z becomes -X.
    for (pose, time) in found.iter().zip([0.0, 1.0, 2.0]) {
        assert_near(pose.eye.into(), [2.0 - 2.0 * time + 4.0, 0.0, -24.0 - 1.0], "eye");
        assert_near(pose.target.into(), [0.0, 0.0, -12.0 - 2.0 * time], "target");
    }
}

#[test]
fn cameras_fit_what_is_in_assemblies() {
    let camera = |of: &str| format!(r#"Fit(of: "{of}", from: (0, 0, 1))"#);
    let pose = poses(&scene(&with_camera(&camera("row.1/pair.0/box.1"))))[0];
    assert_near([pose.target.x, pose.target.y], [1.0, 0.0], "target");
    assert!((pose.eye.z - -17.5).abs() < 3.0, "{pose:?}");
    // A nested row is framed as tightly as a copied one.
    let nested = with_camera(&camera("row"));
    let [nested, copied] = [nested.replace("nest: true", "nest: false"), nested].map(|text| poses(&scene(&text))[0]);
    assert_near(nested.eye.into(), copied.eye.into(), "row");
}

#[test]
fn flights_keep_out_of_assemblies() {
    let flight = |nest: bool| {
        scene(&format!(
            r#"(
            render: (frames: 9),
            meshes: {{ "box": Box(size: (2, 2, 2)), "ball": Sphere }},
            groups: {{ "tower": [Single(of: "box"), Single(of: "box", translate: (0, 2, 0))] }},
            instances: [Single(of: "ball", translate: (9, 9, 9)), Single(of: "tower", nest: {nest})],
            camera: Spline(
                keys: [(eye: (-4, 1.5, 0.25)), (eye: (0, 1.5, 0.25)), (eye: (4, 1.5, 0.25))],
                target: (0, 9, 0),
                clear_of: "tower",
            ),
        )"#
        ))
    };
    let path = |scene: &Scene| match &scene.camera.path {
        CameraPath::Spline(flight) => flight.keys().to_vec(),
        other => panic!("{other:?}"),
    };
    let nested = path(&flight(true));
    assert_eq!(nested, path(&flight(false)));
    let middle = nested.iter().find(|key| key.time == nested[nested.len() / 2].time).expect("a key");
    assert!(middle.eye.distance(Vec3::new(0.0, 1.5, 0.25)) > 0.5, "{middle:?}");
}

#[test]
fn paths_that_lead_to_nothing_are_told_where_they_end() {
    for (name, message) in [
        ("row.1/pai/box.0", "nothing in `row.1` is called `pai/box.0`: did you mean `pair.0` to `pair.1`?"),
        ("row.1/pair.7/box.0", "nothing in `row.1` is called `pair.7/box.0`: did you mean `pair.0` to `pair.1`?"),
        ("row/wheel", "nothing in `row.0` is called `wheel`: the things there are `pair.0` to `pair.1`"),
        ("row.0/pair.1/box.1/lid", "`row.0/pair.1/box.1` is a mesh, in which nothing has a name"),
        ("rows/pair", "nothing that is placed is called `rows/pair`: did you mean `row.0` to `row.1`?"),
        ("row.2", "did you mean `row.0` to `row.1`?"),
        ("pair", "it is in a group that is kept once; write its path, such as `row.0/pair.0`"),
        ("box", "write its path, such as `row.0/pair.0/box.0`"),
        ("wheel", "the things there are ball, row"),
    ] {
        let found = error(&with_camera(&format!(r#"LookAt(eye: (0, 0, 5), target: "{name}")"#)));
        assert!(found.contains(message), "{name}: {found}");
    }
}
