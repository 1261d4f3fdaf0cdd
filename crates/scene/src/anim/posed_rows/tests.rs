use crate::{
    Ease, Ends, Instance, Key, Keyframe, Motion, MotionPart, NONE, Node, Phase, PlacementTable, PlacementTables,
    QuaternionOrder, Rotations, RowClock, RowFormat, RowLayout, RowSource, Scene, ShutterKeys, TableRun, TableShape,
    Track,
    anim::{Moment, ShutterTime, hidden_instances, instance_shutter_keys, instance_world, world_transforms},
};
use glam::{Affine3, Quat, Vec3};
use std::sync::Arc;

/// Position, quaternion and uniform scale of each instance in each frame; NaN where it is not there.
#[derive(Clone, Debug)]
struct Rows(Vec<Vec<[f32; 8]>>);

impl RowSource for Rows {
    fn read(&self, frame: u32, into: &mut [u8]) -> Result<(), String> {
        let values = self.0[frame as usize].as_flattened();
        into.as_chunks_mut::<4>().0.iter_mut().zip(values).for_each(|(to, value)| *to = value.to_le_bytes());
        Ok(())
    }
}

const GONE: [f32; 8] = [f32::NAN; 8];

fn row(x: f32, angle: f32) -> [f32; 8] {
    let [i, j, k, w] = Quat::from_rotation_y(angle).to_array();
    [x, 2.0 * x, 0.5, i, j, k, w, 1.0 + x]
}

fn table(rows: &[Vec<[f32; 8]>], fps: f64) -> Arc<PlacementTable> {
    let layout = RowLayout::Parts { order: QuaternionOrder::Xyzw, scales: 1 };
    let shape = TableShape {
        frames: rows.len() as u32,
        instances: rows[0].len() as u32,
        format: RowFormat { layout, is_double: false, is_big_endian: false },
        clock: RowClock::Rate { start: 0.0, fps },
        ends: Ends::Hold,
        content: 0,
    };
    Arc::new(PlacementTable::new(shape, Box::new(Rows(rows.to_vec()))))
}

fn instance(motion: u32) -> Instance {
    Instance { local: Affine3::IDENTITY, node: NONE, mesh: 0, slot_base: 0, motion }
}

/// A scene with an instance per row.
fn scene(rows: &[Vec<[f32; 8]>], fps: f64) -> Scene {
    let count = rows[0].len() as u32;
    let (around, each) = (Affine3::IDENTITY, Affine3::IDENTITY);
    let run = TableRun { table: 0, first: 0, stride: 1, row: 0, rows: count, around, each };
    let (all, instances) = (vec![table(rows, fps)], vec![run]);
    Scene {
        instances: vec![instance(NONE); count as usize],
        placement_tables: Arc::new(PlacementTables { all, shown: instances.clone(), instances, nodes: Vec::new() }),
        ..Scene::default()
    }
}

/// A scene whose only instance has the rows as keys.
fn keyed(rows: &[[f32; 8]], fps: f64) -> Scene {
    let key = |(frame, [x, y, z, i, j, k, w, s]): (usize, &[f32; 8])| {
        let rotation = Quat::from_xyzw(*i, *j, *k, *w);
        let value =
            Keyframe { translation: Vec3::new(*x, *y, *z), rotation, angles: Vec3::ZERO, scale: Vec3::splat(*s) };
        Key { time: frame as f64 / fps, value, ease: Ease::Linear }
    };
    let track = Track { keys: rows.iter().enumerate().map(key).collect(), ends: Ends::Hold };
    let part = MotionPart::Keyframes { track, rotations: Rotations::Slerp };
    let motions = vec![Motion { parts: vec![part], phase: Phase::Same }];
    Scene { motions, instances: vec![instance(0)], ..Scene::default() }
}

fn world(scene: &Scene, time: f64, index: u32) -> Affine3 {
    instance_world(scene, &Moment::of(scene, time), index).into()
}

fn path() -> Vec<[f32; 8]> {
    [(0.0, 0.0), (1.0, 0.4), (3.0, -0.5), (3.5, 2.0)].map(|(x, angle)| row(x, angle)).to_vec()
}

#[test]
fn rows_are_interpolated_as_keyframes_are() {
    let rows: Vec<_> = path().into_iter().map(|row| vec![row]).collect();
    let (table, keys) = (scene(&rows, 10.0), keyed(&path(), 10.0));
    for step in -4..40 {
        let time = f64::from(step) * 0.0137;
        let (found, expected) = (world(&table, time, 0), world(&keys, time, 0));
        assert!(found.abs_diff_eq(expected, 1e-5), "{time}: {found} {expected}");
    }
    assert!(table.is_animated() && hidden_instances(&table, &Moment::of(&table, 0.15)).is_empty());
}

#[test]
fn blur_is_that_of_keyframes() {
    let rows: Vec<_> = path().into_iter().map(|row| vec![row]).collect();
    let (table, keys) = (scene(&rows, 10.0), keyed(&path(), 10.0));
    let time = ShutterTime { open: 0.12, seconds: 0.05, frame: 0.12, origin: Vec3::ZERO };
    let blurred = |scene: &Scene| {
        let mut keys = ShutterKeys::default();
        instance_shutter_keys(scene, &scene.instances, &[], time, &mut keys);
        keys
    };
    let (found, expected) = (blurred(&table), blurred(&keys));
    let [found, expected] = [&found, &expected].map(|keys| keys.of(keys.span(0)));
    assert!(found.len() > 4);
    for (found, share) in [(&found[0], 0.0), (&found[found.len() / 2], 0.5), (&found[found.len() - 1], 1.0)] {
        let expected = expected[((expected.len() - 1) as f64 * share) as usize];
        let pairs = found.world_from_object.iter().zip(&expected.world_from_object);
        pairs.for_each(|(found, expected)| assert!((found - expected).abs() < 1e-4, "{share}"));
    }
}

#[test]
fn instances_at_rest_have_no_shutter_keys() {
    let rows = vec![vec![row(1.0, 0.5), row(0.0, 0.0)], vec![row(1.0, 0.5), row(1.0, 0.0)]];
    let scene = scene(&rows, 10.0);
    let time = ShutterTime { open: 0.02, seconds: 0.05, frame: 0.02, origin: Vec3::ZERO };
    let mut keys = ShutterKeys::default();
    instance_shutter_keys(&scene, &scene.instances, &[], time, &mut keys);
    assert!(keys.of(keys.span(0)).is_empty() && !keys.of(keys.span(1)).is_empty());
}

#[test]
fn instances_are_there_from_the_first_to_the_last_of_successive_rows() {
    let there = |frame: u32| if (2..=4).contains(&frame) { row(frame as f32, 0.0) } else { GONE };
    let rows: Vec<_> = (0..7).map(|frame| vec![row(0.0, 0.0), there(frame)]).collect();
    let scene = scene(&rows, 10.0);
    let hidden = |time| hidden_instances(&scene, &Moment::of(&scene, time));
    for (time, is_hidden) in [(0.1, true), (0.19, true), (0.2, false), (0.33, false), (0.4, false), (0.41, true)] {
        assert_eq!(hidden(time), if is_hidden { vec![1] } else { Vec::new() }, "{time}");
    }
}

#[test]
fn what_ends_while_the_shutter_is_open_stays_at_its_end() {
    let there = |frame: u32| if (2..=4).contains(&frame) { row(frame as f32, 0.0) } else { GONE };
    let rows: Vec<_> = (0..7).map(|frame| vec![there(frame)]).collect();
    let scene = scene(&rows, 10.0);
    let x = |frame: f64, time: f64| {
        let moment = Moment::of(&scene, time).in_frame(frame);
        Affine3::from(instance_world(&scene, &moment, 0)).translation.x
    };
    assert_eq!([x(0.35, 0.4), x(0.35, 0.45), x(0.35, 0.6)], [4.0; 3], "after the last row");
    assert_eq!([x(0.25, 0.2), x(0.25, 0.15), x(0.25, 0.0)], [2.0; 3], "before the first row");
    assert!((x(0.25, 0.35) - 3.5).abs() < 1e-6);
}

#[test]
fn nodes_and_motions_are_moved_by_rows() {
    let rows = vec![vec![row(0.0, 0.0)], vec![row(2.0, 0.0)]];
    let mut scene = scene(&rows, 1.0);
    let tables = (*scene.placement_tables).clone();
    let around = Affine3::from_translation(Vec3::Y * 10.0);
    let nodes = vec![TableRun { around, ..tables.instances[0] }];
    scene.placement_tables = Arc::new(PlacementTables { nodes, instances: Vec::new(), ..tables });
    let spin = MotionPart::Spin { axis: Vec3::Y, period: 4.0 };
    scene.motions = vec![Motion { parts: vec![spin], phase: Phase::Same }];
    scene.nodes = vec![Node { local: Affine3::IDENTITY, parent: NONE, motion: 0, follows: None }];
    scene.instances[0] = Instance { local: Affine3::from_translation(Vec3::Z), node: 0, ..instance(NONE) };
    let mut worlds = Vec::new();
    world_transforms(&scene, &Moment::of(&scene, 1.0), &mut worlds);
    // The row scales by 3 and moves by (2, 4, 0.5). The motion turns +Z to +X.
    assert!(worlds[0].translation.distance(Vec3::new(5.0, 14.0, 0.5)) < 1e-5, "{}", worlds[0].translation);
}

#[test]
fn poses_do_not_depend_on_threads_or_earlier_times() {
    let rows: Vec<_> = (0..4)
        .map(|frame| (0..10_000).map(|i| row(frame as f32 + i as f32 * 1e-3, frame as f32 * 0.3)).collect())
        .collect();
    let scene = scene(&rows, 10.0);
    let pose = |threads: usize, times: &[f64]| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let (mut out, mut moment) = (Vec::new(), Moment::default());
        pool.install(|| {
            for &time in times {
                moment.move_to(&scene, time);
                world_transforms(&scene, &moment, &mut out);
            }
        });
        out
    };
    assert_eq!(pose(1, &[0.17]), pose(3, &[0.29, 0.05, 0.17]));
}
