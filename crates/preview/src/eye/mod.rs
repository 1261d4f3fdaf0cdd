//! The picture of one viewer: camera, clock, settings and film.
//!
//! After a change, a quick picture is shown first. Its size and sample count are chosen to take about 45 ms, and it is denoised with
//! earlier pictures if time allows (`clean`). After 80 ms without a change, samples are added in slices of up to 200 ms (`pace`). A new
//! camera interrupts a slice without loss, because the film is copied before each slice. The finished picture is denoised by its own
//! samples alone, if renders of the scene are denoised.

mod clean;
mod line;
mod work;

use super::{
    Answer, Command, Link, State, StillFormat, Track, View, camera,
    choices::Choices,
    clock::Clock,
    edits::Edits,
    film::Film,
    flights,
    pace::Pace,
    path::{Flight, file_keys, own_path},
    stage::{Shown, Stage},
    still::Still,
};
use clean::Clean;
use serde_json::Value;
use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};
use throng_base::memory::total_bytes;
use throng_device::{Delivery, Frame, FrameSettings};
use throng_picture::{aov::Aov, pixels::PixelType};
use throng_render::{Measured, RenderJob, sampling};
use throng_scene::anim::{CameraPose, Moment, camera_pose};
use throng_scene::{Projection, ranges::FRAMES};
use throng_settings::{Error, SettingsError};

/// Time without a change after which a picture counts as still.
const SETTLING: Duration = Duration::from_millis(80);
/// Interval between two pictures of an unchanged view, and between two reports.
const SHOWING: Duration = Duration::from_millis(80);
const REPORTING: Duration = Duration::from_millis(250);
/// Maximum side of pictures, in pixels.
const LARGEST_SIDE: u32 = 8192;

/// The source of a viewer's camera over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Follow {
    /// The scene's camera.
    Scene,
    /// Another camera of the scene, by index.
    Through(usize),
    Waypoints,
    /// The position set by the viewer.
    Free,
}

/// The progress of a picture.
enum Progress {
    /// Something has changed since the last picture.
    Changed,
    /// A quick picture of this size was shown at this time.
    Quick { size: (u32, u32), at: Instant },
    /// Samples are being added.
    Filming(Box<Film>),
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
struct Posed {
    number: u32,
    generation: u32,
    frame: Frame,
    /// With the frame's own exposure.
    settings: FrameSettings,
}

/// All values that affect samples, and the requested AOVs.
#[derive(PartialEq)]
struct Sampled {
    number: u32,
    generation: u32,
    camera: CameraPose,
    is_own: bool,
    settings: FrameSettings,
    delivery: Delivery,
}

/// Settings for the film of a picture. If the finished picture is denoised, its variance is measured.
fn film_settings(settings: &FrameSettings, is_denoised: bool) -> FrameSettings {
    FrameSettings { aovs: settings.aovs.with(is_denoised.then_some(Aov::Variance)), ..settings.clone() }
}

pub struct Eye {
    pub link: Arc<Link>,
    size: Option<(u32, u32)>,
    view: Option<View>,
    key: u32,
    follow: Follow,
    flight: Option<Flight>,
    waypoints: (Vec<super::Waypoint>, Option<String>),
    clock: Clock,
    pub choices: Choices,
    /// The job for the current settings; None after they have changed.
    job: Option<RenderJob>,
    /// The job that denoises the finished picture; None if it is shown as traced.
    denoised: Option<RenderJob>,
    measured: Measured,
    posed: Option<Posed>,
    sampled: Option<Sampled>,
    progress: Progress,
    /// The frame seen by the viewer's camera, with the settings of the picture.
    current: Option<(Frame, FrameSettings)>,
    pace: Pace,
    shown: Option<Instant>,
    /// Number of samples at which the film looks as good as the quick picture on screen. Pictures with fewer samples are not shown.
    least: u32,
    /// Denoises quick pictures; None if the denoiser is not available.
    clean: Option<Clean>,
    /// Whether the last quick picture was denoised.
    is_clean: bool,
    reported: Option<Instant>,
    /// The last report.
    state: State,
    /// Set after an error: nothing is tried again before something changes.
    is_broken: bool,
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
    pub fn new(link: Arc<Link>, stage: &Stage, edits: Edits) -> Self {
        let settings = &stage.shown.scene.settings;
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
            paths_of: stage.shown.text.clone(),
            has_failed: false,
            waiting: VecDeque::new(),
        }
    }

    /// Switches to another scene.
    pub fn adopt(&mut self, stage: &Stage) {
        let settings = &stage.shown.scene.settings;
        self.clock = self.clock.fitted(settings.frames, settings.fps);
        (self.job, self.posed, self.measured, self.is_broken) = (None, None, Measured::default(), false);
        (self.paths_of, self.has_failed) = (stage.shown.text.clone(), false);
        self.fly(stage);
        self.tell_path(stage);
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

    /// Executes a command that concerns only this viewer.
    pub fn obey(&mut self, command: Command, stage: &mut Stage) {
        self.is_broken = false;
        let done = match command {
            Command::Start { size } => self.resize(size),
            Command::Camera(view) => self.look(view),
            Command::Time { frame } => {
                self.clock.show(frame);
                Ok(())
            }
            Command::Play { playing, looped } => {
                self.clock.play(playing, looped, Instant::now());
                Ok(())
            }
            Command::Follow { path, camera } => self.follow(path, camera.as_deref(), stage),
            Command::Set { name, value } => self.set(&name, &value, stage),
            Command::Pick { at, ask } => self.pick(at, ask, stage),
            Command::Waypoints { keys, pace } => {
                let pace = pace.and_then(|pace| pace.as_str().map(str::to_owned));
                self.waypoints = (keys, pace);
                self.fly(stage);
                self.tell_waypoints(stage);
                Ok(())
            }
            _ => Err("this is not possible here".to_owned()),
        };
        if let Err(message) = done {
            self.link.answer(Answer::error(message));
        }
        self.report(true);
    }

    fn resize(&mut self, size: [u32; 2]) -> Result<(), String> {
        let [width, height] = size.map(|side| side.clamp(1, LARGEST_SIDE));
        if self.size != Some((width, height)) {
            self.size = Some((width, height));
            self.job = None;
        }
        Ok(())
    }

    fn look(&mut self, view: View) -> Result<(), String> {
        camera::check(&view)?;
        self.key = view.key;
        self.follow = Follow::Free;
        self.view = Some(view);
        Ok(())
    }

    fn follow(&mut self, path: Option<Track>, camera: Option<&str>, stage: &Stage) -> Result<(), String> {
        match path {
            Some(Track::Scene) if camera.is_some() => {
                let mut cameras = stage.shown.scene.viewpoints.iter();
                let index = cameras.position(|(name, _)| Some(name.as_str()) == camera);
                self.follow = index.map(Follow::Through).ok_or("the scene has no camera of that name")?;
            }
            Some(Track::Scene) => self.follow = Follow::Scene,
            Some(Track::Waypoints) if self.flight.is_some() => self.follow = Follow::Waypoints,
            Some(Track::Waypoints) => return Err("a path needs two waypoints at least".to_owned()),
            None => {
                if let (true, Some((frame, _))) = (self.follow != Follow::Free, &self.current) {
                    self.view = Some(View { key: self.key, ..camera::view(&frame.camera()) });
                }
                self.follow = Follow::Free;
            }
        }
        Ok(())
    }

    fn set(&mut self, name: &str, value: &Value, stage: &Stage) -> Result<(), String> {
        let before = self.choices.clone();
        self.choices.set(name, value)?;
        if let Some(size) = self.size
            && let Err(error) = stage.job(&self.choices.options(&stage.shown.options, size), PixelType::U8)
        {
            self.choices = before;
            return Err(error.to_string());
        }
        self.job = None;
        Ok(())
    }

    fn pick(&mut self, at: [f32; 2], ask: u32, stage: &mut Stage) -> Result<(), String> {
        if !at.iter().all(|x| x.is_finite()) {
            return Err("`at` must be two numbers from 0 to 1".to_owned());
        }
        let (Some((frame, _)), Some((width, height))) = (&self.current, self.size) else {
            self.link.answer(Answer::Picked { ask, found: None });
            return Ok(());
        };
        let aspect = width as f32 / height as f32;
        stage.make_ready().map_err(|error| error.to_string())?;
        let found = super::picking::pick(&stage.shown.scene, frame, (at, aspect), stage.device.as_mut());
        let found = found.map_err(|error| error.to_string())?.map(|(instance, mut picked)| {
            self.edits.complete(&mut picked, &stage.shown, instance);
            picked
        });
        self.link.answer(Answer::Picked { ask, found });
        Ok(())
    }

    /// Computes the flight through the waypoints in the shown scene.
    fn fly(&mut self, stage: &Stage) {
        let (keys, pace) = &self.waypoints;
        self.flight = match Flight::new(&stage.shown.scene, keys, pace.as_deref()) {
            Ok(flight) => flight,
            Err(message) => {
                self.link.answer(Answer::error(message));
                None
            }
        };
        let settings = &stage.shown.scene.settings;
        let last = self
            .flight
            .as_ref()
            .map_or(1, |flight| 1 + ((flight.end() - settings.start) * settings.fps).round() as u32);
        self.clock.set_end(settings.frames.max(last.min(*FRAMES.end())));
        if self.flight.is_none() && self.follow == Follow::Waypoints {
            self.follow = Follow::Free;
        }
    }

    fn tell_waypoints(&self, stage: &Stage) {
        let points = self.flight.as_ref().map_or_else(Vec::new, |flight| flight.points(&stage.shown.scene));
        self.link.answer(Answer::Path {
            of: Track::Waypoints,
            points,
            keys: self.waypoints.0.clone(),
            pace: self.waypoints.1.clone(),
        });
    }

    /// Sends the path of the scene's camera.
    pub fn tell_path(&self, stage: &Stage) {
        self.link.answer(own_path(&stage.shown.scene));
    }

    /// The camera and the frame, for viewers that follow this one.
    pub fn presented(&self) -> Option<(View, u32)> {
        let (frame, _) = self.current.as_ref()?;
        Some((View { key: 0, ..camera::view(&frame.camera()) }, frame.number))
    }

    /// Adopts the camera and the frame of another viewer.
    pub fn watch(&mut self, (view, frame): (View, u32)) {
        if self.clock.at(Instant::now()) != frame {
            self.clock.show(frame);
        }
        let view = View { key: self.key, ..view };
        if self.view.as_ref() != Some(&view) {
            self.follow = Follow::Free;
            self.link.answer(Answer::Camera(view.clone()));
            self.view = Some(view);
        }
    }

    /// Determines the current picture, and restarts it if a value that affects samples has changed.
    ///
    /// # Errors
    /// If the settings are invalid, if the device cannot load the scene, or if it fails while measuring the exposure.
    pub fn update(&mut self, stage: &mut Stage) -> Result<(), Error> {
        let Some(size) = self.size.filter(|_| !self.is_broken) else {
            return Ok(());
        };
        let number = self.clock.at(Instant::now());
        if self.job.is_none() {
            let options = self.choices.options(&stage.shown.options, size);
            let mut job = stage.job(&options, PixelType::U8)?;
            job.settings.aovs = job.settings.aovs.with(self.choices.view);
            job.aovs = job.aovs.with(self.choices.view);
            job.delivery.unfinished_aovs = self.choices.view.is_some() || job.is_transparent();
            self.job = Some(job);
            self.posed = None;
            self.denoised = self.denoised_job(size, stage);
        }
        let Some(job) = &mut self.job else { return Ok(()) };
        let delivery = job.delivery;
        let generation = stage.shown.generation;
        if self.posed.as_ref().is_none_or(|posed| (posed.number, posed.generation) != (number, generation)) {
            job.frames = vec![number];
            stage.make_ready()?;
            let known = (number, &mut self.measured);
            let (frame, settings) = stage.shown.loaded.pose(job, stage.device.as_mut(), known, &|| false)?;
            self.posed = Some(Posed { number, generation, frame, settings });
        }
        let Some(posed) = &mut self.posed else { return Ok(()) };
        let time = stage.shown.scene.time_of(number);
        let aspect = posed.settings.width as f32 / posed.settings.height as f32;
        let other = match (self.follow, &self.flight, &self.view) {
            (Follow::Waypoints, Some(flight), _) => Some(flight.pose(&stage.shown.scene, time)),
            (Follow::Through(index), ..) if index < stage.shown.scene.viewpoints.len() => {
                let camera = &stage.shown.scene.viewpoints[index].1;
                Some(camera_pose(&stage.shown.scene, camera, &Moment::of(&stage.shown.scene, time)))
            }
            (Follow::Free, _, Some(view)) => Some(camera::pose(&stage.shown.scene, time, view, aspect)),
            _ => None,
        };
        posed.frame = stage.shown.loaded.close_to(posed.frame.clone(), other.map(|camera| camera.eye));
        let frame = other.map_or_else(|| posed.frame.clone(), |camera| posed.frame.seen_by(camera));
        let film_settings = film_settings(&posed.settings, self.denoised.is_some());
        let sampled = Sampled {
            number,
            generation,
            camera: frame.camera(),
            is_own: self.follow == Follow::Scene,
            settings: sampling(&film_settings),
            delivery,
        };
        let is_new = self.sampled.as_ref() != Some(&sampled);
        if is_new && self.follow != Follow::Free && self.sampled.as_ref().map(|s| s.camera) != Some(sampled.camera) {
            self.link.answer(Answer::Camera(View { key: self.key, ..camera::view(&frame.camera()) }));
        }
        self.state.of = posed.settings.samples;
        self.state.exposure = posed.settings.exposure;
        self.state.frame = number;
        match &mut self.progress {
            _ if is_new => {
                self.progress = Progress::Changed;
                self.state.samples = 0;
            }
            Progress::Filming(film) if film.settings != film_settings => {
                (film.settings, film.frame) = (film_settings, frame.clone());
                self.shown = None;
                (self.state.done, self.state.denoised) = (false, false);
            }
            Progress::Quick { .. } | Progress::Ended
                if self.current.as_ref().is_none_or(|(_, settings)| *settings != posed.settings) =>
            {
                self.progress = Progress::Changed;
            }
            _ => {}
        }
        if is_new {
            (self.state.done, self.state.denoised) = (false, false);
            self.sampled = Some(sampled);
        }
        self.current = Some((frame, posed.settings.clone()));
        Ok(())
    }

    /// The job that denoises finished pictures, if renders of the scene are denoised. None for layers, and if it is not possible.
    fn denoised_job(&self, size: (u32, u32), stage: &Stage) -> Option<RenderJob> {
        let Shown { scene, options, .. } = &stage.shown;
        let options = self.choices.denoised_options(options, size, &scene.settings);
        let options = options.filter(|_| self.choices.view.is_none())?;
        match stage.job(&options, PixelType::U8) {
            Ok(job) => Some(job),
            Err(error) => {
                self.link.answer(Answer::error(error));
                None
            }
        }
    }

    /// Reports an error, and stops trying until something changes.
    pub fn give_up(&mut self, error: &Error) {
        (self.progress, self.is_broken) = (Progress::Changed, true);
        self.link.answer(Answer::error(error));
    }

    /// A still for a file: the current picture, or a frame through the scene's own camera. Omitted sizes and sample counts are those of the
    /// viewer's picture. None before the first picture.
    ///
    /// # Errors
    /// If the settings are out of range or need too much memory, if the device cannot load the scene, or if it fails while measuring the
    /// exposure.
    pub fn still(
        &mut self,
        (number, size, samples): (Option<u32>, Option<[u32; 2]>, Option<u32>),
        of: (u32, StillFormat),
        stage: &mut Stage,
    ) -> Result<Option<Still>, Error> {
        let (Some(whole), Some((seen, _))) = (self.size, &self.current) else { return Ok(None) };
        let size = size.map_or(whole, |[width, height]| (width, height));
        let Shown { scene, options, .. } = &stage.shown;
        let denoised = self.choices.denoised_options(options, size, &scene.settings);
        let mut options = denoised.unwrap_or_else(|| self.choices.options(options, size));
        options.picture.samples = samples.or(options.picture.samples);
        let pixels = match of.1 {
            StillFormat::Png => PixelType::U8,
            StillFormat::Exr => PixelType::F32,
        };
        let mut job = stage.job(&options, pixels)?;
        let is_own = self.follow == Follow::Scene || number.is_some();
        let number = number.map_or(seen.number, |number| number.clamp(1, stage.shown.scene.settings.frames));
        job.frames = vec![number];
        let (bytes, memory) = (Film::bytes(&job.settings), total_bytes().unwrap_or(u64::MAX));
        if bytes > memory / 2 {
            let (width, height) = (job.settings.width, job.settings.height);
            return Err(SettingsError::Memory { width, height, needed: bytes, available: memory / 2 }.into());
        }
        stage.make_ready()?;
        // The automatic exposure depends on the picture's aspect ratio.
        let known = (number, &mut Measured::default());
        let (frame, settings) = stage.shown.loaded.pose(&job, stage.device.as_mut(), known, &|| false)?;
        job.settings = settings;
        let frame = if is_own {
            frame
        } else {
            stage.shown.loaded.close_to(frame, Some(seen.camera().eye)).seen_by(seen.camera())
        };
        Ok(Some(Still::new(self.link.clone(), of, job, frame)))
    }

    /// The flight to be saved as the scene's camera.
    pub fn flight(&self, stage: &Stage) -> throng_edit::Flight {
        let seen = self.current.as_ref().map(|(frame, _)| camera::view(&frame.camera())).unwrap_or_default();
        let still = self.view.as_ref().filter(|_| self.follow == Follow::Free).unwrap_or(&seen);
        let is_flat = matches!(stage.shown.scene.camera.projection, Projection::Orthographic { .. });
        let (keys, pace) = &self.waypoints;
        let keys = file_keys(&stage.shown.scene, keys);
        flights::flight(&keys, pace.as_deref(), still, is_flat)
    }
}
