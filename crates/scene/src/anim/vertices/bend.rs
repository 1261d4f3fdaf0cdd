//! Bending meshes, for example plants in wind: the poses of a palette, and the choice of a pose for each instance.
//!
//! The trunk is a planar curve of constant length. Its direction turns from upright at the foot to the pose's angle at the top. Points
//! beside the trunk turn with it.

use crate::{
    Bend, BendSides, CurvePoint, Curves, TriangleMesh,
    anim::{motion::wave, turn::sin_of_turns},
};
use glam::{Affine3, Vec2, Vec3};
use rayon::prelude::*;
use std::f32::consts::PI;
use throng_base::math::Aabb;

/// Number of steps in which the trunk's curve is integrated.
const PARTS: usize = 1024;
/// Duration of a gust, in periods.
const GUST: f64 = 4.0;

impl Bend {
    /// Number of poses; the first one is the rest pose.
    pub fn pose_count(&self) -> u32 {
        1 + 2 * self.poses * self.sides.count()
    }

    /// Direction in which pose `number` bends, in mesh space, and its angle relative to the greatest angle, from -1 to 1.
    pub fn pose(&self, number: u32) -> (Vec3, f32) {
        let Some(number) = number.checked_sub(1) else { return (Vec3::X, 0.0) };
        let (side, level) = (number / (2 * self.poses), number % (2 * self.poses));
        let share = match level.checked_sub(self.poses) {
            None => (level + 1) as f32,
            Some(level) => -((level + 1) as f32),
        };
        (self.sides.direction(side), share / self.poses as f32)
    }

    /// The pose of an instance placed by `local`, at `time` seconds. `phase` is its lead in periods.
    pub fn shown(&self, local: &Affine3, phase: f32, time: f64) -> u32 {
        let share = self.share(phase, time);
        let (side, share) = match self.sides {
            BendSides::One(_) => (0, share),
            BendSides::Around => {
                let (side, is_opposite) = nearest_side(self.direction_in(local));
                (side, if is_opposite { -share } else { share })
            }
        };
        let level = (share * self.poses as f32).round() as i32;
        match level {
            0 => 0,
            1.. => 2 * self.poses * side + level as u32,
            _ => 2 * self.poses * side + self.poses + level.unsigned_abs(),
        }
    }

    /// The wind's direction in the space of an object placed by `local`; horizontal, with length 1.
    pub fn direction_in(&self, local: &Affine3) -> Vec3 {
        let direction = local.matrix3.inverse() * self.direction;
        direction.with_y(0.0).try_normalize().unwrap_or(Vec3::X)
    }

    /// Angle relative to the greatest angle, from -1 to 1. Without gusts the mesh swings evenly. During gusts it leans with the wind and
    /// trembles; between gusts it rests.
    fn share(&self, phase: f32, time: f64) -> f32 {
        let passed = time / self.period;
        let swing = sin_of_turns(passed.fract() as f32 + phase);
        let gust = (0.5 + 0.9 * wave(self.seed, (passed + f64::from(phase)) / GUST)).clamp(0.0, 1.0);
        (1.0 - self.gusts) * swing + self.gusts * gust * (0.6 + 0.4 * swing)
    }

    /// A mesh in pose `number`.
    pub fn bent(&self, mesh: &TriangleMesh, number: u32) -> TriangleMesh {
        let (direction, share) = self.pose(number);
        let bounds = Aabb::of_points(mesh.positions.iter().copied().map(Vec3::from));
        let curve = Curve::new(&bounds, self, direction, share * self.angle);
        let place = |i: usize| curve.frame(mesh.positions[i].into());
        let vertices = |vectors: usize| (0..vectors).into_par_iter();
        TriangleMesh {
            positions: vertices(mesh.positions.len()).map(|i| place(i).point.to_array()).collect(),
            normals: vertices(mesh.normals.len()).map(|i| place(i).normal(mesh.normals[i].into()).to_array()).collect(),
            tangents: vertices(mesh.tangents.len())
                .map(|i| {
                    let [x, y, z, w] = mesh.tangents[i];
                    place(i).tangent(Vec3::new(x, y, z)).extend(w).to_array()
                })
                .collect(),
            ..mesh.clone()
        }
    }
}

impl Bend {
    /// Curves in pose `number`.
    pub fn bent_curves(&self, curves: &Curves, number: u32) -> Curves {
        let (direction, share) = self.pose(number);
        let points = curves.points.iter().map(|point| Vec3::from(point.position));
        let curve = Curve::new(&Aabb::of_points(points), self, direction, share * self.angle);
        let bent =
            |point: &CurvePoint| CurvePoint { position: curve.frame(point.position.into()).point.into(), ..*point };
        Curves { points: curves.points.par_iter().map(bent).collect(), ..curves.clone() }
    }
}

impl BendSides {
    /// Number of directions; each includes its opposite.
    fn count(self) -> u32 {
        match self {
            Self::One(_) => 1,
            Self::Around => Self::AROUND,
        }
    }

    fn direction(self, side: u32) -> Vec3 {
        match self {
            Self::One(direction) => direction,
            Self::Around => {
                let turn = Vec2::from_angle(side as f32 * (PI / Self::AROUND as f32));
                Vec3::new(turn.x, 0.0, turn.y)
            }
        }
    }
}

/// The direction closest to a horizontal direction, and whether its opposite is closer.
fn nearest_side(direction: Vec3) -> (u32, bool) {
    let sides = BendSides::AROUND as i32;
    let turned = (direction.z.atan2(direction.x) * (sides as f32 / PI)).round() as i32;
    let turned = turned.rem_euclid(2 * sides);
    ((turned % sides) as u32, turned >= sides)
}

/// The trunk of a bent mesh.
struct Curve {
    /// The direction in which the trunk bends, and the direction across.
    direction: Vec3,
    across: Vec3,
    /// Height at which the bend starts, and length of the bending part.
    foot: f32,
    length: f32,
    angle: f32,
    stiffness: f32,
    /// Points of the curve at equal steps of its length: distance along `direction` and height, relative to the length.
    places: Vec<Vec2>,
}

impl Curve {
    fn new(bounds: &Aabb, bend: &Bend, direction: Vec3, angle: f32) -> Self {
        let height = bounds.extent().y;
        let (foot, length) = (bounds.min.y + bend.from * height, (1.0 - bend.from) * height);
        let heading = |share: f64| f64::from(angle) * share.powf(f64::from(bend.stiffness));
        let mut places = vec![Vec2::ZERO];
        let (mut x, mut y) = (0.0, 0.0);
        for part in 0..PARTS {
            // Two-point Gaussian quadrature.
            for offset in [-0.5, 0.5] {
                let share = (part as f64 + 0.5 + offset / 3f64.sqrt()) / PARTS as f64;
                let (sin, cos) = heading(share).sin_cos();
                x += 0.5 * sin / PARTS as f64;
                y += 0.5 * cos / PARTS as f64;
            }
            places.push(Vec2::new(x as f32, y as f32));
        }
        Self { direction, across: direction.cross(Vec3::Y), foot, length, angle, stiffness: bend.stiffness, places }
    }

    /// The position of a point of the rest pose after bending, and the local rotation.
    fn frame(&self, point: Vec3) -> Frame {
        let above = point.y - self.foot;
        if above <= 0.0 || self.length <= 0.0 {
            return Frame {
                point,
                from: [self.direction, Vec3::Y, self.across],
                to: [self.direction, Vec3::Y, self.across],
                stretch: 1.0,
            };
        }
        let share = (above / self.length).min(1.0);
        let at = share * PARTS as f32;
        let part = (at as usize).min(PARTS - 1);
        let place = self.places[part].lerp(self.places[part + 1], at - part as f32) * self.length;
        let heading = self.angle * share.powf(self.stiffness);
        // In radians per unit of length.
        let curvature = self.angle * self.stiffness * share.powf(self.stiffness - 1.0) / self.length;
        let (sin, cos) = heading.sin_cos();
        let along = self.direction * sin + Vec3::Y * cos;
        let aside = self.direction * cos - Vec3::Y * sin;
        let (lean, across) = (point.dot(self.direction), point.dot(self.across));
        let trunk = self.direction * place.x + Vec3::Y * (self.foot + place.y);
        Frame {
            point: trunk + aside * lean + self.across * across,
            from: [self.direction, Vec3::Y, self.across],
            to: [aside, along, self.across],
            // The limit handles rounding at the top, and crowns wider than the bend's radius.
            stretch: (1.0 - curvature * lean).max(0.05),
        }
    }
}

/// The local frame of a point before and after bending: in the direction of the bend, along the trunk, and across.
struct Frame {
    point: Vec3,
    from: [Vec3; 3],
    to: [Vec3; 3],
    /// Stretch along the trunk.
    stretch: f32,
}

impl Frame {
    fn turned(&self, v: Vec3, along: f32) -> Vec3 {
        let [a, b, c] = self.from.map(|axis| v.dot(axis));
        let turned = self.to[0] * a + self.to[1] * (b * along) + self.to[2] * c;
        turned.try_normalize().unwrap_or(v)
    }

    fn normal(&self, normal: Vec3) -> Vec3 {
        self.turned(normal, 1.0 / self.stretch)
    }

    fn tangent(&self, tangent: Vec3) -> Vec3 {
        self.turned(tangent, self.stretch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wind(sides: BendSides) -> Bend {
        Bend {
            direction: Vec3::X,
            angle: 0.3,
            period: 3.0,
            gusts: 0.0,
            seed: 0,
            from: 0.0,
            stiffness: 2.0,
            poses: 16,
            sides,
        }
    }

    /// The lateral surface of a trunk from y = 0 to 10, in many rings.
    fn trunk() -> TriangleMesh {
        let (mut mesh, rings) = (TriangleMesh::default(), 40);
        for ring in 0..=rings {
            for part in 0..16 {
                let turn = Vec2::from_angle(part as f32 * PI / 8.0);
                mesh.positions.push([0.2 * turn.x, 10.0 * ring as f32 / rings as f32, -0.2 * turn.y]);
                mesh.normals.push([turn.x, 0.0, -turn.y]);
                let (a, b) = (ring * 16 + part, ring * 16 + (part + 1) % 16);
                if ring < rings {
                    mesh.triangles.extend([[a, b, b + 16], [a, b + 16, a + 16]]);
                }
            }
        }
        mesh
    }

    fn points(mesh: &TriangleMesh) -> Vec<Vec3> {
        mesh.positions.iter().copied().map(Vec3::from).collect()
    }

    #[test]
    fn the_foot_stays_and_the_trunk_keeps_its_length() {
        let bend = Bend { from: 0.2, ..wind(BendSides::One(Vec3::X)) };
        // Points along the axis of the trunk.
        let middle: Vec<[f32; 3]> = (0..=100).map(|i| [0.0, i as f32 * 0.1, 0.0]).collect();
        let mesh = TriangleMesh { positions: middle, ..TriangleMesh::default() };
        let bent = points(&bend.bent(&mesh, bend.poses));
        for (p, rest) in bent.iter().zip(points(&mesh)).take(21) {
            assert_eq!(*p, rest, "below where the bend begins");
        }
        let length: f32 = bent.windows(2).map(|pair| pair[0].distance(pair[1])).sum();
        assert!((length - 10.0).abs() < 1e-3, "{length}");
        let top = bent[100] - bent[99];
        assert!(
            (top.x.atan2(top.y) - 0.3).abs() < 0.01 && bent[100].x > 0.5 && bent[100].y < 10.0,
            "{top} {}",
            bent[100]
        );
        let other = points(&bend.bent(&mesh, 2 * bend.poses));
        assert!(
            (other[100] + bent[100] - Vec3::Y * 2.0 * bent[100].y).length() < 1e-4,
            "the last pose bends the other way"
        );
    }

    #[test]
    fn normals_bend_with_the_surface() {
        let (bend, mesh) = (wind(BendSides::One(Vec3::new(0.6, 0.0, 0.8))), trunk());
        let bent = bend.bent(&mesh, bend.poses);
        for triangle in &bent.triangles {
            let [a, b, c] = triangle.map(|v| Vec3::from(bent.positions[v as usize]));
            let flat = (b - a).cross(c - a).normalize();
            for v in triangle {
                let normal = Vec3::from(bent.normals[*v as usize]);
                assert!((normal.length() - 1.0).abs() < 1e-5 && normal.dot(flat) > 0.97, "{normal} {flat}");
            }
        }
    }

    #[test]
    fn the_first_pose_is_at_rest_and_each_has_the_bend_that_it_is_shown_for() {
        for sides in [BendSides::One(Vec3::X), BendSides::Around] {
            let bend = wind(sides);
            assert_eq!(points(&bend.bent(&trunk(), 0)), points(&trunk()));
            for i in 0..200 {
                let time = f64::from(i) * 0.037;
                let (direction, share) = bend.pose(bend.shown(&Affine3::IDENTITY, 0.2, time));
                let expected = (0.2 + time / 3.0).fract() as f32;
                assert!((share - sin_of_turns(expected)).abs() <= 0.5 / 16.0 + 1e-5, "{time}: {share}");
                assert!(share == 0.0 || direction == Vec3::X);
            }
        }
    }

    #[test]
    fn copies_that_are_turned_bend_along_the_wind_all_the_same() {
        let bend = wind(BendSides::Around);
        for i in 0..64 {
            let local = Affine3::from_rotation_y(i as f32 * 0.1) * Affine3::from_scale(Vec3::splat(2.0));
            // The bend is greatest after a quarter of the period.
            let shown = bend.shown(&local, 0.0, 0.75);
            assert!(shown < bend.pose_count());
            let (direction, share) = bend.pose(shown);
            let world = local.transform_vector3(direction * share).normalize();
            assert!(share.abs() == 1.0 && world.dot(Vec3::X) > (PI / 8.0).cos() - 1e-4, "{i}: {world}");
        }
    }

    #[test]
    fn phases_differ_and_gusts_come_and_go_along_the_wind() {
        let bend = wind(BendSides::One(Vec3::X));
        let shown = |phase: f32| bend.shown(&Affine3::IDENTITY, phase, 0.4);
        assert_ne!(shown(0.0), shown(0.3));
        let gusty = Bend { gusts: 1.0, ..bend };
        let shares: Vec<f32> = (0..4000).map(|i| gusty.share(0.0, f64::from(i) * 0.05)).collect();
        let (least, most) = shares.iter().fold((1f32, -1f32), |(a, b), s| (a.min(*s), b.max(*s)));
        assert!((0.0..0.02).contains(&least) && (0.8..=1.0).contains(&most), "{least} {most}");
        assert!(shares.windows(2).all(|pair| (pair[0] - pair[1]).abs() < 0.1));
    }
}
