//! The picture of one viewer: camera, clock, settings and film.
//!
//! After a change, a quick picture is shown first. Its size and sample count are chosen to take about 45 ms, and it is denoised with
//! earlier pictures if time allows (`clean`). After 80 ms without a change, samples are added in slices of up to 200 ms (`pace`). A new
//! camera interrupts a slice without loss, because the film is copied before each slice. The finished picture is denoised by its own
//! samples alone, if renders of the scene are denoised.

mod clean;
mod commands;
mod line;
mod state;
mod still;
mod update;
mod work;

pub use state::{Due, Eye};
