//! What the user typed and what the scene asks for, made into validated settings.

mod limits;
mod memory;

pub use limits::Size;

use crate::{
    device::FrameSettings,
    output::{Pattern, PatternError},
    render::frames::{FrameList, FramesError},
    scene::{Integrator, RenderDefaults, Scene, Shutter, ToneMap},
};
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("--frames: {0}")]
    Frames(#[from] FramesError),
    #[error("--output: {0}")]
    Output(#[from] PatternError),
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
        memory::describe(*.needed),
        memory::describe(*.available)
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
            Self::Frames(_) | Self::Output(_) | Self::ManyDevices { .. }
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
    /// Of the path integrator: limits the radiance that a light brings after a bounce, which hides bright specks and darkens
    /// the picture [default: no limit]
    #[arg(long, value_name = "RADIANCE", value_parser = limits::parse_clamp)]
    pub clamp_indirect: Option<f32>,
    /// Exposure in stops: +1 is twice as bright
    #[arg(long, value_name = "STOPS", allow_negative_numbers = true, value_parser = limits::parse_exposure)]
    pub exposure: Option<f32>,
    /// How radiance becomes display colours
    #[arg(long, value_name = "NAME")]
    pub tone_map: Option<ToneMap>,
    /// Motion blur: how many frames long the shutter is open about each frame's time, like 0.5; or when it opens and closes,
    /// like -0.25,0.25. 0 switches it off [default: the scene's, or off]
    #[arg(long, value_name = "FRAMES", allow_hyphen_values = true)]
    pub shutter: Option<Shutter>,
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
            exposure: self.exposure.unwrap_or(scene.exposure),
            tone_map: self.tone_map.unwrap_or(scene.tone_map),
            single_scatter: self.single_scatter,
            noise: self.noise,
            clamp_indirect: self.clamp_indirect,
            linear: false,
            shutter: self.shutter.or(scene.shutter).filter(Shutter::is_open),
        };
        limits::check(&settings)?;
        memory::check(settings.width, settings.height)?;
        Ok(settings)
    }
}

/// Which frames are rendered and where they go, as typed.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Frames")]
pub struct FrameOptions {
    /// Files to write: `####` or `{frame:04}` is the frame number, `{scene}` the scene's name
    /// [default: frames/{scene}/####.png]
    #[arg(short, long, value_name = "PATTERN", value_parser = Pattern::parse)]
    pub output: Option<Pattern>,
    /// Frames to render, for example 1-48:2,60 [default: all of the scene]
    #[arg(short, long, value_name = "LIST")]
    pub frames: Option<FrameList>,
    /// Keep frames that exist and render only the missing ones
    #[arg(long)]
    pub skip_existing: bool,
}

/// Work for [`crate::render::run`], with what is already done taken out.
#[derive(Clone, Debug, PartialEq)]
pub struct FramePlan {
    pub output: Pattern,
    /// Frames to render.
    pub frames: Vec<u32>,
    /// How many frames were asked for and exist.
    pub skipped: usize,
}

impl FrameOptions {
    /// Looks at the disk only for `--skip-existing`.
    pub fn resolve(&self, scene: &Scene) -> Result<FramePlan, SettingsError> {
        limits::check_frames(scene.settings.frames)?;
        let all = FrameList::all();
        let mut frames = self
            .frames
            .as_ref()
            .unwrap_or(&all)
            .resolve(scene.settings.frames)?;
        let output = match &self.output {
            Some(pattern) => pattern.clone(),
            None => Pattern::parse("frames/{scene}/####.png")?,
        };
        output.check_frame_count(frames.len())?;
        let asked = frames.len();
        if self.skip_existing {
            let format = output.format();
            frames.retain(|&frame| !format.is_complete(&output.path_for(frame, &scene.name)));
        }
        Ok(FramePlan {
            output,
            skipped: asked - frames.len(),
            frames,
        })
    }
}

impl FramePlan {
    /// The number of frames that were asked for.
    pub fn total(&self) -> usize {
        self.frames.len() + self.skipped
    }

    /// The files of the frames to render, in the same order.
    pub fn paths(&self, scene: &str) -> Vec<PathBuf> {
        let path = |&frame| self.output.path_for(frame, scene);
        self.frames.iter().map(path).collect()
    }

    /// For people: the one file, or the pattern of all.
    pub fn describe_output(&self, scene: &str) -> String {
        match self.frames[..] {
            [frame] if self.skipped == 0 => {
                self.output.path_for(frame, scene).display().to_string()
            }
            _ => self.output.describe(scene),
        }
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
            output: Some(Pattern::parse(dir.path().to_str().unwrap()).unwrap()),
            frames: None,
            skip_existing: true,
        };
        crate::output::write_png(&dir.path().join("0002.png"), 1, 1, &[0; 3]).unwrap();
        std::fs::write(dir.path().join("0003.png"), "torn").unwrap();
        let plan = options.resolve(&scene(4)).unwrap();
        assert_eq!(plan.frames, [1, 3, 4]);
        assert_eq!((plan.skipped, plan.total()), (1, 4));
    }

    #[test]
    fn several_frames_into_one_file_are_a_usage_error() {
        let options = FrameOptions {
            output: Some(Pattern::parse("still.png").unwrap()),
            ..FrameOptions::default()
        };
        assert!(options.resolve(&scene(1)).is_ok());
        let error = options.resolve(&scene(2)).unwrap_err();
        assert!(error.is_usage());
        assert!(error.to_string().contains("still_####.png"), "{error}");
    }
}
