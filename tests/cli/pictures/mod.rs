//! Contents, names and formats of the pictures that runs write.

mod alpha;
mod develop;
mod flags;
mod frame_names;
mod labels;
mod light;
mod mattes;
mod open_exr;
mod outputs;
mod videos;
mod views;
