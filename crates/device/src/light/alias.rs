//! Alias tables (Walker 1977), which sample one of many items by weight with two random numbers and one comparison.

/// An entry of a table. A random number below the threshold selects the entry's own index, any other `alias`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AliasEntry {
    pub threshold: f32,
    pub alias: u32,
}

/// Creates the table for `weights`, which must be finite, non-negative and not all zero. Also returns the probabilities that the table
/// actually has (Vose 1991). `round` rounds a threshold to a value that can be stored. If it never rounds a positive threshold to zero,
/// every positive weight has a positive probability.
pub fn alias_table(weights: &[f64], round: impl Fn(f64) -> f32) -> (Vec<AliasEntry>, Vec<f64>) {
    let count = weights.len();
    let scale = count as f64 / weights.iter().sum::<f64>();
    let mut rest: Vec<f64> = weights.iter().map(|w| w * scale).collect();
    let mut entries: Vec<AliasEntry> = (0..count as u32).map(|alias| AliasEntry { threshold: 1.0, alias }).collect();
    let (mut small, mut large): (Vec<u32>, Vec<u32>) = (0..count as u32).partition(|&i| rest[i as usize] < 1.0);
    while let (Some(i), Some(&j)) = (small.pop(), large.last()) {
        let threshold = round(rest[i as usize]);
        entries[i as usize] = AliasEntry { threshold, alias: j };
        // The rounding error is added to the larger entry.
        rest[j as usize] -= 1.0 - f64::from(threshold);
        if rest[j as usize] < 1.0 {
            large.pop();
            small.push(j);
        }
    }
    let probabilities = probabilities(&entries);
    (entries, probabilities)
}

fn probabilities(entries: &[AliasEntry]) -> Vec<f64> {
    let share = 1.0 / entries.len() as f64;
    let mut sums = vec![0.0; entries.len()];
    for (i, entry) in entries.iter().enumerate() {
        let threshold = f64::from(entry.threshold);
        sums[i] += threshold * share;
        sums[entry.alias as usize] += (1.0 - threshold) * share;
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use throng_testing::same_cases;

    proptest! {
        #![proptest_config(same_cases(64))]
        #[test]
        fn probabilities_are_proportional_to_weights(weights in prop::collection::vec(0.0f64..10.0, 1..300)) {
            prop_assume!(weights.iter().sum::<f64>() > 0.0);
            let (entries, probabilities) = alias_table(&weights, |x| x as f32);
            let total: f64 = weights.iter().sum();
            for (weight, probability) in weights.iter().zip(&probabilities) {
                prop_assert!((weight / total - probability).abs() < 1e-6);
            }
            prop_assert!(entries.iter().all(|e| (e.alias as usize) < weights.len()));
        }
    }
}
