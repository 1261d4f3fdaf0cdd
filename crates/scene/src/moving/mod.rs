//! Motions, rigs and values that change over time.

#[doc(hidden)]
pub mod animated;
pub mod bend;
mod displacement;
pub mod motion;
pub mod placement_table;
pub mod placements;
#[doc(hidden)]
pub mod rig;
mod surface;
pub mod timeline;
