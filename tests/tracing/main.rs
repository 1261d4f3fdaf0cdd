//! Rays in complete scenes, through the public interface: trees, instances, kernels and devices together.

mod alpha;
mod aovs;
mod batches;
mod common;
mod curves;
mod divided;
mod far;
mod films;
mod filtering;
mod fog;
mod hair;
mod integrators;
mod left;
mod lens;
mod materials;
mod media;
mod nested;
mod panes;
mod rays;
mod shutter;
mod sides;
mod tables;
