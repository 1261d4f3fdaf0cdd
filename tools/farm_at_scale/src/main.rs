//! Simulates a farm: many workers and one folder, with crashes, preemption, machines that fail, slow and lying disks. The files are written by
//! throng's own frame loop, as `throng render --skip-existing` does; only the picture and the disk are made up.
//!
//!     cargo run --release -p farm_at_scale -- --workers 1000 --frames 100000
//!
//! Prints a table, and exits with 1 if a frame is lost, torn or made in vain more often than the faults explain. The faults depend on the seed
//! alone; which of two threads is first, on the machine, too.

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
    /// Machines that the workers run on
    #[arg(long, default_value_t = 50)]
    hosts: usize,
    #[arg(long, default_value_t = 100_000)]
    frames: u32,
    /// Frames of a task
    #[arg(long, default_value_t = 10)]
    chunk: u32,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A server that has no locks
    #[arg(long)]
    no_locks: bool,
    /// Nothing goes wrong, to count operations
    #[arg(long)]
    no_faults: bool,
    /// An existing folder in which the farm works [default: that of temporary files]
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
    Ok(match verdict.is_good() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}
