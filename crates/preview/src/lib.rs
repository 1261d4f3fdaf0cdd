//! The interactive loop, which shows a scene to viewers. Each viewer has its own camera, time and settings. Moving views are rendered as
//! well as time allows; unchanged views are refined until they equal the output of `throng render --checkpoint`, denoised if renders of the
//! scene are.
//!
//! Viewers send [`Command`]s and receive [`Answer`]s and [`ViewerPicture`]s through a [`Link`]. The transport is not part of this module.

mod camera;
mod choices;
mod clock;
mod command;
mod command_line;
mod edits;
mod engine;
mod eye;
mod film;
mod layers;
mod link;
mod pace;
mod picking;
mod preview;
mod scenes;
mod still;
#[cfg(test)]
mod tests;
mod watch;

pub use command::{
    Answer, Bounds, Command, Made, Picked, PictureKind, Saved, SceneFacts, State, StillFormat, StillRequest, Track,
    View, ViewerPicture, Waypoint,
};
pub use command_line::{Takes, typed as typed_flags};
pub use link::{Bell, Limits, Link, Next};
pub use preview::Preview;
pub use scenes::Source;
