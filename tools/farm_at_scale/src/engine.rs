//! The farm's scheduler. It hands tasks to workers until all are done, and repeats tasks that failed.

use crate::{
    Args,
    disk::{Client, HURRY, OPERATIONS, Server, cut},
    painter::{Painter, SIZE, picture_of},
    process::{Fate, Process},
    random::Random,
};
#[cfg(unix)]
use std::os::unix::fs::symlink;
#[cfg(windows)]
use std::os::windows::fs::symlink_dir as symlink;
use std::{
    collections::{BTreeMap, HashSet, VecDeque},
    ffi::OsString,
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};
use throng::{
    loader,
    scene::Scene,
    settings::{Destination, FrameOptions, PictureOptions},
};
use throng_base::{disk::seam, sync::lock};
use throng_render::Summary;
use throng_settings::run::Run;

/// One in this number of tasks ends in each of these ways.
const CRASHES: usize = 30;
const PREEMPTIONS: usize = 30;
const HANGS: usize = 400;
const TWINS: usize = 100;
/// Upper limit of the operations per frame before a fault occurs; about the number that a frame takes.
const OPERATIONS_OF_A_FRAME: usize = 60;
/// Frames per lost machine, and number of power cuts of the server during the run.
const FRAMES_PER_LOSS: u32 = 1000;
const POWER_CUTS: u32 = 4;

pub struct Engine {
    pub frames: u32,
    chunk: u32,
    workers: usize,
    hosts: usize,
    seed: u64,
    has_faults: bool,
    pub out: PathBuf,
    mounts: PathBuf,
    pub server: Arc<Server>,
    scene: Arc<Scene>,
    pub painted: Arc<Vec<AtomicU32>>,
    waiting: Mutex<VecDeque<u32>>,
    done: Vec<AtomicBool>,
    /// Number of unfinished tasks.
    left: AtomicU32,
    started: AtomicU64,
    pub tally: Tally,
    /// Files that were truncated by a power cut.
    pub cut: Mutex<HashSet<OsString>>,
    /// Errors of runs, by their text without names, with their counts.
    pub errors: Mutex<BTreeMap<String, u32>>,
}

/// Counts of task outcomes and of observations.
#[derive(Default)]
pub struct Tally {
    pub crashed: AtomicU64,
    pub preempted: AtomicU64,
    pub failed: AtomicU64,
    pub hung: AtomicU64,
    pub twins: AtomicU64,
    pub lost_hosts: AtomicU64,
    pub lost_tasks: AtomicU64,
    pub seen: AtomicU64,
    pub seen_torn: AtomicU64,
}

/// Result of checking all frames after the run.
pub struct Looked {
    pub rendered: u32,
    pub seconds: f64,
    pub counts: [u64; OPERATIONS.len()],
}

fn add(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Engine {
    pub fn new(args: &Args, place: &Path) -> anyhow::Result<Self> {
        let (out, mounts) = (place.join("out"), place.join("mounts"));
        fs::create_dir(&out)?;
        fs::create_dir(&mounts)?;
        let file = place.join("scene.ron");
        let frames = args.frames;
        let text = format!(
            "(render: (size: ({SIZE}, {SIZE}), samples: 1, frames: {frames}), meshes: {{ \"a\": Quad() }}, \
             instances: [Single(of: \"a\")])"
        );
        fs::write(&file, text)?;
        let server = Arc::new(Server::new(mounts.clone(), !args.no_locks, !args.no_faults));
        seam::install(Box::new(Client(server.clone())));
        let tasks = frames.div_ceil(args.chunk);
        Ok(Self {
            frames,
            chunk: args.chunk,
            workers: args.workers,
            hosts: args.hosts,
            seed: args.seed,
            has_faults: !args.no_faults,
            out,
            mounts,
            server,
            scene: Arc::new(loader::load(&file)?),
            painted: Arc::new((0..=frames).map(|_| AtomicU32::new(0)).collect()),
            waiting: Mutex::new((0..tasks).collect()),
            done: (0..tasks).map(|_| AtomicBool::new(false)).collect(),
            left: AtomicU32::new(tasks),
            started: AtomicU64::new(0),
            tally: Tally::default(),
            cut: Mutex::default(),
            errors: Mutex::default(),
        })
    }

    /// Runs until all tasks are done.
    pub fn run(&self) -> anyhow::Result<()> {
        let ended = AtomicBool::new(false);
        thread::scope(|scope| {
            let spawn = |worker| {
                let builder = thread::Builder::new().stack_size(1 << 20);
                builder.spawn_scoped(scope, move || self.work(worker % self.hosts.max(1)))
            };
            let workers: Vec<_> = (0..self.workers).map(spawn).collect::<Result<_, _>>()?;
            let around = [scope.spawn(|| self.meddle(&ended)), scope.spawn(|| self.watch(&ended))];
            workers.into_iter().for_each(|worker| drop(worker.join()));
            ended.store(true, Ordering::Relaxed);
            around.into_iter().for_each(|thread| drop(thread.join()));
            Ok(())
        })
    }

    fn work(&self, host: usize) {
        while let Some(task) = self.next() {
            if self.done[task as usize].load(Ordering::Relaxed) {
                continue;
            }
            if !self.run_task(host, task) {
                lock(&self.waiting).push_back(task);
            } else if !self.done[task as usize].swap(true, Ordering::Relaxed) {
                self.left.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    /// Waits for the next task. None if all are done.
    fn next(&self) -> Option<u32> {
        loop {
            if let Some(task) = lock(&self.waiting).pop_front() {
                return Some(task);
            }
            if self.left.load(Ordering::Relaxed) == 0 {
                return None;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Runs a task in a new process on `host`. Returns whether it succeeded.
    fn run_task(&self, host: usize, task: u32) -> bool {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let mut random = Random::new(&[self.seed, number]);
        let operations = random.below(self.chunk as usize * OPERATIONS_OF_A_FRAME) as i64;
        let fate = match self.has_faults {
            true if random.once_in(CRASHES) => Some((Fate::Crash, operations)),
            true if random.once_in(PREEMPTIONS) => Some((Fate::Preempted, operations)),
            _ => None,
        };
        let hangs = (self.has_faults && random.once_in(HANGS)).then(|| Duration::from_secs(600) / HURRY);
        if self.has_faults && random.once_in(TWINS) {
            // The scheduler assumes that this process is lost, and also gives its task to another worker.
            add(&self.tally.twins);
            lock(&self.waiting).push_front(task);
        }
        hangs.iter().for_each(|_| add(&self.tally.hung));
        let process = Arc::new(Process::new(host, fate, random));
        let first = task * self.chunk + 1;
        let frames = format!("{first}-{}", (first + self.chunk - 1).min(self.frames));
        let ended = self.process(number, process.clone(), hangs, &frames);
        match ended {
            _ if process.dead.load(Ordering::Relaxed) => match process.fate {
                Some(Fate::Crash) => add(&self.tally.crashed),
                _ => add(&self.tally.lost_tasks),
            },
            None => self.note("a panic"),
            Some(Ok(summary)) if summary.stopped => add(&self.tally.preempted),
            Some(Ok(_)) => return true,
            Some(Err(error)) => self.note(&error.to_string()),
        }
        false
    }

    fn note(&self, error: &str) {
        add(&self.tally.failed);
        let words = error.split(' ').filter(|word| !word.contains('/') && !word.contains(|c: char| c.is_ascii_digit()));
        let text = words.collect::<Vec<_>>().join(" ");
        *lock(&self.errors).entry(text).or_default() += 1;
    }

    /// Runs throng on `frames` as one process. None if the process panicked or was killed.
    fn process(
        &self,
        number: u64,
        process: Arc<Process>,
        hangs: Option<Duration>,
        frames: &str,
    ) -> Option<anyhow::Result<Summary>> {
        let name = OsString::from(format!("{number}"));
        let mount = self.mounts.join(&name);
        self.server.add(&name, process.clone());
        let run = || {
            symlink(&self.out, &mount)?;
            let options = FrameOptions {
                output: Some(Destination::parse(mount.join("######.png"))?),
                frames: Some(frames.parse()?),
                skip_existing: true,
                ..FrameOptions::default()
            };
            let painted = self.painted.clone();
            let mut painter = Painter { process: process.clone(), painted, hangs, under_way: VecDeque::new() };
            let (never, ongoing) = (AtomicBool::new(false), Default::default());
            let options = (&options, &ongoing);
            let mut run = Run::plan(&PictureOptions::default(), self.scene.clone(), options, &painter, &never)?;
            run.open()?;
            Ok(run.render(&mut painter, &mut (), &process.stop)?)
        };
        let ended = catch_unwind(AssertUnwindSafe(run)).ok();
        self.server.remove(&name);
        let _ = fs::remove_file(&mount);
        ended
    }

    /// Loses machines and cuts the server's power from time to time.
    fn meddle(&self, ended: &AtomicBool) {
        let mut random = Random::new(&[self.seed, u64::MAX]);
        let (mut lost, mut cuts) = (0, 0);
        while !ended.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(20));
            self.server.tick();
            let made = lock(&self.server.finished).len() as u32;
            if !self.has_faults {
                continue;
            }
            if made > (lost + 1) * FRAMES_PER_LOSS {
                lost += 1;
                add(&self.tally.lost_hosts);
                self.server.lose(random.below(self.hosts));
            }
            if made > (cuts + 1) * (self.frames / (POWER_CUTS + 1)).max(1) {
                cuts += 1;
                for name in self.server.fresh() {
                    if random.once_in(4) {
                        lock(&self.cut).insert(name.clone());
                        // The file may be gone by now.
                        let _ = cut(&self.out.join(name), random.share());
                    }
                }
            }
        }
    }

    /// Reads recently finished files and checks that each is complete.
    fn watch(&self, ended: &AtomicBool) {
        while !ended.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(5));
            for name in self.server.fresh().iter().take(20) {
                let is_whole = is_whole(&self.out.join(name), frame_of(name));
                add(&self.tally.seen);
                if !is_whole && !lock(&self.cut).contains(name) {
                    add(&self.tally.seen_torn);
                }
            }
        }
    }

    /// Runs throng again on all frames, without faults. This run finds torn and missing files.
    pub fn look_again(&self) -> anyhow::Result<Looked> {
        // By then, claims of lost machines have expired.
        thread::sleep(Duration::from_secs(300) / HURRY);
        self.server.tick();
        self.server.has_faults.store(false, Ordering::Relaxed);
        let before = self.server.counts();
        let start = Instant::now();
        let process = Arc::new(Process::new(0, None, Random::new(&[self.seed])));
        let all = format!("1-{}", self.frames);
        let ended = self.process(u64::MAX, process, None, &all);
        let summary = ended.unwrap_or_else(|| Err(anyhow::anyhow!("the last run panicked")))?;
        let after = self.server.counts();
        let counts = std::array::from_fn(|index| after[index] - before[index]);
        Ok(Looked { rendered: summary.frames, seconds: start.elapsed().as_secs_f64(), counts })
    }
}

/// The frame number in a file name.
fn frame_of(name: &OsString) -> u32 {
    Path::new(name).file_stem().and_then(|stem| stem.to_str()?.parse().ok()).unwrap_or(0)
}

/// Whether the file at `path` is the correct picture of `frame`.
pub fn is_whole(path: &Path, frame: u32) -> bool {
    let read = || Some(image::load_from_memory(&fs::read(path).ok()?).ok()?.into_rgb8().into_raw());
    read().is_some_and(|pixels| pixels == picture_of(frame))
}
