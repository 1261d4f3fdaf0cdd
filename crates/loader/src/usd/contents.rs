//! The groups of a stage as lists of placements, and its shapes as meshes.

use super::{
    cage::Subdivisions,
    clock::Clock,
    curves, deform,
    materials::{Heights, StageMaterials, Wearer, needs},
    mesh::{self, Needs},
};
use crate::{
    displacement::MeshDisplacement,
    geometry::{shapes, transform::is_invertible},
    materials::Materials,
    meshes::MeshSource,
    model::MeshMotion,
    ron::placing::{
        patterns::{Pattern, TablePattern},
        resolved::{Item, Target},
    },
    tables,
};
use glam::{Affine3, DAffine3, DQuat, DVec3, Vec3};
use std::{collections::HashMap, f64::consts::FRAC_PI_2, path::Path, rc::Rc, sync::Arc};
use throng_base::math::{Aabb, thicken_matrix};
use throng_scene::{
    Mesh, NONE, Shape as SceneShape, Track,
    desc::{Choose, Subdivision},
};
use throng_usd::{Axis, Content, Copies, Interpolation, PointCloud, Round, Sampled, Shape, ShapeKind, Stage};

/// Segments around round shapes.
const SEGMENTS: u32 = 64;
/// Number of colours of points from which on similar ones share a material, and the steps of their channels then.
const MOST_COLORS: usize = 512;
const COLOR_STEPS: f32 = 7.0;

/// A stage as lists of placements.
#[derive(Default)]
pub struct Contents {
    /// The meshes that targets refer to.
    pub sources: Vec<MeshSource>,
    /// The lists that targets refer to. The first one is the world.
    pub lists: Vec<Vec<Item>>,
    /// Names of the lists.
    pub names: Vec<String>,
    /// One line for each surface that is not drawn as the stage says.
    pub warnings: Vec<String>,
}

impl Contents {
    /// Bounds of the world at the first time, from the bounds of meshes.
    pub fn bounds(&self) -> Aabb {
        let meshes: Vec<Aabb> = self.sources.iter().map(|source| source.mesh.bounds()).collect();
        let mut lists = vec![Aabb::EMPTY; self.lists.len()];
        // Lists of points are behind those that place them, and a group precedes the groups that it places.
        for (index, list) in self.lists.iter().enumerate().rev() {
            for item in list {
                let inner = match item.target {
                    Target::Mesh(mesh) => meshes[mesh],
                    Target::List(list) => lists[list],
                };
                if inner.is_empty() {
                    continue;
                }
                let copies = (0..item.count() as u32).map(|copy| item.copy(copy).1);
                lists[index] = copies.fold(lists[index], |all, place| all.union(inner.transformed(&place)));
            }
        }
        lists.first().copied().unwrap_or(Aabb::EMPTY)
    }

    /// Applies a transform to the world.
    pub fn transform(&mut self, by: &Affine3) {
        let world = self.lists.first_mut().into_iter().flatten();
        world.for_each(|item| item.whole = *by * item.whole);
    }

    /// Replaces all materials by a row of the material table.
    pub fn replace_materials(&mut self, row: u32) {
        self.lists.iter_mut().flatten().for_each(|item| item.materials.clear());
        self.sources.iter_mut().flat_map(|source| &mut source.materials).for_each(|own| *own = row);
        // Displacement belongs to the materials.
        self.sources.iter_mut().for_each(|source| source.displacement = None);
    }
}

/// What a placement shows: a mesh or a list, with the material of a mesh with one slot, and the transform from it.
#[derive(Clone, Copy)]
pub struct Placeable {
    pub target: Target,
    pub row: u32,
    pub from: DAffine3,
}

/// What a shape has from prims above it.
struct Inherited {
    /// Colour and opacity of a shape that has none of its own.
    color: Option<[f32; 3]>,
    opacity: Option<f32>,
    /// Radiance of a light whose geometry it is.
    radiance: Option<Vec3>,
}

/// Identifies the mesh made of a shape.
#[derive(PartialEq, Eq, Hash)]
struct SourceKey {
    shape: u32,
    needs: Rc<Needs>,
    /// Materials of a mesh with several slots; otherwise empty.
    materials: Vec<u32>,
    skeleton: u32,
    /// Materials that displace the mesh, by slot; empty if none does.
    displacing: Vec<u32>,
}

/// Converts a stage. `outer` transforms the world's objects.
pub struct Converter<'a> {
    stage: &'a Stage,
    clock: Clock,
    outer: DAffine3,
    pub table: &'a mut Materials,
    materials: StageMaterials<'a>,
    heights: Heights<'a>,
    /// Radiance of shapes in the world that emit light, by their names.
    emitters: HashMap<&'a str, Vec3>,
    source_of: HashMap<SourceKey, Option<usize>>,
    spheres: Option<usize>,
    /// Lights with an extent, in the world.
    lamps: Vec<Item>,
    /// What the materials of a shape read of it, by the shape and the materials.
    needs: HashMap<(u32, &'a [u32]), Rc<Needs>>,
    subdivision: Subdivision,
    out: Contents,
}

impl<'a> Converter<'a> {
    pub fn new(stage: &'a Stage, file: &'a Path, table: &'a mut Materials, outer: DAffine3) -> Self {
        Self {
            stage,
            clock: Clock::new(&stage.times),
            outer,
            table,
            materials: StageMaterials::new(stage, file, outer.matrix3.determinant().abs().cbrt() as f32),
            heights: Heights::new(stage),
            emitters: HashMap::new(),
            source_of: HashMap::new(),
            spheres: None,
            lamps: Vec::new(),
            needs: HashMap::new(),
            subdivision: Subdivision::default(),
            out: Contents::default(),
        }
    }

    /// Refines subdivision surfaces to this level.
    pub fn subdivide(&mut self, subdivision: Subdivision) {
        self.subdivision = subdivision;
    }

    /// Makes the world's shape with this name emit light.
    pub fn emit(&mut self, name: &'a str, radiance: Vec3) {
        self.emitters.insert(name, radiance);
    }

    /// Adds a mesh that emits light to the world.
    pub fn add_lamp(&mut self, source: MeshSource, place: &Sampled<DAffine3>, shown: &Sampled<bool>) {
        let row = source.materials[0];
        self.out.sources.push(source);
        let what = Placeable { target: Target::Mesh(self.out.sources.len() - 1), row, from: DAffine3::IDENTITY };
        let mut list = List::default();
        list.add(what, place, self.clock.steps(shown), (&self.outer, &self.clock));
        self.lamps.extend(list.finish());
    }

    /// Converts all groups.
    pub fn finish(mut self) -> Contents {
        self.out.lists = self.stage.groups.iter().map(|_| Vec::new()).collect();
        self.out.names = self.stage.groups.iter().map(|group| group.name.trim_start_matches('/').to_owned()).collect();
        // A group precedes those that it places.
        for group in (0..self.stage.groups.len()).rev() {
            self.out.lists[group] = self.group(group);
        }
        match self.out.lists.first_mut() {
            Some(world) => world.extend(self.lamps),
            None => self.out.lists.push(self.lamps),
        }
        self.out.warnings.append(&mut self.heights.warnings);
        self.out
    }

    fn group(&mut self, number: usize) -> Vec<Item> {
        let stage = self.stage;
        let outer = if number == 0 { self.outer } else { DAffine3::IDENTITY };
        let mut list = List::default();
        for item in &stage.groups[number].items {
            if item.shown.all(|shown| !shown) {
                continue;
            }
            let visible = self.clock.steps(&item.shown);
            let clock = self.clock;
            match &item.content {
                Content::Shape { shape, materials, skeleton, color, opacity } => {
                    let radiance = self.emitters.get(item.name.as_str()).copied().filter(|_| number == 0);
                    let above = Inherited { color: *color, opacity: *opacity, radiance };
                    if let Some(what) = self.shape(*shape, materials, *skeleton, above) {
                        list.add(what, &item.group_from_item, visible, (&outer, &clock));
                    }
                }
                Content::Group(group) => {
                    if let Some(what) = self.placed(*group) {
                        list.add(what, &item.group_from_item, visible, (&outer, &clock));
                    }
                }
                Content::Copies(copies) => {
                    for (prototype, &group) in (0..).zip(&copies.prototypes) {
                        if let Some(what) = self.placed(group) {
                            let chosen = Chosen { copies, prototype };
                            list.add_copies(what, &chosen, &item.group_from_item, visible.clone(), (&outer, &clock));
                        }
                    }
                }
            }
        }
        list.finish()
    }

    /// What a placement of a group shows: its only object, or its list. None for an empty group.
    fn placed(&self, group: u32) -> Option<Placeable> {
        let list = &self.out.lists[group as usize];
        match &list[..] {
            [] => None,
            [only] if only.table().is_none() && only.visible.is_none() && only.count() == 1 => {
                let from = double(only.copy(0).1);
                Some(Placeable { target: only.target, row: only.materials.first().copied().unwrap_or(NONE), from })
            }
            _ => Some(Placeable { target: Target::List(group as usize), row: NONE, from: DAffine3::IDENTITY }),
        }
    }

    /// The mesh or list of a shape. None if nothing of it can be drawn.
    fn shape(
        &mut self,
        number: u32,
        materials: &'a [u32],
        skeleton: u32,
        Inherited { color, opacity, radiance }: Inherited,
    ) -> Option<Placeable> {
        let stage = self.stage;
        let shape = &stage.shapes[number as usize];
        let known = self.needs.entry((number, materials));
        let needs = known.or_insert_with(|| Rc::new(needs(stage, materials, shape))).clone();
        let wearer = Wearer { shape, needs: &needs, color, opacity };
        let mut rows: Vec<u32> =
            materials.iter().map(|&material| self.materials.row(self.table, material, &wearer)).collect();
        if let Some(radiance) = radiance {
            for row in &mut rows {
                let emission = self.table.rows[*row as usize].emission + radiance;
                let lit = throng_scene::Material { emission, ..self.table.rows[*row as usize] };
                let name = self.table.names[*row as usize].clone();
                *row = self.table.add(&name, lit);
            }
        }
        let row = if rows.len() == 1 { rows[0] } else { NONE };
        if let ShapeKind::Points(points) = &shape.kind {
            let list = self.points(points, &wearer, (materials[0], rows[0]));
            return (!self.out.lists[list].is_empty()).then_some(Placeable {
                target: Target::List(list),
                row: NONE,
                from: DAffine3::IDENTITY,
            });
        }
        let several = if rows.len() > 1 { rows.clone() } else { Vec::new() };
        let displacing = self.heights.displacing(materials, shape);
        let key = SourceKey { shape: number, needs: needs.clone(), materials: several, skeleton, displacing };
        let known = self.source_of.get(&key).copied();
        let source = match known {
            Some(known) => known,
            None => {
                let made = self.source(shape, (&needs, &key.displacing), rows, skeleton);
                let index = made.map(|source| {
                    self.out.sources.push(source);
                    self.out.sources.len() - 1
                });
                self.source_of.insert(key, index);
                index
            }
        };
        Some(Placeable { target: Target::Mesh(source?), row, from: from_source(&shape.kind) })
    }

    fn source(
        &mut self,
        shape: &Shape,
        (needs, displacing): (&Needs, &[u32]),
        rows: Vec<u32>,
        skeleton: u32,
    ) -> Option<MeshSource> {
        let name = shape.name.trim_start_matches('/');
        let row = rows[0];
        let solid = match &shape.kind {
            ShapeKind::Mesh(mesh) => {
                let built = mesh::build(shape, mesh, needs)?;
                let skeleton = self.stage.skeletons.get(skeleton as usize);
                let moving = deform::moving(mesh, built, skeleton, &self.clock);
                let mut source = MeshSource::of_triangles(name, moving.mesh, rows, Vec::new(), Vec::new());
                source.motion = moving.motion;
                let displacement = self.heights.displacement(displacing, shape, needs);
                let is_displaced = displacement.is_some();
                let subdivision = Subdivisions { level: self.subdivision, clock: &self.clock, is_displaced };
                source.cage = subdivision.cage(shape, mesh, needs, skeleton, &mut self.out.warnings).map(Box::new);
                let smooth = source.cage.is_some();
                source.displacement = displacement.map(|own| Box::new(MeshDisplacement { smooth, ..own }));
                return Some(source);
            }
            ShapeKind::Curves(set) => {
                let built = curves::build(set, &curves::Look::new(shape, set, needs));
                if built.invalid > 0 {
                    let line = "have points that are not finite or too far away; they are left out";
                    self.out.warnings.push(format!("{}: {} of its curves {line}", shape.name, built.invalid));
                }
                let shape = built.shape?;
                let motion = deform::of_curves(&shape, &built.later, set, &self.clock);
                let mesh = Mesh { name: name.to_owned(), shape, slot_count: 1 };
                return Some(MeshSource { motion, ..MeshSource::of_mesh(mesh, vec![row]) });
            }
            ShapeKind::Sphere(_) | ShapeKind::Points(_) => return Some(MeshSource::sphere(name, row)),
            ShapeKind::Cube(_) => shapes::cuboid(Vec3::ONE, 1.0),
            ShapeKind::Plane { .. } => shapes::quad(1.0),
            ShapeKind::Cylinder(Round { radii: [low, high], height, .. }) => {
                shapes::frustum([*low as f32, *high as f32], *height as f32, SEGMENTS)
            }
            ShapeKind::Cone(Round { radii: [low, _], height, .. }) => {
                shapes::cone(*low as f32, *height as f32, SEGMENTS, true)
            }
            ShapeKind::Capsule(Round { radii: [low, high], height, .. }) => {
                shapes::capsule([*low as f32, *high as f32], *height as f32, SEGMENTS)
            }
        };
        (!solid.triangles.is_empty()).then(|| MeshSource::of_unsplit_shape(name, solid, row))
    }

    /// A list of spheres at points, in the colours of the points. `row` is the row of their material in one colour.
    fn points(&mut self, cloud: &PointCloud, wearer: &Wearer, (material, row): (u32, u32)) -> usize {
        let sphere = *self.spheres.get_or_insert_with(|| {
            self.out.sources.push(MeshSource::sphere("point", row));
            self.out.sources.len() - 1
        });
        let radius = |index: usize| {
            let width = cloud.widths.get(index).or(cloud.widths.first()).copied().unwrap_or(1.0);
            Vec3::splat(0.5 * width)
        };
        let count = match &cloud.points {
            Sampled::Still(points) => points.len(),
            Sampled::Moving(samples) => samples.iter().map(|(_, points)| points.len()).max().unwrap_or(0),
        };
        let place = |points: &Vec<[f32; 3]>| {
            let at = |index: usize| match points.get(index) {
                Some(&point) => {
                    Affine3::from_scale_rotation_translation(radius(index), glam::Quat::IDENTITY, point.into())
                }
                None => throng_usd::ABSENT,
            };
            (0..count).map(at).collect::<Vec<Affine3>>()
        };
        let (of, rows) = self.colors_of_points(count, wearer, (material, row));
        let copies = Copies { prototypes: vec![0; rows.len()], of, places: cloud.points.map(place) };
        let mut list = List::default();
        let whole = Sampled::Still(DAffine3::IDENTITY);
        for (prototype, row) in (0..).zip(rows) {
            let what = Placeable { target: Target::Mesh(sphere), row, from: DAffine3::IDENTITY };
            let chosen = Chosen { copies: &copies, prototype };
            list.add_copies(what, &chosen, &whole, None, (&DAffine3::IDENTITY, &self.clock));
        }
        self.out.lists.push(list.finish());
        self.out.names.push(wearer.shape.name.trim_start_matches('/').to_owned());
        self.out.lists.len() - 1
    }

    /// The number of each point's material, and the rows of these materials: one per colour, of which there are few hundreds at most.
    fn colors_of_points(&mut self, count: usize, wearer: &Wearer, (material, row): (u32, u32)) -> (Vec<u32>, Vec<u32>) {
        let per_point = wearer.shape.colors.as_ref().filter(|colors| colors.interpolation == Interpolation::Vertex);
        let Some(colors) = per_point else { return (vec![0; count], vec![row]) };
        let all = (0..count).map(|point| colors.at(point).copied().unwrap_or_default());
        let mut distinct: Vec<[u32; 3]> = all.clone().map(|color| color.map(f32::to_bits)).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let steps = if distinct.len() > MOST_COLORS { COLOR_STEPS } else { f32::INFINITY };
        let mut number: HashMap<[u32; 3], u32> = HashMap::new();
        let mut rows = Vec::new();
        let of = all.map(|color| {
            let color = if steps.is_finite() { color.map(|x| (x * steps).round() / steps) } else { color };
            *number.entry(color.map(f32::to_bits)).or_insert_with(|| {
                let plain = Shape { colors: None, ..wearer.shape.clone() };
                let wearer = Wearer { shape: &plain, color: Some(color), ..*wearer };
                rows.push(self.materials.row(self.table, material, &wearer));
                rows.len() as u32 - 1
            })
        });
        let of = of.collect();
        (of, rows)
    }
}

/// The transform from the mesh made of a shape to the shape.
fn from_source(kind: &ShapeKind) -> DAffine3 {
    // Solids of revolution stand on the Y axis.
    let turned = |axis: Axis| match axis {
        Axis::X => DQuat::from_rotation_z(-FRAC_PI_2),
        Axis::Y => DQuat::IDENTITY,
        Axis::Z => DQuat::from_rotation_x(FRAC_PI_2),
    };
    match kind {
        ShapeKind::Mesh(_) | ShapeKind::Points(_) | ShapeKind::Curves(_) => DAffine3::IDENTITY,
        ShapeKind::Cube(size) => DAffine3::from_scale(DVec3::splat(*size)),
        ShapeKind::Sphere(radius) => DAffine3::from_scale(DVec3::splat(*radius)),
        ShapeKind::Cylinder(round) | ShapeKind::Cone(round) | ShapeKind::Capsule(round) => {
            DAffine3::from_quat(turned(round.axis))
        }
        ShapeKind::Plane { axis, size: [width, length] } => {
            // The quad lies in the XZ plane.
            let scale = match axis {
                Axis::X => DVec3::new(*length, 1.0, *width),
                Axis::Y | Axis::Z => DVec3::new(*width, 1.0, *length),
            };
            DAffine3::from_quat(turned(*axis)) * DAffine3::from_scale(scale)
        }
    }
}

fn double(transform: Affine3) -> DAffine3 {
    transform.as_daffine3()
}

/// The copies of one prototype.
struct Chosen<'a> {
    copies: &'a Copies,
    prototype: u32,
}

impl Chosen<'_> {
    fn rows(&self) -> Vec<usize> {
        let of = self.copies.of.iter().enumerate();
        of.filter(|(_, prototype)| **prototype == self.prototype).map(|(row, _)| row).collect()
    }
}

/// The placements of a list. Those that differ in nothing but their transforms become one.
#[derive(Default)]
pub struct List {
    still: Vec<(Placeable, Vec<Affine3>)>,
    still_of: HashMap<(Target, u32), usize>,
    moving: Vec<Rows>,
    moving_of: HashMap<(Target, u32, Vec<u64>), usize>,
    items: Vec<Item>,
}

/// Placements that move at the same times.
struct Rows {
    what: Placeable,
    times: Vec<f64>,
    /// The transforms of each placement at all times.
    of: Vec<Vec<Affine3>>,
}

impl List {
    fn add(
        &mut self,
        what: Placeable,
        place: &Sampled<DAffine3>,
        visible: Option<Track<bool>>,
        (outer, clock): (&DAffine3, &Clock),
    ) {
        match place {
            Sampled::Still(place) => self.add_still(what, [(*outer * *place * what.from).as_affine3()], visible),
            Sampled::Moving(samples) => {
                let times = samples.iter().map(|(code, _)| clock.seconds(*code)).collect();
                let row = samples.iter().map(|(_, place)| (*outer * *place * what.from).as_affine3()).collect();
                self.add_moving(what, times, vec![row], visible);
            }
        }
    }

    fn add_copies(
        &mut self,
        what: Placeable,
        chosen: &Chosen,
        whole: &Sampled<DAffine3>,
        visible: Option<Track<bool>>,
        (outer, clock): (&DAffine3, &Clock),
    ) {
        let rows = chosen.rows();
        if let (Sampled::Still(places), Sampled::Still(whole)) = (&chosen.copies.places, whole) {
            let whole = *outer * *whole;
            let place = |&row: &usize| (whole * double(places[row]) * what.from).as_affine3();
            return self.add_still(what, rows.iter().map(place), visible);
        }
        let codes = merged_codes(&chosen.copies.places, whole);
        let mut of = vec![Vec::with_capacity(codes.len()); rows.len()];
        for &code in &codes {
            let whole = *outer * transform_at(whole, code);
            for (own, &row) in of.iter_mut().zip(&rows) {
                own.push((whole * place_at(&chosen.copies.places, row, code) * what.from).as_affine3());
            }
        }
        self.add_moving(what, codes.iter().map(|&code| clock.seconds(code)).collect(), of, visible);
    }

    /// Adds placements that keep still, with the transforms from the placed object.
    pub fn add_still(
        &mut self,
        what: Placeable,
        places: impl IntoIterator<Item = Affine3>,
        visible: Option<Track<bool>>,
    ) {
        // What is flat stays visible. Copies that are not there are not finite.
        let flat = |place: Affine3| match is_invertible(&place) {
            true => place,
            false => thicken_matrix(place),
        };
        let places = places.into_iter().filter(|place| place.is_finite()).map(flat).filter(is_invertible);
        if visible.is_some() {
            let places: Vec<Affine3> = places.collect();
            if !places.is_empty() {
                self.items.push(item(what, matrices(places), visible));
            }
            return;
        }
        let key = (what.target, what.row);
        let index = *self.still_of.entry(key).or_insert(self.still.len());
        if index == self.still.len() {
            self.still.push((what, Vec::new()));
        }
        self.still[index].1.extend(places);
    }

    /// Adds placements that move, with the transforms of each at these times in seconds.
    pub fn add_moving(
        &mut self,
        what: Placeable,
        times: Vec<f64>,
        of: Vec<Vec<Affine3>>,
        visible: Option<Track<bool>>,
    ) {
        if visible.is_some() {
            self.items.extend(table(&Rows { what, times, of }).map(|pattern| item(what, pattern, visible)));
            return;
        }
        let key = (what.target, what.row, times.iter().map(|time| time.to_bits()).collect());
        let index = *self.moving_of.entry(key).or_insert(self.moving.len());
        if index == self.moving.len() {
            self.moving.push(Rows { what, times, of: Vec::new() });
        }
        self.moving[index].of.extend(of);
    }

    pub fn finish(self) -> Vec<Item> {
        let still = self.still.into_iter().filter(|(_, places)| !places.is_empty());
        let mut items: Vec<Item> = still.map(|(what, places)| item(what, matrices(places), None)).collect();
        let moving = self.moving.iter().filter_map(|rows| Some(item(rows.what, table(rows)?, None)));
        items.extend(moving);
        items.extend(self.items);
        items
    }
}

fn matrices(places: Vec<Affine3>) -> Pattern {
    Pattern::Matrices(places.into())
}

/// The table of placements that move. None if none of them is ever there.
fn table(rows: &Rows) -> Option<Pattern> {
    let by_time = |time: usize| rows.of.iter().map(move |row| row[time]);
    let transforms: Arc<[Affine3]> = (0..rows.times.len()).flat_map(by_time).collect();
    let loaded = tables::of_transforms(&transforms, &rows.times).ok()?;
    let none = Affine3::IDENTITY;
    Some(Pattern::Table(TablePattern {
        first: tables::places(&loaded.first, &none, &none),
        table: loaded.table,
        upright: none,
        each: none,
    }))
}

fn item(what: Placeable, pattern: Pattern, visible: Option<Track<bool>>) -> Item {
    Item {
        entry: 0,
        target: what.target,
        whole: Affine3::IDENTITY,
        pattern: Arc::new(pattern),
        chosen: None,
        materials: if what.row == NONE { Vec::new() } else { vec![what.row] },
        choose: Choose::default(),
        motion: NONE,
        keeps_gaps: false,
        parent: None,
        visible,
        nest: None,
    }
}

/// The times of both, ascending.
fn merged_codes<A, B>(a: &Sampled<A>, b: &Sampled<B>) -> Vec<f64> {
    fn codes<T>(sampled: &Sampled<T>) -> impl Iterator<Item = f64> {
        let samples = match sampled {
            Sampled::Still(_) => &[],
            Sampled::Moving(samples) => &samples[..],
        };
        samples.iter().map(|(code, _)| *code)
    }
    let mut all: Vec<f64> = codes(a).chain(codes(b)).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

fn transform_at(place: &Sampled<DAffine3>, code: f64) -> DAffine3 {
    let (a, b, share) = place.around(code);
    mixed(*a, *b, share)
}

fn place_at(places: &Sampled<Vec<Affine3>>, row: usize, code: f64) -> DAffine3 {
    let (a, b, share) = places.around(code);
    mixed(double(a[row]), double(b[row]), share)
}

/// Interpolates the numbers of two transforms. One that is not there makes the result so, unless it is the end of no share.
fn mixed(a: DAffine3, b: DAffine3, share: f64) -> DAffine3 {
    if share == 0.0 {
        return a;
    }
    DAffine3 {
        matrix3: a.matrix3 * (1.0 - share) + b.matrix3 * share,
        translation: a.translation.lerp(b.translation, share),
    }
}

/// The unit mesh of a light with an extent.
pub fn lamp(name: &str, shape: SceneShape, row: u32) -> MeshSource {
    let mesh = Mesh { name: name.trim_start_matches('/').to_owned(), shape, slot_count: 1 };
    MeshSource {
        mesh,
        materials: vec![row],
        points: Vec::new(),
        point_triangles: Vec::new(),
        motion: MeshMotion::Still,
        cage: None,
        displacement: None,
    }
}
