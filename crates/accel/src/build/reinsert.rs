//! Improves a finished binary tree: subtrees are removed and reinserted where they enlarge boxes the least (Meister and Bittner 2018, "Parallel
//! Reinsertion for Bounding Volume Hierarchy Optimization").

use crate::{
    build::binary::{BinaryNode, NO_NODE},
    surface::SimdBox,
};
use rayon::prelude::*;
use throng_base::math::Aabb;

/// Maximum number of rounds of searches and moves.
const ROUNDS: usize = 4;
/// Minimum fraction of the surface that a round must save for another round to follow.
const LEAST_GAIN: f64 = 0.002;
/// In each round, the largest subtrees are candidates: one in this many of all subtrees.
const CANDIDATE_SHARE: usize = 2;
/// Maximum number of candidates per round. In huge trees, subtrees near the leaves are not worth the time.
const MOST_CANDIDATES: usize = 1 << 18;
/// Maximum number of places tested per candidate, because few can be ruled out if everything overlaps.
const MOST_PLACES: u32 = 40;
/// Maximum average number of places tested per candidate for another round to follow, for the same reason.
const MOST_ON_AVERAGE: usize = 24;
const ROOT: u32 = 0;

/// Reduces the total surface area. The root stays node 0; other nodes may come before their parents. Deterministic, parallel.
pub fn reinsert(nodes: &mut [BinaryNode]) {
    let mut linked = LinkedNodes::new(nodes);
    // Nodes to search a place for in the next round: at first all nodes; later, nodes that have moved, that could not make their move, or that moves
    // have changed.
    let mut restless = vec![true; linked.nodes.len()];
    for _ in 0..ROUNDS {
        linked.begin_round();
        let mut candidates = linked.candidates();
        candidates.retain(|&node| restless[node as usize]);
        let count = candidates.len();
        let searches = candidates.into_par_iter().with_min_len(64);
        let found: Vec<(Option<Move>, u32)> =
            searches.map_init(Vec::new, |open, node| linked.best_move(node, open)).collect();
        let looked_at: usize = found.iter().map(|(_, places)| *places as usize).sum();
        let mut moves: Vec<Move> = found.into_iter().filter_map(|(best, _)| best).collect();
        moves.sort_unstable_by(|a, b| b.gain.total_cmp(&a.gain).then(a.from.cmp(&b.from)));
        let before = linked.surface();
        restless = linked.apply(&moves);
        moves.iter().for_each(|m| restless[m.from as usize] = true);
        if looked_at > MOST_ON_AVERAGE * count || linked.surface() > before * (1.0 - LEAST_GAIN) {
            break;
        }
    }
}

/// Subtree `from` becomes the sibling of `to`.
#[derive(Clone, Copy)]
struct Move {
    from: u32,
    to: u32,
    /// Half the surface area saved.
    gain: f32,
}

/// The data of a node that searches read, in whole registers.
#[derive(Clone, Copy)]
struct SearchNode {
    bounds: SimdBox,
    /// Half the surface.
    area: f32,
    /// Both are [`NO_NODE`] for a leaf.
    children: [u32; 2],
}

impl SearchNode {
    fn new(node: &BinaryNode) -> Self {
        Self {
            bounds: SimdBox { min: node.bounds.min.extend(0.0), max: node.bounds.max.extend(0.0) },
            area: node.bounds.half_area(),
            children: node.children,
        }
    }
}

struct LinkedNodes<'a> {
    nodes: &'a mut [BinaryNode],
    parents: Vec<u32>,
    /// The nodes as they were at the start of the round.
    search_nodes: Vec<SearchNode>,
}

impl<'a> LinkedNodes<'a> {
    fn new(nodes: &'a mut [BinaryNode]) -> Self {
        let mut parents = vec![ROOT; nodes.len()];
        for (index, node) in nodes.iter().enumerate().filter(|(_, n)| !n.is_leaf()) {
            for child in node.children {
                parents[child as usize] = index as u32;
            }
        }
        Self { nodes, parents, search_nodes: Vec::new() }
    }

    fn begin_round(&mut self) {
        let nodes = self.nodes.par_iter().with_min_len(4096);
        nodes.map(SearchNode::new).collect_into_vec(&mut self.search_nodes);
    }

    fn bounds(&self, node: u32) -> Aabb {
        self.nodes[node as usize].bounds
    }

    /// Half the surface area of a node at the start of the round.
    fn area(&self, node: u32) -> f32 {
        self.search_nodes[node as usize].area
    }

    /// Sum of half the surface areas of all nodes.
    fn surface(&self) -> f64 {
        let areas = self.nodes.iter().map(|n| f64::from(n.bounds.half_area()));
        areas.sum()
    }

    fn parent(&self, node: u32) -> u32 {
        self.parents[node as usize]
    }

    fn sibling(&self, node: u32) -> u32 {
        let [left, right] = self.nodes[self.parent(node) as usize].children;
        if left == node { right } else { left }
    }

    /// The largest subtrees, except the root's children, because their parent cannot be removed.
    fn candidates(&self) -> Vec<u32> {
        let movable = (1..self.nodes.len() as u32).filter(|&n| self.parent(n) != ROOT);
        let mut all: Vec<(f32, u32)> = movable.map(|n| (self.bounds(n).half_area(), n)).collect();
        let count = (all.len() / CANDIDATE_SHARE).min(MOST_CANDIDATES);
        if count == 0 {
            return all.into_iter().map(|(_, node)| node).collect();
        }
        all.select_nth_unstable_by(count, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        all.into_iter().take(count).map(|(_, node)| node).collect()
    }

    /// Finds the best move of a subtree by branch and bound over the siblings of all ancestors; `None` if its current place is best. Also returns the
    /// number of tested places. `open` is working memory of the search.
    fn best_move(&self, from: u32, open: &mut Vec<(f32, u32)>) -> (Option<Move>, u32) {
        let bounds = self.search_nodes[from as usize].bounds;
        let mut best = Move { from, to: ROOT, gain: 0.0 };
        // Area saved by removing the subtree, among the ancestors below `pivot`.
        let mut saved = self.area(self.parent(from));
        let mut pivot = self.parent(from);
        let mut rest = self.search_nodes[self.sibling(from) as usize].bounds;
        let mut places = MOST_PLACES;
        let least = self.area(from);
        let mut search = |saved, top, best: &mut Move| {
            open.push((saved, top));
            self.search(open, &bounds, least, best, &mut places);
        };
        search(saved, self.sibling(from), &mut best);
        while pivot != ROOT {
            let aside = self.sibling(pivot);
            search(saved, aside, &mut best);
            pivot = self.parent(pivot);
            rest = rest.union(self.search_nodes[aside as usize].bounds);
            saved += self.area(pivot) - rest.half_area();
        }
        let is_better = best.gain > 0.0 && best.to != self.sibling(from);
        (is_better.then_some(best), MOST_PLACES - places)
    }

    /// Searches the subtrees in `open` for the best place. Each entry has the area saved on the way to it. `places` counts down. The subtree to be
    /// placed has the box `bounds` with half surface area `least`.
    fn search(&self, open: &mut Vec<(f32, u32)>, bounds: &SimdBox, least: f32, best: &mut Move, places: &mut u32) {
        while let Some((saved, place)) = open.pop() {
            if saved - least <= best.gain || *places == 0 {
                continue;
            }
            *places -= 1;
            let node = &self.search_nodes[place as usize];
            let gain = saved - node.bounds.union(*bounds).half_area();
            if gain > best.gain {
                (best.to, best.gain) = (place, gain);
            }
            if node.children[0] != NO_NODE {
                let below = gain + node.area;
                open.extend(node.children.map(|child| (below, child)));
            }
        }
    }

    /// Makes the moves that do not conflict with better ones. Returns for each node whether its neighbours or its box have changed.
    fn apply(&mut self, moves: &[Move]) -> Vec<bool> {
        let mut touched = vec![false; self.nodes.len()];
        for &Move { from, to, .. } in moves {
            let concerned =
                [from, to, self.sibling(from), self.parent(from), self.parent(self.parent(from)), self.parent(to)];
            if concerned.iter().all(|&n| !touched[n as usize]) && !self.is_within(to, from) {
                concerned.iter().for_each(|&n| touched[n as usize] = true);
                self.make(from, to);
            }
        }
        touched
    }

    /// Whether `node` is in `subtree`. Earlier moves may have put the destination into the subtree that is to be moved there.
    fn is_within(&self, mut node: u32, subtree: u32) -> bool {
        while node != ROOT && node != subtree {
            node = self.parent(node);
        }
        node == subtree
    }

    fn make(&mut self, from: u32, to: u32) {
        let (joint, sibling) = (self.parent(from), self.sibling(from));
        let above = self.parent(joint);
        self.replace_child(above, joint, sibling);
        let target = self.parent(to);
        self.replace_child(target, to, joint);
        self.nodes[joint as usize].children = [from, to];
        self.parents[to as usize] = joint;
        self.refit_upwards(above);
        self.refit_upwards(joint);
    }

    fn replace_child(&mut self, parent: u32, old: u32, new: u32) {
        let children = &mut self.nodes[parent as usize].children;
        children[usize::from(children[1] == old)] = new;
        self.parents[new as usize] = parent;
    }

    fn refit_upwards(&mut self, mut node: u32) {
        loop {
            let [left, right] = self.nodes[node as usize].children;
            self.nodes[node as usize].bounds = self.bounds(left).union(self.bounds(right));
            if node == ROOT {
                return;
            }
            node = self.parent(node);
        }
    }
}
