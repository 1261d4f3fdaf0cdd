//! `throng denoise`: removes noise from the frames of a sequence.

use super::{
    Exit, UsageError,
    console::{self, plural},
};
use anyhow::Context;
use clap::builder::{OsStringValueParser, TypedValueParser};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Instant,
};
use throng_base::files::remember_input;
use throng_base::flags;
use throng_denoise::{
    ReadFrame,
    frames::{FrameDenoiser, REACH, RecordedFrame},
    read_frame,
};
use throng_device::{Developer, Filtered, tone_code};
use throng_output::{
    ColorDepth, Destination, Encoding, FileFormat, FrameFiles, InOrder, Manifests, Metadata, OutputError, Pattern,
    Picture, Pixels, Planned, prepare_distinct,
};
use throng_picture::{
    aov::{Aov, AovImage},
    film::FilmSettings,
};
use throng_render::frames::FrameList;
use throng_scene::{ToneMap, ranges};
use throng_settings::limits;

const HELP: &str = "\
Frames are OpenEXR files, made by throng render --layers albedo,normal,motion,variance, or by Cycles with the passes Vector
and Denoising Data. A frame depends only on its neighbours, so any list of frames gives identical pictures. .png, .jpg and
.webp files use the display settings of the frames. .exr files have the layer error, the expected remaining noise.";

/// The text that stands for `{scene}` in --output.
const SCENE: &str = "film";

/// Remove noise from rendered frames, each with the help of its neighbours
#[derive(clap::Args)]
#[command(after_long_help = HELP)]
pub struct DenoiseArgs {
    /// Frames of the sequence, such as 'frames/####.exr', or a still picture
    #[arg(value_name = "FRAMES")]
    input: PathBuf,
    /// Files to write, such as 'clean/####.png': .png, .jpg, .webp or .exr; - is standard output, as in throng render
    #[arg(short, long, value_name = "PATTERN", value_parser = OsStringValueParser::new().try_map(Destination::parse), allow_hyphen_values = true)]
    output: Destination,
    /// Frames to denoise, for example 1-48:2,60 [default: all]
    #[arg(short, long, value_name = "LIST")]
    frames: Option<FrameList>,
    /// Number of neighbouring frames on either side that help
    #[arg(long, value_name = "N", default_value_t = REACH, value_parser = limits::within(limits::DENOISE_FRAMES))]
    denoise_frames: u32,
    /// Strength: how much of the difference between pixels is treated as noise
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = limits::within(0.01f32..=100.0))]
    strength: f32,
    /// Exposure in stops [default: the frames' own]
    #[arg(long, value_name = "STOPS", allow_hyphen_values = true, value_parser = limits::within(ranges::EXPOSURE))]
    exposure: Option<f32>,
    /// Tone mapping: how radiance becomes display colours [default: the frames' own]
    #[arg(long, value_name = "NAME", value_parser = flags::choice::<ToneMap>())]
    tone_map: Option<ToneMap>,
    /// Print nothing but errors
    #[arg(short, long)]
    quiet: bool,
}

impl DenoiseArgs {
    pub fn run(self) -> anyhow::Result<Exit> {
        let start = Instant::now();
        // An invalid output is reported before missing inputs.
        self.open_output(1)?;
        let name = self.input.display();
        let files = if self.input.is_file() {
            BTreeMap::from([(1, self.input.clone())])
        } else {
            FrameFiles::parse(&self.input)?.list().with_context(|| name.to_string())?
        };
        let last = *files.keys().next_back().with_context(|| format!("{name}: there are no such files"))?;
        let frames = match &self.frames {
            Some(list) => list.resolve(0..=last)?,
            None => files.keys().copied().collect(),
        };
        if let Some(missing) = frames.iter().find(|frame| !files.contains_key(frame)) {
            anyhow::bail!("{name}: frame {missing} is missing");
        }
        let output = self.open_output(frames.len())?;
        files.values().for_each(|path| remember_input(path));
        let planned =
            frames.iter().filter_map(|&frame| Some(Planned::new(output.path(frame)?, format!("frame {frame}"))));
        prepare_distinct(planned.collect())?;
        let denoiser = FrameDenoiser::new(self.strength)?;
        let developer = Developer::new()?;
        let read = BTreeMap::new();
        let mut window = Window { denoiser: &denoiser, files: &files, reach: self.denoise_frames, read };
        for (index, &frame) in frames.iter().enumerate() {
            let read = window.around(frame)?;
            let denoised = denoiser.denoise(&read.window)?;
            self.write((index, frame), read.middle, denoised, (&developer, &output))?;
        }
        output.finish()?;
        if !self.quiet {
            let seconds = start.elapsed().as_secs_f64();
            console::note(&format!("{} in {seconds:.1} s; see {}", plural(frames.len(), "frame"), output.describe()));
        }
        Ok(Exit::Done)
    }

    fn open_output(&self, frames: usize) -> anyhow::Result<Output> {
        match &self.output {
            Destination::Files(files) if files.format() != FileFormat::Npz => {
                files.check_frame_count(frames)?;
                Ok(Output::Files(files.clone()))
            }
            Destination::Stream(stream, format) if *format != FileFormat::Npz => {
                Ok(Output::Stream(stream.open(*format, Encoding::default()), *format))
            }
            Destination::Files(_) | Destination::Stream(..) | Destination::Video(_) | Destination::Film(_) => {
                let fix = "--output: throng denoise writes pictures: .png, .jpg, .webp or .exr";
                Err(UsageError(fix.to_owned()).into())
            }
        }
    }

    fn write(
        &self,
        (index, frame): (usize, u32),
        from: &ReadFrame,
        denoised: Filtered,
        (developer, output): (&Developer, &Output),
    ) -> anyhow::Result<()> {
        let Filtered { radiance, alpha, errors: [error, _] } = denoised;
        let format = output.format();
        let (width, height) = from.frame.size();
        let covered = Some(&alpha[..]).filter(|alpha| !alpha.is_empty() && format.has_alpha());
        let pixels = match format {
            FileFormat::Exr | FileFormat::Npz => Pixels::F32(radiance.into()),
            FileFormat::Png | FileFormat::Jpeg | FileFormat::WebP => {
                let (exposure, tone_map, film) = self.shown(from).with_context(|| format!("frame {frame}"))?;
                let kind = format.pixels(ColorDepth::Usual).unwrap_or_default();
                let display = film.display_params(exposure, tone_code(tone_map), kind.code());
                Pixels::U8(developer.develop_for(&radiance, covered, (width, height), display, kind)?.into())
            }
        };
        let transparent = covered.is_some();
        let mut aovs = Vec::new();
        if transparent {
            aovs.push(AovImage { aov: Aov::Alpha, values: alpha.into() });
        }
        if format == FileFormat::Exr {
            aovs.push(AovImage { aov: Aov::Error, values: error.into() });
        }
        let picture = Picture {
            width,
            height,
            pixels,
            aovs: &aovs,
            transparent,
            blocks: None,
            display: None,
            manifests: &Manifests::default(),
            metadata: &Metadata { frame, ..from.origin.clone() },
        };
        Ok(output.add((index, frame), &picture)?)
    }

    /// Exposure in stops, tone map and film settings of a frame: from flags, otherwise from the frame's file.
    fn shown(&self, from: &ReadFrame) -> anyhow::Result<(f32, ToneMap, FilmSettings)> {
        let own = from.shown.as_ref();
        anyhow::ensure!(
            self.exposure.is_some() || own.is_some_and(|own| !own.is_automatic),
            "the file does not contain its exposure; give --exposure, or write .exr files"
        );
        let film = own.map_or_else(|| FilmSettings { dither: 1.0, ..FilmSettings::default() }, |own| own.film.clone());
        let tone_map = self.tone_map.or(own.map(|own| own.tone_map)).unwrap_or(ToneMap::Aces);
        let exposure = self.exposure.or(own.map(|own| own.exposure)).unwrap_or_default();
        Ok((exposure, tone_map, film))
    }
}

/// The destination of denoised frames.
enum Output {
    Files(Pattern),
    Stream(InOrder, FileFormat),
}

impl Output {
    fn format(&self) -> FileFormat {
        match self {
            Self::Files(files) => files.format(),
            Self::Stream(_, format) => *format,
        }
    }

    /// The file of a frame. None if frames are streamed.
    fn path(&self, frame: u32) -> Option<PathBuf> {
        match self {
            Self::Files(files) => Some(files.path_for(frame, SCENE)),
            Self::Stream(..) => None,
        }
    }

    /// Writes a frame. `index` is the number of frames before it.
    fn add(&self, (index, frame): (usize, u32), picture: &Picture) -> Result<(), OutputError> {
        match self {
            Self::Files(files) => files.format().write(&files.path_for(frame, SCENE), picture, &Encoding::default()),
            Self::Stream(stream, _) => stream.add(index, picture),
        }
    }

    fn finish(&self) -> Result<(), OutputError> {
        match self {
            Self::Files(_) => Ok(()),
            Self::Stream(stream, _) => stream.finish(),
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::Files(files) => files.describe(SCENE),
            Self::Stream(stream, _) => stream.path().display().to_string(),
        }
    }
}

/// Frames read so far that the next frame still needs.
struct Window<'a> {
    denoiser: &'a FrameDenoiser,
    files: &'a BTreeMap<u32, PathBuf>,
    reach: u32,
    read: BTreeMap<u32, ReadFrame>,
}

/// A frame with its neighbours.
struct Around<'a> {
    middle: &'a ReadFrame,
    window: Vec<Option<&'a RecordedFrame>>,
}

impl Window<'_> {
    fn around(&mut self, frame: u32) -> anyhow::Result<Around<'_>> {
        let span = i64::from(frame) - i64::from(self.reach)..=i64::from(frame) + i64::from(self.reach);
        self.read.retain(|&other, _| span.contains(&i64::from(other)));
        let numbers: Vec<Option<u32>> = span.map(|number| u32::try_from(number).ok()).collect();
        let is_alone = self.reach == 0 || self.files.len() == 1;
        for &number in numbers.iter().flatten() {
            let Some(path) = self.files.get(&number).filter(|_| !self.read.contains_key(&number)) else { continue };
            let read = read_frame(self.denoiser, path, is_alone)?;
            self.check_size(path, &read)?;
            if read.not_finite > 0 {
                let count = read.not_finite;
                let name = path.display();
                console::note(&format!(
                    "throng: warning: {name}: number of NaN or infinite pixels, filled from their neighbours: {count}"
                ));
            }
            self.read.insert(number, read);
        }
        let window = numbers.iter().map(|number| Some(&self.read.get(number.as_ref()?)?.frame)).collect();
        let middle = self.read.get(&frame).with_context(|| format!("frame {frame} is missing"))?;
        Ok(Around { middle, window })
    }

    fn check_size(&self, path: &Path, read: &ReadFrame) -> anyhow::Result<()> {
        let Some(other) = self.read.values().next() else {
            return Ok(());
        };
        let (name, own, others) = (path.display(), read.frame.size(), other.frame.size());
        anyhow::ensure!(
            own == others,
            "{name}: {}x{} pixels, but its neighbours have {}x{}; render all frames with the same --size",
            own.0,
            own.1,
            others.0,
            others.1
        );
        anyhow::ensure!(
            read.origin.windows == other.origin.windows,
            "{name}: its data or display window differs from its neighbours'; render all frames with the same --region"
        );
        Ok(())
    }
}
