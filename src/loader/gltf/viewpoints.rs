//! Cameras (glTF 2.0, 3.10) and punctual lights (KHR_lights_punctual) at the nodes of a scene.

use super::{
    fault::{Fault, fault},
    file::{
        document::{Document, out_of_range},
        extensions,
    },
    model::{LightShape, ModelCamera, ModelLight, Projection},
    nodes::{Hierarchy, name},
};
use gltf::json::{camera::Camera, scene::Node};
use serde::Deserialize;
use std::f32::consts::{FRAC_PI_2, FRAC_PI_4, PI};

/// The cameras of the scene's nodes, in the order of the file's cameras; a camera of several nodes, in the order of the nodes.
///
/// # Errors
/// When a camera does not exist, or its numbers make no picture.
pub fn cameras(document: &Document, hierarchy: &Hierarchy) -> Result<Vec<ModelCamera>, Fault> {
    let (nodes, cameras) = (&document.root.nodes, &document.root.cameras);
    let mut found = Vec::new();
    for (i, &index) in hierarchy.file_index[..hierarchy.in_scene].iter().enumerate() {
        let node = &nodes[index as usize];
        let Some(at) = node.camera.map(|c| c.value()) else {
            continue;
        };
        let camera = cameras.get(at).ok_or_else(|| {
            let message = out_of_range("camera", at, cameras.len());
            fault(format!("/nodes/{index}/camera"), message)
        });
        let camera = camera.and_then(|camera| {
            Ok(ModelCamera {
                camera: at as u32,
                name: name(camera.name.as_deref().or(node.name.as_deref()), "camera", at),
                node: i as u32,
                projection: projection(camera, &format!("/cameras/{at}"))?,
            })
        });
        let camera = document.faults.keep(camera)?;
        found.extend(camera.map(|camera| ((at, index), camera)));
    }
    found.sort_by_key(|(place, _)| *place);
    Ok(found.into_iter().map(|(_, camera)| camera).collect())
}

fn projection(camera: &Camera, path: &str) -> Result<Projection, Fault> {
    let positive = |x: f32| x.is_finite() && x > 0.0;
    let (projection, valid) = match (&camera.perspective, &camera.orthographic) {
        (Some(p), _) => (
            Projection::Perspective { fov_y: p.yfov, aspect: p.aspect_ratio, near: p.znear, far: p.zfar },
            positive(p.yfov)
                && p.yfov < PI
                && p.aspect_ratio.is_none_or(positive)
                && p.znear.is_finite()
                && p.zfar.is_none_or(f32::is_finite),
        ),
        // Negative magnifications mirror the picture, which the specification advises against.
        (None, Some(o)) => (
            Projection::Orthographic {
                half_width: o.xmag.abs(),
                half_height: o.ymag.abs(),
                near: o.znear,
                far: o.zfar,
            },
            positive(o.xmag.abs()) && positive(o.ymag.abs()) && o.znear.is_finite() && o.zfar.is_finite(),
        ),
        (None, None) => {
            return Err(fault(path, "the camera is neither perspective nor orthographic"));
        }
    };
    match valid {
        true => Ok(projection),
        false => Err(fault(path, "these numbers make no picture: correct the camera")),
    }
}

#[derive(Deserialize)]
struct Lights {
    #[serde(default)]
    lights: Vec<Light>,
}

#[derive(Deserialize)]
struct Light {
    name: Option<String>,
    #[serde(default = "white")]
    color: [f32; 3],
    intensity: Option<f32>,
    range: Option<f32>,
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(default)]
    spot: Spot,
}

fn white() -> [f32; 3] {
    [1.0; 3]
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Directional,
    Point,
    Spot,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spot {
    inner_cone_angle: Option<f32>,
    outer_cone_angle: Option<f32>,
}

#[derive(Deserialize)]
struct LightIndex {
    light: usize,
}

/// The lights of the scene's nodes, in the order of the nodes.
///
/// # Errors
/// When a light does not exist or its numbers are not finite.
pub fn lights(document: &Document, hierarchy: &Hierarchy) -> Result<Vec<ModelLight>, Fault> {
    let others = document.root.extensions.as_ref().map(|e| &e.others);
    let read = extensions::read::<Lights>(others, extensions::LIGHTS, "");
    let Some(read) = document.faults.keep(read)? else {
        return Ok(Vec::new());
    };
    let lights = read.map(|l| l.lights).unwrap_or_default();
    let mut found = Vec::new();
    for &(i, index) in &hierarchy.visible {
        let node = &document.root.nodes[index as usize];
        let light = light_at(node, i, index, &lights);
        found.extend(document.faults.keep(light)?.flatten());
    }
    Ok(found)
}

/// The light of a node, which is `rig_node` in the rig and `index` in the file.
fn light_at(node: &Node, rig_node: u32, index: u32, lights: &[Light]) -> Result<Option<ModelLight>, Fault> {
    let others = node.extensions.as_ref().map(|e| &e.others);
    let path = format!("/nodes/{index}");
    let Some(at) = extensions::read::<LightIndex>(others, extensions::LIGHTS, &path)? else {
        return Ok(None);
    };
    let light = lights.get(at.light).ok_or_else(|| {
        let path = format!("{path}/extensions/{}/light", extensions::LIGHTS);
        fault(path, out_of_range("light", at.light, lights.len()))
    })?;
    let given = light.name.as_deref().or(node.name.as_deref());
    let found = ModelLight {
        light: at.light as u32,
        name: name(given, "light", at.light),
        node: rig_node,
        color: light.color,
        intensity: light.intensity.unwrap_or(1.0),
        range: light.range,
        shape: shape(light),
    };
    check_light(&found, at.light)?;
    Ok(Some(found))
}

fn shape(light: &Light) -> LightShape {
    match light.kind {
        Kind::Directional => LightShape::Directional,
        Kind::Point => LightShape::Point,
        Kind::Spot => LightShape::Spot {
            inner: light.spot.inner_cone_angle.unwrap_or(0.0),
            outer: light.spot.outer_cone_angle.unwrap_or(FRAC_PI_4),
        },
    }
}

fn check_light(light: &ModelLight, index: usize) -> Result<(), Fault> {
    let path = format!("/extensions/{}/lights/{index}", extensions::LIGHTS);
    let bright = |x: f32| x.is_finite() && x >= 0.0;
    if !light.color.iter().all(|&x| bright(x)) || !bright(light.intensity) {
        return Err(fault(path, "color and intensity must be finite and not negative"));
    }
    if light.range.is_some_and(|r| !(r.is_finite() && r > 0.0)) {
        return Err(fault(path, "range must be positive"));
    }
    match light.shape {
        LightShape::Spot { inner, outer }
            // A quarter turn may be rounded up when it is written as a float.
            if !(0.0 <= inner && inner < outer && outer <= FRAC_PI_2 + 1e-5) =>
        {
            Err(fault(path, "cone angles need 0 <= inner < outer <= π/2"))
        }
        _ => Ok(()),
    }
}
