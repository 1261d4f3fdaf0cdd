//! Attack: films of `--checkpoint` rendered in pieces must equal those rendered at once, with any settings.

use crate::linux::{
    campaign::Campaign,
    files::{Files, read_files},
    process::End,
    promise::Promise,
    random::Random,
    scene,
};
use std::path::Path;

/// Values of each setting; each setting may also be omitted.
const SETTINGS: [&[&str]; 14] = [
    &["--integrator path", "--integrator whitted", "--integrator ao", "--integrator normal", "--integrator depth"],
    &["--filter box", "--filter tent", "--filter blackman_harris", "--filter mitchell", "--filter gaussian"],
    &["--filter-width 1.5", "--filter-width 5"],
    &["--noise 0.05", "--noise 0.005"],
    &["--seed 7", "--seed 4294967295"],
    &["--lock-seed"],
    &["--shutter 0.5", "--shutter=-0.5,0.25"],
    &["--aperture-radius 0.3"],
    &["--bounces 0", "--bounces 3"],
    &["--tone-map agx", "--tone-map none"],
    &["--size 31x17", "--size 64x40"],
    &["--clamp-indirect 1"],
    &["--exposure 2", "--white-balance 4000"],
    &["--trees fast", "--single-scatter", "--layering viewer", "--filter-textures off"],
];
const SAMPLES: [u32; 11] = [1, 2, 3, 7, 8, 15, 16, 17, 31, 40, 64];

pub fn attack(campaign: &Campaign) -> anyhow::Result<Vec<Promise>> {
    let promise = campaign.promise("samples in pieces are samples at once", "settings");
    campaign.each(7, campaign.kills.div_ceil(4), |_, random| {
        let folder = tempfile::tempdir()?;
        scene::write(folder.path())?;
        compare(campaign, &promise, folder.path(), random)
    })?;
    Ok(vec![promise])
}

fn compare(campaign: &Campaign, promise: &Promise, folder: &Path, random: &mut Random) -> anyhow::Result<()> {
    let ending = *random.pick(&["png", "png", "exr"]);
    let mut settings = String::new();
    for values in SETTINGS {
        if random.once_in(3) {
            settings += &format!(" {}", random.pick(values));
        }
    }
    let mut samples: Vec<u32> = (0..2 + random.below(3)).map(|_| *random.pick(&SAMPLES)).collect();
    samples.sort_unstable();
    samples.dedup();
    let render = |out: &str, samples: u32| {
        let line =
            format!("render scene.ron -q -f 2 -o {out}/####.{ending} --checkpoint --samples {samples}{settings}");
        campaign.run(folder, &line)
    };
    let last = samples[samples.len() - 1];
    let whole = render("once", last)?;
    let mut fault = campaign.bounds.fault(&whole);
    for number in samples {
        let ended = render("pieces", number)?;
        fault = fault.or(campaign.bounds.fault(&ended));
    }
    let frames = |of: &str| -> anyhow::Result<Files> { Ok(read_files(&folder.join(of)).unwrap_or_default()) };
    let differ = whole.end == End::Code(0) && frames("once")? != frames("pieces")?;
    let fault = fault.or(differ.then(|| format!("other bits [{settings}]")));
    promise.tried(fault, &whole, Some(folder))
}
