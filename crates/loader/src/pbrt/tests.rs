//! pbrt scenes as scenes of throng.

use crate::{LoadError, load};
use glam::{DAffine3, Vec3};
use std::{fs, io::Write, path::Path};
use throng_scene::{Alpha, Environment, Light, MaterialKind, Metering, Projection, Scene, Shape, anim::Moment};

const CAMERA: &str = "Film \"rgb\" \"integer xresolution\" 64 \"integer yresolution\" 32\n\
    Scale -1 1 1 LookAt 0 0 5 0 0 0 0 1 0 Camera \"perspective\" \"float fov\" 40\nWorldBegin\n";

fn try_load(text: &str) -> Result<Scene, LoadError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("main.pbrt");
    fs::write(&path, text).unwrap();
    load(&path)
}

fn scene(text: &str) -> Scene {
    let scene = try_load(&format!("{CAMERA}{text}")).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(scene.warnings, [""; 0]);
    scene
}

#[test]
fn the_camera_and_the_film_are_those_of_the_file() {
    let scene = scene("LightSource \"point\" Shape \"sphere\"");
    assert_eq!((scene.settings.width, scene.settings.height, scene.settings.frames), (64, 32, 1));
    assert_eq!(scene.settings.metering, Metering::Off);
    let Projection::Perspective { fov_y } = scene.camera.projection else { panic!() };
    assert!((fov_y.to_degrees() - 40.0).abs() < 1e-3, "the shorter side has the angle of view: {fov_y}");
    let eye = scene.nodes[0].local;
    assert!(eye.translation.distance(Vec3::new(0.0, 0.0, 5.0)) < 1e-5, "{eye:?}");
    assert!(eye.matrix3.z_axis.distance(Vec3::Z) < 1e-5 && eye.matrix3.x_axis.distance(Vec3::X) < 1e-5);
}

#[test]
fn a_space_that_is_not_mirrored_is_left_handed() {
    let text = CAMERA.replace("Scale -1 1 1", "") + "LightSource \"point\" Translate 1 0 0 Shape \"sphere\"";
    let scene = try_load(&text).unwrap();
    // Looking along -Z with +Y up, +X is on the left of a left-handed space's picture.
    assert_eq!(scene.instances[0].local.translation, Vec3::new(-1.0, 0.0, 0.0));
}

#[test]
fn what_is_up_for_the_camera_is_up() {
    let text = "LookAt 0 -5 0 0 0 0 0 0 1 Camera \"perspective\" WorldBegin LightSource \"point\" Translate 0 0 2 Shape \"sphere\"";
    let place = try_load(text).unwrap().instances[0].local.translation;
    assert!(place.distance(Vec3::Y * 2.0) < 1e-6, "{place}");
}

#[test]
fn objects_are_placed_as_often_as_the_file_says() {
    let scene = scene(
        "LightSource \"infinite\" ObjectBegin \"pair\" Shape \"sphere\" Translate 0 2 0 Shape \"sphere\" \"float radius\" 0.5 ObjectEnd
        Translate 1 0 0 ObjectInstance \"pair\" Translate 1 0 0 ObjectInstance \"pair\"",
    );
    assert_eq!((scene.meshes.len(), scene.instances.len()), (1, 4));
    let mut places: Vec<_> = scene.instances.iter().map(|instance| instance.local.translation.to_array()).collect();
    places.sort_by(|a, b| a.partial_cmp(b).unwrap());
    assert_eq!(places, [[1.0, 0.0, 0.0], [1.0, 2.0, 0.0], [2.0, 0.0, 0.0], [2.0, 2.0, 0.0]]);
    assert_eq!(scene.environment, Environment::Constant { radiance: Vec3::ONE });
}

#[test]
fn triangles_face_where_their_normals_do_unless_they_are_reversed() {
    let quad = "Shape \"trianglemesh\" \"point3 P\" [ 0 0 0 1 0 0 1 1 0 ] \"normal N\" [ 0 0 -1 0 0 -1 0 0 -1 ]";
    let front = |scene: &Scene| match &scene.meshes[0].shape {
        Shape::Triangles(mesh) => (mesh.triangles[0], mesh.normals[0]),
        _ => panic!(),
    };
    let light = "LightSource \"point\"";
    assert_eq!(front(&scene(&format!("{light} {quad}"))), ([0, 2, 1], [0.0, 0.0, -1.0]));
    assert_eq!(front(&scene(&format!("{light} ReverseOrientation {quad}"))), ([0, 1, 2], [-0.0, -0.0, 1.0]));
}

#[test]
fn materials_have_their_lobes() {
    let scene = scene(
        "LightSource \"point\" Material \"conductor\" \"spectrum eta\" \"metal-Au-eta\" \"spectrum k\" \"metal-Au-k\" \"float roughness\" 0.0625
        Shape \"sphere\" Material \"dielectric\" Shape \"sphere\" Material \"diffuse\" \"rgb reflectance\" [ 0.1 0.2 0.3 ] Shape \"sphere\"
        Shape \"sphere\" \"float alpha\" 0.25 Material \"plastic\" Shape \"sphere\" Material \"interface\" Shape \"sphere\"",
    );
    let [gold, glass, matte, faint, plastic] = &scene.materials[..] else { panic!("{}", scene.materials.len()) };
    // Alpha is the root of the roughness, and the root of alpha is the roughness here.
    assert!(gold.lobes.metallic == 1.0 && (gold.lobes.roughness - 0.5).abs() < 1e-6 && gold.color.x > 0.9);
    assert_eq!((glass.lobes.transmission, glass.lobes.thin, glass.lobes.ior), (1.0, 0, 1.5));
    assert_eq!((matte.kind, matte.color), (MaterialKind::Diffuse, Vec3::new(0.1, 0.2, 0.3)));
    assert_eq!((faint.alpha, faint.opacity), (Alpha::Blend, 0.25));
    assert!(plastic.kind == MaterialKind::Layered && (plastic.lobes.specular - 0.25).abs() < 1e-6);
    assert_eq!(scene.instances.len(), 5, "an interface is not visible");
}

#[test]
fn mixes_are_blends_and_cutouts() {
    let scene = scene(
        "LightSource \"point\" MakeNamedMaterial \"a\" \"string type\" \"diffuse\" \"rgb reflectance\" [ 1 0 0 ]
        MakeNamedMaterial \"b\" \"string type\" \"diffuse\" \"rgb reflectance\" [ 0 1 0 ] MakeNamedMaterial \"none\" \"string type\" \"interface\"
        Material \"mix\" \"string materials\" [ \"a\" \"b\" ] \"float amount\" 0.25 Shape \"sphere\"
        Material \"mix\" \"string materials\" [ \"a\" \"none\" ] \"float amount\" 0.25 Shape \"sphere\"",
    );
    assert_eq!(scene.materials[0].color, Vec3::new(0.75, 0.25, 0.0));
    assert_eq!((scene.materials[1].alpha, scene.materials[1].opacity), (Alpha::Blend, 0.75));
}

#[test]
fn lights_keep_their_brightness() {
    let scene = scene(
        "LightSource \"distant\" \"rgb L\" [ 2 2 2 ] \"point3 from\" [ 0 3 0 ] \"point3 to\" [ 0 0 0 ]
        LightSource \"spot\" \"rgb I\" [ 3 3 3 ] AreaLightSource \"diffuse\" \"rgb L\" [ 5 6 7 ] Shape \"disk\"
        AreaLightSource \"diffuse\" \"float power\" 10 Shape \"sphere\" \"float radius\" 2",
    );
    let Light::Sun { direction, irradiance, .. } = scene.lights[0] else { panic!() };
    assert_eq!((direction, irradiance), (Vec3::Y, Vec3::splat(2.0)));
    let Light::Spot { intensity, .. } = scene.lights[1] else { panic!() };
    assert_eq!(intensity, Vec3::splat(3.0));
    let lamps: Vec<_> = scene.materials.iter().filter(|material| material.emission != Vec3::ZERO).collect();
    assert_eq!((lamps[0].emission, lamps[0].one_sided), (Vec3::new(5.0, 6.0, 7.0), true));
    let expected = 10.0 / (16.0 * std::f32::consts::PI * std::f32::consts::PI);
    assert!((lamps[1].emission.x - expected).abs() < 1e-3 * expected, "{} {expected}", lamps[1].emission);
}

#[test]
fn motion_is_shown_while_the_shutter_is_open() {
    let text = format!(
        "{}LightSource \"point\" ActiveTransform EndTime Translate 0 4 0 ActiveTransform All Shape \"sphere\"",
        CAMERA.replace("\"float fov\" 40", "\"float shutteropen\" 0 \"float shutterclose\" 0.5")
    );
    let scene = try_load(&text).unwrap();
    assert_eq!(scene.settings.shutter.map(|shutter| shutter.span()), Some([0.0, 0.5]));
    assert!(scene.is_animated());
    let at = |frames: f64| {
        let moment = Moment::of(&scene, frames / scene.settings.fps);
        throng_scene::anim::instance_world(&scene, &moment, 0).translation.y
    };
    assert!((at(0.5) - 2.0).abs() < 1e-4 && at(0.0).abs() < 1e-4);
}

/// A square in a PLY file.
const PLY: &str = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face 1\n\
    property list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n";

#[test]
fn meshes_in_files_are_read_once_and_may_be_compressed() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(PLY.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    write("a.ply.gz", &packed);
    let shape = "Shape \"plymesh\" \"string filename\" \"a.ply.gz\"";
    let text = format!(
        "{CAMERA}LightSource \"point\" {shape} Translate 0 1 0 {shape} Shape \"plymesh\" \"string filename\" \"b.ply\""
    );
    write("main.pbrt", text.as_bytes());
    let scene = load(&folder.path().join("main.pbrt")).unwrap();
    assert_eq!((scene.meshes.len(), scene.instances.len()), (1, 2));
    let Shape::Triangles(mesh) = &scene.meshes[0].shape else { panic!() };
    assert_eq!((mesh.positions.len(), mesh.triangles.len(), mesh.normals.len()), (4, 2, 0), "flat as in the file");
    assert!(
        scene.warnings[0].contains("a mesh is left out") && scene.warnings[0].contains("b.ply"),
        "{:?}",
        scene.warnings
    );
    for cut in 0..packed.len() / 2 {
        write("a.ply.gz", &packed[..cut]);
        let error = load(&folder.path().join("main.pbrt")).unwrap_err().to_string();
        assert!(error.contains("there is nothing to see: a mesh is left out"), "{cut}: {error}");
    }
}

#[test]
fn a_scene_file_has_a_pbrt_scene_as_a_group() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("thing.pbrt", &format!("{CAMERA}Shape \"sphere\" Translate 4 0 0 Shape \"sphere\""));
    write(
        "main.ron",
        "(meshes: {\"x\": Pbrt(file: \"thing.pbrt\", fit: 3)}, instances: [Grid(of: \"x\", count: (3, 1, 1), spacing: (9, 1, 1))])",
    );
    let scene = load(&folder.path().join("main.ron")).unwrap();
    assert_eq!((scene.instances.len(), scene.meshes.len()), (6, 1));
    assert!((scene.instances[0].local.matrix3.determinant().cbrt() - 0.5).abs() < 1e-5);
    write("main.ron", "(meshes: {\"x\": Pbrt(file: \"none.pbrt\")}, instances: [Single(of: \"x\")])");
    let error = load(&folder.path().join("main.ron")).unwrap_err().to_string();
    assert!(error.contains("main.ron:1:") && error.contains("none.pbrt"), "{error}");
}

#[test]
fn errors_and_warnings_have_places_in_the_file() {
    let error = try_load("WorldBegin\nShape \"sphere\" \"float radius\" x").unwrap_err().to_string();
    assert!(error.contains("main.pbrt:2:31: `x` in `float radius` is no finite number"), "{error}");
    let error = try_load("WorldBegin").unwrap_err().to_string();
    assert!(error.contains("there is nothing to see"), "{error}");
    let scene = try_load("WorldBegin Shape \"sphere\" \"float radiu\" 1").unwrap();
    assert!(scene.warnings[0].contains("main.pbrt:1:27: `radiu`"), "{:?}", scene.warnings);
}

#[test]
fn a_scene_without_a_camera_keeps_its_space() {
    let scene = throng_pbrt::read(Path::new("none.pbrt"));
    assert!(scene.is_err());
    assert_eq!(super::upright(&throng_pbrt::Scene::default()), DAffine3::IDENTITY);
}
