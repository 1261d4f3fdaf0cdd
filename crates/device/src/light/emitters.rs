//! The emissive meshes of a scene: one table of triangles for each combination of a mesh and a set of materials.

use super::{LightBounds, LightLeaf, alias::alias_table};
use glam::{Affine3, DVec3, Vec3};
use rayon::prelude::*;
use std::{f32::consts::PI, ops::Range, sync::Arc};
use throng_abi::{EmitterTable, EmitterTriangle, InstanceRecord};
use throng_accel::Tlas;
use throng_base::math::Aabb;
use throng_scene::{Mesh, Scene, Shape, TriangleMesh};
use throng_scene::{ShutterKeys, ShutterSpan};

/// The emission of a mesh with one set of materials.
#[derive(Clone, Copy, Debug)]
struct MeshEmission {
    mesh: u32,
    slot_base: u32,
    /// Object-space area times luminance, weighted by the squared components of the normals. It gives the effect of a transform on areas:
    /// exact for axis-aligned surfaces, approximate for others.
    along: Vec3,
    /// Object-space bounds of the emissive triangles, or of the sphere.
    bounds: Aabb,
    is_sphere: bool,
}

/// The shape of a mesh in a frame.
#[derive(Clone, Copy, Debug)]
pub struct ShownShape<'a> {
    pub mesh: u32,
    /// Vertex positions, at the first shutter key if the mesh deforms during the exposure.
    pub positions: &'a [[f32; 3]],
    /// Bounds of the later shutter keys; empty if there are none.
    pub reaches: Aabb,
}

/// Tables to which the leaves of the light tree refer.
#[derive(Clone, Debug, Default)]
pub struct EmitterTables {
    pub tables: Vec<EmitterTable>,
    pub triangles: Vec<EmitterTriangle>,
}

/// All emissive meshes of a scene. Deforming meshes have their rest positions.
pub struct Emitters {
    scene: Arc<Scene>,
    /// Mean luminance that each material emits.
    weights: Vec<f32>,
    /// Emissions sorted by mesh and slots. The table with the same index belongs to each.
    emissions: Vec<MeshEmission>,
    /// Range of `emissions` for each mesh.
    of_mesh: Vec<Range<u32>>,
    tables: Arc<EmitterTables>,
}

/// Emitters with the shapes of a frame.
pub struct PosedEmitters<'a> {
    emitters: &'a Emitters,
    /// Emissions of deformed meshes; none if no shape changes them.
    deformed: Option<Vec<MeshEmission>>,
    /// Tables to which leaves refer.
    pub tables: Arc<EmitterTables>,
}

impl PosedEmitters<'_> {
    /// The leaf of an instance of a mesh, given the index of its record; none if it emits no light.
    pub fn leaf(&self, index: u32, tlas: &Tlas) -> Option<LightLeaf> {
        let table = self.emitters.emission_of(tlas.kind(index as usize))?;
        let record = tlas.record(index as usize);
        if record.mask == 0 {
            return None;
        }
        let emissions = self.deformed.as_deref().unwrap_or(&self.emitters.emissions);
        let bounds = emissions.get(table)?.over_shutter(&record, &tlas.shutter)?;
        Some(LightLeaf { bounds, record: index, table: table as u32 })
    }
}

/// An emission and the triangles of its table.
type MeshEmitters = (MeshEmission, Vec<EmitterTriangle>);

impl Emitters {
    /// Creates the tables. `weights` must come from [`super::emission_weights`]. Fast if no material emits light.
    pub fn new(scene: Arc<Scene>, weights: Vec<f32>) -> Self {
        let pairs = shining_pairs(&scene, &weights);
        let parts: Vec<MeshEmitters> = pairs
            .into_par_iter()
            .filter_map(|(mesh, slot_base)| part(&scene, &weights, mesh, slot_base, None))
            .collect();
        let emissions: Vec<MeshEmission> = parts.iter().map(|part| part.0).collect();
        let bound = |mesh: u32| emissions.partition_point(|emission| emission.mesh < mesh) as u32;
        let of_mesh = (0..scene.meshes.len() as u32).map(|mesh| bound(mesh)..bound(mesh + 1));
        Self { of_mesh: of_mesh.collect(), tables: Arc::new(tables(&parts)), emissions, scene, weights }
    }

    /// The scene of the emitters.
    pub fn scene(&self) -> &Arc<Scene> {
        &self.scene
    }

    /// Mean luminance that each material emits.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// Whether no mesh emits light.
    pub fn is_empty(&self) -> bool {
        self.emissions.is_empty()
    }

    /// The emitters with the positions of `shapes`, the deforming meshes.
    pub fn posed(&self, shapes: &[ShownShape<'_>]) -> PosedEmitters<'_> {
        let (deformed, tables) = self.deformed(shapes);
        PosedEmitters { emitters: self, deformed, tables }
    }

    /// The emission of instances of a mesh whose material slots start at `slot_base`.
    fn emission_of(&self, (mesh, slot_base): (u32, u32)) -> Option<usize> {
        let range = self.of_mesh.get(mesh as usize)?;
        if range.is_empty() {
            return None;
        }
        let first = range.start as usize;
        let emissions = &self.emissions[first..range.end as usize];
        let place = emissions.binary_search_by_key(&slot_base, |emission| emission.slot_base);
        place.ok().map(|place| first + place)
    }

    /// Emissions and tables with the positions of `shapes`. The emissions are none if no shape changes them.
    fn deformed(&self, shapes: &[ShownShape<'_>]) -> (Option<Vec<MeshEmission>>, Arc<EmitterTables>) {
        let shines = |mesh: u32| self.emissions.iter().any(|emission| emission.mesh == mesh);
        if !shapes.iter().any(|shape| shines(shape.mesh)) {
            return (None, self.tables.clone());
        }
        let rebuilt = |(emission, table): (&MeshEmission, &EmitterTable)| {
            let shape = shapes.iter().find(|shape| shape.mesh == emission.mesh);
            let at_rest = || {
                let first = table.first as usize;
                let triangles = &self.tables.triangles[first..first + table.count as usize];
                (*emission, triangles.to_vec())
            };
            let new = shape.and_then(|shape| {
                let (mut emission, triangles) =
                    part(&self.scene, &self.weights, emission.mesh, emission.slot_base, Some(shape.positions))?;
                emission.bounds = emission.bounds.union(shape.reaches);
                Some((emission, triangles))
            });
            new.unwrap_or_else(at_rest)
        };
        let emissions = self.emissions.par_iter().zip(&self.tables.tables);
        let parts: Vec<MeshEmitters> = emissions.map(rebuilt).collect();
        let emissions = parts.iter().map(|part| part.0).collect();
        (Some(emissions), Arc::new(tables(&parts)))
    }
}

impl MeshEmission {
    /// Bounds of an instance over the exposure; none if its area is always zero.
    fn over_shutter(&self, record: &InstanceRecord, shutter: &ShutterKeys) -> Option<LightBounds> {
        over_shutter(record, shutter, |transform| self.placed(transform))
    }

    /// World-space bounds for the transform `m` from object space, a row-major 3×4 matrix; none if the area is zero.
    fn placed(&self, m: &[f32; 12]) -> Option<LightBounds> {
        let column = |i: usize| Vec3::new(m[i], m[4 + i], m[8 + i]);
        let (x, y, z) = (column(0), column(1), column(2));
        let scales = Vec3::new(y.cross(z).length(), z.cross(x).length(), x.cross(y).length());
        // Averaged over all directions, the visible area is half of a two-sided surface's area, and a quarter of a sphere's.
        let power = self.along.dot(scales) * if self.is_sphere { 0.25 } else { 0.5 };
        let (center, reach) = if self.is_sphere {
            let rows = [0, 4, 8].map(|r| Vec3::new(m[r], m[r + 1], m[r + 2]).length());
            (column(3), Vec3::from(rows))
        } else {
            let affine = Affine3::from_cols(x, y, z, column(3));
            let placed = self.bounds.transformed(&affine);
            (placed.center(), placed.extent() * 0.5)
        };
        (power > 0.0 && power.is_finite()).then(|| LightBounds { min: center - reach, max: center + reach, power })
    }
}

/// The union of the bounds that `placed` returns for an instance at each of its shutter keys; none if it never returns any.
pub fn over_shutter(
    record: &InstanceRecord,
    shutter: &ShutterKeys,
    placed: impl Fn(&[f32; 12]) -> Option<LightBounds>,
) -> Option<LightBounds> {
    if record.segments == 0 {
        return placed(&record.world_from_object);
    }
    let span = ShutterSpan { first: record.first_key, segments: record.segments };
    let keys = shutter.of(span).iter();
    let placed = keys.filter_map(|key| placed(&key.world_from_object));
    placed.reduce(|a, b| LightBounds { min: a.min.min(b.min), max: a.max.max(b.max), power: a.power.max(b.power) })
}

/// Pairs of a mesh and a first slot that instances use and that may emit light; each once, in ascending order.
fn shining_pairs(scene: &Scene, weights: &[f32]) -> Vec<(u32, u32)> {
    if !weights.iter().any(|&w| w > 0.0) {
        return Vec::new();
    }
    let shines = |&(mesh, slot_base): &(u32, u32)| {
        let count = scene.meshes[mesh as usize].slot_count;
        let slots = slot_base as usize..(slot_base + count) as usize;
        let mut materials = scene.material_slots.get(slots).into_iter().flatten();
        materials.any(|&m| weights.get(m as usize).is_some_and(|&w| w > 0.0))
    };
    let meshes = scene.instances.par_iter().filter(|i| (i.mesh as usize) < scene.meshes.len());
    let shown = meshes.map(|i| (i.mesh, i.slot_base));
    let mut pairs: Vec<(u32, u32)> = shown.collect();
    pairs.par_sort_unstable();
    pairs.dedup();
    // An instance with a palette may show any of the palette's meshes.
    let poses = |first: u32| {
        let palette = scene.palettes.iter().find(|p| p.first_mesh == first);
        first..first + palette.map_or(1, |p| p.poses.count)
    };
    let mut all: Vec<(u32, u32)> = pairs
        .into_iter()
        .flat_map(|(mesh, slot_base)| poses(mesh).map(move |mesh| (mesh, slot_base)))
        .filter(shines)
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The emission of a mesh whose materials start at slot `slot_base`, and its table; none if no area emits light.
fn part(
    scene: &Scene,
    weights: &[f32],
    mesh: u32,
    slot_base: u32,
    positions: Option<&[[f32; 3]]>,
) -> Option<MeshEmitters> {
    let weight_of = |slot: u32| {
        let material = scene.material_slots.get((slot_base + slot) as usize);
        let weight = material.and_then(|&m| weights.get(m as usize));
        weight.copied().unwrap_or_default()
    };
    let shape: &Mesh = scene.meshes.get(mesh as usize)?;
    let emission =
        |along: Vec3, bounds: Aabb, is_sphere: bool| MeshEmission { mesh, slot_base, along, bounds, is_sphere };
    match &shape.shape {
        Shape::Sphere => {
            let along = Vec3::splat(4.0 / 3.0 * PI * weight_of(0));
            let bounds = shape.bounds();
            (along.x > 0.0).then(|| (emission(along, bounds, true), Vec::new()))
        }
        // Paths that hit glowing curves find their light.
        Shape::Curves(_) => None,
        Shape::Triangles(triangles) => {
            let positions = positions.unwrap_or(&triangles.positions);
            let (along, bounds, table) = triangle_table(triangles, positions, weight_of)?;
            Some((emission(along, bounds, false), table))
        }
    }
}

/// Weights along the axes, bounds, and the alias table of the emissive triangles; none if no area emits light.
fn triangle_table(
    mesh: &TriangleMesh,
    positions: &[[f32; 3]],
    weight_of: impl Fn(u32) -> f32 + Sync,
) -> Option<(Vec3, Aabb, Vec<EmitterTriangle>)> {
    let corners = |prim: usize| {
        let corners = mesh.triangles[prim];
        corners.map(|v| Vec3::from(positions.get(v as usize).copied().unwrap_or_default()))
    };
    // The length of these normals is area times luminance.
    let normal = |prim: usize| {
        let weight = weight_of(mesh.slots.get(prim).copied().unwrap_or_default());
        let [a, b, c] = corners(prim).map(Vec3::as_dvec3);
        let normal = (b - a).cross(c - a) * (0.5 * f64::from(weight));
        (weight > 0.0 && normal.length() > 0.0).then_some((prim as u32, normal))
    };
    let prims = (0..mesh.triangles.len()).into_par_iter().with_min_len(4096);
    let normals: Vec<(u32, DVec3)> = prims.filter_map(normal).collect();
    if normals.is_empty() {
        return None;
    }
    let weights: Vec<f64> = normals.iter().map(|(_, n)| n.length()).collect();
    let along: DVec3 = normals.iter().map(|(_, n)| *n * *n / n.length()).sum();
    let points = normals.iter().flat_map(|(prim, _)| corners(*prim as usize));
    let bounds = Aabb::of_points(points);
    let (entries, _) = alias_table(&weights, |x| x as f32);
    let table = entries.iter().zip(&normals).map(|(entry, (prim, _))| EmitterTriangle {
        threshold: entry.threshold,
        prim: *prim,
        alias: normals[entry.alias as usize].0,
        reserved: 0,
    });
    Some((along.as_vec3(), bounds, table.collect()))
}

fn tables(parts: &[MeshEmitters]) -> EmitterTables {
    let mut all = EmitterTables::default();
    for (emission, triangles) in parts {
        all.tables.push(EmitterTable {
            first: all.triangles.len() as u32,
            count: triangles.len() as u32,
            weight: emission.along.element_sum(),
            reserved: 0,
        });
        all.triangles.extend_from_slice(triangles);
    }
    all
}
