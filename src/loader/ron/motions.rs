//! The `motions` section, checked.

use super::{file::Source, placements::direction, source::Place};
use crate::loader::LoadError;
use crate::scene::{
    Keyframe, Motion, MotionPart, Phase,
    desc::{self, Finite, KeyframeDesc, MotionDesc, PartDesc, PhaseDesc, Point},
    rig::PoseBuckets,
};
use glam::Vec3;

/// No movement.
pub fn still() -> Motion {
    Motion { parts: Vec::new(), phase: Phase::Same }
}

/// A motion for instances that choose from `poses`: as `motion` says, or else at speed 1, all in step.
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

/// Converts one entry; `place` is where it stands.
///
/// # Errors
/// Zero axes, zero periods, key times that do not increase.
pub fn convert(source: &Source, motion: &MotionDesc, place: &Place) -> Result<Motion, LoadError> {
    let at = Fields { source };
    let parts_place = place.key("parts");
    if motion.parts.is_empty() {
        return Err(
            source.error(&parts_place, "a motion needs at least one part: add Spin, Sway, Bob, Keyframes or Clip")
        );
    }
    let parts = motion.parts.iter().enumerate().map(|(i, p)| at.part(p, &parts_place.index(i)));
    Ok(Motion { parts: parts.collect::<Result<_, _>>()?, phase: at.phase(&motion.phase, &place.key("phase"))? })
}

struct Fields<'a> {
    source: &'a Source,
}

impl Fields<'_> {
    fn part(&self, part: &PartDesc, place: &Place) -> Result<MotionPart, LoadError> {
        Ok(match part {
            PartDesc::Spin(p) => MotionPart::Spin {
                axis: self.unit(p.axis, place, "axis")?,
                period: self.nonzero(p.period, place, "period")?,
            },
            PartDesc::Sway(p) => MotionPart::Sway {
                axis: self.unit(p.axis, place, "axis")?,
                angle: p.degrees.0.to_radians(),
                period: self.nonzero(p.period, place, "period")?,
            },
            PartDesc::Bob(p) => {
                MotionPart::Bob { offset: p.offset.0, period: self.nonzero(p.period, place, "period")? }
            }
            PartDesc::Keyframes(p) => {
                MotionPart::Keyframes { keys: self.keys(&p.keys, &place.key("keys"))?, repeat: p.repeat }
            }
            PartDesc::Clip(p) => self.clip(p, place)?,
        })
    }

    /// Converts a clip. Its poses are set later, from the mesh that it is used with (see [`with_poses`]).
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
                length: self.nonzero(p.length, place, "length")?,
            },
        })
    }

    fn keys(&self, keys: &[KeyframeDesc], place: &Place) -> Result<Vec<Keyframe>, LoadError> {
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
        let keyframe = |k: &KeyframeDesc| Keyframe {
            time: k.time.0,
            translation: k.translate.0,
            rotation: k.rotate.0,
            scale: k.scale.0,
        };
        Ok(keys.iter().map(keyframe).collect())
    }

    fn unit(&self, v: Point, place: &Place, field: &str) -> Result<Vec3, LoadError> {
        direction(v.0, &format!("the {field}")).map_err(|m| self.source.error(&place.key(field), m))
    }

    fn nonzero(&self, x: Finite, place: &Place, field: &str) -> Result<f32, LoadError> {
        match x.0 {
            0.0 => Err(self.source.error(&place.key(field), format!("the {field} must not be 0"))),
            x => Ok(x),
        }
    }
}
