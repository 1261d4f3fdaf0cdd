//! Signals at random moments. Whatever was under way, no file is torn, the run ends, and the next one completes the work.

use super::{
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

/// What is sent to a run; the first signal when the time has come, others soon after.
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
/// A program that is starting has its handlers after this at the latest, however busy the machine is.
const BEGUN: Duration = Duration::from_secs(2);

struct Kills {
    files: Promises,
    /// Runs that are told to end do so.
    end: Promise,
    /// Runs that are asked to show what they have go on.
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
        // Two in three times some are killed one after the other.
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
        let moment = match random.once_in(4) {
            true => Duration::from_micros(random.next() % 20_000),
            false => job.time.mul_f64(random.share()),
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

/// Waits for the moment, and says whether the run catches signals by then. It is asked to show something only if it does, or has had
/// the time to.
fn wait_for(running: &Running, moment: Duration, signal: libc::c_int) -> bool {
    let start = Instant::now();
    thread::sleep(moment);
    let is_ready = || running.catches(libc::SIGINT) || running.has_ended();
    while signal == libc::SIGUSR1 && !is_ready() && start.elapsed() < BEGUN {
        thread::yield_now();
    }
    running.catches(libc::SIGTERM)
}

/// `caught` says that the run had handlers before the first signal was sent.
fn bad_end(ended: &Ended, signal: libc::c_int, caught: bool) -> Option<String> {
    match ended.end {
        // It was done before the signal came.
        End::Code(0 | 75) => None,
        End::Signal(libc::SIGKILL) if signal == libc::SIGKILL => None,
        End::Signal(_) if !caught => None,
        End::Stuck => Some("does not end when it is told to".to_owned()),
        end => Some(format!("ends by {end:?}: {}", ended.stderr.trim())),
    }
}
