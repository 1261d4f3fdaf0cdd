//! What a file says about its Cryptomatte layers (Psyop's Cryptomatte specification 1.2, "Metadata").

use crate::{
    layers::{
        Layer,
        cryptomatte::{key, layer_name},
    },
    output::Manifests,
};

/// Keys and values of the attributes that describe `layer`.
pub fn attributes(layer: Layer, manifests: &Manifests) -> Vec<(String, String)> {
    let name = layer_name(layer);
    let manifest = match manifests.of(layer) {
        "" => "{}",
        text => text,
    };
    let entries = [
        ("conversion", "uint32_to_float32"),
        ("hash", "MurmurHash3_32"),
        ("manifest", manifest),
        ("name", name),
    ];
    let layer = key(name);
    let attribute =
        |(entry, value): (&str, &str)| (format!("cryptomatte/{layer}/{entry}"), value.into());
    entries.map(attribute).into()
}
