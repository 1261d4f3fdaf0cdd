//! Where every instance is at a time.

use super::{OrderedInstances, motion::PosedMotion};
use crate::scene::{Instance, Scene};
use glam::{Affine3, Affine3A};
use rayon::prelude::*;

/// Instances per task: enough to hide the cost of handing out tasks.
const CHUNK: usize = 4096;

/// Fills `out` with world_from_object of every instance, `time` seconds after the first frame.
///
/// `world_from_node · local · motion`, in parallel; the result does not depend on the number of threads.
/// About 50 ns per spinning instance and core, 15 ns per still one; `out` keeps its allocation.
pub fn world_transforms(scene: &Scene, time: f32, out: &mut Vec<Affine3>) {
    fill(scene, &scene.instances, |i| i as u32, time, out);
}

/// The same, for the instances of `scene` in another order: `out[i]` belongs to `ordered.instances()[i]`.
pub fn ordered_transforms(
    scene: &Scene,
    ordered: &OrderedInstances,
    time: f32,
    out: &mut Vec<Affine3>,
) {
    let ids = ordered.ids();
    fill(scene, ordered.instances(), |i| ids[i], time, out);
}

/// `id`: the number in the scene of each of `instances`.
fn fill(
    scene: &Scene,
    instances: &[Instance],
    id: impl Fn(usize) -> u32 + Sync,
    time: f32,
    out: &mut Vec<Affine3>,
) {
    let motions: Vec<_> = scene
        .motions
        .iter()
        .map(|m| PosedMotion::new(m, time))
        .collect();
    let nodes = node_transforms(scene, &motions);
    let world = |index: u32, instance: &Instance| {
        let own = moved(instance.local, instance.motion, &motions, index);
        nodes
            .get(instance.node as usize)
            .map_or(own, |node| *node * own)
    };
    out.resize(instances.len(), Affine3::IDENTITY);
    let chunks = out.par_chunks_mut(CHUNK).zip(instances.par_chunks(CHUNK));
    chunks.enumerate().for_each(|(c, (out, instances))| {
        for (i, (out, instance)) in out.iter_mut().zip(instances).enumerate() {
            *out = world(id(c * CHUNK + i), instance).into();
        }
    });
}

/// Parents come before children, so one pass is enough.
fn node_transforms(scene: &Scene, motions: &[PosedMotion]) -> Vec<Affine3A> {
    let mut worlds: Vec<Affine3A> = Vec::with_capacity(scene.nodes.len());
    for (index, node) in scene.nodes.iter().enumerate() {
        let own = moved(node.local, node.motion, motions, index as u32);
        worlds.push(
            worlds
                .get(node.parent as usize)
                .map_or(own, |parent| *parent * own),
        );
    }
    worlds
}

fn moved(local: Affine3, motion: u32, motions: &[PosedMotion], index: u32) -> Affine3A {
    let own = Affine3A::from(local);
    motions
        .get(motion as usize)
        .map_or(own, |m| own * m.of(index, local.translation))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Motion, MotionPart, NONE, Node, Phase};
    use glam::Vec3;

    fn scene(count: usize) -> Scene {
        let spin = MotionPart::Spin {
            axis: Vec3::Y,
            period: 4.0,
        };
        let local = |i: usize| Affine3::from_translation(Vec3::new(i as f32, 0.0, 0.0));
        Scene {
            motions: vec![Motion {
                parts: vec![spin],
                phase: Phase::Random {
                    seed: 3,
                    spread: 1.0,
                },
            }],
            instances: (0..count)
                .map(|i| Instance {
                    local: local(i),
                    node: NONE,
                    mesh: 0,
                    slot_base: 0,
                    motion: 0,
                })
                .collect(),
            ..Scene::default()
        }
    }

    #[test]
    fn nodes_carry_what_hangs_from_them() {
        let mut scene = scene(1);
        scene.motions[0].phase = Phase::Same;
        let lift = Affine3::from_translation(Vec3::Y);
        scene.nodes = vec![
            Node {
                local: lift,
                parent: NONE,
                motion: 0,
            },
            Node {
                local: lift,
                parent: 0,
                motion: NONE,
            },
        ];
        scene.instances[0] = Instance {
            local: Affine3::from_translation(Vec3::Z),
            node: 1,
            mesh: 0,
            slot_base: 0,
            motion: NONE,
        };
        let mut out = Vec::new();
        world_transforms(&scene, 1.0, &mut out);
        assert!(out[0].translation.distance(Vec3::new(1.0, 2.0, 0.0)) < 1e-6);
    }

    #[test]
    fn instances_in_another_order_move_as_they_do_in_the_scene() {
        let scene = scene(10_000);
        let ids: Vec<u32> = (0..10_000).map(|i| i * 7 % 10_000).collect();
        let (mut plain, mut ordered) = (Vec::new(), Vec::new());
        world_transforms(&scene, 0.7, &mut plain);
        let instances = OrderedInstances::new(&scene, ids.clone());
        ordered_transforms(&scene, &instances, 0.7, &mut ordered);
        let expected: Vec<_> = ids.iter().map(|&id| plain[id as usize]).collect();
        assert_eq!(ordered, expected);
    }

    #[test]
    fn the_result_does_not_depend_on_threads() {
        let scene = scene(20_000);
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let mut out = Vec::new();
            pool.map(|p| p.install(|| world_transforms(&scene, 0.7, &mut out)))
                .unwrap_or_default();
            out
        };
        assert_eq!(on(1), on(3));
        assert_eq!(on(1).len(), 20_000);
    }
}
