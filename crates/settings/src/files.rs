//! Settings of output files: formats, videos, contact sheets.

use super::{FramePlan, SettingsError};
#[cfg(feature = "cli")]
use clap::builder::{OsStringValueParser, TypedValueParser};
#[cfg(feature = "cli")]
use throng_base::flags;
use throng_device::FrameSettings;
use throng_output::{
    ColorDepth, Destination, Encoding, ExrCompression, FileFormat, Label, OutputError, Pattern, SheetLayout, SheetRow,
    VideoName, VideoSettings, open_sheet, open_video,
};
use throng_render::{
    Outputs, RenderJob,
    labels::{Labels, MOST_NUMBERS, transforms},
};

/// Settings of output files.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(next_help_heading = "Files"))]
pub struct FileOptions {
    /// Make a video: .mp4, .mov, .webm, .mkv, .webp, .apng or .gif
    ///
    /// It contains all frames. Single frames are written only if --output is given. ffmpeg makes the first four formats; the others are
    /// animated pictures
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE", value_parser = OsStringValueParser::new().try_map(VideoName::parse_video)))]
    pub video: Option<VideoName>,
    /// ffmpeg's name of the video encoder, for example libx265 [default: the graphics card's encoder if it works, otherwise a good software
    /// encoder]
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME"))]
    pub video_codec: Option<String>,
    /// Write a contact sheet: frames of the sequence, side by side in one picture. Other frames are rendered only with --output or --video
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE", value_parser = OsStringValueParser::new().try_map(throng_output::parse_sheet)))]
    pub sheet: Option<Pattern>,
    /// Number of frames on the sheet, or per row if --animation all makes several rows [default: 12, or 8 per row]. Rows that are written
    /// nowhere else are rendered at their size on the sheet
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", requires = "sheet", value_parser = clap::value_parser!(u16).range(1..=1000)))]
    pub sheet_frames: Option<u16>,
    /// The row of a sheet that several runs share. None if this run has its own sheet.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub(crate) sheet_row: Option<SheetRow>,
    /// Bits per colour: 8 or 16 in .png; 16 (half floats) or 32 in .exr [default: 8, in .exr 16]
    #[cfg_attr(feature = "cli", arg(long, value_name = "BITS", value_parser = parse_depth))]
    pub color_depth: Option<ColorDepth>,
    /// Quality of .jpg files and videos, 1 to 100 [default: 90]
    #[cfg_attr(feature = "cli", arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(1..=100)))]
    pub quality: Option<u8>,
    /// Labels beside each picture, for computer vision: for 0001.png, `depth` writes 0001.depth.npy
    ///
    /// Maps, each with its formats (the first is the default): depth and distance (npy, exr, png), normal and normal-camera (npy), flow (npy,
    /// flo, kitti), instance, mesh and material (png, npy); a format follows a colon, like depth:png. For all frames: transforms
    /// (transforms.json of nerfstudio), points (points.ply) and coco, or coco:materials (coco.json). See docs/labels.md
    #[cfg_attr(feature = "cli", arg(long, value_name = "LIST", value_delimiter = ','))]
    pub labels: Vec<Label>,
    /// Lossless compression of .exr files
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME", value_parser = flags::choice::<ExrCompression>()))]
    pub exr_compression: Option<ExrCompression>,
}

#[cfg(feature = "cli")]
#[doc(hidden)]
pub fn parse_depth(text: &str) -> Result<ColorDepth, String> {
    match text {
        "8" => Ok(ColorDepth::Bits8),
        "16" => Ok(ColorDepth::Bits16),
        "32" => Ok(ColorDepth::Bits32),
        _ => Err("must be 8, 16 or 32".into()),
    }
}

impl FileOptions {
    pub(crate) fn encoding(&self) -> Encoding {
        let usual = Encoding::default();
        Encoding {
            depth: self.color_depth.unwrap_or(usual.depth),
            compression: self.exr_compression.unwrap_or(usual.compression),
            quality: self.quality.unwrap_or(usual.quality),
            ..usual
        }
    }

    /// Number of frames on the sheet, or in a row of a shared sheet.
    pub(crate) fn sheet_count(&self) -> usize {
        self.sheet_frames.unwrap_or(if self.sheet_row.is_some() { 8 } else { 12 }).into()
    }

    /// Whether a video or a contact sheet is written.
    pub(crate) fn any(&self) -> bool {
        self.video.is_some() || self.sheet.is_some()
    }

    /// Checks that `output` supports the requested bit depth, and has files beside which labels are written. If videos or sheets are written, also checks that `output` holds display
    /// colours, from which they are made.
    pub(crate) fn check(&self, output: Option<&Destination>) -> Result<(), SettingsError> {
        let depth = self.encoding().depth;
        let format = format_of(output);
        let sheet = self.sheet.as_ref().map(Pattern::format);
        if sheet.is_some_and(|format| format.is_linear())
            || self.any() && format.is_some_and(|format| format.is_linear())
        {
            return Err(SettingsError::Linear);
        }
        if !self.labels.is_empty() && !matches!(output, Some(Destination::Files(_))) {
            return Err(SettingsError::Labels);
        }
        match format {
            Some(format) if format.pixels(depth).is_none() => {
                Err(SettingsError::Depth { extension: format.extension() })
            }
            None if matches!(depth, ColorDepth::Bits16 | ColorDepth::Bits32) => Err(SettingsError::VideoDepth),
            _ => Ok(()),
        }
    }
}

/// The format of single pictures. None for videos and films.
pub(super) fn format_of(output: Option<&Destination>) -> Option<FileFormat> {
    match output? {
        Destination::Files(files) => Some(files.format()),
        Destination::Stream(_, format) => Some(*format),
        Destination::Video(_) | Destination::Film(_) => None,
    }
}

impl FramePlan {
    /// Checks that every output format supports the picture size of `settings`.
    pub fn check_size(&self, settings: &FrameSettings) -> Result<(), SettingsError> {
        let (width, height) = settings.film_size();
        let side = width.max(height);
        let frames = format_of(self.output.as_ref());
        let frames = frames.map(|format| (format.extension(), format.longest_side()));
        let videos = self.videos().map(VideoName::format);
        let videos = videos.map(|format| (format.extension(), format.longest_side()));
        let sheet = self.files.sheet.as_ref().map(Pattern::format);
        let (width, height) = self.sheet_layout(settings).size();
        if let Some(format) = sheet
            && width.max(height) > format.longest_side()
        {
            return Err(SettingsError::LargeSheet {
                width,
                height,
                extension: format.extension(),
                limit: format.longest_side(),
            });
        }
        match videos.chain(frames).find(|&(_, limit)| side > limit) {
            Some((extension, limit)) => Err(SettingsError::TooLarge { extension, limit }),
            None => Ok(()),
        }
    }

    /// Checks that all output formats support transparency. Contact sheets are exempt: they have their own background.
    pub fn check_alpha(&self) -> Result<(), SettingsError> {
        let frames = format_of(self.output.as_ref()).map(|format| (format.extension(), format.has_alpha()));
        let videos = self.videos().map(VideoName::format).map(|format| (format.extension(), format.has_alpha()));
        match frames.into_iter().chain(videos).find(|&(_, has_alpha)| !has_alpha) {
            Some((extension, _)) => Err(SettingsError::Opaque { extension }),
            None => Ok(()),
        }
    }

    fn sheet_layout(&self, settings: &FrameSettings) -> SheetLayout {
        let (width, height) = settings.film_size();
        let count = self.files.sheet_count();
        match &self.files.sheet_row {
            Some(row) => row.layout(&self.asked, count, (width, height)),
            None => SheetLayout::new(&self.asked, count, width, height),
        }
    }

    /// Output files of frames, and the treatment of existing ones. No file is opened yet.
    pub fn outputs(&self) -> Outputs {
        let mut outputs = Outputs::new(self.pattern().cloned(), self.files.encoding());
        if let Some(skip) = self.skip_existing {
            outputs.skip_existing(skip);
        }
        if self.divided && !self.files.any() {
            outputs.divide_frames();
        }
        outputs.labels = self.labels();
        outputs
    }

    /// The labels of all requested frames.
    pub(super) fn labels(&self) -> Labels {
        Labels::new(&self.files.labels, self.asked.clone())
    }

    /// Checks that the scene's objects and cameras have a place in the files of labels.
    pub(super) fn check_labels(&self, job: &RenderJob) -> Result<(), SettingsError> {
        if let Some((kind, count)) = job.output.labels.overfull(&job.scene) {
            return Err(if count > MOST_NUMBERS {
                SettingsError::ManyObjects { kind, count }
            } else {
                SettingsError::OverfullMap { kind, count }
            });
        }
        if self.files.labels.contains(&Label::Transforms) {
            let faults =
                self.asked.iter().filter_map(|&frame| Some((frame, transforms::fault(&job.camera_of(frame))?)));
            if let Some((frame, fault)) = faults.into_iter().next() {
                return Err(SettingsError::NoTransforms { frame, fault });
            }
        }
        Ok(())
    }

    /// Opens all videos and sheets, and starts ffmpeg if necessary. Their folders must exist.
    pub fn open(&self, job: &mut RenderJob) -> Result<(), OutputError> {
        let (scene, settings, encoding) = (&job.scene, &job.settings, job.output.encoding);
        let mut in_order = Vec::new();
        if let Some(Destination::Stream(stream, format)) = &self.output {
            in_order.push(stream.open(*format, encoding));
        }
        let video_settings = self.video_settings(job);
        for video in self.videos() {
            in_order.push(open_video(video.path(&scene.name), video.format(), &video_settings)?);
        }
        if let Some(sheet) = &self.files.sheet {
            let layout = self.sheet_layout(settings);
            let path = sheet.path_for(0, &scene.name);
            in_order.push(match &self.files.sheet_row {
                Some(row) => row.open(path, sheet.format(), layout, encoding)?,
                None => open_sheet(path, sheet.format(), layout, encoding)?,
            });
        }
        Outputs::add_in_order(job, &self.asked, in_order);
        Ok(())
    }

    /// The videos. Each contains all frames.
    pub(super) fn videos(&self) -> impl Iterator<Item = &VideoName> {
        let of_output = match &self.output {
            Some(Destination::Video(video)) => Some(video),
            _ => None,
        };
        of_output.into_iter().chain(&self.files.video)
    }

    fn video_settings(&self, job: &RenderJob) -> VideoSettings {
        let (scene, settings) = (&job.scene, &job.settings);
        let comment = format!("throng {}, {} samples", env!("CARGO_PKG_VERSION"), settings.samples);
        let (width, height) = settings.film_size();
        VideoSettings {
            width,
            height,
            transparent: job.is_transparent(),
            rate: scene.settings.rate(),
            frames: self.asked.len(),
            quality: self.files.encoding().quality,
            codec: self.files.video_codec.clone(),
            texts: [scene.name.clone(), comment],
        }
    }
}
