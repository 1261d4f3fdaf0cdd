use super::*;
use proptest::prelude::*;
use throng_scene::{Shape, TriangleMesh, Wrap};

fn text(vertex: &str, face: &str, body: &str) -> String {
    format!("ply\nformat ascii 1.0\ncomment made by hand\n{vertex}{face}end_header\n{body}")
}

const XYZ: &str = "property float x\nproperty float y\nproperty float z\n";
const LIST: &str = "property list uchar int vertex_indices\n";
const TRIANGLE: &str = "0 0 0\n1 0 0\n0 1 0\n";

fn simple(faces: &str, count: usize) -> String {
    let vertices = format!("element vertex 3\n{XYZ}");
    text(&vertices, &format!("element face {count}\n{LIST}"), &format!("{TRIANGLE}{faces}"))
}

fn read(file: &[u8]) -> Result<Indexed, Fault> {
    super::read(Pieces::of(file))
}

fn read_text(text: &str) -> Indexed {
    read(text.as_bytes()).unwrap_or_else(|fault| panic!("{}\n{text}", fault.of(Path::new("a.ply"))))
}

fn error(file: &[u8]) -> String {
    let path = Path::new("a.ply");
    let options = MeshOptions { smooth_angle: 1.0, subdivision: None, scheme: Default::default(), points: true };
    let built = read(file).map_err(|fault| fault.of(path)).and_then(|mesh| mesh.finish(path, &options));
    built.err().map(|e| e.to_string()).unwrap_or_default()
}

/// A quad with all supported attributes. `write` writes a number with its type.
fn rich(encoding: &str, write: impl Fn(&str, f64) -> Vec<u8>) -> Vec<u8> {
    let header = format!(
        "ply\r\nformat {encoding} 1.0\r\nelement camera 1\r\nproperty double view\r\nproperty list ushort short samples\r\n\
         element vertex 4\r\nproperty uchar red\r\nproperty uchar green\r\nproperty uchar blue\r\nproperty double x\r\n\
         property float y\r\nproperty short z\r\nproperty list uchar float weights\r\nproperty float nx\r\nproperty float ny\r\n\
         property char nz\r\nproperty float s\r\nproperty float t\r\nelement face 1\r\nproperty uchar flags\r\n\
         property list uint ushort vertex_index\r\nproperty int group\r\nelement edge 0\r\nproperty int a\r\nend_header\r\n"
    );
    let mut file = header.into_bytes();
    let mut add = |kind: &str, value: f64| file.extend(write(kind, value));
    for (kind, value) in [("double", 0.1), ("ushort", 2.0), ("short", -5.0), ("short", 700.0)] {
        add(kind, value);
    }
    for (x, y) in [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)] {
        for (kind, value) in [("uchar", 255.0), ("uchar", 188.0), ("uchar", 0.0), ("double", x), ("float", y)] {
            add(kind, value);
        }
        for (kind, value) in [("short", -300.0), ("uchar", 1.0), ("float", 9.0), ("float", 0.0), ("float", 0.0)] {
            add(kind, value);
        }
        for (kind, value) in [("char", -1.0), ("float", x), ("float", y)] {
            add(kind, value);
        }
    }
    for (kind, value) in [("uchar", 7.0), ("uint", 4.0), ("ushort", 0.0), ("ushort", 1.0), ("ushort", 2.0)] {
        add(kind, value);
    }
    add("ushort", 3.0);
    add("int", 70000.0);
    file
}

fn big(kind: &str, value: f64) -> Vec<u8> {
    match kind {
        "char" => (value as i8).to_be_bytes().to_vec(),
        "uchar" => vec![value as u8],
        "short" => (value as i16).to_be_bytes().to_vec(),
        "ushort" => (value as u16).to_be_bytes().to_vec(),
        "int" => (value as i32).to_be_bytes().to_vec(),
        "uint" => (value as u32).to_be_bytes().to_vec(),
        "float" => (value as f32).to_be_bytes().to_vec(),
        _ => value.to_be_bytes().to_vec(),
    }
}

fn little(kind: &str, value: f64) -> Vec<u8> {
    let mut bytes = big(kind, value);
    bytes.reverse();
    bytes
}

fn rich_files() -> [Vec<u8>; 3] {
    let ascii = |_: &str, value: f64| format!("{value} \r\n").into_bytes();
    [rich("ascii", ascii), rich("binary_big_endian", big), rich("binary_little_endian", little)]
}

#[test]
fn text_and_both_orders_of_bytes_say_the_same() {
    for file in rich_files() {
        let mesh = read(&file).unwrap_or_else(|fault| panic!("{fault:?}"));
        let z = -300.0;
        assert_eq!(mesh.positions, [[0.0, 0.0, z], [1.0, 0.0, z], [1.0, 1.0, z], [0.0, 1.0, z]]);
        assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
        assert_eq!((mesh.normals[3], mesh.uvs[2]), ([0.0, 0.0, -1.0], [1.0, 1.0]));
        let [r, g, b, a] = mesh.colors[1];
        assert!(r == 1.0 && (g - 0.503).abs() < 0.001 && b == 0.0 && a == 1.0, "{:?}", mesh.colors[1]);
    }
}

#[test]
fn colours_of_floats_are_linear_already() {
    let vertices = format!("element vertex 3\n{XYZ}property float red\nproperty float green\nproperty float blue\n");
    let faces = format!("element face 1\n{LIST}");
    let body = "0 0 0 0.5 2 -1\n1 0 0 nan 0 0\n0 1 0 1 1 1\n3 0 1 2\n";
    let mesh = read_text(&text(&vertices, &faces, body));
    assert_eq!(mesh.colors[..2], [[0.5, 1.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0]]);
}

#[test]
fn strips_of_triangles_restart_and_keep_their_front() {
    let vertices = format!("element vertex 5\n{XYZ}");
    let strips = format!("element tristrips 1\n{LIST}");
    let body = format!("{TRIANGLE}1 1 0\n2 2 0\n8 0 1 2 3 -1 1 4 3\n");
    let mesh = read_text(&text(&vertices, &strips, &body));
    assert_eq!(mesh.triangles, [[0, 1, 2], [2, 1, 3], [1, 4, 3]]);
}

#[test]
fn lines_of_old_and_of_lax_programs_are_read() {
    let file = simple("3 0 1 2", 1);
    assert_eq!(read_text(&file.replace('\n', "\r")).triangles.len(), 1);
    assert_eq!(read_text(&file.replace("comment", "obj_info")).triangles.len(), 1);
    assert_eq!(read_text(&file.replace('\n', "  \n")).triangles.len(), 1);
    assert_eq!(read_text(&format!("\u{feff}{file}").replace('\n', "\r\n")).triangles.len(), 1);
    let old = error(file.replace("0 1 0", "0 1 x").replace('\n', "\r").as_bytes());
    assert!(old.starts_with("a.ply:13: `x` is not a number"), "{old}");
}

#[test]
fn colours_of_faces_are_those_of_their_triangles() {
    let vertices = format!("element vertex 4\n{XYZ}");
    let faces = format!("element face 2\nproperty uchar red\nproperty uchar green\n{LIST}property uchar blue\n");
    let body = format!("{TRIANGLE}1 1 0\n255 0 4 0 1 3 2 0\n0 255 3 0 2 3 255\n");
    let mesh = read_text(&text(&vertices, &faces, &body));
    assert_eq!(mesh.face_colors, [[1., 0., 0., 1.], [1., 0., 0., 1.], [0., 1., 1., 1.]]);
    assert_eq!((mesh.polygons, mesh.colors), (std::iter::once(0..2).collect(), Vec::new()));
}

#[test]
fn what_is_not_finite_and_in_no_face_is_left_out_without_a_word() {
    let vertices = format!("element vertex 4\n{XYZ}property float s\nproperty float t\n");
    let body = "nan -nan(ind) 1.#QNAN nan nan\n0 0 0 0 1\n1 0 0 inf 1\n0 1 0 0 1\n3 1 2 3\n";
    let mesh = read_text(&text(&vertices, &format!("element face 1\n{LIST}"), body));
    assert_eq!((mesh.uvs[2], mesh.warnings.len()), ([0.0; 2], 1));
    let parsed = mesh
        .finish(
            Path::new("a.ply"),
            &MeshOptions { smooth_angle: 1.0, subdivision: None, scheme: Default::default(), points: true },
        )
        .unwrap();
    let (source, warnings) = parsed.into_source("a", None, Wrap::Repeat, &mut Default::default()).unwrap();
    assert_eq!((source.points.len(), warnings.len()), (3, 1), "{warnings:?}");
}

#[test]
fn vertices_with_colours_are_shown_on_white() {
    let mut table = crate::materials::Materials::default();
    let options = MeshOptions { smooth_angle: 1.0, subdivision: None, scheme: Default::default(), points: true };
    for (file, color) in [(rich_files()[1].clone(), 1.0), (simple("3 0 1 2\n", 1).into_bytes(), 0.8)] {
        let mesh = read(&file).unwrap().finish(Path::new("a.ply"), &options).unwrap();
        assert!(mesh.bytes() > 500);
        let (source, warnings) = mesh.into_source("a", None, Wrap::Repeat, &mut table).unwrap();
        assert!(warnings.is_empty());
        assert_eq!(table.rows[source.materials[0] as usize].color, glam::Vec3::splat(color));
    }
}

#[test]
fn errors_name_the_line_or_the_byte() {
    let xyz = format!("element vertex 1\n{XYZ}");
    let table = [
        ("solid".to_owned(), "a.ply:1: not a PLY file"),
        ("ply\nformat ascii 1.0\n".to_owned(), "a.ply:3: the header does not end"),
        ("ply\nformat ebcdic 1.0\n".to_owned(), "a.ply:2: unknown format `ebcdic`"),
        ("ply\nformat ascii 2.0\n".to_owned(), "a.ply:2: unknown header line `format ascii 2.0`"),
        ("ply\nend_header\n".to_owned(), "a.ply:2: the header has no line `format`"),
        ("ply\nelement vertex -1\n".to_owned(), "a.ply:2: `-1` is no number of elements"),
        ("ply\nproperty float x\n".to_owned(), "a.ply:2: a property comes before any element"),
        ("ply\nelement a 1\nproperty half x\n".to_owned(), "a.ply:3: `half` is no type of numbers"),
        ("ply\nelement a 1\nproperty list int x\n".to_owned(), "a.ply:3: a property has a type and a name"),
        ("ply\nelement a 1\nelement a 1\n".to_owned(), "a.ply:3: the element `a` comes twice"),
        (text("element a 9\n", "", "1\n"), "a.ply:5: the element `a` has no properties"),
        (text(&xyz, "", "0 0\n"), "a.ply:9: the file ends too early"),
        (text(&xyz, "", "0 0 o\n"), "a.ply:9: `o` is not a number"),
        (text(&xyz.replace("float z", "float w"), "", "0 0 0\n"), "a.ply:9: vertices need the properties x, y and z"),
        (text(&xyz.replace('1', "99"), "", "0 0 0\n"), "a.ply:9: 99 elements `vertex` do not fit"),
        (
            text(&xyz.replace('1', "18446744073709551615"), "", "0 0 0\n"),
            "a.ply:9: 18446744073709551615 elements `vertex` do not fit",
        ),
        (simple("3 0 1 3\n", 1), "a.ply:14: vertex 3 (from 0) is used, but the file has 3"),
        (simple("3 0 1 -1\n", 1), "a.ply:14: vertex -1 (from 0) is used"),
        (simple("3 0 1 0.5\n", 1), "a.ply:14: vertex 0.5 (from 0) is used"),
        (simple("255 0 1 2\n", 1), "a.ply:14: a list of 255 items does not fit"),
        (simple("-3 0 1 2\n", 1), "a.ply:14: a list of -3 items does not fit"),
        (simple("2 0 1\n", 1), "a.ply: there are no faces with an area in it"),
        (simple("3 0 1 1\n", 1), "a.ply: there are no faces with an area in it"),
        (
            simple("3 0 1 2\n", 1).replace("0 1 0", "0 1e39 0"),
            "a.ply:13: no face can be drawn: 1 have vertices that are not finite",
        ),
        (simple("", 0), "a.ply: there are no faces with an area in it"),
        (simple("3 0 1 2\n", 1).replace("vertex_indices", "corners"), "a.ply:13: elements `face` need a list"),
    ];
    for (file, expected) in table {
        let e = error(file.as_bytes());
        assert!(e.starts_with(expected), "{file}\n  {e}\n  {expected}");
    }
    let binary = &rich_files()[2];
    let e = error(&binary[..binary.len() - 1]);
    assert!(e.starts_with("a.ply: at byte ") && e.contains("the file ends too early"), "{e}");
}

#[test]
fn a_cut_file_is_an_error_wherever_it_is_cut() {
    for file in rich_files() {
        // In text, the last number may be cut without detection.
        for length in 0..file.len() - 8 {
            assert!(!error(&file[..length]).is_empty(), "{length}");
        }
    }
}

fn assert_sound_or_one_line(file: &[u8]) {
    let path = Path::new("a.ply");
    let options = MeshOptions { smooth_angle: 1.0, subdivision: None, scheme: Default::default(), points: true };
    match read(file).map_err(|fault| fault.of(path)).and_then(|mesh| mesh.finish(path, &options)) {
        Err(e) => assert_eq!(e.to_string().lines().count(), 1, "{e}"),
        Ok(parsed) => {
            let (source, _) = parsed.into_source("a", None, Wrap::Repeat, &mut Default::default()).unwrap();
            let Shape::Triangles(TriangleMesh { positions, triangles, normals, .. }) = source.mesh.shape else {
                panic!("a sphere");
            };
            assert!(triangles.as_flattened().iter().all(|&v| (v as usize) < positions.len()));
            assert_eq!(normals.len(), positions.len());
        }
    }
}

proptest! {
    #![proptest_config(throng_testing::same_cases(256))]

    #[test]
    fn damaged_files_never_panic(
        which in 0usize..3,
        cut in 0usize..900,
        edits in prop::collection::vec((0usize..900, any::<u8>()), 0..8),
    ) {
        let mut file = rich_files()[which].clone();
        for (at, value) in edits {
            let length = file.len();
            file[at % length] = value;
        }
        file.truncate(cut.max(1));
        assert_sound_or_one_line(&file);
    }
}

#[test]
fn polygons_are_subdivided_with_the_colours_of_faces() {
    let vertices = format!("element vertex 6\n{XYZ}");
    let colors = "property uchar red\nproperty uchar green\nproperty uchar blue\n";
    let body = "0 0 0\n1 0 0\n2 0 0\n0 1 0\n1 1 0\n2 1 0\n4 0 1 4 3 255 0 0\n4 1 2 5 4 0 0 255\n";
    let file = text(&vertices, &format!("element face 2\n{LIST}{colors}"), body);
    let options = MeshOptions {
        smooth_angle: 1.0,
        subdivision: Some(throng_scene::desc::Subdivision::Level(1)),
        scheme: Default::default(),
        points: true,
    };
    let parsed = read_text(&file).finish(Path::new("a.ply"), &options).unwrap_or_else(|error| panic!("{error}"));
    let (source, _) = parsed.into_source("a", None, Wrap::Repeat, &mut crate::materials::Materials::default()).unwrap();
    let mesh = source.mesh.triangles().unwrap();
    // Three vertices on the edge between the colours are there twice.
    assert_eq!((mesh.triangles.len(), mesh.positions.len()), (16, 15 + 3));
    assert_eq!(mesh.colors.iter().filter(|color| **color == [1.0, 0.0, 0.0, 1.0]).count(), 9);
}
