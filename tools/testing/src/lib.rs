//! Helpers that unit tests share.

pub mod gltf;
pub mod process;

use proptest::test_runner::{Config, RngSeed};

/// Configures property tests to use an identical set of `cases` in every run.
pub fn same_cases(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Config::default() }
}
