//! The tangents at each vertex, by the MikkTSpace algorithm (Mikkelsen 2008, "Simulation of Wrinkled Surfaces Revisited").
//!
//! A corner's tangent is the average of its group's directions of increasing u, projected onto the plane of the normal and weighted by the
//! angles of the triangles. It only depends on the triangles around its vertex, so vertices are processed in parallel. The results equal
//! those of the original implementation.

use super::{
    groups::{Fan, FlatGroups, NONE},
    mesh::{Welded, unit_or_zero},
};
use glam::Vec3;
use rayon::prelude::*;
use std::collections::HashSet;

/// Vertices per task.
const PER_TASK: usize = 2048;
/// Group size above which opposite directions are also averaged, because distinguishing them takes quadratic time.
const MOST_TOLD_APART: usize = 256;
/// Directions whose cosine to a common direction exceeds this are not opposite to each other.
const NEAR: f32 = 0.1;

/// A unit tangent and its sign.
pub type Tangent = [f32; 4];

/// The tangents of a mesh.
pub struct Tangents {
    /// The tangent of each vertex, taken from its first corner that has one.
    pub of_vertex: Vec<Option<Tangent>>,
    /// The tangents of all corners at vertices with several tangents, ordered by corner.
    pub of_corner: Vec<(u32, Tangent)>,
}

impl Tangents {
    pub fn new(welded: &Welded) -> Self {
        let flat = FlatGroups::new(welded);
        let mut of_vertex = vec![None; welded.vertex_count()];
        let chunks = of_vertex.par_chunks_mut(PER_TASK).enumerate();
        let several = chunks.map_init(Scratch::default, |scratch, (chunk, out)| {
            let mut several = Vec::new();
            for (vertex, out) in out.iter_mut().enumerate() {
                let vertex = (chunk * PER_TASK + vertex) as u32;
                *out = scratch.tangents_at(welded, flat.as_ref(), vertex, &mut several);
            }
            several
        });
        let mut of_corner: Vec<(u32, Tangent)> = several.flatten_iter().collect();
        add_degenerate(welded, &of_vertex, &mut of_corner);
        of_corner.par_sort_unstable_by_key(|(corner, _)| *corner);
        Self { of_vertex, of_corner }
    }
}

/// Adds the tangents of degenerate triangles, which get the first tangent of each vertex that has several.
fn add_degenerate(welded: &Welded, of_vertex: &[Option<Tangent>], of_corner: &mut Vec<(u32, Tangent)>) {
    let faces = welded.faces.iter().zip(0u32..);
    let degenerate: Vec<u32> = faces.filter(|(face, _)| face.degenerate).map(|(_, t)| t).collect();
    if degenerate.is_empty() {
        return;
    }
    let vertex_at = |corner: u32| welded.triangle(corner / 3)[corner as usize % 3];
    let several: HashSet<u32> = of_corner.iter().map(|(c, _)| vertex_at(*c)).collect();
    let corners = degenerate.iter().flat_map(|t| 3 * t..3 * t + 3);
    let corners = corners.filter(|&corner| several.contains(&vertex_at(corner)));
    of_corner.extend(corners.filter_map(|corner| {
        let first = of_vertex[vertex_at(corner) as usize]?;
        Some((corner, first))
    }));
}

/// The contribution of a corner to its group's tangent.
struct CornerTangent {
    /// Index in the fan.
    place: u32,
    /// Unit directions in the plane of the normal, or zero.
    along_u: Vec3,
    along_v: Vec3,
    angle: f32,
    preserving: bool,
    flat: bool,
}

/// Buffers that are reused for each vertex.
#[derive(Default)]
struct Scratch {
    fan: Fan,
    /// Group and index of each corner that has a group.
    order: Vec<(u32, u32)>,
    parts: Vec<CornerTangent>,
    tangents: Vec<Option<Tangent>>,
}

impl Scratch {
    /// The first tangent at a vertex. If the tangents of its corners differ, all of them are added to `several`.
    fn tangents_at(
        &mut self,
        welded: &Welded,
        flat: Option<&FlatGroups>,
        vertex: u32,
        several: &mut Vec<(u32, Tangent)>,
    ) -> Option<Tangent> {
        self.fan.gather(welded, vertex);
        if self.fan.corners.is_empty() {
            return None;
        }
        match flat.filter(|flat| flat.touch(vertex)) {
            Some(flat) => flat.group(&mut self.fan),
            None => self.fan.group(welded),
        }
        self.order.clear();
        let groups = self.fan.groups.iter().zip(0u32..);
        let grouped = groups.filter(|(group, _)| **group != NONE);
        self.order.extend(grouped.map(|(&group, place)| (group, place)));
        self.order.sort_unstable();
        self.tangents.clear();
        self.tangents.resize(self.fan.corners.len(), None);
        for group in self.order.chunk_by(|a, b| a.0 == b.0) {
            let part = |&(_, place): &(u32, u32)| part(welded, vertex, &self.fan, place);
            self.parts.clear();
            self.parts.extend(group.iter().map(part));
            average(&self.parts, &mut self.tangents);
        }
        let first = self.tangents.iter().flatten().next().copied();
        // In a mesh without normals, one vertex of the mesh may correspond to several vertices here.
        let alone = welded.elements.are_corners();
        let known = || self.tangents.iter().flatten();
        if alone || known().any(|tangent| Some(*tangent) != first) {
            let corners = self.fan.corners.iter().zip(&self.tangents);
            several.extend(corners.filter_map(|(&corner, tangent)| Some((corner, (*tangent)?))));
        }
        first
    }
}

fn part(welded: &Welded, vertex: u32, fan: &Fan, place: u32) -> CornerTangent {
    let corner = fan.corners[place as usize];
    let face = welded.face(corner);
    let elements = &welded.elements;
    let normal = elements.normal(vertex);
    let flatten = |v: Vec3| unit_or_zero(v - normal.dot(v) * normal);
    let mut part = CornerTangent {
        place,
        along_u: Vec3::ZERO,
        along_v: Vec3::ZERO,
        angle: 0.0,
        preserving: face.preserving,
        flat: face.flat,
    };
    if !face.flat {
        let own = elements.position(vertex);
        let edges = welded.ends(corner).map(|end| elements.position(end) - own);
        let [after, before] = edges.map(flatten);
        let cosine = after.dot(before).clamp(-1.0, 1.0);
        part.angle = f64::from(cosine).acos() as f32;
        part.along_u = flatten(face.along_u);
        part.along_v = flatten(face.along_v);
    }
    part
}

/// Writes the tangents of a group's corners to their indices in `out`.
fn average(group: &[CornerTangent], out: &mut [Option<Tangent>]) {
    // A group starts with a triangle that is not flat.
    let mut valid = group.iter().filter(|part| !part.flat);
    let Some(first) = valid.clone().next() else {
        return;
    };
    let near = |part: &CornerTangent| part.along_u.dot(first.along_u) > NEAR && part.along_v.dot(first.along_v) > NEAR;
    let whole = sum(group.iter(), first.preserving);
    let together = group.len() > MOST_TOLD_APART || valid.all(near);
    for part in group {
        out[part.place as usize] =
            if together || part.flat { whole } else { sum(group.iter().filter(|b| meet(part, b)), first.preserving) };
    }
}

/// Whether two corners of a group are averaged: all except those with opposite directions.
fn meet(a: &CornerTangent, b: &CornerTangent) -> bool {
    let is_same = a.place == b.place;
    let differ = a.along_u.dot(b.along_u) > -1.0 && a.along_v.dot(b.along_v) > -1.0;
    b.flat || is_same || differ
}

/// The weighted sum of directions as a tangent; None if they cancel out.
fn sum<'a>(parts: impl Iterator<Item = &'a CornerTangent>, preserving: bool) -> Option<Tangent> {
    let valid = parts.filter(|part| !part.flat);
    let sum = valid.fold(Vec3::ZERO, |sum, part| sum + part.angle * part.along_u);
    let tangent = unit_or_zero(sum);
    let is_direction = (0.5..2.0).contains(&tangent.length_squared());
    let sign = if preserving { 1.0 } else { -1.0 };
    is_direction.then(|| tangent.extend(sign).to_array())
}
