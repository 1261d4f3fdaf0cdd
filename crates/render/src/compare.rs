//! Compares devices by frames: renders each frame on every device, and compares the pixels with the first device's.

use super::{LoadedScene, RenderError, RenderJob};
use std::{
    ops::AddAssign,
    sync::atomic::{AtomicBool, Ordering},
};
use throng_device::{Device, DeviceError, Rendered, Stop};

/// Greatest share of differing pixels (or rays) at which two devices still agree.
pub const LIMIT: f64 = 0.01;

/// Greatest difference of a channel at which two pixels still agree, in steps of 1/255.
const TOLERANCE: u8 = 4;

/// Difference between the pictures of two devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PictureDifference {
    pub pixels: u64,
    pub differing: u64,
    /// Greatest difference of any channel, in steps of 1/255.
    greatest: u8,
    /// Sum of the differences of all channels, in steps of 1/255.
    sum: u64,
}

impl PictureDifference {
    /// Compares two RGB pictures of equal size, one byte per channel.
    pub fn between(a: &[u8], b: &[u8]) -> Self {
        let mut found = Self::default();
        for (a, b) in a.chunks_exact(3).zip(b.chunks_exact(3)) {
            let channels = [0, 1, 2].map(|c| a[c].abs_diff(b[c]));
            let greatest = channels[0].max(channels[1]).max(channels[2]);
            found.pixels += 1;
            found.differing += u64::from(greatest > TOLERANCE);
            found.greatest = found.greatest.max(greatest);
            found.sum += channels.iter().copied().map(u64::from).sum::<u64>();
        }
        found
    }

    /// Share of pixels, from 0 to 1, in which some channel differs by more than 0.016 of the full range.
    pub fn share(&self) -> f64 {
        self.differing as f64 / self.pixels.max(1) as f64
    }

    /// Greatest difference of any channel, from 0 to 1.
    pub fn max(&self) -> f64 {
        f64::from(self.greatest) / 255.0
    }

    /// Mean difference of the channels, from 0 to 1.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / (self.pixels.max(1) * 3) as f64 / 255.0
    }

    pub fn agrees(&self) -> bool {
        self.share() <= LIMIT
    }
}

impl AddAssign for PictureDifference {
    fn add_assign(&mut self, other: Self) {
        self.pixels += other.pixels;
        self.differing += other.differing;
        self.greatest = self.greatest.max(other.greatest);
        self.sum += other.sum;
    }
}

/// The result of comparing all frames.
pub struct Comparison {
    /// Number of frames compared.
    pub frames: usize,
    /// Differences summed over all frames, one entry per device after the first.
    pub overall: Vec<PictureDifference>,
    /// True if `stop` ended the comparison before the last frame.
    pub stopped: bool,
}

/// Renders each frame of `job` on every device. Calls `watch` with the frame's number and the differences of the other devices' pictures
/// from the first device's. Writes the first device's pictures if `write` is set. Each device keeps its own trees in memory.
///
/// # Errors
/// If a device cannot load the scene or fails in a frame, or if a picture cannot be written. The error names the device.
pub fn compare_frames(
    job: &RenderJob,
    devices: &mut [Box<dyn Device>],
    write: bool,
    watch: &mut dyn FnMut(u32, &[PictureDifference]),
    stop: &AtomicBool,
) -> Result<Comparison, RenderError> {
    let stop = &|| stop.load(Ordering::Relaxed);
    let mut sides = devices.iter_mut().map(|device| Side::new(job, device.as_mut())).collect::<Result<Vec<_>, _>>()?;
    let mut comparison = Comparison {
        frames: 0,
        overall: vec![PictureDifference::default(); sides.len().saturating_sub(1)],
        stopped: false,
    };
    for &number in &job.frames {
        let found = match compare_frame(job, &mut sides, number, write, stop) {
            Err(RenderError::Device { source: DeviceError::Stopped, .. }) => {
                comparison.stopped = true;
                break;
            }
            other => other?,
        };
        let overall = comparison.overall.iter_mut();
        overall.zip(&found).for_each(|(sum, &one)| *sum += one);
        comparison.frames += 1;
        watch(number, &found);
    }
    Ok(comparison)
}

fn compare_frame(
    job: &RenderJob,
    sides: &mut [Side<'_>],
    number: u32,
    write: bool,
    stop: &Stop,
) -> Result<Vec<PictureDifference>, RenderError> {
    let Some((first, others)) = sides.split_first_mut() else {
        return Ok(Vec::new());
    };
    let first = first.render(job, number, stop)?;
    if write {
        job.output.write_alone(job, number, &first)?;
    }
    let first = first.pixels;
    others
        .iter_mut()
        .map(|side| side.render(job, number, stop))
        .map(|rendered| Ok(PictureDifference::between(&first, &rendered?.pixels)))
        .collect()
}

/// A device with its copy of the scene.
struct Side<'a> {
    device: &'a mut dyn Device,
    scene: LoadedScene,
}

impl<'a> Side<'a> {
    fn new(job: &RenderJob, device: &'a mut dyn Device) -> Result<Self, RenderError> {
        let scene = LoadedScene::new(job, device).map_err(|error| error.on(&device.describe()))?;
        Ok(Self { device, scene })
    }

    fn render(&mut self, job: &RenderJob, frame: u32, stop: &Stop) -> Result<Rendered, RenderError> {
        if stop() {
            let source = DeviceError::Stopped;
            return Err(RenderError::Device { frame, source });
        }
        let name = self.device.describe();
        let rendered = self.scene.frames(job, self.device, stop).and_then(|mut frames| frames.frame(frame));
        rendered.map(|(rendered, _)| rendered).map_err(|error| error.on(&name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TreeSource;
    use std::sync::Arc;
    use throng_device::{
        Delivery,
        fake::{FakeDevice, settings},
    };
    use throng_output::Pattern;
    use throng_picture::aov::AovSet;
    use throng_scene::Scene;

    #[test]
    fn pixels_differ_beyond_the_tolerance_only() {
        let a = [10, 20, 30, 0, 0, 0, 255, 0, 0, 9, 9, 9];
        let b = [14, 16, 30, 0, 5, 0, 0, 0, 0, 9, 9, 9];
        let found = PictureDifference::between(&a, &b);
        assert_eq!((found.pixels, found.differing), (4, 2));
        assert_eq!((found.share(), found.max()), (0.5, 1.0));
        let mean = (4.0 + 4.0 + 5.0 + 255.0) / 12.0 / 255.0;
        assert!((found.mean() - mean).abs() < 1e-12);
        assert!(!found.agrees());
        assert!(PictureDifference::between(&a, &a).agrees());
    }

    #[test]
    fn one_pixel_in_a_hundred_may_differ() {
        let a = [0; 300];
        let mut b = a;
        b[0] = 255;
        assert!(PictureDifference::between(&a, &b).agrees());
        b[3] = 255;
        assert!(!PictureDifference::between(&a, &b).agrees());
    }

    fn compare(devices: Vec<FakeDevice>, stop: bool) -> (Vec<(u32, u64)>, Result<Comparison, RenderError>) {
        let job = RenderJob {
            pixels: throng_device::PixelType::U8,
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
            frames: vec![1, 4, 2],
            output: Pattern::parse("unused").unwrap().into(),
        };
        let mut devices: Vec<Box<dyn Device>> = devices.into_iter().map(|d| Box::new(d) as Box<dyn Device>).collect();
        let mut seen = Vec::new();
        let mut watch = |frame, found: &[PictureDifference]| seen.push((frame, found[0].differing));
        let stop = AtomicBool::new(stop);
        let result = compare_frames(&job, &mut devices, false, &mut watch, &stop);
        (seen, result)
    }

    #[test]
    fn all_frames_are_compared_with_the_first_device() {
        let (seen, result) = compare((0..3).map(|_| FakeDevice::new(2)).collect(), false);
        let comparison = result.unwrap();
        assert_eq!(seen, [(1, 0), (4, 0), (2, 0)]);
        assert_eq!((comparison.frames, comparison.stopped), (3, false));
        assert_eq!(comparison.overall.len(), 2);
        assert_eq!(comparison.overall[1].pixels, 3 * 8);
    }

    #[test]
    fn a_failure_names_the_frame_and_the_device() {
        let mut broken = FakeDevice::new(1);
        broken.fail_collect = Some(4);
        let (seen, result) = compare(vec![FakeDevice::new(2), broken], false);
        let error = result.err().unwrap().to_string();
        assert_eq!(error, "frame 4: fake 1: frame 4 broke");
        assert_eq!(seen, [(1, 0)]);
    }

    #[test]
    fn a_stop_is_told() {
        let (seen, result) = compare(vec![FakeDevice::new(1), FakeDevice::new(1)], true);
        let comparison = result.unwrap();
        assert!(seen.is_empty() && comparison.stopped);
    }
}
