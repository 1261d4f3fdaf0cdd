//! Trees of assemblies. The tree of a static assembly is built once, the tree of an animated assembly in each frame. All copies of an
//! assembly share one tree.

use super::divided;
use glam::{Affine3, Vec3};
use std::{ops::Range, sync::Arc};
use throng_accel::{AssemblyTree, Blas, NodeLayout, Quality, StillTree, Tlas, TlasBuilder, TlasInput};
use throng_scene::anim::{self, Moment, ShutterTime};
use throng_scene::{Assembly, Instance, Mesh, Numbers, Scene, Shape};

/// A scene at one moment, from which the trees of a frame are built.
#[derive(Clone, Copy)]
pub struct Pose<'a> {
    pub scene: &'a Scene,
    pub moment: &'a Moment,
    /// Time during which the shutter is open; none for a single moment.
    pub shutter: Option<ShutterTime>,
    /// World-from-object transforms of all instances, in the scene's order.
    pub world_from_object: &'a [Affine3],
    /// Index of the mesh that each instance shows. Empty if every instance shows its own mesh.
    pub shown: &'a [u32],
    pub careful: bool,
    /// Whether any instance may be placed anew.
    pub is_placed: bool,
}

/// The trees of a scene's assemblies, as last built.
#[derive(Clone)]
pub struct Assemblies {
    layout: NodeLayout,
    numbers: Numbers,
    /// For each assembly, whether anything in it moves.
    moves: Arc<[bool]>,
    trees: Vec<Option<Arc<Blas>>>,
    nothing: Arc<Blas>,
    /// For each instance of the world, whether it ever moves. None if one tree over all of them is better.
    world_moves: Option<Arc<[bool]>>,
    /// The origin of positions in the last frame, and the tree over those that never move. A tree of high quality pays only if several frames have
    /// its origin, so the first one builds none.
    still: Option<(Vec3, Option<Arc<StillTree>>)>,
}

impl Assemblies {
    /// Creates the state for a scene's assemblies, with no tree built yet. None if the scene has no nested levels.
    pub fn new(scene: &Scene, layout: NodeLayout) -> Option<Self> {
        let count = scene.assemblies.len();
        let nothing = Mesh { name: String::new(), shape: Shape::Sphere, slot_count: 1 };
        let new = || {
            let moving = anim::moving_instances(scene, None);
            let of = |assembly: &Assembly| moving[assembly.range()].contains(&true);
            let world = &moving[scene.world()];
            let count_moving = world.iter().filter(|moves| **moves).count();
            let is_divided = scene.is_animated() && divided::pays(world.len() - count_moving, count_moving);
            Self {
                nothing: Arc::new(Blas::build(&nothing, layout, Quality::Fast)),
                layout,
                numbers: scene.numbers(),
                moves: scene.assemblies.iter().map(of).collect(),
                trees: vec![None; count],
                world_moves: is_divided.then(|| world.into()),
                still: None,
            }
        };
        scene.has_levels().then(new)
    }

    /// Builds the trees of assemblies for a pose. `blas` starts with the trees of meshes; the trees of assemblies are placed after them.
    pub fn build(&mut self, pose: Pose<'_>, builder: &mut TlasBuilder, blas: &mut Vec<Arc<Blas>>) {
        let meshes = pose.scene.meshes.len();
        blas.truncate(meshes);
        // Placeholders for trees that are not built yet. Assemblies are built in reverse order, so no instance refers to a placeholder.
        blas.resize(meshes + self.trees.len(), self.nothing.clone());
        for (index, assembly) in pose.scene.assemblies.iter().enumerate().rev() {
            let moves = self.moves[index];
            let tree = match self.trees[index].take().filter(|_| !moves) {
                Some(tree) => tree,
                None => {
                    let quality = if moves { Quality::Fast } else { Quality::High };
                    let mut tlas = Tlas::new(self.layout);
                    let all = assembly.range().map(|index| index as u32);
                    build_level(pose, all, quality, (builder, blas), &mut tlas);
                    Arc::new(AssemblyTree::build(tlas, index as u32, blas, !moves))
                }
            };
            blas[meshes + index] = tree.clone();
            self.trees[index] = Some(tree);
        }
    }

    /// Builds the TLAS of the world and appends the trees of all assemblies to it.
    pub fn build_world(
        &mut self,
        pose: Pose<'_>,
        quality: Quality,
        builder: &mut TlasBuilder,
        blas: &[Arc<Blas>],
        tlas: &mut Tlas,
    ) {
        tlas.nested = None;
        let world = pose.scene.world().map(|index| index as u32);
        match self.still_tree(pose, builder, blas) {
            Some((still, moves)) => {
                let mut moving = Tlas { origin: tlas.origin, ..Tlas::new(self.layout) };
                let ids = world.filter(|&id| moves[id as usize]);
                build_level(pose, ids, quality, (builder, blas), &mut moving);
                tlas.join(&[still], &mut moving);
                // What follows changes the tree.
                tlas.still.clear();
            }
            None => build_level(pose, world, quality, (builder, blas), tlas),
        }
        let levels: Vec<Range<usize>> = pose.scene.assemblies.iter().map(|assembly| assembly.range()).collect();
        tlas.add_assemblies(pose.scene.world(), &levels, &self.numbers, blas);
    }

    /// The tree over the instances of the world that never move, and for each instance whether it does. None if the frame's tree is built over all.
    fn still_tree(
        &mut self,
        pose: Pose<'_>,
        builder: &mut TlasBuilder,
        blas: &[Arc<Blas>],
    ) -> Option<(Arc<StillTree>, Arc<[bool]>)> {
        let moves = self.world_moves.clone().filter(|_| !pose.is_placed)?;
        let origin = pose.moment.origin();
        let Some((_, known)) = self.still.as_mut().filter(|(own, _)| *own == origin) else {
            self.still = Some((origin, None));
            return None;
        };
        let tree = known.get_or_insert_with(|| {
            let mut still = Tlas::new(self.layout);
            let at_rest = Pose { shutter: None, careful: true, ..pose };
            let ids = pose.scene.world().map(|index| index as u32).filter(|&id| !moves[id as usize]);
            build_level(at_rest, ids, Quality::High, (builder, blas), &mut still);
            Arc::new(StillTree::new(&still, &[]))
        });
        Some((tree.clone(), moves))
    }
}

/// Builds the tree over the instances `ids` that are shown.
fn build_level(
    pose: Pose<'_>,
    ids: impl Iterator<Item = u32>,
    quality: Quality,
    (builder, blas): (&mut TlasBuilder, &[Arc<Blas>]),
    tlas: &mut Tlas,
) {
    let Pose { scene, moment, .. } = pose;
    let hidden = anim::hidden_instances(scene, moment);
    let ids: Vec<u32> = ids.filter(|id| hidden.binary_search(id).is_err()).collect();
    let instances: Vec<Instance> = ids.iter().map(|&id| scene.instances[id as usize]).collect();
    match pose.shutter {
        Some(time) => anim::instance_shutter_keys(scene, &instances, &ids, time, &mut tlas.shutter),
        None => tlas.shutter.clear(),
    }
    let of = |values: &[u32]| ids.iter().filter_map(|&id| values.get(id as usize).copied()).collect::<Vec<u32>>();
    let transforms: Vec<Affine3> = ids.iter().map(|&id| pose.world_from_object[id as usize]).collect();
    let input = TlasInput {
        instances: &instances,
        ids: &ids,
        meshes: &of(pose.shown),
        groups: None,
        world_from_object: &transforms,
        blas,
        careful: pose.careful,
    };
    builder.build(input, quality, tlas);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Poser;
    use throng_abi::Hit;
    use throng_scene::{Motion, MotionPart, NONE, Phase};

    #[test]
    fn only_assemblies_in_which_something_moves_are_built_anew() {
        let sphere = Mesh { name: "sphere".into(), shape: Shape::Sphere, slot_count: 1 };
        let instance = |mesh, motion| Instance { local: Affine3::IDENTITY, node: NONE, mesh, slot_base: 0, motion };
        let assembly = |name: &str, instances| Assembly { name: name.into(), instances };
        let spin = MotionPart::Spin { axis: Vec3::Y, period: 1.0 };
        let (still, moving, holder) = (3, 2, 1);
        let scene = Arc::new(Scene {
            meshes: vec![sphere],
            instances: vec![
                instance(holder, NONE),
                instance(still, 0),
                instance(moving, NONE),
                instance(0, 0),
                instance(0, NONE),
            ],
            assemblies: vec![assembly("holder", 2..3), assembly("moving", 3..4), assembly("still", 4..5)],
            motions: vec![Motion { parts: vec![spin], phase: Phase::Same }],
            ..Scene::default()
        });
        let mut poser = Poser::new(scene, NodeLayout::Wide8);
        let [first, second] = [1, 2].map(|frame| poser.pose(frame).frame);
        let kept = |unit: usize| Arc::ptr_eq(&first.blas[unit], &second.blas[unit]);
        assert_eq!([0, holder as usize, moving as usize, still as usize].map(kept), [true, false, false, true]);
        assert_eq!(second.tlas.level_records(), [0..2, 2..3, 3..4, 4..5]);
        assert_eq!(
            (second.tlas.world_records().len(), second.way_to(&Hit { record: 2 + 1, ..Hit::default() })),
            (2, vec![0, 2, 3])
        );
    }
}
