//! Shapes.

use super::Sampled;
use glam::DAffine3;

/// A shape in its own coordinate space.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// Path of the prim.
    pub name: String,
    /// Its geometry.
    pub kind: ShapeKind,
    /// Whether both sides are drawn. If not, the back is invisible to cameras.
    pub double_sided: bool,
    /// Colours where no material is bound (`primvars:displayColor`, linear).
    pub colors: Option<Primvar<[f32; 3]>>,
    /// Opacities where no material is bound (`primvars:displayOpacity`).
    pub opacities: Option<Primvar<f32>>,
}

/// Kinds of geometry.
#[derive(Clone, Debug, PartialEq)]
pub enum ShapeKind {
    /// Polygons.
    Mesh(Box<PolygonMesh>),
    /// A cube around the origin with this edge.
    Cube(f64),
    /// A sphere around the origin with this radius.
    Sphere(f64),
    /// A cylinder around the origin.
    Cylinder(Round),
    /// A cone around the origin, with its tip on the positive side.
    Cone(Round),
    /// A capsule around the origin. Its height is that of the cylinder between the half spheres.
    Capsule(Round),
    /// A rectangle around the origin, perpendicular to the axis: along the other two axes in the order X, Y, Z, or for the axis Y, along X and
    /// Z.
    Plane {
        /// The axis that it faces.
        axis: Axis,
        /// Sides along X and Z (axis Y), X and Y (axis Z), or Z and Y (axis X).
        size: [f64; 2],
    },
    /// Spheres at points.
    Points(Box<PointCloud>),
    /// Hair and other curves.
    Curves(Box<CurveSet>),
}

impl ShapeKind {
    /// Name of throng's own attribute of meshes that stand for a shape, which is [`Self::OWN_SPHERE`] for the unit sphere.
    pub const OWN: &str = "throng:shape";
    /// The unit sphere.
    pub const OWN_SPHERE: &str = "sphere";
}

/// An axis of space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Axis {
    /// The X axis.
    X,
    /// The Y axis.
    Y,
    /// The Z axis.
    #[default]
    Z,
}

/// The dimensions of a solid of revolution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// Its radii at the negative and at the positive end. A cone's second one is 0.
    pub radii: [f64; 2],
    /// Its height along the axis.
    pub height: f64,
    /// Its axis.
    pub axis: Axis,
}

/// How the points of curves define them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CurveBasis {
    /// Straight segments.
    Linear,
    /// Cubic Bézier segments.
    #[default]
    Bezier,
    /// Cubic B-splines.
    BSpline,
    /// Catmull-Rom splines.
    CatmullRom,
}

/// What happens at the ends of curves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CurveWrap {
    /// Ends as the basis says.
    #[default]
    NonPeriodic,
    /// Ends at the first and the last point.
    Pinned,
    /// Closed.
    Periodic,
}

/// Curves (`BasisCurves`, `NurbsCurves`). In their primvars, faces are curves, and corners are the ends of segments (`varying`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CurveSet {
    /// Points of all curves, one curve after the other. All samples have as many points as the first one.
    pub points: Sampled<Vec<[f32; 3]>>,
    /// Number of points of each curve.
    pub counts: Vec<u32>,
    /// How the points define the curves.
    pub basis: CurveBasis,
    /// What happens at their ends.
    pub wrap: CurveWrap,
    /// The parameters of NURBS curves, which replace `basis` and `wrap`.
    pub nurbs: Option<Nurbs>,
    /// Diameters. `None` if the file has none.
    pub widths: Option<Primvar<f32>>,
    /// Normals of flat curves. Others are round.
    pub normals: Option<Primvar<[f32; 3]>>,
    /// Whether curves without normals are strips that face each ray ([`CurveSet::PROFILE`]).
    pub ribbon: bool,
    /// Sets of texture coordinates by the names of their primvars; `st` comes first.
    pub uvs: Vec<(String, Primvar<[f32; 2]>)>,
}

impl CurveBasis {
    /// Number of segments of a curve of `count` points; 0 if these are too few (UsdGeomBasisCurves).
    pub fn segments(self, wrap: CurveWrap, count: usize) -> usize {
        match (self, wrap) {
            (Self::Linear, CurveWrap::Periodic) if count >= 3 => count,
            (Self::Linear, _) => count.saturating_sub(1),
            (Self::Bezier, CurveWrap::Periodic) => count / 3,
            (Self::Bezier, _) => count.saturating_sub(1) / 3,
            (_, CurveWrap::Periodic) if count >= 3 => count,
            (_, CurveWrap::Periodic) => 0,
            (_, CurveWrap::NonPeriodic) => count.saturating_sub(3),
            (_, CurveWrap::Pinned) => count.saturating_sub(1),
        }
    }
}

/// Parameters of NURBS curves (`NurbsCurves`). A curve of `n` points and order `k` has `n - k + 1` segments, the spans between the knots from
/// number `k - 1` to number `n`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Nurbs {
    /// Order of each curve, its degree plus 1: 2 to [`MOST_ORDER`].
    pub orders: Vec<u32>,
    /// Ascending knots of all curves, one curve after the other: for each as many as its points and its order together.
    pub knots: Vec<f64>,
    /// Parameters at which each curve begins and ends.
    pub ranges: Vec<[f64; 2]>,
    /// Weights of all points, at least 0; empty if they are equal.
    pub weights: Vec<f64>,
}

/// Maximum order of NURBS curves.
pub const MOST_ORDER: u32 = 32;

impl CurveSet {
    /// Name of throng's own attribute with the profile of curves, which is [`Self::RIBBON`] for strips.
    pub const PROFILE: &str = "throng:profile";
    /// The profile of strips.
    pub const RIBBON: &str = "ribbon";

    /// Number of segments of curve `number`; 0 if it has too few points.
    pub fn segments(&self, number: usize) -> usize {
        let count = self.counts[number] as usize;
        match &self.nurbs {
            Some(nurbs) => (count + 1).saturating_sub(nurbs.orders[number] as usize),
            None => self.basis.segments(self.wrap, count),
        }
    }

    /// Number of ends of segments of curve `number`.
    pub fn segment_ends(&self, number: usize) -> usize {
        self.segments(number) + usize::from(self.nurbs.is_some() || self.wrap != CurveWrap::Periodic)
    }
}

/// Spheres at points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointCloud {
    /// Their centres. Numbers of points may differ between samples.
    pub points: Sampled<Vec<[f32; 3]>>,
    /// Their diameters at the first time: one per point, or one for all.
    pub widths: Vec<f32>,
}

/// Polygons as in the file (UsdGeomMesh): the control cage of a subdivision surface.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolygonMesh {
    /// Points. All samples have as many points as the first one.
    pub points: Sampled<Vec<[f32; 3]>>,
    /// Number of corners of each face.
    pub face_sizes: Vec<u32>,
    /// Point of each corner, valid in `points`. As many as the sum of `face_sizes`.
    pub corners: Vec<u32>,
    /// Faces that are holes, ascending.
    pub holes: Vec<u32>,
    /// Whether faces are wound clockwise, seen from the front (`orientation = leftHanded`).
    pub left_handed: bool,
    /// The scheme of subdivision.
    pub scheme: Scheme,
    /// Points of sharp edges, with their sharpness: 0 is smooth, and 10 is sharp at all levels.
    pub creases: Vec<([u32; 2], f32)>,
    /// Sharp points, with their sharpness.
    pub sharp_points: Vec<(u32, f32)>,
    /// The boundary of a subdivision surface.
    pub boundary: BoundaryRule,
    /// What is linear in face-varying values of a subdivision surface.
    pub face_varying: FaceVaryingRule,
    /// Whether triangles of a Catmull-Clark surface have smoother weights (`triangleSubdivisionRule = smooth`).
    pub smooth_triangles: bool,
    /// Authored normals. USD ignores them if the scheme is not `none`.
    pub normals: Option<Primvar<[f32; 3]>>,
    /// Sets of texture coordinates, by the names of their primvars without `primvars:`. v grows upwards.
    pub uvs: Vec<(String, Primvar<[f32; 2]>)>,
    /// Subsets of faces (UsdGeomSubset of the family `materialBind`).
    pub subsets: Vec<Subset>,
    /// Joints and blend shapes that deform it.
    pub skin: Option<Skin>,
}

/// Subdivision schemes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheme {
    /// Polygons.
    None,
    /// Catmull and Clark; USD's default.
    #[default]
    CatmullClark,
    /// Loop, for triangles.
    Loop,
    /// Bilinear.
    Bilinear,
}

/// The boundary of a subdivision surface (`interpolateBoundary`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BoundaryRule {
    /// Faces at the boundary are not drawn.
    None,
    /// Boundary edges are sharp.
    EdgeOnly,
    /// So are points of a single face; USD's default.
    #[default]
    EdgeAndCorner,
}

/// What is linear in face-varying values of a subdivision surface (`faceVaryingLinearInterpolation`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FaceVaryingRule {
    /// Nothing.
    None,
    /// Corners of islands.
    CornersOnly,
    /// Also points at which more than two islands meet; USD's default.
    #[default]
    CornersPlus1,
    /// Also both islands where one has a corner, and ends of seams.
    CornersPlus2,
    /// Boundaries of islands.
    Boundaries,
    /// Everything.
    All,
}

/// Values over a mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Primvar<T> {
    /// What has a value each. The number of values, or of indices, is that of `interpolation`.
    pub interpolation: Interpolation,
    /// The values.
    pub values: Vec<T>,
    /// Indices into `values`; empty if there is one value for each element.
    pub indices: Vec<u32>,
}

impl<T> Primvar<T> {
    /// The value of element `index`.
    pub fn at(&self, index: usize) -> Option<&T> {
        match self.indices.get(index) {
            Some(&index) => self.values.get(index as usize),
            None if self.indices.is_empty() => self.values.get(index),
            None => None,
        }
    }
}

/// The elements that have one value each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interpolation {
    /// One for all.
    #[default]
    Constant,
    /// Each face.
    Uniform,
    /// Each point (`vertex` and `varying`).
    Vertex,
    /// Each corner of each face.
    FaceVarying,
}

/// Faces of a mesh with a material of their own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Subset {
    /// Name of the prim.
    pub name: String,
    /// Faces, each in one subset at most.
    pub faces: Vec<u32>,
}

/// Deformation of a mesh by a skeleton (UsdSkelBindingAPI).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skin {
    /// `skel:geomBindTransform`.
    pub skeleton_from_mesh: DAffine3,
    /// Number of joints per point, or 0 if only blend shapes deform it.
    pub joints_per_point: u32,
    /// Indices into the joints of the skeleton, `joints_per_point` for each point. If all points have the same ones (`constant`), they are
    /// repeated.
    pub joints: Vec<u32>,
    /// Weights in this order. Those of a point sum to 1.
    pub weights: Vec<f32>,
    /// Blend shapes.
    pub shapes: Vec<BlendShape>,
}

/// A blend shape (UsdSkelBlendShape). In-between shapes are shapes of their own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlendShape {
    /// Name by which animations weigh it.
    pub name: String,
    /// Its offsets, as keys at increasing weights other than 0: the shape itself at 1, and in-between shapes.
    pub keys: Vec<BlendKey>,
    /// The points that move; empty for all.
    pub points: Vec<u32>,
}

/// Offsets of a blend shape at a weight.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlendKey {
    /// The weight.
    pub weight: f32,
    /// Offsets of points.
    pub offsets: Vec<[f32; 3]>,
    /// Offsets of normals; may be empty.
    pub normals: Vec<[f32; 3]>,
}
