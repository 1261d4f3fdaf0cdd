//! The interactive loop: shows a scene to viewers who move about in it. Each has a camera, a time and settings of its own; what moves is
//! shown at once as well as time allows, what stands still gets better until it is what `throng render --checkpoint` makes.
//!
//! Viewers send [`Command`]s and get [`Answer`]s and [`Picture`]s through a [`Link`]. Nothing here knows how these travel.

mod camera;
mod choices;
mod clock;
mod command;
mod command_line;
mod edits;
mod eye;
mod film;
mod layers;
mod link;
mod pace;
mod path;
mod picking;
mod stage;
mod still;
#[cfg(test)]
mod tests;
mod watch;

pub use command::{
    Answer, Bounds, Command, Made, Picked, Picture, PictureKind, Saved, SceneFacts, State, StillFormat, Track, View,
    Waypoint,
};
pub use command_line::typed as typed_flags;
pub use link::{Bell, Limits, Link, Next};
pub use stage::Source;

use crate::{Error, device::Device, edit::EditError, render::RenderError};
use edits::{Edits, Moved};
use eye::{Due, Eye};
use stage::{Prepared, Stage};
use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, PoisonError, atomic::Ordering},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};
use still::Still;
use watch::Watch;

/// Time between two looks at links that were closed, while nothing else happens.
const IDLE: Duration = Duration::from_secs(1);

/// A scene that is shown. Its loop ends when this is dropped.
pub struct Preview {
    bell: Arc<Bell>,
    arrived: Arc<Mutex<Vec<Arc<Link>>>>,
    thread: Option<JoinHandle<()>>,
}

impl Preview {
    /// Loads the scene of `source` and starts the loop.
    ///
    /// # Errors
    /// Everything that is wrong with the file, the pictures that are asked for, or the device.
    pub fn start(source: Source, device: Box<dyn Device>) -> Result<Self, Error> {
        let layout = device.node_layout();
        let (prepared, files) = source.prepare(layout);
        let mut prepared = prepared?;
        let edits = Edits::of(prepared.text.take());
        let stage = Stage::new(device, prepared)?;
        let bell = Arc::<Bell>::default();
        let arrived = Arc::<Mutex<Vec<Arc<Link>>>>::default();
        let watch = Watch::start(source.clone(), files, bell.clone(), layout).map_err(RenderError::Thread)?;
        let mut engine = Engine {
            source,
            stage,
            watch,
            edits,
            bell: bell.clone(),
            arrived: arrived.clone(),
            eyes: Vec::new(),
            stills: VecDeque::new(),
            last: 0,
            failure: None,
        };
        let thread = thread::Builder::new().name("preview".into()).spawn(move || engine.run());
        let thread = thread.map_err(RenderError::Thread)?;
        // Nobody else sets it.
        let _ = bell.thread.set(thread.thread().clone());
        Ok(Self { bell, arrived, thread: Some(thread) })
    }

    /// A new viewer.
    pub fn open(&self) -> Arc<Link> {
        let link = Arc::new(Link::new(self.bell.clone()));
        self.arrived.lock().unwrap_or_else(PoisonError::into_inner).push(link.clone());
        self.bell.ring();
        link
    }
}

impl Drop for Preview {
    fn drop(&mut self) {
        self.bell.quit.store(true, Ordering::Relaxed);
        self.bell.ring();
        if let Some(thread) = self.thread.take() {
            let _: Result<(), _> = thread.join();
        }
    }
}

/// The loop.
struct Engine {
    source: Source,
    stage: Stage,
    bell: Arc<Bell>,
    arrived: Arc<Mutex<Vec<Arc<Link>>>>,
    watch: Watch,
    edits: Edits,
    eyes: Vec<Eye>,
    /// Files under way, which are worked on in turn with pictures that stand still.
    stills: VecDeque<Still>,
    /// Index of the eye that was served last; the number of eyes if it was a still.
    last: usize,
    /// Why the file that is there now could not be loaded.
    failure: Option<String>,
}

impl Engine {
    fn run(&mut self) {
        while !self.bell.quit.load(Ordering::Relaxed) {
            self.bell.urgent.store(false, Ordering::Relaxed);
            self.welcome();
            self.eyes.retain(|eye| !eye.link.is_closed());
            self.stills.retain(|still| !still.link.is_closed());
            self.watch.set_seen(!self.eyes.is_empty());
            if let Some(loaded) = self.watch.take() {
                self.replace(loaded);
            }
            for index in 0..self.eyes.len() {
                for command in self.eyes[index].link.take_commands() {
                    self.obey(index, command);
                }
            }
            self.present();
            for eye in &mut self.eyes {
                if let Err(error) = eye.update(&mut self.stage) {
                    eye.give_up(&error);
                }
            }
            let is_loading = self.bell.loading.load(Ordering::Relaxed);
            match self.next() {
                (Due::Still, _) if is_loading => thread::park_timeout(IDLE),
                (Due::Still | Due::At(_) | Due::Never, _) if !is_loading && self.is_stills_turn() => {
                    self.work_on_still();
                }
                (Due::Moving | Due::Still, index) => self.work(index),
                (Due::At(time), _) => thread::park_timeout(time.saturating_duration_since(Instant::now())),
                (Due::Never, _) => thread::park_timeout(IDLE),
            }
        }
        self.eyes.iter().for_each(|eye| eye.link.close());
    }

    fn welcome(&mut self) {
        let arrived = std::mem::take(&mut *self.arrived.lock().unwrap_or_else(PoisonError::into_inner));
        for link in arrived {
            link.answer(Answer::Scene(Box::new(self.stage.facts(&self.source.path))));
            if let Some(message) = &self.failure {
                link.answer(Answer::Error { message: message.clone(), lasting: true });
            }
            let eye = Eye::new(link, &self.stage);
            eye.tell_path(&self.stage);
            self.eyes.push(eye);
        }
    }

    fn obey(&mut self, index: usize, command: Command) {
        match command {
            Command::Present { on } => {
                self.eyes.iter_mut().for_each(|eye| eye.presents = false);
                self.eyes[index].presents = on;
            }
            Command::Watch { on } => self.eyes[index].watches = on,
            Command::Reload {} => {
                self.edits.forget();
                self.load_changed();
            }
            Command::Still { frame, size, samples, format, ask } => {
                let eye = &mut self.eyes[index];
                match eye.still((frame, size, samples), (ask, format), &mut self.stage) {
                    Ok(still) => self.stills.extend(still),
                    Err(error) => eye.link.answer(Answer::error(error)),
                }
            }
            Command::Line { of } => {
                let text = self.eyes[index].command_line(of, &self.source);
                self.eyes[index].link.answer(Answer::Command { text });
            }
            Command::Values {} => self.eyes[index].link.answer(Answer::Values { values: self.edits.values() }),
            Command::Change { values } => match self.edits.change(values) {
                Ok(true) => self.load_changed(),
                Ok(false) => {}
                Err(message) => self.eyes[index].link.answer(Answer::error(message)),
            },
            Command::Place { instance, translate, rotate, scale } => {
                match self.edits.place(&self.stage.scene, &instance, Moved { translate, rotate, scale }) {
                    Ok(()) => self.load_changed(),
                    Err(message) => self.eyes[index].link.answer(Answer::error(message)),
                }
            }
            Command::Save { what, values, anyway } => self.save(index, what, (values, anyway)),
            command => self.eyes[index].obey(command, &mut self.stage, &self.edits),
        }
    }

    /// Loads the scene with the changes that are not saved.
    fn load_changed(&self) {
        let mut source = self.source.clone();
        source.options.load.overrides.extend(self.edits.overrides());
        self.watch.load(source);
    }

    fn save(&mut self, index: usize, what: Saved, (values, anyway): (BTreeMap<String, String>, bool)) {
        let eye = &self.eyes[index];
        let saved = match what {
            Saved::Values => self.edits.save_values(values, anyway),
            Saved::Camera => {
                let flight = eye.flight(&self.stage);
                let model = (&*self.source.path, &*self.stage.scene, &self.source.options.load);
                self.edits.save_camera(flight, model, anyway)
            }
        };
        eye.link.answer(match saved {
            Ok(file) => Answer::Saved { file },
            Err(error @ EditError::Changed { .. }) => {
                Answer::Refused { why: error.to_string(), choices: vec!["anyway", "reload"] }
            }
            Err(error) => Answer::Refused { why: error.to_string(), choices: Vec::new() },
        });
        if what == Saved::Values {
            // What is in the file now takes no place of anything.
            self.load_changed();
        }
    }

    /// Goes on with a scene that was loaded; the old one stays if it was not.
    fn replace(&mut self, loaded: Result<Prepared, Error>) {
        let replaced = loaded.and_then(|mut prepared| {
            let text = prepared.text.take();
            self.stage.replace(prepared)?;
            self.edits.text = text;
            Ok(())
        });
        self.failure = replaced.err().map(|error| error.to_string());
        if let Some(message) = &self.failure {
            let tell = |eye: &Eye| eye.link.answer(Answer::Error { message: message.clone(), lasting: true });
            return self.eyes.iter().for_each(tell);
        }
        // Frames of the old scene are of no use to the device.
        for still in self.stills.drain(..) {
            still.link.answer(Answer::error("the scene changed before the picture was finished: ask for it again"));
        }
        for eye in &mut self.eyes {
            eye.link.answer(Answer::Scene(Box::new(self.stage.facts(&self.source.path))));
            eye.adopt(&self.stage);
        }
    }

    /// Shows the presenter's camera to those who watch.
    fn present(&mut self) {
        let Some(presented) = self.eyes.iter().find(|eye| eye.presents).and_then(Eye::presented) else {
            return;
        };
        let watching = self.eyes.iter_mut().filter(|eye| eye.watches && !eye.presents);
        watching.for_each(|eye| eye.watch(presented.clone()));
    }

    /// The eye for which something is due, in turn: what moves goes first.
    fn next(&self) -> (Due, usize) {
        let now = Instant::now();
        let count = self.eyes.len();
        let in_turn = (1..=count).map(|i| (self.last + i) % count);
        let dues = in_turn.map(|index| (self.eyes[index].due(now), index));
        dues.min_by_key(|&(due, _)| due).unwrap_or((Due::Never, 0))
    }

    fn is_stills_turn(&self) -> bool {
        let is_still_due = |eye: &Eye| eye.due(Instant::now()) == Due::Still;
        !self.stills.is_empty() && (self.last < self.eyes.len() || !self.eyes.iter().any(is_still_due))
    }

    fn work_on_still(&mut self) {
        self.last = self.eyes.len();
        let Some(mut still) = self.stills.pop_front() else { return };
        let bell = &self.bell;
        let stop = || bell.urgent.load(Ordering::Relaxed) || bell.quit.load(Ordering::Relaxed);
        match still.work(&mut self.stage, &stop) {
            Ok(true) => {}
            Ok(false) => self.stills.push_front(still),
            Err(error) => still.link.answer(Answer::error(error)),
        }
    }

    fn work(&mut self, index: usize) {
        self.last = index;
        let bell = &self.bell;
        let stop = || bell.urgent.load(Ordering::Relaxed) || bell.quit.load(Ordering::Relaxed);
        let eye = &mut self.eyes[index];
        if let Err(error) = eye.work(&mut self.stage, &stop) {
            eye.give_up(&error);
        }
    }
}
