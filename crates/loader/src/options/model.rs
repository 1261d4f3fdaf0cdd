//! Options for standalone models.

use super::EnvironmentChoice;
#[cfg(feature = "cli")]
use super::flags;
#[cfg(feature = "cli")]
use clap::builder::{OsStringValueParser, TypedValueParser};
use glam::Vec3;
use std::path::PathBuf;
use throng_base::choice::choice;
use throng_scene::desc::{Purpose, Subdivision};

/// Options for standalone models. Some also apply to models in scene files, as noted. `environment_rotation` is in degrees, about +Y.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(
    feature = "cli",
    derive(clap::Args),
    command(next_help_heading = "Models (.gltf, .glb, .usd*, .pbrt, .obj, .ply, .stl)")
)]
pub struct ModelOptions {
    /// Animations to play.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub animation: AnimationOptions,
    /// `turntable`, `still`, or a camera of the file by name or index.
    ///
    /// [default: a turntable for static models; a still camera for animated ones and for a single picture]
    #[cfg_attr(feature = "cli", arg(long, value_name = "CAMERA", conflicts_with = "eye"))]
    pub camera: Option<CameraChoice>,
    /// `sky`, `studio`, a colour like #c8b090, or a panorama (.exr, .hdr).
    ///
    /// Colours may also be names like white or linear values like 0.5,0.5,0.5; panoramas may also be .png or .jpg. In a .ron scene, all but
    /// the studio replace the scene's own environment [default: the file's own environment, otherwise studio, or almost no light if the
    /// file has lights]
    #[cfg_attr(feature = "cli", arg(long, value_name = "WHAT", allow_hyphen_values = true, value_parser = OsStringValueParser::new().try_map(EnvironmentChoice::parse)))]
    pub environment: Option<EnvironmentChoice>,
    /// Rotate the environment about the vertical axis; in scenes, only panoramas rotate
    #[cfg_attr(feature = "cli", arg(long, value_name = "DEGREES", allow_negative_numbers = true, value_parser = flags::within(-3600.0_f32..=3600.0)))]
    pub environment_rotation: Option<f32>,
    /// Leave out the ground plane
    #[cfg_attr(feature = "cli", arg(long))]
    pub no_ground: bool,
    /// Leaves out the ground plane because the background is transparent or replaced. Applies to all kinds of files.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub cut_out: bool,
    /// Keeps the ground plane as a shadow catcher, even with `cut_out`.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub shadow_catcher: bool,
    /// Size, placement and timing.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub stage: StageOptions,
    /// Scene of the file, by name or index; of a USD file, the path of a prim
    #[cfg_attr(feature = "cli", arg(long = "scene", id = "gltf_scene", value_name = "NAME|INDEX|PRIM"))]
    pub scene: Option<String>,
    /// Material variant of a glTF file; of a USD file, a variant like /Car{color=red} (repeatable)
    #[cfg_attr(feature = "cli", arg(long = "variant", id = "variant", value_name = "NAME|CHOICE"))]
    pub variants: Vec<String>,
    /// Draw only geometry of these purposes of a USD file, besides that of none: render, proxy, guide [default: render]
    #[cfg_attr(feature = "cli", arg(long = "purpose", id = "purpose", value_name = "NAME", value_delimiter = ',', value_parser = flags::choice::<Purpose>()))]
    pub purposes: Vec<Purpose>,
    /// Level of subdivision surfaces: auto, or 0 (their cages) to 7 [default: auto for USD files, 0 for .obj and .ply]
    ///
    /// Each level has four times as many triangles. With auto, edges have at most about four pixels where the film shows a surface nearest.
    /// A .ron scene has `subdivision` in the entries of its meshes
    #[cfg_attr(feature = "cli", arg(long, value_name = "LEVEL"))]
    pub subdivision: Option<Subdivision>,
    /// Width of the lines of a glTF model, in its units [default: in proportion to the model]
    #[cfg_attr(feature = "cli", arg(long, value_name = "WIDTH", value_parser = flags::width))]
    pub line_width: Option<f32>,
    /// Also allow references to files in this folder, not only in the model's own. Also applies to models in a .ron scene (repeatable)
    #[cfg_attr(feature = "cli", arg(long = "allow-dir", value_name = "PATH"))]
    pub allow_dirs: Vec<PathBuf>,
}

/// Presentation of a standalone model: camera path, size in the picture, and timing. `duration` is in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct StageOptions {
    /// Width and height of the pictures. None: the default size.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub size: Option<(u32, u32)>,
    /// Rotate the model by these angles in degrees: first about x, then y, then z
    #[cfg_attr(feature = "cli", arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = flags::point))]
    pub rotate: Option<Vec3>,
    /// Empty space around the model on each side, as a share of the picture's smaller side [default: 0.14]
    #[cfg_attr(feature = "cli", arg(long, value_name = "SHARE", value_parser = flags::within(0.0_f32..=0.45)))]
    pub margin: Option<f32>,
    /// Magnify the model by this factor; values below 1 make it smaller [default: 1]
    ///
    /// Scenes, and cameras from files, get a longer focal length instead
    #[cfg_attr(feature = "cli", arg(long, value_name = "FACTOR", value_parser = flags::within(0.01_f32..=100.0)))]
    pub zoom: Option<f32>,
    /// Revolutions of the turntable; negative numbers reverse its direction [default: 1]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", allow_negative_numbers = true, value_parser = flags::number))]
    pub turns: Option<f32>,
    /// Length of the sequence [default: 3, or one cycle of the animation]
    #[cfg_attr(feature = "cli", arg(long, value_name = "SECONDS", value_parser = flags::duration))]
    pub duration: Option<f32>,
    /// Frames per second, also as a fraction like 24000/1001, for which 23.976 is short [default: 24]
    #[cfg_attr(feature = "cli", arg(long, value_name = "RATE", value_parser = flags::rate))]
    pub fps: Option<f64>,
    /// Quality and time of pictures: draft, good or best [default: good]
    ///
    /// draft is for a quick look, best has no visible noise
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME", value_parser = flags::choice::<Preset>()))]
    pub preset: Option<Preset>,
    /// Whether a single picture is rendered. It gets a still camera instead of a turntable, unless `turns` or `duration` are given.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub single: bool,
}

choice! {
    /// Trade-off between time and quality for pictures of a standalone model.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Preset {
        /// For a quick look: few samples, visible noise.
        Draft = "draft",
        /// Adaptive sampling: more samples in noisy parts.
        Good = "good",
        /// Sampling until no noise is visible.
        Best = "best",
    }
}

/// The animations to play, and their playback. `offset` is in seconds; without it, animations begin at their start, or at their end if they
/// are played backwards once.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct AnimationOptions {
    /// Play these animations, by name or index; `all` plays all.
    ///
    /// Indices start at 0. Animations separated by commas are played simultaneously. With `{animation}` in --output or --video, each
    /// animation gets its own files. With --sheet, `all` gives each animation a row with its name [default: the model is at
    /// rest]
    #[cfg_attr(feature = "cli", arg(id = "animation", long, value_name = "NAME|INDEX"))]
    pub clips: Vec<String>,
    /// Playback speed of animations; 0 shows a fixed pose, negative numbers play backwards
    #[cfg_attr(feature = "cli", arg(id = "animation-speed", long, value_name = "FACTOR", default_value_t = 1.0, hide_default_value = true, allow_negative_numbers = true, value_parser = flags::double, requires = "animation"))]
    pub speed: f64,
    /// Start time within the animations
    #[cfg_attr(feature = "cli", arg(id = "animation-offset", long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = flags::double, requires = "animation"))]
    pub offset: Option<f64>,
    /// Play animations once and hold the last pose
    #[cfg_attr(feature = "cli", arg(id = "no-loop", long, requires = "animation"))]
    pub once: bool,
}

impl Default for AnimationOptions {
    fn default() -> Self {
        Self { clips: Vec::new(), speed: 1.0, offset: None, once: false }
    }
}

/// The camera for a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CameraChoice {
    /// Always a turntable.
    Turntable,
    /// Always a still camera.
    Still,
    /// Name or index of one of the file's cameras.
    Of(String),
}

impl From<&str> for CameraChoice {
    fn from(text: &str) -> Self {
        match text {
            "turntable" => Self::Turntable,
            "still" => Self::Still,
            _ => Self::Of(text.to_owned()),
        }
    }
}
