//! The samples of pictures: their sums, the passes in which they are added, and films that wait for more.

mod accumulation;
pub mod adaptive;
mod folded;
mod samples;

pub use accumulation::{Accumulation, AccumulationState, layer_columns, layer_words};
pub use folded::FoldedFilm;
#[cfg(throng_cuda)]
pub use samples::DeviceCopy;
pub use samples::Samples;
