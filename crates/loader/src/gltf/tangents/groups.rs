//! Groups of corners at a vertex that share a tangent in MikkTSpace. They are connected by edges, and their textures have equal
//! orientation.

use super::mesh::Welded;
use rayon::prelude::*;
use std::collections::VecDeque;

/// No neighbour, or no group.
pub const NONE: u32 = u32::MAX;

/// Maximum number of corners for which neighbours are found by comparing all pairs.
const FEW: usize = 32;

/// The corners at one vertex. Its memory is reused for the next vertex.
#[derive(Default)]
pub struct Fan {
    /// The corners in ascending order.
    pub corners: Vec<u32>,
    /// The vertices after and before each corner.
    ends: Vec<[u32; 2]>,
    /// For these two edges, the index in `corners` of the neighbour across it.
    links: Vec<[u32; 2]>,
    /// Group of each corner, or [`NONE`].
    pub groups: Vec<u32>,
    stack: Vec<u32>,
}

impl Fan {
    /// Collects the corners at `vertex`.
    pub fn gather(&mut self, welded: &Welded, vertex: u32) {
        welded.around(vertex, &mut self.corners);
    }

    /// Finds neighbours: triangles that share an edge in opposite directions. If more than two share it, each takes the next free one that
    /// fits, in order.
    fn link(&mut self, welded: &Welded) {
        let ends = self.corners.iter().map(|&corner| welded.ends(corner));
        self.ends.clear();
        self.ends.extend(ends);
        self.links.clear();
        self.links.resize(self.corners.len(), [NONE; 2]);
        if self.corners.len() <= FEW { self.link_few() } else { self.link_many() }
    }

    fn link_few(&mut self) {
        let count = self.corners.len();
        for a in 0..count {
            for side in 0..2 {
                if self.links[a][side] != NONE {
                    continue;
                }
                let end = self.ends[a][side];
                let fits = |b: &usize| self.ends[*b][1 - side] == end && self.links[*b][1 - side] == NONE;
                if let Some(b) = (a + 1..count).find(fits) {
                    self.links[a][side] = b as u32;
                    self.links[b][1 - side] = a as u32;
                }
            }
        }
    }

    /// As [`Self::link_few`], in O(n log n).
    fn link_many(&mut self) {
        let sides = self.ends.iter().zip(0u32..);
        let mut edges: Vec<(u32, u32, usize)> =
            sides.flat_map(|(ends, place)| [(ends[0], place, 0), (ends[1], place, 1)]).collect();
        edges.sort_unstable();
        for edge in edges.chunk_by(|a, b| a.0 == b.0) {
            // All waiting edges have one direction; otherwise they would have been paired.
            let mut waiting: VecDeque<(u32, usize)> = VecDeque::new();
            for &(_, place, side) in edge {
                match waiting.front() {
                    Some(&(other, of)) if of != side => {
                        waiting.pop_front();
                        self.links[place as usize][side] = other;
                        self.links[other as usize][of] = place;
                    }
                    _ => waiting.push_back((place, side)),
                }
            }
        }
    }

    /// Groups the corners. None of their triangles may be flat.
    pub fn group(&mut self, welded: &Welded) {
        self.link(welded);
        self.groups.clear();
        self.groups.resize(self.corners.len(), NONE);
        for start in 0..self.corners.len() {
            if self.groups[start] != NONE {
                continue;
            }
            let preserving = welded.face(self.corners[start]).preserving;
            self.groups[start] = start as u32;
            self.stack.push(start as u32);
            while let Some(place) = self.stack.pop() {
                for link in self.links[place as usize] {
                    let fits = link != NONE
                        && self.groups[link as usize] == NONE
                        && welded.face(self.corners[link as usize]).preserving == preserving;
                    if fits {
                        self.groups[link as usize] = start as u32;
                        self.stack.push(link);
                    }
                }
            }
        }
    }
}

/// The groups at vertices of flat triangles. Such a triangle joins the first group that reaches any of its corners, and then has that
/// group's orientation. The groups are therefore found sequentially, in the order of their first corners.
pub struct FlatGroups {
    is_touched: Vec<bool>,
    corners: Vec<LinkedCorner>,
    groups: Vec<u32>,
}

struct LinkedCorner {
    corner: u32,
    neighbors: [u32; 2],
}

impl FlatGroups {
    /// None if no triangle is flat.
    pub fn new(welded: &Welded) -> Option<Self> {
        let flat = |&t: &u32| welded.faces[t as usize].flat;
        let all = (0..welded.faces.len() as u32).into_par_iter();
        let flat: Vec<u32> = all.filter(flat).collect();
        if flat.is_empty() {
            return None;
        }
        let mut is_touched = vec![false; welded.vertex_count()];
        for vertex in flat.into_iter().flat_map(|t| welded.triangle(t)) {
            is_touched[vertex as usize] = true;
        }
        let vertices = is_touched.par_iter().enumerate();
        let vertices = vertices.filter(|(_, touched)| **touched);
        let linked = vertices.map_init(Fan::default, |fan, (vertex, _)| {
            fan.gather(welded, vertex as u32);
            fan.link(welded);
            let neighbor = |link: u32| fan.corners.get(link as usize).copied().unwrap_or(NONE);
            let corners = fan.corners.iter().zip(&fan.links);
            let linked = corners.map(|(&corner, links)| LinkedCorner { corner, neighbors: links.map(neighbor) });
            linked.collect::<Vec<_>>()
        });
        let mut corners: Vec<LinkedCorner> = linked.flatten_iter().collect();
        corners.par_sort_unstable_by_key(|linked| linked.corner);
        let groups = spread(welded, &corners);
        Some(Self { is_touched, corners, groups })
    }

    pub fn touch(&self, vertex: u32) -> bool {
        self.is_touched[vertex as usize]
    }

    /// Groups the corners at a vertex of a flat triangle.
    pub fn group(&self, fan: &mut Fan) {
        let group = |corner: &u32| place_of(&self.corners, *corner).map(|place| self.groups[place]);
        fan.groups.clear();
        let groups = fan.corners.iter().map(group);
        fan.groups.extend(groups.map(|group| group.unwrap_or(NONE)));
    }
}

fn place_of(corners: &[LinkedCorner], corner: u32) -> Option<usize> {
    let found = corners.binary_search_by_key(&corner, |linked| linked.corner);
    found.ok()
}

fn spread(welded: &Welded, corners: &[LinkedCorner]) -> Vec<u32> {
    let mut preserving: Vec<bool> = welded.faces.iter().map(|face| face.preserving).collect();
    let mut is_free: Vec<bool> = welded.faces.iter().map(|face| face.flat).collect();
    let mut groups = vec![NONE; corners.len()];
    let mut stack = Vec::new();
    for (start, linked) in corners.iter().enumerate() {
        let face = linked.corner as usize / 3;
        if welded.faces[face].flat || groups[start] != NONE {
            continue;
        }
        let own = preserving[face];
        groups[start] = start as u32;
        stack.push(start);
        while let Some(place) = stack.pop() {
            for neighbor in corners[place].neighbors {
                let Some(next) = place_of(corners, neighbor) else {
                    continue;
                };
                if groups[next] != NONE {
                    continue;
                }
                let face = neighbor as usize / 3;
                if is_free[face] {
                    preserving[face] = own;
                }
                if preserving[face] == own {
                    is_free[face] = false;
                    groups[next] = start as u32;
                    stack.push(next);
                }
            }
        }
    }
    groups
}
