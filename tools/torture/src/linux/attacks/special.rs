//! Attack: FIFOs, devices, folders and links in place of every input and output. No run may block on an input, all must be interruptible,
//! and only regular files may be replaced.

use crate::linux::{
    campaign::Campaign,
    decode,
    nodes::{self, Kind, Reader},
    process::{End, Ended, Limits, Running},
    promise::{Promise, copy_files},
    scene,
};
use anyhow::{Context, ensure};
use std::{
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// Input files and the commands that read them.
const INPUTS: [(&str, &str); 24] = [
    ("scene.ron", "check scene.ron"),
    ("hills.obj", "check hills.obj"),
    ("worm.gltf", "check worm.gltf"),
    ("worm.glb", "check worm.glb"),
    ("a.scn", "check a.scn"),
    ("hills.obj", "check scene.ron"),
    ("paint.png", "check scene.ron"),
    ("house.mtl", "check house.obj"),
    ("letter.png", "check house.obj"),
    ("studio.hdr", "check house.obj --environment studio.hdr"),
    ("triangle.bin", "check triangle.gltf"),
    ("triangle.bin", "info triangle.gltf --json"),
    ("side", "check house.obj --allow-dir side"),
    ("rays.ray", "trace scene.ron rays.ray"),
    ("paint.png", "diff paint.png other.png -q --limit 1"),
    ("other.png", "diff paint.png other.png -q --limit 1"),
    ("out", "render scene.ron -q -f 1 -o out/####.png --skip-existing"),
    ("out/0001.png", "render scene.ron -q -f 1-2 -o out/####.png --skip-existing"),
    ("out/0001.jpg", "render scene.ron -q -f 1 -o out/####.jpg --skip-existing"),
    ("out/0001.webp", "render scene.ron -q -f 1 -o out/####.webp --skip-existing"),
    ("out/0001.exr", "render scene.ron -q -f 1 -o out/####.exr --skip-existing"),
    ("out/0001.png", "render scene.ron -q -f 1-2 -o out/####.png --skip-existing --video video.webp"),
    ("trees", "render scene.ron -q -f 1 -o a.png --cache trees"),
    ("TREE", "render scene.ron -q -f 1 -o a.png --cache trees"),
];
const OF_INPUTS: [Kind; 8] = [
    Kind::Fifo,
    Kind::LinkToFifo,
    Kind::Null,
    Kind::Zero,
    Kind::Full,
    Kind::Folder,
    Kind::LinkToNothing,
    Kind::LinkToItself,
];

/// Output files and the commands that write them.
const OUTPUTS: [(&str, &str); 16] = [
    ("a.png", "render scene.ron -q -f 1 -o a.png"),
    ("a.jpg", "render scene.ron -q -f 1 -o a.jpg"),
    ("a.webp", "render scene.ron -q -f 1 -o a.webp"),
    ("a.exr", "render scene.ron -q -f 1 -o a.exr --layers depth"),
    ("a", "render scene.ron -q -f 1 -o a"),
    ("0001.png", "render scene.ron -q -f 1 -o ####.png --sheet sheet.png"),
    ("sheet.png", "render scene.ron -q --sheet sheet.png"),
    ("video.webp", "render scene.ron -q --video video.webp"),
    ("video.apng", "render scene.ron -q --video video.apng"),
    ("video.gif", "render scene.ron -q --video video.gif"),
    ("video.mp4", "render scene.ron -q --video video.mp4"),
    ("a.png.film", "render scene.ron -q -f 1 -o a.png --checkpoint"),
    ("a.hit", "trace scene.ron few.ray --hits a.hit"),
    ("a.json", "trace scene.ron few.ray --report a.json"),
    ("map.png", "diff paint.png other.png -q --limit 1 --map map.png"),
    ("dump", "bench scene.ron --repeat 1 --dump dump"),
];
const OF_OUTPUTS: [Kind; 9] = [
    Kind::Fifo,
    Kind::ReadFifo,
    Kind::LinkToFifo,
    Kind::Null,
    Kind::Full,
    Kind::Folder,
    Kind::LinkToFile,
    Kind::LinkToNothing,
    Kind::LinkToItself,
];

/// Time after which a run counts as waiting.
const WORK: Duration = Duration::from_secs(1);

const TRIANGLE: &str = r#"{"asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
    "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
    "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]}],
    "bufferViews": [{"buffer": 0, "byteLength": 36}], "buffers": [{"byteLength": 36, "uri": "triangle.bin"}]}"#;

struct Special {
    /// A folder with all files in their normal state.
    stock: TempDir,
    read: Promise,
    written: Promise,
    kept: Promise,
}

pub fn attack(campaign: &Campaign) -> anyhow::Result<Vec<Promise>> {
    let stock = tempfile::tempdir()?;
    fill(campaign, stock.path())?;
    let special = Special {
        stock,
        read: campaign.promise("special files are refused as inputs", "inputs"),
        written: campaign.promise("special files get what is written to them", "outputs"),
        kept: campaign.promise("nothing is replaced that is no regular file", "special files"),
    };
    let inputs = INPUTS.len() * OF_INPUTS.len();
    let outputs = OUTPUTS.len() * OF_OUTPUTS.len();
    campaign.each_of(5, inputs + outputs, |number, _| match number.checked_sub(inputs) {
        None => special.input(campaign, INPUTS[number % INPUTS.len()], OF_INPUTS[number / INPUTS.len()]),
        Some(n) => special.output(campaign, OUTPUTS[n % OUTPUTS.len()], OF_OUTPUTS[n / OUTPUTS.len()]),
    })?;
    Ok(vec![special.read, special.written, special.kept])
}

fn fill(campaign: &Campaign, stock: &Path) -> anyhow::Result<()> {
    copy_files(&campaign.repository.join("tests/golden/scenes"), stock)?;
    scene::write(stock)?;
    fs::write(stock.join("few.ray"), scene::rays(1000))?;
    fs::write(stock.join("triangle.gltf"), TRIANGLE)?;
    fs::write(stock.join("triangle.bin"), [0; 36])?;
    let line = "render scene.ron -q -f 1 --size 16x9 -o first/ --cache trees";
    let ended = campaign.run(stock, line)?;
    ensure!(ended.end == End::Code(0), "{line}: {}", ended.stderr);
    Ok(())
}

impl Special {
    fn input(&self, campaign: &Campaign, (name, line): (&str, &str), kind: Kind) -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        copy_files(self.stock.path(), folder.path())?;
        let path = match name {
            "TREE" => first_in(&folder.path().join("trees"))?,
            name => folder.path().join(name),
        };
        fs::create_dir_all(path.parent().context("no folder")?)?;
        if !nodes::make(&path, kind)? {
            return Ok(());
        }
        let before = nodes::identity(&path);
        // `render` also writes frames, films and trees, and writing to a FIFO waits for a reader.
        let may_wait = line.starts_with("render") && matches!(kind, Kind::Fifo | Kind::LinkToFifo);
        let (ended, waited) = run(campaign, folder.path(), line, may_wait)?;
        let fault = fault(campaign, &ended, waited);
        self.judge(&self.read, &format!("{kind:?} as {name} [{line}]"), &ended, fault, before == nodes::identity(&path))
    }

    fn output(&self, campaign: &Campaign, (name, line): (&str, &str), kind: Kind) -> anyhow::Result<()> {
        // A path without an extension is accepted only if it is a device.
        let skipped = name == "a" && kind != Kind::Null || name.ends_with(".mp4") && !campaign.ffmpeg;
        let folder = tempfile::tempdir()?;
        copy_files(self.stock.path(), folder.path())?;
        let path = folder.path().join(name);
        if skipped || !nodes::make(&path, kind)? {
            return Ok(());
        }
        let before = nodes::identity(&path);
        let reader = (kind == Kind::ReadFifo).then(|| Reader::open(&path)).transpose()?;
        let may_wait = matches!(kind, Kind::Fifo | Kind::LinkToFifo);
        let (ended, waited) = run(campaign, folder.path(), line, may_wait)?;
        let received = match (reader, kind) {
            (Some(reader), _) => Some(reader.drain()?),
            (_, Kind::LinkToFile | Kind::LinkToNothing) => fs::read(nodes::target(&path)).ok(),
            _ => None,
        };
        let expected = match kind {
            Kind::ReadFifo | Kind::LinkToFile | Kind::LinkToNothing => self.expected(campaign, (name, line))?,
            _ => None,
        };
        let aside = folder.path().join(format!("{name}.png")).exists().then(|| "another file is written".to_owned());
        let fault = fault(campaign, &ended, waited)
            .or(aside)
            .or_else(|| unwritten((name, kind), &ended, waited, received, expected.as_deref()));
        self.judge(
            &self.written,
            &format!("{kind:?} as {name} [{line}]"),
            &ended,
            fault,
            before == nodes::identity(&path),
        )
    }

    /// Content that a regular file would have after the run; None if there is no file.
    fn expected(&self, campaign: &Campaign, (name, line): (&str, &str)) -> anyhow::Result<Option<Vec<u8>>> {
        let folder = tempfile::tempdir()?;
        copy_files(self.stock.path(), folder.path())?;
        campaign.run(folder.path(), line)?;
        Ok(fs::read(folder.path().join(name)).ok())
    }

    fn judge(
        &self,
        promise: &Promise,
        what: &str,
        ended: &Ended,
        fault: Option<String>,
        is_there: bool,
    ) -> anyhow::Result<()> {
        promise.tried(fault.map(|fault| format!("{what}: {fault}")), ended, None)?;
        let replaced = (!is_there).then(|| format!("{what}: is replaced"));
        self.kept.tried(replaced, ended, None)
    }
}

/// Runs a command line. Returns how it ended, and whether it waited and had to be interrupted.
fn run(campaign: &Campaign, folder: &Path, line: &str, may_wait: bool) -> anyhow::Result<(Ended, bool)> {
    let running = Running::start(&mut campaign.command(folder, line), Limits::default())?;
    let start = Instant::now();
    let mut waits = may_wait;
    while waits && start.elapsed() < WORK {
        waits = !running.has_ended();
        thread::sleep(Duration::from_millis(5));
    }
    if waits {
        running.send(libc::SIGTERM);
        thread::sleep(Duration::from_millis(50));
        running.send(libc::SIGTERM);
    }
    Ok((running.wait(campaign.bounds.patience())?, waits))
}

fn fault(campaign: &Campaign, ended: &Ended, waited: bool) -> Option<String> {
    match ended.end {
        End::Signal(libc::SIGTERM) if waited => None,
        End::Stuck if waited => Some("waits, and does not end when it is told to".to_owned()),
        _ => campaign.bounds.fault(ended),
    }
}

/// Describes the fault if output is missing and the run did not report it.
fn unwritten(
    (name, kind): (&str, Kind),
    ended: &Ended,
    waited: bool,
    received: Option<Vec<u8>>,
    expected: Option<&[u8]>,
) -> Option<String> {
    // Outputs that are continued or that consist of several files require regular files.
    let may_refuse = ["dump", "video.mp4", "a.png.film"].contains(&name);
    let failed = matches!(ended.end, End::Code(1 | 2));
    let same = |received: &[u8]| {
        if name.ends_with(".json") {
            decode::fault(Path::new(name), received).is_none()
        } else {
            expected.is_none_or(|expected| expected == received)
        }
    };
    match kind {
        Kind::Full | Kind::LinkToItself if !failed && !may_refuse => Some("succeeds".to_owned()),
        Kind::Null | Kind::ReadFifo | Kind::LinkToFile if failed && !may_refuse => {
            Some(format!("is refused: {}", ended.stderr.trim()))
        }
        Kind::ReadFifo | Kind::LinkToFile | Kind::LinkToNothing if !failed && !waited => {
            let whole = expected.is_none() || received.is_some_and(|bytes| same(&bytes));
            (!whole).then(|| "does not get what is written".to_owned())
        }
        _ => None,
    }
}

fn first_in(folder: &Path) -> anyhow::Result<PathBuf> {
    let first = fs::read_dir(folder)?.next().context("nothing is kept in the cache")?;
    Ok(first?.path())
}
