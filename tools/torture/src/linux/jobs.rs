//! Jobs: command lines of all kinds that write files, their undisturbed results, and how disturbed jobs are completed.

use super::{
    campaign::Campaign,
    files::{Files, difference, read_files, torn},
    process::{End, Ended, Limits, Running},
    promise::Promise,
    scene,
};
use anyhow::{Context, ensure};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// Command lines that can be repeated until the work is done.
const LINES: [&str; 20] = [
    "render scene.ron -q -o out/####.png --skip-existing",
    "render scene.ron -q -o out/####.png --skip-existing --color-depth 16",
    "render scene.ron -q -o out/####.jpg --skip-existing",
    "render scene.ron -q -o out/####.webp --skip-existing",
    "render scene.ron -q -o out/####.exr --skip-existing --layers all",
    "render scene.ron -q -o out/####.exr --skip-existing --color-depth 32 --exr-compression none",
    "render scene.ron -q -o out/####.png --skip-existing --video video.webp",
    "render scene.ron -q -o out/####.png --skip-existing --sheet sheet.png --sheet-frames 4",
    "render scene.ron -q -o out/####.jpg --skip-existing --video video.apng --sheet sheet.jpg",
    "render scene.ron -q --video video.webp",
    "render scene.ron -q --video video.apng",
    "render scene.ron -q --video video.gif",
    "render scene.ron -q -o out/####.png --skip-existing --video video.mp4",
    "render scene.ron -q -o -",
    "render scene.ron -q -o out/####.png --checkpoint --samples 64",
    "render scene.ron -q -o out/####.exr --checkpoint --samples 40 --filter mitchell --layers depth",
    "render scene.ron -q -f 1 -o out/####.png --checkpoint --write-partial 0.1 --samples 400",
    "render scene.ron -q -o out/####.png --skip-existing --cache trees",
    "trace scene.ron rays.ray --repeat 200 --hits found.hit --report found.json",
    "bench scene.ron --repeat 1 --dump dump --report found.md",
];
/// A job that writes a picture of differences.
const DIFF: &str = "diff paint.png other.png -q --limit 1 --map map.png";

pub struct Job {
    pub line: &'static str,
    /// All files after the job, inputs included.
    pub reference: Files,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its duration.
    pub time: Duration,
}

/// Promises about a folder in which a job was disturbed.
pub struct Promises {
    pub torn: Promise,
    pub completed: Promise,
}

impl Promises {
    pub fn new(campaign: &Campaign, torn: &'static str, completed: &'static str, tries_are: &'static str) -> Self {
        Self { torn: campaign.promise(torn, tries_are), completed: campaign.promise(completed, "jobs") }
    }

    pub fn into_list(self) -> Vec<Promise> {
        vec![self.torn, self.completed]
    }
}

/// Runs every kind of job once, undisturbed.
pub fn all(campaign: &Campaign) -> anyhow::Result<Vec<Job>> {
    let lines = LINES.into_iter().chain([DIFF]);
    let lines = lines.filter(|line| campaign.ffmpeg || !line.contains(".mp4"));
    of(campaign, &lines.collect::<Vec<_>>())
}

/// Runs these command lines once, undisturbed.
pub fn of(campaign: &Campaign, lines: &[&'static str]) -> anyhow::Result<Vec<Job>> {
    lines.iter().map(|line| Job::new(campaign, line)).collect()
}

impl Job {
    fn new(campaign: &Campaign, line: &'static str) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        scene::write(folder.path())?;
        let mut job = Self { line, reference: Files::new(), stdout: Vec::new(), time: Duration::ZERO };
        let start = Instant::now();
        let ended = job.start(campaign, folder.path(), Limits::default())?.wait(Duration::from_secs(120))?;
        ensure!(ended.end == End::Code(0), "{line}: {:?}: {}", ended.end, ended.stderr);
        job.time = start.elapsed();
        job.stdout = ended.stdout;
        job.reference = read_files(folder.path())?;
        let fault = torn(folder.path(), &Files::new())?;
        ensure!(fault.is_none(), "{line}: {}", fault.unwrap_or_default());
        Ok(job)
    }

    pub fn is_render(&self) -> bool {
        self.line.starts_with("render")
    }

    /// Sizes of the files that the job writes, in bytes.
    pub fn made(&self) -> impl Iterator<Item = usize> {
        let made = self.reference.iter().filter(|(name, _)| !scene::FILES.contains_key(*name));
        made.map(|(_, content)| content.bytes)
    }

    /// Folders that the job writes to.
    pub fn folders(&self) -> Vec<PathBuf> {
        let folders = self.reference.keys().filter_map(|name| name.parent());
        let folders: BTreeSet<&Path> = folders.filter(|f| !f.as_os_str().is_empty()).collect();
        folders.into_iter().map(Path::to_owned).collect()
    }

    pub fn start(&self, campaign: &Campaign, folder: &Path, limits: Limits) -> anyhow::Result<Running> {
        let mut command = campaign.command(folder, self.line);
        Running::start(&mut command, limits).context("cannot start the program")
    }

    /// Starts the job and waits for its end.
    pub fn run(&self, campaign: &Campaign, folder: &Path, limits: Limits) -> anyhow::Result<Ended> {
        self.wait(campaign, self.start(campaign, folder, limits)?)
    }

    /// Waits for the end of the job, with extra time for other work on the machine.
    pub fn wait(&self, campaign: &Campaign, running: Running) -> anyhow::Result<Ended> {
        Ok(running.wait(campaign.bounds.patience() + 8 * self.time)?)
    }

    /// Checks the files that a disturbed run left.
    pub fn inspect(&self, promise: &Promise, folder: &Path, ended: &Ended) -> anyhow::Result<()> {
        let cut = !self.stdout.starts_with(&ended.stdout);
        let cut = (cut && self.is_render()).then(|| "other bytes on standard output".to_owned());
        let fault = cut.or(torn(folder, &self.reference)?);
        promise.tried(fault, ended, Some(folder))
    }

    /// Runs the command line again, undisturbed, and compares all files with the reference.
    pub fn complete(&self, campaign: &Campaign, promise: &Promise, folder: &Path) -> anyhow::Result<()> {
        let mut ended = self.run(campaign, folder, Limits::default())?;
        // A video cannot be continued from lossy pictures. If this is refused, the work starts over.
        if self.line.contains(".jpg") && matches!(ended.end, End::Code(1 | 2)) {
            for name in self.reference.keys().filter(|name| !scene::FILES.contains_key(*name)) {
                let _ = fs::remove_file(folder.join(name));
            }
            ended = self.run(campaign, folder, Limits::default())?;
        }
        let fault = match ended.end {
            End::Code(0) if ended.stdout != self.stdout && self.is_render() => {
                Some("other bytes on standard output".into())
            }
            End::Code(0) => difference(folder, &self.reference)?,
            end => Some(format!("cannot be completed: {end:?}: {}", ended.stderr.trim())),
        };
        let fault = fault.map(|fault| format!("{fault} [{}]", self.line));
        promise.tried(fault, &ended, Some(folder))
    }
}
