//! Attack: paths that are not valid UTF-8. Everything that can be read or written may have such a name.

use crate::linux::{
    campaign::Campaign,
    files::{Files, read_files},
    process::{End, Limits, Running},
    promise::Promise,
    scene,
};
use std::{
    ffi::{OsStr, OsString},
    fs,
    os::unix::ffi::OsStrExt,
};

/// Commands with input files. `@` stands for a byte that is invalid in UTF-8. The outputs below write a file with that byte in its path.
const INPUTS: [&str; 7] = [
    "check @.ron",
    "render @.ron -q -f 1 -o a.png",
    "check @.obj",
    "check hills.obj --allow-dir @",
    "trace scene.ron @.ray",
    "diff @.png other.png -q --limit 1",
    "render hills.obj --environment @.png -q -f 1 -o a.png",
];
const OUTPUTS: [&str; 10] = [
    "render scene.ron -q -f 1 -o @.png",
    "render scene.ron -q -f 1-2 -o @/####.png",
    "render scene.ron -q -f 1 -o a.png --cache @",
    "render scene.ron -q -f 1 -o @.png --checkpoint",
    "render scene.ron -q --video @.webp",
    "render scene.ron -q --sheet @.png",
    "trace scene.ron few.ray --hits @.hit",
    "trace scene.ron few.ray --report @.json",
    "diff paint.png other.png -q --limit 1 --map @.png",
    "bench scene.ron --repeat 1 --dump @",
];

pub fn attack(campaign: &Campaign) -> anyhow::Result<Vec<Promise>> {
    let promise = campaign.promise("names need not be text", "names");
    let count = INPUTS.len() + OUTPUTS.len();
    campaign.each_of(10, count, |number, _| match number.checked_sub(INPUTS.len()) {
        None => attempt(campaign, &promise, INPUTS[number], false),
        Some(number) => attempt(campaign, &promise, OUTPUTS[number], true),
    })?;
    Ok(vec![promise])
}

fn attempt(campaign: &Campaign, promise: &Promise, line: &str, is_output: bool) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    scene::write(folder)?;
    fs::write(folder.join("few.ray"), scene::rays(100))?;
    if !is_output || line.contains("@.ron") {
        for (name, from) in
            [("@.ron", "scene.ron"), ("@.obj", "hills.obj"), ("@.ray", "few.ray"), ("@.png", "paint.png")]
        {
            fs::copy(folder.join(from), folder.join(named(name)))?;
        }
        fs::create_dir(folder.join(named("@")))?;
    }
    let before = read_files(folder)?;
    let mut command = campaign.program(folder);
    command.args(line.split(' ').map(named));
    let ended = Running::start(&mut command, Limits::default())?.wait(campaign.bounds.patience())?;
    let made = |files: &Files| files.keys().filter(|name| name.as_os_str().as_bytes().contains(&0xff)).count();
    let fault = match ended.end {
        End::Code(0) if is_output && made(&read_files(folder)?) <= made(&before) => {
            Some("is written elsewhere".to_owned())
        }
        End::Code(0) => None,
        end => Some(format!("{end:?}: {}", ended.stderr.trim())),
    };
    promise.tried(fault.map(|fault| format!("{line}: {fault}")), &ended, None)
}

fn named(text: &str) -> OsString {
    let bytes = text.bytes().map(|byte| if byte == b'@' { 0xff } else { byte });
    OsStr::from_bytes(&bytes.collect::<Vec<u8>>()).to_owned()
}
