//! Frames that are to be rendered, and what is done with them on the way.

#[cfg(feature = "cli")]
use super::limits;
use super::{Destination, FileOptions, Mismatched, Pattern, SampleRange, SettingsError, VideoName, files};
use crate::{
    device::{PixelType, Region},
    output::{OutputError, Planned, checkpoint_path},
    render::{RenderJob, SkipExisting},
};
use std::{path::Path, time::Duration};

/// What is done with frames before they are finished.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(next_help_heading = "Frames"))]
pub struct OngoingOptions {
    /// Keep the samples of each frame beside it, in a file named like it with .film at the end. The same command goes on from
    /// there after an interruption, and so does one with more --samples after the frame was finished. The noise is another than
    /// without this flag, and a little less even: samples are placed so that there may always be more
    #[cfg_attr(feature = "cli", arg(long))]
    pub checkpoint: bool,
    /// Write the frame that is under way as it stands every so often, as NAME.partial.png until it is finished. SIGUSR1
    /// does so at once
    #[cfg_attr(feature = "cli", arg(long, value_name = "SECONDS", value_parser = limits::parse_interval))]
    pub write_partial: Option<Duration>,
    /// Take only these of the --samples of a picture, counted from 1, into a file like a.film. throng merge joins such parts to the
    /// picture. The same command goes on after an interruption
    #[cfg_attr(feature = "cli", arg(long, value_name = "FIRST-LAST"))]
    pub sample_range: Option<SampleRange>,
    /// Render only this rectangle of the picture: its first column and row, counted from 0, its width and its height. It takes the memory of
    /// the rectangle alone; throng merge joins those in files like a.film to the picture. In .exr files it has its place in the whole frame
    #[cfg_attr(feature = "cli", arg(long, value_name = "X,Y,WIDTH,HEIGHT"))]
    pub region: Option<Region>,
}

/// Work for [`crate::render::run`].
#[derive(Clone, Debug)]
pub struct FramePlan {
    /// None: frames go to videos and sheets alone.
    pub output: Option<Destination>,
    pub files: FileOptions,
    /// Treatment of frames that exist; none: they are rendered again.
    pub skip_existing: Option<SkipExisting>,
    /// Whether runs that share a folder divide its frames.
    pub divided: bool,
    /// All frames that were asked for.
    pub asked: Vec<u32>,
    /// How many of them exist and are kept.
    pub skipped: usize,
}

impl OngoingOptions {
    /// Refuses to keep samples or partial pictures where frames have no files, beside which they are. A frame with other samples than
    /// are asked for is continued, by one run at a time.
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
    /// The number of frames that were asked for.
    pub(crate) fn total(&self) -> usize {
        self.asked.len()
    }

    /// The files of frames, if there are any.
    pub(crate) fn pattern(&self) -> Option<&Pattern> {
        match &self.output {
            Some(Destination::Files(files)) => Some(files),
            _ => None,
        }
    }

    /// The film that the samples of the only frame go to, instead of a picture.
    pub fn film(&self) -> Option<&Path> {
        match &self.output {
            Some(Destination::Film(path)) => Some(path),
            _ => None,
        }
    }

    /// The type of pixels that frames' files take; videos and sheets make do with it.
    pub(crate) fn pixels(&self) -> PixelType {
        if self.film().is_some() {
            return PixelType::F32;
        }
        let depth = self.files.encoding().depth;
        let format = files::format_of(self.output.as_ref());
        let pixels = format.and_then(|format| format.pixels(depth));
        pixels.unwrap_or_default()
    }

    /// All files that will be written: those of frames, with their samples where these are kept; then videos and sheets.
    pub(crate) fn planned(&self, scene: &str, ongoing: &OngoingOptions) -> Vec<Planned> {
        let mut planned = Vec::new();
        for &frame in &self.asked {
            let Some(files) = self.pattern() else { break };
            let path = files.path_for(frame, scene);
            if ongoing.checkpoint {
                let film = checkpoint_path(&path);
                planned.push(Planned::new(film, format!("the samples of frame {frame}")));
            }
            planned.push(Planned::new(path, format!("frame {frame}")));
        }
        planned.extend(self.film().map(|film| Planned::new(film.to_owned(), "the film")));
        let video = |video: &VideoName| Planned::new(video.path(scene), "the video");
        planned.extend(self.videos().map(video));
        let sheet = |sheet: &Pattern| Planned::new(sheet.path_for(0, scene), "the sheet");
        planned.extend(self.files.sheet.iter().map(sheet));
        planned
    }

    /// Leaves out of the job the frames that exist and are kept. Returns a line for people if some exist that cannot be.
    ///
    /// # Errors
    /// If one is another frame, and that is to be refused.
    pub(crate) fn skip(&mut self, job: &mut RenderJob) -> Result<Option<&'static str>, OutputError> {
        let Some(skip) = self.skip_existing else {
            return Ok(None);
        };
        job.frames = job.output.missing(job)?;
        self.skipped = self.asked.len() - job.frames.len();
        let lossy = self.pattern().is_some_and(|files| !files.format().is_lossless());
        Ok((skip.joined && lossy).then_some(
            "frames that exist are rendered again, since .jpg files do not have the pixels that videos and sheets are made of",
        ))
    }

    /// For people: the one file, or the pattern of all; then videos and sheets.
    pub(crate) fn describe_output(&self, scene: &str) -> String {
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
