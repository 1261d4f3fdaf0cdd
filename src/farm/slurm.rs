//! Slurm: a script that is an array job, and submits itself.

use super::{Flag, Job, JobError, ranges, text};
use crate::quoting::quote;

pub fn script(job: &Job) -> Result<String, JobError> {
    let chunks: Vec<String> = job.tasks().map(|frames| quote(&ranges(frames))).collect();
    let joined = words(&job.joined)?;
    let (submit, join) = match joined.is_empty() {
        true => ("sbatch \"$0\"".to_owned(), String::new()),
        false => (
            "array=$(sbatch --parsable \"$0\")\n    sbatch --array=0 --dependency=\"afterok:$array\" \"$0\" join"
                .to_owned(),
            format!(
                "\nif [ \"${{1-}}\" = join ]; then\n    render --frames {}{joined}\n    exit\nfi\n",
                quote(&ranges(&job.frames))
            ),
        ),
    };
    Ok(format!(
        r#"#!/bin/bash
# Made by `throng farm slurm`. Run it with bash to submit it; what sbatch takes comes from these lines or from SBATCH_* variables.
#SBATCH --job-name={name}
#SBATCH --array=0-{last}
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --time={minutes}
#SBATCH --signal=B:TERM@60
set -u

if [ -z "${{SLURM_JOB_ID-}}" ]; then
    {submit}
    exit
fi

# A task that is told to stop keeps what is finished, and is queued again.
render() {{
    {program} render {scene} --output {output} --samples {samples} --device {device}{flags} \
        --skip-existing --progress none --stop-code 75 "$@" &
    child=$!
    trap 'kill -TERM "$child"' TERM
    # The first wait ends with the signal, the second with the program.
    wait "$child" || wait "$child"
    code=$?
    if [ "$code" = 75 ]; then
        scontrol requeue "$SLURM_JOB_ID"
        exit 0
    fi
    return "$code"
}}
{join}
frames=({chunks})
render --frames "${{frames[$SLURM_ARRAY_TASK_ID]}}"
"#,
        name = quote(&job.name.replace(char::is_whitespace, "_")),
        last = chunks.len().saturating_sub(1),
        minutes = job.timeout.div_ceil(60),
        program = quote(&job.program),
        scene = quote(&job.scene),
        output = quote(&job.output),
        samples = job.samples,
        device = quote(&job.device),
        flags = words(&job.flags)?,
        chunks = chunks.join(" "),
    ))
}

/// Flags as words of a command line, each after a space.
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

    /// Whether bash can read a script.
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
    fn a_film_is_made_after_all_tasks() {
        let text = Job { joined: vec![Flag::Word("--video=town 1.mp4".into())], ..job() }.slurm().unwrap();
        assert!(text.contains("render --frames 1-24 '--video=town 1.mp4'"), "{text}");
        assert!(text.contains("--dependency=\"afterok:$array\"") && is_bash(&text), "{text}");
    }
}
