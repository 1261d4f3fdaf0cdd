//! The times at which a scene is sampled.

use crate::ExportOptions;
use std::ops::RangeInclusive;
use throng_scene::{Scene, anim::Moment};

/// A time at which the scene is sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// The time code: numbers of frames, and fractions while the shutter is open.
    pub code: f64,
    /// The frame that shows it.
    pub frame: u32,
    /// Seconds of the scene.
    pub time: f64,
    /// The time of the frame.
    pub frame_time: f64,
}

/// The times of an export.
pub struct Times {
    /// First and last frame.
    pub frames: RangeInclusive<u32>,
    /// All samples, at increasing time codes.
    pub samples: Vec<Sample>,
    /// Whether objects move.
    pub moves: bool,
    /// Exposure in stops at the time code of each frame.
    pub exposures: Vec<(f64, f32)>,
    /// Whether these replace a measured exposure.
    pub are_measured: bool,
}

impl Times {
    /// The times of the frames that the options choose: each frame, and if a shutter is open, its opening and closing.
    pub fn new(scene: &Scene, options: &ExportOptions) -> Self {
        let all = scene.settings.frame_numbers();
        let wanted = options.frames.clone().unwrap_or_else(|| all.clone());
        let frames =
            (*wanted.start()).clamp(*all.start(), *all.end())..=(*wanted.end()).clamp(*all.start(), *all.end());
        let offsets = match &scene.settings.shutter {
            Some(shutter) if shutter.is_open() => {
                let [open, close] = shutter.span().map(f64::from);
                vec![open, 0.0, close]
            }
            _ => vec![0.0],
        };
        let sample = |frame: u32, offset: f64| {
            let frame_time = scene.time_of(frame);
            let time = frame_time + offset / scene.settings.fps;
            Sample { code: f64::from(frame) + offset, frame, time, frame_time }
        };
        let mut samples: Vec<Sample> =
            frames.clone().flat_map(|frame| offsets.iter().map(move |offset| sample(frame, *offset))).collect();
        samples.sort_by(|a, b| a.code.total_cmp(&b.code));
        samples.dedup_by(|a, b| a.code == b.code);
        let exposures = frames.clone().map(|frame| (f64::from(frame), exposure(scene, options, frame))).collect();
        let are_measured = !options.exposures.is_empty();
        Self { frames, samples, moves: scene.is_animated(), exposures, are_measured }
    }

    /// The samples of objects: all of them if objects move, otherwise the first one.
    pub fn of_objects(&self) -> &[Sample] {
        if self.moves { &self.samples } else { &self.samples[..self.samples.len().min(1)] }
    }

    /// The time of the first frame.
    pub fn first(&self) -> Sample {
        let first = self.samples.iter().find(|sample| sample.code == f64::from(*self.frames.start()));
        // Each frame has a sample.
        first.or(self.samples.first()).copied().unwrap_or_default()
    }

    /// First and last time code.
    pub fn codes(&self) -> (f64, f64) {
        (f64::from(*self.frames.start()), f64::from(*self.frames.end()))
    }
}

/// Exposure of a frame: measured, by keys, or the scene's.
fn exposure(scene: &Scene, options: &ExportOptions, frame: u32) -> f32 {
    let keyed = || scene.timeline.as_ref()?.exposure(scene.time_of(frame));
    options.exposures.get(&frame).copied().or_else(keyed).unwrap_or(scene.settings.exposure)
}

impl Sample {
    /// The moment of the scene.
    pub fn moment(&self, scene: &Scene) -> Moment {
        Moment::of(scene, self.time).in_frame(self.frame_time)
    }
}
