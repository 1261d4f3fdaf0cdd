//! The contents of a glTF model for `throng info`, as a document and as text.

mod info;
mod text;
mod tree;

pub use info::ModelInfo;
pub use text::ModelText;
