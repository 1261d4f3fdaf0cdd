//! Random damage to bytes, without knowledge of the format.

use crate::linux::random::Random;

/// Replacements for counts and offsets.
const WORDS: [u32; 12] = [
    0,
    1,
    255,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fffe,
    0xffff_ffff,
    // As floats: NaN, infinity, the greatest value, the smallest positive value, and 1e30.
    0x7fc0_0000,
    0x7f80_0000,
    0x7f7f_ffff,
    0x0000_0001,
    0x7149_f2ca,
];

pub fn mutated(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    match random.below(10) {
        0..=3 => flip(&mut bytes, random),
        4..=6 => set_word(&mut bytes, random),
        7 => copy_block(&mut bytes, random),
        8 => splice(&mut bytes, random),
        _ => bytes.truncate(random.below(bytes.len())),
    }
    bytes
}

fn flip(bytes: &mut [u8], random: &mut Random) {
    for _ in 0..1 + random.below(16) {
        let at = place(bytes.len(), random);
        if let Some(byte) = bytes.get_mut(at) {
            *byte = random.next() as u8;
        }
    }
}

/// Overwrites a word in either byte order, usually at an aligned position.
fn set_word(bytes: &mut [u8], random: &mut Random) {
    let at = place(bytes.len(), random);
    let at = if random.once_in(4) { at } else { at / 4 * 4 };
    let word = random.pick(&WORDS).to_le_bytes();
    let word = if random.once_in(4) { [word[3], word[2], word[1], word[0]] } else { word };
    if let Some(to) = bytes.get_mut(at..at + 4) {
        to.copy_from_slice(&word);
    }
}

fn copy_block(bytes: &mut [u8], random: &mut Random) {
    let length = random.below(bytes.len().min(256));
    let (from, to) = (random.below(bytes.len() - length + 1), random.below(bytes.len() - length + 1));
    bytes.copy_within(from..from + length, to);
}

/// Duplicates or removes a piece.
fn splice(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = place(bytes.len(), random);
    let end = (at + random.below(64)).min(bytes.len());
    if random.once_in(2) {
        drop(bytes.drain(at..end))
    } else {
        let piece = bytes[at..end].to_vec();
        bytes.splice(at..at, piece);
    }
}

/// A random position. Half of the positions are in the first 128 bytes, where headers are.
fn place(length: usize, random: &mut Random) -> usize {
    if random.once_in(2) { random.below(length.min(128)) } else { random.below(length) }
}
