//! What the frames of a run go to, and what their files say about where they come from.

use super::{RenderJob, write};
use crate::{
    device::{FrameSettings, Rendered},
    layers::{LayerSet, channels::FileRows},
    output::{
        Encoding, ExrCompression, FileFormat, InOrder, Manifests, Metadata, OutputError, Pattern,
        Picture, Pixels,
    },
    scene::Scene,
};
use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// Everything that frames are written to.
#[derive(Default)]
pub struct Outputs {
    /// A file for each frame, if there are to be any.
    pub files: Option<Pattern>,
    pub encoding: Encoding,
    /// The names behind Cryptomatte layers.
    pub manifests: Manifests,
    /// What takes frames one after the other.
    in_order: Vec<InOrder>,
    /// Where the frames of the job are among all that [`Self::in_order`] gets. Empty: there are no others.
    positions: Vec<usize>,
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
    /// Goes nowhere yet.
    pub fn new(files: Option<Pattern>, encoding: Encoding) -> Self {
        Self {
            files,
            encoding,
            ..Self::default()
        }
    }

    /// Gives `to` all frames of `asked`, in this order; those that `job_frames` does not have are in `files` already.
    pub fn add_in_order(&mut self, to: InOrder, asked: &[u32], job_frames: &[u32], scene: &Scene) {
        let mut positions = Vec::new();
        for (position, &frame) in asked.iter().enumerate() {
            if job_frames.get(positions.len()) == Some(&frame) {
                positions.push(position);
            } else if let Some(files) = &self.files {
                let metadata = Metadata {
                    frame,
                    seconds: scene.time_of(frame).into(),
                    ..Metadata::default()
                };
                to.add_existing(position, files.path_for(frame, &scene.name), metadata);
            }
        }
        self.positions = positions;
        self.in_order.push(to);
    }

    /// Writes the `index`th frame of the job everywhere and returns where it is. Those before it may come later, from other
    /// threads.
    pub(super) fn write(
        &self,
        job: &RenderJob,
        (index, frame): (usize, u32),
        rendered: &Rendered,
    ) -> Result<PathBuf, OutputError> {
        let position = self.positions.get(index).copied().unwrap_or(index);
        let mut waited_for = WaitedFor {
            outputs: self,
            position: Some(position),
        };
        let metadata = self.metadata(job, frame);
        let picture = self.picture(job, rendered, &metadata);
        let mut path = self.write_file(job, &picture)?;
        for output in &self.in_order {
            output.add(position, &picture)?;
            path = path.or_else(|| Some(output.path().to_owned()));
        }
        waited_for.position = None;
        Ok(path.unwrap_or_default())
    }

    /// Writes the frame to its own file and nowhere else.
    pub(super) fn write_alone(
        &self,
        job: &RenderJob,
        frame: u32,
        rendered: &Rendered,
    ) -> Result<(), OutputError> {
        let metadata = self.metadata(job, frame);
        let picture = self.picture(job, rendered, &metadata);
        self.write_file(job, &picture).map(drop)
    }

    /// Writes a frame as it stands to `path`, in the format of the frames' files, if they have any. Its pixels are those that
    /// files are made of.
    pub(super) fn write_partial(
        &self,
        job: &RenderJob,
        frame: u32,
        path: &Path,
        rendered: &Rendered,
    ) -> Result<(), OutputError> {
        let Some(pattern) = &self.files else {
            return Ok(());
        };
        let metadata = self.metadata(job, frame);
        let picture = self.picture(job, rendered, &metadata);
        pattern.format().write(path, &picture, &self.encoding)
    }

    /// The rows of files that a device may make instead of the pixels and `layers` of frames: where files are all that there is.
    pub fn file_rows(&self, layers: LayerSet) -> Option<FileRows> {
        let format = self.files.as_ref()?.format();
        let alone = format == FileFormat::Exr && self.in_order.is_empty();
        let deflated = matches!(
            self.encoding.compression,
            ExrCompression::Zips | ExrCompression::Zip
        );
        (alone && deflated).then(|| self.encoding.exr_rows(layers))
    }

    /// After the last frame: films appear under their names.
    pub fn finish(&self) -> Result<(), OutputError> {
        self.in_order.iter().try_for_each(InOrder::finish)
    }

    fn write_file(
        &self,
        job: &RenderJob,
        picture: &Picture,
    ) -> Result<Option<PathBuf>, OutputError> {
        let Some(pattern) = &self.files else {
            return Ok(None);
        };
        let path = pattern.path_for(picture.metadata.frame, &job.scene.name);
        let encoding = Encoding {
            threads: write::encoder_threads(job),
            ..self.encoding
        };
        pattern.format().write(&path, picture, &encoding)?;
        Ok(Some(path))
    }

    fn picture<'a>(
        &'a self,
        job: &RenderJob,
        rendered: &'a Rendered,
        metadata: &'a Metadata,
    ) -> Picture<'a> {
        Picture {
            width: job.settings.width,
            height: job.settings.height,
            pixels: Pixels::from_bytes(job.pixels, &rendered.pixels),
            layers: &rendered.layers,
            blocks: rendered.blocks.as_ref(),
            manifests: &self.manifests,
            metadata,
        }
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

/// Whoever waits for this frame is told if it does not come: after an error, or a panic.
struct WaitedFor<'a> {
    outputs: &'a Outputs,
    position: Option<usize>,
}

impl Drop for WaitedFor<'_> {
    fn drop(&mut self) {
        if let Some(position) = self.position {
            let outputs = self.outputs.in_order.iter();
            outputs.for_each(|output| output.give_up(position));
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_make_rows_of_deflated_files_with_layers() {
        let rows = |name: &str, compression| {
            let encoding = Encoding {
                compression,
                ..Encoding::default()
            };
            Outputs::new(Some(Pattern::parse(name).unwrap()), encoding)
                .file_rows(LayerSet::default())
                .map(|rows| rows.per_block)
        };
        assert_eq!(rows("a_####.exr", ExrCompression::Zip), Some(16));
        assert_eq!(rows("a_####.exr", ExrCompression::Zips), Some(1));
        assert_eq!(rows("a_####.exr", ExrCompression::Rle), None);
        assert_eq!(rows("a_####.png", ExrCompression::Zip), None);
        let nowhere = Outputs::new(None, Encoding::default());
        assert!(nowhere.file_rows(LayerSet::default()).is_none());
    }
}
