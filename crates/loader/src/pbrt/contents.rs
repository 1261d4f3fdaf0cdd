//! The groups of a scene as lists of placements.

use super::{
    RATE,
    materials::{Look, Rows},
    shapes,
};
use crate::{
    geometry::transform::is_invertible,
    materials::Materials,
    meshes::MeshSource,
    ron::placing::resolved::{Item, Target},
    usd::{Contents, List, Placeable},
};
use glam::{Affine3, DAffine3};
use rayon::prelude::*;
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};
use throng_pbrt::{Group, NONE as NOTHING, Placement, Scene, ShapeKind};
use throng_scene::NONE;

/// Number of warnings of a kind that have a line each.
const MOST_OF_A_KIND: usize = 8;

/// Converts a scene. `outer` transforms the world's objects.
pub struct Converter<'a> {
    scene: &'a Scene,
    outer: DAffine3,
    table: &'a mut Materials,
    rows: Rows<'a>,
    /// Meshes in files, by the file and whether it is reversed; None if nothing of it can be drawn.
    files: HashMap<(&'a Path, bool), Option<usize>>,
    /// The mesh of all whole spheres.
    sphere: Option<usize>,
    out: Contents,
}

impl<'a> Converter<'a> {
    /// `file` is the main file, for messages.
    pub fn new(scene: &'a Scene, file: &'a Path, table: &'a mut Materials, outer: DAffine3) -> Self {
        let rows = Rows::new(scene, file);
        Self { scene, outer, table, rows, files: HashMap::new(), sphere: None, out: Contents::default() }
    }

    /// Converts all groups.
    pub fn finish(mut self) -> Contents {
        self.read_meshes();
        let order = order(&self.scene.groups);
        let mut number = vec![0; order.len()];
        order.iter().enumerate().for_each(|(index, &group)| number[group] = index);
        self.out.lists = order.iter().map(|_| Vec::new()).collect();
        self.out.names = order.iter().map(|&group| self.scene.groups[group].name.clone()).collect();
        // A group precedes those that it places.
        for (index, &group) in order.iter().enumerate().rev() {
            self.out.lists[index] = self.group(group, &number);
        }
        self.out.warnings.extend(self.rows.into_warnings());
        self.out
    }

    /// Reads the meshes in files, each once, side by side.
    fn read_meshes(&mut self) {
        let mut wanted: Vec<(&Path, bool)> = Vec::new();
        for shape in &self.scene.shapes {
            if let ShapeKind::Ply(file) = &shape.kind
                && !self.files.contains_key(&(file.as_path(), shape.reversed))
            {
                self.files.insert((file, shape.reversed), None);
                wanted.push((file, shape.reversed));
            }
        }
        let read: Vec<_> = wanted.par_iter().map(|&(file, reversed)| shapes::of_file(file, reversed)).collect();
        let mut left_out = Vec::new();
        for (key, read) in wanted.into_iter().zip(read) {
            match read {
                Ok((source, warnings)) => {
                    self.out.warnings.extend(warnings);
                    self.files.insert(key, Some(self.out.sources.len()));
                    self.out.sources.push(source);
                }
                Err(error) => left_out.push(format!("a mesh is left out: {error}")),
            }
        }
        self.out.warnings.extend(shortened(left_out, "meshes are left out"));
    }

    fn group(&mut self, group: usize, number: &[usize]) -> Vec<Item> {
        let scene = self.scene;
        let outer = if group == 0 { self.outer } else { DAffine3::IDENTITY };
        let mut list = List::default();
        for item in &scene.groups[group].items {
            let Some((source, from)) = self.source(item.shape) else { continue };
            let area = |place: &DAffine3| shapes::area(&self.out.sources[source].mesh, &(*place * from));
            let emission = scene.emissions.get(item.emission as usize).map(|_| item.emission);
            let power = emission.and_then(|emission| scene.emissions[emission as usize].power);
            let look = Look {
                material: item.material,
                emission: item.emission,
                // Power is spread over the area.
                area: power.map(|_| area(&item.place.start)),
                inside: item.inside,
                alpha: item.alpha,
                curved: matches!(scene.shapes[item.shape as usize].kind, ShapeKind::Curves(_)),
            };
            let Some(row) = self.rows.row(self.table, &look) else { continue };
            let what = Placeable { target: Target::Mesh(source), row, from };
            self.add(&mut list, what, &outer, &item.place);
        }
        for copies in &scene.groups[group].copies {
            let Some(what) = self.placed(number[copies.group as usize]) else { continue };
            let whole = |place: &Affine3| (outer * place.as_daffine3() * what.from).as_affine3();
            list.add_still(what, copies.places.iter().map(whole), None);
            for [start, end] in &copies.moving {
                let place = Placement { start: start.as_daffine3(), end: end.as_daffine3() };
                self.add(&mut list, what, &outer, &place);
            }
        }
        list.finish()
    }

    fn add(&self, list: &mut List, what: Placeable, outer: &DAffine3, place: &Placement) {
        let whole = |place: &DAffine3| (*outer * *place * what.from).as_affine3();
        if !place.moves() {
            return list.add_still(what, [whole(&place.start)], None);
        }
        let transforms = vec![whole(&place.start), whole(&place.end)];
        let [start, end] = self.scene.times.map(f64::from);
        if start < end && transforms.iter().all(is_invertible) {
            list.add_moving(what, vec![start / RATE, end / RATE], vec![transforms], None)
        } else {
            list.add_still(what, [transforms[0]], None)
        }
    }

    /// What a placement of a group shows: its only object, or its list. None for an empty group.
    fn placed(&self, list: usize) -> Option<Placeable> {
        match &self.out.lists[list][..] {
            [] => None,
            [only] if only.table().is_none() && only.count() == 1 => {
                let from = only.copy(0).1.as_daffine3();
                Some(Placeable { target: only.target, row: only.materials.first().copied().unwrap_or(NONE), from })
            }
            _ => Some(Placeable { target: Target::List(list), row: NONE, from: DAffine3::IDENTITY }),
        }
    }

    /// The mesh of a shape, and the transform from it to the shape.
    fn source(&mut self, shape: u32) -> Option<(usize, DAffine3)> {
        let shape = &self.scene.shapes[shape as usize];
        if let ShapeKind::Ply(file) = &shape.kind {
            return Some((self.files.get(&(file.as_path(), shape.reversed)).copied()??, DAffine3::IDENTITY));
        }
        if let Some(from) = shapes::whole_sphere(shape) {
            let sphere = *self.sphere.get_or_insert_with(|| {
                self.out.sources.push(MeshSource::sphere("sphere", NONE));
                self.out.sources.len() - 1
            });
            return Some((sphere, from));
        }
        let source = match shapes::convert(shape) {
            Ok(made) => made?,
            Err(message) => {
                self.out.warnings.push(format!("{}: {message}: it is left out", shape.name));
                return None;
            }
        };
        self.out.sources.push(source);
        Some((self.out.sources.len() - 1, DAffine3::IDENTITY))
    }
}

/// The first warnings of a kind, and a line about the others.
pub fn shortened(mut warnings: Vec<String>, what: &str) -> Vec<String> {
    let more = warnings.len().saturating_sub(MOST_OF_A_KIND);
    warnings.truncate(MOST_OF_A_KIND);
    warnings.extend((more > 0).then(|| format!("{more} more {what}")));
    warnings
}

/// The groups in an order in which each precedes those that it places. The world is the first.
fn order(groups: &[Group]) -> Vec<usize> {
    let mut users = vec![0; groups.len()];
    groups.iter().flat_map(|group| &group.copies).for_each(|copies| users[copies.group as usize] += 1);
    let mut order: Vec<usize> = (0..groups.len()).filter(|&group| users[group] == 0).collect();
    let mut next = 0;
    while let Some(&group) = order.get(next) {
        next += 1;
        for copies in &groups[group].copies {
            let user_count = &mut users[copies.group as usize];
            *user_count -= 1;
            if *user_count == 0 {
                order.push(copies.group as usize);
            }
        }
    }
    order
}

/// The medium with an index.
pub fn medium(scene: &Scene, index: u32) -> Option<throng_pbrt::Medium> {
    (index != NOTHING).then(|| scene.media.get(index as usize).copied()).flatten()
}

/// Paths of pictures, each once.
#[derive(Default)]
pub struct Pictures {
    pub all: Vec<throng_usd::Asset>,
    of: HashMap<PathBuf, u32>,
}

impl Pictures {
    /// The index of a picture.
    pub fn add(&mut self, path: &Path) -> u32 {
        *self.of.entry(path.to_owned()).or_insert_with(|| {
            self.all.push(throng_usd::Asset { path: path.to_owned(), bytes: None, tiles: Vec::new() });
            self.all.len() as u32 - 1
        })
    }
}
