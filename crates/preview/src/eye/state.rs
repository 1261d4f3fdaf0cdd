//! The state of a viewer.

use super::clean::Clean;
use crate::{
    Answer, Command, Link, State, View, Waypoint, camera::Flight, choices::Choices, clock::Clock, edits::Edits,
    film::Film, pace::Pace, scenes::ViewerScenes,
};
use std::{collections::VecDeque, sync::Arc, time::Instant};
use throng_device::{Delivery, Frame, FrameSettings};
use throng_render::{Measured, RenderJob};
use throng_scene::anim::CameraPose;

/// The source of a viewer's camera over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    /// The scene's camera.
    Scene,
    /// Another camera of the scene, by index.
    Through(usize),
    Waypoints,
    /// The position set by the viewer.
    Free,
}

/// The progress of a picture.
pub enum Progress {
    /// Something has changed since the last picture.
    Changed,
    /// A quick picture of this size was shown at this time.
    Quick { size: (u32, u32), at: Instant },
    /// Samples are being added.
    Sampling(Box<Film>),
    /// Nothing can be done before something changes.
    Ended,
}

/// Time at which a viewer needs work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Due {
    /// Now: a picture of a moving view.
    Moving,
    /// Now: samples of an unchanged view.
    Still,
    /// At this time.
    At(Instant),
    Never,
}

/// A posed frame, and the state for which it was posed.
pub struct Posed {
    pub(super) number: u32,
    pub(super) generation: u32,
    pub(super) frame: Frame,
    /// With the frame's own exposure.
    pub(super) settings: FrameSettings,
}

/// All values that affect samples, and the requested AOVs.
#[derive(PartialEq)]
pub struct Sampled {
    pub(super) number: u32,
    pub(super) generation: u32,
    pub(super) camera: CameraPose,
    pub(super) is_own: bool,
    pub(super) settings: FrameSettings,
    pub(super) delivery: Delivery,
}

pub struct Eye {
    pub link: Arc<Link>,
    pub(super) size: Option<(u32, u32)>,
    pub(super) view: Option<View>,
    pub(super) key: u32,
    pub(super) follow: Follow,
    pub(super) flight: Option<Flight>,
    pub(super) waypoints: (Vec<Waypoint>, Option<String>),
    pub(super) clock: Clock,
    pub choices: Choices,
    /// The job for the current settings; None after they have changed.
    pub(super) job: Option<RenderJob>,
    /// The job that denoises the finished picture; None if it is shown as traced.
    pub(super) denoised: Option<RenderJob>,
    pub(super) measured: Measured,
    pub(super) posed: Option<Posed>,
    pub(super) sampled: Option<Sampled>,
    pub(super) progress: Progress,
    /// The frame seen by the viewer's camera, with the settings of the picture.
    pub(super) current: Option<(Frame, FrameSettings)>,
    pub(super) pace: Pace,
    pub(super) shown: Option<Instant>,
    /// Number of samples at which the film looks as good as the quick picture on screen. Pictures with fewer samples are not shown.
    pub(super) least: u32,
    /// Denoises quick pictures; None if the denoiser is not available.
    pub(super) clean: Option<Clean>,
    /// Whether the last quick picture was denoised.
    pub(super) is_clean: bool,
    pub(super) reported: Option<Instant>,
    /// The last report.
    pub(super) state: State,
    /// Set after an error: nothing is tried again before something changes.
    pub(super) is_broken: bool,
    pub presents: bool,
    pub watches: bool,
    /// Unsaved changes of the viewer to the scene.
    pub edits: Edits,
    /// Text of the scene file to which the paths known to the viewer refer.
    pub paths_of: Option<Arc<str>>,
    /// Whether the scene with the viewer's changes could not be loaded.
    pub has_failed: bool,
    /// Commands that wait until the viewer's changes are saved.
    pub waiting: VecDeque<Command>,
}

impl Eye {
    pub fn new(link: Arc<Link>, scenes: &ViewerScenes, edits: Edits) -> Self {
        let settings = &scenes.shown.scene.settings;
        Self {
            link,
            size: None,
            view: None,
            key: 0,
            follow: Follow::Scene,
            flight: None,
            waypoints: (Vec::new(), None),
            clock: Clock::new(settings.frames, settings.fps),
            choices: Choices::default(),
            job: None,
            denoised: None,
            measured: Measured::default(),
            posed: None,
            sampled: None,
            progress: Progress::Changed,
            current: None,
            pace: Pace::default(),
            shown: None,
            least: 0,
            clean: Clean::new().ok(),
            is_clean: false,
            reported: None,
            state: State { frame: 1, ..State::default() },
            is_broken: false,
            presents: false,
            watches: false,
            edits,
            paths_of: scenes.shown.text.clone(),
            has_failed: false,
            waiting: VecDeque::new(),
        }
    }

    /// Switches to another scene.
    pub fn adopt(&mut self, scenes: &ViewerScenes) {
        let settings = &scenes.shown.scene.settings;
        self.clock = self.clock.fitted(settings.frames, settings.fps);
        (self.job, self.posed, self.measured, self.is_broken) = (None, None, Measured::default(), false);
        (self.paths_of, self.has_failed) = (scenes.shown.text.clone(), false);
        self.fly(scenes);
        self.tell_path(scenes);
    }

    /// Switches to another text of the scene file, and reports changes whose entries it no longer has.
    pub fn edit_on(&mut self, text: Option<Arc<str>>, is_own: bool) {
        let lost = self.edits.move_to(text, is_own);
        if !lost.is_empty() {
            self.link.answer(Answer::error(format!(
                "the unsaved change of `{}` no longer fits the file",
                lost.join("`, `")
            )));
        }
    }
}
