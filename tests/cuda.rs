//! Consistency of the GPU: a frame is bitwise reproducible in repeated renders, with any division into launches and with other work in
//! progress. The reported ray counts equal the traced rays. tests/golden and tests/tracing compare it with the CPU.

#![cfg(all(feature = "cuda", target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

use exr::prelude::{FlatSamples, ReadChannels, ReadLayers};
use glam::Mat3;
use std::sync::Arc;
use throng::{
    loader::load,
    scene::{Integrator, Scene, View, Views, anim},
};
use throng_abi::{Hit, Ray};
use throng_accel::NodeLayout;
use throng_device::{
    CpuDevice, Delivery, Device, Frame, FrameSettings, KeptPicture, MatteNumbers, Plane, RayCounts, RayKind, Rendered,
    batch::can_join,
    cuda::{CudaDevice, gpus},
};
use throng_output::{ColorDepth, Encoding, ExrCompression, FileFormat, Manifests, Metadata, Picture, Pixels};
use throng_picture::{
    aov::{Aov, AovSet, cryptomatte},
    pixels::PixelType,
};
use throng_render::{PoseSettings, Poser};

/// Integrators with bounce waves, with a single wave and shadow rays, and with the other schedule, a loop per pixel.
const INTEGRATORS: [Integrator; 3] = [Integrator::Whitted, Integrator::Ao, Integrator::Steps];
/// More samples than one launch of the loop schedule takes, and not a multiple of that number.
const SAMPLES: u32 = 6;

/// Opens the first GPU. Prints a line with the reason and returns None if no GPU is usable.
fn gpu() -> Option<CudaDevice> {
    match gpus() {
        Ok(gpus) => Some(CudaDevice::open(gpus[0].ordinal).unwrap()),
        Err(reason) => {
            println!("skipped: {reason}");
            None
        }
    }
}

/// The golden scenes, at a size that allows many renders.
fn scenes() -> Vec<Arc<Scene>> {
    // Relative to the current checkout, which may differ from the one in which the test was built.
    let files = std::fs::read_dir("tests/golden/scenes").unwrap();
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "ron"));
    paths.sort();
    assert!(!paths.is_empty());
    paths.iter().map(|p| Arc::new(load(p).unwrap())).collect()
}

fn settings(scene: &Scene, integrator: Integrator) -> FrameSettings {
    FrameSettings { samples: SAMPLES, integrator, ..FrameSettings::from(&scene.settings) }
}

/// Poses a frame, with motion blur if the scene enables it.
fn pose(scene: &Arc<Scene>, number: u32) -> Frame {
    let mut poser = Poser::new(scene.clone(), NodeLayout::Compressed8);
    let shutter = scene.settings.shutter;
    poser.configure(PoseSettings { shutter, shutter_keys: true, ..PoseSettings::default() });
    poser.pose(number).frame
}

/// Poses a single moment, as ray queries use it, even if the scene has motion blur.
fn pose_moment(scene: &Arc<Scene>, number: u32) -> Frame {
    Poser::new(scene.clone(), NodeLayout::Compressed8).pose(number).frame
}

fn render(device: &mut CudaDevice, frame: &Frame, settings: &FrameSettings) -> Rendered {
    deliver(device, frame, settings, Delivery::default())
}

fn deliver(device: &mut CudaDevice, frame: &Frame, settings: &FrameSettings, delivery: Delivery) -> Rendered {
    device.submit(frame.clone(), settings, delivery).unwrap();
    device.collect(&|| false).unwrap()
}

#[track_caller]
fn assert_same(found: &Rendered, expected: &Rendered, what: &str) {
    let pairs = found.pixels.iter().zip(&expected.pixels);
    let differing = pairs.filter(|(a, b)| a != b).count();
    assert_eq!(found.pixels.len(), expected.pixels.len(), "{what}");
    assert_eq!(differing, 0, "{what}: differing bytes");
    assert_eq!(found.rays, expected.rays, "{what}");
}

/// Calls `check` with each scene and integrator, and with the picture of an undisturbed render.
fn on_each_scene(mut check: impl FnMut(&mut CudaDevice, &Arc<Scene>, &FrameSettings, &Rendered, &str)) {
    let Some(mut device) = gpu() else { return };
    for scene in scenes() {
        device.load(scene.clone()).unwrap();
        for integrator in INTEGRATORS {
            let settings = settings(&scene, integrator);
            let expected = render(&mut device, &pose(&scene, 1), &settings);
            let what = format!("{}, {integrator:?}", scene.name);
            check(&mut device, &scene, &settings, &expected, &what);
        }
    }
}

#[test]
fn a_frame_rendered_ten_times_is_the_same_to_the_bit() {
    on_each_scene(|device, scene, settings, expected, what| {
        let frame = pose(scene, 1);
        for _ in 0..10 {
            assert_same(&render(device, &frame, settings), expected, what);
        }
    });
}

#[test]
fn how_a_frame_is_cut_into_launches_does_not_show() {
    let Some(mut cut) = gpu() else { return };
    on_each_scene(|_, scene, settings, expected, what| {
        cut.load(scene.clone()).unwrap();
        let frame = pose(scene, 1);
        // A few tiles of one sample, a part of the picture, and the whole picture with some of the samples.
        let pixels = settings.width * settings.height;
        for paths in [1000, pixels / 3, pixels * 3] {
            cut.limit_paths_per_launch(paths);
            let what = format!("{what}, {paths} paths per launch");
            assert_same(&render(&mut cut, &frame, settings), expected, &what);
        }
    });
}

#[test]
fn frames_under_way_at_the_same_time_do_not_disturb_each_other() {
    on_each_scene(|device, scene, settings, first, what| {
        let last = scene.settings.frames.max(1);
        let second = render(device, &pose(scene, last), settings);
        assert!(device.queue_depth() >= 2);
        for _ in 0..3 {
            device.submit(pose(scene, 1), settings, Delivery::default()).unwrap();
            device.submit(pose(scene, last), settings, Delivery::default()).unwrap();
            assert_same(&device.collect(&|| false).unwrap(), first, what);
            assert_same(&device.collect(&|| false).unwrap(), &second, what);
        }
    });
}

/// Frames of the scene's first moment, from cameras beside its own.
fn views_of(scene: &Arc<Scene>, settings: &FrameSettings) -> Vec<Frame> {
    let camera = anim::camera_of_frame(scene, 1);
    let (forward, right, up) = camera.basis();
    let step = 0.02 * camera.eye.distance(camera.target);
    let view = |index: u8| View {
        name: String::new(),
        eye: camera.eye + f32::from(index) * step * (right + up),
        axes: Mat3::from_cols(right, up, -forward),
        optics: None,
        distance: 5.0,
        time: scene.time_of(1),
    };
    let views = Views::new((0..7).map(view).collect()).map(Arc::new);
    let mut poser = Poser::new(scene.clone(), NodeLayout::Compressed8);
    poser.configure(PoseSettings { views, ..PoseSettings::of(settings) });
    (1..=7).map(|number| poser.pose(number).frame).collect()
}

#[test]
fn frames_of_a_batch_are_those_that_are_rendered_alone() {
    let Some(mut device) = gpu() else { return };
    let aovs = AovSet::from_iter(Aov::ALL.into_iter().filter(|&aov| aov != Aov::Motion)).gathered();
    let mut joined = 0;
    for scene in scenes() {
        device.load(scene.clone()).unwrap();
        let integrators = INTEGRATORS.into_iter().chain([Integrator::Path, Integrator::Wireframe]);
        for (integrator, aovs) in
            integrators.map(|integrator| (integrator, aovs)).chain([(Integrator::Path, AovSet::default())])
        {
            // Tiles contain pixels of two pictures.
            let settings =
                FrameSettings { width: 60, height: 37, aovs, transparent: true, ..settings(&scene, integrator) };
            let frames = views_of(&scene, &settings);
            // A scene with levels has trees of its own for each camera.
            if !can_join(&frames[0], &frames[6], &settings) {
                continue;
            }
            joined += 1;
            device.limit_paths_per_launch(u32::MAX);
            let alone: Vec<Rendered> = frames.iter().map(|frame| render(&mut device, frame, &settings)).collect();
            for paths in [1000, u32::MAX] {
                device.limit_paths_per_launch(paths);
                device.submit_batch(frames.clone(), &settings, Delivery::default()).unwrap();
                for (alone, index) in alone.iter().zip(1..) {
                    let found = device.collect(&|| false).unwrap();
                    let what = format!("{}, {integrator:?}, frame {index}, {paths} paths per launch", scene.name);
                    assert!(found.pixels == alone.pixels, "{what}");
                    for (found, alone) in found.aovs.iter().zip(&alone.aovs) {
                        assert!(found.values == alone.values, "{what}: {}", found.aov);
                    }
                }
            }
        }
    }
    assert!(joined > 20, "{joined} batches");
}

#[test]
fn pictures_that_stay_on_the_gpu_have_the_bits_of_those_on_the_host() {
    let Some(mut device) = gpu() else { return };
    let scene = Arc::new(load("tests/golden/scenes/paths.ron".as_ref()).unwrap());
    device.load(scene.clone()).unwrap();
    let aovs = [Aov::Depth, Aov::Alpha, Aov::Instance].into_iter().collect();
    let plain = settings(&scene, Integrator::Path);
    let settings = FrameSettings { width: 33, height: 31, pixels: PixelType::F32, aovs, transparent: true, ..plain };
    let pixels = 33 * 31;
    let frames = views_of(&scene, &settings);
    let host: Vec<Rendered> = frames.iter().map(|frame| render(&mut device, frame, &settings)).collect();
    let delivery = Delivery { keeps_picture: true, ..Delivery::default() };
    let mut kept: Vec<KeptPicture> = Vec::new();
    for batch in [&frames[..4], &frames[4..]] {
        device.submit_batch(batch.to_vec(), &settings, delivery).unwrap();
        kept.extend(batch.iter().map(|_| device.collect(&|| false).unwrap().kept.unwrap()));
    }
    let joined = KeptPicture::joined(&kept).unwrap();
    let numbers = Arc::new(MatteNumbers::new(
        (0..scene.instances.len()).map(|index| (cryptomatte::id(&scene.instance_name(index)), index as i32)),
    ));
    let (mut radiance, mut found) = (Vec::new(), Vec::new());
    for (kept, host) in kept.iter().zip(&host) {
        assert!(kept.image(Plane::Radiance).unwrap().read(pixels).unwrap() == host.pixels);
        for layer in &host.aovs {
            let own = kept.image(Plane::Aov(layer.aov)).unwrap().read(pixels).unwrap();
            assert!(own == bytemuck::cast_slice::<f32, u8>(&layer.values), "{}", layer.aov);
        }
        let matte = host.aovs.iter().find(|layer| layer.aov == Aov::Instance).unwrap();
        let expected = numbers.of_matte(&matte.values, Aov::Instance.channels());
        assert!(expected.iter().any(|&number| number >= 0));
        let own = kept.numbers(Aov::Instance, &numbers).unwrap().unwrap().read(pixels).unwrap();
        assert!(own == bytemuck::cast_slice::<i32, u8>(&expected));
        radiance.extend_from_slice(&host.pixels);
        found.extend(own);
    }
    assert!(joined.image(Plane::Radiance).unwrap().read(7 * pixels).unwrap() == radiance);
    assert!(joined.numbers(Aov::Instance, &numbers).unwrap().unwrap().read(7 * pixels).unwrap() == found);
    assert!(joined.flow(false).unwrap().is_none());
}

#[test]
fn looks_at_whether_paths_are_left_do_not_show() {
    let Some(mut device) = gpu() else { return };
    for scene in scenes() {
        device.load(scene.clone()).unwrap();
        let mut settings = settings(&scene, Integrator::Whitted);
        // Some chunks run out of paths before the first check for remaining paths, some between checks, and some never.
        settings.bounces = 100;
        let frame = pose(&scene, 1);
        device.limit_paths_per_launch(u32::MAX);
        let expected = render(&mut device, &frame, &settings);
        let own = device.own_rays(&frame, &settings).unwrap().unwrap();
        assert_eq!(own.bounce.len() as u64, expected.rays.bounce);
        device.limit_paths_per_launch(1000);
        for _ in 0..2 {
            device.submit(frame.clone(), &settings, Delivery::default()).unwrap();
        }
        for _ in 0..2 {
            let found = device.collect(&|| false).unwrap();
            assert_same(&found, &expected, &scene.name);
        }
    }
}

#[test]
fn another_device_of_the_same_gpu_makes_the_same_frame() {
    let Some(mut other) = gpu() else { return };
    on_each_scene(|_, scene, settings, expected, what| {
        other.load(scene.clone()).unwrap();
        let found = render(&mut other, &pose(scene, 1), settings);
        assert_same(&found, expected, what);
    });
}

/// The channels of a frame's file, as another implementation reads them: names, and the bits of the values.
fn file_of(rendered: &Rendered, settings: &FrameSettings, encoding: &Encoding) -> Vec<(String, Vec<u32>)> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.exr");
    let picture = Picture {
        width: settings.width,
        height: settings.height,
        pixels: Pixels::from_bytes(PixelType::F32, &rendered.pixels),
        aovs: &rendered.aovs,
        transparent: false,
        blocks: rendered.blocks.as_ref(),
        display: None,
        manifests: &Manifests::default(),
        metadata: &Metadata::default(),
    };
    FileFormat::Exr.write(&path, &picture, encoding).unwrap();
    let image = exr::prelude::read()
        .no_deep_data()
        .largest_resolution_level()
        .all_channels()
        .first_valid_layer()
        .all_attributes()
        .from_file(&path)
        .unwrap();
    let channels = image.layer_data.channel_data.list.into_iter();
    channels
        .map(|channel| {
            let bits = match channel.sample_data {
                FlatSamples::F16(values) => values.iter().map(|v| v.to_bits().into()).collect(),
                FlatSamples::F32(values) => values.iter().map(|v| v.to_bits()).collect(),
                FlatSamples::U32(values) => values,
            };
            (channel.name.to_string(), bits)
        })
        .collect()
}

#[test]
fn files_that_the_gpu_compresses_hold_what_those_of_the_cpu_do() {
    let aovs = AovSet::from_iter(Aov::ALL).gathered();
    on_each_scene(|device, scene, settings, _, what| {
        let frame = pose(scene, 2);
        let plain = FrameSettings { pixels: PixelType::F32, aovs, ..settings.clone() };
        let rendered = render(device, &frame, &plain);
        for (compression, depth) in
            [(ExrCompression::Zip, ColorDepth::Usual), (ExrCompression::Zips, ColorDepth::Bits32)]
        {
            let encoding = Encoding { compression, depth, ..Encoding::default() };
            let blocks = Delivery { file_rows: Some(encoding.exr_rows(aovs, false)), ..Delivery::default() };
            let compressed = deliver(device, &frame, &plain, blocks);
            assert!(compressed.pixels.is_empty() && compressed.blocks.is_some());
            let (found, expected) = (file_of(&compressed, &plain, &encoding), file_of(&rendered, &plain, &encoding));
            assert!(found == expected, "{what}, {compression:?}");
        }
    });
}

/// Traces rays. Returns the bits of each hit, without parts that do not identify it; None for a miss.
fn trace(device: &mut dyn Device, scene: &Arc<Scene>, rays: &[Ray]) -> Vec<Option<[u32; 5]>> {
    let frame = Poser::new(scene.clone(), device.node_layout()).pose(1).frame;
    let mut hits = vec![Hit::default(); rays.len()];
    device.trace(&frame, RayKind::Closest, rays, &mut hits, 1).unwrap();
    let target = |h: &Hit| [h.t.to_bits(), h.u.to_bits(), h.v.to_bits(), h.prim, h.instance];
    hits.iter().map(|h| (h.t >= 0.0).then(|| target(h))).collect()
}

#[test]
fn a_frames_own_rays_are_as_many_as_it_counts_and_hit_what_they_hit_on_the_cpu() {
    let Some(mut device) = gpu() else { return };
    let mut cpu = CpuDevice::new().unwrap();
    for scene in scenes() {
        device.load(scene.clone()).unwrap();
        cpu.load(scene.clone()).unwrap();
        let mut settings = settings(&scene, Integrator::Whitted);
        // The last tiles extend beyond the edges of such a picture.
        settings.width -= 3;
        settings.height -= 5;
        let frame = pose_moment(&scene, 1);
        let counts = render(&mut device, &frame, &settings).rays;
        for paths in [1000, u32::MAX] {
            let what = format!("{}, {paths} paths per launch", scene.name);
            device.limit_paths_per_launch(paths);
            let own = device.own_rays(&frame, &settings).unwrap().unwrap();
            let found = RayCounts {
                primary: own.primary.len() as u64,
                bounce: own.bounce.len() as u64,
                shadow: own.shadow.len() as u64,
            };
            assert_eq!(found, counts, "{what}");
            let hits = trace(&mut device, &scene, &own.primary);
            let on_cpu = trace(&mut cpu, &scene, &own.primary);
            let differing = hits.iter().zip(&on_cpu).filter(|(a, b)| a != b).count();
            assert_eq!(differing, 0, "{what}: differing hits of primary rays");
        }
    }
}

#[test]
fn own_rays_are_those_of_queues_and_of_one_frame_at_a_time() {
    let Some(mut device) = gpu() else { return };
    let scene = scenes().remove(0);
    device.load(scene.clone()).unwrap();
    let frame = pose_moment(&scene, 1);
    let [whitted, _, steps] = INTEGRATORS.map(|integrator| settings(&scene, integrator));
    assert!(device.own_rays(&frame, &steps).unwrap().is_none());
    let expected = render(&mut device, &frame, &whitted);
    device.submit(frame.clone(), &whitted, Delivery::default()).unwrap();
    assert!(device.own_rays(&frame, &whitted).is_err());
    let found = device.collect(&|| false).unwrap();
    assert_same(&found, &expected, "after a refusal");
}
