//! The instances of one frame for `throng info`: where they are, and their boxes.

use crate::{PoseSettings, Poser, TreeSource, labels::projection, report::Bounds};
use glam::{Affine3, Vec3};
use rayon::prelude::*;
use std::{collections::HashSet, sync::Arc};
use throng_base::math::Aabb;
use throng_device::{Device, Frame};
use throng_picture::aov::paths;
use throng_scene::{
    Scene, Shape,
    anim::{self, Moment},
};

/// A frame of a scene.
#[derive(Clone, Debug, serde::Serialize)]
pub struct FrameInfo {
    pub number: u32,
    /// The time that the frame shows, in seconds.
    pub seconds: f64,
    /// From the camera's space (x to the right, y up, z back) to the world, row by row.
    pub world_from_camera: [[f64; 4]; 4],
    /// Visible instances in the scene's order.
    pub instances: Vec<InstanceInfo>,
    /// Number of instances that are not listed.
    pub left_out: u64,
}

/// An instance of a mesh in one frame.
#[derive(Clone, Debug, serde::Serialize)]
pub struct InstanceInfo {
    /// Number of the instance, as in maps of instances.
    pub id: usize,
    /// Its name; a path if it is in nested groups.
    pub name: String,
    pub mesh: String,
    /// Three rows of four numbers.
    pub world_from_object: [[f32; 4]; 3],
    /// The smallest box in world space around all of its vertices.
    pub bounds: Bounds,
}

/// Describes frame `number`, with the first `most` of its instances.
pub fn frame_info(scene: &Arc<Scene>, device: &dyn Device, number: u32, most: usize) -> FrameInfo {
    let mut poser = Poser::with_trees_from(scene.clone(), device.node_layout(), &TreeSource::default());
    poser.configure(PoseSettings { views: scene.views.clone(), ..PoseSettings::default() });
    let frame = poser.pose(number).frame;
    let moment = Moment::of(scene, scene.time_of(number));
    let hidden: HashSet<u32> = anim::hidden_instances(scene, &moment).into_iter().collect();
    let mut shown = Vec::new();
    if !scene.palettes.is_empty() {
        anim::shown_meshes(scene, &scene.instances, &[], &moment, &mut shown);
    }
    let (mut listed, mut id, mut left_out) = (Vec::new(), 0, 0);
    paths::visit_ways(scene, |name, way| {
        let is_shown = way.iter().all(|index| !hidden.contains(index));
        if is_shown && listed.len() < most {
            listed.push((id, name.to_owned(), way.to_vec()));
        } else {
            left_out += u64::from(is_shown);
        }
        id += 1;
    });
    let info = |(id, name, way): (usize, String, Vec<u32>)| {
        let world = Affine3::from(anim::way_world(scene, &moment, &way));
        let index = way.last().map_or(0, |&index| index as usize);
        let own = scene.instances[index].mesh;
        let mesh = shown.get(index).copied().unwrap_or(own);
        InstanceInfo {
            id,
            name,
            mesh: scene.meshes.get(own as usize).map_or_else(String::new, |mesh| mesh.name.clone()),
            world_from_object: rows(&world),
            bounds: bounds(scene, &frame, mesh, &world),
        }
    };
    FrameInfo {
        number,
        seconds: scene.time_of(number),
        world_from_camera: projection::world_from_camera(&frame.camera()).transpose().to_cols_array_2d(),
        instances: listed.into_par_iter().map(info).collect(),
        left_out,
    }
}

fn rows(transform: &Affine3) -> [[f32; 4]; 3] {
    let m = transform.matrix3.transpose();
    let row = |axis: Vec3, offset: f32| [axis.x, axis.y, axis.z, offset];
    let to = transform.translation;
    [row(m.x_axis, to.x), row(m.y_axis, to.y), row(m.z_axis, to.z)]
}

/// The box of a mesh in its shape of the frame, transformed vertex by vertex.
fn bounds(scene: &Scene, frame: &Frame, mesh: u32, world: &Affine3) -> Bounds {
    let posed = frame.shapes.iter().find(|posed| posed.mesh == mesh);
    let around = match scene.meshes.get(mesh as usize).map(|mesh| &mesh.shape) {
        Some(Shape::Sphere) => {
            // Along each axis, a transformed unit sphere reaches as far as the length of the matrix's row.
            let reach = [0, 1, 2].map(|axis| world.matrix3.row(axis).length());
            let reach = Vec3::from(reach);
            Aabb { min: world.translation - reach, max: world.translation + reach }
        }
        Some(Shape::Curves(curves)) => {
            let rows = [0, 1, 2].map(|axis| world.matrix3.row(axis).length());
            let reach = Vec3::from(rows);
            curves.points.iter().fold(Aabb::EMPTY, |around, point| {
                let center = world.transform_point3(point.position.into());
                around.union(Aabb { min: center - reach * point.radius, max: center + reach * point.radius })
            })
        }
        Some(Shape::Triangles(triangles)) => {
            let positions = posed.map_or(&triangles.positions[..], |posed| &posed.shape.positions[..]);
            let points = positions.iter().map(|&position| world.transform_point3(position.into()));
            points.fold(Aabb::EMPTY, |around, point| around.union(Aabb { min: point, max: point }))
        }
        None => Aabb { min: world.translation, max: world.translation },
    };
    Bounds { min: around.min.into(), max: around.max.into() }
}
