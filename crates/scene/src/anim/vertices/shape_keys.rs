//! Motion blur of deforming meshes: shapes at equal time steps, as many as the deformation needs.
//!
//! The number of segments, 2 to 16, depends on how far the middle shape is from a straight line between the others. One tree contains all
//! shapes.

use crate::{
    Scene,
    anim::{Deformed, Moment, ShutterTime, shape_at},
    rig::DeformingMesh,
};
use glam::Vec3;
use rayon::prelude::*;

/// Maximum error of linear interpolation between shapes, relative to the mesh's size.
const TOLERANCE: f32 = 1.0 / 2000.0;
/// Minimum and maximum number of segments for a mesh that changes its shape.
const FEWEST_SEGMENTS: u32 = 2;
const MOST_SEGMENTS: u32 = 16;

/// The shapes of each deforming mesh of a scene, from the shutter's opening to its closing, with the visibility of `frame`. Empty for a
/// mesh that keeps its shape. Deterministic, parallel.
pub fn shape_shutter_keys(scene: &Scene, frame: &Moment, time: ShutterTime) -> Vec<Vec<Deformed>> {
    let moments = |segments: u32| -> Vec<Moment> {
        let times = time.times(segments);
        times.map(|time| Moment::of(scene, time).showing(frame)).collect()
    };
    let shapes = |deforming: &DeformingMesh, moments: &[Moment]| -> Vec<Deformed> {
        let shape = |moment: &Moment| {
            let mut shape = Deformed::default();
            shape_at(scene, deforming, moment, &mut shape);
            shape
        };
        moments.iter().map(shape).collect()
    };
    let first = moments(FEWEST_SEGMENTS);
    let meshes = scene.deforming.par_iter();
    let mut keys: Vec<_> = meshes.map(|mesh| shapes(mesh, &first)).collect();
    let wanted: Vec<u32> = keys.par_iter().map(|keys| segments(keys)).collect();
    let finest = wanted.iter().copied().max().unwrap_or(0);
    let fine = if finest > FEWEST_SEGMENTS { moments(finest) } else { Vec::new() };
    let pairs = keys.par_iter_mut().zip(&scene.deforming);
    pairs.zip(wanted).for_each(|((keys, mesh), segments)| {
        if segments == 0 {
            keys.clear();
        } else if segments > FEWEST_SEGMENTS {
            let step = (finest / segments) as usize;
            let own: Vec<_> = fine.iter().step_by(step).cloned().collect();
            *keys = shapes(mesh, &own);
        }
    });
    keys
}

/// Number of segments for a mesh, given its shapes at the opening, in the middle and at the closing: a power of two, or 0 if its shape is
/// constant. The error of linear interpolation is inversely proportional to the square of this number.
fn segments(shapes: &[Deformed]) -> u32 {
    let [open, middle, close] = shapes else {
        return 0;
    };
    let same = |a: &Deformed, b: &Deformed| a.positions == b.positions && a.normals == b.normals;
    if same(open, middle) && same(middle, close) {
        return 0;
    }
    let vertices = open.positions.iter().zip(&middle.positions).zip(&close.positions);
    let error = vertices.map(|((&a, &b), &c)| {
        let [a, b, c] = [a, b, c].map(Vec3::from);
        (a * 0.5 + c * 0.5).distance(b)
    });
    let error = error.fold(0.0, f32::max);
    let size = open.bounds.union(close.bounds).diagonal();
    let mut segments = FEWEST_SEGMENTS;
    while segments < MOST_SEGMENTS && error > TOLERANCE * size * (segments * segments) as f32 {
        segments *= 2;
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_base::math::Aabb;

    /// Three shapes in which one of several points travels; its middle position is off the straight line by `bend`.
    fn shapes(bend: f32, travel: f32) -> Vec<Deformed> {
        let shape = |x: f32, y: f32| {
            let positions = vec![[x, y, 0.0], [0.0; 3], [10.0; 3]];
            Deformed {
                bounds: Aabb::of_points(positions.iter().copied().map(Vec3::from)),
                positions,
                ..Deformed::default()
            }
        };
        vec![shape(0.0, 0.0), shape(0.5 * travel, bend), shape(travel, 0.0)]
    }

    #[test]
    fn what_bends_more_gets_more_segments() {
        assert_eq!(segments(&shapes(0.0, 0.0)), 0);
        assert_eq!(segments(&shapes(0.0, 5.0)), 2);
        assert_eq!(segments(&shapes(0.2, 5.0)), 8);
        assert_eq!(segments(&shapes(9.0, 5.0)), MOST_SEGMENTS);
    }
}
