//! Joints and the bones between them, in the pose that the skin is modelled in.
//!
//! There, every joint's axes are those of the model, so a rotation means the same at every joint:
//! about Z it lifts what lies ahead (+X), about Y it turns it to the left (-Z), about X it rolls it.

use glam::Vec3;

/// A joint and the bone that hangs from it.
#[derive(Clone, Debug)]
pub struct Joint {
    pub name: String,
    /// An earlier joint.
    pub parent: Option<usize>,
    /// Where the joint is, which is one end of its bone.
    pub at: Vec3,
    /// The other end of the bone.
    pub tip: Vec3,
    /// Radius of the flesh around the bone at both ends.
    pub radii: [f32; 2],
    /// Width over which the skin passes from this bone to the next, as share of its length.
    pub softness: f32,
    /// Parts of the body whose skin it may move, as bits.
    pub parts: u32,
}

impl Joint {
    /// Distance of a point from the bone, and from the flesh around it.
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

    /// A row of joints along `points`, each with the bone to the next point; returns their indices.
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

/// What the bones of a chain have in common; see [`Joint`].
#[derive(Clone, Copy, Debug)]
pub struct Flesh {
    pub softness: f32,
    pub parts: u32,
}
