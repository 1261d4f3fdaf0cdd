//! A description of a scene for `throng info`: counts, memory, trees and camera.

use super::{MaterialCounts, Poser, TreeCounts, TreeSource, milliseconds};
use std::{fmt, sync::Arc};
use throng_accel::{Blas, REFIT_FACTOR, RefitStats};
use throng_base::memory::describe;
use throng_device::{Device, DeviceError};
use throng_scene::{
    Aperture, Assembly, Camera, CameraPath, CompactFormat, Environment, Integrator, Mesh, Projection, Scene, Shape,
    Texels, Texture, Views, rig::RefitPolicy,
};

/// The document that `throng info --json` prints.
#[derive(Clone, Debug, serde::Serialize)]
pub struct SceneInfo {
    pub name: String,
    pub device: String,
    pub frames: u32,
    pub fps: f64,
    pub seconds: f64,
    pub size: (u32, u32),
    pub samples: u32,
    pub integrator: Integrator,
    pub camera: String,
    pub environment: String,
    pub lights: usize,
    pub meshes: Vec<MeshInfo>,
    /// Assemblies, which have their own trees.
    pub assemblies: Vec<AssemblyInfo>,
    /// Number of mesh instances with all assemblies expanded.
    pub instances: u64,
    /// Number of instances in memory, of meshes and assemblies. The instances in an assembly are counted once.
    pub kept_instances: u64,
    /// Number of group nodes.
    pub nodes: usize,
    pub motions: usize,
    /// Number of primitives with all instances expanded.
    pub instanced_primitives: u64,
    pub materials: MaterialCounts,
    pub textures: usize,
    pub texture_bytes: u64,
    /// All textures, in the order of the scene.
    pub texture_list: Vec<TextureInfo>,
    /// Refits of deforming meshes over the first frames; none if no mesh deforms.
    pub following: Option<Following>,
    /// World-space bounds of the first frame.
    pub bounds: Bounds,
    pub tlas_bytes: u64,
    pub tlas_depth: u32,
    /// Numbers of trees read from the cache and built; none without a cache.
    pub cached_trees: Option<TreeCounts>,
    /// Memory of meshes, instances and textures, without trees.
    pub scene_bytes: u64,
    pub warnings: Vec<String>,
    pub notes: Vec<String>,
}

/// An assembly, which is stored once.
#[derive(Clone, Debug, serde::Serialize)]
pub struct AssemblyInfo {
    pub name: String,
    /// Number of copies in the world.
    pub copies: u64,
    /// Number of instances in the assembly, of meshes and assemblies.
    pub instances: usize,
    pub tree_bytes: u64,
    /// Number of node levels down to the triangles.
    pub tree_depth: u32,
}

/// A texture in memory.
#[derive(Clone, Debug, serde::Serialize)]
pub struct TextureInfo {
    pub name: String,
    /// Size in texels; 1 by 1 if all are equal.
    pub width: u32,
    pub height: u32,
    /// `srgb` or `linear`.
    pub color_space: &'static str,
    /// `rgba8`, `rgba32f`, `grey8`, `bc1`, `bc3`, `bc4`, `bc5` or `bc7`.
    pub format: &'static str,
    /// Bytes of the texels, without mip maps.
    pub bytes: u64,
}

impl TextureInfo {
    pub fn new(texture: &Texture) -> Self {
        Self {
            name: texture.name.clone(),
            width: texture.width,
            height: texture.height,
            color_space: if texture.texels.is_srgb() { "srgb" } else { "linear" },
            format: match &texture.texels {
                Texels::Srgb8(_) | Texels::Linear8(_) => "rgba8",
                Texels::Linear(_) => "rgba32f",
                Texels::Compact(compact) => match compact.format {
                    CompactFormat::Grey => "grey8",
                    CompactFormat::Bc1 | CompactFormat::Bc1Opaque => "bc1",
                    CompactFormat::Bc3 => "bc3",
                    CompactFormat::Bc4 => "bc4",
                    CompactFormat::Bc5 => "bc5",
                    CompactFormat::Bc7 => "bc7",
                },
            },
            bytes: texture.texels.bytes().len() as u64,
        }
    }
}

#[derive(Clone, Debug, serde::Serialize)]
pub struct MeshInfo {
    pub name: String,
    pub shape: &'static str,
    pub primitives: usize,
    pub vertices: usize,
    pub instances: u64,
    /// Number of poses in the mesh's palette; 1 for a mesh without a palette.
    pub poses: u32,
    /// Refit policy of the mesh; none for a rigid mesh.
    pub follows: Option<RefitPolicy>,
    /// Memory of the vertices and triangles of all poses.
    pub mesh_bytes: u64,
    /// Memory of the trees of all poses.
    pub tree_bytes: u64,
    pub tree_depth: u32,
    /// Expected number of node and leaf tests of a ray through the mesh's bounds.
    pub sah_cost: f32,
}

/// Refits and rebuilds of deforming meshes. The trees of each frame are derived from the previous frame's.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Following {
    /// Number of frames, from the first frame; at most [`FOLLOWED_FRAMES`].
    pub frames: u32,
    pub refits: u32,
    pub rebuilds: u32,
    /// Greatest ratio of a tree's cost, when its refit was decided, to its cost when it was built.
    pub sah_ratio: f32,
    /// Milliseconds per frame, summed over meshes.
    pub milliseconds: f64,
}

#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Bounds {
    pub min: [f32; 3],
    pub max: [f32; 3],
}

/// Maximum number of textures in the text of a report.
const LISTED_TEXTURES: usize = 12;

/// Maximum number of frames over which `info` refits deforming meshes.
pub const FOLLOWED_FRAMES: u32 = 48;

/// Describes a scene. Builds the trees of its first frame, or gets them from `trees`, and refits deforming meshes over the first frames.
pub fn scene_info(scene: &Arc<Scene>, device: &dyn Device, trees: &TreeSource) -> Result<SceneInfo, DeviceError> {
    let mut poser = Poser::with_trees_from(scene.clone(), device.node_layout(), trees);
    let tlas = poser.pose(1).frame.tlas;
    let used = scene.copies();
    let meshes = mesh_infos(scene, poser.blas(), &used);
    let following = (!scene.deforming.is_empty()).then(|| follow(scene, &mut poser));
    let texture_list: Vec<_> = scene.textures.iter().map(TextureInfo::new).collect();
    let texture_bytes = texture_list.iter().map(|texture| texture.bytes).sum();
    let settings = &scene.settings;
    Ok(SceneInfo {
        name: scene.name.clone(),
        device: device.describe(),
        frames: settings.frames,
        fps: settings.fps,
        seconds: settings.rate().seconds(settings.frames),
        size: (settings.width, settings.height),
        samples: settings.samples,
        integrator: settings.integrator,
        camera: scene.views.as_ref().map_or_else(|| camera(&scene.camera), |views| views_in_words(views)),
        environment: environment(&scene.environment),
        lights: scene.lights.len(),
        meshes,
        assemblies: assembly_infos(scene, poser.blas(), &used),
        instances: scene.leaf_count(),
        kept_instances: scene.instances.len() as u64,
        nodes: scene.nodes.len(),
        motions: scene.motions.len(),
        instanced_primitives: scene.instanced_prim_count(),
        materials: MaterialCounts::of(&scene.materials),
        textures: scene.textures.len(),
        texture_bytes,
        texture_list,
        following,
        bounds: Bounds { min: tlas.bounds().min.into(), max: tlas.bounds().max.into() },
        tlas_bytes: tlas.bytes() as u64,
        tlas_depth: tlas.tree.depth,
        cached_trees: trees.counts(),
        scene_bytes: scene.meshes.iter().map(mesh_bytes).sum::<u64>()
            + size_of_val(&scene.instances[..]) as u64
            + texture_bytes,
        warnings: [&scene.warnings[..], &scene.doubts].concat(),
        notes: scene.notes.clone(),
    })
}

fn follow(scene: &Scene, poser: &mut Poser) -> Following {
    let frames = scene.settings.frames.clamp(1, FOLLOWED_FRAMES);
    let followed = (0..frames).map(|index| poser.pose(scene.settings.frame_at(index)).trees.followed);
    let all = followed.fold(RefitStats::NONE, RefitStats::union);
    Following {
        frames,
        refits: all.refits,
        rebuilds: all.rebuilds,
        sah_ratio: all.worst_ratio,
        milliseconds: milliseconds(all.time) / f64::from(frames),
    }
}

/// Describes the meshes that instances refer to. The first mesh of a palette represents all of its poses.
fn mesh_infos(scene: &Scene, trees: &[Arc<Blas>], used: &[u64]) -> Vec<MeshInfo> {
    let mut poses = vec![1; scene.meshes.len()];
    for palette in &scene.palettes {
        let first = palette.first_mesh as usize;
        poses[first..][..palette.poses.count as usize].fill(0);
        poses[first] = palette.poses.count;
    }
    let named = (0..scene.meshes.len()).filter(|&mesh| poses[mesh] > 0);
    named
        .map(|mesh| {
            let (count, end) = (poses[mesh], mesh + poses[mesh] as usize);
            let bytes = |tree: &Arc<Blas>| tree.bytes() as u64;
            MeshInfo {
                poses: count,
                tree_bytes: trees[mesh..end].iter().map(bytes).sum(),
                mesh_bytes: scene.meshes[mesh..end].iter().map(mesh_bytes).sum(),
                follows: follows(scene, mesh as u32),
                ..mesh_info(&scene.meshes[mesh], &trees[mesh], used[mesh])
            }
        })
        .collect()
}

fn assembly_infos(scene: &Scene, trees: &[Arc<Blas>], copies: &[u64]) -> Vec<AssemblyInfo> {
    let behind = scene.meshes.len();
    let all = scene.assemblies.iter().zip(&trees[behind.min(trees.len())..]).zip(&copies[behind..]);
    let info = |((assembly, tree), &copies): ((&Assembly, &Arc<Blas>), &u64)| AssemblyInfo {
        name: assembly.name.clone(),
        copies,
        instances: assembly.instances.len(),
        tree_bytes: tree.bytes() as u64,
        tree_depth: tree.depth(),
    };
    all.map(info).collect()
}

fn follows(scene: &Scene, mesh: u32) -> Option<RefitPolicy> {
    let deforming = scene.deforming.iter().find(|d| d.mesh == mesh);
    deforming.map(|d| d.refit)
}

fn mesh_info(mesh: &Mesh, blas: &Blas, instances: u64) -> MeshInfo {
    MeshInfo {
        poses: 1,
        follows: None,
        mesh_bytes: mesh_bytes(mesh),
        name: mesh.name.clone(),
        shape: match mesh.shape {
            Shape::Triangles(_) => "triangles",
            Shape::Curves(_) => "curves",
            Shape::Sphere => "sphere",
        },
        primitives: mesh.prim_count(),
        vertices: match &mesh.shape {
            Shape::Triangles(m) => m.positions.len(),
            Shape::Curves(curves) => curves.points.len(),
            Shape::Sphere => 0,
        },
        instances,
        tree_bytes: blas.bytes() as u64,
        tree_depth: blas.depth(),
        sah_cost: blas.sah_cost(),
    }
}

fn mesh_bytes(mesh: &Mesh) -> u64 {
    match &mesh.shape {
        Shape::Sphere => 0,
        Shape::Curves(curves) => {
            let points = size_of_val(&curves.points[..]) + size_of_val(&curves.strands[..]);
            (points + size_of_val(&curves.uvs[..]) + size_of_val(&curves.colors[..])) as u64
        }
        Shape::Triangles(m) => {
            let vertices = size_of_val(&m.positions[..])
                + size_of_val(&m.normals[..])
                + size_of_val(&m.tangents[..])
                + size_of_val(&m.colors[..])
                + size_of_val(&m.uvs[..])
                + size_of_val(&m.uvs1[..]);
            (vertices + size_of_val(&m.triangles[..]) + size_of_val(&m.slots[..])) as u64
        }
    }
}

fn views_in_words(views: &Views) -> String {
    match views.list().len() {
        1 => "one view".to_owned(),
        count => format!("{count} views, one per frame"),
    }
}

fn camera(camera: &Camera) -> String {
    let path = match &camera.path {
        CameraPath::Still { .. } => "still".into(),
        CameraPath::Orbit { turns, .. } => format!("orbit, {turns} turns"),
        CameraPath::Spline(flight) => format!("spline, {} keys", flight.keys().len()),
        CameraPath::Node { .. } => "on a node".into(),
    };
    let projection = match camera.projection {
        Projection::Perspective { .. } => "",
        Projection::Orthographic { .. } => ", orthographic",
        Projection::Equirectangular => ", equirectangular",
    };
    let lens = match camera.lens.as_ref().map(|lens| lens.aperture) {
        Some(Aperture::FStop { number, .. }) => format!(", lens at f/{number}"),
        Some(Aperture::Radius(radius)) => format!(", lens of radius {radius}"),
        None => String::new(),
    };
    path + projection + &lens
}

fn environment(environment: &Environment) -> String {
    match environment {
        Environment::Constant { .. } => "constant".into(),
        Environment::Gradient { .. } => "gradient".into(),
        Environment::Image { pixels, .. } => format!("image, {}x{}", pixels.width, pixels.height),
    }
}

/// Formats a number, with its magnitude in words if it is large.
fn readable(number: u64) -> String {
    let words = |unit: f64, name: &str| format!("{number} ({:.1} {name})", number as f64 / unit);
    match number {
        0..10_000_000 => number.to_string(),
        10_000_000..1_000_000_000 => words(1e6, "million"),
        1_000_000_000..1_000_000_000_000 => words(1e9, "thousand million"),
        _ => words(1e12, "million million"),
    }
}

impl fmt::Display for AssemblyInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (copies, bytes) = (readable(self.copies), describe(self.tree_bytes));
        write!(f, "{:<12} {copies} × {} instances; tree {bytes}", self.name, self.instances)?;
        write!(f, ", {} levels down to the triangles", self.tree_depth)
    }
}

impl fmt::Display for TextureInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, width, height, color_space, format, bytes } = self;
        write!(f, "{name}: {width}x{height}, {color_space}, {format}, {}", describe(*bytes))
    }
}

impl fmt::Display for MeshInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<12} {} × ", self.name, readable(self.instances))?;
        if self.shape == "sphere" {
            return write!(f, "analytic sphere");
        }
        let (mesh, trees) = (describe(self.mesh_bytes), describe(self.tree_bytes));
        let (primitives, vertices) =
            if self.shape == "curves" { ("segments", "points") } else { ("triangles", "vertices") };
        write!(f, "{} {primitives}, {} {vertices}; ", self.primitives, self.vertices)?;
        match self.poses {
            1 => write!(f, "tree {trees}")?,
            n => write!(f, "{n} poses of {mesh} with trees of {trees}")?,
        }
        write!(f, ", {} levels, SAH cost {:.1}", self.tree_depth, self.sah_cost)?;
        match self.follows {
            None => Ok(()),
            Some(RefitPolicy::Auto) => {
                write!(f, "; deforms: refitted up to {REFIT_FACTOR} times that cost, then rebuilt")
            }
            Some(RefitPolicy::Refit) => write!(f, "; deforms: always refitted"),
            Some(RefitPolicy::Rebuild) => write!(f, "; deforms: always rebuilt"),
        }
    }
}

impl fmt::Display for SceneInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (width, height) = self.size;
        writeln!(f, "{}", self.name)?;
        writeln!(f, "  frames       {} at {} fps, {:.2} s", self.frames, self.fps, self.seconds)?;
        writeln!(f, "  picture      {width}x{height}, {} samples, {:?}", self.samples, self.integrator)?;
        writeln!(f, "  camera       {}", self.camera)?;
        writeln!(f, "  environment  {}; {} lights", self.environment, self.lights)?;
        writeln!(f, "  meshes       {}", self.meshes.len())?;
        self.meshes.iter().try_for_each(|mesh| writeln!(f, "    {mesh}"))?;
        if let Some(following) = &self.following {
            writeln!(
                f,
                "  following    {} refits and {} rebuilds in {} frames, {:.2} ms per frame, SAH ratio up to {:.2}",
                following.refits, following.rebuilds, following.frames, following.milliseconds, following.sah_ratio
            )?;
        }
        if !self.assemblies.is_empty() {
            writeln!(f, "  assemblies   {}", self.assemblies.len())?;
            self.assemblies.iter().try_for_each(|assembly| writeln!(f, "    {assembly}"))?;
        }
        let instances = if self.kept_instances == self.instances {
            readable(self.instances)
        } else {
            format!("{}, of which {} are kept", readable(self.instances), self.kept_instances)
        };
        writeln!(f, "  instances    {instances} ({} groups, {} motions)", self.nodes, self.motions)?;
        writeln!(f, "  primitives   {} with instancing", readable(self.instanced_primitives))?;
        writeln!(f, "  materials    {}", self.materials)?;
        writeln!(f, "  textures     {}, {}", self.textures, describe(self.texture_bytes))?;
        let listed = self.texture_list.iter().take(LISTED_TEXTURES);
        listed.clone().try_for_each(|texture| writeln!(f, "    {texture}"))?;
        match self.texture_list.len() - listed.len() {
            0 => {}
            more => writeln!(f, "    … {more} more, in --json")?,
        }
        writeln!(f, "  bounds       {:?} to {:?}", self.bounds.min, self.bounds.max)?;
        writeln!(
            f,
            "  memory       scene {}, TLAS {} ({} levels)",
            describe(self.scene_bytes),
            describe(self.tlas_bytes),
            self.tlas_depth
        )?;
        if let Some(counts) = &self.cached_trees {
            writeln!(f, "  trees        {counts}")?;
        }
        let lines = |name: &str, list: &[String]| -> Vec<String> {
            let line = |text: &String| format!("  {name:<12} {text}");
            list.iter().map(line).collect()
        };
        let all = [lines("warning", &self.warnings), lines("note", &self.notes)];
        all.iter().flatten().try_for_each(|line| writeln!(f, "{line}"))
    }
}
