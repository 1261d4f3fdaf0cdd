//! Shapes of the stage, each read once.

use super::{
    curves, mesh,
    primvars::{self, Elements},
    skeleton::SkelBound,
    values::{FromUsd, Values},
};
use crate::{Axis, Interpolation, PointCloud, PolygonMesh, Primvar, Round, Sampled, Shape, ShapeKind};
use glam::Vec3;
use openusd::{sdf, usd::Prim};
use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
};

/// A shape that was read.
#[derive(Clone)]
pub struct Found {
    /// Index into [`crate::Stage::shapes`].
    pub shape: u32,
    /// Prims of the mesh's subsets.
    pub subsets: Vec<sdf::Path>,
}

/// The shapes of a stage.
#[derive(Default)]
pub struct Shapes {
    list: Vec<Shape>,
    known: HashMap<(sdf::Path, SkelBound), Option<Found>>,
    /// Shapes by their digests: many files have the same geometry in many prims.
    digests: HashMap<u64, Vec<u32>>,
}

impl Shapes {
    /// The shape of a prim, under the name that it has in messages. `None` if it is empty or invalid.
    pub fn get(
        &mut self,
        values: &Values,
        prim: &Prim,
        type_name: &str,
        name: &str,
        skel: &SkelBound,
    ) -> Option<Found> {
        let key = (prim.path().clone(), skel.clone());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let found = read(values, prim, type_name, name, skel);
        let found = found.map(|(shape, subsets)| Found { shape: self.index(shape), subsets });
        self.known.insert(key, found.clone());
        found
    }

    /// Index of the shape, or of an equal one.
    fn index(&mut self, shape: Shape) -> u32 {
        let equals = self.digests.entry(digest(&shape)).or_default();
        let same = |known: &Shape| {
            known.kind == shape.kind
                && known.double_sided == shape.double_sided
                && known.colors == shape.colors
                && known.opacities == shape.opacities
        };
        if let Some(&known) = equals.iter().find(|&&known| same(&self.list[known as usize])) {
            return known;
        }
        let index = self.list.len() as u32;
        equals.push(index);
        self.list.push(shape);
        index
    }

    /// The shape with this index.
    pub fn at(&self, index: u32) -> &Shape {
        &self.list[index as usize]
    }

    /// All shapes.
    pub fn finish(self) -> Vec<Shape> {
        self.list
    }
}

/// A number that differs for most shapes that differ. It looks at some of the points only; equal digests are compared in full.
fn digest(shape: &Shape) -> u64 {
    const LOOKS: usize = 256;
    let mut hasher = DefaultHasher::new();
    let (points, counts) = match &shape.kind {
        ShapeKind::Mesh(mesh) => (mesh.points.first(), [mesh.face_sizes.len(), mesh.corners.len(), mesh.uvs.len()]),
        ShapeKind::Points(cloud) => (cloud.points.first(), [cloud.widths.len(), 0, 0]),
        ShapeKind::Curves(curves) => (curves.points.first(), [curves.counts.len(), curves.uvs.len(), 0]),
        solid => {
            format!("{solid:?}").hash(&mut hasher);
            return hasher.finish();
        }
    };
    (counts, points.len()).hash(&mut hasher);
    let stride = points.len().div_ceil(LOOKS).max(1);
    points.iter().step_by(stride).for_each(|point| point.map(f32::to_bits).hash(&mut hasher));
    hasher.finish()
}

fn read(
    values: &Values,
    prim: &Prim,
    type_name: &str,
    name: &str,
    skel: &SkelBound,
) -> Option<(Shape, Vec<sdf::Path>)> {
    let (mut subsets, mut elements) = (Vec::new(), Elements { faces: 1, points: 1, corners: 1, ..Elements::default() });
    let kind = match type_name {
        "Mesh" => {
            let found = mesh::read(values, prim, skel)?;
            if is_own_sphere(values, prim, &found.mesh) {
                ShapeKind::Sphere(1.0)
            } else {
                (subsets, elements) = (found.subsets, found.elements);
                ShapeKind::Mesh(Box::new(found.mesh))
            }
        }
        "BasisCurves" | "NurbsCurves" => {
            let (curves, own) = curves::read(values, prim, type_name == "NurbsCurves")?;
            elements = own;
            ShapeKind::Curves(Box::new(curves))
        }
        "Points" => {
            let cloud = points(values, prim)?;
            elements.points = cloud.points.first().len();
            ShapeKind::Points(Box::new(cloud))
        }
        solid => self::solid(values, prim, solid)?,
    };
    let shape = Shape {
        name: name.to_owned(),
        // USD's fallback is one side, but most files say nothing and mean both, and most renderers show both.
        double_sided: values.bool(prim, "doubleSided", true),
        colors: display(values, prim, "primvars:displayColor", elements, &kind),
        opacities: display(values, prim, "primvars:displayOpacity", elements, &kind),
        kind,
    };
    Some((shape, subsets))
}

/// `displayColor` or `displayOpacity`. Solids have a constant one: what the faces of a solid are is up to the renderer.
fn display<T: Clone>(
    values: &Values,
    prim: &Prim,
    name: &str,
    elements: Elements,
    kind: &ShapeKind,
) -> Option<Primvar<T>>
where
    Vec<T>: FromUsd,
{
    if matches!(kind, ShapeKind::Mesh(_) | ShapeKind::Points(_) | ShapeKind::Curves(_)) {
        return primvars::read(values, prim, name, Interpolation::Constant, elements);
    }
    let first = values.get::<Vec<T>>(prim, name)?.first()?.clone();
    Some(Primvar { interpolation: Interpolation::Constant, values: vec![first], indices: Vec::new() })
}

/// Whether a mesh stands for the unit sphere. One whose points another program has moved is a mesh.
fn is_own_sphere(values: &Values, prim: &Prim, mesh: &PolygonMesh) -> bool {
    const TOLERANCE: f32 = 1e-5;
    let is_unit = |&point: &[f32; 3]| (Vec3::from(point).length() - 1.0).abs() <= TOLERANCE;
    let is_named = values.token(prim, ShapeKind::OWN).as_deref() == Some(ShapeKind::OWN_SPHERE);
    is_named && mesh.skin.is_none() && mesh.points.all(|points| points.iter().all(is_unit))
}

/// A solid. `None` after a warning if a size is negative.
fn solid(values: &Values, prim: &Prim, type_name: &str) -> Option<ShapeKind> {
    let size = |name: &str, fallback: f64| {
        let size = values.f64(prim, name, fallback);
        if size < 0.0 {
            values.warn(format!("{}: {name} = {size} is negative; the shape is left out", prim.path()));
            return None;
        }
        Some(size)
    };
    let axis = match values.token(prim, "axis").as_deref() {
        Some("X") => Axis::X,
        Some("Y") => Axis::Y,
        _ => Axis::Z,
    };
    let round = |radii: [f64; 2], height: f64| Round { radii, height, axis };
    Some(match type_name {
        "Cube" => ShapeKind::Cube(size("size", 2.0)?),
        "Sphere" => ShapeKind::Sphere(size("radius", 1.0)?),
        "Cylinder" => ShapeKind::Cylinder(round([size("radius", 1.0)?; 2], size("height", 2.0)?)),
        "Cylinder_1" => {
            ShapeKind::Cylinder(round([size("radiusBottom", 1.0)?, size("radiusTop", 1.0)?], size("height", 2.0)?))
        }
        "Cone" => ShapeKind::Cone(round([size("radius", 1.0)?, 0.0], size("height", 2.0)?)),
        "Capsule" => ShapeKind::Capsule(round([size("radius", 0.5)?; 2], size("height", 1.0)?)),
        "Capsule_1" => {
            ShapeKind::Capsule(round([size("radiusBottom", 0.5)?, size("radiusTop", 0.5)?], size("height", 1.0)?))
        }
        "Plane" => ShapeKind::Plane { axis, size: [size("width", 2.0)?, size("length", 2.0)?] },
        _ => return None,
    })
}

/// Spheres at points. `None` if there are none.
fn points(values: &Values, prim: &Prim) -> Option<PointCloud> {
    let points = values.sampled::<Vec<[f32; 3]>>(prim, "points")?;
    if points.all(Vec::is_empty) {
        return None;
    }
    let count = points.first().len();
    let newer: Option<Vec<f32>> = values.get(prim, "primvars:widths");
    let mut widths = newer.or_else(|| values.get(prim, "widths")).unwrap_or_default();
    if widths.is_empty() {
        widths = vec![1.0];
    } else if widths.len() > 1 && widths.len() != count {
        values.warn(format!("{}: has {} widths for {count} points; the first is used", prim.path(), widths.len()));
        widths.truncate(1);
    }
    let points = match points {
        Sampled::Still(points) => Sampled::Still(points),
        Sampled::Moving(samples) if widths.len() > 1 && samples.iter().any(|(_, points)| points.len() != count) => {
            values.warn(format!("{}: its number of points changes; the first width is used", prim.path()));
            widths.truncate(1);
            Sampled::Moving(samples)
        }
        moving => moving,
    };
    Some(PointCloud { points, widths })
}
