//! Helpers that unit tests share.

pub mod gltf;
pub mod memory;
pub mod process;

use proptest::test_runner::{Config, RngSeed};

/// Configures property tests to use an identical set of `cases` in every run.
pub fn same_cases(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Config::default() }
}

/// Positions and triangles of a sheet in the XZ plane, with `cells` square cells of size 1 along each side. `height` is the Y coordinate of a
/// vertex.
pub fn sheet(cells: u32, height: impl Fn(u32) -> f32) -> (Vec<[f32; 3]>, Vec<[u32; 3]>) {
    let row = cells + 1;
    let point = |i: u32| [(i % row) as f32, height(i), (i / row) as f32];
    let cell = |i: u32| {
        let a = i / cells * row + i % cells;
        [[a, a + 1, a + row], [a + row, a + 1, a + row + 1]]
    };
    ((0..row * row).map(point).collect(), (0..cells * cells).flat_map(cell).collect())
}
