//! The scenes in `docs/scene/examples`, which the pictures show.

use super::ron;
use std::{fs, path::PathBuf};

pub fn folder() -> PathBuf {
    concat!(env!("CARGO_MANIFEST_DIR"), "/docs/scene").into()
}

pub struct Example {
    /// Page, heading and possibly more, for example `materials_pbr_sheen`.
    pub name: String,
    pub text: String,
    /// The comment at the beginning of the file.
    pub caption: String,
}

/// Reads all examples, sorted by name.
pub fn read() -> Vec<Example> {
    let files = fs::read_dir(folder().join("examples")).unwrap().map(|entry| entry.unwrap().path());
    let mut examples: Vec<_> = files.filter(|path| path.extension().is_some_and(|e| e == "ron")).map(example).collect();
    examples.sort_by(|a, b| a.name.cmp(&b.name));
    examples
}

fn example(path: PathBuf) -> Example {
    let text = fs::read_to_string(&path).unwrap();
    let comment = text.lines().map_while(|line| line.strip_prefix("// ")).collect::<Vec<_>>().join(" ");
    Example { name: path.file_stem().unwrap().to_str().unwrap().to_owned(), caption: comment, text }
}

impl Example {
    pub fn is_of(&self, start: &str) -> bool {
        self.name.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    }

    /// The text of the first value called `key` in one of `sections`.
    pub fn excerpt(&self, sections: &[&str], key: &str) -> Option<String> {
        let root = ron::read(&self.text);
        let all = root.entries().iter().filter(|(name, _)| sections.contains(&&**name));
        let key = if key == "key" { "keys" } else { key };
        let span =
            all.clone().find_map(|(_, value)| value.find(key)).or(all.map(|(_, value)| value.span.clone()).next())?;
        let line = self.text[..span.start].rfind('\n').map_or(0, |at| at + 1);
        let indent = self.text[line..].len() - self.text[line..].trim_start().len();
        let field = self.text[line + indent..span.start].trim_end();
        // If the value is the field `key`, the field's name is included.
        let start = if field.strip_suffix(':').is_some_and(|rest| rest.ends_with(key)) {
            line + indent + field.len() - 1 - key.len()
        } else {
            span.start
        };
        let code = &self.text[start..span.end];
        Some(code.replace(&format!("\n{}", " ".repeat(indent)), "\n"))
    }
}
