use super::*;
use proptest::prelude::*;
use throng_scene::Wrap;

/// A unit square of two triangles.
const SQUARE: [[[f32; 3]; 3]; 2] =
    [[[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]], [[-0.0; 3], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]];

fn binary_file(header: &str, triangles: &[[[f32; 3]; 3]]) -> Vec<u8> {
    let mut file = header.as_bytes().to_vec();
    file.resize(80, b' ');
    file.extend((triangles.len() as u32).to_le_bytes());
    for corners in triangles {
        file.extend([0; 12]);
        file.extend(corners.as_flattened().iter().flat_map(|x| x.to_le_bytes()));
        file.extend([0xff, 0x7f]);
    }
    file
}

fn text_file(triangles: &[[[f32; 3]; 3]]) -> String {
    let facet = |corners: &[[f32; 3]; 3]| {
        let vertex = |[x, y, z]: &[f32; 3]| format!("      vertex {x:e} {y} {z}\n");
        let vertices: String = corners.iter().map(vertex).collect();
        format!("  facet normal 0 0 0\n    outer loop\n{vertices}    endloop\n  endfacet\n")
    };
    let facets: String = triangles.iter().map(facet).collect();
    format!("solid square of mine\n{facets}endsolid square of mine\n")
}

fn parse(file: &[u8]) -> Result<Indexed, LoadError> {
    read(Path::new("a.stl"), Pieces::of(file))
}

fn error(file: impl AsRef<[u8]>) -> String {
    parse(file.as_ref()).err().map(|e| e.to_string()).unwrap_or_default()
}

#[test]
fn text_and_bytes_say_the_same_and_equal_corners_are_one() {
    let text = text_file(&SQUARE);
    let files = [
        text.clone().into_bytes(),
        text.to_uppercase().replace('\n', "\r\n").into_bytes(),
        binary_file("made by hand", &SQUARE),
        binary_file("solid as some programs begin", &SQUARE),
    ];
    for file in files {
        let mesh = parse(&file).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((mesh.positions.len(), &mesh.triangles[..]), (4, &[[0, 1, 2], [0, 2, 3]][..]));
    }
}

#[test]
fn what_follows_the_triangles_of_a_binary_file_is_left_out() {
    let mut file = binary_file("made by hand", &SQUARE);
    file.extend(b"trailer");
    assert!(parse(&file).is_ok_and(|mesh| mesh.triangles.len() == 2));
}

#[test]
fn several_solids_and_loops_of_four_corners_are_read() {
    let quad = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 1 1 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a\n";
    let mesh = parse(quad.repeat(2).as_bytes()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((mesh.positions.len(), mesh.triangles.len()), (4, 4));
}

#[test]
fn words_may_be_spread_over_lines_as_they_like() {
    let text = text_file(&SQUARE);
    let one_line = text.replace('\n', " ");
    let words = one_line.split_whitespace().collect::<Vec<_>>().join("\r");
    let unnamed = words.replace("square\rof\rmine", "");
    let apart = text.replace("endsolid", "end solid").replace("endloop", "END LOOP").replace("endfacet", "end\n facet");
    let odd = text.replace("normal 0 0 0", "normal -nan(ind) 1.#QNAN nan").replace("square of mine", "loop facet end");
    let bare = text.replace("facet normal 0 0 0", "facet");
    let marked = format!("\u{feff}{text}");
    for file in [one_line.clone(), unnamed, apart, odd, bare, marked, one_line.repeat(2)] {
        let mesh = parse(file.as_bytes()).unwrap_or_else(|e| panic!("{file}\n{e}"));
        let repeated = mesh.triangles.len() / 2;
        assert_eq!((mesh.positions.len(), mesh.triangles), (4, [[0, 1, 2], [0, 2, 3]].repeat(repeated)), "{file}");
    }
}

#[test]
fn triangles_that_are_not_finite_are_left_out_with_their_place() {
    let mut triangles = SQUARE;
    triangles[1][2][0] = f32::INFINITY;
    let text = text_file(&SQUARE).replace("vertex 0e0 1 0", "vertex nan 1 0");
    let files = [(binary_file("a", &triangles), "a.stl: at byte 134"), (text.into_bytes(), "a.stl:13")];
    for (file, place) in files {
        let parsed = parse(&file).and_then(|mesh| {
            mesh.finish(
                Path::new("a.stl"),
                &MeshOptions { smooth_angle: 1.0, subdivision: None, scheme: Default::default(), points: true },
            )
        });
        let mut table = Default::default();
        let (source, warnings) = parsed.unwrap().into_source("a", None, Wrap::Repeat, &mut table).unwrap();
        assert_eq!(source.point_triangles, [[0, 1, 2]]);
        let warning = "this vertex is not finite: 1 faces with such vertices are left out";
        assert_eq!(warnings, [format!("{place}: {warning}")]);
    }
}

#[test]
fn attributes_are_colours_as_two_programs_write_them() {
    let with = |header: &str, attributes: [u16; 2]| {
        let mut file = binary_file("", &SQUARE);
        file[..header.len()].copy_from_slice(header.as_bytes());
        for (triangle, attribute) in attributes.into_iter().enumerate() {
            file[84 + 50 * triangle + 48..][..2].copy_from_slice(&attribute.to_le_bytes());
        }
        parse(&file).unwrap().face_colors
    };
    let (red, blue, grey) = ([1., 0., 0., 1.], [0., 0., 1., 1.], [0.8, 0.8, 0.8, 1.]);
    assert_eq!(with("", [0x801f, 0xfc00]), [blue, red]);
    assert_eq!(with("", [0, 0xfc00]), [grey, red]);
    assert_eq!(with("COLOR=\0\0\u{7f}\u{7f}", [0x001f, 0x8000])[0], red);
    assert_eq!(with("COLOR=\0\0\0\0", [0, 0]), [[0., 0., 0., 1.]; 2]);
    for attributes in [[0, 0], [1, 2], [0x7fff, 0x8001], [u16::MAX; 2]] {
        assert!(with("", attributes).is_empty(), "{attributes:?}");
    }
}

#[test]
fn errors_name_the_line_or_the_byte() {
    let text = text_file(&SQUARE);
    let table = [
        (String::new(), "a.stl: not an STL file"),
        (text.replace("vertex 1e0 0 0", "vertex 1e0 0"), "a.stl:5: too few numbers"),
        (text.replace("vertex 1e0 0 0", "vertex 1e0 0 z"), "a.stl:5: `z` is not a number"),
        (text.replace("      vertex 1e0 0 0\n", ""), "a.stl:6: the loop has 2 corners"),
        (text.replace("      vertex 1e0 0 0\n", "wertex\n"), "a.stl:5: unknown keyword `wertex`"),
        (text[..text.rfind("endloop").unwrap_or(0)].to_owned(), "a.stl:14: the file ends in the midst of a triangle"),
    ];
    for (file, expected) in table {
        let e = error(&file);
        assert!(e.starts_with(expected), "{file}\n  {e}\n  {expected}");
    }
    let whole = binary_file("solid", &SQUARE);
    assert!(error(&whole[..150]).starts_with("a.stl: at byte 80: 2 triangles do not fit into a file of 150 bytes"));
    let mut many = binary_file("a", &SQUARE);
    many[80..84].fill(0xff);
    assert!(error(&many).starts_with("a.stl: at byte 80: 4294967295 triangles do not fit"), "{}", error(&many));
}

proptest! {
    #![proptest_config(throng_testing::same_cases(256))]

    #[test]
    fn damaged_files_never_panic(
        is_text: bool,
        cut in 0usize..600,
        edits in prop::collection::vec((0usize..600, any::<u8>()), 0..8),
    ) {
        let mut file = if is_text { text_file(&SQUARE).into_bytes() } else { binary_file("solid", &SQUARE) };
        for (at, value) in edits {
            let length = file.len();
            file[at % length] = value;
        }
        file.truncate(cut.max(1));
        match parse(&file) {
            Err(e) => prop_assert_eq!(e.to_string().lines().count(), 1),
            Ok(mesh) => {
                let sound = |&v: &u32| (v as usize) < mesh.positions.len();
                prop_assert!(mesh.triangles.as_flattened().iter().all(sound));
            }
        }
    }
}
