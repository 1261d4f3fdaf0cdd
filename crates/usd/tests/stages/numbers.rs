//! Numbers of a stage, computed from its groups.

use glam::{Affine3, DAffine3, DVec3};
use std::{collections::BTreeSet, path::PathBuf};
use throng_usd::{Axis, Content, Sampled, Shape, ShapeKind, Stage};

/// The folder of the scenes, if there is one.
pub fn scenes() -> Option<PathBuf> {
    let folder = std::env::var_os("THRONG_DATA").map(|data| PathBuf::from(data).join("scenes/usd"));
    let folder = folder.filter(|folder| folder.is_dir());
    if folder.is_none() {
        println!("skipped: THRONG_DATA does not name a folder with scenes/usd");
    }
    folder
}

/// Numbers after expansion of all instances, at the first time.
#[derive(Debug, Default, PartialEq)]
pub struct Numbers {
    pub meshes: u64,
    pub unique_meshes: u64,
    pub triangles: u64,
    pub faces: u64,
    pub points: u64,
    pub solids: u64,
    pub bounds: Option<[DVec3; 2]>,
}

/// Numbers of a group and of all that it places.
#[derive(Clone, Default)]
struct Sums {
    meshes: u64,
    triangles: u64,
    faces: u64,
    points: u64,
    solids: u64,
    /// Boxes of shapes in the group's space.
    boxes: Vec<(DAffine3, [DVec3; 2])>,
}

/// Computes the numbers.
pub fn numbers(stage: &Stage) -> Numbers {
    let time = stage.times.range.map_or(0.0, |(start, _)| start);
    let mut sums: Vec<Option<Sums>> = vec![None; stage.groups.len()];
    let mut unique = BTreeSet::new();
    // Each group precedes those that it places.
    for (index, group) in stage.groups.iter().enumerate().rev() {
        let mut sum = Sums::default();
        for item in group.items.iter().filter(|item| step(&item.shown, time)) {
            let place = at(&item.group_from_item, time);
            match &item.content {
                Content::Shape { shape, .. } => {
                    add_shape(&mut sum, &stage.shapes[*shape as usize], place, time);
                    if matches!(stage.shapes[*shape as usize].kind, ShapeKind::Mesh(_)) {
                        unique.insert(*shape);
                    }
                }
                Content::Group(inner) => add(&mut sum, sums[*inner as usize].as_ref().unwrap(), place),
                Content::Copies(copies) => {
                    for (&of, copy) in copies.of.iter().zip(places(&copies.places, time)) {
                        if copy.is_finite() {
                            let inner = sums[copies.prototypes[of as usize] as usize].as_ref().unwrap();
                            add(&mut sum, inner, place * double(copy));
                        }
                    }
                }
            }
        }
        sums[index] = Some(sum);
    }
    let world = sums[0].take().unwrap();
    let corners = world.boxes.iter().flat_map(|(place, bounds)| {
        (0..8).map(|corner| {
            let pick = |axis: usize| bounds[corner >> axis & 1][axis];
            place.transform_point3(DVec3::new(pick(0), pick(1), pick(2)))
        })
    });
    let bounds = corners.fold(None, |bounds: Option<[DVec3; 2]>, corner| {
        Some(bounds.map_or([corner; 2], |[low, high]| [low.min(corner), high.max(corner)]))
    });
    Numbers {
        meshes: world.meshes,
        unique_meshes: unique.len() as u64,
        triangles: world.triangles,
        faces: world.faces,
        points: world.points,
        solids: world.solids,
        bounds,
    }
}

fn add(sum: &mut Sums, inner: &Sums, place: DAffine3) {
    sum.meshes += inner.meshes;
    sum.triangles += inner.triangles;
    sum.faces += inner.faces;
    sum.points += inner.points;
    sum.solids += inner.solids;
    sum.boxes.extend(inner.boxes.iter().map(|(inner, bounds)| (place * *inner, *bounds)));
}

fn add_shape(sum: &mut Sums, shape: &Shape, place: DAffine3, time: f64) {
    let round = |radius: f64, half: f64, axis: Axis| {
        let mut size = DVec3::splat(radius);
        size[axis as usize] = half;
        [-size, size]
    };
    let bounds = match &shape.kind {
        ShapeKind::Mesh(mesh) => {
            sum.meshes += 1;
            sum.faces += mesh.face_sizes.len() as u64;
            sum.triangles += mesh.face_sizes.iter().map(|size| u64::from(size.saturating_sub(2))).sum::<u64>();
            box_of(&at_points(&mesh.points, time), 0.0)
        }
        ShapeKind::Points(cloud) => {
            let points = at_points(&cloud.points, time);
            sum.points += points.len() as u64;
            let widest = cloud.widths.iter().copied().fold(0.0, f32::max);
            box_of(&points, f64::from(widest) / 2.0)
        }
        solid => {
            sum.solids += 1;
            Some(match solid {
                ShapeKind::Cube(edge) => [DVec3::splat(-edge / 2.0), DVec3::splat(edge / 2.0)],
                ShapeKind::Sphere(radius) => [DVec3::splat(-radius), DVec3::splat(*radius)],
                ShapeKind::Cylinder(solid) | ShapeKind::Cone(solid) => {
                    round(solid.radii[0].max(solid.radii[1]), solid.height / 2.0, solid.axis)
                }
                ShapeKind::Capsule(solid) => {
                    let radius = solid.radii[0].max(solid.radii[1]);
                    round(radius, solid.height / 2.0 + radius, solid.axis)
                }
                _ => [DVec3::splat(-1.0), DVec3::splat(1.0)],
            })
        }
    };
    sum.boxes.extend(bounds.map(|bounds| (place, bounds)));
}

fn box_of(points: &[[f32; 3]], margin: f64) -> Option<[DVec3; 2]> {
    let points = points.iter().map(|point| DVec3::from_array(point.map(f64::from)));
    points.fold(None, |bounds: Option<[DVec3; 2]>, point| {
        let (low, high) = (point - margin, point + margin);
        Some(bounds.map_or([low, high], |bounds| [bounds[0].min(low), bounds[1].max(high)]))
    })
}

fn double(place: Affine3) -> DAffine3 {
    DAffine3::from_cols_array(&place.to_cols_array().map(f64::from))
}

/// The samples around a time, and the share of the second.
fn around<T>(samples: &[(f64, T)], time: f64) -> (&T, &T, f64) {
    let after = samples.partition_point(|(sample, _)| *sample <= time);
    let (before, after) = (after.saturating_sub(1), after.min(samples.len() - 1));
    let length = samples[after].0 - samples[before].0;
    let share = if length > 0.0 { ((time - samples[before].0) / length).max(0.0) } else { 0.0 };
    (&samples[before].1, &samples[after].1, share)
}

pub fn step(steps: &Sampled<bool>, time: f64) -> bool {
    match steps {
        Sampled::Still(value) => *value,
        Sampled::Moving(samples) => *around(samples, time).0,
    }
}

pub fn at(place: &Sampled<DAffine3>, time: f64) -> DAffine3 {
    match place {
        Sampled::Still(place) => *place,
        Sampled::Moving(samples) => {
            let (a, b, share) = around(samples, time);
            let (a, b) = (a.to_cols_array(), b.to_cols_array());
            DAffine3::from_cols_array(&std::array::from_fn(|index| a[index] + (b[index] - a[index]) * share))
        }
    }
}

fn at_points(points: &Sampled<Vec<[f32; 3]>>, time: f64) -> Vec<[f32; 3]> {
    match points {
        Sampled::Still(points) => points.clone(),
        Sampled::Moving(samples) => {
            let (a, b, share) = around(samples, time);
            let mix = |a: f32, b: f32| a + (b - a) * share as f32;
            a.iter().zip(b).map(|(a, b)| std::array::from_fn(|axis| mix(a[axis], b[axis]))).collect()
        }
    }
}

/// Places of copies at a time.
pub fn places(places: &Sampled<Vec<Affine3>>, time: f64) -> Vec<Affine3> {
    match places {
        Sampled::Still(places) => places.clone(),
        Sampled::Moving(samples) => {
            let (a, b, share) = around(samples, time);
            if share == 0.0 {
                return a.clone();
            }
            let mix = |a: f32, b: f32| a + (b - a) * share as f32;
            let pairs = a.iter().zip(b).map(|(a, b)| (a.to_cols_array(), b.to_cols_array()));
            pairs.map(|(a, b)| Affine3::from_cols_array(&std::array::from_fn(|i| mix(a[i], b[i])))).collect()
        }
    }
}
