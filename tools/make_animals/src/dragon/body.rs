//! The dragon's body: trunk, head, legs, wings and plates.

use super::head;
use super::limbs::{self, Leg};
use super::paint::Paint;
use super::stance::{Edges, Stance};
use super::texcoords::{self, Chart};
use super::wing::{self, Sheet};
use crate::modelling::sdf::{Blade, Bounds, Parts, RoundCone, Shape, smoothstep};
use crate::modelling::solid::{Solid, curvature};
use crate::modelling::spine::{Spine, SpinePosition, Station};
use glam::{Mat3, Vec2, Vec3};
use std::f32::consts::PI;
use std::sync::Arc;

/// Lower limit of `edge_length`.
const SHORTEST_EDGE: f32 = 0.045;

/// The dragon as one solid.
pub struct Dragon {
    pub spine: Spine,
    pub wings: [Arc<Sheet>; 2],
    parts: Parts,
    pub legs: [Leg; 4],
    pub head: head::Frame,
    skull: Vec3,
    paws: Vec<Vec3>,
    bounds: Bounds,
    scales: bool,
    edges: Edges,
    /// Whether its eyes are open.
    pub awake: bool,
}

impl Dragon {
    pub fn new(stance: Stance) -> Self {
        let spine = Spine::through(&stance.trunk, stance.level);
        let mut parts = Parts::default();
        for leg in &stance.legs {
            limbs::add(&mut parts, leg);
        }
        let wings = stance.wings.map(|pose| Arc::new(Sheet::new(pose)));
        for wing in &wings {
            wing::add_bones(&mut parts, wing);
            parts.paint(Paint::Membrane);
            parts.add(0.07, SharedSheet(Arc::clone(wing)));
            parts.paint(Paint::Hide);
        }
        let head = head::Frame {
            origin: spine.station(spine.length()).point,
            axes: stance.head,
            scale: 1.2,
            gape: stance.gape,
        };
        head::add(&mut parts, &head);
        parts.paint(Paint::Horn);
        add_plates(&mut parts, &spine);
        add_spade(&mut parts, &spine.station(0.0));
        let paw = |leg: &Leg| leg.ball + leg.toes * 0.35;
        Self {
            spine,
            wings,
            parts,
            head,
            skull: head.origin + head.axes.x_axis * 0.5,
            paws: stance.legs.iter().map(paw).collect(),
            legs: stance.legs,
            bounds: stance.bounds,
            scales: stance.scales,
            edges: stance.edges,
            awake: stance.awake,
        }
    }

    /// Distance to the skin without scales.
    fn smooth_distance(&self, p: Vec3) -> (f32, SpinePosition) {
        let place = self.spine.place(p);
        (self.parts.distance(p, place.distance), place)
    }

    /// The texture chart of the skin at `p`.
    pub fn chart_at(&self, p: Vec3) -> Chart {
        texcoords::chart_at(self, p)
    }

    /// The paint of the skin at `p`, and its distance from plain hide.
    pub fn paint_at(&self, p: Vec3) -> (u8, f32) {
        self.parts.paint_at(p, self.spine.place(p).distance)
    }

    /// Height of scales and belly plates above the smooth skin.
    fn relief(&self, p: Vec3, place: &SpinePosition) -> f32 {
        let trunk = 1.0 - smoothstep(1.3, 1.9, place.from_axis / place.radius);
        let near_skull = smoothstep(0.35, 0.7, p.distance(self.skull));
        let near_tip = smoothstep(0.3, 1.2, place.along);
        let weight = trunk * near_skull * near_tip;
        if weight == 0.0 {
            return 0.0;
        }
        let under = place.angle.abs() / PI;
        let belly = smoothstep(0.68, 0.76, under);
        weight * (belly * belly_plates(place) + (1.0 - belly) * scales(place))
    }
}

impl Solid for Dragon {
    fn distance(&self, p: Vec3) -> f32 {
        let (smooth, place) = self.smooth_distance(p);
        if smooth.abs() > 0.2 || !self.scales {
            return smooth;
        }
        smooth - self.relief(p, &place)
    }

    fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// Wings are flat sheets, except on the statue, which has short edges.
    fn has_sheets(&self) -> bool {
        !self.scales
    }

    fn shortest_edge(&self) -> f32 {
        SHORTEST_EDGE
    }

    /// Greatest edge length of the mesh at `p`, up to a common factor: short at sharp bends and prominent parts, long on the flat wings.
    fn edge_length(&self, p: Vec3) -> f32 {
        const ANGLE_PER_EDGE: f32 = 1.1;
        let head = 1.0 - smoothstep(0.9, 1.6, p.distance(self.skull));
        let paw = self.paws.iter().map(|paw| 1.0 - smoothstep(0.4, 0.8, p.distance(*paw))).fold(0.0, f32::max);
        let trunk = self.spine.place(p);
        let near_trunk = 1.0 - smoothstep(1.2, 1.8, trunk.from_axis / trunk.radius);
        let Edges { creases, wings, trunk_less, head_less } = self.edges;
        let shortest = creases - (creases - SHORTEST_EDGE) * head.max(0.85 * paw);

        let longest = wings - trunk_less * near_trunk.max(head) - head_less * head;
        (ANGLE_PER_EDGE / curvature(&|p| self.smooth_distance(p).0, p, 1.0)).clamp(shortest, longest)
    }
}

/// Overlapping transverse plates: each rises gradually and ends in a step.
fn belly_plates(place: &SpinePosition) -> f32 {
    const PITCH: f32 = 0.4;
    let t = (place.along / PITCH).rem_euclid(1.0);
    0.04 * (smoothstep(0.0, 0.35, t) - smoothstep(0.35, 1.0, t))
}

/// Diamond scales in staggered rows; thin parts of the trunk have fewer around them.
fn scales(place: &SpinePosition) -> f32 {
    const PITCH: f32 = 0.44;
    let around = (place.radius * 2.0 * PI / PITCH).max(4.0);
    let u = place.along / PITCH;
    let v = place.angle / (2.0 * PI) * around;
    let wave = |x: f32| (x * PI).cos().powi(2);
    let diamond = wave(u + v) * wave(u - v);
    0.045 * diamond.sqrt() * (place.radius / 0.4).min(1.0)
}

/// Makes a shared wing a part of the body.
struct SharedSheet(Arc<Sheet>);

impl Shape for SharedSheet {
    fn distance(&self, p: Vec3) -> f32 {
        self.0.distance(p)
    }

    fn bounds(&self) -> Bounds {
        self.0.bounds()
    }
}

/// A row of plates that lean backwards, from the nape to the tail.
fn add_plates(parts: &mut Parts, spine: &Spine) {
    let length = spine.length();
    let mut along = length - 0.42;
    while along > 0.9 {
        let station = spine.station(along);
        let share = along / length;
        let height = 0.22 + 0.4 * smoothstep(0.0, 0.55, share) * (1.0 - 0.45 * smoothstep(0.8, 1.0, share));
        parts.add(0.05, plate(&station, height));
        along -= 0.18 + 0.62 * height;
    }
}

fn plate(station: &Station, height: f32) -> Blade {
    let foot = height * 0.5;
    let sunk = station.back * 0.25;
    Blade {
        origin: station.point + station.up * (station.back - 0.02),
        axes: Mat3::from_cols(station.forward, station.up, station.right),
        outline: vec![
            Vec2::new(-foot * 0.8, -sunk),
            Vec2::new(foot, -sunk),
            Vec2::new(foot * 0.75, height * 0.35),
            Vec2::new(-foot * 0.9, height),
            Vec2::new(-foot * 0.85, height * 0.35),
        ],
        half_thickness: 0.05 + height * 0.12,
        thinning: 0.14,
        round: 0.04,
    }
}

/// The spade at the tip of the tail.
fn add_spade(parts: &mut Parts, tip: &Station) {
    let axes = Mat3::from_cols(tip.right, -tip.forward, tip.up);
    let outline = [
        (0.0, -0.14),
        (0.24, -0.26),
        (0.5, -0.24),
        (0.43, 0.14),
        (0.22, 0.54),
        (0.0, 1.02),
        (-0.22, 0.54),
        (-0.43, 0.14),
        (-0.5, -0.24),
        (-0.24, -0.26),
    ];
    parts.add(
        0.06,
        Blade {
            origin: tip.point,
            axes,
            outline: outline.into_iter().map(Vec2::from).collect(),
            half_thickness: 0.1,
            thinning: 0.05,
            round: 0.05,
        },
    );
    parts.add(0.08, RoundCone { a: tip.point, b: tip.point - tip.forward * 0.75, radius_a: 0.09, radius_b: 0.045 });
}
