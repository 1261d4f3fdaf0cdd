//! `throng render`: renders frames to files and videos.

use super::{
    compare,
    models::{self, Inputs, Outcome},
    report::{self, Reporter},
    together::Together,
};
use crate::cli::{
    Exit, UsageError,
    args::{DeviceArgs, TreeArgs, warn_of_trees},
    console::{self, plural},
    demand, interrupt,
    progress::{Progress, ProgressMode},
    shipped,
};
use clap::builder::{PathBufValueParser, TypedValueParser};
use std::{
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};
use throng_base::flags;
use throng_denoise::Denoise;
use throng_device::{Device, FrameSettings};
use throng_loader::{self as loader, LoadError, LoadOptions, SingleClip, options::Preset};
use throng_output::{Destination, OutputError, PatternError, SheetRows, Stream};
use throng_picture::pixels::PixelType;
use throng_render::{RenderError, RenderJob};
use throng_scene::{RenderDefaults, Scene, rig::RefitPolicy};
use throng_settings::{
    AovOptions, Exposure, FrameOptions, FramePlan, OngoingOptions, PictureOptions, RenderOptions, Run, SettingsError,
};

const EVENTS_HELP: &str = "\
Files get their final name only when they are complete. Ctrl-C stops the run and drops the current frame; a second Ctrl-C
stops immediately. To resume, run the command again with --skip-existing. With --checkpoint, the samples of the current
frame are kept, and resuming loses nothing. Videos and contact sheets contain all frames. On resuming, existing frames are
read back if --output writes them to files; otherwise the video starts over.

With --progress json, standard output has one JSON object per line; `event` is one of
  started  scene, device, frames (requested), skipped (already exist), width, height, samples, warnings,
           notes (other contents of the file)
  frame    frame, path, done, frames, pose_ms, trace_ms, write_ms, rays {primary, bounce, shadow},
           refits, rebuilds, sah_ratio (of the worst tree of a deforming mesh; 0 if there is none), follow_ms,
           blank (black, white or one_color for a uniform picture; otherwise null),
           noise {left, before} (with --denoise frames: mean standard deviation of pixels; otherwise null); with --noise, also
           samples (mean per pixel), noisy (share of the frame above the target)
  done     frames (rendered), skipped (already existed), appeared (made by other runs meanwhile), elsewhere (0; after a
           stop, frames in progress in other runs), seconds, frames_per_s, rays, mrays_per_s, refits, rebuilds,
           sah_ratio, output,
           busy {pose, device, write, writers}: load of each stage from 0 to 1, from the first pose on
           (write: mean over the `writers`, the writing threads); the stage
           nearest to 1 is the bottleneck (pose includes waiting for tracing threads);
           cached_trees {read, built} (with --cache: trees read from it and trees built, for all scenes so
           far; otherwise null)
  stopped  as done, and resume: the command line that resumes the run; only resume if the run was ended because it had
           not stopped within four seconds
Animations with rows or files of their own give the lines of one animation after the other.
Several scenes give the lines of one scene after the other, and a last line
  models   models (requested), rendered, existed (already), failed [{file, error}], seconds, and resume if it was stopped
With --compare, the lines after `started` are
  difference  per frame and device but the first: frame, device, differing (share of pixels with a channel that
              differs by more than 0.016 of 1), max and mean (difference of a channel, from 0 to 1)
  compared    per device but the first, over all frames: device, frames, differing, max, mean, agrees
After an error there are no more lines; its text is on standard error.

Examples:
  throng render scenes/million.ron -f 1-24 --size 1920x1080 --samples 64 -o out/####.png
  throng render model.glb -o turn.webp --size 640x640             a turntable
  throng render model.glb -f 1 -o still.png --environment sky.hdr  a picture lit by a panorama
  throng render model.glb --animation Walk -o walk.mp4            an animation
  throng render model.glb --animation all -o '{animation}.webp'    a video of each animation
  throng render models/ -o 'thumbs/{model}.png' --size 256x256     a picture of each model in a folder
  throng render scene.ron --denoise --skip-existing                keeps finished frames: run it again to resume";

/// Render frames to pictures or videos
#[derive(clap::Args)]
#[command(after_long_help = EVENTS_HELP)]
pub struct RenderArgs {
    /// Scenes (.ron, .scn), models (.gltf, .glb, .obj, .ply, .stl) or folders of these.
    ///
    /// Several scenes are rendered one after the other. Their names must be part of the file names: -o 'thumbs/{model}.png'. If one fails,
    /// the others are still rendered
    #[arg(value_name = "SCENE", required = true, value_parser = PathBufValueParser::new().map(shipped::found))]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    load: LoadOptions,
    #[command(flatten)]
    frames: FrameOptions,
    #[command(flatten)]
    ongoing: OngoingOptions,
    #[command(flatten)]
    picture: RenderOptions,
    #[command(flatten)]
    aovs: AovOptions,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    trees: TreeArgs,
    /// Update method for acceleration trees of deforming meshes (overrides the scene): refit while tracing stays fast, always refit, or
    /// always rebuild
    #[arg(long, value_name = "POLICY", value_parser = flags::choice::<RefitPolicy>(), help_heading = "Device")]
    refit: Option<RefitPolicy>,
    /// Render each frame on every device of --device and compare it with the first device's; fail if more than 1 % of the pixels differ.
    /// The first device's frames are written, but only with --output
    #[arg(
        long,
        conflicts_with_all = ["skip_existing", "checkpoint", "write_partial", "video", "sheet", "background", "labels"],
        help_heading = "Device"
    )]
    compare: bool,
    #[command(flatten)]
    messages: MessageArgs,
}

#[derive(clap::Args)]
#[command(next_help_heading = "Messages")]
struct MessageArgs {
    /// Progress display
    #[arg(long, value_name = "MODE", value_enum, default_value_t)]
    progress: ProgressMode,
    /// Exit code of a stopped run that can be resumed, for farm engines that expect a code other than 75
    #[arg(long, value_name = "N", default_value_t = Exit::Stopped as u8, hide_default_value = true)]
    stop_code: u8,
    /// Time limit for stopping after a SIGTERM, during which finished work is saved; then the run is ended
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    grace: u32,
    /// Print nothing but errors
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
    /// Print all warnings, the time of each frame and the load of each pipeline stage (-vv: also rays and settings)
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,
}

/// A plan of frames that are rendered elsewhere.
pub struct Planned {
    pub path: PathBuf,
    pub scene: Arc<Scene>,
    pub plan: FramePlan,
    pub settings: FrameSettings,
    /// Number of neighbouring frames on either side used for denoising. None if throng denoise cannot denoise the frames afterwards.
    pub denoised: Option<u32>,
    /// Number of neighbouring frames, if it depends on which frames are rendered together.
    pub denoised_together: Option<u32>,
}

/// Adds resume instructions to the error of a file that could not be written, if frames have files.
fn with_way_on(error: anyhow::Error, has_files: bool) -> anyhow::Error {
    let output = error.downcast_ref::<OutputError>().or_else(|| error.downcast_ref::<RenderError>()?.output());
    match output.and_then(OutputError::way_on).filter(|_| has_files) {
        Some(way_on) => anyhow::anyhow!("{} {way_on}", console::one_line(&error)),
        None => error,
    }
}

impl RenderArgs {
    pub fn run(self) -> anyhow::Result<Exit> {
        let progress = Progress::new(self.messages.progress, self.messages.quiet);
        let result = self.run_with(&progress);
        if let Err(error) = &result {
            progress.tell_failure(&console::one_line(error));
        }
        result
    }

    fn run_with(self, progress: &Progress) -> anyhow::Result<Exit> {
        let MessageArgs { stop_code, grace, .. } = self.messages;
        let on_first = {
            let progress = progress.clone();
            move || progress.note("stopping; Ctrl-C again stops at once")
        };
        let last_words = {
            let has_files = matches!(self.frames.output, None | Some(Destination::Files(_)));
            let progress = progress.clone();
            move || report::cut_short(&progress, has_files)
        };
        let stop = interrupt::install(stop_code, Duration::from_secs(grace.into()), on_first, last_words)?;
        let inputs = Inputs::of(&self.inputs)?;
        self.check_standard_output()?;
        match (&inputs, self.compare) {
            (Inputs::One(path), true) => return self.compare(path, progress, &stop),
            (Inputs::Several(_), true) => return Err(SettingsError::CompareSeveral.into()),
            (Inputs::Several(paths), false) => self.check_scenes(paths)?,
            (Inputs::One(_), false) => {}
        }
        let mut device = self.device.open_together(self.messages.verbose > 0, |line| progress.note(line))?;
        let options = self.options()?;
        let one_by_one = self.plays_one_by_one();
        let mut render = |path: &Path, progress: &Progress| {
            if one_by_one {
                self.render_animations(path, &options, device.as_mut(), (progress, &stop))
            } else {
                self.render(path, (&options, &self.frames), device.as_mut(), (progress, &stop), None)
            }
        };
        match inputs {
            Inputs::One(path) => Ok(render(&path, progress)?.exit),
            Inputs::Several(paths) => {
                let exit = models::render_all(&paths, progress, &stop, render)?;
                warn_of_trees(&options.trees, |line| progress.note(line));
                Ok(exit)
            }
        }
    }

    /// Checks that several scenes write distinct files. A mistyped word on the command line counts as a scene, so a file that does not exist
    /// is reported in place of the names.
    fn check_scenes(&self, paths: &[PathBuf]) -> anyhow::Result<()> {
        let Err(error) = self.frames.check_scenes(paths) else { return Ok(()) };
        let missing = paths.iter().find_map(|path| Some((path, std::fs::metadata(path).err()?)));
        match missing {
            Some((path, reason)) => Err(LoadError::file(path, reason.to_string()).into()),
            None => Err(error.into()),
        }
    }

    /// Whether the animations of a model are rendered separately, instead of simultaneously.
    fn plays_one_by_one(&self) -> bool {
        let plays_all = self.load.model.animation.clips.iter().any(|text| text == "all");
        self.frames.names_animations() || self.frames.files.sheet.is_some() && plays_all
    }

    /// Renders the requested animations of a model, one after the other.
    fn render_animations(
        &self,
        path: &Path,
        options: &PictureOptions,
        device: &mut dyn Device,
        (progress, stop): (&Progress, &AtomicBool),
    ) -> anyhow::Result<Outcome> {
        let animations = loader::animations(path, &options.load).map_err(crate::Error::from)?;
        if animations.is_empty() {
            return Err(crate::Error::from(SettingsError::from(PatternError::NothingPlayed)).into());
        }
        let (count, rows) = (animations.len(), SheetRows::new(animations.len()));
        let mut each = Vec::with_capacity(count);
        for (index, animation) in animations.into_iter().enumerate() {
            let row = rows.row(index, &animation.label);
            let frames = self.frames.for_animation(&animation.name, count, row).map_err(crate::Error::from)?;
            each.push((animation, frames));
        }
        let name = loader::name_of(path);
        let mut together = (count > 1).then(|| {
            let expected = each.iter().map(|(animation, frames)| frames.expected_frames(&name, animation.frames));
            Together::new(progress, expected.collect())
        });
        let result = self.render_each(path, (&each[..], options), device, (progress, stop), together.as_mut());
        if let Some(together) = &together {
            together.finish();
        }
        let outcome = result?;
        if outcome.exit != Exit::Stopped {
            rows.finish()?;
        }
        if let Some(together) = together {
            let pattern = self.frames.describe_animations(&name);
            together.ended(&outcome, &options.trees, pattern, self.messages.verbose);
        }
        Ok(outcome)
    }

    /// Renders each of these animations of a model, until the run is stopped. `together` reports several animations.
    fn render_each(
        &self,
        path: &Path,
        (each, options): (&[(SingleClip, FrameOptions)], &PictureOptions),
        device: &mut dyn Device,
        (progress, stop): (&Progress, &AtomicBool),
        mut together: Option<&mut Together>,
    ) -> anyhow::Result<Outcome> {
        let mut outcome = Outcome { exit: Exit::Done, existed: true, has_files: true };
        for (animation, frames) in each {
            let own = together.as_deref_mut().map(|together| together.begin(&animation.name));
            let own = own.as_ref().unwrap_or(progress);
            let mut options = options.clone();
            options.load.model.animation.clips = vec![animation.choice.clone()];
            let usual = RenderDefaults::default();
            options.picture.size = options.picture.size.or_else(|| frames.size_in_row((usual.width, usual.height)));
            let one = self.render(path, (&options, frames), device, (own, stop), together.as_deref_mut())?;
            outcome = Outcome { existed: outcome.existed && one.existed, ..one };
            if outcome.exit == Exit::Stopped {
                break;
            }
            if let Some(together) = together.as_deref_mut() {
                together.end();
            }
        }
        Ok(outcome)
    }

    /// Renders one scene.
    fn render(
        &self,
        path: &Path,
        (options, frames): (&PictureOptions, &FrameOptions),
        device: &mut dyn Device,
        (progress, stop): (&Progress, &AtomicBool),
        mut together: Option<&mut Together>,
    ) -> anyhow::Result<Outcome> {
        let scene = Arc::new(options.load(path).map_err(crate::Error::from)?);
        let asked = interrupt::asked_to_show();
        let mut run = Run::plan(options, scene, (frames, &self.ongoing), device, asked)?;
        let mut notes: Vec<String> = run.notes.iter().map(|&note| note.to_owned()).collect();
        let around = run.job.traced_frames().len() - run.job.frames.len();
        if around > 0 {
            let frames = plural(around, "frame");
            notes.push(format!(
                "{frames} beyond the requested ones are also traced, for denoising; --denoise-frames 0 leaves them out"
            ));
        }
        for note in notes {
            if together.as_deref_mut().is_none_or(|together| together.is_new(&note)) {
                progress.note(&format!("throng: note: {note}"));
            }
        }
        interrupt::work_begins();
        let has_files = run.plan.pattern().is_some();
        run.open().map_err(|error| with_way_on(error.into(), has_files))?;
        let takes_draft = self.load.model.stage.preset != Some(Preset::Draft)
            && !loader::is_scene(path)
            && self.picture.samples.is_none();
        let reporter = Reporter::new(progress, &run.job, &run.plan, self.messages.verbose);
        let mut reporter = reporter.together(together).estimating(takes_draft);
        reporter.started(&device.describe());
        let result = run.render(device, &mut reporter, stop);
        progress.finish();
        let summary = result.map_err(|error| with_way_on(error.into(), has_files))?;
        Ok(Outcome { exit: reporter.ended(&summary), existed: run.job.frames.is_empty(), has_files })
    }

    fn options(&self) -> anyhow::Result<PictureOptions> {
        let mut load = self.load.clone();
        load.model.stage.single = self.frames.is_single();
        Ok(PictureOptions {
            load,
            picture: RenderOptions { region: self.ongoing.region, ..self.picture.clone() },
            aovs: self.aovs.clone(),
            refit: self.refit,
            trees: self.trees.open()?,
            ..PictureOptions::default()
        })
    }

    /// The scene and the settings of its frames, for rendering on other machines.
    pub fn plan(&self) -> anyhow::Result<Planned> {
        let Inputs::One(path) = Inputs::of(&self.inputs)? else {
            return Err(UsageError("a job renders one scene: write a job for each".into()).into());
        };
        let one_by_one = "a job renders one animation: write a job for each, with its name in --output and --animation";
        demand(!self.plays_one_by_one(), one_by_one)?;
        let mut options = self.options()?;
        if self.ongoing.checkpoint {
            options.aovs = options.aovs.as_traced();
        }
        let scene = Arc::new(options.load(&path)?);
        let plan = self.frames.resolve(&scene.settings)?;
        demand(plan.film().is_none(), "a job renders frames, not parts of one; choose an --output of frames")?;
        let job = options.job_of(scene.clone(), &plan, false)?;
        let denoising = job.denoising.as_ref().filter(|denoising| denoising.method() == Denoise::Frames);
        let is_whole =
            job.aovs.is_empty() && !job.settings.transparent && job.traced_frames().len() == job.frames.len();
        let denoised = denoising.filter(|_| is_whole && job.denoised_noise.is_none()).map(|denoising| denoising.reach);
        let together = job.denoising.as_ref().filter(|denoising| denoising.within.is_some());
        let denoised_together = together.map(|denoising| denoising.reach);
        Ok(Planned { path, scene, plan, settings: job.told_settings(), denoised, denoised_together })
    }

    /// Refuses to write both pictures and progress to standard output, because their bytes would mix.
    fn check_standard_output(&self) -> Result<(), SettingsError> {
        let pictures = matches!(self.frames.output, Some(Destination::Stream(Stream::Stdout, _)));
        if pictures && matches!(self.messages.progress, ProgressMode::Json | ProgressMode::Openjd) {
            Err(SettingsError::StandardOutput)
        } else {
            Ok(())
        }
    }

    fn compare(&self, path: &Path, progress: &Progress, stop: &AtomicBool) -> anyhow::Result<Exit> {
        let mut devices = compare::open(&self.device, |line| progress.note(line))?;
        demand(
            !matches!(self.picture.exposure, Some(Exposure::Automatic(_)))
                && matches!(self.aovs.denoise, None | Some(Denoise::Off)),
            "--compare supports neither --exposure auto nor --denoise",
        )?;
        let mut options = self.options()?;
        options.aovs = options.aovs.as_traced();
        let scene = Arc::new(options.load(path)?);
        let plan = self.frames.resolve(&scene.settings)?;
        let job = RenderJob { auto_exposure: None, ..options.job_of(scene, &plan, false)? };
        interrupt::work_begins();
        let write = self.frames.output.is_some();
        if write {
            demand(
                plan.pattern().is_some() && plan.pixels() == PixelType::U8,
                "--compare writes .png files; choose an --output like out/####.png",
            )?;
            plan.prepare(&job, &self.ongoing)?;
        }
        let mut reporter = Reporter::new(progress, &job, &plan, self.messages.verbose);
        compare::frames(&job, &mut devices, write, (progress, &mut reporter), stop)
    }
}
