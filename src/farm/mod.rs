//! Jobs for the engines of render farms. A job renders the frames of a scene in chunks, and then denoises or joins them if requested.
//!
//! docs/farm.md describes the guarantees for tasks.

mod openjd;
mod slurm;
mod template;

pub use openjd::Template;
use std::{ffi::OsString, fmt::Write};

/// A render job: frames of a scene, to be divided among machines.
#[derive(Clone, Debug)]
pub struct Job {
    /// Name of the scene, for display. Characters that an engine does not support are replaced.
    pub name: String,
    /// Path of the program on the machines of the farm.
    pub program: String,
    /// Path of the scene file, as given by the user. It must not look like a flag.
    pub scene: String,
    /// Frame numbers in increasing order, without repeats; at least one.
    pub frames: Vec<u32>,
    /// Maximum number of frames per task. 0 counts as 1.
    pub chunk: u32,
    /// Pattern of the frames' files, for example `frames/####.png`. It must not look like a flag.
    pub output: String,
    pub samples: u32,
    /// The value of `--device`.
    pub device: String,
    /// All other flags of `throng render`, which each task gets.
    pub flags: Vec<Flag>,
    /// Number of neighbouring frames on each side with which frames are denoised in a later step; none if tasks write finished frames.
    pub denoised: Option<u32>,
    /// Flags of the last step, which joins all frames: videos and contact sheets.
    pub joined: Vec<Flag>,
    /// Time limit of a task, in seconds.
    pub timeout: u32,
}

/// A flag of `throng render`.
#[derive(Clone, Debug)]
pub enum Flag {
    /// One argument of the command line.
    Word(OsString),
    /// A flag with a path as its value, for example `--environment`.
    Path { flag: String, path: OsString, role: Role },
}

/// Access to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A file that is read.
    Input,
    /// A file that is written.
    Output,
    /// A folder that is read and written.
    Folder,
}

/// Reason why a job cannot be written.
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
    /// Whether the command line has to be changed, rather than the name of a file.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Braces { .. } | Self::Control { .. })
    }
}

/// Pattern of the frames before denoising, relative to the output folder.
const NOISY: &str = "noisy/####.exr";
/// Flags of the tasks that render frames for later denoising.
const NOISY_FLAGS: [&str; 3] = ["--layers=albedo,normal,motion,variance", "--color-depth=32", "--denoise=off"];
/// Flag of the last step: denoised frames store the settings of their tracing, which differ from the step's settings.
const KEPT: &str = "--mismatched=keep";

impl Job {
    /// The job as a template of Open Job Description, version 2023-09 with task chunking, in YAML.
    ///
    /// # Errors
    /// If a flag or path is not UTF-8, is too long, or has characters that the format does not support.
    pub fn openjd(&self) -> Result<Template, JobError> {
        openjd::template(self)
    }

    /// The job as a Slurm script: an array of tasks, and a job that depends on all of them if frames are denoised or joined at the end.
    ///
    /// # Errors
    /// If a flag or path is not UTF-8.
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

/// Formats frames in increasing order for `--frames` and Open Job Description, for example `1-10,12,20-30:5`.
fn ranges(frames: &[u32]) -> String {
    let mut text = String::new();
    let mut rest = frames;
    while let [first, more @ ..] = rest {
        let step = more.first().map_or(1, |second| second - first);
        let steps = rest.windows(2).take_while(|pair| pair[1] - pair[0] == step).count();
        // A range would be no shorter for two frames with a gap.
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
    use proptest::{collection::btree_set, prelude::*};
    use throng_render::frames::FrameList;

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
