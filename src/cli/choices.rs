//! Enumerated choices as flag values.

use super::new::Template;
use crate::{
    accel::Quality,
    aov::Aov,
    choice::Choice,
    denoise::Denoise,
    device::RayKind,
    loader::options::{Preset, Projecting},
    output::ExrCompression,
    render::Mismatched,
    scene::{Integrator, Layering, PixelFilter, ToneMap, rig::RefitPolicy},
};
use clap::{ValueEnum, builder::PossibleValue};

/// The value as listed in the help. In names, hyphens are accepted for underscores.
pub fn possible_value(choice: impl Choice) -> PossibleValue {
    let (name, lines) = choice.described();
    let lines = lines.iter().map(|line| line.trim());
    let help = lines.collect::<Vec<_>>().join(" ");
    let value = PossibleValue::new(name);
    let value = match name {
        "blackman_harris" => value.alias("blackman-harris"),
        "pbr_neutral" => value.alias("pbr-neutral"),
        _ => value,
    };
    match help.is_empty() {
        true => value,
        false => value.help(help.trim_end_matches('.').to_owned()),
    }
}

macro_rules! values_of_flags {
    ($($name:ty),* $(,)?) => {
        $(impl ValueEnum for $name {
            fn value_variants<'a>() -> &'a [Self] {
                Self::VALUES
            }

            fn to_possible_value(&self) -> Option<PossibleValue> {
                Some(possible_value(*self))
            }
        })*
    };
}

values_of_flags!(
    Aov,
    Denoise,
    ExrCompression,
    Integrator,
    Layering,
    Mismatched,
    PixelFilter,
    Projecting,
    Preset,
    Quality,
    RayKind,
    RefitPolicy,
    Template,
    ToneMap,
);
