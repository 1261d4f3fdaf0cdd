//! Scenes that are exported and loaded again: what throng draws stays the same.

use glam::{Affine3, Vec3};
use std::{fs, path::PathBuf};
use throng_export::{ExportOptions, Exported, export};
use throng_loader::load;
use throng_scene::{
    Environment, Integrator, Light, Material, Metering, NONE, Placed, RenderDefaults, Scene, Shape, ToneMap,
    anim::{Deformed, Moment, camera_of_frame, hidden_instances, shape_at, shown_meshes, world_transforms},
};

/// A folder with a scene file.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join("scene.ron"), text).expect("a scene file");
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn scene(&self) -> Scene {
        load(&self.path("scene.ron")).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The scene, and what it is after it was exported to a file with this name.
    fn again(&self, name: &str) -> (Scene, Scene, Exported) {
        let scene = self.scene();
        let path = self.path(name);
        let exported =
            export(scene.clone(), &path, &ExportOptions::default()).unwrap_or_else(|error| panic!("{error}"));
        let again = load(&path).unwrap_or_else(|error| panic!("{error}"));
        assert!(again.warnings.is_empty(), "{:?}", again.warnings);
        (scene, again, exported)
    }
}

/// An object in the world at a time: its place, the bounds of its mesh, and the materials of its slots.
#[derive(Debug)]
struct Object {
    place: Affine3,
    size: Vec3,
    prims: usize,
    materials: Vec<Material>,
}

/// All objects of a frame, with those in assemblies.
fn objects(scene: &Scene, frame: u32) -> Vec<Object> {
    let moment = Moment::of(scene, scene.time_of(frame));
    let (mut places, mut meshes) = (Vec::new(), Vec::new());
    world_transforms(scene, &moment, &mut places);
    shown_meshes(scene, &scene.instances, &[], &moment, &mut meshes);
    let hidden = hidden_instances(scene, &moment);
    let mut stack: Vec<(usize, Affine3)> = scene.world().map(|index| (index, Affine3::IDENTITY)).collect();
    let mut all = Vec::new();
    while let Some((index, outer)) = stack.pop() {
        if hidden.contains(&(index as u32)) {
            continue;
        }
        let place = outer * places[index];
        let instance = throng_scene::Instance { mesh: meshes[index], ..scene.instances[index] };
        match scene.placed_by(&instance) {
            Placed::Assembly(assembly) => {
                stack.extend(scene.assemblies[assembly].range().map(|inner| (inner, place)));
            }
            Placed::Mesh(mesh) => {
                let mesh = &scene.meshes[mesh];
                let base = instance.slot_base as usize;
                let rows = &scene.material_slots[base..base + mesh.slot_count as usize];
                let materials = rows.iter().map(|&row| without_maps(scene.materials[row as usize])).collect();
                all.push(Object { place, size: mesh.bounds().extent(), prims: mesh.prim_count(), materials });
            }
        }
    }
    let key = |object: &Object| object.place.translation.to_array().map(|x| (x * 1e3).round() as i64);
    all.sort_by_key(|object| (key(object), object.prims, (object.size.x * 1e4) as i64));
    all
}

/// Indices of maps differ from table to table.
fn without_maps(mut material: Material) -> Material {
    material.for_each_map(|map| *map = NONE);
    material.color_map = NONE;
    material.emission_map = NONE;
    material
}

fn assert_same_objects(scene: &Scene, again: &Scene, frame: u32) {
    let (expected, found) = (objects(scene, frame), objects(again, frame));
    assert_eq!(expected.len(), found.len(), "frame {frame}");
    for (expected, found) in expected.iter().zip(&found) {
        let tolerance = 1e-5 * (1.0 + expected.place.translation.abs().max_element());
        assert!(expected.place.abs_diff_eq(found.place, tolerance), "frame {frame}: {expected:?}\n{found:?}");
        assert!(expected.size.abs_diff_eq(found.size, 1e-5 * (1.0 + expected.size.max_element())));
        assert_eq!((expected.prims, &expected.materials), (found.prims, &found.materials), "frame {frame}");
    }
}

fn assert_same_view(scene: &Scene, again: &Scene, frame: u32) {
    let aspect = scene.settings.width as f32 / scene.settings.height as f32;
    let (expected, found) = (camera_of_frame(scene, frame), camera_of_frame(again, frame));
    for (x, y) in [(0.0, 0.0), (1.0, 1.0), (-1.0, 0.5)] {
        let ((eye, direction), (own_eye, own)) = (expected.ray(x, y, aspect), found.ray(x, y, aspect));
        assert!(eye.distance(own_eye) < 1e-5 * (1.0 + eye.length()), "frame {frame}: {eye} {own_eye}");
        assert!(direction.distance(own) < 2e-6, "frame {frame}: {direction} {own}");
    }
    let lens = |pose: &throng_scene::anim::CameraPose| pose.lens.map(|lens| [lens.radius, lens.focus]);
    match (lens(&expected), lens(&found)) {
        (None, None) => {}
        (Some(a), Some(b)) => assert!((0..2).all(|i| (a[i] - b[i]).abs() < 1e-5 * a[i].abs()), "{a:?} {b:?}"),
        other => panic!("{other:?}"),
    }
}

const STILL: &str = r##"(
    render: (size: (64, 48), samples: 3, bounces: 5, integrator: whitted, exposure: 0.5, tone_map: agx, clamp_indirect: 4),
    environment: Gradient(zenith: (0.2, 0.3, 0.5), horizon: (0.5, 0.4, 0.3), nadir: (0.1, 0.1, 0.1)),
    lights: [
        Sun(direction: (1, 2, 1), irradiance: (3, 2.5, 2), size: 2),
        Point(position: (1, 5, 2), intensity: (10, 20, 30)),
        Spot(position: (0, 6, 0), direction: (0.3, -1, 0.2), intensity: (40, 40, 30), angle: 50, blend: 0.4),
    ],
    materials: {
        "chalk": Diffuse(color: (0.8, 0.2, 0.1)),
        "glass": Glass(ior: 1.6, attenuation: ((0.2, 0.5, 0.9), 2)),
        "mirror": Mirror(tint: (0.9, 0.8, 0.7)),
        "lamp": Emissive(radiance: (5, 4, 3)),
        "gold": Metal(color: (1, 0.77, 0.34), roughness: 0.15),
        "fur": Hair(melanin: 0.4),
    },
    meshes: { "ball": Sphere, "box": Box(), "floor": Quad(tile: 3), "fuzz": Fur(on: "box", count: 40, length: 0.2, width: 0.01, profile: ribbon) },
    groups: {
        "pair": [Single(of: "ball", material: "gold"), Single(of: "box", translate: (0, 2, 0), rotate: (10, 20, 30))],
        "row": [Grid(of: "pair", count: (4, 1, 1), spacing: (3, 0, 0), nest: true)],
    },
    instances: [
        Single(of: "floor", material: "chalk", scale: 50),
        Grid(of: "ball", count: (5, 1, 5), spacing: (2, 0, 2), materials: ["mirror", "glass", "lamp"], choose: cycle),
        Grid(of: "box", count: (3, 3, 1), spacing: (2, 2, 2), jitter: (rotate: 180, scale: 0.3, seed: 1), material: "glass"),
        Group(of: [Single(of: "box", material: "chalk", rotate: (0, 0, 30))], scale: (1, 3, 1)),
        Grid(of: "row", count: (1, 1, 3), spacing: (0, 0, 6), material: "chalk", nest: true),
        Single(of: "fuzz", material: "fur", scale: (-1, 2, 1)),
    ],
    camera: LookAt(eye: (3, 4, 12), target: (0, 1, 0), fov: 35, shift: (0.1, 0), lens: (f_stop: 2, focus: 8)),
)"##;

#[test]
fn a_still_scene_is_the_same_in_every_format() {
    let place = Place::new(STILL);
    for name in ["a.usda", "b.usdc", "c.usd", "d.usdz"] {
        let (scene, again, exported) = place.again(name);
        assert_same_objects(&scene, &again, 1);
        assert_same_view(&scene, &again, 1);
        assert_eq!(exported.counts.copies, 25 + 9, "{name}");
        let (own, found) = (&scene.settings, &again.settings);
        assert_eq!((own.width, own.height, own.frames), (found.width, found.height, found.frames));
        assert_eq!(own.named(), found.named());
        assert!((own.exposure - found.exposure).abs() < 1e-6);
        assert_eq!((found.integrator, found.tone_map), (Integrator::Whitted, ToneMap::Agx));
        assert_eq!(again.environment, scene.environment);
    }
}

#[test]
fn lights_shine_as_before() {
    let (scene, again, _) = Place::new(STILL).again("lights.usdc");
    assert_eq!(scene.lights.len(), again.lights.len());
    let near = |a: f32, b: f32| (a - b).abs() <= 2e-3 * (1.0 + a.abs());
    let all = |a: Vec3, b: Vec3| a.distance(b) < 1e-5 * (1.0 + a.length());
    for (own, found) in scene.lights.iter().zip(&again.lights) {
        let is_same = match (*own, *found) {
            (
                Light::Sun { direction, irradiance, angular_radius },
                Light::Sun { direction: d, irradiance: i, angular_radius: r },
            ) => all(direction, d) && all(irradiance, i) && near(angular_radius, r),
            (Light::Point { position, intensity, .. }, Light::Point { position: p, intensity: i, .. }) => {
                all(position, p) && all(intensity, i)
            }
            (
                Light::Spot { position, direction, intensity, inner, outer, radius, .. },
                Light::Spot { position: p, direction: d, intensity: i, inner: a, outer: b, radius: r, .. },
            ) => {
                let is_placed = all(position, p) && all(direction, d) && all(intensity, i);
                is_placed && near(inner, a) && near(outer, b) && near(radius, r)
            }
            _ => false,
        };
        assert!(is_same, "{own:?}\n{found:?}");
    }
}

#[test]
fn ribbons_and_their_points_stay() {
    let (scene, again, _) = Place::new(STILL).again("fur.usda");
    let strands = |scene: &Scene| {
        let all = scene.meshes.iter().filter_map(|mesh| match &mesh.shape {
            Shape::Curves(curves) => Some(curves.clone()),
            _ => None,
        });
        all.collect::<Vec<_>>()
    };
    let (own, found) = (strands(&scene), strands(&again));
    assert_eq!((own.len(), found.len()), (1, 1));
    assert_eq!((own[0].profile, &own[0].strands), (found[0].profile, &found[0].strands));
    assert_eq!(own[0].points, found[0].points);
}

#[test]
fn curves_that_deform_are_at_their_places_in_each_frame() {
    let place = Place::new(
        r##"(
    render: (size: (64, 36), frames: 3, fps: 1),
    meshes: { "box": Box(), "hair": Curves(file: "hair.obj", width: 0.1), "swaying": Fur(on: "box", count: 9, length: 1, width: 0.1, wind: (direction: (1, 0, 0), strength: 0.5, period: 3)) },
    instances: [Single(of: "hair"), Single(of: "swaying")],
    camera: LookAt(eye: (0, 0, 9), target: (0, 0, 0)),
)"##,
    );
    fs::write(place.path("hair.obj"), "v 0 0 0\nv 0 1 0\nv 0 2 1\nl 1 2 3\n").expect("a file");
    let (scene, again, _) = place.again("hair.usdc");
    let shapes = |scene: &Scene, frame: u32| -> Vec<Vec<Vec3>> {
        let moment = Moment::of(scene, scene.time_of(frame));
        let shape = |deforming| {
            let mut shape = Deformed::default();
            shape_at(scene, deforming, &moment, &mut shape);
            shape.positions.iter().map(|&point| point.into()).collect()
        };
        scene.deforming.iter().map(shape).collect()
    };
    for frame in 1..=3 {
        let (expected, found) = (shapes(&scene, frame), shapes(&again, frame));
        assert_eq!((expected.len(), found.len()), (1, 1));
        let distance = |(a, b): (&Vec3, &Vec3)| a.distance(*b);
        assert!(expected[0].iter().zip(&found[0]).map(distance).fold(0.0, f32::max) < 1e-5, "frame {frame}");
    }
    assert_ne!(shapes(&scene, 1), shapes(&scene, 2));
}

const MOVING: &str = r##"(
    render: (size: (64, 36), frames: 6, fps: 12, first_frame: 11),
    environment: Constant(radiance: (0.5, 0.6, 0.7)),
    materials: { "red": Diffuse(color: (0.8, 0.1, 0.1)), "blue": Diffuse(color: (0.1, 0.1, 0.8)) },
    meshes: { "ball": Sphere, "box": Box() },
    motions: {
        "spin": (parts: [Spin(axis: (0, 1, 0), period: 1)], phase: random(seed: 2)),
        "bob": (parts: [Bob(offset: (0, 1, 0), period: 0.5)]),
    },
    groups: { "pair": [Single(of: "ball", material: "red"), Single(of: "box", translate: (0, 2, 0), motion: "spin")] },
    instances: [
        Grid(of: "box", count: (6, 1, 6), spacing: (3, 0, 3), material: "blue", motion: "spin", each: (rotate: (10, 0, 30))),
        Single(of: "ball", material: "red", motion: "bob"),
        Grid(of: "pair", count: (3, 1, 3), spacing: (9, 0, 9), material: "blue", motion: "bob", nest: true),
        Single(of: "ball", material: "blue", translate: (0, 9, 0), visible: keys([(0, false), (0.2, true)])),
    ],
    camera: Spline(fov: 40, parametrisation: uniform, keys: [(eye: (0, 5, 30), target: (0, 0, 0)), (eye: (20, 5, 30), target: (0, 3, 0))]),
)"##;

#[test]
fn everything_is_at_its_place_in_each_frame() {
    let (scene, again, _) = Place::new(MOVING).again("moving.usdc");
    assert_eq!((again.settings.first_frame, again.settings.frames, again.settings.fps), (11, 6, 12.0));
    assert!(matches!(again.environment, Environment::Constant { .. }));
    for frame in 11..=16 {
        assert_same_objects(&scene, &again, frame);
        assert_same_view(&scene, &again, frame);
    }
}

#[test]
fn exposures_that_keys_give_or_that_were_measured_are_those_of_their_frames() {
    let keyed = Place::new(&MOVING.replace("fps: 12", "fps: 12, exposure: keys([(0, 1), (0.25, 2)])"));
    let exposure = |scene: &Scene, frame: u32| {
        let timeline = scene.timeline.as_ref().and_then(|timeline| timeline.exposure(scene.time_of(frame)));
        timeline.unwrap_or(scene.settings.exposure)
    };
    let (scene, again, exported) = keyed.again("keyed.usdc");
    assert_eq!((again.settings.metering, &exported.warnings[..]), (Metering::Keyed, &[][..]));
    for frame in 11..=16 {
        assert!((exposure(&scene, frame) - exposure(&again, frame)).abs() < 1e-5, "frame {frame}");
    }
    let place = Place::new(&MOVING.replace("fps: 12", "fps: 12, exposure: 9"));
    let scene =
        Scene { settings: RenderDefaults { metering: Metering::Full, ..place.scene().settings }, ..place.scene() };
    for (name, stops) in [("measured.usda", [0.5_f32, 1.5]), ("one.usda", [0.25, 0.25])] {
        let exposures = (11..=16).map(|frame| (frame, stops[usize::from(frame > 13)])).collect();
        let path = place.path(name);
        let options = ExportOptions { exposures, ..ExportOptions::default() };
        let exported = export(scene.clone(), &path, &options).unwrap_or_else(|error| panic!("{error}"));
        assert!(exported.warnings.is_empty(), "{:?}", exported.warnings);
        let again = load(&path).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(again.settings.metering, if stops[0] == stops[1] { Metering::Off } else { Metering::Keyed });
        assert_eq!([11, 13, 14, 16].map(|frame| exposure(&again, frame)), [stops[0], stops[0], stops[1], stops[1]]);
    }
}

#[test]
fn some_frames_can_be_chosen() {
    let place = Place::new(MOVING);
    let path = place.path("some.usda");
    let options = ExportOptions { frames: Some(12..=13), ..ExportOptions::default() };
    export(place.scene(), &path, &options).unwrap_or_else(|error| panic!("{error}"));
    let again = load(&path).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((again.settings.first_frame, again.settings.frames), (12, 2));
    assert_same_objects(&place.scene(), &again, 13);
}

#[test]
fn a_name_that_is_none_of_usd_is_refused_and_nothing_is_written() {
    let place = Place::new(STILL);
    for name in ["a.obj", "a", "a.usdx"] {
        let error = export(place.scene(), &place.path(name), &ExportOptions::default()).expect_err(name);
        assert!(error.to_string().contains(".usdc"), "{error}");
    }
    let nowhere = place.path("scene.ron/a.usda");
    assert!(export(place.scene(), &nowhere, &ExportOptions::default()).is_err());
    assert_eq!(fs::read_dir(place.folder.path()).expect("the folder").count(), 1);
}
