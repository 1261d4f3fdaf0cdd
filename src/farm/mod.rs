//! Jobs for the engines of render farms: the frames of a scene in chunks, and what is made of all of them at the end.
//!
//! docs/farm.md tells on what a task may rely.

mod openjd;
mod slurm;

pub use openjd::Template;
use std::{ffi::OsString, fmt::Write};

/// Frames of a scene that machines share.
#[derive(Clone, Debug)]
pub struct Job {
    /// The scene's name, for people. Jobs leave out what engines do not take.
    pub name: String,
    /// The program, as machines of the farm find it.
    pub program: String,
    /// The scene file, as it was given. It does not look like a flag.
    pub scene: String,
    /// The frames, each once and in increasing order; at least one.
    pub frames: Vec<u32>,
    /// Greatest number of frames of a task.
    pub chunk: u32,
    /// Files of frames, a pattern such as `frames/####.png`. It does not look like a flag.
    pub output: String,
    pub samples: u32,
    /// The devices of `--device`.
    pub device: String,
    /// All other flags of `throng render`, for every task.
    pub flags: Vec<Flag>,
    /// Number of frames before and after a frame that it is denoised with, when all have been traced; none: tasks make finished frames.
    pub denoised: Option<u32>,
    /// Flags of what is made of all frames at the end: videos and contact sheets.
    pub joined: Vec<Flag>,
    /// Time that a task may take, in seconds.
    pub timeout: u32,
}

/// A flag of `throng render`.
#[derive(Clone, Debug)]
pub enum Flag {
    /// A word of the command line.
    Word(OsString),
    /// A flag such as `--environment` with a path.
    Path { flag: String, path: OsString, role: Role },
}

/// The use of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A file that is read.
    Input,
    /// A file that is written.
    Output,
    /// A folder that is read and written.
    Folder,
}

/// Why a job cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    #[error("{} is not UTF-8, and jobs are text: rename it", .text.display())]
    NotText { text: OsString },
    #[error("`{text}` has {{{{, which Open Job Description takes for a parameter: write a space between the braces")]
    Braces { text: String },
    #[error(
        "`{}` has a character that the arguments of Open Job Description may not have: leave out tabs and other control characters",
        .text.escape_debug()
    )]
    Control { text: String },
    #[error(
        "{what} has {length} characters, and Open Job Description takes at most {most}: {fix}", most = openjd::MOST_CHARACTERS
    )]
    TooLong { what: &'static str, length: usize, fix: &'static str },
}

impl JobError {
    /// Whether the command line is wrong, rather than the name of a file.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Braces { .. } | Self::Control { .. })
    }
}

/// Files of frames before they are denoised, in the folder of the others.
const NOISY: &str = "noisy/####.exr";
/// Flags of tasks that make them.
const NOISY_FLAGS: [&str; 3] = ["--layers=albedo,normal,motion,variance", "--color-depth=32", "--denoise=off"];
/// The flag of the last step, as denoised frames tell the settings that they were traced with.
const KEPT: &str = "--mismatched=keep";

impl Job {
    /// The job as a template of Open Job Description, 2023-09 with chunks of tasks, in YAML.
    ///
    /// # Errors
    /// If a flag cannot be in one.
    pub fn openjd(&self) -> Result<Template, JobError> {
        openjd::template(self)
    }

    /// The job as a script of Slurm: an array of tasks, and a job that depends on all of them.
    ///
    /// # Errors
    /// If a flag is not text.
    pub fn slurm(&self) -> Result<String, JobError> {
        slurm::script(self)
    }

    fn tasks(&self) -> impl Iterator<Item = &[u32]> {
        self.frames.chunks(self.chunk.max(1) as usize)
    }
}

fn text(text: &OsString) -> Result<&str, JobError> {
    text.to_str().ok_or_else(|| JobError::NotText { text: text.clone() })
}

/// Frames in increasing order as `--frames` and Open Job Description write them: `1-10,12,20-30:5`.
fn ranges(frames: &[u32]) -> String {
    let mut text = String::new();
    let mut rest = frames;
    while let [first, more @ ..] = rest {
        let step = more.first().map_or(1, |second| second - first);
        let steps = rest.windows(2).take_while(|pair| pair[1] - pair[0] == step).count();
        // Two frames with a gap are no shorter as a range.
        let count = if steps >= 2 || step == 1 { steps + 1 } else { 1 };
        let last = rest[count - 1];
        let comma = if text.is_empty() { "" } else { "," };
        let written = match (count, step) {
            (1, _) => write!(text, "{comma}{first}"),
            (_, 1) => write!(text, "{comma}{first}-{last}"),
            _ => write!(text, "{comma}{first}-{last}:{step}"),
        };
        written.expect("strings take all text");
        rest = &rest[count..];
    }
    text
}

#[cfg(test)]
pub(crate) fn job() -> Job {
    Job {
        name: "town".into(),
        program: "throng".into(),
        scene: "scenes/town.ron".into(),
        frames: (1..=24).collect(),
        chunk: 10,
        output: "out/####.png".into(),
        samples: 16,
        device: "auto".into(),
        flags: ["--size=960x540", "--set=camera.fov=\"it's\""].map(|word| Flag::Word(word.into())).into(),
        denoised: None,
        joined: Vec::new(),
        timeout: 3600,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::frames::FrameList;
    use proptest::{collection::btree_set, prelude::*};

    #[test]
    fn ranges_are_short() {
        assert_eq!(ranges(&[7]), "7");
        assert_eq!(ranges(&[1, 2]), "1-2");
        assert_eq!(ranges(&[1, 3]), "1,3");
        assert_eq!(ranges(&[1, 2, 3, 5, 7, 9, 20]), "1-3,5-9:2,20");
    }

    proptest! {
        #[test]
        fn ranges_are_what_frames_takes(frames in btree_set(1u32..60, 1..30)) {
            let frames: Vec<u32> = frames.into_iter().collect();
            let list: FrameList = ranges(&frames).parse().unwrap();
            prop_assert_eq!(list.resolve(1..=60).unwrap(), frames);
        }
    }
}
