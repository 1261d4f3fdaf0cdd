//! Exit codes, and which errors are the command line's fault.

use super::{interrupt, render::compare::CompareError};
use crate::farm::JobError;
use throng_loader::LoadError;
use throng_merge::MergeError;
use throng_output::PatternError;
use throng_render::frames::FramesError;
use throng_settings::SettingsError;

/// The exit code of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Done = 0,
    Failed = 1,
    Usage = 2,
    /// `EX_TEMPFAIL` of sysexits.h: the command can be resumed with `--skip-existing`.
    Stopped = 75,
}

impl Exit {
    pub fn code(self) -> u8 {
        match self {
            // Flags that set the stop code accept one byte only.
            Self::Stopped => interrupt::stop_code() as u8,
            other => other as u8,
        }
    }
}

/// A command line error that clap does not find.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// Returns a usage error unless `holds`.
pub fn demand(holds: bool, otherwise: &str) -> Result<(), UsageError> {
    if holds { Ok(()) } else { Err(UsageError(otherwise.to_owned())) }
}

/// The exit code for an error.
pub fn exit_of(error: &anyhow::Error) -> Exit {
    let usage = error.downcast_ref::<crate::Error>().is_some_and(crate::Error::is_usage)
        || error.downcast_ref::<SettingsError>().is_some_and(SettingsError::is_usage)
        || error.downcast_ref::<LoadError>().is_some_and(LoadError::is_usage)
        || error.downcast_ref::<MergeError>().is_some_and(MergeError::is_usage)
        || error.downcast_ref::<JobError>().is_some_and(JobError::is_usage)
        || error.is::<UsageError>()
        || error.is::<PatternError>()
        || error.is::<FramesError>()
        || matches!(error.downcast_ref(), Some(CompareError::OneDevice));
    if usage { Exit::Usage } else { Exit::Failed }
}
