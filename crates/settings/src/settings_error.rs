//! Errors in the user's choices, with the fix.

use super::{PartError, limits};
use std::path::PathBuf;
use throng_base::memory::describe;
use throng_device::{DeviceNameError, RegionError};
use throng_output::{MapKind, PatternError};
use throng_render::frames::FramesError;
use throng_scene::ShutterError;

/// Errors in the user's choices.
#[allow(missing_docs, reason = "their texts say what is wrong")]
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("--frames: {0}")]
    Frames(#[from] FramesError),
    #[error("--output: {0}")]
    Output(#[from] PatternError),
    #[error("--video: {0}")]
    Video(#[source] PatternError),
    #[error("--sheet: {0}")]
    Sheet(#[source] PatternError),
    #[error("{} and {} would both become {}: rename one of them, or render them in separate runs", .first.display(), .second.display(), .path.display())]
    SameFile { path: PathBuf, first: PathBuf, second: PathBuf },
    #[error("--compare takes a single scene, not several or a folder")]
    CompareSeveral,
    #[error("--skip-existing requires files of frames; add -o frames/####.png")]
    NothingToKeep,
    #[error("videos and contact sheets need display colours, not radiance; choose an --output of .png, .jpg or .webp")]
    Linear,
    #[error(
        "--color-depth: .{extension} files do not have that many bits; .png has 8 or 16, .exr 16 or 32, .npz 32, all others 8"
    )]
    Depth { extension: &'static str },
    #[error(
        ".{extension} pictures have at most {limit} pixels on each side; choose a smaller --size or another format"
    )]
    TooLarge { extension: &'static str, limit: u32 },
    #[error(
        "--sheet: a sheet of {width}x{height} pixels is too large for .{extension}, which has at most {limit} on each side; \
         choose fewer --sheet-frames, or a .png"
    )]
    LargeSheet { width: u32, height: u32, extension: &'static str, limit: u32 },
    #[error(
        "--transparent: .{extension} files have no transparency; .png, .webp, .apng, .exr, .npz, .mov and .webm files do"
    )]
    Opaque { extension: &'static str },
    #[error("--color-depth: videos and contact sheets have 8 bits; write frames to files with --output")]
    VideoDepth,
    #[error("standard output cannot carry both pictures and --progress json or openjd")]
    StandardOutput,
    #[error("--checkpoint and --write-partial store files beside the frames; write frames to files with --output")]
    Ongoing,
    #[error("--device: {count} devices are named, but only one is allowed; write several GPUs like cuda:0,1")]
    ManyDevices { count: usize },
    #[error("--labels requires pictures in files; add -o frames/####.png")]
    Labels,
    #[error("--labels: several runs would write {}; put {place} into the name of the folder, like -o '{place}/####.png'", .path.display())]
    SharedLabels { path: PathBuf, place: &'static str },
    #[error(
        "--labels {kind}: the scene has {count} of these, and PNG files have numbers up to 65,534; write {kind}:npy"
    )]
    OverfullMap { kind: MapKind, count: u64 },
    #[error(
        "--labels: the scene has {count} objects for `{kind}`, and at most 16,777,216 are numbered; leave such labels out"
    )]
    ManyObjects { kind: MapKind, count: u64 },
    #[error("--labels transforms: the camera of frame {frame} {fault}; leave the label out")]
    NoTransforms { frame: u32, fault: &'static str },
    #[error("--layers requires an --output of .exr, .npz or .film files")]
    Layers,
    #[error("--layers error requires denoised frames: add --denoise frames, or remove the layer")]
    ErrorLayer,
    #[error("frames stay on the GPU as they are traced: turn off denoising, backgrounds and coloured wireframes")]
    Kept,
    #[error("filter_width does not apply to the filter `shared`, which is 3 pixels wide; remove it, or use `gaussian`")]
    SharedWidth,
    #[error("--region: {0}")]
    Region(#[from] RegionError),
    #[error(transparent)]
    Part(#[from] PartError),
    #[error("--device: {0}")]
    DeviceName(#[from] DeviceNameError),
    #[error("--shutter: {0}")]
    Shutter(#[from] ShutterError),
    #[error(transparent)]
    Limit(#[from] limits::LimitError),
    #[error("--denoise requires --integrator path or whitted")]
    DenoisedView,
    #[error(
        "--checkpoint keeps the samples of single frames, but --denoise combines neighbouring frames: render .exr files \
         with --checkpoint and use throng denoise, or add --denoise-frames 0"
    )]
    DenoisedCheckpoint,
    #[error("the render settings: {name} is {value}; it must be {allowed}")]
    Scene { name: &'static str, value: String, allowed: String },
    #[error(
        "a picture of {width}x{height} pixels needs about {} of memory and this machine has {}; \
         choose a smaller --size, or make parts with --region",
        describe(*.needed),
        describe(*.available)
    )]
    Memory { width: u32, height: u32, needed: u64, available: u64 },
}

impl SettingsError {
    /// Whether the cause is the command line, not the scene or the machine.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Frames(_)
                | Self::Output(_)
                | Self::Video(_)
                | Self::Sheet(_)
                | Self::SameFile { .. }
                | Self::CompareSeveral
                | Self::ManyDevices { .. }
                | Self::NothingToKeep
                | Self::Linear
                | Self::Depth { .. }
                | Self::VideoDepth
                | Self::Opaque { .. }
                | Self::TooLarge { .. }
                | Self::LargeSheet { .. }
                | Self::StandardOutput
                | Self::Region(_)
                | Self::Part(_)
                | Self::DeviceName(_)
                | Self::Shutter(_)
                | Self::Limit(_)
                | Self::Ongoing
                | Self::Layers
                | Self::Labels
                | Self::SharedLabels { .. }
                | Self::OverfullMap { .. }
                | Self::ManyObjects { .. }
                | Self::NoTransforms { .. }
                | Self::ErrorLayer
                | Self::Kept
                | Self::SharedWidth
                | Self::DenoisedView
                | Self::DenoisedCheckpoint
        )
    }
}
