//! The bytes of a glTF file: its container, JSON, buffers and accessors, and the files to which it refers.

pub mod accessor;
pub mod bytes;
pub mod container;
pub mod document;
pub mod extensions;
pub mod json;
pub mod meshopt;
pub mod numbers;
pub mod uri;
