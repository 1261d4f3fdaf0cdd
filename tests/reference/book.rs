//! Contents of the pages, and the place where each type is explained.

use super::{
    contents::{PAGES, Page},
    docs::{anchor, capitalised, with_links},
    examples::{self, Example},
    source::{Body, Choice, Field, Kind, Sources, Thing},
    values,
};
use std::collections::BTreeMap;

/// Types that are explained on the page of values.
pub const OF_VALUES: [&str; 2] = ["AimOn", "AxisAngle"];

/// Where a type is explained: its name for users, the page and the heading.
#[derive(Clone, Debug)]
pub struct Spot {
    pub word: String,
    pub page: &'static str,
    pub heading: String,
}

/// The sources of all pages.
pub struct Book {
    pub sources: Sources,
    pub examples: Vec<Example>,
    pub spots: BTreeMap<String, Spot>,
}

impl Book {
    pub fn read() -> Self {
        let mut book = Self { sources: Sources::read(), examples: examples::read(), spots: BTreeMap::new() };
        for page in &PAGES {
            for (name, heading) in page.things {
                book.add_spots(page, name, heading);
            }
        }
        for value in values::all() {
            let word = value.word.to_owned();
            let spot = Spot { heading: capitalised(&word), word, page: "values" };
            book.spots.entry(value.rust.to_owned()).or_insert(spot);
        }
        for (name, word, heading) in [("AimOn", "On", "`On`"), ("AxisAngle", "axis and angle", "Axis and angle")] {
            book.spots.insert(name.into(), Spot { word: word.into(), page: "values", heading: heading.into() });
        }
        book
    }

    fn add_spots(&mut self, page: &Page, name: &str, heading: &str) {
        let title = if heading.is_empty() { page.title.to_owned() } else { titled(heading) };
        let mut add = |rust: &str, word: &str, heading: String| {
            let spot = Spot { word: word.to_owned(), page: page.name, heading };
            self.spots.entry(rust.to_owned()).or_insert(spot);
        };
        let word = match (name, heading) {
            ("Placement", _) => "placement",
            (_, "") => page.name,
            (_, heading) => heading,
        };
        add(name, word, title);
        let Some(Thing { body: Body::Choices(choices), .. }) = self.sources.things.get(name) else { return };
        for choice in choices {
            if let [Kind::Named(part)] = &choice.parts[..]
                && values::find(part).is_none()
            {
                add(part, &choice.names[0], headed(choice));
            }
        }
    }

    /// Names of all types that are explained on some page.
    pub fn explained(&self) -> impl Iterator<Item = &str> {
        self.spots.keys().map(String::as_str)
    }

    /// Variants without a picture.
    pub fn without_picture(&self) -> Vec<String> {
        let mut without = Vec::new();
        for page in &PAGES {
            let things = page.things.iter().filter_map(|(name, _)| self.sources.things.get(*name));
            let choices = things.filter_map(|thing| match &thing.body {
                Body::Choices(choices) if !is_word(&choices[0]) && thing.name != "Varying" => Some(choices),
                _ => None,
            });
            for choice in choices.flatten().filter(|choice| self.examples_of(page, &choice.names[0]).next().is_none()) {
                without.push(format!("{} in {}", choice.names[0], page.name));
            }
        }
        without
    }

    /// Examples whose names begin with those of a page and a heading.
    pub fn examples_of<'a>(&'a self, page: &Page, key: &str) -> impl Iterator<Item = &'a Example> {
        let start = format!("{}_{}", page.name, key.to_lowercase().replace(' ', "_"));
        self.examples.iter().filter(move |example| example.is_of(&start))
    }

    /// A kind of value in the user's terms.
    pub fn value(&self, kind: &Kind, page: &str) -> String {
        match kind {
            Kind::Named(name) => match self.spots.get(name) {
                Some(spot) => format!("[{}]({})", spot.word, address(spot, page)),
                None => panic!("no page explains {name}"),
            },
            Kind::List(inner) => format!("list of {}", self.value(inner, page)),
            Kind::Map(inner) => format!("`{{\"name\": ..}}` of {}", self.value(inner, page)),
            Kind::Varying(inner) => format!("{} or [keys](keys.md)", self.value(inner, page)),
            Kind::Tuple(parts) => {
                let parts: Vec<_> = parts.iter().map(|part| self.value(part, page)).collect();
                format!("({})", parts.join(", "))
            }
        }
    }

    /// Doc text with its links resolved to pages.
    pub fn linked(&self, text: &str, page: &str) -> String {
        with_links(text, |target, words| self.link(target, words, page))
    }

    fn link(&self, target: &str, words: &str, page: &str) -> String {
        if target.starts_with("http") || target.contains(".md") {
            return format!("[{words}]({target})");
        }
        let (name, field) = target.split_once("::").map_or((target, None), |(name, field)| (name, Some(field)));
        match (self.spots.get(name), field) {
            (Some(spot), None) if words.trim_matches('`') == name => {
                format!("[`{}`]({})", spot.word, address(spot, page))
            }
            (Some(spot), None) => format!("[{words}]({})", address(spot, page)),
            (Some(spot), Some(field)) => format!("`{field}` of [`{}`]({})", spot.word, address(spot, page)),
            (None, _) => panic!("`{target}` is on no page: write its name in plain code"),
        }
    }

    /// A link as plain text.
    pub fn plain(&self, target: &str, words: &str) -> String {
        let (name, field) = target.split_once("::").map_or((target, None), |(name, field)| (name, Some(field)));
        match (self.spots.get(name), field) {
            (Some(spot), None) if words.trim_matches('`') == name => format!("`{}`", spot.word),
            (Some(spot), Some(field)) => format!("`{field}` of `{}`", spot.word),
            _ => words.to_owned(),
        }
    }
}

pub fn address(spot: &Spot, page: &str) -> String {
    let anchor = anchor(&spot.heading);
    if spot.page == page { format!("#{anchor}") } else { format!("{}.md#{anchor}", spot.page) }
}

/// A heading: field names are set as code, words with a capital as text.
pub fn titled(heading: &str) -> String {
    if heading.starts_with(char::is_uppercase) { heading.to_owned() } else { format!("`{heading}`") }
}

pub fn headed(choice: &Choice) -> String {
    choice.names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

pub fn is_word(choice: &Choice) -> bool {
    choice.names[0].starts_with(char::is_lowercase)
}

pub fn fields_in(thing: &Thing) -> &[Field] {
    match &thing.body {
        Body::Fields(fields) => fields,
        Body::Choices(_) => &[],
    }
}
