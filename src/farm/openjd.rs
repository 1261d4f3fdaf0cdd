//! Templates of Open Job Description: <https://github.com/OpenJobDescription/openjd-specifications>, schema 2023-09 with the extension
//! TASK_CHUNKING (RFC 0001).

use super::{Flag, Job, JobError, KEPT, NOISY, NOISY_FLAGS, Role, ranges, template::fill, text};
use std::path::{Component, Path};

/// Maximum number of characters in a parameter's value.
pub const MOST_CHARACTERS: usize = 1024;
/// Maximum number of characters in a job's name.
const MOST_OF_NAME: usize = 128;

/// A template, and the parameters that have to be submitted with it.
#[derive(Debug)]
pub struct Template {
    /// The template in YAML.
    pub text: String,
    /// Name and value of each path outside the template's folder, in order.
    pub elsewhere: Vec<(String, String)>,
    /// Name of the last step, which depends on all others.
    pub last_step: &'static str,
}

pub fn template(job: &Job) -> Result<Template, JobError> {
    let (folder, pattern) = match job.output.rsplit_once('/') {
        Some(("", name)) => ("/", name),
        // The folder of a drive, unlike `C:` alone, is the same for all processes.
        Some((drive, name)) if cfg!(windows) && drive.ends_with(':') => (&job.output[..drive.len() + 1], name),
        Some((folder, name)) => (folder, name),
        None => (".", &job.output[..]),
    };
    let mut paths = Paths::default();
    let scene_default = paths.default_of("Scene", &job.scene)?;
    let folder_default = paths.default_of("OutputFolder", folder)?;
    let flags = words(&job.flags, &mut paths)?;
    let joined = words(&job.joined, &mut paths)?;
    let mut text = fill(
        include_str!("openjd/job.yaml"),
        &[
            ("name", &quoted(&label(&job.name))),
            ("scene_default", &scene_default),
            ("frames", &quoted(fitting("the list of frames", &ranges(&job.frames), "write several jobs")?)),
            ("folder_default", &folder_default),
            ("pattern", &quoted(fitting("the name of the frames' files", pattern, SHORTER)?)),
            ("samples", &job.samples),
            ("device", &quoted(fitting("the list of devices", &job.device, "name fewer")?)),
            ("chunk", &job.chunk),
            ("program", &quoted(fitting("the program's path", &job.program, SHORTER)?)),
        ],
    );
    text += &paths.definitions;
    let last_step = add_steps(&mut text, job, &flags, joined);
    Ok(Template { text, elsewhere: paths.elsewhere, last_step })
}

/// Adds all steps to a template, and returns the name of the last one. `flags` are those of every task, `joined` those of the last step
/// alone.
fn add_steps(text: &mut String, job: &Job, flags: &[String], joined: Vec<String>) -> &'static str {
    const OUTPUT: &str = "{{Param.OutputFolder}}/{{Param.OutputName}}";
    let noisy = format!("{{{{Param.OutputFolder}}}}/{NOISY}");
    let render = |frames: &str, output: &str, more: &[String]| {
        let script = include_str!("openjd/render_script.yaml");
        let script = fill(script, &[("timeout", &job.timeout), ("frames", &frames), ("output", &output)]);
        flags.iter().chain(more).fold(script, |script, flag| format!("{script}        - {}\n", quoted(flag)))
    };
    *text += include_str!("openjd/render_step.yaml");
    *text += &match job.denoised {
        None => render("{{Task.Param.Frame}}", OUTPUT, &[]),
        Some(_) => render("{{Task.Param.Frame}}", &noisy, &NOISY_FLAGS.map(String::from)),
    };
    let mut last = "Render";
    if let Some(reach) = job.denoised {
        let step = include_str!("openjd/denoise_step.yaml");
        *text += &fill(step, &[("timeout", &job.timeout), ("noisy", &noisy), ("reach", &reach)]);
        last = "Denoise";
    }
    if !joined.is_empty() {
        *text += &fill(include_str!("openjd/join_step.yaml"), &[("last", &last)]);
        let kept = job.denoised.map(|_| KEPT.to_owned());
        *text += &render("{{Param.Frames}}", OUTPUT, &joined.into_iter().chain(kept).collect::<Vec<_>>());
        last = "Join";
    }
    last
}

/// Advice for a path that is too long.
const SHORTER: &str = "choose a shorter path";

/// The value of a parameter, or an error if it is too long.
fn fitting<'a>(what: &'static str, value: &'a str, fix: &'static str) -> Result<&'a str, JobError> {
    match value.chars().count() {
        length if length > MOST_CHARACTERS => Err(JobError::TooLong { what, length, fix }),
        _ => Ok(value),
    }
}

/// A name that is valid as a job's name: without control characters and without braces that start a parameter, and cut to the maximum
/// length.
fn label(name: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let label: String = plain.replace("{{", "(").replace("}}", ")").chars().take(MOST_OF_NAME).collect();
    if label.is_empty() { "throng".to_owned() } else { label }
}

/// Path parameters of a template.
#[derive(Default)]
struct Paths {
    /// Definitions of the parameters for flags.
    definitions: String,
    count: usize,
    /// Name and value of each parameter without a default.
    elsewhere: Vec<(String, String)>,
}

impl Paths {
    /// The line with a parameter's default. Defaults must not leave the template's folder; such a path is submitted with the job instead.
    fn default_of(&mut self, name: &str, path: &str) -> Result<String, JobError> {
        let stays = |part: Component| matches!(part, Component::Normal(_) | Component::CurDir);
        let value = quoted(fitting("a path", path, SHORTER)?);
        if Path::new(path).components().all(stays) {
            return Ok(format!("default: {value}"));
        }
        self.elsewhere.push((name.to_owned(), path.to_owned()));
        Ok(format!("# No default, as it is not in the folder of this file. It was {value}"))
    }

    /// Adds the parameter for a flag's path, and returns the parameter's name.
    fn add(&mut self, flag: &str, path: &str, role: Role) -> Result<String, JobError> {
        self.count += 1;
        let name = format!("{}{}", camel_case(flag), self.count);
        let (kind, flow) = match role {
            Role::Input => ("FILE", "IN"),
            Role::Output => ("FILE", "OUT"),
            Role::Folder => ("DIRECTORY", "INOUT"),
        };
        let default = self.default_of(&name, path)?;
        let definition = include_str!("openjd/path.yaml");
        self.definitions +=
            &fill(definition, &[("name", &name), ("kind", &kind), ("flow", &flow), ("default", &default)]);
        Ok(name)
    }
}

/// Flags as command-line arguments. Paths become parameters, since tasks run in their own folders and engines map paths.
fn words(flags: &[Flag], paths: &mut Paths) -> Result<Vec<String>, JobError> {
    let mut word = |flag: &Flag| match flag {
        Flag::Word(word) => literal(text(word)?),
        Flag::Path { flag, path, role } => Ok(format!("{flag}={{{{Param.{}}}}}", paths.add(flag, text(path)?, *role)?)),
    };
    flags.iter().map(&mut word).collect()
}

/// An argument without parameters. The format cannot escape braces that start a parameter, nor most control characters.
fn literal(word: &str) -> Result<String, JobError> {
    let text = word.to_owned();
    match word {
        _ if word.contains("{{") => Err(JobError::Braces { text }),
        _ if word.contains(|c: char| c.is_control() && !"\r\n".contains(c)) => Err(JobError::Control { text }),
        _ => Ok(text),
    }
}

/// Converts `--video-codec` to `VideoCodec`.
fn camel_case(flag: &str) -> String {
    let words = flag.split('-').filter(|word| !word.is_empty());
    words.map(|word| word[..1].to_ascii_uppercase() + &word[1..]).collect()
}

/// A double-quoted YAML string. Characters that YAML does not allow, or treats as line ends, are escaped.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out += "\\n",
            _ if c.is_control() || "\u{2028}\u{2029}\u{feff}\u{fffe}\u{ffff}".contains(c) => {
                out += &format!("\\u{:04x}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out + "\""
}

#[cfg(test)]
mod tests {
    use super::{super::job, *};

    #[test]
    fn a_task_renders_a_chunk_and_the_last_step_joins_them() {
        let video = Flag::Path { flag: "--video".into(), path: "town.mp4".into(), role: Role::Output };
        let joined = Job { joined: vec![video], ..job() };
        let text = joined.openjd().unwrap().text;
        for line in [
            "  default: \"scenes/town.ron\"\n",
            "  default: \"1-24\"\n",
            "        - \"{{Task.Param.Frame}}\"\n",
            "        - \"--set=camera.fov=\\\"it's\\\"\"\n",
            "  dependencies: [{dependsOn: Render}]\n",
            "- name: Video1\n  type: PATH\n  objectType: FILE\n  dataFlow: OUT\n  default: \"town.mp4\"\n",
            "        - \"--video={{Param.Video1}}\"\n",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        assert!(!job().openjd().unwrap().text.contains("Join"));
    }

    #[test]
    fn frames_are_denoised_after_all_tasks_and_before_they_are_joined() {
        let joined = vec![Flag::Word("--sheet=a.png".into())];
        let text = Job { denoised: Some(3), joined, ..job() }.openjd().unwrap().text;
        for line in [
            "        - \"{{Param.OutputFolder}}/noisy/####.exr\"\n",
            "        - \"--layers=albedo,normal,motion,variance\"\n",
            "- name: Denoise\n  dependencies: [{dependsOn: Render}]\n",
            "        - \"--denoise-frames\"\n        - \"3\"\n",
            "- name: Join\n  dependencies: [{dependsOn: Denoise}]\n",
            "        - \"--mismatched=keep\"\n",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        assert!(!job().openjd().unwrap().text.contains("enoise"));
    }

    #[test]
    fn paths_that_lead_elsewhere_have_no_default() {
        let video = Flag::Path { flag: "--video".into(), path: "../town.mp4".into(), role: Role::Output };
        let template = Job { scene: "/home/a/town.ron".into(), joined: vec![video], ..job() }.openjd().unwrap();
        let Template { text, elsewhere, last_step } = template;
        assert!(!text.contains("default: \"/home") && !text.contains("default: \"../"), "{text}");
        let expected = [("Scene", "/home/a/town.ron"), ("Video1", "../town.mp4")];
        assert_eq!(elsewhere, expected.map(|(name, path)| (name.to_owned(), path.to_owned())));
        assert_eq!(last_step, "Join");
        assert!(job().openjd().unwrap().elsewhere.is_empty());
    }

    #[test]
    fn names_are_written_so_that_yaml_reads_them_again() {
        assert_eq!(quoted("a\"b\\c\nd\u{7f}\u{85}\u{2028}ä😀"), r#""a\"b\\c\nd\u007f\u0085\u2028ä😀""#);
        let text = Job { name: "{{x}}\n\u{85}".into(), scene: "nl\n{{x}}.ron".into(), ..job() }.openjd().unwrap().text;
        assert!(text.contains("\nname: \"(x)  \"\n") && text.contains(r#"  default: "nl\n{{x}}.ron""#), "{text}");
        let text = Job { name: "l".repeat(140), ..job() }.openjd().unwrap().text;
        assert!(text.contains(&format!("\nname: \"{}\"\n", "l".repeat(128))), "{text}");
    }

    #[test]
    fn what_an_engine_does_not_take_is_refused() {
        let long = Job { scene: "l/".repeat(600), ..job() }.openjd().unwrap_err().to_string();
        assert!(long.contains("a path has 1200 characters") && long.contains("at most 1024"), "{long}");
        let frames = Job { frames: (1..2000).map(|frame| frame * frame).collect(), ..job() }.openjd().unwrap_err();
        assert!(frames.to_string().contains("the list of frames"), "{frames}");
        let tab = Job { flags: vec![Flag::Word("--set=a=\"\t\"".into())], ..job() }.openjd().unwrap_err().to_string();
        assert!(tab.contains("control characters") && tab.contains("\\t"), "{tab}");
    }

    #[test]
    fn braces_that_would_be_a_parameter_are_refused() {
        let job = Job { flags: vec![Flag::Word("--set=a={{1".into())], ..job() };
        assert!(job.openjd().unwrap_err().to_string().contains("--set=a={{1"));
    }
}
