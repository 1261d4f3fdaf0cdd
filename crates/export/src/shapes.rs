//! Meshes, curves and spheres, each once in a class that instances refer to.

use crate::{convert::WORLD, materials::Materials, sphere, times::Times};
use glam::Vec3;
use std::collections::HashMap;
use throng_base::math::Aabb;
use throng_scene::{
    CurveProfile, Curves, Mesh, Scene, Shape, TriangleMesh,
    anim::{Deformed, shape_at},
    rig::DeformingMesh,
};
use throng_usd::{CurveSet, LayerValue, Prim, names::Names};

/// Name of the geometry in a class.
const SHAPE: &str = "Shape";
/// Name of the scope of shapes.
const SHAPES: &str = "Shapes";
/// Names of the primvars with texture coordinates.
pub const UV_SETS: [&str; 2] = ["st", "st1"];

/// The shapes that instances have used so far.
pub struct Shapes<'a> {
    scene: &'a Scene,
    times: &'a Times,
    names: Names,
    /// Index in `classes` of each mesh.
    known: HashMap<u32, usize>,
    /// Index in `classes` of the spheres with and without back faces.
    spheres: HashMap<bool, usize>,
    /// Paths of meshes with the materials of their slots.
    dressed: HashMap<(u32, Vec<u32>), String>,
    classes: Vec<Prim>,
    /// The deforming mesh of each mesh.
    deforming: HashMap<u32, &'a DeformingMesh>,
}

impl<'a> Shapes<'a> {
    /// No shapes yet.
    pub fn new(scene: &'a Scene, times: &'a Times) -> Self {
        let deforming = scene.deforming.iter().map(|deforming| (deforming.mesh, deforming)).collect();
        Self {
            scene,
            times,
            names: Names::default(),
            known: HashMap::new(),
            spheres: HashMap::new(),
            dressed: HashMap::new(),
            classes: Vec::new(),
            deforming,
        }
    }

    /// Path of the class of a mesh with the materials of its slots. Materials are bound in the class, because some programs ignore those that
    /// are bound to instances.
    pub fn path(&mut self, mesh: u32, rows: &[u32], materials: &mut Materials) -> String {
        let index = self.class(mesh);
        let path = format!("{WORLD}/{SHAPES}/{}", self.classes[index].name);
        let is_colored = has_colors(&self.scene.meshes[mesh as usize]);
        rows.iter().filter(|_| is_colored).for_each(|row| materials.color(*row));
        self.dress(mesh, rows, path, materials)
    }

    fn class(&mut self, mesh: u32) -> usize {
        if let Some(&known) = self.known.get(&mesh) {
            return known;
        }
        let index = match &self.scene.meshes[mesh as usize].shape {
            Shape::Triangles(triangles) => self.add(mesh, self.triangles(mesh, triangles)),
            Shape::Curves(curves) => self.add(mesh, self.strands(mesh, curves)),
            Shape::Sphere => self.sphere(mesh),
        };
        self.known.insert(mesh, index);
        index
    }

    /// Adds the class of a mesh. Returns its index.
    fn add(&mut self, mesh: u32, shape: Prim) -> usize {
        let name = self.names.unique(&self.scene.meshes[mesh as usize].name);
        self.classes.push(Prim { children: vec![shape], ..Prim::class(name, "Xform") });
        self.classes.len() - 1
    }

    /// Index of the class that all spheres share.
    fn sphere(&mut self, mesh: u32) -> usize {
        let is_culled = self.is_culled(mesh);
        if let Some(&known) = self.spheres.get(&is_culled) {
            return known;
        }
        let mut shape = sphere::mesh(SHAPE, is_culled);
        extent(&mut shape, &Aabb { min: Vec3::NEG_ONE, max: Vec3::ONE });
        let index = self.add(mesh, shape);
        self.spheres.insert(is_culled, index);
        index
    }

    /// Path of a class that binds materials to another one.
    fn dress(&mut self, mesh: u32, rows: &[u32], path: String, materials: &mut Materials) -> String {
        let key = (mesh, rows.to_vec());
        if let Some(known) = self.dressed.get(&key) {
            return known.clone();
        }
        let own = &self.scene.meshes[mesh as usize];
        let only = rows.first().filter(|_| rows.len() == 1);
        let material = only.map_or_else(String::new, |row| self.scene.material_name(*row as usize));
        let name = self.names.unique(&format!("{}_{material}", own.name));
        let mut shape = Prim::over(SHAPE);
        if let Some(row) = only {
            shape.bind(materials.path(*row));
        }
        let slots = own.triangles().filter(|_| only.is_none()).map_or_else(Vec::new, used_slots);
        shape.children = slots
            .into_iter()
            .filter_map(|slot| {
                let mut subset = Prim::over(subset_name(slot));
                subset.bind(materials.path(*rows.get(slot as usize)?));
                Some(subset)
            })
            .collect();
        let dressed = format!("{WORLD}/{SHAPES}/{name}");
        self.classes.push(Prim { reference: path, children: vec![shape], ..Prim::class(name, "Xform") });
        self.dressed.insert(key, dressed.clone());
        dressed
    }

    fn triangles(&self, mesh: u32, own: &TriangleMesh) -> Prim {
        let mut prim = Prim::new(SHAPE, "Mesh");
        let sizes = vec![3; own.triangles.len()];
        let corners = own.triangles.iter().flatten().map(|&corner| corner as i32).collect();
        prim.set("faceVertexCounts", "int[]", LayerValue::Ints(sizes));
        prim.set("faceVertexIndices", "int[]", LayerValue::Ints(corners));
        let is_culled = self.is_culled(mesh);
        prim.set_uniform("subdivisionScheme", "token", LayerValue::token("none"));
        prim.set_uniform("doubleSided", "bool", LayerValue::Bool(!is_culled));
        self.vertices(&mut prim, mesh, own);
        for (name, uvs) in UV_SETS.iter().zip([&own.uvs, &own.uvs1]) {
            if !uvs.is_empty() {
                primvar(&mut prim, &format!("primvars:{name}"), "texCoord2f[]", LayerValue::Float2s(uvs.clone()));
            }
        }
        colors(&mut prim, &own.colors);
        subsets(&mut prim, own);
        prim
    }

    /// Points and normals, over time if the mesh deforms.
    fn vertices(&self, prim: &mut Prim, mesh: u32, own: &TriangleMesh) {
        let (mut points, mut normals, mut bounds) = (Vec::new(), Vec::new(), Aabb::EMPTY);
        for (code, shape) in self.deformed(mesh) {
            bounds = bounds.union(shape.bounds);
            points.push((code, LayerValue::Float3s(shape.positions)));
            normals.push((code, LayerValue::Float3s(shape.normals)));
        }
        if points.is_empty() {
            bounds = Aabb::of_points(own.positions.iter().copied().map(Into::into));
            points.push((0.0, LayerValue::Float3s(own.positions.clone())));
            normals.push((0.0, LayerValue::Float3s(own.normals.clone())));
        }
        prim.set_over_time("points", "point3f[]", points);
        if !own.normals.is_empty() {
            prim.set_over_time("normals", "normal3f[]", normals);
            prim.attributes.last_mut().into_iter().for_each(|normals| normals.interpolation = "vertex");
        }
        extent(prim, &bounds);
    }

    /// The shapes of a mesh that deforms, with their time codes; none for others.
    fn deformed(&self, mesh: u32) -> impl Iterator<Item = (f64, Deformed)> + '_ {
        self.deforming.get(&mesh).into_iter().flat_map(|deforming| {
            self.times.of_objects().iter().map(|sample| {
                let mut shape = Deformed::default();
                shape_at(self.scene, deforming, &sample.moment(self.scene), &mut shape);
                (sample.code, shape)
            })
        })
    }

    fn strands(&self, mesh: u32, curves: &Curves) -> Prim {
        let mut prim = Prim::new(SHAPE, "BasisCurves");
        let counts = curves.strand_ranges().map(|points| points.len() as i32).collect();
        let (mut points, mut bounds) = (Vec::new(), Aabb::EMPTY);
        for (code, shape) in self.deformed(mesh) {
            bounds = bounds.union(shape.bounds);
            points.push((code, LayerValue::Float3s(shape.positions)));
        }
        if points.is_empty() {
            bounds = curves.bounds();
            points.push((0.0, LayerValue::Float3s(curves.points.iter().map(|point| point.position).collect())));
        }
        let widths = curves.points.iter().map(|point| 2.0 * point.radius).collect();
        prim.set_uniform("type", "token", LayerValue::token("linear"));
        prim.set_uniform("wrap", "token", LayerValue::token("nonperiodic"));
        prim.set("curveVertexCounts", "int[]", LayerValue::Ints(counts));
        prim.set_over_time("points", "point3f[]", points);
        prim.set("widths", "float[]", LayerValue::Floats(widths)).interpolation = "vertex";
        if curves.profile == CurveProfile::Ribbon {
            prim.set_uniform(CurveSet::PROFILE, "token", LayerValue::token(CurveSet::RIBBON)).is_custom = true;
        }
        if !curves.uvs.is_empty() {
            primvar(&mut prim, "primvars:st", "texCoord2f[]", LayerValue::Float2s(curves.uvs.clone()));
        }
        colors(&mut prim, &curves.colors);
        extent(&mut prim, &bounds);
        prim
    }

    /// Whether all materials of a mesh hide its back faces.
    fn is_culled(&self, mesh: u32) -> bool {
        let slots = self.scene.meshes[mesh as usize].slot_count;
        let own = self.scene.instances.iter().filter(|instance| instance.mesh == mesh);
        let mut rows = own.flat_map(|instance| instance.slot_base..instance.slot_base + slots).peekable();
        let material = |slot: u32| {
            let row = self.scene.material_slots.get(slot as usize)?;
            self.scene.materials.get(*row as usize)
        };
        rows.peek().is_some() && rows.all(|slot| material(slot).is_some_and(|material| !material.double_sided))
    }

    /// The scope with all classes.
    pub fn finish(self, warnings: &mut Vec<String>) -> Prim {
        if !self.deforming.is_empty() && self.times.moves {
            warnings.push("skins and morph targets are written as samples of points, not as UsdSkel".to_owned());
        }
        Prim { children: self.classes, ..Prim::class(SHAPES, "Scope") }
    }
}

fn has_colors(mesh: &Mesh) -> bool {
    match &mesh.shape {
        Shape::Triangles(triangles) => !triangles.colors.is_empty(),
        Shape::Curves(curves) => !curves.colors.is_empty(),
        Shape::Sphere => false,
    }
}

/// Slots that triangles have; none for a mesh with one slot.
fn used_slots(mesh: &TriangleMesh) -> Vec<u32> {
    let mut slots = mesh.slots.clone();
    slots.sort_unstable();
    slots.dedup();
    slots
}

fn subset_name(slot: u32) -> String {
    format!("slot_{slot}")
}

/// A subset of faces for each slot.
fn subsets(prim: &mut Prim, mesh: &TriangleMesh) {
    if mesh.slots.is_empty() {
        return;
    }
    prim.set_uniform("subsetFamily:materialBind:familyType", "token", LayerValue::token("partition"));
    prim.children = used_slots(mesh)
        .into_iter()
        .map(|slot| {
            let faces = (0..).zip(&mesh.slots).filter(|(_, own)| **own == slot).map(|(face, _)| face).collect();
            let mut subset = Prim::new(subset_name(slot), "GeomSubset");
            subset.set_uniform("elementType", "token", LayerValue::token("face"));
            subset.set_uniform("familyName", "token", LayerValue::token("materialBind"));
            subset.set("indices", "int[]", LayerValue::Ints(faces));
            subset
        })
        .collect();
}

fn primvar(prim: &mut Prim, name: &str, kind: &'static str, value: LayerValue) {
    prim.set(name, kind, value).interpolation = "vertex";
}

fn colors(prim: &mut Prim, colors: &[[f32; 4]]) {
    if colors.is_empty() {
        return;
    }
    let rgb = colors.iter().map(|&[r, g, b, _]| [r, g, b]).collect();
    primvar(prim, "primvars:displayColor", "color3f[]", LayerValue::Float3s(rgb));
    if colors.iter().any(|color| color[3] != 1.0) {
        let alpha = colors.iter().map(|color| color[3]).collect();
        primvar(prim, "primvars:displayOpacity", "float[]", LayerValue::Floats(alpha));
    }
}

/// Sets the bounds of a shape.
pub fn extent(prim: &mut Prim, bounds: &Aabb) {
    if !bounds.is_empty() {
        let corners = vec![bounds.min.to_array(), bounds.max.to_array()];
        prim.set("extent", "float3[]", LayerValue::Float3s(corners));
    }
}
