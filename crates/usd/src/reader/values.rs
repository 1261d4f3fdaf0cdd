//! Typed reading of attributes and relationships, at the first time or over time.
//!
//! `openusd` gives fallbacks of schemas only for schemas that it has; the callers give those of UsdGeom, UsdShade and UsdLux. A value of the
//! wrong type, or one that is not finite, becomes one warning and then the fallback.

pub use super::convert::FromUsd;
use super::{files::Files, open::Opened, warnings::Warnings};
use crate::{Sampled, Times};
use openusd::{
    sdf::{self, Value, ValueKind},
    tf::Token,
    usd::{Attribute, Prim, Stage, TimeCode},
};
use std::{cell::RefCell, collections::HashSet, path::PathBuf, rc::Rc, sync::Arc};

/// Reads values of a stage.
pub struct Values {
    stage: Stage,
    times: Times,
    files: Rc<Files>,
    warnings: Rc<Warnings>,
    /// Names of the properties that layers write on the prim that was asked for last. Most reads are of attributes that no layer has.
    authored: RefCell<(sdf::Path, HashSet<Token>)>,
}

/// A file that an attribute names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssetRef {
    /// The path as written in the layer.
    pub authored: String,
    /// The path relative to the layer that has it, whether or not a file is there. For a file in a package, `package.usdz[file]`.
    pub anchored: String,
    /// Whether the file exists and may be read.
    pub exists: bool,
}

impl AssetRef {
    /// The path of the file; for a file in a package, a path below that of the package.
    pub fn path(&self) -> PathBuf {
        match self.anchored.strip_suffix(']').and_then(|path| path.split_once('[')) {
            Some((package, file)) => PathBuf::from(package).join(file),
            None => PathBuf::from(&self.anchored),
        }
    }

    /// Whether the file is in a package.
    pub fn is_packaged(&self) -> bool {
        self.anchored.ends_with(']') && self.anchored.contains(".usdz[")
    }
}

impl Values {
    /// A reader of the stage's values.
    pub fn new(opened: &Opened, times: Times, warnings: Rc<Warnings>) -> Self {
        let authored = RefCell::new((sdf::Path::default(), HashSet::new()));
        Self { stage: opened.stage.clone(), times, files: opened.files.clone(), warnings, authored }
    }

    /// The composed stage.
    pub fn stage(&self) -> &Stage {
        &self.stage
    }

    /// The files that the stage may read.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// The stage's range of time and rate.
    pub fn times(&self) -> Times {
        self.times
    }

    /// Adds a warning, which names the prim and what is done instead.
    pub fn warn(&self, line: impl Into<String>) {
        self.warnings.add(line);
    }

    /// The prim at a path. `None` if the stage has no such prim.
    pub fn prim(&self, path: &sdf::Path) -> Option<Prim> {
        self.stage.prim(path.clone()).ok().filter(|prim| prim.is_valid().unwrap_or(false))
    }

    /// The type of a prim; empty if it has none.
    pub fn type_name(&self, prim: &Prim) -> Token {
        prim.type_name().ok().flatten().unwrap_or_default()
    }

    /// Whether a layer has the property.
    pub fn has(&self, prim: &Prim, name: &str) -> bool {
        let cache = &mut *self.authored.borrow_mut();
        if cache.0 != *prim.path() {
            let names = prim.authored_property_names().unwrap_or_default();
            *cache = (prim.path().clone(), names.into_iter().collect());
        }
        cache.1.contains(&Token::from(name))
    }

    /// Whether a layer has a property whose name begins like this.
    pub fn has_prefix(&self, prim: &Prim, prefix: &str) -> bool {
        self.has(prim, prefix) || self.authored.borrow().1.iter().any(|name| name.as_str().starts_with(prefix))
    }

    /// Names of all properties that layers write on the prim, in order.
    pub fn names(&self, prim: &Prim) -> Vec<Token> {
        prim.authored_property_names().unwrap_or_default()
    }

    /// The value at the first time: that of the range's start, otherwise the default or the first sample. `None` if there is no value, or
    /// after a warning about its type.
    pub fn get<T: FromUsd>(&self, prim: &Prim, name: &str) -> Option<T> {
        self.checked(prim, name, self.value(prim, name, None)?)
    }

    /// The value at a time.
    pub fn get_at<T: FromUsd>(&self, prim: &Prim, name: &str, time: f64) -> Option<T> {
        self.checked(prim, name, self.value(prim, name, Some(time))?)
    }

    /// As [`Values::get`], but numbers may be infinite or NaN.
    pub fn get_any<T: FromUsd>(&self, prim: &Prim, name: &str, time: Option<f64>) -> Option<T> {
        self.converted(prim, name, self.value(prim, name, time)?)
    }

    /// As [`Values::get`], with a fallback.
    pub fn or<T: FromUsd>(&self, prim: &Prim, name: &str, fallback: T) -> T {
        self.get(prim, name).unwrap_or(fallback)
    }

    /// A number at the first time.
    pub fn f64(&self, prim: &Prim, name: &str, fallback: f64) -> f64 {
        self.or(prim, name, fallback)
    }

    /// A condition at the first time.
    pub fn bool(&self, prim: &Prim, name: &str, fallback: bool) -> bool {
        self.or(prim, name, fallback)
    }

    /// A token or string at the first time.
    pub fn token(&self, prim: &Prim, name: &str) -> Option<String> {
        self.get(prim, name)
    }

    /// The values over time: all samples in the stage's range, the last one before it and the first one after it. `None` if there is no
    /// value.
    pub fn sampled<T: FromUsd + PartialEq>(&self, prim: &Prim, name: &str) -> Option<Sampled<T>> {
        match self.samples(prim, name) {
            Some(samples) => {
                let checked = |(time, value)| self.checked(prim, name, value).map(|value| (time, value));
                compact(samples.into_iter().filter_map(checked).collect())
            }
            None => self.get(prim, name).map(Sampled::Still),
        }
    }

    /// The samples that [`Values::sampled`] reads, or one value without a time; numbers may be infinite or NaN.
    pub fn track<T: FromUsd>(&self, prim: &Prim, name: &str) -> Vec<(f64, T)> {
        match self.samples(prim, name) {
            Some(samples) => {
                let converted = |(time, value)| self.converted(prim, name, value).map(|value| (time, value));
                samples.into_iter().filter_map(converted).collect()
            }
            None => self.get_any(prim, name, None).map(|value| (f64::NEG_INFINITY, value)).into_iter().collect(),
        }
    }

    /// All samples in the range, if there are several.
    fn samples(&self, prim: &Prim, name: &str) -> Option<Vec<(f64, Value)>> {
        let times = self.sample_times(prim, name);
        if times.len() < 2 {
            return None;
        }
        // One read of all samples is much faster than one read for each, where a layer has samples and not a clip.
        if let Ok(Some(mut samples)) = prim.attribute(name).time_samples() {
            let wanted = |time: f64| times.binary_search_by(|known| known.total_cmp(&time)).is_ok();
            samples.retain(|(time, value)| wanted(*time) && is_value(value));
            return Some(samples);
        }
        Some(times.into_iter().filter_map(|time| Some((time, self.value(prim, name, Some(time))?))).collect())
    }

    /// Times of the samples that [`Values::sampled`] reads.
    pub fn sample_times(&self, prim: &Prim, name: &str) -> Vec<f64> {
        if !self.has(prim, name) {
            return Vec::new();
        }
        let mut times = prim.attribute(name).time_sample_times().unwrap_or_default();
        times.retain(|time| time.is_finite());
        self.within_range(times)
    }

    /// The times within the stage's range, the last one before it and the first one after it.
    pub fn within_range(&self, mut times: Vec<f64>) -> Vec<f64> {
        if let Some((start, end)) = self.times.range {
            let from = times.partition_point(|&time| time <= start).saturating_sub(1);
            let to = (times.partition_point(|&time| time < end) + 1).min(times.len());
            times.truncate(to);
            times.drain(..from.min(times.len()));
        }
        times
    }

    /// The file that an attribute names at the first time. `None` if it names none.
    pub fn asset(&self, prim: &Prim, name: &str) -> Option<AssetRef> {
        let path = match self.value(prim, name, None)? {
            Value::AssetPath(path) => path,
            Value::String(path) => sdf::AssetPath::new(path),
            Value::Token(path) => sdf::AssetPath::new(path.as_str()),
            other => {
                self.warn_type(prim, name, ValueKind::from(&other), "a path");
                return None;
            }
        };
        if path.is_empty() {
            return None;
        }
        let authored = path.asset_path().to_owned();
        let resolved = path.resolved_path().filter(|path| !path.is_empty());
        let anchored = resolved.map_or_else(|| self.anchor(prim, name, &authored), str::to_owned);
        Some(AssetRef { authored, anchored, exists: resolved.is_some() })
    }

    /// Content of a file in a package.
    pub fn packaged(&self, asset: &AssetRef) -> Option<Arc<[u8]>> {
        self.files.packaged(&asset.anchored)
    }

    /// The path relative to the layer with the strongest opinion.
    fn anchor(&self, prim: &Prim, name: &str, path: &str) -> String {
        let stack = prim.attribute(name).property_stack().unwrap_or_default();
        stack.first().map_or_else(|| path.to_owned(), |site| super::files::anchor(&site.layer, path))
    }

    /// Targets of a relationship, with targets that are relationships replaced by theirs.
    pub fn targets(&self, prim: &Prim, name: &str) -> Vec<sdf::Path> {
        if !self.has(prim, name) {
            return Vec::new();
        }
        prim.relationship(name).forwarded_targets().unwrap_or_default()
    }

    /// Paths of the attributes that an attribute is connected to.
    pub fn connections(&self, prim: &Prim, name: &str) -> Vec<sdf::Path> {
        if !self.has(prim, name) {
            return Vec::new();
        }
        prim.attribute(name).connections().unwrap_or_default()
    }

    /// A token in the metadata of an attribute, such as `interpolation` or `colorSpace`.
    pub fn metadata(&self, prim: &Prim, name: &str, key: &str) -> Option<String> {
        match prim.attribute(name).get_metadata::<Value>(key).ok().flatten()? {
            Value::Token(token) => Some(token.as_str().to_owned()),
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The name of an attribute's type, such as `texCoord2f[]`; empty if no layer has the attribute.
    pub fn attribute_type(&self, prim: &Prim, name: &str) -> String {
        let found = prim.attribute(name).type_name().ok().flatten();
        found.map(|name| name.to_string()).unwrap_or_default()
    }

    /// The value as `openusd` has it.
    pub fn value(&self, prim: &Prim, name: &str, time: Option<f64>) -> Option<Value> {
        if !self.has(prim, name) {
            return None;
        }
        let attribute = prim.attribute(name);
        let value = match time.or(self.times.range.map(|(start, _)| start)) {
            Some(time) => self.read(&attribute, Some(TimeCode::new(time))),
            None => self.read(&attribute, None).or_else(|| self.first_sample(&attribute)),
        };
        value.filter(is_value)
    }

    fn first_sample(&self, attribute: &Attribute) -> Option<Value> {
        (attribute.num_time_samples().ok()? > 0).then(|| self.read(attribute, Some(TimeCode::EARLIEST))).flatten()
    }

    fn read(&self, attribute: &Attribute, time: Option<TimeCode>) -> Option<Value> {
        attribute.get_at::<Value>(time).unwrap_or_else(|error| {
            self.warn(format!("{}: cannot be read ({error}); its fallback is used", attribute.path()));
            None
        })
    }

    fn converted<T: FromUsd>(&self, prim: &Prim, name: &str, value: Value) -> Option<T> {
        T::from_usd(value).map_err(|kind| self.warn_type(prim, name, kind, T::NAME)).ok()
    }

    fn checked<T: FromUsd>(&self, prim: &Prim, name: &str, value: Value) -> Option<T> {
        let value: T = self.converted(prim, name, value)?;
        if !value.all_finite() {
            self.warn(format!("{}.{name}: has a number that is not finite; its fallback is used", prim.path()));
            return None;
        }
        Some(value)
    }

    fn warn_type(&self, prim: &Prim, name: &str, kind: ValueKind, wanted: &str) {
        self.warn(format!("{}.{name}: is of type {kind:?}, not {wanted}; its fallback is used", prim.path()));
    }
}

/// Whether a value is one, and not a mark that there is none.
fn is_value(value: &Value) -> bool {
    !matches!(value, Value::None | Value::ValueBlock)
}

/// Samples as a [`Sampled`], without those in the middle of equal ones. `None` if there are none.
pub fn compact<T: PartialEq>(mut samples: Vec<(f64, T)>) -> Option<Sampled<T>> {
    samples.dedup_by(|later, earlier| later.0 <= earlier.0);
    let mut kept: Vec<(f64, T)> = Vec::with_capacity(samples.len());
    for sample in samples {
        if let [.., before, last] = &kept[..]
            && before.1 == last.1
            && last.1 == sample.1
        {
            kept.pop();
        }
        kept.push(sample);
    }
    if kept.len() == 2 && kept[0].1 == kept[1].1 {
        kept.pop();
    }
    match kept.len() {
        0 | 1 => kept.pop().map(|(_, value)| Sampled::Still(value)),
        _ => Some(Sampled::Moving(kept)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_in_the_middle_of_equal_ones_are_dropped() {
        let samples = [1, 1, 1, 2, 2, 2, 2, 3].into_iter().enumerate().map(|(time, value)| (time as f64, value));
        let kept = vec![(0.0, 1), (2.0, 1), (3.0, 2), (6.0, 2), (7.0, 3)];
        assert_eq!(compact(samples.collect()), Some(Sampled::Moving(kept)));
        assert_eq!(compact(vec![(0.0, 1), (1.0, 1), (2.0, 1)]), Some(Sampled::Still(1)));
        assert_eq!(compact::<i32>(Vec::new()), None);
    }
}
