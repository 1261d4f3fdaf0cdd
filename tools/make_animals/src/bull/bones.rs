//! The bull's skeleton.

use super::body::Bull;
use crate::rigging::skeleton::{Flesh, Joint, Skeleton};
use glam::Vec3;

/// Joint indices by body part.
pub struct Bones {
    pub skeleton: Skeleton,
    /// The root: the loins, in the middle of the animal.
    pub body: usize,
    pub croup: usize,
    pub chest: usize,
    pub neck: Vec<usize>,
    pub head: usize,
    pub ears: [usize; 2],
    pub tail: Vec<usize>,
    /// Front right and left, hind right and left: upper leg, lower leg, cannon, hoof.
    pub legs: [[usize; 4]; 4],
}

/// Knots of the trunk.
const CROUP: usize = 2;
const LOINS: usize = 3;
const NECK: usize = 6;
const POLL: usize = 9;

const TRUNK: u32 = 1;
const SKULL: u32 = 2;
const TAIL: u32 = 4;
const LEG: u32 = 16;

/// The body part of the skin at `p`, as a bit.
pub fn part_at(bull: &Bull, p: Vec3) -> u32 {
    const FLANK: f32 = 0.74;
    let trunk = bull.spine.place(p);
    let local = bull.head.local(p);
    if p.x > 1.2 && (local.x > -0.02 || trunk.distance > 0.06) {
        return SKULL;
    }
    if p.x < -1.0 && trunk.distance > 0.02 {
        return TAIL;
    }
    let legs = bull.legs.iter().enumerate();
    let nearest = legs
        .filter(|(_, leg)| leg.joints[0].z * p.z > 0.0)
        .map(|(i, leg)| (i, leg.distance(p)))
        .min_by(|a, b| a.1.total_cmp(&b.1));
    match nearest {
        Some((i, distance)) if distance < trunk.distance || (p.y < FLANK && distance < 0.1) => LEG << i,
        _ => TRUNK,
    }
}

impl Bones {
    pub fn new(bull: &Bull) -> Self {
        let mut skeleton = Skeleton::default();
        let knot = |i: usize| {
            let station = bull.spine.knot(i);
            (station.point, (station.back + station.belly + 2.0 * station.side) * 0.25)
        };
        let trunk = Flesh { softness: 0.45, parts: TRUNK };
        let body = skeleton.add(Joint {
            name: "body".into(),
            parent: None,
            at: knot(LOINS).0,
            tip: knot(LOINS + 1).0,
            radii: [knot(LOINS).1, knot(LOINS + 1).1],
            softness: trunk.softness,
            parts: trunk.parts,
        });
        let croup = skeleton.chain("croup", body, &[knot(LOINS), knot(CROUP), knot(0)], trunk);
        let (croup, rump) = (croup[0], croup[1]);
        let chest = skeleton.chain("chest", body, &[knot(LOINS + 1), knot(NECK)], trunk)[0];
        let neck: Vec<_> = (NECK..=POLL).map(knot).collect();
        let neck = skeleton.chain("neck", chest, &neck, trunk);
        let nape = neck[neck.len() - 1];
        let skull = Flesh { softness: 0.1, parts: SKULL };
        let face = [(bull.head.origin, 0.13), (bull.head.at(0.5, -0.02, 0.0), 0.08)];
        let head = skeleton.chain("head", nape, &face, skull)[0];
        skeleton.joints[nape].parts |= SKULL;
        let ears = [1.0, -1.0].map(|side| {
            let name = if side > 0.0 { "ear_right" } else { "ear_left" };
            let points =
                [(bull.head.at(-0.03, 0.03, 0.15 * side), 0.02), (bull.head.at(-0.05, 0.0, 0.34 * side), 0.03)];
            skeleton.chain(name, head, &points, Flesh { softness: 0.1, parts: SKULL })[0]
        });
        let tail: Vec<_> = bull.tail.iter().map(|&p| (p, 0.035)).collect();
        let tail = skeleton.chain("tail", rump, &tail, Flesh { softness: 0.4, parts: TAIL });
        let legs = [0, 1, 2, 3].map(|i| add_leg(&mut skeleton, bull, if i < 2 { chest } else { croup }, i));
        Self { skeleton, body, croup, chest, neck, head, ears, tail, legs }
    }
}

fn add_leg(skeleton: &mut Skeleton, bull: &Bull, parent: usize, index: usize) -> [usize; 4] {
    let leg = &bull.legs[index];
    let points: Vec<(Vec3, f32)> = leg.joints.into_iter().zip(leg.radii).collect();
    let name = format!("{}_leg_{}", ["fore", "hind"][index / 2], ["right", "left"][index % 2]);
    let flesh = Flesh { softness: 0.1, parts: LEG << index };
    let bones = skeleton.chain(&name, parent, &points, flesh);
    skeleton.joints[bones[0]].parts |= TRUNK;
    [bones[0], bones[1], bones[2], bones[3]]
}
