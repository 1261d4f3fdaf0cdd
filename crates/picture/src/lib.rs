//! What pictures are made of: types of pixels, AOVs, and how samples become a pixel.

pub mod aov;
pub mod film;
pub mod pixels;
