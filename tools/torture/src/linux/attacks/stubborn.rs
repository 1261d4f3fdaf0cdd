//! Attack: runs with much work, or with output that nobody reads. A first signal must end them soon, and a second one at once.

use crate::linux::{
    campaign::Campaign,
    nodes::{self, Kind},
    process::{End, Limits, Running},
    promise::Promise,
    random::Random,
    scene,
};
use std::{
    fs::{self, File},
    path::Path,
    thread,
    time::{Duration, Instant},
};

const LINES: [&str; 7] = [
    "render scene.ron -q -f 1 -o a.png --size 2000x2000 --samples 1000000",
    "render scene.ron -q -f 1 -o a.exr --size 2000x2000 --samples 1000000 --layers all --checkpoint",
    "render scene.ron -q -f 1 -o a.png --size 600x400 --samples 1000000 --integrator path --write-partial 0.1",
    "render many.ron -q -f 1-100 -o out/ --size 64x36",
    "render scene.ron -q -f 1 -o pipe.png --size 600x400",
    "render scene.ron -q --video pipe.gif --size 600x400",
    "render scene.ron -q -f 1 -o a.png --size 600x400 --sheet pipe.jpg",
];
/// Time limit for ending at once. It is too short to complete any of the work.
const AT_ONCE: Duration = Duration::from_secs(2);

pub fn attack(campaign: &Campaign) -> anyhow::Result<Vec<Promise>> {
    let first = campaign.promise("a first signal ends a stubborn run", "signals");
    let second = campaign.promise("a second signal ends it at once", "signals");
    campaign.each(11, campaign.kills.div_ceil(10), |number, random| {
        let line = LINES[number as usize % LINES.len()];
        // After a first signal, finished output is still written while a reader may take it.
        let twice = line.contains("pipe") || random.once_in(2);
        strike(campaign, if twice { &second } else { &first }, line, twice, random)
    })?;
    Ok(vec![first, second])
}

fn strike(campaign: &Campaign, promise: &Promise, line: &str, twice: bool, random: &mut Random) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    scene::write(folder)?;
    let scene = String::from_utf8_lossy(&scene::FILES[Path::new("scene.ron")]);
    let many = scene.replace("frames: 6", "frames: 100").replace("(4, 1, 4)", "(100, 10, 100)");
    fs::write(folder.join("many.ron"), many)?;
    let mut readers = Vec::new();
    for name in ["pipe.png", "pipe.gif", "pipe.jpg"] {
        nodes::make(&folder.join(name), Kind::Fifo)?;
        // The FIFO is open, but nobody reads from it.
        let both = File::options().read(true).write(true).open(folder.join(name))?;
        readers.push(both);
    }
    let running = Running::start(&mut campaign.command(folder, line), Limits::default())?;
    thread::sleep(Duration::from_micros(random.next() % 1_500_000));
    let signals = [libc::SIGTERM, libc::SIGINT, libc::SIGHUP];
    let had_handlers = running.catches(libc::SIGTERM);
    let one = random.below(signals.len());
    running.send(signals[one]);
    if twice {
        thread::sleep(Duration::from_micros(random.next() % 100_000));
        // The second signal differs from the first, because two equal signals may be delivered as one.
        let other = (one + 1 + random.below(signals.len() - 1)) % signals.len();
        running.send(signals[other]);
    }
    let sent = Instant::now();
    let ended = running.wait(campaign.bounds.patience())?;
    let fault = match ended.end {
        End::Stuck => Some("does not end".to_owned()),
        _ if twice && sent.elapsed() > AT_ONCE => Some(format!("takes {} s", sent.elapsed().as_secs())),
        End::Code(0 | 75) => None,
        End::Signal(signal) if signals.contains(&signal) && !had_handlers => None,
        end => Some(format!("{end:?}: {}", ended.stderr.trim())),
    };
    promise.tried(fault.map(|fault| format!("{fault} [{line}]")), &ended, None)
}
