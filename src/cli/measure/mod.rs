//! `throng bench` and `throng trace`, which measure rays.

mod bench;
mod trace;

pub use bench::BenchArgs;
pub use trace::TraceArgs;
