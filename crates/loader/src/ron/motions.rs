//! Validation and conversion of the `motions` section.

use super::{
    checked::{Fields, above_zero, not_zero, within},
    file::Source,
    meshes::curves::Curves,
    names::Names,
    source::Place,
};
use crate::LoadError;
use glam::{EulerRot, Vec3};
use std::f32::consts::PI;
use throng_scene::{
    Bend, BendSides, Ends, Follow, Follower, Key, Keyframe, Motion, MotionPart, Noise, Phase, Rotations, Track, Travel,
    desc::{
        self, Aim, AimOn, FollowDesc, KeyframeDesc, MotionDesc, PartDesc, PhaseDesc, Point, SceneFile, Shake, Sway,
        Towards, Turns,
    },
    rig::PoseBuckets,
};

/// Greatest bending angle in degrees.
const MOST_BENT: f32 = 120.0;

/// A motion without movement.
pub fn still() -> Motion {
    Motion { parts: Vec::new(), phase: Phase::Same }
}

/// A motion for instances that choose from `poses`. Without a clip in `motion`, they play at speed 1 and in step.
pub fn with_poses(motion: Option<&Motion>, poses: PoseBuckets) -> Motion {
    let mut motion = motion.cloned().unwrap_or_else(still);
    let is_clip = |part: &MotionPart| matches!(part, MotionPart::Clip { .. });
    if !motion.parts.iter().any(is_clip) {
        let speeds = [1.0; 2];
        motion.parts.push(MotionPart::Clip { poses, speeds });
    }
    for part in &mut motion.parts {
        if let MotionPart::Clip { poses: own, .. } = part {
            *own = poses;
        }
    }
    motion
}

/// The bend of a motion, if it has one.
pub fn bend_of(motion: &Motion) -> Option<&Bend> {
    motion.parts.iter().find_map(|part| match part {
        MotionPart::Bend(bend) => Some(bend),
        _ => None,
    })
}

/// A motion whose bend has poses in these directions.
pub fn with_sides(mut motion: Motion, sides: BendSides) -> Motion {
    for part in &mut motion.parts {
        if let MotionPart::Bend(bend) = part {
            bend.sides = sides;
        }
    }
    motion
}

/// The motion of a copy of a placement with gaps, in which each copy follows the previous one. The converted motion belongs to copy 1.
pub fn of_copy(mut motion: Motion, copy: u32) -> Motion {
    for part in &mut motion.parts {
        if let MotionPart::Follow(follower) = part {
            follower.behind *= copy as f32;
        }
    }
    motion
}

/// All motions of a file, including unused ones.
///
/// # Errors
/// As [`convert`].
pub fn all(source: &Source, curves: &Curves, file: &SceneFile) -> Result<Vec<Motion>, LoadError> {
    let all = Place::ROOT.key("motions");
    file.motions.0.iter().map(|(name, motion)| convert(source, curves, motion, &all.key(name))).collect()
}

/// Converts the entry at `place`. Objects that it faces are set later by [`aim`], once everything is placed.
///
/// # Errors
/// If an axis or period is zero, if key times do not increase, or if a curve does not exist.
pub fn convert(source: &Source, curves: &Curves, motion: &MotionDesc, place: &Place) -> Result<Motion, LoadError> {
    let at = Parts { source, curves };
    let parts_place = place.key("parts");
    if motion.parts.is_empty() {
        return Err(source.error(
            &parts_place,
            "a motion needs at least one part: add Spin, Sway, Bob, Keyframes, Follow, LookAt, Noise or Clip",
        ));
    }
    let parts = motion.parts.iter().enumerate().map(|(i, p)| at.part(p, &parts_place.index(i)));
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    let poses = |part: &MotionPart| matches!(part, MotionPart::Bend(_) | MotionPart::Clip { .. });
    if let Some((second, _)) = parts.iter().enumerate().filter(|(_, part)| poses(part)).nth(1) {
        let message = "a motion bends a mesh or plays its clip only once: remove this part or the one before";
        return Err(source.error(&parts_place.index(second), message));
    }
    Ok(Motion { parts, phase: at.phase(&motion.phase, &place.key("phase"))? })
}

/// Sets the objects that the parts of a converted motion face.
///
/// # Errors
/// If nothing has a given name.
pub fn aim(
    source: &Source,
    names: &Names,
    motion: &mut Motion,
    desc: &MotionDesc,
    place: &Place,
) -> Result<(), LoadError> {
    let parts_place = place.key("parts");
    for (i, (part, desc)) in motion.parts.iter_mut().zip(&desc.parts).enumerate() {
        let (MotionPart::LookAt { thing, .. }, PartDesc::LookAt(Towards { target })) = (part, desc) else {
            continue;
        };
        let (name, offset) = match target {
            Aim::Point(_) => continue,
            Aim::Name(name) => (name, Vec3::ZERO),
            Aim::On(AimOn { of, offset, .. }) => (of, offset.0),
        };
        let part_place = parts_place.index(i);
        let anchors = source.check(&part_place.key("target"), names.anchors(name))?;
        *thing = Some(Follow { anchors, offset, turns: false, lag: 0.0 });
    }
    Ok(())
}

/// Converts a `Noise`.
///
/// # Errors
/// If the period is not positive.
pub fn noise(source: &Source, desc: &Shake, place: &Place) -> Result<Noise, LoadError> {
    Ok(Noise {
        translation: desc.translate.0,
        rotation: desc.rotate.0.map(f32::to_radians),
        period: source.check(&place.key("period"), above_zero(desc.period.0, "the period"))?,
        seed: desc.seed,
    })
}

/// The default interpolation of rotations: angles, if two consecutive keys differ by more than half a turn.
fn usual_rotations(track: &Track<Keyframe>) -> Rotations {
    let far = |pair: &[Key<Keyframe>]| (pair[1].value.angles - pair[0].value.angles).abs().max_element() > 1.0001 * PI;
    if track.keys.windows(2).any(far) { Rotations::Euler } else { Rotations::Slerp }
}

struct Parts<'a> {
    source: &'a Source,
    curves: &'a Curves,
}

impl Parts<'_> {
    fn part(&self, part: &PartDesc, place: &Place) -> Result<MotionPart, LoadError> {
        Ok(match part {
            PartDesc::Spin(p) => MotionPart::Spin {
                axis: self.unit(p.axis, place, "axis")?,
                period: self.nonzero(p.period.0, place, "period")?,
            },
            PartDesc::Sway(p) => self.sway(p, place)?,
            PartDesc::Bob(p) => {
                MotionPart::Bob { offset: p.offset.0, period: self.nonzero(p.period.0, place, "period")? }
            }
            PartDesc::Keyframes(p) => {
                if p.repeat && p.ends != Ends::Hold {
                    return Err(self.source.error(&place.key("repeat"), "`ends` replaces `repeat`: remove `repeat`"));
                }
                let ends = if p.repeat { Ends::Loop } else { p.ends };
                let track = Track { keys: self.keys(&p.keys, &place.key("keys"))?, ends };
                MotionPart::Keyframes { rotations: p.rotations.unwrap_or_else(|| usual_rotations(&track)), track }
            }
            PartDesc::Follow(p) => self.follow(p, place)?,
            PartDesc::LookAt(p) => MotionPart::LookAt {
                point: match &p.target {
                    Aim::Point(point) => *point,
                    Aim::Name(_) | Aim::On(_) => Vec3::ZERO,
                },
                thing: None,
            },
            PartDesc::Noise(p) => MotionPart::Noise(noise(self.source, p, place)?),
            PartDesc::Clip(p) => self.clip(p, place)?,
        })
    }

    fn sway(&self, p: &Sway, place: &Place) -> Result<MotionPart, LoadError> {
        let period = self.nonzero(p.period.0, place, "period")?;
        let angle = p.degrees.0.to_radians();
        let axis = match (p.axis, p.direction) {
            (Some(axis), None) => self.unit(axis, place, "axis")?,
            // A rotation about this axis moves the top along the direction.
            (None, Some(direction)) => Vec3::Y.cross(self.level(direction.0, &place.key("direction"))?),
            (Some(_), Some(_)) => {
                return Err(self.source.error(&place.key("direction"), "both `axis` and `direction`: remove one"));
            }
            (None, None) => {
                return Err(self.source.error(place, "it has no direction: give it a `direction` or an `axis`"));
            }
        };
        let Some(bend) = &p.bend else { return Ok(MotionPart::Sway { axis, angle, period }) };
        let direction = self.level(axis.cross(Vec3::Y), &place.key("axis"))?;
        if p.degrees.0.abs() > MOST_BENT {
            let message = format!("a bending mesh leans by at most {MOST_BENT} degrees: write less");
            return Err(self.source.error(&place.key("degrees"), message));
        }
        let fields = Fields { source: self.source, place: &place.key("bend") };
        if !(0.0..1.0).contains(&bend.from.0) {
            return fields.fail("from", "the share of the height must be 0 to 1, and below 1");
        }
        if !(1..=128).contains(&bend.poses) {
            return fields.fail("poses", "there must be 1 to 128 poses to either side");
        }
        Ok(MotionPart::Bend(Bend {
            direction,
            angle,
            period,
            gusts: fields.check("gusts", within(bend.gusts.0, 0.0..=1.0, "the share of gusts"))?,
            seed: bend.seed,
            from: bend.from.0,
            stiffness: fields.check("stiffness", within(bend.stiffness.0, 1.0..=8.0, "the stiffness"))?,
            poses: bend.poses,
            sides: BendSides::Around,
        }))
    }

    /// The horizontal part of a direction, with length 1.
    fn level(&self, direction: Vec3, place: &Place) -> Result<Vec3, LoadError> {
        let level = direction.with_y(0.0).try_normalize();
        level.ok_or_else(|| {
            self.source.error(place, "it must not be vertical: write a horizontal direction, such as (1, 0, 0)")
        })
    }

    fn follow(&self, p: &FollowDesc, place: &Place) -> Result<MotionPart, LoadError> {
        let curve = self.curves.get(self.source, &p.curve, &place.key("curve"))?.clone();
        let travel = match (p.speed, &p.distance) {
            (Some(speed), None) => Travel::Speed { speed: speed.0, start: p.start.0 },
            (None, Some(distance)) => Travel::Keys(distance.track().map(|distance| distance.0)),
            (Some(_), Some(_)) => {
                return Err(self.source.error(&place.key("distance"), "both `speed` and `distance`: remove one"));
            }
            (None, None) => {
                return Err(self
                    .source
                    .error(place, "nothing moves along the curve: give it a `speed` or a `distance`"));
            }
        };
        Ok(MotionPart::Follow(Follower {
            curve,
            travel,
            behind: p.gap.0,
            ends: p.ends,
            face: p.face,
            offset: p.offset.0,
            bank: p.bank.0,
        }))
    }

    /// Converts a clip. Its poses are set later from its mesh (see [`with_poses`]).
    fn clip(&self, clip: &desc::Clip, place: &Place) -> Result<MotionPart, LoadError> {
        let speeds = [clip.speeds.0.0, clip.speeds.1.0];
        if speeds[0] > speeds[1] {
            let message = "the first speed exceeds the second: swap them";
            return Err(self.source.error(&place.key("speeds"), message));
        }
        let poses = PoseBuckets { count: 1, duration: 0.0 };
        Ok(MotionPart::Clip { poses, speeds })
    }

    fn phase(&self, phase: &PhaseDesc, place: &Place) -> Result<Phase, LoadError> {
        Ok(match phase {
            PhaseDesc::Same => Phase::Same,
            PhaseDesc::Random(p) => Phase::Random { seed: p.seed, spread: p.spread.0 },
            PhaseDesc::Wave(p) => Phase::Wave {
                direction: self.unit(p.direction, place, "direction")?,
                length: self.nonzero(p.length.0.into(), place, "length")? as f32,
            },
        })
    }

    fn keys(&self, keys: &[KeyframeDesc], place: &Place) -> Result<Vec<Key<Keyframe>>, LoadError> {
        if keys.is_empty() {
            return Err(self.source.error(place, "keyframes need at least one key"));
        }
        for (i, pair) in keys.windows(2).enumerate() {
            let at = place.index(i + 1);
            if pair[1].time.0 <= pair[0].time.0 {
                return Err(self.source.error(&at.key("time"), "key times must increase: sort the keys"));
            }
            if (pair[0].scale.0 * pair[1].scale.0).min_element() < 0.0 {
                return Err(self.source.error(&at.key("scale"), "the scale passes through 0: keep its signs"));
            }
        }
        let keyframe = |k: &KeyframeDesc| Key {
            time: k.time.0,
            value: Keyframe {
                translation: k.translate.0,
                rotation: k.rotate.rotation(),
                angles: match k.rotate {
                    Turns::Angles(degrees) => degrees.map(f32::to_radians),
                    Turns::AxisAngle(rotation) => {
                        let (z, y, x) = rotation.to_euler(EulerRot::ZYX);
                        Vec3::new(x, y, z)
                    }
                },
                scale: k.scale.0,
            },
            ease: k.ease.into(),
        };
        Ok(keys.iter().map(keyframe).collect())
    }

    fn unit(&self, v: Point, place: &Place, field: &str) -> Result<Vec3, LoadError> {
        Fields { source: self.source, place }.direction(v, field)
    }

    fn nonzero(&self, x: f64, place: &Place, field: &str) -> Result<f64, LoadError> {
        self.source.check(&place.key(field), not_zero(x, &format!("the {field}")))
    }
}
