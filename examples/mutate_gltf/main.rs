//! Loads seeded mutations of every glTF file of a folder and reports panics, slow cases and memory above the limit.
//!
//!     cargo run --release --example mutate_gltf -- FOLDER [MUTATIONS [SEED]]
//!
//! Each mutation is a pure function of the seed and its number. Files that load fast get more of them than slow ones.
//! Buffers and pictures beside a file are read as usual. Exits with 1 if there is anything to report.

mod memory;
mod mutation;

use mutation::{Original, Random};
use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};
use throng::loader::gltf::{GltfOptions, load_model_bytes};

#[global_allocator]
static ALLOCATOR: memory::Counting = memory::Counting;

/// What a load may take by its own account.
const MEMORY_LIMIT: u64 = 256 << 20;
/// What it may really take: libraries need room of their own while they decode.
const MEMORY_CAP: u64 = MEMORY_LIMIT + (64 << 20);
const SLOW: Duration = Duration::from_secs(5);

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(folder) = arguments.next() else {
        eprintln!("usage: mutate_gltf FOLDER [MUTATIONS [SEED]]");
        return ExitCode::from(2);
    };
    let mutations = arguments.next().and_then(|a| a.parse().ok());
    let seed = arguments.next().and_then(|a| a.parse().ok()).unwrap_or(1);
    std::panic::set_hook(Box::new(|info| PANIC.set(Some(info.to_string()))));
    let cases = share_out(&models(Path::new(&folder)), mutations.unwrap_or(10_000));
    let problems = run(&cases, seed);
    for case in &cases {
        println!("{}", case.summary());
    }
    println!("{problems} problems");
    if problems == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

thread_local! {
    static PANIC: Cell<Option<String>> = const { Cell::new(None) };
}

/// All .gltf and .glb files in the folder and below.
fn models(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        for path in entries.map(|e| e.path()) {
            let is_model = path.extension().is_some_and(|e| e == "gltf" || e == "glb");
            if path.is_dir() {
                folders.push(path);
            } else if is_model {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// A file and what became of its mutations.
struct Case {
    file: PathBuf,
    original: Original,
    share: u64,
    tally: Mutex<Tally>,
}

#[derive(Default)]
struct Tally {
    loaded: u64,
    refused: u64,
    total: Duration,
    slowest: Duration,
    greatest: u64,
}

/// Shares are inverse to the time that the file itself takes.
fn share_out(files: &[PathBuf], mutations: u64) -> Vec<Case> {
    let mut weights = Vec::new();
    let mut cases = Vec::new();
    for file in files {
        let Ok(bytes) = std::fs::read(file) else {
            continue;
        };
        let start = Instant::now();
        let _ = load_model_bytes(&bytes, file.parent(), &GltfOptions::default());
        weights.push(1.0 / start.elapsed().as_secs_f64().max(1e-3));
        cases.push(Case {
            file: file.clone(),
            original: Original::new(bytes),
            share: 0,
            tally: Mutex::default(),
        });
    }
    let sum: f64 = weights.iter().sum();
    for (case, weight) in cases.iter_mut().zip(weights) {
        case.share = (mutations as f64 * weight / sum).ceil() as u64;
    }
    cases
}

/// One load per thread at a time, each in a pool of its own thread, so that its memory can be told apart.
fn run(cases: &[Case], seed: u64) -> u64 {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    let (next, problems) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
                let work = || work(cases, seed, &next, &problems);
                match pool {
                    Ok(pool) => pool.install(work),
                    Err(e) => eprintln!("no thread pool: {e}"),
                }
            });
        }
    });
    problems.into_inner()
}

fn work(cases: &[Case], seed: u64, next: &AtomicU64, problems: &AtomicU64) {
    loop {
        let mut number = next.fetch_add(1, Ordering::Relaxed);
        let mut index = 0;
        while index < cases.len() && number >= cases[index].share {
            number -= cases[index].share;
            index += 1;
        }
        let Some(case) = cases.get(index) else {
            return;
        };
        let mut random = Random::new(seed, index as u64, number);
        let bytes = case.original.mutated(&mut random);
        if let Some(problem) = case.attempt(&bytes) {
            problems.fetch_add(1, Ordering::Relaxed);
            println!("{} mutation {number}: {problem}", case.file.display());
            let kept = std::env::temp_dir().join(format!("mutation-{seed}-{index}-{number}"));
            let _ = std::fs::write(kept, &bytes);
        }
    }
}

impl Case {
    /// What is wrong with how this loads, if anything.
    fn attempt(&self, bytes: &[u8]) -> Option<String> {
        let options = GltfOptions {
            memory_limit: Some(MEMORY_LIMIT),
            ..GltfOptions::default()
        };
        memory::reset();
        let start = Instant::now();
        let load = || load_model_bytes(bytes, self.file.parent(), &options).map(|_| ());
        let outcome = catch_unwind(AssertUnwindSafe(load));
        let (took, peak) = (start.elapsed(), memory::peak());
        self.count(matches!(outcome, Ok(Ok(()))), took, peak);
        match outcome {
            Err(_) => Some(PANIC.take().unwrap_or_default().replace('\n', " ")),
            Ok(Err(e)) if e.to_string().contains('\n') => Some(format!("two lines: {e}")),
            Ok(_) if took > SLOW => Some(format!("{took:.1?}")),
            Ok(_) if peak > MEMORY_CAP => Some(format!("{} MiB", peak >> 20)),
            Ok(_) => None,
        }
    }

    fn count(&self, loaded: bool, took: Duration, peak: u64) {
        let Ok(mut tally) = self.tally.lock() else {
            return;
        };
        tally.loaded += u64::from(loaded);
        tally.refused += u64::from(!loaded);
        tally.total += took;
        tally.slowest = tally.slowest.max(took);
        tally.greatest = tally.greatest.max(peak);
    }

    fn summary(&self) -> String {
        let Ok(t) = self.tally.lock() else {
            return String::new();
        };
        let count = (t.loaded + t.refused).max(1);
        format!(
            "{}: {} loaded, {} refused, {:.2} ms each, slowest {:.0} ms, greatest {} MiB",
            self.file.display(),
            t.loaded,
            t.refused,
            t.total.as_secs_f64() * 1e3 / count as f64,
            t.slowest.as_secs_f64() * 1e3,
            t.greatest >> 20
        )
    }
}
