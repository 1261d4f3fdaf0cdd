//! Large terrains, flights above a ground, and bending meshes.

use super::*;
use throng_scene::anim::{self, Moment};

/// A scene with a terrain that rises by 20 over 40 units along +X.
fn on_slope(rest: &str) -> Result<Scene, String> {
    let dir = folder();
    let slope =
        image::ImageBuffer::<image::Luma<u16>, _>::from_fn(65, 65, |x, _| image::Luma([(x * 65535 / 64) as u16]));
    slope.save(dir.path().join("slope.png")).expect("writes");
    let text = format!(
        r#"(render: (frames: 9, fps: 1), meshes: {{"land": Terrain(size: (40, 20, 40), file: "slope.png"), "ball": Sphere, "tree": Cone()}},
        {rest})"#
    );
    load(&scene_path(&dir, &text)).map_err(|e| e.to_string())
}

const PLACED: &str = r#"instances: [Single(of: "land", translate: (100, 0, 0)), Single(of: "ball")]"#;

#[test]
fn a_terrain_of_a_picture_of_a_thousand_pixels_a_side_loads() {
    let dir = folder();
    let heights =
        image::ImageBuffer::<image::Luma<u16>, _>::from_fn(1025, 1025, |x, z| image::Luma([(x * z / 17) as u16]));
    heights.save(dir.path().join("heights.png")).expect("writes");
    let text = r#"(meshes: {"land": Terrain(size: (1024, 65535, 1024), file: "heights.png"), "box": Box()},
        instances: [Single(of: "land"), Single(of: "box", translate: (100.5, 0, -200.5), drop: "land")])"#;
    let scene = load(&scene_path(&dir, text)).unwrap_or_else(|e| panic!("{e}"));
    let mesh = scene.meshes[0].triangles().expect("triangles");
    assert_eq!((mesh.positions.len(), mesh.triangles.len()), (1025 * 1025, 2 * 1024 * 1024));
    // The position is between four pixels of the height map.
    let height = (612.0 * 311.0 + 613.0 * 312.0) / 2.0 / 17.0;
    let dropped = scene.instances[1].local.translation.y;
    assert!((dropped - height).abs() < 20.0, "{dropped} {height}");
}

#[test]
fn a_flight_keeps_above_a_ground_rolls_at_its_keys_and_leans_into_bends() {
    let flight = |fields: &str, keys: &str| on_slope(&format!("{PLACED}, camera: Spline({fields} keys: [{keys}])"));
    let keys = "(eye: (85, 0, 0), target: (90, 0, 0)), (eye: (100, 0, 8), target: (105, 0, 8), roll: 30), \
                (eye: (115, 4, 0), target: (119, 0, 0))";
    let scene = flight(r#"above: ("land", 6), smooth: 0,"#, keys).unwrap_or_else(|e| panic!("{e}"));
    let at = |time: f64| anim::camera_at(&scene, &Moment::of(&scene, time));
    let ground = |p: Vec3| 10.0 + 0.5 * (p.x - 100.0);
    for (time, above) in [(0.0, 6.0), (4.0, 6.0), (8.0, 10.0)] {
        let pose = at(time);
        assert!((pose.eye.y - ground(pose.eye) - above).abs() < 0.3, "{time}: {}", pose.eye);
        assert!((pose.target.y - ground(pose.target)).abs() < 0.3, "{time}: {}", pose.target);
    }
    let roll = |time: f64| {
        let (forward, right, _) = at(time).basis();
        // Positive if the right side points down, that is clockwise.
        right.angle_between(forward.cross(Vec3::Y)).to_degrees() * -right.y.signum()
    };
    assert!(roll(0.0).abs() < 0.01 && (roll(4.0) - 30.0).abs() < 0.1, "{} {}", roll(0.0), roll(4.0));
    // In a right turn, the camera leans to the right.
    let turn = "(eye: (90, 9, 0), target: (99, 9, 0)), (eye: (100, 9, 3), target: (109, 9, 9)), (eye: (104, 9, 13), target: (104, 9, 22))";
    for (bank, sign) in [("bank: 1,", 1.0), ("bank: -1,", -1.0), ("", 0.0)] {
        let scene = flight(bank, turn).unwrap_or_else(|e| panic!("{e}"));
        let pose = anim::camera_at(&scene, &Moment::of(&scene, 4.0));
        let side = pose.up.dot(pose.basis().0.cross(Vec3::Y));
        assert!(if sign == 0.0 { side == 0.0 } else { side * sign > 0.01 }, "{bank}: {side}");
    }
}

#[test]
fn flights_that_cannot_keep_above_a_ground_say_why() {
    let keys = "keys: [(eye: (85, 0, 0), target: (90, 0, 0)), (eye: (115, 0, 0), target: (119, 0, 0))]";
    for (fields, words) in [
        (r#"above: ("lnad", 6)"#, "lnad"),
        (r#"above: ("ball", 6)"#, "`ball` has no triangles: spheres are no ground"),
        (r#"above: ("land", 6), clear_of: "ball""#, "both `above` and `clear_of`: remove one"),
        ("smooth: 3", "`smooth` is for flights above a ground"),
        (r#"above: ("land", 6), smooth: -1"#, "must not be negative"),
    ] {
        let e = on_slope(&format!("{PLACED}, camera: Spline({fields}, {keys})")).err().unwrap_or_default();
        assert!(e.contains(words) && e.contains("s.ron:"), "{fields}: {e}");
    }
    let away = r#"camera: Spline(above: ("land", 6), keys: [(eye: (85, 0, 0), target: (90, 0, 0)), (eye: (150, 0, 0), target: (119, 0, 0))])"#;
    let e = on_slope(&format!("{PLACED}, {away}")).err().unwrap_or_default();
    assert!(e.contains("the flight leaves `land` at x = 120"), "{e}");
}

const WIND: &str = r#"motions: {"wind": (parts: [Sway(direction: (1, 0, 0), degrees: 20, period: 4, bend: (gusts: 0, poses: 8))],
    phase: wave(direction: (1, 0, 0), length: 16))}"#;

#[test]
fn trees_of_a_wood_bend_each_by_itself_and_keep_their_feet() {
    let scene = on_slope(&format!(
        r#"{WIND}, instances: [Grid(of: "tree", count: (5, 1, 1), spacing: (4, 0, 0), motion: "wind"), Single(of: "tree")]"#
    ));
    let scene = scene.unwrap_or_else(|e| panic!("{e}"));
    // All trees have equal rotations: eight poses to either side, and the tree at rest twice.
    assert_eq!((scene.meshes.len(), scene.palettes.len()), (18, 1));
    let shown = |time: f64| {
        let mut shown = Vec::new();
        anim::shown_meshes(&scene, &scene.instances, &[], &Moment::of(&scene, time), &mut shown);
        shown
    };
    // The trees are at -8, -4, 0, 4 and 8; crests are 16 apart.
    assert_eq!(shown(0.0), [0, 16, 0, 8, 0, 17]);
    assert_eq!(shown(1.0), [16, 0, 8, 0, 16, 17]);
    let mesh = |number: u32| scene.meshes[number as usize].triangles().expect("triangles");
    let (rest, bent) = (mesh(0), mesh(8));
    let top = |number: u32| {
        let all = mesh(number).positions.iter().copied().map(Vec3::from);
        all.max_by(|a, b| a.y.total_cmp(&b.y)).expect("vertices")
    };
    // The top of a trunk of length 1 that bends to 20 degrees; its angle grows with the square of the height.
    assert!(top(8).distance(Vec3::new(0.1157, 0.4880, 0.0)) < 2e-3, "{}", top(8));
    assert!((top(16) * Vec3::new(-1.0, 1.0, 1.0)).distance(top(8)) < 1e-5);
    for (a, b) in rest.positions.iter().zip(&bent.positions).filter(|(a, _)| a[1] == -0.5) {
        assert_eq!(a, b, "the foot does not move");
    }
    assert!(rest.positions.len() > 16 * 49, "the cone has vertices at many heights");
    assert_eq!(mesh(17).positions.len(), 49 * 3, "what does not bend stays as it was");
}

#[test]
fn groups_bend_as_one_mesh_with_their_materials() {
    let group = r#"materials: {"bark": Diffuse(color: (0.2, 0.1, 0)), "leaf": Diffuse(color: (0, 0.3, 0))},
        groups: {"wood": [Single(of: "pine", rotate: (0, 90, 0)), Single(of: "pine", translate: (4, 0, 0))],
            "pine": [Single(of: "tree", material: "bark"), Single(of: "ball", translate: (0, 3, 0), material: "leaf")]},"#;
    let all = |instances: &str| on_slope(&format!("{group} {WIND}, instances: [{instances}]"));
    let scene = all(r#"Grid(of: "pine", count: (3, 1, 1), spacing: (4, 0, 0), motion: "wind", jitter: (rotate: 180))"#);
    let scene = scene.unwrap_or_else(|e| panic!("{e}"));
    // The trees have different rotations, which are reduced to four directions.
    assert_eq!((scene.meshes.len(), scene.instances.len(), scene.meshes[0].slot_count), (65, 3, 2));
    let bounds = scene.meshes[0].bounds();
    assert!(bounds.min.distance(Vec3::new(-1.0, -0.5, -1.0)) < 0.02 && (bounds.max.y - 4.0).abs() < 1e-5, "{bounds:?}");
    assert_ne!(scene.material_slots[0], scene.material_slots[1]);
    let whole = all(r#"Single(of: "wood", motion: "wind")"#).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((whole.meshes.len(), whole.meshes[0].slot_count), (17, 2));
}

#[test]
fn what_cannot_bend_says_why() {
    let instances = |of: &str| format!(r#"instances: [Single(of: "{of}", motion: "wind")]"#);
    for (text, words) in [
        (format!("{WIND}, {}", instances("ball")), "a sphere has none: use another mesh"),
        (format!("{}, {}", WIND.replace("poses: 8", "poses: 0"), instances("tree")), "1 to 128 poses"),
        (format!("{}, {}", WIND.replace("poses: 8", "from: 1"), instances("tree")), "0 to 1, and below 1"),
        (
            format!("{}, {}", WIND.replace("poses: 8", "stiffness: 0.5"), instances("tree")),
            "the stiffness must be 1 to 8",
        ),
        (format!("{}, {}", WIND.replace("gusts: 0", "gusts: 2"), instances("tree")), "gusts must be 0 to 1"),
        (format!("{}, {}", WIND.replace("degrees: 20", "degrees: 170"), instances("tree")), "at most 120 degrees"),
        (format!("{}, {}", WIND.replacen("(1, 0, 0)", "(0, 1, 0)", 1), instances("tree")), "a horizontal direction"),
        (
            format!("{}, {}", WIND.replacen("direction: (1, 0, 0),", "", 1), instances("tree")),
            "a `direction` or an `axis`",
        ),
        (
            format!("{}, {}", WIND.replacen("period: 4", "period: 4, axis: (1, 0, 0)", 1), instances("tree")),
            "remove one",
        ),
    ] {
        let e = on_slope(&text).err().unwrap_or_default();
        assert!(e.contains(words) && e.contains("s.ron:"), "{text}: {e}");
    }
    let moving = r#"groups: {"pine": [Single(of: "tree", motion: "spin")]}"#;
    let motions = WIND.replacen("motions: {", r#"motions: {"spin": (parts: [Spin(period: 3)]), "#, 1);
    let e = on_slope(&format!("{moving}, {motions}, {}", instances("pine"))).err().unwrap_or_default();
    assert!(e.contains("a motion bends `pine`") && e.contains("moves or disappears by itself"), "{e}");
}
