//! The surface at a point of a picture.

use super::Picked;
use throng_abi::{Hit, Ray};
use throng_base::math::Aabb;
use throng_device::{Device, DeviceError, Frame, RayKind};
use throng_scene::{Mesh, Projection, Scene, Shape};

/// Traces a ray through the centre of the lens and a point of a picture of `frame`. The point has coordinates from 0 to 1 from the top
/// left; `aspect` is the picture's width divided by its height. Returns the index of the outermost instance and a description of the
/// surface; None for a miss.
///
/// # Errors
/// If the device fails.
pub fn pick(
    scene: &Scene,
    frame: &Frame,
    [x, y]: [f32; 2],
    aspect: f32,
    device: &mut dyn Device,
) -> Result<Option<(u32, Picked)>, DeviceError> {
    // Relative to the origin of the frame's positions.
    let camera = frame.camera;
    let (origin, direction) = camera.ray(2.0 * x - 1.0, 1.0 - 2.0 * y, aspect);
    let ray = Ray { origin: origin.into(), t_min: 0.0, direction: direction.into(), t_max: f32::INFINITY };
    let mut hits = [Hit::default()];
    device.trace(frame, RayKind::Closest, &[ray], &mut hits, 1)?;
    let [hit] = hits;
    if hit.t < 0.0 {
        return Ok(None);
    }
    let way = frame.way_to(&hit);
    let (Some(&outermost), Some(&innermost)) = (way.first(), way.last()) else { return Ok(None) };
    let Some(instance) = scene.instances.get(innermost as usize) else { return Ok(None) };
    let record = &frame.tlas.records[hit.record as usize];
    let shown = scene.meshes.get(record.mesh as usize);
    // For a deforming mesh, the bounds of its current pose are used.
    let bounds = match frame.shapes.iter().find(|shape| shape.mesh == record.mesh) {
        Some(posed) => posed.keys().fold(Aabb::EMPTY, |bounds, key| bounds.union(key.bounds)),
        None => shown.map_or(Aabb::EMPTY, Mesh::bounds),
    };
    let bounds = bounds.transformed(&frame.placement(&hit).0);
    let slot = match shown.map(|mesh| &mesh.shape) {
        Some(Shape::Triangles(mesh)) => mesh.slots.get(hit.prim as usize).copied().unwrap_or(0),
        _ => 0,
    };
    let material = scene.material_slots.get((instance.slot_base + slot) as usize);
    let (point, place) = (origin + hit.t * direction, frame.tlas.origin);
    let picked = Picked {
        instance: scene.name_of_way(&way),
        mesh: scene.meshes.get(instance.mesh as usize).map_or_else(String::new, |mesh| mesh.name.clone()),
        material: material.map_or_else(String::new, |&row| scene.material_name(row as usize)),
        distance: hit.t,
        depth: match camera.projection {
            Projection::Equirectangular => point.distance(camera.eye),
            _ => (point - camera.eye).dot(camera.basis().0),
        },
        point: (point + place).into(),
        centre: (bounds.center() + place).into(),
        radius: 0.5 * bounds.diagonal(),
        movable: false,
        fixed: None,
        transform: None,
    };
    Ok(Some((outermost, picked)))
}
