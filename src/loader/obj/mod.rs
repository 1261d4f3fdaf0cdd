//! Wavefront OBJ: geometry and material assignment as tobj parses them, with positions in file order.
//!
//! `scan` finds the faults of a file; `mesh` makes a renderable mesh of the result.

mod lines;
pub mod mesh;
pub mod mtl;
mod scan;

use super::{LoadError, files};
use crate::{guard::guarded, scene::NONE};
use scan::ObjScan;
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};
use tobj::{LoadOptions, Mesh, Model};

/// One corner of a face: indices into [`ObjData`]'s lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corner {
    /// The first of the positions with the same bits.
    pub v: u32,
    /// [`NONE`] when the whole file has no UVs; a zero UV where only this corner has none.
    pub vt: u32,
    /// [`NONE`] when the whole file has no normals; a zero normal where only this corner has none.
    pub vn: u32,
}

/// The content of an OBJ file. All indices are valid and all numbers finite.
#[derive(Debug, Default)]
pub struct ObjData {
    pub path: PathBuf,
    /// Every `v` in file order.
    pub positions: Vec<[f32; 3]>,
    /// UVs in use; one may be there more than once.
    pub uvs: Vec<[f32; 2]>,
    /// Normals in use; one may be there more than once.
    pub normals: Vec<[f32; 3]>,
    /// Fans of the file's polygons, in file order.
    pub triangles: Vec<[Corner; 3]>,
    /// Index into `materials` of each triangle, or [`NONE`].
    pub triangle_materials: Vec<u32>,
    /// Names after `usemtl`, each once, in order of first use.
    pub materials: Vec<String>,
    /// Files after `mtllib`, as written, with the line that names them.
    pub libraries: Vec<(usize, String)>,
    /// Number of `p` and `l` elements and of faces with fewer than 3 corners, all left out.
    pub ignored: usize,
}

/// Reads a whole OBJ file.
///
/// # Errors
/// When it cannot be read, a line is malformed, an index points nowhere or a number is not finite.
pub fn read(path: &Path) -> Result<ObjData, LoadError> {
    parse(path, &files::read(path)?)
}

/// As [`read`], from bytes; `path` is for messages.
pub fn parse(path: &Path, bytes: &[u8]) -> Result<ObjData, LoadError> {
    let scan = scan::scan(path, bytes)?;
    let read = || models(&scan).map_err(|e| LoadError::file(path, e.to_string()));
    let panicked = |words: &str| LoadError::file(path, format!("the file is damaged: {words}"));
    let (models, place_of) = rayon::join(|| guarded(read, panicked), || places(&scan.positions));
    let models = models?;
    let mut data = ObjData {
        path: path.into(),
        materials: in_order(scan.materials),
        positions: scan.positions,
        libraries: scan.libraries,
        ignored: scan.ignored,
        ..ObjData::default()
    };
    for model in &models {
        data.append(&model.mesh, &place_of)
            .ok_or_else(|| LoadError::file(path, "the geometry cannot be read"))?;
    }
    Ok(data)
}

/// The file in tobj's form: one model for each run of faces with the same material.
fn models(scan: &ObjScan) -> Result<Vec<Model>, tobj::LoadError> {
    let options = LoadOptions {
        triangulate: true,
        ..LoadOptions::default()
    };
    let names = |_: &Path| Ok((Vec::new(), scan.materials.clone()));
    let (models, _) = tobj::load_obj_buf(&mut scan.restated(), &options, names)?;
    Ok(models)
}

/// Maps the bits of each position to the index of the first position that has them.
fn places(positions: &[[f32; 3]]) -> HashMap<[u32; 3], u32> {
    let mut places = HashMap::with_capacity(positions.len());
    for (i, p) in positions.iter().enumerate() {
        places.entry(p.map(f32::to_bits)).or_insert(i as u32);
    }
    places
}

fn in_order(materials: HashMap<String, usize>) -> Vec<String> {
    let mut names: Vec<_> = materials.into_iter().collect();
    names.sort_unstable_by_key(|(_, index)| *index);
    names.into_iter().map(|(name, _)| name).collect()
}

impl ObjData {
    /// Adds a triangulated mesh; `None` when one of its positions is not in the file.
    fn append(&mut self, mesh: &Mesh, place_of: &HashMap<[u32; 3], u32>) -> Option<()> {
        let places: Vec<u32> = triples(&mesh.positions)
            .iter()
            .map(|p| place_of.get(&p.map(f32::to_bits)).copied())
            .collect::<Option<_>>()?;
        let shifted =
            |list: &[u32], i: usize, by: usize| list.get(i).map_or(NONE, |x| x + by as u32);
        let (uvs, normals) = (self.uvs.len(), self.normals.len());
        let corner = |i: usize| Corner {
            v: places[mesh.indices[i] as usize],
            vt: shifted(&mesh.texcoord_indices, i, uvs),
            vn: shifted(&mesh.normal_indices, i, normals),
        };
        let triangles = 0..mesh.indices.len() / 3;
        self.triangles
            .extend(triangles.map(|t| [0, 1, 2].map(|k| corner(3 * t + k))));
        self.uvs.extend_from_slice(mesh.texcoords.as_chunks().0);
        self.normals.extend_from_slice(triples(&mesh.normals));
        let material = mesh.material_id.map_or(NONE, |m| m as u32);
        self.triangle_materials
            .resize(self.triangles.len(), material);
        Some(())
    }
}

fn triples(flat: &[f32]) -> &[[f32; 3]] {
    flat.as_chunks().0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse_text(text: &str) -> Result<ObjData, String> {
        parse(Path::new("a.obj"), text.as_bytes()).map_err(|e| e.to_string())
    }

    #[test]
    fn polygons_become_fans_and_negative_indices_count_back() {
        let d = parse_text(
            "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf -4 -3 -2 -1 # quad\nl 1 2\np 1\nf 1 2\n",
        )
        .unwrap_or_default();
        let v: Vec<_> = d.triangles.iter().map(|t| t.map(|c| c.v)).collect();
        assert_eq!(v, [[0, 1, 2], [0, 2, 3]]);
        assert_eq!(d.ignored, 3);
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
            ("v 0 nan 0\n", "a.obj:1: `nan` is not finite"),
            ("v 0 1e39 0\n", "a.obj:1: `1e39` is not finite"),
            (
                "v 0 0 0\n\nf 1 2 3\n",
                "a.obj:3: the face uses vertex 2, but the file has 1",
            ),
            (
                "v 0 0 0\nf 1/1 1/1 1/1\n",
                "a.obj:2: the face uses texture coordinate 1, but the file has 0",
            ),
            (
                "v 0 0 0\nf 1//9223372036854775807 1 1\n",
                "a.obj:2: `1//9223372036854775807` is not a face corner",
            ),
            ("v 0 0 0\nf 1 -2 1\n", "a.obj:2: `-2` is not a face corner"),
            ("v 0 0 0\nf 0 1 1\n", "a.obj:2: `0` is not a face corner"),
            (
                "v 0 0 0\nf 1/1/1/1 1 1\n",
                "a.obj:2: `1/1/1/1` is not a face corner",
            ),
        ];
        for (text, expected) in cases {
            let e = parse_text(text).err().unwrap_or_default();
            assert!(e.starts_with(expected), "{text:?}: {e}");
        }
    }

    #[test]
    fn corners_without_uv_or_normal_get_none_from_their_neighbours() {
        let d =
            parse_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 1 1\nvn 0 0 1\nf 1/1/1 2 3//1\nf 1 2/1 3\n")
                .unwrap_or_default();
        let corners = d.triangles.as_flattened();
        let uvs: Vec<_> = corners.iter().map(|c| d.uvs[c.vt as usize][0]).collect();
        let normals: Vec<_> = corners
            .iter()
            .map(|c| d.normals[c.vn as usize][2])
            .collect();
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
    fn what_tobj_alone_would_refuse_is_read() {
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
    fn what_tobj_alone_would_panic_on_or_guess_is_an_error() {
        let lists = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvn 0 0 1\n";
        for corner in [
            "1/-2",
            "1/-3",
            "1//-3",
            "-4",
            "1/0",
            "1//-9223372036854775808",
        ] {
            let e = parse_text(&format!("{lists}f {corner} 2/1/1 3/1/1\n")).err();
            let expected = format!("a.obj:6: `{corner}` is not a face corner");
            assert!(e.is_some_and(|e| e.starts_with(&expected)), "{corner}");
        }
    }

    /// All faults are the scan's: none is left for tobj, which has no line numbers.
    fn assert_sound_or_one_line(bytes: &[u8]) {
        match parse(Path::new("a.obj"), bytes) {
            Ok(d) => {
                let below = |i: u32, n: usize| (i as usize) < n || (n == 0 && i == NONE);
                let sound = |c: &Corner| {
                    (c.v as usize) < d.positions.len()
                        && below(c.vt, d.uvs.len())
                        && below(c.vn, d.normals.len())
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
        #![proptest_config(crate::testing::same_cases(256))]

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
}
