//! Polygons of a stage as triangles.

use crate::geometry::{
    normals::{Fans, face_normal},
    polygons,
};
use glam::{DVec3, Vec3};
use std::collections::HashMap;
use throng_scene::{NONE, TriangleMesh};
use throng_usd::{Interpolation, PolygonMesh, Primvar, Scheme, Shape};

/// Angle between faces in degrees from which on their edge is sharp in a mesh whose normals are averaged.
const SHARP: f32 = 60.0;

/// Attributes that a mesh needs, because of its materials.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Needs {
    /// Names of the sets of texture coordinates, at most two.
    pub uvs: Vec<String>,
    /// Whether `displayColor` and `displayOpacity` are shown.
    pub colors: bool,
    /// Slots whose materials do not show them.
    pub white: Vec<u32>,
}

/// Triangles, and the point of the stage's mesh that each vertex is.
pub struct Built {
    pub mesh: TriangleMesh,
    pub points: Vec<u32>,
    /// For each vertex, the first vertex with which it shares its normal; empty for flat shading.
    groups: Vec<u32>,
}

/// Triangulates a mesh, with the points of its first time. None if nothing has an area.
pub fn build(shape: &Shape, mesh: &PolygonMesh, needs: &Needs) -> Option<Built> {
    let points = mesh.points.first();
    let attributes = Attributes::new(shape, mesh, needs);
    let slots = slots(mesh);
    let all = triangles(mesh);
    let clusters = if attributes.averages() { clusters(&all, &mesh.corners, points) } else { Vec::new() };
    let mut out = Vertices {
        attributes: &attributes,
        latest: HashMap::new(),
        mesh: TriangleMesh::default(),
        points: Vec::new(),
        clusters: Vec::new(),
    };
    for (number, (face, corners)) in all.into_iter().enumerate() {
        let ids = corners.map(|corner| mesh.corners[corner as usize]);
        let [a, b, c] = ids.map(|id| DVec3::from(points[id as usize].map(f64::from)));
        if (b - a).cross(c - a) == DVec3::ZERO {
            continue;
        }
        let mut triangle = [0, 1, 2].map(|i| {
            out.vertex(
                points,
                Element {
                    point: ids[i],
                    corner: corners[i],
                    face,
                    cluster: clusters.get(3 * number + i).copied().unwrap_or_default(),
                    is_white: slots.get(face as usize).is_some_and(|slot| needs.white.contains(slot)),
                },
            )
        });
        if mesh.left_handed {
            triangle.swap(1, 2);
        }
        out.mesh.triangles.push(triangle);
        out.mesh.slots.extend(slots.get(face as usize));
    }
    if out.mesh.triangles.is_empty() {
        return None;
    }
    let Vertices { mut mesh, points, clusters, .. } = out;
    let groups = attributes.groups(&points, &clusters, &mesh.normals);
    if !groups.is_empty() {
        let averaged = averaged_normals(&mesh.positions, &mesh.triangles, &groups);
        // Authored normals without a direction get those of their faces.
        let authored = std::mem::take(&mut mesh.normals);
        let given = |vertex: usize| Vec3::from(*authored.get(vertex)?).try_normalize();
        let all = averaged.iter().enumerate().map(|(vertex, own)| given(vertex).map_or(*own, |n| n.to_array()));
        mesh.normals = all.collect();
    }
    Some(Built { mesh, points, groups })
}

impl Built {
    /// Normals of the vertices, averaged even if the mesh has others. None for flat shading.
    pub fn normals(&self) -> Vec<[f32; 3]> {
        match &self.groups[..] {
            [] => Vec::new(),
            groups => averaged_normals(&self.mesh.positions, &self.mesh.triangles, groups),
        }
    }

    /// Positions and normals of the vertices for other points of the mesh. No normals for flat shading.
    pub fn at(&self, points: &[[f32; 3]]) -> (Vec<[f32; 3]>, Vec<[f32; 3]>) {
        let positions: Vec<[f32; 3]> = self.points.iter().map(|&point| points[point as usize]).collect();
        let normals = match &self.groups[..] {
            [] => Vec::new(),
            groups => averaged_normals(&positions, &self.mesh.triangles, groups),
        };
        (positions, normals)
    }
}

/// All faces but holes as triangles of corners, with their faces.
fn triangles(mesh: &PolygonMesh) -> Vec<(u32, [u32; 3])> {
    let (mut triangles, mut faces, mut fans) = (Vec::new(), Vec::new(), Vec::new());
    let mut holes = mesh.holes.iter().copied().peekable();
    let mut start = 0;
    for (face, &size) in (0..).zip(&mesh.face_sizes) {
        let is_hole = holes.next_if_eq(&face).is_some();
        if size >= 3 && !is_hole {
            let first = triangles.len() as u32;
            triangles.extend((start + 1..start + size - 1).map(|corner| [start, corner, corner + 1]));
            faces.resize(triangles.len(), face);
            if size > 3 {
                fans.push(first..triangles.len() as u32);
            }
        }
        start += size;
    }
    let points = mesh.points.first();
    let position = |corner: u32| points[mesh.corners[corner as usize] as usize];
    match polygons::mended(&triangles, &fans, true, position) {
        Some(mended) => mended.values(&faces).into_iter().zip(mended.triangles).collect(),
        None => faces.into_iter().zip(triangles).collect(),
    }
}

/// The slot of each face; empty for a mesh without subsets. The faces in no subset have the last slot.
pub(super) fn slots(mesh: &PolygonMesh) -> Vec<u32> {
    if mesh.subsets.is_empty() {
        return Vec::new();
    }
    let mut slots = vec![mesh.subsets.len() as u32; mesh.face_sizes.len()];
    for (slot, subset) in (0..).zip(&mesh.subsets) {
        for &face in &subset.faces {
            slots.get_mut(face as usize).into_iter().for_each(|own| *own = slot);
        }
    }
    slots
}

/// A corner of a triangle.
#[derive(Clone, Copy)]
pub(super) struct Element {
    pub point: u32,
    pub corner: u32,
    pub face: u32,
    /// Number of the corners around the point that share their normal, if normals are averaged.
    pub cluster: u32,
    /// Whether it has no colour.
    pub is_white: bool,
}

/// The values of a mesh that its vertices have.
pub(super) struct Attributes<'a> {
    /// Authored normals. None if they are averaged, or for flat shading.
    normals: Option<&'a Primvar<[f32; 3]>>,
    is_flat: bool,
    pub uvs: Vec<&'a Primvar<[f32; 2]>>,
    pub colors: Option<&'a Primvar<[f32; 3]>>,
    pub opacities: Option<&'a Primvar<f32>>,
}

/// The numbers of a vertex's values: normal, two sets of texture coordinates, colour and opacity.
type ValueIds = [u32; 5];

impl<'a> Attributes<'a> {
    pub fn new(shape: &'a Shape, mesh: &'a PolygonMesh, needs: &Needs) -> Self {
        let set = |name: &String| mesh.uvs.iter().find(|(own, _)| own == name).map(|(_, primvar)| primvar);
        let is_polygonal = mesh.scheme == Scheme::None;
        let normals = mesh.normals.as_ref().filter(|_| is_polygonal);
        Self {
            normals,
            is_flat: normals.is_none() && (is_polygonal || mesh.scheme == Scheme::Bilinear),
            uvs: needs.uvs.iter().filter_map(set).collect(),
            colors: shape.colors.as_ref().filter(|_| needs.colors),
            opacities: shape.opacities.as_ref().filter(|_| needs.colors),
        }
    }

    /// The numbers of the values of a corner.
    fn ids(&self, element: Element) -> ValueIds {
        let uv = |set: usize| self.uvs.get(set).map_or(0, |primvar| id(primvar, element));
        [
            self.normals.map_or(element.cluster, |primvar| id(primvar, element)),
            uv(0),
            uv(1),
            self.colors.map_or(0, |primvar| if element.is_white { NONE } else { id(primvar, element) }),
            self.opacities.map_or(0, |primvar| if element.is_white { NONE } else { id(primvar, element) }),
        ]
    }

    /// Whether normals are averaged over faces.
    fn averages(&self) -> bool {
        self.normals.is_none() && !self.is_flat
    }

    /// For each vertex, the first one at the same point with the same authored normal, or in the same cluster; empty for flat shading.
    fn groups(&self, points: &[u32], clusters: &[u32], normals: &[[f32; 3]]) -> Vec<u32> {
        if self.is_flat {
            return Vec::new();
        }
        let mut first = HashMap::with_capacity(points.len());
        let key = |vertex: usize| match normals.get(vertex) {
            Some(normal) => (points[vertex], normal.map(f32::to_bits)),
            None => (points[vertex], [clusters[vertex], 0, 0]),
        };
        (0..points.len()).map(|vertex| *first.entry(key(vertex)).or_insert(vertex as u32)).collect()
    }
}

/// The number of a corner's value among the values of a primvar.
pub(super) fn id<T>(primvar: &Primvar<T>, Element { point, corner, face, .. }: Element) -> u32 {
    let element = match primvar.interpolation {
        Interpolation::Constant => 0,
        Interpolation::Uniform => face,
        Interpolation::Vertex => point,
        Interpolation::FaceVarying => corner,
    };
    primvar.indices.get(element as usize).copied().unwrap_or(element)
}

/// The vertices so far: each point once for each combination of its corners' values.
struct Vertices<'a> {
    attributes: &'a Attributes<'a>,
    latest: HashMap<(u32, ValueIds), u32>,
    mesh: TriangleMesh,
    points: Vec<u32>,
    /// The cluster of each vertex.
    clusters: Vec<u32>,
}

impl Vertices<'_> {
    fn vertex(&mut self, points: &[[f32; 3]], element: Element) -> u32 {
        let Self { attributes, latest, mesh, points: of, clusters } = self;
        let ids = attributes.ids(element);
        *latest.entry((element.point, ids)).or_insert_with(|| {
            fn value<T: Copy>(primvar: &Primvar<T>, id: u32) -> Option<T> {
                primvar.values.get(id as usize).copied()
            }
            mesh.positions.push(points[element.point as usize]);
            of.push(element.point);
            clusters.push(element.cluster);
            if let Some(normals) = attributes.normals {
                mesh.normals.push(value(normals, ids[0]).unwrap_or_default());
            }
            let mut sets = attributes.uvs.iter().zip([ids[1], ids[2]]);
            let mut uv = |to: &mut Vec<[f32; 2]>| {
                to.extend(sets.next().map(|(primvar, id)| value(primvar, id).unwrap_or_default()));
            };
            uv(&mut mesh.uvs);
            uv(&mut mesh.uvs1);
            if attributes.colors.is_some() || attributes.opacities.is_some() {
                let [r, g, b] = attributes.colors.and_then(|primvar| value(primvar, ids[3])).unwrap_or([1.0; 3]);
                let opacity = attributes.opacities.and_then(|primvar| value(primvar, ids[4])).unwrap_or(1.0);
                mesh.colors.push([r, g, b, opacity]);
            }
            of.len() as u32 - 1
        })
    }
}

/// For each corner of the triangles, a number that it shares with the corners at its point whose normals are averaged with its own: those in
/// triangles that can be reached from its own across edges with angles of less than [`SHARP`].
fn clusters(triangles: &[(u32, [u32; 3])], point_of: &[u32], points: &[[f32; 3]]) -> Vec<u32> {
    let ids = |triangle: usize| triangles[triangle].1.map(|corner| point_of[corner as usize]);
    let normal = |triangle: usize| face_normal(ids(triangle).map(|id| points[id as usize]));
    let mut parents: Vec<u32> = (0..3 * triangles.len() as u32).collect();
    let mut unite = |a: usize, b: usize| {
        let (a, b) = (root(&mut parents, a as u32), root(&mut parents, b as u32));
        parents[a.max(b) as usize] = a.min(b);
    };
    let least = f64::from(SHARP.to_radians().cos());
    let mut sides: HashMap<[u32; 2], usize> = HashMap::with_capacity(2 * triangles.len());
    for side in 0..3 * triangles.len() {
        let (triangle, corner) = (side / 3, side % 3);
        let next = 3 * triangle + (corner + 1) % 3;
        let own = ids(triangle);
        let (from, to) = (own[corner], own[(corner + 1) % 3]);
        // At an edge with more than two triangles, each one is compared with the one before.
        let Some(other) = sides.insert([from.min(to), from.max(to)], side) else { continue };
        let (triangle_there, corner_there) = (other / 3, other % 3);
        let is_same_face = triangles[triangle].0 == triangles[triangle_there].0;
        if is_same_face || normal(triangle).dot(normal(triangle_there)) >= least {
            let next_there = 3 * triangle_there + (corner_there + 1) % 3;
            let is_turned = ids(triangle_there)[corner_there] != from;
            let (same, opposite) = if is_turned { (next_there, other) } else { (other, next_there) };
            unite(side, same);
            unite(next, opposite);
        }
    }
    (0..parents.len() as u32).map(|corner| root(&mut parents, corner)).collect()
}

/// The least member of a set of joined corners.
fn root(parents: &mut [u32], mut corner: u32) -> u32 {
    while parents[corner as usize] != corner {
        let above = parents[parents[corner as usize] as usize];
        parents[corner as usize] = above;
        corner = above;
    }
    corner
}

/// Normals averaged over the faces around each group of vertices.
fn averaged_normals(positions: &[[f32; 3]], triangles: &[[u32; 3]], groups: &[u32]) -> Vec<[f32; 3]> {
    Fans::welded(positions, triangles, groups.to_vec()).position_normals(positions.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_usd::{Sampled, ShapeKind, Subset};

    /// Two squares that share an edge and are folded along it by 45 degrees.
    fn fold() -> PolygonMesh {
        let points = vec![[0., 0., 0.], [1., 0., 0.], [1., 0., 1.], [0., 0., 1.], [-0.7, 0.7, 1.], [-0.7, 0.7, 0.]];
        PolygonMesh {
            points: Sampled::Still(points),
            face_sizes: vec![4, 4],
            corners: vec![0, 3, 2, 1, 3, 0, 5, 4],
            ..PolygonMesh::default()
        }
    }

    fn shape(mesh: PolygonMesh) -> (Shape, PolygonMesh) {
        let kind = ShapeKind::Sphere(1.0);
        (Shape { name: "/fold".to_owned(), kind, double_sided: true, colors: None, opacities: None }, mesh)
    }

    fn built((shape, mesh): &(Shape, PolygonMesh), needs: &Needs) -> Built {
        build(shape, mesh, needs).unwrap_or_else(|| panic!("there is nothing"))
    }

    #[test]
    fn a_cage_is_smooth_but_for_sharp_edges_and_polygons_are_flat() {
        let smooth = built(&shape(fold()), &Needs::default());
        assert_eq!((smooth.mesh.positions.len(), smooth.mesh.triangles.len()), (6, 4));
        let n = smooth.mesh.normals[0];
        assert!(n[1] > 0.9 && n[1] < 0.99, "{n:?}");
        let Sampled::Still(mut points) = fold().points else { panic!() };
        (points[4], points[5]) = ([0., 1., 1.], [0., 1., 0.]);
        let sharp = built(&shape(PolygonMesh { points: Sampled::Still(points), ..fold() }), &Needs::default());
        assert_eq!((sharp.mesh.positions.len(), sharp.mesh.normals[0]), (8, [0.0, 1.0, 0.0]));
        let flat = built(&shape(PolygonMesh { scheme: Scheme::None, ..fold() }), &Needs::default());
        assert!(flat.mesh.normals.is_empty());
    }

    #[test]
    fn left_handed_faces_are_turned_and_holes_left_out() {
        let right = built(&shape(fold()), &Needs::default()).mesh;
        let left = built(&shape(PolygonMesh { left_handed: true, ..fold() }), &Needs::default()).mesh;
        assert_eq!(left.triangles[0], [right.triangles[0][0], right.triangles[0][2], right.triangles[0][1]]);
        let holed = built(&shape(PolygonMesh { holes: vec![0], ..fold() }), &Needs::default());
        assert_eq!((holed.mesh.triangles.len(), &holed.points[..3]), (2, &[3, 0, 5][..]));
    }

    #[test]
    fn values_of_corners_split_vertices_and_values_of_points_do_not() {
        let uv = |interpolation, values: Vec<[f32; 2]>, indices| {
            ("st".to_owned(), Primvar { interpolation, values, indices })
        };
        let needs = Needs { uvs: vec!["st".to_owned()], colors: false, white: Vec::new() };
        let corners = uv(Interpolation::FaceVarying, vec![[0.5; 2], [1.0; 2]], vec![0, 0, 0, 0, 1, 1, 1, 1]);
        let seamed = built(&shape(PolygonMesh { uvs: vec![corners], ..fold() }), &needs);
        assert_eq!((seamed.mesh.positions.len(), seamed.mesh.uvs.len()), (8, 8));
        // The seam stays smooth.
        assert_eq!(seamed.mesh.normals.iter().filter(|n| n[1] > 0.9 && n[1] < 0.99).count(), 4);
        let points = uv(Interpolation::Vertex, (0..6).map(|i| [i as f32, 0.0]).collect(), Vec::new());
        let welded = built(&shape(PolygonMesh { uvs: vec![points], ..fold() }), &needs);
        assert_eq!((welded.mesh.positions.len(), welded.mesh.uvs[0]), (6, [0.0, 0.0]));
    }

    #[test]
    fn subsets_are_slots_and_other_faces_have_the_last_one() {
        let subset = Subset { name: "side".to_owned(), faces: vec![1] };
        let mesh = built(&shape(PolygonMesh { subsets: vec![subset], ..fold() }), &Needs::default()).mesh;
        assert_eq!(mesh.slots, [1, 1, 0, 0]);
    }

    #[test]
    fn normals_follow_moving_points() {
        let built = built(&shape(fold()), &Needs::default());
        let flat: Vec<[f32; 3]> =
            vec![[0., 0., 0.], [1., 0., 0.], [1., 0., 1.], [0., 0., 1.], [-1., 0., 1.], [-1., 0., 0.]];
        let (positions, normals) = built.at(&flat);
        assert_eq!(positions.len(), built.mesh.positions.len());
        assert!(normals.iter().all(|n| Vec3::from(*n).distance(Vec3::Y) < 1e-6), "{normals:?}");
    }
}
