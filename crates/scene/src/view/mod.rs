//! Cameras, and the settings of their pictures.

pub mod camera;
pub mod film;
pub mod frame_rate;
pub mod integrator;
pub mod intrinsics;
pub mod lens;
mod named;
#[doc(hidden)]
pub mod ranges;
pub mod settings;
pub mod shutter;
pub mod shutter_keys;
pub mod views;
