//! Computes which samples of which pixels a set of films contains.

use super::MergeError;
use std::{fmt::Write as _, ops::Range};
use throng_device::Region;

/// A film's region and the samples of each of its pixels: ascending, disjoint ranges, counted from 0.
pub struct Piece {
    pub name: String,
    pub region: Region,
    pub samples: Vec<Range<u32>>,
}

/// Checks that every pixel of `within` has each sample of `wanted` exactly once. If `wanted` is None, all pixels must have equal
/// samples. Returns these samples.
///
/// # Errors
/// [`MergeError::Overlap`] if a sample of a pixel occurs in two pieces; [`MergeError::Gap`] if samples are missing.
pub fn check(pieces: &[Piece], within: Region, wanted: Option<Vec<Range<u32>>>) -> Result<Vec<Range<u32>>, MergeError> {
    let cells = cells(pieces, within)?;
    let all = || cells.iter().fold(Vec::new(), |all, (_, samples)| union(all, samples));
    let wanted = wanted.unwrap_or_else(all);
    let missing = cells.iter().map(|(cell, samples)| (cell, without(&wanted, samples)));
    let mut gaps = missing.filter(|(_, missing)| !missing.is_empty());
    let Some((region, missing)) = gaps.next() else {
        return Ok(wanted);
    };
    let place = if *region == within { String::new() } else { format!(" of the region {region}") };
    let more = match gaps.count() {
        0 => String::new(),
        count => format!(", and {count} more regions are incomplete"),
    };
    Err(MergeError::Gap { samples: text(&missing), place, more })
}

/// A rectangle and the samples of its pixels.
type Cell = (Region, Vec<Range<u32>>);

/// Cuts a region into cells along the pieces' edges, and finds the samples of each cell. Every piece covers a cell either entirely or not
/// at all.
fn cells(pieces: &[Piece], within: Region) -> Result<Vec<Cell>, MergeError> {
    let edges = |begin: fn(&Region) -> u32, end: fn(&Region) -> u32| {
        let regions = pieces.iter().map(|piece| piece.region).chain([within]);
        let mut edges: Vec<u32> = regions.flat_map(|region| [begin(&region), end(&region)]).collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    };
    let (columns, rows) = (edges(|r| r.x, Region::right), edges(|r| r.y, Region::bottom));
    let mut cells = Vec::new();
    for row in rows.windows(2) {
        let is_there = |piece: &&Piece| piece.region.y <= row[0] && row[1] <= piece.region.bottom();
        let strip: Vec<&Piece> = pieces.iter().filter(is_there).collect();
        for column in columns.windows(2) {
            let cell = Region { x: column[0], y: row[0], width: column[1] - column[0], height: row[1] - row[0] };
            if within.contains(&cell) {
                cells.push((cell, samples_of(&strip, &cell)?));
            }
        }
    }
    Ok(cells)
}

/// The union of two lists of ranges.
fn union(mut all: Vec<Range<u32>>, more: &[Range<u32>]) -> Vec<Range<u32>> {
    all.extend_from_slice(more);
    all.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<u32>> = Vec::new();
    for range in all {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// The samples that the pieces have for a cell, in ascending order.
fn samples_of(pieces: &[&Piece], cell: &Region) -> Result<Vec<Range<u32>>, MergeError> {
    let covering = pieces.iter().filter(|piece| piece.region.contains(cell));
    let mut ranges: Vec<(Range<u32>, &Piece)> =
        covering.flat_map(|piece| piece.samples.iter().map(|range| (range.clone(), *piece))).collect();
    ranges.sort_by_key(|(range, _)| (range.start, range.end));
    let mut joined: Vec<Range<u32>> = Vec::new();
    let mut last: Option<&Piece> = None;
    for (range, piece) in ranges {
        match joined.last_mut() {
            Some(before) if range.start < before.end => {
                let both = range.start..range.end.min(before.end);
                let first = last.map_or(String::new(), |piece| piece.name.clone());
                return Err(MergeError::Overlap {
                    first,
                    second: piece.name.clone(),
                    samples: text(&[both]),
                    region: *cell,
                });
            }
            Some(before) if range.start == before.end => before.end = range.end,
            _ => joined.push(range),
        }
        last = Some(piece);
    }
    Ok(joined)
}

/// The samples of `all` that are not in `some`.
fn without(all: &[Range<u32>], some: &[Range<u32>]) -> Vec<Range<u32>> {
    let mut left = Vec::new();
    for range in all {
        let mut begin = range.start;
        for other in some.iter().filter(|other| other.start < range.end && range.start < other.end) {
            if begin < other.start {
                left.push(begin..other.start);
            }
            begin = begin.max(other.end);
        }
        if begin < range.end {
            left.push(begin..range.end);
        }
    }
    left
}

/// Formats ranges with samples counted from 1, such as "1-32, 40".
pub fn text(ranges: &[Range<u32>]) -> String {
    let mut text = String::new();
    for range in ranges {
        let comma = if text.is_empty() { "" } else { ", " };
        let _ = match range.len() {
            1 => write!(text, "{comma}{}", range.end),
            _ => write!(text, "{comma}{}-{}", range.start + 1, range.end),
        };
    }
    text
}

#[cfg(test)]
#[expect(clippy::single_range_in_vec_init, reason = "lists of ranges may have one")]
mod tests {
    use super::*;

    const WHOLE: Region = Region { x: 0, y: 0, width: 8, height: 6 };

    fn piece(name: &str, region: Region, samples: &[Range<u32>]) -> Piece {
        Piece { name: name.into(), region, samples: samples.to_vec() }
    }

    fn told(pieces: &[Piece], wanted: Option<u32>) -> Result<String, String> {
        let wanted = wanted.map(|samples| vec![0..samples]);
        check(pieces, WHOLE, wanted).map(|samples| text(&samples)).map_err(|error| error.to_string())
    }

    #[test]
    fn samples_are_whole_in_any_order() {
        let parts = [piece("b", WHOLE, &[5..9]), piece("a", WHOLE, &[0..2, 4..5]), piece("c", WHOLE, &[2..4])];
        assert_eq!(told(&parts, Some(9)), Ok("1-9".into()));
        assert_eq!(told(&parts[..2], None), Ok("1-2, 5-9".into()));
        assert!(told(&parts[..2], Some(9)).unwrap_err().contains("samples 3-4"));
        assert!(told(&parts[1..], Some(9)).unwrap_err().contains("samples 6-9"));
    }

    #[test]
    fn overlaps_name_both_films() {
        let parts = [piece("a.film", WHOLE, &[0..5]), piece("b.film", WHOLE, &[4..9])];
        let error = told(&parts, Some(9)).unwrap_err();
        assert!(error.contains("a.film and b.film") && error.contains("samples 5"), "{error}");
        let within = [piece("a.film", WHOLE, &[0..9]), piece("b.film", WHOLE, &[2..3])];
        assert!(told(&within, Some(9)).is_err());
    }

    #[test]
    fn regions_complete_each_other_whatever_their_samples() {
        let left = Region { width: 3, ..WHOLE };
        let right = Region { x: 3, width: 5, ..WHOLE };
        let mut parts = vec![
            piece("a", left, &[0..4]),
            piece("b", right, &[0..2]),
            piece("c", Region { height: 2, ..right }, &[2..4]),
            piece("d", Region { y: 2, height: 4, ..right }, &[2..4]),
        ];
        assert_eq!(told(&parts, Some(4)), Ok("1-4".into()));
        parts.pop();
        let error = told(&parts, Some(4)).unwrap_err();
        assert!(error.contains("samples 3-4 of the region 3,2,5,4"), "{error}");
        assert!(told(&[], Some(1)).is_err());
    }
}
