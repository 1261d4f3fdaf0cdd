//! Values and names of documents, as USD writes them.

/// The type of USD for a type of MaterialX, and the number of its numbers; 0 for texts.
pub fn usd_type(kind: &str) -> Option<(&'static str, usize)> {
    Some(match kind {
        "float" => ("float", 1),
        "integer" => ("int", 1),
        "boolean" => ("bool", 1),
        "vector2" => ("float2", 2),
        "vector3" => ("float3", 3),
        "vector4" => ("float4", 4),
        "color3" => ("color3f", 3),
        "color4" => ("color4f", 4),
        "matrix33" => ("matrix3d", 9),
        "matrix44" => ("matrix4d", 16),
        "string" | "geomname" => ("string", 0),
        "filename" => ("asset", 0),
        "surfaceshader" | "displacementshader" | "volumeshader" | "lightshader" | "material" | "BSDF" | "EDF"
        | "VDF" => ("token", 0),
        _ => return None,
    })
}

/// A value of this type as USD writes it. `None` for types without values.
///
/// # Errors
/// If it is not of its type. The text tells what to write.
pub fn of(kind: &str, value: &str) -> Result<Option<String>, String> {
    match usd_type(kind) {
        None | Some(("token", _)) => Ok(None),
        Some((_, 0)) => Ok(Some(quoted(value))),
        Some(("bool", _)) => match value.trim() {
            "true" | "1" | "True" => Ok(Some("true".to_owned())),
            "false" | "0" | "False" => Ok(Some("false".to_owned())),
            _ => Err("true or false".to_owned()),
        },
        Some(("int", _)) => match value.trim().parse::<i32>() {
            Ok(number) => Ok(Some(number.to_string())),
            Err(_) => Err("a whole number".to_owned()),
        },
        Some((_, count)) => numbers(value, count).map(Some),
    }
}

fn numbers(value: &str, count: usize) -> Result<String, String> {
    let number = |text: &str| text.trim().parse::<f32>().ok().filter(|number| number.is_finite());
    // The library of MaterialX also takes spaces between numbers.
    let parts = value.split(|letter: char| letter == ',' || letter.is_whitespace()).filter(|part| !part.is_empty());
    let parts: Option<Vec<String>> = parts.map(|part| number(part).map(|x| format!("{x:?}"))).collect();
    let parts = parts.filter(|parts| parts.len() == count);
    let parts = parts.ok_or_else(|| match count {
        1 => "a number".to_owned(),
        _ => format!("{count} numbers with commas between them"),
    })?;
    let tuple = |parts: &[String]| format!("({})", parts.join(", "));
    Ok(match count {
        1 => parts[0].clone(),
        9 => format!("({})", parts.chunks(3).map(tuple).collect::<Vec<_>>().join(", ")),
        16 => format!("({})", parts.chunks(4).map(tuple).collect::<Vec<_>>().join(", ")),
        _ => tuple(&parts),
    })
}

/// A text in quotes.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\n' => quoted.push_str("\\n"),
            letter if letter.is_control() => quoted.push(' '),
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

/// The path of a file, relative to the first document, whose folder relative to that of this document is given. `None` for an empty path.
pub fn file(folder: &str, prefix: &str, value: &str) -> Option<String> {
    if value.is_empty() {
        return None;
    }
    let path = format!("{prefix}{value}").replace('\\', "/");
    let is_whole = path.starts_with('/') || path.contains(":/");
    let path = if is_whole { path } else { format!("{folder}{path}") };
    let path: String = path.chars().filter(|letter| !letter.is_control()).collect();
    // A path with three signs in a row cannot be written.
    (!path.contains("@@@")).then(|| if path.contains('@') { format!("@@@{path}@@@") } else { format!("@{path}@") })
}

/// A name that USD accepts: a namespace is joined with two underscores, and other letters become one.
pub fn identifier(name: &str) -> String {
    let mut identifier = String::new();
    for letter in name.chars() {
        match letter {
            ':' => identifier.push_str("__"),
            letter if letter.is_ascii_alphanumeric() || letter == '_' => identifier.push(letter),
            _ => identifier.push('_'),
        }
    }
    if identifier.is_empty() || identifier.starts_with(|first: char| first.is_ascii_digit()) {
        identifier.insert(0, '_');
    }
    identifier
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(kind: &str, value: &str) -> String {
        of(kind, value).unwrap_or_else(|wanted| panic!("{wanted}")).unwrap_or_default()
    }

    #[test]
    fn values_are_written_as_usd_has_them() {
        assert_eq!(written("float", " 0.5 "), "0.5");
        assert_eq!(written("color3", "1, 0.25,0"), "(1.0, 0.25, 0.0)");
        assert_eq!(written("vector2", "0.5 2"), "(0.5, 2.0)");
        assert_eq!(written("boolean", "true"), "true");
        assert_eq!(written("matrix33", "1,0,0, 0,1,0, 0,0,1"), "((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))");
        assert_eq!(written("string", "a \"b\" \\"), r#""a \"b\" \\""#);
        assert_eq!(of("floatarray", "1, 2"), Ok(None));
        assert_eq!(of("color3", "1, 2"), Err("3 numbers with commas between them".to_owned()));
        assert_eq!(of("float", "nan"), Err("a number".to_owned()));
    }

    #[test]
    fn files_are_relative_to_the_first_document() {
        assert_eq!(file("sub/", "tex/", "a.png").as_deref(), Some("@sub/tex/a.png@"));
        assert_eq!(file("sub/", "", "/a@2.png").as_deref(), Some("@@@/a@2.png@@@"));
        assert_eq!(file("", "tex/", ""), None);
    }

    #[test]
    fn names_become_identifiers() {
        assert_eq!(identifier("ns:wood 2"), "ns__wood_2");
        assert_eq!(identifier("3d"), "_3d");
    }
}
