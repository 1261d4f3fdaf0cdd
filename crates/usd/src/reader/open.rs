//! Opens a stage and reports what its composition complains about.

use super::{
    files::{self, Files, OPTIONS_LAYER, Resolver},
    options,
    warnings::Warnings,
};
use crate::{StageError, StageOptions, Times, UpAxis};
use openusd::{
    pcp::{ArcType, CompositionDiagnostic},
    sdf::Value,
    usd,
};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    rc::Rc,
};

/// An open stage.
pub struct Opened {
    /// The composed stage.
    pub stage: usd::Stage,
    /// Files that it may read.
    pub files: Rc<Files>,
    /// Its root layer, as the user named it.
    pub root: PathBuf,
}

/// Opens the stage, with the variants of the options.
///
/// # Errors
/// If the root layer or its sublayers cannot be read, or if an option names nothing of the stage.
pub fn open(root: &Path, options: &StageOptions) -> Result<Opened, StageError> {
    let name = root.to_str().ok_or_else(|| StageError::new(root, "its name is not UTF-8; rename the file"))?;
    std::fs::File::open(root).map_err(|error| StageError::new(root, format!("cannot be read: {error}")))?;
    let files = Rc::new(Files::new(root, &options.allow));
    let text = options::layer(root, &options.variants)?;
    let mut builder = usd::Stage::builder().resolver(Resolver::new(files.clone(), text));
    if !options.variants.is_empty() {
        builder = builder.session_layer(OPTIONS_LAYER);
    }
    let stage = builder.open(name).map_err(|error| located(root, &error.to_string()))?;
    options.variants.iter().try_for_each(|choice| options::check_variant(root, &stage, choice))?;
    Ok(Opened { stage, files, root: root.into() })
}

impl Opened {
    /// Reports complaints of composition so far: missing payloads and dropped targets are warnings. Returns the missing payloads.
    ///
    /// Composition is lazy, so this is called after all prims were visited.
    ///
    /// # Errors
    /// If a file was refused by the rule about folders, or if a part of the stage is missing.
    pub fn check_composition(&self, warnings: &Warnings) -> Result<Vec<String>, StageError> {
        if let Some(message) = refusal(&self.files.refused()) {
            return Err(StageError::new(&self.root, message));
        }
        self.files.remarks().into_iter().for_each(|remark| warnings.add(remark));
        let complaints = self.stage.composition_errors();
        complaints.iter().try_for_each(|complaint| self.check(complaint, warnings))?;
        Ok(complaints.iter().filter_map(missing_payload).map(str::to_owned).collect())
    }

    fn check(&self, complaint: &CompositionDiagnostic, warnings: &Warnings) -> Result<(), StageError> {
        use CompositionDiagnostic as D;
        match complaint {
            D::UnresolvedLayer { asset_path, arc: ArcType::Payload, site_path, .. } => {
                warnings.add(format!("{site_path}: its payload {asset_path} does not exist; it is left out"));
                Ok(())
            }
            D::UnresolvedLayer { asset_path, introduced_by, site_path, arc } => {
                let message = format!("{site_path}: {} {asset_path} does not exist", arc_name(*arc));
                Err(self.at_mention(introduced_by, asset_path, message))
            }
            D::UnresolvedSublayer { asset_path, introduced_by } => {
                Err(self.at_mention(introduced_by, asset_path, format!("sublayer {asset_path} does not exist")))
            }
            D::UnresolvedPrimPath { target_layer, prim_path, introduced_by, site_path, .. } => {
                let message = format!("{site_path}: {target_layer} has no prim {prim_path}");
                Err(self.at_mention(introduced_by, prim_path.as_str(), message))
            }
            D::MalformedLayer { asset_path, reason, .. }
            | D::MalformedSublayer { asset_path, reason, .. }
            | D::UnreadableClip { asset_path, reason, .. } => Err(located(&files::file_of(asset_path), reason)),
            D::SublayerCycle { root_layer, seen_layer } => {
                let message = format!("its sublayers include {seen_layer} again; remove one of them");
                Err(StageError::new(&files::file_of(root_layer), message))
            }
            D::ArcCycle(_)
            | D::UnresolvedDefaultPrim { .. }
            | D::InvalidPrimPath { .. }
            | D::InvalidExpression { .. } => Err(StageError::new(&self.root, complaint.to_string())),
            // The rest drops single opinions that USD drops as well, and only tells so.
            other => {
                warnings.add(other.to_string());
                Ok(())
            }
        }
    }

    /// An error at the line of a text layer that mentions `name`, if it can be found.
    fn at_mention(&self, layer: &str, name: &str, message: String) -> StageError {
        let file = files::file_of(layer);
        let file = if file.is_file() { file } else { self.root.clone() };
        let needle = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let place = mention(&file, needle);
        StageError { file, place, message }
    }

    /// Files of all layers that were read, the root layer first.
    pub fn layers(&self) -> Vec<PathBuf> {
        let mut layers = Vec::new();
        let identifiers = self.stage.layer_identifiers();
        for file in identifiers.iter().filter(|name| *name != OPTIONS_LAYER).map(|name| files::file_of(name)) {
            // Layers of a package are one file; they follow one another, except that another layer may stand between.
            if layers.last() != Some(&file) && !(is_package(&file) && layers.contains(&file)) {
                layers.push(file);
            }
        }
        layers
    }

    /// The axis that points up.
    pub fn up_axis(&self, warnings: &Warnings) -> UpAxis {
        match self.metadata("upAxis").and_then(Value::try_as_token) {
            Some(axis) if axis.as_str() == "Z" => UpAxis::Z,
            Some(axis) if axis.as_str() != "Y" => {
                warnings.add(format!("upAxis = \"{}\" is neither Y nor Z; Y is used", axis.as_str()));
                UpAxis::Y
            }
            _ => UpAxis::Y,
        }
    }

    /// Length of a unit; USD's default is a centimetre.
    pub fn meters_per_unit(&self, warnings: &Warnings) -> f64 {
        match self.metadata("metersPerUnit").and_then(number) {
            Some(length) if length.is_finite() && length > 0.0 => length,
            Some(length) => {
                warnings.add(format!("metersPerUnit = {length} is no length; 0.01 is used"));
                0.01
            }
            None => 0.01,
        }
    }

    /// The range of time and its rate. Old files call the range `startFrame` and `endFrame`.
    pub fn times(&self, warnings: &Warnings) -> Times {
        let find = |names: [&str; 2]| names.iter().find_map(|name| self.metadata(name).and_then(number));
        let start = find(["startTimeCode", "startFrame"]);
        let end = find(["endTimeCode", "endFrame"]);
        let range = start.zip(end).filter(|(start, end)| start.is_finite() && end.is_finite());
        if let Some((start, end)) = range.filter(|(start, end)| start > end) {
            warnings.add(format!("the time range from {start} to {end} ends before it starts; only {start} is used"));
        }
        let range = range.map(|(start, end)| (start, end.max(start)));
        let per_second = self.stage.time_codes_per_second();
        if !(per_second.is_finite() && per_second > 0.0) {
            warnings.add(format!("timeCodesPerSecond = {per_second} is no rate; 24 is used"));
            return Times { range, per_second: 24.0 };
        }
        Times { range, per_second }
    }

    fn metadata(&self, name: &str) -> Option<Value> {
        self.stage.stage_metadata(name).ok().flatten()
    }
}

/// The error about files that were refused, with all folders that they are in.
fn refusal(files: &[PathBuf]) -> Option<String> {
    let first = files.first()?.display();
    let folders: BTreeSet<&Path> = files.iter().map(|file| file.parent().unwrap_or(file)).collect();
    // A folder is permitted with all folders in it.
    let is_outer = |folder: &&&Path| !folder.ancestors().skip(1).any(|above| folders.contains(above));
    let flags: Vec<String> =
        folders.iter().filter(is_outer).map(|folder| format!("--allow-dir {}", folder.display())).collect();
    let (what, others) = match files.len() - 1 {
        0 => ("which is outside of its folder; permit it", String::new()),
        others => ("which are outside of its folder; permit them", format!(" and {others} more")),
    };
    Some(format!("reads {first}{others}, {what} with `{}`", flags.join(" ")))
}

fn missing_payload(complaint: &CompositionDiagnostic) -> Option<&str> {
    match complaint {
        CompositionDiagnostic::UnresolvedLayer { asset_path, arc: ArcType::Payload, .. } => Some(asset_path),
        _ => None,
    }
}

fn is_package(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("usdz"))
}

fn number(value: Value) -> Option<f64> {
    match value {
        Value::Double(value) => Some(value),
        Value::Float(value) => Some(value.into()),
        Value::Int(value) => Some(value.into()),
        Value::Int64(value) => Some(value as f64),
        Value::UnregisteredValue(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn arc_name(arc: ArcType) -> &'static str {
    match arc {
        ArcType::Payload => "payload",
        _ => "reference",
    }
}

/// Line and column of the first mention of the name in a text layer.
fn mention(file: &Path, name: &str) -> Option<(usize, usize)> {
    let bytes = std::fs::read(file).ok().filter(|bytes| bytes.starts_with(b"#usda"))?;
    let text = String::from_utf8(bytes).ok()?;
    let found = |(index, line): (usize, &str)| Some((index + 1, line[..line.find(name)?].chars().count() + 1));
    text.lines().enumerate().find_map(found)
}

/// An error from a message of `openusd`, which has the place in lines of its own: ` --> file:line:column`.
fn located(file: &Path, message: &str) -> StageError {
    let place = message.lines().find_map(|line| line.trim_start().strip_prefix("--> "));
    let numbers = place.map(|place| place.rsplitn(3, ':').filter_map(|part| part.trim().parse().ok()).collect());
    // A document may include the one with the fault.
    let document = place.and_then(|place| place.rsplitn(3, ':').nth(2)).filter(|file| files::is_document(file));
    let file = &document.map_or_else(|| file.to_path_buf(), files::file_of);
    let cause = message.lines().next().unwrap_or("cannot be read");
    let cause = cause.rsplit_once("error: ").map_or(cause, |(_, cause)| cause);
    let numbers: Vec<usize> = numbers.unwrap_or_default();
    match numbers[..] {
        [column, line, ..] => StageError { file: file.into(), place: Some((line, column)), message: plain(cause) },
        _ => StageError::new(file, plain(cause)),
    }
}

/// A message of `openusd` about a file that is no layer, in other words.
fn plain(cause: &str) -> String {
    const OTHERS: [(&str, &str); 5] = [
        ("magic token", "this is no USD text, which begins with `#usda 1.0`: check what the file is"),
        ("Unexpected end of tokens", "the text ends too early: the file is damaged, export it again"),
        ("failed to read pod", "the file is damaged or cut off: export it again"),
        (
            "no USD layer found",
            "the package has no layer of its own: pack it again with the root layer first, or open the package in it",
        ),
        ("Zip archive", "this is no .usdz package, or a damaged one: export it again"),
    ];
    let other = OTHERS.iter().find(|(part, _)| cause.contains(part));
    other.map_or_else(|| cause.to_owned(), |(_, message)| (*message).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_all_folders_once() {
        let told = |files: &[&str]| refusal(&files.iter().map(PathBuf::from).collect::<Vec<_>>()).unwrap_or_default();
        assert_eq!(
            told(&["/x/a.usd"]),
            "reads /x/a.usd, which is outside of its folder; permit it with `--allow-dir /x`"
        );
        assert_eq!(
            told(&["/x/b/c.usd", "/y/a.usd", "/x/a.usd", "/x/a2.usd"]),
            "reads /x/b/c.usd and 3 more, which are outside of its folder; permit them with `--allow-dir /x --allow-dir /y`"
        );
        assert_eq!(told(&[]), "");
    }

    #[test]
    fn a_place_is_taken_from_a_message_in_lines() {
        let message = "error: prim: expected a name\n --> a.usda:12:5\n   |\n12 | def {\n   |     ^";
        let error = located(Path::new("a.usda"), message);
        assert_eq!((error.place, error.message.as_str()), (Some((12, 5)), "prim: expected a name"));
        assert_eq!(located(Path::new("a.usda"), "truncated").message, "truncated");
    }
}
