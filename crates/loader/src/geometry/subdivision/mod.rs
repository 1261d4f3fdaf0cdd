//! Subdivision surfaces: cages of polygons, refined to triangles on their limit surfaces.
//!
//! The surface of a face depends on its neighbours only, so the weights of its points are found by refining this neighbourhood ([`patch`],
//! [`refine`], [`limit`]). Neighbourhoods with equal connections share them. The rules are those of OpenSubdiv, as in USD.
//!
//! The crate `subdiv-kernels` 0.1 was examined first. It refuses whole meshes for one non-manifold edge, has limit masks for Catmull-Clark
//! surfaces only, smooths creases that end at a boundary, and loses the seams of texture coordinates after the first level.

mod channel;
mod fans;
mod grid;
mod layout;
mod limit;
mod patch;
mod refine;
mod ring;
mod sharpness;
mod stencils;
#[cfg(test)]
mod tests;
mod topology;

pub use channel::{Attribute, FaceVarying, Spread};
pub use fans::Faces;

use self::{channel::Channel, grid::Grid, layout::Layout, refine::Rules, topology::Topology};
use crate::budget;
use glam::Vec4;
use throng_scene::{
    TriangleMesh,
    desc::{MOST_SUBDIVISION, SubdivisionScheme},
    rig::{Stencils, SubdivisionSurface},
};

/// Maximum number of faces at a point, since the work of its faces is quadratic.
const MOST_VALENCE: u32 = 256;

impl From<SubdivisionScheme> for Scheme {
    fn from(scheme: SubdivisionScheme) -> Self {
        match scheme {
            SubdivisionScheme::CatmullClark => Self::CatmullClark,
            SubdivisionScheme::Loop => Self::Loop,
        }
    }
}

/// How faces are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Each face into quads, one for each of its corners.
    CatmullClark,
    /// Each triangle into four.
    Loop,
}

/// The boundary of a surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Boundary {
    /// Faces at the boundary only shape their neighbours.
    None,
    /// Boundary edges are sharp.
    Edges,
    /// Boundary edges are sharp, and so are corners of a single face.
    #[default]
    EdgesAndCorners,
}

/// The faces of a cage, and the rules of its surface.
#[derive(Clone, Debug)]
pub struct Polygons {
    pub scheme: Scheme,
    /// Whether faces are divided without being smoothed.
    pub linear: bool,
    /// Whether triangles of Catmull-Clark cages get smoother weights (`triangleSubdivisionRule = smooth`).
    pub smooth_triangles: bool,
    pub boundary: Boundary,
    /// Number of corners of each face, at least 3, or 3 for Loop's scheme.
    pub sizes: Vec<u32>,
    /// The point of each corner. Neighbouring corners of a face have different points.
    pub corners: Vec<u32>,
    /// Points of sharp edges, with their sharpness.
    pub creases: Vec<([u32; 2], f32)>,
    /// Sharp points, with their sharpness.
    pub points: Vec<(u32, f32)>,
    /// Whether each face is drawn.
    pub drawn: Vec<bool>,
    /// Material slot of each face, or empty.
    pub slots: Vec<u32>,
}

impl Polygons {
    /// Faces of a Catmull-Clark surface without creases.
    pub fn of_faces(sizes: Vec<u32>, corners: Vec<u32>) -> Self {
        Self {
            scheme: Scheme::CatmullClark,
            linear: false,
            smooth_triangles: false,
            boundary: Boundary::default(),
            creases: Vec::new(),
            points: Vec::new(),
            drawn: vec![true; sizes.len()],
            slots: Vec::new(),
            sizes,
            corners,
        }
    }
}

/// A cage, from which meshes of all levels can be made.
#[derive(Clone, Debug)]
pub struct Cage {
    points: Vec<[f32; 3]>,
    topology: Topology,
    rules: Rules,
    drawn: Vec<bool>,
    slots: Vec<u32>,
    channels: Vec<Channel>,
}

/// A refined cage.
#[derive(Clone, Debug)]
pub struct Refined {
    /// Triangles on the limit surface, for the points of the cage at rest.
    pub mesh: TriangleMesh,
    /// How its vertices follow the points of the cage.
    pub surface: SubdivisionSurface,
}

impl Cage {
    /// A cage. `attributes` are the values over its corners.
    ///
    /// # Errors
    /// If more faces meet at a point than can be smoothed. The text is the end of a sentence about the mesh.
    pub fn new(points: Vec<[f32; 3]>, polygons: Polygons, attributes: Vec<Attribute>) -> Result<Self, String> {
        let Polygons {
            scheme,
            linear,
            smooth_triangles,
            boundary,
            sizes,
            corners,
            creases,
            points: sharp,
            drawn,
            slots,
        } = polygons;
        let mut valences = vec![0_u32; points.len()];
        corners.iter().for_each(|&point| valences[point as usize] += 1);
        if let Some(most) = valences.iter().copied().max().filter(|&most| most > MOST_VALENCE) {
            return Err(format!("{most} faces meet at a point, and a subdivision surface has at most {MOST_VALENCE}"));
        }
        let mut topology = Topology::unconnected(sizes.iter().copied(), corners, points.len());
        topology.connect(&creases, &sharp, boundary);
        let mut cage = Self {
            points,
            rules: Rules { scheme, linear, smooth_triangles },
            drawn,
            slots,
            channels: attributes.into_iter().map(|attribute| Channel::new(attribute, &topology)).collect(),
            topology,
        };
        if boundary == Boundary::None && !linear {
            cage.hide_boundary();
        }
        Ok(cage)
    }

    /// Hides faces at boundaries that are not creases.
    fn hide_boundary(&mut self) {
        let topology = &self.topology;
        let mut hidden = vec![false; topology.vertex_sharpness.len()];
        for corner in 0..topology.corners.len() as u32 {
            let is_sharp = topology.edge_sharpness[corner as usize] >= sharpness::INFINITE;
            if topology.sharpness(corner) >= sharpness::INFINITE && !is_sharp {
                for end in [corner, topology.next(corner)] {
                    hidden[topology.vertex(end) as usize] = true;
                }
            }
        }
        for (face, drawn) in (0..).zip(&mut self.drawn) {
            *drawn &= !topology.corners_of(face).any(|corner| hidden[topology.vertex(corner) as usize]);
        }
    }

    /// Moves the points of the cage at rest.
    pub fn map_points(&mut self, map: impl Fn([f32; 3]) -> [f32; 3]) {
        self.points.iter_mut().for_each(|point| *point = map(*point));
    }

    /// Points of the cage at rest.
    pub fn points(&self) -> &[[f32; 3]] {
        &self.points
    }

    /// The mean length of the edges of drawn faces, for other points of the cage.
    pub fn edge_length(&self) -> f64 {
        let corners =
            (0..self.topology.corners.len() as u32).filter(|&c| self.drawn[self.topology.faces[c as usize] as usize]);
        let lengths = corners.map(|corner| {
            let [a, b] =
                [corner, self.topology.next(corner)].map(|corner| self.points[self.topology.vertex(corner) as usize]);
            f64::from(glam::Vec3::from(a).distance(glam::Vec3::from(b)))
        });
        let (sum, count) = lengths.fold((0.0, 0_u64), |(sum, count), length| (sum + length, count + 1));
        sum / count.max(1) as f64
    }

    /// Number of triangles at a level, which is at least 1.
    pub fn triangle_count(&self, level: u32) -> u64 {
        let faces = (0..).zip(&self.drawn).filter(|(_, drawn)| **drawn);
        faces
            .map(|(face, _)| {
                Grid::triangle_count(self.rules.scheme, self.topology.corners_of(face).len() as u64, level)
            })
            .sum()
    }

    /// Bytes of the refined mesh from loading to rendering.
    pub fn bytes(&self, level: u32) -> u64 {
        let triangles = self.triangle_count(level) as usize;
        budget::of_mesh(triangles / 2 + self.points.len(), triangles)
    }

    /// The cage refined to a level of 1 to [`MOST_SUBDIVISION`]. None if no face is drawn. Parallel.
    pub fn refined(&self, level: u32) -> Option<Refined> {
        let level = level.clamp(1, MOST_SUBDIVISION);
        let layout = Layout::of(self, level);
        if layout.triangles.is_empty() {
            return None;
        }
        let stencils = stencils::of::<3>(&self.topology, &layout, self.rules, level);
        let surface = SubdivisionSurface {
            cage: self.points.clone(),
            stencils,
            copies: layout.copies.clone(),
            directions: Vec::new(),
        };
        let mut mesh = TriangleMesh {
            positions: vec![[0.0; 3]; surface.stencils.len()],
            normals: if self.rules.linear { Vec::new() } else { vec![[0.0; 3]; surface.stencils.len()] },
            ..TriangleMesh::default()
        };
        throng_scene::anim::refine(&surface, &self.points, &mut mesh);
        for channel in &self.channels {
            let rules = Rules { linear: self.rules.linear || channel.is_linear(), ..self.rules };
            let stencils = stencils::of::<1>(channel.topology(), &layout, rules, level);
            channel.store(&values(&stencils, channel.values()), &mut mesh);
        }
        mesh.triangles = layout.triangles;
        mesh.slots = layout.slots;
        Some(Refined { mesh, surface })
    }
}

/// All results of stencils.
fn values(stencils: &Stencils<1>, controls: &[Vec4]) -> Vec<Vec4> {
    let controls: Vec<[f32; 4]> = controls.iter().map(Vec4::to_array).collect();
    let mut values = Vec::with_capacity(stencils.len());
    let mut gathered = Vec::new();
    for block in &stencils.blocks {
        stencils.evaluate(block, &controls, &mut gathered, |rows, [value]| {
            let lanes = value.map(|component| component.to_array());
            values.extend(rows.lanes().map(|(_, lane)| Vec4::from_array(lanes.map(|component| component[lane]))));
        });
    }
    values
}
