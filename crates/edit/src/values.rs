//! The values of a scene file that `--set` can change: listing them and writing them.

use super::{
    EditError,
    fields::{head, innermost},
    number::number,
    parsed,
    schema::{self, Schema},
};
use serde::Serialize;
use throng_loader::ron::{
    file::{self, Source},
    source::{Items, Value},
};
use throng_scene::{RenderDefaults, desc::RenderDesc};

/// Maximum number of listed values, for files that programs have written.
const MOST: usize = 5000;
/// Settings of `render` that are listed even if the file omits them.
const SETTINGS: [&str; 7] = ["exposure", "samples", "bounces", "integrator", "tone_map", "filter", "white_balance"];

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueKind {
    /// One number.
    Number,
    /// `(r, g, b)` or `"#rrggbb"`.
    Colour,
    /// `(x, y, z)`.
    Point,
    /// One of several words.
    Choice,
    /// Any other RON: quoted text, keys over time.
    Text,
}

/// A value of a scene file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EditableValue {
    /// The key for `--set`.
    pub path: String,
    /// Its RON text in the file; empty for an omitted setting without a value of its own.
    pub text: String,
    /// The kind of editor it needs.
    pub kind: ValueKind,
    /// The words of a choice.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// Its description in the format's schema.
    pub doc: String,
}

/// Returns the values of a scene file in their order, after some settings of `render` that the file may omit. Keys of flights, lists of points, and
/// values that `--set` cannot reach (names with a dot) are omitted. Empty if the text is not a scene.
pub fn values(text: &str) -> Vec<EditableValue> {
    let (Ok(file), Some(root)) = (parsed(text), Value::of_file(text)) else {
        return Vec::new();
    };
    let mut list = List { text, found: Vec::new() };
    list.value(&root, schema::whole(), "", "");
    let missing = SETTINGS.iter().filter_map(|name| list.setting(name, &file.render)).collect::<Vec<_>>();
    list.found.splice(0..0, missing);
    list.found.truncate(MOST);
    list.found
}

/// Returns the text with `values` set, as by `--set path=text`; every other byte is kept.
///
/// # Errors
/// [`EditError::Value`] for the first path that the file does not have, or value that does not fit.
pub fn save_values(text: &str, values: &[(String, String)]) -> Result<String, EditError> {
    let mut source = Source { text: text.to_owned(), ..Source::default() };
    file::set(&mut source, values).map_err(EditError::Value)?;
    Ok(source.text)
}

struct List<'t> {
    text: &'t str,
    found: Vec<EditableValue>,
}

impl List<'_> {
    fn value(&mut self, value: &Value, schema: Schema, path: &str, doc: &str) {
        if self.found.len() >= MOST {
            return;
        }
        let own = &self.text[value.span.clone()];
        let name = head(self.text, value);
        match (&value.items, &innermost(value).items) {
            _ if name == "keys" => self.leaf(value, schema, path, doc),
            (Items::Plain(list), _) if own.starts_with('[') => {
                let Some(element) = schema.element().filter(|element| element.name != "SplineKey") else {
                    return;
                };
                let structs = list.iter().enumerate().filter(|(_, one)| is_struct(one));
                structs.for_each(|(index, one)| self.value(one, element, &join(path, &index.to_string()), ""));
            }
            (_, Items::Keyed(entries)) => {
                let fields = if name.is_empty() { Some(schema) } else { schema.variant(name) };
                for (name, inner) in entries.iter().filter(|(name, _)| !name.contains('.')) {
                    if let Some((schema, doc)) = fields.and_then(|fields| fields.field(name)) {
                        self.value(inner, schema, &join(path, name), doc);
                    }
                }
            }
            (Items::None, _) if own.ends_with(')') => {}
            _ => self.leaf(value, schema, path, doc),
        }
    }

    fn leaf(&mut self, value: &Value, schema: Schema, path: &str, doc: &str) {
        let text = self.text[value.span.clone()].to_owned();
        let words = schema.words();
        let is_number = |text: &str| text.parse::<f32>().is_ok();
        let kind = match &value.items {
            Items::None if words.contains(&text) => ValueKind::Choice,
            _ if text.starts_with("keys") => ValueKind::Text,
            _ if schema.name == "Color" => ValueKind::Colour,
            Items::None if is_number(&text) => ValueKind::Number,
            Items::Plain(parts) if parts.len() == 3 && text.starts_with('(') => {
                let all = parts.iter().all(|part| is_number(&self.text[part.span.clone()]));
                if all { ValueKind::Point } else { ValueKind::Text }
            }
            _ => ValueKind::Text,
        };
        let choices = if kind == ValueKind::Choice { words } else { Vec::new() };
        self.found.push(EditableValue { path: path.to_owned(), text, kind, choices, doc: doc.to_owned() });
    }

    /// A setting of `render` that the file omits.
    fn setting(&self, name: &str, render: &RenderDesc) -> Option<EditableValue> {
        let path = format!("render.{name}");
        if self.found.iter().any(|value| value.path == path) {
            return None;
        }
        let (schema, doc) = schema::whole().field("render")?.0.field(name)?;
        let usual = RenderDefaults::default();
        let text = match name {
            "exposure" => number(render.exposure.map_or(usual.exposure, |stops| stops.0)),
            "samples" => render.samples.unwrap_or(usual.samples).to_string(),
            "bounces" => render.bounces.unwrap_or(usual.bounces).to_string(),
            "tone_map" => render.tone_map.unwrap_or(usual.tone_map).to_string(),
            "filter" => render.filter.unwrap_or(usual.filter).to_string(),
            _ => String::new(),
        };
        let choices = schema.words();
        let kind = if choices.is_empty() { ValueKind::Number } else { ValueKind::Choice };
        Some(EditableValue { path, text, kind, choices, doc: doc.to_owned() })
    }
}

fn is_struct(value: &Value) -> bool {
    matches!(innermost(value).items, Items::Keyed(_))
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r##"(
    render: (size: (96, 54), exposure: 1.5, tone_map: agx),
    environment: SunSky(elevation: 12, sun: false, ground: (0.1, 0.2, 0.3)),
    lights: [Point(position: (0, 1, 0), intensity: keys([(0, (1, 1, 1)), (1, (2, 2, 2))]))],
    materials: { "a": Diffuse(color: "#ffffff"), "b.c": Mirror(roughness: 0.1), "d": Mirror() },
    meshes: { "ball": Sphere, "plane": Quad(tile: 3) },
    instances: [
        Single(of: "ball", translate: (1, 2, 3), scale: 2, material: "a"),
        Single(of: "plane", rotate: (axis: (0, 1, 0), degrees: 4)),
    ],
    camera: Spline(fov: 50, lens: (f_stop: 2.8), keys: [(eye: (0, 0, 1), target: (0, 0, 0)), (eye: (1, 0, 1), target: (0, 0, 0))]),
)"##;

    fn find(path: &str) -> Option<EditableValue> {
        values(TEXT).into_iter().find(|value| value.path == path)
    }

    #[test]
    fn what_a_file_says_is_listed_with_its_kind() {
        use ValueKind::{Choice, Colour, Number, Point, Text};
        for (path, text, kind) in [
            ("render.exposure", "1.5", Number),
            ("render.tone_map", "agx", Choice),
            ("render.samples", "64", Number),
            ("environment.elevation", "12", Number),
            ("environment.sun", "false", Choice),
            ("environment.ground", "(0.1, 0.2, 0.3)", Colour),
            ("lights.0.position", "(0, 1, 0)", Point),
            ("lights.0.intensity", "keys([(0, (1, 1, 1)), (1, (2, 2, 2))])", Text),
            ("materials.a.color", "\"#ffffff\"", Colour),
            ("meshes.plane.tile", "3", Number),
            ("instances.0.translate", "(1, 2, 3)", Point),
            ("instances.0.scale", "2", Number),
            ("instances.0.material", "\"a\"", Text),
            ("instances.1.rotate.degrees", "4", Number),
            ("camera.lens.f_stop", "2.8", Number),
        ] {
            let found = find(path).unwrap_or_else(|| panic!("{path}"));
            assert_eq!((found.text.as_str(), found.kind), (text, kind), "{path}");
            assert!(!found.doc.is_empty(), "{path}");
        }
        assert!(find("camera.keys.0.eye").is_none() && find("materials.b.c.roughness").is_none());
        assert!(find("render.integrator").unwrap().choices.contains(&"path".to_owned()));
        assert!(values("(").is_empty());
    }

    #[test]
    fn every_value_can_be_set_where_it_stands() {
        for value in values(TEXT).into_iter().filter(|value| !value.text.is_empty()) {
            let saved = save_values(TEXT, &[(value.path.clone(), value.text.clone())]).unwrap();
            if TEXT.contains(value.path.rsplit('.').next().unwrap()) {
                assert_eq!(saved, TEXT, "{}", value.path)
            } else {
                assert_eq!(saved.len(), TEXT.len() + value.path.len() - 7 + value.text.len() + 4)
            }
        }
    }

    #[test]
    fn values_are_written_and_wrong_ones_refused() {
        let set = |path: &str, text: &str| save_values(TEXT, &[(path.into(), text.into())]);
        let saved = set("instances.0.translate", "(0, 0.5, 0)").unwrap();
        assert_eq!(saved, TEXT.replace("(1, 2, 3)", "(0, 0.5, 0)"));
        let error = set("environment.elevation", "\"high\"").unwrap_err().to_string();
        assert!(error.starts_with("--set environment.elevation: "), "{error}");
        assert!(set("environment.elevatoin", "3").is_err());
    }
}
