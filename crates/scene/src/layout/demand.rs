//! The vertex attributes that the materials of each mesh need.

use crate::{Material, NONE, Scene};
use std::collections::HashSet;

/// Optional vertex attributes that the materials of a mesh read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[doc(hidden)]
pub struct VertexDemand {
    /// Set of texture coordinates (0 or 1) for tangents. None if no material needs tangents.
    pub tangents: Option<u32>,
    /// Whether a material reads the second set of texture coordinates.
    pub uvs1: bool,
}

impl Scene {
    /// Returns for each mesh the vertex attributes that the materials of its instances need. O(instances), or O(materials) if no material
    /// needs any.
    #[doc(hidden)]
    pub fn vertex_demands(&self) -> Vec<VertexDemand> {
        let mut demands = vec![VertexDemand::default(); self.meshes.len()];
        let of: Vec<VertexDemand> = self.materials.iter().map(|m| self.demand_of(m)).collect();
        if of.iter().all(|demand| *demand == VertexDemand::default()) {
            return demands;
        }
        let mut seen = HashSet::new();
        for instance in &self.instances {
            if !seen.insert((instance.mesh, instance.slot_base)) {
                continue;
            }
            let index = instance.mesh as usize;
            let Some(mesh) = self.meshes.get(index) else {
                continue;
            };
            let first = instance.slot_base as usize;
            let slots = self.material_slots.get(first..first + mesh.slot_count as usize);
            for &row in slots.unwrap_or_default() {
                let other = of.get(row as usize).copied().unwrap_or_default();
                let demand = &mut demands[index];
                demand.tangents = demand.tangents.or(other.tangents);
                demand.uvs1 |= other.uvs1;
            }
        }
        self.share_among_poses(&mut demands);
        demands
    }

    /// Gives all meshes of a palette the demand of the first one, because instances refer to the first and may show any.
    fn share_among_poses(&self, demands: &mut [VertexDemand]) {
        for palette in &self.palettes {
            let first = palette.first_mesh as usize;
            let demand = demands.get(first).copied().unwrap_or_default();
            let poses = demands.get_mut(first..first + palette.poses.count as usize);
            poses.unwrap_or_default().fill(demand);
        }
    }

    fn demand_of(&self, material: &Material) -> VertexDemand {
        let set = |map: u32| self.maps.get(map as usize).map(|map| map.uv_set);
        let lobes = &material.lobes;
        let directed = [lobes.normal_map, lobes.clearcoat_normal_map, lobes.anisotropy_map];
        let along = directed.into_iter().find_map(set).unwrap_or(0);
        let mut maps = material.maps().into_iter().filter(|&map| map != NONE);
        VertexDemand { tangents: material.uses_tangents().then_some(along), uvs1: maps.any(|map| set(map) == Some(1)) }
    }
}
