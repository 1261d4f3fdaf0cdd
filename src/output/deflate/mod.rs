//! A zlib encoder (RFC 1950, 1951) for predicted data, which uses only repeats of the last two bytes and Huffman codes.
//!
//! OpenEXR's predictor leaves equal bytes, or two alternating bytes, wherever a channel does not change, and noise elsewhere. A
//! general search for matches finds next to nothing more there and takes ten times as long.

mod bits;
mod huffman;
mod runs;

use bits::BitWriter;
use huffman::Code;
use runs::{Run, Scanner};

/// Symbols for literals, the end of a block and lengths.
const LITERALS: usize = 286;
const END: usize = 256;
/// The code of distance 2.
const DISTANCE: usize = 1;

/// Most literals that share a table of codes; the table itself takes about 80 bytes and a few microseconds.
const BLOCK_LITERALS: usize = 48 << 10;
/// Most bytes of a block, which stay in the core's cache over several passes.
const BLOCK_BYTES: usize = 256 << 10;
/// Codes that save less than 1/`WORTH` of a block are not worth the time.
const WORTH: usize = 16;
/// Most bytes of one stored block.
const STORED: usize = 0xffff;

/// Appends `data` as a zlib stream to `out`. Any decoder reads it; nothing is allocated that grows with `data`.
pub fn compress(data: &[u8], out: &mut Vec<u8>) {
    // Deflate, window of 32 KiB, fastest; the two bytes are a multiple of 31.
    out.extend([0x78, 0x01]);
    let mut adler = simd_adler32::Adler32::new();
    let mut writer = BitWriter::new(out);
    let mut scanner = Scanner::new(data);
    let mut runs = Vec::new();
    loop {
        let start = scanner.at();
        let counts = scanner.scan(BLOCK_LITERALS, BLOCK_BYTES, &mut runs);
        let block = &data[start..scanner.at()];
        adler.write(block);
        let last = scanner.at() == data.len();
        write_block(block, &runs, counts, last, &mut writer);
        if last {
            break;
        }
    }
    writer.finish();
    out.extend(adler.finish().to_be_bytes());
}

/// Writes a block with Huffman codes made for it, or as it is where codes save next to nothing.
fn write_block(block: &[u8], runs: &[Run], mut counts: [u32; LITERALS], last: bool, out: &mut BitWriter) {
    counts[END] = 1;
    let code = Code::new(&counts);
    let any_run = runs.iter().any(|run| run.repeats > 0);
    let bytes = (code.cost(&counts) / 8) as usize;
    if bytes + block.len() / WORTH >= block.len() {
        return write_stored(block, last, out);
    }
    // Lengths may have five extra bits, and have one for their distance.
    out.reserve(bytes + block.len() / 64);
    out.put(u64::from(last) | 2 << 1, 3);
    huffman::write_tables(&code, any_run, out);
    let mut at = 0;
    for run in runs {
        write_literals(&block[at..at + run.literals], &code, out);
        write_repeats(run.repeats, &code, out);
        at += run.literals + run.repeats;
    }
    let (bits, count) = code.of(END);
    out.put(bits, count);
}

fn write_literals(literals: &[u8], code: &Code, out: &mut BitWriter) {
    // Codes have at most 14 bits, so that four fit beside the bits that wait for a whole byte.
    let (groups, rest) = literals.as_chunks::<4>();
    for &[a, b, c, d] in groups {
        let (a, a_count) = code.of(a.into());
        let (b, b_count) = code.of(b.into());
        let (c, c_count) = code.of(c.into());
        let (d, d_count) = code.of(d.into());
        let (first, first_count) = (a | b << a_count, a_count + b_count);
        let (second, second_count) = (c | d << c_count, c_count + d_count);
        out.put(first | second << first_count, first_count + second_count);
    }
    for &byte in rest {
        let (bits, count) = code.of(byte.into());
        out.put(bits, count);
    }
}

fn write_repeats(mut repeats: usize, code: &Code, out: &mut BitWriter) {
    while repeats > 0 {
        let length = runs::next_length(repeats);
        let (symbol, extra, extra_bits) = runs::length_symbol(length);
        let (bits, count) = code.of(symbol);
        // The distance has the only code of its table: one bit, 0.
        out.put(bits | u64::from(extra) << count, count + extra_bits + 1);
        repeats -= length;
    }
}

fn write_stored(block: &[u8], last: bool, out: &mut BitWriter) {
    let pieces = block.len().div_ceil(STORED).max(1);
    for piece in 0..pieces {
        let end = block.len().min((piece + 1) * STORED);
        let bytes = &block[(piece * STORED).min(end)..end];
        out.put(u64::from(last && piece + 1 == pieces), 3);
        out.align();
        let length = bytes.len() as u16;
        out.bytes(&length.to_le_bytes());
        out.bytes(&(!length).to_le_bytes());
        out.bytes(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::same_cases;
    use proptest::prelude::*;
    use std::io::Read;

    fn round_trip(data: &[u8]) -> usize {
        let mut packed = Vec::new();
        compress(data, &mut packed);
        let mut read = Vec::new();
        flate2::read::ZlibDecoder::new(&packed[..]).read_to_end(&mut read).unwrap();
        assert!(read == data, "{} bytes differ", data.len());
        packed.len()
    }

    fn noise(length: usize) -> Vec<u8> {
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        (0..length).map(|_| next()).collect()
    }

    #[test]
    fn nothing_and_single_bytes_survive() {
        for data in [&b""[..], b"a", b"ab", b"abc", b"aaaaaaaaaaaaaaaaaa"] {
            round_trip(data);
        }
    }

    #[test]
    fn noise_is_stored_and_hardly_grows() {
        let data = noise(300_000);
        assert!(round_trip(&data) < data.len() + 100);
    }

    #[test]
    fn constant_channels_take_next_to_nothing() {
        assert!(round_trip(&vec![128; 4 << 20]) < 5000);
        let turns: Vec<u8> = (0..1 << 20).map(|i| [7, 201][i & 1]).collect();
        assert!(round_trip(&turns) < 2000);
    }

    #[test]
    fn skewed_literals_are_coded_to_near_their_entropy() {
        let data: Vec<u8> = noise(200_000).iter().map(|b| b.leading_zeros() as u8).collect();
        // Two bits each, by the formula.
        assert!(round_trip(&data) < data.len() * 27 / 100);
    }

    #[test]
    fn counts_that_ask_for_very_long_codes_still_survive() {
        let mut data = Vec::new();
        let (mut a, mut b) = (1usize, 1usize);
        for symbol in 0..24u8 {
            // Three alternating bytes, so that no run repeats two.
            data.extend((0..a).flat_map(|_| [symbol, 250, 251]));
            (a, b) = (b, (a + b).min(20_000));
        }
        round_trip(&data);
    }

    proptest! {
        #![proptest_config(same_cases(200))]
        #[test]
        fn any_mixture_of_runs_and_noise_survives(
            pieces in prop::collection::vec((any::<u8>(), any::<u8>(), 0usize..700, any::<bool>()), 0..60)
        ) {
            let mut data = Vec::new();
            for (a, b, length, run) in pieces {
                match run {
                    true => data.extend((0..length).map(|i| [a, b][i & 1])),
                    false => data.extend(noise(length).iter().map(|n| n.wrapping_mul(a | 1) & b)),
                }
            }
            round_trip(&data);
        }
    }
}
