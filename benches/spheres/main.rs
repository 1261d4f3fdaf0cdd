//! Spheres in a list, in an octree, and as instances of throng, on the CPU and on a GPU; the first two also in half precision:
//! `cargo bench --bench spheres`, or `-- cpu`, `-- gpu`. docs/speed.md has the results.
//!
//! g++ (or `$CXX`) and nvcc compile spheres.cpp when the benchmark starts.

use glam::Vec3;
use inputs::{TILE, bounce_rays, picture, primary_rays, spheres, ssim};
use libloading::Library;
use octree::{Octree, Sphere};
use std::env;
use structures::{Bvh, Found, HALF_LIST, HALF_OCTREE, LIST, OCTREE, Own};
use throng_abi::Ray;
use throng_device::{Device, DeviceChoice};

mod compile;
mod inputs;
mod octree;
mod structures;

const COUNTS: [usize; 3] = [488, 1_000, 8_000];
/// Sizes of the picture on CPUs, and on GPUs, which fewer rays would not fill. Sides are multiples of the tile size 8.
const CPU_PICTURE: (u32, u32) = (640, 360);
const GPU_PICTURE: (u32, u32) = (2560, 1440);
const ROUNDS: usize = 9;
/// Capacities of leaves, of which each device uses the fastest.
const LEAVES: [usize; 4] = [4, 8, 16, 32];
/// Share of the tiles that the list in half precision traces on CPUs, which mostly lack its arithmetic and are slow.
const SAMPLED: usize = 16;

/// Relative difference of distances up to which hits are equal.
const TOLERANCE: f32 = 1e-4;
/// Distance of a point from a sphere up to which it is on its surface, relative to the radius.
const ON_SURFACE: f64 = 1e-6;
/// Share of the rays whose hits may differ: those along edges.
const MAY_DIFFER: f64 = 2e-5;

fn main() {
    let chosen = env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let is_chosen = |name| chosen.as_deref().is_none_or(|chosen| chosen == name);
    if is_chosen("cpu") {
        measure(&DeviceChoice::Cpu, compile::for_cpu, CPU_PICTURE, SAMPLED);
    }
    if is_chosen("gpu") {
        measure(&DeviceChoice::Cuda(vec![0]), compile::for_gpu, GPU_PICTURE, 1);
    }
}

/// Prints the table of a device, or why there is none.
fn measure(choice: &DeviceChoice, compile: fn() -> Result<Library, String>, size: (u32, u32), sampled: usize) {
    let opened = throng_device::open(choice, 0).map_err(|error| error.to_string());
    match opened.and_then(|opened| Ok((opened.device, compile()?))) {
        Ok((mut device, library)) => print_table(&mut *device, &library, size, sampled),
        Err(reason) => println!("{choice}: {reason}"),
    }
}

fn print_table(device: &mut dyn Device, library: &Library, size: (u32, u32), sampled: usize) {
    println!("{}: Mrays/s, medians of {ROUNDS} rounds; SSIM of the octree's picture in FP16\n", device.describe());
    println!(
        "| spheres | rays | list | octree | BVH | list, FP16 | octree, FP16 | SSIM | spheres per leaf | hits that differ |"
    );
    println!("|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    for count in COUNTS {
        let spheres = spheres(count);
        let mut bvh = Bvh::new(device, &spheres);
        let primary = primary_rays(size);
        let hits = bvh.trace(&primary).1;
        let bounce: Vec<Ray> = bounce_rays(&spheres, &primary, &hits).into_iter().flatten().collect();
        let (leaf, tree) = fastest_tree(library, &spheres, &bounce);
        let own = Own::new(library, &spheres, &tree);
        let [single, half] =
            [OCTREE, HALF_OCTREE].map(|kind| picture(&spheres, &primary, |rays| own.trace(kind, rays).1));
        let similarity = ssim(&single, &half);
        for (name, rays) in [("primary", primary), ("bounce", bounce)] {
            let different = different(&own, &mut bvh, &spheres, &rays);
            let cells = rates(&own, &mut bvh, &rays, sampled).map(|rate| format!("{rate:.2}")).join(" | ");
            println!("| {count} | {name} | {cells} | {similarity:.2} | {leaf} | {different} of {} |", rays.len());
        }
    }
    println!();
}

/// The octree through which rays are traced fastest, and the capacity of its leaves.
fn fastest_tree(library: &Library, spheres: &[Sphere], rays: &[Ray]) -> (usize, Octree) {
    let trees = LEAVES.map(|leaf| (leaf, Octree::new(spheres, leaf)));
    let seconds = |tree: &Octree| {
        let own = Own::new(library, spheres, tree);
        (0..ROUNDS).map(|_| own.trace(OCTREE, rays).0).fold(f64::INFINITY, f64::min)
    };
    let timed = trees.into_iter().map(|(leaf, tree)| (seconds(&tree), leaf, tree));
    let (_, leaf, tree) = timed.min_by(|a, b| a.0.total_cmp(&b.0)).expect("there are capacities");
    (leaf, tree)
}

/// The speeds in the order of the table's columns.
fn rates(own: &Own, bvh: &mut Bvh, rays: &[Ray], sampled: usize) -> [f64; 5] {
    let sample: Vec<Ray> = rays.chunks(TILE).step_by(sampled).flatten().copied().collect();
    let rate = |rays: &[Ray], (seconds, _): (f64, Vec<Found>)| 1e-6 * rays.len() as f64 / seconds;
    let mut rates = [const { Vec::new() }; 5];
    for _ in 0..ROUNDS {
        rates[0].push(rate(rays, own.trace(LIST, rays)));
        rates[1].push(rate(rays, own.trace(OCTREE, rays)));
        rates[2].push(rate(rays, bvh.trace(rays)));
        rates[3].push(rate(&sample, own.trace(HALF_LIST, &sample)));
        rates[4].push(rate(rays, own.trace(HALF_OCTREE, rays)));
    }
    rates.map(|mut rates| {
        rates.sort_by(f64::total_cmp);
        rates[ROUNDS / 2]
    })
}

/// Number of rays for which the list or the octree finds another hit than throng, in single precision.
fn different(own: &Own, bvh: &mut Bvh, spheres: &[Sphere], rays: &[Ray]) -> usize {
    let expected = bvh.trace(rays).1;
    let [list, octree] = [LIST, OCTREE].map(|kind| own.trace(kind, rays).1);
    let is_equal = |i: usize| [&list, &octree].iter().all(|found| is_equal(spheres, &rays[i], found[i], expected[i]));
    let different = (0..rays.len()).filter(|&i| !is_equal(i)).count();
    assert!(different as f64 <= MAY_DIFFER * rays.len() as f64, "{different} of {} hits differ", rays.len());
    different
}

/// Whether two hits have the same sphere and distance. Along grazing rays, a small distance from the surface is a large distance along the ray, so
/// there a point on the surface suffices.
fn is_equal(spheres: &[Sphere], ray: &Ray, found: Found, expected: Found) -> bool {
    let is_on_surface = || {
        let sphere = spheres[found.sphere as usize];
        let vectors = [ray.origin.into(), ray.direction.into(), sphere.center];
        let [origin, direction, center] = vectors.map(|vector: Vec3| vector.as_dvec3());
        let distance = (origin + f64::from(found.t) * direction).distance(center);
        (distance / f64::from(sphere.radius) - 1.0).abs() <= ON_SURFACE
    };
    let is_as_far = (found.t - expected.t).abs() <= TOLERANCE * expected.t.abs();
    found.sphere == expected.sphere && (is_as_far || is_on_surface())
}
