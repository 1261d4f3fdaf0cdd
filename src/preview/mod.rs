//! The interactive loop: shows a scene to viewers who move about in it. Each has a camera, a time and settings of its own; what moves is
//! shown at once as well as time allows, what stands still gets better until it is what `throng render --checkpoint` makes.
//!
//! Viewers send [`Command`]s and get [`Answer`]s and [`Picture`]s through a [`Link`]. Nothing here knows how these travel.

mod camera;
mod choices;
mod clock;
mod command;
mod eye;
mod film;
mod layers;
mod link;
mod pace;
mod path;
mod picking;
mod stage;

pub use command::{
    Answer, Bounds, Command, Made, Picked, Picture, PictureKind, Saved, SceneFacts, State, StillFormat, Track, View,
    Waypoint,
};
pub use link::{Bell, Limits, Link, Next};
pub use stage::Source;

use crate::{Error, device::Device};
use eye::{Due, Eye};
use stage::Stage;
use std::{
    sync::{Arc, Mutex, PoisonError, atomic::Ordering},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

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
        let prepared = source.prepare(device.node_layout())?;
        let stage = Stage::new(device, prepared)?;
        let bell = Arc::<Bell>::default();
        let arrived = Arc::<Mutex<Vec<Arc<Link>>>>::default();
        let mut engine = Engine { source, stage, bell: bell.clone(), arrived: arrived.clone(), eyes: Vec::new(), last: 0 };
        let thread = thread::Builder::new().name("preview".into()).spawn(move || engine.run());
        let thread = thread.map_err(crate::render::RenderError::Thread)?;
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
    eyes: Vec<Eye>,
    /// Index of the eye that was served last.
    last: usize,
}

impl Engine {
    fn run(&mut self) {
        while !self.bell.quit.load(Ordering::Relaxed) {
            self.bell.urgent.store(false, Ordering::Relaxed);
            self.welcome();
            self.eyes.retain(|eye| !eye.link.is_closed());
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
            match self.next() {
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
            command => self.eyes[index].obey(command, &mut self.stage),
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

