//! Terminal output. A closed pipe must not panic, so `print!` and `eprintln!` are not used.

use super::Exit;
use anyhow::Context;
use std::{
    fmt::Display,
    io::{self, ErrorKind, Write},
};
use throng_base::guard;

/// Prints an error in the common form.
pub fn error(message: &str) {
    let _ = writeln!(io::stderr().lock(), "throng: error: {message}");
}

/// Prints a line for the user.
pub fn note(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Prints warnings in the common form.
pub fn warnings(lines: &[String]) {
    lines.iter().for_each(|line| note(&format!("throng: warning: {line}")));
}

/// Prints notes in the common form.
pub fn notes(lines: &[String]) {
    lines.iter().for_each(|line| note(&format!("throng: note: {line}")));
}

/// A number with its noun: "1 frame", "2 frames".
pub fn plural(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

/// The error and its causes in one line. A cause that the preceding text already contains is left out. Control characters, which names and
/// messages of other libraries may contain, become spaces.
pub fn one_line(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if line.is_empty() {
            line = cause;
        } else if !line.contains(&cause) {
            line = format!("{line}: {cause}");
        }
    }
    line.replace(char::is_control, " ")
}

/// Prints a report on standard output, as one JSON document or as text.
pub fn report(report: &(impl serde::Serialize + Display), json: bool) -> anyhow::Result<()> {
    let text = if json {
        serde_json::to_string_pretty(report).context("cannot write the report as JSON")?
    } else {
        report.to_string()
    };
    print(text.trim_end())
}

/// Prints on standard output. A pipe that the reader closed early is not an error; other failures are.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    let written = writeln!(out, "{text}").and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error).context("cannot write to standard output"),
        _ => Ok(()),
    }
}

/// Makes panics, which are bugs in throng, print one line like other errors and end the process immediately, so that no thread waits for
/// the panicked one. Finished frames are complete files at that point. With `RUST_BACKTRACE` set, Rust's own report is kept. A panic in a
/// guarded decoder is reported later, as an error of its file.
pub fn install_panic_message() {
    let usual = std::panic::take_hook();
    let keeps_usual = std::env::var_os("RUST_BACKTRACE").is_some();
    std::panic::set_hook(Box::new(move |info| {
        if guard::is_active() {
            return;
        }
        if keeps_usual {
            return usual(info);
        }
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        let what = info.payload_as_str().unwrap_or("unknown");
        error(&format!("internal error at {place}: {what}; please report this"));
        std::process::exit(Exit::Failed as i32);
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_told_once() {
        let inner = io::Error::other("no luck");
        let error = anyhow::Error::new(inner).context("frame 3: no luck").context("failed");
        assert_eq!(one_line(&error), "failed: frame 3: no luck");
        let error = anyhow::anyhow!("a\nb\u{1b}[2J.png: missing");
        assert_eq!(one_line(&error), "a b [2J.png: missing");
    }
}
