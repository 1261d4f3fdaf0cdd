//! Damage that usually leaves a text syntactically valid: other numbers and names, and missing, duplicated or nested blocks.

use super::bytes;
use crate::linux::random::Random;
use std::ops::Range;

/// Edge cases of numbers, separated by spaces.
const NUMBERS: &str = "-1 0 -0.0 1 2 3 4 12 255 256 5121 5123 5125 5126 65535 65536 2147483648 4294967295 4294967296 18446744073709551615 99999999999999999999 1e38 -1e38 1e39 1e400 1e-45 0.5 NaN inf -inf null";
/// Longer numbers and strings are treated as data.
const LONGEST: usize = 200;
const DEEPEST: usize = 20_000;

pub fn mutated(text: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let tokens = Tokens::new(text);
    let (range, by) = match random.below(20) {
        0..=9 => {
            let range = tokens.number(random)?;
            (range, tokens.other_number(text, random)?)
        }
        10..=12 => (tokens.string(random)?, text[tokens.string(random)?].to_vec()),
        13 | 14 => moved(text, random),
        15..=17 => block(text, &tokens, random)?,
        18 if random.once_in(4) => nested(text, &tokens, random)?,
        _ => return Some(bytes::mutated(text, random)),
    };
    let mut text = text.to_vec();
    text.splice(range, by);
    Some(text)
}

/// Positions of tokens in a text.
struct Tokens {
    numbers: Vec<Range<usize>>,
    strings: Vec<Range<usize>>,
    /// Ranges from an opening bracket to its closing bracket.
    blocks: Vec<Range<usize>>,
}

impl Tokens {
    fn new(text: &[u8]) -> Self {
        let mut tokens = Self { numbers: Vec::new(), strings: Vec::new(), blocks: Vec::new() };
        let mut open = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let length = token_length(&text[at..]);
            let range = at..at + length;
            match text[at] {
                b'(' | b'[' | b'{' => open.push(at),
                b')' | b']' | b'}' => tokens.blocks.extend(open.pop().map(|start| start..at + 1)),
                b'-' | b'0'..=b'9' if length <= LONGEST => tokens.numbers.push(range),
                b'"' | b'a'..=b'z' | b'A'..=b'Z' if length <= LONGEST => tokens.strings.push(range),
                _ => {}
            }
            at += length;
        }
        tokens
    }

    fn number(&self, random: &mut Random) -> Option<Range<usize>> {
        (!self.numbers.is_empty()).then(|| random.pick(&self.numbers).clone())
    }

    fn string(&self, random: &mut Random) -> Option<Range<usize>> {
        (!self.strings.is_empty()).then(|| random.pick(&self.strings).clone())
    }

    fn block(&self, random: &mut Random) -> Option<Range<usize>> {
        (!self.blocks.is_empty()).then(|| random.pick(&self.blocks).clone())
    }

    fn other_number(&self, text: &[u8], random: &mut Random) -> Option<Vec<u8>> {
        Some(match random.below(12) {
            0..=3 => text[self.number(random)?].to_vec(),
            4 => random.below(2000).to_string().into_bytes(),
            5 if random.once_in(4) => Vec::new(),
            5 => "1".repeat(1 + random.below(5000)).into_bytes(),
            _ => {
                let numbers: Vec<&str> = NUMBERS.split(' ').collect();
                random.pick(&numbers).as_bytes().to_vec()
            }
        })
    }
}

/// Length of the token at the start of the text, at least 1.
fn token_length(text: &[u8]) -> usize {
    let rest = &text[1..];
    let run = |is_part: fn(&u8) -> bool| rest.iter().position(|b| !is_part(b)).unwrap_or(rest.len());
    1 + match text[0] {
        b'"' => rest.iter().position(|&b| b == b'"').map_or(rest.len(), |end| end + 1),
        b'-' | b'0'..=b'9' => run(|b| b.is_ascii_digit() || b"+-.eE".contains(b)),
        b'a'..=b'z' | b'A'..=b'Z' => run(|b| b.is_ascii_alphanumeric() || *b == b'_'),
        _ => 0,
    }
}

/// Removes a piece of text, or replaces it by another piece.
fn moved(text: &[u8], random: &mut Random) -> (Range<usize>, Vec<u8>) {
    let mut piece = || {
        let start = random.below(text.len());
        start..(start + random.below(40)).min(text.len())
    };
    let (from, to) = (piece(), piece());
    let by = if random.once_in(2) { Vec::new() } else { text[from].to_vec() };
    (to, by)
}

/// Removes a block, replaces it by another, or repeats it.
fn block(text: &[u8], tokens: &Tokens, random: &mut Random) -> Option<(Range<usize>, Vec<u8>)> {
    let (from, to) = (tokens.block(random)?, tokens.block(random)?);
    let by = text[from].to_vec();
    Some(match random.below(4) {
        0 => (to, Vec::new()),
        1 | 2 => (to, by),
        _ => {
            let times = 2 + random.below((1 << 16) / (by.len() + 2) + 1);
            let again = [by.as_slice(), b", "].concat().repeat(times);
            (to.start..to.start, again)
        }
    })
}

/// Nests a block deeply inside brackets of its own kind.
fn nested(text: &[u8], tokens: &Tokens, random: &mut Random) -> Option<(Range<usize>, Vec<u8>)> {
    let range = tokens.block(random)?;
    let depth = 1 + random.below(DEEPEST);
    let (open, close) = (text[range.start], text[range.end - 1]);
    let mut by = vec![open; depth];
    by.extend(&text[range.clone()]);
    by.extend(vec![close; depth]);
    Some((range, by))
}
