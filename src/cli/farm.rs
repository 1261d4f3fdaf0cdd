//! `throng farm`: writes a job for the engine of a render farm.

use super::{
    Exit, UsageError, console,
    help::shell,
    render::{Planned, RenderArgs},
};
use crate::farm::{Flag, Job, JobError, Role, Template};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, parser::ValueSource};
use std::ffi::{OsStr, OsString};
use throng_base::quoting;
use throng_loader::options::EnvironmentChoice;
use throng_scene::PixelFilter;
use throng_settings::BackgroundChoice;

const EXAMPLES: &str = "\
Examples:
  throng farm openjd scenes/million.ron -o out/####.png --video video.mp4 > job.yaml
  throng farm slurm scenes/million.ron -o out/####.png --chunk 20 > job.sh && bash job.sh

docs/farm.md lists the guarantees for tasks, and has recipes for other engines.";

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Engine {
    /// A template for Open Job Description, which AWS Deadline Cloud and others support
    Openjd,
    /// A Slurm script that submits itself as an array job
    Slurm,
}

/// Print a job that renders frames on many machines
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub struct FarmArgs {
    /// Job format
    #[arg(value_enum, value_name = "ENGINE")]
    engine: Engine,
    #[command(flatten)]
    given: Given,
    /// Frames per task
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Job")]
    chunk: u32,
    /// Time limit of a task
    #[arg(long, value_name = "SECONDS", default_value_t = 86_400, value_parser = clap::value_parser!(u32).range(1..), help_heading = "Job")]
    timeout: u32,
    /// Path of the program on the machines of the farm
    #[arg(long, value_name = "PATH", default_value = "throng", help_heading = "Job")]
    program: String,
    #[command(flatten)]
    render: RenderArgs,
}

/// Flags that a job sets itself, or that make no sense in a job.
const PLACED: [&str; 8] =
    ["output", "frames", "samples", "device", "skip_existing", "progress", "stop_code", "compare"];
/// Denoising flags.
const DENOISED: [&str; 2] = ["denoise", "denoise_frames"];
/// Encoding flags.
const ENCODED: [&str; 3] = ["color_depth", "quality", "exr_compression"];
/// Flags for files made from all frames.
const JOINED: [&str; 4] = ["video", "video_codec", "sheet", "sheet_frames"];

impl FarmArgs {
    pub fn run(self) -> anyhow::Result<Exit> {
        let Planned { path, scene, plan, settings, denoised, denoised_together } = self.render.plan()?;
        if let Some(word) = self.given.words("output").into_iter().flatten().find(|word| word.to_str().is_none()) {
            return Err(JobError::NotText { text: word.clone() }.into());
        }
        let output = match plan.pattern() {
            Some(files) => as_path(&files.to_string()),
            None if plan.output.is_none() => "frames/{scene}/####.png".to_owned(),
            None => {
                let fix = "a farm job requires files of frames: add -o frames/####.png, and --video for the video";
                return Err(UsageError(fix.to_owned()).into());
            }
        };
        let path = path.to_str().ok_or_else(|| JobError::NotText { text: path.clone().into() })?;
        let mut frames = plan.asked;
        frames.sort_unstable();
        // If throng denoise writes equivalent files, each frame is traced once, and all are denoised at the end.
        let denoised = denoised.filter(|_| !ENCODED.iter().any(|name| self.given.words(name).is_some()));
        let is_placed = |name: &str| denoised.is_some() && DENOISED.contains(&name);
        let is_of_tasks = |name: &str| !PLACED.contains(&name) && !JOINED.contains(&name) && !is_placed(name);
        let mut flags = self.given.flags(is_of_tasks);
        // Jobs always set --samples, which would override the scene's noise target if that were not set as well.
        if let (None, Some(noise)) = (self.given.words("noise"), settings.noise) {
            flags.push(Flag::Word(format!("--noise={noise}").into()));
        }
        // A task renders only some frames, but must denoise them with all their neighbours.
        if let (None, Some(reach)) = (denoised, denoised_together) {
            flags.push(Flag::Word(format!("--denoise-frames={reach}").into()));
        }
        // A task has no record that its frames are denoised later.
        if denoised.is_some() && self.given.words("filter").is_none() && settings.film.filter == PixelFilter::Shared {
            flags.push(Flag::Word("--filter=shared".into()));
        }
        let job = Job {
            name: scene.name.clone(),
            program: self.program,
            scene: as_path(path),
            frames,
            chunk: self.chunk,
            output,
            samples: settings.samples,
            device: self.given.value("device").unwrap_or("auto").to_owned(),
            flags,
            denoised,
            joined: self.given.flags(|name| JOINED.contains(&name)),
            timeout: self.timeout,
        };
        let text = match self.engine {
            Engine::Openjd => {
                let Template { text, elsewhere, last_step } = job.openjd()?;
                if !elsewhere.is_empty() {
                    console::note(&missing_defaults(&elsewhere, last_step));
                }
                text
            }
            Engine::Slurm => job.slurm()?,
        };
        shell::print(text.as_bytes())
    }
}

/// The command that runs a template with paths outside its folder.
fn missing_defaults(elsewhere: &[(String, String)], last_step: &str) -> String {
    let given = elsewhere.iter().map(|(name, path)| {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.into());
        format!(" -p {}", quoting::any_for_user(format!("{name}={}", path.display()).as_ref()))
    });
    format!(
        "Templates have no default for what is outside of their folder: give it to the engine\n\
         openjd run job.yaml --step {last_step} --run-dependencies{}",
        given.collect::<String>()
    )
}

/// The flags of `throng render` as given, with the names of their fields.
struct Given(Vec<(String, Vec<OsString>)>);

impl Given {
    fn words(&self, name: &str) -> Option<&Vec<OsString>> {
        self.0.iter().find(|(given, _)| given == name).map(|(_, words)| words)
    }

    /// The value of a flag, if it has one.
    fn value(&self, name: &str) -> Option<&str> {
        self.words(name)?.first()?.to_str()?.split_once('=').map(|(_, value)| value)
    }

    /// The flags for which `is_wanted` is true.
    fn flags(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<Flag> {
        let wanted = self.0.iter().filter(|(name, _)| is_wanted(name));
        wanted.flat_map(|(name, words)| words.iter().map(|word| flag_of(name, word))).collect()
    }
}

/// A path in a form that cannot be mistaken for a flag, with the separators that all machines of a farm accept.
fn as_path(path: &str) -> String {
    let path = if cfg!(windows) { path.replace('\\', "/") } else { path.to_owned() };
    if path.starts_with('-') { format!("./{path}") } else { path }
}

/// A command line word, or a flag with a path.
fn flag_of(name: &str, word: &OsStr) -> Flag {
    let parts = word.to_str().and_then(|word| word.split_once('='));
    let is_picture = |value: &str| match name {
        "environment" => matches!(EnvironmentChoice::parse(value.into()), Ok(EnvironmentChoice::File(_))),
        "background" => matches!(BackgroundChoice::parse(value.into()), Ok(BackgroundChoice::File(_))),
        _ => false,
    };
    let role = match (name, parts) {
        ("video" | "sheet", _) => Some(Role::Output),
        ("cache" | "allow_dirs", _) => Some(Role::Folder),
        (_, Some((_, value))) if is_picture(value) => Some(Role::Input),
        _ => None,
    };
    match (role, parts) {
        (Some(role), Some((flag, path))) => Flag::Path { flag: flag.to_owned(), path: path.into(), role },
        _ => Flag::Word(word.to_owned()),
    }
}

impl Args for Given {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

impl FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let render = RenderArgs::augment_args(Command::new("render"));
        let flags = render.get_arguments().filter(|arg| !arg.is_positional());
        let is_given = |arg: &&Arg| matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
        Ok(Self(flags.filter(is_given).map(|arg| (arg.get_id().to_string(), words_of(arg, matches))).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// A flag with its values, as command line words.
fn words_of(arg: &Arg, matches: &ArgMatches) -> Vec<OsString> {
    let (id, flag) = (arg.get_id().as_str(), format!("--{}", arg.get_long().unwrap_or_default()));
    match arg.get_action() {
        ArgAction::Count => vec![flag.into(); matches.get_count(id).into()],
        ArgAction::SetTrue | ArgAction::SetFalse => vec![flag.into()],
        _ => {
            let occurrences = matches.get_raw_occurrences(id).into_iter().flatten();
            occurrences.flat_map(|values| with_values(&flag, values)).collect()
        }
    }
}

fn with_values<'a>(flag: &str, values: impl Iterator<Item = &'a OsStr>) -> Vec<OsString> {
    let values: Vec<&OsStr> = values.collect();
    match &values[..] {
        [value] => {
            let mut word = OsString::from(format!("{flag}="));
            word.push(value);
            vec![word]
        }
        values => std::iter::once(OsStr::new(flag)).chain(values.iter().copied()).map(OsStr::to_owned).collect(),
    }
}
