//! Attack: too little memory, stack, file descriptors or standard streams. A run must succeed or report the shortage in one line, and the
//! work must be completable.

use crate::linux::{
    campaign::Campaign,
    jobs::Promises,
    process::{End, Limits, Running},
    promise::Promise,
    random::Random,
    scene,
    verdict::Bounds,
};
use anyhow::ensure;

/// More address space than any job needs.
const PLENTY: u64 = 2 << 30;
const PAGE: u64 = 4096;

pub fn attack(campaign: &Campaign) -> anyhow::Result<Vec<Promise>> {
    let least = least_memory(campaign)?;
    let told = campaign.promise("limits are told in one line", "limits");
    let files = Promises::new(campaign, "no file is torn by a limit", "jobs are completed without the limit", "limits");
    let bounds = Bounds::of_any_work();
    campaign.each_job(3, campaign.kills.div_ceil(3), |job, folder, random| {
        scene::write(folder)?;
        let limits = limits(random, least);
        let ended = job.run(campaign, folder, limits)?;
        let what = fault_of(limits);
        let fault = bounds.fault(&ended).map(|fault| format!("{what}: {fault}"));
        // Without standard error, a failing run cannot report its error.
        let silent = limits.closed[2] && matches!(ended.end, End::Code(0 | 1));
        told.tried(fault.filter(|_| !silent), &ended, None)?;
        if !limits.closed[1] {
            job.inspect(&files.torn, folder, &ended)?;
        }
        job.complete(campaign, &files.completed, folder)
    })?;
    let mut list = vec![told];
    list.extend(files.into_list());
    Ok(list)
}

fn limits(random: &mut Random, least: u64) -> Limits {
    let mut limits = Limits::default();
    match random.below(5) {
        // From 1 MiB above the minimum up to enough.
        0 | 1 => limits.memory = Some(least + 2f64.powf(20.0 + 9.0 * random.share()) as u64 / PAGE * PAGE),
        2 => limits.stack = Some(64 << 10 << random.below(5)),
        3 => limits.files = Some(8 + random.next() % 56),
        _ => {
            let streams = 1 + random.below(7);
            limits.closed = [0, 1, 2].map(|n| streams >> n & 1 == 1);
        }
    }
    limits
}

fn fault_of(limits: Limits) -> &'static str {
    match limits {
        Limits { memory: Some(_), .. } => "little memory",
        Limits { stack: Some(_), .. } => "a small stack",
        Limits { files: Some(_), .. } => "few descriptors",
        _ => "closed streams",
    }
}

/// The least address space in which the program starts. With less, the system prevents the start.
fn least_memory(campaign: &Campaign) -> anyhow::Result<u64> {
    let starts = |memory| -> anyhow::Result<bool> {
        let limits = Limits { memory: Some(memory), ..Limits::default() };
        let mut command = campaign.program(&std::env::temp_dir());
        let running = Running::start(command.arg("--version"), limits)?;
        Ok(running.wait(campaign.bounds.patience())?.end == End::Code(0))
    };
    ensure!(starts(PLENTY)?, "the program does not start: build it first, or name it with --throng");
    let (mut too_little, mut enough) = (0, PLENTY);
    while enough - too_little > 1 << 20 {
        let middle = (too_little + enough) / 2;
        if starts(middle)? { enough = middle } else { too_little = middle }
    }
    Ok(enough + (1 << 20))
}
