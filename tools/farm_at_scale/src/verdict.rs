//! The result of the run, as a table.

use crate::{
    disk::OPERATIONS,
    engine::{Engine, Looked, is_whole},
};
use std::{
    fmt, fs, io,
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};
use throng_base::sync::lock;

/// Painted frames that a run may have in flight when it ends: one waiting, one on the device and two being written.
const UNDER_WAY: u64 = 4;

pub struct Verdict {
    text: String,
    lost: u64,
    torn: u64,
    /// Files written more than once, and the number that the faults explain.
    twice: (u64, u64),
    /// Pictures that never became a file, and the number that the faults explain.
    in_vain: (u64, u64),
}

fn of(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

/// Numbers of temporary files and of claims in a folder.
fn left_behind(folder: &Path) -> io::Result<[u64; 2]> {
    let mut counts = [0; 2];
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let name = name.to_string_lossy();
        [".part", ".claim"].iter().zip(&mut counts).for_each(|(end, count)| *count += u64::from(name.ends_with(end)));
    }
    Ok(counts)
}

/// The numbers of operations per frame as text: of the work, and of the run that looked at all frames again.
fn operations(engine: &Engine, looked: &Looked) -> String {
    let (server, frames) = (&engine.server, f64::from(engine.frames));
    let counts = server.counts();
    let per_frame = |index: usize| (counts[index] - looked.counts[index]) as f64 / frames;
    let mut text = String::new();
    for (index, (_, name)) in OPERATIONS.iter().enumerate() {
        text += &format!(" {name} {:.1},", per_frame(index));
    }
    let all: f64 = (0..OPERATIONS.len()).map(per_frame).sum();
    text += &format!(" in all {all:.1}; names listed {:.0}\n", of(&server.listed) as f64 / frames);
    let looks: u64 = looked.counts.iter().sum();
    text + &format!(
        "a run that looks at all of them again: {:.1} s, {:.1} operations per frame, {} rendered again",
        looked.seconds,
        looks as f64 / frames,
        looked.rendered,
    )
}

impl Verdict {
    pub fn of(engine: &Engine, looked: Looked, worked: Duration) -> anyhow::Result<Self> {
        let Engine { server, tally, frames, .. } = engine;
        let cut = lock(&engine.cut).len() as u64;
        let [parts, claims] = left_behind(&engine.out)?;
        let path_of = |frame| engine.out.join(format!("{frame:06}.png"));
        let (mut lost, mut torn) = (0, of(&tally.seen_torn));
        for frame in 1..=*frames {
            let path = path_of(frame);
            if path.exists() { torn += u64::from(!is_whole(&path, frame)) } else { lost += 1 }
        }
        let finished: u64 = lock(&server.finished).values().map(|&times| u64::from(times)).sum();
        let painted: u64 = engine.painted.iter().map(|count| u64::from(count.load(Ordering::Relaxed))).sum();
        let faults = &server.faults;
        let lies = of(&faults.stale_looks) + of(&faults.lost_answers);
        let ended = of(&tally.crashed) + of(&tally.preempted) + of(&tally.failed) + of(&tally.lost_tasks);
        let twice = (finished.saturating_sub(u64::from(*frames)), lies + cut + UNDER_WAY * of(&tally.hung));
        let in_vain = (painted.saturating_sub(finished), UNDER_WAY * ended);
        let mut text = format!(
            "{frames} frames in {:.0} s\n\
             killed: {}; preempted: {}; failed: {}; machines lost: {}, with {} tasks; hung: {}; given twice: {}\n\
             operations that failed: {}; answers lost: {}; new files taken for missing: {}; no room when sent: {}; cut by power: {cut}\n\
             frames lost: {lost}; torn: {torn}, of {} looks meanwhile and all at the end; written twice: {} (faults explain up to {}); \
             rendered in vain: {} (up to {})\n\
             left behind: {parts} temporary files, {claims} claims\n\
             operations per frame:",
            worked.as_secs_f64(),
            of(&tally.crashed),
            of(&tally.preempted),
            of(&tally.failed),
            of(&tally.lost_hosts),
            of(&tally.lost_tasks),
            of(&tally.hung),
            of(&tally.twins),
            of(&faults.failed),
            of(&faults.lost_answers),
            of(&faults.stale_looks),
            of(&faults.full),
            of(&tally.seen),
            twice.0,
            twice.1,
            in_vain.0,
            in_vain.1,
        );
        text += &operations(engine, &looked);
        for (error, times) in lock(&engine.errors).iter() {
            text += &format!("\n  {times} x {error}");
        }
        Ok(Self { text, lost, torn, twice, in_vain })
    }

    pub fn is_good(&self) -> bool {
        let explained = |(found, most): (u64, u64)| found <= most;
        self.lost == 0 && self.torn == 0 && explained(self.twice) && explained(self.in_vain)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.text)?;
        f.write_str(if self.is_good() { "\ngood" } else { "\nBROKEN" })
    }
}
