//! `docs/scene/schema.json`: the format as a JSON Schema (draft 2020-12), with variants as `{"Name": {fields}}`.

use super::{
    book::Book,
    contents::PAGES,
    docs::with_links,
    source::{Body, Choice, Field, Kind, Thing},
    values::{self, Form},
};
use serde_json::{Map, Value, json};

/// The schema of a complete scene.
pub fn schema(book: &Book) -> Value {
    let mut writer = Writer { book, defs: Map::new() };
    let Body::Fields(fields) = &book.sources.things["SceneFile"].body else { unreachable!() };
    let mut schema = writer.object(fields, Keys::OfSection);
    let whole = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "the scene",
        "description": "A scene of throng. Scenes are RON files; this schema describes them as JSON, with variants as {\"Name\": {fields}}. \
                        docs/scene/README.md explains the conversion.",
    });
    let more = whole.as_object().unwrap().clone().into_iter();
    schema.as_object_mut().unwrap().extend(more);
    schema["$defs"] = Value::Object(writer.defs);
    schema
}

/// Whether values may be animated by keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keys {
    Yes,
    No,
    /// As the section of the scene's field specifies.
    OfSection,
}

struct Writer<'a> {
    book: &'a Book,
    defs: Map<String, Value>,
}

impl Writer<'_> {
    fn kind(&mut self, kind: &Kind, keys: Keys) -> Value {
        match kind {
            Kind::Named(name) => self.reference(name, keys),
            Kind::List(inner) => json!({"type": "array", "items": self.kind(inner, keys)}),
            Kind::Map(inner) => json!({"type": "object", "additionalProperties": self.kind(inner, keys)}),
            Kind::Varying(inner) => self.kind(inner, Keys::Yes),
            Kind::Tuple(parts) => {
                let parts: Vec<_> = parts.iter().map(|part| self.kind(part, keys)).collect();
                tuple(&parts)
            }
        }
    }

    /// A reference to the definition of a type. Adds the definition if it is missing.
    fn reference(&mut self, rust: &str, keys: Keys) -> Value {
        let word = if keys == Keys::Yes { format!("{rust}OverTime") } else { rust.to_owned() };
        if !self.defs.contains_key(&word) {
            self.defs.insert(word.clone(), Value::Null);
            let definition = self.definition(rust, keys);
            self.defs.insert(word.clone(), definition);
        }
        json!({"$ref": format!("#/$defs/{word}")})
    }

    fn definition(&mut self, rust: &str, keys: Keys) -> Value {
        let thing = self.book.sources.things.get(rust).cloned();
        let docs = thing.as_ref().map(|thing| self.text(&thing.docs)).unwrap_or_default();
        let mut schema = match (values::find(rust), &thing) {
            (Some(value), _) => self.forms(&value.forms, keys),
            (None, Some(Thing { body: Body::Fields(fields), shared, .. })) => {
                let shared = shared.as_ref().map(|name| self.book.sources.shared[name].clone()).unwrap_or_default();
                let fields: Vec<_> = fields.iter().cloned().chain(shared).collect();
                self.object(&fields, keys)
            }
            (None, Some(Thing { body: Body::Choices(choices), .. })) => self.choices(choices, keys),
            (None, None) => panic!("{rust} is not among the types that were read"),
        };
        let title = thing.and_then(|thing| thing.word).unwrap_or(rust.to_owned());
        schema["title"] = title.into();
        if !docs.is_empty() {
            schema["description"] = docs.into();
        }
        schema
    }

    fn forms(&mut self, forms: &[Form], keys: Keys) -> Value {
        let mut all: Vec<Value> = forms.iter().map(|form| self.form(form, keys)).collect();
        all.extend((keys == Keys::Yes).then(|| self.keys()));
        match all.len() {
            1 => all.remove(0),
            _ => json!({"anyOf": all}),
        }
    }

    fn form(&mut self, form: &Form, keys: Keys) -> Value {
        let number = || json!({"type": "number"});
        match form {
            Form::Number => number(),
            Form::Whole => json!({"type": "integer", "minimum": 0}),
            Form::Bool => json!({"type": "boolean"}),
            Form::Text => json!({"type": "string"}),
            Form::Css => json!({"type": "string", "pattern": "^(#[0-9a-fA-F]+|[a-zA-Z]+|[a-z]+\\(.+\\))$"}),
            Form::Triple { negative: true } => tuple(&[number(), number(), number()]),
            Form::Triple { negative: false } => {
                let part = json!({"type": "number", "minimum": 0});
                tuple(&[part.clone(), part.clone(), part])
            }
            Form::Kind(kind) => self.kind(kind, keys),
        }
    }

    /// The schema of `keys([..], ends: ..)`, whose values have the field's type.
    fn keys(&mut self) -> Value {
        if !self.defs.contains_key("keys") {
            let ease = json!({
                "type": "object", "additionalProperties": false, "required": ["ease"],
                "properties": {"ease": self.reference("EaseDesc", Keys::No)},
            });
            let key = json!({
                "type": "array", "minItems": 2, "maxItems": 3,
                "prefixItems": [{"type": "number", "description": "Seconds."}, true, ease],
            });
            let definition = json!({
                "title": "keys",
                "description": self.text(&self.book.sources.things["Varying"].docs),
                "type": "object", "additionalProperties": false, "required": ["keys"],
                "properties": {
                    "keys": {"type": "array", "minItems": 1, "items": key},
                    "ends": self.reference("Ends", Keys::No),
                },
            });
            self.defs.insert("keys".into(), definition);
        }
        json!({"$ref": "#/$defs/keys"})
    }

    fn object(&mut self, fields: &[Field], keys: Keys) -> Value {
        let mut properties = Map::new();
        for field in fields {
            let name = &&*field.name;
            let own = match keys {
                Keys::OfSection if PAGES.iter().any(|page| page.keyed && page.sections.contains(name)) => Keys::Yes,
                Keys::OfSection => Keys::No,
                _ if ["exposure", "white_balance"].contains(name) => Keys::Yes,
                keys => keys,
            };
            let mut schema = self.kind(&field.kind, own);
            if !field.docs.is_empty() {
                schema["description"] = self.text(&field.docs).into();
            }
            properties.insert(field.name.clone(), schema);
        }
        let required: Vec<&str> = fields.iter().filter(|field| field.required).map(|field| &*field.name).collect();
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    }

    fn choices(&mut self, choices: &[Choice], keys: Keys) -> Value {
        let mut all = Vec::new();
        for choice in choices {
            for name in &choice.names {
                let mut schema = self.variant(name, &choice.parts, keys);
                if !choice.docs.is_empty() {
                    schema["description"] = self.text(&choice.docs).into();
                }
                all.push(schema);
            }
        }
        all.extend((keys == Keys::Yes).then(|| self.keys()));
        json!({"anyOf": all})
    }

    fn variant(&mut self, name: &str, parts: &[Kind], keys: Keys) -> Value {
        let content = match parts {
            [] => return json!({"const": name}),
            [part] => self.kind(part, keys),
            parts => self.kind(&Kind::Tuple(parts.to_vec()), keys),
        };
        json!({"type": "object", "properties": {name: content}, "required": [name], "additionalProperties": false})
    }

    /// Docs as plain text, with links replaced by names.
    fn text(&self, docs: &str) -> String {
        let docs = docs.split("\n\n").map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
        let text = docs.collect::<Vec<_>>().join("\n\n");
        with_links(&text, |target, words| self.book.plain(target, words))
    }
}

fn tuple(parts: &[Value]) -> Value {
    json!({"type": "array", "prefixItems": parts, "items": false, "minItems": parts.len()})
}
