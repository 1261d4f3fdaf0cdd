//! Movement that bends a mesh, like a plant in wind.

use glam::Vec3;

/// A bend with height that varies over time. Instances select from poses at equal steps of the angle. Their mesh is the pose at rest; the
/// other poses follow it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bend {
    /// Horizontal unit vector, in the space in which instances are placed.
    pub direction: Vec3,
    /// Maximum angle between the top of the trunk and its direction at rest, in radians.
    pub angle: f32,
    /// Seconds per cycle.
    pub period: f64,
    /// Share of the movement that comes in gusts, 0 to 1.
    pub gusts: f32,
    /// Seed of the gusts.
    pub seed: u32,
    /// Relative height at which the bend begins.
    pub from: f32,
    /// Exponent of the angle as a function of height: at 1, the bend is an arc.
    pub stiffness: f32,
    /// Number of poses on either side, at least 1.
    pub poses: u32,
    /// Directions in which poses bend.
    pub sides: BendSides,
}

/// Directions in which poses bend a mesh, each with its opposite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BendSides {
    /// One direction, for instances with equal rotation: a horizontal unit vector in the space of the mesh.
    One(Vec3),
    /// [`Self::AROUND`] of them, evenly from +X to +Z.
    Around,
}

impl BendSides {
    /// Number of sides for instances that are turned.
    pub const AROUND: u32 = 4;
}
