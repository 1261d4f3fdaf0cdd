//! Joins the films of parts of a picture into the picture, or into one film.
//!
//! Sums are exact. The result therefore does not depend on the order and grouping of the films, and is bitwise equal to one run with all
//! samples. Films are read, and the output is written, one band of rows at a time, so memory use depends neither on the picture's height
//! nor on the number of films.

mod coverage;
mod error;
mod join;
mod merging;
mod sinks;

pub use error::MergeError;
pub use merging::{Merged, merge};
