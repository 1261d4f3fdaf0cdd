//! Arrays in NumPy's format (numpy.lib.format, versions 1 to 3).
//!
//! Only the header is read at load. Rows are read at their position in the file, unless their numbers are scattered over it because the
//! array is in Fortran order: such an array is read as a whole.

use super::{Rows, TableOptions};
use crate::{LoadError, budget::Budget, files};
use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};
use throng_base::files::{open_regular, read_exact_at, record, remember_input};
use throng_scene::{QuaternionOrder, RowClock, RowFormat, RowLayout, RowSource};

const MAGIC: &[u8] = b"\x93NUMPY";
/// Maximum length of a header in bytes. NumPy writes about a hundred, and reads at most 10,000 by default.
const LONGEST_HEADER: u64 = 1 << 16;
const SHAPES: &str = "write (frames, instances, 3, 4) or (frames, instances, 4, 4) for matrices, or (frames, instances, n) \
    with n = 7 for position and quaternion, 8 for one scale more, or 10 for three";

/// The header of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub is_double: bool,
    pub is_big_endian: bool,
    pub is_fortran: bool,
    pub shape: Vec<u64>,
}

/// The header of an array of numbers of any type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnyHeader {
    /// Type of the numbers, such as `<f4`.
    pub descr: String,
    pub is_fortran: bool,
    pub shape: Vec<u64>,
}

/// Opens an array and checks that the file contains what its header describes.
///
/// # Errors
/// If the file cannot be read, if it is no array of transforms, or if its length differs from its shape.
pub fn open(path: &Path, options: &TableOptions, budget: &Budget) -> Result<Rows, LoadError> {
    let fail = |message: String| LoadError::file(path, message);
    let opened = open_regular(path);
    record(path, opened.as_ref().ok().map(|(_, length)| *length));
    let (file, length) = opened.map_err(|e| fail(files::describe(&e)))?;
    remember_input(path);
    let (header, offset) = read_header(&file, length).map_err(fail)?;
    let (frames, instances, layout) = layout_of(&header.shape, options.order).map_err(fail)?;
    let Header { is_double, is_big_endian, is_fortran, .. } = header;
    let format = RowFormat { layout, is_double, is_big_endian };
    let frame = u64::from(instances).saturating_mul(format.bytes() as u64);
    let bytes = frame.saturating_mul(frames.into());
    if length.checked_sub(offset) != Some(bytes) {
        let found = length.saturating_sub(offset);
        return Err(fail(format!(
            "the header describes {bytes} bytes of numbers and the file has {found}: get all of it, or save it again"
        )));
    }
    let array = Array { path: path.to_owned(), file, offset, frame };
    let source: Box<dyn RowSource> = if is_fortran {
        budget.take(bytes.saturating_mul(2)).map_err(|lack| {
            fail(format!(
                "reading an array in Fortran order {lack}; numpy.ascontiguousarray makes one that needs no memory"
            ))
        })?;
        Box::new(array.in_memory((frames, instances, format)).map_err(|e| fail(files::describe(&e)))?)
    } else {
        Box::new(array)
    };
    let fps = options.fps.unwrap_or(options.scene_fps);
    Ok(Rows { frames, instances, format, clock: RowClock::Rate { start: options.start, fps }, source })
}

fn read_header(file: &File, length: u64) -> Result<(Header, u64), String> {
    let mut bytes = vec![0; length.min(LONGEST_HEADER) as usize];
    read_exact_at(file, &mut bytes, 0).map_err(|e| files::describe(&e))?;
    let (header, offset) = parse(&bytes)?;
    Ok((header, offset))
}

/// Parses the start of a file. Returns the header, and the position of the first number.
///
/// # Errors
/// If it is no header of an array of floats. The text is a sentence.
pub fn parse(bytes: &[u8]) -> Result<(Header, u64), String> {
    let (AnyHeader { descr, is_fortran, shape }, start) = parse_any(bytes)?;
    let (is_double, is_big_endian) = numbers_of(&descr)?;
    Ok((Header { is_double, is_big_endian, is_fortran, shape }, start))
}

/// As [`parse`], for numbers of any type.
///
/// # Errors
/// If it is no header of an array of numbers. The text is a sentence.
pub fn parse_any(bytes: &[u8]) -> Result<(AnyHeader, u64), String> {
    let cut = || "the file ends in its header: get all of it".to_owned();
    let rest = bytes.strip_prefix(MAGIC).ok_or("this is no NPY file: write it with numpy.save")?;
    let (length, start) = match *rest {
        [1, _, a, b, ..] => (u64::from(u16::from_le_bytes([a, b])), 10),
        [2 | 3, _, a, b, c, d, ..] => (u64::from(u32::from_le_bytes([a, b, c, d])), 12),
        [version, _, ..] if !(1..=3).contains(&version) => {
            return Err(format!("the format has version {version}, and 1 to 3 are known: save it with numpy.save"));
        }
        _ => return Err(cut()),
    };
    if start + length > LONGEST_HEADER {
        return Err(format!("the header has {length} bytes, which no array of floats needs: save it with numpy.save"));
    }
    let text = bytes.get(start as usize..(start + length) as usize).ok_or_else(cut)?;
    let text = std::str::from_utf8(text).map_err(|_| "the header is no text: save the file again".to_owned())?;
    Ok((dictionary(text)?, start + length))
}

/// Parses the header's Python dictionary, such as `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, 7), }`.
fn dictionary(text: &str) -> Result<AnyHeader, String> {
    let bad = || "the header is no dictionary with descr, fortran_order and shape: save the file again".to_owned();
    let mut rest = text.trim().strip_prefix('{').and_then(|text| text.strip_suffix('}')).ok_or_else(bad)?.trim_start();
    let (mut descr, mut is_fortran, mut shape) = (None, None, None);
    while !rest.is_empty() {
        let (key, after) = quoted(rest).ok_or_else(bad)?;
        rest = after.trim_start().strip_prefix(':').ok_or_else(bad)?.trim_start();
        let after = match key {
            "descr" => {
                let (name, after) = quoted(rest).ok_or_else(|| of_numbers("several fields"))?;
                descr = Some(name.to_owned());
                after
            }
            "fortran_order" => {
                let word = if rest.starts_with("True") { "True" } else { "False" };
                is_fortran = Some(word == "True");
                rest.strip_prefix(word).ok_or_else(bad)?
            }
            "shape" => {
                let (inner, after) = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).ok_or_else(bad)?;
                shape = Some(sides(inner).ok_or_else(bad)?);
                after
            }
            _ => return Err(bad()),
        };
        let after = after.trim_start();
        rest = match after.strip_prefix(',') {
            Some(after) => after.trim_start(),
            None if after.is_empty() => after,
            None => return Err(bad()),
        };
    }
    let (descr, is_fortran, shape) = (descr.ok_or_else(bad)?, is_fortran.ok_or_else(bad)?, shape.ok_or_else(bad)?);
    Ok(AnyHeader { descr, is_fortran, shape })
}

/// A quoted text without escapes, and what follows it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    text[1..].split_once(quote)
}

/// Whether numbers have 8 bytes, and whether the most significant one comes first.
fn numbers_of(name: &str) -> Result<(bool, bool), String> {
    match name {
        "<f4" => Ok((false, false)),
        ">f4" => Ok((false, true)),
        "<f8" => Ok((true, false)),
        ">f8" => Ok((true, true)),
        _ => Err(of_numbers(&format!("`{}`", name.escape_default()))),
    }
}

fn of_numbers(what: &str) -> String {
    format!("the array is of {what}: convert it with .astype(numpy.float32) or float64")
}

fn sides(text: &str) -> Option<Vec<u64>> {
    let mut sides: Vec<&str> = text.split(',').map(str::trim).collect();
    if sides.last().is_some_and(|side| side.is_empty()) {
        sides.pop();
    }
    // Arrays that Python 2 wrote have an L behind each number.
    sides.into_iter().map(|side| side.strip_suffix('L').unwrap_or(side).parse().ok()).collect()
}

fn layout_of(shape: &[u64], order: QuaternionOrder) -> Result<(u32, u32, RowLayout), String> {
    let described =
        || format!("the shape is ({}): {SHAPES}", Vec::from_iter(shape.iter().map(u64::to_string)).join(", "));
    let (frames, instances, layout) = match *shape {
        [frames, instances, rows @ (3 | 4), 4] => (frames, instances, RowLayout::Matrix { rows: rows as u32 }),
        [frames, instances, values @ (7 | 8 | 10)] => {
            (frames, instances, RowLayout::Parts { order, scales: values as u32 - 7 })
        }
        _ => return Err(described()),
    };
    if frames == 0 || instances == 0 {
        return Err(format!("the array has {frames} frames of {instances} instances: write at least one of one"));
    }
    let fits = |count: u64| u32::try_from(count).map_err(|_| described());
    Ok((fits(frames)?, fits(instances)?, layout))
}

/// An array in a file, whose frames are one after the other.
#[derive(Debug)]
struct Array {
    path: PathBuf,
    file: File,
    /// Position of the first number.
    offset: u64,
    /// Bytes per frame.
    frame: u64,
}

impl RowSource for Array {
    fn read(&self, frame: u32, into: &mut [u8]) -> Result<(), String> {
        let at = self.offset + u64::from(frame) * self.frame;
        read_exact_at(&self.file, into, at).map_err(|e| {
            let cause = match e.kind() {
                io::ErrorKind::UnexpectedEof => {
                    "the file has become shorter since it was loaded: keep it as it is".to_owned()
                }
                _ => files::describe(&e),
            };
            format!("{}: {cause}", self.path.display())
        })
    }
}

impl Array {
    /// The array with its numbers in C order. The file's first index varies fastest.
    fn in_memory(&self, (frames, instances, format): (u32, u32, RowFormat)) -> io::Result<InMemory> {
        let mut scattered = vec![0; self.frame as usize * frames as usize];
        read_exact_at(&self.file, &mut scattered, self.offset)?;
        let (number, values) = (format.number(), format.values());
        let (frames, instances) = (frames as usize, instances as usize);
        let mut bytes = vec![0; scattered.len()];
        for (index, to) in bytes.chunks_exact_mut(number).enumerate() {
            let (frame, rest) = (index / (instances * values), index % (instances * values));
            let (instance, value) = (rest / values, column_first(rest % values, format.layout));
            let from = (frame + frames * (instance + instances * value)) * number;
            to.copy_from_slice(&scattered[from..from + number]);
        }
        Ok(InMemory { bytes, frame: self.frame as usize })
    }
}

/// The position of a row's value in Fortran order: that of a matrix is column by column.
fn column_first(value: usize, layout: RowLayout) -> usize {
    match layout {
        RowLayout::Matrix { rows } => value / 4 + rows as usize * (value % 4),
        RowLayout::Parts { .. } => value,
    }
}

/// An array in memory.
struct InMemory {
    bytes: Vec<u8>,
    frame: usize,
}

impl std::fmt::Debug for InMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{} bytes", self.bytes.len())
    }
}

impl RowSource for InMemory {
    fn read(&self, frame: u32, into: &mut [u8]) -> Result<(), String> {
        let start = frame as usize * self.frame;
        into.copy_from_slice(&self.bytes[start..start + self.frame]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn file(version: u8, text: &str) -> Vec<u8> {
        let length = text.len() as u32;
        let length = if version == 1 { length.to_le_bytes()[..2].to_vec() } else { length.to_le_bytes().to_vec() };
        [MAGIC, &[version, 0], &length, text.as_bytes()].concat()
    }

    fn fault(text: &str) -> String {
        parse(&file(1, text)).unwrap_err()
    }

    #[test]
    fn headers_of_all_versions_and_styles_are_read() {
        let plain = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, 7), }            \n";
        let expected = Header { is_double: false, is_big_endian: false, is_fortran: false, shape: vec![2, 3, 7] };
        for (version, start) in [(1, 10), (2, 12), (3, 12)] {
            let parsed = parse(&file(version, plain)).unwrap();
            assert_eq!(parsed, (expected.clone(), start + plain.len() as u64));
        }
        let other = r#"{"shape":(2L,3L,3L,4L),"fortran_order":True,"descr":">f8"}"#;
        let expected = Header { is_double: true, is_big_endian: true, is_fortran: true, shape: vec![2, 3, 3, 4] };
        assert_eq!(parse(&file(1, other)).unwrap().0, expected);
    }

    #[test]
    fn other_arrays_are_refused_with_a_remedy() {
        let fault_of = |descr: &str| fault(&format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (1,), }}"));
        assert!(fault_of("'<i8'").contains("is of `<i8`: convert it with .astype"));
        assert!(fault_of("[('x', '<f4')]").contains("is of several fields"));
        assert!(
            fault("{'descr': '<f4', 'shape': (1,)}").contains("is no dictionary with descr, fortran_order and shape")
        );
        assert!(fault("{'shape': (1, -2)}").contains("is no dictionary"));
        assert!(parse(b"PK").unwrap_err().contains("no NPY file"));
        assert!(parse(&file(9, "{}")).unwrap_err().contains("version 9"));
        assert!(parse(&file(2, "{}")[..11]).unwrap_err().contains("ends in its header"));
        let long = [MAGIC, &[2, 0, 255, 255, 255, 255], b"{}"].concat();
        assert!(parse(&long).unwrap_err().contains("4294967295 bytes"));
    }

    #[test]
    fn shapes_select_the_layout() {
        let layout = |shape: &[u64]| layout_of(shape, QuaternionOrder::Wxyz).map(|(_, _, layout)| layout);
        let parts = |scales| Ok(RowLayout::Parts { order: QuaternionOrder::Wxyz, scales });
        assert_eq!(layout(&[5, 2, 3, 4]), Ok(RowLayout::Matrix { rows: 3 }));
        assert_eq!(layout(&[5, 2, 4, 4]), Ok(RowLayout::Matrix { rows: 4 }));
        assert_eq!([layout(&[5, 2, 7]), layout(&[5, 2, 8]), layout(&[5, 2, 10])], [parts(0), parts(1), parts(3)]);
        for wrong in [&[5, 2][..], &[5, 2, 9], &[5, 2, 4, 3], &[1 << 40, 2, 7], &[]] {
            assert!(layout(wrong).unwrap_err().contains("for matrices"), "{wrong:?}");
        }
        assert!(layout(&[0, 2, 7]).unwrap_err().contains("0 frames"));
    }

    proptest! {
        #![proptest_config(throng_testing::same_cases(512))]

        #[test]
        fn written_headers_are_read_and_damaged_ones_are_faults_of_one_line(
            shape in prop::collection::vec(0u64..u64::MAX, 0..6),
            is_double: bool,
            is_big_endian: bool,
            is_fortran: bool,
            version in 1u8..4,
            at in 0usize..200,
            put in prop::collection::vec(any::<u8>(), 0..8),
        ) {
            let word = if is_fortran { "True" } else { "False" };
            let order = if is_big_endian { '>' } else { '<' };
            let size = if is_double { 8 } else { 4 };
            let sides = Vec::from_iter(shape.iter().map(u64::to_string)).join(", ");
            let comma = if shape.len() == 1 { "," } else { "" };
            let text = format!("{{'descr': '{order}f{size}', 'fortran_order': {word}, 'shape': ({sides}{comma}), }}  \n");
            let whole = file(version, &text);
            let header = Header { is_double, is_big_endian, is_fortran, shape };
            prop_assert_eq!(parse(&whole), Ok((header, whole.len() as u64)));
            let at = at % whole.len();
            let damaged = [&whole[..at], &put, &whole[at..]].concat();
            for bytes in [&damaged[..], &whole[..at]] {
                if let Err(fault) = parse(bytes) {
                    prop_assert!(!fault.contains('\n') && fault.contains(": "), "{}", fault);
                }
            }
        }
    }
}
