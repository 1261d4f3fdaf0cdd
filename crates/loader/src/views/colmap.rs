//! COLMAP's text files: cameras.txt with the lenses, images.txt with the place of each picture.
//!
//! In images.txt, a line with a place is followed by a line with points, which may be empty. Both files have comments that begin with `#`.

use super::{
    calibration::{self, Calibration, Focal, OwnOptics, Size, fisheye, rational},
    cameras::{Cameras, Seen},
    pose::{Convention, Pose},
};
use crate::{LoadError, files, text::without_mark};
use glam::{DMat3, DQuat, DVec3};
use std::{
    collections::{HashMap, HashSet},
    path::Path,
};

/// The lenses that are supported, and their parameters.
const MODELS: [(&str, &str); 9] = [
    ("SIMPLE_PINHOLE", "f cx cy"),
    ("PINHOLE", "fx fy cx cy"),
    ("SIMPLE_RADIAL", "f cx cy k1"),
    ("RADIAL", "f cx cy k1 k2"),
    ("OPENCV", "fx fy cx cy k1 k2 p1 p2"),
    ("FULL_OPENCV", "fx fy cx cy k1 k2 p1 p2 k3 k4 k5 k6"),
    ("SIMPLE_RADIAL_FISHEYE", "f cx cy k1"),
    ("RADIAL_FISHEYE", "f cx cy k1 k2"),
    ("OPENCV_FISHEYE", "fx fy cx cy k1 k2 k3 k4"),
];

/// A line of cameras.txt.
struct Camera<'a> {
    line: usize,
    words: Vec<&'a str>,
}

/// Reads the images of `images` with the cameras of cameras.txt in `folder`, in the order of their numbers.
///
/// # Errors
/// If one of the files cannot be read. Also the first fault, with its line.
pub fn read(folder: &Path, images: &Path) -> Result<Cameras, LoadError> {
    let cameras_path = folder.join("cameras.txt");
    let is_cameras = images.file_name() == cameras_path.file_name();
    let images_path = if is_cameras { folder.join("images.txt") } else { images.to_owned() };
    let (cameras_text, images_text) = (lines_of(&cameras_path)?, lines_of(&images_path)?);
    let lenses = lenses(&cameras_path, &cameras_text)?;
    let mut found = images_of(&images_path, &images_text)?;
    found.sort_by_key(|image| image.number);
    let mut known: HashMap<u64, (OwnOptics, Size)> = HashMap::new();
    let mut cameras = Cameras::new("image");
    for image in found {
        let Image { line, number, camera, pose, name } = image;
        let fault = |message: String| LoadError::line(&images_path, line, message);
        let (optics, size) = match known.get(&camera) {
            Some(known) => *known,
            None => {
                let lens = lenses.get(&camera);
                let lens = lens.ok_or_else(|| fault(format!("there is no camera {camera} in cameras.txt: add it")))?;
                let read = lens.optics().map_err(|message| LoadError::line(&cameras_path, lens.line, message))?;
                *known.entry(camera).or_insert(read)
            }
        };
        let seen = Seen { number, name: name.to_owned(), pose, has_y_up: false, optics, time: None };
        cameras.push(seen, Some(size)).map_err(fault)?;
    }
    Ok(cameras)
}

fn lines_of(path: &Path) -> Result<String, LoadError> {
    let bytes = files::read(path)?;
    Ok(String::from_utf8_lossy(without_mark(&bytes)).into_owned())
}

/// The cameras by their numbers.
fn lenses<'a>(path: &Path, text: &'a str) -> Result<HashMap<u64, Camera<'a>>, LoadError> {
    let mut lenses = HashMap::new();
    for (line, content) in (1..).zip(text.lines()).filter(|(_, content)| is_content(content)) {
        let words: Vec<&str> = content.split_whitespace().collect();
        let number = words.first().and_then(|word| word.parse().ok());
        let number = number.filter(|_| words.len() > 4).ok_or_else(|| {
            LoadError::line(
                path,
                line,
                "this is no camera: write CAMERA_ID MODEL WIDTH HEIGHT PARAMS, like 1 PINHOLE 640 480 500 500 320 240",
            )
        })?;
        if lenses.insert(number, Camera { line, words }).is_some() {
            return Err(LoadError::line(path, line, format!("camera {number} comes twice: remove one")));
        }
    }
    Ok(lenses)
}

fn is_content(line: &str) -> bool {
    let line = line.trim_start();
    !line.is_empty() && !line.starts_with('#')
}

/// Numbers from words.
///
/// # Errors
/// A sentence that names the first word that is none.
fn numbers(words: &[&str]) -> Result<Vec<f64>, String> {
    let number = |word: &&str| {
        let number = word.parse().ok().filter(|x: &f64| x.is_finite());
        number.ok_or_else(|| format!("`{word}` is no finite number: correct it"))
    };
    words.iter().map(number).collect()
}

impl Camera<'_> {
    fn optics(&self) -> Result<(OwnOptics, Size), String> {
        let [_, model, width, height, ..] = self.words[..] else { return Err("this is no camera".to_owned()) };
        let Some((_, names)) = MODELS.iter().find(|(name, _)| *name == model) else {
            let known: Vec<&str> = MODELS.iter().map(|(name, _)| *name).collect();
            return Err(format!(
                "the camera model {model} is not supported: undistort the images (colmap image_undistorter), or use one of {}",
                known.join(", ")
            ));
        };
        let size = calibration::size(<[f64; 2]>::try_from(numbers(&[width, height])?).unwrap_or_default())?;
        let names: Vec<&str> = names.split(' ').collect();
        let values = numbers(&self.words[4..])?;
        if values.len() != names.len() {
            return Err(format!(
                "{model} has the {} parameters {}, not {}",
                names.len(),
                names.join(" "),
                values.len()
            ));
        }
        let value = |wanted: &str| names.iter().position(|name| *name == wanted).map(|at| values[at]);
        let k = |wanted: &str| value(wanted).unwrap_or(0.0);
        let distortion = if model.ends_with("FISHEYE") {
            fisheye(["k1", "k2", "k3", "k4"].map(k))
        } else {
            rational(["k1", "k2", "k3", "k4", "k5", "k6"].map(k), ["p1", "p2"].map(k))
        };
        let focal = [value("f").or(value("fx")), value("f").or(value("fy"))].map(|length| length.map(Focal::Pixels));
        let center = ["cx", "cy"].map(value);
        Ok((Calibration { focal, center, size: Some(size), distortion }.optics()?, size))
    }
}

/// A picture in images.txt.
struct Image<'a> {
    line: usize,
    number: u64,
    camera: u64,
    pose: Pose,
    name: &'a str,
}

fn images_of<'a>(path: &Path, text: &'a str) -> Result<Vec<Image<'a>>, LoadError> {
    let (mut images, mut known) = (Vec::new(), HashSet::new());
    let mut lines = (1..).zip(text.lines());
    while let Some((line, content)) = lines.next() {
        if !is_content(content) {
            continue;
        }
        let image = image(line, content).map_err(|message| LoadError::line(path, line, message))?;
        if !known.insert(image.number) {
            return Err(LoadError::line(path, line, format!("image {} comes twice: remove one", image.number)));
        }
        images.push(image);
        if let Some((line, points)) = lines.next().filter(|(_, points)| !are_points(points)) {
            let image = points.split_whitespace().count() >= 10;
            let is = if image { "this line seems to be an image" } else { "these are no points" };
            let message = format!(
                "{is}, but the line after each image has its points: write X Y POINT3D_ID for each of them, or an empty line"
            );
            return Err(LoadError::line(path, line, message));
        }
    }
    Ok(images)
}

/// Whether a line has points of a picture: three numbers for each.
fn are_points(line: &str) -> bool {
    let mut words = 0;
    line.split_whitespace().all(|word| {
        words += 1;
        word.parse::<f64>().is_ok()
    }) && words % 3 == 0
}

/// A line `IMAGE_ID QW QX QY QZ TX TY TZ CAMERA_ID NAME`.
fn image(line: usize, content: &str) -> Result<Image<'_>, String> {
    const FORM: &str = "this is no image: write IMAGE_ID QW QX QY QZ TX TY TZ CAMERA_ID NAME";
    let mut rest = content.trim();
    let mut words = [""; 9];
    for word in &mut words {
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        (*word, rest) = (&rest[..end], rest[end..].trim_start());
    }
    let [number, places @ .., camera] = words;
    let number = number.parse().map_err(|_| FORM)?;
    let camera = camera.parse().map_err(|_| FORM)?;
    if rest.is_empty() {
        return Err(FORM.to_owned());
    }
    let [w, x, y, z, tx, ty, tz] = numbers(&places)?[..] else { return Err(FORM.to_owned()) };
    let camera_from_world = DQuat::from_xyzw(x, y, z, w);
    let length = camera_from_world.length();
    if !(1e-6..1e6).contains(&length) {
        return Err(format!("the quaternion {w} {x} {y} {z} is no rotation: write one of length 1"));
    }
    let world_from_camera = DMat3::from_quat((camera_from_world / length).inverse());
    let eye = -(world_from_camera * DVec3::new(tx, ty, tz));
    let pose =
        Pose::new(eye, world_from_camera, Convention::OpenCv).map_err(|message| format!("the image {message}"))?;
    Ok(Image { line, number, camera, pose, name: rest })
}
