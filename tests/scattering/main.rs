//! Scattering of surfaces, without a scene: energy, pdfs, reciprocity and limits of the layered BSDF.

mod chi_square;
mod common;
mod furnace;
mod limits;
mod normals;
mod reciprocity;
mod sane;
mod tables;
