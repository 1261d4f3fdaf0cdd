//! Placeholders for frame numbers and names in patterns, in the notations of several programs.

use super::PatternError;
use std::{ffi::OsString, fmt};
use throng_base::files::{is_separator, os_string};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(OsString),
    /// The frame number, padded with zeros to at least `width` digits.
    Frame {
        width: usize,
    },
    /// The scene's name, with the word used in the braces.
    Scene(&'static str),
    /// The name of the animation that is played.
    Animation,
}

/// Writes texts unchanged, and placeholders in a form that [`split`] accepts.
impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Text(text) => text.display().fmt(f),
            Self::Frame { width } => f.write_str(&"#".repeat(*width)),
            Self::Scene(word) => write!(f, "{{{word}}}"),
            Self::Animation => f.write_str("{animation}"),
        }
    }
}

/// Maximum number of digits of a frame number: more than enough for any u32.
pub(super) const MAX_WIDTH: usize = 20;

/// A placeholder at the start of a text, and its length in bytes; none if the text starts with no placeholder.
type Found = Option<(Piece, usize)>;

/// Divides a pattern into texts and placeholders.
///
/// Frame numbers are `####` and `{frame:04}`; `%04d` as in printf and ffmpeg, with `%%` for a percent sign; `$F4` as in Houdini; `@@@@` as
/// in Shake; `<frame>` and `<f4>` as in RenderMan and V-Ray. Everything else is text.
///
/// # Errors
/// For braces that are no placeholder, and for more than [`MAX_WIDTH`] digits.
pub(super) fn split(text: &[u8]) -> Result<Vec<Piece>, PatternError> {
    let (mut pieces, mut literal, mut at) = (Vec::new(), Vec::new(), 0);
    while let Some(&byte) = text.get(at) {
        let rest = &text[at..];
        let found = match byte {
            b'#' => run(rest)?,
            b'{' | b'}' => Some(braced(rest)?),
            b'%' => printf(rest)?,
            b'$' => houdini(rest)?,
            b'@' if stands_alone(&text[..at], rest) => run(rest)?,
            b'<' => angled(rest)?,
            _ => None,
        };
        match found {
            Some((piece, length)) => {
                if !literal.is_empty() {
                    pieces.push(Piece::Text(os_string(&literal)));
                    literal.clear();
                }
                pieces.push(piece);
                at += length;
            }
            None => {
                literal.push(byte);
                at += if rest.starts_with(b"%%") { 2 } else { 1 };
            }
        }
    }
    if !literal.is_empty() {
        pieces.push(Piece::Text(os_string(&literal)));
    }
    Ok(pieces)
}

/// A text in a form that [`split`] reads back unchanged: percent signs that would be misread are doubled.
pub(super) fn escaped(text: &str) -> String {
    let is_read = |at: usize| {
        let rest = &text.as_bytes()[at..];
        rest.starts_with(b"%%") || !matches!(printf(rest), Ok(None))
    };
    let mut out = String::new();
    for (at, letter) in text.char_indices() {
        out.push(letter);
        if letter == '%' && is_read(at) {
            out.push('%');
        }
    }
    out
}

/// A frame number whose width is given by digits; width 1 without any.
fn frame(digits: &[u8]) -> Result<Piece, PatternError> {
    let width = digits.iter().try_fold(0usize, |width, digit| {
        Some(10 * width + usize::from(digit - b'0')).filter(|&width| width <= MAX_WIDTH)
    });
    width.map(|width| Piece::Frame { width: width.max(1) }).ok_or(PatternError::TooWide)
}

fn digits(text: &[u8]) -> &[u8] {
    &text[..text.iter().take_while(|byte| byte.is_ascii_digit()).count()]
}

/// A run of one letter, such as `####`.
fn run(text: &[u8]) -> Result<Found, PatternError> {
    let width = text.iter().take_while(|byte| **byte == text[0]).count();
    if width > MAX_WIDTH {
        return Err(PatternError::TooWide);
    }
    Ok(Some((Piece::Frame { width }, width)))
}

/// Whether the `@` at the start of `rest` is a digit of the frame number. It is not in addresses and in names like `icon@2x`.
fn stands_alone(before: &[u8], rest: &[u8]) -> bool {
    let is_gap = |byte: Option<&u8>| byte.is_none_or(|&byte| b"._- ".contains(&byte) || is_separator(byte));
    rest.starts_with(b"@@") || is_gap(before.last()) && is_gap(rest.get(1))
}

/// `{frame}`, `{frame:04}`, `{scene}`, `{model}` or `{animation}`.
fn braced(text: &[u8]) -> Result<(Piece, usize), PatternError> {
    let inner = text.strip_prefix(b"{").ok_or(PatternError::Unopened)?;
    let end = inner.iter().position(|&byte| byte == b'}').ok_or(PatternError::Unclosed)?;
    Ok((named(&String::from_utf8_lossy(&inner[..end]))?, end + 2))
}

fn named(name: &str) -> Result<Piece, PatternError> {
    if let Some(word) = ["scene", "model"].into_iter().find(|word| *word == name) {
        return Ok(Piece::Scene(word));
    }
    if name == "animation" {
        return Ok(Piece::Animation);
    }
    if name == "frame" {
        return frame(b"");
    }
    let width = name.strip_prefix("frame:0").map(|width| width.strip_suffix('d').unwrap_or(width));
    match width {
        Some(width) if !width.is_empty() && digits(width.as_bytes()).len() == width.len() => frame(width.as_bytes()),
        _ => Err(PatternError::Unknown(name.into())),
    }
}

/// `%04d`, `%4d` or `%d`. `%20d` is not accepted, because `%20` is a space in names from the web.
fn printf(text: &[u8]) -> Result<Found, PatternError> {
    let width = digits(&text[1..]);
    let is_width = matches!(width, [] | [_] | [b'0', ..]);
    match text.get(1 + width.len()) {
        Some(b'd' | b'i' | b'u') if is_width => Ok(Some((frame(width)?, width.len() + 2))),
        _ => Ok(None),
    }
}

/// `$F4` or `$F`, also as `${F4}`. `$FF` is another variable.
fn houdini(text: &[u8]) -> Result<Found, PatternError> {
    let (inner, closing) = match text.strip_prefix(b"${F") {
        Some(inner) => (inner, 1),
        None => match text.strip_prefix(b"$F") {
            Some(inner) => (inner, 0),
            None => return Ok(None),
        },
    };
    let width = digits(inner);
    let next = inner.get(width.len());
    let ends = if closing == 1 { next == Some(&b'}') } else { !next.is_some_and(u8::is_ascii_alphabetic) };
    let before = text.len() - inner.len();
    Ok(if ends { Some((frame(width)?, before + width.len() + closing)) } else { None })
}

/// `<frame>`, `<frame04>`, `<f4>` or `<scene>`, in any case.
fn angled(text: &[u8]) -> Result<Found, PatternError> {
    let Some(end) = text.iter().position(|&byte| byte == b'>') else { return Ok(None) };
    let name = text[1..end].to_ascii_lowercase();
    if name == b"scene" {
        return Ok(Some((Piece::Scene("scene"), end + 1)));
    }
    let width = name.strip_prefix(b"frame").or_else(|| name.strip_prefix(b"f"));
    match width {
        Some(width) if digits(width).len() == width.len() => Ok(Some((frame(width)?, end + 1))),
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        split(text.as_bytes()).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn spellings_of_other_programs_are_places_for_the_number() {
        for place in
            ["####", "%04d", "%4d", "%04i", "$F4", "${F4}", "@@@@", "<f4>", "<frame4>", "<Frame04>", "{frame:04d}"]
        {
            assert_eq!(shown(&format!("f_{place}.png")), "f_####.png", "{place}");
            assert_eq!(shown(&format!("{place}/f.{place}")), "####/f.####", "{place}");
        }
        for place in ["%d", "%1d", "$F", "@", "<frame>", "<f>", "{frame}"] {
            assert_eq!(shown(&format!("f_{place}.png")), "f_#.png", "{place}");
        }
        assert_eq!(shown("<Scene>.%d"), "{scene}.#");
    }

    #[test]
    fn names_that_only_resemble_places_are_texts() {
        for name in [
            "50%.png",
            "my%20dog.png",
            "a%s.png",
            "$FF.png",
            "$Foo",
            "me@home.png",
            "icon@2x.png",
            "<layer>",
            "a<b",
            "$FEND",
        ] {
            assert_eq!(split(name.as_bytes()), Ok(vec![Piece::Text(name.into())]), "{name}");
        }
        assert_eq!(split(b"%%04d.png"), Ok(vec![Piece::Text("%04d.png".into())]));
        assert_eq!(split(b"100%%"), Ok(vec![Piece::Text("100%".into())]));
    }

    #[test]
    fn widths_are_bounded() {
        for text in ["%099d", "$F99999999999999999999", "<f21>", "{frame:021}", &"@".repeat(21)] {
            assert_eq!(split(text.as_bytes()), Err(PatternError::TooWide), "{text}");
        }
    }

    #[test]
    fn escaped_texts_are_read_as_they_were() {
        for text in ["%04d", "%%", "a%%d", "50%", "%%%", "%d%i", "é%2d"] {
            assert_eq!(split(escaped(text).as_bytes()), Ok(vec![Piece::Text(text.into())]), "{text}");
        }
        assert_eq!(escaped("50% of it"), "50% of it");
    }
}
