//! The node hierarchy: the nodes of the selected scene, their order, and their transforms at rest.
//!
//! This module uses no recursion, so a chain may have 100,000 nodes.

use super::{
    GltfOptions,
    fault::{Fault, fault},
    file::{
        document::{Document, out_of_range},
        extensions, json,
    },
    pointers,
};
use crate::suggest;
use glam::{Affine3, Mat4, Quat, Vec3};
use gltf::json::{
    Index,
    scene::{Node, UnitQuaternion},
};
use serde::Deserialize;
use std::collections::HashSet;
use throng_base::math::thicken_matrix;
use throng_scene::{
    NONE, cut,
    rig::{Local, RigNode, Trs},
};

#[derive(Deserialize)]
struct Visibility {
    #[serde(default = "shown")]
    visible: bool,
}

fn shown() -> bool {
    true
}

/// A node with its indices in the rig and in the file.
pub struct Seat<'a> {
    pub node: &'a Node,
    pub rig_node: u32,
    pub index: u32,
}

/// The nodes of the rig and their indices in the file.
pub struct Hierarchy {
    /// For each node of the rig, its index in the file. Parents come before children, level by level.
    pub file_index: Vec<u32>,
    /// For each node of the file, its index in the rig, or none.
    pub rig_index: Vec<u32>,
    /// Number of nodes that belong to the scene; they come first in `file_index`. The others only carry joints.
    pub in_scene: usize,
    /// The scene's nodes, as indices in the rig and in the file, that are not permanently hidden by themselves or an ancestor
    /// (KHR_node_visibility). Animations may show nodes that are hidden at rest. Hidden nodes still have cameras and move their children.
    pub visible: Vec<(u32, u32)>,
    /// For each node of the rig, whether it is visible at rest, provided that its parents are.
    visible_at_rest: Vec<bool>,
    /// For each node of the file, its topmost ancestor.
    tops: Vec<u32>,
    /// For each node of the rig, its parent in the rig.
    parents: Vec<u32>,
}

/// Index of the scene to load. `wanted` is its name or else its index.
///
/// # Errors
/// If there is no such scene: a sentence with a suggestion.
pub fn choose_scene(document: &Document, wanted: Option<&str>) -> Result<Option<usize>, Fault> {
    let scenes = &document.root.scenes;
    let Some(wanted) = wanted else {
        return match document.root.scene {
            Some(i) if i.value() < scenes.len() => Ok(Some(i.value())),
            Some(i) => {
                let message = out_of_range("scene", i.value(), scenes.len());
                document.warnings.add("/scene", format!("{message}; the first one is shown"));
                Ok((!scenes.is_empty()).then_some(0))
            }
            None => Ok((!scenes.is_empty()).then_some(0)),
        };
    };
    let by_name = scenes.iter().position(|s| s.name.as_deref() == Some(wanted));
    let by_index = wanted.parse().ok().filter(|&i| i < scenes.len());
    by_name.or(by_index).map(Some).ok_or_else(|| {
        let names = scene_names(document);
        let hint = suggest::hint(wanted, names.iter().map(String::as_str), "scenes");
        fault("/scenes", format!("there is no scene `{wanted}`: {hint}"))
    })
}

/// Removes missing nodes from the lists of children and scenes, and nodes that a scene lists twice, with warnings.
pub fn drop_missing(document: &mut Document) {
    let Document { root, warnings, .. } = document;
    let count = root.nodes.len();
    let drop = |list: &mut Vec<Index<Node>>, path: String| {
        let mut place = 0;
        list.retain(|node| {
            let exists = node.value() < count;
            if !exists {
                let message = out_of_range("node", node.value(), count);
                warnings.add(&format!("{path}/{place}"), format!("{message}; it is left out"));
            }
            place += 1;
            exists
        });
    };
    for (index, node) in root.nodes.iter_mut().enumerate() {
        if let Some(children) = &mut node.children {
            drop(children, format!("/nodes/{index}/children"));
        }
    }
    for (index, scene) in root.scenes.iter_mut().enumerate() {
        let path = format!("/scenes/{index}/nodes");
        drop(&mut scene.nodes, path.clone());
        let mut known = HashSet::new();
        scene.nodes.retain(|node| {
            let is_new = known.insert(node.value());
            if !is_new {
                warnings.add(&path, format!("node {} is listed twice and shown once", node.value()));
            }
            is_new
        });
    }
}

/// Adds a node above the nodes of the selected scene, which rotates them. Faulty scenes stay unchanged; their faults are reported later.
pub fn rotate(document: &mut Document, options: &GltfOptions) {
    if options.rotation == Quat::IDENTITY {
        return;
    }
    let count = document.root.nodes.len();
    let Ok(Some(scene)) = choose_scene(document, options.scene.as_deref()) else { return };
    let roots = std::mem::replace(&mut document.root.scenes[scene].nodes, vec![Index::new(count as u32)]);
    let rotation = Some(UnitQuaternion(options.rotation.to_array()));
    document.root.nodes.push(Node { children: Some(roots), rotation, ..Node::default() });
}

pub fn scene_names(document: &Document) -> Vec<String> {
    let scenes = document.root.scenes.iter().enumerate();
    scenes.map(|(i, s)| name(s.name.as_deref(), "scene", i)).collect()
}

/// The name from the file, or else `kind index`. Long names are cut, because many objects may share one.
pub fn name(given: Option<&str>, kind: &str, index: usize) -> String {
    match given {
        Some(name) if !name.is_empty() => cut(name).to_owned(),
        _ => format!("{kind} {index}"),
    }
}

impl Hierarchy {
    /// The nodes of `scene`, or of the whole file if it has no scenes.
    ///
    /// # Errors
    /// If a node of the scene has two parents there or is its own ancestor. Faults of other nodes cause warnings.
    pub fn new(document: &Document, scene: Option<usize>) -> Result<Self, Fault> {
        let nodes = &document.root.nodes;
        let (parents, conflicts) = parents_in_file(nodes);
        let roots = match scene {
            Some(scene) => scene_roots(document, scene),
            None => (0..nodes.len() as u32).filter(|&i| parents[i as usize] == NONE).collect(),
        };
        let reached = reached(nodes, &roots);
        for Conflict { fault, parents } in conflicts {
            if parents.iter().all(|&parent| reached[parent as usize]) {
                return Err(fault);
            } else {
                document.warnings.add(&fault.path, format!("{}; they are not both in the scene", fault.message))
            }
        }
        let mut hierarchy = Self {
            file_index: Vec::new(),
            rig_index: vec![NONE; nodes.len()],
            in_scene: 0,
            visible: Vec::new(),
            visible_at_rest: Vec::new(),
            tops: tops(document, &parents, &reached)?,
            parents: Vec::new(),
        };
        for root in roots {
            hierarchy.push(root, NONE);
        }
        if let Some((path, child)) = hierarchy.add_descendants(nodes, 0) {
            return Err(fault(path, format!("node {child} is in the scene twice")));
        }
        hierarchy.in_scene = hierarchy.file_index.len();
        hierarchy.read_visibility(document)?;
        Ok(hierarchy)
    }

    /// A hierarchy without nodes, with which a check continues.
    pub fn empty(document: &Document) -> Self {
        let count = document.root.nodes.len();
        Self {
            file_index: Vec::new(),
            rig_index: vec![NONE; count],
            in_scene: 0,
            visible: Vec::new(),
            visible_at_rest: Vec::new(),
            tops: (0..count as u32).collect(),
            parents: Vec::new(),
        }
    }

    /// Adds a node to the rig; returns false if it is part of the rig already.
    fn push(&mut self, node: u32, parent: u32) -> bool {
        let slot = &mut self.rig_index[node as usize];
        if *slot != NONE {
            return false;
        }
        *slot = self.file_index.len() as u32;
        self.file_index.push(node);
        self.parents.push(parent);
        true
    }

    /// Adds all descendants of the nodes from index `first`. Returns the first child that was part of the rig already, with its JSON
    /// pointer.
    fn add_descendants(&mut self, nodes: &[Node], first: usize) -> Option<(String, u32)> {
        let mut known = None;
        let mut next = first;
        while let Some(&node) = self.file_index.get(next) {
            for (k, child) in children(&nodes[node as usize]).enumerate() {
                if !self.push(child, next as u32) {
                    known.get_or_insert_with(|| (format!("/nodes/{node}/children/{k}"), child));
                }
            }
            next += 1;
        }
        known
    }

    /// Determines the visible nodes.
    ///
    /// # Errors
    /// If the memory budget is exceeded.
    fn read_visibility(&mut self, document: &Document) -> Result<(), Fault> {
        let animated = animated_visibility(document);
        let mut shown: Vec<bool> = Vec::with_capacity(self.in_scene);
        for (&index, &parent) in self.file_index[..self.in_scene].iter().zip(&self.parents) {
            let others = document.root.nodes[index as usize].extensions.as_ref().map(|e| &e.others);
            let read = extensions::read::<Visibility>(others, extensions::VISIBILITY, &format!("/nodes/{index}"));
            let own = document.or_warn(read, "the node is visible")?.flatten().is_none_or(|v| v.visible);
            self.visible_at_rest.push(own);
            let may_show = own || animated.contains(&(index as usize));
            shown.push(may_show && shown.get(parent as usize).is_none_or(|&parent| parent));
        }
        let nodes = (0..).zip(self.file_index.iter().copied()).zip(shown);
        self.visible = nodes.filter_map(|(node, shown)| shown.then_some(node)).collect();
        Ok(())
    }

    /// Adds the tree of a joint outside the scene, which is needed for the joint's transform.
    pub fn add_joint(&mut self, nodes: &[Node], joint: u32) {
        let first = self.file_index.len();
        if !self.push(self.tops[joint as usize], NONE) {
            self.push(joint, NONE);
        }
        // If the scene starts inside this tree, that part keeps its place.
        self.add_descendants(nodes, first);
    }

    /// The rig's nodes. Their morph weights are set later, once the meshes are read.
    ///
    /// # Errors
    /// If a transform is not finite.
    pub fn rig_nodes(&self, document: &Document) -> Result<Vec<RigNode>, Fault> {
        let each = self.file_index.iter().zip(&self.parents).enumerate();
        each.map(|(place, (&index, &parent))| {
            let node = &document.root.nodes[index as usize];
            let local = document.faults.keep(local(document, node, index))?;
            Ok(RigNode {
                name: name(node.name.as_deref(), "node", index as usize),
                parent,
                local: local.unwrap_or(Local::Matrix(Affine3::IDENTITY)),
                weights: Vec::new(),
                visible: self.visible_at_rest.get(place).copied().unwrap_or(true),
            })
        })
        .collect()
    }
}

/// The file's nodes whose visibility is animated.
fn animated_visibility(document: &Document) -> HashSet<usize> {
    let channels = document.root.animations.iter().flat_map(|animation| &animation.channels);
    channels.filter_map(|channel| pointers::visibility(&json::pointer_of(&channel.target)?)).collect()
}

fn children(node: &Node) -> impl Iterator<Item = u32> {
    node.children.iter().flatten().map(|c| c.value() as u32)
}

fn scene_roots(document: &Document, scene: usize) -> Vec<u32> {
    document.root.scenes[scene].nodes.iter().map(|node| node.value() as u32).collect()
}

/// A node with two parents.
struct Conflict {
    fault: Fault,
    parents: [u32; 2],
}

/// The first parent of each node, and the nodes that have a second parent.
fn parents_in_file(nodes: &[Node]) -> (Vec<u32>, Vec<Conflict>) {
    let (mut parents, mut conflicts) = (vec![NONE; nodes.len()], Vec::new());
    for (i, node) in nodes.iter().enumerate() {
        for (k, child) in children(node).enumerate() {
            let parent = &mut parents[child as usize];
            if *parent == NONE {
                *parent = i as u32;
                continue;
            }
            let message = format!("node {child} is a child of node {parent} already");
            let fault = fault(format!("/nodes/{i}/children/{k}"), message);
            conflicts.push(Conflict { fault, parents: [*parent, i as u32] });
        }
    }
    (parents, conflicts)
}

/// For each node, whether it is one of `roots` or below one.
fn reached(nodes: &[Node], roots: &[u32]) -> Vec<bool> {
    let mut reached = vec![false; nodes.len()];
    let mut open = roots.to_vec();
    while let Some(node) = open.pop() {
        if !std::mem::replace(&mut reached[node as usize], true) {
            open.extend(children(&nodes[node as usize]));
        }
    }
    reached
}

/// The top of each node's tree. Nodes in a cycle or below one are their own tops, with a warning.
///
/// # Errors
/// If such a node is `reached` from the scene.
fn tops(document: &Document, parents: &[u32], reached: &[bool]) -> Result<Vec<u32>, Fault> {
    let nodes = &document.root.nodes;
    let mut tops = vec![NONE; nodes.len()];
    let is_root = |&i: &u32| parents[i as usize] == NONE;
    let mut open: Vec<u32> = (0..nodes.len() as u32).filter(is_root).collect();
    open.iter().for_each(|&i| tops[i as usize] = i);
    while let Some(node) = open.pop() {
        let top = tops[node as usize];
        for child in children(&nodes[node as usize]) {
            // Only the first parent leads to the top.
            if std::mem::replace(&mut tops[child as usize], top) == NONE {
                open.push(child);
            }
        }
    }
    let astray = |node: &usize| tops[*node] == NONE;
    let in_scene = (0..tops.len()).filter(astray).find(|&node| reached[node]);
    let Some(start) = in_scene.or_else(|| (0..tops.len()).find(astray)) else {
        return Ok(tops);
    };
    let path = format!("/nodes/{}", on_cycle(parents, start));
    let message = "the node is its own ancestor";
    if in_scene.is_some() {
        return Err(fault(path, message));
    }
    document.warnings.add(&path, format!("{message}, but not in the scene"));
    let own = (0..).zip(tops).map(|(node, top)| if top == NONE { node } else { top });
    Ok(own.collect())
}

/// A node of the cycle above `start`. After as many steps up as there are nodes, the current node is part of the cycle.
fn on_cycle(parents: &[u32], start: usize) -> usize {
    (0..parents.len()).fold(start, |node, _| parents[node] as usize)
}

fn local(document: &Document, node: &Node, index: u32) -> Result<Local, Fault> {
    let path = |what: &str| format!("/nodes/{index}/{what}");
    let finite = |values: &[f32], what| {
        if values.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(fault(path(what), "numbers must be finite")) }
    };
    if let Some(matrix) = &node.matrix {
        finite(matrix, "matrix")?;
        let matrix = Mat4::from_cols_array(matrix);
        if matrix.row(3) != glam::Vec4::W {
            let message = "the last row is not 0 0 0 1 and ignored";
            document.warnings.add(&path("matrix"), message);
        }
        return Ok(Local::Matrix(thicken_matrix(Affine3::from_mat4(matrix))));
    }
    let translation = node.translation.unwrap_or([0.0; 3]);
    let rotation = node.rotation.map_or([0.0, 0.0, 0.0, 1.0], |q| q.0);
    let scale = node.scale.unwrap_or([1.0; 3]);
    finite(&translation, "translation")?;
    finite(&rotation, "rotation")?;
    finite(&scale, "scale")?;
    let rotation = unit_quaternion(rotation).unwrap_or_else(|| {
        let message = "the rotation has no direction and is ignored";
        document.warnings.add(&path("rotation"), message);
        Quat::IDENTITY
    });
    Ok(Local::Parts(Trs { translation: Vec3::from(translation), rotation, scale: Vec3::from(scale) }))
}

/// The unit quaternion in the direction of `xyzw`; None for zero and for numbers that are not finite.
pub fn unit_quaternion(xyzw: [f32; 4]) -> Option<Quat> {
    let q = glam::DVec4::from(xyzw.map(f64::from)).try_normalize()?;
    Some(Quat::from_vec4(q.as_vec4()))
}
