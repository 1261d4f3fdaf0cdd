//! Tests that need more than one call.

use super::*;
use crate::{
    render::FrameReport,
    scene::{TriangleMesh, desc::MeshDesc},
};
use glam::Vec3;
use std::fs;

struct Numbers(Vec<u32>);

impl FrameObserver for Numbers {
    fn frame_done(&mut self, report: &FrameReport) {
        self.0.push(report.frame);
    }
}

fn link() -> Renderer {
    Renderer::open("assets/link.obj").unwrap().size(48, 32).samples(1).device(DeviceChoice::Cpu)
}

#[test]
fn pictures_in_memory_are_those_in_files() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for (renderer, name) in [(link(), "opaque"), (link().transparent(), "cut")] {
        let mut renderer = renderer;
        for extension in ["png", "exr"] {
            let (written, saved) = (at(&format!("{name}.{extension}")), at(&format!("{name}-saved.{extension}")));
            renderer.write(&written, &mut ()).unwrap();
            match extension {
                "png" => renderer.frame(1).unwrap().save(&saved).unwrap(),
                _ => renderer.radiance(1).unwrap().save(&saved).unwrap(),
            }
            assert!(fs::read(written).unwrap() == fs::read(saved).unwrap(), "{name}.{extension}");
        }
    }
}

#[test]
fn frames_are_told_and_do_not_depend_on_what_was_rendered_before() {
    let folder = tempfile::tempdir().unwrap();
    let mut renderer = link();
    let third = renderer.frame(3).unwrap();
    let frames = FrameOptions {
        output: Some(Destination::parse(folder.path().join("{model}_#.png")).unwrap()),
        frames: Some("1-3".parse().unwrap()),
        ..FrameOptions::default()
    };
    let mut numbers = Numbers(Vec::new());
    renderer.write_with(&frames, &mut numbers, &AtomicBool::new(false)).unwrap();
    assert_eq!(numbers.0, [1, 2, 3]);
    let written = ::image::open(folder.path().join("link_3.png")).unwrap().into_rgb8();
    assert!(written.as_raw() == third.pixels());
    assert!(renderer.frame(1).unwrap() != third && renderer.frame(3).unwrap() == third);
}

#[test]
fn what_is_wrong_is_told_and_leaves_the_renderer_usable() {
    let mut renderer = link();
    assert!(renderer.frame(0).unwrap_err().is_usage());
    let error = renderer.frame(73).unwrap_err().to_string();
    assert!(error.contains("frame 73 does not exist"), "{error}");
    let mut renderer = renderer.samples(0);
    let error = renderer.frame(1).unwrap_err().to_string();
    assert!(error.contains("samples is 0; it must be 1 to 1048576"), "{error}");
    let image = renderer.samples(1).frame(1).unwrap();
    for wrong in ["a.exr", "a.tif", "a"] {
        let error = image.save(wrong).unwrap_err().to_string();
        assert!(error.contains(wrong) && error.contains("name it .png"), "{error}");
    }
    let error = image.save("assets/link.obj").unwrap_err().to_string();
    assert!(error.contains("link.obj"), "{error}");
    let error = link().transparent().frame(1).unwrap().save("a.jpg").unwrap_err().to_string();
    assert!(error.contains("no transparency"), "{error}");
}

#[test]
fn a_scene_with_an_index_that_leads_nowhere_is_refused() {
    let scene = Scene { material_slots: vec![7], ..Scene::default() };
    assert!(matches!(Renderer::from_scene(scene), Err(Error::Scene(_))));
}

#[test]
fn a_scene_built_in_code_is_checked_like_a_file() {
    let triangle = || TriangleMesh {
        positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        triangles: vec![[0, 1, 2]],
        ..TriangleMesh::default()
    };
    let error = |mesh: TriangleMesh| {
        let mut scene: SceneFile = "(meshes: {}, instances: [Single(of: \"a\")])".parse().unwrap();
        scene.meshes.push("a", MeshDesc::Triangles(mesh));
        Renderer::from_desc("v1.5", &scene).map(|mut renderer| renderer.scene().unwrap().name.clone())
    };
    assert_eq!(error(triangle()).unwrap(), "v1.5");
    for (mesh, fault) in [
        (TriangleMesh { triangles: vec![[0, 1, 3]], ..triangle() }, "a triangle has a vertex that the mesh lacks"),
        (TriangleMesh { triangles: vec![], ..triangle() }, "the mesh has no triangles"),
        (TriangleMesh { uvs: vec![[0.0; 2]], ..triangle() }, "must be as many as positions"),
        (TriangleMesh { slots: vec![1], ..triangle() }, "leave its slots empty"),
        (TriangleMesh { positions: vec![[f32::NAN; 3]; 3], ..triangle() }, "must be finite"),
    ] {
        let text = error(mesh).unwrap_err().to_string();
        assert!(text.starts_with("the scene built in code: meshes.a: ") && text.contains(fault), "{text}");
    }
    let text = "(meshes: {},\n instances: [Singel()])".parse::<SceneFile>().unwrap_err().to_string();
    assert!(text.starts_with("the scene built in code: line 2, column ") && text.contains("`Single`"), "{text}");
}

/// A triangle that faces +Z, as it is at x = 0 and mirrored and stretched at x = 10, and a sphere of radius 2 at x = 20.
fn three_things() -> Renderer {
    let text = r##"(
        environment: Constant(radiance: (1, 1, 1)),
        materials: { "red": Diffuse(color: "#ff0000"), "blue": Diffuse(color: "#0000ff") },
        meshes: { "ball": Sphere() },
        instances: [
            Single(of: "triangle", material: "red"),
            Single(of: "triangle", translate: (10, 0, 0), rotate: (0, 45, 0), scale: (-1, 3, 2), material: "blue"),
            Single(of: "ball", translate: (20, 0, 0), scale: 2, material: "red"),
        ],
    )"##;
    let mut scene: SceneFile = text.parse().unwrap();
    let triangle = TriangleMesh {
        positions: vec![[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 1.0, 0.0]],
        triangles: vec![[0, 1, 2]],
        ..TriangleMesh::default()
    };
    scene.meshes.push("triangle", MeshDesc::Triangles(triangle));
    Renderer::from_desc("things", &scene).unwrap().device(DeviceChoice::Cpu)
}

#[test]
fn hits_tell_what_where_and_which_way_it_faces() {
    let mut renderer = three_things();
    let forward = Vec3::NEG_Z;
    let rays = [0.0, 10.0, 20.0, 30.0].map(|x| Ray::new([x, 0.0, 5.0], 0.5 * forward));
    let hits = renderer.trace(1, &rays).unwrap();
    let [Some(plain), Some(mirrored), Some(ball), None] = hits[..] else { panic!("{hits:?}") };
    let scene = renderer.scene().unwrap();
    for (hit, mesh, material) in [(plain, "triangle", "red"), (mirrored, "triangle", "blue"), (ball, "ball", "red")] {
        assert_eq!(scene.meshes[hit.mesh as usize].name, mesh);
        assert_eq!(scene.material_name(hit.material as usize), material);
    }
    assert_eq!([plain, mirrored, ball].map(|hit| hit.instance), [0, 1, 2]);
    // Twice as far, as the direction is half as long.
    assert_eq!([plain.distance, ball.distance], [10.0, 6.0]);
    assert_eq!((plain.normal, plain.barycentrics), ([0.0, 0.0, 1.0], [0.25, 0.5]));
    // A mirrored triangle has the same front.
    let turned = Vec3::new(1.0, 0.0, 1.0).normalize();
    assert!(Vec3::from(mirrored.normal).distance(turned) < 1e-6, "{mirrored:?}");
    assert!(Vec3::from(ball.normal).distance(Vec3::Z) < 1e-6, "{ball:?}");
    // From behind, too.
    let behind = renderer.trace(1, &[Ray::new([0.0, 0.0, -5.0], Vec3::Z)]).unwrap();
    assert_eq!(behind[0].unwrap().normal, [0.0, 0.0, 1.0]);
}

#[test]
fn rays_end_where_they_are_told_to() {
    let mut renderer = three_things();
    let ray = Ray::new([0.0, 0.0, 5.0], Vec3::NEG_Z);
    let rays = [ray, Ray { t_max: 4.9, ..ray }, Ray { t_min: 5.1, ..ray }];
    assert_eq!(renderer.occluded(1, &rays).unwrap(), [true, false, false]);
    let hits = renderer.trace(1, &rays).unwrap();
    assert_eq!(hits.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, false]);
    assert_eq!(renderer.trace(1, &[]).unwrap(), []);
    for (ray, part) in [
        (Ray::new([0.0; 3], [0.0; 3]), "ray 1 has a number"),
        (Ray { t_min: -1.0, ..ray }, "ray 1 starts before its origin"),
    ] {
        let error = renderer.trace(1, &[rays[0], ray]).unwrap_err();
        assert!(error.to_string().starts_with(part), "{error}");
    }
    assert!(renderer.trace(2, &rays).is_err(), "there is one frame");
    assert_eq!(renderer.occluded(1, &rays[..1]).unwrap(), [true]);
}

#[test]
fn rays_meet_what_deforms_as_it_is_in_the_frame() {
    // Motion blur changes pictures only.
    let mut renderer = Renderer::open("assets/flapping_dragon.glb").unwrap().device(DeviceChoice::Cpu);
    let mut blurred = Renderer::open("assets/flapping_dragon.glb")
        .unwrap()
        .device(DeviceChoice::Cpu)
        .with(|options| options.picture.motion_blur = Some("0.5".parse().unwrap()));
    let rays: Vec<Ray> =
        (0..64).map(|i| Ray::new([(i % 8) as f32 - 3.5, 20.0, (i / 8) as f32 - 3.5], Vec3::NEG_Y)).collect();
    let first = renderer.trace(1, &rays).unwrap();
    let fifth = renderer.trace(5, &rays).unwrap();
    assert_ne!(first, fifth);
    assert_eq!(blurred.trace(5, &rays).unwrap(), fifth);
    assert_eq!(renderer.trace(1, &rays).unwrap(), first);
}
