//! Entries of ZIP archives, stored or deflated (PKWARE's APPNOTE 6.3.9), as `numpy.savez` writes them.

use flate2::read::DeflateDecoder;
use std::{borrow::Cow, io::Read};

const END: &[u8] = b"PK\x05\x06";
const END_LENGTH: usize = 22;
const END_64: &[u8] = b"PK\x06\x06";
const CENTRAL: &[u8] = b"PK\x01\x02";
const CENTRAL_LENGTH: usize = 46;
const LOCAL: &[u8] = b"PK\x03\x04";
const LOCAL_LENGTH: usize = 30;
/// Distance from the record at the end to the locator of its 64-bit version, which comes before it.
const LOCATOR_LENGTH: usize = 20;
/// Tag of the extra field with 64-bit sizes.
const SIZES_64: u16 = 1;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// An entry of an archive.
struct Entry<'a> {
    method: u16,
    packed: u64,
    size: u64,
    start: u64,
    name: &'a [u8],
}

/// Name and content of an entry.
pub type NamedContent<'a> = (String, Cow<'a, [u8]>);

/// The names and contents of all entries. `take` is called with the size of each content before it is allocated.
///
/// # Errors
/// If the archive is damaged, if an entry is packed in another way, or if `take` fails. The text is a sentence.
pub fn entries<'a>(file: &'a [u8], take: &dyn Fn(u64) -> Result<(), String>) -> Result<Vec<NamedContent<'a>>, String> {
    let damaged = || "this is no complete ZIP archive: get all of it, or write it with numpy.savez".to_owned();
    let mut at = directory(file).ok_or_else(damaged)?;
    let mut all = Vec::new();
    while bytes(file, at, CENTRAL.len()) == Some(CENTRAL) {
        let (entry, next) = entry(file, at).ok_or_else(damaged)?;
        let name = String::from_utf8_lossy(entry.name).into_owned();
        let packed = content(file, &entry).ok_or_else(damaged)?;
        all.push((name.clone(), unpacked(packed, &entry, take).map_err(|cause| format!("`{name}` {cause}"))?));
        at = next;
    }
    Ok(all)
}

fn bytes(file: &[u8], at: usize, length: usize) -> Option<&[u8]> {
    file.get(at..at.checked_add(length)?)
}

fn number(file: &[u8], at: usize, length: usize) -> Option<u64> {
    let bytes = bytes(file, at, length)?;
    Some(bytes.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
}

/// Position of the first line of the directory.
fn directory(file: &[u8]) -> Option<usize> {
    // A comment of up to 65,535 bytes may follow.
    let last = file.len().checked_sub(END_LENGTH)?;
    let end = (last.saturating_sub(usize::from(u16::MAX))..=last).rev().find(|&at| file[at..].starts_with(END))?;
    let start = number(file, end + 16, 4)?;
    if start < u64::from(u32::MAX) {
        return start.try_into().ok();
    }
    let record = usize::try_from(number(file, end.checked_sub(LOCATOR_LENGTH)? + 8, 8)?).ok()?;
    (bytes(file, record, 4)? == END_64).then(|| number(file, record.checked_add(48)?, 8)?.try_into().ok())?
}

/// The entry at `at` in the directory, and the position of the next one.
fn entry(file: &[u8], at: usize) -> Option<(Entry<'_>, usize)> {
    let field = |offset: usize, length: usize| number(file, at + offset, length);
    let [name_length, extra_length, comment_length] =
        [field(28, 2)?, field(30, 2)?, field(32, 2)?].map(|length| length as usize);
    let name = bytes(file, at + CENTRAL_LENGTH, name_length)?;
    let extra = bytes(file, at + CENTRAL_LENGTH + name_length, extra_length)?;
    // Sizes that do not fit are in the extra field, in this order.
    let mut large = sizes_64(extra);
    let mut whole = |short: u64| {
        if short < u64::from(u32::MAX) { Some(short) } else { large.next() }
    };
    let size = whole(field(24, 4)?)?;
    let packed = whole(field(20, 4)?)?;
    let start = whole(field(42, 4)?)?;
    let next = at + CENTRAL_LENGTH + name_length + extra_length + comment_length;
    Some((Entry { method: field(10, 2)? as u16, packed, size, start, name }, next))
}

fn sizes_64(extra: &[u8]) -> impl Iterator<Item = u64> {
    let mut rest = extra;
    let mut sizes: &[u8] = &[];
    while let [a, b, c, d, after @ ..] = rest {
        let length = usize::from(u16::from_le_bytes([*c, *d])).min(after.len());
        if u16::from_le_bytes([*a, *b]) == SIZES_64 {
            sizes = &after[..length];
        }
        rest = &after[length..];
    }
    sizes.chunks_exact(8).filter_map(|size| number(size, 0, 8))
}

/// The packed bytes of an entry.
fn content<'a>(file: &'a [u8], entry: &Entry) -> Option<&'a [u8]> {
    let local = usize::try_from(entry.start).ok()?;
    if bytes(file, local, LOCAL.len())? != LOCAL {
        return None;
    }
    let skipped = [26, 28].map(|offset| number(file, local + offset, 2).map(|length| length as usize));
    let start = local.checked_add(LOCAL_LENGTH + skipped[0]? + skipped[1]?)?;
    bytes(file, start, entry.packed.try_into().ok()?)
}

fn unpacked<'a>(
    packed: &'a [u8],
    entry: &Entry,
    take: &dyn Fn(u64) -> Result<(), String>,
) -> Result<Cow<'a, [u8]>, String> {
    match entry.method {
        STORED => Ok(Cow::Borrowed(packed)),
        DEFLATED => {
            take(entry.size).map_err(|cause| format!("cannot be unpacked: {cause}"))?;
            let mut out = Vec::new();
            let read = DeflateDecoder::new(packed).take(entry.size.saturating_add(1)).read_to_end(&mut out);
            match read {
                Ok(_) if out.len() as u64 == entry.size => Ok(Cow::Owned(out)),
                _ => Err("is damaged: write the archive again".to_owned()),
            }
        }
        method => Err(format!("is packed with method {method}: write it with numpy.savez or savez_compressed")),
    }
}
