//! Messages about faulty files.

use super::*;

#[test]
fn faults_in_the_text_have_line_and_column() {
    let table = [
        ("(\n  rendr: (),\n)", "s.ron:2:3: unknown field `rendr` in the scene: did you mean `render`?"),
        ("(\n  render: (\n    sampels: 3))", "s.ron:3:5: unknown field `sampels` in render: did you mean `samples`?"),
        ("(render: (samples: many))", "s.ron:1:20: expected a whole number"),
        ("(render: (samples: -1))", "s.ron:1:"),
        ("(render: (size: (1, 2, 3)))", "s.ron:1:"),
        ("(render: (exposure: NaN))", "s.ron:1:21: the number must be finite"),
        ("(render: (fps: inf))", "s.ron:1:16: the number must be finite"),
        ("(render: (fps: 1e99))", "s.ron:1:16: the number must be finite"),
        ("(render: (integrator: wited))", "s.ron:1:23: unknown name `wited`"),
        ("(environment: SunSki())", "s.ron:1:15: unknown name `SunSki` in environment: did you mean `SunSky`?"),
        (
            "(environment: SunSky(elevaton: 3))",
            "s.ron:1:22: unknown field `elevaton` in SunSky: did you mean `elevation`?",
        ),
        ("(environment: SunSky)", "expected `(`"),
        ("(air: Smoke(density: 1))", "s.ron:1:7: unknown name `Smoke` in air"),
        ("(air: Fog(densty: 1))", "s.ron:1:11: unknown field `densty` in Fog: did you mean `density`?"),
        ("(air: Fog(height: 1))", "`density` is missing in Fog"),
        ("(air: Fog(density: 1, color: (-1, 0, 0)))", "a colour must not be negative"),
        ("(air: Fog(density: 1, top: inf))", "s.ron:1:28: the number must be finite"),
        ("(environment: Constant(radiance: (-1, 0, 0)))", "a colour must not be negative"),
        ("(environment: Constant(radiance: \"#12345\"))", "bad colour \"#12345\""),
        ("(environment: Constant(radiance: 3))", "a colour: (r, g, b)"),
        ("(materials: {\"a\": Mirror(), \"a\": Mirror()})", "the name `a` comes twice"),
        ("(meshes: {\"a\": Sphere})", "`instances` is missing in the scene: add it"),
        ("(instances: [Single(of: \"a\", scale: 0)])", "a scale must not be 0"),
        ("(instances: [Single(of: \"a\", scale: (1, 2))])", "three numbers"),
        ("(instances: [Single(of: \"a\", rotate: (axis: (0, 0, 0), degrees: 3))])", "axis must not be zero"),
        ("(instances: [Single(of: 3)])", "the name of a mesh or group"),
        ("(instances: [Singel(of: \"a\")])", "did you mean `Single`?"),
        ("(", "s.ron:1:2: the file ends too early"),
        ("", "s.ron:1:1: "),
        ("(render: (samples: 1)", "s.ron:1:22: "),
    ];
    for (text, expected) in table {
        let e = error(text);
        assert!(e.contains(expected), "{text}\n  {e}\n  {expected}");
        assert!(e.starts_with("s.ron:") && e.lines().count() == 1, "{e}");
    }
}

#[test]
fn faults_in_the_meaning_have_line_and_column() {
    let table = [
        ("(render: (samples: 0),\nBALL)", "s.ron:1:20: samples is 0; it must be 1 to 1048576"),
        ("(render: (size: (0, 4)), BALL)", "s.ron:1:17: width is 0; it must be 1 to 65536"),
        ("(render: (size: (70000, 4)), BALL)", "s.ron:1:17: width is 70000"),
        ("(render: (frames: 0), BALL)", "s.ron:1:19: frames is 0; it must be 1 to 1000000"),
        ("(render: (frames: 4294967295), BALL)", "s.ron:1:19: frames is 4294967295"),
        ("(render: (bounces: 1001), BALL)", "s.ron:1:20: bounces is 1001; it must be 0 to 1000"),
        ("(render: (fps: -1), BALL)", "s.ron:1:16: fps must be above 0"),
        ("(environment: SunSky(turbidity: 0.5), BALL)", "s.ron:1:33: 0.5 is out of range: write 1 to 20"),
        ("(environment: SunSky(stars: -1), BALL)", "s.ron:1:29: -1 is out of range: write 0 to 1000000"),
        ("(environment: SunSky(elevation: -91), BALL)", "s.ron:1:33: -91 is out of range: write -90 to 90"),
        ("(environment: SunSky(moon: Moon(phase: 2)), BALL)", "s.ron:1:40: 2 is out of range: write 0 to 1"),
        ("(environment: SunSky(moon: (elevation: 100)), BALL)", "s.ron:1:40: 100 is out of range: write -90 to 90"),
        ("(environment: SunSky(moon: Moon(radius: 2)), BALL)", "s.ron:1:33: unknown field `radius` in Moon"),
        ("(environment: Image(file: \"no.hdr\"), BALL)", "s.ron:1:27: the image"),
        ("(air: Fog(density: -0.1), BALL)", "s.ron:1:20: -0.1 is out of range: write 0 to 1000000"),
        ("(air: Fog(density: 1, color: (0.5, 1.1, 0.5)), BALL)", "s.ron:1:30: the colour of fog must be at most 1"),
        ("(air: Fog(density: 1, anisotropy: 1), BALL)", "s.ron:1:35: 1 is out of range: write -0.99 to 0.99"),
        ("(air: Fog(density: 1, height: 0), BALL)", "s.ron:1:31: 0 is out of range: write 0.001 to 1000000"),
        ("(air: Fog(density: 1, base: 2), BALL)", "s.ron:1:29: a base without a height changes nothing: add height"),
        (
            "(air: Fog(density: 1, base: 2, height: 3, top: 2), BALL)",
            "s.ron:1:48: the top is not above the base, 2: raise it, or leave out height",
        ),
        (
            "(lights: [Sun(direction: (0, 0, 0), irradiance: (1, 1, 1))], BALL)",
            "s.ron:1:26: the direction must not be (0, 0, 0)",
        ),
        (
            "(lights: [Spot(position: (0, 5, 0), direction: (0, -1, 0), intensity: (1, 1, 1), angle: 200)], BALL)",
            "s.ron:1:89: 200 is out of range: write 0.01 to 180",
        ),
        (
            "(lights: [Point(position: (0, 5, 0), intensity: (1, 1, 1), radius: -1)], BALL)",
            "s.ron:1:68: -1 is out of range: write 0.000001 to 1000000",
        ),
        (
            "(lights: [Point(position: (0, 5, 0), intensity: (1e30, 1, 1), radius: 1e-6)], BALL)",
            "s.ron:1:49: the light is too bright for its size",
        ),
        (
            "(lights: [Spot(position: (0, 5, 0), direction: (0, -1, 0), intensity: (1, 1, 1), radius: -1)], BALL)",
            "s.ron:1:90: -1 is out of range: write 0 to 1000000",
        ),
        (
            "(lights: [Disc(position: (0, 5, 0), direction: (0, 0, 0), intensity: (1, 1, 1), radius: 1)], BALL)",
            "s.ron:1:48: the direction must not be (0, 0, 0)",
        ),
        (
            "(lights: [Disc(position: (0, 5, 0), direction: (0, 1, 0), intensity: (1, 1, 1), radius: 0)], BALL)",
            "s.ron:1:89: 0 is out of range: write 0.000001 to 1000000",
        ),
        (
            "(lights: [Rectangle(position: (0, 5, 0), direction: (0, 1, 0), intensity: (1, 1, 1), size: (1, 0))], BALL)",
            "s.ron:1:92: 0 is out of range: write 0.000001 to 1000000",
        ),
        (
            "(lights: [Rectangle(position: (0, 5, 0), direction: (0, 1, 0), intensity: (1, 1, 1), size: (1, 1), up: (0, 2, 0))], BALL)",
            "s.ron:1:104: `up` is (0, 0, 0) or along the direction",
        ),
        (
            "(lights: [Sun(direction: (0, 1, 0), irradiance: (1, 1, 1), name: \"\")], BALL)",
            "s.ron:1:66: the name is empty",
        ),
        (
            "(lights: [Sun(direction: (0, 1, 0), irradiance: (1, 1, 1), name: \"a\"),\nPoint(position: (0, 1, 0), intensity: (1, 1, 1), name: \"a\")], BALL)",
            "s.ron:2:56: two lights are named `a`",
        ),
        ("(materials: {\"m\": Diffuse(texture: \"no.png\")}, BALL)", "s.ron:1:36: the texture no.png does not exist"),
        (
            "(meshes: {\"a\": Obj(file: \"no.obj\")}, instances: [Single(of: \"a\")])",
            "s.ron:1:26: the mesh file no.obj does not exist",
        ),
        (
            "(meshes: {\"a\": Obj(file: \"tri.obj\", material: \"x\")}, instances: [Single(of: \"a\")])",
            "s.ron:1:47: unknown material `x`: there are no materials",
        ),
        (
            "(meshes: {\"a\": Ply(file: \"tri.xyz\")}, instances: [Single(of: \"a\")])",
            "s.ron:1:26: the mesh file tri.xyz does not exist",
        ),
        (
            "(meshes: {\"a\": Stl(file: \"tri.stl\", fit: 0)}, instances: [Single(of: \"a\")])",
            "s.ron:1:42: the size must be above 0",
        ),
        (
            "(meshes: {\"ball\": Sphere},\n instances: [\n  Single(of: \"bal\")])",
            "s.ron:3:14: unknown mesh or group `bal`: did you mean `ball`?",
        ),
        (
            "(meshes: {\"a\": Sphere}, instances: [Single(of: \"a\", material: \"x\")])",
            "s.ron:1:63: unknown material `x`",
        ),
        ("(meshes: {\"a\": Sphere}, instances: [Single(of: \"a\", motion: \"x\")])", "s.ron:1:61: unknown motion `x`"),
        ("(meshes: {\"a\": Sphere}, instances: [])", "s.ron:1:36: the list is empty"),
        (
            "(meshes: {\"a\": Sphere}, instances: [Scatter(of: \"a\", on: \"b\", at: vertices)])",
            "s.ron:1:58: unknown mesh `b`",
        ),
        (
            "(meshes: {\"a\": Sphere}, instances: [Scatter(of: \"a\", on: \"a\", at: vertices)])",
            "s.ron:1:67: a sphere has no vertices",
        ),
        (
            "(meshes: {\"a\": Sphere}, instances: [Scatter(of: \"a\", on: \"a\", at: surface(count: 0))])",
            "s.ron:1:82: nothing to place",
        ),
        (
            "(meshes: {\"a\": Sphere}, instances: [Grid(of: \"a\", count: (0, 1, 1), spacing: (1, 1, 1))])",
            "s.ron:1:58: nothing to place",
        ),
        (
            "(meshes: {\"a\": Sphere}, instances: [Grid(of: \"a\", count: (4000000000, 4000000000, 4000000000), spacing: (1, 1, 1))])",
            "s.ron:1:58: 18446744073709551615 instances are too many",
        ),
        (
            "(meshes: {\"a\": Sphere}, instances: [Random(of: \"a\", count: 3, min: (2, 0, 0), max: (1, 1, 1))])",
            "s.ron:1:68: `min` exceeds `max`",
        ),
        (
            "(meshes: {\"a\": Sphere}, instances: [Random(of: \"a\", count: 3, sizes: (0, 1), min: (0, 0, 0), max: (1, 1, 1))])",
            "s.ron:1:70: sizes must be above 0",
        ),
        (
            "(meshes: {\"a\": Sphere}, instances: [Single(of: \"a\"), Single(of: [Single(of: \"a\", scale: 1e-20)], scale: 1e-20)])",
            "s.ron:1:54: the transform has no inverse",
        ),
        (
            "(meshes: {\"a\": Sphere}, groups: {\"g\": [Single(of: \"h\")], \"h\": [Single(of: \"g\")]}, instances: [Single(of: \"g\")])",
            "s.ron:1:39: groups contain themselves: g → h → g",
        ),
        (
            "(meshes: {\"a\": Sphere}, groups: {\"a\": [Single(of: \"a\")]}, instances: [Single(of: \"a\")])",
            "s.ron:1:39: `a` is also a mesh",
        ),
        ("(motions: {\"m\": (parts: [Spin(period: 0)])}, BALL)", "s.ron:1:39: the period must not be 0"),
        ("(motions: {\"m\": (parts: [])}, BALL)", "s.ron:1:25: a motion needs at least one part"),
        (
            "(motions: {\"m\": (parts: [Keyframes(keys: [(time: 1), (time: 1)])])}, BALL)",
            "s.ron:1:61: key times must increase",
        ),
        ("(camera: LookAt(eye: (0, 1, 0), target: (0, 1, 0)), BALL)", "s.ron:1:41: the camera looks at itself"),
        ("(camera: LookAt(eye: (0, 1, 0), target: (0, 0, 0)), BALL)", "s.ron:1:41: the camera looks along `up`"),
        ("(camera: LookAt(eye: (0, 1, 5), target: (0, 0, 0), fov: 180), BALL)", "s.ron:1:57: the field of view"),
        ("(camera: Orbit(target: (0, 0, 0), radius: 0), BALL)", "s.ron:1:43: the radius must be above 0"),
        (
            "(camera: Spline(keys: [(eye: (0, 1, 5), target: (0, 0, 0))]), BALL)",
            "s.ron:1:23: a spline needs at least 2 keys",
        ),
        (
            "(camera: Spline(keys: [(eye: (0, 1, 5), target: (0, 0, 0), time: 1), (eye: (0, 1, 4), target: (0, 0, 0))]), BALL)",
            "s.ron:1:70: this key has no time",
        ),
        (
            "(camera: Spline(keys: [(eye: (0, 1, 5), target: (0, 0, 0), time: 1), (eye: (0, 1, 4), target: (0, 0, 0), time: 1)]), BALL)",
            "s.ron:1:112: key times must increase",
        ),
    ];
    for (text, expected) in table {
        let e = error(&text.replace("BALL", BALL));
        assert!(e.starts_with(expected), "{text}\n  {e}\n  {expected}");
    }
}

#[test]
fn files_that_cannot_be_scenes_are_refused() {
    let dir = folder();
    let says = |name: &str, bytes: Option<&[u8]>, expected: &str| {
        let path = dir.path().join(name);
        if let Some(bytes) = bytes {
            fs::write(&path, bytes).expect("writes");
        }
        let e = load(&path).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(e.starts_with(path.to_str().unwrap_or("?")) && e.contains(expected), "{name}: {e}");
    };
    says("missing.ron", None, "no such file");
    says("missing.xyz", None, "no such file");
    says("", None, "this is a directory");
    says("a.glb", Some(b""), "not valid JSON");
    says("a.gltf", Some(br#"{"asset": {"version": "2.0"}}"#), "there is nothing to see");
    says("a.blend", Some(b""), ".blend files are not supported");
    says("plain", Some(b""), "no extension");
    says("bad.ron", Some(b"(\n \xff)"), ":2:2: this is not text");
    says("empty.obj", Some(b""), "there are no faces");
    says("flat.obj", Some(b"v 0 0 0\nf 1 1 1\n"), "there are no faces with an area");
    says("bad.OBJ", Some(b"v 0 0 x\n"), ":1: `x` is not a number");
    says("bad.ply", Some(b"ply\nformat ascii 1.0\nelement vertex many\n"), ":3: `many` is no number of elements");
    says("points.ply", Some(b"ply\nformat ascii 1.0\nend_header\n"), "there are no faces with an area");
    says("bad.Stl", Some(b"solid\nvertex 0 0\n"), ":2: too few numbers");
    says("cut.stl", Some(&[1; 99]), "at byte 80: 16843009 triangles do not fit into a file of 99 bytes");
}

#[test]
fn the_warning_of_a_missing_texture_names_both_files() {
    let dir = folder();
    let obj = dir.path().join("m.obj");
    fs::write(&obj, "mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl a\nf 1 2 3\n").expect("writes");
    assert!(load(&obj).is_ok_and(|s| s.warnings[0].contains("m.obj:1: the material file m.mtl does not exist")));
    fs::write(dir.path().join("m.mtl"), "newmtl a\nmap_Kd gone.png\n").expect("writes");
    let warning = || load(&obj).map(|s| s.warnings.join("\n")).unwrap_or_default();
    let w = warning();
    assert!(w.contains("m.mtl:2: the texture") && w.contains("gone.png is left out: it does not exist"), "{w}");
    fs::write(dir.path().join("gone.png"), "not a picture").expect("writes");
    let w = warning();
    assert!(w.contains("m.mtl:2: the texture") && w.contains("gone.png is left out: not a PNG"), "{w}");
}

#[test]
fn nesting_is_limited_without_overflowing_the_stack() {
    for open in ["(", "[", "{", "(a:", "(instances: [Single(of: [", "Some("] {
        let e = error(&open.repeat(50_000));
        assert!(e.starts_with("s.ron:1:"), "{e}");
    }
    let deep = |n: usize| {
        let groups: String = (1..n).map(|i| format!("\"g{i}\": [Single(of: \"g{}\")], ", i - 1)).collect();
        format!(
            "(meshes: {{\"a\": Sphere}}, groups: {{\"g0\": [Single(of: \"a\")], {groups}}}, instances: [Single(of: \"g{}\")])",
            n - 1
        )
    };
    assert_eq!(scene(&deep(60)).instances.len(), 1);
    for n in [66, 5000] {
        assert!(error(&deep(n)).contains("nested more than 64 deep"));
    }
}

#[test]
fn more_nested_groups_than_can_be_told_apart_are_refused() {
    let row = |of: &str, copies: u32| {
        format!("[Grid(of: \"{of}\", count: ({copies}, 1, 1), spacing: (3, 3, 3), nest: true)]")
    };
    let nested = |copies| {
        let groups: String = (1..8).map(|i| format!("\"g{i}\": {}, ", row(&format!("g{}", i - 1), copies))).collect();
        let first = row("a", copies);
        let rest = "instances: [Single(of: \"g7\", nest: true)]";
        format!("(meshes: {{\"a\": Sphere}}, groups: {{\"g0\": {first}, {groups}}}, {rest})")
    };
    assert_eq!(scene(&nested(20)).leaf_count(), 25_600_000_000);
    let e = error(&nested(40));
    assert!(e.starts_with("s.ron:1:") && e.contains("at most 4294967295 can be numbered"), "{e}");
}

#[test]
fn groups_that_multiply_are_counted_before_they_are_unrolled() {
    let groups: String =
        (1..40).map(|i| format!("\"g{i}\": [Single(of: \"g{0}\"), Single(of: \"g{0}\")], ", i - 1)).collect();
    let e = error(&format!(
        "(meshes: {{\"a\": Sphere}}, groups: {{\"g0\": [Single(of: \"a\")], {groups}}}, instances: [Single(of: \"g39\")])"
    ));
    assert!(e.contains("549755813888 instances are too many"), "{e}");
}

#[test]
fn groups_that_move_are_counted_with_their_instances() {
    let groups: String = (1..31)
        .map(|i| {
            let half = format!("Single(of: \"g{}\", motion: \"m\")", i - 1);
            format!("\"g{i}\": [{half}, {half}], ")
        })
        .collect();
    let e = error(&format!(
        "(meshes: {{\"a\": Sphere}}, motions: {{\"m\": (parts: [Spin(period: 1)])}}, \
         groups: {{\"g0\": [Single(of: \"a\")], {groups}}}, instances: [Single(of: \"g30\")])"
    ));
    assert!(e.contains("3221225470 instances are too many"), "{e}");
}

#[test]
fn two_million_instances_load() {
    let s =
        scene("(meshes: {\"a\": Sphere}, instances: [Grid(of: \"a\", count: (1000, 2, 1000), spacing: (3, 3, 3))])");
    assert_eq!(s.instances.len(), 2_000_000);
}

#[test]
fn a_mark_at_the_beginning_of_the_text_means_nothing() {
    let text = format!("\u{feff}(render: (samples: 7, size: (0, 4)),\n{BALL})");
    assert!(error(&text).starts_with("s.ron:1:29: width is 0"), "{}", error(&text));
    assert!(error("\u{feff}(rendr: ())").starts_with("s.ron:1:2: unknown field `rendr`"));
    assert!(error("\u{feff}(\n  rendr: ())").starts_with("s.ron:2:3: unknown field `rendr`"));
    let right = text.replace("size: (0, 4)", "exposure: keys([(0, 1), (1, 2)])");
    assert_eq!(scene(&right).settings.samples, 7);
    let dir = folder();
    let options = LoadOptions { overrides: vec![("render.samples".into(), "9".into())], ..LoadOptions::default() };
    let set = load_with(&scene_path(&dir, &right), &options).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(set.settings.samples, 9);
}

#[test]
fn numbers_that_lead_nowhere_are_told_where_they_are() {
    let curve = |points: &str| format!("curves: {{\"c\": CatmullRom(points: [{points}])}}");
    let long = curve("(-1e18, 0, 0), (1e18, 0, 0)");
    let land = "Terrain(size: (10, 4, 10), cells: 16, noise: (seed: 5, scale: 1e-45))";
    let second = "(environment: keys([(0, SunSky(elevation: 3)),\n  (1, Constant(color: (1, 1, 1)))]), BALL)";
    for (text, expected) in [
        ("(environment: SunSky(elevation: keys([(0, 1), (1, nan)])), BALL)", "s.ron:1:51: `nan` is no value"),
        (second, "s.ron:2:16: at 1 s: unknown field `color` in Constant"),
        (
            "(meshes: {\"a\": Sphere, \"b\": Box()}, instances: [Single(of: {\"a\": 3e38, \"b\": 3e38})])",
            "s.ron:1:60: the sum of the weights is too large",
        ),
        (
            &format!("({long}, meshes: {{\"a\": Sphere}}, instances: [Along(of: \"a\", curve: \"c\", spacing: 1e-9)])"),
            "instances are too many",
        ),
        (
            &format!("(meshes: {{\"a\": {land}}}, instances: [Single(of: \"a\")])"),
            "s.ron:1:78: scale, the wavelength of the largest octave",
        ),
    ] {
        let e = error(&text.replace("BALL", BALL));
        assert!(e.starts_with("s.ron:1:") || e.starts_with("s.ron:2:"), "{e}");
        assert!(e.contains(expected), "{text}\n  {e}\n  {expected}");
    }
}

#[test]
fn a_ribbon_that_lies_on_itself_is_warned_of() {
    let ribbon = |width: &str| {
        let curve = "curves: {\"c\": CatmullRom(points: [(0, 0, 0), (5, 0, 0), (5, 0, 5)])}";
        scene(&format!(
            "({curve}, meshes: {{\"a\": Ribbon(curve: \"c\", width: {width})}}, instances: [Single(of: \"a\")])"
        ))
        .warnings
    };
    assert!(ribbon("1").is_empty());
    let [warning] = &ribbon("100")[..] else { panic!("one warning") };
    assert!(warning.starts_with("meshes.a: the ribbon is 100 wide and lies on itself at x = "), "{warning}");
}
