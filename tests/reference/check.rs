//! Validates a scene against the schema. Supports the parts of JSON Schema that the schema uses, on values read from RON.

use super::ron::{Content, Node};
use serde_json::Value;

/// The reason why a scene violates the schema, with the path to the fault; None if it is valid.
pub fn fault(schema: &Value, scene: &Node) -> Option<String> {
    Check { root: schema }.fault(schema, scene).err()
}

struct Check<'a> {
    root: &'a Value,
}

impl Check<'_> {
    fn fault(&self, schema: &Value, node: &Node) -> Result<(), String> {
        if let Some(path) = schema["$ref"].as_str() {
            let target = self.root.pointer(path.trim_start_matches('#')).ok_or(format!("there is no {path}"))?;
            return self.fault(target, node);
        }
        if let Some(all) = schema["anyOf"].as_array() {
            let faults: Vec<_> = all.iter().map(|schema| self.fault(schema, node)).collect();
            let best = || faults.iter().flat_map(|fault| fault.clone().err()).max_by_key(String::len);
            return if faults.iter().any(Result::is_ok) { Ok(()) } else { Err(best().unwrap_or_default()) };
        }
        if let Some(word) = schema["const"].as_str() {
            let same = node.name.as_deref() == Some(word) && matches!(node.content, Content::Word);
            return expect(same, word, node);
        }
        match (schema["type"].as_str(), &node.content) {
            (None, _) => Ok(()),
            (Some("number"), Content::Number(x)) => {
                expect(*x >= schema["minimum"].as_f64().unwrap_or(f64::MIN), "more", node)
            }
            (Some("integer"), Content::Number(x)) => expect(*x >= 0.0 && x.fract() == 0.0, "a whole number", node),
            (Some("boolean"), Content::Word) => {
                expect(["true", "false"].contains(&node.name.as_deref().unwrap_or("")), "a bool", node)
            }
            (Some("string"), Content::Text(text)) => expect(
                !schema["pattern"].is_string() || text.starts_with(|c: char| c == '#' || c.is_ascii_alphabetic()),
                "a colour",
                node,
            ),
            (Some("array"), Content::Items(items, _)) => self.array(schema, items, node),
            (Some("object"), _) => self.object(schema, node),
            (Some(other), _) => expect(false, other, node),
        }
    }

    fn array(&self, schema: &Value, items: &[Node], node: &Node) -> Result<(), String> {
        if let Some(parts) = schema["prefixItems"].as_array() {
            expect(parts.len() == items.len(), &format!("{} values", parts.len()), node)?;
            return parts.iter().zip(items).try_for_each(|(part, item)| self.fault(part, item));
        }
        items.iter().try_for_each(|item| self.fault(&schema["items"], item))
    }

    fn object(&self, schema: &Value, node: &Node) -> Result<(), String> {
        let name = node.name.as_deref();
        if schema["title"] == "keys" {
            return expect(name == Some("keys"), "keys", node);
        }
        let properties = schema["properties"].as_object();
        // A variant: its name precedes its content.
        if let Some(name) = name
            && let Some(content) = properties.and_then(|all| all.get(name))
        {
            let inner = match &node.content {
                Content::Items(items, _) if items.len() == 1 => items[0].clone(),
                _ => Node { name: None, ..node.clone() },
            };
            return self.fault(content, &inner).map_err(|fault| format!("{name} > {fault}"));
        }
        expect(name.is_none_or(|name| schema["title"] == name), "another name", node)?;
        expect(matches!(node.content, Content::Fields(_) | Content::Map(_)), "fields", node)?;
        for (key, value) in node.entries() {
            let property = properties.and_then(|all| all.get(key));
            let property = property.unwrap_or(&schema["additionalProperties"]);
            expect(!property.is_boolean(), &format!("no field {key}"), node)?;
            self.fault(property, value).map_err(|fault| format!("{key} > {fault}"))?;
        }
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let missing = required.into_iter().find(|field| !node.entries().iter().any(|(key, _)| key == field));
        expect(missing.is_none(), &format!("the field {}", missing.unwrap_or_default()), node)
    }
}

fn expect(is: bool, what: &str, node: &Node) -> Result<(), String> {
    if is { Ok(()) } else { Err(format!("expected {what} at byte {}", node.span.start)) }
}
