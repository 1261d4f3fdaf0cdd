//! The campaign's flags and course.

use super::{attacks::ATTACKS, campaign::Campaign, jobs, mounts, verdict::Bounds};
use anyhow::Context;
use clap::Parser;
use std::{
    fs,
    path::PathBuf,
    process::{Command, ExitCode},
    time::{Duration, Instant},
};

#[derive(Parser)]
struct Args {
    /// The program [default: that of the same build]
    #[arg(long)]
    throng: Option<PathBuf>,
    /// Time for all attacks together, in seconds
    #[arg(long, default_value_t = 3600)]
    seconds: u64,
    /// Number of kills; the numbers of other attempts are derived from it
    #[arg(long, default_value_t = 1000)]
    kills: u64,
    /// Number of damaged files
    #[arg(long, default_value_t = 100_000)]
    mutations: u64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Run only these attacks
    #[arg(long, value_name = "ATTACKS", value_delimiter = ',', value_parser = ATTACKS.map(|(name, ..)| name))]
    only: Vec<String>,
    /// Damage only files of these roles, such as `USDA,USDC`
    #[arg(long, value_name = "ROLES", value_delimiter = ',')]
    roles: Vec<String>,
    /// Folder for cases that break a promise [default: target/torture, which is emptied first]
    #[arg(long)]
    keep: Option<PathBuf>,
    /// A two-minute run with a few attempts of each attack
    #[arg(long, conflicts_with_all = ["seconds", "kills", "mutations"])]
    short: bool,
    /// CPU seconds that a run may take
    #[arg(long, default_value_t = 5)]
    patience: u64,
}

const MEMORY: u64 = 1 << 30;

pub fn main() -> anyhow::Result<ExitCode> {
    // Must happen before threads are started.
    let mounts = mounts::are_allowed();
    let mut args = Args::parse();
    if args.short {
        (args.seconds, args.kills, args.mutations) = (110, 60, 3000);
    }
    let mut campaign = campaign(&args, mounts)?;
    campaign.jobs = jobs::all(&campaign)?;
    let chosen = |name: &str| args.only.is_empty() || args.only.iter().any(|only| only == name);
    let attacks = ATTACKS.iter().filter(|(name, ..)| chosen(name));
    let mut left: u32 = attacks.clone().map(|(_, share, _)| share).sum();
    let end = Instant::now() + Duration::from_secs(args.seconds);
    let mut is_broken = false;
    for (_, share, attack) in attacks {
        // Unused time is distributed to the remaining attacks.
        let time = end.saturating_duration_since(Instant::now());
        campaign.until = Instant::now() + time * *share / left;
        left -= share;
        for promise in attack(&campaign)? {
            println!("{promise}");
            is_broken |= promise.is_broken();
        }
    }
    Ok(if is_broken { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn campaign(args: &Args, mounts: bool) -> anyhow::Result<Campaign> {
    let throng = match &args.throng {
        Some(path) => path.clone(),
        None => {
            let program = std::env::current_exe()?;
            program.parent().context("this program is nowhere")?.join("throng")
        }
    };
    let throng = throng
        .canonicalize()
        .with_context(|| format!("{}: build the program first, or name it with --throng", throng.display()))?;
    let repository = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).canonicalize()?;
    let usual = repository.join("target/torture");
    if args.keep.is_none() && usual.exists() {
        fs::remove_dir_all(&usual)?;
    }
    let ffmpeg = Command::new("ffmpeg").arg("-version").output();
    Ok(Campaign {
        throng,
        repository,
        seed: args.seed,
        kills: args.kills,
        mutations: args.mutations,
        roles: args.roles.clone(),
        bounds: Bounds { cpu: Duration::from_secs(args.patience), memory: MEMORY, may_run_out: false },
        keep: args.keep.clone().unwrap_or(usual),
        mounts,
        ffmpeg: ffmpeg.is_ok_and(|found| found.status.success()),
        jobs: Vec::new(),
        until: Instant::now(),
    })
}
