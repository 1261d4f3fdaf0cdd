//! A still: a picture of the current view that becomes a file, with its own size and sample count.

use crate::{Answer, Link, StillFormat, StillRequest, film::Film, link::Ticket, scenes::ViewerScenes};
use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};
use throng_device::{Frame, Rendered, Stop};
use throng_output::{EncodeError, Encoding, FileFormat, Picture, Pixels};
use throng_render::{RenderError, RenderJob};
use throng_settings::Error;

/// Target duration of a slice of samples, and interval between two reports.
const SLICE: Duration = Duration::from_millis(100);
const REPORTING: Duration = Duration::from_millis(250);

pub struct Still {
    pub link: Arc<Link>,
    ask: u32,
    format: StillFormat,
    job: RenderJob,
    frame: Frame,
    /// None before its first slice.
    film: Option<Film>,
    ticket: Option<Ticket>,
    slice: u32,
    reported: Instant,
}

impl StillFormat {
    pub fn file_format(self) -> FileFormat {
        match self {
            Self::Png => FileFormat::Png,
            Self::Exr => FileFormat::Exr,
        }
    }
}

impl Still {
    pub fn new(link: Arc<Link>, StillRequest { ask, format, .. }: StillRequest, job: RenderJob, frame: Frame) -> Self {
        let ticket = Some(Ticket::new(&link));
        Self { link, ask, format, job, frame, film: None, ticket, slice: 1, reported: Instant::now() }
    }

    /// Whether the first slice has begun.
    pub fn is_begun(&self) -> bool {
        self.film.is_some()
    }

    /// Memory of its samples, in bytes.
    pub fn bytes(&self) -> u64 {
        Film::bytes(&self.job.settings)
    }

    /// Adds a slice of samples. Returns true when the still is complete.
    ///
    /// # Errors
    /// If the device cannot load the scene or fails, or if the picture cannot be denoised.
    pub fn work(&mut self, scenes: &mut ViewerScenes, stop: &Stop) -> Result<bool, Error> {
        let start = Instant::now();
        let number = self.frame.number;
        scenes.make_ready()?;
        let film = self
            .film
            .get_or_insert_with(|| Film::new(self.frame.clone(), self.job.settings.clone(), self.job.delivery));
        let advanced = film.advance(scenes.device.as_mut(), self.slice, stop);
        let rendered = advanced.map_err(|source| RenderError::Device { frame: number, source })?;
        let Some(rendered) = rendered else { return Ok(false) };
        if film.is_done() {
            self.finish(rendered)?;
            return Ok(true);
        }
        match start.elapsed() {
            took if took < SLICE / 2 => self.slice = self.slice.saturating_mul(2),
            took if took > SLICE * 2 => self.slice = (self.slice / 2).max(1),
            _ => {}
        }
        if self.reported.elapsed() >= REPORTING {
            let share = film.samples() as f32 / film.settings.samples as f32;
            self.link.answer(Answer::Still { ask: self.ask, share: Some(share), link: None, file: None });
            self.reported = Instant::now();
        }
        Ok(false)
    }

    /// Denoises the picture if the job does, and encodes the file on a separate thread.
    fn finish(&mut self, mut rendered: Rendered) -> Result<(), RenderError> {
        self.job.denoise_alone((self.frame.number, &self.job.settings), &mut rendered)?;
        self.job.complete(&mut rendered);
        let (link, ask, format) = (self.link.clone(), self.ask, self.format.file_format());
        let metadata = self.job.output.metadata_of(&self.job, self.frame.number, &self.job.settings);
        let (width, height) = (self.job.settings.width, self.job.settings.height);
        let (kind, transparent) = (self.job.pixels, self.job.is_transparent());
        let manifests = std::mem::take(&mut self.job.output.manifests);
        let ticket = self.ticket.take();
        let encode = move || {
            let _ticket = ticket;
            let picture = Picture {
                width,
                height,
                pixels: Pixels::from_bytes(kind, &rendered.pixels),
                aovs: &rendered.aovs,
                transparent,
                blocks: None,
                display: None,
                manifests: &manifests,
                metadata: &metadata,
            };
            let encoded: Result<Vec<u8>, EncodeError> = format.encode(&picture, &Encoding::default());
            link.answer(match encoded {
                Ok(file) => {
                    Answer::Still { ask, share: None, link: None, file: Some((file.into(), format.extension())) }
                }
                Err(error) => Answer::error(error),
            });
        };
        if let Err(error) = thread::Builder::new().name("still".into()).spawn(encode) {
            self.link.answer(Answer::error(error));
        }
        Ok(())
    }
}
