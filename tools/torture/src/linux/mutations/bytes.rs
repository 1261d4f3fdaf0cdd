//! Damage to bytes without a meaning.

use crate::linux::random::Random;

/// What counts and offsets become.
const WORDS: [u32; 12] = [
    0,
    1,
    255,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fffe,
    0xffff_ffff,
    // As floats: NaN, infinity, the largest number, the smallest, and 1e30.
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

/// In either byte order, mostly where words lie.
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

/// Something is inserted, or a piece goes missing.
fn splice(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = place(bytes.len(), random);
    let end = (at + random.below(64)).min(bytes.len());
    match random.once_in(2) {
        true => drop(bytes.drain(at..end)),
        false => {
            let piece = bytes[at..end].to_vec();
            bytes.splice(at..at, piece);
        }
    }
}

/// Headers are at the beginning, and half of the damage is done there.
fn place(length: usize, random: &mut Random) -> usize {
    match random.once_in(2) {
        true => random.below(length.min(128)),
        false => random.below(length),
    }
}
