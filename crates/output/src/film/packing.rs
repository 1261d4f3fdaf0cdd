//! Packing of exact sums: each row is stored column by column, with as few bytes per number as the differences in the row need.

use std::ops::Range;

/// The layout of a pixel's sums, in parts by their location in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// For each part, the number of words of each number.
    parts: [Vec<u8>; 3],
}

/// Incremental checksum. It depends on the order of the pieces and on how bytes are divided into pieces.
pub struct Checksum(pub u64);

impl Default for Checksum {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Checksum {
    /// Checksum of row `number`.
    fn of_row(number: u32, bytes: &[u8]) -> u64 {
        let mut sum = Self::default();
        sum.add(&number.to_le_bytes());
        sum.add(bytes);
        sum.0
    }

    pub fn add(&mut self, bytes: &[u8]) {
        let mut word = |word: u64| {
            self.0 = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            self.0 ^= self.0 >> 32;
        };
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|w| word(u64::from_le_bytes(*w)));
        rest.iter().for_each(|b| word(u64::from(*b)));
    }
}

impl Columns {
    /// Creates a layout from the number of words of each number in the three parts: the sums, the sums of odd-numbered samples, and the
    /// sums of layers.
    pub fn new(parts: [Vec<u8>; 3]) -> Self {
        Self { parts }
    }

    /// Number of words per pixel in each part.
    pub fn words(&self) -> [usize; 3] {
        self.parts.each_ref().map(|part| part.iter().map(|&words| usize::from(words)).sum())
    }

    /// Maximum number of bytes of a packed row of `width` pixels.
    pub fn most_bytes(&self, width: usize) -> usize {
        let column = |&words: &u8| 1 + 4 * usize::from(words) * (width + 1);
        self.parts.iter().flatten().map(column).sum::<usize>() + 8
    }

    /// Range of words in a part that the `rows` of a film of `width` pixels occupy.
    pub fn range(&self, part: usize, width: usize, rows: &Range<usize>) -> Range<usize> {
        let row = width * self.words()[part];
        row * rows.start..row * rows.end
    }

    /// Appends row `number`, given as its words in each part.
    pub fn pack(&self, number: u32, row: [&[u32]; 3], width: usize, out: &mut Vec<u8>) {
        let start = out.len();
        let mut values = Vec::with_capacity(width);
        for ((part, words), stride) in self.parts.iter().zip(row).zip(self.words()) {
            let mut offset = 0;
            for &size in part {
                let size = usize::from(size);
                values.clear();
                let pixels = words.chunks_exact(stride);
                values.extend(pixels.map(|pixel| number_of(&pixel[offset..offset + size])));
                pack_column(&values, 4 * size, out);
                offset += size;
            }
        }
        let sum = Checksum::of_row(number, &out[start..]);
        out.extend(sum.to_le_bytes());
    }

    /// Unpacks row `number` of `width` pixels into words in each part. None if the row is damaged.
    pub fn unpack(&self, number: u32, bytes: &[u8], width: usize, mut row: [&mut [u32]; 3]) -> Option<()> {
        let (mut left, sum) = bytes.split_last_chunk::<8>()?;
        if Checksum::of_row(number, left) != u64::from_le_bytes(*sum) {
            return None;
        }
        for ((part, words), stride) in self.parts.iter().zip(&mut row).zip(self.words()) {
            let mut offset = 0;
            for &size in part {
                let size = usize::from(size);
                let column = words.chunks_exact_mut(stride).map(|pixel| &mut pixel[offset..offset + size]);
                left = unpack_column(left, width, size, column)?;
                offset += size;
            }
        }
        left.is_empty().then_some(())
    }
}

/// The signed number stored in one to three words, lowest word first.
fn number_of(words: &[u32]) -> i128 {
    match *words {
        [low] => i128::from(low as i32),
        [low, high] => i128::from((u64::from(high) << 32 | u64::from(low)) as i64),
        [low, middle, high] => i128::from(high as i32) << 64 | i128::from(u64::from(middle) << 32 | u64::from(low)),
        _ => 0,
    }
}

/// Appends a column: the number of bytes per value, the least value, and the difference of each value from it.
fn pack_column(values: &[i128], bytes: usize, out: &mut Vec<u8>) {
    let least = values.iter().copied().min().unwrap_or_default();
    let greatest = values.iter().copied().max().unwrap_or_default();
    let size = (128 - (greatest - least).leading_zeros()).div_ceil(8) as usize;
    out.push(size as u8);
    out.extend(&least.to_le_bytes()[..bytes]);
    let start = out.len();
    // Each number is written with 16 bytes; the next one overwrites the excess.
    out.resize(start + size * values.len() + 16, 0);
    for (i, value) in values.iter().enumerate() {
        let at = start + size * i;
        out[at..at + 16].copy_from_slice(&(value - least).to_le_bytes());
    }
    out.truncate(start + size * values.len());
}

/// Unpacks a column into words, and returns the bytes after it. None if the column is cut short.
fn unpack_column<'a, 'b>(
    bytes: &'a [u8],
    width: usize,
    words: usize,
    column: impl Iterator<Item = &'b mut [u32]>,
) -> Option<&'a [u8]> {
    let (&size, rest) = bytes.split_first()?;
    let size = usize::from(size);
    let (least, rest) = rest.split_at_checked(4 * words)?;
    let (values, rest) = rest.split_at_checked(size.checked_mul(width)?)?;
    if size > 4 * words {
        return None;
    }
    let mut base = [0; 12];
    base[..4 * words].copy_from_slice(least);
    let low = u64::from_le_bytes([base[0], base[1], base[2], base[3], base[4], base[5], base[6], base[7]]);
    let high = u32::from_le_bytes([base[8], base[9], base[10], base[11]]);
    let put = |more: u64, much_more: u32, to: &mut [u32]| {
        let (low, carry) = low.overflowing_add(more);
        let high = high.wrapping_add(much_more).wrapping_add(carry.into());
        for (word, value) in to.iter_mut().zip([low as u32, (low >> 32) as u32, high]) {
            *word = value;
        }
    };
    if size == 0 {
        column.for_each(|to| put(0, 0, to));
        return Some(rest);
    }
    // Numbers of up to 8 bytes are read as whole words; the upper bytes belong to the next number and are masked. The last few are read
    // bytewise.
    let mask = if size < 8 { (1u64 << (8 * size)) - 1 } else { u64::MAX };
    for (i, to) in column.enumerate() {
        let bytes = &values[size * i..];
        match bytes.first_chunk::<8>() {
            Some(bytes) if size <= 8 => put(u64::from_le_bytes(*bytes) & mask, 0, to),
            _ => {
                let mut all = [0; 12];
                all[..size].copy_from_slice(&bytes[..size]);
                let [a, b, c, d, e, f, g, h, rest @ ..] = all;
                put(u64::from_le_bytes([a, b, c, d, e, f, g, h]), u32::from_le_bytes(rest), to);
            }
        }
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(throng_testing::same_cases(64))]

        #[test]
        fn rows_come_back_as_they_were(
            words in proptest::collection::vec(prop_oneof![any::<u32>(), 0u32..3, Just(u32::MAX)], 13 * 7),
            number in any::<u32>(),
        ) {
            let columns = Columns::new([vec![3, 3, 3, 1], vec![], vec![2, 1]]);
            let (sums, layers) = words.split_at(10 * 7);
            let mut packed = vec![9];
            columns.pack(number, [sums, &[], layers], 7, &mut packed);
            prop_assert!(packed.len() <= 1 + columns.most_bytes(7));
            let mut read = [vec![0; 70], vec![], vec![0; 21]];
            let [a, b, c] = &mut read;
            prop_assert_eq!(columns.unpack(number, &packed[1..], 7, [a, b, c]), Some(()));
            prop_assert_eq!(&read[0], sums);
            prop_assert_eq!(&read[2], layers);
            let [a, b, c] = &mut read;
            prop_assert_eq!(columns.unpack(number ^ 1, &packed[1..], 7, [a, b, c]), None);
        }
    }

    #[test]
    fn what_is_alike_takes_next_to_nothing() {
        let columns = Columns::new([vec![1], vec![], vec![]]);
        let mut packed = Vec::new();
        columns.pack(0, [&[7; 1000], &[], &[]], 1000, &mut packed);
        assert_eq!(packed.len(), 1 + 4 + 8);
    }
}
