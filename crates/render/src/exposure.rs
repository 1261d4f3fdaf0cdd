//! Automatic exposure: measures the brightness of the scene at moments one second apart, and interpolates the exposure between them.
//!
//! Each measurement renders a small picture, whichever frames are rendered. A frame's exposure is therefore a function of the scene and the
//! settings alone, and the exposure of films does not flicker.

use super::{Poser, RenderError, RenderJob};
use std::collections::{BTreeMap, BTreeSet};
use throng_device::{Delivery, Device, FrameSettings, PixelType, Stop, light::luminance};
use throng_picture::{
    aov::{Aov, AovSet, cryptomatte},
    film::FilmSettings,
};

/// Longer side of a measured picture in pixels, and its samples per pixel. The gentle mode halves the effect of an error, so it takes fewer
/// samples.
const SIDE: u32 = 96;
const SAMPLES: u32 = 16;
const GENTLE_SAMPLES: u32 = 4;
/// Middle grey: the target for the mean of a picture.
const GREY: f32 = 0.18;
/// Shares of the darkest and of the brightest pixels, which are ignored.
const DARK: f32 = 0.1;
const BRIGHT: f32 = 0.05;
/// Least share of the picture that the subject has to cover for the rest to be ignored.
const LEAST_SUBJECT: f32 = 0.01;
/// Greatest correction in stops, up or down. It keeps scenes without light dark.
const MOST: f32 = 16.0;

/// Stops that a clay model in the studio would get. Such a model needs no correction.
const CLAY: f32 = -1.3;

/// Method of measuring exposures, see [`throng_scene::Metering`].
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub enum AutoExposure {
    #[serde(rename = "gentle")]
    Gentle,
    #[serde(rename = "keyed")]
    Keyed,
    /// Full correction, plus this many stops.
    #[serde(untagged)]
    Full(f32),
}

/// Exposures of a run's frames, and their white balances if they are animated.
#[derive(Debug, Default)]
pub struct Exposures {
    exposures: BTreeMap<u32, f32>,
    white_balances: BTreeMap<u32, f32>,
}

/// Measured stops of frames, kept for later jobs that measure with equal settings.
#[derive(Debug, Default)]
pub struct Measured {
    /// Settings of the measured pictures.
    settings: Option<FrameSettings>,
    stops: BTreeMap<u32, f32>,
}

impl Measured {
    /// Discards the measurements if they were made with other settings.
    fn keep_for(&mut self, settings: FrameSettings) {
        if self.settings.as_ref() != Some(&settings) {
            *self = Self { settings: Some(settings), stops: BTreeMap::new() };
        }
    }
}

impl Exposures {
    /// Measures the exposures of the frames of `job`, if they are automatic. Frames that `known` contains are not measured again.
    ///
    /// # Errors
    /// If the device fails or is stopped while it renders a measured picture.
    pub fn measure(
        job: &RenderJob,
        device: &mut dyn Device,
        (poser, known): (&mut Poser, &mut Measured),
        stop: &Stop,
    ) -> Result<Self, RenderError> {
        let exposures = Self::exposures(job, device, (poser, known), stop)?;
        let mut measured = Self { exposures, ..Self::default() };
        if let Some(timeline) = &job.scene.timeline
            // Otherwise the run overrides the scene's white balance.
            && job.settings.film.white_balance == job.scene.settings.white_balance
        {
            let white = |frame: u32| Some((frame, timeline.white_balance(job.time_of(frame))?));
            measured.white_balances = job.traced_frames().into_iter().filter_map(white).collect();
        }
        Ok(measured)
    }

    fn exposures(
        job: &RenderJob,
        device: &mut dyn Device,
        (poser, known): (&mut Poser, &mut Measured),
        stop: &Stop,
    ) -> Result<BTreeMap<u32, f32>, RenderError> {
        let stage = job.scene.stage.map(|stage| cryptomatte::id(&job.scene.instance_name(stage as usize)));
        let frames = job.traced_frames();
        let more = match job.auto_exposure {
            None => return Ok(BTreeMap::new()),
            Some(AutoExposure::Keyed) => {
                let timeline = job.scene.timeline.as_ref();
                let exposure = |&frame: &u32| Some((frame, timeline?.exposure(job.time_of(frame))?));
                return Ok(frames.iter().filter_map(exposure).collect());
            }
            Some(AutoExposure::Gentle) => {
                let stops = measure_frame(job, device, (poser, known), (job.scene.settings.first_frame, stage), stop)?;
                let exposure = job.settings.exposure + gentle(stops);
                return Ok(frames.into_iter().map(|frame| (frame, exposure)).collect());
            }
            Some(AutoExposure::Full(more)) => more,
        };
        let (step, first) = (step(job), job.scene.settings.first_frame);
        let wanted: BTreeSet<u32> = frames.iter().flat_map(|&f| keys(f - first, step)).collect();
        let mut keys = BTreeMap::new();
        for key in wanted {
            let frame = job.scene.settings.frame_at(key * step);
            let stops = measure_frame(job, device, (poser, known), (frame, stage), stop)?;
            keys.insert(key, stops);
        }
        let exposure = |&frame: &u32| (frame, more + between(&keys, frame - first, step));
        Ok(frames.iter().map(exposure).collect())
    }

    /// The exposures of frames whose exposure is not fixed.
    pub fn stops(self) -> BTreeMap<u32, f32> {
        self.exposures
    }

    /// A copy of `settings` with the exposure and white balance of `frame`.
    pub fn settings_of(&self, settings: &FrameSettings, frame: u32) -> FrameSettings {
        let mut settings = settings.clone();
        settings.exposure = self.exposures.get(&frame).copied().unwrap_or(settings.exposure);
        settings.film.white_balance = self.white_balances.get(&frame).copied().or(settings.film.white_balance);
        settings
    }
}

/// Half of the difference between a subject's stops and clay's, limited to one stop: white objects stay white and black ones black.
fn gentle(stops: f32) -> f32 {
    (0.5 * (stops - CLAY)).clamp(-1.0, 1.0)
}

/// Number of frames between two measurements, which are about one second apart.
fn step(job: &RenderJob) -> u32 {
    (job.scene.settings.fps.round() as u32).max(1)
}

/// Keys of the measurements that a frame's exposure depends on: the two around it, and their neighbours. Frames are counted from 0; key `k`
/// is frame `k * step`, or the last frame.
fn keys(frame: u32, step: u32) -> std::ops::RangeInclusive<u32> {
    let before = frame / step;
    before.saturating_sub(1)..=before + 2
}

/// Interpolates linearly between the two measurements around a frame. Each measurement is first averaged with its neighbours.
fn between(keys: &BTreeMap<u32, f32>, frame: u32, step: u32) -> f32 {
    let key = |k: u32| keys.get(&k).copied().unwrap_or_default();
    let smooth = |k: u32| 0.25 * key(k.saturating_sub(1)) + 0.5 * key(k) + 0.25 * key(k + 1);
    let before = frame / step;
    let t = (frame % step) as f32 / step as f32;
    smooth(before) * (1.0 - t) + smooth(before + 1) * t
}

/// Stops that bring a frame to middle grey. Pixels of the instance with the id `stage` are ignored.
fn measure_frame(
    job: &RenderJob,
    device: &mut dyn Device,
    (poser, known): (&mut Poser, &mut Measured),
    (number, stage): (u32, Option<u32>),
    stop: &Stop,
) -> Result<f32, RenderError> {
    let mut settings = small(&job.settings);
    if job.auto_exposure == Some(AutoExposure::Gentle) {
        settings.samples = GENTLE_SAMPLES;
    }
    settings.aovs = stage.map(|_| Aov::Instance).into_iter().collect();
    known.keep_for(settings.clone());
    if let Some(&stops) = known.stops.get(&number) {
        return Ok(stops);
    }
    let frame = poser.pose(number).frame;
    let rendered = device
        .submit(frame, &settings, Delivery::default())
        .and_then(|()| device.collect(stop))
        .map_err(|source| RenderError::Device { frame: number, source })?;
    let mut radiance: Vec<f32> = bytemuck::pod_collect_to_vec(&rendered.pixels);
    if let (Some(stage), Some(matte)) = (stage, rendered.aovs.first()) {
        keep_subject(&mut radiance, &matte.values, stage);
    }
    let stops = stops_for(&radiance);
    known.stops.insert(number, stops);
    Ok(stops)
}

/// Removes the pixels that show the background or the instance with the id `stage`, if enough others remain.
fn keep_subject(radiance: &mut Vec<f32>, matte: &[f32], stage: u32) {
    let ids = matte.chunks_exact(Aov::Instance.channels()).map(|pixel| pixel[0].to_bits());
    let pixels = radiance.as_chunks::<3>().0.iter().zip(ids);
    let subject: Vec<f32> = pixels.filter(|(_, id)| *id != 0 && *id != stage).flat_map(|(rgb, _)| *rgb).collect();
    if subject.len() as f32 >= LEAST_SUBJECT * radiance.len() as f32 {
        *radiance = subject;
    }
}

/// The settings of a measured picture, derived from the frame's settings.
fn small(settings: &FrameSettings) -> FrameSettings {
    let longer = settings.width.max(settings.height).max(1);
    let side = |side: u32| {
        let scaled = u64::from(side) * u64::from(SIDE) / u64::from(longer);
        (scaled as u32).clamp(1, SIDE)
    };
    FrameSettings {
        width: side(settings.width),
        height: side(settings.height),
        region: None,
        samples: SAMPLES,
        exposure: 0.0,
        // Pictures that differ only in their noise are equally bright.
        seed: 0,
        lock_seed: false,
        open_ended: false,
        noise: None,
        pixels: PixelType::F32,
        // The surroundings count, so that a cut-out gets the exposure of the whole picture.
        transparent: false,
        aovs: AovSet::default(),
        film: FilmSettings::default(),
        ..settings.clone()
    }
}

/// Stops that bring the geometric mean of linear pixels to middle grey. The darkest and brightest pixels are ignored.
fn stops_for(radiance: &[f32]) -> f32 {
    let pixels = radiance.as_chunks::<3>().0.iter();
    let mut logs: Vec<f32> = pixels.map(|&rgb| luminance(rgb.into()).clamp(1e-6, 1e6).log2()).collect();
    logs.sort_unstable_by(f32::total_cmp);
    let count = logs.len() as f32;
    let kept = (count * DARK) as usize..(count * (1.0 - BRIGHT)).ceil() as usize;
    let kept = logs.get(kept).unwrap_or_default();
    let mean = kept.iter().sum::<f32>() / kept.len().max(1) as f32;
    (GREY.log2() - mean).clamp(-MOST, MOST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_scene::RenderDefaults;

    #[test]
    fn pictures_become_middle_grey_whatever_their_specks() {
        let mut radiance = vec![2.0f32; 300];
        assert!((stops_for(&radiance) - (0.09f32).log2()).abs() < 1e-5);
        radiance[..6].fill(1e5);
        radiance[6..12].fill(0.0);
        assert!((stops_for(&radiance) - (0.09f32).log2()).abs() < 0.2);
        assert_eq!(stops_for(&[0.0; 30]), MOST);
        assert_eq!(stops_for(&[]).abs(), GREY.log2().abs());
    }

    #[test]
    fn brightness_is_measured_with_the_same_noise_whatever_the_seed() {
        let settings = FrameSettings::from(&RenderDefaults::default());
        let other = FrameSettings { seed: 7, samples: 9, lock_seed: true, open_ended: true, ..settings.clone() };
        assert_eq!(small(&settings), small(&other));
    }

    #[test]
    fn exposures_pass_smoothly_and_depend_on_their_neighbours_only() {
        let all: BTreeMap<u32, f32> = (0..6).map(|k| (k, f32::from(k >= 3))).collect();
        let exposures: Vec<f32> = (0..40).map(|frame| between(&all, frame, 10)).collect();
        assert!(exposures.is_sorted());
        assert_eq!((exposures[0], exposures[39]), (0.0, 0.975));
        for pair in exposures.windows(2) {
            assert!(pair[1] - pair[0] < 0.06);
        }
        for frame in [1, 17, 30] {
            let own = keys(frame, 10).map(|k| (k, all[&k])).collect();
            assert_eq!(between(&own, frame, 10), exposures[frame as usize]);
        }
    }
}
