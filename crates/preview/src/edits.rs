//! Unsaved changes of one viewer to the scene.

use super::{Picked, scenes::Shown};
use glam::Vec3;
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};
use throng_edit::{self as edit, EditError, EditableValue, Placed, Transform};

/// Maximum number of a viewer's changes, and of the bytes of their texts.
const MOST_CHANGES: usize = 1000;
const MOST_BYTES: usize = 1 << 20;

/// The unsaved changes of a viewer. A change belongs to an entry of the file, not to its number: it follows the entry when the file is
/// edited.
#[derive(Clone, Default)]
pub struct Edits {
    /// Text of the file; None for models, which have no scene file.
    text: Option<Arc<str>>,
    changes: Vec<Change>,
}

#[derive(Clone)]
struct Change {
    path: String,
    value: String,
    /// The text in which the path leads to the value.
    of: Option<Arc<str>>,
    /// Whether the file no longer has the entry.
    is_lost: bool,
}

/// New transform of an instance, as requested by a viewer; None keeps a part.
pub struct Moved {
    pub translate: Option<[f32; 3]>,
    pub rotate: Option<[f32; 3]>,
    pub scale: Option<Value>,
}

/// Path and text of a value.
pub type Pair = (String, String);

impl Edits {
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    pub fn forget(&mut self) {
        self.changes.clear();
    }

    /// The values that override the file's, sorted by path.
    pub fn overrides(&self) -> Vec<Pair> {
        let held = self.changes.iter().filter(|change| !change.is_lost);
        let mut pairs: Vec<Pair> = held.map(|change| (change.path.clone(), change.value.clone())).collect();
        pairs.sort();
        pairs
    }

    /// Paths of changes whose entries the file no longer has.
    pub fn lost(&self) -> Vec<&str> {
        self.changes.iter().filter(|change| change.is_lost).map(|change| &*change.path).collect()
    }

    pub fn drop_lost(&mut self) {
        self.changes.retain(|change| !change.is_lost);
    }

    /// Overrides values of the file. An empty text removes a change. Paths refer to the text `of`. Returns whether the overrides have
    /// changed. After an error nothing has changed.
    ///
    /// # Errors
    /// If a path has no entry any more, if there are too many changes, or if the changed text would be invalid.
    pub fn change(&mut self, values: BTreeMap<String, String>, of: Option<&Arc<str>>) -> Result<bool, String> {
        let before = self.overrides();
        let mut changed = self.clone();
        for (path, value) in values {
            let path = changed.path_now(&path, of)?;
            changed.set(path, value);
        }
        let bytes: usize = changed.changes.iter().map(|change| change.path.len() + change.value.len()).sum();
        if changed.changes.len() > MOST_CHANGES || bytes > MOST_BYTES {
            return Err("too many changes are not saved: save them first".to_owned());
        }
        changed.changed().map_err(|error| error.to_string())?;
        *self = changed;
        Ok(self.overrides() != before)
    }

    fn set(&mut self, path: String, value: String) {
        self.changes.retain(|change| change.path != path);
        let own = self.text.as_ref().and_then(|text| edit::own_text(text, &path));
        if !value.is_empty() && own != Some(&value) {
            self.changes.push(Change { path, value, of: self.text.clone(), is_lost: false });
        }
    }

    /// Translates a path of the text `of` to the current text.
    fn path_now(&self, path: &str, of: Option<&Arc<str>>) -> Result<String, String> {
        let (Some(of), Some(text)) = (of, &self.text) else { return Ok(path.to_owned()) };
        if of == text {
            return Ok(path.to_owned());
        }
        edit::followed(path, of, text).ok_or_else(|| format!("`{path}`: the file has changed, and its entry is gone"))
    }

    /// Switches to another text of the file. `is_own` states that this program changed only values, so entries keep their numbers. Changes
    /// whose entry is missing are kept in case it returns. Returns the paths of changes that have just lost their entry.
    pub fn move_to(&mut self, text: Option<Arc<str>>, is_own: bool) -> Vec<String> {
        if text == self.text {
            return Vec::new();
        }
        let before: BTreeSet<String> = self.lost().into_iter().map(str::to_owned).collect();
        self.text = text;
        let Some(text) = self.text.clone() else { return Vec::new() };
        self.changes.sort_by(|a, b| a.path.cmp(&b.path));
        for change in &mut self.changes {
            let path = match &change.of {
                Some(_) if is_own && !change.is_lost => Some(change.path.clone()),
                Some(of) => edit::followed(&change.path, of, &text),
                None => None,
            };
            change.is_lost = path.is_none();
            if let Some(path) = path {
                change.path = path;
            }
        }
        self.find_places(&text);
        for change in self.changes.iter_mut().filter(|change| !change.is_lost) {
            change.of = Some(text.clone());
        }
        let lost = self.lost().into_iter().map(str::to_owned);
        lost.filter(|path| !before.contains(path)).collect()
    }

    /// Marks changes as lost that cannot be applied to the text.
    fn find_places(&mut self, text: &str) {
        if edit::save_values(text, &self.overrides()).is_ok() {
            return;
        }
        let mut text = text.to_owned();
        for change in self.changes.iter_mut().filter(|change| !change.is_lost) {
            match edit::save_values(&text, &[(change.path.clone(), change.value.clone())]) {
                Ok(changed) => text = changed,
                Err(_) => change.is_lost = true,
            }
        }
    }

    /// Removes the changes that were saved.
    pub fn saved(&mut self, saved: &[Pair]) {
        self.changes.retain(|change| !saved.iter().any(|(path, value)| (path, value) == (&change.path, &change.value)));
    }

    /// The text with all changes applied; empty for models.
    fn changed(&self) -> Result<String, EditError> {
        self.text.as_ref().map_or_else(|| Ok(String::new()), |text| edit::save_values(text, &self.overrides()))
    }

    /// The editable values in the form that is sent to viewers. Changed values also have their saved text, which is empty if the file has
    /// none.
    pub fn values(&self) -> Vec<Value> {
        let saved = edit::values(self.text.as_deref().unwrap_or_default());
        let saved: BTreeMap<&str, &str> = saved.iter().map(|value| (&*value.path, &*value.text)).collect();
        let changed: BTreeSet<String> = self.overrides().into_iter().map(|(path, _)| path).collect();
        let text = self.changed().unwrap_or_default();
        let told = |value: &EditableValue| {
            let mut told = serde_json::to_value(value).ok()?;
            let before = changed.contains(&value.path).then(|| saved.get(&*value.path).copied().unwrap_or_default());
            if let Some(before) = before.filter(|before| **before != value.text) {
                told["saved"] = json!(before);
            }
            Some(told)
        };
        edit::values(&text).iter().filter_map(told).collect()
    }

    /// Adds to a picked surface whether its instance can be moved, and its transform.
    pub fn complete(&self, picked: &mut Picked, shown: &Shown, instance: u32) {
        let placed = self.placed(shown, instance);
        picked.fixed = match (&placed, &self.text) {
            (Some(placed), _) => Some(placed.why_not.clone()).filter(|why| !why.is_empty()),
            (None, Some(_)) => Some("the scene file does not place it".to_owned()),
            (None, None) => Some("it is part of a model, which no scene file places yet".to_owned()),
        };
        let transform = placed.and_then(|placed| placed.transform);
        picked.movable = transform.is_some();
        picked.transform = transform.map(|Transform { translate, rotate, scale }| {
            json!({"translate": translate.to_array(), "rotate": rotate.to_array(), "scale": scale.to_array()})
        });
    }

    /// The current entry that places an instance of the shown scene.
    fn placed(&self, shown: &Shown, instance: u32) -> Option<Placed> {
        let entry = shown.scene.placed.iter().find(|run| run.instances.contains(&instance))?.entry;
        let path = self.path_now(&format!("instances.{entry}"), shown.text.as_ref()).ok()?;
        edit::placed_by(&self.changed().ok()?, path.strip_prefix("instances.")?.parse().ok()?)
    }

    /// Moves an instance. Returns whether the overrides have changed.
    ///
    /// # Errors
    /// If there is no such instance, or if it cannot be moved.
    pub fn place(&mut self, shown: &Shown, name: &str, to: Moved) -> Result<bool, String> {
        let instance = edit::instance_named(&shown.scene, name).ok_or_else(|| format!("there is no `{name}`"))?;
        let placed = self.placed(shown, instance);
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
        let text = self.text.clone();
        self.change(values.into_iter().collect(), text.as_ref())
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

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"(
    environment: SunSky(elevation: 35),
    materials: { "stone": Diffuse(color: (1, 1, 1)) },
    meshes: { "ball": Sphere, "floor": Quad() },
    instances: [Single(of: "floor"), Single(of: "ball", translate: (0, 1, 0)), Grid(of: "ball", count: (3, 1, 3), spacing: (4, 0, 4))],
)"#;

    fn edits(text: &str) -> Edits {
        Edits { text: Some(text.into()), changes: Vec::new() }
    }

    fn change(edits: &mut Edits, path: &str, value: &str) -> Result<bool, String> {
        let text = edits.text.clone();
        edits.change(BTreeMap::from([(path.to_owned(), value.to_owned())]), text.as_ref())
    }

    #[test]
    fn a_change_follows_its_entry_and_is_lost_with_it() {
        let mut edits = edits(TEXT);
        assert_eq!(change(&mut edits, "instances.1.translate", "(0, 5, 0)"), Ok(true));
        let without_floor = TEXT.replace(r#"Single(of: "floor"), "#, "");
        assert!(edits.move_to(Some(without_floor.into()), false).is_empty());
        assert_eq!(edits.overrides(), [("instances.0.translate".to_owned(), "(0, 5, 0)".to_owned())]);
        let without_ball = TEXT.replace(r#"Single(of: "ball", translate: (0, 1, 0)), "#, "");
        assert_eq!(edits.move_to(Some(without_ball.into()), false), ["instances.0.translate"]);
        assert!(edits.overrides().is_empty() && !edits.is_empty());
        // A loss is reported once, and the change returns with its entry.
        assert!(edits.move_to(Some("(instances: [])".into()), false).is_empty());
        assert!(edits.move_to(Some(TEXT.into()), false).is_empty());
        assert_eq!(edits.overrides(), [("instances.1.translate".to_owned(), "(0, 5, 0)".to_owned())]);
    }

    #[test]
    fn a_name_that_is_gone_takes_no_other_change_with_it() {
        let mut edits = edits(TEXT);
        change(&mut edits, "materials.stone.color", "(1, 0, 0)").unwrap();
        change(&mut edits, "environment.elevation", "5").unwrap();
        let lost = edits.move_to(Some(TEXT.replace("stone", "rock").into()), false);
        assert_eq!(lost, ["materials.stone.color"]);
        assert_eq!(change(&mut edits, "environment.elevation", "10"), Ok(true));
        assert_eq!(edits.overrides(), [("environment.elevation".to_owned(), "10".to_owned())]);
        edits.drop_lost();
        assert!(edits.lost().is_empty() && !edits.is_empty());
    }

    #[test]
    fn what_is_refused_leaves_everything_as_it_was() {
        let mut edits = edits(TEXT);
        change(&mut edits, "environment.elevation", "5").unwrap();
        assert!(change(&mut edits, "environment.elevation", "\"high\"").is_err());
        assert!(change(&mut edits, "environment.azimuth", &"1".repeat(2 << 20)).is_err());
        assert_eq!(edits.overrides(), [("environment.elevation".to_owned(), "5".to_owned())]);
        // A value equal to the file's, or an empty one, is not a change.
        assert_eq!(change(&mut edits, "environment.elevation", "35"), Ok(true));
        assert!(edits.is_empty());
        change(&mut edits, "environment.elevation", "5").unwrap();
        assert_eq!(change(&mut edits, "environment.elevation", ""), Ok(true));
        assert!(edits.is_empty());
    }

    #[test]
    fn a_path_of_an_older_text_means_what_it_meant() {
        let (old, new) = (Arc::<str>::from(TEXT), TEXT.replace(r#"Single(of: "floor"), "#, ""));
        let mut edits = edits(&new);
        let values = |path: &str| BTreeMap::from([(path.to_owned(), "3".to_owned())]);
        assert_eq!(edits.change(values("instances.1.scale"), Some(&old)), Ok(true));
        assert_eq!(edits.overrides(), [("instances.0.scale".to_owned(), "3".to_owned())]);
        assert!(edits.change(values("instances.0.scale"), Some(&old)).unwrap_err().contains("its entry is gone"));
    }

    #[test]
    fn values_that_were_changed_tell_what_the_file_has() {
        let mut edits = edits(TEXT);
        change(&mut edits, "environment.elevation", "5").unwrap();
        change(&mut edits, "instances.1.scale", "2").unwrap();
        let values = edits.values();
        let saved = |path: &str| values.iter().find(|value| value["path"] == path).map(|value| value["saved"].clone());
        assert_eq!(saved("environment.elevation"), Some(json!("35")));
        assert_eq!(saved("instances.1.scale"), Some(json!("")));
        assert_eq!(saved("instances.1.translate"), Some(Value::Null));
    }

    #[test]
    fn scales_are_numbers_or_points() {
        assert_eq!(scale_of(&json!(2)), Some(Vec3::splat(2.0)));
        assert_eq!(scale_of(&json!([1, 2, 3])), Some(Vec3::new(1.0, 2.0, 3.0)));
        assert_eq!(scale_of(&json!([1, 2])), None);
    }
}
