//! What unit tests share.

use proptest::test_runner::{Config, RngSeed};

/// Property tests with the same `cases` in every run: what passes today passes tomorrow.
pub fn same_cases(cases: u32) -> Config {
    Config {
        cases,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..Config::default()
    }
}
