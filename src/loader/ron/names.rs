//! The things of a scene by their names, for cameras that follow, fit or avoid them.

use crate::{
    anim::{self, Moment},
    loader::subjects,
    scene::{Anchor, Mesh, Scene, Shape},
};
use glam::{Vec3, Vec3A};
use rayon::prelude::*;
use std::{cell::RefCell, collections::HashMap, f32::consts::PI, fmt, sync::Arc};

/// Directions in which an outline has the farthest point of a thing.
const DIRECTIONS: u32 = 1024;

/// Number of instances above which an outline takes the boxes of their meshes.
const MANY: usize = 256;

/// What was found in a scene by names, kept for later times at which the scene is not at hand.
#[derive(Clone, Default)]
pub struct Known {
    anchors: HashMap<String, Arc<[Anchor]>>,
    outlines: HashMap<Option<String>, Arc<[Vec3]>>,
    solids: HashMap<String, Arc<[[Vec3; 3]]>>,
}

impl fmt::Debug for Known {
    /// Names follow from the scene, and say nothing about it that it does not say itself.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Known")
    }
}

/// Finds things by name, in a scene or among those that were found in it before.
pub enum Names<'a> {
    In(&'a Scene, RefCell<Known>),
    Found(&'a Known),
}

impl<'a> Names<'a> {
    /// Names in a scene, in which everything is placed already.
    pub fn of(scene: &'a Scene) -> Self {
        Self::In(scene, RefCell::default())
    }

    /// Everything that was found.
    pub fn known(self) -> Known {
        match self {
            Self::In(_, known) => known.into_inner(),
            Self::Found(known) => known.clone(),
        }
    }

    /// Points of the thing that move with it.
    ///
    /// # Errors
    /// A sentence about a name that nothing has.
    pub fn anchors(&self, name: &str) -> Result<Arc<[Anchor]>, String> {
        match self {
            Self::Found(known) => known.anchors.get(name).cloned().ok_or_else(unknown),
            Self::In(scene, known) => {
                let found: Arc<[Anchor]> = subjects::find(scene, name)?.into();
                known.borrow_mut().anchors.insert(name.to_owned(), found.clone());
                Ok(found)
            }
        }
    }

    /// Points at the first frame whose convex hull is about that of the thing, or of everything; never empty.
    ///
    /// # Errors
    /// As [`Self::anchors`].
    pub fn outline(&self, name: Option<&str>) -> Result<Arc<[Vec3]>, String> {
        let (scene, known) = match self {
            Self::Found(known) => return known.outlines.get(&name.map(str::to_owned)).cloned().ok_or_else(unknown),
            Self::In(scene, known) => (scene, known),
        };
        let instances = match name {
            Some(name) => subjects::instances(scene, name)?,
            None => (0..scene.world().end as u32).collect(),
        };
        let found: Arc<[Vec3]> = outline(scene, &instances).into();
        known.borrow_mut().outlines.insert(name.map(str::to_owned), found.clone());
        Ok(found)
    }

    /// The triangles of the first copy of the thing, in world space at the first frame.
    ///
    /// # Errors
    /// As [`Self::anchors`].
    pub fn solid(&self, name: &str) -> Result<Arc<[[Vec3; 3]]>, String> {
        let (scene, known) = match self {
            Self::Found(known) => return known.solids.get(name).cloned().ok_or_else(unknown),
            Self::In(scene, known) => (scene, known),
        };
        let moment = Moment::of(scene, scene.settings.start);
        let mut triangles = Vec::new();
        for index in subjects::instances(scene, name)? {
            let world = anim::instance_world(scene, &moment, index);
            let mesh = scene.meshes.get(scene.instances[index as usize].mesh as usize);
            if let Some(mesh) = mesh.and_then(|mesh| mesh.triangles()) {
                let point = |v: u32| Vec3::from(world.transform_point3a(Vec3A::from(mesh.positions[v as usize])));
                triangles.extend(mesh.triangles.iter().map(|triangle| triangle.map(point)));
            }
        }
        let found: Arc<[[Vec3; 3]]> = triangles.into();
        known.borrow_mut().solids.insert(name.to_owned(), found.clone());
        Ok(found)
    }
}

fn unknown() -> String {
    "nothing of that name is placed".to_owned()
}

/// The farthest points of `instances` in many directions, as they are at the first frame.
fn outline(scene: &Scene, instances: &[u32]) -> Vec<Vec3> {
    let directions = directions();
    let moment = Moment::of(scene, scene.settings.start);
    let mut meshes: HashMap<u32, Vec<Vec3>> = HashMap::new();
    let mut points = Vec::new();
    for &index in instances {
        let mesh = scene.instances[index as usize].mesh;
        let world = anim::instance_world(scene, &moment, index);
        let own = meshes.entry(mesh).or_insert_with(|| match scene.meshes.get(mesh as usize) {
            None => scene.boxes_at_rest()[mesh as usize].corners().to_vec(),
            Some(mesh) if instances.len() > MANY => mesh.bounds().corners().to_vec(),
            Some(Mesh { shape: Shape::Sphere, .. }) => directions.clone(),
            Some(Mesh { shape: Shape::Triangles(mesh), .. }) => {
                let all: Vec<Vec3> = mesh.positions.iter().map(|p| Vec3::from(*p)).collect();
                farthest(&all, &directions)
            }
        });
        points.extend(own.iter().map(|p| world.transform_point3(*p)).filter(|p| p.is_finite()));
    }
    match points.is_empty() {
        true => vec![Vec3::ZERO],
        false => farthest(&points, &directions),
    }
}

/// The farthest of `points` in each of `directions`, each once.
fn farthest(points: &[Vec3], directions: &[Vec3]) -> Vec<Vec3> {
    let farthest = directions.par_iter().filter_map(|direction| {
        let reach = |point: &&Vec3| direction.dot(**point);
        points.iter().max_by(|a, b| reach(a).total_cmp(&reach(b)))
    });
    let mut found: Vec<Vec3> = farthest.copied().collect();
    found.sort_unstable_by(|a, b| a.to_array().map(f32::to_bits).cmp(&b.to_array().map(f32::to_bits)));
    found.dedup();
    found
}

/// A Fibonacci lattice, which is almost even over the sphere.
fn directions() -> Vec<Vec3> {
    let turn = PI * (3.0 - 5f32.sqrt());
    let direction = |i: u32| {
        let y = 1.0 - 2.0 * (i as f32 + 0.5) / DIRECTIONS as f32;
        let (sin, cos) = (turn * i as f32).sin_cos();
        let around = (1.0 - y * y).sqrt();
        Vec3::new(cos * around, y, sin * around)
    };
    (0..DIRECTIONS).map(direction).collect()
}
