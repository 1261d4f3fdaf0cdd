//! Attack: signals at random times. No file may be torn, the run must end, and the next run must complete the work.

use crate::linux::{
    campaign::Campaign,
    jobs::{Job, Promises},
    process::{End, Ended, Limits, Running},
    promise::Promise,
    random::Random,
    scene,
};
use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

/// Signals sent to a run: the first at the chosen time, the others soon after.
const BLOWS: [&[libc::c_int]; 10] = [
    &[libc::SIGKILL],
    &[libc::SIGKILL],
    &[libc::SIGKILL],
    &[libc::SIGTERM],
    &[libc::SIGINT],
    &[libc::SIGHUP],
    &[libc::SIGTERM, libc::SIGTERM],
    &[libc::SIGINT, libc::SIGTERM],
    &[libc::SIGUSR1, libc::SIGUSR1, libc::SIGINT],
    &[libc::SIGUSR1],
];
/// Time after which a started program has installed its signal handlers, even on a busy machine.
const BEGUN: Duration = Duration::from_secs(2);

struct Kills {
    files: Promises,
    /// Runs end when a signal requests it.
    end: Promise,
    /// Runs continue after a signal that requests a preview.
    show: Promise,
}

pub fn attack(campaign: &Campaign) -> anyhow::Result<Vec<Promise>> {
    let kills = Kills {
        files: Promises::new(
            campaign,
            "no file is torn by a kill",
            "killed jobs are completed to the same bits",
            "kills",
        ),
        end: campaign.promise("signals end a run", "signals"),
        show: campaign.promise("SIGUSR1 ends no run", "runs"),
    };
    campaign.each_job(1, campaign.kills.div_ceil(2), |job, folder, random| {
        scene::write(folder)?;
        // In two of three attempts, several runs are killed one after the other.
        for _ in 0..1 + random.below(3) {
            kills.strike(campaign, job, folder, random)?;
        }
        job.complete(campaign, &kills.files.completed, folder)
    })?;
    let mut list = kills.files.into_list();
    list.extend([kills.end, kills.show]);
    Ok(list)
}

impl Kills {
    fn strike(&self, campaign: &Campaign, job: &Job, folder: &Path, random: &mut Random) -> anyhow::Result<()> {
        let blows = *random.pick(&BLOWS);
        if blows[0] == libc::SIGUSR1 && !job.is_render() {
            return Ok(());
        }
        let moment = if random.once_in(4) {
            Duration::from_micros(random.next() % 20_000)
        } else {
            job.time.mul_f64(random.share())
        };
        let running = job.start(campaign, folder, Limits::default())?;
        let caught = wait_for(&running, moment, blows[0]);
        for (number, &signal) in blows.iter().enumerate() {
            if number > 0 {
                thread::sleep(Duration::from_micros(random.next() % 30_000));
            }
            running.send(signal);
        }
        let last = blows[blows.len() - 1];
        let ended = job.wait(campaign, running)?;
        if blows.contains(&libc::SIGUSR1) {
            let fault = (ended.end == End::Signal(libc::SIGUSR1)).then(|| "ended by SIGUSR1".to_owned());
            self.show.tried(fault, &ended, None)?;
        }
        if last != libc::SIGUSR1 {
            let fault = bad_end(&ended, last, caught && job.is_render());
            self.end.tried(fault, &ended, None)?;
        }
        job.inspect(&self.files.torn, folder, &ended)
    }
}

/// Waits for the chosen time, and returns whether the run handles signals by then. Before SIGUSR1, also waits until the run handles signals
/// or has ended, for at most [`BEGUN`].
fn wait_for(running: &Running, moment: Duration, signal: libc::c_int) -> bool {
    let start = Instant::now();
    thread::sleep(moment);
    let is_ready = || running.catches(libc::SIGINT) || running.has_ended();
    while signal == libc::SIGUSR1 && !is_ready() && start.elapsed() < BEGUN {
        thread::yield_now();
    }
    running.catches(libc::SIGTERM)
}

/// A fault of how a run ended. `caught` is whether the run had signal handlers before the first signal.
fn bad_end(ended: &Ended, signal: libc::c_int, caught: bool) -> Option<String> {
    match ended.end {
        // The run had finished before the signal.
        End::Code(0 | 75) => None,
        End::Signal(libc::SIGKILL) if signal == libc::SIGKILL => None,
        End::Signal(_) if !caught => None,
        End::Stuck => Some("does not end when it is told to".to_owned()),
        end => Some(format!("ends by {end:?}: {}", ended.stderr.trim())),
    }
}
