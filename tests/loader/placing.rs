//! Curves, and placements along curves and by rules, as users write them.

use super::*;

/// A scene with a terrain of 40 units that rises by 45 degrees along +X, with a straight road through its middle.
fn on_ramp(curves: &str, groups: &str, instances: &str) -> String {
    format!(
        r#"(curves: {{"road": CatmullRom(points: [(-20, 0, 0), (20, 0, 0)]), {curves}}},
        meshes: {{"ramp": Terrain(size: (40, 40, 40), file: "ramp.png"), "ball": Sphere, "box": Box(), "cone": Cone()}},
        groups: {{{groups}}},
        instances: [Single(of: "ramp"), {instances}])"#
    )
}

/// The common folder, with a ramp of heights, a mask whose right half is white, and lines.
fn land() -> TempDir {
    let dir = folder();
    let ramp =
        image::ImageBuffer::<image::Luma<u16>, _>::from_fn(65, 65, |x, _| image::Luma([(x * 65535 / 64) as u16]));
    ramp.save(dir.path().join("ramp.png")).expect("writes");
    let mask = image::GrayImage::from_fn(8, 8, |x, _| image::Luma([if x < 4 { 0 } else { 255 }]));
    mask.save(dir.path().join("mask.png")).expect("writes");
    let lines = "v 0 0 0\nv 3 0 0\nv 3 0 4\nv 9 9 9\no rail\nl 1 2\nl 2 3\no other\nl 1 4\nl 1 2 3 1\n";
    fs::write(dir.path().join("lines.obj"), lines).expect("writes");
    fs::write(dir.path().join("path.gltf"), GLTF_PATH).expect("writes");
    // Two times, each with an in-tangent, a position and an out-tangent.
    let (zero, step) = ([0.0; 3], [1.0, 0.0, 0.0]);
    let keys: [[f32; 3]; 6] = [zero, zero, step, step, [2.0, 0.0, 0.0], zero];
    let floats = [0.0, 2.0].iter().chain(keys.as_flattened());
    fs::write(dir.path().join("path.bin"), floats.flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>()).expect("writes");
    dir
}

/// A node that moves along a spline from the origin to (2, 0, 0). Its parent is offset by 10 along Y.
const GLTF_PATH: &str = r#"{"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}],
        "nodes": [{"name": "base", "translation": [0, 10, 0], "children": [1]}, {"name": "Car"}],
        "animations": [{"name": "drive", "channels": [{"sampler": 0, "target": {"node": 1, "path": "translation"}}],
            "samplers": [{"input": 0, "output": 1, "interpolation": "CUBICSPLINE"}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 2, "type": "SCALAR", "min": [0], "max": [2]},
            {"bufferView": 1, "componentType": 5126, "count": 6, "type": "VEC3"}],
        "bufferViews": [{"buffer": 0, "byteLength": 8}, {"buffer": 0, "byteOffset": 8, "byteLength": 72}],
        "buffers": [{"byteLength": 80, "uri": "path.bin"}]}"#;

fn loaded(text: &str) -> Result<Scene, String> {
    let dir = land();
    load(&scene_path(&dir, text)).map_err(|e| e.to_string().replace(&format!("{}/", dir.path().display()), ""))
}

fn placed(text: &str) -> Scene {
    loaded(text).unwrap_or_else(|e| panic!("{text}\n{e}"))
}

/// Positions of all instances except the first, in a scene without moving groups.
fn places(scene: &Scene) -> Vec<Vec3> {
    scene.instances[1..].iter().map(|i| i.local.translation).collect()
}

/// Height of the ramp at `p`.
fn ramp(p: Vec3) -> f32 {
    p.x + 20.0
}

fn distance_to_road(p: Vec3) -> f32 {
    p.z.abs()
}

#[test]
fn copies_along_a_curve_have_even_distances() {
    let s = placed(&on_ramp("", "", r#"Along(of: "box", curve: "road", spacing: 12, from: 2, offset: (3, 1, 1))"#));
    let expected = [-17.0, -5.0, 7.0, 19.0].map(|x| Vec3::new(x, 1.0, 3.0));
    for (p, q) in places(&s).iter().zip(expected) {
        assert!(p.distance(q) < 1e-3, "{p} {q}");
    }
    assert_eq!(s.instances.len(), 5);
    let s = placed(&on_ramp(
        "",
        "",
        r#"Along(of: "box", curve: "road", count: 3, to: 20, face: none, translate: (0, 5, 0))"#,
    ));
    let found = places(&s);
    assert!(found[0].distance(Vec3::new(-20.0, 5.0, 0.0)) < 1e-3 && found[2].distance(Vec3::Y * 5.0) < 1e-3);
}

#[test]
fn on_the_whole_of_a_closed_curve_copies_are_even() {
    let ring = r#""ring": CatmullRom(points: [(9, 0, 0), (0, 0, 9), (-9, 0, 0), (0, 0, -9)], closed: true)"#;
    let s = placed(&on_ramp(ring, "", r#"Along(of: "box", curve: "ring", spacing: 5)"#));
    let found = places(&s);
    let gaps: Vec<f32> = (0..found.len()).map(|i| found[i].distance(found[(i + 1) % found.len()])).collect();
    // Chords are shorter where the curve bends more.
    assert!(found.len() == 10 && gaps.iter().all(|gap| (4.9..5.4).contains(gap)), "{gaps:?}");
}

#[test]
fn curves_come_from_lines_and_from_animations() {
    let curves = r#""rail": Obj(file: "lines.obj", name: "rail"), "loop": Obj(file: "lines.obj", line: 2, scale: 2),
        "car": Gltf(file: "path.gltf", node: "Car", animation: "drive")"#;
    let copies = |curve: &str| {
        let s = placed(&on_ramp(curves, "", &format!(r#"Along(of: "box", curve: "{curve}", count: 3, face: none)"#)));
        places(&s)
    };
    let near = |found: &[Vec3], expected: [Vec3; 3]| found.iter().zip(expected).all(|(p, q)| p.distance(q) < 1e-3);
    assert!(near(&copies("rail"), [Vec3::ZERO, Vec3::new(3.0, 0.0, 0.5), Vec3::new(3.0, 0.0, 4.0)]));
    // The loop is closed, so its end is its start. Its length of 24 is divided into thirds.
    assert!(near(&copies("loop"), [Vec3::ZERO, Vec3::new(6.0, 0.0, 2.0), Vec3::new(4.8, 0.0, 6.4)]));
    let car = copies("car");
    assert!(near(&car, [Vec3::Y * 10.0, Vec3::new(1.0, 10.0, 0.0), Vec3::new(2.0, 10.0, 0.0)]), "{car:?}");
}

#[test]
fn dropped_copies_stand_on_the_mesh_and_those_beside_it_are_left_out() {
    let row = |drop: &str| {
        let grid =
            format!(r#"Grid(of: "box", count: (5, 1, 1), spacing: (12, 0, 0), translate: (0, 99, 3), drop: {drop})"#);
        placed(&on_ramp("", "", &grid))
    };
    let found = places(&row(r#""ramp""#));
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(|p| (p.y - ramp(*p)).abs() < 1e-3), "{found:?}");
    let tilted = row(r#"(on: "ramp", align: normal, lift: 2)"#);
    let up = tilted.instances[1].local.transform_vector3(Vec3::Y);
    assert!(up.distance(Vec3::new(-1.0, 1.0, 0.0).normalize()) < 1e-3, "{up}");
    assert!(places(&tilted).iter().all(|p| (p.y - ramp(*p) - 2.0).abs() < 1e-3));
}

#[test]
fn things_by_weight_share_the_copies() {
    let grid =
        |of: &str| format!(r#"Grid(of: {of}, count: (40, 1, 40), spacing: (2, 0, 2), mix_seed: 3, materials: [])"#);
    let s =
        placed(&on_ramp("", r#""pair": [Single(of: "box"), Single(of: "ball")]"#, &grid(r#"{"pair": 3, "cone": 1}"#)));
    let count = |name: &str| s.instances.iter().filter(|i| s.meshes[i.mesh as usize].name == name).count();
    assert_eq!((count("box"), count("box") + count("cone")), (count("ball"), 1600));
    assert!((1120..1280).contains(&count("box")), "{}", count("box"));
    let all = placed(&on_ramp("", "", &grid(r#""box""#)));
    let cones = s.instances.iter().filter(|i| s.meshes[i.mesh as usize].name == "cone");
    assert!(cones.clone().all(|i| places(&all).contains(&i.local.translation)));
}

#[test]
fn every_rule_holds_for_every_point() {
    let scatter = |at: &str, rules: &str| {
        let one = r#"Single(of: "box", translate: (9, 30, 9), rotate: (0, 45, 0))"#;
        let scatter = format!(r#"{one}, Scatter(of: "ball", on: "ramp", at: {at}, where: ({rules}))"#);
        let mut found = places(&placed(&on_ramp("", "", &scatter)));
        found.remove(0);
        found
    };
    for at in ["surface(count: 4000)", "poisson(distance: 1)", "surface(density: 1.5)"] {
        let all = |rules: &str, meets: &dyn Fn(Vec3) -> bool| {
            let found = scatter(at, rules);
            assert!(found.len() > 20 && found.iter().all(|p| meets(*p)), "{at} {rules} {}", found.len());
            found.len()
        };
        let whole = all("slope: (44, 46)", &|p| (p.y - ramp(p)).abs() < 1e-3);
        all("height: (5, 8)", &|p| (5.0..=8.0).contains(&p.y));
        all("mask: \"mask.png\"", &|p| p.x >= 0.0);
        all("away_from: [(\"road\", 4)]", &|p| distance_to_road(p) >= 4.0);
        all("near: [(\"road\", 4)]", &|p| distance_to_road(p) <= 4.0);
        let diagonal = |p: Vec3| ((p.x - 9.0).abs() + (p.z - 9.0).abs()) / 2f32.sqrt();
        all("away_from: [(\"box\", 2)]", &|p| diagonal(p) > 1.9);
        let half = scatter(at, "share: 0.5").len();
        // Rejected Poisson samples leave room for others.
        let least = if at.starts_with("poisson") { 0.4 } else { 0.45 };
        assert!(half as f32 > least * whole as f32 && half <= whole, "{at} {half} {whole}");
    }
}

#[test]
fn vertex_colours_are_probabilities() {
    let dir = land();
    let header = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n\
        property uchar red\nproperty uchar green\nproperty uchar blue\nelement face 1\n\
        property list uchar int vertex_indices\nend_header\n";
    let vertices = "0 0 0 0 255 0\n0 0 1 0 255 0\n1 0 1 255 255 0\n1 0 0 255 255 0\n4 0 1 2 3\n";
    fs::write(dir.path().join("colours.ply"), format!("{header}{vertices}")).expect("writes");
    let found = |channel: &str| {
        let text = format!(
            r#"(meshes: {{"ball": Sphere, "sheet": Ply(file: "colours.ply")}}, instances: [Scatter(of: "ball", on: "sheet",
            at: surface(count: 4000), where: (vertex_color: {channel}))])"#
        );
        load(&scene_path(&dir, &text)).map(|s| s.instances).map_err(|e| e.to_string())
    };
    let (red, green) = (found("r").expect("loads"), found("g").expect("loads"));
    let mean = red.iter().map(|i| i.local.translation.x).sum::<f32>() / red.len() as f32;
    assert!((1850..2150).contains(&red.len()) && (mean - 2.0 / 3.0).abs() < 0.02, "{} {mean}", red.len());
    assert_eq!(green.len(), 4000);
    assert!(found("b").is_err_and(|e| e.contains("is left by `vertex_color`")));
}

#[test]
fn rules_are_measured_after_spread_and_the_whole_transform() {
    let text = |spread: &str| {
        on_ramp(
            "",
            "",
            &format!(
                r#"Scatter(of: "ball", on: "ramp", {spread}, at: surface(count: 900), where: (height: (50, 60)))"#
            ),
        )
    };
    for spread in ["spread: 2", "translate: (0, 40, 0)"] {
        let found = places(&placed(&text(spread)));
        assert!(found.len() > 50 && found.iter().all(|p| (50.0..=60.0).contains(&p.y)));
    }
}

#[test]
fn a_group_drops_onto_what_its_own_list_places() {
    let group =
        r#""hill": [Single(of: "box", scale: (4, 6, 4)), Single(of: "ball", translate: (1, 0, 1), drop: "box")]"#;
    let s = placed(&on_ramp("", group, r#"Single(of: "hill", translate: (0, 100, 0))"#));
    assert_eq!(places(&s)[1], Vec3::new(1.0, 103.0, 1.0));
}

#[test]
fn faults_in_curves_and_placements_are_told() {
    let curve = |text: &str| on_ramp(text, "", r#"Single(of: "box")"#);
    let scatter = |fields: &str| on_ramp("", "", &format!(r#"Scatter(of: "ball", on: "ramp", {fields})"#));
    let rules = |rules: &str| scatter(&format!("at: surface(count: 50), where: ({rules})"));
    let along = |fields: &str| on_ramp("", "", &format!(r#"Along(of: "box", curve: "road", {fields})"#));
    let single = |fields: &str| on_ramp("", "", &format!(r#"Single(of: "box", {fields})"#));
    let mesh = |mesh: &str| {
        format!(
            r#"(curves: {{"c": Bezier(points: [(0, 0, 0), (1, 0, 0), (2, 0, 0), (9, 0, 0)])}}, meshes: {{"ball": Sphere, "m": {mesh}}}, instances: [Single(of: "m")])"#
        )
    };
    let table = [
        (curve(r#""a": CatmullRom(points: [])"#), "the curve has 0 points: give it 2 or more"),
        (curve(r#""a": CatmullRom(points: [(0, 0, 0), (1, 0, 0)], closed: true)"#), "has 2 points: give it 3 or more"),
        (curve(r#""a": CatmullRom(points: [(0, 0, 0), (1, 0, 0), (1, 0, 0)])"#), "points 1 and 2 are the same"),
        (curve(r#""a": Bezier(points: [(0, 0, 0), (1, 0, 0), (1, 0, 0)])"#), "a Bézier curve of 3 points"),
        (curve(r#""a": Obj(file: "no.obj")"#), "the file of the curve, no.obj, does not exist"),
        (curve(r#""a": Obj(file: "tex.png")"#), "tex.png, is no .obj file"),
        (curve(r#""a": Obj(file: "lines.obj", line: 7)"#), "there is no line 7: there are 3, counted from 0"),
        (curve(r#""a": Obj(file: "lines.obj", name: "rai")"#), "there are no lines in `rai`: did you mean `rail`?"),
        (curve(r#""a": Obj(file: "lines.obj", scale: 0)"#), "a scale must not be 0"),
        (curve(r#""a": Gltf(file: "path.gltf", node: "car")"#), "there is no node `car`: did you mean `Car`?"),
        (curve(r#""a": Gltf(file: "path.gltf", node: "base")"#), "no animation moves the node `base`"),
        (curve(r#""a": Gltf(file: "path.gltf", node: "Car", animation: "x")"#), "there is no animation `x`"),
        (along("count: 0"), "nothing to place"),
        (along("spacing: 0"), "`spacing` must be above 0"),
        (along("spacing: 1, count: 2"), "both `count` and `spacing`"),
        (along("from: 1"), "write `spacing` or `count`"),
        (along("count: 2, from: -1"), "`from` must not be negative"),
        (along("count: 2, from: 30, to: 20"), "`from` is 30, which is not before the end at 20"),
        (along("count: 2, to: 50"), "`to` is 50, but the curve is only 40 long"),
        (on_ramp("", "", r#"Along(of: "box", curve: "rod", count: 2)"#), "unknown curve `rod`: did you mean `road`?"),
        (single(r#"drop: "ramps""#), "unknown mesh or group `ramps`: did you mean `ramp`?"),
        (single(r#"drop: "cone""#), "`cone` is not placed earlier in this list"),
        (single(r#"translate: (50, 0, 0), drop: "ramp""#), "no copy is above or below `ramp`"),
        (on_ramp("", "", r#"Single(of: "ball"), Single(of: "box", drop: "ball")"#), "spheres are no ground"),
        (on_ramp("", "", "Single(of: {})"), "there is nothing to choose from"),
        (on_ramp("", "", r#"Single(of: {"box": 1, "cone": 0})"#), "the weight of `cone` must be above 0"),
        (on_ramp("", "", r#"Single(of: {"box": 1, "coen": 2})"#), "unknown mesh or group `coen`"),
        (scatter("at: surface(seed: 1)"), "write `count` or `density`"),
        (scatter("at: surface(count: 1, density: 1)"), "both `count` and `density`"),
        (scatter("at: surface(density: 0)"), "`density` must be above 0"),
        (scatter("at: poisson(distance: 0)"), "`distance` must be above 0"),
        (scatter("at: poisson(distance: 1e-6)"), "instances are too many"),
        (rules("slope: (50, 90)"), "no point of `ramp` is left by `slope`: loosen this rule"),
        (rules("slope: (0, 60), height: (90, 91), share: 0.5"), "is left by `height`"),
        (rules("near: [(\"road\", 4)], away_from: [(\"road\", 5)]"), "is left by `near` of `road`"),
        (rules("slope: (30, 10)"), "the first number exceeds the second"),
        (rules("slope: (-3, 10)"), "angles must be 0 to 180"),
        (rules("share: 0"), "`share` must be above 0 and at most 1"),
        (rules("mask: \"no.png\""), "the mask no.png does not exist"),
        (rules("vertex_color: r"), "`ramp` has no vertex colours"),
        (rules("away_from: [(\"raod\", 4)]"), "unknown curve, mesh or group `raod`"),
        (rules("away_from: [(\"road\", 0)]"), "the distance must be above 0"),
        (scatter("at: vertices, where: (mask: \"mask.png\")"), "`mask` needs points between vertices"),
        (mesh("Box(size: 0)"), "the size must be above 0"),
        (mesh("Cylinder(radius: 0)"), "`radius` must be above 0"),
        (mesh("Cone(segments: 2)"), "`segments` is 2: write 3 to 4096"),
        (mesh("Torus(tube: 2)"), "the tube is larger than the ring"),
        (mesh("Disc(radius: -1)"), "`radius` must be above 0"),
        (mesh("Terrain(size: 9, cells: 1)"), "`cells` is 1: write 2 to 8192"),
        (mesh("Terrain(size: 9, file: \"no.png\")"), "the picture of heights no.png does not exist"),
        (mesh("Terrain(size: 9, file: \"ramp.png\", noise: (scale: 3))"), "both `file` and `noise`"),
        (mesh("Terrain(size: 9, noise: (scale: 0))"), "`scale` must be above 0"),
        (mesh("Terrain(size: 9, noise: (scale: 3, octaves: 99))"), "`octaves` is 99: write 1 to 16"),
        (mesh("Terrain(size: 9, valley: (curve: \"d\", width: 1, blend: 1))"), "unknown curve `d`"),
        (mesh("Terrain(size: 9, level: [(curve: \"c\", width: 0, blend: 1)])"), "`width` must be above 0"),
        (mesh("Ribbon(curve: \"x\", width: 1)"), "unknown curve `x`"),
        (mesh("Ribbon(curve: \"c\", width: 1, on: \"n\")"), "there is no mesh `n` above this one"),
        (mesh("Ribbon(curve: \"c\", width: 1, on: \"ball\")"), "a sphere has no triangles to lie on"),
        (mesh("Ribbon(curve: \"c\", width: 1, step: 1e-9)"), "too long for this small step"),
    ];
    for (text, expected) in table {
        let e = loaded(&text).err().unwrap_or_else(|| panic!("no error: {text}"));
        assert!(
            e.contains(expected) && e.starts_with("s.ron:") && e.lines().count() == 1,
            "{text}\n  {e}\n  {expected}"
        );
    }
}

#[test]
fn a_ribbon_that_leaves_its_mesh_is_refused() {
    let text = |to: &str| {
        format!(
            r#"(curves: {{"c": CatmullRom(points: [(0, 0, 0), (20, 0, 0)])}}, meshes: {{"land": Terrain(size: (20, 1, 20)),
            "road": Ribbon(curve: "c", width: 2, on: "land"{to})}}, instances: [Single(of: "road")])"#
        )
    };
    let fault = loaded(&text("")).err().unwrap_or_default();
    assert!(fault.contains("the ribbon leaves `land` at x = 10"), "{fault}");
    assert_eq!(placed(&text(", to: 9")).instances.len(), 1);
}

#[test]
fn a_thing_that_is_scaled_flat_is_placed() {
    let scene = placed(&on_ramp("", "", r#"Single(of: "box", scale: (1, 0, 2))"#));
    let m = scene.instances[1].local.matrix3;
    let lengths = [m.x_axis, m.y_axis, m.z_axis].map(|axis| axis.length());
    assert!(lengths[0] == 1.0 && lengths[2] == 2.0 && (1e-6..1e-3).contains(&lengths[1]), "{lengths:?}");
    let nothing = loaded(&on_ramp("", "", r#"Single(of: "box", scale: (0, 0, 0))"#));
    assert!(nothing.unwrap_err().contains("a scale must not be 0 along all axes"));
}
