//! Rows of exact sums as they are in files: column after column, each number in no more bytes than the row's differences take.

use std::ops::Range;

/// The words of a pixel's sums, in parts by where they are in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// Words of each number, part by part.
    parts: [Vec<u8>; 3],
}

/// A checksum of pieces of bytes, which depends on their order and on how they are cut.
pub struct Checksum(pub u64);

impl Default for Checksum {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Checksum {
    /// The checksum of the `number`th row.
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
    /// The columns of films whose pixels have numbers of so many words in each of the three parts: sums, those of samples with odd numbers,
    /// and those of layers.
    pub fn new(parts: [Vec<u8>; 3]) -> Self {
        Self { parts }
    }

    /// Words of a pixel in each of the parts.
    pub fn words(&self) -> [usize; 3] {
        self.parts.each_ref().map(|part| part.iter().map(|&words| usize::from(words)).sum())
    }

    /// Most bytes that a row of `width` pixels takes.
    pub fn most_bytes(&self, width: usize) -> usize {
        let column = |&words: &u8| 1 + 4 * usize::from(words) * (width + 1);
        self.parts.iter().flatten().map(column).sum::<usize>() + 8
    }

    /// The words of `rows` in a part of films of `width` pixels.
    pub fn range(&self, part: usize, width: usize, rows: &Range<usize>) -> Range<usize> {
        let row = width * self.words()[part];
        row * rows.start..row * rows.end
    }

    /// Appends the `number`th row, whose words these are, part by part.
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

    /// Reads the `number`th row of `width` pixels into words, part by part. None if it is damaged.
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

/// The signed number in one to three words, the lowest first.
fn number_of(words: &[u32]) -> i128 {
    match *words {
        [low] => i128::from(low as i32),
        [low, high] => i128::from((u64::from(high) << 32 | u64::from(low)) as i64),
        [low, middle, high] => i128::from(high as i32) << 64 | i128::from(u64::from(middle) << 32 | u64::from(low)),
        _ => 0,
    }
}

/// Appends a column: the bytes of each number, the least number, and how much greater each one is.
fn pack_column(values: &[i128], bytes: usize, out: &mut Vec<u8>) {
    let least = values.iter().copied().min().unwrap_or_default();
    let greatest = values.iter().copied().max().unwrap_or_default();
    let size = (128 - (greatest - least).leading_zeros()).div_ceil(8) as usize;
    out.push(size as u8);
    out.extend(&least.to_le_bytes()[..bytes]);
    let start = out.len();
    // With room to write whole numbers, of which the next one overwrites what is too much.
    out.resize(start + size * values.len() + 16, 0);
    for (i, value) in values.iter().enumerate() {
        let at = start + size * i;
        out[at..at + 16].copy_from_slice(&(value - least).to_le_bytes());
    }
    out.truncate(start + size * values.len());
}

/// Reads a column into words, and returns what follows it. None if it is cut short.
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
    // All but the last few are read as whole words, of which the upper bytes belong to the next number.
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
        #![proptest_config(crate::testing::same_cases(64))]

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
