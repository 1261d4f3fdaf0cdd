//! Repairs of layers in text that `openusd` refuses, though OpenUSD reads them: numbers without a digit before the point (`.5`), and comments
//! that begin with `//`. Line numbers stay as they are.

use std::io;

/// Prims below one another at most. The time that composition needs for a prim grows with the square of the number of those above it.
pub const DEEPEST: usize = 256;

/// The text with such places rewritten. `None` if there is nothing to repair, or if it is no layer in text.
///
/// # Errors
/// If braces are nested too deeply: the parser needs a part of the call stack for each.
pub fn repaired(bytes: &[u8]) -> io::Result<Option<Vec<u8>>> {
    if !bytes.starts_with(b"#usda") {
        return Ok(None);
    }
    let mut depth = 0_usize;
    let mut repaired: Vec<u8> = Vec::new();
    let (mut copied, mut at) = (0, 0);
    while at < bytes.len() {
        let rest = &bytes[at..];
        if let Some(length) = literal(rest) {
            at += length;
        } else if rest.starts_with(b"//") {
            repaired.extend_from_slice(&bytes[copied..at]);
            repaired.extend_from_slice(b"# ");
            at += 2;
            copied = at;
            at += line(rest).saturating_sub(2);
        } else {
            match rest[0] {
                b'{' => depth += 1,
                b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth > DEEPEST {
                let line = bytes[..at].iter().filter(|&&byte| byte == b'\n').count() + 1;
                return Err(io::Error::other(format!(
                    "line {line}: prims are more than {DEEPEST} deep below one another"
                )));
            }
            if rest[0] == b'.' && rest.get(1).is_some_and(u8::is_ascii_digit) && begins_number(bytes, at) {
                repaired.extend_from_slice(&bytes[copied..at]);
                repaired.push(b'0');
                copied = at;
            }
            at += 1;
        }
    }
    if copied == 0 && repaired.is_empty() {
        return Ok(None);
    }
    repaired.extend_from_slice(&bytes[copied..]);
    Ok(Some(repaired))
}

/// Whether a point here is the first character of a number, and not a part of a name or path.
fn begins_number(bytes: &[u8], at: usize) -> bool {
    let begins = |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b'(' | b'[' | b',' | b'=' | b':');
    match bytes[..at] {
        [.., before, b'-' | b'+'] => begins(before),
        [.., before] => begins(before),
        [] => false,
    }
}

/// Length of the comment, string, asset path or path that begins here.
fn literal(text: &[u8]) -> Option<usize> {
    let until = |open: usize, close: &[u8]| {
        let mut at = open;
        while at < text.len() {
            if text[at] == b'\\' && close[0] != b'@' {
                at += 2;
            } else if text[at..].starts_with(close) {
                return at + close.len();
            } else {
                at += 1;
            }
        }
        text.len()
    };
    match text {
        [b'#', ..] => Some(line(text)),
        [b'"', b'"', b'"', ..] => Some(until(3, b"\"\"\"")),
        [b'\'', b'\'', b'\'', ..] => Some(until(3, b"'''")),
        [b'"', ..] => Some(until(1, b"\"").min(text.len())),
        [b'\'', ..] => Some(until(1, b"'").min(text.len())),
        [b'@', b'@', b'@', ..] => Some(until(3, b"@@@")),
        [b'@', ..] => Some(until(1, b"@")),
        // Paths have points, but none before a digit and after a space; a `<` is never a comparison.
        [b'<', ..] => Some(until(1, b">")),
        _ => None,
    }
}

/// Length of the rest of the line.
fn line(text: &[u8]) -> usize {
    text.iter().position(|&byte| byte == b'\n').unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(text: &str) -> Option<String> {
        repaired(text.as_bytes()).unwrap().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    #[test]
    fn numbers_without_a_first_digit_get_one() {
        let text = "#usda 1.0\nfloat a = .5\nfloat2 b = (-.25,.75)\nfloat c = 1.5";
        let wanted = "#usda 1.0\nfloat a = 0.5\nfloat2 b = (-0.25,0.75)\nfloat c = 1.5";
        assert_eq!(after(text).as_deref(), Some(wanted));
    }

    #[test]
    fn comments_of_other_languages_become_comments() {
        let text = "#usda 1.0\n// it's .5\ndef \"a\" {} // end\nfloat x = .5";
        assert_eq!(after(text).as_deref(), Some("#usda 1.0\n#  it's .5\ndef \"a\" {} #  end\nfloat x = 0.5"));
    }

    #[test]
    fn deep_text_is_refused() {
        let deep = |depth: usize| format!("#usda 1.0\n{}", "def \"a\" {\n".repeat(depth));
        assert!(repaired(deep(DEEPEST).as_bytes()).is_ok());
        let error = repaired(deep(DEEPEST + 1).as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), "line 258: prims are more than 256 deep below one another");
    }

    #[test]
    fn strings_and_paths_stay() {
        let text = "#usda 1.0\nstring s = \"a // .5 \\\" .5\"\nasset a = @http://b/.5@\nrel r = </a/b.c>\n'''\n .5 '''";
        assert_eq!(after(text), None);
        assert_eq!(after("PXR-USDC .5"), None);
        assert_eq!(after("#usda 1.0\n\"no end .5"), None);
    }
}
