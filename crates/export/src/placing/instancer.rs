//! Point instancers.

use super::{Placing, Prototype, parts::Parts};
use crate::shapes::extent;
use glam::{Affine3, Quat, Vec3};
use std::collections::HashMap;
use throng_base::math::Aabb;
use throng_usd::{LayerValue, Prim, names::Names};

/// Number of a prototype that no copy has shown yet.
const UNKNOWN: i32 = -1;
/// Name of the scope of prototypes.
const PROTOTYPES: &str = "Prototypes";

/// Copies with their parts: one for all samples, or one per sample.
pub type Copies = [(u32, Vec<Parts>)];

impl Placing<'_> {
    /// A point instancer at a path.
    pub fn instancer(&mut self, name: String, path: &str, copies: &Copies) -> Prim {
        let mut prim = Prim::new(name, "PointInstancer");
        let samples = self.times.of_objects().len();
        let (prototypes, shown) = self.numbered(copies);
        let codes: Vec<f64> = self.times.of_objects().iter().map(|sample| sample.code).collect();
        // What stays is written once.
        let until = |moves: bool| if moves { samples } else { samples.min(1) };
        let numbers = by_sample(&shown, until(shown.iter().any(|all| all.len() > 1)));
        let numbers = codes.iter().copied().zip(numbers.into_iter().map(LayerValue::Ints));
        prim.set_over_time("protoIndices", "int[]", numbers.collect());
        let moving = until(copies.iter().any(|(_, parts)| parts.len() > 1));
        let over_time = |prim: &mut Prim, (name, kind), samples: usize, of: &dyn Fn(usize) -> LayerValue| {
            prim.set_over_time(name, kind, (0..samples).map(|at| (codes[at], of(at))).collect());
        };
        let all = |at: usize| copies.iter().map(move |(_, parts)| *parts.get(at).unwrap_or(&parts[0]));
        let float3s =
            |at: usize, of: fn(Parts) -> Vec3| LayerValue::Float3s(all(at).map(|parts| of(parts).to_array()).collect());
        over_time(&mut prim, ("positions", "point3f[]"), moving, &|at| float3s(at, |parts| parts.translation));
        let parts = || copies.iter().flat_map(|(_, parts)| parts);
        if parts().any(|parts| parts.rotation != Quat::IDENTITY) {
            let rotations = |at: usize| all(at).map(|parts| parts.rotation).collect::<Vec<_>>();
            over_time(&mut prim, ("orientations", "quath[]"), moving, &|at| LayerValue::HalfQuats(rotations(at)));
            over_time(&mut prim, ("orientationsf", "quatf[]"), moving, &|at| LayerValue::Quats(rotations(at)));
        }
        if parts().any(|parts| parts.scale != Vec3::ONE) {
            over_time(&mut prim, ("scales", "float3[]"), moving, &|at| float3s(at, |parts| parts.scale));
        }
        let ids = (0..).zip(copies).map(|(id, (index, _))| (id, *index));
        let blinking: Vec<(i64, u32)> = ids.filter(|(_, index)| self.poses.is_ever_hidden(*index)).collect();
        let hidden = |at: usize| -> Vec<i64> {
            blinking.iter().filter(|(_, index)| !self.poses.is_shown(*index, at)).map(|(id, _)| *id).collect()
        };
        if !blinking.is_empty() {
            over_time(&mut prim, ("invisibleIds", "int64[]"), samples, &|at| LayerValue::Longs(hidden(at)));
        }
        extent(&mut prim, &self.bounds(copies, &shown, &prototypes));
        self.add_prototypes(&mut prim, path, &prototypes);
        self.counts.instancers += 1;
        self.counts.copies += copies.len();
        prim
    }

    /// The prototypes of copies, and their numbers for each copy: one for all samples, or one per sample.
    fn numbered(&self, copies: &Copies) -> (Vec<Prototype>, Vec<Vec<i32>>) {
        let (mut prototypes, mut known) = (Vec::new(), HashMap::new());
        // The meshes of copies are few, but there may be millions of copies at hundreds of times: numbers are looked up once.
        let mut of_base: HashMap<Prototype, Vec<i32>> = HashMap::new();
        let numbers = |(index, _): &(u32, Vec<Parts>)| {
            let instance = &self.scene.instances[*index as usize];
            let base = Prototype { mesh: instance.mesh, slot_base: instance.slot_base };
            let numbers = of_base.entry(base).or_default();
            let number = |&mesh: &u32| {
                let pose = (mesh - base.mesh) as usize;
                numbers.resize(numbers.len().max(pose + 1), UNKNOWN);
                if numbers[pose] == UNKNOWN {
                    let prototype = Prototype { mesh, ..base };
                    numbers[pose] = *known.entry(prototype).or_insert_with(|| {
                        prototypes.push(prototype);
                        prototypes.len() as i32 - 1
                    });
                }
                numbers[pose]
            };
            self.poses.meshes(*index).iter().map(number).collect()
        };
        let shown = copies.iter().map(numbers).collect();
        (prototypes, shown)
    }

    fn add_prototypes(&mut self, prim: &mut Prim, path: &str, prototypes: &[Prototype]) {
        let mut names = Names::default();
        let mut scope = Prim::new(PROTOTYPES, "Scope");
        for &prototype in prototypes {
            let name = match self.placed(prototype) {
                throng_scene::Placed::Mesh(mesh) => names.unique(&self.scene.meshes[mesh].name),
                throng_scene::Placed::Assembly(assembly) => names.unique(&self.scene.assemblies[assembly].name),
            };
            scope.children.push(self.instance(name, prototype));
        }
        let targets = scope.children.iter().map(|child| format!("{path}/{PROTOTYPES}/{}", child.name)).collect();
        prim.relationships.push(("prototypes".to_owned(), targets));
        prim.children.push(scope);
    }

    /// Bounds of all copies at all times.
    fn bounds(&self, copies: &Copies, shown: &[Vec<i32>], prototypes: &[Prototype]) -> Aabb {
        let inner: Vec<Aabb> = prototypes.iter().map(|prototype| self.boxes[prototype.mesh as usize]).collect();
        let mut bounds = Aabb::EMPTY;
        // The last copy at rest that showed each prototype.
        let mut latest = vec![usize::MAX; prototypes.len()];
        for (copy, ((_, parts), shown)) in copies.iter().zip(shown).enumerate() {
            for at in 0..parts.len().max(shown.len()) {
                let number = *shown.get(at).unwrap_or(&shown[0]) as usize;
                if parts.len() == 1 && std::mem::replace(&mut latest[number], copy) == copy {
                    continue;
                }
                let own = inner[number];
                let parts = parts.get(at).unwrap_or(&parts[0]);
                let place = Affine3::from_scale_rotation_translation(parts.scale, parts.rotation, parts.translation);
                if !own.is_empty() {
                    bounds = bounds.union(own.transformed(&place));
                }
            }
        }
        bounds
    }
}

/// Values of all copies in each sample, from the values of each copy: one for all samples, or one per sample. Copies are read one after the
/// other, because their values are far apart in memory.
fn by_sample<T: Copy>(copies: &[Vec<T>], samples: usize) -> Vec<Vec<T>> {
    let mut all: Vec<Vec<T>> = (0..samples).map(|_| Vec::with_capacity(copies.len())).collect();
    for values in copies {
        for (at, own) in all.iter_mut().enumerate() {
            own.extend(values.get(at).or(values.first()));
        }
    }
    all
}
