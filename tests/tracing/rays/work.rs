//! Counts of visited nodes and tested primitives, as devices report them.

use crate::common::{Random, ball, mesh, on_each_device, ray, scene, sphere};
use glam::{Affine3, Vec3};
use std::sync::Arc;
use throng::scene::Scene;
use throng_abi::Ray;
use throng_device::{CpuDevice, Device, RayKind, WorkCounts};
use throng_render::Poser;

/// The work of tracing `rays`. None if the device does not count it.
fn work(device: &mut dyn Device, scene: &Arc<Scene>, kind: RayKind, rays: &[Ray]) -> Option<WorkCounts> {
    device.load(scene.clone()).unwrap();
    let mut poser = Poser::new(scene.clone(), device.node_layout());
    let frame = poser.pose(1).frame;
    device.count_work(&frame, kind, rays).unwrap()
}

fn at(x: f32) -> Affine3 {
    Affine3::from_translation(Vec3::new(x, 0.0, 0.0))
}

#[test]
fn a_ray_past_everything_tests_nothing_and_one_at_a_ball_enters_it() {
    let (positions, triangles) = ball(3);
    let balls: Vec<(u32, Affine3)> = (0..64).map(|i| (0, at(10.0 * i as f32))).collect();
    let scene = Arc::new(scene(vec![mesh(positions, triangles)], &balls));
    let past = [ray(Vec3::new(0.0, 50.0, 0.0), Vec3::X)];
    let at_ball = [ray(Vec3::new(30.2, 0.1, -9.0), Vec3::Z)];
    on_each_device(|device| {
        let Some(missed) = work(device, &scene, RayKind::Closest, &past) else {
            return;
        };
        assert_eq!((missed.rays, missed.instances), (1, 0));
        assert_eq!((missed.blas_nodes, missed.packs, missed.triangles), (0, 0, 0));
        for kind in [RayKind::Closest, RayKind::Any] {
            let met = work(device, &scene, kind, &at_ball).unwrap();
            assert_eq!(met.instances, 1);
            assert!(met.tlas_nodes > 0 && met.blas_nodes > 0, "{met:?}");
            assert!((met.packs..=16 * met.packs).contains(&met.triangles), "{met:?}");
            assert!(met.triangles < 100, "{met:?} of 512 triangles");
        }
    });
}

#[test]
fn a_single_triangle_is_one_test_without_a_node() {
    let corners = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
    let scene = Arc::new(scene(vec![mesh(corners, vec![[0, 1, 2]])], &[(0, at(0.0))]));
    let mut cpu = CpuDevice::with_variant("baseline").unwrap();
    let rays = [ray(Vec3::new(0.2, 0.2, -1.0), Vec3::Z); 3];
    let expected = WorkCounts { rays: 3, instances: 3, packs: 3, triangles: 3, ..WorkCounts::default() };
    assert_eq!(work(&mut cpu, &scene, RayKind::Closest, &rays), Some(expected));
}

#[test]
fn an_analytic_sphere_is_an_instance_without_triangles() {
    let scene = Arc::new(scene(vec![sphere()], &[(0, at(0.0))]));
    let mut cpu = CpuDevice::with_variant("baseline").unwrap();
    let rays = [ray(Vec3::new(0.2, 0.2, -9.0), Vec3::Z)];
    let expected = WorkCounts { rays: 1, instances: 1, ..WorkCounts::default() };
    assert_eq!(work(&mut cpu, &scene, RayKind::Any, &rays), Some(expected));
}

#[test]
fn any_hit_takes_less_work_than_the_closest_one() {
    let (positions, triangles) = ball(2);
    let mut random = Random::new(4);
    let balls: Vec<(u32, Affine3)> = (0..500).map(|_| (0, Affine3::from_translation(12.0 * random.cube()))).collect();
    let scene = Arc::new(scene(vec![mesh(positions, triangles)], &balls));
    let rays: Vec<Ray> = (0..2000).map(|_| ray(12.0 * random.cube(), random.cube())).collect();
    on_each_device(|device| {
        let Some(closest) = work(device, &scene, RayKind::Closest, &rays) else {
            return;
        };
        let any = work(device, &scene, RayKind::Any, &rays).unwrap();
        assert!(any.instances < closest.instances, "{any:?} {closest:?}");
        assert!(any.triangles < closest.triangles, "{any:?} {closest:?}");
    });
}
