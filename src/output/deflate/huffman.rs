//! Huffman codes of limited length, and the tables with which a block of deflate begins.

use super::{BitWriter, DISTANCE, LITERALS};

/// Bits of the longest code: four of them and seven bits that wait fit into 64.
const LONGEST: usize = 14;
/// The order in which the lengths of the codes for code lengths are written.
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// A code for each symbol that occurs.
pub struct Code {
    /// Bits of a symbol's code; 0 if it does not occur.
    lengths: [u8; LITERALS],
    /// The code of each symbol, its first bit lowest, and its length from bit 16 on.
    entries: [u32; LITERALS],
}

impl Code {
    pub fn new(counts: &[u32; LITERALS]) -> Self {
        let lengths = code_lengths(counts, LONGEST);
        let mut entries = canonical(&lengths).map(u32::from);
        let with_lengths = entries.iter_mut().zip(lengths);
        with_lengths.for_each(|(entry, length)| *entry |= u32::from(length) << 16);
        Self { lengths, entries }
    }

    /// The code of `symbol` and the number of its bits.
    #[inline(always)]
    pub fn of(&self, symbol: usize) -> (u64, u32) {
        let entry = self.entries[symbol];
        ((entry & 0xffff).into(), entry >> 16)
    }

    /// Number of bits that symbols take which occur `counts` times, without the extra bits of lengths.
    pub fn cost(&self, counts: &[u32; LITERALS]) -> u64 {
        let each = counts.iter().zip(self.lengths);
        each.map(|(&count, length)| u64::from(count) * u64::from(length)).sum()
    }
}

/// Lengths of an optimal prefix code by the two-queue method, cut to `longest` where it is deeper and then made complete again.
fn code_lengths<const N: usize>(counts: &[u32; N], longest: usize) -> [u8; N] {
    let mut used: Vec<(u32, usize)> =
        (0..N).filter(|&symbol| counts[symbol] > 0).map(|symbol| (counts[symbol], symbol)).collect();
    used.sort_unstable();
    let mut lengths = [0; N];
    if let [(_, only)] = used[..] {
        lengths[only] = 1;
        return lengths;
    }
    let mut per_length = depths(&used, longest);
    make_complete(&mut per_length, longest);
    // The rarest symbols get the longest codes.
    let mut symbols = used.iter();
    for length in (1..=longest).rev() {
        for &(_, symbol) in symbols.by_ref().take(per_length[length]) {
            lengths[symbol] = length as u8;
        }
    }
    lengths
}

/// Number of leaves at each depth of the Huffman tree of `used` (by growing counts); all deeper than `longest` count at `longest`.
fn depths(used: &[(u32, usize)], longest: usize) -> [usize; LONGEST + 1] {
    let leaves = used.len();
    // Leaves, then inner nodes in the order in which they are made, which is that of their counts.
    let mut weights: Vec<u64> = used.iter().map(|&(count, _)| count.into()).collect();
    let mut parents = vec![0; leaves];
    let (mut leaf, mut inner) = (0, leaves);
    for node in leaves..(2 * leaves).saturating_sub(1) {
        let mut weight = 0;
        for _ in 0..2 {
            let from_leaves = leaf < leaves && (inner >= node || weights[leaf] <= weights[inner]);
            let next = if from_leaves { &mut leaf } else { &mut inner };
            weight += weights[*next];
            parents[*next] = node;
            *next += 1;
        }
        weights.push(weight);
        parents.push(0);
    }
    let mut depth = vec![0usize; weights.len()];
    let mut per_length = [0; LONGEST + 1];
    for node in (0..weights.len().saturating_sub(1)).rev() {
        depth[node] = depth[parents[node]] + 1;
        if node < leaves {
            per_length[depth[node].min(longest)] += 1;
        }
    }
    per_length
}

/// Moves leaves until codes of these lengths fill the space of codes exactly (Kraft's sum is 1).
fn make_complete(per_length: &mut [usize; LONGEST + 1], longest: usize) {
    let sum = |counts: &[usize]| -> usize {
        let each = counts.iter().enumerate().skip(1);
        each.map(|(length, count)| count << (longest - length)).sum()
    };
    while sum(&per_length[..=longest]) > 1 << longest {
        // Two leaves of the greatest length: one takes the place of a shorter leaf, beside it.
        let Some(shorter) = (1..longest).rev().find(|&length| per_length[length] > 0) else {
            return;
        };
        per_length[shorter] -= 1;
        per_length[shorter + 1] += 2;
        per_length[longest] -= 1;
    }
}

/// Makes the codes of RFC 1951, 3.2.2: those of one length in the order of symbols, their first bit lowest.
fn canonical<const N: usize>(lengths: &[u8; N]) -> [u16; N] {
    let mut next = [0u16; 17];
    for length in 1..=15 {
        let shorter = lengths.iter().filter(|&&l| usize::from(l) == length).count();
        next[length + 1] = (next[length] + shorter as u16) << 1;
    }
    let mut bits = [0; N];
    for (bits, &length) in bits.iter_mut().zip(lengths) {
        if length > 0 {
            let code = &mut next[usize::from(length)];
            *bits = code.reverse_bits() >> (16 - length);
            *code += 1;
        }
    }
    bits
}

/// Writes the lengths of all codes, themselves coded. `any_run` says whether the code for the distance is needed.
pub fn write_tables(code: &Code, any_run: bool, out: &mut BitWriter) {
    let symbols = code.lengths.iter().rposition(|&l| l > 0).map_or(257, |last| last + 1);
    let mut lengths = code.lengths[..symbols.max(257)].to_vec();
    let literals = lengths.len();
    // A table with the one code that distances have; without runs, one code of no bits.
    match any_run {
        true => lengths.extend([0, 1]),
        false => lengths.push(0),
    }
    debug_assert!(!any_run || lengths[literals + DISTANCE] == 1);
    let packed = pack_lengths(&lengths);
    let mut counts = [0; 19];
    for &(symbol, ..) in &packed {
        counts[symbol] += 1;
    }
    let meta = code_lengths(&counts, 7);
    let meta_bits = canonical(&meta);
    let written = ORDER.iter().rposition(|&symbol| meta[symbol] > 0).map_or(4, |last| last + 1).max(4);
    out.put((literals - 257) as u64, 5);
    out.put((lengths.len() - literals - 1) as u64, 5);
    out.put((written - 4) as u64, 4);
    for &symbol in &ORDER[..written] {
        out.put(meta[symbol].into(), 3);
    }
    for (symbol, extra, extra_bits) in packed {
        out.put(meta_bits[symbol].into(), meta[symbol].into());
        out.put(extra.into(), extra_bits);
    }
}

/// Packs lengths as in RFC 1951, 3.2.7: (symbol, extra bits, their number); 16 repeats the last length, 17 and 18 stand for zeros.
fn pack_lengths(lengths: &[u8]) -> Vec<(usize, u32, u32)> {
    let mut packed = Vec::new();
    for run in lengths.chunk_by(|a, b| a == b) {
        let value = usize::from(run[0]);
        let mut left = run.len();
        if value != 0 {
            packed.push((value, 0, 0));
            left -= 1;
        }
        while left > 0 {
            let (symbol, count, base, bits) = match (value, left) {
                (_, 1..=2) => (value, 1, 1, 0),
                (0, 3..=10) => (17, left, 3, 3),
                (0, _) => (18, left.min(138), 11, 7),
                _ => (16, left.min(6), 3, 2),
            };
            packed.push((symbol, (count - base) as u32, bits));
            left -= count;
        }
    }
    packed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kraft(lengths: &[u8]) -> f64 {
        let used = lengths.iter().filter(|&&l| l > 0);
        used.map(|&l| 0.5f64.powi(l.into())).sum()
    }

    #[test]
    fn codes_are_complete_and_never_too_long() {
        let mut counts = [0; LITERALS];
        let (mut a, mut b) = (1u32, 1u32);
        for count in counts.iter_mut().take(40) {
            *count = a;
            (a, b) = (b, a + b);
        }
        let lengths = code_lengths(&counts, LONGEST);
        assert!(lengths.iter().all(|&l| usize::from(l) <= LONGEST));
        assert_eq!(kraft(&lengths), 1.0);
        assert!(lengths[39] < lengths[0]);
        assert_eq!(kraft(&code_lengths(&[1; LITERALS], LONGEST)), 1.0);
    }

    #[test]
    fn frequent_symbols_get_the_codes_that_huffman_gives_them() {
        assert_eq!(code_lengths(&[1, 1, 2, 4, 0], 7), [3, 3, 2, 1, 0]);
        assert_eq!(code_lengths(&[0, 9, 0], 7), [0, 1, 0]);
        assert_eq!(canonical(&[3, 3, 2, 1, 0]), [0b011, 0b111, 0b01, 0, 0]);
    }
}
