//! Placements whose transforms over time are in a file.

use super::*;
use throng::scene::{NONE, Placed};
use throng_base::files::recording;
use throng_scene::anim::{Moment, hidden_instances, world_transforms};

/// A scene with these placements; files are those of [`folder`]. A frame of `tracks.csv` takes a second.
fn placed(groups: &str, placements: &str) -> Scene {
    scene(&text(groups, placements))
}

fn text(groups: &str, placements: &str) -> String {
    format!(
        r#"(render: (fps: 1), meshes: {{"ball": Sphere, "crate": Box()}}, groups: {{{groups}}},
            motions: {{"lift": (parts: [Keyframes(keys: [(time: 0, translate: (0, 2, 0))])])}},
            instances: [{placements}])"#
    )
}

/// The world transforms of all instances at a time.
fn worlds(scene: &Scene, time: f64) -> Vec<Affine3> {
    let mut out = Vec::new();
    world_transforms(scene, &Moment::of(scene, time), &mut out);
    out
}

fn hidden(scene: &Scene, time: f64) -> Vec<u32> {
    hidden_instances(scene, &Moment::of(scene, time))
}

#[track_caller]
fn assert_at(found: &Affine3, x: f32, y: f32, z: f32) {
    let expected = Vec3::new(x, y, z);
    assert!(found.translation.distance(expected) < 1e-5, "{} instead of {expected}", found.translation);
}

#[test]
fn copies_follow_their_rows_within_the_placement() {
    let s = placed(
        "",
        r#"Table(of: "ball", file: "tracks.csv", translate: (0, 10, 0), scale: 2, motion: "lift", each: (scale: 3))"#,
    );
    let found = worlds(&s, 0.5);
    // The motion is in the space of the copy, whose scale is 6.
    assert_at(&found[0], 1.0, 22.0, 0.0);
    assert_at(&found[1], 11.0, 24.0, 0.0);
    let turned = found[0].transform_vector3(Vec3::X) / 6.0;
    assert!(turned.distance(Vec3::new(0.5f32.sqrt(), 0.0, -0.5f32.sqrt())) < 1e-5, "{turned}");
    assert_eq!((s.instances.len(), s.nodes.len(), s.is_animated()), (2, 0, true));
    assert_eq!([0.0, 1.0, 1.5, 2.0].map(|time| hidden(&s, time)), [vec![], vec![], vec![0], vec![0]]);
}

#[test]
fn files_may_have_z_up() {
    let s = placed("", r#"Table(of: "ball", file: "tracks.csv", up: z)"#);
    let found = worlds(&s, 1.0);
    assert_at(&found[1], 6.0, 0.0, -1.0);
    // The yaw of 90 degrees turns +X to the file's +Y, and +Y stays up.
    assert!(found[0].transform_vector3(Vec3::X).distance(Vec3::NEG_Z) < 1e-5);
    assert!(found[0].transform_vector3(Vec3::Y).distance(Vec3::Y) < 1e-5);
}

#[test]
fn groups_move_and_disappear_as_a_whole() {
    let pair = r#""pair": [Single(of: "ball"), Single(of: "crate", translate: (0, 1, 0), motion: "lift")]"#;
    let s = placed(pair, r#"Single(of: "ball"), Table(of: "pair", file: "tracks.csv")"#);
    let found = worlds(&s, 1.0);
    assert_at(&found[2], 1.0, 3.0, 0.0);
    assert_at(&found[4], 6.0, 4.0, 0.0);
    assert_eq!((hidden(&s, 1.0), hidden(&s, 1.5)), (vec![], vec![1, 2]));
    let nested = placed(pair, r#"Single(of: "ball"), Table(of: "pair", file: "tracks.csv", nest: true)"#);
    assert!(matches!(nested.placed_by(&nested.instances[1]), Placed::Assembly(0)));
    assert_at(&worlds(&nested, 1.0)[2], 6.0, 1.0, 0.0);
    assert_eq!(hidden(&nested, 1.5), [1]);
}

#[test]
fn tables_in_groups_are_placed_with_each_copy() {
    let park = r#""park": [Table(of: "ball", file: "tracks.csv"), Single(of: "crate")]"#;
    let s = placed(park, r#"Grid(of: "park", count: (2, 1, 1), spacing: (100, 0, 0))"#);
    let found = worlds(&s, 1.0);
    assert_at(&found[1], -44.0, 1.0, 0.0);
    assert_at(&found[4], 56.0, 1.0, 0.0);
    assert_at(&found[5], 50.0, 0.0, 0.0);
    assert_eq!((hidden(&s, 1.5), s.placement_tables.all.len()), (vec![0, 3], 1));
}

#[test]
fn things_by_weight_keep_their_rows() {
    let rows: String = (0..40).map(|id| format!("0,{id},{id},0,0\n1,{id},{id},1,0\n")).collect();
    let dir = folder();
    fs::write(dir.path().join("many.csv"), format!("frame,id,x,y,z\n{rows}")).expect("writes");
    let pair = r#""pair": [Single(of: "crate"), Single(of: "crate", translate: (0, 0, 1))]"#;
    let path = scene_path(&dir, &text(pair, r#"Table(of: {"ball": 1, "pair": 1}, file: "many.csv")"#));
    let s = load(&path).unwrap_or_else(|e| panic!("{e}"));
    let mut xs: Vec<f32> = Vec::new();
    for (instance, world) in s.instances.iter().zip(worlds(&s, 0.5)) {
        assert_eq!(world.translation.y, 0.5);
        if instance.node == NONE || world.translation.z == 0.0 {
            xs.push(world.translation.x);
        }
    }
    xs.sort_by(f32::total_cmp);
    assert_eq!(xs, Vec::from_iter((0..40u8).map(f32::from)));
}

#[test]
fn loads_know_the_file_and_its_places() {
    let dir = folder();
    let path = scene_path(&dir, &text("", r#"Table(of: "ball", file: "tracks.csv")"#));
    let (loaded, files) = recording(|| load(&path));
    let s = loaded.unwrap_or_else(|e| panic!("{e}"));
    assert!(files.iter().any(|file| file.path.ends_with("tracks.csv") && file.bytes.is_some()));
    assert_eq!(s.bounds_at_rest().max, Vec3::new(6.0, 2.0, 1.0), "first rows count at rest");
    let moved = fs::read_to_string(dir.path().join("tracks.csv")).expect("reads").replace("2,b,7", "2,b,8");
    fs::write(dir.path().join("tracks.csv"), moved).expect("writes");
    let other = load(&path).unwrap_or_else(|e| panic!("{e}"));
    assert_ne!(s.content_hash(), other.content_hash());
}

#[test]
fn faults_are_at_the_field_or_in_the_file() {
    for (fields, expected) in [
        (r#"file: "no.csv""#, "s.ron:3:49: the table no.csv does not exist: check the path"),
        (r#"file: "tracks.csv", fps: 0"#, "s.ron:3:68: fps must be above 0"),
        (r#"file: "tracks.csv", drop: "ball""#, "s.ron:3:69: the file sets the positions of the copies: remove `drop`"),
        (r#"file: "tracks.csv", ends: never"#, "s.ron:3:69: unknown name `never`"),
        (r#"file: "tri.obj""#, "tri.obj: this is no table of placements: write one as .npy, .csv or .jsonl"),
    ] {
        let e = error(&text("", &format!(r#"Table(of: "ball", {fields})"#)));
        assert!(e.starts_with(expected), "{e}\n{expected}");
    }
}
