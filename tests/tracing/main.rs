//! Rays in complete scenes, through the public interface: trees, instances, kernels and devices together.

mod alpha;
mod aovs;
mod brute_force;
mod common;
mod far;
mod films;
mod fog;
mod integrators;
mod lens;
mod materials;
mod media;
mod nested;
mod packets;
mod panes;
mod self_hits;
mod shutter;
mod sides;
mod watertight;
mod work;
