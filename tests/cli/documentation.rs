//! Runs every command of README and docs as a shell would, in a folder with the files of a fresh clone and user files with the names that
//! the pages use. Only the picture size and large numbers of samples and frames are changed.

use crate::{
    common::{Run, scene, write_rays_to},
    process,
};
use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// Prefixes of commands that are not run, with the reason.
const NOT_RUN: [(&str, &str); 22] = [
    ("cargo test --workspace", "runs this test"),
    ("cargo install", "builds the program from its repository"),
    ("cargo run --release --example", "builds and measures for minutes"),
    ("RAYON_NUM_THREADS=1 cargo run --release -p", "builds and measures for minutes"),
    ("just ", "builds packages"),
    ("throng view scenes/", "serves until it is stopped: tests/cli/viewer"),
    ("throng bench scenes/million.ron", "measures for a minute: tests/cli/reports.rs"),
    ("throng bench scenes/chain_mail.ron", "measures for a minute: tests/cli/reports.rs"),
    ("throng bench SCENE", "measures for a minute: tests/cli/reports.rs"),
    ("throng bench --device cpu --threads 1|16", "stands for two commands"),
    ("throng trace scene.scn", "takes the files of a bench: tests/cli/reports.rs"),
    ("throng info SCENE --matte-id ID", "takes an id of a file: tests/cli/pictures/mattes.rs"),
    ("throng render SCENE --device cpu,cuda --compare", "needs a GPU"),
    ("throng render model.glb --denoise oidn", "needs Open Image Denoise"),
    ("openjd run", "needs openjd: tests/cli/runs/farm.rs"),
    ("deadline bundle submit", "needs AWS Deadline Cloud"),
    ("bash job.sh", "needs Slurm"),
    ("SBATCH_PARTITION=", "needs Slurm"),
    ("parallel ", "needs several machines"),
    ("for y in", "makes 4 gigapixels: tests/cli/runs/merge.rs"),
    ("throng merge tiles/", "joins 4 gigapixels: tests/cli/runs/merge.rs"),
    ("throng COMMAND --help", "stands for all commands: tests/cli/help.rs"),
];

/// Placeholders and their values in this test.
const PLACEHOLDERS: [(&str, &str); 3] = [("SCENE", "scene.ron"), ("RAYS.ray", "two.ray"), ("NAME", "first")];

/// A file of cameras.
const TRANSFORMS: &str = r#"{"camera_angle_x": 0.7, "w": 32, "h": 18,
    "frames": [{"file_path": "a.png", "transform_matrix": [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 9], [0, 0, 0, 1]]}]}"#;

/// A document with a material.
const WOOD: &str = r#"<materialx version="1.39">
    <standard_surface name="s" type="surfaceshader"><input name="base_color" type="color3" value="0.5, 0.3, 0.1" /></standard_surface>
    <surfacematerial name="Oak" type="material"><input name="surfaceshader" type="surfaceshader" nodename="s" /></surfacematerial>
</materialx>"#;

/// A stage with two cameras and a variant.
const STAGE: &str = r#"#usda 1.0
(
    startTimeCode = 1
    endTimeCode = 24
)
def Xform "World"
{
    def Sphere "Tree" (
        variants = { string season = "summer" }
        prepend variantSets = "season"
    )
    {
        variantSet "season" = {
            "summer" { color3f[] primvars:displayColor = [(0.1, 0.5, 0.1)] }
            "autumn" { color3f[] primvars:displayColor = [(0.7, 0.2, 0.1)] }
        }
    }
}
def Scope "Cameras"
{
    def Camera "wide" { double3 xformOp:translate = (0, 0, 20)
        uniform token[] xformOpOrder = ["xformOp:translate"] }
    def Camera "close" { double3 xformOp:translate = (0, 0, 9)
        uniform token[] xformOpOrder = ["xformOp:translate"] }
}
"#;

/// A scene of pbrt.
const PBRT: &str = r#"LookAt 0 0 5 0 0 0 0 1 0 Camera "perspective" WorldBegin LightSource "infinite" Shape "sphere""#;

/// Frames of commands whose output later commands use.
const FRAMES: [(&str, &str); 1] = [("--layers albedo,normal,motion,variance", "40-60")];

/// Scenes that take seconds to load, with replacements that make them small.
const LARGE: [(&str, &[(&str, &str)]); 4] = [
    ("rush.ron", &[("count: 350000", "count: 350"), ("count: 42000", "count: 42"), ("cells: 520", "cells: 64")]),
    (
        "meadow.ron",
        &[
            ("count: 420000", "count: 4200"),
            ("density: 1.25", "density: 0.001"),
            ("density: 0.5", "density: 0.001"),
            ("density: 0.6", "density: 0.001"),
            ("cells: 512", "cells: 64"),
        ],
    ),
    (
        "million.ron",
        &[
            ("surface(count: 344000", "surface(count: 344"),
            ("surface(count: 800", "surface(count: 2"),
            ("count: 1000,", "count: 2,"),
            ("count: 2300,", "count: 3,"),
            ("count: 700,", "count: 2,"),
        ],
    ),
    (
        "day_and_night.ron",
        &[
            ("cells: 600", "cells: 60"),
            ("cells: 300", "cells: 30"),
            ("poisson(distance: 4.6", "poisson(distance: 46"),
            ("poisson(distance: 11", "poisson(distance: 110"),
        ],
    ),
];

/// A command and its position in the documentation.
#[derive(Clone, Debug)]
struct Written {
    page: PathBuf,
    line: usize,
    text: String,
    /// Whether it is part of a sentence, where commands may be incomplete.
    in_text: bool,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_command_of_the_documentation_runs_as_it_is_pasted() {
    let pages = pages();
    let commands: Vec<Vec<Written>> = pages.iter().map(|page| commands(page)).collect();
    assert_reasons_are_needed(commands.iter().flatten());
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(page) = commands.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let failed = failures_of(page);
                    failures.lock().unwrap().extend(failed);
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

/// README and all pages of docs, except the generated page of flags.
fn pages() -> Vec<PathBuf> {
    let markdown = |folder: &str| {
        let entries = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect::<Vec<_>>()
    };
    let docs = [markdown("docs"), markdown("docs/scene")].concat();
    let mut pages: Vec<PathBuf> = docs.into_iter().filter(|path| !path.ends_with("flags.md")).collect();
    pages.push(root().join("README.md"));
    pages.sort();
    pages
}

/// The commands of a page: lines of shell blocks, and code spans that begin with the program's name.
fn commands(page: &Path) -> Vec<Written> {
    let text = fs::read_to_string(page).unwrap();
    let mut found: Vec<Written> = Vec::new();
    let (mut fence, mut open) = (None, false);
    for (number, line) in (1..).zip(text.lines()) {
        let written =
            |text: &str, in_text| Written { page: page.to_owned(), line: number, text: text.to_owned(), in_text };
        if let Some(language) = line.trim_start().strip_prefix("```") {
            fence = if fence.is_some() { None } else { Some(language.to_owned()) };
            continue;
        }
        match &fence {
            Some(language) if language == "sh" => {
                let is_empty = line.trim().is_empty() || line.starts_with('#');
                match found.last_mut().filter(|_| open) {
                    Some(last) => last.text += &format!("\n{line}"),
                    None if is_empty => {}
                    None => found.push(written(line, false)),
                }
                let last = found.last().map_or("", |last| &last.text);
                open = last.ends_with('\\') || last.starts_with("for ") && !last.ends_with("\ndone");
            }
            Some(_) => {}
            None => {
                match line.strip_prefix("    ").filter(|line| line.contains("throng ") || line.contains("cargo ")) {
                    Some(line) if !line.starts_with(' ') && !line.starts_with('|') => found.push(written(line, false)),
                    _ => {
                        let quoted = line.split('`').skip(1).step_by(2);
                        found.extend(quoted.filter(|text| text.starts_with("throng ")).map(|text| written(text, true)));
                    }
                }
            }
        }
    }
    found
}

fn reason(command: &Written) -> Option<&'static (&'static str, &'static str)> {
    NOT_RUN.iter().find(|(start, _)| command.text.starts_with(start))
}

fn assert_reasons_are_needed<'a>(commands: impl Iterator<Item = &'a Written>) {
    let used: BTreeSet<&str> = commands.filter_map(reason).map(|(start, _)| *start).collect();
    let unused: Vec<&str> = NOT_RUN.iter().map(|(start, _)| *start).filter(|start| !used.contains(start)).collect();
    assert!(unused.is_empty(), "no command begins like these of NOT_RUN any more: {unused:?}");
}

/// Runs the commands of a page in order. Returns descriptions of the failures.
fn failures_of(commands: &[Written]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    if !commands.is_empty() {
        furnish(folder.path());
    }
    let has_ffmpeg = process::command("ffmpeg").arg("-version").output().is_ok();
    let is_video = |text: &str| [".mp4", ".mov", ".webm", ".mkv"].iter().any(|ending| text.contains(ending));
    let mut failures = Vec::new();
    for command in commands.iter().filter(|command| reason(command).is_none()) {
        if !has_ffmpeg && is_video(&command.text) {
            println!("skipped: `{}`, for there is no ffmpeg", command.text);
            continue;
        }
        if cfg!(not(feature = "usd")) && command.text.contains(".usd") {
            println!("skipped: `{}`, for this build has no USD", command.text);
            continue;
        }
        let line = small(command);
        let mut bash = process::command("bash");
        let program = Path::new(env!("CARGO_BIN_EXE_throng")).parent().unwrap();
        let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
        bash.args(["-c", &line]).current_dir(folder.path()).env("PATH", path).env_remove("THRONG_CACHE");
        let run = Run::of(&mut bash);
        // Differing pictures are not a failure of `throng diff`.
        let is_done =
            run.code == 0 || run.code == 1 && line.starts_with("throng diff") && !run.stderr.contains("error");
        if !is_done {
            let place = command.page.strip_prefix(root()).unwrap().display();
            failures.push(format!(
                "{place}:{}: `{}`, run as `{line}`, ended with {}: {}\nMend it, or tell in NOT_RUN why it is not run.",
                command.line, command.text, run.code, run.stderr
            ));
        }
    }
    failures
}

/// The command in the form in which it is run.
fn small(command: &Written) -> String {
    let line = command.text.replace("cargo run --release -- ", "throng ");
    let line = line.split_once(" # ").map_or(&*line, |(kept, _)| kept).trim_end();
    let words: Vec<&str> = line.split_whitespace().collect();
    if let Some(mention) = command.in_text.then(|| mention(&words)).flatten() {
        return mention;
    }
    let line = line.split(' ').map(meant).collect::<Vec<_>>().join(" ");
    match words[..] {
        // A file in place of a subcommand is rendered.
        ["throng", word, ..] if word == "render" || word.contains(['.', '/']) => with_small_pictures(line),
        _ => line,
    }
}

/// Replaces a placeholder.
fn meant(word: &str) -> &str {
    PLACEHOLDERS.iter().find(|(placeholder, _)| *placeholder == word).map_or(word, |(_, meant)| meant)
}

/// For a sentence that names a command, perhaps with flags, but without files: a command that checks that the flags exist.
fn mention(words: &[&str]) -> Option<String> {
    let (name, flags) = match words {
        ["throng", "farm", _, flags @ ..] => ("farm", flags),
        ["throng", name, flags @ ..] if *name != "man" => (*name, flags),
        _ => return None,
    };
    let is_mention = flags.iter().all(|word| word.starts_with('-'));
    let flags = flags.iter().map(|flag| flag.split('=').next().unwrap_or_default());
    let tests = flags.map(|flag| format!(" && grep -q -e '{flag}' <<< \"$help\""));
    is_mention.then(|| format!("help=$(throng {name} --help){}", tests.collect::<String>()))
}

/// The command with small pictures, few frames and fewer samples.
fn with_small_pictures(mut line: String) -> String {
    let is_given = |line: &str, flag| line.split_whitespace().any(|word| word.split('=').next() == Some(flag));
    let mut more = " --device cpu".to_owned();
    if !is_given(&line, "-f") && !is_given(&line, "--frames") {
        let frames = FRAMES.iter().find(|(part, _)| line.contains(part));
        more += &format!(" --frames {}", frames.map_or("1", |(_, frames)| frames));
    }
    if !is_given(&line, "--size") {
        more += " --size 32x18";
    }
    if let Some(size) = value_of(&line, "--size") {
        line = line.replace(&format!("--size {size}"), "--size 32x18");
    }
    let samples = value_of(&line, "--samples").filter(|count| count.parse::<u32>().is_ok_and(|count| count > 64));
    if let Some(count) = samples {
        line = line.replace(&format!("--samples {count}"), "--samples 64");
    }
    line + &more
}

fn value_of(line: &str, flag: &str) -> Option<String> {
    let mut words = line.split_whitespace().skip_while(|word| *word != flag);
    words.nth(1).map(str::to_owned)
}

/// Creates the files of a fresh clone and the user files.
fn furnish(folder: &Path) {
    symlink(root().join("assets"), folder.join("assets")).unwrap();
    fs::create_dir(folder.join("scenes")).unwrap();
    for entry in fs::read_dir(root().join("scenes")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap();
        match LARGE.iter().find(|(large, _)| name == *large) {
            Some((_, changes)) => {
                let mut text = fs::read_to_string(&path).unwrap();
                for (large, small) in *changes {
                    assert!(text.contains(large), "{name:?} has no `{large}`, which LARGE makes small");
                    text = text.replace(large, small);
                }
                fs::write(folder.join("scenes").join(name), text).unwrap();
            }
            None => symlink(&path, folder.join("scenes").join(name)).unwrap(),
        }
    }
    fs::write(folder.join("scene.ron"), scene(1)).unwrap();
    for name in ["scan.obj", "mine.obj"] {
        fs::write(folder.join(name), "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n")
            .unwrap();
    }
    fs::copy(root().join("assets/bull.glb"), folder.join("model.glb")).unwrap();
    fs::write(folder.join("wood.mtlx"), WOOD).unwrap();
    fs::write(folder.join("scene.glb"), animated()).unwrap();
    fs::write(folder.join("stage.usda"), STAGE).unwrap();
    fs::write(folder.join("scene.pbrt"), PBRT).unwrap();
    fs::write(folder.join("transforms.json"), TRANSFORMS).unwrap();
    fs::create_dir(folder.join("colmap")).unwrap();
    fs::write(folder.join("colmap/cameras.txt"), "1 PINHOLE 32 18 30 30 16 9\n").unwrap();
    fs::write(folder.join("colmap/images.txt"), "1 1 0 0 0 0 0 9 1 a.png\n\n").unwrap();
    write_rays_to(&folder.join("two.ray"));
    let picture = |name: &str, shade: u8| {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        image::RgbImage::from_pixel(32, 18, image::Rgb([shade, 90, 60])).save(path).unwrap();
    };
    for (name, shade) in [
        ("a.png", 80),
        ("b.png", 90),
        ("beach.jpg", 120),
        ("truth/0001.png", 80),
        ("truth/0002.png", 80),
        ("noisy/0001.png", 80),
        ("noisy/0002.png", 90),
    ] {
        picture(name, shade);
    }
}

/// A binary glTF file with a triangle and a camera, both animated by a clip.
fn animated() -> Vec<u8> {
    let numbers: [f32; 17] = [0., 0., 0., 1., 0., 0., 0., 1., 0., 0., 1., 0., 0., 5., 1., 0., 5.];
    let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    let uri: String = bytes.iter().map(|byte| format!("%{byte:02x}")).collect();
    let file = serde_json::json!({
        "asset": { "version": "2.0" },
        "scene": 0,
        "scenes": [{ "nodes": [0, 1] }],
        "nodes": [{ "mesh": 0 }, { "camera": 0, "translation": [0, 0, 5] }],
        "cameras": [{ "type": "perspective", "perspective": { "yfov": 0.7, "znear": 0.1 } }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 } }] }],
        "buffers": [{ "byteLength": bytes.len(), "uri": format!("data:,{uri}") }],
        "bufferViews": [{ "buffer": 0, "byteLength": bytes.len() }],
        "accessors": [
            { "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0] },
            { "bufferView": 0, "byteOffset": 36, "componentType": 5126, "count": 2, "type": "SCALAR", "min": [0], "max": [1] },
            { "bufferView": 0, "byteOffset": 44, "componentType": 5126, "count": 2, "type": "VEC3" },
        ],
        "animations": [{
            "channels": [{ "sampler": 0, "target": { "node": 1, "path": "translation" } }],
            "samplers": [{ "input": 1, "output": 2 }],
        }],
    });
    let json = file.to_string();
    let mut glb = b"glTF\x02\0\0\0".to_vec();
    glb.extend((json.len() as u32 + 20).to_le_bytes());
    glb.extend((json.len() as u32).to_le_bytes());
    glb.extend(b"JSON");
    glb.extend(json.into_bytes());
    glb
}
