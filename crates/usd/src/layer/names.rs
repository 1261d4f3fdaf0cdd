//! Valid names of prims.

use std::collections::HashMap;

/// Longest name, without the number that distinguishes it.
const LONGEST: usize = 80;

/// Gives each child of a prim a name of its own.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Number of children that wanted the name.
    used: HashMap<String, u32>,
}

impl Names {
    /// A valid name like `wanted` that no earlier call returned.
    pub fn unique(&mut self, wanted: &str) -> String {
        let stem = valid(wanted);
        loop {
            let count = self.used.entry(stem.clone()).or_default();
            *count += 1;
            let name = if *count == 1 { stem.clone() } else { format!("{stem}_{count}") };
            // A numbered name may be what another child is called.
            if *count == 1 || !self.used.contains_key(&name) {
                self.used.entry(name.clone()).or_insert(1);
                return name;
            }
        }
    }
}

/// The text with only letters, digits and underscores of ASCII, which does not begin with a digit.
pub fn valid(text: &str) -> String {
    let letters = text.trim().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
    let mut name: String = letters.take(LONGEST).collect();
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, '_');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_valid_and_differ() {
        let mut names = Names::default();
        let mut name = |wanted: &str| names.unique(wanted);
        assert_eq!([name("a b"), name("a_b"), name("a_b_2"), name("a-b")], ["a_b", "a_b_2", "a_b_2_2", "a_b_3"]);
        assert_eq!([name("3 trees"), name(""), name("Föhre")], ["_3_trees", "_", "F_hre"]);
        assert_eq!(valid(&"x".repeat(500)).len(), LONGEST);
    }
}
