//! The `meshes` section, and models in files.

use super::{
    BoxSize, Cone, Cuboid, CurvesFile, Cylinder, Disc, DisplacementDesc, Finite, Fur, Quad, RibbonDesc, TerrainDesc,
    Torus, values,
};
use crate::{TriangleMesh, Wrap, rig::RefitPolicy};
use serde::{
    Deserialize, Deserializer,
    de::{Error, Visitor},
};
use std::{fmt, str::FromStr};
use throng_base::choice::choice;

/// An entry of the `meshes` section, by its name: a shape in its own coordinate space. Placements copy it into the scene.
#[allow(missing_docs, reason = "the kinds are described by their types")]
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "meshes")]
pub enum MeshDesc {
    #[serde(rename = "Obj", alias = "Ply", alias = "Stl")]
    File(MeshFile),
    Gltf(GltfFile),
    Usd(UsdFile),
    Pbrt(PbrtFile),
    /// `Sphere`: a sphere of radius 1 at the origin.
    Sphere,
    Quad(Quad),
    Box(Cuboid),
    Cylinder(Cylinder),
    Cone(Cone),
    Disc(Disc),
    Torus(Torus),
    Terrain(TerrainDesc),
    Ribbon(RibbonDesc),
    Fur(Fur),
    Curves(CurvesFile),
    /// Triangles of a scene that is built in code; not available in files. They have one material, set by placements, and no slots.
    #[serde(skip)]
    Triangles(TriangleMesh),
}

/// `Obj(file: "dragon.obj", material: "stone")`: a Wavefront OBJ file with its MTL materials. `Ply` and `Stl` are synonyms: the file
/// extension determines the format. A glTF file is loaded as a model at rest. Colours of vertices and faces are used. Faults of the file,
/// such as a missing picture, cause a warning and are left out.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename = "Obj", deny_unknown_fields)]
pub struct MeshFile {
    /// The file: .obj, .ply, .stl, .gltf or .glb.
    pub file: String,
    /// Name of a material that replaces all materials of the file. Default: the file's materials.
    #[serde(default)]
    pub material: Option<String>,
    /// Faces without normals are smoothly shaded where they meet at less than this angle in degrees, 0 (flat) to 180. Default 60.
    #[serde(default = "values::sixty")]
    pub smooth_angle: Finite,
    /// Wrap mode of the file's textures outside of UV 0 to 1: `repeat` (default), `clamp` or `mirror`.
    #[serde(default)]
    pub wrap: Wrap,
    /// Target size: the length of the longest side, or bounds `(x, y, z)` to fit into. The mesh is scaled, centred above the origin, and
    /// placed on y = 0. Default: none, the mesh keeps the file's coordinates.
    #[serde(default)]
    pub fit: Option<BoxSize>,
    /// Level of the subdivision surface whose control points are those of an .obj or .ply file, 1 to 7, or `"auto"`; 0 keeps the faces. Each
    /// level has four times as many triangles. Default 0.
    #[serde(default = "faces")]
    pub subdivision: Subdivision,
    /// Scheme of the subdivision surface: `catmull_clark` (default), or `loop`, which divides triangles and is smoother for them.
    #[serde(default)]
    pub scheme: SubdivisionScheme,
    /// Displacement of the vertices of an .obj, .ply or .stl file. Default: none.
    #[serde(default)]
    pub displacement: Option<DisplacementDesc>,
}

impl MeshFile {
    /// The file as a model at rest.
    #[doc(hidden)]
    pub fn as_model(&self) -> GltfFile {
        let Self { file, material, fit, .. } = self.clone();
        GltfFile { file, material, fit, ..GltfFile::default() }
    }
}

/// `Gltf(file: "fox.glb", clip: "Run")`: a glTF file (.gltf or .glb) as one mesh. With a `clip`, it is animated: each instance shows poses
/// from a palette at its own phase and speed (see [`Clip`](super::Clip)). If the model is `alive`, all instances show its current pose. A model with
/// repeated meshes is a group of instances instead (see `shared`).
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename = "Gltf", deny_unknown_fields)]
pub struct GltfFile {
    /// The file: .gltf or .glb.
    pub file: String,
    /// Name or number (from 0) of the animation to play. Default: none, the model is at rest.
    #[serde(default)]
    pub clip: Option<String>,
    /// Number of poses in the palette, evenly spaced over one cycle of the clip, 1 to 4096. Each pose takes as much memory as the model.
    /// Default 64.
    #[serde(default)]
    pub poses: Option<u32>,
    /// Whether the model is deformed for every frame, instead of using a palette of poses. Default false.
    #[serde(default)]
    pub alive: bool,
    /// Playback speed of a model that is `alive`, in seconds of the clip per second. Default 1.
    #[serde(default)]
    pub speed: Option<Finite>,
    /// Update method for the acceleration tree (BLAS) of a model that is `alive`: `auto` (default), `refit` or `rebuild`.
    #[serde(default)]
    pub refit: Option<RefitPolicy>,
    /// Name or number (from 0) of the file's scene. Default: the file's default scene.
    #[serde(default)]
    pub scene: Option<String>,
    /// Name of a material variant (KHR_materials_variants). Default: none.
    #[serde(default)]
    pub variant: Option<String>,
    /// Name of a material that replaces all materials of the file. Default: the file's materials.
    #[serde(default)]
    pub material: Option<String>,
    /// As [`MeshFile::fit`], with the bounds at rest.
    #[serde(default)]
    pub fit: Option<BoxSize>,
    /// Whether each mesh of the file is stored once and its copies are instances, as in a group. `nest` of a placement then applies to the
    /// model as to a group. Default: true if this saves more than 64 MB or if there are lines, and the model is at rest without skins or morph
    /// targets.
    #[serde(default)]
    pub shared: Option<bool>,
    /// Width of the model's lines, above 0, in units of the file. They are drawn if the model is at rest, as round curves. Default: a width in
    /// proportion to the model.
    #[serde(default)]
    pub line_width: Option<Finite>,
}

/// `Usd(file: "forest.usda", prim: "/World/Forest")`: a USD stage (.usd, .usda, .usdc or .usdz) as a group. Its native instances and point
/// instancers stay instances, and `nest` of a placement applies to it as to a group. It is turned to +Y up, in metres, and moves as in the
/// file, whose first frame is at 0 seconds. Lights with an extent belong to it; other lights and cameras do not.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename = "Usd", deny_unknown_fields)]
pub struct UsdFile {
    /// The root layer.
    pub file: String,
    /// Path of the prim to show. Default: the whole stage.
    #[serde(default)]
    pub prim: Option<String>,
    /// Selected variants, such as `["/Car{color=red}"]`. Default: those of the file.
    #[serde(default)]
    pub variants: Vec<String>,
    /// Purposes of geometry that is drawn besides that of none: `render`, `proxy` and `guide`. Default `[render]`.
    #[serde(default)]
    pub purposes: Option<Vec<Purpose>>,
    /// Name of a material that replaces all materials of the file. Default: the file's materials.
    #[serde(default)]
    pub material: Option<String>,
    /// As [`MeshFile::fit`], with the bounds at the first frame.
    #[serde(default)]
    pub fit: Option<BoxSize>,
    /// Level of subdivision surfaces, 0 (their cages) to 7, or `"auto"` (default).
    #[serde(default)]
    pub subdivision: Subdivision,
}

/// `Pbrt(file: "scene.pbrt")`: a pbrt scene of version 3 or 4 (.pbrt or .pbrt.gz) as a group. Its objects stay instances, and `nest` of a
/// placement applies to it as to a group. It is mirrored and turned as its camera shows it, with +Y up. Emissive shapes belong to it; other
/// lights and the camera do not.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename = "Pbrt", deny_unknown_fields)]
pub struct PbrtFile {
    /// The main file.
    pub file: String,
    /// Name of a material that replaces all materials of the file. Default: the file's materials.
    #[serde(default)]
    pub material: Option<String>,
    /// As [`MeshFile::fit`].
    #[serde(default)]
    pub fit: Option<BoxSize>,
}

fn faces() -> Subdivision {
    Subdivision::Level(0)
}

choice! {
    /// Schemes of subdivision surfaces of .obj and .ply files.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum SubdivisionScheme = CatmullClark {
        /// Catmull and Clark: faces of any shape become quads. The default.
        CatmullClark = "catmull_clark",
        /// Loop: triangles become triangles. Other faces are divided as triangles.
        Loop = "loop",
    }
}

/// Level of subdivision surfaces: a whole number from 0 (their cages) to 7, each of which has four times as many triangles as the one before,
/// or `"auto"`: edges have at most about four pixels where the film shows a surface nearest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Subdivision {
    /// By their largest size in pixels over the whole film.
    #[default]
    Auto,
    /// This level, 0 (their cages) to [`MOST_SUBDIVISION`].
    Level(u32),
}

impl<'de> Deserialize<'de> for Subdivision {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(SubdivisionVisitor)
    }
}

struct SubdivisionVisitor;

impl Visitor<'_> for SubdivisionVisitor {
    type Value = Subdivision;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "\"auto\", or a level from 0 to {MOST_SUBDIVISION}")
    }

    fn visit_u64<E: Error>(self, level: u64) -> Result<Subdivision, E> {
        self.visit_str(&level.to_string())
    }

    fn visit_i64<E: Error>(self, level: i64) -> Result<Subdivision, E> {
        self.visit_str(&level.to_string())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Subdivision, E> {
        text.parse().map_err(|fix| E::custom(format!("subdivision {text}: {fix}")))
    }
}

/// The finest level of subdivision surfaces.
pub const MOST_SUBDIVISION: u32 = 7;

impl FromStr for Subdivision {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            _ => match text.parse() {
                Ok(level) if level <= MOST_SUBDIVISION => Ok(Self::Level(level)),
                _ => Err(format!("write auto, or a level from 0 to {MOST_SUBDIVISION}")),
            },
        }
    }
}

choice! {
    /// Purposes of geometry in USD files.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Purpose {
        /// For final pictures.
        Render = "render",
        /// Light geometry in place of `render`.
        Proxy = "proxy",
        /// Helpers.
        Guide = "guide",
    }
}
