//! Nested instances: expanding all assemblies does not change the picture.

use crate::common::{Random, ball, mesh, ray, render, render_on_each, same_cases, scene, settings, sphere, trace};
use glam::{Affine3, EulerRot, Quat, Vec3};
use proptest::prelude::*;
use std::collections::HashSet;
use throng::scene::{
    Assembly, Camera, CameraPath, Fog, Instance, Integrator, Light, Material, MaterialKind, Mesh, Motion, MotionPart,
    NONE, Names, Node, Phase, Placed, Projection, Scene, Shutter, Thinning,
};
use throng_abi::Ray;
use throng_device::{RayKind, Rendered};
use throng_picture::aov::{Aov, AovSet, cryptomatte, paths};
use throng_render::compare::PictureDifference;

fn instance(mesh: u32, local: Affine3) -> Instance {
    Instance { local, node: NONE, mesh, slot_base: 0, motion: NONE }
}

/// A scene with `levels` levels of assemblies. Each has some meshes and some copies of the next assembly, placed by `transform`.
fn nested(levels: usize, random: &mut Random, transform: impl Fn(&mut Random) -> Affine3) -> Scene {
    let (positions, triangles) = ball(1);
    let mut nested = scene(vec![mesh(positions, triangles), sphere()], &[]);
    let meshes = nested.meshes.len();
    for level in 0..=levels {
        let first = nested.instances.len() as u32;
        let copies = if level == levels { 0 } else { 3 };
        for place in 0..copies + 2 {
            let mesh = if place < copies { meshes + level } else { place % 2 };
            nested.instances.push(instance(mesh as u32, transform(random)));
        }
        if level > 0 {
            let instances = first..nested.instances.len() as u32;
            nested.assemblies.push(Assembly { name: format!("level {level}"), instances });
        }
    }
    nested
}

/// The scene with all assemblies expanded. Moving ones become nodes.
fn unrolled(nested: &Scene) -> Scene {
    fn place(nested: &Scene, range: std::ops::Range<usize>, (node, outer): (u32, Affine3), flat: &mut Scene) {
        for own in &nested.instances[range] {
            let local = outer * own.local;
            let Placed::Assembly(assembly) = nested.placed_by(own) else {
                flat.instances.push(Instance { local, node, ..*own });
                continue;
            };
            let frame = match own.motion {
                NONE => (node, local),
                motion => {
                    flat.nodes.push(Node { local, parent: node, motion, follows: None });
                    (flat.nodes.len() as u32 - 1, Affine3::IDENTITY)
                }
            };
            place(nested, nested.assemblies[assembly].range(), frame, flat);
        }
    }
    let mut flat = Scene { instances: Vec::new(), assemblies: Vec::new(), ..nested.clone() };
    place(nested, nested.world(), (NONE, Affine3::IDENTITY), &mut flat);
    flat
}

/// A transform that is exact in floats: translations in eighths, and scales by powers of two.
fn exact_transform(random: &mut Random) -> Affine3 {
    let scale = [0.25, 0.5, 1.0][(random.unit() * 3.0) as usize];
    Affine3::from_scale_rotation_translation(Vec3::splat(scale), Quat::IDENTITY, (random.cube() * 24.0).round() / 8.0)
}

fn any_transform(random: &mut Random) -> Affine3 {
    let rotation =
        Quat::from_euler(EulerRot::XYZ, random.range(0.0, 7.0), random.range(0.0, 7.0), random.range(0.0, 7.0));
    let mirror = if random.unit() < 0.5 { -1.0 } else { 1.0 };
    let scale = Vec3::new(mirror * random.range(0.4, 0.9), random.range(0.4, 0.9), random.range(0.4, 0.9));
    Affine3::from_scale_rotation_translation(scale, rotation, random.cube() * 2.0)
}

fn rays(random: &mut Random, count: usize) -> Vec<Ray> {
    let one = |_| {
        let origin = (random.cube() * 8192.0).round() / 1024.0;
        ray(origin, random.cube() * 2.0 - origin)
    };
    (0..count).map(one).collect()
}

proptest! {
    #![proptest_config(same_cases(24))]

    #[test]
    fn hits_are_the_same_to_the_bit_where_transforms_are_exact(levels in 1usize..5, seed in any::<u32>()) {
        let mut random = Random::new(seed);
        let nested = nested(levels, &mut random, exact_transform);
        let rays = rays(&mut random, 400);
        for kind in [RayKind::Closest, RayKind::Any] {
            let (found, expected) = (trace(nested.clone(), kind, &rays), trace(unrolled(&nested), kind, &rays));
            for ((ray, a), b) in rays.iter().zip(&found).zip(&expected) {
                assert_eq!(bytemuck::bytes_of(a), bytemuck::bytes_of(b), "{kind:?} {ray:?}: {a:?}, unrolled {b:?}");
            }
        }
    }

    #[test]
    fn hits_are_about_the_same_with_any_transforms(levels in 1usize..5, seed in any::<u32>()) {
        let mut random = Random::new(seed);
        let nested = nested(levels, &mut random, any_transform);
        let rays = rays(&mut random, 400);
        let kind = RayKind::Closest;
        let (found, expected) = (trace(nested.clone(), kind, &rays), trace(unrolled(&nested), kind, &rays));
        let same = found.iter().zip(&expected).filter(|(a, b)| a.instance == b.instance && (a.t - b.t).abs() < 1e-4 * b.t.abs());
        let same = same.count();
        prop_assert!(same >= 396, "{same} of 400");
    }
}

fn camera(eye: Vec3, target: Vec3) -> Camera {
    Camera {
        path: CameraPath::Still { eye, target },
        projection: Projection::Perspective { fov_y: 0.7 },
        ..Camera::default()
    }
}

/// A scene whose assemblies rotate while their contents move.
fn moving() -> Scene {
    let mut random = Random::new(7);
    let mut moving = nested(3, &mut random, any_transform);
    moving.camera = camera(Vec3::new(2.0, 3.0, 9.0), Vec3::ZERO);
    let spin = |period| Motion { parts: vec![MotionPart::Spin { axis: Vec3::Y, period }], phase: Phase::Same };
    let bob = MotionPart::Bob { offset: Vec3::new(0.0, 0.4, 0.1), period: 0.4 };
    moving.motions = vec![spin(1.0), spin(-0.6), Motion { parts: vec![bob], phase: Phase::Same }];
    for (index, motion) in [(0, 0), (1, 1), (5, 1), (6, 2), (9, 2), (12, 0), (16, 2)] {
        moving.instances[index].motion = motion;
    }
    moving.settings.frames = 48;
    moving
}

#[test]
fn pictures_and_layers_with_motion_blur_agree_with_unrolled_ones() {
    let nested = moving();
    let layers = [Aov::Albedo, Aov::Normal, Aov::Depth, Aov::Position, Aov::Motion, Aov::Wireframe];
    let mut settings = settings(160, 120, Integrator::Path);
    settings.samples = 16;
    settings.aovs = layers.into_iter().fold(AovSet::default(), |set, aov| set.with(Some(aov)));
    for shutter in [None, Shutter::centred(0.5).ok()] {
        settings.shutter = shutter;
        let (found, expected) = (render(nested.clone(), &settings), render(unrolled(&nested), &settings));
        let difference = PictureDifference::between(&expected.pixels, &found.pixels);
        assert!(difference.agrees(), "{difference:?}");
        for (a, b) in found.aovs.iter().zip(&expected.aovs) {
            let differing =
                a.values.iter().zip(&b.values[..]).filter(|(a, b)| (**a - **b).abs() > 0.02 * b.abs().max(1.0));
            let share = differing.count() as f32 / a.values.len() as f32;
            // Between keys, a product of interpolated matrices differs slightly from the interpolated product.
            let most = if shutter.is_some() { 0.03 } else { 0.01 };
            assert!(share < most, "{} differs in {share} of all values", a.aov);
        }
    }
}

/// A scene of assemblies with a lamp in fog, moved by `offset`. The offset applies to the objects in the world or, if `within` is true, to
/// those in an assembly that encloses the scene. All numbers remain exact.
fn far(offset: Vec3, within: bool) -> Scene {
    let steps = |v: Vec3| (v * 64.0).round() / 64.0;
    let mut far = moving();
    far.instances.iter_mut().for_each(|own| own.local.translation = steps(own.local.translation));
    let world = far.world();
    for own in &mut far.instances[world.clone()] {
        own.local.translation += offset;
        // Rotations of the whole would cause rounding.
        own.motion = if own.motion == 2 { 2 } else { NONE };
    }
    if within {
        let meshes = far.meshes.len() as u32;
        far.instances.iter_mut().filter(|own| own.mesh >= meshes).for_each(|own| own.mesh += 1);
        far.assemblies.insert(0, Assembly { name: "all".into(), instances: 0..world.end as u32 });
        far.assemblies.iter_mut().for_each(|own| own.instances = own.instances.start + 1..own.instances.end + 1);
        far.instances.insert(0, instance(meshes, Affine3::IDENTITY));
    }
    far.camera = camera(offset + Vec3::new(2.0, 3.0, 9.0), offset);
    far.lights.push(Light::Point {
        position: offset + Vec3::new(3.0, 4.0, 2.0),
        intensity: Vec3::splat(30.0),
        range: None,
    });
    let thinning = Some(Thinning { base: offset.y - 2.0, height: 2.0 });
    let (albedo, top) = (Vec3::splat(0.8), Some(offset.y + 4.0));
    far.fog = Some(Fog { density: 0.05, albedo, anisotropy: 0.3, thinning, top });
    far
}

#[test]
fn what_is_far_from_the_origin_of_its_level_looks_as_what_is_close_to_it() {
    let layers = [Aov::Albedo, Aov::Normal, Aov::Depth, Aov::Position, Aov::Motion];
    let mut settings = settings(160, 120, Integrator::Path);
    settings.samples = 4;
    settings.aovs = layers.into_iter().fold(AovSet::default(), |set, aov| set.with(Some(aov)));
    let offset = Vec3::new(65_536.0, -32_768.0, 16_384.0);
    for (within, shutter) in [(false, None), (true, None), (true, Shutter::centred(0.5).ok())] {
        settings.shutter = shutter;
        let [close, away] = [Vec3::ZERO, offset].map(|offset| render(far(offset, within), &settings));
        let pairs = || close.pixels.iter().zip(&away.pixels[..]);
        let differing = pairs().filter(|(a, b)| a.abs_diff(**b) > 1).count();
        assert!(differing * 200 < close.pixels.len(), "{differing} differ, within: {within}");
        for (a, b) in close.aovs.iter().zip(&away.aovs) {
            // Positions are in world space, where they have fewer significant digits.
            let (by, off) = if a.aov == Aov::Position { (offset, 0.01) } else { (Vec3::ZERO, 1e-3) };
            let pairs = a.values.iter().zip(&b.values[..]).enumerate();
            let differs = |(i, (a, b)): &(usize, (&f32, &f32))| {
                // Background values are not offset.
                a != b && (**a + by[i % 3] - **b).abs() > off * a.abs().clamp(1.0, 10.0)
            };
            let differing = pairs.filter(differs).count();
            assert!(differing * 1000 < a.values.len(), "{}: {differing} differ, within: {within}", a.aov);
        }
    }
}

#[test]
fn mattes_have_the_ids_of_whole_paths() {
    let mut random = Random::new(11);
    let mut named = nested(3, &mut random, exact_transform);
    named.camera = camera(Vec3::new(2.0, 3.0, 9.0), Vec3::ZERO);
    // Words with all remainders of the hash's block size, and numbers with several digits.
    let stems = ["a", "bc", "d e", "früh", "", "a stem of more than one word"].map(String::from).to_vec();
    let of = (0..named.instances.len()).map(|i| [0, 3, 1, 4, 2, 5, 5, 0][i % 8]).collect::<Vec<u32>>();
    named.names = Names::numbered(stems, &of);
    let digits = Names::numbered(vec!["x".into()], &vec![0; named.instances.len()]);
    let mut settings = settings(160, 120, Integrator::Whitted);
    settings.samples = 4;
    settings.aovs = AovSet::from_iter([Aov::Instance]);
    for names in [named.names.clone(), digits, Names::default()] {
        let nested = Scene { names, ..named.clone() };
        let mut paths = Vec::new();
        paths::visit(&nested, |path| paths.push(path.to_owned()));
        let all: Vec<u32> = (0..paths.len() as u32).collect();
        let flat = Scene { names: Names::numbered(paths.clone(), &all), ..unrolled(&nested) };
        let expected = render(flat, &settings);
        let ids: HashSet<u32> = paths.iter().map(|path| cryptomatte::id(path)).collect();
        let seen: HashSet<u32> = expected.aovs[0].values.iter().step_by(2).map(|id| id.to_bits()).collect();
        assert!(seen.intersection(&ids).count() > 20, "{seen:?}");
        for found in render_on_each(nested, &settings) {
            let bits = |rendered: &Rendered| rendered.aovs[0].values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&found), bits(&expected));
        }
    }
}

/// The scene with invisible spheres: `copies` in each of seven levels, inside bounds that do not depend on the number.
fn with_many(mut scene: Scene, copies: u32) -> Scene {
    let (world, meshes) = (scene.world().end, scene.meshes.len());
    let first = meshes + scene.assemblies.len();
    let out_of_sight = Affine3::from_scale_rotation_translation(Vec3::splat(1e-3), Quat::IDENTITY, Vec3::splat(1e5));
    scene.instances.insert(world, instance(first as u32, out_of_sight));
    scene.assemblies.iter_mut().for_each(|own| own.instances = own.instances.start + 1..own.instances.end + 1);
    for level in 0..7 {
        let start = scene.instances.len() as u32;
        let placed = if level < 6 { first + level + 1 } else { 1 };
        let along = |copy| 4096.0 * copy as f32 / (copies - 1) as f32;
        let place = |copy| instance(placed as u32, Affine3::from_translation(Vec3::X * along(copy)));
        scene.instances.extend((0..copies).map(place));
        scene.assemblies.push(Assembly { name: format!("many {level}"), instances: start..start + copies });
    }
    scene
}

#[test]
fn more_meshes_than_can_be_numbered_change_nothing() {
    let [few, many] = [2, 32].map(|copies| with_many(far(Vec3::ZERO, false), copies));
    assert!(many.leaf_count() > 34_000_000_000 && many.numbers().shared && !few.numbers().shared);
    let rays = rays(&mut Random::new(3), 2000);
    let hits = |scene: &Scene| trace(scene.clone(), RayKind::Closest, &rays);
    for (a, b) in hits(&few).iter().zip(hits(&many)) {
        assert_eq!((a.t.to_bits(), a.u, a.v, a.prim), (b.t.to_bits(), b.u, b.v, b.prim));
    }
    let mut settings = settings(160, 120, Integrator::Path);
    settings.samples = 2;
    settings.shutter = Shutter::centred(0.5).ok();
    let layers = [Aov::Albedo, Aov::Normal, Aov::Motion, Aov::Instance];
    settings.aovs = layers.into_iter().fold(AovSet::default(), |set, aov| set.with(Some(aov)));
    let [few, many] = [few, many].map(|scene| render_on_each(scene, &settings));
    for (found, expected) in many.iter().zip(&few) {
        assert!(found.pixels == expected.pixels);
        for (a, b) in expected.aovs.iter().zip(&found.aovs) {
            assert!(a.values.iter().zip(&b.values[..]).all(|(a, b)| a.to_bits() == b.to_bits()), "{:?}", a.aov);
        }
    }
}

/// The lights of many lamps in assemblies on a floor.
fn lamps() -> Scene {
    let lamp = |scale: f32, at: Vec3| Affine3::from_scale_rotation_translation(Vec3::splat(scale), Quat::IDENTITY, at);
    let floor = mesh(
        [[-9.0, 0.0, -9.0], [-9.0, 0.0, 9.0], [9.0, 0.0, 9.0], [9.0, 0.0, -9.0]].map(Vec3::from).to_vec(),
        vec![[0, 1, 2], [0, 2, 3]],
    );
    let (positions, triangles) = ball(1);
    let meshes: Vec<Mesh> = vec![floor, sphere(), mesh(positions, triangles)];
    let mut lamps = scene(meshes, &[]);
    let emissive = |emission| Material { color: Vec3::ZERO, emission, ..Material::default() };
    lamps.materials.push(emissive(Vec3::new(9.0, 3.0, 1.0)));
    lamps.materials.push(emissive(Vec3::new(1.0, 4.0, 30.0)));
    lamps.material_slots = vec![0, 1, 2];
    let (house, street) = (3, 4);
    let shining = |mesh, slot_base, local| Instance { slot_base, ..instance(mesh, local) };
    let turned = |angle: f32, at: Vec3| {
        let rotation = Quat::from_rotation_y(angle);
        Affine3::from_scale_rotation_translation(Vec3::new(1.2, 0.8, -1.0), rotation, at)
    };
    lamps.instances = vec![
        instance(0, Affine3::IDENTITY),
        instance(street, turned(0.3, Vec3::new(-2.0, 0.3, 0.0))),
        instance(street, turned(2.0, Vec3::new(2.0, 0.5, 1.0))),
        shining(1, 1, lamp(0.1, Vec3::new(0.0, 1.0, 0.0))),
        // The house.
        shining(1, 1, lamp(0.05, Vec3::new(0.3, 0.2, 0.0))),
        shining(2, 2, lamp(0.1, Vec3::new(-0.3, 0.5, 0.2))),
        instance(1, lamp(0.2, Vec3::new(0.0, 0.1, 0.0))),
        // The street.
        instance(house, lamp(1.0, Vec3::new(-1.0, 0.0, 0.0))),
        instance(house, turned(1.0, Vec3::new(0.5, 0.0, 1.0))),
        instance(house, lamp(1.5, Vec3::new(1.5, 0.0, -1.0))),
    ];
    let assembly = |name: &str, instances| Assembly { name: name.into(), instances };
    // The street is listed before the house that it contains.
    lamps.assemblies = vec![assembly("house", 4..7), assembly("street", 7..10)];
    lamps.assemblies.reverse();
    for instance in &mut lamps.instances {
        instance.mesh = match instance.mesh {
            3 => 4,
            4 => 3,
            mesh => mesh,
        };
    }
    lamps.camera = camera(Vec3::new(1.0, 6.0, 5.0), Vec3::ZERO);
    lamps
}

#[test]
fn lamps_in_assemblies_light_as_much_as_copied_ones_with_as_little_noise() {
    let nested = lamps();
    let mut settings = settings(24, 16, Integrator::Path);
    (settings.samples, settings.bounces) = (2048, 2);
    settings.aovs = AovSet::default().with(Some(Aov::Variance));
    settings.pixels = throng_device::PixelType::F32;
    let mean = |values: &[f32]| values.iter().map(|&v| f64::from(v)).sum::<f64>() / values.len() as f64;
    let both = [nested.clone(), unrolled(&nested)].map(|scene| {
        let rendered = render(scene, &settings);
        let pixels: Vec<f32> =
            rendered.pixels.chunks(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        (mean(&pixels), mean(&rendered.aovs[0].values))
    });
    let [(found, noise), (expected, least)] = both;
    assert!((found / expected - 1.0).abs() < 0.005, "{found}, unrolled {expected}");
    assert!(noise < 1.3 * least, "variance {noise}, unrolled {least}");
}

#[test]
fn a_convex_body_under_four_levels_of_transforms_does_not_shade_itself() {
    let mut random = Random::new(21);
    let mut total = 0;
    for case in 0..8 {
        let body = match case % 2 {
            0 => {
                let (positions, triangles) = ball(4);
                mesh(positions, triangles)
            }
            _ => sphere(),
        };
        let mut nested = scene(vec![body], &[]);
        let size = 10f32.powi(case - 4);
        let mut world = Affine3::IDENTITY;
        for level in 0..4 {
            let mut own = any_transform(&mut random);
            if level == 0 {
                own = Affine3::from_scale(Vec3::splat(size)) * own;
            }
            own.translation *= 10.0;
            world *= own;
            let first = nested.instances.len() as u32;
            nested.instances.push(instance(if level == 3 { 0 } else { 1 + level }, own));
            if level > 0 {
                nested.assemblies.push(Assembly { name: String::new(), instances: first..first + 1 });
            }
        }
        let (target, reach) = (world.translation, world.matrix3.x_axis.length().max(world.matrix3.y_axis.length()));
        nested.camera = Camera {
            projection: Projection::Perspective { fov_y: 0.5 },
            ..camera(target + Vec3::new(2.0, 1.5, 2.5) * reach, target)
        };
        for rendered in render_on_each(nested, &settings(400, 400, Integrator::Ao)) {
            let dark = rendered.pixels.iter().filter(|&&p| p != 255).count();
            assert_eq!(dark, 0, "of {} rays, case {case}", rendered.rays.shadow);
            total += rendered.rays.shadow;
        }
    }
    assert!(total > 1_000_000, "only {total} rays");
}

#[test]
fn glass_and_mirrors_in_assemblies_agree_with_unrolled_ones() {
    let mut nested = moving();
    nested.materials[0].kind = MaterialKind::Mirror;
    nested.materials[0].color = Vec3::new(0.9, 0.8, 0.7);
    let mut settings = settings(120, 90, Integrator::Path);
    settings.samples = 4;
    let (found, expected) = (render(nested.clone(), &settings), render(unrolled(&nested), &settings));
    let difference = PictureDifference::between(&expected.pixels, &found.pixels);
    assert!(difference.agrees(), "{difference:?}");
}

/// A Menger sponge: a cube at level 0; each further level has 20 copies of the previous one, scaled by a third.
fn sponge(levels: usize) -> Scene {
    let corner = |i: u32| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32) - 0.5;
    let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = faces.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    let mut sponge = scene(vec![mesh((0..8).map(corner).collect(), triangles)], &[]);
    for level in 0..levels {
        let inner = if level + 1 == levels { 0 } else { 1 + level as u32 };
        let first = sponge.instances.len() as u32;
        for place in 0..27 {
            let at = [place % 3, place / 3 % 3, place / 9].map(|i| i - 1);
            if at.iter().filter(|&&i| i == 0).count() < 2 {
                let at = Vec3::from(at.map(|i| i as f32 / 3.0));
                let third = Vec3::splat(1.0 / 3.0);
                let local = Affine3::from_scale_rotation_translation(third, Quat::IDENTITY, at);
                sponge.instances.push(instance(inner, local));
            }
        }
        if level > 0 {
            let instances = first..sponge.instances.len() as u32;
            sponge.assemblies.push(Assembly { name: "sponge".into(), instances });
        }
    }
    sponge
}

#[test]
fn a_sponge_of_six_levels_lies_within_its_first_three_which_agree_with_unrolled_ones() {
    let mut random = Random::new(5);
    let rays: Vec<Ray> = (0..20_000)
        .map(|_| {
            let origin = random.cube().normalize_or(Vec3::X) * 2.0;
            ray(origin, random.cube() * 0.5 - origin)
        })
        .collect();
    let (three, six) = (sponge(3), sponge(6));
    assert_eq!((six.leaf_count(), six.instances.len()), (64_000_000, 120));
    let kind = RayKind::Closest;
    let (found, expected) = (trace(three.clone(), kind, &rays), trace(unrolled(&three), kind, &rays));
    let agree = |a: f32, b: f32| a == b || (a - b).abs() < 1e-5 * b.abs();
    let differing = found.iter().zip(&expected).filter(|(a, b)| !agree(a.t, b.t)).count();
    // Rays at edges, whose positions differ in the last bit in the expanded sponge.
    assert!(differing <= 4, "{differing}");
    let within = trace(six, kind, &rays);
    let (mut hits, mut outside) = (0, 0);
    for (six, three) in within.iter().zip(&found).filter(|(six, _)| six.t >= 0.0) {
        hits += 1;
        outside += usize::from(three.t < 0.0 || six.t < three.t - 1e-5);
    }
    assert!(hits > 5_000 && outside <= 4, "{outside} of {hits}");
}
