//! Joints and bones in the bind pose.
//!
//! In the bind pose, all joints have the axes of the model. A rotation therefore has one meaning at all joints: about Z it lifts the
//! parts ahead (+X), about Y it turns them to the left (-Z), about X it rolls them.

use glam::Vec3;

/// A joint and its bone.
#[derive(Clone, Debug)]
pub struct Joint {
    pub name: String,
    /// Parent joint; it has a smaller index.
    pub parent: Option<usize>,
    /// Position of the joint, which is the start of its bone.
    pub at: Vec3,
    /// End of the bone.
    pub tip: Vec3,
    /// Radius of the flesh around the bone at both ends.
    pub radii: [f32; 2],
    /// Width of the skin's transition to the next bone, relative to the bone's length.
    pub softness: f32,
    /// Body parts whose skin the joint may move, as bits.
    pub parts: u32,
}

impl Joint {
    /// Distances of a point from the bone and from the flesh around it.
    pub fn distances(&self, p: Vec3) -> (f32, f32) {
        let bone = self.tip - self.at;
        let along = (p - self.at).dot(bone) / bone.length_squared().max(1e-12);
        let t = along.clamp(0.0, 1.0);
        let from_bone = p.distance(self.at + bone * t);
        let radius = self.radii[0] + (self.radii[1] - self.radii[0]) * t;
        (from_bone, from_bone - radius)
    }

    /// Length of the bone.
    pub fn length(&self) -> f32 {
        self.at.distance(self.tip)
    }
}

/// All joints, parents first.
#[derive(Clone, Debug, Default)]
pub struct Skeleton {
    pub joints: Vec<Joint>,
}

impl Skeleton {
    pub fn add(&mut self, joint: Joint) -> usize {
        self.joints.push(joint);
        self.joints.len() - 1
    }

    /// Adds a chain of joints along `points`, each with a bone to the next point. Returns their indices.
    pub fn chain(&mut self, names: &str, parent: usize, points: &[(Vec3, f32)], like: Flesh) -> Vec<usize> {
        let mut parent = parent;
        let single = points.len() == 2;
        let bones = points.windows(2).enumerate();
        bones
            .map(|(i, ends)| {
                parent = self.add(Joint {
                    name: if single { names.into() } else { format!("{names}_{}", i + 1) },
                    parent: Some(parent),
                    at: ends[0].0,
                    tip: ends[1].0,
                    radii: [ends[0].1, ends[1].1],
                    softness: like.softness,
                    parts: like.parts,
                });
                parent
            })
            .collect()
    }
}

/// Properties shared by the bones of a chain; see [`Joint`].
#[derive(Clone, Copy, Debug)]
pub struct Flesh {
    pub softness: f32,
    pub parts: u32,
}
