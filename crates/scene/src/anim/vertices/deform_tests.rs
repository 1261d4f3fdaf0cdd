//! Tests deformed meshes against a simple evaluation in double precision.

use super::deform;
use crate::{
    anim::{BindPose, Deformed},
    rig::{Deformers, MorphTarget},
};
use glam::{Affine3A, DAffine3, DMat3, DVec3, Quat, Vec3};
use proptest::prelude::*;
use throng_base::math::{Aabb, LARGEST_COORDINATE, hash_unit};

const JOINTS: u32 = 7;

struct Model {
    positions: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
    tangents: Vec<[f32; 4]>,
    deformers: Deformers,
    palette: Vec<Affine3A>,
}

impl Model {
    /// A model of `count` vertices with `per_vertex` joints each, and two targets.
    fn new(count: u32, per_vertex: u32, seed: u32) -> Self {
        let vectors = |salt, unit: bool| -> Vec<[f32; 3]> {
            let vector = |i| {
                let u = |k| 2.0 * hash_unit(seed ^ salt, 3 * i + k) - 1.0;
                let v = Vec3::new(u(0), u(1), u(2));
                if unit { v.normalize_or(Vec3::X) } else { v }.into()
            };
            (0..count).map(vector).collect()
        };
        let target = |salt| MorphTarget {
            positions: vectors(salt, false),
            normals: vectors(salt + 1, false),
            tangents: vectors(salt + 2, false),
        };
        let influences = count * per_vertex;
        let joint = |i| (hash_unit(seed + 1, i) * JOINTS as f32) as u16;
        let mut weights: Vec<f32> = (0..influences).map(|i| hash_unit(seed + 2, i)).collect();
        for weights in weights.chunks_mut(per_vertex.max(1) as usize) {
            let sum: f32 = weights.iter().sum();
            weights.iter_mut().for_each(|w| *w /= sum);
        }
        let signed = |(i, [x, y, z]): (usize, [f32; 3])| [x, y, z, [1.0, -1.0][i % 2]];
        let tangents = vectors(13, true).into_iter().enumerate();
        Self {
            positions: vectors(11, false),
            normals: vectors(12, true),
            tangents: tangents.map(signed).collect(),
            deformers: Deformers {
                joints_per_vertex: per_vertex,
                joints: (0..influences).map(joint).collect(),
                weights,
                targets: vec![target(20), target(30)],
            },
            palette: (0..JOINTS).map(|j| transform(seed, j)).collect(),
        }
    }

    fn bind(&self) -> BindPose<'_> {
        BindPose { positions: &self.positions, normals: &self.normals, tangents: &self.tangents }
    }

    fn deform(&self, weights: &[f32]) -> Deformed {
        let mut out = Deformed::default();
        deform(self.bind(), &self.deformers, &self.palette, weights, &mut out);
        out
    }
}

/// A transform close to the identity except for a non-uniform scale, so that weighted sums do not collapse. Mirrored for odd seeds.
fn transform(seed: u32, joint: u32) -> Affine3A {
    let u = |k| 2.0 * hash_unit(seed + 3, 16 * joint + k) - 1.0;
    let mirror = if seed % 2 == 1 { -1.0 } else { 1.0 };
    Affine3A::from_scale_rotation_translation(
        Vec3::new(mirror * (1.0 + 0.3 * u(0)), 2.0 + 0.5 * u(1), 0.5 + 0.1 * u(2)),
        Quat::from_rotation_y(0.4 * u(3)) * Quat::from_rotation_x(0.4 * u(4)),
        Vec3::new(u(5), u(6), u(7)),
    )
}

fn double(v: &[f32]) -> DVec3 {
    DVec3::new(v[0].into(), v[1].into(), v[2].into())
}

/// The blended transform of a vertex.
fn blended(model: &Model, vertex: usize) -> DAffine3 {
    let per_vertex = model.deformers.joints_per_vertex as usize;
    if per_vertex == 0 {
        return DAffine3::IDENTITY;
    }
    let mut columns = [DVec3::ZERO; 4];
    for k in per_vertex * vertex..per_vertex * (vertex + 1) {
        let joint = &model.palette[model.deformers.joints[k] as usize];
        let weight = f64::from(model.deformers.weights[k]);
        for (sum, column) in columns.iter_mut().zip(joint.to_cols_array_2d()) {
            *sum += double(&column) * weight;
        }
    }
    let [x, y, z, w] = columns;
    DAffine3::from_cols(x, y, z, w)
}

/// Position, normal and tangent of a vertex.
fn reference(model: &Model, vertex: usize, weights: &[f32]) -> [DVec3; 3] {
    let [mut position, mut normal, mut tangent] =
        [double(&model.positions[vertex]), double(&model.normals[vertex]), double(&model.tangents[vertex])];
    for (target, &weight) in model.deformers.targets.iter().zip(weights) {
        position += double(&target.positions[vertex]) * f64::from(weight);
        normal += double(&target.normals[vertex]) * f64::from(weight);
        tangent += double(&target.tangents[vertex]) * f64::from(weight);
    }
    let transform = blended(model, vertex);
    let turn: DMat3 = transform.matrix3.inverse().transpose();
    [transform.transform_point3(position), (turn * normal).normalize(), (transform.matrix3 * tangent).normalize()]
}

proptest! {
    #![proptest_config(throng_testing::same_cases(48))]

    #[test]
    fn vertices_follow_targets_and_joints_of_any_shape(
        count in 1u32..300,
        per_vertex in prop::sample::select(vec![0u32, 4, 8, 12]),
        seed in 0u32..1000,
        weights in prop::collection::vec(-0.3f32..0.3, 0..3),
    ) {
        let model = Model::new(count, per_vertex, seed);
        let out = model.deform(&weights);
        let mirrored = per_vertex > 0 && seed % 2 == 1;
        for vertex in 0..count as usize {
            let [position, normal, tangent] = reference(&model, vertex, &weights);
            prop_assert!(double(&out.positions[vertex]).distance(position) < 1e-5);
            prop_assert!(double(&out.normals[vertex]).distance(normal) < 1e-4);
            prop_assert!(double(&out.tangents[vertex]).distance(tangent) < 1e-4);
            let sign = model.tangents[vertex][3] * if mirrored { -1.0 } else { 1.0 };
            prop_assert_eq!(out.tangents[vertex][3], sign);
        }
        prop_assert_eq!(out.bounds, Aabb::of_points(out.positions.iter().map(|&p| p.into())));
    }
}

#[test]
fn weights_of_zero_leave_the_bind_pose_as_it_is() {
    let model = Model::new(10_000, 0, 5);
    for weights in [&[][..], &[0.0, 0.0], &[-0.0]] {
        let out = model.deform(weights);
        assert_eq!(out.positions, model.positions);
        assert_eq!(out.normals, model.normals);
        assert_eq!(out.tangents, model.tangents);
    }
}

#[test]
fn targets_and_attributes_may_be_missing() {
    let mut model = Model::new(50, 4, 6);
    model.deformers.targets[0].normals.clear();
    model.normals.clear();
    model.tangents.clear();
    let out = model.deform(&[1.0, 1.0]);
    assert_eq!((out.normals.len(), out.tangents.len()), (0, 0));
    assert_eq!(out.positions.len(), 50);
    let nothing = Model::new(0, 4, 6).deform(&[1.0]);
    assert!(nothing.positions.is_empty() && nothing.bounds.is_empty());
}

#[test]
fn the_result_does_not_depend_on_threads_or_on_what_was_there_before() {
    let model = Model::new(20_000, 8, 9);
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.map(|pool| pool.install(|| model.deform(&[0.2, 0.1]))).unwrap()
    };
    let (one, many) = (on(1), on(3));
    let mut again = Model::new(30_000, 4, 2).deform(&[1.0]);
    let palette = &model.palette;
    deform(model.bind(), &model.deformers, palette, &[0.2, 0.1], &mut again);
    for other in [many, again] {
        assert_eq!(one.positions, other.positions);
        assert_eq!(one.normals, other.normals);
        assert_eq!(one.tangents, other.tangents);
        assert_eq!(one.bounds, other.bounds);
    }
}

#[test]
fn flat_and_tiny_joints_still_give_unit_normals() {
    for scale in [Vec3::new(1.0, 0.0, 1.0), Vec3::splat(1e-12), Vec3::splat(1e12), Vec3::ZERO] {
        let mut model = Model::new(100, 4, 4);
        model.palette = vec![Affine3A::from_scale(scale); JOINTS as usize];
        let out = model.deform(&[]);
        let unit = |n: &[f32; 3]| (Vec3::from(*n).length() - 1.0).abs() < 1e-5;
        assert!(out.normals.iter().all(unit), "{scale}");
    }
}

#[test]
fn joints_that_explode_keep_positions_in_range() {
    let mut model = Model::new(100, 4, 4);
    model.palette[0] = Affine3A::from_scale(Vec3::splat(1e30));
    model.palette[1] = Affine3A::from_scale(Vec3::splat(f32::NAN));
    let out = model.deform(&[]);
    let reach = out.bounds.reach().max_element();
    assert!(reach <= LARGEST_COORDINATE, "{reach}");
    let numbers = out.positions.iter().flatten();
    assert!(numbers.into_iter().all(|x| x.abs() <= LARGEST_COORDINATE));
}
