//! Meshes, primvars and solids.

use crate::inline::{item, read};
use throng_usd::{
    Axis, BoundaryRule, Content, FaceVaryingRule, Interpolation, NONE, PolygonMesh, Round, Sampled, Scheme, Shape,
    ShapeKind, Stage,
};

/// Two quads beside one another.
const QUADS: &str = "int[] faceVertexCounts = [4, 4]\nint[] faceVertexIndices = [0, 1, 4, 3, 1, 2, 5, 4]
    point3f[] points = [(0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 1, 0), (1, 1, 0), (2, 1, 0)]\n";

fn mesh_stage(attributes: &str) -> Stage {
    read(&format!("def Mesh \"m\" {{ {QUADS} {attributes} }}"))
}

fn shape(stage: &Stage) -> &Shape {
    &stage.shapes[0]
}

fn mesh(stage: &Stage) -> &PolygonMesh {
    match &shape(stage).kind {
        ShapeKind::Mesh(mesh) => mesh,
        _ => panic!(),
    }
}

#[test]
fn a_mesh_has_the_defaults_of_usd() {
    let stage = mesh_stage("");
    let mesh = mesh(&stage);
    assert_eq!((mesh.face_sizes.len(), mesh.corners.len(), mesh.points.first().len()), (2, 8, 6));
    assert_eq!((mesh.scheme, mesh.left_handed, shape(&stage).double_sided), (Scheme::CatmullClark, false, true));
    assert!(mesh.normals.is_none() && mesh.uvs.is_empty() && mesh.subsets.is_empty() && mesh.holes.is_empty());
    let Content::Shape { materials, skeleton, color, .. } = &item(&stage, "/m").content else { panic!() };
    assert_eq!((materials.as_slice(), *skeleton, *color), ([NONE].as_slice(), NONE, None));
}

#[test]
fn sides_holes_and_schemes_are_read() {
    let stage = mesh_stage(
        "uniform bool doubleSided = true\nuniform token orientation = \"leftHanded\"\nuniform token subdivisionScheme = \"loop\"
        int[] holeIndices = [1, 7, 0, 0]",
    );
    assert_eq!((mesh(&stage).scheme, mesh(&stage).left_handed, shape(&stage).double_sided), (Scheme::Loop, true, true));
    assert_eq!(mesh(&stage).holes, [0, 1]);
    assert_eq!(stage.warnings, ["/m: has holes that are no faces; they are ignored"]);
}

#[test]
fn creases_corners_and_rules_of_surfaces_are_read() {
    let stage = mesh_stage(
        "int[] creaseIndices = [0, 1, 2, 4, 5]\nint[] creaseLengths = [3, 2]\nfloat[] creaseSharpnesses = [2.5, 10]
        int[] cornerIndices = [3, 9]\nfloat[] cornerSharpnesses = [1.5, 2]\ntoken interpolateBoundary = \"edgeOnly\"
        token faceVaryingLinearInterpolation = \"all\"\ntoken triangleSubdivisionRule = \"smooth\"",
    );
    let mesh = mesh(&stage);
    assert_eq!(mesh.creases, [([0, 1], 2.5), ([1, 2], 2.5), ([4, 5], 10.0)]);
    assert_eq!((&mesh.sharp_points[..], mesh.boundary), (&[(3, 1.5)][..], BoundaryRule::EdgeOnly));
    assert_eq!((mesh.face_varying, mesh.smooth_triangles), (FaceVaryingRule::All, true));
    assert_eq!(stage.warnings, ["/m: some of its sharp corners are no points; they are ignored"]);
    let per_edge =
        mesh_stage("int[] creaseIndices = [0, 1, 7]\nint[] creaseLengths = [3]\nfloat[] creaseSharpnesses = [1, 2]");
    assert_eq!(self::mesh(&per_edge).creases, [([0, 1], 1.0)]);
    assert_eq!(per_edge.warnings, ["/m: 1 creases are between no points; they are ignored"]);
    let wrong = mesh_stage("int[] creaseIndices = [0, 1]\nint[] creaseLengths = [3]");
    assert!(self::mesh(&wrong).creases.is_empty());
    assert_eq!(wrong.warnings, ["/m: the numbers of its creases do not match; they are ignored"]);
    assert_eq!(self::mesh(&wrong).boundary, BoundaryRule::EdgeAndCorner);
}

#[test]
fn invalid_meshes_are_left_out_with_a_warning() {
    let fails = |faces: &str, wanted: &str| {
        let stage =
            read(&format!("def Mesh \"m\" {{ {faces}\npoint3f[] points = [(0, 0, 0), (1, 0, 0), (2, 0, 0)] }}"));
        assert!(stage.shapes.is_empty());
        assert_eq!(stage.warnings, [wanted]);
    };
    fails(
        "int[] faceVertexCounts = [3]\nint[] faceVertexIndices = [0, 1, 3]",
        "/m: has index 3, but 3 points; the mesh is left out",
    );
    fails(
        "int[] faceVertexCounts = [3]\nint[] faceVertexIndices = [0, 1, -1]",
        "/m: has index -1, but 3 points; the mesh is left out",
    );
    fails(
        "int[] faceVertexCounts = [4]\nint[] faceVertexIndices = [0, 1, 2]",
        "/m: its faceVertexCounts sum to 4, but it has 3 indices; the mesh is left out",
    );
    fails(
        "int[] faceVertexCounts = [-3, 6]\nint[] faceVertexIndices = [0, 1, 2]",
        "/m: has a face with -3 corners; the mesh is left out",
    );
    let stage = read(
        "def Mesh \"m\" { int[] faceVertexCounts = [3]\nint[] faceVertexIndices = [0, 1, 2]\npoint3f[] points = [(nan, 0, 0), (1, 0, 0), (0, 1, 0)] }",
    );
    assert!(stage.shapes.is_empty());
    assert!(stage.warnings[0].contains("not finite"), "{:?}", stage.warnings);
}

#[test]
fn texture_coordinates_of_all_types_and_interpolations_are_read() {
    let stage = mesh_stage(
        "texCoord2h[] primvars:map = [(0, 1)] (interpolation = \"constant\")
        texCoord2f[] primvars:st = [(0, 0), (1, 1)] (interpolation = \"faceVarying\")
        int[] primvars:st:indices = [0, 1, 0, 1, 1, 1, 0, 0]
        double2[] primvars:wide = [(0, 0), (0.5, 1)] (interpolation = \"uniform\")
        float2[] primvars:short = [(0, 0)] (interpolation = \"vertex\")
        float[] primvars:weights = [1, 2]
        texCoord2f[] primvars:bad = [(0, 0)] (interpolation = \"faceVarying\")\nint[] primvars:bad:indices = [0, 0, 0, 0, 0, 0, 0, 9]",
    );
    let uvs = &mesh(&stage).uvs;
    let names: Vec<&str> = uvs.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["st", "map", "wide"]);
    assert_eq!((uvs[0].1.interpolation, uvs[0].1.at(1)), (Interpolation::FaceVarying, Some(&[1.0, 1.0])));
    assert_eq!(uvs[1].1.interpolation, Interpolation::Constant);
    assert_eq!(uvs[2].1.at(1), Some(&[0.5, 1.0]));
    assert_eq!(
        stage.warnings,
        [
            "/m.primvars:short: has 1 values for 6 elements; it is left out",
            "/m.primvars:bad: has indices outside of its 1 values; it is left out"
        ]
    );
}

#[test]
fn newer_normals_replace_older_ones() {
    let six = "[(0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 0, 1), (0, 0, 1)]";
    let stage = mesh_stage(&format!("normal3f[] normals = {six}"));
    assert_eq!(mesh(&stage).normals.as_ref().unwrap().interpolation, Interpolation::Vertex);
    let newer = "normal3f[] primvars:normals = [(1, 0, 0), (0, 1, 0)] (interpolation = \"uniform\")";
    let stage = mesh_stage(&format!("normal3f[] normals = {six}\n{newer}"));
    assert_eq!(mesh(&stage).normals.as_ref().unwrap().at(1), Some(&[0.0, 1.0, 0.0]));
}

#[test]
fn colours_and_opacities_are_read() {
    let stage = mesh_stage(
        "color3f[] primvars:displayColor = [(1, 0, 0), (0, 1, 0)] (interpolation = \"uniform\")\nfloat[] primvars:displayOpacity = [0.5]",
    );
    assert_eq!(shape(&stage).colors.as_ref().unwrap().at(1), Some(&[0.0, 1.0, 0.0]));
    assert_eq!(shape(&stage).opacities.as_ref().unwrap().values, [0.5]);
}

#[test]
fn subsets_are_those_that_bind_materials() {
    let stage = read(&format!(
        "def Mesh \"m\" {{ {QUADS}
        def GeomSubset \"a\" {{ uniform token familyName = \"materialBind\"\nuniform token elementType = \"face\"\nint[] indices = [1, 5] }}
        def GeomSubset \"b\" {{ uniform token familyName = \"materialBind\"\nint[] indices = [0, 1] }}
        def GeomSubset \"c\" {{ uniform token familyName = \"other\"\nint[] indices = [0] }}
        def GeomSubset \"d\" {{ uniform token familyName = \"materialBind\"\nuniform token elementType = \"point\"\nint[] indices = [0] }} }}"
    ));
    let subsets: Vec<_> =
        mesh(&stage).subsets.iter().map(|subset| (subset.name.as_str(), subset.faces.as_slice())).collect();
    assert_eq!(subsets, [("a", [1].as_slice()), ("b", [0].as_slice())]);
    let Content::Shape { materials, .. } = &item(&stage, "/m").content else { panic!() };
    assert_eq!(materials.len(), 3);
    assert_eq!(stage.warnings.len(), 3, "{:?}", stage.warnings);
}

#[test]
fn points_over_time_keep_their_number() {
    let animated = |second: &str, faces: &str| {
        read(&format!(
            "(startTimeCode = 1\nendTimeCode = 2)
            def Mesh \"m\" {{ int[] faceVertexCounts = [3]\n{faces}
            point3f[] points.timeSamples = {{ 1: [(0, 0, 0), (1, 0, 0), (0, 1, 0)], 2: {second} }} }}"
        ))
    };
    let faces = "int[] faceVertexIndices = [0, 1, 2]";
    let stage = animated("[(0, 0, 1), (1, 0, 0), (0, 1, 0)]", faces);
    let Sampled::Moving(samples) = &mesh(&stage).points else { panic!() };
    assert_eq!((samples.len(), samples[1].1[0]), (2, [0.0, 0.0, 1.0]));
    let told = "/m: its faces change over time; the first ones are shown";
    let stage = animated("[(0, 0, 1), (1, 0, 0)]", faces);
    assert_eq!((mesh(&stage).points.moves(), stage.warnings), (false, vec![told.to_owned()]));
    let stage = animated(
        "[(0, 0, 1), (1, 0, 0), (0, 1, 0)]",
        "int[] faceVertexIndices.timeSamples = { 1: [0, 1, 2], 2: [2, 1, 0] }",
    );
    assert_eq!((mesh(&stage).points.moves(), mesh(&stage).corners.as_slice()), (false, [0, 1, 2].as_slice()));
}

#[test]
fn equal_meshes_are_stored_once() {
    let stage = read(&format!(
        "def Mesh \"a\" {{ {QUADS} }}\ndef Mesh \"b\" {{ {QUADS} }}\ndef Mesh \"c\" {{ {QUADS}\nuniform bool doubleSided = false }}"
    ));
    assert_eq!((stage.shapes.len(), stage.groups[0].items.len()), (2, 3));
}

#[test]
fn a_mesh_that_stands_for_the_unit_sphere_is_one_until_its_points_are_moved() {
    let sphere = |points: &str| {
        let text = format!(
            "def Mesh \"ball\" {{ custom uniform token throng:shape = \"sphere\"
                color3f[] primvars:displayColor = [(0.5, 0.25, 1)]
                int[] faceVertexCounts = [3, 3, 3, 3]\nint[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2]
                {points} }}"
        );
        read(&text).shapes[0].clone()
    };
    let unit = sphere("point3f[] points = [(1, 0, 0), (0, 0.6, 0.8), (0, 0, -1), (0, -1, 0)]");
    assert_eq!(unit.kind, ShapeKind::Sphere(1.0));
    assert_eq!(unit.colors.map(|colors| colors.values), Some(vec![[0.5, 0.25, 1.0]]));
    for moved in [
        "point3f[] points = [(1, 0, 0), (0, 0.6, 0.8), (0, 0, -1.1), (0, -1, 0)]",
        "point3f[] points.timeSamples = { 1: [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0, -1, 0)], 2: [(2, 0, 0), (0, 1, 0), (0, 0, 1), (0, -1, 0)] }",
    ] {
        assert!(matches!(sphere(moved).kind, ShapeKind::Mesh(_)), "{moved}");
    }
}

fn solid(text: &str) -> ShapeKind {
    let stage = read(&format!("def {text}"));
    stage.shapes[0].kind.clone()
}

#[test]
fn solids_have_their_sizes_and_fallbacks() {
    let round = |radii, height, axis| Round { radii, height, axis };
    assert_eq!(solid("Cube \"a\" {}"), ShapeKind::Cube(2.0));
    assert_eq!(solid("Sphere \"a\" { double radius = 3 }"), ShapeKind::Sphere(3.0));
    assert_eq!(solid("Cylinder \"a\" {}"), ShapeKind::Cylinder(round([1.0; 2], 2.0, Axis::Z)));
    let text = "Cylinder_1 \"a\" { double radiusTop = 2\ndouble radiusBottom = 3\nuniform token axis = \"X\" }";
    assert_eq!(solid(text), ShapeKind::Cylinder(round([3.0, 2.0], 2.0, Axis::X)));
    let text = "Cone \"a\" { double height = 5\nuniform token axis = \"Y\" }";
    assert_eq!(solid(text), ShapeKind::Cone(round([1.0, 0.0], 5.0, Axis::Y)));
    assert_eq!(solid("Capsule \"a\" {}"), ShapeKind::Capsule(round([0.5; 2], 1.0, Axis::Z)));
    assert_eq!(solid("Capsule_1 \"a\" { double radiusTop = 1 }"), ShapeKind::Capsule(round([0.5, 1.0], 1.0, Axis::Z)));
    assert_eq!(solid("Plane \"a\" { double width = 4 }"), ShapeKind::Plane { axis: Axis::Z, size: [4.0, 2.0] });
    assert!(read("def Plane \"a\" {}").shapes[0].double_sided);
    let stage = read("def Sphere \"a\" { double radius = -1 }");
    assert_eq!(
        (stage.shapes.len(), stage.warnings[0].as_str()),
        (0, "/a: radius = -1 is negative; the shape is left out")
    );
}

#[test]
fn points_have_widths() {
    let points = |attributes: &str| match solid(&format!(
        "Points \"p\" {{ point3f[] points = [(0, 0, 0), (1, 0, 0)]\n{attributes} }}"
    )) {
        ShapeKind::Points(cloud) => cloud.widths,
        _ => panic!(),
    };
    assert_eq!(points(""), [1.0]);
    assert_eq!(points("float[] widths = [0.5, 0.25]"), [0.5, 0.25]);
    assert_eq!(points("float[] widths = [0.5]\nfloat[] primvars:widths = [2, 3]"), [2.0, 3.0]);
    assert_eq!(points("float[] widths = [1, 2, 3]"), [1.0]);
}
