//! The text of scene files: parsing, positions of values, values that change over time, overrides, and errors with their place.

mod error;
pub mod faults;
pub mod file;
pub mod keys;
pub mod overrides;
pub mod source;
#[doc(hidden)]
pub mod suggest;

pub use error::{LoadError, is_lack};
