//! Black-box tests of the `throng` program: every subcommand, flag, exit code and error message.

mod alpha;
mod bare_models;
mod cache;
mod checkpoint;
mod common;
mod compare;
mod damaged;
mod denoise;
mod devices;
mod diff;
#[cfg(unix)]
mod documentation;
mod errors;
mod farm;
mod film;
mod flags;
mod frame_names;
mod help;
mod hostile;
mod inputs;
mod interrupt;
mod light;
mod limits;
mod mattes;
mod merge;
mod models;
mod new;
mod open_exr;
mod outputs;
mod page;
mod render;
mod reports;
mod resume;
mod saves;
mod several;
mod strict;
mod videos;
mod view;

use throng_testing::process;
mod warnings;
