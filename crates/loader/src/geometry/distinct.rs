//! Numbers distinct values by their first occurrence. Only indices are stored, so a table takes 6 to 12 bytes per value.

use bytemuck::NoUninit;
use hashbrown::{HashTable, hash_table::Entry};
use std::hash::{BuildHasher, RandomState};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Indices in a list of distinct values, which is stored elsewhere.
pub struct Distinct {
    indices: HashTable<u32>,
    /// Random, so that no file can have values whose hashes are all equal.
    seed: u64,
}

impl Distinct {
    /// A table for `count` values, which may become more.
    pub fn with_capacity(count: usize) -> Self {
        Self { indices: HashTable::with_capacity(count), seed: RandomState::new().hash_one(0) }
    }

    /// Index of a known value that equals `value`, or `next`, which then is the new value's. `known` returns the value of an index.
    pub fn index<K: NoUninit + Eq>(&mut self, value: K, next: u32, known: impl Fn(u32) -> K) -> u32 {
        let seed = self.seed;
        let hash = |value: &K| xxh3_64_with_seed(bytemuck::bytes_of(value), seed);
        let is_equal = |&index: &u32| known(index) == value;
        match self.indices.entry(hash(&value), is_equal, |&index| hash(&known(index))) {
            Entry::Occupied(found) => *found.get(),
            Entry::Vacant(free) => *free.insert(next).get(),
        }
    }
}

/// The bits of a position, in which 0 and -0 are equal.
pub fn bits(position: [f32; 3]) -> [u32; 3] {
    // Adding 0 turns -0 into 0.
    position.map(|x| (x + 0.0).to_bits())
}
