//! Skins: their joint nodes and inverse bind matrices (glTF 2.0, 3.7.3).

use super::{
    fault::{Fault, fault},
    file::{
        accessor,
        document::{Document, out_of_range},
    },
    nodes::{Hierarchy, name},
};
use glam::{Affine3, Mat4};
use throng_scene::{NONE, rig::Skin};

/// The skins that the scene uses.
pub struct Skins {
    pub skins: Vec<Skin>,
    /// For each skin of the file, its index in `skins`, or none.
    pub rig_index: Vec<u32>,
}

/// Reads the skins of the scene's visible nodes with a mesh. Joints outside the scene are added to the hierarchy.
///
/// # Errors
/// If a skin or joint does not exist, or if its matrices are invalid.
pub fn read(document: &Document, hierarchy: &mut Hierarchy) -> Result<Skins, Fault> {
    let count = document.root.skins.len();
    let mut read = Skins { skins: Vec::new(), rig_index: vec![NONE; count] };
    for (_, index) in hierarchy.visible.clone() {
        let node = &document.root.nodes[index as usize];
        let (Some(skin), Some(_)) = (node.skin, node.mesh) else {
            continue;
        };
        let skin = skin.value();
        let slot = read
            .rig_index
            .get_mut(skin)
            .ok_or_else(|| fault(format!("/nodes/{index}/skin"), out_of_range("skin", skin, count)));
        let Some(slot) = document.faults.keep(slot)? else {
            continue;
        };
        if *slot == NONE {
            let skin = read_skin(document, hierarchy, skin);
            if let Some(skin) = document.faults.keep(skin)? {
                *slot = read.skins.len() as u32;
                read.skins.push(skin);
            }
        }
    }
    Ok(read)
}

fn read_skin(document: &Document, hierarchy: &mut Hierarchy, index: usize) -> Result<Skin, Fault> {
    let path = format!("/skins/{index}");
    let skin = &document.root.skins[index];
    if skin.joints.is_empty() {
        return Err(fault(path, "a skin needs at least one joint"));
    }
    document
        .budget
        .take_array(skin.joints.len(), size_of::<Affine3>() + 4)
        .map_err(|lack| fault(&path, format!("the skin {lack}")))?;
    let mut joints = Vec::with_capacity(skin.joints.len());
    let mut outside = false;
    for (k, joint) in skin.joints.iter().enumerate() {
        let joint = joint.value();
        let Some(&known) = hierarchy.rig_index.get(joint) else {
            let count = document.root.nodes.len();
            return Err(fault(format!("{path}/joints/{k}"), out_of_range("node", joint, count)));
        };
        if known == NONE {
            outside = true;
            hierarchy.add_joint(&document.root.nodes, joint as u32);
        }
        joints.push(hierarchy.rig_index[joint]);
    }
    if outside {
        let message = "some joints are not in the scene; they are taken from where they are";
        document.warnings.add(&path, message);
    }
    Ok(Skin {
        name: name(skin.name.as_deref(), "skin", index),
        joint_from_mesh: inverse_bind_matrices(document, index)?,
        joints,
    })
}

fn inverse_bind_matrices(document: &Document, index: usize) -> Result<Vec<Affine3>, Fault> {
    let skin = &document.root.skins[index];
    let count = skin.joints.len();
    let Some(accessor) = skin.inverse_bind_matrices else {
        return Ok(vec![Affine3::IDENTITY; count]);
    };
    let path = format!("/skins/{index}/inverseBindMatrices");
    let elements = accessor::elements(document, accessor, &path)?;
    let matrices = elements.floats::<16>(document.budget)?;
    if matrices.len() < count {
        let message = format!("{} matrices for {count} joints", matrices.len());
        return Err(fault(path, message));
    }
    if matrices.as_flattened().iter().any(|x| !x.is_finite()) {
        return Err(elements.fault("numbers must be finite"));
    }
    let affine = |m: &[f32; 16]| Affine3::from_mat4(Mat4::from_cols_array(m));
    Ok(matrices.iter().take(count).map(affine).collect())
}
