//! Masks as COCO stores them: runs of pixels along columns, and their compressed text.

use std::{collections::BTreeMap, ops::Range};

/// A mask: its runs of pixels in column-major order, ascending and apart from each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    runs: Vec<Range<u32>>,
    height: u32,
}

/// The mask of each number in a map with rows from the top. Pixels without a number belong to no mask. The map has at most 2^32 pixels.
pub fn runs_by_number<K: Copy + Ord>(
    (width, height): (u32, u32),
    number: impl Fn(usize) -> Option<K>,
) -> BTreeMap<K, Runs> {
    let at = |x: u32, y: u32| number(y as usize * width as usize + x as usize);
    runs_in([0..width, 0..height], height, at)
}

/// The mask of the pixels in these columns and rows of a map of this height for which `covers(column, row)` is true.
pub fn mask_in(sides: [Range<u32>; 2], height: u32, covers: impl Fn(u32, u32) -> bool) -> Runs {
    let mut masks = runs_in(sides, height, |x, y| covers(x, y).then_some(()));
    masks.remove(&()).unwrap_or(Runs { runs: Vec::new(), height })
}

fn runs_in<K: Copy + Ord>(
    [columns, rows]: [Range<u32>; 2],
    height: u32,
    number: impl Fn(u32, u32) -> Option<K>,
) -> BTreeMap<K, Runs> {
    let mut masks: BTreeMap<K, Runs> = BTreeMap::new();
    let mut open: Option<(K, Range<u32>)> = None;
    let close = |open: Option<(K, Range<u32>)>, masks: &mut BTreeMap<K, Runs>| {
        if let Some((number, run)) = open {
            masks.entry(number).or_insert_with(|| Runs { runs: Vec::new(), height }).runs.push(run);
        }
    };
    for (x, y) in columns.flat_map(|x| rows.clone().map(move |y| (x, y))) {
        let (here, at) = (number(x, y), x * height + y);
        match &mut open {
            Some((number, run)) if here == Some(*number) && run.end == at => run.end += 1,
            _ => {
                close(open.take(), &mut masks);
                open = here.map(|number| (number, at..at + 1));
            }
        }
    }
    close(open, &mut masks);
    masks
}

impl Runs {
    /// Number of pixels.
    pub fn area(&self) -> u64 {
        self.runs.iter().map(|run| u64::from(run.end - run.start)).sum()
    }

    /// The smallest box around all pixels: its left and upper edge, width and height. The mask must not be empty.
    pub fn bounds(&self) -> [u32; 4] {
        let columns = self.runs.iter().map(|run| (run.start / self.height, (run.end - 1) / self.height));
        let (mut left, mut right, mut top, mut bottom) = (u32::MAX, 0, u32::MAX, 0);
        for (run, (first, last)) in self.runs.iter().zip(columns) {
            (left, right) = (left.min(first), right.max(last));
            // A run that goes on in the next column touches the bottom and the top.
            let (from, to) = if first == last {
                (run.start % self.height, (run.end - 1) % self.height)
            } else {
                (0, self.height - 1)
            };
            (top, bottom) = (top.min(from), bottom.max(to));
        }
        [left, top, right + 1 - left, bottom + 1 - top]
    }

    /// Lengths of runs outside and inside the mask in turn, beginning outside, up to the last pixel of a picture with `pixels` pixels.
    fn counts(&self, pixels: u32) -> Vec<u32> {
        let mut counts = Vec::with_capacity(2 * self.runs.len() + 1);
        let mut end = 0;
        for run in &self.runs {
            counts.extend([run.start - end, run.end - run.start]);
            end = run.end;
        }
        if end < pixels {
            counts.push(pixels - end);
        }
        counts
    }

    /// COCO's compressed text of the mask in a picture with `pixels` pixels (`rleToString` of the COCO API): each count from the third on as the
    /// difference to the count before the previous one, in groups of five bits, the lowest first.
    pub fn compressed(&self, pixels: u32) -> String {
        let counts = self.counts(pixels);
        let mut text = String::new();
        for (index, &count) in counts.iter().enumerate() {
            let before = if index > 2 { counts[index - 2] } else { 0 };
            push_number(&mut text, i64::from(count) - i64::from(before));
        }
        text
    }
}

/// Appends a signed number. Bit 5 of a character says that more follow, and its bit 4 is the sign of the last.
fn push_number(text: &mut String, mut number: i64) {
    loop {
        let low = (number & 0x1f) as u8;
        number >>= 5;
        let is_last = if low & 0x10 != 0 { number == -1 } else { number == 0 };
        text.push(char::from(48 + if is_last { low } else { low | 0x20 }));
        if is_last {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Masks of a map of digits; points belong to no mask.
    fn masks(rows: &[&str]) -> BTreeMap<u8, Runs> {
        let width = rows[0].len();
        let all: Vec<u8> = rows.concat().into_bytes();
        runs_by_number((width as u32, rows.len() as u32), |at| (all[at] != b'.').then_some(all[at]))
    }

    #[test]
    fn masks_have_the_pixels_of_their_number() {
        let masks = masks(&["11..", "1122", ".122"]);
        let [one, two] = [b'1', b'2'].map(|number| &masks[&number]);
        assert_eq!((one.area(), one.bounds()), (5, [0, 0, 2, 3]));
        assert_eq!((two.area(), two.bounds()), (4, [2, 1, 2, 2]));
        assert_eq!(one.counts(12), [0, 2, 1, 3, 6]);
        assert_eq!(two.counts(12), [7, 2, 1, 2]);
    }

    #[test]
    fn a_run_over_two_columns_has_the_whole_height() {
        let masks = masks(&[".1.", "1..", "1.."]);
        assert_eq!(masks[&b'1'].bounds(), [0, 0, 2, 3]);
        assert_eq!(masks[&b'1'].counts(9), [1, 3, 5]);
    }

    #[test]
    fn a_mask_in_a_part_of_a_map_has_the_runs_of_the_whole_map() {
        let covers = |x: u32, y: u32| !(x + y).is_multiple_of(3);
        let part = mask_in([2..5, 1..4], 5, covers);
        let inside = |at: usize| (2..5).contains(&(at % 6)) && (1..4).contains(&(at / 6));
        let whole = runs_by_number((6, 5), |at| (inside(at) && covers(at as u32 % 6, at as u32 / 6)).then_some(()));
        assert_eq!(part, whole[&()]);
        let columns = mask_in([1..3, 0..5], 5, |_, _| true);
        assert_eq!((columns.counts(30), columns.area()), (vec![5, 10, 15], 10));
        assert_eq!(mask_in([0..0, 0..0], 5, |_, _| true).compressed(30), "n0");
    }

    #[test]
    fn texts_are_those_of_the_coco_api() {
        // Made with pycocotools.mask.encode.
        let masks = masks(&["11..", "1122", ".122"]);
        assert_eq!(masks[&b'1'].compressed(12), "02115");
        assert_eq!(masks[&b'2'].compressed(12), "7210");
        let places = |x: usize, y: usize| match (x, y) {
            (100..103, 50..52) | (200, 90) | (201, 60..199) => Some(()),
            _ => None,
        };
        let scattered = runs_by_number((300, 200), |at| places(at % 300, at / 300));
        assert_eq!(scattered[&()].compressed(60_000), "bbc02V6000`ob0Oco\\OZ4Xob0");
    }
}
