//! Frames that exist already or that other runs are working on. Neither are rendered.

use super::{Outputs, RenderJob};
use crate::choice::choice;
use crate::output::{Claims, OutputError, remove_stale_claim};

/// How frames that exist are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkipExisting {
    pub mismatched: Mismatched,
    /// Whether videos and contact sheets are made of them, too: then they have to be of one size and lossless.
    pub joined: bool,
}

choice! {
    /// What is done with frames that exist and are of another size or scene, or were made with other settings.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Mismatched = Refuse {
        /// Render nothing; the error names the first mismatched frame.
        Refuse = "refuse",
        /// Render them again.
        Render = "render",
        /// Keep them.
        Keep = "keep",
    }
}

/// The state of a frame when its turn comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// This run renders it.
    Ours,
    /// The frame exists by now.
    Exists,
    /// Another run is working on it.
    Elsewhere,
}

impl Outputs {
    /// Keeps frames that exist, instead of rendering them again.
    pub fn skip_existing(&mut self, skip: SkipExisting) {
        self.skip_existing = Some(skip);
    }

    /// Divides frames among runs that share their folder. Videos and sheets need all of them.
    pub fn divide_frames(&mut self) {
        self.claims = Some(Claims::default());
    }

    /// The frames of `job` that have to be rendered.
    ///
    /// # Errors
    /// If a frame that exists is of another size, scene or settings, and that is to be refused.
    pub fn missing(&self, job: &RenderJob) -> Result<Vec<u32>, OutputError> {
        let mut missing = Vec::new();
        for &frame in &job.frames {
            match (self.is_kept(job, frame)?, &self.files) {
                (true, Some(files)) => remove_stale_claim(&files.path_for(frame, &job.scene.name)),
                _ => missing.push(frame),
            }
        }
        Ok(missing)
    }

    /// Whether the frame's file exists and is kept.
    fn is_kept(&self, job: &RenderJob, frame: u32) -> Result<bool, OutputError> {
        let (Some(skip), Some(files)) = (self.skip_existing, &self.files) else {
            return Ok(false);
        };
        if skip.joined && !files.format().is_lossless() {
            return Ok(false);
        }
        let path = files.path_for(frame, &job.scene.name);
        let Some((found, told)) = files.format().read_origin(&path) else {
            return Ok(false);
        };
        let wanted = job.settings.film_size();
        let other_size = found != wanted;
        let difference = match other_size {
            true => Some(format!("has {}x{} pixels and not {}x{}", found.0, found.1, wanted.0, wanted.1)),
            false => self.metadata(job, frame).difference(&told),
        };
        match (difference, skip.mismatched) {
            (Some(_), Mismatched::Keep) if other_size && skip.joined => {
                Err(OutputError::OtherSize { path, found, wanted })
            }
            (None, _) | (_, Mismatched::Keep) => Ok(true),
            (_, Mismatched::Render) => Ok(false),
            (Some(difference), Mismatched::Refuse) => Err(OutputError::Mismatched { path, difference }),
        }
    }

    /// Claims a frame right before work on it begins. Writing the frame releases the claim.
    ///
    /// # Errors
    /// If no claim can be made, and those of [`Self::missing`].
    pub(super) fn begin(&self, job: &RenderJob, frame: u32) -> Result<Begin, OutputError> {
        let (Some(claims), Some(files)) = (&self.claims, &self.files) else {
            return Ok(Begin::Ours);
        };
        let path = files.path_for(frame, &job.scene.name);
        let claimed = claims.take(&path).map_err(|error| OutputError::File { path: path.clone(), error })?;
        if !claimed {
            return Ok(Begin::Elsewhere);
        }
        // Another run may have finished it since this one looked.
        match self.is_kept(job, frame) {
            Ok(false) => Ok(Begin::Ours),
            kept => {
                claims.release(&path);
                kept.map(|_| Begin::Exists)
            }
        }
    }

    /// Releases the claim on a frame that is written, or will not be.
    pub(super) fn end(&self, job: &RenderJob, frame: u32) {
        if let (Some(claims), Some(files)) = (&self.claims, &self.files) {
            claims.release(&files.path_for(frame, &job.scene.name));
        }
    }
}
