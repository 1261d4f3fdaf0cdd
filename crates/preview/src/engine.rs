//! The loop: takes commands of all viewers, and works on the picture or file that is due next.

mod saving;

use crate::{
    Answer, Bell, Command, Link, Source, choices,
    edits::{Edits, Moved},
    eye::{Due, Eye},
    scenes::{Changed, Prepared, ViewerScenes},
    still::Stills,
    watch::{Done, Watch},
};
use saving::Saves;
use serde_json::Value;
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, atomic::Ordering},
    thread,
    time::{Duration, Instant},
};
use throng_base::sync::lock;
use throng_edit::SceneText;
use throng_settings::Error;

/// Interval at which closed links are detected while nothing else happens.
const IDLE: Duration = Duration::from_secs(1);
/// Maximum number of absent viewers whose unsaved changes are kept.
const MOST_KEPT: usize = 16;
/// Number of a viewer's commands that may wait for saving, before no more are taken.
const MOST_WAITING: usize = 64;

/// The state of the loop.
pub struct Engine {
    source: Source,
    scenes: ViewerScenes,
    bell: Arc<Bell>,
    arrived: Arc<Mutex<Vec<Arc<Link>>>>,
    watch: Watch,
    /// The scene file; None for models.
    file: Option<SceneText>,
    saves: Saves,
    /// Unsaved changes of absent viewers, by name; oldest first.
    kept: VecDeque<(String, Edits)>,
    eyes: Vec<Eye>,
    /// Files in progress, which take turns with unchanged views.
    stills: Stills,
    /// Index of the viewer served last; the number of viewers if a file was served last.
    last: usize,
    /// Error of loading the current file, if any.
    failure: Option<String>,
}

impl Engine {
    /// The loop of a prepared scene without viewers. `file` is the text of the scene file; None for models.
    pub fn new(
        source: Source,
        scenes: ViewerScenes,
        file: Option<SceneText>,
        watch: Watch,
        bell: Arc<Bell>,
        arrived: Arc<Mutex<Vec<Arc<Link>>>>,
    ) -> Self {
        Self {
            source,
            scenes,
            watch,
            file,
            saves: Saves::default(),
            kept: VecDeque::new(),
            bell,
            arrived,
            eyes: Vec::new(),
            stills: Stills::default(),
            last: 0,
            failure: None,
        }
    }

    /// Serves viewers until the bell's `quit` is set.
    pub fn run(&mut self) {
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
                self.scenes.turn_to(eye.link.number);
                if let Err(error) = eye.update(&mut self.scenes) {
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
        let arrived = std::mem::take(&mut *lock(&self.arrived));
        for link in arrived {
            self.scenes.turn_to(link.number);
            link.answer(Answer::Scene(Box::new(self.scenes.facts(&self.source.path))));
            if let Some(message) = &self.failure {
                link.answer(Answer::Error { message: message.clone(), lasting: true });
            }
            let kept = link.name.clone().and_then(|name| self.changes_of(&name));
            let is_back = kept.is_some();
            let mut eye = Eye::new(link, &self.scenes, kept.unwrap_or_default());
            eye.tell_path(&self.scenes);
            eye.edit_on(self.text(), false);
            self.eyes.push(eye);
            if is_back {
                self.show_changes(self.eyes.len() - 1);
            }
        }
    }

    /// Unsaved changes of a viewer with this name that has left or is about to leave.
    fn changes_of(&mut self, name: &String) -> Option<Edits> {
        let left = self.kept.iter().position(|(other, _)| other == name);
        if let Some((_, edits)) = left.and_then(|index| self.kept.remove(index)) {
            return Some(edits);
        }
        let here = self.eyes.iter().find(|eye| eye.link.name.as_ref() == Some(name))?;
        Some(here.edits.clone()).filter(|edits| !edits.is_empty())
    }

    /// Removes viewers that have left. Their unsaved changes are kept, unless they are back already.
    fn let_go(&mut self) {
        let (gone, stay): (Vec<Eye>, _) =
            std::mem::take(&mut self.eyes).into_iter().partition(|eye| eye.link.is_closed());
        self.eyes = stay;
        for eye in gone {
            self.scenes.forget(eye.link.number);
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

    /// Text of the scene file.
    fn text(&self) -> Option<Arc<str>> {
        self.file.as_ref().map(|file| Arc::from(file.text()))
    }

    /// Takes the commands of a viewer. While changes are being saved, commands that concern changes wait.
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
            if must_wait && command.concerns_edits() {
                eye.waiting.push_back(command)
            } else {
                self.obey(index, command)
            }
        }
    }

    fn obey(&mut self, index: usize, command: Command) {
        self.scenes.turn_to(self.eyes[index].link.number);
        match command {
            Command::Present { on } => {
                self.eyes.iter_mut().for_each(|eye| eye.presents = false);
                self.eyes[index].presents = on;
            }
            Command::Watch { on } => self.eyes[index].watches = on,
            Command::Reload {} => self.reload(index),
            Command::Set { name, value } if name == choices::ANIMATION => self.animate(index, &value),
            Command::Still(request) => {
                let eye = &mut self.eyes[index];
                if let Err(message) = self.stills.check(&eye.link) {
                    return eye.link.answer(Answer::error(message));
                }
                match eye.still(request, &mut self.scenes) {
                    Ok(still) => self.stills.add(still),
                    Err(error) => eye.link.answer(Answer::error(error)),
                }
            }
            Command::Line { of } => {
                let text = self.eyes[index].command_line(of, &self.source, &self.scenes);
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
                let changed = self.eyes[index].edits.place(&self.scenes.shown, &instance, moved);
                self.show_changed(index, changed);
            }
            Command::Save { what, values, anyway } => self.save(index, what, (values, anyway)),
            command => self.eyes[index].obey(command, &mut self.scenes),
        }
    }

    fn show_changed(&mut self, index: usize, changed: Result<bool, String>) {
        match changed {
            Ok(true) => self.show_changes(index),
            Ok(false) => {}
            Err(message) => self.eyes[index].link.answer(Answer::error(message)),
        }
    }

    /// Plays other animations of the model for a viewer.
    fn animate(&mut self, index: usize, value: &Value) {
        let choices = &mut self.eyes[index].choices;
        let before = choices.animation.clone();
        if let Err(message) = choices.set(choices::ANIMATION, value) {
            return self.eyes[index].link.answer(Answer::error(message));
        }
        // The file's scene plays these animations already.
        if choices.clips().as_ref() == Some(&self.source.options.load.model.animation.clips) {
            choices.animation = None;
        }
        if choices.animation != before {
            self.show_changes(index);
        }
    }

    /// The changes in a viewer's own scene; None if the viewer shows the file's scene.
    fn changed(&self, index: usize) -> Option<Changed> {
        let eye = &self.eyes[index];
        let (changes, animation) = (eye.edits.overrides(), eye.choices.clips());
        (!changes.is_empty() || animation.is_some()).then(|| Changed { text: self.text(), changes, animation })
    }

    /// Loads the scene with a viewer's changes, or shows the file's scene again if there are none.
    fn show_changes(&mut self, index: usize) {
        let number = self.eyes[index].link.number;
        if let Some(changed) = self.changed(index) {
            return self.watch.load_own(number, changed);
        }
        self.watch.forget(number);
        if self.scenes.has_own(number) || self.eyes[index].has_failed {
            self.scenes.forget(number);
            self.show_scene(index);
        }
    }

    /// Drops a viewer's unsaved changes. Other viewers are not affected.
    fn reload(&mut self, index: usize) {
        self.eyes[index].edits.forget();
        let number = self.eyes[index].link.number;
        let has_own = self.changed(index).is_some();
        if !has_own {
            self.watch.forget(number);
            self.scenes.forget(number);
        }
        // Changed files are detected automatically. If no other viewer is disturbed, the file is loaded in any case.
        if self.failure.is_some() || self.eyes.len() == 1 {
            self.watch.load();
        } else if has_own {
            self.show_changes(index);
        } else {
            self.show_scene(index);
        }
    }

    fn go_on(&mut self, done: Done) {
        match done {
            Done::File(loaded) => self.replace(loaded),
            Done::Own(number, loaded) => self.replace_own(number, loaded),
            Done::Checked(checked) => self.finish_save(checked),
        }
    }

    /// Switches to the newly loaded scene of the file. After an error the old scene stays.
    fn replace(&mut self, loaded: Result<Prepared, Error>) {
        let replaced = loaded.and_then(|mut prepared| {
            let file = prepared.file.take();
            self.scenes.replace(None, prepared)?;
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
            let changed = self.changed(index);
            if !self.scenes.has_own(number) || changed.is_none() {
                self.scenes.forget(number);
                self.show_scene(index);
            }
            if let Some(changed) = changed {
                self.watch.load_own(number, changed);
            }
        }
    }

    /// Switches to the newly loaded scene of a viewer, unless its changes were removed in the meantime.
    fn replace_own(&mut self, number: u64, loaded: Result<Prepared, Error>) {
        let Some(index) = self.eyes.iter().position(|eye| eye.link.number == number) else { return };
        if self.changed(index).is_none() {
            return;
        }
        match loaded.and_then(|prepared| self.scenes.replace(Some(number), prepared)) {
            Ok(()) => self.show_scene(index),
            Err(error) => {
                let message = error.to_string();
                self.eyes[index].has_failed = true;
                self.eyes[index].link.answer(Answer::Error { message, lasting: true });
            }
        }
    }

    /// Restarts a viewer's picture in the scene that it now has.
    fn show_scene(&mut self, index: usize) {
        let eye = &mut self.eyes[index];
        self.scenes.turn_to(eye.link.number);
        // Stills refer to frames of the old scene, which the device cannot use any more.
        self.stills.drop_of(&eye.link);
        eye.link.answer(Answer::Scene(Box::new(self.scenes.facts(&self.source.path))));
        if let Some(message) = &self.failure {
            eye.link.answer(Answer::Error { message: message.clone(), lasting: true });
        }
        eye.adopt(&self.scenes);
    }

    /// Moves all unsaved changes to the new text of the file, and reports changes whose entries it no longer has. `is_own` states that only
    /// values were saved.
    fn move_edits(&mut self, is_own: bool) {
        let text = self.text();
        for eye in &mut self.eyes {
            eye.edit_on(text.clone(), is_own);
        }
        for (_, edits) in &mut self.kept {
            edits.move_to(text.clone(), is_own);
        }
    }

    /// Sends the presenter's camera to the viewers that follow it.
    fn present(&mut self) {
        let Some(presented) = self.eyes.iter().find(|eye| eye.presents).and_then(Eye::presented) else {
            return;
        };
        let watching = self.eyes.iter_mut().filter(|eye| eye.watches && !eye.presents);
        watching.for_each(|eye| eye.watch(presented.clone()));
    }

    /// The viewer that is due next, in turn; moving views come first.
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
        self.stills.work(&mut self.scenes, &stop);
    }

    fn work(&mut self, index: usize) {
        self.last = index;
        let bell = &self.bell;
        let stop = || bell.urgent.load(Ordering::Relaxed) || bell.quit.load(Ordering::Relaxed);
        let eye = &mut self.eyes[index];
        self.scenes.turn_to(eye.link.number);
        if let Err(error) = eye.work(&mut self.scenes, &stop) {
            eye.give_up(&error);
        }
    }
}
