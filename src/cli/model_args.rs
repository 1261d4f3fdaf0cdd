//! Flags for loading: the view of a scene, and the surroundings of a model that is shown alone.

use super::{lens_args::LensArgs, view_args::FrameViewArgs};
use clap::builder::{OsStringValueParser, TypedValueParser};
use glam::Vec3;
use std::{fmt::Display, ops::RangeInclusive, path::PathBuf, str::FromStr};
use throng_loader::options::{
    AnimationOptions, CameraChoice, EnvironmentChoice, ModelOptions, Preset, StageOptions, ViewOptions, parse_triple,
};
use throng_scene::{FrameRate, ranges::describe};
use throng_settings::flags;

/// Flags for scenes of all kinds.
#[derive(clap::Args)]
#[command(next_help_heading = "View")]
pub struct ViewArgs {
    /// Fixed camera position, instead of the scene's own camera
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = parse_point)]
    eye: Option<Vec3>,
    /// Point that the camera looks at [default: the middle of the scene]
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = parse_point, requires = "eye")]
    target: Option<Vec3>,
    /// Up direction of the picture: an axis like z or -y, or a vector. Without --eye, a model is rotated so that this axis of its file
    /// points up [default: y]
    #[arg(long, value_name = "AXIS|X,Y,Z", allow_hyphen_values = true, value_parser = parse_up)]
    up: Option<Vec3>,
    /// Vertical field of view
    #[arg(long, value_name = "DEGREES", value_parser = parse_fov)]
    fov: Option<f32>,
    #[command(flatten)]
    lens: LensArgs,
    #[command(flatten)]
    frames: FrameViewArgs,
    /// Time of the first frame
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = parse_double)]
    time: Option<f64>,
}

/// Flags for models without a scene file.
#[derive(clap::Args)]
#[command(next_help_heading = "Models (.gltf, .glb, .obj, .ply, .stl)")]
pub struct ModelArgs {
    /// Play these animations, by name or index; `all` plays all.
    ///
    /// Indices start at 0. Animations separated by commas are played simultaneously. With `{animation}` in --output or --video, each
    /// animation gets its own files. With --sheet, `all` gives each animation a row with its name [default: the model is at
    /// rest]
    #[arg(long, value_name = "NAME|INDEX")]
    animation: Vec<String>,
    /// Playback speed of animations; 0 shows a fixed pose, negative numbers play backwards
    #[arg(
        long,
        value_name = "FACTOR",
        default_value_t = 1.0,
        hide_default_value = true,
        allow_negative_numbers = true,
        value_parser = parse_double,
        requires = "animation"
    )]
    animation_speed: f64,
    /// Start time within the animations
    #[arg(
        long,
        value_name = "SECONDS",
        allow_negative_numbers = true,
        value_parser = parse_double,
        requires = "animation"
    )]
    animation_offset: Option<f64>,
    /// Play animations once and hold the last pose
    #[arg(long, requires = "animation")]
    no_loop: bool,
    /// `turntable`, `still`, or a camera of the file by name or index.
    ///
    /// [default: a turntable for static models; a still camera for animated ones and for a single picture]
    #[arg(long, value_name = "CAMERA", conflicts_with = "eye")]
    camera: Option<String>,
    /// `sky`, `studio`, a colour like #c8b090, or a panorama (.exr, .hdr).
    ///
    /// Colours may also be names like white or linear values like 0.5,0.5,0.5; panoramas may also be .png or .jpg. In a .ron scene, all but
    /// the studio replace the scene's own environment [default: the file's own environment, otherwise studio, or almost no light if the
    /// file has lights]
    #[arg(long, value_name = "WHAT", allow_hyphen_values = true, value_parser = OsStringValueParser::new().try_map(EnvironmentChoice::parse))]
    environment: Option<EnvironmentChoice>,
    /// Rotate the environment about the vertical axis; in scenes, only panoramas rotate
    #[arg(long, value_name = "DEGREES", allow_negative_numbers = true, value_parser = number_in(-3600.0_f32..=3600.0))]
    environment_rotation: Option<f32>,
    /// Leave out the ground plane
    #[arg(long)]
    no_ground: bool,
    /// Rotate the model by these angles in degrees: first about x, then y, then z
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = parse_point)]
    rotate: Option<Vec3>,
    /// Empty space around the model on each side, as a share of the picture's smaller side [default: 0.14]
    #[arg(long, value_name = "SHARE", value_parser = number_in(0.0_f32..=0.45))]
    margin: Option<f32>,
    /// Magnify the model by this factor; values below 1 make it smaller [default: 1]
    ///
    /// Scenes, and cameras from files, get a longer focal length instead
    #[arg(long, value_name = "FACTOR", value_parser = number_in(0.01_f32..=100.0))]
    zoom: Option<f32>,
    /// Revolutions of the turntable; negative numbers reverse its direction [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = parse_number)]
    turns: Option<f32>,
    /// Length of the sequence [default: 3, or one cycle of the animation]
    #[arg(long, value_name = "SECONDS", value_parser = parse_duration)]
    duration: Option<f32>,
    /// Frames per second, also as a fraction like 24000/1001, for which 23.976 is short [default: 24]
    #[arg(long, value_name = "RATE", value_parser = parse_rate)]
    fps: Option<f64>,
    /// Quality and time of pictures: draft, good or best [default: good]
    ///
    /// draft is for a quick look, best has no visible noise
    #[arg(long, value_name = "NAME", value_parser = flags::choice::<Preset>())]
    preset: Option<Preset>,
    /// Scene of the file, by name or index
    #[arg(long = "scene", id = "gltf_scene", value_name = "NAME|INDEX")]
    scene: Option<String>,
    /// Material variant of the model
    #[arg(long, value_name = "NAME")]
    variant: Option<String>,
    /// Also allow references to files in this folder, not only in the model's own. Also applies to models in a .ron scene (repeatable)
    #[arg(long, value_name = "PATH")]
    allow_dir: Vec<PathBuf>,
}

impl ViewArgs {
    pub fn options(&self) -> ViewOptions {
        let lens = self.lens.options();
        let options = ViewOptions {
            eye: self.eye,
            target: self.target,
            up: self.up,
            fov: self.fov,
            lens,
            ..ViewOptions::default()
        };
        self.frames.added_to(options)
    }

    /// The model axis that points up. None with an eye, because up is then a property of the camera.
    pub fn model_up(&self) -> Option<Vec3> {
        self.up.filter(|_| self.eye.is_none())
    }

    /// Time of the first frame, if given.
    pub fn start(&self) -> Option<f64> {
        self.time
    }
}

impl ModelArgs {
    /// Whether a faster preset is available.
    pub fn takes_draft(&self) -> bool {
        self.preset != Some(Preset::Draft)
    }

    /// Whether all animations are requested.
    pub fn plays_all(&self) -> bool {
        self.animation.iter().any(|text| text == "all")
    }

    pub fn options(&self) -> ModelOptions {
        let camera = self.camera.as_deref().map(CameraChoice::from);
        ModelOptions {
            animation: AnimationOptions {
                clips: self.animation.clone(),
                speed: self.animation_speed,
                offset: self.animation_offset,
                looped: !self.no_loop,
            },
            camera: camera.unwrap_or_default(),
            environment: self.environment.clone(),
            environment_rotation: self.environment_rotation,
            no_ground: self.no_ground,
            cut_out: false,
            shadow_catcher: false,
            scene: self.scene.clone(),
            variant: self.variant.clone(),
            allow_dirs: self.allow_dir.clone(),
            stage: StageOptions {
                margin: self.margin,
                zoom: self.zoom,
                turns: self.turns,
                duration: self.duration,
                fps: self.fps,
                rotate: self.rotate,
                preset: self.preset,
                ..StageOptions::default()
            },
        }
    }
}

fn parse_point(text: &str) -> Result<Vec3, String> {
    parse_triple(text).ok_or_else(|| "write three numbers like 1,2.5,-3".to_owned())
}

/// Parses an axis letter, with or without a sign, or a direction other than 0.
fn parse_up(text: &str) -> Result<Vec3, String> {
    let (sign, axis) = match text.strip_prefix('-') {
        Some(axis) => (-1.0, axis),
        None => (1.0, text),
    };
    let direction = match axis {
        "x" => Some(sign * Vec3::X),
        "y" => Some(sign * Vec3::Y),
        "z" => Some(sign * Vec3::Z),
        _ => parse_triple(text).filter(|up| up.length() > 0.0 && up.length().is_finite()),
    };
    direction.ok_or_else(|| "write an axis like z or -y, or a direction like 0,0,1".to_owned())
}

fn parse_duration(text: &str) -> Result<f32, String> {
    let seconds = text.parse().ok().filter(|x: &f32| *x > 0.0 && *x <= 86400.0);
    seconds.ok_or_else(|| "write a number of seconds above 0, at most 86400".to_owned())
}

/// Parses a number in `range`.
fn number_in<T>(range: RangeInclusive<T>) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync
where
    T: FromStr + PartialOrd + Display + Clone + Send + Sync,
{
    move |text| {
        let number = text.parse().ok().filter(|x| range.contains(x));
        number.ok_or_else(|| format!("write a number from {}", describe(&range)))
    }
}

fn parse_rate(text: &str) -> Result<f64, String> {
    let rate = FrameRate::parse(text).map(FrameRate::fps).filter(|fps| (0.1..=1000.0).contains(fps));
    rate.ok_or_else(|| "write a number from 0.1 to 1000, or a fraction like 24000/1001".to_owned())
}

pub(super) fn parse_number(text: &str) -> Result<f32, String> {
    number_in(-1e6..=1e6)(text)
}

fn parse_double(text: &str) -> Result<f64, String> {
    number_in(-1e6..=1e6)(text)
}

fn parse_fov(text: &str) -> Result<f32, String> {
    let degrees = text.parse().ok().filter(|x: &f32| *x > 0.0 && *x < 180.0);
    degrees.ok_or_else(|| "must be above 0 and below 180 degrees".to_owned())
}
