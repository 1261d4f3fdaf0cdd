//! Commands of viewers to the loop, and its answers. docs/view.md describes each as JSON.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A request of one viewer.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Command {
    /// The largest picture that is wanted, in pixels. Nothing is rendered before.
    Start {
        size: [u32; 2],
    },
    /// The camera stands there from now on.
    Camera(View),
    /// Shows another frame, and pauses.
    Time {
        frame: u32,
    },
    Play {
        playing: bool,
        #[serde(default, rename = "loop")]
        looped: bool,
    },
    /// The camera follows a path as time goes on; None leaves it where it is.
    Follow {
        path: Option<Track>,
        #[serde(default)]
        camera: Option<String>,
    },
    /// Changes a setting of the picture; null is as the scene has it.
    Set {
        name: String,
        value: Value,
    },
    /// Asks what is at a point of the picture, from 0 to 1, from the top left.
    Pick {
        at: [f32; 2],
        ask: u32,
    },
    /// The viewer's own path.
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
    /// Asks for the values of the scene that can be changed.
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
    /// Asks for a file of the picture that is seen, or of a frame of the film.
    Still {
        #[serde(default)]
        frame: Option<u32>,
        #[serde(default)]
        size: Option<[u32; 2]>,
        #[serde(default)]
        samples: Option<u32>,
        format: StillFormat,
        ask: u32,
    },
    /// Asks for the command line that makes what is seen.
    #[serde(rename = "command")]
    Line {
        of: Made,
    },
    /// Others may follow this viewer's camera.
    Present {
        on: bool,
    },
    /// Follows the camera of the viewer who presents.
    Watch {
        on: bool,
    },
    /// Loads the scene again.
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
    Film,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum StillFormat {
    Png,
    Exr,
}

/// A camera as viewers give it and are told. What is left out is as the scene's camera has it.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct View {
    pub eye: [f32; 3],
    pub target: [f32; 3],
    #[serde(default = "y_up")]
    pub up: [f32; 3],
    /// Vertical field of view in degrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fov: Option<f32>,
    /// Height of an orthographic view.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<f32>,
    /// Distance of what is sharp, along the camera's axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub focus: Option<f32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub f_stop: Option<f32>,
    /// Radius of the aperture; 0 makes everything sharp.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius: Option<f32>,
    /// A number that pictures of this camera have.
    #[serde(default)]
    pub key: u32,
}

fn y_up() -> [f32; 3] {
    [0.0, 1.0, 0.0]
}

/// A key of a viewer's path.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Waypoint {
    pub eye: [f32; 3],
    pub target: [f32; 3],
    /// Seconds.
    pub time: f64,
    /// Rotation of the camera about its axis in degrees, clockwise.
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

/// Everything that a viewer is told besides pictures.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Answer {
    /// The scene, at the start and whenever it was loaded again.
    Scene(Box<SceneFacts>),
    /// The camera was moved.
    Camera(View),
    State(State),
    Picked {
        ask: u32,
        #[serde(flatten)]
        found: Option<Picked>,
    },
    /// A path: that of the scene, or of the viewer's waypoints.
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
    /// How much of a still is done.
    Still {
        ask: u32,
        #[serde(skip_serializing_if = "Option::is_none")]
        share: Option<f32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        link: Option<String>,
        /// The finished file and its extension, for which whoever passes this on makes the link.
        #[serde(skip)]
        file: Option<(Bytes, &'static str)>,
    },
    Error {
        message: String,
        lasting: bool,
    },
}

impl Answer {
    /// Whether there is a file in it.
    pub(super) fn is_file(&self) -> bool {
        matches!(self, Self::Still { file: Some(_), .. })
    }

    /// Whether nobody needs an earlier one any more that was not taken yet.
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

    /// An error that is over once it was told.
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
    /// Number that files have for the first frame, which is 1 in all messages.
    pub first_frame: u32,
    pub fps: f64,
    /// Time of the first frame in seconds.
    pub start: f64,
    pub cameras: Vec<String>,
    pub integrators: Vec<&'static str>,
    pub views: Vec<&'static str>,
    pub tone_maps: Vec<&'static str>,
    pub bounds: Bounds,
    pub camera: View,
    pub settings: BTreeMap<&'static str, Value>,
    pub samples: u32,
    /// Number of scenes that were shown before this one.
    pub loaded: u32,
    /// Width and height of the scene's pictures.
    pub size: [u32; 2],
    pub device: String,
    pub instances: usize,
    pub lens: &'static str,
    pub saves_to: String,
    pub warnings: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bounds {
    pub min: [f32; 3],
    pub max: [f32; 3],
}

/// How far the picture of a viewer is.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct State {
    pub frame: u32,
    pub playing: bool,
    pub samples: u32,
    /// Samples of the finished picture.
    pub of: u32,
    /// The exposure that is used, in stops.
    pub exposure: f32,
    pub pictures_per_second: f32,
    pub lag_ms: f32,
    pub size: [u32; 2],
    pub done: bool,
    /// Whether the last picture of something that moved was denoised; none before the first.
    pub denoises: Option<bool>,
}

/// The surface under a point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Picked {
    pub instance: String,
    pub mesh: String,
    pub material: String,
    /// Distance from the eye.
    pub distance: f32,
    /// Distance along the camera's axis, as lenses focus.
    pub depth: f32,
    pub point: [f32; 3],
    /// The middle of the instance's bounds, and their radius.
    pub centre: [f32; 3],
    pub radius: f32,
    pub movable: bool,
    /// Why it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixed: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transform: Option<Value>,
}

/// A picture on its way to a viewer.
#[derive(Clone, Debug)]
pub struct Picture {
    pub width: u32,
    pub height: u32,
    /// RGB with 8 bits, the top row first.
    pub pixels: Bytes,
    pub samples: u32,
    pub key: u32,
    pub frame: u32,
    pub kind: PictureKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureKind {
    /// Soon to be replaced.
    Moving,
    /// A picture of something that stands still.
    Still,
    /// With all samples.
    Finished,
}
