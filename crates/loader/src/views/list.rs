//! A JSON list of cameras: matrices, objects with matrices, or views around the origin as TRELLIS samples them.

use super::{
    calibration::{Calibration, Focal, OwnOptics, Size},
    cameras::{Cameras, Seen, time},
    json::{self, Object},
    pose::{Convention, Pose},
};
use crate::{LoadError, suggest};
use glam::DVec3;
use serde_json::Value;
use std::{f64::consts::FRAC_PI_2, path::Path};

/// Keys of an object with a matrix.
const PLACED: [&str; 6] = ["matrix", "K", "size", "convention", "time", "name"];
/// Keys of a view around the origin.
const AROUND: [&str; 6] = ["yaw", "pitch", "radius", "fov", "time", "name"];

/// Reads the items of a file, in its order.
///
/// # Errors
/// The first fault, with the item's index.
pub fn read(path: &Path, items: &[Value]) -> Result<Cameras, LoadError> {
    let mut cameras = Cameras::new("item");
    for (number, item) in (0..).zip(items) {
        let name = item.get("name").and_then(Value::as_str).unwrap_or_default();
        let added = seen(number, item).and_then(|(seen, size)| cameras.push(seen, size));
        added.map_err(|message| cameras.fault(path, number, name, &message))?;
    }
    Ok(cameras)
}

fn seen(number: u64, item: &Value) -> Result<(Seen, Option<Size>), String> {
    match item {
        Value::Array(_) => {
            let pose = matrix(item, "it", Convention::OpenGl)?;
            Ok((Seen { number, name: String::new(), pose, has_y_up: false, optics: OwnOptics::Scene, time: None }, None))
        }
        Value::Object(object) => {
            let is_around = object.contains_key("yaw");
            check_keys(object, if is_around { &AROUND } else { &PLACED })?;
            let (pose, optics, size) = if is_around { around(object)? } else { placed(object)? };
            let name = json::string(object.get("name"), "name")?.unwrap_or_default().to_owned();
            let time = time(json::number(object.get("time"), "time")?)?;
            Ok((Seen { number, name, pose, has_y_up: is_around, optics, time }, size))
        }
        _ => Err("it is no camera: write a matrix of 4 rows, {\"matrix\": ..}, or {\"yaw\": .., \"pitch\": .., \"radius\": .., \"fov\": ..}".into()),
    }
}

fn check_keys(object: &Object, known: &[&str]) -> Result<(), String> {
    match object.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(format!("the key `{key}` is unknown: {}", suggest::hint(key, known.iter().copied(), "keys"))),
        None => Ok(()),
    }
}

fn matrix(value: &Value, name: &str, convention: Convention) -> Result<Pose, String> {
    Pose::of_matrix(&json::rows(value, name)?, convention).map_err(|message| format!("{name} {message}"))
}

type Camera = (Pose, OwnOptics, Option<Size>);

/// A camera with a matrix.
fn placed(object: &Object) -> Result<Camera, String> {
    let convention = match json::string(object.get("convention"), "convention")? {
        None | Some("opengl") => Convention::OpenGl,
        Some("opencv") => Convention::OpenCv,
        Some(other) => return Err(format!("there is no convention `{other}`: write opengl or opencv")),
    };
    let rows = object.get("matrix").ok_or("`matrix` is missing: add the matrix from the camera to the world")?;
    let pose = matrix(rows, "`matrix`", convention)?;
    let size = match object.get("size") {
        None | Some(Value::Null) => None,
        Some(Value::Array(sides)) if sides.len() == 2 => {
            json::size([sides.first(), sides.get(1)], ["width", "height"])?
        }
        Some(_) => return Err("`size` is no pair of numbers: write [width, height]".to_owned()),
    };
    let optics = match object.get("K") {
        None | Some(Value::Null) => OwnOptics::Scene,
        Some(rows) => calibrated(&json::rows(rows, "`K`")?, size)?,
    };
    Ok((pose, optics, size))
}

/// The optics of a matrix that projects into pixels: [[fx, 0, cx], [0, fy, cy], [0, 0, 1]].
fn calibrated(rows: &[Vec<f64>], size: Option<Size>) -> Result<OwnOptics, String> {
    const FORM: &str = "write [[fx, 0, cx], [0, fy, cy], [0, 0, 1]] in pixels";
    let [x, y, last] = rows else { return Err(format!("`K` has {} rows: {FORM}", rows.len())) };
    let ([fx, skew, cx], [below, fy, cy]) = (x.as_slice(), y.as_slice()) else {
        return Err(format!("`K` has no rows of 3 numbers: {FORM}"));
    };
    if last != &[0.0, 0.0, 1.0] || *below != 0.0 {
        return Err(format!("`K` is no projection into pixels: {FORM}"));
    }
    if skew.abs() > 1e-3 * fx.abs() {
        return Err(format!("`K` has a skew of {skew}, which no lens here has: {FORM}"));
    }
    let focal = [fx, fy].map(|length| Some(Focal::Pixels(*length)));
    Calibration { focal, center: [Some(*cx), Some(*cy)], size, ..Calibration::default() }.optics()
}

/// A camera that looks at the origin. Angles are those of Blender's world, which has +Z up; the origin and the result do not depend on the
/// up axis of the file.
fn around(object: &Object) -> Result<Camera, String> {
    let number = |key: &str| match json::number(object.get(key), key)? {
        Some(number) if number.is_finite() => Ok(number),
        _ => Err(format!("`{key}` is missing: views around the origin have yaw, pitch, radius and fov")),
    };
    let (yaw, pitch, radius, fov) = (number("yaw")?, number("pitch")?, number("radius")?, number("fov")?);
    if !(-FRAC_PI_2 - 1e-6..=FRAC_PI_2 + 1e-6).contains(&pitch) {
        return Err(format!("`pitch` is {pitch}: write radians from -π/2 to π/2"));
    }
    if radius <= 0.0 {
        return Err(format!("`radius` is {radius}: write a distance above 0"));
    }
    let Pose { eye, axes } = Pose::around(DVec3::ZERO, (yaw, pitch), radius);
    let pose = Pose::new(eye, axes, Convention::OpenGl).map_err(|message| format!("it {message}"))?;
    let optics = Calibration { focal: [Some(Focal::Angle(fov)), None], ..Calibration::default() }.optics()?;
    Ok((pose, optics, None))
}
