//! Attack: flags with unreasonable values. Each run must be refused in one line, succeed, or be interruptible.

use crate::linux::{
    campaign::Campaign,
    process::{End, Limits, Running},
    promise::Promise,
    random::Random,
    scene,
    verdict::Bounds,
};
use anyhow::ensure;
use std::{
    ffi::{OsStr, OsString},
    fs,
    os::unix::ffi::OsStrExt,
    thread,
    time::{Duration, Instant},
};

/// Command lines that do little without the tested flag.
const LINES: [&str; 6] = [
    "render scene.ron -q -f 1 --size 16x9 --samples 1",
    "trace scene.ron few.ray",
    "bench scene.ron --repeat 1",
    "info scene.ron",
    "check scene.ron",
    "diff paint.png other.png",
];

/// Values, separated by `|`; the first is a space.
const VALUES: &str = "\
    | |0|-0|-1|1|3|0.5|1e400|-1e400|1e38|1e-45|nan|NaN|inf|-inf|2147483648|4294967295|4294967296|18446744073709551615|\
    18446744073709551616|99999999999999999999999999|0x10|1k|10%|1 000|１|1,2,3|1e30,1e30,1e30|nan,0,0|\
    ,|0x0|65535x65535|1x4294967296|16x9x3|1-4294967295|5-1|1-10:0|a=b|####|..|a\nb|é|-";
/// Length of a long value.
const LONG: usize = 100_000;
/// Scene values for `--set`.
const KEYS: [&str; 8] = [
    "render.frames",
    "render.size",
    "render.samples",
    "render.fps",
    "instances.1.count",
    "camera.fov",
    "materials.red.color",
    "meshes",
];
/// Time after which a run is interrupted: a flag may have requested a lot of work.
const WORK: Duration = Duration::from_secs(2);
/// Memory limit of each run, in bytes.
const MEMORY: u64 = 4 << 30;

struct Flag {
    line: &'static str,
    name: String,
}

pub fn attack(campaign: &Campaign) -> anyhow::Result<Vec<Promise>> {
    let promise = campaign.promise("hostile flags end in one line", "command lines");
    let flags = flags(campaign)?;
    let values = values();
    let single = flags.len() * values.len();
    let pairs = campaign.mutations as usize / 40;
    campaign.each_of(8, single + pairs, |number, random| {
        let mut args: Vec<OsString> = Vec::new();
        let line = if number < single {
            let (flag, value) = (number / values.len(), number % values.len());
            args.push(joined(&flags[flag].name, &values[value]));
            flags[flag].line
        } else {
            let line = random.pick(&flags).line;
            let of_line: Vec<&Flag> = flags.iter().filter(|flag| flag.line == line).collect();
            for _ in 0..2 + random.below(3) {
                args.push(joined(&random.pick(&of_line).name, random.pick::<OsString>(&values)));
            }
            line
        };
        attempt(campaign, &promise, line, &args, random)
    })?;
    Ok(vec![promise])
}

/// All flags with a value in the program's help.
fn flags(campaign: &Campaign) -> anyhow::Result<Vec<Flag>> {
    let mut flags = Vec::new();
    for line in LINES {
        let subcommand = line.split(' ').next().unwrap_or_default();
        let help = campaign.run(&std::env::temp_dir(), &format!("{subcommand} --help"))?;
        let help = String::from_utf8_lossy(&help.stdout).into_owned();
        let named = help.lines().filter_map(|line| line.trim_start().strip_prefix('-')?.split_once(" <"));
        for (names, _) in named {
            let name = format!("-{}", names.rsplit(", ").next().unwrap_or(names));
            flags.push(Flag { line, name: name.replace("---", "--") });
        }
    }
    // `bench` is slow and shares these flags with other subcommands.
    let shared: Vec<String> = flags.iter().filter(|f| f.line.starts_with("info")).map(|f| f.name.clone()).collect();
    flags.retain(|flag| !flag.line.starts_with("bench") || !shared.contains(&flag.name));
    ensure!(flags.len() > 100, "the help lists {} flags only", flags.len());
    Ok(flags)
}

fn values() -> Vec<OsString> {
    let mut values: Vec<OsString> = VALUES.split('|').map(Into::into).collect();
    values.push("9".repeat(LONG).into());
    values.push("a/".repeat(300).into());
    values.push(OsStr::from_bytes(b"\xff\xfe.png").to_owned());
    values.push(OsStr::from_bytes(b"\xff.webp").to_owned());
    values
}

fn joined(name: &str, value: &OsStr) -> OsString {
    let mut arg = OsString::from(name);
    arg.push("=");
    arg.push(value);
    arg
}

fn attempt(
    campaign: &Campaign,
    promise: &Promise,
    line: &str,
    args: &[OsString],
    random: &mut Random,
) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    // Relative paths with `..` stay inside this temporary folder.
    let folder = folder.path().join("a/b");
    fs::create_dir_all(&folder)?;
    scene::write(&folder)?;
    fs::write(folder.join("few.ray"), scene::rays(100))?;
    let mut command = campaign.command(&folder, line);
    for arg in args {
        match arg.as_bytes().strip_prefix(b"--set=") {
            Some(value) => command.arg(joined(&format!("--set={}", random.pick(&KEYS)), OsStr::from_bytes(value))),
            None => command.arg(arg),
        };
    }
    let limits = Limits { memory: Some(MEMORY), ..Limits::default() };
    let running = Running::start(&mut command, limits)?;
    let start = Instant::now();
    while !running.has_ended() && start.elapsed() < WORK {
        thread::sleep(Duration::from_millis(1));
    }
    let is_long = !running.has_ended();
    if is_long {
        running.send(libc::SIGTERM);
    }
    let ended = running.wait(campaign.bounds.patience())?;
    let told_to_end = is_long && ended.end == End::Signal(libc::SIGTERM);
    let fault = (!told_to_end).then(|| Bounds::of_any_work().fault(&ended)).flatten();
    promise.tried(fault, &ended, None)
}
