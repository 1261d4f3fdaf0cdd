//! The files that the frames of a run are written to, and their metadata.

use crate::{
    AutoExposure, RenderJob, SkipExisting,
    labels::{Labels, maps::Labelled, projection},
    results::write,
    sequence::window::Traced,
};
use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};
use throng_denoise::Denoise;
use throng_device::{Developer, DeviceError, FrameSettings, Rendered};
use throng_output::{
    Claims, EncodeError, Encoding, Existing, ExrCompression, FileFormat, InOrder, Manifests, Metadata, OutputError,
    Pattern, Picture, Pixels,
};
use throng_picture::{
    aov::{AovSet, channels::FileRows},
    pixels::PixelType,
};

/// All outputs of a run: a file per frame, and outputs that join frames.
#[derive(Default)]
pub struct Outputs {
    /// Pattern of the names of the frames' files; none if frames have no files of their own.
    pub files: Option<Pattern>,
    pub encoding: Encoding,
    /// Manifests of the Cryptomatte AOVs: names of instances and materials with their hashes.
    pub manifests: Manifests,
    /// Labels beside the frames' files.
    pub labels: Labels,
    /// Treatment of existing frames; none to render them again.
    pub(crate) skip_existing: Option<SkipExisting>,
    /// Claims on the frames that this run is rendering; none if no other run shares the folder.
    pub(crate) claims: Option<Claims>,
    /// Outputs that join frames in order: videos, contact sheets and streams.
    in_order: Vec<InOrder>,
    /// For each frame of the job, its position among all frames that `in_order` joins. Empty if the job has all of these frames.
    positions: Vec<usize>,
    /// Metadata shared by all frames. Computed when the first frame is written, while other frames are traced.
    origin: OnceLock<Metadata>,
    /// The content hash of the job's scene, once it is computed. Jobs of one scene may share it.
    scene_hash: Arc<OnceLock<u64>>,
    /// Whether frames are not written.
    in_memory: bool,
}

impl From<Pattern> for Outputs {
    fn from(files: Pattern) -> Self {
        Self { files: Some(files), ..Self::default() }
    }
}

impl Outputs {
    /// Outputs with files for frames if `files` is set, and without videos or contact sheets.
    pub fn new(files: Option<Pattern>, encoding: Encoding) -> Self {
        Self { files, encoding, ..Self::default() }
    }

    /// No files. Jobs of one scene share its content hash, which takes longer than a small frame.
    pub fn in_memory(scene_hash: Arc<OnceLock<u64>>) -> Self {
        Self { scene_hash, in_memory: true, ..Self::default() }
    }

    /// Whether frames may be written to files, which name what is in their mattes.
    pub fn has_manifests(&self) -> bool {
        !self.in_memory
    }

    /// Adds outputs that join all frames of `asked`, in this order. Frames that are not in the job are read from their existing files.
    pub fn add_in_order(job: &mut RenderJob, asked: &[u32], to: Vec<InOrder>) {
        let size = job.settings.film_size();
        let mut positions = Vec::new();
        for (position, &frame) in asked.iter().enumerate() {
            if job.frames.get(positions.len()) == Some(&frame) {
                positions.push(position);
            } else if let Some(files) = &job.output.files {
                for to in &to {
                    let existing = Existing {
                        file: files.path_for(frame, &job.scene.name),
                        size,
                        metadata: job.output.metadata(job, frame),
                    };
                    to.add_existing(position, existing);
                }
            }
        }
        job.output.positions = positions;
        job.output.in_order.extend(to);
    }

    /// Makes the joined outputs wait for the `index`th frame of the job. Dropping the result before the frame is written gives the frame
    /// up.
    pub(crate) fn expect(&self, index: usize) -> WaitedFor<'_> {
        let at = self.positions.get(index).copied().unwrap_or(index);
        WaitedFor { outputs: self, at, comes: false }
    }

    /// Writes a frame of the job to all outputs, and returns the path of its file. Earlier frames may be written later, from other threads.
    ///
    /// # Errors
    /// If the frame's file or a joined output cannot be written.
    pub(crate) fn write(
        &self,
        job: &RenderJob,
        mut waited_for: WaitedFor,
        Traced { number: frame, settings, rendered, labels, .. }: &Traced,
    ) -> Result<PathBuf, OutputError> {
        let frame = *frame;
        let metadata = self.metadata_of(job, frame, settings);
        let display = self.display(job, (frame, settings), rendered)?;
        let picture = Picture { display: display.as_deref(), ..self.picture(job, rendered, &metadata) };
        let written = self.write_labels(job, frame, labels.as_ref()).and_then(|()| self.write_file(job, &picture));
        self.end(job, frame);
        let mut path = written?;
        for output in &self.in_order {
            output.add(waited_for.at, &picture)?;
            path = path.or_else(|| Some(output.path().to_owned()));
        }
        waited_for.comes = true;
        Ok(path.unwrap_or_default())
    }

    /// Writes the label files of a frame. Its picture is written last, because the frame is finished once that exists.
    fn write_labels(&self, job: &RenderJob, frame: u32, labels: Option<&Labelled>) -> Result<(), OutputError> {
        match &self.files {
            Some(pattern) => self.labels.write(job, (frame, &pattern.path_for(frame, &job.scene.name)), labels),
            None => Ok(()),
        }
    }

    /// The metadata of a frame's file, with its camera if the picture has radiance, as formats with cameras do.
    fn file_metadata(&self, job: &RenderJob, frame: u32) -> Metadata {
        let metadata = self.metadata(job, frame);
        if job.pixels == PixelType::F32 { located(job, metadata) } else { metadata }
    }

    /// The display colours of radiance, if the frame's file has both.
    fn display(
        &self,
        job: &RenderJob,
        (frame, settings): (u32, &FrameSettings),
        rendered: &Rendered,
    ) -> Result<Option<Vec<u8>>, OutputError> {
        let Some(pattern) = self.files.as_ref().filter(|pattern| pattern.format().has_both()) else { return Ok(None) };
        let radiance: Vec<f32> = bytemuck::pod_collect_to_vec(&rendered.pixels);
        let alpha = rendered.alpha().filter(|_| job.is_transparent());
        let display = Developer::new().and_then(|it| it.develop(&radiance, alpha, settings, PixelType::U8));
        let failed = |error: DeviceError| OutputError::Encode {
            path: pattern.path_for(frame, &job.scene.name),
            error: EncodeError::Encoder(error.to_string()),
        };
        display.map(Some).map_err(failed)
    }

    /// Writes the frame to its own file only.
    pub(crate) fn write_alone(&self, job: &RenderJob, frame: u32, rendered: &Rendered) -> Result<(), OutputError> {
        let metadata = self.file_metadata(job, frame);
        let picture = self.picture(job, rendered, &metadata);
        self.write_file(job, &picture).map(drop)
    }

    /// Writes an unfinished frame to `path` in the format of the frames' files. Does nothing if frames have no files. The pixels must have
    /// the type of the job.
    pub(crate) fn write_partial(
        &self,
        job: &RenderJob,
        frame: u32,
        path: &Path,
        rendered: &Rendered,
    ) -> Result<(), OutputError> {
        let Some(pattern) = &self.files else {
            return Ok(());
        };
        let metadata = self.file_metadata(job, frame);
        let display = self.display(job, (frame, &job.settings), rendered)?;
        let picture = Picture { display: display.as_deref(), ..self.picture(job, rendered, &metadata) };
        pattern.format().write(path, &picture, &self.encoding)
    }

    /// Layout of the EXR rows that a device may return instead of pixels and `aovs`. None unless the frames' files are EXR with ZIP or ZIPS
    /// compression. Videos and contact sheets need pixels, which the caller has to check.
    pub fn file_rows(&self, aovs: AovSet, transparent: bool) -> Option<FileRows> {
        let format = self.files.as_ref()?.format();
        let deflated = matches!(self.encoding.compression, ExrCompression::Zips | ExrCompression::Zip);
        (format == FileFormat::Exr && deflated).then(|| self.encoding.exr_rows(aovs, transparent))
    }

    /// Completes the joined outputs after the last frame, so that videos appear under their names.
    ///
    /// # Errors
    /// If a joined output cannot be written.
    pub fn finish(&self) -> Result<(), OutputError> {
        self.in_order.iter().try_for_each(InOrder::finish)
    }

    fn write_file(&self, job: &RenderJob, picture: &Picture) -> Result<Option<PathBuf>, OutputError> {
        let Some(pattern) = &self.files else {
            return Ok(None);
        };
        let path = pattern.path_for(picture.metadata.frame, &job.scene.name);
        let encoding = Encoding { threads: write::encoder_threads(job), ..self.encoding };
        pattern.format().write(&path, picture, &encoding)?;
        Ok(Some(path))
    }

    fn picture<'a>(&'a self, job: &RenderJob, rendered: &'a Rendered, metadata: &'a Metadata) -> Picture<'a> {
        let (width, height) = job.settings.film_size();
        Picture {
            width,
            height,
            pixels: Pixels::from_bytes(job.pixels, &rendered.pixels),
            aovs: &rendered.aovs,
            transparent: job.is_transparent(),
            blocks: rendered.blocks.as_ref(),
            display: None,
            manifests: &self.manifests,
            metadata,
        }
    }

    /// The metadata of a frame of `job`, with its camera, and with the frame's measured exposure and animated white balance from `settings`.
    pub fn metadata_of(&self, job: &RenderJob, frame: u32, settings: &FrameSettings) -> Metadata {
        let white_balance = settings.film.white_balance;
        let metadata = Metadata {
            exposure: job.auto_exposure.map(|_| settings.exposure),
            white_balance: white_balance.filter(|_| white_balance != job.settings.film.white_balance),
            ..self.metadata(job, frame)
        };
        located(job, metadata)
    }

    /// The metadata of a frame of `job`, without its camera.
    pub fn metadata(&self, job: &RenderJob, frame: u32) -> Metadata {
        let origin = self.origin.get_or_init(|| origin(job));
        Metadata { frame, seconds: job.time_of(frame), ..origin.clone() }
    }
}

/// `metadata` with the frame's camera.
fn located(job: &RenderJob, metadata: Metadata) -> Metadata {
    let camera = job.camera_of(metadata.frame);
    Metadata {
        matrices: projection::matrices(&camera, &job.settings),
        calibration: Some(projection::calibration(&camera, &job.settings)),
        ..metadata
    }
}

/// A frame that joined outputs wait for. If it is dropped without being written, after an error or panic, the outputs stop waiting.
pub struct WaitedFor<'a> {
    outputs: &'a Outputs,
    /// Position of the frame in the joined outputs.
    at: usize,
    comes: bool,
}

impl Drop for WaitedFor<'_> {
    fn drop(&mut self) {
        if !self.comes {
            self.outputs.in_order.iter().for_each(|output| output.give_up(self.at));
        }
    }
}

/// The settings that pictures depend on, in addition to the scene.
#[derive(serde::Serialize)]
struct Settings<'a> {
    #[serde(flatten)]
    settings: &'a FrameSettings,
    #[serde(skip_serializing_if = "Option::is_none")]
    auto_exposure: Option<AutoExposure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    denoise: Option<(Denoise, u32)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    background: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wireframe_color: Option<[f32; 3]>,
}

fn origin(job: &RenderJob) -> Metadata {
    let settings = Settings {
        settings: &job.told_settings(),
        auto_exposure: job.auto_exposure,
        denoise: job.denoising.as_ref().map(|denoising| (denoising.method(), denoising.reach)),
        background: job.background.as_ref().map(|background| &background.name[..]),
        wireframe_color: job.wireframe_color.map(|color| color.to_array()),
    };
    Metadata {
        software: concat!("throng ", env!("CARGO_PKG_VERSION")).into(),
        scene: job.scene.name.clone(),
        scene_hash: format!("{:016x}", job.output.scene_hash.get_or_init(|| job.scene.content_hash())),
        // Settings consist of numbers and names, which always have a JSON form.
        settings: serde_json::to_string(&settings).unwrap_or_default(),
        rate: Some(job.scene.settings.rate().parts()),
        region: job.settings.region.map(|region| (region, (job.settings.width, job.settings.height))),
        ..Metadata::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_make_rows_of_deflated_files_with_layers() {
        let rows = |name: &str, compression| {
            let encoding = Encoding { compression, ..Encoding::default() };
            Outputs::new(Some(Pattern::parse(name).unwrap()), encoding)
                .file_rows(AovSet::default(), false)
                .map(|rows| rows.per_block)
        };
        assert_eq!(rows("a_####.exr", ExrCompression::Zip), Some(16));
        assert_eq!(rows("a_####.exr", ExrCompression::Zips), Some(1));
        assert_eq!(rows("a_####.exr", ExrCompression::Rle), None);
        assert_eq!(rows("a_####.png", ExrCompression::Zip), None);
        let nowhere = Outputs::new(None, Encoding::default());
        assert!(nowhere.file_rows(AovSet::default(), false).is_none());
    }
}
