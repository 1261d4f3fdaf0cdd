//! The animal's trunk: a tube with an egg-shaped cross-section, from the tip of the tail over back and neck to the skull. It assigns to
//! each nearby point a position along the trunk and an angle around it, which scales and texture coordinates use.

use super::sdf::curve;
use glam::Vec3;

/// A control point of the trunk.
#[derive(Clone, Copy, Debug)]
pub struct Knot {
    pub point: Vec3,
    /// Radii towards the back, towards the belly and to the sides.
    pub back: f32,
    pub belly: f32,
    pub side: f32,
}

/// A sampled cross-section of the trunk.
#[derive(Clone, Copy, Debug)]
pub struct Station {
    pub point: Vec3,
    /// Unit vector towards the head.
    pub forward: Vec3,
    /// Unit vector out of the back.
    pub up: Vec3,
    pub right: Vec3,
    pub back: f32,
    pub belly: f32,
    pub side: f32,
    /// Length of the trunk from the tip of the tail to this station.
    pub along: f32,
}

impl Station {
    fn mix(&self, other: &Self, t: f32) -> Self {
        let mix = |a: f32, b: f32| a + (b - a) * t;
        Self {
            point: self.point.lerp(other.point, t),
            forward: self.forward.lerp(other.forward, t),
            up: self.up.lerp(other.up, t),
            right: self.right.lerp(other.right, t),
            back: mix(self.back, other.back),
            belly: mix(self.belly, other.belly),
            side: mix(self.side, other.side),
            along: mix(self.along, other.along),
        }
    }
}

/// Position of a point relative to the trunk.
#[derive(Clone, Copy, Debug)]
pub struct SpinePosition {
    /// Signed distance to the smooth trunk.
    pub distance: f32,
    /// Distance to the centre line.
    pub from_axis: f32,
    /// Position along the trunk, measured from the tip of the tail.
    pub along: f32,
    /// Angle around the trunk: 0 on the back, positive on the right, ±π under the belly.
    pub angle: f32,
    /// Mean radius of the trunk at this position.
    pub radius: f32,
}

/// The trunk.
pub struct Spine {
    stations: Vec<Station>,
}

const STATIONS_PER_KNOT: usize = 6;

impl Spine {
    /// Builds the trunk through `knots`, tail first. The frame is carried without twisting from the knot with index `level`, whose back
    /// points straight up.
    pub fn through(knots: &[Knot], level: usize) -> Self {
        let mut stations = sample(knots);
        let origin = level * STATIONS_PER_KNOT;
        orient(&mut stations[origin], Vec3::Y);
        for i in origin + 1..stations.len() {
            let up = stations[i - 1].up;
            orient(&mut stations[i], up);
        }
        for i in (0..origin).rev() {
            let up = stations[i + 1].up;
            orient(&mut stations[i], up);
        }
        Self { stations }
    }

    /// Length of the trunk.
    pub fn length(&self) -> f32 {
        self.stations[self.stations.len() - 1].along
    }

    /// The cross-section at the position `along`, measured from the tip of the tail.
    pub fn station(&self, along: f32) -> Station {
        let next = self.stations.partition_point(|s| s.along < along);
        let i = next.clamp(1, self.stations.len() - 1);
        let (a, b) = (&self.stations[i - 1], &self.stations[i]);
        a.mix(b, ((along - a.along) / (b.along - a.along)).clamp(0.0, 1.0))
    }

    /// The cross-section at a knot.
    pub fn knot(&self, index: usize) -> Station {
        self.stations[index * STATIONS_PER_KNOT]
    }

    /// Finds the position of `p`: the nearest cross-section whose plane contains it.
    pub fn place(&self, p: Vec3) -> SpinePosition {
        let ends = [self.stations[0], self.stations[self.stations.len() - 1]];
        let mut best = ends[0];
        let mut best_distance = f32::INFINITY;
        let mut consider = |station: Station| {
            let mean = (station.back + station.belly + 2.0 * station.side) * 0.25;
            let distance = p.distance(station.point) - mean;
            if distance < best_distance {
                best = station;
                best_distance = distance;
            }
        };
        ends.into_iter().for_each(&mut consider);
        let mut ahead = (p - ends[0].point).dot(ends[0].forward);
        for pair in self.stations.windows(2) {
            let next = (p - pair[1].point).dot(pair[1].forward);
            if ahead >= 0.0 && next < 0.0 {
                consider(pair[0].mix(&pair[1], ahead / (ahead - next)));
            }
            ahead = next;
        }
        place_at(&best, p)
    }
}

/// Samples the curve through the knots. The frames are set later.
fn sample(knots: &[Knot]) -> Vec<Station> {
    let track = |radius: fn(&Knot) -> f32| -> Vec<(Vec3, f32)> { knots.iter().map(|k| (k.point, radius(k))).collect() };
    let back = track(|k| k.back);
    let belly = track(|k| k.belly);
    let side = track(|k| k.side);
    let count = (knots.len() - 1) * STATIONS_PER_KNOT + 1;
    let mut along = 0.0;
    let mut previous = knots[0].point;
    (0..count)
        .map(|i| {
            let t = i as f32 / STATIONS_PER_KNOT as f32;
            let (point, back) = curve(&back, t);
            let step = 0.01;
            let last = (knots.len() - 1) as f32;
            let after = curve(&side, (t + step).min(last)).0;
            let before = curve(&side, (t - step).max(0.0)).0;
            along += point.distance(previous);
            previous = point;
            Station {
                point,
                forward: (after - before).normalize(),
                up: Vec3::Y,
                right: Vec3::Z,
                back,
                belly: curve(&belly, t).1,
                side: curve(&side, t).1,
                along,
            }
        })
        .collect()
}

/// Sets the frame of a station so that its back points as nearly as possible along `up`.
fn orient(station: &mut Station, up: Vec3) {
    station.right = station.forward.cross(up).normalize();
    station.up = station.right.cross(station.forward);
}

/// Position of `p` relative to one cross-section.
fn place_at(station: &Station, p: Vec3) -> SpinePosition {
    let to_p = p - station.point;
    let up = to_p.dot(station.up);
    let right = to_p.dot(station.right);
    let beyond = to_p.dot(station.forward);
    let vertical = if up > 0.0 { station.back } else { station.belly };
    let radial = Vec3::new(up, right, beyond);
    let radii = Vec3::new(vertical, station.side, station.side);
    let k0 = (radial / radii).length();
    let k1 = (radial / (radii * radii)).length();
    let distance = if k1 < 1e-6 { -vertical.min(station.side) } else { k0 * (k0 - 1.0) / k1 };
    SpinePosition {
        distance,
        from_axis: to_p.length(),
        along: station.along,
        angle: right.atan2(up),
        radius: (station.back + station.belly + 2.0 * station.side) * 0.25,
    }
}
