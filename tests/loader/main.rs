//! Scene files as users write them: their meaning, and error messages for faulty ones.

mod article;
mod cameras;
mod confined;
mod damage;
mod faults;
mod keys;
mod kinds;
mod materials;
mod nested_names;
mod placing;
mod strands;
mod tables;
mod wind_and_flights;

use glam::{Affine3, Vec3};
use std::{fs, path::PathBuf};
use tempfile::TempDir;
use throng::{
    loader::{LoadOptions, load, load_with},
    scene::{Alpha, CameraPath, Environment, Integrator, Light, MaterialKind, MotionPart, Phase, Scene, Texels},
};

/// A folder for a scene, with a small model and pictures.
fn folder() -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).expect("writes");
    write("tri.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    write("two.obj", "mtllib two.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nusemtl red\nf 1 2 3\nusemtl glow\nf 2 4 3\n");
    write("two.mtl", "newmtl red\nKd 1 0 0\nmap_Kd tex.png\nnewmtl glow\nKe 5 5 5\n");
    let corners = "0 0 0\n1 0 0\n0 1 0\n";
    write(
        "tri.ply",
        &format!(
            "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n\
        property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n{corners}3 0 1 2\n"
        ),
    );
    let corners = "vertex 0 0 0\nvertex 4 0 0\nvertex 0 8 0\n";
    write("tri.stl", &format!("solid\nfacet normal 0 0 1\nouter loop\n{corners}endloop\nendfacet\nendsolid\n"));
    write("tracks.csv", "frame,id,x,y,z,yaw\n0,a,0,0,0,0\n0,b,5,1,0,0\n1,a,1,0,0,90\n1,b,6,1,0,0\n2,b,7,1,0,0\n");
    image::RgbImage::from_pixel(2, 2, image::Rgb([255, 128, 0])).save(dir.path().join("tex.png")).expect("writes");
    image::Rgb32FImage::from_pixel(4, 2, image::Rgb([3.0, 2.0, 1.0])).save(dir.path().join("env.hdr")).expect("writes");
    dir
}

fn scene_path(dir: &TempDir, text: &str) -> PathBuf {
    let path = dir.path().join("s.ron");
    fs::write(&path, text).expect("writes");
    path
}

fn scene(text: &str) -> Scene {
    let dir = folder();
    load(&scene_path(&dir, text)).unwrap_or_else(|e| panic!("{e}"))
}

/// Sections that complete any others to a scene.
const BALL: &str = r#"meshes: {"a": Sphere}, instances: [Single(of: "a")]"#;

/// The error message, without the folder's name.
fn error(text: &str) -> String {
    let dir = folder();
    match load(&scene_path(&dir, text)) {
        Ok(_) => "no error".to_owned(),
        Err(e) => e.to_string().replace(&format!("{}/", dir.path().display()), ""),
    }
}

fn set(text: &str, key: &str, value: &str) -> Result<Scene, String> {
    let dir = folder();
    let options = LoadOptions { overrides: vec![(key.to_owned(), value.to_owned())], ..LoadOptions::default() };
    load_with(&scene_path(&dir, text), &options).map_err(|e| e.to_string())
}

const EVERYTHING: &str = r##"// every section and every variant
(
    render: (size: (640, 360), samples: 4, bounces: 3, seed: 7, frames: 48, fps: 12, integrator: ao, exposure: 0.5, tone_map: none),
    environment: Gradient(zenith: (0.2, 0.3, 0.8), horizon: "#ffffff", nadir: (0.1, 0.1, 0.1)),
    lights: [
        Point(position: (0, 5, 0), intensity: (10, 10, 10)),
        Sun(direction: (0, 2, 0), irradiance: (3, 3, 3), size: 2),
        Spot(position: (0, 5, 0), direction: (0, -3, 0), intensity: (9, 9, 9), angle: 60, blend: 0.5),
    ],
    materials: {
        "stone": Diffuse(color: "#c8b090"),
        "wood": Diffuse(texture: "tex.png", wrap: mirror),
        "chrome": Mirror(tint: (0.9, 0.9, 0.9)),
        "lamp": Emissive(radiance: (4, 3, 2)),
        "hole": Holdout(),
        "catcher": ShadowCatcher(color: (0.5, 0.5, 0.5)),
    },
    meshes: {
        "tri": Obj(file: "tri.obj", material: "chrome", smooth_angle: 30, wrap: clamp),
        "two": Obj(file: "two.obj"),
        "ball": Sphere,
        "floor": Quad(tile: 4),
        "crate": Box(),
        "scan": Ply(file: "tri.ply", smooth_angle: 0),
        "part": Stl(file: "tri.stl", material: "wood", fit: 2),
    },
    groups: {
        "pair": [Single(of: "ball", translate: (1, 0, 0)), Single(of: "crate", material: "lamp")],
    },
    motions: {
        "spin": (parts: [Spin(period: 4)], phase: random(seed: 1, spread: 1)),
        "wave": (parts: [Sway(axis: (0, 0, 1), degrees: 10, period: 3), Bob(offset: (0, 1, 0), period: 2)], phase: wave(direction: (2, 0, 0), length: 10)),
        "keys": (parts: [Keyframes(keys: [(time: 0), (time: 2, translate: (0, 1, 0), rotate: (axis: (0, 1, 0), degrees: 90), scale: (1, 2, 1))], repeat: true)], phase: same),
    },
    instances: [
        Single(of: "floor", scale: 20, material: "stone"),
        Grid(of: "tri", count: (2, 1, 3), spacing: (2, 0, 2), materials: ["stone", "wood"], choose: cycle, motion: "spin"),
        Grid(of: "pair", count: (2, 1, 1), spacing: (9, 0, 0), material: "stone", jitter: (scale: 0.1, rotate: 30, seed: 2)),
        Scatter(of: "ball", on: "crate", at: vertices, every: 2, spread: 2, align: normal, lift: 0.1, each: (scale: 0.1)),
        Scatter(of: "ball", on: "ball", at: surface(count: 5, seed: 1), spread: (2, 1, 2), materials: ["lamp", "wood"], choose: random(3)),
        Random(of: "two", count: 7, seed: 1, min: (-1, 0, -1), max: (1, 0, 1), sizes: (0.5, 2), turn: any),
        Group(of: [Single(of: "pair"), Single(of: "tri", motion: "keys")], translate: (0, 5, 0), motion: "wave"),
        Single(of: "scan"),
        Scatter(of: "scan", on: "part", at: vertices),
        Table(of: "ball", file: "tracks.csv", fps: 4, start: 0.5, ends: loop, up: z, each: (scale: 0.1)),
        Table(of: "pair", file: "tracks.csv", quaternion: wxyz, motion: "spin"),
    ],
    camera: Spline(keys: [(eye: (0, 1, 5), target: (0, 0, 0)), (eye: (5, 1, 0), target: (0, 0, 0)), (eye: (0, 1, -5), target: (0, 0, 0))], fov: 50),
)
"##;

#[test]
fn every_variant_loads() {
    let s = scene(EVERYTHING);
    assert_eq!((s.settings.width, s.settings.frames, s.settings.integrator), (640, 48, Integrator::Ao));
    assert_eq!(s.instances.len(), 1 + 6 + 4 + 4 + 5 + 7 + 3 + 4 + 2 + 4);
    assert_eq!((s.nodes.len(), s.motions.len(), s.lights.len(), s.textures.len()), (3, 3, 3, 2));
    let degrees = std::f32::consts::PI / 180.0;
    assert!(matches!(
        s.lights[2],
        Light::Spot { direction, inner, outer, .. }
            if direction == Vec3::NEG_Y && (outer - 30.0 * degrees).abs() < 1e-6 && (inner - 15.0 * degrees).abs() < 1e-6
    ));
    let CameraPath::Spline(flight) = &s.camera.path else { panic!("{:?}", s.camera) };
    assert_eq!(flight.keys().iter().map(|k| k.time).collect::<Vec<_>>(), [0.0, 0.5 * s.duration(), s.duration()]);
    assert!(s.warnings.is_empty(), "{:?}", s.warnings);
    let mut out = Vec::new();
    throng_scene::anim::world_transforms(&s, &throng_scene::anim::Moment::of(&s, 1.3), &mut out);
    assert!(out.iter().all(Affine3::is_finite) && out.len() == s.instances.len());
}

#[test]
fn materials_come_from_the_closest_that_names_one() {
    let s = scene(EVERYTHING);
    let kind = |instance: usize, slot: u32| {
        s.materials[s.material_slots[(s.instances[instance].slot_base + slot) as usize] as usize]
    };
    assert_eq!(kind(7, 0), kind(0, 0));
    assert!(kind(8, 0).emission.x == 4.0, "the group's own material is closer than the grid's");
    assert_eq!((kind(1, 0), kind(3, 0)), (kind(0, 0), kind(0, 0)));
    assert_eq!(kind(2, 0).color_map, kind(4, 0).color_map);
    let two = &s.instances[20];
    assert_eq!(s.meshes[two.mesh as usize].slot_count, 2);
    assert_eq!((kind(20, 0).color, kind(20, 1).emission), (Vec3::X, Vec3::splat(5.0)));
}

#[test]
fn a_mesh_of_a_size_stands_on_the_floor() {
    for name in ["Stl(file: \"tri.stl\", fit: 2)", "Obj(file: \"tri.obj\", fit: 2)"] {
        let s =
            scene(&format!("(meshes: {{\"a\": {name}}}, instances: [Scatter(of: \"a\", on: \"a\", at: vertices)])"));
        let bounds = s.meshes[0].bounds();
        assert_eq!((bounds.min.y, bounds.max.y, bounds.center().x), (0.0, 2.0, 0.0), "{name}");
        assert!(s.instances[2].local.translation.y == 2.0, "{name}: points are scaled, too");
    }
}

#[test]
fn an_obj_can_be_all_of_one_material() {
    let s = scene(
        r#"(materials: {"m": Mirror()}, meshes: {"a": Obj(file: "two.obj", material: "m")}, instances: [Single(of: "a")])"#,
    );
    let used: Vec<_> = s.material_slots.iter().map(|&m| s.materials[m as usize].kind).collect();
    assert_eq!(used, [MaterialKind::Mirror; 2]);
    assert!(s.textures.is_empty(), "textures of replaced materials are not read");
}

#[test]
fn transforms_scale_then_rotate_then_translate() {
    let s = scene(
        r#"(meshes: {"a": Sphere}, instances: [Single(of: "a", translate: (1, 2, 3), rotate: (90, 0, 90), scale: (2, 1, 1))])"#,
    );
    let p = |v| s.instances[0].local.transform_point3(v);
    assert!(p(Vec3::X).distance(Vec3::new(1.0, 4.0, 3.0)) < 1e-5);
    assert!(p(Vec3::Y).distance(Vec3::new(1.0, 2.0, 4.0)) < 1e-5);
    assert!(p(Vec3::Z).distance(Vec3::new(2.0, 2.0, 3.0)) < 1e-5);
}

#[test]
fn static_groups_fold_away_and_moving_ones_become_nodes() {
    let text = |motion: &str| {
        format!(
            r#"(meshes: {{"a": Sphere}}, motions: {{"m": (parts: [Spin(period: 4)])}},
            groups: {{"g": [Grid(of: "a", count: (2, 1, 1), spacing: (2, 0, 0))]}},
            instances: [Group(of: [Single(of: "g", translate: (0, 1, 0))], translate: (5, 0, 0) {motion})])"#
        )
    };
    let (still, moving) = (scene(&text("")), scene(&text(", motion: \"m\"")));
    assert!(still.nodes.is_empty() && !still.is_animated());
    assert_eq!(still.instances[1].local.translation, Vec3::new(6.0, 1.0, 0.0));
    assert_eq!((moving.nodes.len(), moving.instances[1].node), (1, 0));
    assert_eq!(moving.instances[1].local.translation, Vec3::new(1.0, 1.0, 0.0));
    let mut out = Vec::new();
    throng_scene::anim::world_transforms(&moving, &throng_scene::anim::Moment::of(&moving, 1.0), &mut out);
    assert!(out[1].translation.distance(Vec3::new(5.0, 1.0, -1.0)) < 1e-5);
}

#[test]
fn environments_and_lights_are_converted() {
    let with =
        |e: &str| scene(&format!(r#"(environment: {e}, meshes: {{"a": Sphere}}, instances: [Single(of: "a")])"#));
    let s = with("Constant(radiance: (1, 2, 3))");
    assert_eq!(s.environment, Environment::Constant { radiance: Vec3::new(1.0, 2.0, 3.0) });
    let s = with(r#"Image(file: "env.hdr", rotation: 180, intensity: 2)"#);
    let Environment::Image { pixels, rotation, .. } = s.environment else { panic!() };
    assert_eq!((pixels.width, pixels.data[0][0]), (4, 6.0));
    assert!((rotation - std::f32::consts::PI).abs() < 1e-6);
    let s = with("SunSky(elevation: 90, azimuth: 0, sun_size: 2)");
    let [Light::Sun { direction, angular_radius, .. }] = s.lights[..] else { panic!("{:?}", s.lights) };
    assert!(direction.distance(Vec3::Y) < 1e-6 && (angular_radius - 1f32.to_radians()).abs() < 1e-6);
    assert!(with("SunSky(sun: false)").lights.is_empty());
}

#[test]
fn lights_that_are_seen_are_instances_with_their_names() {
    let text = r#"(
        lights: [
            Disc(position: (0, 9, 0), direction: (0, -2, 0), radius: 2, intensity: (4, 4, 4)),
            Point(position: (0, 5, 0), intensity: (1, 1, 1)),
            Point(position: (50, 0, 0), intensity: (1, 1, 1), radius: 0.5, name: "bulb"),
            Rectangle(position: (0, 0, -3), direction: (0, 0, 1), size: (4, 2), intensity: (16, 8, 8), name: "window"),
            Disc(position: (0, 9, 0), direction: (0, -2, 0), radius: 1, intensity: (4, 4, 4)),
        ],
        meshes: {"a": Sphere}, instances: [Single(of: "a")])"#;
    let (s, dark) = (scene(text), scene(r#"(meshes: {"a": Sphere}, instances: [Single(of: "a")])"#));
    let mut names = Vec::new();
    s.visit_instance_names(|name| names.push(name.to_owned()));
    assert_eq!(names, ["a", "light.0", "bulb", "window", "light.4"]);
    assert_eq!((s.lights.len(), s.meshes.len()), (5, 4), "two discs share a mesh");
    assert_eq!(s.settings.integrator, Integrator::Path);
    assert_eq!(format!("{:?}", s.camera), format!("{:?}", dark.camera), "cameras do not step back for lights");
    let material = |instance: usize| s.materials[s.material_slots[s.instances[instance].slot_base as usize] as usize];
    assert_eq!((material(3).emission, material(3).one_sided), (Vec3::new(2.0, 1.0, 1.0), true));
    assert!(!material(2).one_sided && (material(2).emission.x - 4.0 / std::f32::consts::PI).abs() < 1e-5);
    let window = s.instances[3].local;
    let corner = window.transform_point3(Vec3::new(0.5, 0.0, -0.5));
    assert!(corner.distance(Vec3::new(2.0, 1.0, -3.0)) < 1e-5, "{corner}");
    assert!(window.transform_vector3(Vec3::Y).normalize().distance(Vec3::Z) < 1e-6);
}

#[test]
fn motions_are_converted_and_only_those_in_use_kept() {
    let s = scene(
        r#"(meshes: {"a": Sphere}, motions: {"x": (parts: [Spin(period: 1)]), "m": (parts: [Bob(offset: (0, 1, 0), period: 2)], phase: wave(direction: (0, 0, 3), length: 5))}, instances: [Single(of: "a", motion: "m")])"#,
    );
    assert_eq!((s.motions.len(), s.instances[0].motion), (1, 0));
    assert!(matches!(s.motions[0].parts[..], [MotionPart::Bob { .. }]));
    assert_eq!(s.motions[0].phase, Phase::Wave { direction: Vec3::Z, length: 5.0 });
}

#[test]
fn textures_keep_their_srgb_bytes() {
    let s = scene(EVERYTHING);
    // All texels of the picture are equal.
    assert_eq!(s.textures[0].texels, Texels::Srgb8(vec![[255, 128, 0, 255]]));
}

#[test]
fn overrides_change_what_the_file_says() {
    let samples = |s: Scene| s.settings.samples;
    assert_eq!(set(EVERYTHING, "render.samples", "99").map(samples), Ok(99));
    let tiny = r#"(meshes: {"a": Sphere}, instances: [Grid(of: "a", count: (2, 2, 2), spacing: (3, 3, 3))])"#;
    assert_eq!(set(tiny, "render.samples", "99").map(samples), Ok(99));
    assert_eq!(set(tiny, "instances.0.count", "(3, 1, 1)").map(|s| s.instances.len()), Ok(3));
    let sky = set(tiny, "environment", "Constant(radiance: \"#ffffff\")").map(|s| s.environment);
    assert_eq!(sky, Ok(Environment::Constant { radiance: Vec3::ONE }));
    let colour = set(EVERYTHING, "materials.chrome.tint", "(0.5, 0.5, 0.5)");
    assert!(colour.is_ok_and(|s| s.materials.iter().any(|m| m.color == Vec3::splat(0.5))));
}

#[test]
fn overrides_that_fit_nothing_say_so() {
    let says = |key: &str, value: &str, expected: &str| {
        let e = set(EVERYTHING, key, value).err().unwrap_or_default();
        assert!(e.contains(expected), "{key}={value}: {e}");
    };
    says("render.sampels", "1", "--set render.sampels: unknown field `sampels` in render: did you mean `samples`?");
    says("materials.stne.color", "1", "did you mean `stone`?");
    says("instances.11.of", "\"a\"", "there is no element `11`: the list has 11");
    says("render.samples", "many", "--set render.samples: ");
    says("render.samples", "1, seed: 2", "is not a value");
    says("render.samples", "(1", "is not a value");
    says("", "1", "--set : ");
    says("camera.nothing.deeper", "1", "there is no `nothing`");
    says("render.samples", "0", "samples is 0; it must be 1 to 1048576");
}

#[test]
fn a_bare_model_gets_ground_light_and_a_turntable() {
    let dir = folder();
    let s = load(&dir.path().join("two.obj")).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((s.name.as_str(), s.meshes.len(), s.settings.frames), ("two", 2, 72));
    assert!(matches!(s.camera.path, CameraPath::Orbit { turns: 1.0, .. }));
    assert!(matches!(s.environment, Environment::Gradient { .. }) && s.lights.len() == 3);
    assert!(s.instances[1].local.translation.y < 0.0);
}

#[test]
fn values_of_a_bare_model_can_be_set() {
    let dir = folder();
    let load = |sets: &[(&str, &str)]| {
        let overrides = sets.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let options = LoadOptions { overrides, ..LoadOptions::default() };
        load_with(&dir.path().join("two.obj"), &options).map_err(|e| e.to_string())
    };
    let usual = load(&[]).unwrap();
    let name = usual.names.materials[0].clone();
    let material = format!("materials.{name}");
    let sets = [
        ("render.samples", "2"),
        ("environment", "Constant(radiance: (1, 2, 3))"),
        (&material, "Mirror(tint: (0.5, 0.6, 0.7))"),
    ];
    let s = load(&sets).unwrap();
    assert_eq!((s.settings.samples, s.settings.noise, s.settings.frames), (2, None, usual.settings.frames));
    assert!(matches!(s.environment, Environment::Constant { .. }) && s.lights.is_empty());
    assert_eq!((s.materials[0].kind, s.materials.len()), (MaterialKind::Mirror, usual.materials.len()));
    let fails = |key: &str, value: &str, expected: &str| {
        let e = load(&[(key, value)]).err().unwrap_or_default();
        assert!(e.starts_with(&format!("--set {key}: ")) && e.contains(expected), "{e}");
    };
    fails("render.samples", "0", "it must be 1 to 1048576");
    fails("environment", "SunSky(elevation: 800)", "out of range");
    fails("materials.nothing", "Mirror()", "there is no `nothing`");
    fails("camera", "Orbit()", "write a .ron scene for more");
}

#[test]
fn the_example_in_the_reference_loads() {
    let reference = include_str!("../../crates/scene/src/desc/mod.rs");
    let lines = reference.lines().map_while(|l| l.strip_prefix("//!"));
    let example = lines.skip_while(|l| !l.contains("```ron")).skip(1).take_while(|l| !l.contains("```"));
    let text = example.collect::<Vec<_>>().join("\n").replace("dragon.obj", "tri.obj");
    assert_eq!(scene(&text).instances.len(), 101);
}
