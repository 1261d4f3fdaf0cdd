//! Changes to the scene that are not saved yet, and saving them into its file.

use super::{Picked, View, Waypoint};
use crate::{
    edit::{self, EditError, EditableValue, Flight, ModelChoices, Optics, PaceChoice, SceneText, Transform},
    loader::LoadOptions,
    scene::Scene,
};
use glam::Vec3;
use serde_json::{Value, json};
use std::{collections::BTreeMap, path::Path};

/// The file of the scene that is shown, and what was changed since.
#[derive(Default)]
pub struct Edits {
    /// None for models, which have no scene file.
    pub text: Option<SceneText>,
    /// The scene file that was made for a model.
    made: Option<SceneText>,
    changes: BTreeMap<String, String>,
}

/// Where a viewer wants an instance.
pub struct Moved {
    pub translate: Option<[f32; 3]>,
    pub rotate: Option<[f32; 3]>,
    pub scale: Option<Value>,
}

impl Edits {
    pub fn of(text: Option<SceneText>) -> Self {
        Self { text, ..Self::default() }
    }

    /// The values that take the place of the file's.
    pub fn overrides(&self) -> Vec<(String, String)> {
        self.changes.clone().into_iter().collect()
    }

    /// Takes values in place of the file's, unless the text would be no scene with them. Returns whether they are others than before.
    ///
    /// # Errors
    /// If something is wrong with them: what it is.
    pub fn change(&mut self, values: BTreeMap<String, String>) -> Result<bool, String> {
        let before = self.changes.clone();
        self.changes.extend(values);
        if self.text.is_some()
            && let Err(error) = self.changed()
        {
            self.changes = before;
            return Err(error.to_string());
        }
        Ok(self.changes != before)
    }

    pub fn forget(&mut self) {
        self.changes.clear();
    }

    /// The text with all changes.
    fn changed(&self) -> Result<String, EditError> {
        let text = self.text.as_ref().map_or("", SceneText::text);
        edit::save_values(text, &self.overrides())
    }

    /// The values that can be changed, as viewers are told: those that were changed with what is `saved` in the file.
    pub fn values(&self) -> Vec<Value> {
        let saved = edit::values(self.text.as_ref().map_or("", SceneText::text));
        let saved: BTreeMap<&str, &str> = saved.iter().map(|value| (&*value.path, &*value.text)).collect();
        let text = self.changed().unwrap_or_default();
        let told = |value: &EditableValue| {
            let mut told = serde_json::to_value(value).ok()?;
            let before = self.changes.contains_key(&value.path).then(|| saved.get(&*value.path)).flatten();
            if let Some(before) = before.filter(|before| **before != value.text) {
                told["saved"] = json!(before);
            }
            Some(told)
        };
        edit::values(&text).iter().filter_map(told).collect()
    }

    /// Adds to what was picked whether it can be moved, and where it is.
    pub fn complete(&self, picked: &mut Picked, scene: &Scene, instance: u32) {
        let placed = self.changed().ok().and_then(|text| edit::placement_of(&text, scene, instance));
        let transform = placed.and_then(|placed| placed.transform);
        picked.movable = transform.is_some();
        picked.transform = transform.map(|Transform { translate, rotate, scale }| {
            json!({"translate": translate.to_array(), "rotate": rotate.to_array(), "scale": scale.to_array()})
        });
    }

    /// Moves the placement of an instance.
    ///
    /// # Errors
    /// If there is no such instance, or it cannot be moved.
    pub fn place(&mut self, scene: &Scene, name: &str, to: Moved) -> Result<(), String> {
        let text = self.changed().map_err(|error| error.to_string())?;
        let instance = edit::instance_named(scene, name).ok_or_else(|| format!("there is no `{name}`"))?;
        let placed = edit::placement_of(&text, scene, instance);
        let placed = placed.ok_or_else(|| format!("`{name}` is not placed by the scene file and cannot be moved"))?;
        let from = placed.transform.ok_or_else(|| format!("`{name}` cannot be moved: {}", placed.why_not))?;
        let scale = match to.scale {
            None => from.scale,
            Some(scale) => scale_of(&scale).ok_or("`scale` must be a number or three")?,
        };
        let to = Transform {
            translate: to.translate.map_or(from.translate, Vec3::from),
            rotate: to.rotate.map_or(from.rotate, Vec3::from),
            scale,
        };
        let values = edit::moved(&placed, &to).map_err(|error| error.to_string())?;
        self.changes.extend(values);
        Ok(())
    }

    /// Writes the changes, and `more` values, into the file. Returns its name.
    ///
    /// # Errors
    /// [`EditError::Changed`] if the file is another one by now, and files that cannot be written.
    pub fn save_values(&mut self, more: BTreeMap<String, String>, anyway: bool) -> Result<String, EditError> {
        self.changes.extend(more);
        let text = self.text_to_save(anyway)?;
        let saved = edit::save_values(&text, &self.overrides())?;
        self.write(saved, anyway)?;
        self.changes.clear();
        Ok(self.file())
    }

    /// Writes a flight, or a camera that stands still, into the scene file. For a model that becomes a new file.
    ///
    /// # Errors
    /// As [`Self::save_values`], and flights that no camera can have.
    pub fn save_camera(
        &mut self,
        flight: Flight,
        (model, scene, options): (&Path, &Scene, &LoadOptions),
        anyway: bool,
    ) -> Result<String, EditError> {
        if self.text.is_none() {
            let choices = ModelChoices { flight: Some(flight), exposure: None };
            let made = self.made.get_or_insert_with(|| SceneText::new(&edit::path_for(model)));
            made.write(edit::scene_for(model, scene, options, &choices), anyway)?;
            return Ok(made.path().display().to_string());
        }
        let text = self.text_to_save(anyway)?;
        let name = match &options.model.camera {
            crate::loader::options::CameraChoice::Of(name) => Some(name.as_str()),
            _ => None,
        };
        let mut saved = edit::save_flight(&text, name, &flight)?;
        let settings = &scene.settings;
        let end = flight.waypoints.iter().filter_map(|key| key.time).fold(settings.start, f64::max);
        let frames = 1 + ((end - settings.start) * settings.fps).round() as u32;
        if frames > settings.frames {
            // The film is to go on to the last waypoint.
            saved = edit::save_values(&saved, &[("render.frames".to_owned(), frames.to_string())])?;
        }
        self.write(saved, anyway)?;
        Ok(self.file())
    }

    /// The text that changes are made in: that of the file as it is now, if it is to be written whatever it is.
    fn text_to_save(&self, anyway: bool) -> Result<String, EditError> {
        let Some(text) = &self.text else {
            return Err(EditError::NotMovable { why: "a model has no scene file: save the camera first".to_owned() });
        };
        match anyway {
            true => Ok(SceneText::read(text.path())?.text().to_owned()),
            false => Ok(text.text().to_owned()),
        }
    }

    fn write(&mut self, text: String, anyway: bool) -> Result<(), EditError> {
        self.text.as_mut().map_or(Ok(()), |file| file.write(text, anyway))
    }

    fn file(&self) -> String {
        self.text.as_ref().map_or_else(String::new, |text| text.path().display().to_string())
    }
}

fn scale_of(value: &Value) -> Option<Vec3> {
    let number = |value: &Value| value.as_f64().map(|x| x as f32);
    match value {
        Value::Array(parts) => {
            let parts: Option<Vec<f32>> = parts.iter().map(number).collect();
            <[f32; 3]>::try_from(parts?).ok().map(Vec3::from)
        }
        value => number(value).map(Vec3::splat),
    }
}

/// A viewer's waypoints, or where its camera stands, as a flight to be saved. `is_flat` is whether the scene's camera is orthographic.
pub fn flight(keys: &[Waypoint], pace: Option<&str>, still: &View, is_flat: bool) -> Flight {
    if keys.is_empty() {
        let waypoint =
            edit::Waypoint { eye: still.eye.into(), target: still.target.into(), ..edit::Waypoint::default() };
        let optics = Optics {
            fov: still.fov,
            height: still.height,
            up: Some(still.up.into()),
            f_stop: still.f_stop.filter(|_| still.radius.is_none()),
            radius: still.radius,
            focus: still.focus,
        };
        return Flight { waypoints: vec![waypoint], optics, pace: PaceChoice::Keep };
    }
    let waypoint = |key: &Waypoint| edit::Waypoint {
        eye: key.eye.into(),
        target: key.target.into(),
        time: Some(key.time),
        fov: key.fov.filter(|_| !is_flat),
        height: key.fov.filter(|_| is_flat),
        f_stop: key.f_stop,
        radius: key.radius,
        focus: key.focus,
    };
    Flight { waypoints: keys.iter().map(waypoint).collect(), optics: Optics::default(), pace: pace_of(pace) }
}

fn pace_of(pace: Option<&str>) -> PaceChoice {
    let Some(text) = pace else { return PaceChoice::ByTimes };
    let bezier = |text: &str| {
        let numbers = text.strip_prefix("bezier(")?.strip_suffix(')')?.split(',');
        let numbers: Option<Vec<f32>> = numbers.map(|number| number.trim().parse().ok()).collect();
        <[f32; 4]>::try_from(numbers?).ok()
    };
    match text {
        "constant" => PaceChoice::Constant,
        "smooth" => PaceChoice::Smooth,
        _ => bezier(text).map_or(PaceChoice::ByTimes, PaceChoice::Bezier),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_still_is_saved_with_its_optics_and_waypoints_with_their_times() {
        let view = View { eye: [1.0; 3], target: [0.0; 3], up: [0.0, 1.0, 0.0], fov: Some(30.0), ..View::default() };
        let still = flight(&[], None, &view, false);
        assert_eq!((still.waypoints.len(), still.waypoints[0].time, still.optics.fov), (1, None, Some(30.0)));
        let key = Waypoint {
            eye: [1.0; 3],
            target: [0.0; 3],
            time: 2.0,
            fov: Some(5.0),
            focus: None,
            f_stop: None,
            radius: None,
        };
        let flown = flight(&[key.clone(), key], Some("bezier(0.4, 0, 0.2, 1)"), &view, true);
        assert_eq!((flown.waypoints[1].time, flown.waypoints[1].height), (Some(2.0), Some(5.0)));
        assert_eq!(flown.pace, PaceChoice::Bezier([0.4, 0.0, 0.2, 1.0]));
    }

    #[test]
    fn scales_are_numbers_or_points() {
        assert_eq!(scale_of(&json!(2)), Some(Vec3::splat(2.0)));
        assert_eq!(scale_of(&json!([1, 2, 3])), Some(Vec3::new(1.0, 2.0, 3.0)));
        assert_eq!(scale_of(&json!([1, 2])), None);
    }
}
