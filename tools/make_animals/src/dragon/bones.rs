//! The dragon's skeleton.

use super::body::Dragon;
use super::head;
use super::texcoords::Chart;
use crate::modelling::spine::Station;
use crate::rigging::skeleton::{Flesh, Joint, Skeleton};
use glam::Vec3;

/// Joint indices by body part.
pub struct Bones {
    pub skeleton: Skeleton,
    /// The root: moves the whole animal.
    pub body: usize,
    pub chest: usize,
    /// From the chest to the head.
    pub neck: Vec<usize>,
    pub head: usize,
    pub jaw: usize,
    /// From the body to the tip.
    pub tail: Vec<usize>,
    /// Right and left.
    pub wings: [Wing; 2],
    /// Front right and left, hind right and left: thigh, shin, foot, toes.
    pub legs: [[usize; 4]; 4],
}

pub struct Wing {
    pub upper: usize,
    pub fore: usize,
    /// From the leading edge to the body, two bones each.
    pub fingers: [[usize; 2]; 4],
}

/// Knots of the trunk at which pelvis, body, neck and head begin.
const PELVIS: usize = 9;
const BODY: usize = 10;
const NECK: usize = 12;
const HEAD: usize = 18;

const TRUNK: u32 = 1;
const SKULL: u32 = 2;
const WING: u32 = 4;
const LEG: u32 = 16;

/// The body part of the skin at `p`, as a bit.
pub fn part_at(dragon: &Dragon, p: Vec3) -> u32 {
    match dragon.chart_at(p) {
        Chart::Trunk | Chart::Spade => TRUNK,
        Chart::Head => SKULL,
        Chart::Wing(i) => WING << i,
        Chart::Leg(i) => LEG << i,
    }
}

impl Bones {
    pub fn new(dragon: &Dragon) -> Self {
        let mut skeleton = Skeleton::default();
        let knot = |i: usize| {
            let station = dragon.spine.knot(i);
            (station.point, thickness(&station))
        };
        let trunk = Flesh { softness: 0.45, parts: TRUNK };
        let body = skeleton.add(Joint {
            name: "body".into(),
            parent: None,
            at: knot(BODY).0,
            tip: knot(PELVIS).0,
            radii: [knot(BODY).1, knot(PELVIS).1],
            softness: trunk.softness,
            parts: trunk.parts,
        });
        let chest = skeleton.chain("chest", body, &[knot(BODY), knot(NECK)], trunk)[0];
        let neck: Vec<_> = (NECK..=HEAD).map(knot).collect();
        let neck = skeleton.chain("neck", chest, &neck, trunk);
        let nape = neck[neck.len() - 1];
        skeleton.joints[nape].parts |= SKULL;
        let [head, jaw] = add_head(&mut skeleton, dragon, nape);
        let mut tail: Vec<_> = (0..=PELVIS).rev().map(knot).collect();
        tail[PELVIS].0 -= dragon.spine.knot(0).forward * 0.9;
        let tail = skeleton.chain("tail", body, &tail, trunk);
        let wings = [0, 1].map(|side| add_wing(&mut skeleton, dragon, chest, side));
        let legs = [0, 1, 2, 3].map(|i| add_leg(&mut skeleton, dragon, if i < 2 { chest } else { body }, i));
        Self { skeleton, body, chest, neck, head, jaw, tail, wings, legs }
    }
}

fn thickness(station: &Station) -> f32 {
    (station.back + station.belly + 2.0 * station.side) * 0.25
}

fn add_head(skeleton: &mut Skeleton, dragon: &Dragon, nape: usize) -> [usize; 2] {
    let skull = Flesh { softness: 0.1, parts: SKULL };
    let frame = &dragon.head;
    let head = [(frame.origin, 0.3), (frame.at(1.3, 0.02, 0.0), 0.2)];
    let head = skeleton.chain("head", nape, &head, skull)[0];
    let frame = head::jaw(frame);
    let jaw = [(frame.origin, 0.2), (frame.at(1.1, 0.0, 0.0), 0.15)];
    [head, skeleton.chain("jaw", head, &jaw, skull)[0]]
}

fn side_name(side: usize) -> &'static str {
    ["right", "left"][side]
}

fn add_wing(skeleton: &mut Skeleton, dragon: &Dragon, chest: usize, side: usize) -> Wing {
    let flesh = Flesh { softness: 0.15, parts: WING << side };
    let wing = &dragon.wings[side];
    let name = side_name(side);
    let [shoulder, elbow, wrist] = wing.arm();
    let upper = skeleton.chain(&format!("arm_{name}"), chest, &[(shoulder, 0.25), (elbow, 0.16)], flesh)[0];
    let fore = skeleton.chain(&format!("forearm_{name}"), upper, &[(elbow, 0.15), (wrist, 0.12)], flesh)[0];
    let mut number = 0;
    let fingers = wing.fingers().map(|[knuckle, tip]| {
        number += 1;
        let points = [(wrist, 0.12), (knuckle, 0.1), (tip, 0.06)];
        let bones = skeleton.chain(&format!("finger_{number}_{name}"), fore, &points, flesh);
        [bones[0], bones[1]]
    });
    Wing { upper, fore, fingers }
}

fn add_leg(skeleton: &mut Skeleton, dragon: &Dragon, parent: usize, index: usize) -> [usize; 4] {
    let flesh = Flesh { softness: 0.12, parts: LEG << index };
    let leg = &dragon.legs[index];
    let [hip, knee, ankle, ball] = leg.radii;
    let toes = leg.ball + leg.toes * 0.7;
    let points = [(leg.hip, hip), (leg.knee, knee), (leg.ankle, ankle), (leg.ball, ball), (toes, ball * 0.7)];
    let name = format!("{}_leg_{}", ["fore", "hind"][index / 2], side_name(index % 2));
    let bones = skeleton.chain(&name, parent, &points, flesh);
    [bones[0], bones[1], bones[2], bones[3]]
}
