//! Names with their hashes and manifests, as in Cryptomatte (Psyop, "Cryptomatte Specification" 1.2.0).

use super::Aov;
use crate::scene::Scene;
use std::fmt::Write as _;

/// The number that stands for `name` in an AOV: its hash, changed where needed so that the bits are those of an ordinary float.
/// Otherwise something on the way might take it for a NaN or flush it to zero.
pub fn id(name: &str) -> u32 {
    let hash = murmur3_32(name.as_bytes());
    match hash >> 23 & 0xff {
        0 | 0xff => hash ^ 1 << 23,
        _ => hash,
    }
}

/// The name of a Cryptomatte AOV, with which the names of its channels begin.
pub fn aov_name(aov: Aov) -> &'static str {
    match aov {
        Aov::Material => "CryptoMaterial",
        _ => "CryptoObject",
    }
}

/// Key of an AOV's metadata: the first seven digits of the hash of the AOV's name.
pub fn key(aov: &str) -> String {
    let mut digits = format!("{:08x}", id(aov));
    digits.truncate(7);
    digits
}

/// Ids of all instances of the world, in the scene's order.
pub fn instance_ids(scene: &Scene) -> Vec<u32> {
    let mut ids = Vec::with_capacity(scene.world().len());
    scene.visit_instance_names(|name| ids.push(id(name)));
    ids
}

/// Ids of all rows of the material table, in its order.
pub fn material_ids(scene: &Scene) -> Vec<u32> {
    let mut ids = Vec::with_capacity(scene.materials.len());
    scene.visit_material_names(|name| ids.push(id(name)));
    ids
}

/// JSON object of all instances' names and ids, in the order of the scene.
pub fn instance_manifest(scene: &Scene) -> String {
    let mut manifest = Manifest::default();
    scene.visit_instance_names(|name| manifest.add(name));
    manifest.finish()
}

/// JSON object of all materials' names and ids.
pub fn material_manifest(scene: &Scene) -> String {
    let mut manifest = Manifest::default();
    scene.visit_material_names(|name| manifest.add(name));
    manifest.finish()
}

/// An unfinished JSON object, which takes each name once.
#[derive(Default)]
struct Manifest {
    text: String,
    known: std::collections::HashSet<u32>,
}

impl Manifest {
    fn add(&mut self, name: &str) {
        let id = id(name);
        if !self.known.insert(id) {
            return;
        }
        self.text.push(if self.text.is_empty() { '{' } else { ',' });
        let quoted = serde_json::Value::from(name);
        let _ = write!(self.text, "{quoted}:\"{id:08x}\"");
    }

    fn finish(mut self) -> String {
        if self.text.is_empty() {
            self.text.push('{');
        }
        self.text.push('}');
        self.text
    }
}

/// MurmurHash3_x86_32 (Austin Appleby) with seed 0.
fn murmur3_32(bytes: &[u8]) -> u32 {
    let scramble = |k: u32| k.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593);
    let (words, rest) = bytes.as_chunks::<4>();
    let mut hash = words.iter().fold(0u32, |hash, &word| {
        (hash ^ scramble(u32::from_le_bytes(word))).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
    });
    if !rest.is_empty() {
        let tail = rest.iter().rev();
        hash ^= scramble(tail.fold(0, |k, &byte| k << 8 | u32::from(byte)));
    }
    hash ^= bytes.len() as u32;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_published_ones() {
        // Values of the reference implementation.
        for (text, hash) in [
            ("", 0),
            ("a", 0x3c25_69b2),
            ("abc", 0xb3dd_93fa),
            ("test", 0xba6b_d213),
            ("Hello, world!", 0xc036_3e43),
            ("The quick brown fox jumps over the lazy dog", 0x2e4f_f723),
        ] {
            assert_eq!(murmur3_32(text.as_bytes()), hash, "{text}");
        }
    }

    #[test]
    fn the_specifications_example_holds() {
        // From its sample manifest.
        assert_eq!(format!("{:08x}", id("bunny")), "13851a76");
        assert_eq!(key("CryptoObject"), "3ae39a5");
    }

    #[test]
    fn ids_are_ordinary_floats() {
        for i in 0..100_000 {
            let value = f32::from_bits(id(&i.to_string()));
            assert!(value.is_normal(), "{i}");
        }
        assert_eq!(id(""), 1 << 23);
    }

    #[test]
    fn manifests_are_json_with_each_name_once() {
        let mut manifest = Manifest::default();
        for name in ["a\"b", "ö", "a\"b"] {
            manifest.add(name);
        }
        let text = manifest.finish();
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read.as_object().unwrap().len(), 2);
        assert_eq!(read["ö"], format!("{:08x}", id("ö")));
        assert_eq!(Manifest::default().finish(), "{}");
    }
}
