//! MaterialX documents (.mtlx) as USD layers.
//!
//! [`document`] reads the XML, and [`layer`] writes the prims that OpenUSD's plugin `usdMtlx` makes of it: `/MaterialX/Materials/NAME` with a
//! shader and node graphs, and the graphs alone below `/MaterialX/NodeGraphs`. References and sublayers of documents are composed like those of
//! other layers. Looks and assignments are left out.

mod document;
mod layer;
mod values;

#[cfg(test)]
mod tests;

use std::{fmt, io};

/// Path of the prim with all materials of a document.
pub const MATERIALS: &str = "/MaterialX/Materials";
/// Name of the attribute of a shader that has its place in the document, such as `wood.mtlx:12`.
pub const PLACE: &str = "throng:place";

/// Reads a file that a document includes, by its path relative to the document with the first name. Returns its own name and its content;
/// `None` if there is no such file.
pub type Include<'a> = dyn FnMut(&str, &str) -> io::Result<Option<(String, Vec<u8>)>> + 'a;

/// A layer in text, and remarks about what it lacks.
pub struct Layer {
    /// The text, `#usda 1.0` and so on.
    pub text: String,
    /// What is left out, one line each, with the file.
    pub remarks: Vec<String>,
}

/// A document that cannot be read.
#[derive(Debug)]
pub struct Fault {
    file: String,
    line: u32,
    column: u32,
    message: String,
}

impl fmt::Display for Fault {
    /// The form of messages of `openusd`.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "error: {}\n --> {}:{}:{}", self.message, self.file, self.line, self.column)
    }
}

/// The layer of the document with this name and content.
///
/// # Errors
/// If the XML is damaged, if a value is not of its type, or if a document includes itself or a file that does not exist.
pub fn layer(name: &str, content: &[u8], include: &mut Include) -> Result<Layer, Fault> {
    let document = document::read(name, content, include)?;
    Ok(layer::write(&document))
}
