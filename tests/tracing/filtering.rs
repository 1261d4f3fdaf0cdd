//! Textures averaged over the footprints of rays.

use crate::common::{Random, mesh, render, scene, settings, sphere};
use glam::{Affine3, Quat, Vec3};
use throng::scene::{
    Alpha, Camera, CameraPath, CompactFormat, CompactTexels, Environment, Integrator, Material, MaterialKind,
    Projection, Scene, Shape, Texels, Texture, TextureMap, Wrap,
};
use throng_picture::aov::Aov;

/// Texels along each side of a texture of random black and white texels.
const TEXELS: u32 = 256;
/// Pixels along each side of a picture.
const PIXELS: u32 = 16;

fn noise() -> Texture {
    let mut random = Random::new(3);
    let texel = |_| if random.unit() < 0.5 { [0, 0, 0, 0] } else { [255; 4] };
    Texture {
        name: "noise".into(),
        width: TEXELS,
        height: TEXELS,
        texels: Texels::Linear8((0..TEXELS * TEXELS).map(texel).collect()),
        wrap: [Wrap::Repeat; 2],
        nearest: false,
        filtered: true,
    }
}

/// A textured square of side 2 around the origin, facing +Y, seen from `eye`; it fills the picture 5 above it.
fn square(eye: Vec3, transform: Affine3) -> Scene {
    let corners = [[-1.0, 0.0, 1.0], [1.0, 0.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 0.0, -1.0]];
    let positions = corners.map(Vec3::from).to_vec();
    let mut scene = scene(vec![mesh(positions, vec![[0, 1, 2], [0, 2, 3]])], &[(0, transform)]);
    let Shape::Triangles(triangles) = &mut scene.meshes[0].shape else { panic!("a mesh of triangles") };
    triangles.uvs = vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    scene.textures = vec![noise()];
    scene.maps = vec![TextureMap::plain(0)];
    scene.materials[0].color_map = 0;
    look(&mut scene, eye, Vec3::ZERO, 0.28);
    scene
}

fn look(scene: &mut Scene, eye: Vec3, target: Vec3, fov_y: f32) {
    scene.camera = Camera {
        path: CameraPath::Still { eye, target },
        up: Vec3::new(0.1, 0.2, -0.9).normalize(),
        projection: Projection::Perspective { fov_y },
        ..Camera::default()
    };
}

/// Mean and standard deviation of the red channel of a picture's AOV or of its colours.
fn spread_of(scene: Scene, integrator: Integrator, samples: u32, filters: bool) -> [f32; 2] {
    let mut settings = settings(PIXELS, PIXELS, integrator);
    settings.samples = samples;
    settings.filter_textures = filters;
    settings.pixels = throng_device::PixelType::F32;
    let pixels = render(scene, &settings).pixels;
    let values: Vec<f32> = bytemuck::pod_collect_to_vec::<u8, f32>(&pixels).into_iter().step_by(3).collect();
    let mean = values.iter().sum::<f32>() / values.len() as f32;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / values.len() as f32;
    [mean, variance.sqrt()]
}

/// Filtered and unfiltered pictures have one mean, and one filtered sample per pixel deviates at most by `share` of what points do.
fn assert_filters(scene: &Scene, integrator: Integrator, share: f32, what: &str) {
    let [_, noisy] = spread_of(scene.clone(), integrator, 1, false);
    let [_, smooth] = spread_of(scene.clone(), integrator, 1, true);
    assert!(smooth < share * noisy, "{what}: {smooth} of {noisy}");
    let [truth, _] = spread_of(scene.clone(), integrator, 256, false);
    let [mean, _] = spread_of(scene.clone(), integrator, 256, true);
    assert!((mean - truth).abs() < 0.02 * truth, "{what}: {mean} instead of {truth}");
}

#[test]
fn a_sample_is_the_mean_of_what_it_covers() {
    let turned = Affine3::from_rotation_y(0.7);
    assert_filters(&square(Vec3::Y * 5.0, Affine3::IDENTITY), Integrator::Albedo, 0.25, "from above");
    assert_filters(&square(Vec3::Y * 5.0, turned), Integrator::Albedo, 0.25, "turned");
    // Only the ratio of sizes counts.
    let small = square(Vec3::Y * 0.005, Affine3::from_scale(Vec3::splat(1e-3)));
    assert_filters(&small, Integrator::Albedo, 0.25, "small");
    let mut grazing = square(Vec3::new(0.0, 0.3, 1.6), Affine3::IDENTITY);
    look(&mut grazing, Vec3::new(0.0, 0.1, 1.2), Vec3::ZERO, 0.05);
    assert_filters(&grazing, Integrator::Albedo, 0.6, "grazing");
    let mut parallel = square(Vec3::Y * 5.0, Affine3::IDENTITY);
    parallel.camera.projection = Projection::Orthographic { height: 1.4 };
    assert_filters(&parallel, Integrator::Albedo, 0.25, "parallel rays");
}

#[test]
fn stripes_along_a_grazing_view_stay_sharp() {
    let mut scene = square(Vec3::new(0.0, 0.2, 3.0), Affine3::IDENTITY);
    look(&mut scene, Vec3::new(0.0, 0.15, 2.0), Vec3::ZERO, 0.3);
    scene.camera.up = Vec3::Y;
    let stripes = (0..64 * 64).map(|texel| if texel / 4 % 2 == 0 { [0, 0, 0, 255] } else { [255; 4] });
    scene.textures[0] = Texture { width: 64, height: 64, texels: Texels::Linear8(stripes.collect()), ..noise() };
    let [_, truth] = spread_of(scene.clone(), Integrator::Albedo, 256, false);
    let [_, filtered] = spread_of(scene, Integrator::Albedo, 16, true);
    assert!(filtered > 0.85 * truth, "{filtered} of {truth}");
}

#[test]
fn cones_continue_in_mirrors() {
    for integrator in [Integrator::Whitted, Integrator::Path] {
        let mut scene = square(Vec3::Y * 5.0, Affine3::IDENTITY);
        scene.materials[0].unlit = true;
        scene.materials[0].emission = Vec3::ONE;
        scene.materials[0].emission_map = 0;
        let mirror = Material { kind: MaterialKind::Mirror, color: Vec3::ONE, ..Material::default() };
        scene.materials.push(mirror);
        scene.material_slots.push(1);
        let mut facing = scene.instances[0];
        // A mirror above the square, in which a camera below sees it.
        facing.local = Affine3::from_rotation_translation(Quat::from_rotation_x(std::f32::consts::PI), Vec3::Y * 3.0);
        facing.slot_base = 1;
        scene.instances.push(facing);
        look(&mut scene, Vec3::new(0.0, 1.0, 0.01), Vec3::Y * 3.0, 0.25);
        assert_filters(&scene, integrator, 0.3, &format!("{integrator:?} in a flat mirror"));
        // A ball shows much more, smaller.
        scene.meshes.push(sphere());
        scene.instances[1].mesh = 1;
        scene.instances[1].local =
            Affine3::from_scale_rotation_translation(Vec3::splat(0.4), Quat::IDENTITY, Vec3::Y * 3.0);
        look(&mut scene, Vec3::new(0.0, 1.5, 0.01), Vec3::Y * 3.0, 0.08);
        assert_filters(&scene, integrator, 0.3, &format!("{integrator:?} in a ball"));
    }
}

#[test]
fn balls_are_filtered_as_well() {
    let mut scene = scene(vec![sphere()], &[(0, Affine3::from_scale(Vec3::splat(2.0)))]);
    scene.textures = vec![noise()];
    scene.maps = vec![TextureMap::plain(0)];
    scene.materials[0].color_map = 0;
    look(&mut scene, Vec3::new(0.0, 0.5, 20.0), Vec3::ZERO, 0.1);
    assert_filters(&scene, Integrator::Albedo, 0.5, "ball");
}

#[test]
fn texels_that_are_magnified_and_holes_keep_their_bits() {
    let picture = |filters: bool, fov: f32, alpha: Alpha| {
        let mut scene = square(Vec3::Y * 5.0, Affine3::IDENTITY);
        look(&mut scene, Vec3::Y * 5.0, Vec3::ZERO, fov);
        scene.materials[0].alpha = alpha;
        let mut settings = settings(PIXELS, PIXELS, Integrator::Albedo);
        settings.filter_textures = filters;
        settings.aovs = [Aov::Alpha].into_iter().collect();
        let rendered = render(scene, &settings);
        (rendered.pixels, rendered.aovs.into_iter().map(|aov| aov.values.to_vec()).collect::<Vec<_>>())
    };
    let near = 1.4 / 5.0 * PIXELS as f32 / TEXELS as f32;
    assert_eq!(picture(true, near, Alpha::Opaque), picture(false, near, Alpha::Opaque));
    let [with, without] = [true, false].map(|filters| picture(filters, 0.28, Alpha::Mask(0.5)));
    assert_eq!(with.1, without.1);
    // Colours around holes do not bleed into what is seen.
    assert!(with.0.iter().all(|&level| level == 255 || level == 0), "{:?}", with.0);
}

#[test]
fn a_texture_of_normals_with_another_use_keeps_the_roughness() {
    let picture = |is_shared: bool, roughness: f32| {
        let mut scene = square(Vec3::Y * 5.0, Affine3::IDENTITY);
        look(&mut scene, Vec3::Y * 5.0, Vec3::ZERO, 0.02);
        let Shape::Triangles(triangles) = &mut scene.meshes[0].shape else { panic!("a mesh of triangles") };
        triangles.tangents = vec![[1.0, 0.0, 0.0, 1.0]; 4];
        triangles.normals = vec![[0.0, 1.0, 0.0]; 4];
        let texels = Texels::Linear8(vec![[128, 128, 255, 255]; 4]);
        scene.textures = vec![Texture { width: 2, height: 2, texels, ..noise() }; 2];
        scene.maps = vec![TextureMap::plain(0), TextureMap::plain(1)];
        scene.environment = Environment::Gradient { zenith: Vec3::ONE, horizon: Vec3::ZERO, nadir: Vec3::ZERO };
        let material = &mut scene.materials[0];
        material.kind = MaterialKind::Layered;
        material.lobes.metallic = 1.0;
        material.lobes.roughness = roughness;
        material.lobes.normal_map = 0;
        material.color_map = if is_shared { 0 } else { 1 };
        render(scene, &settings(PIXELS, PIXELS, Integrator::Path)).pixels
    };
    assert_eq!(picture(true, 0.1), picture(false, 0.1));
    assert_ne!(picture(false, 1.0), picture(false, 0.1));
}

#[test]
fn one_colour_is_one_texel_and_grey_a_byte() {
    let of =
        |texels: Vec<[u8; 4]>| Texture { width: 4, height: 2, texels: Texels::Srgb8(texels), ..noise() }.compacted();
    let red = of(vec![[200, 10, 0, 255]; 8]);
    assert_eq!((red.width, red.height, red.texels), (1, 1, Texels::Srgb8(vec![[200, 10, 0, 255]])));
    let ramp = |alpha: u8| (0..8).map(move |level| [level, level, level, if level == 7 { alpha } else { 255 }]);
    let bytes = CompactTexels { format: CompactFormat::Grey, is_srgb: true, bytes: (0..8).collect() };
    let grey = of(ramp(255).collect());
    assert_eq!((grey.width, grey.height, grey.texels), (4, 2, Texels::Compact(bytes)));
    assert_eq!(of(ramp(0).collect()).texels, Texels::Srgb8(ramp(0).collect()));
}

/// Blocks with random bits. Those of BC7 have each mode equally often, also the reserved one.
fn blocks(format: CompactFormat, width: u32, height: u32) -> CompactTexels {
    let mut random = Random::new(format as u32);
    let mut bytes: Vec<u8> = (0..format.bytes(width, height)).map(|_| (random.unit() * 256.0) as u8).collect();
    if format == CompactFormat::Bc7 {
        for (number, block) in bytes.as_chunks_mut::<16>().0.iter_mut().enumerate() {
            let mode = number % 9;
            block[0] = if mode == 8 { 0 } else { (block[0] | 1) << mode };
        }
    }
    CompactTexels { format, is_srgb: true, bytes }
}

#[test]
fn compact_texels_are_seen_as_the_decoder_of_files_reads_them() {
    const PIXELS: u32 = 96;
    let (width, height) = (94, 57);
    let formats = [
        CompactFormat::Grey,
        CompactFormat::Bc1,
        CompactFormat::Bc1Opaque,
        CompactFormat::Bc3,
        CompactFormat::Bc4,
        CompactFormat::Bc5,
        CompactFormat::Bc7,
    ];
    for format in formats {
        let compact = blocks(format, width, height);
        let decoded = compact.decoded(width, height);
        let picture = |texels: Texels, fov: f32, [nearest, filtered]: [bool; 2]| {
            let mut scene = square(Vec3::Y * 5.0, Affine3::IDENTITY);
            scene.textures = vec![Texture { width, height, texels, nearest, filtered, ..noise() }];
            scene.materials[0].alpha = Alpha::Blend;
            look(&mut scene, Vec3::Y * 5.0, Vec3::ZERO, fov);
            let mut settings = settings(PIXELS, PIXELS, Integrator::Albedo);
            settings.aovs = [Aov::Alpha].into_iter().collect();
            let rendered = render(scene, &settings);
            (rendered.pixels, rendered.aovs.into_iter().map(|aov| aov.values.to_vec()).collect::<Vec<_>>())
        };
        // Texels as large as pixels, larger ones, and smaller ones.
        let cases = [(0.4, [true; 2]), (0.1, [false, true]), (1.2, [false; 2])];
        for (fov, how) in cases {
            for is_srgb in [true, false] {
                let compact = Texels::Compact(CompactTexels { is_srgb, ..compact.clone() });
                let [seen, read] = [compact, Texels::of_bytes(decoded.clone(), is_srgb)].map(|t| picture(t, fov, how));
                assert_eq!(seen.0, read.0, "{format:?} {fov} sRGB: {is_srgb}");
                assert_eq!(seen.1, read.1, "{format:?} {fov} sRGB: {is_srgb}");
            }
        }
        // Smaller levels of opaque colours are blocks, too.
        let [seen, read] = [Texels::Compact(compact), Texels::Srgb8(decoded)].map(|texels| {
            let (pixels, _) = picture(texels, 1.2, [false, true]);
            pixels.iter().map(|&level| f32::from(level)).sum::<f32>() / pixels.len() as f32
        });
        assert!((seen - read).abs() < 0.01 * read, "{format:?}: {seen} instead of {read}");
    }
}
