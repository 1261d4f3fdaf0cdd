//! Work on a viewer's picture: quick pictures of moving views, then coarse pictures with increasing size, then samples at full size, and
//! denoising after the last sample.

use super::{Due, Eye, state::Progress, update::film_settings};
use crate::{Answer, Limits, PictureKind, ViewerPicture, film::Film, layers, scenes::ViewerScenes};
use std::time::{Duration, Instant};
use throng_device::{Delivery, DeviceError, FrameSettings, Rendered, Stop};
use throng_render::RenderError;
use throng_settings::Error;

/// Time without a change after which a picture counts as still.
const SETTLING: Duration = Duration::from_millis(80);
/// Interval between two pictures of an unchanged view, and between two reports.
const SHOWING: Duration = Duration::from_millis(80);
const REPORTING: Duration = Duration::from_millis(250);
/// Factor by which a noisy picture needs more samples than a denoised one to look as good.
const CLEAN_WORTH: u32 = 8;

impl Eye {
    /// Time at which work is due after [`Self::update`].
    pub fn due(&self, now: Instant) -> Due {
        if self.size.is_none() || self.is_broken {
            return Due::Never;
        }
        let tick = self.clock.next_due(now).map_or(Due::Never, Due::At);
        match &self.progress {
            Progress::Changed if self.link.is_ready() => Due::Moving,
            Progress::Quick { at, .. } if now < *at + SETTLING => tick.min(Due::At(*at + SETTLING)),
            Progress::Quick { .. } => Due::Still,
            Progress::Sampling(film) if !film.is_done() || !self.state.done => {
                if film.is_done() && !self.link.is_ready() { tick } else { Due::Still }
            }
            Progress::Changed | Progress::Sampling(_) | Progress::Ended => tick,
        }
    }

    /// Does the work that is due.
    ///
    /// # Errors
    /// If the device cannot load the scene or fails, or if a picture cannot be denoised.
    pub fn work(&mut self, scenes: &mut ViewerScenes, stop: &Stop) -> Result<(), Error> {
        let (Some(size), Some((frame, settings))) = (self.size, self.current.clone()) else {
            return Ok(());
        };
        scenes.make_ready()?;
        match std::mem::replace(&mut self.progress, Progress::Ended) {
            Progress::Changed => {
                let Limits { pixels, .. } = self.link.limits();
                let (quick, samples) = self.pace.moving(size, pixels);
                self.pace.begin();
                self.quick(scenes, (quick, samples), PictureKind::Moving, &|| false)?;
            }
            Progress::Quick { size: last, at } => match self.pace.coarse(size, last) {
                Some(next) => {
                    if !self.quick(scenes, (next, 1), PictureKind::Still, stop)? {
                        self.progress = Progress::Quick { size: last, at };
                    }
                }
                None => {
                    let worth = if self.is_clean { CLEAN_WORTH } else { 1 };
                    let least = self.state.samples.saturating_mul(worth).min(settings.samples);
                    self.least = if last == size { least } else { 0 };
                    let settings = film_settings(&settings, self.denoised.is_some());
                    self.progress = Progress::Sampling(Box::new(Film::new(frame, settings, self.delivery())));
                }
            },
            Progress::Sampling(mut film) => {
                let sampled = self.sample(&mut film, scenes, stop);
                self.progress = Progress::Sampling(film);
                sampled?;
            }
            Progress::Ended => {}
        }
        self.report(false);
        Ok(())
    }

    /// Renders and shows a picture that will not be refined. Returns false if it was interrupted.
    fn quick(
        &mut self,
        scenes: &mut ViewerScenes,
        (size, samples): ((u32, u32), u32),
        kind: PictureKind,
        stop: &Stop,
    ) -> Result<bool, Error> {
        let Some((frame, settings)) = &self.current else { return Ok(false) };
        let with = |(width, height), samples| FrameSettings { width, height, samples, noise: None, ..settings.clone() };
        let settings = with(size, samples.min(settings.samples));
        let is_wanted = self.choices.denoises() && self.choices.view.is_none();
        let cost = self.pace.cost();
        let clean = self.clean.as_mut().filter(|_| is_wanted);
        let mut clean = clean.and_then(|clean| Some((clean.plan(frame, &settings, cost)?, clean)));
        let (frame, settings, delivery) = match &mut clean {
            Some(((size, samples), clean)) => clean.prepare(scenes.shown.generation, frame, &with(*size, *samples)),
            None => (frame.clone(), settings, Delivery::default()),
        };
        let (start, number, samples) = (Instant::now(), frame.number, settings.samples);
        let size = (settings.width, settings.height);
        let device = scenes.device.as_mut();
        // The sums of a frame without refinement stay on the device.
        let mut rendered = match device.submit(frame.clone(), &settings, delivery).and_then(|()| device.collect(stop)) {
            Err(DeviceError::Stopped) => return Ok(false),
            other => other.map_err(|source| RenderError::Device { frame: number, source })?,
        };
        self.pace.took(size, samples, start.elapsed());
        self.is_clean = clean.is_some();
        if kind == PictureKind::Moving {
            self.state.denoises = Some(self.is_clean);
        }
        if let Some((_, clean)) = clean {
            let finished = clean.finish(&frame, &settings, &mut rendered);
            finished.map_err(|source| RenderError::Denoise { frame: number, source })?;
        }
        self.progress = Progress::Quick { size, at: Instant::now() };
        self.state.samples = samples;
        self.show(scenes, (size, number), rendered, kind);
        Ok(true)
    }

    /// Adds a slice of samples to the full-size picture, and shows it if that is due. The finished picture is denoised if renders are.
    fn sample(&mut self, film: &mut Film, scenes: &mut ViewerScenes, stop: &Stop) -> Result<(), Error> {
        let size = (film.settings.width, film.settings.height);
        let (before, start) = (film.samples(), Instant::now());
        let number = film.frame.number;
        let more = self.pace.slice(size);
        let advanced = film.advance(scenes.device.as_mut(), more, stop);
        let Some(rendered) = advanced.map_err(|source| RenderError::Device { frame: number, source })? else {
            return Ok(());
        };
        self.pace.took(size, film.samples() - before, start.elapsed());
        self.pace.lengthen();
        self.state.samples = film.samples();
        let (due, is_done) = (self.shown.is_none_or(|shown| shown.elapsed() >= SHOWING), film.is_done());
        if !self.link.is_ready() || !is_done && (!due || film.samples() < self.least) {
            return Ok(());
        }
        if !is_done {
            self.show(scenes, (size, number), rendered, PictureKind::Still);
            return Ok(());
        }
        let rendered = match &self.denoised {
            None => rendered,
            Some(job) => match film.denoised(scenes.device.as_mut(), job, stop)? {
                Some(denoised) => denoised,
                None => return Ok(()),
            },
        };
        self.show(scenes, (size, number), rendered, PictureKind::Finished);
        (self.state.done, self.state.denoised) = (true, self.denoised.is_some());
        self.report(true);
        Ok(())
    }

    /// What the device returns of the picture.
    pub(super) fn delivery(&self) -> Delivery {
        self.job.as_ref().map(|job| job.delivery).unwrap_or_default()
    }

    fn show(
        &mut self,
        scenes: &ViewerScenes,
        ((width, height), frame): ((u32, u32), u32),
        mut rendered: Rendered,
        kind: PictureKind,
    ) {
        let Some(job) = &self.job else { return };
        let layer = self.choices.view.and_then(|view| rendered.aovs.iter().find(|image| image.aov == view));
        let pixels = match layer {
            Some(image) => layers::shown(image, &scenes.shown.bounds),
            None => {
                job.complete(&mut rendered);
                rendered.pixels
            }
        };
        let samples = self.state.samples;
        self.link.show(ViewerPicture { width, height, pixels, samples, key: self.key, frame, kind });
        self.state.size = [width, height];
        self.shown = Some(Instant::now());
    }

    /// Sends a report of the progress, if one is due or `now` is set.
    pub(super) fn report(&mut self, now: bool) {
        let due = self.reported.is_none_or(|at| at.elapsed() >= REPORTING);
        if !now && !due {
            return;
        }
        let Limits { pictures_per_second, lag_ms, .. } = self.link.limits();
        self.state.playing = self.clock.is_playing();
        self.state.pictures_per_second = pictures_per_second;
        self.state.lag_ms = lag_ms;
        self.link.answer(Answer::State(self.state.clone()));
        self.reported = Some(Instant::now());
    }
}
