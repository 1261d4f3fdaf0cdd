//! The schema of the scene file format, `docs/scene/schema.json`, which is generated from the format's types and their comments.

use serde_json::Value as Json;
use std::sync::OnceLock;

const TEXT: &str = include_str!("../../../docs/scene/schema.json");

/// The schema of a value.
#[derive(Clone, Copy)]
pub struct Schema {
    json: &'static Json,
    /// Name of the type in the format; empty if it has none.
    pub name: &'static str,
}

/// The schema of a scene.
pub fn whole() -> Schema {
    Schema { json: json(), name: "" }
}

fn json() -> &'static Json {
    static JSON: OnceLock<Json> = OnceLock::new();
    JSON.get_or_init(|| serde_json::from_str(TEXT).unwrap_or_default())
}

impl Schema {
    /// Follows a reference.
    fn of(json: &'static Json) -> Self {
        let name = json["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/$defs/"));
        match name {
            Some(name) => Self { json: &self::json()["$defs"][name], name: name.trim_end_matches("OverTime") },
            None => Self { json, name: "" },
        }
    }

    fn alternatives(self) -> impl Iterator<Item = Self> {
        self.json["anyOf"].as_array().into_iter().flatten().map(Schema::of)
    }

    /// The fields of the variant `name`.
    pub fn variant(self, name: &str) -> Option<Self> {
        self.alternatives().find_map(|one| one.json["properties"].get(name)).map(Schema::of)
    }

    /// A field of a struct or an entry of a map, and its description.
    pub fn field(self, name: &str) -> Option<(Self, &'static str)> {
        let own = |schema: Self| schema.json["properties"].get(name);
        let field = own(self).or_else(|| self.alternatives().find_map(own));
        let field = field.or_else(|| self.json.get("additionalProperties").filter(|entry| entry.is_object()))?;
        Some((Schema::of(field), field["description"].as_str().unwrap_or_default()))
    }

    /// The elements of a list.
    pub fn element(self) -> Option<Self> {
        let own = |schema: Self| schema.json.get("items").filter(|items| items.is_object());
        own(self).or_else(|| self.alternatives().find_map(own)).map(Schema::of)
    }

    /// The allowed words; empty if the value is not a choice.
    pub fn words(self) -> Vec<String> {
        if self.name == "bool" {
            return ["false", "true"].map(str::to_owned).to_vec();
        }
        let words = self.alternatives().filter_map(|one| one.json["const"].as_str());
        words.map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_variants_and_words_are_found() {
        let (environment, doc) = whole().field("environment").unwrap();
        assert!(doc.starts_with("Light from all around"), "{doc}");
        let (elevation, doc) = environment.variant("SunSky").unwrap().field("elevation").unwrap();
        assert_eq!(elevation.name, "Finite");
        assert!(doc.starts_with("Elevation of the sun"), "{doc}");
        let placement = whole().field("instances").unwrap().0.element().unwrap();
        assert_eq!(placement.variant("Single").unwrap().field("translate").unwrap().0.name, "Point");
        let tone_map = whole().field("render").unwrap().0.field("tone_map").unwrap().0;
        assert!(tone_map.words().contains(&"agx".to_owned()));
        let material = whole().field("materials").unwrap().0.field("any").unwrap().0;
        assert_eq!(material.variant("Diffuse").unwrap().field("color").unwrap().0.name, "Color");
    }
}
