//! The scenes, their rays, and pictures.

use crate::{octree::Sphere, structures::Found};
use glam::Vec3;
use std::f32::consts::TAU;
use throng_abi::Ray;
use throng_base::math::hash_unit;

/// Pixels of a tile.
pub const TILE: usize = 64;
/// Distance of the start of a bounce ray from the surface, in scene units.
const OFFSET: f32 = 2e-3;

/// The spheres of scenes/weekend.ron, with as many small ones as needed: in rows around the large ones, on the ground.
pub fn spheres(count: usize) -> Vec<Sphere> {
    let sphere = |x, y, z, radius| Sphere { center: Vec3::new(x, y, z), radius };
    let mut spheres = vec![
        sphere(0.0, -1000.0, 0.0, 1000.0),
        sphere(0.0, 1.0, 0.0, 1.0),
        sphere(-4.0, 1.0, 0.0, 1.0),
        sphere(4.0, 1.0, 0.0, 1.0),
    ];
    let small = count - spheres.len();
    let side = (small as f32).sqrt().ceil() as usize;
    spheres.extend((0..small).map(|i| {
        let place = |cell: usize, seed| cell as f32 - 0.5 * (side - 1) as f32 + 0.8 * hash_unit(seed, i as u32) - 0.4;
        sphere(place(i % side, 6), 0.2, place(i / side, 7), 0.2)
    }));
    spheres
}

/// Rays from the camera of scenes/weekend.ron through the pixels' centres, in tiles of 8×8.
pub fn primary_rays((width, height): (u32, u32)) -> Vec<Ray> {
    let eye = Vec3::new(13.0, 2.0, 3.0);
    let forward = -eye.normalize();
    let right = forward.cross(Vec3::Y).normalize();
    let up = right.cross(forward);
    let pixel = 2.0 * 10f32.to_radians().tan() / height as f32;
    let through = |item: u32| {
        let (tile, inner) = (item / 64, item % 64);
        let x = tile % (width / 8) * 8 + inner % 8;
        let y = tile / (width / 8) * 8 + inner / 8;
        let [x, y] = [(x, width), (y, height)].map(|(at, size)| pixel * (at as f32 + 0.5 - 0.5 * size as f32));
        ray(eye, forward + x * right - y * up)
    };
    (0..width * height).map(through).collect()
}

/// Diffuse rays from the hits; none from a miss. Directions are distributed by the cosine.
pub fn bounce_rays(spheres: &[Sphere], rays: &[Ray], found: &[Found]) -> Vec<Option<Ray>> {
    let bounce = |((from, found), index): ((&Ray, &Found), u32)| {
        let sphere = spheres.get(found.sphere as usize)?;
        let position = Vec3::from(from.origin) + found.t * Vec3::from(from.direction);
        let normal = (position - sphere.center).normalize_or_zero();
        let (height, angle) = (2.0 * hash_unit(0, index) - 1.0, TAU * hash_unit(1, index));
        let (sine, cosine) = angle.sin_cos();
        let radius = (1.0 - height * height).sqrt();
        Some(ray(position + OFFSET * normal, normal + 0.999 * Vec3::new(radius * cosine, radius * sine, height)))
    };
    rays.iter().zip(found).zip(0..).map(bounce).collect()
}

fn ray(origin: Vec3, direction: Vec3) -> Ray {
    Ray { origin: origin.into(), t_min: 0.0, direction: direction.normalize().into(), t_max: f32::INFINITY }
}

/// A grey picture in the order of the rays: the sky, or its light on the spheres after one bounce.
pub fn picture(spheres: &[Sphere], rays: &[Ray], trace: impl Fn(&[Ray]) -> Vec<Found>) -> Vec<f64> {
    let sky = |ray: &Ray| 1.0 - 0.3 * f64::from(ray.direction[1].max(0.0));
    let bounces = bounce_rays(spheres, rays, &trace(rays));
    let mut blocked =
        trace(&bounces.iter().flatten().copied().collect::<Vec<_>>()).into_iter().map(|found| found.t >= 0.0);
    let shade = |(ray, bounce): (&Ray, &Option<Ray>)| match bounce {
        Some(bounce) if blocked.next() == Some(false) => 0.5 * sky(bounce),
        Some(_) => 0.0,
        None => sky(ray),
    };
    rays.iter().zip(&bounces).map(shade).collect()
}

/// Structural similarity (Wang et al. 2004), whose windows are the tiles.
pub fn ssim(a: &[f64], b: &[f64]) -> f64 {
    let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / 64.0;
    let of_tile = |(a, b): (&[f64], &[f64])| {
        let (mean_a, mean_b) = (mean(&mut a.iter().copied()), mean(&mut b.iter().copied()));
        let covariance = |x: &[f64], y: &[f64], mx, my| mean(&mut x.iter().zip(y).map(|(x, y)| (x - mx) * (y - my)));
        let variances = covariance(a, a, mean_a, mean_a) + covariance(b, b, mean_b, mean_b);
        let (c1, c2) = (1e-4, 9e-4);
        (2.0 * mean_a * mean_b + c1) * (2.0 * covariance(a, b, mean_a, mean_b) + c2)
            / ((mean_a * mean_a + mean_b * mean_b + c1) * (variances + c2))
    };
    let tiles = a.chunks_exact(64).zip(b.chunks_exact(64));
    tiles.map(of_tile).sum::<f64>() / (a.len() / 64) as f64
}
