//! Finds runs of bytes that repeat those two before them, and encodes their lengths for deflate.

use super::LITERALS;

/// Literal bytes, followed by bytes that repeat the last two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    pub literals: usize,
    pub repeats: usize,
}

/// Greatest length that deflate has; longer runs are divided.
const LONGEST: usize = 258;
/// Shortest run that is encoded as one; for shorter ones, literals take about as few bits.
const SHORTEST: usize = 8;

/// Symbols 257 to 284 stand for lengths from these on.
const BASES: [u16; 28] =
    [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227];
const EXTRA_BITS: [u8; 28] = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5];

/// Returns how many of `repeats` bytes to encode at once, such that the rest is never too short to be encoded.
pub fn next_length(repeats: usize) -> usize {
    match repeats {
        0..=LONGEST => repeats,
        _ if repeats - LONGEST < 3 => LONGEST - 3,
        _ => LONGEST,
    }
}

/// Returns the symbol, and the value and number of the extra bits, for a length from 3 to 258.
pub fn length_symbol(length: usize) -> (usize, u32, u32) {
    if length >= LONGEST {
        return (285, 0, 0);
    }
    let index = BASES.partition_point(|&base| usize::from(base) <= length) - 1;
    let extra = length - usize::from(BASES[index]);
    (257 + index, extra as u32, EXTRA_BITS[index].into())
}

/// Scans data once, block by block.
pub struct Scanner<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    pub fn new(data: &'a [u8]) -> Self {
        Self { data, at: 0 }
    }

    /// Position up to which blocks have been scanned.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Scans the next block: at most `literals` literals and the repeats of a run at its end, and at most `bytes` bytes. Fills `runs`
    /// and returns how often each symbol occurs.
    pub fn scan(&mut self, literals: usize, bytes: usize, runs: &mut Vec<Run>) -> [u32; LITERALS] {
        runs.clear();
        let mut counts = Counts::default();
        let mut left = literals;
        let end = self.data.len().min(self.at.saturating_add(bytes));
        while self.at < end && left > 0 {
            let start = self.at;
            let run_at = self.next_run(start, left.min(end - start));
            counts.add(&self.data[start..run_at]);
            let repeats = match run_at {
                at if at < 2 => 0,
                at => common_length(&self.data[at..end], &self.data[at - 2..]),
            };
            let repeats = if repeats < SHORTEST { 0 } else { repeats };
            counts.add_repeats(repeats);
            left -= (run_at - start).min(left);
            runs.push(Run { literals: run_at - start, repeats });
            self.at = run_at + repeats;
        }
        counts.sum()
    }

    /// Returns where the first run from `from` on begins, at most `limit` bytes further. Compares whole words of eight bytes, which finds
    /// every run of at least 15 bytes.
    fn next_run(&self, from: usize, limit: usize) -> usize {
        let end = self.data.len().min(from.saturating_add(limit));
        let first = from.max(2);
        let (Some(bytes), Some(before)) = (self.data.get(first..end), self.data.get(first - 2..end)) else {
            return end;
        };
        let mut words = bytes.as_chunks::<8>().0.iter().zip(before.as_chunks::<8>().0);
        let Some(inside) = words.position(|(word, before)| word == before) else {
            return end;
        };
        let mut at = first + 8 * inside;
        while at > first && self.data[at - 1] == self.data[at - 3] {
            at -= 1;
        }
        at
    }
}

/// Number of bytes that `a` and `b` have in common at their beginning.
fn common_length(a: &[u8], b: &[u8]) -> usize {
    let words = a.chunks_exact(32).zip(b.chunks_exact(32));
    let whole = 32 * words.take_while(|(a, b)| a == b).count();
    let rest = a[whole..].iter().zip(&b[whole..]);
    whole + rest.take_while(|(a, b)| a == b).count()
}

/// Counts of symbols. Literals have four tables, since equal bytes in a row would wait for each other's count.
struct Counts {
    tables: [[u32; 256]; 4],
    lengths: [u32; LITERALS - 256],
}

impl Default for Counts {
    fn default() -> Self {
        Self { tables: [[0; 256]; 4], lengths: [0; LITERALS - 256] }
    }
}

impl Counts {
    fn add(&mut self, literals: &[u8]) {
        let [a, b, c, d] = &mut self.tables;
        let (words, rest) = literals.as_chunks::<8>();
        for &word in words {
            let word = u64::from_le_bytes(word);
            let byte = |index: u32| (word >> (8 * index)) as usize & 0xff;
            a[byte(0)] += 1;
            b[byte(1)] += 1;
            c[byte(2)] += 1;
            d[byte(3)] += 1;
            a[byte(4)] += 1;
            b[byte(5)] += 1;
            c[byte(6)] += 1;
            d[byte(7)] += 1;
        }
        for &byte in rest {
            a[usize::from(byte)] += 1;
        }
    }

    fn add_repeats(&mut self, mut repeats: usize) {
        while repeats > 0 {
            let length = next_length(repeats);
            self.lengths[length_symbol(length).0 - 256] += 1;
            repeats -= length;
        }
    }

    fn sum(&self) -> [u32; LITERALS] {
        let mut sum = [0; LITERALS];
        for (symbol, sum) in sum.iter_mut().enumerate().take(256) {
            *sum = self.tables.iter().map(|table| table[symbol]).sum();
        }
        sum[256..].copy_from_slice(&self.lengths);
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_has_the_symbol_that_the_standard_gives_it() {
        assert_eq!(length_symbol(3), (257, 0, 0));
        assert_eq!(length_symbol(10), (264, 0, 0));
        assert_eq!(length_symbol(12), (265, 1, 1));
        assert_eq!(length_symbol(257), (284, 30, 5));
        assert_eq!(length_symbol(258), (285, 0, 0));
    }

    #[test]
    fn no_rest_of_a_run_is_too_short_to_be_said() {
        for repeats in SHORTEST..2000 {
            let mut left = repeats;
            while left > 0 {
                let length = next_length(left);
                assert!((3..=LONGEST).contains(&length), "{repeats}: {length}");
                left -= length;
            }
        }
    }

    #[test]
    fn a_run_begins_behind_the_last_byte_that_differs() {
        let data = [b"abcdefg".as_slice(), &[9; 40], b"xyz"].concat();
        let mut runs = Vec::new();
        let mut scanner = Scanner::new(&data);
        scanner.scan(1000, 1000, &mut runs);
        let run = |literals, repeats| Run { literals, repeats };
        // The first two of the equal bytes are what the others repeat.
        assert_eq!(runs, [run(9, 38), run(3, 0)]);
        assert_eq!(scanner.at(), data.len());
    }
}
