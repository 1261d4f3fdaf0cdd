//! What is rendered, and what is returned of it.

mod delivery;
mod frame_settings;
mod region;
mod tiles;

pub use delivery::Delivery;
pub use frame_settings::FrameSettings;
pub use region::{Region, RegionError};
pub use tiles::{TILE, TileGrid};
