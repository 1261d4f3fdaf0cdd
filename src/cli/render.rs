//! `throng render`: frames to PNG files.

use super::{
    Exit,
    args::{DeviceArgs, SceneArgs},
    interrupt,
    report::Reporter,
};
use crate::{
    output::{self, Progress, ProgressMode},
    render::{self, RenderJob, Summary},
    settings::{FrameOptions, FramePlan, LookOptions},
};
use std::sync::Arc;

const EVENTS_HELP: &str = "\
Files appear under their name only when they are complete. Ctrl-C drops the frame that is being traced and stops;
a second Ctrl-C stops at once. Run the same command with --skip-existing to go on.

With --progress json, standard output has one JSON object per line; `event` is one of
  started  scene, device, frames (asked for), skipped (exist already), width, height, samples, warnings
  frame    frame, path, done, frames, pose_ms, trace_ms, write_ms, rays {primary, bounce, shadow},
           refits, rebuilds
  done     frames (rendered), skipped, seconds, frames_per_s, rays, mrays_per_s, refits, rebuilds, output,
           busy {pose, device, write, writers}: the share of the time from the first pose on that each stage
           worked, from 0 to 1 (write: on average over the `writers`, the threads that write); the stage near 1
           is what the others wait for
  stopped  as done, and resume: the command line that goes on
An error ends the lines; its text is on standard error.";

/// Render frames to PNG files
#[derive(clap::Args)]
#[command(after_long_help = EVENTS_HELP)]
pub struct RenderArgs {
    #[command(flatten)]
    scene: SceneArgs,
    #[command(flatten)]
    frames: FrameOptions,
    #[command(flatten)]
    look: LookOptions,
    #[command(flatten)]
    device: DeviceArgs,
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
    /// Print warnings, the times of each frame and what each stage of the work was busy with (-vv: rays and
    /// settings too)
    #[arg(short, long, action = clap::ArgAction::Count)]
    verbose: u8,
}

impl RenderArgs {
    pub fn run(self) -> anyhow::Result<Exit> {
        let progress = Progress::new(self.messages.progress, self.messages.quiet);
        let stop = interrupt::install({
            let progress = progress.clone();
            move || progress.note("stopping; Ctrl-C again stops at once")
        })?;
        let mut device = self.device.open()?;
        let (job, plan) = self.job()?;
        output::prepare(&plan.paths(&job.scene.name))?;
        let mut reporter = Reporter::new(&progress, &job, &plan, self.messages.verbose);
        reporter.started(&device.describe());
        let result = if job.frames.is_empty() {
            Ok(Summary::default())
        } else {
            render::run(&job, device.as_mut(), &mut reporter, &stop)
        };
        progress.finish();
        Ok(reporter.ended(&result?))
    }

    fn job(&self) -> anyhow::Result<(RenderJob, FramePlan)> {
        let scene = self.scene.load()?;
        let plan = self.frames.resolve(&scene)?;
        let job = RenderJob {
            settings: self.look.resolve(&scene.settings)?,
            scene: Arc::new(scene),
            frames: plan.frames.clone(),
            output: plan.output.clone(),
        };
        Ok((job, plan))
    }
}
