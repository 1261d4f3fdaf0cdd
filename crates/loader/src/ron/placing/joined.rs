//! Groups that a motion bends are joined into one mesh.

use super::{
    instances::Bends,
    resolved::{Item, Resolved, Target},
};
use crate::{
    geometry::shapes,
    meshes::MeshSource,
    model::{MeshMotion, unweld},
};
use glam::{Affine3, Vec3};
use std::collections::BTreeMap;
use throng_scene::{NONE, Shape, TriangleMesh, rig::Deformers};

/// Maximum number of triangles of a bending group.
const MOST_TRIANGLES: usize = 1 << 24;
/// Maximum depth of nested groups.
const MOST_LEVELS: u32 = 16;
/// Number of sides of spheres that are converted to triangles.
const SIDES: u32 = 32;

/// Creates a mesh for each group with a bending motion, after the file's meshes, and places it instead of the group.
///
/// # Errors
/// The name of a group that cannot bend, and a sentence with the reason.
pub fn join_bent(
    resolved: &mut Resolved,
    sources: &mut Vec<MeshSource>,
    bends: &Bends,
) -> Result<(), (String, String)> {
    let bent = |item: &Item| match item.target {
        Target::List(list) if bends.bends(item.motion) => Some(list),
        _ => None,
    };
    let all = resolved.lists.iter().flatten().chain(&resolved.top);
    // In the order of the lists, so that meshes do not depend on the order of the map.
    let mut joined: BTreeMap<usize, (usize, bool)> = all.filter_map(bent).map(|list| (list, (0, false))).collect();
    for (&list, mesh) in &mut joined {
        let name = resolved.names.get(list).map_or("group", String::as_str);
        let mut join =
            Join { lists: &resolved.lists, sources, out: TriangleMesh::default(), rows: Vec::new(), is_whole: true };
        join.list(list, &Affine3::IDENTITY, NONE, 0).map_err(|why| (name.to_owned(), why))?;
        let Join { out, rows, is_whole, .. } = join;
        *mesh = (sources.len(), is_whole);
        sources.push(MeshSource::of_triangles(name, out, rows, Vec::new(), Vec::new()));
    }
    for item in resolved.lists.iter_mut().flatten().chain(&mut resolved.top) {
        let Some((mesh, is_whole)) = bent(item).and_then(|list| joined.get(&list)) else { continue };
        item.target = Target::Mesh(*mesh);
        if *is_whole {
            // All parts of the group have their own materials, which the surroundings do not replace.
            item.materials.clear();
        }
    }
    Ok(())
}

struct Join<'a> {
    lists: &'a [Vec<Item>],
    sources: &'a [MeshSource],
    out: TriangleMesh,
    /// Material row of each slot.
    rows: Vec<u32>,
    /// Whether every part has its own material.
    is_whole: bool,
}

impl Join<'_> {
    /// Adds everything that a list places; `at` is the transform to the space of the mesh.
    fn list(&mut self, list: usize, at: &Affine3, material: u32, level: u32) -> Result<(), String> {
        if level > MOST_LEVELS {
            return Err("its groups are nested endlessly or too deeply: flatten them".to_owned());
        }
        let lists = self.lists;
        for item in &lists[list] {
            if item.moves() || item.visible.is_some() {
                return Err(
                    "something in it moves or disappears by itself: remove that `motion`, `Table` or `visible`"
                        .to_owned(),
                );
            }
            for copy in 0..item.count() as u32 {
                let (number, transform) = item.copy(copy);
                let own = item.material(number);
                let material = if own == NONE { material } else { own };
                match item.target {
                    Target::List(inner) => self.list(inner, &(*at * transform), material, level + 1)?,
                    Target::Mesh(mesh) => self.mesh(mesh, &(*at * transform), material)?,
                }
            }
        }
        Ok(())
    }

    fn mesh(&mut self, mesh: usize, at: &Affine3, material: u32) -> Result<(), String> {
        let source = &self.sources[mesh];
        let name = &source.mesh.name;
        if !matches!(source.motion, MeshMotion::Still) {
            return Err(format!("`{name}` in it has a clip: remove `clip` and `alive` there"));
        }
        let own = match &source.mesh.shape {
            Shape::Sphere => shapes::ball(SIDES),
            Shape::Curves(_) => return Err(format!("`{name}` in it is made of curves: leave it out")),
            Shape::Triangles(mesh) if mesh.normals.is_empty() => unweld(mesh, &Deformers::default()).0,
            Shape::Triangles(mesh) => mesh.clone(),
        };
        if self.out.triangles.len() + own.triangles.len() > MOST_TRIANGLES {
            return Err(format!("it has more than {MOST_TRIANGLES} triangles: use fewer or simpler meshes"));
        }
        let slots: Vec<u32> = source.materials.iter().map(|&row| self.slot(row, material)).collect();
        self.add(own, at, &slots);
        Ok(())
    }

    /// The slot for a mesh's own material, which `around` replaces unless it is [`NONE`].
    fn slot(&mut self, own: u32, around: u32) -> u32 {
        self.is_whole &= around != NONE;
        let row = if around == NONE { own } else { around };
        let known = self.rows.iter().position(|known| *known == row);
        let slot = known.unwrap_or(self.rows.len());
        if known.is_none() {
            self.rows.push(row);
        }
        slot as u32
    }

    fn add(&mut self, mesh: TriangleMesh, at: &Affine3, slots: &[u32]) {
        let out = &mut self.out;
        let (first, end) = (out.positions.len(), out.positions.len() + mesh.positions.len());
        append(&mut out.uvs, &mesh.uvs, [0.0; 2], first, end);
        append(&mut out.uvs1, &mesh.uvs1, [0.0; 2], first, end);
        append(&mut out.colors, &mesh.colors, [1.0; 4], first, end);
        out.positions.extend(mesh.positions.iter().map(|&p| at.transform_point3(p.into()).to_array()));
        let turn = at.matrix3.inverse().transpose();
        out.normals.extend(mesh.normals.iter().map(|&n| (turn * Vec3::from(n)).normalize_or(Vec3::Y).to_array()));
        // The winding of mirrored triangles is reversed.
        let is_mirrored = at.matrix3.determinant() < 0.0;
        let triangle = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| v + first as u32);
            if is_mirrored { [a, c, b] } else { [a, b, c] }
        };
        out.triangles.extend(mesh.triangles.iter().map(triangle));
        let slot = |i: usize| slots[mesh.slots.get(i).map_or(0, |slot| *slot as usize)];
        out.slots.extend((0..mesh.triangles.len()).map(slot));
    }
}

/// Adds attributes of the vertices `first..end`. If only some meshes have them, the others get `default`.
fn append<T: Copy>(to: &mut Vec<T>, from: &[T], default: T, first: usize, end: usize) {
    if !(to.is_empty() && from.is_empty()) {
        to.resize(first, default);
        to.extend_from_slice(from);
        to.resize(end, default);
    }
}
