//! Tests of the loop through the interface of viewers.

use super::*;
use serde_json::json;
use std::{fs, sync::Arc, time::Duration};
use tempfile::TempDir;
use throng_denoise::Denoise;
use throng_device::CpuDevice;
use throng_picture::pixels::PixelType;
use throng_render::{LoadedScene, Outputs};
use throng_scene::Integrator;
use throng_settings::{Exposure, PictureOptions, Size};

const SCENE: &str = r#"(
    render: (size: (48, 32), samples: 6, integrator: whitted, frames: 5, fps: 10),
    environment: SunSky(elevation: 35, azimuth: 120),
    materials: { "red": Diffuse(color: (0.8, 0.2, 0.2)), "lamp": Emissive(radiance: (9, 8, 7)) },
    meshes: { "ball": Sphere, "floor": Quad() },
    motions: { "sway": (parts: [Sway(axis: (1, 0, 0), degrees: 40, period: 1)]) },
    instances: [
        Single(of: "floor", scale: 40, material: "red"),
        Grid(of: "ball", count: (3, 1, 3), spacing: (3, 0, 3), translate: (0, 1, 0), materials: ["red", "lamp"], motion: "sway"),
    ],
    camera: Spline(keys: [(eye: (0, 4, 12), target: (0, 0, 0)), (eye: (4, 4, 12), target: (0, 1, 0)), (eye: (8, 3, 9), target: (0, 0, 0))]),
)"#;

struct Shown {
    _folder: TempDir,
    source: Source,
    preview: Preview,
}

fn show() -> Shown {
    show_text(SCENE)
}

fn show_text(text: &str) -> Shown {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scene.ron");
    fs::write(&path, text).unwrap();
    let source = Source { path, options: PictureOptions::default(), flags: Vec::new() };
    let preview = Preview::start(source.clone(), Box::new(CpuDevice::new().unwrap()));
    Shown { _folder: folder, source, preview: preview.unwrap_or_else(|error| panic!("{error}")) }
}

impl Shown {
    /// The pixels of a render that may get more samples.
    fn rendered(&self, frame: u32, choose: impl FnOnce(&mut PictureOptions)) -> Vec<u8> {
        let mut options = self.source.options.clone();
        options.picture.size = Some(Size { width: 48, height: 32 });
        options.open_ended = true;
        choose(&mut options);
        let scene = Arc::new(options.load(&self.source.path).unwrap());
        let job = options.job(scene, PixelType::U8, (vec![frame], Outputs::default()), false).unwrap();
        let mut device = CpuDevice::new().unwrap();
        let mut loaded = LoadedScene::new(&job, &mut device).unwrap();
        loaded.frames(&job, &mut device, &|| false).unwrap().frame(frame).unwrap().0.pixels.to_vec()
    }
}

/// Takes pictures and answers until `found` returns something.
fn wait<T>(link: &Link, mut found: impl FnMut(&Next) -> Option<T>) -> T {
    for _ in 0..10_000 {
        let next = link.next(true, Duration::from_secs(20));
        assert!(!matches!(next, Next::Nothing | Next::Closed), "{next:?}");
        if let Some(found) = found(&next) {
            return found;
        }
    }
    panic!("nothing was found");
}

fn finished(link: &Link, wanted: impl Fn(&ViewerPicture) -> bool) -> ViewerPicture {
    wait(link, |next| match next {
        Next::Picture(picture) if picture.kind == PictureKind::Finished && wanted(picture) => Some(picture.clone()),
        _ => None,
    })
}

fn view(key: u32) -> View {
    View { eye: [1.0, 3.0, 10.0], target: [0.5, 1.0, 0.0], up: [0.0, 1.0, 0.0], key, ..View::default() }
}

#[test]
fn what_stands_still_ends_as_a_render_does() {
    let shown = show();
    let link = shown.preview.open(None);
    link.send(Command::Start { size: [48, 32] });
    let own = finished(&link, |_| true);
    assert!(own.pixels == shown.rendered(1, |_| ()));
    assert_eq!((own.samples, own.frame, own.width, own.height), (6, 1, 48, 32));

    link.send(Command::Time { frame: 4 });
    assert!(finished(&link, |picture| picture.frame == 4).pixels == shown.rendered(4, |_| ()));

    link.send(Command::Camera(view(9)));
    let flown = finished(&link, |picture| picture.key == 9);
    let by_flags = |options: &mut PictureOptions| {
        options.load.view.eye = Some(view(0).eye.into());
        options.load.view.target = Some(view(0).target.into());
    };
    assert!(flown.pixels == shown.rendered(4, by_flags));

    link.send(Command::Set { name: "samples".into(), value: json!(11) });
    let more = finished(&link, |picture| picture.samples == 11);
    let with_more = |options: &mut PictureOptions| {
        by_flags(options);
        options.picture.samples = Some(11);
    };
    assert!(more.pixels == shown.rendered(4, with_more));

    link.send(Command::Set { name: "integrator".into(), value: json!("clay") });
    let in_clay = |options: &mut PictureOptions| {
        with_more(options);
        options.picture.integrator = Some(Integrator::Clay);
    };
    let clay = shown.rendered(4, in_clay);
    assert!(more.pixels[..] != clay);
    assert!(finished(&link, |picture| picture.pixels != more.pixels).pixels == clay);
}

#[test]
fn a_finished_picture_is_denoised_if_renders_are() {
    let shown = show_text(&SCENE.replace("integrator: whitted", "integrator: path, denoise: true"));
    let link = shown.preview.open(None);
    link.send(Command::Start { size: [48, 32] });
    let denoised = |options: &mut PictureOptions| {
        (options.aovs.denoise, options.aovs.denoise_frames) = (Some(Denoise::Frames), Some(0));
    };
    let own = finished(&link, |_| true);
    assert!(own.pixels == shown.rendered(1, denoised));
    // Each command is followed by a report.
    link.send(Command::Time { frame: 1 });
    wait(&link, |next| matches!(next, Next::Answer(Answer::State(State { denoised: true, .. }))).then_some(()));

    // Its exposure changes without new samples, and its file is denoised as well.
    link.send(Command::Set { name: "exposure".into(), value: json!(1) });
    let brighter = finished(&link, |picture| picture.pixels != own.pixels);
    let expected = shown.rendered(1, |options| {
        denoised(options);
        options.picture.exposure = Some(Exposure::Fixed(1.0));
    });
    assert!(brighter.pixels == expected);
    let request = StillRequest { frame: None, size: None, samples: None, format: StillFormat::Png, ask: 1 };
    link.send(Command::Still(request));
    let file = wait(&link, |next| match next {
        Next::Answer(Answer::Still { file: Some((file, _)), .. }) => Some(file.clone()),
        _ => None,
    });
    assert!(image::load_from_memory(&file).unwrap().into_rgb8().into_raw() == expected);

    link.send(Command::Set { name: "exposure".into(), value: json!(null) });
    link.send(Command::Set { name: "denoise".into(), value: json!("off") });
    let traced = shown.rendered(1, |options| options.aovs.denoise = Some(Denoise::Off));
    assert!(finished(&link, |picture| picture.pixels == traced).samples == own.samples);
    link.send(Command::Set { name: "denoise".into(), value: json!(null) });
    link.send(Command::Camera(view(9)));
    assert!(finished(&link, |picture| picture.key == 9).pixels != own.pixels);
    // Integrators that show no light have no noise to remove.
    link.send(Command::Set { name: "integrator".into(), value: json!("normal") });
    finished(&link, |picture| picture.key == 9);
}

#[test]
fn the_newest_camera_wins_and_each_viewer_has_its_own() {
    let shown = show();
    let (one, other) = (shown.preview.open(None), shown.preview.open(None));
    for link in [&one, &other] {
        link.send(Command::Start { size: [48, 32] });
    }
    for key in 1..=200 {
        one.send(Command::Camera(View { eye: [key as f32 / 50.0, 3.0, 10.0], ..view(key) }));
    }
    let last = finished(&one, |picture| picture.key == 200);
    let own = finished(&other, |_| true);
    assert!(last.pixels != own.pixels && own.key == 0);
    // Answers to one viewer are not sent to the other.
    one.send(Command::Camera(View { target: [f32::NAN; 3], ..view(201) }));
    wait(&one, |next| matches!(next, Next::Answer(Answer::Error { .. })).then_some(()));
    let quiet = other.next(true, Duration::from_millis(10));
    assert!(!matches!(quiet, Next::Answer(Answer::Error { .. })), "{quiet:?}");
}

#[test]
fn who_watches_sees_what_is_presented() {
    let shown = show();
    let (one, other) = (shown.preview.open(None), shown.preview.open(None));
    for link in [&one, &other] {
        link.send(Command::Start { size: [48, 32] });
    }
    one.send(Command::Present { on: true });
    other.send(Command::Watch { on: true });
    one.send(Command::Camera(view(1)));
    wait(&other, |next| match next {
        Next::Answer(Answer::Camera(camera)) => (camera.eye == view(0).eye).then_some(()),
        _ => None,
    });
    let (a, b) = (finished(&one, |picture| picture.key == 1), finished(&other, |_| true));
    assert!(a.pixels == b.pixels);
}

#[test]
fn waypoints_are_flown_as_the_scene_file_would_be() {
    let shown = show();
    let link = shown.preview.open(None);
    link.send(Command::Start { size: [48, 32] });
    let (keys, pace) = wait(&link, |next| match next {
        Next::Answer(Answer::Path { of: Track::Scene, keys, pace, .. }) => Some((keys.clone(), pace.clone())),
        _ => None,
    });
    assert_eq!((keys.len(), pace), (3, None));
    link.send(Command::Waypoints { keys, pace: None });
    link.send(Command::Follow { path: Some(Track::Waypoints), camera: None });
    link.send(Command::Time { frame: 3 });
    assert!(finished(&link, |picture| picture.frame == 3).pixels == shown.rendered(3, |_| ()));
}

#[test]
fn an_animation_plays_to_its_end() {
    let shown = show();
    let link = shown.preview.open(None);
    link.send(Command::Start { size: [48, 32] });
    link.send(Command::Play { playing: true, looped: false });
    let last = finished(&link, |picture| picture.frame == 5);
    assert!(last.pixels == shown.rendered(5, |_| ()));
}
