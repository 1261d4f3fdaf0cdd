//! The command line: one file per subcommand, with little logic. `main` only calls [`run`].

mod allocator;
mod args;
mod check;
mod console;
mod denoise;
mod diff;
mod exit;
mod export;
mod farm;
mod help;
mod in_memory;
mod info;
mod interrupt;
mod measure;
mod merge;
mod model;
mod new;
mod pbrt;
mod program;
mod progress;
mod render;
mod resume;
mod shipped;
mod stage;
mod version;
mod view;

pub use allocator::OneLineOnFailure;
pub use exit::Exit;
pub use in_memory::{frame_options, load_options, picture_options};
pub use program::{run, run_with};

use exit::{UsageError, demand};
