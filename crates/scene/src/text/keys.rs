//! Values that change over time, in the text of a scene file: `keys([(0, 0.5), (4, -1, ease: smooth)], ends: loop)`.
//!
//! The file at a given time is its text, with each `keys(..)` replaced by its value at that time. Any kind of value may therefore have
//! keys, and every value is checked by one code path. Tracks that must be known for all times at once, for example visibility, are replaced
//! by a [`TrackDesc`](crate::desc::TrackDesc) instead.

use super::source::{Items, Step, Value};
use crate::{Ease, Ends, Key, Position, Track, desc::Color};
use glam::Vec4;
use std::{fmt::Write, ops::Range};

/// Sections whose values may have keys.
const SECTIONS: [&str; 6] = ["environment", "lights", "materials", "air", "camera", "cameras"];
/// Settings of `render` that may have keys.
const SETTINGS: [&str; 2] = ["exposure", "white_balance"];
/// Fields of motions and placements that may have keys.
const TRACKS: [&str; 3] = ["visible", "distance", "amount"];

/// All `keys(..)` of a text, in order.
#[derive(Clone, Debug, Default)]
pub struct Keys(Vec<Keyed>);

/// A value with keys.
#[derive(Clone, Debug)]
struct Keyed {
    span: Range<usize>,
    /// The section that contains the value; for `render`, the field.
    section: String,
    values: Values,
    /// Whether the value is replaced by its whole track.
    whole: bool,
}

#[derive(Clone, Debug)]
enum Values {
    /// Numbers, colours and points with this number of components; 0 for plain numbers.
    Numbers(Track<Vec4>, usize),
    /// Names and other words.
    Words(Track<()>, Vec<Word>),
}

/// A word in a key, and its position.
#[derive(Clone, Debug)]
struct Word {
    at: usize,
    text: String,
}

/// Interpolation between keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    /// As specified by the keys.
    Exact,
    /// As specified, but each component is clamped to its range at the keys. It is then as valid as the keys are.
    Bounded,
    /// The value of the previous key.
    Stepped,
}

/// An error in `keys(..)`: its byte position in the text, and a sentence about it.
pub type Fault = (usize, String);

impl Keys {
    /// Finds all `keys(..)` in the text of a scene file.
    ///
    /// # Errors
    /// The first that is malformed, or at a position where values cannot change.
    pub fn find(text: &str) -> Result<Self, Fault> {
        let mut found = Self::default();
        if text.contains("keys")
            && let Some(root) = Value::of_file(text)
        {
            found.search(text, &root, &mut Vec::new())?;
        }
        Ok(found)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a value of `section` has keys.
    pub fn has(&self, section: &str) -> bool {
        self.0.iter().any(|keyed| !keyed.whole && keyed.section == section)
    }

    /// The times of all keys of values that change the scene's tables, ascending.
    pub fn times(&self) -> Vec<f64> {
        let of = |keyed: &Keyed| match &keyed.values {
            Values::Numbers(track, _) => track.keys.iter().map(|key| key.time).collect::<Vec<_>>(),
            Values::Words(track, _) => track.keys.iter().map(|key| key.time).collect(),
        };
        let mut times: Vec<f64> = self.0.iter().filter(|keyed| !keyed.whole).flat_map(of).collect();
        times.sort_unstable_by(f64::total_cmp);
        times.dedup();
        times
    }

    /// The text with all values at `time`, in seconds.
    pub fn text_at(&self, text: &str, time: f64, course: Course) -> String {
        let mut out = String::with_capacity(text.len());
        let mut end = 0;
        for keyed in &self.0 {
            out.push_str(&text[end..keyed.span.start]);
            keyed.write(time, course, &mut out);
            end = keyed.span.end;
        }
        out.push_str(&text[end..]);
        out
    }

    /// Maps a byte of [`Self::text_at`] back to `text`. A byte in the value of a track of numbers is mapped to the start of the track.
    pub fn origin(&self, time: f64, at: usize) -> usize {
        let (mut from, mut to) = (0, 0);
        for keyed in &self.0 {
            let mut value = String::new();
            keyed.write(time, Course::Exact, &mut value);
            let start = to + (keyed.span.start - from);
            if at < start {
                break;
            }
            if at <= start + value.len() {
                return keyed.word_at(time).map_or(keyed.span.start, |word| word.at + (at - start));
            }
            (from, to) = (keyed.span.end, start + value.len());
        }
        from + (at - to)
    }

    /// The sections of `text` that have keys, as a separate scene file, and their keys.
    pub fn extract(&self, text: &str) -> (String, Self) {
        let root = Value::of_file(text);
        let sections = match root.as_ref().map(|root| &root.items) {
            Some(Items::Keyed(sections)) => &sections[..],
            _ => &[],
        };
        let mut out = "(".to_owned();
        let mut keys = Vec::new();
        for (name, value) in sections {
            let own = self.0.iter().filter(|keyed| value.span.contains(&keyed.span.start));
            let own: Vec<&Keyed> = own.filter(|keyed| !keyed.whole).collect();
            if own.is_empty() {
                continue;
            }
            // Writing to memory does not fail.
            let _ = write!(out, "{name}: ");
            let moved = |at: usize| at - value.span.start + out.len();
            keys.extend(own.iter().map(|keyed| Keyed {
                span: moved(keyed.span.start)..moved(keyed.span.end),
                values: keyed.values.moved(moved),
                ..(*keyed).clone()
            }));
            out.push_str(&text[value.span.clone()]);
            out.push_str(", ");
        }
        out.push_str("meshes: {}, instances: [])");
        (out, Self(keys))
    }

    fn search<'a>(&mut self, text: &str, value: &'a Value, way: &mut Vec<Step<'a>>) -> Result<(), Fault> {
        if is_keys(text, value) {
            self.0.push(read(text, value, way)?);
            return Ok(());
        }
        let (plain, keyed): (&[Value], &[(String, Value)]) = match &value.items {
            Items::None => (&[], &[]),
            Items::Keyed(keyed) => (&[], keyed),
            Items::Plain(plain) => (plain, &[]),
            Items::Mixed(plain, keyed) => (plain, keyed),
        };
        for (index, inner) in plain.iter().enumerate() {
            way.push(Step::Index(index));
            self.search(text, inner, way)?;
            way.pop();
        }
        for (key, inner) in keyed {
            way.push(Step::Key(key));
            self.search(text, inner, way)?;
            way.pop();
        }
        Ok(())
    }
}

fn is_keys(text: &str, value: &Value) -> bool {
    let head = text[value.span.clone()].strip_prefix("keys");
    head.is_some_and(|rest| rest.trim_start().starts_with('('))
}

/// Reads the `keys(..)` at the end of `way`.
fn read(text: &str, value: &Value, way: &[Step]) -> Result<Keyed, Fault> {
    let fail = |at: &Value, message: &str| Err((at.span.start, message.to_owned()));
    let key = |step: Option<&Step>| match step {
        Some(Step::Key(key)) => (*key).to_owned(),
        _ => String::new(),
    };
    let (mut section, field) = (key(way.first()), key(way.last()));
    let whole = ["instances", "groups", "motions"].contains(&&*section) && TRACKS.contains(&&*field);
    if section == "render" && way.len() == 2 && SETTINGS.contains(&&*field) {
        section = field;
    } else if !whole && !SECTIONS.contains(&&*section) {
        return fail(
            value,
            "`keys` cannot stand here: environment, lights, materials, air, cameras, exposure and white balance change over time, and \
             `visible` of placements; things move by `motion`",
        );
    }
    let (list, fields): (&[Value], &[(String, Value)]) = match &value.items {
        Items::Plain(list) => (list, &[]),
        Items::Mixed(list, fields) => (list, fields),
        _ => (&[], &[]),
    };
    let keys = match list {
        [list] => match &list.items {
            Items::Plain(keys) if text[list.span.clone()].starts_with('[') => keys,
            _ => return fail(list, "there are no keys: write keys([(time, value), (time, value, ease: smooth)])"),
        },
        _ => return fail(value, "there are no keys: write keys([(time, value), (time, value, ease: smooth)])"),
    };
    let ends = match fields {
        [] => Ends::Hold,
        [(name, ends)] if name == "ends" => match parsed(text, ends) {
            Some(ends) => ends,
            None => return fail(ends, "`ends` are hold, loop or ping_pong"),
        },
        [(_, other), ..] => return fail(other, "`keys` have a list and maybe `ends: loop`"),
    };
    let mut times = Vec::new();
    let mut values = Vec::new();
    for key in keys {
        let (time, value, ease) = entry(text, key)?;
        if times.last().is_some_and(|(before, _)| time <= *before) {
            return fail(key, "key times must increase: sort the keys");
        }
        times.push((time, ease));
        values.push(value);
    }
    let values = gather(text, &times, &values, ends)?;
    Ok(Keyed { span: value.span.clone(), section, values, whole })
}

/// Time, value and easing of one key.
fn entry<'a>(text: &str, key: &'a Value) -> Result<(f64, &'a Value, Option<Ease>), Fault> {
    let form = || (key.span.start, "a key is (time, value) or (time, value, ease: smooth)".to_owned());
    let (parts, fields): (&[Value], &[(String, Value)]) = match &key.items {
        Items::Plain(parts) => (parts, &[]),
        Items::Mixed(parts, fields) => (parts, fields),
        _ => return Err(form()),
    };
    let ([time, value], [] | [_]) = (parts, fields) else {
        return Err(form());
    };
    let seconds = parsed::<f64>(text, time).filter(|time| time.is_finite());
    let seconds = seconds.ok_or((time.span.start, "the time must be a number of seconds".to_owned()))?;
    let ease = match fields.first() {
        None => None,
        Some((name, ease)) if name == "ease" => Some(ease_of(text, ease)?),
        Some((_, other)) => return Err((other.span.start, "a key has a time, a value and maybe `ease`".to_owned())),
    };
    Ok((seconds, value, ease))
}

fn ease_of(text: &str, value: &Value) -> Result<Ease, Fault> {
    let own = &text[value.span.clone()];
    let head = own.split('(').next().unwrap_or_default().trim_end();
    let points: Option<[f32; 4]> = match &value.items {
        Items::Plain(points) if points.len() == 4 => {
            let points = points.iter().filter_map(|point| parsed(text, point));
            points.collect::<Vec<f32>>().try_into().ok()
        }
        _ => None,
    };
    let ease = match (head, points) {
        ("step", _) => Some(Ease::Step),
        ("linear", _) => Some(Ease::Linear),
        ("smooth", _) => Some(Ease::Smooth),
        ("catmull_rom", _) => Some(Ease::CatmullRom),
        ("bezier", Some(p)) if [p[0], p[2]].iter().all(|x| (0.0..=1.0).contains(x)) => Some(Ease::Bezier(p)),
        _ => None,
    };
    ease.ok_or_else(|| {
        let message =
            "an ease is step, linear, smooth, catmull_rom, or bezier(x1, y1, x2, y2) as CSS has it, with x1 and x2 from 0 to 1";
        (value.span.start, message.to_owned())
    })
}

/// Creates a track from values, which must all be of one kind.
fn gather(text: &str, times: &[(f64, Option<Ease>)], values: &[&Value], ends: Ends) -> Result<Values, Fault> {
    let mut numbers: Vec<(Vec4, usize)> = Vec::new();
    for value in values {
        if let Some(wrong) = not_finite(text, value) {
            return Err((
                wrong.span.start,
                format!("`{}` is no value: write a finite number", &text[wrong.span.clone()]),
            ));
        }
        match numbers_of(text, value) {
            Some(own) if numbers.first().is_none_or(|first| first.1 == own.1) => numbers.push(own),
            None if numbers.is_empty() => break,
            _ => return Err((value.span.start, "all keys must have values of one kind".to_owned())),
        }
    }
    if numbers.len() == values.len() {
        let keys = times.iter().zip(&numbers);
        let keys = keys.map(|(&(time, ease), &(value, _))| Key { time, value, ease: ease.unwrap_or_default() });
        return Ok(Values::Numbers(Track { keys: keys.collect(), ends }, numbers[0].1));
    }
    if let Some(value) = values.iter().find(|value| numbers_of(text, value).is_some()) {
        return Err((value.span.start, "all keys must have values of one kind".to_owned()));
    }
    if let Some(index) = times.iter().position(|(_, ease)| ease.is_some_and(|ease| ease != Ease::Step)) {
        return Err((values[index].span.start, "such values change in steps: leave out `ease`".to_owned()));
    }
    let keys = times.iter().map(|&(time, _)| Key { time, value: (), ease: Ease::Step });
    let words = values.iter().map(|value| Word { at: value.span.start, text: text[value.span.clone()].to_owned() });
    Ok(Values::Words(Track { keys: keys.collect(), ends }, words.collect()))
}

/// The value, or the part of a tuple, that is NaN or infinite in any notation.
fn not_finite<'a>(text: &str, value: &'a Value) -> Option<&'a Value> {
    let is_wrong = |value: &Value| text[value.span.clone()].parse::<f32>().is_ok_and(|number| !number.is_finite());
    match &value.items {
        Items::Plain(parts) => parts.iter().find(|part| is_wrong(part)),
        _ => Some(value).filter(|value| is_wrong(value)),
    }
}

/// Parses a number, a tuple of two to four numbers or a colour. Also returns the number of components; 0 for a plain number.
fn numbers_of(text: &str, value: &Value) -> Option<(Vec4, usize)> {
    let own = &text[value.span.clone()];
    if let Items::Plain(parts) = &value.items {
        let parts: Option<Vec<f32>> = parts.iter().map(|part| parsed(text, part)).collect();
        let parts = parts.filter(|parts| own.starts_with('(') && (2..=4).contains(&parts.len()))?;
        let at = |i: usize| parts.get(i).copied().unwrap_or_default();
        return Some((Vec4::new(at(0), at(1), at(2), at(3)), parts.len()));
    }
    if own.starts_with("\"#") {
        let Color(color) = parsed(text, value)?;
        return Some((color.extend(0.0), 3));
    }
    parsed::<f32>(text, value).map(|x| (Vec4::splat(x), 0))
}

fn parsed<T: serde::de::DeserializeOwned>(text: &str, value: &Value) -> Option<T> {
    ron::from_str(&text[value.span.clone()]).ok()
}

impl Values {
    /// The values with their positions mapped to another text.
    fn moved(&self, moved: impl Fn(usize) -> usize) -> Self {
        match self {
            Self::Words(track, words) => {
                let words = words.iter().map(|word| Word { at: moved(word.at), ..word.clone() });
                Self::Words(track.clone(), words.collect())
            }
            numbers => numbers.clone(),
        }
    }
}

impl Keyed {
    /// The word for this value at `time`; none if the value is a number, or is replaced by its whole track.
    fn word_at(&self, time: f64) -> Option<&Word> {
        match &self.values {
            Values::Words(track, words) if !self.whole => {
                let (Position::At(key) | Position::Between(key, _)) = track.position(time);
                words.get(key)
            }
            _ => None,
        }
    }

    fn write(&self, time: f64, course: Course, out: &mut String) {
        if self.whole {
            return self.write_whole(out);
        }
        match &self.values {
            Values::Words(..) => out.push_str(self.word_at(time).map_or("", |word| &word.text)),
            Values::Numbers(track, count) => write_numbers(value_at(track, time, course), *count, out),
        }
    }

    /// Writes the whole track: `(keys: [(0.0, true, step), ..], ends: hold)`.
    fn write_whole(&self, out: &mut String) {
        let ends = match &self.values {
            Values::Numbers(track, count) => {
                out.push_str("(keys: [");
                for key in &track.keys {
                    let _ = write!(out, "({:?}, ", key.time);
                    write_numbers(key.value, *count, out);
                    let _ = write!(out, ", {}), ", ease_name(key.ease));
                }
                track.ends
            }
            Values::Words(track, words) => {
                out.push_str("(keys: [");
                for (key, Word { text: word, .. }) in track.keys.iter().zip(words) {
                    let _ = write!(out, "({:?}, {word}, step), ", key.time);
                }
                track.ends
            }
        };
        let _ = write!(out, "], ends: {ends})");
    }
}

fn value_at(track: &Track<Vec4>, seconds: f64, course: Course) -> Vec4 {
    let values = || track.keys.iter().map(|key| key.value);
    match course {
        Course::Exact => track.at(seconds),
        Course::Bounded => {
            let (low, high) = (values().reduce(Vec4::min), values().reduce(Vec4::max));
            track.at(seconds).max(low.unwrap_or_default()).min(high.unwrap_or_default())
        }
        Course::Stepped => {
            let (Position::At(key) | Position::Between(key, _)) = track.position(seconds);
            track.keys[key].value
        }
    }
}

fn write_numbers(value: Vec4, count: usize, out: &mut String) {
    let parts = &value.to_array()[..count.max(1)];
    let parts: Vec<String> = parts.iter().map(|x| format!("{x:?}")).collect();
    // Writing to memory does not fail.
    let _ = match count {
        0 => write!(out, "{}", parts[0]),
        _ => write!(out, "({})", parts.join(", ")),
    };
}

fn ease_name(ease: Ease) -> String {
    match ease {
        Ease::Step => "step".to_owned(),
        Ease::Linear => "linear".to_owned(),
        Ease::Smooth => "smooth".to_owned(),
        Ease::CatmullRom => "catmull_rom".to_owned(),
        Ease::Bezier([a, b, c, d]) => format!("bezier({a:?}, {b:?}, {c:?}, {d:?})"),
    }
}

#[cfg(test)]
mod tests;
