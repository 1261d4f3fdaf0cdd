//! Finds a value of a scene file's text in an edited version of that text.

use super::fields::head;
use throng_loader::ron::source::{Items, Step, Value};

/// Returns the path, in `to`, of the value that has `path` in `from`. List elements are identified by their text, regardless of their position. An
/// edited element is found if all others are unchanged and it still has the kind and the placed object of the original.
///
/// Returns `None` if the element is gone or cannot be identified. Names are not looked up; if `to` lacks them, setting the value fails.
pub fn followed(path: &str, from: &str, to: &str) -> Option<String> {
    let (old, new) = (Value::of_file(from)?, Value::of_file(to)?);
    let mut places = (Some(&old), Some(&new));
    let mut names = Vec::new();
    for name in path.split('.') {
        let (Some(a), Some(b)) = places else {
            names.push(name.to_owned());
            continue;
        };
        let (at, to_step) = match (index(a, name), elements(from, a)) {
            (Some(index), Some(before)) => {
                let after = elements(to, b)?;
                let found = counterpart((from, before), (to, after), index)?;
                names.push(found.to_string());
                (Step::Index(index), Step::Index(found))
            }
            (Some(index), None) => {
                names.push(name.to_owned());
                (Step::Index(index), Step::Index(index))
            }
            _ => {
                names.push(name.to_owned());
                (Step::Key(name), Step::Key(name))
            }
        };
        places = (a.child(at), b.child(to_step));
    }
    Some(names.join("."))
}

/// The text of the value at `path`; `None` if `text` has no value there.
pub fn own_text<'t>(text: &'t str, path: &str) -> Option<&'t str> {
    let root = Value::of_file(text)?;
    let mut at = &root;
    for name in path.split('.') {
        at = at.child(index(at, name).map_or(Step::Key(name), Step::Index))?;
    }
    Some(&text[at.span.clone()])
}

fn index(at: &Value, name: &str) -> Option<usize> {
    matches!(at.items, Items::Plain(_)).then(|| name.parse().ok()).flatten()
}

/// The elements of a list; `None` for other values, such as tuples, whose elements have fixed positions.
fn elements<'v>(text: &str, value: &'v Value) -> Option<&'v [Value]> {
    match &value.items {
        Items::Plain(all) if text[value.span.clone()].starts_with('[') => Some(all),
        Items::None => Some(&[]),
        _ => None,
    }
}

/// The index, in an edited list, of the element that had `index` before.
fn counterpart((from, old): (&str, &[Value]), (to, new): (&str, &[Value]), index: usize) -> Option<usize> {
    let own = old.get(index)?;
    let say = |text: &str, value: &Value| text[value.span.clone()].split_whitespace().collect::<String>();
    let before: Vec<String> = old.iter().map(|value| say(from, value)).collect();
    let after: Vec<String> = new.iter().map(|value| say(to, value)).collect();
    let like = |list: &[String]| (0..list.len()).filter(|&i| list[i] == before[index]).collect::<Vec<_>>();
    let (earlier, now) = (like(&before), like(&after));
    if !now.is_empty() {
        // Equal elements keep their relative order.
        let rank = earlier.iter().position(|&i| i == index)?;
        return (earlier.len() == now.len()).then(|| now[rank]);
    }
    let others_stay = old.len() == new.len() && (0..old.len()).all(|i| i == index || before[i] == after[i]);
    let edited = new.get(index)?;
    (others_stay && is_kin((from, own), (to, edited))).then_some(index)
}

/// Whether two placements have equal kinds and place an object of one name; for other values, whether their kinds are equal.
fn is_kin((from, a): (&str, &Value), (to, b): (&str, &Value)) -> bool {
    let of = |text: &str, value: &Value| value.child(Step::Key("of")).map(|of| text[of.span.clone()].to_owned());
    head(from, a) == head(to, b) && of(from, a) == of(to, b)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"(
    materials: { "a": Diffuse(color: (1, 1, 1)) },
    instances: [
        Single(of: "floor"),
        Single(of: "ball", translate: (0, 1, 0)), // the second
        Grid(of: "ball", count: (3, 1, 3)),
        Single(of: "ball"),
    ],
)"#;

    fn follow(path: &str, from: &str, to: &str) -> Option<String> {
        assert!(TEXT.contains(from));
        followed(path, TEXT, &TEXT.replace(from, to))
    }

    #[test]
    fn an_entry_is_found_where_it_stands_now() {
        let path = "instances.1.translate";
        let floor = "Single(of: \"floor\"),";
        assert_eq!(follow(path, floor, "").as_deref(), Some("instances.0.translate"));
        assert_eq!(follow(path, floor, &format!("{floor} {floor}")).as_deref(), Some("instances.2.translate"));
        assert_eq!(follow(path, "(0, 1, 0)", "( 0,1, 0 )").as_deref(), Some(path));
        assert_eq!(follow(path, "(0, 1, 0)", "(0, 2, 0)").as_deref(), Some(path));
        assert_eq!(follow("instances.1.scale", "(0, 1, 0)", "(0, 2, 0)").as_deref(), Some("instances.1.scale"));
        assert_eq!(follow("materials.a.color", floor, "").as_deref(), Some("materials.a.color"));
        assert_eq!(follow("render.samples", floor, "").as_deref(), Some("render.samples"));
    }

    #[test]
    fn an_entry_that_is_gone_is_no_other_one() {
        let path = "instances.1.translate";
        let own = "Single(of: \"ball\", translate: (0, 1, 0)),";
        assert_eq!(follow(path, own, ""), None);
        assert_eq!(follow(path, own, "Single(of: \"floor\", translate: (0, 1, 0)),"), None);
        assert_eq!(follow(path, own, "Grid(of: \"ball\", count: (1, 1, 1)),"), None);
        assert_eq!(follow(path, own, "Single(of: \"ball\"),"), Some("instances.1.translate".to_owned()));
        assert_eq!(follow("instances.3.translate", own, "Single(of: \"ball\"),"), None);
        assert_eq!(followed(path, TEXT, "("), None);
        assert_eq!(followed(path, TEXT, "(instances: [])"), None);
    }

    #[test]
    fn of_entries_that_say_the_same_each_keeps_its_rank() {
        let text = "(lights: [A(x: 1), B(), A(x: 1)])";
        let to = |path: &str, to: &str| followed(path, text, to);
        assert_eq!(to("lights.2.x", "(lights: [A(x: 1), A(x: 1)])").as_deref(), Some("lights.1.x"));
        assert_eq!(to("lights.2.x", "(lights: [B(), A(x: 1)])"), None);
        assert_eq!(own_text(text, "lights.2.x"), Some("1"));
        assert_eq!((own_text(text, "lights.2.y"), own_text(text, "lights.3")), (None, None));
    }
}
