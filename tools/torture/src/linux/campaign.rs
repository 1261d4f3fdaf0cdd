//! State shared by all attacks: the program, the amount of work, and the limits of a run.

use super::{
    jobs::Job,
    process::{Ended, Limits, Running},
    promise::Promise,
    random::Random,
    verdict::Bounds,
};
use std::{
    io,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::Instant,
};

pub struct Campaign {
    pub throng: PathBuf,
    /// The repository, whose files are damaged.
    pub repository: PathBuf,
    pub seed: u64,
    pub kills: u64,
    pub mutations: u64,
    /// Roles of damaged files; empty for all.
    pub roles: Vec<String>,
    pub bounds: Bounds,
    /// Folder for cases that break a promise.
    pub keep: PathBuf,
    /// Whether separate file systems can be mounted on folders.
    pub mounts: bool,
    /// Whether videos can be encoded.
    pub ffmpeg: bool,
    /// Jobs that are disturbed.
    pub jobs: Vec<Job>,
    /// Time after which no new attempt starts.
    pub until: Instant,
}

impl Campaign {
    pub fn promise(&self, says: &'static str, tries_are: &'static str) -> Promise {
        Promise::new(&self.keep, says, tries_are)
    }

    /// The program, to be run in `folder` with a minimal environment.
    pub fn program(&self, folder: &Path) -> Command {
        let mut command = Command::new(&self.throng);
        let kept = ["PATH", "HOME", "TMPDIR"].map(|name| (name, std::env::var_os(name)));
        let kept = kept.into_iter().filter_map(|(name, value)| Some((name, value?)));
        command.current_dir(folder).env_clear().envs(kept);
        command
    }

    /// The program with a command line, on the CPU.
    pub fn command(&self, folder: &Path, line: &str) -> Command {
        let mut command = self.program(folder);
        command.args(line.split_whitespace());
        if !["check", "diff", "merge", "denoise"].iter().any(|name| line.starts_with(name)) {
            command.args(["--device", "cpu"]);
        }
        command
    }

    /// Runs a command line and waits for its end.
    pub fn run(&self, folder: &Path, line: &str) -> io::Result<Ended> {
        self.run_with(folder, line, Limits::default())
    }

    pub fn run_with(&self, folder: &Path, line: &str, limits: Limits) -> io::Result<Ended> {
        Running::start(&mut self.command(folder, line), limits)?.wait(self.bounds.patience())
    }

    /// Calls `attempt` with its number, up to `count` times, with one thread per core. Each attempt has its own random numbers.
    pub fn each(
        &self,
        name: u64,
        count: u64,
        attempt: impl Fn(u64, &mut Random) -> anyhow::Result<()> + Sync,
    ) -> anyhow::Result<()> {
        self.each_with(name, count, || Ok(()), |(), number, random| attempt(number, random))
    }

    /// As [`Self::each`], with one job per attempt, in turn, and a new empty folder.
    pub fn each_job(
        &self,
        name: u64,
        count: u64,
        attempt: impl Fn(&Job, &Path, &mut Random) -> anyhow::Result<()> + Sync,
    ) -> anyhow::Result<()> {
        self.each(name, count, |number, random| {
            let folder = tempfile::tempdir()?;
            let job = &self.jobs[number as usize % self.jobs.len()];
            attempt(job, folder.path(), random)
        })
    }

    /// As [`Self::each`], with the indices of a list in random order, so that a partial run is a representative sample.
    pub fn each_of(
        &self,
        name: u64,
        count: usize,
        attempt: impl Fn(usize, &mut Random) -> anyhow::Result<()> + Sync,
    ) -> anyhow::Result<()> {
        let mut order: Vec<usize> = (0..count).collect();
        let mut random = Random::new(&[self.seed, name]);
        for last in (1..count).rev() {
            order.swap(last, random.below(last + 1));
        }
        self.each(name, count as u64, |number, random| attempt(order[number as usize], random))
    }

    /// As [`Self::each`], with a value that each thread creates once.
    pub fn each_with<T>(
        &self,
        name: u64,
        count: u64,
        make: impl Fn() -> anyhow::Result<T> + Sync,
        attempt: impl Fn(&mut T, u64, &mut Random) -> anyhow::Result<()> + Sync,
    ) -> anyhow::Result<()> {
        let next = AtomicU64::new(0);
        let work = || {
            let mut own = make()?;
            while Instant::now() < self.until {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= count {
                    break;
                }
                let done = attempt(&mut own, number, &mut Random::new(&[self.seed, name, number]));
                if done.is_err() {
                    next.store(count, Ordering::Relaxed);
                    return done;
                }
            }
            Ok(())
        };
        let workers = thread::available_parallelism().map_or(1, |n| n.get());
        thread::scope(|scope| {
            let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            let ended: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
            let panicked = |_| Err(anyhow::anyhow!("a thread of the campaign panicked"));
            ended.into_iter().try_for_each(|one| one.unwrap_or_else(panicked))
        })
    }
}
