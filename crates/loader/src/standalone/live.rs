//! Determines the parts of a model that change while clips are played. Everything else stays constant over all frames.

use throng_scene::{
    NONE,
    animated::Track,
    rig::{Channel, Interpolation, Local, Playback, Property, Rig},
};

/// For each node of a rig, whether its transform, its morph weights and its visibility change over time.
#[derive(Debug, Default)]
pub struct Live {
    worlds: Vec<bool>,
    weights: Vec<bool>,
    visibility: Vec<bool>,
}

impl Live {
    /// Determines the changing properties of `rig` while `playbacks` are played. O(nodes + keys).
    pub fn new(rig: &Rig, playbacks: &[Playback]) -> Self {
        let none = vec![false; rig.nodes.len()];
        let mut live = Self { worlds: none.clone(), weights: none.clone(), visibility: none };
        let played = playbacks.iter().filter(|playback| playback.speed != 0.0);
        let clips = played.filter_map(|playback| rig.clips.get(playback.clip as usize));
        for channel in clips.flat_map(|clip| &clip.channels) {
            if !varies(channel.interpolation, &channel.times, &channel.values) {
                continue;
            }
            live.drive(rig, channel);
        }
        // Parents come before children.
        for (index, node) in rig.nodes.iter().enumerate() {
            let carried = live.worlds.get(node.parent as usize).copied();
            live.worlds[index] |= carried.unwrap_or(false);
            live.visibility[index] |= live.appears(node.parent);
        }
        live
    }

    fn drive(&mut self, rig: &Rig, channel: &Channel) {
        let index = channel.node as usize;
        let Some(node) = rig.nodes.get(index) else {
            return;
        };
        match (channel.property, &node.local) {
            (Property::Weights, _) => self.weights[index] = !node.weights.is_empty(),
            (Property::Visibility, _) => self.visibility[index] = true,
            (_, Local::Parts(_)) => self.worlds[index] = true,
            (_, Local::Matrix(_)) => {}
        }
    }

    /// Whether any node moves, deforms or changes visibility.
    pub fn any(&self) -> bool {
        self.worlds.iter().chain(&self.weights).chain(&self.visibility).any(|&changes| changes)
    }

    /// Whether a node's visibility changes, by itself or through its parents.
    pub fn appears(&self, node: u32) -> bool {
        self.visibility.get(node as usize).copied().unwrap_or(false)
    }

    /// Whether a node moves, by itself or through its parents.
    pub fn moves(&self, node: u32) -> bool {
        self.worlds.get(node as usize).copied().unwrap_or(false)
    }

    /// Whether vertices move within a mesh at `node` with this skin.
    pub fn deforms(&self, rig: &Rig, node: u32, skin: u32) -> bool {
        let joints = match rig.skins.get(skin as usize) {
            Some(skin) if !skin.joints.is_empty() => &skin.joints[..],
            _ => &[],
        };
        let morphs = self.weights.get(node as usize).copied().unwrap_or(false);
        morphs || (skin != NONE && joints.iter().any(|&joint| self.moves(joint)))
    }
}

/// Whether any of `tracks` changes over time.
pub fn any_varies<'a>(mut tracks: impl Iterator<Item = &'a Track>) -> bool {
    tracks.any(|t| varies(t.interpolation, &t.times, &t.values))
}

/// Whether keys give a value that changes over time.
pub fn varies(interpolation: Interpolation, times: &[f32], values: &[f32]) -> bool {
    let keys = times.len();
    if keys < 2 {
        return false;
    }
    let per_key = values.len() / keys;
    let Some(first) = values.get(..per_key) else {
        return false;
    };
    if interpolation != Interpolation::CubicSpline {
        return values.chunks(per_key.max(1)).any(|key| key != first);
    }
    let count = per_key / 3;
    values.chunks(per_key.max(1)).any(|key| {
        let (tangents, value) = (key.iter().enumerate(), count..2 * count);
        let bends = tangents.filter(|(i, _)| !value.contains(i));
        key.get(value.clone()) != first.get(value.clone()) || bends.into_iter().any(|(_, &t)| t != 0.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{Affine3, Quat, Vec3};
    use throng_scene::rig::{Clip, RigNode, Skin, Trs};

    fn node(parent: u32, local: Local) -> RigNode {
        RigNode { name: String::new(), parent, local, weights: vec![0.0], visible: true }
    }

    fn channel(node: u32, property: Property, values: &[f32]) -> Channel {
        Channel { node, property, interpolation: Interpolation::Linear, times: vec![0.0, 1.0], values: values.to_vec() }
    }

    /// A chain of two nodes, a separate node, and a node with a matrix.
    fn rig(channels: Vec<Channel>) -> Rig {
        let parts = Local::Parts(Trs { translation: Vec3::ZERO, rotation: Quat::IDENTITY, scale: Vec3::ONE });
        let matrix = Local::Matrix(Affine3::IDENTITY);
        Rig {
            nodes: vec![node(NONE, parts), node(0, parts), node(NONE, parts), node(NONE, matrix)],
            skins: [1, 2]
                .map(|joint| Skin {
                    name: String::new(),
                    joints: vec![joint],
                    joint_from_mesh: vec![Affine3::IDENTITY],
                })
                .to_vec(),
            clips: vec![Clip { name: String::new(), duration: 1.0, channels, ..Clip::default() }],
        }
    }

    fn live(channels: Vec<Channel>, speed: f32) -> (Live, Rig) {
        let rig = rig(channels);
        let playback = Playback { speed: speed.into(), ..Playback::default() };
        (Live::new(&rig, &[playback]), rig)
    }

    #[test]
    fn children_and_skins_move_with_their_nodes() {
        let rise = channel(0, Property::Translation, &[0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
        let (live, rig) = live(vec![rise], 1.0);
        assert_eq!([0, 1, 2, 3].map(|n| live.moves(n)), [true, true, false, false]);
        assert_eq!([0, 1].map(|skin| live.deforms(&rig, 2, skin)), [true, false]);
        assert!(!live.deforms(&rig, 0, NONE));
    }

    #[test]
    fn what_hangs_from_a_node_appears_with_it_and_stays_where_it_is() {
        let blink =
            |values: &[f32]| Channel { interpolation: Interpolation::Step, ..channel(0, Property::Visibility, values) };
        let (blinking, _) = live(vec![blink(&[0.0, 1.0])], 1.0);
        assert_eq!([0, 1, 2, 3].map(|n| blinking.appears(n)), [true, true, false, false]);
        assert!(blinking.any() && !blinking.moves(0));
        assert!(!live(vec![blink(&[1.0, 1.0])], 1.0).0.any());
    }

    #[test]
    fn weights_move_vertices_and_no_nodes() {
        let (live, rig) = live(vec![channel(2, Property::Weights, &[0.0, 1.0])], 1.0);
        assert!(live.deforms(&rig, 2, NONE) && !live.moves(2) && live.any());
    }

    #[test]
    fn constant_channels_and_frozen_clips_move_nothing() {
        let constant = channel(0, Property::Scale, &[2.0, 2.0, 2.0, 2.0, 2.0, 2.0]);
        let single = Channel { times: vec![0.5], values: vec![1.0; 3], ..constant.clone() };
        let of_matrix = channel(3, Property::Scale, &[1.0, 1.0, 1.0, 2.0, 2.0, 2.0]);
        assert!(!live(vec![constant, single, of_matrix], 1.0).0.any());
        let rise = channel(0, Property::Translation, &[0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
        assert!(!live(vec![rise], 0.0).0.any());
    }

    #[test]
    fn a_spline_between_equal_values_moves_by_its_tangents() {
        let spline = |tangent: f32| Channel {
            interpolation: Interpolation::CubicSpline,
            ..channel(2, Property::Weights, &[0.0, 1.0, tangent, 0.0, 1.0, 0.0])
        };
        assert!(live(vec![spline(0.5)], 1.0).0.any());
        assert!(!live(vec![spline(0.0)], 1.0).0.any());
    }
}
