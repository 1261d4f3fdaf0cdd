//! Commands of viewers to the loop, and its answers. docs/view.md describes their JSON form.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A command of one viewer.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Command {
    /// Largest size of pictures, in pixels. Nothing is rendered before this command.
    Start {
        size: [u32; 2],
    },
    /// Moves the camera to this view.
    Camera(View),
    /// Shows another frame and pauses.
    Time {
        frame: u32,
    },
    Play {
        playing: bool,
        #[serde(default, rename = "loop")]
        looped: bool,
    },
    /// Makes the camera follow a path over time; None leaves it at its current position.
    Follow {
        path: Option<Track>,
        #[serde(default)]
        camera: Option<String>,
    },
    /// Changes a setting of the picture, or the model's animation; null resets it to the scene's value.
    Set {
        name: String,
        value: Value,
    },
    /// Requests the surface at a point of the picture, with coordinates from 0 to 1 from the top left.
    Pick {
        at: [f32; 2],
        ask: u32,
    },
    /// Sets the waypoints of the viewer's own path.
    Waypoints {
        keys: Vec<Waypoint>,
        #[serde(default)]
        pace: Option<Value>,
    },
    Save {
        what: Saved,
        #[serde(default)]
        values: BTreeMap<String, String>,
        #[serde(default)]
        anyway: bool,
    },
    /// Requests the editable values of the scene.
    Values {},
    Change {
        values: BTreeMap<String, String>,
    },
    Place {
        instance: String,
        #[serde(default)]
        translate: Option<[f32; 3]>,
        #[serde(default)]
        rotate: Option<[f32; 3]>,
        #[serde(default)]
        scale: Option<Value>,
    },
    /// Requests a file with the current picture, or with a frame of the animation.
    Still(StillRequest),
    /// Requests the command line that renders the current picture or animation.
    #[serde(rename = "command")]
    Line {
        of: Made,
    },
    /// Allows others to follow this viewer's camera.
    Present {
        on: bool,
    },
    /// Follows the camera of the viewer who presents.
    Watch {
        on: bool,
    },
    /// Drops unsaved changes and loads the scene again.
    Reload {},
}

/// A path that cameras follow.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Track {
    Scene,
    Waypoints,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Saved {
    Camera,
    Values,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Made {
    Still,
    /// The animation along the current path, as a video.
    #[serde(rename = "film")]
    Video,
}

/// A still to make. Omitted sizes and sample counts are those of the viewer's picture.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct StillRequest {
    /// A frame through the scene's own camera; None for the current picture.
    #[serde(default)]
    pub frame: Option<u32>,
    #[serde(default)]
    pub size: Option<[u32; 2]>,
    #[serde(default)]
    pub samples: Option<u32>,
    pub format: StillFormat,
    /// A number that is copied to the answers.
    pub ask: u32,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum StillFormat {
    Png,
    Exr,
}

/// A camera as exchanged with viewers. Omitted values come from the scene's camera.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct View {
    pub eye: [f32; 3],
    pub target: [f32; 3],
    #[serde(default = "y_up")]
    pub up: [f32; 3],
    /// Vertical field of view, in degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fov: Option<f32>,
    /// Height of an orthographic view, in scene units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<f32>,
    /// Focus distance along the camera's axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub focus: Option<f32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub f_stop: Option<f32>,
    /// Radius of the aperture; 0 gives no depth of field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius: Option<f32>,
    /// A number that is copied to the pictures of this camera.
    #[serde(default)]
    pub key: u32,
}

fn y_up() -> [f32; 3] {
    [0.0, 1.0, 0.0]
}

/// A waypoint of a viewer's path.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Waypoint {
    pub eye: [f32; 3],
    pub target: [f32; 3],
    /// Time in seconds.
    pub time: f64,
    /// Rotation of the camera about its axis, in degrees clockwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roll: Option<f32>,
    /// Vertical field of view in degrees, or the height of an orthographic view.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fov: Option<f32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub focus: Option<f32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub f_stop: Option<f32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius: Option<f32>,
}

/// Messages to a viewer, other than pictures.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Answer {
    /// The scene, sent at the start and each time it was loaded again.
    Scene(Box<SceneFacts>),
    /// The camera was moved.
    Camera(View),
    State(State),
    Picked {
        ask: u32,
        #[serde(flatten)]
        found: Option<Picked>,
    },
    /// The path of the scene's camera, or of the viewer's waypoints.
    Path {
        of: Track,
        points: Vec<[f32; 3]>,
        keys: Vec<Waypoint>,
        pace: Option<String>,
    },
    Saved {
        file: String,
    },
    Refused {
        why: String,
        choices: Vec<&'static str>,
    },
    Values {
        values: Vec<Value>,
    },
    Command {
        text: String,
    },
    /// Progress of a still.
    Still {
        ask: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        share: Option<f32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        link: Option<String>,
        /// The finished file and its extension. The server replaces it by a link.
        #[serde(skip)]
        file: Option<(Bytes, &'static str)>,
    },
    Error {
        message: String,
        lasting: bool,
    },
}

impl Answer {
    /// Whether the answer contains a file.
    pub(super) fn is_file(&self) -> bool {
        matches!(self, Self::Still { file: Some(_), .. })
    }

    /// Whether an earlier, unsent answer is obsolete because of this one.
    pub(super) fn replaces(&self, earlier: &Self) -> bool {
        match (self, earlier) {
            (Self::Path { of, .. }, Self::Path { of: earlier, .. }) => of == earlier,
            (Self::Scene(_), Self::Scene(_))
            | (Self::Camera(_), Self::Camera(_))
            | (Self::State(_), Self::State(_))
            | (Self::Values { .. }, Self::Values { .. }) => true,
            _ => false,
        }
    }

    /// An error that has no lasting effect.
    pub fn error(message: impl ToString) -> Self {
        Self::Error { message: message.to_string(), lasting: false }
    }
}

/// Facts about a scene.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SceneFacts {
    pub name: String,
    pub file: String,
    pub frames: u32,
    /// Number of the first frame in file names. In all messages, the first frame has number 1.
    pub first_frame: u32,
    pub fps: f64,
    /// Time of the first frame, in seconds.
    pub start: f64,
    pub cameras: Vec<String>,
    /// The model's animations: for each, the value of the setting `animation` that plays it.
    pub animations: Vec<String>,
    pub integrators: Vec<&'static str>,
    pub views: Vec<&'static str>,
    pub tone_maps: Vec<&'static str>,
    pub bounds: Bounds,
    pub camera: View,
    pub settings: BTreeMap<&'static str, Value>,
    pub samples: u32,
    /// Number of scenes that were shown before this one.
    pub loaded: u32,
    /// Width and height of the scene's pictures, in pixels.
    pub size: [u32; 2],
    pub device: String,
    pub instances: usize,
    pub lens: &'static str,
    pub saves_to: String,
    /// Whether finished pictures are denoised, unless a viewer turns denoising off.
    pub denoises_finished: bool,
    pub warnings: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bounds {
    pub min: [f32; 3],
    pub max: [f32; 3],
}

/// Progress of a viewer's picture.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct State {
    pub frame: u32,
    pub playing: bool,
    pub samples: u32,
    /// Number of samples of the finished picture.
    pub of: u32,
    /// The effective exposure, in stops.
    pub exposure: f32,
    pub pictures_per_second: f32,
    pub lag_ms: f32,
    pub size: [u32; 2],
    pub done: bool,
    /// Whether the picture is finished and was denoised.
    pub denoised: bool,
    /// Whether the last moving picture was denoised; none before the first.
    pub denoises: Option<bool>,
}

/// The surface at a point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Picked {
    pub instance: String,
    pub mesh: String,
    pub material: String,
    /// Distance from the eye.
    pub distance: f32,
    /// Distance along the camera's axis, which is the focus distance.
    pub depth: f32,
    pub point: [f32; 3],
    /// Centre of the instance's bounds, and half of their diagonal.
    pub centre: [f32; 3],
    pub radius: f32,
    pub movable: bool,
    /// Reason why the instance cannot be moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixed: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transform: Option<Value>,
}

/// A picture for a viewer.
#[derive(Clone, Debug)]
pub struct ViewerPicture {
    pub width: u32,
    pub height: u32,
    /// 8-bit RGB, row-major from the top.
    pub pixels: Bytes,
    pub samples: u32,
    pub key: u32,
    pub frame: u32,
    pub kind: PictureKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureKind {
    /// A picture of a moving view, which will soon be replaced.
    Moving,
    /// A picture of an unchanged view, which will be refined.
    Still,
    /// A picture with all samples, denoised if renders of the scene are.
    Finished,
}
