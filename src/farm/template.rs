//! Text files with holes, written `%{name}`. Neither YAML, Open Job Description nor bash give this a meaning.

use std::fmt::{Display, Write};

/// The text of a template with a value in place of each hole. `values` has the names of the template's holes. Values are inserted as they
/// are, also if they have the form of holes.
///
/// # Panics
/// If a hole has no value, or a value no hole. Templates and names are part of the program, so a test that fills a template finds both.
pub fn fill(template: &str, values: &[(&str, &dyn Display)]) -> String {
    let mut parts = template.split("%{");
    let mut text = parts.next().unwrap_or_default().to_owned();
    let mut filled = Vec::new();
    for part in parts {
        let (name, after) = part.split_once('}').unwrap_or((part, ""));
        let found = values.iter().find(|(known, _)| *known == name);
        let (name, value) = found.unwrap_or_else(|| panic!("no value for %{{{name}}}"));
        write!(text, "{value}{after}").expect("strings take all text");
        filled.push(*name);
    }
    for (name, _) in values {
        assert!(filled.contains(name), "no hole for {name}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_replaced_by_their_values() {
        assert_eq!(fill("%{a}-${b} %{b}\n%{a}", &[("a", &1), ("b", &"%{a}")]), "1-${b} %{a}\n1");
        assert_eq!(fill("{{a}}", &[]), "{{a}}");
    }

    #[test]
    #[should_panic(expected = "no value for %{b}")]
    fn a_hole_without_a_value_is_a_mistake() {
        fill("%{a} %{b}", &[("a", &1)]);
    }

    #[test]
    #[should_panic(expected = "no hole for b")]
    fn a_value_without_a_hole_is_a_mistake() {
        fill("%{a}", &[("a", &1), ("b", &2)]);
    }
}
