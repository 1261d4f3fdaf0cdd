//! Tokens of a file, with their lines and columns. A file is read in pieces, so that its size does not matter.

use flate2::read::MultiGzDecoder;
use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};
use throng_base::files::{open_regular, record, remember_input};

/// Bytes that are read at once, and at first, because many files are small.
const PIECE: usize = 1 << 18;
const FIRST_PIECE: usize = 1 << 12;
/// Length in bytes of a token at most.
const LONGEST: usize = 1 << 20;

/// Line and column, counted from 1.
pub type LineColumn = (u32, u32);

/// A fault in a file, with its place.
#[derive(Debug, PartialEq)]
pub struct Fault {
    pub place: Option<LineColumn>,
    pub message: String,
}

impl Fault {
    pub fn at(place: LineColumn, message: impl Into<String>) -> Self {
        Self { place: Some(place), message: message.into() }
    }
}

/// Kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A directive, a number, `true` or `false`.
    Word,
    /// Text between quotes.
    Text,
    /// `[`
    Open,
    /// `]`
    Close,
}

/// A token, whose bytes are in the lexer's buffer until the next one is read.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    pub kind: Kind,
    pub place: LineColumn,
    start: usize,
    end: usize,
}

/// Reads tokens.
pub struct Lexer {
    input: Box<dyn Read>,
    buffer: Vec<u8>,
    /// Index in `buffer` of the next byte.
    at: usize,
    /// Whether the file has no more bytes than those in `buffer`.
    is_over: bool,
    line: u32,
    /// Index in `buffer` at which the line begins; negative if its beginning is no longer there.
    line_start: isize,
    /// The next token, if it was looked at already.
    ahead: Option<Token>,
    /// Number of bytes that were read.
    read: u64,
}

impl Lexer {
    /// Opens a file, which is compressed if its name ends in `.gz`.
    ///
    /// # Errors
    /// If it is no regular file that can be read.
    pub fn open(path: &Path) -> io::Result<Self> {
        let opened = open_regular(path);
        record(path, opened.as_ref().ok().map(|(_, length)| *length));
        let (file, _): (File, u64) = opened?;
        remember_input(path);
        let is_packed = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
        Ok(if is_packed { Self::new(MultiGzDecoder::new(file)) } else { Self::new(file) })
    }

    pub fn new(input: impl Read + 'static) -> Self {
        Self {
            input: Box::new(input),
            buffer: Vec::new(),
            at: 0,
            is_over: false,
            line: 1,
            line_start: 0,
            ahead: None,
            read: 0,
        }
    }

    /// The bytes of the last token.
    pub fn bytes(&self, token: &Token) -> &[u8] {
        &self.buffer[token.start..token.end]
    }

    /// The last token as text. In texts, escapes are replaced.
    pub fn text(&self, token: &Token) -> String {
        let bytes = self.bytes(token);
        if token.kind != Kind::Text || !bytes.contains(&b'\\') {
            return String::from_utf8_lossy(bytes).into_owned();
        }
        let mut plain = Vec::with_capacity(bytes.len());
        let mut rest = bytes.iter();
        while let Some(&byte) = rest.next() {
            plain.push(match byte {
                b'\\' => match rest.next() {
                    Some(b'n') => b'\n',
                    Some(b't') => b'\t',
                    Some(b'r') => b'\r',
                    Some(b'b') => 8,
                    Some(b'f') => 12,
                    Some(&other) => other,
                    None => b'\\',
                },
                other => other,
            });
        }
        String::from_utf8_lossy(&plain).into_owned()
    }

    /// The place of the next byte.
    pub fn place(&self) -> LineColumn {
        (self.line, (self.at as isize - self.line_start + 1).clamp(1, u32::MAX as isize) as u32)
    }

    /// The next token, which stays the next one.
    ///
    /// # Errors
    /// As [`Self::next`].
    pub fn peek(&mut self) -> Result<Option<Token>, Fault> {
        if self.ahead.is_none() {
            self.ahead = self.scan()?;
        }
        Ok(self.ahead)
    }

    /// The next token; None at the end of the file.
    ///
    /// # Errors
    /// If the file cannot be read, or if a text is not closed or too long.
    pub fn next(&mut self) -> Result<Option<Token>, Fault> {
        match self.ahead.take() {
            Some(token) => Ok(Some(token)),
            None => self.scan(),
        }
    }

    fn scan(&mut self) -> Result<Option<Token>, Fault> {
        loop {
            if self.at == self.buffer.len() && !self.refill(self.at)? {
                return Ok(None);
            }
            match self.buffer[self.at] {
                b'\n' => self.end_line(),
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'#' => self.skip_comment()?,
                b'"' => return self.quoted().map(Some),
                byte @ (b'[' | b']') => {
                    let kind = if byte == b'[' { Kind::Open } else { Kind::Close };
                    let token = Token { kind, place: self.place(), start: self.at, end: self.at + 1 };
                    self.at += 1;
                    return Ok(Some(token));
                }
                _ => return self.word().map(Some),
            }
        }
    }

    fn end_line(&mut self) {
        self.at += 1;
        self.line = self.line.saturating_add(1);
        self.line_start = self.at as isize;
    }

    fn skip_comment(&mut self) -> Result<(), Fault> {
        loop {
            match self.buffer[self.at..].iter().position(|&byte| byte == b'\n') {
                Some(length) => {
                    self.at += length;
                    return Ok(());
                }
                None => self.at = self.buffer.len(),
            }
            if !self.refill(self.at)? {
                return Ok(());
            }
        }
    }

    fn word(&mut self) -> Result<Token, Fault> {
        let place = self.place();
        let mut length = 0;
        loop {
            let rest = &self.buffer[self.at + length..];
            let ends = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\t' | b'\r' | b'"' | b'[' | b']' | b'#');
            let found = rest.iter().position(ends);
            length += found.unwrap_or(rest.len());
            if found.is_some() || !self.refill_token(length, place)? {
                break;
            }
        }
        let token = Token { kind: Kind::Word, place, start: self.at, end: self.at + length };
        self.at += length;
        Ok(token)
    }

    fn quoted(&mut self) -> Result<Token, Fault> {
        let place = self.place();
        let mut length = 1;
        loop {
            match self.buffer.get(self.at + length) {
                Some(b'"') => break,
                // pbrt ends texts at lines, so a missing quote is found where it is missing.
                Some(b'\n') => return Err(Fault::at(place, "this text has no closing quote in its line: add it")),
                Some(b'\\') => length += 2,
                Some(_) => length += 1,
                None => {
                    if !self.refill_token(length, place)? {
                        return Err(Fault::at(place, "this text has no closing quote: add it"));
                    }
                }
            }
        }
        let token = Token { kind: Kind::Text, place, start: self.at + 1, end: self.at + length };
        self.at += length + 1;
        Ok(token)
    }

    /// Reads on in a token of which `length` bytes were read.
    fn refill_token(&mut self, length: usize, place: LineColumn) -> Result<bool, Fault> {
        if length > LONGEST {
            return Err(Fault::at(place, format!("this word has more than {LONGEST} bytes: the file is damaged")));
        }
        self.refill(self.at)
    }

    /// Reads more bytes, and drops those before `keep`. Returns false if there are no more.
    fn refill(&mut self, keep: usize) -> Result<bool, Fault> {
        if self.is_over {
            return Ok(false);
        }
        self.buffer.drain(..keep);
        self.at -= keep;
        self.line_start -= keep as isize;
        let before = self.buffer.len();
        let piece = if self.read == 0 { FIRST_PIECE } else { PIECE };
        self.buffer.resize(before + piece, 0);
        let read = loop {
            match self.input.read(&mut self.buffer[before..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        self.buffer.truncate(before + *read.as_ref().unwrap_or(&0));
        match read {
            Ok(read) => {
                self.read += read as u64;
                self.is_over = read == 0;
                Ok(read > 0)
            }
            Err(error) => Err(Fault::at(self.place(), format!("the file cannot be read on: {error}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that returns a byte at a time.
    struct Slow(Vec<u8>, usize);

    impl Read for Slow {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let Some(&byte) = self.0.get(self.1) else { return Ok(0) };
            self.1 += 1;
            to[0] = byte;
            Ok(1)
        }
    }

    fn tokens(lexer: &mut Lexer) -> Result<Vec<(Kind, LineColumn, String)>, Fault> {
        let mut all = Vec::new();
        while let Some(token) = lexer.next()? {
            all.push((token.kind, token.place, lexer.text(&token)));
        }
        Ok(all)
    }

    const TEXT: &str = "Shape \"a\\\"b\" # [ \"\n\t[ -1.5e3 true]\"c\" \n";

    #[test]
    fn tokens_have_their_places_however_the_file_is_cut() {
        let whole = tokens(&mut Lexer::new(TEXT.as_bytes())).unwrap();
        let expected = [
            (Kind::Word, (1, 1), "Shape"),
            (Kind::Text, (1, 7), "a\"b"),
            (Kind::Open, (2, 2), "["),
            (Kind::Word, (2, 4), "-1.5e3"),
            (Kind::Word, (2, 11), "true"),
            (Kind::Close, (2, 15), "]"),
            (Kind::Text, (2, 16), "c"),
        ];
        assert_eq!(whole, expected.map(|(kind, place, text)| (kind, place, text.to_owned())));
        assert_eq!(tokens(&mut Lexer::new(Slow(TEXT.into(), 0))).unwrap(), whole);
    }

    #[test]
    fn a_text_without_its_end_is_an_error_at_its_beginning() {
        for text in ["A \"b", "A \"b\nC\"", "A \"b\\"] {
            let fault = tokens(&mut Lexer::new(text.as_bytes())).unwrap_err();
            assert_eq!(fault.place, Some((1, 3)), "{text}");
        }
    }

    #[test]
    fn endless_words_are_refused() {
        let fault = tokens(&mut Lexer::new(io::repeat(b'x'))).unwrap_err();
        assert!(fault.message.contains("bytes"), "{}", fault.message);
    }
}
