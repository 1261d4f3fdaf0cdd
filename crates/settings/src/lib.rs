//! Validated settings, made from the user's choices and the scene's defaults.
//!
//! Choices are plain values for library users. With the feature `cli` they are also command line flags.

#![warn(missing_docs)]

mod background;
mod error;
mod files;
mod film;
#[doc(hidden)]
pub mod limits;
mod memory;
mod part;
mod plan;
#[doc(hidden)]
pub mod run;
mod settings_error;
mod several;

pub use background::BackgroundChoice;
#[doc(hidden)]
pub use error::Error;
pub use files::FileOptions;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub use files::parse_depth;
pub use film::{AovName, AovOptions, Exposure, FilmOptions};
pub use limits::Size;
pub use part::{PartError, SampleRange};
#[doc(hidden)]
pub use plan::{FramePlan, OngoingOptions};
pub use run::PictureOptions;
#[doc(hidden)]
pub use run::Run;
pub use settings_error::SettingsError;
#[doc(inline)]
pub use throng_accel::Quality;
#[doc(inline)]
pub use throng_denoise::Denoise;
#[doc(inline)]
pub use throng_output::{
    Categories, ColorDepth, Destination, ExrCompression, Label, MapFormat, MapKind, Pattern, VideoName,
};
#[doc(inline)]
pub use throng_picture::aov::Aov;
#[doc(inline)]
pub use throng_render::{Mismatched, TreeCache, TreeSource, frames::FrameList};
pub use throng_scene::{Integrator, Layering, PixelFilter, Shutter, TextureFilter, ToneMap, rig::RefitPolicy};

#[cfg(feature = "cli")]
use clap::builder::{OsStringValueParser, TypedValueParser};
#[cfg(feature = "cli")]
use throng_base::flags;
use throng_device::{FrameSettings, Region};
use throng_output::{FileFormat, PatternError, choose};
use throng_render::{AutoExposure, SkipExisting};
#[cfg(feature = "cli")]
use throng_scene::ranges;
use throng_scene::{Metering, RenderDefaults};

/// Settings of the picture. Absent values are taken from the scene.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(next_help_heading = "Picture"))]
pub struct RenderOptions {
    /// Width and height in pixels, or 720p, 1080p, 4k, square ...
    ///
    /// 360p, 480p, 720p (1280x720), 1080p (1920x1080), 1440p (2560x1440), 4k (3840x2160) and 8k (7680x4320) are 16:9; square is
    /// 1080x1080, portrait 1080x1920 and thumbnail 256x256
    #[cfg_attr(feature = "cli", arg(long, value_name = "WIDTHxHEIGHT"))]
    pub size: Option<Size>,
    /// Samples per pixel
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", value_parser = limits::within(ranges::SAMPLES)))]
    pub samples: Option<u32>,
    /// Maximum number of bounces
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", value_parser = limits::within(ranges::BOUNCES)))]
    pub bounces: Option<u32>,
    /// Seed of the noise; equal seeds give identical pixels
    #[cfg_attr(feature = "cli", arg(long, value_name = "N"))]
    pub seed: Option<u32>,
    /// Use one noise pattern for all frames
    #[cfg_attr(feature = "cli", arg(long))]
    pub lock_seed: bool,
    /// Lighting method or diagnostic view: path, ao, clay ...
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME", value_parser = flags::choice::<Integrator>()))]
    pub integrator: Option<Integrator>,
    /// Noise target, for example 0.01: parts of the picture whose noise is lower get no more samples. --samples is then the maximum per
    /// pixel. With --denoise, the target applies to the denoised picture, except with oidn or --checkpoint
    #[cfg_attr(feature = "cli", arg(long, value_name = "TARGET", value_parser = limits::within(limits::NOISE)))]
    pub noise: Option<f32>,
    /// Average textures over what a sample covers, or look them up at points [default: on]
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME", value_parser = flags::choice::<TextureFilter>()))]
    pub filter_textures: Option<TextureFilter>,
    /// Path integrator: leave out multiple scattering on rough surfaces, like renderers without energy compensation
    #[cfg_attr(feature = "cli", arg(long))]
    pub single_scatter: bool,
    /// Path integrator: how shiny layers dim the layers below them [default: reciprocal]
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME", value_parser = flags::choice::<Layering>()))]
    pub layering: Option<Layering>,
    /// Path integrator: maximum radiance from a light after a bounce. Removes bright specks and darkens the picture [default: no limit; 2
    /// for models lit by anything but their own lights]
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "RADIANCE", value_parser = limits::within(ranges::CLAMP_INDIRECT))
    )]
    pub clamp_indirect: Option<f32>,
    /// Exposure in stops: 1 doubles the brightness, auto meters the scene.
    ///
    /// auto or auto+1 meters once per second of the animation and adjusts smoothly
    #[cfg_attr(feature = "cli", arg(long, value_name = "STOPS", allow_negative_numbers = true))]
    pub exposure: Option<Exposure>,
    /// Tone mapping: how radiance becomes display colours
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME", value_parser = flags::choice::<ToneMap>()))]
    pub tone_map: Option<ToneMap>,
    /// Motion blur: shutter time in frames, centred on each frame's time, like 0.5; or opening and closing times, like -0.25,0.25. 0 turns
    /// it off [default: the scene's shutter, otherwise off]
    #[cfg_attr(feature = "cli", arg(long, value_name = "FRAMES", allow_hyphen_values = true))]
    pub shutter: Option<Shutter>,
    /// Draw the edges of triangles over the picture, 1 pixel wide or with this width
    #[cfg_attr(feature = "cli", arg(long, value_name = "PIXELS", num_args = 0..=1, require_equals = true, default_missing_value = "1", value_parser = limits::within(limits::EDGE_WIDTH)))]
    pub wireframe: Option<f32>,
    /// Settings of the pixel filter and of display colours.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub film: FilmOptions,
    /// The rendered part of the picture. None for the whole picture.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub region: Option<Region>,
}

impl RenderOptions {
    /// These choices, completed by the choices of a lower layer, such as a viewer's by the command line's. Switches are on if either layer
    /// turns them on.
    #[must_use]
    pub fn or(self, lower: &Self) -> Self {
        Self {
            size: self.size.or(lower.size),
            samples: self.samples.or(lower.samples),
            bounces: self.bounces.or(lower.bounces),
            seed: self.seed.or(lower.seed),
            lock_seed: self.lock_seed || lower.lock_seed,
            integrator: self.integrator.or(lower.integrator),
            noise: self.noise.or(lower.noise),
            filter_textures: self.filter_textures.or(lower.filter_textures),
            single_scatter: self.single_scatter || lower.single_scatter,
            layering: self.layering.or(lower.layering),
            clamp_indirect: self.clamp_indirect.or(lower.clamp_indirect),
            exposure: self.exposure.or(lower.exposure),
            tone_map: self.tone_map.or(lower.tone_map),
            shutter: self.shutter.or(lower.shutter),
            wireframe: self.wireframe.or(lower.wireframe),
            film: self.film.or(&lower.film),
            region: self.region.or(lower.region),
        }
    }

    /// The settings of all frames. Values from the scene are checked like flags, and the picture must fit into the machine's memory.
    #[doc(hidden)]
    pub fn resolve(&self, scene: &RenderDefaults) -> Result<FrameSettings, SettingsError> {
        let usual = FrameSettings::from(scene);
        let size = self.size.unwrap_or(Size { width: usual.width, height: usual.height });
        let integrator = self.integrator.unwrap_or(usual.integrator);
        let settings = FrameSettings {
            width: size.width,
            height: size.height,
            region: self.region,
            samples: self.samples.unwrap_or(usual.samples),
            bounces: self.bounces.unwrap_or(usual.bounces),
            seed: self.seed.unwrap_or(usual.seed),
            lock_seed: self.lock_seed,
            integrator,
            wireframe: self.wireframe.or((integrator == Integrator::Wireframe).then_some(1.0)),
            exposure: match self.exposure {
                Some(Exposure::Fixed(stops)) => stops,
                Some(Exposure::Automatic(_)) => 0.0,
                None => usual.exposure,
            },
            tone_map: self.tone_map.unwrap_or(usual.tone_map),
            filter_textures: self.filter_textures.unwrap_or_default() == TextureFilter::On,
            single_scatter: self.single_scatter || usual.single_scatter,
            layering: self.layering.unwrap_or_default(),
            // An explicit number of samples overrides the scene's noise target.
            noise: self.noise.or(usual.noise.filter(|_| self.samples.is_none())),
            clamp_indirect: self.clamp_indirect.or(usual.clamp_indirect),
            film: self.film.resolve(&usual.film),
            shutter: self.shutter.map_or(usual.shutter, |shutter| Some(shutter).filter(Shutter::is_open)),
            ..usual
        };
        limits::check(&settings)?;
        if let Some(region) = &settings.region {
            region.check((settings.width, settings.height))?;
        }
        let (width, height) = settings.film_size();
        memory::check(width, height)?;
        Ok(settings)
    }
}

impl RenderOptions {
    /// Settings of exposure metering. None if the exposure is fixed.
    pub(crate) fn auto_exposure(&self, scene: &RenderDefaults) -> Option<AutoExposure> {
        match (self.exposure, scene.metering) {
            (Some(Exposure::Automatic(more)), _) => Some(AutoExposure::Full(more)),
            (Some(Exposure::Fixed(_)), _) | (None, Metering::Off) => None,
            (None, Metering::Gentle) => Some(AutoExposure::Gentle),
            (None, Metering::Full) => Some(AutoExposure::Full(0.0)),
            (None, Metering::Keyed) => Some(AutoExposure::Keyed),
        }
    }
}

/// Which frames are rendered, and their output.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(next_help_heading = "Frames"))]
pub struct FrameOptions {
    /// Files to write, such as out/####.png or video.mp4.
    ///
    /// Pictures are .png, .jpg, .webp (lossless), .exr (linear) or .npz (arrays of numpy). `####` is the frame number; other forms are `{frame:04}`, `%04d` (`%%`
    /// is a percent sign), `$F4`, `@@@@` and `<frame>`. `{scene}` or `{model}` is the scene's name. `{animation}` makes separate files for
    /// each animation of --animation. `-` is standard output, as PNG; `-.jpg` selects another format. Pipes and devices get the frames one
    /// after the other. File names of videos make a video, see --video [default: frames/{scene}/####.png]
    #[allow(rustdoc::broken_intra_doc_links, reason = "these brackets are for people")]
    #[cfg_attr(feature = "cli", arg(short, long, value_name = "PATTERN", value_parser = OsStringValueParser::new().try_map(Destination::parse), allow_hyphen_values = true))]
    pub output: Option<Destination>,
    /// Frames to render, for example 1-48:2,60 [default: all]
    ///
    /// If --output names a single picture, the default is the first frame
    #[cfg_attr(feature = "cli", arg(short, long, value_name = "LIST"))]
    pub frames: Option<FrameList>,
    /// Keep existing frames and render only missing ones.
    ///
    /// Several runs with this flag may share a folder: each frame is rendered by one of them. A run ends when all of its frames exist. If a
    /// run dies, another one takes over its frame
    #[cfg_attr(feature = "cli", arg(long))]
    pub skip_existing: bool,
    /// Treatment by --skip-existing of frames with another size, scene or settings, as far as their files record these [default: refuse, or
    /// render with --checkpoint]
    #[cfg_attr(feature = "cli", arg(long, value_name = "WHAT", value_parser = flags::choice::<Mismatched>(), requires = "skip_existing"))]
    pub mismatched: Option<Mismatched>,
    /// Settings of output files.
    #[cfg_attr(feature = "cli", command(flatten))]
    pub files: FileOptions,
}

impl FrameOptions {
    /// Whether only the first frame is rendered, to a single picture.
    #[doc(hidden)]
    pub fn is_single(&self) -> bool {
        self.is_one_picture() && self.frames.as_ref().is_none_or(|list| list.resolve(1..=1).is_ok())
    }

    /// Whether the output is the name of a single picture. A WebP file may be an animation.
    fn is_one_picture(&self) -> bool {
        let is_one = |files: &Pattern| !files.has_frame() && files.format() != FileFormat::WebP;
        match &self.output {
            Some(Destination::Files(files)) => is_one(files) && !self.files.any(),
            Some(Destination::Film(_)) => true,
            _ => false,
        }
    }

    /// The plan for the frames of a scene with these settings. Does not access the disk.
    #[doc(hidden)]
    pub fn resolve(&self, scene: &RenderDefaults) -> Result<FramePlan, SettingsError> {
        if self.names_animations() {
            return Err(PatternError::NothingPlayed.into());
        }
        limits::check_frames(scene.frames)?;
        let mut asked = match &self.frames {
            Some(list) => list.resolve(scene.frame_numbers())?,
            None if self.is_one_picture() => vec![scene.first_frame],
            None => FrameList::all().resolve(scene.frame_numbers())?,
        };
        let output = match &self.output {
            Some(output) => Some(output.clone().for_frames(asked.len())?),
            None if self.files.any() => None,
            None => Some(Destination::parse("frames/{scene}/####.png")?),
        };
        self.files.check(output.as_ref())?;
        if output.is_none() && self.files.video.is_none() {
            asked = choose(&asked, self.files.sheet_count());
        }
        if self.skip_existing && !matches!(output, Some(Destination::Files(_))) {
            return Err(SettingsError::NothingToKeep);
        }
        let skip_existing = self
            .skip_existing
            .then(|| SkipExisting { mismatched: self.mismatched.unwrap_or_default(), joined: self.files.any() });
        Ok(FramePlan {
            output,
            files: self.files.clone(),
            skip_existing,
            divided: self.skip_existing,
            asked,
            skipped: 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use throng_device::PixelType;

    fn scene(frames: u32) -> RenderDefaults {
        RenderDefaults { frames, ..RenderDefaults::default() }
    }

    #[test]
    fn typed_values_win_over_the_scene() {
        let options =
            RenderOptions { size: Some(Size { width: 3, height: 2 }), bounces: Some(0), ..RenderOptions::default() };
        let settings = options.resolve(&RenderDefaults::default()).unwrap();
        assert_eq!((settings.width, settings.height), (3, 2));
        assert_eq!(settings.bounces, 0);
        assert_eq!(settings.samples, RenderDefaults::default().samples);
    }

    #[test]
    fn a_scene_with_senseless_settings_is_refused() {
        let defaults = RenderDefaults { samples: 0, ..RenderDefaults::default() };
        let error = RenderOptions::default().resolve(&defaults).unwrap_err();
        assert!(!error.is_usage());
        assert!(error.to_string().contains("samples is 0; it must be 1 to 1048576"), "{error}");
    }

    #[test]
    fn a_scene_without_or_with_absurdly_many_frames_is_refused() {
        for frames in [0, u32::MAX] {
            let error = FrameOptions::default().resolve(&scene(frames)).unwrap_err();
            assert!(error.to_string().contains("frames is "), "{error}");
        }
    }

    #[test]
    fn several_frames_into_one_file_are_a_usage_error() {
        let output = Some(Destination::parse("still.png").unwrap());
        let options = FrameOptions { output: output.clone(), ..FrameOptions::default() };
        assert_eq!(options.resolve(&scene(2)).unwrap().asked, [1]);
        let options = FrameOptions { output, frames: Some(FrameList::all()), ..FrameOptions::default() };
        let error = options.resolve(&scene(2)).unwrap_err();
        assert!(error.is_usage());
        assert!(error.to_string().contains("still_####.png"), "{error}");
    }

    #[test]
    fn videos_alone_get_no_files_of_frames_and_sheets_alone_only_theirs() {
        let resolve = |options: &[&str], frames| {
            #[derive(clap::Parser)]
            struct Args {
                #[command(flatten)]
                frames: FrameOptions,
            }
            let args = <Args as clap::Parser>::parse_from([&[""], options].concat());
            args.frames.resolve(&scene(frames))
        };
        let paths = |plan: &FramePlan, ongoing| -> Vec<PathBuf> {
            let planned = plan.planned("s", &ongoing);
            planned.into_iter().map(|file| file.path).collect()
        };
        let once = OngoingOptions::default;
        let plan = resolve(&["--video", "a.gif"], 3).unwrap();
        assert_eq!(paths(&plan, once()), [PathBuf::from("a.gif")]);
        assert_eq!(plan.asked, [1, 2, 3]);
        let plan = resolve(&["--sheet", "s.png", "--sheet-frames", "3"], 9).unwrap();
        assert_eq!(plan.asked, [1, 5, 9]);
        let plan = resolve(&["--sheet", "s.png", "-o", "####.png"], 9).unwrap();
        assert_eq!((plan.total(), paths(&plan, once()).len()), (9, 10));
        let kept = OngoingOptions { checkpoint: true, ..once() };
        assert_eq!(paths(&plan, kept).len(), 19);
        assert_eq!(plan.describe_output("s"), "####.png, s.png");
        let plan = resolve(&["-o", "-"], 2).unwrap();
        assert!(paths(&plan, once()).is_empty() && plan.pixels() == PixelType::U8);
        for refused in [
            &["-o", "####.exr", "--video", "a.gif"][..],
            &["--sheet", "s.exr"],
            &["-o", "a.mp4", "--skip-existing"],
            &["-o", "####.jpg", "--color-depth", "16"],
            &["-o", "####.exr", "--color-depth", "8"],
            &["--video", "a.webp", "--color-depth", "16"],
        ] {
            assert!(resolve(refused, 2).is_err_and(|error| error.is_usage()), "{refused:?}");
        }
    }
}
