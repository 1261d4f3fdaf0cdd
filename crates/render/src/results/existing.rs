//! Frames that already exist, or that other runs are rendering. This run renders neither.

use crate::{Outputs, RenderJob};
use throng_base::choice::choice;
use throng_output::{Claims, OutputError, remove_stale_claim};

/// Treatment of frames that already exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkipExisting {
    pub mismatched: Mismatched,
    /// Whether the existing frames also go into videos or contact sheets. They must then be lossless and of one size.
    pub joined: bool,
}

choice! {
    /// Treatment of existing frames that have another size, show another scene, or were rendered with other settings.
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
    /// Keeps frames that already exist, instead of rendering them again.
    pub fn skip_existing(&mut self, skip: SkipExisting) {
        self.skip_existing = Some(skip);
    }

    /// Shares the frames with other runs that write to one folder. Videos and contact sheets need a run that renders all frames.
    pub fn divide_frames(&mut self) {
        self.claims = Some(Claims::default());
    }

    /// Numbers of the frames of `job` that have to be rendered.
    ///
    /// # Errors
    /// - If an existing frame has another size, scene or settings, and [`Mismatched::Refuse`] applies.
    /// - If frames of other sizes are kept, and they also go into a video or contact sheet.
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

    /// Whether the frame's file exists with its labels, and is kept.
    fn is_kept(&self, job: &RenderJob, frame: u32) -> Result<bool, OutputError> {
        let (Some(skip), Some(files)) = (self.skip_existing, &self.files) else {
            return Ok(false);
        };
        if skip.joined && !files.format().is_lossless() {
            return Ok(false);
        }
        let path = files.path_for(frame, &job.scene.name);
        if !self.labels.exist_for(&path) {
            return Ok(false);
        }
        let Some((found, told)) = files.format().read_origin(&path) else {
            return Ok(false);
        };
        let wanted = job.settings.film_size();
        let other_size = found != wanted;
        let difference = if other_size {
            Some(format!("has {}x{} pixels and not {}x{}", found.0, found.1, wanted.0, wanted.1))
        } else {
            self.metadata(job, frame).difference(&told)
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
    /// If the claim cannot be made, or if the frame exists by now but cannot be kept (see [`Self::missing`]).
    pub(crate) fn begin(&self, job: &RenderJob, frame: u32) -> Result<Begin, OutputError> {
        let (Some(claims), Some(files)) = (&self.claims, &self.files) else {
            return Ok(Begin::Ours);
        };
        let path = files.path_for(frame, &job.scene.name);
        let claimed = claims.take(&path).map_err(|error| OutputError::File { path: path.clone(), error })?;
        if !claimed {
            return Ok(Begin::Elsewhere);
        }
        // Another run may have finished the frame in the meantime.
        match self.is_kept(job, frame) {
            Ok(false) => Ok(Begin::Ours),
            kept => {
                claims.release(&path);
                kept.map(|_| Begin::Exists)
            }
        }
    }

    /// Releases the claim on a frame that was written, or that will not be written.
    pub(crate) fn end(&self, job: &RenderJob, frame: u32) {
        if let (Some(claims), Some(files)) = (&self.claims, &self.files) {
            claims.release(&files.path_for(frame, &job.scene.name));
        }
    }
}
