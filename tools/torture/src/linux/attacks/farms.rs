//! Attack: farm jobs for scenes whose names contain characters that are special in formats and shells. Farm engines must accept every job.

use crate::linux::{
    campaign::Campaign,
    process::{End, Limits, Running},
    promise::Promise,
    random::Random,
    scene,
};
use std::{fs, path::Path, process::Command, time::Duration};

/// Fragments of names.
const PIECES: [&str; 24] = [
    "a", "-", "--", " ", "'", "\"", "\\", "{{x}}", "{", "}}", "\n", "\t", "\u{7f}", "\u{85}", "\u{2028}", "\u{feff}",
    "#", ": ", "&a", "*", "$HOME", "`id`", "ä😀", "%s",
];
const LONGEST: usize = 60;

pub fn attack(campaign: &Campaign) -> anyhow::Result<Vec<Promise>> {
    let has_openjd = Command::new("openjd").arg("--version").output().is_ok_and(|found| found.status.success());
    if !has_openjd {
        println!("skipped: there is no openjd on the PATH, so its jobs are not checked (pip install openjd-cli)");
    }
    let taken = campaign.promise("engines take jobs of any name", "jobs");
    let same = campaign.promise("scripts of jobs name the same files", "scripts");
    campaign.each(21, campaign.kills.div_ceil(6), |_, random| {
        let folder = tempfile::tempdir()?;
        scene::write(folder.path())?;
        let name = name(random) + ".ron";
        fs::copy(folder.path().join("scene.ron"), folder.path().join(&name))?;
        script(campaign, &same, folder.path(), &name)?;
        if has_openjd { template(campaign, &taken, folder.path(), &name) } else { Ok(()) }
    })?;
    Ok(if has_openjd { vec![taken, same] } else { vec![same] })
}

fn name(random: &mut Random) -> String {
    let mut name = String::new();
    let pieces = 1 + random.below(8);
    while name.is_empty() || (name.len() < LONGEST && name.chars().count() < pieces) {
        name += *random.pick::<&str>(&PIECES);
    }
    name
}

fn job(campaign: &Campaign, folder: &Path, engine: &str, name: &str) -> Command {
    let mut command = campaign.program(folder);
    command.args([
        "farm",
        engine,
        "--device",
        "cpu",
        "--seed",
        "5",
        "-o=out/####.png",
        "--program",
        "echo",
        "--",
        name,
    ]);
    command
}

/// Checks that the official Open Job Description program accepts a template.
fn template(campaign: &Campaign, promise: &Promise, folder: &Path, name: &str) -> anyhow::Result<()> {
    let ended = Running::start(&mut job(campaign, folder, "openjd", name), Limits::default())?
        .wait(campaign.bounds.patience())?;
    let mut fault = campaign.bounds.fault(&ended).or(refusal(&ended));
    if fault.is_none() {
        fs::write(folder.join("job.yaml"), &ended.stdout)?;
        let mut check = Command::new("openjd");
        check.args(["check", "job.yaml"]).current_dir(folder);
        let checked = Running::start(&mut check, Limits::default())?.wait(Duration::from_secs(60))?;
        fault = (checked.end != End::Code(0))
            .then(|| format!("is not taken: {}", String::from_utf8_lossy(&checked.stdout)));
    }
    promise.tried(fault, &ended, Some(folder))
}

/// Checks that a script passes the scene's name to the program unchanged.
fn script(campaign: &Campaign, promise: &Promise, folder: &Path, name: &str) -> anyhow::Result<()> {
    let ended = Running::start(&mut job(campaign, folder, "slurm", name), Limits::default())?
        .wait(campaign.bounds.patience())?;
    let mut fault = campaign.bounds.fault(&ended).or(refusal(&ended));
    if fault.is_none() {
        fs::write(folder.join("job.sh"), &ended.stdout)?;
        let mut bash = Command::new("bash");
        bash.arg("job.sh").current_dir(folder).env("SLURM_JOB_ID", "1").env("SLURM_ARRAY_TASK_ID", "0");
        let told = Running::start(&mut bash, Limits::default())?.wait(Duration::from_secs(60))?;
        let path = if name.starts_with('-') { format!("./{name}") } else { name.to_owned() };
        let expected = format!("render {path} --samples");
        fault = (!told.stdout.starts_with(expected.as_bytes())).then(|| "another file is named".to_owned());
    }
    promise.tried(fault, &ended, Some(folder))
}

fn refusal(ended: &crate::linux::process::Ended) -> Option<String> {
    (ended.end != End::Code(0)).then(|| format!("is refused: {}", ended.stderr.trim()))
}
