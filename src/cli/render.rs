//! `throng render`: renders frames to files and videos.

use super::{
    Exit,
    args::{DeviceArgs, SceneArgs, TreeArgs},
    compare, interrupt,
    progress::{Progress, ProgressMode},
    report::Reporter,
};
use crate::{
    aov::{Aov, AovSet, cryptomatte},
    denoise::Denoiser,
    device::{Developer, Device, FrameSettings},
    output::{Destination, Manifests, Stream, prepare_distinct},
    pixels::PixelType,
    render::{self, Denoising, Ongoing, RenderJob, Summary, TreeSource},
    scene::{Integrator, Scene, Shows, rig::RefitPolicy},
    settings::{AovOptions, Exposure, FrameOptions, FramePlan, OngoingOptions, RenderOptions, SettingsError},
};
use std::sync::{Arc, atomic::AtomicBool};

const EVENTS_HELP: &str = "\
Files appear under their name only when they are complete. Ctrl-C drops the frame that is being traced and stops;
a second Ctrl-C stops at once. Run the same command with --skip-existing to go on. With --checkpoint, the frame that is
being traced is kept as it stands, and going on loses nothing. Videos and contact sheets are made of all frames: where
--output gives frames files of their own, those that exist are read back, else the video starts over.

With --progress json, standard output has one JSON object per line; `event` is one of
  started  scene, device, frames (asked for), skipped (exist already), width, height, samples, warnings,
           notes (what else the file has to offer)
  frame    frame, path, done, frames, pose_ms, trace_ms, write_ms, rays {primary, bounce, shadow},
           refits, rebuilds, sah_ratio (of the worst tree that follows a mesh; 0 if none does), follow_ms,
           blank (black, white or one_color if the picture is nothing else; else null)
  done     frames (rendered), skipped (existed already), appeared (made by other runs meanwhile), elsewhere (being made
           by other runs), seconds, frames_per_s, rays, mrays_per_s, refits, rebuilds, sah_ratio, output,
           busy {pose, device, write, writers}: the share of the time from the first pose on that each stage
           worked, from 0 to 1 (write: on average over the `writers`, the threads that write); the stage
           nearest to 1 is what the others wait for (pose includes waiting for threads that trace);
           cached_trees {read, built} (with --cache: trees from there, and those that had to be built; null without)
  stopped  as done, and resume: the command line that goes on
With --compare, the lines after `started` are
  difference  per frame and device but the first: frame, device, differing (share of pixels of which a channel
              differs by more than 0.016 of 1), max and mean (difference of a channel, from 0 to 1)
  compared    per device but the first, over all frames: device, frames, differing, max, mean, agrees
An error ends the lines; its text is on standard error.

Examples:
  throng render scenes/million.ron -f 1-24 --size 1920x1080 --samples 64 -o out/####.png
  throng render model.glb -o turn.webp --size 640x640             a turntable
  throng render model.glb -f 1 -o still.png --environment sky.hdr  a picture in that light
  throng render model.glb --animation Walk -o walk.mp4            an animation
  throng render scene.ron --samples 256 --denoise --skip-existing  finished frames are kept: run it again to go on";

/// Render frames to pictures or videos
#[derive(clap::Args)]
#[command(after_long_help = EVENTS_HELP)]
pub struct RenderArgs {
    #[command(flatten)]
    scene: SceneArgs,
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
    /// How the trees of meshes that change shape follow them, instead of as the scene says: refit while that costs
    /// rays little, always refit, or always rebuild
    #[arg(long, value_name = "POLICY", help_heading = "Device")]
    refit: Option<RefitPolicy>,
    /// Render each frame on every device of --device and compare with the first one's; fail if more than 1 % of
    /// the pixels differ. Files are written only with --output: the first device's
    #[arg(
        long,
        conflicts_with_all = ["skip_existing", "checkpoint", "write_partial", "video", "sheet", "background"],
        help_heading = "Device"
    )]
    compare: bool,
    #[command(flatten)]
    messages: MessageArgs,
}

#[derive(clap::Args)]
#[command(next_help_heading = "Messages")]
struct MessageArgs {
    /// How to show progress
    #[arg(long, value_name = "MODE", value_enum, default_value_t)]
    progress: ProgressMode,
    /// Print nothing but errors
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
    /// Print all warnings, the times of each frame and what each stage of the work was busy with (-vv: rays and
    /// settings too)
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,
}

/// The names behind the Cryptomatte layers that are to be written.
fn manifests(aovs: AovSet, scene: &Scene) -> Manifests {
    let of = |aov, manifest: fn(&Scene) -> String| match aovs.contains(aov) {
        true => manifest(scene),
        false => String::new(),
    };
    Manifests {
        instances: of(Aov::Instance, cryptomatte::instance_manifest),
        materials: of(Aov::Material, cryptomatte::material_manifest),
    }
}

impl RenderArgs {
    pub fn run(self) -> anyhow::Result<Exit> {
        let progress = Progress::new(self.messages.progress, self.messages.quiet);
        let stop = interrupt::install({
            let progress = progress.clone();
            move || progress.note("stopping; Ctrl-C again stops at once")
        })?;
        let asked = interrupt::asked_to_show();
        if self.compare {
            return self.compare(&progress, &stop);
        }
        self.check_standard_output()?;
        let mut device = self.device.open(self.messages.verbose > 0, |line| progress.note(line))?;
        let trees = self.trees.open()?;
        let scene = self.scene.load_for(self.picture.size, &self.aovs)?;
        let mut plan = self.frames.resolve(&scene)?;
        self.ongoing.apply_to(&mut plan, self.frames.mismatched)?;
        let ongoing = self.ongoing(&plan, device.as_ref(), asked);
        let makes_blocks = device.makes_blocks() && ongoing.is_none() && !plan.files.any();
        let mut job = self.job(scene, trees, &plan, makes_blocks)?;
        self.prepare(&plan, &job)?;
        if let Some(note) = plan.skip(&mut job)? {
            progress.note(&format!("throng: note: {note}"));
        }
        interrupt::work_begins();
        plan.open(&mut job)?;
        let mut reporter = Reporter::new(&progress, &job, &plan, self.messages.verbose);
        reporter.started(&device.describe());
        let result = if job.frames.is_empty() {
            let finished = job.output.finish();
            finished.map(|()| Summary::default()).map_err(Into::into)
        } else if let Some(ongoing) = ongoing {
            render::run_ongoing(&job, &ongoing, device.as_mut(), &mut reporter, &stop)
        } else {
            render::run(&job, device.as_mut(), &mut reporter, &stop)
        };
        progress.finish();
        Ok(reporter.ended(&result?))
    }

    /// All frames of `plan`, whether they exist or not. `makes_blocks` asks the device for the blocks of OpenEXR files.
    fn job(
        &self,
        mut scene: Scene,
        trees: TreeSource,
        plan: &FramePlan,
        makes_blocks: bool,
    ) -> anyhow::Result<RenderJob> {
        let (pixels, layers) = (plan.pixels(), self.aovs.aovs());
        anyhow::ensure!(
            layers.is_empty() || pixels == PixelType::F32,
            "--layers go into .exr files; choose such an --output"
        );
        let AovOptions { transparent, background, .. } = &self.aovs;
        if *transparent {
            plan.check_alpha()?;
        }
        let settings = self.picture.resolve(&scene.settings)?;
        if settings.integrator == Integrator::Clay {
            scene.turn_to_clay();
        }
        let denoising = self.denoising(&settings)?;
        let background =
            background.as_ref().map(|choice| choice.open((settings.width, settings.height))).transpose()?;
        let mut output = plan.outputs();
        output.manifests = manifests(layers, &scene);
        let aovs = layers.with(transparent.then_some(Aov::Alpha));
        let shadowed = !self.aovs.cuts_out() && scene.catches_shadows();
        let gathered = aovs.with(background.as_ref().map(|_| Aov::Alpha)).with(shadowed.then_some(Aov::Shadow));
        let gathered = gathered.with(settings.wireframe.map(|_| Aov::Wireframe));
        let settings = FrameSettings { transparent: self.aovs.cuts_out(), ..settings };
        let settings = match denoising {
            Some(_) => FrameSettings { pixels: PixelType::F32, aovs: Denoiser::aovs_for(gathered), ..settings },
            None => FrameSettings {
                pixels,
                aovs: gathered,
                file_rows: output.file_rows(aovs, *transparent).filter(|_| makes_blocks && background.is_none()),
                ..settings
            },
        };
        Ok(RenderJob {
            pixels,
            settings: FrameSettings { open_ended: self.ongoing.checkpoint, ..settings },
            auto_exposure: self.picture.auto_exposure(&scene.settings),
            scene: Arc::new(scene),
            aovs,
            denoising,
            background,
            refit: self.refit,
            trees,
            frames: plan.asked.clone(),
            output,
        })
    }

    fn denoising(&self, settings: &FrameSettings) -> anyhow::Result<Option<Arc<Denoising>>> {
        if !self.aovs.denoise {
            return Ok(None);
        }
        anyhow::ensure!(
            settings.integrator.shows() == Shows::Radiance,
            "--denoise is for pictures of light: use it with --integrator path or whitted"
        );
        Ok(Some(Arc::new(Denoising { denoiser: Denoiser::load()?, developer: Developer::new()? })))
    }

    /// Options for a run whose frames are kept or written before they are finished; none for other runs. A run of a single frame always
    /// writes it as it stands on request, except on devices with a queue: these are fast, and faster still without interruptions.
    fn ongoing(&self, plan: &FramePlan, device: &dyn Device, asked: &'static AtomicBool) -> Option<Ongoing<'static>> {
        let OngoingOptions { checkpoint, write_partial } = self.ongoing;
        let has_file = plan.pattern().is_some();
        let alone = has_file && plan.total() == 1 && device.queue_depth() == 1;
        let wanted = checkpoint || write_partial.is_some() || alone;
        wanted.then_some(Ongoing { checkpoint, partial_interval: write_partial, asked })
    }

    /// Makes sure that files can be written, and that none of them is the same as another one or an input.
    fn prepare(&self, plan: &FramePlan, job: &RenderJob) -> anyhow::Result<()> {
        plan.check_size(&job.settings)?;
        prepare_distinct(plan.planned(&job.scene.name, &self.ongoing))?;
        Ok(())
    }

    /// Refuses to write pictures and JSON progress both to standard output, as lines would lie between the pictures.
    fn check_standard_output(&self) -> Result<(), SettingsError> {
        let pictures = matches!(self.frames.output, Some(Destination::Stream(Stream::Stdout, _)));
        match pictures && self.messages.progress == ProgressMode::Json {
            true => Err(SettingsError::StandardOutput),
            false => Ok(()),
        }
    }

    fn compare(&self, progress: &Progress, stop: &AtomicBool) -> anyhow::Result<Exit> {
        let mut devices = compare::open(&self.device, |line| progress.note(line))?;
        anyhow::ensure!(
            !matches!(self.picture.exposure, Some(Exposure::Automatic(_))) && !self.aovs.denoise,
            "--compare compares what devices make: it takes neither --exposure auto nor --denoise"
        );
        let trees = self.trees.open()?;
        let scene = self.scene.load_for(self.picture.size, &self.aovs)?;
        let plan = self.frames.resolve(&scene)?;
        let job = RenderJob { auto_exposure: None, ..self.job(scene, trees, &plan, false)? };
        interrupt::work_begins();
        let write = self.frames.output.is_some();
        if write {
            anyhow::ensure!(
                plan.pattern().is_some() && plan.pixels() == PixelType::U8,
                "--compare compares what is seen and writes it as .png; choose such an --output"
            );
            self.prepare(&plan, &job)?;
        }
        let reporter = Reporter::new(progress, &job, &plan, self.messages.verbose);
        compare::frames(&job, &mut devices, write, (progress, &reporter), stop)
    }
}
