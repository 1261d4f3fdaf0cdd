//! `throng render` with several scenes or models: renders them one after the other, and continues after failures.

use crate::{
    Error,
    cli::{
        Exit, console, program,
        progress::{Event, Progress},
        resume,
    },
};
use serde::Serialize;
use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};
use throng_loader::{self as loader, LoadError};
use throng_settings::SettingsError;

/// The scenes named on the command line.
pub enum Inputs {
    One(PathBuf),
    /// Several files, or the files of folders.
    Several(Vec<PathBuf>),
}

impl Inputs {
    /// Replaces folders by the scenes and models that they contain.
    ///
    /// # Errors
    /// If a folder contains none.
    pub fn of(named: &[PathBuf]) -> Result<Self, LoadError> {
        match named {
            [path] if !path.is_dir() => Ok(Self::One(path.clone())),
            _ => {
                let files =
                    |path: &PathBuf| if path.is_dir() { loader::scenes_in(path) } else { Ok(vec![path.clone()]) };
                let files = named.iter().map(files).collect::<Result<Vec<_>, _>>()?;
                Ok(Self::Several(files.concat()))
            }
        }
    }
}

/// The result of a model that did not fail.
pub struct Outcome {
    pub exit: Exit,
    /// Whether all of its frames already existed.
    pub existed: bool,
    /// Whether its frames are separate files, which another run can keep.
    pub has_files: bool,
}

/// A model that could not be loaded or rendered.
#[derive(Serialize)]
pub struct Failure {
    #[serde(serialize_with = "throng_base::files::serialize_lossy")]
    pub file: PathBuf,
    pub error: String,
}

/// Statistics at the end of the run.
#[derive(Default, Serialize)]
pub struct Tally {
    pub models: usize,
    /// Number of rendered models.
    pub rendered: usize,
    /// Number of models whose frames already existed.
    pub existed: usize,
    pub failed: Vec<Failure>,
    pub seconds: f64,
    /// The command line that resumes the run, if it was stopped.
    pub resume: Option<String>,
}

/// Calls `render` for each model in order, with a separate display. Failures are reported immediately and listed at the end.
///
/// # Errors
/// The first failure that would affect all other models.
pub fn render_all(
    models: &[PathBuf],
    progress: &Progress,
    stop: &AtomicBool,
    mut render: impl FnMut(&Path, &Progress) -> anyhow::Result<Outcome>,
) -> anyhow::Result<Exit> {
    let start = Instant::now();
    let mut tally = Tally { models: models.len(), ..Tally::default() };
    let (mut stopped, mut has_files) = (false, true);
    progress.start_parts(models.len(), "models");
    for path in models {
        if stop.load(Ordering::Relaxed) {
            stopped = true;
            break;
        }
        match render(path, &progress.of_model()) {
            Ok(outcome) => {
                has_files = outcome.has_files;
                stopped = outcome.exit == Exit::Stopped;
                tally.existed += usize::from(outcome.existed && !stopped);
                tally.rendered += usize::from(!outcome.existed && !stopped);
            }
            Err(error) if is_shared(&error) => {
                progress.finish();
                return Err(error);
            }
            Err(error) => tally.fail(path, &error, progress),
        }
        if stopped {
            break;
        }
        progress.advance();
    }
    progress.finish();
    tally.seconds = start.elapsed().as_secs_f64();
    tally.resume = stopped.then(|| resume::command_line(program::arguments().iter().cloned(), has_files));
    tally.tell(progress);
    Ok(match (stopped, tally.failed.is_empty()) {
        (true, _) => Exit::Stopped,
        (false, true) => Exit::Done,
        (false, false) => Exit::Failed,
    })
}

/// Whether the command line is wrong for all models. Errors about frames may differ between models.
fn is_shared(error: &anyhow::Error) -> bool {
    match error.downcast_ref() {
        Some(Error::Settings(error)) => error.is_usage() && !matches!(error, SettingsError::Frames(_)),
        _ => false,
    }
}

impl Tally {
    fn fail(&mut self, file: &Path, error: &anyhow::Error, progress: &Progress) {
        let error = console::one_line(error);
        let name = file.display().to_string();
        let line = if error.contains(&name) { error.clone() } else { format!("{name}: {error}") };
        progress.failure(&format!("throng: error: {line}"));
        self.failed.push(Failure { file: file.to_owned(), error });
    }

    fn tell(&self, progress: &Progress) {
        let Self { models, rendered, existed, failed, seconds, resume } = self;
        progress.event(&Event::Models(self));
        let mut line = format!("{rendered} of {models} models rendered in {seconds:.1} s");
        if *existed > 0 {
            line += &format!("; {existed} existed already");
        }
        progress.summary(&line);
        if !failed.is_empty() {
            let files: Vec<String> = failed.iter().map(|failure| failure.file.display().to_string()).collect();
            progress.failure(&format!("throng: {} of {models} models failed: {}", failed.len(), files.join(", ")));
        }
        if let Some(resume) = resume {
            progress.summary(&format!("stopped; resume with: {resume}"));
        }
    }
}
