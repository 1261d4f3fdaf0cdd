//! Signed distance primitives, and the list of parts from which a model is blended.
//!
//! Distances are negative inside. Some primitives (ellipsoids, tubes) return a bound that is exact only near the surface, which suffices
//! for meshing and projection.

use glam::{Mat3, Vec2, Vec3};

/// An axis-aligned box, used to skip parts that do not affect a point.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub min: Vec3,
    pub max: Vec3,
}

impl Bounds {
    /// The bounding box of balls, given as centre and radius.
    pub fn of_balls(balls: impl IntoIterator<Item = (Vec3, f32)>) -> Self {
        let empty = Self { min: Vec3::INFINITY, max: Vec3::NEG_INFINITY };
        balls.into_iter().fold(empty, |bounds, (centre, radius)| Self {
            min: bounds.min.min(centre - radius),
            max: bounds.max.max(centre + radius),
        })
    }

    /// Distance from `p` to the box; zero inside.
    pub fn distance(&self, p: Vec3) -> f32 {
        (self.min - p).max(p - self.max).max(Vec3::ZERO).length()
    }
}

/// A solid described by its signed distance.
pub trait Shape: Send + Sync {
    fn distance(&self, p: Vec3) -> f32;
    fn bounds(&self) -> Bounds;
}

/// Polynomial smooth minimum. It equals the minimum if the values differ by more than `k`, so distant parts can be skipped.
pub fn smooth_min(a: f32, b: f32, k: f32) -> f32 {
    let h = (k - (a - b).abs()).max(0.0) / k;
    a.min(b) - h * h * k * 0.25
}

/// Hermite step from 0 at `low` to 1 at `high`.
pub fn smoothstep(low: f32, high: f32, x: f32) -> f32 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// The convex hull of two balls.
#[derive(Clone, Copy, Debug)]
pub struct RoundCone {
    pub a: Vec3,
    pub b: Vec3,
    pub radius_a: f32,
    pub radius_b: f32,
}

impl Shape for RoundCone {
    fn distance(&self, p: Vec3) -> f32 {
        let axis = self.b - self.a;
        let length2 = axis.length_squared();
        let shrink = self.radius_a - self.radius_b;
        let slant2 = length2 - shrink * shrink;
        if slant2 <= 0.0 {
            let (centre, radius) = if shrink > 0.0 { (self.a, self.radius_a) } else { (self.b, self.radius_b) };
            return p.distance(centre) - radius;
        }
        let to_p = p - self.a;
        let y = to_p.dot(axis);
        let z = y - length2;
        let x2 = (to_p * length2 - axis * y).length_squared();
        let (y2, z2) = (y * y * length2, z * z * length2);
        let k = shrink.signum() * shrink * shrink * x2;
        if z.signum() * slant2 * z2 > k {
            (x2 + z2).sqrt() / length2 - self.radius_b
        } else if y.signum() * slant2 * y2 < k {
            (x2 + y2).sqrt() / length2 - self.radius_a
        } else {
            ((x2 * slant2 / length2).sqrt() + y * shrink) / length2 - self.radius_a
        }
    }

    fn bounds(&self) -> Bounds {
        Bounds::of_balls([(self.a, self.radius_a), (self.b, self.radius_b)])
    }
}

/// Connected round cones along a smooth curve: horns, fingers, claws.
pub struct Chain {
    cones: Vec<RoundCone>,
}

impl Chain {
    /// Sweeps a ball along a Catmull-Rom curve through `knots` (point and radius).
    pub fn through(knots: &[(Vec3, f32)]) -> Self {
        const STEPS_PER_KNOT: usize = 5;
        let steps = (knots.len() - 1) * STEPS_PER_KNOT;
        let samples: Vec<(Vec3, f32)> = (0..=steps).map(|i| curve(knots, i as f32 / STEPS_PER_KNOT as f32)).collect();
        let cones = samples
            .windows(2)
            .map(|pair| RoundCone { a: pair[0].0, b: pair[1].0, radius_a: pair[0].1, radius_b: pair[1].1 })
            .collect();
        Self { cones }
    }
}

impl Shape for Chain {
    fn distance(&self, p: Vec3) -> f32 {
        let distances = self.cones.iter().map(|cone| cone.distance(p));
        distances.fold(f32::INFINITY, f32::min)
    }

    fn bounds(&self) -> Bounds {
        Bounds::of_balls(self.cones.iter().flat_map(|cone| [(cone.a, cone.radius_a), (cone.b, cone.radius_b)]))
    }
}

/// Point on the Catmull-Rom curve through `knots`, with `t` in units of knots. The radius is interpolated linearly, so it cannot become
/// negative.
pub fn curve(knots: &[(Vec3, f32)], t: f32) -> (Vec3, f32) {
    let last = knots.len() - 1;
    let i = (t as usize).min(last - 1);
    let f = t - i as f32;
    let (p1, p2) = (knots[i].0, knots[i + 1].0);
    let p0 = if i > 0 { knots[i - 1].0 } else { p1 * 2.0 - p2 };
    let p3 = if i + 2 <= last { knots[i + 2].0 } else { p2 * 2.0 - p1 };
    let point = (p1 * 2.0
        + (p2 - p0) * f
        + (p0 * 2.0 - p1 * 5.0 + p2 * 4.0 - p3) * (f * f)
        + (p1 * 3.0 - p0 - p2 * 3.0 + p3) * (f * f * f))
        * 0.5;
    (point, knots[i].1 + (knots[i + 1].1 - knots[i].1) * f)
}

/// An ellipsoid with its own axes.
pub struct Ellipsoid {
    pub centre: Vec3,
    pub axes: Mat3,
    pub radii: Vec3,
}

impl Shape for Ellipsoid {
    fn distance(&self, p: Vec3) -> f32 {
        let q = self.axes.transpose() * (p - self.centre);
        let k0 = (q / self.radii).length();
        let k1 = (q / (self.radii * self.radii)).length();
        if k1 < 1e-6 {
            return -self.radii.min_element();
        }
        k0 * (k0 - 1.0) / k1
    }

    fn bounds(&self) -> Bounds {
        Bounds::of_balls([(self.centre, self.radii.max_element())])
    }
}

/// A rounded box along its local x axis whose height and width change linearly: snouts and jaws.
pub struct TaperedBox {
    pub origin: Vec3,
    pub axes: Mat3,
    pub length: f32,
    /// Half height and half width at the origin and at the far end, rounding included.
    pub near: Vec2,
    pub far: Vec2,
    /// Upward offset of the centre line at the far end.
    pub rise: f32,
    pub round: f32,
}

impl Shape for TaperedBox {
    fn distance(&self, p: Vec3) -> f32 {
        let q = self.axes.transpose() * (p - self.origin);
        let t = (q.x / self.length).clamp(0.0, 1.0);
        let half = self.near.lerp(self.far, t) - self.round;
        let mid = self.length * 0.5;
        let outside =
            Vec3::new((q.x - mid).abs() - mid + self.round, (q.y - self.rise * t).abs() - half.x, q.z.abs() - half.y);
        outside.max(Vec3::ZERO).length() + outside.max_element().min(0.0) - self.round
    }

    fn bounds(&self) -> Bounds {
        let far = self.origin + self.axes * Vec3::new(self.length, self.rise, 0.0);
        Bounds::of_balls([(self.origin, self.near.length()), (far, self.far.length() + self.round)])
    }
}

/// A flat triangular blade along its local x axis, which gets thinner from foot to tip: plates of the back and the spade of the tail.
pub struct Blade {
    pub origin: Vec3,
    /// Columns: along the back, upwards, sideways.
    pub axes: Mat3,
    /// Corners of the blade in its plane, counter-clockwise.
    pub outline: Vec<Vec2>,
    pub half_thickness: f32,
    /// Half thickness lost per unit of height.
    pub thinning: f32,
    pub round: f32,
}

impl Shape for Blade {
    fn distance(&self, p: Vec3) -> f32 {
        let q = self.axes.transpose() * (p - self.origin);
        let in_plane = polygon_distance(&self.outline, Vec2::new(q.x, q.y)) + self.round;
        let half = (self.half_thickness - self.thinning * q.y.max(0.0)).max(self.round);
        let across = q.z.abs() - half + self.round;
        let outside = Vec2::new(in_plane, across);
        outside.max(Vec2::ZERO).length() + outside.max_element().min(0.0) - self.round
    }

    fn bounds(&self) -> Bounds {
        Bounds::of_balls(self.outline.iter().map(|corner| {
            let centre = self.origin + self.axes * corner.extend(0.0);
            (centre, self.half_thickness)
        }))
    }
}

/// Signed distance to a closed polygon in the plane (either winding).
pub fn polygon_distance(corners: &[Vec2], p: Vec2) -> f32 {
    let mut nearest2 = f32::INFINITY;
    let mut inside = false;
    let mut previous = corners[corners.len() - 1];
    for &corner in corners {
        let edge = previous - corner;
        let to_p = p - corner;
        let t = (to_p.dot(edge) / edge.length_squared()).clamp(0.0, 1.0);
        nearest2 = nearest2.min((to_p - edge * t).length_squared());
        if (corner.y > p.y) != (previous.y > p.y) {
            let crossing = corner.x + edge.x * (p.y - corner.y) / edge.y;
            inside ^= p.x < crossing;
        }
        previous = corner;
    }
    nearest2.sqrt() * if inside { -1.0 } else { 1.0 }
}

/// How a part is combined with the earlier parts.
#[derive(Clone, Copy, Debug)]
enum Join {
    Add,
    Carve,
}

struct ShapePart {
    shape: Box<dyn Shape>,
    bounds: Bounds,
    join: Join,
    blend: f32,
    paint: u8,
}

/// An ordered list of parts, blended one after another.
#[derive(Default)]
pub struct Parts {
    parts: Vec<ShapePart>,
    paint: u8,
}

impl Parts {
    /// Adds a solid with a fillet of about `blend`.
    pub fn add(&mut self, blend: f32, shape: impl Shape + 'static) {
        self.push(blend, shape, Join::Add);
    }

    /// Subtracts a solid, with a rim rounded by about `blend`.
    pub fn carve(&mut self, blend: f32, shape: impl Shape + 'static) {
        self.push(blend, shape, Join::Carve);
    }

    /// Sets the paint of the parts added from here on.
    pub fn paint(&mut self, paint: impl Into<u8>) {
        self.paint = paint.into();
    }

    /// The paint of the part nearest to `p`, and the distance to the nearest part with paint 0. The solid at distance `start`, which
    /// precedes all parts, has paint 0.
    pub fn paint_at(&self, p: Vec3, start: f32) -> (u8, f32) {
        let mut nearest = (0, start);
        let mut plain = start;
        for part in self.parts.iter().filter(|part| matches!(part.join, Join::Add)) {
            let distance = part.shape.distance(p);
            if distance < nearest.1 {
                nearest = (part.paint, distance);
            }
            if part.paint == 0 {
                plain = plain.min(distance);
            }
        }
        (nearest.0, plain)
    }

    fn push(&mut self, blend: f32, shape: impl Shape + 'static, join: Join) {
        self.parts.push(ShapePart {
            bounds: shape.bounds(),
            shape: Box::new(shape),
            join,
            blend: blend.max(1e-4),
            paint: self.paint,
        });
    }

    /// Distance to the blended solid. `start` is the distance to the solid that precedes all parts.
    pub fn distance(&self, p: Vec3, start: f32) -> f32 {
        self.parts.iter().fold(start, |distance, part| {
            let least = part.bounds.distance(p);
            match part.join {
                Join::Add if least > distance + part.blend => distance,
                Join::Add => smooth_min(distance, part.shape.distance(p), part.blend),
                Join::Carve if least > distance.abs() + part.blend => distance,
                Join::Carve => -smooth_min(-distance, part.shape.distance(p), part.blend),
            }
        })
    }
}
