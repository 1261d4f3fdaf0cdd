//! What is done with finished frames: backgrounds, files and reports.

pub mod background;
pub mod existing;
pub mod frame_report;
pub mod material_counts;
pub mod outputs;
pub mod summary;
pub mod write;
