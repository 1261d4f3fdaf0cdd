//! One viewer's picture: its camera, its time, its settings, and how far it is.

mod clean;
mod work;

use super::{
    Answer, Command, Link, Made, State, StillFormat, Track, View, camera,
    choices::Choices,
    clock::Clock,
    command_line::{self, view_flags},
    edits::{self, Edits},
    film::Film,
    pace::Pace,
    path::{Flight, own_path},
    stage::{Source, Stage},
    still::Still,
};
use crate::{
    Error,
    anim::{CameraPose, Moment, camera_pose},
    device::{Frame, FrameSettings},
    pixels::PixelType,
    quoting::quote,
    render::{Measured, RenderJob, sampling},
    scene::{Projection, ranges::FRAMES},
};
use clean::Clean;
use serde_json::Value;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// Time without a change after which a picture counts as still.
const SETTLING: Duration = Duration::from_millis(80);
/// Time between two pictures of what stands still, and between two reports.
const SHOWING: Duration = Duration::from_millis(80);
const REPORTING: Duration = Duration::from_millis(250);
/// Greatest side of pictures, in pixels.
const LARGEST_SIDE: u32 = 8192;

/// The way of a viewer's camera as time goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Follow {
    /// It is that of the scene.
    Scene,
    /// It is another camera of the scene, by its index.
    Through(usize),
    Waypoints,
    /// It stands where the viewer put it.
    Free,
}

/// The stage of a picture.
enum Progress {
    /// Something changed.
    Changed,
    /// A quick picture of this size was shown at this time.
    Quick { size: (u32, u32), at: Instant },
    /// On the way to all samples.
    Filming(Box<Film>),
    /// Nothing can be done before something changes.
    Ended,
}

/// When there is something to do for a viewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Due {
    /// A picture of something that moves.
    Moving,
    /// Samples of something that stands still.
    Still,
    /// Not before.
    At(Instant),
    Never,
}

/// A posed frame and what it was posed for.
struct Posed {
    number: u32,
    generation: u32,
    frame: Frame,
    /// With the frame's own exposure.
    settings: FrameSettings,
}

/// Everything that samples depend on.
#[derive(PartialEq)]
struct Sampled {
    number: u32,
    generation: u32,
    camera: CameraPose,
    is_own: bool,
    settings: FrameSettings,
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
    /// Made of the choices; None after they changed.
    job: Option<RenderJob>,
    measured: Measured,
    posed: Option<Posed>,
    sampled: Option<Sampled>,
    progress: Progress,
    /// The frame through the viewer's camera, with the picture's settings.
    current: Option<(Frame, FrameSettings)>,
    pace: Pace,
    shown: Option<Instant>,
    /// Samples that are worth as much as the quick picture that is on screen at full size: fewer are not shown in its place.
    least: u32,
    /// Takes the noise out of quick pictures. None before the first, and where there is no denoiser.
    clean: Option<Clean>,
    /// Whether the last quick picture was denoised.
    is_clean: bool,
    reported: Option<Instant>,
    /// The last report.
    state: State,
    /// Whether nothing is tried again before something changes.
    is_broken: bool,
    pub presents: bool,
    pub watches: bool,
}

impl Eye {
    pub fn new(link: Arc<Link>, stage: &Stage) -> Self {
        let settings = &stage.scene.settings;
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
            state: State::default(),
            is_broken: false,
            presents: false,
            watches: false,
        }
    }

    /// Goes on with another scene.
    pub fn adopt(&mut self, stage: &Stage) {
        let settings = &stage.scene.settings;
        self.clock = self.clock.fitted(settings.frames, settings.fps);
        (self.job, self.posed, self.measured, self.is_broken) = (None, None, Measured::default(), false);
        self.fly(stage);
        self.tell_path(stage);
    }

    /// Carries out a command that concerns this viewer alone.
    pub fn obey(&mut self, command: Command, stage: &mut Stage, edits: &Edits) {
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
            Command::Pick { at, ask } => self.pick(at, ask, stage, edits),
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
                let mut cameras = stage.scene.viewpoints.iter();
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
            && let Err(error) = stage.job(&self.choices.options(&stage.options, size), PixelType::U8)
        {
            self.choices = before;
            return Err(error.to_string());
        }
        self.job = None;
        Ok(())
    }

    fn pick(&mut self, at: [f32; 2], ask: u32, stage: &mut Stage, edits: &Edits) -> Result<(), String> {
        if !at.iter().all(|x| x.is_finite()) {
            return Err("`at` must be two numbers from 0 to 1".to_owned());
        }
        let (Some((frame, _)), Some((width, height))) = (&self.current, self.size) else {
            self.link.answer(Answer::Picked { ask, found: None });
            return Ok(());
        };
        let aspect = width as f32 / height as f32;
        let found = super::picking::pick(&stage.scene, frame, (at, aspect), stage.device.as_mut());
        let found = found.map_err(|error| error.to_string())?.map(|(instance, mut picked)| {
            edits.complete(&mut picked, &stage.scene, instance);
            picked
        });
        self.link.answer(Answer::Picked { ask, found });
        Ok(())
    }

    /// Makes the flight through the waypoints in the scene that is shown.
    fn fly(&mut self, stage: &Stage) {
        let (keys, pace) = &self.waypoints;
        self.flight = match Flight::new(&stage.scene, keys, pace.as_deref()) {
            Ok(flight) => flight,
            Err(message) => {
                self.link.answer(Answer::error(message));
                None
            }
        };
        let settings = &stage.scene.settings;
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
        let points = self.flight.as_ref().map_or_else(Vec::new, |flight| flight.points(&stage.scene));
        self.link.answer(Answer::Path {
            of: Track::Waypoints,
            points,
            keys: self.waypoints.0.clone(),
            pace: self.waypoints.1.clone(),
        });
    }

    /// Tells the path of the scene's camera.
    pub fn tell_path(&self, stage: &Stage) {
        self.link.answer(own_path(&stage.scene));
    }

    /// The camera, for whoever watches this viewer.
    pub fn presented(&self) -> Option<(View, u32)> {
        let (frame, _) = self.current.as_ref()?;
        Some((View { key: 0, ..camera::view(&frame.camera()) }, frame.number))
    }

    /// Takes the camera and the time of another viewer.
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

    /// Finds out what is to be seen now, and begins anew if samples depend on what changed.
    ///
    /// # Errors
    /// Those of making and posing a frame.
    pub fn update(&mut self, stage: &mut Stage) -> Result<(), Error> {
        let Some(size) = self.size.filter(|_| !self.is_broken) else {
            return Ok(());
        };
        let number = self.clock.at(Instant::now());
        if self.job.is_none() {
            let options = self.choices.options(&stage.options, size);
            let mut job = stage.job(&options, PixelType::U8)?;
            job.settings.aovs = job.settings.aovs.with(self.choices.view);
            job.aovs = job.aovs.with(self.choices.view);
            job.settings.unfinished_aovs = self.choices.view.is_some() || job.is_transparent();
            self.job = Some(job);
            self.posed = None;
        }
        let Some(job) = &mut self.job else { return Ok(()) };
        let generation = stage.generation;
        if self.posed.as_ref().is_none_or(|posed| (posed.number, posed.generation) != (number, generation)) {
            job.frames = vec![number];
            let known = (number, &mut self.measured);
            let (frame, settings) = stage.loaded.pose(job, stage.device.as_mut(), known, &|| false)?;
            self.posed = Some(Posed { number, generation, frame, settings });
        }
        let Some(posed) = &mut self.posed else { return Ok(()) };
        let time = stage.scene.time_of(number);
        let aspect = posed.settings.width as f32 / posed.settings.height as f32;
        let other = match (self.follow, &self.flight, &self.view) {
            (Follow::Waypoints, Some(flight), _) => Some(flight.pose(&stage.scene, time)),
            (Follow::Through(index), ..) if index < stage.scene.viewpoints.len() => {
                let camera = &stage.scene.viewpoints[index].1;
                Some(camera_pose(&stage.scene, camera, &Moment::of(&stage.scene, time)))
            }
            (Follow::Free, _, Some(view)) => Some(camera::pose(&stage.scene, time, view, aspect)),
            _ => None,
        };
        posed.frame = stage.loaded.close_to(posed.frame.clone(), other.map(|camera| camera.eye));
        let frame = other.map_or_else(|| posed.frame.clone(), |camera| posed.frame.seen_by(camera));
        let sampled = Sampled {
            number,
            generation,
            camera: frame.camera(),
            is_own: self.follow == Follow::Scene,
            settings: sampling(&posed.settings),
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
            Progress::Filming(film) if film.settings != posed.settings => {
                (film.settings, film.frame) = (posed.settings.clone(), frame.clone());
                self.shown = None;
                self.state.done = false;
            }
            Progress::Quick { .. } | Progress::Ended
                if self.current.as_ref().is_none_or(|(_, settings)| *settings != posed.settings) =>
            {
                self.progress = Progress::Changed;
            }
            _ => {}
        }
        if is_new {
            self.state.done = false;
            self.sampled = Some(sampled);
        }
        self.current = Some((frame, posed.settings.clone()));
        Ok(())
    }

    /// Nothing is tried again before something changes.
    pub fn give_up(&mut self, error: &Error) {
        (self.progress, self.is_broken) = (Progress::Changed, true);
        self.link.answer(Answer::error(error));
    }

    /// A picture of what is seen, or of a frame through the scene's own camera, for a file. Sizes and samples that are not given are those
    /// of the viewer's picture.
    ///
    /// # Errors
    /// Settings that are out of range, and those of posing a frame.
    pub fn still(
        &mut self,
        (number, size, samples): (Option<u32>, Option<[u32; 2]>, Option<u32>),
        of: (u32, StillFormat),
        stage: &mut Stage,
    ) -> Result<Option<Still>, Error> {
        let (Some(whole), Some((seen, _))) = (self.size, &self.current) else { return Ok(None) };
        let size = size.map_or(whole, |[width, height]| (width, height));
        let mut options = self.choices.options(&stage.options, size);
        options.picture.samples = samples.or(options.picture.samples);
        let pixels = match of.1 {
            StillFormat::Png => PixelType::U8,
            StillFormat::Exr => PixelType::F32,
        };
        let mut job = stage.job(&options, pixels)?;
        let is_own = self.follow == Follow::Scene || number.is_some();
        let number = number.map_or(seen.number, |number| number.clamp(1, stage.scene.settings.frames));
        job.frames = vec![number];
        // The exposure of other shapes of pictures is another one.
        let known = (number, &mut Measured::default());
        let (frame, settings) = stage.loaded.pose(&job, stage.device.as_mut(), known, &|| false)?;
        job.settings = settings;
        let frame = match is_own {
            true => frame,
            false => stage.loaded.close_to(frame, Some(seen.camera().eye)).seen_by(seen.camera()),
        };
        Ok(Some(Still::new(self.link.clone(), of, job, frame)))
    }

    /// The flight that is to be saved as the scene's camera.
    pub fn flight(&self, stage: &Stage) -> crate::edit::Flight {
        let seen = self.current.as_ref().map(|(frame, _)| camera::view(&frame.camera())).unwrap_or_default();
        let still = self.view.as_ref().filter(|_| self.follow == Follow::Free).unwrap_or(&seen);
        let is_flat = matches!(stage.scene.camera.projection, Projection::Orthographic { .. });
        let (keys, pace) = &self.waypoints;
        edits::flight(keys, pace.as_deref(), still, is_flat)
    }

    /// The command line that makes the picture that is seen, or the film of the path that is followed.
    pub fn command_line(&self, of: Made, source: &Source) -> String {
        let name = crate::loader::name_of(&source.path);
        let mut flags = self.choices.flags();
        let Some((frame, settings)) = self.current.as_ref().filter(|_| of == Made::Still) else {
            flags.push(format!("-o {}", quote(&format!("{name}.mp4"))));
            return command_line::render(&source.path, &source.flags, &flags);
        };
        match &self.view {
            Some(view) if self.follow == Follow::Free => flags.extend(view_flags(view)),
            _ if self.follow != Follow::Scene => flags.extend(view_flags(&camera::view(&frame.camera()))),
            _ => {}
        }
        let is_measured = self.job.as_ref().is_some_and(|job| job.auto_exposure.is_some());
        if self.follow != Follow::Scene && is_measured {
            flags.retain(|flag| !flag.starts_with("--exposure"));
            flags.push(format!("--exposure {:?}", settings.exposure));
        }
        flags.push(format!("--size {}x{}", settings.width, settings.height));
        flags.push(format!("-f {}", frame.number));
        // The picture that stands still is made as those are that may get more samples.
        flags.push("--checkpoint".to_owned());
        flags.push(format!("-o {}", quote(&format!("{name}.png"))));
        command_line::render(&source.path, &source.flags, &flags)
    }
}
