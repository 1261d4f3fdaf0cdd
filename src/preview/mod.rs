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
mod flights;
mod layers;
mod link;
mod pace;
mod path;
mod picking;
mod saving;
mod stage;
mod still;
mod stills;
#[cfg(test)]
mod tests;
mod watch;

pub use command::{
    Answer, Bounds, Command, Made, Picked, Picture, PictureKind, Saved, SceneFacts, State, StillFormat, Track, View,
    Waypoint,
};
pub use command_line::{Takes, typed as typed_flags};
pub use link::{Bell, Limits, Link, Next};
pub use stage::Source;

use crate::{Error, device::Device, edit::SceneText, render::RenderError};
use edits::{Edits, Moved};
use eye::{Due, Eye};
use saving::Saves;
use stage::{Prepared, Stage};
use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};
use stills::Stills;
use watch::{Changed, Done, Watch};

/// Time between two looks at links that were closed, while nothing else happens.
const IDLE: Duration = Duration::from_secs(1);
/// Viewers who left with changes that are not saved, and for whom these are kept.
const MOST_KEPT: usize = 16;
/// Commands of a viewer that wait until its scene was saved, before no other is taken.
const MOST_WAITING: usize = 64;

/// A scene that is shown. Its loop ends when this is dropped.
pub struct Preview {
    bell: Arc<Bell>,
    arrived: Arc<Mutex<Vec<Arc<Link>>>>,
    /// The number of the next viewer.
    next: AtomicU64,
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
        let file = prepared.file.take();
        let stage = Stage::new(device, prepared)?;
        let bell = Arc::<Bell>::default();
        let arrived = Arc::<Mutex<Vec<Arc<Link>>>>::default();
        let watch = Watch::start(source.clone(), files, bell.clone(), layout).map_err(RenderError::Thread)?;
        let mut engine = Engine {
            source,
            stage,
            watch,
            file,
            saves: Saves::default(),
            kept: VecDeque::new(),
            bell: bell.clone(),
            arrived: arrived.clone(),
            eyes: Vec::new(),
            stills: Stills::default(),
            last: 0,
            failure: None,
        };
        let thread = thread::Builder::new().name("preview".into()).spawn(move || engine.run());
        let thread = thread.map_err(RenderError::Thread)?;
        // Nobody else sets it.
        let _ = bell.thread.set(thread.thread().clone());
        Ok(Self { bell, arrived, next: AtomicU64::new(1), thread: Some(thread) })
    }

    /// A new viewer. One that comes back by the `name` that it had before finds what it changed and did not save.
    pub fn open(&self, name: Option<String>) -> Arc<Link> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let link = Arc::new(Link::new(self.bell.clone(), number, name));
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
    /// The scene file; None for models.
    file: Option<SceneText>,
    saves: Saves,
    /// Changes of viewers who left, by their names: the oldest first.
    kept: VecDeque<(String, Edits)>,
    eyes: Vec<Eye>,
    /// Files under way, which are worked on in turn with pictures that stand still.
    stills: Stills,
    /// Index of the eye that was served last; the number of eyes if it was a still.
    last: usize,
    /// Why the file that is there now could not be loaded.
    failure: Option<String>,
}

impl Engine {
    fn run(&mut self) {
        while !self.bell.quit.load(Ordering::Relaxed) {
            self.bell.urgent.store(false, Ordering::Relaxed);
            self.let_go();
            self.welcome();
            self.watch.set_seen(!self.eyes.is_empty());
            for done in self.watch.take() {
                self.go_on(done);
            }
            self.save_next();
            for index in 0..self.eyes.len() {
                self.listen(index);
            }
            self.present();
            for eye in &mut self.eyes {
                self.stage.turn_to(eye.link.number);
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
            self.stage.turn_to(link.number);
            link.answer(Answer::Scene(Box::new(self.stage.facts(&self.source.path))));
            if let Some(message) = &self.failure {
                link.answer(Answer::Error { message: message.clone(), lasting: true });
            }
            let kept = link.name.clone().and_then(|name| self.changes_of(&name));
            let is_back = kept.is_some();
            let mut eye = Eye::new(link, &self.stage, kept.unwrap_or_default());
            eye.tell_path(&self.stage);
            eye.edit_on(self.text(), false);
            self.eyes.push(eye);
            if is_back {
                self.show_changes(self.eyes.len() - 1);
            }
        }
    }

    /// What a viewer of this name changed and did not save, who has left or is about to.
    fn changes_of(&mut self, name: &String) -> Option<Edits> {
        let left = self.kept.iter().position(|(other, _)| other == name);
        if let Some((_, edits)) = left.and_then(|index| self.kept.remove(index)) {
            return Some(edits);
        }
        let here = self.eyes.iter().find(|eye| eye.link.name.as_ref() == Some(name))?;
        Some(here.edits.clone()).filter(|edits| !edits.is_empty())
    }

    /// Forgets viewers who left, but for what they changed, unless they are back.
    fn let_go(&mut self) {
        let (gone, stay): (Vec<Eye>, _) =
            std::mem::take(&mut self.eyes).into_iter().partition(|eye| eye.link.is_closed());
        self.eyes = stay;
        for eye in gone {
            self.stage.forget(eye.link.number);
            self.watch.forget(eye.link.number);
            let is_back = |name: &String| self.eyes.iter().any(|other| other.link.name.as_ref() == Some(name));
            let name = eye.link.name.clone().filter(|name| !eye.edits.is_empty() && !is_back(name));
            if let Some(name) = name {
                self.kept.push_back((name, eye.edits));
                self.kept.drain(..self.kept.len().saturating_sub(MOST_KEPT));
            }
        }
        self.stills.let_go();
    }

    /// The text of the scene file.
    fn text(&self) -> Option<Arc<str>> {
        self.file.as_ref().map(|file| Arc::from(file.text()))
    }

    /// Takes commands of a viewer. Those about what is changed wait while that is being saved.
    fn listen(&mut self, index: usize) {
        if !self.saves.concern(&self.eyes[index].link) {
            while let Some(command) = self.eyes[index].waiting.pop_front() {
                self.obey(index, command);
                if self.saves.concern(&self.eyes[index].link) {
                    break;
                }
            }
        }
        if self.eyes[index].waiting.len() >= MOST_WAITING {
            return;
        }
        for command in self.eyes[index].link.take_commands() {
            let eye = &mut self.eyes[index];
            let must_wait = self.saves.concern(&eye.link) || !eye.waiting.is_empty();
            match must_wait && command.concerns_edits() {
                true => eye.waiting.push_back(command),
                false => self.obey(index, command),
            }
        }
    }

    fn obey(&mut self, index: usize, command: Command) {
        self.stage.turn_to(self.eyes[index].link.number);
        match command {
            Command::Present { on } => {
                self.eyes.iter_mut().for_each(|eye| eye.presents = false);
                self.eyes[index].presents = on;
            }
            Command::Watch { on } => self.eyes[index].watches = on,
            Command::Reload {} => self.reload(index),
            Command::Still { frame, size, samples, format, ask } => {
                let eye = &mut self.eyes[index];
                if let Err(message) = self.stills.check(&eye.link) {
                    return eye.link.answer(Answer::error(message));
                }
                match eye.still((frame, size, samples), (ask, format), &mut self.stage) {
                    Ok(still) => self.stills.add(still),
                    Err(error) => eye.link.answer(Answer::error(error)),
                }
            }
            Command::Line { of } => {
                let text = self.eyes[index].command_line(of, &self.source, &self.stage);
                self.eyes[index].link.answer(Answer::Command { text });
            }
            Command::Values {} => {
                let eye = &mut self.eyes[index];
                eye.paths_of = self.file.as_ref().map(|file| Arc::from(file.text()));
                eye.link.answer(Answer::Values { values: eye.edits.values() });
            }
            Command::Change { values } => {
                let eye = &mut self.eyes[index];
                let changed = eye.edits.change(values, eye.paths_of.as_ref());
                self.show_changed(index, changed);
            }
            Command::Place { instance, translate, rotate, scale } => {
                let moved = Moved { translate, rotate, scale };
                let changed = self.eyes[index].edits.place(&self.stage.shown, &instance, moved);
                self.show_changed(index, changed);
            }
            Command::Save { what, values, anyway } => self.save(index, what, (values, anyway)),
            command => self.eyes[index].obey(command, &mut self.stage),
        }
    }

    fn show_changed(&mut self, index: usize, changed: Result<bool, String>) {
        match changed {
            Ok(true) => self.show_changes(index),
            Ok(false) => {}
            Err(message) => self.eyes[index].link.answer(Answer::error(message)),
        }
    }

    /// Loads the scene with what a viewer has changed and not saved, or shows that of the file again.
    fn show_changes(&mut self, index: usize) {
        let number = self.eyes[index].link.number;
        let changes = self.eyes[index].edits.overrides();
        if !changes.is_empty() {
            return self.watch.load_own(number, Changed { text: self.text(), changes });
        }
        self.watch.forget(number);
        if self.stage.has_own(number) || self.eyes[index].has_failed {
            self.stage.forget(number);
            self.show_scene(index);
        }
    }

    /// Drops what a viewer has changed. The others go on as they were.
    fn reload(&mut self, index: usize) {
        self.eyes[index].edits.forget();
        let number = self.eyes[index].link.number;
        self.watch.forget(number);
        self.stage.forget(number);
        // Changes of files are seen by themselves. Where nobody else is disturbed, that is not relied on.
        match self.failure.is_some() || self.eyes.len() == 1 {
            true => self.watch.load(),
            false => self.show_scene(index),
        }
    }

    fn go_on(&mut self, done: Done) {
        match done {
            Done::File(loaded) => self.replace(loaded),
            Done::Own(number, loaded) => self.replace_own(number, loaded),
            Done::Checked(checked) => self.finish_save(checked),
        }
    }

    /// Goes on with the scene of the file; the old one stays if it could not be loaded.
    fn replace(&mut self, loaded: Result<Prepared, Error>) {
        let replaced = loaded.and_then(|mut prepared| {
            let file = prepared.file.take();
            self.stage.replace(None, prepared)?;
            self.file = file;
            Ok(())
        });
        self.failure = replaced.err().map(|error| error.to_string());
        if let Some(message) = &self.failure {
            let tell = |eye: &Eye| eye.link.answer(Answer::Error { message: message.clone(), lasting: true });
            return self.eyes.iter().for_each(tell);
        }
        self.move_edits(false);
        for index in 0..self.eyes.len() {
            let number = self.eyes[index].link.number;
            let changes = self.eyes[index].edits.overrides();
            if !changes.is_empty() && self.stage.has_own(number) {
                self.watch.load_own(number, Changed { text: self.text(), changes });
                continue;
            }
            self.stage.forget(number);
            self.show_scene(index);
            if !changes.is_empty() {
                self.show_changes(index);
            }
        }
    }

    /// Goes on with a scene that a viewer has changed. It may have been changed again since, or taken back.
    fn replace_own(&mut self, number: u64, loaded: Result<Prepared, Error>) {
        let Some(index) = self.eyes.iter().position(|eye| eye.link.number == number) else { return };
        if self.eyes[index].edits.overrides().is_empty() {
            return;
        }
        match loaded.and_then(|prepared| self.stage.replace(Some(number), prepared)) {
            Ok(()) => self.show_scene(index),
            Err(error) => {
                let message = error.to_string();
                self.eyes[index].has_failed = true;
                self.eyes[index].link.answer(Answer::Error { message, lasting: true });
            }
        }
    }

    /// Goes on with a viewer's picture in the scene that is now its own.
    fn show_scene(&mut self, index: usize) {
        let eye = &mut self.eyes[index];
        self.stage.turn_to(eye.link.number);
        // Frames of the old scene are of no use to the device.
        self.stills.drop_of(&eye.link);
        eye.link.answer(Answer::Scene(Box::new(self.stage.facts(&self.source.path))));
        if let Some(message) = &self.failure {
            eye.link.answer(Answer::Error { message: message.clone(), lasting: true });
        }
        eye.adopt(&self.stage);
    }

    /// Follows the file with all changes that are not saved, and tells whose have no place in it any more. `is_own` is whether only values
    /// in it were saved.
    fn move_edits(&mut self, is_own: bool) {
        let text = self.text();
        for eye in &mut self.eyes {
            eye.edit_on(text.clone(), is_own);
        }
        for (_, edits) in &mut self.kept {
            edits.move_to(text.clone(), is_own);
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
        let bell = &self.bell;
        let stop = || bell.urgent.load(Ordering::Relaxed) || bell.quit.load(Ordering::Relaxed);
        self.stills.work(&mut self.stage, &stop);
    }

    fn work(&mut self, index: usize) {
        self.last = index;
        let bell = &self.bell;
        let stop = || bell.urgent.load(Ordering::Relaxed) || bell.quit.load(Ordering::Relaxed);
        let eye = &mut self.eyes[index];
        self.stage.turn_to(eye.link.number);
        if let Err(error) = eye.work(&mut self.stage, &stop) {
            eye.give_up(&error);
        }
    }
}
