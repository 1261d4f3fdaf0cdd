//! Tests that combine several calls.

use super::*;
use std::fs;
use throng_render::FrameReport;
use throng_scene::{TriangleMesh, desc::MeshDesc};

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
    // Denoised frames of models depend on which other frames are requested.
    let mut renderer = link().as_traced();
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
fn scenes_that_are_denoised_by_themselves_can_be_left_as_traced() {
    let dragons =
        || Renderer::open("scenes/dragon_of_dragons.ron").unwrap().size(48, 32).samples(2).device(DeviceChoice::Cpu);
    let [asked, usual, traced] =
        [dragons().denoise(), dragons(), dragons().as_traced()].map(|mut it| it.frame(1).unwrap());
    assert!(asked == usual && traced != usual);
}

#[test]
fn sequences_are_the_frames_one_by_one_and_end_where_one_wants() {
    let mut dragons =
        Renderer::open("scenes/dragon_of_dragons.ron").unwrap().size(48, 32).samples(2).device(DeviceChoice::Cpu);
    let mut frames: Vec<(u32, Image)> = Vec::new();
    let mut take = |number, image| {
        frames.push((number, image));
        if frames.len() < 3 { Ok(()) } else { Err(Box::<dyn std::error::Error>::from("enough")) }
    };
    assert_eq!(dragons.frames([7, 8, 3, 4], &mut take).unwrap_err().to_string(), "enough");
    for (number, image) in frames {
        assert!(dragons.frame(number).unwrap() == image, "{number}");
    }
    let mut numbers = Vec::new();
    let radiance = dragons.radiance(2).unwrap();
    let take = |number, image: Image<f32>| {
        numbers.push(number);
        assert!(number != 2 || image == radiance);
        Ok::<_, Error>(())
    };
    dragons.frames([2, 3, 2, 2], take).unwrap();
    assert_eq!(numbers, [2, 3, 2, 2]);
    let never = |_, _: Image| -> Result<(), Error> { panic!("a frame of a sequence that does not exist") };
    assert!(dragons.frames([1, 0], never).unwrap_err().is_usage());
}

#[test]
fn progress_of_a_call_does_not_remain_for_the_next() {
    let mut renderer = link().denoise();
    renderer.frames([1, 2], |_, _: Image| Ok::<_, Error>(())).unwrap();
    assert_eq!(renderer.progress().unwrap().unwrap().share(), 0.0);
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
