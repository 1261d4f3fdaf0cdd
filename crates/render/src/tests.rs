//! Tests of the frame loop with fake devices.

use super::*;
use std::sync::{Arc, atomic::Ordering};
use tempfile::TempDir;
use throng_device::{
    Delivery, Rendered,
    fake::{FakeDevice, Step, settings},
};
use throng_output::Pattern;
use throng_picture::{aov::AovSet, pixels::PixelType};
use throng_scene::Scene;

#[derive(Default)]
struct Numbers {
    frames: Vec<u32>,
    /// Number of frames after which `stop` is set.
    stop_after: Option<usize>,
    stop: Arc<AtomicBool>,
}

impl FrameObserver for Numbers {
    fn frame_done(&mut self, report: &FrameReport) {
        assert!(report.path.exists());
        self.frames.push(report.frame);
        if self.stop_after == Some(self.frames.len()) {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

pub(super) fn job(frames: u32) -> (TempDir, RenderJob) {
    let dir = tempfile::tempdir().unwrap();
    let output = Pattern::parse(dir.path().to_str().unwrap()).unwrap();
    let job = RenderJob {
        pixels: PixelType::U8,
        scene: Arc::new(Scene::default()),
        views: None,
        placed: None,
        settings: settings(),
        delivery: Delivery::default(),
        auto_exposure: None,
        aovs: AovSet::default(),
        denoising: None,
        denoised_noise: None,
        background: None,
        wireframe_color: None,
        refit: None,
        trees: TreeSource::default(),
        frames: (1..=frames).collect(),
        output: output.into(),
    };
    (dir, job)
}

fn render(job: &RenderJob, mut device: FakeDevice, numbers: &mut Numbers) -> Result<Summary, RenderError> {
    let stop = numbers.stop.clone();
    run(job, &Driver::Overlapped, &mut device, numbers, &stop)
}

fn files(dir: &TempDir) -> usize {
    std::fs::read_dir(dir.path()).unwrap().count()
}

#[test]
fn all_frames_are_written_and_told_in_order() {
    for depth in [1, 2, 3] {
        let (dir, job) = job(40);
        let mut numbers = Numbers::default();
        let summary = render(&job, FakeDevice::new(depth), &mut numbers).unwrap();
        assert_eq!(numbers.frames, job.frames);
        assert_eq!((summary.frames, summary.rays.primary), (40, 40));
        assert_eq!((summary.stopped, files(&dir)), (false, 40));
        assert_eq!(summary.busy.device_ms.round(), 40.0);
        let last = image::open(dir.path().join("0040.png")).unwrap();
        assert_eq!(last.into_rgb8().into_raw(), vec![40; 24]);
    }
}

#[test]
fn the_queue_of_the_device_is_filled_before_a_frame_is_collected() {
    use Step::{Collect, Submit};
    let (_dir, job) = job(5);
    let device = FakeDevice::new(3);
    let log = device.log();
    render(&job, device, &mut Numbers::default()).unwrap();
    assert_eq!(
        log.steps(),
        [
            Submit(1),
            Submit(2),
            Submit(3),
            Collect(1),
            Submit(4),
            Collect(2),
            Submit(5),
            Collect(3),
            Collect(4),
            Collect(5),
        ]
    );
}

#[test]
fn frames_of_one_moment_are_traced_in_batches() {
    use Step::{Collect, Submit, SubmitBatch};
    let (dir, job) = job(9);
    let mut device = FakeDevice::new(2);
    device.batch = 4;
    let log = device.log();
    let mut numbers = Numbers::default();
    let summary = render(&job, device, &mut numbers).unwrap();
    assert_eq!(
        log.steps(),
        [
            SubmitBatch(1, 4),
            SubmitBatch(5, 4),
            Collect(1),
            Submit(9),
            Collect(2),
            Collect(3),
            Collect(4),
            Collect(5),
            Collect(6),
            Collect(7),
            Collect(8),
            Collect(9),
        ]
    );
    assert_eq!(numbers.frames, job.frames);
    assert_eq!((summary.frames, summary.rays.primary, files(&dir)), (9, 9, 9));
    let seventh = image::open(dir.path().join("0007.png")).unwrap();
    assert_eq!(seventh.into_rgb8().into_raw(), vec![7; 24]);
}

#[test]
fn frames_in_memory_are_traced_in_batches_and_may_end_early() {
    let (_dir, job) = job(6);
    let mut device = FakeDevice::new(2);
    device.batch = 4;
    let log = device.log();
    let mut ready = LoadedScene::new(&job, &mut device).unwrap();
    for last in [2, 6] {
        let mut numbers = Vec::new();
        let each = &mut |number, rendered: Rendered, _| {
            assert_eq!(rendered.pixels[0], number as u8);
            numbers.push(number);
            number < last
        };
        ready.visit(&job, &mut device, &|| false, each).unwrap();
        assert_eq!(numbers, job.frames[..last as usize]);
    }
    let batches = [Step::SubmitBatch(1, 4), Step::SubmitBatch(5, 2)];
    let submitted: Vec<Step> = log.steps().into_iter().filter(|step| !matches!(step, Step::Collect(_))).collect();
    assert_eq!(submitted, [batches, batches].concat());
}

#[test]
fn frames_before_a_batch_that_fails_are_written() {
    let (dir, job) = job(20);
    let mut device = FakeDevice::new(3);
    device.batch = 4;
    device.fail_submit = Some(11);
    let mut numbers = Numbers::default();
    let error = render(&job, device, &mut numbers).unwrap_err();
    assert_eq!(error.to_string(), "frame 9: frame 11 broke");
    assert_eq!(numbers.frames, [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(files(&dir), 8);
}

#[test]
fn frames_before_one_that_fails_are_written() {
    for in_submit in [true, false] {
        let (dir, job) = job(20);
        let mut device = FakeDevice::new(3);
        let which = if in_submit { &mut device.fail_submit } else { &mut device.fail_collect };
        *which = Some(8);
        let mut numbers = Numbers::default();
        let error = render(&job, device, &mut numbers).unwrap_err();
        assert_eq!(error.to_string(), "frame 8: frame 8 broke");
        assert_eq!(numbers.frames, [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(files(&dir), 7);
    }
}

#[test]
fn a_stop_keeps_what_is_finished() {
    let (dir, job) = job(10_000);
    let mut numbers = Numbers { stop_after: Some(5), ..Numbers::default() };
    let summary = render(&job, FakeDevice::new(2), &mut numbers).unwrap();
    assert!(summary.stopped && summary.frames >= 5);
    assert_eq!(summary.frames as usize, numbers.frames.len());
    assert_eq!(files(&dir), numbers.frames.len());
    assert_eq!(numbers.frames, job.frames[..numbers.frames.len()]);
}

#[test]
fn a_frame_that_cannot_be_written_ends_the_run() {
    let (dir, job) = job(10_000);
    std::fs::create_dir(dir.path().join("0003.png")).unwrap();
    let mut numbers = Numbers::default();
    let error = render(&job, FakeDevice::new(2), &mut numbers).unwrap_err();
    assert!(matches!(error, RenderError::Output(_)), "{error}");
    assert_eq!(numbers.frames[..2], [1, 2]);
    assert_eq!(files(&dir), numbers.frames.len() + 1);
}

#[test]
fn large_pictures_are_written_one_at_a_time() {
    let (_dir, mut job) = job(100);
    assert!(results::write::writer_count(&job) >= 1);
    (job.settings.width, job.settings.height) = (16_000, 16_000);
    assert_eq!(results::write::writer_count(&job), 1);
}
