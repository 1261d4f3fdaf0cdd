//! Lookup of groups, nodes and meshes by name, for example as the focus of a lens.

mod unknown;

use glam::Vec3;
use std::{collections::HashMap, ops::Range};
use throng_scene::anim::{self, Deformed, Moment};
use throng_scene::{Anchor, Mesh, Scene};

/// Maximum number of instances from which the centre of a group is computed.
const MOST: usize = 256;

/// The instances with a name, and the way to the assembly that contains them; empty for the world.
pub struct Found {
    pub around: Vec<u32>,
    pub instances: Vec<u32>,
}

/// Finds the subject `name` of `scene`. Otherwise finds the first instance of the mesh with that name (or the fifth, for `name:4`), or else
/// the instance with this path (see [`Scene::name_of_way`]). If several meshes share the name, as in glTF files, the result has an instance
/// of each.
///
/// # Errors
/// If nothing has this name: a sentence with a suggestion.
pub fn find(scene: &Scene, name: &str) -> Result<Vec<Anchor>, String> {
    if let Some(subject) = scene.subjects.iter().find(|s| s.name == name) {
        return Ok(subject.anchors.clone());
    }
    let Found { around, instances } = instances(scene, name)?;
    if around.is_empty() {
        return Ok(middles(scene, &instances));
    }
    let anchor = |&index: &u32| Anchor::Nested {
        steps: scene.steps_of_way(&[&around[..], &[index]].concat()).into(),
        point: middle(scene, scene.instances[index as usize].mesh),
    };
    Ok(instances.iter().map(anchor).collect())
}

/// The instances whose centre [`find`] uses; for a subject, all of its instances.
///
/// # Errors
/// As [`find`].
pub fn instances(scene: &Scene, name: &str) -> Result<Found, String> {
    if let Some(found) = in_world(scene, name) {
        return Ok(Found { around: Vec::new(), instances: found });
    }
    let way = scene.way_named(name).map_err(|lost| unknown::sentence(scene, name, &lost))?;
    let (last, around) = way.split_last().unwrap_or((&0, &[]));
    Ok(Found { around: around.to_vec(), instances: vec![*last] })
}

fn in_world(scene: &Scene, name: &str) -> Option<Vec<u32>> {
    if let Some(subject) = scene.subjects.iter().find(|s| s.name == name) {
        return Some(subject.instances.clone());
    }
    of_meshes(scene, name, 0).or_else(|| {
        let (mesh, number) = name.rsplit_once(':')?;
        of_meshes(scene, mesh, number.parse().ok()?)
    })
}

/// Up to `MOST` of the instances, evenly spread.
pub fn spread(instances: Range<u32>) -> Vec<u32> {
    let step = instances.len().div_ceil(MOST).max(1);
    instances.step_by(step).collect()
}

/// The centres of the meshes of `instances` at the first frame, as anchors.
pub fn middles(scene: &Scene, instances: &[u32]) -> Vec<Anchor> {
    middles_of_many(scene, instances, &mut HashMap::new())
}

/// As [`middles`]. `known` caches the centres of meshes.
pub fn middles_of_many(scene: &Scene, instances: &[u32], known: &mut HashMap<u32, Vec3>) -> Vec<Anchor> {
    let anchor = |&index: &u32| {
        let mesh = scene.instances.get(index as usize)?.mesh;
        Some(Anchor::Instance { instance: index, point: *known.entry(mesh).or_insert_with(|| middle(scene, mesh)) })
    };
    instances.iter().filter_map(anchor).collect()
}

fn of_meshes(scene: &Scene, name: &str, number: usize) -> Option<Vec<u32>> {
    let meshes = (0u32..).zip(&scene.meshes);
    let nth = |(mesh, _): (u32, &Mesh)| {
        let instances = (0u32..).zip(&scene.instances[scene.world()]);
        let mut shown = instances.filter(|(_, instance)| instance.mesh == mesh);
        shown.nth(number).map(|(index, _)| index)
    };
    let named = meshes.filter(|(_, mesh)| mesh.name == name);
    let found: Vec<u32> = named.filter_map(nth).collect();
    (!found.is_empty()).then_some(found)
}

/// The centre of a mesh in object space; at the first frame if it deforms.
fn middle(scene: &Scene, mesh: u32) -> Vec3 {
    let bounds = match scene.deforming.iter().find(|d| d.mesh == mesh) {
        Some(deforming) => {
            let (moment, mut shape) = (Moment::of(scene, scene.settings.start), Deformed::default());
            anim::shape_at(scene, deforming, &moment, &mut shape);
            shape.bounds
        }
        None => match scene.meshes.get(mesh as usize) {
            Some(mesh) => mesh.bounds(),
            None => scene.boxes_at_rest().get(mesh as usize).copied().unwrap_or(throng_base::math::Aabb::EMPTY),
        },
    };
    bounds.center()
}
