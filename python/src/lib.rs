//! The compiled part of the Python module `throng`. The package around it, in `python/throng`, has the interface that people use.

mod arrays;
mod files;
mod frame;
mod geometry;
mod gpu;
mod renderer;
mod scene;
mod views;

use pyo3::{create_exception, exceptions::PyException, prelude::*};
use std::ffi::OsString;

create_exception!(throng, Error, PyException, "A scene, an option or a device is wrong. The text says what to change.");

/// Python cannot go on when memory runs out, either: the message is the command line's.
#[global_allocator]
static ALLOCATOR: throng::cli::OneLineOnFailure = throng::cli::OneLineOnFailure;

/// An error of the library as a Python exception.
fn raised(error: impl std::fmt::Display) -> PyErr {
    Error::new_err(error.to_string())
}

/// Runs the command line, and returns its exit code. `arguments` begins with the program's name.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| throng::cli::run_with(arguments))
}

#[pymodule]
fn _throng(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Error", module.py().get_type::<Error>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add_function(wrap_pyfunction!(scene::build, module)?)?;
    module.add_class::<scene::Source>()?;
    module.add_class::<renderer::Renderer>()?;
    module.add_class::<renderer::Frames>()?;
    module.add_class::<gpu::GpuArray>()?;
    module.add_class::<frame::Frame>()
}
