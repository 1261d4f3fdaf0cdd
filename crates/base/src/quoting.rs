//! Words of command lines, quoted for shells.

use std::ffi::OsStr;

/// Quotes a word for a POSIX shell if the shell would otherwise split or expand it.
pub fn quote(word: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_./=:,@%+".contains(&b);
    if !word.is_empty() && word.bytes().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Quotes any argument for a POSIX shell. Control characters and invalid UTF-8 require bash or a compatible shell.
fn quote_any(arg: &OsStr) -> String {
    match arg.to_str() {
        Some(text) if !text.contains(char::is_control) => quote(text),
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

/// Quotes a word for the shells of Windows. Double quotes serve both cmd and PowerShell. Words with double quotes, dollar signs or backticks, which mean
/// something to PowerShell in double quotes, are quoted for PowerShell 7.3 or newer only.
fn quote_for_windows(word: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || br"-_./\=:+".contains(&b);
    if !word.is_empty() && word.bytes().all(plain) {
        word.to_owned()
    } else if word.contains(['"', '$', '`']) {
        format!("'{}'", word.replace('\'', "''"))
    } else {
        // A backslash before the closing quote would make it a part of the word.
        let slashes = word.len() - word.trim_end_matches('\\').len();
        format!("\"{word}{}\"", "\\".repeat(slashes))
    }
}

/// Quotes a word of a command line that is shown to the user, for the shells of this system.
pub fn for_user(word: &str) -> String {
    if cfg!(windows) { quote_for_windows(word) } else { quote(word) }
}

/// As [`for_user`], for any argument.
pub fn any_for_user(arg: &OsStr) -> String {
    if cfg!(windows) { quote_for_windows(&arg.to_string_lossy()) } else { quote_any(arg) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_quoted_where_a_shell_would_take_them_apart() {
        let words =
            ["", "a b", "it's", "####.png", "{frame}", "a/b.ron", "a\nb\\"].map(|word| quote_any(word.as_ref()));
        assert_eq!(words, ["''", "'a b'", r"'it'\''s'", "'####.png'", "'{frame}'", "a/b.ron", r"$'a\012b\\'"]);
    }

    #[test]
    fn shells_of_windows_have_other_quotes() {
        let words = ["", r"C:\a\b.ron", r"C:\a b\", "it's", "####.png", "{frame}", "$F4.png", "a=\"it's\""];
        let quoted = words.map(quote_for_windows);
        let expected = [
            "\"\"",
            r"C:\a\b.ron",
            r#""C:\a b\\""#,
            "\"it's\"",
            "\"####.png\"",
            "\"{frame}\"",
            "'$F4.png'",
            "'a=\"it''s\"'",
        ];
        assert_eq!(quoted, expected);
    }

    #[cfg(unix)]
    #[test]
    fn names_that_are_not_utf8_survive() {
        use std::os::unix::ffi::OsStrExt;
        assert_eq!(any_for_user(OsStr::from_bytes(b"a\xff'.ron")), r"$'a\377\'.ron'");
    }
}
