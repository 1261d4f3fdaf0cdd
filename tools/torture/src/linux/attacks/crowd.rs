//! Attack: several simultaneous runs with common frames, videos and caches. Some are killed, and caches are damaged while a run uses them.

use crate::linux::{
    campaign::Campaign,
    files::{difference, read_files},
    jobs::{self, Job},
    process::{End, Ended, Limits, Running},
    promise::Promise,
    random::Random,
    scene,
};
use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

/// Number of simultaneous runs.
const RUNS: usize = 4;
/// Jobs that several runs share; each run has all frames.
const SHARED: [&str; 4] = [
    "render scene.ron -q -o out/####.png --skip-existing",
    "render scene.ron -q -o out/####.exr --skip-existing --layers all",
    "render scene.ron -q -o out/####.png --checkpoint --samples 64",
    "render scene.ron -q -o out/####.png --skip-existing --cache trees",
];

struct Crowd {
    once: Promise,
    same: Promise,
    killed: Promise,
    caches: Promise,
}

pub fn attack(campaign: &Campaign) -> anyhow::Result<Vec<Promise>> {
    let crowd = Crowd {
        once: campaign.promise("runs side by side render each frame once", "crowds"),
        same: campaign.promise("runs side by side make the same bits", "crowds"),
        killed: campaign.promise("what killed runs claimed is taken over", "crowds"),
        caches: campaign.promise("caches that are damaged in use cost a rebuild", "caches"),
    };
    let jobs = jobs::of(campaign, &SHARED)?;
    campaign.each(4, campaign.kills.div_ceil(8), |number, random| {
        let job = &jobs[number as usize % jobs.len()];
        match random.below(4) {
            0 => crowd.damage_cache(campaign, random),
            1 => crowd.kill_some(campaign, job, random),
            _ => crowd.work(campaign, job),
        }
    })?;
    Ok(vec![crowd.once, crowd.same, crowd.killed, crowd.caches])
}

impl Crowd {
    /// Checks that all runs succeed, and that together they rendered no frame twice.
    fn work(&self, campaign: &Campaign, job: &Job) -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        scene::write(folder.path())?;
        let runs = start_all(campaign, job, folder.path())?;
        let mut rendered = 0;
        let mut fault = None;
        let mut last = None;
        for run in runs {
            let ended = job.wait(campaign, run)?;
            rendered += count_frames(&ended);
            let bad = (ended.end != End::Code(0)).then(|| format!("{:?}: {}", ended.end, ended.stderr.trim()));
            fault = fault.or(bad);
            last = Some(ended);
        }
        let Some(ended) = last else { return Ok(()) };
        let fault = fault.or(difference(folder.path(), &job.reference)?);
        let fault = fault.map(|f| format!("{f} [{}]", job.line));
        self.same.tried(fault, &ended, Some(folder.path()))?;
        // Films of checkpoints may be refined by several runs.
        if job.line.contains("--skip-existing") {
            let twice = rendered > scene::FRAMES;
            let fault = twice.then(|| format!("frames are rendered twice [{}]", job.line));
            self.once.tried(fault, &ended, None)?;
        }
        Ok(())
    }

    /// Kills some runs. A remaining or later run must complete the work.
    fn kill_some(&self, campaign: &Campaign, job: &Job, random: &mut Random) -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        scene::write(folder.path())?;
        let runs = start_all(campaign, job, folder.path())?;
        let killed = 1 + random.below(RUNS);
        for (number, run) in runs.into_iter().enumerate() {
            if number < killed {
                thread::sleep(job.time.mul_f64(random.share() / 2.0));
                run.send(libc::SIGKILL);
            }
            job.wait(campaign, run)?;
        }
        job.complete(campaign, &self.killed, folder.path())
    }

    /// Damages cache files while a run uses them. The run must succeed with correct pictures.
    fn damage_cache(&self, campaign: &Campaign, random: &mut Random) -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        let folder = folder.path();
        scene::write(folder)?;
        fs::write(folder.join("hills.obj"), scene::hills(101))?;
        let line = |out: &str| format!("render scene.ron -q --samples 16 --cache trees -o {out}/");
        let whole = campaign.run(folder, &line("whole"))?;
        let entries = fs::read_dir(folder.join("trees"))?.flatten();
        let trees: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        let running = Running::start(&mut campaign.command(folder, &line("out")), Limits::default())?;
        thread::sleep(Duration::from_micros(random.next() % 200_000));
        for tree in &trees {
            let bytes = fs::read(tree)?;
            let file = fs::File::options().write(true).open(tree)?;
            match random.below(3) {
                0 => file.set_len(random.below(bytes.len()) as u64)?,
                1 => fs::write(tree, vec![0xff; bytes.len()])?,
                _ => file.set_len(0)?,
            }
        }
        let ended = running.wait(campaign.bounds.patience())?;
        let pictures = |of: &str| read_files(&folder.join(of)).unwrap_or_default();
        let same = pictures("out") == pictures("whole");
        let fault = match ended.end {
            End::Code(0) if same && whole.end == End::Code(0) => None,
            End::Code(0) => Some("other pictures".to_owned()),
            end => Some(format!("{end:?}: {}", ended.stderr.trim())),
        };
        self.caches.tried(fault, &ended, None)
    }
}

fn start_all(campaign: &Campaign, job: &Job, folder: &Path) -> anyhow::Result<Vec<Running>> {
    let runs = (0..RUNS).map(|_| {
        let line = format!("{} --progress json", job.line.replace(" -q", ""));
        Ok(Running::start(&mut campaign.command(folder, &line), Limits::default())?)
    });
    runs.collect()
}

/// Number of frames that a run reported as rendered.
fn count_frames(ended: &Ended) -> usize {
    let text = String::from_utf8_lossy(&ended.stdout);
    let events = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    events.filter(|event| event["event"] == "frame").count()
}
