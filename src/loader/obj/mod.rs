//! Wavefront OBJ: lists and triangles in file order (`scan`), made a renderable mesh (`mesh`) with the materials of its MTL files
//! (`materials`, `mtl`).

mod lines;
mod materials;
pub mod mesh;
mod mtl;
pub mod polylines;
mod scan;

use super::{
    LoadError, budget, files,
    folders::Folders,
    materials::Materials,
    meshes::{MeshFormat, MeshOptions, MeshSource, ParsedMesh},
};
use crate::scene::{NONE, Wrap};
use materials::MtlMaterials;
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

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
    /// The file's UVs and, if there are any, a zero at the end.
    pub uvs: Vec<[f32; 2]>,
    /// The file's normals and, if there are any, a zero at the end.
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

impl ObjData {
    /// Makes positions with the same bits one, and gives corners without UV or normal a zero one if others have them.
    fn complete(&mut self) {
        let mut first_of = HashMap::with_capacity(self.positions.len());
        let positions = (0..).zip(&self.positions);
        let first = positions.map(|(i, p)| *first_of.entry(p.map(f32::to_bits)).or_insert(i));
        let first: Vec<u32> = first.collect();
        let zero_uv = zero_at_the_end(&mut self.uvs);
        let zero_normal = zero_at_the_end(&mut self.normals);
        for corner in self.triangles.as_flattened_mut() {
            corner.v = first[corner.v as usize];
            corner.vt = corner.vt.min(zero_uv);
            corner.vn = corner.vn.min(zero_normal);
        }
    }
}

/// Index of a zero that is added to the list, or [`NONE`] if the list is empty.
fn zero_at_the_end<const N: usize>(list: &mut Vec<[f32; N]>) -> u32 {
    if list.is_empty() {
        return NONE;
    }
    list.push([0.0; N]);
    list.len() as u32 - 1
}

/// The format of `.obj` files.
pub struct Obj;

impl MeshFormat for Obj {
    fn extension(&self) -> &'static str {
        "obj"
    }

    /// A missing MTL file is only a warning.
    fn parse(&self, path: &Path, options: &MeshOptions, allow: &[PathBuf]) -> Result<Box<dyn ParsedMesh>, LoadError> {
        let data = scan::scan(path, &files::read(path)?)?;
        let built = mesh::build(&data, options.smooth_angle);
        if built.mesh.triangles.is_empty() {
            return Err(LoadError::file(path, "there are no faces with an area in it: export a mesh with faces"));
        }
        let mut warnings = Vec::new();
        let mut warn = |n: usize, what: &str| {
            if n > 0 {
                warnings.push(format!("{}: {n} {what}", path.display()));
            }
        };
        warn(data.ignored, "points, lines or faces with fewer than 3 corners are ignored");
        warn(built.dropped, "triangles without area are left out");
        let materials = MtlMaterials::read(&data, Folders::of(path, allow), &mut warnings)?;
        Ok(Box::new(ParsedObj { data, built, materials, warnings }))
    }
}

/// An OBJ file with its MTL files.
struct ParsedObj {
    data: ObjData,
    built: mesh::ObjMesh,
    materials: MtlMaterials,
    warnings: Vec<String>,
}

impl ParsedMesh for ParsedObj {
    fn bytes(&self) -> u64 {
        let mesh = &self.built.mesh;
        budget::of_mesh(mesh.positions.len(), mesh.triangles.len())
    }

    fn into_source(
        mut self: Box<Self>,
        name: &str,
        replacement: Option<u32>,
        wrap: Wrap,
        table: &mut Materials,
    ) -> Result<(MeshSource, Vec<String>), LoadError> {
        let mut rows = Vec::with_capacity(self.built.slot_materials.len());
        for &slot in &self.built.slot_materials {
            rows.push(match replacement {
                Some(row) => row,
                None => {
                    let material = self.data.materials.get(slot as usize);
                    let warnings = &mut self.warnings;
                    self.materials.enter(material, wrap, table, warnings)?
                }
            });
        }
        let faces = mesh::position_triangles(&self.data);
        let (mesh, points) = (self.built.mesh, self.data.positions);
        let source = MeshSource::of_triangles(name, mesh, rows, points, faces);
        Ok((source, self.warnings))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse_text(text: &str) -> Result<ObjData, String> {
        scan::scan(Path::new("a.obj"), text.as_bytes()).map_err(|e| e.to_string())
    }

    #[test]
    fn polygons_become_fans_and_negative_indices_count_back() {
        let d = parse_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf -4 -3 -2 -1 # quad\nl 1 2\np 1\nf 1 2\n")
            .unwrap_or_default();
        let v: Vec<_> = d.triangles.iter().map(|t| t.map(|c| c.v)).collect();
        assert_eq!(v, [[0, 1, 2], [0, 2, 3]]);
        assert_eq!(d.ignored, 3);
    }

    #[test]
    fn triangles_are_those_that_tobj_reads() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/dragon.obj");
        let d = scan::scan(&path, &files::read(&path).unwrap()).unwrap();
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
            ("v 0 nan 0\n", "a.obj:1: `nan` is not finite"),
            ("v 0 1e39 0\n", "a.obj:1: `1e39` is not finite"),
            ("v 0 0 0\n\nf 1 2 3\n", "a.obj:3: the face uses vertex 2, but the file has 1"),
            ("v 0 0 0\nf 1/1 1/1 1/1\n", "a.obj:2: the face uses texture coordinate 1, but the file has 0"),
            ("v 0 0 0\nf 1//9223372036854775807 1 1\n", "a.obj:2: `1//9223372036854775807` is not a face corner"),
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
        let d =
            parse_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 1 1\nvn 0 0 1\nf 1/1/1 2 3//1\nf 1 2/1 3\n").unwrap_or_default();
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
    fn corners_before_the_first_are_an_error() {
        let lists = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvn 0 0 1\n";
        for corner in ["1/-2", "1/-3", "1//-3", "-4", "1/0", "1//-9223372036854775808"] {
            let e = parse_text(&format!("{lists}f {corner} 2/1/1 3/1/1\n")).err();
            let expected = format!("a.obj:6: `{corner}` is not a face corner");
            assert!(e.is_some_and(|e| e.starts_with(&expected)), "{corner}");
        }
    }

    /// Every fault has a line number.
    fn assert_sound_or_one_line(bytes: &[u8]) {
        match scan::scan(Path::new("a.obj"), bytes) {
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
