//! Hashes of names, and manifests, as in Cryptomatte (Psyop, "Cryptomatte Specification" 1.2.0).

use super::{Aov, paths};
use std::fmt::Write as _;
use throng_scene::Scene;

/// The id that represents `name` in an AOV: its hash, with one bit changed if needed so that the id is the bit pattern of a normal float.
/// Otherwise another program might treat it as a NaN or flush it to zero.
pub fn id(name: &str) -> u32 {
    let mut text = TextHash::default();
    text.add(name);
    text.id()
}

/// Name of a Cryptomatte AOV, which is the prefix of its channels' names.
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

/// The table from which kernels get the ids of hits. It contains the ids of all instances in the scene's order. If frames have nested
/// levels, it contains the names of all instances instead, from which kernels compute the ids of paths (`kernels/film/names.h`).
pub fn instance_table(scene: &Scene) -> Vec<u32> {
    if scene.has_levels() {
        return paths::name_table(scene);
    }
    let mut ids = Vec::with_capacity(scene.instances.len());
    scene.visit_instance_names(|name| ids.push(id(name)));
    ids
}

/// Ids of all materials, in the order of the material table.
pub fn material_ids(scene: &Scene) -> Vec<u32> {
    let mut ids = Vec::with_capacity(scene.materials.len());
    scene.visit_material_names(|name| ids.push(id(name)));
    ids
}

/// Maximum number of paths in a manifest. A scene with assemblies may have billions, and the manifest must not dominate the file.
pub const MOST_PATHS: u64 = 1_000_000;

/// Whether the scene has assemblies and more mesh instances than a manifest may list.
pub fn has_too_many_paths(scene: &Scene) -> bool {
    !scene.assemblies.is_empty() && scene.leaf_count() > MOST_PATHS
}

/// JSON object with the names and ids of all instances in the scene's order. In scenes with assemblies, names are paths, and the object is
/// empty if there are more than [`MOST_PATHS`].
pub fn instance_manifest(scene: &Scene) -> String {
    let mut manifest = Manifest::default();
    if !has_too_many_paths(scene) {
        paths::visit(scene, |name| manifest.add(name));
    }
    manifest.finish()
}

/// The ids in `ids` that belong to instances or materials, each with its name. In scenes with assemblies, names of instances are paths.
pub fn named(scene: &Scene, ids: &[u32]) -> Vec<(u32, String)> {
    let mut named = paths::named(scene, ids);
    scene.visit_material_names(|name| {
        named.extend(ids.iter().filter(|&&own| own == id(name)).map(|&own| (own, name.to_owned())))
    });
    named
}

/// JSON object with the names and ids of all materials.
pub fn material_manifest(scene: &Scene) -> String {
    let mut manifest = Manifest::default();
    scene.visit_material_names(|name| manifest.add(name));
    manifest.finish()
}

/// A JSON object under construction. Each name is added once.
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

/// Incremental hash of a text: MurmurHash3_x86_32 (Austin Appleby) with seed 0.
#[derive(Clone, Copy, Default)]
pub struct TextHash {
    hash: u32,
    /// Bytes that do not fill a word yet.
    word: u32,
    length: u32,
}

impl TextHash {
    pub fn add(&mut self, text: &str) {
        for &byte in text.as_bytes() {
            self.word |= u32::from(byte) << (8 * (self.length & 3));
            self.length = self.length.wrapping_add(1);
            if self.length & 3 == 0 {
                let mixed = (self.hash ^ Self::scrambled(self.word)).rotate_left(13);
                self.hash = mixed.wrapping_mul(5).wrapping_add(0xe654_6b64);
                self.word = 0;
            }
        }
    }

    /// The id of the text, see [`id`].
    pub fn id(self) -> u32 {
        let hash = self.finished();
        match hash >> 23 & 0xff {
            0 | 0xff => hash ^ 1 << 23,
            _ => hash,
        }
    }

    fn scrambled(word: u32) -> u32 {
        word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593)
    }

    fn finished(self) -> u32 {
        let mut hash = self.hash ^ Self::scrambled(self.word) ^ self.length;
        hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
        hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
        hash ^ hash >> 16
    }
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
            let mut found = TextHash::default();
            text.split_inclusive(' ').for_each(|part| found.add(part));
            assert_eq!(found.finished(), hash, "{text}");
        }
    }

    #[test]
    fn the_specifications_example_holds() {
        // From the specification's sample manifest.
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
