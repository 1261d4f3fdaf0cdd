//! Reasons why films cannot be joined.

use std::path::PathBuf;
use throng_device::{DeviceError, Region};
use throng_output::{CheckpointError, OutputError};

#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    #[error("--output: films are joined into .png, .exr or .film files, but {} is none of these", .0.display())]
    Format(PathBuf),
    #[error("--color-depth: .{extension} files do not have that many bits; .png has 8 or 16, .exr 16 or 32")]
    Depth { extension: &'static str },
    #[error("{} and {} belong to different pictures: in the second, {why}", .first.display(), .second.display())]
    Different { first: PathBuf, second: PathBuf, why: String },
    #[error(
        "{} was sampled by noise, which requires the whole picture; make parts with --samples instead of --noise",
        .0.display()
    )]
    Noise(PathBuf),
    #[error("{} was interrupted before it had its layers; run its command again to finish it", .0.display())]
    Unfinished(PathBuf),
    #[error(
        "{} has no sums of layers, as checkpoints of pictures do not; render the part into a file like a.film",
        .0.display()
    )]
    NoLayers(PathBuf),
    #[error("no film has samples {samples}{place}{more}")]
    Gap { samples: String, place: String, more: String },
    #[error("{first} and {second} both have samples {samples} of the region {region}")]
    Overlap { first: String, second: String, samples: String, region: Region },
    #[error("{}", explain(.0))]
    Film(#[from] CheckpointError),
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error(transparent)]
    Output(#[from] OutputError),
}

/// The message for a part that cannot be joined, with a remedy if there is one.
fn explain(error: &CheckpointError) -> String {
    match error {
        CheckpointError::Damaged { path } => {
            format!("the film {} is damaged: delete it and render that part again", path.display())
        }
        other => other.to_string(),
    }
}

impl MergeError {
    /// Whether the command line is at fault, and not a film.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Format(_) | Self::Depth { .. })
    }
}
