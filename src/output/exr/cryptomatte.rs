//! What a file says about its Cryptomatte layers (Psyop's Cryptomatte specification 1.2, "Metadata").

use crate::{
    layers::{Layer, cryptomatte::key},
    output::Manifests,
};

/// The name of a layer, with which its channels begin.
pub fn name(layer: Layer) -> &'static str {
    match layer {
        Layer::Material => "CryptoMaterial",
        _ => "CryptoObject",
    }
}

/// Keys and values of the attributes that describe `layer`.
pub fn attributes(layer: Layer, manifests: &Manifests) -> Vec<(String, String)> {
    let name = name(layer);
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
