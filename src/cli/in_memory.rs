//! Options of `throng render` for pictures in memory, from the texts of its flags.

use super::args::TreeArgs;
use clap::Parser;
use std::ffi::OsString;
use throng_base::flags;
use throng_loader::LoadOptions;
use throng_scene::rig::RefitPolicy;
use throng_settings::{AovOptions, FrameOptions, PictureOptions, RenderOptions};

/// The flags that describe pictures, whatever becomes of them.
#[derive(clap::Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct PictureFlags {
    #[command(flatten)]
    picture: RenderOptions,
    #[command(flatten)]
    aovs: AovOptions,
    #[command(flatten)]
    trees: TreeArgs,
    #[arg(long, value_parser = flags::choice::<RefitPolicy>())]
    refit: Option<RefitPolicy>,
    // `--shadow-catcher` excludes this flag, which the scene has.
    #[arg(long)]
    no_ground: bool,
}

/// The flags that describe how a file is loaded.
#[derive(clap::Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct LoadFlags {
    #[command(flatten)]
    load: LoadOptions,
}

/// The flags that choose frames and describe files.
#[derive(clap::Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct FrameFlags {
    #[command(flatten)]
    frames: FrameOptions,
}

/// The loader's options for these flags.
///
/// # Errors
/// If a flag does not exist, or its value is malformed or out of range. The text is one line.
pub fn load_options(flags: impl IntoIterator<Item = OsString>) -> Result<LoadOptions, String> {
    LoadFlags::try_parse_from(flags).map(|flags| flags.load).map_err(|error| reason(&error))
}

/// The options of pictures for these flags, without those of the loader.
///
/// # Errors
/// As [`load_options`]. Also if the folder for trees cannot be used.
pub fn picture_options(flags: impl IntoIterator<Item = OsString>) -> Result<PictureOptions, String> {
    let PictureFlags { picture, aovs, trees, refit, .. } =
        PictureFlags::try_parse_from(flags).map_err(|error| reason(&error))?;
    let trees = trees.open().map_err(|error| error.to_string())?;
    Ok(PictureOptions { picture, aovs, trees, refit, ..PictureOptions::default() })
}

/// The choice of frames and files for these flags.
///
/// # Errors
/// As [`load_options`].
pub fn frame_options(flags: impl IntoIterator<Item = OsString>) -> Result<FrameOptions, String> {
    FrameFlags::try_parse_from(flags).map(|flags| flags.frames).map_err(|error| reason(&error))
}

/// Clap's message in one line, without its advice on usage.
fn reason(error: &clap::Error) -> String {
    let text = error.to_string();
    let message = text.split("\n\nUsage:").next().unwrap_or_default();
    let message = message.split("\n\nFor more information").next().unwrap_or_default();
    let lines: Vec<&str> = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join("; ").trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn flags_are_those_of_the_command_line() {
        let options = picture_options(flags("--samples=8 --layers=depth,normal --denoise=oidn --transparent")).unwrap();
        assert_eq!((options.picture.samples, options.aovs.aovs.len(), options.aovs.transparent), (Some(8), 2, true));
        assert!(load_options(flags("--set=render.samples=4 --variant=blue")).is_ok());
    }

    #[test]
    fn errors_name_the_flag_in_one_line() {
        let error = picture_options(flags("--samples=0")).err().unwrap();
        assert!(error.contains("--samples") && !error.contains('\n'), "{error}");
        let error = picture_options(flags("--sample=1")).err().unwrap();
        assert!(error.contains("--sample") && error.contains("--samples"), "{error}");
    }
}
