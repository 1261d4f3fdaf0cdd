//! Access to the crate's inner modules for its own tests, benchmarks and examples.

macro_rules! seams {
    ($($name:ident: $($path:ident)::+;)+) => { $(pub mod $name { pub use $($path)::+::*; })+ };
}

seams! {
    abi: crate::abi;
    accel: crate::accel;
    anim: crate::anim;
    aov: crate::aov;
    device: crate::device;
    disk: crate::disk;
    film: crate::film;
    gltf: crate::loader::gltf;
    light: crate::light;
    math: crate::math;
    output: crate::output;
    pixels: crate::pixels;
    probe: crate::probe;
    render: crate::render;
    rig: crate::scene::rig;
    run: crate::settings::run;
}

#[cfg(feature = "view")]
seams! { view: crate::view; }
