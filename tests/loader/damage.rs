//! Damaged scene files and overrides: no panic, and at most a one-line error.

use super::*;

use proptest::{
    prelude::*,
    test_runner::{Config, RngSeed},
};

/// Configuration with reproducible cases.
fn same_cases(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Config::default() }
}

fn edits() -> impl Strategy<Value = Vec<(usize, prop::sample::Index)>> {
    prop::collection::vec((0usize..20, any::<prop::sample::Index>()), 1..5)
}

/// Inserts, replaces or removes text at random positions.
fn damaged(text: &str, edits: &[(usize, prop::sample::Index)]) -> String {
    const BITS: [&str; 20] = [
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "\"",
        ",",
        ":",
        "-",
        "0",
        "1e39",
        "NaN",
        "inf",
        "/*",
        "r#\"",
        "\\",
        "é",
        "99999999999",
        "'",
    ];
    let mut chars: Vec<char> = text.chars().collect();
    for (bit, at) in edits {
        let i = at.index(chars.len());
        if bit % 3 == 0 {
            chars.remove(i);
        }
        chars.splice(i..i, BITS[*bit].chars());
    }
    chars.into_iter().collect()
}

proptest! {
    #![proptest_config(same_cases(256))]

    #[test]
    fn damaged_scenes_end_in_a_scene_or_one_line(edits in edits()) {
        let dir = folder();
        if let Err(e) = load(&scene_path(&dir, &damaged(EVERYTHING, &edits))) {
            prop_assert_eq!(e.to_string().lines().count(), 1);
        }
    }

    #[test]
    fn truncated_scenes_end_in_one_line(at in any::<prop::sample::Index>()) {
        let dir = folder();
        let text = &EVERYTHING[..at.index(EVERYTHING.len() - 4)];
        let e = load(&scene_path(&dir, text)).err().map(|e| e.to_string()).unwrap_or_default();
        prop_assert_eq!(e.lines().count(), 1);
    }

    #[test]
    fn any_override_ends_in_a_scene_or_one_line(key in "[a-z_.0-9\"é]{0,20}", edits in edits()) {
        let keys = [key.as_str(), "render.samples", "instances.1.count", "camera.keys.0.eye", "materials.stone"];
        for key in keys {
            if let Err(e) = set(EVERYTHING, key, &damaged("(1, 2)", &edits)) {
                prop_assert_eq!(e.lines().count(), 1);
            }
        }
    }
}
