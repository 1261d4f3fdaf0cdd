use super::*;
use glam::{Affine3, Quat, Vec3};
use proptest::prelude::*;
use std::fs;
use tempfile::TempDir;
use throng_scene::TablePosition;

const OPTIONS: TableOptions = TableOptions {
    fps: None,
    scene_fps: 10.0,
    start: 1.0,
    ends: Ends::Hold,
    order: QuaternionOrder::Xyzw,
    up: UpAxis::Y,
};

/// Frames of two instances.
const FRAMES: usize = 3;

/// The transform of an instance in a frame.
fn expected(frame: usize, instance: usize) -> Affine3 {
    let (f, i) = (frame as f32, instance as f32);
    let rotation = Quat::from_rotation_y(0.25 * f + i);
    Affine3::from_scale_rotation_translation(Vec3::splat(1.0 + i), rotation, Vec3::new(f, i, f * i - 1.0))
}

/// An array in NumPy's format.
fn npy(descr: &str, is_fortran: bool, shape: &[usize], numbers: &[f64]) -> Vec<u8> {
    let sides = Vec::from_iter(shape.iter().map(usize::to_string)).join(", ");
    let word = if is_fortran { "True" } else { "False" };
    let header = format!("{{'descr': '{descr}', 'fortran_order': {word}, 'shape': ({sides}), }}\n");
    let mut bytes = [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes()].concat();
    for number in numbers {
        let mut own =
            if descr.ends_with('8') { number.to_le_bytes().to_vec() } else { (*number as f32).to_le_bytes().to_vec() };
        if descr.starts_with('>') {
            own.reverse();
        }
        bytes.extend(own);
    }
    bytes
}

/// Numbers in C order, in Fortran order.
fn fortran(shape: &[usize], numbers: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; numbers.len()];
    for (index, number) in numbers.iter().enumerate() {
        let (mut rest, mut place, mut stride) = (index, 0, 1);
        let digits: Vec<usize> = shape.iter().rev().map(|&side| (rest % side, rest /= side).0).collect();
        for (digit, side) in digits.iter().rev().zip(shape) {
            place += digit * stride;
            stride *= side;
        }
        out[place] = *number;
    }
    out
}

fn rows(of: impl Fn(&Affine3) -> Vec<f64>) -> Vec<f64> {
    (0..FRAMES).flat_map(|frame| (0..2).map(move |instance| expected(frame, instance))).flat_map(|at| of(&at)).collect()
}

fn matrix(transform: &Affine3) -> Vec<f64> {
    let m = transform.matrix3;
    let row = |r: usize| [m.x_axis[r], m.y_axis[r], m.z_axis[r], transform.translation[r]];
    [0, 1, 2].into_iter().flat_map(row).map(f64::from).collect()
}

fn square(transform: &Affine3) -> Vec<f64> {
    [matrix(transform), vec![0.0, 0.0, 0.0, 1.0]].concat()
}

fn parts(transform: &Affine3, scales: usize) -> Vec<f64> {
    let (scale, rotation, translation) = transform.to_scale_rotation_translation();
    let all = [&translation.to_array()[..], &rotation.to_array(), &scale.to_array()].concat();
    all[..7 + scales].iter().map(|number| f64::from(*number)).collect()
}

fn load_bytes(name: &str, bytes: &[u8], options: &TableOptions) -> Result<LoadedTable, String> {
    let dir = tempfile::tempdir().unwrap();
    load_in(&dir, name, bytes, options)
}

fn load_in(dir: &TempDir, name: &str, bytes: &[u8], options: &TableOptions) -> Result<LoadedTable, String> {
    let path = dir.path().join(name);
    fs::write(&path, bytes).unwrap();
    let folder = format!("{}/", dir.path().display());
    load(&path, options, &Budget::new(None)).map_err(|error| error.to_string().replace(&folder, ""))
}

fn fault(name: &str, bytes: impl AsRef<[u8]>) -> String {
    load_bytes(name, bytes.as_ref(), &OPTIONS).err().unwrap_or_default()
}

/// The transform of an instance at a time at which the table has a frame. None if it is not there.
fn at(table: &PlacementTable, time: f64, instance: u32) -> Option<Affine3> {
    let TablePosition { from, share, .. } = table.position(time);
    assert!(share == 0.0, "{time}");
    let pose = table.pose(&table.rows(from), instance)?;
    pose.placed(&Affine3::IDENTITY, &Affine3::IDENTITY)
}

fn check(loaded: &LoadedTable, what: &str) {
    assert_eq!(loaded.first.len(), 2, "{what}");
    for (frame, instance) in (0..FRAMES).flat_map(|frame| [(frame, 0), (frame, 1)]) {
        let found = at(&loaded.table, 1.0 + frame as f64 / 10.0, instance as u32).unwrap();
        assert!(found.abs_diff_eq(expected(frame, instance), 1e-5), "{what}, frame {frame}: {found}");
    }
}

/// The rows of [`expected`] as CSV, in another order than that of the frames, with these columns after the position.
fn csv(names: &str, values: impl Fn(&[f64]) -> String) -> String {
    let mut text = format!("id,frame,x,y,z,{names}\n");
    for (frame, instance) in [2, 0, 1].into_iter().flat_map(|frame| [(frame, 0), (frame, 1)]) {
        let own = parts(&expected(frame, instance), 3);
        text += &format!("agent {instance},{frame},{},{},{},{}\n", own[0], own[1], own[2], values(&own));
    }
    text
}

#[test]
fn arrays_of_every_layout_type_and_order_hold_the_same_transforms() {
    let layouts = [
        (vec![FRAMES, 2, 3, 4], rows(matrix)),
        (vec![FRAMES, 2, 4, 4], rows(square)),
        (vec![FRAMES, 2, 8], rows(|at| parts(at, 1))),
        (vec![FRAMES, 2, 10], rows(|at| parts(at, 3))),
    ];
    for (shape, numbers) in &layouts {
        for descr in ["<f4", ">f4", "<f8", ">f8"] {
            let plain = load_bytes("a.npy", &npy(descr, false, shape, numbers), &OPTIONS).unwrap();
            check(&plain, &format!("{shape:?} {descr}"));
            let other = npy(descr, true, shape, &fortran(shape, numbers));
            check(&load_bytes("a.npy", &other, &OPTIONS).unwrap(), &format!("{shape:?} {descr} in Fortran order"));
        }
    }
}

#[test]
fn texts_with_quaternions_or_yaws_and_one_or_three_scales_hold_the_same_transforms() {
    let quaternion = |at: &[f64]| format!("{},{},{},{}", at[3], at[4], at[5], at[6]);
    let yaw = |at: &[f64]| (2.0 * at[4].atan2(at[6])).to_degrees();
    let texts = [
        csv("qx,qy,qz,qw,sx,sy,sz", |at| format!("{},{},{},{}", quaternion(at), at[7], at[8], at[9])),
        csv("yaw,note,scale", |at| format!("{},\"a, b\",{}", yaw(at), at[7])),
        csv("yaw,scale", |at| format!("{},{}", yaw(at), at[7])).replace(',', ";").replace('\n', "\r\n"),
    ];
    for text in texts {
        check(&load_bytes("a.csv", text.as_bytes(), &OPTIONS).unwrap(), &text);
    }
    let objects: String = (0..FRAMES)
        .flat_map(|frame| [(frame, 0), (frame, 1)])
        .map(|(frame, instance)| {
            let own = parts(&expected(frame, instance), 1);
            let [x, y, z] = [own[0], own[1], own[2]];
            let time = frame as f64 / 10.0;
            format!(
                "{{\"time\": {time}, \"extra\": [1, {{}}], \"id\": {instance}, \"x\": {x}, \"y\": {y}, \"z\": {z}, \"yaw\": {}, \"scale\": {}}}\n\n",
                yaw(&own),
                own[7]
            )
        })
        .collect();
    check(&load_bytes("a.jsonl", objects.as_bytes(), &OPTIONS).unwrap(), &objects);
}

#[test]
fn rows_that_are_missing_empty_or_not_finite_are_not_there() {
    let text = "frame,id,x,y,z\n4,b,1,0,0\n0,a,0,0,0\n2,a,,0,0\n2,b,3,0,0\n4,a,nan,0,0\n0,c,5,5,5\n6,b,9,0,0\n";
    let options = TableOptions { fps: Some(2.0), start: 0.0, ..OPTIONS };
    let LoadedTable { table, first } = load_bytes("a.csv", text.as_bytes(), &options).unwrap();
    assert_eq!((table.shape().frames, first.len()), (4, 3), "frames are those that occur");
    let x = |time, instance| at(&table, time, instance).map(|at| at.translation.x);
    let of = |instance| [0.0, 1.0, 2.0, 3.0].map(|time| x(time, instance));
    assert_eq!(of(0), [None, Some(3.0), Some(1.0), Some(9.0)], "b has the first row");
    assert_eq!(of(1), [Some(0.0), None, None, None]);
    assert_eq!(of(2), [Some(5.0), None, None, None]);
}

#[test]
fn faults_of_arrays_are_lines_with_the_file() {
    let numbers = rows(matrix);
    let shape = [FRAMES, 2, 3, 4];
    let whole = npy("<f4", false, &shape, &numbers);
    let cut = fault("a.npy", &whole[..whole.len() - 3]);
    assert!(cut.starts_with("a.npy: the header describes 288 bytes of numbers and the file has 285"), "{cut}");
    assert!(fault("a.npy", npy("<f4", false, &[1 << 40, 1 << 20, 4, 4], &numbers)).contains("the shape is ("));
    let large = fault("a.npy", npy("<f8", false, &[4_000_000_000, 4_000_000_000, 10], &numbers));
    assert!(large.contains("describes 18446744073709551615 bytes"), "{large}");
    assert!(
        fault("a.npy", npy("<f4", false, &[3, 24], &numbers))
            .contains("the shape is (3, 24): write (frames, instances")
    );
    assert!(fault("a.npy", b"\x93NUMPY").contains("ends in its header"));
    assert!(fault("a.npy", npy("<i4", false, &shape, &numbers)).contains(".astype(numpy.float32)"));
    let nothing = fault("a.npy", npy("<f4", false, &shape, &[f64::NAN; 72]));
    assert!(nothing.contains("no instance is there in any frame"), "{nothing}");
    let upright = square(&expected(2, 1));
    let transposed: Vec<f64> = (0..16).map(|index| upright[index % 4 * 4 + index / 4]).collect();
    let transposed = fault("a.npy", npy("<f4", false, &[1, 1, 4, 4], &transposed));
    assert!(
        transposed.contains("frame 0, instance 0: the last row of the matrix is (2, 1, 1, 1) instead"),
        "{transposed}"
    );
    assert!(fault("a.txt", "").contains("write one as .npy, .csv or .jsonl"));
}

#[test]
fn faults_of_texts_have_lines() {
    let rows = |rows: &str| fault("a.csv", format!("frame,id,x,y,z\n{rows}"));
    assert_eq!(
        fault("a.csv", "t,id,x,y\n"),
        "a.csv:1: columns are missing (frame, z): the file has t, id, x, y; needed are frame or time, id, x, y and z"
    );
    let word = rows("0,a,1,2,3\n1,a,1,far,3\n");
    assert!(word.starts_with("a.csv:3: `y` is `far`, which is no number"), "{word}");
    assert!(rows("0,a,1,2\n").starts_with("a.csv:2: the row has 4 values, and the first line 5 names"));
    assert!(rows("").starts_with("a.csv: the table has no rows"));
    assert!(rows("0,,1,2,3\n").starts_with("a.csv:2: `id` is empty"));
    assert!(rows(",a,1,2,3\n").starts_with("a.csv:2: `frame` is empty"));
    assert!(rows("0.5,a,1,2,3\n").starts_with("a.csv:2: `frame` is 0.5: write a whole number"));
    let twice = rows("1,a,1,2,3\n0,b,1,2,3\n1,a,1,2,3\n0,a,1,2,3\n");
    assert_eq!(twice, "a.csv:4: `a` has a row of frame 1 in line 2 already: remove one");
    let apart = rows("0,a,1,2,3\n1,b,1,2,3\n2,a,1,2,3\n");
    assert!(apart.contains("no object has rows at two successive frames"), "{apart}");
    let timed = TableOptions { fps: Some(30.0), ..OPTIONS };
    let timed = load_bytes("a.csv", b"time,id,x,y,z\n0,a,1,2,3\n", &timed).err().unwrap_or_default();
    assert!(timed.contains("remove `fps`"), "{timed}");
}

#[test]
fn faults_of_json_lines_have_lines() {
    let first = r#"{"frame": 0, "id": "a", "x": 1, "y": 2, "z": 3}"#;
    let second = |line: &str| fault("a.jsonl", format!("{first}\n\n{line}\n"));
    assert!(second(r#"{"frame": 1, "id": "a", "x": 1, "y": 2}"#).starts_with("a.jsonl:3: `z` is missing"));
    assert!(second(r#"{"frame": 1, "id": "a", "x": "1", "y": 2, "z": 3}"#).starts_with("a.jsonl:3: `x` is a text"));
    assert!(second(r#"{"frame": 1, "id": "a", "x": NaN"#).starts_with("a.jsonl:3:"));
    assert!(second(r#"{"frame": 1, "id": "#).contains("the line ends too early"));
    assert!(second("[1]").contains("expected an object"));
    assert!(fault("a.jsonl", "").contains("no rows"));
    assert!(fault("a.jsonl", "{}\n").starts_with("a.jsonl:1: columns are missing"));
    assert_eq!(second(r#"{"frame": 1, "id": "a", "x": null, "y": 2, "z": 3}"#), "");
}

#[test]
fn a_file_that_becomes_shorter_is_a_fault_of_the_table() {
    let dir = tempfile::tempdir().unwrap();
    let numbers = rows(matrix);
    let bytes = npy("<f4", false, &[FRAMES, 2, 3, 4], &numbers);
    let table = load_in(&dir, "a.npy", &bytes, &OPTIONS).unwrap().table;
    assert!(at(&table, 1.2, 0).is_some());
    let path = dir.path().join("a.npy");
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(100).unwrap();
    assert_eq!(at(&table, 1.2, 0), None);
    let fault = table.fault().unwrap_or_default();
    assert!(fault.starts_with(&format!("{}: ", path.display())) && fault.contains("shorter"), "{fault}");
}

proptest! {
    #![proptest_config(throng_testing::same_cases(192))]

    #[test]
    fn damaged_files_are_errors_of_one_line_and_no_panics(
        at in 0usize..4000,
        cut in 0usize..40,
        put in "[-0-9eE.,;\\[\\]{}:\"a-z\n]{0,12}",
        which in 0usize..3,
    ) {
        let (name, whole) = match which {
            0 => ("a.npy", npy("<f4", false, &[FRAMES, 2, 3, 4], &rows(matrix))),
            1 => ("a.csv", csv("yaw", |_| "0".to_owned()).into_bytes()),
            _ => ("a.jsonl", b"{\"time\": 0, \"id\": 1, \"x\": 1, \"y\": 2, \"z\": 3}\n{\"time\": 1, \"id\": 1, \"x\": 1, \"y\": 2, \"z\": 3}\n".to_vec()),
        };
        let start = at % whole.len();
        let end = (start + cut).min(whole.len());
        let damaged = [&whole[..start], put.as_bytes(), &whole[end..]].concat();
        match load_bytes(name, &damaged, &OPTIONS) {
            Ok(loaded) => {
                loaded.table.rows(loaded.table.shape().frames - 1);
                prop_assert_eq!(loaded.table.fault(), None);
            }
            Err(fault) => prop_assert!(fault.starts_with(name) && !fault.contains('\n'), "{}", fault),
        }
    }
}
