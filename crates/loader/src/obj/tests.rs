//! Tests of OBJ files as lists, including files with faults.

use super::*;
use crate::pieces::Pieces;
use proptest::prelude::*;
use throng_scene::desc::{Subdivision, SubdivisionScheme};

fn parse_text(text: &str) -> Result<ObjData, String> {
    scan::scan(Path::new("a.obj"), Pieces::of(text.as_bytes())).map_err(|e| e.to_string())
}

#[test]
fn polygons_become_fans_and_negative_indices_count_back() {
    let d =
        parse_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf -4 -3 -2 -1 # quad\nl 1 2\np 1\nf 1 2\n").unwrap_or_default();
    let v: Vec<_> = d.triangles.iter().map(|t| t.map(|c| c.v)).collect();
    assert_eq!(v, [[0, 1, 2], [0, 2, 3]]);
    assert_eq!(d.ignored, 3);
}

#[test]
fn triangles_are_those_that_tobj_reads() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/dragon.obj");
    let d = scan::scan(&path, files::pieces(&path).unwrap()).unwrap();
    let options = tobj::LoadOptions { triangulate: true, ..Default::default() };
    let (models, _) = tobj::load_obj(&path, &options).unwrap();
    let corners = models.iter().flat_map(|model| {
        let m = &model.mesh;
        let at = |list: &[f32], i: u32| [0, 1, 2].map(|k| list[3 * i as usize + k]);
        let corner = move |i: usize| {
            let vn = m.normal_indices.get(i);
            (at(&m.positions, m.indices[i]), vn.map(|&n| at(&m.normals, n)))
        };
        (0..m.indices.len()).map(corner)
    });
    let ours = d.triangles.as_flattened().iter().map(|c| {
        let normal = d.normals.get(c.vn as usize).copied();
        (d.positions[c.v as usize], normal)
    });
    assert!(ours.eq(corners));
    assert!(d.triangles.len() > 1000);
}

#[test]
fn a_backslash_continues_the_line() {
    let d = parse_text("v 0 0 0\nv 1 0 0\nv 0 1 \\\n0\nf 1 2 \\\r\n 3\n").unwrap_or_default();
    assert_eq!(d.triangles.len(), 1);
}

#[test]
fn errors_name_the_line() {
    let cases = [
        ("v 0 0\n", "a.obj:1: too few numbers"),
        ("v 0 0 0\nv 0 zero 0\n", "a.obj:2: `zero` is not a number"),
        ("v 0 0 0\n\nf 1 2 3\n", "a.obj:3: the face uses vertex 2, but the file has 1"),
        ("v 0 0 0\nf 1//92233720368547758070 1 1\n", "a.obj:2: `1//92233720368547758070` is not a face corner"),
        ("v 0 0 0\nf 1/x 1 1\n", "a.obj:2: `1/x` is not a face corner"),
        ("v 0 0 0\nf 1 -2 1\n", "a.obj:2: `-2` is not a face corner"),
        ("v 0 0 0\nf 0 1 1\n", "a.obj:2: `0` is not a face corner"),
        ("v 0 0 0\nf 1/1/1/1 1 1\n", "a.obj:2: `1/1/1/1` is not a face corner"),
    ];
    for (text, expected) in cases {
        let e = parse_text(text).err().unwrap_or_default();
        assert!(e.starts_with(expected), "{text:?}: {e}");
    }
}

#[test]
fn corners_without_uv_or_normal_get_none_from_their_neighbours() {
    let d = parse_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 1 1\nvn 0 0 1\nf 1/1/1 2 3//1\nf 1 2/1 3\n").unwrap_or_default();
    let corners = d.triangles.as_flattened();
    let uvs: Vec<_> = corners.iter().map(|c| d.uvs[c.vt as usize][0]).collect();
    let normals: Vec<_> = corners.iter().map(|c| d.normals[c.vn as usize][2]).collect();
    assert_eq!(uvs, [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    assert_eq!(normals, [1.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
}

#[test]
fn positions_keep_their_order_and_equal_ones_are_the_first() {
    let d = parse_text(
        "v 9 9 9\nv 1 0 0\nv 0 1 0\nv 0 0 0\nv 1 0 0\nusemtl b\nf 4 2 3\no x\nusemtl a\nf 3 5 4\nusemtl b\nf 2 3 4\n",
    )
    .unwrap_or_default();
    let v: Vec<_> = d.triangles.iter().map(|t| t.map(|c| c.v)).collect();
    assert_eq!(v, [[3, 1, 2], [2, 1, 3], [1, 2, 3]]);
    assert_eq!((d.positions.len(), d.positions[0]), (5, [9.0; 3]));
    assert_eq!(d.materials, ["b", "a"]);
    assert_eq!(d.triangle_materials, [0, 1, 0]);
}

#[test]
fn what_other_programs_write_is_read() {
    let bodies = [
        "v 0 0 0 0\nv 1 0 0 0.5\nv 0 1 0 1 1\nf 1 2 3\n",
        "v 0 0 0 1 0 0\nv 1 0 0\nv 0 1 0 1 2 3 4\nf 1 2 3 # a comment\n",
        "f 1 2 3\nusemtl\nf 3 2 1\nusemtl\tb\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 1\n",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nl x\nf 1/ 2/ 3/\n#é\n",
    ];
    for text in bodies {
        let d = parse_text(text);
        assert!(d.is_ok_and(|d| !d.triangles.is_empty()), "{text:?}");
    }
}

#[test]
fn corners_before_the_first_vertex_are_an_error() {
    for corner in ["-4", "0", "-9223372036854775808"] {
        let e = parse_text(&format!("{LISTS}f {corner} 2/1/1 3/1/1\n")).err();
        let expected = format!("a.obj:6: `{corner}` is not a face corner");
        assert!(e.is_some_and(|e| e.starts_with(&expected)), "{corner}");
    }
}

const LISTS: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 1 1\nvn 0 0 1\n";

#[test]
fn attributes_that_no_list_has_are_missing_and_warned_of_once() {
    for missing in ["2", "0", "-2", "-9223372036854775808", "9223372036854775807"] {
        let d = parse_text(&format!("{LISTS}f 1/{missing}/1 2/1/{missing} 3/1/{missing}\n")).unwrap_or_default();
        let corners = d.triangles.as_flattened();
        let uvs: Vec<f32> = corners.iter().map(|c| d.uvs[c.vt as usize][0]).collect();
        let normals: Vec<f32> = corners.iter().map(|c| d.normals[c.vn as usize][2]).collect();
        assert_eq!((&uvs[..], &normals[..]), (&[0.0, 1.0, 1.0][..], &[1.0, 0.0, 0.0][..]), "{missing}");
        let told = [
            "a.obj:6: the face uses a texture coordinate that the file does not have: 1 corners get 0,0",
            "a.obj:6: the face uses a normal that the file does not have: 2 corners get one of their faces",
        ];
        assert_eq!(d.warnings, told, "{missing}");
    }
    let d = parse_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1/1/1 2/1/1 3/1/1\n").unwrap_or_default();
    assert!(d.warnings.len() == 2 && d.triangles[0].iter().all(|c| (c.vt, c.vn) == (NONE, NONE)), "{d:?}");
}

#[test]
fn what_is_not_finite_is_left_out_or_replaced_where_it_is_used() {
    let unused = parse_text("v nan nan nan\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt inf 0\nf 2 3 4\n").unwrap_or_default();
    assert_eq!((unused.warnings.len(), unused.positions.len(), unused.triangles[0][0].v), (0, 3, 0));
    let quads = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 1e39 0\nvt nan 0\nvn 0 0 0\n\
                 f 1 2 3 5\nusemtl b\nf 1/1/1 2 3\nf 5 3 4\nf 1 3 4\n";
    let d = parse_text(quads).unwrap_or_default();
    assert_eq!((d.triangles.len(), &d.triangle_materials[..], d.positions.len()), (2, &[0, 0][..], 4));
    assert_eq!(d.uvs[d.triangles[0][0].vt as usize], [0.0; 2]);
    let told = [
        "a.obj:5: this vertex is not finite: 2 faces with such vertices are left out",
        "a.obj:6: this texture coordinate is not finite: 1 corners with such ones get 0,0",
        "a.obj:7: this normal has no direction: 1 corners with such ones get one of their faces",
    ];
    assert_eq!(d.warnings, told);
}

#[test]
fn concave_faces_keep_their_material_and_attributes() {
    let l = "v 1 0 0\nv 1 .25 0\nv .25 .25 0\nv .25 1 0\nv 0 1 0\nv 0 0 0\nvt 5\nf 1 2 3 4 5/1 6\nusemtl b\nf 1 2 3\n";
    let d = parse_text(l).unwrap_or_default();
    let area = |t: &[Corner; 3]| {
        let [a, b, c] = t.map(|c| glam::Vec3::from(d.positions[c.v as usize]));
        (b - a).cross(c - a).z / 2.0
    };
    let (_, last) = d.triangles.split_at(d.triangles.len() - 1);
    assert!((d.triangles.iter().map(area).sum::<f32>() - area(&last[0]) - 0.4375).abs() < 1e-6);
    assert!(d.triangles[..4].iter().all(|t| area(t) > 0.0));
    assert_eq!(d.triangle_materials, [NONE, NONE, NONE, NONE, 0]);
    let tips: Vec<f32> =
        d.triangles.as_flattened().iter().filter(|c| c.v == 4).map(|c| d.uvs[c.vt as usize][0]).collect();
    assert!(!tips.is_empty() && tips.iter().all(|&u| u == 5.0));
}

/// Every error has a line number.
fn assert_sound_or_one_line(bytes: &[u8]) {
    match scan::scan(Path::new("a.obj"), Pieces::of(bytes)) {
        Ok(d) => {
            let below = |i: u32, n: usize| (i as usize) < n || (n == 0 && i == NONE);
            let sound = |c: &Corner| {
                (c.v as usize) < d.positions.len() && below(c.vt, d.uvs.len()) && below(c.vn, d.normals.len())
            };
            assert!(d.triangles.as_flattened().iter().all(sound));
            assert_eq!(d.triangles.len(), d.triangle_materials.len());
        }
        Err(e) => assert!(matches!(e, LoadError::Line { .. }), "{e}"),
    }
}

const WORDS: [&str; 32] = [
    "v",
    "v",
    "v",
    "vt",
    "vn",
    "f",
    "f",
    "f",
    "usemtl",
    "mtllib",
    "o",
    "g",
    "l",
    "p",
    "0",
    "1",
    "1",
    "2",
    "-1",
    "-3",
    "1/1",
    "2/-1",
    "1//1",
    "1//-2",
    "1/1/1",
    "-1/-1/-1",
    "nan",
    "1e39",
    "#",
    "\\",
    "é\t",
    "18446744073709551615",
];

proptest! {
    #![proptest_config(throng_testing::same_cases(256))]

    #[test]
    fn mutated_files_never_panic(edits in prop::collection::vec((0usize..200, any::<u8>()), 1..8)) {
        let mut bytes = b"mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvn 0 0 1\nusemtl x\nf 1/1/1 2/1/1 -1//1\n".to_vec();
        for (at, value) in edits {
            let n = bytes.len();
            bytes[at % n] = value;
        }
        assert_sound_or_one_line(&bytes);
    }

    #[test]
    fn files_of_random_words_never_panic(
        lines in prop::collection::vec(prop::collection::vec(prop::sample::select(&WORDS), 1..6), 1..5),
    ) {
        let lines: Vec<String> = lines.iter().map(|words| words.join(" ")).collect();
        let lists = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvn 0 0 1\nf 1 2 3\n";
        assert_sound_or_one_line(lines.join("\n").as_bytes());
        assert_sound_or_one_line(format!("{lists}{}", lines.join("\n")).as_bytes());
    }
}

/// A cube between -1 and 1, with texture coordinates that differ between its first face and the others.
const CUBE: &str = "v -1 -1 -1\nv 1 -1 -1\nv -1 1 -1\nv 1 1 -1\nv -1 -1 1\nv 1 -1 1\nv -1 1 1\nv 1 1 1\nvt 0 0\nvt 1 1\n\
    usemtl a\nf 1/2 3/2 4/2 2/2\nf 3/1 7/1 8/1 4/1\nf 7/1 5/1 6/1 8/1\nusemtl b\nf 5/1 1/1 2/1 6/1\nf 3/1 1/1 5/1 7/1\nf 8/1 6/1 2/1 4/1\n";

fn subdivided(text: &str, subdivision: Subdivision) -> Result<MeshSource, String> {
    subdivided_by(text, subdivision, SubdivisionScheme::CatmullClark)
}

fn subdivided_by(text: &str, subdivision: Subdivision, scheme: SubdivisionScheme) -> Result<MeshSource, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.obj");
    std::fs::write(&path, text).unwrap();
    let options = MeshOptions { smooth_angle: 1.0, subdivision: Some(subdivision), scheme, points: true };
    let parsed = Obj.parse(&path, &options, &[]).map_err(|error| error.to_string())?;
    let source = parsed.into_source("a", None, Wrap::Repeat, &mut Materials::default());
    source.map(|(source, _)| source).map_err(|error| error.to_string())
}

#[test]
fn polygons_are_subdivided_with_their_seams_and_materials() {
    let source = subdivided(CUBE, Subdivision::Level(2)).unwrap();
    let mesh = source.mesh.triangles().unwrap();
    assert_eq!((mesh.triangles.len(), source.materials.len(), source.cage.is_none()), (192, 2, true));
    assert_eq!(mesh.slots.iter().filter(|slot| **slot == 0).count(), 96);
    // The border of the first face has 16 vertices twice.
    assert_eq!(mesh.positions.len(), 98 + 16);
    let is_limit = |p: &&[f32; 3]| p.iter().all(|x| (x.abs() - 0.5).abs() < 1e-6);
    assert_eq!(mesh.positions.iter().filter(is_limit).count(), 8 + 4);
    assert_eq!(source.points().0.len(), mesh.positions.len(), "copies are scattered on the surface");
    assert_eq!(subdivided(CUBE, Subdivision::Level(0)).unwrap().mesh.prim_count(), 12);
    assert!(subdivided(CUBE, Subdivision::Auto).unwrap().cage.is_some());
    let error = subdivided("v 0 0 0\nv nan 0 0\nv 0 1 0\nf 1 2 3\n", Subdivision::Level(1)).err().unwrap();
    assert!(error.contains("a.obj:2: this vertex is not finite, and its neighbours cannot be subdivided"), "{error}");
}

#[test]
fn loops_scheme_divides_triangles_into_triangles() {
    let by = |level: u32| subdivided_by(CUBE, Subdivision::Level(level), SubdivisionScheme::Loop).unwrap();
    for level in 1..4 {
        let source = by(level);
        let mesh = source.mesh.triangles().unwrap();
        assert_eq!(mesh.triangles.len(), 12 << (2 * level), "the faces of the cube are two triangles each");
        // The limit of a corner with five neighbours: between the corner and its neighbours' mean.
        let most = mesh.positions.as_flattened().iter().fold(0.0_f32, |most, x| most.max(x.abs()));
        assert!((0.5..0.95).contains(&most), "{most}");
    }
}
