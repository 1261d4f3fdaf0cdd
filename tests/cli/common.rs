//! A folder with a scene, and functions that run `throng` in it.

use crate::process::{self, Process, wait_until};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};
use tempfile::TempDir;

/// More frames than any machine renders during a test.
pub const ENDLESS: u32 = 100_000;

/// A temporary folder with a `scene.ron`.
pub struct Place {
    dir: TempDir,
}

/// Exit code and output of a finished run.
pub struct Run {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Place {
    /// Creates the folder with a small scene of spinning spheres that has `frames` frames.
    pub fn new(frames: u32) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("scene.ron"), scene(frames)).unwrap();
        Self { dir }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The command `throng` with `args`, to be run in this folder.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = process::command(env!("CARGO_BIN_EXE_throng"));
        command.args(args).current_dir(self.dir.path());
        command.env_remove("RUST_BACKTRACE").env_remove("THRONG_CACHE");
        command
    }

    pub fn run(&self, args: &[&str]) -> Run {
        Run::of(&mut self.command(args))
    }

    /// Runs a command, which must succeed.
    pub fn ok(&self, args: &[&str]) -> Run {
        let run = self.run(args);
        assert_eq!(run.code, 0, "{args:?}: {}", run.stderr);
        run
    }

    /// Runs a command, which must end with this exit code and one error message that contains `text`.
    #[track_caller]
    pub fn fails(&self, args: &[&str], code: i32, text: &str) -> Run {
        let run = self.run(args);
        assert_eq!(run.code, code, "{args:?}: {}", run.stderr);
        run.assert_one_error(text);
        run
    }

    /// Starts a render of `ENDLESS` frames and waits for its first one.
    pub fn start_endless(&self, more: &[&str]) -> Process {
        let mut args = vec!["render", "scene.ron", "-o", "out/"];
        args.extend(more);
        let mut process = Process::start(&mut self.command(&args));
        wait_until("the first frame", || {
            let ended = process.has_ended();
            assert!(ended.is_none(), "ended early: {ended:?}");
            !self.frames("out").is_empty()
        });
        process
    }

    /// The decoded PNG files of a folder, by name. All must be complete.
    pub fn frames(&self, folder: &str) -> BTreeMap<String, Vec<u8>> {
        let mut frames = BTreeMap::new();
        for name in self.names(folder) {
            if name.ends_with(".png") {
                let path = self.path(folder).join(&name);
                frames.insert(name, decode(&path));
            }
        }
        frames
    }

    /// All names in a folder, sorted; empty if the folder does not exist.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).into_iter().flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub fn assert_no_parts(&self, folder: &str) {
        let parts: Vec<String> = self.names(folder).into_iter().filter(|name| name.ends_with(".part")).collect();
        assert!(parts.is_empty(), "{parts:?}");
    }
}

/// Decodes a picture to RGB bytes.
pub fn decode(path: &Path) -> Vec<u8> {
    let picture = image::open(path);
    picture.unwrap_or_else(|error| panic!("{}: {error}", path.display())).into_rgb8().into_raw()
}

pub fn scene(frames: u32) -> String {
    format!(
        r#"(
    render: (size: (64, 36), samples: 1, integrator: whitted, frames: {frames}),
    environment: Gradient(zenith: (0.3, 0.5, 1.0), horizon: (1.0, 1.0, 1.0), nadir: (0.2, 0.2, 0.2)),
    materials: {{ "red": Diffuse(color: (0.8, 0.2, 0.2)) }},
    meshes: {{ "ball": Sphere }},
    motions: {{ "spin": (parts: [Spin(axis: (0, 1, 0), period: 2.0)]) }},
    instances: [ Grid(of: "ball", count: (3, 1, 3), spacing: (3, 3, 3), material: "red", motion: "spin") ],
    camera: LookAt(eye: (0, 4, 12), target: (0, 0, 0), fov: 40),
)
"#
    )
}

/// Writes `two.ray` with two rays along -Z. The first hits the sphere at the grid's centre; the second misses everything.
pub fn write_rays(place: &Place) {
    write_rays_to(&place.path("two.ray"));
}

/// As [`write_rays`], to any file.
pub fn write_rays_to(path: &Path) {
    let mut bytes = b"RAY1\0\0\0\0".to_vec();
    bytes.extend(2u64.to_le_bytes());
    for y in [0.0f32, 100.0] {
        let ray = [0.0, y, 20.0, 0.0, 0.0, 0.0, -1.0, f32::INFINITY];
        bytes.extend(ray.iter().flat_map(|value| value.to_le_bytes()));
    }
    fs::write(path, bytes).unwrap();
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let stderr = String::from_utf8(output.stderr).unwrap();
        // Expected messages have paths as on Unix.
        let stderr = if cfg!(windows) { stderr.replace('\\', "/") } else { stderr };
        Self {
            // -1 if the process was killed by a signal.
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr,
        }
    }
}

impl Run {
    /// Runs a command to its end.
    pub fn of(command: &mut Command) -> Self {
        process::output(command).into()
    }

    /// Parses the JSON document on standard output.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {}", self.stdout))
    }

    #[track_caller]
    pub fn assert_one_error(&self, text: &str) {
        let stderr = &self.stderr;
        assert!(stderr.contains(text), "no `{text}` in: {stderr}");
        assert_eq!(stderr.matches("throng: error: ").count(), 1, "{stderr}");
        assert_eq!(stderr.matches("error:").count(), 1, "{stderr}");
        for unwanted in ["panicked", "backtrace", "internal error"] {
            assert!(!stderr.contains(unwanted), "{stderr}");
        }
    }
}
