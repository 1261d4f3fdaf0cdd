use super::*;
use flate2::{Compression, write::DeflateEncoder};
use std::io::Write;

fn npy(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), data].concat()
}

fn floats(shape: &str, values: &[f32]) -> Vec<u8> {
    npy("<f4", shape, bytemuck::cast_slice(values))
}

/// A ZIP archive of these entries, as Python's `zipfile` writes it.
fn zip(entries: &[(&str, Vec<u8>)], is_deflated: bool) -> Vec<u8> {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in entries {
        let packed = match is_deflated {
            true => {
                let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
                encoder.write_all(content).unwrap();
                encoder.finish().unwrap()
            }
            false => content.clone(),
        };
        let start = file.len() as u32;
        let method = if is_deflated { 8_u16 } else { 0 };
        let mut fields = [&[20, 0, 0, 0], &method.to_le_bytes()[..], &[0; 8]].concat();
        fields.extend([packed.len() as u32, content.len() as u32].map(u32::to_le_bytes).as_flattened());
        fields.extend([name.len() as u16, 0].map(u16::to_le_bytes).as_flattened());
        file.extend([b"PK\x03\x04", &fields[..], name.as_bytes(), &packed].concat());
        directory
            .extend([b"PK\x01\x02\x14\x00", &fields[..], &[0; 10], &start.to_le_bytes(), name.as_bytes()].concat());
    }
    let counts = [entries.len() as u16; 2].map(u16::to_le_bytes);
    let places = [directory.len() as u32, file.len() as u32].map(u32::to_le_bytes);
    let end = [b"PK\x05\x06\0\0\0\0", counts.as_flattened(), places.as_flattened(), &[0, 0]].concat();
    [file, directory, end].concat()
}

fn read_bytes(name: &str, bytes: &[u8]) -> Result<Strands, String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    read(&path, &Budget::new(None)).map_err(|error| error.message().to_owned())
}

const POINTS: [f32; 18] = [0., 0., 0., 0., 1., 0., 1., 0., 0., 1., 1., 0., 1., 2., 0., 9., 9., 9.];

#[test]
fn caches_have_counts_or_strands_of_equal_length() {
    let counts = npy("<i8", "(2,)", bytemuck::cast_slice(&[2_i64, 4]));
    let entries = [
        ("points.npy", floats("(6, 3)", &POINTS)),
        ("counts.npy", counts),
        ("widths.npy", floats("(2,)", &[0.1, 0.2])),
        ("colors.npy", floats("(1, 4)", &[1.0, 0.5, 0.25, 0.5])),
        ("uvs.npy", floats("(6, 2)", &[0.5; 12])),
        ("other.npy", b"no array".to_vec()),
    ];
    for is_deflated in [false, true] {
        let strands = read_bytes("a.npz", &zip(&entries, is_deflated)).unwrap();
        assert_eq!((&strands.counts[..], strands.points(), strands.frames.len()), (&[2, 4][..], 6, 1));
        assert_eq!(strands.frames[0][4], [1.0, 2.0, 0.0]);
        let interpolations = (
            strands.widths.unwrap().interpolation,
            strands.colors.unwrap().interpolation,
            strands.uvs.unwrap().interpolation,
        );
        assert_eq!(interpolations, (Interpolation::Uniform, Interpolation::Constant, Interpolation::Vertex));
        assert_eq!(strands.opacities.unwrap().values, [0.5]);
    }
    let plain = read_bytes("a.npy", &floats("(3, 2, 3)", &POINTS)).unwrap();
    let doubles = npy("<f8", "(3, 2, 3)", bytemuck::cast_slice(&POINTS.map(f64::from)));
    let halves = npy("<f2", "(3, 2, 3)", bytemuck::cast_slice(&POINTS.map(|x| half::f16::from_f32(x).to_bits())));
    let bytes = npy("|u1", "(3, 2, 3)", &POINTS.map(|x| x as u8));
    assert!([doubles, halves, bytes].iter().all(|file| read_bytes("a.npy", file).unwrap() == plain));
    assert_eq!((&plain.counts[..], plain.widths), (&[2, 2, 2][..], None));
    let moving = read_bytes("a.npy", &floats("(2, 1, 3, 3)", &POINTS)).unwrap();
    assert_eq!((&moving.counts[..], moving.frames.len(), moving.frames[1][0]), (&[3][..], 2, [1.0, 1.0, 0.0]));
}

#[test]
fn caches_that_do_not_fit_are_errors_with_a_remedy() {
    let fault = |entries: &[(&str, Vec<u8>)]| read_bytes("a.npz", &zip(entries, false)).unwrap_err();
    let points = || ("points.npy", floats("(6, 3)", &POINTS));
    let counts =
        |counts: &[i64]| ("counts.npy", npy("<i8", &format!("({},)", counts.len()), bytemuck::cast_slice(counts)));
    assert!(fault(&[counts(&[1])]).contains("no array `points`"));
    assert!(fault(&[points()]).contains("the shape of the points is [6, 3]: write (strands, n, 3)"));
    assert!(fault(&[points(), counts(&[2, 5])]).contains("needs 7 points in 1 frames, but there are 6"));
    assert!(fault(&[points(), counts(&[-1])]).contains("no list of numbers of points"));
    assert!(
        fault(&[points(), counts(&[6]), ("widths.npy", floats("(3,)", &[1.0; 3]))])
            .contains("`widths` has the shape [3]")
    );
    assert!(
        fault(&[points(), counts(&[6]), ("times.npy", floats("(2,)", &[0.0, 1.0]))]).contains("must be 1 ascending")
    );
    assert!(fault(&[("points.npy", floats("(7, 3)", &POINTS))]).contains("does not fit 72 bytes"));
    assert!(fault(&[("points.npy", npy("<c8", "(1,)", &[0; 8]))]).contains("is of `<c8`"));
    assert!(read_bytes("a.npz", b"PK").unwrap_err().contains("no complete ZIP archive"));
    assert!(
        read_bytes("a.npy", &npy("<f4", "(1099511627776, 0, 3)", &[])).unwrap_err().contains("there are no strands")
    );
    let whole = zip(&[points(), counts(&[6])], true);
    for length in 0..whole.len() {
        assert!(read_bytes("a.npz", &whole[..length]).is_err(), "{length}");
    }
}

/// A .hair file of two strands with 1 and 3 segments.
fn hair(arrays: u32) -> Vec<u8> {
    let mut file = b"HAIR".to_vec();
    file.extend([2_u32, 6, arrays, 2].map(u32::to_le_bytes).as_flattened());
    file.extend([0.25_f32, 0.5, 1.0, 0.5, 0.0].map(f32::to_le_bytes).as_flattened());
    file.resize(128, 0);
    if arrays & 1 != 0 {
        file.extend([1_u16, 3].map(u16::to_le_bytes).as_flattened());
    }
    file.extend(POINTS.map(f32::to_le_bytes).as_flattened());
    if arrays & 4 != 0 {
        file.extend([0.1_f32; 6].map(f32::to_le_bytes).as_flattened());
    }
    file
}

#[test]
fn hair_files_have_strands_thicknesses_and_colours() {
    let strands = read_bytes("a.hair", &hair(1 | 2 | 4)).unwrap();
    assert_eq!((&strands.counts[..], strands.widths.unwrap().values.len()), (&[2, 4][..], 6));
    assert_eq!(strands.frames[0][5], [9.0; 3]);
    assert_eq!(strands.colors.unwrap().values, [[1.0, throng_base::math::linear_from_srgb(0.5), 0.0]]);
    let uniform = read_bytes("a.hair", &hair(2)).unwrap();
    assert_eq!((&uniform.counts[..], uniform.widths.unwrap().values), (&[3, 3][..], vec![0.25]));
    assert_eq!(uniform.opacities.unwrap().values, [0.5]);
}

#[test]
fn damaged_hair_files_are_errors() {
    let whole = hair(1 | 2 | 4);
    for length in 0..whole.len() {
        assert!(read_bytes("a.hair", &whole[..length]).is_err(), "{length}");
    }
    let mut giant = hair(2);
    giant[4..12].copy_from_slice(&[0xff; 8]);
    giant[16..20].copy_from_slice(&[0; 4]);
    assert!(read_bytes("a.hair", &giant).unwrap_err().contains("ends early"));
    let mut odd = hair(2);
    odd[16] = 7;
    assert!(read_bytes("a.hair", &odd).unwrap_err().contains("2 strands of 7 segments do not have 6 points"));
}

#[test]
fn lines_of_obj_files_are_strands() {
    let strands = read_bytes("a.obj", b"v 0 0 0\nv 1 0 0\nv 2 0 0\nl 1 2\nl 3 1\n").unwrap();
    assert_eq!((&strands.counts[..], strands.frames[0][2]), (&[2, 2][..], [2.0, 0.0, 0.0]));
    assert!(read_bytes("a.obj", b"v 0 0 0\n").unwrap_err().contains("there are no lines"));
}
