//! Batches: consecutive frames of one moment that a device renders together, because a single one is too small to fill it. Their pictures are on one
//! film, one below the other, and have the bits of pictures that are rendered one by one.

use crate::{
    Delivery, DeviceError, Frame, FrameSettings, PosedMesh, RayCounts, Region, Rendered,
    records::params::{star_radius, view_record},
};
use std::{collections::VecDeque, iter::zip, sync::Arc};
use throng_abi::ViewRecord;
use throng_picture::{
    aov::{Aov, AovImage},
    pixels::Floats,
};
use throng_scene::{Integrator, anim::Deformed};

/// Maximum number of frames in a batch.
const MOST_FRAMES: u64 = 1024;

/// A picture to render, or the pictures of a batch on one film.
#[derive(Clone, Copy)]
pub(crate) struct Picture<'a> {
    pub frame: &'a Frame,
    /// The settings of the film.
    pub settings: &'a FrameSettings,
    pub delivery: Delivery,
    /// The pictures of a batch; empty for a single picture.
    pub views: &'a [ViewRecord],
}

/// The frames of a batch.
pub(crate) struct Batch {
    /// The first frame. All frames have its trees and tables.
    pub frame: Frame,
    /// The settings of the film.
    pub settings: FrameSettings,
    pub delivery: Delivery,
    pub views: Vec<ViewRecord>,
}

impl Batch {
    /// The batch of frames with these settings. Of `delivery`, only [`Delivery::keeps_picture`] counts.
    ///
    /// # Errors
    /// If there is no frame, or if [`can_join`] is false for one of them.
    pub fn new(frames: Vec<Frame>, settings: &FrameSettings, delivery: Delivery) -> Result<Self, DeviceError> {
        let views: Vec<_> = frames.iter().map(|frame| view_record(frame, settings)).collect();
        let joins = zip(&frames, frames.iter().skip(1)).all(|(a, b)| can_join(a, b, settings));
        let Some(frame) = frames.into_iter().next().filter(|_| joins) else {
            let message = "the frames of a batch do not show one moment, or need pictures of their own";
            return Err(DeviceError::Failed(message.into()));
        };
        // A region with its origin in the picture's: all settings that depend on the picture's size stay as they are.
        let height = settings.height.saturating_mul(views.len() as u32);
        let region = Region { x: 0, y: 0, width: settings.width, height };
        let settings = FrameSettings { region: Some(region), ..settings.clone() };
        let delivery = Delivery { keeps_picture: delivery.keeps_picture, ..Delivery::default() };
        Ok(Self { frame, settings, delivery, views })
    }
}

/// Number of frames in a batch with the given amount of work, where each frame has `own` of it. 1 if pictures with these settings need a film of
/// their own.
pub(crate) fn frames_in(settings: &FrameSettings, work: u64, own: u64) -> usize {
    if settings.can_share_film() { (work / own.max(1)).clamp(1, MOST_FRAMES) as usize } else { 1 }
}

/// Whether two frames with equal settings can be in one batch. They must show one moment: all that kernels read of them is the same, except for the
/// pose and the lens of a camera that stands still, and the seed.
pub fn can_join(a: &Frame, b: &Frame, settings: &FrameSettings) -> bool {
    let is_still = [a, b].iter().all(|frame| frame.camera_keys.is_empty() && frame.others.is_none());
    let of_stars = |frame: &Frame| star_radius(&frame.camera, settings.height);
    settings.can_share_film() && is_still && a.has_scene_of(b) && of_stars(a) == of_stars(b)
}

impl FrameSettings {
    /// Whether a picture with these settings can be a part of a film with other pictures. It cannot if pixels read others, if samples depend on a
    /// measurement of the film, or if AOVs and views depend on more of a frame than its camera.
    fn can_share_film(&self) -> bool {
        let is_whole = self.region.is_none() && self.noise.is_none() && !self.open_ended;
        is_whole && !self.shares_samples() && self.integrator != Integrator::Depth && !self.aovs.contains(Aov::Motion)
    }
}

impl Frame {
    /// Whether both frames have the same trees, shapes and tables.
    fn has_scene_of(&self, other: &Self) -> bool {
        let tables = match (&self.tables, &other.tables) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            (own, other) => own.is_none() && other.is_none(),
        };
        Arc::ptr_eq(&self.scene, &other.scene)
            && Arc::ptr_eq(&self.tlas, &other.tlas)
            && Arc::ptr_eq(&self.blas, &other.blas)
            && self.shapes.len() == other.shapes.len()
            && zip(&self.shapes, &other.shapes).all(|(own, other)| own.is(other))
            && tables
    }
}

impl PosedMesh {
    /// Whether both are one pose of one mesh.
    fn is(&self, other: &Self) -> bool {
        let same = |(own, other): (&Arc<Deformed>, &Arc<Deformed>)| Arc::ptr_eq(own, other);
        self.mesh == other.mesh
            && same((&self.shape, &other.shape))
            && self.later.len() == other.later.len()
            && zip(&self.later, &other.later).all(same)
    }
}

/// Divides the output for a batch among its `frames` frames: the first one and the others. Pixels, AOVs and kept pictures stay in the memory of the
/// batch. Rays and time are not measured by frame, so each has an equal part. The output for a single frame is returned as it is.
pub(crate) fn split(rendered: Rendered, frames: usize) -> (Rendered, VecDeque<Rendered>) {
    if frames < 2 {
        return (rendered, VecDeque::new());
    }
    let part = |index: usize| {
        let range = |len: usize| index * (len / frames)..(index + 1) * (len / frames);
        let aov = |image: &AovImage| {
            let bytes = image.values.clone().into_bytes();
            let own = bytes.slice(range(bytes.len()));
            AovImage { aov: image.aov, values: Floats::from_bytes(own) }
        };
        Rendered {
            pixels: rendered.pixels.slice(range(rendered.pixels.len())),
            aovs: rendered.aovs.iter().map(aov).collect(),
            blocks: None,
            records: None,
            kept: rendered.kept.as_ref().map(|kept| kept.part(index, frames)),
            rays: rendered.rays.part(index as u64, frames as u64),
            time: rendered.time / frames as u32,
            stages: None,
        }
    };
    (part(0), (1..frames).map(part).collect())
}

impl RayCounts {
    /// Part `index` of `count` parts, which differ by at most one ray of each kind and add up to all rays.
    fn part(&self, index: u64, count: u64) -> Self {
        let of = |rays: u64| rays / count + u64::from(index < rays % count);
        Self { primary: of(self.primary), bounce: of(self.bounce), shadow: of(self.shadow) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{frame, settings};
    use std::time::Duration;

    fn frames(count: u32) -> Vec<Frame> {
        let first = frame(1);
        (1..=count).map(|number| Frame { number, ..first.clone() }).collect()
    }

    #[test]
    fn frames_of_one_moment_join_and_others_do_not() {
        let [a, b] = <[Frame; 2]>::try_from(frames(2)).ok().unwrap();
        let settings = settings();
        assert!(can_join(&a, &b, &settings));
        assert!(!can_join(&a, &frame(2), &settings), "another TLAS");
        let moving = Frame { camera_keys: vec![b.camera; 2], ..b.clone() };
        assert!(!can_join(&a, &moving, &settings));
        let mut aovs = settings.clone();
        aovs.aovs = [Aov::Depth, Aov::Normal].into_iter().collect();
        assert!(can_join(&a, &b, &aovs));
        let alone = [
            FrameSettings { noise: Some(0.1), ..settings.clone() },
            FrameSettings { open_ended: true, ..settings.clone() },
            FrameSettings { region: Some(Region::of_picture((4, 2))), ..settings.clone() },
            FrameSettings { integrator: Integrator::Depth, ..settings.clone() },
            FrameSettings { aovs: [Aov::Motion].into_iter().collect(), ..settings.clone() },
        ];
        for settings in alone {
            assert!(!can_join(&a, &b, &settings), "{settings:?}");
            assert_eq!(frames_in(&settings, 1000, 10), 1);
        }
        assert!(Batch::new(vec![a, frame(2)], &settings, Delivery::default()).is_err());
        assert!(Batch::new(Vec::new(), &settings, Delivery::default()).is_err());
    }

    #[test]
    fn batches_have_the_wanted_work_and_a_limit() {
        let of = |work, own| frames_in(&settings(), work, own);
        assert_eq!([of(100, 10), of(100, 60), of(100, 1000), of(1 << 40, 1), of(9, 0)], [10, 1, 1, 1024, 9]);
    }

    #[test]
    fn a_batch_is_divided_into_its_frames() {
        let settings = settings();
        let batch = Batch::new(frames(3), &settings, Delivery::default()).unwrap();
        assert_eq!((batch.settings.film_size(), batch.views.len()), ((4, 6), 3));
        assert_ne!(batch.views[0].seed, batch.views[1].seed);
        let depths: Vec<f32> = (0..24).map(|value| value as f32).collect();
        let rendered = Rendered {
            pixels: (0..72).collect::<Vec<u8>>().into(),
            aovs: vec![AovImage { aov: Aov::Depth, values: depths.into() }],
            blocks: None,
            records: None,
            kept: None,
            rays: RayCounts { primary: 24, bounce: 7, shadow: 0 },
            time: Duration::from_millis(3),
            stages: None,
        };
        let (first, mut parts) = split(rendered, 3);
        parts.push_front(first);
        let bounces: Vec<u64> = parts.iter().map(|part| part.rays.bounce).collect();
        assert_eq!((parts[0].rays.primary, bounces), (8, vec![3, 2, 2]));
        assert_eq!((parts[1].pixels[0], parts[1].pixels.len(), parts[1].time), (24, 24, Duration::from_millis(1)));
        assert_eq!((parts[2].aovs[0].values[0], parts[2].aovs[0].values.len()), (16.0, 8));
    }
}
