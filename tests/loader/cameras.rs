//! Projections and lenses in scene files.

use super::*;
use throng::{
    loader::options::{LensOptions, ViewOptions},
    scene::Projection,
};
use throng_scene::anim::{self, Moment};

/// Two balls, one of them moving; a group of boxes; and a camera.
fn with_camera(camera: &str) -> String {
    format!(
        r#"(
        render: (frames: 3, fps: 1),
        motions: {{ "up": (parts: [Keyframes(keys: [(time: 0), (time: 2, translate: (0, 0, -4))])]) }},
        meshes: {{ "ball": Sphere, "box": Box() }},
        groups: {{ "pair": [Single(of: "box", translate: (-1, 0, 0)), Single(of: "box", translate: (1, 0, 2))] }},
        instances: [
            Single(of: "ball"),
            Single(of: "ball", translate: (0, 0, -1), motion: "up"),
            Group(of: "pair", translate: (0, 0, -10)),
        ],
        camera: {camera},
    )"#
    )
}

const STILL: &str = "LookAt(eye: (0, 0, 5), target: (0, 0, 1)";

/// Focus distances at the times of the three frames.
fn focus(scene: &Scene) -> [f32; 3] {
    [0.0, 1.0, 2.0].map(|time| {
        let pose = anim::camera_at(scene, &Moment::of(scene, time));
        pose.lens.expect("a lens").focus
    })
}

fn assert_near(found: [f32; 3], expected: [f32; 3]) {
    let near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-4);
    assert!(near, "{found:?} {expected:?}");
}

#[test]
fn a_lens_focuses_on_the_target_a_distance_a_point_or_a_name() {
    for (focus_on, expected) in [
        ("", [4.0; 3]),
        (", focus: 3", [3.0; 3]),
        (", focus: (3, 3, -2)", [7.0; 3]),
        (", focus: \"ball\"", [5.0; 3]),
        (", focus: \"ball:1\"", [6.0, 8.0, 10.0]),
        (", focus: \"pair\"", [14.0; 3]),
    ] {
        let lens = format!("{STILL}, lens: (f_stop: 2{focus_on}))");
        assert_near(focus(&scene(&with_camera(&lens))), expected);
    }
}

#[test]
fn keys_drive_focus_aperture_and_field_of_view() {
    let camera = r#"Spline(
        fov: 50,
        keys: [
            (eye: (0, 0, 5), target: (0, 0, 0), focus: "ball", radius: 0.2),
            (eye: (0, 0, 5), target: (0, 0, 0), fov: 30),
            (eye: (0, 0, 5), target: (0, 0, 0), focus: "pair"),
        ],
        lens: (radius: 0.1, focus: 8),
    )"#;
    let scene = scene(&with_camera(camera));
    assert_near(focus(&scene), [5.0, 8.0, 14.0]);
    let poses = [0.0, 1.0, 2.0].map(|time| anim::camera_at(&scene, &Moment::of(&scene, time)));
    assert_near(poses.map(|p| p.lens.expect("a lens").radius), [0.2, 0.1, 0.1]);
    let fov = poses.map(|p| match p.projection {
        Projection::Perspective { fov_y } => fov_y.to_degrees(),
        other => panic!("{other:?}"),
    });
    assert_near(fov, [50.0, 30.0, 50.0]);
}

#[test]
fn a_lens_is_shifted_by_shares_of_the_longer_side() {
    let scene = scene(&with_camera(&format!("{STILL}, fov: 60, shift: (0.25, -0.5))")));
    let pose = anim::camera_at(&scene, &Moment::of(&scene, 0.0));
    let slope = 30f32.to_radians().tan();
    // The centre of a picture with aspect ratio 2 is a quarter of its width to the right of the axis, and one height below it.
    let (_, middle) = pose.ray(0.0, 0.0, 2.0);
    let (across, down) = (middle.x / -middle.z, middle.y / -middle.z);
    assert!((across - 0.25 * 4.0 * slope).abs() < 1e-5 && (down + 2.0 * slope).abs() < 1e-5, "{across} {down}");
}

#[test]
fn flights_are_centripetal_unless_they_say_otherwise() {
    let eye = |rest: &str| {
        let keys = "(eye: (0, 10, 0)), (eye: (0, 0.5, 0)), (eye: (0.5, 0.5, 0)), (eye: (1, 0.5, 0))";
        let camera = format!("Spline(target: (0, 0, -20), keys: [{keys}]{rest})");
        let scene = scene(&with_camera(&camera));
        let heights = (0..=200).map(|i| anim::camera_at(&scene, &Moment::of(&scene, f64::from(i) / 100.0)).eye.y);
        heights.fold(f32::INFINITY, f32::min)
    };
    assert!((eye("") - 0.43975).abs() < 1e-3, "{}", eye(""));
    assert!(eye(", parametrisation: chordal") > 0.4);
    assert!((eye(", pace: constant") - 0.43975).abs() < 1e-3);
    assert!(eye(", parametrisation: uniform") < -0.19);
}

#[test]
fn projections_are_words() {
    for (text, expected) in [
        ("equirectangular", Projection::Equirectangular),
        ("orthographic(height: 3)", Projection::Orthographic { height: 3.0 }),
    ] {
        let camera = format!("{STILL}, projection: {text})");
        let scene = scene(&with_camera(&camera));
        assert_eq!(scene.camera.projection, expected);
    }
}

#[test]
fn optics_that_make_no_sense_are_refused() {
    let keys = |key: &str, rest: &str| {
        format!("Spline(keys: [(eye: (0, 0, 5), target: (0, 0, 0)), (eye: (0, 1, 5), target: (0, 0, 0), {key})]{rest})")
    };
    for (camera, message) in [
        (format!("{STILL}, lens: ())"), "the lens has no aperture"),
        (format!("{STILL}, lens: (f_stop: 2, radius: 1))"), "both `f_stop` and `radius`"),
        (format!("{STILL}, lens: (f_stop: 0))"), "the f-stop must be"),
        (format!("{STILL}, lens: (radius: -1))"), "the radius must not be negative"),
        (format!("{STILL}, lens: (radius: 1, focus: 0))"), "the distance must be above 0"),
        (format!("{STILL}, lens: (radius: 1, focus: \"bal\"))"), "did you mean `ball`?"),
        (format!("{STILL}, lens: (radius: 1, focus: \"ball:2\"))"), "is called `ball:2`"),
        (format!("{STILL}, lens: (radius: 1, blades: 2))"), "blades are 3 to 64"),
        (format!("{STILL}, lens: (radius: 1, ratio: 0))"), "the ratio must be"),
        (format!("{STILL}, lens: (radius: 1, sensor: 0))"), "no error"),
        (format!("{STILL}, projection: orthographic(height: 0))"), "the height must be above 0"),
        (format!("{STILL}, projection: fisheye)"), "unknown name `fisheye`"),
        (format!("{STILL}, shift: (200, 0))"), "the shift must be within 100"),
        (format!("{STILL}, projection: equirectangular, shift: (0.1, 0))"), "no lens to shift"),
        ("Fit(from: (0, 0, 1), shift: (0.1, 0))".to_owned(), "remove the shift, or use LookAt"),
        (keys("", ", parametrisation: even"), "centripetal"),
        (keys("focus: 3", ""), "the camera has no `lens` to focus"),
        (keys("f_stop: 3", ", lens: (radius: 1)"), "keys with an `f_stop` need"),
        (keys("radius: 3", ""), "keys with a `radius` need"),
        (keys("height: 3", ""), "only orthographic cameras have a `height`"),
        (keys("fov: 3", ", projection: equirectangular"), "only perspective cameras have a `fov`"),
        (keys("fov: 180", ""), "below 180 degrees"),
    ] {
        let found = error(&with_camera(&camera));
        assert!(found.contains(message), "{camera}: {found}");
    }
}

#[test]
fn flags_find_what_is_named_in_the_scene() {
    let dir = folder();
    let path = scene_path(&dir, &with_camera(&format!("{STILL})")));
    let load_focused = |name: &str| {
        let lens = LensOptions { f_stop: Some(2.8), focus_on: Some(name.to_owned()), ..LensOptions::default() };
        let view = ViewOptions { lens, ..ViewOptions::default() };
        let options = LoadOptions { view, ..LoadOptions::default() };
        load_with(&path, &options).map_err(|e| e.to_string())
    };
    assert_near(focus(&load_focused("pair").expect("loads")), [14.0; 3]);
    let error = load_focused("pairs").map(|_| ()).unwrap_err();
    assert_eq!(error, "--focus-on: nothing that is placed is called `pairs`: did you mean `pair`?");
}
