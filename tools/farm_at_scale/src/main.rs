//! Simulates a render farm: many workers share one folder, with crashes, preemption, lost machines, and slow and unreliable disks. Files
//! are written by throng's own frame loop, as in `throng render --skip-existing`; only the picture and the disk are simulated.
//!
//!     cargo run --release -p farm_at_scale -- --workers 1000 --frames 100000
//!
//! Prints a table. Exits with 1 if a frame is lost or torn, or if more frames are rendered in vain than the faults explain. The seed
//! determines the faults; the order of threads also depends on the machine.

mod disk;
mod engine;
mod painter;
mod process;
#[path = "../../torture/src/linux/random.rs"]
#[expect(dead_code, reason = "the rest is for torture")]
mod random;
mod verdict;

use clap::Parser;
use engine::Engine;
use std::{path::PathBuf, process::ExitCode, time::Instant};
use verdict::Verdict;

#[derive(Parser)]
pub struct Args {
    #[arg(long, default_value_t = 1000)]
    workers: usize,
    /// Number of machines that the workers run on
    #[arg(long, default_value_t = 50)]
    hosts: usize,
    #[arg(long, default_value_t = 100_000)]
    frames: u32,
    /// Frames per task
    #[arg(long, default_value_t = 10)]
    chunk: u32,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Use a server without locks
    #[arg(long)]
    no_locks: bool,
    /// Inject no faults, to count operations
    #[arg(long)]
    no_faults: bool,
    /// An existing folder in which the farm works [default: the folder for temporary files]
    #[arg(long)]
    folder: Option<PathBuf>,
}

fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    let place = match &args.folder {
        Some(folder) => tempfile::tempdir_in(folder)?,
        None => tempfile::tempdir()?,
    };
    process::silence_crashes();
    let engine = Engine::new(&args, place.path())?;
    let start = Instant::now();
    engine.run()?;
    let worked = start.elapsed();
    let looked = engine.look_again()?;
    let verdict = Verdict::of(&engine, looked, worked)?;
    println!("{verdict}");
    Ok(if verdict.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
