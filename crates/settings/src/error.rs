//! The error type of all operations of a renderer.

use crate::{PartError, SettingsError, limits::LimitError};
use throng_denoise::DenoiseError;
use throng_device::{DeviceError, DeviceNameError, RegionError};
use throng_loader::LoadError;
use throng_output::{OutputError, PatternError};
use throng_render::{CacheError, RayError, RenderError, frames::FramesError};
use throng_scene::{LostReference, ShutterError};

/// Reasons for which a picture could not be made. Each text names the file and the object, and suggests a remedy. If it names a flag of the command
/// line, it refers to the option with that name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file, or a scene that was built in code, is invalid. The text gives the place and a remedy.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// Options are out of range, contradict each other, or exceed the scene or the machine.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A scene refers to a mesh, a material or a texture that it lacks.
    #[error(transparent)]
    Scene(#[from] LostReference),
    /// The device does not exist or cannot be opened.
    #[error("cannot open the device: {0}")]
    Device(#[source] DeviceError),
    /// A ray has no direction, or a number that is not finite.
    #[error(transparent)]
    Ray(#[from] RayError),
    /// A frame could not be rendered.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// A picture or a video could not be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// Open Image Denoise is missing or failed.
    #[error(transparent)]
    Denoise(#[from] DenoiseError),
    /// The folder for stored trees cannot be used.
    #[error(transparent)]
    Cache(#[from] CacheError),
}

/// Options that are parsed from text, such as `"cuda:0".parse()?`, fail with their own error types.
macro_rules! from_choices {
    ($($error:ty),*) => {
        $(impl From<$error> for Error {
            fn from(error: $error) -> Self {
                SettingsError::from(error).into()
            }
        })*
    };
}

from_choices!(DeviceNameError, FramesError, LimitError, PartError, PatternError, RegionError, ShutterError);

impl Error {
    /// Whether the work ended because its caller stopped it.
    pub fn is_stop(&self) -> bool {
        matches!(self, Self::Render(error) if error.is_stop())
    }

    /// Whether the request is wrong, as opposed to a file or the machine.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Load(error) => error.is_usage(),
            Self::Settings(error) => error.is_usage(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Exposure, FrameList, SampleRange, Shutter, Size};

    #[test]
    fn choices_that_cannot_be_parsed_are_errors_of_the_request() {
        fn parsed<T: std::str::FromStr>(text: &str) -> Error
        where
            Error: From<T::Err>,
        {
            let parse = || -> Result<T, Error> { Ok(text.parse()?) };
            parse().err().unwrap()
        }
        for (error, said) in [
            (parsed::<throng_device::DeviceChoice>("gpu"), "`gpu` is not a device"),
            (parsed::<Size>("640"), "write width and height"),
            (parsed::<Exposure>("bright"), "must be"),
            (parsed::<FrameList>("x"), "--frames: "),
            (parsed::<SampleRange>("one"), "write the first and the last sample"),
            (parsed::<Shutter>("wide"), "--shutter: "),
        ] {
            assert!(error.is_usage() && error.to_string().contains(said), "{error}");
        }
    }
}
