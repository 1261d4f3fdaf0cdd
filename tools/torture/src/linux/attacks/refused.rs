//! Attack: contradictory requests must be refused before anything is written. Examples are outputs that coincide with each other or with an
//! input, contradictory flags, and models that refer to files outside the allowed folders.

use crate::linux::{
    campaign::Campaign,
    files::{Files, read_files},
    process::End,
    promise::{Promise, copy_files},
    scene,
};
use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

/// Command lines that must be refused, and texts that the error must contain.
const CLASHES: [(&str, &[&str]); 24] = [
    ("render scene.ron -f 1 -o a.png --sheet a.png", &["a.png"]),
    ("render scene.ron -f 1 -o a.png --sheet ./a.png", &["a.png"]),
    ("render scene.ron -f 1 -o a.png --sheet side/../a.png", &["a.png"]),
    ("render scene.ron -f 1 -o paint.png", &["paint.png"]),
    ("render scene.ron -f 1 -o link.png", &["link.png", "paint.png"]),
    ("render scene.ron -f 1 -o hard.png", &["hard.png", "paint.png"]),
    ("render scene.ron -f 1 -o side/../paint.png", &["paint.png"]),
    ("render scene.ron --sheet paint.png", &["paint.png"]),
    ("render scene.ron -f 1 -o a.webp --video a.webp", &["a.webp"]),
    ("render scene.ron --video a.webp --sheet a.webp", &["a.webp"]),
    ("render scene.ron -f 1-2 -o ####.png --sheet 0002.png", &["0002.png"]),
    ("render house.obj -f 1 -o letter.png", &["letter.png"]),
    ("render house.obj -f 1 -o a.png --environment a.png", &["a.png"]),
    ("render worm.gltf -f 1 -o pano.png --environment pano.png", &["pano.png"]),
    ("trace scene.ron few.ray --hits few.ray", &["few.ray"]),
    ("trace scene.ron few.ray --hits ./side/../few.ray", &["few.ray"]),
    ("trace scene.ron few.ray --hits scene.ron", &["scene.ron"]),
    ("trace scene.ron few.ray --hits hills.obj", &["hills.obj"]),
    ("trace scene.ron few.ray --hits a.json --report a.json", &["a.json"]),
    ("diff paint.png other.png --map paint.png", &["paint.png"]),
    ("diff paint.png other.png --map link.png", &["link.png", "paint.png"]),
    ("render scene.ron --video a.webp --color-depth 16", &[]),
    ("render scene.ron -o ####.exr --video a.gif", &[]),
    ("render scene.ron -o ####.jpg --video a.webp --color-depth 16", &[]),
];

/// Models with references to files outside: file name and content.
const OUTSIDE: [(&str, &str); 6] = [
    ("x.obj", "mtllib ../outside.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl a\nf 1 2 3\n"),
    ("x.obj", "mtllib ROOT/outside.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl a\nf 1 2 3\n"),
    ("x.mtl", "newmtl a\nmap_Kd ../outside.png\n"),
    ("x.mtl", "newmtl a\nmap_Kd ROOT/outside.png\n"),
    ("x.mtl", "newmtl a\nmap_Kd out/outside.png\n"),
    ("x.mtl", "newmtl a\nmap_Ke ../../../../../../../../../etc/passwd\n"),
];
const MODEL: &str = "mtllib x.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl a\nf 1 2 3\n";

/// Settings for frames. Frames rendered with one must not be kept by a run with another.
const SETTINGS: [&str; 10] = [
    "",
    "--size 48x27",
    "--samples 9",
    "--seed 3",
    "--integrator normal",
    "--exposure 1",
    "--filter box",
    "--shutter 0.5",
    "--bounces 0",
    "--set materials.red.color=(0,1,0)",
];

pub fn attack(campaign: &Campaign) -> anyhow::Result<Vec<Promise>> {
    let clashes = campaign.promise("nothing is written over an input or another output", "command lines");
    let outside = campaign.promise("models stay within their folder", "models");
    let mixed = campaign.promise("frames of other settings are not kept", "pairs of settings");
    let stock = tempfile::tempdir()?;
    fill(campaign, stock.path())?;
    let counts = [CLASHES.len(), OUTSIDE.len(), SETTINGS.len() * SETTINGS.len()];
    campaign.each_of(6, counts.iter().sum(), |number, _| {
        let folder = tempfile::tempdir()?;
        if number < counts[0] {
            copy_all(stock.path(), folder.path())?;
            return clash(campaign, &clashes, folder.path(), CLASHES[number]);
        }
        let number = number - counts[0];
        if number < counts[1] {
            return look_outside(campaign, &outside, folder.path(), OUTSIDE[number]);
        }
        let number = number - counts[1];
        let (first, second) = (number / SETTINGS.len(), number % SETTINGS.len());
        mix(campaign, &mixed, folder.path(), [SETTINGS[first], SETTINGS[second]])
    })?;
    Ok(vec![clashes, outside, mixed])
}

fn fill(campaign: &Campaign, stock: &Path) -> anyhow::Result<()> {
    copy_files(&campaign.repository.join("tests/golden/scenes"), stock)?;
    scene::write(stock)?;
    fs::write(stock.join("few.ray"), scene::rays(1000))?;
    for name in ["a.png", "pano.png"] {
        fs::write(stock.join(name), scene::picture(image::ImageFormat::Png, 4))?;
    }
    fs::create_dir(stock.join("side"))?;
    Ok(())
}

/// Copies the files and adds a symbolic and a hard link to a texture.
fn copy_all(stock: &Path, folder: &Path) -> anyhow::Result<()> {
    copy_files(stock, folder)?;
    symlink("paint.png", folder.join("link.png"))?;
    Ok(fs::hard_link(folder.join("paint.png"), folder.join("hard.png"))?)
}

fn clash(campaign: &Campaign, promise: &Promise, folder: &Path, (line, names): (&str, &[&str])) -> anyhow::Result<()> {
    let before = read_files(folder)?;
    let ended = campaign.run(folder, line)?;
    let is_refused = matches!(ended.end, End::Code(1 | 2)) && ended.stderr.contains("throng: error: ");
    let unnamed = names.iter().find(|name| !ended.stderr.contains(*name));
    let fault = match () {
        () if read_files(folder)? != before => Some("files are changed".to_owned()),
        () if !is_refused => Some("is not refused".to_owned()),
        () => campaign.bounds.fault(&ended).or(unnamed.map(|name| format!("{name} is not named"))),
    };
    // Each line counts as a separate fault.
    let fault = fault.map(|fault| format!("{fault} [{line}]"));
    promise.tried(fault, &ended, None)
}

fn look_outside(
    campaign: &Campaign,
    promise: &Promise,
    folder: &Path,
    (name, text): (&str, &str),
) -> anyhow::Result<()> {
    let model = folder.join("model");
    fs::create_dir(&model)?;
    fs::write(folder.join("outside.png"), scene::picture(image::ImageFormat::Png, 3))?;
    fs::write(folder.join("outside.mtl"), "newmtl a\nKd 1 0 0\n")?;
    symlink("..", model.join("out"))?;
    fs::write(model.join("x.obj"), MODEL)?;
    fs::write(model.join(name), text.replace("ROOT", &folder.display().to_string()))?;
    let ended = campaign.run(&model, "check x.obj --json --environment 0.5,0.5,0.5")?;
    let told = String::from_utf8_lossy(&ended.stdout).contains("--allow-dir") || ended.stderr.contains("--allow-dir");
    let fault = campaign.bounds.fault(&ended);
    let fault = fault.or((!told).then(|| format!("looks outside, and does not speak of --allow-dir [{name}: {text}]")));
    promise.tried(fault, &ended, Some(folder))
}

/// Checks that existing frames with the first settings are not mixed with frames of the second.
fn mix(campaign: &Campaign, promise: &Promise, folder: &Path, [first, second]: [&str; 2]) -> anyhow::Result<()> {
    scene::write(folder)?;
    let render = |out: &str, settings: &str, frames: &str| {
        let line = format!("render scene.ron -q --skip-existing -o {out}/ -f {frames} {settings}");
        campaign.run(folder, &line)
    };
    render("out", first, "2")?;
    render("expected", second, "1-3")?;
    let ended = render("out", second, "1-3")?;
    let frames = |of: &str| -> anyhow::Result<Files> { Ok(read_files(&folder.join(PathBuf::from(of)))?) };
    let fault = campaign.bounds.fault(&ended).or(match ended.end {
        End::Code(0) if frames("out")? != frames("expected")? => {
            Some(format!("a frame of other settings is kept [{first}] [{second}]"))
        }
        _ => None,
    });
    promise.tried(fault, &ended, None)
}
