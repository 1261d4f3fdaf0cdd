//! Motions of instances, relative to their placement.

use crate::curve::Curve;
use crate::rig::PoseBuckets;
use crate::{Bend, Ends, Face, Follow, Rotations, Track};
use glam::{Quat, Vec3};
use std::sync::Arc;

/// A movement in the instance's own space, shared by many instances that differ in phase.
#[derive(Clone, Debug)]
pub struct Motion {
    /// Parts whose transforms are multiplied from left to right: the last one is applied to the object first.
    pub parts: Vec<MotionPart>,
    /// Variation between instances that share the motion.
    pub phase: Phase,
}

/// A kind of movement, as a function of time.
#[derive(Clone, Debug)]
pub enum MotionPart {
    /// Steady rotation about a unit axis, one revolution per `period` seconds.
    Spin {
        /// Unit vector.
        axis: Vec3,
        /// Seconds per revolution.
        period: f64,
    },
    /// Rotation back and forth by up to `angle` radians, one swing per `period` seconds.
    Sway {
        /// Unit vector.
        axis: Vec3,
        /// Radians to either side.
        angle: f32,
        /// Seconds per cycle.
        period: f64,
    },
    /// Translation along ± `offset`, one swing per `period` seconds.
    Bob {
        /// In scene units.
        offset: Vec3,
        /// Seconds per cycle.
        period: f64,
    },
    /// Interpolated poses.
    Keyframes {
        /// Poses over time.
        track: Track<Keyframe>,
        /// Interpolation of rotations.
        rotations: Rotations,
    },
    /// Movement along a curve.
    Follow(Follower),
    /// Rotation that points +X at an object or, without one, at a point.
    LookAt {
        /// Point in scene units, if there is no object.
        point: Vec3,
        /// The object to point at. It may move.
        thing: Option<Follow>,
    },
    /// Smooth random movement.
    Noise(Noise),
    /// No movement: instances show the poses of a bending mesh.
    Bend(Bend),
    /// No movement: instances show successive poses of a clip. Their mesh is the first of `poses.count`, one per pose. Each instance has a
    /// random speed from `speeds`, a pure function of its index.
    Clip {
        /// Poses of the clip.
        poses: PoseBuckets,
        /// Minimum and maximum speed, in seconds of the clip per second.
        speeds: [f32; 2],
    },
}

/// Translation, rotation and scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Keyframe {
    /// In scene units.
    pub translation: Vec3,
    /// Applied after the scale.
    pub rotation: Quat,
    /// Radians about x, then y, then z, equivalent to `rotation`; for [`Rotations::Euler`].
    pub angles: Vec3,
    /// Factors along x, y and z.
    pub scale: Vec3,
}

/// Movement along a curve, in the space in which the object is placed.
#[derive(Clone, Debug)]
pub struct Follower {
    /// The curve.
    pub curve: Arc<Curve>,
    /// Position on the curve as a function of time.
    pub travel: Travel,
    /// Distance between this object and the first one.
    pub behind: f32,
    /// Behaviour beyond the ends of the curve.
    pub ends: Ends,
    /// Direction of the object's +X axis.
    pub face: Face,
    /// Offset to the right, up, and ahead.
    pub offset: Vec3,
    /// Banking in bends: 1 balances a gravity of 9.81 units/s².
    pub bank: f32,
}

/// Distance along a curve over time.
#[derive(Clone, Debug)]
pub enum Travel {
    /// Constant speed.
    Speed {
        /// Units per second.
        speed: f64,
        /// Distance at time 0.
        start: f64,
    },
    /// Distances by time.
    Keys(Track<f32>),
}

/// Smooth random movement, a pure function of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Maximum translation along each axis.
    pub translation: Vec3,
    /// Maximum rotation about each axis, in radians.
    pub rotation: Vec3,
    /// Approximate period in seconds.
    pub period: f64,
    /// Seed of the movement.
    pub seed: u32,
}

/// Phase of an instance's movement at time 0, in periods (in seconds for keyframes, in lengths of the curve for movement along curves).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Phase {
    /// One phase for all instances.
    Same,
    /// A random phase, a pure function of the seed and the instance's index.
    Random {
        /// Seed of the phases.
        seed: u32,
        /// Upper limit of the phases. The lower limit is 0.
        spread: f32,
    },
    /// A plane wave: `dot(local translation, direction) / length`.
    Wave {
        /// Unit vector.
        direction: Vec3,
        /// Wavelength in scene units.
        length: f32,
    },
}
