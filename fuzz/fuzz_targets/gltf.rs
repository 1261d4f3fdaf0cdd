//! Any bytes as a glTF file: a model or an error, within 512 MiB.
#![no_main]

use libfuzzer_sys::fuzz_target;
use throng_loader::gltf::{GltfOptions, load_model_bytes};

fuzz_target!(|bytes: &[u8]| {
    let options = GltfOptions {
        memory_limit: Some(512 << 20),
        ..GltfOptions::default()
    };
    let _ = load_model_bytes(bytes, None, &options);
});
