//! The program's own files that have a checksum: films of `--checkpoint` and trees of `--cache`.
//!
//! What is written here is what src/output/checkpoint.rs and src/accel/stored/mod.rs describe. Should one of them change, a file of the
//! program's own is no whole one any more, and the campaign says so at once.

use xxhash_rust::xxh3::xxh3_128;

const FILM: &[u8] = b"throng film 1\n";
/// Bytes of a tree that are hashed by themselves.
const CHUNK: usize = 1 << 20;

/// Header and sums of a whole film.
pub fn film(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (all, sum) = bytes.split_last_chunk::<8>()?;
    let (length, rest) = all.strip_prefix(FILM)?.split_first_chunk::<4>()?;
    let (header, sums) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    (film_checksum(header, sums) == u64::from_le_bytes(*sum)).then_some((header, sums))
}

/// A film of these.
pub fn sealed_film(header: &[u8], sums: &[u8]) -> Vec<u8> {
    let length = (header.len() as u32).to_le_bytes();
    let sum = film_checksum(header, sums).to_le_bytes();
    [FILM, &length, header, sums, &sum].concat()
}

fn film_checksum(header: &[u8], sums: &[u8]) -> u64 {
    let mut sum = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |word: u64| {
        sum = (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        sum ^= sum >> 32;
    };
    let length = (header.len() as u32).to_le_bytes();
    for piece in [FILM, &length, header].into_iter().chain(sums.chunks(1 << 16)) {
        let (words, rest) = piece.as_chunks::<8>();
        words.iter().for_each(|w| add(u64::from_le_bytes(*w)));
        rest.iter().for_each(|b| add(u64::from(*b)));
    }
    sum
}

pub fn is_sealed_tree(bytes: &[u8]) -> bool {
    bytes.starts_with(b"thrgBLAS")
        && bytes.split_last_chunk::<16>().is_some_and(|(all, sum)| tree_checksum(all) == *sum)
}

/// Gives a tree the checksum of what it is now.
pub fn seal_tree(bytes: &mut [u8]) {
    if let Some((all, sum)) = bytes.split_last_chunk_mut::<16>() {
        *sum = tree_checksum(all);
    }
}

fn tree_checksum(bytes: &[u8]) -> [u8; 16] {
    let digests = bytes.chunks(CHUNK).flat_map(|chunk| xxh3_128(chunk).to_le_bytes());
    xxh3_128(&digests.collect::<Vec<u8>>()).to_le_bytes()
}
