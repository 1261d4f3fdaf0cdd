//! Attack: damaged files of every format that the program reads, with correct checksums. Each run must end with a result or a one-line
//! error, within time and memory limits.

mod built;
mod bytes;
mod containers;
mod corpus;
mod roles;
mod text;

use crate::linux::{
    campaign::Campaign,
    process::{Ended, Limits},
    promise::{Promise, copy_files},
    random::Random,
    verdict::Bounds,
};
use corpus::{Corpus, Sample};
use roles::{Format, Role};
use std::{fs, path::Path};

/// Memory limit in bytes. Scenes may request more instances than fit.
const MEMORY: u64 = 1 << 30;
/// Hard memory limit, to protect the machine; more than any file may take.
const MOST_MEMORY: u64 = 4 << 30;
/// Size above which files may take more memory.
const LARGEST: usize = 1_000_000;

pub fn attack(campaign: &Campaign) -> anyhow::Result<Vec<Promise>> {
    let corpus = Corpus::make(campaign)?;
    let promise = campaign.promise("damaged files end in one line", "mutations");
    let own_copy = || {
        let folder = tempfile::tempdir()?;
        copy_files(corpus.folder.path(), folder.path())?;
        Ok(folder)
    };
    campaign.each_with(9, campaign.mutations, own_copy, |folder, _, random| {
        let (role, sample) = corpus.pick(random);
        let mut bytes = sample.mutated(role.format, random);
        bytes.truncate(LARGEST.max(sample.bytes.len()));
        attempt(campaign, &promise, folder.path(), (role, sample), &bytes, random)
    })?;
    Ok(vec![promise])
}

impl Sample {
    /// A copy of the sample, damaged one to three times.
    fn mutated(&self, format: Format, random: &mut Random) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        for _ in 0..1 + random.below(3) {
            bytes = match format {
                Format::Text => text::mutated(&bytes, random),
                Format::Bytes => None,
                Format::Glb => containers::glb(&bytes, random),
                Format::Png => containers::png(&bytes, random),
                Format::WebP => containers::webp(&bytes, random),
                Format::Usdz => containers::usdz(&bytes, random),
                Format::Film => containers::film(&bytes, random),
                Format::Tree => containers::tree(&bytes, random),
            }
            .unwrap_or_else(|| bytes::mutated(&bytes, random));
        }
        bytes
    }
}

/// Runs the commands that read such a file. Each refusal makes further commands less likely.
fn attempt(
    campaign: &Campaign,
    promise: &Promise,
    folder: &Path,
    (role, sample): (&Role, &Sample),
    bytes: &[u8],
    random: &mut Random,
) -> anyhow::Result<()> {
    let file = folder.join(&role.file);
    let is_scene = role.file.ends_with(".ron");
    let bounds = Bounds { may_run_out: is_scene, ..campaign.bounds };
    let limits = Limits { memory: Some(if is_scene { MEMORY } else { MOST_MEMORY }), ..Limits::default() };
    for line in &role.lines {
        fs::write(&file, bytes)?;
        let mut ended = campaign.run_with(folder, line, limits)?;
        let fault = bounds.fault(&ended);
        let is_done = ended.stderr.is_empty() && !asks_for_much(&ended);
        let is_last = !is_done && !random.once_in(8) || Some(line) == role.lines.last();
        if fault.is_some() || is_last {
            // The program may have overwritten the file.
            fs::write(&file, bytes)?;
            ended.line += &format!("    # from {}", sample.name);
            let fault = fault.map(|fault| format!("{}: {fault}", role.name));
            return promise.tried(fault, &ended, Some(&file));
        }
    }
    Ok(())
}

/// Whether `check` reports so many instances that rendering them takes long.
fn asks_for_much(ended: &Ended) -> bool {
    const MANY: u64 = 20_000;
    let told = String::from_utf8_lossy(&ended.stdout);
    let count = told.split_once("instances: ").and_then(|(_, rest)| rest.split(',').next()?.parse().ok());
    count.is_some_and(|count: u64| count > MANY)
}
