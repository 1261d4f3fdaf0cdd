//! The sections about light from outside of surfaces: `environment`, `air` and `lights`.

pub mod air;
pub mod environment;
pub mod lights;
