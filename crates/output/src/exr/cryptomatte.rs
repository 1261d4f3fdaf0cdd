//! Attributes that describe Cryptomatte AOVs (Psyop's Cryptomatte specification 1.2, "Metadata").

use crate::Manifests;
use throng_picture::aov::{
    Aov,
    cryptomatte::{aov_name, key},
};

/// Keys and values of the attributes that describe `aov`.
pub fn attributes(aov: Aov, manifests: &Manifests) -> Vec<(String, String)> {
    let name = aov_name(aov);
    let manifest = match manifests.of(aov) {
        "" => "{}",
        text => text,
    };
    let entries =
        [("conversion", "uint32_to_float32"), ("hash", "MurmurHash3_32"), ("manifest", manifest), ("name", name)];
    let aov = key(name);
    let attribute = |(entry, value): (&str, &str)| (format!("cryptomatte/{aov}/{entry}"), value.into());
    entries.map(attribute).into()
}
