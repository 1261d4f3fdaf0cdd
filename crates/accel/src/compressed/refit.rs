//! Refits compressed trees to moved primitives in place. Each node stores the positions of its children itself.

use crate::{
    compressed::{
        patch::{leaf_box, rows_of, vertices_of_rows},
        quantize::quantize,
        slots::count_before,
    },
    refit::plan::{Bearer, Item, Leaf, Primitives, RefitPlan, Refitted, TreePart},
    surface::{SimdBox, Strands, Surface, half_areas, planes},
};
use std::ops::Range;
use throng_abi::{CompressedNode, PatchRow, Unit};

/// Refits a tree of triangles to the positions of `surface`. Slots and sizes do not change. O(triangles), no stack. Creates `plan` on first use.
pub fn refit_patches(
    units: &mut [Unit],
    rows: &mut [PatchRow],
    plan: &mut Option<RefitPlan>,
    surface: &Surface<'_>,
) -> Refitted {
    let keep = |nodes: &[CompressedNode], rows: &[PatchRow]| vertices_of_rows(nodes, rows, surface);
    refit(units, rows, plan, surface, keep, leaf_box)
}

/// As [`refit_patches`], for a tree of curves.
pub fn refit_segments(
    units: &mut [Unit],
    segments: &mut [u32],
    plan: &mut Option<RefitPlan>,
    strands: &Strands<'_>,
) -> Refitted {
    refit(
        units,
        segments,
        plan,
        strands,
        |_, _| Vec::new(),
        |part, node, slot| part.leaf(node.leaf_base + count_before(node.leaves, slot)),
    )
}

/// `keep` returns the vertices that a plan keeps of all leaves, and `leaf_box` the box of the leaf in a slot.
fn refit<L: Leaf<P>, P: Primitives>(
    units: &mut [Unit],
    leaves: &mut [L],
    plan: &mut Option<RefitPlan>,
    prims: &P,
    keep: impl FnOnce(&[CompressedNode], &[L]) -> Vec<u32>,
    leaf_box: impl Fn(&mut TreePart<'_, CompressedNode, L, P>, &CompressedNode, usize) -> SimdBox + Sync,
) -> Refitted
where
    CompressedNode: Bearer<L>,
{
    let nodes: &mut [CompressedNode] = bytemuck::cast_slice_mut(units);
    let plan = plan.get_or_insert_with(|| RefitPlan::new(nodes, leaves, keep(nodes, leaves)));
    plan.pass(nodes, leaves, prims, |part, index| {
        let node = part.items[index];
        let mut child = node.unit_base;
        let mut boxes = [SimdBox::EMPTY; 8];
        let mut bounds = SimdBox::EMPTY;
        for (slot, to) in boxes.iter_mut().enumerate() {
            if node.leaves >> slot & 1 != 0 {
                *to = leaf_box(part, &node, slot);
            } else if node.units >> slot & 1 != 0 {
                *to = part.below(child);
                child += 1;
            }
            bounds = bounds.union(*to);
        }
        let planes = planes(&boxes);
        quantize(&planes).store(&mut part.items[index]);
        (bounds, half_areas(&planes))
    })
}

impl Item for CompressedNode {
    const LARGEST_RUN: u32 = 512;
    const LEADS_SUBTREE: bool = false;

    fn children(&self) -> impl Iterator<Item = u32> {
        self.unit_base..self.unit_base + self.units.count_ones()
    }
}

impl Bearer<PatchRow> for CompressedNode {
    fn span(&self, rows: &[PatchRow]) -> Option<Range<u32>> {
        let rows = rows_of(self, rows)?;
        (!rows.is_empty()).then_some(rows.start as u32..rows.end as u32)
    }
}

impl Bearer<u32> for CompressedNode {
    fn span(&self, _: &[u32]) -> Option<Range<u32>> {
        (self.leaves != 0).then(|| self.leaf_base..self.leaf_base + self.leaves.count_ones())
    }
}
