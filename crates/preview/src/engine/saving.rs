//! Saving of changes and cameras. A new text is checked by loading it completely before the file is changed; requests are handled one by
//! one.

use super::Engine;
use crate::{Answer, Link, Saved, edits::Pair};
use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};
use throng_edit::{self as edit, EditError, Flight, ModelChoices, SceneText};
use throng_loader::options::CameraChoice;
use throng_settings::Error;

/// Options for a file that another program has changed.
const CHOICES: [&str; 2] = ["anyway", "reload"];

#[derive(Default)]
pub struct Saves {
    waiting: VecDeque<Request>,
    /// The request whose text is being checked.
    checked: Option<(Request, Ready)>,
    /// The scene file that was created for a model.
    made: Option<SceneText>,
}

/// A viewer's request to save something.
struct Request {
    link: Arc<Link>,
    what: What,
    /// Whether to overwrite a file that another program has changed.
    anyway: bool,
}

enum What {
    /// The viewer's changes, and these values in addition.
    Values(BTreeMap<String, String>),
    Camera(Flight),
}

/// A text that has to be checked and written.
struct Ready {
    text: String,
    /// The file, with its content when the text was made.
    file: SceneText,
    /// The changes contained in the text.
    changes: Vec<Pair>,
}

impl Saves {
    /// Whether a request of this viewer is waiting or being checked.
    pub fn concern(&self, link: &Arc<Link>) -> bool {
        let checked = self.checked.iter().map(|(request, _)| request);
        self.waiting.iter().chain(checked).any(|request| Arc::ptr_eq(&request.link, link))
    }
}

impl Engine {
    pub(super) fn save(&mut self, index: usize, what: Saved, (values, anyway): (BTreeMap<String, String>, bool)) {
        let eye = &self.eyes[index];
        let what = match what {
            Saved::Values => What::Values(values),
            Saved::Camera => What::Camera(eye.flight(&self.scenes)),
        };
        self.saves.waiting.push_back(Request { link: eye.link.clone(), what, anyway });
        self.save_next();
    }

    /// Starts the oldest waiting request.
    pub(super) fn save_next(&mut self) {
        while self.saves.checked.is_none() {
            let Some(request) = self.saves.waiting.pop_front() else { return };
            match self.made_ready(&request) {
                Ok(ready) => {
                    self.watch.check(ready.file.path().to_owned(), ready.text.clone());
                    self.saves.checked = Some((request, ready));
                }
                Err(answer) => request.link.answer(*answer),
            }
        }
    }

    /// Creates the text to be written, without changing anything.
    fn made_ready(&mut self, request: &Request) -> Result<Ready, Box<Answer>> {
        let Some(index) = self.eyes.iter().position(|eye| Arc::ptr_eq(&eye.link, &request.link)) else {
            return Err(refuse("the page was closed"));
        };
        self.scenes.turn_to(request.link.number);
        match (&request.what, &self.file) {
            (What::Camera(flight), None) => self.new_file(flight, request.anyway),
            (_, None) => Err(refuse("a model has no scene file: save the camera first")),
            (what, Some(file)) => {
                let file = current(file, request.anyway).map_err(refused)?;
                match what {
                    What::Camera(flight) => self.with_flight(file, flight),
                    What::Values(values) => self.with_values(index, file, values, request.anyway),
                }
            }
        }
    }

    fn with_values(
        &self,
        index: usize,
        file: SceneText,
        values: &BTreeMap<String, String>,
        anyway: bool,
    ) -> Result<Ready, Box<Answer>> {
        let eye = &self.eyes[index];
        let mut edits = eye.edits.clone();
        edits.move_to(Some(file.text().into()), false);
        edits.change(values.clone(), eye.paths_of.as_ref()).map_err(refuse)?;
        let lost = edits.lost();
        if !anyway && !lost.is_empty() {
            let why = format!(
                "{}: the change of `{}` no longer fits the file: save the rest anyway, or load the file again",
                file.path().display(),
                lost.join("`, `")
            );
            return Err(Box::new(Answer::Refused { why, choices: CHOICES.to_vec() }));
        }
        let changes = edits.overrides();
        let text = edit::save_values(file.text(), &changes).map_err(refused)?;
        Ok(Ready { text, file, changes })
    }

    fn with_flight(&self, file: SceneText, flight: &Flight) -> Result<Ready, Box<Answer>> {
        let name = match &self.source.options.load.model.camera {
            Some(CameraChoice::Of(name)) => Some(name.as_str()),
            _ => None,
        };
        let mut text = edit::save_flight(file.text(), name, flight).map_err(refused)?;
        let settings = &self.scenes.shown.scene.settings;
        let end = flight.waypoints.iter().filter_map(|key| key.time).fold(settings.start, f64::max);
        let frames = 1 + ((end - settings.start) * settings.fps).round() as u32;
        if frames > settings.frames {
            // Extends the animation to the last waypoint.
            let frames = ("render.frames".to_owned(), frames.to_string());
            text = edit::save_values(&text, &[frames]).map_err(refused)?;
        }
        Ok(Ready { text, file, changes: Vec::new() })
    }

    /// The text of a scene file for a model: a new file, or the one created earlier.
    fn new_file(&self, flight: &Flight, anyway: bool) -> Result<Ready, Box<Answer>> {
        let (path, scene) = (&self.source.path, &self.scenes.shown.scene);
        let file = match &self.saves.made {
            Some(file) => current(file, anyway).map_err(refused)?,
            None => SceneText::new(&edit::path_for(path)),
        };
        let choices = ModelChoices { flight: Some(flight.clone()), exposure: None };
        let text = edit::scene_for(path, scene, &self.source.options.load, &choices);
        Ok(Ready { text, file, changes: Vec::new() })
    }

    /// Writes a text that was checked.
    pub(super) fn finish_save(&mut self, checked: Result<(), Error>) {
        let Some((request, mut ready)) = self.saves.checked.take() else { return };
        let before: Arc<str> = ready.file.text().into();
        let written = match checked {
            Ok(()) => ready.file.write(ready.text, false).map_err(refused),
            Err(error) => Err(refuse(format!("the scene could not be loaded then: {error}"))),
        };
        if let Err(answer) = written {
            return request.link.answer(*answer);
        }
        request.link.answer(Answer::Saved { file: ready.file.path().display().to_string() });
        if self.file.is_none() {
            self.saves.made = Some(ready.file);
            return;
        }
        for eye in &mut self.eyes {
            eye.edit_on(Some(before.clone()), false);
            if Arc::ptr_eq(&eye.link, &request.link) && matches!(request.what, What::Values(_)) {
                eye.edits.saved(&ready.changes);
                eye.edits.drop_lost();
            }
        }
        self.file = Some(ready.file);
        // If no list was written, entries keep their numbers.
        let is_plain = |(_, value): &Pair| !value.contains('[');
        self.move_edits(matches!(request.what, What::Values(_)) && ready.changes.iter().all(is_plain));
        self.watch.load();
    }
}

/// The file as last read, if the disk still has this content. With `anyway`, the current content of the disk.
fn current(file: &SceneText, anyway: bool) -> Result<SceneText, EditError> {
    if anyway {
        return if file.path().exists() {
            SceneText::read(file.path())
        } else {
            Ok(SceneText::new(file.path()).with_text(file.text()))
        };
    }
    if file.is_current() { Ok(file.clone()) } else { Err(EditError::Changed { path: file.path().to_owned() }) }
}

fn refuse(why: impl ToString) -> Box<Answer> {
    Box::new(Answer::Refused { why: why.to_string(), choices: Vec::new() })
}

fn refused(error: EditError) -> Box<Answer> {
    let choices = if matches!(error, EditError::Changed { .. }) { CHOICES.to_vec() } else { Vec::new() };
    Box::new(Answer::Refused { why: error.to_string(), choices })
}
