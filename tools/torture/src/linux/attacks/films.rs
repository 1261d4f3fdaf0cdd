//! Attack: films are joined into an output that may be one of them under another name. No input may be replaced.

use crate::linux::{
    campaign::Campaign,
    files::{Files, read_files},
    process::End,
    promise::{Promise, copy_files},
    random::Random,
    scene,
};
use anyhow::ensure;
use std::{fs, os::unix::fs::symlink, path::Path};
use tempfile::TempDir;

const PARTS: [(&str, &str); 3] = [("a.film", "1-3"), ("b.film", "4-7"), ("c.film", "8")];

pub fn attack(campaign: &Campaign) -> anyhow::Result<Vec<Promise>> {
    let promise = campaign.promise("films that are joined stay what they are", "merges");
    let stock = stock(campaign)?;
    campaign.each(20, campaign.kills.div_ceil(3), |_, random| attempt(campaign, &promise, stock.path(), random))?;
    Ok(vec![promise])
}

/// Films of parts of a picture, with alternative names of their files.
fn stock(campaign: &Campaign) -> anyhow::Result<TempDir> {
    let stock = tempfile::tempdir()?;
    scene::write(stock.path())?;
    for (name, samples) in PARTS {
        let line = format!("render scene.ron -q -f 1 --samples 8 --sample-range {samples} -o {name}");
        let ended = campaign.run(stock.path(), &line)?;
        ensure!(ended.end == End::Code(0), "{line}: {}", ended.stderr);
    }
    Ok(stock)
}

fn attempt(campaign: &Campaign, promise: &Promise, stock: &Path, random: &mut Random) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    copy_files(stock, folder)?;
    fs::create_dir(folder.join("sub"))?;
    fs::hard_link(folder.join("a.film"), folder.join("sub/hard.exr"))?;
    symlink("../b.film", folder.join("sub/link.png"))?;
    symlink("sub", folder.join("same"))?;
    let inputs = [
        "a.film",
        "./a.film",
        "sub/hard.exr",
        "same/hard.exr",
        "b.film",
        "sub/link.png",
        "sub/../b.film",
        "c.film",
        "scene.ron",
    ];
    let outputs = ["new.film", "new.png", "new.exr", "sub/new.film"];
    let count = 1 + random.below(3);
    let films: Vec<&str> = (0..count).map(|_| *random.pick(&inputs)).collect();
    let output = if random.once_in(2) { *random.pick(&inputs) } else { *random.pick(&outputs) };
    let before = read_files(folder)?;
    let ended = campaign.run(folder, &format!("merge {} -o {output} -q", films.join(" ")))?;
    let after = read_files(folder)?;
    let kept = |files: &Files| before.iter().all(|(name, content)| files.get(name) == Some(content));
    // A file that is not an input of the run may be replaced.
    let is_input = |name: &str| films.iter().any(|film| letter(film) == letter(name));
    let fault = campaign.bounds.fault(&ended).or_else(|| match ended.end {
        _ if kept(&after) => None,
        End::Code(0) if inputs.contains(&output) && !is_input(output) => None,
        _ => Some("a file is replaced that was read".to_owned()),
    });
    let told = ended.stderr.contains("scene.ron") && ended.stderr.contains("delete");
    promise.tried(fault.or_else(|| told.then(|| "a scene is to be deleted".to_owned())), &ended, Some(folder))
}

/// The film to which a name refers.
fn letter(name: &str) -> &str {
    match name {
        "a.film" | "./a.film" | "sub/hard.exr" | "same/hard.exr" => "a",
        "b.film" | "sub/link.png" | "sub/../b.film" => "b",
        other => other,
    }
}
