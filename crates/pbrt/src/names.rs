//! Unknown names, and the known ones that were probably meant.

/// The end of a sentence about an unknown name: "did you mean `x`?", or nothing if no known name is close.
pub fn hint<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let wanted = lower(name);
    let most = (wanted.len() / 3).max(1);
    let near = known.into_iter().map(|other| (distance(&wanted, &lower(other)), other));
    match near.filter(|(distance, _)| *distance <= most).min_by_key(|(distance, _)| *distance) {
        Some((_, other)) => format!("; did you mean `{other}`?"),
        None => String::new(),
    }
}

/// Long names are cut, because the distance has quadratic cost.
fn lower(name: &str) -> Vec<char> {
    name.chars().take(60).flat_map(char::to_lowercase).collect()
}

/// Number of letters to insert, remove or replace (Levenshtein).
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j].min(diagonal) + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_names_are_suggested_and_others_are_not() {
        let known = ["trianglemesh", "plymesh", "sphere"];
        assert_eq!(hint("trianglmesh", known), "; did you mean `trianglemesh`?");
        assert_eq!(hint("Sphere", known), "; did you mean `sphere`?");
        assert_eq!(hint("nurbs", known), "");
    }
}
