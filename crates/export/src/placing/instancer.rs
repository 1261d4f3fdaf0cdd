//! Point instancers.

use super::{Placing, Prototype, parts::Parts};
use crate::shapes::extent;
use glam::{Affine3, Quat, Vec3};
use std::collections::HashMap;
use throng_base::math::Aabb;
use throng_usd::{LayerValue, Prim, names::Names};

/// Name of the scope of prototypes.
const PROTOTYPES: &str = "Prototypes";

/// Copies with their parts: one for all samples, or one per sample.
pub type Copies = [(u32, Vec<Parts>)];

impl Placing<'_> {
    /// A point instancer at a path.
    pub fn instancer(&mut self, name: String, path: &str, copies: &Copies) -> Prim {
        let mut prim = Prim::new(name, "PointInstancer");
        let samples = self.times.of_objects().len();
        let mut prototypes: Vec<Prototype> = Vec::new();
        let mut known: HashMap<Prototype, i32> = HashMap::new();
        let shown: Vec<Vec<i32>> = copies
            .iter()
            .map(|(index, _)| {
                let number = |prototype: Prototype| {
                    *known.entry(prototype).or_insert_with(|| {
                        prototypes.push(prototype);
                        prototypes.len() as i32 - 1
                    })
                };
                self.prototypes(*index).into_iter().map(number).collect()
            })
            .collect();
        let codes: Vec<f64> = self.times.of_objects().iter().map(|sample| sample.code).collect();
        let over_time = |prim: &mut Prim, name: &str, kind, of: &dyn Fn(usize) -> LayerValue| {
            prim.set_over_time(name, kind, codes.iter().enumerate().map(|(at, code)| (*code, of(at))).collect());
        };
        let number = |at: usize| shown.iter().map(|all| *all.get(at).unwrap_or(&all[0])).collect();
        over_time(&mut prim, "protoIndices", "int[]", &|at| LayerValue::Ints(number(at)));
        let all = |at: usize| copies.iter().map(move |(_, parts)| *parts.get(at).unwrap_or(&parts[0]));
        let float3s =
            |at: usize, of: fn(Parts) -> Vec3| LayerValue::Float3s(all(at).map(|parts| of(parts).to_array()).collect());
        over_time(&mut prim, "positions", "point3f[]", &|at| float3s(at, |parts| parts.translation));
        let parts = || copies.iter().flat_map(|(_, parts)| parts);
        if parts().any(|parts| parts.rotation != Quat::IDENTITY) {
            let rotations = |at: usize| all(at).map(|parts| parts.rotation).collect::<Vec<_>>();
            over_time(&mut prim, "orientations", "quath[]", &|at| LayerValue::HalfQuats(rotations(at)));
            over_time(&mut prim, "orientationsf", "quatf[]", &|at| LayerValue::Quats(rotations(at)));
        }
        if parts().any(|parts| parts.scale != Vec3::ONE) {
            over_time(&mut prim, "scales", "float3[]", &|at| float3s(at, |parts| parts.scale));
        }
        let hidden = |at: usize| -> Vec<i64> {
            let is_hidden = |(_, (index, _)): &(i64, &(u32, Vec<Parts>))| !self.poses.is_shown(*index, at);
            (0..).zip(copies).filter(is_hidden).map(|(id, _)| id).collect()
        };
        if (0..samples).any(|at| !hidden(at).is_empty()) {
            over_time(&mut prim, "invisibleIds", "int64[]", &|at| LayerValue::Longs(hidden(at)));
        }
        extent(&mut prim, &self.bounds(copies, &shown, &prototypes));
        self.add_prototypes(&mut prim, path, &prototypes);
        self.counts.instancers += 1;
        self.counts.copies += copies.len();
        prim
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
        for ((_, parts), shown) in copies.iter().zip(shown) {
            for at in 0..parts.len().max(shown.len()) {
                let own = inner[*shown.get(at).unwrap_or(&shown[0]) as usize];
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
