//! Triangles: making them, and completing and examining meshes.

pub mod curves;
pub mod distinct;
pub mod enclosing;
pub mod fit;
pub mod indexed;
pub mod normals;
pub mod nurbs;
pub mod polygons;
pub mod shapes;
pub mod split;
pub mod subdivide;
pub mod subdivision;
pub mod tangents;
pub mod transform;
