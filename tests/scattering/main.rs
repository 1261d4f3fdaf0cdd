//! Scattering of surfaces, without a scene: energy, pdfs, reciprocity and limits of the BSDFs.

mod bent;
mod chi_square;
mod common;
mod furnace;
mod hair;
mod limits;
mod normals;
mod reciprocity;
mod sane;
mod tables;
