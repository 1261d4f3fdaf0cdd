//! The command line that continues a run where it stopped.

use std::ffi::{OsStr, OsString};
use throng_base::quoting;

const FLAG: &str = "--skip-existing";

/// The given command line, quoted for a POSIX shell. `keep`: add `--skip-existing`, because frames have files.
pub fn command_line(args: impl IntoIterator<Item = OsString>, keep: bool) -> String {
    let mut args: Vec<OsString> = args.into_iter().collect();
    if keep && !args.iter().any(|arg| arg == FLAG) {
        // Nothing after `--` is a flag.
        let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
        args.insert(end, FLAG.into());
    }
    let quoted: Vec<String> = args.iter().map(|arg| quote(arg)).collect();
    quoted.join(" ")
}

/// Quotes a word for a POSIX shell. Names with control characters or invalid UTF-8 require bash or a compatible shell.
pub fn quote(arg: &OsStr) -> String {
    match arg.to_str() {
        Some(text) if !text.contains(char::is_control) => quoting::quote(text),
        _ => quote_bytes(arg.as_encoded_bytes()),
    }
}

/// Quotes control characters and names that are not UTF-8 as `$'…'`.
fn quote_bytes(bytes: &[u8]) -> String {
    let escape = |&b: &u8| match b {
        b'\'' | b'\\' => format!("\\{}", b as char),
        b' '..=b'~' => (b as char).to_string(),
        _ => format!("\\{b:03o}"),
    };
    format!("$'{}'", bytes.iter().map(escape).collect::<String>())
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
    fn arguments_are_quoted_where_a_shell_would_take_them_apart() {
        let quoted = line(&["t", "", "a b", "it's", "####.png", "{frame}", "a\nb\\"]);
        assert_eq!(quoted, r"t '' 'a b' 'it'\''s' '####.png' '{frame}' $'a\012b\\' --skip-existing");
    }

    #[cfg(unix)]
    #[test]
    fn names_that_are_not_utf8_survive() {
        use std::os::unix::ffi::OsStrExt;
        let name = OsStr::from_bytes(b"a\xff'.ron").to_owned();
        assert_eq!(command_line([name], true), r"$'a\377\'.ron' --skip-existing");
    }
}
