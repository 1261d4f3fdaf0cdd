//! The header of a PLY file: its encoding, and the elements and properties that follow.

use super::Fault;
use crate::{files, pieces::Pieces, text};
use std::io::{self, Read};

/// The encoding of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Ascii,
    LittleEndian,
    BigEndian,
}

/// The type of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

/// The value of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Scalar(Number),
    /// A list of items after its length.
    List {
        count: Number,
        item: Number,
    },
}

#[derive(Debug)]
pub struct Property {
    pub name: String,
    pub kind: Kind,
}

#[derive(Debug)]
pub struct Element {
    pub name: String,
    pub count: usize,
    pub properties: Vec<Property>,
}

#[derive(Debug)]
pub struct Header {
    pub encoding: Encoding,
    pub elements: Vec<Element>,
    /// Length of the header in bytes and lines.
    pub bytes: usize,
    pub lines: usize,
}

impl Number {
    fn parse(name: &str) -> Result<Self, String> {
        Ok(match name {
            "char" | "int8" => Self::I8,
            "uchar" | "uint8" => Self::U8,
            "short" | "int16" => Self::I16,
            "ushort" | "uint16" => Self::U16,
            "int" | "int32" => Self::I32,
            "uint" | "uint32" => Self::U32,
            "float" | "float32" => Self::F32,
            "double" | "float64" => Self::F64,
            _ => return Err(format!("`{name}` is no type of numbers: write char, uchar, short, … or double")),
        })
    }

    /// Size in bytes in a binary file.
    pub fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// The number in the first bytes, of which there must be enough. The highest byte is the first one if `is_big`.
    pub fn value(self, from: &[u8], is_big: bool) -> f64 {
        let mut bytes = [0; 8];
        let size = self.size();
        bytes[..size].copy_from_slice(&from[..size]);
        if is_big {
            bytes[..size].reverse();
        }
        let [a, b, c, d, ..] = bytes;
        match self {
            Self::I8 => i8::from_le_bytes([a]).into(),
            Self::U8 => a.into(),
            Self::I16 => i16::from_le_bytes([a, b]).into(),
            Self::U16 => u16::from_le_bytes([a, b]).into(),
            Self::I32 => i32::from_le_bytes([a, b, c, d]).into(),
            Self::U32 => u32::from_le_bytes([a, b, c, d]).into(),
            Self::F32 => f32::from_le_bytes([a, b, c, d]).into(),
            Self::F64 => f64::from_le_bytes(bytes),
        }
    }

    /// The greatest value of an integer type; 1 for others.
    pub fn greatest(self) -> f64 {
        match self {
            Self::I8 => i8::MAX.into(),
            Self::U8 => u8::MAX.into(),
            Self::I16 => i16::MAX.into(),
            Self::U16 => u16::MAX.into(),
            Self::I32 => i32::MAX.into(),
            Self::U32 => u32::MAX.into(),
            Self::F32 | Self::F64 => 1.0,
        }
    }

    pub fn is_integer(self) -> bool {
        !matches!(self, Self::F32 | Self::F64)
    }
}

impl Kind {
    /// Minimum number of bytes of a value.
    fn least(self, encoding: Encoding) -> usize {
        match (encoding, self) {
            // The number may be followed by a space or by the end of the file.
            (Encoding::Ascii, _) => 1,
            (_, Self::Scalar(number) | Self::List { count: number, .. }) => number.size(),
        }
    }
}

impl Element {
    /// Minimum number of bytes of one element.
    pub fn least(&self, encoding: Encoding) -> usize {
        self.properties.iter().map(|property| property.kind.least(encoding)).sum()
    }
}

/// Maximum number of bytes of a header.
const LONGEST: usize = 1 << 26;

/// Reads the header of a file, but not what follows it.
///
/// # Errors
/// If the file is not a PLY file, or if a line of the header is unknown.
pub fn read<R: Read>(file: &mut Pieces<R>) -> Result<Header, Fault> {
    let failed = |e: &io::Error| Fault::line(1, files::describe(e));
    let mark = text::mark(file.ready(4).map_err(|e| failed(&e))?);
    file.advance(mark);
    let mut wanted = 1 << 16;
    loop {
        let begin = file.ready(wanted).map_err(|e| failed(&e))?;
        let is_all = begin.len() < wanted || wanted >= LONGEST;
        if let Some(header) = parse(begin, is_all)? {
            file.advance(header.bytes);
            return Ok(header);
        }
        wanted *= 2;
    }
}

/// Parses the header at the beginning of a file; None if `begin` is not all of the file and ends before the header.
fn parse(begin: &[u8], is_all: bool) -> Result<Option<Header>, Fault> {
    if !begin.starts_with(b"ply") {
        return Err(Fault::line(1, "not a PLY file: it does not begin with `ply`"));
    }
    let mut bytes = 0;
    let mut encoding = None;
    let mut elements = Vec::new();
    // Old files have Macintosh line ends.
    let end = if begin.starts_with(b"ply\r") && begin.get(4) != Some(&b'\n') { b'\r' } else { b'\n' };
    for line in 1.. {
        let rest = &begin[bytes..];
        let Some(length) = rest.iter().position(|&b| b == end) else {
            if !is_all {
                return Ok(None);
            }
            return Err(Fault::line(line, "the header does not end: `end_header` is missing"));
        };
        bytes += length + 1;
        let text = String::from_utf8_lossy(&rest[..length]);
        let words: Vec<&str> = text.split_whitespace().collect();
        let fail = |message: String| Err(Fault::line(line, message));
        match words[..] {
            ["ply"] if line == 1 => {}
            ["comment" | "obj_info", ..] | [] => {}
            ["format", name, "1.0"] => {
                encoding = Some(match name {
                    "ascii" => Encoding::Ascii,
                    "binary_little_endian" => Encoding::LittleEndian,
                    "binary_big_endian" => Encoding::BigEndian,
                    _ => return fail(format!("unknown format `{name}`: write ascii or binary")),
                });
            }
            ["element", name, count] => {
                let Ok(count) = count.parse() else {
                    return fail(format!("`{count}` is no number of elements"));
                };
                if elements.iter().any(|e: &Element| e.name == name) {
                    return fail(format!("the element `{name}` comes twice"));
                }
                elements.push(Element { name: name.to_owned(), count, properties: Vec::new() });
            }
            ["property", ref kind @ .., name] => {
                let property = Property { name: name.to_owned(), kind: property(kind, line)? };
                match elements.last_mut() {
                    Some(element) => element.properties.push(property),
                    None => return fail("a property comes before any element".to_owned()),
                }
            }
            ["end_header"] => {
                let encoding = encoding.ok_or_else(|| Fault::line(line, "the header has no line `format`"))?;
                return Ok(Some(Header { encoding, elements, bytes, lines: line }));
            }
            _ => return fail(format!("unknown header line `{}`", text.trim())),
        }
    }
    Err(Fault::line(1, "the header does not end"))
}

fn property(kind: &[&str], line: usize) -> Result<Kind, Fault> {
    let number = |name| Number::parse(name).map_err(|message| Fault::line(line, message));
    match *kind {
        [name] => Ok(Kind::Scalar(number(name)?)),
        ["list", count, item] => Ok(Kind::List { count: number(count)?, item: number(item)? }),
        _ => Err(Fault::line(line, "a property has a type and a name")),
    }
}
