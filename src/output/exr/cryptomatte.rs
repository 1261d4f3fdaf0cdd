//! What a file says about its Cryptomatte layers (Psyop's Cryptomatte specification 1.2, "Metadata").

use crate::{layers::Layer, output::Manifests};

/// The name of a layer, with which its channels begin.
pub fn name(layer: Layer) -> &'static str {
    match layer {
        Layer::Material => "CryptoMaterial",
        _ => "CryptoObject",
    }
}

/// Keys and values of the attributes that describe `layer`.
pub fn attributes(layer: Layer, manifests: &Manifests) -> Vec<(String, String)> {
    let name = name(layer);
    let id = format!("{:08x}", murmur3_32(name.as_bytes()));
    let manifest = match manifests.of(layer) {
        "" => "{}",
        text => text,
    };
    let entries = [
        ("conversion", "uint32_to_float32"),
        ("hash", "MurmurHash3_32"),
        ("manifest", manifest),
        ("name", name),
    ];
    let attribute =
        |(key, value): (&str, &str)| (format!("cryptomatte/{}/{key}", &id[..7]), value.into());
    entries.map(attribute).into()
}

/// Austin Appleby's MurmurHash3_x86_32 with seed 0.
fn murmur3_32(data: &[u8]) -> u32 {
    let mix = |word: u32| {
        word.wrapping_mul(0xcc9e_2d51)
            .rotate_left(15)
            .wrapping_mul(0x1b87_3593)
    };
    let mut words = data.chunks_exact(4);
    let mut hash = 0u32;
    for word in &mut words {
        let word = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        hash = (hash ^ mix(word))
            .rotate_left(13)
            .wrapping_mul(5)
            .wrapping_add(0xe654_6b64);
    }
    let rest = words.remainder().iter().rev();
    hash ^= mix(rest.fold(0, |word, &byte| word << 8 | u32::from(byte)));
    hash ^= data.len() as u32;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_hashes_of_the_specification() {
        assert_eq!(murmur3_32(b""), 0);
        assert_eq!(murmur3_32(b"hello"), 0x248b_fa47);
        assert_eq!(murmur3_32(b"hello, world"), 0x149b_bb7f);
        assert_eq!(
            murmur3_32(b"The quick brown fox jumps over the lazy dog"),
            0x2e4f_f723
        );
    }
}
