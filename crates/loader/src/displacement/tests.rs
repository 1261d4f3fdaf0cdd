//! Displaced meshes of scene files and stages.

use super::{HeightMap, MeshDisplacement, note};
use crate::load;
use glam::Vec3;
use image::{ImageBuffer, Luma};
use std::{collections::HashMap, fmt::Write, fs, path::Path, sync::Arc};
use tempfile::TempDir;
use throng_scene::{Scene, TriangleMesh};
use throng_usd::Computed;

/// Texels of a ramp along u.
const RAMP: u32 = 64;

/// A folder with a plane of 4 by 4 faces over the unit square, and a picture whose height is u between the middles of its outer texels.
fn folder() -> TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    let mut plane = String::new();
    for i in 0..25 {
        let (x, y) = ((i % 5) as f32 / 4.0, (i / 5) as f32 / 4.0);
        let _ = writeln!(plane, "v {x} {y} 0\nvt {x} {y}");
    }
    for i in (0..16).map(|i| 1 + i % 4 + i / 4 * 5) {
        let _ = writeln!(plane, "f {i}/{i} {0}/{0} {1}/{1} {2}/{2}", i + 1, i + 6, i + 5);
    }
    fs::write(dir.path().join("plane.obj"), plane).expect("writes");
    fs::write(dir.path().join("bare.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").expect("writes");
    let ramp = ImageBuffer::from_fn(RAMP, 1, |x, _| Luma([((x as f32 + 0.5) / RAMP as f32 * 65535.0) as u16]));
    ramp.save(dir.path().join("ramp.png")).expect("writes");
    dir
}

fn scene_file(dir: &TempDir, mesh: &str) -> Result<Scene, String> {
    let path = dir.path().join("s.ron");
    fs::write(&path, format!("(meshes: {{\"a\": {mesh}}}, instances: [Single(of: \"a\")])")).expect("writes");
    load(&path).map_err(|error| error.to_string().replace(&format!("{}/", dir.path().display()), ""))
}

fn triangles(scene: &Scene, mesh: usize) -> &TriangleMesh {
    scene.meshes[mesh].triangles().unwrap_or_else(|| panic!("triangles"))
}

#[test]
fn a_plane_becomes_a_ramp() {
    let dir = folder();
    let displaced = "displacement: (texture: \"ramp.png\", scale: 0.5, midlevel: 0.25, wrap: clamp)";
    let scene = scene_file(&dir, &format!("Obj(file: \"plane.obj\", subdivision: 3, {displaced})"));
    let scene = scene.unwrap_or_else(|e| panic!("{e}"));
    let mesh = triangles(&scene, 0);
    assert_eq!(mesh.triangles.len(), 16 * 128);
    let edge = 0.5 / RAMP as f32;
    for (&[x, _, z], &normal) in mesh.positions.iter().zip(&mesh.normals) {
        let wanted = 0.5 * (x.clamp(edge, 1.0 - edge) - 0.25);
        assert!((z - wanted).abs() < 2e-5, "{x}: {z} instead of {wanted}");
        if (0.1..0.9).contains(&x) {
            let wanted = Vec3::new(-0.5, 0.0, 1.0).normalize();
            assert!(Vec3::from(normal).distance(wanted) < 1e-3, "{normal:?} at {x}");
        }
    }
    let bounds = scene.meshes[0].bounds();
    assert!((bounds.max.z - 0.5 * (0.75 - edge)).abs() < 2e-5 && (bounds.min.z - 0.5 * (edge - 0.25)).abs() < 2e-5);
    assert!(scene.notes.iter().any(|note| note.starts_with("displaced meshes: a by -0.12")), "{:?}", scene.notes);
    // Without subdivision, the vertices of the file are displaced.
    let coarse = scene_file(&dir, &format!("Obj(file: \"plane.obj\", {displaced})")).unwrap_or_else(|e| panic!("{e}"));
    let coarse = triangles(&coarse, 0);
    assert_eq!(coarse.triangles.len(), 32);
    assert!(coarse.positions.iter().all(|[x, _, z]| (z - 0.5 * (x.clamp(edge, 1.0 - edge) - 0.25)).abs() < 2e-5));
}

#[test]
fn faults_name_the_field_and_the_fix() {
    let dir = folder();
    let fault = |mesh: &str| scene_file(&dir, mesh).err().unwrap_or_default();
    let lost = fault("Obj(file: \"plane.obj\", displacement: (texture: \"no.png\"))");
    assert!(
        lost.starts_with("s.ron:1:") && lost.contains("the texture no.png does not exist: check the path"),
        "{lost}"
    );
    let bare = fault("Obj(file: \"bare.obj\", displacement: (texture: \"ramp.png\"))");
    assert!(bare.contains("`a` has no texture coordinates"), "{bare}");
    let broken = fault("Obj(file: \"plane.obj\", displacement: (texture: \"plane.obj\"))");
    assert!(broken.starts_with("plane.obj: not a PNG"), "{broken}");
    let wide = fault("Obj(file: \"plane.obj\", displacement: (texture: \"ramp.png\", scale: 1e30))");
    assert!(wide.contains("1e30 is out of range") || wide.contains("is out of range: write"), "{wide}");
    let gltf = fault("Gltf(file: \"a.glb\", displacement: (texture: \"ramp.png\"))");
    assert!(gltf.contains("unknown field `displacement`"), "{gltf}");
    fs::write(dir.path().join("a.glb"), "").expect("writes");
    let gltf = fault("Obj(file: \"a.glb\", displacement: (texture: \"ramp.png\"))");
    assert!(gltf.contains("a.glb is a glTF file, which is not displaced: export the mesh as .obj or .ply"), "{gltf}");
}

#[test]
fn equal_files_with_different_heights_are_different_meshes() {
    let dir = folder();
    let of = |scale: f32| format!("Obj(file: \"plane.obj\", displacement: (texture: \"ramp.png\", scale: {scale}))");
    let text = format!(
        "(meshes: {{\"a\": {}, \"b\": {}}}, instances: [Single(of: \"a\"), Single(of: \"b\"), Single(of: \"a\")])",
        of(1.0),
        of(-1.0)
    );
    fs::write(dir.path().join("s.ron"), text).expect("writes");
    let scene = load(&dir.path().join("s.ron")).unwrap_or_else(|e| panic!("{e}"));
    let instances: Vec<u32> = scene.instances.iter().map(|instance| instance.mesh).collect();
    assert_eq!((scene.meshes.len(), instances), (2, vec![0, 1, 0]));
    let (a, b) = (triangles(&scene, 0), triangles(&scene, 1));
    assert!(a.positions.iter().zip(&b.positions).all(|(a, b)| (a[2] + b[2]).abs() < 1e-6));
}

/// Number of edges that do not have exactly two triangles, of vertices that are joined at equal positions.
fn open_edges(mesh: &TriangleMesh) -> usize {
    let key = |vertex: u32| mesh.positions[vertex as usize].map(|x| (x + 0.0).to_bits());
    let mut edges = HashMap::new();
    for triangle in &mesh.triangles {
        for i in 0..3 {
            let (a, b) = (key(triangle[i]), key(triangle[(i + 1) % 3]));
            *edges.entry((a.min(b), a.max(b))).or_insert(0) += 1;
        }
    }
    edges.values().filter(|count| **count != 2).count()
}

/// A stage with cubes, which have the materials `M` and `N` with these inputs, and a picture.
#[cfg(feature = "usd")]
fn stage(dir: &Path, points: &str, inputs: [&str; 2], mesh: &str) -> Scene {
    let material = |name: &str, inputs: &str| {
        format!(
            r#"def Material "{name}" {{
    token outputs:surface.connect = </{name}/S.outputs:surface>
    token outputs:displacement.connect = </{name}/S.outputs:displacement>
    def Shader "S" {{
        uniform token info:id = "UsdPreviewSurface"
        {inputs}
        token outputs:surface
        token outputs:displacement
    }}
    def Shader "Read" {{
        uniform token info:id = "UsdPrimvarReader_float2"
        string inputs:varname = "st"
        float2 outputs:result
    }}
    def Shader "Picture" {{
        uniform token info:id = "UsdUVTexture"
        asset inputs:file = @ramp.png@
        float2 inputs:st.connect = </{name}/Read.outputs:result>
        token inputs:wrapS = "repeat"
        float4 inputs:scale = (0.5, 1, 1, 1)
        float4 inputs:bias = (-0.1, 0, 0, 0)
        float outputs:r
    }}
}}
"#
        )
    };
    let [m, n] = [("M", inputs[0]), ("N", inputs[1])].map(|(name, inputs)| material(name, inputs));
    let corners = "0, 2, 3, 1, 4, 5, 7, 6, 0, 1, 5, 4, 2, 6, 7, 3, 0, 4, 6, 2, 1, 3, 7, 5";
    let text = format!(
        r#"#usda 1.0
(endTimeCode = 10)
{m}{n}
def Mesh "Cube" (prepend apiSchemas = ["MaterialBindingAPI"]) {{
    int[] faceVertexCounts = [4, 4, 4, 4, 4, 4]
    int[] faceVertexIndices = [{corners}]
    {points}
    texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1), (0, 1), (0, 0), (1, 0), (1, 1), (0, 1), (0, 0), (1, 0), (1, 1), (0, 1), (0, 0), (1, 0), (1, 1), (0, 1), (0, 0), (1, 0), (1, 1), (0, 1), (0, 0), (1, 0), (1, 1), (0, 1)] (
        interpolation = "faceVarying"
    )
    rel material:binding = </M>
    {mesh}
}}
"#
    );
    let path = dir.join("s.usda");
    fs::write(&path, text).expect("writes");
    let options = crate::LoadOptions {
        model: crate::options::ModelOptions {
            subdivision: Some(throng_scene::desc::Subdivision::Level(3)),
            ..Default::default()
        },
        ..Default::default()
    };
    crate::load_with(&path, &options).unwrap_or_else(|e| panic!("{e}"))
}

#[cfg(feature = "usd")]
const CUBE: &str =
    "point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 0, 1), (1, 0, 1), (0, 1, 1), (1, 1, 1)]";
#[cfg(feature = "usd")]
const PICTURE: &str = "float inputs:displacement.connect = </M/Picture.outputs:r>";

#[cfg(feature = "usd")]
#[test]
fn a_constant_moves_along_the_normals_of_the_limit_surface() {
    let dir = folder();
    let rest = stage(dir.path(), CUBE, ["", ""], "");
    let moved = stage(dir.path(), CUBE, ["float inputs:displacement = 0.25", ""], "");
    let (rest, moved) = (triangles(&rest, 0), triangles(&moved, 0));
    assert_eq!(rest.triangles, moved.triangles);
    for vertex in 0..rest.positions.len() {
        let [from, to, normal] =
            [rest.positions[vertex], moved.positions[vertex], rest.normals[vertex]].map(Vec3::from);
        assert!(to.distance(from + normal * 0.25) < 2e-6, "{vertex}: {from} {to}");
        // Surfaces at a constant distance have the same normals.
        assert!(Vec3::from(moved.normals[vertex]).dot(normal) > 0.995, "{vertex}");
    }
    assert_eq!(open_edges(moved), 0);
}

#[cfg(feature = "usd")]
#[test]
fn seams_and_borders_of_materials_stay_closed() {
    let dir = folder();
    let subset = r#"uniform token subsetFamily:materialBind:familyType = "nonOverlapping"
    def GeomSubset "Part" (prepend apiSchemas = ["MaterialBindingAPI"]) {
        uniform token elementType = "face"
        uniform token familyName = "materialBind"
        int[] indices = [0, 3]
        rel material:binding = </N>
    }"#;
    let scene = stage(dir.path(), CUBE, [PICTURE, "float inputs:displacement = -0.2"], subset);
    let mesh = triangles(&scene, 0);
    assert!(mesh.slots.contains(&0) && mesh.slots.contains(&1));
    assert_eq!(open_edges(mesh), 0);
    // Creases split normals, but not the surface.
    let sharp = "int[] creaseIndices = [0, 1, 3, 2, 0]\n int[] creaseLengths = [5]\n float[] creaseSharpnesses = [10]";
    let scene = stage(dir.path(), CUBE, [PICTURE, ""], sharp);
    assert_eq!(open_edges(triangles(&scene, 0)), 0);
}

#[cfg(feature = "usd")]
#[test]
fn a_cage_that_moves_is_displaced_in_every_frame() {
    use throng_scene::anim::{Deformed, Moment, shape_at};
    let dir = folder();
    let late = CUBE.replace("(1, 1, 1)]", "(2, 1.5, 1)]");
    let values = |points: &str| points.split(" = ").nth(1).unwrap_or_default().to_owned();
    let both = format!("point3f[] points.timeSamples = {{ 0: {}, 10: {} }}", values(CUBE), values(&late));
    let moving = stage(dir.path(), &both, [PICTURE, ""], "");
    let [first, last] = [CUBE, &late].map(|points| stage(dir.path(), points, [PICTURE, ""], ""));
    let deforming = &moving.deforming[0];
    assert!(deforming.displacement.is_some());
    for (still, code) in [(&first, 0.0), (&last, 10.0)] {
        let mut shape = Deformed::default();
        shape_at(&moving, deforming, &Moment::of(&moving, code / 24.0), &mut shape);
        let wanted = triangles(still, 0);
        for vertex in 0..wanted.positions.len() {
            let near = |a: [f32; 3], b: [f32; 3]| Vec3::from(a).distance(Vec3::from(b));
            assert!(near(shape.positions[vertex], wanted.positions[vertex]) < 2e-6, "{code}: {vertex}");
            assert!(near(shape.normals[vertex], wanted.normals[vertex]) < 2e-4, "{code}: {vertex}");
        }
        let bounds = throng_base::math::Aabb::of_points(shape.positions.iter().copied().map(Vec3::from));
        assert_eq!(shape.bounds, bounds, "bounds are exact");
    }
}

#[cfg(feature = "usd")]
#[test]
fn a_bilinear_plane_is_refined_and_smooth_if_it_is_displaced() {
    let dir = folder();
    let scheme = r#"uniform token subdivisionScheme = "bilinear""#;
    let scene = stage(dir.path(), CUBE, [PICTURE, ""], scheme);
    let mesh = triangles(&scene, 0);
    assert_eq!((mesh.triangles.len(), mesh.normals.len()), (6 * 128, mesh.positions.len()));
    assert_eq!(open_edges(mesh), 0);
    assert!(mesh.normals.iter().all(|&normal| (Vec3::from(normal).length() - 1.0).abs() < 1e-5));
}

#[cfg(feature = "usd")]
#[test]
fn a_picture_that_is_lost_is_a_warning() {
    let dir = folder();
    fs::write(dir.path().join("ramp.png"), "no picture").expect("writes");
    let scene = stage(dir.path(), CUBE, [PICTURE, ""], "");
    let line = scene.warnings.iter().find(|line| line.contains("of a displacement is left out"));
    assert!(line.is_some_and(|line| line.contains("s.usda") && line.contains("ramp.png")), "{:?}", scene.warnings);
}

fn constant(height: f32) -> Option<Arc<HeightMap>> {
    Some(Arc::new(HeightMap { tree: Computed::Constant([height; 4]), pictures: Vec::new(), uv_set: 0 }))
}

#[test]
fn a_vertex_between_slots_gets_the_mean_of_their_heights() {
    let mesh = TriangleMesh {
        positions: vec![[0.0; 3]; 4],
        triangles: vec![[0, 1, 2], [1, 3, 2], [1, 2, 3]],
        slots: vec![0, 1, 1],
        ..TriangleMesh::default()
    };
    let displacement = MeshDisplacement { maps: vec![constant(1.0), constant(4.0)], smooth: false };
    assert_eq!(displacement.heights(&mesh), [1.0, 2.5, 2.5, 4.0]);
    let half = MeshDisplacement { maps: vec![None, constant(4.0)], smooth: false };
    assert_eq!(half.heights(&mesh), [0.0, 2.0, 2.0, 4.0]);
}

#[test]
fn a_note_names_the_first_meshes() {
    assert_eq!(note(&[]), None);
    let two = [("a".to_owned(), [0.5, 0.5]), ("b".to_owned(), [-1.0, 2.0])];
    assert_eq!(note(&two).as_deref(), Some("displaced meshes: a by 0.5, b by -1 to 2"));
    let many = vec![("a".to_owned(), [1.0, 1.0]); 10];
    assert!(note(&many).is_some_and(|line| line.ends_with(", and 2 others")));
}
