//! Boxes and masks of whole objects in a picture: with what other objects hide, and boxes also with what lies outside of the picture.

use super::{
    maps::TracedMaps,
    objects::Objects,
    projection::{OUTLINE, Projector},
    silhouette::Silhouette,
};
use glam::{Affine3, DMat4, DVec2, DVec3, UVec2, Vec3};
use rayon::prelude::*;
use std::{
    borrow::Cow,
    collections::{BTreeSet, HashMap},
    f32::consts::{PI, TAU},
    slice,
};
use throng_output::Runs;
use throng_scene::{
    CurvePoint, Curves, Scene, Shape,
    anim::{self, Deformed, Moment},
};

/// Number of circles of latitude, and of points on each, by which a sphere is represented. Boxes are too small by at most 0.03 % of its radius.
const RINGS: u32 = 64;
const RING_POINTS: u32 = 128;
/// Length in pixels up to which edges count as straight in pictures of lenses that bend lines.
const STRAIGHT: f64 = 8.0;
/// Maximum number of times that a triangle is divided for them.
const MOST_DIVISIONS: u32 = 6;

/// A whole object in a picture.
pub struct Whole {
    /// `[x, y, width, height]` in pixels of the rendered region.
    pub bounds: [f64; 4],
    /// The pixels whose middles lie in the object's outline.
    pub mask: Runs,
}

/// A point of the camera's space and its place in the picture.
type Corner = (DVec3, DVec2);

/// A frame in which objects are measured.
struct Measured<'a> {
    scene: &'a Scene,
    objects: &'a Objects,
    moment: &'a Moment,
    projector: Projector,
    /// Size of the rendered region in pixels.
    size: UVec2,
    /// Shapes of deforming meshes, by mesh.
    shapes: HashMap<u32, Deformed>,
}

/// Finds `instances` in the frame of `traced` at `moment`. One of which a part is behind the camera is not found, and none is found in a panorama.
pub fn find(
    scene: &Scene,
    moment: &Moment,
    traced: &TracedMaps,
    objects: &Objects,
    instances: &BTreeSet<u32>,
) -> HashMap<u32, Whole> {
    let Some(projector) = Projector::new(traced.camera, traced.settings) else { return HashMap::new() };
    let meshes: BTreeSet<u32> =
        instances.iter().filter_map(|&id| mesh_of(scene, moment, objects.index_of(id)?)).collect();
    let deforming = scene.deforming.iter().filter(|deforming| meshes.contains(&deforming.mesh));
    let shape = |deforming| {
        let mut shape = Deformed::default();
        anim::shape_at(scene, deforming, moment, &mut shape);
        shape
    };
    let shapes = deforming.map(|deforming| (deforming.mesh, shape(deforming))).collect();
    let size = traced.settings.film_size().into();
    let measured = Measured { scene, objects, moment, projector, size, shapes };
    instances.par_iter().filter_map(|&id| Some((id, measured.whole(id)?))).collect()
}

/// The mesh that an instance shows.
fn mesh_of(scene: &Scene, moment: &Moment, index: u32) -> Option<u32> {
    let instance = scene.instances.get(index as usize)?;
    if scene.palettes.is_empty() {
        return Some(instance.mesh);
    }
    let mut shown = Vec::new();
    anim::shown_meshes(scene, slice::from_ref(instance), &[index], moment, &mut shown);
    shown.first().copied()
}

impl Measured<'_> {
    fn whole(&self, id: u32) -> Option<Whole> {
        let index = self.objects.index_of(id)?;
        let way = self.scene.way_to(id, index, self.objects.numbers());
        let world = Affine3::from(anim::way_world(self.scene, self.moment, &way));
        let camera_from_object = self.projector.camera_from_world() * DMat4::from(world.as_daffine3());
        let mesh = mesh_of(self.scene, self.moment, index)?;
        let posed = self.shapes.get(&mesh).map(|shape| &shape.positions[..]);
        let (positions, triangles) = match &self.scene.meshes.get(mesh as usize)?.shape {
            Shape::Curves(curves) => return self.strands(curves, posed, &world, &camera_from_object),
            Shape::Triangles(mesh) => (Cow::Borrowed(posed.unwrap_or(&mesh.positions)), Cow::Borrowed(&mesh.triangles)),
            Shape::Sphere => (Cow::Owned(sphere_points()), Cow::Owned(sphere_triangles())),
        };
        self.surface(&positions, &triangles, &camera_from_object)
    }

    fn surface(&self, positions: &[[f32; 3]], triangles: &[[u32; 3]], to_camera: &DMat4) -> Option<Whole> {
        let points: Vec<DVec3> =
            positions.iter().map(|&position| to_camera.transform_point3(Vec3::from(position).as_dvec3())).collect();
        let places: Vec<DVec2> = points.iter().map(|&point| self.projector.place(point)).collect::<Option<_>>()?;
        let (min, max) = ends(places.iter().copied())?;
        let mut silhouette = Silhouette::new(min, max, self.size);
        for triangle in triangles {
            if self.projector.is_straight() {
                silhouette.add_triangle(triangle.map(|vertex| places[vertex as usize]));
            } else {
                let corner = |vertex: u32| (points[vertex as usize], places[vertex as usize]);
                self.add_bent(&mut silhouette, triangle.map(corner), MOST_DIVISIONS);
            }
        }
        Some(self.finish(min, max, &silhouette))
    }

    /// Adds a triangle whose edges are bent by the lens, in parts with short edges.
    fn add_bent(&self, silhouette: &mut Silhouette, corners: [Corner; 3], divisions: u32) {
        let [a, b, c] = corners;
        let is_short = [(a, b), (b, c), (c, a)].into_iter().all(|(from, to)| from.1.distance(to.1) <= STRAIGHT);
        let middle = |from: Corner, to: Corner| {
            let point = from.0.midpoint(to.0);
            Some((point, self.projector.place(point)?))
        };
        match [middle(a, b), middle(b, c), middle(c, a)] {
            [Some(ab), Some(bc), Some(ca)] if !is_short && divisions > 0 => {
                for part in [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]] {
                    self.add_bent(silhouette, part, divisions - 1);
                }
            }
            _ => silhouette.add_triangle(corners.map(|(_, place)| place)),
        }
    }

    fn strands(
        &self,
        curves: &Curves,
        posed: Option<&[[f32; 3]]>,
        world: &Affine3,
        to_camera: &DMat4,
    ) -> Option<Whole> {
        let rows = [0, 1, 2].map(|axis| world.matrix3.row(axis).length());
        let stretch = rows.into_iter().fold(0.0, f32::max);
        let outline = |(index, point): (usize, &CurvePoint)| {
            let position = Vec3::from(posed.map_or(point.position, |positions| positions[index]));
            self.projector.outline(to_camera.transform_point3(position.as_dvec3()), f64::from(stretch * point.radius))
        };
        let outlines: Vec<[DVec2; OUTLINE]> = curves.points.iter().enumerate().map(outline).collect::<Option<_>>()?;
        let (min, max) = ends(outlines.iter().flatten().copied())?;
        let mut silhouette = Silhouette::new(min, max, self.size);
        for segment in curves.segments() {
            // Both ends, and the facets between them.
            let [a, b] = [outlines[segment as usize], outlines[segment as usize + 1]];
            for i in 0..OUTLINE {
                let next = (i + 1) % OUTLINE;
                silhouette.add_triangle([a[0], a[i], a[next]]);
                silhouette.add_triangle([b[0], b[i], b[next]]);
                silhouette.add_triangle([a[i], a[next], b[i]]);
                silhouette.add_triangle([b[i], a[next], b[next]]);
            }
        }
        Some(self.finish(min, max, &silhouette))
    }

    fn finish(&self, min: DVec2, max: DVec2, silhouette: &Silhouette) -> Whole {
        let rounded = |value: f64| (100.0 * value).round() / 100.0;
        let bounds = [min.x, min.y, max.x - min.x, max.y - min.y].map(rounded);
        Whole { bounds, mask: silhouette.mask(self.size.y) }
    }
}

/// The corners of the box around some places. None without places.
fn ends(places: impl Iterator<Item = DVec2>) -> Option<(DVec2, DVec2)> {
    let none = (DVec2::INFINITY, DVec2::NEG_INFINITY);
    let (min, max) = places.fold(none, |(min, max), place| (min.min(place), max.max(place)));
    (min.x <= max.x).then_some((min, max))
}

/// Points on the unit sphere, ring by ring.
fn sphere_points() -> Vec<[f32; 3]> {
    let ring = |ring: u32| {
        let (across, y) = (PI * ring as f32 / RINGS as f32).sin_cos();
        (0..RING_POINTS).map(move |i| {
            let (sine, cosine) = (TAU * i as f32 / RING_POINTS as f32).sin_cos();
            [across * cosine, y, across * sine]
        })
    };
    (0..=RINGS).flat_map(ring).collect()
}

/// The triangles between these points.
fn sphere_triangles() -> Vec<[u32; 3]> {
    let cell = |at: u32| {
        let (ring, i) = (at / RING_POINTS * RING_POINTS, at % RING_POINTS);
        let next = (i + 1) % RING_POINTS;
        let [a, b] = [ring + i, ring + next];
        [[a, b, a + RING_POINTS], [b, b + RING_POINTS, a + RING_POINTS]]
    };
    (0..RINGS * RING_POINTS).flat_map(cell).collect()
}
