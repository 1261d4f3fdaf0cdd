//! What the frames of a run go to, and what their files say about where they come from.

use super::RenderJob;
use crate::{
    device::{FrameSettings, Rendered},
    output::{Encoding, Manifests, Metadata, OutputError, Pattern, Picture, PixelKind, Pixels},
    scene::Scene,
};
use std::{path::PathBuf, sync::OnceLock};

/// Everything that frames are written to.
#[derive(Default)]
pub struct Outputs {
    /// A file for each frame, if there are to be any.
    pub files: Option<Pattern>,
    pub encoding: Encoding,
    /// The names behind Cryptomatte layers.
    pub manifests: Manifests,
    /// What all frames have in common; found out when the first one is written, while others are traced.
    origin: OnceLock<Metadata>,
}

impl From<Pattern> for Outputs {
    fn from(files: Pattern) -> Self {
        Self {
            files: Some(files),
            ..Self::default()
        }
    }
}

impl Outputs {
    /// Writes a finished frame everywhere and returns where it is.
    pub fn write(
        &self,
        job: &RenderJob,
        frame: u32,
        rendered: &Rendered,
    ) -> Result<PathBuf, OutputError> {
        let metadata = self.metadata(job, frame);
        let picture = Picture {
            width: job.settings.width,
            height: job.settings.height,
            pixels: Pixels::from_bytes(pixel_kind(&job.settings), &rendered.pixels),
            layers: &[],
            manifests: &self.manifests,
            metadata: &metadata,
        };
        let Some(pattern) = &self.files else {
            return Ok(PathBuf::new());
        };
        let path = pattern.path_for(frame, &job.scene.name);
        pattern.format().write(&path, &picture, &self.encoding)?;
        Ok(path)
    }

    fn metadata(&self, job: &RenderJob, frame: u32) -> Metadata {
        let origin = self
            .origin
            .get_or_init(|| origin(&job.scene, &job.settings));
        Metadata {
            frame,
            seconds: job.scene.time_of(frame).into(),
            ..origin.clone()
        }
    }
}

fn pixel_kind(settings: &FrameSettings) -> PixelKind {
    match settings.linear {
        true => PixelKind::F32,
        false => PixelKind::U8,
    }
}

fn origin(scene: &Scene, settings: &FrameSettings) -> Metadata {
    Metadata {
        software: concat!("throng ", env!("CARGO_PKG_VERSION")).into(),
        scene: scene.name.clone(),
        scene_hash: format!("{:016x}", scene.content_hash()),
        // Settings are numbers and names: they have a JSON form.
        settings: serde_json::to_string(settings).unwrap_or_default(),
        ..Metadata::default()
    }
}
