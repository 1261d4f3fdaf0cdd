//! The frames to render, and their treatment before they are finished.

#[cfg(feature = "cli")]
use super::limits;
use super::{Destination, FileOptions, Mismatched, Pattern, SampleRange, SettingsError, VideoName, files};
use std::{path::Path, time::Duration};
use throng_device::{PixelType, Region};
use throng_output::{OutputError, Planned, checkpoint_path};
use throng_render::{RenderJob, SkipExisting};

/// Settings of unfinished frames.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(next_help_heading = "Frames"))]
#[doc(hidden)]
pub struct OngoingOptions {
    /// Keep the samples of each frame beside it, in a file with its name and .film appended. After an interruption, the same command
    /// continues from there; after the frame is finished, a command with more --samples does. Samples are placed so that more can follow,
    /// so the noise differs from a run without this flag and is slightly less even
    #[cfg_attr(feature = "cli", arg(long))]
    pub checkpoint: bool,
    /// Write the unfinished frame at this interval, as NAME.partial.png until it is finished. SIGUSR1 writes it immediately
    #[cfg_attr(feature = "cli", arg(long, value_name = "SECONDS", value_parser = limits::parse_interval))]
    pub write_partial: Option<Duration>,
    /// Take only this part of the picture's --samples, counted from 1, and write a file like a.film. throng merge joins the parts. After an
    /// interruption, the same command continues
    #[cfg_attr(feature = "cli", arg(long, value_name = "FIRST-LAST"))]
    pub sample_range: Option<SampleRange>,
    /// Render only this rectangle of the picture: first column and row, counted from 0, then width and height. It takes memory for the
    /// rectangle only. throng merge joins regions in files like a.film. .exr files record the place of the region in the whole frame
    #[cfg_attr(feature = "cli", arg(long, value_name = "X,Y,WIDTH,HEIGHT"))]
    pub region: Option<Region>,
}

/// A plan for [`throng_render::run`].
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct FramePlan {
    /// Output of single frames. None: frames go only to videos and sheets.
    pub output: Option<Destination>,
    /// Videos, sheets and settings of files.
    pub files: FileOptions,
    /// Treatment of existing frames. None: they are rendered again.
    pub skip_existing: Option<SkipExisting>,
    /// Whether runs that share a folder divide its frames.
    pub divided: bool,
    /// All requested frames.
    pub asked: Vec<u32>,
    /// Number of requested frames that exist and are kept.
    pub skipped: usize,
}

impl OngoingOptions {
    /// Refuses checkpoints and partial pictures if frames are not written to files, because both are stored beside those. A frame with a
    /// different number of samples is continued, by one run at a time.
    pub(crate) fn apply_to(&self, plan: &mut FramePlan, mismatched: Option<Mismatched>) -> Result<(), SettingsError> {
        let is_film = plan.film().is_some();
        if plan.pattern().is_none() && (self.checkpoint && !is_film || self.write_partial.is_some()) {
            return Err(SettingsError::Ongoing);
        }
        plan.divided |= self.checkpoint;
        if let (true, None, Some(skip)) = (self.checkpoint, mismatched, &mut plan.skip_existing) {
            skip.mismatched = Mismatched::Render;
        }
        Ok(())
    }
}

impl FramePlan {
    /// Number of requested frames.
    #[doc(hidden)]
    pub fn total(&self) -> usize {
        self.asked.len()
    }

    /// The file name pattern of frames. None if frames have no files.
    #[doc(hidden)]
    pub fn pattern(&self) -> Option<&Pattern> {
        match &self.output {
            Some(Destination::Files(files)) => Some(files),
            _ => None,
        }
    }

    /// The film that receives the samples of the only frame, instead of a picture.
    pub fn film(&self) -> Option<&Path> {
        match &self.output {
            Some(Destination::Film(path)) => Some(path),
            _ => None,
        }
    }

    /// The pixel type of the frames' files. Videos and sheets accept every type.
    #[doc(hidden)]
    pub fn pixels(&self) -> PixelType {
        if self.film().is_some() {
            return PixelType::F32;
        }
        let depth = self.files.encoding().depth;
        let format = files::format_of(self.output.as_ref());
        let pixels = format.and_then(|format| format.pixels(depth));
        pixels.unwrap_or_default()
    }

    /// All files that will be written: the files of frames, with their checkpoints and labels; then videos and sheets.
    pub(crate) fn planned(&self, scene: &str, ongoing: &OngoingOptions) -> Vec<Planned> {
        let mut planned = Vec::new();
        let labels = self.labels();
        for &frame in &self.asked {
            let Some(files) = self.pattern() else { break };
            let path = files.path_for(frame, scene);
            if ongoing.checkpoint {
                let film = checkpoint_path(&path);
                planned.push(Planned::new(film, format!("the samples of frame {frame}")));
            }
            let labels = labels.files_of(&path);
            planned.extend(labels.into_iter().map(|path| Planned::new(path, format!("a label of frame {frame}"))));
            planned.push(Planned::new(path, format!("frame {frame}")));
        }
        let folder = self.pattern().map(|files| files.folder_for(scene)).unwrap_or_default();
        let shared = labels.shared_files().into_iter().map(|name| folder.join(name));
        planned.extend(shared.map(|path| Planned::new(path, "the labels of all frames")));
        planned.extend(self.film().map(|film| Planned::new(film.to_owned(), "the film")));
        let video = |video: &VideoName| Planned::new(video.path(scene), "the video");
        planned.extend(self.videos().map(video));
        let sheet = |sheet: &Pattern| Planned::new(sheet.path_for(0, scene), "the sheet");
        planned.extend(self.files.sheet.iter().map(sheet));
        planned
    }

    /// Removes frames from the job that exist and are kept. Returns a note for the user if some existing frames cannot be kept.
    ///
    /// # Errors
    /// If an existing frame does not match and mismatches are refused.
    pub(crate) fn skip(&mut self, job: &mut RenderJob) -> Result<Option<&'static str>, OutputError> {
        let Some(skip) = self.skip_existing else {
            return Ok(None);
        };
        job.frames = job.output.missing(job)?;
        self.skipped = self.asked.len() - job.frames.len();
        let lossy = self.pattern().is_some_and(|files| !files.format().is_lossless());
        Ok((skip.joined && lossy).then_some(
            "existing frames are rendered again, because .jpg files lack the exact pixels for videos and sheets",
        ))
    }

    /// A description for the user: the single file, or the pattern of all files; then videos and sheets.
    #[doc(hidden)]
    pub fn describe_output(&self, scene: &str) -> String {
        let frames = match (&self.output, &self.asked[..]) {
            (Some(Destination::Files(files)), [frame]) => Some(files.path_for(*frame, scene).display().to_string()),
            (Some(Destination::Files(files)), _) => Some(files.describe(scene)),
            (Some(Destination::Stream(stream, _)), _) => Some(stream.to_string()),
            (Some(Destination::Film(path)), _) => Some(path.display().to_string()),
            _ => None,
        };
        let videos = self.videos().map(|video| video.describe(scene));
        let sheet = self.files.sheet.iter().map(|sheet| sheet.describe(scene));
        let all: Vec<String> = frames.into_iter().chain(videos).chain(sheet).collect();
        all.join(", ")
    }
}
