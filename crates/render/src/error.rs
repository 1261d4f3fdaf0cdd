//! Errors of a run.

use std::io;
use throng_denoise::DenoiseError;
use throng_device::{DeviceError, Frame};
use throng_output::{CheckpointError, OutputError};

#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    #[error("frame {frame}: {source}")]
    Device { frame: u32, source: DeviceError },
    #[error(transparent)]
    Load(#[from] DeviceError),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    #[error("frame {frame}: {source}")]
    Denoise { frame: u32, source: DenoiseError },
    #[error("cannot start a thread: {0}")]
    Thread(#[source] io::Error),
    /// A file that is read while frames are posed. The fault names it.
    #[error("frame {frame}: {fault}")]
    Input { frame: u32, fault: String },
}

/// Checks that all files that a posed frame needs could be read.
///
/// # Errors
/// [`RenderError::Input`] if not.
pub(super) fn check_inputs(frame: &Frame) -> Result<(), RenderError> {
    match frame.scene.placement_tables.fault() {
        None => Ok(()),
        Some(fault) => Err(RenderError::Input { frame: frame.number, fault: fault.to_owned() }),
    }
}

impl RenderError {
    /// The error in writing a file, if this is one.
    pub fn output(&self) -> Option<&OutputError> {
        match self {
            Self::Output(error) | Self::Checkpoint(CheckpointError::Write(error)) => Some(error),
            _ => None,
        }
    }

    /// The error with the name of the device on which it occurred.
    pub(super) fn on(self, device: &str) -> Self {
        match self {
            Self::Device { frame, source } => Self::Device { frame, source: source.on(device) },
            Self::Load(source) => Self::Load(source.on(device)),
            other => other,
        }
    }

    /// Whether this error is only the effect of a request to stop.
    pub fn is_stop(&self) -> bool {
        let source = match self {
            Self::Device { source, .. } => source,
            Self::Load(source) => source,
            Self::Output(_) | Self::Checkpoint(_) | Self::Denoise { .. } | Self::Thread(_) | Self::Input { .. } => {
                return false;
            }
        };
        matches!(source, DeviceError::Stopped)
    }
}
