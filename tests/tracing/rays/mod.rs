//! Hits of single rays, and the work that they cause.

mod brute_force;
mod packets;
mod self_hits;
mod watertight;
mod work;
