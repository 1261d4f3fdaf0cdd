//! Unfinished frames: their samples in checkpoints, from which another run can continue, and their partial pictures.

use super::{sampling::sampling, window::Traced};
use crate::{RenderError, RenderJob, results::write};
use std::{
    fs,
    ops::Range,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};
use throng_device::{Accumulation, Filtered, FrameSettings, Rendered, Samples};
use throng_output::{
    CheckpointError, CheckpointIdentity, FilmHeader, FilmPicture, checkpoint_path, read_checkpoint, write_film,
};
use throng_picture::pixels::Floats;

/// Options for frames that are still being rendered.
pub struct Ongoing<'a> {
    /// Keeps the samples of frames in checkpoints beside their files, and continues from existing checkpoints.
    pub checkpoint: bool,
    /// Interval at which the unfinished frame is written as a partial picture; none for never.
    pub partial_interval: Option<Duration>,
    /// Request to write the unfinished frame now. The flag is cleared when the frame is written.
    pub asked: &'a AtomicBool,
    /// Renders only this range of samples, and writes them to this file instead of a picture. The job must have a single frame.
    pub part: Option<(PathBuf, Range<u32>)>,
}

impl Ongoing<'_> {
    /// Whether samples are kept in files, to which more can be added later.
    fn keeps(&self) -> bool {
        self.checkpoint || self.part.is_some()
    }
}

/// Creates the keepers of a run's frames.
pub struct Keepers<'a> {
    job: &'a RenderJob,
    ongoing: &'a Ongoing<'a>,
    /// Hash of the scene; empty if no samples are kept.
    scene: String,
}

impl<'a> Keepers<'a> {
    pub fn new(job: &'a RenderJob, ongoing: &'a Ongoing<'a>) -> Self {
        let scene = if ongoing.keeps() { format!("{:016x}", job.scene.content_hash()) } else { String::new() };
        Self { job, ongoing, scene }
    }

    /// The keeper of `frame`, which is traced for `written`, the frame that this run writes next. `settings` are the frame's own, with its
    /// measured exposure.
    pub fn of(&self, (frame, written): (u32, u32), settings: &FrameSettings) -> Keeper<'a> {
        Keeper { is_written: frame == written, ..Keeper::new(self, frame, settings) }
    }
}

/// The checkpoint and the partial picture of an unfinished frame.
pub struct Keeper<'a> {
    pub ongoing: &'a Ongoing<'a>,
    pub frame: u32,
    /// Whether this run writes the frame. A frame that is only traced for its neighbours may be written by another run at this moment.
    is_written: bool,
    checkpoint: PathBuf,
    partial: PathBuf,
    identity: CheckpointIdentity,
    /// The picture for which the film collects samples.
    picture: FilmPicture,
}

impl<'a> Keeper<'a> {
    fn new(keepers: &Keepers<'a>, frame: u32, settings: &FrameSettings) -> Self {
        let &Keepers { job, ongoing, ref scene } = keepers;
        let files = job.output.files.as_ref();
        let path = files.map(|files| files.path_for(frame, &job.scene.name)).unwrap_or_default();
        Self {
            ongoing,
            frame,
            is_written: true,
            checkpoint: ongoing.part.as_ref().map_or_else(|| checkpoint_path(&path), |(path, _)| path.clone()),
            partial: partial_path(&path),
            identity: CheckpointIdentity {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                scene: scene.clone(),
                frame,
                settings: format!("{:?}", sampling(settings)),
            },
            picture: FilmPicture {
                settings: settings.clone(),
                aovs: job.aovs,
                metadata: job.output.metadata_of(job, frame, settings),
                manifests: job.output.manifests.clone(),
            },
        }
    }

    pub fn keeps(&self) -> bool {
        self.is_written && self.ongoing.keeps()
    }

    /// Settings for tracing: the settings of the picture, limited to the requested range of samples.
    pub fn settings(&self) -> FrameSettings {
        let settings = self.picture.settings.clone();
        match &self.ongoing.part {
            Some((_, samples)) => FrameSettings { samples: samples.end, ..settings },
            None => settings,
        }
    }

    /// The film stored in the checkpoint, or an empty film if there is no checkpoint.
    ///
    /// # Errors
    /// If the checkpoint cannot be read, is damaged, or has other samples than this run would continue with.
    pub fn begin(&self, settings: &FrameSettings) -> Result<Accumulation, CheckpointError> {
        if !self.keeps() {
            return Ok(Accumulation::new(settings));
        }
        let part = self.ongoing.part.as_ref().map(|(_, samples)| samples);
        let first = part.map_or(0, |samples| samples.start);
        match read_checkpoint(&self.checkpoint, &self.identity)? {
            None => Ok(Accumulation::from_sample(settings, first)),
            Some(film) if !film.fits(settings) => Err(CheckpointError::Damaged { path: self.checkpoint.clone() }),
            Some(film) if film.state.first != first || part.is_some_and(|samples| film.state.samples > samples.end) => {
                let why = format!("it has samples {}-{}", film.state.first + 1, film.state.samples);
                Err(CheckpointError::Other { path: self.checkpoint.clone(), why })
            }
            Some(film) => Ok(film),
        }
    }

    /// Stores the samples, if they are kept. Their sums must be in host memory.
    pub fn put_aside(&self, film: &Samples) -> Result<(), RenderError> {
        if !self.keeps() || film.state().range().is_empty() {
            return Ok(());
        }
        let film = film.host().map_err(|source| RenderError::Device { frame: self.frame, source })?;
        let samples = self.ongoing.part.as_ref().map_or(self.picture.settings.samples, |(_, samples)| samples.end);
        let header = FilmHeader {
            of: self.identity.clone(),
            picture: self.picture.clone(),
            state: film.state.clone(),
            samples: vec![film.state.range()],
            finished: film.state.has(samples),
            has_layers: !film.layers.is_empty(),
        };
        Ok(write_film(&self.checkpoint, &header, film)?)
    }

    /// Whether a partial picture is due. `shown` is the time at which the last one was written.
    pub fn is_asked(&self, shown: Instant) -> bool {
        if !self.is_written {
            return false;
        }
        let interval = self.ongoing.partial_interval;
        let due = interval.is_some_and(|interval| shown.elapsed() >= interval);
        self.ongoing.asked.swap(false, Ordering::Relaxed) || due
    }

    pub fn show(&self, job: &RenderJob, settings: &FrameSettings, mut rendered: Rendered) -> Result<(), RenderError> {
        if job.denoising.is_some() {
            // If frames are denoised, the pixels are radiance and have to be developed first.
            let radiance: Vec<f32> = bytemuck::pod_collect_to_vec(&rendered.pixels);
            write::develop(job, (self.frame, settings), &radiance, &mut rendered)?;
        }
        write::complete(job, &mut rendered);
        let output = &job.output;
        output.write_partial(job, self.frame, &self.partial, &rendered)?;
        Ok(())
    }

    pub fn show_denoised(&self, job: &RenderJob, traced: &Traced, filtered: &Filtered) -> Result<(), RenderError> {
        let mut aovs = traced.rendered.aovs.clone();
        write::replace_alpha(&mut aovs, &filtered.alpha);
        let pixels = Floats::from(filtered.radiance.clone()).into_bytes();
        self.show(
            job,
            &traced.settings,
            Rendered { pixels, aovs, blocks: None, records: None, kept: None, ..traced.rendered },
        )
    }

    /// Removes the partial picture after the finished picture was written.
    pub fn clean_up(&self) {
        // Errors are ignored: usually there is no partial picture, and its name marks it as one. A pipe or link was not made by this run.
        if fs::symlink_metadata(&self.partial).is_ok_and(|found| found.is_file()) {
            let _ = fs::remove_file(&self.partial);
        }
    }
}

/// Path of a partial picture: `0001.partial.png` for `0001.png`.
fn partial_path(path: &Path) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(".partial");
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_pictures_have_a_name_of_their_own() {
        let path = partial_path(Path::new("out/0001.png"));
        assert_eq!(path, Path::new("out/0001.partial.png"));
    }
}
