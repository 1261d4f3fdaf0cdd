//! `transforms.json`: the cameras of all frames as nerfstudio reads them, and `--cameras`.

use super::projection::{self, Pixels};
use crate::RenderJob;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use throng_output::{Label, MapFormat, MapKind, OutputError, write_atomically};
use throng_scene::{Distortion, Projection, anim::CameraPose};

type Object = Map<String, Value>;

/// The reason why a camera has no place in the file; none if it has. The text follows "the camera".
pub fn fault(camera: &CameraPose) -> Option<&'static str> {
    match camera.projection {
        Projection::Orthographic { .. } => Some("is orthographic, which transforms.json cannot express"),
        Projection::Perspective { .. } if camera.skewed.is_some() => {
            Some("has axes that are not orthogonal, which transforms.json cannot express")
        }
        Projection::Perspective { .. } | Projection::Equirectangular => None,
    }
}

/// Writes the cameras of `frames` to `path`, with file names relative to its folder.
///
/// # Errors
/// If the file cannot be written.
pub fn write(job: &RenderJob, path: &Path, frames: &[u32]) -> Result<(), OutputError> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let entries = frames.iter().map(|&frame| entry(job, folder, frame)).collect();
    let mut document = document(entries);
    if job.output.labels.list().contains(&Label::Points) {
        document["ply_file_path"] = "points.ply".into();
    }
    let text = serde_json::to_string_pretty(&document).unwrap_or_default();
    write_atomically(path, |file| {
        file.write_all(text.as_bytes())?;
        file.write_all(b"\n")
    })
}

/// The calibration of a frame's camera, and its other keys.
type Entry = (Object, Object);

/// The file with these frames. A key of the calibrations that is equal in all frames is written once.
fn document(entries: Vec<Entry>) -> Value {
    let mut root = Object::new();
    if let Some((first, _)) = entries.first() {
        let is_common = |(key, value): &(&String, &Value)| entries.iter().all(|(own, _)| own.get(*key) == Some(*value));
        root.extend(first.iter().filter(is_common).map(|(key, value)| (key.clone(), value.clone())));
    }
    let frame = |(calibration, mut own): Entry| {
        own.extend(calibration.into_iter().filter(|(key, _)| !root.contains_key(key)));
        Value::Object(own)
    };
    let frames: Vec<Value> = entries.into_iter().map(frame).collect();
    root.insert("frames".to_owned(), frames.into());
    Value::Object(root)
}

fn entry(job: &RenderJob, folder: &Path, frame: u32) -> Entry {
    let camera = job.camera_of(frame);
    let mut own = Object::new();
    if let Some(pattern) = &job.output.files {
        let picture = pattern.path_for(frame, &job.scene.name);
        own.insert("file_path".to_owned(), relative(&picture, folder).into());
        if let Some(depth) = depth_file(job, &picture) {
            own.insert("depth_file_path".to_owned(), relative(&depth, folder).into());
        }
    }
    let matrix = projection::world_from_camera(&camera).transpose().to_cols_array_2d();
    own.insert("transform_matrix".to_owned(), json!(matrix));
    own.insert("time".to_owned(), json!(job.time_of(frame)));
    (calibration(job, &camera), own)
}

/// The depths along the axis that are written for a picture, of several formats the one in millimetres, which nerfstudio expects.
fn depth_file(job: &RenderJob, picture: &Path) -> Option<PathBuf> {
    let written =
        |format| Some(Label::Map(MapKind::Depth, format)).filter(|label| job.output.labels.list().contains(label));
    let label = [MapFormat::Png, MapFormat::Npy, MapFormat::Exr].into_iter().find_map(written)?;
    Some(picture.with_extension(label.extension()?))
}

fn relative(path: &Path, folder: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned()
}

/// The keys of a camera's projection, in pixels of the rendered region.
fn calibration(job: &RenderJob, camera: &CameraPose) -> Object {
    let settings = &job.settings;
    let (width, height) = settings.film_size();
    let mut keys = Object::new();
    let mut set = |key: &str, value: Value| keys.insert(key.to_owned(), value);
    set("w", width.into());
    set("h", height.into());
    let Some(Pixels { focal, center, distortion }) = projection::pixels(camera, settings) else {
        // Longitudes and latitudes, as nerfstudio scales them.
        let (width, height) = (f64::from(settings.width), f64::from(settings.height));
        set("camera_model", "EQUIRECTANGULAR".into());
        for (key, value) in [("fl_x", 0.5 * width), ("fl_y", height), ("cx", 0.5 * width), ("cy", 0.5 * height)] {
            set(key, json!(value));
        }
        return keys;
    };
    set("camera_model", model(distortion).into());
    for (key, value) in [("fl_x", focal.x), ("fl_y", focal.y), ("cx", center.x), ("cy", center.y)] {
        set(key, json!(value));
    }
    for (key, value) in coefficients(distortion) {
        set(key, json!(f64::from(value)));
    }
    keys
}

fn model(distortion: Distortion) -> &'static str {
    match distortion {
        Distortion::None => "PINHOLE",
        Distortion::Rational { k: [_, _, _, k4, k5, k6], .. } if [k4, k5, k6] != [0.0; 3] => "FULL_OPENCV",
        Distortion::Rational { .. } => "OPENCV",
        Distortion::Fisheye { .. } => "OPENCV_FISHEYE",
    }
}

fn coefficients(distortion: Distortion) -> Vec<(&'static str, f32)> {
    let radial = ["k1", "k2", "k3", "k4", "k5", "k6"];
    match distortion {
        Distortion::None => Vec::new(),
        Distortion::Rational { k, p } => radial.into_iter().zip(k).chain([("p1", p[0]), ("p2", p[1])]).collect(),
        Distortion::Fisheye { k } => radial.into_iter().zip(k).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests;
    use glam::{Mat3, Quat, Vec2};
    use proptest::prelude::*;
    use throng_device::FrameSettings;
    use throng_loader::{LoadOptions, load_with, options::ViewOptions};
    use throng_scene::{Intrinsics, Optics, View, Views};

    fn optics() -> impl Strategy<Value = Optics> {
        // Larger coefficients may fold the picture over at its corners, which is refused.
        let small = || -1e-4f32..1e-4;
        let rational = (prop::array::uniform6(small()), prop::array::uniform2(small()));
        let distortion = prop_oneof![
            Just(Distortion::None),
            rational
                .clone()
                .prop_map(|([k1, k2, k3, ..], p)| Distortion::Rational { k: [k1, k2, k3, 0.0, 0.0, 0.0], p }),
            rational.prop_map(|(k, p)| Distortion::Rational { k, p }),
            prop::array::uniform4(small()).prop_map(|k| Distortion::Fisheye { k }),
        ];
        let calibrated = (0.5f32..3.0, 0.5f32..3.0, 0.3f32..0.7, 0.3f32..0.7, distortion);
        let calibrated = calibrated.prop_map(|(x, y, across, down, distortion)| {
            Optics::Calibrated(Intrinsics { focal: Vec2::new(x, y), center: Vec2::new(across, down), distortion })
        });
        let fov = (0.1f32..2.5).prop_map(|fov_y| Optics::Plain(Projection::Perspective { fov_y }));
        prop_oneof![2 => calibrated, 1 => fov, 1 => Just(Optics::Plain(Projection::Equirectangular))]
    }

    fn view() -> impl Strategy<Value = View> {
        let numbers = (prop::array::uniform3(-50f32..50.0), prop::array::uniform4(-1f32..1.0), 0.1f32..20.0, 0f64..9.0);
        (numbers, optics()).prop_map(|((eye, turn, distance, time), optics)| {
            // Far enough from 0 to be normalized.
            let turn = Quat::from_array(turn) + Quat::from_xyzw(0.0, 0.0, 0.0, 3.0);
            let axes = Mat3::from_quat(turn.normalize());
            View { name: String::new(), eye: eye.into(), axes, optics: Some(optics), distance, time }
        })
    }

    fn reread(optics: Optics, aspect: f32) -> Optics {
        match optics {
            Optics::Plain(Projection::Perspective { fov_y }) => Optics::Calibrated(Intrinsics::of_fov(fov_y, aspect)),
            other => other,
        }
    }

    fn values(optics: Optics) -> Vec<f32> {
        let Optics::Calibrated(Intrinsics { focal, center, distortion }) = optics else { return Vec::new() };
        let all = |numbers: &[f32]| [&[focal.x, focal.y, center.x, center.y], numbers].concat();
        match distortion {
            Distortion::None => all(&[]),
            Distortion::Rational { k, p } => all(&[&k[..], &p].concat()),
            Distortion::Fisheye { k } => all(&k),
        }
    }

    proptest! {
        #![proptest_config(throng_testing::same_cases(64))]

        #[test]
        fn written_cameras_are_read_back_as_they_were(views in prop::collection::vec(view(), 3)) {
            let (dir, mut job) = tests::job(3);
            job.settings = FrameSettings { width: 64, height: 48, ..job.settings };
            job.views = Views::new(views.clone()).map(std::sync::Arc::new);
            let path = dir.path().join("transforms.json");
            write(&job, &path, &[1, 2, 3]).unwrap();
            let scene = dir.path().join("scene.ron");
            let text = "(meshes: {\"a\": Sphere}, instances: [Single(of: \"a\")], camera: LookAt(eye: (0, 0, 9), target: (0, 0, 0), fov: 40))";
            std::fs::write(&scene, text).unwrap();
            let view = ViewOptions { cameras: Some(path), ..ViewOptions::default() };
            let scene = load_with(&scene, &LoadOptions { view, ..LoadOptions::default() }).unwrap();
            for (written, read) in views.iter().zip(scene.views.unwrap().list()) {
                prop_assert!(written.eye == read.eye && (written.time - read.time).abs() < 1e-12);
                prop_assert!(written.axes.abs_diff_eq(read.axes, 1e-5), "{} {}", written.axes, read.axes);
                let optics = [reread(written.optics.unwrap(), 64.0 / 48.0), read.optics.unwrap()];
                prop_assert_eq!(std::mem::discriminant(&optics[0]), std::mem::discriminant(&optics[1]));
                let [a, b] = optics.map(values);
                prop_assert_eq!(a.len(), b.len());
                prop_assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() <= 1e-6 * a.abs()), "{:?} {:?}", a, b);
            }
        }
    }

    #[test]
    fn what_all_cameras_share_is_written_once() {
        let entry = |focal: f64, name: &str| {
            let object = |value: Value| value.as_object().unwrap().clone();
            (object(json!({ "w": 640, "fl_x": focal })), object(json!({ "file_path": name })))
        };
        let same = document(vec![entry(600.0, "1.png"), entry(600.0, "2.png")]);
        let frames = json!([{ "file_path": "1.png" }, { "file_path": "2.png" }]);
        assert_eq!(same, json!({ "w": 640, "fl_x": 600.0, "frames": frames }));
        let other = document(vec![entry(600.0, "1.png"), entry(700.0, "2.png")]);
        assert_eq!(other["w"], 640);
        assert_eq!((&other["fl_x"], &other["frames"][1]["fl_x"]), (&Value::Null, &json!(700.0)));
        assert_eq!(document(Vec::new()), json!({ "frames": [] }));
    }
}
