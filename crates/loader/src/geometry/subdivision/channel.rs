//! Values over a cage, such as texture coordinates: interpolated like points, or separately for each face (face-varying).
//!
//! Values of a point that differ between its faces divide the channel into parts, whose seams are boundaries. The rules of seams are those of
//! OpenSubdiv (`Vtr::internal::FVarLevel`), as in USD (`faceVaryingLinearInterpolation`).

use super::{sharpness, topology::Topology};
use glam::Vec4;
use std::collections::HashMap;
use throng_scene::{NONE, TriangleMesh};

/// What is linear in a face-varying channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FaceVarying {
    /// Nothing.
    None,
    /// Corners of parts.
    Corners,
    /// Also points at which more than two parts meet.
    #[default]
    CornersPlus1,
    /// Also both parts where one has a corner, and ends of seams.
    CornersPlus2,
    /// Boundaries of parts.
    Boundaries,
    /// Everything.
    All,
}

/// The attribute of a mesh that a channel becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// First set of texture coordinates.
    Uvs,
    /// Second set of texture coordinates.
    Uvs1,
    /// Colours with alpha.
    Colors,
}

/// Values over the corners of a cage.
#[derive(Clone, Debug)]
pub struct Attribute {
    pub spread: Spread,
    /// One for each corner.
    pub values: Vec<Vec4>,
    pub face_varying: FaceVarying,
}

/// Values over a cage, each once for a point.
#[derive(Clone, Debug)]
pub struct Channel {
    spread: Spread,
    values: Vec<Vec4>,
    topology: Topology,
    is_linear: bool,
}

impl Channel {
    /// The channel of an attribute. Corners at one point with equal values are connected.
    pub fn new(attribute: Attribute, cage: &Topology) -> Self {
        let mut number = HashMap::with_capacity(cage.vertex_sharpness.len());
        let mut values = Vec::new();
        let mut points = Vec::new();
        let corners = cage.corners.iter().zip(&attribute.values).map(|(&point, &value)| {
            let bits = value.to_array().map(|x| (x + 0.0).to_bits());
            *number.entry((point, bits)).or_insert_with(|| {
                values.push(value);
                points.push(point);
                values.len() as u32 - 1
            })
        });
        let corners: Vec<u32> = corners.collect();
        let mut topology = Topology {
            starts: cage.starts.clone(),
            faces: cage.faces.clone(),
            twins: cage.twins.clone(),
            edge_sharpness: cage.edge_sharpness.clone(),
            vertex_sharpness: points.iter().map(|&point| cage.vertex_sharpness[point as usize]).collect(),
            corners,
        };
        for corner in 0..topology.corners.len() as u32 {
            let twin = cage.twins[corner as usize];
            if twin != NONE {
                let same = |a: u32, b: u32| topology.vertex(a) == topology.vertex(b);
                if !same(corner, topology.next(twin)) || !same(topology.next(corner), twin) {
                    topology.twins[corner as usize] = NONE;
                }
            }
        }
        let is_linear = attribute.face_varying == FaceVarying::All;
        if !is_linear {
            Seams::of(cage, &topology, &points).sharpen(&mut topology, attribute.face_varying, &points);
        }
        Self { spread: attribute.spread, values, topology, is_linear }
    }

    /// Its parts, whose vertices are the values.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    pub fn values(&self) -> &[Vec4] {
        &self.values
    }

    pub fn is_linear(&self) -> bool {
        self.is_linear
    }

    /// Stores values of vertices in a mesh.
    pub fn store(&self, values: &[Vec4], mesh: &mut TriangleMesh) {
        let pairs = || values.iter().map(|value| [value.x, value.y]).collect();
        match self.spread {
            Spread::Uvs => mesh.uvs = pairs(),
            Spread::Uvs1 => mesh.uvs1 = pairs(),
            Spread::Colors => {
                mesh.colors = values.iter().map(|value| value.clamp(Vec4::ZERO, Vec4::INFINITY).to_array()).collect();
            }
        }
    }
}

/// How the values at each point meet.
struct Seams {
    /// Number of faces of each value.
    faces: Vec<u32>,
    /// Number of fans of each value.
    fans: Vec<u32>,
    /// Whether a value is on a boundary of its part.
    is_open: Vec<bool>,
    /// Number of values of each point.
    values: Vec<u32>,
    /// Whether a point is on a seam.
    is_seam: Vec<bool>,
    /// Whether a value of a point belongs to one face.
    has_corner: Vec<bool>,
}

impl Seams {
    fn of(cage: &Topology, parts: &Topology, points: &[u32]) -> Self {
        let (count, point_count) = (points.len(), cage.vertex_sharpness.len());
        let mut seams = Self {
            faces: vec![0; count],
            fans: vec![0; count],
            is_open: vec![false; count],
            values: vec![0; point_count],
            is_seam: vec![false; point_count],
            has_corner: vec![false; point_count],
        };
        points.iter().for_each(|&point| seams.values[point as usize] += 1);
        for corner in 0..parts.corners.len() as u32 {
            let value = parts.vertex(corner) as usize;
            seams.faces[value] += 1;
            if parts.twins[corner as usize] == NONE {
                let ends = [corner, parts.next(corner)];
                ends.iter().for_each(|&end| seams.is_open[parts.vertex(end) as usize] = true);
                // An open fan begins at this corner.
                seams.fans[value] += 1;
                if cage.twins[corner as usize] != NONE {
                    ends.iter().for_each(|&end| seams.is_seam[cage.vertex(end) as usize] = true);
                }
            }
        }
        for (value, &point) in points.iter().enumerate() {
            seams.has_corner[point as usize] |= seams.faces[value] == 1;
        }
        seams
    }

    /// Makes values sharp by the rule of a channel.
    fn sharpen(&self, parts: &mut Topology, rule: FaceVarying, points: &[u32]) {
        for (value, &point) in points.iter().enumerate() {
            let point = point as usize;
            let is_corner = self.faces[value] == 1 && rule != FaceVarying::None;
            let by_others = match rule {
                FaceVarying::None | FaceVarying::Corners | FaceVarying::All => false,
                FaceVarying::CornersPlus1 => self.values[point] > 2,
                FaceVarying::CornersPlus2 => {
                    self.values[point] > 2
                        || self.values[point] == 2 && self.has_corner[point]
                        || self.values[point] == 1 && self.is_seam[point]
                }
                FaceVarying::Boundaries => self.is_open[value],
            };
            if is_corner || by_others || self.fans[value] > 1 {
                parts.vertex_sharpness[value] = sharpness::INFINITE;
            }
        }
    }
}
