//! `throng render`, of one scene or several, on one device or for a comparison of several.

mod command;
pub mod compare;
mod models;
mod report;
mod together;

pub use command::{Planned, RenderArgs};
pub use models::Tally;
