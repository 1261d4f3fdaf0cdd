//! Moves what the placements of a file show into the scene: meshes, motions, instances and names.

use super::{
    bent,
    instances::{self, Bends, Unrolled, UsedMesh, UsedMotion},
    joined,
    placements::Resolver,
    resolved::Resolved,
};
use crate::{
    LoadError,
    meshes::MeshSource,
    model::MeshMotion,
    ron::{file::Source, meshes::contents::Loader, motions, names::Names, source::Place},
    subjects,
    surfaces::Surfaces,
};
use std::{collections::HashMap, mem::take, sync::Arc};
use throng_scene::{
    MOST_NUMBERS, Motion, NONE, Scene, Subject,
    animated::Animated,
    desc::SceneFile,
    rig::{DeformingMesh, Palette},
};

/// The meshes and motions of a file, and the instances into which its placements expand.
pub struct Placing<'a> {
    source: &'a Source,
    file: &'a SceneFile,
    meshes: Vec<MeshSource>,
    motions: Vec<Motion>,
    bends: Bends,
    unrolled: Unrolled,
}

impl<'a> Placing<'a> {
    /// Expands the placements. `meshes` are those of the loader, and `rows` has the table row of each of the file's materials.
    ///
    /// # Errors
    /// If a placement or motion is invalid, or if there are too many instances.
    pub fn of(loader: &Loader<'a>, mut meshes: Vec<MeshSource>, rows: &[u32]) -> Result<Self, LoadError> {
        let &Loader { source, file, ref curves, ref groups, ref budget, .. } = loader;
        let mut resolved = Resolver::new((source, file, budget), (&meshes, curves), rows, groups).resolve()?;
        let motions = motions::all(source, curves, file)?;
        let mut bends = Bends::of(&motions);
        joined::join_bent(&mut resolved, &mut meshes, &bends).map_err(|(name, why)| {
            let message = format!("a motion bends `{name}`, which becomes one mesh for that, but {why}");
            source.error(&Place::ROOT.key("groups").key(&name), message)
        })?;
        let mut unrolled = instances::unroll(source, file, &resolved, (&meshes, &bends))?;
        if bends.find_sides(&unrolled) {
            unrolled = instances::unroll(source, file, &resolved, (&meshes, &bends))?;
        }
        Ok(Self { source, file, meshes, motions, bends, unrolled })
    }

    /// Expands lists whose placements have no motions. `source` and `file` are of a file without a scene.
    ///
    /// # Errors
    /// If there are too many instances, or if lists are nested too deeply.
    pub fn of_lists(
        source: &'a Source,
        file: &'a SceneFile,
        meshes: Vec<MeshSource>,
        resolved: &Resolved,
    ) -> Result<Self, LoadError> {
        let bends = Bends::of(&[]);
        let unrolled = instances::unroll(source, file, resolved, (&meshes, &bends))?;
        Ok(Self { source, file, meshes, motions: Vec::new(), bends, unrolled })
    }

    /// Adds the instances to a scene, and the meshes and motions that they use. Returns the surfaces among its meshes that are not finished.
    ///
    /// # Errors
    /// If memory does not suffice for bending meshes, if there are too many nested copies, or if a motion faces an unknown object.
    pub fn add_to(mut self, scene: &mut Scene) -> Result<Surfaces, LoadError> {
        scene.motions = self.unrolled.motions.order.iter().map(|used| self.motion(used)).collect();
        let surfaces = self.add_meshes(scene)?;
        self.add_instances(scene)?;
        self.add_names(scene);
        scene.motions = self.aimed(scene)?;
        Ok(surfaces)
    }

    fn motion(&self, used: &UsedMotion) -> Motion {
        let own = self.motions.get(used.motion as usize);
        let mesh = self.meshes.get(used.mesh as usize);
        let motion = match (own, mesh.and_then(|mesh| mesh.motion.poses())) {
            (own, Some(poses)) => motions::with_poses(own, poses),
            (Some(own), None) => match self.bends.bend(&UsedMesh { mesh: used.mesh, bent_by: used.motion }) {
                Some(bend) => motions::with_sides(own.clone(), bend.sides),
                None => own.clone(),
            },
            (None, None) => motions::still(),
        };
        motions::of_copy(motion, used.copy)
    }

    fn add_meshes(&mut self, scene: &mut Scene) -> Result<Surfaces, LoadError> {
        let mut surfaces = Surfaces::default();
        let order = &self.unrolled.meshes.order;
        for used in order.iter().filter(|used| used.bent_by != NONE) {
            bent::check_room(self.source, self.file, &self.meshes, (used, &self.bends))?;
        }
        let last_use: HashMap<u32, usize> = order.iter().enumerate().map(|(i, used)| (used.mesh, i)).collect();
        for (i, used) in order.iter().enumerate() {
            let mesh = &mut self.meshes[used.mesh as usize];
            let number = scene.meshes.len() as u32;
            let is_last = last_use.get(&used.mesh) == Some(&i);
            match self.bends.bend(used) {
                Some(bend) => bent::add(scene, &mesh.mesh, &bend),
                None => {
                    if is_last {
                        surfaces.take(number, mesh);
                        take_mesh(scene, mesh);
                    } else {
                        surfaces.add(number, mesh.cage.clone(), mesh.displacement.clone());
                        scene.meshes.push(mesh.mesh.clone());
                    }
                }
            }
        }
        Ok(surfaces)
    }

    fn add_instances(&mut self, scene: &mut Scene) -> Result<(), LoadError> {
        let all = &mut self.unrolled;
        scene.material_slots = take(&mut all.slots.all);
        (scene.nodes, scene.instances) = (take(&mut all.nodes), take(&mut all.instances));
        scene.assemblies = take(&mut all.assemblies);
        scene.placed = take(&mut all.placed);
        (scene.appearances, scene.switches) = (take(&mut all.appearances), take(&mut all.switches));
        scene.placement_tables = Arc::new(take(&mut all.tables));
        let numbers = if scene.assemblies.is_empty() { 0 } else { scene.number_count() };
        if numbers > MOST_NUMBERS {
            let message = format!(
                "nested groups have {numbers} copies in all, and at most {MOST_NUMBERS} can be numbered: write larger groups of meshes"
            );
            return Err(self.source.error(&Place::ROOT.key("instances"), message));
        }
        Ok(())
    }

    /// Names the instances, and the groups as subjects.
    fn add_names(&mut self, scene: &mut Scene) {
        let materials = take(&mut scene.names.materials);
        scene.names = throng_scene::Names::numbered(take(&mut self.unrolled.stems.texts), &self.unrolled.stems.of);
        scene.names.materials = materials;
        let groups = self.unrolled.group_names.iter().zip(&self.unrolled.groups);
        let placed = groups.filter(|(_, instances)| !instances.is_empty());
        let mut known = HashMap::new();
        let subjects = placed.map(|(name, instances)| Subject {
            name: name.clone(),
            anchors: subjects::middles_of_many(scene, &subjects::spread(instances.clone()), &mut known),
            instances: instances.clone().collect(),
        });
        scene.subjects = subjects.collect();
    }

    /// The motions of the scene, with the objects that they face.
    fn aimed(&self, scene: &Scene) -> Result<Vec<Motion>, LoadError> {
        let all = Place::ROOT.key("motions");
        let names = Names::of(scene);
        let mut aimed = scene.motions.clone();
        for (motion, used) in aimed.iter_mut().zip(&self.unrolled.motions.order) {
            if let Some((name, desc)) = self.file.motions.0.get(used.motion as usize) {
                motions::aim(self.source, &names, motion, desc, &all.key(name))?;
            }
        }
        Ok(aimed)
    }
}

/// Moves a mesh, with its poses or its actor, to the end of the scene's meshes.
fn take_mesh(scene: &mut Scene, source: &mut MeshSource) {
    let number = scene.meshes.len() as u32;
    let placeholder = MeshSource::sphere("", NONE).mesh;
    let mesh = std::mem::replace(&mut source.mesh, placeholder);
    scene.meshes.push(mesh);
    match std::mem::take(&mut source.motion) {
        MeshMotion::Still => {}
        MeshMotion::Palette { others, poses } => {
            scene.meshes.extend(others);
            scene.palettes.push(Palette { first_mesh: number, poses });
        }
        MeshMotion::Alive { actor, deforming, animated } => {
            let number_of_actor = scene.actors.len() as u32;
            scene.deforming.push(DeformingMesh { mesh: number, actor: number_of_actor, ..deforming });
            if !animated.materials.is_empty() {
                scene.animated.push(Animated { actor: number_of_actor, ..animated });
            }
            scene.actors.push(actor);
        }
    }
}
