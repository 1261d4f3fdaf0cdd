//! Enumerated choices as flag values.

use crate::choice::Choice;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// The value as listed in the help. In names, hyphens are accepted for underscores.
pub fn possible_value(choice: impl Choice) -> PossibleValue {
    let (name, lines) = choice.described();
    let lines = lines.iter().map(|line| line.trim());
    let help = lines.collect::<Vec<_>>().join(" ");
    let value = PossibleValue::new(name).aliases(choice.aliases().iter().copied());
    let value = match name {
        "blackman_harris" => value.alias("blackman-harris"),
        "pbr_neutral" => value.alias("pbr-neutral"),
        _ => value,
    };
    if help.is_empty() { value } else { value.help(help.trim_end_matches('.').to_owned()) }
}

/// Parses the name of a choice.
pub fn choice<T: Choice + Send + Sync>() -> impl TypedValueParser<Value = T> {
    let values = T::VALUES.iter().map(|&value| possible_value(value));
    PossibleValuesParser::new(values).try_map(|name| {
        let named = T::VALUES.iter().find(|&&value| possible_value(value).matches(&name, false));
        named.copied().ok_or("no such value")
    })
}
