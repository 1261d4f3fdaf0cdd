//! Conversion of animations to clips (glTF 2.0, 3.11): channels of the rig's nodes, and tracks of other values, with validated keys.

use super::{
    fault::{Fault, fault},
    file::{
        accessor,
        document::{Document, out_of_range},
        extensions::ANIMATION_POINTER,
        json,
    },
    nodes::{Hierarchy, name, unit_quaternion},
    pointers,
};
use gltf::json::{
    animation::{self, Interpolation as Mode, Property as Path},
    validation::Checked,
};
use rayon::prelude::*;
use std::collections::HashSet;
use throng_scene::{
    NONE,
    animated::{Target, Track},
    rig::{Channel, Clip, Interpolation, Local, Property, RigNode},
};

/// Reads one clip per animation of the file. Channels of nodes outside the rig are dropped. An animation with indices out of range, or with
/// invalid keys, becomes a clip marked as faulty, with a warning.
///
/// # Errors
/// If keys exceed the memory budget.
pub fn read(document: &Document, hierarchy: &Hierarchy, nodes: &[RigNode]) -> Result<Vec<Clip>, Fault> {
    let reader = Reader { document, hierarchy, nodes };
    (0..document.root.animations.len()).into_par_iter().map(|index| reader.clip_or_fault(index)).collect()
}

struct Reader<'a> {
    document: &'a Document<'a>,
    hierarchy: &'a Hierarchy,
    nodes: &'a [RigNode],
}

/// The target of a channel, before its keys are read.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Drive {
    Node { node: u32, property: Property },
    Value(Target),
}

impl Reader<'_> {
    fn clip_or_fault(&self, index: usize) -> Result<Clip, Fault> {
        let own_name = name(self.document.root.animations[index].name.as_deref(), "animation", index);
        let faulty = |fault: &Fault| Clip { name: own_name.clone(), fault: Some(fault.line()), ..Clip::default() };
        let at = format!("/animations/{index}");
        let of_this =
            |fault: &&Fault| fault.path.strip_prefix(&at).is_some_and(|rest| !rest.starts_with(char::is_numeric));
        if let Some(fault) = self.document.replaced.iter().filter(|fault| !fault.path.ends_with("/name")).find(of_this)
        {
            return Ok(faulty(fault));
        }
        let clip = self.clip(index);
        let fault = clip.as_ref().err().map(faulty);
        let clip = self.document.or_warn(clip, &format!("the animation `{own_name}` is left out"))?;
        Ok(clip.or(fault).unwrap_or_default())
    }

    fn clip(&self, index: usize) -> Result<Clip, Fault> {
        let animation = &self.document.root.animations[index];
        let mut animated = HashSet::new();
        let mut clip = Clip { name: name(animation.name.as_deref(), "animation", index), ..Clip::default() };
        for (k, channel) in animation.channels.iter().enumerate() {
            let path = format!("/animations/{index}/channels/{k}");
            let Some(target) = self.target(channel, &path)? else {
                continue;
            };
            if !animated.insert(target) {
                let message = "an earlier channel drives the same property; this one is ignored";
                self.document.warnings.add(&path, message);
                continue;
            }
            let keys = self.keys(animation, index, channel, &path, target)?;
            clip.duration = keys.times.iter().copied().fold(clip.duration, f32::max);
            add(&mut clip, target, keys);
        }
        Ok(clip)
    }

    /// The target of a channel; None if the channel has no effect.
    fn target(&self, channel: &animation::Channel, path: &str) -> Result<Option<Drive>, Fault> {
        let warn = |message: &str| {
            self.document.warnings.add(path, message);
            Ok(None)
        };
        if json::is_absent(channel.target.node) {
            return match json::pointer_of(&channel.target) {
                None => Ok(None),
                Some(pointer) => self.pointed_at(&pointer, path),
            };
        }
        let node = channel.target.node.value();
        let Some(&rig_node) = self.hierarchy.rig_index.get(node) else {
            let count = self.document.root.nodes.len();
            let message = out_of_range("node", node, count);
            return Err(fault(format!("{path}/target/node"), message));
        };
        let property = match channel.target.path {
            Checked::Valid(Path::Translation) => Property::Translation,
            Checked::Valid(Path::Rotation) => Property::Rotation,
            Checked::Valid(Path::Scale) => Property::Scale,
            Checked::Valid(Path::MorphTargetWeights) => Property::Weights,
            Checked::Invalid => {
                return warn("an unknown property is animated; this channel is ignored");
            }
        };
        if rig_node == NONE {
            return Ok(None);
        }
        let animated = &self.nodes[rig_node as usize];
        match (property, animated.local) {
            (Property::Weights, _) if animated.weights.is_empty() => {
                warn("the node has no morph targets; this channel is ignored")
            }
            (Property::Translation | Property::Rotation | Property::Scale, Local::Matrix(_)) => {
                warn("the node has a matrix, which cannot be animated; this channel is ignored")
            }
            _ => Ok(Some(Drive::Node { node: rig_node, property })),
        }
    }

    /// The value to which a pointer refers. None, with a warning, if it cannot be animated.
    fn pointed_at(&self, pointer: &str, path: &str) -> Result<Option<Drive>, Fault> {
        let place = || format!("{path}/target/extensions/{}/pointer", ANIMATION_POINTER);
        if let Some(node) = pointers::visibility(pointer) {
            let all = &self.hierarchy.rig_index;
            let node = all.get(node).ok_or_else(|| fault(place(), out_of_range("node", node, all.len())))?;
            return Ok((*node != NONE).then_some(Drive::Node { node: *node, property: Property::Visibility }));
        }
        let target = pointers::target(self.document, pointer).map_err(|m| fault(place(), m))?;
        if target.is_none() {
            let message = format!("`{pointer}` is nothing that can be animated; this channel is ignored");
            self.document.warnings.add(path, &message);
        }
        Ok(target.map(Drive::Value))
    }

    fn keys(
        &self,
        animation: &animation::Animation,
        index: usize,
        channel: &animation::Channel,
        path: &str,
        target: Drive,
    ) -> Result<Keys, Fault> {
        let sampler = channel.sampler.value();
        let at = format!("/animations/{index}/samplers/{sampler}");
        let sampler = animation.samplers.get(sampler).ok_or_else(|| {
            let count = animation.samplers.len();
            fault(format!("{path}/sampler"), out_of_range("sampler", sampler, count))
        })?;
        let interpolation = match sampler.interpolation {
            Checked::Valid(Mode::Step) => Interpolation::Step,
            Checked::Valid(Mode::Linear) => Interpolation::Linear,
            Checked::Valid(Mode::CubicSpline) => Interpolation::CubicSpline,
            Checked::Invalid => {
                self.document.warnings.add(&format!("{at}/interpolation"), "unknown interpolation; LINEAR is taken");
                Interpolation::Linear
            }
        };
        let mut keys = Keys {
            times: self.times(sampler, &at)?,
            values: self.values(sampler, &at, target)?,
            interpolation,
            path: at,
        };
        if let Drive::Node { property: Property::Visibility, .. } = target {
            self.step(&mut keys);
        }
        let components = match target {
            Drive::Node { node, property } => match property {
                Property::Translation | Property::Scale => 3,
                Property::Rotation => 4,
                Property::Weights => self.nodes[node as usize].weights.len(),
                Property::Visibility => 1,
            },
            Drive::Value(target) => target.components(),
        };
        let per_key = components * if keys.interpolation == Interpolation::CubicSpline { 3 } else { 1 };
        keys.check(per_key)?;
        if keys.remove_unordered(per_key) {
            let message = "times do not increase; keys that are out of order are ignored";
            self.document.warnings.add(&keys.path, message);
        }
        if let Drive::Node { property: Property::Rotation, .. } = target {
            keys.normalise_rotations(per_key);
        }
        Ok(keys)
    }

    /// Converts the keys' numbers to booleans, which change only in steps (KHR_animation_pointer).
    fn step(&self, keys: &mut Keys) {
        keys.values.iter_mut().for_each(|value| *value = f32::from(*value != 0.0));
        if keys.interpolation != Interpolation::Step {
            let message = "truth values change in steps only; the interpolation is taken as STEP";
            self.document.warnings.add(&keys.path, message);
            keys.interpolation = Interpolation::Step;
        }
    }

    fn times(&self, sampler: &animation::Sampler, path: &str) -> Result<Vec<f32>, Fault> {
        let elements = accessor::elements(self.document, sampler.input, &format!("{path}/input"))?;
        let times = elements.floats::<1>(self.document.budget)?;
        Ok(times.into_flattened())
    }

    fn values(&self, sampler: &animation::Sampler, path: &str, target: Drive) -> Result<Vec<f32>, Fault> {
        let budget = self.document.budget;
        let elements = accessor::elements(self.document, sampler.output, &format!("{path}/output"))?;
        let width = match target {
            Drive::Node { property, .. } => match property {
                Property::Translation | Property::Scale => 3,
                Property::Rotation => 4,
                Property::Weights | Property::Visibility => 1,
            },
            Drive::Value(target) => target.components(),
        };
        Ok(match width {
            1 => elements.floats::<1>(budget)?.into_flattened(),
            2 => elements.floats::<2>(budget)?.into_flattened(),
            3 => elements.floats::<3>(budget)?.into_flattened(),
            _ => elements.floats::<4>(budget)?.into_flattened(),
        })
    }
}

fn add(clip: &mut Clip, drive: Drive, keys: Keys) {
    let Keys { interpolation, times, values, .. } = keys;
    match drive {
        Drive::Node { node, property } => clip.channels.push(Channel { node, property, interpolation, times, values }),
        Drive::Value(target) => clip.tracks.push(Track { target, interpolation, times, values }),
    }
}

struct Keys {
    /// JSON pointer to the sampler.
    path: String,
    interpolation: Interpolation,
    times: Vec<f32>,
    values: Vec<f32>,
}

impl Keys {
    fn check(&self, per_key: usize) -> Result<(), Fault> {
        let refuse = |message: String| Err(fault(&self.path, message));
        if self.times.is_empty() {
            return refuse("there are no keys".to_owned());
        }
        if self.times.iter().any(|t| !t.is_finite() || *t < 0.0) {
            return refuse("times must be finite and not negative".to_owned());
        }
        if self.values.iter().any(|x| !x.is_finite()) {
            return refuse("values must be finite".to_owned());
        }
        match self.times.len().checked_mul(per_key) {
            Some(needed) if needed == self.values.len() => Ok(()),
            _ => refuse(format!(
                "{} keys need {per_key} numbers each, but there are {}",
                self.times.len(),
                self.values.len()
            )),
        }
    }

    /// Drops keys that are not later than all previous ones. Returns whether there were any.
    fn remove_unordered(&mut self, per_key: usize) -> bool {
        let mut kept = 0;
        let mut latest = -1.0;
        for key in 0..self.times.len() {
            let time = self.times[key];
            if time <= latest {
                continue;
            }
            latest = time;
            self.times[kept] = time;
            self.values.copy_within(key * per_key..(key + 1) * per_key, kept * per_key);
            kept += 1;
        }
        let removed = kept < self.times.len();
        self.times.truncate(kept);
        self.values.truncate(kept * per_key);
        removed
    }

    /// Normalises rotations, but not the tangents of splines. A quaternion of length zero becomes the identity.
    fn normalise_rotations(&mut self, per_key: usize) {
        let value_at = if per_key == 12 { 4 } else { 0 };
        for key in self.values.chunks_exact_mut(per_key) {
            if let Some(value) = key[value_at..].first_chunk_mut::<4>() {
                *value = unit_quaternion(*value).unwrap_or_default().to_array();
            }
        }
    }
}
