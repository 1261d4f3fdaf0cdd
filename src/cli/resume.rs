//! The command line that continues a run where it stopped.

use std::ffi::OsString;
use throng_base::quoting;

const FLAG: &str = "--skip-existing";

/// The given command line, quoted for the user's shell. `keep`: add `--skip-existing`, because frames have files.
pub fn command_line(args: impl IntoIterator<Item = OsString>, keep: bool) -> String {
    let mut args: Vec<OsString> = args.into_iter().collect();
    if keep && !args.iter().any(|arg| arg == FLAG) {
        // Nothing after `--` is a flag.
        let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
        args.insert(end, FLAG.into());
    }
    let quoted: Vec<String> = args.iter().map(|arg| quoting::any_for_user(arg)).collect();
    quoted.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(args: &[&str]) -> String {
        command_line(args.iter().map(OsString::from), true)
    }

    #[test]
    fn the_flag_is_added_once_and_before_a_double_dash() {
        assert_eq!(line(&["t", "render", "a.ron"]), "t render a.ron --skip-existing");
        assert_eq!(line(&["t", "render", "--skip-existing", "a"]), "t render --skip-existing a");
        assert_eq!(line(&["t", "render", "--", "-a"]), "t render --skip-existing -- -a");
    }

    #[test]
    fn a_run_without_files_of_frames_starts_over() {
        let args = ["t", "render", "-o", "a.mp4"].map(OsString::from);
        assert_eq!(command_line(args, false), "t render -o a.mp4");
    }

    #[test]
    fn arguments_are_quoted() {
        let quoted = if cfg!(windows) { "\"a b\"" } else { "'a b'" };
        assert_eq!(line(&["t", "a b"]), format!("t {quoted} --skip-existing"));
    }
}
