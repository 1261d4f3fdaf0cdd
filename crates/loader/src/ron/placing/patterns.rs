//! The transforms of a placement's copies, computed on demand.

use super::random;
use crate::ron::scatter::SurfacePoint;
use glam::{Affine3, Mat3, Quat, UVec3, Vec3};
use std::sync::Arc;
use throng_base::math::thicken;
use throng_scene::{
    PlacementTable,
    curve::Curve,
    desc::{Each, Face, Jitter, Turn},
};

/// The copies of a placement, numbered from 0.
pub enum Pattern {
    Single,
    Grid {
        count: UVec3,
        spacing: Vec3,
        each: Affine3,
        jitter: Jitter,
    },
    Scatter(Scatter),
    Random(RandomBox),
    Along(Along),
    /// Copies at given transforms.
    Matrices(Arc<[Affine3]>),
    Table(TablePattern),
}

/// Copies whose transforms over time are in a table.
pub struct TablePattern {
    pub table: Arc<PlacementTable>,
    /// Transform from the table's space to the placement's.
    pub upright: Affine3,
    /// Transform from a copy's space to the space of its row.
    pub each: Affine3,
    /// The first transform of each copy that was read.
    pub first: Vec<Affine3>,
}

/// Copies along a curve.
pub struct Along {
    pub curve: Arc<Curve>,
    pub count: u32,
    /// Distance of the first copy from the start of the curve.
    pub start: f64,
    /// Distance between consecutive copies.
    pub step: f64,
    /// Offset to the right, up, and forward along the curve.
    pub offset: Vec3,
    pub face: Face,
    pub each: Affine3,
    pub jitter: Jitter,
}

/// Copies at points of a surface.
pub struct Scatter {
    pub points: Vec<SurfacePoint>,
    pub spread: Vec3,
    pub align: bool,
    pub lift: f32,
    pub each: Affine3,
    pub jitter: Jitter,
}

/// Copies at random positions in a box.
pub struct RandomBox {
    pub count: u32,
    pub seed: u32,
    pub min: Vec3,
    pub max: Vec3,
    pub sizes: (f32, f32),
    pub turn: Turn,
    pub each: Affine3,
}

impl Pattern {
    /// Number of copies.
    pub fn count(&self) -> u64 {
        match self {
            Self::Single => 1,
            Self::Grid { count, .. } => count.to_array().map(u64::from).iter().fold(1, |a, &b| a.saturating_mul(b)),
            Self::Scatter(s) => s.points.len() as u64,
            Self::Random(r) => u64::from(r.count),
            Self::Along(a) => u64::from(a.count),
            Self::Matrices(transforms) => transforms.len() as u64,
            Self::Table(table) => table.first.len() as u64,
        }
    }

    /// Transform of copy `index`, from its space to the placement's.
    pub fn copy(&self, index: u32) -> Affine3 {
        match self {
            Self::Single => Affine3::IDENTITY,
            Self::Grid { count, spacing, each, jitter } => {
                let cell = UVec3::new(index % count.x, index / count.x % count.y, index / count.x / count.y);
                let from_center = cell.as_vec3() - (count.as_vec3() - 1.0) * 0.5;
                Affine3::from_translation(from_center * spacing) * jittered(jitter, index) * *each
            }
            Self::Scatter(s) => s.copy(index),
            Self::Random(r) => r.copy(index),
            Self::Along(a) => a.copy(index),
            Self::Matrices(transforms) => transforms[index as usize],
            Self::Table(table) => table.first[index as usize],
        }
    }
}

impl Scatter {
    fn copy(&self, index: u32) -> Affine3 {
        let (point, normal) = self.points[index as usize];
        // Normals are transformed by the inverse transpose of the spread.
        let normal = (normal / self.spread).normalize_or(Vec3::Y);
        let origin = point * self.spread + normal * self.lift;
        let rotation = if self.align { Quat::from_rotation_arc(Vec3::Y, normal) } else { Quat::IDENTITY };
        Affine3::from_rotation_translation(rotation, origin) * jittered(&self.jitter, index) * self.each
    }
}

impl RandomBox {
    fn copy(&self, index: u32) -> Affine3 {
        let origin = self.min + (self.max - self.min) * random::unit3(self.seed, 0, index);
        let size = self.sizes.0 + (self.sizes.1 - self.sizes.0) * random::unit(self.seed, 3, index);
        let u = random::unit3(self.seed, 4, index);
        let rotation = match self.turn {
            Turn::None => Quat::IDENTITY,
            Turn::Y => Quat::from_rotation_y(u.x * std::f32::consts::TAU),
            Turn::Any => random::rotation(u),
        };
        Affine3::from_scale_rotation_translation(Vec3::splat(size), rotation, origin) * self.each
    }
}

impl Along {
    fn copy(&self, index: u32) -> Affine3 {
        let distance = self.start + self.step * f64::from(index) + f64::from(self.offset.z);
        let place = self.curve.at(distance as f32);
        let right = place.right();
        let origin = place.position + right * self.offset.x + Vec3::Y * self.offset.y;
        // A copy faces along its +X axis; its +Z axis points to the right.
        let rotation = match self.face {
            Face::None => Mat3::IDENTITY,
            Face::Level => Mat3::from_cols(Vec3::Y.cross(right), Vec3::Y, right),
            Face::Tangent => Mat3::from_cols(place.tangent, right.cross(place.tangent), right),
        };
        Affine3::from_mat3_translation(rotation, origin) * jittered(&self.jitter, index) * self.each
    }
}

/// The transform that scales, rotates and then translates. A scale of 0 is replaced by a small thickness.
pub fn affine_of(each: &Each) -> Affine3 {
    Affine3::from_scale_rotation_translation(thicken(each.scale.0), each.rotate.0, each.translate.0)
}

fn jittered(j: &Jitter, index: u32) -> Affine3 {
    let offset = j.translate.0 * (random::unit3(j.seed, 0, index) * 2.0 - 1.0);
    let turn = Quat::from_rotation_y(j.rotate.0.to_radians() * random::signed(j.seed, 3, index));
    let size = 1.0 + j.scale.0 * random::signed(j.seed, 4, index);
    Affine3::from_scale_rotation_translation(Vec3::splat(size), turn, offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_is_centred() {
        let grid = Pattern::Grid {
            count: UVec3::new(3, 1, 2),
            spacing: Vec3::new(2.0, 9.0, 4.0),
            each: Affine3::IDENTITY,
            jitter: Jitter::default(),
        };
        let all: Vec<Vec3> = (0..6).map(|i| grid.copy(i).translation).collect();
        assert_eq!(
            (all[0], all[1], all[5]),
            (Vec3::new(-2.0, 0.0, -2.0), Vec3::new(0.0, 0.0, -2.0), Vec3::new(2.0, 0.0, 2.0))
        );
    }

    #[test]
    fn scattered_copies_stand_on_the_surface() {
        let s = Scatter {
            points: vec![(Vec3::X, Vec3::X)],
            spread: Vec3::splat(2.0),
            align: true,
            lift: 0.5,
            each: Affine3::from_scale(Vec3::splat(0.1)),
            jitter: Jitter::default(),
        };
        let top = s.copy(0).transform_point3(Vec3::Y);
        assert!(top.distance(Vec3::new(2.6, 0.0, 0.0)) < 1e-6, "{top}");
    }

    #[test]
    fn copies_along_a_curve_face_its_direction_beside_it() {
        let ramp = Curve::polyline(&[Vec3::ZERO, Vec3::new(0.0, 3.0, -4.0)], false).unwrap();
        let along = |face| Along {
            curve: Arc::new(ramp.clone()),
            count: 2,
            start: 1.0,
            step: 2.5,
            offset: Vec3::new(2.0, 1.0, 0.5),
            face,
            each: Affine3::IDENTITY,
            jitter: Jitter::default(),
        };
        let [level, tangent] = [Face::Level, Face::Tangent].map(|face| along(face).copy(1));
        let slope = Vec3::new(0.0, 0.6, -0.8);
        let origin = slope * 4.0 + Vec3::new(2.0, 1.0, 0.0);
        assert!(level.translation.distance(origin) < 1e-5, "{}", level.translation);
        assert!(level.transform_vector3(Vec3::X).distance(Vec3::NEG_Z) < 1e-6);
        assert!(level.transform_vector3(Vec3::Y).distance(Vec3::Y) < 1e-6);
        assert!(tangent.transform_vector3(Vec3::X).distance(slope) < 1e-6);
        assert!(tangent.transform_vector3(Vec3::Z).distance(Vec3::X) < 1e-6);
        assert!((tangent.matrix3.determinant() - 1.0).abs() < 1e-5 && (level.matrix3.determinant() - 1.0).abs() < 1e-5);
    }

    #[test]
    fn random_copies_stay_in_their_box_and_sizes() {
        let (min, max) = (Vec3::new(-1.0, 0.0, 2.0), Vec3::new(1.0, 0.0, 5.0));
        let r =
            RandomBox { count: 500, seed: 1, min, max, sizes: (0.5, 2.0), turn: Turn::Any, each: Affine3::IDENTITY };
        for i in 0..500 {
            let a = r.copy(i);
            let size = a.matrix3.x_axis.length();
            assert!(a.translation.cmpge(min).all() && a.translation.cmple(max).all());
            assert!((0.499..2.001).contains(&size));
        }
    }
}
