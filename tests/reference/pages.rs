//! Generates the pages of the reference as Markdown.

use super::{
    book::{Book, OF_VALUES, address, fields_in, headed, is_word, titled},
    contents::{PAGES, Page},
    docs::{Docs, capitalised},
    examples::Example,
    source::{Body, Choice, Field, Kind, Thing},
    values,
};
use std::fmt::Write;

impl Book {
    /// All pages, by file name.
    pub fn pages(&self) -> Vec<(String, String)> {
        let mut pages: Vec<_> = PAGES.iter().map(|page| (format!("{}.md", page.name), self.page(page))).collect();
        pages.push(("values.md".into(), self.values_page()));
        pages.push(("README.md".into(), self.index()));
        pages
    }

    fn page(&self, page: &Page) -> String {
        let mut text = format!("# {}\n\n{MADE}\n", page.title);
        for (index, (name, heading)) in page.things.iter().enumerate() {
            if !heading.is_empty() {
                write!(text, "\n## {}\n", titled(heading)).unwrap();
            }
            if let Some(fields) = self.sources.shared.get(*name) {
                self.fields(&mut text, page, fields);
                self.pictures(&mut text, page, name);
                continue;
            }
            self.thing(&mut text, page, name, heading);
            if index == 0 && page.keyed {
                text.push_str("\nNumbers, colours, points and words may change over time: see [keys](keys.md).\n");
            }
        }
        text
    }

    fn thing(&self, text: &mut String, page: &Page, name: &str, heading: &str) {
        if let Some(field) = name.strip_prefix("SceneFile::") {
            let Body::Fields(fields) = &self.sources.things["SceneFile"].body else { unreachable!() };
            let docs = &fields.iter().find(|other| other.name == field).unwrap().docs;
            self.explain(text, page, docs, field);
            return;
        }
        let thing = &self.sources.things[name];
        let key = if heading.is_empty() { page.name } else { heading };
        match &thing.body {
            Body::Fields(fields) => {
                self.explain(text, page, &thing.docs, key);
                self.fields(text, page, self.fields_of(name).unwrap_or(fields));
            }
            Body::Choices(choices) if is_word(&choices[0]) => {
                self.docs(text, page, &thing.docs, key);
                self.words(text, page, choices);
                self.pictures(text, page, key);
                self.fields_of_words(text, page, choices);
            }
            Body::Choices(choices) => {
                self.explain(text, page, &thing.docs, key);
                let choices: &[Choice] = if name == "Varying" { &[] } else { choices };
                for choice in choices {
                    self.kind(text, page, choice);
                }
            }
        }
    }

    /// The fields of a type, including types that have a short form.
    fn fields_of(&self, name: &str) -> Option<&[Field]> {
        let name = match name {
            "DropDesc" => "DropFields",
            "ShutterDesc" => "Times",
            other => other,
        };
        match &self.sources.things.get(name)?.body {
            Body::Fields(fields) => Some(fields),
            Body::Choices(_) => None,
        }
    }

    /// Writes the section of a variant that has fields.
    fn kind(&self, text: &mut String, page: &Page, choice: &Choice) {
        write!(text, "\n## {}\n", headed(choice)).unwrap();
        let part = choice.parts.first().and_then(|part| match part {
            Kind::Named(name) => self.sources.things.get(name),
            _ => None,
        });
        let docs = match part {
            Some(part) if choice.docs.is_empty() => &part.docs,
            _ => &choice.docs,
        };
        self.explain(text, page, docs, &choice.names[0]);
        let Some(Thing { body: Body::Fields(fields), shared, .. }) = part else { return };
        self.fields(text, page, fields);
        if let Some(shared) = shared {
            let spot = &self.spots[shared];
            write!(text, "\nAnd what [all {}s]({}) have.\n", shared, address(spot, page.name)).unwrap();
        }
    }

    /// Writes docs, then the pictures of `key` with their code.
    fn explain(&self, text: &mut String, page: &Page, docs: &str, key: &str) {
        self.docs(text, page, docs, key);
        self.pictures(text, page, key);
    }

    /// Writes docs. Their example is included only if no picture has one.
    fn docs(&self, text: &mut String, page: &Page, docs: &str, key: &str) {
        let docs = Docs::of(docs);
        if !docs.text.is_empty() {
            write!(text, "\n{}\n", self.linked(&unwrapped(&docs.text), page.name)).unwrap();
        }
        let mut pictured = self.examples_of(page, key).map(|example| example.excerpt(page.sections, key));
        if !docs.examples.is_empty() && !pictured.any(|excerpt| excerpt.is_some()) {
            write!(text, "\n```ron\n{}\n```\n", docs.examples.join("\n")).unwrap();
        }
    }

    fn pictures(&self, text: &mut String, page: &Page, key: &str) {
        for example in self.examples_of(page, key) {
            let Example { name, caption, .. } = example;
            let excerpt = example.excerpt(page.sections, key);
            write!(text, "\n[![{caption}](pictures/{name}.jpg)](examples/{name}.ron)\n\n{caption}").unwrap();
            match excerpt {
                Some(code) => write!(text, "\n\n```ron\n{code}\n```\n").unwrap(),
                None => writeln!(text, " ([{name}.ron](examples/{name}.ron))").unwrap(),
            }
        }
    }

    fn fields(&self, text: &mut String, page: &Page, fields: &[Field]) {
        if fields.is_empty() {
            return;
        }
        text.push_str("\n| field | value | |\n|---|---|---|\n");
        for field in fields {
            let docs = Docs { text: field.docs.clone(), ..Docs::default() }.line();
            let (name, value) = (&field.name, self.value(&field.kind, page.name));
            let required = if field.required { ", required" } else { "" };
            writeln!(text, "| `{name}` | {value}{required} | {} |", self.linked(&docs, page.name)).unwrap();
        }
    }

    fn words(&self, text: &mut String, page: &Page, choices: &[Choice]) {
        text.push_str("\n| word | |\n|---|---|\n");
        for choice in choices {
            let docs = match self.part(choice) {
                Some(part) if choice.docs.is_empty() => Docs::of(&part.docs),
                _ => Docs::of(&choice.docs),
            };
            let name = if docs.examples.is_empty() {
                format!("`{}`", choice.names[0])
            } else {
                docs.examples.iter().map(|code| format!("`{code}`")).collect::<Vec<_>>().join(", ")
            };
            writeln!(text, "| {name} | {} |", self.linked(&docs.line(), page.name)).unwrap();
        }
    }

    fn fields_of_words(&self, text: &mut String, page: &Page, choices: &[Choice]) {
        for choice in choices {
            if let Some(part) = self.part(choice) {
                write!(text, "\n### {}\n", headed(choice)).unwrap();
                self.fields(text, page, fields_in(part));
                self.pictures(text, page, &choice.names[0]);
            }
        }
    }

    /// The struct of a variant, if it has fields.
    fn part(&self, choice: &Choice) -> Option<&Thing> {
        match &choice.parts[..] {
            [Kind::Named(name)] => self.sources.things.get(name).filter(|thing| !fields_in(thing).is_empty()),
            _ => None,
        }
    }

    fn values_page(&self) -> String {
        let mut text = format!("# Values\n\n{MADE}\n\n{VALUES}\n");
        let mut words = Vec::new();
        for value in values::all() {
            let on_values = self.spots[value.rust].page == "values";
            if !on_values || words.contains(&value.word) {
                continue;
            }
            words.push(value.word);
            let own = PLAIN.iter().find(|(rust, _)| *rust == value.rust).map(|(_, docs)| (*docs).to_owned());
            let docs = own.unwrap_or_else(|| self.sources.things[value.rust].docs.clone());
            write!(text, "\n## {}\n\n{}\n", capitalised(value.word), self.linked(&unwrapped(&docs), "values")).unwrap();
        }
        let page = Page { name: "values", title: "", sections: &[], keyed: false, things: &[] };
        for name in OF_VALUES {
            write!(text, "\n## {}\n", self.spots[name].heading).unwrap();
            self.explain(&mut text, &page, &self.sources.things[name].docs, name);
            self.fields(&mut text, &page, self.fields_of(name).unwrap());
        }
        text
    }

    fn index(&self) -> String {
        let mut text = format!("# Reference of the scene file\n\n{MADE}\n\n{INDEX}\n");
        text.push_str("\n| section | value | |\n|---|---|---|\n");
        let Body::Fields(fields) = &self.sources.things["SceneFile"].body else { unreachable!() };
        for field in fields {
            let page = PAGES.iter().find(|page| page.sections.contains(&&*field.name)).unwrap();
            let docs = Docs::of(&field.docs).line();
            let required = if field.required { ", required" } else { "" };
            let name = &field.name;
            let value = self.value(&field.kind, "README");
            writeln!(text, "| [`{name}`]({}.md) | {value}{required} | {} |", page.name, self.linked(&docs, "README"))
                .unwrap();
        }
        text.push_str("| | | [Keys](keys.md): values that change over time. [Values](values.md): numbers, points, colours and the like |\n");
        for page in &PAGES {
            let start = format!("{}_", page.name);
            let shown: Vec<_> = self.examples.iter().filter(|example| example.name.starts_with(&start)).collect();
            if shown.is_empty() {
                continue;
            }
            write!(text, "\n## [{}]({}.md)\n\n", page.title, page.name).unwrap();
            for Example { name, caption, .. } in shown {
                writeln!(
                    text,
                    "<a href=\"{}.md\"><img src=\"pictures/{name}.jpg\" width=\"180\" alt=\"{caption}\"></a>",
                    page.name
                )
                .unwrap();
            }
        }
        text + SCHEMA
    }
}

const MADE: &str =
    "*Generated by `just docs` from the comments of the [format's source](../../crates/scene/src/desc/mod.rs).*";

const INDEX: &str = "A scene file is one pair of parentheses with these sections. [The tour](../scenes.md) shows how they work together. Lengths are in
scene units, angles in degrees, times in seconds; Y is up. File paths are relative to the scene file. `throng check scene.ron` reports all
errors in a scene, with line and column. Every picture is a link to its scene.";

const SCHEMA: &str = "
## For programs

[schema.json](schema.json) is a JSON Schema (draft 2020-12) of the scene format, with all descriptions. It is meant for programs and language
models that write scenes, and for completion in editors. Scenes themselves are RON. JSON values of the schema correspond to RON as follows:

| JSON | RON |
|---|---|
| `{\"radius\": 1, \"tube\": 0.25}` | `(radius: 1, tube: 0.25)`: field names have no quotes |
| `{\"Torus\": {\"radius\": 1}}` | `Torus(radius: 1)`: variant names have no quotes and precede the parentheses |
| `{\"random\": 3}`, `{\"bezier\": [0.4, 0, 0.2, 1]}` | `random(3)`, `bezier(0.4, 0, 0.2, 1)` |
| `\"Sphere\"`, `\"smooth\"`, where the schema has a `const` | `Sphere`, `smooth` |
| `[0, 1, 0]` with `prefixItems` or three numbers | `(0, 1, 0)` |
| `[..]` with only `items` | `[..]` |
| an object with names of your own (`materials`, `meshes`, ..) | `{\"name\": .., }` |
| `{\"keys\": [[0, 1], [4, 2, {\"ease\": \"smooth\"}]], \"ends\": \"loop\"}` | `keys([(0, 1), (4, 2, ease: smooth)], ends: loop)` |

Ranges that depend on other fields are in the descriptions. `throng check` is authoritative; its messages contain the location and a fix.
";

const VALUES: &str = "Types of field values, by their names on the other pages.";

/// Docs of values whose Rust types have none.
const PLAIN: [(&str, &str); 3] = [
    ("u32", "A whole number of at least 0, such as `8`."),
    ("bool", "`true` or `false`."),
    (
        "String",
        "Text in quotes: a name, or the path of a file, relative to the scene file. Names of meshes, groups, materials, motions, \
         curves and cameras must be declared in the file.",
    ),
];

/// Joins the lines of each paragraph.
fn unwrapped(text: &str) -> String {
    text.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect::<Vec<_>>().join("\n\n")
}
