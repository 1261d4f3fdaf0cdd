//! Progress of a run: a bar for the user, JSON lines for programs, and estimates of the time.

mod display;
mod estimate;
mod events;
mod remaining;

pub use display::{Progress, ProgressMode};
pub use estimate::{Estimate, Sequence};
pub use events::{Event, Stats};
