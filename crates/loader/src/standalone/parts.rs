//! A model's parts as instances: static, attached to nodes that follow its rig, or as deforming meshes.

use super::live::Live;
use crate::{
    budget,
    geometry::transform::is_invertible,
    gltf::{MeshPart, ModelMesh},
    materials::{Materials, Slots},
    model::ModelMaterials,
    subjects,
};
use glam::Affine3;
use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};
use throng_scene::anim::{BindPose, Deformed, RigPose, deform, turn_mirrored};
use throng_scene::{
    Anchor, Instance, Mesh, NONE, Node, Scene, Subject, TriangleMesh,
    rig::{Appearance, Deformers, DeformingMesh, Piece, RefitPolicy, Rig, RigNodeRef, ShownBy},
};

/// The only actor of a standalone model.
const ACTOR: u32 = 0;

/// The rig of the parts, and its pose.
pub struct Posed<'a> {
    pub rig: &'a Rig,
    /// The pose at the first frame, which static parts keep.
    pub pose: &'a RigPose,
    pub live: &'a Live,
}

/// The scene under construction.
pub struct Build<'a> {
    posed: &'a Posed<'a>,
    meshes: Vec<Source>,
    pub scene: Scene,
    pub materials: ModelMaterials<'a>,
    pub table: Materials,
    pub slots: Slots,
    /// Mesh and first slot of each mesh that does not deform.
    shared: HashMap<u32, (u32, u32)>,
    /// The scene node that follows each node of the rig.
    followers: HashMap<u32, u32>,
    /// Stems of instances' names by node of the rig, and the names in use.
    stems: HashMap<u32, u32>,
    taken: HashSet<String>,
    /// For each instance, its node of the rig; none if joints place the instance.
    homes: Vec<u32>,
}

/// A mesh of the model, kept until the last mesh of the scene was created from it.
struct Source {
    mesh: ModelMesh,
    deformers: Arc<Deformers>,
    needed: u32,
}

/// The form in which a part's mesh is added to the scene.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Unchanged, shared with other parts.
    Plain,
    /// Deformed once.
    Shaped,
    /// Deformed in every frame.
    Deforming,
}

impl<'a> Build<'a> {
    /// Builds a scene from the parts that are visible at any time, in their order. `room` is the memory in bytes for copies of deforming
    /// meshes.
    ///
    /// # Errors
    /// If the copies need more memory. The text is a sentence.
    pub fn new(
        posed: &'a Posed<'a>,
        meshes: Vec<ModelMesh>,
        materials: ModelMaterials<'a>,
        parts: &[MeshPart],
        room: u64,
    ) -> Result<Self, String> {
        let source =
            |mut mesh: ModelMesh| Source { deformers: Arc::new(std::mem::take(&mut mesh.deformers)), mesh, needed: 0 };
        let mut build = Self {
            posed,
            meshes: meshes.into_iter().map(source).collect(),
            scene: Scene::default(),
            materials,
            table: Materials::default(),
            slots: Slots::default(),
            shared: HashMap::new(),
            followers: HashMap::new(),
            stems: HashMap::new(),
            taken: HashSet::new(),
            homes: Vec::new(),
        };
        let shown = |part: &&MeshPart| posed.live.appears(part.node) || posed.pose.is_shown(part.node);
        let parts: Vec<&MeshPart> = parts.iter().filter(shown).collect();
        build.check_room(&parts, room)?;
        build.count_needs(&parts);
        parts.iter().for_each(|part| build.place(part));
        Ok(build)
    }

    fn check_room(&self, parts: &[&MeshPart], room: u64) -> Result<(), String> {
        let copies = parts.iter().filter(|part| self.form(part) != Form::Plain);
        let cost = |part: &&MeshPart| {
            let Source { mesh, deformers, .. } = &self.meshes[part.mesh as usize];
            let joints = self.posed.rig.joint_count(part.skin);
            budget::of_deforming_mesh(&mesh.mesh, deformers, joints)
        };
        match copies.map(cost).fold(0, u64::saturating_add) {
            needed if needed > room => Err(format!(
                "moving copies of its meshes by joints and morph targets {}",
                budget::exceeds(needed, room)
            )),
            _ => Ok(()),
        }
    }

    fn count_needs(&mut self, parts: &[&MeshPart]) {
        let mut plain = vec![false; self.meshes.len()];
        for part in parts {
            let index = part.mesh as usize;
            let first = match self.form(part) {
                Form::Plain => !std::mem::replace(&mut plain[index], true),
                Form::Shaped | Form::Deforming => true,
            };
            self.meshes[index].needed += u32::from(first);
        }
    }

    fn form(&self, part: &MeshPart) -> Form {
        let Posed { rig, pose, live } = self.posed;
        if live.deforms(rig, part.node, part.skin) {
            return Form::Deforming;
        }
        let weights = pose.weights(part.node);
        if part.skin == NONE && weights.iter().all(|&w| w == 0.0) { Form::Plain } else { Form::Shaped }
    }

    /// Adds the instances of a part, placed by its node or its joints.
    fn place(&mut self, part: &MeshPart) {
        let (mesh, slot_base) = self.mesh(part);
        let skinned = part.skin != NONE;
        let (node, local) = if skinned { (NONE, Affine3::IDENTITY) } else { self.frame(part.node) };
        let instance =
            |placement: &Affine3| Instance { local: local * *placement, node, mesh, slot_base, motion: NONE };
        let stem = self.stem(part.node);
        for (copy, placement) in part.placements.iter().enumerate() {
            let instance = instance(placement);
            if !is_invertible(&instance.local) {
                continue;
            }
            if self.posed.live.appears(part.node) {
                let node = RigNodeRef { actor: ACTOR, node: part.node };
                self.scene
                    .appearances
                    .push(Appearance { instance: self.scene.instances.len() as u32, by: ShownBy::Node(node) });
            }
            self.scene.instances.push(instance);
            // All primitives of a node form one object for the user.
            let number = match part.placements.len() {
                1 => NONE,
                _ => copy as u32,
            };
            self.scene.names.push(stem, number);
        }
        let home = if skinned { NONE } else { part.node };
        self.homes.resize(self.scene.instances.len(), home);
    }

    /// The name of a node. A number is added if an earlier node has this name.
    fn stem(&mut self, node: u32) -> u32 {
        if let Some(&stem) = self.stems.get(&node) {
            return stem;
        }
        let name = self.posed.rig.nodes.get(node as usize);
        let name = name.map_or("node", |node| &node.name);
        let stem = self.scene.names.add_stem(if self.taken.insert(name.to_owned()) {
            name.to_owned()
        } else {
            format!("{name}.{node}")
        });
        self.stems.insert(node, stem);
        stem
    }

    /// Makes the first node with that name, if any, a subject of the scene: the centre of the instances below it or, without instances (as
    /// for joints), its origin.
    pub fn name_node(&mut self, name: &str) {
        let nodes = &self.posed.rig.nodes;
        let Some(node) = nodes.iter().position(|node| node.name == name) else {
            return;
        };
        let node = node as u32;
        let of_node = |(instance, home): (usize, &u32)| (*home == node).then_some(instance as u32);
        let carried: Vec<u32> = self.homes.iter().enumerate().filter_map(of_node).collect();
        let anchors = match &carried[..] {
            [] => vec![Anchor::Node { node: self.follower(node) }],
            _ => subjects::middles(&self.scene, &carried),
        };
        self.scene.subjects.push(Subject { name: name.to_owned(), anchors, instances: carried });
    }

    /// The scene node to which an object at a node of the rig is attached, and its transform relative to that.
    pub fn frame(&mut self, node: u32) -> (u32, Affine3) {
        if !self.posed.live.moves(node) {
            return (NONE, self.posed.pose.world(node).into());
        }
        (self.follower(node), Affine3::IDENTITY)
    }

    /// The scene node that follows a node of the rig.
    pub fn follower(&mut self, node: u32) -> u32 {
        let nodes = &mut self.scene.nodes;
        let posed = self.posed;
        *self.followers.entry(node).or_insert_with(|| {
            let moves = posed.live.moves(node);
            nodes.push(Node {
                local: if moves { Affine3::IDENTITY } else { posed.pose.world(node).into() },
                parent: NONE,
                motion: NONE,
                follows: moves.then_some(RigNodeRef { actor: ACTOR, node }),
            });
            nodes.len() as u32 - 1
        })
    }

    /// The mesh of a part, and its first material slot.
    fn mesh(&mut self, part: &MeshPart) -> (u32, u32) {
        match self.form(part) {
            Form::Plain => {
                if let Some(&known) = self.shared.get(&part.mesh) {
                    return known;
                }
                let triangles = self.take(part.mesh);
                let added = self.add_mesh(part.mesh, triangles);
                self.shared.insert(part.mesh, added);
                added
            }
            Form::Shaped => {
                let triangles = self.shaped(part);
                self.add_mesh(part.mesh, triangles)
            }
            Form::Deforming => self.deforming(part),
        }
    }

    /// The triangles in bind pose. The model's own are moved out if they are not needed any more.
    fn take(&mut self, mesh: u32) -> TriangleMesh {
        let source = &mut self.meshes[mesh as usize];
        source.needed = source.needed.saturating_sub(1);
        match source.needed {
            0 => std::mem::take(&mut source.mesh.mesh),
            _ => source.mesh.mesh.clone(),
        }
    }

    /// The triangles as deformed by joints and morph targets at the first frame.
    fn shaped(&mut self, part: &MeshPart) -> TriangleMesh {
        let Posed { rig, pose, .. } = self.posed;
        let source = self.take(part.mesh);
        let (mut joints, mut out) = (Vec::new(), Deformed::default());
        pose.palette(rig, part.skin, &mut joints);
        let bind = BindPose::new(&source, &source.tangents);
        let deformers = &self.meshes[part.mesh as usize].deformers;
        deform(bind, deformers, &joints, pose.weights(part.node), &mut out);
        let mut shaped = out.on(source);
        turn_mirrored(&mut shaped.triangles, deformers, &joints);
        shaped
    }

    fn deforming(&mut self, part: &MeshPart) -> (u32, u32) {
        let mut triangles = self.take(part.mesh);
        let mut joints = Vec::new();
        self.posed.pose.palette(self.posed.rig, part.skin, &mut joints);
        turn_mirrored(&mut triangles.triangles, &self.meshes[part.mesh as usize].deformers, &joints);
        let piece = Piece {
            vertex_count: triangles.positions.len() as u32,
            node: part.node,
            placed: false,
            skin: part.skin,
            deformers: self.meshes[part.mesh as usize].deformers.clone(),
            surface: None,
        };
        let (mesh, slot_base) = self.add_mesh(part.mesh, triangles);
        self.scene.deforming.push(DeformingMesh {
            mesh,
            actor: ACTOR,
            refit: RefitPolicy::default(),
            pieces: vec![piece],
            displacement: None,
        });
        (mesh, slot_base)
    }

    fn add_mesh(&mut self, source: u32, mut triangles: TriangleMesh) -> (u32, u32) {
        let source = &self.meshes[source as usize].mesh;
        let table = &mut self.table;
        let row = self.materials.material(table, source.material, &mut triangles);
        let mesh = self.scene.meshes.len() as u32;
        self.scene.meshes.push(Mesh { name: source.name.clone(), shape: source.shape(triangles), slot_count: 1 });
        (mesh, self.slots.run(mesh, &[row], NONE))
    }
}
