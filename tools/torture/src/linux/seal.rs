//! The program's own file formats with checksums: films of `--checkpoint` and trees of `--cache`.
//!
//! This duplicates the formats in crates/output/src/film/mod.rs and crates/accel/src/stored/mod.rs. If one of them changes, the program's own files count
//! as incomplete here, and the campaign reports it at once.

use xxhash_rust::xxh3::xxh3_128;

const FILM: &[u8] = b"throng film 2\n";
/// Bytes of a tree that are hashed together.
const CHUNK: usize = 1 << 20;

/// The header and the rows of a film; None if it is not complete.
pub fn film(bytes: &[u8]) -> Option<(&[u8], Vec<&[u8]>)> {
    let (length, rest) = bytes.strip_prefix(FILM)?.split_first_chunk::<4>()?;
    let (header, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    let (sum, rest) = rest.split_first_chunk::<8>()?;
    let head = [FILM, length, header].concat();
    let (table, rows) = rest.split_at_checked(8 * height(header)?)?;
    let mut start = (bytes.len() - rows.len()) as u64;
    let mut row = |(number, end): (u32, &[u8; 8])| {
        let end = u64::from_le_bytes(*end);
        let row = bytes.get(start as usize..end as usize)?;
        start = end;
        let (row, sum) = row.split_last_chunk::<8>()?;
        (row_checksum(number, row) == u64::from_le_bytes(*sum)).then_some(row)
    };
    let rows = (0..).zip(table.as_chunks::<8>().0).map(&mut row).collect::<Option<Vec<_>>>()?;
    (film_checksum(&[&head]) == u64::from_le_bytes(*sum) && start == bytes.len() as u64).then_some((header, rows))
}

/// Creates a film with correct checksums.
pub fn sealed_film(header: &[u8], rows: &[&[u8]]) -> Vec<u8> {
    let length = (header.len() as u32).to_le_bytes();
    let mut file = [FILM, &length, header].concat();
    let sum = film_checksum(&[&file]);
    file.extend(sum.to_le_bytes());
    let mut end = (file.len() + 8 * rows.len()) as u64;
    for row in rows {
        end += row.len() as u64 + 8;
        file.extend(end.to_le_bytes());
    }
    for (number, row) in (0..).zip(rows) {
        file.extend(*row);
        file.extend(row_checksum(number, row).to_le_bytes());
    }
    file
}

/// Number of rows of a film with this header.
fn height(header: &[u8]) -> Option<usize> {
    let header: serde_json::Value = serde_json::from_slice(header).ok()?;
    let settings = &header["picture"]["settings"];
    let height = settings["region"].get("height").unwrap_or(&settings["height"]);
    height.as_u64().map(|height| height as usize)
}

fn row_checksum(number: u32, row: &[u8]) -> u64 {
    film_checksum(&[&number.to_le_bytes(), row])
}

fn film_checksum(pieces: &[&[u8]]) -> u64 {
    let mut sum = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |word: u64| {
        sum = (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        sum ^= sum >> 32;
    };
    for piece in pieces {
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

/// Recomputes the checksum of a tree.
pub fn seal_tree(bytes: &mut [u8]) {
    if let Some((all, sum)) = bytes.split_last_chunk_mut::<16>() {
        *sum = tree_checksum(all);
    }
}

fn tree_checksum(bytes: &[u8]) -> [u8; 16] {
    let digests = bytes.chunks(CHUNK).flat_map(|chunk| xxh3_128(chunk).to_le_bytes());
    xxh3_128(&digests.collect::<Vec<u8>>()).to_le_bytes()
}
