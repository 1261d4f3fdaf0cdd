//! Poses of a skeleton: rotations and offsets of joints, relative to the bind pose.

use super::skeleton::Skeleton;
use glam::{Affine3A, Mat3, Quat, Vec3};

/// A rotation and an offset for every joint, in the axes of its parent.
#[derive(Clone, Debug)]
pub struct Pose {
    pub turns: Vec<Quat>,
    pub offsets: Vec<Vec3>,
}

impl Pose {
    pub fn rest(skeleton: &Skeleton) -> Self {
        let count = skeleton.joints.len();
        Self { turns: vec![Quat::IDENTITY; count], offsets: vec![Vec3::ZERO; count] }
    }

    /// Rotates a joint further: `pitch` up, `yaw` to the left, then `roll`, in radians.
    pub fn turn(&mut self, joint: usize, roll: f32, yaw: f32, pitch: f32) {
        let turn = Quat::from_rotation_y(yaw) * Quat::from_rotation_z(pitch) * Quat::from_rotation_x(roll);
        self.turns[joint] = turn * self.turns[joint];
    }

    /// `model_from_joint` of every joint.
    pub fn worlds(&self, skeleton: &Skeleton) -> Vec<Affine3A> {
        let mut worlds: Vec<Affine3A> = Vec::with_capacity(skeleton.joints.len());
        for i in 0..skeleton.joints.len() {
            let local = self.local(skeleton, i);
            let world = skeleton.joints[i].parent.map_or(local, |parent| worlds[parent] * local);
            worlds.push(world);
        }
        worlds
    }

    /// `parent_from_joint`.
    fn local(&self, skeleton: &Skeleton, joint: usize) -> Affine3A {
        let from = skeleton.joints[joint].parent.map_or(Vec3::ZERO, |parent| skeleton.joints[parent].at);
        let place = skeleton.joints[joint].at - from + self.offsets[joint];
        Affine3A::from_rotation_translation(self.turns[joint], place)
    }

    /// Bends a limb of two bones so that its end reaches `target`, or comes as near as possible. The joint in between points towards
    /// `pole`. `[upper, lower]` are joints; the end is the tip of the lower one.
    pub fn reach(&mut self, skeleton: &Skeleton, [upper, lower]: [usize; 2], target: Vec3, pole: Vec3) {
        let [a, b] = [upper, lower].map(|joint| &skeleton.joints[joint]);
        let (length_a, length_b) = (a.at.distance(b.at), b.at.distance(b.tip));
        let worlds = self.worlds(skeleton);
        let base = a.parent.map_or(Affine3A::IDENTITY, |parent| worlds[parent]);
        let root = Vec3::from(worlds[upper].translation);
        let longest = (length_a + length_b) * 0.9995;
        let shortest = (length_a - length_b).abs() * 1.001 + 1e-4;
        let reach = (target - root).length().clamp(shortest, longest);
        let way = (target - root).normalize_or(Vec3::NEG_Y);
        let side = (pole - way * pole.dot(way)).normalize_or(way.any_orthonormal_vector());
        let cosine = (length_a * length_a + reach * reach - length_b * length_b) / (2.0 * length_a * reach);
        let cosine = cosine.clamp(-1.0, 1.0);
        let knee = root + (way * cosine + side * (1.0 - cosine * cosine).sqrt()) * length_a;
        let hinge = way.cross(side);
        let rest_hinge = {
            let (way, bend) = (b.tip - a.at, b.at - a.at);
            way.cross(bend).normalize_or(hinge)
        };
        let turn_a = frame(knee - root, hinge) * frame(b.at - a.at, rest_hinge).transpose();
        let end = root + way * reach;
        let turn_b = frame(end - knee, hinge) * frame(b.tip - b.at, rest_hinge).transpose();
        let (turn_a, turn_b) = (Quat::from_mat3(&turn_a), Quat::from_mat3(&turn_b));
        let (_, base, _) = base.to_scale_rotation_translation();
        self.turns[upper] = (base.inverse() * turn_a).normalize();
        self.turns[lower] = (turn_a.inverse() * turn_b).normalize();
    }

    /// Bends a limb of two bones so that its end keeps its rest position while the body moves.
    pub fn plant(&mut self, skeleton: &Skeleton, [upper, lower]: [usize; 2]) {
        let [a, b] = [upper, lower].map(|joint| &skeleton.joints[joint]);
        self.reach(skeleton, [upper, lower], b.tip, b.at - a.at);
    }

    /// Rotates a joint so that its bone has its rest direction, rotated by `turn` in model axes.
    pub fn face(&mut self, skeleton: &Skeleton, joint: usize, turn: Quat) {
        let worlds = self.worlds(skeleton);
        let parent = skeleton.joints[joint].parent.map_or(Affine3A::IDENTITY, |parent| worlds[parent]);
        let (_, parent, _) = parent.to_scale_rotation_translation();
        self.turns[joint] = (parent.inverse() * turn).normalize();
    }
}

/// Orthonormal axes: along a bone, its hinge, and the direction across both.
fn frame(bone: Vec3, hinge: Vec3) -> Mat3 {
    let x = bone.normalize_or(Vec3::X);
    let z = (hinge - x * hinge.dot(x)).normalize_or(x.any_orthonormal_vector());
    Mat3::from_cols(x, z.cross(x), z)
}
