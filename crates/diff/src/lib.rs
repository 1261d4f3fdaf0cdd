//! Perceptual picture comparison with ꟻLIP, which predicts the differences that an observer sees when flipping between two pictures.
//!
//! Papers: Andersson, Nilsson, Akenine-Möller, Oskarsson, Åström and Fairchild, "FLIP: A Difference Evaluator for Alternating Images"
//! (2020); for linear pictures, "Visualizing Errors in Rendered High Dynamic Range Images" (2021).

mod color;
mod comparison;
mod exposure;
mod filter;
mod flip;
mod map;
mod read;
mod sequence;
#[cfg(test)]
mod tests;

pub use comparison::{Difference, DifferenceStats, PIXELS_PER_DEGREE, SizeError, compare};
pub use map::draw_map;
pub use read::{LinearImage, read};
pub use sequence::{SequenceDifference, SequenceStats};
