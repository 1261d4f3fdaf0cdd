//! AOVs of scenes with known answers.

use crate::common::{mesh, render, scene, settings, sphere};
use glam::{Affine3, Quat, Vec2, Vec3};
use std::sync::Arc;
use throng::scene::{
    Camera, CameraKey, CameraPath, CurvePoint, Curves, Ease, Ends, Environment, Flight, Instance, Integrator, Key,
    Keyframe, Lobes, Material, MaterialKind, Mesh, Motion, MotionPart, NONE, Names, Parametrisation, Phase,
    PixelFilter, Projection, Rotations, Scene, Shape, Shutter, Track,
};
use throng_device::{FrameSettings, Rendered};
use throng_picture::aov::{Aov, AovSet, MATTE_RANKS, cryptomatte};
use throng_scene::anim::{CameraPose, Moment, camera_at};
use throng_scene::rig::{
    Actor, Channel, Clip, Deformers, DeformingMesh, Interpolation, Local, MorphTarget, Piece, Playback, Property,
    RefitPolicy, Rig, RigNode,
};

const SIDE: u32 = 33;

fn all_layers(samples: u32) -> FrameSettings {
    let mut settings = settings(SIDE, SIDE, Integrator::Whitted);
    settings.aovs = AovSet::from_iter(Aov::ALL).gathered();
    settings.samples = samples;
    settings
}

fn camera(path: CameraPath) -> Camera {
    Camera {
        path,
        up: Vec3::Y,
        projection: Projection::Perspective { fov_y: 2.0 * 0.5f32.atan() },
        ..Camera::default()
    }
}

fn still() -> Camera {
    camera(CameraPath::Still { eye: Vec3::new(0.0, 0.0, 10.0), target: Vec3::ZERO })
}

/// Two quads side by side in the lower half of the picture, `left` at z = -1 and `right` at z = 1. The upper half is empty.
fn two_quads() -> Scene {
    let quad = |x: f32| {
        let corner = |dx: f32, y: f32| Vec3::new(x + dx, y, 0.0);
        mesh(
            vec![corner(0.0, -20.0), corner(20.0, -20.0), corner(20.0, 0.0), corner(0.0, 0.0)],
            vec![[0, 1, 2], [0, 2, 3]],
        )
    };
    let at = |z: f32| Affine3::from_translation(Vec3::Z * z);
    let mut scene = scene(vec![quad(-20.0), quad(0.0)], &[(0, at(-1.0)), (1, at(1.0))]);
    scene.materials[0].color = Vec3::new(0.2, 0.4, 0.6);
    scene.environment = Environment::Constant { radiance: Vec3::ONE };
    scene.names = Names::numbered(vec!["left".into(), "right".into()], &[0, 1]);
    scene.names.materials = vec!["paint".into()];
    scene.camera = still();
    scene
}

fn values(rendered: &Rendered, aov: Aov, x: u32, y: u32) -> &[f32] {
    let image = rendered.aovs.iter().find(|l| l.aov == aov).unwrap();
    let count = aov.channels();
    let at = (y * SIDE + x) as usize * count;
    &image.values[at..at + count]
}

#[track_caller]
fn assert_close(found: &[f32], expected: &[f32], tolerance: f32) {
    let pairs = found.iter().zip(expected);
    assert!(
        found.len() == expected.len() && pairs.into_iter().all(|(a, b)| (a - b).abs() <= tolerance),
        "{found:?} is not {expected:?}"
    );
}

#[test]
fn every_aov_is_gathered_without_the_others() {
    // The variance of alpha is gathered only together with alpha.
    for aov in all_layers(4).aovs.iter().filter(|&aov| aov != Aov::AlphaVariance) {
        let settings = FrameSettings { aovs: AovSet::from_iter([aov]), ..all_layers(4) };
        let alone = render(two_quads(), &settings);
        let together = render(two_quads(), &all_layers(4));
        let of = |rendered: &Rendered| {
            rendered.aovs.iter().find(|image| image.aov == aov).map(|image| image.values.to_vec())
        };
        assert_eq!((alone.aovs.len(), of(&alone)), (1, of(&together)), "{aov}");
    }
}

#[test]
fn surfaces_tell_what_they_are_and_where() {
    let rendered = render(two_quads(), &all_layers(4));
    let (left, right) = ((8, 28), (24, 28));
    for ((x, y), z) in [(left, -1.0), (right, 1.0)] {
        assert_close(values(&rendered, Aov::Albedo, x, y), &[0.2, 0.4, 0.6], 1e-5);
        assert_close(values(&rendered, Aov::Normal, x, y), &[0.0, 0.0, 1.0], 1e-5);
        assert_close(values(&rendered, Aov::Depth, x, y), &[10.0 - z], 1e-4);
        // The view's height equals its distance. The position is within a pixel of the pixel's centre.
        let pixel = (10.0 - z) / SIDE as f32;
        let position = [(x as f32 + 0.5 - 0.5 * SIDE as f32) * pixel, -(y as f32 + 0.5 - 0.5 * SIDE as f32) * pixel, z];
        assert_close(values(&rendered, Aov::Position, x, y), &position, 1.5 * pixel);
        assert_close(values(&rendered, Aov::Motion, x, y), &[0.0; 4], 1e-4);
    }
}

#[test]
fn the_open_has_no_surface() {
    let rendered = render(two_quads(), &all_layers(4));
    let values = |aov| values(&rendered, aov, 8, 4);
    assert_eq!(values(Aov::Albedo), [1.0; 3]);
    assert_eq!(values(Aov::Normal), [0.0; 3]);
    assert_eq!(values(Aov::Depth), [f32::INFINITY]);
    assert_eq!(values(Aov::Position), [0.0; 3]);
    assert_eq!(values(Aov::Variance), [0.0; 3]);
    assert_eq!(values(Aov::Instance), [0.0; 2 * MATTE_RANKS]);
}

#[test]
fn mattes_tell_names_and_their_shares() {
    let rendered = render(two_quads(), &all_layers(64));
    let id = |name| f32::from_bits(cryptomatte::id(name));
    let instance = |x| values(&rendered, Aov::Instance, x, 28);
    for (x, name) in [(4, "left"), (28, "right")] {
        assert_eq!(instance(x)[..3], [id(name), 1.0, 0.0]);
        assert_eq!(values(&rendered, Aov::Material, x, 28)[..3], [id("paint"), 1.0, 0.0]);
    }
    // A pixel whose centre is on the edge between the quads.
    let edge = instance(16);
    let mut names = [edge[0].to_bits(), edge[2].to_bits()];
    names.sort_unstable();
    let mut expected = ["left", "right"].map(cryptomatte::id);
    expected.sort_unstable();
    assert_eq!(names, expected);
    assert!(edge[1] >= edge[3] && (edge[1] + edge[3] - 1.0).abs() < 1e-6);
    assert!((edge[1] - 0.5).abs() < 0.1, "{edge:?}");
}

#[test]
fn negative_lobes_leave_flat_areas_flat() {
    let mut settings = all_layers(16);
    settings.film.filter = PixelFilter::Mitchell;
    let rendered = render(two_quads(), &settings);
    assert_close(values(&rendered, Aov::Albedo, 8, 28), &[0.2, 0.4, 0.6], 1e-5);
    let open = &rendered.pixels[..3 * SIDE as usize];
    assert!(open.iter().all(|&channel| channel == 255), "{open:?}");
}

#[test]
fn things_that_move_leave_a_vector() {
    for shutter in [None, Some(Shutter::centred(0.5).unwrap())] {
        let mut settings = all_layers(16);
        settings.shutter = shutter;
        moving_sphere_leaves_a_vector(&settings);
    }
}

fn moving_sphere_leaves_a_vector(settings: &FrameSettings) {
    let mut scene = scene(vec![sphere()], &[(0, Affine3::IDENTITY)]);
    scene.camera = still();
    scene.settings.fps = 10.0;
    scene.instances[0].motion = 0;
    // At time 0, it passes the centre at 2π · 0.5 / 4 units per second.
    scene.motions = vec![Motion {
        parts: vec![MotionPart::Bob { offset: Vec3::new(0.5, 0.0, 0.0), period: 4.0 }],
        phase: Phase::Same,
    }];
    let rendered = render(scene, settings);
    let moved = 0.5 * (std::f32::consts::TAU / 40.0).sin();
    let pixels = moved * SIDE as f32 / 9.0;
    assert_close(values(&rendered, Aov::Motion, 16, 16), &[-pixels, 0.0, -pixels, 0.0], 0.02 * pixels);
    assert_eq!(values(&rendered, Aov::Motion, 0, 0), [0.0; 4]);
}

/// The lower end of a fibre stands still, and its upper end moves to the right: the fibre tilts and stretches about its lower end.
#[test]
fn curves_that_deform_leave_the_vectors_of_their_points() {
    for shutter in [None, Some(Shutter::centred(0.5).unwrap())] {
        let point = |y: f32| CurvePoint { position: [0.0, y, -1.0], radius: 1.0 };
        let curves = Curves { points: vec![point(-4.0), point(4.0)], strands: vec![0], ..Curves::default() };
        let fibre = Mesh { name: "fibre".into(), shape: Shape::Curves(Arc::new(curves)), slot_count: 1 };
        let mut scene = scene(vec![fibre], &[(0, Affine3::IDENTITY)]);
        scene.camera = still();
        scene.settings.fps = 10.0;
        scene.settings.start = 5.0;
        let node = RigNode {
            name: "root".into(),
            parent: NONE,
            local: Local::Matrix(Affine3::IDENTITY),
            weights: vec![0.0],
            visible: true,
        };
        let channel = Channel {
            node: 0,
            property: Property::Weights,
            interpolation: Interpolation::Linear,
            times: vec![0.0, 10.0],
            values: vec![-5.0, 5.0],
        };
        let clip = Clip { name: "tilt".into(), duration: 10.0, channels: vec![channel], ..Clip::default() };
        let rig = Rig { nodes: vec![node], clips: vec![clip], ..Rig::default() };
        scene.actors = vec![Actor { rig: Arc::new(rig), playbacks: vec![Playback::default()] }];
        let target = MorphTarget { positions: vec![[0.0; 3], [1.0, 0.0, 0.0]], ..MorphTarget::default() };
        let piece = Piece {
            vertex_count: 2,
            node: 0,
            placed: false,
            skin: NONE,
            deformers: Arc::new(Deformers { targets: vec![target], ..Deformers::default() }),
            surface: None,
        };
        scene.deforming = vec![DeformingMesh {
            mesh: 0,
            actor: 0,
            refit: RefitPolicy::Auto,
            pieces: vec![piece],
            displacement: None,
        }];
        let mut settings = all_layers(64);
        settings.shutter = shutter;
        let rendered = render(scene, &settings);
        // The upper end moves by a tenth of a unit per frame, ten units away from the eye, where the picture is ten units high.
        let pixel = SIDE as f32 / 10.0;
        for y in [8, 16, 24] {
            let height = (SIDE as f32 / 2.0 - (y as f32 + 0.5)) / pixel;
            let moved = 0.1 * (height + 4.0) / 8.0 * pixel;
            assert_close(values(&rendered, Aov::Motion, 16, y), &[-moved, 0.0, -moved, 0.0], 0.04 * pixel * 0.1);
        }
    }
}

#[test]
fn layers_are_blurred_with_the_picture_and_vectors_still_go_from_frame_to_frame() {
    let mut scene = two_quads();
    scene.settings.fps = 1.0;
    // The right quad, which is in front, moves by eight pixels per frame.
    let pixel = 9.0 / SIDE as f32;
    let key = |time: f64| {
        let translation = Vec3::X * (8.0 * pixel * (time - 2.0) as f32);
        let value = Keyframe { translation, rotation: Quat::IDENTITY, angles: Vec3::ZERO, scale: Vec3::ONE };
        Key { time, value, ease: Ease::Linear }
    };
    let track = Track { keys: vec![key(0.0), key(4.0)], ends: Ends::Hold };
    scene.motions =
        vec![Motion { parts: vec![MotionPart::Keyframes { track, rotations: Rotations::Slerp }], phase: Phase::Same }];
    scene.instances[1].motion = 0;
    scene.settings.start = 2.0;
    let mut settings = all_layers(256);
    settings.shutter = Some(Shutter::centred(1.0).unwrap());
    let rendered = render(scene, &settings);
    let right = f32::from_bits(cryptomatte::id("right"));
    let covered = |x: u32| {
        let matte = values(&rendered, Aov::Instance, x, 28).as_chunks::<2>().0;
        let own = matte.iter().find(|[name, _]| *name == right);
        own.map_or(0.0, |[_, share]| *share)
    };
    // Its left edge moves from four pixels left of the centre to four pixels right of it.
    for (x, share) in [(10, 0.0), (14, 0.25), (16, 0.5), (18, 0.75), (22, 1.0)] {
        assert!((covered(x) - share).abs() < 0.02, "{x}: {}", covered(x));
    }
    // Where the quad has not arrived yet, the sky is visible.
    let albedo = [0.2, 0.4, 0.6].map(|own| 0.75 * own + 0.25);
    assert_close(values(&rendered, Aov::Albedo, 18, 28), &albedo, 0.02);
    assert_close(values(&rendered, Aov::Depth, 18, 28), &[9.0], 1e-4);
    let moved = [-8.0, 0.0, -8.0, 0.0];
    assert_close(values(&rendered, Aov::Motion, 28, 28), &moved, 0.01);
    assert_close(values(&rendered, Aov::Motion, 18, 28), &moved.map(|x| 0.75 * x), 0.2);
}

#[test]
fn cameras_that_move_take_everything_along() {
    let mut scene = two_quads();
    scene.settings.fps = 10.0;
    // The camera rises by 0.1 per frame.
    let key = |at: f32| CameraKey { time: at.into(), eye: Vec3::new(0.0, at, 10.0), target: Vec3::new(0.0, at, 0.0) };
    scene.camera =
        camera(CameraPath::Spline(Flight::new((-2..4).map(|i| key(i as f32)).collect(), Parametrisation::default())));
    let rendered = render(scene, &all_layers(4));
    let (near, far) = (0.1 * SIDE as f32 / 9.0, 0.1 * SIDE as f32 / 11.0);
    let motion = |x, y| values(&rendered, Aov::Motion, x, y);
    assert_close(motion(28, 28), &[0.0, near, 0.0, near], 0.01);
    assert_close(motion(4, 28), &[0.0, far, 0.0, far], 0.01);
    // Points at infinity do not move.
    assert_close(motion(4, 4), &[0.0; 4], 1e-4);
}

/// A room around the origin, with walls at ±10.
fn room() -> Scene {
    let corner = |i: u32| Vec3::from([0, 1, 2].map(|axis| if i >> axis & 1 == 0 { -10.0 } else { 10.0 }));
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]);
    let room = mesh((0..8).map(corner).collect(), triangles.collect());
    scene(vec![room], &[(0, Affine3::from_quat(Quat::from_euler(glam::EulerRot::XYZ, 0.2, 0.3, 0.5)))])
}

/// A camera whose eye and target move.
fn moving_camera(projection: Projection) -> Camera {
    let key = |at: f32| {
        let (eye, target) = (Vec3::new(0.5, 0.3, 0.2) * at, Vec3::new(at, 0.5 * at, -5.0));
        CameraKey { time: at.into(), eye, target }
    };
    let flight = Flight::new(vec![key(-1.0), key(0.0), key(1.0)], Parametrisation::default());
    Camera { projection, ..camera(CameraPath::Spline(flight)) }
}

/// Projection of a point in pixels, relative to the picture's centre; x right, y up.
fn seen_at(pose: &CameraPose, point: Vec3, (width, height): (u32, u32)) -> [f64; 2] {
    let (forward, right, up) = pose.basis();
    let to = point.as_dvec3() - pose.eye.as_dvec3();
    let [ahead, aside, above] = [forward, right, up].map(|axis| to.dot(axis.as_dvec3()));
    let (width, height) = (f64::from(width), f64::from(height));
    let shift = pose.shift.as_dvec2() * width.max(height);
    match pose.projection {
        Projection::Equirectangular => [
            aside.atan2(ahead) / std::f64::consts::TAU * width,
            above.atan2(ahead.hypot(aside)) / std::f64::consts::PI * height,
        ],
        Projection::Perspective { fov_y } => {
            let scale = 0.5 * height / (0.5 * f64::from(fov_y)).tan();
            [scale * aside / ahead - shift.x, scale * above / ahead - shift.y]
        }
        Projection::Orthographic { height: view } => {
            let scale = height / f64::from(view);
            [scale * aside - shift.x, scale * above - shift.y]
        }
    }
}

/// Renders a moving camera and compares all motion vectors with the projections of the visible points.
#[track_caller]
fn assert_motion_is_that_of_what_is_seen(camera: Camera, size: (u32, u32)) {
    let mut scene = room();
    scene.settings.fps = 10.0;
    scene.camera = camera;
    let is_panorama = scene.camera.projection == Projection::Equirectangular;
    let poses = [-0.1, 0.0, 0.1].map(|time| camera_at(&scene, &Moment::of(&scene, time)));
    let mut wanted = settings(size.0, size.1, Integrator::Whitted);
    wanted.aovs = AovSet::from_iter(Aov::ALL).gathered();
    wanted.samples = 1;
    let rendered = render(scene, &wanted);
    let layer = |aov: Aov| &rendered.aovs.iter().find(|layer| layer.aov == aov).unwrap().values;
    let (positions, motions, depths) = (layer(Aov::Position), layer(Aov::Motion), layer(Aov::Depth));
    for (pixel, motion) in motions.as_chunks::<4>().0.iter().enumerate() {
        let point = Vec3::from_slice(&positions[3 * pixel..]);
        let [before, now, after] = poses.map(|pose| seen_at(&pose, point, size));
        let way = |from: [f64; 2], to: [f64; 2]| {
            let across = to[0] - from[0];
            let around = f64::from(size.0);
            [if is_panorama { across - around * (across / around).round() } else { across }, to[1] - from[1]]
        };
        let (back, on) = (way(now, before), way(after, now));
        for (found, expected) in motion.iter().zip([back, on].as_flattened()) {
            assert!((f64::from(*found) - expected).abs() < 0.01, "{pixel}: {motion:?}, not {back:?} {on:?}");
        }
        let (to, forward) = (point - poses[1].eye, poses[1].basis().0);
        let depth = if is_panorama { to.length() } else { to.dot(forward) };
        assert!((depths[pixel] - depth).abs() < 1e-4, "{} {depth}", depths[pixel]);
    }
}

#[test]
fn motion_in_a_panorama_is_by_longitude_and_latitude_the_short_way_around() {
    assert_motion_is_that_of_what_is_seen(moving_camera(Projection::Equirectangular), (64, 32));
}

#[test]
fn motion_is_seen_through_shifted_lenses() {
    for projection in [Projection::Perspective { fov_y: 0.9 }, Projection::Orthographic { height: 6.0 }] {
        for size in [(32, 24), (24, 32)] {
            let camera = moving_camera(projection);
            assert_motion_is_that_of_what_is_seen(Camera { shift: Vec2::new(0.2, -0.35), ..camera }, size);
        }
    }
}

/// A camera that rises by 0.1 per frame, in front of a quad of `material` in the plane z = 0 with these vertex normals. The mirror image of
/// the wall behind the camera, at z = 12, is at distance 22.
fn wall_behind_the_camera(material: Material, normals: Vec<[f32; 3]>) -> Scene {
    let quad = |side: f32, normals: Vec<[f32; 3]>| {
        let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
        let positions = corners.map(|(x, y)| Vec3::new(side * x, side * y, 0.0)).to_vec();
        let mut quad = mesh(positions, vec![[0, 1, 2], [0, 2, 3]]);
        if let Shape::Triangles(triangles) = &mut quad.shape {
            triangles.normals = normals;
        }
        quad
    };
    let wall = Affine3::from_translation(Vec3::Z * 12.0);
    let mut scene = scene(vec![quad(3.0, normals), quad(600.0, Vec::new())], &[(0, Affine3::IDENTITY), (1, wall)]);
    scene.materials = vec![material, Material::default()];
    scene.material_slots = vec![0, 1];
    scene.instances[1].slot_base = 1;
    scene.settings.fps = 10.0;
    let key = |at: f32| CameraKey { time: at.into(), eye: Vec3::new(0.0, at, 10.0), target: Vec3::new(0.0, at, 0.0) };
    scene.camera =
        camera(CameraPath::Spline(Flight::new((-2..4).map(|i| key(i as f32)).collect(), Parametrisation::default())));
    scene
}

/// Upward motion at the centre of the picture, in pixels.
#[track_caller]
fn rise(rendered: &Rendered) -> f32 {
    let motion = values(rendered, Aov::Motion, 16, 16);
    assert_close(motion, &[0.0, motion[1], 0.0, motion[1]], 0.01);
    motion[1]
}

/// Upward motion of a point at this distance, in pixels.
fn rise_at(distance: f32) -> f32 {
    0.1 * SIDE as f32 / distance
}

#[test]
fn what_flat_mirrors_show_moves_as_its_image_does() {
    // Without vertex normals, with those of the triangles, and with opposite ones, which occur in files.
    for normals in [vec![], vec![[0.0, 0.0, 1.0]; 4], vec![[0.0, 0.0, -1.0]; 4]] {
        let mirror = Material { kind: MaterialKind::Mirror, color: Vec3::splat(0.9), ..Default::default() };
        let rendered = render(wall_behind_the_camera(mirror, normals), &all_layers(4));
        assert!((rise(&rendered) - rise_at(22.0)).abs() < 0.01);
    }
}

#[test]
fn rough_surfaces_that_show_more_reflections_than_colour_move_as_these_do() {
    let moved = |color: f32, metallic: f32, roughness: f32, integrator: Integrator| {
        let lobes = Lobes { metallic, roughness, ..Default::default() };
        let color = Vec3::splat(color);
        let material = Material { kind: MaterialKind::Layered, color, lobes, ..Default::default() };
        let settings = FrameSettings { integrator, ..all_layers(16) };
        rise(&render(wall_behind_the_camera(material, Vec::new()), &settings))
    };
    let image = |found: f32| (found - rise_at(22.0)).abs() < 0.01;
    let surface = |found: f32| (found - rise_at(10.0)).abs() < 0.01;
    assert!(image(moved(0.9, 1.0, 0.15, Integrator::Path)), "metal");
    assert!(image(moved(0.01, 0.0, 0.15, Integrator::Path)), "black varnish");
    assert!(surface(moved(0.5, 0.0, 0.15, Integrator::Path)), "grey varnish");
    assert!(surface(moved(0.9, 1.0, 0.5, Integrator::Path)), "metal whose images are smooth");
    assert!(surface(moved(0.01, 0.0, 0.15, Integrator::Whitted)), "matt for the integrator");
}

#[test]
fn lamps_lead_the_motion_of_what_rough_surfaces_reflect() {
    let lobes = Lobes { metallic: 1.0, roughness: 0.2, ..Default::default() };
    let metal = Material { kind: MaterialKind::Layered, color: Vec3::ONE, lobes, ..Default::default() };
    // Seen from the front and from behind.
    for turn in [0.0, std::f32::consts::PI] {
        let mut scene = wall_behind_the_camera(metal, Vec::new());
        scene.instances[0].local = Affine3::from_rotation_y(turn);
        // One in ten samples hits the lamp; the others hit the wall. The lamp's image is at distance 18.
        let lamp = Affine3::from_scale_rotation_translation(Vec3::splat(0.2), Quat::IDENTITY, Vec3::new(1.0, 0.0, 8.0));
        scene.instances.push(Instance { local: lamp, slot_base: 2, ..scene.instances[0] });
        scene.materials.push(Material { emission: Vec3::splat(5.0), ..Default::default() });
        scene.material_slots.push(2);
        let rendered = render(scene, &FrameSettings { integrator: Integrator::Path, ..all_layers(256) });
        let found = rise(&rendered);
        assert!((found - rise_at(18.0)).abs() < 0.15 * (rise_at(18.0) - rise_at(22.0)), "{turn}: {found}");
    }
}

#[test]
fn variance_is_that_of_the_mean() {
    // Half of the sky is bright, so pixels on the horizon depend on their samples.
    let mut scene = two_quads();
    scene.materials[0].color = Vec3::ZERO;
    let rendered = render(scene, &all_layers(16));
    let mean = |y: u32| {
        let row = (0..SIDE).map(|x| values(&rendered, Aov::Variance, x, y)[0]);
        row.sum::<f32>() / SIDE as f32
    };
    assert!(mean(16) > 1e-6 && mean(16) < 0.25 / 16.0, "{}", mean(16));
    assert_eq!((mean(4), mean(28)), (0.0, 0.0));
}
