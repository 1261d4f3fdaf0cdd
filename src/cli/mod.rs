//! The command line: one file per subcommand, with little logic. `main` only calls [`run`].

mod args;
mod check;
mod console;
mod denoise;
mod diff;
mod exit;
mod farm;
mod help;
mod info;
mod interrupt;
mod lens_args;
mod measure;
mod merge;
mod model;
mod model_args;
mod new;
mod program;
mod progress;
mod render;
mod resume;
mod shipped;
mod version;
mod view;
mod view_args;

pub use exit::Exit;
pub use program::run;

use exit::{UsageError, demand};
