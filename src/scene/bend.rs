//! Movement that bends a mesh, as wind does a plant.

use glam::Vec3;

/// A bend by height that comes and goes: instances choose from poses at even steps of the angle. Their mesh is the one at rest, which the
/// others follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bend {
    /// Level unit vector in the space in which instances are placed.
    pub direction: Vec3,
    /// Greatest angle between the trunk's top and its direction at rest, in radians.
    pub angle: f32,
    /// Seconds to go forth and back.
    pub period: f64,
    /// Share of the movement that comes and goes in gusts, 0 to 1.
    pub gusts: f32,
    /// Seed of the gusts.
    pub seed: u32,
    /// Share of the height below which nothing bends.
    pub from: f32,
    /// Exponent of the angle over the height: at 1, the bend is an arc.
    pub stiffness: f32,
    /// Number of poses to either side, at least 1.
    pub poses: u32,
    /// Sides to which poses bend.
    pub sides: BendSides,
}

/// The sides of a mesh to which poses bend it, each with its opposite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BendSides {
    /// One, for instances that are all turned alike: a level unit vector in the space of the mesh.
    One(Vec3),
    /// [`Self::AROUND`] of them, evenly from +X to +Z.
    Around,
}

impl BendSides {
    /// Number of sides for instances that are turned.
    pub const AROUND: u32 = 4;
}
