use super::*;
use crate::{Optics, parsed};
use proptest::prelude::*;
use throng_loader as loader;
use throng_scene::{CameraPath, Focus, Projection, Scene};

/// A scene around a camera section, with decoys that resemble cameras.
fn text(camera: &str) -> String {
    format!(
        "// camera: of a comment\n(\n    render: (frames: 48), /* camera: Orbit( */\n    materials: {{ \"camera: LookAt(\": Diffuse(), \
         r#\"a\" camera: \"b\"#: Diffuse() }},\n    meshes: {{ \"camera\": Sphere, \"ball\": Sphere }},\n    \
         groups: {{ \"cameras\": [Single(of: \"camera\")] }},\n    instances: [Single(of: \"cameras\"), Single(of: \"ball\")],\n\n    \
         // The view.\n{camera})\n// the end, camera: None\n"
    )
}

fn waypoint(eye: [f32; 3], target: [f32; 3]) -> Waypoint {
    Waypoint { eye: eye.into(), target: target.into(), ..Waypoint::default() }
}

fn flight(waypoints: &[Waypoint]) -> Flight {
    Flight { waypoints: waypoints.to_vec(), ..Flight::default() }
}

fn two() -> Vec<Waypoint> {
    let first = Waypoint { time: Some(0.0), ..waypoint([0.0, 1.0, 8.0], [0.0, 0.5, 0.0]) };
    let second = Waypoint { time: Some(1.5), fov: Some(30.0), ..waypoint([4.0, 2.0, 7.5], [0.0, 1.0, 0.0]) };
    vec![first, second]
}

fn saved(camera: &str, flight: &Flight) -> String {
    let old = text(camera);
    let new = save_flight(&old, None, flight).unwrap();
    let (before, after) = old.split_at(old.find("// The view.\n").unwrap() + 13);
    let new = new.strip_prefix(before).unwrap().strip_suffix(after.strip_prefix(camera).unwrap());
    new.unwrap().to_owned()
}

fn scene(text: &str) -> Scene {
    loader::build("test", &text.parse().unwrap()).unwrap()
}

#[test]
fn one_waypoint_stands_still_and_more_fly() {
    let one = flight(&[waypoint([0.0, 1.5, 8.0], [0.0, 0.1, 0.0])]);
    let still = saved("    camera: Orbit(target: (0, 1, 0), radius: 8, fov: 35, shutter: 0.5),\n", &one);
    assert_eq!(still, "    camera: LookAt(eye: (0, 1.5, 8), target: (0, 0.1, 0), fov: 35, shutter: 0.5),\n");
    let flown = saved("    camera: LookAt(eye: (0, 0, 1), target: \"ball\", fov: 35),\n", &flight(&two()));
    let expected = "    camera: Spline(\n        fov: 35,\n        keys: [\n            (eye: (0, 1, 8), target: (0, 0.5, 0), time: 0),\n            \
                    (eye: (4, 2, 7.5), target: (0, 1, 0), time: 1.5, fov: 30),\n        ],\n    ),\n";
    assert_eq!(flown, expected);
}

#[test]
fn a_flight_keeps_all_of_a_spline_but_its_path() {
    let old = "    camera: Spline(\n        fov: 50, // wide\n        // Out of it.\n        clear_of: \"ball\",\n        pace: smooth,\n        \
               keys: [(eye: (0, 9, 9), target: (0, 0, 0)), (eye: (1, 9, 9), target: (0, 0, 0))],\n    ),\n";
    let expected = "    camera: Spline(\n        fov: 50, // wide\n        // Out of it.\n        pace: constant,\n        keys: [\n            \
                    (eye: (0, 1, 8), target: (0, 0.5, 0), time: 0),\n            \
                    (eye: (4, 2, 7.5), target: (0, 1, 0), time: 1.5, fov: 30),\n        ],\n    ),\n";
    let new = Flight { pace: PaceChoice::Constant, ..flight(&two()) };
    assert_eq!(saved(old, &new), expected);
    let by_times = saved(old, &Flight { pace: PaceChoice::ByTimes, ..new });
    assert!(!by_times.contains("pace"), "{by_times}");
}

#[test]
fn a_flight_keeps_its_bank_and_the_ground_below_it_and_waypoints_their_roll() {
    let old = "    camera: Spline(above: (\"ball\", 6), smooth: 2, bank: 1, keys: [(eye: (0, 1, 9), target: (0, 0, 0), roll: 20), \
               (eye: (1, 9, 9), target: (0, 0, 0))]),\n";
    let mut read = saved_flight(&text(old), None).unwrap();
    assert_eq!([read.waypoints[0].roll, read.waypoints[1].roll], [Some(20.0), None]);
    read.waypoints[1].roll = Some(-5.0);
    let new = saved(old, &read);
    assert!(new.contains("above: (\"ball\", 6), smooth: 2, bank: 1, "), "{new}");
    assert!(new.contains("(eye: (1, 9, 9), target: (0, 0, 0), roll: -5)") && new.contains("roll: 20)"), "{new}");
    let still = saved(old, &flight(&read.waypoints[..1]));
    assert_eq!(still, "    camera: LookAt(eye: (0, 1, 9), target: (0, 0, 0), roll: 20),\n");
}

#[test]
fn a_file_without_a_camera_gets_one_at_its_end() {
    let one = flight(&[waypoint([0.0, 1.0, 8.0], [0.0, 0.0, 0.0])]);
    let camera = "camera: LookAt(eye: (0, 1, 8), target: (0, 0, 0))";
    let save = |text: &str| save_flight(text, None, &one).unwrap();
    let short = "(meshes: {\"a\": Sphere}, instances: [Single(of: \"a\")])";
    assert_eq!(save(short), format!("{}, {camera})", &short[..short.len() - 1]));
    let long = "(\n  meshes: {\"a\": Sphere},\n\n  instances: [Single(of: \"a\")] // all\n)\n";
    let expected =
        format!("(\n  meshes: {{\"a\": Sphere}},\n\n  instances: [Single(of: \"a\")], // all\n\n  {camera},\n)\n");
    assert_eq!(save(long), expected);
    let crlf = long.replace('\n', "\r\n");
    assert_eq!(save(&crlf), expected.replace('\n', "\r\n"));
    assert_eq!(save("(meshes: {}, instances: [], camera: None)"), format!("(meshes: {{}}, instances: [], {camera})"));
}

#[test]
fn a_camera_among_several_is_replaced_by_its_name() {
    let cameras = "    cameras: {\n        \"a\": Orbit(target: (0, 1, 0), radius: 8), // first\n        \
                   \"b\": LookAt(eye: (0, 0, 1), target: (0, 0, 0)),\n    },\n    cuts: [(time: 1, to: \"b\")],\n";
    let one = flight(&[waypoint([0.0, 1.0, 8.0], [0.0, 0.0, 0.0])]);
    let new = "LookAt(eye: (0, 1, 8), target: (0, 0, 0))";
    let old = text(cameras);
    let b = save_flight(&old, Some("b"), &one).unwrap();
    assert_eq!(b, old.replace("LookAt(eye: (0, 0, 1), target: (0, 0, 0))", new));
    let first = save_flight(&old, None, &one).unwrap();
    assert_eq!(first, old.replace("Orbit(target: (0, 1, 0), radius: 8)", new));
    let error = save_flight(&old, Some("c"), &one).unwrap_err().to_string();
    assert!(error.starts_with("there is no camera `c` in the scene file: "), "{error}");
    assert!(save_flight(&text(""), Some("c"), &one).unwrap_err().to_string().contains("save without a name"));
    let flown = save_flight(&old, Some("b"), &flight(&two())).unwrap();
    assert!(
        flown.contains("\n        \"b\": Spline(\n            keys: [\n                (eye: (0, 1, 8)"),
        "{flown}"
    );
}

#[test]
fn optics_are_those_of_the_flight_or_of_the_file() {
    let camera = "    camera: LookAt(eye: (0, 0, 4), target: (0, 0, 0), roll: 5, lens: (radius: 0.1, blades: 6)),\n";
    let mut new = flight(&[Waypoint { focus: Some(3.5), ..waypoint([0.0, 0.0, 8.0], [0.0, 0.0, 0.0]) }]);
    new.optics = Optics { fov: Some(25.0), up: Some(Vec3::X), f_stop: Some(2.8), ..Optics::default() };
    let saved_text = saved(camera, &new);
    // The default sensor for f-numbers, because the file has none.
    assert!(saved_text.contains("lens: (f_stop: 2.8, sensor: 0.02"), "{saved_text}");
    assert!(saved_text.contains(", focus: 3.5, blades: 6)"), "{saved_text}");
    assert!(saved_text.contains("fov: 25") && saved_text.contains("up: (1, 0, 0)") && !saved_text.contains("roll"));
    let view = scene(&text(&saved_text)).camera;
    assert_eq!(view.lens.unwrap().focus, Focus::Distance(3.5));
    new.optics = Optics { radius: Some(0.0), ..Optics::default() };
    let pinhole = saved(camera, &new);
    assert!(!pinhole.contains("lens") && pinhole.contains("roll: 5"), "{pinhole}");
    new.optics = Optics { height: Some(3.0), ..Optics::default() };
    let parallel = scene(&text(&saved("    camera: LookAt(eye: (0, 0, 4), target: (0, 0, 0)),\n", &new)));
    assert_eq!(parallel.camera.projection, Projection::Orthographic { height: 3.0 });
    assert!(parallel.camera.lens.is_none());
}

#[test]
fn keys_have_the_optics_that_the_camera_has() {
    let all =
        Waypoint { height: Some(3.0), f_stop: Some(4.0), radius: Some(0.2), focus: Some(5.0), ..Waypoint::default() };
    let with = |w: Waypoint| Waypoint { eye: w.eye, target: w.target, time: w.time, fov: w.fov, ..all };
    let new = flight(&two().into_iter().map(with).collect::<Vec<_>>());
    let of_radius = "    camera: LookAt(eye: (0, 0, 4), target: (0, 0, 0), lens: (radius: 0.1)),\n";
    let saved_text = saved(of_radius, &new);
    assert!(saved_text.contains("time: 0, radius: 0.2, focus: 5),"), "{saved_text}");
    assert_eq!(scene(&text(&saved_text)).camera.tracks.aperture, [(0.0, 0.2), (1.5, 0.2)]);
    // Waypoints of a pinhole camera add a lens.
    let saved_text = saved("", &new);
    assert!(
        saved_text.contains("lens: (f_stop: 4, sensor: 0.02") && saved_text.contains("f_stop: 4, focus: 5),"),
        "{saved_text}"
    );
    scene(&text(&saved_text));
}

#[test]
fn texts_that_are_no_scene_say_where() {
    let error = save_flight("(\n  meshes: {},\n  instances: [}\n)", None, &flight(&two())).unwrap_err();
    assert!(error.to_string().starts_with("line 3, column "), "{error}");
    let not_up = flight(&[waypoint([0.0, 1.0, 0.0], [0.0, 0.0, 0.0])]);
    assert!(save_flight(&text(""), None, &not_up).unwrap_err().to_string().contains("looks along `up`"));
}

/// Cameras in various layouts.
const CAMERAS: [&str; 8] = [
    "",
    "camera: Orbit(target: (0, 1, 0), radius: 8, height: 3),",
    "    camera: Some(LookAt(eye: \"ball\", target: (0, 1, 0))),\n",
    "    camera: LookAt(eye: (0, 0, 3), target: (0, 1, 0), lens: (f_stop: 2, focus: \"ball\")), // here\n",
    "\tcamera :/* a */Spline ( /* ) */ keys :[(eye: (0, 0, 3), target: (0, 1, 0)), (eye: (1, 0, 3), target: (0, 1, 0))] , fov: keys([(0, 40), (2, 50)]) ),",
    "    camera: Spline(\n        // keys: of a comment\n        target: \"ball\",\n        keys: [\n            (eye: (0, 0, 3)),\n            \
     (eye: (1, 0, 3)),\n        ],\n    ),\n",
    "    cameras: { \"camera\": Fit(from: (1, 1, 1)), \"b\": Orbit(target: (0, 0, 0), radius: 2) },\n",
    "    cameras: {\n        r#\"ca\"mera\"#:\n            Spline(keys: [(eye: (0, 0, 3), target: (0, 1, 0)), (eye: (1, 0, 3), target: (0, 1, 0))], \
     lens: (radius: 0.3)),\n    },\n    cuts: [],\n",
];

fn any_number() -> impl Strategy<Value = f32> {
    prop_oneof![-100f32..100.0, -1e6f32..1e6, (-400i16..400).prop_map(|x| f32::from(x) / 4.0)]
}

prop_compose! {
    fn any_flight()(
        points in prop::collection::vec(prop::array::uniform5(any_number()), 1..7),
        steps in prop::collection::vec(0.01f32..9.0, 7),
        has_times: bool, fov in prop::option::of(1f32..170.0), pace in 0usize..5,
    ) -> Flight {
        let mut time = -2.0;
        let waypoint = |(point, step): (&[f32; 5], &f32)| {
            time += step;
            let [x, y, z, u, v] = *point;
            let eye = Vec3::new(x, y, z);
            Waypoint { eye, target: Vec3::new(u, v, z - 1.0 - z.abs()), time: has_times.then_some(time.into()), ..Waypoint::default() }
        };
        let waypoints: Vec<Waypoint> = points.iter().zip(&steps).map(waypoint).collect();
        let paces = [PaceChoice::Keep, PaceChoice::ByTimes, PaceChoice::Constant, PaceChoice::Smooth, PaceChoice::Bezier([0.5, 0.0, 0.25, 1.0])];
        Flight { waypoints, optics: Optics { fov, ..Optics::default() }, pace: paces[pace] }
    }
}

proptest! {
    #[test]
    fn what_was_saved_is_loaded_and_nothing_else_is_touched(flight in any_flight(), camera in 0..CAMERAS.len(), crlf: bool) {
        let ends = |text: String| if crlf { text.replace('\n', "\r\n") } else { text };
        prop_assume!(flight.check(Vec3::Y).is_ok());
        let old = ends(text(CAMERAS[camera]));
        let new = save_flight(&old, None, &flight).unwrap();
        let loaded = saved_flight(&new, None).unwrap();
        let bare = |waypoint: &Waypoint| Waypoint { time: waypoint.time.filter(|_| flight.waypoints.len() > 1), ..*waypoint };
        prop_assert_eq!(loaded.waypoints, flight.waypoints.iter().map(bare).collect::<Vec<_>>());
        let section = ends(CAMERAS[camera].to_owned());
        let (before, after) = old.split_at(old.find("// The view.").unwrap() + ends("// The view.\n".to_owned()).len());
        prop_assert!(new.starts_with(before), "{}", new);
        prop_assert!(new.ends_with(after.strip_prefix(section.as_str()).unwrap()), "{}", new);
        prop_assert!(!crlf || !new.replace("\r\n", "").contains('\n'));
        // Saving again changes nothing.
        prop_assert_eq!(&save_flight(&new, None, &flight).unwrap(), &new);
        let file = parsed(&new).unwrap();
        prop_assert_eq!(file.instances.len(), 2);
        let path = scene(&new).camera.path;
        match (&path, flight.waypoints.len()) {
            (CameraPath::Still { eye, .. }, 1) => prop_assert_eq!(*eye, flight.waypoints[0].eye),
            (CameraPath::Spline(path), count) => {
                prop_assert_eq!(path.keys().len(), count);
                for (key, waypoint) in path.keys().iter().zip(&flight.waypoints) {
                    prop_assert_eq!((key.eye, key.target), (waypoint.eye, waypoint.target));
                }
            }
            _ => prop_assert!(false, "{:?}", path),
        }
    }
}
