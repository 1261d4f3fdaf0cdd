//! The vertices and triangles of a refined cage. Each block of vertices belongs to the face whose weights they have; faces that share an edge
//! share the vertices on it, unless normals or other values differ there.

use super::{Cage, grid::Grid, limit::SPLIT, sharpness, topology::Topology};
use std::collections::HashMap;
use throng_scene::NONE;

/// The vertices of the faces of a cage.
#[derive(Default)]
pub struct Layout {
    /// The grids of faces by their number of corners.
    pub grids: HashMap<u32, Grid>,
    /// Drawn faces, each with the index of its selection and its first vertex.
    pub faces: Vec<[u32; 3]>,
    /// Selections of rows of grids, each once.
    pub selections: Vec<Vec<u32>>,
    /// Vertices, each with another one at its place.
    pub copies: Vec<[u32; 2]>,
    pub triangles: Vec<[u32; 3]>,
    /// Slot of each triangle, or empty.
    pub slots: Vec<u32>,
}

impl Layout {
    /// The vertices of a cage at a level of 1 or more.
    pub fn of(cage: &Cage, level: u32) -> Self {
        let mut builder = Builder {
            cage,
            level,
            sectors: sectors(cage, level),
            corner_of: HashMap::new(),
            point_vertices: vec![NONE; cage.points.len()],
            edge_vertices: vec![NONE; cage.topology.corners.len()],
            separate: HashMap::new(),
            selection_of: HashMap::new(),
            count: 0,
            layout: Self::default(),
        };
        for face in 0..cage.topology.face_count() as u32 {
            if cage.drawn[face as usize] {
                builder.add(face);
            }
        }
        builder.layout
    }

    /// The grid of a face with this number of corners.
    pub fn grid(&self, corners: u32) -> Option<&Grid> {
        self.grids.get(&corners)
    }
}

/// For each corner, the first corner at its vertex with the same normal.
fn sectors(cage: &Cage, level: u32) -> Vec<u32> {
    let topology = &cage.topology;
    if cage.rules.linear {
        // There are no normals.
        let mut first = vec![NONE; topology.vertex_sharpness.len()];
        let of = |corner: usize| {
            let first = &mut first[topology.corners[corner] as usize];
            *first = (*first).min(corner as u32);
            *first
        };
        return (0..topology.corners.len()).map(of).collect();
    }
    let mut sectors = vec![NONE; topology.corners.len()];
    for first in 0..topology.corners.len() as u32 {
        if sectors[first as usize] != NONE {
            continue;
        }
        let mut waiting = vec![first];
        while let Some(corner) = waiting.pop() {
            if std::mem::replace(&mut sectors[corner as usize], first) != NONE {
                continue;
            }
            let around =
                [(corner, topology.clockwise(corner)), (topology.previous(corner), topology.counter_clockwise(corner))];
            let smooth = around.into_iter().filter(|&(edge, _)| !is_sharp(topology, edge, level));
            waiting.extend(smooth.filter_map(|(_, next)| next).filter(|&next| sectors[next as usize] == NONE));
        }
    }
    sectors
}

/// Whether an edge still divides normals at a level.
fn is_sharp(topology: &Topology, edge: u32, level: u32) -> bool {
    sharpness::remaining(topology.sharpness(edge), level) >= SPLIT
}

/// Identifies a vertex at a corner: its sector, and its values.
type CornerKey = (u32, Vec<u32>);

struct Builder<'a> {
    cage: &'a Cage,
    level: u32,
    sectors: Vec<u32>,
    corner_of: HashMap<CornerKey, u32>,
    /// The first vertex at each point.
    point_vertices: Vec<u32>,
    /// The first vertex of each half-edge, in its direction.
    edge_vertices: Vec<u32>,
    /// The first half-edge between two points, of those without an opposite one.
    separate: HashMap<[u32; 2], u32>,
    selection_of: HashMap<Vec<u32>, u32>,
    count: u32,
    layout: Layout,
}

impl Builder<'_> {
    fn add(&mut self, face: u32) {
        let cage = self.cage;
        let corners = cage.topology.corners_of(face);
        let count = corners.end - corners.start;
        let scheme = cage.rules.scheme;
        let grid = self.layout.grids.remove(&count).unwrap_or_else(|| Grid::new(scheme, count, self.level));
        let first = self.count;
        let mut selected: Vec<u32> = (0..grid.inner).collect();
        let mut vertices = vec![NONE; grid.len() as usize];
        (0..grid.inner).for_each(|row| vertices[row as usize] = first + row);
        self.count += grid.inner;
        for (number, corner) in (0..count).zip(corners.clone()) {
            let row = grid.edge(number);
            self.add_edge(corner, row..row + grid.per_edge, &mut selected, &mut vertices);
        }
        for (number, corner) in (0..count).zip(corners) {
            self.add_corner(corner, grid.corner(number), &mut selected, &mut vertices);
        }
        let next = self.layout.selections.len() as u32;
        let selections = &mut self.layout.selections;
        let selection = *self.selection_of.entry(selected).or_insert_with_key(|selected| {
            selections.push(selected.clone());
            next
        });
        self.layout.faces.push([face, selection, first]);
        let triangles = grid.triangles.iter().map(|triangle| triangle.map(|row| vertices[row as usize]));
        self.layout.triangles.extend(triangles);
        if let Some(&slot) = cage.slots.get(face as usize) {
            self.layout.slots.resize(self.layout.triangles.len(), slot);
        }
        self.layout.grids.insert(count, grid);
    }

    /// Finds or adds the vertices of an edge, whose rows are given.
    fn add_edge(&mut self, edge: u32, rows: std::ops::Range<u32>, selected: &mut Vec<u32>, vertices: &mut [u32]) {
        let topology = &self.cage.topology;
        let twin = topology.twins[edge as usize];
        let last = rows.end - rows.start;
        let reversed = |first: u32, step: u32| first + last - 1 - step;
        let known = if twin == NONE { NONE } else { self.edge_vertices[twin as usize] };
        if known != NONE && self.is_shared(edge) {
            rows.clone().for_each(|row| vertices[row as usize] = reversed(known, row - rows.start));
            self.edge_vertices[edge as usize] = NONE;
            return;
        }
        let first = self.count;
        self.count += last;
        selected.extend(rows.clone());
        rows.clone().for_each(|row| vertices[row as usize] = first + row - rows.start);
        self.edge_vertices[edge as usize] = first;
        if known != NONE {
            self.layout.copies.extend((0..last).map(|step| [first + step, reversed(known, step)]));
        } else if twin == NONE {
            let [a, b] = [topology.vertex(edge), topology.vertex(topology.next(edge))];
            let other = *self.separate.entry([a.min(b), a.max(b)]).or_insert(edge);
            if other != edge {
                let (known, same) = (self.edge_vertices[other as usize], topology.vertex(other) == a);
                let source = |step: u32| if same { known + step } else { reversed(known, step) };
                self.layout.copies.extend((0..last).map(|step| [first + step, source(step)]));
            }
        }
    }

    /// Whether both faces at an edge have the same normals and values there.
    fn is_shared(&self, edge: u32) -> bool {
        let Cage { topology, channels, rules, .. } = self.cage;
        let is_smooth = rules.linear || !is_sharp(topology, edge, self.level);
        is_smooth && channels.iter().all(|channel| channel.topology().twins[edge as usize] != NONE)
    }

    fn add_corner(&mut self, corner: u32, row: u32, selected: &mut Vec<u32>, vertices: &mut [u32]) {
        let values = self.cage.channels.iter().map(|channel| channel.topology().vertex(corner));
        let key = (self.sectors[corner as usize], values.collect());
        let next = self.count;
        let vertex = *self.corner_of.entry(key).or_insert(next);
        vertices[row as usize] = vertex;
        if vertex != next {
            return;
        }
        self.count += 1;
        selected.push(row);
        let home = &mut self.point_vertices[self.cage.topology.vertex(corner) as usize];
        if *home == NONE {
            *home = vertex;
        } else {
            self.layout.copies.push([vertex, *home]);
        }
    }
}
