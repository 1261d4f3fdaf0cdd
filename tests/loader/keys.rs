//! Animated values, following cameras, cuts, motion along curves and visibility, as users write them.

use super::*;
use throng_scene::anim::{Moment, camera_at, hidden_instances, posed_tables, world_transforms};

/// A complete scene with these sections, a ball that is carried along +X at 2 units per second, and a ball at rest.
fn keyed(sections: &str) -> String {
    format!(
        r#"({sections},
        curves: {{"track": CatmullRom(points: [(0, 1, 0), (100, 1, 0)])}},
        motions: {{"ride": (parts: [Follow(curve: "track", speed: 2, gap: 3)])}},
        meshes: {{"car": Sphere, "tower": Box(size: (1, 8, 1)), "other": Sphere}},
        groups: {{"pair": [Single(of: "other"), Single(of: "other", translate: (0, 3, 0))]}},
        instances: [
            Grid(of: "car", count: (3, 1, 1), spacing: (0, 0, 0), motion: "ride"),
            Single(of: "tower", translate: (10, 4, 0)),
        ])"#
    )
}

fn at(scene: &Scene, time: f64) -> Moment {
    Moment::of(scene, time)
}

#[test]
fn lights_the_environment_and_materials_have_keys() {
    let s = scene(
        r#"(render: (fps: 4, start: 1),
        environment: Gradient(zenith: keys([(0, (0, 0, 0)), (2, (1, 1, 1))]), horizon: (0, 0, 0), nadir: (0, 0, 0)),
        lights: [Point(position: keys([(0, (0, 0, 0)), (2, (4, 0, 0), ease: smooth)]), intensity: (1, 1, 1))],
        materials: {"m": Diffuse(color: keys([(0, (0, 0, 0)), (1, (1, 0, 0), ease: step), (2, (0, 1, 0))]))},
        meshes: {"a": Sphere}, instances: [Single(of: "a", material: "m")])"#,
    );
    // The scene itself has the values of the first frame, at 1 s.
    let zenith = |environment: &Environment| match environment {
        Environment::Gradient { zenith, .. } => zenith.x,
        other => panic!("{other:?}"),
    };
    assert_eq!(zenith(&s.environment), 0.5);
    let at = |time: f64| posed_tables(&s, &Moment::of(&s, time)).expect("tables");
    assert_eq!(at(2.0).environment.as_deref().map(zenith), Some(1.0));
    let Light::Point { position, .. } = at(0.5).lights[0] else { panic!() };
    assert_eq!(position.x, 4.0 * 0.15625);
    let row = s.names.materials.iter().position(|name| name == "m").expect("the material");
    assert_eq!(at(0.99).materials[row].color, Vec3::ZERO);
    assert_eq!(at(1.5).materials[row].color, Vec3::new(0.5, 0.5, 0.0));
}

#[test]
fn values_stay_valid_between_their_keys() {
    let s = scene(&format!(
        r#"(lights: [Sun(direction: keys([(0, (0, 0, 1)), (1, (0, 0, -1))]), irradiance: keys([(0, (1, 1, 1)), (1, (0, 0, 0), ease: bezier(0.3, -2, 0.7, 3))]))], {BALL})"#
    ));
    for i in 0..=20 {
        let tables = posed_tables(&s, &at(&s, f64::from(i) * 0.05)).expect("tables");
        let Light::Sun { direction, irradiance, .. } = tables.lights[0] else { panic!() };
        assert!(direction.is_normalized() && irradiance.min_element() >= 0.0, "{direction} {irradiance}");
    }
}

#[test]
fn scenes_without_keys_have_no_tables_of_their_own() {
    let s = scene(&format!("({BALL})"));
    assert!(s.timeline.is_none() && posed_tables(&s, &at(&s, 1.0)).is_none());
}

#[test]
fn cameras_follow_things_with_a_lag() {
    let s = scene(&keyed(
        r#"camera: LookAt(eye: On(of: "car", offset: (-5, 2, 0), lag: 0.5), target: "tower", roll: keys([(0, 0), (2, 90)]))"#,
    ));
    let pose = camera_at(&s, &at(&s, 10.0));
    // The camera follows the car at x = 20 with a lag of one unit, which is half a second.
    assert!((pose.eye - Vec3::new(14.0, 3.0, 0.0)).length() < 0.1, "{}", pose.eye);
    assert!(pose.target.distance(Vec3::new(10.0, 4.0, 0.0)) < 1e-4);
    let (_, right, _) = camera_at(&s, &at(&s, 2.0)).basis();
    assert!(right.y.abs() > 0.9, "{right}");
}

#[test]
fn copies_keep_their_gaps_on_a_curve() {
    let s = scene(&keyed("render: (frames: 3)"));
    let mut worlds = Vec::new();
    world_transforms(&s, &at(&s, 10.0), &mut worlds);
    for (world, x) in worlds.iter().zip([20.0, 17.0, 14.0]) {
        assert!(world.translation.distance(Vec3::new(x, 1.0, 0.0)) < 1e-3, "{world}");
    }
}

#[test]
fn cameras_are_cut_and_one_of_them_can_be_chosen() {
    let text = keyed(
        r#"cameras: {"a": LookAt(eye: (0, 0, 9), target: (0, 0, 0)), "b": LookAt(eye: (5, 0, 9), target: (0, 0, 0))},
        cuts: [(time: 2, to: "b"), (time: 3, to: "a")]"#,
    );
    let s = scene(&text);
    let eye = |time: f64| camera_at(&s, &at(&s, time)).eye.x;
    assert_eq!([0.0, 1.99, 2.0, 2.9, 3.0].map(eye), [0.0, 0.0, 5.0, 5.0, 0.0]);
    // While the shutter is open, a frame uses the camera of its own time.
    assert_eq!(camera_at(&s, &at(&s, 1.95).in_frame(2.0)).eye.x, 5.0);
    let dir = folder();
    let chosen = |name: &str| {
        let mut options = LoadOptions::default();
        options.model.camera = Some(name.into());
        load_with(&scene_path(&dir, &text), &options)
    };
    let only = chosen("b").expect("camera b");
    assert_eq!(camera_at(&only, &at(&only, 0.0)).eye.x, 5.0);
    let error = chosen("c").expect_err("there is no c").to_string();
    assert!(error.contains("there is no camera `c`"), "{error}");
}

#[test]
fn a_fitting_camera_has_the_whole_thing_in_the_picture() {
    let s = scene(&keyed(
        r#"render: (size: (400, 400)), camera: Fit(of: "tower", from: (1, 0.4, 1), margin: 0.1, fov: 30)"#,
    ));
    let pose = camera_at(&s, &at(&s, 0.0));
    let (forward, right, up) = pose.basis();
    let slope = 15f32.to_radians().tan();
    let mut most: f32 = 0.0;
    for corner in 0..8 {
        let side = |bit: u32, half: f32| if corner >> bit & 1 == 1 { half } else { -half };
        let p = Vec3::new(10.0 + side(0, 0.5), 4.0 + side(1, 4.0), side(2, 0.5)) - pose.eye;
        let across = [p.dot(right), p.dot(up)].map(|x| x / p.dot(forward) / slope);
        most = across.iter().fold(most, |most, x| most.max(x.abs()));
    }
    assert!((most - 0.8).abs() < 0.01, "{most}");
}

#[test]
fn a_flight_may_have_a_constant_pace() {
    let s = scene(&keyed(
        r#"camera: Spline(target: "car", pace: constant, keys: [(eye: (0, 5, 0), time: 0), (eye: (1, 5, 0), time: 1), (eye: (9, 5, 3), time: 2), (eye: (9, 5, 30), time: 4)])"#,
    ));
    let eye = |step: u32| camera_at(&s, &at(&s, f64::from(step) * 1e-3)).eye.as_dvec3();
    // Short chords approximate the arc length.
    let arc = |i: u32| (0..40).map(|j| eye(i * 40 + j).distance(eye(i * 40 + j + 1))).sum::<f64>();
    let arcs: Vec<f64> = (0..100).map(arc).collect();
    let mean = arcs.iter().sum::<f64>() / arcs.len() as f64;
    assert!(arcs.iter().all(|arc| (arc / mean - 1.0).abs() < 0.005), "{arcs:?}");
}

#[test]
fn things_are_hidden_by_keys() {
    let s = scene(&keyed(r#"render: (frames: 2)"#).replace(
        "Single(of: \"tower\"",
        r#"Single(of: "pair", visible: keys([(1, false), (2, true)], ends: hold)), Single(of: "other", visible: false), Single(of: "tower""#,
    ));
    let hidden = |time: f64| hidden_instances(&s, &at(&s, time));
    assert_eq!((hidden(0.0), hidden(1.9), hidden(2.0)), (vec![3, 4, 5], vec![3, 4, 5], vec![5]));
}

#[test]
fn faults_in_keys_cameras_and_motions_are_told() {
    for (sections, expected) in [
        ("environment: SunSky(elevation: keys([(0, 10), (1, 95)]))", "out of range"),
        ("lights: [Point(position: keys([(0, 1), (1, 2)]), intensity: (1, 1, 1))]", ""),
        ("render: (frames: keys([(0, 1), (1, 2)]))", "`keys` cannot stand here"),
        ("render: (exposure: keys([(1, 1), (0, 2)]))", "sort the keys"),
        ("render: (exposure: keys([(0, 1), (1, 99)]))", "exposure is 99"),
        (r#"camera: LookAt(eye: (0, 0, 1), target: "carr")"#, "did you mean `car`?"),
        (r#"camera: LookAt(eye: "car", target: "car")"#, "the camera looks at itself"),
        (r#"camera: LookAt(eye: 5, target: "car")"#, "(x, y, z), the name of something, or On("),
        (r#"camera: Fit(of: "nobody", from: (1, 0, 0))"#, "nothing that is placed is called `nobody`"),
        (r#"camera: Fit(from: (0, 1, 0))"#, "looks along `up`"),
        (r#"camera: Spline(keys: [(eye: (0, 0, 1)), (eye: (0, 0, 2))])"#, "`target` is missing"),
        (
            r#"cameras: {"a": LookAt(eye: (0, 0, 1), target: (0, 0, 0))}, cuts: [(time: 1, to: "b")]"#,
            "there is no camera `b`",
        ),
        (
            r#"cameras: {"a": LookAt(eye: (0, 0, 1), target: (0, 0, 0))}, cuts: [(time: 1, to: "a"), (time: 1, to: "a")]"#,
            "sort the cuts",
        ),
    ] {
        let told = error(&keyed(sections));
        assert!(told.starts_with("s.ron:") && told.contains(expected), "{sections}: {told}");
    }
    for (part, expected) in [
        (r#"Follow(curve: "no", speed: 1)"#, "unknown curve `no`"),
        (r#"Follow(curve: "track")"#, "give it a `speed` or a `distance`"),
        (r#"Follow(curve: "track", speed: 1, distance: 4)"#, "both `speed` and `distance`"),
        (r#"Follow(curve: "track", distance: keys([(1, 0), (0, 5)]))"#, "sort the keys"),
        ("Noise(rotate: (1, 1, 1), period: 0)", "the period must be above 0"),
        (r#"LookAt(target: "towel")"#, "did you mean `tower`?"),
        ("Keyframes(keys: [(time: 0)], repeat: true, ends: loop)", "remove `repeat`"),
    ] {
        let text = keyed("render: (frames: 2)").replace(r#"Follow(curve: "track", speed: 2, gap: 3)"#, part);
        let told = error(&text);
        assert!(told.starts_with("s.ron:") && told.contains(expected), "{part}: {told}");
    }
}

#[test]
fn a_group_carries_its_children() {
    let text = keyed("render: (frames: 2)")
        .replace("Grid(of: \"car\", count: (3, 1, 1), spacing: (0, 0, 0)", "Group(of: \"pair\", scale: 2")
        .replace("Single(of: \"tower\"", "Single(of: \"tower\", parent: \"pair\"");
    let s = scene(&text);
    let mut worlds = Vec::new();
    world_transforms(&s, &at(&s, 5.0), &mut worlds);
    // The pair is scaled by 2 and has moved 10 units in its own space.
    let tower = worlds[2].translation;
    assert!(tower.distance(Vec3::new(40.0, 10.0, 0.0)) < 1e-3, "{tower}");
    for (from, to, expected) in [
        ("parent: \"pair\"", "parent: \"pear\"", "there is no group `pear`"),
        ("Group(of: \"pair\"", "Single(of: \"car\"", "no entry above places the group `pair`"),
    ] {
        let told = error(&text.replace(from, to));
        assert!(told.contains(expected), "{told}");
    }
}
