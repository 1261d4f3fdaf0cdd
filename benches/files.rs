//! Benchmarks of encoding and writing a 1920x1080 frame on one thread, with rendered pixels: `cargo bench --bench files`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::{path::Path, sync::Arc};
use throng::{
    loader,
    scene::{Integrator, RenderDefaults, ToneMap},
};
use throng_device::{CpuDevice, Delivery, Device, FrameSettings, PixelType, Rendered};
use throng_output::{Encoding, ExrCompression, FileFormat, Manifests, Metadata, Picture, Pixels};
use throng_picture::{
    aov::{Aov, AovSet},
    film::FilmSettings,
};
use throng_render::{PoseSettings, Poser};

const SIZE: (u32, u32) = (1920, 1080);

fn frame(pixels: PixelType, aovs: AovSet) -> Rendered {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes/dragon_of_dragons.ron");
    let scene = Arc::new(loader::load(&path).expect("the scene loads"));
    let mut device = CpuDevice::new().expect("a CPU device");
    device.load(scene.clone()).expect("the scene is loaded");
    let mut poser = Poser::new(scene, device.node_layout());
    poser.configure(PoseSettings { aovs, ..PoseSettings::default() });
    let settings = FrameSettings {
        width: SIZE.0,
        height: SIZE.1,
        samples: 1,
        bounces: 2,
        integrator: Integrator::Whitted,
        tone_map: ToneMap::Aces,
        film: FilmSettings::default(),
        pixels,
        aovs,
        ..FrameSettings::from(&RenderDefaults::default())
    };
    let frame = poser.pose(1).frame;
    device.submit(frame, &settings, Delivery::default()).expect("the frame starts");
    device.collect(&|| false).expect("the frame is rendered")
}

fn files(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut group = criterion.benchmark_group("files");
    group.sample_size(10);
    group.throughput(Throughput::Elements(1));
    let kinds = [
        ("png", PixelType::U8, FileFormat::Png, AovSet::default()),
        ("exr", PixelType::F32, FileFormat::Exr, AovSet::default()),
        ("exr with all layers", PixelType::F32, FileFormat::Exr, Aov::ALL.into_iter().collect()),
    ];
    let (manifests, metadata) = (Manifests::default(), Metadata::default());
    for (name, pixels, format, aovs) in kinds {
        let rendered = frame(pixels, aovs);
        let picture = Picture {
            width: SIZE.0,
            height: SIZE.1,
            pixels: Pixels::from_bytes(pixels, &rendered.pixels),
            aovs: &rendered.aovs,
            transparent: false,
            blocks: None,
            display: None,
            manifests: &manifests,
            metadata: &metadata,
        };
        let compressions: &[ExrCompression] = match format {
            FileFormat::Exr => &[ExrCompression::Zip, ExrCompression::None],
            _ => &[ExrCompression::Zip],
        };
        for &compression in compressions {
            let encoding = Encoding { compression, ..Encoding::default() };
            let path = folder.path().join(format!("frame.{}", format.extension()));
            let label = match format {
                FileFormat::Exr => format!("{name}, {compression:?}"),
                _ => name.to_owned(),
            };
            group.bench_function(label, |bencher| {
                bencher.iter(|| {
                    format.write(&path, &picture, &encoding).expect("the file is written");
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, files);
criterion_main!(benches);
