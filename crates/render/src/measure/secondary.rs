//! Rays for benchmarks: the primary rays of a view, and bounce and shadow rays that start at their hits.

use glam::{DVec3, Vec3};
use throng_abi::{Hit, Ray};
use throng_base::math::hash_unit;
use throng_device::Frame;
use throng_scene::anim::CameraPose;
use throng_scene::{Scene, Shape};

/// Rays through the pixel centres of a view, in 8×8 tiles. Pixels beyond the last whole tile are left out.
pub fn view_rays(pose: &CameraPose, (width, height): (u32, u32)) -> Vec<Ray> {
    let aspect = width as f32 / height as f32;
    let pixels = (0..height / 8)
        .flat_map(move |ty| (0..width / 8).map(move |tx| (tx, ty)))
        .flat_map(|(tx, ty)| (0..64).map(move |i| (tx * 8 + i % 8, ty * 8 + i / 8)));
    let ray = |(x, y): (u32, u32)| {
        let sx = 2.0 * (x as f32 + 0.5) / width as f32 - 1.0;
        let sy = 1.0 - 2.0 * (y as f32 + 0.5) / height as f32;
        let (origin, direction) = pose.ray(sx, sy, aspect);
        Ray { origin: origin.into(), t_min: 0.0, direction: direction.into(), t_max: 1e30 }
    };
    pixels.map(ray).collect()
}

/// Creates two rays per hit, in the order of the hits: a bounce ray, cosine-weighted about the geometric normal, and a shadow ray to a
/// point light at centre + diagonal · (0.75, 1.5, 0.375).
pub fn make(scene: &Scene, frame: &Frame, rays: &[Ray], hits: &[Hit]) -> (Vec<Ray>, Vec<Ray>) {
    let bounds = frame.tlas.bounds();
    let diagonal = f64::from(bounds.diagonal());
    let light = bounds.center().as_dvec3() + diagonal * DVec3::new(0.75, 1.5, 0.375);
    let hit_rays = rays.iter().zip(hits).enumerate().filter(|(_, (_, hit))| hit.t >= 0.0);
    hit_rays
        .map(|(index, (ray, hit))| {
            let direction = Vec3::from(ray.direction).as_dvec3();
            let position = Vec3::from(ray.origin).as_dvec3() + direction * f64::from(hit.t);
            let mut normal = world_normal(scene, frame, hit, position).unwrap_or(-direction.normalize());
            if normal.dot(direction) > 0.0 {
                normal = -normal;
            }
            let offset = 1e-6 * diagonal + 2e-6 * position.abs().max_element();
            let origin = (position + normal * offset).as_vec3();
            let bounce = cosine_direction(normal, hash_unit(0, index as u32), hash_unit(1, index as u32));
            let to_light = light - origin.as_dvec3();
            let to = |d: DVec3, t_max: f32| Ray {
                origin: origin.into(),
                t_min: 0.0,
                direction: d.normalize().as_vec3().into(),
                t_max,
            };
            (to(bounce, 1e30), to(to_light, to_light.length() as f32))
        })
        .unzip()
}

/// World-space unit geometric normal of a hit; none for a triangle without area.
fn world_normal(scene: &Scene, frame: &Frame, hit: &Hit, position: DVec3) -> Option<DVec3> {
    let record = &frame.tlas.records[hit.record as usize];
    let (world_from_object, object_from_world) = frame.placement(hit);
    match &scene.meshes[record.mesh as usize].shape {
        Shape::Sphere => {
            let local = object_from_world.transform_point3(position.as_vec3());
            (object_from_world.matrix3.transpose() * local).as_dvec3().try_normalize()
        }
        Shape::Curves(curves) => {
            let local = object_from_world.transform_point3(position.as_vec3()) - curves.axis_point(hit.prim, hit.u);
            (object_from_world.matrix3.transpose() * local).as_dvec3().try_normalize()
        }
        Shape::Triangles(mesh) => {
            let [a, b, c] = throng_accel::Surface::from(mesh)
                .corners(hit.prim as usize)
                .map(|p| world_from_object.transform_point3(Vec3::from(p)).as_dvec3());
            (b - a).cross(c - a).try_normalize()
        }
    }
}

fn cosine_direction(normal: DVec3, u: f32, v: f32) -> DVec3 {
    let (s, t) = normal.any_orthonormal_pair();
    let (radius, angle) = (f64::from(v).sqrt(), f64::from(u) * std::f64::consts::TAU);
    s * (radius * angle.cos()) + t * (radius * angle.sin()) + normal * (1.0 - f64::from(v)).sqrt()
}
