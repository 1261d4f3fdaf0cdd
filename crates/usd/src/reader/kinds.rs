//! Types of prims.

/// Geometry that throng does not draw.
const UNSUPPORTED: [&str; 6] =
    ["HermiteCurves", "NurbsPatch", "ParticleField", "ParticleField3DGaussianSplat", "TetMesh", "Volume"];

/// Types that are not imageable: they have neither a visibility nor a purpose nor a transform.
const NOT_IMAGEABLE: [&str; 12] = [
    "",
    "BlendShape",
    "GeomSubset",
    "Material",
    "NodeGraph",
    "RenderPass",
    "RenderProduct",
    "RenderSettings",
    "RenderVar",
    "Shader",
    "SkelAnimation",
    "PhysicsScene",
];

/// What the walk does with a prim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Polygons, points, curves or a solid.
    Shape,
    /// Geometry that is left out.
    Unsupported,
    /// Copies of prototypes.
    PointInstancer,
    /// A camera.
    Camera,
    /// Anything else; its children are walked.
    Other,
}

impl Kind {
    /// The kind of a prim of this type.
    pub fn of(type_name: &str) -> Self {
        match type_name {
            "Mesh" | "Points" | "Cube" | "Sphere" | "Cylinder" | "Cylinder_1" | "Cone" | "Capsule" | "Capsule_1"
            | "Plane" | "BasisCurves" | "NurbsCurves" => Self::Shape,
            "PointInstancer" => Self::PointInstancer,
            "Camera" => Self::Camera,
            _ if UNSUPPORTED.contains(&type_name) => Self::Unsupported,
            _ => Self::Other,
        }
    }
}

/// Whether prims of this type have a visibility and a purpose.
pub fn is_imageable(type_name: &str) -> bool {
    !NOT_IMAGEABLE.contains(&type_name)
}

/// Whether prims of this type have a transform.
pub fn is_xformable(type_name: &str) -> bool {
    is_imageable(type_name) && type_name != "Scope"
}
