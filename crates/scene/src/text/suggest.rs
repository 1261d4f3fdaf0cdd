//! "Did you mean": the closest of the known names.

/// The candidate closest to `name`, if it is close enough to be a misspelling.
///
/// Uses the Levenshtein distance, ignoring case. At most a third of the name may differ, but always at least one letter.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).max(1);
    let wanted = lowercase(name);
    candidates
        .into_iter()
        .map(|c| (distance(&wanted, &lowercase(c)), c))
        .filter(|(d, _)| *d <= limit)
        .min_by_key(|(d, _)| *d)
        .map(|(_, c)| c)
}

/// "did you mean `x`?", or a list of all candidates if none is close.
pub fn hint<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str> + Clone, kind: &str) -> String {
    match nearest(name, candidates.clone()) {
        Some(found) => format!("did you mean `{found}`?"),
        None => list(candidates, kind),
    }
}

/// A list of all candidates, or of the first dozen and the number of the others.
pub fn list<'a>(candidates: impl IntoIterator<Item = &'a str>, kind: &str) -> String {
    let mut known: Vec<_> = candidates.into_iter().collect();
    let more = known.len().saturating_sub(12);
    known.truncate(12);
    match (known.is_empty(), more) {
        (true, _) => format!("there are no {kind}"),
        (false, 0) => format!("the {kind} are {}", known.join(", ")),
        (false, _) => format!("the {kind} are {} and {more} more", known.join(", ")),
    }
}

/// Long names are cut: the distance has quadratic cost, and the first hundred letters suffice.
fn lowercase(s: &str) -> Vec<char> {
    s.chars().take(100).flat_map(char::to_lowercase).collect()
}

fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_name_finds_its_neighbour() {
        let names = ["samples", "size", "seed"];
        assert_eq!(nearest("sampels", names), Some("samples"));
        assert_eq!(nearest("Seed", names), Some("seed"));
        assert_eq!(nearest("colour", names), None);
        assert_eq!(nearest("x", []), None);
    }

    #[test]
    fn without_a_neighbour_the_known_names_are_listed() {
        assert_eq!(hint("zzz", ["a", "b"], "meshes"), "the meshes are a, b");
        assert_eq!(hint("zzz", [], "meshes"), "there are no meshes");
    }
}
