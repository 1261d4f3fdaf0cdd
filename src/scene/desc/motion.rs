//! `motions: { "name": (parts: [..], phase: ..) }`: movements that instances and groups share.

use super::{Finite, Point, Rotation, Scale, values};
use serde::Deserialize;

/// `(parts: [Spin(axis: (0, 1, 0), period: 4)], phase: wave(direction: (1, 0, 0), length: 10))`: an entry of `motions`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "motions", deny_unknown_fields)]
pub struct MotionDesc {
    /// Movements, whose transforms are multiplied from left to right: the last one is applied to the object first.
    pub parts: Vec<PartDesc>,
    #[serde(default)]
    pub phase: PhaseDesc,
}

/// A part of a motion.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "parts")]
pub enum PartDesc {
    Spin(Spin),
    Sway(Sway),
    Bob(Bob),
    Keyframes(Keyframes),
    Clip(Clip),
}

/// `Spin(axis: (0, 1, 0), period: 4)`: one turn per `period` seconds (negative: the other way).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spin {
    #[serde(default = "values::up")]
    pub axis: Point,
    pub period: Finite,
}

/// `Sway(axis: (0, 0, 1), degrees: 10, period: 3)`: rotation to `degrees` and to -`degrees` once per `period` seconds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sway {
    pub axis: Point,
    pub degrees: Finite,
    pub period: Finite,
}

/// `Bob(offset: (0, 0.5, 0), period: 2)`: translation to `offset` and to -`offset` once per `period` seconds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bob {
    pub offset: Point,
    pub period: Finite,
}

/// `Keyframes(keys: [(time: 0), (time: 2, translate: (0, 1, 0))], repeat: true)`: interpolated transforms.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keyframes {
    /// Keys at increasing times, at least one.
    pub keys: Vec<KeyframeDesc>,
    /// Whether to start over after the last key. Default false: the last key holds.
    #[serde(default)]
    pub repeat: bool,
}

/// `Clip(speeds: (0.9, 1.1))`: how instances of a model with a palette of poses play its clip. Each has a random speed from this
/// range and begins at its phase, which counts in rounds of the clip. Without this part, the speed is 1.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Clip", default, deny_unknown_fields)]
pub struct Clip {
    /// Seconds of the clip per second, from the least to the greatest; negative plays backwards.
    pub speeds: (Finite, Finite),
}

impl Default for Clip {
    fn default() -> Self {
        Self { speeds: (Finite(1.0), Finite(1.0)) }
    }
}

/// A transform at a time in seconds; fields that are left out change nothing.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "key", deny_unknown_fields)]
pub struct KeyframeDesc {
    pub time: Finite,
    #[serde(default)]
    pub translate: Point,
    #[serde(default)]
    pub rotate: Rotation,
    #[serde(default)]
    pub scale: Scale,
}

/// How far ahead each instance is in its motion, in periods (in seconds for keyframes).
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename = "phase", rename_all = "snake_case")]
pub enum PhaseDesc {
    /// All instances move in step.
    #[default]
    Same,
    Random(RandomPhase),
    Wave(Wave),
}

/// `random(seed: 1, spread: 1)`: a random phase for each instance, uniform in 0 to `spread`.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RandomPhase {
    pub seed: u32,
    pub spread: Finite,
}

impl Default for RandomPhase {
    fn default() -> Self {
        Self { seed: 0, spread: Finite(1.0) }
    }
}

/// `wave(direction: (1, 0, 0), length: 10)`: a plane wave, whose phase grows by 1 for every `length` scene units along `direction`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wave {
    pub direction: Point,
    pub length: Finite,
}
