//! Shared parsing of text formats: byte order marks, line ends and numbers.

use std::str::FromStr;

const MARK: &[u8] = b"\xef\xbb\xbf";

/// The bytes after a UTF-8 byte order mark, if there is one.
pub fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(MARK).unwrap_or(bytes)
}

/// Length of the UTF-8 byte order mark with which `bytes` begin; 0 if there is none.
pub fn mark(bytes: &[u8]) -> usize {
    bytes.len() - without_mark(bytes).len()
}

/// The first line, and everything after its end: LF, CR LF, or CR alone as on old Macintoshes.
pub fn split_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = bytes.iter().position(|b| matches!(b, b'\n' | b'\r')).unwrap_or(bytes.len());
    let rest = &bytes[end..];
    let rest = rest.strip_prefix(b"\r\n").or_else(|| rest.get(1..)).unwrap_or(&[]);
    (&bytes[..end], rest)
}

/// Number of line ends.
pub fn line_ends(bytes: &[u8]) -> usize {
    let ends = |(i, &b): (usize, &u8)| b == b'\n' || b == b'\r' && bytes.get(i + 1) != Some(&b'\n');
    bytes.iter().enumerate().filter(|&pair| ends(pair)).count()
}

/// Parses a number, which may be infinite. Returns `nan` for NaN. Also accepts the notation of Microsoft's compilers for such numbers.
pub fn number<F: FromStr>(word: &str, nan: F) -> Option<F> {
    word.parse().ok().or_else(|| is_odd_nan(word).then_some(nan))
}

/// Whether a word is a notation like `-nan(ind)`, `1.#QNAN` or `-1.#INF`.
fn is_odd_nan(word: &str) -> bool {
    let word = word.trim_start_matches(['-', '+']).to_ascii_lowercase();
    let digits = word.trim_start_matches(|c: char| c.is_ascii_digit());
    word.starts_with("nan(") && word.ends_with(')') || digits.starts_with(".#") && digits.len() < word.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_three_ends_of_lines_are_one_end() {
        let mut rest: &[u8] = b"a\nb\r\nc\rd\n\re";
        let mut lines = Vec::new();
        while !rest.is_empty() {
            let (line, after) = split_line(rest);
            lines.push(line);
            rest = after;
        }
        assert_eq!(lines, [b"a", b"b", b"c", b"d", &b""[..], b"e"]);
        assert_eq!(line_ends(b"a\nb\r\nc\rd\n\re"), 5);
    }

    #[test]
    fn all_spellings_of_no_number_are_read() {
        for word in ["nan", "-NaN", "-nan(ind)", "nan(snan)", "1.#QNAN", "-1.#IND00", "1.#INF"] {
            assert!(number(word, f32::NAN).is_some_and(|x| x.is_nan()), "{word}");
        }
        assert_eq!(number("1e39", f32::NAN), Some(f32::INFINITY));
        assert_eq!([number("nano", f32::NAN), number("#", 0.0), number(".#", 0.0)], [None; 3]);
    }
}
