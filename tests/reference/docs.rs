//! Parses doc comments: an optional example at the beginning, and an explanation.

/// A doc comment, split into examples in backquotes before a colon and the remaining text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Docs {
    pub examples: Vec<String>,
    pub text: String,
}

impl Docs {
    pub fn of(docs: &str) -> Self {
        let mut examples = Vec::new();
        let mut rest = docs;
        while let Some((code, after)) = code_span(rest) {
            examples.push(code.replace('\n', " "));
            match after.strip_prefix(" or ") {
                Some(more) => rest = more,
                None => match after.strip_prefix(':').or(after.strip_prefix('.')) {
                    Some(text) => return Self { examples, text: capitalised(text.trim_start()) },
                    None if after.is_empty() => return Self { examples, text: String::new() },
                    None => break,
                },
            }
        }
        Self { examples: Vec::new(), text: docs.to_owned() }
    }

    /// The text as one line, for a table cell.
    pub fn line(&self) -> String {
        self.text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
    }
}

fn code_span(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('`')?.split_once('`')
}

pub fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}

/// Replaces every link ``[`Name`]`` or ``[words](Name)`` by the result of `link`, which is called with the name (without
/// `super::`) and the words.
pub fn with_links(text: &str, link: impl Fn(&str, &str) -> String) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('[') {
        let Some((words, after)) = rest[start + 1..].split_once(']') else { break };
        let (target, after) = match after.strip_prefix('(').and_then(|target| target.split_once(')')) {
            Some((target, after)) if !words.is_empty() => (Some(target), after),
            _ => (None, after),
        };
        let is_code = words.len() > 2 && words.starts_with('`') && words.ends_with('`');
        let inside_code = rest[..start].matches('`').count() % 2 == 1;
        if inside_code || !(is_code || target.is_some()) {
            out.push_str(&rest[..=start]);
            rest = &rest[start + 1..];
            continue;
        }
        out.push_str(&rest[..start]);
        out.push_str(&link(target.unwrap_or(words).trim_matches('`').trim_start_matches("super::"), words));
        rest = after;
    }
    out + rest
}

/// The URL fragment of a heading.
pub fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).collect::<String>();
    kept.replace(' ', "-")
}
