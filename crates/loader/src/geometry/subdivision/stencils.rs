//! Weights of all vertices of a layout.

use super::{
    grid::Grid,
    layout::Layout,
    limit::{self, Limit},
    patch::{Patch, Patches},
    refine::{Level, Rules},
    topology::Topology,
};
use rayon::prelude::*;
use std::collections::HashMap;
use throng_scene::rig::{Block, Pattern, Stencils};

/// Faces whose patches are in memory at a time.
const FACES: usize = 1 << 14;

/// The weights of the vertices of a layout on the vertices of a topology: of values, and for `W` = 3 also of their tangents.
pub fn of<const W: usize>(topology: &Topology, layout: &Layout, rules: Rules, level: u32) -> Stencils<W> {
    let mut stencils = Stencils { selections: layout.selections.clone(), ..Stencils::default() };
    let mut pattern_of: HashMap<Patch, u32> = HashMap::new();
    for faces in layout.faces.chunks(FACES) {
        let find = |patches: &mut Patches<'_>, &[face, ..]: &[u32; 3]| patches.patch(face, !rules.linear);
        let patches: Vec<Patch> = faces.par_iter().map_init(|| Patches::of(topology), find).collect();
        for (mut patch, &[_, selection, first]) in patches.into_iter().zip(faces) {
            let controls = stencils.controls.len() as u32;
            stencils.controls.append(&mut patch.controls);
            let next = pattern_of.len() as u32;
            let pattern = *pattern_of.entry(patch).or_insert(next);
            stencils.blocks.push(Block { pattern, selection, controls, first });
        }
    }
    let mut patches: Vec<(Patch, u32)> = pattern_of.into_iter().collect();
    patches.sort_unstable_by_key(|(_, number)| *number);
    let pattern = |(patch, _): &(Patch, u32)| {
        let corners = patch.topology.corners_of(0).len() as u32;
        layout.grid(corners).map_or_else(Pattern::default, |grid| pattern(patch, grid, rules, level))
    };
    stencils.patterns = patches.par_iter().map(pattern).collect();
    stencils
}

/// The weights of all rows of a grid.
fn pattern<const W: usize>(patch: &Patch, grid: &Grid, rules: Rules, level: u32) -> Pattern<W> {
    let mut levels = vec![Level::of(&patch.topology)];
    for number in 0..level as usize {
        let next = levels[number].refined(rules);
        levels.push(next);
    }
    let last = &levels[levels.len() - 1];
    let width = patch.topology.vertex_sharpness.len();
    let mut weights: Vec<[f32; W]> = Vec::with_capacity(width * grid.len() as usize);
    for corner in grid.corners_of_rows(&levels) {
        let limit = if rules.linear {
            let position = last.weights.row(last.topology.vertex(corner)).to_vec();
            Limit { position, tangents: [vec![0.0; width], vec![0.0; width]] }
        } else {
            limit::at(last, corner, rules.scheme)
        };
        let [u, v] = &limit.tangents;
        let sums = [&limit.position, u, v];
        weights.extend((0..width).map(|control| std::array::from_fn(|sum| sums[sum][control] as f32)));
    }
    Pattern::new(width, &weights)
}
