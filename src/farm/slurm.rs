//! Slurm jobs: a script that is an array job and submits itself.

use super::{Flag, Job, JobError, KEPT, NOISY, NOISY_FLAGS, ranges, template::fill, text};
use throng_base::quoting::quote;

/// Separates commands in a block of the script.
const NEXT_COMMAND: &str = "\n    ";
/// Submits the script, of which each task renders a chunk.
const SUBMIT: &str = r#"sbatch "$0""#;
/// Submits the script twice, for the tasks and for the last job, which depends on them.
const SUBMIT_BOTH: [&str; 2] =
    [r#"array=$(sbatch --parsable "$0")"#, r#"sbatch --array=0 --dependency="afterok:$array" "$0" join"#];

pub fn script(job: &Job) -> Result<String, JobError> {
    let chunks: Vec<String> = job.tasks().map(|frames| quote(&ranges(frames))).collect();
    let output = format!("--output {}", quote(&job.output));
    let frames = format!("--frames {}", quote(&ranges(&job.frames)));
    let mut last = Vec::new();
    let mut traced = output.clone();
    if let Some(reach) = job.denoised {
        let noisy =
            quote(&job.output.rsplit_once('/').map_or(NOISY.to_owned(), |(folder, _)| format!("{folder}/{NOISY}")));
        traced = format!("--output {noisy} {}", NOISY_FLAGS.join(" "));
        let program = quote(&job.program);
        last.push(format!("{program} denoise {noisy} {output} {frames} --denoise-frames {reach} --quiet || exit"));
    }
    if !job.joined.is_empty() {
        let kept = job.denoised.map(|_| format!(" {KEPT}")).unwrap_or_default();
        last.push(format!("render {output} {frames}{}{kept}", words(&job.joined)?));
    }
    let (submit, join) = if last.is_empty() {
        (SUBMIT.to_owned(), String::new())
    } else {
        (SUBMIT_BOTH.join(NEXT_COMMAND), fill(include_str!("slurm/join.sh"), &[("commands", &last.join(NEXT_COMMAND))]))
    };
    Ok(fill(
        include_str!("slurm/job.sh"),
        &[
            ("name", &quote(&job.name.replace(|c: char| c.is_whitespace() || c.is_control(), "_"))),
            ("last", &chunks.len().saturating_sub(1)),
            ("minutes", &job.timeout.div_ceil(60)),
            ("submit", &submit),
            ("program", &quote(&job.program)),
            ("scene", &quote(&job.scene)),
            ("samples", &job.samples),
            ("device", &quote(&job.device)),
            ("flags", &words(&job.flags)?),
            ("join", &join),
            ("chunks", &chunks.join(" ")),
            ("traced", &traced),
        ],
    ))
}

/// Flags as quoted command-line arguments, each after a space.
fn words(flags: &[Flag]) -> Result<String, JobError> {
    let word = |flag: &Flag| -> Result<String, JobError> {
        Ok(match flag {
            Flag::Word(word) => format!(" {}", quote(text(word)?)),
            Flag::Path { flag, path, .. } => format!(" {}", quote(&format!("{flag}={}", text(path)?))),
        })
    };
    flags.iter().map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::{super::job, *};
    use std::process::Command;

    /// Whether bash can parse a script.
    fn is_bash(script: &str) -> bool {
        Command::new("bash").args(["-n", "-c", script]).status().is_ok_and(|status| status.success())
    }

    #[test]
    fn the_array_has_a_task_for_each_chunk() {
        let text = job().slurm().unwrap();
        assert!(text.contains("#SBATCH --array=0-2\n"), "{text}");
        assert!(text.contains("frames=(1-10 11-20 21-24)\n"), "{text}");
        assert!(text.contains(r#" '--set=camera.fov="it'\''s"'"#), "{text}");
        assert!(!text.contains("afterok") && is_bash(&text), "{text}");
    }

    #[test]
    fn a_video_is_made_after_all_tasks() {
        let text = Job { joined: vec![Flag::Word("--video=town 1.mp4".into())], ..job() }.slurm().unwrap();
        assert!(text.contains("render --output 'out/####.png' --frames 1-24 '--video=town 1.mp4'"), "{text}");
        assert!(text.contains("--dependency=\"afterok:$array\"") && is_bash(&text), "{text}");
    }

    #[test]
    fn frames_are_denoised_after_all_tasks() {
        let text = Job { denoised: Some(4), ..job() }.slurm().unwrap();
        assert!(text.contains("render --output 'out/noisy/####.exr' --layers=albedo,normal,motion,variance"), "{text}");
        let denoise = "throng denoise 'out/noisy/####.exr' --output 'out/####.png' --frames 1-24 --denoise-frames 4";
        assert!(text.contains(denoise) && text.contains("afterok") && is_bash(&text), "{text}");
    }
}
