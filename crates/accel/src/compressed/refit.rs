//! Refits compressed trees to moved primitives in place. Each node stores the positions of its children itself.

use crate::{
    compressed::quantize::quantize,
    refit::plan::{Item, Leaf, Primitives, RefitPlan, Refitted, TreePart},
    surface::{SimdBox, Surface, half_areas, planes, rows},
};
use glam::Vec4;
use throng_abi::{CompressedNode, TriangleRecord, Unit};

/// Refits a tree to the positions of `prims`. Slots and sizes do not change. O(primitives), no stack. Creates `plan` on first use.
pub fn refit_compressed<L: Leaf<P>, P: Primitives>(
    units: &mut [Unit],
    leaves: &mut [L],
    plan: &mut Option<RefitPlan>,
    prims: &P,
) -> Refitted {
    let nodes: &mut [CompressedNode] = bytemuck::cast_slice_mut(units);
    let plan = plan.get_or_insert_with(|| RefitPlan::new(nodes));
    plan.pass(nodes, leaves, prims, refit_node)
}

fn refit_node<L: Leaf<P>, P>(part: &mut TreePart<'_, CompressedNode, L, P>, index: usize) -> (SimdBox, f32) {
    let CompressedNode { mut unit_base, mut leaf_base, units, triangles, .. } = part.items[index];
    let mut boxes = [SimdBox::EMPTY; 8];
    let mut bounds = SimdBox::EMPTY;
    for (slot, to) in boxes.iter_mut().enumerate() {
        let child = if triangles >> slot & 1 != 0 {
            leaf_base += 1;
            part.leaf(leaf_base - 1)
        } else if units >> slot & 1 != 0 {
            unit_base += 1;
            part.below(unit_base - 1)
        } else {
            continue;
        };
        *to = child;
        bounds = bounds.union(child);
    }
    let planes = planes(&boxes);
    let grid = quantize(&planes);
    grid.store(&mut part.items[index]);
    (bounds, half_areas(&planes))
}

impl Leaf<Surface<'_>> for TriangleRecord {
    const AHEAD: usize = 8;

    fn named(&self) -> impl Iterator<Item = u32> {
        std::iter::once(self.rows[0].prim)
    }

    #[inline]
    fn fill(&mut self, surface: &Surface<'_>) -> SimdBox {
        let prim = self.rows[0].prim;
        let corners = surface.vectors(prim);
        let [a, b, c] = corners;
        // The triangle's index is the fourth corner, so that whole rows are written.
        let rows = rows([a, b, c, Vec4::splat(f32::from_bits(prim))]);
        self.rows = [0, 1, 2].map(|axis| bytemuck::cast(rows[axis].to_array()));
        SimdBox::EMPTY.with_points(&corners)
    }
}

impl Item for CompressedNode {
    const LARGEST_RUN: u32 = 512;
    const LEADS_SUBTREE: bool = false;

    fn children(&self) -> impl Iterator<Item = u32> {
        self.unit_base..self.unit_base + self.units.count_ones()
    }

    fn leaves(&self) -> impl Iterator<Item = u32> {
        self.leaf_base..self.leaf_base + self.triangles.count_ones()
    }
}
