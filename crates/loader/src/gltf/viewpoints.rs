//! Cameras (glTF 2.0, 3.10) at the nodes of a scene.
//!
//! Values out of range are clamped, with a warning. Clipping planes are read but not applied.

use super::{
    fault::{Fault, fault},
    file::document::{Document, out_of_range},
    model::{ModelCamera, Projection},
    nodes::{Hierarchy, Seat, name},
};
use gltf::json::camera::{Camera, Orthographic, Perspective};
use std::f32::consts::PI;

/// Minimum vertical field of view, and minimum difference from a half turn, in radians.
const LEAST_FOV: f32 = 1e-3;

/// The cameras of the scene's nodes, in the order of the file's cameras; a camera with several nodes, in the order of the nodes. Missing
/// cameras, and cameras without a projection, are ignored with a warning.
///
/// # Errors
/// If the memory budget is exceeded.
pub fn cameras(document: &Document, hierarchy: &Hierarchy) -> Result<Vec<ModelCamera>, Fault> {
    let nodes = &document.root.nodes;
    let mut found = Vec::new();
    for (i, &index) in hierarchy.file_index[..hierarchy.in_scene].iter().enumerate() {
        let node = &nodes[index as usize];
        let Some(at) = node.camera.map(|c| c.value()) else {
            continue;
        };
        let camera = document
            .or_warn(camera(document, Seat { node, rig_node: i as u32, index }, at), "the camera is left out")?;
        found.extend(camera.map(|camera| ((at, index), camera)));
    }
    found.sort_by_key(|(place, _)| *place);
    Ok(found.into_iter().map(|(_, camera)| camera).collect())
}

/// Camera `at` of a node.
fn camera(document: &Document, Seat { node, rig_node, index }: Seat, at: usize) -> Result<ModelCamera, Fault> {
    let cameras = &document.root.cameras;
    let camera = cameras
        .get(at)
        .ok_or_else(|| fault(format!("/nodes/{index}/camera"), out_of_range("camera", at, cameras.len())))?;
    Ok(ModelCamera {
        camera: at as u32,
        name: name(camera.name.as_deref().or(node.name.as_deref()), "camera", at),
        node: rig_node,
        projection: projection(document, camera, &format!("/cameras/{at}"))?,
    })
}

fn projection(document: &Document, camera: &Camera, path: &str) -> Result<Projection, Fault> {
    match (&camera.perspective, &camera.orthographic) {
        (Some(p), _) => Ok(perspective(document, p, &format!("{path}/perspective"))),
        (None, Some(o)) => Ok(orthographic(document, o, &format!("{path}/orthographic"))),
        (None, None) => Err(fault(path, "the camera is neither perspective nor orthographic")),
    }
}

fn perspective(document: &Document, p: &Perspective, path: &str) -> Projection {
    let fov_y = p.yfov.clamp(LEAST_FOV, PI - LEAST_FOV);
    replace(document, &format!("{path}/yfov"), p.yfov, fov_y);
    let aspect = p.aspect_ratio.filter(|ratio| ratio.is_finite() && *ratio > 0.0);
    if aspect != p.aspect_ratio {
        document.warnings.add(&format!("{path}/aspectRatio"), "the ratio is not positive and ignored");
    }
    let far = p.zfar.filter(|far| far.is_finite());
    Projection::Perspective { fov_y, aspect, near: finite(p.znear), far }
}

/// Negative magnifications, which would mirror the picture, are made positive; the specification discourages them.
fn orthographic(document: &Document, o: &Orthographic, path: &str) -> Projection {
    let [half_width, half_height] = [(o.xmag, "xmag"), (o.ymag, "ymag")].map(|(given, member)| {
        let half = if given.is_finite() && given != 0.0 { given.abs() } else { 1.0 };
        if half != given.abs() {
            replace(document, &format!("{path}/{member}"), given, half);
        }
        half
    });
    Projection::Orthographic { half_width, half_height, near: finite(o.znear), far: finite(o.zfar) }
}

fn finite(x: f32) -> f32 {
    if x.is_finite() { x } else { 0.0 }
}

/// Adds a warning if a value was replaced.
pub fn replace(document: &Document, path: &str, given: f32, used: f32) {
    if given != used {
        document.warnings.add(path, format!("{given} is out of range; {used} is used"));
    }
}
