//! Validation of compressed trees right after they were built; debug builds validate every tree.

#![cfg_attr(not(any(debug_assertions, test)), expect(dead_code, reason = "release builds trust their trees"))]

use crate::{
    BlasShape, Surface, Tlas, TlasInput, TreeError,
    compressed::{
        patch::{rows_of, triangles_of_leaf, triangles_of_node},
        quantize::{MARGIN, SLACK},
        slots::count_before,
    },
    validate::Coverage,
};
use glam::{DVec3, Vec3};
use throng_abi::{CompressedNode, InstanceUnit, NO_INDEX, PatchRow, Unit};
use throng_base::math::Aabb;

const EVERYWHERE: Aabb = Aabb { min: Vec3::NEG_INFINITY, max: Vec3::INFINITY };

/// Checks that each triangle has at least one leaf, that corners agree with the mesh, and that planes enclose their content.
pub fn validate_blas(units: &[Unit], rows: &[PatchRow], surface: &Surface<'_>, depth: u32) -> Result<(), TreeError> {
    let nodes: &[CompressedNode] = bytemuck::cast_slice(units);
    if let Some(node) = nodes.iter().find(|node| rows_of(node, rows).is_none()) {
        return Err(TreeError::NoSuchLeaf { leaf: node.leaf_base });
    }
    let named = |node| triangles_of_node(node, rows).map(|triangle| rows[node.leaf_base as usize + triangle.row].prim);
    let mut coverage = Coverage::new(nodes.iter().flat_map(named), surface);
    let leaf = |node: &CompressedNode, slot: usize, within: Aabb| {
        let first = node.leaf_base as usize;
        let mut content = Aabb::EMPTY;
        for triangle in triangles_of_leaf(node, slot, rows) {
            let prim = rows[first + triangle.row].prim;
            let corners = triangle.corners.map(|place| rows[first + place].position);
            if corners != surface.corners(prim as usize) {
                return Err(TreeError::NoSuchLeaf { leaf: node.leaf_base });
            }
            coverage.add(prim, &within);
            // The box of a single part is not available here; `coverage` checks that the parts cover the triangle.
            if !coverage.is_in_parts(prim) {
                content = content.union(surface.bounds(prim as usize));
            }
        }
        Ok(content)
    };
    Walk::new(units, false, leaf).check(depth)?;
    coverage.check()
}

/// Checks that each visible instance has one leaf and hidden ones have none, and that planes enclose their content.
pub fn validate_tlas(tlas: &Tlas, input: TlasInput<'_>) -> Result<(), TreeError> {
    let positions = input.positions();
    let mut seen = vec![0u32; input.instances.len()];
    let leaf = |node: &CompressedNode, slot: usize, _: Aabb| {
        let index = unit_index(node, slot);
        let unit: InstanceUnit = bytemuck::cast(tlas.units[index]);
        let wrong = TreeError::NoSuchLeaf { leaf: index as u32 };
        let position = positions.get(&unit.instance).copied();
        let matches = tlas.records.get(unit.record as usize).is_some_and(|r| {
            let sphere = matches!(input.blas[r.mesh as usize].shape, BlasShape::Sphere);
            r.instance == unit.instance
                && r.object_from_world == unit.object_from_world
                && (unit.root == NO_INDEX) == sphere
        });
        let Some(position) = position.filter(|_| matches) else { return Err(wrong) };
        seen[position] += 1;
        input.bounds(position, &tlas.shutter).ok_or(wrong)
    };
    Walk::new(&tlas.units, true, leaf).check(tlas.tree.depth)?;
    for record in tlas.records.iter() {
        let blas = &input.blas[record.mesh as usize];
        let visible = record.mask != 0 && !blas.bounds.is_empty();
        let prim = record.instance as usize;
        let times = positions.get(&record.instance).map_or(0, |&position| seen[position]);
        if times != u32::from(visible) {
            return Err(TreeError::Count { prim, times });
        }
    }
    Ok(())
}

fn unit_index(node: &CompressedNode, slot: usize) -> usize {
    (node.unit_base + count_before(node.units, slot)) as usize
}

/// The box of a slot as decoded by a kernel, shrunk by the margin in cells on which the kernel relies.
pub fn decoded(node: &CompressedNode, slot: usize) -> (DVec3, DVec3) {
    let corner = |first: usize, margin: f64| {
        DVec3::from_array(std::array::from_fn(|axis| {
            let upper = |half: u16| f32::from_bits(u32::from(half) << 16);
            let cell = match axis {
                2 => node.scale_z,
                _ => upper(node.scale_xy[axis]),
            };
            let cell = f64::from(cell);
            let byte = f64::from(node.planes[first + axis][slot]);
            f64::from(node.origin[axis]) + (byte + margin) * cell
        }))
    };
    (corner(0, MARGIN), corner(3, -MARGIN))
}

struct Walk<'a, L> {
    units: &'a [Unit],
    /// Whether leaves are units.
    leaf_units: bool,
    /// Counts a leaf that only rays inside the given box reach, and returns the exact box of its content.
    leaf: L,
    references: Vec<u32>,
    deepest: u32,
}

impl<'a, L: FnMut(&CompressedNode, usize, Aabb) -> Result<Aabb, TreeError>> Walk<'a, L> {
    fn new(units: &'a [Unit], leaf_units: bool, leaf: L) -> Self {
        Self { units, leaf_units, leaf, references: vec![0; units.len()], deepest: 0 }
    }

    fn check(&mut self, depth: u32) -> Result<(), TreeError> {
        if self.units.is_empty() {
            return Ok(());
        }
        self.references[0] = 1;
        self.node(0, 1, EVERYWHERE)?;
        if self.deepest != depth {
            return Err(TreeError::Depth { found: self.deepest, claimed: depth });
        }
        match self.references.iter().position(|&times| times != 1) {
            Some(unit) => Err(TreeError::Unit { unit, times: self.references[unit] }),
            None => Ok(()),
        }
    }

    /// Checks a subtree that only rays inside `within` reach, and returns the box around its leaves.
    fn node(&mut self, index: usize, level: u32, within: Aabb) -> Result<Aabb, TreeError> {
        self.deepest = self.deepest.max(level);
        let node: CompressedNode = bytemuck::cast(self.units[index]);
        let mut all = Aabb::EMPTY;
        let leaves_elsewhere = if self.leaf_units { node.leaves } else { node.instances };
        let in_no_leaf = node.pairs & !node.leaves;
        if leaves_elsewhere | in_no_leaf != 0 || node.instances & !node.units != 0 || node.leaves & node.units != 0 {
            return Err(TreeError::Masks { node: index });
        }
        for slot in 0..8 {
            let is_unit = node.units >> slot & 1 != 0;
            let (min, max) = decoded(&node, slot);
            let own = Aabb { min: min.as_vec3(), max: max.as_vec3() };
            let within = within.intersection(own);
            let content = if is_unit {
                self.unit(&node, slot, level, within)?
            } else if node.leaves >> slot & 1 != 0 {
                (self.leaf)(&node, slot, within)?
            } else {
                continue;
            };
            if !content.is_empty() {
                let slack = f64::from(SLACK) * f64::from(content.reach().max_element());
                let inside =
                    min.cmple(content.min.as_dvec3() - slack).all() && max.cmpge(content.max.as_dvec3() + slack).all();
                if !inside {
                    return Err(TreeError::ChildOutside { node: index, slot });
                }
            }
            all = all.union(content);
        }
        Ok(all)
    }

    fn unit(&mut self, node: &CompressedNode, slot: usize, level: u32, within: Aabb) -> Result<Aabb, TreeError> {
        let index = unit_index(node, slot);
        let Some(references) = self.references.get_mut(index) else {
            return Err(TreeError::NoSuchLeaf { leaf: index as u32 });
        };
        *references += 1;
        if node.instances >> slot & 1 != 0 {
            (self.leaf)(node, slot, within)
        } else {
            self.node(index, level + 1, within)
        }
    }
}
