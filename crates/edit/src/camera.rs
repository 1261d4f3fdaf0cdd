//! Saves flights into the text of a scene file: the `camera` section, or an entry of `cameras`, is replaced by a camera on this flight.

use super::{
    EditError,
    fields::{fields, head, indent_of, newline, spliced, with_fields},
    flight::{Flight, PaceChoice, Waypoint},
    number::{double, number, point},
    parsed,
};
use glam::Vec3;
use std::ops::Range;
use throng_loader::{
    ron::source::{self, Step, Value},
    suggest,
};
use throng_scene::{
    RenderDefaults,
    desc::{Aim, CameraDesc, ProjectionDesc, SceneFile, SplineKey},
    sensor_height,
};

/// Fields that all kinds of camera share, in the order of writing.
const SHARED: [&str; 8] = ["fov", "up", "roll", "projection", "shift", "lens", "shutter", "shake"];
/// Maximum length of a camera that is written on one line.
const LONGEST_LINE: usize = 120;
/// Indentation for files without any.
const INDENT: &str = "    ";

type Changes = Vec<(&'static str, Option<String>)>;

/// Returns the text of a scene file with a camera that flies `flight`. It replaces the entry `name` of `cameras`; without a name, the `camera` or the
/// first of `cameras`. A file without a camera gets one at its end.
///
/// One waypoint becomes a `LookAt`, several become a `Spline`. The old camera's field of view, up, roll, projection, lens, shutter, shake, bank and
/// `above` are kept, and so is its pace unless the flight has one. `clear_of` and a followed target are removed, because they would change the path.
/// Optics of waypoints that do not apply to the camera's kind are omitted. Every byte outside of the camera is kept.
///
/// # Errors
/// [`EditError::Flight`] for flights that no camera can have, [`EditError::UnknownCamera`] for a missing camera, and [`EditError::Text`] for text
/// that is not a scene.
pub fn save_flight(text: &str, name: Option<&str>, flight: &Flight) -> Result<String, EditError> {
    let file = parsed(text)?;
    let desc = described(&file, name)?;
    flight.check(desc.map_or(Vec3::Y, |desc| desc.optics().up.0))?;
    let no_scene = || EditError::Text { line: 1, column: 1, message: "the scene file cannot be read".to_owned() };
    let root = Value::of_file(text).ok_or_else(no_scene)?;
    let saved = match place(&root, &file, name) {
        Some(old) => {
            let style = Style::of(text, &root, indent_of(text, old.span.start), &file);
            let new = style.camera(Some(&text[old.span.clone()]).filter(|_| desc.is_some()), desc, flight);
            spliced(text, vec![(old.span.clone(), new.ok_or_else(no_scene)?)])
        }
        None => {
            let style = Style::of(text, &root, "", &file);
            let style = Style { indent: style.section_indent(text, &root), ..style };
            appended(text, &root, &style, &style.camera(None, None, flight).ok_or_else(no_scene)?)
        }
    };
    parsed(&saved)?;
    Ok(saved)
}

/// Returns the flight of a camera whose eye and targets are points: the entry `name` of `cameras`, or the first camera. Its optics and pace keep the
/// file's values. Other cameras, for example those that follow objects, have no waypoints.
///
/// # Errors
/// [`EditError::UnknownCamera`] for a missing camera, and [`EditError::Text`] for text that is not a scene.
pub fn saved_flight(text: &str, name: Option<&str>) -> Result<Flight, EditError> {
    let file = parsed(text)?;
    let waypoints = match described(&file, name)? {
        Some(CameraDesc::LookAt(camera)) => match (&camera.eye, &camera.target) {
            (&Aim::Point(eye), &Aim::Point(target)) => vec![Waypoint { eye, target, ..Waypoint::default() }],
            _ => Vec::new(),
        },
        Some(CameraDesc::Spline(camera)) => {
            let fixed = match &camera.target {
                Some(Aim::Point(target)) => Some(*target),
                Some(_) => return Ok(Flight::default()),
                None => None,
            };
            camera.keys.iter().filter_map(|key| waypoint(key, fixed)).collect()
        }
        _ => Vec::new(),
    };
    Ok(Flight { waypoints, ..Flight::default() })
}

fn waypoint(key: &SplineKey, fixed: Option<Vec3>) -> Option<Waypoint> {
    use throng_scene::desc::FocusDesc;
    Some(Waypoint {
        eye: key.eye.0,
        target: fixed.or(key.target.map(|target| target.0))?,
        time: key.time.map(|time| time.0),
        roll: key.roll.map(|roll| roll.0),
        fov: key.fov.map(|fov| fov.0),
        height: key.height.map(|height| height.0),
        f_stop: key.f_stop.map(|f_stop| f_stop.0),
        radius: key.radius.map(|radius| radius.0),
        focus: match key.focus {
            Some(FocusDesc::Distance(distance)) => Some(distance),
            _ => None,
        },
    })
}

/// The selected camera; `None` if the file has no camera.
fn described<'a>(file: &'a SceneFile, name: Option<&str>) -> Result<Option<&'a CameraDesc>, EditError> {
    let Some(name) = name else {
        return Ok(file.first_camera());
    };
    match file.cameras.index(name) {
        Some(index) => Ok(Some(&file.cameras.0[index].1)),
        None => {
            let hint = if file.cameras.0.is_empty() {
                "it has no `cameras`: save without a name".to_owned()
            } else {
                suggest::hint(name, file.cameras.names(), "cameras")
            };
            Err(EditError::UnknownCamera { name: name.to_owned(), hint })
        }
    }
}

/// The value of the selected camera, or of a `camera: None`.
fn place<'a>(root: &'a Value, file: &SceneFile, name: Option<&str>) -> Option<&'a Value> {
    match name.or_else(|| file.cameras.names().next()) {
        Some(name) => root.child(Step::Key("cameras"))?.child(Step::Key(name)),
        None => root.child(Step::Key("camera")),
    }
}

/// Adds a section at the end of the file.
fn appended(text: &str, root: &Value, style: &Style, camera: &str) -> String {
    let newline = style.newline;
    let mut edits = Vec::new();
    let end = fields(text, root).last().map_or(root.span.start + 1, |last| last.value.end);
    if !text[source::skip_space(text, end)..].starts_with(',') {
        edits.push((end..end, ",".to_owned()));
    }
    let close = root.span.end - 1;
    let line = close - indent_of(text, close).len();
    let has_line = text[..line].ends_with('\n') && text[line..close].trim().is_empty();
    let gap = if text.contains(&format!("{newline}{newline}")) { newline } else { "" };
    let (at, section) = if has_line {
        (line, format!("{gap}{}camera: {camera},{newline}", style.indent))
    } else {
        (close, format!(" camera: {camera}"))
    };
    edits.push((at..at, section));
    spliced(text, edits)
}

/// Formatting of a camera, matching its file.
struct Style<'a> {
    /// Indentation of the camera's first line.
    indent: &'a str,
    /// One additional level of indentation.
    step: &'a str,
    newline: &'static str,
    /// Height of the sensor to which f-numbers refer if a camera has no lens.
    sensor: f32,
}

impl<'a> Style<'a> {
    fn of(text: &'a str, root: &Value, indent: &'a str, file: &SceneFile) -> Self {
        let usual = RenderDefaults::default();
        let (width, height) = file.render.size.unwrap_or((usual.width, usual.height));
        let sensor = sensor_height(width as f32 / height as f32);
        let style = Self { indent, step: INDENT, newline: newline(text), sensor };
        let step = style.section_indent(text, root);
        Self { step: if step.is_empty() { INDENT } else { step }, ..style }
    }

    /// The indentation of sections.
    fn section_indent(&self, text: &'a str, root: &Value) -> &'a str {
        fields(text, root).last().map_or("", |section| indent_of(text, section.start))
    }

    /// The text of the camera that replaces `old`; `None` if `old` is not a struct.
    fn camera(&self, old: Option<&str>, desc: Option<&CameraDesc>, flight: &Flight) -> Option<String> {
        let scanned = old.map(|old| Value::of_file(old).map(|value| (old, value)));
        let scanned = match scanned {
            Some(None) => return None,
            Some(Some(scanned)) => Some(scanned),
            None => None,
        };
        let old_fields = scanned.as_ref().map(|(old, value)| fields(old, value)).unwrap_or_default();
        let text_of = |range: &Range<usize>| old.map_or("", |old| &old[range.clone()]);
        let old_lens = old_fields.iter().find(|field| field.name == "lens").map(|field| text_of(&field.value));
        let (optics, mut changes) = self.optics(old_lens, desc, flight)?;
        let kind = if flight.waypoints.len() == 1 { "LookAt" } else { "Spline" };
        let same = scanned.as_ref().filter(|(old, value)| head(old, value) == kind);
        let mut own: Changes = match flight.waypoints.as_slice() {
            [only] => vec![("eye", Some(point(only.eye))), ("target", Some(point(only.target)))],
            all => {
                let mut own: Changes = vec![("target", None), ("clear_of", None)];
                own.extend(pace(flight.pace).map(|pace| ("pace", pace)));
                // Existing keys keep the indentation of their line.
                let keys = old_fields.iter().find(|field| field.name == "keys" && same.is_some());
                let indent = keys.and_then(|keys| old.map(|old| indent_of(old, keys.start)));
                let indent = indent.filter(|indent| !indent.is_empty()).map(str::to_owned);
                let indent = indent.unwrap_or_else(|| format!("{}{}", self.indent, self.step));
                own.push(("keys", Some(self.keys(all, &optics, &indent))));
                own
            }
        };
        if let Some((old, _)) = same {
            changes.append(&mut own);
            return with_fields(old, &changes);
        }
        // A camera of another kind is written from scratch.
        let mut written: Vec<(&str, String)> = Vec::new();
        for name in SHARED {
            let changed = changes.iter().find(|(field, _)| *field == name);
            let kept = old_fields.iter().find(|field| field.name == name).map(|field| text_of(&field.value));
            let value = changed.map_or_else(|| kept.map(str::to_owned), |(_, value)| value.clone());
            written.extend(value.map(|value| (name, value)));
        }
        let own = own.into_iter().filter_map(|(name, value)| Some((name, value?)));
        match kind {
            "LookAt" => written.splice(0..0, own).for_each(drop),
            _ => written.extend(own),
        }
        Some(self.written(kind, &written))
    }

    fn written(&self, kind: &str, fields: &[(&str, String)]) -> String {
        let Self { indent, step, newline, .. } = self;
        let line: Vec<String> = fields.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let one_line = format!("{kind}({})", line.join(", "));
        if !one_line.contains('\n') && indent.len() + one_line.len() <= LONGEST_LINE {
            return one_line;
        }
        let lines: String = line.iter().map(|field| format!("{indent}{step}{field},{newline}")).collect();
        format!("{kind}({newline}{lines}{indent})")
    }

    fn keys(&self, waypoints: &[Waypoint], optics: &Kinds, indent: &str) -> String {
        let Self { step, newline, .. } = self;
        let key = |waypoint: &Waypoint| {
            let mut key = format!("eye: {}, target: {}", point(waypoint.eye), point(waypoint.target));
            if let Some(time) = waypoint.time {
                key += &format!(", time: {}", double(time));
            }
            for (name, value) in [
                ("roll", waypoint.roll),
                ("fov", waypoint.fov.filter(|_| optics.is_perspective)),
                ("height", waypoint.height.filter(|_| optics.is_orthographic)),
                ("f_stop", waypoint.f_stop.filter(|_| optics.aperture == Some("f_stop"))),
                ("radius", waypoint.radius.filter(|_| optics.aperture == Some("radius"))),
                ("focus", waypoint.focus.filter(|_| optics.aperture.is_some())),
            ] {
                if let Some(value) = value {
                    key += &format!(", {name}: {}", number(value));
                }
            }
            format!("{indent}{step}({key}),{newline}")
        };
        let keys: String = waypoints.iter().map(key).collect();
        format!("[{newline}{keys}{indent}]")
    }

    /// The new camera's optics, and the fields of the old camera that change for them.
    fn optics(&self, old_lens: Option<&str>, desc: Option<&CameraDesc>, flight: &Flight) -> Option<(Kinds, Changes)> {
        let mut wanted = flight.optics;
        if let [only] = flight.waypoints.as_slice() {
            wanted.fov = only.fov.or(wanted.fov);
            wanted.height = only.height.or(wanted.height);
            wanted.f_stop = only.f_stop.or(wanted.f_stop);
            wanted.radius = only.radius.or(wanted.radius);
            wanted.focus = only.focus.or(wanted.focus);
        }
        let old = desc.map(CameraDesc::optics);
        let projection = old.map(|old| old.projection).unwrap_or_default();
        let is_orthographic = matches!(projection, ProjectionDesc::Orthographic(_));
        let mut changes: Changes = Vec::new();
        changes.extend(wanted.fov.map(|fov| ("fov", Some(number(fov)))));
        if let Some(up) = wanted.up {
            changes.extend([("up", Some(point(up))), ("roll", None)]);
        } else if let [Waypoint { roll: Some(roll), .. }] = flight.waypoints.as_slice() {
            changes.push(("roll", Some(number(*roll))));
        }
        // A view from a waypoint has a height if the camera has one.
        let height = flight.optics.height.or(wanted.height.filter(|_| is_orthographic));
        changes.extend(height.map(|height| ("projection", Some(format!("orthographic(height: {})", number(height))))));
        let old_lens = old_lens.filter(|_| old.is_some_and(|old| old.lens.is_some()));
        let first =
            |of: fn(&Waypoint) -> Option<f32>| flight.waypoints.iter().find_map(of).filter(|_| old_lens.is_none());
        let (f_stop, radius) = match (wanted.f_stop, wanted.radius) {
            (None, None) => (first(|waypoint| waypoint.f_stop), first(|waypoint| waypoint.radius)),
            given => given,
        };
        let mut lens: Changes = Vec::new();
        let aperture = match (f_stop, radius, old.and_then(|old| old.lens)) {
            (Some(0.0), ..) | (None, Some(0.0), _) => None,
            (Some(value), ..) => {
                lens.extend([("radius", None), ("f_stop", Some(number(value)))]);
                if old.and_then(|old| old.lens).is_none_or(|lens| lens.f_stop.is_none()) {
                    lens.push(("sensor", Some(number(self.sensor))));
                }
                Some("f_stop")
            }
            (None, Some(value), _) => {
                lens.extend([("f_stop", None), ("radius", Some(number(value)))]);
                Some("radius")
            }
            (None, None, Some(own)) => Some(if own.f_stop.is_some() { "f_stop" } else { "radius" }),
            (None, None, None) => None,
        };
        lens.extend(wanted.focus.map(|focus| ("focus", Some(number(focus)))));
        match (aperture, old_lens) {
            (None, None) => {}
            (None, Some(_)) => changes.push(("lens", None)),
            (Some(_), Some(_)) if lens.is_empty() => {}
            (Some(_), old_lens) => changes.push(("lens", Some(with_fields(old_lens.unwrap_or("()"), &lens)?))),
        }
        let is_orthographic = is_orthographic || height.is_some();
        let is_perspective = matches!(projection, ProjectionDesc::Perspective) && !is_orthographic;
        Some((Kinds { is_perspective, is_orthographic, aperture }, changes))
    }
}

/// The kind of optics that a camera has.
struct Kinds {
    is_perspective: bool,
    is_orthographic: bool,
    /// The name of the lens's aperture field; `None` for a pinhole.
    aperture: Option<&'static str>,
}

/// The new text of the pace: `None` to keep it, `Some(None)` to remove it.
fn pace(pace: PaceChoice) -> Option<Option<String>> {
    match pace {
        PaceChoice::Keep => None,
        PaceChoice::ByTimes => Some(None),
        PaceChoice::Constant => Some(Some("constant".to_owned())),
        PaceChoice::Smooth => Some(Some("smooth".to_owned())),
        PaceChoice::Bezier(points) => Some(Some(format!("bezier({})", points.map(number).join(", ")))),
    }
}

#[cfg(test)]
mod tests;
