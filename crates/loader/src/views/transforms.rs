//! `transforms.json`, as nerfstudio, instant-ngp and scripts for Blender write it.
//!
//! Matrices are used as they are, as in these programs: nerfstudio's `applied_transform` and `applied_scale` tell how they came about.

use super::{
    calibration::{Calibration, Focal, OwnOptics, Size, fisheye, rational},
    cameras::{Cameras, Seen, time},
    json::{self, Object},
    pose::{Convention, Pose},
};
use crate::{LoadError, suggest};
use serde_json::Value;
use std::{collections::BTreeSet, path::Path};
use throng_scene::{Distortion, Optics, Projection};

/// Keys that are read.
const READ: [&str; 22] = [
    "frames",
    "transform_matrix",
    "file_path",
    "time",
    "fl_x",
    "fl_y",
    "cx",
    "cy",
    "w",
    "h",
    "camera_angle_x",
    "camera_angle_y",
    "k1",
    "k2",
    "k3",
    "k4",
    "k5",
    "k6",
    "p1",
    "p2",
    "camera_model",
    "is_fisheye",
];
/// Keys that such files commonly have for other purposes.
const COMMON: [&str; 36] = [
    "aabb",
    "aabb_scale",
    "applied_scale",
    "applied_transform",
    "auto_scale_poses_override",
    "bounding_box",
    "camera_id",
    "colmap_im_id",
    "colmap_image_id",
    "depth_file_path",
    "depth_path",
    "depth_unit_scale_factor",
    "enable_depth_loading",
    "fps",
    "frame_index",
    "from_na",
    "id",
    "image_id",
    "integer_depth_scale",
    "is_test",
    "mask_path",
    "n_extra_learnable_dims",
    "normal_file_path",
    "offset",
    "orientation_override",
    "original_fn",
    "ply_file_path",
    "render_aabb",
    "rotation",
    "scale",
    "semantic_path",
    "sharpness",
    "test_filenames",
    "train_filenames",
    "up",
    "val_filenames",
];

/// Names of lenses that this format has in use.
const MODELS: &str =
    "PINHOLE, SIMPLE_PINHOLE, SIMPLE_RADIAL, RADIAL, OPENCV, FULL_OPENCV, OPENCV_FISHEYE and EQUIRECTANGULAR";

/// Reads the frames of a file, in its order.
///
/// # Errors
/// The first fault, with the frame's index.
pub fn read(path: &Path, root: &Object) -> Result<Cameras, LoadError> {
    let frames = root.get("frames").and_then(Value::as_array);
    let frames =
        frames.ok_or_else(|| LoadError::file(path, "`frames` is no list: write [{\"transform_matrix\": ..}, ..]"))?;
    let mut cameras = Cameras::new("frame");
    let mut unknown = BTreeSet::new();
    for (number, frame) in (0..).zip(frames) {
        let fault = |name: &str, message: &str| cameras.fault(path, number, name, message);
        let own = frame.as_object();
        let own = own.ok_or_else(|| fault("", "it is no object: write {\"transform_matrix\": ..}"))?;
        unknown.extend(own.keys().map(String::as_str).filter(|key| !is_known(key)));
        let name = json::string(own.get("file_path"), "file_path").map_err(|message| fault("", &message))?;
        let name = name.unwrap_or_default().to_owned();
        let added = Layers { own, root }.seen(number, name.clone()).and_then(|(seen, size)| cameras.push(seen, size));
        added.map_err(|message| cameras.fault(path, number, &name, &message))?;
    }
    unknown.extend(root.keys().map(String::as_str).filter(|key| !is_known(key)));
    if !unknown.is_empty() {
        let list = suggest::list(unknown, "unknown keys");
        cameras.notes.push(format!("{}: some of it is not used; {list}", path.display()));
    }
    Ok(cameras)
}

fn is_known(key: &str) -> bool {
    READ.contains(&key) || COMMON.contains(&key)
}

/// A frame, and the object whose values count for all frames without their own.
struct Layers<'a> {
    own: &'a Object,
    root: &'a Object,
}

/// Families of lenses.
#[derive(Clone, Copy, PartialEq)]
enum Lens {
    /// With OpenCV's distortion of up to eight coefficients, or four.
    Perspective {
        full: bool,
    },
    Fisheye,
    Panorama,
}

impl<'a> Layers<'a> {
    fn get(&self, key: &str) -> Option<&'a Value> {
        self.own.get(key).or_else(|| self.root.get(key))
    }

    fn number(&self, key: &str) -> Result<Option<f64>, String> {
        json::number(self.get(key), key)
    }

    fn seen(&self, number: u64, name: String) -> Result<(Seen, Option<Size>), String> {
        let matrix = self.own.get("transform_matrix");
        let matrix = matrix.ok_or("`transform_matrix` is missing: add the matrix from the camera to the world")?;
        let pose = Pose::of_matrix(&json::rows(matrix, "`transform_matrix`")?, Convention::OpenGl)
            .map_err(|message| format!("`transform_matrix` {message}"))?;
        let size = json::size([self.get("w"), self.get("h")], ["w", "h"])?;
        let time = time(self.number("time")?)?;
        Ok((Seen { number, name, pose, has_y_up: false, optics: self.optics(size)?, time }, size))
    }

    fn optics(&self, size: Option<Size>) -> Result<OwnOptics, String> {
        let lens = self.lens()?;
        if lens == Lens::Panorama {
            return Ok(OwnOptics::Given(Optics::Plain(Projection::Equirectangular)));
        }
        let calibration = Calibration {
            focal: [self.focal("fl_x", "camera_angle_x")?, self.focal("fl_y", "camera_angle_y")?],
            center: [self.number("cx")?, self.number("cy")?],
            size,
            distortion: self.distortion(lens)?,
        };
        match calibration.focal {
            [None, None] => {
                Err("it has no focal length: add `camera_angle_x` in radians, or `fl_x`, `w` and `h` in pixels"
                    .to_owned())
            }
            _ => calibration.optics(),
        }
    }

    fn lens(&self) -> Result<Lens, String> {
        let full = match json::string(self.get("camera_model"), "camera_model")? {
            Some("EQUIRECTANGULAR") => return Ok(Lens::Panorama),
            Some("OPENCV_FISHEYE") => return Ok(Lens::Fisheye),
            Some("FULL_OPENCV") => true,
            None | Some("PINHOLE" | "SIMPLE_PINHOLE" | "SIMPLE_RADIAL" | "RADIAL" | "OPENCV") => false,
            Some(other) => {
                return Err(format!("its `camera_model` {other} is not supported: those that are, are {MODELS}"));
            }
        };
        let is_fisheye = matches!(self.get("is_fisheye"), Some(Value::Bool(true)));
        Ok(if is_fisheye { Lens::Fisheye } else { Lens::Perspective { full } })
    }

    /// A focal length of the frame, otherwise that of all.
    fn focal(&self, length: &str, angle: &str) -> Result<Option<Focal>, String> {
        for layer in [self.own, self.root] {
            if let Some(pixels) = json::number(layer.get(length), length)? {
                return Ok(Some(Focal::Pixels(pixels)));
            }
            if let Some(angle) = json::number(layer.get(angle), angle)? {
                return Ok(Some(Focal::Angle(angle)));
            }
        }
        Ok(None)
    }

    fn distortion(&self, lens: Lens) -> Result<Distortion, String> {
        let mut all = [0.0; 8];
        for (value, key) in all.iter_mut().zip(["k1", "k2", "k3", "k4", "k5", "k6", "p1", "p2"]) {
            *value = self.number(key)?.unwrap_or(0.0);
            if !(*value as f32).is_finite() {
                return Err(format!("`{key}` is {value}, which is out of range: correct it"));
            }
        }
        let [k1, k2, k3, k4, k5, k6, p1, p2] = all;
        match lens {
            Lens::Fisheye if [k5, k6, p1, p2] == [0.0; 4] => Ok(fisheye([k1, k2, k3, k4])),
            Lens::Fisheye => Err("a fisheye has only `k1` to `k4`: take out `k5`, `k6`, `p1` and `p2`".to_owned()),
            // nerfstudio takes k4 for a fourth power of r², other programs for OpenCV's denominator.
            Lens::Perspective { full: false } if [k4, k5, k6] != [0.0; 3] => Err(
                "`k4` to `k6` need a `camera_model` that says what they are: write FULL_OPENCV, or OPENCV_FISHEYE for `k4`".to_owned(),
            ),
            Lens::Perspective { .. } => Ok(rational([k1, k2, k3, k4, k5, k6], [p1, p2])),
            Lens::Panorama => Ok(Distortion::None),
        }
    }
}
