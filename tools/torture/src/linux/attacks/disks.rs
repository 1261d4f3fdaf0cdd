//! Attack: disks that are full, vanish or are read-only. A run must report this in one line and leave no torn or partial file. With space
//! available again, the work must be completed.

use crate::linux::{
    campaign::Campaign,
    files::read_files,
    jobs::{Job, Promises},
    mounts::Disk,
    process::{End, Ended, Limits},
    promise::Promise,
    random::Random,
    scene,
    verdict::Bounds,
};
use std::{fs, path::Path, thread, time::Duration};

const ROOM: u64 = 1 << 30;
/// Disk space is allocated in whole pages.
const PAGE: usize = 4096;

struct Disks {
    files: Promises,
    told: Promise,
    clean: Promise,
}

pub fn attack(campaign: &Campaign) -> anyhow::Result<Vec<Promise>> {
    let disks = Disks {
        files: Promises::new(
            campaign,
            "no file is torn by a bad disk",
            "jobs are completed when the disk is good again",
            "bad disks",
        ),
        told: campaign.promise("bad disks are told in one line", "bad disks"),
        clean: campaign.promise("full disks leave no parts", "full disks"),
    };
    if !campaign.mounts {
        println!("no mounts are allowed here: disks are never full or read-only, only files too large");
    }
    campaign.each_job(2, campaign.kills.div_ceil(3), |job, folder, random| {
        match random.below(if campaign.mounts { 4 } else { 2 }) {
            0 => disks.too_large(campaign, job, folder, random),
            1 => disks.vanishes(campaign, job, folder, random),
            2 => disks.full(campaign, job, folder, random),
            _ => disks.read_only(campaign, job, folder, random),
        }
    })?;
    let mut list = disks.files.into_list();
    list.extend([disks.told, disks.clean]);
    Ok(list)
}

impl Disks {
    /// Limits the file size, with SIGXFSZ either ignored or not.
    fn too_large(&self, campaign: &Campaign, job: &Job, folder: &Path, random: &mut Random) -> anyhow::Result<()> {
        scene::write(folder)?;
        let largest = job.made().max().unwrap_or(0);
        let limits = Limits {
            // Leaves room for the messages of the run.
            file_size: Some(((largest as f64 * random.share()) as usize).max(PAGE) as u64),
            ignored: random.once_in(2).then_some(libc::SIGXFSZ),
            ..Limits::default()
        };
        let ended = job.run(campaign, folder, limits)?;
        self.look_for_parts(job, folder, &ended)?;
        self.judge(job, folder, &ended)?;
        job.complete(campaign, &self.files.completed, folder)
    }

    /// Moves the output folder away during a run, and back before the next run.
    fn vanishes(&self, campaign: &Campaign, job: &Job, folder: &Path, random: &mut Random) -> anyhow::Result<()> {
        scene::write(folder)?;
        let folders = job.folders();
        let running = job.start(campaign, folder, Limits::default())?;
        thread::sleep(job.time.mul_f64(random.share()));
        let mut moved = Vec::new();
        for name in &folders {
            let (here, away) = (folder.join(name), folder.join(name).with_extension("away"));
            if fs::rename(&here, &away).is_ok() {
                moved.push((here, away));
            }
        }
        let ended = job.wait(campaign, running)?;
        let made_again = moved.iter().any(|(here, _)| here.exists());
        for (here, away) in &moved {
            // A folder created in its place would block the rename.
            let _ = fs::remove_dir_all(here);
            fs::rename(away, here)?;
        }
        let fault = made_again.then(|| format!("a folder that vanished is made again [{}]", job.line));
        self.told.tried(fault, &ended, None)?;
        self.judge(job, folder, &ended)?;
        job.complete(campaign, &self.files.completed, folder)
    }

    fn full(&self, campaign: &Campaign, job: &Job, folder: &Path, random: &mut Random) -> anyhow::Result<()> {
        let disk = Disk::new(folder, ROOM)?;
        scene::write(folder)?;
        let pages = |bytes: usize| bytes.next_multiple_of(PAGE);
        let inputs: usize = scene::FILES.values().map(|bytes| pages(bytes.len())).sum();
        let made: usize = job.made().map(pages).sum();
        disk.resize((inputs + PAGE) as u64 + (made as f64 * random.share()) as u64)?;
        let ended = job.run(campaign, folder, Limits::default())?;
        disk.resize(ROOM)?;
        self.look_for_parts(job, folder, &ended)?;
        self.judge(job, folder, &ended)?;
        job.complete(campaign, &self.files.completed, folder)
    }

    fn read_only(&self, campaign: &Campaign, job: &Job, folder: &Path, random: &mut Random) -> anyhow::Result<()> {
        let disk = Disk::new(folder, ROOM)?;
        scene::write(folder)?;
        let running = job.start(campaign, folder, Limits::default())?;
        // The system refuses while a file is open for writing.
        thread::sleep(job.time.mul_f64(random.share()));
        for _ in 0..1000 {
            if disk.set_read_only(true).is_ok() || running.has_ended() {
                break;
            }
            thread::sleep(Duration::from_micros(200));
        }
        let ended = job.wait(campaign, running)?;
        disk.set_read_only(false)?;
        self.judge(job, folder, &ended)?;
        job.complete(campaign, &self.files.completed, folder)
    }

    fn judge(&self, job: &Job, folder: &Path, ended: &Ended) -> anyhow::Result<()> {
        let fault = Bounds::of_any_work().fault(ended).map(|fault| format!("{fault} [{}]", job.line));
        self.told.tried(fault, ended, None)?;
        job.inspect(&self.files.torn, folder, ended)
    }

    /// Checks that a run that could clean up left no partial file.
    fn look_for_parts(&self, job: &Job, folder: &Path, ended: &Ended) -> anyhow::Result<()> {
        let files = read_files(folder)?;
        let part = files.keys().find(|name| name.extension().is_some_and(|e| e == "part"));
        let part = part.filter(|_| matches!(ended.end, End::Code(_)));
        let fault = part.map(|_| format!("a part is left over [{}]", job.line));
        self.clean.tried(fault, ended, Some(folder))
    }
}
