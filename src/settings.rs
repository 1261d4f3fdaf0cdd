//! What the user typed and what the scene asks for, made into validated settings.

mod files;
mod film;
mod limits;
mod memory;

pub use files::FileOptions;
pub use film::{Exposure, FilmOptions, LayerOptions};
pub use limits::Size;

use crate::{
    device::{FrameSettings, PixelType},
    layers::LayerSet,
    memory::describe,
    output::{Destination, Pattern, PatternError, choose},
    render::frames::{FrameList, FramesError},
    scene::{Integrator, Layering, RenderDefaults, Scene, Shutter, ToneMap},
};
use std::{path::PathBuf, time::Duration};

#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("--frames: {0}")]
    Frames(#[from] FramesError),
    #[error("--output: {0}")]
    Output(#[from] PatternError),
    #[error("--skip-existing keeps files of frames, and none are written; add -o frames/####.png")]
    NothingToKeep,
    #[error(
        "films and contact sheets show display colours and .exr files have none; choose an --output of .png, .jpg or .webp"
    )]
    Linear,
    #[error(
        "--color-depth: .{extension} files do not have that many bits; .png has 8 or 16, .exr 16 or 32, all others 8"
    )]
    Depth { extension: &'static str },
    #[error("standard output has the pictures and cannot have --progress json, too")]
    StandardOutput,
    #[error(
        "--checkpoint and --write-partial keep files beside those of frames; give frames their own with --output"
    )]
    Ongoing,
    #[error(
        "--device: {count} devices are named and one is needed; write several GPUs like cuda:0,1"
    )]
    ManyDevices { count: usize },
    #[error("the scene's render settings: {name} is {value}; it must be {allowed}")]
    Scene {
        name: &'static str,
        value: String,
        allowed: String,
    },
    #[error(
        "a picture of {width}x{height} pixels needs about {} of memory and this machine has {}; \
         choose a smaller --size",
        describe(*.needed),
        describe(*.available)
    )]
    Memory {
        width: u32,
        height: u32,
        needed: u64,
        available: u64,
    },
}

impl SettingsError {
    /// Whether the command line is wrong, rather than the scene or the machine.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Frames(_)
                | Self::Output(_)
                | Self::ManyDevices { .. }
                | Self::NothingToKeep
                | Self::Linear
                | Self::Depth { .. }
                | Self::StandardOutput
                | Self::Ongoing
        )
    }
}

/// How frames look, as typed. What is not given is taken from the scene.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Picture")]
pub struct LookOptions {
    /// Width and height in pixels
    #[arg(long, value_name = "WIDTHxHEIGHT")]
    pub size: Option<Size>,
    /// Samples per pixel
    #[arg(long, value_name = "N", value_parser = limits::parse_samples)]
    pub samples: Option<u32>,
    /// Greatest number of bounces
    #[arg(long, value_name = "N", value_parser = limits::parse_bounces)]
    pub bounces: Option<u32>,
    /// Seed of the noise; the same seed gives the same pixels
    #[arg(long, value_name = "N")]
    pub seed: Option<u32>,
    /// The same noise in every frame
    #[arg(long)]
    pub lock_seed: bool,
    /// How light is computed, or which debugging view is shown
    #[arg(long, value_name = "NAME")]
    pub integrator: Option<Integrator>,
    /// Stop sampling parts of the picture whose noise is below this, for example 0.01; --samples is then the most that
    /// a pixel gets
    #[arg(long, value_name = "TARGET", value_parser = limits::parse_noise)]
    pub noise: Option<f32>,
    /// Of the path integrator: leave out light that rough surfaces scatter more than once, as renderers without energy
    /// compensation do
    #[arg(long)]
    pub single_scatter: bool,
    /// Of the path integrator: how shiny surfaces dim what lies below them
    #[arg(
        long,
        value_name = "NAME",
        default_value = "reciprocal",
        hide_default_value = true
    )]
    pub layering: Layering,
    /// Of the path integrator: limits the radiance that a light brings after a bounce, which hides bright specks and darkens
    /// the picture [default: no limit]
    #[arg(long, value_name = "RADIANCE", value_parser = limits::parse_clamp)]
    pub clamp_indirect: Option<f32>,
    /// Exposure in stops: +1 is twice as bright; auto or auto+1 measures the scene once a second and follows it smoothly
    #[arg(long, value_name = "STOPS", allow_negative_numbers = true)]
    pub exposure: Option<Exposure>,
    /// How radiance becomes display colours
    #[arg(long, value_name = "NAME")]
    pub tone_map: Option<ToneMap>,
    /// Motion blur: how many frames long the shutter is open about each frame's time, like 0.5; or when it opens and closes,
    /// like -0.25,0.25. 0 switches it off [default: the scene's, or off]
    #[arg(long, value_name = "FRAMES", allow_hyphen_values = true)]
    pub shutter: Option<Shutter>,
    #[command(flatten)]
    pub film: FilmOptions,
}

impl LookOptions {
    /// The settings of all frames. Values from the scene are checked like typed ones, and the picture has to fit
    /// into the machine's memory.
    pub fn resolve(&self, scene: &RenderDefaults) -> Result<FrameSettings, SettingsError> {
        let size = self.size.unwrap_or(Size {
            width: scene.width,
            height: scene.height,
        });
        let settings = FrameSettings {
            width: size.width,
            height: size.height,
            samples: self.samples.unwrap_or(scene.samples),
            bounces: self.bounces.unwrap_or(scene.bounces),
            seed: self.seed.unwrap_or(scene.seed),
            lock_seed: self.lock_seed,
            integrator: self.integrator.unwrap_or(scene.integrator),
            exposure: match self.exposure {
                Some(Exposure::Fixed(stops)) => stops,
                Some(Exposure::Automatic(_)) => 0.0,
                None => scene.exposure,
            },
            tone_map: self.tone_map.unwrap_or(scene.tone_map),
            single_scatter: self.single_scatter,
            layering: self.layering,
            noise: self.noise,
            clamp_indirect: self.clamp_indirect,
            open_ended: false,
            film: self.film.resolve(scene),
            pixels: PixelType::U8,
            layers: LayerSet::default(),
            file_rows: None,
            shutter: self.shutter.or(scene.shutter).filter(Shutter::is_open),
        };
        limits::check(&settings)?;
        memory::check(settings.width, settings.height)?;
        Ok(settings)
    }
}

impl LookOptions {
    /// Stops to add to exposures that are measured, if these are to be.
    pub fn auto_exposure(&self) -> Option<f32> {
        match self.exposure {
            Some(Exposure::Automatic(more)) => Some(more),
            _ => None,
        }
    }
}

/// Which frames are rendered and where they go, as typed.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Frames")]
pub struct FrameOptions {
    /// Files to write, .png, .jpg, .webp (without loss) or .exr (linear): `####` or `{frame:04}` is the frame number,
    /// `{scene}` the scene's name; `-` is standard output, `-.jpg` in another format than PNG; names of films make one,
    /// see --video [default: frames/{scene}/####.png]
    #[arg(short, long, value_name = "PATTERN", value_parser = Destination::parse, allow_hyphen_values = true)]
    pub output: Option<Destination>,
    /// Frames to render, for example 1-48:2,60 [default: all of the scene]
    #[arg(short, long, value_name = "LIST")]
    pub frames: Option<FrameList>,
    /// Keep frames that exist and render only the missing ones
    #[arg(long)]
    pub skip_existing: bool,
    #[command(flatten)]
    pub files: FileOptions,
}

/// What is done with frames before they are finished, as typed.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Frames")]
pub struct OngoingOptions {
    /// Keep the samples of each frame beside it, in a file named like it with .film at the end. The same command goes on from
    /// there after an interruption, and so does one with more --samples after the frame was finished
    #[arg(long)]
    pub checkpoint: bool,
    /// Write the frame that is under way as it stands every so often, as NAME.partial.png until it is finished. SIGUSR1
    /// does so at once
    #[arg(long, value_name = "SECONDS", value_parser = limits::parse_interval)]
    pub write_partial: Option<Duration>,
}

/// Work for [`crate::render::run`], with what is already done taken out.
#[derive(Clone, Debug)]
pub struct FramePlan {
    /// None: frames go to films and sheets alone.
    pub output: Option<Destination>,
    pub files: FileOptions,
    /// All frames that were asked for.
    pub asked: Vec<u32>,
    /// Frames to render: those of them that do not exist.
    pub frames: Vec<u32>,
    /// How many frames were asked for and exist.
    pub skipped: usize,
}

impl FrameOptions {
    /// Looks at the disk only for `--skip-existing`.
    pub fn resolve(&self, scene: &Scene) -> Result<FramePlan, SettingsError> {
        limits::check_frames(scene.settings.frames)?;
        let all = FrameList::all();
        let list = self.frames.as_ref().unwrap_or(&all);
        let mut asked = list.resolve(scene.settings.frames)?;
        let output = match &self.output {
            Some(output) => Some(output.clone().for_frames(asked.len())?),
            None if self.files.any() => None,
            None => Some(Destination::parse("frames/{scene}/####.png")?),
        };
        self.files.check(output.as_ref())?;
        if output.is_none() && self.files.video.is_none() {
            asked = choose(&asked, self.files.sheet_count());
        }
        let frames = self.missing(&asked, output.as_ref(), &scene.name)?;
        Ok(FramePlan {
            output,
            files: self.files.clone(),
            skipped: asked.len() - frames.len(),
            asked,
            frames,
        })
    }

    fn missing(
        &self,
        asked: &[u32],
        output: Option<&Destination>,
        scene: &str,
    ) -> Result<Vec<u32>, SettingsError> {
        let mut frames = asked.to_vec();
        if self.skip_existing {
            let Some(Destination::Files(files)) = output else {
                return Err(SettingsError::NothingToKeep);
            };
            frames.retain(|&frame| !files.format().is_complete(&files.path_for(frame, scene)));
        }
        Ok(frames)
    }
}

impl FramePlan {
    /// The number of frames that were asked for.
    pub fn total(&self) -> usize {
        self.asked.len()
    }

    /// The files of frames, if there are any.
    pub fn pattern(&self) -> Option<&Pattern> {
        match &self.output {
            Some(Destination::Files(files)) => Some(files),
            _ => None,
        }
    }

    /// What frames are made of: what their files take; films and sheets make do with it.
    pub fn pixels(&self) -> PixelType {
        let format = match &self.output {
            Some(Destination::Files(files)) => files.format(),
            Some(Destination::Stdout(format)) => *format,
            _ => return PixelType::U8,
        };
        let depth = self.files.encoding().depth;
        format.pixels(depth).unwrap_or_default()
    }

    /// All files that will be written: those of the frames to render in the same order, then films and sheets.
    pub fn paths(&self, scene: &str) -> Vec<PathBuf> {
        let mut paths = Vec::new();
        if let Some(files) = self.pattern() {
            paths.extend(
                self.frames
                    .iter()
                    .map(|&frame| files.path_for(frame, scene)),
            );
        }
        paths.extend(self.films().map(|film| film.path(scene)));
        paths.extend(
            self.files
                .sheet
                .iter()
                .map(|sheet| sheet.path_for(0, scene)),
        );
        paths
    }

    /// For people: the one file, or the pattern of all; then films and sheets.
    pub fn describe_output(&self, scene: &str) -> String {
        let frames = match (&self.output, &self.frames[..]) {
            (Some(Destination::Files(files)), [frame]) if self.skipped == 0 => {
                Some(files.path_for(*frame, scene).display().to_string())
            }
            (Some(Destination::Files(files)), _) => Some(files.describe(scene)),
            (Some(Destination::Stdout(_)), _) => Some("standard output".into()),
            _ => None,
        };
        let films = self.films().map(|film| film.describe(scene));
        let sheet = self.files.sheet.iter().map(|sheet| sheet.describe(scene));
        let all: Vec<String> = frames.into_iter().chain(films).chain(sheet).collect();
        all.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(frames: u32) -> Scene {
        let mut scene = Scene {
            name: "s".into(),
            ..Scene::default()
        };
        scene.settings.frames = frames;
        scene
    }

    #[test]
    fn typed_values_win_over_the_scene() {
        let look = LookOptions {
            size: Some(Size {
                width: 3,
                height: 2,
            }),
            bounces: Some(0),
            ..LookOptions::default()
        };
        let settings = look.resolve(&RenderDefaults::default()).unwrap();
        assert_eq!((settings.width, settings.height), (3, 2));
        assert_eq!(settings.bounces, 0);
        assert_eq!(settings.samples, RenderDefaults::default().samples);
    }

    #[test]
    fn a_scene_with_senseless_settings_is_refused() {
        let defaults = RenderDefaults {
            samples: 0,
            ..RenderDefaults::default()
        };
        let error = LookOptions::default().resolve(&defaults).unwrap_err();
        assert!(!error.is_usage());
        assert!(
            error
                .to_string()
                .contains("samples is 0; it must be 1 to 1048576"),
            "{error}"
        );
    }

    #[test]
    fn a_scene_without_or_with_absurdly_many_frames_is_refused() {
        for frames in [0, u32::MAX] {
            let error = FrameOptions::default().resolve(&scene(frames)).unwrap_err();
            assert!(error.to_string().contains("frames is "), "{error}");
        }
    }

    #[test]
    fn existing_frames_are_skipped_only_if_whole() {
        let dir = tempfile::tempdir().unwrap();
        let options = FrameOptions {
            output: Some(Destination::parse(dir.path().to_str().unwrap()).unwrap()),
            skip_existing: true,
            ..FrameOptions::default()
        };
        image::RgbImage::new(1, 1)
            .save(dir.path().join("0002.png"))
            .unwrap();
        std::fs::write(dir.path().join("0003.png"), "torn").unwrap();
        let plan = options.resolve(&scene(4)).unwrap();
        assert_eq!(plan.frames, [1, 3, 4]);
        assert_eq!((plan.skipped, plan.total()), (1, 4));
    }

    #[test]
    fn several_frames_into_one_file_are_a_usage_error() {
        let options = FrameOptions {
            output: Some(Destination::parse("still.png").unwrap()),
            ..FrameOptions::default()
        };
        assert!(options.resolve(&scene(1)).is_ok());
        let error = options.resolve(&scene(2)).unwrap_err();
        assert!(error.is_usage());
        assert!(error.to_string().contains("still_####.png"), "{error}");
    }

    #[test]
    fn films_alone_get_no_files_of_frames_and_sheets_alone_only_theirs() {
        let resolve = |options: &[&str], frames| {
            #[derive(clap::Parser)]
            struct Args {
                #[command(flatten)]
                frames: FrameOptions,
            }
            let args = <Args as clap::Parser>::parse_from([&[""], options].concat());
            args.frames.resolve(&scene(frames))
        };
        let plan = resolve(&["--video", "a.gif"], 3).unwrap();
        assert_eq!(plan.paths("s"), [PathBuf::from("a.gif")]);
        assert_eq!(plan.frames, [1, 2, 3]);
        let plan = resolve(&["--sheet", "s.png", "--sheet-frames", "3"], 9).unwrap();
        assert_eq!(plan.frames, [1, 5, 9]);
        let plan = resolve(&["--sheet", "s.png", "-o", "####.png"], 9).unwrap();
        assert_eq!((plan.frames.len(), plan.paths("s").len()), (9, 10));
        assert_eq!(plan.describe_output("s"), "####.png, s.png");
        let plan = resolve(&["-o", "-"], 2).unwrap();
        assert!(plan.paths("s").is_empty() && plan.pixels() == PixelType::U8);
        for refused in [
            &["-o", "####.exr", "--video", "a.gif"][..],
            &["--sheet", "s.exr"],
            &["-o", "a.mp4", "--skip-existing"],
            &["-o", "####.jpg", "--color-depth", "16"],
            &["-o", "####.exr", "--color-depth", "8"],
        ] {
            assert!(
                resolve(refused, 2).is_err_and(|error| error.is_usage()),
                "{refused:?}"
            );
        }
    }
}
