//! The cameras of a file, before they become views of a scene.

use super::{
    calibration::{OwnOptics, Size},
    colmap, gltf,
    json::{self, Object},
    list,
    pose::Pose,
    transforms,
};
use crate::{LoadError, extension, files};
use serde_json::Value;
use std::path::Path;
use throng_scene::ranges::FRAMES;

const KINDS: &str = "use transforms.json, a .json list of matrices, a folder with COLMAP's cameras.txt and images.txt, or a .gltf or .glb with cameras";

/// Times in seconds that a view may show.
const MOST_SECONDS: f64 = 1e6;

/// The cameras of a file, in the order of frames.
pub struct Cameras {
    /// What the file calls a camera, such as "frame".
    pub what: &'static str,
    /// At least one, once [`read`] has returned them.
    pub list: Vec<Seen>,
    /// Width and height of their pictures in pixels, if the file has it.
    pub size: Option<Size>,
    pub warnings: Vec<String>,
    pub notes: Vec<String>,
}

/// A camera of a file.
pub struct Seen {
    /// Its index from 0, or its number in the file.
    pub number: u64,
    pub name: String,
    pub pose: Pose,
    /// Whether its world has +Y up, whatever the user says of the file's.
    pub has_y_up: bool,
    pub optics: OwnOptics,
    /// Time in seconds.
    pub time: Option<f64>,
}

impl Cameras {
    pub fn new(what: &'static str) -> Self {
        Self { what, list: Vec::new(), size: None, warnings: Vec::new(), notes: Vec::new() }
    }

    /// Adds a camera whose pictures have `size`, if the file has it.
    ///
    /// # Errors
    /// If its pictures differ in size from those before. The text is a sentence about this camera.
    pub fn push(&mut self, seen: Seen, size: Option<Size>) -> Result<(), String> {
        match (self.size, size) {
            (Some([width, height]), Some([other_width, other_height])) if self.size != size => Err(format!(
                "its picture has {other_width}x{other_height} pixels, and those before have {width}x{height}: all frames of a run have one \
                 size, so write a file for each size"
            )),
            _ => {
                self.size = self.size.or(size);
                self.list.push(seen);
                Ok(())
            }
        }
    }

    /// An error about one camera.
    pub fn fault(&self, path: &Path, number: u64, name: &str, message: &str) -> LoadError {
        LoadError::file(path, format!("{}: {message}", label(self.what, number, name)))
    }
}

/// A camera in a message, such as "frame 3 (`r_3.png`)".
pub fn label(what: &str, number: u64, name: &str) -> String {
    match name {
        "" => format!("{what} {number}"),
        _ => format!("{what} {number} (`{name}`)"),
    }
}

/// A time from a file.
///
/// # Errors
/// If it is out of range. The text is a sentence.
pub fn time(seconds: Option<f64>) -> Result<Option<f64>, String> {
    match seconds {
        Some(time) if !(-MOST_SECONDS..=MOST_SECONDS).contains(&time) => {
            Err(format!("`time` is {time}: write seconds from -{MOST_SECONDS} to {MOST_SECONDS}"))
        }
        time => Ok(time),
    }
}

/// Reads the file or folder at `path`.
///
/// # Errors
/// If it cannot be read, is of no known kind, is invalid, or has no cameras or too many.
pub fn read(path: &Path) -> Result<Cameras, LoadError> {
    let cameras = of_kind(path)?;
    let count = cameras.list.len();
    if count == 0 {
        return Err(LoadError::file(path, format!("there are no {}s in it: {KINDS}", cameras.what)));
    }
    if count > *FRAMES.end() as usize {
        let message = format!("there are {count} {}s in it, more than {}: split the file", cameras.what, FRAMES.end());
        return Err(LoadError::file(path, message));
    }
    let timed = |seen: &Seen| seen.time.is_some();
    if let (true, Some(seen)) = (cameras.list.iter().any(timed), cameras.list.iter().find(|seen| !timed(seen))) {
        let message = "it has no `time`, but others have: give all of them a time, or none";
        return Err(cameras.fault(path, seen.number, &seen.name, message));
    }
    Ok(cameras)
}

fn of_kind(path: &Path) -> Result<Cameras, LoadError> {
    if path.is_dir() {
        return of_folder(path);
    }
    match extension(path).as_str() {
        "json" => match json::parse(path)? {
            Value::Array(items) => list::read(path, &items),
            Value::Object(root) => of_object(path, &root),
            _ => Err(LoadError::file(path, format!("this JSON has no cameras: {KINDS}"))),
        },
        "txt" => colmap::read(path.parent().unwrap_or(Path::new("")), path),
        "gltf" | "glb" => gltf::read(path),
        _ if !files::exists(path) => Err(LoadError::file(path, "no such file: check the path")),
        _ => Err(LoadError::file(path, format!("this is no file of cameras: {KINDS}"))),
    }
}

fn of_object(path: &Path, root: &Object) -> Result<Cameras, LoadError> {
    if !root.contains_key("frames") {
        return Err(LoadError::file(path, format!("this JSON has no `frames`: {KINDS}")));
    }
    transforms::read(path, root)
}

fn of_folder(path: &Path) -> Result<Cameras, LoadError> {
    let [images, transforms, binary] = ["images.txt", "transforms.json", "images.bin"].map(|name| path.join(name));
    if images.exists() {
        colmap::read(path, &images)
    } else if transforms.exists() {
        of_kind(&transforms)
    } else if binary.exists() {
        let message = "COLMAP's files in this folder are binary: convert them by `colmap model_converter --input_path . --output_path . --output_type TXT`";
        Err(LoadError::file(path, message))
    } else {
        Err(LoadError::file(path, format!("this folder has neither images.txt nor transforms.json: {KINDS}")))
    }
}
